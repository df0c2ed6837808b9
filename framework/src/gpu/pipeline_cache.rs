//! Pipelines that were made before, kept on disk from run to run.

use std::path::{Path, PathBuf};

use ash::vk;

use super::PhysicalDevice;

/// In front of the driver's data in the file: its checksum, little-endian.
const CHECKSUM_BYTES: usize = 4;

/// The file of a GPU and its driver in the user's cache folder; `None` where the user has none.
pub(super) fn file(physical: &PhysicalDevice) -> Option<PathBuf> {
    let vk::PhysicalDeviceProperties { vendor_id, device_id, driver_version, pipeline_cache_uuid, .. } =
        physical.properties;
    let uuid: String = pipeline_cache_uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    let name = format!("pipelines-{vendor_id:04x}-{device_id:04x}-{driver_version:08x}-{uuid}.bin");
    Some(dirs::cache_dir()?.join("ashwright").join(name))
}

/// What was kept, or nothing where there is no file or it is damaged.
pub(super) fn load(physical: &PhysicalDevice) -> Vec<u8> {
    file(physical).and_then(|file| read(&file)).unwrap_or_default()
}

fn read(file: &Path) -> Option<Vec<u8>> {
    // Whatever else may have that name, a pipe without a writer, has no end.
    if !file.is_file() {
        return None;
    }
    checked(&std::fs::read(file).ok()?)
}

/// Keeps the driver's data. A cache that cannot be kept is no error: the next start is a little slower.
pub(super) fn save(physical: &PhysicalDevice, data: &[u8]) {
    let write = |file: PathBuf| -> std::io::Result<()> {
        let folder = file.parent().unwrap_or(&file);
        std::fs::create_dir_all(folder)?;
        // Another program may be reading or writing the same file: it is replaced as a whole.
        let part = folder.join(format!("part-{}.bin", std::process::id()));
        std::fs::write(&part, [&crc32fast::hash(data).to_le_bytes(), data].concat())?;
        std::fs::rename(part, file)
    };
    let _ = file(physical).map(write);
}

/// The data behind the checksum, if it fits.
fn checked(bytes: &[u8]) -> Option<Vec<u8>> {
    let (checksum, data) = bytes.split_first_chunk::<CHECKSUM_BYTES>()?;
    (crc32fast::hash(data).to_le_bytes() == *checksum).then(|| data.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_data_is_not_used() {
        // The CRC-32 of "123456789", by which its implementations are checked.
        let mut file = [&0xcbf4_3926_u32.to_le_bytes()[..], b"123456789"].concat();
        assert_eq!(checked(&file).as_deref(), Some(&b"123456789"[..]));
        file[7] ^= 1;
        assert_eq!(checked(&file), None);
        assert_eq!(checked(&file[..3]), None);
        assert_eq!(checked(&[]), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_no_file_is_not_read() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("coreutils are installed");
        assert!(made.success());
        assert_eq!(read(&pipe), None);
        assert_eq!(read(folder.path()), None);
        assert_eq!(read(&folder.path().join("missing")), None);
    }
}
