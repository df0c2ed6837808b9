//! Furniture that is never the topic: a backdrop, a ground to stand on, lines.
//!
//! It has pipelines of its own, made for the sample's render pass, and is drawn by one call inside of that pass.

mod lines;

use std::sync::Arc;

use anyhow::{Context as _, Result};
use ash::vk;
use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec3, Vec4};

pub use lines::{Line, Lines};

use crate::frame::Frame;
use crate::gpu::{Device, GraphicsPipeline, Owned};
use crate::scene::Bounds;
use crate::shaders;

/// What the command line and the scene say of the stage.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The box of what there is to see, world space.
    pub bounds: Bounds,
    /// Whether there are backdrop and ground at all.
    pub stage: bool,
    /// A plain background in place of the backdrop, linear.
    pub background: Option<Vec3>,
}

/// The colours of backdrop and ground, linear.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// The backdrop above.
    pub zenith: Vec3,
    /// The backdrop at eye level.
    pub horizon: Vec3,
    /// The ground.
    pub ground: Vec3,
}

/// The radius of the ground, in radii of the scene.
const GROUND_RADII: f32 = 9.0;

/// A soft backdrop, and a ground under the scene that is lost in it.
pub struct Stage {
    backdrop: Option<Owned<vk::Pipeline>>,
    ground: Owned<vk::Pipeline>,
    layout: Owned<vk::PipelineLayout>,
    look: Look,
    bounds: Bounds,
}

/// Push constants: 112 of the 128 bytes that every GPU has.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Push {
    matrix: Mat4,
    vectors: [Vec4; 3],
}

impl Stage {
    /// Makes the stage for subpass 0 of a render pass with depth, or `None` where the command line wants none. A plain
    /// background that was asked for takes the place of the backdrop.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn new(
        device: &Arc<Device>,
        render_pass: vk::RenderPass,
        samples: vk::SampleCountFlags,
        setting: &Setting,
        look: Look,
    ) -> Result<Option<Self>> {
        if !setting.stage {
            return Ok(None);
        }
        let ranges = [vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT)
            .size(size_of::<Push>() as u32)];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&ranges);
        // SAFETY: the create-info is valid: it names push constants only, within every GPU's limit.
        let layout = unsafe { device.create_pipeline_layout(&info, None) }.context("vkCreatePipelineLayout failed")?;
        let layout = device.own(layout, "stage");
        let common = GraphicsPipeline { samples, layout: *layout, render_pass, ..Default::default() };
        let backdrop = GraphicsPipeline {
            name: "backdrop",
            shaders: [shaders::spirv!("stage/backdrop.vert"), shaders::spirv!("stage/backdrop.frag")],
            depth_write: false,
            ..common
        };
        let ground = GraphicsPipeline {
            name: "ground",
            shaders: [shaders::spirv!("stage/ground.vert"), shaders::spirv!("stage/ground.frag")],
            cull_mode: vk::CullModeFlags::BACK,
            blend: true,
            ..common
        };
        Ok(Some(Self {
            backdrop: setting.background.is_none().then(|| backdrop.create(device)).transpose()?,
            ground: ground.create(device)?,
            layout,
            look,
            bounds: setting.bounds,
        }))
    }

    /// Draws what the scene has left free: to be called after everything opaque and before what is blended. Changes
    /// pipeline and push constants; the viewport is to be set.
    pub fn draw(&self, frame: &Frame<'_>) {
        let _pass = frame.pass(c"stage");
        let world_to_clip = frame.camera.view_projection();
        let Look { zenith, horizon, ground } = self.look;
        let colors = [zenith.extend(1.0), horizon.extend(1.0), Vec4::ZERO];
        if let Some(backdrop) = &self.backdrop {
            self.draw_one(frame, **backdrop, &Push { matrix: world_to_clip.inverse(), vectors: colors }, 3);
        }
        self.draw_ground(frame, ground.extend(1.0), 0.55);
    }

    /// Draws the shadow under the scene alone, on what is there in place of backdrop and ground; else as
    /// [`draw`](Stage::draw).
    pub fn draw_shadow(&self, frame: &Frame<'_>) {
        let _pass = frame.pass(c"shadow");
        self.draw_ground(frame, Vec4::ZERO, 0.85);
    }

    /// The ground in a colour of some opacity, and the shadow, of a darkness from 0 to 1.
    fn draw_ground(&self, frame: &Frame<'_>, color: Vec4, darkness: f32) {
        let size = self.bounds.max - self.bounds.min;
        let floor = self.bounds.center().with_y(self.bounds.min.y);
        // Half axes of the shadow: a little more than the scene, for it is soft.
        let shadow = 0.75 * size.max(Vec3::splat(0.1 * self.bounds.radius()));
        let vectors =
            [floor.extend(GROUND_RADII * self.bounds.radius()), color, Vec4::new(shadow.x, shadow.z, darkness, 0.0)];
        self.draw_one(frame, *self.ground, &Push { matrix: frame.camera.view_projection(), vectors }, 6);
    }

    fn draw_one(&self, frame: &Frame<'_>, pipeline: vk::Pipeline, push: &Push, vertices: u32) {
        let stages = vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT;
        let (device, commands) = (frame.device, frame.commands);
        // SAFETY: inside the render pass that the pipeline was made for; layout and constants are the pipeline's.
        unsafe {
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            device.cmd_push_constants(commands, *self.layout, stages, 0, bytemuck::bytes_of(push));
            device.cmd_draw(commands, vertices, 1, 0, 0);
        }
    }
}
