//! What the tests of the workspace share: running a sample, comparing pictures, a display in memory, shader functions run
//! on the GPU, drivers that misbehave, and models to try.

pub mod compute;
pub mod corpus;
#[cfg(all(unix, not(target_os = "macos")))]
pub mod display;
#[cfg(all(unix, not(target_os = "macos")))]
pub mod faults;
pub mod golden;
pub mod sample;
