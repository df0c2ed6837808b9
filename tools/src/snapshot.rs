//! A scene in a pose as plain data, to be printed and compared.

use std::collections::BTreeMap;

use ashwright::scene::{Pose, Scene};
use serde::{Deserialize, Serialize};

/// How many vertices of a primitive are shown at most.
const VERTICES: usize = 5;

/// How a scene stands at a time. As JSON it is an object like an element of `samples` in the corpus's `oracle`: matrices
/// are column-major, positions are in metres, times in seconds; a number that is not finite is null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// The clip that plays; `None`: the rest pose.
    pub animation: Option<usize>,
    /// Its time. Before the first and after the last key it is that key's pose.
    pub time: f32,
    /// All nodes of the file.
    pub nodes: Vec<Node>,
    /// The weights of morph targets, by nodes whose mesh has some.
    pub morph_weights: BTreeMap<usize, Vec<f32>>,
    /// All skins of the file.
    pub skins: Vec<Skin>,
    /// Some vertices of each primitive in the scene.
    pub vertices: Vec<Vertex>,
}

/// Where a node stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// The index in the file.
    pub index: usize,
    /// The name in the file, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether the node is part of the shown scene.
    pub in_scene: bool,
    /// The index of the node above, or -1.
    pub parent: i64,
    /// The matrix from the node's space to the world.
    pub world: [f32; 16],
}

/// How a skin deforms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Skin {
    /// The index in the file.
    pub skin: usize,
    /// For each joint world(joint) · inverse bind matrix.
    pub joint_matrices: Vec<[f32; 16]>,
}

/// Where a vertex is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Vertex {
    /// The node that carries the mesh.
    pub node: usize,
    /// The mesh.
    pub mesh: usize,
    /// The primitive's index in the mesh.
    pub prim: usize,
    /// The vertex's index in the primitive's accessors.
    pub index: usize,
    /// Its place in the world after morphing and skinning.
    pub position: [f32; 3],
    /// Its unit normal in the world, where the file has normals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normal: Option<[f32; 3]>,
}

impl Snapshot {
    /// A scene in its rest pose, or as a clip (an index and a time in seconds) moves it.
    ///
    /// The scene is one to [inspect](ashwright::scene::Purpose::Inspect), whose vertices are those of the file.
    ///
    /// # Panics
    ///
    /// If there is no such clip.
    pub fn new(scene: &Scene, clip: Option<(usize, f32)>) -> Self {
        let mut pose = Pose::new(scene);
        pose.evaluate(scene, clip.as_slice());
        Self {
            animation: clip.map(|(animation, _)| animation),
            time: clip.map_or(0.0, |(_, time)| time),
            nodes: nodes(scene, &pose),
            morph_weights: morph_weights(scene, &pose),
            skins: skins(scene, &pose),
            vertices: vertices(scene, &pose),
        }
    }
}

fn nodes(scene: &Scene, pose: &Pose) -> Vec<Node> {
    let node = |(index, node): (usize, &ashwright::scene::Node)| Node {
        index,
        name: node.name.clone(),
        in_scene: node.in_scene,
        parent: node.parent.map_or(-1, |parent| parent as i64),
        world: pose.world(index).to_cols_array(),
    };
    scene.nodes.iter().enumerate().map(node).collect()
}

fn morph_weights(scene: &Scene, pose: &Pose) -> BTreeMap<usize, Vec<f32>> {
    let weights = (0..scene.nodes.len()).map(|node| (node, pose.weights(node).to_vec()));
    weights.filter(|(_, weights)| !weights.is_empty()).collect()
}

fn skins(scene: &Scene, pose: &Pose) -> Vec<Skin> {
    let matrices = |skin| pose.joint_matrices(skin).map(|matrix| matrix.to_cols_array()).collect();
    let skin = |(skin, joints)| Skin { skin, joint_matrices: matrices(joints) };
    scene.skins.iter().enumerate().map(skin).collect()
}

fn vertices(scene: &Scene, pose: &Pose) -> Vec<Vertex> {
    let mut vertices = Vec::new();
    for (node, mesh) in mesh_nodes(scene) {
        for prim in 0..scene.meshes[mesh].primitives.len() {
            let (positions, normals) = pose.vertices(scene, node, prim);
            let vertex = |index: usize| {
                let normal = normals.get(index).map(|normal| normal.to_array());
                Vertex { node, mesh, prim, index, position: positions[index].to_array(), normal }
            };
            vertices.extend(spread(positions.len()).map(vertex));
        }
    }
    vertices
}

/// The nodes of the shown scene that have a mesh, and their meshes.
fn mesh_nodes(scene: &Scene) -> impl Iterator<Item = (usize, usize)> {
    let shown = scene.nodes.iter().enumerate().filter(|(_, node)| node.in_scene);
    shown.filter_map(|(index, node)| Some((index, node.mesh?)))
}

/// A few of `count` indices, evenly spread from the first to the last: round(i · (count - 1) / (few - 1)).
fn spread(count: usize) -> impl Iterator<Item = usize> {
    let few = count.min(VERTICES);
    let steps = few.saturating_sub(1).max(1);
    (0..few).map(move |i| (2 * i * (count - 1) + steps) / (2 * steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_vertices_from_the_first_to_the_last() {
        let of = |count| spread(count).collect::<Vec<_>>();
        assert_eq!(of(0), [0; 0]);
        assert_eq!(of(1), [0]);
        assert_eq!(of(2), [0, 1]);
        assert_eq!(of(5), [0, 1, 2, 3, 4]);
        assert_eq!(of(10), [0, 2, 5, 7, 9], "halves are rounded up");
        assert_eq!(of(24), [0, 6, 12, 17, 23]);
    }
}
