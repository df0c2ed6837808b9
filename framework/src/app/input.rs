//! Mouse, wheel and fingers to camera movements.

use glam::{DVec2, Vec2};
use winit::dpi::PhysicalPosition;
use winit::event::{ElementState, MouseButton, MouseScrollDelta, Touch, TouchPhase, WindowEvent};

use crate::camera::OrbitCamera;

/// Pixels of a touchpad's scrolling that count as one step of a wheel.
const PIXELS_A_STEP: f64 = 40.0;

/// What is held down.
#[derive(Default)]
pub(super) struct Input {
    pointer: Option<DVec2>,
    turning: bool,
    panning: bool,
    /// The fingers on a touch screen, two at most.
    fingers: Vec<(u64, DVec2)>,
}

impl Input {
    /// Moves the camera as the event says. `height` is the window's, in pixels.
    pub(super) fn handle(&mut self, event: &WindowEvent, camera: &mut OrbitCamera, height: u32) {
        let share = |pixels: DVec2| (pixels / f64::from(height.max(1))).as_vec2();
        match event {
            WindowEvent::MouseInput { state, button, .. } => {
                let pressed = *state == ElementState::Pressed;
                match button {
                    MouseButton::Left => self.turning = pressed,
                    MouseButton::Right => self.panning = pressed,
                    _ => {}
                }
            }
            WindowEvent::CursorMoved { position, .. } => {
                let position = point(*position);
                let moved = share(position - self.pointer.replace(position).unwrap_or(position));
                if self.turning {
                    camera.turn(moved);
                } else if self.panning {
                    camera.pan(moved);
                }
            }
            WindowEvent::MouseWheel { delta, .. } => camera.zoom(match delta {
                MouseScrollDelta::LineDelta(_, lines) => *lines,
                MouseScrollDelta::PixelDelta(pixels) => (pixels.y / PIXELS_A_STEP) as f32,
            }),
            // A tenth larger is a step of the wheel nearer.
            WindowEvent::PinchGesture { delta, .. } => camera.zoom(10.0 * *delta as f32),
            WindowEvent::PanGesture { delta, .. } => {
                camera.pan(Vec2::new(delta.x, delta.y) / height.max(1) as f32);
            }
            WindowEvent::Touch(touch) => self.touch(touch, camera, share),
            WindowEvent::Focused(false) => *self = Self::default(),
            _ => {}
        }
    }

    /// One finger turns; two pan, and zoom by their distance.
    fn touch(&mut self, touch: &Touch, camera: &mut OrbitCamera, share: impl Fn(DVec2) -> Vec2) {
        let position = point(touch.location);
        match touch.phase {
            TouchPhase::Started if self.fingers.len() < 2 => self.fingers.push((touch.id, position)),
            TouchPhase::Started => {}
            TouchPhase::Ended | TouchPhase::Cancelled => self.fingers.retain(|(id, _)| *id != touch.id),
            TouchPhase::Moved => {
                let Some(moving) = self.fingers.iter().position(|(id, _)| *id == touch.id) else { return };
                let before = std::mem::replace(&mut self.fingers[moving].1, position);
                match self.fingers.get(1 - moving.min(1)) {
                    Some(&(_, other)) if self.fingers.len() == 2 => {
                        camera.pan(share((position - before) / 2.0));
                        let (near, far) = (before.distance(other).max(1.0), position.distance(other).max(1.0));
                        camera.zoom(10.0 * (far / near).ln() as f32);
                    }
                    _ => camera.turn(share(position - before)),
                }
            }
        }
    }
}

fn point(position: PhysicalPosition<f64>) -> DVec2 {
    DVec2::new(position.x, position.y)
}
