#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include <normal.glsl>

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 tex_coord;

layout(location = 0) out vec3 out_normal;
layout(location = 1) out vec2 out_tex_coord;
layout(location = 2) out vec3 out_influences;

void main() {
    gl_Position = view_projection * (world * vec4(position, 1.0));
    gl_PointSize = 4.0;
    out_normal = transformed_normal(mat3(world), normal);
    out_tex_coord = tex_coord;
    out_influences = vec3(0.0);
}
