//! Compiles the samples' shaders.

use std::path::Path;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // A new folder changes the time of this one.
    println!("cargo:rerun-if-changed={}", root.display());
    // The framework has its own: a change of a sample's shader must not build the framework anew.
    let samples = |folder: &str| !["src", "compiler", "lib", "stage"].contains(&folder);
    shader_compiler::write_macro(root, samples, "$crate", true);
}
