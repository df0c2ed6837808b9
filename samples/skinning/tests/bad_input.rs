//! Whatever is wrong: one sentence that says what, and an exit code.

use tools::bad_input;

const SKINNING: &str = env!("CARGO_BIN_EXE_skinning");

#[test]
fn broken_models() {
    bad_input::check_models(SKINNING, "models/whale.glb");
}

#[test]
fn wrong_options() {
    bad_input::check_options(SKINNING);
    bad_input::assert_refused(SKINNING, &["--view", "nothing"], &["normals"]);
}

#[test]
fn things_that_are_not_there() {
    bad_input::assert_fails(SKINNING, &["--animation", "fly"], &["--animation", "fly", "0 swim"]);
    bad_input::assert_fails(SKINNING, &["--animation", "7"], &["7", "swim"]);
    bad_input::assert_fails(SKINNING, &["--camera", "0"], &["whale", "--camera"]);
}

#[test]
fn a_picture_that_cannot_be_written() {
    bad_input::check_pictures(SKINNING);
}

#[test]
fn no_vulkan() {
    bad_input::check_no_vulkan(SKINNING);
}
