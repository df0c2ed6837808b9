//! Linear blend skinning of a glTF model.
//!
//! What you will see: a whale that swims over the sea bed, or any model you name, in one of its clips.
//!
//! What you will learn: how a pose becomes joint matrices, how a vertex shader blends them, and what to do with normals.
//! A joint matrix takes a vertex from where it was bound to where its joint is now:
//!
//! ```text
//! joint_matrix[j] = world(joint j) * inverse_bind_matrix[j]
//! position        = (sum over the vertex's influences of weight * joint_matrix[joint]) * bound position
//! ```
//!
//! Per frame: `update` poses the nodes, `record` writes one matrix a joint to a storage buffer and draws every primitive;
//! `shaders/skinning/skinned.vert` does the rest. What a file holds besides is drawn by the matrix of its node.

use std::collections::{HashMap, HashSet};
use std::mem::offset_of;
use std::process::ExitCode;
use std::sync::Arc;

use ashwright::anyhow::{Context as _, Result};
use ashwright::ash::vk;
use ashwright::camera::View;
use ashwright::clap::{self, Args, ValueEnum};
use ashwright::glam::{Mat4, Vec3, Vec4};
use ashwright::gpu::{Buffer, DescriptorSetLayout, DescriptorSets, Device, FRAMES_IN_FLIGHT, Feature, Image, Owned};
use ashwright::model::{Draw, Model};
use ashwright::scene::{AlphaMode, Pose, Scene, TextureSlot, Topology};
use ashwright::stage::{Line, Lines, Look, Stage};
use ashwright::{Context, Frame, Sample, Step, Target, egui};
use bytemuck::{Pod, Zeroable};

/// Towards the light, world space.
const LIGHT_DIRECTION: Vec3 = Vec3::new(-1.0, 3.0, 5.0);

/// Deep water over sand.
const LOOK: Look = Look {
    zenith: Vec3::new(0.003, 0.034, 0.110),
    horizon: Vec3::new(0.110, 0.400, 0.500),
    ground: Vec3::new(0.420, 0.420, 0.310),
};

/// Bones from their joint to the next one below.
const BONE_COLORS: [Vec3; 2] = [Vec3::new(1.0, 0.85, 0.25), Vec3::new(1.0, 0.18, 0.04)];

fn main() -> ExitCode {
    ashwright::run::<Skinning>(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_DESCRIPTION"))
}

/// What the sample can be told.
#[derive(Debug, Clone, Args)]
#[group(skip)]
struct Parameters {
    /// What is drawn as colour: light, world-space normals, the first three weights, or the first three joints
    #[arg(long, value_enum, default_value_t)]
    view: Shown,
    /// Draw the skeleton over the model
    #[arg(long)]
    skeleton: bool,
    /// Draw triangles as lines
    #[arg(long)]
    wireframe: bool,
}

/// In the order of the constants in `shaders/skinning/frame.glsl`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ValueEnum)]
enum Shown {
    #[default]
    Shaded,
    Normals,
    Weights,
    Joints,
}

/// `Frame` in `shaders/skinning/frame.glsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct FrameUniforms {
    view_projection: Mat4,
    light_direction: Vec4,
    joint_count: u32,
    /// A uniform block's size is a multiple of 16 bytes.
    padding: [u32; 3],
}

/// `Draw` in `shaders/skinning/frame.glsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct DrawConstants {
    world: Mat4,
    base_color_factor: Vec4,
    alpha_cutoff: f32,
    first_joint: u32,
    padding: [u32; 2],
}

struct Skinning {
    device: Arc<Device>,
    scene: Arc<Scene>,
    pose: Pose,
    model: Model,
    /// Where each skin's matrices begin in the storage buffer.
    first_joints: Vec<u32>,
    /// Pairs of nodes: a joint and the nearest joint above it.
    bones: Vec<(usize, usize)>,

    render_pass: Owned<vk::RenderPass>,
    attachments: Attachments,
    pipeline_layout: Owned<vk::PipelineLayout>,
    samples: vk::SampleCountFlags,
    /// Made when first drawn with: few views are ever looked at, and software drivers take long to compile.
    pipelines: HashMap<Variant, HashMap<Kind, Owned<vk::Pipeline>>>,
    /// Written by the CPU every frame, so there is one of each for every frame in flight.
    uniforms: Vec<Buffer>,
    joint_matrices: Vec<Buffer>,
    frame_sets: DescriptorSets,
    /// One for each material of the scene.
    material_sets: DescriptorSets,
    // The sets name the layouts they were made of.
    _set_layouts: [DescriptorSetLayout; 2],

    stage: Option<Stage>,
    skeleton: Option<Lines>,
    bone_lines: Vec<Line>,
    clear_color: vk::ClearValue,
}

impl Sample for Skinning {
    type Parameters = Parameters;

    const MODEL: Option<&'static str> = Some("models/whale.glb");
    const VIEW: Option<View> =
        Some(View { eye: Vec3::new(-5.1, 2.3, 4.6), target: Vec3::new(-0.12, 1.78, -0.1), fov: 35.0 });
    const OPTIONAL_FEATURES: &'static [Feature] = &[Feature::FILL_MODE_NON_SOLID, Feature::SAMPLER_ANISOTROPY];

    fn new(context: &Context, _: &Parameters) -> Result<Self> {
        let device = &context.device;
        let scene = context.scene.clone();
        let model = Model::new(device, &scene, &context.images)?;
        let bones = bones(&scene);
        let (first_joints, joint_count) = joint_places(&scene);

        let render_pass = create_render_pass(context)?;
        let attachments = Attachments::new(device, *render_pass, &context.target)?;
        let set_layouts = create_set_layouts(device)?;
        let pipeline_layout = create_pipeline_layout(device, &set_layouts)?;

        let per_frame = |name, size: usize, usage| -> Result<Vec<Buffer>> {
            (0..FRAMES_IN_FLIGHT).map(|_| Buffer::mapped(device, name, size as u64, usage)).collect()
        };
        let uniforms = per_frame("frame uniforms", size_of::<FrameUniforms>(), vk::BufferUsageFlags::UNIFORM_BUFFER)?;
        let joint_matrices =
            per_frame("joint matrices", joint_count.max(1) * size_of::<Mat4>(), vk::BufferUsageFlags::STORAGE_BUFFER)?;
        let frame_sets = DescriptorSets::new(device, "frame", &set_layouts[0], FRAMES_IN_FLIGHT)?;
        let material_sets = DescriptorSets::new(device, "material", &set_layouts[1], scene.materials.len())?;
        write_frame_sets(device, &frame_sets, &uniforms, &joint_matrices);
        write_material_sets(device, &material_sets, &scene, &model);

        let samples = context.target.samples;
        let stage = Stage::new(device, *render_pass, samples, &context.setting, LOOK)?;
        Ok(Self {
            device: device.clone(),
            pose: Pose::new(&scene),
            scene,
            model,
            first_joints,
            render_pass,
            attachments,
            pipeline_layout,
            samples,
            pipelines: HashMap::new(),
            uniforms,
            joint_matrices,
            frame_sets,
            material_sets,
            _set_layouts: set_layouts,
            stage,
            skeleton: None,
            bone_lines: Vec::with_capacity(bones.len()),
            bones,
            clear_color: context.clear_color(),
        })
    }

    fn update(&mut self, step: &Step<'_>, _: &Parameters) -> Result<()> {
        self.pose.evaluate(&self.scene, step.clips);
        Ok(())
    }

    fn ui(&mut self, parameters: &mut Parameters, ui: &mut egui::Ui) {
        ui.horizontal_wrapped(|ui| {
            for &shown in Shown::value_variants() {
                ui.selectable_value(&mut parameters.view, shown, format!("{shown:?}"));
            }
        });
        ui.checkbox(&mut parameters.skeleton, "skeleton");
        ui.checkbox(&mut parameters.wireframe, "wireframe");
    }

    fn record(&mut self, frame: &Frame<'_>, parameters: &Parameters) -> Result<()> {
        let variant = Variant { view: parameters.view, wireframe: frame.wireframe != parameters.wireframe };
        if !self.pipelines.contains_key(&variant) {
            self.pipelines.insert(variant, self.create_pipelines(variant)?);
        }
        self.write_uniforms(frame);
        self.write_joint_matrices(frame);

        let (device, commands) = (frame.device, frame.commands);
        let clears =
            [self.clear_color, vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 } }];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(*self.render_pass)
            .framebuffer(*self.attachments.framebuffers[frame.image])
            .render_area(frame.extent.into())
            .clear_values(&clears);
        // SAFETY: the command buffer is being recorded; the framebuffer fits the render pass and lives until it is resized.
        unsafe { device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE) };
        frame.set_full_viewport();
        self.record_model(frame, variant);
        if let Some(stage) = &self.stage {
            stage.draw(frame);
        }
        if parameters.skeleton {
            self.record_skeleton(frame)?;
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

impl Skinning {
    fn write_uniforms(&mut self, frame: &Frame<'_>) {
        self.uniforms[frame.index].write(
            0,
            &[FrameUniforms {
                view_projection: frame.camera.view_projection(),
                light_direction: LIGHT_DIRECTION.normalize().extend(0.0),
                joint_count: self.scene.skins.iter().map(|skin| skin.joints.len()).max().unwrap_or(0) as u32,
                padding: [0; 3],
            }],
        );
    }

    /// world(joint) * inverse bind matrix, of all joints of all skins.
    fn write_joint_matrices(&mut self, frame: &Frame<'_>) {
        let buffer = &mut self.joint_matrices[frame.index];
        for (skin, &first) in self.scene.skins.iter().zip(&self.first_joints) {
            for (place, (&joint, inverse_bind_matrix)) in
                (first as usize..).zip(skin.joints.iter().zip(&skin.inverse_bind_matrices))
            {
                // The world matrix is this pose's all the way up, or the joints would trail behind their parents.
                let joint_matrix = self.pose.world(joint) * *inverse_bind_matrix;
                buffer.write(place * size_of::<Mat4>(), &[joint_matrix]);
            }
        }
    }

    fn record_model(&self, frame: &Frame<'_>, variant: Variant) {
        let (device, commands) = (frame.device, frame.commands);
        let _pass = frame.pass(c"model");
        let (model, pipelines) = (&self.model, &self.pipelines[&variant]);
        // Where no vertex has more than four influences the second pair of streams is not read; any buffer will do.
        let joints_1 = model.joints_1.as_ref().unwrap_or(&model.joints_0);
        let weights_1 = model.weights_1.as_ref().unwrap_or(&model.weights_0);
        let joints_and_weights = [&model.joints_0, &model.weights_0, joints_1, weights_1].map(|buffer| buffer.handle());
        let graphics = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: inside the render pass that the pipelines were made for. Sets, buffers and pipelines live until the GPU
        // is done with them; indices are below the vertex count, which the loader has checked.
        unsafe {
            device.cmd_bind_index_buffer(commands, model.indices.handle(), 0, model.index_type);
            let streams = [model.positions.handle(), model.normals.handle()];
            device.cmd_bind_vertex_buffers(commands, 0, &streams, &[0; 2]);
            device.cmd_bind_vertex_buffers(commands, 3, &joints_and_weights, &[0; 4]);
            let frame_set = [self.frame_sets[frame.index]];
            device.cmd_bind_descriptor_sets(commands, graphics, *self.pipeline_layout, 0, &frame_set, &[]);

            let mut bound = vk::Pipeline::null();
            for draw in &model.draws {
                let material = &self.scene.materials[draw.material];
                let pipeline = *pipelines[&Kind::of(&self.scene, draw)];
                if pipeline != bound {
                    device.cmd_bind_pipeline(commands, graphics, pipeline);
                    bound = pipeline;
                }
                let material_set = [self.material_sets[draw.material]];
                device.cmd_bind_descriptor_sets(commands, graphics, *self.pipeline_layout, 1, &material_set, &[]);
                // The material says which of the two sets of texture coordinates its texture is looked up by.
                let tex_coord = material.texture(TextureSlot::BaseColor).map_or(0, |info| info.tex_coord);
                device.cmd_bind_vertex_buffers(commands, 2, &[model.tex_coords[tex_coord].handle()], &[0]);

                let world = draw.world(&self.pose);
                let constants = DrawConstants {
                    world,
                    base_color_factor: material.base_color_factor,
                    alpha_cutoff: match material.alpha_mode {
                        AlphaMode::Mask { cutoff } => cutoff,
                        AlphaMode::Opaque | AlphaMode::Blend => 0.0,
                    },
                    first_joint: self.scene.nodes[draw.node].skin.map_or(0, |skin| self.first_joints[skin]),
                    padding: [0; 2],
                };
                let bytes = bytemuck::bytes_of(&constants);
                device.cmd_push_constants(commands, *self.pipeline_layout, DRAW_STAGES, 0, bytes);

                let cull = if material.double_sided { vk::CullModeFlags::NONE } else { vk::CullModeFlags::BACK };
                device.cmd_set_cull_mode(commands, cull);
                // A mirrored node turns its triangles around.
                let mirrored = world.determinant() < 0.0;
                let front = if mirrored { vk::FrontFace::CLOCKWISE } else { vk::FrontFace::COUNTER_CLOCKWISE };
                device.cmd_set_front_face(commands, front);

                device.cmd_draw_indexed(commands, draw.index_count, 1, draw.first_index, draw.vertex_offset, 0);
            }
        }
    }

    fn record_skeleton(&mut self, frame: &Frame<'_>) -> Result<()> {
        let at = |node| self.pose.world(node).w_axis.truncate();
        self.bone_lines.clear();
        self.bone_lines.extend(self.bones.iter().map(|&(joint, above)| Line {
            from: at(above),
            from_color: BONE_COLORS[0],
            to: at(joint),
            to_color: BONE_COLORS[1],
        }));
        let skeleton = match &mut self.skeleton {
            Some(skeleton) => skeleton,
            none => none.insert(Lines::new(&self.device, *self.render_pass, self.samples, self.bones.len())?),
        };
        skeleton.draw(frame, &self.bone_lines);
        Ok(())
    }
}

/// Where each skin begins in the storage buffer, and how many matrices there are.
fn joint_places(scene: &Scene) -> (Vec<u32>, usize) {
    let mut count = 0;
    let first_joints = scene
        .skins
        .iter()
        .map(|skin| {
            let first = count as u32;
            count += skin.joints.len();
            first
        })
        .collect();
    (first_joints, count)
}

/// Each joint with the nearest joint above it; nodes that are not joints may stand in between.
fn bones(scene: &Scene) -> Vec<(usize, usize)> {
    let mut bones = Vec::new();
    for skin in &scene.skins {
        for &joint in &skin.joints {
            let mut above = std::iter::successors(scene.nodes[joint].parent, |&node| scene.nodes[node].parent);
            if let Some(parent) = above.find(|node| skin.joints.contains(node)) {
                bones.push((joint, parent));
            }
        }
    }
    bones
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
    Ok(context.device.own(render_pass, "skinning"))
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
            Ok(device.own(framebuffer, "skinning"))
        };
        let framebuffers = target.views.iter().map(create).collect::<Result<_>>()?;
        Ok(Self { framebuffers, _depth: depth })
    }
}

/// Set 0 changes with the frame, set 1 with the material.
fn create_set_layouts(device: &Arc<Device>) -> Result<[DescriptorSetLayout; 2]> {
    let binding = |binding: u32, ty, stages| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(binding)
            .descriptor_type(ty)
            .descriptor_count(1)
            .stage_flags(stages)
    };
    let frame = DescriptorSetLayout::new(
        device,
        "frame",
        &[
            binding(0, vk::DescriptorType::UNIFORM_BUFFER, DRAW_STAGES),
            binding(1, vk::DescriptorType::STORAGE_BUFFER, vk::ShaderStageFlags::VERTEX),
        ],
    )?;
    let material = DescriptorSetLayout::new(
        device,
        "material",
        &[binding(0, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::FRAGMENT)],
    )?;
    Ok([frame, material])
}

/// The stages that read the push constants and the frame's uniforms.
const DRAW_STAGES: vk::ShaderStageFlags =
    vk::ShaderStageFlags::from_raw(vk::ShaderStageFlags::VERTEX.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw());

fn create_pipeline_layout(
    device: &Arc<Device>,
    set_layouts: &[DescriptorSetLayout; 2],
) -> Result<Owned<vk::PipelineLayout>> {
    let set_layouts = [*set_layouts[0], *set_layouts[1]];
    let push_constants = [vk::PushConstantRange::default()
        .stage_flags(DRAW_STAGES)
        .size(offset_of!(DrawConstants, padding) as u32 + size_of::<[u32; 2]>() as u32)];
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts).push_constant_ranges(&push_constants);
    // SAFETY: the set layouts are alive; the constants are within the 128 bytes that every GPU has.
    let layout = unsafe { device.create_pipeline_layout(&info, None) }.context("vkCreatePipelineLayout failed")?;
    Ok(device.own(layout, "skinning"))
}

fn write_frame_sets(device: &Device, sets: &DescriptorSets, uniforms: &[Buffer], joint_matrices: &[Buffer]) {
    for (set, (uniforms, joint_matrices)) in sets.iter().zip(uniforms.iter().zip(joint_matrices)) {
        let whole =
            |buffer: &Buffer| [vk::DescriptorBufferInfo::default().buffer(buffer.handle()).range(vk::WHOLE_SIZE)];
        let (uniforms, joint_matrices) = (whole(uniforms), whole(joint_matrices));
        let write = vk::WriteDescriptorSet::default().dst_set(set);
        let writes = [
            write.dst_binding(0).descriptor_type(vk::DescriptorType::UNIFORM_BUFFER).buffer_info(&uniforms),
            write.dst_binding(1).descriptor_type(vk::DescriptorType::STORAGE_BUFFER).buffer_info(&joint_matrices),
        ];
        // SAFETY: sets and buffers are alive, and no command buffer uses the sets yet.
        unsafe { device.update_descriptor_sets(&writes, &[]) };
    }
}

fn write_material_sets(device: &Device, sets: &DescriptorSets, scene: &Scene, model: &Model) {
    for (set, material) in sets.iter().zip(&scene.materials) {
        let texture = [model.texture(material, TextureSlot::BaseColor)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(0)
            .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
            .image_info(&texture);
        // SAFETY: sets, views and samplers are alive, and no command buffer uses the sets yet.
        unsafe { device.update_descriptor_sets(&[write], &[]) };
    }
}

/// What is to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Variant {
    view: Shown,
    wireframe: bool,
}

/// What a draw asks of its pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Kind {
    skinned: bool,
    topology: Topology,
    /// Whether alpha cuts holes.
    masked: bool,
}

impl Kind {
    fn of(scene: &Scene, draw: &Draw) -> Self {
        let masked = matches!(scene.materials[draw.material].alpha_mode, AlphaMode::Mask { .. });
        Self { skinned: draw.skinned, topology: draw.topology, masked }
    }
}

/// The constants of the shaders, by the number that `shaders/skinning` gives each.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Constants {
    influences: u32,
    view: u32,
    masked: vk::Bool32,
}

impl Skinning {
    /// The pipelines of every kind that is drawn.
    fn create_pipelines(&self, variant: Variant) -> Result<HashMap<Kind, Owned<vk::Pipeline>>> {
        let kinds: HashSet<_> = self.model.draws.iter().map(|draw| Kind::of(&self.scene, draw)).collect();
        kinds.into_iter().map(|kind| Ok((kind, self.create_pipeline(variant, kind)?))).collect()
    }

    fn create_pipeline(&self, variant: Variant, kind: Kind) -> Result<Owned<vk::Pipeline>> {
        let device = &self.device;
        let vertex = match kind.skinned {
            true => device.shader_module(shaders::spirv!("skinning/skinned.vert"), "skinned.vert")?,
            false => device.shader_module(shaders::spirv!("skinning/rigid.vert"), "rigid.vert")?,
        };
        let fragment = device.shader_module(shaders::spirv!("skinning/model.frag"), "model.frag")?;
        let constants = Constants {
            influences: if self.model.joints_1.is_some() { 8 } else { 4 },
            view: variant.view as u32,
            masked: kind.masked.into(),
        };
        let entries = [0, 1, 2].map(|constant_id| vk::SpecializationMapEntry {
            constant_id,
            offset: constant_id * size_of::<u32>() as u32,
            size: size_of::<u32>(),
        });
        let specialization =
            vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::bytes_of(&constants));
        let stages = [(vk::ShaderStageFlags::VERTEX, *vertex), (vk::ShaderStageFlags::FRAGMENT, *fragment)].map(
            |(stage, module)| {
                vk::PipelineShaderStageCreateInfo::default()
                    .stage(stage)
                    .module(module)
                    .name(c"main")
                    .specialization_info(&specialization)
            },
        );

        // Each attribute is a stream of its own, at the binding of the same number as its location in the shader.
        let streams = [
            (vk::Format::R32G32B32_SFLOAT, size_of::<[f32; 3]>()),  // position
            (vk::Format::R32G32B32_SFLOAT, size_of::<[f32; 3]>()),  // normal
            (vk::Format::R32G32_SFLOAT, size_of::<[f32; 2]>()),     // texture coordinates
            (vk::Format::R16G16B16A16_UINT, size_of::<[u16; 4]>()), // joints of influences 0 to 3
            (vk::Format::R32G32B32A32_SFLOAT, size_of::<[f32; 4]>()), // their weights
            (vk::Format::R16G16B16A16_UINT, size_of::<[u16; 4]>()), // joints of influences 4 to 7
            (vk::Format::R32G32B32A32_SFLOAT, size_of::<[f32; 4]>()), // their weights
        ];
        let streams = if kind.skinned { &streams[..] } else { &streams[..3] };
        let bindings: Vec<_> = (0..)
            .zip(streams)
            .map(|(binding, &(_, stride))| {
                vk::VertexInputBindingDescription::default().binding(binding).stride(stride as u32)
            })
            .collect();
        let attributes: Vec<_> = (0..)
            .zip(streams)
            .map(|(binding, &(format, _))| {
                vk::VertexInputAttributeDescription::default().location(binding).binding(binding).format(format)
            })
            .collect();
        let vertex_input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(&attributes);
        let input_assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(match kind.topology {
            Topology::Triangles => vk::PrimitiveTopology::TRIANGLE_LIST,
            Topology::Lines => vk::PrimitiveTopology::LINE_LIST,
            Topology::Points => vk::PrimitiveTopology::POINT_LIST,
        });

        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        // Materials and mirrored nodes decide about faces; as dynamic state they need no pipelines of their own.
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&[
            vk::DynamicState::VIEWPORT,
            vk::DynamicState::SCISSOR,
            vk::DynamicState::CULL_MODE,
            vk::DynamicState::FRONT_FACE,
        ]);
        let lines = variant.wireframe && device.has(Feature::FILL_MODE_NON_SOLID);
        let polygon_mode = if lines { vk::PolygonMode::LINE } else { vk::PolygonMode::FILL };
        let rasterization =
            vk::PipelineRasterizationStateCreateInfo::default().polygon_mode(polygon_mode).line_width(1.0);
        let multisample = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(self.samples);
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
            .layout(*self.pipeline_layout)
            .render_pass(*self.render_pass);
        // SAFETY: the create-info is valid and all that it points to is alive.
        let pipelines = unsafe { device.create_graphics_pipelines(device.pipeline_cache(), &[info], None) };
        let pipeline = pipelines.map_err(|(_, error)| error).context("vkCreateGraphicsPipelines failed")?[0];
        Ok(device.own(pipeline, "skinning"))
    }
}
