//! GLSL and HLSL to SPIR-V.
//!
//! A crate of its own, because a build script cannot pass link flags to itself: the build script of `shaders`
//! depends on this crate, and this crate's build script says what shaderc links.

use std::path::{Path, PathBuf};

use shaderc::{
    CompileOptions, Compiler, EnvVersion, IncludeType, OptimizationLevel, ResolvedInclude, ShaderKind, SourceLanguage,
    SpirvVersion, TargetEnv,
};

/// The file extensions of shaders. An HLSL shader has `.hlsl` behind one of them.
const STAGES: [(&str, ShaderKind); 6] = [
    ("vert", ShaderKind::Vertex),
    ("tesc", ShaderKind::TessControl),
    ("tese", ShaderKind::TessEvaluation),
    ("geom", ShaderKind::Geometry),
    ("frag", ShaderKind::Fragment),
    ("comp", ShaderKind::Compute),
];

/// Rust for the generated file: the words of a SPIR-V file, which is written in the machine's byte order.
const WORDS: &str = "    const fn words<const BYTES: usize, const WORDS: usize>(bytes: &[u8; BYTES]) -> [u32; WORDS] {
        let mut words = [0; WORDS];
        let mut i = 0;
        while i < WORDS {
            words[i] = u32::from_ne_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]]);
            i += 1;
        }
        words
    }
";

/// For a build script: the folder of its package, as Cargo says it when the script runs.
///
/// # Panics
///
/// Where it is not run by Cargo.
pub fn package_folder() -> PathBuf {
    PathBuf::from(env("CARGO_MANIFEST_DIR"))
}

/// For a build script: compiles every shader of the folders of `root` that are wanted and writes `OUT_DIR/spirv.rs`. That
/// file holds the macro `spirv!` with an arm for each, and the module `compiled`, which the macro finds at `path`. With
/// `exported` the macro is for other crates.
///
/// The arm of a shader that does not compile is its messages as a compile error: it stops whoever uses that shader and
/// nobody else.
///
/// # Panics
///
/// Where it is not run by Cargo, or a folder cannot be read.
pub fn write_macro(root: &Path, wanted: impl Fn(&str) -> bool, path: &str, exported: bool) {
    let out = PathBuf::from(env("OUT_DIR"));
    let optimize = env("PROFILE") == "release";
    println!("cargo:rerun-if-changed={}", root.join("lib").display());

    let (mut statics, mut arms) = (String::new(), String::new());
    for name in shaders(root, wanted) {
        let arm = match compile(root, &name, optimize) {
            Ok(words) => {
                let identifier = name.to_uppercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
                let file = out.join(format!("{identifier}.spv"));
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
                std::fs::write(&file, bytes).expect("OUT_DIR can be written to");
                let count = words.len();
                statics += &format!("    pub static {identifier}: [u32; {count}] = words(include_bytes!({file:?}));\n");
                format!("&{path}::compiled::{identifier}[..]")
            }
            Err(messages) => format!("compile_error!({messages:?})"),
        };
        arms += &format!("    ({name:?}) => {{ {arm} }};\n");
    }
    let export = if exported { "#[macro_export]\n" } else { "" };
    let text = format!(
        "#[doc(hidden)]\n#[allow(missing_docs, unreachable_pub)]\npub mod compiled {{\n{statics}\n{WORDS}}}\n\n\
         /// The SPIR-V of a shader, as `&'static [u32]`: `spirv!(\"triangle/triangle.vert\")`.\n\
         {export}macro_rules! spirv {{\n{arms}    \
         ($other:literal) => {{ compile_error!(concat!(\"there is no shader shaders/\", $other)) }};\n}}\n"
    );
    std::fs::write(out.join("spirv.rs"), text).expect("OUT_DIR can be written to");
}

/// The names, `folder/file`, of all shaders in the folders that are wanted. Cargo is told to watch these folders.
fn shaders(root: &Path, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut names = Vec::new();
    for folder in entries(root).into_iter().filter(|path| path.is_dir()) {
        let folder_name = file_name(&folder);
        if !wanted(&folder_name) {
            continue;
        }
        println!("cargo:rerun-if-changed={}", folder.display());
        for file in entries(&folder).into_iter().filter(|path| stage_and_language(path).is_some()) {
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

/// Compiles the shader `root/name` to SPIR-V for Vulkan 1.3: GLSL to version 1.6, HLSL to 1.3.
///
/// `#include <x>` names a file relative to `root/lib`, `#include "x"` one relative to the including file. GLSL
/// needs `#extension GL_GOOGLE_include_directive : require` for either. The entry point is `main`.
///
/// # Errors
///
/// The compiler's messages, each with file (`root`'s last folder and the name) and line.
pub fn compile(root: &Path, name: &str, optimize: bool) -> Result<Vec<u32>, String> {
    let path = root.join(name);
    let source = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", shown_path(root, &path)))?;
    compile_source(root, name, &source, optimize)
}

/// As [`compile`], with the text that `root/name` would hold.
///
/// # Errors
///
/// As [`compile`].
pub fn compile_source(root: &Path, name: &str, source: &str, optimize: bool) -> Result<Vec<u32>, String> {
    let path = root.join(name);
    let shown = shown_path(root, &path);
    let (kind, language) =
        stage_and_language(&path).ok_or_else(|| format!("{shown}: not a shader by its extension"))?;
    let compiler = Compiler::new().map_err(|error| error.to_string())?;
    let mut options = CompileOptions::new().map_err(|error| error.to_string())?;
    options.set_source_language(language);
    options.set_target_env(TargetEnv::Vulkan, EnvVersion::Vulkan1_3 as u32);
    options.set_target_spirv(match language {
        SourceLanguage::GLSL => SpirvVersion::V1_6,
        // A structured buffer of HLSL is decorated BufferBlock, which later versions do not have.
        SourceLanguage::HLSL => SpirvVersion::V1_3,
    });
    options.set_warnings_as_errors();
    if optimize {
        options.set_optimization_level(OptimizationLevel::Performance);
    } else {
        options.set_generate_debug_info();
    }
    options.set_include_callback(|wanted, how, from, _| resolve_include(root, wanted, how, from));
    compiler
        .compile_into_spirv(source, kind, &shown, "main", Some(&options))
        .map(|artifact| artifact.as_binary().to_vec())
        .map_err(|error| match error {
            shaderc::Error::CompilationError(_, messages) => messages.trim_end().to_owned(),
            other => format!("{shown}: {other}"),
        })
}

fn stage_and_language(path: &Path) -> Option<(ShaderKind, SourceLanguage)> {
    let name = path.file_name()?.to_str()?;
    let (name, language) = match name.strip_suffix(".hlsl") {
        Some(name) => (name, SourceLanguage::HLSL),
        None => (name, SourceLanguage::GLSL),
    };
    let extension = name.rsplit_once('.')?.1;
    let &(_, kind) = STAGES.iter().find(|(stage, _)| *stage == extension)?;
    Some((kind, language))
}

/// `from` is a path as [`shown_path`] makes it, for that is what the compiler was told.
fn resolve_include(root: &Path, wanted: &str, how: IncludeType, from: &str) -> Result<ResolvedInclude, String> {
    let folder: PathBuf = match how {
        IncludeType::Standard => root.join("lib"),
        IncludeType::Relative => {
            let parent = root.parent().unwrap_or(root);
            parent.join(from).parent().map(Path::to_path_buf).unwrap_or_default()
        }
    };
    let path = folder.join(wanted);
    let content = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(ResolvedInclude { resolved_name: shown_path(root, &path), content })
}

/// A path from the folder above `root` on, for messages: `shaders/skinning/skinned.vert`.
fn shown_path(root: &Path, path: &Path) -> String {
    let base = root.parent().unwrap_or(root);
    path.strip_prefix(base).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in files {
            let path = folder.path().join("shaders").join(name);
            std::fs::create_dir_all(path.parent().expect("it has a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        folder
    }

    const SPIRV_MAGIC: u32 = 0x0723_0203;

    #[test]
    fn glsl_with_both_kinds_of_include() {
        let folder = folder_with(&[
            ("lib/one.glsl", "#include \"two.glsl\"\nfloat one() { return two() * 0.5; }\n"),
            ("lib/two.glsl", "float two() { return 2.0; }\n"),
            (
                "a/a.frag",
                "#version 460\n#extension GL_GOOGLE_include_directive : require\n#include <one.glsl>\n\
                 layout(location = 0) out vec4 color;\nvoid main() { color = vec4(one()); }\n",
            ),
        ]);
        let words = compile(&folder.path().join("shaders"), "a/a.frag", true).expect("it compiles");
        assert_eq!(words[0], SPIRV_MAGIC);
        assert_eq!(words[1], 0x0001_0600, "SPIR-V 1.6");
    }

    #[test]
    fn hlsl() {
        let folder = folder_with(&[(
            "a/a.frag.hlsl",
            "[[vk::binding(0, 0)]] cbuffer B : register(b0, space0) { float4 tint; };\n\
             float4 main(float4 color : COLOR0) : SV_TARGET { return color * tint; }\n",
        )]);
        let words = compile(&folder.path().join("shaders"), "a/a.frag.hlsl", false).expect("it compiles");
        assert_eq!(words[0], SPIRV_MAGIC);
    }

    /// What is not optimized is not validated: the optimizer refuses SPIR-V that is wrong.
    #[test]
    fn hlsl_with_structured_buffers() {
        let folder = folder_with(&[
            ("lib/half.hlsl", "float4 half_of(float4 x) { return 0.5 * x; }\n"),
            (
                "a/a.comp.hlsl",
                "#include <half.hlsl>\n\
                 [[vk::binding(0, 0)]] StructuredBuffer<float4> a : register(t0, space0);\n\
                 [[vk::binding(1, 0)]] RWStructuredBuffer<float4> b : register(u1, space0);\n\
                 [numthreads(64, 1, 1)] void main(uint3 id : SV_DispatchThreadID) { b[id.x] = half_of(a[id.x]); }\n",
            ),
        ]);
        let words = compile(&folder.path().join("shaders"), "a/a.comp.hlsl", true).expect("it compiles");
        assert_eq!(words[..2], [SPIRV_MAGIC, 0x0001_0300]);
    }

    #[test]
    fn errors_name_file_and_line() {
        let folder = folder_with(&[
            ("lib/bad.glsl", "\nfloat bad() { return nothing; }\n"),
            (
                "a/a.frag",
                "#version 460\n#extension GL_GOOGLE_include_directive : require\n#include <bad.glsl>\nvoid main() {}\n",
            ),
            ("a/b.frag", "#version 460\nvoid main() {\n  oops();\n}\n"),
            ("a/c.frag", "#version 460\n#extension GL_GOOGLE_include_directive : require\n#include <none.glsl>\n"),
        ]);
        let root = folder.path().join("shaders");
        let message = |name| compile(&root, name, true).expect_err("it does not compile");
        assert!(message("a/a.frag").contains("shaders/lib/bad.glsl:2:"), "{}", message("a/a.frag"));
        assert!(message("a/b.frag").contains("shaders/a/b.frag:3:"), "{}", message("a/b.frag"));
        assert!(message("a/c.frag").contains("none.glsl"), "{}", message("a/c.frag"));
    }
}
