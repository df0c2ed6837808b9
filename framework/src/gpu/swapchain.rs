//! The images of a window.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use ash::{khr, vk};

use super::image::{image_view, subresource_range};
use super::{Device, Owned, Surface};

/// How finished images reach the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum PresentMode {
    /// One after the other, in step with the screen. Every driver has it.
    #[default]
    Fifo,
    /// In step with the screen, the newest one.
    Mailbox,
    /// At once, which may tear.
    Immediate,
}

impl From<PresentMode> for vk::PresentModeKHR {
    fn from(mode: PresentMode) -> Self {
        match mode {
            PresentMode::Fifo => Self::FIFO,
            PresentMode::Mailbox => Self::MAILBOX,
            PresentMode::Immediate => Self::IMMEDIATE,
        }
    }
}

/// A swapchain with the views of its images and, for each image, the semaphore that its presentation waits for.
///
/// That semaphore belongs to the image, not to the frame in flight: only the image's next acquisition shows that its
/// last presentation has taken the semaphore.
pub struct Swapchain {
    handle: vk::SwapchainKHR,
    loader: khr::swapchain::Device,
    images: Vec<vk::Image>,
    views: Vec<Owned<vk::ImageView>>,
    present_semaphores: Vec<Owned<vk::Semaphore>>,
    format: vk::Format,
    extent: vk::Extent2D,
    can_be_copied: bool,
    device: Arc<Device>,
    // Held until the swapchain is destroyed.
    _surface: Arc<Surface>,
}

impl Swapchain {
    /// Makes a swapchain for a window of `size` pixels; `None` while the window has no area.
    ///
    /// There must be no other swapchain of the surface.
    ///
    /// # Errors
    ///
    /// The driver's, or a surface without an sRGB format.
    pub fn new(
        device: &Arc<Device>,
        surface: &Arc<Surface>,
        size: vk::Extent2D,
        mode: PresentMode,
    ) -> Result<Option<Self>> {
        let physical = device.physical().handle;
        // SAFETY: physical device and surface are alive and of one instance.
        let (capabilities, formats, modes) = unsafe {
            let loader = surface.loader();
            (
                loader
                    .get_physical_device_surface_capabilities(physical, surface.handle())
                    .context("vkGetPhysicalDeviceSurfaceCapabilitiesKHR failed")?,
                loader
                    .get_physical_device_surface_formats(physical, surface.handle())
                    .context("vkGetPhysicalDeviceSurfaceFormatsKHR failed")?,
                loader
                    .get_physical_device_surface_present_modes(physical, surface.handle())
                    .context("vkGetPhysicalDeviceSurfacePresentModesKHR failed")?,
            )
        };
        let Some(extent) = extent(&capabilities, size) else { return Ok(None) };
        let format = srgb_format(&formats)?;
        let mode = Some(mode.into()).filter(|mode| modes.contains(mode)).unwrap_or(vk::PresentModeKHR::FIFO);
        let copied = capabilities.supported_usage_flags & vk::ImageUsageFlags::TRANSFER_SRC;
        let most = if capabilities.max_image_count == 0 { u32::MAX } else { capabilities.max_image_count };
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface.handle())
            .min_image_count((capabilities.min_image_count + 1).min(most))
            .image_format(format.format)
            .image_color_space(format.color_space)
            .image_extent(extent)
            .image_array_layers(1)
            // Copying from the images is for screenshots; a surface need not support it.
            .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | copied)
            .pre_transform(capabilities.current_transform)
            .composite_alpha(composite_alpha(capabilities.supported_composite_alpha))
            .present_mode(mode)
            .clipped(true);
        let loader = khr::swapchain::Device::new(device.instance(), device);
        // SAFETY: every value was taken from what the surface supports.
        let (handle, images) = unsafe {
            let handle = loader.create_swapchain(&info, None).context("vkCreateSwapchainKHR failed")?;
            (handle, loader.get_swapchain_images(handle))
        };
        let mut swapchain = Self {
            handle,
            loader,
            images: images.context("vkGetSwapchainImagesKHR failed")?,
            views: Vec::new(),
            present_semaphores: Vec::new(),
            format: format.format,
            extent,
            can_be_copied: !copied.is_empty(),
            device: device.clone(),
            _surface: surface.clone(),
        };
        for &image in &swapchain.images {
            let range = subresource_range(format.format, 1);
            let view_type = vk::ImageViewType::TYPE_2D;
            swapchain.views.push(image_view(device, "swapchain image", image, format.format, view_type, range)?);
            // SAFETY: no precondition.
            let semaphore =
                unsafe { device.create_semaphore(&Default::default(), None) }.context("vkCreateSemaphore failed")?;
            swapchain.present_semaphores.push(device.own(semaphore, "ready to present"));
        }
        Ok(Some(swapchain))
    }

    /// Asks for the next image; `available` is signalled when it may be drawn to. Returns its index, and whether the
    /// swapchain no longer fits the window; with `Err(ERROR_OUT_OF_DATE_KHR)` or `Err(ERROR_SURFACE_LOST_KHR)` nothing was
    /// acquired.
    ///
    /// # Errors
    ///
    /// See above, or a lost device.
    pub fn acquire(&self, available: vk::Semaphore) -> Result<(u32, bool), vk::Result> {
        // SAFETY: the semaphore is unsignalled and nothing waits for it: its last use was in a frame that has ended.
        unsafe { self.loader.acquire_next_image(self.handle, u64::MAX, available, vk::Fence::null()) }
    }

    /// Hands an acquired image to the screen once its [`Swapchain::present_semaphore`] is signalled. Returns whether the
    /// swapchain no longer fits the window.
    ///
    /// # Errors
    ///
    /// `ERROR_OUT_OF_DATE_KHR`, `ERROR_SURFACE_LOST_KHR`, or a lost device.
    pub fn present(&self, index: u32) -> Result<bool, vk::Result> {
        let (semaphores, handles, indices) = ([self.present_semaphore(index)], [self.handle], [index]);
        let info =
            vk::PresentInfoKHR::default().wait_semaphores(&semaphores).swapchains(&handles).image_indices(&indices);
        // SAFETY: the image was acquired, and work that signals the semaphore has been submitted.
        unsafe { self.loader.queue_present(self.device.queue(), &info) }
    }

    /// The semaphore that the work on an image signals when it may be presented.
    pub fn present_semaphore(&self, index: u32) -> vk::Semaphore {
        *self.present_semaphores[index as usize]
    }

    /// An image and its view.
    pub fn image(&self, index: u32) -> (vk::Image, vk::ImageView) {
        (self.images[index as usize], *self.views[index as usize])
    }

    /// A view of each image.
    pub fn views(&self) -> impl Iterator<Item = vk::ImageView> + '_ {
        self.views.iter().map(|view| **view)
    }

    /// The format, an sRGB one.
    pub fn format(&self) -> vk::Format {
        self.format
    }

    /// Whether its images can be copied from, for screenshots.
    pub fn can_be_copied(&self) -> bool {
        self.can_be_copied
    }

    /// The size in pixels.
    pub fn extent(&self) -> vk::Extent2D {
        self.extent
    }
}

impl Drop for Swapchain {
    fn drop(&mut self) {
        self.views.clear();
        // SAFETY: made in `new`; the device is idle when a swapchain is dropped, presentation included, and the surface is
        // there until afterwards.
        unsafe { self.loader.destroy_swapchain(self.handle, None) };
    }
}

/// The extent to use: the surface's where it says one, else the window's within the surface's bounds. `None` where
/// there is no area.
fn extent(capabilities: &vk::SurfaceCapabilitiesKHR, window: vk::Extent2D) -> Option<vk::Extent2D> {
    let extent = match capabilities.current_extent {
        // The surface takes the size of its swapchain.
        vk::Extent2D { width: u32::MAX, height: u32::MAX } => vk::Extent2D {
            width: window.width.min(capabilities.max_image_extent.width),
            height: window.height.min(capabilities.max_image_extent.height),
        },
        fixed => fixed,
    };
    (extent.width > 0 && extent.height > 0).then_some(extent)
}

/// The surface's first sRGB format.
fn srgb_format(formats: &[vk::SurfaceFormatKHR]) -> Result<vk::SurfaceFormatKHR> {
    let usable = [vk::Format::B8G8R8A8_SRGB, vk::Format::R8G8B8A8_SRGB];
    let found = formats
        .iter()
        .find(|format| usable.contains(&format.format) && format.color_space == vk::ColorSpaceKHR::SRGB_NONLINEAR);
    match found {
        Some(&format) => Ok(format),
        None => bail!("the window offers no sRGB format (BGRA or RGBA of 8 bits); run with --headless"),
    }
}

/// Opaque where the surface can, else whatever it can.
fn composite_alpha(supported: vk::CompositeAlphaFlagsKHR) -> vk::CompositeAlphaFlagsKHR {
    [
        vk::CompositeAlphaFlagsKHR::OPAQUE,
        vk::CompositeAlphaFlagsKHR::INHERIT,
        vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED,
    ]
    .into_iter()
    .find(|&alpha| supported.contains(alpha))
    .unwrap_or(vk::CompositeAlphaFlagsKHR::POST_MULTIPLIED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(width: u32, height: u32) -> vk::Extent2D {
        vk::Extent2D { width, height }
    }

    #[test]
    fn the_surface_decides_where_it_has_an_extent() {
        let fixed = vk::SurfaceCapabilitiesKHR { current_extent: size(300, 200), ..Default::default() };
        assert_eq!(extent(&fixed, size(640, 480)), Some(size(300, 200)));
        let minimised = vk::SurfaceCapabilitiesKHR { current_extent: size(0, 0), ..Default::default() };
        assert_eq!(extent(&minimised, size(640, 480)), None);
    }

    #[test]
    fn else_the_window_decides_within_bounds() {
        let open = vk::SurfaceCapabilitiesKHR {
            current_extent: size(u32::MAX, u32::MAX),
            max_image_extent: size(4096, 4096),
            ..Default::default()
        };
        assert_eq!(extent(&open, size(640, 480)), Some(size(640, 480)));
        assert_eq!(extent(&open, size(5000, 480)), Some(size(4096, 480)));
        assert_eq!(extent(&open, size(640, 0)), None, "no image of no area");
        assert_eq!(extent(&open, size(0, 480)), None, "no image of no area");
    }

    #[test]
    fn the_first_srgb_format_is_taken() {
        let format = |format| vk::SurfaceFormatKHR { format, color_space: vk::ColorSpaceKHR::SRGB_NONLINEAR };
        let (unorm, srgb) = (format(vk::Format::B8G8R8A8_UNORM), format(vk::Format::R8G8B8A8_SRGB));
        assert_eq!(srgb_format(&[unorm, srgb]).expect("there is one").format, vk::Format::R8G8B8A8_SRGB);
        assert!(srgb_format(&[unorm]).expect_err("there is none").to_string().contains("sRGB"));
    }
}
