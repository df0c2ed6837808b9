#version 460
#extension GL_GOOGLE_include_directive : require
#include <color.glsl>

layout(push_constant) uniform Push {
    mat4 clip_to_world;
    vec4 zenith;
    vec4 horizon;
    vec4 ground;
};

layout(location = 0) in vec3 direction;
layout(location = 0) out vec4 color;

void main() {
    float height = normalize(direction).y;
    vec3 above = mix(horizon.rgb, zenith.rgb, smoothstep(0.0, 0.55, height));
    vec3 c = mix(above, ground.rgb, smoothstep(0.0, 0.35, -height));
    color = vec4(dithered(c, gl_FragCoord.xy), 1.0);
}
