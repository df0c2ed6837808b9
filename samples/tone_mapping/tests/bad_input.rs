//! Whatever is wrong: one sentence that says what, and an exit code.

use tools::bad_input::{self, assert_fails, assert_refused};

const TONE_MAPPING: &str = env!("CARGO_BIN_EXE_tone_mapping");

#[test]
fn broken_models() {
    bad_input::check_models(TONE_MAPPING, "models/helmet.glb");
}

#[test]
fn wrong_options() {
    bad_input::check_options(TONE_MAPPING);
    for stops in ["nan", "inf", "bright", ""] {
        assert_refused(TONE_MAPPING, &["--exposure", stops], &["--exposure", "not a number"]);
    }
    for share in ["nan", "-0.1", "1.5", "half", ""] {
        assert_refused(TONE_MAPPING, &["--split", share], &["--split", "from 0 to 1"]);
    }
    assert_refused(TONE_MAPPING, &["--path", "both"], &["--path", "pass, subpass"]);
    assert_refused(TONE_MAPPING, &["--shader-language", "wgsl"], &["--shader-language", "glsl, hlsl"]);
    assert_refused(TONE_MAPPING, &["--operator", "gamma"], &["--operator", "aces-hill-boost"]);
}

#[test]
fn environments_that_are_not_there() {
    assert_fails(TONE_MAPPING, &["--environment", "night"], &["night", "sky", "studio"]);
    assert_fails(TONE_MAPPING, &["--environment", "night.hdr"], &["night.hdr"]);
}

#[test]
fn a_picture_that_cannot_be_written() {
    bad_input::check_pictures(TONE_MAPPING);
}

#[test]
fn no_vulkan() {
    bad_input::check_no_vulkan(TONE_MAPPING);
}
