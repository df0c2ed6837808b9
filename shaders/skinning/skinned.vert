#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

// Influences a vertex: 4 or 8, known when the pipeline is made, so that what is not needed is not there.
layout(constant_id = 0) const uint INFLUENCES = 8;

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 tex_coord;
layout(location = 3) in uvec4 joints_0;
layout(location = 4) in vec4 weights_0;
layout(location = 5) in uvec4 joints_1;
layout(location = 6) in vec4 weights_1;

// The matrices of all skins of the model, one skin after the other.
layout(std430, set = 0, binding = 1) readonly buffer JointMatrices {
    mat4 joint_matrices[];
};

mat4 joint_matrix(uint joint) {
    return joint_matrices[first_joint + joint];
}

#include <normal.glsl>
#include <skinning.glsl>

layout(location = 0) out vec3 out_normal;
layout(location = 1) out vec2 out_tex_coord;
layout(location = 2) out vec3 out_influences;

void main() {
    // The world matrix of the node is not used: the joints say where the mesh is.
    mat4 skin = blended_matrix(joints_0, weights_0);
    if (INFLUENCES > 4) {
        skin += blended_matrix(joints_1, weights_1);
    }
    gl_Position = view_projection * (skin * vec4(position, 1.0));
    gl_PointSize = 4.0;
    out_normal = transformed_normal(mat3(skin), normal);
    out_tex_coord = tex_coord;
    out_influences = VIEW == VIEW_WEIGHTS ? weights_0.xyz : vec3(joints_0.xyz) / float(max(joint_count, 1u));
}
