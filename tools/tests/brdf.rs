//! The reflection functions of `shaders/lib/brdf.glsl`: against the formulas of glTF's Appendix B in f64, against the
//! laws that they obey, and against the numbers of the corpus.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use ashwright::glam::{DQuat, DVec3};
use bytemuck::{Pod, Zeroable};
use serde::Deserialize;
use serde_json::Value;
use tools::{compute, corpus, oracle};

const SHADER: &str = "#version 460
#extension GL_GOOGLE_include_directive : require
#include <brdf.glsl>
layout(local_size_x = 64) in;
struct Case {
    vec3 base_color;
    float metallic;
    vec3 normal;
    float roughness;
    vec3 to_eye;
    vec3 to_light;
};
struct Found {
    vec3 diffuse;
    float distribution;
    vec3 specular;
    float visibility;
};
layout(binding = 0) readonly buffer Cases { Case cases[]; };
layout(binding = 1) writeonly buffer Results { Found results[]; };
void main() {
    Case c = cases[gl_GlobalInvocationID.x];
    Reflected light = reflected(Surface(c.base_color, c.metallic, c.roughness, c.normal), c.to_eye, c.to_light);
    float alpha = alpha_of(c.roughness);
    float distribution = ggx_distribution(c.normal, normalize(c.to_eye + c.to_light), alpha);
    float visibility = smith_visibility(dot(c.normal, c.to_light), dot(c.normal, c.to_eye), alpha);
    results[gl_GlobalInvocationID.x] = Found(light.diffuse, distribution, light.specular, visibility);
}
";

const ENVIRONMENT_SHADER: &str = "#version 460
#extension GL_GOOGLE_include_directive : require
#include <brdf.glsl>
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Cases { vec2 cases[]; };
layout(binding = 1) writeonly buffer Results { vec2 results[]; };
void main() {
    vec2 c = cases[gl_GlobalInvocationID.x];
    results[gl_GlobalInvocationID.x] = environment_brdf(c.x, c.y, 1024);
}
";

/// As the shader has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Case {
    base_color: [f32; 3],
    metallic: f32,
    normal: [f32; 3],
    roughness: f32,
    to_eye: [f32; 3],
    padding: f32,
    to_light: [f32; 3],
    padding_2: f32,
}

/// As the shader has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Found {
    diffuse: [f32; 3],
    distribution: f32,
    specular: [f32; 3],
    visibility: f32,
}

impl Case {
    /// Of a surface that lies flat, with z up. Directions may have any length.
    fn new(base_color: DVec3, metallic: f64, roughness: f64, to_eye: DVec3, to_light: DVec3) -> Self {
        Self {
            base_color: base_color.as_vec3().to_array(),
            metallic: metallic as f32,
            normal: [0.0, 0.0, 1.0],
            roughness: roughness as f32,
            to_eye: to_eye.normalize().as_vec3().to_array(),
            to_light: to_light.normalize().as_vec3().to_array(),
            ..Self::zeroed()
        }
    }

    /// The same, seen from elsewhere.
    fn turned(self, by: DQuat) -> Self {
        let turned = |v: [f32; 3]| (by * vector(v)).normalize().as_vec3().to_array();
        Self { normal: turned(self.normal), to_eye: turned(self.to_eye), to_light: turned(self.to_light), ..self }
    }
}

impl Found {
    /// Diffuse and specular together.
    fn light(&self) -> DVec3 {
        vector(self.diffuse) + vector(self.specular)
    }
}

fn vector(v: [f32; 3]) -> DVec3 {
    DVec3::from(v.map(f64::from))
}

fn run<Input: Pod, Output: Pod>(source: &str, cases: &[Input]) -> Vec<Output> {
    let device = compute::device().expect("there is Vulkan");
    let mut input = cases.to_vec();
    input.resize(cases.len().next_multiple_of(64), *cases.last().expect("there is a case"));
    let size = input.len() * size_of::<Output>();
    let output = compute::run(&device, source, &[bytemuck::cast_slice(&input)], size, input.len() as u32 / 64);
    let mut results = bytemuck::pod_collect_to_vec(&output.expect("the shader runs"));
    results.truncate(cases.len());
    results
}

fn reflected(cases: &[Case]) -> Vec<Found> {
    run(SHADER, cases)
}

/// Scale and bias of the reflectance at normal incidence, by n·v and roughness.
fn environment_brdf(cases: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let cases: Vec<[f32; 2]> = cases.iter().map(|case| case.map(|x| x as f32)).collect();
    run::<_, [f32; 2]>(ENVIRONMENT_SHADER, &cases).into_iter().map(|result| result.map(f64::from)).collect()
}

/// The material of Appendix B.3, times n·l: its diffuse and its specular part, the distribution and the visibility.
fn expected(case: &Case) -> (DVec3, DVec3, f64, f64) {
    let [n, v, l] = [case.normal, case.to_eye, case.to_light].map(|v| vector(v).normalize());
    let h = (v + l).normalize();
    let (n_dot_l, n_dot_v, n_dot_h, v_dot_h) = (n.dot(l), n.dot(v), n.dot(h), v.dot(h));
    let alpha_2 = f64::from(case.roughness).max(0.045).powi(4);
    let d = alpha_2 / (PI * (n_dot_h * n_dot_h * (alpha_2 - 1.0) + 1.0).powi(2));
    let smith = |a: f64, b: f64| a * (b * b * (1.0 - alpha_2) + alpha_2).sqrt();
    let visibility = 0.5 / (smith(n_dot_l, n_dot_v) + smith(n_dot_v, n_dot_l));
    let weight = (1.0 - v_dot_h.abs()).powi(5);
    let (base, metallic) = (vector(case.base_color), f64::from(case.metallic));
    let metal = d * visibility * (base + (1.0 - base) * weight);
    let fresnel = 0.04 + 0.96 * weight;
    let diffuse = (1.0 - metallic) * (1.0 - fresnel) * base / PI;
    let specular = (1.0 - metallic) * fresnel * d * visibility + metallic * metal;
    (diffuse * n_dot_l, specular * n_dot_l, d, visibility)
}

/// Numbers from 0 to 1, the same ones every time.
struct Numbers(u32);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(self.0 >> 8) / f64::from(1 << 24)
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }

    /// A direction above the surface, which does not graze it.
    fn direction(&mut self) -> DVec3 {
        let (cosine, phi) = (0.02 + 0.98 * self.next(), TAU * self.next());
        let sine = (1.0 - cosine * cosine).sqrt();
        DVec3::new(sine * phi.cos(), sine * phi.sin(), cosine)
    }

    fn turn(&mut self) -> DQuat {
        DQuat::from_scaled_axis((self.vector() - 0.5) * 6.0)
    }

    /// Any material in any light, turned anyhow. Half of the lights are near the mirror direction.
    fn case(&mut self) -> Case {
        let (base, metallic, roughness) = (self.vector(), self.next(), self.next());
        let (to_eye, mut to_light) = (self.direction(), self.direction());
        if self.next() < 0.5 {
            let mirrored = DVec3::new(-to_eye.x, -to_eye.y, to_eye.z);
            to_light = mirrored + 0.05 * roughness * to_light;
        }
        Case::new(base, metallic, roughness, to_eye, to_light)
    }
}

#[test]
fn as_the_appendix_says() {
    let mut numbers = Numbers(1);
    let cases: Vec<Case> = (0..10_000).map(|_| numbers.case()).collect();
    let turned: Vec<Case> = cases.iter().map(|case| case.turned(numbers.turn())).collect();
    let mut largest = 0.0_f64;
    for case in cases.iter().chain(&turned).zip(reflected(&cases).iter().chain(&reflected(&turned))) {
        let (case, found) = case;
        let (diffuse, specular, distribution, visibility) = expected(case);
        let pairs = [
            (vector(found.diffuse), diffuse),
            (vector(found.specular), specular),
            (DVec3::splat(found.distribution.into()), DVec3::splat(distribution)),
            (DVec3::splat(found.visibility.into()), DVec3::splat(visibility)),
        ];
        for (found, expected) in pairs {
            let off = ((found - expected).abs() / expected.max(DVec3::splat(0.01))).max_element();
            largest = largest.max(off);
            assert!(off < 5e-4, "{case:?}: {found}, not {expected}, off by {off:e}");
        }
    }
    println!("largest difference: {largest:.1e}");
}

/// What one can work out by hand: eye and light straight above a surface.
#[test]
fn straight_down() {
    let case = |base, metallic, roughness| Case::new(base, metallic, roughness, DVec3::Z, DVec3::Z);
    let gold = DVec3::new(1.0, 0.766, 0.336);
    let found = reflected(&[case(DVec3::ONE, 0.0, 1.0), case(gold, 1.0, 1.0), case(gold, 1.0, 0.5)]);
    let close = |found: [f32; 3], expected: DVec3| assert!(vector(found).abs_diff_eq(expected, 1e-6), "{found:?}");
    close(found[0].diffuse, DVec3::splat(0.96 / PI));
    close(found[0].specular, DVec3::splat(0.04 / (4.0 * PI)));
    close(found[1].diffuse, DVec3::ZERO);
    close(found[1].specular, gold / (4.0 * PI));
    // The distribution is 1 / (pi alpha²).
    close(found[2].specular, gold * 16.0 / (4.0 * PI));
}

/// Helmholtz: light goes the same way back.
#[test]
fn reciprocity() {
    let mut numbers = Numbers(2);
    let cases: Vec<Case> = (0..5_000).map(|_| numbers.case()).collect();
    let swapped: Vec<Case> =
        cases.iter().map(|case| Case { to_eye: case.to_light, to_light: case.to_eye, ..*case }).collect();
    for ((there, back), case) in reflected(&cases).iter().zip(reflected(&swapped)).zip(&cases) {
        let brdf = there.light() / vector(case.to_light).z;
        let reversed = back.light() / vector(case.to_eye).z;
        let off = ((brdf - reversed).abs() / brdf.max(DVec3::splat(0.01))).max_element();
        assert!(off < 1e-5, "{case:?}: {brdf} there, {reversed} back");
    }
}

/// The microfacets, each projected on the surface, cover it once: the integral of D n·h over the hemisphere is 1.
#[test]
fn distribution_covers_the_surface() {
    const STEPS: u32 = 4096;
    for roughness in [0.0, 0.05, 0.1, 0.3, 0.5, 0.8, 1.0] {
        let alpha = f64::max(roughness, 0.045) * f64::max(roughness, 0.045);
        // The tangent of the angle from 0 to infinity, with most steps where the distribution is large.
        let step = |i: u32| (f64::from(i) + 0.5) / f64::from(STEPS);
        let tangent = |t: f64| alpha * t / (1.0 - t);
        let angles: Vec<(f64, f64)> = (0..STEPS)
            .map(|i| {
                let (t, angle) = (step(i), tangent(step(i)).atan());
                let d_angle = alpha / (1.0 - t).powi(2) / (1.0 + tangent(t).powi(2)) / f64::from(STEPS);
                (angle, d_angle)
            })
            .collect();
        let case = |&(angle, _): &(f64, f64)| {
            let half_vector = DVec3::new(angle.sin(), 0.0, angle.cos());
            Case::new(DVec3::ONE, 1.0, roughness, half_vector, half_vector)
        };
        for turn in [DQuat::IDENTITY, Numbers(3).turn()] {
            let cases: Vec<Case> = angles.iter().map(|angle| case(angle).turned(turn)).collect();
            let terms = reflected(&cases).into_iter().zip(&angles).map(|(found, &(angle, d_angle))| {
                f64::from(found.distribution) * angle.cos() * TAU * angle.sin() * d_angle
            });
            let sum: f64 = terms.sum();
            println!("roughness {roughness}: {sum}");
            assert!((sum - 1.0).abs() < 1e-3, "roughness {roughness}: {sum}");
        }
    }
}

/// Sums over the hemisphere of lights what becomes of one that comes from each direction.
fn hemisphere(case: Case, part: impl Fn(&Case, &Found) -> f64) -> f64 {
    const RINGS: u32 = 200;
    const SECTORS: u32 = 400;
    let (mut cases, mut weights) = (Vec::new(), Vec::new());
    for ring in 0..RINGS {
        for sector in 0..SECTORS {
            let (sine, cosine) = (FRAC_PI_2 * (f64::from(ring) + 0.5) / f64::from(RINGS)).sin_cos();
            let phi = TAU * (f64::from(sector) + 0.5) / f64::from(SECTORS);
            let to_light = DVec3::new(sine * phi.cos(), sine * phi.sin(), cosine).as_vec3().to_array();
            cases.push(Case { to_light, ..case });
            weights.push(sine);
        }
    }
    let found = reflected(&cases);
    let parts = cases.iter().zip(&found).zip(weights).map(|((case, found), weight)| part(case, found) * weight);
    parts.sum::<f64>() * FRAC_PI_2 * TAU / f64::from(RINGS * SECTORS)
}

fn seen_at(n_dot_v: f64) -> DVec3 {
    DVec3::new((1.0 - n_dot_v * n_dot_v).sqrt(), 0.0, n_dot_v)
}

/// What light is left by the mirror of a white surface, all of it leaves again.
#[test]
fn white_lambert_surface() {
    for n_dot_v in [1.0, 0.6, 0.1] {
        let case = Case::new(DVec3::ONE, 0.0, 1.0, seen_at(n_dot_v), DVec3::Z);
        let sum = hemisphere(case, |case, found| {
            let [v, l] = [case.to_eye, case.to_light].map(vector);
            let fresnel = 0.04 + 0.96 * (1.0 - v.dot((v + l).normalize())).powi(5);
            f64::from(found.diffuse[0]) / (1.0 - fresnel)
        });
        assert!((sum - 1.0).abs() < 1e-4, "n·v {n_dot_v}: {sum}");
    }
}

/// The table for environments is the integral of the same functions, which never gives more light than there was: of a
/// metal that reflects all or nothing at normal incidence, by Schlick.
#[test]
fn environment_is_the_integral_of_lights() {
    let cases = [[1.0, 0.3], [0.7, 0.4], [0.5, 0.5], [0.3, 1.0], [0.1, 0.6], [0.9, 0.9]];
    let mut largest = 0.0_f64;
    for ([n_dot_v, roughness], [scale, bias]) in cases.into_iter().zip(environment_brdf(&cases)) {
        for (base, expected) in [(DVec3::ONE, scale + bias), (DVec3::ZERO, bias)] {
            let case = Case::new(base, 1.0, roughness, seen_at(n_dot_v), DVec3::Z);
            let sum = hemisphere(case, |_, found| f64::from(found.specular[0]));
            assert!(sum <= 1.0, "n·v {n_dot_v}, roughness {roughness}: {sum}");
            let off = (sum - expected).abs();
            largest = largest.max(off);
            assert!(off < 0.002, "n·v {n_dot_v}, roughness {roughness}: {sum}, not {expected}");
        }
    }
    println!("largest difference: {largest:.1e}");
}

/// Where a cosine or the roughness is 0, where the eye is behind the surface, or light and eye are opposite.
#[test]
fn no_infinities() {
    let mut cases = Vec::new();
    let heights = [-1.0, -0.5, -1e-4, -1e-7, 0.0, 2e-38, 1e-7, 1e-4, 0.5, 1.0];
    for roughness in [0.0, 1e-3, 0.5, 1.0] {
        for metallic in [0.0, 1.0] {
            for v in heights {
                for l in heights {
                    let directions =
                        [DVec3::X, DVec3::NEG_X, DVec3::Y].map(|along| along * seen_at(l).x + l * DVec3::Z);
                    let case = |to_light| Case::new(DVec3::ONE, metallic, roughness, seen_at(v), to_light);
                    cases.extend(directions.map(case));
                }
            }
        }
    }
    for (case, found) in cases.iter().zip(reflected(&cases)) {
        let light = found.light();
        assert!(light.is_finite() && light.min_element() >= 0.0, "{case:?}: {light}");
        assert!(case.to_light[2] > 0.0 || light == DVec3::ZERO, "{case:?} is lit from below: {light}");
    }
    let mut cases = Vec::new();
    for n_dot_v in [0.0, 1e-7, 1e-3, 0.5, 1.0] {
        cases.extend([0.0, 0.01, 0.5, 1.0].map(|roughness| [n_dot_v, roughness]));
    }
    for (case, [scale, bias]) in cases.iter().zip(environment_brdf(&cases)) {
        assert!(scale >= 0.0 && bias >= 0.0 && scale + bias <= 1.0001, "{case:?}: {scale}, {bias}");
    }
}

#[test]
fn numbers_of_the_corpus() {
    #[derive(Deserialize)]
    struct Row {
        base: [f64; 3],
        metallic: f64,
        roughness: f64,
        #[serde(rename = "V")]
        v: [f64; 3],
        #[serde(rename = "L")]
        l: [f64; 3],
        out: [f64; 3],
        #[serde(rename = "D")]
        d: Option<f64>,
        #[serde(rename = "Vis")]
        vis: Option<f64>,
    }

    let Some(corpus) = corpus::spec() else { return };
    let spec: Value = oracle::read_json(&corpus.join("brdf.json"));
    let tolerance = spec["brdf"]["tolerance"].as_f64().expect("there is one");
    let rows: Vec<Row> = serde_json::from_value(spec["brdf"]["cases"].clone()).expect("they are cases");
    assert!(rows.len() >= 4);
    let case = |row: &Row| Case::new(row.base.into(), row.metallic, row.roughness, row.v.into(), row.l.into());
    let cases: Vec<Case> = rows.iter().map(case).collect();
    let mut largest = 0.0_f64;
    for (row, found) in rows.iter().zip(reflected(&cases)) {
        let mut check = |found: f64, expected: f64| {
            let off = (found - expected).abs() / expected.abs().max(1.0);
            largest = largest.max(off);
            assert!(off <= tolerance, "V {:?}, L {:?}: {found}, not {expected}", row.v, row.l);
        };
        for (found, &expected) in found.light().to_array().into_iter().zip(&row.out) {
            check(found, expected);
        }
        row.d.into_iter().for_each(|expected| check(found.distribution.into(), expected));
        row.vis.into_iter().for_each(|expected| check(found.visibility.into(), expected));
    }
    println!("brdf: off by {largest:.1e} of {tolerance:.0e}");

    #[derive(Deserialize)]
    struct Split {
        #[serde(rename = "NoV")]
        n_dot_v: f64,
        roughness: f64,
        #[serde(rename = "A")]
        scale: f64,
        #[serde(rename = "B")]
        bias: f64,
    }

    let tolerance = spec["split_sum"]["tolerance"].as_f64().expect("there is one");
    let rows = spec["split_sum"]["height_correlated_smith"].clone();
    let rows: Vec<Split> = serde_json::from_value(rows).expect("they are rows");
    assert!(rows.len() >= 5);
    let cases: Vec<[f64; 2]> = rows.iter().map(|row| [row.n_dot_v, row.roughness]).collect();
    let mut largest = 0.0_f64;
    for (row, [scale, bias]) in rows.iter().zip(environment_brdf(&cases)) {
        let off = (scale - row.scale).abs().max((bias - row.bias).abs());
        largest = largest.max(off);
        assert!(off <= tolerance, "n·v {}, roughness {}: {scale}, {bias}", row.n_dot_v, row.roughness);
    }
    println!("split sum: off by {largest:.1e} of {tolerance:.0e}");
}
