//! One owner for every kind of device object that needs nothing but its destruction.

use std::ops::Deref;
use std::sync::Arc;

use ash::vk;

use super::Device;

/// A handle that a device destroys.
pub trait Object: vk::Handle + Copy {
    /// Destroys the object.
    ///
    /// # Safety
    ///
    /// The handle was created by `device`, is not used by the GPU any more and is never used again.
    unsafe fn destroy(self, device: &ash::Device);
}

macro_rules! objects {
    ($($object:ident: $destroy:ident),* $(,)?) => {
        $(impl Object for vk::$object {
            unsafe fn destroy(self, device: &ash::Device) {
                // SAFETY: the caller's promise is what the call asks for.
                unsafe { device.$destroy(self, None) }
            }
        })*
    };
}

objects! {
    CommandPool: destroy_command_pool,
    DescriptorPool: destroy_descriptor_pool,
    DescriptorSetLayout: destroy_descriptor_set_layout,
    Fence: destroy_fence,
    Framebuffer: destroy_framebuffer,
    ImageView: destroy_image_view,
    Pipeline: destroy_pipeline,
    PipelineLayout: destroy_pipeline_layout,
    QueryPool: destroy_query_pool,
    RenderPass: destroy_render_pass,
    Sampler: destroy_sampler,
    Semaphore: destroy_semaphore,
    ShaderModule: destroy_shader_module,
}

/// A Vulkan object that is destroyed when dropped; dereferences to its handle. Made by [`Device::own`].
pub struct Owned<H: Object> {
    handle: H,
    device: Arc<Device>,
}

impl<H: Object> Owned<H> {
    pub(super) fn new(device: Arc<Device>, handle: H) -> Self {
        Self { handle, device }
    }
}

impl<H: Object> Deref for Owned<H> {
    type Target = H;

    fn deref(&self) -> &H {
        &self.handle
    }
}

impl<H: Object> Drop for Owned<H> {
    fn drop(&mut self) {
        // SAFETY: `Device::own`'s caller gave the handle away, so nobody else destroys it, and objects in use by the
        // GPU are not dropped (see the module's documentation).
        unsafe { self.handle.destroy(&self.device) }
    }
}
