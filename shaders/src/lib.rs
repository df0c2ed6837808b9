//! The shaders of all samples as SPIR-V, compiled when this crate is built.
//!
//! Sources lie beside this crate in `shaders/SAMPLE/`, pieces to include in `shaders/lib/`. A sample takes a
//! shader with [`spirv!`]; one that does not compile is an error in the sample that takes it.

include!(concat!(env!("OUT_DIR"), "/spirv.rs"));

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
