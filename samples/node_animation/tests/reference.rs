//! Pictures of the same models by other programs: where something is drawn, and what has no light on it.

use std::path::{Path, PathBuf};

use image::RgbaImage;
use serde_json::Value;
use tools::{corpus, oracle, sample};

const NODE_ANIMATION: &str = env!("CARGO_BIN_EXE_node_animation");

/// The share of pixels that may differ: light makes a few pixels of the other program's picture just the background's grey,
/// and how large points are is everybody's own choice.
const MOST_DIFFERENT: f64 = 0.001;

/// Other programs than the usual one are right about these, by the corpus's word.
const BY_THREE: [&str; 2] = ["SynNodeCorners", "SynMorphAll"];

/// What pictures are cleared with.
const BACKGROUND: [f64; 3] = [0.2; 3];

/// The description of each picture, and the picture.
fn references(corpus: &Path) -> Vec<(PathBuf, Value)> {
    let folder = corpus.join("reference");
    let files = std::fs::read_dir(&folder).expect("it can be read").filter_map(|entry| Some(entry.ok()?.path()));
    let mut descriptions: Vec<_> = files.filter(|path| path.extension().is_some_and(|name| name == "json")).collect();
    descriptions.sort();
    let read = |description: PathBuf| {
        let stem = description.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let by_three = BY_THREE.iter().any(|name| stem.starts_with(name));
        let description = if by_three { folder.join("three").join(stem + ".json") } else { description };
        (description.with_extension("png"), oracle::read_json(&description))
    };
    descriptions.into_iter().map(read).collect()
}

/// The sample's picture of what a description describes.
fn draw(corpus: &Path, description: &Value) -> RgbaImage {
    let vector =
        |value: &Value| value.as_array().expect("three numbers").iter().map(Value::to_string).collect::<Vec<_>>();
    let camera = &description["camera"];
    let (eye, target) = (vector(&camera["eye"]).join(","), vector(&camera["target"]).join(","));
    let fov = camera["yfovRadians"].as_f64().expect("an angle").to_degrees().to_string();
    let size = format!("{}x{}", description["width"], description["height"]);
    let animation = match &description["animation"] {
        Value::Null => "none".to_owned(),
        // A list is one of all clips.
        Value::Array(_) => "all".to_owned(),
        number => number.to_string(),
    };
    let model = corpus.join(description["model"].as_str().expect("a path"));
    let background = BACKGROUND.map(|channel| channel.to_string()).join(",");
    let time = description["time"].as_f64().unwrap_or_default().to_string();
    let options = [
        model.to_str().expect("the corpus's path is Unicode"),
        "--no-stage",
        "--no-loop",
        "--msaa",
        "1",
        "--size",
        &size,
        "--eye",
        &eye,
        "--target",
        &target,
        "--fov",
        &fov,
        "--animation",
        &animation,
        "--time",
        &time,
        "--background",
        &background,
    ];
    let (ended, picture) = sample::draw(NODE_ANIMATION, options);
    picture.unwrap_or_else(|| panic!("{}: {}", model.display(), ended.stderr))
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
    let background = BACKGROUND.map(|channel| (255.0 * channel).round() as u8);
    let pictures: Vec<_> = references(&corpus);
    let names: Vec<PathBuf> = pictures.iter().map(|(picture, _)| picture.clone()).collect();
    let failures = corpus::failures(&names, |path| {
        let (_, description) = pictures.iter().find(|(picture, _)| picture == path)?;
        let expected = image::open(path).expect("it can be read").into_rgba8();
        let is_like = |a: [u8; 3], b: [u8; 3]| (a == background) == (b == background);
        let share = different(&draw(&corpus, description), &expected, is_like);
        println!("{}: {share}", path.display());
        (share > MOST_DIFFERENT).then(|| format!("{}: {share} of the pixels differ", path.display()))
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(names.len() > 30, "only {} pictures", names.len());
}

#[test]
fn what_is_unlit_has_the_colours_that_others_give_it() {
    let Some(corpus) = corpus::gltf() else { return };
    let path = corpus.join("reference/UnlitTest.json");
    let description: Value = oracle::read_json(&path);
    assert_eq!((&description["toneMap"], &description["exposure"]), (&"none".into(), &1.into()), "colours are plain");
    let expected = image::open(path.with_extension("png")).expect("it can be read").into_rgba8();
    // Rounding, and encoding by an approximation.
    let is_like = |a: [u8; 3], b: [u8; 3]| a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 1);
    assert_eq!(different(&draw(&corpus, &description), &expected, is_like), 0.0);
}
