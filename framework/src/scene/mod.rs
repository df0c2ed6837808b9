//! glTF on the CPU: what a file holds, and how its nodes stand at a given time.
//!
//! A [`Scene`] is loaded once with [`Scene::load`] and never changes; a [`Pose`] is evaluated for every
//! frame. Nothing here knows of Vulkan.
//!
//! Units and spaces are glTF's: metres, seconds, radians, right-handed with Y up and models facing +Z;
//! matrices are column-major and act on column vectors; colour factors are linear.

mod accessor;
mod animation;
mod camera;
mod compressed;
mod document;
mod draco;
mod error;
mod file;
mod image;
mod import;
mod json;
mod ktx2;
mod left_out;
mod light;
mod material;
mod meshopt;
mod morph;
mod pose;
mod primitive;
mod tangent;
#[cfg(test)]
mod tests;

pub use animation::{Channel, Interpolation, MissingAnimation, Values, animation_time};
pub use error::{LoadError, Problem};
pub use import::Purpose;
pub use pose::{Bounds, Pose};

use glam::{Affine2, Mat4, Quat, Vec2, Vec3, Vec4};
use std::fmt;

/// A loaded glTF file. Every index in it is valid: the loader has checked them all.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// The file's name without folder and extension.
    pub name: String,
    /// All nodes of the file, in the file's order, whether or not they are part of the shown scene.
    pub nodes: Vec<Node>,
    /// The roots of the shown scene: the file's `scene`, else its first scene, else every node without a parent.
    pub roots: Vec<usize>,
    /// Every node once, parents before their children: the order in which world matrices are computed.
    pub node_order: Vec<usize>,
    /// All meshes of the file, in the file's order.
    pub meshes: Vec<Mesh>,
    /// All materials of the file, in the file's order, and after them glTF's default material.
    pub materials: Vec<Material>,
    /// All textures of the file, in the file's order.
    pub textures: Vec<Texture>,
    /// All images of the file, in the file's order.
    pub images: Vec<Image>,
    /// All cameras of the file, in the file's order.
    pub cameras: Vec<Camera>,
    /// All lights of the file (KHR_lights_punctual), in the file's order.
    pub lights: Vec<Light>,
    /// All skins of the file, in the file's order.
    pub skins: Vec<Skin>,
    /// All animations of the file, in the file's order.
    pub animations: Vec<Animation>,
    /// How many scenes the file has.
    pub scene_count: usize,
    /// The extensions that the file says it uses.
    pub extensions_used: Vec<String>,
    /// The extensions without which the file says it cannot be read.
    pub extensions_required: Vec<String>,
    /// What was wrong with the file though it could be loaded, each once.
    pub warnings: Vec<String>,
}

/// A node of the hierarchy.
#[derive(Debug, Clone)]
pub struct Node {
    /// The name in the file, if it has one. Names need not be unique.
    pub name: Option<String>,
    /// The node above, if any.
    pub parent: Option<usize>,
    /// The nodes below.
    pub children: Vec<usize>,
    /// The rest transform relative to the parent.
    pub local: Transform,
    /// The mesh drawn at this node.
    pub mesh: Option<usize>,
    /// The skin that deforms those of [`Node::mesh`]'s primitives that have [`Primitive::influences`]; the
    /// node's own transform is then not used to draw them.
    pub skin: Option<usize>,
    /// The weights of the morph targets of [`Node::mesh`] at rest, as many as its primitives have targets at most: the node's
    /// own, else the mesh's, else zeros.
    pub weights: Vec<f32>,
    /// The camera at this node: it looks along the node's -Z, with +Y up.
    pub camera: Option<usize>,
    /// The light at this node: it shines along the node's -Z.
    pub light: Option<usize>,
    /// Whether the node is part of the shown scene.
    pub in_scene: bool,
}

/// A transform relative to the parent: glTF gives either a matrix or its three factors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Transform {
    /// A matrix. Such a node cannot be animated.
    Matrix(Mat4),
    /// Translation, rotation and scale, applied to a point in the order scale, rotation, translation.
    Trs {
        /// Translation in metres.
        translation: Vec3,
        /// Unit quaternion.
        rotation: Quat,
        /// Scale along each axis.
        scale: Vec3,
    },
}

/// A mesh: primitives that are drawn together.
#[derive(Debug, Clone)]
pub struct Mesh {
    /// The name in the file, if it has one.
    pub name: Option<String>,
    /// Its parts, each with a material of its own, in the file's order.
    pub primitives: Vec<Primitive>,
}

/// How indices are put together. Strips, fans and loops have become lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Topology {
    /// Three indices a triangle, counter-clockwise seen from the front.
    Triangles,
    /// Two indices a line.
    Lines,
    /// One index a point.
    Points,
}

/// Vertices and indices with one material. All attribute arrays are as long as [`Primitive::positions`]. There may
/// be no vertices, or no indices, where the file has none: then there is nothing to draw.
#[derive(Debug, Clone)]
pub struct Primitive {
    /// How [`Primitive::indices`] are read.
    pub topology: Topology,
    /// Vertex indices: always present, counted up where the file has none; each is below the vertex count.
    pub indices: Vec<u32>,
    /// Positions in the mesh's space, metres.
    pub positions: Vec<Vec3>,
    /// Unit normals in the mesh's space; computed flat where a file's triangles have none, if they are to be drawn. Empty
    /// for lines and points without.
    pub normals: Vec<Vec3>,
    /// Unit tangents in the mesh's space, and in `w` the handedness, 1 or -1: the bitangent is
    /// `w * cross(normal, tangent)`. Computed by MikkTSpace where a file's triangles have a normal map and none, if the normal
    /// map is to be drawn. Empty where there are none.
    pub tangents: Vec<Vec4>,
    /// `COLOR_0`: linear factors of the base colour, alpha 1 where the file has none. Empty where absent.
    pub colors: Vec<Vec4>,
    /// `TEXCOORD_0` and `TEXCOORD_1`, (0, 0) being the image's upper left corner. Empty where absent.
    pub tex_coords: [Vec<Vec2>; 2],
    /// Which joints move each vertex, if the primitive has joints and weights.
    pub influences: Option<Influences>,
    /// What morph targets add to the vertices, each by a weight of the node.
    pub morph_targets: Vec<MorphTarget>,
    /// Index into [`Scene::materials`].
    pub material: usize,
    /// For each vertex its index in the file's accessors, where computing normals or tangents has split vertices. Empty: the
    /// same.
    pub source_vertices: Vec<u32>,
}

/// What a morph target of weight 1 adds to each vertex, in the mesh's space. Arrays are as long as
/// [`Primitive::positions`], or empty where the target does not change that attribute.
#[derive(Debug, Clone, Default)]
pub struct MorphTarget {
    /// To positions, metres.
    pub positions: Vec<Vec3>,
    /// To normals, which are normalized afterwards.
    pub normals: Vec<Vec3>,
    /// To the directions of tangents; the handedness stays.
    pub tangents: Vec<Vec3>,
}

/// Joints and weights of a primitive's vertices, with as many influences a vertex as the file has (a multiple of four).
#[derive(Debug, Clone)]
pub struct Influences {
    /// Influences a vertex.
    pub per_vertex: usize,
    /// For each vertex `per_vertex` indices into [`Skin::joints`].
    pub joints: Vec<u16>,
    /// For each vertex `per_vertex` weights, none negative, that sum to 1.
    pub weights: Vec<f32>,
}

/// How alpha is used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AlphaMode {
    /// Alpha is ignored.
    Opaque,
    /// Drawn where alpha is at least the cutoff.
    Mask {
        /// The least alpha that is drawn.
        cutoff: f32,
    },
    /// Alpha blends over what is behind.
    Blend,
}

/// A material by metallic-roughness (glTF 2.0, section 3.9). All factors are linear.
#[derive(Debug, Clone)]
pub struct Material {
    /// The name in the file, if it has one.
    pub name: Option<String>,
    /// Factor of the base colour; its alpha is the coverage.
    pub base_color_factor: Vec4,
    /// Factor of the metalness, 0 (dielectric) to 1 (metal).
    pub metallic_factor: f32,
    /// Factor of the perceptual roughness, 0 to 1.
    pub roughness_factor: f32,
    /// Factor of the normal map's x and y.
    pub normal_scale: f32,
    /// How much the occlusion texture darkens, 0 to 1.
    pub occlusion_strength: f32,
    /// Factor of the emitted light, with KHR_materials_emissive_strength multiplied in: it can be above 1.
    pub emissive_factor: Vec3,
    /// The textures, by [`TextureSlot`].
    pub textures: [Option<TextureInfo>; TextureSlot::COUNT],
    /// How alpha is used.
    pub alpha_mode: AlphaMode,
    /// Whether back faces are drawn too, with their normals turned.
    pub double_sided: bool,
    /// Whether the base colour is shown as it is, without light (KHR_materials_unlit).
    pub unlit: bool,
}

impl Material {
    /// The texture of a slot.
    #[must_use]
    pub fn texture(&self, slot: TextureSlot) -> Option<TextureInfo> {
        self.textures[slot as usize]
    }
}

/// What a texture is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextureSlot {
    /// sRGB; multiplied by [`Material::base_color_factor`].
    BaseColor,
    /// Linear; metalness in blue, roughness in green, each multiplied by its factor.
    MetallicRoughness,
    /// Linear; a normal in tangent space.
    Normal,
    /// Linear; how much light from all around reaches the surface, in red.
    Occlusion,
    /// sRGB; multiplied by [`Material::emissive_factor`].
    Emissive,
}

impl TextureSlot {
    /// How many there are.
    pub const COUNT: usize = 5;
    /// All of them.
    pub const ALL: [TextureSlot; TextureSlot::COUNT] = [
        TextureSlot::BaseColor,
        TextureSlot::MetallicRoughness,
        TextureSlot::Normal,
        TextureSlot::Occlusion,
        TextureSlot::Emissive,
    ];

    /// Whether its colours are encoded by sRGB's transfer function. If not, its numbers are linear.
    #[must_use]
    pub fn is_srgb(self) -> bool {
        matches!(self, TextureSlot::BaseColor | TextureSlot::Emissive)
    }
}

/// A material's use of a texture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextureInfo {
    /// Index into [`Scene::textures`].
    pub texture: usize,
    /// Which of [`Primitive::tex_coords`] it is looked up by: 0 or 1.
    pub tex_coord: usize,
    /// From those to where the texture is looked up (KHR_texture_transform).
    pub transform: Affine2,
}

/// An image and how it is sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Texture {
    /// Index into [`Scene::images`]; `None` where the file names no image, or a material's cannot be decoded.
    pub image: Option<usize>,
    /// Filters and wrapping.
    pub sampler: Sampler,
}

/// Filters and wrapping of a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Filter where the texture is magnified.
    pub mag_filter: Filter,
    /// Filter where the texture is minified.
    pub min_filter: Filter,
    /// Filter between mip levels; `None`: only the largest level is used.
    pub mipmap_filter: Option<Filter>,
    /// Horizontal wrapping.
    pub wrap_u: Wrap,
    /// Vertical wrapping.
    pub wrap_v: Wrap,
}

/// How texels are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The nearest one.
    Nearest,
    /// Linear interpolation.
    Linear,
}

/// What lies outside of a texture's unit square.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// The texture repeats.
    Repeat,
    /// The texture repeats, every other one mirrored.
    MirroredRepeat,
    /// The edge goes on.
    ClampToEdge,
}

/// A decoded image, 8 bits a channel, RGBA, rows from top to bottom.
#[derive(Clone)]
pub struct Image {
    /// The name in the file, if it has one.
    pub name: Option<String>,
    /// The format of its file; `None` where nothing uses the image or it could not be read.
    pub format: Option<ImageFormat>,
    /// Width and height in pixels; (0, 0) where there is no format.
    pub size: (u32, u32),
    /// `4 * width * height` bytes as stored, whatever colour space they mean.
    pub pixels: Vec<u8>,
}

/// The format of an image's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImageFormat {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// WebP (EXT_texture_webp).
    WebP,
    /// KTX 2 (KHR_texture_basisu).
    Ktx2,
}

impl fmt::Debug for Image {
    /// Everything but the pixels.
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.debug_struct("Image").field("name", &self.name).field("size", &self.size).finish_non_exhaustive()
    }
}

/// How a camera sees what is before it. It looks along the -Z of its node, with +Y up.
#[derive(Debug, Clone, PartialEq)]
pub struct Camera {
    /// The name in the file, if it has one.
    pub name: Option<String>,
    /// How it projects.
    pub projection: Projection,
}

/// How a camera projects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Projection {
    /// With perspective.
    Perspective {
        /// Vertical field of view, radians.
        yfov: f32,
        /// Width over height that the camera was made for.
        aspect_ratio: Option<f32>,
        /// Distance of the near plane, metres.
        znear: f32,
        /// Distance of the far plane, metres; `None`: without end.
        zfar: Option<f32>,
    },
    /// Without perspective.
    Orthographic {
        /// Half of the width that is seen, metres.
        xmag: f32,
        /// Half of the height that is seen, metres.
        ymag: f32,
        /// Distance of the near plane, metres.
        znear: f32,
        /// Distance of the far plane, metres.
        zfar: f32,
    },
}

/// A light without extent (KHR_lights_punctual). It shines along the -Z of its node.
#[derive(Debug, Clone, PartialEq)]
pub struct Light {
    /// The name in the file, if it has one.
    pub name: Option<String>,
    /// Linear colour.
    pub color: Vec3,
    /// Lux for directional lights, candela for others.
    pub intensity: f32,
    /// What kind of light it is.
    pub kind: LightKind,
}

/// The kinds of lights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LightKind {
    /// From infinitely far away.
    Directional,
    /// From a point to all sides.
    Point {
        /// Distance in metres at which it ends; `None`: nowhere.
        range: Option<f32>,
    },
    /// From a point into a cone.
    Spot {
        /// Distance in metres at which it ends; `None`: nowhere.
        range: Option<f32>,
        /// Angle from the axis up to which it is full, radians.
        inner_cone_angle: f32,
        /// Angle from the axis at which it ends, radians.
        outer_cone_angle: f32,
    },
}

/// The joints that deform meshes.
#[derive(Debug, Clone)]
pub struct Skin {
    /// The name in the file, if it has one.
    pub name: Option<String>,
    /// Node indices. [`Influences::joints`] points into this list.
    pub joints: Vec<usize>,
    /// For each joint the matrix from the mesh's space to the joint's in the bind pose.
    pub inverse_bind_matrices: Vec<Mat4>,
}

/// A clip: channels that play together.
#[derive(Debug, Clone)]
pub struct Animation {
    /// The name in the file, if it has one. Names need not be unique.
    pub name: Option<String>,
    /// What moves.
    pub channels: Vec<Channel>,
    /// The time of the last key of all channels, in seconds: the clip runs from 0 to there.
    pub duration: f32,
}
