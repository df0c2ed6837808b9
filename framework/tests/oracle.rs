//! Poses of many models, compared with numbers computed in double precision from the specification alone.

#![allow(clippy::unwrap_used)] // A test may fail that way.

mod compare;

use ashwright::scene::{Problem, Scene};
use compare::Largest;

/// The corpus asks for this relative difference at most, or for four times as much as the file's rotation keys
/// are off unit length.
const TOLERANCE: f64 = 1e-4;

#[test]
fn poses_agree_with_the_oracle() {
    let Some(corpus) = tools::corpus::gltf() else {
        return;
    };
    let index = std::fs::read_to_string(corpus.join("oracle/INDEX.tsv")).unwrap();
    let mut total = Largest::default();
    let mut failures = Vec::new();
    let mut compared = 0;
    for line in index.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let (model, norm_error): (&str, f64) = (columns[0], columns[5].parse().unwrap());
        let scene = match Scene::load(&corpus.join("dev").join(model)) {
            Ok(scene) => scene,
            Err(error) if matches!(error.problem, Problem::Extension(_)) => {
                println!("SKIPPED: {model} {}", error.problem);
                continue;
            }
            Err(error) => {
                failures.push(error.to_string());
                continue;
            }
        };
        for warning in &scene.warnings {
            println!("{model}: {warning}");
        }
        let largest = compare::samples(&scene, &compare::read_json(&corpus.join("oracle").join(columns[1])));
        if largest.max() > TOLERANCE.max(4.0 * norm_error) {
            failures.push(format!("{model}: {largest:?}"));
        }
        if norm_error * 4.0 <= TOLERANCE {
            total.merge(largest);
        }
        compared += 1;
    }
    println!("{compared} models compared; largest differences of those with unit rotation keys: {total:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(compared > 100 && total.vertices > 1000, "few models were compared: {compared}");
}
