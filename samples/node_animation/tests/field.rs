//! Small files, each around a condition that other programs trip over: what is right about their pictures.
//!
//! Their poses, bounds, counts and clip lengths are compared by the tests of `inspect` and of the framework.

use std::path::Path;

use ashwright::glam::Vec2;
use tools::facing::{Facing, is_near};
use tools::{corpus, oracle, sample};

const NODE_ANIMATION: &str = env!("CARGO_BIN_EXE_node_animation");

/// Colours go from sRGB to linear and back, by the approximations of the GPU's units; each may be off by the last bit.
const TOLERANCE: u8 = 1;

/// The grey that pictures are cleared with, and what that is as a pixel.
const BACKGROUND: &str = "0.25,0.25,0.25";
const BACKGROUND_PIXEL: [u8; 3] = [64; 3];

fn text(path: &Path) -> &str {
    path.to_str().expect("the corpus's path is Unicode")
}

/// A05, A07, A12 b, A17 e, A18 b and d, A20 b: drawn, or refused in a sentence that names the file.
#[test]
fn all_are_drawn_or_refused() {
    let Some(corpus) = corpus::gltf() else { return };
    for (name, file, expected) in corpus::field(&corpus) {
        let outcome = expected.expected["outcome"].as_str().expect("it says what is expected").to_owned();
        // Every clip by its index, also of two that share a name or have none.
        let clips = (0..expected.clip_durations.len()).map(|clip| clip.to_string()).chain(["none".to_owned()]);
        for clip in clips {
            let options = [text(&file), "--size", "64x64", "--frames", "3", "--time", "0.4", "--animation", &clip];
            let (ended, picture) = sample::draw(NODE_ANIMATION, options);
            match ended.code {
                Some(0) => assert!(outcome.contains("load") && picture.is_some(), "{name} should be refused"),
                Some(1) => {
                    assert!(outcome.contains("refuse"), "{name}: {}", ended.stderr);
                    let file = file.file_name().and_then(|name| name.to_str()).expect("the name is text");
                    assert!(ended.stderr.starts_with("error: ") && ended.stderr.contains(file), "{}", ended.stderr);
                    assert_eq!(ended.stderr.trim_end().lines().count(), 1, "{name}: {}", ended.stderr);
                }
                code => panic!("{name}: {code:?} {}", ended.stderr),
            }
            let told = match name.as_str() {
                "A05" => "influences",
                "A20-b-required-unknown" => "EXT_own_unknown",
                _ => "",
            };
            assert!(ended.stderr.contains(told), "{name}: no {told} in {}", ended.stderr);
        }
    }
}

/// A08: the clip begins at 0 and not at its first key, so it repeats after 3.25 s.
#[test]
fn a_clip_whose_keys_start_late_repeats_from_zero() {
    let Some(corpus) = corpus::gltf() else { return };
    let model = corpus.join("field/A08-keys-start-late/model.gltf");
    let at = |time| sample::picture(NODE_ANIMATION, [text(&model), "--size", "160x90", "--time", time]);
    assert!(at("5") == at("1.75"), "the clip does not run for 3.25 s");
    assert!(at("0") == at("0.25"), "the clip does not wait for its first key");
    assert!(at("1.75") != at("0.25"), "nothing moves");
}

/// A14: the transform and the set of coordinates of each slot.
#[test]
fn each_slot_has_its_own_texture_transform() {
    let Some(corpus) = corpus::gltf() else { return };
    let model = corpus.join("field/A14-texture-transform-one-slot/model.gltf");
    let expected: oracle::Expected = oracle::read_json(&corpus.join("field/expect/A14.json"));
    let view = Facing { size: (600, 240), center: Vec2::new(1.25, 0.5), height: 1.2, behind: false };
    // The base colour is black, and the highlight far off: what is left is emission.
    let picture = view.draw(NODE_ANIMATION, &model, BACKGROUND, &["--msaa", "1"]);
    let texels = "emitted texel at points of the quad (before lighting, exposure, tone map; hue order must agree)";
    let mut compared = 0;
    for (material, left) in [("material 0", 0.0), ("material 1", 1.5)] {
        for point in expected.expected["hand"][texels][material].as_array().expect("there are points") {
            let number = |name: &str, i: usize| point[name][i].as_f64().expect("a number");
            let place = Vec2::new(left + number("local xy", 0) as f32, number("local xy", 1) as f32);
            let texel = [0, 1, 2].map(|channel| number("sRGB texel", channel) as u8);
            let found = view.pixel(&picture, place);
            assert!(is_near(found, texel, TOLERANCE), "{material} {place}: {found:?}, not {texel:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 32);
}

/// A15: vertex colours of all kinds, and masks at both sides of the threshold.
#[test]
fn vertex_colours_of_all_kinds_and_masks() {
    let Some(corpus) = corpus::gltf() else { return };
    let model = corpus.join("field/A15-vertex-colour-forms-mask/model.gltf");
    let expected: oracle::Expected = oracle::read_json(&corpus.join("field/expect/A15.json"));
    let pixels = expected.expected["hand"]["unlit pixel (exact sRGB, no tone map), tolerance 3"].clone();
    let pixels = pixels.as_object().expect("a pixel for each mesh");
    assert_eq!(pixels.len(), 8);
    let scene = ashwright::scene::Scene::load(&model).expect("it loads");
    let view = Facing { size: (1000, 100), center: Vec2::new(4.875, 0.5), height: 1.0, behind: false };
    for samples in ["1", "4"] {
        let picture = view.draw(NODE_ANIMATION, &model, BACKGROUND, &["--msaa", samples]);
        for (index, mesh) in scene.meshes.iter().enumerate() {
            let name = mesh.name.as_ref().expect("it has a name");
            let expected = match pixels[name].as_array() {
                Some(pixel) => [0, 1, 2].map(|channel: usize| pixel[channel].as_u64().expect("a number") as u8),
                None => BACKGROUND_PIXEL,
            };
            let found = view.pixel(&picture, Vec2::new(1.25 * index as f32 + 0.5, 0.5));
            assert!(is_near(found, expected, TOLERANCE), "{name}, --msaa {samples}: {found:?}, not {expected:?}");
        }
    }
}

/// A18: names that have to be decoded; the textures stand at the left and the right.
#[test]
fn textures_of_unusual_names_are_where_they_belong() {
    let Some(corpus) = corpus::gltf() else { return };
    for (name, file, expected) in corpus::field(&corpus) {
        let sides = ["left", "right"].map(|side| expected.expected["pixels"][side].as_array().cloned());
        let [Some(left), Some(right)] = sides else { continue };
        let view = Facing { size: (300, 120), center: Vec2::new(1.25, 0.5), height: 1.2, behind: false };
        let picture = view.draw(NODE_ANIMATION, &file, BACKGROUND, &[]);
        for (color, place) in [(left, Vec2::new(0.5, 0.5)), (right, Vec2::new(2.0, 0.5))] {
            // They are lit: the brightest channel of the picture is that of the texture, the others follow in order.
            let order = |channels: [u64; 3]| {
                let mut order = [0, 1, 2];
                order.sort_by_key(|&channel: &usize| channels[channel]);
                order
            };
            let expected = [0, 1, 2].map(|channel: usize| color[channel].as_u64().expect("a number"));
            let found = view.pixel(&picture, place).map(u64::from);
            assert_eq!(order(found), order(expected), "{name}: {found:?} for {expected:?}");
        }
    }
}
