//! What a frame must not do once a program runs steadily.

use serde_json::Value;

use crate::sample;

/// The most by which half a second of frames may raise the memory that the process holds, in bytes: what allocators keep.
const MOST_GROWTH: u64 = 1 << 20;

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
    assert!(!leaks(&figures), "memory grows in every part of the run: {figures}");
}

/// Whether memory grew in each of the parts of a run, which shows what a driver leaks with its frames too. One that takes
/// memory once, when it first has several pictures in work, grows in one part and not in the others.
fn leaks(figures: &Value) -> bool {
    let held: Vec<u64> = figures["rss_bytes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|bytes| bytes.as_u64().expect("memory, in bytes"))
        .collect();
    assert_eq!(held.len(), 5, "the start and the ends of four parts: {figures}");
    held.windows(2).all(|part| part[1] > part[0] + MOST_GROWTH)
}

/// The figures of a run.
fn bench(binary: &str, options: &[&str]) -> Value {
    let common = ["--headless", "--bench", "2", "--size", "64x64", "--validation", "off"];
    let ended = sample::run(binary, common.iter().chain(options));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).expect("one JSON object")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_leak_is_told_from_memory_taken_once() {
        let held = |megabytes: [u64; 5]| json!({ "rss_bytes": megabytes.map(|held| held << 20) });
        assert!(leaks(&held([150, 152, 154, 156, 158])));
        assert!(!leaks(&held([150, 150, 150, 150, 150])));
        assert!(!leaks(&held([150, 168, 168, 168, 168])));
        assert!(!leaks(&held([150, 168, 186, 186, 180])));
    }
}
