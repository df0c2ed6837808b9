//! A sample's picture against the one that was accepted.

use std::path::{Path, PathBuf};

use image::RgbaImage;

use crate::sample;

/// A pixel differs if one of its channels does by more than this, of 255. lavapipe generates code for the processor it
/// runs on, whose fused operations round differently: neighbouring values are the same picture.
const TOLERANCE: u8 = 4;

/// The share of pixels that may differ: on an edge, a last bit can decide which triangle a sample belongs to.
const MOST_DIFFERENT: f64 = 0.0005;

/// Renders a sample headless under strict validation, twice, and compares with `golden.png` in its folder `folder`: the
/// same bytes both times, and the golden picture but for what differs from processor to processor. Other drivers than
/// Mesa's software driver are only reported. With `ASHWRIGHT_BLESS` set, the picture becomes the golden one.
///
/// # Panics
///
/// If the sample fails, the two pictures differ, or the golden picture is missing or another one.
pub fn check(binary: &str, folder: &str, options: &[&str]) {
    let folder = Path::new(folder);
    let enforced = sample::has_software_gpu(binary);
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let (first, second) = (scratch.path().join("first.png"), scratch.path().join("second.png"));
    for picture in [&first, &second] {
        let mut all = vec!["--headless", "--validation", "strict", "--screenshot"];
        all.push(picture.to_str().expect("a temporary folder's name is text"));
        all.extend(options);
        if enforced {
            all.extend(["--gpu", sample::SOFTWARE_GPU]);
        }
        let ended = sample::run(binary, &all);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(ended.stderr, "", "a sample that goes well says nothing");
    }
    let bytes = |path: &Path| std::fs::read(path).expect("the sample has written it");
    assert!(bytes(&first) == bytes(&second), "the same command has given two pictures");

    let golden = folder.join("golden.png");
    if std::env::var_os("ASHWRIGHT_BLESS").is_some() {
        std::fs::copy(&first, &golden).expect("the golden picture can be written");
        println!("accepted {}", golden.display());
        return;
    }
    assert!(golden.exists(), "there is no {}: make it with tools/test --bless SAMPLE and look at it", golden.display());
    let (actual, expected) = (open(&first), open(&golden));
    let difference = Difference::new(&actual, &expected);
    if difference.share <= MOST_DIFFERENT {
        return;
    }
    let saved = difference.save(&actual, &golden);
    let text =
        format!("{} of the pixels differ: see {} and {}", difference.share, saved[0].display(), saved[1].display());
    assert!(!enforced, "{text}");
    println!("{text} (not by {}, so only reported)", sample::SOFTWARE_GPU);
}

fn open(path: &Path) -> RgbaImage {
    image::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).into_rgba8()
}

/// How two pictures differ.
pub struct Difference {
    /// The share of pixels that differ by more than the tolerance, from 0 to 1; 1 where the sizes do.
    pub share: f64,
    picture: RgbaImage,
}

impl Difference {
    /// Compares two pictures.
    pub fn new(actual: &RgbaImage, expected: &RgbaImage) -> Self {
        if actual.dimensions() != expected.dimensions() {
            return Self { share: 1.0, picture: actual.clone() };
        }
        let mut picture = actual.clone();
        let mut different = 0;
        for (pixel, expected) in picture.pixels_mut().zip(expected.pixels()) {
            let channel = |i: usize| pixel[i].abs_diff(expected[i]);
            let off = [channel(0), channel(1), channel(2)];
            different += u32::from(off.iter().any(|&off| off > TOLERANCE));
            // Eight times as bright as it is, to be seen.
            pixel.0 = [off[0].saturating_mul(8), off[1].saturating_mul(8), off[2].saturating_mul(8), u8::MAX];
        }
        let pixels = f64::from(actual.width()) * f64::from(actual.height());
        Self { share: f64::from(different) / pixels, picture }
    }

    /// Leaves the actual picture and the difference beside the golden one, and says where.
    fn save(&self, actual: &RgbaImage, golden: &Path) -> [PathBuf; 2] {
        let paths = [golden.with_extension("actual.png"), golden.with_extension("difference.png")];
        actual.save(&paths[0]).expect("the picture can be written");
        self.picture.save(&paths[1]).expect("the picture can be written");
        paths
    }
}

#[cfg(test)]
mod tests {
    use image::Rgba;

    use super::*;

    #[test]
    fn counts_pixels_beyond_the_tolerance() {
        let black = RgbaImage::from_pixel(10, 10, Rgba([0, 0, 0, 255]));
        let mut other = black.clone();
        other.put_pixel(3, 3, Rgba([0, TOLERANCE, 0, 255]));
        assert_eq!(Difference::new(&other, &black).share, 0.0);
        other.put_pixel(4, 4, Rgba([0, 0, TOLERANCE + 1, 255]));
        assert_eq!(Difference::new(&other, &black).share, 0.01);
        assert_eq!(Difference::new(&RgbaImage::new(9, 10), &black).share, 1.0);
    }
}
