#version 460

layout(set = 0, binding = 0) uniform Frame {
    mat4 view_projection;
    vec4 light_direction; // towards the light, world space, unit length
};

layout(set = 0, binding = 1) uniform sampler2D color_texture;

layout(location = 0) in vec3 in_normal;
layout(location = 1) in vec2 tex_coord;

layout(location = 0) out vec4 color;

void main() {
    vec3 normal = normalize(in_normal);
    float sun = max(dot(normal, light_direction.xyz), 0.0);
    // What comes from the sky and, less, from the ground.
    vec3 around = mix(vec3(0.16, 0.13, 0.12), vec3(0.26, 0.30, 0.38), normal.y * 0.5 + 0.5);
    color = vec4(texture(color_texture, tex_coord).rgb * (sun * vec3(1.0, 0.93, 0.82) + around), 1.0);
}
