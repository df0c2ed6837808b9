//! The vertices that the GPU deforms against those of the CPU, and against numbers that anyone can compute.

mod deforming;

use std::sync::Arc;

use ashwright::ash::vk;
use ashwright::gpu::{Buffer, Device, FRAMES_IN_FLIGHT, GpuChoice, Instance, MessageCount, Validation};
use ashwright::scene::{Influences, Mesh, MorphTarget, Node, Pose, Primitive, Scene, Skin, Topology, Transform};
use ashwright::{Frame, model};
use deforming::Deforming;
use glam::{Mat3, Mat4, Quat, Vec3, Vec4};
use tools::{corpus, sample};

/// Of positions, in sizes of the model, and of normals.
const TOLERANCE: f32 = 1e-4;

/// A device with strict validation where the layer is installed, and the count of its messages.
fn device() -> (Arc<Device>, MessageCount) {
    let validation = match Instance::validation_layer_is_installed() {
        true => Validation::Strict,
        false => Validation::Off,
    };
    let messages = MessageCount::default();
    let instance = Instance::new("test", validation, messages.clone(), None).expect("there is Vulkan");
    let gpus = instance.physical_devices().expect("there are GPUs");
    let choice = match gpus.iter().any(|gpu| gpu.name().contains(sample::SOFTWARE_GPU)) {
        true => GpuChoice::Name(sample::SOFTWARE_GPU.to_owned()),
        false => GpuChoice::Best,
    };
    (Device::new(&instance, &choice, None, &[], &[]).expect("it works"), messages)
}

/// What the GPU has made of the vertices that deform.
struct Deformed {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    tangents: Vec<Vec4>,
}

/// Deforms a model in a pose by a frame of each index, and reads the last one.
fn deform(deforming: &mut Deforming<'_>, pose: &Pose) -> Deformed {
    let draws = deforming.model.draws.iter().filter(|draw| draw.deformed);
    let vertices: u32 = draws.map(|draw| draw.vertex_count).sum();
    let usage = vk::BufferUsageFlags::TRANSFER_DST;
    let read = [12, 12, 16].map(|stride| {
        Buffer::readable(&deforming.device, "read", u64::from(stride * vertices), usage).expect("there is room")
    });
    for _ in 0..FRAMES_IN_FLIGHT {
        deforming.frame(pose, |frame, deformation| {
            let streams = deformation.streams(frame.index);
            let streams = [Some(streams.positions), Some(streams.normals), streams.tangents];
            for (from, to) in streams.into_iter().zip(&read) {
                if let Some(from) = from {
                    copy(frame, from, to);
                }
            }
        });
        deforming.device.wait_idle().expect("the device works");
    }
    let tangents = if deforming.model.tangents.is_some() { read[2].bytes() } else { &[] };
    Deformed {
        positions: bytemuck::pod_collect_to_vec(&read[0].bytes()[..12 * vertices as usize]),
        normals: bytemuck::pod_collect_to_vec(&read[1].bytes()[..12 * vertices as usize]),
        tangents: bytemuck::pod_collect_to_vec(&tangents[..tangents.len().min(16 * vertices as usize)]),
    }
}

/// Copies what a compute shader has written to where the CPU reads it.
fn copy(frame: &Frame<'_>, from: vk::Buffer, to: &Buffer) {
    let barrier = |from: (_, _), to: (_, _)| {
        [vk::MemoryBarrier2::default()
            .src_stage_mask(from.0)
            .src_access_mask(from.1)
            .dst_stage_mask(to.0)
            .dst_access_mask(to.1)]
    };
    let written = (vk::PipelineStageFlags2::COMPUTE_SHADER, vk::AccessFlags2::SHADER_STORAGE_WRITE);
    let copied = (vk::PipelineStageFlags2::COPY, vk::AccessFlags2::TRANSFER_READ);
    let (copy, host) = (vk::PipelineStageFlags2::COPY, vk::PipelineStageFlags2::HOST);
    let to_copy = barrier(written, copied);
    let to_host = barrier((copy, vk::AccessFlags2::TRANSFER_WRITE), (host, vk::AccessFlags2::HOST_READ));
    let region = [vk::BufferCopy::default().size(to.size())];
    // SAFETY: the command buffer is being recorded; both buffers live until the wait that follows and are large enough.
    unsafe {
        frame.device.cmd_pipeline_barrier2(frame.commands, &vk::DependencyInfo::default().memory_barriers(&to_copy));
        frame.device.cmd_copy_buffer(frame.commands, from, to.handle(), &region);
        frame.device.cmd_pipeline_barrier2(frame.commands, &vk::DependencyInfo::default().memory_barriers(&to_host));
    }
}

/// Compares all that deforms in a scene, at rest and at some times of all its clips; returns how many vertices there were.
fn compare(scene: &Scene) -> usize {
    let (device, messages) = device();
    let mut deforming = Deforming::new(&device, scene);
    let mut pose = Pose::new(scene);
    let mut compared = compare_pose(&mut deforming, &pose);
    for (clip, animation) in scene.animations.iter().enumerate() {
        for share in [0.0, 0.3, 0.77] {
            pose.evaluate(scene, &[(clip, share * animation.duration)]);
            compared += compare_pose(&mut deforming, &pose);
        }
    }
    drop((deforming, device));
    assert_eq!(messages.total(), 0, "{}", scene.name);
    compared
}

fn compare_pose(deforming: &mut Deforming<'_>, pose: &Pose) -> usize {
    let scene = deforming.scene;
    let size = pose.bounds(scene).expect("there is something to see").radius() * 2.0;
    let deformed = deform(deforming, pose);
    let mut compared = 0;
    for draw in deforming.model.draws.iter().filter(|draw| draw.deformed) {
        let world = draw.world(pose);
        let normal_matrix = Mat3::from_mat4(world).inverse().transpose();
        let (positions, normals) = pose.vertices(scene, draw.node, draw.primitive);
        assert_eq!(positions.len(), draw.vertex_count as usize);
        let about = format!("{}, node {}, primitive {}", scene.name, draw.node, draw.primitive);
        for (vertex, &expected) in positions.iter().enumerate() {
            let found = deformed.positions[draw.vertex_offset as usize + vertex];
            let off = world.transform_point3(found).distance(expected) / size;
            assert!(off < TOLERANCE, "{about}, vertex {vertex} is off by {off}: {found}, not {expected}");
            compared += 1;
        }
        for (vertex, &expected) in normals.iter().enumerate() {
            let found = deformed.normals[draw.vertex_offset as usize + vertex];
            assert!((found.length() - 1.0).abs() < 1e-5, "{about}, normal {vertex} is {found}");
            let off = (normal_matrix * found).normalize().distance(expected);
            assert!(off < TOLERANCE, "{about}, normal {vertex} is off by {off}: {found}, not {expected}");
        }
    }
    compared
}

/// Numbers from -1 to 1, the same ones every time.
struct Numbers(u32);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as f32 / (1 << 23) as f32 - 1.0
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next())
    }
}

fn node(mesh: Option<usize>, local: Mat4) -> Node {
    Node {
        name: None,
        parent: None,
        children: Vec::new(),
        local: Transform::Matrix(local),
        mesh,
        skin: None,
        weights: Vec::new(),
        camera: None,
        light: None,
        in_scene: true,
    }
}

/// So many vertices anywhere, with normals, and not a multiple of what a workgroup takes.
fn primitive(numbers: &mut Numbers, vertices: u32) -> Primitive {
    Primitive {
        topology: Topology::Triangles,
        indices: (0..vertices).collect(),
        positions: (0..vertices).map(|_| numbers.vector()).collect(),
        normals: (0..vertices).map(|_| numbers.vector().normalize()).collect(),
        tangents: Vec::new(),
        colors: Vec::new(),
        tex_coords: [Vec::new(), Vec::new()],
        influences: None,
        morph_targets: Vec::new(),
        material: 0,
        source_vertices: Vec::new(),
    }
}

/// Gives every vertex so many influences of random weights, of as many joints.
fn add_influences(numbers: &mut Numbers, primitive: &mut Primitive, per_vertex: usize) {
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
    for _ in 0..primitive.positions.len() {
        let raw: Vec<f32> = (0..per_vertex).map(|_| numbers.next().abs() + 0.1).collect();
        let sum: f32 = raw.iter().sum();
        joints.extend(0..per_vertex as u16);
        weights.extend(raw.iter().map(|weight| weight / sum));
    }
    primitive.influences = Some(Influences { per_vertex, joints, weights });
}

/// A target for positions and normals, one for positions, one for normals, and one for nothing.
fn add_targets(numbers: &mut Numbers, primitive: &mut Primitive) {
    let count = primitive.positions.len();
    let mut deltas = || (0..count).map(|_| numbers.vector() * 0.3).collect::<Vec<_>>();
    let target = |positions, normals| MorphTarget { positions, normals, tangents: Vec::new() };
    primitive.morph_targets = vec![
        target(deltas(), deltas()),
        target(deltas(), Vec::new()),
        target(Vec::new(), deltas()),
        target(Vec::new(), Vec::new()),
    ];
}

/// Nodes to be joints, behind those that there are, and a skin of them.
fn add_skin(numbers: &mut Numbers, scene: &mut Scene, joints: usize) {
    let first = scene.nodes.len();
    for _ in 0..joints {
        let rotation = Quat::from_scaled_axis(numbers.vector());
        let scale = Vec3::ONE + numbers.vector() * 0.2;
        scene.nodes.push(node(None, Mat4::from_scale_rotation_translation(scale, rotation, numbers.vector())));
    }
    scene.skins.push(Skin {
        name: None,
        joints: (first..first + joints).collect(),
        inverse_bind_matrices: (0..joints).map(|_| Mat4::from_translation(numbers.vector())).collect(),
    });
}

/// A scene of these nodes, each of which may draw the only mesh.
fn scene(name: &str, nodes: Vec<Node>, primitives: Vec<Primitive>) -> Scene {
    Scene { name: name.to_owned(), nodes, meshes: vec![Mesh { name: None, primitives }], ..Scene::default() }
}

/// To be called when all nodes are there: none has a parent.
fn order(mut scene: Scene) -> Scene {
    scene.node_order = (0..scene.nodes.len()).collect();
    scene.roots.clone_from(&scene.node_order);
    scene
}

const MOVED: Mat4 = Mat4::from_cols(
    Vec4::new(0.0, 1.0, 0.0, 0.0),
    Vec4::new(-1.5, 0.0, 0.0, 0.0),
    Vec4::new(0.0, 0.0, 0.7, 0.0),
    Vec4::new(3.0, -2.0, 1.0, 1.0),
);

#[test]
fn skins() {
    for per_vertex in [4, 8] {
        let mut numbers = Numbers(per_vertex as u32);
        let mut skinned = primitive(&mut numbers, 150);
        add_influences(&mut numbers, &mut skinned, per_vertex);
        let mut scene = scene("skin", vec![node(Some(0), MOVED)], vec![skinned]);
        scene.nodes[0].skin = Some(0);
        add_skin(&mut numbers, &mut scene, per_vertex);
        assert_eq!(compare(&order(scene)), 150);
    }
}

/// One mesh twice, with the same targets and other weights.
#[test]
fn morph_targets() {
    let mut numbers = Numbers(1);
    let mut morphing = primitive(&mut numbers, 150);
    add_targets(&mut numbers, &mut morphing);
    let mut nodes = vec![node(Some(0), MOVED), node(Some(0), Mat4::IDENTITY), node(Some(0), MOVED)];
    nodes[0].weights = vec![0.5, -0.25, 1.0, 1.0];
    nodes[1].weights = vec![0.0, 0.75, 0.0, 0.0];
    nodes[2].weights = vec![0.0; 4];
    assert_eq!(compare(&order(scene("morph", nodes, vec![morphing]))), 450);
}

/// Two nodes with one mesh, other skins and other weights, and besides a node without a skin, one that has nothing to
/// deform, and primitives of all kinds.
#[test]
fn morph_targets_and_skins() {
    let mut numbers = Numbers(2);
    let plain = primitive(&mut numbers, 30);
    let mut both = primitive(&mut numbers, 150);
    add_influences(&mut numbers, &mut both, 8);
    add_targets(&mut numbers, &mut both);
    let mut skinned = primitive(&mut numbers, 70);
    add_influences(&mut numbers, &mut skinned, 4);
    let mut morphing = primitive(&mut numbers, 64);
    add_targets(&mut numbers, &mut morphing);
    let mut nodes = vec![node(Some(0), MOVED), node(Some(0), Mat4::IDENTITY), node(Some(0), MOVED)];
    nodes[0].weights = vec![0.5, -0.25, 1.0, 0.0];
    nodes[1].weights = vec![0.1, 0.75, -1.0, 0.5];
    nodes[2].weights = vec![1.0, 1.0, 0.0, 0.5];
    (nodes[0].skin, nodes[2].skin) = (Some(0), Some(1));
    let mut scene = scene("both", nodes, vec![plain, both, skinned, morphing]);
    add_skin(&mut numbers, &mut scene, 8);
    add_skin(&mut numbers, &mut scene, 8);
    // Without a skin what has influences only is rigid.
    assert_eq!(compare(&order(scene)), 3 * (150 + 64) + 2 * 70);
}

/// By a joint that turns and mirrors nothing, tangents turn as the mesh does; targets change them before.
#[test]
fn tangents() {
    let mut numbers = Numbers(3);
    let mut primitives = vec![primitive(&mut numbers, 70), primitive(&mut numbers, 10)];
    let deltas: Vec<Vec3> = (0..70).map(|_| numbers.vector() * 0.3).collect();
    for primitive in &mut primitives {
        add_influences(&mut numbers, primitive, 4);
        let sign = [-1.0, 1.0].into_iter().cycle();
        let count = primitive.positions.len();
        primitive.tangents = sign.take(count).map(|w| numbers.vector().normalize().extend(w)).collect();
    }
    let target = MorphTarget { tangents: deltas.clone(), ..MorphTarget::default() };
    primitives[0].morph_targets.push(target);
    let mut nodes = vec![node(Some(0), Mat4::IDENTITY)];
    (nodes[0].skin, nodes[0].weights) = (Some(0), vec![0.5]);
    let mut scene = scene("tangents", nodes, primitives);
    let turn = Mat4::from_rotation_y(1.0) * Mat4::from_scale(Vec3::new(2.0, 1.0, 1.0));
    scene.nodes.push(node(None, turn));
    scene.skins.push(Skin { name: None, joints: vec![1; 4], inverse_bind_matrices: vec![Mat4::IDENTITY; 4] });
    let scene = order(scene);

    let (device, messages) = device();
    let mut deforming = Deforming::new(&device, &scene);
    let deformed = deform(&mut deforming, &Pose::new(&scene));
    let tangents = scene.meshes[0].primitives.iter().flat_map(|primitive| &primitive.tangents);
    let deltas = deltas.into_iter().chain([Vec3::ZERO; 10]);
    for ((tangent, delta), found) in tangents.zip(deltas).zip(&deformed.tangents) {
        let expected = turn.transform_vector3(tangent.truncate() + 0.5 * delta).normalize().extend(tangent.w);
        assert!(found.abs_diff_eq(expected, TOLERANCE), "{found}, not {expected}");
    }
    assert_eq!(deformed.tangents.len(), 80);
    drop((deforming, device));
    assert_eq!(messages.total(), 0);
}

/// What is drawn, in the order that the streams need, and what is uploaded how often.
#[test]
fn draws_share_what_is_rigid() {
    let mut numbers = Numbers(4);
    let rigid = primitive(&mut numbers, 3);
    let mut morphing = primitive(&mut numbers, 6);
    add_targets(&mut numbers, &mut morphing);
    let mut skinned = primitive(&mut numbers, 9);
    add_influences(&mut numbers, &mut skinned, 4);
    let mut empty = primitive(&mut numbers, 0);
    empty.indices.clear();
    let mut nodes = vec![node(Some(0), Mat4::IDENTITY), node(Some(0), MOVED), node(Some(0), MOVED)];
    nodes[0].skin = Some(0);
    nodes[2].in_scene = false;
    let mut scene = scene("draws", nodes, vec![rigid, morphing, empty, skinned]);
    add_skin(&mut numbers, &mut scene, 4);
    let scene = order(scene);
    let (device, _) = device();
    let model = model::Model::new(&device, &scene, &scene.images).expect("it can be uploaded");
    let found: Vec<_> = model
        .draws
        .iter()
        .map(|draw| (draw.node, draw.primitive, draw.vertex_offset, draw.first_index, draw.skinned, draw.deformed))
        .collect();
    let expected = [
        (0, 3, 0, 0, true, true),
        (0, 1, 9, 9, false, true),
        (1, 1, 15, 9, false, true),
        (0, 0, 21, 15, false, false),
        (1, 0, 21, 15, false, false),
        (1, 3, 24, 0, false, false),
    ];
    assert_eq!(found, expected);
    let positions = &scene.meshes[0].primitives[0].positions;
    let (min, max) = (positions.iter().copied().reduce(Vec3::min), positions.iter().copied().reduce(Vec3::max));
    let middle = (min.unwrap_or_default() + max.unwrap_or_default()) * 0.5;
    let center = |draw: usize| model.draws[draw].center(&scene, &Pose::new(&scene));
    assert!(center(3).abs_diff_eq(middle, 1e-6) && center(4).abs_diff_eq(MOVED.transform_point3(middle), 1e-5));
    // 33 vertices, of which 9 are skinned.
    let sizes = [&model.positions, &model.colors, &model.joints_0].map(Buffer::size);
    assert_eq!(sizes, [33 * 12, 33 * 8, 9 * 8]);
    assert!(model.tangents.is_none() && model.joints_1.is_none());
}

/// What is skinned is where its bones are, not where it was bound.
#[test]
fn draws_are_sorted_by_where_joints_carry_them() {
    let mut numbers = Numbers(6);
    let mut skinned = primitive(&mut numbers, 3);
    skinned.positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    let joints = [0, 2].repeat(3);
    skinned.influences = Some(Influences { per_vertex: 2, joints, weights: [0.25, 0.75].repeat(3) });
    let mut nodes = vec![node(Some(0), MOVED), node(None, MOVED), node(None, Mat4::from_translation(Vec3::Z * 9.0))];
    nodes[0].skin = Some(0);
    let mut scene = scene("sorting", nodes, vec![skinned]);
    let bind = Mat4::from_translation(Vec3::X * 0.5);
    scene.skins.push(Skin { name: None, joints: vec![1, 1, 2], inverse_bind_matrices: vec![bind; 3] });
    let scene = order(scene);
    let (device, _) = device();
    let model = model::Model::new(&device, &scene, &scene.images).expect("it can be uploaded");
    assert_eq!(model.draws[0].center(&scene, &Pose::new(&scene)), Vec3::new(1.0, 0.5, 9.0));
}

/// Nothing is made for a model that does not deform.
#[test]
fn rigid_models_cost_nothing() {
    let mut numbers = Numbers(5);
    let scene = order(scene("rigid", vec![node(Some(0), MOVED)], vec![primitive(&mut numbers, 30)]));
    let (device, _) = device();
    let model = model::Model::new(&device, &scene, &scene.images).expect("it can be uploaded");
    let before = device.objects_made();
    let deformation = model::Deformation::new(&device, &scene, &model).expect("there is room");
    assert_eq!(device.objects_made(), before);
    assert_eq!(deformation.streams(0).positions, model.positions.handle());
}

#[test]
fn the_whale() {
    let path = ashwright::asset("models/whale.glb").expect("it is part of the project");
    let whale = Scene::load(&path).expect("it loads");
    assert!(compare(&whale) > 1000);
}

#[test]
fn other_peoples_models() {
    let Some(corpus) = corpus::gltf() else { return };
    let models = [
        "AnimatedMorphCube/glTF-Binary/AnimatedMorphCube.glb",
        "CesiumMan/glTF-Binary/CesiumMan.glb",
        "Fox/glTF-Binary/Fox.glb",
        "MorphStressTest/glTF-Binary/MorphStressTest.glb",
        "SimpleMorph/glTF-Embedded/SimpleMorph.gltf",
        "SimpleSkin/glTF-Embedded/SimpleSkin.gltf",
        "Synthetic/SynMorphAll.glb",
        "Synthetic/SynSkin8F32.gltf",
        "Synthetic/SynSkin8U16N.glb",
        "Synthetic/SynSkinNoIBM.gltf",
    ];
    for model in models {
        let scene = Scene::load(&corpus.join("dev").join(model)).expect("it loads");
        assert!(compare(&scene) > 0, "{model}");
    }
}
