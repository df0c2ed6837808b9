// What the shaders of this sample share.

struct Light {
    vec4 color;     // linear, times lux or candela; w: 1 if it has a place, 0 if it shines from far away
    vec4 position;  // world space, metres; w: where it ends, metres, or 0
    vec4 direction; // the way that the light travels, world space, unit length
    vec4 cone;      // x, y: scale and offset of the cosine to the axis of a spot light; 0 and 1 of others
};

// Set 0, once a frame in flight.
layout(set = 0, binding = 0) uniform Frame {
    mat4 view_projection;
    mat4 clip_to_world;
    vec4 eye;           // world space, metres
    vec4 exposure;      // x: a factor; y: the roughest level of the environment
    vec4 irradiance[9]; // of the environment, by the normal: coefficients of the polynomials below
};

layout(std430, set = 0, binding = 1) readonly buffer Lights {
    Light lights[];
};

// A texture's way from texture coordinates to where it is looked up: a matrix of two columns, a
// translation, and in the last component which texture coordinates, 0 or 1.
struct Slot {
    vec4 matrix;
    vec4 translation_and_set;
};

// Set 1, once a material. All factors are linear.
layout(set = 1, binding = 0) uniform Material {
    vec4 base_color_factor;
    vec4 emissive_factor; // w: the least alpha that a mask keeps
    vec4 factors;         // metallic, roughness, scale of the normal map, strength of the occlusion
    Slot slots[5];
};

const uint BASE_COLOR = 0;
const uint METALLIC_ROUGHNESS = 1;
const uint NORMAL = 2;
const uint OCCLUSION = 3;
const uint EMISSIVE = 4;

layout(push_constant) uniform Draw {
    mat4 world;
};
