//! Simulation time, and the clips that play in it.

use anyhow::{Result, bail};

use super::options::ModelOptions;
use super::sample::Step;
use crate::scene::Scene;

/// Seconds between frames where they do not follow the clock.
pub(super) const FIXED_STEP: f32 = 1.0 / 60.0;

/// Advances time and says where in its clips a model is.
pub(super) struct Playback {
    start: f32,
    time: f64,
    delta: f32,
    /// Index and length of each playing clip.
    playing: Vec<(usize, f32)>,
    /// Index and time of each playing clip.
    clips: Vec<(usize, f32)>,
    repeat: bool,
}

impl Playback {
    /// At the time `start`, in seconds, with the clips that the options name.
    pub(super) fn new(scene: &Scene, options: &ModelOptions, start: f32) -> Result<Self> {
        let playing = chosen_clips(scene, options.animation.as_deref())?;
        let playing: Vec<_> = playing.into_iter().map(|clip| (clip, scene.animations[clip].duration)).collect();
        let clips = playing.clone();
        let mut playback = Self { start, time: f64::from(start), delta: 0.0, playing, clips, repeat: !options.no_loop };
        playback.set_clip_times();
        Ok(playback)
    }

    /// The frame `index`, frames being [`FIXED_STEP`] apart: the time depends on nothing else.
    pub(super) fn seek_frame(&mut self, index: u64) {
        self.time = f64::from(self.start) + index as f64 * f64::from(FIXED_STEP);
        self.delta = if index == 0 { 0.0 } else { FIXED_STEP };
        self.set_clip_times();
    }

    /// Moves on by a number of seconds.
    pub(super) fn advance(&mut self, delta: f32) {
        self.time += f64::from(delta);
        self.delta = delta;
        self.set_clip_times();
    }

    /// Index and length, in seconds, of each playing clip.
    pub(super) fn playing(&self) -> impl Iterator<Item = (usize, f32)> + '_ {
        self.playing.iter().copied()
    }

    /// What a sample is told.
    pub(super) fn step(&self) -> Step<'_> {
        Step { time: self.time as f32, delta: self.delta, clips: &self.clips }
    }

    fn set_clip_times(&mut self) {
        for ((_, time), &(_, duration)) in self.clips.iter_mut().zip(&self.playing) {
            *time = match self.repeat && duration > 0.0 {
                true => self.time.rem_euclid(f64::from(duration)) as f32,
                false => self.time.min(f64::from(duration)).max(0.0) as f32,
            };
        }
    }
}

/// The clips that `--animation N|NAME|all|none` names; without it the first.
fn chosen_clips(scene: &Scene, wanted: Option<&str>) -> Result<Vec<usize>> {
    let count = scene.animations.len();
    let Some(wanted) = wanted else { return Ok((0..count.min(1)).collect()) };
    if let Some(named) = scene.animation_named(wanted) {
        return Ok(vec![named]);
    }
    match (wanted, wanted.parse::<usize>()) {
        ("none", _) => Ok(Vec::new()),
        ("all", _) => Ok((0..count).collect()),
        (_, Ok(index)) if index < count => Ok(vec![index]),
        _ => {
            let names = scene.animations.iter().enumerate().map(|(index, clip)| match &clip.name {
                Some(name) => format!("{index} {name}"),
                None => index.to_string(),
            });
            match names.collect::<Vec<_>>().join(", ") {
                names if names.is_empty() => bail!("{} has no animation, so not {wanted} either", scene.name),
                names => bail!("{} has no animation {wanted}; it has {names}", scene.name),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Animation;

    fn scene() -> Scene {
        let clip =
            |name: Option<&str>, duration| Animation { name: name.map(str::to_owned), channels: Vec::new(), duration };
        Scene {
            animations: vec![clip(Some("walk"), 2.0), clip(Some("run"), 0.5), clip(None, 0.0)],
            ..Default::default()
        }
    }

    fn playback(animation: Option<&str>, no_loop: bool, start: f32) -> Result<Playback> {
        let options = ModelOptions { animation: animation.map(str::to_owned), no_loop, ..Default::default() };
        Playback::new(&scene(), &options, start)
    }

    #[test]
    fn clips_by_number_name_all_and_none() {
        let chosen = |animation| chosen_clips(&scene(), animation).expect("it is there");
        assert_eq!(chosen(None), [0]);
        assert_eq!(chosen(Some("run")), [1]);
        assert_eq!(chosen(Some("2")), [2]);
        assert_eq!(chosen(Some("all")), [0, 1, 2]);
        assert!(chosen(Some("none")).is_empty());
        let error = chosen_clips(&scene(), Some("swim")).expect_err("it is not there").to_string();
        assert!(error.contains("swim") && error.contains("0 walk, 1 run, 2"), "{error}");
    }

    #[test]
    fn a_clip_repeats() {
        let mut playback = playback(Some("all"), false, 4.75).expect("fine");
        assert_eq!(playback.step().clips, [(0, 0.75), (1, 0.25), (2, 0.0)]);
        playback.advance(0.5);
        assert_eq!(playback.step().clips, [(0, 1.25), (1, 0.25), (2, 0.0)]);
        assert_eq!(playback.step().delta, 0.5);
    }

    #[test]
    fn or_holds_its_last_pose() {
        assert_eq!(playback(Some("walk"), true, 4.75).expect("fine").step().clips, [(0, 2.0)]);
        assert_eq!(playback(Some("walk"), false, -0.5).expect("fine").step().clips, [(0, 1.5)]);
    }

    #[test]
    fn frames_are_a_sixtieth_of_a_second_apart() {
        let mut playback = playback(None, false, 1.0).expect("fine");
        playback.seek_frame(30);
        assert!((playback.step().time - 1.5).abs() < 1e-6);
    }
}
