#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require

layout(set = 0, binding = 0) uniform texture2DMS scene;

// The first sample of a pixel is enough to count by.
#define SCENE_SIZE textureSize(scene)
#define SCENE(pixel) texelFetch(scene, pixel, 0).rgb
#include "histogram.glsl"
