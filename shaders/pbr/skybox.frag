#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include <color.glsl>
#include <tone_mapping.glsl>

layout(constant_id = 0) const uint OPERATOR = 0;

layout(set = 0, binding = 2) uniform samplerCube environment;

layout(location = 0) in vec3 direction;

layout(location = 0) out vec4 color;

void main() {
    // A little out of focus, as behind a lens: by itself the first level would show its texels.
    vec3 radiance = textureLod(environment, direction, 0.1 * exposure.y).rgb;
    color = vec4(dithered(tone_mapped(OPERATOR, exposure.x * radiance), gl_FragCoord.xy), 1.0);
}
