//! Ashwright: what every Vulkan program repeats, so that a sample can show its one technique.
//!
//! A sample implements [`Sample`] and hands itself to [`run`]. The rooms of the framework have doors in one direction
//! only: [`scene`] and [`gpu`] know nobody, [`model`] and [`stage`] know those, and the application around a sample knows
//! all of them.

mod app;
pub mod camera;
mod frame;
pub mod gpu;
pub mod model;
pub mod scene;
pub mod stage;

use std::path::{Path, PathBuf};

pub use app::{Context, Sample, Step, run};
pub use frame::{Frame, Target};
pub use {anyhow, ash, clap, glam};

/// The path of a file of the folder `assets`, which is looked for in `$ASHWRIGHT_ASSETS`, beside the executable, and in
/// the source tree that the program was built from, in that order.
///
/// # Errors
///
/// No such file in any of them.
pub fn asset(path: &str) -> anyhow::Result<PathBuf> {
    let chosen = std::env::var_os("ASHWRIGHT_ASSETS").map(PathBuf::from);
    let beside = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.join("assets")));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets");
    let found = [chosen, beside, Some(source)].into_iter().flatten().map(|folder| folder.join(path));
    found.into_iter().find(|file| file.is_file()).ok_or_else(|| {
        anyhow::anyhow!("{path} was not found; set ASHWRIGHT_ASSETS to the folder assets of the source tree")
    })
}
