//! In a real window on a display in memory.
#![cfg(all(unix, not(target_os = "macos")))]

use std::time::Duration;

use tools::display::{Display, wait_for_end};
use tools::{sample, window};

const TONE_MAPPING: &str = env!("CARGO_BIN_EXE_tone_mapping");

const F1: u32 = 0xffbe;

#[test]
fn opens_turns_resizes_and_closes() {
    window::check_use(TONE_MAPPING, &["--histogram"]);
    window::check_use(TONE_MAPPING, &["--path", "subpass", "--histogram"]);
}

#[test]
fn escape_ends_it() {
    window::check_escape(TONE_MAPPING);
}

#[test]
fn shows_what_headless_draws() {
    window::check_against_headless(TONE_MAPPING, &[]);
    window::check_against_headless(TONE_MAPPING, &["--path", "subpass", "--shader-language", "hlsl"]);
}

/// The camera stays where it is meanwhile.
#[test]
fn the_divider_is_dragged() {
    let Some(display) = Display::start() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let last = folder.path().join("last.png");
    let last = last.to_str().expect("the name is text");
    // A model that takes little time: a mouse that is faster than frames is in two places at once.
    let model = ashwright::asset("models/spheres.glb").expect("it is part of the project");
    let options = [model.to_str().expect("the name is text"), "--size", "640x360", "--msaa", "1"];
    let mut process = window::start(&display, TONE_MAPPING, &[&options[..], &["--screenshot", last]].concat());
    let window = display.window_of(&mut process);
    display.wait_for_size(window, 640, 360);
    let pause = || std::thread::sleep(Duration::from_millis(1500));
    pause();
    // To the middle of the window, where the divider is, and from there.
    display.drag(window, 3, (0, 0));
    pause();
    display.drag(window, 1, (40, 20));
    pause();
    display.key(F1);
    pause();
    display.close(window);
    let ended = wait_for_end(process);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let dragged = image::open(last).expect("the last frame was written").into_rgba8();
    assert!(dragged == sample::picture(TONE_MAPPING, [&options[..], &["--split", "0.5625"]].concat()));
}

#[test]
fn without_a_display_it_runs_headless() {
    window::check_no_display(TONE_MAPPING, env!("CARGO_PKG_NAME"));
}

#[test]
fn a_model_dropped_on_the_window_is_shown() {
    window::check_drop(TONE_MAPPING, env!("CARGO_PKG_NAME"), &[]);
}
