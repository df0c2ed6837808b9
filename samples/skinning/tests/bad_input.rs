//! Whatever is wrong: one sentence that says what, and an exit code.

use std::path::Path;

use tools::sample::{self, Ended};

const SKINNING: &str = env!("CARGO_BIN_EXE_skinning");

/// Runs the sample headless in an empty folder.
fn run(folder: &Path, options: &[&str], environment: &[(&str, &str)]) -> Ended {
    let mut command = sample::command(SKINNING, [&["--headless", "--size", "64x64"], options].concat());
    command.current_dir(folder).envs(environment.iter().copied());
    command.output().expect("the sample can be started").into()
}

/// Exit code 1 and one line that holds all of `words`.
fn assert_fails(folder: &Path, options: &[&str], environment: &[(&str, &str)], words: &[&str]) {
    let ended = run(folder, options, environment);
    assert_eq!(ended.code, Some(1), "{options:?}: {}", ended.stderr);
    assert!(ended.stderr.starts_with("error: "), "{options:?}: {}", ended.stderr);
    assert_eq!(ended.stderr.trim_end().lines().count(), 1, "{options:?}: {}", ended.stderr);
    for word in words {
        assert!(ended.stderr.contains(word), "{options:?}: no {word} in {}", ended.stderr);
    }
}

fn assert_refused(options: &[&str], word: &str) {
    let ended = run(Path::new("."), options, &[]);
    assert_eq!(ended.code, Some(2), "{options:?}: {}", ended.stderr);
    assert!(ended.stderr.contains(word) && !ended.stderr.contains("panicked"), "{options:?}: {}", ended.stderr);
}

#[test]
fn broken_models() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let whale = std::fs::read(ashwright::asset("models/whale.glb").expect("it is part of the project"));
    let whale = whale.expect("it can be read");
    std::fs::write(folder.path().join("text.glb"), "This is not a model.\n").expect("a file");
    std::fs::write(folder.path().join("half.glb"), &whale[..whale.len() / 2]).expect("a file");
    std::fs::write(folder.path().join("empty.gltf"), "").expect("a file");
    assert_fails(folder.path(), &["none.glb"], &[], &["none.glb", "No such file"]);
    assert_fails(folder.path(), &["text.glb"], &[], &["text.glb"]);
    assert_fails(folder.path(), &["half.glb"], &[], &["half.glb"]);
    assert_fails(folder.path(), &["empty.gltf"], &[], &["empty.gltf"]);
    assert_fails(folder.path(), &["."], &[], &["."]);
}

#[test]
fn wrong_options() {
    assert_refused(&["--no-such-option"], "--no-such-option");
    assert_refused(&["--size", "0x0"], "at least one pixel");
    assert_refused(&["--size", "big"], "1280x720");
    assert_refused(&["--frames", "0"], "--frames");
    assert_refused(&["--time", "nan"], "--time");
    assert_refused(&["--msaa", "3"], "--msaa");
    assert_refused(&["--fov", "180"], "170");
    assert_refused(&["--view", "nothing"], "normals");
    assert_refused(&["--screenshot", "picture.jpg"], ".png");
}

#[test]
fn things_that_are_not_there() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fails = |options: &[&str], words: &[&str]| assert_fails(folder.path(), options, &[], words);
    fails(&["--animation", "fly"], &["fly", "swim"]);
    fails(&["--animation", "7"], &["7", "swim"]);
    fails(&["--gpu", "9"], &["9"]);
    fails(&["--gpu", "no such card"], &["no such card"]);
    fails(&["--screenshot", "no/such/folder/a.png"], &["no/such/folder"]);
    fails(&["--size", "100000x100000"], &["100000"]);
}

#[test]
fn a_picture_that_cannot_be_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("picture.png")).expect("a folder");
    assert_fails(folder.path(), &["--screenshot", "picture.png"], &[], &["picture.png", "folder"]);
    if Path::new("/dev/full").exists() {
        std::os::unix::fs::symlink("/dev/full", folder.path().join("full.png")).expect("a link");
        assert_fails(folder.path(), &["--screenshot", "full.png"], &[], &["full.png", "No space"]);
    }
}

#[test]
fn no_vulkan() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let nowhere = [("VK_DRIVER_FILES", "/nowhere.json"), ("VK_ICD_FILENAMES", "/nowhere.json")];
    assert_fails(folder.path(), &["--validation", "off"], &nowhere, &["Vulkan", "mesa-vulkan-drivers"]);
    let no_layers = [("VK_LAYER_PATH", "/nowhere")];
    let words = ["vulkan-validationlayers", "--validation off"];
    assert_fails(folder.path(), &["--validation", "strict"], &no_layers, &words);
}
