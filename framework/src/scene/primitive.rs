//! Loading of meshes: attributes, lists of indices, flat normals, influences.

use super::accessor::resolve;
use super::error::{Problem, broken};
use super::import::{Context, Purpose};
use super::{Influences, Mesh, MorphTarget, Node, Primitive, Skin, Topology, morph};
use glam::{Vec2, Vec3, Vec4};
use gltf::json::Index;
use gltf::json::accessor::{Accessor, ComponentType, Type};
use gltf::json::mesh::{self as json, Mode, Semantic};
use gltf::json::validation::Checked;
use std::fmt::{Arguments, Display};

/// How many influences a vertex can have on the GPU.
const GPU_INFLUENCES: usize = 8;

pub(super) fn import_meshes(context: &Context) -> Result<Vec<Mesh>, Problem> {
    context.import_each(&context.root.meshes, |context, index, mesh| {
        let mut primitives = Vec::with_capacity(mesh.primitives.len());
        for (primitive, json) in mesh.primitives.iter().enumerate() {
            let at = format_args!("/meshes/{index}/primitives/{primitive}");
            primitives.push(import_primitive(context, at, json)?);
        }
        Ok(Mesh { name: mesh.name.clone(), primitives })
    })
}

fn import_primitive(context: &Context, at: Arguments, json: &json::Primitive) -> Result<Primitive, Problem> {
    let Checked::Valid(mode) = json.mode else {
        return Err(broken(format!("{at}/mode"), "is none of glTF's modes, which are 0 to 6"));
    };
    let materials = &context.root.materials;
    let material = match json.material {
        Some(material) => resolve(format_args!("{at}/material"), material, "materials", materials.len())?,
        None => materials.len(), // The default material stands behind those of the file.
    };
    let attributes = Attributes { context, at, json };
    let positions = attributes.positions()?;
    let count = positions.len();
    let indices = match json.indices {
        Some(accessor) => import_indices(context, format_args!("{at}/indices"), accessor, count)?,
        None => {
            context.accessors.charge::<u32>(at, count as u64)?;
            (0..count as u32).collect()
        }
    };
    let (topology, indices) = to_list(context, at, mode, indices)?;
    let mut primitive = Primitive {
        topology,
        indices,
        positions,
        normals: attributes.normals(count)?,
        tangents: attributes.tangents(count)?,
        colors: attributes.colors(count)?,
        tex_coords: [attributes.tex_coords(0, count)?, attributes.tex_coords(1, count)?],
        influences: attributes.influences(count)?,
        morph_targets: morph::import_targets(&attributes, count)?,
        material,
        source_vertices: Vec::new(),
    };
    let needs_normals = topology == Topology::Triangles && primitive.normals.is_empty();
    if needs_normals && context.purpose != Purpose::Inspect {
        make_flat(context, at, &mut primitive)?;
    }
    Ok(primitive)
}

/// The attributes of a primitive.
pub(super) struct Attributes<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) at: Arguments<'a>,
    pub(super) json: &'a json::Primitive,
}

impl Attributes<'_> {
    fn get(&self, semantic: Semantic) -> Option<Index<Accessor>> {
        self.json.attributes.get(&Checked::Valid(semantic)).copied()
    }

    /// Positions. Broken ones stand where a good one is: triangles with them then are degenerate,
    /// and the bounds do not change.
    fn positions(&self) -> Result<Vec<Vec3>, Problem> {
        let at = format_args!("{}/attributes/POSITION", self.at);
        let Some(accessor) = self.get(Semantic::Positions) else {
            self.context.warnings.add(self.at, "has no POSITION that can be read and is not drawn");
            return Ok(Vec::new());
        };
        let mut positions = self.context.accessors.floats(at, accessor, Type::Vec3, Vec3::from_array)?;
        if positions.is_empty() {
            self.context.warnings.add(at, "has no vertices");
        }
        let good = positions.iter().copied().find(|position| position.is_finite()).unwrap_or(Vec3::ZERO);
        let bad = replace(&mut positions, |position| !position.is_finite(), good);
        self.context.warnings.add_count(bad, at, "a position is not finite; another vertex's is used");
        Ok(positions)
    }

    /// Unit normals; empty where there are none.
    fn normals(&self, count: usize) -> Result<Vec<Vec3>, Problem> {
        let at = format_args!("{}/attributes/NORMAL", self.at);
        let Some(accessor) = self.accessor(Semantic::Normals, at, count)? else {
            return Ok(Vec::new());
        };
        let mut normals = self
            .context
            .accessors
            .floats(at, accessor, Type::Vec3, |normal| direction(Vec3::from_array(normal)).unwrap_or(Vec3::ZERO))?;
        let bad = replace(&mut normals, |normal| *normal == Vec3::ZERO, Vec3::Z);
        self.context.warnings.add_count(bad, at, "a normal has no direction; +Z is used");
        Ok(normals)
    }

    /// Unit tangents with their handedness; empty where there are none.
    fn tangents(&self, count: usize) -> Result<Vec<Vec4>, Problem> {
        let at = format_args!("{}/attributes/TANGENT", self.at);
        let Some(accessor) = self.accessor(Semantic::Tangents, at, count)? else {
            return Ok(Vec::new());
        };
        let mut tangents = self.context.accessors.floats(at, accessor, Type::Vec4, |[x, y, z, w]| {
            let tangent = direction(Vec3::new(x, y, z)).unwrap_or(Vec3::ZERO);
            tangent.extend(if w < 0.0 { -1.0 } else { 1.0 })
        })?;
        let bad = replace(&mut tangents, |tangent| tangent.truncate() == Vec3::ZERO, Vec4::new(1.0, 0.0, 0.0, 1.0));
        self.context.warnings.add_count(bad, at, "a tangent has no direction; +X is used");
        Ok(tangents)
    }

    /// Linear colours; empty where there are none.
    fn colors(&self, count: usize) -> Result<Vec<Vec4>, Problem> {
        let at = format_args!("{}/attributes/COLOR_0", self.at);
        let Some(accessor) = self.accessor(Semantic::Colors(0), at, count)? else {
            return Ok(Vec::new());
        };
        let accessors = &self.context.accessors;
        let mut colors = match accessors.element_type(at, accessor)? {
            Type::Vec3 => accessors.floats(at, accessor, Type::Vec3, |[r, g, b]| Vec4::new(r, g, b, 1.0))?,
            _ => accessors.floats(at, accessor, Type::Vec4, Vec4::from_array)?,
        };
        let bad = replace(&mut colors, |color| !color.is_finite(), Vec4::ONE);
        self.context.warnings.add_count(bad, at, "a colour is not finite; white is used");
        Ok(colors)
    }

    /// Texture coordinates; empty where there are none.
    fn tex_coords(&self, set: u32, count: usize) -> Result<Vec<Vec2>, Problem> {
        let at = format_args!("{}/attributes/TEXCOORD_{set}", self.at);
        let Some(accessor) = self.accessor(Semantic::TexCoords(set), at, count)? else {
            return Ok(Vec::new());
        };
        let mut coords = self.context.accessors.floats(at, accessor, Type::Vec2, Vec2::from_array)?;
        let bad = replace(&mut coords, |coord| !coord.is_finite(), Vec2::ZERO);
        self.context.warnings.add_count(bad, at, "a texture coordinate is not finite; 0 is used");
        Ok(coords)
    }

    /// Joints and weights of all sets that have both.
    fn influences(&self, count: usize) -> Result<Option<Influences>, Problem> {
        let mut sets = Vec::new();
        for set in 0.. {
            let (joints, weights) = (self.get(Semantic::Joints(set)), self.get(Semantic::Weights(set)));
            if joints.is_none() && weights.is_none() {
                break;
            }
            sets.extend(self.influence_set(set, count)?);
        }
        if sets.is_empty() {
            return Ok(None);
        }
        self.context.accessors.charge::<[(u16, f32); 4]>(self.at, (sets.len() * count) as u64)?;
        let mut influences = interleave(&sets, count);
        let used = |(_, weights): &(_, Vec<[f32; 4]>)| weights.iter().flatten().any(|&weight| weight > 0.0);
        if sets.iter().skip(GPU_INFLUENCES / 4).any(used) {
            let message = format!(
                "vertices have up to {} influences; on the GPU only the {GPU_INFLUENCES} largest count",
                influences.per_vertex
            );
            self.context.warnings.add(self.at, message);
        }
        self.normalize_weights(&mut influences);
        Ok(Some(influences))
    }

    fn influence_set(&self, set: u32, count: usize) -> Result<Option<InfluenceSet>, Problem> {
        let joints_at = format_args!("{}/attributes/JOINTS_{set}", self.at);
        let weights_at = format_args!("{}/attributes/WEIGHTS_{set}", self.at);
        let joints = self.accessor(Semantic::Joints(set), joints_at, count)?;
        let weights = self.accessor(Semantic::Weights(set), weights_at, count)?;
        let (Some(joints), Some(weights)) = (joints, weights) else {
            let message = format!("JOINTS_{set} and WEIGHTS_{set} do not go together; both are ignored");
            self.context.warnings.add(format!("{}/attributes", self.at), message);
            return Ok(None);
        };
        // A joint beyond 65535 is beyond every skin too: `limit_joints` will see to it.
        let narrow = |joint| u16::try_from(joint).unwrap_or(u16::MAX);
        let joints =
            self.context.accessors.integers(joints_at, joints, Type::Vec4, |joints: [u32; 4]| joints.map(narrow))?;
        let weights = self.context.accessors.floats(weights_at, weights, Type::Vec4, |weights: [f32; 4]| weights)?;
        Ok(Some((joints, weights)))
    }

    /// Makes weights positive and their sums 1.
    fn normalize_weights(&self, influences: &mut Influences) {
        let at = format_args!("{}/attributes/WEIGHTS_0", self.at);
        let (mut bad, mut off, mut empty) = (0, 0, 0);
        for weights in influences.weights.chunks_exact_mut(influences.per_vertex) {
            bad += replace(weights, |weight| !(0.0..=f32::MAX).contains(weight), 0.0);
            let sum: f32 = weights.iter().sum();
            if sum > 0.0 && sum.is_finite() {
                off += usize::from((sum - 1.0).abs() > 0.01);
                weights.iter_mut().for_each(|weight| *weight /= sum);
            } else {
                empty += 1;
                weights.fill(0.0);
                weights[0] = 1.0;
            }
        }
        let warnings = &self.context.warnings;
        warnings.add_count(bad, at, "a weight is negative or not finite; 0 is used");
        warnings.add_count(off, at, "the weights of a vertex do not sum to 1; they are scaled");
        warnings.add_count(empty, at, "a vertex has no weights; it follows its first joint");
    }

    /// The accessor of an attribute, unless it has not one value for each vertex.
    fn accessor(&self, semantic: Semantic, at: impl Display, count: usize) -> Result<Option<Index<Accessor>>, Problem> {
        self.matching(self.get(semantic), at, count)
    }

    /// The accessor, unless it has not one value for each vertex.
    pub(super) fn matching(
        &self,
        accessor: Option<Index<Accessor>>,
        at: impl Display,
        count: usize,
    ) -> Result<Option<Index<Accessor>>, Problem> {
        let Some(accessor) = accessor else {
            return Ok(None);
        };
        let found = self.context.accessors.count(&at, accessor)?;
        if found == count as u64 {
            return Ok(Some(accessor));
        }
        let message = format!("has {found} values for {count} positions and is ignored");
        self.context.warnings.add(at, message);
        Ok(None)
    }
}

/// Four joints and four weights a vertex.
type InfluenceSet = (Vec<[u16; 4]>, Vec<[f32; 4]>);

fn interleave(sets: &[InfluenceSet], count: usize) -> Influences {
    Influences {
        per_vertex: 4 * sets.len(),
        joints: (0..count).flat_map(|vertex| sets.iter().flat_map(move |(joints, _)| joints[vertex])).collect(),
        weights: (0..count).flat_map(|vertex| sets.iter().flat_map(move |(_, weights)| weights[vertex])).collect(),
    }
}

/// Puts `sane` in place of what is bad, and counts it.
pub(super) fn replace<T: Copy>(values: &mut [T], is_bad: impl Fn(&T) -> bool, sane: T) -> usize {
    let mut count = 0;
    for value in values.iter_mut().filter(|value| is_bad(value)) {
        *value = sane;
        count += 1;
    }
    count
}

fn import_indices(
    context: &Context,
    at: Arguments,
    accessor: Index<Accessor>,
    vertices: usize,
) -> Result<Vec<u32>, Problem> {
    let indices = context.accessors.integers(at, accessor, Type::Scalar, |[index]| index)?;
    let restart = match context.accessors.component_type(at, accessor)? {
        ComponentType::U8 => u32::from(u8::MAX),
        ComponentType::U16 => u32::from(u16::MAX),
        _ => u32::MAX,
    };
    let largest = indices.iter().copied().max().unwrap_or(0);
    if largest == restart {
        return Err(broken(at, format!("index {restart} is the primitive-restart value, which glTF does not allow")));
    }
    if largest as usize >= vertices && !indices.is_empty() && vertices > 0 {
        return Err(broken(at, format!("index {largest} is not below the number of vertices, {vertices}")));
    }
    // Without positions there is nothing to draw, and no index is valid.
    Ok(if vertices == 0 { Vec::new() } else { indices })
}

/// Turns strips, fans and loops into lists (glTF 2.0, section 3.7.2.1).
fn to_list(context: &Context, at: Arguments, mode: Mode, indices: Vec<u32>) -> Result<(Topology, Vec<u32>), Problem> {
    let (topology, size) = match mode {
        Mode::Points => (Topology::Points, 1),
        Mode::Lines | Mode::LineLoop | Mode::LineStrip => (Topology::Lines, 2),
        Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan => (Topology::Triangles, 3),
    };
    let is_list = matches!(mode, Mode::Points | Mode::Lines | Mode::Triangles);
    if !is_list {
        context.accessors.charge::<[u32; 3]>(at, indices.len() as u64)?;
    }
    if indices.len() < size || (is_list && !indices.len().is_multiple_of(size)) {
        let message = format!("{} indices do not make whole {topology:?}; the rest is not drawn", indices.len());
        context.warnings.add_count(usize::from(!indices.is_empty()), at, message);
    }
    Ok((topology, list_indices(mode, indices, size)))
}

fn list_indices(mode: Mode, mut indices: Vec<u32>, size: usize) -> Vec<u32> {
    if indices.len() < size {
        return Vec::new();
    }
    match mode {
        Mode::Points | Mode::Lines | Mode::Triangles => {
            indices.truncate(indices.len() / size * size);
            indices
        }
        Mode::LineStrip => indices.windows(2).flatten().copied().collect(),
        Mode::LineLoop => {
            indices.push(indices[0]);
            indices.windows(2).flatten().copied().collect()
        }
        // Every other triangle of a strip is turned around, so that all wind the same way.
        Mode::TriangleStrip => {
            let triangle = |(index, v): (usize, &[u32])| {
                if index % 2 == 0 { [v[0], v[1], v[2]] } else { [v[0], v[2], v[1]] }
            };
            indices.windows(3).enumerate().flat_map(triangle).collect()
        }
        Mode::TriangleFan => indices[1..].windows(2).flat_map(|v| [v[0], v[1], indices[0]]).collect(),
    }
}

/// Gives each triangle vertices and a normal of its own, and another one for each morph target (glTF 2.0, sections 3.7.2.1 and
/// 3.7.2.2: "flat normals").
fn make_flat(context: &Context, at: Arguments, primitive: &mut Primitive) -> Result<(), Problem> {
    let indices = &primitive.indices;
    let count = indices.len() as u64;
    let is_split = count == primitive.positions.len() as u64
        && indices.iter().enumerate().all(|(at, &index)| at == index as usize);
    if !is_split {
        primitive.charge(context, at, count)?;
        let indices = std::mem::replace(&mut primitive.indices, (0..count as u32).collect());
        primitive.gather(&indices);
    }
    let targets = primitive.morph_targets.len() as u64;
    context.accessors.charge::<Vec3>(at, count.saturating_mul(1 + targets))?;
    primitive.normals = flat_normals(&primitive.positions);
    // Tangents mean nothing without the normals they were made for.
    primitive.tangents.clear();
    for target in &mut primitive.morph_targets {
        target.tangents.clear();
        let moved = primitive.positions.iter().zip(&target.positions).map(|(position, by)| position + by);
        target.normals = flat_normals(&moved.collect::<Vec<_>>());
        target.normals.iter_mut().zip(&primitive.normals).for_each(|(normal, at_rest)| *normal -= at_rest);
    }
    Ok(())
}

/// The normals of the corners of triangles, given their positions.
fn flat_normals(positions: &[Vec3]) -> Vec<Vec3> {
    positions.as_chunks().0.iter().flat_map(|[a, b, c]| [flat_normal(*a, *b, *c); 3]).collect()
}

impl Primitive {
    /// Takes the room for `count` vertices with all attributes of this primitive off the budget.
    pub(super) fn charge(&self, context: &Context, at: Arguments, count: u64) -> Result<(), Problem> {
        let influences = self.influences.as_ref().map_or(0, |influences| influences.per_vertex as u64);
        context.accessors.charge::<(u16, f32)>(at, count.saturating_mul(influences))?;
        context.accessors.charge::<[Vec3; 3]>(at, count.saturating_mul(self.morph_targets.len() as u64))?;
        context.accessors.charge::<[Vec4; 5]>(at, count)
    }

    /// Makes these vertices, each a copy of one that was there, the vertices of this primitive. Its indices stay.
    pub(super) fn gather(&mut self, vertices: &[u32]) {
        self.positions = gather(&self.positions, vertices, 1);
        self.normals = gather(&self.normals, vertices, 1);
        self.tangents = gather(&self.tangents, vertices, 1);
        self.colors = gather(&self.colors, vertices, 1);
        for coords in &mut self.tex_coords {
            *coords = gather(coords, vertices, 1);
        }
        if let Some(influences) = &mut self.influences {
            influences.joints = gather(&influences.joints, vertices, influences.per_vertex);
            influences.weights = gather(&influences.weights, vertices, influences.per_vertex);
        }
        for MorphTarget { positions, normals, tangents } in &mut self.morph_targets {
            for vectors in [positions, normals, tangents] {
                *vectors = gather(vectors, vertices, 1);
            }
        }
        self.source_vertices = match self.source_vertices.is_empty() {
            true => vertices.to_vec(),
            false => gather(&self.source_vertices, vertices, 1),
        };
    }
}

/// The `size` values of each of these vertices; none where there are none.
fn gather<T: Copy>(values: &[T], vertices: &[u32], size: usize) -> Vec<T> {
    if values.is_empty() {
        return Vec::new();
    }
    let vertex = |&index: &u32| &values[index as usize * size..][..size];
    vertices.iter().flat_map(vertex).copied().collect()
}

/// The normal of a triangle, or any unit vector where it has none.
fn flat_normal(a: Vec3, b: Vec3, c: Vec3) -> Vec3 {
    let (Some(to_b), Some(to_c)) = (direction(b - a), direction(c - a)) else {
        return Vec3::Z;
    };
    direction(to_b.cross(to_c)).unwrap_or(Vec3::Z)
}

/// The unit vector of that direction, also of vectors so small or large that their squares are not what they should be.
/// `None` where there is no direction.
pub(super) fn direction(vector: Vec3) -> Option<Vec3> {
    (vector / vector.abs().max_element()).try_normalize()
}

/// Sees to it that no vertex refers to a joint that a skin, with which its mesh is drawn, does not have.
pub(super) fn limit_joints(context: &Context, meshes: &mut [Mesh], nodes: &[Node], skins: &[Skin]) {
    let mut joints = vec![usize::MAX; meshes.len()];
    for node in nodes {
        if let (Some(mesh), Some(skin)) = (node.mesh, node.skin) {
            joints[mesh] = joints[mesh].min(skins[skin].joints.len());
        }
    }
    for (index, (mesh, joints)) in meshes.iter_mut().zip(joints).enumerate() {
        for (primitive, json) in mesh.primitives.iter_mut().enumerate() {
            if let Some(influences) = &mut json.influences {
                let bad = drop_joints(influences, joints);
                let at = format!("/meshes/{index}/primitives/{primitive}/attributes/JOINTS_0");
                context.warnings.add_count(
                    bad,
                    at,
                    format!("a joint is not among the skin's {joints}; its weight is dropped"),
                );
            }
        }
    }
}

/// Drops influences of joints from `joints` on, and counts those that had a weight.
fn drop_joints(influences: &mut Influences, joints: usize) -> usize {
    let size = influences.per_vertex;
    let mut bad = 0;
    for (joint, weight) in influences.joints.iter_mut().zip(&mut influences.weights) {
        if usize::from(*joint) >= joints {
            bad += usize::from(*weight > 0.0);
            (*joint, *weight) = (0, 0.0);
        }
    }
    if bad > 0 {
        for weights in influences.weights.chunks_exact_mut(size) {
            let sum: f32 = weights.iter().sum();
            if sum > 0.0 {
                weights.iter_mut().for_each(|weight| *weight /= sum);
            } else {
                weights[0] = 1.0;
            }
        }
    }
    bad
}

impl Influences {
    /// The `n` largest influences of each vertex, padded with zeros where there are fewer: `n` joints and
    /// `n` weights a vertex, the weights with sum 1. On the GPU `n` is 4 or 8.
    #[must_use]
    pub fn largest(&self, n: usize) -> (Vec<u16>, Vec<f32>) {
        let vertices = self.weights.len() / self.per_vertex.max(1);
        let (mut joints, mut weights) = (vec![0; vertices * n], vec![0.0; vertices * n]);
        let mut order: Vec<usize> = Vec::with_capacity(self.per_vertex);
        for vertex in 0..vertices {
            let first = vertex * self.per_vertex;
            order.clear();
            order.extend(first..first + self.per_vertex);
            if self.per_vertex > n {
                order.sort_by(|&a, &b| self.weights[b].total_cmp(&self.weights[a]));
                order.truncate(n);
            }
            let sum: f32 = order.iter().map(|&from| self.weights[from]).sum();
            let scale = if sum > 0.0 { 1.0 / sum } else { 0.0 };
            for (to, &from) in (vertex * n..).zip(&order) {
                joints[to] = self.joints[from];
                weights[to] = self.weights[from] * scale;
            }
        }
        (joints, weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_and_fans_keep_their_winding() {
        // glTF 2.0, section 3.7.2.1: strip p_i = {v_i, v_(i+1+i%2), v_(i+2-i%2)}, fan p_i = {v_(i+1), v_(i+2), v_0}.
        let list = |mode, size| list_indices(mode, vec![10, 11, 12, 13, 14], size);
        assert_eq!(list(Mode::TriangleStrip, 3), [10, 11, 12, 11, 13, 12, 12, 13, 14]);
        assert_eq!(list(Mode::TriangleFan, 3), [11, 12, 10, 12, 13, 10, 13, 14, 10]);
        assert_eq!(list(Mode::Triangles, 3), [10, 11, 12]);
        assert_eq!(list(Mode::Lines, 2), [10, 11, 12, 13]);
        assert_eq!(list(Mode::LineStrip, 2), [10, 11, 11, 12, 12, 13, 13, 14]);
        assert_eq!(list(Mode::LineLoop, 2), [10, 11, 11, 12, 12, 13, 13, 14, 14, 10]);
        assert_eq!(list(Mode::Points, 1), [10, 11, 12, 13, 14]);
    }

    #[test]
    fn too_few_indices_draw_nothing() {
        for (mode, size) in [
            (Mode::Lines, 2),
            (Mode::LineLoop, 2),
            (Mode::LineStrip, 2),
            (Mode::Triangles, 3),
            (Mode::TriangleStrip, 3),
            (Mode::TriangleFan, 3),
        ] {
            for count in 0..size {
                assert!(list_indices(mode, vec![0; count], size).is_empty(), "{mode:?} of {count}");
            }
            assert!(!list_indices(mode, vec![0; size], size).is_empty(), "{mode:?} of {size}");
        }
    }

    #[test]
    fn flat_normals_are_those_of_counter_clockwise_triangles() {
        assert_eq!(flat_normal(Vec3::ZERO, Vec3::X, Vec3::Y), Vec3::Z);
        assert_eq!(flat_normal(Vec3::ZERO, Vec3::Z * 1e-20, Vec3::X * 1e-20), Vec3::Y);
        assert_eq!(flat_normal(Vec3::ZERO, Vec3::Y * 1e30, Vec3::Z * 1e30), Vec3::X);
        assert_eq!(flat_normal(Vec3::ONE, Vec3::ONE, Vec3::ONE), Vec3::Z);
        assert_eq!(flat_normal(Vec3::ZERO, Vec3::X, Vec3::X), Vec3::Z);
    }

    #[test]
    fn directions_have_length_1_whatever_the_vector_has() {
        for size in [1e-45, 1e-40, 3e-23, 1.0, 1e25, f32::MAX] {
            let unit = direction(Vec3::new(0.8 * size, -size, 0.3 * size)).unwrap_or_default();
            assert!(unit.is_normalized(), "{unit} of size {size}");
        }
        for vector in [Vec3::ZERO, Vec3::NAN, Vec3::INFINITY, Vec3::new(1.0, f32::NAN, 0.0)] {
            assert_eq!(direction(vector), None);
        }
    }

    #[test]
    fn the_largest_influences_are_kept() {
        let influences = Influences {
            per_vertex: 4,
            joints: vec![1, 2, 3, 4, 5, 6, 7, 8],
            weights: vec![0.1, 0.5, 0.0, 0.4, 1.0, 0.0, 0.0, 0.0],
        };
        let (joints, weights) = influences.largest(2);
        assert_eq!(joints, [2, 4, 5, 6]);
        let expected = [0.5 / 0.9, 0.4 / 0.9, 1.0, 0.0];
        assert!(weights.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{weights:?}");
        let (joints, weights) = influences.largest(5);
        assert_eq!(joints, [1, 2, 3, 4, 0, 5, 6, 7, 8, 0]);
        assert_eq!(weights, [0.1, 0.5, 0.0, 0.4, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn joints_beyond_the_skin_lose_their_weight() {
        let mut influences = Influences {
            per_vertex: 4,
            joints: vec![0, 1, 9, 9, 9, 0, 0, 0],
            weights: vec![0.25, 0.25, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0],
        };
        assert_eq!(drop_joints(&mut influences, 2), 2);
        assert_eq!(influences.joints, [0, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(influences.weights, [0.5, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    }
}
