#version 460

layout(push_constant) uniform Push {
    mat4 world_to_clip;
};

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 color;

layout(location = 0) out vec3 out_color;

void main() {
    out_color = color;
    gl_Position = world_to_clip * vec4(position, 1.0);
}
