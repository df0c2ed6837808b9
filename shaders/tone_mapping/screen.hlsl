// From the light of the scene to the screen. Who includes this declares the image of the scene: SCENE_SAMPLES, and
// SCENE(i), the light of sample i of the pixel.

#include <tone_mapping.hlsl>

// Known when the pipeline is made: the other operators are not there.
[[vk::constant_id(0)]] const uint OPERATOR = TONE_NONE;

struct Screen {
    float exposure; // a factor
};
[[vk::push_constant]] ConstantBuffer<Screen> screen;

float4 main(float4 position : SV_Position) : SV_Target0 {
    // Each sample is mapped before they are averaged. The other way around one bright sample outweighs the others of its
    // pixel by a factor of hundreds, and the edges of what is bright have steps as if there were one sample.
    float3 sum = float3(0.0, 0.0, 0.0);
    for (int i = 0; i < SCENE_SAMPLES; i++) {
        sum += saturate(tone_mapped(OPERATOR, screen.exposure * SCENE(i)));
    }
    // The target encodes sRGB.
    return float4(sum / SCENE_SAMPLES, 1.0);
}
