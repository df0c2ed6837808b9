//! A scene's meshes and textures on the GPU.
//!
//! Each vertex attribute is a stream, a buffer of its own, shared by all meshes: a sample's vertex-input state names
//! those that it reads, binds them once, and draws a primitive by its index range and vertex offset.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use ash::vk;
use glam::{Vec2, Vec3};

use crate::gpu::{Buffer, Device, Feature, Image, Owned, Upload};
use crate::scene::{self, Filter, Scene, Topology, Wrap};

/// Meshes and base-colour textures of a [`Scene`].
pub struct Model {
    /// `R32G32B32_SFLOAT` positions in the mesh's space, metres.
    pub positions: Buffer,
    /// `R32G32B32_SFLOAT` unit normals in the mesh's space; zero where lines and points have none.
    pub normals: Buffer,
    /// `R32G32_SFLOAT` texture coordinates of sets 0 and 1; zero where a primitive has none.
    pub tex_coords: [Buffer; 2],
    /// `R16G16B16A16_UINT` indices into the skin's joints, influences 0 to 3.
    pub joints_0: Buffer,
    /// `R32G32B32A32_SFLOAT` weights of influences 0 to 3.
    pub weights_0: Buffer,
    /// As [`Model::joints_0`], of influences 4 to 7; `None` where no vertex has so many.
    pub joints_1: Option<Buffer>,
    /// As [`Model::weights_0`], of influences 4 to 7.
    pub weights_1: Option<Buffer>,
    /// The indices of all primitives.
    pub indices: Buffer,
    /// 16 bits where they suffice for every primitive.
    pub index_type: vk::IndexType,
    /// For each mesh of the scene its primitives, in the file's order.
    pub meshes: Vec<Vec<Primitive>>,
    textures: Textures,
}

/// What to draw of the shared buffers.
#[derive(Debug, Clone, Copy)]
pub struct Primitive {
    /// How indices are put together.
    pub topology: Topology,
    /// The first of its indices.
    pub first_index: u32,
    /// How many.
    pub index_count: u32,
    /// Where in the streams its vertices begin.
    pub vertex_offset: i32,
    /// How many vertices it has.
    pub vertex_count: u32,
    /// Whether it has joints and weights. Only such primitives may be drawn with these streams bound: they come first, and
    /// the streams end after them.
    pub skinned: bool,
    /// Index into [`Scene::materials`].
    pub material: usize,
}

impl Model {
    /// Uploads all meshes, and the textures that materials use.
    ///
    /// # Errors
    ///
    /// Out of memory, or a model too large for 32-bit indices.
    pub fn new(device: &Arc<Device>, scene: &Scene) -> Result<Self> {
        let mut upload = Upload::new(device)?;
        let streams = Streams::new(scene)?;
        let vertex = vk::BufferUsageFlags::VERTEX_BUFFER;
        let index = vk::BufferUsageFlags::INDEX_BUFFER;
        let (index_type, indices) = match streams.largest_index <= u32::from(u16::MAX) {
            true => {
                let short: Vec<u16> = streams.indices.iter().map(|&index| index as u16).collect();
                (vk::IndexType::UINT16, upload.buffer("indices", index, &short)?)
            }
            false => (vk::IndexType::UINT32, upload.buffer("indices", index, &streams.indices)?),
        };
        let second = |upload: &mut Upload| -> Result<_> {
            let joints = upload.buffer("joints 4 to 7", vertex, &streams.joints[1])?;
            Ok((joints, upload.buffer("weights 4 to 7", vertex, &streams.weights[1])?))
        };
        let (joints_1, weights_1) = match streams.joints[1].is_empty() {
            true => (None, None),
            false => second(&mut upload).map(|(joints, weights)| (Some(joints), Some(weights)))?,
        };
        let model = Self {
            positions: upload.buffer("positions", vertex, &streams.positions)?,
            normals: upload.buffer("normals", vertex, &streams.normals)?,
            tex_coords: [
                upload.buffer("texture coordinates 0", vertex, &streams.tex_coords[0])?,
                upload.buffer("texture coordinates 1", vertex, &streams.tex_coords[1])?,
            ],
            joints_0: upload.buffer("joints 0 to 3", vertex, &streams.joints[0])?,
            weights_0: upload.buffer("weights 0 to 3", vertex, &streams.weights[0])?,
            joints_1,
            weights_1,
            indices,
            index_type,
            meshes: streams.meshes,
            textures: Textures::new(device, &mut upload, scene)?,
        };
        upload.finish()?;
        Ok(model)
    }

    /// The base-colour texture of a material, in `SHADER_READ_ONLY_OPTIMAL`, and its sampler: white where it has none.
    pub fn base_color_texture(&self, material: &scene::Material) -> vk::DescriptorImageInfo {
        let texture = material.texture(scene::TextureSlot::BaseColor).map(|info| &self.textures.by_index[info.texture]);
        let &(image, sampler) = texture.unwrap_or(&self.textures.white);
        vk::DescriptorImageInfo::default()
            .image_view(self.textures.images[image].view())
            .image_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL)
            .sampler(*self.textures.samplers[sampler].1)
    }
}

/// The streams on their way to the GPU.
#[derive(Default)]
struct Streams {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    tex_coords: [Vec<Vec2>; 2],
    joints: [Vec<[u16; 4]>; 2],
    weights: [Vec<[f32; 4]>; 2],
    indices: Vec<u32>,
    largest_index: u32,
    meshes: Vec<Vec<Primitive>>,
}

impl Streams {
    fn new(scene: &Scene) -> Result<Self> {
        let count = scene.meshes.iter().flat_map(|mesh| &mesh.primitives).map(|p| p.positions.len()).sum::<usize>();
        anyhow::ensure!(i32::try_from(count).is_ok(), "{} has {count} vertices, which is too many", scene.name);
        let eight = scene.meshes.iter().flat_map(|mesh| &mesh.primitives).any(has_more_than_four);
        let mut streams = Self { meshes: vec![Vec::new(); scene.meshes.len()], ..Self::default() };
        // Skinned primitives first, so that joints and weights end where they are no longer needed.
        let mut primitives: Vec<_> = scene
            .meshes
            .iter()
            .enumerate()
            .flat_map(|(mesh, m)| m.primitives.iter().enumerate().map(move |(place, p)| (mesh, place, p)))
            .collect();
        primitives.sort_by_key(|(_, _, primitive)| primitive.influences.is_none());
        let mut places = vec![Vec::new(); scene.meshes.len()];
        for (mesh, place, primitive) in primitives {
            let drawn = streams.push(primitive, eight)?;
            places[mesh].push((place, drawn));
        }
        for (mesh, mut primitives) in places.into_iter().enumerate() {
            primitives.sort_by_key(|(place, _)| *place);
            streams.meshes[mesh] = primitives.into_iter().map(|(_, primitive)| primitive).collect();
        }
        Ok(streams)
    }

    fn push(&mut self, primitive: &scene::Primitive, eight: bool) -> Result<Primitive> {
        let count = primitive.positions.len();
        let drawn = Primitive {
            topology: primitive.topology,
            first_index: u32::try_from(self.indices.len()).context("a model has too many indices")?,
            index_count: u32::try_from(primitive.indices.len()).context("a mesh has too many indices")?,
            vertex_offset: self.positions.len() as i32,
            vertex_count: count as u32,
            skinned: primitive.influences.is_some(),
            material: primitive.material,
        };
        let end = self.positions.len() + count;
        self.positions.extend(&primitive.positions);
        // What a primitive lacks is filled up, so that all streams have the same offsets.
        self.normals.extend(&primitive.normals);
        self.normals.resize(end, Vec3::ZERO);
        for (stream, set) in self.tex_coords.iter_mut().zip(&primitive.tex_coords) {
            stream.extend(set);
            stream.resize(end, Vec2::ZERO);
        }
        if let Some(influences) = &primitive.influences {
            let sets = if eight { 2 } else { 1 };
            let (joints, weights) = influences.largest(4 * sets);
            for set in 0..sets {
                self.joints[set].extend(joints.chunks_exact(4).skip(set).step_by(sets).map(four));
                self.weights[set].extend(weights.chunks_exact(4).skip(set).step_by(sets).map(four));
            }
        }
        self.indices.extend(&primitive.indices);
        self.largest_index = self.largest_index.max(primitive.indices.iter().copied().max().unwrap_or(0));
        Ok(drawn)
    }
}

fn four<T: Copy>(chunk: &[T]) -> [T; 4] {
    [chunk[0], chunk[1], chunk[2], chunk[3]]
}

/// Whether some vertex of a primitive is moved by more than four joints.
fn has_more_than_four(primitive: &scene::Primitive) -> bool {
    primitive.influences.as_ref().is_some_and(|influences| {
        let vertices = influences.weights.chunks_exact(influences.per_vertex.max(1));
        vertices.into_iter().any(|weights| weights.iter().filter(|&&weight| weight > 0.0).count() > 4)
    })
}

/// Images, each uploaded once, and samplers, each made once.
struct Textures {
    images: Vec<Image>,
    samplers: Vec<(scene::Sampler, Owned<vk::Sampler>)>,
    /// For each texture of the scene its image and sampler.
    by_index: Vec<(usize, usize)>,
    white: (usize, usize),
}

impl Textures {
    fn new(device: &Arc<Device>, upload: &mut Upload, scene: &Scene) -> Result<Self> {
        let one = vk::Extent2D { width: 1, height: 1 };
        let white = upload.texture("white", vk::Format::R8G8B8A8_SRGB, one, &[u8::MAX; 4], false)?;
        let mut textures = Self { images: vec![white], samplers: Vec::new(), by_index: Vec::new(), white: (0, 0) };
        let plain = scene::Sampler {
            mag_filter: Filter::Nearest,
            min_filter: Filter::Nearest,
            mipmap_filter: None,
            wrap_u: Wrap::Repeat,
            wrap_v: Wrap::Repeat,
        };
        textures.white = (0, textures.sampler(device, plain)?);
        // Where in `images` each image of the scene has gone; one that is empty was not to be read.
        let mut places = Vec::new();
        for image in &scene.images {
            let extent = vk::Extent2D { width: image.size.0, height: image.size.1 };
            if image.pixels.is_empty() {
                places.push(textures.white.0);
                continue;
            }
            places.push(textures.images.len());
            let name = image.name.as_deref().unwrap_or("texture");
            textures.images.push(upload.texture(name, vk::Format::R8G8B8A8_SRGB, extent, &image.pixels, true)?);
        }
        for texture in &scene.textures {
            let image = texture.image.map_or(textures.white.0, |image| places[image]);
            let sampler = textures.sampler(device, texture.sampler)?;
            textures.by_index.push((image, sampler));
        }
        Ok(textures)
    }

    fn sampler(&mut self, device: &Arc<Device>, wanted: scene::Sampler) -> Result<usize> {
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
