//! The picture of the README, and frames that make nothing.

const TONE_MAPPING: &str = env!("CARGO_BIN_EXE_tone_mapping");

#[test]
fn golden() {
    let options = ["--size", "960x540", "--exposure", "1.2"];
    tools::golden::check(TONE_MAPPING, env!("CARGO_MANIFEST_DIR"), &options);
}

/// Of a model of fewer triangles than the sample's own: what the software driver takes for each picture in work, once, is
/// then less than what a leak would be.
#[test]
fn steady_frames_make_nothing() {
    let model = ashwright::asset("models/whale.glb").expect("it is part of the project");
    let model = model.to_str().expect("the path is text");
    tools::steady::check(TONE_MAPPING, &[model, "--histogram"]);
    tools::steady::check(TONE_MAPPING, &[model, "--path", "subpass", "--shader-language", "hlsl"]);
}
