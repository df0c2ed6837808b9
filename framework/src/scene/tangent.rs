//! Computing tangents by MikkTSpace, as glTF 2.0 asks where a file has none (section 3.7.2.1).

use super::error::Problem;
use super::import::Context;
use super::primitive::direction;
use super::{Material, Primitive, Scene, TextureSlot, Topology};
use bevy_mikktspace::{Geometry, TangentSpace};
use glam::{Vec3, Vec4};
use rayon::prelude::*;
use std::collections::HashMap;

/// Gives tangents to the triangles of a scene whose material has a normal map and that have none.
pub(super) fn make_tangents(context: &Context, scene: &mut Scene) -> Result<(), Problem> {
    let mut work = Vec::new();
    for (index, mesh) in scene.meshes.iter_mut().enumerate() {
        for (place, primitive) in mesh.primitives.iter_mut().enumerate() {
            if let Some(set) = needed_set(primitive, &scene.materials[primitive.material]) {
                let at = format_args!("/meshes/{index}/primitives/{place}");
                primitive.charge(context, at, primitive.indices.len() as u64)?;
                work.push((primitive, set));
            }
        }
    }
    work.into_par_iter().for_each(|(primitive, set)| compute(primitive, set));
    Ok(())
}

/// The set of texture coordinates that tangents have to go by, if any are needed and can be had.
fn needed_set(primitive: &Primitive, material: &Material) -> Option<usize> {
    let set = material.texture(TextureSlot::Normal)?.tex_coord;
    let can = primitive.topology == Topology::Triangles
        && !primitive.normals.is_empty()
        && !primitive.tex_coords[set].is_empty();
    (can && primitive.tangents.is_empty()).then_some(set)
}

/// Computes a tangent for each corner of each triangle, and splits vertices whose corners differ.
fn compute(primitive: &mut Primitive, set: usize) {
    let mut corners = Corners { primitive, set, tangents: vec![Vec4::ZERO; primitive.indices.len()] };
    // Its error has no variants.
    let _ = bevy_mikktspace::generate_tangents(&mut corners);
    let corner_tangents = corners.tangents;
    let mut known: HashMap<(u32, [u32; 4]), u32> = HashMap::with_capacity(primitive.positions.len());
    let (mut vertices, mut tangents) = (Vec::new(), Vec::new());
    let mut indices = Vec::with_capacity(primitive.indices.len());
    for (&vertex, tangent) in primitive.indices.iter().zip(corner_tangents) {
        let bits = tangent.to_array().map(f32::to_bits);
        indices.push(*known.entry((vertex, bits)).or_insert_with(|| {
            vertices.push(vertex);
            tangents.push(tangent);
            vertices.len() as u32 - 1
        }));
    }
    primitive.gather(&vertices);
    primitive.indices = indices;
    primitive.tangents = tangents;
}

/// The corners of a primitive's triangles.
struct Corners<'a> {
    primitive: &'a Primitive,
    set: usize,
    tangents: Vec<Vec4>,
}

impl Corners<'_> {
    fn vertex(&self, face: usize, corner: usize) -> usize {
        self.primitive.indices[3 * face + corner] as usize
    }
}

impl Geometry for Corners<'_> {
    fn num_faces(&self) -> usize {
        self.primitive.indices.len() / 3
    }

    fn num_vertices_of_face(&self, _face: usize) -> usize {
        3
    }

    fn position(&self, face: usize, corner: usize) -> [f32; 3] {
        self.primitive.positions[self.vertex(face, corner)].to_array()
    }

    fn normal(&self, face: usize, corner: usize) -> [f32; 3] {
        self.primitive.normals[self.vertex(face, corner)].to_array()
    }

    fn tex_coord(&self, face: usize, corner: usize) -> [f32; 2] {
        // MikkTSpace takes v upwards, and glTF's goes down.
        let coord = self.primitive.tex_coords[self.set][self.vertex(face, corner)];
        [coord.x, 1.0 - coord.y]
    }

    fn set_tangent(&mut self, tangent: Option<TangentSpace>, face: usize, corner: usize) {
        let normal = self.primitive.normals[self.vertex(face, corner)];
        let [x, y, z, w] = tangent.unwrap_or_default().tangent_encoded();
        // What has no area in the texture has no direction there: any one along the surface will do.
        let tangent = direction(Vec3::new(x, y, z)).unwrap_or_else(|| normal.any_orthonormal_vector());
        self.tangents[3 * face + corner] = tangent.extend(w);
    }
}
