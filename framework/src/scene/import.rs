//! Loading: the file, its nodes and skins. Meshes, materials, images and animations have files of their own.

use super::accessor::{Accessors, Buffers, dangling, resolve};
use super::document::Document;
use super::error::{LoadError, Problem, Warnings, broken};
use super::{Node, Scene, Skin, TextureSlot, Transform};
use super::{animation, camera, file, image, json, light, material, morph, primitive, tangent};
use glam::{Mat4, Quat, Vec3};
use gltf::json::accessor::Type;
use rayon::prelude::*;
use std::fmt::Arguments;
use std::path::Path;

impl Scene {
    /// Loads a `.gltf` or `.glb` file with everything that it refers to.
    ///
    /// What is wrong with the file but can be done without or replaced is told in [`Scene::warnings`].
    ///
    /// # Errors
    ///
    /// A file cannot be read or is not glTF 2.0, requires an extension that is not supported, or its
    /// structure is broken: an index to nothing, a range outside of its buffer, a cycle of nodes, a missing
    /// part. The error names the file, the place in it and the rule.
    pub fn load(path: &Path) -> Result<Scene, LoadError> {
        Scene::load_for(path, Purpose::Draw(&TextureSlot::ALL))
    }

    /// Loads a file as [`Scene::load`] does, for that purpose or another one.
    ///
    /// # Errors
    ///
    /// Those of [`Scene::load`], except that with [`Purpose::Inspect`] an extension that is not supported is a warning.
    pub fn load_for(path: &Path, purpose: Purpose) -> Result<Scene, LoadError> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let folder = path.parent().unwrap_or(Path::new(""));
        file::read(path, u64::MAX)
            .map_err(Problem::Read)
            .and_then(|bytes| Scene::from_bytes(&bytes, folder, &name, purpose))
            .map_err(|problem| LoadError { file: path.to_owned(), problem })
    }

    /// Makes a scene, which is given that name, of the bytes of a `.gltf` or `.glb` file. Other files that it refers to are
    /// looked for in `folder`.
    ///
    /// # Errors
    ///
    /// Those of [`Scene::load_for`], but for [`Problem::Read`].
    pub fn from_bytes(bytes: &[u8], folder: &Path, name: &str, purpose: Purpose) -> Result<Scene, Problem> {
        import(bytes, folder, name.to_owned(), purpose)
    }
}

/// What a file is loaded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To draw it with the textures of these slots. Images of others are not decoded, and tangents are computed only for
    /// [`TextureSlot::Normal`].
    Draw(&'static [TextureSlot]),
    /// To tell what is in it. Vertices are those of the file: no normals or tangents are computed, and nothing is split for
    /// them.
    /// Geometry, channels and skins that depend on an extension that is required but not supported are left out, with
    /// a warning: such a primitive has no vertices.
    Inspect,
}

/// Waking other threads takes longer than they save where there are no more bytes in buffers.
const FEW_BYTES: u64 = 4 << 20;

/// What every part of the import needs.
pub(super) struct Context<'a> {
    pub(super) root: &'a Document,
    pub(super) buffers: &'a Buffers<'a>,
    pub(super) accessors: &'a Accessors<'a>,
    /// The folder of the model, which URIs are relative to.
    pub(super) folder: &'a Path,
    pub(super) purpose: Purpose,
    pub(super) warnings: Warnings,
}

impl Context<'_> {
    /// Imports each element of an array, many at a time where there is much to read. Which error is returned, and the order of
    /// the warnings, do not depend on the threads.
    pub(super) fn import_each<T: Sync, U: Send>(
        &self,
        array: &[T],
        import: impl Fn(&Context, usize, &T) -> Result<U, Problem> + Sync,
    ) -> Result<Vec<U>, Problem> {
        let mut imported = Vec::with_capacity(array.len());
        if self.buffers.len() <= FEW_BYTES {
            for (index, element) in array.iter().enumerate() {
                imported.push(import(self, index, element)?);
            }
            return Ok(imported);
        }
        let one = |(index, element): (usize, &T)| {
            let context = Context { warnings: Warnings::default(), ..*self };
            (import(&context, index, element), context.warnings)
        };
        let each = array.par_iter().enumerate().map(one);
        for (result, warnings) in each.collect::<Vec<_>>() {
            self.warnings.append(warnings);
            imported.push(result?);
        }
        Ok(imported)
    }
}

/// Makes a scene of a file's bytes. URIs are relative to `folder`.
fn import(bytes: &[u8], folder: &Path, name: String, purpose: Purpose) -> Result<Scene, Problem> {
    let container = file::split(bytes)?;
    let warnings = Warnings::default();
    let root = match purpose {
        Purpose::Draw(_) => json::parse(container.json)?,
        Purpose::Inspect => json::parse_what_is_readable(container.json, &warnings)?,
    };
    let buffers = Buffers::load(&root, container.bin, folder)?;
    let mut accessors = Accessors::new(&root, &buffers, bytes.len());
    accessors.decode_primitives()?;
    let accessors = &accessors;
    let context = Context { root: &root, buffers: &buffers, accessors, folder, purpose, warnings };

    let (mut nodes, node_order) = import_nodes(&context)?;
    let roots = find_roots(&context, &nodes)?;
    mark_scene(&mut nodes, &node_order, &roots);
    let skins = import_skins(&context)?;
    let mut meshes = primitive::import_meshes(&context)?;
    primitive::limit_joints(&context, &mut meshes, &nodes, &skins);
    morph::import_weights(&context, &mut nodes, &meshes);
    let materials = material::import_materials(&context)?;
    let mut textures = material::import_textures(&context)?;
    let slots = match purpose {
        Purpose::Draw(slots) => slots,
        Purpose::Inspect => &TextureSlot::ALL,
    };
    let images = image::import_images(&context, &materials, &mut textures, slots)?;
    let animations = animation::import_animations(&context, &nodes)?;
    let cameras = camera::import_cameras(&context)?;
    let lights = light::import_lights(&context);
    let mut scene = Scene {
        name,
        nodes,
        roots,
        node_order,
        meshes,
        materials,
        textures,
        images,
        cameras,
        lights,
        skins,
        animations,
        scene_count: root.scenes.len(),
        extensions_used: root.extensions_used.clone(),
        extensions_required: root.extensions_required.clone(),
        warnings: Vec::new(),
    };
    if purpose != Purpose::Inspect && slots.contains(&TextureSlot::Normal) {
        tangent::make_tangents(&context, &mut scene)?;
    }
    scene.warnings = context.warnings.into_sentences();
    Ok(scene)
}

/// All nodes, and the order in which parents come before their children.
fn import_nodes(context: &Context) -> Result<(Vec<Node>, Vec<usize>), Problem> {
    let root = context.root;
    let mut nodes = Vec::with_capacity(root.nodes.len());
    for (index, node) in root.nodes.iter().enumerate() {
        let at = format_args!("/nodes/{index}");
        let children = node
            .children
            .iter()
            .flatten()
            .enumerate()
            .map(|(child, &node)| resolve(format_args!("{at}/children/{child}"), node, "nodes", root.nodes.len()));
        let children = children.collect::<Result<_, _>>()?;
        let within = |field, index: Option<usize>, array, len| match index {
            Some(index) if index >= len => Err(dangling(format_args!("{at}/{field}"), index, array, len)),
            index => Ok(index),
        };
        let light = node.extensions.as_ref().and_then(|extensions| extensions.khr_lights_punctual.as_ref());
        let lights = light::lights(context).len();
        nodes.push(Node {
            name: node.name.clone(),
            parent: None,
            children,
            local: import_transform(context, at, node),
            mesh: within("mesh", node.mesh.map(|index| index.value()), "meshes", root.meshes.len())?,
            skin: within("skin", node.skin.map(|index| index.value()), "skins", root.skins.len())?,
            weights: Vec::new(),
            camera: within("camera", node.camera.map(|index| index.value()), "cameras", root.cameras.len())?,
            light: within("extensions/KHR_lights_punctual/light", light.map(|l| l.light.value()), "lights", lights)?,
            in_scene: false,
        });
    }
    let order = order_nodes(&nodes)?;
    assign_parents(context, &mut nodes);
    Ok((nodes, order))
}

/// The rest transform of a node, with sane values in place of those that are not.
fn import_transform(context: &Context, at: Arguments, node: &gltf::json::Node) -> Transform {
    if let Some(columns) = node.matrix {
        let matrix = Mat4::from_cols_array(&columns);
        if matrix.is_finite() {
            return Transform::Matrix(matrix);
        }
        context.warnings.add(format!("{at}/matrix"), "has a number that is not finite; the identity is used");
        return Transform::Matrix(Mat4::IDENTITY);
    }
    let vector = |field, value: Option<[f32; 3]>, default: Vec3| match value.map(Vec3::from_array) {
        Some(value) if !value.is_finite() => {
            context
                .warnings
                .add(format!("{at}/{field}"), format!("has a number that is not finite; {} is used", default.x));
            default
        }
        value => value.unwrap_or(default),
    };
    let rotation = node.rotation.map_or(Quat::IDENTITY, |rotation| Quat::from_array(rotation.0));
    Transform::Trs {
        translation: vector("translation", node.translation, Vec3::ZERO),
        rotation: animation::unit(rotation).unwrap_or_else(|| {
            context.warnings.add(format!("{at}/rotation"), "is not a rotation; none is used");
            Quat::IDENTITY
        }),
        scale: vector("scale", node.scale, Vec3::ONE),
    }
}

/// Sorts the nodes so that parents come before their children; fails if there is a cycle, wherever it is.
fn order_nodes(nodes: &[Node]) -> Result<Vec<usize>, Problem> {
    let mut parents_left = vec![0_usize; nodes.len()];
    for &child in nodes.iter().flat_map(|node| &node.children) {
        parents_left[child] += 1;
    }
    let mut order: Vec<usize> = (0..nodes.len()).filter(|&node| parents_left[node] == 0).collect();
    let mut next = 0;
    while let Some(&node) = order.get(next) {
        next += 1;
        for &child in &nodes[node].children {
            parents_left[child] -= 1;
            if parents_left[child] == 0 {
                order.push(child);
            }
        }
    }
    match find_cycle(nodes, &parents_left) {
        Some(node) => Err(broken(format!("/nodes/{node}"), "is its own descendant; nodes must not form a cycle")),
        None => Ok(order),
    }
}

/// A node of a cycle, given how many parents of each node could not be sorted.
fn find_cycle(nodes: &[Node], parents_left: &[usize]) -> Option<usize> {
    let mut node = parents_left.iter().position(|&left| left > 0)?;
    let mut unsorted_parent = vec![None; nodes.len()];
    for (parent, node) in nodes.iter().enumerate().filter(|&(parent, _)| parents_left[parent] > 0) {
        for &child in &node.children {
            unsorted_parent[child] = Some(parent);
        }
    }
    // The node may only hang below a cycle: upwards, every path ends in one.
    for _ in 0..nodes.len() {
        node = unsorted_parent[node].unwrap_or(node);
    }
    Some(node)
}

/// Gives every node its parent. A node that several nodes claim stays with the first of them.
fn assign_parents(context: &Context, nodes: &mut [Node]) {
    for parent in 0..nodes.len() {
        let mut children = std::mem::take(&mut nodes[parent].children);
        children.retain(|&child| {
            if let Some(first) = nodes[child].parent {
                context.warnings.add(
                    format!("/nodes/{parent}/children"),
                    format!("node {child} is already a child of node {first} and stays there"),
                );
                return false;
            }
            nodes[child].parent = Some(parent);
            true
        });
        nodes[parent].children = children;
    }
}

/// The roots of the scene to show.
fn find_roots(context: &Context, nodes: &[Node]) -> Result<Vec<usize>, Problem> {
    let scenes = &context.root.scenes;
    let mut roots = Vec::with_capacity(scenes.len());
    for (scene, json) in scenes.iter().enumerate() {
        let resolved =
            json.nodes.iter().enumerate().map(|(index, &node)| {
                resolve(format_args!("/scenes/{scene}/nodes/{index}"), node, "nodes", nodes.len())
            });
        roots.push(resolved.collect::<Result<Vec<_>, _>>()?);
    }
    match context.root.scene {
        Some(scene) => {
            let scene = resolve("/scene", scene, "scenes", scenes.len())?;
            Ok(roots.swap_remove(scene))
        }
        None if !roots.is_empty() => Ok(roots.swap_remove(0)),
        None => Ok((0..nodes.len()).filter(|&node| nodes[node].parent.is_none()).collect()),
    }
}

fn mark_scene(nodes: &mut [Node], order: &[usize], roots: &[usize]) {
    for &root in roots {
        nodes[root].in_scene = true;
    }
    for &node in order {
        nodes[node].in_scene |= nodes[node].parent.is_some_and(|parent| nodes[parent].in_scene);
    }
}

fn import_skins(context: &Context) -> Result<Vec<Skin>, Problem> {
    let nodes = context.root.nodes.len();
    let mut skins = Vec::with_capacity(context.root.skins.len());
    for (index, skin) in context.root.skins.iter().enumerate() {
        let at = format!("/skins/{index}");
        let joints = skin.joints.iter().enumerate();
        let joints = joints.map(|(joint, &node)| resolve(format_args!("{at}/joints/{joint}"), node, "nodes", nodes));
        let joints = joints.collect::<Result<Vec<_>, _>>()?;
        if joints.is_empty() {
            return Err(broken(format!("{at}/joints"), "is empty, and a skin needs at least one joint"));
        }
        if let Some(skeleton) = skin.skeleton {
            resolve(format_args!("{at}/skeleton"), skeleton, "nodes", nodes)?;
        }
        let inverse_bind_matrices = import_inverse_bind_matrices(context, &at, skin)?;
        skins.push(Skin { name: skin.name.clone(), joints, inverse_bind_matrices });
    }
    Ok(skins)
}

/// One matrix for each joint.
fn import_inverse_bind_matrices(context: &Context, at: &str, skin: &gltf::json::Skin) -> Result<Vec<Mat4>, Problem> {
    let joints = skin.joints.len();
    let Some(accessor) = skin.inverse_bind_matrices else {
        return Ok(vec![Mat4::IDENTITY; joints]);
    };
    let at = format!("{at}/inverseBindMatrices");
    let mut matrices = context.accessors.floats(&at, accessor, Type::Mat4, |m| Mat4::from_cols_array(&m))?;
    if matrices.len() < joints {
        return Err(broken(at, format!("{} matrices for {joints} joints; each joint needs one", matrices.len())));
    }
    matrices.truncate(joints);
    let mut bad = 0;
    for matrix in matrices.iter_mut().filter(|matrix| !matrix.is_finite()) {
        *matrix = Mat4::IDENTITY;
        bad += 1;
    }
    context.warnings.add_count(bad, at, "a matrix has a number that is not finite; the identity is used");
    Ok(matrices)
}
