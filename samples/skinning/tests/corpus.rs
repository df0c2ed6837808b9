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
    let folder = tempfile::tempdir().expect("a temporary folder");
    let failures: Vec<_> = models.iter().filter_map(|model| failure(model, folder.path())).collect();
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

fn failure(model: &Path, folder: &Path) -> Option<String> {
    let picture = folder.join("picture.png");
    let options = [
        model.as_os_str(),
        "--headless".as_ref(),
        "--validation".as_ref(),
        "strict".as_ref(),
        "--skeleton".as_ref(),
        "--time".as_ref(),
        "0.4".as_ref(),
        "--frames".as_ref(),
        "3".as_ref(),
        "--size".as_ref(),
        "320x180".as_ref(),
        "--screenshot".as_ref(),
        picture.as_os_str(),
    ];
    let ended = sample::run(SKINNING, options);
    if ended.code != Some(0) {
        return Some(format!("{}: {:?} {}", model.display(), ended.code, ended.stderr));
    }
    let pixels = image::open(&picture).expect("it was written").into_rgba8();
    let blank = pixels.rows().next().is_none_or(|mut row| {
        let first = row.next();
        pixels.pixels().all(|pixel| Some(pixel) == first)
    });
    blank.then(|| format!("{}: an empty picture", model.display()))
}
