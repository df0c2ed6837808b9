//! A scene's vertices and indices on their way to the GPU.

use std::collections::HashMap;

use anyhow::{Context as _, Result};
use glam::{Vec2, Vec3, Vec4};

use super::Draw;
use crate::scene::{Influences, Primitive, Scene};

/// The most vertices that deform. Each node has its own, so that a small file could ask for any number.
const MOST_DEFORMED: usize = 1 << 24;

/// Vertices and indices, and what is drawn of them; see [`Model`](super::Model).
#[derive(Default)]
pub(super) struct Streams {
    pub(super) draws: Vec<Draw>,
    pub(super) positions: Vec<Vec3>,
    pub(super) normals: Vec<Vec3>,
    pub(super) tangents: Vec<Vec4>,
    pub(super) tex_coords: [Vec<Vec2>; 2],
    pub(super) colors: Vec<[u16; 4]>,
    pub(super) joints: [Vec<[u16; 4]>; 2],
    pub(super) weights: [Vec<[f32; 4]>; 2],
    pub(super) indices: Vec<u32>,
    pub(super) largest_index: u32,
}

/// A primitive and a node that draws it.
struct Use<'a> {
    node: usize,
    mesh: usize,
    place: usize,
    primitive: &'a Primitive,
    skinned: bool,
    deformed: bool,
}

/// What attributes there are in a scene.
struct Attributes {
    /// Pairs of streams of joints and weights.
    influence_sets: usize,
    tangents: bool,
}

impl Streams {
    pub(super) fn new(scene: &Scene) -> Result<Self> {
        let mut uses = uses(scene);
        // In this order the streams of joints and weights, and those of a deformation, end where they are no longer needed.
        uses.sort_by_key(|one| (!one.skinned, !one.deformed));
        let deformed = uses.iter().filter(|one| one.deformed).map(|one| one.primitive.positions.len()).sum::<usize>();
        anyhow::ensure!(
            deformed <= MOST_DEFORMED,
            "{} has {deformed} vertices that deform, and {MOST_DEFORMED} are the most",
            scene.name
        );
        let attributes = Attributes {
            influence_sets: if uses.iter().any(|one| one.skinned && has_more_than_four(one.primitive)) { 2 } else { 1 },
            tangents: uses.iter().any(|one| !one.primitive.tangents.is_empty()),
        };
        let mut streams = Self::default();
        // Of each primitive where its indices begin and its middle, and where its vertices begin if it is rigid.
        let (mut shared, mut rigid) = (HashMap::new(), HashMap::new());
        for one in uses {
            let key = (one.mesh, one.place);
            let (first_index, rest_center) = match shared.get(&key) {
                Some(&known) => known,
                None => *shared.entry(key).or_insert((streams.push_indices(one.primitive)?, center(one.primitive))),
            };
            // What deforms comes first, when nothing rigid is known yet.
            let vertex_offset = match rigid.get(&key) {
                Some(&offset) => offset,
                None => streams.push_vertices(&one, &attributes)?,
            };
            if !one.deformed {
                rigid.insert(key, vertex_offset);
            }
            streams.draws.push(draw(&one, first_index, vertex_offset, rest_center));
        }
        Ok(streams)
    }

    fn push_indices(&mut self, primitive: &Primitive) -> Result<u32> {
        let first = self.indices.len();
        self.indices.extend(&primitive.indices);
        self.largest_index = self.largest_index.max(primitive.indices.iter().copied().max().unwrap_or(0));
        u32::try_from(self.indices.len()).context("a model has too many indices")?;
        Ok(first as u32)
    }

    fn push_vertices(&mut self, one: &Use<'_>, attributes: &Attributes) -> Result<i32> {
        let primitive = one.primitive;
        let (first, end) = (self.positions.len(), self.positions.len() + primitive.positions.len());
        i32::try_from(end).context("a model has too many vertices")?;
        self.positions.extend(&primitive.positions);
        // What a primitive lacks is filled up, so that all streams have the same offsets.
        self.normals.extend(&primitive.normals);
        self.normals.resize(end, Vec3::ZERO);
        if attributes.tangents {
            self.tangents.extend(&primitive.tangents);
            self.tangents.resize(end, Vec4::ZERO);
        }
        for (stream, set) in self.tex_coords.iter_mut().zip(&primitive.tex_coords) {
            stream.extend(set);
            stream.resize(end, Vec2::ZERO);
        }
        self.colors.extend(primitive.colors.iter().map(|color| unorm(*color)));
        self.colors.resize(end, [u16::MAX; 4]);
        if let Some(influences) = primitive.influences.as_ref().filter(|_| one.skinned) {
            let sets = attributes.influence_sets;
            let (joints, weights) = influences.largest(4 * sets);
            for set in 0..sets {
                self.joints[set].extend(joints.chunks_exact(4).skip(set).step_by(sets).map(four));
                self.weights[set].extend(weights.chunks_exact(4).skip(set).step_by(sets).map(four));
            }
        }
        Ok(first as i32)
    }
}

/// Every primitive of every mesh at every node of the shown scene, but for those without anything to draw.
fn uses(scene: &Scene) -> Vec<Use<'_>> {
    let mut uses = Vec::new();
    for (node, owner) in scene.nodes.iter().enumerate().filter(|(_, node)| node.in_scene) {
        let Some(mesh) = owner.mesh else { continue };
        let primitives = scene.meshes[mesh].primitives.iter().enumerate();
        uses.extend(primitives.filter(|(_, primitive)| !primitive.indices.is_empty()).map(|(place, primitive)| {
            // A skin needs joints and weights, and these mean nothing without a skin.
            let skinned = owner.skin.is_some() && primitive.influences.is_some();
            Use { node, mesh, place, primitive, skinned, deformed: skinned || !primitive.morph_targets.is_empty() }
        }));
    }
    uses
}

fn draw(one: &Use<'_>, first_index: u32, vertex_offset: i32, rest_center: Vec3) -> Draw {
    let influences = one.primitive.influences.as_ref().filter(|_| one.skinned);
    Draw {
        node: one.node,
        mesh: one.mesh,
        primitive: one.place,
        topology: one.primitive.topology,
        first_index,
        index_count: one.primitive.indices.len() as u32,
        vertex_offset,
        vertex_count: one.primitive.positions.len() as u32,
        skinned: one.skinned,
        deformed: one.deformed,
        material: one.primitive.material,
        rest_center,
        joint: influences.and_then(leading_joint),
    }
}

/// The joint that has most of the weights.
fn leading_joint(influences: &Influences) -> Option<usize> {
    let mut sums: HashMap<u16, f32> = HashMap::new();
    for (&joint, weight) in influences.joints.iter().zip(&influences.weights) {
        *sums.entry(joint).or_default() += weight;
    }
    // Of several the first, whatever the order of the map.
    let leading = sums.into_iter().max_by(|(a, of_a), (b, of_b)| of_a.total_cmp(of_b).then(b.cmp(a)));
    leading.map(|(joint, _)| usize::from(joint))
}

/// The middle of the box around a primitive's vertices.
fn center(primitive: &Primitive) -> Vec3 {
    let positions = || primitive.positions.iter().copied();
    let (min, max) = (positions().reduce(Vec3::min), positions().reduce(Vec3::max));
    min.unwrap_or_default() * 0.5 + max.unwrap_or_default() * 0.5
}

fn four<T: Copy>(chunk: &[T]) -> [T; 4] {
    [chunk[0], chunk[1], chunk[2], chunk[3]]
}

/// The nearest 16-bit fractions.
fn unorm(color: Vec4) -> [u16; 4] {
    (color.clamp(Vec4::ZERO, Vec4::ONE) * f32::from(u16::MAX)).round().to_array().map(|channel| channel as u16)
}

/// Whether some vertex of a primitive is moved by more than four joints.
fn has_more_than_four(primitive: &Primitive) -> bool {
    primitive.influences.as_ref().is_some_and(|influences| {
        let vertices = influences.weights.chunks_exact(influences.per_vertex.max(1));
        vertices.into_iter().any(|weights| weights.iter().filter(|&&weight| weight > 0.0).count() > 4)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail that way.
mod tests {
    use super::*;
    use crate::scene::{Mesh, MorphTarget, Node, Topology, Transform};
    use glam::Mat4;

    fn node(mesh: usize) -> Node {
        Node {
            name: None,
            parent: None,
            children: Vec::new(),
            local: Transform::Matrix(Mat4::IDENTITY),
            mesh: Some(mesh),
            skin: None,
            weights: Vec::new(),
            camera: None,
            light: None,
            in_scene: true,
        }
    }

    fn primitive(vertices: u32) -> Primitive {
        Primitive {
            topology: Topology::Points,
            indices: (0..vertices).collect(),
            positions: vec![Vec3::ONE; vertices as usize],
            normals: Vec::new(),
            tangents: Vec::new(),
            colors: Vec::new(),
            tex_coords: [Vec::new(), Vec::new()],
            influences: None,
            morph_targets: Vec::new(),
            material: 0,
            source_vertices: Vec::new(),
        }
    }

    fn scene(nodes: Vec<Node>, primitives: Vec<Primitive>) -> Scene {
        Scene { nodes, meshes: vec![Mesh { name: None, primitives }], ..Scene::default() }
    }

    #[test]
    fn what_a_primitive_lacks_is_filled_up() {
        let mut full = primitive(2);
        full.tangents = vec![Vec4::X; 2];
        full.colors = vec![Vec4::new(0.0, 0.5, 1.0, 2.0), Vec4::NEG_ONE];
        let streams = Streams::new(&scene(vec![node(0)], vec![primitive(1), full])).unwrap();
        assert_eq!(streams.tangents, [Vec4::ZERO, Vec4::X, Vec4::X]);
        assert_eq!(streams.colors, [[65535; 4], [0, 32768, 65535, 65535], [0; 4]]);
        assert_eq!(
            (streams.normals, streams.tex_coords),
            (vec![Vec3::ZERO; 3], [vec![Vec2::ZERO; 3], vec![Vec2::ZERO; 3]])
        );
        let none = Streams::new(&scene(vec![node(0)], vec![primitive(1)])).unwrap();
        assert!(none.tangents.is_empty() && none.joints[0].is_empty());
    }

    #[test]
    fn a_small_file_cannot_ask_for_any_number_of_vertices() {
        let mut morphing = primitive(1 << 20);
        morphing.morph_targets.push(MorphTarget::default());
        let nodes = |count| (0..count).map(|_| node(0)).collect();
        let error = Streams::new(&scene(nodes(17), vec![morphing])).err().unwrap().to_string();
        assert!(error.contains("17825792 vertices that deform"), "{error}");
        // What is rigid is there once.
        assert_eq!(Streams::new(&scene(nodes(17), vec![primitive(1 << 20)])).unwrap().positions.len(), 1 << 20);
    }
}
