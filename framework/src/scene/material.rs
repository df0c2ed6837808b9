//! Loading of materials, textures and samplers.

use super::accessor::resolve;
use super::error::Problem;
use super::import::Context;
use super::json::given;
use super::{AlphaMode, Filter, Material, Sampler, Texture, TextureInfo, Wrap};
use glam::Vec4;
use gltf::json::material as json;
use gltf::json::texture::{self, MagFilter, MinFilter, WrappingMode};
use gltf::json::validation::Checked;

/// The file's materials, and after them glTF's default one.
pub(super) fn import_materials(context: &Context) -> Result<Vec<Material>, Problem> {
    let default = json::Material::default();
    let materials = context.root.materials.iter().chain([&default]).enumerate();
    materials.map(|(index, json)| import_material(context, &format!("/materials/{index}"), json)).collect()
}

fn import_material(context: &Context, at: &str, json: &json::Material) -> Result<Material, Problem> {
    check_other_textures(context, at, json)?;
    let pbr = &json.pbr_metallic_roughness;
    let mut base_color_factor = Vec4::from_array(pbr.base_color_factor.0);
    if !base_color_factor.is_finite() {
        let at = format!("{at}/pbrMetallicRoughness/baseColorFactor");
        context.warnings.add(at, "has a number that is not finite; white is used");
        base_color_factor = Vec4::ONE;
    }
    let at_texture = format!("{at}/pbrMetallicRoughness/baseColorTexture");
    let base_color_texture = pbr.base_color_texture.as_ref();
    Ok(Material {
        name: json.name.clone(),
        base_color_factor,
        base_color_texture: base_color_texture.map(|info| import_info(context, &at_texture, info)).transpose()?,
        alpha_mode: import_alpha_mode(context, at, json),
        double_sided: json.double_sided,
    })
}

/// Checks the indices of the textures that are not read.
fn check_other_textures(context: &Context, at: &str, json: &json::Material) -> Result<(), Problem> {
    let metallic_roughness = json.pbr_metallic_roughness.metallic_roughness_texture.as_ref();
    let others = [
        ("pbrMetallicRoughness/metallicRoughnessTexture", metallic_roughness.map(|info| info.index)),
        ("normalTexture", json.normal_texture.as_ref().map(|info| info.index)),
        ("occlusionTexture", json.occlusion_texture.as_ref().map(|info| info.index)),
        ("emissiveTexture", json.emissive_texture.as_ref().map(|info| info.index)),
    ];
    for (field, index) in others {
        if let Some(index) = index {
            resolve(&format!("{at}/{field}/index"), index, "textures", context.root.textures.len())?;
        }
    }
    Ok(())
}

fn import_info(context: &Context, at: &str, info: &texture::Info) -> Result<TextureInfo, Problem> {
    let texture = resolve(&format!("{at}/index"), info.index, "textures", context.root.textures.len())?;
    let mut tex_coord = info.tex_coord as usize;
    if tex_coord > 1 {
        context.warnings.add(format!("{at}/texCoord"), "only TEXCOORD_0 and TEXCOORD_1 are read; TEXCOORD_0 is used");
        tex_coord = 0;
    }
    Ok(TextureInfo { texture, tex_coord })
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
            given(json.source).map(|source| resolve(&format!("{at}/source"), source, "images", root.images.len()));
        let sampler =
            json.sampler.map(|index| resolve(&format!("{at}/sampler"), index, "samplers", root.samplers.len()));
        Ok(Texture { image: image.transpose()?, sampler: import_sampler(context, sampler.transpose()?) })
    };
    root.textures.iter().enumerate().map(import).collect()
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
