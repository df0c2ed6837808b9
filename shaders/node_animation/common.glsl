// What the shaders of this sample share.

// Set 0, once a frame in flight.
layout(set = 0, binding = 0) uniform Frame {
    mat4 view_projection;
    vec4 eye;             // world space, metres
    vec4 light_direction; // towards the light, world space, unit length
    vec4 light;           // what a surface that faces the light reflects of it, linear
    vec4 sky;             // the light from above
    vec4 ground;          // and from below
};

// All factors are linear.
struct Material {
    vec4 base_color_factor;
    vec4 emissive_factor;   // w: the least alpha that a mask keeps
    vec4 base_color_matrix; // from texture coordinates to where the texture is looked up: two columns,
    vec4 emissive_matrix;
    vec4 translations;      // and a translation each, base colour's in xy, emissive's in zw
    vec4 choices;           // x, y: texture coordinates 0 or 1, for base colour and emissive; z: 1 if unlit
};

layout(std430, set = 0, binding = 1) readonly buffer Materials {
    Material materials[];
};

// The way of this part to the world, all that there is to node animation on the GPU.
layout(push_constant) uniform Draw {
    mat4 world;
    uint material;
    float highlight; // 1 for what is pointed at
};
