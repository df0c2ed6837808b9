//! The rooms of the framework have doors in one direction only.

use std::path::{Path, PathBuf};

/// Each room with the rooms whose doors it may open.
const DOORS: [(&str, &[&str]); 11] = [
    ("gpu", &[]),
    ("scene", &[]),
    ("environment", &["gpu"]),
    ("camera", &[]),
    ("knobs", &[]),
    ("parse", &[]),
    ("frame", &["camera", "gpu"]),
    ("shaders", &[]),
    ("model", &["environment", "frame", "gpu", "scene", "shaders"]),
    ("stage", &["frame", "gpu", "scene", "shaders"]),
    ("app", &["camera", "frame", "gpu", "parse", "scene", "stage"]),
];

fn source_files(room: &str) -> Vec<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let file = source.join(format!("{room}.rs"));
    if file.exists() {
        return vec![file];
    }
    let entries = std::fs::read_dir(source.join(room)).unwrap_or_else(|error| panic!("{room}: {error}"));
    entries.map(|entry| entry.expect("it can be listed").path()).collect()
}

/// The rooms that a text names by `crate::ROOM`.
fn rooms_named(text: &str) -> impl Iterator<Item = &str> {
    text.split("crate::")
        .skip(1)
        .map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default())
}

#[test]
fn no_room_knows_a_room_above_it() {
    for (room, doors) in DOORS {
        for file in source_files(room) {
            let text = std::fs::read_to_string(&file).expect("it can be read");
            for named in rooms_named(&text) {
                let is_room = DOORS.iter().any(|(known, _)| *known == named);
                let open = named == room || doors.contains(&named);
                assert!(!is_room || open, "{} opens the door to {named}", file.display());
                let front_door = match room {
                    "app" => ["asset", "run"].contains(&named),
                    "environment" => ["asset", "asset_names"].contains(&named),
                    _ => false,
                };
                assert!(is_room || front_door, "{} names crate::{named}, which is no room", file.display());
            }
        }
    }
}

#[test]
fn every_source_file_is_in_a_room() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in std::fs::read_dir(source).expect("it can be listed") {
        let path = entry.expect("it can be listed").path();
        let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        assert!(name == "lib" || DOORS.iter().any(|(room, _)| *room == name), "{name} is in no room");
    }
}
