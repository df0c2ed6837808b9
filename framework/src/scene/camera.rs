//! Loading of cameras.

use super::error::{Problem, broken};
use super::import::Context;
use super::{Camera, Projection};
use gltf::json::camera as json;

pub(super) fn import_cameras(context: &Context) -> Result<Vec<Camera>, Problem> {
    let cameras = context.root.cameras.iter().enumerate();
    cameras.map(|(index, json)| import_camera(context, &format!("/cameras/{index}"), json)).collect()
}

/// A camera whose numbers make a projection: what cannot be used is replaced.
fn import_camera(context: &Context, at: &str, json: &json::Camera) -> Result<Camera, Problem> {
    let warn = |field: &str, default: f32| {
        context
            .warnings
            .add(format!("{at}/{field}"), format!("is not a number that a camera can have; {default} is used"));
        default
    };
    let positive = |field: &str, value: f32, default: f32| match value {
        value if value > 0.0 && value.is_finite() => value,
        _ => warn(field, default),
    };
    let projection = match (&json.perspective, &json.orthographic) {
        (Some(json), _) => {
            let yfov = match json.yfov {
                yfov if yfov > 0.0 && yfov < std::f32::consts::PI => yfov,
                _ => warn("perspective/yfov", 0.8),
            };
            let znear = positive("perspective/znear", json.znear, 0.01);
            Projection::Perspective {
                yfov,
                aspect_ratio: json.aspect_ratio.map(|ratio| positive("perspective/aspectRatio", ratio, 1.0)),
                znear,
                zfar: json.zfar.filter(|&zfar| zfar > znear && zfar.is_finite()),
            }
        }
        (None, Some(json)) => {
            let size = |field: &str, value: f32| positive(field, value.abs(), 1.0);
            let znear = if json.znear.is_finite() { json.znear.max(0.0) } else { warn("orthographic/znear", 0.0) };
            let is_beyond = json.zfar > znear && json.zfar.is_finite();
            Projection::Orthographic {
                xmag: size("orthographic/xmag", json.xmag),
                ymag: size("orthographic/ymag", json.ymag),
                znear,
                zfar: if is_beyond { json.zfar } else { warn("orthographic/zfar", znear + 100.0) },
            }
        }
        (None, None) => return Err(broken(at, "has neither perspective nor orthographic, and a camera needs one")),
    };
    Ok(Camera { name: json.name.clone(), projection })
}
