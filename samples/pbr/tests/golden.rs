//! The picture of the README, and frames that make nothing.

const PBR: &str = env!("CARGO_BIN_EXE_pbr");

#[test]
fn golden() {
    tools::golden::check(PBR, env!("CARGO_MANIFEST_DIR"), &["--size", "960x540"]);
}

/// Of a model of fewer triangles than the sample's own: what the software driver takes for each picture in work, once, is
/// then less than what a leak would be.
fn check_steady(options: &[&str]) {
    let model = ashwright::asset("models/whale.glb").expect("it is part of the project");
    tools::steady::check(PBR, &[&[model.to_str().expect("the path is text")], options].concat());
}

#[test]
fn steady_frames_make_nothing() {
    check_steady(&[]);
}

#[test]
fn steady_frames_with_a_sun_make_nothing() {
    check_steady(&["--environment", "sky"]);
}
