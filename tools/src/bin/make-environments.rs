//! Makes the environments of the folder assets/environments.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use ashwright::environment::{Environment, percentage};
use clap::{Parser, ValueEnum};
use tools::environments::{preview, sky, studio};

/// Makes the environments of the folder assets/environments.
///
/// They are computed from nothing and are the same at every run on a machine.
#[derive(Parser)]
#[command(name = "make-environments")]
struct Options {
    /// Which ones to make; all, if none is named
    #[arg(value_enum)]
    environments: Vec<Kind>,
    /// The folder to write them to; assets/environments of the source tree, if it is left out
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// The side of a face in texels: a power of two from 16 to 2048
    #[arg(long, default_value_t = 256, value_name = "TEXELS")]
    size: u32,
    /// Write pictures NAME.png of them to this folder too, to look at
    #[arg(long, value_name = "FOLDER")]
    preview: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A clear sky over mountains
    Sky,
    /// A dark room with soft boxes
    Studio,
}

fn main() -> ExitCode {
    match make(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn make(options: &Options) -> Result<()> {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/environments");
    let folder = options.out.as_ref().unwrap_or(&assets);
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    for (kind, name) in [(Kind::Sky, "sky"), (Kind::Studio, "studio")] {
        if !options.environments.is_empty() && !options.environments.contains(&kind) {
            continue;
        }
        let (width, height) = (4 * options.size, 2 * options.size);
        let (panorama, sun) = match kind {
            Kind::Sky => {
                let (panorama, sun) = sky::panorama(width, height);
                (panorama, Some(sun))
            }
            Kind::Studio => (studio::panorama(width, height), None),
        };
        let mut environment = Environment::bake(&panorama, options.size, percentage(name))?;
        environment.sun = sun;
        let file = folder.join(name).with_extension("ktx2");
        environment.write(&file)?;
        println!("{}", file.display());
        if let Some(previews) = &options.preview {
            let picture = previews.join(name).with_extension("png");
            let written = preview(&environment, 0, 512, 1.0).save(&picture);
            written.with_context(|| format!("{} cannot be written", picture.display()))?;
        }
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
