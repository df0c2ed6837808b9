//! Running a sample as its user would.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use image::RgbaImage;

/// The name of Mesa's software driver, whose pictures are the golden ones.
pub const SOFTWARE_GPU: &str = "llvmpipe";

/// How a sample ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// The command that runs a sample with these options, its output to be collected, and without a display.
pub fn command<S: AsRef<std::ffi::OsStr>>(binary: impl AsRef<Path>, options: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(binary.as_ref());
    command.args(options).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    command
}

/// Runs a sample to its end.
///
/// # Panics
///
/// If it cannot be started.
pub fn run<S: AsRef<std::ffi::OsStr>>(binary: impl AsRef<Path>, options: impl IntoIterator<Item = S>) -> Ended {
    let output = command(binary, options).output().expect("the sample can be started");
    output.into()
}

/// Whether the software driver is among the GPUs.
pub fn has_software_gpu(binary: impl AsRef<Path>) -> bool {
    run(binary, ["--list-gpus"]).stdout.contains(SOFTWARE_GPU)
}

/// Draws a picture headless under strict validation, with these options. `None` where the sample fails.
///
/// # Panics
///
/// If it cannot be started, or leaves no picture although all went well.
pub fn draw<S: AsRef<std::ffi::OsStr>>(
    binary: impl AsRef<Path>,
    options: impl IntoIterator<Item = S>,
) -> (Ended, Option<RgbaImage>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("picture.png");
    let mut command = command(binary, options);
    command.args(["--headless", "--validation", "strict", "--screenshot"]).arg(&path);
    let ended: Ended = command.output().expect("the sample can be started").into();
    let picture = (ended.code == Some(0)).then(|| image::open(path).expect("it was written").into_rgba8());
    (ended, picture)
}

/// As [`draw`], of a sample that goes well and has nothing to say.
///
/// # Panics
///
/// If it fails, or has.
pub fn picture<S: AsRef<std::ffi::OsStr>>(binary: impl AsRef<Path>, options: impl IntoIterator<Item = S>) -> RgbaImage {
    let (ended, picture) = draw(binary, options);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    picture.expect("it went well")
}
