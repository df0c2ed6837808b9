//! Physically based shading: the metallic-roughness material of glTF.
//!
//! What you will see: an object of worn metal, paint and porcelain in a light of your choice, or any model you name.
//!
//! What you will learn: how the five textures of a material and its factors become the parameters of a reflection model, how
//! light from a direction and light from all around are reflected by it, and how the result, which knows no upper bound, is
//! exposed and mapped to a screen, which does.
//!
//! ```text
//! reflected = sum over the lights of brdf(surface, to eye, to light) * arriving light * cos
//!           + irradiance of the environment * diffuse colour
//!           + environment blurred by the roughness * (F0 * A + B)
//! shown     = operator(exposure * (reflected + emitted))
//! ```
//!
//! `record` draws each part of the model with its node's matrix as a push constant and its material's factors and textures in a
//! descriptor set; all of the above stands in `shaders/pbr/pbr.frag`.

use std::collections::{HashMap, HashSet};
use std::f32::consts::PI;
use std::process::ExitCode;
use std::sync::Arc;

use ashwright::anyhow::{Context as _, Result};
use ashwright::ash::vk;
use ashwright::camera::View;
use ashwright::clap::{self, Args, ValueEnum};
use ashwright::environment::{self, Environment, EnvironmentMaps};
use ashwright::glam::{Affine2, Mat4, Vec3, Vec4};
use ashwright::gpu::{
    Buffer, DescriptorSetLayout, DescriptorSets, Device, FRAMES_IN_FLIGHT, Feature, Image, Owned, Upload,
};
use ashwright::knobs::{ToneOperator, choose};
use ashwright::model::{Deformation, Draw, Model};
use ashwright::scene::{self, AlphaMode, LightKind, Pose, Scene, TextureSlot, Topology};
use ashwright::stage::{Look, Stage};
use ashwright::{Context, Frame, Sample, Step, Target, egui, parse};
use bytemuck::{Pod, Zeroable};

/// The backdrop where there is no environment.
const LOOK: Look = Look {
    zenith: Vec3::new(0.020, 0.024, 0.032),
    horizon: Vec3::new(0.130, 0.125, 0.120),
    ground: Vec3::new(0.060, 0.056, 0.052),
};

/// The way that the sun's light travels where the environment does not say it.
const DIRECTION: Vec3 = Vec3::new(-0.6, -0.8, -0.5);

fn main() -> ExitCode {
    ashwright::run::<Pbr>(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_DESCRIPTION"))
}

/// What the sample can be told.
#[derive(Debug, Clone, Args)]
#[group(skip)]
struct Parameters {
    /// The light from all around: none, the name of a file in assets/environments, or a file .hdr or .ktx2 of yours
    #[arg(long, value_name = "NAME|FILE", default_value = "studio")]
    environment: String,
    /// Which lights shine: one sun, those of the model, or both [default: the model's, where it has any]
    #[arg(long, value_enum)]
    lights: Option<Lights>,
    /// The way that the sun's light travels [default: as in the environment]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse::vector)]
    light_direction: Option<Vec3>,
    /// The illuminance of the sun's light [default: as in the environment; without one 3.14159]
    #[arg(long, value_name = "LUX", allow_hyphen_values = true, value_parser = parse::positive)]
    light_illuminance: Option<f32>,
    /// The linear colour of the sun's light [default: as in the environment]
    #[arg(long, value_name = "R,G,B", allow_hyphen_values = true, value_parser = parse::vector)]
    light_color: Option<Vec3>,
    /// A factor of all light, as a power of two
    #[arg(long, value_name = "STOPS", default_value = "0", allow_hyphen_values = true, value_parser = parse::finite)]
    exposure: f32,
    /// How light without bounds is mapped to the screen
    #[arg(long, value_enum, default_value = "khronos-neutral")]
    operator: ToneOperator,
    /// What is drawn as colour
    #[arg(long, value_enum, default_value_t)]
    view: Shown,
    /// Draw triangles as lines
    #[arg(long)]
    wireframe: bool,
}

/// In the order of the constants `VIEW_` in `shaders/pbr/pbr.frag`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ValueEnum)]
enum Shown {
    #[default]
    Shaded,
    BaseColor,
    Metallic,
    Roughness,
    Normal,
    Occlusion,
    Emissive,
    Uv0,
    Uv1,
    Tangent,
    Diffuse,
    Specular,
    Environment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Lights {
    Sun,
    Model,
    Both,
}

/// `Frame` in `shaders/pbr/common.glsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct FrameUniforms {
    view_projection: Mat4,
    clip_to_world: Mat4,
    eye: Vec4,
    exposure: Vec4,
    irradiance: [Vec4; 9],
}

/// `Slot` in `shaders/pbr/common.glsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SlotRecord {
    matrix: Vec4,
    translation_and_set: Vec4,
}

/// `Material` in `shaders/pbr/common.glsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct MaterialRecord {
    base_color_factor: Vec4,
    emissive_factor: Vec4,
    factors: Vec4,
    slots: [SlotRecord; TextureSlot::COUNT],
}

/// `Light` in `shaders/pbr/common.glsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct LightRecord {
    color: Vec4,
    position: Vec4,
    direction: Vec4,
    cone: Vec4,
}

struct Pbr {
    scene: Arc<Scene>,
    model: Model,
    deformation: Deformation,
    pose: Pose,

    /// Indices into the model's draws: opaque ones, then masked ones.
    solid: Vec<usize>,
    /// What blends, with its depth in the picture, which it is sorted by every frame.
    blended: Vec<(f32, usize)>,

    render_pass: Owned<vk::RenderPass>,
    attachments: Attachments,
    pipeline_layout: Owned<vk::PipelineLayout>,
    /// Those that have been looked at.
    pipelines: HashMap<Variant, Owned<vk::Pipeline>>,
    skyboxes: HashMap<ToneOperator, Owned<vk::Pipeline>>,
    /// Whether the environment is seen behind the model.
    shows_skybox: bool,
    /// What the model is made of.
    kinds: Vec<Kind>,
    samples: vk::SampleCountFlags,
    /// Written by the CPU every frame, so there is one of each for every frame in flight.
    uniforms: Vec<Buffer>,
    lights: Vec<Buffer>,
    /// Those that shine.
    light_records: Vec<LightRecord>,
    environment: EnvironmentMaps,
    /// What it was asked for by.
    environment_name: String,
    /// What else there is.
    environment_names: Vec<String>,
    frame_sets: DescriptorSets,
    /// One for each material of the scene.
    material_sets: DescriptorSets,
    // The sets name the layouts that they were made of, and this buffer.
    _set_layouts: [DescriptorSetLayout; 2],
    _materials: Buffer,

    stage: Option<Stage>,
    clear_color: vk::ClearValue,
    device: Arc<Device>,
}

impl Sample for Pbr {
    type Parameters = Parameters;

    const MODEL: Option<&'static str> = Some("models/helmet.glb");
    const TEXTURES: &'static [TextureSlot] = &TextureSlot::ALL;
    const VIEW: Option<View> =
        Some(View { eye: Vec3::new(0.72, 0.37, 0.98), target: Vec3::new(0.06, 0.243, 0.0), fov: 33.5 });
    const OPTIONAL_FEATURES: &'static [Feature] = &[Feature::FILL_MODE_NON_SOLID, Feature::SAMPLER_ANISOTROPY];

    fn new(context: &Context, parameters: &Parameters) -> Result<Self> {
        let device = &context.device;
        let scene = context.scene.clone();
        let model = Model::new(device, &scene, &context.images)?;
        let deformation = Deformation::new(device, &scene, &model)?;
        let environment = EnvironmentMaps::new(device, &Environment::named(&parameters.environment)?)?;
        // The sun and those of the model.
        let light_count = 1 + shining_nodes(&scene).count();

        let render_pass = create_render_pass(context)?;
        let attachments = Attachments::new(device, *render_pass, &context.target)?;
        let set_layouts = create_set_layouts(device)?;
        let pipeline_layout = create_pipeline_layout(device, &set_layouts)?;

        let per_frame = |name, size: usize, usage| -> Result<Vec<Buffer>> {
            (0..FRAMES_IN_FLIGHT).map(|_| Buffer::mapped(device, name, size as u64, usage)).collect()
        };
        let uniforms = per_frame("frame uniforms", size_of::<FrameUniforms>(), vk::BufferUsageFlags::UNIFORM_BUFFER)?;
        let size = light_count * size_of::<LightRecord>();
        let lights = per_frame("lights", size, vk::BufferUsageFlags::STORAGE_BUFFER)?;
        let materials = upload_materials(device, &scene)?;
        let frame_sets = DescriptorSets::new(device, "frame", &set_layouts[0], FRAMES_IN_FLIGHT)?;
        let material_sets = DescriptorSets::new(device, "material", &set_layouts[1], scene.materials.len())?;
        write_frame_sets(device, &frame_sets, &uniforms, &lights);
        write_environment(device, &frame_sets, &environment);
        write_material_sets(device, &material_sets, &scene, &model, &materials);

        let (blended, mut solid): (Vec<usize>, Vec<usize>) =
            (0..model.draws.len()).partition(|&draw| Alpha::of(&scene, &model.draws[draw]) == Alpha::Blend);
        solid.sort_by_key(|&draw| Alpha::of(&scene, &model.draws[draw]));
        let stage = Stage::new(device, *render_pass, context.target.samples, &context.setting, LOOK)?;
        let mut sample = Self {
            deformation,
            pose: Pose::new(&scene),
            solid,
            blended: blended.into_iter().map(|draw| (0.0, draw)).collect(),
            pipelines: HashMap::new(),
            skyboxes: HashMap::new(),
            shows_skybox: context.setting.stage && context.setting.background.is_none(),
            kinds: kinds(&scene, &model),
            samples: context.target.samples,
            render_pass,
            attachments,
            pipeline_layout,
            uniforms,
            lights,
            light_records: Vec::with_capacity(light_count),
            environment,
            environment_name: parameters.environment.clone(),
            environment_names: environment::names(),
            frame_sets,
            material_sets,
            _set_layouts: set_layouts,
            _materials: materials,
            stage,
            clear_color: context.clear_color(),
            device: device.clone(),
            model,
            scene,
        };
        sample.collect_lights(parameters);
        Ok(sample)
    }

    fn update(&mut self, step: &Step<'_>, parameters: &Parameters) -> Result<()> {
        self.pose.evaluate(&self.scene, step.clips);
        if parameters.environment != self.environment_name {
            self.change_environment(&parameters.environment)?;
        }
        self.collect_lights(parameters);
        Ok(())
    }

    fn ui(&mut self, parameters: &mut Parameters, ui: &mut egui::Ui) {
        ui.add(egui::Slider::new(&mut parameters.exposure, -6.0..=6.0).text("exposure, stops"));
        choose(ui, "operator", &mut parameters.operator);
        choose(ui, "view", &mut parameters.view);
        egui::ComboBox::from_label("environment").selected_text(parameters.environment.as_str()).show_ui(ui, |ui| {
            for name in &self.environment_names {
                ui.selectable_value(&mut parameters.environment, name.clone(), name);
            }
        });
        let mut lights = self.lights_of(parameters);
        if shining_nodes(&self.scene).next().is_some() {
            choose(ui, "lights", &mut lights);
            parameters.lights = Some(lights);
        }
        if lights != Lights::Model {
            let Sunlight { mut direction, mut illuminance, .. } = sunlight(parameters, &self.environment);
            if ui.add(egui::Slider::new(&mut illuminance, 0.0..=20.0).text("sun, lux")).changed() {
                parameters.light_illuminance = Some(illuminance);
            }
            for (axis, name) in [(0, "towards x"), (1, "y"), (2, "z")] {
                if ui.add(egui::Slider::new(&mut direction[axis], -1.0..=1.0).text(name)).changed() {
                    parameters.light_direction = Some(direction);
                }
            }
        }
        ui.checkbox(&mut parameters.wireframe, "wireframe");
    }

    fn record(&mut self, frame: &Frame<'_>, parameters: &Parameters) -> Result<()> {
        let wireframe = frame.wireframe != parameters.wireframe && self.device.has(Feature::FILL_MODE_NON_SOLID);
        // Another view, operator or number of lights is another shader: made when it is first looked at.
        self.make_pipelines(parameters, wireframe)?;
        self.write_frame(frame, parameters);
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
            self.record_draws(frame, self.solid.iter().copied(), parameters, wireframe);
        }
        // Before what blends with it.
        match &self.stage {
            Some(stage) if self.shows_skybox && !self.environment.is_black => {
                self.record_skybox(frame, parameters);
                stage.draw_shadow(frame);
            }
            Some(stage) => stage.draw(frame),
            None => {}
        }
        if !self.blended.is_empty() {
            let _pass = frame.pass(c"blended");
            self.record_draws(frame, self.blended.iter().map(|&(_, draw)| draw), parameters, wireframe);
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

impl Pbr {
    /// The lights that shine: those of the model where it has any, unless told otherwise.
    fn lights_of(&self, parameters: &Parameters) -> Lights {
        let own = if shining_nodes(&self.scene).next().is_some() { Lights::Model } else { Lights::Sun };
        parameters.lights.unwrap_or(own)
    }

    /// The sun, and the model's lights where their nodes are now, as far as they shine.
    fn collect_lights(&mut self, parameters: &Parameters) {
        let lights = self.lights_of(parameters);
        self.light_records.clear();
        if lights != Lights::Model {
            self.light_records.push(sunlight(parameters, &self.environment).record());
        }
        if lights != Lights::Sun {
            let (scene, pose) = (&self.scene, &self.pose);
            self.light_records.extend(shining_nodes(scene).map(|(node, light)| light_record(light, pose.world(node))));
        }
        self.light_records.retain(|light| light.color.truncate() != Vec3::ZERO);
    }

    /// Another light from all around. The sets that name the old one may be in use, so this waits for the GPU.
    fn change_environment(&mut self, name: &str) -> Result<()> {
        let environment = EnvironmentMaps::new(&self.device, &Environment::named(name)?)?;
        self.device.wait_idle()?;
        write_environment(&self.device, &self.frame_sets, &environment);
        self.environment = environment;
        name.clone_into(&mut self.environment_name);
        Ok(())
    }

    fn write_frame(&mut self, frame: &Frame<'_>, parameters: &Parameters) {
        let view_projection = frame.camera.view_projection();
        self.uniforms[frame.index].write(
            0,
            &[FrameUniforms {
                view_projection,
                clip_to_world: view_projection.inverse(),
                eye: frame.camera.eye.extend(1.0),
                exposure: Vec4::new(parameters.exposure.exp2(), self.environment.roughest_level, 0.0, 0.0),
                irradiance: self.environment.irradiance,
            }],
        );
        self.lights[frame.index].write(0, &self.light_records);
    }

    /// Puts the farthest first. View space looks along -Z, so that is the least z.
    fn sort_blended(&mut self, frame: &Frame<'_>) {
        for (depth, draw) in &mut self.blended {
            let center = self.model.draws[*draw].center(&self.scene, &self.pose);
            *depth = frame.camera.view.transform_point3(center).z;
        }
        self.blended.sort_unstable_by(|(a, first), (b, second)| a.total_cmp(b).then(first.cmp(second)));
    }

    fn record_draws(
        &self,
        frame: &Frame<'_>,
        draws: impl Iterator<Item = usize>,
        parameters: &Parameters,
        wireframe: bool,
    ) {
        let (device, commands, model) = (frame.device, frame.commands, &self.model);
        let graphics = vk::PipelineBindPoint::GRAPHICS;
        let (rest, deformed) = (model.shape_streams(), self.deformation.streams(frame.index));
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
                let pipeline = *self.pipelines[&self.variant(kind, parameters, wireframe)];
                device.cmd_bind_pipeline(commands, graphics, pipeline);
                let shape = if draw.deformed { deformed } else { rest };
                device.cmd_bind_vertex_buffers(commands, 0, &[shape.positions, shape.normals], &[0; 2]);
                if let Some(tangents) = shape.tangents {
                    device.cmd_bind_vertex_buffers(commands, 5, &[tangents], &[0]);
                }
                let material_set = [self.material_sets[draw.material]];
                device.cmd_bind_descriptor_sets(commands, graphics, *self.pipeline_layout, 1, &material_set, &[]);

                let world = draw.world(&self.pose);
                let bytes = bytemuck::bytes_of(&world);
                let vertex = vk::ShaderStageFlags::VERTEX;
                device.cmd_push_constants(commands, *self.pipeline_layout, vertex, 0, bytes);
                // A mirrored node turns its triangles around.
                let mirrored = world.determinant() < 0.0;
                let front = if mirrored { vk::FrontFace::CLOCKWISE } else { vk::FrontFace::COUNTER_CLOCKWISE };
                device.cmd_set_front_face(commands, front);
                // Of a glass body that has two sides the far one is drawn first.
                let double_sided = self.scene.materials[draw.material].double_sided;
                let passes: &[vk::CullModeFlags] = match (double_sided, kind.alpha) {
                    (false, _) => &[vk::CullModeFlags::BACK],
                    (true, Alpha::Blend) => &[vk::CullModeFlags::FRONT, vk::CullModeFlags::BACK],
                    (true, _) => &[vk::CullModeFlags::NONE],
                };
                for &cull in passes {
                    device.cmd_set_cull_mode(commands, cull);
                    device.cmd_draw_indexed(commands, draw.index_count, 1, draw.first_index, draw.vertex_offset, 0);
                }
            }
        }
    }

    /// The environment behind all that is drawn already.
    fn record_skybox(&self, frame: &Frame<'_>, parameters: &Parameters) {
        let _pass = frame.pass(c"skybox");
        let (device, commands, graphics) = (frame.device, frame.commands, vk::PipelineBindPoint::GRAPHICS);
        let frame_set = [self.frame_sets[frame.index]];
        // SAFETY: inside the render pass that the pipeline was made for; set and pipeline live until the GPU is done with
        // them. A triangle without vertex buffers.
        unsafe {
            device.cmd_bind_pipeline(commands, graphics, *self.skyboxes[&parameters.operator]);
            device.cmd_bind_descriptor_sets(commands, graphics, *self.pipeline_layout, 0, &frame_set, &[]);
            device.cmd_set_cull_mode(commands, vk::CullModeFlags::NONE);
            device.cmd_set_front_face(commands, vk::FrontFace::COUNTER_CLOCKWISE);
            device.cmd_draw(commands, 3, 1, 0, 0);
        }
    }

    /// What the pipeline of a kind is made for.
    fn variant(&self, kind: Kind, parameters: &Parameters, wireframe: bool) -> Variant {
        Variant {
            kind,
            view: parameters.view,
            operator: parameters.operator,
            lights: self.light_records.len() as u32,
            environment: !self.environment.is_black,
            wireframe,
        }
    }

    /// The pipelines for what is to be seen, as far as they are not there yet.
    fn make_pipelines(&mut self, parameters: &Parameters, wireframe: bool) -> Result<()> {
        for index in 0..self.kinds.len() {
            let variant = self.variant(self.kinds[index], parameters, wireframe);
            if !self.pipelines.contains_key(&variant) {
                self.pipelines.insert(variant, self.create_variant(variant)?);
            }
        }
        if self.shows_skybox && !self.skyboxes.contains_key(&parameters.operator) {
            self.skyboxes.insert(parameters.operator, self.create_skybox(parameters.operator)?);
        }
        Ok(())
    }

    fn create_variant(&self, variant: Variant) -> Result<Owned<vk::Pipeline>> {
        let device = &self.device;
        let vertex = device.shader_module(shaders::spirv!("pbr/pbr.vert"), "pbr.vert")?;
        let fragment = device.shader_module(shaders::spirv!("pbr/pbr.frag"), "pbr.frag")?;
        let has_tangents = self.model.tangents.is_some();
        let Variant { kind, view, operator, lights, environment, wireframe } = variant;
        // With several samples a pixel, the alpha of a mask says how many of them are covered: its cuts are smooth.
        let coverage = kind.alpha == Alpha::Mask && self.samples != vk::SampleCountFlags::TYPE_1;
        // TANGENTS in pbr.vert; from ALPHA_MODE to SAME_OCCLUSION in pbr.frag.
        let vertex_constants = [u32::from(has_tangents)];
        let fragment_constants = [
            kind.alpha as u32,
            u32::from(coverage),
            view as u32,
            operator as u32,
            lights,
            u32::from(environment),
            u32::from(kind.unlit),
            kind.textures,
            u32::from(kind.transformed),
            u32::from(kind.same_occlusion),
        ];
        let entries = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(constant);
        let vertex_specialization =
            vk::SpecializationInfo::default().map_entries(&entries[..1]).data(bytemuck::bytes_of(&vertex_constants));
        let fragment_specialization =
            vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::bytes_of(&fragment_constants));

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
        let how = How {
            stages: &[
                stage(vk::ShaderStageFlags::VERTEX, *vertex).specialization_info(&vertex_specialization),
                stage(vk::ShaderStageFlags::FRAGMENT, *fragment).specialization_info(&fragment_specialization),
            ],
            vertex_input: vk::PipelineVertexInputStateCreateInfo::default()
                .vertex_binding_descriptions(bindings)
                .vertex_attribute_descriptions(&attributes),
            topology: match kind.topology {
                Topology::Triangles => vk::PrimitiveTopology::TRIANGLE_LIST,
                Topology::Lines => vk::PrimitiveTopology::LINE_LIST,
                Topology::Points => vk::PrimitiveTopology::POINT_LIST,
            },
            polygon_mode: if wireframe { vk::PolygonMode::LINE } else { vk::PolygonMode::FILL },
            coverage,
            blend: kind.alpha == Alpha::Blend,
        };
        self.create_pipeline("pbr", &how)
    }

    fn create_skybox(&self, operator: ToneOperator) -> Result<Owned<vk::Pipeline>> {
        let vertex = self.device.shader_module(shaders::spirv!("pbr/skybox.vert"), "skybox.vert")?;
        let fragment = self.device.shader_module(shaders::spirv!("pbr/skybox.frag"), "skybox.frag")?;
        let entries = [constant(0)];
        let constants = [operator as u32];
        let specialization =
            vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::bytes_of(&constants));
        self.create_pipeline(
            "skybox",
            &How {
                stages: &[
                    stage(vk::ShaderStageFlags::VERTEX, *vertex),
                    stage(vk::ShaderStageFlags::FRAGMENT, *fragment).specialization_info(&specialization),
                ],
                vertex_input: Default::default(),
                topology: vk::PrimitiveTopology::TRIANGLE_LIST,
                polygon_mode: vk::PolygonMode::FILL,
                coverage: false,
                blend: false,
            },
        )
    }

    fn create_pipeline(&self, name: &str, how: &How<'_>) -> Result<Owned<vk::Pipeline>> {
        let input_assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(how.topology);
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        // Materials and mirrored nodes decide about faces; as dynamic state they need no pipelines of their own.
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&[
            vk::DynamicState::VIEWPORT,
            vk::DynamicState::SCISSOR,
            vk::DynamicState::CULL_MODE,
            vk::DynamicState::FRONT_FACE,
        ]);
        let rasterization =
            vk::PipelineRasterizationStateCreateInfo::default().polygon_mode(how.polygon_mode).line_width(1.0);
        let multisample = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(self.samples)
            .alpha_to_coverage_enable(how.coverage);
        // What blends hides nothing behind it: it is tested against depth, and writes none.
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(true)
            .depth_write_enable(!how.blend)
            .depth_compare_op(vk::CompareOp::LESS_OR_EQUAL);
        let blend_attachments = [vk::PipelineColorBlendAttachmentState::default()
            .blend_enable(how.blend)
            .src_color_blend_factor(vk::BlendFactor::SRC_ALPHA)
            .dst_color_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
            .src_alpha_blend_factor(vk::BlendFactor::ONE)
            .dst_alpha_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
            .color_write_mask(vk::ColorComponentFlags::RGBA)];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blend_attachments);

        let info = vk::GraphicsPipelineCreateInfo::default()
            .stages(how.stages)
            .vertex_input_state(&how.vertex_input)
            .input_assembly_state(&input_assembly)
            .viewport_state(&viewport)
            .rasterization_state(&rasterization)
            .multisample_state(&multisample)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(*self.pipeline_layout)
            .render_pass(*self.render_pass);
        let device = &self.device;
        // SAFETY: the create-info is valid and all that it points to is alive.
        let pipelines = unsafe { device.create_graphics_pipelines(device.pipeline_cache(), &[info], None) };
        let pipeline = pipelines.map_err(|(_, error)| error).context("vkCreateGraphicsPipelines failed")?[0];
        Ok(device.own(pipeline, name))
    }
}

/// Where a specialization constant of 32 bits lies.
fn constant(id: u32) -> vk::SpecializationMapEntry {
    vk::SpecializationMapEntry { constant_id: id, offset: 4 * id, size: 4 }
}

fn stage<'a>(stage: vk::ShaderStageFlags, module: vk::ShaderModule) -> vk::PipelineShaderStageCreateInfo<'a> {
    vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main")
}

/// The cone of what is no spot light: full everywhere.
const NO_CONE: Vec4 = Vec4::new(0.0, 1.0, 0.0, 0.0);

/// A light from far away.
struct Sunlight {
    /// The way that the light travels.
    direction: Vec3,
    /// Lux.
    illuminance: f32,
    color: Vec3,
}

/// The sun: that of the environment, as far as the command line says nothing else. An environment whose light is all in its
/// picture has none; where there is no environment, the light makes a white wall that faces it just white.
fn sunlight(parameters: &Parameters, environment: &EnvironmentMaps) -> Sunlight {
    let (direction, irradiance) = match environment.sun {
        Some(sun) => (-sun.direction, sun.irradiance),
        None if environment.is_black => (DIRECTION, Vec3::splat(PI)),
        None => (DIRECTION, Vec3::ZERO),
    };
    let illuminance = irradiance.max_element();
    Sunlight {
        direction: parameters.light_direction.unwrap_or(direction),
        illuminance: parameters.light_illuminance.unwrap_or(illuminance),
        color: parameters.light_color.unwrap_or(if illuminance > 0.0 { irradiance / illuminance } else { Vec3::ONE }),
    }
}

impl Sunlight {
    fn record(&self) -> LightRecord {
        LightRecord {
            color: (self.color * self.illuminance).extend(0.0),
            position: Vec4::ZERO,
            direction: self.direction.try_normalize().unwrap_or(Vec3::NEG_Y).extend(0.0),
            cone: NO_CONE,
        }
    }
}

/// The nodes of the shown scene that have a light.
fn shining_nodes(scene: &Scene) -> impl Iterator<Item = (usize, &scene::Light)> {
    let shown = scene.nodes.iter().enumerate().filter(|(_, node)| node.in_scene);
    shown.filter_map(|(index, node)| Some((index, &scene.lights[node.light?])))
}

/// A light of the model as its node has it: it shines along -Z.
fn light_record(light: &scene::Light, world: Mat4) -> LightRecord {
    let color = light.color * light.intensity;
    let direction = (-world.z_axis.truncate()).try_normalize().unwrap_or(Vec3::NEG_Z);
    let (has_place, range, cone) = match light.kind {
        LightKind::Directional => (0.0, None, NO_CONE),
        LightKind::Point { range } => (1.0, range, NO_CONE),
        LightKind::Spot { range, inner_cone_angle, outer_cone_angle } => {
            // KHR_lights_punctual: the cosine of the angle to the axis, from 0 at the outer cone to 1 at the inner one.
            let scale = 1.0 / (inner_cone_angle.cos() - outer_cone_angle.cos()).max(0.001);
            (1.0, range, Vec4::new(scale, -outer_cone_angle.cos() * scale, 0.0, 0.0))
        }
    };
    LightRecord {
        color: color.extend(has_place),
        position: world.w_axis.truncate().extend(range.unwrap_or(0.0)),
        direction: direction.extend(0.0),
        cone,
    }
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
    Ok(context.device.own(render_pass, "pbr"))
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
            Ok(device.own(framebuffer, "pbr"))
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
            binding(
                0,
                vk::DescriptorType::UNIFORM_BUFFER,
                vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT,
            ),
            binding(1, vk::DescriptorType::STORAGE_BUFFER, vk::ShaderStageFlags::FRAGMENT),
            binding(2, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::FRAGMENT),
            binding(3, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::FRAGMENT),
        ],
    )?;
    let material = DescriptorSetLayout::new(
        device,
        "material",
        &[
            binding(0, vk::DescriptorType::UNIFORM_BUFFER, vk::ShaderStageFlags::FRAGMENT),
            binding(1, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::FRAGMENT)
                .descriptor_count(TextureSlot::COUNT as u32),
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
    Ok(device.own(layout, "pbr"))
}

/// All materials in one buffer, each where a descriptor set may begin.
fn upload_materials(device: &Arc<Device>, scene: &Scene) -> Result<Buffer> {
    let mut bytes = Vec::new();
    for material in &scene.materials {
        bytes.extend_from_slice(bytemuck::bytes_of(&material_record(material)));
        bytes.resize(bytes.len().next_multiple_of(material_stride(device)), 0_u8);
    }
    let mut upload = Upload::new(device)?;
    let buffer = upload.buffer("materials", vk::BufferUsageFlags::UNIFORM_BUFFER, &bytes)?;
    upload.finish()?;
    Ok(buffer)
}

/// Bytes from one material to the next.
fn material_stride(device: &Device) -> usize {
    let alignment = device.physical().properties.limits.min_uniform_buffer_offset_alignment;
    size_of::<MaterialRecord>().next_multiple_of(alignment as usize)
}

fn material_record(material: &scene::Material) -> MaterialRecord {
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
    MaterialRecord {
        base_color_factor: material.base_color_factor,
        emissive_factor: material.emissive_factor.extend(cutoff),
        factors: Vec4::new(
            material.metallic_factor,
            material.roughness_factor,
            material.normal_scale,
            material.occlusion_strength,
        ),
        slots: TextureSlot::ALL.map(slot),
    }
}

fn write_frame_sets(device: &Device, sets: &DescriptorSets, uniforms: &[Buffer], lights: &[Buffer]) {
    let whole = |buffer: &Buffer| [vk::DescriptorBufferInfo::default().buffer(buffer.handle()).range(vk::WHOLE_SIZE)];
    for (set, (uniforms, lights)) in sets.iter().zip(uniforms.iter().zip(lights)) {
        let (uniforms, lights) = (whole(uniforms), whole(lights));
        let write = vk::WriteDescriptorSet::default().dst_set(set);
        let writes = [
            write.dst_binding(0).descriptor_type(vk::DescriptorType::UNIFORM_BUFFER).buffer_info(&uniforms),
            write.dst_binding(1).descriptor_type(vk::DescriptorType::STORAGE_BUFFER).buffer_info(&lights),
        ];
        // SAFETY: sets and buffers are alive, and no command buffer uses the sets yet.
        unsafe { device.update_descriptor_sets(&writes, &[]) };
    }
}

fn write_environment(device: &Device, sets: &DescriptorSets, environment: &EnvironmentMaps) {
    let (cube, table) = ([environment.cube()], [environment.table()]);
    for set in sets.iter() {
        let write =
            vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER);
        let writes = [write.dst_binding(2).image_info(&cube), write.dst_binding(3).image_info(&table)];
        // SAFETY: sets, views and samplers are alive, and no command buffer that the GPU may still read uses the sets.
        unsafe { device.update_descriptor_sets(&writes, &[]) };
    }
}

fn write_material_sets(device: &Device, sets: &DescriptorSets, scene: &Scene, model: &Model, materials: &Buffer) {
    for (index, (set, material)) in sets.iter().zip(&scene.materials).enumerate() {
        let numbers = [vk::DescriptorBufferInfo::default()
            .buffer(materials.handle())
            .offset((index * material_stride(device)) as u64)
            .range(size_of::<MaterialRecord>() as u64)];
        let textures = TextureSlot::ALL.map(|slot| model.texture(material, slot));
        let write = vk::WriteDescriptorSet::default().dst_set(set);
        let writes = [
            write.dst_binding(0).descriptor_type(vk::DescriptorType::UNIFORM_BUFFER).buffer_info(&numbers),
            write.dst_binding(1).descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER).image_info(&textures),
        ];
        // SAFETY: sets, buffer, views and samplers are alive, and no command buffer uses the sets yet.
        unsafe { device.update_descriptor_sets(&writes, &[]) };
    }
}

/// How alpha is used, in the order of drawing; the numbers are those of `ALPHA_MODE` in `pbr.frag`.
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

/// What differs between parts: what a material does not have is not in its shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Kind {
    topology: Topology,
    alpha: Alpha,
    unlit: bool,
    /// A bit for each slot that has a texture.
    textures: u32,
    /// Whether any texture is looked up elsewhere than at the first texture coordinates.
    transformed: bool,
    /// Whether occlusion is the red of the metallic-roughness texture, so that one look gives both.
    same_occlusion: bool,
}

impl Kind {
    fn of(scene: &Scene, draw: &Draw) -> Self {
        let material = &scene.materials[draw.material];
        let textures = TextureSlot::ALL.map(|slot| material.texture(slot));
        let bits = (0..).zip(textures).map(|(bit, texture)| u32::from(texture.is_some()) << bit).sum();
        let is_elsewhere =
            |texture: scene::TextureInfo| texture.tex_coord != 0 || texture.transform != Affine2::IDENTITY;
        let occlusion = material.texture(TextureSlot::Occlusion);
        Self {
            topology: draw.topology,
            alpha: Alpha::of(scene, draw),
            unlit: material.unlit,
            textures: bits,
            transformed: textures.into_iter().flatten().any(is_elsewhere),
            same_occlusion: occlusion.is_some() && occlusion == material.texture(TextureSlot::MetallicRoughness),
        }
    }
}

/// What a pipeline is made for: its vertices and alpha, what is to be seen, and by which light.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Variant {
    kind: Kind,
    view: Shown,
    operator: ToneOperator,
    lights: u32,
    environment: bool,
    wireframe: bool,
}

/// The kinds that are drawn.
fn kinds(scene: &Scene, model: &Model) -> Vec<Kind> {
    let kinds: HashSet<_> = model.draws.iter().map(|draw| Kind::of(scene, draw)).collect();
    kinds.into_iter().collect()
}

/// In what pipelines differ.
#[derive(Clone, Copy)]
struct How<'a> {
    stages: &'a [vk::PipelineShaderStageCreateInfo<'a>],
    vertex_input: vk::PipelineVertexInputStateCreateInfo<'a>,
    topology: vk::PrimitiveTopology,
    polygon_mode: vk::PolygonMode,
    /// Whether alpha says how many of a pixel's samples are covered.
    coverage: bool,
    blend: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_consistent() {
        Parameters::augment_args(clap::Command::new("pbr")).debug_assert();
    }
}
