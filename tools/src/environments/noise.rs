//! Noise without a seed: the same at every run.

use ashwright::glam::{IVec2, Vec2};

/// A number from 0 to 1 for a point of a lattice (Jarzynski and Olano, *Hash Functions for GPU Rendering*, 2020: PCG).
fn lattice(point: IVec2) -> f32 {
    let mix = |value: u32| {
        let state = value.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
        (word >> 22) ^ word
    };
    mix(mix(point.x as u32).wrapping_add(point.y as u32)) as f32 / u32::MAX as f32
}

/// Value noise, 0 to 1, as coarse as 1.
fn value(point: Vec2) -> f32 {
    let cell = point.floor();
    let part = point - cell;
    let part = part * part * part * (part * (part * 6.0 - 15.0) + 10.0);
    let corner = |x: i32, y: i32| lattice(cell.as_ivec2() + IVec2::new(x, y));
    let lerp = |a: f32, b: f32, t: f32| a + (b - a) * t;
    lerp(lerp(corner(0, 0), corner(1, 0), part.x), lerp(corner(0, 1), corner(1, 1), part.x), part.y)
}

/// A sum of octaves of value noise, 0 to 1, each twice as fine and half as strong as the one before.
pub(super) fn fractal(mut point: Vec2, octaves: u32) -> f32 {
    let (mut sum, mut strength, mut total) = (0.0, 1.0, 0.0);
    for _ in 0..octaves {
        sum += strength * value(point);
        total += strength;
        strength *= 0.5;
        // Turned, so that the lattices do not lie on each other.
        point = Vec2::new(1.6 * point.x - 1.2 * point.y, 1.2 * point.x + 1.6 * point.y) + 17.3;
    }
    sum / total
}
