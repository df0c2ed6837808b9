//! What a window goes through, and what a driver may do to it: the program goes on, or ends with a sentence.
#![cfg(target_os = "linux")]

use tools::display::Display;
use tools::faults::Running;

const SKINNING: &str = env!("CARGO_BIN_EXE_skinning");
const SMALL: &[&str] = &["--size", "320x200"];

/// Runs the sample with faults for some frames, then closes it. `None` without a display.
fn survive(options: &[&str], variables: &[(&str, &str)], frames: usize) -> Option<tools::faults::Faults> {
    let display = Display::start()?;
    let running = Running::start(&display, SKINNING, options, variables);
    running.wait_for_frames(frames);
    Some(running.close())
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
