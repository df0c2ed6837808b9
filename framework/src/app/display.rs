//! The display that windows are opened on.

#[cfg(all(unix, not(target_os = "macos")))]
use std::{os::unix::net::UnixStream, path::PathBuf};

use anyhow::{Context as _, Result};
use winit::event_loop::EventLoop;
#[cfg(all(unix, not(target_os = "macos")))]
use winit::{
    event_loop::EventLoopBuilder,
    platform::{wayland::EventLoopBuilderExtWayland as _, x11::EventLoopBuilderExtX11 as _},
};

/// Connects to the display.
///
/// # Errors
///
/// There is none, or what it takes to use it is not installed.
pub(super) fn event_loop<T>() -> Result<EventLoop<T>> {
    let mut builder = EventLoop::with_user_event();
    #[cfg(all(unix, not(target_os = "macos")))]
    choose_display(&mut builder)?;
    builder.build().context("the display cannot be used")
}

/// Wayland where it answers, else X. winit itself goes by what is set, and makes no second event loop when that fails.
#[cfg(all(unix, not(target_os = "macos")))]
fn choose_display<T>(builder: &mut EventLoopBuilder<T>) -> Result<()> {
    let value = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let wayland = value("WAYLAND_DISPLAY").map(|name| match value("XDG_RUNTIME_DIR") {
        // A name that is a path of its own stays as it is.
        Some(folder) => PathBuf::from(folder).join(name),
        None => name.into(),
    });
    let answers = |socket: &PathBuf| UnixStream::connect(socket).is_ok();
    if value("WAYLAND_SOCKET").is_some() || wayland.as_ref().is_some_and(answers) {
        builder.with_wayland();
        return Ok(());
    }
    match wayland {
        None => anyhow::ensure!(value("DISPLAY").is_some(), "neither DISPLAY nor WAYLAND_DISPLAY is set"),
        Some(socket) => anyhow::ensure!(
            value("DISPLAY").is_some(),
            "no Wayland compositor answers at {}, and DISPLAY is not set",
            socket.display()
        ),
    }
    builder.with_x11();
    // winit panics where this is missing, which it loads at run time.
    // SAFETY: the library has no initialisers that could do harm.
    unsafe { libloading::Library::new("libxkbcommon-x11.so.0") }
        .map(drop)
        .context("libxkbcommon-x11 is not installed (Debian and Ubuntu: libxkbcommon-x11-0)")
}
