//! Baking against what can be computed by hand, and the file.

#![allow(clippy::unwrap_used)] // A test may fail that way.

use super::*;
use std::f32::consts::PI;

const QUIET: fn(f32) = |_| {};

fn panorama(width: u32, height: u32, radiance: impl Fn(Vec3) -> Vec3) -> Panorama {
    let pixel = |index: u32| {
        let (u, v) = ((index % width) as f32 + 0.5, (index / width) as f32 + 0.5);
        let ((sin, cos), (z, x)) =
            ((PI * v / height as f32).sin_cos(), (2.0 * PI * (u / width as f32 - 0.5)).sin_cos());
        radiance(Vec3::new(sin * x, cos, sin * z))
    };
    Panorama { pixels: (0..width * height).map(pixel).collect(), width, height }
}

/// Directions all over the sphere (Fibonacci's spiral).
fn directions() -> impl Iterator<Item = Vec3> {
    (0..200).map(|index| {
        let y = 1.0 - (index as f32 + 0.5) / 100.0;
        let (sin, cos) = (index as f32 * 2.399_963).sin_cos();
        let radius = (1.0 - y * y).sqrt();
        Vec3::new(radius * cos, y, radius * sin)
    })
}

/// The mean radiance of a level over the sphere.
fn mean(environment: &Environment, level: usize) -> Vec3 {
    let side = environment.size as usize >> level;
    let (mut sum, mut weights) = (Vec3::ZERO, 0.0);
    for texel in 0..FACES * side * side {
        let (face, y, x) = (texel / side / side, texel / side % side, texel % side);
        let [u, v] = [x, y].map(|at| Cube::coordinate(side, at as f32));
        let weight = direction(face, u, v).length().powi(-3);
        sum += weight * environment.texel(level, face, x, y);
        weights += weight;
    }
    sum / weights
}

/// A picture with something everywhere: smooth colours, a sharp horizon, a lamp.
fn busy() -> Panorama {
    panorama(128, 64, |to| {
        let sky = if to.y > 0.0 { Vec3::new(0.2, 0.4, 0.9) } else { Vec3::new(0.3, 0.2, 0.1) };
        let lamp = if to.dot(Vec3::new(0.48, 0.6, 0.64)) > 0.98 { 40.0 } else { 0.0 };
        sky * (1.0 + 0.5 * to.x) + lamp
    })
}

#[test]
fn white_stays_white() {
    let white = Environment::bake(&panorama(64, 32, |_| Vec3::ONE), 32, QUIET).unwrap();
    for normal in directions() {
        assert!((white.diffuse(normal) - 1.0).abs().max_element() < 1e-3, "{normal}: {}", white.diffuse(normal));
    }
    assert_eq!(white.levels.len(), 3);
    for (index, level) in white.levels.iter().enumerate() {
        assert!(level.iter().all(|&texel| ktx2::color(texel) == Vec3::ONE), "level {index}");
    }
}

#[test]
fn half_a_sphere_lights_by_one_plus_cosine() {
    for (axis, up) in [(0, Vec3::X), (1, Vec3::Y), (2, Vec3::Z), (1, Vec3::NEG_Y), (2, Vec3::NEG_Z)] {
        let half = panorama(256, 128, |to| if to.dot(up) > 0.0 { Vec3::ONE } else { Vec3::ZERO });
        let half = Environment::bake(&half, 16, QUIET).unwrap();
        for normal in directions() {
            let expected = 0.5 + 0.5 * normal.dot(up);
            assert!(
                (half.diffuse(normal).x - expected).abs() < 0.01,
                "axis {axis}, {normal}: {}",
                half.diffuse(normal)
            );
        }
    }
}

#[test]
fn one_bright_pixel_lights_by_the_cosine() {
    let (width, height) = (128, 64);
    for (column, row) in [(0, 20), (77, 40), (100, 5)] {
        let mut pixels = vec![Vec3::ZERO; width * height];
        pixels[row * width + column] = Vec3::splat(1000.0);
        let (theta, phi) =
            (PI * (row as f32 + 0.5) / height as f32, 2.0 * PI * ((column as f32 + 0.5) / width as f32 - 0.5));
        let to = Vec3::new(theta.sin() * phi.cos(), theta.cos(), theta.sin() * phi.sin());
        let solid_angle = theta.sin() * (PI / height as f32) * (2.0 * PI / width as f32);
        let facing = 1000.0 * solid_angle / PI;
        let lamp =
            Environment::bake(&Panorama { pixels, width: width as u32, height: height as u32 }, 16, QUIET).unwrap();
        for normal in directions() {
            let cos = normal.dot(to);
            // The first three bands of the clamped cosine, and the clamped cosine itself.
            let bands = (0.25 + 0.5 * cos + 5.0 / 32.0 * (3.0 * cos * cos - 1.0)).max(0.0);
            let diffuse = lamp.diffuse(normal).x / facing;
            assert!((diffuse - bands).abs() < 2e-3, "{normal}: {diffuse} instead of {bands}");
            assert!((diffuse - cos.max(0.0)).abs() < 0.1, "{normal}: {diffuse} instead of {cos}");
        }
    }
}

#[test]
fn level_0_shows_the_panorama() {
    let smooth = |to: Vec3| Vec3::new(1.0 + to.x, 1.0 + to.y, 1.0 + to.z);
    let environment = Environment::bake(&panorama(256, 128, smooth), 32, QUIET).unwrap();
    for texel in 0..6 * 32 * 32 {
        let (face, y, x) = (texel / 1024, texel / 32 % 32, texel % 32);
        let [u, v] = [x, y].map(|at| (at as f32 + 0.5) / 16.0 - 1.0);
        let expected = smooth(direction(face, u, v).normalize());
        let seen = environment.texel(0, face, x, y);
        assert!((seen - expected).abs().max_element() < 0.006, "face {face}, {x}, {y}: {seen} instead of {expected}");
    }
}

#[test]
fn every_level_has_the_energy_of_the_panorama() {
    let environment = Environment::bake(&busy(), 32, QUIET).unwrap();
    let heights = (0..64).map(|row| (PI * row as f32 / 64.0).cos() - (PI * (row + 1) as f32 / 64.0).cos());
    let rows = busy().pixels;
    let rows = rows.chunks(128).map(|row| row.iter().sum::<Vec3>() / 256.0);
    let expected: Vec3 = rows.zip(heights).map(|(row, height)| row * height).sum();
    // The mean of irradiance over all normals is that of radiance, times π.
    assert!((environment.irradiance[0] / expected - 1.0).abs().max_element() < 1e-4);
    for level in 0..environment.levels.len() {
        let ratio = mean(&environment, level) / expected;
        assert!((ratio - 1.0).abs().max_element() < 0.01, "level {level}: {ratio}");
    }
}

#[test]
fn a_lamp_blurs_as_ggx_blurs() {
    // A lamp of about 2°: what a level shows of it is the kernel, by the angle between reflection and lamp.
    let to_lamp = Vec3::new(0.0, 0.0, 1.0);
    let lamp = panorama(512, 256, |to| if to.dot(to_lamp) > 0.9994 { Vec3::splat(1000.0) } else { Vec3::ZERO });
    let environment = Environment::bake(&lamp, 32, QUIET).unwrap();
    let mean_radiance = environment.irradiance[0].x;
    // The middle one of three: a roughness of a half.
    let (level, alpha2) = (1, 0.5f32.powi(4));
    // D(h)·n·l over its integral over all directions, by the cosine between normal and light.
    let kernel = |cos: f32| {
        let half2 = 0.5 + 0.5 * cos;
        cos.max(0.0) / (half2 * (alpha2 - 1.0) + 1.0).powi(2)
    };
    let steps = 10_000;
    let integral: f32 =
        (0..steps).map(|step| kernel((step as f32 + 0.5) / steps as f32) * 2.0 * PI / steps as f32).sum();
    let side = 32 >> level;
    let peak = kernel(1.0) / integral * 4.0 * PI * mean_radiance;
    for texel in 0..FACES * side * side {
        let (face, y, x) = (texel / side / side, texel / side % side, texel % side);
        let [u, v] = [x, y].map(|at| Cube::coordinate(side, at as f32));
        let cos = direction(face, u, v).normalize().dot(to_lamp);
        let expected = kernel(cos) / integral * 4.0 * PI * mean_radiance;
        let seen = environment.texel(level, face, x, y).x;
        assert!((seen - expected).abs() < 0.03 * peak, "face {face}, {x}, {y}: {seen} instead of {expected}");
    }
}

#[test]
fn baking_is_repeatable_and_tells_its_progress() {
    let told = std::sync::Mutex::new(Vec::new());
    let bake = |progress: &(dyn Fn(f32) + Sync)| Environment::bake(&busy(), 16, progress).unwrap();
    let first = bake(&|part| told.lock().unwrap().push(part));
    assert_eq!(first, bake(&|_| ()));
    let told = told.into_inner().unwrap();
    assert!(told.iter().all(|part| (0.0..=1.0).contains(part)));
    assert_eq!(told.last(), Some(&1.0));
}

#[test]
fn bad_pixels_are_black_and_bad_sizes_errors() {
    let mut white = panorama(32, 16, |_| Vec3::ONE);
    white.pixels[100] = Vec3::new(f32::NAN, f32::INFINITY, -5.0);
    let environment = Environment::bake(&white, 16, QUIET).unwrap();
    assert!(environment.irradiance.iter().all(|coefficient| coefficient.is_finite()));
    for (width, height, size, word) in
        [(32, 15, 16, "512 pixels"), (0, 0, 16, "512"), (32, 16, 48, "48"), (32, 16, 8, "8")]
    {
        let panorama = Panorama { width, height, ..white.clone() };
        let error = Environment::bake(&panorama, size, QUIET).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    assert!(Environment::bake(&Panorama { pixels: Vec::new(), width: 0, height: 0 }, 16, QUIET).is_err());
}

#[test]
fn a_file_gives_back_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("busy.ktx2");
    let mut environment = Environment::bake(&busy(), 16, QUIET).unwrap();
    environment.write(&file).unwrap();
    assert_eq!(Environment::read(&file).unwrap(), environment);
    environment.sun = Some(Sun { direction: Vec3::new(0.6, 0.8, 0.0), irradiance: Vec3::new(3.1, 2.9, 2.5) });
    environment.write(&file).unwrap();
    assert_eq!(Environment::read(&file).unwrap(), environment);
    let error = environment.write(folder.path().join("none/busy.ktx2")).unwrap_err().to_string();
    assert!(error.contains("busy.ktx2"), "{error}");
}

#[test]
fn another_reader_opens_the_file() {
    let environment = Environment::bake(&busy(), 32, QUIET).unwrap();
    let file = ktx2::encode(&environment).unwrap();
    let reader = ::ktx2::Reader::new(&file).unwrap();
    let header = reader.header();
    assert_eq!(header.format, Some(::ktx2::Format::E5B9G9R9_UFLOAT_PACK32));
    assert_eq!(header.supercompression_scheme, Some(::ktx2::SupercompressionScheme::Zstandard));
    assert_eq!((header.pixel_width, header.face_count, header.level_count), (32, 6, 3));
    let (descriptor, type_size) = ::ktx2::dfd::Basic::from_format(::ktx2::Format::E5B9G9R9_UFLOAT_PACK32).unwrap();
    assert_eq!(reader.basic_dfd(), Some(&descriptor));
    assert_eq!(header.type_size, type_size);
    let keys: Vec<&str> = reader.key_value_data().map(|(key, _)| key).collect();
    assert_eq!(keys, ["AshwrightIrradiance", "KTXorientation", "KTXwriter"]);
    let lengths: Vec<u64> = reader.levels().map(|level| level.uncompressed_byte_length).collect();
    assert_eq!(lengths, [6 * 32 * 32 * 4, 6 * 16 * 16 * 4, 6 * 8 * 8 * 4]);
}

#[test]
fn an_environment_is_found_by_name_or_file() {
    assert_eq!(names(), ["none", "sky", "studio"]);
    let black = Environment::named("none").unwrap();
    assert!(black.is_black() && ktx2::encode(&black).is_ok());
    assert!(!Environment::named("studio").unwrap().is_black());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("busy.ktx2");
    let environment = Environment::bake(&busy(), 16, QUIET).unwrap();
    environment.write(&file).unwrap();
    assert_eq!(Environment::named(file.to_str().unwrap()).unwrap(), environment);
    for (name, words) in [
        ("cellar", "there is no environment cellar; there are none, sky, studio, and files that end in .hdr or .ktx2"),
        ("cellar.hdr", "cellar.hdr: "),
        ("cellar.ktx2", "cellar.ktx2: "),
        ("../models/helmet.glb", "no environment ../models/helmet.glb"),
    ] {
        let error = Environment::named(name).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn faces_are_as_fine_as_the_panorama() {
    let fitting = |width: u32| Panorama { pixels: Vec::new(), width, height: width / 2 }.fitting_size();
    assert_eq!([2, 64, 66, 512, 1024, 2048, 16384].map(fitting), [16, 16, 32, 128, 256, 512, 512]);
}

#[test]
fn broken_files_are_errors() {
    let environment = Environment::bake(&busy(), 16, QUIET).unwrap();
    let file = ktx2::encode(&environment).unwrap();
    for length in 0..file.len() {
        assert!(ktx2::decode(&file[..length]).is_err(), "the first {length} bytes");
    }
    // Whatever byte is changed: an error or an environment.
    for at in 0..file.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut changed = file.clone();
            changed[at] = value;
            let _ = ktx2::decode(&changed);
        }
    }
    let changed = |at: usize, value: u32| {
        let mut changed = file.clone();
        changed[at..at + 4].copy_from_slice(&value.to_le_bytes());
        ktx2::decode(&changed).unwrap_err()
    };
    let cases = [
        (0, 0, "not a KTX 2 file"),
        (12, 37, "VkFormat is 37"),
        (20, 1 << 30, "no cube"),
        (36, 1, "no cube"),
        (40, 1, "1 levels"),
        (40, u32::MAX, "levels are too few or too many"),
        (44, 1, "scheme 1"),
        (56, u32::MAX, "key/value data lies outside"),
        (60, 3, "key/value data is broken"),
        (60, 0, "AshwrightIrradiance"),
        (80, u32::MAX, "level 0 lies outside"),
        (96, 17, "level 0 has 17 bytes"),
        (84, u32::MAX, "level 0 lies outside"),
    ];
    for (at, value, message) in cases {
        let error = changed(at, value);
        assert!(error.contains(message), "{value} at {at}: {error}");
    }
    let mut text = file.clone();
    let irradiance = text.windows(20).position(|window| window == b"AshwrightIrradiance\0").unwrap();
    text[irradiance + 20] = b'x';
    assert!(ktx2::decode(&text).unwrap_err().contains("not 27 finite numbers"));
    let error = Environment::read("no such file.ktx2").unwrap_err().to_string();
    assert!(error.starts_with("no such file.ktx2: "), "{error}");
}

#[test]
fn shared_exponents_are_the_nearest() {
    assert_eq!(ktx2::shared_exponent(Vec3::ZERO), 0);
    assert_eq!(ktx2::shared_exponent(Vec3::NAN), 0);
    for value in [6e-8f32, 1e-6, 0.001, 0.7499, 0.99999, 1.0, 1.001, 3.0, 511.7, 65408.0] {
        let color = [value, value * 0.1, value * 0.5];
        let packed = ktx2::shared_exponent(color.into());
        let back = ktx2::color(packed);
        let unit = 2.0f32.powi((packed >> 27) as i32 - 24);
        assert!(value / unit < 512.0 && (value / unit >= 255.5 || packed >> 27 == 0), "{value}");
        for (back, value) in back.to_array().into_iter().zip(color) {
            assert!((back - value).abs() <= 0.5 * unit, "{value}: {back}");
        }
        assert_eq!(ktx2::shared_exponent(back), packed);
    }
    assert_eq!(ktx2::shared_exponent(Vec3::splat(1e9)), ktx2::shared_exponent(Vec3::splat(65408.0)));
}

#[test]
fn a_smooth_mirror_reflects_all_and_the_table_holds_what_the_function_says() {
    assert!((environment_brdf_at(1.0, 0.0)[0] - 1.0).abs() < 1e-5);
    let [a, b] = environment_brdf_at(0.5, 0.0);
    assert!((a - (1.0 - 0.03125)).abs() < 1e-5 && (b - 0.03125).abs() < 1e-5);
    let table = environment_brdf(16);
    assert_eq!(table.len(), 256);
    assert_eq!(table[3 * 16 + 5], environment_brdf_at(5.5 / 16.0, 3.5 / 16.0));
    for [a, b] in table {
        assert!(a >= 0.0 && b >= 0.0 && a + b <= 1.0 + 1e-5, "{a} {b}");
    }
}
