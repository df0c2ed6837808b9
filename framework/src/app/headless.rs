//! Without a window: so many frames, a picture, the end.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use super::Setup;
use super::renderer::{Renderer, View};
use super::sample::Sample;
use super::screenshot;

/// Draws `--frames` frames and writes the last one.
pub(super) fn run<S: Sample>(setup: Setup, parameters: S::Parameters) -> Result<()> {
    let path = setup.options.screenshot.clone().unwrap_or_else(|| PathBuf::from(format!("{}.png", setup.name)));
    screenshot::check_path(&path)?;
    let instance = setup.instance(None)?;
    let device = setup.device::<S>(&instance, None)?;
    let mut loaded = setup.load::<S>()?;

    // Declared before the sample, so dropped after it.
    let mut renderer = Renderer::headless(&device, setup.options.size.into(), setup.samples::<S>()?)?;
    let target = renderer.target().context("a picture has an area")?;
    let mut sample = S::new(&setup.context(&device, target, &loaded), parameters)?;

    let frames = setup.options.frames.unwrap_or(1);
    let mut picture = None;
    let drawn = (0..frames).try_for_each(|index| {
        loaded.playback.seek_frame(index);
        sample.update(&loaded.playback.step())?;
        let view = |aspect| View { camera: loaded.camera.matrices(aspect), wireframe: false };
        let last = index + 1 == frames;
        renderer.draw(&mut sample, view, last.then_some(&mut picture)).map(|_| ())
    });
    // Also after an error: what the GPU still uses must not be dropped.
    let idle = device.wait_idle();
    drawn.and(idle)?;
    screenshot::write(&path, &picture.context("the last frame gave no picture")?)
}
