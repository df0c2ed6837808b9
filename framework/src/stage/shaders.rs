//! The shaders of the stage as SPIR-V, from `shaders/stage`.

include!(concat!(env!("OUT_DIR"), "/spirv.rs"));

pub(super) use spirv;
