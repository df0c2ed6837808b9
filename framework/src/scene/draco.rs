//! Decoding of primitives that are compressed by `KHR_draco_mesh_compression`.

use draco_core::{DataType, DecodeLimits, DecoderBuffer, Mesh, MeshDecoder, PointAttribute, PointIndex};
use gltf::json::accessor::ComponentType;

/// The geometry of a primitive: a list of triangles.
#[derive(Debug)]
pub(super) struct Geometry {
    /// Three indices a triangle, each below the number of vertices, for which attributes have a value each.
    pub(super) indices: Vec<u32>,
    /// The attributes that were asked for, in that order.
    pub(super) attributes: Vec<Attribute>,
}

/// An attribute of all vertices.
#[derive(Debug)]
pub(super) struct Attribute {
    /// The type of its components: what the encoder was given, which is not always what an accessor says.
    pub(super) component_type: ComponentType,
    /// Components a vertex.
    pub(super) components: usize,
    /// The components of all vertices, little endian, without gaps.
    pub(super) bytes: Vec<u8>,
}

/// Decodes the attributes that have these unique ids. Neither the decoded attributes nor the indices may need more
/// than `limit` bytes, and nothing is allocated that is out of proportion to that.
///
/// The error says what is wrong with the data.
pub(super) fn decode(input: &[u8], unique_ids: &[u32], limit: u64) -> Result<Geometry, String> {
    let limits = DecodeLimits::default().with_max_decoded_bytes(limit).with_max_faces(limit / 12);
    let mut buffer = DecoderBuffer::new(input).with_limits(limits);
    let mut mesh = Mesh::new();
    let decoded = MeshDecoder::new().decode(&mut buffer, &mut mesh);
    decoded.map_err(|error| format!("its Draco data cannot be decoded: {error}"))?;
    let vertices = mesh.num_points();
    let indices: Vec<u32> = mesh.faces().iter().flatten().map(|point| point.0).collect();
    if let Some(index) = indices.iter().find(|&&index| index as usize >= vertices) {
        return Err(format!("its Draco data has a triangle with vertex {index}, of {vertices}"));
    }
    let mut left = limit;
    let attributes = unique_ids.iter().map(|&id| {
        let attribute = mesh.attribute_by_unique_id(id);
        let attribute = attribute.ok_or_else(|| format!("its Draco data has no attribute {id}"))?;
        expand(attribute, vertices, &mut left).map_err(|why| format!("attribute {id} of its Draco data {why}"))
    });
    Ok(Geometry { attributes: attributes.collect::<Result<_, _>>()?, indices })
}

/// Writes out the values of an attribute, which vertices can share. Takes their bytes off `left`.
fn expand(attribute: &PointAttribute, vertices: usize, left: &mut u64) -> Result<Attribute, String> {
    let component_type = component_type(attribute.data_type())?;
    let components = usize::from(attribute.num_components());
    let size = components * component_type.size();
    if attribute.byte_stride() != size as i64 || size == 0 {
        return Err("has components that do not lie side by side".into());
    }
    *left = left.checked_sub(vertices as u64 * size as u64).ok_or("is larger than can be read")?;
    let values = attribute.buffer().data();
    let mut bytes = Vec::with_capacity(vertices * size);
    for vertex in 0..vertices as u32 {
        let start = (attribute.mapped_index(PointIndex(vertex)).0 as usize).checked_mul(size);
        let value = start.and_then(|start| values.get(start..)?.get(..size));
        bytes.extend(value.ok_or("has fewer values than its vertices need")?);
    }
    Ok(Attribute { component_type, components, bytes })
}

fn component_type(type_: DataType) -> Result<ComponentType, String> {
    match type_ {
        DataType::Int8 => Ok(ComponentType::I8),
        DataType::Uint8 | DataType::Bool => Ok(ComponentType::U8),
        DataType::Int16 => Ok(ComponentType::I16),
        DataType::Uint16 => Ok(ComponentType::U16),
        DataType::Uint32 => Ok(ComponentType::U32),
        DataType::Float32 => Ok(ComponentType::F32),
        other => Err(format!("has components of a type that glTF does not have: {other:?}")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail that way.
mod tests {
    use super::*;

    // Two triangles with the vertices below, encoded by Draco's own encoder with positions of 8 bits.
    const POSITIONS: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 2.0, 0.0], [0.0, 2.0, 0.0]];
    const JOINTS: [[u16; 4]; 4] = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 300]];
    const TRIANGLES: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];

    /// The unique ids that the encoder was given or chose.
    const JOINTS_ID: u32 = 7;
    const POSITIONS_ID: u32 = 8;

    /// More than is needed.
    const LIMIT: u64 = 1 << 16;

    /// The vertices and triangles in their order.
    const SEQUENTIAL: &[u8] = include_bytes!("../../tests/data/sequential.drc");

    /// The vertices and triangles in an order that takes fewer bytes.
    const EDGEBREAKER: &[u8] = include_bytes!("../../tests/data/edgebreaker.drc");

    fn joints(geometry: &Geometry, attribute: usize) -> Vec<[u16; 4]> {
        let attribute = &geometry.attributes[attribute];
        assert_eq!((attribute.component_type, attribute.components), (ComponentType::U16, 4));
        attribute.bytes.as_chunks().0.as_chunks().0.iter().map(|joints| joints.map(u16::from_le_bytes)).collect()
    }

    fn positions(geometry: &Geometry, attribute: usize) -> Vec<[f32; 3]> {
        let attribute = &geometry.attributes[attribute];
        assert_eq!((attribute.component_type, attribute.components), (ComponentType::F32, 3));
        attribute.bytes.as_chunks().0.as_chunks().0.iter().map(|position| position.map(f32::from_le_bytes)).collect()
    }

    #[test]
    fn what_is_stored_in_order_comes_in_order() {
        let geometry = decode(SEQUENTIAL, &[JOINTS_ID, POSITIONS_ID], LIMIT).unwrap();
        assert_eq!(geometry.indices.as_slice(), TRIANGLES.as_flattened());
        assert_eq!(joints(&geometry, 0), JOINTS);
        assert_eq!(positions(&geometry, 1), POSITIONS);
    }

    #[test]
    fn other_orders_are_the_same_triangles() {
        let geometry = decode(EDGEBREAKER, &[POSITIONS_ID, JOINTS_ID], LIMIT).unwrap();
        let (positions, joints) = (positions(&geometry, 0), joints(&geometry, 1));
        let original =
            |index: &u32| POSITIONS.iter().position(|position| *position == positions[*index as usize]).unwrap();
        let corners: Vec<usize> = geometry.indices.iter().map(original).collect();
        for (corner, index) in corners.iter().zip(&geometry.indices) {
            assert_eq!(joints[*index as usize], JOINTS[*corner]);
        }
        // A triangle may begin with any of its corners, and come first or last.
        let turned = |triangle: &[usize]| (0..3).map(|turn| [0, 1, 2].map(|k| triangle[(k + turn) % 3])).min().unwrap();
        let mut triangles: Vec<_> = corners.chunks(3).map(turned).collect();
        triangles.sort();
        assert_eq!(triangles, [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn an_attribute_that_is_not_there_is_named() {
        assert!(decode(SEQUENTIAL, &[JOINTS_ID, 0], LIMIT).unwrap_err().contains("no attribute 0"));
        assert!(decode(SEQUENTIAL, &[], LIMIT).unwrap().attributes.is_empty());
    }

    #[test]
    fn what_is_decoded_is_limited() {
        // Four vertices with positions of 12 bytes and joints of 8.
        let ids = [JOINTS_ID, POSITIONS_ID];
        for input in [SEQUENTIAL, EDGEBREAKER] {
            assert!(decode(input, &ids, 80).is_ok());
            assert!(decode(input, &ids, 40).is_err());
        }
        // Nor is an attribute written out any number of times.
        assert!(decode(SEQUENTIAL, &[JOINTS_ID; 10], 320).is_ok());
        assert!(decode(SEQUENTIAL, &[JOINTS_ID; 11], 320).unwrap_err().contains("larger"));
    }

    #[test]
    fn broken_data_is_refused() {
        for input in [SEQUENTIAL, EDGEBREAKER] {
            for end in 0..input.len() {
                assert!(decode(&input[..end], &[JOINTS_ID, POSITIONS_ID], LIMIT).is_err(), "cut at {end}");
            }
        }
        assert!(decode(b"", &[], LIMIT).is_err());
        assert!(decode(b"DRACO but not really", &[], LIMIT).unwrap_err().contains("cannot be decoded"));
    }

    #[test]
    fn changed_bytes_do_no_harm() {
        for input in [SEQUENTIAL, EDGEBREAKER] {
            let mut bytes = input.to_vec();
            for place in 0..bytes.len() {
                for value in 0..=255 {
                    bytes[place] = value;
                    if let Ok(geometry) = decode(&bytes, &[POSITIONS_ID], LIMIT) {
                        let attribute = &geometry.attributes[0];
                        let size = attribute.component_type.size() * attribute.components;
                        let vertices = attribute.bytes.len() / size;
                        assert_eq!(attribute.bytes.len(), vertices * size);
                        assert!(geometry.indices.iter().all(|&index| (index as usize) < vertices));
                    }
                }
                bytes[place] = input[place];
            }
        }
    }
}
