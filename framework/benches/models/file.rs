//! Writing GLB files that are made to be measured.

use serde_json::{Value, json};

/// A file that is being made.
#[derive(Default)]
pub(crate) struct File {
    data: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    pub(crate) images: Vec<Value>,
    pub(crate) meshes: Vec<Value>,
    pub(crate) nodes: Vec<Value>,
}

impl File {
    pub(crate) fn view(&mut self, bytes: &[u8]) -> usize {
        let offset = self.data.len();
        self.data.extend(bytes);
        self.data.resize(self.data.len().next_multiple_of(4), 0);
        self.views.push(json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() }));
        self.views.len() - 1
    }

    pub(crate) fn accessor(&mut self, type_: &str, component: u32, bytes: &[u8]) -> usize {
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

    pub(crate) fn floats(&mut self, type_: &str, values: impl Iterator<Item = f32>) -> usize {
        self.accessor(type_, 5126, &values.flat_map(f32::to_le_bytes).collect::<Vec<_>>())
    }

    /// The file, with these further fields.
    pub(crate) fn glb(self, mut fields: Value) -> Vec<u8> {
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
