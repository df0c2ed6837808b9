//! A frame from its beginning to the screen or the picture: what window and headless have in common.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use ash::vk;
use image::RgbaImage;
use winit::window::Window;

use super::sample::Sample;
use crate::camera::CameraMatrices;
use crate::frame::{Frame, Target};
use crate::gpu::{Device, FRAMES_IN_FLIGHT, Frames, Image, PresentMode, Readback, Surface, Swapchain};

/// Draws frames of a sample.
pub(super) struct Renderer {
    output: Output,
    multisampled: Option<Image>,
    samples: vk::SampleCountFlags,
    frames: Frames,
    device: Arc<Device>,
}

/// Where frames go.
enum Output {
    /// Images of our own, one a frame in flight.
    Images(Vec<Image>),
    Window(WindowOutput),
}

struct WindowOutput {
    // `None` while the window has no area. Fields are dropped in this order: a swapchain before its surface, a surface
    // before its window.
    swapchain: Option<Swapchain>,
    surface: Arc<Surface>,
    window: Arc<Window>,
    mode: PresentMode,
    /// The swapchain no longer fits, by the word of the window or of Vulkan.
    stale: bool,
}

/// What a frame is drawn with.
#[derive(Clone, Copy)]
pub(super) struct View {
    pub camera: CameraMatrices,
    pub wireframe: bool,
}

/// The format of pictures that are not for a window.
const PICTURE_FORMAT: vk::Format = vk::Format::R8G8B8A8_SRGB;

impl Renderer {
    /// Draws to images.
    pub(super) fn headless(device: &Arc<Device>, extent: vk::Extent2D, samples: u32) -> Result<Self> {
        let limit = device.physical().properties.limits.max_image_dimension2_d;
        anyhow::ensure!(
            extent.width.max(extent.height) <= limit,
            "{} draws pictures of up to {limit} pixels each way, not {} x {}",
            device.physical().name(),
            extent.width,
            extent.height
        );
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let images = (0..FRAMES_IN_FLIGHT)
            .map(|_| Image::attachment(device, "picture", PICTURE_FORMAT, extent, vk::SampleCountFlags::TYPE_1, usage))
            .collect::<Result<_>>()?;
        Self::new(device, Output::Images(images), samples)
    }

    /// Draws to a window.
    pub(super) fn window(
        device: &Arc<Device>,
        surface: Surface,
        window: &Arc<Window>,
        mode: PresentMode,
        samples: u32,
    ) -> Result<Self> {
        let surface = Arc::new(surface);
        let swapchain = Swapchain::new(device, &surface, window_extent(window), mode)?;
        let output = WindowOutput { swapchain, surface, window: window.clone(), mode, stale: false };
        Self::new(device, Output::Window(output), samples)
    }

    fn new(device: &Arc<Device>, output: Output, samples: u32) -> Result<Self> {
        let mut renderer = Self {
            output,
            multisampled: None,
            samples: vk::SampleCountFlags::from_raw(samples),
            frames: Frames::new(device)?,
            device: device.clone(),
        };
        renderer.make_multisampled()?;
        Ok(renderer)
    }

    /// What the sample draws to; `None` while a window has no area.
    pub(super) fn target(&self) -> Option<Target> {
        let (extent, format, views) = match &self.output {
            Output::Images(images) => {
                let extent = images[0].extent();
                let extent = vk::Extent2D { width: extent.width, height: extent.height };
                (extent, PICTURE_FORMAT, images.iter().map(Image::view).collect())
            }
            Output::Window(window) => {
                let swapchain = window.swapchain.as_ref()?;
                (swapchain.extent(), swapchain.format(), swapchain.views().collect())
            }
        };
        let multisampled = self.multisampled.as_ref().map(Image::view);
        Some(Target { extent, format, views, samples: self.samples, multisampled })
    }

    /// The window has changed, so its swapchain may not fit it any more.
    pub(super) fn window_changed(&mut self) {
        if let Output::Window(window) = &mut self.output {
            window.stale = true;
        }
    }

    /// Draws a frame, if there is an area to draw to: `false` if not. With `picture`, waits for it and returns it there.
    pub(super) fn draw(
        &mut self,
        sample: &mut impl Sample,
        view: impl Fn(f32) -> View,
        picture: Option<&mut Option<RgbaImage>>,
    ) -> Result<bool> {
        self.frames.wait()?;
        let Some(image_index) = self.acquire(sample)? else { return Ok(false) };
        let commands = self.frames.begin()?;
        let (image, extent, format) = self.image(image_index);
        let View { camera, wireframe } = view(extent.width as f32 / extent.height as f32);
        sample.record(&Frame {
            device: &self.device,
            commands,
            index: self.frames.index(),
            image: image_index as usize,
            extent,
            camera,
            wireframe,
        })?;

        let readback = match picture {
            Some(_) => Some(Readback::new(&self.device, format, extent)?),
            None => None,
        };
        self.record_end(commands, image, readback.as_ref());
        let present_semaphore = match &self.output {
            Output::Window(WindowOutput { swapchain: Some(swapchain), .. }) => {
                Some(swapchain.present_semaphore(image_index))
            }
            _ => None,
        };
        self.frames.submit(present_semaphore)?;
        if let (Some(picture), Some(readback)) = (picture, readback) {
            self.device.wait_idle()?;
            *picture = Some(readback.picture());
        }
        self.present(image_index)?;
        Ok(true)
    }

    /// Makes a swapchain if the window has an area by now and none yet. For the time before there is a sample.
    pub(super) fn make_target(&mut self) -> Result<()> {
        if let Output::Window(window) = &mut self.output {
            window.make_swapchain(&self.device)?;
        }
        self.make_multisampled()
    }

    /// The index of the image to draw to, after the swapchain was made anew if it had to be.
    fn acquire(&mut self, sample: &mut impl Sample) -> Result<Option<u32>> {
        if let Output::Window(window) = &self.output
            && (window.stale || window.swapchain.is_none())
        {
            self.recreate_swapchain(sample)?;
        }
        let Output::Window(window) = &mut self.output else { return Ok(Some(self.frames.index() as u32)) };
        let Some(swapchain) = &window.swapchain else { return Ok(None) };
        match swapchain.acquire(self.frames.available()) {
            Ok((index, suboptimal)) => {
                window.stale = suboptimal;
                Ok(Some(index))
            }
            Err(error) => {
                window.note(error, "vkAcquireNextImageKHR failed")?;
                Ok(None)
            }
        }
    }

    fn present(&mut self, image_index: u32) -> Result<()> {
        let Output::Window(WindowOutput { swapchain: Some(swapchain), .. }) = &self.output else { return Ok(()) };
        let presented = swapchain.present(image_index);
        let Output::Window(window) = &mut self.output else { return Ok(()) };
        match presented {
            Ok(suboptimal) => window.stale |= suboptimal,
            Err(error) => window.note(error, "vkQueuePresentKHR failed")?,
        }
        Ok(())
    }

    /// Replaces swapchain and multisampled image, and tells the sample.
    fn recreate_swapchain(&mut self, sample: &mut impl Sample) -> Result<()> {
        // Presentation has no fence: only an idle device is certainly done with the old images.
        self.device.wait_idle()?;
        self.make_target()?;
        match self.target() {
            Some(target) => sample.resize(&self.device, &target),
            None => Ok(()),
        }
    }

    fn make_multisampled(&mut self) -> Result<()> {
        self.multisampled = None;
        if self.samples == vk::SampleCountFlags::TYPE_1 {
            return Ok(());
        }
        let Some(Target { extent, format, .. }) = self.target() else { return Ok(()) };
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSIENT_ATTACHMENT;
        let image = Image::attachment(&self.device, "multisampled target", format, extent, self.samples, usage)?;
        self.multisampled = Some(image);
        Ok(())
    }

    fn image(&self, index: u32) -> (vk::Image, vk::Extent2D, vk::Format) {
        match &self.output {
            Output::Images(images) => {
                let image = &images[index as usize];
                let extent = vk::Extent2D { width: image.extent().width, height: image.extent().height };
                (image.handle(), extent, PICTURE_FORMAT)
            }
            Output::Window(window) => {
                let swapchain = window.swapchain.as_ref().expect("an image was acquired from it");
                (swapchain.images()[index as usize], swapchain.extent(), swapchain.format())
            }
        }
    }

    /// Records the way of the image from the sample's last pass to the screen and the picture.
    fn record_end(&self, commands: vk::CommandBuffer, image: vk::Image, readback: Option<&Readback>) {
        let drawn = (
            vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
            vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT,
            vk::AccessFlags2::COLOR_ATTACHMENT_WRITE,
        );
        let copied = (
            vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
            vk::PipelineStageFlags2::ALL_TRANSFER,
            vk::AccessFlags2::TRANSFER_READ,
        );
        // Presentation waits for a semaphore that is signalled at ALL_COMMANDS: the same stage here puts the change of
        // layout before it. The semaphore makes the image visible, so no access needs to be named.
        let presented =
            (vk::ImageLayout::PRESENT_SRC_KHR, vk::PipelineStageFlags2::ALL_COMMANDS, vk::AccessFlags2::NONE);
        let windowed = matches!(self.output, Output::Window(_));
        match readback {
            Some(readback) => {
                self.move_image(commands, image, drawn, copied);
                readback.record(&self.device, commands, image);
                if windowed {
                    self.move_image(commands, image, copied, presented);
                }
            }
            None if windowed => self.move_image(commands, image, drawn, presented),
            None => {}
        }
    }

    fn move_image(&self, commands: vk::CommandBuffer, image: vk::Image, from: Place, to: Place) {
        let range =
            vk::ImageSubresourceRange::default().aspect_mask(vk::ImageAspectFlags::COLOR).level_count(1).layer_count(1);
        let barrier = [vk::ImageMemoryBarrier2::default()
            .old_layout(from.0)
            .src_stage_mask(from.1)
            .src_access_mask(from.2)
            .new_layout(to.0)
            .dst_stage_mask(to.1)
            .dst_access_mask(to.2)
            .image(image)
            .subresource_range(range)];
        let dependency = vk::DependencyInfo::default().image_memory_barriers(&barrier);
        // SAFETY: the command buffer is in recording state, and the image is in the layout that it comes from.
        unsafe { self.device.cmd_pipeline_barrier2(commands, &dependency) }
    }
}

impl Drop for Renderer {
    fn drop(&mut self) {
        // The sample is dropped before its renderer, after the application has waited; this is for the swapchain's sake.
        // A lost device cannot be waited for, and has nothing to wait for.
        let _ = self.device.wait_idle();
    }
}

type Place = (vk::ImageLayout, vk::PipelineStageFlags2, vk::AccessFlags2);

impl WindowOutput {
    /// Makes swapchain, and surface where it was lost, anew. The device is idle.
    fn make_swapchain(&mut self, device: &Arc<Device>) -> Result<()> {
        self.stale = false;
        self.swapchain = None;
        let size = window_extent(&self.window);
        self.swapchain = match Swapchain::new(device, &self.surface, size, self.mode) {
            Err(error) if error.downcast_ref() == Some(&vk::Result::ERROR_SURFACE_LOST_KHR) => {
                // SAFETY: the window is held by the same struct, whose fields are dropped surface first.
                self.surface = Arc::new(unsafe { Surface::new(device.instance(), &self.window)? });
                Swapchain::new(device, &self.surface, size, self.mode)?
            }
            made => made?,
        };
        Ok(())
    }

    /// Remembers that the swapchain does not fit; every other error is one.
    fn note(&mut self, error: vk::Result, call: &'static str) -> Result<()> {
        self.stale = true;
        match error {
            vk::Result::ERROR_OUT_OF_DATE_KHR | vk::Result::ERROR_SURFACE_LOST_KHR => Ok(()),
            error => Err(error).context(call),
        }
    }
}

fn window_extent(window: &Window) -> vk::Extent2D {
    let size = window.inner_size();
    vk::Extent2D { width: size.width, height: size.height }
}
