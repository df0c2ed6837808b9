#version 460
#extension GL_GOOGLE_include_directive : require

// What the subpass before has drawn at this pixel, one sample.
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput scene;

#define SCENE_SAMPLES 1
#define SCENE(i) subpassLoad(scene).rgb
#include "screen.glsl"
