//! The environment that a user names.

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Environment, EnvironmentError, Panorama, ktx2};

/// The folder of the project's own, below the folder `assets`.
const FOLDER: &str = "environments";

/// To be counted up when a panorama is baked to something else than before.
const BAKING: u32 = 1;

impl Environment {
    /// The environment that a user names: `none` is [black](Environment::black), a file that ends in .ktx2 is read, one
    /// that ends in .hdr is baked once and kept in the user's cache folder, and anything else is the name of one of the
    /// project's own, [`names`].
    ///
    /// # Errors
    ///
    /// There is none of this name, or the file cannot be read or is broken.
    pub fn named(name: &str) -> Result<Self, EnvironmentError> {
        if name == "none" {
            return Ok(Self::black());
        }
        let file = Path::new(name);
        match file.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase).as_deref() {
            Some("ktx2") => Self::read(file),
            Some("hdr") => baked_once(file),
            _ => match crate::asset(&format!("{FOLDER}/{name}.ktx2")) {
                Ok(file) => Self::read(file),
                Err(_) => Err(EnvironmentError::Unknown { name: name.into(), names: names().join(", ") }),
            },
        }
    }
}

/// The names of the project's own environments, sorted, after `none`.
pub fn names() -> Vec<String> {
    let mut names = crate::asset_names(FOLDER, "ktx2");
    names.insert(0, "none".into());
    names
}

/// The environment of a panorama that was baked before, or is now. One that cannot be kept is no error: it is baked again
/// the next time.
fn baked_once(file: &Path) -> Result<Environment, EnvironmentError> {
    let bytes = ktx2::bytes(file).map_err(|error| EnvironmentError::File { file: file.into(), error })?;
    let kept = kept_file(&bytes);
    if let Some(environment) = kept.as_ref().and_then(|kept| Environment::read(kept).ok()) {
        return Ok(environment);
    }
    let panorama =
        Panorama::decode(&bytes).map_err(|problem| EnvironmentError::Broken { file: file.into(), problem })?;
    let what = format!("baking {}", file.display());
    let environment = Environment::bake(&panorama, panorama.fitting_size(), percentage(&what))?;
    let _ = kept.map(|kept| keep(&environment, &kept));
    Ok(environment)
}

/// Where the environment of a panorama with these bytes is kept; `None` where the user has no cache folder.
fn kept_file(panorama: &[u8]) -> Option<PathBuf> {
    // Its algorithm may change with the compiler; all is then baked once more.
    let mut hasher = DefaultHasher::new();
    (BAKING, panorama).hash(&mut hasher);
    let name = format!("environment-{:016x}.ktx2", hasher.finish());
    Some(dirs::cache_dir()?.join("ashwright").join(name))
}

/// Writes the file as a whole: another program may be reading or writing the same one.
fn keep(environment: &Environment, file: &Path) -> Result<(), EnvironmentError> {
    let failed = |error| EnvironmentError::File { file: file.into(), error };
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder).map_err(failed)?;
    let part = folder.join(format!("part-{}.ktx2", std::process::id()));
    environment.write(&part)?;
    fs::rename(&part, file).map_err(failed)
}

/// Something that tells on standard error how much of a work is done, in percent, where that is a terminal.
pub fn percentage(what: &str) -> impl Fn(f32) + Sync {
    let (what, is_terminal) = (what.to_owned(), std::io::stderr().is_terminal());
    // One more than what was told last.
    let told = AtomicU32::new(0);
    move |part| {
        let percent = (part * 100.0) as u32;
        if is_terminal && told.fetch_max(percent + 1, Ordering::Relaxed) < percent + 1 {
            eprint!("\r{what}: {percent} %{}", if percent == 100 { "\n" } else { "" });
        }
    }
}
