//! A sample that shows a model, in a real window on a display in memory.

use std::process::Child;
use std::time::Duration;

use serde_json::json;

use crate::display::{Display, wait_for_end};
use crate::little::Little;
use crate::sample::{self, Ended};

const F1: u32 = 0xffbe;
const F2: u32 = 0xffbf;
const F11: u32 = 0xffc8;
const F12: u32 = 0xffc9;
const ESCAPE: u32 = 0xff1b;

/// Starts a sample on a display, under strict validation.
///
/// # Panics
///
/// If it cannot be started.
pub fn start(display: &Display, binary: &str, options: &[&str]) -> Child {
    let mut command = sample::command(binary, [&["--validation", "strict"], options].concat());
    command.env("DISPLAY", &display.name).spawn().expect("the sample can be started")
}

fn assert_ends_well(process: Child) {
    let ended = wait_for_end(process);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

/// Opens a window, uses mouse and keys, resizes it and closes it. `options` are further ones.
///
/// # Panics
///
/// If the sample does not follow, fails, or has something to say.
pub fn check_use(binary: &str, options: &[&str]) {
    let Some(display) = Display::start() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let last = folder.path().join("last.png");
    let last = last.to_str().expect("the name is text");
    let options = [&["--size", "640x360", "--screenshot", last], options].concat();
    let mut process = start(&display, binary, &options);
    let window = display.window_of(&mut process);
    let pause = || std::thread::sleep(Duration::from_millis(150));
    display.wait_for_size(window, 640, 360);
    display.drag(window, 1, (120, 40));
    display.drag(window, 3, (30, -50));
    display.wheel(true);
    display.wheel(false);
    for (width, height) in [(900, 500), (123, 457), (1, 1), (1200, 300), (640, 360)] {
        display.resize(window, width, height);
        pause();
    }
    for key in [u32::from(' '), F1, F2, F1, u32::from(' '), u32::from('r'), F11] {
        display.key(key);
        pause();
    }
    display.wait_for_size(window, 1920, 1080);
    display.key(F11);
    display.wait_for_size(window, 640, 360);
    display.close(window);
    assert_ends_well(process);
    let size = image::image_dimensions(last).expect("the last frame was written");
    assert_eq!(size, (640, 360));
}

/// Ends a sample by its key.
///
/// # Panics
///
/// If it does not end, fails, or has something to say.
pub fn check_escape(binary: &str) {
    let Some(display) = Display::start() else { return };
    let mut process = start(&display, binary, &["--size", "320x200"]);
    let window = display.window_of(&mut process);
    display.wait_for_size(window, 320, 200);
    std::thread::sleep(Duration::from_millis(500));
    // A press brings the window to the front, wherever the manager's focus is.
    display.drag(window, 1, (0, 0));
    display.key(ESCAPE);
    assert_ends_well(process);
}

/// Compares a window's fifth frame with the headless one, byte by byte. `options` are further ones.
///
/// # Panics
///
/// If they differ.
pub fn check_against_headless(binary: &str, options: &[&str]) {
    let Some(display) = Display::start() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let picture = folder.path().join("window.png");
    let common = [&["--size", "640x360", "--frames", "5", "--time", "1"], options].concat();
    let name = picture.to_str().expect("the name is text");
    assert_ends_well(start(&display, binary, &[&common[..], &["--screenshot", name]].concat()));
    let window = image::open(&picture).expect("it was written").into_rgba8();
    assert!(window == sample::picture(binary, common), "window and headless differ");
}

/// Runs a sample where there is no display.
///
/// # Panics
///
/// If it does not run headless, or does not say so.
pub fn check_no_display(binary: &str, name: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = sample::command(binary, ["--size", "160x90"]);
    let ended: Ended = command.current_dir(folder.path()).output().expect("the sample can be started").into();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("no window") && ended.stderr.contains("DISPLAY"), "{}", ended.stderr);
    let picture = format!("{name}.png");
    assert!(ended.stdout.contains(&picture) && folder.path().join(picture).exists());
}

/// Drops a file that is no model, and one that is, on a sample's window. `options` are further ones, about its own model.
///
/// # Panics
///
/// If the model is not shown, or the sample ends.
pub fn check_drop(binary: &str, name: &str, options: &[&str]) {
    let Some(display) = Display::start() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut little = Little::default();
    let material = little.unlit([0.8, 0.3, 0.1, 1.0], json!({}));
    let square = little.square([0.0; 3], 1.0, material);
    let mesh = little.mesh(square);
    little.root(json!({ "mesh": mesh }));
    let model = little.save(folder.path());
    let common = ["--size", "320x180"];
    let path = model.to_str().expect("the name is text");
    let expected = sample::picture(binary, [&common[..], &[path]].concat());

    let options = [&["--validation", "strict", "--no-ui"], &common[..], options].concat();
    let mut command = sample::command(binary, options);
    command.env("DISPLAY", &display.name).current_dir(folder.path());
    let mut process = command.spawn().expect("the sample can be started");
    let window = display.window_of(&mut process);
    display.wait_for_size(window, 320, 180);
    display.drag(window, 1, (0, 0));
    // What is no model is said, and the program goes on, even if it has not yet loaded its own.
    let no_model = folder.path().join("text.glb");
    std::fs::write(&no_model, "This is not a model.\n").expect("a file");
    display.drop_file(window, &no_model);
    display.drop_file(window, &model);
    // Pictures are numbered, and taken by and by: the model is in one of them.
    let mut number = 1;
    let shown = (0..200).any(|_| {
        display.key(F12);
        std::thread::sleep(Duration::from_millis(100));
        let picture = image::open(folder.path().join(format!("{name}-{number}.png")));
        number += u32::from(picture.is_ok());
        picture.is_ok_and(|picture| picture.into_rgba8() == expected)
    });
    display.close(window);
    let ended = wait_for_end(process);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.starts_with("error: ") && ended.stderr.contains("text.glb"), "{}", ended.stderr);
    assert!(shown, "the dropped model was not shown: {}", ended.stderr);
}
