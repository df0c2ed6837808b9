//! Batches of data on their way to the GPU.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use ash::vk;
use bytemuck::NoUninit;

use super::image::subresource_range;
use super::mipmaps::smaller_levels;
use super::{Buffer, Device, Image, Owned};

/// Staging memory in use at which a batch is submitted by itself.
const BATCH_BYTES: u64 = 64 << 20;

/// Copies data to buffers and images of the GPU, many at a time. [`Upload::finish`] waits until all of it is there.
pub struct Upload {
    commands: vk::CommandBuffer,
    _pool: Owned<vk::CommandPool>,
    fence: Owned<vk::Fence>,
    staging: Vec<Buffer>,
    staged: u64,
    device: Arc<Device>,
}

impl Upload {
    /// An empty batch.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let pool_info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT | vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
            .queue_family_index(device.queue_family());
        // SAFETY: the queue family is the device's.
        let (pool, fence) = unsafe {
            (
                device.create_command_pool(&pool_info, None).context("vkCreateCommandPool failed")?,
                device.create_fence(&Default::default(), None).context("vkCreateFence failed")?,
            )
        };
        let (pool, fence) = (device.own(pool, "upload"), device.own(fence, "upload"));
        let info = vk::CommandBufferAllocateInfo::default().command_pool(*pool).command_buffer_count(1);
        // SAFETY: the pool is alive and used by this thread only.
        let commands = unsafe { device.allocate_command_buffers(&info) }.context("vkAllocateCommandBuffers failed")?[0];
        let upload = Self { commands, _pool: pool, fence, staging: Vec::new(), staged: 0, device: device.clone() };
        upload.begin()?;
        Ok(upload)
    }

    /// A buffer of the GPU that will hold `data`.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn buffer<T: NoUninit>(&mut self, name: &str, usage: vk::BufferUsageFlags, data: &[T]) -> Result<Buffer> {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let size = bytes.len() as u64;
        let buffer = Buffer::new(&self.device, name, size, usage | vk::BufferUsageFlags::TRANSFER_DST)?;
        if size > 0 {
            let staging = self.stage(&[bytes])?;
            let region = vk::BufferCopy::default().size(size);
            // SAFETY: both buffers hold `size` bytes and live until the batch is done: the caller keeps the one (it is
            // not usable before `finish`), `self` the other.
            unsafe { self.device.cmd_copy_buffer(self.commands, staging, buffer.handle(), &[region]) };
        }
        Ok(buffer)
    }

    /// A sampled image of the GPU with these texels, in `SHADER_READ_ONLY_OPTIMAL`; with all smaller mip levels where
    /// asked for and the format can be blitted with a linear filter.
    ///
    /// `texels` are rows from top to bottom without padding, RGBA of 8 bits a channel.
    ///
    /// # Errors
    ///
    /// Out of memory, or an image larger than the GPU allows.
    pub fn texture(
        &mut self,
        name: &str,
        format: vk::Format,
        extent: vk::Extent2D,
        texels: &[u8],
        mipmaps: bool,
    ) -> Result<Image> {
        let limit = self.device.physical().properties.limits.max_image_dimension2_d;
        anyhow::ensure!(
            extent.width.max(extent.height) <= limit,
            "{name} is {} x {} pixels, and {} allows {limit} at most",
            extent.width,
            extent.height,
            self.device.physical().name()
        );
        let needed = vk::FormatFeatureFlags::BLIT_SRC
            | vk::FormatFeatureFlags::BLIT_DST
            | vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR;
        let mip_levels = match mipmaps && self.device.format_features(format).contains(needed) {
            true => extent.width.max(extent.height).ilog2() + 1,
            false => 1,
        };
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(extent.into())
            .mip_levels(mip_levels)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(
                vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC,
            );
        let image = Image::new(&self.device, name, &info)?;
        // A device that is a CPU makes the levels faster without its driver; any other one blits them.
        if self.device.physical().is_cpu() {
            let smaller = smaller_levels(texels, extent, format == vk::Format::R8G8B8A8_SRGB, mip_levels);
            let staging = self.stage(&[texels, &smaller])?;
            self.record_texture(&image, staging, mip_levels);
        } else {
            let staging = self.stage(&[texels])?;
            self.record_texture(&image, staging, 1);
        }
        Ok(image)
    }

    /// A sampled image of the GPU as `info` describes it, in `SHADER_READ_ONLY_OPTIMAL`. `levels` are the texels of each mip
    /// level, in its format, layer after layer; the usages that this takes are added to those of `info`.
    ///
    /// # Errors
    ///
    /// Out of memory, or an image that the GPU cannot make.
    pub fn image(&mut self, name: &str, info: &vk::ImageCreateInfo<'_>, levels: &[&[u8]]) -> Result<Image> {
        let usage = info.usage | vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
        let image = Image::new(&self.device, name, &info.usage(usage))?;
        let staging = self.stage(levels)?;
        let mut offset = 0;
        let mut regions = Vec::with_capacity(levels.len());
        for (level, texels) in (0..).zip(levels) {
            let layers = vk::ImageSubresourceLayers::default()
                .aspect_mask(vk::ImageAspectFlags::COLOR)
                .mip_level(level)
                .layer_count(info.array_layers);
            let extent = vk::Extent3D {
                width: (info.extent.width >> level).max(1),
                height: (info.extent.height >> level).max(1),
                depth: 1,
            };
            regions.push(
                vk::BufferImageCopy::default().buffer_offset(offset).image_subresource(layers).image_extent(extent),
            );
            offset += texels.len() as u64;
        }
        let barrier = vk::ImageMemoryBarrier2::default()
            .image(image.handle())
            .subresource_range(image.subresource_range())
            .src_stage_mask(vk::PipelineStageFlags2::ALL_TRANSFER)
            .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS);
        let written = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        let before = [barrier.dst_access_mask(vk::AccessFlags2::TRANSFER_WRITE).new_layout(written)];
        let after = [barrier
            .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags2::SHADER_SAMPLED_READ)
            .old_layout(written)
            .new_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL)];
        // SAFETY: the command buffer is being recorded; staging buffer and image live until the batch is done, and the regions
        // are those of the levels that were staged.
        unsafe {
            let dependency = |barriers| vk::DependencyInfo::default().image_memory_barriers(barriers);
            self.device.cmd_pipeline_barrier2(self.commands, &dependency(&before));
            self.device.cmd_copy_buffer_to_image(self.commands, staging, image.handle(), written, &regions);
            self.device.cmd_pipeline_barrier2(self.commands, &dependency(&after));
        }
        Ok(image)
    }

    /// Submits what is left and waits for it.
    ///
    /// # Errors
    ///
    /// A lost device.
    pub fn finish(mut self) -> Result<()> {
        self.submit_and_wait()
    }

    /// Copies the levels that are in the staging buffer, which is the first one or all, and blits each further one from the
    /// one above it.
    fn record_texture(&self, image: &Image, staging: vk::Buffer, staged: u32) {
        let device = &self.device;
        let levels = image.mip_levels();
        let layers = |level| {
            vk::ImageSubresourceLayers::default()
                .aspect_mask(vk::ImageAspectFlags::COLOR)
                .mip_level(level)
                .layer_count(1)
        };
        let barrier = |level: u32,
                       count: u32,
                       from: (vk::ImageLayout, vk::AccessFlags2),
                       to: (vk::ImageLayout, vk::AccessFlags2)| {
            vk::ImageMemoryBarrier2::default()
                .src_stage_mask(vk::PipelineStageFlags2::ALL_TRANSFER)
                .src_access_mask(from.1)
                .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                .dst_access_mask(to.1)
                .old_layout(from.0)
                .new_layout(to.0)
                .image(image.handle())
                .subresource_range(subresource_range(image.format(), count).base_mip_level(level))
        };
        let undefined = (vk::ImageLayout::UNDEFINED, vk::AccessFlags2::NONE);
        let written = (vk::ImageLayout::TRANSFER_DST_OPTIMAL, vk::AccessFlags2::TRANSFER_WRITE);
        let read = (vk::ImageLayout::TRANSFER_SRC_OPTIMAL, vk::AccessFlags2::TRANSFER_READ);
        let sampled = (vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL, vk::AccessFlags2::SHADER_SAMPLED_READ);
        let extent_of = |level: u32| vk::Extent3D {
            width: (image.extent().width >> level).max(1),
            height: (image.extent().height >> level).max(1),
            depth: 1,
        };
        let corner_of = |level: u32| {
            let extent = extent_of(level);
            vk::Offset3D { x: extent.width as i32, y: extent.height as i32, z: 1 }
        };
        let mut offset = 0;
        let regions = (0..staged).map(|level| {
            let extent = extent_of(level);
            let region = vk::BufferImageCopy::default()
                .buffer_offset(offset)
                .image_subresource(layers(level))
                .image_extent(extent);
            offset += u64::from(extent.width) * u64::from(extent.height) * 4;
            region
        });
        let regions: Vec<_> = regions.collect();
        // SAFETY: the command buffer is being recorded; staging buffer and image live until the batch is done, and every
        // level is in the layout that its command names.
        unsafe {
            let pipeline_barrier = |barriers: &[vk::ImageMemoryBarrier2<'_>]| {
                let info = vk::DependencyInfo::default().image_memory_barriers(barriers);
                device.cmd_pipeline_barrier2(self.commands, &info);
            };
            pipeline_barrier(&[barrier(0, levels, undefined, written)]);
            device.cmd_copy_buffer_to_image(self.commands, staging, image.handle(), written.0, &regions);
            for level in staged..levels {
                pipeline_barrier(&[barrier(level - 1, 1, written, read)]);
                let blit = vk::ImageBlit::default()
                    .src_subresource(layers(level - 1))
                    .src_offsets([vk::Offset3D::default(), corner_of(level - 1)])
                    .dst_subresource(layers(level))
                    .dst_offsets([vk::Offset3D::default(), corner_of(level)]);
                device.cmd_blit_image(
                    self.commands,
                    image.handle(),
                    read.0,
                    image.handle(),
                    written.0,
                    &[blit],
                    vk::Filter::LINEAR,
                );
            }
            match levels == staged {
                true => pipeline_barrier(&[barrier(0, levels, written, sampled)]),
                false => {
                    pipeline_barrier(&[barrier(0, levels - 1, read, sampled), barrier(levels - 1, 1, written, sampled)])
                }
            }
        }
    }

    /// A staging buffer with these bytes, one part after the other, kept until the batch is done.
    fn stage(&mut self, parts: &[&[u8]]) -> Result<vk::Buffer> {
        let size = parts.iter().map(|part| part.len() as u64).sum();
        if self.staged > 0 && self.staged + size > BATCH_BYTES {
            self.submit_and_wait()?;
            self.begin()?;
        }
        let mut staging = Buffer::mapped(&self.device, "staging", size, vk::BufferUsageFlags::TRANSFER_SRC)?;
        let mut offset = 0;
        for part in parts {
            staging.write(offset, part);
            offset += part.len();
        }
        let handle = staging.handle();
        self.staging.push(staging);
        self.staged += size;
        Ok(handle)
    }

    fn begin(&self) -> Result<()> {
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the command buffer is not in use: it is new, or `submit_and_wait` has waited for it.
        unsafe { self.device.begin_command_buffer(self.commands, &info) }.context("vkBeginCommandBuffer failed")
    }

    fn submit_and_wait(&mut self) -> Result<()> {
        let device = &self.device;
        // What was copied to buffers becomes visible to whatever comes later on the queue.
        let barrier = vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::ALL_TRANSFER)
            .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE);
        let barriers = [barrier];
        let dependency = vk::DependencyInfo::default().memory_barriers(&barriers);
        let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(self.commands)];
        let submit = vk::SubmitInfo2::default().command_buffer_infos(&commands);
        // SAFETY: the command buffer is in recording state; all that it uses is alive; the fence is unsignalled before
        // and after, and the wait ends every use.
        unsafe {
            device.cmd_pipeline_barrier2(self.commands, &dependency);
            device.end_command_buffer(self.commands).context("vkEndCommandBuffer failed")?;
            device.queue_submit2(device.queue(), &[submit], *self.fence).context("vkQueueSubmit2 failed")?;
            device.wait_for_fences(&[*self.fence], true, u64::MAX).context("vkWaitForFences failed")?;
            device.reset_fences(&[*self.fence]).context("vkResetFences failed")?;
        }
        self.staging.clear();
        self.staged = 0;
        Ok(())
    }
}
