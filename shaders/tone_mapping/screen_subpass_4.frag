#version 460
#extension GL_GOOGLE_include_directive : require

// What the subpass before has drawn at this pixel, four samples.
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInputMS scene;

#define SCENE_SAMPLES 4
#define SCENE(i) subpassLoad(scene, i).rgb
#include "screen.glsl"
