//! Figures of a run, as one JSON object.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs::File;
use std::io::Read;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::allocations::allocations;
use super::renderer::Times;
use crate::gpu::Device;

/// Frames before the figures begin: pipelines are compiled and caches filled by then.
const WARM_UP_FRAMES: u64 = 30;

/// Room for the figures, so that taking them does not allocate: the most frames that are counted.
const MOST_FRAMES: usize = 1 << 20;

/// The most passes a frame that are counted.
const MOST_PASSES: usize = 32;

/// Parts of equal length at whose ends the memory is looked at. Only in the last one are passes timed, for timing them takes
/// time; frames are counted in the others.
const PARTS: usize = 4;

/// Takes the figures of `--bench`.
pub(super) struct Bench {
    length: Duration,
    frames: u64,
    /// Set when the warm-up is over.
    started: Option<Started>,
    last_frame: Instant,
    startup: Option<Duration>,
    frame_ms: Vec<f32>,
    cpu_ms: Vec<f32>,
    passes: Vec<(&'static CStr, Vec<f32>)>,
    /// What the program held at the end of the warm-up and of each part, where the system says so: a driver's memory too.
    rss_bytes: Vec<Option<u64>>,
}

/// Counts at the end of the warm-up.
struct Started {
    at: Instant,
    allocations: u64,
    objects: u64,
}

impl Bench {
    /// Runs for this many seconds after the warm-up.
    pub(super) fn new(seconds: f32) -> Self {
        Self {
            length: Duration::from_secs_f32(seconds),
            frames: 0,
            started: None,
            last_frame: Instant::now(),
            startup: None,
            frame_ms: Vec::with_capacity(MOST_FRAMES),
            cpu_ms: Vec::with_capacity(MOST_FRAMES),
            passes: Vec::with_capacity(MOST_PASSES),
            rss_bytes: Vec::with_capacity(PARTS + 1),
        }
    }

    /// Whether the passes of the next frame are to be timed. The warm-up learns their names, after the first picture.
    pub(super) fn times_passes(&self) -> bool {
        if self.started.is_some() { self.rss_bytes.len() >= PARTS } else { self.frames > 0 }
    }

    /// Takes a frame that was submitted. `program` is when the program began. Returns the figures when the time is over.
    pub(super) fn frame(&mut self, device: &Device, times: &Times, program: Instant) -> Option<Figures> {
        let now = Instant::now();
        self.startup.get_or_insert_with(|| {
            // The first picture is there when the GPU has ended it. A lost device is found out by the next frame.
            let _ = device.wait_idle();
            program.elapsed()
        });
        let frame_ms = now.duration_since(self.last_frame).as_secs_f32() * 1e3;
        self.last_frame = now;
        self.frames += 1;
        if self.frames <= WARM_UP_FRAMES {
            // The passes are known by now, and so is the room that their times need.
            for &(name, _) in &times.passes {
                if self.passes.len() < MOST_PASSES && !self.passes.iter().any(|(known, _)| *known == name) {
                    self.passes.push((name, Vec::with_capacity(MOST_FRAMES)));
                }
            }
            return None;
        }
        let Some(started) = &self.started else {
            self.rss_bytes.push(memory("VmRSS:"));
            self.started = Some(Started { at: now, allocations: allocations(), objects: device.objects_made() });
            return None;
        };
        let elapsed = now.duration_since(started.at);
        if !self.times_passes() {
            push(&mut self.frame_ms, frame_ms);
            push(&mut self.cpu_ms, times.cpu_ms);
        } else {
            for &(name, time) in &times.passes {
                if let Some((_, all)) = self.passes.iter_mut().find(|(known, _)| *known == name) {
                    push(all, time);
                }
            }
        }
        if self.rss_bytes.len() <= PARTS && elapsed * PARTS as u32 >= self.length * self.rss_bytes.len() as u32 {
            self.rss_bytes.push(memory("VmRSS:"));
        }
        let timed = self.passes.is_empty() || self.passes.iter().any(|(_, times)| !times.is_empty());
        (self.rss_bytes.len() > PARTS && timed).then(|| Figures {
            allocations: allocations() - started.allocations,
            objects: device.objects_made() - started.objects,
        })
    }

    /// The object that is printed.
    pub(super) fn json(&self, sample: &str, gpu: &str, (width, height): (u32, u32), figures: &Figures) -> Value {
        let per_frame = |total: u64| total as f64 / (self.frames - WARM_UP_FRAMES - 1) as f64;
        let gpu_ms = self.passes.iter().find(|(name, _)| *name == c"frame").map(|(_, times)| statistics(times));
        let passes: BTreeMap<_, _> = self
            .passes
            .iter()
            .filter(|(name, _)| *name != c"frame")
            .map(|(name, times)| (name.to_string_lossy(), statistics(times)))
            .collect();
        json!({
            "sample": sample,
            "gpu": gpu,
            "size": [width, height],
            "frames": self.frame_ms.len(),
            "frame_ms": statistics(&self.frame_ms),
            "cpu_ms": statistics(&self.cpu_ms),
            "gpu_ms": gpu_ms,
            "pass_ms": passes,
            "startup_ms": self.startup.map(|startup| rounded(startup.as_secs_f32() * 1e3)),
            "peak_rss_bytes": memory("VmHWM:"),
            "rss_bytes": self.rss_bytes,
            "allocations_per_frame": per_frame(figures.allocations),
            "objects_per_frame": per_frame(figures.objects),
        })
    }
}

/// What was counted while the figures were taken.
pub(super) struct Figures {
    allocations: u64,
    objects: u64,
}

/// Adds a figure, if there is room without allocating.
fn push(figures: &mut Vec<f32>, figure: f32) {
    if figures.len() < figures.capacity() {
        figures.push(figure);
    }
}

/// Least, median and 99th percentile.
fn statistics(times: &[f32]) -> Value {
    let mut sorted = times.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return Value::Null };
    let at = |share: f64| rounded(sorted[(share * last as f64).round() as usize]);
    json!({ "min": at(0.0), "median": at(0.5), "p99": at(0.99) })
}

/// To a microsecond: more digits than mean anything are not printed.
fn rounded(milliseconds: f32) -> f64 {
    (f64::from(milliseconds) * 1e3).round() / 1e3
}

/// Memory of the program in bytes, where the system says so: `VmRSS:` is what it holds, `VmHWM:` the most it has held.
/// Does not allocate.
fn memory(name: &str) -> Option<u64> {
    let mut status = [0; 4096];
    let length = File::open("/proc/self/status").ok()?.read(&mut status).ok()?;
    let status = std::str::from_utf8(&status[..length]).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_median_and_99th_percentile() {
        let times: Vec<f32> = (0..=100).rev().map(|time| time as f32).collect();
        assert_eq!(statistics(&times), json!({ "min": 0.0, "median": 50.0, "p99": 99.0 }));
        assert_eq!(statistics(&[]), Value::Null);
    }
}
