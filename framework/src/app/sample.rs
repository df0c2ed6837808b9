//! What a sample is to the framework, and what the framework gives it.

use std::sync::Arc;

use anyhow::Result;
use ash::vk;
use glam::Vec3;

use crate::camera::View;
use crate::frame::{Frame, Target};
use crate::gpu::{Device, Feature};
use crate::scene::{Bounds, Image, Scene, TextureSlot};
use crate::stage::Setting;

/// A program that shows one technique. `main` hands it to [`run`](crate::run).
pub trait Sample: Sized {
    /// The sample's knobs: its own options on the command line, and what [`ui`](Sample::ui) shows. `()` where it has none.
    type Parameters: clap::Args;

    /// The model to show unless another is given, a path below the folder `assets`. `None`: the sample shows no model and
    /// takes no model options.
    const MODEL: Option<&'static str> = None;
    /// The textures of a model's materials that the sample reads. Others are not decoded.
    const TEXTURES: &'static [TextureSlot] = &[TextureSlot::BaseColor];
    /// The samples a pixel that it can draw with, 1 or 4, the default first. `--msaa` chooses.
    const MSAA: &'static [u32] = &[4, 1];
    /// Whether it draws to [`Target::multisampled`]. A sample that draws to multisampled images of its own has no use for one.
    const RESOLVES: bool = true;
    /// The camera for the sample's own scene. A model that is given is framed instead.
    const VIEW: Option<View> = None;
    /// The box of what there is to see, world space, in samples that show no model: the ground lies under it.
    const BOUNDS: Bounds = Bounds { min: Vec3::NEG_ONE, max: Vec3::ONE };
    /// Features that the sample cannot do without.
    const REQUIRED_FEATURES: &'static [Feature] = &[];
    /// Features that the sample uses where the GPU has them; see [`Device::has`].
    const OPTIONAL_FEATURES: &'static [Feature] = &[];

    /// Makes what the sample needs: layouts, pipelines, resources, and the attachments for the first target.
    ///
    /// # Errors
    ///
    /// What could not be made.
    fn new(context: &Context, parameters: &Self::Parameters) -> Result<Self>;

    /// Takes out of the parameters what is about the model that the command line names, before another one is shown.
    fn forget_model(_parameters: &mut Self::Parameters) {}

    /// Moves the simulation on to a point in time.
    ///
    /// # Errors
    ///
    /// What went wrong.
    fn update(&mut self, _step: &Step<'_>, _parameters: &Self::Parameters) -> Result<()> {
        Ok(())
    }

    /// Shows the parameters in the overlay, and what else the sample has to show there.
    fn ui(&mut self, _parameters: &mut Self::Parameters, _ui: &mut egui::Ui) {}

    /// Records a frame's commands.
    ///
    /// # Errors
    ///
    /// What went wrong.
    fn record(&mut self, frame: &Frame<'_>, parameters: &Self::Parameters) -> Result<()>;

    /// Replaces what depends on the target's size or views. The GPU is idle.
    ///
    /// # Errors
    ///
    /// What could not be made.
    fn resize(&mut self, device: &Arc<Device>, target: &Target) -> Result<()>;
}

/// What a sample is made with.
pub struct Context {
    /// The device.
    pub device: Arc<Device>,
    /// The target of the first frames.
    pub target: Target,
    /// The model to show, without its images; empty where the sample has none.
    pub scene: Arc<Scene>,
    /// The images of the model, as [`Scene::images`]. They are freed once the sample has been made.
    pub images: Vec<Image>,
    /// What surrounds the scene.
    pub setting: Setting,
}

impl Context {
    /// The linear colour to clear the target with, as `VkClearValue` takes it.
    pub fn clear_color(&self) -> vk::ClearValue {
        let color = self.setting.background.unwrap_or(Vec3::ZERO);
        vk::ClearValue { color: vk::ClearColorValue { float32: [color.x, color.y, color.z, 1.0] } }
    }
}

/// A point in time.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Simulation time, seconds.
    pub time: f32,
    /// Seconds since the frame before; 0 in the first.
    pub delta: f32,
    /// The clips that play, by index into [`Scene::animations`], each with its own time in seconds.
    pub clips: &'a [(usize, f32)],
    /// Whether a clip begins anew at its end, and does not hold its last pose.
    pub repeat: bool,
}
