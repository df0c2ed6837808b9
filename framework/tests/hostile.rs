//! Broken, hostile and merely unusual files: none may crash, hang or fill the memory; what can be shown
//! loads, and the rest is refused with a sentence that names the cause.

#![allow(clippy::unwrap_used)] // A test may fail that way.

mod promises;

use ashwright::scene::{LoadError, Pose, Primitive, Scene};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;
use tools::corpus::{self, Invalid};
use tools::oracle::{Drawn, Expected};

/// What must be told of some of the invalid files, in the error or in a warning.
#[rustfmt::skip]
const MESSAGES: &[(&str, &str)] = &[
    ("asset-generator/Mesh_NoPosition_00.gltf", "/meshes/0/primitives/0: has no POSITION"),
    ("asset-generator/Mesh_PrimitiveRestart_00.gltf", "index 255 is the primitive-restart value"),
    ("assimp/AllIndicesOutOfRange.gltf", "/meshes/0/primitives/0/indices: index 65535"),
    ("assimp/MissingBin_BoxTextured.gltf", "CesiumLogoFlat.png cannot be read"),
    ("assimp/SchemaFailures_sceneWrongType.gltf", "/scene: is string \"hello\" where an index is needed"),
    ("assimp/wrongTypes_badUint.gltf", "/baseColorTexture/index: is integer `-1` where an index"),
    ("hostile/accessor_type.gltf", "/accessors/0: its type"),
    ("hostile/anim_bad_path.gltf", "/animations/0/channels/0/target/path: "),
    ("hostile/anim_dup_times.gltf", "/animations/0/samplers/0/input: a key has the same time"),
    ("hostile/anim_nan_times.gltf", "/animations/0/samplers/0/input: a key time is not finite"),
    ("hostile/anim_short_output.gltf", "/animations/0/samplers/0/output: 1 values for 3 keys"),
    ("hostile/anim_zero_quat.gltf", "/animations/0/samplers/0/output: a value is not finite or not a rotation"),
    ("hostile/bv_negative.gltf", "/bufferViews/0/byteOffset: is integer `-4`"),
    ("hostile/count_2e53.gltf", "/accessors/0: 9007199254740993 elements"),
    ("hostile/cycle_unreachable.gltf", "is its own descendant"),
    ("hostile/data_uri_bad.gltf", "/buffers/0/uri: is a data URI with broken base64"),
    ("hostile/float_count.gltf", "/accessors/0/count: is floating point `3.5`"),
    ("hostile/glb_jsonlen_wrap.glb", "a chunk announces 4294967292 bytes"),
    ("hostile/glb_v1.glb", "container version is 1"),
    ("hostile/huge_count_nobv.gltf", "/accessors/0: 2147483648 elements here need more memory"),
    ("hostile/ibm_short.gltf", "/skins/0/inverseBindMatrices: 1 matrices for 3 joints"),
    ("hostile/index_ffff.gltf", "/meshes/0/primitives/0/indices: "),
    ("hostile/json_1e999.gltf", "number out of range at line 1"),
    ("hostile/json_badutf8.gltf", "invalid unicode"),
    ("hostile/json_trailing.gltf", "trailing characters"),
    ("hostile/matrix_short.gltf", "/nodes/0/matrix: has length 12"),
    ("hostile/mode_99.gltf", "/meshes/0/primitives/0/mode: "),
    ("hostile/negative_count.gltf", "/accessors/0/count: is integer `-3`"),
    ("hostile/path_absolute.gltf", "/buffers/0/uri: \"/etc/passwd\" is an absolute path"),
    ("hostile/png_bomb_header.gltf", "/images/0: its 65535 x 65535 pixels are too many"),
    ("hostile/png_truncated.gltf", "/images/0: cannot be decoded"),
    ("hostile/pos_nan.gltf", "/attributes/POSITION: a position is not finite"),
    ("hostile/random.glb", "is not glTF"),
    ("hostile/rigged_trunc_half.glb", "cut short"),
    ("hostile/scene_oob.gltf", "/scene: refers to /scenes/7"),
    ("hostile/sparse_huge.gltf", "/accessors/0/sparse/indices: 4000000000 elements"),
    ("hostile/stride_huge.gltf", "/accessors/0: 3 elements, 252 bytes apart"),
    ("hostile/tex_index_oob.gltf", "/materials/0/normalTexture/index: refers to /textures/5"),
    ("hostile/trunc_0004.glb", "the header takes 12 bytes"),
    ("hostile/uri_dev_zero.gltf", "it is not a regular file"),
    ("hostile/uri_nul.gltf", "/buffers/0/uri: "),
    ("hostile/weights_nan.gltf", "/attributes/WEIGHTS_0: a weight is negative or not finite"),
    ("hostile/zero_count.gltf", "/attributes/POSITION: has no vertices"),
    ("tinygltf/invalid-buffer-index.gltf", "/bufferViews/1/buffer: refers to /buffers/1"),
    ("validator/accessor/small_stride.gltf", "/accessors/0: its elements of 16 bytes overlap"),
    ("validator/animation/channel_node_matrix.gltf", "/animations/0/channels/0/target/node: a node with a matrix"),
    ("validator/animation/unresolved_channel_target.gltf", "/animations/0/channels/0/target/node: refers to /nodes/0"),
    ("validator/animation/unresolved_sampler_output.gltf", "/animations/0/samplers/0/output: refers to /accessors/1"),
    ("validator/asset/min_version_invalid.gltf", "glTF \"2.1\""),
    ("validator/buffer/invalid_uri_data_bytelength.gltf", "/buffers/0: its byteLength is 2"),
    ("validator/buffer_view/invalid_length.gltf", "/bufferViews/0: 5 bytes from byte 0 are not within /buffers/0"),
    ("validator/glb/empty_json_chunk.glb", "JSON chunk is empty"),
    ("validator/glb/unknown_chunk.glb", "the first chunk must be JSON"),
    ("validator/mesh/unequal_joints.gltf", "JOINTS_1 and WEIGHTS_1 do not go together"),
    ("validator/mesh/unresolved_material.gltf", "/meshes/0/primitives/0/material: refers to /materials/0"),
    ("validator/mesh_data/index_buffer_oob.gltf", "/meshes/0/primitives/0/indices: index 5"),
    ("validator/node/node_loop.gltf", "is its own descendant"),
    ("validator/node/node_parent_override.gltf", "node 2 is already a child of node 0"),
    ("validator/node/unresolved_child_node.gltf", "/nodes/0/children/0: refers to /nodes/1"),
    ("validator/node/unresolved_skin.gltf", "/nodes/0/skin: refers to /skins/0"),
    ("validator/root/invalid_array_elements.gltf", "/materials/0: is string \"material\""),
    ("validator/scene/unresolved_node.gltf", "/scenes/0/nodes/0: refers to /nodes/0"),
    ("validator/skin/ibm_invalid_count.gltf", "/skins/2/inverseBindMatrices: 2 matrices for 3 joints"),
    ("validator/skin/unresolved_joint.gltf", "/skins/0/joints/0: refers to /nodes/0"),
    ("validator/texture/unresolved_source.gltf", "/textures/0/source: refers to /images/0"),
];

#[test]
fn invalid_files_are_refused_or_shown() {
    let Some(corpus) = corpus::gltf() else {
        return;
    };
    let mut failures = Vec::new();
    for Invalid { name, file, loads } in corpus::invalid(&corpus) {
        let result = load_and_pose(file);
        let told = match &result {
            Ok(scene) => scene.warnings.join("\n"),
            Err(error) => error.to_string(),
        };
        println!("{name}: {}: {told}", if result.is_ok() { "loaded" } else { "refused" });
        if loads.is_some_and(|loads| loads != result.is_ok()) {
            failures.push(format!("{name}: {} is expected", if result.is_ok() { "refusal" } else { "loading" }));
        }
        if result.is_err() && (told.contains('\n') || !told.contains(&name)) {
            failures.push(format!("{name}: the error is not a line with the file's name: {told}"));
        }
        if let Some((_, text)) = MESSAGES.iter().find(|(of, _)| *of == name)
            && !told.contains(text)
        {
            failures.push(format!("{name}: {text:?} is not told, but: {told}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn unusual_files_are_read_as_expected() {
    let Some(corpus) = corpus::gltf() else {
        return;
    };
    for (name, file, expected) in corpus::field(&corpus) {
        let outcome = expected.expected["outcome"].as_str().unwrap();
        match load_and_pose(file) {
            Ok(scene) => {
                println!("{name} loaded: {:?}", scene.warnings);
                assert!(outcome.contains("load"), "{name} should be refused");
                compare_all(&name, &scene, &expected);
            }
            Err(error) => {
                println!("{name} refused: {error}");
                assert!(outcome.contains("refuse"), "{name}: {error}");
                let is_unknown = name == "A20-b-required-unknown";
                assert!(!is_unknown || error.to_string().contains("EXT_own_unknown"), "{name}: {error}");
            }
        }
    }
}

/// Compares what is not in its poses, which the tests of `inspect` compare.
fn compare_all(name: &str, scene: &Scene, expected: &Expected) {
    let durations: Vec<f32> = scene.animations.iter().map(|animation| animation.duration).collect();
    assert_eq!(durations, expected.clip_durations, "{name}");
    compare_bounds(name, scene, expected);
    if let Some(expected) = expected.drawn {
        assert_eq!(drawn(scene), expected, "{name}");
    }
    for (image, side) in scene.images.iter().zip(["left", "right"]) {
        if let Some(pixel) = expected.expected["pixels"][side].as_array() {
            let pixel: Vec<u8> = pixel.iter().map(|channel| channel.as_u64().unwrap() as u8).collect();
            assert_eq!(image.pixels[..3], pixel, "{name}, {side}");
        }
    }
}

/// How much is drawn. What was split, so that each triangle has a normal of its own, counts once.
fn drawn(scene: &Scene) -> Drawn {
    let meshes = scene.nodes.iter().filter(|node| node.in_scene).filter_map(|node| node.mesh);
    let primitives: Vec<_> = meshes.flat_map(|mesh| &scene.meshes[mesh].primitives).collect();
    let vertices = |primitive: &&Primitive| match primitive.source_vertices.iter().max() {
        Some(&last) => last as usize + 1,
        None => primitive.positions.len(),
    };
    Drawn { primitives: primitives.len(), vertices: primitives.iter().map(vertices).sum() }
}

fn compare_bounds(name: &str, scene: &Scene, expected: &Expected) {
    let mut pose = Pose::new(scene);
    for expected in &expected.bounds {
        let clip = expected.animation.map(|animation| (animation, expected.time));
        pose.evaluate(scene, clip.as_slice());
        let found = pose.bounds(scene).unwrap();
        for (found, expected) in [(found.min, expected.min), (found.max, expected.max)] {
            assert!(found.abs_diff_eq(expected.into(), 1e-4), "{name}: {found} is not {expected:?}");
        }
    }
}

/// Loads a file and does with it all that can be done, in a thread that may take ten seconds.
fn load_and_pose(path: PathBuf) -> Result<Scene, LoadError> {
    let (sender, receiver) = mpsc::channel();
    let file = path.clone();
    let worker = std::thread::spawn(move || {
        let scene = Scene::load(&file);
        if let Ok(scene) = &scene {
            promises::check(scene);
            promises::pose_at_many_times(scene);
        }
        sender.send(scene).unwrap();
    });
    match receiver.recv_timeout(Duration::from_secs(10)) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            panic!("{}: takes more than ten seconds", path.display())
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            panic!("{}: panics: {:?}", path.display(), worker.join())
        }
    }
}
