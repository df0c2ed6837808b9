//! The JSON text becomes a [`Document`], after mending what the `gltf` crate stumbles over.

use super::Scene;
use super::document::Document;
use super::error::{Problem, Warnings, broken, one_line};
use super::left_out::leave_out;
use gltf::json;
use serde_json::{Map, Value};

/// Extensions that a file may require.
const SUPPORTED_EXTENSIONS: &[&str] = &[
    "EXT_meshopt_compression",
    "EXT_texture_webp",
    "KHR_draco_mesh_compression",
    "KHR_lights_punctual",
    "KHR_materials_emissive_strength",
    "KHR_materials_unlit",
    // Other types of components, which are read anyway.
    "KHR_mesh_quantization",
    "KHR_meshopt_compression",
    "KHR_texture_basisu",
    "KHR_texture_transform",
];

/// The index that stands for "none" where the `gltf` crate has no `Option`; no file can have that many
/// of anything.
const NONE: u32 = u32::MAX;

/// `None` for an index that the file leaves out though the `gltf` crate requires it: a texture's
/// source, a channel's node.
pub(super) fn given<T>(index: json::Index<T>) -> Option<json::Index<T>> {
    (index.value() != NONE as usize).then_some(index)
}

/// Parses a glTF text, and checks its version and the extensions that it requires. Its indices are not
/// checked.
pub(super) fn parse(text: &[u8]) -> Result<Document, Problem> {
    // A string is known to be UTF-8 as a whole, which saves looking at its parts.
    let parse = |text| serde_json::from_str::<Document>(text).ok();
    let root = match str::from_utf8(text).ok().and_then(parse) {
        Some(root) if !has_long_integer(text) => {
            check_version(Some(&root.asset.version), root.asset.min_version.as_deref())?;
            root
        }
        // This takes four times as long, and few files need it.
        _ => deserialize(parse_value(text)?)?,
    };
    match root.extensions_required.iter().find(|name| !is_supported(name)) {
        Some(name) => Err(Problem::Extension(one_line(name))),
        None => Ok(root),
    }
}

/// As [`parse`], but a required extension that is not supported is a warning, and what depends on it is left out.
pub(super) fn parse_what_is_readable(text: &[u8], warnings: &Warnings) -> Result<Document, Problem> {
    let mut value = parse_value(text)?;
    leave_out(&mut value, warnings);
    deserialize(value)
}

impl Scene {
    /// Whether an extension is read, so that a file may require it. What a file has of others is ignored.
    #[must_use]
    pub fn supports(extension: &str) -> bool {
        is_supported(extension)
    }
}

/// Whether a file may require an extension.
pub(super) fn is_supported(extension: &str) -> bool {
    SUPPORTED_EXTENSIONS.contains(&extension)
}

/// Whether there may be an integer that does not fit into 32 bits.
fn has_long_integer(text: &[u8]) -> bool {
    const SHORTEST: usize = 10;
    /// No number has that many digits.
    const LONGEST: usize = 32;
    let is_long = |at: usize| {
        let is_digit = |byte: &&u8| byte.is_ascii_digit();
        let before = text[..at].iter().rev().take(LONGEST).take_while(is_digit).count();
        let from_here = text[at..].iter().take(SHORTEST).take_while(is_digit).count();
        let is_fraction = before < LONGEST && text[..at - before].last() == Some(&b'.');
        before + from_here >= SHORTEST && !is_fraction
    };
    // So many digits in a row are on one of the bytes that are so far apart.
    let parts = text.as_chunks::<SHORTEST>().0.iter().enumerate();
    let mut digits = parts.filter(|(_, part)| part[SHORTEST - 1].is_ascii_digit());
    digits.any(|(part, _)| is_long((part + 1) * SHORTEST - 1))
}

/// The text as values, mended.
fn parse_value(text: &[u8]) -> Result<Value, Problem> {
    let mut value: Value = serde_json::from_slice(text)
        .map_err(|error| Problem::Container(one_line(&format!("its JSON is broken: {error}"))))?;
    let asset = |key| value.get("asset").and_then(|asset| asset.get(key)).and_then(Value::as_str);
    check_version(asset("version"), asset("minVersion"))?;
    mend(&mut value);
    Ok(value)
}

fn deserialize(value: Value) -> Result<Document, Problem> {
    serde_path_to_error::deserialize(value)
        .map_err(|error| broken(pointer(error.path()), explain(&error.inner().to_string())))
}

/// Refuses what is not glTF 2. This comes first: a file of glTF 1 breaks every rule of glTF 2.
fn check_version(version: Option<&str>, least: Option<&str>) -> Result<(), Problem> {
    let Some(version) = version else {
        return Err(broken("/asset/version", "is missing or not a string; every glTF file states its version"));
    };
    let parse = |version: &str| -> Option<(u32, u32)> {
        let (major, minor) = version.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    if parse(version).is_none_or(|(major, _)| major != 2) {
        return Err(Problem::Version(one_line(&format!("is glTF {version:?}, and only 2.0 can be read"))));
    }
    match least {
        Some(least) if parse(least).is_none_or(|least| least > (2, 0)) => {
            Err(Problem::Version(one_line(&format!("needs a reader of glTF {least:?}, and this one reads 2.0"))))
        }
        _ => Ok(()),
    }
}

/// Mends legal JSON that the `gltf` crate does not take.
fn mend(root: &mut Value) {
    mend_numbers("", root);
    for scene in objects(root.get_mut("scenes")) {
        scene.entry("nodes").or_insert_with(|| Value::Array(Vec::new()));
    }
    for animation in objects(root.get_mut("animations")) {
        for channel in objects(animation.get_mut("channels")) {
            if let Some(target) = channel.get_mut("target").and_then(Value::as_object_mut) {
                target.entry("node").or_insert(NONE.into());
            }
        }
    }
}

pub(super) fn objects(array: Option<&mut Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    array.and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Makes integers what they mean. The specification lets an integer be written as 3.0 or 3e0, which
/// serde refuses. The `gltf` crate cuts integers to 32 bits, so that index 4294967296 would be 0: as a
/// float such a number is refused where an index is needed, and is the same where any number will do.
fn mend_numbers(key: &str, value: &mut Value) {
    match value {
        Value::Number(number) => {
            let is_size = matches!(key, "count" | "byteLength" | "byteOffset" | "byteStride");
            let float = number.as_f64().unwrap_or(f64::NAN);
            let index = 0.0..f64::from(NONE);
            if number.is_f64() && float.fract() == 0.0 && float.is_sign_positive() && index.contains(&float) {
                *number = (float as u64).into();
            } else if number.is_u64() && !is_size && !index.contains(&float) {
                *value = float.into();
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| mend_numbers(key, element)),
        Value::Object(fields) => {
            for (key, field) in fields.iter_mut().filter(|(key, _)| *key != "extras") {
                mend_numbers(key, field);
            }
        }
        _ => {}
    }
}

/// serde's message in words that fit behind a path.
fn explain(message: &str) -> String {
    if let Some(field) = message.strip_prefix("missing field ") {
        return format!("lacks {field}, which glTF requires");
    }
    let (verb, mismatch) = match message.strip_prefix("invalid length ") {
        Some(mismatch) => ("has length", mismatch),
        None => ("is", message.trim_start_matches("invalid type: ").trim_start_matches("invalid value: ")),
    };
    let Some((found, expected)) = mismatch.split_once(", expected ") else {
        return message.to_owned();
    };
    let found = match found {
        "map" => "an object",
        "sequence" => "an array",
        other => other,
    };
    let expected = match expected {
        "index into child of root" => "an index",
        "u32" | "u64" | "usize" => "a whole number of at least 0",
        "f32" => "a number",
        "a sequence" => "an array",
        other if other.starts_with("struct ") => "an object",
        other => other,
    };
    format!("{verb} {found} where {expected} is needed")
}

/// serde's path as a JSON pointer.
fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let segment = |segment: &Segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => format!("/{}", key.replace('~', "~0").replace('/', "~1")), // RFC 6901, section 4
        Segment::Enum { .. } | Segment::Unknown => String::new(),
    };
    path.iter().map(segment).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail that way.
mod tests {
    use super::*;

    fn parse_fields(fields: &str) -> Result<Document, String> {
        let text = format!(r#"{{"asset":{{"version":"2.0"}},{fields}}}"#);
        parse(text.as_bytes()).map_err(|problem| problem.to_string())
    }

    #[test]
    fn omitted_indices_are_none() {
        let root = parse_fields(
            r#""scenes":[{}],"textures":[{}],"animations":[{"samplers":[],
            "channels":[{"sampler":0,"target":{"path":"scale"}},{"sampler":0,"target":{"node":3,"path":"scale"}}]}]"#,
        )
        .unwrap();
        assert!(root.scenes[0].nodes.is_empty());
        assert!(given(root.textures[0].source).is_none());
        let nodes: Vec<_> = root.animations[0].channels.iter().map(|channel| given(channel.target.node)).collect();
        assert_eq!(nodes.iter().map(|node| node.map(|node| node.value())).collect::<Vec<_>>(), [None, Some(3)]);
    }

    #[test]
    fn integers_may_be_written_as_floats() {
        let root = parse_fields(r#""nodes":[{"mesh":2.0,"translation":[1,2.5,3e9]}],"scene":1e1"#).unwrap();
        assert_eq!(root.nodes[0].mesh.unwrap().value(), 2);
        assert_eq!(root.nodes[0].translation, Some([1.0, 2.5, 3e9]));
        assert_eq!(root.scene.unwrap().value(), 10);
    }

    #[test]
    fn extras_may_be_anything() {
        for extras in ["5", "false", "null", "\"x\"", "[1,{}]", r#"{"a":1}"#] {
            let array = |name: &str, fields: &str| format!(r#""{name}":[{{"extras":{extras},{fields}}}]"#);
            let arrays = [
                array("materials", &format!(r#""pbrMetallicRoughness":{{"extras":{extras}}}"#)),
                array("accessors", r#""componentType":5126,"count":1,"type":"VEC3""#),
                array("bufferViews", r#""buffer":0,"byteLength":1"#),
                array("nodes", r#""name":"a""#),
            ];
            let root = parse_fields(&format!(r#""extras":{extras},{}"#, arrays.join(","))).unwrap();
            assert_eq!((root.materials.len(), root.accessors.len(), root.buffer_views.len()), (1, 1, 1));
        }
    }

    #[test]
    fn long_integers_are_noticed_wherever_they_are() {
        for before in 0..12 {
            let has = |number: &str| has_long_integer(format!("{}{number}", " ".repeat(before)).as_bytes());
            assert!(has("4294967296,") && has("[18446744073709551615") && has("x1234567890"));
            assert!(!has("429496729,") && !has("0.12345678901234567,") && !has("[1,2,3,4,5,6,7,8,9,10,11,12,13]"));
        }
    }

    #[test]
    fn indices_do_not_wrap() {
        for index in ["4294967295", "4294967296", "2.5", "-1", "\"x\"", "1e300"] {
            let error = parse_fields(&format!(r#""nodes":[{{}},{{"mesh":{index}}}]"#)).unwrap_err();
            assert!(error.starts_with("/nodes/1/mesh: is "), "{error}");
            assert!(error.ends_with(" where an index is needed"), "{error}");
        }
    }

    #[test]
    fn errors_say_where() {
        assert!(parse_fields(r#""nodes":[{"matrix":[1,2]}]"#).unwrap_err().starts_with("/nodes/0/matrix: "));
        let error = parse_fields(r#""materials":[{},5]"#).unwrap_err();
        assert_eq!(error, "/materials/1: is integer `5` where an object is needed");
        let error = parse_fields(r#""meshes":[{"primitives":[{"attributes":{"_A/B~C":"x"}}]}]"#).unwrap_err();
        assert!(error.starts_with("/meshes/0/primitives/0/attributes/_A~1B~0C: "), "{error}");
        assert!(parse(b"{").unwrap_err().to_string().contains("line 1 column 1"));
    }

    #[test]
    fn versions_are_checked() {
        let of = |asset: &str| parse(format!(r#"{{"asset":{asset}}}"#).as_bytes()).map_err(|e| e.to_string());
        assert!(of(r#"{"version":"2.0"}"#).is_ok());
        assert!(of(r#"{"version":"2.7","minVersion":"2.0"}"#).is_ok());
        assert!(of(r#"{"version":"2.7","minVersion":"2.1"}"#).unwrap_err().contains("2.1"));
        for asset in [r#"{"version":"1.0"}"#, r#"{"version":"3.0"}"#, r#"{"version":"two"}"#, "{}", "[]"] {
            assert!(of(asset).is_err(), "{asset}");
        }
    }

    #[test]
    fn required_extensions_are_named() {
        let error = parse_fields(r#""extensionsRequired":["KHR_mesh_quantization","EXT_x"]"#).unwrap_err();
        assert!(error.contains("needs EXT_x, which is not supported"), "{error}");
    }
}
