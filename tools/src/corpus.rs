//! Models that are not part of the project, to test against where they are present.

use std::path::PathBuf;

/// The folder `gltf` of the extra corpora: `$ASHWRIGHT_CORPUS`, else `../shared/gltf` beside the
/// repository. `None`, said on standard error, where there is none: tests that need it are skipped.
pub fn gltf() -> Option<PathBuf> {
    let folder = match std::env::var_os("ASHWRIGHT_CORPUS") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/gltf")),
    };
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!(
        "SKIPPED: no corpus at {} (set ASHWRIGHT_CORPUS)",
        folder.display()
    );
    None
}
