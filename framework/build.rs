//! Compiles the shaders of the stage and of models.

fn main() {
    let root = shader_compiler::package_folder().join("../shaders");
    shader_compiler::write_macro(&root, |folder| ["stage", "model"].contains(&folder), "crate::shaders", false);
}
