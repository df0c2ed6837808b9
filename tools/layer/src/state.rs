//! What the layer knows of each instance and device, and how it finds it by a handle.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use ash::{khr, vk};

use crate::plan::{Faults, Plan};

pub(crate) static INSTANCES: Table<Instance> = Table(LazyLock::new(Mutex::default));
pub(crate) static DEVICES: Table<Device> = Table(LazyLock::new(Mutex::default));

/// An instance as the next layer knows it.
pub(crate) struct Instance {
    pub(crate) next: ash::Instance,
    pub(crate) next_surface: khr::surface::InstanceFn,
    pub(crate) get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    pub(crate) plan: &'static Plan,
    lost_surfaces: Mutex<HashSet<vk::SurfaceKHR>>,
}

impl Instance {
    pub(crate) fn new(
        next: ash::Instance,
        next_surface: khr::surface::InstanceFn,
        get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
        plan: &'static Plan,
    ) -> Self {
        Self { next, next_surface, get_instance_proc_addr, plan, lost_surfaces: Mutex::default() }
    }

    pub(crate) fn lost_surfaces(&self) -> MutexGuard<'_, HashSet<vk::SurfaceKHR>> {
        lock(&self.lost_surfaces)
    }

    /// Counts a call of a function that `faults` are for, and logs the one it gets.
    pub(crate) fn inject(&self, faults: &Faults, function: &str) -> Option<vk::Result> {
        let result = faults.next()?;
        self.plan.log(&format!("injected {result:?} in {function}"));
        Some(result)
    }
}

/// A device as the next layer knows it.
pub(crate) struct Device {
    pub(crate) next: ash::Device,
    pub(crate) next_swapchain: khr::swapchain::DeviceFn,
    pub(crate) get_device_proc_addr: vk::PFN_vkGetDeviceProcAddr,
    pub(crate) instance: Arc<Instance>,
    lost: AtomicBool,
    swapchains: Mutex<HashMap<vk::SwapchainKHR, Swapchain>>,
}

/// A swapchain that is alive.
pub(crate) struct Swapchain {
    pub(crate) surface: vk::SurfaceKHR,
    pub(crate) out_of_date: bool,
}

impl Device {
    pub(crate) fn new(
        next: ash::Device,
        next_swapchain: khr::swapchain::DeviceFn,
        get_device_proc_addr: vk::PFN_vkGetDeviceProcAddr,
        instance: Arc<Instance>,
    ) -> Self {
        let (lost, swapchains) = (AtomicBool::new(false), Mutex::default());
        Self { next, next_swapchain, get_device_proc_addr, instance, lost, swapchains }
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    pub(crate) fn swapchains(&self) -> MutexGuard<'_, HashMap<vk::SwapchainKHR, Swapchain>> {
        lock(&self.swapchains)
    }

    /// What a call that `faults` are for gets for a swapchain, and what it gets from now on.
    pub(crate) fn fault(&self, swapchain: vk::SwapchainKHR, faults: &Faults, function: &str) -> Option<vk::Result> {
        let injected = self.instance.inject(faults, function);
        let mut swapchains = self.swapchains();
        let swapchain = swapchains.get_mut(&swapchain).expect("a program uses swapchains that are alive");
        let mut lost_surfaces = self.instance.lost_surfaces();
        match injected {
            Some(vk::Result::ERROR_DEVICE_LOST) => self.lose(),
            Some(vk::Result::ERROR_SURFACE_LOST_KHR) => _ = lost_surfaces.insert(swapchain.surface),
            Some(vk::Result::ERROR_OUT_OF_DATE_KHR) => swapchain.out_of_date = true,
            _ => {}
        }
        if self.is_lost() {
            Some(vk::Result::ERROR_DEVICE_LOST)
        } else if lost_surfaces.contains(&swapchain.surface) {
            Some(vk::Result::ERROR_SURFACE_LOST_KHR)
        } else if swapchain.out_of_date {
            Some(vk::Result::ERROR_OUT_OF_DATE_KHR)
        } else {
            injected
        }
    }
}

/// Values by the loader's dispatch table, which an instance and its physical devices, or a device and its queues, have in
/// common.
pub(crate) struct Table<T>(LazyLock<Mutex<HashMap<usize, Arc<T>>>>);

impl<T> Table<T> {
    /// Keeps a value for a handle and those made from it.
    ///
    /// # Safety
    ///
    /// The handle is dispatchable and alive.
    pub(crate) unsafe fn insert(&self, handle: impl vk::Handle, value: T) {
        // SAFETY: the caller's word.
        let key = unsafe { key(handle) };
        lock(&self.0).insert(key, Arc::new(value));
    }

    /// The value of a handle, or of the one that it was made from.
    ///
    /// # Safety
    ///
    /// The handle is dispatchable and alive, and so a value was inserted for it.
    pub(crate) unsafe fn of(&self, handle: impl vk::Handle) -> Arc<T> {
        // SAFETY: the caller's word.
        let key = unsafe { key(handle) };
        lock(&self.0).get(&key).expect("it was made through this layer").clone()
    }

    /// Takes the value of a handle out.
    ///
    /// # Safety
    ///
    /// As for [`Table::of`].
    pub(crate) unsafe fn remove(&self, handle: impl vk::Handle) -> Arc<T> {
        // SAFETY: the caller's word.
        let key = unsafe { key(handle) };
        lock(&self.0).remove(&key).expect("it was made through this layer")
    }
}

/// The address of the loader's dispatch table, which is the first word of every dispatchable object.
///
/// # Safety
///
/// The handle is dispatchable and alive.
unsafe fn key(handle: impl vk::Handle) -> usize {
    // SAFETY: the loader's promise for such handles.
    unsafe { *(handle.as_raw() as *const usize) }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
