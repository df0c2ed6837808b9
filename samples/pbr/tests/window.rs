//! In a real window on a display in memory.
#![cfg(all(unix, not(target_os = "macos")))]

use tools::window;

const PBR: &str = env!("CARGO_BIN_EXE_pbr");

#[test]
fn opens_turns_resizes_and_closes() {
    window::check_use(PBR, &[]);
}

#[test]
fn escape_ends_it() {
    window::check_escape(PBR);
}

#[test]
fn shows_what_headless_draws() {
    window::check_against_headless(PBR, &[]);
    window::check_against_headless(PBR, &["--environment", "sky", "--operator", "agx", "--wireframe"]);
}

#[test]
fn without_a_display_it_runs_headless() {
    window::check_no_display(PBR, env!("CARGO_PKG_NAME"));
}

#[test]
fn a_model_dropped_on_the_window_is_shown() {
    window::check_drop(PBR, env!("CARGO_PKG_NAME"), &[]);
}
