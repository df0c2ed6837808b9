//! A Vulkan layer that makes a driver misbehave on demand, so that tests see what a program does about it.
//!
//! It is put under a program by environment variables only (`tools::faults` sets them): the loader finds it by a manifest
//! (see [`manifest`]) in `VK_ADD_LAYER_PATH` and loads it by its [`NAME`] in `VK_INSTANCE_LAYERS`. What it does is said by
//! variables too:
//!
//! | variable | value |
//! | --- | --- |
//! | `FAULT_CAPABILITIES` | faults of `vkGetPhysicalDeviceSurfaceCapabilitiesKHR`: `surface_lost` |
//! | `FAULT_ACQUIRE` | of `vkAcquireNextImageKHR`: `suboptimal`, `out_of_date`, `surface_lost`, `device_lost` |
//! | `FAULT_PRESENT` | of `vkQueuePresentKHR`: the same |
//! | `FAULT_SUBMIT` | of `vkQueueSubmit` and `vkQueueSubmit2`: `device_lost` |
//! | `FAULT_PRESENT_MODES` | the present modes that surfaces offer, of those they have: `fifo,mailbox` |
//! | `FAULT_DEVICE_TYPES` | what the physical devices claim to be, in their order: `cpu,discrete,integrated,virtual` |
//! | `FAULT_LOG` | a file that gets a line for each call that makes or destroys a device, swapchain or surface, destroys the instance, or presents, and for each injected result |
//!
//! Faults are separated by commas. `out_of_date` happens at every call, `out_of_date:5` at every fifth, `out_of_date@5` at
//! the fifth only. As in earnest, a swapchain that was out of date stays so, a lost surface stays lost, until they are
//! destroyed, and a lost device for good. Another variable that begins with `FAULT_`, or a value that cannot be read,
//! fails `vkCreateInstance`.

use std::path::Path;

mod device;
mod instance;
mod loader;
mod plan;
mod state;

/// The layer's name.
pub const NAME: &str = "VK_LAYER_ASHWRIGHT_fault";

/// The file name of the layer's library on this platform. Cargo leaves it beside the programs that depend on the crate.
pub const LIBRARY: &str = if cfg!(windows) {
    "fault_layer.dll"
} else if cfg!(target_os = "macos") {
    "libfault_layer.dylib"
} else {
    "libfault_layer.so"
};

/// The text of the manifest (a `.json` file) that makes the loader know the layer, whose library lies at `library`.
pub fn manifest(library: &Path) -> String {
    format!(
        r#"{{
    "file_format_version": "1.1.2",
    "layer": {{
        "name": "{NAME}",
        "type": "GLOBAL",
        "library_path": {:?},
        "api_version": "1.3.0",
        "implementation_version": "1",
        "description": "Makes drivers misbehave on demand"
    }}
}}
"#,
        library.display().to_string()
    )
}
