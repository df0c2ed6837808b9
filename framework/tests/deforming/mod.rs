//! A model's deformation without a sample around it.

use std::sync::Arc;

use ashwright::Frame;
use ashwright::ash::vk;
use ashwright::camera::CameraMatrices;
use ashwright::gpu::{Device, Frames};
use ashwright::model::{Deformation, Model};
use ashwright::scene::{Pose, Scene};
use glam::{Mat4, Vec3};

/// A scene on the GPU, and what deforms it.
pub(crate) struct Deforming<'a> {
    pub(crate) scene: &'a Scene,
    pub(crate) model: Model,
    pub(crate) deformation: Deformation,
    frames: Frames,
    pub(crate) device: Arc<Device>,
}

impl<'a> Deforming<'a> {
    pub(crate) fn new(device: &Arc<Device>, scene: &'a Scene) -> Self {
        let model = Model::new(device, scene, &scene.images).expect("it can be uploaded");
        Self {
            scene,
            deformation: Deformation::new(device, scene, &model).expect("there is room"),
            model,
            frames: Frames::new(device).expect("there is room"),
            device: device.clone(),
        }
    }

    /// Records and submits a frame in this pose, with commands of one's own behind the deformation.
    pub(crate) fn frame(&mut self, pose: &Pose, behind: impl FnOnce(&Frame<'_>, &Deformation)) {
        self.frames.wait().expect("the device works");
        let commands = self.frames.begin().expect("the device works");
        let frame = Frame {
            device: &self.device,
            commands,
            index: self.frames.index(),
            image: 0,
            extent: vk::Extent2D { width: 1, height: 1 },
            camera: CameraMatrices { view: Mat4::IDENTITY, projection: Mat4::IDENTITY, eye: Vec3::ZERO },
            timestamps: None,
            wireframe: false,
        };
        self.deformation.record(&frame, self.scene, pose);
        behind(&frame, &self.deformation);
        self.frames.submit(None).expect("the device works");
    }
}

impl Drop for Deforming<'_> {
    fn drop(&mut self) {
        // Or the GPU might still use what goes.
        self.device.wait_idle().expect("the device works");
    }
}
