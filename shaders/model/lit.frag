#version 460
#extension GL_GOOGLE_include_directive : require
#include "lit.glsl"
#include <brdf.glsl>

// Known when a pipeline is made: what is not needed is not there.
layout(constant_id = 0) const uint ALPHA_MODE = 0;
layout(constant_id = 1) const bool COVERAGE = false;         // whether alpha says how many of a pixel's samples are covered
layout(constant_id = 2) const bool UNLIT = false;
layout(constant_id = 3) const uint TEXTURES = 0;             // a bit for each slot that has one
layout(constant_id = 4) const bool TRANSFORMED = false;      // whether any is looked up elsewhere than at coordinates 0
layout(constant_id = 5) const bool SHARED_OCCLUSION = false; // whether occlusion is the red of metallic-roughness

const uint ALPHA_MASK = 1;
const uint ALPHA_BLEND = 2;

const uint BASE_COLOR = 0;
const uint METALLIC_ROUGHNESS = 1;
const uint NORMAL = 2;
const uint OCCLUSION = 3;
const uint EMISSIVE = 4;

// The largest half float: beyond it there is only infinity, which blending turns into what is not a number.
const float BRIGHTEST = 65504.0;

layout(set = 0, binding = 1) uniform samplerCube environment;
layout(set = 0, binding = 2) uniform sampler2D split_sum;
layout(set = 1, binding = 1) uniform sampler2D textures[5];

float roughest_level() {
    return eye.w;
}

#include <environment.glsl>

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 in_normal;
layout(location = 2) in vec4 in_tangent;
layout(location = 3) in vec4 in_color;
layout(location = 4) in vec4 tex_coords;

layout(location = 0) out vec4 color;

bool has(uint slot) {
    return (TEXTURES & 1u << slot) != 0;
}

// White where there is no texture.
vec4 sampled(uint slot) {
    if (!has(slot)) {
        return vec4(1.0);
    }
    if (!TRANSFORMED) {
        return texture(textures[slot], tex_coords.xy);
    }
    Slot s = slots[slot];
    vec2 coord = mix(tex_coords.xy, tex_coords.zw, s.translation_and_set.z);
    return texture(textures[slot], mat2(s.matrix.xy, s.matrix.zw) * coord + s.translation_and_set.xy);
}

// The normal of the surface with what the normal map has on it, world space, on the side that is seen.
vec3 surface_normal() {
    // Lines and points may have no normal; they face the eye.
    vec3 normal = dot(in_normal, in_normal) > 0.0 ? normalize(in_normal) : normalize(eye.xyz - position);
    if (has(NORMAL)) {
        vec3 mapped = sampled(NORMAL).xyz * 2.0 - 1.0;
        mapped.xy *= factors.z;
        vec3 bitangent = cross(normal, in_tangent.xyz) * in_tangent.w;
        // Where there are no tangents both are 0, and the normal stays what it is.
        normal = normalize(in_tangent.xyz * mapped.x + bitangent * mapped.y + normal * mapped.z);
    }
    return gl_FrontFacing ? normal : -normal;
}

vec3 lit(vec3 base_color) {
    // Roughness is in green, metalness in blue (glTF 2.0, section 3.9.2).
    vec4 metallic_roughness = sampled(METALLIC_ROUGHNESS);
    Surface surface =
        Surface(base_color, factors.x * metallic_roughness.b, factors.y * metallic_roughness.g, surface_normal());
    vec3 to_eye = normalize(eye.xyz - position);
    Reflected of_sun = reflected(surface, to_eye, to_sun.xyz);
    Reflected of_environment = environment_light(surface, to_eye);
    // Occlusion is of the light from all around alone.
    float occlusion = SHARED_OCCLUSION ? metallic_roughness.r : sampled(OCCLUSION).r;
    float open = 1.0 + factors.w * (occlusion - 1.0);
    return sun.rgb * (of_sun.diffuse + of_sun.specular) + open * (of_environment.diffuse + of_environment.specular)
        + emissive_factor.rgb * sampled(EMISSIVE).rgb;
}

void main() {
    vec4 base_color = in_color * base_color_factor * sampled(BASE_COLOR);
    float alpha = 1.0;
    if (ALPHA_MODE == ALPHA_MASK) {
        float cutoff = emissive_factor.w;
        // Where samples are covered one by one the cut is as wide as a pixel, and so free of steps.
        float width = max(fwidth(base_color.a), 1e-4);
        alpha = COVERAGE ? clamp((base_color.a - cutoff) / width + 0.5, 0.0, 1.0) : 1.0;
        if (COVERAGE ? alpha <= 0.0 : base_color.a < cutoff) {
            discard;
        }
    } else if (ALPHA_MODE == ALPHA_BLEND) {
        alpha = base_color.a;
    }

    vec3 radiance = UNLIT ? base_color.rgb : lit(base_color.rgb);
    color = vec4(min(radiance, BRIGHTEST), alpha);
}
