//! The command line that all samples share.

use std::path::PathBuf;

use anyhow::{Result, bail};
use ash::vk;
use clap::{Args, ValueEnum};
use glam::Vec3;

use crate::gpu::{GpuChoice, PresentMode, Validation};
use crate::parse;

/// What every sample can be told.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(crate) struct Options {
    /// No window: render, write the picture, exit. The default where no window can be opened
    #[arg(long)]
    pub headless: bool,
    /// Size of the window or picture, in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = parse_size)]
    pub size: Size,
    /// Stop after N frames (headless: 1); frames are then 1/60 s apart in a window too
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub frames: Option<u64>,
    /// Simulation time of the first frame. Headless frames are 1/60 s apart
    #[arg(long, value_name = "SECONDS", default_value = "0", allow_hyphen_values = true, value_parser = parse::finite)]
    pub time: f32,
    /// Write the last frame to this file. Headless without it: NAME.png in the current folder
    #[arg(long, value_name = "FILE.png", value_parser = parse_png)]
    pub screenshot: Option<PathBuf>,
    /// The camera's position, instead of framing the scene
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse::vector)]
    pub eye: Option<Vec3>,
    /// What the camera looks at
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse::vector)]
    pub target: Option<Vec3>,
    /// Vertical field of view
    #[arg(long, value_name = "DEGREES", allow_hyphen_values = true, value_parser = parse_fov)]
    pub fov: Option<f32>,
    /// Samples a pixel [default: the sample's]
    #[arg(long, value_name = "1|4", value_parser = parse_samples)]
    pub msaa: Option<Samples>,
    /// Nothing but the technique: no backdrop, no ground
    #[arg(long)]
    pub no_stage: bool,
    /// A plain background, sRGB from 0 to 1 [default: the backdrop, black with --no-stage]
    #[arg(long, value_name = "R,G,B", allow_hyphen_values = true, value_parser = parse_color)]
    pub background: Option<Vec3>,
    /// Show the overlay, also headless
    #[arg(long, overrides_with = "no_ui")]
    pub ui: bool,
    /// Hide the overlay, also in a window
    #[arg(long, overrides_with = "ui")]
    pub no_ui: bool,
    /// The GPU to use, by its place in --list-gpus or a part of its name [default: the best]
    #[arg(long, value_name = "INDEX|NAME", value_parser = parse_gpu)]
    pub gpu: Option<GpuChoice>,
    /// List the GPUs and exit
    #[arg(long)]
    pub list_gpus: bool,
    /// What the validation layer checks; strict: synchronization too, and a message makes the exit code 3
    /// [default: on in debug builds where the layer is installed]
    #[arg(long, value_name = "off|on|strict", hide_possible_values = true)]
    pub validation: Option<Validation>,
    /// How finished images reach the screen
    #[arg(long, value_name = "fifo|mailbox|immediate", default_value = "fifo", hide_possible_values = true)]
    pub present_mode: PresentMode,
    /// Run as fast as it goes for so long, after 30 frames to warm up, then print figures as one JSON object
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = parse_duration)]
    pub bench: Option<f32>,
}

impl Options {
    /// Whether a window begins with the overlay: figures and pictures are to show the sample alone unless told otherwise.
    pub(crate) fn overlay_in_window(&self) -> bool {
        self.ui || !(self.no_ui || self.bench.is_some() || self.frames.is_some())
    }
}

/// What samples that show a model can be told besides.
#[derive(Debug, Clone, Default, Args)]
#[group(skip)]
pub(crate) struct ModelOptions {
    /// A .gltf or .glb file to show instead of the sample's own model
    #[arg(value_name = "MODEL")]
    pub model: Option<PathBuf>,
    /// The clip to play [default: the first]
    #[arg(long, value_name = "N|NAME|all|none")]
    pub animation: Option<String>,
    /// Hold a clip's last pose instead of repeating it
    #[arg(long)]
    pub no_loop: bool,
    /// Look through one of the model's own cameras, counted from 0
    #[arg(long, value_name = "N", conflicts_with_all = ["eye", "target", "fov"])]
    pub camera: Option<usize>,
}

impl ValueEnum for Validation {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Off, Self::On, Self::Strict]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Strict => "strict",
        }))
    }
}

/// A size in pixels; neither side is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub width: u32,
    pub height: u32,
}

impl From<Size> for vk::Extent2D {
    fn from(size: Size) -> Self {
        Self { width: size.width, height: size.height }
    }
}

/// Samples a pixel: 1 or 4, which every GPU has.
pub(crate) type Samples = u32;

fn parse_size(text: &str) -> Result<Size> {
    let sides =
        text.split_once(['x', 'X']).and_then(|(width, height)| Some((parse::number(width)?, parse::number(height)?)));
    match sides {
        Some((width @ 1.., height @ 1..)) => Ok(Size { width, height }),
        Some(_) => bail!("a picture has at least one pixel each way"),
        None => bail!("a size is written like 1280x720"),
    }
}

fn parse_duration(text: &str) -> Result<f32> {
    match parse::finite(text)? {
        seconds if (0.0..=86400.0).contains(&seconds) => Ok(seconds),
        _ => bail!("from 0 seconds to a day"),
    }
}

fn parse_color(text: &str) -> Result<Vec3> {
    let color = parse::vector(text)?;
    match color.cmpge(Vec3::ZERO).all() && color.cmple(Vec3::ONE).all() {
        true => Ok(color),
        false => bail!("colours are from 0 to 1"),
    }
}

fn parse_fov(text: &str) -> Result<f32> {
    match parse::finite(text)? {
        fov if (1.0..=170.0).contains(&fov) => Ok(fov),
        _ => bail!("a field of view is from 1 to 170 degrees"),
    }
}

fn parse_samples(text: &str) -> Result<Samples> {
    match text {
        "1" => Ok(1),
        "4" => Ok(4),
        _ => bail!("1 or 4"),
    }
}

fn parse_png(text: &str) -> Result<PathBuf> {
    match text.to_lowercase().ends_with(".png") {
        true => Ok(PathBuf::from(text)),
        false => bail!("pictures are written as PNG: the name has to end in .png"),
    }
}

fn parse_gpu(text: &str) -> Result<GpuChoice> {
    Ok(match text.parse() {
        Ok(index) => GpuChoice::Index(index),
        Err(_) => GpuChoice::Name(text.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("640x480").expect("fine"), Size { width: 640, height: 480 });
        for bad in ["0x0", "640x0", "640", "x", "-1x5", "1e3x2", ""] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn vectors_and_colours() {
        assert_eq!(parse::vector("-1,0.5,2e1").expect("fine"), Vec3::new(-1.0, 0.5, 20.0));
        for bad in ["1,2", "1,2,3,4", "nan,0,0", "1,inf,0", "a,b,c", ""] {
            assert!(parse::vector(bad).is_err(), "{bad}");
        }
        assert!(parse_color("0,0.5,1").is_ok());
        assert!(parse_color("0,0.5,1.1").is_err());
    }

    #[test]
    fn gpus_by_number_or_name() {
        assert_eq!(parse_gpu("1").expect("fine"), GpuChoice::Index(1));
        assert_eq!(parse_gpu("llvm").expect("fine"), GpuChoice::Name("llvm".to_owned()));
    }
}
