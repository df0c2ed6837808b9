#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include <color.glsl>

layout(set = 1, binding = 0) uniform sampler2D base_color_texture;

layout(location = 0) in vec3 in_normal;
layout(location = 1) in vec2 tex_coord;
layout(location = 2) in vec3 influences;

layout(location = 0) out vec4 color;

void main() {
    vec4 base_color = base_color_factor * texture(base_color_texture, tex_coord);
    if (MASKED && base_color.a < alpha_cutoff) {
        discard;
    }
    // Lines and points may have no normal; they face the light.
    vec3 normal = dot(in_normal, in_normal) > 0.0 ? normalize(in_normal) : light_direction.xyz;
    // The back of a double-sided surface faces the other way.
    normal = gl_FrontFacing ? normal : -normal;

    if (VIEW == VIEW_SHADED) {
        // Half-Lambert: light wraps around to the far side and never ends in flat black.
        float half_lambert = dot(normal, light_direction.xyz) * 0.5 + 0.5;
        color = vec4(base_color.rgb * half_lambert, base_color.a);
    } else {
        // The target encodes sRGB; these are numbers to be read from the picture as they are.
        vec3 number = VIEW == VIEW_NORMALS ? normal * 0.5 + 0.5 : influences;
        color = vec4(linear_from_srgb(number), 1.0);
    }
}
