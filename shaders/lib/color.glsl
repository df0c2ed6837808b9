// sRGB's transfer function (IEC 61966-2-1), and what keeps smooth gradients free of bands.

vec3 linear_from_srgb(vec3 c) {
    return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), greaterThan(c, vec3(0.04045)));
}

// Ordered dithering by an 8 x 8 Bayer matrix, about one step of an 8-bit sRGB target from darkest to brightest.
// `c` is linear and not negative, `pixel` is gl_FragCoord.xy.
vec3 dithered(vec3 c, vec2 pixel) {
    uvec2 p = uvec2(pixel) & 7u;
    uint x = p.x ^ p.y;
    uint rank = (x & 1u) << 5 | (p.y & 1u) << 4 | (x & 2u) << 2 | (p.y & 2u) << 1 | (x & 4u) >> 1 | (p.y & 4u) >> 2;
    float offset = (float(rank) + 0.5) / 64.0 - 0.5;
    // The slope of the transfer function, that of gamma 2 but for its linear foot: encoding and decoding would cost more
    // than all else that a backdrop needs.
    return max(c + offset / 255.0 * max(2.0 * sqrt(c), vec3(1.0 / 12.92)), 0.0);
}
