//! A copy of the template builds and passes its tests at once.
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Output};

/// What a build needs of the workspace.
const PARTS: [&str; 8] =
    ["Cargo.toml", "Cargo.lock", "README.md", "rustfmt.toml", "framework", "samples", "shaders", "tools"];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let target = root().join("target");
    Command::new(program)
        .args(arguments)
        .current_dir(folder)
        // What was built of the dependencies serves the copy too.
        .env("CARGO_TARGET_DIR", std::env::var_os("CARGO_TARGET_DIR").unwrap_or(target.into()))
        // But not the packages of the workspace, which would take each other's place: with a profile of its own they do not.
        .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
        .env("ASHWRIGHT_ASSETS", root().join("assets"))
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"))
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_copy_of_the_template_passes_its_tests() {
    let copy = tempfile::tempdir().expect("a temporary folder");
    for part in PARTS {
        let copied = Command::new("cp").arg("-r").arg(root().join(part)).arg(copy.path()).status();
        assert!(copied.is_ok_and(|status| status.success()), "{part} cannot be copied");
    }

    let made = run(copy.path(), "tools/new-sample", &["my_idea"]);
    assert!(made.status.success(), "{}", text(&made));
    let read = |file: &str| std::fs::read_to_string(copy.path().join(file)).expect("new-sample has written it");
    for file in ["Cargo.toml", "README.md", "src/main.rs", "tests/golden.rs"] {
        let content = read(&format!("samples/my_idea/{file}"));
        assert!(!content.to_lowercase().contains("template"), "{file} still names the template");
        assert!(!content.contains("new-sample"), "{file} still tells how to copy");
    }
    assert!(read("README.md").contains("samples/my_idea/README.md"), "the table lists it");
    assert!(read("Cargo.lock").contains("\"my_idea\""), "Cargo.lock lists it");

    let tested = run(copy.path(), "cargo", &["test", "--locked", "--package", "my_idea"]);
    assert!(tested.status.success(), "{}", text(&tested));
    assert!(text(&tested).contains("3 passed"), "{}", text(&tested));

    let again = run(copy.path(), "tools/new-sample", &["my_idea"]);
    assert_eq!(again.status.code(), Some(1), "{}", text(&again));
}

#[test]
fn other_names_are_refused() {
    for name in ["", "My-Idea", "9lives", "a__b", "../up", "skinning", "ash", "crate"] {
        let refused = run(root(), "tools/new-sample", &[name]);
        assert!(matches!(refused.status.code(), Some(1 | 2)), "{name}: {}", text(&refused));
        assert_eq!(text(&refused).lines().count(), 1, "{name}: {}", text(&refused));
    }
}
