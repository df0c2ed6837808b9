//! A glTF model that is moved by its nodes.
//!
//! What you will see: a drone of some fifty parts that hovers, looks around and unfolds, or any model you name.
//!
//! What you will learn: how a hierarchy of nodes moves a model that has no skin, and how its parts are drawn. A clip changes
//! nodes relative to their parents; where a part is follows from all the nodes above it:
//!
//! ```text
//! world(node) = world(parent of node) * translation * rotation * scale
//! ```
//!
//! Per frame: `update` samples one clip, or two while one fades into the other, and computes all world matrices; `record`
//! draws each part with the matrix of its node as a push constant: opaque parts, then masked ones, then the backdrop, and
//! last what blends with all that, the farthest first.

use std::collections::{HashMap, HashSet};
use std::process::ExitCode;
use std::sync::Arc;

use ashwright::anyhow::{Context as _, Result, anyhow};
use ashwright::ash::vk;
use ashwright::camera::View;
use ashwright::clap::{self, Args};
use ashwright::glam::{Affine2, Mat4, Vec3, Vec4};
use ashwright::gpu::{
    Buffer, DescriptorSetLayout, DescriptorSets, Device, FRAMES_IN_FLIGHT, Feature, Image, Owned, Upload,
};
use ashwright::model::{Deformation, Draw, Model};
use ashwright::scene::{self, AlphaMode, Pose, Scene, TextureSlot, Topology};
use ashwright::stage::{Line, Lines, Look, Stage};
use ashwright::{Context, Frame, Sample, Step, Target, egui};
use bytemuck::{Pod, Zeroable};

/// Towards the light, world space.
const LIGHT_DIRECTION: Vec3 = Vec3::new(3.0, 4.0, 2.5);
/// What a surface that faces the light reflects of it, and of the light from above and from below, linear.
const LIGHT: Vec3 = Vec3::new(1.25, 1.08, 0.88);
const SKY: Vec3 = Vec3::new(0.17, 0.25, 0.34);
const GROUND: Vec3 = Vec3::new(0.05, 0.06, 0.07);

/// Clear air over wet concrete, early in the morning.
const LOOK: Look = Look {
    zenith: Vec3::new(0.010, 0.045, 0.110),
    horizon: Vec3::new(0.200, 0.370, 0.430),
    ground: Vec3::new(0.070, 0.090, 0.100),
};

/// The colours of boxes at the roots of the hierarchy and of those far below.
const BOX_COLORS: [Vec3; 2] = [Vec3::new(1.0, 0.75, 0.1), Vec3::new(0.05, 0.75, 1.0)];

fn main() -> ExitCode {
    ashwright::run::<NodeAnimation>(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_DESCRIPTION"))
}

/// What the sample can be told.
#[derive(Debug, Clone, Args)]
#[group(skip)]
struct Parameters {
    /// How long one clip takes to fade into another
    #[arg(long, value_name = "SECONDS", default_value = "0.6", allow_hyphen_values = true, value_parser = parse_fade)]
    fade: f32,
    /// The clip that the first one fades in from [default: none]
    #[arg(long, value_name = "N|NAME")]
    fade_from: Option<String>,
    /// Highlight a node with all that hangs on it
    #[arg(long, value_name = "N|NAME")]
    highlight: Option<String>,
    /// Draw a box around the mesh of each node, along the node's own axes
    #[arg(long)]
    boxes: bool,
    /// Draw triangles as lines
    #[arg(long)]
    wireframe: bool,
}

fn parse_fade(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(seconds) if (0.0..=60.0).contains(&seconds) => Ok(seconds),
        _ => Err("a fade takes from 0 to 60 seconds".into()),
    }
}

/// `Frame` in `shaders/node_animation/common.glsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct FrameUniforms {
    view_projection: Mat4,
    eye: Vec4,
    light_direction: Vec4,
    light: Vec4,
    sky: Vec4,
    ground: Vec4,
}

/// `Material` in `shaders/node_animation/common.glsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct MaterialRecord {
    base_color_factor: Vec4,
    emissive_factor: Vec4,
    base_color_matrix: Vec4,
    emissive_matrix: Vec4,
    translations: Vec4,
    choices: Vec4,
}

/// `Draw` in `shaders/node_animation/common.glsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct DrawConstants {
    world: Mat4,
    material: u32,
    highlight: f32,
    padding: [u32; 2],
}

struct NodeAnimation {
    device: Arc<Device>,
    scene: Arc<Scene>,
    model: Model,
    /// Bones and morph targets are not the topic here: the model sees to them before it is drawn.
    deformation: Deformation,
    pose: Pose,
    fade: Fade,

    /// Indices into the model's draws: opaque ones, then masked ones.
    solid: Vec<usize>,
    /// What blends, with its depth in the picture, which it is sorted by every frame.
    blended: Vec<(f32, usize)>,

    render_pass: Owned<vk::RenderPass>,
    attachments: Attachments,
    pipeline_layout: Owned<vk::PipelineLayout>,
    samples: vk::SampleCountFlags,
    /// Made when first drawn with: few look at lines, and software drivers take long to compile.
    pipelines: HashMap<vk::PolygonMode, HashMap<Kind, Owned<vk::Pipeline>>>,
    /// Written by the CPU every frame, so there is one for every frame in flight.
    uniforms: Vec<Buffer>,
    frame_sets: DescriptorSets,
    /// One for each material of the scene.
    material_sets: DescriptorSets,
    // The sets name the layouts that they were made of, and this buffer.
    _set_layouts: [DescriptorSetLayout; 2],
    _materials: Buffer,

    stage: Option<Stage>,
    boxes: Option<Lines>,
    box_lines: Vec<Line>,
    /// The boxes of meshes, each in its node's space.
    node_boxes: Vec<NodeBox>,
    /// The node that `--highlight` names.
    highlighted: Option<usize>,
    /// The node that is pointed at in the overlay.
    pointed: Option<usize>,
    clear_color: vk::ClearValue,
}

impl Sample for NodeAnimation {
    type Parameters = Parameters;

    const MODEL: Option<&'static str> = Some("models/drone.glb");
    const TEXTURES: &'static [TextureSlot] = &[TextureSlot::BaseColor, TextureSlot::Emissive];
    const VIEW: Option<View> =
        Some(View { eye: Vec3::new(0.95, 0.44, 1.45), target: Vec3::new(0.02, -0.02, 0.0), fov: 32.0 });
    const OPTIONAL_FEATURES: &'static [Feature] = &[Feature::FILL_MODE_NON_SOLID, Feature::SAMPLER_ANISOTROPY];

    fn new(context: &Context, parameters: &Parameters) -> Result<Self> {
        let device = &context.device;
        let scene = context.scene.clone();
        let model = Model::new(device, &scene, &context.images)?;
        let deformation = Deformation::new(device, &scene, &model)?;
        let fade = Fade::new(&scene, parameters.fade_from.as_deref())?;
        let highlighted = parameters.highlight.as_deref().map(|wanted| find_node(&scene, wanted)).transpose()?;

        let render_pass = create_render_pass(context)?;
        let attachments = Attachments::new(device, *render_pass, &context.target)?;
        let set_layouts = create_set_layouts(device)?;
        let pipeline_layout = create_pipeline_layout(device, &set_layouts)?;

        let uniforms = (0..FRAMES_IN_FLIGHT).map(|_| {
            let size = size_of::<FrameUniforms>() as u64;
            Buffer::mapped(device, "frame uniforms", size, vk::BufferUsageFlags::UNIFORM_BUFFER)
        });
        let uniforms = uniforms.collect::<Result<Vec<_>>>()?;
        let materials = upload_materials(device, &scene)?;
        let frame_sets = DescriptorSets::new(device, "frame", &set_layouts[0], FRAMES_IN_FLIGHT)?;
        let material_sets = DescriptorSets::new(device, "material", &set_layouts[1], scene.materials.len())?;
        write_frame_sets(device, &frame_sets, &uniforms, &materials);
        write_material_sets(device, &material_sets, &scene, &model);

        let (blended, mut solid): (Vec<usize>, Vec<usize>) =
            (0..model.draws.len()).partition(|&draw| Alpha::of(&scene, &model.draws[draw]) == Alpha::Blend);
        solid.sort_by_key(|&draw| Alpha::of(&scene, &model.draws[draw]));
        let node_boxes = node_boxes(&scene);
        let samples = context.target.samples;
        let stage = Stage::new(device, *render_pass, samples, &context.setting, LOOK)?;
        Ok(Self {
            device: device.clone(),
            deformation,
            pose: Pose::new(&scene),
            fade,
            solid,
            blended: blended.into_iter().map(|draw| (0.0, draw)).collect(),
            render_pass,
            attachments,
            pipeline_layout,
            samples,
            pipelines: HashMap::new(),
            uniforms,
            frame_sets,
            material_sets,
            _set_layouts: set_layouts,
            _materials: materials,
            stage,
            boxes: None,
            box_lines: Vec::with_capacity(node_boxes.len() * BOX_EDGES.len()),
            node_boxes,
            highlighted,
            pointed: None,
            clear_color: context.clear_color(),
            model,
            scene,
        })
    }

    fn forget_model(parameters: &mut Parameters) {
        (parameters.fade_from, parameters.highlight) = (None, None);
    }

    fn update(&mut self, step: &Step<'_>, parameters: &Parameters) -> Result<()> {
        self.fade.advance(&self.scene, step, parameters.fade);
        self.fade.evaluate(&self.scene, &mut self.pose, parameters.fade);
        Ok(())
    }

    fn ui(&mut self, parameters: &mut Parameters, ui: &mut egui::Ui) {
        ui.add(egui::Slider::new(&mut parameters.fade, 0.0..=3.0).suffix(" s").text("fade"));
        ui.checkbox(&mut parameters.boxes, "boxes");
        ui.checkbox(&mut parameters.wireframe, "wireframe");
        ui.separator();
        self.pointed = None;
        for &root in &self.scene.roots {
            show_node(ui, &self.scene, root, 0, &mut self.pointed);
        }
    }

    fn record(&mut self, frame: &Frame<'_>, parameters: &Parameters) -> Result<()> {
        let lines = frame.wireframe != parameters.wireframe && self.device.has(Feature::FILL_MODE_NON_SOLID);
        let polygon_mode = if lines { vk::PolygonMode::LINE } else { vk::PolygonMode::FILL };
        if !self.pipelines.contains_key(&polygon_mode) {
            self.pipelines.insert(polygon_mode, self.create_pipelines(polygon_mode)?);
        }
        self.write_uniforms(frame);
        self.sort_blended(frame);
        self.deformation.record(frame, &self.scene, &self.pose);

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
        {
            let _pass = frame.pass(c"solid");
            self.record_draws(frame, self.solid.iter().copied(), polygon_mode);
        }
        // Before what blends with it.
        if let Some(stage) = &self.stage {
            stage.draw(frame);
        }
        if !self.blended.is_empty() {
            let _pass = frame.pass(c"blended");
            self.record_draws(frame, self.blended.iter().map(|&(_, draw)| draw), polygon_mode);
        }
        if parameters.boxes {
            self.record_boxes(frame)?;
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

impl NodeAnimation {
    fn write_uniforms(&mut self, frame: &Frame<'_>) {
        self.uniforms[frame.index].write(
            0,
            &[FrameUniforms {
                view_projection: frame.camera.view_projection(),
                eye: frame.camera.eye.extend(1.0),
                light_direction: LIGHT_DIRECTION.normalize().extend(0.0),
                light: LIGHT.extend(0.0),
                sky: SKY.extend(0.0),
                ground: GROUND.extend(0.0),
            }],
        );
    }

    /// Puts the farthest first. View space looks along -Z, so that is the least z.
    fn sort_blended(&mut self, frame: &Frame<'_>) {
        for (depth, draw) in &mut self.blended {
            let center = self.model.draws[*draw].center(&self.scene, &self.pose);
            *depth = frame.camera.view.transform_point3(center).z;
        }
        self.blended.sort_unstable_by(|(a, first), (b, second)| a.total_cmp(b).then(first.cmp(second)));
    }

    fn record_draws(&self, frame: &Frame<'_>, draws: impl Iterator<Item = usize>, polygon_mode: vk::PolygonMode) {
        let pipelines = &self.pipelines[&polygon_mode];
        let (device, commands, model) = (frame.device, frame.commands, &self.model);
        let graphics = vk::PipelineBindPoint::GRAPHICS;
        let (rest, deformed) = (model.shape_streams(), self.deformation.streams(frame.index));
        let highlighted = self.pointed.or(self.highlighted);
        // SAFETY: inside the render pass that the pipelines were made for. Sets, buffers and pipelines live until the GPU
        // is done with them; indices are below the vertex count, which the loader has checked.
        unsafe {
            device.cmd_bind_index_buffer(commands, model.indices.handle(), 0, model.index_type);
            let fixed = [&model.tex_coords[0], &model.tex_coords[1], &model.colors].map(|stream| stream.handle());
            device.cmd_bind_vertex_buffers(commands, 2, &fixed, &[0; 3]);
            let frame_set = [self.frame_sets[frame.index]];
            device.cmd_bind_descriptor_sets(commands, graphics, *self.pipeline_layout, 0, &frame_set, &[]);

            for draw in draws.map(|draw| &model.draws[draw]) {
                let kind = Kind::of(&self.scene, draw);
                device.cmd_bind_pipeline(commands, graphics, *pipelines[&kind]);
                let shape = if draw.deformed { deformed } else { rest };
                device.cmd_bind_vertex_buffers(commands, 0, &[shape.positions, shape.normals], &[0; 2]);
                let material_set = [self.material_sets[draw.material]];
                device.cmd_bind_descriptor_sets(commands, graphics, *self.pipeline_layout, 1, &material_set, &[]);

                let world = draw.world(&self.pose);
                let is_highlighted = highlighted.is_some_and(|node| self.is_within(draw.node, node));
                let highlight = if is_highlighted { 1.0 } else { 0.0 };
                let constants = DrawConstants { world, material: draw.material as u32, highlight, padding: [0; 2] };
                let bytes = bytemuck::bytes_of(&constants);
                device.cmd_push_constants(commands, *self.pipeline_layout, DRAW_STAGES, 0, bytes);
                // A mirrored node turns its triangles around.
                let mirrored = world.determinant() < 0.0;
                let front = if mirrored { vk::FrontFace::CLOCKWISE } else { vk::FrontFace::COUNTER_CLOCKWISE };
                device.cmd_set_front_face(commands, front);

                // Of a glass body that has two sides the far one is drawn first. Lines and points have no sides: culling
                // would not keep them from being drawn twice.
                let double_sided = self.scene.materials[draw.material].double_sided;
                let passes: &[vk::CullModeFlags] = match (double_sided, kind) {
                    (false, _) => &[vk::CullModeFlags::BACK],
                    (true, Kind { alpha: Alpha::Blend, topology: Topology::Triangles }) => {
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

    /// Whether a node is another one or hangs on it.
    fn is_within(&self, node: usize, above: usize) -> bool {
        std::iter::successors(Some(node), |&node| self.scene.nodes[node].parent).any(|node| node == above)
    }

    fn record_boxes(&mut self, frame: &Frame<'_>) -> Result<()> {
        self.box_lines.clear();
        for node_box in &self.node_boxes {
            let world = self.pose.world(node_box.node);
            let corner = |corner: usize| {
                let pick = |axis: usize| if corner >> axis & 1 == 0 { node_box.min[axis] } else { node_box.max[axis] };
                world.transform_point3(Vec3::new(pick(0), pick(1), pick(2)))
            };
            let line = |&(from, to): &(usize, usize)| Line {
                from: corner(from),
                from_color: node_box.color,
                to: corner(to),
                to_color: node_box.color,
            };
            self.box_lines.extend(BOX_EDGES.iter().map(line));
        }
        let boxes = match &mut self.boxes {
            Some(boxes) => boxes,
            none => none.insert(Lines::new(&self.device, *self.render_pass, self.samples, self.box_lines.len())?),
        };
        boxes.draw(frame, &self.box_lines);
        Ok(())
    }
}

/// The clips that play, over those that they fade in from: the oldest layer first, and each over all before it. So nothing
/// jumps when another clip is chosen in the middle of a fade.
struct Fade {
    /// The clip that the first one fades in from.
    first: Option<usize>,
    layers: Vec<Layer>,
}

/// Clips that were chosen together.
struct Layer {
    clips: Vec<(usize, f32)>,
    /// Seconds since they were chosen.
    since: f32,
}

impl Fade {
    /// Fades in from a clip by its index or name, or begins with what is played.
    fn new(scene: &Scene, from: Option<&str>) -> Result<Self> {
        let first = from.map(|wanted| scene.find_animation(wanted)).transpose().context("--fade-from")?;
        Ok(Self { first, layers: Vec::new() })
    }

    /// Takes the clips that play now. Those that played before go on while these fade in, for so many seconds.
    fn advance(&mut self, scene: &Scene, step: &Step<'_>, seconds: f32) {
        let at = |clip: usize, time: f32| {
            (clip, scene::animation_time(scene.animations[clip].duration, f64::from(time), step.repeat))
        };
        for layer in &mut self.layers {
            layer.since += step.delta;
            layer.clips.iter_mut().for_each(|(clip, time)| *time = at(*clip, *time + step.delta).1);
        }
        if let Some(clip) = self.first.take() {
            self.layers.push(Layer { clips: vec![at(clip, step.time)], since: 0.0 });
        }
        match self.layers.last_mut().filter(|top| top.has(step.clips)) {
            Some(top) => top.clips.copy_from_slice(step.clips),
            None => self.layers.push(Layer { clips: step.clips.to_vec(), since: 0.0 }),
        }
        // What is under a layer that has come in is not seen any more.
        let lowest = self.layers.iter().rposition(|layer| layer.part(seconds) == 1.0);
        self.layers.drain(..lowest.unwrap_or(0));
    }

    fn evaluate(&self, scene: &Scene, pose: &mut Pose, seconds: f32) {
        let Some((lowest, others)) = self.layers.split_first() else { return };
        pose.evaluate(scene, &lowest.clips);
        for layer in others {
            pose.approach(scene, &layer.clips, layer.part(seconds));
        }
    }
}

impl Layer {
    /// Whether it is of these clips, at whatever times.
    fn has(&self, clips: &[(usize, f32)]) -> bool {
        self.clips.iter().map(|(clip, _)| clip).eq(clips.iter().map(|(clip, _)| clip))
    }

    /// How far it has come in, 0 to 1, slow at both ends.
    fn part(&self, seconds: f32) -> f32 {
        let part = if self.since < seconds { self.since / seconds } else { 1.0 };
        part * part * (3.0 - 2.0 * part)
    }
}

/// A node of the overlay's tree, with those below it. Points at it while the pointer is over it.
fn show_node(ui: &mut egui::Ui, scene: &Scene, node: usize, depth: usize, pointed: &mut Option<usize>) {
    let label = match &scene.nodes[node].name {
        Some(name) => name.clone(),
        None => format!("node {node}"),
    };
    let children = &scene.nodes[node].children;
    let row = if children.is_empty() {
        ui.add(egui::Label::new(label).sense(egui::Sense::hover()))
    } else {
        let header = egui::CollapsingHeader::new(label).id_salt(node).default_open(depth < OPEN_DEPTH);
        let shown = header.show(ui, |ui| {
            for &child in children {
                show_node(ui, scene, child, depth + 1, pointed);
            }
        });
        shown.header_response
    };
    if row.hovered() {
        *pointed = Some(node);
    }
}

/// How deep the overlay's tree is open at first.
const OPEN_DEPTH: usize = 2;

/// A node by its index or name.
fn find_node(scene: &Scene, wanted: &str) -> Result<usize> {
    let named = scene.nodes.iter().position(|node| node.name.as_deref() == Some(wanted));
    let by_index = || wanted.parse().ok().filter(|&index: &usize| index < scene.nodes.len());
    named.or_else(by_index).ok_or_else(|| {
        anyhow!("--highlight: {} has no node {wanted:?}; it has {}, counted from 0", scene.name, scene.nodes.len())
    })
}

/// The box of a mesh, in its node's space.
struct NodeBox {
    node: usize,
    min: Vec3,
    max: Vec3,
    color: Vec3,
}

/// The corners that each edge of a box joins; bits 0, 1 and 2 of a corner say whether it is at the far end of x, y and z.
const BOX_EDGES: [(usize, usize); 12] =
    [(0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7)];

/// The boxes of all that stands where its node does: what joints move has no box of its own.
fn node_boxes(scene: &Scene) -> Vec<NodeBox> {
    let shown = scene.nodes.iter().enumerate().filter(|(_, node)| node.in_scene);
    let node_box = |(index, node): (usize, &scene::Node)| {
        let primitives = scene.meshes[node.mesh?].primitives.iter();
        let rigid = primitives.filter(|primitive| node.skin.is_none() || primitive.influences.is_none());
        let positions = || rigid.clone().flat_map(|primitive| primitive.positions.iter().copied());
        let (min, max) = (positions().reduce(Vec3::min)?, positions().reduce(Vec3::max)?);
        let depth = std::iter::successors(node.parent, |&above| scene.nodes[above].parent).count();
        let color = BOX_COLORS[0].lerp(BOX_COLORS[1], (depth as f32 / 5.0).min(1.0));
        Some(NodeBox { node: index, min, max, color })
    };
    shown.filter_map(node_box).collect()
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
    Ok(context.device.own(render_pass, "node_animation"))
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
            Ok(device.own(framebuffer, "node_animation"))
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
            binding(1, vk::DescriptorType::STORAGE_BUFFER, DRAW_STAGES),
        ],
    )?;
    let material = DescriptorSetLayout::new(
        device,
        "material",
        &[
            binding(0, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::FRAGMENT),
            binding(1, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::FRAGMENT),
        ],
    )?;
    Ok([frame, material])
}

/// The stages that read the push constants, the frame's uniforms and the materials.
const DRAW_STAGES: vk::ShaderStageFlags =
    vk::ShaderStageFlags::from_raw(vk::ShaderStageFlags::VERTEX.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw());

fn create_pipeline_layout(
    device: &Arc<Device>,
    set_layouts: &[DescriptorSetLayout; 2],
) -> Result<Owned<vk::PipelineLayout>> {
    let set_layouts = [*set_layouts[0], *set_layouts[1]];
    let push_constants =
        [vk::PushConstantRange::default().stage_flags(DRAW_STAGES).size(size_of::<DrawConstants>() as u32)];
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts).push_constant_ranges(&push_constants);
    // SAFETY: the set layouts are alive; the constants are within the 128 bytes that every GPU has.
    let layout = unsafe { device.create_pipeline_layout(&info, None) }.context("vkCreatePipelineLayout failed")?;
    Ok(device.own(layout, "node_animation"))
}

/// All materials in a storage buffer, where a push constant picks one.
fn upload_materials(device: &Arc<Device>, scene: &Scene) -> Result<Buffer> {
    let records: Vec<_> = scene.materials.iter().map(material_record).collect();
    let mut upload = Upload::new(device)?;
    let buffer = upload.buffer("materials", vk::BufferUsageFlags::STORAGE_BUFFER, &records)?;
    upload.finish()?;
    Ok(buffer)
}

fn material_record(material: &scene::Material) -> MaterialRecord {
    let base_color = material.texture(TextureSlot::BaseColor);
    let emissive = material.texture(TextureSlot::Emissive);
    let transform = |info: Option<scene::TextureInfo>| info.map_or(Affine2::IDENTITY, |info| info.transform);
    let matrix = |info| Vec4::from_array(transform(info).matrix2.to_cols_array());
    let tex_coord = |info: Option<scene::TextureInfo>| info.map_or(0, |info| info.tex_coord) as f32;
    let cutoff = match material.alpha_mode {
        AlphaMode::Mask { cutoff } => cutoff,
        AlphaMode::Opaque | AlphaMode::Blend => 0.0,
    };
    let (base_color_offset, emissive_offset) = (transform(base_color).translation, transform(emissive).translation);
    MaterialRecord {
        base_color_factor: material.base_color_factor,
        emissive_factor: material.emissive_factor.extend(cutoff),
        base_color_matrix: matrix(base_color),
        emissive_matrix: matrix(emissive),
        translations: Vec4::new(base_color_offset.x, base_color_offset.y, emissive_offset.x, emissive_offset.y),
        choices: Vec4::new(tex_coord(base_color), tex_coord(emissive), f32::from(material.unlit), 0.0),
    }
}

fn write_frame_sets(device: &Device, sets: &DescriptorSets, uniforms: &[Buffer], materials: &Buffer) {
    let whole = |buffer: &Buffer| [vk::DescriptorBufferInfo::default().buffer(buffer.handle()).range(vk::WHOLE_SIZE)];
    for (set, uniforms) in sets.iter().zip(uniforms) {
        let (uniforms, materials) = (whole(uniforms), whole(materials));
        let write = vk::WriteDescriptorSet::default().dst_set(set);
        let writes = [
            write.dst_binding(0).descriptor_type(vk::DescriptorType::UNIFORM_BUFFER).buffer_info(&uniforms),
            write.dst_binding(1).descriptor_type(vk::DescriptorType::STORAGE_BUFFER).buffer_info(&materials),
        ];
        // SAFETY: sets and buffers are alive, and no command buffer uses the sets yet.
        unsafe { device.update_descriptor_sets(&writes, &[]) };
    }
}

fn write_material_sets(device: &Device, sets: &DescriptorSets, scene: &Scene, model: &Model) {
    for (set, material) in sets.iter().zip(&scene.materials) {
        let base_color = [model.texture(material, TextureSlot::BaseColor)];
        let emissive = [model.texture(material, TextureSlot::Emissive)];
        let write =
            vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER);
        let writes = [write.dst_binding(0).image_info(&base_color), write.dst_binding(1).image_info(&emissive)];
        // SAFETY: sets, views and samplers are alive, and no command buffer uses the sets yet.
        unsafe { device.update_descriptor_sets(&writes, &[]) };
    }
}

/// How alpha is used, in the order of drawing; the numbers are those of `ALPHA_MODE` in `node.frag`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Alpha {
    Opaque,
    Mask,
    Blend,
}

impl Alpha {
    fn of(scene: &Scene, draw: &Draw) -> Self {
        match scene.materials[draw.material].alpha_mode {
            AlphaMode::Opaque => Alpha::Opaque,
            AlphaMode::Mask { .. } => Alpha::Mask,
            AlphaMode::Blend => Alpha::Blend,
        }
    }
}

/// What a pipeline is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Kind {
    alpha: Alpha,
    topology: Topology,
}

impl Kind {
    fn of(scene: &Scene, draw: &Draw) -> Self {
        Self { alpha: Alpha::of(scene, draw), topology: draw.topology }
    }
}

impl NodeAnimation {
    /// The pipelines of every kind that is drawn.
    fn create_pipelines(&self, polygon_mode: vk::PolygonMode) -> Result<HashMap<Kind, Owned<vk::Pipeline>>> {
        let kinds: HashSet<_> = self.model.draws.iter().map(|draw| Kind::of(&self.scene, draw)).collect();
        kinds.into_iter().map(|kind| Ok((kind, self.create_pipeline(kind, polygon_mode)?))).collect()
    }

    fn create_pipeline(&self, kind: Kind, polygon_mode: vk::PolygonMode) -> Result<Owned<vk::Pipeline>> {
        let device = &self.device;
        let vertex = device.shader_module(shaders::spirv!("node_animation/node.vert"), "node.vert")?;
        let fragment = device.shader_module(shaders::spirv!("node_animation/node.frag"), "node.frag")?;
        // With several samples a pixel, the alpha of a mask says how many of them are covered: its cuts are smooth.
        let coverage = kind.alpha == Alpha::Mask && self.samples != vk::SampleCountFlags::TYPE_1;
        // ALPHA_MODE and COVERAGE in node.frag.
        let constants = [kind.alpha as u32, u32::from(coverage)];
        let entry = |constant_id: u32| vk::SpecializationMapEntry { constant_id, offset: 4 * constant_id, size: 4 };
        let entries = [entry(0), entry(1)];
        let specialization =
            vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::bytes_of(&constants));
        let stages = [
            vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::VERTEX)
                .module(*vertex)
                .name(c"main"),
            vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::FRAGMENT)
                .module(*fragment)
                .name(c"main")
                .specialization_info(&specialization),
        ];

        // Each attribute is a stream of its own, at the binding of the same number as its location in the shader.
        let streams = [
            (vk::Format::R32G32B32_SFLOAT, size_of::<[f32; 3]>()),   // position
            (vk::Format::R32G32B32_SFLOAT, size_of::<[f32; 3]>()),   // normal
            (vk::Format::R32G32_SFLOAT, size_of::<[f32; 2]>()),      // texture coordinates 0
            (vk::Format::R32G32_SFLOAT, size_of::<[f32; 2]>()),      // texture coordinates 1
            (vk::Format::R16G16B16A16_UNORM, size_of::<[u16; 4]>()), // colour
        ];
        let bindings: Vec<_> = (0..)
            .zip(&streams)
            .map(|(binding, &(_, stride))| {
                vk::VertexInputBindingDescription::default().binding(binding).stride(stride as u32)
            })
            .collect();
        let attributes: Vec<_> = (0..)
            .zip(&streams)
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
        let rasterization =
            vk::PipelineRasterizationStateCreateInfo::default().polygon_mode(polygon_mode).line_width(1.0);
        let multisample = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(self.samples)
            .alpha_to_coverage_enable(coverage);
        // What blends hides nothing behind it: it is tested against depth, and writes none.
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(true)
            .depth_write_enable(kind.alpha != Alpha::Blend)
            .depth_compare_op(vk::CompareOp::LESS_OR_EQUAL);
        let blend_attachments = [vk::PipelineColorBlendAttachmentState::default()
            .blend_enable(kind.alpha == Alpha::Blend)
            .src_color_blend_factor(vk::BlendFactor::SRC_ALPHA)
            .dst_color_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
            .src_alpha_blend_factor(vk::BlendFactor::ONE)
            .dst_alpha_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
            .color_write_mask(vk::ColorComponentFlags::RGBA)];
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
        Ok(device.own(pipeline, "node_animation"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_clip_fades_in_while_those_before_go_on() {
        let clip = |duration| scene::Animation { name: None, channels: Vec::new(), duration };
        let scene = Scene { animations: vec![clip(1.0), clip(2.0), clip(4.0)], ..Default::default() };
        let mut fade = Fade::new(&scene, None).expect("no clip is asked for");
        // The layers' clips with their times, and how far the upper ones have come in.
        let mut advance = |clip: (usize, f32), delta| {
            fade.advance(&scene, &Step { time: 7.0, delta, clips: &[clip], repeat: true }, 0.5);
            let clips: Vec<_> = fade.layers.iter().map(|layer| layer.clips[0]).collect();
            (clips, fade.layers.iter().skip(1).map(|layer| layer.part(0.5)).collect::<Vec<_>>())
        };
        assert_eq!(advance((0, 0.5), 0.0), (vec![(0, 0.5)], vec![]), "there was nothing to fade in from");
        assert_eq!(advance((0, 0.75), 0.25), (vec![(0, 0.75)], vec![]));
        assert_eq!(advance((1, 1.5), 0.125), (vec![(0, 0.875), (1, 1.5)], vec![0.0]));
        assert_eq!(advance((1, 1.75), 0.25), (vec![(0, 0.125), (1, 1.75)], vec![0.5]));
        // A third one in the middle of that begins over what is seen of both.
        assert_eq!(advance((2, 0.0), 0.0), (vec![(0, 0.125), (1, 1.75), (2, 0.0)], vec![0.5, 0.0]));
        assert_eq!(advance((2, 0.25), 0.25), (vec![(1, 0.0), (2, 0.25)], vec![0.5]));
        assert_eq!(advance((2, 0.5), 0.25), (vec![(2, 0.5)], vec![]));
    }
}
