//! Whatever is wrong: one sentence that says what, and an exit code.

use serde_json::json;
use tools::bad_input::{self, assert_fails, assert_fails_in, assert_refused};
use tools::little::Little;

const NODE_ANIMATION: &str = env!("CARGO_BIN_EXE_node_animation");

#[test]
fn broken_models() {
    bad_input::check_models(NODE_ANIMATION, "models/drone.glb");
}

#[test]
fn wrong_options() {
    bad_input::check_options(NODE_ANIMATION);
    for seconds in ["nan", "inf", "-1", "1e9", "60.5", "soon", ""] {
        assert_refused(NODE_ANIMATION, &["--fade", seconds], &["--fade", "from 0 to 60 seconds"]);
    }
}

#[test]
fn things_that_are_not_there() {
    let fails = |options: &[&str], words: &[&str]| assert_fails(NODE_ANIMATION, options, words);
    fails(&["--animation", "swim"], &["--animation", "drone", "\"swim\"", "0 hover, 1 survey, 2 landing"]);
    fails(&["--animation=-1"], &["--animation", "drone", "\"-1\"", "hover"]);
    fails(&["--fade-from", "swim"], &["--fade-from", "drone", "\"swim\"", "0 hover, 1 survey, 2 landing"]);
    fails(&["--fade-from", "7"], &["--fade-from", "drone", "\"7\"", "hover"]);
    fails(&["--fade-from", ""], &["--fade-from", "drone", "\"\"", "hover"]);
    fails(&["--highlight", "tail"], &["--highlight", "drone", "\"tail\""]);
    fails(&["--highlight", "100000"], &["--highlight", "drone", "\"100000\""]);
    fails(&["--camera", "0"], &["--camera", "drone", "no camera"]);
}

#[test]
fn models_without_what_is_asked_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut little = Little::default();
    let material = little.unlit([1.0; 4], json!({}));
    let square = little.square([0.0; 3], 1.0, material);
    let mesh = little.mesh(square);
    little.root(json!({ "mesh": mesh }));
    let seen = little.push(
        "cameras",
        json!({ "type": "orthographic",
        "orthographic": { "xmag": 2.0, "ymag": 2.0, "znear": 0.1, "zfar": 10.0 } }),
    );
    little.root(json!({ "camera": seen, "translation": [0.0, 0.0, 3.0] }));
    // One more that hangs on no node.
    little.push("cameras", json!({ "type": "perspective", "perspective": { "yfov": 1.0, "znear": 0.1 } }));
    let model = little.save(folder.path());
    let model = model.to_str().expect("the name is text");
    let fails = |options: &[&str], words: &[&str]| {
        let options = [&[model], options].concat();
        assert_fails_in(folder.path(), NODE_ANIMATION, &options, &[], &[&["little"], words].concat());
    };
    fails(&["--camera", "1"], &["camera 1", "no node"]);
    fails(&["--camera", "2"], &["camera 2", "--camera takes 0 to 1"]);
    fails(&["--animation", "0"], &["--animation", "no animation"]);
    fails(&["--fade-from", "0"], &["--fade-from", "no animation"]);
}

#[test]
fn a_picture_that_cannot_be_written() {
    bad_input::check_pictures(NODE_ANIMATION);
}

#[test]
fn no_vulkan() {
    bad_input::check_no_vulkan(NODE_ANIMATION);
}
