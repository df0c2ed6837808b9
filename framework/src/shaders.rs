//! The framework's own shaders as SPIR-V, from `shaders/stage` and `shaders/model`.

include!(concat!(env!("OUT_DIR"), "/spirv.rs"));

pub(crate) use spirv;
