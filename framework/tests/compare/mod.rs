//! Compares poses with samples that were computed in double precision from the specification alone.

use ashwright::scene::{Pose, Scene};
use glam::{Mat4, Vec3};
use serde_json::Value;
use std::path::Path;

/// The largest differences found, each relative to what [`samples`] says.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Largest {
    /// World matrices of nodes.
    pub(crate) nodes: f64,
    /// Joint matrices.
    pub(crate) joints: f64,
    /// Positions of vertices.
    pub(crate) positions: f64,
    /// Normals of vertices.
    pub(crate) normals: f64,
    /// How many vertices were compared.
    pub(crate) vertices: usize,
}

impl Largest {
    /// The largest of all differences.
    pub(crate) fn max(&self) -> f64 {
        self.nodes.max(self.joints).max(self.positions).max(self.normals)
    }

    /// The larger of both, one by one.
    pub(crate) fn merge(&mut self, other: Largest) {
        self.nodes = self.nodes.max(other.nodes);
        self.joints = self.joints.max(other.joints);
        self.positions = self.positions.max(other.positions);
        self.normals = self.normals.max(other.normals);
        self.vertices += other.vertices;
    }
}

/// Reads a JSON file.
pub(crate) fn read_json(path: &Path) -> Value {
    let text = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compares all samples of a file of expectations.
///
/// Matrices: the largest difference of an element by the largest element of the matrix. Positions: the
/// largest difference of a coordinate by the largest coordinate of the sample's vertices, which is the
/// model's size. Normals: the largest difference of a coordinate. Vertices of models with morph targets
/// are not compared.
pub(crate) fn samples(scene: &Scene, expected: &Value) -> Largest {
    let mut largest = Largest::default();
    let mut pose = Pose::new(scene);
    for sample in array(&expected["samples"]) {
        match sample["animation"].as_u64() {
            Some(animation) => pose.evaluate(scene, &[(animation as usize, number(&sample["time"]) as f32)]),
            None => pose.evaluate(scene, &[]),
        }
        largest.merge(one_sample(scene, &pose, sample));
    }
    largest
}

fn one_sample(scene: &Scene, pose: &Pose, sample: &Value) -> Largest {
    let mut largest = Largest::default();
    assert_eq!(array(&sample["nodes"]).len(), scene.nodes.len());
    for (index, node) in array(&sample["nodes"]).iter().enumerate() {
        assert_eq!(node["index"], index);
        assert_eq!(node["inScene"], scene.nodes[index].in_scene, "whether node {index} is in the scene");
        let parent = scene.nodes[index].parent.map_or(-1, |parent| parent as i64);
        assert_eq!(node["parent"], parent, "the parent of node {index}");
        largest.nodes = largest.nodes.max(matrix_difference(pose.world(index), &node["world"]));
    }
    for skin in array(&sample["skins"]) {
        let joints = &scene.skins[skin["skin"].as_u64().unwrap() as usize];
        let expected = array(&skin["jointMatrices"]);
        assert_eq!(expected.len(), joints.joints.len());
        for (matrix, expected) in pose.joint_matrices(joints).zip(expected) {
            largest.joints = largest.joints.max(matrix_difference(matrix, expected));
        }
    }
    if sample["morphWeights"].as_object().is_some_and(|weights| weights.is_empty()) {
        compare_vertices(scene, pose, array(&sample["vertices"]), &mut largest);
    }
    largest
}

fn compare_vertices(scene: &Scene, pose: &Pose, expected: &[Value], largest: &mut Largest) {
    let coordinates = expected.iter().flat_map(|vertex| array(&vertex["position"])).map(number);
    let size = coordinates.fold(f64::MIN_POSITIVE, |size, coordinate| size.max(coordinate.abs()));
    let mut known = None;
    for vertex in expected {
        let index = |key: &str| vertex[key].as_u64().unwrap() as usize;
        let (node, prim) = (index("node"), index("prim"));
        if known.as_ref().is_none_or(|&(at, _)| at != (node, prim)) {
            known = Some(((node, prim), pose.vertices(scene, node, prim)));
        }
        let (positions, normals) = &known.as_ref().unwrap().1;
        let primitive = &scene.meshes[scene.nodes[node].mesh.unwrap()].primitives[prim];
        for vertex_here in vertices_of(&primitive.source_vertices, index("index")) {
            let difference = vector_difference(positions[vertex_here], &vertex["position"]) / size;
            largest.positions = largest.positions.max(difference);
            largest.vertices += 1;
            if vertex.get("normal").is_some() {
                let difference = vector_difference(normals[vertex_here], &vertex["normal"]);
                largest.normals = largest.normals.max(difference);
            }
        }
    }
}

/// Where a vertex of the file has gone.
fn vertices_of(source_vertices: &[u32], vertex: usize) -> Vec<usize> {
    if source_vertices.is_empty() {
        return vec![vertex];
    }
    (0..source_vertices.len()).filter(|&at| source_vertices[at] as usize == vertex).collect()
}

fn matrix_difference(matrix: Mat4, expected: &Value) -> f64 {
    let expected: Vec<f64> = array(expected).iter().map(number).collect();
    let size = expected.iter().fold(f64::MIN_POSITIVE, |size, element| size.max(element.abs()));
    let found = matrix.to_cols_array();
    found.iter().zip(&expected).map(|(a, b)| difference(*a, *b)).fold(0.0, f64::max) / size
}

fn vector_difference(vector: Vec3, expected: &Value) -> f64 {
    let expected = array(expected).iter().map(number);
    vector.to_array().into_iter().zip(expected).map(|(a, b)| difference(a, b)).fold(0.0, f64::max)
}

/// The difference of two numbers; infinite if one of them is none, which `max` would pass over.
fn difference(found: f32, expected: f64) -> f64 {
    let difference = (f64::from(found) - expected).abs();
    if difference.is_nan() { f64::INFINITY } else { difference }
}

/// The elements of an array, which there must be.
pub(crate) fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("an array is expected, not {value}"))
}

/// A number, which there must be.
pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number is expected, not {value}"))
}
