//! A sample over a driver that misbehaves: the layer of the crate `fault-layer`, and the log it keeps.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};

use tempfile::TempDir;
use x11rb::protocol::xproto::Window;

use crate::display::{self, Display};
use crate::sample::{self, Ended};

/// The layer, put under a command.
pub struct Faults {
    folder: TempDir,
}

impl Faults {
    /// Puts the layer between what the command will run and its validation layer, which the program itself asks for.
    /// `variables` are those of the crate `fault-layer`, and others to set with them; `FAULT_LOG` is set besides.
    ///
    /// # Panics
    ///
    /// If the layer was not built, or the temporary folder cannot be written to.
    pub fn inject(command: &mut Command, variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let library = std::env::current_exe().expect("the test has a path").with_file_name(fault_layer::LIBRARY);
        assert!(library.is_file(), "{} was not built", library.display());
        fs::write(folder.path().join("fault.json"), fault_layer::manifest(&library)).expect("it can be written");
        // Where the search path is replaced, what is to be added to it is not looked at.
        let path = ["VK_LAYER_PATH", "VK_ADD_LAYER_PATH"].into_iter().find(|name| std::env::var_os(name).is_some());
        let path = path.unwrap_or("VK_ADD_LAYER_PATH");
        let folders = std::env::var_os(path).unwrap_or_default();
        let folders = [folder.path().to_path_buf()].into_iter().chain(std::env::split_paths(&folders));
        command
            .env(path, std::env::join_paths(folders).expect("folders without separators in their names"))
            .env("VK_INSTANCE_LAYERS", fault_layer::NAME)
            .env("FAULT_LOG", folder.path().join("log"))
            .envs(variables.iter().copied());
        Self { folder }
    }

    /// The lines of the log so far.
    pub fn log(&self) -> Vec<String> {
        let log = fs::read_to_string(self.log_path()).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// How many lines of the log so far begin with this.
    pub fn count(&self, beginning: &str) -> usize {
        self.log().iter().filter(|line| line.starts_with(beginning)).count()
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path().join("log")
    }
}

/// A sample that runs in a window over the layer, with all that validation checks.
pub struct Running<'a> {
    /// Where its window is.
    pub display: &'a Display,
    /// Its window.
    pub window: Window,
    /// What the layer does, and what it has seen.
    pub faults: Faults,
    process: Child,
}

impl<'a> Running<'a> {
    /// Starts a sample and waits for its window.
    ///
    /// # Panics
    ///
    /// If it does not open one.
    pub fn start(display: &'a Display, binary: &str, options: &[&str], variables: &[(&str, &str)]) -> Self {
        let (mut process, faults) = spawn(display, binary, options, variables);
        let window = display.window_of(&mut process);
        Self { display, window, faults, process }
    }

    /// The id of its process.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Waits until it has presented so many frames more.
    ///
    /// # Panics
    ///
    /// If it does not.
    pub fn wait_for_frames(&self, more: usize) {
        let presented = || self.faults.count("vkQueuePresentKHR");
        let before = presented();
        display::wait_for("frames", || (presented() >= before + more).then_some(()));
    }

    /// Waits until it draws at a size: its newest swapchain has it, and a frame was presented since.
    ///
    /// # Panics
    ///
    /// If it does not.
    pub fn wait_for_size(&self, width: u32, height: u32) {
        let size = format!(" {width}x{height}");
        display::wait_for(&format!("the size{size}"), || {
            let log = self.faults.log();
            let made = log.iter().rposition(|line| line.starts_with("vkCreateSwapchainKHR"))?;
            let drawn = log[made..].iter().any(|line| line.starts_with("vkQueuePresentKHR"));
            (log[made].ends_with(&size) && drawn).then_some(())
        });
    }

    /// The memory of its process that is in use, bytes.
    ///
    /// # Panics
    ///
    /// If it has ended.
    pub fn resident_memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("the kernel says so");
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
        kilobytes * 1024
    }

    /// Closes its window and expects that it ends as it should.
    ///
    /// # Panics
    ///
    /// If it fails, or has something to say.
    pub fn close(self) -> Faults {
        self.display.close(self.window);
        self.expect_good_end()
    }

    /// Waits until it ends by itself, without a word, and with all destroyed.
    ///
    /// # Panics
    ///
    /// If it fails, has something to say, or leaves its device.
    pub fn expect_good_end(self) -> Faults {
        let (ended, faults) = self.wait_for_end();
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        let log = faults.log();
        let last: Vec<_> = log.iter().rev().take(2).rev().map(String::as_str).collect();
        assert_eq!(last, ["vkDestroyDevice", "vkDestroyInstance"], "of {} lines", log.len());
        faults
    }

    /// Waits until it ends by itself.
    ///
    /// # Panics
    ///
    /// If it does not.
    pub fn wait_for_end(self) -> (Ended, Faults) {
        (display::wait_for_end(self.process), self.faults)
    }
}

fn spawn(display: &Display, binary: &str, options: &[&str], variables: &[(&str, &str)]) -> (Child, Faults) {
    let mut command = sample::command(binary, [&["--validation", "strict"], options].concat());
    let faults = Faults::inject(command.env("DISPLAY", &display.name), variables);
    (command.spawn().expect("the sample can be started"), faults)
}
