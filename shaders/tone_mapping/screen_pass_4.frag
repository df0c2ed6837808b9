#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require

// An image that an earlier render pass has drawn, four samples a pixel.
layout(set = 0, binding = 0) uniform texture2DMS scene;

#define SCENE_SAMPLES 4
#define SCENE(i) texelFetch(scene, ivec2(gl_FragCoord.xy), i).rgb
#include "screen.glsl"
