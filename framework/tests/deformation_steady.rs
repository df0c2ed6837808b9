//! Deforming a model frame after frame takes no memory, of the program or of the driver.

mod deforming;

use ashwright::scene::{Channel, Interpolation, MorphTarget, Pose, Scene, Values};
use deforming::Deforming;

/// What allocators may keep, in bytes: a driver that compiled its shaders anew for each frame would take far more.
const MOST_GROWTH: u64 = 4 << 20;

#[test]
fn steady_frames_make_nothing() {
    let path = ashwright::asset("models/whale.glb").expect("it is part of the project");
    let whale = morphing(Scene::load(&path).expect("it loads"));
    let device = tools::compute::device().expect("there is Vulkan");
    let mut deforming = Deforming::new(&device, &whale);
    assert!(deforming.model.draws.iter().any(|draw| draw.deformed));
    let mut pose = Pose::new(&whale);
    let mut run = |frames: u32| {
        for frame in 0..frames {
            pose.evaluate(&whale, &[(0, frame as f32 / 60.0 % 2.0)]);
            deforming.frame(&pose, |_, _| {});
        }
    };
    run(50);
    let resident = resident_bytes();
    let (allocations, objects) = (ashwright::allocations(), device.objects_made());
    run(2000);
    assert_eq!(ashwright::allocations(), allocations);
    assert_eq!(device.objects_made(), objects);
    let now = resident_bytes();
    assert!(now <= resident.map(|before| before + MOST_GROWTH), "{resident:?} has become {now:?}");
}

/// Gives a scene targets that make it fat, one more than the other, and lets its first clip change their weights, which are 0
/// now and then.
fn morphing(mut scene: Scene) -> Scene {
    for primitive in scene.meshes.iter_mut().flat_map(|mesh| &mut mesh.primitives) {
        let fat = |by: f32| primitive.normals.iter().map(|&normal| normal * by).collect();
        let targets = [0.1, 0.2].map(|by| MorphTarget { positions: fat(by), ..MorphTarget::default() });
        primitive.morph_targets.extend(targets);
    }
    for (node, carrier) in scene.nodes.iter_mut().enumerate().filter(|(_, node)| node.mesh.is_some()) {
        carrier.weights = vec![0.0; 2];
        scene.animations[0].channels.push(Channel {
            node,
            times: vec![0.0, 0.5, 1.0, 1.5],
            interpolation: Interpolation::Step,
            values: Values::Weights(vec![0.0, 0.0, 0.0, 1.0, 0.5, 0.5, 1.0, 0.0]),
        });
    }
    scene
}

/// The memory that the program holds, where the system says so.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}
