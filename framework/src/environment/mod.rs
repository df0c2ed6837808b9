//! Light from all around, prepared once and read at the start: the diffuse part as nine numbers a channel, the glossy
//! part as a cube whose levels are blurred as a GGX surface of growing roughness blurs its reflections.
//!
//! [`Environment::bake`] makes one of a panorama, [`Environment::write`] and [`Environment::read`] keep it in a KTX 2
//! file, [`environment_brdf`] makes the table that goes with it, [`EnvironmentMaps`] is all of it on the GPU.
//! [`Environment::named`] finds the one that a user names.
//!
//! # Shading with it
//!
//! With the unit normal `n`, the unit direction `r = reflect(-v, n)`, `NoV = dot(n, v)` and the perceptual roughness:
//!
//! ```text
//! diffuse  = diffuse color · max(c0 + c1·n.y + c2·n.z + c3·n.x + c4·n.x·n.y + c5·n.y·n.z
//!                                + c6·(3·n.z² − 1) + c7·n.x·n.z + c8·(n.x² − n.y²), 0)
//! specular = textureLod(cube, r, roughness·(levels − 1)) · (f0·A + B)      with A, B of the table at (NoV, roughness)
//! ```
//!
//! This is the split sum of Karis, *Real Shading in Unreal Engine 4* (2013): a level is baked as if the surface were
//! seen from along its normal.
//!
//! # Units and spaces
//!
//! Colours are linear Rec. 709 radiance, in whatever unit the panorama has. Directions are those of glTF: right-handed,
//! Y up. The cube is looked up with a direction of the world as it is.
//!
//! # Which way a panorama looks
//!
//! Column `u` (0 left, 1 right) and row `v` (0 top, 1 bottom) of an equirectangular panorama show the direction
//! `(sin(π·v)·cos(φ), cos(π·v), sin(π·v)·sin(φ))` with `φ = 2π·(u − 0.5)`: its middle looks along +X, a quarter further
//! right is +Z, and left and right are as a viewer inside sees them. Khronos's glTF sample viewer lays its panoramas the
//! same way where its environment is not turned.

mod brdf;
mod cube;
mod harmonics;
mod ktx2;
mod maps;
mod named;
mod panorama;
mod prefilter;
#[cfg(test)]
mod tests;

pub use brdf::{environment_brdf, environment_brdf_at};
pub use cube::direction;
pub use maps::EnvironmentMaps;
pub use named::{names, percentage};
pub use panorama::Panorama;

use glam::Vec3;
use std::path::{Path, PathBuf};

use cube::{Cube, FACES};

/// The side of a level's faces that is the smallest: light blurred by a roughness of 1 needs no more.
const SMALLEST: u32 = 8;

/// The sides that the faces of level 0 may have: powers of two from here to there.
const SIDES: std::ops::RangeInclusive<u32> = 2 * SMALLEST..=2048;

/// The largest radiance that is taken from a panorama, so that sums stay finite.
const BRIGHTEST: f32 = 1e8;

/// Light from everywhere, ready for diffuse and for glossy surfaces.
#[derive(Debug, Clone, PartialEq)]
pub struct Environment {
    /// What a white Lambertian surface sends out by its normal: irradiance divided by π, as the coefficients of nine
    /// polynomials. See [`Environment::diffuse`]. Spherical harmonics up to the second order of the radiance convolved
    /// with the cosine, all constants multiplied in (Ramamoorthi and Hanrahan, *An Efficient Representation for
    /// Irradiance Environment Maps*, 2001).
    pub irradiance: [Vec3; 9],
    /// The side of a face of level 0 in texels, a power of two. Level `i` has `size >> i`.
    pub size: u32,
    /// The levels of the cube, each at the perceptual roughness `i / (levels.len() - 1)`; level 0 is the picture itself.
    /// A level is its six faces, one after another: +X, -X, +Y, -Y, +Z, -Z, each by rows from the top as Vulkan lays
    /// them. A texel is of `VK_FORMAT_E5B9G9R9_UFLOAT_PACK32`.
    pub levels: Vec<Vec<u32>>,
    /// The sun, where the panorama leaves it out: it is then a light of the scene.
    pub sun: Option<Sun>,
}

/// A sun that is not in the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sun {
    /// The unit direction from the ground to the sun.
    pub direction: Vec3,
    /// The irradiance of a surface that faces it, in the unit of the environment's radiance times steradians: a white
    /// Lambertian surface facing the sun sends out `irradiance / π`.
    pub irradiance: Vec3,
}

/// A file or a panorama that makes no environment. Displayed as one sentence that names the file, if there is one.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// The file cannot be read or written.
    #[error("{}: {error}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// The file is broken, or no environment that [`Environment::write`] would write.
    #[error("{}: {problem}", file.display())]
    Broken {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// There is no environment of this name.
    #[error("there is no environment {name}; there are {names}, and files that end in .hdr or .ktx2")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        names: String,
    },
    /// The panorama's size, or that of the cube to make of it, cannot be.
    #[error("{0}")]
    Panorama(String),
}

impl Environment {
    /// Makes an environment of a panorama.
    ///
    /// `size` is the side of a face of level 0: a power of two from 16 to 2048. There are levels down to faces of 8 × 8.
    /// `progress` is told, from any thread, what part of the work is done, 0 to 1.
    ///
    /// The result depends on the panorama alone. Pixels that are negative or no numbers are taken for black. Texels are
    /// rounded to what `VK_FORMAT_E5B9G9R9_UFLOAT_PACK32` can hold, 65408 at most.
    ///
    /// # Errors
    ///
    /// There are not `width * height` pixels or none; `size` is none of those named.
    pub fn bake(panorama: &Panorama, size: u32, progress: impl Fn(f32) + Sync) -> Result<Self, EnvironmentError> {
        let Panorama { pixels, width, height } = panorama;
        let (columns, rows) = (*width as usize, *height as usize);
        if pixels.is_empty() || columns.checked_mul(rows) != Some(pixels.len()) {
            let pixels = pixels.len();
            let problem = format!("a panorama of {width} x {height} pixels cannot be made of {pixels} pixels");
            return Err(EnvironmentError::Panorama(problem));
        }
        if !size.is_power_of_two() || !SIDES.contains(&size) {
            let problem = format!("faces of {size} texels a side are no power of two from 16 to 2048");
            return Err(EnvironmentError::Panorama(problem));
        }
        // A NaN is not greater than 0.
        let radiance =
            |pixel: &Vec3| pixel.to_array().map(|value| if value > 0.0 { value.min(BRIGHTEST) } else { 0.0 }).into();
        let equirect: Vec<Vec3> = pixels.iter().map(radiance).collect();
        let irradiance = harmonics::irradiance(&equirect, columns, rows);
        let pyramid = prefilter::pyramid(&equirect, columns, rows, size as usize);
        let levels = prefilter::levels(&pyramid, size as usize, level_count(size), &progress);
        let levels = levels.iter().map(texels).collect();
        Ok(Self { irradiance, size, levels, sun: None })
    }

    /// No light at all.
    pub fn black() -> Self {
        let level = |size: u32| vec![0; FACES * (size * size) as usize];
        let size = *SIDES.start();
        Self { irradiance: [Vec3::ZERO; 9], size, levels: vec![level(size), level(size / 2)], sun: None }
    }

    /// Whether there is no light at all: the first coefficient is the mean of the picture, which has no negative light.
    pub fn is_black(&self) -> bool {
        self.irradiance[0] == Vec3::ZERO
    }

    /// Reads a file that [`Environment::write`] has written.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is no KTX 2 file, is broken, or holds something else than an environment.
    pub fn read(file: impl AsRef<Path>) -> Result<Self, EnvironmentError> {
        let file = file.as_ref();
        let bytes = ktx2::bytes(file).map_err(|error| EnvironmentError::File { file: file.into(), error })?;
        ktx2::decode(&bytes).map_err(|problem| EnvironmentError::Broken { file: file.into(), problem })
    }

    /// Writes a KTX 2 file: a cube of `VK_FORMAT_E5B9G9R9_UFLOAT_PACK32`, compressed by Zstandard, and the other numbers
    /// as text in its key/value data. The texels of a baked environment come back exactly as they are.
    ///
    /// # Errors
    ///
    /// The file cannot be written; a level has not six faces of its size.
    pub fn write(&self, file: impl AsRef<Path>) -> Result<(), EnvironmentError> {
        let file = file.as_ref();
        let bytes = ktx2::encode(self).map_err(|problem| EnvironmentError::Broken { file: file.into(), problem })?;
        std::fs::write(file, bytes).map_err(|error| EnvironmentError::File { file: file.into(), error })
    }

    /// The radiance of a white Lambertian surface with this unit normal: its irradiance divided by π. Never negative,
    /// though the polynomials of a single bright light may be, a little.
    pub fn diffuse(&self, normal: Vec3) -> Vec3 {
        let terms = harmonics::polynomials(normal);
        let sum: Vec3 = self.irradiance.iter().zip(terms).map(|(&coefficient, term)| coefficient * term).sum();
        sum.max(Vec3::ZERO)
    }

    /// A texel's linear radiance: `face` 0 to 5, `x` from the left, `y` from the top.
    ///
    /// # Panics
    ///
    /// If there is no such texel.
    pub fn texel(&self, level: usize, face: usize, x: usize, y: usize) -> Vec3 {
        let side = self.size as usize >> level;
        assert!(face < FACES && x < side && y < side, "there is no texel {x}, {y} of face {face}");
        ktx2::color(self.levels[level][(face * side + y) * side + x])
    }
}

/// How many levels a cube has.
fn level_count(size: u32) -> usize {
    (size / SMALLEST).ilog2() as usize + 1
}

/// A cube's texels, rounded to shared exponents.
fn texels(cube: &Cube) -> Vec<u32> {
    cube.faces().map(ktx2::shared_exponent).collect()
}
