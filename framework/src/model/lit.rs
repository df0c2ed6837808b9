//! A model in the light of a sun and of all that is around it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use ash::vk;
use bytemuck::{Pod, Zeroable};
use glam::{Affine2, Mat4, Vec3, Vec4};

use super::{Deformation, Draw, Model};
use crate::environment::EnvironmentMaps;
use crate::frame::Frame;
use crate::gpu::{
    Buffer, DescriptorSetLayout, DescriptorSets, Device, FRAMES_IN_FLIGHT, GraphicsPipeline, Owned, Upload,
};
use crate::scene::{AlphaMode, Image, Material, Pose, Scene, TextureSlot, Topology};
use crate::shaders;

/// Draws a model in the light of an [environment](crate::environment) and of its sun, with the sky around it: for samples
/// that are about something else and need light of any brightness. What it writes is linear and has no upper bound.
///
/// ```text
/// update    lit_model.evaluate(..)
/// record    lit_model.prepare(frame), before any render pass
///           lit_model.draw(frame), in the render pass that it was made for
/// ```
///
/// Materials are those of glTF: metallic-roughness, all five textures, alpha modes, vertex colours.
pub struct LitModel {
    scene: Arc<Scene>,
    model: Model,
    deformation: Deformation,
    pose: Pose,
    /// Indices into the model's draws: opaque ones, then masked ones.
    solid: Vec<usize>,
    /// What blends, with its depth in the picture, which it is sorted by every frame.
    blended: Vec<(f32, usize)>,

    environment: EnvironmentMaps,
    pipeline_layout: Owned<vk::PipelineLayout>,
    pipelines: HashMap<Kind, Owned<vk::Pipeline>>,
    sky: Option<Owned<vk::Pipeline>>,
    /// Written by the CPU every frame, so there is one for every frame in flight.
    uniforms: Vec<Buffer>,
    frame_sets: DescriptorSets,
    /// One for each material of the scene.
    material_sets: DescriptorSets,
    // The sets name the layouts that they were made of, and this buffer.
    _set_layouts: [DescriptorSetLayout; 2],
    _materials: Buffer,
}

/// `Frame` in `shaders/model/lit.glsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct FrameUniforms {
    view_projection: Mat4,
    clip_to_world: Mat4,
    eye: Vec4,
    to_sun: Vec4,
    sun: Vec4,
    irradiance: [Vec4; 9],
}

/// `Slot` in `shaders/model/lit.glsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SlotRecord {
    matrix: Vec4,
    translation_and_set: Vec4,
}

/// `Material` in `shaders/model/lit.glsl`. It lies in a buffer of all materials, where uniforms may begin at each multiple of
/// 256 bytes on every GPU.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct MaterialUniforms {
    base_color_factor: Vec4,
    emissive_factor: Vec4,
    factors: Vec4,
    slots: [SlotRecord; TextureSlot::COUNT],
    padding: [Vec4; 3],
}

const _: () = assert!(size_of::<MaterialUniforms>().is_multiple_of(256));

/// How alpha is used, in the order of drawing; the numbers are those of `ALPHA_MODE` in `lit.frag`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Alpha {
    Opaque,
    Mask,
    Blend,
}

/// What a pipeline is made for, most of it as constants of the same names in `lit.frag`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Kind {
    alpha: Alpha,
    topology: Topology,
    unlit: bool,
    /// A bit for each slot that has one.
    textures: u32,
    /// Whether any is looked up elsewhere than at texture coordinates 0.
    transformed: bool,
    /// Whether occlusion lies in the texture of metalness and roughness, at the same place.
    shared_occlusion: bool,
}

impl Kind {
    fn of(scene: &Scene, draw: &Draw) -> Self {
        let material = &scene.materials[draw.material];
        let alpha = match material.alpha_mode {
            AlphaMode::Opaque => Alpha::Opaque,
            AlphaMode::Mask { .. } => Alpha::Mask,
            AlphaMode::Blend => Alpha::Blend,
        };
        let textures = TextureSlot::ALL.map(|slot| material.texture(slot));
        let bit = |(slot, texture): (usize, &Option<_>)| u32::from(texture.is_some()) << slot;
        Self {
            alpha,
            topology: draw.topology,
            unlit: material.unlit,
            textures: textures.iter().enumerate().map(bit).sum(),
            transformed: textures
                .iter()
                .flatten()
                .any(|info| info.tex_coord != 0 || info.transform != Affine2::IDENTITY),
            shared_occlusion: material.texture(TextureSlot::Occlusion)
                == material.texture(TextureSlot::MetallicRoughness),
        }
    }
}

impl LitModel {
    /// Makes what it takes to draw the scene in subpass 0 of a render pass with one colour attachment and depth, both of
    /// `samples` samples. `sky`: whether the environment is to be seen where the model is not.
    ///
    /// # Errors
    ///
    /// Out of memory, or the driver's.
    pub fn new(
        device: &Arc<Device>,
        render_pass: vk::RenderPass,
        samples: vk::SampleCountFlags,
        scene: &Arc<Scene>,
        images: &[Image],
        environment: EnvironmentMaps,
        sky: bool,
    ) -> Result<Self> {
        let model = Model::new(device, scene, images)?;
        let deformation = Deformation::new(device, scene, &model)?;
        let set_layouts = create_set_layouts(device)?;
        let pipeline_layout = create_pipeline_layout(device, &set_layouts)?;
        let size = size_of::<FrameUniforms>() as u64;
        let uniforms = (0..FRAMES_IN_FLIGHT)
            .map(|_| Buffer::mapped(device, "lit model", size, vk::BufferUsageFlags::UNIFORM_BUFFER))
            .collect::<Result<Vec<_>>>()?;
        let materials = upload_materials(device, scene)?;
        let frame_sets = DescriptorSets::new(device, "lit model", &set_layouts[0], FRAMES_IN_FLIGHT)?;
        let material_sets = DescriptorSets::new(device, "material", &set_layouts[1], scene.materials.len())?;
        write_frame_sets(device, &frame_sets, &uniforms, &environment);
        write_material_sets(device, &material_sets, &materials, scene, &model);

        let common = GraphicsPipeline { samples, layout: *pipeline_layout, render_pass, ..Default::default() };
        let mut pipelines = HashMap::new();
        for kind in model.draws.iter().map(|draw| Kind::of(scene, draw)) {
            if let Entry::Vacant(entry) = pipelines.entry(kind) {
                entry.insert(create_pipeline(device, common, kind, model.tangents.is_some())?);
            }
        }
        let alpha = |draw: &usize| Kind::of(scene, &model.draws[*draw]).alpha;
        let (blended, mut solid): (Vec<usize>, Vec<usize>) =
            (0..model.draws.len()).partition(|draw| alpha(draw) == Alpha::Blend);
        solid.sort_by_key(alpha);
        Ok(Self {
            deformation,
            pose: Pose::new(scene),
            solid,
            blended: blended.into_iter().map(|draw| (0.0, draw)).collect(),
            environment,
            pipelines,
            sky: if sky { Some(create_sky_pipeline(device, common)?) } else { None },
            pipeline_layout,
            uniforms,
            frame_sets,
            material_sets,
            _set_layouts: set_layouts,
            _materials: materials,
            model,
            scene: scene.clone(),
        })
    }

    /// Puts the model where clips have it, each an index into [`Scene::animations`] with its time in seconds.
    pub fn evaluate(&mut self, clips: &[(usize, f32)]) {
        self.pose.evaluate(&self.scene, clips);
    }

    /// What comes before the render pass: writes the frame's data, and records the deformation of what bones and morph
    /// targets move.
    pub fn prepare(&mut self, frame: &Frame<'_>) {
        let view_projection = frame.camera.view_projection();
        let EnvironmentMaps { sun, irradiance, roughest_level, .. } = self.environment;
        self.uniforms[frame.index].write(
            0,
            &[FrameUniforms {
                view_projection,
                clip_to_world: view_projection.inverse(),
                eye: frame.camera.eye.extend(roughest_level),
                to_sun: sun.map_or(Vec3::Y, |sun| sun.direction).extend(0.0),
                sun: sun.map_or(Vec3::ZERO, |sun| sun.irradiance).extend(0.0),
                irradiance,
            }],
        );
        // The farthest first. View space looks along -Z, so that is the least z.
        for (depth, draw) in &mut self.blended {
            let center = self.model.draws[*draw].center(&self.scene, &self.pose);
            *depth = frame.camera.view.transform_point3(center).z;
        }
        self.blended.sort_unstable_by(|(a, first), (b, second)| a.total_cmp(b).then(first.cmp(second)));
        self.deformation.record(frame, &self.scene, &self.pose);
    }

    /// Draws what is solid, the sky behind it, and what blends with both; the viewport is to be set. Changes pipeline,
    /// sets, buffers and push constants.
    pub fn draw(&self, frame: &Frame<'_>) {
        {
            let _pass = frame.pass(c"solid");
            self.draw_all(frame, self.solid.iter().copied());
        }
        if let Some(sky) = &self.sky {
            let _pass = frame.pass(c"sky");
            let set = [self.frame_sets[frame.index]];
            let (layout, graphics) = (*self.pipeline_layout, vk::PipelineBindPoint::GRAPHICS);
            // SAFETY: inside the render pass that the pipeline was made for; the set was made for the pipeline's layout.
            unsafe {
                frame.device.cmd_bind_pipeline(frame.commands, graphics, **sky);
                frame.device.cmd_bind_descriptor_sets(frame.commands, graphics, layout, 0, &set, &[]);
                frame.device.cmd_draw(frame.commands, 3, 1, 0, 0);
            }
        }
        if !self.blended.is_empty() {
            let _pass = frame.pass(c"blended");
            self.draw_all(frame, self.blended.iter().map(|&(_, draw)| draw));
        }
    }

    fn draw_all(&self, frame: &Frame<'_>, draws: impl Iterator<Item = usize>) {
        let (device, commands, model) = (frame.device, frame.commands, &self.model);
        let (layout, graphics) = (*self.pipeline_layout, vk::PipelineBindPoint::GRAPHICS);
        let (rest, deformed) = (model.shape_streams(), self.deformation.streams(frame.index));
        // SAFETY: inside the render pass that the pipelines were made for. Sets, buffers and pipelines live until the GPU
        // is done with them; indices are below the vertex count, which the loader has checked.
        unsafe {
            device.cmd_bind_index_buffer(commands, model.indices.handle(), 0, model.index_type);
            let fixed = [&model.tex_coords[0], &model.tex_coords[1], &model.colors].map(|stream| stream.handle());
            device.cmd_bind_vertex_buffers(commands, 2, &fixed, &[0; 3]);
            device.cmd_bind_descriptor_sets(commands, graphics, layout, 0, &[self.frame_sets[frame.index]], &[]);
            for draw in draws.map(|draw| &model.draws[draw]) {
                let kind = Kind::of(&self.scene, draw);
                device.cmd_bind_pipeline(commands, graphics, *self.pipelines[&kind]);
                let shape = if draw.deformed { deformed } else { rest };
                device.cmd_bind_vertex_buffers(commands, 0, &[shape.positions, shape.normals], &[0; 2]);
                if let Some(tangents) = shape.tangents {
                    device.cmd_bind_vertex_buffers(commands, 5, &[tangents], &[0]);
                }
                let material_set = [self.material_sets[draw.material]];
                device.cmd_bind_descriptor_sets(commands, graphics, layout, 1, &material_set, &[]);
                let world = draw.world(&self.pose);
                let vertex = vk::ShaderStageFlags::VERTEX;
                device.cmd_push_constants(commands, layout, vertex, 0, bytemuck::bytes_of(&world));
                // A mirrored node turns its triangles around.
                let mirrored = world.determinant() < 0.0;
                let front = if mirrored { vk::FrontFace::CLOCKWISE } else { vk::FrontFace::COUNTER_CLOCKWISE };
                device.cmd_set_front_face(commands, front);
                // Of a glass body that has two sides the far one is drawn first; lines and points have one side only.
                let two_sided = self.scene.materials[draw.material].double_sided;
                let passes: &[vk::CullModeFlags] = match (two_sided, kind) {
                    (false, _) => &[vk::CullModeFlags::BACK],
                    (true, Kind { alpha: Alpha::Blend, topology: Topology::Triangles, .. }) => {
                        &[vk::CullModeFlags::FRONT, vk::CullModeFlags::BACK]
                    }
                    (true, _) => &[vk::CullModeFlags::NONE],
                };
                for &cull in passes {
                    device.cmd_set_cull_mode(commands, cull);
                    device.cmd_draw_indexed(commands, draw.index_count, 1, draw.first_index, draw.vertex_offset, 0);
                }
            }
        }
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
    let fragment = vk::ShaderStageFlags::FRAGMENT;
    let sampled = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
    let frame = DescriptorSetLayout::new(
        device,
        "lit model",
        &[
            binding(0, vk::DescriptorType::UNIFORM_BUFFER, vk::ShaderStageFlags::VERTEX | fragment),
            binding(1, sampled, fragment),
            binding(2, sampled, fragment),
        ],
    )?;
    let material = DescriptorSetLayout::new(
        device,
        "material",
        &[
            binding(0, vk::DescriptorType::UNIFORM_BUFFER, fragment),
            binding(1, sampled, fragment).descriptor_count(TextureSlot::COUNT as u32),
        ],
    )?;
    Ok([frame, material])
}

fn create_pipeline_layout(
    device: &Arc<Device>,
    set_layouts: &[DescriptorSetLayout; 2],
) -> Result<Owned<vk::PipelineLayout>> {
    let set_layouts = [*set_layouts[0], *set_layouts[1]];
    let push_constants =
        [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::VERTEX).size(size_of::<Mat4>() as u32)];
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts).push_constant_ranges(&push_constants);
    // SAFETY: the set layouts are alive; the constants are within the 128 bytes that every GPU has.
    let layout = unsafe { device.create_pipeline_layout(&info, None) }.context("vkCreatePipelineLayout failed")?;
    Ok(device.own(layout, "lit model"))
}

/// All materials, one after another.
fn upload_materials(device: &Arc<Device>, scene: &Scene) -> Result<Buffer> {
    let records: Vec<_> = scene.materials.iter().map(material_uniforms).collect();
    let mut upload = Upload::new(device)?;
    let buffer = upload.buffer("materials", vk::BufferUsageFlags::UNIFORM_BUFFER, &records)?;
    upload.finish()?;
    Ok(buffer)
}

fn material_uniforms(material: &Material) -> MaterialUniforms {
    let cutoff = match material.alpha_mode {
        AlphaMode::Mask { cutoff } => cutoff,
        AlphaMode::Opaque | AlphaMode::Blend => 0.0,
    };
    let slot = |slot: TextureSlot| {
        let info = material.texture(slot);
        let transform = info.map_or(Affine2::IDENTITY, |info| info.transform);
        let set = info.map_or(0, |info| info.tex_coord) as f32;
        SlotRecord {
            matrix: Vec4::from_array(transform.matrix2.to_cols_array()),
            translation_and_set: Vec4::new(transform.translation.x, transform.translation.y, set, 0.0),
        }
    };
    let Material { metallic_factor, roughness_factor, normal_scale, occlusion_strength, .. } = *material;
    MaterialUniforms {
        base_color_factor: material.base_color_factor,
        emissive_factor: material.emissive_factor.extend(cutoff),
        factors: Vec4::new(metallic_factor, roughness_factor, normal_scale, occlusion_strength),
        slots: TextureSlot::ALL.map(slot),
        padding: [Vec4::ZERO; 3],
    }
}

fn write_frame_sets(device: &Device, sets: &DescriptorSets, uniforms: &[Buffer], environment: &EnvironmentMaps) {
    let (cube, table) = ([environment.cube()], [environment.table()]);
    for (set, uniforms) in sets.iter().zip(uniforms) {
        let uniforms = [vk::DescriptorBufferInfo::default().buffer(uniforms.handle()).range(vk::WHOLE_SIZE)];
        let write = vk::WriteDescriptorSet::default().dst_set(set);
        let sampled = write.descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER);
        let writes = [
            write.dst_binding(0).descriptor_type(vk::DescriptorType::UNIFORM_BUFFER).buffer_info(&uniforms),
            sampled.dst_binding(1).image_info(&cube),
            sampled.dst_binding(2).image_info(&table),
        ];
        // SAFETY: sets, buffers, views and samplers are alive, and no command buffer uses the sets yet.
        unsafe { device.update_descriptor_sets(&writes, &[]) };
    }
}

fn write_material_sets(device: &Device, sets: &DescriptorSets, materials: &Buffer, scene: &Scene, model: &Model) {
    let size = size_of::<MaterialUniforms>() as u64;
    for (index, (set, material)) in (0..).zip(sets.iter().zip(&scene.materials)) {
        let offset = index * size;
        let uniforms = [vk::DescriptorBufferInfo::default().buffer(materials.handle()).offset(offset).range(size)];
        let textures = TextureSlot::ALL.map(|slot| model.texture(material, slot));
        let write = vk::WriteDescriptorSet::default().dst_set(set);
        let sampled = write.descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER);
        let writes = [
            write.dst_binding(0).descriptor_type(vk::DescriptorType::UNIFORM_BUFFER).buffer_info(&uniforms),
            sampled.dst_binding(1).image_info(&textures),
        ];
        // SAFETY: sets, buffer, views and samplers are alive, and no command buffer uses the sets yet.
        unsafe { device.update_descriptor_sets(&writes, &[]) };
    }
}

/// What draws one kind; `common` is what all pipelines of the model have in common.
fn create_pipeline(
    device: &Arc<Device>,
    common: GraphicsPipeline<'_>,
    kind: Kind,
    has_tangents: bool,
) -> Result<Owned<vk::Pipeline>> {
    // With several samples a pixel, the alpha of a mask says how many of them are covered: its cuts are smooth.
    let coverage = kind.alpha == Alpha::Mask && common.samples != vk::SampleCountFlags::TYPE_1;
    // TANGENTS in lit.vert; ALPHA_MODE, COVERAGE, UNLIT, TEXTURES, TRANSFORMED and SHARED_OCCLUSION in lit.frag.
    let vertex_constants = [u32::from(has_tangents)];
    let Kind { alpha, unlit, textures, transformed, shared_occlusion, .. } = kind;
    let [coverage_constant, unlit, transformed, shared_occlusion] =
        [coverage, unlit, transformed, shared_occlusion].map(u32::from);
    let fragment_constants = [alpha as u32, coverage_constant, unlit, textures, transformed, shared_occlusion];
    let entries = [0, 1, 2, 3, 4, 5].map(|id| vk::SpecializationMapEntry { constant_id: id, offset: 4 * id, size: 4 });
    let specialization = vk::SpecializationInfo::default();
    let of_vertex = specialization.map_entries(&entries[..1]).data(bytemuck::bytes_of(&vertex_constants));
    let of_fragment = specialization.map_entries(&entries).data(bytemuck::bytes_of(&fragment_constants));

    // Each attribute is a stream of its own, at the binding of the same number as its location in the shader. A model
    // without tangents has no stream of them: the shader, which then does not look at them, gets colours.
    let color = (vk::Format::R16G16B16A16_UNORM, size_of::<[u16; 4]>());
    let tangent = (vk::Format::R32G32B32A32_SFLOAT, size_of::<[f32; 4]>());
    let streams = [
        (0, (vk::Format::R32G32B32_SFLOAT, size_of::<[f32; 3]>())), // position
        (1, (vk::Format::R32G32B32_SFLOAT, size_of::<[f32; 3]>())), // normal
        (2, (vk::Format::R32G32_SFLOAT, size_of::<[f32; 2]>())),    // texture coordinates 0
        (3, (vk::Format::R32G32_SFLOAT, size_of::<[f32; 2]>())),    // texture coordinates 1
        (4, color),
        if has_tangents { (5, tangent) } else { (4, color) },
    ];
    let bindings = streams.map(|(binding, (_, stride))| {
        vk::VertexInputBindingDescription::default().binding(binding).stride(stride as u32)
    });
    let bindings = if has_tangents { &bindings[..] } else { &bindings[..5] };
    let attributes: Vec<_> = (0..)
        .zip(streams)
        .map(|(location, (binding, (format, _)))| {
            vk::VertexInputAttributeDescription::default().location(location).binding(binding).format(format)
        })
        .collect();
    let vertex_input = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(bindings)
        .vertex_attribute_descriptions(&attributes);
    let topology = match kind.topology {
        Topology::Triangles => vk::PrimitiveTopology::TRIANGLE_LIST,
        Topology::Lines => vk::PrimitiveTopology::LINE_LIST,
        Topology::Points => vk::PrimitiveTopology::POINT_LIST,
    };

    let pipeline = GraphicsPipeline {
        name: "lit model",
        shaders: [shaders::spirv!("model/lit.vert"), shaders::spirv!("model/lit.frag")],
        specializations: [of_vertex, of_fragment],
        vertex_input,
        topology,
        // What blends hides nothing behind it: it is tested against depth, and writes none.
        depth_write: alpha != Alpha::Blend,
        blend: alpha == Alpha::Blend,
        alpha_to_coverage: coverage,
        // Materials and mirrored nodes decide about faces; as dynamic state they need no pipelines of their own.
        dynamic_states: &[vk::DynamicState::CULL_MODE, vk::DynamicState::FRONT_FACE],
        ..common
    };
    pipeline.create(device)
}

/// What draws the environment, at the far plane.
fn create_sky_pipeline(device: &Arc<Device>, common: GraphicsPipeline<'_>) -> Result<Owned<vk::Pipeline>> {
    let shaders = [shaders::spirv!("model/sky.vert"), shaders::spirv!("model/sky.frag")];
    GraphicsPipeline { name: "sky", shaders, ..common }.create(device)
}
