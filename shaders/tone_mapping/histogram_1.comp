#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require

layout(set = 0, binding = 0) uniform texture2D scene;

#define SCENE_SIZE textureSize(scene, 0)
#define SCENE(pixel) texelFetch(scene, pixel, 0).rgb
#include "histogram.glsl"
