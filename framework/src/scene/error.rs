//! What can be wrong with a file: errors, which stop the loading, and warnings, which do not.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file that cannot be loaded. Displayed as one sentence that names the file.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct LoadError {
    /// The model file, as it was given to [`Scene::load`](super::Scene::load).
    pub file: PathBuf,
    /// What is wrong with it.
    pub problem: Problem,
}

/// Why a file cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The model file itself cannot be read.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// The file is neither glTF's JSON nor its binary container, or a broken one.
    #[error("{0}")]
    Container(String),
    /// The file is written for another version of glTF.
    #[error("{0}")]
    Version(String),
    /// The file requires an extension that is not supported.
    #[error("needs {0}, which is not supported; export the model without it")]
    Extension(String),
    /// A rule of glTF is broken.
    #[error("{path}: {rule}")]
    Rule {
        /// Where: a JSON pointer such as `/accessors/3`, empty for the whole file.
        path: String,
        /// The rule, and what the file has instead.
        rule: String,
    },
}

/// A [`Problem::Rule`]: `rule` is broken at `path`.
pub(super) fn broken(path: impl Display, rule: impl Display) -> Problem {
    Problem::Rule { path: one_line(&path.to_string()), rule: one_line(&rule.to_string()) }
}

/// Text that may quote a file, fit for a line: without control characters and not endless.
pub(super) fn one_line(text: &str) -> String {
    const LONGEST: usize = 300;
    let mut line: String = text.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(LONGEST).is_some() {
        line.push('…');
    }
    line
}

/// Collects warnings: places, and the rules that are broken there. What goes wrong in the same way at many places is told
/// once, with a count.
#[derive(Default)]
pub(super) struct Warnings(Mutex<Vec<(String, String)>>);

impl Warnings {
    /// Tells that `rule` is broken at `path` and, in the same words, what is done about it.
    pub(super) fn add(&self, path: impl Display, rule: impl Display) {
        self.all().push((one_line(&path.to_string()), one_line(&rule.to_string())));
    }

    /// Adds the warnings of a part that was imported on its own.
    pub(super) fn append(&self, other: Warnings) {
        self.all().append(&mut other.all());
    }

    fn all(&self) -> MutexGuard<'_, Vec<(String, String)>> {
        // A list of warnings is whole whatever happened to the thread that had it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the same for `count` of a thing's elements, if there are any.
    pub(super) fn add_count(&self, count: usize, path: impl Display, rule: impl Display) {
        match count {
            0 => {}
            1 => self.add(path, rule),
            _ => self.add(path, format!("{rule} ({count} times)")),
        }
    }

    /// The warnings as sentences, in the order in which they were met.
    pub(super) fn into_sentences(self) -> Vec<String> {
        // In the order of their first occurrence: the first place, the rule, how many other places.
        let mut list: Vec<(String, String, usize)> = Vec::new();
        let (mut by_rule, mut told) = (HashMap::<String, usize>::new(), HashSet::new());
        for (path, rule) in std::mem::take(&mut *self.all()) {
            // Accessors are read more than once.
            if !told.insert((path.clone(), rule.clone())) {
                continue;
            }
            match by_rule.get(&rule) {
                Some(&known) => list[known].2 += 1,
                None => {
                    by_rule.insert(rule.clone(), list.len());
                    list.push((path, rule, 0));
                }
            }
        }
        let sentence = |(path, rule, more)| match more {
            0 => format!("{path}: {rule}"),
            1 => format!("{path}: {rule} (and at 1 more place)"),
            _ => format!("{path}: {rule} (and at {more} more places)"),
        };
        list.into_iter().map(sentence).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_told_once_with_a_count() {
        let warnings = Warnings::default();
        for node in [4, 7, 9, 7] {
            warnings.add(format!("/nodes/{node}"), "is odd");
        }
        warnings.add("/nodes/4", "is even");
        warnings.add_count(0, "/nodes/4", "is not told");
        assert_eq!(warnings.into_sentences(), ["/nodes/4: is odd (and at 2 more places)", "/nodes/4: is even"]);
    }

    #[test]
    fn quoted_text_stays_on_one_line() {
        assert_eq!(one_line("a\nb\u{1b}c"), "a b c");
        assert_eq!(one_line(&"x".repeat(1000)).chars().count(), 301);
    }
}
