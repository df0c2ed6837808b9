//! Poses of many models, compared with numbers computed in double precision from the specification alone.

#![allow(clippy::unwrap_used)] // A test may fail that way.

use ashwright::scene::{Primitive, Purpose, Scene};
use tools::corpus;
use tools::oracle::{self, Largest, Model};
use tools::snapshot::Snapshot;

#[test]
fn poses_agree_with_the_oracle() {
    let Some(corpus) = corpus::gltf() else {
        return;
    };
    let mut total = Largest::default();
    let mut failures = Vec::new();
    let mut compared = 0;
    for model in Model::all(&corpus) {
        let drawn = match Scene::load(&model.file) {
            Ok(scene) => scene,
            Err(error) if matches!(error.problem, ashwright::scene::Problem::Extension(_)) => {
                println!("SKIPPED: {error}");
                continue;
            }
            Err(error) => {
                failures.push(error.to_string());
                continue;
            }
        };
        let scene = Scene::load_for(&model.file, Purpose::Inspect).unwrap();
        compare_split(&model.name, &drawn, &scene);
        for expected in model.expected().samples {
            let clip = expected.animation.map(|animation| (animation, expected.time));
            let largest = oracle::compare(&Snapshot::new(&scene, clip), &expected);
            if largest.max() > model.tolerance {
                failures.push(format!("{}: {largest:?}", model.name));
            }
            total = total.merge(largest);
        }
        compared += 1;
    }
    println!("{compared} models compared; largest differences: {total:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(compared > 100 && total.vertices > 1000, "few models were compared: {compared}");
}

/// Whether what is drawn is what the file has: vertices that were split are copies.
fn compare_split(name: &str, drawn: &Scene, file: &Scene) {
    let primitives =
        |scene: &Scene| -> Vec<Primitive> { scene.meshes.iter().flat_map(|mesh| mesh.primitives.clone()).collect() };
    let (drawn, file) = (primitives(drawn), primitives(file));
    assert_eq!(drawn.len(), file.len(), "{name}");
    for (drawn, file) in drawn.iter().zip(&file) {
        assert!(file.source_vertices.is_empty() && drawn.topology == file.topology, "{name}");
        let source = |vertex: usize| drawn.source_vertices.get(vertex).map_or(vertex, |&source| source as usize);
        let corners: Vec<u32> = drawn.indices.iter().map(|&vertex| source(vertex as usize) as u32).collect();
        assert_eq!(corners, file.indices, "{name}");
        for vertex in 0..drawn.positions.len() {
            assert_eq!(drawn.positions[vertex], file.positions[source(vertex)], "{name}");
            for (drawn, file) in drawn.tex_coords.iter().zip(&file.tex_coords) {
                assert_eq!(drawn.get(vertex), file.get(source(vertex)), "{name}");
            }
            assert_eq!(influences(drawn, vertex), influences(file, source(vertex)), "{name}");
        }
    }
}

/// The joints and weights of a vertex.
fn influences(primitive: &Primitive, vertex: usize) -> Option<(&[u16], &[f32])> {
    let influences = primitive.influences.as_ref()?;
    let range = vertex * influences.per_vertex..(vertex + 1) * influences.per_vertex;
    Some((&influences.joints[range.clone()], &influences.weights[range]))
}
