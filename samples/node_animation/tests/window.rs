//! In a real window on a display in memory.
#![cfg(all(unix, not(target_os = "macos")))]

use tools::window;

const NODE_ANIMATION: &str = env!("CARGO_BIN_EXE_node_animation");

#[test]
fn opens_turns_resizes_and_closes() {
    window::check_use(NODE_ANIMATION, &[]);
}

#[test]
fn escape_ends_it() {
    window::check_escape(NODE_ANIMATION);
}

#[test]
fn shows_what_headless_draws() {
    window::check_against_headless(NODE_ANIMATION, &[]);
    let fade = ["--animation", "survey", "--fade-from", "hover", "--boxes", "--highlight", "0"];
    window::check_against_headless(NODE_ANIMATION, &fade);
}

#[test]
fn without_a_display_it_runs_headless() {
    window::check_no_display(NODE_ANIMATION, env!("CARGO_PKG_NAME"));
}

#[test]
fn a_model_dropped_on_the_window_is_shown() {
    window::check_drop(NODE_ANIMATION, env!("CARGO_PKG_NAME"), &[]);
    // What is said of the sample's own model is not said of another one.
    let of_its_own = ["--animation", "survey", "--fade-from", "hover", "--highlight", "drone"];
    window::check_drop(NODE_ANIMATION, env!("CARGO_PKG_NAME"), &of_its_own);
}
