//! Pictures of the plane z = 0 seen straight on, where one knows what is where.

use std::path::Path;

use ashwright::glam::{Vec2, Vec3};
use image::RgbaImage;

use crate::sample;

/// How far the eye is from the plane, metres.
pub const DISTANCE: f32 = 20.0;

/// A camera that looks along Z at the plane z = 0.
#[derive(Clone, Copy)]
pub struct Facing {
    /// Pixels.
    pub size: (u32, u32),
    /// The point of the plane in the middle of the picture.
    pub center: Vec2,
    /// How much of the plane the picture is high, metres.
    pub height: f32,
    /// Whether it looks from -Z: what is to the right from the front is to the left then.
    pub behind: bool,
}

impl Facing {
    /// Sees 4 by 4 metres about the origin from the front.
    pub const SQUARE: Facing = Facing { size: (200, 200), center: Vec2::ZERO, height: 4.0, behind: false };

    /// The same from behind.
    pub fn from_behind(self) -> Self {
        Self { behind: true, ..self }
    }

    /// Where the eye is.
    pub fn eye(self) -> Vec3 {
        self.center.extend(if self.behind { -DISTANCE } else { DISTANCE })
    }

    /// Draws a model by a sample that has nothing to say, on this background (sRGB, 0 to 1), `options` being further ones.
    pub fn draw(self, binary: &str, model: &Path, background: &str, options: &[&str]) -> RgbaImage {
        let (eye, target) = (self.eye(), self.center.extend(0.0));
        let vector = |v: Vec3| format!("{},{},{}", v.x, v.y, v.z);
        let fov = 2.0 * (self.height / 2.0 / DISTANCE).atan().to_degrees();
        let size = format!("{}x{}", self.size.0, self.size.1);
        let (eye, target, fov) = (vector(eye), vector(target), fov.to_string());
        let model = model.to_str().expect("the name is text");
        let common = [model, "--no-stage", "--background", background, "--size", &size];
        let camera = ["--eye", &eye, "--target", &target, "--fov", &fov];
        sample::picture(binary, [&common[..], &camera, options].concat())
    }

    /// Where in the picture a point of the plane is, pixels.
    pub fn place(self, point: Vec2) -> Vec2 {
        let per_metre = self.size.1 as f32 / self.height;
        let right = if self.behind { -1.0 } else { 1.0 };
        let middle = Vec2::new(self.size.0 as f32, self.size.1 as f32) / 2.0;
        middle + (point - self.center) * per_metre * Vec2::new(right, -1.0)
    }

    /// The pixel at a point of the plane.
    pub fn pixel(self, picture: &RgbaImage, point: Vec2) -> [u8; 3] {
        let place = self.place(point);
        let pixel = picture.get_pixel(place.x as u32, place.y as u32);
        [pixel[0], pixel[1], pixel[2]]
    }
}

/// Whether two pixels differ by at most so much a channel.
pub fn is_near(a: [u8; 3], b: [u8; 3], tolerance: u8) -> bool {
    a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= tolerance)
}

/// The box around all pixels that are not the background, which is that of the upper left corner: first and last columns
/// and rows.
pub fn drawn_box(picture: &RgbaImage) -> Option<(Vec2, Vec2)> {
    let background = picture.get_pixel(0, 0);
    let drawn = picture.enumerate_pixels().filter(|(_, _, pixel)| *pixel != background);
    drawn.map(|(x, y, _)| Vec2::new(x as f32, y as f32)).fold(None, |found, place| match found {
        None => Some((place, place)),
        Some((min, max)) => Some((min.min(place), max.max(place))),
    })
}

/// The pixel of a linear colour (IEC 61966-2-1).
pub fn srgb(linear: Vec3) -> [u8; 3] {
    let encode = |linear: f32| match linear.clamp(0.0, 1.0) {
        linear if linear <= 0.003_130_8 => 12.92 * linear,
        linear => 1.055 * linear.powf(1.0 / 2.4) - 0.055,
    };
    linear.to_array().map(|channel| (255.0 * encode(channel)).round() as u8)
}

/// The linear colour of a pixel.
pub fn linear(pixel: [u8; 3]) -> Vec3 {
    let decode = |encoded: f32| match encoded {
        encoded if encoded <= 0.040_45 => encoded / 12.92,
        encoded => ((encoded + 0.055) / 1.055).powf(2.4),
    };
    Vec3::from_array(pixel.map(|channel| decode(f32::from(channel) / 255.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_there_and_back() {
        assert_eq!(srgb(Vec3::new(0.0, 0.5, 1.0)), [0, 188, 255]);
        assert!((0..=255).all(|channel| srgb(linear([channel; 3])) == [channel; 3]));
    }
}
