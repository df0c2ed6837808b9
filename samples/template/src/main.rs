//! A program to copy.
//!
//! What you will see: a ring that turns slowly, lit by a sun.
//!
//! What you will learn: the shape of a sample. Constants and vertex types, parameters, `new` (resources, layouts,
//! pipelines), `update`, `record`, and then the functions that make each object.

use std::f32::consts::TAU;
use std::mem::offset_of;
use std::process::ExitCode;
use std::sync::Arc;

use ashwright::anyhow::{Context as _, Result};
use ashwright::ash::vk;
use ashwright::camera::View;
use ashwright::clap::{self, Args};
use ashwright::glam::{Mat4, Quat, Vec2, Vec3, Vec4};
use ashwright::gpu::{Buffer, DescriptorSetLayout, DescriptorSets, Device, FRAMES_IN_FLIGHT, Image, Owned, Upload};
use ashwright::scene::Bounds;
use ashwright::stage::{Look, Stage};
use ashwright::{Context, Frame, Sample, Step, Target, egui, parse};
use bytemuck::{Pod, Zeroable};

/// The ring: the radius of its middle line, of its cross-section, and of all, metres; and how finely each is cut.
const RING_RADIUS: f32 = 1.0;
const TUBE_RADIUS: f32 = 0.42;
const REACH: f32 = RING_RADIUS + TUBE_RADIUS;
const RING_SEGMENTS: u32 = 96;
const TUBE_SEGMENTS: u32 = 48;

/// How often it turns about the vertical axis.
const TURNS_A_SECOND: f32 = 0.1;

/// Towards the light, world space.
const LIGHT_DIRECTION: Vec3 = Vec3::new(0.5, 1.0, 0.6);

/// A quiet studio. Linear colours.
const LOOK: Look = Look {
    zenith: Vec3::new(0.012, 0.018, 0.045),
    horizon: Vec3::new(0.130, 0.190, 0.300),
    ground: Vec3::new(0.150, 0.180, 0.230),
};

/// sRGB colours of the texture's stripes, and how often they go around the ring.
const STRIPES: [[u8; 4]; 2] = [[246, 228, 196, 255], [216, 88, 40, 255]];
const STRIPE_PAIRS: f32 = 12.0;

/// A vertex as it lies in memory; `create_pipeline` tells Vulkan the same.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Vertex {
    position: Vec3,
    normal: Vec3,
    tex_coord: Vec2,
}

/// `Frame` in the shaders.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct FrameUniforms {
    view_projection: Mat4,
    light_direction: Vec4,
}

fn main() -> ExitCode {
    ashwright::run::<Template>(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_DESCRIPTION"))
}

/// What can be changed on the command line and in the overlay.
#[derive(Debug, Clone, Args)]
#[group(skip)]
struct Parameters {
    /// How far the ring leans, in degrees
    #[arg(long, value_name = "DEGREES", default_value = "65", allow_hyphen_values = true, value_parser = parse::finite)]
    tilt: f32,
}

struct Template {
    /// The turn about the vertical axis, radians.
    turn: f32,
    vertices: Buffer,
    indices: Buffer,
    index_count: u32,
    _texture: Image,
    _sampler: Owned<vk::Sampler>,

    render_pass: Owned<vk::RenderPass>,
    attachments: Attachments,
    pipeline_layout: Owned<vk::PipelineLayout>,
    pipeline: Owned<vk::Pipeline>,
    /// Written by the CPU every frame, so there is one for every frame in flight, and a set for each.
    uniforms: Vec<Buffer>,
    sets: DescriptorSets,
    _set_layout: DescriptorSetLayout,

    stage: Option<Stage>,
    clear_color: vk::ClearValue,
}

impl Sample for Template {
    type Parameters = Parameters;

    const VIEW: Option<View> =
        Some(View { eye: Vec3::new(3.6, 2.0, 5.0), target: Vec3::new(0.0, -0.1, 0.0), fov: 32.0 });
    const BOUNDS: Bounds = Bounds { min: Vec3::splat(-REACH), max: Vec3::splat(REACH) };

    fn new(context: &Context, _: &Parameters) -> Result<Self> {
        let device = &context.device;
        let (vertices, indices) = ring();
        let index_count = indices.len() as u32;
        let mut upload = Upload::new(device)?;
        let vertices = upload.buffer("ring", vk::BufferUsageFlags::VERTEX_BUFFER, &vertices)?;
        let indices = upload.buffer("ring", vk::BufferUsageFlags::INDEX_BUFFER, &indices)?;
        let texture = create_texture(&mut upload)?;
        upload.finish()?;
        let sampler = create_sampler(device)?;

        let render_pass = create_render_pass(context)?;
        let attachments = Attachments::new(device, *render_pass, &context.target)?;
        let set_layout = create_set_layout(device)?;
        let pipeline_layout = create_pipeline_layout(device, &set_layout)?;
        let pipeline = create_pipeline(context, *render_pass, *pipeline_layout)?;

        let size = size_of::<FrameUniforms>() as u64;
        let uniforms = (0..FRAMES_IN_FLIGHT)
            .map(|_| Buffer::mapped(device, "frame uniforms", size, vk::BufferUsageFlags::UNIFORM_BUFFER))
            .collect::<Result<Vec<_>>>()?;
        let sets = DescriptorSets::new(device, "frame", &set_layout, FRAMES_IN_FLIGHT)?;
        write_sets(device, &sets, &uniforms, &texture, &sampler);

        let stage = Stage::new(device, *render_pass, context.target.samples, &context.setting, LOOK)?;
        Ok(Self {
            turn: 0.0,
            vertices,
            indices,
            index_count,
            _texture: texture,
            _sampler: sampler,
            render_pass,
            attachments,
            pipeline_layout,
            pipeline,
            uniforms,
            sets,
            _set_layout: set_layout,
            stage,
            clear_color: context.clear_color(),
        })
    }

    fn update(&mut self, step: &Step<'_>, _: &Parameters) -> Result<()> {
        self.turn = (step.time * TURNS_A_SECOND).fract() * TAU;
        Ok(())
    }

    fn ui(&mut self, parameters: &mut Parameters, ui: &mut egui::Ui) {
        ui.add(egui::Slider::new(&mut parameters.tilt, -90.0..=90.0).suffix("°").text("tilt"));
    }

    fn record(&mut self, frame: &Frame<'_>, parameters: &Parameters) -> Result<()> {
        self.uniforms[frame.index].write(
            0,
            &[FrameUniforms {
                view_projection: frame.camera.view_projection(),
                light_direction: LIGHT_DIRECTION.normalize().extend(0.0),
            }],
        );
        let world = Mat4::from_rotation_y(self.turn) * Mat4::from_rotation_x(parameters.tilt.to_radians());

        let (device, commands) = (frame.device, frame.commands);
        let clears =
            [self.clear_color, vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 } }];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(*self.render_pass)
            .framebuffer(*self.attachments.framebuffers[frame.image])
            .render_area(frame.extent.into())
            .clear_values(&clears);
        let graphics = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: the command buffer is being recorded, and all that it uses lives until the GPU is done with it.
        unsafe { device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE) };
        frame.set_full_viewport();
        let pass = frame.pass(c"ring");
        // SAFETY: as above, inside the render pass that the pipeline was made for.
        unsafe {
            device.cmd_bind_pipeline(commands, graphics, *self.pipeline);
            let set = [self.sets[frame.index]];
            device.cmd_bind_descriptor_sets(commands, graphics, *self.pipeline_layout, 0, &set, &[]);
            let stage = vk::ShaderStageFlags::VERTEX;
            device.cmd_push_constants(commands, *self.pipeline_layout, stage, 0, bytemuck::bytes_of(&world));
            device.cmd_bind_vertex_buffers(commands, 0, &[self.vertices.handle()], &[0]);
            device.cmd_bind_index_buffer(commands, self.indices.handle(), 0, vk::IndexType::UINT32);
            device.cmd_draw_indexed(commands, self.index_count, 1, 0, 0, 0);
        }
        drop(pass);
        if let Some(stage) = &self.stage {
            stage.draw(frame);
        }
        // SAFETY: the render pass was begun above.
        unsafe { device.cmd_end_render_pass(commands) };
        Ok(())
    }

    fn resize(&mut self, device: &Arc<Device>, target: &Target) -> Result<()> {
        self.attachments = Attachments::new(device, *self.render_pass, target)?;
        Ok(())
    }
}

/// A torus about the y axis. Its first and last vertices lie in the same places with other texture coordinates.
fn ring() -> (Vec<Vertex>, Vec<u32>) {
    let mut vertices = Vec::new();
    let mut indices = Vec::new();
    for i in 0..=RING_SEGMENTS {
        for j in 0..=TUBE_SEGMENTS {
            let around = Vec2::new(i as f32 / RING_SEGMENTS as f32, j as f32 / TUBE_SEGMENTS as f32);
            let around_ring = Quat::from_rotation_y(around.x * TAU);
            let (sin, cos) = (around.y * TAU).sin_cos();
            let normal = around_ring * Vec3::new(cos, sin, 0.0);
            let position = around_ring * Vec3::X * RING_RADIUS + normal * TUBE_RADIUS;
            let tex_coord = around * Vec2::new(STRIPE_PAIRS, 2.0);
            vertices.push(Vertex { position, normal, tex_coord });
        }
    }
    let row = TUBE_SEGMENTS + 1;
    for i in 0..RING_SEGMENTS {
        for j in 0..TUBE_SEGMENTS {
            let corner = i * row + j;
            // Two triangles, counter-clockwise seen from outside.
            indices.extend([corner, corner + row, corner + 1, corner + 1, corner + row, corner + row + 1]);
        }
    }
    (vertices, indices)
}

/// Slanting stripes. The texture repeats, so the stripes wind around the ring.
fn create_texture(upload: &mut Upload) -> Result<Image> {
    const SIZE: u32 = 256;
    let texel = |i: u32| STRIPES[((i % SIZE + i / SIZE) / (SIZE / 2) % 2) as usize];
    let texels: Vec<u8> = (0..SIZE * SIZE).flat_map(texel).collect();
    let extent = vk::Extent2D { width: SIZE, height: SIZE };
    upload.texture("stripes", vk::Format::R8G8B8A8_SRGB, extent, &texels, true)
}

fn create_sampler(device: &Arc<Device>) -> Result<Owned<vk::Sampler>> {
    let info = vk::SamplerCreateInfo::default()
        .mag_filter(vk::Filter::LINEAR)
        .min_filter(vk::Filter::LINEAR)
        .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
        .address_mode_u(vk::SamplerAddressMode::REPEAT)
        .address_mode_v(vk::SamplerAddressMode::REPEAT)
        .max_lod(vk::LOD_CLAMP_NONE);
    // SAFETY: the create-info is valid.
    let sampler = unsafe { device.create_sampler(&info, None) }.context("vkCreateSampler failed")?;
    Ok(device.own(sampler, "stripes"))
}

/// Colour and depth, and the image that the samples of a pixel are resolved to, where there are several.
fn create_render_pass(context: &Context) -> Result<Owned<vk::RenderPass>> {
    let Target { format, samples, multisampled, .. } = context.target;
    let color = vk::AttachmentDescription::default()
        .format(format)
        .samples(samples)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .initial_layout(vk::ImageLayout::UNDEFINED)
        .final_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL);
    let depth = vk::AttachmentDescription::default()
        .format(context.device.depth_format())
        .samples(samples)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::DONT_CARE)
        .initial_layout(vk::ImageLayout::UNDEFINED)
        .final_layout(vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL);
    let resolved = color.samples(vk::SampleCountFlags::TYPE_1).load_op(vk::AttachmentLoadOp::DONT_CARE);
    let attachments = match multisampled {
        // Once resolved, the samples are not needed any more.
        Some(_) => vec![color.store_op(vk::AttachmentStoreOp::DONT_CARE), depth, resolved],
        None => vec![color, depth],
    };

    let color_layout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
    let colors = [vk::AttachmentReference { attachment: 0, layout: color_layout }];
    let depth = vk::AttachmentReference { attachment: 1, layout: vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL };
    let resolves = [vk::AttachmentReference { attachment: 2, layout: color_layout }];
    let subpass = vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colors)
        .depth_stencil_attachment(&depth);
    let subpasses = [match multisampled {
        Some(_) => subpass.resolve_attachments(&resolves),
        None => subpass,
    }];

    // All frames share the depth image and the multisampled one, so a frame may only begin to write them when the frame
    // before has done with them. The same dependency waits for the acquired image, as in the triangle sample.
    let color_stage = vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT;
    let (early, late) = (vk::PipelineStageFlags::EARLY_FRAGMENT_TESTS, vk::PipelineStageFlags::LATE_FRAGMENT_TESTS);
    let (color_write, depth_write) =
        (vk::AccessFlags::COLOR_ATTACHMENT_WRITE, vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE);
    let (color_read, depth_read) =
        (vk::AccessFlags::COLOR_ATTACHMENT_READ, vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_READ);
    let dependencies = [vk::SubpassDependency::default()
        .src_subpass(vk::SUBPASS_EXTERNAL)
        .src_stage_mask(color_stage | early | late)
        .src_access_mask(color_write | depth_write)
        .dst_subpass(0)
        .dst_stage_mask(color_stage | early | late)
        .dst_access_mask(color_write | depth_write | color_read | depth_read)];

    let info =
        vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses).dependencies(&dependencies);
    // SAFETY: the create-info is valid and all that it points to is alive.
    let render_pass = unsafe { context.device.create_render_pass(&info, None) }.context("vkCreateRenderPass failed")?;
    Ok(context.device.own(render_pass, "template"))
}

/// What has the target's size.
struct Attachments {
    /// One for each image that frames end in.
    framebuffers: Vec<Owned<vk::Framebuffer>>,
    _depth: Image,
}

impl Attachments {
    fn new(device: &Arc<Device>, render_pass: vk::RenderPass, target: &Target) -> Result<Self> {
        let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        let depth = Image::attachment(device, "depth", device.depth_format(), target.extent, target.samples, usage)?;
        let create = |&view: &vk::ImageView| {
            let attachments = match target.multisampled {
                Some(multisampled) => vec![multisampled, depth.view(), view],
                None => vec![view, depth.view()],
            };
            let info = vk::FramebufferCreateInfo::default()
                .render_pass(render_pass)
                .attachments(&attachments)
                .width(target.extent.width)
                .height(target.extent.height)
                .layers(1);
            // SAFETY: the views are of the render pass's formats and sample counts, and of this size.
            let framebuffer =
                unsafe { device.create_framebuffer(&info, None) }.context("vkCreateFramebuffer failed")?;
            Ok(device.own(framebuffer, "template"))
        };
        let framebuffers = target.views.iter().map(create).collect::<Result<_>>()?;
        Ok(Self { framebuffers, _depth: depth })
    }
}

/// What the shaders read: the frame's uniforms and the texture.
fn create_set_layout(device: &Arc<Device>) -> Result<DescriptorSetLayout> {
    let binding = |binding: u32, ty, stages| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(binding)
            .descriptor_type(ty)
            .descriptor_count(1)
            .stage_flags(stages)
    };
    let (vertex, fragment) = (vk::ShaderStageFlags::VERTEX, vk::ShaderStageFlags::FRAGMENT);
    DescriptorSetLayout::new(
        device,
        "frame",
        &[
            binding(0, vk::DescriptorType::UNIFORM_BUFFER, vertex | fragment),
            binding(1, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, fragment),
        ],
    )
}

fn write_sets(
    device: &Device,
    sets: &DescriptorSets,
    uniforms: &[Buffer],
    texture: &Image,
    sampler: &Owned<vk::Sampler>,
) {
    for (set, uniforms) in sets.iter().zip(uniforms) {
        let buffer = [vk::DescriptorBufferInfo::default().buffer(uniforms.handle()).range(vk::WHOLE_SIZE)];
        let image = [vk::DescriptorImageInfo::default()
            .image_view(texture.view())
            .image_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL)
            .sampler(**sampler)];
        let write = vk::WriteDescriptorSet::default().dst_set(set);
        let writes = [
            write.dst_binding(0).descriptor_type(vk::DescriptorType::UNIFORM_BUFFER).buffer_info(&buffer),
            write.dst_binding(1).descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER).image_info(&image),
        ];
        // SAFETY: all of it is alive, and no command buffer uses the sets yet.
        unsafe { device.update_descriptor_sets(&writes, &[]) };
    }
}

/// One set, and a push constant: the world matrix.
fn create_pipeline_layout(device: &Arc<Device>, set_layout: &DescriptorSetLayout) -> Result<Owned<vk::PipelineLayout>> {
    let set_layouts = [**set_layout];
    let push_constants =
        [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::VERTEX).size(size_of::<Mat4>() as u32)];
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts).push_constant_ranges(&push_constants);
    // SAFETY: the set layout is alive; the constants are within the 128 bytes that every GPU has.
    let layout = unsafe { device.create_pipeline_layout(&info, None) }.context("vkCreatePipelineLayout failed")?;
    Ok(device.own(layout, "template"))
}

fn create_pipeline(
    context: &Context,
    render_pass: vk::RenderPass,
    layout: vk::PipelineLayout,
) -> Result<Owned<vk::Pipeline>> {
    let device = &context.device;
    let vertex = device.shader_module(shaders::spirv!("template/template.vert"), "template.vert")?;
    let fragment = device.shader_module(shaders::spirv!("template/template.frag"), "template.frag")?;
    let stages = [
        vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::VERTEX).module(*vertex).name(c"main"),
        vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::FRAGMENT)
            .module(*fragment)
            .name(c"main"),
    ];

    let bindings = [vk::VertexInputBindingDescription::default().stride(size_of::<Vertex>() as u32)];
    let attribute = |location: u32, format, offset: usize| {
        vk::VertexInputAttributeDescription::default().location(location).format(format).offset(offset as u32)
    };
    let attributes = [
        attribute(0, vk::Format::R32G32B32_SFLOAT, offset_of!(Vertex, position)),
        attribute(1, vk::Format::R32G32B32_SFLOAT, offset_of!(Vertex, normal)),
        attribute(2, vk::Format::R32G32_SFLOAT, offset_of!(Vertex, tex_coord)),
    ];
    let vertex_input = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&bindings)
        .vertex_attribute_descriptions(&attributes);
    let input_assembly =
        vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);

    let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
    let dynamic = vk::PipelineDynamicStateCreateInfo::default()
        .dynamic_states(&[vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR]);
    let rasterization = vk::PipelineRasterizationStateCreateInfo::default()
        .cull_mode(vk::CullModeFlags::BACK)
        .front_face(vk::FrontFace::COUNTER_CLOCKWISE)
        .line_width(1.0);
    let multisample = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(context.target.samples);
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(true)
        .depth_write_enable(true)
        .depth_compare_op(vk::CompareOp::LESS_OR_EQUAL);
    let blend_attachments =
        [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blend_attachments);

    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&vertex_input)
        .input_assembly_state(&input_assembly)
        .viewport_state(&viewport)
        .rasterization_state(&rasterization)
        .multisample_state(&multisample)
        .depth_stencil_state(&depth)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .layout(layout)
        .render_pass(render_pass);
    // SAFETY: the create-info is valid and all that it points to is alive.
    let pipelines = unsafe { device.create_graphics_pipelines(device.pipeline_cache(), &[info], None) };
    let pipeline = pipelines.map_err(|(_, error)| error).context("vkCreateGraphicsPipelines failed")?[0];
    Ok(device.own(pipeline, "template"))
}
