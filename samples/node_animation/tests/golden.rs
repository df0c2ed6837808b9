//! The picture of the README.

#[test]
fn golden() {
    let options = ["--size", "960x540", "--animation", "survey", "--time", "3.8"];
    tools::golden::check(env!("CARGO_BIN_EXE_node_animation"), env!("CARGO_MANIFEST_DIR"), &options);
}

#[test]
fn steady_frames_make_nothing() {
    tools::steady::check(env!("CARGO_BIN_EXE_node_animation"), &[]);
}
