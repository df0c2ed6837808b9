//! Writes the samples' gallery and table into README.md.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use tools::readme::{samples, with_samples};

/// Writes the samples' gallery and table into README.md.
///
/// They are made of the samples' Cargo.toml files and golden pictures.
#[derive(Parser)]
#[command(name = "readme")]
struct Options {}

fn main() -> ExitCode {
    let Options {} = Options::parse();
    match write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn write() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let path = root.join("README.md");
    let text = std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    let written = with_samples(&text, &samples(&root)?)?;
    if written == text {
        println!("{} is up to date", path.display());
        return Ok(());
    }
    std::fs::write(&path, written).with_context(|| format!("{} cannot be written", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}
