// Transforms a normal by the inverse transpose of a matrix. That is the matrix of cofactors over the determinant, and
// of the determinant only the sign matters to a direction; so singular matrices do no harm.
vec3 transformed_normal(mat3 m, vec3 normal) {
    mat3 cofactors = mat3(cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1]));
    float determinant = dot(m[0], cofactors[0]);
    return (determinant < 0.0 ? -1.0 : 1.0) * (cofactors * normal);
}
