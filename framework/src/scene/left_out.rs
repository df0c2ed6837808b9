//! Leaves out of a file what depends on extensions that are required and not supported, so that the rest can be told.

use super::error::Warnings;
use super::json::{is_supported, objects};
use serde_json::{Map, Value};

/// Leaves out the geometry, the animation channels and the skins that depend on such extensions: those that
/// have one of them, and those that read an accessor that has.
pub(super) fn leave_out(root: &mut Value, warnings: &Warnings) {
    let required = elements(&root["extensionsRequired"]).iter().filter_map(Value::as_str);
    let missing: Vec<String> = required.filter(|name| !is_supported(name)).map(str::to_owned).collect();
    for name in &missing {
        let rule = format!("{name} is required and not supported; what depends on it is left out");
        warnings.add("/extensionsRequired", rule);
    }
    let dependents = Dependents::new(root, missing);
    leave_out_geometry(root, &dependents);
    leave_out_channels(root, &dependents, warnings);
    leave_out_skins(root, &dependents, warnings);
}

/// What has an extension that is missing.
struct Dependents {
    extensions: Vec<String>,
    /// For each accessor whether it reads a buffer view that has one.
    accessors: Vec<bool>,
}

impl Dependents {
    fn new(root: &Value, extensions: Vec<String>) -> Self {
        let mut dependents = Dependents { extensions, accessors: Vec::new() };
        let views: Vec<bool> = elements(&root["bufferViews"]).iter().map(|view| dependents.has(view)).collect();
        let depends = |accessor: &Value| {
            let sparse = &accessor["sparse"];
            [accessor, &sparse["indices"], &sparse["values"]].iter().any(|part| is_set(&views, &part["bufferView"]))
        };
        dependents.accessors = elements(&root["accessors"]).iter().map(depends).collect();
        dependents
    }

    fn has(&self, object: &Value) -> bool {
        self.extensions.iter().any(|name| object["extensions"].get(name).is_some())
    }

    fn include(&self, primitive: &Value) -> bool {
        let attributes = primitive["attributes"].as_object().into_iter().flat_map(Map::values);
        self.has(primitive) || attributes.chain([&primitive["indices"]]).any(|accessor| self.reads(accessor))
    }

    fn reads(&self, accessor: &Value) -> bool {
        is_set(&self.accessors, accessor)
    }
}

fn leave_out_geometry(root: &mut Value, dependents: &Dependents) {
    for mesh in objects(root.get_mut("meshes")) {
        for primitive in mesh.get_mut("primitives").and_then(Value::as_array_mut).into_iter().flatten() {
            if !dependents.include(primitive) {
                continue;
            }
            if let Some(primitive) = primitive.as_object_mut() {
                primitive.insert("attributes".into(), Map::new().into());
                primitive.remove("indices");
                primitive.remove("targets");
            }
        }
    }
}

fn leave_out_channels(root: &mut Value, dependents: &Dependents, warnings: &Warnings) {
    for (index, animation) in objects(root.get_mut("animations")).enumerate() {
        let samplers = animation.get("samplers").map_or(&[][..], elements);
        let reads = |sampler: &Value| dependents.reads(&sampler["input"]) || dependents.reads(&sampler["output"]);
        let samplers: Vec<bool> = samplers.iter().map(reads).collect();
        if let Some(channels) = animation.get_mut("channels").and_then(Value::as_array_mut) {
            let before = channels.len();
            channels.retain(|channel| !is_set(&samplers, &channel["sampler"]));
            let at = format!("/animations/{index}/channels");
            let rule = "a channel depends on an extension that is not supported and is left out";
            warnings.add_count(before - channels.len(), at, rule);
        }
    }
}

/// Leaves out skins from the first on whose matrices cannot be read: indices of those before it stay what they are.
fn leave_out_skins(root: &mut Value, dependents: &Dependents, warnings: &Warnings) {
    let Some(skins) = root.get_mut("skins").and_then(Value::as_array_mut) else {
        return;
    };
    let Some(first) = skins.iter().position(|skin| dependents.reads(&skin["inverseBindMatrices"])) else {
        return;
    };
    let left_out = first as u64..skins.len() as u64;
    skins.truncate(first);
    let rule = "depends on an extension that is not supported; skins from here on are left out, with their meshes";
    warnings.add(format!("/skins/{first}"), rule);
    for node in objects(root.get_mut("nodes")) {
        let skin = node.get("skin").and_then(Value::as_u64);
        if skin.is_some_and(|skin| left_out.contains(&skin)) {
            node.remove("skin");
            node.remove("mesh");
        }
    }
}

fn elements(array: &Value) -> &[Value] {
    array.as_array().map_or(&[], Vec::as_slice)
}

/// What an index of the file finds in a list.
fn is_set(list: &[bool], index: &Value) -> bool {
    let index = index.as_u64().and_then(|index| usize::try_from(index).ok());
    index.and_then(|index| list.get(index).copied()).unwrap_or(false)
}
