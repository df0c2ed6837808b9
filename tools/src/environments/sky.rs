//! A clear sky in late afternoon over a plain with mountains around.
//!
//! The air is that of Bruneton and Neyret (*Precomputed Atmospheric Scattering*, 2008, with the coefficients of Bruneton's
//! 2017 implementation): molecules, aerosols and ozone around a round Earth. Single scattering is integrated along each
//! ray; what is scattered more often is Hillaire's estimate (*A Scalable and Production Ready Sky and Atmosphere Rendering
//! Technique*, 2020). Lengths are kilometres.

use ashwright::environment::{Panorama, Sun};
use ashwright::glam::{Vec2, Vec3};
use rayon::prelude::*;
use std::f32::consts::PI;

use super::noise::fractal;
use super::panorama_direction;

/// The radii of the ground and of the top of the air.
const GROUND: f32 = 6360.0;
const TOP: f32 = 6460.0;

/// How high above the ground the viewer stands.
const EYE: f32 = 0.25;

/// Scattering by molecules at the ground, for red, green and blue, and the height over which it falls to 1/e.
const RAYLEIGH: Vec3 = Vec3::new(5.802e-3, 13.558e-3, 33.1e-3);
const RAYLEIGH_HEIGHT: f32 = 8.0;

/// Scattering and absorption by aerosols, twice those of the clearest air, the height over which they fall to 1/e, and how much they scatter forward.
const MIE: f32 = 2.0 * 3.996e-3;
const MIE_ABSORPTION: f32 = 2.0 * 0.444e-3;
const MIE_HEIGHT: f32 = 1.2;
const MIE_FORWARD: f32 = 0.8;

/// Absorption by ozone where it is densest, 25 km up.
const OZONE: Vec3 = Vec3::new(0.650e-3, 1.881e-3, 0.085e-3);

/// The reflectance of the plain.
const PLAIN: Vec3 = Vec3::new(0.25, 0.22, 0.15);

/// The unit direction to the sun: 26° above the horizon, to the left of and behind one who looks along -Z.
fn to_sun() -> Vec3 {
    let (sin, cos) = 26f32.to_radians().sin_cos();
    Vec3::new(-0.8 * cos, sin, 0.6 * cos)
}

/// The air at a height: what it scatters (by molecules, by aerosols) and takes away, a kilometre.
fn air(height: f32) -> (Vec3, f32, Vec3) {
    let height = height.max(0.0);
    let rayleigh = RAYLEIGH * (-height / RAYLEIGH_HEIGHT).exp();
    let aerosols = (-height / MIE_HEIGHT).exp();
    let ozone = OZONE * (1.0 - (height - 25.0).abs() / 15.0).max(0.0);
    (rayleigh, MIE * aerosols, rayleigh + (MIE + MIE_ABSORPTION) * aerosols + ozone)
}

/// The distance to a sphere around the Earth's centre, from a radius in a direction with this cosine to the zenith:
/// the nearer or the further crossing.
fn distance_to(sphere: f32, radius: f32, cos: f32, far: bool) -> Option<f32> {
    let discriminant = radius * radius * (cos * cos - 1.0) + sphere * sphere;
    let root = (discriminant >= 0.0).then(|| discriminant.sqrt())?;
    let distance = -radius * cos + if far { root } else { -root };
    (distance > 0.0).then_some(distance)
}

fn exp(value: Vec3) -> Vec3 {
    Vec3::new(value.x.exp(), value.y.exp(), value.z.exp())
}

/// A table over heights (finer near the ground) and cosines to the zenith.
struct Table {
    heights: usize,
    cosines: usize,
    /// The smallest cosine.
    from: f32,
    values: Vec<Vec3>,
}

impl Table {
    fn new(heights: usize, cosines: usize, from: f32, value: impl Fn(f32, f32) -> Vec3 + Sync) -> Self {
        let entry = |index: usize| {
            let (row, column) = (index / cosines, index % cosines);
            let height = (row as f32 / (heights - 1) as f32).powi(2) * (TOP - GROUND);
            value(height, from + (1.0 - from) * column as f32 / (cosines - 1) as f32)
        };
        Self { heights, cosines, from, values: (0..heights * cosines).into_par_iter().map(entry).collect() }
    }

    fn at(&self, height: f32, cos: f32) -> Vec3 {
        let row = (height.max(0.0) / (TOP - GROUND)).sqrt().min(1.0) * (self.heights - 1) as f32;
        let column = ((cos - self.from) / (1.0 - self.from)).clamp(0.0, 1.0) * (self.cosines - 1) as f32;
        let (top, left) = ((row as usize).min(self.heights - 2), (column as usize).min(self.cosines - 2));
        let line = |row: usize| {
            let at = row * self.cosines + left;
            self.values[at].lerp(self.values[at + 1], column - left as f32)
        };
        line(top).lerp(line(top + 1), row - top as f32)
    }
}

/// The sky, its tables made.
struct Sky {
    to_sun: Vec3,
    /// What part of the sun's light reaches a height, by the sun's cosine to the zenith; nothing below the horizon.
    sunlight: Table,
    /// The radiance scattered twice and more, from all directions, for a sun of irradiance 1.
    scattered: Table,
    /// The irradiance of the level ground by the sky, for a sun of irradiance 1.
    ground: Vec3,
}

impl Sky {
    fn new() -> Self {
        let sunlight = Table::new(64, 512, -0.2, |height, cos| {
            let radius = GROUND + height.max(1e-3);
            match (distance_to(GROUND, radius, cos, false), distance_to(TOP, radius, cos, true)) {
                (None, Some(distance)) => transmittance(radius, cos, distance),
                _ => Vec3::ZERO,
            }
        });
        let empty = Table::new(2, 2, -0.2, |_, _| Vec3::ZERO);
        let mut sky = Self { to_sun: to_sun(), sunlight, scattered: empty, ground: Vec3::ZERO };
        sky.scattered = Table::new(24, 48, -0.2, |height, cos| scattered(&sky.sunlight, height, cos));
        let directions = sphere(4096).filter(|to| to.y > 0.0);
        sky.ground = directions.map(|to| sky.along(to, None).0 * to.y).sum::<Vec3>() * (4.0 * PI / 4096.0);
        sky
    }

    /// The light that the air sends along a ray from the viewer, up to a distance or as far as the air reaches, and what
    /// part of the light behind it comes through.
    fn along(&self, to: Vec3, distance: Option<f32>) -> (Vec3, Vec3) {
        const STEPS: u32 = 80;
        let radius = GROUND + EYE;
        let end = distance.or_else(|| distance_to(TOP, radius, to.y, true)).unwrap_or_default();
        let cos = to.dot(self.to_sun);
        let rayleigh_phase = 3.0 / (16.0 * PI) * (1.0 + cos * cos);
        // Cornette and Shanks's.
        let g = MIE_FORWARD;
        let mie_phase = 3.0 / (8.0 * PI) * (1.0 - g * g) * (1.0 + cos * cos)
            / ((2.0 + g * g) * (1.0 + g * g - 2.0 * g * cos).powf(1.5));
        let (mut light, mut through, mut before) = (Vec3::ZERO, Vec3::ONE, 0.0);
        for step in 0..STEPS {
            let after = end * ((step + 1) as f32 / STEPS as f32).powi(2);
            let (length, middle) = (after - before, 0.5 * (after + before));
            before = after;
            let point = Vec3::Y * radius + to * middle;
            let height = point.length() - GROUND;
            let sun_cos = point.dot(self.to_sun) / point.length();
            let (rayleigh, mie, extinction) = air(height);
            let sunlight = self.sunlight.at(height, sun_cos);
            let source = sunlight * (rayleigh * rayleigh_phase + mie * mie_phase)
                + self.scattered.at(height, sun_cos) * (rayleigh + mie);
            let passed = exp(-extinction * length);
            light += through * source * (1.0 - passed) / extinction;
            through *= passed;
        }
        (light, through)
    }

    /// The radiance from a direction, for a sun of irradiance 1; the sun itself is not seen.
    fn radiance(&self, to: Vec3) -> Vec3 {
        let ground = distance_to(GROUND, GROUND + EYE, to.y, false);
        let mountain = self.mountains(to).filter(|&(distance, _)| ground.is_none_or(|ground| distance < ground));
        if let Some((distance, surface)) = mountain {
            let (light, through) = self.along(to, Some(distance));
            return light + through * surface;
        }
        if let Some(distance) = ground {
            let (light, through) = self.along(to, Some(distance));
            return light + through * self.plain(to, distance);
        }
        let (light, through) = self.along(to, None);
        light + self.clouds(to, through)
    }

    /// Light that reaches a surface at the ground, by its normal; the divisor makes it a white one's radiance.
    fn on_surface(&self, normal: Vec3) -> Vec3 {
        let sun = self.sunlight.at(EYE, self.to_sun.y) * normal.dot(self.to_sun).max(0.0);
        let from_sky = self.ground * (0.5 + 0.5 * normal.y);
        (sun + from_sky) / PI
    }

    /// The plain: fields and woods, whose differences are lost in the distance.
    fn plain(&self, to: Vec3, distance: f32) -> Vec3 {
        let point = Vec2::new(to.x, to.z) * distance;
        let fields = fractal(point * 2.5 + 40.0, 5) - 0.5;
        let woods = fractal(point * 0.8 - 9.0, 5);
        let woods = ((woods - 0.5) * 9.0).clamp(0.0, 1.0);
        let color = PLAIN * (1.0 + 0.9 * fields);
        let wood = Vec3::new(0.09, 0.10, 0.055);
        self.on_surface(Vec3::Y) * color.lerp(wood, 0.8 * woods)
    }

    /// The ranges of mountains, near ones before far ones: the distance of what is seen there, and its radiance.
    fn mountains(&self, to: Vec3) -> Option<(f32, Vec3)> {
        let around = Vec2::new(to.x, to.z).normalize_or_zero();
        let slope = to.y / Vec2::new(to.x, to.z).length().max(1e-6);
        for (index, (distance, height)) in [(9.0, 0.75), (15.0, 1.7), (24.0, 3.4), (40.0, 6.0)].into_iter().enumerate()
        {
            let place = around * distance * 0.24 + 100.0 * index as f32;
            let ridge = |place: Vec2| {
                let fold = 1.0 - (2.0 * fractal(place * 0.45, 2) - 1.0).abs();
                height * (0.25 + 0.75 * fold) * (0.55 + 0.9 * (fractal(place, 5) - 0.25))
            };
            let top = ridge(place);
            let curve = distance * distance / (2.0 * GROUND);
            let seen = EYE + slope * distance + curve;
            if seen < top {
                // The slope of the ridge along the horizon, and small folds, turn the side of the mountain.
                let along = Vec2::new(-around.y, around.x);
                let fall = (ridge(place + along * 0.05) - ridge(place - along * 0.05)) * 3.2;
                let folds = fractal(place * 5.0 + Vec2::new(0.0, seen * 6.0), 4) - 0.5;
                let side = -around - along * (fall + 2.2 * folds);
                let normal = Vec3::new(side.x, 0.9, side.y).normalize();
                let rock = Vec3::new(0.16, 0.14, 0.12).lerp(Vec3::new(0.07, 0.08, 0.04), (1.0 - seen).clamp(0.0, 1.0));
                let snow = ((seen - 1.55 + 1.2 * folds) * 3.0).clamp(0.0, 1.0);
                let surface = rock.lerp(Vec3::splat(0.75), snow);
                return Some((distance, surface * self.on_surface(normal)));
            }
        }
        None
    }

    /// Wisps of ice 9 km up.
    fn clouds(&self, to: Vec3, through: Vec3) -> Vec3 {
        const HEIGHT: f32 = 9.0;
        let Some(distance) = distance_to(GROUND + HEIGHT, GROUND + EYE, to.y, true) else { return Vec3::ZERO };
        let point = Vec2::new(to.x, to.z) * distance;
        // Drawn out along the wind.
        let wind = Vec2::new(point.x * 0.8 - point.y * 0.6, (point.x * 0.6 + point.y * 0.8) * 0.3);
        let bend = Vec2::new(fractal(wind * 0.05, 3), fractal(wind * 0.05 + 31.0, 3)) * 10.0;
        let wisps = fractal(wind * 0.16 + bend, 6);
        let where_any = ((fractal(point * 0.018 + 5.0, 3) - 0.42) * 4.0).clamp(0.0, 1.0);
        let thickness = 0.55 * ((wisps - 0.45) * 3.0).clamp(0.0, 1.0).powi(2) * where_any;
        // They would be small and many near the horizon.
        let high = ((to.y - 0.04) * 4.0).clamp(0.0, 1.0);
        let cover = high * (1.0 - (-thickness / to.y.max(0.08)).exp());
        let cos = to.dot(self.to_sun);
        let g: f32 = 0.6;
        let forward = (1.0 - g * g) / (4.0 * PI * (1.0 + g * g - 2.0 * g * cos).powf(1.5));
        let light = self.sunlight.at(HEIGHT, self.to_sun.y) * (0.6 * forward + 0.05) + self.ground / PI * 0.25;
        // What comes through the air as far as the clouds: most of the air is below them.
        cover * through * light
    }
}

/// What part of the light comes through a distance of air.
fn transmittance(radius: f32, cos: f32, distance: f32) -> Vec3 {
    const STEPS: u32 = 100;
    let mut depth = Vec3::ZERO;
    for step in 0..STEPS {
        let along = distance * (step as f32 + 0.5) / STEPS as f32;
        let height = (radius * radius + along * along + 2.0 * radius * along * cos).sqrt() - GROUND;
        depth += air(height).2 * (distance / STEPS as f32);
    }
    exp(-depth)
}

/// Hillaire's estimate of light scattered twice and more: what is scattered once from everywhere, times the sum of the
/// series in which each further scattering keeps the same part.
fn scattered(sunlight: &Table, height: f32, sun_cos: f32) -> Vec3 {
    const DIRECTIONS: usize = 64;
    const STEPS: u32 = 24;
    let radius = GROUND + height.max(1e-3);
    let to_sun = Vec3::new((1.0 - sun_cos * sun_cos).max(0.0).sqrt(), sun_cos, 0.0);
    let (mut second, mut kept) = (Vec3::ZERO, Vec3::ZERO);
    for to in sphere(DIRECTIONS) {
        let ground = distance_to(GROUND, radius, to.y, false);
        let end = ground.or_else(|| distance_to(TOP, radius, to.y, true)).unwrap_or_default();
        let (mut through, mut before) = (Vec3::ONE, 0.0);
        for step in 0..STEPS {
            let after = end * ((step + 1) as f32 / STEPS as f32).powi(2);
            let (length, middle) = (after - before, 0.5 * (after + before));
            before = after;
            let point = Vec3::Y * radius + to * middle;
            let (rayleigh, mie, extinction) = air(point.length() - GROUND);
            let passed = exp(-extinction * length);
            let part = through * (rayleigh + mie) * (1.0 - passed) / extinction;
            let sun = sunlight.at(point.length() - GROUND, point.dot(to_sun) / point.length());
            second += part * sun / (4.0 * PI);
            kept += part;
            through *= passed;
        }
        if ground.is_some() {
            let point = Vec3::Y * radius + to * end;
            let cos = point.dot(to_sun) / point.length();
            second += through * PLAIN / PI * sunlight.at(0.0, cos) * cos.max(0.0);
        }
    }
    let directions = DIRECTIONS as f32;
    second / directions / (1.0 - kept / directions)
}

/// Directions evenly over the sphere (Fibonacci's spiral).
fn sphere(count: usize) -> impl Iterator<Item = Vec3> {
    (0..count).map(move |index| {
        let y = 1.0 - (2 * index + 1) as f32 / count as f32;
        let (sin, cos) = (index as f32 * 2.399_963_2).sin_cos();
        let radius = (1.0 - y * y).sqrt();
        Vec3::new(radius * cos, y, radius * sin)
    })
}

/// The panorama, and the sun, which is not in it: a sample has it as a light with a shadow. Both are scaled so that level
/// white ground in sun and sky has a radiance of 1.25.
pub fn panorama(width: u32, height: u32) -> (Panorama, Sun) {
    let sky = Sky::new();
    let to_sun = sky.to_sun;
    let sunlight = sky.sunlight.at(EYE, to_sun.y);
    let scale = 1.25 / sky.on_surface(Vec3::Y).dot(Vec3::new(0.2126, 0.7152, 0.0722));
    let pixel = |index: u32| {
        let (column, row) = ((index % width) as f32, (index / width) as f32);
        let radiance = |x: f32, y: f32| sky.radiance(panorama_direction(width, height, column + x, row + y));
        (radiance(0.25, 0.25) + radiance(0.75, 0.75)) * (0.5 * scale)
    };
    let pixels = (0..width * height).into_par_iter().map(pixel).collect();
    (Panorama { pixels, width, height }, Sun { direction: to_sun, irradiance: sunlight * scale })
}
