//! How a scene's nodes stand at a given time.

use super::animation::slerp;
use super::primitive::direction;
use super::{Influences, MorphTarget, Primitive, Scene, Skin, Transform};
use glam::{DVec3, FloatExt, Mat3, Mat4, Vec3};

/// The world transforms of a scene's nodes and the weights of their morph targets. Made once for a scene and evaluated for
/// every frame.
///
/// All methods that take a scene must be given the one that the pose was made for.
#[derive(Debug, Clone)]
pub struct Pose {
    locals: Locals,
    /// Where the clips that are approached move the nodes.
    approached: Locals,
    worlds: Vec<Mat4>,
}

/// What clips move, for each node.
#[derive(Debug, Clone)]
struct Locals {
    transforms: Vec<Transform>,
    weights: Vec<Vec<f32>>,
}

impl Locals {
    fn new(scene: &Scene) -> Locals {
        Locals {
            transforms: scene.nodes.iter().map(|node| node.local).collect(),
            weights: scene.nodes.iter().map(|node| node.weights.clone()).collect(),
        }
    }

    fn set(&mut self, scene: &Scene, clips: &[(usize, f32)]) {
        for ((transform, weights), node) in self.transforms.iter_mut().zip(&mut self.weights).zip(&scene.nodes) {
            *transform = node.local;
            weights.copy_from_slice(&node.weights);
        }
        for &(animation, time) in clips {
            for channel in &scene.animations[animation].channels {
                channel.apply(time, &mut self.transforms[channel.node], &mut self.weights[channel.node]);
            }
        }
    }

    /// Goes a part (0 to 1) of the way to `other`.
    fn approach(&mut self, other: &Locals, part: f32) {
        for (transform, other) in self.transforms.iter_mut().zip(&other.transforms) {
            *transform = transform.lerp(other, part);
        }
        for (weight, &other) in self.weights.iter_mut().flatten().zip(other.weights.iter().flatten()) {
            *weight = weight.lerp(other, part);
        }
    }
}

impl Pose {
    /// The rest pose of a scene.
    #[must_use]
    pub fn new(scene: &Scene) -> Pose {
        let locals = Locals::new(scene);
        let mut pose = Pose { approached: locals.clone(), locals, worlds: vec![Mat4::IDENTITY; scene.nodes.len()] };
        pose.evaluate(scene, &[]);
        pose
    }

    /// Puts the nodes as `clips` move them: each an index into [`Scene::animations`] and a time in seconds,
    /// which clamps to the keys and does not repeat. Where several clips move the same property of a node
    /// the last one counts; what no clip moves is at rest. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If a clip's index is not that of an animation.
    pub fn evaluate(&mut self, scene: &Scene, clips: &[(usize, f32)]) {
        self.locals.set(scene, clips);
        self.update_worlds(scene);
    }

    /// Moves the nodes a part (0 to 1) of the way from where they stand to where `clips` move them: translations, scales and
    /// weights on a straight line, rotations by the shorter way. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If a clip's index is not that of an animation.
    pub fn approach(&mut self, scene: &Scene, clips: &[(usize, f32)], part: f32) {
        self.approached.set(scene, clips);
        self.locals.approach(&self.approached, part);
        self.update_worlds(scene);
    }

    fn update_worlds(&mut self, scene: &Scene) {
        for &node in &scene.node_order {
            let local = self.locals.transforms[node].matrix();
            self.worlds[node] = match scene.nodes[node].parent {
                Some(parent) => self.worlds[parent] * local,
                None => local,
            };
        }
    }

    /// The weights of the morph targets of a node's mesh.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    #[must_use]
    pub fn weights(&self, node: usize) -> &[f32] {
        &self.locals.weights[node]
    }

    /// The matrix from a node's space to the world.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    #[must_use]
    pub fn world(&self, node: usize) -> Mat4 {
        self.worlds[node]
    }

    /// For each joint of a skin the matrix from the mesh's space in the bind pose to the world:
    /// world(joint) · inverse bind matrix. Allocates nothing.
    pub fn joint_matrices(&self, skin: &Skin) -> impl Iterator<Item = Mat4> {
        let joints = skin.joints.iter().zip(&skin.inverse_bind_matrices);
        joints.map(|(&joint, &inverse_bind)| self.worlds[joint] * inverse_bind)
    }

    /// Positions (metres) and unit normals in the world of a primitive of a node's mesh, deformed by its morph targets and
    /// then by the node's skin with all influences. No normals where the primitive has none.
    ///
    /// # Panics
    ///
    /// If the node has no mesh, or the mesh no such primitive.
    #[must_use]
    pub fn vertices(&self, scene: &Scene, node: usize, primitive: usize) -> (Vec<Vec3>, Vec<Vec3>) {
        let primitive = mesh_primitive(scene, node, primitive);
        let deform = self.deformation(scene, node, primitive);
        let normal = |(vertex, &normal): (usize, &Vec3)| {
            let morphed = deform.morphed(normal, vertex, |target| &target.normals);
            let matrix = normal_matrix(deform.matrix(vertex));
            direction(matrix * morphed).unwrap_or(normal)
        };
        (deform.positions(primitive).collect(), primitive.normals.iter().enumerate().map(normal).collect())
    }

    /// The box around everything that is drawn, with skins in their pose. Vertices that are not finite do not
    /// count. `None` if nothing is drawn.
    #[must_use]
    pub fn bounds(&self, scene: &Scene) -> Option<Bounds> {
        let mut bounds: Option<Bounds> = None;
        for (index, node) in scene.nodes.iter().enumerate().filter(|(_, node)| node.in_scene) {
            let Some(mesh) = node.mesh else { continue };
            for primitive in &scene.meshes[mesh].primitives {
                let positions: Vec<Vec3> = self.deformation(scene, index, primitive).positions(primitive).collect();
                // What no index names is not drawn.
                let drawn = primitive.indices.iter().map(|&vertex| positions[vertex as usize]);
                let of_primitive =
                    drawn.filter(|position| position.is_finite()).map(Bounds::of_point).reduce(Bounds::union);
                bounds = bounds.into_iter().chain(of_primitive).reduce(Bounds::union);
            }
        }
        bounds
    }

    fn deformation<'a>(&'a self, scene: &Scene, node: usize, primitive: &'a Primitive) -> Deformation<'a> {
        // A skinned mesh does not follow its node, glTF says; a mesh without influences cannot but do so.
        let placement = match (scene.nodes[node].skin, &primitive.influences) {
            (Some(skin), Some(influences)) => {
                Placement::Skin(self.joint_matrices(&scene.skins[skin]).collect(), influences)
            }
            _ => Placement::Rigid(self.worlds[node]),
        };
        Deformation { targets: &primitive.morph_targets, weights: self.weights(node), placement }
    }
}

fn mesh_primitive(scene: &Scene, node: usize, primitive: usize) -> &Primitive {
    let mesh = scene.nodes[node].mesh.expect("the caller asks for a node with a mesh");
    &scene.meshes[mesh].primitives[primitive]
}

/// How a primitive's vertices come to the world: morphed first, then placed.
struct Deformation<'a> {
    targets: &'a [MorphTarget],
    weights: &'a [f32],
    placement: Placement<'a>,
}

/// How what is morphed comes to the world.
enum Placement<'a> {
    Rigid(Mat4),
    Skin(Vec<Mat4>, &'a Influences),
}

impl Deformation<'_> {
    /// The matrix of a vertex: that of the node, or its joints' by weight.
    fn matrix(&self, vertex: usize) -> Mat4 {
        match &self.placement {
            Placement::Rigid(matrix) => *matrix,
            Placement::Skin(joints, influences) => {
                let range = vertex * influences.per_vertex..(vertex + 1) * influences.per_vertex;
                let influences = influences.joints[range.clone()].iter().zip(&influences.weights[range]);
                // A joint without weight may have a matrix that is not finite: it must not count.
                let used = influences.filter(|&(_, &weight)| weight != 0.0);
                used.fold(Mat4::ZERO, |sum, (&joint, &weight)| sum + joints[usize::from(joint)] * weight)
            }
        }
    }

    /// An attribute of a vertex with what morph targets add to it.
    fn morphed(&self, rest: Vec3, vertex: usize, attribute: impl Fn(&MorphTarget) -> &Vec<Vec3>) -> Vec3 {
        let targets = self.targets.iter().zip(self.weights).filter(|&(_, &weight)| weight != 0.0);
        targets.fold(rest, |sum, (target, &weight)| match attribute(target).get(vertex) {
            Some(&displacement) => sum + displacement * weight,
            None => sum,
        })
    }

    fn positions<'a>(&'a self, primitive: &'a Primitive) -> impl Iterator<Item = Vec3> + 'a {
        primitive.positions.iter().enumerate().map(|(vertex, &position)| {
            let morphed = self.morphed(position, vertex, |target| &target.positions);
            self.matrix(vertex).transform_point3(morphed)
        })
    }
}

/// What normals go by: the inverse transpose, but for its scale, by way of the cofactors, which exist also
/// where the inverse does not.
fn normal_matrix(matrix: Mat4) -> Mat3 {
    let matrix = Mat3::from_mat4(matrix);
    // Brought to the size of 1, since cofactors are squares.
    let size = [matrix.x_axis, matrix.y_axis, matrix.z_axis]
        .map(|axis| axis.abs().max_element())
        .into_iter()
        .fold(0.0, f32::max);
    let Mat3 { x_axis: x, y_axis: y, z_axis: z } = matrix * (1.0 / size);
    let cofactors = Mat3::from_cols(y.cross(z), z.cross(x), x.cross(y));
    // Cofactors are the inverse transpose times the determinant, which is negative in a mirror.
    if x.dot(cofactors.x_axis) < 0.0 { cofactors * -1.0 } else { cofactors }
}

impl Transform {
    /// The transform as a matrix: translation · rotation · scale.
    #[must_use]
    pub fn matrix(&self) -> Mat4 {
        match *self {
            Transform::Matrix(matrix) => matrix,
            Transform::Trs { translation, rotation, scale } => {
                Mat4::from_scale_rotation_translation(scale, rotation, translation)
            }
        }
    }

    /// A part (0 to 1) of the way to another transform, factor by factor, rotations by the shorter way. A matrix stays as it
    /// is.
    fn lerp(&self, other: &Transform, part: f32) -> Transform {
        match (*self, *other) {
            (
                Transform::Trs { translation, rotation, scale },
                Transform::Trs { translation: other_translation, rotation: other_rotation, scale: other_scale },
            ) => Transform::Trs {
                translation: translation.lerp(other_translation, part),
                rotation: slerp(rotation, other_rotation, part),
                scale: scale.lerp(other_scale, part),
            },
            _ => *self,
        }
    }
}

/// A box along the axes of the world, in metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The corner with the least coordinates.
    pub min: Vec3,
    /// The corner with the greatest coordinates.
    pub max: Vec3,
}

impl Bounds {
    fn of_point(point: Vec3) -> Bounds {
        Bounds { min: point, max: point }
    }

    /// The point in the middle.
    #[must_use]
    pub fn center(self) -> Vec3 {
        self.min * 0.5 + self.max * 0.5
    }

    /// The distance from the centre to a corner: the radius of the sphere around the box.
    #[must_use]
    pub fn radius(self) -> f32 {
        // In double precision, where the square of no float overflows.
        let half: DVec3 = self.max.as_dvec3() * 0.5 - self.min.as_dvec3() * 0.5;
        half.length().min(f64::from(f32::MAX)) as f32
    }

    /// The box around both.
    #[must_use]
    pub fn union(self, other: Bounds) -> Bounds {
        Bounds { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail that way.
mod tests {
    use super::*;
    use crate::scene::{Mesh, Node, Topology};
    use glam::Quat;
    use std::f32::consts::FRAC_PI_2;

    fn node(parent: Option<usize>, local: Mat4) -> Node {
        Node {
            name: None,
            parent,
            children: Vec::new(),
            local: Transform::Matrix(local),
            mesh: None,
            skin: None,
            weights: Vec::new(),
            camera: None,
            light: None,
            in_scene: true,
        }
    }

    fn triangle() -> Primitive {
        Primitive {
            topology: Topology::Triangles,
            indices: vec![0, 1, 2],
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::splat(99.0)],
            normals: vec![Vec3::Z; 4],
            tangents: Vec::new(),
            colors: Vec::new(),
            tex_coords: [Vec::new(), Vec::new()],
            influences: None,
            morph_targets: Vec::new(),
            material: 0,
            source_vertices: Vec::new(),
        }
    }

    #[test]
    fn worlds_are_products_from_the_root_down() {
        // The child's node comes first in the file.
        let turn = Mat4::from_rotation_z(FRAC_PI_2);
        let scene = Scene {
            nodes: vec![node(Some(1), Mat4::from_translation(Vec3::X)), node(None, turn)],
            node_order: vec![1, 0],
            ..Scene::default()
        };
        let pose = Pose::new(&scene);
        assert!(pose.world(0).transform_point3(Vec3::ZERO).abs_diff_eq(Vec3::Y, 1e-6));
    }

    #[test]
    fn a_skinned_mesh_follows_its_joints_and_not_its_node() {
        let mut carrier = node(None, Mat4::from_translation(Vec3::splat(1000.0)));
        (carrier.mesh, carrier.skin) = (Some(0), Some(0));
        let mut primitive = triangle();
        primitive.positions.truncate(3);
        primitive.normals.truncate(3);
        primitive.influences = Some(Influences {
            per_vertex: 4,
            joints: [[0, 1, 0, 0]; 3].concat(),
            weights: [[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]].concat(),
        });
        let scene = Scene {
            nodes: vec![
                carrier,
                node(None, Mat4::from_translation(Vec3::Z)),
                node(None, Mat4::from_translation(Vec3::Z * 3.0) * Mat4::from_rotation_z(FRAC_PI_2)),
            ],
            node_order: vec![0, 1, 2],
            meshes: vec![Mesh { name: None, primitives: vec![primitive] }],
            skins: vec![Skin {
                name: None,
                joints: vec![1, 2],
                inverse_bind_matrices: vec![Mat4::IDENTITY, Mat4::from_translation(Vec3::X)],
            }],
            ..Scene::default()
        };
        let pose = Pose::new(&scene);
        let (positions, normals) = pose.vertices(&scene, 0, 0);
        let expected = [Vec3::Z, Vec3::new(0.5, 1.0, 2.0), Vec3::new(-1.0, 1.0, 3.0)];
        assert!(positions.iter().zip(expected).all(|(a, b)| a.abs_diff_eq(b, 1e-6)), "{positions:?}");
        assert_eq!(normals, [Vec3::Z; 3]);
        let bounds = pose.bounds(&scene).unwrap();
        assert!(bounds.min.abs_diff_eq(Vec3::new(-1.0, 0.0, 1.0), 1e-6), "{bounds:?}");
        assert!(bounds.max.abs_diff_eq(Vec3::new(0.5, 1.0, 3.0), 1e-6), "{bounds:?}");
    }

    #[test]
    fn normals_go_by_the_inverse_transpose() {
        let normal = |matrix, normal: Vec3| (normal_matrix(matrix) * normal).normalize();
        // A plane x + y = 1 squeezed to a quarter along x becomes 4x + y = 1.
        let squeeze = Mat4::from_scale(Vec3::new(0.25, 1.0, 1.0));
        let slope = Vec3::new(1.0, 1.0, 0.0).normalize();
        assert!(normal(squeeze, slope).abs_diff_eq(Vec3::new(4.0, 1.0, 0.0).normalize(), 1e-6));
        // A mirror keeps what is outside outside.
        assert_eq!(normal(Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0)), Vec3::Y), Vec3::Y);
        assert_eq!(normal(Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0)), Vec3::X), -Vec3::X);
        // Tiny, huge and flat matrices have normals as well.
        assert_eq!(normal(Mat4::from_scale(Vec3::splat(1e-30)), Vec3::Y), Vec3::Y);
        assert_eq!(normal(Mat4::from_scale(Vec3::splat(1e30)), Vec3::Y), Vec3::Y);
        assert_eq!(normal(Mat4::from_scale(Vec3::new(1.0, 0.0, 1.0)), Vec3::Y), Vec3::Y);
    }

    #[test]
    fn bounds_are_of_what_is_drawn() {
        let mut visible = node(None, Mat4::from_scale_rotation_translation(Vec3::splat(2.0), Quat::IDENTITY, Vec3::Z));
        visible.mesh = Some(0);
        let mut hidden = node(None, Mat4::from_translation(Vec3::splat(50.0)));
        (hidden.mesh, hidden.in_scene) = (Some(0), false);
        let mut scene = Scene {
            nodes: vec![visible, hidden],
            node_order: vec![0, 1],
            meshes: vec![Mesh { name: None, primitives: vec![triangle()] }],
            ..Scene::default()
        };
        let bounds = Pose::new(&scene).bounds(&scene).unwrap();
        assert_eq!(bounds, Bounds { min: Vec3::Z, max: Vec3::new(2.0, 2.0, 1.0) });
        assert_eq!(bounds.center(), Vec3::ONE);
        assert!((bounds.radius() - 2.0_f32.sqrt()).abs() < 1e-6);
        scene.meshes[0].primitives[0].indices.clear();
        assert_eq!(Pose::new(&scene).bounds(&scene), None);
        let huge = Bounds { min: Vec3::splat(f32::MIN), max: Vec3::splat(f32::MAX) };
        assert!(huge.center() == Vec3::ZERO && huge.radius() == f32::MAX);
    }
}
