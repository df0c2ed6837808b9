//! The tone-mapping operators of `shaders/lib`, in GLSL and in HLSL: against the formulas as they were published, in
//! f64, and against the numbers of the corpus.

use ashwright::glam::{DMat3, DVec3, Vec4};
use serde_json::Value;
use tools::{compute, corpus, oracle};

/// Of f32, relative to 1 and to the result. AgX, with a polynomial of large terms that cancel, is off by 2e-5; all others
/// by less than 1e-6.
const TOLERANCE: f64 = 1e-4;

type Operator = fn(DVec3) -> DVec3;

/// By their numbers in the shaders.
const OPERATORS: [(&str, Operator); 9] = [
    ("none", |color| color),
    ("reinhard", |color| color / (1.0 + color)),
    ("reinhard-extended", |color| color * (1.0 + color / 16.0) / (1.0 + color)),
    ("hable", hable),
    ("aces-narkowicz", aces_narkowicz),
    ("aces-hill", aces_hill),
    ("aces-hill-boost", |color| aces_hill(color / 0.6)),
    ("khronos-neutral", khronos_neutral),
    ("agx", agx),
];

/// What the shader below puts behind the operators: Hill's curve alone.
const HILL_CURVE: usize = OPERATORS.len();

/// What it writes for a color.
const RESULTS: usize = OPERATORS.len() + 1;

const GLSL: &str = "#version 460
#extension GL_GOOGLE_include_directive : require
#include <tone_mapping.glsl>
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Colors { vec4 colors[]; };
layout(binding = 1) writeonly buffer Mapped { vec4 mapped[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    for (uint tone_operator = 0; tone_operator < 9; tone_operator++) {
        mapped[10 * i + tone_operator] = vec4(tone_mapped(tone_operator, colors[i].rgb), 1.0);
    }
    mapped[10 * i + 9] = vec4(aces_hill_curve(colors[i].rgb), 1.0);
}
";

const HLSL: &str = "#include <tone_mapping.hlsl>
[[vk::binding(0, 0)]] StructuredBuffer<float4> colors : register(t0, space0);
[[vk::binding(1, 0)]] RWStructuredBuffer<float4> mapped : register(u1, space0);
[numthreads(64, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) {
    for (uint tone_operator = 0; tone_operator < 9; tone_operator++) {
        mapped[10 * id.x + tone_operator] = float4(tone_mapped(tone_operator, colors[id.x].rgb), 1.0);
    }
    mapped[10 * id.x + 9] = float4(aces_hill_curve(colors[id.x].rgb), 1.0);
}
";

/// As samples have it: the operator is a specialization constant.
const GLSL_SPECIALIZED: &str = "#version 460
#extension GL_GOOGLE_include_directive : require
#include <tone_mapping.glsl>
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint tone_operator = OPERATOR;
layout(binding = 0) readonly buffer Colors { vec4 colors[]; };
layout(binding = 1) writeonly buffer Mapped { vec4 mapped[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    mapped[i] = vec4(tone_mapped(tone_operator, colors[i].rgb), 1.0);
}
";

const HLSL_SPECIALIZED: &str = "#include <tone_mapping.hlsl>
[[vk::constant_id(0)]] const uint tone_operator = OPERATOR;
[[vk::binding(0, 0)]] StructuredBuffer<float4> colors : register(t0, space0);
[[vk::binding(1, 0)]] RWStructuredBuffer<float4> mapped : register(u1, space0);
[numthreads(64, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) {
    mapped[id.x] = float4(tone_mapped(tone_operator, colors[id.x].rgb), 1.0);
}
";

#[derive(Clone, Copy)]
enum Language {
    Glsl,
    Hlsl,
}

/// Runs a shader of one input and one output; so many colors are its results for each color of the input.
fn run(language: Language, source: &str, colors: &[DVec3], results: usize) -> Vec<Vec<DVec3>> {
    let device = compute::device().expect("there is Vulkan");
    let mut input: Vec<Vec4> = colors.iter().map(|color| color.as_vec3().extend(1.0)).collect();
    input.resize(colors.len().next_multiple_of(64), Vec4::ZERO);
    let (groups, size) = (input.len() as u32 / 64, input.len() * results * size_of::<Vec4>());
    let input: &[&[u8]] = &[bytemuck::cast_slice(&input)];
    let output = match language {
        Language::Glsl => compute::run(&device, source, input, size, groups),
        Language::Hlsl => compute::run_hlsl(&device, source, input, size, groups),
    };
    let mapped = bytemuck::pod_collect_to_vec::<u8, Vec4>(&output.expect("the shader runs"));
    let of_color = |color: &[Vec4]| color.iter().map(|c| c.truncate().as_dvec3()).collect();
    mapped.chunks(results).take(colors.len()).map(of_color).collect()
}

/// What all operators, and Hill's curve, make of some colors.
fn mapped(language: Language, colors: &[DVec3]) -> Vec<Vec<DVec3>> {
    let source = match language {
        Language::Glsl => GLSL,
        Language::Hlsl => HLSL,
    };
    run(language, source, colors, RESULTS)
}

/// The largest difference of a channel, relative to 1 and to what is expected.
fn difference(found: DVec3, expected: DVec3) -> f64 {
    ((found - expected).abs() / expected.abs().max(DVec3::ONE)).max_element()
}

/// Black, and greys that rise to 10 000 by a 50th at a time.
fn greys() -> Vec<DVec3> {
    let bright = (-700..=465).map(|step| DVec3::splat(1.02_f64.powi(step)));
    [DVec3::ZERO].into_iter().chain(bright).collect()
}

/// Greys, and colors of all hues and of brightnesses up to 10 000.
fn colors() -> Vec<DVec3> {
    let mut colors = greys();
    for step in 0..60 {
        let bright = 10_f64.powf(f64::from(step) / 8.0 - 3.5);
        for (r, g, b) in [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.5, 0.1), (0.2, 1.0, 0.7)] {
            colors.extend([DVec3::new(r, g, b), DVec3::new(b, r, g).lerp(DVec3::ONE, 0.3)].map(|c| bright * c));
        }
    }
    colors
}

fn hable(color: DVec3) -> DVec3 {
    let [a, b, c, d, e, f] = [0.15, 0.50, 0.10, 0.20, 0.02, 0.30];
    let curve = |x: DVec3| (x * (a * x + c * b) + d * e) / (x * (a * x + b) + d * f) - e / f;
    curve(2.0 * color) / curve(DVec3::splat(11.2))
}

fn aces_narkowicz(x: DVec3) -> DVec3 {
    ((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14)).clamp(DVec3::ZERO, DVec3::ONE)
}

fn aces_hill_curve(v: DVec3) -> DVec3 {
    (v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081)
}

fn aces_hill(color: DVec3) -> DVec3 {
    let from_rows = |rows: [[f64; 3]; 3]| DMat3::from_cols_array_2d(&rows).transpose();
    let to_aces = from_rows([[0.59719, 0.35458, 0.04823], [0.07600, 0.90834, 0.01566], [0.02840, 0.13383, 0.83777]]);
    let from_aces =
        from_rows([[1.60475, -0.53108, -0.07367], [-0.10208, 1.10813, -0.00605], [-0.00327, -0.07276, 1.07602]]);
    (from_aces * aces_hill_curve(to_aces * color)).clamp(DVec3::ZERO, DVec3::ONE)
}

fn khronos_neutral(color: DVec3) -> DVec3 {
    let x = color.min_element();
    let color = color - if x < 0.08 { x - 6.25 * x * x } else { 0.04 };
    let peak = color.max_element();
    if peak < 0.76 {
        return color;
    }
    let compressed = 1.0 - 0.24 * 0.24 / (peak + 0.24 - 0.76);
    let desaturated = 1.0 / (0.15 * (peak - compressed) + 1.0);
    color * (compressed / peak) * desaturated + compressed * (1.0 - desaturated)
}

/// From a color space of these primaries, and the white D65, to CIE XYZ.
fn to_xyz(primaries: [(f64, f64); 3]) -> DMat3 {
    let xyz = |(x, y): (f64, f64)| DVec3::new(x / y, 1.0, (1.0 - x - y) / y);
    let [r, g, b] = primaries.map(xyz);
    let primaries = DMat3::from_cols(r, g, b);
    primaries * DMat3::from_diagonal(primaries.inverse() * xyz((0.3127, 0.3290)))
}

fn agx(color: DVec3) -> DVec3 {
    let rec_709 = to_xyz([(0.64, 0.33), (0.30, 0.60), (0.15, 0.06)]);
    let rec_2020 = to_xyz([(0.708, 0.292), (0.170, 0.797), (0.131, 0.046)]);
    let to_rec_2020 = rec_2020.inverse() * rec_709;
    let inset = DMat3::from_cols_array_2d(&[
        [0.856627153315983, 0.137318972929847, 0.11189821299995],
        [0.0951212405381588, 0.761241990602591, 0.0767994186031903],
        [0.0482516061458583, 0.101439036467562, 0.811302368396859],
    ]);
    let outset = DMat3::from_cols_array_2d(&[
        [1.1271005818144368, -0.1413297634984383, -0.14132976349843826],
        [-0.11060664309660323, 1.157823702216272, -0.11060664309660294],
        [-0.016493938717834573, -0.016493938717834257, 1.2519364065950405],
    ]);
    let curve = |log: f64| {
        let stops = (log - 0.18_f64.log2() + 10.0) / 16.5;
        let coefficients = [15.5, -40.14, 31.96, -6.868, 0.4298, 0.1191, -0.00232];
        coefficients.into_iter().fold(0.0, |sum, coefficient| sum * stops.clamp(0.0, 1.0) + coefficient)
    };
    let encoded = outset * (inset * (to_rec_2020 * color)).max(DVec3::splat(1e-10)).map(|x| curve(x.log2()));
    (to_rec_2020.inverse() * encoded.max(DVec3::ZERO).map(|x| x.powf(2.2))).clamp(DVec3::ZERO, DVec3::ONE)
}

fn as_published(language: Language) {
    let colors = colors();
    let mut largest = [0.0_f64; OPERATORS.len()];
    for (color, found) in colors.iter().zip(mapped(language, &colors)) {
        for (number, (name, operator)) in OPERATORS.iter().enumerate() {
            let (found, expected) = (found[number], operator(color.as_vec3().as_dvec3()));
            let off = difference(found, expected);
            assert!(off < TOLERANCE, "{name} of {color} is {found}, not {expected}: off by {off:e}");
            largest[number] = largest[number].max(off);
        }
    }
    println!("largest differences: {}", largest.map(|off| format!("{off:.1e}")).join(", "));
}

#[test]
fn glsl_as_published() {
    as_published(Language::Glsl);
}

#[test]
fn hlsl_as_published() {
    as_published(Language::Hlsl);
}

/// Closer than a step of an 8-bit sRGB target, which is 3e-4 where it is smallest.
#[test]
fn glsl_and_hlsl_agree() {
    let colors = colors();
    let both = mapped(Language::Glsl, &colors).into_iter().zip(mapped(Language::Hlsl, &colors));
    let mut largest = 0.0_f64;
    for (color, (glsl, hlsl)) in colors.iter().zip(both) {
        for (number, (&glsl, &hlsl)) in glsl.iter().zip(&hlsl).enumerate() {
            let off = difference(glsl, hlsl);
            assert!(off < TOLERANCE, "operator {number} of {color} is {glsl} in GLSL and {hlsl} in HLSL");
            largest = largest.max(off);
        }
    }
    println!("largest difference: {largest:.1e}");
}

#[test]
fn chosen_by_specialization_constant() {
    let colors = colors();
    for (language, source) in [(Language::Glsl, GLSL_SPECIALIZED), (Language::Hlsl, HLSL_SPECIALIZED)] {
        let chosen_by_loop = mapped(language, &colors);
        for (number, (name, _)) in OPERATORS.iter().enumerate() {
            let specialized = run(language, &source.replace("OPERATOR", &number.to_string()), &colors, 1);
            for (specialized, expected) in specialized.iter().zip(&chosen_by_loop) {
                assert!(difference(specialized[0], expected[number]) < TOLERANCE, "{name}");
            }
        }
    }
}

/// No operator makes a brighter grey darker, tints it, or makes anything of nothing.
#[test]
fn greys_rise_from_black() {
    let mut before = vec![DVec3::ZERO; OPERATORS.len()];
    for (index, found) in mapped(Language::Glsl, &greys()).into_iter().enumerate() {
        for (number, (name, _)) in OPERATORS.iter().enumerate() {
            let found = found[number];
            assert!(found.is_finite() && found.min_element() >= -1e-7, "{name}: {found}");
            assert!(index > 0 || found.max_element() < 1e-7, "{name} of black is {found}");
            let fallen = ((before[number] - found) / found.max(DVec3::ONE)).max_element();
            assert!(fallen < 2e-5, "{name}: {found} comes after {}", before[number]);
            // The rows of Hill's matrices do not sum to 1 exactly.
            let tint = (found.max_element() - found.min_element()) / found.max_element().max(1.0);
            assert!(tint < TOLERANCE, "{name}: {found} is not grey");
            before[number] = found;
        }
    }
}

/// What no display shows must not make black holes of pixels.
#[test]
fn any_color_gives_a_finite_one() {
    let infinite = f64::INFINITY;
    let odd = [-1.0, 0.0, 1e-30, 1.0, 65504.0, 1e30, infinite, -infinite];
    let mut colors = Vec::new();
    for r in odd {
        for g in odd {
            colors.extend(odd.map(|b| DVec3::new(r, g, b)));
        }
    }
    for (color, found) in colors.iter().zip(mapped(Language::Glsl, &colors)) {
        for (found, (name, _)) in found.iter().zip(OPERATORS) {
            assert!(found.is_finite() && found.min_element() >= -1e-7, "{name} of {color} is {found}");
        }
    }
}

/// What the authors say of their operators.
#[test]
fn known_points() {
    let neutral = DVec3::new(0.7, 0.3, 0.1);
    let points = [
        // Half of white, and the white point.
        ("reinhard", DVec3::ONE, DVec3::splat(0.5)),
        ("reinhard-extended", DVec3::splat(4.0), DVec3::ONE),
        // Linear white of 11.2 behind an exposure of 2.
        ("hable", DVec3::splat(5.6), DVec3::ONE),
        // Base colors come out as they are: a dielectric adds its 4 % of specular, the operator takes it away.
        ("khronos-neutral", neutral + 0.04, neutral),
        // The largest value of the fits.
        ("aces-narkowicz", DVec3::splat(1e4), DVec3::ONE),
        ("aces-hill", DVec3::splat(1e4), DVec3::ONE),
        // The polynomial ends at the sum of its coefficients.
        ("agx", DVec3::splat(1e4), DVec3::splat(0.99858_f64.powf(2.2))),
    ];
    let found = mapped(Language::Glsl, &points.map(|(_, color, _)| color));
    for ((name, color, expected), found) in points.into_iter().zip(found) {
        let number = OPERATORS.iter().position(|(operator, _)| *operator == name).expect("it is an operator");
        let off = difference(found[number], expected);
        assert!(off < TOLERANCE, "{name} of {color} is {}", found[number]);
    }
}

#[test]
fn numbers_of_the_corpus() {
    let Some(corpus) = corpus::spec() else { return };
    let spec: Value = oracle::read_json(&corpus.join("tone_mapping.json"));
    let inputs: Vec<[f64; 3]> = serde_json::from_value(spec["inputs"].clone()).expect("they are colors");
    let inputs: Vec<DVec3> = inputs.into_iter().map(DVec3::from).collect();
    let operators = spec["operators"].as_object().expect("it is an object");
    assert!(operators.len() >= 8 && inputs.len() >= 5);
    for (language, about) in [(Language::Glsl, "GLSL"), (Language::Hlsl, "HLSL")] {
        let found = mapped(language, &inputs);
        for (name, operator) in operators {
            let number = match name.as_str() {
                "aces_hill_no_matrices" => HILL_CURVE,
                "khronos_pbr_neutral" => 7,
                "agx_6th_order" => 8,
                name => {
                    let ours = OPERATORS.iter().position(|(ours, _)| *ours == name.replace('_', "-"));
                    ours.unwrap_or_else(|| panic!("no operator is named {name}"))
                }
            };
            let tolerance = operator["tolerance"].as_f64().or(spec["tolerance"].as_f64()).expect("there is one");
            // Of greys some operators have only the red channel.
            let outputs: Vec<[Option<f64>; 3]> = serde_json::from_value(operator["outputs"].clone()).expect("colors");
            assert_eq!(outputs.len(), inputs.len());
            let mut largest = 0.0_f64;
            for ((input, found), expected) in inputs.iter().zip(&found).zip(outputs) {
                let mut found = found[number];
                if number == HILL_CURVE {
                    found = found.clamp(DVec3::ZERO, DVec3::ONE);
                }
                for (found, expected) in found.to_array().into_iter().zip(expected) {
                    let off = (found - expected.unwrap_or(found)).abs();
                    assert!(off <= tolerance, "{about}, {name} of {input}: {found}, not {expected:?}");
                    largest = largest.max(off);
                }
            }
            println!("{about}, {name}: off by {largest:.1e} of {tolerance:.0e}");
        }
    }
}
