//! `bake-environment` as its user runs it.

use ashwright::environment::Environment;
use image::{DynamicImage, Rgb, Rgb32FImage};
use tools::sample;

const BAKE: &str = env!("CARGO_BIN_EXE_bake-environment");

#[test]
fn a_panorama_becomes_an_environment() {
    let folder = tempfile::tempdir().expect("there is a folder");
    let panorama = folder.path().join("grey.hdr");
    let picture = DynamicImage::from(Rgb32FImage::from_pixel(64, 32, Rgb([0.5, 1.0, 2.0])));
    picture.save(&panorama).expect("it can be written");
    let panorama = panorama.to_str().expect("the name is text");
    let preview = folder.path().join("grey.png");
    let preview = preview.to_str().expect("the name is text");
    let ended = sample::run(BAKE, [panorama, "--size", "16", "--preview", preview]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let environment = Environment::read(folder.path().join("grey.ktx2")).expect("it is an environment");
    let seen = environment.texel(1, 2, 3, 4).to_array();
    assert!(seen.iter().zip([0.5, 1.0, 2.0]).all(|(seen, wanted)| (seen - wanted).abs() < 0.01), "{seen:?}");
    assert!(image::open(preview).is_ok());
}

#[test]
fn what_is_no_panorama_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().expect("there is a folder");
    let file = |name: &str| folder.path().join(name).to_str().expect("the name is text").to_owned();
    let square = DynamicImage::from(Rgb32FImage::new(32, 32));
    square.save(file("square.hdr")).expect("it can be written");
    DynamicImage::new_rgb8(32, 16).save(file("picture.png")).expect("it can be written");
    std::fs::write(file("broken.hdr"), "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 16 +X 32\nab")
        .expect("it can be written");
    let cases = [
        ("none.hdr", "No such file"),
        ("square.hdr", "twice as wide as high"),
        ("picture.png", "is no Radiance picture"),
        ("broken.hdr", "is broken"),
    ];
    for (name, message) in cases {
        let ended = sample::run(BAKE, [file(name).as_str()]);
        assert_eq!(ended.code, Some(1), "{name}");
        assert!(ended.stderr.contains(name) && ended.stderr.contains(message), "{name}: {}", ended.stderr);
    }
    let ended = sample::run(BAKE, [file("square.hdr").as_str(), "--size", "many"]);
    assert_eq!(ended.code, Some(2));
}
