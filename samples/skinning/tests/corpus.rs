//! Other people's models under strict validation.

use std::path::{Path, PathBuf};

use ashwright::scene::Scene;
use tools::{corpus, sample, steady};

const SKINNING: &str = env!("CARGO_BIN_EXE_skinning");

#[test]
fn models_that_move_render_without_a_message() {
    let Some(corpus) = corpus::gltf() else { return };
    let models: Vec<PathBuf> = corpus::models(&corpus.join("dev")).into_iter().filter(|path| moves(path)).collect();
    assert!(models.len() > 20, "only {} models", models.len());
    let failures = corpus::failures(&models, failure);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    println!("rendered {} models", models.len());
}

#[test]
fn steady_frames_of_four_influences_make_nothing() {
    let Some(corpus) = corpus::gltf() else { return };
    let model = corpus.join("dev/CesiumMan/glTF-Binary/CesiumMan.glb");
    steady::check(SKINNING, &[model.to_str().expect("the corpus's path is Unicode")]);
}

/// Whether a model loads and has a skin or an animation.
fn moves(path: &Path) -> bool {
    Scene::load(path).is_ok_and(|scene| !scene.skins.is_empty() || !scene.animations.is_empty())
}

fn failure(model: &Path) -> Option<String> {
    let path = model.to_str().expect("the corpus's path is Unicode");
    let options = [path, "--skeleton", "--size", "320x180", "--time", "0.4", "--frames", "3"];
    let (ended, picture) = sample::draw(SKINNING, options);
    let Some(picture) = picture else { return Some(format!("{path}: {:?} {}", ended.code, ended.stderr)) };
    let blank = picture.rows().next().is_none_or(|mut row| {
        let first = row.next();
        picture.pixels().all(|pixel| Some(pixel) == first)
    });
    blank.then(|| format!("{path}: an empty picture"))
}
