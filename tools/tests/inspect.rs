//! `inspect` as its user runs it: what it says of models, and of files that are none.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};
use tools::corpus::{self, Invalid};
use tools::oracle::{self, Expected, Largest, Model};
use tools::sample::{self, Ended};
use tools::snapshot::Snapshot;

const INSPECT: &str = env!("CARGO_BIN_EXE_inspect");

/// How the shell limits the program: 1 GiB of memory and 10 s of computing. Were it in a loop, it would not outlive the test.
const LIMITED: &str = "ulimit -v 1048576; ulimit -t 10; exec \"$0\" \"$@\"";

/// How long the program may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Differences that the files of the corpus's `field` are allowed.
const TOLERANCE: f64 = 1e-4;

fn inspect(model: &Path, options: &[&str]) -> Ended {
    sample::run(INSPECT, [&[model.to_str().expect("the name is text")], options].concat())
}

/// Runs the program with little memory and time.
///
/// # Panics
///
/// If that is not enough for it.
fn inspect_limited(model: &Path, options: &[&str]) -> Ended {
    let mut command = Command::new("sh");
    command.args(["-c", LIMITED, INSPECT]).arg(model).args(options);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program can be started");
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let output = receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{}: takes too long", model.display()));
    output.expect("the program can be waited for").into()
}

/// The pose that the program prints.
fn pose(model: &Path, clip: Option<(usize, f32)>) -> (Snapshot, String) {
    let clip = clip.map(|(animation, time)| (animation.to_string(), time.to_string()));
    let options = match &clip {
        Some((animation, time)) => vec!["--json", "--animation", animation, "--time", time],
        None => vec!["--json"],
    };
    let ended = inspect(model, &options);
    assert_eq!(ended.code, Some(0), "{}: {}", model.display(), ended.stderr);
    let pose = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{}: {error}", model.display()));
    (pose, ended.stderr)
}

/// Compares all expected poses of a model with what the program prints.
fn compare(model: &Path, expected: Expected) -> Largest {
    let compare_one = |mut expected: Snapshot| {
        let clip = expected.animation.map(|animation| (animation, expected.time));
        let (found, warnings) = pose(model, clip);
        if warnings.contains("is required and not supported") {
            if clip.is_some() && warnings.contains("a channel depends on an extension") {
                println!("SKIPPED: {} animated: {warnings}", model.display());
                return Largest::default();
            }
            let is_found = |node: usize, prim: usize| found.vertices.iter().any(|v| (v.node, v.prim) == (node, prim));
            expected.vertices.retain(|vertex| is_found(vertex.node, vertex.prim));
        }
        oracle::compare(&found, &expected)
    };
    expected.samples.into_iter().map(compare_one).fold(Largest::default(), Largest::merge)
}

#[test]
fn poses_agree_with_the_oracle() {
    let Some(corpus) = corpus::gltf() else { return };
    let models = Model::all(&corpus);
    let mut total = Largest::default();
    for model in &models {
        let largest = compare(&model.file, model.expected());
        assert!(largest.max() <= model.tolerance, "{}: {largest:?}", model.name);
        total = total.merge(largest);
    }
    println!("{} models compared; largest differences: {total:?}", models.len());
    assert!(models.len() > 100 && total.vertices > 1000, "few models were compared");
}

#[test]
fn unusual_files_are_told_as_expected() {
    let Some(corpus) = corpus::gltf() else { return };
    for (name, file, expected) in corpus::field(&corpus) {
        let outcome = expected.expected["outcome"].as_str().unwrap_or_default().to_owned();
        let ended = inspect(&file, &[]);
        println!("{}{}", ended.stdout, ended.stderr);
        // An extension that is required and not supported is a warning here.
        if ended.code == Some(0) && !ended.stdout.contains("is required and not supported") {
            assert!(outcome.contains("load"), "{name} should be refused");
            let largest = compare(&file, expected);
            assert!(largest.max() < TOLERANCE, "{name}: {largest:?}");
        } else if ended.code != Some(0) {
            assert!(outcome.contains("refuse"), "{name}: {}", ended.stderr);
        }
    }
}

#[test]
fn invalid_files_are_refused_or_told() {
    let Some(corpus) = corpus::gltf() else { return };
    let mut failures = Vec::new();
    for Invalid { name, file, loads } in corpus::invalid(&corpus) {
        for options in [&[][..], &["--json"], &["--json", "--animation", "0", "--time", "0.3"]] {
            let ended = inspect_limited(&file, options);
            let is_expected = match ended.code {
                Some(0) => loads != Some(false) && !ended.stdout.is_empty(),
                // Not every file has an animation.
                Some(1) => (loads != Some(true) || options.len() > 1) && is_sentence(&ended.stderr, &name),
                _ => false,
            };
            if !is_expected {
                failures.push(format!("{name} {options:?}: {ended:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Whether an error is one line that names the file.
fn is_sentence(error: &str, file: &str) -> bool {
    error.starts_with("error: ") && error.contains(file) && error.trim_end().lines().count() == 1
}

#[test]
fn a_model_is_told_in_short() {
    let ended = inspect(&ashwright::asset("models/whale.glb").expect("it is part of the project"), &[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let lines: Vec<Vec<&str>> = ended.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    let has = |words: &[&str]| lines.iter().any(|line| line.starts_with(words));
    assert!(has(&["skins", "2:", "19", "joints,", "12", "joints"]), "{}", ended.stdout);
    assert!(has(&["images", "2"]) && has(&["attributes", "normals,"]), "{}", ended.stdout);
    assert!(has(&["1", "seabed_colour", "JPEG", "512", "×", "512", "base", "colour"]), "{}", ended.stdout);
    assert!(has(&["0", "swim", "4.800", "s"]) && has(&["1", "glide", "7.000", "s"]), "{}", ended.stdout);
    assert!(has(&["bounds", "from"]) && !has(&["warnings"]), "{}", ended.stdout);
}

/// What is told of one of the small files that the loader is tried with, without the first line.
fn told_of(seed: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../framework/fuzz/seeds");
    let ended = inspect(&folder.join(seed), &[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    ended.stdout.split_once('\n').expect("there are lines").1.to_owned()
}

#[test]
fn materials_and_textures_are_told() {
    let expected = "  nodes          1
  meshes         1
  primitives     1 of triangles
  vertices       4
  triangles      2
  attributes     colours, TEXCOORD_0, TEXCOORD_1
  materials      2: 1 MASK, 1 BLEND, 1 double-sided, 1 unlit
  textures       3
  images         3
  extensions     EXT_texture_webp, KHR_texture_transform, KHR_materials_emissive_strength, KHR_materials_unlit, \
                    KHR_materials_clearcoat (ignored)
  bounds         from         0          0          0
                 to           1          1        0.5
                 size         1          1        0.5  metres

textures
  0  (no name)  PNG   5 × 3  base colour
  1  (no name)  WebP  5 × 3  metallic-roughness, occlusion
  2  (no name)  JPEG  5 × 3  normal, emissive
";
    assert_eq!(told_of("material.glb"), expected);
}

#[test]
fn morph_targets_cameras_and_lights_are_told() {
    let morph = told_of("morph.glb");
    assert!(morph.contains("\n  attributes     normals, tangents\n  morph targets  2\n"), "{morph}");
    let told = told_of("cameras_lights.gltf");
    let expected =
        "  cameras        2: perspective of 45.84°, orthographic\n  lights         3: directional, point, spot\n";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn time_clamps_and_does_not_repeat() {
    let whale = ashwright::asset("models/whale.glb").expect("it is part of the project");
    let at = |time| pose(&whale, Some((0, time))).0;
    let (first, last) = (at(0.0), at(4.8));
    assert_eq!((first.animation, first.time), (Some(0), 0.0));
    assert_eq!((at(-3.0).nodes, at(1000.0).vertices), (first.nodes, last.vertices));
    assert_ne!(at(1.0).skins, first.skins);
    let rest = pose(&whale, None).0;
    assert_eq!((rest.animation, rest.time), (None, 0.0));
}

/// Four positions without normals, of which a triangle uses three, under a moved node.
fn triangle() -> Value {
    json!({
        "asset": { "version": "2.0" },
        "scenes": [{ "nodes": [1] }],
        "nodes": [{ "mesh": 0 }, { "name": "root", "children": [2] }, { "mesh": 0, "translation": [0, 0, 5] }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 1 }] }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3" },
            { "bufferView": 1, "componentType": 5121, "count": 3, "type": "SCALAR" },
        ],
        "bufferViews": [
            { "buffer": 0, "byteLength": 48 },
            { "buffer": 0, "byteOffset": 48, "byteLength": 3 },
        ],
        "buffers": [{
            "byteLength": 51,
            "uri": "data:;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAQQQAAEEEAABBBAAAAAAAAgD8AAAAAAAED",
        }],
    })
}

/// Runs the program on a file of these fields.
fn inspect_fields(fields: &Value, options: &[&str]) -> Ended {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("model.gltf");
    std::fs::write(&file, fields.to_string()).expect("a file");
    inspect(&file, options)
}

#[test]
fn vertices_are_those_of_the_file() {
    let ended = inspect_fields(&triangle(), &["--json"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let found: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    let one = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1].map(f64::from);
    let mut moved = one;
    moved[14] = 5.0;
    let vertex = |index: usize, position: [f64; 3]| json!({ "node": 2, "mesh": 0, "prim": 0, "index": index, "position": position });
    let expected = json!({
        "animation": null,
        "time": 0.0,
        "nodes": [
            { "index": 0, "inScene": false, "parent": -1, "world": one },
            { "index": 1, "name": "root", "inScene": true, "parent": -1, "world": one },
            { "index": 2, "inScene": true, "parent": 1, "world": moved },
        ],
        "morphWeights": {},
        "skins": [],
        "vertices": [
            vertex(0, [0.0, 0.0, 5.0]),
            vertex(1, [1.0, 0.0, 5.0]),
            vertex(2, [9.0, 9.0, 14.0]),
            vertex(3, [0.0, 1.0, 5.0]),
        ],
    });
    assert_eq!(found, expected);
    assert_eq!(ended.stdout.lines().count(), 1);
}

#[test]
fn required_extensions_are_warnings() {
    let mut fields = triangle();
    fields["extensionsUsed"] = json!(["EXT_odd"]);
    fields["extensionsRequired"] = json!(["EXT_odd"]);
    let ended = inspect_fields(&fields, &["--json"]);
    assert_eq!(ended.code, Some(0));
    assert_eq!(ended.stderr.lines().count(), 1);
    assert!(ended.stderr.starts_with("warning: /extensionsRequired: EXT_odd is required"), "{}", ended.stderr);
    assert!(ended.stdout.contains("\"index\":3,\"position\":[0.0,1.0,5.0]"), "{}", ended.stdout);

    fields["meshes"][0]["primitives"][0]["extensions"] = json!({ "EXT_odd": {} });
    let ended = inspect_fields(&fields, &["--json"]);
    assert!(ended.stdout.contains("\"vertices\":[]"), "{}", ended.stdout);
    let ended = inspect_fields(&fields, &[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(ended.stdout.contains("EXT_odd (required, not supported)"), "{}", ended.stdout);
    assert!(ended.stdout.contains("\nwarnings: 2\n"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("vertices") && !ended.stdout.contains("bounds"), "{}", ended.stdout);
}

#[test]
fn an_empty_file_is_told_as_such() {
    let ended = inspect_fields(&json!({ "asset": { "version": "2.0" } }), &[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(ended.stdout.ends_with("model.gltf\nThere is nothing in this file.\n"), "{}", ended.stdout);
}

#[test]
fn whatever_is_wrong_is_one_sentence() {
    let fails = |fields: &Value, options: &[&str], word: &str| {
        let ended = inspect_fields(fields, options);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{options:?}");
        assert!(is_sentence(&ended.stderr, "model.gltf") && ended.stderr.contains(word), "{}", ended.stderr);
    };
    fails(&json!({}), &[], "/asset/version");
    fails(&triangle(), &["--json", "--animation", "0"], "leave out --animation");
    let mut animated = triangle();
    animated["animations"] = json!([{ "samplers": [], "channels": [] }, { "samplers": [], "channels": [] }]);
    fails(&animated, &["--json", "--animation", "2"], "--animation takes 0 to 1");
    let ended = inspect(Path::new("no/such.glb"), &[]);
    assert!(ended.code == Some(1) && is_sentence(&ended.stderr, "no/such.glb"), "{}", ended.stderr);
}

#[test]
fn wrong_options_are_refused() {
    let wrong: [&[&str]; 6] = [
        &["--json", "--time", "1"],
        &["--animation", "0"],
        &["--json", "--animation", "-1"],
        &["--json", "--animation", "swim"],
        &["--json", "--animation", "0", "--time", "nan"],
        &["--no-such-option"],
    ];
    for options in wrong {
        let ended = inspect(Path::new("model.glb"), options);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{options:?}: {}", ended.stderr);
    }
    assert_eq!(sample::run(INSPECT, ["--help"]).code, Some(0));
    assert_eq!(sample::run(INSPECT, [""; 0]).code, Some(2));
}
