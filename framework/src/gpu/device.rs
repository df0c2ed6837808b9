//! Which GPU, and the logical device made of it.

use std::cmp::Reverse;
use std::ffi::{CStr, CString};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result, bail};
use ash::{ext, khr, vk};
use gpu_allocator::AllocationSizes;
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};

use super::instance::{Instance, PhysicalDevice, Surface};
use super::owned::{Object, Owned};
use super::pipeline_cache;

/// Bytes of the blocks that memory is taken from. What is larger, such as a window's attachments, has a block of its own
/// and gives it back when it goes.
const DEVICE_BLOCK: u64 = 16 << 20;
const HOST_BLOCK: u64 = 4 << 20;

/// A feature of Vulkan 1.0 that not every GPU has: its name in the specification, and where it is switched on.
#[derive(Clone, Copy)]
pub struct Feature {
    /// The member of `VkPhysicalDeviceFeatures`.
    pub name: &'static str,
    /// The same member.
    pub field: fn(&mut vk::PhysicalDeviceFeatures) -> &mut vk::Bool32,
}

impl Feature {
    /// Polygons drawn as lines or points.
    pub const FILL_MODE_NON_SOLID: Self = Self { name: "fillModeNonSolid", field: |f| &mut f.fill_mode_non_solid };
    /// Anisotropic filtering.
    pub const SAMPLER_ANISOTROPY: Self = Self { name: "samplerAnisotropy", field: |f| &mut f.sampler_anisotropy };

    fn is_in(self, mut features: vk::PhysicalDeviceFeatures) -> bool {
        *(self.field)(&mut features) == vk::TRUE
    }
}

/// Which of several GPUs to take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GpuChoice {
    /// The first suitable one, discrete before integrated before virtual before CPU.
    Best,
    /// The one at this place of Vulkan's list.
    Index(usize),
    /// The first whose name contains this, whatever the case.
    Name(String),
}

/// A logical device with one queue that draws, computes, copies and presents; dereferences to ash's device.
pub struct Device {
    handle: ash::Device,
    physical: PhysicalDevice,
    features: vk::PhysicalDeviceFeatures,
    queue: vk::Queue,
    queue_family: u32,
    debug_utils: Option<ext::debug_utils::Device>,
    pipeline_cache: vk::PipelineCache,
    /// How much the cache held when it was loaded.
    cached_bytes: usize,
    timestamp_valid_bits: u32,
    objects_made: AtomicU64,
    allocator: ManuallyDrop<Arc<Mutex<Allocator>>>,
    instance: Arc<Instance>,
}

impl Device {
    /// Makes a device of the chosen GPU, with the required features, those of the optional ones that it has, and
    /// `synchronization2`, `dynamicRendering` and `maintenance4`, which every Vulkan 1.3 has. With a surface it can present to it.
    ///
    /// # Errors
    ///
    /// No GPU fits: a sentence that names each and what it lacks.
    pub fn new(
        instance: &Arc<Instance>,
        choice: &GpuChoice,
        surface: Option<&Surface>,
        required: &[Feature],
        optional: &[Feature],
    ) -> Result<Arc<Self>> {
        let (physical, queue_family) = choose(instance, choice, surface, required)?;

        let mut features = vk::PhysicalDeviceFeatures::default();
        for feature in required.iter().chain(optional).filter(|feature| feature.is_in(physical.features)) {
            *(feature.field)(&mut features) = vk::TRUE;
        }
        let available = device_extensions(instance, &physical)?;
        let mut extensions = Vec::new();
        if surface.is_some() {
            extensions.push(khr::swapchain::NAME.as_ptr());
        }
        // A driver that has it wants it switched on.
        if available.iter().any(|name| name.as_c_str() == khr::portability_subset::NAME) {
            extensions.push(khr::portability_subset::NAME.as_ptr());
        }
        let mut vulkan_1_3 = vk::PhysicalDeviceVulkan13Features::default()
            .synchronization2(true)
            .dynamic_rendering(true)
            // Without it an output that the next stage leaves unread is worth a warning.
            .maintenance4(true);
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(queue_family).queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .enabled_features(&features)
            .push_next(&mut vulkan_1_3);
        // SAFETY: the physical device belongs to the instance; queue family, extensions and features were checked to
        // exist; the features of Vulkan 1.3 are among those that it requires.
        let (handle, queue) = unsafe {
            let handle = instance
                .create_device(physical.handle, &info, None)
                .with_context(|| format!("vkCreateDevice failed on {}", physical.name()))?;
            let queue = handle.get_device_queue(queue_family, 0);
            (handle, queue)
        };
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: (**instance).clone(),
            device: handle.clone(),
            physical_device: physical.handle,
            debug_settings: Default::default(),
            buffer_device_address: false,
            allocation_sizes: AllocationSizes::new(DEVICE_BLOCK, HOST_BLOCK),
        })
        .context("the memory allocator could not be made")?;
        let cached = pipeline_cache::load(&physical);
        let cache_info = vk::PipelineCacheCreateInfo::default().initial_data(&cached);
        // SAFETY: the data is what this driver gave, by its name and checksum; a driver ignores what it does not know.
        let (pipeline_cache, families) = unsafe {
            (
                handle.create_pipeline_cache(&cache_info, None).context("vkCreatePipelineCache failed")?,
                instance.get_physical_device_queue_family_properties(physical.handle),
            )
        };
        let debug_utils = instance.has_debug_utils().then(|| ext::debug_utils::Device::new(instance, &handle));
        Ok(Arc::new(Self {
            handle,
            physical,
            features,
            queue,
            queue_family,
            debug_utils,
            pipeline_cache,
            cached_bytes: cached.len(),
            timestamp_valid_bits: families[queue_family as usize].timestamp_valid_bits,
            objects_made: AtomicU64::new(0),
            allocator: ManuallyDrop::new(Arc::new(Mutex::new(allocator))),
            instance: instance.clone(),
        }))
    }

    /// Takes ownership of a handle that this device has created, and names it for debuggers and messages.
    pub fn own<H: Object>(self: &Arc<Self>, handle: H, name: &str) -> Owned<H> {
        self.count_object();
        self.name(handle, name);
        Owned::new(self.clone(), handle)
    }

    /// Names an object of this device for debuggers and messages.
    pub fn name<H: vk::Handle>(&self, handle: H, name: &str) {
        let Some(debug_utils) = &self.debug_utils else { return };
        let name = CString::new(name).unwrap_or_default();
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(handle).object_name(&name);
        // SAFETY: the handle is alive, and the calling thread has the only use of it. A name that could not be kept
        // for want of memory is no reason to stop.
        let _ = unsafe { debug_utils.set_debug_utils_object_name(&info) };
    }

    /// A shader module of SPIR-V words such as `shaders::spirv!` gives.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn shader_module(self: &Arc<Self>, words: &[u32], name: &str) -> Result<Owned<vk::ShaderModule>> {
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the words are SPIR-V for Vulkan 1.3 from the shader compiler.
        let handle = unsafe { self.handle.create_shader_module(&info, None) }
            .with_context(|| format!("vkCreateShaderModule failed for {name}"))?;
        Ok(self.own(handle, name))
    }

    /// Whether a feature is switched on.
    pub fn has(&self, feature: Feature) -> bool {
        feature.is_in(self.features)
    }

    /// The GPU it was made of.
    pub fn physical(&self) -> &PhysicalDevice {
        &self.physical
    }

    /// The instance it was made from.
    pub fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    /// What a format can be used for, with optimal tiling.
    pub fn format_features(&self, format: vk::Format) -> vk::FormatFeatureFlags {
        // SAFETY: the physical device belongs to the instance.
        unsafe { self.instance.get_physical_device_format_properties(self.physical.handle, format) }
            .optimal_tiling_features
    }

    /// The depth format to render with: 32 bits where the GPU can, else 24 or 16 bits.
    pub fn depth_format(&self) -> vk::Format {
        [vk::Format::D32_SFLOAT, vk::Format::X8_D24_UNORM_PACK32]
            .into_iter()
            .find(|&format| self.format_features(format).contains(vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT))
            // The specification requires D16 of everyone.
            .unwrap_or(vk::Format::D16_UNORM)
    }

    /// The queue.
    pub fn queue(&self) -> vk::Queue {
        self.queue
    }

    /// The queue's family.
    pub fn queue_family(&self) -> u32 {
        self.queue_family
    }

    /// Waits until the GPU has nothing left to do.
    ///
    /// # Errors
    ///
    /// A lost device.
    pub fn wait_idle(&self) -> Result<()> {
        // SAFETY: the queue is used by one thread only.
        unsafe { self.handle.device_wait_idle() }.context("vkDeviceWaitIdle failed")
    }

    /// The functions of `VK_EXT_debug_utils`, where it is there.
    pub fn debug_utils(&self) -> Option<&ext::debug_utils::Device> {
        self.debug_utils.as_ref()
    }

    /// The cache to make pipelines with. It is kept on disk, by GPU and driver.
    pub fn pipeline_cache(&self) -> vk::PipelineCache {
        self.pipeline_cache
    }

    /// Keeps the pipeline cache on disk if it has grown.
    pub fn save_pipeline_cache(&self) {
        // SAFETY: the cache is alive; the calling thread has the only use of it.
        if let Ok(data) = unsafe { self.handle.get_pipeline_cache_data(self.pipeline_cache) }
            && data.len() > self.cached_bytes
        {
            pipeline_cache::save(&self.physical, &data);
        }
    }

    /// How many Vulkan objects the owners of this module have taken so far. A steady frame takes none.
    pub fn objects_made(&self) -> u64 {
        self.objects_made.load(Ordering::Relaxed)
    }

    /// The number of bits in the queue's timestamps; 0: it has none.
    pub fn timestamp_valid_bits(&self) -> u32 {
        self.timestamp_valid_bits
    }

    /// The allocator, for libraries that make Vulkan objects of their own; they are to be dropped before the device.
    pub fn shared_allocator(&self) -> Arc<Mutex<Allocator>> {
        Arc::clone(&self.allocator)
    }

    pub(super) fn count_object(&self) {
        self.objects_made.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn allocator(&self) -> MutexGuard<'_, Allocator> {
        self.allocator.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for Device {
    type Target = ash::Device;

    fn deref(&self) -> &ash::Device {
        &self.handle
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: everything made from the device holds it by Arc, so nothing is left. The allocator's memory goes
        // before the device and is not touched again.
        unsafe {
            self.handle.destroy_pipeline_cache(self.pipeline_cache, None);
            ManuallyDrop::drop(&mut self.allocator);
            self.handle.destroy_device(None);
        }
    }
}

/// The GPU to take and its queue family, or a sentence that says why there is none.
fn choose(
    instance: &Instance,
    choice: &GpuChoice,
    surface: Option<&Surface>,
    required: &[Feature],
) -> Result<(PhysicalDevice, u32)> {
    let devices = instance.physical_devices()?;
    if devices.is_empty() {
        bail!(
            "Vulkan finds no GPU and no software driver (Debian and Ubuntu: mesa-vulkan-drivers has one that needs no \
             GPU)"
        );
    }
    let wanted: Vec<_> = match choice {
        GpuChoice::Best => by_preference(devices.clone()),
        GpuChoice::Index(index) => devices.get(*index).cloned().into_iter().collect(),
        GpuChoice::Name(name) => {
            let name = name.to_lowercase();
            devices.iter().filter(|device| device.name().to_lowercase().contains(&name)).cloned().collect()
        }
    };
    if wanted.is_empty() {
        let names: Vec<_> = devices.iter().enumerate().map(|(i, device)| format!("{i}: {}", device.name())).collect();
        let asked = match choice {
            GpuChoice::Index(index) => index.to_string(),
            GpuChoice::Name(name) => name.clone(),
            GpuChoice::Best => String::new(),
        };
        bail!("there is no GPU {asked}; there are {}", names.join(", "));
    }
    let mut reasons = Vec::new();
    for device in wanted {
        match suitable_queue_family(instance, &device, surface, required)? {
            Ok(family) => return Ok((device, family)),
            Err(lack) => reasons.push(format!("{} {lack}", device.name())),
        }
    }
    bail!("no GPU can be used: {}", reasons.join("; "))
}

/// Discrete before integrated before virtual before CPU; equals stay in Vulkan's order.
fn by_preference(mut devices: Vec<PhysicalDevice>) -> Vec<PhysicalDevice> {
    devices.sort_by_key(|device| {
        Reverse(match device.properties.device_type {
            vk::PhysicalDeviceType::DISCRETE_GPU => 4,
            vk::PhysicalDeviceType::INTEGRATED_GPU => 3,
            vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
            vk::PhysicalDeviceType::CPU => 1,
            _ => 0,
        })
    });
    devices
}

/// The queue family to use, or what the GPU lacks.
fn suitable_queue_family(
    instance: &Instance,
    device: &PhysicalDevice,
    surface: Option<&Surface>,
    required: &[Feature],
) -> Result<Result<u32, String>> {
    if device.properties.api_version < vk::API_VERSION_1_3 {
        return Ok(Err(format!("supports Vulkan {} only, and 1.3 is needed", device.api_version())));
    }
    if let Some(feature) = required.iter().find(|feature| !feature.is_in(device.features)) {
        return Ok(Err(format!("lacks the feature {}", feature.name)));
    }
    if surface.is_some()
        && !device_extensions(instance, device)?.iter().any(|name| name.as_c_str() == khr::swapchain::NAME)
    {
        return Ok(Err("cannot show windows".to_owned()));
    }
    // SAFETY: the physical device belongs to the instance.
    let families = unsafe { instance.get_physical_device_queue_family_properties(device.handle) };
    for (family, properties) in (0..).zip(&families) {
        if !properties.queue_flags.contains(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE) {
            continue;
        }
        let presents = match surface {
            None => true,
            Some(surface) => surface.can_be_presented_to_by(device.handle, family)?,
        };
        if presents {
            return Ok(Ok(family));
        }
    }
    Ok(Err(match surface {
        None => "has no queue that draws and computes".to_owned(),
        Some(_) => "has no queue that draws, computes and presents to this window".to_owned(),
    }))
}

fn device_extensions(instance: &Instance, device: &PhysicalDevice) -> Result<Vec<CString>> {
    // SAFETY: the physical device belongs to the instance.
    let extensions = unsafe { instance.enumerate_device_extension_properties(device.handle) }
        .context("vkEnumerateDeviceExtensionProperties failed")?;
    Ok(extensions.iter().filter_map(|e| e.extension_name_as_c_str().ok().map(CStr::to_owned)).collect())
}
