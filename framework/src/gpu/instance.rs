//! The instance, the GPUs it lists, and surfaces.

use std::ffi::{CStr, CString, c_char};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use ash::{ext, khr, vk};
use raw_window_handle::{HasDisplayHandle, HasWindowHandle, RawDisplayHandle};

use super::debug::{MessageCount, Validation};

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

const NO_DRIVER: &str = "no Vulkan driver is installed (Debian and Ubuntu: mesa-vulkan-drivers has drivers for GPUs, \
                         and one that needs no GPU)";

/// Extensions that are used where they are there: names and labels for debuggers, and drivers with a subset of Vulkan.
const OPTIONAL_EXTENSIONS: [&CStr; 2] = [ext::debug_utils::NAME, khr::portability_enumeration::NAME];

/// What an instance is made of besides its extensions.
struct Wanted<'a> {
    name: &'a CStr,
    validation: Validation,
    layers: &'a [*const c_char],
    messages: &'a MessageCount,
}

impl Wanted<'_> {
    fn create(&self, entry: &ash::Entry, extensions: &[&CStr]) -> Result<ash::Instance, vk::Result> {
        let mut names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
        let mut flags = vk::InstanceCreateFlags::empty();
        if extensions.contains(&khr::portability_enumeration::NAME) {
            flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
        }
        if self.validation == Validation::Strict {
            names.push(ext::validation_features::NAME.as_ptr());
        }
        let application = vk::ApplicationInfo::default()
            .application_name(self.name)
            .engine_name(c"Ashwright")
            .api_version(vk::API_VERSION_1_3);
        let mut messenger_info = self.messages.create_info();
        let mut features = vk::ValidationFeaturesEXT::default()
            .enabled_validation_features(&[vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION]);
        let mut info = vk::InstanceCreateInfo::default()
            .flags(flags)
            .application_info(&application)
            .enabled_layer_names(self.layers)
            .enabled_extension_names(&names);
        if !self.layers.is_empty() {
            info = info.push_next(&mut messenger_info);
        }
        if self.validation == Validation::Strict {
            info = info.push_next(&mut features);
        }
        // SAFETY: all pointers in `info` are to locals or to what `self` borrows; the layers were checked to exist, and an
        // extension that does not is an error.
        unsafe { entry.create_instance(&info, None) }
    }
}

/// A Vulkan 1.3 instance.
pub struct Instance {
    handle: ash::Instance,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    debug_utils: bool,
    // Held for the callbacks, which the driver may still make while the instance is destroyed.
    _messages: MessageCount,
    entry: ash::Entry,
}

impl Instance {
    /// Makes an instance that can present to windows of `display`, where one is given.
    ///
    /// # Errors
    ///
    /// No Vulkan loader, an instance older than 1.3, a missing validation layer when [`Validation`] asks for it, or no
    /// way to present to the display.
    pub fn new(
        name: &str,
        validation: Validation,
        messages: MessageCount,
        display: Option<RawDisplayHandle>,
    ) -> Result<Arc<Self>> {
        let entry = load_entry()?;
        let layers = match validation {
            Validation::Off => Vec::new(),
            Validation::On | Validation::Strict if has_validation_layer(&entry)? => vec![VALIDATION_LAYER.as_ptr()],
            _ => bail!(
                "the validation layer {} is not installed (Debian and Ubuntu: vulkan-validationlayers; elsewhere the \
                 Vulkan SDK); without it, run with --validation off",
                VALIDATION_LAYER.to_string_lossy()
            ),
        };
        let required: Vec<&CStr> = match display {
            Some(display) => {
                let names = ash_window::enumerate_required_extensions(display)
                    .context("this kind of display is not known to Vulkan")?;
                // SAFETY: ash-window returns pointers to static null-terminated strings.
                names.iter().map(|&name| unsafe { CStr::from_ptr(name) }).collect()
            }
            None => Vec::new(),
        };
        let name = CString::new(name).context("the program's name")?;
        let wanted = Wanted { name: &name, validation, layers: &layers, messages: &messages };

        // To ask which extensions there are loads every driver, and to make the instance loads it again: what is hardly ever
        // missing is not asked for.
        let mut optional = OPTIONAL_EXTENSIONS.to_vec();
        let mut created = wanted.create(&entry, &[&required[..], &optional].concat());
        if let Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT) = created {
            let offered = instance_extensions(&entry)?;
            let has = |name: &CStr| offered.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
            anyhow::ensure!(display.is_none() || has(khr::surface::NAME), NO_DRIVER);
            if let Some(missing) = required.iter().find(|name| !has(name)) {
                bail!("this Vulkan cannot show windows here: it lacks {}", missing.to_string_lossy());
            }
            // The layer brings debug utils even where the loader does not list them.
            optional.retain(|&name| has(name) || (name == ext::debug_utils::NAME && !layers.is_empty()));
            created = wanted.create(&entry, &[&required[..], &optional].concat());
        }
        let handle = created.map_err(|error| match error {
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => anyhow::anyhow!(NO_DRIVER),
            error => anyhow::Error::new(error).context("vkCreateInstance failed"),
        })?;
        let debug_utils = optional.contains(&ext::debug_utils::NAME);

        let mut instance = Self { handle, messenger: None, debug_utils, _messages: messages.clone(), entry };
        if !layers.is_empty() {
            let loader = ext::debug_utils::Instance::new(&instance.entry, &instance.handle);
            // SAFETY: debug utils is enabled wherever the layer is; `instance` keeps what the callback points to.
            let messenger = unsafe { loader.create_debug_utils_messenger(&messages.create_info(), None) }
                .context("vkCreateDebugUtilsMessengerEXT failed")?;
            instance.messenger = Some((loader, messenger));
        }
        Ok(Arc::new(instance))
    }

    /// Whether the validation layer is there to be asked for.
    pub fn validation_layer_is_installed() -> bool {
        load_entry().and_then(|entry| has_validation_layer(&entry)).unwrap_or(false)
    }

    /// All GPUs, in Vulkan's order.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn physical_devices(&self) -> Result<Vec<PhysicalDevice>> {
        // SAFETY: the instance is alive, and so are the devices it lists.
        unsafe {
            let handles = self.handle.enumerate_physical_devices().context("vkEnumeratePhysicalDevices failed")?;
            Ok(handles
                .into_iter()
                .map(|handle| PhysicalDevice {
                    handle,
                    properties: self.handle.get_physical_device_properties(handle),
                    features: self.handle.get_physical_device_features(handle),
                })
                .collect())
        }
    }

    pub(super) fn has_debug_utils(&self) -> bool {
        self.debug_utils
    }

    pub(super) fn entry(&self) -> &ash::Entry {
        &self.entry
    }
}

impl std::ops::Deref for Instance {
    type Target = ash::Instance;

    fn deref(&self) -> &ash::Instance {
        &self.handle
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: everything made from the instance holds it by Arc, so nothing is left; both were created in `new`.
        unsafe {
            if let Some((loader, messenger)) = self.messenger.take() {
                loader.destroy_debug_utils_messenger(messenger, None);
            }
            self.handle.destroy_instance(None);
        }
    }
}

/// A GPU, or a driver that renders without one.
#[derive(Clone)]
pub struct PhysicalDevice {
    /// The handle, valid as long as its instance.
    pub handle: vk::PhysicalDevice,
    /// Name, type, versions and limits.
    pub properties: vk::PhysicalDeviceProperties,
    /// The features of Vulkan 1.0 that it has.
    pub features: vk::PhysicalDeviceFeatures,
}

impl PhysicalDevice {
    /// The name the driver gives it.
    pub fn name(&self) -> String {
        self.properties.device_name_as_c_str().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// What kind of device it is, in words.
    pub fn kind(&self) -> &'static str {
        match self.properties.device_type {
            vk::PhysicalDeviceType::DISCRETE_GPU => "discrete GPU",
            vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated GPU",
            vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual GPU",
            vk::PhysicalDeviceType::CPU => "CPU",
            _ => "other",
        }
    }

    /// Whether a CPU does its work: a software driver.
    pub fn is_cpu(&self) -> bool {
        self.properties.device_type == vk::PhysicalDeviceType::CPU
    }

    /// The highest Vulkan version it supports, as `1.3.230`.
    pub fn api_version(&self) -> String {
        let version = self.properties.api_version;
        format!(
            "{}.{}.{}",
            vk::api_version_major(version),
            vk::api_version_minor(version),
            vk::api_version_patch(version)
        )
    }
}

/// Where a window's images are shown.
pub struct Surface {
    handle: vk::SurfaceKHR,
    loader: khr::surface::Instance,
    _instance: Arc<Instance>,
}

impl Surface {
    /// Makes the surface of a window.
    ///
    /// # Errors
    ///
    /// The driver's, or a window without handles.
    ///
    /// # Safety
    ///
    /// The window must outlive the surface.
    pub unsafe fn new(instance: &Arc<Instance>, window: &(impl HasDisplayHandle + HasWindowHandle)) -> Result<Self> {
        let (display, window) = (window.display_handle()?.as_raw(), window.window_handle()?.as_raw());
        // SAFETY: the handles are valid now, and the caller keeps the window.
        let handle = unsafe { ash_window::create_surface(instance.entry(), instance, display, window, None) }
            .context("no Vulkan surface could be made for the window")?;
        let loader = khr::surface::Instance::new(instance.entry(), instance);
        Ok(Self { handle, loader, _instance: instance.clone() })
    }

    /// The handle.
    pub fn handle(&self) -> vk::SurfaceKHR {
        self.handle
    }

    /// Whether a GPU of the same instance can present to it from a queue family.
    pub(super) fn can_be_presented_to_by(&self, device: vk::PhysicalDevice, family: u32) -> Result<bool> {
        // SAFETY: device and family are the caller's word; the surface is alive.
        unsafe { self.loader.get_physical_device_surface_support(device, family, self.handle) }
            .context("vkGetPhysicalDeviceSurfaceSupportKHR failed")
    }

    /// The functions of `VK_KHR_surface`.
    pub fn loader(&self) -> &khr::surface::Instance {
        &self.loader
    }
}

impl Drop for Surface {
    fn drop(&mut self) {
        // SAFETY: swapchains hold their surface by Arc, so none is left.
        unsafe { self.loader.destroy_surface(self.handle, None) }
    }
}

fn load_entry() -> Result<ash::Entry> {
    // SAFETY: the library that is loaded is the system's Vulkan loader.
    unsafe { ash::Entry::load() }.context(
        "no Vulkan loader was found (Debian and Ubuntu: libvulkan1 and mesa-vulkan-drivers; Windows: the GPU's driver; \
         macOS: MoltenVK or the Vulkan SDK)",
    )
}

fn instance_extensions(entry: &ash::Entry) -> Result<Vec<vk::ExtensionProperties>> {
    // SAFETY: no precondition.
    let (version, extensions) = unsafe {
        let version = entry.try_enumerate_instance_version().context("vkEnumerateInstanceVersion failed")?;
        (version.unwrap_or(vk::API_VERSION_1_0), entry.enumerate_instance_extension_properties(None))
    };
    if version < vk::API_VERSION_1_3 {
        bail!(
            "the Vulkan loader is of version {}.{}; 1.3 is needed: update it",
            vk::api_version_major(version),
            vk::api_version_minor(version)
        );
    }
    extensions.context("vkEnumerateInstanceExtensionProperties failed")
}

fn has_validation_layer(entry: &ash::Entry) -> Result<bool> {
    // SAFETY: no precondition.
    let layers =
        unsafe { entry.enumerate_instance_layer_properties() }.context("vkEnumerateInstanceLayerProperties failed")?;
    Ok(layers.iter().any(|layer| layer.layer_name_as_c_str() == Ok(VALIDATION_LAYER)))
}
