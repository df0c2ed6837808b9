//! Models that are made to be measured: a large one with textures, and one of many nodes.

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageFormat, RgbImage};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::io::Cursor;

/// Width and height of the textures of [`textured`].
const TEXTURE_SIZE: u32 = 2048;

/// Vertices along each side of a mesh of [`textured`].
const GRID: u32 = 300;

/// A GLB of more than 30 MB: three meshes of 90,000 vertices with all attributes but colours, and five textures in PNG and
/// JPEG, which the materials use in all slots.
pub(crate) fn textured() -> Vec<u8> {
    let mut file = File::default();
    let formats = [ImageFormat::Png, ImageFormat::Png, ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Jpeg];
    let images: Vec<Vec<u8>> =
        formats.par_iter().enumerate().map(|(seed, format)| image(seed as u32, *format)).collect();
    for (format, image) in formats.iter().zip(images) {
        let image = file.view(&image);
        let mime_type = format.to_mime_type();
        file.images.push(json!({ "bufferView": image, "mimeType": mime_type }));
    }
    for _ in 0..3 {
        let vertices = || (0..GRID * GRID).map(|vertex| (vertex % GRID, vertex / GRID));
        let height = |x: u32, y: u32| (x as f32 * 0.1).sin() * (y as f32 * 0.07).cos();
        let positions = vertices().flat_map(|(x, y)| [x as f32, height(x, y), y as f32]);
        let attributes = json!({
            "POSITION": file.floats("VEC3", positions),
            "NORMAL": file.floats("VEC3", vertices().flat_map(|(x, _)| [(x as f32 * 0.1).cos(), 1.0, 0.2])),
            "TANGENT": file.floats("VEC4", vertices().flat_map(|_| [1.0, 0.0, 0.0, 1.0])),
            "TEXCOORD_0": file.floats("VEC2", vertices().flat_map(|(x, y)| [x as f32, y as f32])),
        });
        let quads = (0..GRID - 1).flat_map(|y| (0..GRID - 1).map(move |x| y * GRID + x));
        let indices = quads.flat_map(|corner| {
            let below = corner + GRID;
            [corner, below, corner + 1, corner + 1, below, below + 1]
        });
        let indices = file.accessor("SCALAR", 5125, &indices.flat_map(u32::to_le_bytes).collect::<Vec<_>>());
        let material = file.meshes.len();
        file.meshes
            .push(json!({ "primitives": [{ "attributes": attributes, "indices": indices, "material": material }] }));
        file.nodes.push(json!({ "mesh": material }));
    }
    let texture = |index: usize| json!({ "index": index % 5 });
    let material = |first: usize| {
        json!({
            "pbrMetallicRoughness": { "baseColorTexture": texture(first), "metallicRoughnessTexture": texture(first + 1) },
            "normalTexture": texture(first + 2), "occlusionTexture": texture(first + 3),
            "emissiveTexture": texture(first + 4),
        })
    };
    let textures: Vec<Value> = (0..5).map(|source| json!({ "source": source })).collect();
    file.glb(json!({ "materials": [material(0), material(1), material(2)], "textures": textures }))
}

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

/// A picture of soft forms with a little noise, as photographs have it.
fn image(seed: u32, format: ImageFormat) -> Vec<u8> {
    let mut noise = seed + 1;
    let image = RgbImage::from_fn(TEXTURE_SIZE, TEXTURE_SIZE, |x, y| {
        // Xorshift: Marsaglia, "Xorshift RNGs", 2003.
        noise ^= noise << 13;
        noise ^= noise >> 17;
        noise ^= noise << 5;
        let form = ((x * (seed + 1)) as f32 * 0.01).sin() * (y as f32 * 0.013).cos() * 100.0 + 128.0;
        let channel = |shift: u32| (form as u8).wrapping_add((noise >> shift) as u8 & 15);
        image::Rgb([channel(0), channel(8), channel(16)])
    });
    let mut bytes = Cursor::new(Vec::new());
    let image = DynamicImage::from(image);
    let written = match format {
        ImageFormat::Jpeg => image.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, 90)),
        format => image.write_to(&mut bytes, format),
    };
    written.expect("memory can be written to");
    bytes.into_inner()
}

/// A file that is being made.
#[derive(Default)]
struct File {
    data: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    images: Vec<Value>,
    meshes: Vec<Value>,
    nodes: Vec<Value>,
}

impl File {
    fn view(&mut self, bytes: &[u8]) -> usize {
        let offset = self.data.len();
        self.data.extend(bytes);
        self.data.resize(self.data.len().next_multiple_of(4), 0);
        self.views.push(json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() }));
        self.views.len() - 1
    }

    fn accessor(&mut self, type_: &str, component: u32, bytes: &[u8]) -> usize {
        let components = if type_ == "SCALAR" { 1 } else { usize::from(type_.as_bytes()[3] - b'0') };
        let count = bytes.len() / components / if component == 5123 { 2 } else { 4 };
        let view = self.view(bytes);
        let mut accessor = json!({ "bufferView": view, "componentType": component, "count": count, "type": type_ });
        if type_ == "VEC3" {
            // Another loader demands them for positions.
            (accessor["min"], accessor["max"]) = (json!([0, 0, 0]), json!([1, 1, 1]));
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn floats(&mut self, type_: &str, values: impl Iterator<Item = f32>) -> usize {
        self.accessor(type_, 5126, &values.flat_map(f32::to_le_bytes).collect::<Vec<_>>())
    }

    /// The file, with these further fields.
    fn glb(self, mut fields: Value) -> Vec<u8> {
        fields["asset"] = json!({ "version": "2.0" });
        fields["buffers"] = json!([{ "byteLength": self.data.len() }]);
        fields["scenes"] = json!([{ "nodes": (0..self.nodes.len()).collect::<Vec<_>>() }]);
        let arrays = [
            ("bufferViews", self.views),
            ("accessors", self.accessors),
            ("images", self.images),
            ("meshes", self.meshes),
            ("nodes", self.nodes),
        ];
        arrays.into_iter().filter(|(_, array)| !array.is_empty()).for_each(|(name, array)| fields[name] = json!(array));
        let mut json = fields.to_string().into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        let word = |length: usize| (length as u32).to_le_bytes();
        let mut glb = b"glTF\x02\0\0\0".to_vec();
        glb.extend(word(28 + json.len() + self.data.len()));
        for (kind, chunk) in [(b"JSON", &json), (b"BIN\0", &self.data)] {
            glb.extend([&word(chunk.len())[..], kind, chunk].concat());
        }
        glb
    }
}
