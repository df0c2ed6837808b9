// Tone mapping: from the light of a scene, of any brightness, to what a display shows. All functions take linear
// Rec. 709 colours that are not negative and return linear ones, for a target that encodes sRGB. Where it says so a
// result may be above 1, which such a target clamps.
//
// tone_mapping.hlsl has the same functions.

const uint TONE_NONE = 0;
const uint TONE_REINHARD = 1;
const uint TONE_REINHARD_EXTENDED = 2;
const uint TONE_HABLE = 3;
const uint TONE_ACES_NARKOWICZ = 4;
const uint TONE_ACES_HILL = 5;
const uint TONE_ACES_HILL_BOOST = 6;
const uint TONE_KHRONOS_NEUTRAL = 7;
const uint TONE_AGX = 8;

// Reinhard et al. 2002, "Photographic Tone Reproduction for Digital Images", equation 3, a channel at a time. Below 1.
vec3 reinhard(vec3 color) {
    return color / (1.0 + color);
}

// Equation 4 of the same: REINHARD_WHITE becomes 1, what is brighter is above 1.
const float REINHARD_WHITE = 4.0;

vec3 reinhard_extended(vec3 color) {
    return color * (1.0 + color / (REINHARD_WHITE * REINHARD_WHITE)) / (1.0 + color);
}

// Hable 2010, "Filmic Tonemapping Operators": the curve of Uncharted 2, with its exposure of 2 and the white of 11.2.
// So 5.6 becomes 1, what is brighter is above 1.
vec3 hable_curve(vec3 x) {
    const float shoulder = 0.15, linear_strength = 0.50, linear_angle = 0.10;
    const float toe = 0.20, toe_numerator = 0.02, toe_denominator = 0.30;
    return (x * (shoulder * x + linear_angle * linear_strength) + toe * toe_numerator)
        / (x * (shoulder * x + linear_strength) + toe * toe_denominator) - toe_numerator / toe_denominator;
}

vec3 hable(vec3 color) {
    return hable_curve(2.0 * color) / hable_curve(vec3(11.2));
}

// Narkowicz 2016, "ACES Filmic Tone Mapping Curve", a channel at a time. 0..1.
vec3 aces_narkowicz(vec3 color) {
    return clamp(color * (2.51 * color + 0.03) / (color * (2.43 * color + 0.59) + 0.14), 0.0, 1.0);
}

// Hill's fit to ACES' reference rendering transform and its output transform for sRGB displays (Pettineo and Hill,
// BakingLab, ACES.hlsl). Slightly negative at 0.
vec3 aces_hill_curve(vec3 x) {
    return (x * (x + 0.0245786) - 0.000090537) / (x * (0.983729 * x + 0.4329510) + 0.238081);
}

// Hill's curve between his two matrices: from Rec. 709 to the primaries that the curve is for, and back. 0..1.
vec3 aces_hill(vec3 color) {
    const mat3 to_aces = mat3(
        0.59719, 0.07600, 0.02840,
        0.35458, 0.90834, 0.13383,
        0.04823, 0.01566, 0.83777);
    const mat3 from_aces = mat3(
        1.60475, -0.10208, -0.00327,
        -0.53108, 1.10813, -0.07276,
        -0.07367, -0.00605, 1.07602);
    return clamp(from_aces * aces_hill_curve(to_aces * color), 0.0, 1.0);
}

// Hill's curve darkens: brightened before it by as much as other renderers do (three.js, ACESFilmicToneMapping). 0..1.
vec3 aces_hill_boost(vec3 color) {
    return aces_hill(color / 0.6);
}

// Khronos PBR Neutral Tone Mapper (specification of 2024): base colours under white light stay what they are, only
// highlights are compressed. 0..1.
vec3 khronos_neutral(vec3 color) {
    const float f90 = 0.04;
    const float start_compression = 0.8 - f90;
    const float desaturation = 0.15;

    float lowest = min(color.r, min(color.g, color.b));
    color -= lowest < 2.0 * f90 ? lowest - lowest * lowest / (4.0 * f90) : f90;
    float peak = max(color.r, max(color.g, color.b));
    if (peak < start_compression) {
        return color;
    }
    float room = 1.0 - start_compression;
    float new_peak = 1.0 - room * room / (peak + room - start_compression);
    float grey = 1.0 - 1.0 / (desaturation * (peak - new_peak) + 1.0);
    // Towards the new peak, not towards 1.
    return mix(color * new_peak / peak, vec3(new_peak), grey);
}

// AgX (Sobotka 2022) as Blender 4 has it, in Rec. 2020, without a look. The constants are those of Filament
// (ToneMapper.cpp), the curve is the polynomial of Wrensch 2023, "Minimal AgX Implementation". 0..1.
vec3 agx(vec3 color) {
    // The primaries of Rec. 709 in those of Rec. 2020 (ITU-R BT.2087), and back.
    const mat3 to_rec_2020 = mat3(
        0.6274039, 0.0690973, 0.0163914,
        0.3292830, 0.9195404, 0.0880133,
        0.0433131, 0.0113623, 0.8955953);
    const mat3 from_rec_2020 = mat3(
        1.6604910, -0.1245505, -0.0181508,
        -0.5876411, 1.1328999, -0.1005789,
        -0.0728499, -0.0083494, 1.1187297);
    const mat3 inset = mat3(
        0.856627153315983, 0.137318972929847, 0.11189821299995,
        0.0951212405381588, 0.761241990602591, 0.0767994186031903,
        0.0482516061458583, 0.101439036467562, 0.811302368396859);
    const mat3 outset = mat3(
        1.1271005818144368, -0.1413297634984383, -0.14132976349843826,
        -0.11060664309660323, 1.157823702216272, -0.11060664309660294,
        -0.016493938717834573, -0.016493938717834257, 1.2519364065950405);
    // From 10 stops below middle grey, 0.18, to 6.5 above.
    const float min_log2 = -12.47393;
    const float max_log2 = 4.026069;

    vec3 x = log2(max(inset * (to_rec_2020 * color), 1e-10));
    x = clamp((x - min_log2) / (max_log2 - min_log2), 0.0, 1.0);
    vec3 x2 = x * x;
    vec3 x4 = x2 * x2;
    x = 15.5 * x4 * x2 - 40.14 * x4 * x + 31.96 * x4 - 6.868 * x2 * x + 0.4298 * x2 + 0.1191 * x - 0.00232;
    // The curve ends in what a display of gamma 2.2 is sent.
    return clamp(from_rec_2020 * pow(max(outset * x, 0.0), vec3(2.2)), 0.0, 1.0);
}

// The operator of a number, one of TONE_. Negative channels count as 0, infinite ones as the largest half float.
//
// Give the number as a specialization constant: the choice is then made with the pipeline. On a branch on a uniform or
// a push constant Mesa's lavapipe compiles the shader anew, and keeps the memory, frame after frame.
vec3 tone_mapped(uint tone_operator, vec3 color) {
    color = clamp(color, 0.0, 65504.0);
    switch (tone_operator) {
        case TONE_REINHARD: return reinhard(color);
        case TONE_REINHARD_EXTENDED: return reinhard_extended(color);
        case TONE_HABLE: return hable(color);
        case TONE_ACES_NARKOWICZ: return aces_narkowicz(color);
        case TONE_ACES_HILL: return aces_hill(color);
        case TONE_ACES_HILL_BOOST: return aces_hill_boost(color);
        case TONE_KHRONOS_NEUTRAL: return khronos_neutral(color);
        case TONE_AGX: return agx(color);
        default: return color;
    }
}
