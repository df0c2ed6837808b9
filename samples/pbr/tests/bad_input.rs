//! Whatever is wrong: one sentence that says what, and an exit code.

use tools::bad_input::{self, assert_fails, assert_fails_in, assert_refused};

const PBR: &str = env!("CARGO_BIN_EXE_pbr");

#[test]
fn broken_models() {
    bad_input::check_models(PBR, "models/helmet.glb");
}

#[test]
fn wrong_options() {
    bad_input::check_options(PBR);
    for option in ["--exposure", "--light-illuminance", "--light-direction", "--light-color"] {
        for value in ["nan", "inf", "bright", ""] {
            assert_refused(PBR, &[option, value], &[option]);
        }
    }
    assert_refused(PBR, &["--light-illuminance", "-1"], &["--light-illuminance", "at least 0"]);
    assert_refused(PBR, &["--light-direction", "1,2"], &["--light-direction", "1,-0.5,2"]);
    assert_refused(PBR, &["--operator", "gamma"], &["--operator", "khronos-neutral", "agx"]);
    assert_refused(PBR, &["--view", "depth"], &["--view", "base-color"]);
    assert_refused(PBR, &["--lights", "moon"], &["--lights", "sun", "both"]);
}

#[test]
fn environments_that_are_not_there_or_broken() {
    let fails = |environment: &str, words: &[&str]| assert_fails(PBR, &["--environment", environment], words);
    fails("cellar", &["no environment cellar", "none, sky, studio", ".hdr"]);
    fails("cellar.png", &["no environment cellar.png", ".hdr"]);
    fails("", &["no environment", "studio"]);
    fails("cellar.hdr", &["cellar.hdr", "No such file"]);
    fails("cellar.ktx2", &["cellar.ktx2", "No such file"]);
    fails("/", &["no environment /"]);

    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).expect("a file");
    write("text.hdr", b"This is not a picture.\n");
    write("broken.hdr", b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 16 +X 32\nab");
    write("square.hdr", b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\nabcd");
    write("huge.hdr", b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1000000 +X 2000000\nabcd");
    write("text.ktx2", b"This is not an environment.\n");
    let fails = |file: &str, words: &[&str]| {
        assert_fails_in(folder.path(), PBR, &["--environment", file], &[], &[&[file], words].concat());
    };
    fails("text.hdr", &["no Radiance picture"]);
    fails("broken.hdr", &["is broken"]);
    fails("square.hdr", &["twice as wide as high"]);
    fails("huge.hdr", &["is broken"]);
    fails("text.ktx2", &["not a KTX 2 file"]);
    std::fs::create_dir(folder.path().join("folder.hdr")).expect("a folder");
    fails("folder.hdr", &[]);
}

#[test]
fn a_light_without_direction_shines_down() {
    let options = ["--light-direction", "0,0,0", "--light-illuminance", "1", "--size", "64x64"];
    tools::sample::picture(PBR, options);
}

#[test]
fn a_picture_that_cannot_be_written() {
    bad_input::check_pictures(PBR);
}

#[test]
fn no_vulkan() {
    bad_input::check_no_vulkan(PBR);
}
