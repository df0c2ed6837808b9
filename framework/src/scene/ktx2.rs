//! Decoding of KTX 2 images: those of `KHR_texture_basisu` (ETC1S and UASTC) and plain ones of 8 bits a channel.

use basisu::{DecodeFlags, TargetFormat, Transcoder};
use ruzstd::decoding::StreamingDecoder;
use std::borrow::Cow;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What every KTX 2 file begins with.
const MAGIC: &[u8] = b"\xabKTX 20\xbb\r\n\x1a\n";

/// The largest width and height: the transcoder counts pixels and bytes in 32 bits.
const LARGEST_SIDE: u32 = 16384;

/// The length of the header, which the places of the levels follow.
const HEADER: usize = 80;

/// The length of the descriptor of the data before its samples, and of a sample.
const DESCRIPTOR: usize = 28;
const SAMPLE: usize = 16;

/// The length of what the codebooks of ETC1S begin with, and of the description of an image after that.
const CODEBOOKS: usize = 20;
const IMAGE: usize = 20;

/// The window that a Zstandard stream may have: what its specification recommends to support.
const WINDOW: u64 = 8 << 20;

/// Colour models and channels of the Khronos Data Format Specification.
const MODEL_ETC1S: u8 = 163;
const MODEL_UASTC: u8 = 166;
const ETC1S_GREEN: u8 = 4;
const UASTC_RED_GREEN: u8 = 5;

/// Whether a file says that it is a KTX 2 image.
pub(super) fn is_ktx2(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The largest level of a two-dimensional image, not yet decoded.
#[derive(Debug)]
pub(super) struct Ktx2<'a> {
    /// Width and height in pixels: neither is 0, nor above 16384.
    pub(super) size: (u32, u32),
    data: &'a [u8],
    is_zstandard: bool,
    content: Content<'a>,
}

/// What an image's data is.
#[derive(Debug)]
enum Content<'a> {
    /// Pixels of these channels, 8 bits each; each channel's index in RGBA.
    Plain(&'static [usize]),
    /// Blocks of 16 bytes.
    Uastc { is_red_green: bool },
    /// Indices into codebooks.
    Etc1s { codebooks: Codebooks<'a>, color: &'a [u8], alpha: Option<&'a [u8]>, is_red_green: bool },
}

/// The codebooks of ETC1S and how indices into them are coded.
#[derive(Debug)]
struct Codebooks<'a> {
    /// How many endpoints and selectors there are.
    counts: &'a [u8],
    endpoints: &'a [u8],
    selectors: &'a [u8],
    tables: &'a [u8],
}

impl<'a> Ktx2<'a> {
    /// Reads everything but the pixels. The error says what is wrong with the file.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, String> {
        if !is_ktx2(bytes) {
            return Err("is not a KTX 2 file".into());
        }
        let size = (word(bytes, 20)?, word(bytes, 24)?);
        if size.0.min(size.1) == 0 || size.0.max(size.1) > LARGEST_SIDE {
            return Err(format!("its {} x {} pixels are none, or too many", size.0, size.1));
        }
        let (depth, layers, faces) = (word(bytes, 28)?, word(bytes, 32)?, word(bytes, 36)?);
        if depth > 1 || layers > 1 || faces != 1 {
            return Err("is not a single two-dimensional image, and only those can be read".into());
        }
        let data = section(bytes, HEADER)?;
        let scheme = word(bytes, 44)?;
        let content = match word(bytes, 12)? {
            0 => universal(bytes, data, scheme)?,
            format => Content::Plain(channels(format)?),
        };
        match (&content, scheme) {
            (Content::Etc1s { .. }, _) | (_, 0 | 2) => {}
            _ => return Err(format!("its supercompression scheme {scheme} cannot be read")),
        }
        Ok(Ktx2 { size, data, is_zstandard: scheme == 2, content })
    }

    /// Decodes to RGBA, 8 bits a channel, rows from top to bottom: `4 * width * height` bytes. Data of a few bytes
    /// can be an image of any size: whoever calls looks at [`Ktx2::size`] before.
    pub(super) fn decode(&self) -> Result<Vec<u8>, String> {
        let pixels = self.size.0 as usize * self.size.1 as usize;
        match &self.content {
            Content::Plain(channels) => Ok(expand(&self.level(pixels * channels.len())?, channels)),
            Content::Uastc { is_red_green } => {
                let blocks = self.size.0.div_ceil(4) as usize * self.size.1.div_ceil(4) as usize;
                let level = self.level(blocks * 16)?;
                transcode(&container(self.size, MODEL_UASTC, 1, &[], &level), pixels, *is_red_green)
            }
            Content::Etc1s { codebooks, color, alpha, is_red_green } => {
                let samples = 1 + usize::from(alpha.is_some());
                let global = codebooks.with_image(color.len(), alpha.map_or(0, <[u8]>::len));
                let data = [*color, alpha.unwrap_or_default()].concat();
                transcode(&container(self.size, MODEL_ETC1S, samples, &global, &data), pixels, *is_red_green)
            }
        }
    }

    /// The data of the level, of which `length` bytes are needed.
    fn level(&self, length: usize) -> Result<Cow<'a, [u8]>, String> {
        let level = if self.is_zstandard { inflate(self.data, length)?.into() } else { Cow::Borrowed(self.data) };
        match level {
            level if level.len() < length => {
                Err(format!("its pixels need {length} bytes, and there are {}", level.len()))
            }
            Cow::Borrowed(level) => Ok(Cow::Borrowed(&level[..length])),
            owned => Ok(owned),
        }
    }
}

impl<'a> Codebooks<'a> {
    /// Splits the global data of a file. Descriptions of its images come first, of which `levels` are skipped.
    fn parse(global: &'a [u8], levels: u32) -> Result<Self, String> {
        let length = |at| word(global, at).map(|length| length as usize);
        let images = IMAGE.saturating_mul(levels as usize);
        let mut rest = global.get(CODEBOOKS..).and_then(|rest| rest.get(images..)).ok_or(CUT_SHORT)?;
        let mut take = |length: usize| {
            let (part, after) = rest.split_at_checked(length).ok_or(CUT_SHORT)?;
            rest = after;
            Ok::<_, String>(part)
        };
        let (endpoints, selectors, tables) = (take(length(4)?)?, take(length(8)?)?, take(length(12)?)?);
        Ok(Codebooks { counts: &global[..4], endpoints, selectors, tables })
    }

    /// The global data of a file whose only image begins with its colours, which its alpha follows.
    fn with_image(&self, color: usize, alpha: usize) -> Vec<u8> {
        let mut global = self.counts.to_vec();
        let parts = [self.endpoints, self.selectors, self.tables];
        let lengths = parts.map(<[u8]>::len);
        for value in lengths.into_iter().chain([0, 0, 0, color, color, alpha]) {
            global.extend((value as u32).to_le_bytes());
        }
        parts.iter().for_each(|part| global.extend(*part));
        global
    }
}

const CUT_SHORT: &str = "is cut short, or refers to places outside of it";

fn word(bytes: &[u8], at: usize) -> Result<u32, String> {
    let bytes = bytes.get(at..).and_then(|rest| rest.first_chunk()).ok_or(CUT_SHORT)?;
    Ok(u32::from_le_bytes(*bytes))
}

/// The part of the file that two numbers of 64 bits at a place say.
fn section(bytes: &[u8], at: usize) -> Result<&[u8], String> {
    let number = |at| Ok::<_, String>(u64::from(word(bytes, at)?) | u64::from(word(bytes, at + 4)?) << 32);
    let (start, length) = (number(at)?, number(at + 8)?);
    let end = start.checked_add(length).filter(|&end| end <= bytes.len() as u64).ok_or(CUT_SHORT)?;
    Ok(&bytes[start as usize..end as usize])
}

/// The channels of a Vulkan format, as indices in RGBA.
fn channels(format: u32) -> Result<&'static [usize], String> {
    match format {
        9 | 15 => Ok(&[0]),
        16 | 22 => Ok(&[0, 1]),
        23 | 29 => Ok(&[0, 1, 2]),
        30 | 36 => Ok(&[2, 1, 0]),
        37 | 43 => Ok(&[0, 1, 2, 3]),
        44 | 50 => Ok(&[2, 1, 0, 3]),
        _ => Err(format!("its format (number {format} of Vulkan's) cannot be read")),
    }
}

/// Reads what is special to ETC1S and UASTC; `data` is the level's.
fn universal<'a>(bytes: &'a [u8], data: &'a [u8], scheme: u32) -> Result<Content<'a>, String> {
    let (start, length) = (word(bytes, 48)? as usize, word(bytes, 52)? as usize);
    let descriptor = bytes.get(start..).and_then(|rest| rest.get(..length)).ok_or(CUT_SHORT)?;
    let model = *descriptor.get(12).ok_or(CUT_SHORT)?;
    let channel = |sample: usize| descriptor.get(DESCRIPTOR + SAMPLE * sample + 3).map(|channel| channel & 0xf);
    let first = channel(0).ok_or(CUT_SHORT)?;
    match (model, scheme) {
        (MODEL_UASTC, _) => Ok(Content::Uastc { is_red_green: first == UASTC_RED_GREEN }),
        (MODEL_ETC1S, 1) => {
            let global = section(bytes, 64)?;
            let slice = |at| {
                let (start, length) = (word(global, at)? as usize, word(global, at + 4)? as usize);
                let slice = data.get(start..).and_then(|rest| rest.get(..length));
                slice.ok_or_else(|| CUT_SHORT.to_owned())
            };
            Ok(Content::Etc1s {
                codebooks: Codebooks::parse(global, word(bytes, 40)?.max(1))?,
                color: slice(CODEBOOKS + 4)?,
                alpha: channel(1).map(|_| slice(CODEBOOKS + 12)).transpose()?,
                is_red_green: channel(1) == Some(ETC1S_GREEN),
            })
        }
        _ => Err(format!("its colour model {model} with supercompression scheme {scheme} cannot be read")),
    }
}

/// The first `length` bytes of a Zstandard stream, or what there is of them. Memory is taken as bytes come.
fn inflate(stream: &[u8], length: usize) -> Result<Vec<u8>, String> {
    let broken = |error: &dyn std::fmt::Display| format!("its Zstandard stream is broken: {error}");
    let decoder = StreamingDecoder::new_with_max_window_size(stream, WINDOW.max(length as u64));
    let mut bytes = Vec::new();
    let decoder = decoder.map_err(|error| broken(&error))?;
    decoder.take(length as u64).read_to_end(&mut bytes).map_err(|error| broken(&error))?;
    Ok(bytes)
}

/// Makes RGBA of other channels. What is missing is 0, and alpha 255.
fn expand(bytes: &[u8], channels: &[usize]) -> Vec<u8> {
    let mut pixels = Vec::with_capacity(bytes.len() / channels.len() * 4);
    for pixel in bytes.chunks_exact(channels.len()) {
        let mut rgba = [0, 0, 0, 255];
        channels.iter().zip(pixel).for_each(|(&channel, &value)| rgba[channel] = value);
        pixels.extend(rgba);
    }
    pixels
}

/// A file of one level that has nothing but what the transcoder reads, so that every length and place in it is right.
fn container(size: (u32, u32), model: u8, samples: usize, global: &[u8], level: &[u8]) -> Vec<u8> {
    let descriptor = DESCRIPTOR + SAMPLE * samples;
    let (global_at, scheme) = (HEADER + 24 + descriptor, u32::from(model == MODEL_ETC1S));
    let level_at = global_at + global.len();
    let mut file = MAGIC.to_vec();
    for value in [0, 1, size.0, size.1, 0, 0, 1, 1, scheme, HEADER as u32 + 24, descriptor as u32, 0, 0] {
        file.extend(value.to_le_bytes());
    }
    let uncompressed = if scheme == 0 { level.len() } else { 0 };
    for value in [global_at, global.len(), level_at, level.len(), uncompressed] {
        file.extend((value as u64).to_le_bytes());
    }
    let mut data = vec![0; descriptor];
    // Sizes and offsets of bits are not read: the model, a linear transfer, and that UASTC has four channels.
    (data[12], data[14], data[DESCRIPTOR + 3]) = (model, 1, if model == MODEL_UASTC { 3 } else { 0 });
    file.extend(data);
    file.extend(global);
    file.extend(level);
    file
}

/// Decodes a file made by [`container`].
fn transcode(file: &[u8], pixels: usize, is_red_green: bool) -> Result<Vec<u8>, String> {
    // The transcoder is safe Rust: the worst that data can make of it is a panic, after which nothing of its state is
    // used.
    let decoded = catch_unwind(AssertUnwindSafe(|| {
        Transcoder::new(file).and_then(|file| file.transcode(0, TargetFormat::Rgba32, DecodeFlags::NONE))
    }));
    let mut decoded = match decoded {
        Ok(Ok(decoded)) if decoded.len() == pixels * 4 => decoded,
        _ => return Err("its compressed data is broken".into()),
    };
    if is_red_green {
        // Two channels are coded as grey and alpha.
        decoded.as_chunks_mut().0.iter_mut().for_each(|pixel: &mut [u8; 4]| *pixel = [pixel[0], pixel[3], 0, 255]);
    }
    Ok(decoded)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail that way.
mod tests {
    use super::*;

    const RGBA8_UNORM: u32 = 37;
    const UNDEFINED: u32 = 0;

    /// A file of one level, by the KTX 2 specification. `samples`: the channels that the descriptor names.
    struct File {
        format: u32,
        size: (u32, u32),
        scheme: u32,
        model: u8,
        samples: Vec<u8>,
        global: Vec<u8>,
        level: Vec<u8>,
    }

    impl File {
        fn plain(format: u32, size: (u32, u32), level: &[u8]) -> Self {
            File { format, size, scheme: 0, model: 1, samples: vec![0], global: Vec::new(), level: level.to_vec() }
        }

        fn uastc(size: (u32, u32), channel: u8, level: &[u8]) -> Self {
            File { model: MODEL_UASTC, samples: vec![channel], ..File::plain(UNDEFINED, size, level) }
        }

        fn bytes(&self) -> Vec<u8> {
            let descriptor = 28 + 16 * self.samples.len() as u32;
            let mut bytes = MAGIC.to_vec();
            let (width, height) = self.size;
            for value in [self.format, 1, width, height, 0, 0, 1, 1, self.scheme, 104, descriptor, 0, 0] {
                bytes.extend(value.to_le_bytes());
            }
            let global = u64::from(104 + descriptor);
            let (global_length, length) = (self.global.len() as u64, self.level.len() as u64);
            for value in [global, global_length, global + global_length, length, 0] {
                bytes.extend(value.to_le_bytes());
            }
            let mut data = vec![0; descriptor as usize];
            (data[12], data[14]) = (self.model, 2);
            for (index, channel) in self.samples.iter().enumerate() {
                data[28 + 16 * index + 3] = *channel;
            }
            [bytes, data, self.global.clone(), self.level.clone()].concat()
        }

        fn decode(&self) -> Result<Vec<u8>, String> {
            decode(&self.bytes())
        }
    }

    fn decode(bytes: &[u8]) -> Result<Vec<u8>, String> {
        Ktx2::parse(bytes)?.decode()
    }

    /// Bits, the lowest of a byte first.
    #[derive(Default)]
    struct Bits(Vec<bool>);

    impl Bits {
        fn put(&mut self, value: u32, count: u32) -> &mut Self {
            self.0.extend((0..count).map(|bit| value >> bit & 1 == 1));
            self
        }

        /// A code in which one or two symbols have one bit: the first symbol 0.
        fn code(&mut self, symbols: &[u32]) -> &mut Self {
            let count = symbols.iter().max().unwrap() + 1;
            self.put(count, 14).put(19, 5);
            // Lengths of the codes for lengths: one bit for length 0, the fifth in order, and for length 1.
            (0..19).for_each(|place| _ = self.put(u32::from(place == 4 || place == 18), 3));
            (0..count).for_each(|symbol| _ = self.put(u32::from(symbols.contains(&symbol)), 1));
            self
        }

        fn bytes(&self) -> Vec<u8> {
            let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
            self.0.chunks(8).map(byte).collect()
        }
    }

    /// 4 x 4 pixels of ETC1S with one endpoint (red and blue 21 of 31, green 16, modifiers of table 2) and one
    /// selector (0 to 3 in the first row, then 0).
    fn etc1s(alpha: Option<u8>) -> File {
        let mut endpoints = Bits::default();
        endpoints.code(&[0]).code(&[0, 5]).code(&[0]).code(&[2]).put(0, 1); // The last: not grey.
        endpoints.put(0, 1).put(1, 1).put(0, 1).put(1, 1); // The table is 0 + 2, each colour 16 + 5 or + 0.
        let mut selectors = Bits::default();
        selectors.put(0b100, 3).put(0xe4, 8).put(0, 24); // The last of three flags: not coded.
        let mut tables = Bits::default();
        tables.code(&[3]).code(&[0]).code(&[0]).code(&[0]).put(1, 13); // The first: no block to copy an endpoint from.
        let parts = [endpoints.bytes(), selectors.bytes(), tables.bytes()];
        let mut global = [1_u16, 1].map(u16::to_le_bytes).concat();
        let second = u32::from(alpha.is_some());
        for value in parts.each_ref().map(|part| part.len() as u32).into_iter().chain([0, 0, 0, 1, second, second]) {
            global.extend(value.to_le_bytes());
        }
        global.extend(parts.concat());
        let samples = [0].into_iter().chain(alpha).collect();
        File { scheme: 1, model: MODEL_ETC1S, samples, global, ..File::plain(UNDEFINED, (4, 4), &[0, 0]) }
    }

    /// A Zstandard frame that holds bytes as they are (RFC 8878).
    fn zstandard(bytes: &[u8]) -> Vec<u8> {
        let block = (bytes.len() as u32) << 3 | 1;
        [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, bytes.len() as u8][..], &block.to_le_bytes()[..3], bytes].concat()
    }

    /// UASTC's block of one colour: five bits of mode 8, then the channels.
    fn solid(rgba: [u8; 4]) -> Vec<u8> {
        (u128::from(u32::from_le_bytes(rgba)) << 5 | 0x17).to_le_bytes().to_vec()
    }

    #[test]
    fn plain_formats_become_rgba() {
        let decode = |format, level: &[u8]| File::plain(format, (2, 1), level).decode().unwrap();
        assert_eq!(decode(9, &[1, 2]), [1, 0, 0, 255, 2, 0, 0, 255]);
        assert_eq!(decode(16, &[1, 2, 3, 4]), [1, 2, 0, 255, 3, 4, 0, 255]);
        assert_eq!(decode(29, &[1, 2, 3, 4, 5, 6]), [1, 2, 3, 255, 4, 5, 6, 255]);
        assert_eq!(decode(30, &[1, 2, 3, 4, 5, 6]), [3, 2, 1, 255, 6, 5, 4, 255]);
        assert_eq!(decode(RGBA8_UNORM, &[1, 2, 3, 4, 5, 6, 7, 8]), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(decode(50, &[1, 2, 3, 4, 5, 6, 7, 8]), [3, 2, 1, 4, 7, 6, 5, 8]);
        let zstandard = File { scheme: 2, ..File::plain(9, (3, 1), &zstandard(&[7, 8, 9])) };
        assert_eq!(zstandard.decode().unwrap(), [7, 0, 0, 255, 8, 0, 0, 255, 9, 0, 0, 255]);
    }

    #[test]
    fn uastc_is_decoded() {
        let blocks = [solid([1, 2, 3, 4]), solid([200, 100, 50, 25])].concat();
        // 5 x 3 pixels take two blocks.
        let expected = [[[1, 2, 3, 4]; 4].concat(), vec![200, 100, 50, 25]].concat().repeat(3);
        assert_eq!(File::uastc((5, 3), 3, &blocks).decode().unwrap(), expected);
        let compressed = File { scheme: 2, ..File::uastc((5, 3), 3, &zstandard(&blocks)) };
        assert_eq!(compressed.decode().unwrap(), expected);
        let red_green = File::uastc((1, 1), 5, &solid([7, 7, 7, 9])).decode().unwrap();
        assert_eq!(red_green, [7, 9, 0, 255]);
    }

    #[test]
    fn etc1s_is_decoded() {
        // 21 and 16 of 31 are 173 and 132 of 255; the modifiers are -29, -9, 9 and 29.
        let row = [[144, 103, 144], [164, 123, 164], [182, 141, 182], [202, 161, 202]];
        let pixels = || row.into_iter().chain([row[0]; 12]);
        let opaque: Vec<u8> = pixels().flat_map(|[r, g, b]| [r, g, b, 255]).collect();
        assert_eq!(etc1s(None).decode().unwrap(), opaque);
        // Alpha is the green of the second slice, which here is the same as the first.
        let alpha: Vec<u8> = pixels().flat_map(|[r, g, b]| [r, g, b, g]).collect();
        assert_eq!(etc1s(Some(15)).decode().unwrap(), alpha);
        let red_green: Vec<u8> = pixels().flat_map(|[r, g, _]| [r, g, 0, 255]).collect();
        assert_eq!(etc1s(Some(4)).decode().unwrap(), red_green);
    }

    #[test]
    fn other_files_are_refused() {
        let error = |file: File| file.decode().unwrap_err();
        assert!(decode(b"\x89PNG").unwrap_err().contains("not a KTX 2"));
        assert!(error(File::plain(RGBA8_UNORM, (0, 1), &[])).contains("0 x 1"));
        assert!(error(File::plain(RGBA8_UNORM, (1, 16385), &[])).contains("1 x 16385"));
        assert!(error(File::plain(RGBA8_UNORM, (2, 2), &[0; 15])).contains("need 16 bytes"));
        assert!(error(File::plain(131, (4, 4), &[0; 8])).contains("number 131"));
        assert!(error(File { scheme: 3, ..File::plain(RGBA8_UNORM, (1, 1), &[0; 4]) }).contains("scheme 3"));
        assert!(error(File { scheme: 1, ..File::uastc((4, 4), 0, &[0; 16]) }).contains("scheme 1"));
        assert!(error(File { model: 162, ..File::uastc((4, 4), 0, &[0; 16]) }).contains("model 162"));
        assert!(error(File::uastc((5, 4), 0, &[0; 16])).contains("need 32 bytes"));
        assert!(error(File { scheme: 2, ..File::plain(9, (2, 1), &zstandard(&[1])) }).contains("need 2 bytes"));
        assert!(error(File { scheme: 2, ..File::plain(9, (2, 1), b"none") }).contains("Zstandard"));
        for (place, value) in [(28, 2), (32, 2), (36, 6)] {
            let mut bytes = File::plain(RGBA8_UNORM, (1, 1), &[0; 4]).bytes();
            bytes[place] = value;
            assert!(decode(&bytes).unwrap_err().contains("two-dimensional"), "{place}");
        }
    }

    #[test]
    fn files_cut_short_are_refused() {
        for file in [File::plain(RGBA8_UNORM, (1, 1), &[0; 4]), File::uastc((1, 1), 0, &solid([0; 4])), etc1s(Some(15))]
        {
            let bytes = file.bytes();
            for end in 0..bytes.len() {
                assert!(decode(&bytes[..end]).is_err(), "cut at {end}");
            }
        }
    }

    #[test]
    fn changed_bytes_do_no_harm() {
        let files = [
            File { scheme: 2, ..File::uastc((4, 4), 3, &zstandard(&solid([1, 2, 3, 4]))) },
            etc1s(None),
            etc1s(Some(15)),
        ];
        for file in files {
            let mut bytes = file.bytes();
            for place in 0..bytes.len() {
                let original = bytes[place];
                for value in [0, 1, 2, 3, 127, 128, 255, original ^ 4, original ^ 16, original ^ 64] {
                    bytes[place] = value;
                    let Ok(image) = Ktx2::parse(&bytes) else { continue };
                    if u64::from(image.size.0) * u64::from(image.size.1) < 1 << 16 {
                        _ = image.decode();
                    }
                }
                bytes[place] = original;
            }
        }
    }
}
