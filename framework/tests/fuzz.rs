//! Files of the fuzzer, replayed: those that it begins with, those that it found something with, and some thousand changed
//! ones.

#![allow(clippy::unwrap_used)] // A test may fail that way.

mod mutation;
mod promises;

use ashwright::scene::{Problem, Purpose, Scene, TextureSlot};
use mutation::Random;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const PURPOSES: [Purpose; 2] = [Purpose::Draw(&TextureSlot::ALL), Purpose::Inspect];

/// How long the changed files may take. Each of them takes less than a millisecond.
const TIME: Duration = Duration::from_secs(5);

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(name)
}

/// The files of a folder, sorted.
fn files(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder(name)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Loads a file and does with it all that can be done. What it refers to is not there.
fn load(bytes: &[u8], purpose: Purpose) -> Result<Scene, Problem> {
    let scene = Scene::from_bytes(bytes, &folder("no such folder"), "fuzz", purpose)?;
    promises::check(&scene);
    promises::pose_at_many_times(&scene);
    Ok(scene)
}

#[test]
fn seeds_load() {
    for (path, bytes) in files("seeds") {
        for purpose in PURPOSES {
            let scene = load(&bytes, purpose).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
            assert_eq!(scene.warnings, [""; 0], "{}", path.display());
            assert!(scene.images.iter().all(|image| image.size != (0, 0)), "{}", path.display());
        }
    }
}

#[test]
fn what_was_found_is_mended() {
    for (path, bytes) in files("found") {
        let begin = Instant::now();
        let loaded = PURPOSES.map(|purpose| load(&bytes, purpose).map(|scene| scene.warnings));
        println!("{}: {loaded:?} in {:?}", path.display(), begin.elapsed());
    }
}

#[test]
fn changed_files_do_no_harm() {
    let mut random = Random::new(1);
    let seeds = files("seeds");
    let (mut count, mut loaded) = (0, 0);
    let begin = Instant::now();
    while count < 4000 && begin.elapsed() < TIME {
        let mut of_bytes = Random::new(count as u64);
        let mut change_bytes = |bytes: &mut Vec<u8>| mutation::change_bytes(bytes, &mut of_bytes);
        let bytes = mutation::mutate(&seeds[count % seeds.len()].1, &mut random, &mut change_bytes);
        for purpose in PURPOSES {
            loaded += usize::from(load(&bytes, purpose).is_ok());
        }
        count += 1;
    }
    println!("{count} files, each loaded for two purposes: {loaded} times without an error");
    assert!(count >= 1000 && loaded > count / 5, "the files take too long, or are all refused");
}
