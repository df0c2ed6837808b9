//! What a scene is seen with: the orbit camera, or one of the model's own.

use std::sync::Arc;

use anyhow::{Result, bail};
use glam::camera::rh::proj::vulkan;
use glam::{Mat4, Vec3};

use crate::camera::{CameraMatrices, OrbitCamera};
use crate::scene::{Pose, Projection, Scene};

/// The orbit camera and the cameras of a model.
pub(super) struct Viewpoint {
    orbit: OrbitCamera,
    cameras: Vec<ModelCamera>,
    /// Index into `cameras`; `None`: the orbit camera.
    chosen: Option<usize>,
    /// What it was at first.
    start: Option<usize>,
    scene: Arc<Scene>,
    /// Where the chosen camera is, if it moves.
    pose: Pose,
}

/// A camera that hangs on a node of the shown scene.
struct ModelCamera {
    name: String,
    node: usize,
    projection: Projection,
}

impl Viewpoint {
    /// With the model's camera of this index in the file, or with the orbit camera.
    ///
    /// # Errors
    ///
    /// The shown scene has no such camera.
    pub(super) fn new(scene: &Arc<Scene>, orbit: OrbitCamera, wanted: Option<usize>) -> Result<Self> {
        let hung = scene.nodes.iter().enumerate().filter(|(_, node)| node.in_scene);
        let mut found: Vec<_> = hung.filter_map(|(index, node)| Some((node.camera?, index))).collect();
        found.sort_unstable();
        let start = match wanted {
            Some(wanted) => Some(place(scene, &found, wanted)?),
            None => None,
        };
        let camera = |&(camera, node): &(usize, usize)| {
            let name = scene.cameras[camera].name.as_ref().or(scene.nodes[node].name.as_ref());
            let name = name.map_or(format!("{camera}"), |name| format!("{camera} {name}"));
            ModelCamera { name, node, projection: scene.cameras[camera].projection }
        };
        let cameras = found.iter().map(camera).collect();
        Ok(Self { orbit, cameras, chosen: start, start, scene: scene.clone(), pose: Pose::new(scene) })
    }

    /// The names of the model's cameras.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.cameras.iter().map(|camera| camera.name.as_str())
    }

    /// Which of them is looked through; `None`: the orbit camera.
    pub(super) fn chosen(&self) -> Option<usize> {
        self.chosen
    }

    /// Looks through another one.
    pub(super) fn choose(&mut self, camera: Option<usize>) {
        self.chosen = camera;
    }

    /// Back to where it started.
    pub(super) fn reset(&mut self) {
        self.orbit.reset();
        self.chosen = self.start;
    }

    /// Lets the user move the orbit camera, which is looked through from then on.
    pub(super) fn steer(&mut self, steer: impl FnOnce(&mut OrbitCamera)) {
        let before = self.orbit.clone();
        steer(&mut self.orbit);
        if self.orbit != before {
            self.chosen = None;
        }
    }

    /// Follows a camera that clips move.
    pub(super) fn follow(&mut self, clips: &[(usize, f32)]) {
        if self.chosen.is_some() {
            self.pose.evaluate(&self.scene, clips);
        }
    }

    /// The matrices for a picture of this width over height.
    pub(super) fn matrices(&self, aspect: f32) -> CameraMatrices {
        let Some(ModelCamera { node, projection, .. }) = self.chosen.map(|chosen| &self.cameras[chosen]) else {
            return self.orbit.matrices(aspect);
        };
        let (view, eye) = view(self.pose.world(*node));
        CameraMatrices { view, projection: project(projection, aspect), eye }
    }
}

/// Where in `found`, which pairs cameras with nodes, the wanted camera is.
fn place(scene: &Scene, found: &[(usize, usize)], wanted: usize) -> Result<usize> {
    if let Some(place) = found.iter().position(|&(camera, _)| camera == wanted) {
        return Ok(place);
    }
    match scene.cameras.len() {
        0 => bail!("{} has no camera of its own; leave out --camera", scene.name),
        count if wanted >= count => bail!("{} has no camera {wanted}; --camera takes 0 to {}", scene.name, count - 1),
        _ => bail!("camera {wanted} of {} hangs on no node of the shown scene", scene.name),
    }
}

/// From world to view space, and the eye. A camera does not take part in the scale of its node (glTF 2.0, section 3.10).
fn view(world: Mat4) -> (Mat4, Vec3) {
    let (_, rotation, eye) = world.to_scale_rotation_translation();
    let view = Mat4::from_rotation_translation(rotation, eye).inverse();
    // A node that is squashed flat has no rotation.
    (if view.is_finite() { view } else { Mat4::from_translation(-eye) }, eye)
}

/// A camera's projection for a picture of this width over height. What the camera was made to show is in it: a narrower
/// picture shows more above and below.
fn project(projection: &Projection, aspect: f32) -> Mat4 {
    match *projection {
        Projection::Perspective { yfov, aspect_ratio, znear, zfar } => {
            let higher = aspect_ratio.map_or(1.0, |ratio| (ratio / aspect).max(1.0));
            let fov = 2.0 * ((yfov / 2.0).tan() * higher).atan();
            match zfar {
                Some(zfar) => vulkan::perspective(fov, aspect, znear, zfar),
                None => vulkan::perspective_infinite(fov, aspect, znear),
            }
        }
        Projection::Orthographic { xmag, ymag, znear, zfar } => {
            let height = ymag.max(xmag / aspect);
            let width = height * aspect;
            vulkan::orthographic(-width, width, -height, height, znear, zfar)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::View;
    use crate::scene::{Camera, Node, Transform};
    use glam::{Quat, Vec2};

    fn viewpoint(projection: Projection, wanted: Option<usize>) -> Result<Viewpoint> {
        let local =
            Transform::Trs { translation: Vec3::new(0.0, 0.0, 5.0), rotation: Quat::IDENTITY, scale: Vec3::splat(3.0) };
        let node = Node {
            name: Some("eye".to_owned()),
            parent: None,
            children: Vec::new(),
            local,
            mesh: None,
            skin: None,
            weights: Vec::new(),
            camera: Some(0),
            light: None,
            in_scene: true,
        };
        let camera = Camera { name: None, projection };
        let scene = Scene {
            nodes: vec![node],
            node_order: vec![0],
            cameras: vec![camera.clone(), camera],
            ..Default::default()
        };
        let orbit = OrbitCamera::new(View::framing(Vec3::ZERO, 1.0), 0.0, 1.0);
        Viewpoint::new(&Arc::new(scene), orbit, wanted)
    }

    const PERSPECTIVE: Projection =
        Projection::Perspective { yfov: std::f32::consts::FRAC_PI_2, aspect_ratio: Some(1.0), znear: 1.0, zfar: None };

    #[test]
    fn a_camera_looks_along_its_node_without_its_scale() {
        let at =
            |viewpoint: &Viewpoint, aspect, point| viewpoint.matrices(aspect).view_projection().project_point3(point);
        let viewpoint = viewpoint(PERSPECTIVE, Some(0)).expect("it is there");
        assert_eq!(viewpoint.matrices(1.0).eye, Vec3::new(0.0, 0.0, 5.0));
        // 90 degrees reach 5 m at a distance of 5 m; a picture half as wide is twice as high.
        assert!(at(&viewpoint, 1.0, Vec3::new(5.0, 5.0, 0.0)).truncate().abs_diff_eq(Vec2::new(1.0, -1.0), 1e-5));
        assert!(at(&viewpoint, 0.5, Vec3::new(5.0, 10.0, 0.0)).truncate().abs_diff_eq(Vec2::new(1.0, -1.0), 1e-5));
        assert!(at(&viewpoint, 1.0, Vec3::new(0.0, 0.0, 4.0)).z.abs() < 1e-6, "the near plane");
        assert!((at(&viewpoint, 1.0, Vec3::new(0.0, 0.0, -1e9)).z - 1.0).abs() < 1e-6, "without end");
    }

    #[test]
    fn orthographic_cameras_see_their_magnification() {
        let projection = Projection::Orthographic { xmag: 2.0, ymag: 1.0, znear: 0.0, zfar: 10.0 };
        let viewpoint = viewpoint(projection, Some(0)).expect("it is there");
        let at = |aspect, point| viewpoint.matrices(aspect).view_projection().project_point3(point);
        assert!(at(2.0, Vec3::new(2.0, 1.0, 0.0)).abs_diff_eq(Vec3::new(1.0, -1.0, 0.5), 1e-5));
        assert!(at(1.0, Vec3::new(2.0, 2.0, 5.0)).abs_diff_eq(Vec3::new(1.0, -1.0, 0.0), 1e-5));
    }

    #[test]
    fn moving_returns_to_the_orbit_camera() {
        let mut viewpoint = viewpoint(PERSPECTIVE, Some(0)).expect("it is there");
        viewpoint.steer(|_| {});
        assert_eq!(viewpoint.chosen(), Some(0));
        viewpoint.steer(|orbit| orbit.zoom(1.0));
        assert_eq!(viewpoint.chosen(), None);
        viewpoint.reset();
        assert_eq!(viewpoint.chosen(), Some(0));
    }

    #[test]
    fn what_is_not_there_is_told() {
        let error = |wanted| viewpoint(PERSPECTIVE, Some(wanted)).map(drop).expect_err("it is not there").to_string();
        assert!(error(1).contains("hangs on no node"), "{}", error(1));
        assert!(error(2).contains("--camera takes 0 to 1"), "{}", error(2));
        assert_eq!(viewpoint(PERSPECTIVE, None).expect("no wish").names().collect::<Vec<_>>(), ["0 eye"]);
    }
}
