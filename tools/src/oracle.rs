//! Poses against numbers that were computed in double precision from the specification alone.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::snapshot::{Snapshot, Vertex};

/// The relative difference that the corpus asks for at most.
const TOLERANCE: f64 = 1e-4;

/// A model of the corpus that there are numbers for.
pub struct Model {
    /// Its name in the corpus's index.
    pub name: String,
    /// The model.
    pub file: PathBuf,
    /// How large a difference may be: more where the file's rotation keys are off unit length.
    pub tolerance: f64,
    expected: PathBuf,
}

impl Model {
    /// The models of the corpus's `oracle`.
    ///
    /// # Panics
    ///
    /// If its index cannot be read.
    pub fn all(corpus: &Path) -> Vec<Model> {
        let index = corpus.join("oracle/INDEX.tsv");
        let text = std::fs::read_to_string(&index).unwrap_or_else(|error| panic!("{}: {error}", index.display()));
        let model = |line: &str| {
            let columns: Vec<&str> = line.split('\t').collect();
            let norm_error: f64 = columns[5].parse().unwrap_or_else(|error| panic!("{line}: {error}"));
            Model {
                name: columns[0].to_owned(),
                file: corpus.join("dev").join(columns[0]),
                tolerance: TOLERANCE.max(4.0 * norm_error),
                expected: corpus.join("oracle").join(columns[1]),
            }
        };
        text.lines().skip(1).map(model).collect()
    }

    /// What is expected of it.
    ///
    /// # Panics
    ///
    /// If that cannot be read.
    pub fn expected(&self) -> Expected {
        read_json(&self.expected)
    }
}

/// What is expected of a model.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expected {
    /// Its poses.
    pub samples: Vec<Snapshot>,
    /// The boxes around what is drawn, in some poses.
    #[serde(default)]
    pub bounds: Vec<ExpectedBounds>,
    /// How much is drawn, where that is said.
    pub drawn: Option<Drawn>,
    /// The length of each clip in seconds.
    #[serde(default)]
    pub clip_durations: Vec<f32>,
    /// What else is said of it.
    #[serde(default)]
    pub expected: Value,
}

/// How much the nodes of the shown scene draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Drawn {
    /// The primitives of their meshes: one that two nodes draw counts twice.
    pub primitives: usize,
    /// The vertices of those in the file.
    pub vertices: usize,
}

/// The box around what is drawn, in metres.
#[derive(Debug, Deserialize)]
pub struct ExpectedBounds {
    /// The clip that plays; `None`: the rest pose.
    pub animation: Option<usize>,
    /// Its time in seconds.
    pub time: f32,
    /// The corner with the least coordinates.
    pub min: [f32; 3],
    /// The corner with the greatest coordinates.
    pub max: [f32; 3],
}

/// Reads a JSON file.
///
/// # Panics
///
/// If it cannot be read.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> T {
    let text = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The largest differences found, each relative to what [`compare`] says.
#[derive(Debug, Default, Clone, Copy)]
pub struct Largest {
    /// World matrices of nodes.
    pub nodes: f64,
    /// Joint matrices.
    pub joints: f64,
    /// Weights of morph targets.
    pub weights: f64,
    /// Positions of vertices.
    pub positions: f64,
    /// Normals of vertices.
    pub normals: f64,
    /// How many vertices were compared.
    pub vertices: usize,
}

impl Largest {
    /// The largest of all differences.
    pub fn max(&self) -> f64 {
        self.nodes.max(self.joints).max(self.weights).max(self.positions).max(self.normals)
    }

    /// The larger of both, one by one.
    #[must_use]
    pub fn merge(self, other: Largest) -> Largest {
        Largest {
            nodes: self.nodes.max(other.nodes),
            joints: self.joints.max(other.joints),
            weights: self.weights.max(other.weights),
            positions: self.positions.max(other.positions),
            normals: self.normals.max(other.normals),
            vertices: self.vertices + other.vertices,
        }
    }
}

/// Compares a pose with the expected one.
///
/// Matrices: the largest difference of an element by the largest element of the matrix. Weights: the largest difference.
/// Positions: the largest difference of a coordinate by the largest coordinate of the expected vertices, which is the model's
/// size. Normals: the largest difference of a coordinate.
///
/// # Panics
///
/// If anything but numbers differs.
pub fn compare(found: &Snapshot, expected: &Snapshot) -> Largest {
    let mut largest = Largest::default();
    assert_eq!(found.nodes.len(), expected.nodes.len(), "the number of nodes");
    for (found, expected) in found.nodes.iter().zip(&expected.nodes) {
        let about = |node: &crate::snapshot::Node| (node.index, node.name.clone(), node.in_scene, node.parent);
        assert_eq!(about(found), about(expected), "index, name, whether in the scene, and parent of a node");
        largest.nodes = largest.nodes.max(matrix_difference(&found.world, &expected.world));
    }
    assert_eq!(found.skins.len(), expected.skins.len(), "the number of skins");
    for (found, expected) in found.skins.iter().zip(&expected.skins) {
        assert_eq!(found.joint_matrices.len(), expected.joint_matrices.len(), "joints of skin {}", found.skin);
        for (found, expected) in found.joint_matrices.iter().zip(&expected.joint_matrices) {
            largest.joints = largest.joints.max(matrix_difference(found, expected));
        }
    }
    let nodes = |snapshot: &Snapshot| snapshot.morph_weights.keys().copied().collect::<Vec<_>>();
    assert_eq!(nodes(found), nodes(expected), "the nodes that morph");
    for (found, expected) in found.morph_weights.values().zip(expected.morph_weights.values()) {
        assert_eq!(found.len(), expected.len(), "the number of morph targets");
        largest.weights = largest.weights.max(difference(found, expected));
    }
    compare_vertices(&found.vertices, &expected.vertices, &mut largest);
    largest
}

fn compare_vertices(found: &[Vertex], expected: &[Vertex], largest: &mut Largest) {
    let coordinates = expected.iter().flat_map(|vertex| vertex.position);
    let size = coordinates.fold(f32::MIN_POSITIVE, |size, coordinate| size.max(coordinate.abs()));
    let about = |vertex: &Vertex| (vertex.node, vertex.mesh, vertex.prim, vertex.index, vertex.normal.is_some());
    let abouts = |vertices: &[Vertex]| vertices.iter().map(about).collect::<Vec<_>>();
    assert_eq!(abouts(found), abouts(expected), "node, mesh, primitive, index of vertices, and whether with normals");
    for (found, expected) in found.iter().zip(expected) {
        let difference = difference(&found.position, &expected.position) / f64::from(size);
        largest.positions = largest.positions.max(difference);
        if let (Some(found), Some(expected)) = (found.normal, expected.normal) {
            largest.normals = largest.normals.max(self::difference(&found, &expected));
        }
        largest.vertices += 1;
    }
}

fn matrix_difference(found: &[f32; 16], expected: &[f32; 16]) -> f64 {
    let size = expected.iter().fold(f32::MIN_POSITIVE, |size, element| size.max(element.abs()));
    difference(found, expected) / f64::from(size)
}

/// The largest difference; infinite if a number is none, which `max` would pass over.
fn difference(found: &[f32], expected: &[f32]) -> f64 {
    let one = |(found, expected): (&f32, &f32)| {
        let difference = (f64::from(*found) - f64::from(*expected)).abs();
        if difference.is_nan() { f64::INFINITY } else { difference }
    };
    found.iter().zip(expected).map(one).fold(0.0, f64::max)
}
