//! Tells what is in a glTF file, or prints its pose as JSON.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use ashwright::scene::{Purpose, Scene};
use clap::Parser;
use tools::report::report;
use tools::snapshot::Snapshot;

/// Tells what is in a glTF file, or prints its pose as JSON.
///
/// Extensions that the file requires and that are not supported are told as warnings; what depends on them is left out.
/// Exit codes: 0 done; 1 it failed, and standard error says why; 2 the command line is wrong.
#[derive(Parser)]
#[command(name = "inspect")]
struct Options {
    /// The .gltf or .glb file
    model: PathBuf,
    /// Print the pose as one JSON object: nodes, skins and some vertices. Warnings go to standard error
    #[arg(long)]
    json: bool,
    /// The clip that poses the model, counted from 0; without it, the rest pose
    #[arg(long, value_name = "N", requires = "json")]
    animation: Option<usize>,
    /// The clip's time. Before the first and after the last key, that key's pose
    #[arg(
        long,
        value_name = "SECONDS",
        requires = "animation",
        default_value = "0",
        allow_hyphen_values = true,
        value_parser = seconds
    )]
    time: f32,
}

fn seconds(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(seconds) if f32::is_finite(seconds) => Ok(seconds),
        _ => Err("a number of seconds is expected, such as 1.5".into()),
    }
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let scene = Scene::load_for(&options.model, Purpose::Inspect)?;
    if !options.json {
        return print(&report(&options.model.display().to_string(), &scene));
    }
    if let Some(animation) = options.animation {
        check_animation(&options.model, &scene, animation)?;
    }
    for warning in &scene.warnings {
        eprintln!("warning: {warning}");
    }
    let snapshot = Snapshot::new(&scene, options.animation.map(|animation| (animation, options.time)));
    print(&(serde_json::to_string(&snapshot)? + "\n"))
}

fn check_animation(model: &Path, scene: &Scene, animation: usize) -> Result<()> {
    let model = model.display();
    match scene.animations.len() {
        0 => bail!("{model}: has no animation {animation}, nor any other; leave out --animation"),
        count if animation >= count => {
            bail!("{model}: has no animation {animation}; --animation takes 0 to {}", count - 1)
        }
        _ => Ok(()),
    }
}

/// Writes to standard output. A reader that has seen enough, as `head` has, is no error.
fn print(text: &str) -> Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("standard output cannot be written"),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn options_are_consistent() {
        super::Options::command().debug_assert();
    }
}
