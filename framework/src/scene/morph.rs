//! Loading of morph targets and their weights.

use super::error::Problem;
use super::import::Context;
use super::primitive::{Attributes, replace};
use super::{Mesh, MorphTarget, Node};
use glam::Vec3;
use gltf::json::Index;
use gltf::json::accessor::{Accessor, Type};
use gltf::json::mesh as json;

/// The morph targets of a primitive of `count` vertices.
pub(super) fn import_targets(attributes: &Attributes, count: usize) -> Result<Vec<MorphTarget>, Problem> {
    let targets = attributes.json.targets.iter().flatten().enumerate();
    targets.map(|(index, json)| import_target(attributes, index, json, count)).collect()
}

fn import_target(
    attributes: &Attributes,
    index: usize,
    json: &json::MorphTarget,
    count: usize,
) -> Result<MorphTarget, Problem> {
    let context = attributes.context;
    let vectors = |semantic: &str, accessor: Option<Index<Accessor>>| -> Result<Vec<Vec3>, Problem> {
        let at = format_args!("{}/targets/{index}/{semantic}", attributes.at);
        let Some(accessor) = attributes.matching(accessor, at, count)? else {
            return Ok(Vec::new());
        };
        let mut vectors = context.accessors.floats(at, accessor, Type::Vec3, Vec3::from_array)?;
        let bad = replace(&mut vectors, |vector| !vector.is_finite(), Vec3::ZERO);
        context.warnings.add_count(bad, at, "a displacement is not finite; none is used");
        Ok(vectors)
    };
    Ok(MorphTarget {
        positions: vectors("POSITION", json.positions)?,
        normals: vectors("NORMAL", json.normals)?,
        tangents: vectors("TANGENT", json.tangents)?,
    })
}

/// Gives every node the weights of its mesh's morph targets at rest.
pub(super) fn import_weights(context: &Context, nodes: &mut [Node], meshes: &[Mesh]) {
    for (mesh, imported) in meshes.iter().enumerate() {
        let counts = || imported.primitives.iter().map(|primitive| primitive.morph_targets.len());
        if counts().min() != counts().max() {
            let at = format!("/meshes/{mesh}/primitives");
            context
                .warnings
                .add(at, "do not all have the same number of morph targets; those that lack some stay at rest");
        }
    }
    for (index, node) in nodes.iter_mut().enumerate() {
        let Some(mesh) = node.mesh else { continue };
        let count = meshes[mesh].primitives.iter().map(|primitive| primitive.morph_targets.len()).max().unwrap_or(0);
        let (json, mesh_json) = (&context.root.nodes[index], &context.root.meshes[mesh]);
        let (at, weights) = match (&json.weights, &mesh_json.weights) {
            (Some(weights), _) => (format!("/nodes/{index}/weights"), &weights[..]),
            (None, Some(weights)) => (format!("/meshes/{mesh}/weights"), &weights[..]),
            (None, None) => (String::new(), &[][..]),
        };
        if !at.is_empty() && weights.len() != count {
            let message = format!("has {} weights for {count} morph targets", weights.len());
            context.warnings.add(&at, message);
        }
        node.weights = weights.to_vec();
        node.weights.resize(count, 0.0);
        let bad = replace(&mut node.weights, |weight| !weight.is_finite(), 0.0);
        context.warnings.add_count(bad, at, "a weight is not finite; 0 is used");
    }
}
