//! The README tells of all samples.

use std::path::Path;

use tools::readme;

#[test]
fn the_readme_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the source tree is there");
    let samples = readme::samples(&root).unwrap_or_else(|error| panic!("{error:#}"));
    let text = std::fs::read_to_string(root.join("README.md")).expect("there is a README");
    let written = readme::with_samples(&text, &samples).unwrap_or_else(|error| panic!("{error:#}"));
    assert!(written == text, "README.md does not tell what the samples do: run `cargo run -p tools --bin readme`");
}
