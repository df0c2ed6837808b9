//! What a frame must not do once a program runs steadily.

use serde_json::Value;

use crate::sample;

/// The most by which two seconds of frames may raise the memory that the process holds, in bytes: what allocators keep.
const MOST_GROWTH: i64 = 8 << 20;

/// Runs a sample headless with `--bench` and checks its figures: after the warm-up, no frame calls the allocator, none
/// makes a Vulkan object, the memory of the whole process does not grow, and all of the object's members are there.
/// `options` are further ones.
///
/// # Panics
///
/// If one does.
pub fn check(binary: &str, options: &[&str]) {
    let figures = bench(binary, options);
    assert_eq!(figures["allocations_per_frame"], 0.0, "{figures}");
    assert_eq!(figures["objects_per_frame"], 0.0, "{figures}");
    assert!(figures["frames"].as_u64() > Some(0), "{figures}");
    for times in ["frame_ms", "cpu_ms", "gpu_ms"] {
        let [min, median, p99] = ["min", "median", "p99"].map(|name| figures[times][name].as_f64());
        assert!(min.is_some() && min <= median && median <= p99, "{times}: {figures}");
    }
    for member in ["sample", "gpu", "size", "pass_ms", "startup_ms"] {
        assert!(!figures[member].is_null(), "{member}: {figures}");
    }
    // A driver's own allocations are seen by this alone.
    let growth = figures["rss_growth_bytes"].as_i64().expect("memory's growth, in bytes");
    assert!(growth <= MOST_GROWTH, "{figures}");
}

/// The figures of a run.
fn bench(binary: &str, options: &[&str]) -> Value {
    let common = ["--headless", "--bench", "2", "--size", "64x64", "--validation", "off"];
    let ended = sample::run(binary, common.iter().chain(options));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).expect("one JSON object")
}
