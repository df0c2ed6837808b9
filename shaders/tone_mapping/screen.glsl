// From the light of the scene to the screen. Who includes this declares the image of the scene: SCENE_SAMPLES, and
// SCENE(i), the light of sample i of the pixel.

#include <tone_mapping.glsl>

// Known when the pipeline is made: the other operators are not there.
layout(constant_id = 0) const uint OPERATOR = TONE_NONE;

layout(push_constant) uniform Screen {
    float exposure; // a factor
};

layout(location = 0) out vec4 color;

void main() {
    // Each sample is mapped before they are averaged. The other way around one bright sample outweighs the others of its
    // pixel by a factor of hundreds, and the edges of what is bright have steps as if there were one sample.
    vec3 sum = vec3(0.0);
    for (int i = 0; i < SCENE_SAMPLES; i++) {
        sum += clamp(tone_mapped(OPERATOR, exposure * SCENE(i)), 0.0, 1.0);
    }
    // The target encodes sRGB.
    color = vec4(sum / SCENE_SAMPLES, 1.0);
}
