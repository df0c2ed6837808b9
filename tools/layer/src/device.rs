//! The functions of devices, queues and swapchains.

use ash::vk;

use crate::state::{DEVICES, Device, Swapchain};

pub(crate) unsafe extern "system" fn destroy_device(device: vk::Device, allocator: *const vk::AllocationCallbacks<'_>) {
    if device == vk::Device::null() {
        return;
    }
    // SAFETY: Vulkan's rules for this function, which the program keeps.
    unsafe {
        let state = DEVICES.remove(device);
        (state.next.fp_v1_0().destroy_device)(device, allocator);
        state.instance.plan.log("vkDestroyDevice");
    }
}

pub(crate) unsafe extern "system" fn device_wait_idle(device: vk::Device) -> vk::Result {
    // SAFETY: Vulkan's rules for this function, which the program keeps.
    unsafe {
        let state = DEVICES.of(device);
        // The driver is really asked, for it is not really lost: what it still does must not outlive what it uses.
        let result = (state.next.fp_v1_0().device_wait_idle)(device);
        state.unless_lost(result)
    }
}

pub(crate) unsafe extern "system" fn queue_wait_idle(queue: vk::Queue) -> vk::Result {
    // SAFETY: Vulkan's rules for this function, which the program keeps.
    unsafe {
        let state = DEVICES.of(queue);
        let result = (state.next.fp_v1_0().queue_wait_idle)(queue);
        state.unless_lost(result)
    }
}

pub(crate) unsafe extern "system" fn wait_for_fences(
    device: vk::Device,
    count: u32,
    fences: *const vk::Fence,
    wait_all: vk::Bool32,
    timeout: u64,
) -> vk::Result {
    // SAFETY: Vulkan's rules for this function, which the program keeps.
    unsafe {
        let state = DEVICES.of(device);
        // The fence of a submission that was refused is never signalled.
        match state.is_lost() {
            true => vk::Result::ERROR_DEVICE_LOST,
            false => (state.next.fp_v1_0().wait_for_fences)(device, count, fences, wait_all, timeout),
        }
    }
}

pub(crate) unsafe extern "system" fn queue_submit(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: Vulkan's rules for this function, which the program keeps.
    unsafe {
        let state = DEVICES.of(queue);
        state.submit(|| (state.next.fp_v1_0().queue_submit)(queue, count, submits, fence))
    }
}

pub(crate) unsafe extern "system" fn queue_submit2(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: Vulkan's rules for this function, which the program keeps.
    unsafe {
        let state = DEVICES.of(queue);
        state.submit(|| (state.next.fp_v1_3().queue_submit2)(queue, count, submits, fence))
    }
}

pub(crate) unsafe extern "system" fn create_swapchain(
    device: vk::Device,
    info: *const vk::SwapchainCreateInfoKHR<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    swapchain: *mut vk::SwapchainKHR,
) -> vk::Result {
    // SAFETY: Vulkan's rules for this function, which the program keeps.
    unsafe {
        let state = DEVICES.of(device);
        let surface = (*info).surface;
        if state.is_lost() {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        if state.instance.lost_surfaces().contains(&surface) {
            return vk::Result::ERROR_SURFACE_LOST_KHR;
        }
        let result = (state.next_swapchain.create_swapchain_khr)(device, info, allocator, swapchain);
        if result == vk::Result::SUCCESS {
            state.swapchains().insert(*swapchain, Swapchain { surface, out_of_date: false });
            let vk::Extent2D { width, height } = (*info).image_extent;
            state.instance.plan.log(&format!("vkCreateSwapchainKHR {:?} {width}x{height}", (*info).present_mode));
        }
        result
    }
}

pub(crate) unsafe extern "system" fn destroy_swapchain(
    device: vk::Device,
    swapchain: vk::SwapchainKHR,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: Vulkan's rules for this function, which the program keeps.
    unsafe {
        let state = DEVICES.of(device);
        // Another swapchain may get the same handle.
        state.swapchains().remove(&swapchain);
        (state.next_swapchain.destroy_swapchain_khr)(device, swapchain, allocator);
        state.instance.plan.log("vkDestroySwapchainKHR");
    }
}

pub(crate) unsafe extern "system" fn acquire_next_image(
    device: vk::Device,
    swapchain: vk::SwapchainKHR,
    timeout: u64,
    semaphore: vk::Semaphore,
    fence: vk::Fence,
    index: *mut u32,
) -> vk::Result {
    // SAFETY: Vulkan's rules for this function, which the program keeps.
    unsafe {
        let state = DEVICES.of(device);
        let fault = state.fault(swapchain, &state.instance.plan.acquire, "vkAcquireNextImageKHR");
        match fault {
            // Nothing is acquired with an error, so nothing may be signalled either.
            Some(error) if error.as_raw() < 0 => error,
            fault => {
                let acquire = state.next_swapchain.acquire_next_image_khr;
                changed(acquire(device, swapchain, timeout, semaphore, fence, index), fault)
            }
        }
    }
}

pub(crate) unsafe extern "system" fn queue_present(
    queue: vk::Queue,
    info: *const vk::PresentInfoKHR<'_>,
) -> vk::Result {
    // SAFETY: Vulkan's rules for this function, which the program keeps: there is at least one swapchain, and `p_results`
    // is null or has room for a result for each.
    unsafe {
        let state = DEVICES.of(queue);
        let plan = state.instance.plan;
        let fault = state.fault(*(*info).p_swapchains, &plan.present, "vkQueuePresentKHR");
        if fault == Some(vk::Result::ERROR_DEVICE_LOST) {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        // With every other error, too, the semaphores are waited for and the images given back.
        let result = changed((state.next_swapchain.queue_present_khr)(queue, info), fault);
        plan.log("vkQueuePresentKHR");
        if !(*info).p_results.is_null() {
            std::slice::from_raw_parts_mut((*info).p_results, (*info).swapchain_count as usize).fill(result);
        }
        result
    }
}

/// The result of a call with a fault: the driver's own errors stay.
fn changed(result: vk::Result, fault: Option<vk::Result>) -> vk::Result {
    match result {
        vk::Result::SUCCESS | vk::Result::SUBOPTIMAL_KHR => fault.unwrap_or(result),
        result => result,
    }
}

impl Device {
    fn unless_lost(&self, result: vk::Result) -> vk::Result {
        if self.is_lost() { vk::Result::ERROR_DEVICE_LOST } else { result }
    }

    /// Counts a submission and makes it, unless the device is lost already.
    fn submit(&self, submit: impl FnOnce() -> vk::Result) -> vk::Result {
        if self.is_lost() {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        // The one that finds the device lost is carried out, as may be, for the layers below: the validation layer of Debian
        // 12 crashes where an image that was acquired is never waited for.
        let result = submit();
        if self.instance.inject(&self.instance.plan.submit, "vkQueueSubmit").is_some() {
            self.lose();
        }
        self.unless_lost(result)
    }
}
