//! The orbit camera.

use std::f32::consts::{FRAC_PI_2, TAU};

use glam::camera::rh::proj::vulkan;
use glam::camera::rh::view;
use glam::{Mat4, Vec2, Vec3};

/// Where a camera stands, what it looks at, and how wide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// The camera's position in world space, metres.
    pub eye: Vec3,
    /// The point in the middle of the picture, world space, metres.
    pub target: Vec3,
    /// Vertical field of view, degrees.
    pub fov: f32,
}

impl View {
    /// A view that shows a sphere whole, from the front and a little to the side and above.
    pub fn framing(center: Vec3, radius: f32) -> Self {
        let fov: f32 = 35.0;
        let direction = Vec3::new(0.5, 0.28, 0.85).normalize();
        // The sphere touches the picture's upper and lower edge at radius / sin(fov / 2).
        let distance = radius.max(1e-6) / (fov.to_radians() / 2.0).sin();
        Self { eye: center + distance * direction, target: center, fov }
    }
}

/// What a frame needs of the camera.
#[derive(Debug, Clone, Copy)]
pub struct CameraMatrices {
    /// From world to view space: right-handed, looking along -Z, Y up.
    pub view: Mat4,
    /// From view space to Vulkan's clip space: y down, depth 0 (near) to 1 (far).
    pub projection: Mat4,
    /// The position in world space, metres.
    pub eye: Vec3,
}

impl CameraMatrices {
    /// From world to clip space.
    pub fn view_projection(&self) -> Mat4 {
        self.projection * self.view
    }
}

/// A camera that turns about a point.
#[derive(Debug, Clone, PartialEq)]
pub struct OrbitCamera {
    start: View,
    target: Vec3,
    distance: f32,
    /// Turn about +Y, radians; 0 looks along -Z.
    yaw: f32,
    /// Height above the horizon, radians.
    pitch: f32,
    fov: f32,
    /// The least width over height of a picture that is as high as the field of view. Narrower ones see more above and
    /// below, so that nothing is cut off at the sides.
    least_aspect: f32,
    /// Radius of what there is to see, metres.
    scene_radius: f32,
}

/// The camera does not go over the pole, where "up" would flip.
const MOST_PITCH: f32 = FRAC_PI_2 - 0.01;

impl OrbitCamera {
    /// A camera at `view` in a scene of this radius (metres), which says how near and far it has to see. In a picture whose
    /// width over height is below `least_aspect` the field of view is as wide as at that, and higher.
    pub fn new(view: View, least_aspect: f32, scene_radius: f32) -> Self {
        let mut camera = Self {
            start: view,
            target: view.target,
            distance: 1.0,
            yaw: 0.0,
            pitch: 0.0,
            fov: view.fov.to_radians(),
            least_aspect,
            scene_radius: scene_radius.max(1e-6),
        };
        camera.reset();
        camera
    }

    /// Back to where it started.
    pub fn reset(&mut self) {
        let offset = self.start.eye - self.start.target;
        self.target = self.start.target;
        self.distance = offset.length().max(1e-6);
        self.yaw = offset.x.atan2(offset.z);
        self.pitch = (offset.y / self.distance).clamp(-1.0, 1.0).asin().clamp(-MOST_PITCH, MOST_PITCH);
    }

    /// Turns by a drag, given as fractions of the picture's height to the right and downwards.
    pub fn turn(&mut self, drag: Vec2) {
        self.yaw = (self.yaw - drag.x * TAU / 2.0) % TAU;
        self.pitch = (self.pitch + drag.y * TAU / 2.0).clamp(-MOST_PITCH, MOST_PITCH);
    }

    /// Moves with a drag, given as fractions of the picture's height to the right and downwards: what is at the target
    /// stays under the pointer.
    pub fn pan(&mut self, drag: Vec2) {
        let direction = self.direction();
        let right = Vec3::Y.cross(direction).normalize();
        let up = direction.cross(right);
        let height = 2.0 * self.distance * (self.fov / 2.0).tan();
        self.target += height * (drag.y * up - drag.x * right);
    }

    /// Moves nearer by a number of wheel steps.
    pub fn zoom(&mut self, steps: f32) {
        let distance = self.distance * 0.9_f32.powf(steps);
        self.distance = distance.clamp(1e-3 * self.scene_radius, 1e3 * self.scene_radius);
    }

    /// The matrices for a picture of this width over height.
    pub fn matrices(&self, aspect: f32) -> CameraMatrices {
        let eye = self.target + self.distance * self.direction();
        // Far enough for the scene and the ground around it, wherever the camera looks; near in proportion, for depth is
        // stored as floating point where the GPU can.
        let far = self.distance + (self.target - self.start.target).length() + 30.0 * self.scene_radius;
        let near = (0.01 * self.distance).max(1e-5 * far);
        let higher = (self.least_aspect / aspect).max(1.0);
        let fov = 2.0 * ((self.fov / 2.0).tan() * higher).atan();
        CameraMatrices {
            view: view::look_at_mat4(eye, self.target, Vec3::Y),
            projection: vulkan::perspective(fov, aspect, near, far),
            eye,
        }
    }

    /// From the target to the eye, a unit vector.
    fn direction(&self) -> Vec3 {
        let (sin_yaw, cos_yaw) = self.yaw.sin_cos();
        let (sin_pitch, cos_pitch) = self.pitch.sin_cos();
        Vec3::new(sin_yaw * cos_pitch, sin_pitch, cos_yaw * cos_pitch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEW: View = View { eye: Vec3::new(3.0, 2.0, 6.0), target: Vec3::new(1.0, 1.0, 2.0), fov: 60.0 };

    #[test]
    fn starts_where_it_was_told() {
        let camera = OrbitCamera::new(VIEW, 0.0, 2.0);
        assert!(camera.matrices(1.0).eye.abs_diff_eq(VIEW.eye, 1e-5));
    }

    #[test]
    fn clip_space_is_vulkans() {
        let view = View { eye: Vec3::new(0.0, 0.0, 4.0), target: Vec3::ZERO, fov: 90.0 };
        let clip = OrbitCamera::new(view, 0.0, 1.0).matrices(2.0).view_projection();
        let at = |point: Vec3| clip.project_point3(point);
        assert!(at(Vec3::new(0.0, 4.0, 0.0)).y < 0.0, "up is towards -y");
        assert!((at(Vec3::new(0.0, 4.0, 0.0)).y + 1.0).abs() < 1e-5, "90 degrees reach 4 m at a distance of 4 m");
        assert!((at(Vec3::new(8.0, 0.0, 0.0)).x - 1.0).abs() < 1e-5, "twice as wide as high");
        let (near, far) = (at(Vec3::new(0.0, 0.0, 1.0)).z, at(Vec3::new(0.0, 0.0, -1.0)).z);
        assert!((0.0..1.0).contains(&near) && near < far && far <= 1.0);
    }

    #[test]
    fn narrow_pictures_are_as_wide_as_the_least_aspect() {
        let view = View { eye: Vec3::new(0.0, 0.0, 4.0), target: Vec3::ZERO, fov: 90.0 };
        let camera = OrbitCamera::new(view, 1.0, 1.0);
        let right = |aspect: f32| camera.matrices(aspect).view_projection().project_point3(4.0 * Vec3::X).x;
        assert!((right(1.0) - 1.0).abs() < 1e-5 && (right(0.5) - 1.0).abs() < 1e-5, "what is at the edge stays there");
        assert!((right(2.0) - 0.5).abs() < 1e-5, "wide pictures see more to the sides");
    }

    #[test]
    fn what_is_panned_stays_under_the_pointer() {
        let mut camera = OrbitCamera::new(VIEW, 0.0, 2.0);
        camera.pan(Vec2::new(0.25, 0.125));
        let clip = camera.matrices(1.0).view_projection();
        let moved = clip.project_point3(VIEW.target);
        // A quarter of the height is half of clip space's unit.
        assert!((moved.x - 0.5).abs() < 1e-4 && (moved.y - 0.25).abs() < 1e-4, "{moved}");
    }

    #[test]
    fn turning_keeps_the_distance_and_stops_at_the_pole() {
        let mut camera = OrbitCamera::new(VIEW, 0.0, 2.0);
        camera.turn(Vec2::new(0.3, 10.0));
        let eye = camera.matrices(1.0).eye;
        assert!((eye.distance(VIEW.target) - VIEW.eye.distance(VIEW.target)).abs() < 1e-4);
        assert!(camera.matrices(1.0).view.is_finite());
        camera.zoom(3.0);
        camera.reset();
        assert!(camera.matrices(1.0).eye.abs_diff_eq(VIEW.eye, 1e-4));
    }
}
