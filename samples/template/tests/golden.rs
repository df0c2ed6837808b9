//! The picture of the README.

#[test]
fn golden() {
    tools::golden::check(env!("CARGO_BIN_EXE_template"), env!("CARGO_MANIFEST_DIR"), &["--size", "960x540"]);
}

#[test]
fn steady_frames_make_nothing() {
    tools::steady::check(env!("CARGO_BIN_EXE_template"), &[]);
}
