//! Thin owners of Vulkan objects, a file for each noun.
//!
//! They own lifetime, not state: every create-info that a technique is about is written by the sample, and
//! the created handle is given to [`Device::own`]. Objects hold the device by [`Arc`](std::sync::Arc) and are
//! destroyed when dropped; whoever drops one sees to it that the GPU has finished with it.

mod buffer;
mod debug;
mod descriptors;
mod device;
mod frames;
mod image;
mod instance;
mod mipmaps;
mod owned;
mod pipeline;
mod pipeline_cache;
mod readback;
mod swapchain;
mod timestamps;
mod upload;

pub use buffer::Buffer;
pub use debug::{Label, MessageCount, Validation};
pub use descriptors::{DescriptorSetLayout, DescriptorSets};
pub use device::{Device, Feature, GpuChoice};
pub use frames::{FRAMES_IN_FLIGHT, Frames};
pub use image::Image;
pub use instance::{Instance, PhysicalDevice, Surface};
pub use owned::{Object, Owned};
pub(crate) use pipeline::GraphicsPipeline;
pub use readback::Readback;
pub use swapchain::{PresentMode, Swapchain};
pub use timestamps::{Pass, Timestamps};
pub use upload::Upload;
