//! Whatever is wrong: one sentence that says what, and an exit code. What samples that show a model have in common.

use std::path::Path;

use crate::sample::{self, Ended};

/// Runs the sample headless in a folder.
fn run(binary: &str, folder: &Path, options: &[&str], environment: &[(&str, &str)]) -> Ended {
    let mut command = sample::command(binary, [&["--headless", "--size", "64x64"], options].concat());
    command.current_dir(folder).envs(environment.iter().copied());
    command.output().expect("the sample can be started").into()
}

/// Expects exit code 1 and one line that holds all of `words` of a sample that runs in a folder.
///
/// # Panics
///
/// If it is not so.
pub fn assert_fails_in(folder: &Path, binary: &str, options: &[&str], environment: &[(&str, &str)], words: &[&str]) {
    let ended = run(binary, folder, options, environment);
    assert_eq!(ended.code, Some(1), "{options:?}: {}", ended.stderr);
    assert!(ended.stderr.starts_with("error: "), "{options:?}: {}", ended.stderr);
    assert_eq!(ended.stderr.trim_end().lines().count(), 1, "{options:?}: {}", ended.stderr);
    for word in words {
        assert!(ended.stderr.contains(word), "{options:?}: no {word} in {}", ended.stderr);
    }
}

/// As [`assert_fails_in`], in an empty folder.
///
/// # Panics
///
/// If it is not so.
pub fn assert_fails(binary: &str, options: &[&str], words: &[&str]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_fails_in(folder.path(), binary, options, &[], words);
}

/// Expects that a command line is refused: exit code 2, and the reason holds all of `words`.
///
/// # Panics
///
/// If it is not so.
pub fn assert_refused(binary: &str, options: &[&str], words: &[&str]) {
    let ended = run(binary, Path::new("."), options, &[]);
    assert_eq!(ended.code, Some(2), "{options:?}: {}", ended.stderr);
    assert!(!ended.stderr.contains("panicked"), "{options:?}: {}", ended.stderr);
    for word in words {
        assert!(ended.stderr.contains(word), "{options:?}: no {word} in {}", ended.stderr);
    }
}

/// Checks files that are no models, or broken ones; `model` is the sample's own, below the assets.
///
/// # Panics
///
/// If one is not refused with a sentence that names it.
pub fn check_models(binary: &str, model: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let model = std::fs::read(ashwright::asset(model).expect("it is part of the project")).expect("it can be read");
    std::fs::write(folder.path().join("text.glb"), "This is not a model.\n").expect("a file");
    std::fs::write(folder.path().join("half.glb"), &model[..model.len() / 2]).expect("a file");
    std::fs::write(folder.path().join("empty.gltf"), "").expect("a file");
    let fails = |options: &[&str], words: &[&str]| assert_fails_in(folder.path(), binary, options, &[], words);
    fails(&["none.glb"], &["none.glb", "No such file"]);
    fails(&["text.glb"], &["text.glb"]);
    fails(&["half.glb"], &["half.glb"]);
    fails(&["empty.gltf"], &["empty.gltf"]);
    fails(&["."], &["."]);
}

/// Checks what all samples that show a model can be told wrongly.
///
/// # Panics
///
/// If something is not refused.
pub fn check_options(binary: &str) {
    let refused = |options: &[&str], word: &str| assert_refused(binary, options, &[word]);
    refused(&["--no-such-option"], "--no-such-option");
    refused(&["--size", "0x0"], "at least one pixel");
    refused(&["--size", "big"], "1280x720");
    refused(&["--frames", "0"], "--frames");
    refused(&["--time", "nan"], "--time");
    refused(&["--msaa", "3"], "--msaa");
    refused(&["--fov", "180"], "170");
    refused(&["--screenshot", "picture.jpg"], ".png");
    refused(&["--camera", "-1"], "-1");
    for option in [["--eye", "1,2,3"], ["--target", "1,2,3"], ["--fov", "50"]] {
        assert_refused(binary, &[&["--camera", "0"], &option[..]].concat(), &["--camera", option[0]]);
    }
    let fails = |options: &[&str], words: &[&str]| assert_fails(binary, options, words);
    fails(&["--gpu", "9"], &["9"]);
    fails(&["--gpu", "no such card"], &["no such card"]);
    fails(&["--size", "100000x100000"], &["100000"]);
}

/// Checks pictures that cannot be written.
///
/// # Panics
///
/// If that is not said.
pub fn check_pictures(binary: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fails = |options: &[&str], words: &[&str]| assert_fails_in(folder.path(), binary, options, &[], words);
    fails(&["--screenshot", "no/such/folder/a.png"], &["no/such/folder"]);
    std::fs::create_dir(folder.path().join("picture.png")).expect("a folder");
    fails(&["--screenshot", "picture.png"], &["picture.png", "folder"]);
    #[cfg(unix)]
    if Path::new("/dev/full").exists() {
        std::os::unix::fs::symlink("/dev/full", folder.path().join("full.png")).expect("a link");
        fails(&["--screenshot", "full.png"], &["full.png", "No space"]);
    }
}

/// Checks a computer without Vulkan, and one without the validation layer.
///
/// # Panics
///
/// If that is not said.
pub fn check_no_vulkan(binary: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let nowhere = [("VK_DRIVER_FILES", "/nowhere.json"), ("VK_ICD_FILENAMES", "/nowhere.json")];
    let words = ["Vulkan", "mesa-vulkan-drivers"];
    assert_fails_in(folder.path(), binary, &["--validation", "off"], &nowhere, &words);
    let no_layers = [("VK_LAYER_PATH", "/nowhere")];
    let words = ["vulkan-validationlayers", "--validation off"];
    assert_fails_in(folder.path(), binary, &["--validation", "strict"], &no_layers, &words);
}
