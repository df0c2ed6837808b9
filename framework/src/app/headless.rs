//! Without a window: so many frames, a picture, the end.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};

use super::bench::Bench;
use super::overlay::{self, Overlay, Shown};
use super::renderer::{Drawn, Input, Renderer};
use super::sample::Sample;
use super::{Loaded, Setup, screenshot};
use crate::gpu::Device;

/// Draws `--frames` frames and writes the last one, or takes the figures of `--bench`.
pub(super) fn run<S: Sample>(setup: Setup, mut parameters: S::Parameters) -> Result<()> {
    let path = setup.options.screenshot.clone().unwrap_or_else(|| PathBuf::from(format!("{}.png", setup.name)));
    screenshot::check_path(&path)?;
    let loader = setup.loader::<S>();
    let (device, loaded) = std::thread::scope(|scope| {
        // The model is read while the driver starts.
        let loading = scope.spawn(|| loader.load());
        let device = setup.instance(None).and_then(|instance| setup.device::<S>(&instance, None));
        (device, loading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let (device, mut loaded) = (device?, loaded?);

    // Declared before the sample, so dropped after it.
    let mut renderer = Renderer::headless::<S>(&device, setup.options.size.into(), setup.samples::<S>())?;
    let target = renderer.target().context("a picture has an area")?;
    let overlay = match setup.options.ui {
        true => Some(Overlay::new(&device, target.format, None)?),
        false => None,
    };
    let sample = S::new(&setup.context(&device, target, &mut loaded), &parameters)?;
    let mut frames =
        Frames { setup: &setup, device: &device, loaded: &mut loaded, renderer: &mut renderer, sample, overlay };
    let done = match setup.options.bench {
        Some(seconds) => frames.bench(seconds, &parameters),
        None => frames.picture(&path, &mut parameters),
    };
    // Also after an error: what the GPU still uses must not be dropped.
    let idle = device.wait_idle();
    device.save_pipeline_cache();
    done.and(idle)
}

struct Frames<'a, S: Sample> {
    sample: S,
    overlay: Option<Overlay>,
    loaded: &'a mut Loaded,
    renderer: &'a mut Renderer,
    device: &'a Arc<Device>,
    setup: &'a Setup,
}

impl<S: Sample> Frames<'_, S> {
    fn picture(&mut self, path: &std::path::Path, parameters: &mut S::Parameters) -> Result<()> {
        let frames = self.setup.options.frames.unwrap_or(1);
        for index in 0..frames {
            self.loaded.playback.seek_frame(index);
            self.lay_out(parameters)?;
            if let Drawn::Frame(Some(picture)) = self.draw(parameters, index + 1 == frames)? {
                screenshot::write(path, &picture)?;
            }
        }
        Ok(())
    }

    fn bench(&mut self, seconds: f32, parameters: &S::Parameters) -> Result<()> {
        let mut bench = Bench::new(seconds);
        for index in 0.. {
            self.renderer.time_passes(bench.times_passes())?;
            self.loaded.playback.seek_frame(index);
            self.draw(parameters, false)?;
            if let Some(figures) = bench.frame(self.device, self.renderer.times(), self.setup.started) {
                let size = self.setup.options.size;
                let gpu = self.device.physical().name();
                super::say(&bench.json(self.setup.name, &gpu, (size.width, size.height), &figures).to_string())?;
                break;
            }
        }
        Ok(())
    }

    fn lay_out(&mut self, parameters: &mut S::Parameters) -> Result<()> {
        let Some(overlay) = &mut self.overlay else { return Ok(()) };
        let (loaded, sample) = (&mut *self.loaded, &mut self.sample);
        let gpu = self.device.physical().name();
        // Times would make every picture another one.
        let shown = Shown { title: self.setup.name, gpu: &gpu, times: None, notice: None };
        let time = loaded.playback.step().time;
        overlay.run(None, self.setup.options.size.into(), time, |ui| {
            overlay::show(ui, &shown, Some(loaded), |ui| sample.ui(parameters, ui));
        })
    }

    fn draw(&mut self, parameters: &S::Parameters, picture: bool) -> Result<Drawn> {
        let step = self.loaded.playback.step();
        self.loaded.viewpoint.follow(step.clips);
        self.sample.update(&step, parameters)?;
        self.renderer.draw(Input {
            sample: Some((&mut self.sample, parameters)),
            viewpoint: Some(&self.loaded.viewpoint),
            wireframe: false,
            overlay: self.overlay.as_mut(),
            picture,
        })
    }
}
