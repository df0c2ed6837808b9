//! The file of an environment: KTX 2, <https://registry.khronos.org/KTX/specs/2.0/ktxspec.v2.html>.

use glam::Vec3;
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::cube::FACES;
use super::{Environment, SIDES, Sun};

/// What every KTX 2 file begins with.
const MAGIC: &[u8] = b"\xabKTX 20\xbb\r\n\x1a\n";

/// The length of the header and of a level's place, which follows it.
const HEADER: usize = 80;
const PLACE: usize = 24;

/// The texels' `VkFormat`.
const E5B9G9R9_UFLOAT_PACK32: u32 = 123;

/// Schemes of supercompression.
const PLAIN: u32 = 0;
const ZSTANDARD: u32 = 2;

/// The largest file that is read: level 0 has 2048² × 6 texels at most.
const LARGEST_FILE: u64 = 512 << 20;

/// The window that a Zstandard stream may have: what its specification recommends to support.
const WINDOW: u64 = 8 << 20;

/// Keys of the numbers that go with the cube, each a text of decimal numbers with spaces between them.
const IRRADIANCE: &str = "AshwrightIrradiance";
const SUN: &str = "AshwrightSun";

/// A file's bytes.
pub(super) fn bytes(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(io::Error::other("the file is larger than 512 MiB"));
    }
    Ok(bytes)
}

/// Packs a colour as `VK_FORMAT_E5B9G9R9_UFLOAT_PACK32`: three mantissas of 9 bits, an exponent of 5 (Vulkan's
/// specification, *Shared Exponent Format*). No number, or less than 0, is 0.
pub(super) fn shared_exponent(color: Vec3) -> u32 {
    const LARGEST: f32 = 65408.0;
    let color = color.to_array().map(|value| if value > 0.0 { value.min(LARGEST) } else { 0.0 });
    let largest = color[0].max(color[1]).max(color[2]);
    // The exponent of a float is its logarithm's floor; 2⁻¹⁶ and less share the exponent 0.
    let floor = (largest.to_bits() >> 23) as i32 - 127;
    let mut exponent = floor.max(-16) + 16;
    let mantissa = |exponent: i32, value: f32| (value * 2.0f32.powi(24 - exponent)).round_ties_even() as u32;
    if mantissa(exponent, largest) == 512 {
        exponent += 1;
    }
    let [red, green, blue] = color.map(|value| mantissa(exponent, value));
    red | (green << 9) | (blue << 18) | ((exponent as u32) << 27)
}

/// The colour that is packed.
pub(super) fn color(packed: u32) -> Vec3 {
    let unit = 2.0f32.powi((packed >> 27) as i32 - 24);
    Vec3::from_array([0, 9, 18].map(|shift| ((packed >> shift) & 511) as f32 * unit))
}

/// An environment as a file. The error says what is wrong with it.
pub(super) fn encode(environment: &Environment) -> Result<Vec<u8>, String> {
    let size = environment.size;
    check_shape(size, environment.levels.len())?;
    let mut levels = Vec::new();
    for (index, texels) in environment.levels.iter().enumerate() {
        if texels.len() != texel_count(size, index) {
            return Err(format!("level {index} has {} texels instead of {}", texels.len(), texel_count(size, index)));
        }
        let packed: Vec<u8> = texels.iter().flat_map(|texel| texel.to_le_bytes()).collect();
        levels.push((compress_to_vec(packed.as_slice(), CompressionLevel::Fastest), packed.len()));
    }
    let descriptor = descriptor();
    let pairs = pairs(environment);
    let descriptor_at = HEADER + PLACE * levels.len();
    let pairs_at = descriptor_at + descriptor.len();
    let mut file = MAGIC.to_vec();
    let words = [E5B9G9R9_UFLOAT_PACK32, 4, size, size, 0, 0, FACES as u32, levels.len() as u32, ZSTANDARD];
    file.extend(words.into_iter().flat_map(u32::to_le_bytes));
    let index = [descriptor_at, descriptor.len(), pairs_at, pairs.len()];
    file.extend(index.into_iter().flat_map(|value| (value as u32).to_le_bytes()));
    // No global data.
    file.extend([0; 16]);
    // The smallest level comes first, so that a reader may show something early.
    let mut at = pairs_at + pairs.len() + levels.iter().map(|(stream, _)| stream.len()).sum::<usize>();
    for (stream, length) in &levels {
        at -= stream.len();
        file.extend([at, stream.len(), *length].into_iter().flat_map(|value| (value as u64).to_le_bytes()));
    }
    file.extend(descriptor);
    file.extend(pairs);
    levels.iter().rev().for_each(|(stream, _)| file.extend(stream));
    Ok(file)
}

/// The description of the texels (Khronos Data Format Specification, *Shared exponent formats*): linear Rec. 709, and of
/// each channel its mantissa and the exponent.
fn descriptor() -> Vec<u8> {
    const SAMPLES: u32 = 6;
    let block = 24 + 16 * SAMPLES;
    // Colour model RGBSDA (1), primaries BT.709 (1), transfer linear (1); one texel a block; four bytes a texel.
    let mut words = vec![4 + block, 0, 2 | (block << 16), 0x0001_0101, 0, 4, 0];
    for channel in 0..3 {
        // Bits from 0, 9, 18, nine of them; a mantissa of 8448 with the exponent's bias is 1.
        words.extend([(9 * channel) | (8 << 16) | (channel << 24), 0, 0, 8448]);
        // Bits from 27, five of them, an exponent (0x20) with a bias of 15.
        words.extend([27 | (4 << 16) | ((channel | 0x20) << 24), 0, 15, 31]);
    }
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// The key/value data, sorted by key.
fn pairs(environment: &Environment) -> Vec<u8> {
    let text = |vectors: &[Vec3]| {
        let numbers = vectors.iter().flat_map(|vector| vector.to_array()).map(|number| number.to_string());
        numbers.collect::<Vec<_>>().join(" ")
    };
    let mut pairs = vec![(IRRADIANCE, text(&environment.irradiance))];
    pairs.extend(environment.sun.map(|sun| (SUN, text(&[sun.direction, sun.irradiance]))));
    // Columns run right and rows down.
    pairs.extend([("KTXorientation", "rd".to_owned()), ("KTXwriter", "Ashwright".to_owned())]);
    let mut bytes = Vec::new();
    for (key, value) in pairs {
        let pair = format!("{key}\0{value}\0");
        bytes.extend((pair.len() as u32).to_le_bytes());
        bytes.extend(pair.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

/// An environment from a file's bytes. The error says what is wrong with them.
pub(super) fn decode(file: &[u8]) -> Result<Environment, String> {
    if !file.starts_with(MAGIC) {
        return Err("is not a KTX 2 file".into());
    }
    let word = |at: usize| Ok::<u32, String>(u32::from_le_bytes(array(file, at)?));
    let (format, scheme) = (word(12)?, word(44)?);
    if format != E5B9G9R9_UFLOAT_PACK32 {
        return Err(format!("its VkFormat is {format} instead of {E5B9G9R9_UFLOAT_PACK32}"));
    }
    if scheme != PLAIN && scheme != ZSTANDARD {
        return Err(format!("its supercompression scheme {scheme} is neither none (0) nor Zstandard (2)"));
    }
    let (size, height, faces, levels) = (word(20)?, word(24)?, word(36)?, word(40)? as usize);
    if height != size || word(28)? != 0 || word(32)? != 0 || faces != FACES as u32 {
        return Err("its texels are no cube of six square faces".into());
    }
    check_shape(size, levels)?;
    let pairs = slice(file, word(56)?.into(), word(60)?.into()).ok_or("its key/value data lies outside the file")?;
    let irradiance = vectors(pairs, IRRADIANCE)?.ok_or_else(|| {
        format!("has no entry {IRRADIANCE}: it is a cube, but no environment; make one with bake-environment")
    })?;
    let sun = vectors(pairs, SUN)?.map(|[direction, irradiance]| Sun { direction, irradiance });
    if sun.is_some_and(|sun| !sun.direction.is_normalized()) {
        return Err(format!("the direction in its entry {SUN} is no unit vector"));
    }
    let level = |index: usize| {
        let long = |at: usize| Ok::<u64, String>(u64::from_le_bytes(array(file, HEADER + PLACE * index + at)?));
        let stored = slice(file, long(0)?, long(8)?).ok_or_else(|| format!("level {index} lies outside the file"))?;
        let length = texel_count(size, index) * size_of::<u32>();
        if long(16)? != length as u64 {
            return Err(format!("level {index} has {} bytes instead of {length}", long(16)?));
        }
        let inflated = if scheme == ZSTANDARD { Some(inflate(stored, length)) } else { None };
        let inflated = inflated.transpose().map_err(|problem| format!("level {index}: {problem}"))?;
        let bytes = inflated.as_deref().unwrap_or(stored);
        if bytes.len() != length {
            return Err(format!("level {index} is {} bytes long instead of {length}", bytes.len()));
        }
        Ok(bytes.as_chunks().0.iter().map(|&texel| u32::from_le_bytes(texel)).collect())
    };
    let levels = (0..levels).map(level).collect::<Result<_, _>>()?;
    Ok(Environment { irradiance, size, levels, sun })
}

fn check_shape(size: u32, levels: usize) -> Result<(), String> {
    if !size.is_power_of_two() || !SIDES.contains(&size) {
        return Err(format!("its faces of {size} texels a side are no power of two from 16 to 2048"));
    }
    // Roughness needs two ends.
    if !(2..=size.ilog2() as usize + 1).contains(&levels) {
        return Err(format!("{levels} levels are too few or too many for faces of {size} texels a side"));
    }
    Ok(())
}

/// How many texels a level has.
fn texel_count(size: u32, level: usize) -> usize {
    let side = size as usize >> level;
    FACES * side * side
}

fn array<const N: usize>(file: &[u8], at: usize) -> Result<[u8; N], String> {
    let bytes = file.get(at..).and_then(|rest| rest.first_chunk());
    bytes.copied().ok_or_else(|| "the file ends within its header".into())
}

fn slice(file: &[u8], at: u64, length: u64) -> Option<&[u8]> {
    let (at, length) = (usize::try_from(at).ok()?, usize::try_from(length).ok()?);
    file.get(at..at.checked_add(length)?)
}

/// The vectors that the value of a key holds.
fn vectors<const N: usize>(mut pairs: &[u8], key: &str) -> Result<Option<[Vec3; N]>, String> {
    while !pairs.is_empty() {
        let broken = || "its key/value data is broken".to_owned();
        let length = u32::from_le_bytes(*pairs.first_chunk().ok_or_else(broken)?);
        let pair = slice(pairs, 4, length.into()).ok_or_else(broken)?;
        // The last one may lack its padding.
        pairs = pairs.get((4 + pair.len()).next_multiple_of(4)..).unwrap_or_default();
        let Some(value) = pair.strip_prefix(key.as_bytes()).and_then(|rest| rest.strip_prefix(b"\0")) else {
            continue;
        };
        let wrong = || format!("its entry {key} is not {} finite numbers", 3 * N);
        let text = str::from_utf8(value).map_err(|_| wrong())?;
        let numbers =
            text.trim_end_matches('\0').split(' ').map(|number| number.parse().ok().filter(|n: &f32| n.is_finite()));
        let numbers: Vec<f32> = numbers.collect::<Option<_>>().ok_or_else(wrong)?;
        let vectors: Vec<Vec3> =
            numbers.chunks(3).filter_map(|three| Some(Vec3::from(*three.first_chunk()?))).collect();
        let vectors: [Vec3; N] = vectors.try_into().map_err(|_| wrong())?;
        return if numbers.len() == 3 * N { Ok(Some(vectors)) } else { Err(wrong()) };
    }
    Ok(None)
}

/// What a Zstandard stream holds, but not much more than `length` bytes. Memory is taken as bytes come.
fn inflate(stream: &[u8], length: usize) -> Result<Vec<u8>, String> {
    let broken = |error: &dyn std::fmt::Display| format!("its Zstandard stream is broken: {error}");
    let decoder = StreamingDecoder::new_with_max_window_size(stream, WINDOW.max(length as u64));
    let mut bytes = Vec::new();
    let decoder = decoder.map_err(|error| broken(&error))?;
    decoder.take(length as u64 + 1).read_to_end(&mut bytes).map_err(|error| broken(&error))?;
    Ok(bytes)
}
