//! glTF models of a few vertices, made where they are needed.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

const FLOAT: u32 = 5126;
const UNSIGNED_SHORT: u32 = 5123;

/// A model, put together part by part. Each method that adds something returns its index in the file.
pub struct Little {
    json: Value,
    data: Vec<u8>,
}

impl Default for Little {
    fn default() -> Self {
        Self { json: json!({ "asset": { "version": "2.0" } }), data: Vec::new() }
    }
}

impl Little {
    /// Adds an element to one of the file's arrays.
    pub fn push(&mut self, array: &str, element: Value) -> usize {
        let array = &mut self.json[array];
        if array.is_null() {
            *array = json!([]);
        }
        let elements = array.as_array_mut().expect("it was made as an array");
        elements.push(element);
        elements.len() - 1
    }

    /// Adds an accessor of floats, of as many elements as there are arrays.
    pub fn floats<const N: usize>(&mut self, elements: &[[f32; N]]) -> usize {
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"].get(N - 1).unwrap_or(&"MAT4");
        let bytes = elements.iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
        let bound = |pick: fn(f32, f32) -> f32| -> Vec<f32> {
            let column = |i| elements.iter().map(|element| element[i]).reduce(pick).expect("there are elements");
            (0..N).map(column).collect()
        };
        let (min, max) = (bound(f32::min), bound(f32::max));
        self.accessor(bytes, json!({ "componentType": FLOAT, "type": kind, "min": min, "max": max }), elements.len())
    }

    /// Adds an accessor of 16-bit numbers: indices, or the joints of vertices.
    pub fn shorts<const N: usize>(&mut self, elements: &[[u16; N]]) -> usize {
        let kind = if N == 1 { "SCALAR" } else { "VEC4" };
        let bytes = elements.iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
        self.accessor(bytes, json!({ "componentType": UNSIGNED_SHORT, "type": kind }), elements.len())
    }

    fn accessor(&mut self, bytes: Vec<u8>, mut accessor: Value, count: usize) -> usize {
        let view = json!({ "buffer": 0, "byteOffset": self.data.len(), "byteLength": bytes.len() });
        self.data.extend(bytes);
        self.data.resize(self.data.len().next_multiple_of(4), 0);
        accessor["bufferView"] = self.push("bufferViews", view).into();
        accessor["count"] = count.into();
        self.push("accessors", accessor)
    }

    /// Adds an image from the bytes of a PNG file.
    pub fn image(&mut self, png: &[u8]) -> usize {
        self.push("images", json!({ "uri": format!("data:image/png;base64,{}", STANDARD.encode(png)) }))
    }

    /// Adds a material that shows its base colour (linear, with alpha) and nothing else; `more` are further members.
    pub fn unlit(&mut self, base_color: [f32; 4], more: Value) -> usize {
        self.json["extensionsUsed"] = json!(["KHR_materials_unlit"]);
        let mut material = self.material_with(base_color, more);
        material["extensions"] = json!({ "KHR_materials_unlit": {} });
        self.push("materials", material)
    }

    /// Adds a material that is lit.
    pub fn lit(&mut self, base_color: [f32; 4], more: Value) -> usize {
        let material = self.material_with(base_color, more);
        self.push("materials", material)
    }

    fn material_with(&self, base_color: [f32; 4], more: Value) -> Value {
        let mut material = more;
        material["pbrMetallicRoughness"]["baseColorFactor"] = json!(base_color);
        material
    }

    /// A primitive: a square of this half width about a point, which faces +Z.
    pub fn square(&mut self, center: [f32; 3], half: f32, material: usize) -> Value {
        let [x, y, z] = center;
        let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0_f32]];
        let positions = self.floats(&corners.map(|[right, up]| [x + half * right, y + half * up, z]));
        let normals = self.floats(&[[0.0, 0.0, 1.0]; 4]);
        let indices = self.shorts(&[[0], [1], [2], [0], [2], [3]]);
        json!({ "attributes": { "POSITION": positions, "NORMAL": normals }, "indices": indices, "material": material })
    }

    /// Adds a mesh of one primitive.
    pub fn mesh(&mut self, primitive: Value) -> usize {
        self.push("meshes", json!({ "primitives": [primitive] }))
    }

    /// Adds a node that hangs on no other.
    pub fn root(&mut self, node: Value) -> usize {
        let root = self.push("nodes", node);
        if self.json["scenes"].is_null() {
            self.push("scenes", json!({ "nodes": [] }));
        }
        let roots = self.json["scenes"][0]["nodes"].as_array_mut().expect("it was made as an array");
        roots.push(root.into());
        root
    }

    /// Adds a clip that moves one property (`path`) of a node, from key to key on a straight line.
    pub fn clip<const N: usize>(&mut self, name: &str, node: usize, path: &str, keys: &[(f32, [f32; N])]) -> usize {
        let times: Vec<_> = keys.iter().map(|&(time, _)| [time]).collect();
        let values: Vec<_> = keys.iter().map(|&(_, value)| value).collect();
        let (input, output) = (self.floats(&times), self.floats(&values));
        let animation = json!({
            "name": name,
            "samplers": [{ "input": input, "output": output }],
            "channels": [{ "sampler": 0, "target": { "node": node, "path": path } }],
        });
        self.push("animations", animation)
    }

    /// Writes the model to a file in a folder, all in one.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    pub fn save(mut self, folder: &Path) -> PathBuf {
        if !self.data.is_empty() {
            let uri = format!("data:application/octet-stream;base64,{}", STANDARD.encode(&self.data));
            let buffer = json!({ "byteLength": self.data.len(), "uri": uri });
            self.push("buffers", buffer);
        }
        let path = folder.join("little.gltf");
        std::fs::write(&path, self.json.to_string()).expect("the model can be written");
        path
    }
}
