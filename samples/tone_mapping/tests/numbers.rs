//! What the technique promises, by number: both paths and both languages show the same, and that is what the formulas say.

use std::path::{Path, PathBuf};

use ashwright::glam::{Vec2, Vec3};
use image::RgbaImage;
use serde_json::{Value, json};
use tempfile::TempDir;
use tools::facing::{Facing, is_near, linear, srgb};
use tools::little::Little;
use tools::{corpus, oracle, sample};

const TONE_MAPPING: &str = env!("CARGO_BIN_EXE_tone_mapping");

const OPERATORS: [&str; 9] = [
    "none",
    "reinhard",
    "reinhard-extended",
    "hable",
    "aces-narkowicz",
    "aces-hill",
    "aces-hill-boost",
    "khronos-neutral",
    "agx",
];

/// Colours are rounded to 8 bits, and GPUs may encode sRGB by an approximation: the last bit may be another one.
const TOLERANCE: u8 = 1;

/// A model of squares, each 0.8 m wide about a point, which send out light of a colour.
fn lamps(lamps: &[(Vec2, Vec3)]) -> (TempDir, PathBuf) {
    let mut little = Little::default();
    for &(place, light) in lamps {
        // The factor ends at 1, and an extension takes it further.
        let strength = light.max_element().max(1.0);
        let emission = json!({
            "emissiveFactor": (light / strength).to_array(),
            "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": strength } },
        });
        let material = little.lit([0.0, 0.0, 0.0, 1.0], emission);
        let square = little.square(place.extend(0.0).to_array(), 0.4, material);
        let mesh = little.mesh(square);
        little.root(json!({ "mesh": mesh }));
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let model = little.save(folder.path());
    (folder, model)
}

/// Nothing but the model sends out light.
fn draw(model: &Path, options: &[&str]) -> RgbaImage {
    Facing::SQUARE.draw(TONE_MAPPING, model, "0,0,0", &[&["--environment", "none"], options].concat())
}

#[track_caller]
fn assert_pixel(found: [u8; 3], expected: Vec3, what: &str) {
    let expected = srgb(expected);
    assert!(is_near(found, expected, TOLERANCE), "{what}: {found:?}, not {expected:?}");
}

/// The largest difference of a channel.
fn difference(a: &RgbaImage, b: &RgbaImage) -> u8 {
    assert_eq!(a.dimensions(), b.dimensions());
    a.as_raw().iter().zip(b.as_raw()).map(|(a, b)| a.abs_diff(*b)).max().expect("there are pixels")
}

#[test]
fn pass_and_subpass_are_the_same_and_both_languages_nearly() {
    let model = ashwright::asset("models/spheres.glb").expect("it is part of the project");
    let model = model.to_str().expect("the path is text");
    let draw = |operator, samples, path, language| {
        let options = [model, "--size", "192x108", "--exposure", "1", "--split", "0.3", "--operator", operator];
        let more = ["--msaa", samples, "--path", path, "--shader-language", language];
        sample::picture(TONE_MAPPING, [&options[..], &more].concat())
    };
    let mut seen: Vec<RgbaImage> = Vec::new();
    for operator in OPERATORS {
        // An operator is the same code for any number of samples.
        let samples = if ["none", "agx"].contains(&operator) { &["1", "4"][..] } else { &["4"] };
        for samples in samples {
            let glsl = draw(operator, samples, "pass", "glsl");
            assert!(glsl == draw(operator, samples, "subpass", "glsl"), "{operator}, {samples}: GLSL");
            let hlsl = draw(operator, samples, "pass", "hlsl");
            assert!(hlsl == draw(operator, samples, "subpass", "hlsl"), "{operator}, {samples}: HLSL");
            let difference = difference(&glsl, &hlsl);
            assert!(difference <= 1, "{operator}, {samples}: the languages differ by {difference}");
            assert!(!seen.contains(&glsl), "{operator}, {samples}: as another one");
            seen.push(glsl);
        }
    }
}

/// Squares of the colours of which the corpus says what the operators make of them.
#[test]
fn operators_are_what_others_say() {
    let Some(corpus) = corpus::spec() else { return };
    let spec: Value = oracle::read_json(&corpus.join("tone_mapping.json"));
    let inputs: Vec<[f32; 3]> = serde_json::from_value(spec["inputs"].clone()).expect("they are colours");
    let place = |index: usize| Vec2::new(index as f32 % 4.0 - 1.5, 1.5 - (index / 4) as f32);
    let lights: Vec<_> = inputs.iter().enumerate().map(|(index, &input)| (place(index), Vec3::from(input))).collect();
    let (_folder, model) = lamps(&lights);
    let mut compared = 0;
    for (name, operator) in spec["operators"].as_object().expect("it is an object") {
        let option = match name.as_str() {
            // Half of an operator.
            "aces_hill_no_matrices" => continue,
            "khronos_pbr_neutral" => "khronos-neutral".to_owned(),
            "agx_6th_order" => "agx".to_owned(),
            name => name.replace('_', "-"),
        };
        let outputs: Vec<[Option<f32>; 3]> = serde_json::from_value(operator["outputs"].clone()).expect("colours");
        let picture = draw(&model, &["--split", "0", "--operator", &option]);
        for (&(place, light), output) in lights.iter().zip(outputs) {
            // Of greys some operators have only the red channel.
            let expected = Vec3::from_array(output.map(|channel| channel.or(output[0]).expect("there is red")));
            assert_pixel(Facing::SQUARE.pixel(&picture, place), expected, &format!("{name} of {light}"));
            compared += 1;
        }
    }
    assert_eq!(compared, 35);
}

#[test]
fn a_stop_of_exposure_doubles() {
    let light = Vec3::new(0.05, 0.2, 0.4);
    let (_folder, model) = lamps(&[(Vec2::ZERO, light)]);
    for stops in [-2.0_f32, -1.0, 0.0, 1.0, 1.5, 4.0] {
        for path in ["pass", "subpass"] {
            let exposure = stops.to_string();
            let picture =
                draw(&model, &["--operator", "none", "--split", "0", "--exposure", &exposure, "--path", path]);
            let found = Facing::SQUARE.pixel(&picture, Vec2::ZERO);
            assert_pixel(found, light * stops.exp2(), &format!("{stops} stops, {path}"));
        }
    }
}

#[test]
fn light_is_kept_up_to_the_largest_half_float() {
    let light = Vec3::new(60000.0, 6000.0, 600.0);
    let (_folder, model) = lamps(&[(Vec2::ZERO, light)]);
    let picture = draw(&model, &["--operator", "none", "--split", "0", "--exposure", "-16"]);
    assert_pixel(Facing::SQUARE.pixel(&picture, Vec2::ZERO), light / 65536.0, "16 stops down");
}

#[test]
fn the_operator_is_right_of_the_divider() {
    let light = Vec3::splat(0.8);
    let (_folder, model) = lamps(&[(Vec2::new(-1.0, 0.0), light), (Vec2::new(1.0, 0.0), light)]);
    for path in ["pass", "subpass"] {
        for (split, [left, right]) in [("0", [true, true]), ("0.5", [false, true]), ("1", [false, false])] {
            let picture = draw(&model, &["--operator", "reinhard", "--split", split, "--path", path]);
            for (x, mapped) in [(-1.0, left), (1.0, right)] {
                let expected = if mapped { light / (1.0 + light) } else { light };
                let found = Facing::SQUARE.pixel(&picture, Vec2::new(x, 0.0));
                assert_pixel(found, expected, &format!("{path}, --split {split} at {x}"));
            }
            // The line is two pixels wide, and there is none at the border.
            let is_line = |x| picture.get_pixel(x, 10)[0] > 200;
            let columns = [0, 98, 99, 100, 101, 199].map(is_line);
            let line = split == "0.5";
            assert_eq!(columns, [false, false, line, line, false, false], "{path}, --split {split}");
        }
    }
}

/// At the edge of something bright: each sample is mapped by itself, so a pixel has as much of the mapped light as it has
/// samples of it. Mapped after they were averaged, a quarter of such a light would be as good as all of it.
#[test]
fn samples_are_mapped_before_they_are_averaged() {
    let light = Vec3::splat(400.0);
    let (_folder, model) = lamps(&[(Vec2::ZERO, light)]);
    let model = model.to_str().expect("the name is text");
    for path in ["pass", "subpass"] {
        // Seen from aside, the edges cross the pixels.
        let camera = ["--eye", "6,4,9", "--target", "0,0,0", "--fov", "8"];
        let options = ["--no-stage", "--environment", "none", "--size", "200x200", "--operator", "reinhard"];
        let more = ["--split", "0", "--msaa", "4", "--path", path];
        let picture = sample::picture(TONE_MAPPING, [&[model], &camera[..], &options, &more].concat());
        let mut pixels = [0; 5];
        for pixel in picture.pixels() {
            let samples = 4.0 * linear([pixel[0], pixel[1], pixel[2]]).x / (400.0 / 401.0);
            assert!((samples - samples.round()).abs() < 0.03, "{path}: the light of {samples} samples");
            pixels[samples.round() as usize] += 1;
        }
        assert!(pixels.iter().all(|&pixels| pixels > 5), "{path}: {pixels:?}");
    }
}

/// The overlay shows the same bars by either path and for any number of samples, where no edge crosses a pixel.
#[test]
fn a_histogram_is_the_same_by_all_ways() {
    let lights = [(-1.5, 0.02), (-0.5, 0.3), (0.5, 1.0), (1.5, 5.0)];
    let (_folder, model) = lamps(&lights.map(|(x, light)| (Vec2::new(x, 0.0), Vec3::splat(light))));
    let draw = |samples, path, histogram: &[&str]| {
        // High enough for all of the overlay.
        let view = Facing { size: (400, 400), ..Facing::SQUARE };
        let options = ["--environment", "none", "--msaa", samples, "--path", path, "--ui", "--frames", "4"];
        view.draw(TONE_MAPPING, &model, "0,0,0", &[&options[..], histogram].concat())
    };
    let expected = draw("1", "pass", &["--histogram"]);
    assert!(expected != draw("1", "pass", &[]), "there is no histogram");
    for (samples, path) in [("1", "subpass"), ("4", "pass"), ("4", "subpass")] {
        assert!(draw(samples, path, &["--histogram"]) == expected, "--msaa {samples} --path {path}");
    }
}

#[test]
fn what_blends_adds_up_before_it_is_mapped() {
    let mut little = Little::default();
    let pane = little.unlit([1.0, 1.0, 0.5, 0.25], json!({ "alphaMode": "BLEND" }));
    let wall = little.unlit([0.2, 0.4, 0.8, 1.0], json!({}));
    for (material, z) in [(pane, 0.5), (wall, 0.0)] {
        let square = little.square([0.0, 0.0, z], 1.0, material);
        let mesh = little.mesh(square);
        little.root(json!({ "mesh": mesh }));
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let model = little.save(folder.path());
    let picture = draw(&model, &["--operator", "reinhard", "--split", "0"]);
    let light = Vec3::new(1.0, 1.0, 0.5) * 0.25 + Vec3::new(0.2, 0.4, 0.8) * 0.75;
    assert_pixel(Facing::SQUARE.pixel(&picture, Vec2::ZERO), light / (1.0 + light), "the pane before the wall");
}
