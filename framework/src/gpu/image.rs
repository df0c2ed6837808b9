//! Images with their memory and a view of the whole.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};

use super::{Device, Owned};

/// An image, the memory it lies in, and a view of all its mip levels and layers.
pub struct Image {
    view: Option<Owned<vk::ImageView>>,
    handle: vk::Image,
    extent: vk::Extent3D,
    format: vk::Format,
    mip_levels: u32,
    array_layers: u32,
    allocation: Option<Allocation>,
    device: Arc<Device>,
}

impl Image {
    /// Makes the image that `info` describes, in memory of the GPU, and a view of it with all of its aspects: that of a cube
    /// where `info` has six layers and says `CUBE_COMPATIBLE`, else of two dimensions.
    ///
    /// # Errors
    ///
    /// Out of memory, or an image that the GPU cannot make.
    pub fn new(device: &Arc<Device>, name: &str, info: &vk::ImageCreateInfo<'_>) -> Result<Self> {
        // SAFETY: the caller's create-info is checked by validation; all its pointers live as long as it.
        let (handle, requirements) = unsafe {
            let handle = device.create_image(info, None).with_context(|| format!("vkCreateImage failed for {name}"))?;
            (handle, device.get_image_memory_requirements(handle))
        };
        let mut image = Self {
            view: None,
            handle,
            extent: info.extent,
            format: info.format,
            mip_levels: info.mip_levels,
            array_layers: info.array_layers,
            allocation: None,
            device: device.clone(),
        };
        let allocation = device
            .allocator()
            .allocate(&AllocationCreateDesc {
                name,
                requirements,
                location: MemoryLocation::GpuOnly,
                linear: false,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            })
            .with_context(|| format!("no memory for {name} ({} bytes)", requirements.size))?;
        // SAFETY: the memory was allocated for this image's requirements and is bound once.
        unsafe { device.bind_image_memory(handle, allocation.memory(), allocation.offset()) }
            .context("vkBindImageMemory failed")?;
        image.allocation = Some(allocation);
        device.count_object();
        device.name(handle, name);
        let cube = info.flags.contains(vk::ImageCreateFlags::CUBE_COMPATIBLE) && info.array_layers == 6;
        let view_type = if cube { vk::ImageViewType::CUBE } else { vk::ImageViewType::TYPE_2D };
        let range = image.subresource_range();
        image.view = Some(image_view(device, name, handle, info.format, view_type, range)?);
        Ok(image)
    }

    /// An attachment: two-dimensional, one mip level, optimal tiling.
    ///
    /// # Errors
    ///
    /// As [`Image::new`].
    pub fn attachment(
        device: &Arc<Device>,
        name: &str,
        format: vk::Format,
        extent: vk::Extent2D,
        samples: vk::SampleCountFlags,
        usage: vk::ImageUsageFlags,
    ) -> Result<Self> {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(extent.into())
            .mip_levels(1)
            .array_layers(1)
            .samples(samples)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage);
        Self::new(device, name, &info)
    }

    /// The handle.
    pub fn handle(&self) -> vk::Image {
        self.handle
    }

    /// A view of all mip levels.
    pub fn view(&self) -> vk::ImageView {
        **self.view.as_ref().expect("`new` has set it")
    }

    /// The size of the largest level.
    pub fn extent(&self) -> vk::Extent3D {
        self.extent
    }

    /// The format.
    pub fn format(&self) -> vk::Format {
        self.format
    }

    /// The number of mip levels.
    pub fn mip_levels(&self) -> u32 {
        self.mip_levels
    }

    /// All aspects, levels and layers.
    pub fn subresource_range(&self) -> vk::ImageSubresourceRange {
        subresource_range(self.format, self.mip_levels).layer_count(self.array_layers)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        self.view = None;
        // SAFETY: created by this device in `new`; its view is gone, and it is not in use (see the module's documentation).
        unsafe { self.device.destroy_image(self.handle, None) };
        if let Some(allocation) = self.allocation.take()
            && let Err(error) = self.device.allocator().free(allocation)
        {
            eprintln!("memory could not be freed: {error}");
        }
    }
}

/// A view of an image.
pub(super) fn image_view(
    device: &Arc<Device>,
    name: &str,
    image: vk::Image,
    format: vk::Format,
    view_type: vk::ImageViewType,
    range: vk::ImageSubresourceRange,
) -> Result<Owned<vk::ImageView>> {
    let info =
        vk::ImageViewCreateInfo::default().image(image).view_type(view_type).format(format).subresource_range(range);
    // SAFETY: the image is alive and has this format and these levels.
    let view = unsafe { device.create_image_view(&info, None) }
        .with_context(|| format!("vkCreateImageView failed for {name}"))?;
    Ok(device.own(view, name))
}

/// All levels of one layer.
pub(super) fn subresource_range(format: vk::Format, mip_levels: u32) -> vk::ImageSubresourceRange {
    let aspects = match format {
        vk::Format::D32_SFLOAT | vk::Format::X8_D24_UNORM_PACK32 | vk::Format::D16_UNORM => vk::ImageAspectFlags::DEPTH,
        _ => vk::ImageAspectFlags::COLOR,
    };
    vk::ImageSubresourceRange::default().aspect_mask(aspects).level_count(mip_levels).layer_count(1)
}
