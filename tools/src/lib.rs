//! What the helper programs do, and what the tests of the workspace share: running a sample, comparing pictures and poses,
//! bad input, a display in memory, drivers that misbehave, shader functions run on the GPU, and models to try.

pub mod bad_input;
pub mod compute;
pub mod corpus;
#[cfg(all(unix, not(target_os = "macos")))]
pub mod display;
pub mod environments;
pub mod facing;
#[cfg(all(unix, not(target_os = "macos")))]
pub mod faults;
pub mod golden;
pub mod little;
pub mod oracle;
pub mod readme;
pub mod reference;
pub mod report;
pub mod sample;
pub mod snapshot;
pub mod steady;
#[cfg(all(unix, not(target_os = "macos")))]
pub mod window;
