#version 460

// One triangle that covers the screen. It has no vertices in memory: its corners follow from their numbers.
void main() {
    vec2 corner = vec2(gl_VertexIndex << 1 & 2, gl_VertexIndex & 2);
    gl_Position = vec4(2.0 * corner - 1.0, 0.0, 1.0);
}
