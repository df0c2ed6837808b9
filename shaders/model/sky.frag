#version 460
#extension GL_GOOGLE_include_directive : require
#include "lit.glsl"

layout(set = 0, binding = 1) uniform samplerCube environment;

layout(location = 0) in vec3 direction;

layout(location = 0) out vec4 color;

void main() {
    // A little out of focus, as behind a lens: the first level would show its texels.
    color = vec4(textureLod(environment, direction, 0.25).rgb, 1.0);
}
