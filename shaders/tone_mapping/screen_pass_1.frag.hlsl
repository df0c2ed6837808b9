// An image that an earlier render pass has drawn, one sample a pixel. The register is the binding, the space the set.
Texture2D<float4> scene : register(t0, space0);

#define SCENE_SAMPLES 1
#define SCENE(i) scene.Load(int3(position.xy, 0)).rgb
#include "screen.hlsl"
