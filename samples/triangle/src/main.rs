//! The smallest program: a triangle.
//!
//! What you will see: three vertices, a colour at each, and the colours blended in between.
//!
//! What you will learn: what it takes to draw at all. A render pass says what is drawn to, a pipeline says how, a buffer
//! holds what, and a command buffer puts them in order. Window, device and swapchain are the framework's.

use std::mem::offset_of;
use std::process::ExitCode;
use std::sync::Arc;

use ashwright::anyhow::{Context as _, Result};
use ashwright::ash::vk;
use ashwright::gpu::{Buffer, Device, Owned, Upload};
use ashwright::{Context, Frame, Sample, Target};
use bytemuck::{Pod, Zeroable};

/// A vertex as it lies in memory; `vertex_input` in `create_pipeline` tells Vulkan the same.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Vertex {
    /// Clip space: x to the right, y DOWN, each from -1 to 1.
    position: [f32; 2],
    /// Linear colour.
    color: [f32; 3],
}

/// Equilateral, counter-clockwise as it is seen.
const VERTICES: [Vertex; 3] = [
    Vertex { position: [0.0, -0.80], color: [1.0, 0.30, 0.06] },
    Vertex { position: [-0.78, 0.55], color: [0.05, 0.32, 1.0] },
    Vertex { position: [0.78, 0.55], color: [0.10, 0.85, 0.35] },
];

/// Linear, as all colours that shaders and clears write: the target's format encodes them as sRGB.
const BACKGROUND: [f32; 4] = [0.008, 0.011, 0.020, 1.0];

fn main() -> ExitCode {
    ashwright::run::<Triangle>(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_DESCRIPTION"))
}

struct Triangle {
    render_pass: Owned<vk::RenderPass>,
    /// One for each image that frames end in.
    framebuffers: Vec<Owned<vk::Framebuffer>>,
    pipeline: Owned<vk::Pipeline>,
    vertices: Buffer,
    clear: vk::ClearValue,
}

impl Sample for Triangle {
    type Parameters = ();

    // One sample a pixel keeps the render pass at one attachment. The other samples show how to resolve.
    const MSAA: &'static [u32] = &[1];

    fn new(context: &Context, (): &()) -> Result<Self> {
        let mut upload = Upload::new(&context.device)?;
        let vertices = upload.buffer("triangle", vk::BufferUsageFlags::VERTEX_BUFFER, &VERTICES)?;
        upload.finish()?;

        let render_pass = create_render_pass(context)?;
        let framebuffers = create_framebuffers(&context.device, *render_pass, &context.target)?;
        let pipeline = create_pipeline(context, *render_pass)?;
        let clear = match context.setting.background {
            Some(_) => context.clear_color(),
            None => vk::ClearValue { color: vk::ClearColorValue { float32: BACKGROUND } },
        };
        Ok(Self { render_pass, framebuffers, pipeline, vertices, clear })
    }

    fn record(&mut self, frame: &Frame<'_>, (): &()) -> Result<()> {
        let (device, commands) = (frame.device, frame.commands);
        let clears = [self.clear];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(*self.render_pass)
            .framebuffer(*self.framebuffers[frame.image])
            .render_area(frame.extent.into())
            .clear_values(&clears);
        // The largest square in the middle of the picture, so that the triangle keeps its shape whatever the window's.
        let vk::Extent2D { width, height } = frame.extent;
        let side = width.min(height) as f32;
        let viewport = vk::Viewport {
            x: (width as f32 - side) / 2.0,
            y: (height as f32 - side) / 2.0,
            width: side,
            height: side,
            min_depth: 0.0,
            max_depth: 1.0,
        };
        // SAFETY: the command buffer is being recorded, and all that it uses lives until the GPU is done with it.
        unsafe {
            device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, *self.pipeline);
            device.cmd_set_viewport(commands, 0, &[viewport]);
            device.cmd_set_scissor(commands, 0, &[frame.extent.into()]);
            device.cmd_bind_vertex_buffers(commands, 0, &[self.vertices.handle()], &[0]);
            device.cmd_draw(commands, VERTICES.len() as u32, 1, 0, 0);
            device.cmd_end_render_pass(commands);
        }
        Ok(())
    }

    fn resize(&mut self, device: &Arc<Device>, target: &Target) -> Result<()> {
        self.framebuffers = create_framebuffers(device, *self.render_pass, target)?;
        Ok(())
    }
}

/// One colour attachment: cleared, drawn to, and kept.
fn create_render_pass(context: &Context) -> Result<Owned<vk::RenderPass>> {
    let attachments = [vk::AttachmentDescription::default()
        .format(context.target.format)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        // What the image held before does not matter: it is cleared.
        .initial_layout(vk::ImageLayout::UNDEFINED)
        // The framework takes it on from here, to the screen or to a file.
        .final_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)];
    let colors = [vk::AttachmentReference::default().attachment(0).layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)];
    let subpasses = [vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colors)];
    // The change of layout has to wait until the image is available. The frame's submission waits for that at the stage
    // COLOR_ATTACHMENT_OUTPUT, and this dependency begins at the same stage.
    let dependencies = [vk::SubpassDependency::default()
        .src_subpass(vk::SUBPASS_EXTERNAL)
        .dst_subpass(0)
        .src_stage_mask(vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT)
        .dst_stage_mask(vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT)
        .dst_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE)];
    let info =
        vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses).dependencies(&dependencies);
    // SAFETY: the create-info is valid and all that it points to is alive.
    let render_pass = unsafe { context.device.create_render_pass(&info, None) }.context("vkCreateRenderPass failed")?;
    Ok(context.device.own(render_pass, "triangle"))
}

/// A framebuffer binds a render pass's attachments to image views: one for each image of the target.
fn create_framebuffers(
    device: &Arc<Device>,
    render_pass: vk::RenderPass,
    target: &Target,
) -> Result<Vec<Owned<vk::Framebuffer>>> {
    let create = |view: &vk::ImageView| {
        let attachments = [*view];
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(render_pass)
            .attachments(&attachments)
            .width(target.extent.width)
            .height(target.extent.height)
            .layers(1);
        // SAFETY: the view is of the format that the render pass names, and of this size.
        let framebuffer = unsafe { device.create_framebuffer(&info, None) }.context("vkCreateFramebuffer failed")?;
        Ok(device.own(framebuffer, "triangle"))
    };
    target.views.iter().map(create).collect()
}

fn create_pipeline(context: &Context, render_pass: vk::RenderPass) -> Result<Owned<vk::Pipeline>> {
    let device = &context.device;
    let vertex = device.shader_module(shaders::spirv!("triangle/triangle.vert"), "triangle.vert")?;
    let fragment = device.shader_module(shaders::spirv!("triangle/triangle.frag"), "triangle.frag")?;
    let stages = [
        vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::VERTEX).module(*vertex).name(c"main"),
        vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::FRAGMENT)
            .module(*fragment)
            .name(c"main"),
    ];

    let bindings = [vk::VertexInputBindingDescription::default()
        .binding(0)
        .stride(size_of::<Vertex>() as u32)
        .input_rate(vk::VertexInputRate::VERTEX)];
    let attributes = [
        vk::VertexInputAttributeDescription::default()
            .location(0)
            .binding(0)
            .format(vk::Format::R32G32_SFLOAT)
            .offset(offset_of!(Vertex, position) as u32),
        vk::VertexInputAttributeDescription::default()
            .location(1)
            .binding(0)
            .format(vk::Format::R32G32B32_SFLOAT)
            .offset(offset_of!(Vertex, color) as u32),
    ];
    let vertex_input = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&bindings)
        .vertex_attribute_descriptions(&attributes);
    let input_assembly =
        vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);

    // Viewport and scissor follow the window, so they are set when commands are recorded.
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
    let dynamic = vk::PipelineDynamicStateCreateInfo::default()
        .dynamic_states(&[vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR]);
    let rasterization = vk::PipelineRasterizationStateCreateInfo::default()
        .polygon_mode(vk::PolygonMode::FILL)
        .cull_mode(vk::CullModeFlags::BACK)
        .front_face(vk::FrontFace::COUNTER_CLOCKWISE)
        .line_width(1.0);
    let multisample =
        vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let blend_attachments =
        [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blend_attachments);

    // The layout says which descriptor sets and push constants the shaders read: none.
    let layout_info = vk::PipelineLayoutCreateInfo::default();
    // SAFETY: the create-info is valid.
    let layout =
        unsafe { device.create_pipeline_layout(&layout_info, None) }.context("vkCreatePipelineLayout failed")?;
    let layout = device.own(layout, "triangle");

    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&vertex_input)
        .input_assembly_state(&input_assembly)
        .viewport_state(&viewport)
        .rasterization_state(&rasterization)
        .multisample_state(&multisample)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .layout(*layout)
        .render_pass(render_pass)
        .subpass(0);
    // SAFETY: the create-info is valid and all that it points to is alive; shader modules and layout are not needed any
    // more once the pipeline is made.
    let pipelines = unsafe { device.create_graphics_pipelines(device.pipeline_cache(), &[info], None) };
    let pipeline = pipelines.map_err(|(_, error)| error).context("vkCreateGraphicsPipelines failed")?[0];
    Ok(device.own(pipeline, "triangle"))
}
