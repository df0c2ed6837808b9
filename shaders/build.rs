//! Compiles the samples' shaders.

fn main() {
    let root = shader_compiler::package_folder();
    // A new folder changes the time of this one.
    println!("cargo:rerun-if-changed={}", root.display());
    // The framework has its own: a change of a sample's shader must not build the framework anew.
    let samples = |folder: &str| !["src", "compiler", "lib", "stage", "model"].contains(&folder);
    shader_compiler::write_macro(&root, samples, "$crate", true);
}
