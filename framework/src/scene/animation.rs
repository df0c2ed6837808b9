//! Animation channels: loading and sampling (glTF 2.0, section 3.11 and appendix C).

use super::accessor::{dangling, resolve};
use super::error::{Problem, broken};
use super::import::Context;
use super::json::given;
use super::primitive::replace;
use super::{Animation, Node, Scene, Transform};
use glam::{FloatExt, Quat, Vec3};
use gltf::json;
use gltf::json::accessor::Type;
use gltf::json::animation::Property;
use gltf::json::validation::Checked;
use std::fmt::Arguments;
use std::ops::{Add, Mul};

/// What moves one property of one node.
#[derive(Debug, Clone)]
pub struct Channel {
    /// The node that moves. It has a [`Transform::Trs`].
    pub node: usize,
    /// The times of the keys, in seconds: finite, at least one, none less than the one before.
    pub times: Vec<f32>,
    /// What happens between two keys.
    pub interpolation: Interpolation,
    /// The property that moves and its values at the keys: one a key, with [`Interpolation::CubicSpline`]
    /// three (in-tangent, value, out-tangent). All are finite.
    pub values: Values,
}

/// What happens between two keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// The earlier key's value stays.
    Step,
    /// A straight line; rotations turn at constant speed by the shorter way.
    Linear,
    /// A cubic Hermite spline with tangents at the keys; rotations are normalized afterwards.
    CubicSpline,
}

/// The property of a node that a channel moves, with the values that it takes.
#[derive(Debug, Clone)]
pub enum Values {
    /// Translations in metres.
    Translation(Vec<Vec3>),
    /// Rotations; unit quaternions except with [`Interpolation::CubicSpline`].
    Rotation(Vec<Quat>),
    /// Scales along each axis.
    Scale(Vec<Vec3>),
    /// Weights of the node's morph targets: for each value as many numbers as the node has [`Node::weights`].
    Weights(Vec<f32>),
}

/// Where a time falls among the keys.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    /// On, before the first or after the last key: that key's value.
    Key(usize),
    /// After `key` and before the next one: what part of the `interval` (in seconds) between them is over.
    Between { key: usize, part: f32, interval: f32 },
}

impl Channel {
    /// Sets this channel's property, which is of `local` or the `weights` of morph targets, as it is at `time` (seconds).
    /// Before the first and after the last key it is that key's value. A matrix stays as it is.
    pub fn apply(&self, time: f32, local: &mut Transform, weights: &mut [f32]) {
        let place = self.place(time);
        // Values at the end of the range of floats can overflow on their way.
        match (&self.values, local) {
            (Values::Weights(values), _) => {
                let count = weights.len();
                for (target, weight) in weights.iter_mut().enumerate() {
                    let sampled = self.sample(place, |value| values[value * count + target], f32::lerp);
                    *weight = if sampled.is_finite() { sampled } else { *weight };
                }
            }
            (Values::Translation(values), Transform::Trs { translation, .. }) => {
                set_finite(translation, self.sample(place, |value| values[value], Vec3::lerp));
            }
            (Values::Scale(values), Transform::Trs { scale, .. }) => {
                set_finite(scale, self.sample(place, |value| values[value], Vec3::lerp));
            }
            // A spline can pass through zero, where there is no rotation to be had.
            (Values::Rotation(values), Transform::Trs { rotation, .. }) => {
                *rotation = unit(self.sample(place, |value| values[value], slerp)).unwrap_or(*rotation);
            }
            (_, Transform::Matrix(_)) => {}
        }
    }

    /// The value at a place. `value` gets one by its index, of which a spline has three for each key.
    fn sample<T>(&self, place: Place, value: impl Fn(usize) -> T, linear: impl Fn(T, T, f32) -> T) -> T
    where
        T: Add<Output = T> + Mul<f32, Output = T>,
    {
        match (self.interpolation, place) {
            (Interpolation::CubicSpline, Place::Key(key)) => value(3 * key + 1),
            (Interpolation::CubicSpline, Place::Between { key, part, interval }) => {
                let key = 3 * key;
                cubic_spline(part, interval, value(key + 1), value(key + 2), value(key + 3), value(key + 4))
            }
            (Interpolation::Linear, Place::Between { key, part, .. }) => linear(value(key), value(key + 1), part),
            (_, Place::Key(key) | Place::Between { key, .. }) => value(key),
        }
    }

    fn place(&self, time: f32) -> Place {
        let next = self.keys_until(time);
        if next == 0 || next == self.times.len() {
            return Place::Key(next.saturating_sub(1));
        }
        // Of several keys at the same time the last one counts: the interval is never 0.
        let (start, end) = (self.times[next - 1], self.times[next]);
        if start == time {
            return Place::Key(next - 1);
        }
        Place::Between { key: next - 1, part: (time - start) / (end - start), interval: end - start }
    }
}

impl Channel {
    /// How many keys are not after a time.
    fn keys_until(&self, time: f32) -> usize {
        let is_over = |&key: &f32| key <= time;
        // Where keys are equally far apart, as most are, they need not be searched: that takes longer the more there are.
        if let [first, .., last] = self.times[..] {
            let guess = (time - first) / (last - first) * (self.times.len() - 1) as f32;
            let start = (guess as usize).saturating_sub(1);
            if let Some(near) = self.times.get(start..start.saturating_add(4))
                && is_over(&near[0])
                && !is_over(&near[3])
            {
                return start + near.partition_point(is_over);
            }
        }
        self.times.partition_point(is_over)
    }
}

/// The cubic spline of glTF 2.0, appendix C.5, between the values `v0` and `v1`; `b0` is the out-tangent of
/// the first key, `a1` the in-tangent of the second one, both by the second.
fn cubic_spline<T>(t: f32, interval: f32, v0: T, b0: T, a1: T, v1: T) -> T
where
    T: Add<Output = T> + Mul<f32, Output = T>,
{
    let (t2, t3) = (t * t, t * t * t);
    v0 * (2.0 * t3 - 3.0 * t2 + 1.0)
        + b0 * (interval * (t3 - 2.0 * t2 + t))
        + v1 * (-2.0 * t3 + 3.0 * t2)
        + a1 * (interval * (t3 - t2))
}

/// Spherical linear interpolation of unit quaternions by the shorter way (glTF 2.0, appendix C.4).
pub(super) fn slerp(from: Quat, to: Quat, t: f32) -> Quat {
    let to = if from.dot(to) < 0.0 { -to } else { to };
    // The angle from the chords: the arc cosine of a dot product near 1 has but half the digits.
    let angle = 2.0 * (from - to).length().atan2((from + to).length());
    let sine = angle.sin();
    if sine < 1e-6 {
        return from * (1.0 - t) + to * t;
    }
    from * (((1.0 - t) * angle).sin() / sine) + to * ((t * angle).sin() / sine)
}

/// The rotation that a quaternion of any length stands for, if it stands for one.
pub(super) fn unit(quaternion: Quat) -> Option<Quat> {
    let length = quaternion.length();
    (length > 1e-15 && length.is_finite()).then(|| quaternion * (1.0 / length))
}

fn set_finite(place: &mut Vec3, value: Vec3) {
    if value.is_finite() {
        *place = value;
    }
}

impl Scene {
    /// The first animation of that name. Names need not be unique: an index tells animations apart.
    #[must_use]
    pub fn animation_named(&self, name: &str) -> Option<usize> {
        self.animations.iter().position(|animation| animation.name.as_deref() == Some(name))
    }

    /// The animation that people call by its name, or else by its index.
    ///
    /// # Errors
    ///
    /// There is none: says which there are.
    pub fn find_animation(&self, wanted: &str) -> Result<usize, MissingAnimation> {
        let by_index = || wanted.parse().ok().filter(|&index: &usize| index < self.animations.len());
        self.animation_named(wanted).or_else(by_index).ok_or_else(|| {
            let names = self.animations.iter().enumerate().map(|(index, animation)| match &animation.name {
                Some(name) => format!("{index} {name}"),
                None => index.to_string(),
            });
            MissingAnimation(match names.collect::<Vec<_>>().join(", ") {
                names if names.is_empty() => format!("{} has no animation, so not {wanted:?} either", self.name),
                names => format!("{} has no animation {wanted:?}; it has {names}", self.name),
            })
        })
    }
}

/// A scene does not have the animation that is asked for.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct MissingAnimation(String);

/// Where in an animation of this length (seconds) a point in time is, if it begins anew at its end, or else holds its last
/// pose.
#[must_use]
pub fn animation_time(duration: f32, time: f64, repeat: bool) -> f32 {
    let duration = f64::from(duration);
    let time = match repeat && duration > 0.0 {
        true => time.rem_euclid(duration),
        false => time.min(duration).max(0.0),
    };
    time as f32
}

pub(super) fn import_animations(context: &Context, nodes: &[Node]) -> Result<Vec<Animation>, Problem> {
    context
        .root
        .animations
        .iter()
        .enumerate()
        .map(|(index, json)| import_animation(context, index, json, nodes))
        .collect()
}

fn import_animation(
    context: &Context,
    index: usize,
    json: &json::Animation,
    nodes: &[Node],
) -> Result<Animation, Problem> {
    let accessors = context.root.accessors.len();
    for (sampler, json) in json.samplers.iter().enumerate() {
        let at = format_args!("/animations/{index}/samplers/{sampler}");
        resolve(format_args!("{at}/input"), json.input, "accessors", accessors)?;
        resolve(format_args!("{at}/output"), json.output, "accessors", accessors)?;
    }
    let imported = context.import_each(&json.channels, |context, channel, target| {
        let at = format_args!("/animations/{index}/channels/{channel}");
        let sampler = target.sampler.value();
        let Some(json) = json.samplers.get(sampler) else {
            let array = format!("animations/{index}/samplers");
            return Err(dangling(format_args!("{at}/sampler"), sampler, &array, json.samplers.len()));
        };
        let at_sampler = format_args!("/animations/{index}/samplers/{sampler}");
        let times = import_times(context, at_sampler, json)?;
        let end = times.last().copied().unwrap_or(0.0);
        Ok((end, import_channel(context, (at, &target.target), (at_sampler, json), times, nodes)?))
    })?;
    let duration = imported.iter().fold(0.0, |duration: f32, &(end, _)| duration.max(end));
    let channels = imported.into_iter().filter_map(|(_, channel)| channel).collect();
    Ok(Animation { name: json.name.clone(), channels, duration })
}

/// Key times, made finite and sorted.
fn import_times(context: &Context, at: Arguments, json: &json::animation::Sampler) -> Result<Vec<f32>, Problem> {
    let at = format_args!("{at}/input");
    let mut times = context.accessors.floats(at, json.input, Type::Scalar, |[time]| time)?;
    let (mut bad, mut equal, mut last) = (0, 0, f32::MIN);
    for (index, time) in times.iter_mut().enumerate() {
        if !time.is_finite() || *time < last {
            bad += 1;
            *time = if index == 0 { 0.0 } else { last };
        } else if index > 0 && *time == last {
            equal += 1;
        }
        last = *time;
    }
    context.warnings.add_count(bad, at, "a key time is not finite or less than the one before, whose time is used");
    context.warnings.add_count(equal, at, "a key has the same time as the one before, which is skipped");
    Ok(times)
}

/// A channel, unless it moves nothing here.
fn import_channel(
    context: &Context,
    (at, target): (Arguments, &json::animation::Target),
    (at_sampler, sampler): (Arguments, &json::animation::Sampler),
    times: Vec<f32>,
    nodes: &[Node],
) -> Result<Option<Channel>, Problem> {
    let warn = |at: Arguments, rule: &str| {
        context.warnings.add(at, rule);
        Ok(None)
    };
    let Checked::Valid(property) = target.path else {
        return warn(format_args!("{at}/target/path"), "is not a property that glTF knows; the channel is ignored");
    };
    // A channel without a node is for extensions.
    let Some(node) = given(target.node) else {
        return Ok(None);
    };
    let node = resolve(format_args!("{at}/target/node"), node, "nodes", nodes.len())?;
    let is_weights = property == Property::MorphTargetWeights;
    if is_weights && nodes[node].weights.is_empty() {
        return warn(format_args!("{at}/target/node"), "the node has no morph targets; the channel is ignored");
    }
    if !is_weights && matches!(nodes[node].local, Transform::Matrix(_)) {
        return warn(
            format_args!("{at}/target/node"),
            "a node with a matrix cannot be animated; the channel is ignored",
        );
    }
    if times.is_empty() {
        return warn(format_args!("{at_sampler}/input"), "has no keys; the channel is ignored");
    }
    let interpolation = match sampler.interpolation {
        Checked::Valid(json::animation::Interpolation::Step) => Interpolation::Step,
        Checked::Valid(json::animation::Interpolation::Linear) => Interpolation::Linear,
        Checked::Valid(json::animation::Interpolation::CubicSpline) => Interpolation::CubicSpline,
        Checked::Invalid => {
            context.warnings.add(format!("{at_sampler}/interpolation"), "is not one that glTF knows; LINEAR is used");
            Interpolation::Linear
        }
    };
    let output = format_args!("{at_sampler}/output");
    let accessors = &context.accessors;
    let values = match property {
        Property::Translation => {
            Values::Translation(accessors.floats(output, sampler.output, Type::Vec3, Vec3::from_array)?)
        }
        Property::Scale => Values::Scale(accessors.floats(output, sampler.output, Type::Vec3, Vec3::from_array)?),
        Property::MorphTargetWeights => {
            Values::Weights(accessors.floats(output, sampler.output, Type::Scalar, |[weight]| weight)?)
        }
        Property::Rotation => {
            Values::Rotation(accessors.floats(output, sampler.output, Type::Vec4, Quat::from_array)?)
        }
    };
    let mut channel = Channel { node, times, interpolation, values };
    check_values(context, output, &mut channel, nodes[node].weights.len())?;
    Ok(Some(channel))
}

/// Checks the number of values, and replaces those that are none. `targets` is how many morph targets the node has.
fn check_values(context: &Context, at: Arguments, channel: &mut Channel, targets: usize) -> Result<(), Problem> {
    let is_spline = channel.interpolation == Interpolation::CubicSpline;
    let mut needed = channel.times.len() * if is_spline { 3 } else { 1 };
    let count = match &mut channel.values {
        Values::Translation(values) | Values::Scale(values) => values.len(),
        Values::Rotation(values) => values.len(),
        Values::Weights(values) => {
            fit_weights(context, at, values, needed, targets);
            needed *= targets;
            values.len()
        }
    };
    if count < needed {
        return Err(broken(at, format!("{count} values for {} keys, which need {needed}", channel.times.len())));
    }
    let bad = match &mut channel.values {
        Values::Translation(values) => replace(values, |value| !value.is_finite(), Vec3::ZERO),
        Values::Scale(values) => replace(values, |value| !value.is_finite(), Vec3::ONE),
        Values::Rotation(values) => replace_rotations(values, is_spline),
        Values::Weights(values) => replace(values, |weight| !weight.is_finite(), 0.0),
    };
    context.warnings.add_count(bad, at, "a value is not finite or not a rotation; that of no motion is used");
    Ok(())
}

/// Makes weights that the file has for another number of morph targets fit: those of further targets are dropped, those of
/// missing ones are 0.
fn fit_weights(context: &Context, at: Arguments, weights: &mut Vec<f32>, values: usize, targets: usize) {
    let (count, is_whole) = (weights.len() / values, weights.len().is_multiple_of(values));
    if count == targets || count == 0 || !is_whole {
        return;
    }
    let message = format!("has the weights of {count} morph targets where the node has {targets}");
    context.warnings.add(at, message);
    let fit = |value: &[f32]| (0..targets).map(|target| value.get(target).copied().unwrap_or(0.0)).collect::<Vec<_>>();
    *weights = weights.chunks_exact(count).flat_map(fit).collect();
}

/// Normalizes rotations, but not the values of a spline, and tangents, which are no rotations, only need to be finite.
fn replace_rotations(values: &mut [Quat], is_spline: bool) -> usize {
    let mut bad = 0;
    for (index, value) in values.iter_mut().enumerate() {
        let is_tangent = is_spline && index % 3 != 1;
        let (sane, fallback) = match (is_tangent, is_spline) {
            (true, _) => (value.is_finite().then_some(*value), Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)),
            (false, true) => (unit(*value).map(|_| *value), Quat::IDENTITY),
            (false, false) => (unit(*value), Quat::IDENTITY),
        };
        bad += usize::from(sane.is_none());
        *value = sane.unwrap_or(fallback);
    }
    bad
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_4};

    fn channel(times: &[f32], interpolation: Interpolation, values: Values) -> Channel {
        Channel { node: 0, times: times.to_vec(), interpolation, values }
    }

    fn translation_at(channel: &Channel, time: f32) -> Vec3 {
        let mut local = REST;
        channel.apply(time, &mut local, &mut []);
        let Transform::Trs { translation, .. } = local else { unreachable!() };
        translation
    }

    fn rotation_at(channel: &Channel, time: f32) -> Quat {
        let mut local = REST;
        channel.apply(time, &mut local, &mut []);
        let Transform::Trs { rotation, .. } = local else { unreachable!() };
        rotation
    }

    const REST: Transform = Transform::Trs { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE };

    fn assert_same_rotation(a: Quat, b: Quat) {
        assert!((a.dot(b).abs() - 1.0).abs() < 1e-6, "{a} is not {b}");
        assert!(a.is_normalized());
    }

    #[test]
    fn step_holds_the_earlier_key() {
        let channel =
            channel(&[1.0, 2.0, 4.0], Interpolation::Step, Values::Translation(vec![Vec3::X, Vec3::Y, Vec3::Z]));
        for (time, expected) in [
            (-1.0, Vec3::X),
            (1.0, Vec3::X),
            (1.999, Vec3::X),
            (2.0, Vec3::Y),
            (3.9, Vec3::Y),
            (4.0, Vec3::Z),
            (9.0, Vec3::Z),
        ] {
            assert_eq!(translation_at(&channel, time), expected, "at {time}");
        }
    }

    #[test]
    fn linear_is_a_straight_line_and_clamps() {
        let values = Values::Translation(vec![Vec3::ZERO, Vec3::new(8.0, 4.0, 0.0)]);
        let channel = channel(&[1.0, 3.0], Interpolation::Linear, values);
        assert_eq!(translation_at(&channel, 1.5), Vec3::new(2.0, 1.0, 0.0));
        assert_eq!(translation_at(&channel, 0.0), Vec3::ZERO);
        assert_eq!(translation_at(&channel, f32::INFINITY), Vec3::new(8.0, 4.0, 0.0));
        assert_eq!(translation_at(&channel, f32::NAN), Vec3::ZERO);
    }

    #[test]
    fn a_spline_has_tangents_scaled_by_the_interval() {
        // Appendix C.5 by hand: interval 2, t = 1/2: v0/2 + 2 * b0/8 + v1/2 - 2 * a1/8
        // with v0 = 1, b0 = 4, a1 = 12, v1 = 3: 0.5 + 1 + 1.5 - 3 = 0. In- and out-tangents at the ends are unused.
        let values = [100.0, 1.0, 4.0, 12.0, 3.0, 100.0].map(Vec3::splat).to_vec();
        let channel = channel(&[5.0, 7.0], Interpolation::CubicSpline, Values::Translation(values));
        assert!(translation_at(&channel, 6.0).abs_diff_eq(Vec3::ZERO, 1e-6));
        // t = 1/4: (2/64 - 3/16 + 1) v0 + 2 (1/64 - 2/16 + 1/4) b0 + (-2/64 + 3/16) v1 + 2 (1/64 - 1/16) a1
        //        = 0.84375 + 1.125 + 0.46875 - 1.125.
        assert!(translation_at(&channel, 5.5).abs_diff_eq(Vec3::splat(1.3125), 1e-6));
        assert_eq!(translation_at(&channel, 4.0), Vec3::ONE);
        assert_eq!(translation_at(&channel, 7.0), Vec3::splat(3.0));
    }

    #[test]
    fn rotations_take_the_shorter_way() {
        let quarter = Quat::from_rotation_y(FRAC_PI_2);
        for end in [quarter, -quarter] {
            let channel = channel(&[0.0, 1.0], Interpolation::Linear, Values::Rotation(vec![Quat::IDENTITY, end]));
            assert_same_rotation(rotation_at(&channel, 0.5), Quat::from_rotation_y(FRAC_PI_4));
            assert_same_rotation(rotation_at(&channel, 0.25), Quat::from_rotation_y(FRAC_PI_4 / 2.0));
        }
    }

    #[test]
    fn close_rotations_keep_their_difference() {
        for angle in [1e-2, 1e-3, 1e-5] {
            let half = slerp(Quat::IDENTITY, Quat::from_rotation_x(angle), 0.5);
            assert!((half.x - angle / 4.0).abs() < 1e-5 * angle, "{half} for {angle}");
        }
    }

    #[test]
    fn spline_rotations_are_normalized_afterwards() {
        // Without tangents, half way: the mean of (0, 0, 0, 1) and (0, 0, s, s), not their slerp at another length.
        let zero = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
        let end = Quat::from_xyzw(0.0, 0.0, FRAC_1_SQRT_2, FRAC_1_SQRT_2);
        let values = Values::Rotation(vec![zero, Quat::IDENTITY, zero, zero, end, zero]);
        let channel = channel(&[0.0, 1.0], Interpolation::CubicSpline, values);
        assert_same_rotation(rotation_at(&channel, 0.5), Quat::from_rotation_z(FRAC_PI_4));
    }

    #[test]
    fn a_spline_through_zero_is_no_rotation() {
        let zero = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
        let values = Values::Rotation(vec![zero, Quat::IDENTITY, zero, zero, -Quat::IDENTITY, zero]);
        let channel = channel(&[0.0, 1.0], Interpolation::CubicSpline, values);
        assert_eq!(rotation_at(&channel, 0.5), Quat::IDENTITY);
    }

    #[test]
    fn rotations_are_normalized_on_keys_too() {
        let mut values = vec![Quat::from_xyzw(0.0, 0.0, 2.0, 2.0), Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)];
        assert_eq!(replace_rotations(&mut values, false), 1);
        assert_same_rotation(values[0], Quat::from_rotation_z(FRAC_PI_2));
        assert_eq!(values[1], Quat::IDENTITY);
        let spline = channel(&[0.0], Interpolation::CubicSpline, Values::Rotation(vec![values[0] * 9.0; 3]));
        assert_same_rotation(rotation_at(&spline, 0.0), Quat::from_rotation_z(FRAC_PI_2));
    }

    #[test]
    fn one_key_is_a_constant() {
        let channel = channel(&[2.0], Interpolation::Linear, Values::Scale(vec![Vec3::splat(3.0)]));
        for time in [0.0, 2.0, 5.0] {
            let mut local = REST;
            channel.apply(time, &mut local, &mut []);
            assert!(matches!(local, Transform::Trs { scale, .. } if scale == Vec3::splat(3.0)));
        }
    }

    #[test]
    fn equal_times_jump_to_the_later_key() {
        let values = Values::Translation(vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z]);
        let channel = channel(&[0.0, 1.0, 1.0, 2.0], Interpolation::Linear, values);
        assert_eq!(translation_at(&channel, 0.5), Vec3::X * 0.5);
        assert_eq!(translation_at(&channel, 1.0), Vec3::Y);
        assert_eq!(translation_at(&channel, 1.5), Vec3::new(0.0, 0.5, 0.5));
    }

    #[test]
    fn keys_are_found_by_bisection() {
        let times: Vec<f32> = (0..1000).map(|key| key as f32).collect();
        let values = Values::Translation(times.iter().map(|&time| Vec3::splat(time * 10.0)).collect());
        let channel = channel(&times, Interpolation::Linear, values);
        assert_eq!(channel.place(517.25), Place::Between { key: 517, part: 0.25, interval: 1.0 });
        assert_eq!(translation_at(&channel, 517.25), Vec3::splat(5172.5));
    }

    #[test]
    fn keys_are_found_at_any_distances() {
        let even: Vec<f32> = (0..50).map(|key| 2.0 + key as f32 / 30.0).collect();
        let uneven: Vec<f32> = (0..50).map(|key| (key as f32 / 10.0).exp()).collect();
        let stops: Vec<f32> = (0..50).map(|key| (key / 7) as f32).collect();
        for times in [even, uneven, stops, vec![0.0, f32::MAX], vec![3.0; 5], vec![f32::MIN, 0.0, 1.0, f32::MAX]] {
            let channel = channel(&times, Interpolation::Step, Values::Weights(vec![0.0; times.len()]));
            let between = times.iter().flat_map(|&time| [time, time.next_down(), time.next_up(), time + 0.01]);
            for time in between.chain([f32::NAN, f32::INFINITY, f32::NEG_INFINITY]) {
                assert_eq!(channel.keys_until(time), times.partition_point(|&key| key <= time), "{time} in {times:?}");
            }
        }
    }

    #[test]
    fn huge_values_do_not_overflow() {
        let values = Values::Translation([f32::MAX, f32::MIN].into_iter().flat_map(|v| [Vec3::splat(v); 3]).collect());
        let channel = channel(&[0.0, 3e38], Interpolation::CubicSpline, values);
        assert!(translation_at(&channel, 1e38).is_finite());
    }
}
