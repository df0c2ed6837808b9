//! In a real window on a display in memory.
#![cfg(all(unix, not(target_os = "macos")))]

use tools::window;

const SKINNING: &str = env!("CARGO_BIN_EXE_skinning");

#[test]
fn opens_turns_resizes_and_closes() {
    window::check_use(SKINNING, &[]);
}

#[test]
fn escape_ends_it() {
    window::check_escape(SKINNING);
}

#[test]
fn shows_what_headless_draws() {
    window::check_against_headless(SKINNING, &[]);
}

#[test]
fn without_a_display_it_runs_headless() {
    window::check_no_display(SKINNING, env!("CARGO_PKG_NAME"));
}

#[test]
fn a_model_dropped_on_the_window_is_shown() {
    window::check_drop(SKINNING, env!("CARGO_PKG_NAME"), &[]);
}
