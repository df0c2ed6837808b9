//! Compiles every shader of this folder and writes the macro `spirv!`, with an arm for each.
//!
//! The arm of a shader that does not compile is its messages as a compile error: it stops whoever uses that
//! shader and nobody else.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(env("CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(env("OUT_DIR"));
    let optimize = env("PROFILE") == "release";
    // A folder stands for all that is below it: the shaders, the pieces they include, this script.
    println!("cargo:rerun-if-changed={}", root.display());

    let mut statics = String::new();
    let mut arms = String::new();
    for name in shaders(&root) {
        match shader_compiler::compile(&root, &name, optimize) {
            Ok(words) => {
                let identifier = name.to_uppercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
                let file = out.join(format!("{identifier}.spv"));
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
                std::fs::write(&file, bytes).expect("OUT_DIR can be written to");
                let count = words.len();
                writeln!(statics, "pub static {identifier}: [u32; {count}] = words(include_bytes!({file:?}));")
                    .expect("writing to a string cannot fail");
                writeln!(arms, "    ({name:?}) => {{ &$crate::compiled::{identifier}[..] }};")
                    .expect("writing to a string cannot fail");
            }
            Err(messages) => writeln!(arms, "    ({name:?}) => {{ compile_error!({messages:?}) }};")
                .expect("writing to a string cannot fail"),
        }
    }
    let text = format!(
        "#[doc(hidden)]\n#[allow(missing_docs)]\npub mod compiled {{\n    use super::words;\n{statics}}}\n\n\
         /// The SPIR-V of a shader, as `&'static [u32]`: `spirv!(\"triangle/triangle.vert\")`.\n\
         #[macro_export]\nmacro_rules! spirv {{\n{arms}    \
         ($other:literal) => {{ compile_error!(concat!(\"there is no shader shaders/\", $other)) }};\n}}\n"
    );
    std::fs::write(out.join("spirv.rs"), text).expect("OUT_DIR can be written to");
}

/// The names, `folder/file`, of all shaders.
fn shaders(root: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for folder in entries(root).into_iter().filter(|path| path.is_dir()) {
        let folder_name = file_name(&folder);
        if folder_name == "src" || folder_name == "compiler" {
            continue;
        }
        for file in entries(&folder).into_iter().filter(|path| shader_compiler::is_shader(path)) {
            names.push(format!("{folder_name}/{}", file_name(&file)));
        }
    }
    names
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let list = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = list.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("Cargo sets {name}"))
}
