//! What a scene promises, whatever its file: checked by the tests of broken files and by the fuzz target.

use ashwright::glam::{Mat4, Vec3};
use ashwright::scene::{Animation, Channel, Pose, Primitive, Scene, Values};

/// Poses a scene by all its clips, at sane and other times.
pub(crate) fn pose_at_many_times(scene: &Scene) {
    let mut pose = Pose::new(scene);
    let _ = pose.bounds(scene);
    for (index, animation) in scene.animations.iter().enumerate() {
        for time in [-1.0, 0.0, 0.3, 1.0, 1e9, f32::INFINITY, f32::NAN] {
            pose.evaluate(scene, &[(index, time)]);
            if is_moderate(scene, animation) {
                let is_finite = |node| pose.world(node).is_finite();
                assert!((0..scene.nodes.len()).all(is_finite), "animation {index} at {time}");
            }
        }
    }
    for (index, node) in scene.nodes.iter().enumerate() {
        for primitive in 0..node.mesh.map_or(0, |mesh| scene.meshes[mesh].primitives.len()) {
            let (_, normals) = pose.vertices(scene, index, primitive);
            assert!(normals.iter().all(|normal| normal.is_normalized()));
        }
    }
    let _ = pose.bounds(scene);
}

/// Whether the world matrices of a clip cannot but be finite: none of its numbers is so large that the product of all
/// transforms could leave the range of floats.
fn is_moderate(scene: &Scene, animation: &Animation) -> bool {
    let limit = 10_f32.powf(36.0 / scene.nodes.len() as f32) / 16.0;
    let is_small = |vector: &Vec3| vector.abs().max_element() * animation.duration.max(1.0) < limit;
    let is_slow = |channel: &Channel| match &channel.values {
        Values::Translation(vectors) | Values::Scale(vectors) => vectors.iter().all(is_small),
        Values::Rotation(_) | Values::Weights(_) => true,
    };
    animation.channels.iter().all(is_slow)
        && scene.nodes.iter().all(|node| node.local.matrix().abs_diff_eq(Mat4::ZERO, limit))
}

/// What the documentation of a scene promises to who uses it without looking.
pub(crate) fn check(scene: &Scene) {
    let mut seen = vec![false; scene.nodes.len()];
    for &node in &scene.node_order {
        assert!(scene.nodes[node].parent.is_none_or(|parent| seen[parent]), "a parent comes after its child");
        assert!(!std::mem::replace(&mut seen[node], true), "a node comes twice");
    }
    assert!(seen.iter().all(|&seen| seen), "a node is missing from the order");
    for (index, node) in scene.nodes.iter().enumerate() {
        assert!(node.children.iter().all(|&child| scene.nodes[child].parent == Some(index)));
        assert!(node.mesh.is_none_or(|mesh| mesh < scene.meshes.len()));
        assert!(node.skin.is_none_or(|skin| skin < scene.skins.len()));
        assert!(node.camera.is_none_or(|camera| camera < scene.cameras.len()));
        assert!(node.light.is_none_or(|light| light < scene.lights.len()));
        assert!(node.weights.iter().all(|weight| weight.is_finite()));
        let targets = node.mesh.map_or(0, |mesh| {
            scene.meshes[mesh].primitives.iter().map(|primitive| primitive.morph_targets.len()).max().unwrap_or(0)
        });
        assert_eq!(node.weights.len(), targets);
        assert!(node.local.matrix().is_finite());
    }
    assert!(scene.roots.iter().all(|&root| scene.nodes[root].in_scene));
    for primitive in scene.meshes.iter().flat_map(|mesh| &mesh.primitives) {
        check_primitive(scene, primitive);
    }
    for skin in &scene.skins {
        assert_eq!(skin.joints.len(), skin.inverse_bind_matrices.len());
        assert!(skin.joints.iter().all(|&joint| joint < scene.nodes.len()));
    }
    for info in scene.materials.iter().flat_map(|material| material.textures.iter().flatten()) {
        assert!(info.texture < scene.textures.len() && info.tex_coord < 2 && info.transform.is_finite());
    }
    for texture in &scene.textures {
        assert!(texture.image.is_none_or(|image| image < scene.images.len()));
    }
    for image in &scene.images {
        assert_eq!(image.pixels.len() as u64, 4 * u64::from(image.size.0) * u64::from(image.size.1));
    }
    assert!(scene.warnings.iter().all(|warning| !warning.contains('\n') && warning.starts_with('/')));
}

fn check_primitive(scene: &Scene, primitive: &Primitive) {
    let count = primitive.positions.len();
    assert!(primitive.indices.iter().all(|&index| (index as usize) < count));
    assert!(primitive.positions.iter().all(|position| position.is_finite()));
    assert!(primitive.normals.is_empty() || primitive.normals.len() == count);
    assert!(primitive.normals.iter().all(|normal| normal.is_normalized()));
    assert!(primitive.tex_coords.iter().all(|coords| coords.is_empty() || coords.len() == count));
    assert!(primitive.tangents.is_empty() || primitive.tangents.len() == count);
    for tangent in &primitive.tangents {
        assert!(tangent.truncate().is_normalized() && tangent.w.abs() == 1.0, "{tangent}");
    }
    assert!(primitive.colors.is_empty() || primitive.colors.len() == count);
    assert!(primitive.colors.iter().all(|color| color.is_finite()));
    for target in &primitive.morph_targets {
        for vectors in [&target.positions, &target.normals, &target.tangents] {
            assert!(vectors.is_empty() || vectors.len() == count);
            assert!(vectors.iter().all(|vector| vector.is_finite()));
        }
    }
    assert!(primitive.source_vertices.is_empty() || primitive.source_vertices.len() == count);
    assert!(primitive.material < scene.materials.len());
    let Some(influences) = &primitive.influences else {
        return;
    };
    assert!(
        influences.joints.len() == count * influences.per_vertex && influences.weights.len() == influences.joints.len()
    );
    for n in [influences.per_vertex, 4, 8] {
        let (joints, weights) = influences.largest(n);
        assert_eq!((joints.len(), weights.len()), (count * n, count * n));
        for weights in weights.chunks_exact(n) {
            assert!(weights.iter().all(|&weight| weight >= 0.0), "{weights:?}");
            assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{weights:?}");
        }
    }
}
