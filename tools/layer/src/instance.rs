//! The functions of instances, physical devices and surfaces.

use std::ffi::c_char;
use std::mem::transmute;

use ash::{khr, vk};

use crate::loader::{DeviceLink, InstanceLink, take_link};
use crate::plan::plan;
use crate::state::{DEVICES, Device, INSTANCES, Instance};

pub(crate) unsafe extern "system" fn create_instance(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    instance: *mut vk::Instance,
) -> vk::Result {
    let plan = match plan() {
        Ok(plan) => plan,
        Err(reason) => {
            eprintln!("{}: {reason}", crate::NAME);
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        }
    };
    // SAFETY: the loader passes valid pointers and its chain; the next layer's functions have the types of their names.
    unsafe {
        let Some(InstanceLink { get_instance_proc_addr, .. }) = take_link((*info).p_next) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        let create = get_instance_proc_addr(vk::Instance::null(), c"vkCreateInstance".as_ptr());
        let create: Option<vk::PFN_vkCreateInstance> = transmute(create);
        let Some(create) = create else { return vk::Result::ERROR_INITIALIZATION_FAILED };
        let result = create(info, allocator, instance);
        if result == vk::Result::SUCCESS {
            let handle = *instance;
            let next = ash::Instance::load(&ash::StaticFn { get_instance_proc_addr }, handle);
            let surface =
                khr::surface::InstanceFn::load(|name| transmute(get_instance_proc_addr(handle, name.as_ptr())));
            INSTANCES.insert(handle, Instance::new(next, surface, get_instance_proc_addr, plan));
        }
        result
    }
}

pub(crate) unsafe extern "system" fn destroy_instance(
    instance: vk::Instance,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    if instance == vk::Instance::null() {
        return;
    }
    // SAFETY: Vulkan's rules for this function, which the program keeps.
    unsafe {
        let state = INSTANCES.remove(instance);
        (state.next.fp_v1_0().destroy_instance)(instance, allocator);
        state.plan.log("vkDestroyInstance");
    }
}

pub(crate) unsafe extern "system" fn create_device(
    physical_device: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    device: *mut vk::Device,
) -> vk::Result {
    // SAFETY: as in `create_instance`.
    unsafe {
        let Some(DeviceLink { get_instance_proc_addr, get_device_proc_addr, .. }) = take_link((*info).p_next) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        let instance = INSTANCES.of(physical_device);
        let create = get_instance_proc_addr(instance.next.handle(), c"vkCreateDevice".as_ptr());
        let create: Option<vk::PFN_vkCreateDevice> = transmute(create);
        let Some(create) = create else { return vk::Result::ERROR_INITIALIZATION_FAILED };
        let result = create(physical_device, info, allocator, device);
        if result == vk::Result::SUCCESS {
            let handle = *device;
            let load = |name: &std::ffi::CStr| {
                transmute::<vk::PFN_vkVoidFunction, _>(get_device_proc_addr(handle, name.as_ptr()))
            };
            let mut properties = instance.next.get_physical_device_properties(physical_device);
            instance.disguise(physical_device, &mut properties);
            let name = properties.device_name_as_c_str().unwrap_or_default().to_string_lossy();
            instance.plan.log(&format!("vkCreateDevice {name}"));
            let (next, swapchain) = (ash::Device::load_with(load, handle), khr::swapchain::DeviceFn::load(load));
            DEVICES.insert(handle, Device::new(next, swapchain, get_device_proc_addr, instance));
        }
        result
    }
}

pub(crate) unsafe extern "system" fn get_physical_device_properties(
    physical_device: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceProperties,
) {
    // SAFETY: Vulkan's rules for this function, which the program keeps.
    unsafe {
        let instance = INSTANCES.of(physical_device);
        (instance.next.fp_v1_0().get_physical_device_properties)(physical_device, properties);
        instance.disguise(physical_device, &mut *properties);
    }
}

pub(crate) unsafe extern "system" fn get_physical_device_properties2(
    physical_device: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceProperties2<'_>,
) {
    // SAFETY: Vulkan's rules for this function, which the program keeps.
    unsafe {
        let instance = INSTANCES.of(physical_device);
        (instance.next.fp_v1_1().get_physical_device_properties2)(physical_device, properties);
        instance.disguise(physical_device, &mut (*properties).properties);
    }
}

pub(crate) unsafe extern "system" fn get_surface_capabilities(
    physical_device: vk::PhysicalDevice,
    surface: vk::SurfaceKHR,
    capabilities: *mut vk::SurfaceCapabilitiesKHR,
) -> vk::Result {
    // SAFETY: Vulkan's rules for this function, which the program keeps.
    unsafe {
        let instance = INSTANCES.of(physical_device);
        if instance.inject(&instance.plan.capabilities, "vkGetPhysicalDeviceSurfaceCapabilitiesKHR").is_some() {
            instance.lost_surfaces().insert(surface);
        }
        if instance.lost_surfaces().contains(&surface) {
            return vk::Result::ERROR_SURFACE_LOST_KHR;
        }
        let next = instance.next_surface.get_physical_device_surface_capabilities_khr;
        next(physical_device, surface, capabilities)
    }
}

pub(crate) unsafe extern "system" fn get_surface_present_modes(
    physical_device: vk::PhysicalDevice,
    surface: vk::SurfaceKHR,
    count: *mut u32,
    modes: *mut vk::PresentModeKHR,
) -> vk::Result {
    // SAFETY: Vulkan's rules for this function, which the program keeps: `modes` is null or has room for `count`.
    unsafe {
        let instance = INSTANCES.of(physical_device);
        if instance.lost_surfaces().contains(&surface) {
            return vk::Result::ERROR_SURFACE_LOST_KHR;
        }
        let next = instance.next_surface.get_physical_device_surface_present_modes_khr;
        let Some(wanted) = &instance.plan.present_modes else { return next(physical_device, surface, count, modes) };
        // More than there are.
        let mut offered = [vk::PresentModeKHR::default(); 16];
        let mut offered_count = offered.len() as u32;
        let result = next(physical_device, surface, &mut offered_count, offered.as_mut_ptr());
        if result != vk::Result::SUCCESS {
            return result;
        }
        let mut offered = offered[..offered_count as usize].to_vec();
        offered.retain(|mode| wanted.contains(mode));
        if modes.is_null() {
            *count = offered.len() as u32;
            return vk::Result::SUCCESS;
        }
        let written = offered.len().min(*count as usize);
        modes.copy_from_nonoverlapping(offered.as_ptr(), written);
        *count = written as u32;
        if written < offered.len() { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
    }
}

pub(crate) unsafe extern "system" fn destroy_surface(
    instance: vk::Instance,
    surface: vk::SurfaceKHR,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: Vulkan's rules for this function, which the program keeps.
    unsafe {
        let state = INSTANCES.of(instance);
        // Another surface may get the same handle.
        state.lost_surfaces().remove(&surface);
        (state.next_surface.destroy_surface_khr)(instance, surface, allocator);
        state.plan.log("vkDestroySurfaceKHR");
    }
}

impl Instance {
    /// Gives a physical device the type that the plan has for its place, and a name that says both.
    fn disguise(&self, physical_device: vk::PhysicalDevice, properties: &mut vk::PhysicalDeviceProperties) {
        // SAFETY: the instance is alive.
        let physical_devices = unsafe { self.next.enumerate_physical_devices() }.unwrap_or_default();
        let place = physical_devices.iter().position(|&other| other == physical_device);
        let Some((place, &kind)) = place.and_then(|place| Some((place, self.plan.device_types.get(place)?))) else {
            return;
        };
        properties.device_type = kind;
        let name = format!("{kind:?} {place}");
        for (to, from) in properties.device_name.iter_mut().zip(name.bytes().chain([0])) {
            *to = from as c_char;
        }
    }
}
