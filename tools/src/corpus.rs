//! Models that are not part of the project, to test against where they are present.

use std::path::{Path, PathBuf};

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
    eprintln!("SKIPPED: no corpus at {} (set ASHWRIGHT_CORPUS)", folder.display());
    None
}

/// All `.gltf` and `.glb` files below a folder, sorted.
pub fn models(folder: &Path) -> Vec<PathBuf> {
    let mut models = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            match path.extension().and_then(|extension| extension.to_str()) {
                _ if path.is_dir() => folders.push(path),
                Some("gltf" | "glb") => models.push(path),
                _ => {}
            }
        }
    }
    models.sort();
    models
}
