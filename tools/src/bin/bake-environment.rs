//! Bakes a panorama into an environment that samples light models with.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use ashwright::environment::{Environment, Panorama, percentage};
use clap::Parser;
use tools::environments::preview;

/// Bakes a panorama into an environment that samples light models with.
///
/// The panorama is an equirectangular Radiance picture; its middle looks along +X, a quarter further right along +Z. The
/// environment is a KTX 2 file. Exit codes: 0 done; 1 it failed, and standard error says why; 2 the command line is wrong.
#[derive(Parser)]
#[command(name = "bake-environment")]
struct Options {
    /// The panorama: an .hdr file, twice as wide as high
    panorama: PathBuf,
    /// The file to write; the panorama's name with .ktx2 at its end, if it is left out
    environment: Option<PathBuf>,
    /// The side of a face in texels: a power of two from 16 to 2048
    #[arg(long, default_value_t = 256, value_name = "TEXELS")]
    size: u32,
    /// Write a picture of the result too, to look at
    #[arg(long, value_name = "FILE.png")]
    preview: Option<PathBuf>,
}

fn main() -> ExitCode {
    match bake(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn bake(options: &Options) -> Result<()> {
    let panorama = Panorama::read(&options.panorama)?;
    let file = options.environment.clone().unwrap_or_else(|| options.panorama.with_extension("ktx2"));
    let environment = Environment::bake(&panorama, options.size, percentage("baking"))?;
    environment.write(&file)?;
    println!("{}", file.display());
    if let Some(picture) = &options.preview {
        let written = preview(&environment, 0, 512, 1.0).save(picture);
        written.with_context(|| format!("{} cannot be written", picture.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn options_are_consistent() {
        super::Options::command().debug_assert();
    }
}
