//! How the loader and a layer come together: the structures of `vk_layer.h`, and the functions that the loader asks for.

use std::ffi::{CStr, c_char, c_void};

use ash::vk;

use crate::state::{DEVICES, INSTANCES};
use crate::{device, instance};

/// The version of the interface in which the loader asks for nothing but [`vkNegotiateLoaderLayerInterfaceVersion`].
const INTERFACE_VERSION: u32 = 2;

/// `VkNegotiateLayerInterface`.
#[repr(C)]
pub(crate) struct NegotiateLayerInterface {
    structure_type: i32,
    next: *mut c_void,
    interface_version: u32,
    get_instance_proc_addr: Option<vk::PFN_vkGetInstanceProcAddr>,
    get_device_proc_addr: Option<vk::PFN_vkGetDeviceProcAddr>,
    get_physical_device_proc_addr: Option<vk::PFN_vkGetInstanceProcAddr>,
}

/// `VkLayerInstanceCreateInfo` and `VkLayerDeviceCreateInfo`, as far as they say who is next.
#[repr(C)]
struct LayerCreateInfo<L> {
    structure_type: vk::StructureType,
    next: *const c_void,
    function: i32,
    link: *const L,
}

/// `VK_LAYER_LINK_INFO`.
const LINK_INFO: i32 = 0;

/// `VkLayerInstanceLink`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct InstanceLink {
    next: *const Self,
    pub(crate) get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    _get_physical_device_proc_addr: Option<vk::PFN_vkGetInstanceProcAddr>,
}

/// `VkLayerDeviceLink`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct DeviceLink {
    next: *const Self,
    pub(crate) get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    pub(crate) get_device_proc_addr: vk::PFN_vkGetDeviceProcAddr,
}

/// A link of the loader's chain of layers.
pub(crate) trait Link: Copy {
    const TYPE: vk::StructureType;

    fn next(&self) -> *const Self;
}

impl Link for InstanceLink {
    const TYPE: vk::StructureType = vk::StructureType::LOADER_INSTANCE_CREATE_INFO;

    fn next(&self) -> *const Self {
        self.next
    }
}

impl Link for DeviceLink {
    const TYPE: vk::StructureType = vk::StructureType::LOADER_DEVICE_CREATE_INFO;

    fn next(&self) -> *const Self {
        self.next
    }
}

/// Finds this layer's link in the create-info that the loader passes, and moves the chain on for the next layer.
///
/// # Safety
///
/// `next` is the `pNext` of a create-info that the loader has passed for `L`.
pub(crate) unsafe fn take_link<L: Link>(next: *const c_void) -> Option<L> {
    let mut info: *mut LayerCreateInfo<L> = next.cast_mut().cast();
    // SAFETY: every structure of the chain begins with its type and the next one; those of this type and function are the
    // loader's, who means them to be changed.
    unsafe {
        while !info.is_null() {
            if (*info).structure_type == L::TYPE && (*info).function == LINK_INFO {
                let link = *(*info).link;
                (*info).link = link.next();
                return Some(link);
            }
            info = (*info).next.cast_mut().cast();
        }
    }
    None
}

/// Tells the loader where the layer's functions are. Called by the loader only.
///
/// # Safety
///
/// `interface` is null or points to the loader's structure.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn vkNegotiateLoaderLayerInterfaceVersion(
    interface: *mut NegotiateLayerInterface,
) -> vk::Result {
    // SAFETY: the caller's word.
    let Some(interface) = (unsafe { interface.as_mut() }) else { return vk::Result::ERROR_INITIALIZATION_FAILED };
    if interface.interface_version < INTERFACE_VERSION {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    }
    interface.interface_version = INTERFACE_VERSION;
    interface.get_instance_proc_addr = Some(get_instance_proc_addr);
    interface.get_device_proc_addr = Some(get_device_proc_addr);
    interface.get_physical_device_proc_addr = None;
    vk::Result::SUCCESS
}

unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: Vulkan's rule for this function: a null-terminated name, an instance that is alive or null.
    unsafe {
        let own = own_function(CStr::from_ptr(name));
        match instance == vk::Instance::null() {
            true => own,
            false => own.or_else(|| (INSTANCES.of(instance).get_instance_proc_addr)(instance, name)),
        }
    }
}

unsafe extern "system" fn get_device_proc_addr(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: as above.
    unsafe {
        // Functions of extensions that are not enabled are null, the layer's own too.
        let next = (DEVICES.of(device).get_device_proc_addr)(device, name)?;
        own_function(CStr::from_ptr(name)).or(Some(next))
    }
}

/// A function of the layer as one without a type, once it has been checked to be of the right one.
macro_rules! erased {
    ($kind:ty, $function:expr) => {{
        let function: $kind = $function;
        // SAFETY: function pointers are of one size; who asked by name calls it by the right type.
        Some(unsafe { std::mem::transmute::<$kind, unsafe extern "system" fn()>(function) })
    }};
}

/// The layer's own function of a name, if it has one.
fn own_function(name: &CStr) -> vk::PFN_vkVoidFunction {
    match name.to_bytes() {
        b"vkGetInstanceProcAddr" => erased!(vk::PFN_vkGetInstanceProcAddr, get_instance_proc_addr),
        b"vkCreateInstance" => erased!(vk::PFN_vkCreateInstance, instance::create_instance),
        b"vkDestroyInstance" => erased!(vk::PFN_vkDestroyInstance, instance::destroy_instance),
        b"vkGetPhysicalDeviceProperties" => {
            erased!(vk::PFN_vkGetPhysicalDeviceProperties, instance::get_physical_device_properties)
        }
        b"vkGetPhysicalDeviceProperties2" | b"vkGetPhysicalDeviceProperties2KHR" => {
            erased!(vk::PFN_vkGetPhysicalDeviceProperties2, instance::get_physical_device_properties2)
        }
        b"vkGetPhysicalDeviceSurfaceCapabilitiesKHR" => {
            erased!(vk::PFN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR, instance::get_surface_capabilities)
        }
        b"vkGetPhysicalDeviceSurfacePresentModesKHR" => {
            erased!(vk::PFN_vkGetPhysicalDeviceSurfacePresentModesKHR, instance::get_surface_present_modes)
        }
        b"vkDestroySurfaceKHR" => erased!(vk::PFN_vkDestroySurfaceKHR, instance::destroy_surface),
        b"vkCreateDevice" => erased!(vk::PFN_vkCreateDevice, instance::create_device),
        b"vkGetDeviceProcAddr" => erased!(vk::PFN_vkGetDeviceProcAddr, get_device_proc_addr),
        b"vkDestroyDevice" => erased!(vk::PFN_vkDestroyDevice, device::destroy_device),
        b"vkDeviceWaitIdle" => erased!(vk::PFN_vkDeviceWaitIdle, device::device_wait_idle),
        b"vkQueueWaitIdle" => erased!(vk::PFN_vkQueueWaitIdle, device::queue_wait_idle),
        b"vkWaitForFences" => erased!(vk::PFN_vkWaitForFences, device::wait_for_fences),
        b"vkQueueSubmit" => erased!(vk::PFN_vkQueueSubmit, device::queue_submit),
        b"vkQueueSubmit2" | b"vkQueueSubmit2KHR" => erased!(vk::PFN_vkQueueSubmit2, device::queue_submit2),
        b"vkCreateSwapchainKHR" => erased!(vk::PFN_vkCreateSwapchainKHR, device::create_swapchain),
        b"vkDestroySwapchainKHR" => erased!(vk::PFN_vkDestroySwapchainKHR, device::destroy_swapchain),
        b"vkAcquireNextImageKHR" => erased!(vk::PFN_vkAcquireNextImageKHR, device::acquire_next_image),
        b"vkQueuePresentKHR" => erased!(vk::PFN_vkQueuePresentKHR, device::queue_present),
        _ => None,
    }
}
