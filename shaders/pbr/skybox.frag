#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include <tone_mapping.glsl>

layout(constant_id = 0) const uint OPERATOR = 0;

layout(set = 0, binding = 2) uniform samplerCube environment;

layout(location = 0) in vec3 direction;

layout(location = 0) out vec4 color;

void main() {
    color = vec4(tone_mapped(OPERATOR, exposure.x * textureLod(environment, direction, 0.0).rgb), 1.0);
}
