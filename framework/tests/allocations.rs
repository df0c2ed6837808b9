//! Posing a model allocates nothing: it happens for every frame.

use ashwright::scene::{Animation, Channel, Interpolation, Node, Pose, Scene, Skin, Transform, Values};
use glam::{Mat4, Quat, Vec3};

/// A chain of joints, each moved by channels of every kind.
fn chain(joints: usize) -> Scene {
    let node = |index: usize| Node {
        name: None,
        parent: index.checked_sub(1),
        children: if index + 1 < joints { vec![index + 1] } else { Vec::new() },
        local: Transform::Trs { translation: Vec3::Y, rotation: Quat::IDENTITY, scale: Vec3::ONE },
        mesh: None,
        skin: None,
        weights: Vec::new(),
        camera: None,
        light: None,
        in_scene: true,
    };
    let channel = |node, interpolation, values| Channel { node, times: vec![0.0, 1.0], interpolation, values };
    let channels = (0..joints).flat_map(|node| {
        [
            channel(node, Interpolation::Linear, Values::Rotation(vec![Quat::IDENTITY, Quat::from_rotation_x(1.0)])),
            channel(node, Interpolation::Step, Values::Scale(vec![Vec3::ONE; 2])),
            channel(node, Interpolation::CubicSpline, Values::Translation(vec![Vec3::Y; 6])),
        ]
    });
    let channels = channels.collect();
    Scene {
        nodes: (0..joints).map(node).collect(),
        node_order: (0..joints).collect(),
        skins: vec![Skin {
            name: None,
            joints: (0..joints).collect(),
            inverse_bind_matrices: vec![Mat4::IDENTITY; joints],
        }],
        animations: vec![Animation { name: None, channels, duration: 1.0 }],
        ..Scene::default()
    }
}

#[test]
fn a_pose_allocates_nothing() {
    let scene = chain(50);
    let before = ashwright::allocations();
    let mut pose = Pose::new(&scene);
    assert!(ashwright::allocations() > before, "the counter counts");

    // All threads are counted, and that of the test's harness may be busy for a moment: what a pose does it does each time.
    let tries = (0..5).map(|_| {
        let before = ashwright::allocations();
        let mut sum = Mat4::ZERO;
        for frame in 0..10 {
            let time = frame as f32 / 10.0;
            pose.evaluate(&scene, &[(0, time), (0, 1.0 - time)]);
            pose.evaluate(&scene, &[(0, time)]);
            pose.approach(&scene, &[(0, 1.0 - time)], time);
            sum += pose.joint_matrices(&scene.skins[0]).fold(Mat4::ZERO, |sum, matrix| sum + matrix);
        }
        assert!(sum.is_finite() && sum != Mat4::ZERO);
        ashwright::allocations() - before
    });
    assert_eq!(tries.min(), Some(0));
}
