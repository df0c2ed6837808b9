#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include <normal.glsl>

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 tex_coord_0;
layout(location = 3) in vec2 tex_coord_1;
layout(location = 4) in vec4 color;

layout(location = 0) out vec3 out_position;
layout(location = 1) out vec3 out_normal;
layout(location = 2) out vec4 out_color;
layout(location = 3) out vec2 out_base_color_coord;
layout(location = 4) out vec2 out_emissive_coord;

void main() {
    vec4 world_position = world * vec4(position, 1.0);
    gl_Position = view_projection * world_position;
    gl_PointSize = 4.0;
    out_position = world_position.xyz;
    out_normal = transformed_normal(mat3(world), normal);

    Material m = materials[material];
    out_color = color * m.base_color_factor;
    vec2 base_color_coord = mix(tex_coord_0, tex_coord_1, m.choices.x);
    out_base_color_coord = mat2(m.base_color_matrix.xy, m.base_color_matrix.zw) * base_color_coord + m.translations.xy;
    vec2 emissive_coord = mix(tex_coord_0, tex_coord_1, m.choices.y);
    out_emissive_coord = mat2(m.emissive_matrix.xy, m.emissive_matrix.zw) * emissive_coord + m.translations.zw;
}
