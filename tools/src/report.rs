//! What is in a glTF file, for people to read.

use ashwright::scene::{
    AlphaMode, Animation, ImageFormat, LightKind, Material, Pose, Primitive, Projection, Scene, TextureSlot, Topology,
};

/// Longer names are cut.
const LONGEST_NAME: usize = 40;

/// Of so many skins, cameras and lights each is told.
const MOST_LISTED: usize = 8;

/// Of so many textures each is told.
const MOST_LINES: usize = 24;

/// Tells what is in a scene, under a title: what there is how often, extensions, bounds, textures, animations and warnings.
/// What there is not is not mentioned.
pub fn report(title: &str, scene: &Scene) -> String {
    let rows = rows(scene);
    let mut lines = vec![title.to_owned()];
    if rows.is_empty() {
        lines.push("There is nothing in this file.".into());
    }
    lines.extend(rows.into_iter().map(|(label, text)| format!("  {label:<15}{text}")));
    push_part(&mut lines, "textures", texture_lines(scene));
    push_part(&mut lines, "animations", animation_lines(&scene.animations));
    push_part(&mut lines, &format!("warnings: {}", scene.warnings.len()), scene.warnings.clone());
    lines.join("\n") + "\n"
}

fn push_part(lines: &mut Vec<String>, heading: &str, part: Vec<String>) {
    if !part.is_empty() {
        lines.extend([String::new(), heading.to_owned()]);
        lines.extend(part.iter().map(|line| format!("  {line}")));
    }
}

/// A label and a text for each thing that there is.
fn rows(scene: &Scene) -> Vec<(&'static str, String)> {
    let primitives: Vec<&Primitive> = scene.meshes.iter().flat_map(|mesh| &mesh.primitives).collect();
    let triangles: usize = of(&primitives, Topology::Triangles).map(|primitive| primitive.indices.len() / 3).sum();
    let vertices: usize = primitives.iter().map(|primitive| primitive.positions.len()).sum();
    // The last material is glTF's default one, which is in no file.
    let materials = scene.materials.len().saturating_sub(1);
    let mut rows = vec![
        ("scenes", count(scene.scene_count)),
        ("nodes", nodes(scene)),
        ("meshes", count(scene.meshes.len())),
        ("primitives", topologies(&primitives)),
        ("vertices", count(vertices)),
        ("triangles", count(triangles)),
        ("attributes", attributes(&primitives)),
        ("morph targets", morph_targets(&primitives)),
        ("materials", with_parts(materials, &material_kinds(&scene.materials[..materials]))),
        ("textures", count(scene.textures.len())),
        ("images", images(scene)),
        ("skins", skins(scene)),
        ("cameras", cameras(scene)),
        ("lights", lights(scene)),
        ("animations", count(scene.animations.len())),
        ("extensions", extensions(scene)),
    ];
    rows.extend(bounds(scene));
    rows.retain(|(_, text)| !text.is_empty());
    rows
}

/// A number, or nothing for 0.
fn count(number: usize) -> String {
    if number == 0 { String::new() } else { number.to_string() }
}

fn nodes(scene: &Scene) -> String {
    match scene.nodes.iter().filter(|node| !node.in_scene).count() {
        0 => count(scene.nodes.len()),
        hidden => format!("{}, of which {hidden} not in the scene shown", scene.nodes.len()),
    }
}

fn of<'a>(primitives: &[&'a Primitive], topology: Topology) -> impl Iterator<Item = &'a Primitive> {
    primitives.iter().copied().filter(move |primitive| primitive.topology == topology)
}

fn topologies(primitives: &[&Primitive]) -> String {
    let names = [(Topology::Triangles, "triangles"), (Topology::Lines, "lines"), (Topology::Points, "points")];
    let counts = names.map(|(topology, name)| (of(primitives, topology).count(), name));
    let told = counts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} of {name}"));
    told.collect::<Vec<_>>().join(", ")
}

/// Which attributes other than positions there are; in how many primitives, unless in all.
fn attributes(primitives: &[&Primitive]) -> String {
    type Has = fn(&Primitive) -> bool;
    let kinds: [(&str, Has); 6] = [
        ("normals", |primitive| !primitive.normals.is_empty()),
        ("tangents", |primitive| !primitive.tangents.is_empty()),
        ("colours", |primitive| !primitive.colors.is_empty()),
        ("TEXCOORD_0", |primitive| !primitive.tex_coords[0].is_empty()),
        ("TEXCOORD_1", |primitive| !primitive.tex_coords[1].is_empty()),
        ("joints", |primitive| primitive.influences.is_some()),
    ];
    let told = kinds.into_iter().filter_map(|(name, has)| {
        let count = primitives.iter().filter(|primitive| has(primitive)).count();
        match count {
            0 => None,
            all if all == primitives.len() => Some(name.to_owned()),
            _ => Some(format!("{name} ({count} of {})", counted(primitives.len(), "primitive"))),
        }
    });
    told.collect::<Vec<_>>().join(", ")
}

fn morph_targets(primitives: &[&Primitive]) -> String {
    let counts: Vec<usize> = primitives.iter().map(|primitive| primitive.morph_targets.len()).collect();
    match (counts.iter().sum(), counts.iter().filter(|&&count| count > 0).count()) {
        (0, _) => String::new(),
        (sum, 1) => sum.to_string(),
        (sum, morphed) => format!("{sum} in {morphed} primitives"),
    }
}

/// What is special to materials, and of how many.
fn material_kinds(materials: &[Material]) -> Vec<String> {
    type Is = fn(&Material) -> bool;
    let kinds: [(&str, Is); 4] = [
        ("MASK", |material| matches!(material.alpha_mode, AlphaMode::Mask { .. })),
        ("BLEND", |material| material.alpha_mode == AlphaMode::Blend),
        ("double-sided", |material| material.double_sided),
        ("unlit", |material| material.unlit),
    ];
    let counts = kinds.map(|(name, is)| (materials.iter().filter(|material| is(material)).count(), name));
    counts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect()
}

fn images(scene: &Scene) -> String {
    let unread = scene.images.iter().filter(|image| image.format.is_none()).count();
    match unread {
        0 => count(scene.images.len()),
        _ if unread == scene.images.len() => format!("{unread}, not read"),
        _ => format!("{}, of which {unread} not read", scene.images.len()),
    }
}

/// Of each camera how it projects.
fn cameras(scene: &Scene) -> String {
    let kinds = scene.cameras.iter().map(|camera| match camera.projection {
        Projection::Perspective { yfov, .. } => format!("perspective of {}°", number(yfov.to_degrees())),
        Projection::Orthographic { .. } => "orthographic".into(),
    });
    with_parts(scene.cameras.len(), &list(kinds))
}

fn lights(scene: &Scene) -> String {
    let kinds = scene.lights.iter().map(|light| match light.kind {
        LightKind::Directional => "directional".to_owned(),
        LightKind::Point { .. } => "point".into(),
        LightKind::Spot { .. } => "spot".into(),
    });
    with_parts(scene.lights.len(), &list(kinds))
}

fn skins(scene: &Scene) -> String {
    let joints = scene.skins.iter().map(|skin| counted(skin.joints.len(), "joint"));
    with_parts(scene.skins.len(), &list(joints))
}

/// A number of things, in the singular or the plural.
fn counted(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// What is equal and stands together is told once, with a count; what is too long ends with dots.
fn list(parts: impl Iterator<Item = String>) -> Vec<String> {
    let parts: Vec<String> = parts.collect();
    let runs = parts.chunk_by(|a, b| a == b).map(|run| match run.len() {
        1 => run[0].clone(),
        times => format!("{times} of {}", run[0]),
    });
    let mut told: Vec<String> = runs.collect();
    if told.len() > MOST_LISTED {
        told.truncate(MOST_LISTED);
        told.push("…".into());
    }
    told
}

fn with_parts(number: usize, parts: &[String]) -> String {
    if parts.is_empty() { count(number) } else { format!("{number}: {}", parts.join(", ")) }
}

/// All extensions: which of them the file cannot do without, and which are not read.
fn extensions(scene: &Scene) -> String {
    let (used, required) = (&scene.extensions_used, &scene.extensions_required);
    let only_required = required.iter().filter(|name| !used.contains(name));
    let tell = |name: &String| {
        let note = match (required.contains(name), Scene::supports(name)) {
            (true, true) => " (required)",
            (true, false) => " (required, not supported)",
            (false, true) => "",
            (false, false) => " (ignored)",
        };
        printable(name) + note
    };
    used.iter().chain(only_required).map(tell).collect::<Vec<_>>().join(", ")
}

fn bounds(scene: &Scene) -> Vec<(&'static str, String)> {
    let Some(bounds) = Pose::new(scene).bounds(scene) else {
        return Vec::new();
    };
    let corner = |corner: ashwright::glam::Vec3| {
        let [x, y, z] = corner.to_array().map(number);
        format!("{x:>10} {y:>10} {z:>10}")
    };
    let size = bounds.max - bounds.min;
    vec![
        ("bounds", format!("from{}", corner(bounds.min))),
        ("", format!("to  {}", corner(bounds.max))),
        ("", format!("size{}  metres", corner(size))),
    ]
}

/// A number with four digits that count.
fn number(value: f32) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..7.0).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let decimals = (3.0 - magnitude).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A line for each texture, in columns: its image, and what materials use it for.
fn texture_lines(scene: &Scene) -> Vec<String> {
    let mut lines = columns((0..scene.textures.len().min(MOST_LINES)).map(|texture| texture_cells(scene, texture)));
    let more = scene.textures.len() - lines.len();
    lines.extend((more > 0).then(|| format!("… and {more} more")));
    lines
}

fn texture_cells(scene: &Scene, index: usize) -> [Cell; 5] {
    let image = scene.textures[index].image.map(|image| &scene.images[image]);
    let format = image.and_then(|image| image.format).map_or("not read", |format| match format {
        ImageFormat::Png => "PNG",
        ImageFormat::Jpeg => "JPEG",
        ImageFormat::WebP => "WebP",
        ImageFormat::Ktx2 => "KTX 2",
    });
    let size = image.filter(|image| image.format.is_some()).map(|image| format!("{} × {}", image.size.0, image.size.1));
    let is_used = |slot: &&TextureSlot| {
        let mut infos = scene.materials.iter().filter_map(|material| material.texture(**slot));
        infos.any(|info| info.texture == index)
    };
    let slots: Vec<&str> = TextureSlot::ALL.iter().filter(is_used).map(|slot| slot_name(*slot)).collect();
    let name = image.and_then(|image| image.name.as_deref()).map_or("(no name)".into(), printable);
    let used = if slots.is_empty() { "not used".to_owned() } else { slots.join(", ") };
    [right(index), left(name), left(format), right(size.unwrap_or_default()), left(used)]
}

fn slot_name(slot: TextureSlot) -> &'static str {
    match slot {
        TextureSlot::BaseColor => "base colour",
        TextureSlot::MetallicRoughness => "metallic-roughness",
        TextureSlot::Normal => "normal",
        TextureSlot::Occlusion => "occlusion",
        TextureSlot::Emissive => "emissive",
    }
}

/// A line for each animation, in columns.
fn animation_lines(animations: &[Animation]) -> Vec<String> {
    columns(animations.iter().enumerate().map(animation_cells))
}

fn animation_cells((index, animation): (usize, &Animation)) -> [Cell; 5] {
    let keys = animation.channels.iter().map(|channel| channel.times.len()).sum();
    [
        right(index),
        left(animation.name.as_deref().map_or("(no name)".into(), printable)),
        right(format!("{:.3} s", animation.duration)),
        right(counted(animation.channels.len(), "channel")),
        right(counted(keys, "key")),
    ]
}

/// A text in a column.
struct Cell {
    text: String,
    is_right: bool,
}

fn left(text: impl ToString) -> Cell {
    Cell { text: text.to_string(), is_right: false }
}

fn right(text: impl ToString) -> Cell {
    Cell { text: text.to_string(), is_right: true }
}

/// Rows as lines whose columns are as wide as they have to be.
fn columns<const N: usize>(rows: impl Iterator<Item = [Cell; N]>) -> Vec<String> {
    let rows: Vec<[Cell; N]> = rows.collect();
    let width = |column: usize| rows.iter().map(|row| row[column].text.chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let padded = |(Cell { text, is_right }, width): (&Cell, usize)| match is_right {
        true => format!("{text:>width$}"),
        false => format!("{text:<width$}"),
    };
    let line = |row: &[Cell; N]| row.iter().zip(widths).map(padded).collect::<Vec<_>>().join("  ");
    rows.iter().map(|row| line(row).trim_end().to_owned()).collect()
}

/// A name of a file, fit for a terminal: without control characters and not endless.
fn printable(name: &str) -> String {
    let cut = name.chars().count() > LONGEST_NAME;
    let shown = name.chars().take(LONGEST_NAME).map(|c| if c.is_control() { ' ' } else { c });
    shown.chain(cut.then_some('…')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_that_count() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-0.5, "-0.5"),
            (1.23456, "1.235"),
            (123.456, "123.5"),
            (1200.0, "1200"),
            (123_456.7, "123457"),
            (0.000_123_456, "0.0001235"),
            (1e-9, "1.000e-9"),
            (1e30, "1.000e30"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn names_do_not_steer_the_terminal() {
        assert_eq!(printable("a\u{1b}[31m\nb"), "a [31m b");
        assert_eq!(printable(&"x".repeat(1000)).chars().count(), LONGEST_NAME + 1);
    }

    #[test]
    fn lists_are_short() {
        let of = |parts: &[&str]| list(parts.iter().map(|part| (*part).to_owned()));
        assert_eq!(of(&["a", "a", "b"]), ["2 of a", "b"]);
        let many: Vec<String> = (0..20).map(|i| i.to_string()).collect();
        let told = list(many.into_iter());
        assert_eq!((told.len(), told[MOST_LISTED].as_str()), (MOST_LISTED + 1, "…"));
    }

    #[test]
    fn an_empty_scene_is_told_as_such() {
        assert_eq!(report("a.gltf", &Scene::default()), "a.gltf\nThere is nothing in this file.\n");
    }
}
