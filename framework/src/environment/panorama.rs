//! Pictures of all that is around.

use std::io::Cursor;
use std::path::Path;

use glam::Vec3;
use image::{ImageFormat, ImageReader};

use super::{EnvironmentError, SIDES, ktx2};

/// An equirectangular picture of linear radiance; [the module's documentation](super) says which way it looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Panorama {
    /// Rows of `width` pixels, from the top.
    pub pixels: Vec<Vec3>,
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Panorama {
    /// Reads a Radiance picture (.hdr), twice as wide as high.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is no such picture or is broken.
    pub fn read(file: impl AsRef<Path>) -> Result<Self, EnvironmentError> {
        let file = file.as_ref();
        let bytes = ktx2::bytes(file).map_err(|error| EnvironmentError::File { file: file.into(), error })?;
        Self::decode(&bytes).map_err(|problem| EnvironmentError::Broken { file: file.into(), problem })
    }

    /// A panorama from a file's bytes. The error says what is wrong with them.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, String> {
        let mut reader =
            ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|error| error.to_string())?;
        if reader.format() != Some(ImageFormat::Hdr) {
            return Err("is no Radiance picture (.hdr)".into());
        }
        reader.limits(image::Limits::default());
        let picture = reader.decode().map_err(|error| format!("is broken: {error}"))?.into_rgb32f();
        let (width, height) = picture.dimensions();
        if width != 2 * height {
            return Err(format!("has {width} x {height} pixels; an equirectangular panorama is twice as wide as high"));
        }
        Ok(Self { pixels: picture.pixels().map(|pixel| Vec3::from(pixel.0)).collect(), width, height })
    }

    /// The side of faces that show as much as the picture does, in texels, as far as [`Environment::bake`] makes them.
    ///
    /// [`Environment::bake`]: super::Environment::bake
    pub fn fitting_size(&self) -> u32 {
        // A face is a quarter of the panorama's width. Larger ones than the second number are not worth their memory.
        self.width.div_ceil(4).next_power_of_two().clamp(*SIDES.start(), 512)
    }
}
