//! A photographer's studio: a dark room with soft boxes, warm from one side, cool from the other.
//!
//! The room is seen from its middle. Walls and floor are lit by the boxes (a sum over points of each, no shadows), and the
//! floor is polished. Lengths are metres.

use ashwright::environment::Panorama;
use ashwright::glam::{Vec2, Vec3};
use rayon::prelude::*;
use std::f32::consts::PI;

use super::panorama_direction;

/// Half the room's extent, and where the viewer is in it: 1.3 m above the floor.
const ROOM: Vec3 = Vec3::new(6.0, 2.75, 6.0);
const EYE: Vec3 = Vec3::new(0.0, -1.45, 0.0);

/// What all radiances below are multiplied by.
const LIGHT: f32 = 1.6;

/// A lamp behind cloth, a rectangle that faces the viewer.
struct SoftBox {
    middle: Vec3,
    /// Unit vectors along its sides, and the one in which it shines.
    right: Vec3,
    up: Vec3,
    to: Vec3,
    /// Half its width and height.
    half: Vec2,
    /// Radiance in its middle.
    radiance: Vec3,
}

impl SoftBox {
    /// A box at a place seen from the viewer.
    fn new(place: Vec3, width: f32, height: f32, radiance: Vec3) -> Self {
        let to = -place.normalize();
        let right = to.cross(if to.y.abs() > 0.95 { Vec3::NEG_Z } else { Vec3::Y }).normalize();
        let half = Vec2::new(width, height) / 2.0;
        Self { middle: EYE + place, right, up: right.cross(to), to, half, radiance }
    }

    /// The radiance at a point of its face, from -1 to 1 each way: the lamp shows through the cloth as a brighter middle.
    fn face(&self, at: Vec2) -> Vec3 {
        let glow = 0.55 + 0.45 * (-1.8 * at.length_squared()).exp();
        self.radiance * glow
    }

    /// What a ray meets, and how far: the face, its black frame or its back.
    fn hit(&self, from: Vec3, to: Vec3) -> Option<(f32, Vec3)> {
        const FRAME: f32 = 0.05;
        let distance = (self.middle - from).dot(self.to) / to.dot(self.to);
        let at = from + to * distance - self.middle;
        let at = Vec2::new(at.dot(self.right), at.dot(self.up));
        if !(distance > 1e-3 && at.abs().cmple(self.half + FRAME).all()) {
            return None;
        }
        let is_face = at.abs().cmple(self.half).all() && to.dot(self.to) < 0.0;
        Some((distance, if is_face { self.face(at / self.half) } else { Vec3::splat(0.004) }))
    }

    /// The irradiance of a point with a normal.
    fn on(&self, point: Vec3, normal: Vec3) -> Vec3 {
        const POINTS: i32 = 5;
        let mut sum = Vec3::ZERO;
        for index in 0..POINTS * POINTS {
            let at = Vec2::new((index % POINTS) as f32, (index / POINTS) as f32);
            let at = (at + 0.5) * 2.0 / POINTS as f32 - 1.0;
            let way = self.middle + self.right * (at.x * self.half.x) + self.up * (at.y * self.half.y) - point;
            let (length2, way) = (way.length_squared(), way.normalize());
            let cosines = way.dot(normal).max(0.0) * (-way.dot(self.to)).max(0.0);
            sum += self.face(at) * cosines / length2.max(0.01);
        }
        let area = 4.0 * self.half.x * self.half.y;
        sum * area / (POINTS * POINTS) as f32
    }
}

fn boxes() -> [SoftBox; 6] {
    let warm = Vec3::new(1.0, 0.74, 0.48);
    let cool = Vec3::new(0.50, 0.74, 1.0);
    let white = Vec3::new(1.0, 0.96, 0.91);
    [
        // The key: large, warm, from the left before the model.
        SoftBox::new(Vec3::new(-3.6, 1.7, 2.9), 2.2, 2.2, 9.0 * warm),
        // Two strips behind it draw cool edges.
        SoftBox::new(Vec3::new(3.9, 0.7, -2.3), 0.55, 3.0, 13.0 * cool),
        SoftBox::new(Vec3::new(-3.5, 0.7, -3.4), 0.4, 2.8, 8.0 * cool),
        // A wide one above.
        SoftBox::new(Vec3::new(0.3, 3.9, -0.6), 2.4, 1.4, 6.0 * white),
        // A weak fill from the right before the model.
        SoftBox::new(Vec3::new(4.0, 0.9, 3.2), 1.7, 1.2, 1.6 * white),
        // A small warm one low behind.
        SoftBox::new(Vec3::new(1.9, -0.7, -4.6), 0.5, 0.35, 7.0 * Vec3::new(1.0, 0.5, 0.2)),
    ]
}

/// The room's surface that a ray meets: how far, its normal and its reflectance.
fn wall(from: Vec3, to: Vec3) -> (f32, Vec3, Vec3) {
    let axes = [(Vec3::X, from.x, to.x, ROOM.x), (Vec3::Y, from.y, to.y, ROOM.y), (Vec3::Z, from.z, to.z, ROOM.z)];
    let hits = axes.map(|(axis, from, to, half)| ((half * to.signum() - from) / to, -axis * to.signum()));
    let nearest = hits.into_iter().filter(|(distance, _)| distance.is_finite()).min_by(|a, b| a.0.total_cmp(&b.0));
    let (distance, normal) = nearest.unwrap_or((1.0, Vec3::Y));
    let reflectance = match normal.y {
        1.0 => Vec3::new(0.10, 0.095, 0.09),
        -1.0 => Vec3::splat(0.07),
        _ => Vec3::new(0.15, 0.155, 0.165),
    };
    (distance, normal, reflectance)
}

/// The radiance that comes along a ray.
fn radiance(boxes: &[SoftBox], from: Vec3, to: Vec3, is_reflection: bool) -> Vec3 {
    let (distance, normal, reflectance) = wall(from, to);
    let seen = boxes.iter().filter_map(|soft_box| soft_box.hit(from, to)).min_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((_, radiance)) = seen.filter(|&(before, _)| before < distance) {
        return radiance;
    }
    let point = from + to * distance;
    // A spot of a deep blue on the back wall sets the model off.
    let spot = (point - Vec3::new(0.0, -1.0, -ROOM.z)).length_squared();
    let spot = Vec3::new(0.5, 0.85, 1.6) * (-spot / 9.0).exp() * if normal.z > 0.5 { 3.0 } else { 1.0 };
    // Corners get less of what the walls give each other.
    let gaps = ROOM - point.abs();
    let corner = |gap: f32| 1.0 - 0.6 * (-gap / 0.7).exp();
    let open = [gaps.x, gaps.y, gaps.z].into_iter().filter(|gap| *gap > 1e-3).map(corner).product::<f32>();
    let irradiance: Vec3 = boxes.iter().map(|soft_box| soft_box.on(point, normal)).sum();
    let diffuse = reflectance / PI * (irradiance + spot + open * Vec3::new(0.42, 0.44, 0.5));
    if normal.y < 0.5 || is_reflection {
        return diffuse;
    }
    // Polished: Schlick's Fresnel over a clear coat.
    let fresnel = 0.04 + 0.96 * (1.0 + to.y).powi(5);
    diffuse.lerp(radiance(boxes, point, Vec3::new(to.x, -to.y, to.z), true), 0.6 * fresnel)
}

/// The panorama. A white Lambertian surface in the middle of the room has a radiance of up to 0.8, by where it faces.
pub fn panorama(width: u32, height: u32) -> Panorama {
    let boxes = boxes();
    let pixel = |index: u32| {
        let (column, row) = ((index % width) as f32, (index / width) as f32);
        let seen =
            |x: f32, y: f32| radiance(&boxes, EYE, panorama_direction(width, height, column + x, row + y), false);
        (seen(0.25, 0.25) + seen(0.75, 0.25) + seen(0.25, 0.75) + seen(0.75, 0.75)) * (LIGHT / 4.0)
    };
    Panorama { pixels: (0..width * height).into_par_iter().map(pixel).collect(), width, height }
}
