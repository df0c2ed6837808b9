#version 460
#extension GL_GOOGLE_include_directive : require
#include <color.glsl>

layout(push_constant) uniform Push {
    mat4 world_to_clip;
    vec4 center_radius;
    // The colour, and how opaque it is. The shadow lies on whatever is seen.
    vec4 ground;
    // Half axes along x and z in metres, darkness from 0 to 1.
    vec4 shadow;
};

layout(location = 0) in vec2 offset;
layout(location = 0) out vec4 color;

void main() {
    float from_center = length(offset) / center_radius.w;
    // A pool of light around the centre, a soft shadow in it, and an edge that is lost in the backdrop.
    float light = mix(1.35, 0.85, smoothstep(0.0, 0.4, from_center));
    float shade = 1.0 - shadow.z * (1.0 - smoothstep(0.15, 1.0, length(offset / shadow.xy)));
    float opacity = ground.w * (1.0 - smoothstep(0.1, 0.9, from_center));
    float alpha = 1.0 - (1.0 - opacity) * shade;
    color = vec4(dithered(ground.rgb * light * shade * opacity / max(alpha, 1e-4), gl_FragCoord.xy), alpha);
}
