#version 460

layout(push_constant) uniform Push {
    mat4 clip_to_world;
    vec4 zenith;
    vec4 horizon;
};

layout(location = 0) out vec3 direction;

// One triangle that covers the picture, at the far plane.
void main() {
    vec2 corner = vec2(gl_VertexIndex << 1 & 2, gl_VertexIndex & 2) * 2.0 - 1.0;
    gl_Position = vec4(corner, 1.0, 1.0);
    vec4 near = clip_to_world * vec4(corner, 0.0, 1.0);
    vec4 far = clip_to_world * vec4(corner, 1.0, 1.0);
    direction = far.xyz / far.w - near.xyz / near.w;
}
