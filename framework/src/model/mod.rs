//! What a scene shows, on the GPU: its vertices, indices and textures.
//!
//! Each vertex attribute is a stream, a buffer of its own, shared by all that is drawn: a sample's vertex-input state names
//! those that it reads, binds them once, and draws each of [`Model::draws`] by its index range and vertex offset.
//!
//! What bones and morph targets deform comes first in the streams. A sample that is about something else lets a
//! [`Deformation`] put those vertices where the pose wants them, and draws all models alike. One that is not about drawing
//! models at all leaves that to a [`LitModel`].

mod deformation;
mod lit;
mod streams;
mod textures;

use std::sync::Arc;

use anyhow::Result;
use ash::vk;
use glam::{Mat4, Vec3};

pub use deformation::{Deformation, ShapeStreams};
pub use lit::LitModel;

use crate::gpu::{Buffer, Device, Upload};
use crate::scene::{Image, Material, Pose, Scene, TextureSlot, Topology};
use streams::Streams;
use textures::Textures;

/// Vertices, indices and textures of what a [`Scene`] shows.
pub struct Model {
    /// What there is to draw: first what is skinned, next what morphs only, last what is rigid, each part in the order of
    /// nodes and primitives.
    pub draws: Vec<Draw>,
    /// `R32G32B32_SFLOAT` positions in the mesh's space, metres.
    pub positions: Buffer,
    /// `R32G32B32_SFLOAT` unit normals in the mesh's space; zero where lines and points have none.
    pub normals: Buffer,
    /// `R32G32B32A32_SFLOAT` unit tangents in the mesh's space, with the handedness in `w`; zero where a primitive has
    /// none. `None` where no primitive has any.
    pub tangents: Option<Buffer>,
    /// `R32G32_SFLOAT` texture coordinates of sets 0 and 1; zero where a primitive has none.
    pub tex_coords: [Buffer; 2],
    /// `R16G16B16A16_UNORM` linear factors of the base colour; white where a primitive has none.
    pub colors: Buffer,
    /// `R16G16B16A16_UINT` indices into the skin's joints, influences 0 to 3. This stream and the further ones of joints and
    /// weights end after what is skinned: nothing else may be drawn with them bound.
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
    textures: Textures,
}

/// A primitive of the mesh of a node of the shown scene, and where it lies in the model's buffers. Rigid primitives lie there
/// once, however many nodes draw them; of one that deforms each node has a copy, for the nodes may have other skins or weights.
#[derive(Debug, Clone, Copy)]
pub struct Draw {
    /// Index into [`Scene::nodes`].
    pub node: usize,
    /// Index into [`Scene::meshes`].
    pub mesh: usize,
    /// Index into the mesh's primitives.
    pub primitive: usize,
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
    /// Whether joints move it: it has influences, and the node has a skin.
    pub skinned: bool,
    /// Whether its vertices move within the mesh: it is skinned or has morph targets.
    pub deformed: bool,
    /// Index into [`Scene::materials`].
    pub material: usize,
    /// The middle of the box around its vertices at rest, in the mesh's space.
    rest_center: Vec3,
    /// Index into the skin's joints of the one that moves it most, if it is skinned.
    joint: Option<usize>,
}

impl Draw {
    /// From the space of its vertices, after [`Deformation`], to the world: the node's matrix, but for what is skinned, whose
    /// vertices are in the world already.
    #[must_use]
    pub fn world(&self, pose: &Pose) -> Mat4 {
        if self.skinned { Mat4::IDENTITY } else { pose.world(self.node) }
    }

    /// The middle of the box around its vertices at rest, as its node carries it, or the joint that moves it most; world
    /// space, metres: something to sort by.
    #[must_use]
    pub fn center(&self, scene: &Scene, pose: &Pose) -> Vec3 {
        let skin = scene.nodes[self.node].skin.map(|skin| &scene.skins[skin]);
        let carried = match skin.zip(self.joint) {
            Some((skin, joint)) => pose.world(skin.joints[joint]) * skin.inverse_bind_matrices[joint],
            None => pose.world(self.node),
        };
        carried.transform_point3(self.rest_center)
    }
}

impl Model {
    /// Uploads all meshes of the shown scene, and the textures that materials use. `images` are those of the scene.
    ///
    /// # Errors
    ///
    /// Out of memory, or a model too large for 32-bit indices.
    ///
    /// # Panics
    ///
    /// If `images` are those of another scene and fewer.
    pub fn new(device: &Arc<Device>, scene: &Scene, images: &[Image]) -> Result<Self> {
        let mut upload = Upload::new(device)?;
        let streams = Streams::new(scene)?;
        let index = vk::BufferUsageFlags::INDEX_BUFFER;
        let (index_type, indices) = match streams.largest_index <= u32::from(u16::MAX) {
            true => {
                let short: Vec<u16> = streams.indices.iter().map(|&index| index as u16).collect();
                (vk::IndexType::UINT16, upload.buffer("indices", index, &short)?)
            }
            false => (vk::IndexType::UINT32, upload.buffer("indices", index, &streams.indices)?),
        };
        let vertex = vk::BufferUsageFlags::VERTEX_BUFFER;
        // A deformation reads these too.
        let source = vertex | vk::BufferUsageFlags::STORAGE_BUFFER;
        let second = |upload: &mut Upload| -> Result<_> {
            let joints = upload.buffer("joints 4 to 7", source, &streams.joints[1])?;
            Ok((joints, upload.buffer("weights 4 to 7", source, &streams.weights[1])?))
        };
        let (joints_1, weights_1) = match streams.joints[1].is_empty() {
            true => (None, None),
            false => second(&mut upload).map(|(joints, weights)| (Some(joints), Some(weights)))?,
        };
        let tangents = match streams.tangents.is_empty() {
            true => None,
            false => Some(upload.buffer("tangents", source, &streams.tangents)?),
        };
        let model = Self {
            draws: streams.draws,
            positions: upload.buffer("positions", source, &streams.positions)?,
            normals: upload.buffer("normals", source, &streams.normals)?,
            tangents,
            tex_coords: [
                upload.buffer("texture coordinates 0", vertex, &streams.tex_coords[0])?,
                upload.buffer("texture coordinates 1", vertex, &streams.tex_coords[1])?,
            ],
            colors: upload.buffer("colours", vertex, &streams.colors)?,
            joints_0: upload.buffer("joints 0 to 3", source, &streams.joints[0])?,
            weights_0: upload.buffer("weights 0 to 3", source, &streams.weights[0])?,
            joints_1,
            weights_1,
            indices,
            index_type,
            textures: Textures::new(device, &mut upload, scene, images)?,
        };
        upload.finish()?;
        Ok(model)
    }

    /// A texture of a material, in `SHADER_READ_ONLY_OPTIMAL`, and its sampler: white where it has none. It is sRGB or linear
    /// as the slot is.
    pub fn texture(&self, material: &Material, slot: TextureSlot) -> vk::DescriptorImageInfo {
        self.textures.get(material.texture(slot).map(|info| info.texture), slot)
    }

    /// The streams that poses change, as they were uploaded: for what is rigid.
    pub fn shape_streams(&self) -> ShapeStreams {
        ShapeStreams {
            positions: self.positions.handle(),
            normals: self.normals.handle(),
            tangents: self.tangents.as_ref().map(Buffer::handle),
        }
    }

    /// How many vertices deform: the first ones of the streams.
    fn deformed_vertices(&self) -> u32 {
        self.draws.iter().filter(|draw| draw.deformed).map(|draw| draw.vertex_count).sum()
    }
}
