// How a surface reflects light: the metallic-roughness material of glTF 2.0, after the sample implementation in
// Appendix B of its specification. Directions point away from the surface, are of unit length and all in one space;
// colours are linear.

const float PI = 3.14159265358979;

// What a dielectric with an index of refraction of 1.5 reflects at normal incidence.
const float DIELECTRIC_F0 = 0.04;

// Of a light without size a smoother surface would make a highlight that misses all pixels. The number is that of
// "Physically Based Rendering in Filament", Roughness remapping and clamping.
const float MIN_ROUGHNESS = 0.045;

struct Surface {
    vec3 base_color;
    float metallic;
    float roughness; // perceptual, 0..1
    vec3 normal;
};

// Light on its way to the eye, by the way it took.
struct Reflected {
    vec3 diffuse;
    vec3 specular;
};

// The width of the distribution of microfacets: `roughness` is perceptual (Appendix B.2.3).
float alpha_of(float roughness) {
    float clamped = max(roughness, MIN_ROUGHNESS);
    return clamped * clamped;
}

// The area of microfacets that face along `half_vector`: GGX (Walter et al. 2007, equation 33).
float ggx_distribution(vec3 normal, vec3 half_vector, float alpha) {
    // The square of the sine. As 1 - cosine² little of it would be left in a narrow highlight.
    vec3 sine = cross(normal, half_vector);
    float cosine_alpha = dot(normal, half_vector) * alpha;
    float k = alpha / (dot(sine, sine) + cosine_alpha * cosine_alpha);
    return k * k / PI;
}

// The part of the microfacets that both eye and light see, over 4 (n·l) (n·v): Smith's function with the heights of
// masking and shadowing correlated (Heitz 2014, equation 99).
float smith_visibility(float n_dot_l, float n_dot_v, float alpha) {
    float alpha_2 = alpha * alpha;
    float masking = n_dot_l * sqrt(n_dot_v * n_dot_v * (1.0 - alpha_2) + alpha_2);
    float shadowing = n_dot_v * sqrt(n_dot_l * n_dot_l * (1.0 - alpha_2) + alpha_2);
    return 0.5 / max(masking + shadowing, 1e-7);
}

// How far the reflectance is from that at normal incidence to the 1 of grazing incidence (Schlick 1994).
float schlick_weight(float v_dot_h) {
    float x = 1.0 - abs(v_dot_h);
    return (x * x) * (x * x) * x;
}

// What reaches the eye of a light that would give an irradiance of 1 to a surface that faces it: the BRDF times n·l.
Reflected reflected(Surface surface, vec3 to_eye, vec3 to_light) {
    float n_dot_l = dot(surface.normal, to_light);
    if (n_dot_l <= 0.0) {
        return Reflected(vec3(0.0), vec3(0.0));
    }
    // Normals that are interpolated or read from a map may face away from the eye.
    float n_dot_v = abs(dot(surface.normal, to_eye));
    vec3 sum = to_eye + to_light;
    vec3 half_vector = dot(sum, sum) > 1e-12 ? normalize(sum) : surface.normal;

    float alpha = alpha_of(surface.roughness);
    float microfacets =
        ggx_distribution(surface.normal, half_vector, alpha) * smith_visibility(n_dot_l, n_dot_v, alpha);
    float weight = schlick_weight(dot(to_eye, half_vector));
    float dielectric_fresnel = mix(DIELECTRIC_F0, 1.0, weight);
    vec3 metal_fresnel = mix(surface.base_color, vec3(1.0), weight);

    // A mix of two materials, each with a Fresnel term of its own (Appendix B.3.5). One term of mixed reflectance, as
    // many renderers have it, takes too much from the diffuse part between metal and dielectric.
    vec3 diffuse = (1.0 - surface.metallic) * (1.0 - dielectric_fresnel) * surface.base_color / PI;
    vec3 specular = microfacets * mix(vec3(dielectric_fresnel), metal_fresnel, surface.metallic);
    return Reflected(diffuse * n_dot_l, specular * n_dot_l);
}

// Point `i` of `count` that fill the unit square evenly: Hammersley's set (Dammertz 2012, "Hammersley Points on the
// Hemisphere").
vec2 hammersley(uint i, uint count) {
    return vec2(float(i) / float(count), float(bitfieldReverse(i)) / 4294967296.0);
}

// A microfacet's normal among those that the eye sees, with the surface's normal along z (Dupuy and Benyoub 2023,
// "Sampling Visible GGX Normals with Spherical Caps"). `xi` is a point of the unit square. To an eye along z they are
// distributed as ggx_distribution times n·h.
vec3 visible_half_vector(vec2 xi, vec3 to_eye, float alpha) {
    vec3 stretched = normalize(vec3(to_eye.xy * alpha, to_eye.z));
    float phi = 2.0 * PI * xi.x;
    float z = (1.0 - xi.y) * (1.0 + stretched.z) - stretched.z;
    float sine = sqrt(clamp(1.0 - z * z, 0.0, 1.0));
    vec3 cap = vec3(sine * cos(phi), sine * sin(phi), z) + stretched;
    return normalize(vec3(cap.xy * alpha, max(cap.z, 1e-6)));
}

// What a surface reflects of an environment that is equally bright all around: f0 * x + y, with f0 the reflectance at
// normal incidence. The half of the split sum that needs no environment (Karis 2013, "Real Shading in Unreal Engine
// 4"), but with the visibility of the other functions here: Karis' own differs by up to 0.16.
vec2 environment_brdf(float n_dot_v, float roughness, uint sample_count) {
    float alpha = alpha_of(roughness);
    float alpha_2 = alpha * alpha;
    vec3 to_eye = vec3(sqrt(max(1.0 - n_dot_v * n_dot_v, 0.0)), 0.0, n_dot_v);
    // 2 n·v over the part of the microfacets that the eye sees.
    float masking = n_dot_v + sqrt(n_dot_v * n_dot_v * (1.0 - alpha_2) + alpha_2);
    vec2 sum = vec2(0.0);
    for (uint i = 0; i < sample_count; i++) {
        vec3 half_vector = visible_half_vector(hammersley(i, sample_count), to_eye, alpha);
        vec3 to_light = reflect(-to_eye, half_vector);
        if (to_light.z > 0.0) {
            float lit = 2.0 * to_light.z * smith_visibility(to_light.z, n_dot_v, alpha) * masking;
            float weight = schlick_weight(dot(to_eye, half_vector));
            sum += lit * vec2(1.0 - weight, weight);
        }
    }
    return sum / float(sample_count);
}
