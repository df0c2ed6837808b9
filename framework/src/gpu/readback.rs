//! Pictures on their way back to the CPU.

use std::sync::Arc;

use anyhow::{Result, bail};
use ash::vk;

use super::{Buffer, Device};

/// A buffer that a picture of a given size is copied to.
pub struct Readback {
    buffer: Buffer,
    extent: vk::Extent2D,
    format: vk::Format,
}

impl Readback {
    /// Room for an image of 4 bytes a pixel.
    ///
    /// # Errors
    ///
    /// Out of memory, or a format other than 8 bits each of RGBA or BGRA.
    pub fn new(device: &Arc<Device>, format: vk::Format, extent: vk::Extent2D) -> Result<Self> {
        if !matches!(format, vk::Format::R8G8B8A8_SRGB | vk::Format::B8G8R8A8_SRGB) {
            bail!("pictures of format {format:?} cannot be written");
        }
        let size = u64::from(extent.width) * u64::from(extent.height) * 4;
        let usage = vk::BufferUsageFlags::TRANSFER_DST;
        let buffer = Buffer::readable(device, "readback", size, usage)?;
        Ok(Self { buffer, extent, format })
    }

    /// Records the copy of an image of this extent and format that is in `TRANSFER_SRC_OPTIMAL`.
    pub fn record(&self, device: &Device, commands: vk::CommandBuffer, image: vk::Image) {
        let layers = vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
        let region = vk::BufferImageCopy::default().image_subresource(layers).image_extent(self.extent.into());
        let barrier = [vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::ALL_TRANSFER)
            .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::HOST)
            .dst_access_mask(vk::AccessFlags2::HOST_READ)];
        let dependency = vk::DependencyInfo::default().memory_barriers(&barrier);
        let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        // SAFETY: the command buffer is being recorded, and the image is in the layout named; the buffer has room for it.
        unsafe {
            device.cmd_copy_image_to_buffer(commands, image, layout, self.buffer.handle(), &[region]);
            device.cmd_pipeline_barrier2(commands, &dependency);
        }
    }

    /// The picture as opaque RGBA, once the GPU has run the recorded commands.
    pub fn picture(&self) -> image::RgbaImage {
        let length = self.extent.width as usize * self.extent.height as usize * 4;
        let mut pixels = self.buffer.bytes()[..length].to_vec();
        for pixel in pixels.chunks_exact_mut(4) {
            if self.format == vk::Format::B8G8R8A8_SRGB {
                pixel.swap(0, 2);
            }
            pixel[3] = u8::MAX;
        }
        image::RgbaImage::from_raw(self.extent.width, self.extent.height, pixels).expect("the length fits the size")
    }
}
