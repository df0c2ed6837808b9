// What the subpass before has drawn at this pixel, one sample.
[[vk::input_attachment_index(0)]] SubpassInput<float4> scene : register(t0, space0);

#define SCENE_SAMPLES 1
#define SCENE(i) scene.SubpassLoad().rgb
#include "screen.hlsl"
