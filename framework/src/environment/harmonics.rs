//! Irradiance as spherical harmonics of the second order.

use glam::{DVec3, Vec3};
use std::f64::consts::{PI, TAU};

/// The polynomials whose coefficients [`irradiance`] finds, at a unit normal.
pub(super) fn polynomials(Vec3 { x, y, z }: Vec3) -> [f32; 9] {
    [1.0, y, z, x, x * y, y * z, 3.0 * z * z - 1.0, x * z, x * x - y * y]
}

/// The coefficients of irradiance divided by π, for a panorama whose pixels are constant patches of the sphere: each
/// one's integrals over its patch are exact.
///
/// With the radiance's moments written ⟨f⟩ = ∫ L·f dω, the band-limited convolution with the cosine (whose factors are π,
/// 2π/3 and π/4) divided by π is ⟨1⟩/4π + Σ ⟨a⟩·a/2π + Σ k·⟨p⟩·p, where k is the square of the harmonic's constant over
/// four: 15/16π for products, 5/64π for 3z² − 1, 15/64π for x² − y².
pub(super) fn irradiance(equirect: &[Vec3], columns: usize, rows: usize) -> [Vec3; 9] {
    // Integrals over a column's angle φ of: 1, cos, sin, cos², sin², sin·cos.
    let around: Vec<[f64; 6]> = (0..columns)
        .map(|column| {
            let [from, to] = [column, column + 1].map(|edge| TAU * (edge as f64 / columns as f64 - 0.5));
            let step = to - from;
            let double = ((2.0 * to).sin() - (2.0 * from).sin()) / 4.0;
            let product = (to.sin().powi(2) - from.sin().powi(2)) / 2.0;
            [step, to.sin() - from.sin(), from.cos() - to.cos(), step / 2.0 + double, step / 2.0 - double, product]
        })
        .collect();
    // Moments of: 1, x, y, z, xy, yz, xz, x², y², z².
    let mut moments = [DVec3::ZERO; 10];
    for (row, pixels) in equirect.chunks_exact(columns).enumerate() {
        let mut sums = [DVec3::ZERO; 6];
        for (pixel, integrals) in pixels.iter().zip(&around) {
            sums.iter_mut().zip(integrals).for_each(|(sum, &integral)| *sum += pixel.as_dvec3() * integral);
        }
        let [one, cos, sin, cos2, sin2, product] = sums;
        // Integrals over the angle θ from the pole, each with the sine of the area: sin, sin², sin·cos, sin²·cos, sin·cos²
        // and sin³.
        let [from, to] = [row, row + 1].map(|edge| PI * edge as f64 / rows as f64);
        let difference = |integral: fn(f64) -> f64| integral(to) - integral(from);
        let s = difference(|t| -t.cos());
        let ss = difference(|t| t / 2.0 - (2.0 * t).sin() / 4.0);
        let sc = difference(|t| t.sin().powi(2) / 2.0);
        let ssc = difference(|t| t.sin().powi(3) / 3.0);
        let scc = difference(|t| -t.cos().powi(3) / 3.0);
        let sss = s - scc;
        let row_moments = [
            one * s,
            cos * ss,
            one * sc,
            sin * ss,
            cos * ssc,
            sin * ssc,
            product * sss,
            cos2 * sss,
            one * scc,
            sin2 * sss,
        ];
        moments.iter_mut().zip(row_moments).for_each(|(moment, of_row)| *moment += of_row);
    }
    let [one, x, y, z, xy, yz, xz, xx, yy, zz] = moments;
    let (linear, product) = (0.5 / PI, 15.0 / (16.0 * PI));
    let coefficients = [
        one * (0.25 / PI),
        y * linear,
        z * linear,
        x * linear,
        xy * product,
        yz * product,
        (3.0 * zz - one) * (5.0 / (64.0 * PI)),
        xz * product,
        (xx - yy) * (15.0 / (64.0 * PI)),
    ];
    coefficients.map(|coefficient| coefficient.as_vec3())
}
