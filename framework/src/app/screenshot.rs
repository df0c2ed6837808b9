//! Pictures in files.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use image::{ImageFormat, RgbaImage};

/// Writes a picture as PNG and prints where.
pub(super) fn write(path: &Path, picture: &RgbaImage) -> Result<()> {
    // Encoded first: a file that is there already is only touched by a picture that is whole.
    let mut png = Cursor::new(Vec::new());
    picture.write_to(&mut png, ImageFormat::Png).context("the picture cannot be encoded")?;
    std::fs::write(path, png.into_inner()).with_context(|| format!("cannot write {}", path.display()))?;
    super::say(&format!("wrote {}", path.display()))
}

/// Stops early where a picture could not be written later: its folder does not exist, or it is a folder itself.
pub(super) fn check_path(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    anyhow::ensure!(folder.is_dir(), "cannot write {}: there is no folder {}", path.display(), folder.display());
    anyhow::ensure!(!path.is_dir(), "cannot write {}: it is a folder", path.display());
    Ok(())
}

/// `NAME-1.png` in the current folder, or the first number that is free.
pub(super) fn free_path(name: &str) -> PathBuf {
    let numbered = |number: u32| PathBuf::from(format!("{name}-{number}.png"));
    (1..).map(numbered).find(|path| !path.exists()).expect("some number is free")
}
