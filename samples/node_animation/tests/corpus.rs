//! Other people's models under strict validation.

use std::path::{Path, PathBuf};

use ashwright::scene::Scene;
use tools::corpus;

const NODE_ANIMATION: &str = env!("CARGO_BIN_EXE_node_animation");

#[test]
fn all_models_render_without_a_message() {
    corpus::check_all_are_drawn(NODE_ANIMATION);
}

#[test]
fn models_are_seen_by_their_own_cameras() {
    let Some(corpus) = corpus::gltf() else { return };
    let models: Vec<PathBuf> =
        corpus::models(&corpus.join("dev")).into_iter().filter(|path| has_camera(path)).collect();
    assert!(!models.is_empty(), "the corpus has changed");
    let failures =
        corpus::failures(&models, |model| corpus::drawing_failure(NODE_ANIMATION, model, &["--camera", "0"]));
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

fn has_camera(model: &Path) -> bool {
    Scene::load(model).is_ok_and(|scene| scene.nodes.iter().any(|node| node.in_scene && node.camera.is_some()))
}
