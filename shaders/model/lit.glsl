// What the shaders of a lit model share.

layout(set = 0, binding = 0) uniform Frame {
    mat4 view_projection;
    mat4 clip_to_world;
    vec4 eye;           // world space, metres; w: the roughest level of the environment
    vec4 to_sun;        // world space, unit length
    vec4 sun;           // what a surface that faces it receives, linear
    vec4 irradiance[9]; // of the environment, by the normal
};

// All factors are linear. A texture's way from texture coordinates to where it is looked up: a matrix of two columns, a
// translation, and in the last component which texture coordinates, 0 or 1.
struct Slot {
    vec4 matrix;
    vec4 translation_and_set;
};

// Set 1 changes with the material. A uniform buffer, and not a storage buffer of all materials: a software driver reads
// nothing from that for the invocations beside a triangle's edge, by which the level of a texture is found.
layout(set = 1, binding = 0) uniform Material {
    vec4 base_color_factor;
    vec4 emissive_factor; // w: the least alpha that a mask keeps
    vec4 factors;         // metallic, roughness, scale of the normal map, strength of the occlusion
    Slot slots[5];        // as textures in lit.frag
};

layout(push_constant) uniform Draw {
    mat4 world;
};
