//! In a window: winit's events to frames, camera and keys.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{ElementState, KeyEvent, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::raw_window_handle::HasDisplayHandle;
use winit::window::{Fullscreen, Window, WindowId};

use super::input::Input;
use super::playback::FIXED_STEP;
use super::renderer::{Renderer, View};
use super::sample::Sample;
use super::{Loaded, Setup, screenshot};
use crate::gpu::{Device, Surface};

/// Time that passed while nothing was drawn (a minimised window) is not made up for beyond this, seconds.
const LONGEST_STEP: f32 = 0.25;

/// Connects to the display.
///
/// # Errors
///
/// There is none, or what it takes to use it is not installed.
pub(super) fn event_loop() -> Result<EventLoop<()>> {
    #[cfg(all(unix, not(target_os = "macos")))]
    probe_display()?;
    EventLoop::new().context("the display cannot be used")
}

/// winit panics where a library is missing that it loads at run time, so it is asked for first.
#[cfg(all(unix, not(target_os = "macos")))]
fn probe_display() -> Result<()> {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if set("WAYLAND_DISPLAY") || set("WAYLAND_SOCKET") {
        return Ok(());
    }
    anyhow::ensure!(set("DISPLAY"), "neither DISPLAY nor WAYLAND_DISPLAY is set");
    // SAFETY: the library has no initialisers that could do harm.
    unsafe { libloading::Library::new("libxkbcommon-x11.so.0") }
        .map(drop)
        .context("libxkbcommon-x11 is not installed (Debian and Ubuntu: libxkbcommon-x11-0)")
}

/// Shows the sample in a window until it is closed.
pub(super) fn run<S: Sample>(setup: Setup, parameters: S::Parameters, event_loop: EventLoop<()>) -> Result<()> {
    if let Some(path) = &setup.options.screenshot {
        screenshot::check_path(path)?;
    }
    let loaded = setup.load::<S>()?;
    event_loop.set_control_flow(ControlFlow::Poll);
    let mut app = App::<S> {
        setup,
        parameters: Some(parameters),
        loaded,
        input: Input::default(),
        paused: false,
        wireframe: false,
        take_picture: false,
        frame: 0,
        last_frame: Instant::now(),
        running: None,
        result: Ok(()),
    };
    event_loop.run_app(&mut app).context("the window's event loop failed")?;
    app.close();
    app.result
}

struct App<S: Sample> {
    setup: Setup,
    /// Taken when the sample is made.
    parameters: Option<S::Parameters>,
    loaded: Loaded,
    input: Input,
    paused: bool,
    wireframe: bool,
    take_picture: bool,
    /// Frames drawn so far.
    frame: u64,
    last_frame: Instant,
    running: Option<Running<S>>,
    result: Result<()>,
}

/// What there is once the window is. Dropped in this order.
struct Running<S> {
    /// Made as soon as the window has an area to draw to.
    sample: Option<S>,
    renderer: Renderer,
    device: Arc<Device>,
    window: Arc<Window>,
}

impl<S: Sample> ApplicationHandler for App<S> {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.running.is_none() {
            let opened = self.open(event_loop);
            self.check(event_loop, opened);
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(running) = &mut self.running else { return };
        let height = running.window.inner_size().height;
        self.input.handle(&event, &mut self.loaded.camera, height);
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::Resized(_) | WindowEvent::ScaleFactorChanged { .. } => running.renderer.window_changed(),
            WindowEvent::KeyboardInput {
                event: KeyEvent { logical_key, state: ElementState::Pressed, repeat: false, .. },
                ..
            } => self.key(event_loop, &logical_key),
            WindowEvent::RedrawRequested => {
                let drawn = self.draw(event_loop);
                self.check(event_loop, drawn);
            }
            _ => {}
        }
    }

    fn about_to_wait(&mut self, _: &ActiveEventLoop) {
        if let Some(running) = &self.running {
            running.window.request_redraw();
        }
    }
}

impl<S: Sample> App<S> {
    fn open(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        let setup = &self.setup;
        let size = setup.options.size;
        let attributes = Window::default_attributes()
            .with_title(format!("Ashwright: {}", setup.name))
            .with_inner_size(PhysicalSize::new(size.width, size.height));
        let window = Arc::new(event_loop.create_window(attributes).context("the window cannot be opened")?);
        let display = event_loop.display_handle().context("the display has no handle")?.as_raw();
        let instance = setup.instance(Some(display))?;
        // SAFETY: the renderer takes the surface and holds the window until after it.
        let surface = unsafe { Surface::new(&instance, &*window)? };
        let device = setup.device::<S>(&instance, Some(&surface))?;
        let mode = setup.options.present_mode;
        let renderer = Renderer::window(&device, surface, &window, mode, setup.samples::<S>()?)?;
        self.running = Some(Running { sample: None, renderer, device, window });
        self.last_frame = Instant::now();
        Ok(())
    }

    fn draw(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        let Some(running) = &mut self.running else { return Ok(()) };
        if running.sample.is_none() {
            match (running.renderer.target(), self.parameters.take()) {
                (Some(target), Some(parameters)) => {
                    let context = self.setup.context(&running.device, target, &self.loaded);
                    running.sample = Some(S::new(&context, parameters)?);
                    self.last_frame = Instant::now();
                }
                (_, parameters) => {
                    self.parameters = parameters;
                    running.renderer.make_target()?;
                }
            }
        }
        let Some(sample) = &mut running.sample else { return Ok(()) };

        let frames = self.setup.options.frames;
        let elapsed = self.last_frame.elapsed().as_secs_f32();
        self.last_frame = Instant::now();
        match frames {
            // As headless: frame by frame, whatever the clock says.
            Some(_) => self.loaded.playback.seek_frame(self.frame),
            None if self.frame == 0 => {}
            None => self.loaded.playback.advance(if self.paused { 0.0 } else { elapsed.min(LONGEST_STEP) }),
        }
        sample.update(&self.loaded.playback.step())?;

        let (camera, wireframe) = (&self.loaded.camera, self.wireframe);
        let view = |aspect| View { camera: camera.matrices(aspect), wireframe };
        let last = frames == Some(self.frame + 1);
        let path = match &self.setup.options.screenshot {
            Some(path) if last => Some(path.clone()),
            _ => self.take_picture.then(|| screenshot::free_path(self.setup.name)),
        };
        let mut picture = None;
        if !running.renderer.draw(sample, view, path.is_some().then_some(&mut picture))? {
            // Nothing can be drawn to: not worth spinning.
            std::thread::sleep(std::time::Duration::from_secs_f32(FIXED_STEP));
            return Ok(());
        }
        self.frame += 1;
        if let (Some(path), Some(picture)) = (path, picture) {
            self.take_picture = false;
            screenshot::write(&path, &picture)?;
        }
        if last {
            event_loop.exit();
        }
        Ok(())
    }

    fn key(&mut self, event_loop: &ActiveEventLoop, key: &Key) {
        match key {
            Key::Named(NamedKey::Escape) => event_loop.exit(),
            Key::Named(NamedKey::Space) => self.paused = !self.paused,
            Key::Named(NamedKey::F2) => self.wireframe = !self.wireframe,
            Key::Named(NamedKey::F11) => self.toggle_fullscreen(),
            Key::Named(NamedKey::F12) => self.take_picture = true,
            Key::Character(character) if character.eq_ignore_ascii_case("r") => self.loaded.camera.reset(),
            _ => {}
        }
    }

    fn toggle_fullscreen(&self) {
        if let Some(Running { window, .. }) = &self.running {
            let full = window.fullscreen().is_none().then_some(Fullscreen::Borderless(None));
            window.set_fullscreen(full);
        }
    }

    /// Ends the program at the first error.
    fn check(&mut self, event_loop: &ActiveEventLoop, result: Result<()>) {
        if let Err(error) = result {
            event_loop.exit();
            if self.result.is_ok() {
                self.result = Err(error);
            }
        }
    }

    /// Drops all that the GPU used, once it has ended.
    fn close(&mut self) {
        if let Some(running) = self.running.take() {
            let idle = running.device.wait_idle();
            if self.result.is_ok() {
                self.result = idle;
            }
        }
    }
}
