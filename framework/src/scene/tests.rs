//! The loader as a whole, on small files written here.

#![allow(clippy::unwrap_used)] // A test may fail that way.

use super::*;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::path::Path;

/// Imports a file of the given fields, the first buffer of which holds `data`, with one view of all of it
/// before the views that the fields have.
fn import(fields: Value, data: &[u8]) -> Result<Scene, String> {
    import_for(Purpose::Draw(&TextureSlot::ALL), fields, data)
}

fn import_for(purpose: Purpose, mut fields: Value, data: &[u8]) -> Result<Scene, String> {
    let uri = format!("data:application/octet-stream;base64,{}", BASE64_STANDARD.encode(data));
    fields["asset"] = json!({ "version": "2.0" });
    fields["buffers"] = json!([{ "byteLength": data.len(), "uri": uri }]);
    let mut views = vec![json!({ "buffer": 0, "byteLength": data.len() })];
    views.extend(fields["bufferViews"].as_array().cloned().unwrap_or_default());
    fields["bufferViews"] = json!(views);
    Scene::from_bytes(fields.to_string().as_bytes(), Path::new(""), "test", purpose)
        .map_err(|problem| problem.to_string())
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Imports points whose positions are the first accessor.
fn import_points(accessor: Value, views: Value, data: &[u8]) -> Result<Primitive, String> {
    let mesh = json!({ "primitives": [{ "mode": 0, "attributes": { "POSITION": 0 } }] });
    let scene = import(json!({ "accessors": [accessor], "bufferViews": views, "meshes": [mesh] }), data)?;
    assert_eq!(scene.warnings, [""; 0]);
    Ok(scene.meshes[0].primitives[0].clone())
}

#[test]
fn accessors_may_be_interleaved() {
    let data = floats(&[9.0, 1.0, 2.0, 3.0, 9.0, 4.0, 5.0, 6.0]);
    let views = json!([{ "buffer": 0, "byteOffset": 0, "byteLength": 32, "byteStride": 16 }]);
    let accessor = json!({ "bufferView": 1, "byteOffset": 4, "componentType": 5126, "count": 2, "type": "VEC3" });
    let points = import_points(accessor.clone(), views.clone(), &data).unwrap();
    assert_eq!(points.positions, [Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, 5.0, 6.0)]);
    assert_eq!((points.topology, &points.indices[..]), (Topology::Points, &[0, 1][..]));

    for (field, value) in [("byteOffset", 8), ("count", 3)] {
        let mut accessor = accessor.clone();
        accessor[field] = json!(value);
        let error = import_points(accessor, views.clone(), &data).unwrap_err();
        assert!(error.starts_with("/accessors/0: ") && error.contains("not within /bufferViews/1"), "{error}");
    }
}

#[test]
fn integers_stand_for_floats() {
    // glTF 2.0, section 3.6.2.2: f = max(c / 127, -1), c / 255, max(c / 32767, -1), c / 65535.
    let cases: [(u32, &[u8], _, _); 4] = [
        (5120, &[127, 0x81, 0x80], [1.0, -1.0, -1.0], [127.0, -127.0, -128.0]),
        (5121, &[255, 51, 0], [1.0, 0.2, 0.0], [255.0, 51.0, 0.0]),
        (5122, &[0xff, 0x7f, 0x00, 0x80, 0x01, 0x80], [1.0, -1.0, -1.0], [32767.0, -32768.0, -32767.0]),
        (5123, &[0xff, 0xff, 0x33, 0x33, 0, 0], [1.0, 0.2, 0.0], [65535.0, 13107.0, 0.0]),
    ];
    for (component, data, normalized, plain) in cases {
        for (flag, expected) in [(true, normalized), (false, plain)] {
            let accessor =
                json!({ "bufferView": 0, "componentType": component, "normalized": flag, "count": 1, "type": "VEC3" });
            let points = import_points(accessor, json!([]), data).unwrap();
            assert!(
                points.positions[0].abs_diff_eq(Vec3::from_array(expected), 1e-7),
                "{component} {flag}: {points:?}"
            );
        }
    }
}

#[test]
fn sparse_accessors_replace_what_they_name() {
    for (component, indices) in [(5121, vec![1, 3]), (5123, vec![1, 0, 3, 0]), (5125, vec![1, 0, 0, 0, 3, 0, 0, 0])] {
        let mut data = floats(&[
            1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125, 0.125, 0.0, 0.0, 0.0,
        ]);
        data.extend(&indices);
        let views = json!([
            { "buffer": 0, "byteLength": 24 },
            { "buffer": 0, "byteOffset": 24, "byteLength": 48 },
            { "buffer": 0, "byteOffset": 72, "byteLength": indices.len() },
        ]);
        let sparse = json!({ "count": 2, "values": { "bufferView": 1 }, "indices": { "bufferView": 3, "componentType": component } });
        let without_base = json!({ "componentType": 5126, "count": 4, "type": "VEC3", "sparse": sparse });
        let mut with_base = without_base.clone();
        with_base["bufferView"] = json!(2);
        let (first, second) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, 5.0, 6.0));
        let points = import_points(without_base.clone(), views.clone(), &data).unwrap();
        assert_eq!(points.positions, [Vec3::ZERO, first, Vec3::ZERO, second]);
        let points = import_points(with_base, views.clone(), &data).unwrap();
        assert_eq!(points.positions, [Vec3::splat(0.5), first, Vec3::splat(0.125), second]);

        let mut too_small = without_base;
        too_small["count"] = json!(3);
        let error = import_points(too_small, views, &data).unwrap_err();
        assert_eq!(error, "/accessors/0/sparse/indices: index 3 is not below the count of 3");
    }
}

#[test]
fn small_files_do_not_fill_the_memory() {
    let zeros = |count: u64| json!({ "componentType": 5126, "count": count, "type": "VEC3" });
    assert_eq!(import_points(zeros(1000), json!([]), &[]).unwrap().positions, [Vec3::ZERO; 1000]);
    for count in [1 << 23, 1 << 31, u64::MAX] {
        let error = import_points(zeros(count), json!([]), &[]).unwrap_err();
        assert!(error.starts_with("/accessors/0: ") && error.contains("memory"), "{error}");
    }
    // Many primitives of one accessor add up.
    let primitives = vec![json!({ "mode": 0, "attributes": { "POSITION": 0 } }); 1000];
    let error =
        import(json!({ "accessors": [zeros(10_000)], "meshes": [{ "primitives": primitives }] }), &[]).unwrap_err();
    assert!(error.contains("memory"), "{error}");
}

/// Fields of a file with a quad of two triangles, and its data.
fn quad(attributes: Value, indices: [u16; 6]) -> (Value, Vec<u8>) {
    let mut data = floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
    data.extend(indices.iter().flat_map(|index| index.to_le_bytes()));
    let mut primitive = json!({ "attributes": { "POSITION": 0 }, "indices": 1 });
    for (semantic, accessor) in attributes.as_object().unwrap() {
        primitive["attributes"][semantic] = accessor.clone();
    }
    let fields = json!({
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3" },
            { "bufferView": 0, "byteOffset": 48, "componentType": 5123, "count": 6, "type": "SCALAR" },
        ],
        "meshes": [{ "primitives": [primitive] }],
    });
    (fields, data)
}

fn push(fields: &mut Value, array: &str, element: Value) {
    fields[array].as_array_mut().unwrap().push(element);
}

#[test]
fn missing_normals_are_flat() {
    let (fields, data) = quad(json!({}), [0, 1, 2, 0, 2, 3]);
    let scene = import(fields, &data).unwrap();
    let primitive = &scene.meshes[0].primitives[0];
    assert_eq!(primitive.source_vertices, [0, 1, 2, 0, 2, 3]);
    assert_eq!(primitive.indices, [0, 1, 2, 3, 4, 5]);
    assert_eq!(primitive.positions[4], Vec3::new(1.0, 1.0, 0.0));
    assert_eq!(primitive.normals, [Vec3::Z; 6]);
    assert_eq!(primitive.material, 0);
    assert_eq!(scene.materials.len(), 1, "the default material");
}

#[test]
fn indices_must_be_of_vertices() {
    let (fields, data) = quad(json!({}), [0, 1, 2, 0, 2, 4]);
    let error = import(fields, &data).unwrap_err();
    assert_eq!(error, "/meshes/0/primitives/0/indices: index 4 is not below the number of vertices, 4");
    let (fields, data) = quad(json!({}), [0, 1, 2, 0xffff, 2, 3]);
    assert!(import(fields, &data).unwrap_err().contains("primitive-restart"));
}

/// A skinned quad: the vertices' first influence is joint 1 with weight `weights[0]`, and so on.
fn skinned_quad(joints: [u8; 4], weights: [f32; 4]) -> Result<Scene, String> {
    let (mut fields, mut data) = quad(json!({ "JOINTS_0": 2, "WEIGHTS_0": 3 }), [0, 1, 2, 0, 2, 3]);
    push(
        &mut fields,
        "accessors",
        json!({ "bufferView": 0, "byteOffset": 60, "componentType": 5121, "count": 4, "type": "VEC4" }),
    );
    push(
        &mut fields,
        "accessors",
        json!({ "bufferView": 0, "byteOffset": 76, "componentType": 5126, "count": 4, "type": "VEC4" }),
    );
    data.extend([joints; 4].concat());
    data.extend([floats(&weights), floats(&weights), floats(&weights), floats(&weights)].concat());
    fields["nodes"] = json!([{ "mesh": 0, "skin": 0 }, {}, {}]);
    fields["skins"] = json!([{ "joints": [1, 2] }]);
    import(fields, &data)
}

#[test]
fn weights_sum_to_one() {
    let weights_of = |joints, weights| {
        let scene = skinned_quad(joints, weights).unwrap();
        let influences = scene.meshes[0].primitives[0].influences.clone().unwrap();
        assert_eq!(influences.weights.len(), 6 * 4, "the influences of split vertices");
        (influences.joints[..4].to_vec(), influences.weights[..4].to_vec(), scene.warnings)
    };
    let (_, weights, warnings) = weights_of([1, 0, 0, 0], [0.75, 0.25, 0.0, 0.0]);
    assert_eq!((&weights[..], warnings.len()), (&[0.75, 0.25, 0.0, 0.0][..], 0));
    let (_, weights, warnings) = weights_of([1, 0, 0, 0], [3.0, 1.0, 0.0, 0.0]);
    assert_eq!(weights, [0.75, 0.25, 0.0, 0.0]);
    assert!(warnings[0].starts_with("/meshes/0/primitives/0/attributes/WEIGHTS_0: ") && warnings[0].contains("sum"));
    let (_, weights, warnings) = weights_of([1, 0, 0, 0], [f32::NAN, -1.0, 0.0, 0.0]);
    assert_eq!((&weights[..], warnings.len()), (&[1.0, 0.0, 0.0, 0.0][..], 2));
    let (joints, weights, warnings) = weights_of([1, 2, 200, 0], [0.25, 0.75, 0.0, 0.0]);
    assert_eq!((&joints[..], &weights[..]), (&[1, 0, 0, 0][..], &[1.0, 0.0, 0.0, 0.0][..]));
    assert!(warnings[0].contains("JOINTS_0: a joint is not among the skin's 2"), "{warnings:?}");
}

#[test]
fn a_skin_without_inverse_bind_matrices_has_identities() {
    let scene = skinned_quad([0; 4], [1.0, 0.0, 0.0, 0.0]).unwrap();
    assert_eq!(scene.skins[0].inverse_bind_matrices, [Mat4::IDENTITY; 2]);
    assert_eq!(scene.skins[0].joints, [1, 2]);
}

#[test]
fn a_skin_has_joints() {
    let error = import(json!({ "nodes": [{}], "skins": [{ "joints": [0] }, { "joints": [] }] }), &[]).unwrap_err();
    assert_eq!(error, "/skins/1/joints: is empty, and a skin needs at least one joint");
}

fn nodes(fields: Value) -> Result<Scene, String> {
    import(fields, &[])
}

#[test]
fn the_scene_is_chosen() {
    let roots = |fields| {
        let scene = nodes(fields).unwrap();
        (scene.roots, scene.nodes.iter().map(|node| node.in_scene).collect::<Vec<_>>())
    };
    let three = json!([{}, { "children": [2] }, {}]);
    assert_eq!(roots(json!({ "nodes": three })), (vec![0, 1], vec![true; 3]));
    let scenes = json!([{ "nodes": [1] }, { "nodes": [0] }, {}]);
    assert_eq!(roots(json!({ "nodes": three, "scenes": scenes })), (vec![1], vec![false, true, true]));
    assert_eq!(roots(json!({ "nodes": three, "scenes": scenes, "scene": 1 })), (vec![0], vec![true, false, false]));
    assert_eq!(roots(json!({ "nodes": three, "scenes": scenes, "scene": 2 })), (vec![], vec![false; 3]));
    let error = nodes(json!({ "nodes": three, "scenes": scenes, "scene": 3 })).unwrap_err();
    assert_eq!(error, "/scene: refers to /scenes/3, but that array has length 3");
}

#[test]
fn nodes_form_trees() {
    let scene = nodes(json!({ "nodes": [{ "children": [2] }, { "children": [2, 3] }, {}, {}] })).unwrap();
    assert_eq!(scene.nodes[2].parent, Some(0));
    assert_eq!(scene.nodes[1].children, [3]);
    assert_eq!(scene.warnings, ["/nodes/1/children: node 2 is already a child of node 0 and stays there"]);
    // Node 0 hangs below the cycle of 1 and 2, and node 3 above it.
    let error =
        nodes(json!({ "nodes": [{}, { "children": [2, 0] }, { "children": [1] }, { "children": [1] }] })).unwrap_err();
    assert!(
        error == "/nodes/1: is its own descendant; nodes must not form a cycle" || error.starts_with("/nodes/2: "),
        "{error}"
    );
    assert!(nodes(json!({ "nodes": [{ "children": [0] }] })).is_err());
    // A chain as deep as the file is long: no recursion.
    let chain: Vec<Value> = (1..100_000).map(|child| json!({ "children": [child] })).chain([json!({})]).collect();
    let scene = nodes(json!({ "nodes": chain })).unwrap();
    assert_eq!(scene.node_order.last(), Some(&99_999));
    assert_eq!(Pose::new(&scene).world(99_999), Mat4::IDENTITY);
}

#[test]
fn bad_transforms_are_replaced() {
    let scene = nodes(json!({ "nodes": [
        { "rotation": [0, 0, 0, 0], "scale": [1e39, 1, 1], "translation": [0, 1e39, 0] },
        { "rotation": [0, 0, 3, 4] },
        { "matrix": [1e39, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] },
    ]}))
    .unwrap();
    let rotated = |rotation| Transform::Trs { translation: Vec3::ZERO, rotation, scale: Vec3::ONE };
    assert_eq!(scene.nodes[0].local, rotated(Quat::IDENTITY));
    assert_eq!(scene.nodes[1].local, rotated(Quat::from_xyzw(0.0, 0.0, 0.6, 0.8)));
    assert_eq!(scene.nodes[2].local, Transform::Matrix(Mat4::IDENTITY));
    assert_eq!(scene.warnings.len(), 4, "{:?}", scene.warnings);
}

/// An animation with one channel of three keys at 0, 1 and 2 s, of the given property and output.
fn animation(path: &str, interpolation: &str, output: Value, data: &[u8]) -> Result<Scene, String> {
    let mut bytes = floats(&[0.0, 1.0, 2.0]);
    bytes.extend(data);
    let fields = json!({
        "nodes": [{}, { "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] }],
        "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "SCALAR" }, output],
        "animations": [{
            "name": "wave",
            "samplers": [{ "input": 0, "output": 1, "interpolation": interpolation }],
            "channels": [
                { "sampler": 0, "target": { "node": 0, "path": path } },
                { "sampler": 0, "target": { "path": path } },
                { "sampler": 0, "target": { "node": 1, "path": path } },
            ],
        }],
    });
    import(fields, &bytes)
}

#[test]
fn rotations_may_be_integers() {
    let output = json!({ "bufferView": 0, "byteOffset": 12, "componentType": 5120, "normalized": true, "count": 3, "type": "VEC4" });
    let scene = animation("rotation", "LINEAR", output, &[0, 0, 0, 127, 0, 0, 90, 90, 0, 0, 0x81, 0]).unwrap();
    assert_eq!(scene.animations[0].duration, 2.0);
    assert_eq!((scene.animation_named("wave"), scene.animation_named("Wave")), (Some(0), None));
    assert_eq!(scene.animations[0].channels.len(), 1, "channels without a node or with a matrix are ignored");
    assert!(scene.warnings[0].contains("/channels/2/target/node: a node with a matrix"), "{:?}", scene.warnings);
    let mut pose = Pose::new(&scene);
    pose.evaluate(&scene, &[(0, 0.5)]);
    assert!(pose.world(0).abs_diff_eq(Mat4::from_rotation_z(std::f32::consts::FRAC_PI_4), 1e-6));
    // Between (0, 0, 1, 1) and (0, 0, -1, 0) the shorter way is on to half a turn.
    pose.evaluate(&scene, &[(0, 1.5)]);
    assert!(pose.world(0).abs_diff_eq(Mat4::from_rotation_z(0.75 * std::f32::consts::PI), 1e-6));
}

#[test]
fn outputs_have_a_value_for_each_key() {
    let output =
        |count| json!({ "bufferView": 0, "byteOffset": 12, "componentType": 5126, "count": count, "type": "VEC3" });
    let error = animation("scale", "LINEAR", output(2), &[0; 24]).unwrap_err();
    assert_eq!(error, "/animations/0/samplers/0/output: 2 values for 3 keys, which need 3");
    let error = animation("scale", "CUBICSPLINE", output(8), &[0; 96]).unwrap_err();
    assert!(error.contains("8 values for 3 keys, which need 9"), "{error}");
    assert!(animation("scale", "CUBICSPLINE", output(9), &[0; 108]).is_ok());
}

#[test]
fn weights_of_nothing_count_for_the_duration_alone() {
    let output = json!({ "bufferView": 0, "byteOffset": 12, "componentType": 5126, "count": 6, "type": "SCALAR" });
    let scene = animation("weights", "LINEAR", output, &[0; 24]).unwrap();
    assert_eq!((scene.animations[0].channels.len(), scene.animations[0].duration), (0, 2.0));
    assert_eq!(scene.warnings.len(), 1, "{:?}", scene.warnings);
}

#[test]
fn clips_are_laid_over_each_other() {
    let output = json!({ "bufferView": 0, "byteOffset": 12, "componentType": 5126, "count": 3, "type": "VEC3" });
    let scene =
        animation("translation", "STEP", output, &floats(&[1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 3.0, 0.0, 0.0])).unwrap();
    let mut pose = Pose::new(&scene);
    pose.evaluate(&scene, &[(0, 0.0), (0, 1.5)]);
    assert_eq!(pose.world(0), Mat4::from_translation(Vec3::X * 2.0));
    pose.evaluate(&scene, &[]);
    assert_eq!(pose.world(0), Mat4::IDENTITY, "the rest pose");
}

#[test]
fn materials_have_defaults() {
    let scene = import(
        json!({
            "images": [{}, {}],
            "samplers": [{ "minFilter": 9984, "magFilter": 9728, "wrapS": 33071, "wrapT": 33648 }],
            "textures": [{ "source": 1 }, { "sampler": 0 }],
            "materials": [
                { "alphaMode": "MASK", "doubleSided": true },
                { "alphaMode": "BLEND", "pbrMetallicRoughness": { "baseColorFactor": [1, 0.5, 0, 0.25], "baseColorTexture": { "index": 0, "texCoord": 1 } } },
            ],
        }),
        &[],
    )
    .unwrap();
    let [mask, blend, default] = &scene.materials[..] else { panic!("{:?}", scene.materials) };
    assert_eq!((mask.alpha_mode, mask.double_sided), (AlphaMode::Mask { cutoff: 0.5 }, true));
    assert_eq!((blend.alpha_mode, blend.base_color_factor), (AlphaMode::Blend, Vec4::new(1.0, 0.5, 0.0, 0.25)));
    let info = TextureInfo { texture: 0, tex_coord: 1, transform: Affine2::IDENTITY };
    assert_eq!(blend.texture(TextureSlot::BaseColor), Some(info));
    assert_eq!(
        (default.alpha_mode, default.base_color_factor, default.double_sided),
        (AlphaMode::Opaque, Vec4::ONE, false)
    );
    assert_eq!((scene.textures[0].image, scene.textures[1].image), (None, None));
    assert_eq!(scene.warnings, ["/images/1: has no data; the image is left out"]);
    let smooth = Sampler {
        mag_filter: Filter::Linear,
        min_filter: Filter::Linear,
        mipmap_filter: Some(Filter::Linear),
        wrap_u: Wrap::Repeat,
        wrap_v: Wrap::Repeat,
    };
    let sharp = Sampler {
        mag_filter: Filter::Nearest,
        min_filter: Filter::Nearest,
        mipmap_filter: Some(Filter::Nearest),
        wrap_u: Wrap::ClampToEdge,
        wrap_v: Wrap::MirroredRepeat,
    };
    assert_eq!((scene.textures[0].sampler, scene.textures[1].sampler), (smooth, sharp));
}

#[test]
fn vertices_to_inspect_are_those_of_the_file() {
    let (mut fields, data) = quad(json!({}), [0, 1, 2, 0, 2, 3]);
    fields["scenes"] = json!([{}, {}]);
    fields["extensionsUsed"] = json!(["KHR_mesh_quantization", "EXT_a"]);
    fields["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    let scene = import_for(Purpose::Inspect, fields, &data).unwrap();
    let primitive = &scene.meshes[0].primitives[0];
    assert_eq!((primitive.positions.len(), primitive.normals.len(), primitive.source_vertices.len()), (4, 0, 0));
    assert_eq!(primitive.indices, [0, 1, 2, 0, 2, 3]);
    assert_eq!(scene.scene_count, 2);
    assert_eq!(scene.extensions_used, ["KHR_mesh_quantization", "EXT_a"]);
    assert_eq!(scene.extensions_required, ["KHR_mesh_quantization"]);
    assert_eq!(scene.warnings, [""; 0]);
}

#[test]
fn what_depends_on_a_required_extension_is_left_out() {
    let (mut fields, data) = quad(json!({}), [0, 1, 2, 0, 2, 3]);
    let of_extension = json!({ "EXT_odd": {} });
    fields["extensionsRequired"] = json!(["EXT_odd"]);
    fields["bufferViews"] = json!([{ "buffer": 0, "byteLength": 60, "extensions": of_extension }]);
    push(&mut fields, "accessors", json!({ "bufferView": 1, "componentType": 5126, "count": 4, "type": "VEC3" }));
    for attributes in [json!({ "POSITION": 0 }), json!({ "POSITION": 0, "NORMAL": 2 })] {
        push(&mut fields["meshes"][0], "primitives", json!({ "attributes": attributes }));
    }
    fields["meshes"][0]["primitives"][1]["extensions"] = of_extension;
    fields["nodes"] = json!([{ "mesh": 0, "skin": 0 }, { "mesh": 0, "skin": 1 }]);
    fields["skins"] = json!([{ "joints": [1] }, { "joints": [0], "inverseBindMatrices": 2 }]);
    fields["animations"] = json!([{
        "samplers": [{ "input": 2, "output": 2 }],
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "scale" } }],
    }]);

    let error = import(fields.clone(), &data).unwrap_err();
    assert_eq!(error, "needs EXT_odd, which is not supported; export the model without it");
    let scene = import_for(Purpose::Inspect, fields, &data).unwrap();
    let vertices: Vec<usize> = scene.meshes[0].primitives.iter().map(|primitive| primitive.positions.len()).collect();
    assert_eq!(vertices, [4, 0, 0]);
    assert_eq!((scene.nodes[0].mesh, scene.nodes[1].mesh), (Some(0), None));
    assert_eq!((scene.skins.len(), scene.animations[0].channels.len()), (1, 0));
    let told = |text: &str| scene.warnings.iter().filter(|warning| warning.starts_with(text)).count();
    assert_eq!(told("/extensionsRequired: EXT_odd is required and not supported"), 1);
    assert_eq!(told("/meshes/0/primitives/1: has no POSITION that can be read"), 1);
    assert_eq!(told("/animations/0/channels: "), 1);
    assert_eq!(told("/skins/1: "), 1);
    assert_eq!(scene.warnings.len(), 4, "{:?}", scene.warnings);
}

#[test]
fn compressed_views_are_decoded() {
    // One element in version 0 of the format: the header, a byte for each of the element's, each 0 for "as the baseline",
    // and a tail of 32 bytes that ends with the baseline.
    let mut data = vec![0; 37];
    data[0] = 0xa0;
    data[33..].copy_from_slice(&2.5_f32.to_le_bytes());
    let meshopt = |count: u64, mode: &str| {
        let extension = json!({ "buffer": 0, "byteLength": 37, "count": count, "byteStride": 4, "mode": mode });
        let fields = json!({
            "extensionsRequired": ["EXT_meshopt_compression"],
            "bufferViews": [{ "buffer": 0, "byteLength": 4, "extensions": { "EXT_meshopt_compression": extension } }],
            "accessors": [{ "bufferView": 1, "componentType": 5126, "count": 1, "type": "SCALAR" }],
            "nodes": [{}],
            "animations": [{
                "samplers": [{ "input": 0, "output": 0 }],
                "channels": [{ "sampler": 0, "target": { "path": "weights" } }],
            }],
        });
        import(fields, &data)
    };
    assert_eq!(meshopt(1, "ATTRIBUTES").unwrap().animations[0].duration, 2.5);
    let at = "/bufferViews/1/extensions/EXT_meshopt_compression";
    for count in [2, u64::MAX] {
        assert!(meshopt(count, "ATTRIBUTES").unwrap_err().starts_with(&format!("{at}: its count")));
    }
    assert!(meshopt(1, "TRIANGLES").unwrap_err().starts_with(at));
    assert!(meshopt(1, "SQUARES").unwrap_err().starts_with(&format!("{at}/mode: ")));
}

#[test]
fn morph_targets_move_vertices() {
    let (mut fields, mut data) = quad(json!({}), [0, 1, 2, 0, 2, 3]);
    data.extend(floats(&[0.0, 1.0, 0.0, 1.0, 0.0, 3.0]));
    push(
        &mut fields,
        "accessors",
        json!({ "bufferView": 0, "byteOffset": 60, "componentType": 5126, "count": 2, "type": "SCALAR" }),
    );
    push(
        &mut fields,
        "accessors",
        json!({ "bufferView": 0, "byteOffset": 68, "componentType": 5126, "count": 4, "type": "SCALAR" }),
    );
    // The first target moves each vertex by its own position, the second one by nothing: an accessor without data.
    push(&mut fields, "accessors", json!({ "componentType": 5126, "count": 4, "type": "VEC3" }));
    fields["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": 0 }, { "POSITION": 4 }]);
    fields["meshes"][0]["weights"] = json!([0.5, 0.25]);
    fields["nodes"] = json!([{ "mesh": 0 }, { "mesh": 0, "weights": [2, 0] }, {}]);
    fields["animations"] = json!([{
        "samplers": [{ "input": 2, "output": 3 }],
        "channels": [{ "sampler": 0, "target": { "node": 1, "path": "weights" } }],
    }]);
    let scene = import(fields, &data).unwrap();
    let mut pose = Pose::new(&scene);
    assert_eq!([0, 1, 2].map(|node| pose.weights(node)), [&[0.5, 0.25][..], &[2.0, 0.0], &[]]);
    // Flat shaded, so its third vertex is (1, 1, 0).
    assert_eq!(pose.vertices(&scene, 0, 0).0[2], Vec3::new(1.5, 1.5, 0.0));
    pose.evaluate(&scene, &[(0, 0.5)]);
    assert_eq!(pose.weights(1), [0.0, 2.0]);
    pose.evaluate(&scene, &[]);
    pose.approach(&scene, &[(0, 1.0)], 0.25);
    assert_eq!(pose.weights(1), [1.5, 0.75]);
    assert_eq!(scene.warnings, [""; 0]);
}

/// What is read by many threads, as there is much of it, is told in the same order as what is read by one.
#[test]
fn threads_change_neither_warnings_nor_errors() {
    let meshes = |broken: &[usize]| {
        let mesh = |mesh: usize| match mesh % 10 {
            _ if broken.contains(&mesh) => json!({ "primitives": [{ "mode": 9, "attributes": {} }] }),
            3 => json!({ "primitives": [{ "mode": 0, "attributes": {} }] }),
            7 => json!({ "primitives": [{ "mode": 0, "attributes": { "POSITION": 0 } }] }),
            _ => json!({ "primitives": [{ "attributes": { "POSITION": 0 } }] }),
        };
        let nan = json!({ "bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3" });
        json!({ "accessors": [nan], "meshes": (0..200).map(mesh).collect::<Vec<_>>() })
    };
    let few = floats(&[f32::NAN; 12]);
    let many = [few.clone(), vec![0; 5 << 20]].concat();
    let [by_one, by_many] = [&few, &many].map(|data| import(meshes(&[]), data).unwrap().warnings);
    assert!(by_one.len() > 2 && by_one == by_many, "{by_one:?}\n{by_many:?}");
    for data in [few, many] {
        assert!(import(meshes(&[190, 77, 121]), &data).unwrap_err().starts_with("/meshes/77/primitives/0/mode: "));
    }
}

#[test]
fn each_morph_target_has_flat_normals_of_its_own() {
    let (mut fields, mut data) = quad(json!({}), [0, 1, 2, 0, 2, 3]);
    // Lifts the corner at (1, 1, 0), which both triangles have.
    data.extend(floats(&[[0.0; 6], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]].concat()));
    let lift = json!({ "bufferView": 0, "byteOffset": 60, "componentType": 5126, "count": 4, "type": "VEC3" });
    push(&mut fields, "accessors", lift);
    fields["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": 2 }, {}]);
    fields["nodes"] = json!([{ "mesh": 0 }, { "mesh": 0, "weights": [1, 1] }]);
    let scene = import(fields, &data).unwrap();
    let normals = |node| Pose::new(&scene).vertices(&scene, node, 0).1;
    assert_eq!(normals(0), [Vec3::Z; 6]);
    let lifted = [Vec3::new(0.0, -1.0, 1.0), Vec3::new(-1.0, 0.0, 1.0)].map(Vec3::normalize);
    for (found, expected) in normals(1).iter().zip([[lifted[0]; 3], [lifted[1]; 3]].concat()) {
        assert!(found.abs_diff_eq(expected, 1e-6), "{found}, not {expected}");
    }
    assert!(scene.meshes[0].primitives[0].morph_targets[1].normals.is_empty());
}

#[test]
fn clips_fade_into_each_other() {
    let output = json!({ "bufferView": 0, "byteOffset": 12, "componentType": 5126, "count": 3, "type": "VEC4" });
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let turned = floats(&[0.0, 0.0, 0.0, 1.0, 0.0, half, 0.0, half, 0.0, -half, 0.0, -half]);
    let scene = animation("rotation", "STEP", output, &turned).unwrap();
    let mut pose = Pose::new(&scene);
    let eighth = Mat4::from_rotation_y(std::f32::consts::FRAC_PI_4);
    // The second and the third key are one rotation: the shorter way from rest to it is the same.
    for time in [1.0, 2.0] {
        pose.evaluate(&scene, &[]);
        pose.approach(&scene, &[(0, time)], 0.5);
        assert!(pose.world(0).abs_diff_eq(eighth, 1e-6), "{}", pose.world(0));
    }
    // From there half of the rest of the way, and what is there already stays.
    pose.approach(&scene, &[(0, 1.0)], 0.5);
    assert!(pose.world(0).abs_diff_eq(Mat4::from_rotation_y(0.75 * std::f32::consts::FRAC_PI_2), 1e-6));
    pose.evaluate(&scene, &[(0, 1.0)]);
    pose.approach(&scene, &[(0, 1.0)], 0.5);
    assert!(pose.world(0).abs_diff_eq(eighth * eighth, 1e-6));
}

#[test]
fn colours_have_an_alpha() {
    let (mut fields, mut data) = quad(json!({ "COLOR_0": 2 }), [0, 1, 2, 0, 2, 3]);
    data.extend([255, 51, 0, 9].repeat(4));
    let color =
        |type_: &str| json!({ "bufferView": 1, "componentType": 5121, "normalized": true, "count": 4, "type": type_ });
    fields["bufferViews"] = json!([{ "buffer": 0, "byteOffset": 60, "byteLength": 16, "byteStride": 4 }]);
    for (type_, alpha) in [("VEC3", 1.0), ("VEC4", 9.0 / 255.0)] {
        let mut fields = fields.clone();
        push(&mut fields, "accessors", color(type_));
        let scene = import(fields, &data).unwrap();
        assert_eq!(scene.meshes[0].primitives[0].colors, [Vec4::new(1.0, 0.2, 0.0, alpha); 6]);
    }
}

#[test]
fn tangents_are_computed_for_normal_maps() {
    let (mut fields, mut data) = quad(json!({ "TEXCOORD_0": 2 }), [0, 1, 2, 0, 2, 3]);
    // Texture coordinates turned by a quarter: u grows along +Y, and v, which points down in glTF, along +X.
    data.extend(floats(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0]));
    push(
        &mut fields,
        "accessors",
        json!({ "bufferView": 0, "byteOffset": 60, "componentType": 5126, "count": 4, "type": "VEC2" }),
    );
    fields["meshes"][0]["primitives"][0]["material"] = json!(0);
    fields["textures"] = json!([{}]);
    fields["materials"] = json!([{ "normalTexture": { "index": 0 } }]);
    let tangents = |purpose| {
        let scene = import_for(purpose, fields.clone(), &data).unwrap();
        scene.meshes[0].primitives[0].tangents.clone()
    };
    // The bitangent points along the image's up, which is -X here: cross(+Z, +Y) = -X, so the handedness is 1.
    assert_eq!(tangents(Purpose::Draw(&TextureSlot::ALL)), [Vec4::new(0.0, 1.0, 0.0, 1.0); 6]);
    assert!(tangents(Purpose::Draw(&[TextureSlot::BaseColor])).is_empty());
    assert!(tangents(Purpose::Inspect).is_empty());
}

#[test]
fn materials_have_five_textures_and_extensions() {
    let quarter = std::f32::consts::FRAC_PI_2;
    let transform = json!({ "offset": [0, 1], "rotation": quarter, "scale": [0.5, 0.5], "texCoord": 1 });
    let info = |index: usize| json!({ "index": index, "extensions": { "KHR_texture_transform": transform } });
    let scene = import(
        json!({
            "images": [{}, {}],
            "textures": [{}, {}, { "source": 0, "extensions": { "EXT_texture_webp": { "source": 1 } } }],
            "materials": [{
                "pbrMetallicRoughness": {
                    "baseColorTexture": { "index": 0 }, "metallicRoughnessTexture": info(1),
                    "metallicFactor": 0.25, "roughnessFactor": 7,
                },
                "normalTexture": { "index": 2, "scale": -2.5, "extensions": { "KHR_texture_transform": transform } },
                "occlusionTexture": { "index": 1, "strength": 0.5 },
                "emissiveTexture": { "index": 2 },
                "emissiveFactor": [0.5, 1, 0],
                "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 4 }, "KHR_materials_unlit": {} },
            }],
        }),
        &[],
    )
    .unwrap();
    let material = &scene.materials[0];
    assert_eq!((material.metallic_factor, material.roughness_factor), (0.25, 1.0));
    assert_eq!((material.normal_scale, material.occlusion_strength), (-2.5, 0.5));
    assert_eq!((material.emissive_factor, material.unlit), (Vec3::new(2.0, 4.0, 0.0), true));
    let textures = TextureSlot::ALL.map(|slot| material.texture(slot).map(|info| (info.texture, info.tex_coord)));
    assert_eq!(textures, [Some((0, 0)), Some((1, 1)), Some((2, 1)), Some((1, 0)), Some((2, 0))]);
    // The extension's own example: the lower left quadrant of the image, turned clockwise by a quarter.
    let transform = material.texture(TextureSlot::Normal).unwrap().transform;
    for (from, to) in [([0.0, 0.0], [0.0, 1.0]), ([1.0, 0.0], [0.0, 0.5]), ([0.0, 1.0], [0.5, 1.0])] {
        assert!(transform.transform_point2(from.into()).abs_diff_eq(to.into(), 1e-6), "{from:?}");
    }
    assert_eq!(scene.textures[2].image, None, "image 1 has no data, and the extension's comes first");
    let default = scene.materials.last().unwrap();
    assert_eq!((default.metallic_factor, default.roughness_factor, default.normal_scale), (1.0, 1.0, 1.0));
}

#[test]
fn cameras_and_lights_hang_on_nodes() {
    let scene = import(
        json!({
            "cameras": [
                { "type": "perspective", "perspective": { "yfov": 0.7, "znear": 0.01, "aspectRatio": 1.5 } },
                { "type": "orthographic", "orthographic": { "xmag": 2, "ymag": 1, "znear": 0, "zfar": 9 } },
                { "type": "perspective", "perspective": { "yfov": -1, "znear": 0, "zfar": -3 } },
            ],
            "extensions": { "KHR_lights_punctual": { "lights": [
                { "type": "directional", "intensity": 3 },
                { "type": "spot", "color": [1, 0.5, 0], "range": 4, "spot": { "outerConeAngle": 0.5 } },
            ] } },
            "nodes": [{ "camera": 1 }, { "extensions": { "KHR_lights_punctual": { "light": 1 } } }],
        }),
        &[],
    )
    .unwrap();
    let perspective = Projection::Perspective { yfov: 0.7, aspect_ratio: Some(1.5), znear: 0.01, zfar: None };
    assert_eq!(scene.cameras[0].projection, perspective);
    let orthographic = Projection::Orthographic { xmag: 2.0, ymag: 1.0, znear: 0.0, zfar: 9.0 };
    assert_eq!(scene.cameras[1].projection, orthographic);
    assert_eq!((scene.nodes[0].camera, scene.nodes[1].light), (Some(1), Some(1)));
    assert_eq!((scene.lights[0].kind, scene.lights[0].intensity), (LightKind::Directional, 3.0));
    let spot = LightKind::Spot { range: Some(4.0), inner_cone_angle: 0.0, outer_cone_angle: 0.5 };
    assert_eq!((scene.lights[1].kind, scene.lights[1].color), (spot, Vec3::new(1.0, 0.5, 0.0)));
    assert_eq!(scene.warnings.len(), 2, "{:?}", scene.warnings);
    for (fields, at) in [
        (json!({ "cameras": [{ "type": "perspective" }] }), "/cameras/0: "),
        (json!({ "nodes": [{ "camera": 0 }] }), "/nodes/0/camera: "),
        (json!({ "nodes": [{ "extensions": { "KHR_lights_punctual": { "light": 0 } } }] }), "/nodes/0/extensions/"),
    ] {
        let error = import(fields, &[]).unwrap_err();
        assert!(error.starts_with(at), "{error}");
    }
}

#[test]
fn errors_name_the_file() {
    let error = Scene::load(Path::new("no/such.gltf")).unwrap_err().to_string();
    assert!(error.starts_with("no/such.gltf: cannot be read: "), "{error}");
    let error = Scene::load(Path::new(".")).unwrap_err().to_string();
    assert_eq!(error, ".: cannot be read: it is not a regular file");
}
