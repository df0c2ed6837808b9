//! The environment BRDF against numbers from outside, and the environments of the folder assets.

use ashwright::environment::{Environment, environment_brdf_at};
use serde_json::Value;
use tools::corpus;

#[test]
fn the_brdf_is_the_reference_s() {
    let Some(spec) = corpus::spec() else { return };
    let text = std::fs::read_to_string(spec.join("brdf.json")).expect("the numbers can be read");
    let numbers: Value = serde_json::from_str(&text).expect("the numbers are JSON");
    let split_sum = &numbers["split_sum"];
    let number = |value: &Value, key: &str| value[key].as_f64().unwrap_or_else(|| panic!("{key} is missing")) as f32;
    let tolerance = number(split_sum, "tolerance");
    let rows = split_sum["height_correlated_smith"].as_array().expect("there are rows");
    assert!(!rows.is_empty());
    for row in rows {
        let [a, b] = environment_brdf_at(number(row, "NoV"), number(row, "roughness"));
        let differences = [a - number(row, "A"), b - number(row, "B")];
        assert!(differences.iter().all(|difference| difference.abs() < tolerance), "{row}: {a}, {b}");
    }
}

#[test]
fn the_assets_are_read() {
    for (name, has_sun) in [("sky", true), ("studio", false)] {
        let file = ashwright::asset(&format!("environments/{name}.ktx2")).expect("it is there");
        assert!(file.metadata().expect("it is a file").len() < 2_000_000, "{name} is too large");
        let environment = Environment::read(file).expect("it can be read");
        assert!(environment.size >= 256 && environment.levels.len() == 6, "{name}");
        assert_eq!(environment.sun.is_some(), has_sun, "{name}");
        let mean = environment.irradiance[0];
        assert!(mean.min_element() > 0.1 && mean.max_element() < 1.0, "{name}: {mean}");
    }
}
