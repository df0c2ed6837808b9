//! In a window: winit's events to frames, camera and keys.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{ElementState, KeyEvent, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy};
use winit::keyboard::{Key, NamedKey};
use winit::raw_window_handle::HasDisplayHandle;
use winit::window::{Fullscreen, Window, WindowId};

use super::bench::Bench;
use super::input;
use super::overlay::{self, History, Overlay, Shown};
use super::playback::FIXED_STEP;
use super::renderer::{Drawn, Input, Renderer};
use super::sample::Sample;
use super::{Loaded, Loader, Setup, screenshot};
use crate::gpu::{Device, PresentMode, Surface};

/// Time that passed while nothing was drawn (a minimised window) is not made up for beyond this, seconds.
const LONGEST_STEP: f32 = 0.25;

/// What reaches the window from elsewhere.
pub(super) enum Message {
    /// A model was read, or could not be: the how-manieth that was asked for.
    Loaded(u64, Box<Result<Loaded>>),
    /// The system wants the program to end.
    Terminate,
}

/// Shows the sample in a window until it is closed.
pub(super) fn run<S: Sample>(setup: Setup, parameters: S::Parameters, event_loop: EventLoop<Message>) -> Result<()> {
    if let Some(path) = &setup.options.screenshot {
        screenshot::check_path(path)?;
    }
    event_loop.set_control_flow(ControlFlow::Poll);
    let proxy = event_loop.create_proxy();
    let terminate = proxy.clone();
    ctrlc::set_handler(move || {
        // It fails only when the loop has ended, which is what is wanted.
        let _ = terminate.send_event(Message::Terminate);
    })
    .context("signals cannot be handled")?;
    let mut app = App::<S> {
        bench: setup.options.bench.map(Bench::new),
        overlay_shown: setup.options.overlay_in_window(),
        setup,
        parameters,
        proxy,
        input: input::Input::default(),
        wireframe: false,
        take_picture: false,
        frame: 0,
        last_frame: Instant::now(),
        history: History::default(),
        notice: None,
        asked: 0,
        shown: 0,
        loaded: None,
        running: None,
        result: Ok(()),
    };
    app.load(app.setup.loader::<S>());
    event_loop.run_app(&mut app).context("the window's event loop failed")?;
    app.close();
    app.result
}

struct App<S: Sample> {
    setup: Setup,
    parameters: S::Parameters,
    proxy: EventLoopProxy<Message>,
    input: input::Input,
    overlay_shown: bool,
    wireframe: bool,
    take_picture: bool,
    /// Frames of the sample drawn so far.
    frame: u64,
    last_frame: Instant,
    history: History,
    bench: Option<Bench>,
    /// What is being loaded, or could not be.
    notice: Option<String>,
    /// How many models were asked for.
    asked: u64,
    /// Which of them is the one in `loaded`.
    shown: u64,
    /// The model, when it was read.
    loaded: Option<Loaded>,
    running: Option<Running<S>>,
    result: Result<()>,
}

/// What there is once the window is. Dropped in this order.
struct Running<S> {
    /// Made when there are a model to show and an area to draw to.
    sample: Option<S>,
    overlay: Option<Overlay>,
    renderer: Renderer,
    device: Arc<Device>,
    gpu: String,
    window: Arc<Window>,
}

impl<S: Sample> ApplicationHandler<Message> for App<S> {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.running.is_none() {
            let opened = self.open(event_loop);
            self.check(event_loop, opened);
        }
    }

    fn user_event(&mut self, event_loop: &ActiveEventLoop, message: Message) {
        match message {
            Message::Terminate => event_loop.exit(),
            Message::Loaded(number, loaded) => {
                let taken = self.take_model(number, *loaded);
                self.check(event_loop, taken);
            }
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(running) = &mut self.running else { return };
        let height = running.renderer.extent().map_or(1, |extent| extent.height);
        let taken = match &mut running.overlay {
            Some(overlay) if self.overlay_shown => overlay.handle(&running.window, &event),
            _ => false,
        };
        if !taken && let Some(loaded) = &mut self.loaded {
            loaded.viewpoint.steer(|orbit| self.input.handle(&event, orbit, height));
        }
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::Resized(size) => running.renderer.window_resized(size.into()),
            WindowEvent::DroppedFile(path) => self.dropped(path),
            WindowEvent::KeyboardInput {
                event: KeyEvent { logical_key, state: ElementState::Pressed, repeat: false, .. },
                ..
            } if !taken => self.key(event_loop, &logical_key),
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
        // Figures are not to be the screen's.
        let mode = if self.bench.is_some() { PresentMode::Immediate } else { setup.options.present_mode };
        let mut renderer = Renderer::window::<S>(&device, surface, &window, mode, setup.samples::<S>())?;
        renderer.time_passes(self.overlay_shown)?;
        let gpu = device.physical().name();
        self.running = Some(Running { sample: None, overlay: None, renderer, device, gpu, window });
        Ok(())
    }

    /// Reads a model on another thread; it comes back as a message.
    fn load(&mut self, loader: Loader) {
        self.notice = loader.name().map(|name| format!("loading {name} …"));
        let proxy = self.proxy.clone();
        let number = self.asked;
        self.asked += 1;
        std::thread::spawn(move || {
            // It fails only when the window is closed, and then nobody wants the model.
            let _ = proxy.send_event(Message::Loaded(number, Box::new(loader.load())));
        });
    }

    fn dropped(&mut self, path: PathBuf) {
        if S::MODEL.is_some() {
            self.load(self.setup.loader_of::<S>(path));
        }
    }

    /// Shows a model that was read, unless one that was asked for later is there already. The program ends if it is the
    /// command line's that could not be read.
    fn take_model(&mut self, number: u64, loaded: Result<Loaded>) -> Result<()> {
        match loaded {
            _ if number < self.shown => {}
            Err(error) if number == 0 => return Err(error),
            Err(error) => {
                eprintln!("error: {error:#}");
                self.notice = Some(format!("{error:#}"));
            }
            Ok(loaded) => {
                self.notice = None;
                self.shown = number;
                if number > 0 {
                    S::forget_model(&mut self.parameters);
                }
                self.loaded = Some(loaded);
                if let Some(running) = &mut self.running {
                    // What the old model's frames use must not be dropped before they end.
                    running.device.wait_idle()?;
                    running.sample = None;
                }
            }
        }
        Ok(())
    }

    fn draw(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        self.make_sample()?;
        let frames = self.setup.options.frames;
        let elapsed = self.last_frame.elapsed().as_secs_f32();
        self.last_frame = Instant::now();
        self.history.push(elapsed * 1e3);
        // First, as headless: an update sees what is changed in the overlay before it is recorded.
        self.lay_out()?;
        let Some(running) = &mut self.running else { return Ok(()) };
        if let (Some(loaded), Some(sample)) = (&mut self.loaded, &mut running.sample) {
            match frames {
                // As headless: frame by frame, whatever the clock says.
                Some(_) => loaded.playback.seek_frame(self.frame),
                None if self.frame == 0 => {}
                None => loaded.playback.advance(elapsed.min(LONGEST_STEP)),
            }
            let step = loaded.playback.step();
            loaded.viewpoint.follow(step.clips);
            sample.update(&step, &self.parameters)?;
        }

        let has_sample = running.sample.is_some();
        let last = has_sample && frames == Some(self.frame + 1);
        let path = match &self.setup.options.screenshot {
            Some(path) if last => Some(path.clone()),
            _ => self.take_picture.then(|| screenshot::free_path(self.setup.name)),
        };
        let drawn = running.renderer.draw(Input {
            sample: running.sample.as_mut().map(|sample| (sample, &self.parameters)),
            viewpoint: self.loaded.as_ref().map(|loaded| &loaded.viewpoint),
            wireframe: self.wireframe,
            overlay: running.overlay.as_mut().filter(|_| self.overlay_shown),
            picture: path.is_some(),
        })?;
        let Drawn::Frame(picture) = drawn else {
            // Nothing can be drawn to: not worth spinning.
            std::thread::sleep(Duration::from_secs_f32(FIXED_STEP));
            return Ok(());
        };
        if let (Some(path), Some(picture)) = (path, picture) {
            self.take_picture = false;
            screenshot::write(&path, &picture)?;
        }
        if has_sample {
            self.frame += 1;
            self.take_figures(event_loop)?;
        }
        if last {
            event_loop.exit();
        }
        Ok(())
    }

    /// Makes the sample, and the overlay, as soon as there is an area to draw to and a model to show.
    fn make_sample(&mut self) -> Result<()> {
        let Some(running) = &mut self.running else { return Ok(()) };
        if running.sample.is_some() && running.overlay.is_some() {
            return Ok(());
        }
        let Some(target) = running.renderer.target() else { return Ok(()) };
        if running.overlay.is_none() && self.overlay_shown {
            running.overlay = Some(Overlay::new(&running.device, target.format, Some(&running.window))?);
        }
        if running.sample.is_none()
            && let Some(loaded) = &mut self.loaded
        {
            let context = self.setup.context(&running.device, target, loaded);
            running.sample = Some(S::new(&context, &self.parameters)?);
        }
        Ok(())
    }

    fn lay_out(&mut self) -> Result<()> {
        let Some(running) = &mut self.running else { return Ok(()) };
        let (Some(overlay), Some(extent)) = (&mut running.overlay, running.renderer.extent()) else { return Ok(()) };
        if !self.overlay_shown {
            return Ok(());
        }
        let shown = Shown {
            title: self.setup.name,
            gpu: &running.gpu,
            times: Some((&self.history, running.renderer.times())),
            notice: self.notice.as_deref(),
        };
        let (parameters, loaded, sample) = (&mut self.parameters, &mut self.loaded, &mut running.sample);
        overlay.run(Some(&running.window), extent, 0.0, |ui| {
            overlay::show(ui, &shown, loaded.as_mut(), |ui| {
                if let Some(sample) = sample {
                    sample.ui(parameters, ui);
                }
            });
        })
    }

    fn take_figures(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        let (Some(bench), Some(running)) = (&mut self.bench, &mut self.running) else { return Ok(()) };
        if let Some(figures) = bench.frame(&running.device, running.renderer.times(), self.setup.started) {
            let size = running.renderer.extent().unwrap_or_default();
            event_loop.exit();
            let size = (size.width, size.height);
            super::say(&bench.json(self.setup.name, &running.gpu, size, &figures).to_string())?;
        }
        running.renderer.time_passes(self.overlay_shown || bench.times_passes())
    }

    fn key(&mut self, event_loop: &ActiveEventLoop, key: &Key) {
        match (key, &mut self.loaded) {
            (Key::Named(NamedKey::Escape), _) => event_loop.exit(),
            (Key::Named(NamedKey::F1), _) => self.toggle_overlay(),
            (Key::Named(NamedKey::F2), _) => self.wireframe = !self.wireframe,
            (Key::Named(NamedKey::F11), _) => self.toggle_fullscreen(),
            (Key::Named(NamedKey::F12), _) => self.take_picture = true,
            (Key::Named(NamedKey::Space), Some(loaded)) => loaded.playback.paused = !loaded.playback.paused,
            (Key::Character(key), Some(loaded)) if key.eq_ignore_ascii_case("r") => loaded.viewpoint.reset(),
            _ => {}
        }
    }

    fn toggle_overlay(&mut self) {
        self.overlay_shown = !self.overlay_shown;
        if let Some(running) = &mut self.running
            && let Err(error) = running.renderer.time_passes(self.overlay_shown)
        {
            self.notice = Some(format!("{error:#}"));
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

    /// Draws once more for `--screenshot`, where no number of frames has said which is the last one.
    fn draw_last(&mut self) -> Result<()> {
        let (Some(running), Some(path)) = (&mut self.running, &self.setup.options.screenshot) else { return Ok(()) };
        let Some(sample) = running.sample.as_mut().filter(|_| self.setup.options.frames.is_none()) else {
            return Ok(());
        };
        let drawn = running.renderer.draw(Input {
            sample: Some((sample, &self.parameters)),
            viewpoint: self.loaded.as_ref().map(|loaded| &loaded.viewpoint),
            wireframe: self.wireframe,
            overlay: running.overlay.as_mut().filter(|_| self.overlay_shown),
            picture: true,
        })?;
        match drawn {
            Drawn::Frame(Some(picture)) => screenshot::write(path, &picture),
            _ => Ok(()),
        }
    }

    /// Drops all that the GPU used, once it has ended.
    fn close(&mut self) {
        if self.result.is_ok() {
            self.result = self.draw_last();
        }
        if let Some(running) = self.running.take() {
            let idle = running.device.wait_idle();
            running.device.save_pipeline_cache();
            if self.result.is_ok() {
                self.result = idle;
            }
        }
    }
}
