//! Skins and morph targets, applied in a compute pass.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use ash::vk;
use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec3};

use super::Model;
use crate::frame::Frame;
use crate::gpu::{Buffer, DescriptorSetLayout, DescriptorSets, Device, FRAMES_IN_FLIGHT, Owned, Upload};
use crate::scene::{MorphTarget, Pose, Primitive, Scene};
use crate::shaders;

/// Puts the vertices of what deforms where a pose wants them, once a frame, before they are drawn: by morph targets, then by
/// up to eight joints. A model without anything that deforms costs nothing.
///
/// ```text
/// update    pose.evaluate(..)
/// record    deformation.record(frame, &scene, &pose), before any render pass
///           for each draw of model.draws: bind deformation.streams(frame.index) where draw.deformed, else
///           model.shape_streams(), and the further streams of the model; the world matrix is draw.world(&pose)
/// ```
///
/// The model must live as long.
pub struct Deformation {
    work: Option<Work>,
    rest: ShapeStreams,
}

/// The streams that a pose changes, to be bound as vertex buffers; the formats are those of [`Model`].
#[derive(Debug, Clone, Copy)]
pub struct ShapeStreams {
    /// As [`Model::positions`].
    pub positions: vk::Buffer,
    /// As [`Model::normals`].
    pub normals: vk::Buffer,
    /// As [`Model::tangents`].
    pub tangents: Option<vk::Buffer>,
}

/// `Group` in `shaders/model/deform.comp`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Group {
    draw: u32,
    first: u32,
}

/// The vertices of a workgroup: `local_size_x` in `shaders/model/deform.comp`.
const GROUP_SIZE: u32 = 64;

/// `Draw` in `shaders/model/deform.comp`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct DrawRecord {
    first_vertex: u32,
    vertex_count: u32,
    first_joint: u32,
    /// Where the terms of positions, normals and tangents begin, and where they end.
    terms: [u32; 4],
}

/// [`DrawRecord::first_joint`] of what is not skinned.
const NOT_SKINNED: u32 = u32::MAX;

/// `Term` in `shaders/model/deform.comp`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Term {
    first_delta: u32,
    weight: f32,
}

/// The storage buffers that the shader has.
const BINDINGS: usize = 15;

impl Deformation {
    /// Makes what the pass needs for a model of this scene.
    ///
    /// # Errors
    ///
    /// Out of memory, or more than the GPU allows in one buffer.
    pub fn new(device: &Arc<Device>, scene: &Scene, model: &Model) -> Result<Self> {
        let work = match model.deformed_vertices() {
            0 => None,
            vertices => Some(Work::new(device, scene, model, u64::from(vertices))?),
        };
        Ok(Self { work, rest: model.shape_streams() })
    }

    /// Writes joint matrices and weights of a pose for this frame and records the pass `deform`, outside of any render pass.
    /// What reads vertices afterwards sees its results.
    ///
    /// Scene and pose are those of the model. Changes the pipeline and the descriptor sets that are bound for compute.
    pub fn record(&mut self, frame: &Frame<'_>, scene: &Scene, pose: &Pose) {
        if let Some(work) = &mut self.work {
            work.write(frame.index, scene, pose);
            work.record(frame);
        }
    }

    /// The streams for those of [`Model::draws`] that are deformed, filled by the last [`Deformation::record`] of a frame of
    /// this index. They end after these draws, and begin as the other streams of the model do: vertex offsets are the same.
    pub fn streams(&self, frame_index: usize) -> ShapeStreams {
        self.work.as_ref().map_or(self.rest, |work| work.frames[frame_index].streams())
    }
}

/// What there is to do where something deforms.
struct Work {
    pipeline: Owned<vk::Pipeline>,
    pipeline_layout: Owned<vk::PipelineLayout>,
    sets: DescriptorSets,
    frames: Vec<FrameBuffers>,
    draws: Vec<DeformedDraw>,
    targets: Vec<Targets>,
    /// Where each skin's matrices begin.
    first_joints: Vec<u32>,
    /// Workgroups along x and y.
    groups: [u32; 2],
    // The sets name their layout and these buffers.
    _set_layout: DescriptorSetLayout,
    _static_buffers: [Buffer; 2],
}

/// A draw and the weights that move it.
struct DeformedDraw {
    node: usize,
    /// Index into [`Work::targets`], where it has morph targets.
    targets: Option<usize>,
    record: DrawRecord,
}

impl Work {
    fn new(device: &Arc<Device>, scene: &Scene, model: &Model, vertices: u64) -> Result<Self> {
        let (first_joints, joint_count) = joint_places(scene);
        let (draws, morphs) = deformed_draws(scene, model, &first_joints);
        let limit = device.physical().properties.limits.max_compute_work_group_count[0];
        let (groups, size) = groups(&draws, limit);
        let mut upload = Upload::new(device)?;
        let storage = vk::BufferUsageFlags::STORAGE_BUFFER;
        let static_buffers = [
            upload.buffer("deformation groups", storage, &groups)?,
            upload.buffer("morph deltas", storage, &morphs.deltas)?,
        ];
        upload.finish()?;

        let terms = draws.iter().filter_map(|draw| draw.targets).map(|targets| morphs.targets[targets].terms()).sum();
        let sizes = Sizes { draws: draws.len(), joints: joint_count, terms, vertices };
        let frames: Vec<_> =
            (0..FRAMES_IN_FLIGHT).map(|_| FrameBuffers::new(device, model, &sizes)).collect::<Result<_>>()?;
        let set_layout = create_set_layout(device)?;
        let sets = DescriptorSets::new(device, "deformation", &set_layout, FRAMES_IN_FLIGHT)?;
        for (set, frame) in sets.iter().zip(&frames) {
            write_set(device, set, &static_buffers, model, vertices, frame)?;
        }
        let pipeline_layout = create_pipeline_layout(device, &set_layout)?;
        Ok(Self {
            pipeline: create_pipeline(device, *pipeline_layout, model)?,
            pipeline_layout,
            sets,
            frames,
            draws,
            targets: morphs.targets,
            first_joints,
            groups: size,
            _set_layout: set_layout,
            _static_buffers: static_buffers,
        })
    }

    /// Writes what the pose says.
    fn write(&mut self, frame_index: usize, scene: &Scene, pose: &Pose) {
        let frame = &mut self.frames[frame_index];
        for (skin, &first) in scene.skins.iter().zip(&self.first_joints) {
            for (place, matrix) in (first as usize..).zip(pose.joint_matrices(skin)) {
                frame.joint_matrices.write(place * size_of::<Mat4>(), &[matrix]);
            }
        }
        let mut terms = 0;
        for (place, draw) in self.draws.iter_mut().enumerate() {
            draw.record.terms = [terms; 4];
            if let Some(targets) = draw.targets {
                for (attribute, first_deltas) in self.targets[targets].first_deltas.iter().enumerate() {
                    for (first_delta, &weight) in first_deltas.iter().zip(pose.weights(draw.node)) {
                        // A target without weight costs nothing.
                        if let Some(first_delta) = first_delta.filter(|_| weight != 0.0) {
                            frame.terms.write(terms as usize * size_of::<Term>(), &[Term { first_delta, weight }]);
                            terms += 1;
                        }
                    }
                    draw.record.terms[attribute + 1..].fill(terms);
                }
            }
            frame.draws.write(place * size_of::<DrawRecord>(), &[draw.record]);
        }
    }

    fn record(&self, frame: &Frame<'_>) {
        let (device, commands) = (frame.device, frame.commands);
        let _pass = frame.pass(c"deform");
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
            .src_access_mask(vk::AccessFlags2::SHADER_STORAGE_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::VERTEX_ATTRIBUTE_INPUT)
            .dst_access_mask(vk::AccessFlags2::VERTEX_ATTRIBUTE_READ)];
        let dependency = vk::DependencyInfo::default().memory_barriers(&barriers);
        let compute = vk::PipelineBindPoint::COMPUTE;
        let set = [self.sets[frame.index]];
        // SAFETY: the command buffer is being recorded, outside of any render pass. Pipeline, set and buffers live until the
        // GPU is done with them; every index in the buffers was made for them, and joints were checked by the loader.
        unsafe {
            device.cmd_bind_pipeline(commands, compute, *self.pipeline);
            device.cmd_bind_descriptor_sets(commands, compute, *self.pipeline_layout, 0, &set, &[]);
            device.cmd_dispatch(commands, self.groups[0], self.groups[1], 1);
            device.cmd_pipeline_barrier2(commands, &dependency);
        }
    }
}

/// What a frame in flight has for itself.
struct FrameBuffers {
    draws: Buffer,
    terms: Buffer,
    joint_matrices: Buffer,
    positions: Buffer,
    normals: Buffer,
    tangents: Option<Buffer>,
}

/// Of how many there has to be room.
struct Sizes {
    draws: usize,
    joints: usize,
    terms: usize,
    vertices: u64,
}

impl FrameBuffers {
    fn new(device: &Arc<Device>, model: &Model, sizes: &Sizes) -> Result<Self> {
        let mapped =
            |name, size: usize| Buffer::mapped(device, name, size as u64, vk::BufferUsageFlags::STORAGE_BUFFER);
        // They can be copied, so that whoever wants to know can read what the pass has made.
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::VERTEX_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC;
        let stream = |name, stride: usize| Buffer::new(device, name, sizes.vertices * stride as u64, usage);
        Ok(Self {
            draws: mapped("deformed draws", sizes.draws * size_of::<DrawRecord>())?,
            terms: mapped("morph terms", sizes.terms * size_of::<Term>())?,
            joint_matrices: mapped("joint matrices", sizes.joints * size_of::<Mat4>())?,
            positions: stream("deformed positions", size_of::<[f32; 3]>())?,
            normals: stream("deformed normals", size_of::<[f32; 3]>())?,
            tangents: model
                .tangents
                .is_some()
                .then(|| stream("deformed tangents", size_of::<[f32; 4]>()))
                .transpose()?,
        })
    }

    fn streams(&self) -> ShapeStreams {
        ShapeStreams {
            positions: self.positions.handle(),
            normals: self.normals.handle(),
            tangents: self.tangents.as_ref().map(Buffer::handle),
        }
    }
}

/// The morph targets of all primitives.
#[derive(Default)]
struct Morphs {
    /// All arrays of all targets, one after the other.
    deltas: Vec<Vec3>,
    targets: Vec<Targets>,
}

/// The morph targets of a primitive.
struct Targets {
    /// For positions, normals and tangents where each target's array begins in [`Morphs::deltas`]; `None` where the target
    /// does not change them.
    first_deltas: [Vec<Option<u32>>; 3],
}

impl Morphs {
    fn push(&mut self, primitive: &Primitive) -> usize {
        let attributes: [fn(&MorphTarget) -> &[Vec3]; 3] = [|t| &t.positions, |t| &t.normals, |t| &t.tangents];
        let first_deltas = attributes.map(|attribute| {
            let arrays = primitive.morph_targets.iter().map(attribute);
            arrays.map(|array| self.push_array(array)).collect()
        });
        self.targets.push(Targets { first_deltas });
        self.targets.len() - 1
    }

    fn push_array(&mut self, array: &[Vec3]) -> Option<u32> {
        let first = self.deltas.len() as u32;
        self.deltas.extend(array);
        (!array.is_empty()).then_some(first)
    }
}

impl Targets {
    /// How many terms there are if all have weight.
    fn terms(&self) -> usize {
        self.first_deltas.iter().flatten().flatten().count()
    }
}

/// Where each skin begins among the joint matrices, and how many there are.
fn joint_places(scene: &Scene) -> (Vec<u32>, usize) {
    let mut count = 0;
    let mut first_joints = Vec::with_capacity(scene.skins.len());
    for skin in &scene.skins {
        first_joints.push(count as u32);
        count += skin.joints.len();
    }
    (first_joints, count)
}

/// The draws that deform, and the morph targets of their primitives, each once.
fn deformed_draws(scene: &Scene, model: &Model, first_joints: &[u32]) -> (Vec<DeformedDraw>, Morphs) {
    let mut morphs = Morphs::default();
    let mut known = HashMap::new();
    let deformed = model.draws.iter().filter(|draw| draw.deformed).map(|draw| {
        let primitive = &scene.meshes[draw.mesh].primitives[draw.primitive];
        let targets = (!primitive.morph_targets.is_empty())
            .then(|| *known.entry((draw.mesh, draw.primitive)).or_insert_with(|| morphs.push(primitive)));
        let skin = scene.nodes[draw.node].skin.filter(|_| draw.skinned);
        let record = DrawRecord {
            first_vertex: draw.vertex_offset as u32,
            vertex_count: draw.vertex_count,
            first_joint: skin.map_or(NOT_SKINNED, |skin| first_joints[skin]),
            terms: [0; 4],
        };
        DeformedDraw { node: draw.node, targets, record }
    });
    (deformed.collect(), morphs)
}

/// A workgroup for every few vertices of each draw, and how many there are along x, of which a GPU allows so many, and y.
fn groups(draws: &[DeformedDraw], limit: u32) -> (Vec<Group>, [u32; 2]) {
    let of_draw = |(draw, deformed): (usize, &DeformedDraw)| {
        let firsts = (0..deformed.record.vertex_count).step_by(GROUP_SIZE as usize);
        firsts.map(move |first| Group { draw: draw as u32, first })
    };
    let mut groups: Vec<Group> = draws.iter().enumerate().flat_map(of_draw).collect();
    let width = groups.len().min(limit as usize);
    // The last row is filled up with groups that have no vertex.
    groups.resize(groups.len().next_multiple_of(width), Group { draw: 0, first: u32::MAX - GROUP_SIZE });
    let size = [width as u32, (groups.len() / width) as u32];
    (groups, size)
}

fn create_set_layout(device: &Arc<Device>) -> Result<DescriptorSetLayout> {
    let allowed = device.physical().properties.limits.max_per_stage_descriptor_storage_buffers;
    anyhow::ensure!(
        allowed as usize >= BINDINGS,
        "{} lets a shader use {allowed} storage buffers, and deforming a model takes {BINDINGS}",
        device.physical().name()
    );
    let bindings: [_; BINDINGS] = std::array::from_fn(|binding| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(binding as u32)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    });
    DescriptorSetLayout::new(device, "deformation", &bindings)
}

/// Writes all bindings of a frame's set, in the order of `shaders/model/deform.comp`.
fn write_set(
    device: &Device,
    set: vk::DescriptorSet,
    [groups, deltas]: &[Buffer; 2],
    model: &Model,
    vertices: u64,
    frame: &FrameBuffers,
) -> Result<()> {
    let whole = |buffer: &Buffer| (buffer.handle(), buffer.size());
    // Of the model's streams the part that deforms.
    let part = |buffer: &Buffer, stride: usize| (buffer.handle(), vertices * stride as u64);
    let float_3 = size_of::<[f32; 3]>();
    // In place of what there is not, and is not read or written, stands what there is.
    let tangents = model.tangents.as_ref().map_or(whole(groups), |tangents| part(tangents, size_of::<[f32; 4]>()));
    let buffers: [_; BINDINGS] = [
        whole(groups),
        whole(deltas),
        part(&model.positions, float_3),
        part(&model.normals, float_3),
        tangents,
        whole(&model.joints_0),
        whole(&model.weights_0),
        whole(model.joints_1.as_ref().unwrap_or(&model.joints_0)),
        whole(model.weights_1.as_ref().unwrap_or(&model.weights_0)),
        whole(&frame.draws),
        whole(&frame.terms),
        whole(&frame.joint_matrices),
        whole(&frame.positions),
        whole(&frame.normals),
        whole(frame.tangents.as_ref().unwrap_or(&frame.normals)),
    ];
    let limit = u64::from(device.physical().properties.limits.max_storage_buffer_range);
    let largest = buffers.iter().map(|&(_, range)| range).max().unwrap_or(0);
    anyhow::ensure!(
        largest <= limit,
        "the model's vertices that deform take a buffer of {largest} bytes, and {} allows {limit}",
        device.physical().name()
    );
    let infos = buffers.map(|(buffer, range)| vk::DescriptorBufferInfo::default().buffer(buffer).range(range));
    // One write goes on from binding to binding.
    let write = vk::WriteDescriptorSet::default()
        .dst_set(set)
        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
        .buffer_info(&infos);
    // SAFETY: set and buffers are alive, and no command buffer uses the set yet.
    unsafe { device.update_descriptor_sets(&[write], &[]) };
    Ok(())
}

fn create_pipeline_layout(device: &Arc<Device>, set_layout: &DescriptorSetLayout) -> Result<Owned<vk::PipelineLayout>> {
    let set_layouts = [**set_layout];
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
    // SAFETY: the set layout is alive.
    let layout = unsafe { device.create_pipeline_layout(&info, None) }.context("vkCreatePipelineLayout failed")?;
    Ok(device.own(layout, "deformation"))
}

fn create_pipeline(device: &Arc<Device>, layout: vk::PipelineLayout, model: &Model) -> Result<Owned<vk::Pipeline>> {
    let module = device.shader_module(shaders::spirv!("model/deform.comp"), "deform.comp")?;
    // INFLUENCES and TANGENTS.
    let constants = [if model.joints_1.is_some() { 8_u32 } else { 4 }, u32::from(model.tangents.is_some())];
    let entry = |constant_id: u32| vk::SpecializationMapEntry { constant_id, offset: 4 * constant_id, size: 4 };
    let entries = [entry(0), entry(1)];
    let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::cast_slice(&constants));
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(*module)
        .name(c"main")
        .specialization_info(&specialization);
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
    // SAFETY: module and layout are alive, and the shader's bindings are the layout's.
    let pipelines = unsafe { device.create_compute_pipelines(device.pipeline_cache(), &info, None) };
    let pipeline = pipelines.map_err(|(_, error)| error).context("vkCreateComputePipelines failed")?[0];
    Ok(device.own(pipeline, "deformation"))
}
