//! How much memory loading takes, looked at in a process of its own.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)] // A test may fail that way.

#[path = "../benches/models/file.rs"]
mod file;
#[path = "../benches/models/textured.rs"]
mod textured;

use ashwright::scene::Scene;
use std::path::Path;
use std::process::Command;

/// Names the file that the other process is to load.
const FILE: &str = "ASHWRIGHT_TEST_MEMORY_OF";

/// The most that loading may take at once, by the size of what is loaded.
const MOST: f64 = 3.0;

#[test]
fn loading_takes_less_than_three_times_what_is_loaded() {
    if let Some(file) = std::env::var_os(FILE) {
        return measure(Path::new(&file));
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("textured.glb");
    let model = textured::textured();
    assert!(model.len() > 30_000_000);
    std::fs::write(&file, model).unwrap();
    let mut other = Command::new(std::env::current_exe().unwrap());
    let output = other.arg("--nocapture").env(FILE, file).output().unwrap();
    print!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Loads a file and looks at the most memory that this process has had.
fn measure(file: &Path) {
    let before = peak();
    let scene = Scene::load(file).unwrap();
    let (taken, size) = (peak() - before, decoded_size(&scene));
    println!("{} MB taken for {} MB", taken / 1_000_000, size / 1_000_000);
    assert!((taken as f64) < MOST * size as f64);
}

/// The most memory that this process has had, in bytes (`man 5 proc`).
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() * 1024
}

/// The bytes of vertices, indices and images.
fn decoded_size(scene: &Scene) -> usize {
    let primitives = scene.meshes.iter().flat_map(|mesh| &mesh.primitives).map(|primitive| {
        size_of_val(&primitive.positions[..])
            + size_of_val(&primitive.normals[..])
            + size_of_val(&primitive.tangents[..])
            + primitive.tex_coords.iter().map(|coords| size_of_val(&coords[..])).sum::<usize>()
            + size_of_val(&primitive.indices[..])
    });
    primitives.sum::<usize>() + scene.images.iter().map(|image| image.pixels.len()).sum::<usize>()
}
