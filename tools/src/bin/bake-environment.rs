//! Bakes a panorama into an environment that samples light models with.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use ashwright::environment::Environment;
use ashwright::glam::Vec3;
use clap::Parser;
use image::{ImageFormat, ImageReader};
use tools::environments::{percentage, preview};

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
    let (pixels, width, height) = read(&options.panorama)?;
    let file = options.environment.clone().unwrap_or_else(|| options.panorama.with_extension("ktx2"));
    let environment = Environment::bake(&pixels, width, height, options.size, percentage("baking"))?;
    environment.write(&file)?;
    println!("{}", file.display());
    if let Some(picture) = &options.preview {
        let written = preview(&environment, 0, 512, 1.0).save(picture);
        written.with_context(|| format!("{} cannot be written", picture.display()))?;
    }
    Ok(())
}

/// A panorama's pixels, width and height.
fn read(panorama: &Path) -> Result<(Vec<Vec3>, u32, u32)> {
    let name = panorama.display();
    let reader = ImageReader::open(panorama).and_then(ImageReader::with_guessed_format);
    let reader = reader.with_context(|| format!("{name} cannot be read"))?;
    if reader.format() != Some(ImageFormat::Hdr) {
        bail!("{name} is no Radiance picture (.hdr)");
    }
    let picture = reader.decode().with_context(|| format!("{name} is broken"))?.into_rgb32f();
    let (width, height) = picture.dimensions();
    if width != 2 * height {
        bail!("{name} has {width} x {height} pixels; an equirectangular panorama is twice as wide as high");
    }
    Ok((picture.pixels().map(|pixel| Vec3::from(pixel.0)).collect(), width, height))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn options_are_consistent() {
        super::Options::command().debug_assert();
    }
}
