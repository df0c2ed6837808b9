//! The other half of the split sum: what a GGX surface reflects of a white environment.

use glam::Vec3;
use rayon::prelude::*;
use std::f32::consts::TAU;

/// How many directions an entry gathers: its error is below 0.001.
const SAMPLES: u32 = 256;

/// The table of [`environment_brdf_at`], `size` times `size` entries by rows: the n·v of column `x` is
/// `(x + 0.5) / size`, the perceptual roughness of row `y` is `(y + 0.5) / size`. Made for a texture of
/// `VK_FORMAT_R32G32_SFLOAT`, looked up at `(NoV, roughness)` with linear filtering, clamped to its edges. 64 is
/// enough.
pub fn environment_brdf(size: u32) -> Vec<[f32; 2]> {
    let at = |index: u32| (index as f32 + 0.5) / size as f32;
    let row = |y: u32| (0..size).into_par_iter().map(move |x| environment_brdf_at(at(x), at(y)));
    (0..size).into_par_iter().flat_map(row).collect()
}

/// The reflectance of a GGX surface in a white environment as the numbers A and B of `f0 * A + B`: by the cosine between
/// normal and viewer (0 to 1) and the perceptual roughness (0 to 1; its square is GGX's α).
///
/// Fresnel is Schlick's, masking and shadowing Smith's correlated by height, single scattering: the BRDF of glTF 2.0's
/// Appendix B. The split in A and B is Karis's (2013); the sum is over visible normals (Heitz, *Sampling the GGX
/// Distribution of Visible Normals*, 2018), so each sample weighs G2 / G1.
pub fn environment_brdf_at(n_dot_v: f32, roughness: f32) -> [f32; 2] {
    let n_dot_v = n_dot_v.clamp(1e-4, 1.0);
    let alpha = roughness * roughness;
    let view = Vec3::new((1.0 - n_dot_v * n_dot_v).sqrt(), 0.0, n_dot_v);
    // Smith's Λ.
    let lambda = |cos: f32| 0.5 * ((1.0 + alpha * alpha * (1.0 / (cos * cos) - 1.0).max(0.0)).sqrt() - 1.0);
    let lambda_view = lambda(n_dot_v);
    let stretched = (view * Vec3::new(alpha, alpha, 1.0)).normalize();
    // The view lies in the plane of x and z.
    let (first, second) = (Vec3::Y, stretched.cross(Vec3::Y));
    let (mut a, mut b) = (0.0, 0.0);
    for index in 0..SAMPLES {
        let radius = ((index as f32 + 0.5) / SAMPLES as f32).sqrt();
        let (sin, cos) = (TAU * ((index.reverse_bits() as f32 + 0.5) / 2.0f32.powi(32))).sin_cos();
        let (x, y) = (radius * cos, radius * sin);
        let squeeze = 0.5 * (1.0 + stretched.z);
        let y = (1.0 - squeeze) * (1.0 - x * x).max(0.0).sqrt() + squeeze * y;
        let normal = x * first + y * second + (1.0 - x * x - y * y).max(0.0).sqrt() * stretched;
        let half = Vec3::new(alpha * normal.x, alpha * normal.y, normal.z.max(1e-6)).normalize();
        let v_dot_h = view.dot(half).max(0.0);
        let n_dot_l = 2.0 * v_dot_h * half.z - view.z;
        if n_dot_l > 0.0 {
            let weight = (1.0 + lambda_view) / (1.0 + lambda_view + lambda(n_dot_l));
            let fresnel = (1.0 - v_dot_h).max(0.0).powi(5);
            a += weight * (1.0 - fresnel);
            b += weight * fresnel;
        }
    }
    [a / SAMPLES as f32, b / SAMPLES as f32]
}
