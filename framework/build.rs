//! Compiles the shaders of the stage.

use std::path::Path;

fn main() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shaders"));
    shader_compiler::write_macro(root, |folder| folder == "stage", "crate::stage::shaders", false);
}
