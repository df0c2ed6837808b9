//! A scene's textures on the GPU.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use ash::vk;

use crate::gpu::{Device, Feature, Image, Owned, Upload};
use crate::scene::{self, Filter, Sampler, Scene, TextureSlot, Wrap};

/// Images, each uploaded once for each way in which it is used, and samplers, each made once.
pub(super) struct Textures {
    images: Vec<Image>,
    samplers: Vec<(Sampler, Owned<vk::Sampler>)>,
    by_index: Vec<Texture>,
    white: Texture,
}

/// Indices into images and samplers.
#[derive(Clone, Copy)]
struct Texture {
    /// The image with linear numbers, and as sRGB; white where it is not used that way.
    images: [usize; 2],
    sampler: usize,
}

/// The index of white among the images.
const WHITE: usize = 0;

impl Textures {
    pub(super) fn new(
        device: &Arc<Device>,
        upload: &mut Upload,
        scene: &Scene,
        images: &[scene::Image],
    ) -> Result<Self> {
        let one = vk::Extent2D { width: 1, height: 1 };
        let white = upload.texture("white", vk::Format::R8G8B8A8_SRGB, one, &[u8::MAX; 4], false)?;
        let white_texture = Texture { images: [WHITE; 2], sampler: 0 };
        let mut textures =
            Self { images: vec![white], samplers: Vec::new(), by_index: Vec::new(), white: white_texture };
        let plain = Sampler {
            mag_filter: Filter::Nearest,
            min_filter: Filter::Nearest,
            mipmap_filter: None,
            wrap_u: Wrap::Repeat,
            wrap_v: Wrap::Repeat,
        };
        textures.white.sampler = textures.sampler(device, plain)?;
        let images = textures.upload_images(upload, scene, images)?;
        for texture in &scene.textures {
            let images = texture.image.map_or([WHITE; 2], |image| images[image]);
            let sampler = textures.sampler(device, texture.sampler)?;
            textures.by_index.push(Texture { images, sampler });
        }
        Ok(textures)
    }

    /// A texture of the scene as a slot wants it; white where there is none.
    pub(super) fn get(&self, texture: Option<usize>, slot: TextureSlot) -> vk::DescriptorImageInfo {
        let Texture { images, sampler } = texture.map_or(self.white, |texture| self.by_index[texture]);
        vk::DescriptorImageInfo::default()
            .image_view(self.images[images[usize::from(slot.is_srgb())]].view())
            .image_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL)
            .sampler(*self.samplers[sampler].1)
    }

    /// For each image of the scene where it has gone, as [`Texture::images`]. One that is empty was not to be read.
    fn upload_images(
        &mut self,
        upload: &mut Upload,
        scene: &Scene,
        images: &[scene::Image],
    ) -> Result<Vec<[usize; 2]>> {
        let used = used_images(scene, images.len());
        let mut places = vec![[WHITE; 2]; images.len()];
        for ((image, used), places) in images.iter().zip(used).zip(&mut places) {
            let extent = vk::Extent2D { width: image.size.0, height: image.size.1 };
            let name = image.name.as_deref().unwrap_or("texture");
            let formats = [vk::Format::R8G8B8A8_UNORM, vk::Format::R8G8B8A8_SRGB];
            for ((place, format), used) in places.iter_mut().zip(formats).zip(used) {
                if used && !image.pixels.is_empty() {
                    *place = self.images.len();
                    self.images.push(upload.texture(name, format, extent, &image.pixels, true)?);
                }
            }
        }
        Ok(places)
    }

    fn sampler(&mut self, device: &Arc<Device>, wanted: Sampler) -> Result<usize> {
        if let Some(found) = self.samplers.iter().position(|(sampler, _)| *sampler == wanted) {
            return Ok(found);
        }
        // On a CPU it takes ten times as long as all else that a pixel needs.
        let smooth =
            wanted.mipmap_filter.is_some() && wanted.min_filter == Filter::Linear && !device.physical().is_cpu();
        let anisotropy = match smooth && device.has(Feature::SAMPLER_ANISOTROPY) {
            true => device.physical().properties.limits.max_sampler_anisotropy.min(8.0),
            false => 1.0,
        };
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(filter(wanted.mag_filter))
            .min_filter(filter(wanted.min_filter))
            .mipmap_mode(match wanted.mipmap_filter {
                Some(Filter::Linear) => vk::SamplerMipmapMode::LINEAR,
                _ => vk::SamplerMipmapMode::NEAREST,
            })
            // The specification's own way to say "no mipmaps": a quarter still tells minified from magnified.
            .max_lod(if wanted.mipmap_filter.is_some() { vk::LOD_CLAMP_NONE } else { 0.25 })
            .address_mode_u(address_mode(wanted.wrap_u))
            .address_mode_v(address_mode(wanted.wrap_v))
            .anisotropy_enable(anisotropy > 1.0)
            .max_anisotropy(anisotropy);
        // SAFETY: the create-info is valid; anisotropy is only asked for where it is switched on.
        let sampler = unsafe { device.create_sampler(&info, None) }.context("vkCreateSampler failed")?;
        self.samplers.push((wanted, device.own(sampler, "sampler")));
        Ok(self.samplers.len() - 1)
    }
}

/// For each of so many images of a scene whether materials use it with linear numbers, and as sRGB.
fn used_images(scene: &Scene, count: usize) -> Vec<[bool; 2]> {
    let mut used = vec![[false; 2]; count];
    for (material, slot) in scene.materials.iter().flat_map(|material| TextureSlot::ALL.map(|slot| (material, slot))) {
        let texture = material.texture(slot).map(|info| &scene.textures[info.texture]);
        if let Some(image) = texture.and_then(|texture| texture.image) {
            used[image][usize::from(slot.is_srgb())] = true;
        }
    }
    used
}

fn filter(filter: Filter) -> vk::Filter {
    match filter {
        Filter::Nearest => vk::Filter::NEAREST,
        Filter::Linear => vk::Filter::LINEAR,
    }
}

fn address_mode(wrap: Wrap) -> vk::SamplerAddressMode {
    match wrap {
        Wrap::Repeat => vk::SamplerAddressMode::REPEAT,
        Wrap::MirroredRepeat => vk::SamplerAddressMode::MIRRORED_REPEAT,
        Wrap::ClampToEdge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
    }
}
