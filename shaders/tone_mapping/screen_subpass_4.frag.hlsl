// What the subpass before has drawn at this pixel, four samples.
[[vk::input_attachment_index(0)]] SubpassInputMS<float4> scene : register(t0, space0);

#define SCENE_SAMPLES 4
#define SCENE(i) scene.SubpassLoad(i).rgb
#include "screen.hlsl"
