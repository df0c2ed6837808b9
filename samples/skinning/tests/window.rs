//! In a real window on a display in memory.
#![cfg(all(unix, not(target_os = "macos")))]

use std::process::Child;
use std::time::Duration;

use tools::display::{Display, wait_for_end};
use tools::sample;

const SKINNING: &str = env!("CARGO_BIN_EXE_skinning");
const F1: u32 = 0xffbe;
const F2: u32 = 0xffbf;
const F11: u32 = 0xffc8;
const F12: u32 = 0xffc9;

fn start(display: &Display, options: &[&str]) -> Child {
    let mut command = sample::command(SKINNING, options);
    command.env("DISPLAY", &display.name).spawn().expect("the sample can be started")
}

#[test]
fn opens_turns_resizes_and_closes() {
    let Some(display) = Display::start() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let last = folder.path().join("last.png");
    let last = last.to_str().expect("the name is text");
    let mut process = start(&display, &["--validation", "strict", "--size", "640x360", "--screenshot", last]);
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
    let ended = wait_for_end(process);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let (width, height) = image::image_dimensions(last).expect("the last frame was written");
    assert_eq!((width, height), (640, 360));
}

#[test]
fn escape_ends_it() {
    let Some(display) = Display::start() else { return };
    let mut process = start(&display, &["--validation", "strict", "--size", "320x200"]);
    let window = display.window_of(&mut process);
    display.wait_for_size(window, 320, 200);
    std::thread::sleep(Duration::from_millis(500));
    // A press brings the window to the front, wherever the manager's focus is.
    display.drag(window, 1, (0, 0));
    display.key(0xff1b);
    let ended = wait_for_end(process);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn shows_what_headless_draws() {
    let Some(display) = Display::start() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let picture = |name: &str| folder.path().join(name).to_str().expect("the name is text").to_owned();
    let (window, headless) = (picture("window.png"), picture("headless.png"));
    let common = ["--validation", "strict", "--size", "640x360", "--frames", "5", "--time", "1", "--screenshot"];
    let ended = wait_for_end(start(&display, &[&common[..], &[&window]].concat()));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let ended = sample::run(SKINNING, [&common[..], &[&headless, "--headless"]].concat());
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let pixels = |path: &str| image::open(path).expect("it was written").into_rgba8();
    assert!(pixels(&window) == pixels(&headless), "window and headless differ");
}

#[test]
fn without_a_display_it_runs_headless() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = sample::command(SKINNING, ["--size", "160x90"]);
    let ended: sample::Ended = command.current_dir(folder.path()).output().expect("the sample can be started").into();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("no window") && ended.stderr.contains("DISPLAY"), "{}", ended.stderr);
    assert!(ended.stdout.contains("skinning.png") && folder.path().join("skinning.png").exists());
}

/// A triangle in a file of its own.
const TRIANGLE: &str = r#"{
    "asset": { "version": "2.0" },
    "scenes": [{ "nodes": [0] }],
    "nodes": [{ "mesh": 0 }],
    "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
    "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" }],
    "bufferViews": [{ "buffer": 0, "byteLength": 36 }],
    "buffers": [{ "byteLength": 36, "uri":
        "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA" }]
}"#;

#[test]
fn a_model_dropped_on_the_window_is_shown() {
    let Some(display) = Display::start() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (model, headless) = (folder.path().join("triangle.gltf"), folder.path().join("headless.png"));
    std::fs::write(&model, TRIANGLE).expect("a file");
    let common = ["--validation", "strict", "--size", "320x180"];
    let files = [model.to_str(), headless.to_str()].map(|name| name.expect("the name is text"));
    let ended = sample::run(SKINNING, [&common[..], &[files[0], "--headless", "--screenshot", files[1]]].concat());
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let expected = image::open(&headless).expect("it was written").into_rgba8();

    let mut command = sample::command(SKINNING, [&common[..], &["--no-ui"]].concat());
    command.env("DISPLAY", &display.name).current_dir(folder.path());
    let mut process = command.spawn().expect("the sample can be started");
    let window = display.window_of(&mut process);
    display.wait_for_size(window, 320, 180);
    display.drag(window, 1, (0, 0));
    // What is no model is said, and the program goes on, even if it has not yet loaded its own.
    display.drop_file(window, &headless);
    display.drop_file(window, &model);
    // Pictures are numbered, and taken by and by: the model is in one of them.
    let mut number = 1;
    let shown = (0..200).any(|_| {
        display.key(F12);
        std::thread::sleep(Duration::from_millis(100));
        let picture = image::open(folder.path().join(format!("skinning-{number}.png")));
        number += u32::from(picture.is_ok());
        picture.is_ok_and(|picture| picture.into_rgba8() == expected)
    });
    display.close(window);
    let ended = wait_for_end(process);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.starts_with("error: ") && ended.stderr.contains("headless.png"), "{}", ended.stderr);
    assert!(shown, "the dropped model was not shown: {}", ended.stderr);
}
