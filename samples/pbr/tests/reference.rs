//! Pictures of the same models by other programs.

use std::path::{Path, PathBuf};

use image::RgbaImage;
use serde_json::Value;
use tools::reference::{self, Reference, vector};
use tools::{corpus, sample};

const PBR: &str = env!("CARGO_BIN_EXE_pbr");

/// A pixel counts as different if a channel is off by more than this, of 255.
const TOLERANCE: u8 = 8;

/// The share of pixels that may differ: in light from lights, and in light from all around, whose blurs everybody makes by
/// another sum.
const MOST_DIFFERENT: f64 = 0.01;
const MOST_DIFFERENT_ALL_AROUND: f64 = 0.05;

/// What is known to differ, by how much at most, and why.
const MISSES: [(&str, f64, &str); 2] = [
    ("AG_Animation_Skin_04_t0.5", 0.03, "without normals, and bent: ours are those of the faces before they are bent"),
    ("LightsPunctualLamp_model_lights", 0.03, "the shade lets light through there (KHR_materials_transmission)"),
];

/// The sample's picture of what a description describes.
fn draw(corpus: &Path, reference: &Reference) -> RgbaImage {
    let description = &reference.description;
    let mut options = reference.options(corpus);
    let mut option = |name: &str, value: String| options.extend([name.to_owned(), value]);
    let operator = match description["toneMap"].as_str() {
        Some("none") => "none",
        Some("neutral") => "khronos-neutral",
        Some("aces_boost") => "aces-hill-boost",
        other => panic!("{}: {other:?} is no operator", reference.name),
    };
    option("--operator", operator.to_owned());
    option("--exposure", description["exposure"].as_f64().expect("a factor").log2().to_string());
    let environment = match &description["environment"] {
        Value::Null => "none".to_owned(),
        environment => {
            let name = environment["name"].as_str().expect("a name");
            corpus.join(format!("environments/{name}.hdr")).to_str().expect("the corpus's path is Unicode").to_owned()
        }
    };
    option("--environment", environment);
    let light = &description["light"];
    if description["lights"] == "model" {
        option("--lights", "model".to_owned());
    } else if light.is_null() {
        option("--light-illuminance", "0".to_owned());
    } else {
        option("--lights", "sun".to_owned());
        option("--light-direction", vector(&light["direction"]));
        option("--light-illuminance", light["intensity"].to_string());
        option("--light-color", vector(&light["color"]));
    }
    let view = match description["debug"].as_str() {
        None => "shaded",
        Some("mr.BASECOLOR") => "base-color",
        Some("generic.WORLDSPACENORMAL") => "normal",
        Some(other) => panic!("{}: {other} is no view", reference.name),
    };
    option("--view", view.to_owned());
    let (ended, picture) = sample::draw(PBR, options);
    picture.unwrap_or_else(|| panic!("{}: {}", reference.name, ended.stderr))
}

#[test]
fn the_pictures_are_those_of_others() {
    let Some(corpus) = corpus::gltf() else { return };
    let references = reference::all(&corpus);
    let pictures: Vec<PathBuf> = references.iter().map(|reference| reference.picture.clone()).collect();
    let failures = corpus::failures(&pictures, |path| {
        let reference = references.iter().find(|reference| reference.picture == path)?;
        let share = reference::difference(&draw(&corpus, reference), &reference.open(), TOLERANCE);
        let usual = match &reference.description["environment"] {
            Value::Null => MOST_DIFFERENT,
            _ => MOST_DIFFERENT_ALL_AROUND,
        };
        let miss = MISSES.iter().find(|(name, ..)| *name == reference.name);
        let (most, reason) = miss.map_or((usual, ""), |&(_, most, reason)| (most, reason));
        println!("{}: {:.2} % {reason}", reference.name, 100.0 * share);
        (share > most).then(|| format!("{}: {share} of the pixels differ", reference.name))
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(references.len() > 30, "only {} pictures", references.len());
}
