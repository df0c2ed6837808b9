#version 460
#extension GL_GOOGLE_include_directive : require
#include <color.glsl>

layout(push_constant) uniform Push {
    mat4 clip_to_world;
    vec4 zenith;
    vec4 horizon;
};

layout(location = 0) in vec3 direction;
layout(location = 0) out vec4 color;

void main() {
    float height = normalize(direction).y;
    // The ground fades out into this before it reaches the horizon, so nothing below it shows.
    vec3 c = mix(horizon.rgb, zenith.rgb, smoothstep(-0.05, 0.4, height));
    color = vec4(dithered(c, gl_FragCoord.xy), 1.0);
}
