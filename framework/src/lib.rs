//! Ashwright: what every Vulkan program repeats, so that a sample can show its one technique.
//!
//! A sample implements [`Sample`] and hands itself to [`run`], which reads the command line, opens a window or none, makes
//! a [device](gpu::Device), loads the model and makes the sample.
//!
//! # The life of a frame
//!
//! 1. [`Sample::update`] moves the simulation on. It touches nothing that the GPU may be reading.
//! 2. The framework waits for the fence of the frame in flight that is to be used again: the GPU has ended it, so what it
//!    used may be written.
//! 3. It acquires an image; a swapchain that no longer fits is made anew first, and [`Sample::resize`] called.
//! 4. [`Sample::record`] gets a [`Frame`]: a command buffer that is being recorded, the frame's index, the image's, the
//!    size and the camera. The sample begins its render passes, binds, draws, and leaves the image of [`Target::views`]
//!    in `COLOR_ATTACHMENT_OPTIMAL`.
//! 5. The framework moves the image to where it is presented or read back.
//! 6. It submits. Colour output waits until the acquired image is available, so a sample's render pass has an external
//!    dependency that begins at `COLOR_ATTACHMENT_OUTPUT`.
//! 7. It presents the image, or copies the last one to a picture.
//!
//! Window and headless share all of it but acquiring and presenting.
//!
//! # What there is once a frame
//!
//! [`gpu::FRAMES_IN_FLIGHT`] frames are under way at once. What the CPU writes every frame exists that often and is
//! indexed by [`Frame::index`]. What only the GPU writes, such as a depth image, may be shared by all frames if the render
//! pass orders their accesses by an external dependency.
//!
//! # Rooms
//!
//! The rooms of the framework have doors in one direction only: [`scene`] and [`gpu`] know nobody, [`model`],
//! [`environment`] and [`stage`] know those, and the application around a sample knows all of them.

#![deny(missing_docs)]

mod app;
pub mod camera;
pub mod environment;
mod frame;
pub mod gpu;
pub mod knobs;
pub mod model;
pub mod parse;
pub mod scene;
mod shaders;
pub mod stage;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub use app::{Context, Sample, Step, allocations, run};
pub use frame::{Frame, Target};
pub use {anyhow, ash, clap, egui, glam};

/// The path of a file of the folder `assets`, which is looked for in `$ASHWRIGHT_ASSETS`, beside the executable, and in
/// the source tree that the program was built from, in that order.
///
/// # Errors
///
/// No such file in any of them.
pub fn asset(path: &str) -> anyhow::Result<PathBuf> {
    asset_folders().map(|folder| folder.join(path)).find(|file| file.is_file()).ok_or_else(|| {
        anyhow::anyhow!("{path} was not found; set ASHWRIGHT_ASSETS to the folder assets of the source tree")
    })
}

/// The names, without their extension, of all files of an extension that [`asset`] finds in a folder below `assets`; sorted.
fn asset_names(folder: &str, extension: &str) -> Vec<String> {
    let files = asset_folders().filter_map(|assets| assets.join(folder).read_dir().ok()).flatten();
    let files = files.filter_map(|entry| Some(entry.ok()?.path()));
    let files = files.filter(|file| file.extension() == Some(OsStr::new(extension)));
    let mut names: Vec<_> = files.filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    names.dedup();
    names
}

/// Where assets are looked for.
fn asset_folders() -> impl Iterator<Item = PathBuf> {
    let chosen = std::env::var_os("ASHWRIGHT_ASSETS").map(PathBuf::from);
    let beside = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.join("assets")));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets");
    [chosen, beside, Some(source)].into_iter().flatten()
}
