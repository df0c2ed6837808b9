//! Writes the files that the fuzzer begins with, `framework/fuzz/seeds`: each kind of thing that the loader reads, in few
//! bytes.

use std::io::Cursor;
use std::path::Path;

use anyhow::Result;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};
use serde_json::{Value, json};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/seeds");

// Component types.
const I8: u32 = 5120;
const U8: u32 = 5121;
const I16: u32 = 5122;
const U16: u32 = 5123;
const U32: u32 = 5125;
const F32: u32 = 5126;

/// Positions of a quad, and two triangles that it is made of.
const QUAD: [f32; 12] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.5];
const TRIANGLES: [u8; 6] = [0, 1, 2, 0, 2, 3];

fn main() -> Result<()> {
    write("empty.gltf", json!({ "asset": { "version": "2.0" } }).to_string().as_bytes())?;
    write("nodes.gltf", &nodes().gltf())?;
    write("accessors.gltf", &accessors().gltf())?;
    write("sparse.glb", &sparse().glb())?;
    write("modes.glb", &modes().glb())?;
    write("skin.glb", &skin().glb())?;
    write("morph.glb", &morph().glb())?;
    write("animation.glb", &animation().glb())?;
    write("cameras_lights.gltf", &cameras_and_lights().gltf())?;
    for (name, image) in images()? {
        write(&format!("image_{name}.glb"), &textured(&image).glb())?;
    }
    write("material.glb", &material()?.glb())?;
    write("meshopt.glb", &meshopt()?.glb())?;
    write("draco_sequential.glb", &draco(include_bytes!("../tests/data/sequential.drc")).glb())?;
    write("draco_edgebreaker.glb", &draco(include_bytes!("../tests/data/edgebreaker.drc")).glb())
}

fn write(name: &str, bytes: &[u8]) -> Result<()> {
    std::fs::create_dir_all(FOLDER)?;
    Ok(std::fs::write(Path::new(FOLDER).join(name), bytes)?)
}

/// A file that is being made. All data is in its first buffer.
struct File {
    fields: Value,
    data: Vec<u8>,
}

impl File {
    fn new() -> File {
        let fields = json!({ "asset": { "version": "2.0" }, "accessors": [], "bufferViews": [] });
        File { fields, data: Vec::new() }
    }

    /// Appends to an array of the file, and tells where.
    fn push(&mut self, array: &str, element: Value) -> usize {
        if self.fields[array].is_null() {
            self.fields[array] = json!([]);
        }
        let elements = self.fields[array].as_array_mut().expect("it is one");
        elements.push(element);
        elements.len() - 1
    }

    fn view(&mut self, bytes: &[u8]) -> usize {
        let offset = self.data.len();
        self.data.extend(bytes);
        self.data.resize(self.data.len().next_multiple_of(4), 0);
        self.push("bufferViews", json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() }))
    }

    fn accessor(&mut self, type_: &str, component: u32, bytes: &[u8]) -> usize {
        let size = match component {
            I8 | U8 => 1,
            I16 | U16 => 2,
            _ => 4,
        };
        let components = match type_ {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let view = self.view(bytes);
        let count = bytes.len() / size / components;
        self.push("accessors", json!({ "bufferView": view, "componentType": component, "count": count, "type": type_ }))
    }

    fn floats(&mut self, type_: &str, values: &[f32]) -> usize {
        self.accessor(type_, F32, &floats(values))
    }

    /// A mesh of these primitives on a node of its own, which is returned.
    fn mesh(&mut self, primitives: Value) -> usize {
        let mesh = self.push("meshes", json!({ "primitives": primitives }));
        self.push("nodes", json!({ "mesh": mesh }))
    }

    fn gltf(mut self) -> Vec<u8> {
        let uri = format!("data:application/octet-stream;base64,{}", BASE64_STANDARD.encode(&self.data));
        self.fields["buffers"] = json!([{ "byteLength": self.data.len(), "uri": uri }]);
        self.fields.to_string().into_bytes()
    }

    fn glb(mut self) -> Vec<u8> {
        self.fields["buffers"] = json!([{ "byteLength": self.data.len() }]);
        let mut json = self.fields.to_string().into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        let mut file = b"glTF".to_vec();
        file.extend(words(&[2, (28 + json.len() + self.data.len()) as u32, json.len() as u32]));
        file.extend([b"JSON", &json[..]].concat());
        file.extend(words(&[self.data.len() as u32]));
        file.extend([b"BIN\0", &self.data[..]].concat());
        file
    }
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Several roots and scenes, a matrix, a mirror, names and extras.
fn nodes() -> File {
    let mut file = File::new();
    let positions = file.floats("VEC3", &QUAD);
    file.mesh(json!([{ "mode": 5, "attributes": { "POSITION": positions } }]));
    let turn = [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 1];
    let parent = file.push("nodes", json!({ "name": "parent", "children": [0, 2], "matrix": turn }));
    file.push("nodes", json!({ "mesh": 0, "scale": [-1, 2, 1], "rotation": [0, 0.6, 0, 0.8], "extras": { "a": [1] } }));
    file.push("nodes", json!({ "translation": [1, 2.5, -3e0] }));
    file.push("scenes", json!({ "nodes": [3] }));
    file.push("scenes", json!({ "name": "main", "nodes": [parent, 3] }));
    file.fields["scene"] = json!(1);
    file
}

/// Points of every type of component, normalized or not, interleaved, and without data.
fn accessors() -> File {
    let mut file = File::new();
    let bytes: Vec<u8> = (0..24).map(|byte| byte * 10).collect();
    let mut primitives = Vec::new();
    for component in [I8, U8, I16, U16, F32] {
        let size = if component == F32 { 24 } else { 12 };
        let accessor = file.accessor("VEC3", component, &bytes[..size]);
        file.fields["accessors"][accessor]["normalized"] = json!(component != F32);
        primitives.push(json!({ "mode": 0, "attributes": { "POSITION": accessor } }));
    }
    let view = file.view(&floats(&[0.5; 16]));
    file.fields["bufferViews"][view]["byteStride"] = json!(32);
    for (offset, semantic) in [(0, "POSITION"), (12, "NORMAL")] {
        let accessor = json!({
            "bufferView": view, "byteOffset": offset, "componentType": F32, "count": 2, "type": "VEC3"
        });
        let accessor = file.push("accessors", accessor);
        primitives.push(json!({ "mode": 0, "attributes": { "POSITION": accessor, semantic: accessor } }));
    }
    let zeros = file.push("accessors", json!({ "componentType": F32, "count": 2, "type": "VEC3" }));
    primitives.push(json!({ "mode": 1, "attributes": { "POSITION": zeros } }));
    file.mesh(primitives.into());
    file
}

/// Sparse positions with and without a base, whose indices have every type.
fn sparse() -> File {
    let mut file = File::new();
    let (base, values) = (file.view(&floats(&QUAD)), file.view(&floats(&[9.0; 6])));
    let mut primitives = Vec::new();
    let indices: [(u32, &[u8]); 3] = [(U8, &[1, 3]), (U16, &[0, 0, 2, 0]), (U32, &[1, 0, 0, 0, 2, 0, 0, 0])];
    for (component, indices) in indices {
        let indices = file.view(indices);
        let sparse = json!({
            "count": 2, "values": { "bufferView": values },
            "indices": { "bufferView": indices, "componentType": component },
        });
        let accessor = json!({ "componentType": F32, "count": 4, "type": "VEC3", "sparse": sparse });
        let mut with_base = accessor.clone();
        with_base["bufferView"] = json!(base);
        for accessor in [accessor, with_base] {
            let accessor = file.push("accessors", accessor);
            primitives.push(json!({ "mode": 5, "attributes": { "POSITION": accessor } }));
        }
    }
    file.mesh(primitives.into());
    file
}

/// Every mode, without indices and with each type of them.
fn modes() -> File {
    let mut file = File::new();
    let positions = file.floats("VEC3", &QUAD.repeat(2)[..18]);
    let indices = [
        file.accessor("SCALAR", U8, &TRIANGLES),
        file.accessor("SCALAR", U16, &TRIANGLES.map(|index| u16::from(index).to_le_bytes()).concat()),
        file.accessor("SCALAR", U32, &words(&TRIANGLES.map(u32::from))),
    ];
    let mut primitives = Vec::new();
    for mode in 0..7 {
        primitives.push(json!({ "mode": mode, "attributes": { "POSITION": positions } }));
        let indices = indices[mode % 3];
        primitives.push(json!({ "mode": mode, "attributes": { "POSITION": positions }, "indices": indices }));
    }
    file.mesh(primitives.into());
    file
}

/// Eight influences a vertex, of two joints that a clip moves.
fn skin() -> File {
    let mut file = File::new();
    let attributes = json!({
        "POSITION": file.floats("VEC3", &QUAD),
        "JOINTS_0": file.accessor("VEC4", U8, &[0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0]),
        "WEIGHTS_0": file.floats("VEC4", &[0.5, 0.25, 0.0, 0.0].repeat(4)),
        "JOINTS_1": file.accessor("VEC4", U16, &[1, 0, 0, 0, 1, 0, 0, 0].repeat(4)),
        "WEIGHTS_1": file.accessor("VEC4", U8, &[64, 0, 0, 0].repeat(4)),
    });
    let weights = attributes["WEIGHTS_1"].as_u64().expect("it is a number") as usize;
    file.fields["accessors"][weights]["normalized"] = json!(true);
    let node = file.mesh(json!([{ "mode": 5, "attributes": attributes }]));
    let mut matrices = [0.0; 32];
    (0..8).for_each(|i| matrices[i / 4 * 16 + i % 4 * 5] = 1.0);
    let inverse_bind_matrices = file.floats("MAT4", &matrices);
    file.fields["nodes"][node]["skin"] = json!(0);
    file.push("nodes", json!({ "children": [2] }));
    file.push("nodes", json!({ "translation": [0, 1, 0] }));
    file.push("skins", json!({ "joints": [1, 2], "skeleton": 1, "inverseBindMatrices": inverse_bind_matrices }));
    let (input, output) =
        (file.floats("SCALAR", &[0.0, 1.0]), file.floats("VEC4", &[0., 0., 0., 1., 0., 0.6, 0., 0.8]));
    let sampler = json!({ "input": input, "output": output });
    let channel = json!({ "sampler": 0, "target": { "node": 2, "path": "rotation" } });
    file.push("animations", json!({ "samplers": [sampler], "channels": [channel] }));
    file
}

/// Two morph targets, one of them sparse, whose weights two clips move.
fn morph() -> File {
    let mut file = File::new();
    let (positions, normals) = (file.floats("VEC3", &QUAD), file.floats("VEC3", &[0.0, 0.0, 1.0].repeat(4)));
    let tangents = file.floats("VEC4", &[1.0, 0.0, 0.0, -1.0].repeat(4));
    let (indices, values) = (file.view(&[2]), file.view(&floats(&[0.0, 0.0, 1.0])));
    let sparse = file.push(
        "accessors",
        json!({ "componentType": F32, "count": 4, "type": "VEC3", "sparse": {
            "count": 1, "values": { "bufferView": values }, "indices": { "bufferView": indices, "componentType": U8 },
        } }),
    );
    let targets = json!([{ "POSITION": sparse }, { "POSITION": positions, "NORMAL": normals, "TANGENT": normals }]);
    let attributes = json!({ "POSITION": positions, "NORMAL": normals, "TANGENT": tangents });
    file.mesh(json!([{ "mode": 5, "attributes": attributes, "targets": targets }]));
    file.fields["meshes"][0]["weights"] = json!([0.5, 0.25]);
    file.push("nodes", json!({ "mesh": 0, "weights": [1, 0] }));
    let input = file.floats("SCALAR", &[0.0, 0.5]);
    for (interpolation, count) in [("LINEAR", 4), ("CUBICSPLINE", 12)] {
        let output = file.floats("SCALAR", &vec![0.5; count]);
        let sampler = json!({ "input": input, "output": output, "interpolation": interpolation });
        let channel = json!({ "sampler": 0, "target": { "node": 0, "path": "weights" } });
        file.push("animations", json!({ "samplers": [sampler], "channels": [channel] }));
    }
    file
}

/// Each property by each interpolation.
fn animation() -> File {
    let mut file = File::new();
    file.push("nodes", json!({}));
    let input = file.floats("SCALAR", &[0.0, 1.0, 4.0]);
    for (interpolation, values) in [("STEP", 3), ("LINEAR", 3), ("CUBICSPLINE", 9)] {
        let vectors = file.floats("VEC3", &[1.0, -2.0, 3.0].repeat(values));
        let rotations = file.accessor("VEC4", I16, &[0x7f, 0x7f, 0, 0, 0, 0, 1, 2].repeat(values));
        file.fields["accessors"][rotations]["normalized"] = json!(true);
        let sampler = |output| json!({ "input": input, "output": output, "interpolation": interpolation });
        let channel = |sampler, path| json!({ "sampler": sampler, "target": { "node": 0, "path": path } });
        let clip = json!({
            "name": interpolation, "samplers": [sampler(vectors), sampler(rotations)],
            "channels": [channel(0, "translation"), channel(1, "rotation"), channel(0, "scale")],
        });
        file.push("animations", clip);
    }
    file
}

fn cameras_and_lights() -> File {
    let mut file = File::new();
    let perspective = json!({ "yfov": 0.8, "aspectRatio": 1.5, "znear": 0.1, "zfar": 10 });
    file.push("cameras", json!({ "type": "perspective", "perspective": perspective }));
    let orthographic = json!({ "xmag": 1, "ymag": 2, "znear": 0, "zfar": 10 });
    file.push("cameras", json!({ "type": "orthographic", "orthographic": orthographic }));
    let lights = json!([
        { "type": "directional", "color": [1, 0.5, 0.25], "intensity": 3 },
        { "type": "point", "range": 5 },
        { "type": "spot", "name": "lamp", "spot": { "innerConeAngle": 0.1, "outerConeAngle": 0.5 } },
    ]);
    file.fields["extensions"] = json!({ "KHR_lights_punctual": { "lights": lights } });
    file.fields["extensionsUsed"] = json!(["KHR_lights_punctual"]);
    for index in 0..3 {
        let light = json!({ "KHR_lights_punctual": { "light": index } });
        file.push("nodes", json!({ "camera": index % 2, "extensions": light }));
    }
    file
}

/// A quad with texture coordinates and a material of one texture.
fn textured(image: &[u8]) -> File {
    let mut file = File::new();
    let view = file.view(image);
    file.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
    file.push("textures", json!({ "source": 0 }));
    file.push("materials", json!({ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }));
    let attributes = json!({
        "POSITION": file.floats("VEC3", &QUAD),
        "TEXCOORD_0": file.floats("VEC2", &[0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0]),
    });
    let indices = file.accessor("SCALAR", U8, &TRIANGLES);
    file.mesh(json!([{ "attributes": attributes, "indices": indices, "material": 0 }]));
    file
}

/// All textures, factors and extensions of materials, two samplers, vertex colours and computed tangents.
fn material() -> Result<File> {
    let mut file = textured(&encode(noise(), ImageFormat::Png)?);
    let webp = file.view(&encode(noise(), ImageFormat::WebP)?);
    file.push("images", json!({ "bufferView": webp, "mimeType": "image/webp" }));
    let uri = format!("data:image/jpeg;base64,{}", BASE64_STANDARD.encode(encode(noise(), ImageFormat::Jpeg)?));
    file.push("images", json!({ "uri": uri }));
    file.push("textures", json!({ "sampler": 0, "extensions": { "EXT_texture_webp": { "source": 1 } } }));
    file.push("textures", json!({ "sampler": 1, "source": 2 }));
    file.push("samplers", json!({ "magFilter": 9728, "minFilter": 9985, "wrapS": 33071, "wrapT": 33648 }));
    file.push("samplers", json!({ "magFilter": 9729, "minFilter": 9729 }));
    let transform = json!({ "offset": [0.1, 0.2], "rotation": 0.5, "scale": [2, 3], "texCoord": 1 });
    file.fields["materials"][0] = json!({
        "name": "all", "alphaMode": "MASK", "alphaCutoff": 0.4, "doubleSided": true, "emissiveFactor": [1, 0.5, 0],
        "pbrMetallicRoughness": {
            "baseColorFactor": [1, 0.5, 0.25, 0.5], "metallicFactor": 0.5, "roughnessFactor": 0.25,
            "baseColorTexture": { "index": 0, "extensions": { "KHR_texture_transform": transform } },
            "metallicRoughnessTexture": { "index": 1, "texCoord": 1 },
        },
        "normalTexture": { "index": 2, "scale": 0.8 },
        "occlusionTexture": { "index": 1, "strength": 0.5 },
        "emissiveTexture": { "index": 2 },
        "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 4 } },
    });
    file.push("materials", json!({ "alphaMode": "BLEND", "extensions": { "KHR_materials_unlit": {} } }));
    file.fields["extensionsUsed"] = json!([
        "EXT_texture_webp",
        "KHR_texture_transform",
        "KHR_materials_emissive_strength",
        "KHR_materials_unlit",
        "KHR_materials_clearcoat",
    ]);
    let (coords, colors) = (file.accessor("VEC2", U16, &[0x55; 16]), file.accessor("VEC4", U8, &[200; 16]));
    for accessor in [coords, colors] {
        file.fields["accessors"][accessor]["normalized"] = json!(true);
    }
    let attributes = &mut file.fields["meshes"][0]["primitives"][0]["attributes"];
    attributes["TEXCOORD_1"] = json!(coords);
    attributes["COLOR_0"] = json!(colors);
    Ok(file)
}

fn noise() -> DynamicImage {
    RgbImage::from_fn(5, 3, |x, y| Rgb([(x * 50) as u8, (y * 80) as u8, (x * y * 13) as u8])).into()
}

fn encode(image: DynamicImage, format: ImageFormat) -> Result<Vec<u8>> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format)?;
    Ok(bytes.into_inner())
}

/// An image in each format.
fn images() -> Result<Vec<(&'static str, Vec<u8>)>> {
    let transparent = RgbaImage::from_fn(4, 4, |x, y| Rgba([(x * 60) as u8, (y * 60) as u8, 7, (x * y * 20) as u8]));
    let basic: Vec<u8> = [[200, 100, 50, 25], [1, 2, 3, 4]].map(solid_block).concat();
    Ok(vec![
        ("png", encode(transparent.clone().into(), ImageFormat::Png)?),
        ("png16", encode(DynamicImage::from(noise().into_rgb16()), ImageFormat::Png)?),
        ("png_grey", encode(DynamicImage::from(noise().into_luma_alpha8()), ImageFormat::Png)?),
        ("png_grey16", encode(DynamicImage::from(noise().into_luma16()), ImageFormat::Png)?),
        ("png_palette", png_with_palette()),
        ("jpeg", encode(noise(), ImageFormat::Jpeg)?),
        ("jpeg_grey", encode(DynamicImage::from(noise().into_luma8()), ImageFormat::Jpeg)?),
        ("webp", encode(transparent.clone().into(), ImageFormat::WebP)?),
        ("ktx2", ktx2(37, (4, 4), 0, 1, transparent.as_raw())),
        ("ktx2_zstd", ktx2(9, (3, 1), 2, 1, &zstandard(&[7, 8, 9]))),
        ("ktx2_uastc", ktx2(0, (5, 3), 0, 166, &basic)),
        ("ktx2_etc1s", include_bytes!("../tests/data/etc1s.ktx2").to_vec()),
    ])
}

/// Eight pixels of two bits each, with a palette of three colours of which one is transparent, interlaced.
fn png_with_palette() -> Vec<u8> {
    let chunk = |kind: &[u8], data: &[u8]| {
        let body = [kind, data].concat();
        [&(data.len() as u32).to_be_bytes()[..], &body, &crc32fast::hash(&body).to_be_bytes()].concat()
    };
    // Four of the seven passes of 4 x 2 pixels have any; each line is a filter's number and the pixels.
    let lines = [0, 0x00, 0, 0x40, 0, 0x60, 0, 0x24];
    let (mut a, mut b) = (1_u32, 0_u32);
    for line in lines {
        a += u32::from(line);
        b += a;
    }
    // Deflate's block of bytes as they are.
    let stored = [&[0x78, 1, 1, lines.len() as u8, 0, !(lines.len() as u8), 255][..], &lines].concat();
    let data = [stored, (b << 16 | a).to_be_bytes().to_vec()].concat();
    [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        chunk(b"IHDR", &[0, 0, 0, 4, 0, 0, 0, 2, 2, 3, 0, 0, 1]),
        chunk(b"PLTE", &[255, 0, 0, 0, 255, 0, 0, 0, 255]),
        chunk(b"tRNS", &[255, 128]),
        chunk(b"IDAT", &data),
        chunk(b"IEND", &[]),
    ]
    .concat()
}

/// UASTC's block of one colour: five bits of mode 8, then the channels.
fn solid_block(rgba: [u8; 4]) -> [u8; 16] {
    (u128::from(u32::from_le_bytes(rgba)) << 5 | 0x17).to_le_bytes()
}

/// A Zstandard frame that holds bytes as they are (RFC 8878).
fn zstandard(bytes: &[u8]) -> Vec<u8> {
    let block = (bytes.len() as u32) << 3 | 1;
    [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, bytes.len() as u8][..], &block.to_le_bytes()[..3], bytes].concat()
}

/// A KTX 2 file of one level.
fn ktx2(format: u32, size: (u32, u32), scheme: u32, model: u8, level: &[u8]) -> Vec<u8> {
    let mut file = b"\xabKTX 20\xbb\r\n\x1a\n".to_vec();
    file.extend(words(&[format, 1, size.0, size.1, 0, 0, 1, 1, scheme, 104, 44, 0, 0, 0, 0, 0, 0]));
    file.extend(words(&[148, 0, level.len() as u32, 0, level.len() as u32, 0]));
    let mut descriptor = [0; 44];
    (descriptor[12], descriptor[14], descriptor[31]) = (model, 2, 3);
    file.extend(descriptor);
    file.extend(level);
    file
}

/// Buffer views of each mode and some filters.
fn meshopt() -> Result<File> {
    let mut file = File::new();
    let quad: Vec<[f32; 3]> = QUAD.as_chunks().0.to_vec();
    let positions: Vec<u8> = meshopt::encode_vertex_buffer_level(&quad, 2, Some(0))?;
    let exponential =
        meshopt::encode_vertex_buffer(&meshopt::encode_filter_exp(&quad, 15, meshopt::EncodeExpMode::Separate))?;
    let normals = meshopt::encode_vertex_buffer(&[[0_i8, 0, 127, 0]; 4])?;
    let triangles = meshopt::encode_index_buffer(&TRIANGLES.map(u32::from), 4)?;
    let indices = meshopt::encode_index_sequence(&TRIANGLES.map(u32::from), 4)?;
    let mut compressed = |data: &[u8], type_: &str, (component, stride, count), mode: &str, filter: &str| {
        let source = file.view(data);
        let offset = file.fields["bufferViews"][source]["byteOffset"].clone();
        let extension = json!({
            "buffer": 0, "byteOffset": offset, "byteLength": data.len(), "byteStride": stride, "count": count,
            "mode": mode, "filter": filter,
        });
        let view = json!({
            "buffer": 0, "byteLength": stride * count, "extensions": { "EXT_meshopt_compression": extension },
        });
        let view = file.push("bufferViews", view);
        let accessor = json!({ "bufferView": view, "componentType": component, "count": count, "type": type_ });
        file.push("accessors", accessor)
    };
    let positions = compressed(&positions, "VEC3", (F32, 12, 4), "ATTRIBUTES", "NONE");
    let exponential = compressed(&exponential, "VEC3", (F32, 12, 4), "ATTRIBUTES", "EXPONENTIAL");
    let normals = compressed(&normals, "VEC3", (I8, 4, 4), "ATTRIBUTES", "OCTAHEDRAL");
    let triangles = compressed(&triangles, "SCALAR", (U16, 2, 6), "TRIANGLES", "NONE");
    let indices = compressed(&indices, "SCALAR", (U32, 4, 6), "INDICES", "NONE");
    let normals_view = file.fields["accessors"][normals]["bufferView"].as_u64().expect("it is a number") as usize;
    file.fields["bufferViews"][normals_view]["byteStride"] = json!(4);
    file.fields["accessors"][normals]["normalized"] = json!(true);
    file.mesh(json!([
        { "attributes": { "POSITION": positions, "NORMAL": normals }, "indices": triangles },
        { "attributes": { "POSITION": exponential }, "indices": indices },
    ]));
    file.fields["extensionsRequired"] = json!(["EXT_meshopt_compression"]);
    Ok(file)
}

/// A quad compressed by Draco, but for the weights of its joints.
fn draco(data: &[u8]) -> File {
    let mut file = File::new();
    let view = file.view(data);
    let mut accessor = |type_: &str, component: u32, count: usize| {
        file.push("accessors", json!({ "componentType": component, "count": count, "type": type_ }))
    };
    let (positions, joints) = (accessor("VEC3", F32, 4), accessor("VEC4", U16, 4));
    let indices = accessor("SCALAR", U16, 6);
    let weights = file.floats("VEC4", &[1.0, 0.0, 0.0, 0.0].repeat(4));
    let extension = json!({ "bufferView": view, "attributes": { "POSITION": 8, "JOINTS_0": 7 } });
    file.mesh(json!([{
        "attributes": { "POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights }, "indices": indices,
        "extensions": { "KHR_draco_mesh_compression": extension },
    }]));
    file.fields["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    file
}
