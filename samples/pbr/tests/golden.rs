//! The picture of the README.

#[test]
fn golden() {
    let options = ["--size", "960x540", "--msaa", "4"];
    tools::golden::check(env!("CARGO_BIN_EXE_pbr"), env!("CARGO_MANIFEST_DIR"), &options);
}

#[test]
fn steady_frames_make_nothing() {
    tools::steady::check(env!("CARGO_BIN_EXE_pbr"), &[]);
}
