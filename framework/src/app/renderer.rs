//! A frame from its beginning to the screen or the picture: what window and headless have in common.

use std::ffi::CStr;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result};
use ash::vk;
use image::RgbaImage;
use winit::window::Window;

use super::overlay::Overlay;
use super::sample::Sample;
use super::viewpoint::Viewpoint;
use crate::frame::{Frame, Target};
use crate::gpu::{
    Device, FRAMES_IN_FLIGHT, Frames, Image, Pass, PresentMode, Readback, Surface, Swapchain, Timestamps,
};

/// Draws frames of a sample.
pub(super) struct Renderer {
    output: Output,
    multisampled: Option<Image>,
    samples: vk::SampleCountFlags,
    /// Whether the sample draws to a multisampled image of the framework's.
    resolves: bool,
    frames: Frames,
    timestamps: Option<Timestamps>,
    /// Whether passes are timed: only while somebody looks.
    timed: bool,
    times: Times,
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
pub(super) struct Input<'a, S: Sample> {
    /// The sample and its parameters; `None` while there is none yet.
    pub sample: Option<(&'a mut S, &'a S::Parameters)>,
    pub viewpoint: Option<&'a Viewpoint>,
    pub wireframe: bool,
    /// Laid out by [`Overlay::run`].
    pub overlay: Option<&'a mut Overlay>,
    /// Whether the frame is to be waited for and returned as a picture.
    pub picture: bool,
}

/// What became of a frame.
pub(super) enum Drawn {
    /// There was no area to draw to.
    Nothing,
    Frame(Option<RgbaImage>),
}

/// How long frames take.
#[derive(Default)]
pub(super) struct Times {
    /// Milliseconds of the CPU for recording and submitting the last frame.
    pub cpu_ms: f32,
    /// Milliseconds of the GPU for each pass of a frame [`FRAMES_IN_FLIGHT`] before, if it was timed; the first is the whole
    /// frame.
    pub passes: Vec<(&'static CStr, f32)>,
}

/// The format of pictures that are not for a window.
const PICTURE_FORMAT: vk::Format = vk::Format::R8G8B8A8_SRGB;

impl Renderer {
    /// Draws to images.
    pub(super) fn headless<S: Sample>(device: &Arc<Device>, extent: vk::Extent2D, samples: u32) -> Result<Self> {
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
        Self::new::<S>(device, Output::Images(images), samples)
    }

    /// Draws to a window.
    pub(super) fn window<S: Sample>(
        device: &Arc<Device>,
        surface: Surface,
        window: &Arc<Window>,
        mode: PresentMode,
        samples: u32,
    ) -> Result<Self> {
        let (surface, window) = (Arc::new(surface), window.clone());
        let mut output = WindowOutput { swapchain: None, surface, window, mode, stale: false };
        output.make_swapchain(device)?;
        Self::new::<S>(device, Output::Window(output), samples)
    }

    fn new<S: Sample>(device: &Arc<Device>, output: Output, samples: u32) -> Result<Self> {
        let mut renderer = Self {
            output,
            multisampled: None,
            samples: vk::SampleCountFlags::from_raw(samples),
            resolves: S::RESOLVES,
            frames: Frames::new(device)?,
            timestamps: None,
            timed: false,
            times: Times::default(),
            device: device.clone(),
        };
        renderer.make_multisampled()?;
        Ok(renderer)
    }

    /// What the sample draws to; `None` while a window has no area.
    pub(super) fn target(&self) -> Option<Target> {
        let extent = self.extent()?;
        let (format, views) = match &self.output {
            Output::Images(images) => (PICTURE_FORMAT, images.iter().map(Image::view).collect()),
            Output::Window(window) => {
                let swapchain = window.swapchain.as_ref()?;
                (swapchain.format(), swapchain.views().collect())
            }
        };
        let multisampled = self.multisampled.as_ref().map(Image::view);
        Some(Target { extent, format, views, samples: self.samples, multisampled })
    }

    /// The size of what the sample draws to; `None` while a window has no area. Asking the window itself would wait until the
    /// display has shown the frame before.
    pub(super) fn extent(&self) -> Option<vk::Extent2D> {
        match &self.output {
            Output::Images(images) => {
                let extent = images[0].extent();
                Some(vk::Extent2D { width: extent.width, height: extent.height })
            }
            Output::Window(window) => window.swapchain.as_ref().map(Swapchain::extent),
        }
    }

    /// The window has this size in pixels, by its own word. Its first size is told as well, after the swapchain was made.
    pub(super) fn window_resized(&mut self, (width, height): (u32, u32)) {
        if let Output::Window(window) = &mut self.output {
            let fits = |swapchain: &Swapchain| swapchain.extent() == vk::Extent2D { width, height };
            window.stale |= !window.swapchain.as_ref().is_some_and(fits);
        }
    }

    /// Whether passes are timed from now on, where the GPU can. It takes time: a timestamp waits for what is before it.
    pub(super) fn time_passes(&mut self, timed: bool) -> Result<()> {
        if timed && self.timestamps.is_none() {
            self.timestamps = Timestamps::new(&self.device)?;
        }
        self.timed = timed;
        Ok(())
    }

    /// How long frames take, and passes while [`Renderer::time_passes`] wants them.
    pub(super) fn times(&self) -> &Times {
        &self.times
    }

    /// Draws a frame, if there is an area to draw to.
    pub(super) fn draw<S: Sample>(&mut self, mut input: Input<'_, S>) -> Result<Drawn> {
        self.frames.wait()?;
        let sample = input.sample.as_mut().map(|(sample, _)| &mut **sample);
        let Some(image_index) = self.acquire(sample)? else { return Ok(Drawn::Nothing) };
        let begun = Instant::now();
        let (image, view, extent, format) = self.image(image_index);
        if let Output::Window(WindowOutput { swapchain: Some(swapchain), .. }) = &self.output {
            anyhow::ensure!(
                !input.picture || swapchain.can_be_copied(),
                "no picture can be taken of this window: its images cannot be copied; use --headless"
            );
        }
        let readback = match input.picture {
            true => Some(Readback::new(&self.device, format, extent)?),
            false => None,
        };
        let commands = self.frames.begin()?;
        self.read_times()?;
        self.record(commands, image_index, (image, view, extent), input, readback.as_ref())?;
        let present_semaphore = match &self.output {
            Output::Window(WindowOutput { swapchain: Some(swapchain), .. }) => {
                Some(swapchain.present_semaphore(image_index))
            }
            _ => None,
        };
        self.frames.submit(present_semaphore)?;
        self.times.cpu_ms = begun.elapsed().as_secs_f32() * 1e3;
        let picture = match readback {
            Some(readback) => {
                self.device.wait_idle()?;
                Some(readback.picture())
            }
            None => None,
        };
        self.present(image_index)?;
        Ok(Drawn::Frame(picture))
    }

    /// The times of the frame that had the same index before, which has ended.
    fn read_times(&mut self) -> Result<()> {
        let Some(timestamps) = &self.timestamps else { return Ok(()) };
        let passes = &mut self.times.passes;
        passes.clear();
        timestamps.read(self.frames.index(), |name, time| passes.push((name, time)))
    }

    /// Records all of a frame.
    fn record<S: Sample>(
        &self,
        commands: vk::CommandBuffer,
        image_index: u32,
        (image, view, extent): (vk::Image, vk::ImageView, vk::Extent2D),
        input: Input<'_, S>,
        readback: Option<&Readback>,
    ) -> Result<()> {
        let index = self.frames.index();
        let timestamps = self.timestamps.as_ref().filter(|_| self.timed);
        if let Some(timestamps) = timestamps {
            timestamps.reset(index, commands);
        }
        let pass = |name| Pass::new(&self.device, commands, name, timestamps.map(|timestamps| (timestamps, index)));
        let _frame = pass(c"frame");
        match (input.sample, input.viewpoint) {
            (Some((sample, parameters)), Some(viewpoint)) => {
                let frame = Frame {
                    device: &self.device,
                    commands,
                    index,
                    image: image_index as usize,
                    extent,
                    camera: viewpoint.matrices(extent.width as f32 / extent.height as f32),
                    timestamps,
                    wireframe: input.wireframe,
                };
                sample.record(&frame, parameters)?;
            }
            _ => self.record_clear(commands, image, view, extent),
        }
        if let Some(overlay) = input.overlay {
            let _overlay = pass(c"overlay");
            overlay.record(commands, view, extent)?;
        }
        self.record_end(commands, image, readback);
        Ok(())
    }

    /// A plain dark frame, left as a sample leaves its own.
    fn record_clear(&self, commands: vk::CommandBuffer, image: vk::Image, view: vk::ImageView, extent: vk::Extent2D) {
        let layout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
        let stage = vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT;
        // The frame's submission waits at this stage until the image is available.
        let undefined = (vk::ImageLayout::UNDEFINED, stage, vk::AccessFlags2::NONE);
        self.move_image(commands, image, undefined, (layout, stage, vk::AccessFlags2::COLOR_ATTACHMENT_WRITE));
        let clear = vk::ClearValue { color: vk::ClearColorValue { float32: [0.01, 0.012, 0.02, 1.0] } };
        let attachment = [vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .image_layout(layout)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(clear)];
        let rendering =
            vk::RenderingInfo::default().render_area(extent.into()).layer_count(1).color_attachments(&attachment);
        // SAFETY: the command buffer is being recorded, outside of any render pass; the view is the image's.
        unsafe {
            self.device.cmd_begin_rendering(commands, &rendering);
            self.device.cmd_end_rendering(commands);
        }
    }

    /// Makes a swapchain if the window has an area by now and none yet. For the time before there is a sample.
    pub(super) fn make_target(&mut self) -> Result<()> {
        if let Output::Window(window) = &mut self.output {
            window.make_swapchain(&self.device)?;
        }
        self.make_multisampled()
    }

    /// The index of the image to draw to, after the swapchain was made anew if it had to be.
    fn acquire<S: Sample>(&mut self, sample: Option<&mut S>) -> Result<Option<u32>> {
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
    fn recreate_swapchain<S: Sample>(&mut self, sample: Option<&mut S>) -> Result<()> {
        // Presentation has no fence: only an idle device is certainly done with the old images.
        self.device.wait_idle()?;
        self.make_target()?;
        match (self.target(), sample) {
            (Some(target), Some(sample)) => sample.resize(&self.device, &target),
            _ => Ok(()),
        }
    }

    fn make_multisampled(&mut self) -> Result<()> {
        self.multisampled = None;
        if self.samples == vk::SampleCountFlags::TYPE_1 || !self.resolves {
            return Ok(());
        }
        let Some(Target { extent, format, .. }) = self.target() else { return Ok(()) };
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSIENT_ATTACHMENT;
        let image = Image::attachment(&self.device, "multisampled target", format, extent, self.samples, usage)?;
        self.multisampled = Some(image);
        Ok(())
    }

    fn image(&self, index: u32) -> (vk::Image, vk::ImageView, vk::Extent2D, vk::Format) {
        match &self.output {
            Output::Images(images) => {
                let image = &images[index as usize];
                let extent = vk::Extent2D { width: image.extent().width, height: image.extent().height };
                (image.handle(), image.view(), extent, PICTURE_FORMAT)
            }
            Output::Window(window) => {
                let swapchain = window.swapchain.as_ref().expect("an image was acquired from it");
                let (image, view) = swapchain.image(index);
                (image, view, swapchain.extent(), swapchain.format())
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
