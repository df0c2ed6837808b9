#version 460
#extension GL_GOOGLE_include_directive : require

// Puts vertices where a pose wants them: morph targets first, then joints. A workgroup takes vertices of one draw. What
// differs between draws is read from buffers, since on a software driver a branch or a loop that depends on a uniform or a
// push constant means another compiled shader for each value.

layout(local_size_x = 64) in;

// The most influences a vertex, 4 or 8, and whether there are tangents, known when the pipeline is made.
layout(constant_id = 0) const uint INFLUENCES = 8;
layout(constant_id = 1) const bool TANGENTS = true;

// Draw.first_joint of what is not skinned.
const uint NOT_SKINNED = ~0u;

struct Group {
    uint draw;
    uint first; // of its vertices, counted from the draw's first
};

struct Draw {
    uint first_vertex;
    uint vertex_count;
    uint first_joint;    // where the skin's matrices begin
    uint position_terms; // where its terms begin, one kind after the other
    uint normal_terms;
    uint tangent_terms;
    uint terms_end;
};

// A morph target's share in an attribute.
struct Term {
    uint first_delta;
    float weight;
};

// As the model has them.
layout(std430, set = 0, binding = 0) readonly buffer Groups { Group groups[]; };
layout(std430, set = 0, binding = 1) readonly buffer Deltas { float deltas[]; };
layout(std430, set = 0, binding = 2) readonly buffer Positions { float positions[]; };
layout(std430, set = 0, binding = 3) readonly buffer Normals { float normals[]; };
layout(std430, set = 0, binding = 4) readonly buffer Tangents { vec4 tangents[]; };
layout(std430, set = 0, binding = 5) readonly buffer Joints0 { uvec2 joints_0[]; }; // four of 16 bits
layout(std430, set = 0, binding = 6) readonly buffer Weights0 { vec4 weights_0[]; };
layout(std430, set = 0, binding = 7) readonly buffer Joints1 { uvec2 joints_1[]; };
layout(std430, set = 0, binding = 8) readonly buffer Weights1 { vec4 weights_1[]; };
// As the pose wants them.
layout(std430, set = 0, binding = 9) readonly buffer Draws { Draw draws[]; };
layout(std430, set = 0, binding = 10) readonly buffer Terms { Term terms[]; };
layout(std430, set = 0, binding = 11) readonly buffer JointMatrices { mat4 joint_matrices[]; };
// What becomes of them.
layout(std430, set = 0, binding = 12) writeonly buffer DeformedPositions { float deformed_positions[]; };
layout(std430, set = 0, binding = 13) writeonly buffer DeformedNormals { float deformed_normals[]; };
layout(std430, set = 0, binding = 14) writeonly buffer DeformedTangents { vec4 deformed_tangents[]; };

mat4 joint_matrix(uint joint) {
    return joint_matrices[joint];
}

#include <normal.glsl>
#include <skinning.glsl>

uvec4 joints(uvec2 packed, uint first_joint) {
    return first_joint + uvec4(packed.x & 0xffff, packed.x >> 16, packed.y & 0xffff, packed.y >> 16);
}

// What morph targets add to an attribute of a draw's vertex.
vec3 morphed(uint vertex, uint terms_begin, uint terms_end) {
    vec3 sum = vec3(0.0);
    for (uint i = terms_begin; i < terms_end; ++i) {
        uint delta = 3 * (terms[i].first_delta + vertex);
        sum += terms[i].weight * vec3(deltas[delta], deltas[delta + 1], deltas[delta + 2]);
    }
    return sum;
}

// A vector of any size brought to length 1; the other one where it has no direction.
vec3 unit(vec3 v, vec3 otherwise) {
    float size = max(max(abs(v.x), abs(v.y)), abs(v.z));
    return size > 0.0 ? normalize(v / size) : otherwise;
}

void main() {
    Group group = groups[gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x];
    Draw draw = draws[group.draw];
    uint in_draw = group.first + gl_LocalInvocationID.x;
    if (in_draw >= draw.vertex_count) {
        return;
    }
    uint v = draw.first_vertex + in_draw;
    vec3 position = vec3(positions[3 * v], positions[3 * v + 1], positions[3 * v + 2]);
    vec3 normal = vec3(normals[3 * v], normals[3 * v + 1], normals[3 * v + 2]);
    vec4 tangent = TANGENTS ? tangents[v] : vec4(0.0);

    position += morphed(in_draw, draw.position_terms, draw.normal_terms);
    normal = unit(normal + morphed(in_draw, draw.normal_terms, draw.tangent_terms), normal);
    if (TANGENTS) {
        tangent.xyz += morphed(in_draw, draw.tangent_terms, draw.terms_end);
    }

    if (draw.first_joint != NOT_SKINNED) {
        mat4 skin = blended_matrix(joints(joints_0[v], draw.first_joint), weights_0[v]);
        if (INFLUENCES > 4) {
            skin += blended_matrix(joints(joints_1[v], draw.first_joint), weights_1[v]);
        }
        position = (skin * vec4(position, 1.0)).xyz;
        normal = unit(transformed_normal(mat3(skin), normal), normal);
        tangent.xyz = mat3(skin) * tangent.xyz;
    }

    for (uint i = 0; i < 3; ++i) {
        deformed_positions[3 * v + i] = position[i];
        deformed_normals[3 * v + i] = normal[i];
    }
    if (TANGENTS) {
        deformed_tangents[v] = vec4(unit(tangent.xyz, tangent.xyz), tangent.w);
    }
}
