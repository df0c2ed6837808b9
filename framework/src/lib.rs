//! Ashwright: what every Vulkan program repeats, so that a sample can show its one technique.

pub mod scene;
