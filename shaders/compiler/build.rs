//! States the libraries that shaderc's static library needs.
//!
//! Debian and Ubuntu split shaderc, glslang and SPIRV-Tools into libraries of their own, and shaderc's crate
//! names only the first. Elsewhere (the Vulkan SDK, a build from source) one archive holds all of them and
//! there is nothing to state.

use std::path::Path;

const FOLDERS: [&str; 5] =
    ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"];

/// In the order in which each needs the next.
const LIBRARIES: [&str; 9] = [
    "SPIRV",
    "glslang",
    "MachineIndependent",
    "GenericCodeGen",
    "OSDependent",
    "OGLCompiler",
    "glslang-default-resource-limits",
    "SPIRV-Tools-opt",
    "SPIRV-Tools",
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let split = FOLDERS.iter().map(Path::new).find(|folder| folder.join("libSPIRV-Tools-opt.a").exists());
    let Some(folder) = split else { return };
    println!("cargo:rustc-link-search=native={}", folder.display());
    for library in LIBRARIES {
        // Which of them exist differs between versions of glslang.
        if folder.join(format!("lib{library}.a")).exists() {
            println!("cargo:rustc-link-lib=static:-bundle={library}");
        }
    }
    println!("cargo:rustc-link-lib=stdc++");
}
