//! Loading of materials, textures and samplers.

use super::accessor::{dangling, resolve};
use super::error::Problem;
use super::import::Context;
use super::json::given;
use super::{AlphaMode, Filter, Material, Sampler, Texture, TextureInfo, TextureSlot, Wrap};
use glam::{Affine2, Vec2, Vec3, Vec4};
use gltf::json::material as json;
use gltf::json::texture::{self, MagFilter, MinFilter, WrappingMode};
use gltf::json::validation::Checked;
use serde_json::{Map, Value};

/// Extensions that name another image for a texture, to be taken before the texture's own.
const IMAGE_EXTENSIONS: &[&str] = &["KHR_texture_basisu", "EXT_texture_webp"];

/// The file's materials, and after them glTF's default one.
pub(super) fn import_materials(context: &Context) -> Result<Vec<Material>, Problem> {
    let default = json::Material::default();
    let materials = context.root.materials.iter().chain([&default]).enumerate();
    materials.map(|(index, json)| import_material(context, &format!("/materials/{index}"), json)).collect()
}

fn import_material(context: &Context, at: &str, json: &json::Material) -> Result<Material, Problem> {
    let pbr = &json.pbr_metallic_roughness;
    let number = Numbers { context, at };
    let extensions = json.extensions.as_ref();
    let strength = extensions.and_then(|extensions| extensions.emissive_strength.as_ref());
    let strength = strength.map_or(1.0, |strength| strength.emissive_strength.0);
    let normal_scale = json.normal_texture.as_ref().map_or(1.0, |normal| normal.scale);
    let occlusion = json.occlusion_texture.as_ref().map_or(1.0, |occlusion| occlusion.strength.0);
    let strength = number.at_least_0("extensions/KHR_materials_emissive_strength/emissiveStrength", strength);
    Ok(Material {
        name: json.name.clone(),
        base_color_factor: number.color("pbrMetallicRoughness/baseColorFactor", pbr.base_color_factor.0.into()),
        metallic_factor: number.share("pbrMetallicRoughness/metallicFactor", pbr.metallic_factor.0),
        roughness_factor: number.share("pbrMetallicRoughness/roughnessFactor", pbr.roughness_factor.0),
        normal_scale: number.finite("normalTexture/scale", normal_scale),
        occlusion_strength: number.share("occlusionTexture/strength", occlusion),
        emissive_factor: number.light("emissiveFactor", json.emissive_factor.0.into()) * strength,
        textures: import_slots(context, at, json)?,
        alpha_mode: import_alpha_mode(context, at, json),
        double_sided: json.double_sided,
        unlit: extensions.is_some_and(|extensions| extensions.unlit.is_some()),
    })
}

/// Numbers of a material, with sane ones in place of those that are not.
struct Numbers<'a> {
    context: &'a Context<'a>,
    at: &'a str,
}

impl Numbers<'_> {
    fn warn(&self, field: &str, rule: &str) {
        self.context.warnings.add(format!("{}/{field}", self.at), rule);
    }

    fn finite(&self, field: &str, value: f32) -> f32 {
        if value.is_finite() {
            return value;
        }
        self.warn(field, "is not finite; 1 is used");
        1.0
    }

    fn at_least_0(&self, field: &str, value: f32) -> f32 {
        let value = self.finite(field, value);
        if value < 0.0 {
            self.warn(field, "is negative; 0 is used");
        }
        value.max(0.0)
    }

    /// A number of 0 to 1.
    fn share(&self, field: &str, value: f32) -> f32 {
        let value = self.at_least_0(field, value);
        if value > 1.0 {
            self.warn(field, "is above 1; 1 is used");
        }
        value.min(1.0)
    }

    fn color(&self, field: &str, value: Vec4) -> Vec4 {
        if value.is_finite() {
            return value;
        }
        self.warn(field, "has a number that is not finite; white is used");
        Vec4::ONE
    }

    fn light(&self, field: &str, value: Vec3) -> Vec3 {
        if value.is_finite() && value.min_element() >= 0.0 {
            return value;
        }
        self.warn(field, "has a number that is negative or not finite; black is used");
        Vec3::ZERO
    }
}

/// A material's textures by [`TextureSlot`].
fn import_slots(
    context: &Context,
    at: &str,
    json: &json::Material,
) -> Result<[Option<TextureInfo>; TextureSlot::COUNT], Problem> {
    let pbr = &json.pbr_metallic_roughness;
    let info = |field: &str, info: &Option<texture::Info>| {
        let Some(info) = info else { return Ok(None) };
        let extensions = info.extensions.as_ref().map(|extensions| &extensions.others);
        import_info(context, &format!("{at}/{field}"), (info.index, info.tex_coord), extensions).map(Some)
    };
    let normal = json.normal_texture.as_ref().map(|info| {
        let extensions = info.extensions.as_ref().map(|extensions| &extensions.others);
        import_info(context, &format!("{at}/normalTexture"), (info.index, info.tex_coord), extensions)
    });
    let occlusion = json.occlusion_texture.as_ref().map(|info| {
        let extensions = info.extensions.as_ref().map(|extensions| &extensions.others);
        import_info(context, &format!("{at}/occlusionTexture"), (info.index, info.tex_coord), extensions)
    });
    Ok([
        info("pbrMetallicRoughness/baseColorTexture", &pbr.base_color_texture)?,
        info("pbrMetallicRoughness/metallicRoughnessTexture", &pbr.metallic_roughness_texture)?,
        normal.transpose()?,
        occlusion.transpose()?,
        info("emissiveTexture", &json.emissive_texture)?,
    ])
}

fn import_info(
    context: &Context,
    at: &str,
    (index, tex_coord): (gltf::json::Index<texture::Texture>, u32),
    extensions: Option<&Map<String, Value>>,
) -> Result<TextureInfo, Problem> {
    let texture = resolve(format_args!("{at}/index"), index, "textures", context.root.textures.len())?;
    let transform = extensions.and_then(|extensions| extensions.get("KHR_texture_transform"));
    let overridden = transform.and_then(|transform| transform.get("texCoord")).and_then(Value::as_u64);
    let mut tex_coord = overridden.unwrap_or(tex_coord.into()) as usize;
    if tex_coord > 1 {
        context.warnings.add(format!("{at}/texCoord"), "only TEXCOORD_0 and TEXCOORD_1 are read; TEXCOORD_0 is used");
        tex_coord = 0;
    }
    let transform = transform.map_or(Affine2::IDENTITY, |transform| {
        import_transform(transform).unwrap_or_else(|| {
            let at = format!("{at}/extensions/KHR_texture_transform");
            context.warnings.add(at, "is not an offset, a rotation and a scale in numbers; it is ignored");
            Affine2::IDENTITY
        })
    });
    Ok(TextureInfo { texture, tex_coord, transform })
}

/// KHR_texture_transform: translation · rotation · scale. In texture space, where v points down, its rotation matrix is
/// [cos, sin; -sin, cos].
fn import_transform(json: &Value) -> Option<Affine2> {
    let number = |value: &Value| value.as_f64().map(|number| number as f32).filter(|number| number.is_finite());
    let vector = |field: &str, default: Vec2| match json.get(field) {
        None => Some(default),
        Some(value) => match value.as_array()?.as_slice() {
            [x, y] => Some(Vec2::new(number(x)?, number(y)?)),
            _ => None,
        },
    };
    let rotation = json.get("rotation").map_or(Some(0.0), number)?;
    let (offset, scale) = (vector("offset", Vec2::ZERO)?, vector("scale", Vec2::ONE)?);
    Some(Affine2::from_scale_angle_translation(scale, -rotation, offset))
}

fn import_alpha_mode(context: &Context, at: &str, json: &json::Material) -> AlphaMode {
    let cutoff = json.alpha_cutoff.unwrap_or_default().0;
    match json.alpha_mode {
        Checked::Valid(json::AlphaMode::Opaque) => AlphaMode::Opaque,
        Checked::Valid(json::AlphaMode::Mask) => {
            AlphaMode::Mask { cutoff: if cutoff.is_finite() { cutoff } else { 0.5 } }
        }
        Checked::Valid(json::AlphaMode::Blend) => AlphaMode::Blend,
        Checked::Invalid => {
            context.warnings.add(format!("{at}/alphaMode"), "is none of OPAQUE, MASK and BLEND; OPAQUE is used");
            AlphaMode::Opaque
        }
    }
}

/// The file's textures.
pub(super) fn import_textures(context: &Context) -> Result<Vec<Texture>, Problem> {
    let root = context.root;
    let import = |(index, json): (usize, &texture::Texture)| {
        let at = format!("/textures/{index}");
        let image =
            given(json.source).map(|source| resolve(format_args!("{at}/source"), source, "images", root.images.len()));
        let other = import_other_image(&at, json, root.images.len())?;
        let sampler =
            json.sampler.map(|index| resolve(format_args!("{at}/sampler"), index, "samplers", root.samplers.len()));
        let sampler = import_sampler(context, sampler.transpose()?);
        Ok(Texture { image: other.or(image.transpose()?), sampler })
    };
    root.textures.iter().enumerate().map(import).collect()
}

/// The image that an extension names for a texture.
fn import_other_image(at: &str, json: &texture::Texture, images: usize) -> Result<Option<usize>, Problem> {
    let Some(extensions) = json.extensions.as_ref().map(|extensions| &extensions.others) else {
        return Ok(None);
    };
    let source = IMAGE_EXTENSIONS.iter().find_map(|&name| Some((name, extensions.get(name)?.get("source")?.as_u64()?)));
    match source {
        Some((name, source)) if source >= images as u64 => {
            Err(dangling(format_args!("{at}/extensions/{name}/source"), source as usize, "images", images))
        }
        source => Ok(source.map(|(_, source)| source as usize)),
    }
}

/// A sampler of the file; what it leaves open is linear and repeats.
fn import_sampler(context: &Context, index: Option<usize>) -> Sampler {
    let default = texture::Sampler::default();
    let json = index.map_or(&default, |index| &context.root.samplers[index]);
    let warn = |field| {
        let at = format!("/samplers/{}/{field}", index.unwrap_or(0));
        context.warnings.add(at, "is not a value that glTF knows; the default is used");
    };
    let mag_filter = match json.mag_filter {
        Some(Checked::Valid(MagFilter::Nearest)) => Filter::Nearest,
        Some(Checked::Valid(MagFilter::Linear)) | None => Filter::Linear,
        Some(Checked::Invalid) => {
            warn("magFilter");
            Filter::Linear
        }
    };
    let (min_filter, mipmap_filter) = match json.min_filter {
        Some(Checked::Valid(filter)) => match filter {
            MinFilter::Nearest => (Filter::Nearest, None),
            MinFilter::Linear => (Filter::Linear, None),
            MinFilter::NearestMipmapNearest => (Filter::Nearest, Some(Filter::Nearest)),
            MinFilter::LinearMipmapNearest => (Filter::Linear, Some(Filter::Nearest)),
            MinFilter::NearestMipmapLinear => (Filter::Nearest, Some(Filter::Linear)),
            MinFilter::LinearMipmapLinear => (Filter::Linear, Some(Filter::Linear)),
        },
        Some(Checked::Invalid) => {
            warn("minFilter");
            (Filter::Linear, Some(Filter::Linear))
        }
        None => (Filter::Linear, Some(Filter::Linear)),
    };
    let wrap = |field, mode| match mode {
        Checked::Valid(WrappingMode::Repeat) => Wrap::Repeat,
        Checked::Valid(WrappingMode::MirroredRepeat) => Wrap::MirroredRepeat,
        Checked::Valid(WrappingMode::ClampToEdge) => Wrap::ClampToEdge,
        Checked::Invalid => {
            warn(field);
            Wrap::Repeat
        }
    };
    Sampler {
        mag_filter,
        min_filter,
        mipmap_filter,
        wrap_u: wrap("wrapS", json.wrap_s),
        wrap_v: wrap("wrapT", json.wrap_t),
    }
}
