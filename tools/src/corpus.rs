//! Models and numbers that are not part of the project, to test against where they are present.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::oracle::{self, Expected};
use crate::sample;

/// The one model of `dev` that requires what cannot be had: an extension that was made up for the purpose.
const REFUSED: &str = "AssetGenerator/Compatibility/Compatibility_05.gltf";
const MADE_UP: &str = "FAKE_materials_quantumRendering";

/// The folder `gltf` of the extra corpora: `$ASHWRIGHT_CORPUS`, else `../shared/gltf` beside the
/// repository. `None`, said on standard error, where there is none: tests that need it are skipped.
pub fn gltf() -> Option<PathBuf> {
    present(gltf_folder())
}

/// The folder `spec`, of numbers to test against, beside the folder that [`gltf`] looks for. `None` as there.
pub fn spec() -> Option<PathBuf> {
    present(gltf_folder().with_file_name("spec"))
}

fn gltf_folder() -> PathBuf {
    match std::env::var_os("ASHWRIGHT_CORPUS") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/gltf")),
    }
}

fn present(folder: PathBuf) -> Option<PathBuf> {
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("SKIPPED: no corpus at {} (set ASHWRIGHT_CORPUS)", folder.display());
    None
}

/// All `.gltf` and `.glb` files below a folder, sorted.
pub fn models(folder: &Path) -> Vec<PathBuf> {
    let mut models = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            match path.extension().and_then(|extension| extension.to_str()) {
                _ if path.is_dir() => folders.push(path),
                Some("gltf" | "glb") => models.push(path),
                _ => {}
            }
        }
    }
    models.sort();
    models
}

/// Runs a check over models, a few at a time, and collects what is wrong with them in their order.
///
/// # Panics
///
/// If the check does.
pub fn failures(models: &[PathBuf], check: impl Fn(&Path) -> Option<String> + Sync) -> Vec<String> {
    // A sample that starts mostly waits: for files, for the driver, for its one thread that reads the model.
    let at_a_time = 2 * std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let work = || {
        let models = std::iter::from_fn(|| models.get(next.fetch_add(1, Ordering::Relaxed)));
        models.filter_map(|model| Some((model, check(model)?))).collect::<Vec<_>>()
    };
    let mut failures = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..at_a_time).map(|_| scope.spawn(work)).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.flat_map(|found| found.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect::<Vec<_>>()
    });
    failures.sort();
    failures.into_iter().map(|(_, failure)| failure).collect()
}

/// Draws all models of `dev` with a sample under strict validation. Skipped where there is no corpus.
///
/// # Panics
///
/// If one cannot be drawn, the picture is empty, or the one that has to be refused is not.
pub fn check_all_are_drawn(binary: &str) {
    let Some(corpus) = gltf() else { return };
    let models = models(&corpus.join("dev"));
    assert!(models.len() > 100, "only {} models", models.len());
    let failures = failures(&models, |model| match model.ends_with(REFUSED) {
        true => refusal_failure(binary, model),
        false => drawing_failure(binary, model, &[]),
    });
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(models.iter().any(|model| model.ends_with(REFUSED)), "the corpus has changed");
}

/// What is wrong with the picture of a model.
pub fn drawing_failure(binary: &str, model: &Path, more: &[&str]) -> Option<String> {
    let name = model.display();
    let path = model.to_str().expect("the corpus's path is Unicode");
    // Without a stage all that is not the background is of the model.
    let options =
        [path, "--size", "320x180", "--time", "0.4", "--frames", "3", "--no-stage", "--background", "0.5,0,1"];
    let (ended, picture) = sample::draw(binary, [&options, more].concat());
    let Some(picture) = picture else { return Some(format!("{name} {more:?}: {:?} {}", ended.code, ended.stderr)) };
    if !ended.stderr.is_empty() {
        println!("{name}: {}", ended.stderr.trim_end());
    }
    let background = picture.get_pixel(0, 0);
    picture.pixels().all(|pixel| pixel == background).then(|| format!("{name} {more:?}: an empty picture"))
}

fn refusal_failure(binary: &str, model: &Path) -> Option<String> {
    let (ended, _) = sample::draw(binary, [model]);
    let words = ["error: ", "Compatibility_05.gltf", MADE_UP];
    let is_refused = ended.code == Some(1) && words.iter().all(|word| ended.stderr.contains(word));
    (!is_refused).then(|| format!("{}: {ended:?}", model.display()))
}

/// A broken or hostile file.
pub struct Invalid {
    /// Its name in the corpus's manifest.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// Whether it must load or must not; `None`: either.
    pub loads: Option<bool>,
}

/// The files of the corpus's `invalid`.
///
/// # Panics
///
/// If its manifest cannot be read.
pub fn invalid(corpus: &Path) -> Vec<Invalid> {
    let manifest = corpus.join("invalid/MANIFEST.tsv");
    let text = std::fs::read_to_string(&manifest).unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
    let invalid = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let loads = match columns[3] {
            "load" => Some(true),
            "reject" => Some(false),
            _ => None,
        };
        Invalid { name: columns[0].to_owned(), file: corpus.join("invalid").join(columns[0]), loads }
    };
    text.lines().skip(1).map(invalid).collect()
}

/// The models of the corpus's `field`, each with its name and what is expected of it.
///
/// # Panics
///
/// If one cannot be found.
pub fn field(corpus: &Path) -> Vec<(String, PathBuf, Expected)> {
    let folder = corpus.join("field");
    let model = |path: PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        (name.clone(), field_model(&folder, &name), oracle::read_json(&path))
    };
    entries(&folder.join("expect")).into_iter().map(model).collect()
}

/// The file that `expect/NAME.json` is about: `A05` is `A05-*/model.gltf`, `A17-x` is `A17-*/x.*`.
fn field_model(field: &Path, name: &str) -> PathBuf {
    let (condition, file) = name.split_once('-').unwrap_or((name, "model"));
    let condition = format!("{condition}-");
    let is_of_condition =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&condition));
    let is_model = |path: &PathBuf| {
        path.file_stem().is_some_and(|stem| stem == file)
            && path.extension().is_some_and(|extension| extension == "gltf" || extension == "glb")
    };
    let folder = entries(field).into_iter().find(is_of_condition);
    let model = folder.and_then(|folder| entries(&folder).into_iter().find(is_model));
    model.unwrap_or_else(|| panic!("{}: there is no model {name}", field.display()))
}

/// What is in a folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}
