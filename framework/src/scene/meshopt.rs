//! Decoding of buffer views that are compressed by `EXT_meshopt_compression` or `KHR_meshopt_compression`.

use bytemuck::Pod;
use meshopt::ffi::meshopt_decodeVertexBuffer;

/// How a buffer view is compressed: the extension's `mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Elements of any size, as differences of their bytes.
    Attributes,
    /// Indices of a list of triangles.
    Triangles,
    /// Any other indices.
    Indices,
}

/// What is done with the elements after decompression: the extension's `filter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filter {
    /// Nothing.
    None,
    /// Unit vectors of 8- or 16-bit components out of points of an octahedron.
    Octahedral,
    /// Quaternions of 16-bit components out of the three smaller ones.
    Quaternion,
    /// Floats out of mantissas of 24 and exponents of 8 bits.
    Exponential,
    /// Colours of 8- or 16-bit components out of luma and chroma. Only of `KHR_meshopt_compression`.
    Color,
}

impl Mode {
    /// The mode of that name in a file.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        match name {
            "ATTRIBUTES" => Some(Mode::Attributes),
            "TRIANGLES" => Some(Mode::Triangles),
            "INDICES" => Some(Mode::Indices),
            _ => None,
        }
    }
}

impl Filter {
    /// The filter of that name in a file.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        match name {
            "NONE" => Some(Filter::None),
            "OCTAHEDRAL" => Some(Filter::Octahedral),
            "QUATERNION" => Some(Filter::Quaternion),
            "EXPONENTIAL" => Some(Filter::Exponential),
            "COLOR" => Some(Filter::Color),
            _ => None,
        }
    }
}

/// Decodes `count` elements of `stride` bytes. What is returned has `count * stride` bytes, which are not
/// allocated unless `input` is long enough to hold that many elements: at most 1024 bytes come of each of its own.
///
/// The error says which rule of the extension is broken. Decoded indices can be anything.
pub(super) fn decode(input: &[u8], count: usize, stride: usize, mode: Mode, filter: Filter) -> Result<Vec<u8>, String> {
    check_layout(count, stride, mode)?;
    check_filter(stride, mode, filter)?;
    let least = least_length(input, count, stride, mode);
    if least.is_none_or(|least| input.len() < least) {
        return Err(format!("{count} elements of {stride} bytes cannot be in {} compressed bytes", input.len()));
    }
    match mode {
        Mode::Attributes => decode_attributes(input, count, stride).map(|bytes| apply(filter, stride, bytes)),
        Mode::Triangles if stride == 2 => to_bytes(meshopt::decode_index_buffer::<u16>(input, count)),
        Mode::Triangles => to_bytes(meshopt::decode_index_buffer::<u32>(input, count)),
        Mode::Indices if stride == 2 => to_bytes(meshopt::decode_index_sequence::<u16>(input, count)),
        Mode::Indices => to_bytes(meshopt::decode_index_sequence::<u32>(input, count)),
    }
}

fn check_layout(count: usize, stride: usize, mode: Mode) -> Result<(), String> {
    match mode {
        Mode::Attributes if !stride.is_multiple_of(4) || !(4..=256).contains(&stride) => {
            Err(format!("the byteStride of attributes must be a multiple of 4 up to 256 and is {stride}"))
        }
        Mode::Triangles | Mode::Indices if stride != 2 && stride != 4 => {
            Err(format!("the byteStride of indices must be 2 or 4 and is {stride}"))
        }
        Mode::Triangles if !count.is_multiple_of(3) => {
            Err(format!("triangles need three indices each, and the count of indices is {count}"))
        }
        _ => Ok(()),
    }
}

fn check_filter(stride: usize, mode: Mode, filter: Filter) -> Result<(), String> {
    let (fits, needed) = match filter {
        Filter::None => return Ok(()),
        Filter::Octahedral | Filter::Color => (stride == 4 || stride == 8, "4 or 8"),
        Filter::Quaternion => (stride == 8, "8"),
        Filter::Exponential => (stride.is_multiple_of(4), "a multiple of 4"),
    };
    if mode != Mode::Attributes {
        return Err("indices cannot have a filter".into());
    }
    fits.then_some(()).ok_or_else(|| format!("the byteStride of this filter must be {needed} and is {stride}"))
}

/// The fewest bytes in which so many elements can be encoded, by the extension's appendix A. `None`: more than
/// can be counted.
fn least_length(input: &[u8], count: usize, stride: usize, mode: Mode) -> Option<usize> {
    if isize::try_from(count.checked_mul(stride)?).is_err() {
        return None;
    }
    let is_version_0 = input.first().is_some_and(|header| header & 0xf == 0);
    let (data, end) = match mode {
        // For each byte of an element two bits for each group of 16 elements, in whole bytes.
        Mode::Attributes if is_version_0 => (count.div_ceil(64) * stride, 32),
        // For each block of elements, of which none has more than 256, two bits for each byte of an element.
        Mode::Attributes => (count.div_ceil(256) * (stride / 4), 24),
        // A byte for each triangle; the end is a table.
        Mode::Triangles => (count / 3, 16),
        // A byte for each index.
        Mode::Indices => (count, 4),
    };
    data.checked_add(1 + end)
}

fn decode_attributes(input: &[u8], count: usize, stride: usize) -> Result<Vec<u8>, String> {
    let mut bytes = vec![0; count * stride];
    // SAFETY: the decoder writes `count * stride` bytes at the most, all of which `bytes` has, and reads no byte
    // beyond the `input.len()` of `input`; it is made for input of any content. What it demands of its other arguments,
    // a stride that is a multiple of 4 from 4 to 256, `check_layout` has seen to.
    let code =
        unsafe { meshopt_decodeVertexBuffer(bytes.as_mut_ptr().cast(), count, stride, input.as_ptr(), input.len()) };
    if code == 0 { Ok(bytes) } else { Err(explain(code)) }
}

/// Undoes a filter, which does not change the length. The stride has been checked.
fn apply(filter: Filter, stride: usize, bytes: Vec<u8>) -> Vec<u8> {
    match (filter, stride) {
        (Filter::None, _) => bytes,
        (Filter::Octahedral, 4) => filtered(&bytes, meshopt::decode_filter_oct::<i8>),
        (Filter::Octahedral, _) => filtered(&bytes, meshopt::decode_filter_oct::<i16>),
        (Filter::Quaternion, _) => filtered(&bytes, meshopt::decode_filter_quat),
        (Filter::Exponential, _) => filtered(&bytes, meshopt::decode_filter_exp::<1>),
        (Filter::Color, 4) => filtered(&bytes, meshopt::decode_filter_color::<u8>),
        (Filter::Color, _) => filtered(&bytes, meshopt::decode_filter_color::<u16>),
    }
}

/// Runs a filter over a copy that is aligned for its elements.
fn filtered<T: Pod>(bytes: &[u8], filter: impl Fn(&mut [T])) -> Vec<u8> {
    let mut elements = vec![T::zeroed(); bytes.len() / size_of::<T>()];
    bytemuck::cast_slice_mut(&mut elements).copy_from_slice(bytes);
    filter(&mut elements);
    bytemuck::cast_slice(&elements).to_vec()
}

fn to_bytes<T: Pod>(indices: Result<Vec<T>, meshopt::Error>) -> Result<Vec<u8>, String> {
    match indices {
        Ok(indices) => Ok(bytemuck::cast_slice(&indices).to_vec()),
        Err(meshopt::Error::Native(code)) => Err(explain(code)),
        Err(other) => Err(format!("its compressed data is broken: {other}")),
    }
}

/// What the decoder's error codes mean.
fn explain(code: i32) -> String {
    match code {
        -1 => "its compressed data does not begin as that of its mode does",
        -2 => "its compressed data is broken or cut short",
        -3 => "its compressed data is longer than its elements need",
        _ => "its compressed data is broken",
    }
    .into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail that way.
mod tests {
    use super::*;

    /// The example of the extension's appendix A: 16 differences, and what they are.
    const DELTAS: [u8; 10] = [0x17, 0x5f, 0xf0, 0xbc, 0x77, 0xa9, 0x21, 0x00, 0x34, 0xb5];
    const DECODED_DELTAS: [i32; 16] = [-1, -4, -3, 26, -91, 0, -6, 6, -4, -4, 5, -5, 1, -1, 0, 0];
    const BASELINE: [u8; 4] = [100, 7, 8, 9];

    /// Elements whose first bytes follow the example.
    fn example() -> Vec<u8> {
        let mut first = i32::from(BASELINE[0]);
        let elements = DECODED_DELTAS.map(|delta| {
            first += delta;
            [first as u8, 7, 8, 9]
        });
        elements.concat()
    }

    /// Attributes in version 0 that are one element, which is the baseline.
    fn single(element: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0xa0];
        bytes.resize(1 + element.len() + 32_usize.saturating_sub(element.len()), 0);
        bytes.extend(element);
        bytes
    }

    fn attributes(input: &[u8], count: usize, stride: usize) -> Result<Vec<u8>, String> {
        decode(input, count, stride, Mode::Attributes, Filter::None)
    }

    fn words(bytes: &[u8]) -> Vec<u32> {
        bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }

    fn triangles() -> Vec<u8> {
        // Three new vertices; the second last edge and a new vertex; the last edge and 1000 more than 0.
        [&[0xe1, 0xf0, 0x10, 0x0f, 0xd0, 0x0f][..], &[0; 16]].concat()
    }

    #[test]
    fn attributes_are_differences_in_two_versions() {
        // Groups of mode 2 (four bits) for the first byte, of mode 0 (no difference) for the three others.
        let version_0 = [&[0xa0, 2][..], &DELTAS, &[0; 3], &[0; 28], &BASELINE].concat();
        assert_eq!(attributes(&version_0, 16, 4).unwrap(), example());
        // Control mode 1 for the first byte, 2 (no data) for the others; the last byte is the channel's mode.
        let version_1 = [&[0xa1, 0xa9, 2][..], &DELTAS, &[0; 19], &BASELINE, &[0]].concat();
        assert_eq!(attributes(&version_1, 16, 4).unwrap(), example());
    }

    #[test]
    fn triangles_are_decoded_to_both_sizes() {
        let decode = |stride| decode(&triangles(), 9, stride, Mode::Triangles, Filter::None).unwrap();
        assert_eq!(words(&decode(4)), [0, 1, 2, 2, 1, 3, 2, 3, 1000]);
        assert_eq!(decode(2), [0, 1, 2, 2, 1, 3, 2, 3, 1000_u16].map(u16::to_le_bytes).concat());
    }

    #[test]
    fn indices_have_two_baselines() {
        // +5 and -2 on the first, +300 on the second, +1 on the first.
        let input = [0xd1, 0x14, 0x06, 0xb1, 0x09, 0x04, 0, 0, 0, 0];
        let decode = |stride| decode(&input, 4, stride, Mode::Indices, Filter::None).unwrap();
        assert_eq!(words(&decode(4)), [5, 3, 300, 4]);
        assert_eq!(decode(2), [5, 3, 300, 4_u16].map(u16::to_le_bytes).concat());
    }

    #[test]
    fn filters_follow_appendix_b() {
        let filter =
            |filter, element: &[u8]| decode(&single(element), 1, element.len(), Mode::Attributes, filter).unwrap();
        let bytes = |element: [i8; 4]| element.map(|component| component as u8);
        let shorts = |element: [i16; 4]| element.map(i16::to_le_bytes).concat();
        assert_eq!(filter(Filter::Octahedral, &bytes([127, 0, 127, 5])), bytes([127, 0, 0, 5]));
        assert_eq!(filter(Filter::Octahedral, &bytes([127, 127, 127, -1])), bytes([0, 0, -127, -1]));
        assert_eq!(filter(Filter::Octahedral, &shorts([-511, 0, 511, 77])), shorts([-32767, 0, 0, 77]));
        // Half a turn's half about the first axis: the second component is left out, the third is sqrt(1/2).
        assert_eq!(filter(Filter::Quaternion, &shorts([32767, 0, 0, 0x7ffd])), shorts([0, 23170, 23170, 0]));
        let floats = [0xfd00_0005_u32, 0x02ff_fff9, 0].map(u32::to_le_bytes).concat();
        assert_eq!(filter(Filter::Exponential, &floats), [0.625_f32, -28.0, 0.0].map(f32::to_le_bytes).concat());
        assert_eq!(filter(Filter::Color, &[100, 20, 10, 255]), [110, 110, 70, 255]);
    }

    #[test]
    fn what_is_encoded_comes_back() {
        let elements: Vec<[u8; 12]> =
            (0..1000_u32).map(|i| std::array::from_fn(|k| (i * (k as u32 + 3)) as u8)).collect();
        for version in [0, 1] {
            let encoded = meshopt::encode_vertex_buffer_level(&elements, 2, Some(version)).unwrap();
            assert_eq!(attributes(&encoded, 1000, 12).unwrap(), elements.concat());
        }
        let indices: Vec<u32> = (0..3000).map(|i| i / 3 + i % 3).collect();
        let encoded = meshopt::encode_index_buffer(&indices, 1002).unwrap();
        let decoded = decode(&encoded, 3000, 4, Mode::Triangles, Filter::None).unwrap();
        // The encoder may turn a triangle, but not over.
        for (decoded, original) in words(&decoded).chunks(3).zip(indices.chunks(3)) {
            assert!((0..3).any(|turn| (0..3).all(|k| decoded[(k + turn) % 3] == original[k])), "{decoded:?}");
        }
        let encoded = meshopt::encode_index_sequence(&indices, 1002).unwrap();
        assert_eq!(words(&decode(&encoded, 3000, 4, Mode::Indices, Filter::None).unwrap()), indices);
    }

    #[test]
    fn layouts_against_the_rules_are_refused() {
        let error = |count, stride, mode, filter| decode(&[0xa0; 4000], count, stride, mode, filter).unwrap_err();
        for stride in [0, 2, 3, 6, 260] {
            assert!(error(1, stride, Mode::Attributes, Filter::None).contains("multiple of 4"), "{stride}");
        }
        for stride in [0, 1, 3, 8] {
            assert!(error(3, stride, Mode::Triangles, Filter::None).contains("2 or 4"), "{stride}");
            assert!(error(3, stride, Mode::Indices, Filter::None).contains("2 or 4"), "{stride}");
        }
        assert!(error(4, 2, Mode::Triangles, Filter::None).contains("three"));
        assert!(error(3, 4, Mode::Triangles, Filter::Exponential).contains("filter"));
        assert!(error(1, 12, Mode::Attributes, Filter::Octahedral).contains("4 or 8"));
        assert!(error(1, 4, Mode::Attributes, Filter::Quaternion).contains("8 and is 4"));
        assert!(error(1, 12, Mode::Attributes, Filter::Color).contains("4 or 8"));
    }

    #[test]
    fn counts_beyond_the_input_allocate_nothing() {
        let modes = [(Mode::Attributes, 256), (Mode::Attributes, 4), (Mode::Triangles, 4), (Mode::Indices, 2)];
        for (mode, stride) in modes {
            for count in [usize::MAX / 3 * 3, usize::MAX / 1024 / 3 * 3, 3 << 33] {
                for header in [0xa0, 0xa1, 0xd1, 0xe1] {
                    let error = decode(&[header; 64], count, stride, mode, Filter::None).unwrap_err();
                    assert!(error.contains("64 compressed bytes"), "{error}");
                }
            }
            assert!(decode(&[], 0, stride, mode, Filter::None).is_err());
        }
    }

    #[test]
    fn broken_data_is_refused() {
        let input = triangles();
        let decode = |input: &[u8]| decode(input, 9, 4, Mode::Triangles, Filter::None);
        assert!(decode(&[input.clone(), vec![0]].concat()).unwrap_err().contains("longer"));
        assert!(decode(&[&[0xa0], &input[1..]].concat()).unwrap_err().contains("begin"));
        for end in 0..input.len() {
            assert!(decode(&input[..end]).is_err(), "cut at {end}");
        }
        // The groups of the first byte are said to be stored as they are, and the bytes of 20 such groups are not there.
        let cut = [&[0xa0][..], &[0xff; 5], &[0; 60]].concat();
        assert!(attributes(&cut, 256, 4).unwrap_err().contains("cut short"));
    }

    #[test]
    fn changed_bytes_do_no_harm() {
        let quaternions = meshopt::encode_filter_quat(&[[0.5, 0.5, -0.5, 0.5]; 40], 12);
        let inputs = [
            (meshopt::encode_vertex_buffer(&quaternions).unwrap(), 40, 8, Mode::Attributes, Filter::Quaternion),
            (single(&[1, 2, 127, 4]), 1, 4, Mode::Attributes, Filter::Octahedral),
            (triangles(), 9, 2, Mode::Triangles, Filter::None),
            (vec![0xd1, 0x14, 0x06, 0xb1, 0x09, 0x04, 0, 0, 0, 0], 4, 4, Mode::Indices, Filter::None),
        ];
        for (mut input, count, stride, mode, filter) in inputs {
            assert!(decode(&input, count, stride, mode, filter).is_ok(), "{mode:?}");
            for place in 0..input.len() {
                let original = input[place];
                for value in 0..=255 {
                    input[place] = value;
                    let decoded = decode(&input, count, stride, mode, filter);
                    assert!(decoded.is_err() || decoded.is_ok_and(|bytes| bytes.len() == count * stride));
                }
                input[place] = original;
            }
        }
    }
}
