//! Tone mapping: from light that knows no upper bound to a screen, which does.
//!
//! What you will see: a diving helmet under a bright sky. On the left what the screen can show of the light as it is, on the
//! right what an operator of your choice makes of it; the line between them can be dragged.
//!
//! What you will learn: how a scene is drawn to an image of half floats, and how a triangle without vertices brings that
//! image to the screen. Once with a render pass each, and once as two subpasses of one:
//!
//! ```text
//! --path pass      scene pass    draws   scene image, depth
//!                  screen pass   reads   scene image (sampled)             draws   target
//!
//! --path subpass   subpass 0     draws   scene image, depth
//!                  subpass 1     reads   scene image (input attachment)    draws   target
//! ```
//!
//! A pass that reads an image may look anywhere in it, so the whole image has to be in memory first. A subpass sees its own
//! pixel only: a GPU that draws tile by tile goes on to it while the tile is still on the chip.
//!
//! The scene is drawn by the framework: what it looks like is not the topic. `record` shows what comes between.

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::Arc;

use ashwright::anyhow::{Context as _, Result};
use ashwright::ash::vk;
use ashwright::camera::View;
use ashwright::clap::{self, Args, ValueEnum};
use ashwright::environment::{Environment, EnvironmentMaps};
use ashwright::glam::Vec3;
use ashwright::gpu::{Buffer, DescriptorSetLayout, DescriptorSets, Device, FRAMES_IN_FLIGHT, Feature, Image, Owned};
use ashwright::knobs::{ToneOperator, choose};
use ashwright::model::LitModel;
use ashwright::scene::TextureSlot;
use ashwright::{Context, Frame, Sample, Step, Target, egui, parse};

/// Half floats: up to 65504, in steps of a thousandth of the value. Every GPU draws to, blends in and samples this format.
const SCENE_FORMAT: vk::Format = vk::Format::R16G16B16A16_SFLOAT;

/// The line between before and after: linear, and how wide, pixels.
const DIVIDER_COLOR: [f32; 4] = [0.9, 0.9, 0.9, 1.0];
const DIVIDER_WIDTH: u32 = 2;

fn main() -> ExitCode {
    ashwright::run::<ToneMapping>(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_DESCRIPTION"))
}

/// What the sample can be told.
#[derive(Debug, Clone, Args)]
#[group(skip)]
struct Parameters {
    /// Whether the screen is drawn in a render pass or in a subpass after the scene
    #[arg(long, value_enum, default_value_t)]
    path: Path,
    /// The language of the shaders that draw the screen
    #[arg(long, value_enum, default_value_t)]
    shader_language: Language,
    /// What maps the light to the screen
    #[arg(long, value_enum, default_value = "aces-hill")]
    operator: ToneOperator,
    /// A factor of all light, as a power of two
    #[arg(long, value_name = "STOPS", default_value = "0", allow_hyphen_values = true, value_parser = parse::finite)]
    exposure: f32,
    /// Where the picture is divided: on the left no operator, on the right the operator
    #[arg(long, value_name = "0..1", default_value = "0.5", allow_hyphen_values = true, value_parser = parse_share)]
    split: f32,
    /// Count the pixels by luminance, shown in the overlay
    #[arg(long)]
    histogram: bool,
    /// The light from all around: sky, studio, none, or a panorama of yours (.hdr, or baked to .ktx2)
    #[arg(long, value_name = "NAME|FILE", default_value = "sky")]
    environment: String,
}

fn parse_share(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("a share of the width is from 0 to 1".into()),
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Path {
    #[default]
    Pass,
    Subpass,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ValueEnum)]
enum Language {
    #[default]
    Glsl,
    Hlsl,
}

struct ToneMapping {
    lit_model: LitModel,
    render_passes: RenderPasses,
    attachments: Attachments,
    samples: vk::SampleCountFlags,
    clear_color: vk::ClearValue,

    /// The scene image, as the screen's shaders read it.
    scene_set: DescriptorSets,
    _scene_set_layout: DescriptorSetLayout,
    pipeline_layout: Owned<vk::PipelineLayout>,
    /// Those that have been looked at.
    pipelines: HashMap<(ToneOperator, Language), Owned<vk::Pipeline>>,
    histogram: Histogram,
    device: Arc<Device>,
}

impl Sample for ToneMapping {
    type Parameters = Parameters;

    const MODEL: Option<&'static str> = Some("models/helmet.glb");
    const TEXTURES: &'static [TextureSlot] = &TextureSlot::ALL;
    // The scene image has the samples, and is not resolved.
    const RESOLVES: bool = false;
    const VIEW: Option<View> =
        Some(View { eye: Vec3::new(-0.16, 0.18, 0.66), target: Vec3::new(0.0, 0.265, 0.0), fov: 35.0 });
    const OPTIONAL_FEATURES: &'static [Feature] = &[Feature::SAMPLER_ANISOTROPY];

    fn new(context: &Context, parameters: &Parameters) -> Result<Self> {
        let (device, samples) = (&context.device, context.target.samples);
        let render_passes = RenderPasses::new(context, parameters.path)?;
        let attachments = Attachments::new(device, &render_passes, &context.target)?;

        let environment = EnvironmentMaps::new(device, &Environment::named(&parameters.environment)?)?;
        let sky = context.setting.stage && context.setting.background.is_none();
        let scene_pass = render_passes.of_scene();
        let (scene, images) = (&context.scene, &context.images);
        let lit_model = LitModel::new(device, scene_pass, samples, scene, images, environment, sky)?;

        let scene_set_layout = create_set_layout(device, &render_passes)?;
        let scene_set = DescriptorSets::new(device, "scene image", &scene_set_layout, 1)?;
        let pipeline_layout = create_pipeline_layout(device, &scene_set_layout)?;
        let histogram = Histogram::new(device, samples)?;
        let mut sample = Self {
            lit_model,
            render_passes,
            attachments,
            samples,
            clear_color: context.clear_color(),
            scene_set,
            _scene_set_layout: scene_set_layout,
            pipeline_layout,
            pipelines: HashMap::new(),
            histogram,
            device: device.clone(),
        };
        sample.write_sets();
        sample.make_pipelines(parameters)?;
        Ok(sample)
    }

    fn update(&mut self, step: &Step<'_>, parameters: &Parameters) -> Result<()> {
        self.lit_model.evaluate(step.clips);
        self.make_pipelines(parameters)
    }

    fn ui(&mut self, parameters: &mut Parameters, ui: &mut egui::Ui) {
        ui.add(egui::Slider::new(&mut parameters.exposure, -8.0..=8.0).text("exposure, stops"));
        choose(ui, "operator", &mut parameters.operator);
        ui.add(egui::Slider::new(&mut parameters.split, 0.0..=1.0).text("split"));
        drag_divider(ui, &mut parameters.split);
        choose(ui, "shader language", &mut parameters.shader_language);
        ui.checkbox(&mut parameters.histogram, "histogram");
        if parameters.histogram {
            self.histogram.show(ui, parameters.exposure);
        }
    }

    fn record(&mut self, frame: &Frame<'_>, parameters: &Parameters) -> Result<()> {
        self.lit_model.prepare(frame);
        let (device, commands) = (frame.device, frame.commands);
        let target = *self.attachments.framebuffers[frame.image];
        let scene_target = self.attachments.scene.as_ref().map_or(target, |framebuffer| **framebuffer);
        match &self.render_passes {
            RenderPasses::Two { scene, screen } => {
                self.begin_render_pass(frame, **scene, scene_target);
                self.draw_scene(frame);
                // SAFETY: the render pass was begun above.
                unsafe { device.cmd_end_render_pass(commands) };
                self.begin_render_pass(frame, **screen, target);
                self.draw_screen(frame, parameters);
            }
            RenderPasses::One { keeping, forgetting } => {
                let render_pass = if parameters.histogram { keeping } else { forgetting };
                self.begin_render_pass(frame, **render_pass, scene_target);
                self.draw_scene(frame);
                // SAFETY: the render pass was begun above and has one more subpass.
                unsafe { device.cmd_next_subpass(commands, vk::SubpassContents::INLINE) };
                self.draw_screen(frame, parameters);
            }
        }
        // SAFETY: a render pass was begun above, and is in its last subpass.
        unsafe { device.cmd_end_render_pass(commands) };
        if parameters.histogram {
            self.histogram.record(frame);
        }
        Ok(())
    }

    fn resize(&mut self, device: &Arc<Device>, target: &Target) -> Result<()> {
        self.attachments = Attachments::new(device, &self.render_passes, target)?;
        self.write_sets();
        Ok(())
    }
}

impl ToneMapping {
    /// Begins a render pass at its first subpass.
    fn begin_render_pass(&self, frame: &Frame<'_>, render_pass: vk::RenderPass, framebuffer: vk::Framebuffer) {
        // Those of the scene; what else there may be is drawn all over.
        let clears =
            [self.clear_color, vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 } }];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(render_pass)
            .framebuffer(framebuffer)
            .render_area(frame.extent.into())
            .clear_values(&clears);
        // SAFETY: the command buffer is being recorded; the framebuffer fits the render pass and lives until it is resized.
        unsafe { frame.device.cmd_begin_render_pass(frame.commands, &begin, vk::SubpassContents::INLINE) };
        frame.set_full_viewport();
    }

    fn draw_scene(&self, frame: &Frame<'_>) {
        let _pass = frame.pass(c"scene");
        self.lit_model.draw(frame);
    }

    /// Covers each side of the divider with the same triangle and another operator.
    fn draw_screen(&self, frame: &Frame<'_>, parameters: &Parameters) {
        let _pass = frame.pass(c"screen");
        let (device, commands, vk::Extent2D { width, height }) = (frame.device, frame.commands, frame.extent);
        let graphics = vk::PipelineBindPoint::GRAPHICS;
        let columns = |first: u32, end: u32| vk::Rect2D {
            offset: vk::Offset2D { x: first as i32, y: 0 },
            extent: vk::Extent2D { width: end - first, height },
        };
        let divider = (parameters.split * width as f32).round() as u32;
        let sides = [(ToneOperator::None, columns(0, divider)), (parameters.operator, columns(divider, width))];
        // SAFETY: inside the render pass, and the subpass, that the pipelines were made for. The set is written and lives
        // until the GPU is done with it; nothing is bound as vertices, and nothing read.
        unsafe {
            let set = [self.scene_set[0]];
            device.cmd_bind_descriptor_sets(commands, graphics, *self.pipeline_layout, 0, &set, &[]);
            let exposure = parameters.exposure.exp2().to_ne_bytes();
            let fragment = vk::ShaderStageFlags::FRAGMENT;
            device.cmd_push_constants(commands, *self.pipeline_layout, fragment, 0, &exposure);
            for (operator, side) in sides.into_iter().filter(|(_, side)| side.extent.width > 0) {
                let pipeline = &self.pipelines[&(operator, parameters.shader_language)];
                device.cmd_bind_pipeline(commands, graphics, **pipeline);
                device.cmd_set_scissor(commands, 0, &[side]);
                device.cmd_draw(commands, 3, 1, 0, 0);
            }
        }
        if 0 < divider && divider < width {
            let half = DIVIDER_WIDTH / 2;
            let line = columns(divider.saturating_sub(half), (divider + half).min(width));
            let rect = [vk::ClearRect::default().rect(line).layer_count(1)];
            let color = vk::ClearValue { color: vk::ClearColorValue { float32: DIVIDER_COLOR } };
            let attachment = [vk::ClearAttachment::default()
                .aspect_mask(vk::ImageAspectFlags::COLOR)
                .color_attachment(0)
                .clear_value(color)];
            // SAFETY: as above; the line lies within the target.
            unsafe { device.cmd_clear_attachments(commands, &attachment, &rect) };
        }
    }

    /// Names the scene image, which is another one after a resize, to those who read it. The GPU must be idle.
    fn write_sets(&mut self) {
        let scene_image = &self.attachments.scene_image;
        let image = [vk::DescriptorImageInfo::default()
            .image_view(scene_image.view())
            .image_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(self.scene_set[0])
            .descriptor_type(self.render_passes.descriptor_type())
            .image_info(&image);
        // SAFETY: set and view are alive, and the GPU uses neither.
        unsafe { self.device.update_descriptor_sets(&[write], &[]) };
        self.histogram.set_image(scene_image);
    }

    /// The pipelines for what is to be seen, as far as they are not there yet: an operator is a constant of its shader.
    fn make_pipelines(&mut self, parameters: &Parameters) -> Result<()> {
        for operator in [ToneOperator::None, parameters.operator] {
            let key = (operator, parameters.shader_language);
            if !self.pipelines.contains_key(&key) {
                let pipeline = self.create_pipeline(operator, parameters.shader_language)?;
                self.pipelines.insert(key, pipeline);
            }
        }
        Ok(())
    }

    fn create_pipeline(&self, operator: ToneOperator, language: Language) -> Result<Owned<vk::Pipeline>> {
        let device = &self.device;
        let vertex = match language {
            Language::Glsl => device.shader_module(shaders::spirv!("tone_mapping/screen.vert"), "screen.vert")?,
            Language::Hlsl => {
                device.shader_module(shaders::spirv!("tone_mapping/screen.vert.hlsl"), "screen.vert.hlsl")?
            }
        };
        let fragment = device.shader_module(self.fragment_shader(language), "screen.frag")?;
        // OPERATOR in the shader.
        let constants = [operator as u32];
        let entries = [vk::SpecializationMapEntry { constant_id: 0, offset: 0, size: 4 }];
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
        // No vertices: the shader makes them of their numbers.
        let vertex_input = vk::PipelineVertexInputStateCreateInfo::default();
        let input_assembly =
            vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let dynamic = vk::PipelineDynamicStateCreateInfo::default()
            .dynamic_states(&[vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR]);
        // It has no back that would have to be culled.
        let rasterization =
            vk::PipelineRasterizationStateCreateInfo::default().cull_mode(vk::CullModeFlags::NONE).line_width(1.0);
        // The target has one sample a pixel, however many the scene image has.
        let multisample =
            vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let blend_attachments =
            [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blend_attachments);

        let (render_pass, subpass) = self.render_passes.of_screen();
        let info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&vertex_input)
            .input_assembly_state(&input_assembly)
            .viewport_state(&viewport)
            .rasterization_state(&rasterization)
            .multisample_state(&multisample)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(*self.pipeline_layout)
            .render_pass(render_pass)
            .subpass(subpass);
        // SAFETY: the create-info is valid and all that it points to is alive.
        let pipelines = unsafe { device.create_graphics_pipelines(device.pipeline_cache(), &[info], None) };
        let pipeline = pipelines.map_err(|(_, error)| error).context("vkCreateGraphicsPipelines failed")?[0];
        Ok(device.own(pipeline, "screen"))
    }

    /// How a shader reads an image depends on whether it is an input attachment, and on whether it has several samples.
    fn fragment_shader(&self, language: Language) -> &'static [u32] {
        use Language::{Glsl, Hlsl};
        use RenderPasses::{One, Two};
        let several = self.samples != vk::SampleCountFlags::TYPE_1;
        match (&self.render_passes, several, language) {
            (Two { .. }, false, Glsl) => shaders::spirv!("tone_mapping/screen_pass_1.frag"),
            (Two { .. }, true, Glsl) => shaders::spirv!("tone_mapping/screen_pass_4.frag"),
            (Two { .. }, false, Hlsl) => shaders::spirv!("tone_mapping/screen_pass_1.frag.hlsl"),
            (Two { .. }, true, Hlsl) => shaders::spirv!("tone_mapping/screen_pass_4.frag.hlsl"),
            (One { .. }, false, Glsl) => shaders::spirv!("tone_mapping/screen_subpass_1.frag"),
            (One { .. }, true, Glsl) => shaders::spirv!("tone_mapping/screen_subpass_4.frag"),
            (One { .. }, false, Hlsl) => shaders::spirv!("tone_mapping/screen_subpass_1.frag.hlsl"),
            (One { .. }, true, Hlsl) => shaders::spirv!("tone_mapping/screen_subpass_4.frag.hlsl"),
        }
    }
}

/// The render passes of a path.
enum RenderPasses {
    Two {
        scene: Owned<vk::RenderPass>,
        screen: Owned<vk::RenderPass>,
    },
    /// They differ only in whether the scene image is kept in memory, for the histogram; so what is made for the one fits the
    /// other.
    One {
        keeping: Owned<vk::RenderPass>,
        forgetting: Owned<vk::RenderPass>,
    },
}

impl RenderPasses {
    fn new(context: &Context, path: Path) -> Result<Self> {
        Ok(match path {
            Path::Pass => Self::Two { scene: create_scene_pass(context)?, screen: create_screen_pass(context)? },
            Path::Subpass => Self::One {
                keeping: create_pass_of_both(context, vk::AttachmentStoreOp::STORE)?,
                forgetting: create_pass_of_both(context, vk::AttachmentStoreOp::DONT_CARE)?,
            },
        })
    }

    /// Where the scene is drawn, in subpass 0.
    fn of_scene(&self) -> vk::RenderPass {
        match self {
            Self::Two { scene, .. } => **scene,
            Self::One { forgetting, .. } => **forgetting,
        }
    }

    /// Where the screen is drawn, and in which subpass.
    fn of_screen(&self) -> (vk::RenderPass, u32) {
        match self {
            Self::Two { screen, .. } => (**screen, 0),
            Self::One { forgetting, .. } => (**forgetting, 1),
        }
    }

    /// What the scene image is to the shader of the screen.
    fn descriptor_type(&self) -> vk::DescriptorType {
        match self {
            Self::Two { .. } => vk::DescriptorType::SAMPLED_IMAGE,
            Self::One { .. } => vk::DescriptorType::INPUT_ATTACHMENT,
        }
    }
}

const COLOR: vk::ImageLayout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
const DEPTH: vk::ImageLayout = vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
const READ: vk::ImageLayout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;

/// The scene image and its depth, each with all samples of a pixel: they are not resolved, for light is not to be averaged
/// before it is mapped.
fn scene_attachments(context: &Context) -> [vk::AttachmentDescription; 2] {
    let attachment = vk::AttachmentDescription::default()
        .samples(context.target.samples)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .initial_layout(vk::ImageLayout::UNDEFINED);
    let color = attachment.format(SCENE_FORMAT).store_op(vk::AttachmentStoreOp::STORE).final_layout(READ);
    let depth =
        attachment.format(context.device.depth_format()).store_op(vk::AttachmentStoreOp::DONT_CARE).final_layout(DEPTH);
    [color, depth]
}

/// What the frame ends in: one sample a pixel, drawn all over, so that nothing has to be cleared.
fn target_attachment(context: &Context) -> vk::AttachmentDescription {
    vk::AttachmentDescription::default()
        .format(context.target.format)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::DONT_CARE)
        .store_op(vk::AttachmentStoreOp::STORE)
        .initial_layout(vk::ImageLayout::UNDEFINED)
        .final_layout(COLOR)
}

/// All frames share scene image and depth. A frame may only begin to draw to them, and before that to change the image's
/// layout, when the frame before has done with them: its screen and its histogram have read the image, and what it has
/// written is in memory. Reads leave nothing that would have to be made visible: there is no access mask for them.
fn after_last_frame() -> vk::SubpassDependency {
    let color = vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT;
    let depth = vk::PipelineStageFlags::EARLY_FRAGMENT_TESTS | vk::PipelineStageFlags::LATE_FRAGMENT_TESTS;
    let readers = vk::PipelineStageFlags::FRAGMENT_SHADER | vk::PipelineStageFlags::COMPUTE_SHADER;
    let reads = vk::AccessFlags::COLOR_ATTACHMENT_READ | vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_READ;
    let writes = vk::AccessFlags::COLOR_ATTACHMENT_WRITE | vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE;
    vk::SubpassDependency::default()
        .src_subpass(vk::SUBPASS_EXTERNAL)
        .src_stage_mask(color | depth | readers)
        .src_access_mask(writes)
        .dst_subpass(0)
        .dst_stage_mask(color | depth)
        .dst_access_mask(reads | writes)
}

/// The target may be drawn to when it was acquired, as in the triangle sample.
fn after_acquire(subpass: u32) -> vk::SubpassDependency {
    vk::SubpassDependency::default()
        .src_subpass(vk::SUBPASS_EXTERNAL)
        .src_stage_mask(vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT)
        .dst_subpass(subpass)
        .dst_stage_mask(vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT)
        .dst_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE)
}

/// Those who read the scene image wait until it is drawn.
fn before_readers(subpass: u32, readers: vk::PipelineStageFlags) -> vk::SubpassDependency {
    vk::SubpassDependency::default()
        .src_subpass(subpass)
        .src_stage_mask(vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT)
        .src_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE)
        .dst_subpass(vk::SUBPASS_EXTERNAL)
        .dst_stage_mask(readers)
        .dst_access_mask(vk::AccessFlags::SHADER_READ)
}

/// `--path pass`, first: the scene.
fn create_scene_pass(context: &Context) -> Result<Owned<vk::RenderPass>> {
    let colors = [vk::AttachmentReference { attachment: 0, layout: COLOR }];
    let depth = vk::AttachmentReference { attachment: 1, layout: DEPTH };
    let subpass = vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colors)
        .depth_stencil_attachment(&depth);
    let readers = vk::PipelineStageFlags::FRAGMENT_SHADER | vk::PipelineStageFlags::COMPUTE_SHADER;
    let dependencies = [after_last_frame(), before_readers(0, readers)];
    create_render_pass(&context.device, "scene", &scene_attachments(context), &[subpass], &dependencies)
}

/// `--path pass`, second: the screen. The scene image is none of its attachments; a shader samples it.
fn create_screen_pass(context: &Context) -> Result<Owned<vk::RenderPass>> {
    let colors = [vk::AttachmentReference { attachment: 0, layout: COLOR }];
    let subpass = vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colors);
    create_render_pass(&context.device, "screen", &[target_attachment(context)], &[subpass], &[after_acquire(0)])
}

/// `--path subpass`: both in one.
fn create_pass_of_both(context: &Context, store_scene: vk::AttachmentStoreOp) -> Result<Owned<vk::RenderPass>> {
    let [scene, depth] = scene_attachments(context);
    let attachments = [scene.store_op(store_scene), depth, target_attachment(context)];

    let scene_colors = [vk::AttachmentReference { attachment: 0, layout: COLOR }];
    let scene_depth = vk::AttachmentReference { attachment: 1, layout: DEPTH };
    let screen_inputs = [vk::AttachmentReference { attachment: 0, layout: READ }];
    let screen_colors = [vk::AttachmentReference { attachment: 2, layout: COLOR }];
    let subpass = vk::SubpassDescription::default().pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS);
    let subpasses = [
        subpass.color_attachments(&scene_colors).depth_stencil_attachment(&scene_depth),
        subpass.input_attachments(&screen_inputs).color_attachments(&screen_colors),
    ];

    // Each pixel of the screen waits for the same pixel of the scene alone: by region.
    let between = vk::SubpassDependency::default()
        .src_subpass(0)
        .src_stage_mask(vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT)
        .src_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE)
        .dst_subpass(1)
        .dst_stage_mask(vk::PipelineStageFlags::FRAGMENT_SHADER)
        .dst_access_mask(vk::AccessFlags::INPUT_ATTACHMENT_READ)
        .dependency_flags(vk::DependencyFlags::BY_REGION);
    // The image is stored when the last subpass that uses it ends.
    let before_histogram = before_readers(1, vk::PipelineStageFlags::COMPUTE_SHADER);
    let dependencies = [after_last_frame(), between, after_acquire(1), before_histogram];
    create_render_pass(&context.device, "scene and screen", &attachments, &subpasses, &dependencies)
}

fn create_render_pass(
    device: &Arc<Device>,
    name: &str,
    attachments: &[vk::AttachmentDescription],
    subpasses: &[vk::SubpassDescription<'_>],
    dependencies: &[vk::SubpassDependency],
) -> Result<Owned<vk::RenderPass>> {
    let info =
        vk::RenderPassCreateInfo::default().attachments(attachments).subpasses(subpasses).dependencies(dependencies);
    // SAFETY: the create-info is valid and all that it points to is alive.
    let render_pass = unsafe { device.create_render_pass(&info, None) }.context("vkCreateRenderPass failed")?;
    Ok(device.own(render_pass, name))
}

/// What has the target's size.
struct Attachments {
    /// What the scene is drawn to, where that is not the same as what the screen is.
    scene: Option<Owned<vk::Framebuffer>>,
    /// One for each image that frames end in.
    framebuffers: Vec<Owned<vk::Framebuffer>>,
    scene_image: Image,
    _depth: Image,
}

impl Attachments {
    fn new(device: &Arc<Device>, render_passes: &RenderPasses, target: &Target) -> Result<Self> {
        let (extent, samples) = (target.extent, target.samples);
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT
            | vk::ImageUsageFlags::SAMPLED
            | vk::ImageUsageFlags::INPUT_ATTACHMENT;
        let scene_image = Image::attachment(device, "scene image", SCENE_FORMAT, extent, samples, usage)?;
        let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        let depth = Image::attachment(device, "depth", device.depth_format(), extent, samples, usage)?;
        let create = |render_pass, views: &[vk::ImageView]| {
            let info = vk::FramebufferCreateInfo::default()
                .render_pass(render_pass)
                .attachments(views)
                .width(extent.width)
                .height(extent.height)
                .layers(1);
            // SAFETY: the views are of the render pass's formats and sample counts, and of this size.
            let framebuffer =
                unsafe { device.create_framebuffer(&info, None) }.context("vkCreateFramebuffer failed")?;
            Ok(device.own(framebuffer, "tone_mapping"))
        };
        let (scene, framebuffers) = match render_passes {
            RenderPasses::Two { scene, screen } => (
                Some(create(**scene, &[scene_image.view(), depth.view()])?),
                target.views.iter().map(|&view| create(**screen, &[view])).collect::<Result<_>>()?,
            ),
            RenderPasses::One { forgetting, .. } => {
                let create = |&view| create(**forgetting, &[scene_image.view(), depth.view(), view]);
                (None, target.views.iter().map(create).collect::<Result<_>>()?)
            }
        };
        Ok(Self { scene, framebuffers, scene_image, _depth: depth })
    }
}

/// The scene image, and nothing else.
fn create_set_layout(device: &Arc<Device>, render_passes: &RenderPasses) -> Result<DescriptorSetLayout> {
    let binding = vk::DescriptorSetLayoutBinding::default()
        .binding(0)
        .descriptor_type(render_passes.descriptor_type())
        .descriptor_count(1)
        .stage_flags(vk::ShaderStageFlags::FRAGMENT);
    DescriptorSetLayout::new(device, "scene image", &[binding])
}

/// One set, and a push constant: the exposure.
fn create_pipeline_layout(device: &Arc<Device>, set_layout: &DescriptorSetLayout) -> Result<Owned<vk::PipelineLayout>> {
    let set_layouts = [**set_layout];
    let push_constants =
        [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::FRAGMENT).size(size_of::<f32>() as u32)];
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts).push_constant_ranges(&push_constants);
    // SAFETY: the set layout is alive; the constant is within the 128 bytes that every GPU has.
    let layout = unsafe { device.create_pipeline_layout(&info, None) }.context("vkCreatePipelineLayout failed")?;
    Ok(device.own(layout, "screen"))
}

/// How many pixels of the scene have which luminance, counted by a compute shader.
struct Histogram {
    pipeline: Owned<vk::Pipeline>,
    pipeline_layout: Owned<vk::PipelineLayout>,
    /// Written by the GPU and read by the CPU, so there is one for every frame in flight.
    bins: Vec<Buffer>,
    sets: DescriptorSets,
    _set_layout: DescriptorSetLayout,
    /// What the GPU has counted last.
    counted: [u32; BINS],
    device: Arc<Device>,
}

/// As in `shaders/tone_mapping/histogram.glsl`: how many bins there are, where the first begins, and how wide they are.
const BINS: usize = 128;
const FIRST_STOP: f32 = -10.0;
const BINS_A_STOP: f32 = 8.0;

/// The pixels that a workgroup looks at, across and down.
const GROUP_PIXELS: [u32; 2] = [64, 64];

impl Histogram {
    fn new(device: &Arc<Device>, samples: vk::SampleCountFlags) -> Result<Self> {
        let binding = |binding: u32, ty| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(ty)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let bindings = [binding(0, vk::DescriptorType::SAMPLED_IMAGE), binding(1, vk::DescriptorType::STORAGE_BUFFER)];
        let set_layout = DescriptorSetLayout::new(device, "histogram", &bindings)?;
        let set_layouts = [*set_layout];
        let layout_info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
        // SAFETY: the set layout is alive.
        let pipeline_layout =
            unsafe { device.create_pipeline_layout(&layout_info, None) }.context("vkCreatePipelineLayout failed")?;
        let pipeline_layout = device.own(pipeline_layout, "histogram");

        let shader = match samples {
            vk::SampleCountFlags::TYPE_1 => shaders::spirv!("tone_mapping/histogram_1.comp"),
            _ => shaders::spirv!("tone_mapping/histogram_4.comp"),
        };
        let module = device.shader_module(shader, "histogram.comp")?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(*module)
            .name(c"main");
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(*pipeline_layout);
        // SAFETY: the create-info is valid and all that it points to is alive.
        let pipelines = unsafe { device.create_compute_pipelines(device.pipeline_cache(), &[info], None) };
        let pipeline = pipelines.map_err(|(_, error)| error).context("vkCreateComputePipelines failed")?[0];

        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
        let size = size_of::<[u32; BINS]>() as u64;
        let mut bins = (0..FRAMES_IN_FLIGHT)
            .map(|_| Buffer::readable(device, "histogram", size, usage))
            .collect::<Result<Vec<_>>>()?;
        // The first frames find what none has counted.
        bins.iter_mut().for_each(|bins| bins.write(0, &[0_u32; BINS]));
        let sets = DescriptorSets::new(device, "histogram", &set_layout, FRAMES_IN_FLIGHT)?;
        Ok(Self {
            pipeline: device.own(pipeline, "histogram"),
            pipeline_layout,
            bins,
            sets,
            _set_layout: set_layout,
            counted: [0; BINS],
            device: device.clone(),
        })
    }

    /// Says which image is to be counted. The GPU must be idle.
    fn set_image(&mut self, image: &Image) {
        let image = [vk::DescriptorImageInfo::default().image_view(image.view()).image_layout(READ)];
        for (set, bins) in self.sets.iter().zip(&self.bins) {
            let bins = [vk::DescriptorBufferInfo::default().buffer(bins.handle()).range(vk::WHOLE_SIZE)];
            let write = vk::WriteDescriptorSet::default().dst_set(set);
            let writes = [
                write.dst_binding(0).descriptor_type(vk::DescriptorType::SAMPLED_IMAGE).image_info(&image),
                write.dst_binding(1).descriptor_type(vk::DescriptorType::STORAGE_BUFFER).buffer_info(&bins),
            ];
            // SAFETY: sets, view and buffers are alive, and the GPU uses none of them.
            unsafe { self.device.update_descriptor_sets(&writes, &[]) };
        }
    }

    /// Takes what the last frame of this index has counted, and has this one count anew.
    fn record(&mut self, frame: &Frame<'_>) {
        let _pass = frame.pass(c"histogram");
        let bins = &self.bins[frame.index];
        self.counted.copy_from_slice(&bytemuck::cast_slice(bins.bytes())[..BINS]);

        let (device, commands) = (frame.device, frame.commands);
        let (transfer, compute, host) = (
            vk::PipelineStageFlags2::ALL_TRANSFER,
            vk::PipelineStageFlags2::COMPUTE_SHADER,
            vk::PipelineStageFlags2::HOST,
        );
        let storage = vk::AccessFlags2::SHADER_STORAGE_READ | vk::AccessFlags2::SHADER_STORAGE_WRITE;
        let cleared = [vk::MemoryBarrier2::default()
            .src_stage_mask(transfer)
            .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
            .dst_stage_mask(compute)
            .dst_access_mask(storage)];
        let counted = [vk::MemoryBarrier2::default()
            .src_stage_mask(compute)
            .src_access_mask(vk::AccessFlags2::SHADER_STORAGE_WRITE)
            .dst_stage_mask(host)
            .dst_access_mask(vk::AccessFlags2::HOST_READ)];
        let bind_point = vk::PipelineBindPoint::COMPUTE;
        let groups_x = frame.extent.width.div_ceil(GROUP_PIXELS[0]);
        let groups_y = frame.extent.height.div_ceil(GROUP_PIXELS[1]);
        // SAFETY: outside of any render pass. The last use of these bins has ended with the last frame of this index; the
        // scene's render pass has made the image visible to compute shaders, and set and pipeline live until the GPU is
        // done with them.
        unsafe {
            device.cmd_fill_buffer(commands, bins.handle(), 0, vk::WHOLE_SIZE, 0);
            device.cmd_pipeline_barrier2(commands, &vk::DependencyInfo::default().memory_barriers(&cleared));
            device.cmd_bind_pipeline(commands, bind_point, *self.pipeline);
            let set = [self.sets[frame.index]];
            device.cmd_bind_descriptor_sets(commands, bind_point, *self.pipeline_layout, 0, &set, &[]);
            device.cmd_dispatch(commands, groups_x, groups_y, 1);
            device.cmd_pipeline_barrier2(commands, &vk::DependencyInfo::default().memory_barriers(&counted));
        }
    }

    /// A bar for each bin, as the exposure moves them. What is right of the line is brighter than a screen can be.
    fn show(&self, ui: &mut egui::Ui, exposure: f32) {
        let size = egui::vec2(ui.available_width().min(240.0), 80.0);
        let (rect, _) = ui.allocate_exact_size(size, egui::Sense::hover());
        let painter = ui.painter_at(rect);
        painter.rect_filled(rect, 2.0, egui::Color32::from_black_alpha(120));
        let width = rect.width() / BINS as f32;
        let x = |stop: f32| rect.left() + (stop - FIRST_STOP) * BINS_A_STOP * width;
        let most = self.counted.iter().copied().max().unwrap_or(0).max(1) as f32;
        for (bin, &count) in self.counted.iter().enumerate() {
            let stop = FIRST_STOP + bin as f32 / BINS_A_STOP + exposure;
            // Few bright pixels matter as much as many dark ones: heights are roots.
            let top = rect.bottom() - rect.height() * (count as f32 / most).sqrt();
            let bar = egui::Rect::from_min_max(egui::pos2(x(stop), top), egui::pos2(x(stop) + width, rect.bottom()));
            let color =
                if stop < 0.0 { egui::Color32::from_rgb(120, 200, 255) } else { egui::Color32::from_rgb(255, 170, 80) };
            painter.rect_filled(bar, 0.0, color);
        }
        painter.vline(x(0.0), rect.y_range(), egui::Stroke::new(1.0, egui::Color32::from_white_alpha(160)));
    }
}

/// What takes the mouse where the divider is: dragged there, it moves the divider and does not turn the camera.
fn drag_divider(ui: &egui::Ui, split: &mut f32) {
    const REACH: f32 = 6.0;
    let screen = ui.ctx().content_rect();
    let corner = egui::pos2(screen.left() + *split * screen.width() - REACH, screen.top());
    let area = egui::Area::new(egui::Id::new("divider")).fixed_pos(corner).constrain(false);
    let response =
        area.show(ui.ctx(), |ui| ui.allocate_response(egui::vec2(2.0 * REACH, screen.height()), egui::Sense::drag()));
    // The overlay stays above it.
    ui.ctx().move_to_top(ui.layer_id());
    let response = response.inner.on_hover_and_drag_cursor(egui::CursorIcon::ResizeHorizontal);
    if let Some(pointer) = response.interact_pointer_pos() {
        *split = ((pointer.x - screen.left()) / screen.width()).clamp(0.0, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use ashwright::camera::CameraMatrices;
    use ashwright::glam::Mat4;
    use ashwright::gpu::{Frames, Upload};
    use half::f16;

    use super::*;

    #[test]
    fn options_are_sound() {
        Parameters::augment_args(clap::Command::new("tone_mapping")).debug_assert();
    }

    /// A grey of every bin, black, and what is brighter than all: as many of each as the picture has, which is of a size that
    /// workgroups do not divide.
    #[test]
    fn a_histogram_counts_every_pixel_once() {
        let device = tools::compute::device().expect("there is Vulkan");
        let extent = vk::Extent2D { width: 131, height: 77 };
        let grey = |kind: usize| match kind {
            0 => (0, 0.0),
            1 => (BINS - 1, 60000.0),
            kind => (kind - 2, (FIRST_STOP + (kind as f32 - 1.5) / BINS_A_STOP).exp2()),
        };
        let mut expected = [0; BINS];
        let mut texels = Vec::new();
        // Some are more frequent than others.
        for pixel in 0..(extent.width * extent.height) as usize {
            let (bin, luminance) = grey((pixel * pixel / 7) % (BINS + 2));
            expected[bin] += 1;
            texels.push([luminance, luminance, luminance, 1.0].map(|number| f16::from_f32(number).to_bits()));
        }
        let mut upload = Upload::new(&device).expect("there is room");
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(SCENE_FORMAT)
            .extent(extent.into())
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1);
        let image = upload.image("scene image", &info, &[bytemuck::cast_slice(&texels)]).expect("there is room");
        upload.finish().expect("the device works");

        let mut histogram = Histogram::new(&device, vk::SampleCountFlags::TYPE_1).expect("it can be made");
        histogram.set_image(&image);
        let mut frames = Frames::new(&device).expect("there is room");
        // What a frame counts is known when its index comes again, and each counts anew.
        for number in 0..3 * FRAMES_IN_FLIGHT {
            frames.wait().expect("the device works");
            let frame = Frame {
                device: &device,
                commands: frames.begin().expect("the device works"),
                index: frames.index(),
                image: 0,
                extent,
                camera: CameraMatrices { view: Mat4::IDENTITY, projection: Mat4::IDENTITY, eye: Vec3::ZERO },
                timestamps: None,
                wireframe: false,
            };
            histogram.record(&frame);
            frames.submit(None).expect("the device works");
            let expected = if number < FRAMES_IN_FLIGHT { [0; BINS] } else { expected };
            assert_eq!(histogram.counted, expected, "frame {number}");
        }
        device.wait_idle().expect("the device works");
    }
}
