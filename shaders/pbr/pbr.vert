#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include <normal.glsl>

layout(constant_id = 0) const bool TANGENTS = false;

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 tex_coord_0;
layout(location = 3) in vec2 tex_coord_1;
layout(location = 4) in vec4 color;
layout(location = 5) in vec4 tangent;

layout(location = 0) out vec3 out_position;
layout(location = 1) out vec3 out_normal;
layout(location = 2) out vec4 out_tangent;
layout(location = 3) out vec4 out_color;
layout(location = 4) out vec4 out_tex_coords;

void main() {
    vec4 world_position = world * vec4(position, 1.0);
    gl_Position = view_projection * world_position;
    gl_PointSize = 4.0;
    out_position = world_position.xyz;
    out_normal = transformed_normal(mat3(world), normal);
    // A tangent lies in the surface and moves with it; in a mirror its bitangent turns around.
    float handedness = determinant(mat3(world)) < 0.0 ? -1.0 : 1.0;
    out_tangent = TANGENTS ? vec4(mat3(world) * tangent.xyz, tangent.w * handedness) : vec4(0.0);
    out_color = color;
    out_tex_coords = vec4(tex_coord_0, tex_coord_1);
}
