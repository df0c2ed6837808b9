//! Changes to glTF files that leave most of their structure as it is, so that what is broken lies deep: in a value of the
//! JSON text, in the BIN chunk or in the data of a URI. Used by the fuzz target and by the tests that replay its files.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

/// Numbers without end that depend on a seed alone (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
/// Generators", 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn choose<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// Texts that mean something to a loader.
#[rustfmt::skip]
const TEXTS: &[&str] = &[
    "SCALAR", "VEC2", "VEC3", "VEC4", "MAT2", "MAT3", "MAT4", "STEP", "LINEAR", "CUBICSPLINE", "translation", "rotation",
    "scale", "weights", "OPAQUE", "MASK", "BLEND", "perspective", "orthographic", "directional", "point", "spot",
    "ATTRIBUTES", "TRIANGLES", "INDICES", "NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", "COLOR", "2.0", "image/png",
    "data:;base64,", "data:,x", "x.bin", "KHR_draco_mesh_compression", "EXT_meshopt_compression",
    "KHR_meshopt_compression", "KHR_texture_basisu", "EXT_texture_webp", "KHR_texture_transform", "",
];

/// Fields of any object of a file, with something for them to be.
#[rustfmt::skip]
const FIELDS: &[(&str, &str)] = &[
    ("byteOffset", "4"), ("byteStride", "16"), ("byteLength", "12"), ("bufferView", "0"), ("buffer", "0"), ("count", "3"),
    ("componentType", "5123"), ("normalized", "true"), ("type", "\"VEC4\""), ("min", "[0,0,0]"), ("uri", "\"data:,x\""),
    ("sparse", r#"{"count":1,"indices":{"bufferView":0,"componentType":5121},"values":{"bufferView":0}}"#),
    ("mode", "5"), ("indices", "1"), ("material", "0"), ("POSITION", "0"), ("NORMAL", "0"), ("TANGENT", "1"),
    ("TEXCOORD_0", "1"), ("TEXCOORD_1", "1"), ("COLOR_0", "1"), ("JOINTS_0", "2"), ("WEIGHTS_0", "3"), ("JOINTS_1", "2"),
    ("WEIGHTS_1", "3"), ("JOINTS_2", "2"), ("WEIGHTS_2", "3"), ("targets", r#"[{"POSITION":0,"NORMAL":0}]"#),
    ("weights", "[0.5]"), ("mesh", "0"), ("skin", "0"), ("camera", "0"), ("children", "[1]"), ("nodes", "[0]"),
    ("scene", "0"), ("translation", "[1,2,3]"), ("rotation", "[0,0,0.6,0.8]"), ("scale", "[1,-2,3]"), ("skeleton", "0"),
    ("matrix", "[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]"), ("joints", "[0,1]"), ("inverseBindMatrices", "0"), ("node", "0"),
    ("path", "\"weights\""), ("input", "0"), ("output", "1"), ("interpolation", "\"CUBICSPLINE\""), ("sampler", "0"),
    ("source", "0"), ("index", "0"), ("texCoord", "1"), ("normalTexture", r#"{"index":0}"#), ("alphaMode", "\"MASK\""),
    ("emissiveTexture", r#"{"index":0}"#), ("alphaCutoff", "0.5"), ("doubleSided", "true"), ("wrapS", "33071"),
    ("minFilter", "9985"), ("name", "\"x\""), ("extras", "{}"), ("extensions", "{}"), ("filter", "\"OCTAHEDRAL\""),
    ("KHR_materials_unlit", "{}"), ("KHR_materials_emissive_strength", r#"{"emissiveStrength":9}"#),
    ("KHR_texture_transform", r#"{"offset":[0,1],"rotation":1,"scale":[2,2],"texCoord":1}"#),
    ("KHR_draco_mesh_compression", r#"{"bufferView":0,"attributes":{"POSITION":0}}"#),
    ("EXT_meshopt_compression", r#"{"buffer":0,"byteLength":9,"byteStride":4,"count":1,"mode":"ATTRIBUTES"}"#),
    ("KHR_lights_punctual", r#"{"light":0,"lights":[{"type":"spot","spot":{}}]}"#), ("perspective", r#"{"yfov":1}"#),
    ("KHR_texture_basisu", r#"{"source":0}"#), ("EXT_texture_webp", r#"{"source":0}"#),
];

/// Numbers at the edge of something.
#[rustfmt::skip]
const NUMBERS: &[f64] = &[
    0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 12.0, 16.0, 24.0, 48.0, 64.0, 255.0, 256.0, 5120.0, 5121.0, 5122.0, 5123.0, 5125.0,
    5126.0, 9729.0, 9985.0, 33071.0, 65535.0, 65536.0, 1e6, 2147483647.0, 2147483648.0, 4294967295.0, 4294967296.0,
    9007199254740992.0, 1.8446744073709552e19, -1.0, -128.0, 0.5, 1e-10, 1e-20, 1e-40, 1e10, 1e19, 1e20, 3.4e38, 1e39, -1e300,
];

/// A file with some changes. `change_bytes` changes what is not JSON. What is no glTF file is changed as bytes.
pub(crate) fn mutate(file: &[u8], random: &mut Random, change_bytes: &mut dyn FnMut(&mut Vec<u8>)) -> Vec<u8> {
    let parsed = if random.one_in(10) { None } else { File::parse(file) };
    let Some(mut parsed) = parsed else {
        let mut bytes = file.to_vec();
        change_bytes(&mut bytes);
        return bytes;
    };
    for _ in 0..=random.below(4) {
        match random.below(8) {
            0..4 => change_value(&mut parsed.json, random),
            4 => change_uri(&mut parsed.json, random, change_bytes),
            _ => parsed.change_bin(random, change_bytes),
        }
    }
    parsed.bytes()
}

/// Changes a few bytes, without anything but a random number to go by.
pub(crate) fn change_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() + 1);
        match random.below(5) {
            0 => bytes.insert(at, random.next() as u8),
            1 => drop(bytes.splice(at.., [])),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 if at + 4 <= bytes.len() => {
                let number = *random.choose(NUMBERS);
                let bits = if random.one_in(2) { number as u32 } else { (number as f32).to_bits() };
                bytes[at..at + 4].copy_from_slice(&bits.to_le_bytes());
            }
            _ if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            _ => {}
        }
    }
}

/// A file taken apart.
struct File {
    json: Value,
    /// The BIN chunk of a GLB, which may be empty.
    bin: Option<Vec<u8>>,
}

impl File {
    fn parse(file: &[u8]) -> Option<File> {
        let Some(chunks) = file.strip_prefix(b"glTF").and_then(|rest| rest.get(8..)) else {
            return Some(File { json: serde_json::from_slice(file).ok()?, bin: None });
        };
        let length = u32::from_le_bytes(*chunks.first_chunk()?) as usize;
        let json = serde_json::from_slice(chunks.get(8..)?.get(..length)?).ok()?;
        let bin = chunks.get(8 + length..)?.get(8..).unwrap_or_default();
        Some(File { json, bin: Some(bin.to_vec()) })
    }

    fn bytes(&self) -> Vec<u8> {
        let mut json = self.json.to_string().into_bytes();
        let Some(bin) = &self.bin else { return json };
        json.resize(json.len().next_multiple_of(4), b' ');
        let mut file = b"glTF\x02\0\0\0".to_vec();
        let words = [28 + json.len() + bin.len(), json.len()].map(|length| (length as u32).to_le_bytes());
        file.extend(words.concat());
        file.extend(b"JSON");
        file.extend(json);
        file.extend((bin.len() as u32).to_le_bytes());
        file.extend(b"BIN\0");
        file.extend(bin);
        file
    }

    fn change_bin(&mut self, random: &mut Random, change_bytes: &mut dyn FnMut(&mut Vec<u8>)) {
        let Some(bin) = &mut self.bin else { return };
        change_bytes(bin);
        // Most of the time the length should not be what is wrong.
        if let Some(length) = self.json.pointer_mut("/buffers/0/byteLength")
            && !random.one_in(8)
        {
            *length = bin.len().into();
        }
    }
}

/// Changes the data of a URI.
fn change_uri(json: &mut Value, random: &mut Random, change_bytes: &mut dyn FnMut(&mut Vec<u8>)) {
    const BEGIN: &str = "data:;base64,";
    let array = if random.one_in(2) { "buffers" } else { "images" };
    let list = json.get_mut(array).and_then(Value::as_array_mut);
    let Some(list) = list.filter(|list| !list.is_empty()) else { return };
    let index = random.below(list.len());
    let Some(object) = list[index].as_object_mut() else { return };
    let Some(Value::String(uri)) = object.get("uri") else { return };
    let data = uri.split_once(',').and_then(|(_, data)| BASE64_STANDARD.decode(data).ok());
    let mut data = data.unwrap_or_default();
    change_bytes(&mut data);
    object.insert("uri".into(), (BEGIN.to_owned() + &BASE64_STANDARD.encode(&data)).into());
    if array == "buffers" {
        object.insert("byteLength".into(), data.len().into());
    }
}

/// Changes a value somewhere in a text.
fn change_value(json: &mut Value, random: &mut Random) {
    let count = count(json);
    let other = random.one_in(8).then(|| nth(json, &mut random.below(count)).cloned()).flatten();
    let Some(value) = nth(json, &mut random.below(count)) else { return };
    if let Some(other) = other {
        *value = other;
        return;
    }
    match value {
        Value::Null => *value = json!(0),
        Value::Bool(flag) => *flag = !*flag,
        Value::Number(number) => *value = change_number(number.as_f64().unwrap_or(0.0), random),
        Value::String(text) => *text = (*random.choose(TEXTS)).into(),
        Value::Array(elements) => change_elements(elements, random),
        Value::Object(fields) => change_fields(fields, random),
    }
}

fn change_number(number: f64, random: &mut Random) -> Value {
    let changed = match random.below(6) {
        0 => number + 1.0,
        1 => number - 1.0,
        2 => number * 2.0,
        3 => random.below(10) as f64,
        _ => *random.choose(NUMBERS),
    };
    if changed.fract() != 0.0 {
        return changed.into();
    }
    if changed < 0.0 { (changed as i64).into() } else { (changed as u64).into() }
}

fn change_elements(elements: &mut Vec<Value>, random: &mut Random) {
    if elements.is_empty() {
        return elements.push(json!(random.below(4)));
    }
    let (first, second) = (random.below(elements.len()), random.below(elements.len()));
    match random.below(6) {
        0 => drop(elements.remove(first)),
        1 => elements.swap(first, second),
        2 => elements.truncate(first),
        3 => elements[first] = elements[second].clone(),
        4 => elements.extend(vec![elements[first].clone(); 1 + random.below(8)]),
        _ => elements.push(elements[first].clone()),
    }
}

fn change_fields(fields: &mut Map<String, Value>, random: &mut Random) {
    let key = fields.keys().nth(random.below(fields.len().max(1))).cloned();
    match (random.below(3), key) {
        (0, Some(key)) => drop(fields.remove(&key)),
        (1, Some(key)) => {
            let value = fields.remove(&key).unwrap_or_default();
            fields.insert(random.choose(FIELDS).0.into(), value);
        }
        _ => {
            let (key, value) = random.choose(FIELDS);
            fields.insert((*key).into(), serde_json::from_str(value).unwrap_or_default());
        }
    }
}

/// How many values there are in a value, itself counted.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(elements) => elements.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// The value after `left` others; `left` is counted down.
fn nth<'a>(value: &'a mut Value, left: &mut usize) -> Option<&'a mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(elements) => elements.iter_mut().find_map(|element| nth(element, left)),
        Value::Object(fields) => fields.values_mut().find_map(|field| nth(field, left)),
        _ => None,
    }
}
