// Set 0, once a frame in flight, and the push constants of a draw: what the shaders of this sample share.

layout(set = 0, binding = 0) uniform Frame {
    mat4 view_projection;
    vec4 light_direction; // towards the light, world space, unit length
    uint joint_count;
};

// Constants of a pipeline: what another view, or a material without holes, does not need is not in its code. A fragment
// shader that may discard also loses the early depth test.
layout(constant_id = 1) const uint VIEW = 0;
layout(constant_id = 2) const bool MASKED = true;

const uint VIEW_SHADED = 0;
const uint VIEW_NORMALS = 1;
const uint VIEW_WEIGHTS = 2;
const uint VIEW_JOINTS = 3;

layout(push_constant) uniform Draw {
    mat4 world;             // of what is not skinned
    vec4 base_color_factor; // linear
    float alpha_cutoff;     // 0: nothing is cut
    uint first_joint;       // where the skin's matrices begin
};
