#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(location = 0) out vec3 direction;

void main() {
    // A triangle that covers the picture, at the far plane: what is drawn already stays.
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0;
    gl_Position = vec4(corner, 1.0, 1.0);
    vec4 far_point = clip_to_world * gl_Position;
    direction = far_point.xyz / far_point.w - eye.xyz;
}
