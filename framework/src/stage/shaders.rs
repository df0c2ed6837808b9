//! The shaders of the stage as SPIR-V, from `shaders/stage`.

include!(concat!(env!("OUT_DIR"), "/spirv.rs"));

pub(super) use spirv;

/// The words of a SPIR-V file, stored in this machine's byte order.
const fn words<const BYTES: usize, const WORDS: usize>(bytes: &[u8; BYTES]) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    let mut i = 0;
    while i < WORDS {
        words[i] = u32::from_ne_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]]);
        i += 1;
    }
    words
}
