//! The program around a sample: command line, window or picture, camera and keys.

mod allocations;
mod bench;
mod display;
mod headless;
mod input;
mod options;
mod overlay;
mod playback;
mod renderer;
mod sample;
mod screenshot;
mod viewpoint;
mod window;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result};
use ash::vk;
use clap::{Args as _, FromArgMatches as _};
use glam::Vec3;

pub use allocations::allocations;
pub use sample::{Context, Sample, Step};

use self::options::{ModelOptions, Options};
use self::playback::Playback;
use self::viewpoint::Viewpoint;
use crate::camera::{OrbitCamera, View};
use crate::frame::Target;
use crate::gpu::{Device, GpuChoice, Instance, MessageCount, Surface, Validation};
use crate::scene::{Bounds, Image, Pose, Purpose, Scene, TextureSlot};
use crate::stage::Setting;

/// The exit code when validation had something to say under `--validation strict`.
const VALIDATION_FAILED: u8 = 3;

/// Runs a sample as its command line says: in a window, or headless. `name` and `about` are the package's name and
/// description.
///
/// The exit code is 0 when all went well, 1 after an error (one sentence on standard error), 2 when the command line is
/// wrong, 3 when validation had something to say under `--validation strict`.
pub fn run<S: Sample>(name: &'static str, about: &'static str) -> ExitCode {
    let started = Instant::now();
    let matches = command::<S>(name, about).get_matches();
    // What clap has matched it can also read; were it not so, it exits with code 2 by itself.
    let options = Options::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let parameters = S::Parameters::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let model = match S::MODEL {
        Some(_) => ModelOptions::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()),
        None => ModelOptions::default(),
    };

    if let Some(samples) = options.msaa.filter(|samples| !S::MSAA.contains(samples)) {
        let can: Vec<_> = S::MSAA.iter().map(u32::to_string).collect();
        let message = format!("{name} draws with --msaa {}, not {samples}", can.join(" or "));
        command::<S>(name, about).error(clap::error::ErrorKind::InvalidValue, message).exit();
    }

    let messages = MessageCount::default();
    let setup = Setup { name, started, validation: validation(&options), messages: messages.clone(), options, model };
    let strict = setup.validation == Validation::Strict;
    if let Err(error) = setup.run::<S>(parameters) {
        eprintln!("error: {}", sentence(&error));
        return ExitCode::FAILURE;
    }
    if strict && messages.total() > 0 {
        eprintln!("error: the validation layer had {} warnings or errors", messages.total());
        return ExitCode::from(VALIDATION_FAILED);
    }
    ExitCode::SUCCESS
}

/// The command line of a sample: its model, its own options, and what all samples take.
fn command<S: Sample>(name: &'static str, about: &'static str) -> clap::Command {
    let command = S::Parameters::augment_args(clap::Command::new(name).next_help_heading("Sample"));
    let command = match S::MODEL {
        Some(_) => ModelOptions::augment_args(command),
        None => command,
    };
    // Last, for the documentation of the structs would take its place.
    Options::augment_args(command.next_help_heading(None)).about(about).long_about(None).args_override_self(true)
}

/// What to run, as the command line says.
struct Setup {
    name: &'static str,
    /// When the program began.
    started: Instant,
    options: Options,
    model: ModelOptions,
    validation: Validation,
    messages: MessageCount,
}

impl Setup {
    fn run<S: Sample>(self, parameters: S::Parameters) -> Result<()> {
        if self.validation == Validation::Strict {
            // Older validation layers check from one submission to the next only when told so by the environment.
            // SAFETY: no other thread has been started.
            unsafe {
                std::env::set_var(
                    "VK_LAYER_ENABLES",
                    "VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT",
                );
            }
        }
        if self.options.list_gpus {
            return self.list_gpus();
        }
        if !self.options.headless {
            match display::event_loop() {
                Ok(event_loop) => return window::run::<S>(self, parameters, event_loop),
                Err(reason) => eprintln!("no window can be opened ({reason:#}); running headless"),
            }
        }
        headless::run::<S>(self, parameters)
    }

    fn instance(&self, display: Option<winit::raw_window_handle::RawDisplayHandle>) -> Result<Arc<Instance>> {
        Instance::new(self.name, self.validation, self.messages.clone(), display)
    }

    fn device<S: Sample>(&self, instance: &Arc<Instance>, surface: Option<&Surface>) -> Result<Arc<Device>> {
        let choice = self.options.gpu.as_ref().unwrap_or(&GpuChoice::Best);
        Device::new(instance, choice, surface, S::REQUIRED_FEATURES, S::OPTIONAL_FEATURES)
    }

    fn list_gpus(&self) -> Result<()> {
        for (index, gpu) in self.instance(None)?.physical_devices()?.iter().enumerate() {
            say(&format!("{index}: {} ({}, Vulkan {})", gpu.name(), gpu.kind(), gpu.api_version()))?;
        }
        Ok(())
    }

    /// Samples a pixel.
    fn samples<S: Sample>(&self) -> u32 {
        self.options.msaa.unwrap_or(S::MSAA[0])
    }

    /// What it takes to read the model that the command line names, or the sample's own.
    fn loader<S: Sample>(&self) -> Loader {
        let source = match (&self.model.model, S::MODEL) {
            (Some(path), _) => Source::Given(path.clone()),
            (None, Some(path)) => Source::Own(path),
            (None, None) => Source::None,
        };
        self.loader_from::<S>(source, self.model.clone())
    }

    /// What it takes to read another model. The clip that the command line names is not one of it.
    fn loader_of<S: Sample>(&self, path: PathBuf) -> Loader {
        let model = ModelOptions { animation: None, camera: None, ..self.model.clone() };
        self.loader_from::<S>(Source::Given(path), model)
    }

    fn loader_from<S: Sample>(&self, source: Source, model: ModelOptions) -> Loader {
        Loader {
            source,
            options: self.options.clone(),
            model,
            own_view: S::VIEW,
            empty: S::BOUNDS,
            textures: S::TEXTURES,
        }
    }

    fn context(&self, device: &Arc<Device>, target: Target, loaded: &mut Loaded) -> Context {
        Context {
            device: device.clone(),
            target,
            scene: loaded.scene.clone(),
            images: std::mem::take(&mut loaded.images),
            setting: Setting {
                bounds: loaded.bounds,
                stage: !self.options.no_stage,
                background: self.options.background.map(linear_from_srgb),
            },
        }
    }
}

/// What it takes to read a model; may be sent to another thread.
struct Loader {
    source: Source,
    options: Options,
    model: ModelOptions,
    own_view: Option<View>,
    /// The box of what there is to see where no model says it.
    empty: Bounds,
    /// What textures are read.
    textures: &'static [TextureSlot],
}

/// Where a model comes from.
enum Source {
    /// A path that the user gave.
    Given(PathBuf),
    /// The sample's own, a path below the assets.
    Own(&'static str),
    /// The sample shows no model.
    None,
}

impl Loader {
    /// What is loaded, for people.
    fn name(&self) -> Option<String> {
        let path = match &self.source {
            Source::Given(path) => path,
            Source::Own(path) => Path::new(path),
            Source::None => return None,
        };
        Some(path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned())
    }

    fn load_scene(&self, path: &Path) -> Result<Scene> {
        let scene = Scene::load_for(path, Purpose::Draw(self.textures))?;
        for warning in &scene.warnings {
            eprintln!("warning: {}: {warning}", path.display());
        }
        Ok(scene)
    }

    /// Reads the model, its clips, and places the camera.
    fn load(&self) -> Result<Loaded> {
        let mut scene = match &self.source {
            Source::Given(path) => self.load_scene(path)?,
            Source::Own(path) => self.load_scene(&crate::asset(path)?)?,
            Source::None => Scene::default(),
        };
        let playback = Playback::new(&scene, &self.model, self.options.time)?;
        let playing: Vec<_> = playback.step().clips.iter().map(|&(clip, _)| clip).collect();
        let mut bounds = bounds(&scene, &playing).unwrap_or_else(|| {
            if let Some(name) = self.name() {
                eprintln!("warning: {name}: there is nothing in it to draw");
            }
            self.empty
        });
        let framing = View::framing(bounds.center(), bounds.radius());
        // A view that was composed is meant for a picture of the usual shape; one that the command line gives is taken at
        // its word.
        let (view, least_aspect) = match (&self.source, self.own_view) {
            (Source::Own(_) | Source::None, Some(view)) => (view, 16.0 / 9.0),
            _ => (framing, 1.0),
        };
        let given = self.options.eye.is_some() || self.options.target.is_some() || self.options.fov.is_some();
        let least_aspect = if given { 0.0 } else { least_aspect };
        let view = View {
            eye: self.options.eye.unwrap_or(view.eye),
            target: self.options.target.unwrap_or(view.target),
            fov: self.options.fov.unwrap_or(view.fov),
        };
        let camera = OrbitCamera::new(view, least_aspect, bounds.radius());
        // For the ground, which lies below.
        bounds.min.y = bounds.min.y.min(lowest(&scene));
        let images = std::mem::take(&mut scene.images);
        let scene = Arc::new(scene);
        let viewpoint = Viewpoint::new(&scene, camera, self.model.camera)?;
        Ok(Loaded { scene, images, playback, bounds, viewpoint })
    }
}

/// A model with all that moves about it.
struct Loaded {
    scene: Arc<Scene>,
    /// Its images, until the sample has been made.
    images: Vec<Image>,
    playback: Playback,
    bounds: Bounds,
    viewpoint: Viewpoint,
}

/// How many moments of a clip the camera's framing looks at.
const FRAMED_MOMENTS: u32 = 4;

/// The box of a model over clips that play together; `None` where there is nothing to see.
fn bounds(scene: &Scene, clips: &[usize]) -> Option<Bounds> {
    let mut pose = Pose::new(scene);
    let moments = if clips.is_empty() { 1 } else { FRAMED_MOMENTS };
    let moments = (0..moments).filter_map(|moment| {
        let share = moment as f32 / FRAMED_MOMENTS as f32;
        let clips: Vec<_> = clips.iter().map(|&clip| (clip, share * scene.animations[clip].duration)).collect();
        pose.evaluate(scene, &clips);
        pose.bounds(scene)
    });
    moments.reduce(Bounds::union)
}

/// How low a model comes in any of its clips (metres): what stands in one may fly in another, and one can be chosen after
/// the other.
fn lowest(scene: &Scene) -> f32 {
    let clips = (0..scene.animations.len()).filter_map(|clip| bounds(scene, &[clip]));
    clips.fold(f32::INFINITY, |lowest, bounds| lowest.min(bounds.min.y))
}

fn validation(options: &Options) -> Validation {
    options.validation.unwrap_or_else(|| match cfg!(debug_assertions) && Instance::validation_layer_is_installed() {
        true => Validation::On,
        false => Validation::Off,
    })
}

/// The error and its causes in one line. A lost device, whichever call found it out, is said in words.
fn sentence(error: &anyhow::Error) -> String {
    let lost = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<vk::Result>() == Some(&vk::Result::ERROR_DEVICE_LOST)
    };
    match error.chain().any(lost) {
        true => format!("the GPU was lost: its driver stopped or was reset ({error:#})"),
        false => format!("{error:#}"),
    }
}

/// Prints a line. Nobody reading it is no error; a full disk is.
fn say(line: &str) -> Result<()> {
    match writeln!(std::io::stdout(), "{line}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

/// The transfer function of IEC 61966-2-1.
fn linear_from_srgb(color: Vec3) -> Vec3 {
    Vec3::from_array(color.to_array().map(|value| match value <= 0.04045 {
        true => value / 12.92,
        false => ((value + 0.055) / 1.055).powf(2.4),
    }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail that way.
mod tests {
    use super::*;

    #[test]
    fn the_ground_is_below_every_clip() {
        let scene = Scene::load(&crate::asset("models/drone.glb").unwrap()).unwrap();
        // Its skids stand at y = -0.45 in one of its clips, as `assets/README.md` says; in the others they are drawn in.
        let clip = |name| scene.animation_named(name).unwrap();
        assert!(bounds(&scene, &[clip("survey")]).unwrap().min.y > -0.35);
        assert!((lowest(&scene) + 0.45).abs() < 0.03, "{}", lowest(&scene));
    }
}
