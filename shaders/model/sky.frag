#version 460
#extension GL_GOOGLE_include_directive : require
#include "lit.glsl"

layout(set = 0, binding = 1) uniform samplerCube environment;

layout(location = 0) in vec4 far_point;

layout(location = 0) out vec4 color;

void main() {
    vec3 direction = far_point.xyz / far_point.w - eye.xyz;
    color = vec4(textureLod(environment, direction, 0.0).rgb, 1.0);
}
