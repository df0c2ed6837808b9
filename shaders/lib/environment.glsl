// How a surface reflects the light from all around, as the framework's `environment` prepares it; after brdf.glsl. The
// including shader declares:
//
//     vec4 irradiance[9]        the coefficients of the diffuse light
//     samplerCube environment   whose rougher levels are blurred more
//     sampler2D split_sum       by n.v and roughness
//     float roughest_level()    the level that shows reflections of a roughness of 1

// What a white diffuse surface reflects of the environment (Ramamoorthi and Hanrahan 2001).
vec3 diffuse_light(vec3 n) {
    vec3 sum = irradiance[0].rgb + irradiance[1].rgb * n.y + irradiance[2].rgb * n.z + irradiance[3].rgb * n.x
        + irradiance[4].rgb * n.x * n.y + irradiance[5].rgb * n.y * n.z + irradiance[6].rgb * (3.0 * n.z * n.z - 1.0)
        + irradiance[7].rgb * n.x * n.z + irradiance[8].rgb * (n.x * n.x - n.y * n.y);
    return max(sum, 0.0);
}

// What is reflected of light that comes from all around alike, after more than one reflection between the facets. `once` is
// the part reflected at the first one, of which `lost` meets another facet (Fdez-Aguera, A Multiple-Scattering Microfacet
// Model for Real-Time Image-Based Lighting, 2019).
vec3 reflected_again(vec3 f0, vec3 once, float lost) {
    vec3 average = f0 + (1.0 - f0) / 21.0;
    return lost * once * average / (1.0 - average * lost);
}

// What a surface reflects of the environment: the split sum of Karis (2013), for the dielectric and the metal that it is a
// mix of.
Reflected environment_light(Surface s, vec3 to_eye) {
    float n_dot_v = clamp(dot(s.normal, to_eye), 0.0, 1.0);
    vec2 ab = texture(split_sum, vec2(n_dot_v, s.roughness)).xy;
    float lost = 1.0 - (ab.x + ab.y);
    vec3 dielectric = vec3(DIELECTRIC_F0 * ab.x + ab.y);
    vec3 dielectric_again = reflected_again(vec3(DIELECTRIC_F0), dielectric, lost);
    vec3 metal = s.base_color * ab.x + ab.y;
    vec3 metal_again = reflected_again(s.base_color, metal, lost);

    vec3 once = mix(dielectric, metal, s.metallic);
    vec3 again = mix(dielectric_again, metal_again, s.metallic);
    vec3 diffuse = (1.0 - s.metallic) * s.base_color * (1.0 - dielectric - dielectric_again);
    vec3 reflection = textureLod(environment, reflect(-to_eye, s.normal), s.roughness * roughest_level()).rgb;
    vec3 around = diffuse_light(s.normal);
    return Reflected(diffuse * around, once * reflection + again * around);
}
