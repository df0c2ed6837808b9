//! Compressed buffer views and primitives: what their extensions say, decoded.

use super::accessor::{Accessors, Buffers, Decoded, budget, resolve};
use super::document::Document;
use super::error::{Problem, broken};
use super::{draco, meshopt};
use gltf::json::Index;
use gltf::json::accessor::{Accessor, ComponentType};
use gltf::json::mesh::{Primitive, Semantic};
use gltf::json::validation::Checked;
use rayon::prelude::*;
use serde_json::{Map, Value};
use std::collections::HashMap;

const MESHOPT: &[&str] = &["EXT_meshopt_compression", "KHR_meshopt_compression"];
const DRACO: &str = "KHR_draco_mesh_compression";

/// The bytes of the buffer views that are compressed, in parallel.
pub(super) fn decode_views(root: &Document, buffers: &Buffers) -> Result<Vec<Option<Vec<u8>>>, Problem> {
    let extensions = root.buffer_views.iter().map(|view| {
        let others = &view.extensions.as_ref()?.others;
        MESHOPT.iter().find_map(|name| Some((*name, others.get(*name)?.as_object()?)))
    });
    let extensions: Vec<_> = extensions.collect();
    if extensions.iter().all(Option::is_none) {
        return Ok(Vec::new());
    }
    let compressed = extensions.iter().zip(&root.buffer_views).filter(|(extension, _)| extension.is_some());
    let sum = compressed.fold(0_u64, |sum, (_, view)| sum.saturating_add(view.byte_length.0));
    if sum > budget(buffers.len()) {
        return Err(broken(
            "/bufferViews",
            format!("{sum} bytes of compressed views are out of proportion to the file"),
        ));
    }
    let decoded = extensions.into_par_iter().enumerate().map(|(index, extension)| {
        let Some((name, extension)) = extension else { return Ok(None) };
        let at = format!("/bufferViews/{index}/extensions/{name}");
        decode_view(buffers, &at, extension, root.buffer_views[index].byte_length.0).map(Some)
    });
    // First all, then the first error: which one is told does not depend on the threads.
    decoded.collect::<Vec<_>>().into_iter().collect()
}

fn decode_view(buffers: &Buffers, at: &str, extension: &Map<String, Value>, length: u64) -> Result<Vec<u8>, Problem> {
    let number = |field: &str| {
        let number = extension.get(field).and_then(Value::as_u64);
        number.ok_or_else(|| broken(format!("{at}/{field}"), "is not a whole number, and one is needed"))
    };
    let offset = if extension.contains_key("byteOffset") { number("byteOffset")? } else { 0 };
    let input = buffers.bytes(at, number("buffer")? as usize, offset, number("byteLength")?)?;
    let (count, stride) = (number("count")?, number("byteStride")?);
    if count.checked_mul(stride) != Some(length) {
        return Err(broken(at, "its count times its byteStride is not the buffer view's byteLength"));
    }
    let name = |field: &str| extension.get(field).and_then(Value::as_str);
    let mode = name("mode").and_then(meshopt::Mode::from_name);
    let mode = mode.ok_or_else(|| broken(format!("{at}/mode"), "is none of ATTRIBUTES, TRIANGLES and INDICES"))?;
    let filter = name("filter").map_or(Some(meshopt::Filter::None), meshopt::Filter::from_name);
    let filter = filter.ok_or_else(|| broken(format!("{at}/filter"), "is not a filter that the extension knows"))?;
    meshopt::decode(input, count as usize, stride as usize, mode, filter).map_err(|why| broken(at, why))
}

/// What accessors without a buffer view stand for where their primitive is compressed, by the index of the accessor.
pub(super) fn decode_primitives(
    root: &Document,
    buffers: &Buffers,
    accessors: &Accessors,
) -> Result<HashMap<usize, Decoded>, Problem> {
    let mut decoded = HashMap::new();
    for (mesh, json) in root.meshes.iter().enumerate() {
        for (place, primitive) in json.primitives.iter().enumerate() {
            let others = primitive.extensions.as_ref().map(|extensions| &extensions.others);
            if let Some(extension) = others.and_then(|others| others.get(DRACO)) {
                let at = format!("/meshes/{mesh}/primitives/{place}");
                let compressed = Compressed { root, buffers, accessors, at: &at, primitive, extension };
                compressed.decode(&mut decoded)?;
            }
        }
    }
    Ok(decoded)
}

/// A primitive that is compressed.
struct Compressed<'a> {
    root: &'a Document,
    buffers: &'a Buffers<'a>,
    accessors: &'a Accessors<'a>,
    at: &'a str,
    primitive: &'a Primitive,
    extension: &'a Value,
}

impl Compressed<'_> {
    fn decode(&self, decoded: &mut HashMap<usize, Decoded>) -> Result<(), Problem> {
        let at = format!("{}/extensions/{DRACO}", self.at);
        let mut wanted = Vec::new();
        for (semantic, &accessor) in &self.primitive.attributes {
            if let (Checked::Valid(semantic), Some(accessor)) = (semantic, self.without_view(accessor, decoded)?) {
                wanted.extend(self.unique_id(semantic).map(|id| (accessor, id)));
            }
        }
        let indices = self.primitive.indices.map(|indices| self.without_view(indices, decoded)).transpose()?.flatten();
        if wanted.is_empty() && indices.is_none() {
            return Ok(());
        }
        let view = self.extension["bufferView"].as_u64().and_then(|view| u32::try_from(view).ok());
        let view = view.ok_or_else(|| broken(format!("{at}/bufferView"), "is not an index, and one is needed"))?;
        let input = self.buffers.view(format_args!("{at}/bufferView"), Index::new(view))?;
        let ids: Vec<u32> = wanted.iter().map(|&(_, id)| id).collect();
        let geometry = draco::decode(input, &ids, self.accessors.left()).map_err(|why| broken(&at, why))?;
        for ((accessor, _), attribute) in wanted.into_iter().zip(geometry.attributes) {
            self.accessors.charge::<u8>(&at, attribute.bytes.len() as u64)?;
            let draco::Attribute { component_type: component, components, bytes } = attribute;
            decoded.insert(accessor, Decoded { component, components, bytes });
        }
        if let Some(accessor) = indices {
            let bytes: Vec<u8> = geometry.indices.iter().flat_map(|index| index.to_le_bytes()).collect();
            self.accessors.charge::<u8>(&at, bytes.len() as u64)?;
            decoded.insert(accessor, Decoded { component: ComponentType::U32, components: 1, bytes });
        }
        Ok(())
    }

    /// An accessor's index, if it has no data of its own and none has been decoded for it.
    fn without_view(
        &self,
        accessor: Index<Accessor>,
        decoded: &HashMap<usize, Decoded>,
    ) -> Result<Option<usize>, Problem> {
        let accessor = resolve(self.at, accessor, "accessors", self.root.accessors.len())?;
        let is_without = self.root.accessors[accessor].buffer_view.is_none() && !decoded.contains_key(&accessor);
        Ok(is_without.then_some(accessor))
    }

    /// The id that an attribute has in the compressed data.
    fn unique_id(&self, semantic: &Semantic) -> Option<u32> {
        let id = self.extension["attributes"].get(semantic.to_string())?.as_u64()?;
        u32::try_from(id).ok()
    }
}
