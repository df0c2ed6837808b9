// An image that an earlier render pass has drawn, four samples a pixel. The register is the binding, the space the set.
Texture2DMS<float4> scene : register(t0, space0);

#define SCENE_SAMPLES 4
#define SCENE(i) scene.Load(int2(position.xy), i).rgb
#include "screen.hlsl"
