//! A large model with textures, to be measured.

use super::file::File;
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
