//! A frame that is being recorded, and what it is drawn to.

use std::ffi::CStr;

use ash::vk;

use crate::camera::CameraMatrices;
use crate::gpu::{Device, Pass, Timestamps};

/// Where frames are drawn to.
#[derive(Debug, Clone)]
pub struct Target {
    /// Size in pixels.
    pub extent: vk::Extent2D,
    /// An sRGB format: what shaders write is linear.
    pub format: vk::Format,
    /// The views of the images that frames end in; [`Frame::image`] says which.
    pub views: Vec<vk::ImageView>,
    /// Samples a pixel of the multisampled image.
    pub samples: vk::SampleCountFlags,
    /// The multisampled image to draw to and resolve from; `None` with one sample a pixel, and where the sample has such
    /// images of its own. All frames share it, so the render pass has to order their accesses by an external dependency.
    pub multisampled: Option<vk::ImageView>,
}

/// A frame that is being recorded.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// The device.
    pub device: &'a Device,
    /// A primary command buffer in recording state.
    pub commands: vk::CommandBuffer,
    /// Which frame in flight it is: the index of whatever exists once a frame.
    pub index: usize,
    /// Which of [`Target::views`] the frame ends in.
    pub image: usize,
    /// The target's size in pixels.
    pub extent: vk::Extent2D,
    /// The camera.
    pub camera: CameraMatrices,
    /// Where the times of passes are taken, if anyone wants to know.
    pub timestamps: Option<&'a Timestamps>,
    /// Whether polygons are to be drawn as lines, where the sample has a pipeline for it.
    pub wireframe: bool,
}

impl<'a> Frame<'a> {
    /// Begins a pass, which ends when it is dropped: a label for debuggers, and a line in the overlay and in the figures of
    /// `--bench`. Passes may lie within each other.
    pub fn pass(&self, name: &'static CStr) -> Pass<'a> {
        let timestamps = self.timestamps.map(|timestamps| (timestamps, self.index));
        Pass::new(self.device, self.commands, name, timestamps)
    }

    /// Sets viewport and scissor to the whole target.
    pub fn set_full_viewport(&self) {
        let vk::Extent2D { width, height } = self.extent;
        let viewport =
            vk::Viewport { width: width as f32, height: height as f32, max_depth: 1.0, ..Default::default() };
        let scissor = vk::Rect2D { extent: self.extent, ..Default::default() };
        // SAFETY: the command buffer is in recording state.
        unsafe {
            self.device.cmd_set_viewport(self.commands, 0, &[viewport]);
            self.device.cmd_set_scissor(self.commands, 0, &[scissor]);
        }
    }
}
