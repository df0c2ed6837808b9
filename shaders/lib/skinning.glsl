// Linear blend skinning. The including shader declares `mat4 joint_matrix(uint joint)`.

// The part that four influences have in the blended matrix. All weights of a vertex sum to 1.
mat4 blended_matrix(uvec4 joints, vec4 weights) {
    return weights.x * joint_matrix(joints.x) + weights.y * joint_matrix(joints.y)
        + weights.z * joint_matrix(joints.z) + weights.w * joint_matrix(joints.w);
}
