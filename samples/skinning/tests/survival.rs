//! What a window goes through, and what a driver may do to it: the sample goes on, or ends with a sentence.
#![cfg(target_os = "linux")]

use tools::display::{Display, wait_for_end};
use tools::faults::{Faults, Running};
use tools::sample;

const SKINNING: &str = env!("CARGO_BIN_EXE_skinning");
const SMALL: &[&str] = &["--size", "320x200"];
const F11: u32 = 0xffc8;
const MEBIBYTE: u64 = 1 << 20;

/// Runs the sample over faults for so many frames, then closes it. `None` without a display.
fn survive(options: &[&str], variables: &[(&str, &str)], frames: usize) -> Option<Faults> {
    let display = Display::start()?;
    let running = Running::start(&display, SKINNING, options, variables);
    running.wait_for_frames(frames);
    Some(running.close())
}

/// Runs the sample until it ends by itself and expects the sentence of a lost device.
fn expect_lost_device(options: &[&str], variable: &str) {
    let Some(display) = Display::start() else { return };
    let options = [SMALL, options].concat();
    let running = Running::start(&display, SKINNING, &options, &[(variable, "device_lost@20")]);
    let (ended, faults) = running.wait_for_end();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.starts_with("error: the GPU was lost"), "{}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    assert_eq!(faults.count("vkDestroyInstance"), 1, "{:?}", faults.log());
}

/// Runs the sample over a surface that is lost once, well before the end, resizes its window, and expects it to go on with
/// another surface.
fn expect_another_surface(variable: &str, fault: &str) {
    let Some(display) = Display::start() else { return };
    let running = Running::start(&display, SKINNING, SMALL, &[(variable, fault)]);
    running.wait_for_frames(25);
    display.resize(running.window, 300, 300);
    running.wait_for_size(300, 300);
    let faults = running.close();
    let (lost, destroyed) = (faults.count("injected ERROR_SURFACE_LOST_KHR"), faults.count("vkDestroySurfaceKHR"));
    assert_eq!((lost, destroyed), (1, 2), "{:?}", faults.log());
}

/// The same numbers each time: Knuth's linear congruential generator, its upper half.
struct Random(u64);

impl Random {
    fn up_to(&mut self, most: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        1 + (self.0 >> 32) as u32 % most
    }
}

/// Resizes a window so many times, mostly faster than it can follow; every third size is waited for.
fn resize_at_random(running: &Running<'_>, random: &mut Random, times: usize) {
    for time in 1..=times {
        let (width, height) = (random.up_to(1920), random.up_to(1080));
        running.display.resize(running.window, width, height);
        if time % 3 == 0 {
            running.wait_for_size(width, height);
        }
    }
}

/// Full screen and back, to the size it had.
fn visit_full_screen(running: &Running<'_>) {
    let (width, height) = running.display.size(running.window);
    for (width, height) in [(1920, 1080), (width.into(), height.into())] {
        // A press brings the window to the front, wherever the manager's focus is.
        running.display.drag(running.window, 1, (0, 0));
        running.display.key(F11);
        running.wait_for_size(width, height);
    }
}

/// The least memory in use at a size, of so many visits; fewer if it is no more than `enough`. Allocators keep blocks for a
/// while: what is seen once is not needed, what is seen each time may be a leak.
fn memory_at_rest(running: &Running<'_>, visits: usize, enough: u64) -> u64 {
    let mut least = u64::MAX;
    for _ in 0..visits {
        for (width, height) in [(1600, 900), (320, 180), (640, 360)] {
            running.display.resize(running.window, width, height);
            running.wait_for_size(width, height);
        }
        running.wait_for_frames(5);
        least = least.min(running.resident_memory());
        if least <= enough {
            break;
        }
    }
    least
}

#[test]
fn resized_minimised_moved_and_full_screen_in_steady_memory() {
    let Some(display) = Display::start() else { return };
    // The C library keeps what is freed below a threshold that it raises as it goes; held low, memory freed is memory given
    // back, and what remains is in use.
    let malloc = ["MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"].map(|name| (name, "65536"));
    let running = Running::start(&display, SKINNING, &["--size", "640x360"], &malloc);
    let mut random = Random(1);
    resize_at_random(&running, &mut random, 30);
    visit_full_screen(&running);
    let before = memory_at_rest(&running, 3, 0);

    resize_at_random(&running, &mut random, 300);
    for _ in 0..20 {
        display.minimise(running.window);
        display.restore(running.window);
        running.wait_for_frames(1);
    }
    for (x, y) in [(0, 0), (900, 500), (-100, -50), (40, 40)] {
        display.move_to(running.window, x, y);
        running.wait_for_frames(1);
    }
    visit_full_screen(&running);
    // At a hundred sizes the smallest image of a window, 2 MiB on average, would add up to 200 MiB if it were left behind
    // each time. What is smaller than images, and left behind for good, the validation layer reports at the end.
    let enough = before + 64 * MEBIBYTE;
    let after = memory_at_rest(&running, 10, enough);
    assert!(after <= enough, "{} MiB before, {} MiB after", before / MEBIBYTE, after / MEBIBYTE);
    let faults = running.close();
    assert!(faults.count("vkCreateSwapchainKHR") >= 100, "the sizes that were waited for");
}

#[test]
fn a_frame_that_once_took_a_software_driver_forever() {
    // A sliver of a triangle whose texture, filtered anisotropically, was a loop without end.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = sample::command(SKINNING, ["--headless", "--size", "320x200", "--time", "1.55", "--no-ui"]);
    let process = command.current_dir(folder.path()).spawn().expect("the sample can be started");
    assert_eq!(wait_for_end(process).code, Some(0));
}

#[test]
fn the_size_does_not_creep_when_the_scale_changes() {
    let Some(display) = Display::start() else { return };
    display.set_resolution(96);
    let running = Running::start(&display, SKINNING, &["--size", "641x361"], &[]);
    running.wait_for_size(641, 361);
    let (mut resolution, mut size) = (96.0, (641.0, 361.0));
    for next in [192, 144, 120, 72, 96].repeat(4) {
        display.set_resolution(next);
        let factor = f64::from(next) / resolution;
        (resolution, size) = (next.into(), (f64::round(size.0 * factor), f64::round(size.1 * factor)));
        running.wait_for_size(size.0 as u32, size.1 as u32);
    }
    assert_eq!(size, (641.0, 361.0), "the roundings cancel out");
    running.close();
}

#[test]
fn x_is_used_where_no_wayland_compositor_answers() {
    survive(SMALL, &[("WAYLAND_DISPLAY", "wayland-nobody")], 3);
}

#[test]
fn fifo_is_taken_where_mailbox_is_not_offered() {
    let options = [SMALL, &["--present-mode", "mailbox"]].concat();
    for (offered, taken) in [("fifo,mailbox", "MAILBOX"), ("fifo", "FIFO")] {
        let Some(faults) = survive(&options, &[("FAULT_PRESENT_MODES", offered)], 3) else { return };
        let (all, right) = ("vkCreateSwapchainKHR ", format!("vkCreateSwapchainKHR {taken} "));
        assert_eq!(faults.count(all), faults.count(&right), "{:?}", faults.log());
    }
}

#[test]
fn always_suboptimal_it_draws_and_recreates_once_a_frame_at_most() {
    for variable in ["FAULT_ACQUIRE", "FAULT_PRESENT"] {
        let Some(faults) = survive(SMALL, &[(variable, "suboptimal")], 30) else { return };
        let log = faults.log();
        let first = log.iter().position(|line| line == "vkQueuePresentKHR").expect("there were frames");
        let frames = log[first..].split(|line| line == "vkQueuePresentKHR");
        let most = frames.map(|frame| frame.iter().filter(|line| line.starts_with("vkCreateSwapchain")).count()).max();
        assert_eq!(most, Some(1), "{variable}: {log:?}");
    }
}

#[test]
fn out_of_date_now_and_then_it_draws_on() {
    let variables = [("FAULT_ACQUIRE", "out_of_date:5"), ("FAULT_PRESENT", "out_of_date:7")];
    let Some(faults) = survive(SMALL, &variables, 40) else { return };
    for function in ["vkAcquireNextImageKHR", "vkQueuePresentKHR"] {
        assert!(faults.count(&format!("injected ERROR_OUT_OF_DATE_KHR in {function}")) >= 3, "{:?}", faults.log());
    }
}

#[test]
fn a_surface_lost_at_acquire_is_made_anew() {
    expect_another_surface("FAULT_ACQUIRE", "surface_lost@10");
}

#[test]
fn a_surface_lost_at_present_is_made_anew() {
    expect_another_surface("FAULT_PRESENT", "surface_lost@10");
}

#[test]
fn a_surface_lost_when_it_is_asked_is_made_anew() {
    expect_another_surface("FAULT_CAPABILITIES", "surface_lost@2");
}

#[test]
fn a_surface_lost_at_once_is_made_anew() {
    expect_another_surface("FAULT_CAPABILITIES", "surface_lost@1");
}

#[test]
fn a_device_lost_at_submission_is_a_sentence() {
    // Without the overlay, whose renderer leaves a buffer behind when it is in the middle of an upload, to the displeasure
    // of the validation layer.
    expect_lost_device(&["--no-ui"], "FAULT_SUBMIT");
}

#[test]
fn a_device_lost_at_acquire_is_a_sentence() {
    expect_lost_device(&[], "FAULT_ACQUIRE");
}

#[test]
fn a_device_lost_at_present_is_a_sentence() {
    expect_lost_device(&[], "FAULT_PRESENT");
}
