//! Which of two GPUs is taken: one software driver, installed twice and disguised.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::{env, fs};

use tools::faults::Faults;
use tools::sample;

const TRIANGLE: &str = env!("CARGO_BIN_EXE_triangle");

/// The manifest of Mesa's software driver. `None`, said on standard error, where it is in none of the usual folders.
fn software_driver() -> Option<PathBuf> {
    let folders = ["/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/usr/share/vulkan/icd.d"];
    let files = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let mut paths = files.filter_map(|file| Some(file.ok()?.path()));
    let is_software = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("lvp_icd"));
    let found = paths.find(|path| is_software(path));
    if found.is_none() {
        eprintln!("SKIPPED: no manifest lvp_icd*.json in {}", folders.join(", "));
    }
    found
}

/// Runs the sample headless with two GPUs of these types; the name of the one it makes its device of, which says type and
/// place. `None` without a software driver.
fn chosen(types: [&str; 2], options: &[&str]) -> Option<String> {
    let driver = software_driver()?;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let drivers = ["first.json", "second.json"].map(|name| folder.path().join(name));
    for copy in &drivers {
        fs::copy(&driver, copy).expect("the manifest can be copied");
    }
    let drivers = env::join_paths(drivers).expect("paths without separators");
    let options = [&["--headless", "--size", "16x16", "--validation", "strict"], options].concat();
    let mut command = sample::command(TRIANGLE, options);
    // The second variable is the first one's name in older loaders. Mesa's own layer would sort the devices.
    command.env("VK_DRIVER_FILES", &drivers).env("VK_ICD_FILENAMES", &drivers).env("NODEVICE_SELECT", "1");
    let faults = Faults::inject(&mut command, &[("FAULT_DEVICE_TYPES", &types.join(","))]);
    let ended: sample::Ended = command.current_dir(folder.path()).output().expect("the sample can be started").into();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let log = faults.log();
    let made: Vec<_> = log.iter().filter_map(|line| line.strip_prefix("vkCreateDevice ")).collect();
    let [name] = made[..] else { panic!("one device, not {log:?}") };
    Some(name.to_owned())
}

#[test]
fn the_better_kind_is_taken_in_either_order() {
    let kinds =
        [("discrete", "DISCRETE_GPU"), ("integrated", "INTEGRATED_GPU"), ("virtual", "VIRTUAL_GPU"), ("cpu", "CPU")];
    for (better, (kind, name)) in kinds.iter().enumerate() {
        for (worse, _) in &kinds[better + 1..] {
            let Some(first) = chosen([kind, worse], &[]) else { return };
            assert_eq!(first, format!("{name} 0"), "{kind} before {worse}");
            let Some(second) = chosen([worse, kind], &[]) else { return };
            assert_eq!(second, format!("{name} 1"), "{kind} after {worse}");
        }
    }
}

#[test]
fn of_equals_the_first_is_taken() {
    let Some(name) = chosen(["discrete", "discrete"], &[]) else { return };
    assert_eq!(name, "DISCRETE_GPU 0");
}

#[test]
fn the_command_line_overrides_the_choice() {
    let cases = [("0", "DISCRETE_GPU 0"), ("1", "CPU 1"), ("cpu", "CPU 1"), ("Discrete", "DISCRETE_GPU 0")];
    for (gpu, expected) in cases {
        let Some(name) = chosen(["discrete", "cpu"], &["--gpu", gpu]) else { return };
        assert_eq!(name, expected, "--gpu {gpu}");
    }
}
