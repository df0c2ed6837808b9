//! Running a sample as its user would.

use std::path::Path;
use std::process::{Command, Output, Stdio};

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
