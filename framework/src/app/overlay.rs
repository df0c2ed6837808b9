//! The overlay: what the program is doing, and the knobs to change it.

use std::collections::VecDeque;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use ash::vk;
use egui::epaint::textures::TexturesDelta;
use egui::{ClippedPrimitive, Color32, FullOutput, TextureId};
use egui_ash_renderer::allocator::GpuAllocator;
use egui_ash_renderer::{DynamicRendering, Options, RenderMode, Renderer};
use egui_winit::State;
use winit::event::{ElementState, WindowEvent};
use winit::window::Window;

use super::Loaded;
use super::playback::{FIXED_STEP, Playback, Playing};
use super::renderer::Times;
use super::viewpoint::Viewpoint;
use crate::gpu::{Device, FRAMES_IN_FLIGHT, Owned};

/// Frames whose times the graph shows.
const GRAPH_FRAMES: usize = 120;

/// egui, and what draws it.
pub(super) struct Overlay {
    renderer: Renderer<GpuAllocator>,
    context: egui::Context,
    /// Only with a window.
    state: Option<State>,
    pool: Owned<vk::CommandPool>,
    primitives: Vec<ClippedPrimitive>,
    pixels_per_point: f32,
    /// Textures that frames in flight may still read, by the age of the frame that was the last to use them.
    freed: VecDeque<Vec<TextureId>>,
    device: Arc<Device>,
}

impl Overlay {
    /// Draws to targets of this format.
    pub(super) fn new(device: &Arc<Device>, format: vk::Format, window: Option<&Window>) -> Result<Self> {
        let options = Options { in_flight_frames: FRAMES_IN_FLIGHT, srgb_framebuffer: true, ..Default::default() };
        let mode = RenderMode::DynamicRendering(DynamicRendering {
            color_attachment_format: format,
            depth_attachment_format: None,
            stencil_attachment_format: None,
        });
        let renderer = Renderer::with_gpu_allocator(device.shared_allocator(), (**device).clone(), mode, options)
            .context("the overlay cannot be made")?;
        let pool_info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(device.queue_family());
        // SAFETY: the queue family is the device's.
        let pool = unsafe { device.create_command_pool(&pool_info, None) }.context("vkCreateCommandPool failed")?;
        let context = egui::Context::default();
        context.set_theme(egui::Theme::Dark);
        context.all_styles_mut(|style| {
            style.visuals.window_fill = Color32::from_rgba_premultiplied(14, 17, 24, 240);
            // Boxes and rails are to be seen on any background.
            style.visuals.widgets.inactive.bg_fill = Color32::from_gray(75);
            style.visuals.widgets.inactive.weak_bg_fill = Color32::from_gray(60);
            // Pictures of one frame would show the beginning of every animation.
            style.animation_time = 0.0;
            style.visuals.window_shadow = egui::Shadow::NONE;
        });
        let most = device.physical().properties.limits.max_image_dimension2_d as usize;
        let state = window.map(|window| {
            let scale = Some(window.scale_factor() as f32);
            State::new(context.clone(), egui::ViewportId::ROOT, window, scale, None, Some(most))
        });
        Ok(Self {
            renderer,
            context,
            state,
            pool: device.own(pool, "overlay"),
            primitives: Vec::new(),
            pixels_per_point: 1.0,
            freed: VecDeque::new(),
            device: device.clone(),
        })
    }

    /// Tells egui of an event. Returns whether it was meant for the overlay and for nothing else.
    pub(super) fn handle(&mut self, window: &Window, event: &WindowEvent) -> bool {
        let Some(state) = &mut self.state else { return false };
        let response = state.on_window_event(window, event);
        match event {
            WindowEvent::KeyboardInput { .. } => self.context.text_edit_focused(),
            // Whoever was told of a press is to be told of its end, though the overlay may lie under the mouse by then.
            WindowEvent::MouseInput { state: ElementState::Released, .. } => false,
            WindowEvent::MouseInput { .. } | WindowEvent::MouseWheel { .. } | WindowEvent::Touch(_) => {
                self.context.egui_wants_pointer_input()
            }
            _ => response.consumed,
        }
    }

    /// Lays the overlay out anew for a target of this size.
    pub(super) fn run(
        &mut self,
        window: Option<&Window>,
        extent: vk::Extent2D,
        time: f32,
        mut show: impl FnMut(&mut egui::Ui),
    ) -> Result<()> {
        let size = egui::vec2(extent.width as f32, extent.height as f32);
        let headless = egui::RawInput {
            screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, size)),
            time: Some(time.into()),
            ..Default::default()
        };
        if self.primitives.is_empty() {
            // egui shows a window only when it has measured it once.
            let FullOutput { textures_delta, .. } = self.context.run_ui(headless.clone(), |ui| show(ui));
            self.take_textures(textures_delta)?;
        }
        let input = match (&mut self.state, window) {
            (Some(state), Some(window)) => state.take_egui_input(window),
            _ => headless,
        };
        let FullOutput { platform_output, textures_delta, shapes, pixels_per_point, .. } =
            self.context.run_ui(input, |ui| show(ui));
        if let (Some(state), Some(window)) = (&mut self.state, window) {
            state.handle_platform_output(window, platform_output);
        }
        self.primitives = self.context.tessellate(shapes, pixels_per_point);
        self.pixels_per_point = pixels_per_point;
        self.take_textures(textures_delta)
    }

    /// Draws what [`Overlay::run`] has laid out over a target in `COLOR_ATTACHMENT_OPTIMAL`.
    pub(super) fn record(
        &mut self,
        commands: vk::CommandBuffer,
        target: vk::ImageView,
        extent: vk::Extent2D,
    ) -> Result<()> {
        let stage = vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT;
        let (read, write) = (vk::AccessFlags2::COLOR_ATTACHMENT_READ, vk::AccessFlags2::COLOR_ATTACHMENT_WRITE);
        let barrier = [vk::MemoryBarrier2::default()
            .src_stage_mask(stage)
            .src_access_mask(write)
            .dst_stage_mask(stage)
            .dst_access_mask(read | write)];
        let dependency = vk::DependencyInfo::default().memory_barriers(&barrier);
        let attachment = [vk::RenderingAttachmentInfo::default()
            .image_view(target)
            .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
            .load_op(vk::AttachmentLoadOp::LOAD)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let rendering =
            vk::RenderingInfo::default().render_area(extent.into()).layer_count(1).color_attachments(&attachment);
        // SAFETY: the command buffer is being recorded, outside of any render pass; the view is of the format that the
        // renderer was made for.
        unsafe {
            self.device.cmd_pipeline_barrier2(commands, &dependency);
            self.device.cmd_begin_rendering(commands, &rendering);
        }
        let drawn = self.renderer.cmd_draw(commands, extent, self.pixels_per_point, &self.primitives);
        // SAFETY: begun above.
        unsafe { self.device.cmd_end_rendering(commands) };
        drawn.context("the overlay cannot be drawn")
    }

    /// Uploads textures that are new or have changed, and frees those that no frame in flight reads any more.
    fn take_textures(&mut self, mut delta: TexturesDelta) -> Result<()> {
        let failed = "a texture of the overlay cannot be made";
        if !delta.set.is_empty() {
            // Frames in flight may be reading what is to change. It changes rarely: when new letters are shown.
            self.device.wait_idle()?;
        }
        for (id, changes) in delta.set.drain() {
            for change in &changes {
                self.renderer.set_texture(self.device.queue(), *self.pool, id, change).context(failed)?;
            }
        }
        self.freed.push_back(delta.free.drain().collect());
        if self.freed.len() > FRAMES_IN_FLIGHT {
            for id in self.freed.pop_front().unwrap_or_default() {
                self.renderer.free_texture(id).context(failed)?;
            }
        }
        Ok(())
    }
}

/// The times of the last frames.
#[derive(Default)]
pub(super) struct History {
    frames: VecDeque<f32>,
}

impl History {
    /// Takes a frame's time in milliseconds.
    pub(super) fn push(&mut self, frame_ms: f32) {
        if self.frames.len() == GRAPH_FRAMES {
            self.frames.pop_front();
        }
        self.frames.push_back(frame_ms);
    }

    fn average(&self) -> Option<f32> {
        (!self.frames.is_empty()).then(|| self.frames.iter().sum::<f32>() / self.frames.len() as f32)
    }
}

/// What the overlay shows of the framework.
pub(super) struct Shown<'a> {
    pub title: &'a str,
    pub gpu: &'a str,
    /// `None`: dashes take their place.
    pub times: Option<(&'a History, &'a Times)>,
    /// What is being loaded, or could not be.
    pub notice: Option<&'a str>,
}

/// The overlay's only window: times, clips, cameras, and the sample's parameters.
pub(super) fn show(
    ui: &egui::Ui,
    shown: &Shown<'_>,
    loaded: Option<&mut Loaded>,
    parameters: impl FnOnce(&mut egui::Ui),
) {
    let most = ui.ctx().content_rect().height() - 70.0;
    egui::Window::new(shown.title).default_pos([12.0, 12.0]).default_size([250.0, most]).show(ui.ctx(), |ui| {
        egui::ScrollArea::vertical().max_height(most).show(ui, |ui| {
            ui.label(shown.gpu);
            show_times(ui, shown.times);
            if let Some(notice) = shown.notice {
                ui.separator();
                ui.label(notice);
            }
            if let Some(Loaded { playback, viewpoint, .. }) = loaded {
                if !playback.clips().is_empty() {
                    ui.separator();
                    show_playback(ui, playback);
                }
                show_cameras(ui, viewpoint);
            }
            ui.separator();
            parameters(ui);
        });
    });
}

fn show_times(ui: &mut egui::Ui, times: Option<(&History, &Times)>) {
    let milliseconds = |time: Option<f32>| time.map_or("–".to_owned(), |time| format!("{time:.2} ms"));
    let average = times.and_then(|(history, _)| history.average());
    let rate = average.map_or("–".to_owned(), |time| format!("{:.0} frames/s", 1e3 / time));
    egui::Grid::new("times").num_columns(2).spacing([16.0, 2.0]).show(ui, |ui| {
        let mut row = |name: &str, time: Option<f32>| {
            ui.label(name);
            ui.label(milliseconds(time));
            ui.end_row();
        };
        row("frame", average);
        row("CPU", times.map(|(_, times)| times.cpu_ms));
        for &(name, time) in times.map(|(_, times)| times.passes.as_slice()).unwrap_or_default() {
            let name = name.to_string_lossy();
            row(&if name == "frame" { "GPU".into() } else { format!("    {name}") }, Some(time));
        }
        ui.label("rate");
        ui.label(rate);
        ui.end_row();
    });
    if let Some((history, _)) = times {
        show_graph(ui, history);
    }
}

/// The last frames from left to right; the line in the middle is a sixtieth of a second.
fn show_graph(ui: &mut egui::Ui, history: &History) {
    let size = egui::vec2(ui.available_width().min(240.0), 40.0);
    let (rect, _) = ui.allocate_exact_size(size, egui::Sense::hover());
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 2.0, Color32::from_black_alpha(120));
    let top = 2e3 * FIXED_STEP;
    let at = |place: usize, time: f32| {
        let x = rect.left() + rect.width() * place as f32 / (GRAPH_FRAMES - 1) as f32;
        egui::pos2(x, rect.bottom() - rect.height() * (time / top).min(1.0))
    };
    let middle = rect.center().y;
    painter.hline(rect.x_range(), middle, egui::Stroke::new(1.0, Color32::from_white_alpha(40)));
    let points = history.frames.iter().enumerate().map(|(place, &time)| at(place, time)).collect();
    painter.line(points, egui::Stroke::new(1.5, Color32::from_rgb(120, 200, 255)));
}

/// The choice between the orbit camera and those of the model, where it has any.
fn show_cameras(ui: &mut egui::Ui, viewpoint: &mut Viewpoint) {
    let names: Vec<_> = viewpoint.names().map(str::to_owned).collect();
    if names.is_empty() {
        return;
    }
    let mut chosen = viewpoint.chosen();
    let name = |chosen: Option<usize>| chosen.map_or("orbit", |camera| &names[camera]);
    ui.separator();
    egui::ComboBox::from_label("camera").selected_text(name(chosen)).show_ui(ui, |ui| {
        for choice in std::iter::once(None).chain((0..names.len()).map(Some)) {
            ui.selectable_value(&mut chosen, choice, name(choice));
        }
    });
    viewpoint.choose(chosen);
}

fn show_playback(ui: &mut egui::Ui, playback: &mut Playback) {
    let name = |playback: &Playback, playing| match playing {
        Playing::None => "none".to_owned(),
        Playing::All => "all".to_owned(),
        Playing::One(clip) => playback.clips()[clip].0.clone(),
    };
    let mut playing = playback.playing();
    egui::ComboBox::from_label("clip").selected_text(name(playback, playing)).show_ui(ui, |ui| {
        let each = (0..playback.clips().len()).map(Playing::One);
        for choice in each.chain([Playing::All, Playing::None]) {
            ui.selectable_value(&mut playing, choice, name(playback, choice));
        }
    });
    if playing != playback.playing() {
        playback.play(playing);
    }
    if let Some((duration, mut time)) = playback.position() {
        let slider = egui::Slider::new(&mut time, 0.0..=duration).suffix(" s").text("time");
        if ui.add(slider).changed() {
            playback.seek(time);
        }
    }
    ui.add(egui::Slider::new(&mut playback.speed, 0.0..=4.0).text("speed"));
    ui.horizontal(|ui| {
        let label = if playback.paused { "play" } else { "pause" };
        if ui.button(label).clicked() {
            playback.paused = !playback.paused;
        }
        if ui.button("one frame").on_hover_text("a sixtieth of a second").clicked() {
            playback.paused = true;
            playback.step_by(FIXED_STEP);
        }
    });
}
