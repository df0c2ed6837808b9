//! What is in a glTF file, for people to read.

use ashwright::scene::{Animation, Pose, Primitive, Scene, Topology};

/// Longer names are cut.
const LONGEST_NAME: usize = 40;

/// Of so many skins and image sizes each is told.
const MOST_LISTED: usize = 8;

/// Tells what is in a scene, under a title: what there is how often, extensions, bounds, animations and warnings. What
/// there is not is not mentioned.
pub fn report(title: &str, scene: &Scene) -> String {
    let rows = rows(scene);
    let mut lines = vec![title.to_owned()];
    if rows.is_empty() {
        lines.push("There is nothing in this file.".into());
    }
    lines.extend(rows.into_iter().map(|(label, text)| format!("  {label:<12}{text}")));
    push_part(&mut lines, "animations", animation_lines(&scene.animations));
    push_part(&mut lines, "warnings", scene.warnings.clone());
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
        ("materials", count(materials)),
        ("textures", count(scene.textures.len())),
        ("images", images(scene)),
        ("skins", skins(scene)),
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

fn images(scene: &Scene) -> String {
    let read: Vec<(u32, u32)> = scene.images.iter().map(|image| image.size).filter(|size| *size != (0, 0)).collect();
    let mut parts = list(read.iter().map(|(width, height)| format!("{width} × {height}")));
    match scene.images.len() - read.len() {
        0 => {}
        unread if read.is_empty() => return format!("{unread}, not read"),
        unread => parts.push(format!("{unread} not read")),
    }
    with_parts(scene.images.len(), &parts)
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

/// All extensions, and which of them the file cannot do without.
fn extensions(scene: &Scene) -> String {
    let (used, required) = (&scene.extensions_used, &scene.extensions_required);
    let only_required = required.iter().filter(|name| !used.contains(name));
    let tell = |name: &String| match required.contains(name) {
        true => format!("{} (required)", printable(name)),
        false => printable(name),
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

/// A line for each animation, in columns.
fn animation_lines(animations: &[Animation]) -> Vec<String> {
    let rows: Vec<[String; 5]> = animations.iter().enumerate().map(animation_cells).collect();
    let [index, name, length, channels, keys] =
        std::array::from_fn(|column| width(rows.iter().map(|row| &row[column])));
    let line =
        |[a, b, c, d, e]: &[String; 5]| format!("{a:>index$}  {b:<name$}  {c:>length$}  {d:>channels$}  {e:>keys$}");
    rows.iter().map(line).collect()
}

fn animation_cells((index, animation): (usize, &Animation)) -> [String; 5] {
    let keys = animation.channels.iter().map(|channel| channel.times.len()).sum();
    [
        index.to_string(),
        animation.name.as_deref().map_or("(no name)".into(), printable),
        format!("{:.3} s", animation.duration),
        counted(animation.channels.len(), "channel"),
        counted(keys, "key"),
    ]
}

fn width<'a>(cells: impl Iterator<Item = &'a String>) -> usize {
    cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
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
