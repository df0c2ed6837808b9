//! The picture of the README.

#[test]
fn golden() {
    let options = ["--size", "960x540", "--exposure", "1.2"];
    tools::golden::check(env!("CARGO_BIN_EXE_tone_mapping"), env!("CARGO_MANIFEST_DIR"), &options);
}

#[test]
fn steady_frames_make_nothing() {
    let check = |options: &[&str]| tools::steady::check(env!("CARGO_BIN_EXE_tone_mapping"), options);
    check(&["--histogram"]);
    check(&["--path", "subpass", "--shader-language", "hlsl"]);
}
