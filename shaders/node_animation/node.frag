#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

// Which pipeline it is part of.
layout(constant_id = 0) const uint ALPHA_MODE = 0;
const uint ALPHA_OPAQUE = 0;
const uint ALPHA_MASK = 1;
const uint ALPHA_BLEND = 2;
// Whether alpha says how many of a pixel's samples are covered.
layout(constant_id = 1) const bool COVERAGE = false;

layout(set = 1, binding = 0) uniform sampler2D base_color_texture;
layout(set = 1, binding = 1) uniform sampler2D emissive_texture;

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 in_normal;
layout(location = 2) in vec4 in_color;
layout(location = 3) in vec2 base_color_coord;
layout(location = 4) in vec2 emissive_coord;

layout(location = 0) out vec4 color;

const vec3 HIGHLIGHT = vec3(1.0, 0.02, 0.45);

void main() {
    Material m = materials[material];
    vec4 base_color = in_color * texture(base_color_texture, base_color_coord);
    float alpha = 1.0;
    if (ALPHA_MODE == ALPHA_MASK) {
        // What is equal at all corners of a triangle is so in between but for rounding, which must not cut holes.
        float above = base_color.a - m.emissive_factor.w + 2e-6;
        alpha = step(0.0, above);
        // Where samples are covered one by one an edge is as wide as a pixel, and so free of steps.
        float width = fwidth(base_color.a);
        if (COVERAGE && width > 1e-4) {
            alpha = clamp(above / width + 0.5, 0.0, 1.0);
        }
        if (alpha <= 0.0) {
            discard;
        }
    } else if (ALPHA_MODE == ALPHA_BLEND) {
        alpha = base_color.a;
    }

    // Lines and points may have no normal; they face the light.
    vec3 normal = dot(in_normal, in_normal) > 0.0 ? normalize(in_normal) : light_direction.xyz;
    // The back of a double-sided surface faces the other way.
    normal = gl_FrontFacing ? normal : -normal;
    vec3 towards_eye = normalize(eye.xyz - position);
    vec3 half_way = normalize(light_direction.xyz + towards_eye);

    vec3 ambient = mix(ground.rgb, sky.rgb, normal.y * 0.5 + 0.5);
    vec3 diffuse = light.rgb * max(dot(normal, light_direction.xyz), 0.0);
    vec3 gloss = light.rgb * 0.25 * pow(max(dot(normal, half_way), 0.0), 50.0);
    vec3 lit = base_color.rgb * (ambient + diffuse) + gloss;
    vec3 emissive = m.emissive_factor.rgb * texture(emissive_texture, emissive_coord).rgb;
    // An unlit material shows its base colour and nothing else.
    color.rgb = mix(lit + emissive, base_color.rgb, m.choices.z);
    color.rgb = mix(color.rgb, HIGHLIGHT, 0.7 * highlight);
    color.a = alpha;
}
