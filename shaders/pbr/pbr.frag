#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include <brdf.glsl>
#include <color.glsl>
#include <tone_mapping.glsl>

// Known when a pipeline is made: what is not needed is not there.
layout(constant_id = 0) const uint ALPHA_MODE = 0;
layout(constant_id = 1) const bool COVERAGE = false; // whether alpha says how many of a pixel's samples are covered
layout(constant_id = 2) const uint VIEW = 0;
layout(constant_id = 3) const uint OPERATOR = 0;
layout(constant_id = 4) const uint LIGHTS = 1;
layout(constant_id = 5) const bool ENVIRONMENT = false;
layout(constant_id = 6) const bool UNLIT = false;
layout(constant_id = 7) const uint TEXTURES = 0;          // a bit for each slot that has one
layout(constant_id = 8) const bool TRANSFORMED = false;   // whether any is looked up elsewhere than at texture coordinates 0
layout(constant_id = 9) const bool SAME_OCCLUSION = false; // whether occlusion is the red of metallic-roughness

const uint ALPHA_MASK = 1;
const uint ALPHA_BLEND = 2;

const uint VIEW_SHADED = 0;
const uint VIEW_BASE_COLOR = 1;
const uint VIEW_METALLIC = 2;
const uint VIEW_ROUGHNESS = 3;
const uint VIEW_NORMAL = 4;
const uint VIEW_OCCLUSION = 5;
const uint VIEW_EMISSIVE = 6;
const uint VIEW_UV0 = 7;
const uint VIEW_UV1 = 8;
const uint VIEW_TANGENT = 9;
const uint VIEW_DIFFUSE = 10;
const uint VIEW_SPECULAR = 11;
const uint VIEW_ENVIRONMENT = 12;

layout(set = 0, binding = 2) uniform samplerCube environment; // rougher levels are blurred more
layout(set = 0, binding = 3) uniform sampler2D split_sum;     // by n.v and roughness
layout(set = 1, binding = 1) uniform sampler2D textures[5];   // by slot

float roughest_level() {
    return exposure.y;
}

#include <environment.glsl>

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 in_normal;
layout(location = 2) in vec4 in_tangent;
layout(location = 3) in vec4 in_color;
layout(location = 4) in vec4 tex_coords;

layout(location = 0) out vec4 color;

// White where there is no texture.
vec4 sampled(uint slot) {
    if ((TEXTURES & (1u << slot)) == 0) {
        return vec4(1.0);
    }
    vec2 coord = tex_coords.xy;
    if (TRANSFORMED) {
        Slot s = slots[slot];
        coord = mix(tex_coords.xy, tex_coords.zw, s.translation_and_set.z);
        coord = mat2(s.matrix.xy, s.matrix.zw) * coord + s.translation_and_set.xy;
    }
    return texture(textures[slot], coord);
}

// The normal of the surface with what the normal map has on it, world space, on the side that is seen.
vec3 surface_normal() {
    // Lines and points may have no normal; they face the eye.
    vec3 normal = dot(in_normal, in_normal) > 0.0 ? normalize(in_normal) : normalize(eye.xyz - position);
    if ((TEXTURES & (1u << NORMAL)) != 0) {
        vec3 mapped = sampled(NORMAL).xyz * 2.0 - 1.0;
        mapped.xy *= factors.z;
        vec3 bitangent = cross(normal, in_tangent.xyz) * in_tangent.w;
        // Where there are no tangents both are 0, and the normal stays what it is.
        normal = normalize(in_tangent.xyz * mapped.x + bitangent * mapped.y + normal * mapped.z);
    }
    return gl_FrontFacing ? normal : -normal;
}

// The light that reaches a point from a light (KHR_lights_punctual), and the way to it.
vec3 arriving(Light light, vec3 point, out vec3 to_light) {
    vec3 way = mix(-light.direction.xyz, light.position.xyz - point, light.color.w);
    float squared = max(dot(way, way), 1e-8);
    to_light = way * inversesqrt(squared);
    float range = light.position.w;
    float share = range > 0.0 ? squared / (range * range) : 0.0;
    float window = clamp(1.0 - share * share, 0.0, 1.0);
    float cone = clamp(dot(-to_light, light.direction.xyz) * light.cone.x + light.cone.y, 0.0, 1.0);
    return light.color.rgb * window * cone * cone / mix(1.0, squared, light.color.w);
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

    // Roughness is in green, metalness in blue (glTF 2.0, section 3.9.2).
    vec4 metallic_roughness = sampled(METALLIC_ROUGHNESS);
    vec3 normal = surface_normal();
    Surface surface =
        Surface(base_color.rgb, factors.x * metallic_roughness.b, factors.y * metallic_roughness.g, normal);
    float occlusion = SAME_OCCLUSION ? metallic_roughness.r : sampled(OCCLUSION).r;
    occlusion = 1.0 + factors.w * (occlusion - 1.0);
    vec3 emissive = emissive_factor.rgb * sampled(EMISSIVE).rgb;
    vec3 to_eye = normalize(eye.xyz - position);

    vec3 diffuse = vec3(0.0);
    vec3 specular = vec3(0.0);
    for (uint i = 0; i < LIGHTS; ++i) {
        vec3 to_light;
        vec3 light = arriving(lights[i], position, to_light);
        Reflected of_light = reflected(surface, to_eye, to_light);
        diffuse += light * of_light.diffuse;
        specular += light * of_light.specular;
    }

    if (ENVIRONMENT) {
        // Occlusion is of the light from all around alone.
        Reflected of_environment = environment_light(surface, to_eye);
        diffuse += occlusion * of_environment.diffuse;
        specular += occlusion * of_environment.specular;
    }

    // An unlit material shows its base colour and nothing else; it is exposed like the rest.
    vec3 radiance = UNLIT ? base_color.rgb : diffuse + specular + emissive;
    color = vec4(tone_mapped(OPERATOR, exposure.x * radiance), alpha);

    // The target encodes sRGB; numbers are to be read from the picture as they are.
    switch (VIEW) {
        case VIEW_BASE_COLOR: color.rgb = base_color.rgb; break;
        case VIEW_METALLIC: color.rgb = linear_from_srgb(vec3(surface.metallic)); break;
        case VIEW_ROUGHNESS: color.rgb = linear_from_srgb(vec3(surface.roughness)); break;
        case VIEW_NORMAL: color.rgb = linear_from_srgb(normal * 0.5 + 0.5); break;
        case VIEW_OCCLUSION: color.rgb = linear_from_srgb(vec3(occlusion)); break;
        case VIEW_EMISSIVE: color.rgb = emissive; break;
        case VIEW_UV0: color.rgb = linear_from_srgb(vec3(fract(tex_coords.xy), 0.0)); break;
        case VIEW_UV1: color.rgb = linear_from_srgb(vec3(fract(tex_coords.zw), 0.0)); break;
        case VIEW_TANGENT: color.rgb = linear_from_srgb(in_tangent.xyz * 0.5 + 0.5); break;
        case VIEW_DIFFUSE: color.rgb = tone_mapped(OPERATOR, exposure.x * diffuse); break;
        case VIEW_ENVIRONMENT: color.rgb = tone_mapped(OPERATOR, exposure.x * diffuse_light(normal)); break;
        case VIEW_SPECULAR: color.rgb = tone_mapped(OPERATOR, exposure.x * specular); break;
    }
}
