//! Simulation time, and the clips that play in it.

use anyhow::{Context as _, Result};

use super::options::ModelOptions;
use super::sample::Step;
use crate::scene::{Scene, animation_time};

/// Seconds between frames where they do not follow the clock.
pub(super) const FIXED_STEP: f32 = 1.0 / 60.0;

/// Advances time and says where in its clips a model is.
pub(super) struct Playback {
    start: f32,
    time: f64,
    delta: f32,
    /// Simulated seconds a second.
    pub speed: f32,
    pub paused: bool,
    repeat: bool,
    /// Name and length in seconds of all clips of the model.
    clips: Vec<(String, f32)>,
    playing: Playing,
    /// Index and time of each playing clip.
    times: Vec<(usize, f32)>,
}

/// Which of a model's clips play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Playing {
    None,
    One(usize),
    All,
}

impl Playback {
    /// At the time `start`, in seconds, with the clips that the options name.
    pub(super) fn new(scene: &Scene, options: &ModelOptions, start: f32) -> Result<Self> {
        let name = |(index, name): (usize, Option<&String>)| name.cloned().unwrap_or_else(|| format!("clip {index}"));
        let names = scene.animations.iter().map(|clip| clip.name.as_ref()).enumerate().map(name);
        let clips: Vec<_> = names.zip(scene.animations.iter().map(|clip| clip.duration)).collect();
        let mut playback = Self {
            start,
            time: f64::from(start),
            delta: 0.0,
            speed: 1.0,
            paused: false,
            repeat: !options.no_loop,
            times: Vec::with_capacity(clips.len()),
            clips,
            playing: chosen(scene, options.animation.as_deref())?,
        };
        playback.set_times();
        Ok(playback)
    }

    /// The frame `index`, frames being [`FIXED_STEP`] apart: the time depends on nothing else.
    pub(super) fn seek_frame(&mut self, index: u64) {
        self.time = f64::from(self.start) + index as f64 * f64::from(FIXED_STEP);
        self.delta = if index == 0 { 0.0 } else { FIXED_STEP };
        self.set_times();
    }

    /// Moves on after a number of seconds of the clock.
    pub(super) fn advance(&mut self, seconds: f32) {
        self.step_by(if self.paused { 0.0 } else { seconds * self.speed });
    }

    /// Moves on by a number of simulated seconds, paused or not.
    pub(super) fn step_by(&mut self, delta: f32) {
        self.time += f64::from(delta);
        self.delta = delta;
        self.set_times();
    }

    /// Goes to a point in time, in simulated seconds.
    pub(super) fn seek(&mut self, time: f32) {
        self.time = f64::from(time);
        self.set_times();
    }

    /// Plays other clips from here on.
    pub(super) fn play(&mut self, playing: Playing) {
        self.playing = playing;
        self.set_times();
    }

    /// Which clips play.
    pub(super) fn playing(&self) -> Playing {
        self.playing
    }

    /// Name and length in seconds of all clips.
    pub(super) fn clips(&self) -> &[(String, f32)] {
        &self.clips
    }

    /// The length of the longest playing clip in seconds, and where in it the model is. `None` where nothing plays.
    pub(super) fn position(&self) -> Option<(f32, f32)> {
        let longest = self.times.iter().max_by(|a, b| self.clips[a.0].1.total_cmp(&self.clips[b.0].1))?;
        Some((self.clips[longest.0].1, longest.1))
    }

    /// What a sample is told.
    pub(super) fn step(&self) -> Step<'_> {
        Step { time: self.time as f32, delta: self.delta, clips: &self.times, repeat: self.repeat }
    }

    fn set_times(&mut self) {
        let chosen = match self.playing {
            Playing::None => 0..0,
            Playing::One(clip) => clip..clip + 1,
            Playing::All => 0..self.clips.len(),
        };
        self.times.clear();
        self.times.extend(chosen.map(|clip| (clip, animation_time(self.clips[clip].1, self.time, self.repeat))));
    }
}

/// The clips that `--animation N|NAME|all|none` names; without it the first.
fn chosen(scene: &Scene, wanted: Option<&str>) -> Result<Playing> {
    let Some(wanted) = wanted else {
        return Ok(if scene.animations.is_empty() { Playing::None } else { Playing::One(0) });
    };
    match (scene.find_animation(wanted), wanted) {
        (Ok(clip), _) => Ok(Playing::One(clip)),
        (Err(_), "none") => Ok(Playing::None),
        (Err(_), "all") => Ok(Playing::All),
        (Err(missing), _) => Err(missing).context("--animation"),
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

    fn playback(animation: Option<&str>, no_loop: bool, start: f32) -> Playback {
        let options = ModelOptions { animation: animation.map(str::to_owned), no_loop, ..Default::default() };
        Playback::new(&scene(), &options, start).expect("the clip is there")
    }

    #[test]
    fn clips_by_number_name_all_and_none() {
        let chosen = |wanted| chosen(&scene(), wanted);
        assert_eq!(chosen(None).expect("it is there"), Playing::One(0));
        assert_eq!(chosen(Some("run")).expect("it is there"), Playing::One(1));
        assert_eq!(chosen(Some("2")).expect("it is there"), Playing::One(2));
        assert_eq!(chosen(Some("all")).expect("it is there"), Playing::All);
        assert_eq!(chosen(Some("none")).expect("it is there"), Playing::None);
        let error = chosen(Some("swim")).expect_err("it is not there");
        let error = format!("{error:#}");
        assert!(error.contains("swim") && error.contains("0 walk, 1 run, 2"), "{error}");
    }

    #[test]
    fn a_clip_repeats() {
        let mut playback = playback(Some("all"), false, 4.75);
        assert_eq!(playback.step().clips, [(0, 0.75), (1, 0.25), (2, 0.0)]);
        playback.advance(0.5);
        assert_eq!(playback.step().clips, [(0, 1.25), (1, 0.25), (2, 0.0)]);
        assert_eq!(playback.step().delta, 0.5);
        assert_eq!(playback.position(), Some((2.0, 1.25)));
    }

    #[test]
    fn or_holds_its_last_pose() {
        assert_eq!(playback(Some("walk"), true, 4.75).step().clips, [(0, 2.0)]);
        assert_eq!(playback(Some("walk"), false, -0.5).step().clips, [(0, 1.5)]);
    }

    #[test]
    fn frames_are_a_sixtieth_of_a_second_apart() {
        let mut playback = playback(None, false, 1.0);
        playback.seek_frame(30);
        assert!((playback.step().time - 1.5).abs() < 1e-6);
    }

    #[test]
    fn the_clock_is_followed_at_a_speed_and_not_while_paused() {
        let mut playback = playback(Some("walk"), false, 0.0);
        playback.speed = 0.5;
        playback.advance(1.0);
        assert_eq!(playback.step().clips, [(0, 0.5)]);
        playback.paused = true;
        playback.advance(1.0);
        assert_eq!(playback.step().clips, [(0, 0.5)]);
        playback.step_by(0.25);
        assert_eq!(playback.step().clips, [(0, 0.75)]);
        playback.seek(1.5);
        playback.play(Playing::One(1));
        assert_eq!(playback.step().clips, [(1, 0.0)]);
    }
}
