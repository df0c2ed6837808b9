// Counts the pixels of the scene by the logarithm of their luminance. Who includes this declares the image: SCENE_SIZE, and
// SCENE(pixel), the light there.

// Bins from 2^-10 to 2^6, eight to a stop. What is darker or brighter counts in the first or the last.
const uint BINS = 128;
const float FIRST_STOP = -10.0;
const float BINS_A_STOP = 8.0;

// An invocation a bin. Each looks at this many pixels across and down.
layout(local_size_x = 16, local_size_y = 8) in;
const ivec2 PIXELS = ivec2(4, 8);

layout(std430, set = 0, binding = 1) buffer Histogram {
    uint bins[BINS];
};

// Most pixels of a neighbourhood are alike. Counted in the memory of the workgroup they do not wait for all others.
shared uint counts[BINS];

uint bin(vec3 light) {
    float luminance = dot(light, vec3(0.2126, 0.7152, 0.0722));
    return uint(clamp((log2(max(luminance, 1e-10)) - FIRST_STOP) * BINS_A_STOP, 0.0, float(BINS - 1)));
}

void main() {
    counts[gl_LocalInvocationIndex] = 0;
    barrier();
    ivec2 size = SCENE_SIZE;
    ivec2 stride = ivec2(gl_WorkGroupSize.xy);
    ivec2 first = ivec2(gl_WorkGroupID.xy) * stride * PIXELS + ivec2(gl_LocalInvocationID.xy);
    for (int y = 0; y < PIXELS.y; y++) {
        for (int x = 0; x < PIXELS.x; x++) {
            ivec2 pixel = first + ivec2(x, y) * stride;
            if (all(lessThan(pixel, size))) {
                atomicAdd(counts[bin(SCENE(pixel))], 1);
            }
        }
    }
    barrier();
    uint count = counts[gl_LocalInvocationIndex];
    if (count > 0) {
        atomicAdd(bins[gl_LocalInvocationIndex], count);
    }
}
