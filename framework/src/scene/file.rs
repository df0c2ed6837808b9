//! Bytes from outside: regular files, the GLB container, URIs.

use super::error::Problem;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Reads the whole of a regular file, or its first `limit` bytes. Devices and pipes, which may never
/// end, are refused.
pub(super) fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    let size = usize::try_from(metadata.len().min(limit)).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(size).map_err(|_| io::ErrorKind::OutOfMemory)?;
    std::fs::File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The two parts of a glTF file.
#[derive(Debug)]
pub(super) struct Container<'a> {
    /// The JSON text, as bytes.
    pub(super) json: &'a [u8],
    /// The BIN chunk of a GLB.
    pub(super) bin: Option<&'a [u8]>,
}

/// Tells a GLB from a JSON text by its first bytes and takes it apart (glTF 2.0, section 4.4).
pub(super) fn split(bytes: &[u8]) -> Result<Container<'_>, Problem> {
    if bytes.starts_with(b"glTF") {
        return split_glb(bytes).map_err(|rule| Problem::Container(format!("is not a valid GLB: {rule}")));
    }
    let json = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match json.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => Ok(Container { json, bin: None }),
        Some(_) => Err(Problem::Container(
            "is not glTF: it starts neither with \"glTF\" (binary) nor with \"{\" (JSON)".into(),
        )),
        None => Err(Problem::Container("is empty".into())),
    }
}

fn split_glb(bytes: &[u8]) -> Result<Container<'_>, String> {
    let (Some(version), Some(length)) = (word(bytes, 4), word(bytes, 8)) else {
        return Err(format!("the header takes 12 bytes and the file has {}", bytes.len()));
    };
    if version != 2 {
        return Err(format!("its container version is {version}, and only 2 can be read"));
    }
    // Bytes after the stated length are not part of the container, whatever they look like.
    let Some(container) = bytes.get(..length as usize) else {
        return Err(format!("the header announces {length} bytes and the file has {}; it was cut short", bytes.len()));
    };
    let mut chunks = container.get(12..).ok_or("its length is less than that of its header")?;
    if chunks.is_empty() {
        return Err("it has no JSON chunk".into());
    }
    let (kind, json) = next_chunk(&mut chunks)?;
    if kind != b"JSON" {
        return Err(format!("the first chunk must be JSON and is {:?}", String::from_utf8_lossy(kind)));
    }
    let mut bin = None;
    while !chunks.is_empty() {
        let (kind, data) = next_chunk(&mut chunks)?;
        if kind == b"BIN\0" && bin.is_none() {
            bin = Some(data);
        }
    }
    // Some writers pad the JSON with zeros where spaces are due.
    let end = json.iter().rposition(|&byte| byte != 0 && byte != b' ').map_or(0, |last| last + 1);
    match end {
        0 => Err("its JSON chunk is empty".into()),
        _ => Ok(Container { json: &json[..end], bin }),
    }
}

/// The type and data of the chunk that `rest` starts with; moves `rest` behind it.
fn next_chunk<'a>(rest: &mut &'a [u8]) -> Result<(&'a [u8], &'a [u8]), String> {
    let (Some(length), Some(kind)) = (word(rest, 0), rest.get(4..8)) else {
        return Err(format!("the header of a chunk takes 8 bytes, of which only {} are left", rest.len()));
    };
    let body = &rest[8..];
    let Some(data) = body.get(..length as usize) else {
        return Err(format!("a chunk announces {length} bytes and {} are left", body.len()));
    };
    *rest = &body[data.len()..];
    Ok((kind, data))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

/// What a URI of a glTF file stands for.
#[derive(Debug, PartialEq)]
pub(super) enum Uri {
    /// Bytes written out in the URI itself.
    Data(Vec<u8>),
    /// A path relative to the folder of the glTF file.
    File(PathBuf),
}

/// Decodes a URI. Only data URIs and relative paths are taken: a model must not reach for other
/// places of the machine or the network.
pub(super) fn decode_uri(uri: &str) -> Result<Uri, String> {
    match scheme(uri) {
        Some(scheme) if scheme.eq_ignore_ascii_case("data") => {
            return decode_data(&uri[scheme.len() + 1..]).map(Uri::Data);
        }
        Some(scheme) => {
            return Err(format!("its scheme {scheme:?} is refused; only relative paths and data URIs are read"));
        }
        None => {}
    }
    let path =
        percent_decode_str(uri).decode_utf8().map_err(|_| format!("{uri:?} is not UTF-8 after percent-decoding"))?;
    if path.is_empty() || path.contains('\0') {
        return Err(format!("{uri:?} is not the name of a file"));
    }
    // `C:` can hide behind `C%3A`; `has_root` alone does not see a drive.
    if path.starts_with(['/', '\\']) || Path::new(&*path).is_absolute() || scheme(&path).is_some_and(|s| s.len() == 1) {
        return Err(format!("{uri:?} is an absolute path, which is refused; only relative paths are read"));
    }
    Ok(Uri::File(PathBuf::from(&*path)))
}

/// The scheme of a URI, if it has one (RFC 3986, section 3.1).
fn scheme(uri: &str) -> Option<&str> {
    let (scheme, _) = uri.split_once(':')?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    (scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.bytes().all(allowed)).then_some(scheme)
}

/// The bytes of a data URI after its `data:` (RFC 2397).
fn decode_data(rest: &str) -> Result<Vec<u8>, String> {
    let (kind, data) = rest.split_once(',').ok_or("is a data URI without a comma")?;
    let bytes = percent_decode_str(data);
    if !kind.to_ascii_lowercase().ends_with(";base64") {
        return Ok(bytes.collect());
    }
    let engine = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let bytes: std::borrow::Cow<[u8]> = bytes.into();
    engine.decode(&*bytes).map_err(|error| format!("is a data URI with broken base64: {error}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail that way.
mod tests {
    use super::*;

    fn glb(version: u32, length: u32, chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut bytes = b"glTF".to_vec();
        bytes.extend(version.to_le_bytes());
        bytes.extend(length.to_le_bytes());
        for (kind, data) in chunks {
            bytes.extend((data.len() as u32).to_le_bytes());
            bytes.extend(*kind);
            bytes.extend(*data);
        }
        bytes
    }

    #[test]
    fn a_glb_is_json_and_bin() {
        let mut bytes = glb(2, 40, &[(b"JSON", b"{}  "), (b"BIN\0", &[1, 2, 3, 4, 5, 6, 7, 8])]);
        assert_eq!(bytes.len(), 40);
        bytes.extend(glb(2, 0, &[(b"BIN\0", &[9])])); // Stray bytes that look like a container.
        let container = split(&bytes).unwrap();
        assert_eq!(container.json, b"{}");
        assert_eq!(container.bin, Some(&[1, 2, 3, 4, 5, 6, 7, 8][..]));
    }

    #[test]
    fn unknown_chunks_are_skipped_but_not_in_place_of_the_first() {
        let bytes = glb(2, 47, &[(b"JSON", b"{}\0\0"), (b"ODD ", b"123"), (b"BIN\0", &[5, 6, 7, 8])]);
        assert_eq!(split(&bytes).unwrap().bin, Some(&[5, 6, 7, 8][..]));
        let bytes = glb(2, 24, &[(b"ODD ", b"{}  ")]);
        assert!(split(&bytes).unwrap_err().to_string().contains("first chunk must be JSON"));
    }

    #[test]
    fn broken_containers_are_refused() {
        let good = glb(2, 36, &[(b"JSON", b"{}  "), (b"BIN\0", &[1, 2, 3, 4])]);
        assert!(split(&good).is_ok());
        for length in [1, 4, 11, 12, 19, 24, 35] {
            assert!(split(&good[..length]).is_err(), "cut at {length}");
        }
        for (length, why) in [(12, "no JSON"), (16, "8 bytes"), (30, "8 bytes"), (11, "less"), (37, "cut short")] {
            let mut bytes = good.clone();
            bytes[8] = length;
            let error = split(&bytes).unwrap_err().to_string();
            assert!(error.contains(why), "{length}: {error}");
        }
        let mut wrapping = good.clone();
        wrapping[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(split(&wrapping).unwrap_err().to_string().contains("announces 4294967295 bytes"));
        assert!(split(&glb(1, 12, &[])).unwrap_err().to_string().contains("version is 1"));
        assert!(split(b"\x89PNG").unwrap_err().to_string().contains("is not glTF"));
        assert!(split(b" \n").unwrap_err().to_string().contains("empty"));
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        assert_eq!(split(b"\xef\xbb\xbf {}").unwrap().json, b" {}");
    }

    #[test]
    fn relative_paths_are_percent_decoded() {
        let file = |uri| match decode_uri(uri) {
            Ok(Uri::File(path)) => path.to_str().unwrap().to_owned(),
            other => panic!("{uri}: {other:?}"),
        };
        assert_eq!(file("a%20b+c.bin"), "a b+c.bin");
        assert_eq!(file("tex/50%25%2B%231.png"), "tex/50%+#1.png");
        assert_eq!(file("d%C3%A9p%C3%B4t/ß.bin"), "dépôt/ß.bin");
        assert_eq!(file("../shared.bin"), "../shared.bin");
        assert_eq!(file("./a:b.bin"), "./a:b.bin");
    }

    #[test]
    fn other_places_are_refused() {
        for uri in ["/etc/passwd", "file:///etc/passwd", "http://x/y", "C:/a", "C%3A/a", "%2Fetc", "\\\\host\\a"] {
            assert!(decode_uri(uri).is_err_and(|why| why.contains("refused")), "{uri}");
        }
        for uri in ["", "a%00b", "%ff.bin"] {
            assert!(decode_uri(uri).is_err(), "{uri:?}");
        }
    }

    #[test]
    fn data_uris_are_decoded() {
        // RFC 4648, section 10: BASE64("foob") = "Zm9vYg==".
        let data = |uri| decode_uri(uri).map(|uri| if let Uri::Data(bytes) = uri { bytes } else { panic!("{uri:?}") });
        assert_eq!(data("data:application/octet-stream;base64,Zm9vYg==").unwrap(), b"foob");
        assert_eq!(data("DATA:application/gltf-buffer;charset=x;Base64,Zm9vYg").unwrap(), b"foob");
        assert_eq!(data("data:;base64,Zm9vYg%3D%3D").unwrap(), b"foob");
        assert_eq!(data("data:,a%20b").unwrap(), b"a b");
        assert!(data("data:;base64,@@@@").unwrap_err().contains("base64"));
        assert!(data("data:nothing").unwrap_err().contains("comma"));
    }

    #[test]
    fn only_regular_files_are_read() {
        assert_eq!(read(Path::new("."), 1).unwrap_err().to_string(), "it is not a regular file");
        let this = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/scene/file.rs");
        assert_eq!(read(&this, 4).unwrap(), b"//! ");
    }
}
