//! What the technique promises, by number: no light is lost or made, views show what is stored, and light comes from where
//! it is.

use std::f32::consts::PI;
use std::path::{Path, PathBuf};

use ashwright::environment::{Environment, Panorama};
use ashwright::glam::{Vec2, Vec3};
use image::{DynamicImage, Rgb, Rgb32FImage, RgbaImage};
use serde_json::json;
use tempfile::TempDir;
use tools::facing::{Facing, is_near, linear, srgb};
use tools::little::Little;
use tools::sample;

const PBR: &str = env!("CARGO_BIN_EXE_pbr");

/// What may be lost or made of the light of a white room.
const FURNACE: f32 = 0.02;

/// Colours are rounded to 8 bits, and GPUs may encode sRGB by an approximation: the last bit may be another one.
const TOLERANCE: u8 = 1;

const BACKGROUND: &str = "0.25,0.25,0.25";
const BACKGROUND_PIXEL: [u8; 3] = [64; 3];

/// What light is as it is: no operator.
const PLAIN: [&str; 2] = ["--operator", "none"];

/// Writes an environment that is made of a radiance for each direction, and gives its name.
fn environment(folder: &TempDir, radiance: impl Fn(Vec3) -> Vec3) -> String {
    let (width, height) = (128, 64);
    let pixel = |index: u32| {
        let (u, v) = ((index % width) as f32 + 0.5, (index / width) as f32 + 0.5);
        let (sin, cos) = (PI * v / height as f32).sin_cos();
        let (z, x) = (2.0 * PI * (u / width as f32 - 0.5)).sin_cos();
        radiance(Vec3::new(sin * x, cos, sin * z))
    };
    let panorama = Panorama { pixels: (0..width * height).map(pixel).collect(), width, height };
    let environment = Environment::bake(&panorama, 16, |_| ()).expect("the panorama is one");
    let file = folder.path().join("environment.ktx2");
    environment.write(&file).expect("it can be written");
    file.to_str().expect("the name is text").to_owned()
}

/// Adds a sphere of radius 1 with smooth normals.
fn sphere(little: &mut Little, center: Vec2, material: usize) {
    const COLUMNS: u16 = 96;
    const ROWS: u16 = 48;
    let vertices = (0..=ROWS).flat_map(|row| (0..=COLUMNS).map(move |column| (row, column)));
    let normals: Vec<[f32; 3]> = vertices
        .map(|(row, column)| {
            let (sin, cos) = (PI * f32::from(row) / f32::from(ROWS)).sin_cos();
            let (x, z) = (2.0 * PI * f32::from(column) / f32::from(COLUMNS)).sin_cos();
            [sin * x, cos, sin * z]
        })
        .collect();
    let positions: Vec<_> = normals.iter().map(|&[x, y, z]| [x + center.x, y + center.y, z]).collect();
    let quads = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| row * (COLUMNS + 1) + column));
    let indices: Vec<_> = quads
        .flat_map(|first| {
            let below = first + COLUMNS + 1;
            [[first], [below], [first + 1], [first + 1], [below], [below + 1]]
        })
        .collect();
    let (positions, normals) = (little.floats(&positions), little.floats(&normals));
    let indices = little.shorts(&indices);
    let attributes = json!({ "POSITION": positions, "NORMAL": normals });
    let mesh = little.mesh(json!({ "attributes": attributes, "indices": indices, "material": material }));
    little.root(json!({ "mesh": mesh }));
}

/// A white room of radiance 0.5 with white spheres in it, of roughness 0 to 1 from the left and metallic 0, 0.5 and 1 from
/// below: what each sends out at least and at most, as a part of what it gets.
fn furnace() -> Vec<(f32, f32, f32, f32)> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let room = environment(&folder, |_| Vec3::ONE);
    let mut little = Little::default();
    let places: Vec<(i32, i32)> = (0..=10).flat_map(|column| (0..3).map(move |row| (column, row))).collect();
    let center = |(column, row): (i32, i32)| Vec2::new(2.4 * (column - 5) as f32, 2.4 * (row - 1) as f32);
    let parts = |(column, row): (i32, i32)| (column as f32 / 10.0, row as f32 / 2.0);
    for &place in &places {
        let (roughness, metallic) = parts(place);
        let numbers = json!({ "roughnessFactor": roughness, "metallicFactor": metallic });
        let material = little.lit([1.0; 4], json!({ "pbrMetallicRoughness": numbers }));
        sphere(&mut little, center(place), material);
    }
    let model = little.save(folder.path());
    let view = Facing { size: (1320, 400), height: 8.0, ..Facing::SQUARE };
    let options = ["--environment", &room, "--exposure", "-1", "--msaa", "1"];
    let picture = view.draw(PBR, &model, BACKGROUND, &[&options[..], &PLAIN].concat());
    let measure = |&place: &(i32, i32)| {
        let sent = picture.enumerate_pixels().filter_map(|(x, y, pixel)| {
            let from_center = Vec2::new(x as f32 + 0.5, y as f32 + 0.5) - view.place(center(place));
            // A little less than a sphere shows: its silhouette is no circle.
            let inside = from_center.length() < 0.97 * 50.0;
            inside.then(|| linear([pixel[0], pixel[1], pixel[2]]) / 0.5)
        });
        let sent: Vec<Vec3> = sent.collect();
        let least = sent.iter().map(|part| part.min_element()).fold(f32::INFINITY, f32::min);
        let most = sent.iter().map(|part| part.max_element()).fold(0.0, f32::max);
        let (roughness, metallic) = parts(place);
        (roughness, metallic, least, most)
    };
    places.iter().map(measure).collect()
}

#[test]
fn a_white_sphere_in_a_white_room_is_not_seen() {
    for (roughness, metallic, least, most) in furnace() {
        println!("roughness {roughness}, metallic {metallic}: {least:.3} to {most:.3}");
        assert!(least > 1.0 - FURNACE && most < 1.0 + FURNACE, "{roughness}, {metallic}: {least} to {most}");
    }
}

fn save(little: Little) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = little.save(folder.path());
    (folder, path)
}

fn add_square(little: &mut Little, material: usize) {
    let square = little.square([0.0; 3], 1.5, material);
    let mesh = little.mesh(square);
    little.root(json!({ "mesh": mesh }));
}

#[track_caller]
fn assert_middle(picture: &RgbaImage, expected: [u8; 3], what: &str) {
    let found = Facing::SQUARE.pixel(picture, Vec2::ZERO);
    assert!(is_near(found, expected, TOLERANCE), "{what}: {found:?}, not {expected:?}");
}

fn draw(model: &Path, options: &[&str]) -> RgbaImage {
    Facing::SQUARE.draw(PBR, model, BACKGROUND, options)
}

#[test]
fn views_show_what_is_stored() {
    let mut little = Little::default();
    let numbers = json!({ "roughnessFactor": 0.6, "metallicFactor": 0.2 });
    let more = json!({ "pbrMetallicRoughness": numbers, "emissiveFactor": [0.1, 0.4, 0.7] });
    let material = little.lit([0.9, 0.3, 0.02, 1.0], more);
    add_square(&mut little, material);
    let (_folder, model) = save(little);
    for (view, expected) in [
        ("base-color", srgb(Vec3::new(0.9, 0.3, 0.02))),
        ("metallic", [51; 3]),
        ("roughness", [153; 3]),
        ("normal", [128, 128, 255]),
        ("occlusion", [255; 3]),
        ("emissive", srgb(Vec3::new(0.1, 0.4, 0.7))),
        ("uv0", [0; 3]),
        ("uv1", [0; 3]),
        ("tangent", [128; 3]),
    ] {
        // Whatever is done to light is not done to them.
        let picture = draw(&model, &["--view", view, "--exposure", "2", "--operator", "agx"]);
        assert_middle(&picture, expected, view);
        assert_eq!(Facing::SQUARE.pixel(&picture, Vec2::splat(1.9)), BACKGROUND_PIXEL);
    }
}

#[test]
fn shaded_is_diffuse_specular_and_emitted_light() {
    let mut little = Little::default();
    let more = json!({ "pbrMetallicRoughness": { "metallicFactor": 0.3 }, "emissiveFactor": [0.05, 0.0, 0.1] });
    let material = little.lit([0.4, 0.3, 0.2, 1.0], more);
    add_square(&mut little, material);
    let (_folder, model) = save(little);
    let light = ["--light-direction", "0.3,-0.4,-1", "--light-illuminance", "2", "--environment", "sky"];
    let shown = |view| {
        let picture = draw(&model, &[&["--view", view], &light[..], &PLAIN].concat());
        linear(Facing::SQUARE.pixel(&picture, Vec2::ZERO))
    };
    let sum = shown("diffuse") + shown("specular") + shown("emissive");
    assert!((shown("shaded") - sum).abs().max_element() < 0.006, "{} {sum}", shown("shaded"));
}

#[test]
fn what_is_unlit_is_exposed_and_the_background_is_not() {
    let mut little = Little::default();
    let material = little.unlit([0.2, 0.1, 0.05, 1.0], json!({}));
    add_square(&mut little, material);
    let (_folder, model) = save(little);
    let color = Vec3::new(0.2, 0.1, 0.05);
    for (stops, factor) in [("0", 1.0), ("2", 4.0), ("-1.5", 2.0f32.powf(-1.5))] {
        let picture = draw(&model, &[&["--exposure", stops], &PLAIN[..]].concat());
        assert_middle(&picture, srgb(factor * color), stops);
        assert_eq!(Facing::SQUARE.pixel(&picture, Vec2::splat(1.9)), BACKGROUND_PIXEL);
    }
    let picture = draw(&model, &["--operator", "reinhard", "--exposure", "1"]);
    assert_middle(&picture, srgb(2.0 * color / (1.0 + 2.0 * color)), "reinhard");
}

/// Another colour from each of the six sides.
fn sides(to: Vec3) -> Vec3 {
    let size = to.abs();
    let (axis, sign) = match size.max_position() {
        0 => (Vec3::X, to.x),
        1 => (Vec3::Y, to.y),
        _ => (Vec3::Z, to.z),
    };
    if sign > 0.0 { 0.1 + 0.6 * axis } else { 0.5 - 0.4 * axis }
}

#[test]
fn the_environment_is_where_it_is() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let room = environment(&folder, sides);
    // A mirror that faces +Z shows what is behind the eye, and one that is turned by 45 degrees what is beside it.
    let half = std::f32::consts::FRAC_PI_8;
    for (rotation, direction) in [
        ([0.0, 0.0, 0.0, 1.0], Vec3::Z),
        ([0.0, half.sin(), 0.0, half.cos()], Vec3::X),
        ([0.0, -half.sin(), 0.0, half.cos()], Vec3::NEG_X),
        ([-half.sin(), 0.0, 0.0, half.cos()], Vec3::Y),
        ([half.sin(), 0.0, 0.0, half.cos()], Vec3::NEG_Y),
    ] {
        let mut little = Little::default();
        let mirror = json!({ "pbrMetallicRoughness": { "roughnessFactor": 0.0 } });
        let material = little.lit([1.0; 4], mirror);
        let square = little.square([0.0; 3], 1.0, material);
        let mesh = little.mesh(square);
        little.root(json!({ "mesh": mesh, "rotation": rotation }));
        let model = little.save(folder.path());
        let picture = draw(&model, &[&["--environment", &room], &PLAIN[..]].concat());
        let seen = linear(Facing::SQUARE.pixel(&picture, Vec2::ZERO));
        assert!((seen - sides(direction)).abs().max_element() < 0.02, "{direction}: {seen}");
    }
}

#[test]
fn the_skybox_is_where_the_environment_is_and_hides_without_stage() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let room = environment(&folder, sides);
    let mut little = Little::default();
    let material = little.unlit([1.0; 4], json!({}));
    let square = little.square([0.0; 3], 0.01, material);
    let mesh = little.mesh(square);
    little.root(json!({ "mesh": mesh }));
    let model = little.save(folder.path());
    let model = model.to_str().expect("the name is text");
    for (direction, target) in [
        (Vec3::X, "60,50,50"),
        (Vec3::NEG_X, "40,50,50"),
        (Vec3::Z, "50,50,60"),
        (Vec3::NEG_Z, "50,50,40"),
        (Vec3::new(0.0, 1.0, 0.01), "50,60,50.1"),
    ] {
        let view = ["--eye", "50,50,50", "--target", target, "--fov", "20", "--size", "65x65"];
        let options = [&[model, "--environment", &room], &view[..], &PLAIN].concat();
        let middle = |picture: RgbaImage| [0, 1, 2].map(|channel| picture.get_pixel(32, 32)[channel]);
        let seen = linear(middle(sample::picture(PBR, &options)));
        // It is a little out of focus.
        assert!((seen - sides(direction)).abs().max_element() < 0.06, "{direction}: {seen}");
        let hidden = middle(sample::picture(PBR, [&options[..], &["--no-stage"]].concat()));
        assert_eq!(hidden, [0; 3], "{direction}");
        let plain = middle(sample::picture(PBR, [&options[..], &["--background", BACKGROUND]].concat()));
        assert_eq!(plain, BACKGROUND_PIXEL, "{direction}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_panorama_is_baked_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("room.hdr");
    let room = Rgb32FImage::from_fn(64, 32, |x, _| Rgb([x as f32 / 64.0, 0.5, 0.25]));
    DynamicImage::from(room).save(&file).expect("it can be written");
    let cache = folder.path().join("cache");
    let draw = || {
        let picture = folder.path().join("picture.png");
        let options = ["--headless", "--size", "64x64", "--environment"];
        let mut command = sample::command(PBR, options);
        command.arg(&file).arg("--screenshot").arg(&picture).env("XDG_CACHE_HOME", &cache);
        let ended: sample::Ended = command.output().expect("the sample can be started").into();
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        image::open(picture).expect("it was written").into_rgba8()
    };
    let kept = || {
        let files = std::fs::read_dir(cache.join("ashwright")).expect("the cache's folder");
        let files = files.map(|entry| entry.expect("it can be listed").path());
        let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|name| name == "ktx2")).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files.remove(0)
    };
    let first = draw();
    // It is this file that is read the next time: another environment in it is shown.
    let kept_file = kept();
    let baked = Environment::read(&kept_file).expect("it is an environment");
    Environment::named("sky").expect("it is part of the project").write(&kept_file).expect("it can be written");
    assert!(draw() != first, "what was kept is not used");
    // A damaged one is made anew.
    std::fs::write(&kept_file, "damaged").expect("it can be written");
    assert!(draw() == first && Environment::read(kept()).expect("it is an environment") == baked);
}
