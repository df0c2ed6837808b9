//! Compiles the shaders of the stage.

fn main() {
    let root = shader_compiler::package_folder().join("../shaders");
    shader_compiler::write_macro(&root, |folder| folder == "stage", "crate::stage::shaders", false);
}
