//! The picture of the README.

#[test]
fn golden() {
    tools::golden::check(env!("CARGO_BIN_EXE_template"), env!("CARGO_MANIFEST_DIR"), &["--size", "960x540"]);
}
