#version 460

layout(set = 0, binding = 0) uniform Frame {
    mat4 view_projection;
    vec4 light_direction; // towards the light, world space, unit length
};

layout(push_constant) uniform Draw {
    mat4 world;
};

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 tex_coord;

layout(location = 0) out vec3 out_normal;
layout(location = 1) out vec2 out_tex_coord;

void main() {
    gl_Position = view_projection * (world * vec4(position, 1.0));
    // The world matrix only turns and moves, so it also turns normals as they should be.
    out_normal = mat3(world) * normal;
    out_tex_coord = tex_coord;
}
