//! Reflections blurred by roughness.

use glam::Vec3;
use rayon::prelude::*;
use std::f32::consts::{PI, TAU};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::cube::{Cube, FACES, direction};

/// How many directions a texel of the first blurred level gathers. Of the next ones, which have fewer texels and wider
/// blurs, four times as many each, up to the second number: lookups stay fine enough to keep the energy.
const SAMPLES: u32 = 2048;
const MOST_SAMPLES: u32 = 16384;

/// How much coarser a lookup is than the gap between samples asks for, in levels: neighbouring samples overlap.
const OVERLAP: f32 = 0.5;

/// The panorama on a cube, with all its smaller versions down to one texel a face. The first is at least `size`, and fine
/// enough for the panorama.
pub(super) fn pyramid(equirect: &[Vec3], columns: usize, rows: usize, size: usize) -> Vec<Cube> {
    // A face is a quarter of the panorama's width.
    let finest = columns.div_ceil(4).next_power_of_two().clamp(size, 2048);
    // Three samples a pixel of the panorama, and at least two a texel.
    let density = (3 * columns.div_ceil(4)).div_ceil(finest).clamp(2, 16);
    let first = Cube::new(finest, |face, x, y| {
        let mut sum = Vec3::ZERO;
        for sample in 0..density * density {
            let [u, v] = [(x, sample % density), (y, sample / density)].map(|(texel, part)| {
                Cube::coordinate(finest, texel as f32 - 0.5 + (part as f32 + 0.5) / density as f32)
            });
            sum += panorama(equirect, columns, rows, direction(face, u, v));
        }
        sum / (density * density) as f32
    });
    let mut pyramid = vec![first];
    while let Some(last) = pyramid.last().filter(|cube| cube.size > 1) {
        let next = last.halved();
        pyramid.push(next);
    }
    pyramid
}

/// The panorama's radiance from a direction, blended from four pixels; around the back it goes on at the other side.
fn panorama(equirect: &[Vec3], columns: usize, rows: usize, direction: Vec3) -> Vec3 {
    let across = (direction.z.atan2(direction.x) / TAU + 0.5) * columns as f32 - 0.5;
    let down = direction.y.atan2(direction.x.hypot(direction.z));
    let down = ((0.5 - down / PI) * rows as f32 - 0.5).clamp(0.0, (rows - 1) as f32);
    let (left, top) = (across.floor(), down.floor());
    let [column, next_column] = [left, left + 1.0].map(|at| (at as isize).rem_euclid(columns as isize) as usize);
    let (row, next_row) = (top as usize, (top as usize + 1).min(rows - 1));
    let pixel = |row: usize, column: usize| equirect[row * columns + column];
    let upper = pixel(row, column).lerp(pixel(row, next_column), across - left);
    let lower = pixel(next_row, column).lerp(pixel(next_row, next_column), across - left);
    upper.lerp(lower, down - top)
}

/// The levels of an environment: the picture, then `count - 1` blurred ones.
pub(super) fn levels(pyramid: &[Cube], size: usize, count: usize, progress: &(impl Fn(f32) + Sync)) -> Vec<Cube> {
    let blurred_sizes = (1..count).map(|level| size >> level);
    let lines: usize = blurred_sizes.clone().map(|side| FACES * side * side).sum();
    let done = AtomicUsize::new(0);
    let picture = pyramid.iter().find(|cube| cube.size == size);
    let copy = picture.map(|cube| Cube::new(size, |face, x, y| cube.texel(face, x, y)));
    let blurred = blurred_sizes.enumerate().map(|(index, side)| {
        let samples = (SAMPLES << (2 * index).min(8)).min(MOST_SAMPLES);
        let taps = taps((index + 1) as f32 / (count - 1) as f32, samples, pyramid[0].size);
        let texels: Vec<Vec3> = (0..FACES * side * side)
            .into_par_iter()
            .map(|texel| {
                let (face, y, x) = (texel / (side * side), texel / side % side, texel % side);
                let [u, v] = [x, y].map(|at| Cube::coordinate(side, at as f32));
                let radiance = blurred(pyramid, &taps, direction(face, u, v).normalize());
                let before = done.fetch_add(1, Ordering::Relaxed);
                if before.is_multiple_of(256) {
                    progress(before as f32 / lines as f32);
                }
                radiance
            })
            .collect();
        Cube::new(side, |face, x, y| texels[(face * side + y) * side + x])
    });
    let levels = copy.into_iter().chain(blurred).collect();
    progress(1.0);
    levels
}

/// A direction to look at, around +Z.
struct Tap {
    direction: Vec3,
    /// Its share of the sum.
    weight: f32,
    /// The level of the pyramid to look at, were its texels all as small as the smallest solid angle of a cube's middle.
    level: f32,
}

/// The directions in which a surface of this perceptual roughness, seen from along its normal, reflects: distributed as
/// GGX distributes half vectors, the n·l of the reflected light as weight (Karis 2013).
fn taps(roughness: f32, samples: u32, finest: usize) -> Vec<Tap> {
    let alpha2 = roughness.powi(4);
    let mut taps: Vec<Tap> = (0..samples)
        .filter_map(|index| {
            // Hammersley's points; the half keeps the first one off the pole.
            let along = (index as f32 + 0.5) / samples as f32;
            let (sin, cos) = (TAU * (index.reverse_bits() as f32 / 2.0f32.powi(32))).sin_cos();
            let half2 = (1.0 - along) / (1.0 + (alpha2 - 1.0) * along);
            let half_sin = (1.0 - half2).max(0.0).sqrt();
            // Reflecting the normal doubles the angle.
            let (z, side) = (2.0 * half2 - 1.0, 2.0 * half_sin * half2.sqrt());
            let distribution = alpha2 / (PI * (half2 * (alpha2 - 1.0) + 1.0).powi(2));
            // The density of half vectors, n·h·D, over 4·v·h, with v the normal.
            let solid_angle = 1.0 / (samples as f32 * distribution / 4.0);
            let texel = 4.0 / (finest * finest) as f32;
            let level = 0.5 * (solid_angle / texel).log2() + OVERLAP;
            (z > 0.0).then_some(Tap { direction: Vec3::new(side * cos, side * sin, z), weight: z, level })
        })
        .collect();
    let sum: f32 = taps.iter().map(|tap| tap.weight).sum();
    taps.iter_mut().for_each(|tap| tap.weight /= sum);
    taps
}

/// The weighted mean of what is seen around a unit direction.
fn blurred(pyramid: &[Cube], taps: &[Tap], normal: Vec3) -> Vec3 {
    let (tangent, bitangent) = normal.any_orthonormal_pair();
    let coarsest = (pyramid.len() - 1) as f32;
    let mut sum = Vec3::ZERO;
    for tap in taps {
        let direction = tap.direction.x * tangent + tap.direction.y * bitangent + tap.direction.z * normal;
        // Texels shrink towards a face's corners by the third power of the cosine to the face's axis.
        let level = tap.level - 1.5 * direction.abs().max_element().log2();
        let level = level.clamp(0.0, coarsest);
        let finer = (level as usize).min(pyramid.len() - 1);
        let coarser = (finer + 1).min(pyramid.len() - 1);
        let part = level - finer as f32;
        let radiance = pyramid[finer].sample(direction).lerp(pyramid[coarser].sample(direction), part);
        sum += radiance * tap.weight;
    }
    sum
}
