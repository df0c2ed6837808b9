#version 460

layout(push_constant) uniform Push {
    mat4 world_to_clip;
    vec4 center_radius;
    vec4 ground;
    vec4 shadow;
};

// Metres from the centre.
layout(location = 0) out vec2 offset;

// A square on the floor, counter-clockwise seen from above.
void main() {
    const vec2 CORNERS[6] = vec2[](vec2(-1, -1), vec2(-1, 1), vec2(1, 1), vec2(-1, -1), vec2(1, 1), vec2(1, -1));
    offset = center_radius.w * CORNERS[gl_VertexIndex];
    gl_Position = world_to_clip * vec4(center_radius.xyz + vec3(offset.x, 0.0, offset.y), 1.0);
}
