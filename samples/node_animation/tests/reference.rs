//! Pictures of the same models by other programs: where something is drawn, and what has no light on it.

use std::path::{Path, PathBuf};

use image::RgbaImage;
use tools::reference::{self, Reference};
use tools::{corpus, sample};

const NODE_ANIMATION: &str = env!("CARGO_BIN_EXE_node_animation");

/// The share of pixels that may differ: light makes a few pixels of the other program's picture just the background's grey,
/// and how large points are is everybody's own choice.
const MOST_DIFFERENT: f64 = 0.001;

/// The sample's picture of what a description describes.
fn draw(corpus: &Path, reference: &Reference) -> RgbaImage {
    let (ended, picture) = sample::draw(NODE_ANIMATION, reference.options(corpus));
    picture.unwrap_or_else(|| panic!("{}: {}", reference.name, ended.stderr))
}

/// What a picture was cleared with.
fn background(reference: &Reference) -> [u8; 3] {
    let channel = |channel: usize| reference.description["background_sRGB"][channel].as_f64().expect("three numbers");
    [0, 1, 2].map(|index| (255.0 * channel(index)).round() as u8)
}

/// The share of pixels that are not like any of the nine about their place in the other picture, either way around.
fn different(a: &RgbaImage, b: &RgbaImage, is_like: impl Fn([u8; 3], [u8; 3]) -> bool) -> f64 {
    assert_eq!(a.dimensions(), b.dimensions());
    let (width, height) = a.dimensions();
    let color = |picture: &RgbaImage, x, y| {
        let pixel = picture.get_pixel(x, y);
        [pixel[0], pixel[1], pixel[2]]
    };
    let is_lost = |from: &RgbaImage, to: &RgbaImage, x: u32, y: u32| {
        let about = |at: u32, end: u32| at.saturating_sub(1)..(at + 2).min(end);
        let wanted = color(from, x, y);
        !about(y, height).any(|y| about(x, width).any(|x| is_like(wanted, color(to, x, y))))
    };
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let lost = places.filter(|&(x, y)| is_lost(a, b, x, y) || is_lost(b, a, x, y)).count();
    lost as f64 / f64::from(width * height)
}

#[test]
fn something_is_drawn_where_others_draw_something() {
    let Some(corpus) = corpus::gltf() else { return };
    let references = reference::all(&corpus);
    let pictures: Vec<PathBuf> = references.iter().map(|reference| reference.picture.clone()).collect();
    let failures = corpus::failures(&pictures, |path| {
        let reference = references.iter().find(|reference| reference.picture == path)?;
        let background = background(reference);
        let is_like = |a: [u8; 3], b: [u8; 3]| (a == background) == (b == background);
        let share = different(&draw(&corpus, reference), &reference.open(), is_like);
        println!("{}: {share}", reference.name);
        (share > MOST_DIFFERENT).then(|| format!("{}: {share} of the pixels differ", reference.name))
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(references.len() > 30, "only {} pictures", references.len());
}

#[test]
fn what_is_unlit_has_the_colours_that_others_give_it() {
    let Some(corpus) = corpus::gltf() else { return };
    let references = reference::all(&corpus);
    let reference = references.iter().find(|reference| reference.name == "UnlitTest").expect("it is there");
    let Reference { description, .. } = reference;
    assert_eq!((&description["toneMap"], &description["exposure"]), (&"none".into(), &1.into()), "colours are plain");
    // Rounding, and encoding by an approximation.
    let is_like = |a: [u8; 3], b: [u8; 3]| a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 1);
    assert_eq!(different(&draw(&corpus, reference), &reference.open(), is_like), 0.0);
}
