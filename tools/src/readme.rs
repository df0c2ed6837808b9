//! The part of the README that the samples' own Cargo.toml files tell: a gallery and a table.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use serde::Deserialize;

/// The lines between which the README is written here.
const MARKERS: [&str; 2] = ["<!-- samples -->", "<!-- /samples -->"];

/// Pictures in a row of the gallery.
const COLUMNS: usize = 3;

/// The category that comes before the others.
const FIRST_CATEGORY: &str = "Basics";

/// What a sample says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The name of its package, binary and folder.
    pub name: String,
    /// Its name in prose.
    pub title: String,
    /// The technique's field.
    pub category: String,
    /// What it is, in a line: the package's description.
    pub summary: String,
    /// What one can learn from it.
    pub shows: Vec<String>,
}

#[derive(Deserialize)]
struct Manifest {
    package: Package,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    description: String,
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    sample: SampleMetadata,
}

#[derive(Deserialize)]
struct SampleMetadata {
    title: String,
    category: String,
    shows: Vec<String>,
}

/// The samples of a source tree, by name.
///
/// # Errors
///
/// A sample that lacks its metadata, README, golden picture or the test of that.
pub fn samples(root: &Path) -> Result<Vec<Sample>> {
    let folder = root.join("samples");
    let entries = std::fs::read_dir(&folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let mut folders = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    folders.iter().map(|folder| sample(folder)).collect()
}

fn sample(folder: &Path) -> Result<Sample> {
    for (file, remedy) in [
        ("Cargo.toml", "every folder here is a sample's"),
        ("README.md", "write what one sees, what it shows, and its traps"),
        ("tests/golden.rs", "copy it from another sample"),
        ("golden.png", "run tools/test --bless and look at the picture"),
    ] {
        let path = folder.join(file);
        if !path.is_file() {
            bail!("{} is missing; {remedy}", path.display());
        }
    }
    let path = folder.join("Cargo.toml");
    let text = std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    let package = package(&text).with_context(|| path.display().to_string())?;
    if folder.file_name().is_none_or(|name| name != package.name.as_str()) {
        bail!("{}: the package is named {}; name it as its folder", path.display(), package.name);
    }
    let SampleMetadata { title, category, shows } = package.metadata.sample;
    Ok(Sample { name: package.name, title, category, summary: package.description, shows })
}

fn package(manifest: &str) -> Result<Package> {
    let manifest: Manifest = toml::from_str(manifest).map_err(|error| {
        anyhow!(
            "{}; a sample has a description, and a title, a category and shows in [package.metadata.sample]",
            error.message()
        )
    })?;
    Ok(manifest.package)
}

/// A README whose part between the markers tells of these samples.
///
/// # Errors
///
/// A README without the markers.
pub fn with_samples(readme: &str, samples: &[Sample]) -> Result<String> {
    let [start, end] = MARKERS;
    let parts = readme.split_once(start).and_then(|(before, rest)| Some((before, rest.split_once(end)?.1)));
    let (before, after) =
        parts.with_context(|| format!("README.md lacks the line {start} or, after it, the line {end}; add them"))?;
    Ok(format!("{before}{start}\n\n{}\n{}\n{end}{after}", gallery(samples), table(samples)))
}

/// The samples' pictures with their titles below, each a link to the sample's README.
fn gallery(samples: &[Sample]) -> String {
    let columns = samples.len().min(COLUMNS);
    let mut lines = Vec::new();
    for samples in by_category(samples).chunks(COLUMNS) {
        let picture = |s: &&Sample| format!("[![{}](samples/{}/golden.png)]({})", cell(&s.title), s.name, page(s));
        let title = |s: &&Sample| format!("[{}]({})", cell(&s.title), page(s));
        lines.push(row(samples.iter().map(picture), columns));
        if lines.len() == 1 {
            lines.push(row((0..columns).map(|_| ":---:".to_owned()), columns));
        }
        lines.push(row(samples.iter().map(title), columns));
    }
    lines.concat()
}

/// A table for each category.
fn table(samples: &[Sample]) -> String {
    let samples = by_category(samples);
    let category = |samples: &[&Sample]| {
        let line = |s: &&Sample| {
            row([format!("[{}]({})", cell(&s.name), page(s)), cell(&s.summary), cell(&s.shows.join(", "))], 3)
        };
        let lines: String = samples.iter().map(line).collect();
        format!("### {}\n\n| sample | is | shows |\n| --- | --- | --- |\n{lines}", samples[0].category)
    };
    let categories = samples.chunk_by(|a, b| a.category == b.category).map(category);
    categories.collect::<Vec<_>>().join("\n")
}

/// Samples sorted by category, those of a category by title.
fn by_category(samples: &[Sample]) -> Vec<&Sample> {
    let mut sorted: Vec<&Sample> = samples.iter().collect();
    sorted.sort_by_key(|sample| (sample.category != FIRST_CATEGORY, &sample.category, &sample.title));
    sorted
}

fn page(sample: &Sample) -> String {
    format!("samples/{}/README.md", sample.name)
}

/// A row of a Markdown table, filled up with empty cells.
fn row(cells: impl IntoIterator<Item = String>, columns: usize) -> String {
    let mut cells: Vec<String> = cells.into_iter().collect();
    cells.resize(columns.max(cells.len()), String::new());
    format!("| {} |\n", cells.join(" | "))
}

/// Text for a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, category: &str) -> Sample {
        Sample {
            name: name.into(),
            title: name.to_uppercase(),
            category: category.into(),
            summary: format!("{name} a|b"),
            shows: vec!["one".into(), "two".into()],
        }
    }

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let readme = "# Title\n\n<!-- samples -->\nold\n<!-- /samples -->\n\nEnd\n";
        let written = with_samples(readme, &[named("a", "Light"), named("b", "Basics")]).expect("it has markers");
        let expected = "# Title\n\n<!-- samples -->\n\n\
            | [![B](samples/b/golden.png)](samples/b/README.md) | [![A](samples/a/golden.png)](samples/a/README.md) |\n\
            | :---: | :---: |\n\
            | [B](samples/b/README.md) | [A](samples/a/README.md) |\n\n\
            ### Basics\n\n| sample | is | shows |\n| --- | --- | --- |\n\
            | [b](samples/b/README.md) | b a\\|b | one, two |\n\n\
            ### Light\n\n| sample | is | shows |\n| --- | --- | --- |\n\
            | [a](samples/a/README.md) | a a\\|b | one, two |\n\n\
            <!-- /samples -->\n\nEnd\n";
        assert_eq!(written, expected);
        assert_eq!(with_samples(&written, &[named("a", "Light"), named("b", "Basics")]).expect("it has"), written);
    }

    #[test]
    fn rows_of_the_gallery_are_equally_long() {
        let samples: Vec<Sample> = ["a", "b", "c", "d"].map(|name| named(name, "Light")).into();
        let gallery = gallery(&samples);
        let lines: Vec<&str> = gallery.lines().collect();
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[4], "| [D](samples/d/README.md) |  |  |");
    }

    #[test]
    fn what_is_missing_is_said() {
        for text in ["", "<!-- samples -->", "<!-- /samples --> <!-- samples -->"] {
            let error = with_samples(text, &[]).expect_err("a marker is missing").to_string();
            assert!(error.contains("<!-- /samples -->; add them"), "{error}");
        }
        let error = package("[package]\nname = \"a\"\ndescription = \"b\"").err().expect("no metadata").to_string();
        assert!(error.contains("`metadata`") && error.contains("[package.metadata.sample]"), "{error}");
        assert_eq!(error.lines().count(), 1);

        let root = tempfile::tempdir().expect("a temporary folder");
        let folder = root.path().join("samples/a");
        std::fs::create_dir_all(folder.join("tests")).expect("a folder");
        let manifest = "[package]\nname = \"b\"\ndescription = \"B\"\n\
            [package.metadata.sample]\ntitle = \"B\"\ncategory = \"C\"\nshows = []\n";
        let files = [("Cargo.toml", manifest), ("README.md", ""), ("tests/golden.rs", ""), ("golden.png", "")];
        for (file, text) in files {
            let error = samples(root.path()).expect_err("a file is missing").to_string();
            assert!(error.contains(&format!("{file} is missing; ")), "{error}");
            std::fs::write(folder.join(file), text).expect("a file");
        }
        let error = samples(root.path()).expect_err("the name differs").to_string();
        assert!(error.contains("the package is named b; name it as its folder"), "{error}");
    }
}
