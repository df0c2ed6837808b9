//! Lines in the scene: bones, boxes, axes.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use ash::vk;
use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec3};

use super::shaders;
use crate::frame::Frame;
use crate::gpu::{Buffer, Device, FRAMES_IN_FLIGHT, GraphicsPipeline, Owned};

/// A line between two points of world space, each with a linear colour of its own.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Line {
    /// One end, metres.
    pub from: Vec3,
    /// The colour there.
    pub from_color: Vec3,
    /// The other end, metres.
    pub to: Vec3,
    /// The colour there.
    pub to_color: Vec3,
}

/// Draws lines over everything else.
pub struct Lines {
    pipeline: Owned<vk::Pipeline>,
    layout: Owned<vk::PipelineLayout>,
    vertices: Vec<Buffer>,
    capacity: usize,
}

impl Lines {
    /// Makes room for `capacity` lines a frame, for subpass 0 of a render pass with depth.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn new(
        device: &Arc<Device>,
        render_pass: vk::RenderPass,
        samples: vk::SampleCountFlags,
        capacity: usize,
    ) -> Result<Self> {
        let ranges =
            [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::VERTEX).size(size_of::<Mat4>() as u32)];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&ranges);
        // SAFETY: the create-info is valid: it names push constants only, within every GPU's limit.
        let layout = unsafe { device.create_pipeline_layout(&info, None) }.context("vkCreatePipelineLayout failed")?;
        let layout = device.own(layout, "lines");
        let bindings = [vk::VertexInputBindingDescription::default().stride(size_of::<Line>() as u32 / 2)];
        let attribute = |location: u32| {
            vk::VertexInputAttributeDescription::default()
                .location(location)
                .format(vk::Format::R32G32B32_SFLOAT)
                .offset(location * size_of::<Vec3>() as u32)
        };
        let attributes = [attribute(0), attribute(1)];
        let pipeline = GraphicsPipeline {
            name: "lines",
            shaders: [shaders::spirv!("stage/lines.vert"), shaders::spirv!("stage/lines.frag")],
            vertex_input: vk::PipelineVertexInputStateCreateInfo::default()
                .vertex_binding_descriptions(&bindings)
                .vertex_attribute_descriptions(&attributes),
            topology: vk::PrimitiveTopology::LINE_LIST,
            depth_test: false,
            depth_write: false,
            samples,
            layout: *layout,
            render_pass,
            ..Default::default()
        };
        let size = (capacity * size_of::<Line>()) as u64;
        let vertices = (0..FRAMES_IN_FLIGHT)
            .map(|_| Buffer::mapped(device, "lines", size, vk::BufferUsageFlags::VERTEX_BUFFER))
            .collect::<Result<_>>()?;
        Ok(Self { pipeline: pipeline.create(device)?, layout, vertices, capacity })
    }

    /// Draws lines, as many as there is room for; once a frame. Changes pipeline, vertex buffer 0 and push constants;
    /// the viewport is to be set.
    pub fn draw(&mut self, frame: &Frame<'_>, lines: &[Line]) {
        let _pass = frame.pass(c"lines");
        let lines = &lines[..lines.len().min(self.capacity)];
        let vertices = &mut self.vertices[frame.index];
        vertices.write(0, lines);
        let (device, commands) = (frame.device, frame.commands);
        let matrix = frame.camera.view_projection();
        // SAFETY: inside the render pass that the pipeline was made for; the buffer is this frame's own.
        unsafe {
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, *self.pipeline);
            device.cmd_bind_vertex_buffers(commands, 0, &[vertices.handle()], &[0]);
            let stage = vk::ShaderStageFlags::VERTEX;
            device.cmd_push_constants(commands, *self.layout, stage, 0, bytemuck::bytes_of(&matrix));
            device.cmd_draw(commands, 2 * lines.len() as u32, 1, 0, 0);
        }
    }
}
