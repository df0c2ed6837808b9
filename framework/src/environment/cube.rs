//! Pictures on the six faces of a cube.

use glam::Vec3;
use rayon::prelude::*;

/// How many faces a cube has.
pub(super) const FACES: usize = 6;

/// The direction, not of unit length, that a point of a face shows: `u` from -1 (left) to 1 (right), `v` from -1 (top) to
/// 1 (bottom). Faces are numbered as the array layers of a Vulkan cube image: +X, -X, +Y, -Y, +Z, -Z (Vulkan's
/// specification, *Cube Map Face Selection*).
pub fn direction(face: usize, u: f32, v: f32) -> Vec3 {
    match face {
        0 => Vec3::new(1.0, -v, -u),
        1 => Vec3::new(-1.0, -v, u),
        2 => Vec3::new(u, 1.0, v),
        3 => Vec3::new(u, -1.0, -v),
        4 => Vec3::new(u, -v, 1.0),
        _ => Vec3::new(-u, -v, -1.0),
    }
}

/// The face that a direction meets, and where.
fn face(direction: Vec3) -> (usize, f32, f32) {
    let Vec3 { x, y, z } = direction;
    let size = direction.abs();
    let (face, major, u, v) = if size.x >= size.y && size.x >= size.z {
        if x >= 0.0 { (0, size.x, -z, -y) } else { (1, size.x, z, -y) }
    } else if size.y >= size.z {
        if y >= 0.0 { (2, size.y, x, z) } else { (3, size.y, x, -z) }
    } else if z >= 0.0 {
        (4, size.z, x, -y)
    } else {
        (5, size.z, -x, -y)
    };
    (face, u / major, v / major)
}

/// A cube's faces, each with a border of one texel that repeats its neighbours', so that a lookup near an edge blends
/// across it.
pub(super) struct Cube {
    /// The side of a face in texels, without the border.
    pub(super) size: usize,
    texels: Vec<Vec3>,
}

impl Cube {
    /// A cube whose texels are made by face, column and row.
    pub(super) fn new(size: usize, texel: impl Fn(usize, usize, usize) -> Vec3 + Sync) -> Self {
        let stride = size + 2;
        let mut texels = vec![Vec3::ZERO; FACES * stride * stride];
        texels.par_chunks_mut(stride).enumerate().for_each(|(line, row)| {
            let (face, y) = (line / stride, line % stride);
            if (1..=size).contains(&y) {
                for x in 0..size {
                    row[x + 1] = texel(face, x, y - 1);
                }
            }
        });
        let mut cube = Self { size, texels };
        cube.fill_borders();
        cube
    }

    /// The position of a texel from -1 to 1.
    pub(super) fn coordinate(size: usize, texel: f32) -> f32 {
        (texel + 0.5) * 2.0 / size as f32 - 1.0
    }

    /// The solid angle in steradians, but for a factor that is the same everywhere, of a small square at a point of a face.
    fn solid_angle(u: f32, v: f32) -> f32 {
        (1.0 + u * u + v * v).powf(-1.5)
    }

    fn index(&self, face: usize, x: usize, y: usize) -> usize {
        let stride = self.size + 2;
        (face * stride + y) * stride + x
    }

    /// A texel, counted without the border.
    pub(super) fn texel(&self, face: usize, x: usize, y: usize) -> Vec3 {
        self.texels[self.index(face, x + 1, y + 1)]
    }

    /// All texels, face by face, without the borders.
    pub(super) fn faces(&self) -> impl Iterator<Item = Vec3> + '_ {
        let size = self.size;
        let rows = (0..FACES * size).map(move |line| self.index(line / size, 1, line % size + 1));
        rows.flat_map(move |start| self.texels[start..start + size].iter().copied())
    }

    fn fill_borders(&mut self) {
        let size = self.size;
        for face_index in 0..FACES {
            for along in 0..size {
                let middle = Self::coordinate(size, along as f32);
                // Just beyond the edge: the texel there is the neighbour's that touches this one.
                let beyond = 1.0 + 1e-4;
                let edges = [
                    (0, along + 1, -beyond, middle),
                    (size + 1, along + 1, beyond, middle),
                    (along + 1, 0, middle, -beyond),
                    (along + 1, size + 1, middle, beyond),
                ];
                for (x, y, u, v) in edges {
                    let (neighbour, u, v) = face(direction(face_index, u, v));
                    let texel = |at: f32| (((at + 1.0) * 0.5 * size as f32) as usize).min(size - 1);
                    let border = self.index(face_index, x, y);
                    self.texels[border] = self.texel(neighbour, texel(u), texel(v));
                }
            }
        }
        // Three faces meet at a corner: there is no fourth texel to blend.
        let last = size + 1;
        for face_index in 0..FACES {
            for (x, y, inner_x, inner_y) in
                [(0, 0, 1, 1), (last, 0, size, 1), (0, last, 1, size), (last, last, size, size)]
            {
                let around = [(inner_x, inner_y), (x, inner_y), (inner_x, y)];
                let sum: Vec3 = around.iter().map(|&(x, y)| self.texels[self.index(face_index, x, y)]).sum();
                let corner = self.index(face_index, x, y);
                self.texels[corner] = sum / 3.0;
            }
        }
    }

    /// The cube with half the side: means of four texels, weighted by their solid angles.
    pub(super) fn halved(&self) -> Self {
        Self::new(self.size / 2, |face, x, y| {
            let (mut sum, mut weights) = (Vec3::ZERO, 0.0);
            for (x, y) in [(2 * x, 2 * y), (2 * x + 1, 2 * y), (2 * x, 2 * y + 1), (2 * x + 1, 2 * y + 1)] {
                let [u, v] = [x, y].map(|at| Self::coordinate(self.size, at as f32));
                let weight = Self::solid_angle(u, v);
                sum += weight * self.texel(face, x, y);
                weights += weight;
            }
            sum / weights
        })
    }

    /// The radiance from a direction, blended from four texels.
    pub(super) fn sample(&self, direction: Vec3) -> Vec3 {
        let (face, u, v) = face(direction);
        // Never outside the border; the minimum is for a NaN, which becomes 0 as an index.
        let [x, y] = [u, v].map(|at| (at + 1.0) * 0.5 * self.size as f32 + 0.5);
        let [column, row] = [x, y].map(|at| (at as usize).min(self.size));
        let (right, down) = (x - column as f32, y - row as f32);
        let at = self.index(face, column, row);
        let below = at + self.size + 2;
        let upper = self.texels[at].lerp(self.texels[at + 1], right);
        let lower = self.texels[below].lerp(self.texels[below + 1], right);
        upper.lerp(lower, down)
    }
}
