//! The shaders of all samples as SPIR-V, compiled when this crate is built.
//!
//! Sources lie beside this crate in `shaders/SAMPLE/`, pieces to include in `shaders/lib/`. A sample takes a
//! shader with [`spirv!`]; one that does not compile is an error in the sample that takes it.

include!(concat!(env!("OUT_DIR"), "/spirv.rs"));
