//! Numbers and vectors of the command line, for clap's `value_parser`.

use std::str::FromStr;

use anyhow::{Result, anyhow, bail};
use glam::Vec3;

pub(crate) fn number<T: FromStr>(text: &str) -> Option<T> {
    text.trim().parse().ok()
}

/// A number that is neither infinite nor NaN.
///
/// # Errors
///
/// It is none.
pub fn finite(text: &str) -> Result<f32> {
    number(text).filter(|number: &f32| number.is_finite()).ok_or_else(|| anyhow!("not a number"))
}

/// A number of at least 0.
///
/// # Errors
///
/// It is none.
pub fn positive(text: &str) -> Result<f32> {
    match finite(text)? {
        number if number >= 0.0 => Ok(number),
        _ => bail!("at least 0"),
    }
}

/// Three finite numbers, as in `1,-0.5,2`.
///
/// # Errors
///
/// They are none.
pub fn vector(text: &str) -> Result<Vec3> {
    let numbers = text.split(',').map(finite).collect::<Result<Vec<_>>>();
    match numbers.as_deref() {
        Ok(&[x, y, z]) => Ok(Vec3::new(x, y, z)),
        _ => bail!("three numbers are written like 1,-0.5,2"),
    }
}
