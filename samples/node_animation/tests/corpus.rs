//! Other people's models under strict validation.

use std::path::{Path, PathBuf};

use ashwright::scene::Scene;
use tools::{corpus, sample};

const NODE_ANIMATION: &str = env!("CARGO_BIN_EXE_node_animation");

/// Requires an extension that was made up for the purpose.
const REFUSED: &str = "AssetGenerator/Compatibility/Compatibility_05.gltf";
const MADE_UP: &str = "FAKE_materials_quantumRendering";

#[test]
fn all_models_render_without_a_message() {
    let Some(corpus) = corpus::gltf() else { return };
    let dev = corpus.join("dev");
    let models = corpus::models(&dev);
    assert!(models.len() > 100, "only {} models", models.len());
    let mut failures = corpus::failures(&models, |model| match model.ends_with(REFUSED) {
        true => not_refused(model),
        false => failure(model, &[]),
    });
    let with_cameras: Vec<PathBuf> = models.iter().filter(|model| has_camera(model)).cloned().collect();
    failures.extend(corpus::failures(&with_cameras, |model| failure(model, &["--camera", "0"])));
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(models.contains(&dev.join(REFUSED)) && !with_cameras.is_empty(), "the corpus has changed");
    println!("rendered {} models, {} of them by a camera of their own", models.len() - 1, with_cameras.len());
}

fn has_camera(model: &Path) -> bool {
    Scene::load(model).is_ok_and(|scene| scene.nodes.iter().any(|node| node.in_scene && node.camera.is_some()))
}

/// What is wrong with the picture of a model.
fn failure(model: &Path, more: &[&str]) -> Option<String> {
    let name = model.display();
    let path = model.to_str().expect("the corpus's path is Unicode");
    // Without a stage all that is not the background is of the model.
    let options =
        [path, "--size", "320x180", "--time", "0.4", "--frames", "3", "--no-stage", "--background", "0.5,0,1"];
    let (ended, picture) = sample::draw(NODE_ANIMATION, [&options, more].concat());
    let Some(picture) = picture else { return Some(format!("{name} {more:?}: {:?} {}", ended.code, ended.stderr)) };
    if !ended.stderr.is_empty() {
        println!("{name}: {}", ended.stderr.trim_end());
    }
    let background = picture.get_pixel(0, 0);
    picture.pixels().all(|pixel| pixel == background).then(|| format!("{name} {more:?}: an empty picture"))
}

fn not_refused(model: &Path) -> Option<String> {
    let (ended, _) = sample::draw(NODE_ANIMATION, [model]);
    let words = ["error: ", "Compatibility_05.gltf", MADE_UP];
    let is_refused = ended.code == Some(1) && words.iter().all(|word| ended.stderr.contains(word));
    (!is_refused).then(|| format!("{}: {ended:?}", model.display()))
}
