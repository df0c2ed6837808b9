//! What the technique promises, by number: where parts stand, in which order they are drawn, and in which colours.

use std::path::{Path, PathBuf};

use ashwright::camera::{OrbitCamera, View};
use ashwright::glam::{Mat3, Quat, Vec2, Vec3, Vec4};
use ashwright::scene::{Pose, Scene};
use image::RgbaImage;
use serde_json::json;
use tempfile::TempDir;
use tools::facing::{Facing, drawn_box, is_near, linear, srgb};
use tools::little::Little;
use tools::sample;

const NODE_ANIMATION: &str = env!("CARGO_BIN_EXE_node_animation");

/// Colours are rounded to 8 bits, and GPUs may encode sRGB by an approximation: the last bit may be another one.
const TOLERANCE: u8 = 1;

/// The grey that pictures are cleared with, and what that is as a pixel.
const BACKGROUND: &str = "0.25,0.25,0.25";
const BACKGROUND_PIXEL: [u8; 3] = [64; 3];

fn save(little: Little) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = little.save(folder.path());
    (folder, path)
}

fn draw(view: Facing, model: &Path, options: &[&str]) -> RgbaImage {
    view.draw(NODE_ANIMATION, model, BACKGROUND, options)
}

#[track_caller]
fn assert_pixel(found: [u8; 3], expected: [u8; 3], what: &str) {
    assert!(is_near(found, expected, TOLERANCE), "{what}: {found:?}, not {expected:?}");
}

/// A model of squares of one material each, which stand where their nodes do.
fn squares(materials: impl IntoIterator<Item = (usize, [f32; 3])>, little: &mut Little, half: f32) {
    for (material, place) in materials {
        let square = little.square([0.0; 3], half, material);
        let mesh = little.mesh(square);
        little.root(json!({ "mesh": mesh, "translation": place }));
    }
}

/// What is on the target after colours with alpha were laid over it one after another, the first one first. The target
/// holds 8 bits of sRGB, to which every layer is rounded.
fn composite(layers: &[[f32; 4]]) -> [u8; 3] {
    layers.iter().fold(BACKGROUND_PIXEL, |under, &layer| {
        let layer = Vec4::from_array(layer);
        srgb(layer.truncate() * layer.w + linear(under) * (1.0 - layer.w))
    })
}

const RED: [f32; 4] = [0.9, 0.1, 0.05, 0.5];
const GREEN: [f32; 4] = [0.1, 0.7, 0.1, 0.6];
const BLUE: [f32; 4] = [0.05, 0.2, 0.9, 0.4];

#[test]
fn what_blends_is_drawn_farthest_first_from_any_side() {
    let mut little = Little::default();
    let pane = json!({ "alphaMode": "BLEND", "doubleSided": true });
    let [red, green, blue] = [RED, GREEN, BLUE].map(|color| little.unlit(color, pane.clone()));
    // Not in the order of their depth.
    squares([(green, [0.0, 0.0, 0.0]), (blue, [0.0, 0.0, 1.0]), (red, [0.0, 0.0, -1.0])], &mut little, 1.0);
    let (_folder, model) = save(little);
    let from_front = composite(&[RED, GREEN, BLUE]);
    let from_behind = composite(&[BLUE, GREEN, RED]);
    assert!(!is_near(from_front, from_behind, 20), "nothing would be seen of a wrong order");
    for samples in ["1", "4"] {
        for (view, expected) in [(Facing::SQUARE, from_front), (Facing::SQUARE.from_behind(), from_behind)] {
            let picture = draw(view, &model, &["--msaa", samples]);
            for place in [Vec2::ZERO, Vec2::new(0.5, -0.7), Vec2::new(-0.8, 0.3)] {
                assert_pixel(view.pixel(&picture, place), expected, &format!("{place} of --msaa {samples}"));
            }
            assert_eq!(view.pixel(&picture, Vec2::new(1.5, 0.0)), BACKGROUND_PIXEL);
        }
    }
}

#[test]
fn what_blends_does_not_hide_and_is_hidden() {
    let mut little = Little::default();
    let pane = little.unlit(RED, json!({ "alphaMode": "BLEND" }));
    let wall = little.unlit([0.2, 0.5, 0.8, 1.0], json!({}));
    // The pane comes first in the file: to the left before the wall, to the right behind it.
    squares([(pane, [-1.0, 0.0, 0.5]), (pane, [1.0, 0.0, -0.5]), (wall, [0.0; 3])], &mut little, 0.8);
    let (_folder, model) = save(little);
    for samples in ["1", "4"] {
        let picture = draw(Facing::SQUARE, &model, &["--msaa", samples]);
        let at = |x| Facing::SQUARE.pixel(&picture, Vec2::new(x, 0.0));
        let wall = [0.2, 0.5, 0.8, 1.0];
        assert_pixel(at(-0.5), composite(&[wall, RED]), "before the wall");
        assert_pixel(at(0.5), composite(&[wall]), "behind the wall");
        assert_pixel(at(-1.5), composite(&[RED]), "beside it");
    }
}

#[test]
fn the_far_side_of_a_body_that_blends_is_drawn_before_the_near_one() {
    // In one primitive, so only the sides that faces turn to the eye can tell.
    for near_first in [true, false] {
        let mut little = Little::default();
        let material = little.unlit([1.0; 4], json!({ "alphaMode": "BLEND", "doubleSided": true }));
        let sides = [(0.5, BLUE), (-0.5, RED)];
        let mut positions = Vec::new();
        let mut colors = Vec::new();
        for (z, color) in sides {
            positions.extend([[-1.0, -1.0, z], [1.0, -1.0, z], [1.0, 1.0, z], [-1.0, 1.0, z]]);
            colors.extend([color; 4]);
        }
        let (near, far) = ([0, 1, 2, 0, 2, 3], [4, 6, 5, 4, 7, 6]);
        let indices = if near_first { [near, far] } else { [far, near] }.concat();
        let indices: Vec<_> = indices.into_iter().map(|index| [index]).collect();
        let (positions, colors) = (little.floats(&positions), little.floats(&colors));
        let indices = little.shorts(&indices);
        let attributes = json!({ "POSITION": positions, "COLOR_0": colors });
        let mesh = little.mesh(json!({ "attributes": attributes, "indices": indices, "material": material }));
        little.root(json!({ "mesh": mesh }));
        let (_folder, model) = save(little);
        for (view, expected) in
            [(Facing::SQUARE, composite(&[RED, BLUE])), (Facing::SQUARE.from_behind(), composite(&[BLUE, RED]))]
        {
            let picture = draw(view, &model, &[]);
            assert_pixel(view.pixel(&picture, Vec2::ZERO), expected, &format!("near side first: {near_first}"));
        }
    }
}

#[test]
fn lines_and_points_that_blend_are_drawn_once() {
    for (mode, name) in [(0, "points"), (1, "lines")] {
        let mut little = Little::default();
        let material = little.unlit(RED, json!({ "alphaMode": "BLEND", "doubleSided": true }));
        let positions = little.floats(&[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0_f32]]);
        let attributes = json!({ "POSITION": positions });
        let mesh = little.mesh(json!({ "attributes": attributes, "mode": mode, "material": material }));
        little.root(json!({ "mesh": mesh }));
        let (_folder, model) = save(little);
        let picture = draw(Facing::SQUARE, &model, &["--msaa", "1"]);
        let drawn: Vec<_> = picture.pixels().map(|p| [p[0], p[1], p[2]]).filter(|p| *p != BACKGROUND_PIXEL).collect();
        assert!(drawn.len() > 10, "{name}: only {} pixels", drawn.len());
        drawn.iter().for_each(|&pixel| assert_pixel(pixel, composite(&[RED]), name));
    }
}

#[test]
fn mirrored_nodes_show_their_front() {
    for scale in [[1.0, 1.0, 1.0], [-1.0, 1.0, 1.0], [1.0, -2.0, 1.0], [-1.0, -1.0, 1.0], [1.0, 1.0, -1.0]] {
        for alpha_mode in ["OPAQUE", "MASK", "BLEND"] {
            let mut little = Little::default();
            let material = little.unlit([0.9, 0.4, 0.1, 1.0], json!({ "alphaMode": alpha_mode }));
            let square = little.square([0.3, 0.2, 0.0], 0.5, material);
            let mesh = little.mesh(square);
            // The mirror is above the node that carries the mesh.
            let child = little.push("nodes", json!({ "mesh": mesh }));
            little.root(json!({ "children": [child], "scale": scale }));
            let (_folder, model) = save(little);
            let place = Vec2::new(0.3 * scale[0], 0.2 * scale[1]);
            let at = |view: Facing| view.pixel(&draw(view, &model, &[]), place);
            let (front, behind) = (at(Facing::SQUARE), at(Facing::SQUARE.from_behind()));
            let shown = srgb(Vec3::new(0.9, 0.4, 0.1));
            // A mirror along Z turns the front to the other side.
            let expected = if scale[2] > 0.0 { [shown, BACKGROUND_PIXEL] } else { [BACKGROUND_PIXEL, shown] };
            assert_pixel(front, expected[0], &format!("{alpha_mode} {scale:?} from the front"));
            assert_pixel(behind, expected[1], &format!("{alpha_mode} {scale:?} from behind"));
        }
    }
}

/// The pixels of a model of one square from aside, where the distance from the eye changes from pixel to pixel.
fn from_aside(model: &Path, samples: &str) -> RgbaImage {
    let model = model.to_str().expect("the name is text");
    let view = ["--eye", "2.1,1.3,1.7", "--target", "0,0,0", "--fov", "30", "--no-stage", "--background", BACKGROUND];
    sample::picture(NODE_ANIMATION, [&[model, "--size", "200x200", "--msaa", samples], &view[..]].concat())
}

#[test]
fn a_mask_keeps_what_is_at_its_threshold() {
    for (alpha, cutoff, kept) in [
        (0.5, Some(0.5), true),
        (0.5, None, true),
        (0.3, Some(0.3), true),
        (0.7, Some(0.7), true),
        (1.0, Some(1.0), true),
        (0.0, Some(0.0), true),
        (0.499, Some(0.5), false),
        (0.501, Some(0.5), true),
        (1.0, Some(1.001), false),
    ] {
        let mut little = Little::default();
        let mut mask = json!({ "alphaMode": "MASK", "doubleSided": true });
        if let Some(cutoff) = cutoff {
            mask["alphaCutoff"] = json!(cutoff);
        }
        let material = little.unlit([0.9, 0.4, 0.1, alpha], mask);
        squares([(material, [0.0; 3])], &mut little, 0.5);
        let (_folder, model) = save(little);
        let what = format!("alpha {alpha}, threshold {cutoff:?}");
        for samples in ["1", "4"] {
            let what = format!("{what}, --msaa {samples}");
            let picture = draw(Facing::SQUARE, &model, &["--msaa", samples]);
            let expected = if kept { srgb(Vec3::new(0.9, 0.4, 0.1)) } else { BACKGROUND_PIXEL };
            assert_pixel(Facing::SQUARE.pixel(&picture, Vec2::new(0.1, 0.2)), expected, &what);

            // Alpha is the same everywhere: no pixel may fall out, and none of the others may stay.
            let picture = from_aside(&model, samples);
            if kept {
                let (min, max) = drawn_box(&picture).expect("it is drawn");
                let inside = (min.y as u32 + 1..max.y as u32).flat_map(|y| {
                    let row: Vec<_> = (0..200).map(|x| picture.get_pixel(x, y)).collect();
                    let is_drawn = |p: &&image::Rgba<u8>| [p[0], p[1], p[2]] != BACKGROUND_PIXEL;
                    let first = row.iter().position(is_drawn).unwrap_or(0);
                    let last = row.iter().rposition(is_drawn).unwrap_or(0);
                    // But for two pixels at each end, where the edge may leave a part of a pixel to the background.
                    row.get(first + 2..last.saturating_sub(1)).unwrap_or_default().to_vec()
                });
                let inside: Vec<_> = inside.map(|p| [p[0], p[1], p[2]]).collect();
                let holes = inside.iter().filter(|&&p| !is_near(p, expected, TOLERANCE)).count();
                assert!(inside.len() > 1000 && holes == 0, "{what}: {holes} holes of {}", inside.len());
            } else {
                assert!(drawn_box(&picture).is_none(), "{what}: something stays");
            }
        }
    }
}

#[test]
fn vertex_colours_factor_and_texture_multiply() {
    let mut little = Little::default();
    let texel = [188, 137, 225];
    let mut png = std::io::Cursor::new(Vec::new());
    let picture = RgbaImage::from_pixel(1, 1, image::Rgba([texel[0], texel[1], texel[2], 255]));
    picture.write_to(&mut png, image::ImageFormat::Png).expect("there is memory");
    let image = little.image(png.get_ref());
    let texture = little.push("textures", json!({ "source": image }));
    let material = little.unlit(
        [0.8, 0.6, 0.9, 1.0],
        json!({
            "pbrMetallicRoughness": { "baseColorTexture": { "index": texture } }
        }),
    );
    let mut square = little.square([0.0; 3], 1.0, material);
    square["attributes"]["COLOR_0"] = little.floats(&[[0.5, 0.9, 0.7]; 4]).into();
    square["attributes"]["TEXCOORD_0"] = little.floats(&[[0.5, 0.5]; 4]).into();
    let mesh = little.mesh(square);
    little.root(json!({ "mesh": mesh }));
    let (_folder, model) = save(little);
    let expected = srgb(Vec3::new(0.5, 0.9, 0.7) * Vec3::new(0.8, 0.6, 0.9) * linear(texel));
    let picture = draw(Facing::SQUARE, &model, &[]);
    assert_pixel(Facing::SQUARE.pixel(&picture, Vec2::new(-0.4, 0.3)), expected, "the product");
}

/// What light leaves a surface with this unit normal at a point, by the constants of the sample.
fn lit(base_color: Vec3, normal: Vec3, point: Vec3, eye: Vec3) -> Vec3 {
    let towards_light = Vec3::new(3.0, 4.0, 2.5).normalize();
    let light = Vec3::new(1.25, 1.08, 0.88);
    let (ground, sky) = (Vec3::new(0.05, 0.06, 0.07), Vec3::new(0.17, 0.25, 0.34));
    let half_way = (towards_light + (eye - point).normalize()).normalize();
    let ambient = ground.lerp(sky, normal.y * 0.5 + 0.5);
    let diffuse = light * normal.dot(towards_light).max(0.0);
    base_color * (ambient + diffuse) + 0.25 * light * normal.dot(half_way).max(0.0).powf(50.0)
}

#[test]
fn light_comes_from_the_side_that_is_seen_and_emission_adds() {
    let base = Vec3::new(0.3, 0.2, 0.1);
    let glow = Vec3::new(0.05, 0.2, 0.3);
    let mut little = Little::default();
    let double_sided = json!({ "doubleSided": true });
    let base_color = base.extend(1.0).to_array();
    let plain = little.lit(base_color, double_sided.clone());
    let glowing = little.lit(base_color, json!({ "doubleSided": true, "emissiveFactor": glow.to_array() }));
    let unlit = json!({ "doubleSided": true, "emissiveFactor": glow.to_array() });
    let unlit = little.unlit(base_color, unlit);
    squares([(plain, [-1.0, 0.0, 0.0]), (glowing, [0.0; 3]), (unlit, [1.0, 0.0, 0.0])], &mut little, 0.4);
    let (_folder, model) = save(little);
    for (view, normal) in [(Facing::SQUARE, Vec3::Z), (Facing::SQUARE.from_behind(), Vec3::NEG_Z)] {
        let picture = draw(view, &model, &[]);
        let at = |x| view.pixel(&picture, Vec2::new(x, 0.1));
        let light = |x| lit(base, normal, Vec3::new(x, 0.1, 0.0), view.eye());
        assert_pixel(at(-1.0), srgb(light(-1.0)), "lit");
        assert_pixel(at(0.0), srgb(light(0.0) + glow), "lit, and glowing");
        assert_pixel(at(1.0), srgb(base), "neither lit nor glowing");
    }
}

#[test]
fn normals_go_by_the_inverse_transpose_of_all_nodes_above() {
    // A part that is turned by 45 degrees, below a node that flattens it.
    let turn = Quat::from_rotation_x(-std::f32::consts::FRAC_PI_4);
    for flat in [Vec3::new(1.0, 1.0, 0.2), Vec3::new(1.0, 0.3, 1.0), Vec3::new(-1.0, 1.0, 0.5)] {
        let base = Vec3::new(0.5, 0.4, 0.3);
        let mut little = Little::default();
        let material = little.lit(base.extend(1.0).to_array(), json!({}));
        let square = little.square([0.0; 3], 0.8, material);
        let mesh = little.mesh(square);
        let child = little.push("nodes", json!({ "mesh": mesh, "rotation": turn.to_array() }));
        little.root(json!({ "children": [child], "scale": flat.to_array() }));
        let (_folder, model) = save(little);
        let picture = draw(Facing::SQUARE, &model, &[]);
        let matrix = Mat3::from_diagonal(flat) * Mat3::from_quat(turn);
        // The direction that is upright on both edges of the square where they have come to.
        let normal = (matrix * Vec3::X).cross(matrix * Vec3::Y).normalize();
        let normal = if normal.z < 0.0 { -normal } else { normal };
        let expected = srgb(lit(base, normal, Vec3::ZERO, Facing::SQUARE.eye()));
        assert_pixel(Facing::SQUARE.pixel(&picture, Vec2::ZERO), expected, &format!("{flat}"));
    }
}

/// The middle of what is drawn, in the plane z = 0.
fn middle(view: Facing, picture: &RgbaImage) -> Vec2 {
    let (min, max) = drawn_box(picture).expect("something is drawn");
    let middle = (min + max + 1.0) / 2.0;
    let size = Vec2::new(view.size.0 as f32, view.size.1 as f32);
    view.center + (middle - size / 2.0) * Vec2::new(1.0, -1.0) * view.height / size.y
}

#[track_caller]
fn assert_place(found: Vec2, expected: Vec2, what: &str) {
    // The first and the last column may each be one too many or too few by rounding, half a pixel of 2 cm for the middle.
    assert!(found.abs_diff_eq(expected, 0.011), "{what}: at {found}, not {expected}");
}

/// A small square at (1, 0) of a node that clips move, turn and keep in motion.
fn moving_square() -> (TempDir, PathBuf) {
    let mut little = Little::default();
    let material = little.unlit([1.0, 0.5, 0.0, 1.0], json!({ "doubleSided": true }));
    let square = little.square([0.0; 3], 0.1, material);
    let mesh = little.mesh(square);
    let child = little.push("nodes", json!({ "mesh": mesh, "translation": [1.0, 0.0, 0.0] }));
    let root = little.root(json!({ "children": [child] }));
    let quarter = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    little.clip("left", root, "translation", &[(0.0, [-1.0, -0.5, 0.0])]);
    little.clip("right", root, "translation", &[(0.0, [0.5, 0.5, 0.0])]);
    little.clip("turned", root, "rotation", &[(0.0, quarter.to_array())]);
    // The same rotation by a quaternion of the other sign.
    little.clip("turned as well", root, "rotation", &[(0.0, (-quarter).to_array())]);
    little.clip("unturned", root, "rotation", &[(0.0, Quat::IDENTITY.to_array())]);
    little.clip("rises", root, "translation", &[(0.0, [0.0, -1.0, 0.0]), (1.0, [0.0, 1.0, 0.0])]);
    save(little)
}

#[test]
fn a_cross_fade_puts_nodes_between_both_clips() {
    let (_folder, model) = moving_square();
    let at = |options: &[&str]| {
        let picture = draw(Facing::SQUARE, &model, options);
        middle(Facing::SQUARE, &picture)
    };
    let fade = |from, to, frames| at(&["--fade-from", from, "--animation", to, "--fade", "0.5", "--frames", frames]);
    assert_place(at(&["--animation", "left"]), Vec2::new(0.0, -0.5), "the one clip");
    assert_place(at(&["--animation", "right"]), Vec2::new(1.5, 0.5), "the other clip");
    // Frames are 1/60 s apart: the first is at the begin, the 16th half way through 0.5 s, the 31st at the end.
    assert_place(fade("left", "right", "1"), Vec2::new(0.0, -0.5), "the begin");
    assert_place(fade("left", "right", "16"), Vec2::new(0.75, 0.0), "half way");
    assert_place(fade("left", "right", "31"), Vec2::new(1.5, 0.5), "the end");
    assert_place(fade("left", "right", "40"), Vec2::new(1.5, 0.5), "after the end");
    // After a fifth of the time the way is 0.2² · (3 - 2 · 0.2) = 0.104 done.
    assert_place(fade("left", "right", "7"), Vec2::new(0.156, -0.396), "after a fifth");
    // Half way through a quarter turn is an eighth of a turn, at the same distance; matrices would meet at (0.5, 0.5).
    let eighth = Vec2::splat(0.5_f32.sqrt());
    for turned in ["turned", "turned as well"] {
        assert_place(fade("unturned", turned, "16"), eighth, turned);
        assert_place(fade(turned, "unturned", "16"), eighth, turned);
    }
    // What the one clip moves and the other does not fades to where it rests.
    assert_place(fade("left", "turned", "31"), Vec2::new(0.0, 1.0), "the end of another kind of clip");
    assert_place(
        at(&["--animation", "none", "--fade-from", "left", "--frames", "16", "--fade", "0.5"]),
        Vec2::new(0.5, -0.25),
        "to rest",
    );
    assert_place(at(&["--animation", "right", "--fade-from", "left", "--fade", "0"]), Vec2::new(1.5, 0.5), "no time");
}

#[test]
fn a_clip_goes_on_while_it_fades_out() {
    let (_folder, model) = moving_square();
    let at = |options: &[&str]| {
        // So slow a fade that nothing is seen of the other clip.
        let fade = ["--fade-from", "rises", "--animation", "right", "--fade", "60"];
        let picture = draw(Facing::SQUARE, &model, &[&fade, options].concat());
        middle(Facing::SQUARE, &picture)
    };
    assert_place(at(&["--time", "0.25"]), Vec2::new(1.0, -0.5), "its time is the simulation's");
    assert_place(at(&["--time", "2.75"]), Vec2::new(1.0, 0.5), "it repeats");
    assert_place(at(&["--time", "0.25", "--frames", "16"]), Vec2::new(1.0, 0.0), "it goes on");
    assert_place(at(&["--time", "2.75", "--no-loop"]), Vec2::new(1.0, 1.0), "or holds its last pose");
    assert_place(at(&["--time", "1", "--no-loop"]), Vec2::new(1.0, 1.0), "from its end on");
}

#[test]
fn clips_and_nodes_are_named_before_they_are_counted() {
    let mut little = Little::default();
    let material = little.unlit([1.0, 0.5, 0.0, 1.0], json!({}));
    let square = little.square([0.0; 3], 0.1, material);
    let mesh = little.mesh(square);
    let root = little.root(json!({ "mesh": mesh }));
    little.clip("1", root, "translation", &[(0.0, [-1.0, 0.0, 0.0])]);
    little.clip("0", root, "translation", &[(0.0, [1.0, 0.0, 0.0])]);
    let (_folder, model) = save(little);
    let at = |options: &[&str]| {
        let picture = draw(Facing::SQUARE, &model, options);
        middle(Facing::SQUARE, &picture)
    };
    for (clip, x) in [("1", -1.0), ("0", 1.0)] {
        assert_place(at(&["--animation", clip]), Vec2::new(x, 0.0), "--animation");
        assert_place(at(&["--fade-from", clip, "--animation", "none"]), Vec2::new(x, 0.0), "--fade-from");
    }
}

/// The box that vertices take in a picture, pixels.
fn projected_box(scene: &Scene, clips: &[(usize, f32)], view: View, size: (u32, u32)) -> (Vec2, Vec2) {
    let mut pose = Pose::new(scene);
    pose.evaluate(scene, clips);
    let size = Vec2::new(size.0 as f32, size.1 as f32);
    let to_clip = OrbitCamera::new(view, 0.0, 1.0).matrices(size.x / size.y).view_projection();
    let mut found = (Vec2::INFINITY, Vec2::NEG_INFINITY);
    for (node, mesh) in scene.nodes.iter().enumerate().filter_map(|(index, node)| Some((index, node.mesh?))) {
        for (place, primitive) in scene.meshes[mesh].primitives.iter().enumerate() {
            let (positions, _) = pose.vertices(scene, node, place);
            for &index in &primitive.indices {
                let clip = to_clip.project_point3(positions[index as usize]);
                let pixel = (clip.truncate() * 0.5 + 0.5) * size;
                found = (found.0.min(pixel), found.1.max(pixel));
            }
        }
    }
    found
}

/// Compares the box of what a model's picture shows with that of its vertices as the CPU moves them.
fn compare_boxes(model: &Path, animation: usize, time: f32, eye: Vec3, target: Vec3) {
    let scene = Scene::load(model).expect("it loads");
    let view = View { eye, target, fov: 30.0 };
    let vector = |v: Vec3| format!("{},{},{}", v.x, v.y, v.z);
    let (eye, target) = (vector(view.eye), vector(view.target));
    let (animation_text, time_text) = (animation.to_string(), time.to_string());
    let options = [
        model.to_str().expect("the name is text"),
        "--animation",
        &animation_text,
        "--time",
        &time_text,
        "--eye",
        &eye,
        "--target",
        &target,
        "--fov",
        "30",
        "--size",
        "640x480",
        "--msaa",
        "1",
        "--no-stage",
        // No colour that a model has.
        "--background",
        "1,0,1",
    ];
    let picture = sample::picture(NODE_ANIMATION, options);
    let (min, max) = drawn_box(&picture).expect("it is drawn");
    let expected = projected_box(&scene, &[(animation, time)], view, (640, 480));
    let inside = expected.0.cmpgt(Vec2::ZERO).all() && expected.1.cmplt(Vec2::new(640.0, 480.0)).all();
    assert!(inside && (expected.1 - expected.0).min_element() > 100.0, "{expected:?} is not a good view");
    // A pixel is drawn where its middle is covered: half a pixel, and up to one and a half more where a tip is narrower than
    // the distance of two middles.
    let found = [(min + 0.5) - expected.0, expected.1 - (max + 0.5)];
    for off in found {
        assert!(off.cmpge(Vec2::splat(-0.51)).all() && off.cmple(Vec2::splat(2.0)).all(), "{}: {found:?}", scene.name);
    }
}

#[test]
fn what_deforms_is_drawn_where_the_cpu_says() {
    // A square with a target that moves a corner out, halfway; the node moves and mirrors it.
    let mut little = Little::default();
    let material = little.unlit([0.2, 0.9, 0.3, 1.0], json!({ "doubleSided": true }));
    let mut square = little.square([0.0; 3], 0.4, material);
    let corner = little.floats(&[[0.0; 3], [0.0; 3], [1.0, 0.4, 0.3], [0.0; 3]]);
    square["targets"] = json!([{ "POSITION": corner }]);
    let mesh = little.mesh(square);
    let root = little.root(json!({ "mesh": mesh, "translation": [0.3, 0.1, 0.0], "scale": [-1.0, 1.0, 1.0] }));
    little.clip("bulge", root, "weights", &[(0.0, [0.0]), (1.0, [1.0])]);
    let (_folder, model) = save(little);
    for time in [0.0, 0.5, 0.9] {
        compare_boxes(&model, 0, time, Vec3::new(0.5, 0.4, 3.5), Vec3::ZERO);
    }

    // The square's upper corners hang on a joint that turns, in part; its node is nowhere near.
    let mut little = Little::default();
    let material = little.unlit([0.2, 0.9, 0.3, 1.0], json!({ "doubleSided": true }));
    let mut square = little.square([0.0; 3], 0.5, material);
    square["attributes"]["JOINTS_0"] = little.shorts(&[[0, 1, 0, 0]; 4]).into();
    let weights = [[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.25, 0.75, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]];
    square["attributes"]["WEIGHTS_0"] = little.floats(&weights).into();
    let mesh = little.mesh(square);
    let upper = little.push("nodes", json!({ "translation": [0.0, 0.2, 0.0] }));
    let lower = little.root(json!({ "children": [upper] }));
    let skin = little.push("skins", json!({ "joints": [lower, upper] }));
    little.root(json!({ "mesh": mesh, "skin": skin, "translation": [50.0, 0.0, 0.0] }));
    let turn = Quat::from_rotation_z(1.2);
    little.clip("turn", upper, "rotation", &[(0.0, Quat::IDENTITY.to_array()), (1.0, turn.to_array())]);
    let (_folder, model) = save(little);
    for time in [0.0, 0.5, 0.9] {
        compare_boxes(&model, 0, time, Vec3::new(0.3, 0.4, 3.5), Vec3::ZERO);
    }
}

#[test]
fn whole_models_are_drawn_where_the_cpu_says() {
    let asset = |name| ashwright::asset(name).expect("it is part of the project");
    let drone = asset("models/drone.glb");
    for animation in 0..3 {
        compare_boxes(&drone, animation, 3.8, Vec3::new(0.9, 0.5, 1.9), Vec3::ZERO);
    }
    compare_boxes(&asset("models/whale.glb"), 0, 1.5, Vec3::new(12.0, 6.0, 20.0), Vec3::ZERO);
}
