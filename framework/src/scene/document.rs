//! What is read of the JSON of a file.

use gltf::json::accessor::{GenericComponentType, Type, sparse::Sparse};
use gltf::json::validation::{Checked, USize64};
use gltf::json::{self, Index, buffer, extensions, texture};
use serde::Deserialize;

/// The top-level object of glTF 2.0 (section 5.17): the `gltf` crate's `Root` without what is not looked at.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub(super) asset: json::Asset,
    #[serde(default)]
    pub(super) extensions_used: Vec<String>,
    #[serde(default)]
    pub(super) extensions_required: Vec<String>,
    pub(super) extensions: Option<extensions::root::Root>,
    pub(super) scene: Option<Index<json::Scene>>,
    #[serde(default)]
    pub(super) scenes: Vec<json::Scene>,
    #[serde(default)]
    pub(super) nodes: Vec<json::Node>,
    #[serde(default)]
    pub(super) meshes: Vec<json::Mesh>,
    #[serde(default)]
    pub(super) skins: Vec<json::Skin>,
    #[serde(default)]
    pub(super) animations: Vec<json::Animation>,
    #[serde(default)]
    pub(super) cameras: Vec<json::Camera>,
    #[serde(default)]
    pub(super) materials: Vec<json::Material>,
    #[serde(default)]
    pub(super) textures: Vec<json::Texture>,
    #[serde(default)]
    pub(super) samplers: Vec<texture::Sampler>,
    #[serde(default)]
    pub(super) images: Vec<json::Image>,
    #[serde(default)]
    pub(super) accessors: Vec<Accessor>,
    #[serde(default)]
    pub(super) buffer_views: Vec<BufferView>,
    #[serde(default)]
    pub(super) buffers: Vec<json::Buffer>,
}

/// An accessor (section 5.1) without its bounds, which files state wrongly: they are found by looking at the elements.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub(super) buffer_view: Option<Index<buffer::View>>,
    pub(super) byte_offset: Option<USize64>,
    pub(super) component_type: Checked<GenericComponentType>,
    #[serde(default)]
    pub(super) normalized: bool,
    pub(super) count: USize64,
    #[serde(rename = "type")]
    pub(super) type_: Checked<Type>,
    pub(super) sparse: Option<Box<Sparse>>,
}

/// A buffer view (section 5.11).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub(super) buffer: Index<json::Buffer>,
    pub(super) byte_offset: Option<USize64>,
    pub(super) byte_length: USize64,
    pub(super) byte_stride: Option<buffer::Stride>,
    pub(super) extensions: Option<Box<extensions::buffer::View>>,
}
