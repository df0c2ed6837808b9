//! How long a pose takes, by the number of nodes and by the number of keys of each track: the first should grow with the
//! number, the second hardly.
//!
//! `cargo bench -p ashwright --bench pose`

use ashwright::glam::{Quat, Vec3};
use ashwright::scene::{Animation, Channel, Interpolation, Node, Pose, Scene, Transform, Values};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Keys a second.
const RATE: f32 = 30.0;

/// Of how many nodes the tracks are whose keys are counted.
const NODES: usize = 100;

/// A tree of nodes, eight of which hang on each, that turn and move.
fn scene(nodes: usize, keys: usize) -> Scene {
    let rest = Transform::Trs { translation: Vec3::Y, rotation: Quat::IDENTITY, scale: Vec3::ONE };
    let parent = |node: usize| node.checked_sub(1).map(|before| before / 8);
    let node = |index: usize| Node {
        name: None,
        parent: parent(index),
        children: (0..nodes).filter(|&child| parent(child) == Some(index)).collect(),
        local: rest,
        mesh: None,
        skin: None,
        weights: Vec::new(),
        camera: None,
        light: None,
        in_scene: true,
    };
    let times: Vec<f32> = (0..keys).map(|key| key as f32 / RATE).collect();
    let turn = |key: usize| Quat::from_rotation_y(key as f32 * 0.1);
    let move_ = |key: usize| Vec3::Y * key as f32;
    let channels = (0..nodes).flat_map(|node| {
        let values =
            [Values::Rotation((0..keys).map(turn).collect()), Values::Translation((0..keys).map(move_).collect())];
        values.map(|values| Channel { node, times: times.clone(), interpolation: Interpolation::Linear, values })
    });
    let animation = Animation { name: None, channels: channels.collect(), duration: (keys - 1) as f32 / RATE };
    Scene {
        nodes: (0..nodes).map(node).collect(),
        roots: vec![0],
        node_order: (0..nodes).collect(),
        animations: vec![animation],
        ..Scene::default()
    }
}

fn pose(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pose by nodes");
    for nodes in [10, 100, 1000, 10_000] {
        group.throughput(Throughput::Elements(nodes as u64));
        measure(&mut group, nodes, &scene(nodes, 30));
    }
    group.finish();
    let mut group = criterion.benchmark_group("pose by keys");
    for keys in [10, 100, 1000, 10_000] {
        measure(&mut group, keys, &scene(NODES, keys));
    }
    group.finish();
}

/// Measures poses while the clip plays, at 60 frames a second.
fn measure(group: &mut criterion::BenchmarkGroup<criterion::measurement::WallTime>, name: usize, scene: &Scene) {
    let mut pose = Pose::new(scene);
    let mut time = 0.0;
    group.bench_with_input(BenchmarkId::from_parameter(name), scene, |bencher, scene| {
        bencher.iter(|| {
            time = (time + 1.0 / 60.0) % scene.animations[0].duration;
            pose.evaluate(scene, &[(0, time)]);
        });
    });
}

criterion_group!(benches, pose);
criterion_main!(benches);
