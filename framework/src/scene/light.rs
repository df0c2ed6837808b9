//! Loading of lights: KHR_lights_punctual.

use super::import::Context;
use super::{Light, LightKind};
use glam::Vec3;
use gltf::json::extensions::scene::khr_lights_punctual as json;
use gltf::json::validation::Checked;
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4};

/// The lights of the file.
pub(super) fn lights<'a>(context: &Context<'a>) -> &'a [json::Light] {
    let extension = context.root.extensions.as_ref().and_then(|extensions| extensions.khr_lights_punctual.as_ref());
    extension.map_or(&[], |extension| &extension.lights)
}

pub(super) fn import_lights(context: &Context) -> Vec<Light> {
    let at = |index| format!("/extensions/KHR_lights_punctual/lights/{index}");
    lights(context).iter().enumerate().map(|(index, json)| import_light(context, &at(index), json)).collect()
}

/// A light whose numbers are sane: what cannot be used is replaced.
fn import_light(context: &Context, at: &str, json: &json::Light) -> Light {
    let warn = |field: &str, instead: &str| {
        context.warnings.add(format!("{at}/{field}"), format!("is not one that a light can have; {instead} is used"));
    };
    let mut color = Vec3::from_array(json.color);
    if !color.is_finite() || color.min_element() < 0.0 {
        warn("color", "white");
        color = Vec3::ONE;
    }
    let mut intensity = json.intensity;
    if !(0.0..=f32::MAX).contains(&intensity) {
        warn("intensity", "0");
        intensity = 0.0;
    }
    let range = json.range.filter(|&range| range > 0.0 && range.is_finite());
    let kind = match json.type_ {
        Checked::Valid(json::Type::Directional) => LightKind::Directional,
        Checked::Valid(json::Type::Point) => LightKind::Point { range },
        Checked::Valid(json::Type::Spot) => {
            let (inner, outer) =
                json.spot.as_ref().map_or((0.0, FRAC_PI_4), |s| (s.inner_cone_angle, s.outer_cone_angle));
            let is_cone = inner >= 0.0 && inner < outer && outer <= FRAC_PI_2;
            if !is_cone {
                warn("spot", "a cone of 0 to 45 degrees");
            }
            let (inner_cone_angle, outer_cone_angle) = if is_cone { (inner, outer) } else { (0.0, FRAC_PI_4) };
            LightKind::Spot { range, inner_cone_angle, outer_cone_angle }
        }
        Checked::Invalid => {
            warn("type", "a point light without intensity");
            intensity = 0.0;
            LightKind::Point { range: None }
        }
    };
    Light { name: json.name.clone(), color, intensity, kind }
}
