//! Validation messages, and the labels that RenderDoc and other tools show.

use std::collections::HashMap;
use std::ffi::{CStr, c_void};
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;

use super::Device;

/// How much the validation layer is asked to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validation {
    /// The layer is not loaded.
    Off,
    /// Core validation; messages are printed.
    On,
    /// Core and synchronization validation; any message counts as a failure.
    Strict,
}

/// Counts what the validation layer had to say. Clones share one count.
#[derive(Clone, Default)]
pub struct MessageCount(Arc<Mutex<HashMap<String, usize>>>);

/// A message that repeats every frame is printed this often.
const PRINTED_REPEATS: usize = 3;

impl MessageCount {
    /// Warnings and errors of type validation or performance so far, repetitions included.
    pub fn total(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }

    fn add(&self, id: &str, text: &str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(id.to_owned()).or_default();
        *count += 1;
        match *count {
            count if count <= PRINTED_REPEATS => eprintln!("validation: {text}"),
            count if count == PRINTED_REPEATS + 1 => eprintln!("validation: ({id} goes on, no longer printed)"),
            _ => {}
        }
    }

    /// What a messenger, or an instance while it is made and destroyed, is created with.
    pub(super) fn create_info(&self) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
        vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(
                vk::DebugUtilsMessageSeverityFlagsEXT::WARNING | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
            )
            .message_type(
                vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION | vk::DebugUtilsMessageTypeFlagsEXT::PERFORMANCE,
            )
            .pfn_user_callback(Some(on_message))
            .user_data(Arc::as_ptr(&self.0).cast_mut().cast())
    }
}

unsafe extern "system" fn on_message(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user_data: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: Vulkan passes a valid callback structure whose strings are null or null-terminated. `user_data` is the
    // pointer of `create_info`; the Arc behind it is held by the instance until after the last callback.
    let (id, text, counts) = unsafe {
        let data = &*data;
        let string = |pointer: *const std::ffi::c_char| match pointer.is_null() {
            true => String::new(),
            false => CStr::from_ptr(pointer).to_string_lossy().into_owned(),
        };
        let counts = user_data.cast::<Mutex<HashMap<String, usize>>>().cast_const();
        Arc::increment_strong_count(counts);
        (string(data.p_message_id_name), string(data.p_message), MessageCount(Arc::from_raw(counts)))
    };
    counts.add(&id, &text);
    vk::FALSE
}

/// A label around commands, closed when dropped: labels are balanced by construction.
pub struct Label<'a> {
    device: &'a Device,
    commands: vk::CommandBuffer,
}

impl<'a> Label<'a> {
    /// Opens a label in a command buffer that is being recorded, and is still so when the label is dropped.
    pub fn new(device: &'a Device, commands: vk::CommandBuffer, name: &CStr) -> Self {
        if let Some(debug_utils) = device.debug_utils() {
            let label = vk::DebugUtilsLabelEXT::default().label_name(name);
            // SAFETY: the caller says that the command buffer is in recording state.
            unsafe { debug_utils.cmd_begin_debug_utils_label(commands, &label) };
        }
        Self { device, commands }
    }
}

impl Drop for Label<'_> {
    fn drop(&mut self) {
        if let Some(debug_utils) = self.device.debug_utils() {
            // SAFETY: as in `new`, which has opened the label in the same command buffer.
            unsafe { debug_utils.cmd_end_debug_utils_label(self.commands) };
        }
    }
}
