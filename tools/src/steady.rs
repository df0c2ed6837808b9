//! What a frame must not do once a program runs steadily.

use serde_json::Value;

use crate::sample;

/// Runs a sample headless with `--bench` and checks its figures: after the warm-up, no frame calls the allocator, none
/// makes a Vulkan object, and all of the object's members are there.
///
/// # Panics
///
/// If one does.
pub fn check(binary: &str) {
    let ended = sample::run(binary, ["--headless", "--bench", "0.3", "--size", "64x64", "--validation", "off"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let figures: Value = serde_json::from_str(&ended.stdout).expect("one JSON object");
    assert_eq!(figures["allocations_per_frame"], 0.0, "{figures}");
    assert_eq!(figures["objects_per_frame"], 0.0, "{figures}");
    assert!(figures["frames"].as_u64() > Some(0), "{figures}");
    for times in ["frame_ms", "cpu_ms", "gpu_ms"] {
        let [min, median, p99] = ["min", "median", "p99"].map(|name| figures[times][name].as_f64());
        assert!(min.is_some() && min <= median && median <= p99, "{times}: {figures}");
    }
    for member in ["sample", "gpu", "size", "pass_ms", "startup_ms", "peak_rss_bytes"] {
        assert!(!figures[member].is_null(), "{member}: {figures}");
    }
}
