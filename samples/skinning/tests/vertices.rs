//! The vertices that the GPU skins against those of the CPU.
//!
//! A compute shader reads what the sample's vertex shader reads, calls the function it calls, and is read back.

use std::sync::Arc;

use ashwright::ash::vk;
use ashwright::glam::{Mat4, Vec3};
use ashwright::gpu::Device;
use ashwright::scene::{Pose, Primitive, Scene, Skin};
use tools::{compute, corpus};

/// In sizes of the model.
const TOLERANCE: f32 = 1e-4;

const SHADER: &str = "
#version 460
#extension GL_GOOGLE_include_directive : require
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Positions { float positions[]; };
layout(std430, set = 0, binding = 1) readonly buffer Normals { float normals[]; };
// SETS pairs of words a vertex, four 16-bit joints each; SETS vectors of weights a vertex.
layout(std430, set = 0, binding = 2) readonly buffer Joints { uvec2 joints[]; };
layout(std430, set = 0, binding = 3) readonly buffer Weights { vec4 weights[]; };
layout(std430, set = 0, binding = 4) readonly buffer JointMatrices { mat4 joint_matrices[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Skinned { float skinned[]; };

mat4 joint_matrix(uint joint) { return joint_matrices[joint]; }
#include <normal.glsl>
#include <skinning.glsl>

vec3 position(uint v) { return vec3(positions[3 * v], positions[3 * v + 1], positions[3 * v + 2]); }
vec3 normal(uint v) { return vec3(normals[3 * v], normals[3 * v + 1], normals[3 * v + 2]); }

void main() {
    uint v = gl_GlobalInvocationID.x;
    if (3 * v >= positions.length()) {
        return;
    }
    mat4 skin = mat4(0.0);
    for (uint set = 0; set < SETS; ++set) {
        uvec2 packed = joints[SETS * v + set];
        uvec4 four = uvec4(packed.x & 0xffff, packed.x >> 16, packed.y & 0xffff, packed.y >> 16);
        skin += blended_matrix(four, weights[SETS * v + set]);
    }
    vec3 p = (skin * vec4(position(v), 1.0)).xyz;
    vec3 n = normalize(transformed_normal(mat3(skin), normal(v)));
    for (uint i = 0; i < 3; ++i) {
        skinned[6 * v + i] = p[i];
        skinned[6 * v + 3 + i] = n[i];
    }
}
";

/// Skins a primitive on the GPU: positions and normals.
fn skin_on_gpu(
    device: &Arc<Device>,
    pose: &Pose,
    skin: &Skin,
    primitive: &Primitive,
    sets: usize,
) -> Vec<(Vec3, Vec3)> {
    let influences = primitive.influences.as_ref().expect("it is skinned");
    let (joints, weights) = influences.largest(4 * sets);
    let matrices: Vec<Mat4> = pose.joint_matrices(skin).collect();
    let count = primitive.positions.len();
    let inputs: [&[u8]; 5] = [
        bytemuck::cast_slice(&primitive.positions),
        bytemuck::cast_slice(&primitive.normals),
        bytemuck::cast_slice(&joints),
        bytemuck::cast_slice(&weights),
        bytemuck::cast_slice(&matrices),
    ];
    let source = SHADER.trim_start().replace("SETS", &format!("{sets}u"));
    let output = compute::run(device, &source, &inputs, count * 24, count.div_ceil(64) as u32);
    let output = output.expect("the shader runs");
    bytemuck::pod_collect_to_vec::<u8, [Vec3; 2]>(&output).into_iter().map(|[p, n]| (p, n)).collect()
}

/// Compares all skinned primitives of a model at some times of all its clips; returns how many vertices there were.
fn compare(scene: &Scene, sets: usize) -> usize {
    let device = compute::device().expect("there is Vulkan");
    let mut pose = Pose::new(scene);
    let mut compared = 0;
    for (clip, animation) in scene.animations.iter().enumerate() {
        for share in [0.0, 0.3, 0.77] {
            pose.evaluate(scene, &[(clip, share * animation.duration)]);
            let size = pose.bounds(scene).expect("there is something to see").radius() * 2.0;
            for (index, node) in scene.nodes.iter().enumerate() {
                let (Some(mesh), Some(skin)) = (node.mesh, node.skin) else { continue };
                for (place, primitive) in scene.meshes[mesh].primitives.iter().enumerate() {
                    if primitive.influences.is_none() {
                        continue;
                    }
                    let gpu = skin_on_gpu(&device, &pose, &scene.skins[skin], primitive, sets);
                    let (positions, normals) = pose.vertices(scene, index, place);
                    for (vertex, (p, n)) in gpu.into_iter().enumerate() {
                        let off = p.distance(positions[vertex]) / size;
                        assert!(off < TOLERANCE, "{} vertex {vertex}: {off}", scene.name);
                        let off = n.distance(normals[vertex]);
                        assert!(off < 1e-3, "{} normal {vertex}: {off}", scene.name);
                        compared += 1;
                    }
                }
            }
        }
    }
    compared
}

#[test]
fn four_influences() {
    let path = ashwright::asset("models/whale.glb").expect("it is part of the project");
    let whale = Scene::load(&path).expect("it loads");
    assert!(compare(&whale, 1) > 1000);
    // Four influences in eight places are the same.
    assert!(compare(&whale, 2) > 1000);
}

#[test]
fn eight_influences() {
    let Some(corpus) = corpus::gltf() else { return };
    let mut models = 0;
    for path in corpus::models(&corpus.join("dev")) {
        let Ok(scene) = Scene::load(&path) else { continue };
        let sets = scene.meshes.iter().flat_map(|mesh| &mesh.primitives).filter_map(|p| p.influences.as_ref());
        let Some(per_vertex) = sets.map(|influences| influences.per_vertex).max() else { continue };
        if !scene.animations.is_empty() && !scene.skins.is_empty() {
            compare(&scene, per_vertex.div_ceil(4).min(2));
            models += usize::from(per_vertex == 8);
        }
    }
    assert!(models >= 3, "only {models} models with eight influences");
}

/// The streams that the sample binds are what the comparison above has packed.
#[test]
fn the_model_holds_two_pairs_of_streams_only_where_needed() {
    let device = compute::device().expect("there is Vulkan");
    let path = ashwright::asset("models/whale.glb").expect("it is part of the project");
    let whale = Scene::load(&path).expect("it loads");
    let model = ashwright::model::Model::new(&device, &whale, &whale.images).expect("it can be uploaded");
    assert!(model.joints_1.is_none());
    assert_eq!(model.index_type, vk::IndexType::UINT16);
}
