//! A model of many nodes, to be measured.

use super::file::File;
use serde_json::json;

/// A GLB of so many nodes, each with a small mesh of its own and a channel of a clip that turns it.
pub(crate) fn nodes(count: usize) -> Vec<u8> {
    let mut file = File::default();
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for node in 0..count {
        let corners = (0..24).flat_map(|corner| [corner as f32, node as f32, (corner / 3) as f32]);
        let attributes = json!({
            "POSITION": file.floats("VEC3", corners),
            "NORMAL": file.floats("VEC3", (0..24).flat_map(|_| [0.0, 1.0, 0.0])),
        });
        let indices =
            file.accessor("SCALAR", 5123, &(0..36_u16).flat_map(|i| (i % 24).to_le_bytes()).collect::<Vec<_>>());
        file.meshes.push(json!({ "primitives": [{ "attributes": attributes, "indices": indices }] }));
        file.nodes.push(json!({ "name": format!("node {node}"), "mesh": node, "translation": [node, 0, 0] }));
        let input = file.floats("SCALAR", (0..10).map(|key| key as f32));
        let output = file.floats("VEC4", (0..10).flat_map(|key| [0.0, key as f32 * 0.1, 0.0, 1.0]));
        samplers.push(json!({ "input": input, "output": output }));
        channels.push(json!({ "sampler": node, "target": { "node": node, "path": "rotation" } }));
    }
    file.glb(json!({ "animations": [{ "samplers": samplers, "channels": channels }] }))
}
