//! An environment on the GPU.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use ash::vk;
use glam::Vec4;
use half::f16;

use super::{Environment, Sun, environment_brdf};
use crate::gpu::{Device, Image, Owned, Upload};

/// The side of the table that goes with every environment.
const TABLE: u32 = 64;

/// What shaders light surfaces with: the cube of an environment, the table of [`environment_brdf`], and the numbers that go
/// with them. How they are used stands in [the module's documentation](super).
pub struct EnvironmentMaps {
    /// The coefficients of the diffuse light, as a uniform buffer takes them: see [`Environment::irradiance`].
    pub irradiance: [Vec4; 9],
    /// The level of the cube that shows reflections of a perceptual roughness of 1.
    pub roughest_level: f32,
    /// The sun, where the picture leaves it out.
    pub sun: Option<Sun>,
    /// Whether there is no light in it at all.
    pub is_black: bool,
    cube: Image,
    table: Image,
    sampler: Owned<vk::Sampler>,
}

impl EnvironmentMaps {
    /// Brings an environment to the GPU.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn new(device: &Arc<Device>, environment: &Environment) -> Result<Self> {
        // Every device samples both formats, and filters them.
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL);
        let cube_info = info
            .flags(vk::ImageCreateFlags::CUBE_COMPATIBLE)
            .format(vk::Format::E5B9G9R9_UFLOAT_PACK32)
            .extent(vk::Extent3D { width: environment.size, height: environment.size, depth: 1 })
            .mip_levels(environment.levels.len() as u32)
            .array_layers(6);
        let table_info = info
            .format(vk::Format::R16G16_SFLOAT)
            .extent(vk::Extent3D { width: TABLE, height: TABLE, depth: 1 })
            .mip_levels(1)
            .array_layers(1);
        let levels: Vec<&[u8]> = environment.levels.iter().map(|level| bytemuck::cast_slice(level)).collect();
        let table: Vec<[u16; 2]> =
            environment_brdf(TABLE).into_iter().map(|ab| ab.map(|number| f16::from_f32(number).to_bits())).collect();
        let mut upload = Upload::new(device)?;
        let cube = upload.image("environment", &cube_info, &levels)?;
        let table = upload.image("environment brdf", &table_info, &[bytemuck::cast_slice(&table)])?;
        upload.finish()?;

        let sampler_info = vk::SamplerCreateInfo::default()
            .mag_filter(vk::Filter::LINEAR)
            .min_filter(vk::Filter::LINEAR)
            .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
            .max_lod(vk::LOD_CLAMP_NONE)
            .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
            .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE);
        // SAFETY: the create-info is valid.
        let sampler = unsafe { device.create_sampler(&sampler_info, None) }.context("vkCreateSampler failed")?;
        Ok(Self {
            irradiance: environment.irradiance.map(|coefficient| coefficient.extend(0.0)),
            roughest_level: (environment.levels.len() - 1) as f32,
            sun: environment.sun,
            is_black: environment.is_black(),
            cube,
            table,
            sampler: device.own(sampler, "environment"),
        })
    }

    /// The cube, for a `samplerCube`.
    pub fn cube(&self) -> vk::DescriptorImageInfo {
        self.descriptor(&self.cube)
    }

    /// The table of [`environment_brdf`], for a `sampler2D`.
    pub fn table(&self) -> vk::DescriptorImageInfo {
        self.descriptor(&self.table)
    }

    fn descriptor(&self, image: &Image) -> vk::DescriptorImageInfo {
        vk::DescriptorImageInfo::default()
            .image_view(image.view())
            .image_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL)
            .sampler(*self.sampler)
    }
}
