//! Loads broken glTF files, and looks whether what loads keeps the promises of a scene.

#![no_main]

use std::panic::{self, PanicHookInfo};
use std::path::Path;

use ashwright::scene::{Purpose, Scene, TextureSlot};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

#[path = "../../tests/mutation/mod.rs"]
mod mutation;
#[path = "../../tests/promises/mod.rs"]
mod promises;

/// A folder that is not there: files that a model refers to are not read.
const FOLDER: &str = "/no/such/folder";

/// Scenes are posed that have no more vertices and channels than this, counted as often as they are drawn: others would only
/// take time.
const MOST_WORK: usize = 20_000;

fuzz_target!(init: prepare(), |data: &[u8]| {
    for purpose in [Purpose::Draw(&TextureSlot::ALL), Purpose::Inspect] {
        if let Ok(scene) = Scene::from_bytes(data, Path::new(FOLDER), "fuzz", purpose) {
            promises::check(&scene);
            if work(&scene) <= MOST_WORK {
                promises::pose_at_many_times(&scene);
            }
        }
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = mutation::Random::new(seed.into());
    let mut of_bytes = mutation::Random::new((!seed).into());
    let mut change_bytes = |bytes: &mut Vec<u8>| {
        if of_bytes.below(3) == 0 {
            return mutation::change_bytes(bytes, &mut of_bytes);
        }
        let size = bytes.len();
        let max_size = size + 64;
        bytes.resize(max_size, 0);
        let size = fuzzer_mutate(bytes, size, max_size);
        bytes.truncate(size);
    };
    let mutated = mutation::mutate(&data[..size], &mut random, &mut change_bytes);
    if mutated.len() > max_size {
        return fuzzer_mutate(data, size, max_size);
    }
    data[..mutated.len()].copy_from_slice(&mutated);
    mutated.len()
});

/// Lets this thread do what others would, which takes less time for small files, and panics go on where they are caught.
fn prepare() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("it is the first one");
    let abort = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !is_caught(info) {
            abort(info);
        }
    }));
}

/// Whether a panic comes from a library that the loader calls because it expects no better of it.
fn is_caught(info: &PanicHookInfo) -> bool {
    info.location().is_some_and(|location| location.file().contains("/basisu-"))
}

fn work(scene: &Scene) -> usize {
    let vertices = |mesh: usize| -> usize {
        let primitives = scene.meshes[mesh].primitives.iter();
        primitives.map(|primitive| primitive.positions.len() * (1 + primitive.morph_targets.len())).sum()
    };
    let drawn: usize = scene.nodes.iter().filter_map(|node| node.mesh).map(vertices).sum();
    let channels: usize = scene.animations.iter().map(|animation| animation.channels.len()).sum();
    drawn + channels + scene.animations.len() * scene.nodes.len()
}
