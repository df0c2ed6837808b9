//! The picture of the README, and what every sample promises.

#[test]
fn golden() {
    tools::golden::check(env!("CARGO_BIN_EXE_template"), env!("CARGO_MANIFEST_DIR"), &["--size", "960x540"]);
}

#[test]
fn steady_frames_make_nothing() {
    tools::steady::check(env!("CARGO_BIN_EXE_template"), &[]);
}

#[test]
fn what_is_no_number_is_refused() {
    let words = ["--tilt", "not a number"];
    tools::bad_input::assert_refused(env!("CARGO_BIN_EXE_template"), &["--tilt", "nan"], &words);
}
