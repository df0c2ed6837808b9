//! Pictures of models by other programs, with a description of how each was made.

use std::path::{Path, PathBuf};

use image::RgbaImage;
use serde_json::Value;

use crate::oracle;

/// Other programs than the usual one are right about these, by the corpus's word.
const BY_THREE: [&str; 2] = ["SynNodeCorners", "SynMorphAll"];

/// A picture by another program.
pub struct Reference {
    /// The file's name without its extension.
    pub name: String,
    /// The picture.
    pub picture: PathBuf,
    /// How it was made.
    pub description: Value,
}

/// All pictures of the corpus's `reference`, sorted by name.
///
/// # Panics
///
/// If they cannot be listed, or a description cannot be read.
pub fn all(corpus: &Path) -> Vec<Reference> {
    let folder = corpus.join("reference");
    let files = std::fs::read_dir(&folder).expect("it can be read").filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|name| name == "json")).collect();
    files.sort();
    let read = |file: PathBuf| {
        let name = file.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let by_three = BY_THREE.iter().any(|three| name.starts_with(three));
        let file = if by_three { folder.join("three").join(format!("{name}.json")) } else { file };
        Reference { name, picture: file.with_extension("png"), description: oracle::read_json(&file) }
    };
    files.into_iter().map(read).collect()
}

impl Reference {
    /// Options by which a sample shows the same model in the same pose from the same place, before the same background.
    ///
    /// # Panics
    ///
    /// If the description lacks something.
    pub fn options(&self, corpus: &Path) -> Vec<String> {
        let description = &self.description;
        let camera = &description["camera"];
        let fov = camera["yfovRadians"].as_f64().expect("an angle").to_degrees();
        let animation = match &description["animation"] {
            Value::Null => "none".to_owned(),
            // A list is one of all clips.
            Value::Array(_) => "all".to_owned(),
            number => number.to_string(),
        };
        let model = corpus.join(description["model"].as_str().expect("a path"));
        let model = model.to_str().expect("the corpus's path is Unicode");
        let mut options = ["--no-stage", "--no-loop", "--msaa", "1", model].map(str::to_owned).to_vec();
        let mut option = |name: &str, value: String| options.extend([name.to_owned(), value]);
        option("--size", format!("{}x{}", description["width"], description["height"]));
        option("--eye", vector(&camera["eye"]));
        option("--target", vector(&camera["target"]));
        option("--fov", fov.to_string());
        option("--animation", animation);
        option("--time", description["time"].as_f64().unwrap_or_default().to_string());
        option("--background", vector(&description["background_sRGB"]));
        options
    }

    /// The picture by the other program.
    ///
    /// # Panics
    ///
    /// If it cannot be read.
    pub fn open(&self) -> RgbaImage {
        image::open(&self.picture).unwrap_or_else(|error| panic!("{}: {error}", self.picture.display())).into_rgba8()
    }
}

/// Three numbers of a description as a sample's options take them.
///
/// # Panics
///
/// If they are none.
pub fn vector(value: &Value) -> String {
    value.as_array().expect("three numbers").iter().map(Value::to_string).collect::<Vec<_>>().join(",")
}

/// The share of pixels of two pictures that differ by more than `tolerance` of 255 in a channel, and so do all about them:
/// silhouettes, which every program draws a little differently, do not count.
///
/// # Panics
///
/// If the sizes differ.
pub fn difference(a: &RgbaImage, b: &RgbaImage, tolerance: u8) -> f64 {
    assert_eq!(a.dimensions(), b.dimensions());
    let (width, height) = a.dimensions();
    let differs = |x: u32, y: u32| {
        let (a, b) = (a.get_pixel(x, y), b.get_pixel(x, y));
        (0..3).any(|channel| a[channel].abs_diff(b[channel]) > tolerance)
    };
    let about = |at: u32, end: u32| at.saturating_sub(1)..(at + 2).min(end);
    let counts = |&(x, y): &(u32, u32)| about(y, height).all(|y| about(x, width).all(|x| differs(x, y)));
    let counted = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).filter(counts).count();
    counted as f64 / f64::from(width * height)
}

#[cfg(test)]
mod tests {
    use image::Rgba;

    use super::*;

    #[test]
    fn what_differs_by_itself_does_not_count() {
        let black = RgbaImage::from_pixel(10, 10, Rgba([0, 0, 0, 255]));
        let mut other = black.clone();
        for x in 0..10 {
            other.put_pixel(x, 4, Rgba([0, 9, 0, 255]));
            other.put_pixel(x, 5, Rgba([0, 9, 0, 255]));
        }
        assert_eq!(difference(&other, &black, 8), 0.0);
        for x in 0..10 {
            other.put_pixel(x, 6, Rgba([0, 0, 9, 255]));
        }
        assert_eq!(difference(&other, &black, 8), 0.1);
        assert_eq!(difference(&other, &black, 9), 0.0);
    }
}
