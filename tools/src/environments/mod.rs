//! The environments of the project's own, as panoramas that a program computes: see [`sky`] and [`studio`].

mod noise;
pub mod sky;
pub mod studio;

use ashwright::environment::Environment;
use ashwright::glam::Vec3;
use image::{Rgb, RgbImage};

/// The direction that the middle of a panorama's pixel shows, moved by a part of a pixel to the right and down: see
/// [`ashwright::environment`].
fn panorama_direction(width: u32, height: u32, column: f32, row: f32) -> Vec3 {
    use std::f32::consts::{PI, TAU};
    let (sin, cos) = (PI * row / height as f32).sin_cos();
    let (z, x) = (TAU * (column / width as f32 - 0.5)).sin_cos();
    Vec3::new(sin * x, cos, sin * z)
}

/// A picture of an environment to look at: all around as a panorama, its middle towards -Z, `height` pixels high and twice
/// as wide. Radiance is multiplied by `exposure` and goes through Khronos PBR Neutral's curve.
pub fn preview(environment: &Environment, level: usize, height: u32, exposure: f32) -> RgbImage {
    let side = environment.size as usize >> level;
    RgbImage::from_fn(2 * height, height, |x, y| {
        let column = (x as f32 + 0.5 - height as f32 / 2.0).rem_euclid(2.0 * height as f32);
        let to = panorama_direction(2 * height, height, column, y as f32 + 0.5);
        let largest = to.abs().max_element();
        let seen = (0..6).find_map(|face| {
            let [middle, right, down] =
                [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)].map(|(u, v)| ashwright::environment::direction(face, u, v));
            let at = to / largest;
            let texel = |axis: Vec3| (((at.dot(axis - middle) + 1.0) * 0.5 * side as f32) as usize).min(side - 1);
            (at.dot(middle) > 0.9999).then(|| environment.texel(level, face, texel(right), texel(down)))
        });
        let color = neutral(seen.unwrap_or_default() * exposure);
        Rgb(color.to_array().map(|value| {
            let encoded = if value < 0.003_130_8 { 12.92 * value } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 };
            (encoded * 255.0).round() as u8
        }))
    })
}

/// Khronos PBR Neutral: <https://github.com/KhronosGroup/ToneMapping/tree/main/PBR_Neutral>.
fn neutral(color: Vec3) -> Vec3 {
    const START: f32 = 0.8 - 0.04;
    const DESATURATION: f32 = 0.15;
    let least = color.min_element();
    let color = color - if least < 0.08 { least - 6.25 * least * least } else { 0.04 };
    let peak = color.max_element();
    if peak < START {
        return color;
    }
    let reach = 1.0 - START;
    let new_peak = 1.0 - reach * reach / (peak + reach - START);
    let grey = 1.0 - 1.0 / (DESATURATION * (peak - new_peak) + 1.0);
    (color * (new_peak / peak)).lerp(Vec3::splat(new_peak), grey)
}
