#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include <tone_mapping.glsl>

layout(constant_id = 3) const uint OPERATOR = 0;

layout(set = 0, binding = 3) uniform samplerCube environment;

layout(location = 0) in vec4 far_point;

layout(location = 0) out vec4 color;

void main() {
    vec3 direction = far_point.xyz / far_point.w - eye.xyz;
    color = vec4(tone_mapped(OPERATOR, exposure.x * textureLod(environment, direction, 0.0).rgb), 1.0);
}
