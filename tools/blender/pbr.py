"""Builds assets/models/helmet.glb, a diving helmet that was made a lamp, and
assets/models/spheres.glb, a grid of spheres of every metallic and roughness.

Run from the repository root:

    blender --background --factory-startup --python tools/blender/pbr.py

(With --threads 1 in front of --python the files are the same byte for byte every
time; otherwise Blender's own numbers may differ in the last bit.)

Everything is procedural and deterministic. Every surface is a grid of points
(a "patch"): a lathe, a beam, a tube or a window of the breastplate. A patch is a
rectangle of the texture atlas. Cycles bakes two things into that atlas, the
ambient occlusion and the light of the lamp; then every texel is painted from the
surface point under it: colour, roughness, metal, height and glow. The heights
become the normal map.

Inside this script the axes are Blender's (metres, Z up) and the helmet faces -Y,
so +X is its left; the exporter turns that into glTF's Y up, facing +Z.
"""

import json
import math
import os
import struct
import sys
import tempfile

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from procedural import Noise, normalised, smoothstep, spline, turn  # noqa: E402

# --------------------------------------------------------------------------
# Constants
# --------------------------------------------------------------------------

OUTPUT = os.path.join("assets", "models", "helmet.glb")
SPHERES = os.path.join("assets", "models", "spheres.glb")
ATLAS_SIZE = int(os.environ.get("PBR_TEXTURE_SIZE", "2048"))       # smaller for drafts
BAKE_SIZE = ATLAS_SIZE // 2
AO_SAMPLES, LIGHT_SAMPLES = 40, 12
AO_REACH = 0.14               # metres
JPEG_QUALITY = {"colour": 92, "orm": 91, "normal": 96, "glow": 92}
GLOW_STRENGTH = 5.0           # of the emissive picture (KHR_materials_emissive_strength)
WALL_GLOW = 0.085             # of that picture: the wall beside the lamp, where the filament has 1
SEED = 20250611

SHARP = math.cos(math.radians(42.0))    # edges sharper than this keep two normals
PAD = 4                                 # texels painted beyond every chart border

# The dome: radius, height. It is nearly a ball around HEART.
DOME = np.array([
    [0.1260, 0.205], [0.1262, 0.226], [0.1375, 0.254], [0.1480, 0.290], [0.1515, 0.322],
    [0.1475, 0.362], [0.1305, 0.403], [0.0985, 0.439], [0.0550, 0.4605], [0.0200, 0.4668],
])
HEART = (0.0, 0.0, 0.315)
LAMP = (0.0, -0.050, 0.0)     # of the lamp, nearer to the front window than the middle
SKIN = 0.006                  # thickness of the dome
# The breastplate from the neck (0) to the rim (1): share of the way out, of the way down.
BREAST = np.array([
    [0.00, 0.000, 0.000], [0.08, 0.004, 0.120], [0.18, 0.075, 0.255], [0.30, 0.235, 0.345],
    [0.48, 0.500, 0.440], [0.66, 0.755, 0.565], [0.83, 0.930, 0.760], [1.00, 1.000, 1.000],
])
NECK_RADIUS, NECK_HEIGHT = 0.1285, 0.197
RIM = (0.212, 0.182)          # half width and half depth of the rim
RIM_HEIGHT, RIM_RISE = 0.030, 0.026     # of the rim in front, and how much higher at the shoulders

# Colours (sRGB).
COPPER, COPPER_BROWN, COPPER_DARK = (0.935, 0.615, 0.450), (0.560, 0.320, 0.215), (0.270, 0.170, 0.135)
BRASS, BRASS_BROWN, BRASS_DARK = (0.905, 0.790, 0.525), (0.640, 0.490, 0.275), (0.260, 0.200, 0.130)
STEEL = (0.620, 0.610, 0.590)
VERDIGRIS = (0.340, 0.540, 0.470)
ENAMEL = (0.030, 0.235, 0.265)
CREAM = (0.860, 0.810, 0.680)
PORCELAIN = (0.925, 0.915, 0.880)
LEATHER, LEATHER_WORN = (0.330, 0.165, 0.085), (0.560, 0.350, 0.200)
RUBBER, OCHRE = (0.085, 0.080, 0.078), (0.640, 0.440, 0.150)
SOOT = (0.070, 0.060, 0.052)

# Light, linear.
FILAMENT = (1.000, 0.610, 0.220)
LAMPLIGHT = (1.000, 0.430, 0.110)
RADIUM = (0.090, 0.900, 0.520)


# --------------------------------------------------------------------------
# Small numeric tools
# --------------------------------------------------------------------------

noise = Noise(SEED)
fbm = noise.fbm


def band(x, a, b, soft=0.0003):
    """1 where a < x < b, with soft borders."""
    return smoothstep(a - soft, a + soft, x) * smoothstep(b + soft, b - soft, x)


def mix(a, b, t):
    """Blends a to b by the per-texel weight t; colours or numbers."""
    a, b, t = np.asarray(a), np.asarray(b), np.asarray(t)
    if a.ndim > t.ndim:
        t = t[..., None]
    return a * (1 - t) + b * t


def linear(c):
    """sRGB to linear."""
    c = np.asarray(c, float)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def display(c):
    """Linear to sRGB."""
    c = np.clip(c, 0.0, 1.0)
    return np.where(c <= 0.0031308, c * 12.92, 1.055 * np.power(np.maximum(c, 1e-9), 1 / 2.4) - 0.055)


def frame(out, up=(0, 0, 1)):
    """Rotation that takes Z to `out`, and Y as near to `up` as may be."""
    out = normalised(np.array(out, float))
    right = normalised(np.cross(up, out))
    return Matrix(np.stack([right, np.cross(out, right), out], 1).tolist()).to_quaternion()


# --------------------------------------------------------------------------
# Lettering: a small alphabet of strokes on a 2 x 4 grid
# --------------------------------------------------------------------------

GLYPHS = {
    "A": "00-03 03-14 14-23 23-20 02-22", "B": "00-04 04-13 13-02 02-21 21-00", "D": "00-04 04-14 14-23 23-21 21-10 10-00",
    "E": "24-04 04-00 00-20 02-12", "G": "24-04 04-00 00-20 20-22 22-12", "H": "00-04 20-24 02-22",
    "I": "10-14", "L": "04-00 00-20", "M": "00-04 04-12 12-24 24-20", "N": "00-04 04-20 20-24",
    "O": "00-04 04-24 24-20 20-00", "P": "00-04 04-24 24-22 22-02", "R": "00-04 04-24 24-22 22-02 12-20",
    "S": "24-04 04-02 02-22 22-20 20-00", "T": "04-24 14-10", "U": "04-00 00-20 20-24", "W": "04-00 00-12 12-20 20-24",
    "0": "00-04 04-24 24-20 20-00", "1": "10-14 14-03", "2": "04-24 24-22 22-02 02-00 00-20",
    "3": "04-24 24-20 20-00 02-22", "4": "04-02 02-22 24-20", "5": "24-04 04-02 02-22 22-20 20-00",
    "6": "24-04 04-00 00-20 20-22 22-02", "7": "04-24 24-11 11-10", "8": "00-04 04-24 24-20 20-00 02-22",
}


def lettering(text, a, b, height, weight=0.36):
    """Coverage of `text` written centred on the origin along a, standing up along b."""
    unit, out = height / 4, np.zeros(np.shape(a))
    start = -0.5 * (len(text) * 3.1 - 1.1) * unit
    for i, glyph in enumerate(text):
        x0 = start + i * 3.1 * unit
        near = (a > x0 - unit) & (a < x0 + 3 * unit) & (b > -unit) & (b < 5 * unit)
        if glyph == " " or not near.any():
            continue
        p = np.stack([a[near] - x0, b[near]], -1)
        ink = np.zeros(len(p))
        for stroke in GLYPHS[glyph].split():
            s = np.array([int(stroke[0]), int(stroke[1])]) * unit
            e = np.array([int(stroke[3]), int(stroke[4])]) * unit
            along = np.clip((p - s) @ (e - s) / ((e - s) @ (e - s)), 0, 1)
            d = np.linalg.norm(p - s - along[:, None] * (e - s), axis=1)
            ink = np.maximum(ink, smoothstep(weight * unit + 0.0002, weight * unit - 0.0001, d))
        out[near] = np.maximum(out[near], ink)
    return out


# --------------------------------------------------------------------------
# Patches
# --------------------------------------------------------------------------

class Patch:
    """A grid of surface points with its paint.

    The surface faces d(row) x d(column). `paint` is a list of functions that
    are called in turn with the Texels of the chart. `coords` are three numbers
    of every point for them: radius, height and angle of a lathe; length, 0 and
    angle of a tube; what suits for others. Faces whose middle `hole` says are
    left out."""

    def __init__(self, points, paint, coords=None, density=1.0, hole=None, name=""):
        self.name = name
        self.points = np.asarray(points, float)
        self.paint = paint if isinstance(paint, (list, tuple)) else [paint]
        self.coords = np.zeros(self.points.shape) if coords is None else coords
        self.density, self.hole = density, hole
        self.whole, self.start = self, 0            # the surface that this is a part of, and its first column there
        self.closed = np.allclose(self.points[:, 0], self.points[:, -1], atol=1e-7)
        self.at = [self._arc(0), self._arc(1)]      # metres along rows and columns
        self.size = self.at[0][-1], self.at[1][-1]
        self.box = None                             # chart: x, y, width, height in texels, turned

    def _arc(self, axis):
        """Arc length at every row (axis 0) or column (axis 1): of the mean, or of
        the longest across, whichever keeps the ends of a taper painted well."""
        steps = np.linalg.norm(np.diff(self.points, axis=axis), axis=2)
        steps = steps.mean(1 - axis) * 0.5 + steps.max(1 - axis) * 0.5
        return np.concatenate([[0.0], np.cumsum(np.maximum(steps, 1e-5))])

    def moved(self, offset, rotation=None):
        """Turns and shifts the points; returns the patch."""
        if rotation is not None:
            self.points = self.points @ np.array(rotation.to_matrix()).T
        self.points = self.points + np.asarray(offset, float)
        return self

    def corner_uv(self):
        """Texture coordinates of every grid point; of a patch without a chart, the
        whole picture."""
        if self.box is None:
            return np.stack(np.meshgrid(*(a / a[-1] for a in self.at[::-1])), -1)
        x, y, w, h, turned = self.box
        r, c = (a / a[-1] for a in self.at)
        if turned:
            u = np.broadcast_to((x + r * h)[:, None], self.points.shape[:2])
            v = np.broadcast_to((y + c * w)[None, :], self.points.shape[:2])
        else:
            u = np.broadcast_to((x + c * w)[None, :], self.points.shape[:2])
            v = np.broadcast_to((y + r * h)[:, None], self.points.shape[:2])
        return np.stack([u, v], -1) / ATLAS_SIZE


def halves(patch):
    """The left and right half of a long patch, as two charts of one surface. The
    patch must be in its place already."""
    cut = patch.points.shape[1] // 2
    out = []
    for part in (np.s_[:, :cut + 1], np.s_[:, cut:]):
        out.append(Patch(patch.points[part], patch.paint, patch.coords[part], patch.density, patch.hole))
        out[-1].whole, out[-1].start = patch, part[1].start or 0
    return out


def moved(patches, offset, rotation=None):
    """Turns and shifts several patches."""
    return [p.moved(offset, rotation) for p in patches]


def facing_out(points):
    """Whether the closed grid faces outward."""
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    middle = points.reshape(-1, 3).mean(0)
    return np.einsum("ijk,ijk->", (a + b + c + d) / 4 - middle, np.cross(c - a, d - b)) > 0


def outward(points, coords, paint, **more):
    """The patch of a closed grid, turned so that it faces outward."""
    if not facing_out(points):
        points, coords = points[::-1], coords[::-1]
    return Patch(points, paint, coords, **more)


def rounded(profile, radius, steps=2):
    """Replaces the corners of a polyline by arcs of about `radius`."""
    p = np.asarray(profile, float)
    out = [p[0]]
    for before, here, after in zip(p, p[1:], p[2:]):
        r = min(radius, 0.42 * np.linalg.norm(here - before), 0.42 * np.linalg.norm(after - here))
        a = here + normalised(before - here) * r
        b = here + normalised(after - here) * r
        for t in np.linspace(0, 1, steps + 1):
            out.append((1 - t) ** 2 * a + 2 * t * (1 - t) * here + t * t * b)
    return np.array(out + [p[-1]])


def lathe(profile, paint, segments=40, bevel=0.0012, steps=1, phase=0.0, **more):
    """Turns a profile of (radius, height) about Z. The outside lies to the right
    of the way along the profile: up an outer wall, in over a top, down a bore."""
    p = rounded(profile, bevel, steps) if bevel else np.asarray(profile, float)
    p = p[::-1]
    a = np.linspace(0, 2 * math.pi, segments + 1)
    round_ = np.stack([np.cos(a + phase), np.sin(a + phase)], -1)
    round_[-1] = round_[0]
    rows = np.broadcast_to(p[:, None, :], (len(p), len(a), 2))
    grid = np.concatenate([rows[..., :1] * round_, rows[..., 1:]], -1)
    coords = np.concatenate([rows, np.broadcast_to(a[None, :, None], rows.shape[:2] + (1,))], -1)
    return Patch(grid, paint, coords, **more)


def section(width, depth, radius, steps=1):
    """Closed rounded rectangle, starting in the middle of its lower side."""
    r = min(radius, width * 0.499, depth * 0.499)
    ring = [(0.0, -depth / 2)]
    for k, (sx, sy) in enumerate(((1, -1), (1, 1), (-1, 1), (-1, -1))):
        for t in np.linspace(0, math.pi / 2, steps + 1):
            a = t + (k - 1) * math.pi / 2
            ring.append((sx * (width / 2 - r) + r * math.cos(a),
                         sy * (depth / 2 - r) + r * math.sin(a)))
    ring.append(ring[0])
    return np.array(ring)


def beam(stations, paint, up=(0, 0, 1), corner=0.002, bevel=0.0015, steps=1, **more):
    """Lofts rounded rectangles through stations (centre, width, depth), with
    bevelled flat ends. Depth is measured along `up`."""
    centres = np.array([s[0] for s in stations], float)
    ahead = normalised(np.gradient(centres, axis=0))
    across = normalised(np.cross(ahead, up))
    above = np.cross(across, ahead)
    rows, last = [], len(stations) - 1
    for i, (centre, width, depth) in enumerate(stations):

        def ring(shrink, shift):
            s = section(max(width - 2 * shrink, 1e-5), max(depth - 2 * shrink, 1e-5),
                        max(corner - shrink, 0.0004), steps)
            return centres[i] + ahead[i] * shift + s[:, :1] * across[i] + s[:, 1:] * above[i]

        middle = np.broadcast_to(np.asarray(centre, float), (4 * (steps + 1) + 2, 3))
        b = min(bevel, 0.45 * min(width, depth))
        if i == 0:
            rows += [middle, ring(b, 0.0), ring(b * 0.3, b * 0.3), ring(0.0, b)]
        elif i == last:
            rows += [ring(0.0, -b), ring(b * 0.3, -b * 0.3), ring(b, 0.0), middle]
        else:
            rows.append(ring(0.0, 0.0))
    rows = np.array(rows)
    return outward(rows, np.zeros(rows.shape), paint, **more)


def box(centre, size, paint, bevel=0.0018, along=1, **more):
    """A bevelled box, lofted along one axis."""
    centre, size = np.array(centre, float), np.array(size, float)
    step = np.zeros(3)
    step[along] = size[along] / 2
    up = (0, 0, 1) if along != 2 else (0, 1, 0)
    wide, deep = (size[0], size[2]) if along == 1 else (size[1], size[2]) if along == 0 else size[:2]
    return beam([(centre - step, wide, deep), (centre + step, wide, deep)], paint,
                up=up, corner=bevel, bevel=bevel, **more)


def tube(path, radius, paint, segments=10, smooth=6, ends=True, **more):
    """A round tube through the path points (splined), with closed ends."""
    path = np.array(path, float)
    if smooth and len(path) > 2:
        at = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
        fine = np.linspace(0, at[-1], (len(path) - 1) * smooth + 1)
        path = np.stack([spline(at, path[:, k], fine) for k in range(3)], 1)
    tangents = normalised(np.gradient(path, axis=0))
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    side = normalised(np.cross(tangents[0], (0.31, 0.17, 0.93)))
    rows, a = [], np.linspace(0, 2 * math.pi, segments + 1)
    c, s = np.cos(a)[:, None], np.sin(a)[:, None]
    c[-1], s[-1] = c[0], s[0]
    for p, t in zip(path, tangents):
        side = normalised(side - t * (side @ t))
        rows.append(p + radius * (c * side + s * np.cross(t, side)))
    if ends:
        rows = [np.broadcast_to(path[0], rows[0].shape), *rows, np.broadcast_to(path[-1], rows[0].shape)]
        length = np.concatenate([[0.0], length, length[-1:]])
    rows = np.array(rows)
    coords = np.zeros(rows.shape)
    coords[..., 0], coords[..., 2] = length[:, None], a
    return outward(rows, coords, paint, **more)


# --------------------------------------------------------------------------
# Paint: what a material is made of at every texel
# --------------------------------------------------------------------------

class Texels:
    """The texels of one chart with a border of PAD: the surface point `p` under
    each, its `coords`, the curvature `edge` (1/m, positive on convex edges), the
    baked `ao` and `light`; and what is painted: colour, rough, metal, height
    (metres) and glow (linear)."""

    def __init__(self, patch, normals, ao, light, seed):
        x, y, w, h, turned = patch.box
        self.patch, self.seed, self.turned = patch, seed, turned
        rows = np.clip((np.arange(h + 2 * PAD) - PAD + 0.5) / h, 0, 1) * patch.at[0][-1]
        # A part of a surface looks beyond its border into the rest.
        whole = patch.whole
        cols = whole.at[1][patch.start] + (np.arange(w + 2 * PAD) - PAD + 0.5) / w * patch.at[1][-1]
        length = whole.at[1][-1]
        cols = np.mod(cols, length) if whole.closed else np.clip(cols, 0, length)
        fr = np.interp(rows, patch.at[0], np.arange(len(patch.at[0])))
        fc = np.interp(cols, whole.at[1], np.arange(len(whole.at[1])))
        i0 = np.minimum(fr.astype(int), len(patch.at[0]) - 2)
        j0 = np.minimum(fc.astype(int), len(whole.at[1]) - 2)
        tr, tc = (fr - i0)[:, None, None], (fc - j0)[None, :, None]

        def sample(grid):
            a, b = grid[i0][:, j0], grid[i0][:, j0 + 1]
            c, d = grid[i0 + 1][:, j0], grid[i0 + 1][:, j0 + 1]
            return (a * (1 - tc) + b * tc) * (1 - tr) + (c * (1 - tc) + d * tc) * tr

        self.p = sample(whole.points)
        self.n = normalised(sample(normals))
        self.coords = np.moveaxis(sample(whole.coords), -1, 0)
        self.local = (self.p + 0.371 * (seed % 13)).astype(np.float32)
        # Metres per texel down the rows and along the columns.
        along_rows, along_cols = np.diff(whole.points, axis=0), np.diff(whole.points, axis=1)
        down = np.linalg.norm(along_rows, axis=2) / np.diff(patch.at[0])[:, None]
        across = np.linalg.norm(along_cols, axis=2) / np.diff(whole.at[1])[None, :]
        down = np.concatenate([down, down[-1:]]), patch.size[0] / h
        across = np.concatenate([across, across[:, -1:]], 1), patch.size[1] / w
        self.step = tuple(np.maximum(sample(m[..., None])[..., 0], 0.12) * size for m, size in (down, across))
        # Curvature from the bend of the normals along rows and columns.
        self.edge = np.zeros(self.p.shape[:2])
        for axis in (0, 1):
            dp, dn = np.gradient(self.p, axis=axis), np.gradient(self.n, axis=axis)
            self.edge += (dp * dn).sum(-1) / np.maximum((dp * dp).sum(-1), 1e-9)
        self.edge = blurred(np.clip(self.edge, -900, 900), 1)
        area = chart_area(patch)
        self.ao, self.light = ao[area], light[area]
        if turned:
            self.ao, self.light = self.ao.T, self.light.T
        shape = self.p.shape[:2]
        self.colour, self.glow = np.zeros(shape + (3,)), np.zeros(shape + (3,))
        self.near_edge = np.zeros(shape)            # how near the edge of a painted part
        self.rough, self.metal, self.height = np.full(shape, 0.5), np.zeros(shape), np.zeros(shape)

    def lay(self, cover, colour=None, rough=None, metal=None, glow=None):
        """Covers the texels with another surface, as far as `cover` says."""
        cover = np.broadcast_to(np.clip(cover, 0, 1), self.rough.shape)
        for name, value in (("colour", colour), ("rough", rough), ("metal", metal), ("glow", glow)):
            if value is not None:
                setattr(self, name, mix(getattr(self, name), value, cover))

    def fbm(self, scale, octaves=3, seed=0):
        """Sum of noise octaves at the texels."""
        return fbm(self.local, scale, octaves, seed)

    def hollow(self, reach=1.0):
        """Where dirt stays: closed corners and concave bends."""
        return np.clip(smoothstep(0.72, 0.25, self.ao) * reach + smoothstep(-60, -400, self.edge), 0, 1)

    def worn(self, amount=0.5):
        """Where hands and ropes rub: convex edges, unevenly."""
        rub = smoothstep(70, 420, self.edge)
        return np.clip(rub * smoothstep(0.62 - 0.5 * amount, 0.85 - 0.5 * amount, self.fbm(0.012, 3, 41)), 0, 1)

    def scratches(self, amount=0.3):
        """Fine long scratches in three directions, in swarms."""
        out = np.zeros(self.rough.shape)
        for k in range(3):
            a = np.array(Quaternion((1.0 + k, 0.3 - k, 0.7, 0.2 + 0.9 * k)).normalized().to_matrix())
            q = self.local @ (a * (1.0, 1.0, 0.045)).astype(np.float32)
            swarm = smoothstep(0.66 - 0.3 * amount, 0.80 - 0.3 * amount, self.fbm(0.05, 2, 50 + k))
            out = np.maximum(out, smoothstep(0.030, 0.006, np.abs(noise(q, 0.0045, 60 + k) - 0.5)) * swarm)
        return out


def chart_area(patch):
    """The chart and its border as a slice of the atlas."""
    x, y, w, h, turned = patch.box
    wide, high = (h, w) if turned else (w, h)
    return np.s_[y - PAD:y + high + PAD, x - PAD:x + wide + PAD]


def blurred(x, count):
    """Binomial blur in both directions, `count` times."""
    for _ in range(count):
        for axis in (0, 1):
            pad = np.pad(x, [(1, 1) if a == axis else (0, 0) for a in range(x.ndim)], mode="edge")
            lo, hi = (pad[:-2], pad[2:]) if axis == 0 else (pad[:, :-2], pad[:, 2:])
            x = 0.5 * x + 0.25 * (lo + hi)
    return x


def metal(bright, brown, dark, age=0.5, rough=0.22, dents=0.0):
    """Worn metal: tarnish in clouds, rubbed edges, soot in the corners."""
    def paint(t):
        broad, fine = t.fbm(0.075, 4, 1), t.fbm(0.009, 3, 5)
        tarnish = smoothstep(0.34, 0.72, broad + 0.30 * (fine - 0.5) + age - 0.5)
        t.colour = mix(np.broadcast_to(linear(bright), t.p.shape), linear(brown), 0.85 * tarnish)
        t.colour = mix(t.colour, linear(dark), 0.45 * tarnish * smoothstep(0.52, 0.70, t.fbm(0.03, 4, 9)))
        t.rough = rough + 0.20 * tarnish + 0.12 * (fine - 0.5)
        t.metal = np.ones(t.rough.shape)
        t.height = t.height + 0.000012 * (fine - 0.5)
        if dents:
            # The planisher's hammer: shallow facets with soft ridges between.
            t.height = t.height + dents * (np.abs(noise(t.local, 0.011, 71) - 0.5) + np.abs(noise(t.local, 0.014, 72) - 0.5)) \
                + 1.6 * dents * noise(t.local, 0.045, 73)
        cut = t.scratches(0.55)
        t.height -= 0.00008 * cut
        t.lay(0.35 * cut, colour=linear(bright), rough=rough + 0.22)
        t.lay(t.worn(0.7), colour=linear(bright) * 1.03, rough=rough - 0.06)
        soil = t.hollow(0.8) * smoothstep(0.25, 0.6, t.fbm(0.02, 3, 15) + 0.15)
        t.lay(0.85 * soil, colour=linear(dark) * 0.55, rough=0.72, metal=0.35)
    return paint


copper = metal(COPPER, COPPER_BROWN, COPPER_DARK, 0.47, 0.15, 0.00055)
brass = metal(BRASS, BRASS_BROWN, BRASS_DARK, 0.44, 0.18)
old_brass = metal(BRASS, BRASS_BROWN, BRASS_DARK, 0.62, 0.26)
steel = metal(STEEL, (0.43, 0.41, 0.39), (0.20, 0.17, 0.15), 0.45, 0.26)


def verdigris(amount=0.5):
    """Green copper rust: in the corners, and in runs below them."""
    def paint(t):
        run = t.local * (1.0, 1.0, 0.16)
        streak = fbm(run, 0.012, 3, 21)
        near = smoothstep(0.86, 0.30, t.ao) + 0.7 * smoothstep(-60, -300, t.edge)
        crust = smoothstep(0.66, 0.86, near * 0.55 + 0.55 * streak + 0.35 * (t.fbm(0.006, 3, 25) - 0.5) + 0.30 * (amount - 0.5))
        film = smoothstep(0.40, 0.85, near * 0.5 + 0.45 * streak + 0.25 * (amount - 0.5))
        t.lay(0.40 * film, colour=linear((0.30, 0.36, 0.30)), rough=0.55, metal=0.6)
        speckle = t.fbm(0.003, 2, 27)
        t.lay(0.88 * crust, colour=mix(np.broadcast_to(linear(VERDIGRIS), t.p.shape), linear((0.50, 0.66, 0.56)), speckle),
              rough=0.86, metal=0.0)
        t.height = t.height + 0.00030 * crust * (0.4 + speckle)
    return paint


def smudges(places, size=0.011):
    """Fingerprints and hand grease: seen in the roughness alone."""
    def paint(t):
        palm = smoothstep(0.52, 0.68, t.fbm(0.055, 2, 31)) * smoothstep(0.35, 0.65, t.fbm(0.014, 2, 33))
        t.rough = t.rough + 0.09 * palm * t.metal
        for k, place in enumerate(places):
            d = t.p - np.asarray(place)
            near = np.linalg.norm(d, axis=-1) < 2.2 * size
            if not near.any():
                continue
            out = normalised(np.asarray(place, float) - HEART)
            right = normalised(np.cross((0, 0, 1), out))
            tilt = 0.4 * math.sin(3.1 * k)
            up = np.cross(out, right)
            right, up = right * math.cos(tilt) + up * math.sin(tilt), up * math.cos(tilt) - right * math.sin(tilt)
            x, y = d @ right, d @ up * 0.72
            r = np.hypot(x, y) / size
            ridge = 0.5 + 0.5 * np.sin(2 * math.pi * (np.hypot(x, y + 0.3 * size) + 0.0008 * noise(t.p, 0.005, 35)) / 0.0017)
            press = smoothstep(1.0, 0.65, r + 0.25 * (noise(t.p, 0.006, 36) - 0.5)) * near
            t.rough = t.rough + 0.17 * press * (0.25 + 0.75 * ridge) * t.metal
    return paint


def enamel(t):
    """Stove enamel on brass: glossy, chipped at the edges down to the metal."""
    fine = t.fbm(0.006, 2, 3)
    broad = t.fbm(0.09, 3, 1)
    t.colour = np.broadcast_to(linear(ENAMEL), t.p.shape) * (0.80 + 0.42 * broad)[..., None]
    t.rough = 0.13 + 0.10 * smoothstep(0.45, 0.7, t.fbm(0.05, 3, 2)) + 0.03 * fine
    t.metal = np.zeros(t.rough.shape)
    t.height = t.height + 0.00003 * fine + 0.00022 * t.fbm(0.03, 2, 4)


def chips(t, amount=0.5):
    """Breaks the paint laid so far: a pale ring of primer, then bare brass."""
    wear = t.fbm(0.018, 4, 81) + 0.22 * (t.fbm(0.09, 2, 83) - 0.5)
    wear = wear + 0.34 * smoothstep(30, 260, t.edge) + t.near_edge * (0.24 + 0.1 * noise(t.local, 0.03, 85)) + 0.10 * (amount - 0.5)
    wear += 0.16 * smoothstep(0.72, 0.82, noise(t.local, 0.006, 87)) * smoothstep(0.45, 0.6, t.fbm(0.06, 2, 88))
    primer, bare = smoothstep(0.675, 0.690, wear), smoothstep(0.705, 0.720, wear)
    t.lay(primer, colour=linear((0.46, 0.36, 0.27)), rough=0.62)
    under = t.fbm(0.008, 3, 89)
    shine = mix(np.broadcast_to(linear(BRASS_BROWN), t.p.shape), linear(BRASS_DARK), 0.8 * smoothstep(0.35, 0.7, under))
    shine = mix(shine, linear(BRASS), 0.75 * smoothstep(60, 240, t.edge))
    t.lay(bare, colour=shine, rough=0.24 + 0.22 * under, metal=1.0)
    t.height = t.height - 0.00030 * primer - 0.00012 * bare
    cut = t.scratches(0.25) * (1 - primer)
    t.lay(0.30 * cut, colour=linear((0.30, 0.42, 0.42)), rough=0.42)
    soil = t.hollow(0.9) * smoothstep(0.30, 0.65, t.fbm(0.02, 3, 15) + 0.1)
    t.lay(0.55 * soil, colour=linear(SOOT), rough=0.75, metal=0.0)
    dust = smoothstep(0.45, 0.75, fbm(t.local * (1.0, 1.0, 0.2), 0.02, 3, 91)) * smoothstep(0.9, 0.5, t.ao)
    t.lay(0.25 * dust, colour=linear((0.36, 0.33, 0.27)), rough=0.7)


def porcelain(t):
    """White glaze with hair cracks, over a body that shows nowhere."""
    broad = t.fbm(0.03, 2, 1)
    t.colour = np.broadcast_to(linear(PORCELAIN), t.p.shape) * (0.93 + 0.10 * broad)[..., None]
    t.rough = 0.055 + 0.06 * smoothstep(0.5, 0.75, t.fbm(0.02, 3, 2))
    t.metal = np.zeros(t.rough.shape)
    t.height = t.height + 0.00005 * broad
    warp = t.local + 0.004 * np.stack([noise(t.local, 0.01, k) - 0.5 for k in (7, 8, 9)], -1)
    crack = smoothstep(0.018, 0.004, np.abs(noise(warp, 0.014, 13) - 0.5)) * smoothstep(0.50, 0.62, t.fbm(0.03, 2, 17))
    t.lay(0.45 * crack, colour=linear((0.45, 0.36, 0.25)))
    soil = t.hollow(0.7) * smoothstep(0.3, 0.7, t.fbm(0.012, 3, 15) + 0.05)
    t.lay(0.65 * soil, colour=linear((0.30, 0.22, 0.14)), rough=0.5)


def leather(t):
    """Grained hide: pebbles, creases, a pale shine where it is rubbed."""
    pebble = np.abs(noise(t.local, 0.0026, 1) - 0.5) + 0.7 * np.abs(noise(t.local, 0.0017, 2) - 0.5)
    warp = t.local + 0.010 * np.stack([noise(t.local, 0.03, k) - 0.5 for k in (7, 8, 9)], -1)
    crease = smoothstep(0.045, 0.0, np.abs(noise(warp, 0.020, 5) - 0.5))
    broad = t.fbm(0.05, 3, 11)
    t.colour = mix(np.broadcast_to(linear(LEATHER), t.p.shape), linear(LEATHER_WORN), 0.55 * smoothstep(0.45, 0.8, broad))
    t.colour = t.colour * (0.60 + 0.9 * np.clip(pebble * 1.4, 0, 0.7))[..., None]
    t.rough = 0.66 + 0.16 * (t.fbm(0.02, 2, 12) - 0.5) - 0.10 * smoothstep(0.5, 0.8, broad)
    t.metal = np.zeros(t.rough.shape)
    t.height = t.height + 0.00085 * np.minimum(pebble, 0.45) - 0.00050 * crease
    t.lay(0.55 * crease, colour=linear(LEATHER) * 0.45, rough=0.8)
    t.lay(0.60 * t.worn(0.6), colour=linear(LEATHER_WORN), rough=0.55)
    t.lay(0.75 * t.hollow(1.0), colour=linear(SOOT), rough=0.85)


def lamplit(share=1.0):
    """The baked light of the lamp, as glow. Comes last."""
    def paint(t):
        bounce = (0.25 + 0.75 * t.colour / np.maximum(t.colour.max(-1, keepdims=True), 1e-3)) \
            * np.clip(t.colour.max(-1, keepdims=True), 0.10, 0.9)
        t.glow = t.glow + share * np.array(LAMPLIGHT) * bounce * t.light[..., None]
    return paint


# --------------------------------------------------------------------------
# Helmet: dome, lamp and ports
# --------------------------------------------------------------------------

def dome_profile(inset=0.0, rows=36):
    """The dome's outline from the neck up, moved inward by `inset`."""
    step = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(DOME, axis=0), axis=1))])
    at = np.linspace(0, step[-1], rows)
    p = np.stack([spline(step, DOME[:, k], at) for k in (0, 1)], 1)
    d = normalised(np.gradient(p, axis=0))
    return p + inset * np.stack([-d[:, 1], d[:, 0]], 1)


def dome_point(azimuth, elevation):
    """Where the ray from HEART leaves the dome, and its direction. Azimuth 0 is
    the front, positive towards +X."""
    a, e = math.radians(azimuth), math.radians(elevation)
    out = np.array([math.sin(a) * math.cos(e), -math.cos(a) * math.cos(e), math.sin(e)])
    p = dome_profile(0.0, 600)
    angle = np.arctan2(p[:, 1] - HEART[2], p[:, 0])
    k = int(np.argmin(np.abs(angle - e)))
    return np.array(HEART) + out * math.hypot(p[k, 0], p[k, 1] - HEART[2]), out


PORTS = (("front", (0, -1, 0), 0.050), ("left", (1, 0, 0), 0.045), ("right", (-1, 0, 0), 0.045))


def port_hole(extra):
    """Tells the points of a shell that lie in the window of a port."""
    def inside(p):
        d = p - HEART
        out = np.zeros(len(p), bool)
        for _, axis, radius in PORTS:
            along = d @ np.array(axis, float)
            out |= (along > 0) & (np.linalg.norm(d - along[:, None] * axis, axis=1) < radius + extra)
        return out
    return inside


PRINTS = [dome_point(a, e)[0] for a, e in ((38, 22), (33, 25), (43, 26), (-30, 40), (-36, 43), (-25, 44), (9, 52), (140, 20), (-52, 8))]


def build_dome():
    """The copper dome, its tinned inside, and the rings at its neck."""
    def rivet_row(t):
        # A row of small rivets over the neck, and the line the dome was spun on.
        _, height, angle = t.coords
        n = 72
        a = (np.mod(angle * n / (2 * math.pi), 1.0) - 0.5) * (2 * math.pi * 0.127 / n)
        d = np.hypot(a, height - 0.2405)
        t.height = t.height + 0.0011 * np.sqrt(np.clip(1 - (d / 0.0026) ** 2, 0, 1))
        ring = smoothstep(0.0040, 0.0026, d) * smoothstep(0.0024, 0.0028, d)
        t.lay(0.7 * ring, colour=linear(COPPER_DARK) * 0.6, rough=0.7, metal=0.5)
        t.lay(0.5 * smoothstep(0.0016, 0.0008, d), colour=linear(COPPER), rough=0.2)
        seam = band(height, 0.2455, 0.2463, 0.0002)
        t.height = t.height - 0.0002 * seam
        t.lay(0.6 * seam, colour=linear(COPPER_DARK) * 0.6, rough=0.7)

    def tinned(t):
        broad = t.fbm(0.05, 3, 3)
        t.colour = mix(np.broadcast_to(linear((0.60, 0.52, 0.42)), t.p.shape), linear((0.36, 0.27, 0.20)), smoothstep(0.35, 0.7, broad))
        t.rough, t.metal = 0.42 + 0.2 * broad, np.full(broad.shape, 0.9)
        t.height = t.height + 0.0003 * t.fbm(0.012, 2, 4)

    inner = dome_profile(SKIN, 24)
    return [
        *halves(lathe(dome_profile(), [copper, verdigris(0.42), rivet_row, smudges(PRINTS), lamplit(0.4)], 112, bevel=0, phase=math.pi / 2,
              density=1.12, hole=port_hole(0.012))),
        lathe(inner[::-1], [tinned, lamplit(1.0)], 56, bevel=0, density=0.32, hole=port_hole(0.003), name="wall"),
    ]


def knurled(radius, low, high, pitch):
    """Diamond knurling of a lathe between two heights."""
    def paint(t):
        r, height, angle = t.coords
        on = band(height, low, high, 0.0003) * (r > radius - 0.0008)
        a = angle * round(2 * math.pi * radius / pitch) / (2 * math.pi)
        y = height / pitch
        ridge = np.minimum(np.abs(np.mod(a + y, 1.0) - 0.5), np.abs(np.mod(a - y, 1.0) - 0.5)) * 2
        t.height = t.height - 0.17 * pitch * smoothstep(0.55, 0.0, ridge) * on
        t.lay(0.85 * smoothstep(0.34, 0.10, ridge) * on, colour=linear(BRASS_DARK) * 0.5, rough=0.65, metal=0.5)
        t.lay(0.6 * smoothstep(0.55, 0.8, ridge) * on, colour=linear(BRASS), rough=0.20)
    return paint


def build_neck():
    """Neck ring: an engraved band under a knurled locking ring."""
    def wreath(t):
        # Waves that cross, with a bead in every eye: engraved into the lower band.
        radius, height, angle = t.coords
        on = (np.abs(height - 0.2005) < 0.0062) & (radius > 0.1425)
        y, a = (height - 0.2005) / 0.0046, angle * 24
        cut = np.zeros(height.shape)
        for sign in (1, -1):
            for shift in (-0.32, 0.0, 0.32):
                d = np.abs(y - 0.70 * sign * np.cos(a) - shift * 0.8 * np.sin(a) * sign)
                slope = np.hypot(1.0, 0.70 * np.sin(a) * 24 / 0.1435 * 0.0046)
                cut = np.maximum(cut, smoothstep(0.150, 0.045, d / slope))
        bead = np.hypot(np.mod(a / math.pi, 1.0) - 0.5, y * 0.26)
        dot = smoothstep(0.16, 0.06, bead)
        edge = smoothstep(0.12, 0.04, np.abs(np.abs(y) - 1.16))
        cut = np.maximum(cut * smoothstep(0.17, 0.22, bead), edge) * on
        t.height = t.height - 0.00045 * cut + 0.0004 * dot * on
        t.lay(0.92 * cut, colour=linear(BRASS_DARK) * 0.5, rough=0.6, metal=0.6)
        t.lay(0.6 * dot * on, colour=linear(BRASS), rough=0.17)

    lower = [(0.127, 0.1905), (0.1415, 0.1905), (0.1435, 0.1930), (0.1435, 0.2075), (0.1415, 0.2095), (0.1370, 0.2098), (0.1370, 0.2115)]
    upper = [(0.1375, 0.2108), (0.1465, 0.2112), (0.1485, 0.2135), (0.1485, 0.2245), (0.1465, 0.2268), (0.1400, 0.2275), (0.1385, 0.2320),
             (0.1330, 0.2335), (0.1310, 0.2365), (0.1265, 0.2372)]
    out = [*halves(lathe(lower, [brass, wreath, verdigris(0.22), smudges(())], 104, density=1.35)),
           *halves(lathe(upper, [brass, knurled(0.1485, 0.2145, 0.2235, 0.0042), verdigris(0.10), lamplit(0.4)], 104, density=1.35))]
    # Locking blocks: one on each side of the front, a dumb-bell at the back.
    for angle in (-125, -55, 55, 125):
        q = frame((math.cos(math.radians(angle)), math.sin(math.radians(angle)), 0))
        block = [box((0, 0, 0.1500), (0.024, 0.031, 0.008), [old_brass, verdigris(0.3)], 0.0022, density=1.1),
                 *bolts([(0.0, 0.0095), (0.0, -0.0095)], 0.1535, 0.0042)]
        out += moved(block, (0, 0, 0.2090), q)
    return out


def slot(t):
    """The slot of a screw, across the top of a lathe."""
    radius, height, angle = t.coords
    top = height.max()
    d = np.abs(radius * np.cos(angle + 1.3 * t.seed))
    cut = smoothstep(0.00055, 0.00035, d) * (height > top - 0.0006)
    t.height = t.height - 0.0005 * cut
    t.lay(0.9 * cut, colour=linear(BRASS_DARK) * 0.4, rough=0.75, metal=0.4)


def bolts(places, height, radius=0.0036, rise=0.0022, paint=None, segments=11):
    """Screw heads at (x, y), standing up along Z from `height`."""
    out = []
    for x, y in places:
        profile = [(radius, height - 0.001), (radius, height + rise * 0.45), (radius * 0.8, height + rise * 0.85),
                   (radius * 0.4, height + rise), (0.0, height + rise)]
        out.append(lathe(profile, paint or [brass, slot], segments, bevel=0, density=1.2).moved((x, y, 0)))
    return out


def circle(radius, count, start=0.0):
    """Points on a circle; angles in degrees."""
    a = np.radians(start + np.arange(count) * 360.0 / count)
    return [(radius * math.cos(x), radius * math.sin(x)) for x in a]


def wing_nut(size=1.0, yaw=0.0, paint=None):
    """A wing nut on its stud, standing on z = 0."""
    paint = paint or [brass, verdigris(0.25)]
    out = [
        lathe([(0.0095, 0.0), (0.0095, 0.0020), (0.0088, 0.0026), (0.0066, 0.0030), (0.0058, 0.0095), (0.0050, 0.0105), (0.0034, 0.0107)],
              paint, 14, bevel=0.0007, density=0.9),
        lathe([(0.0031, 0.009), (0.0031, 0.0150), (0.0024, 0.0158), (0.0, 0.0158)], [steel], 9, bevel=0, density=0.8),
    ]
    for s in (1, -1):
        out.append(beam([((s * 0.0030, 0, 0.0055), 0.0040, 0.0060), ((s * 0.0075, 0, 0.0090), 0.0030, 0.0085),
                         ((s * 0.0115, 0, 0.0125), 0.0026, 0.0105), ((s * 0.0145, 0, 0.0145), 0.0022, 0.0070)],
                        paint, corner=0.0011, bevel=0.0012, density=0.9))
    for p in out:
        p.points = p.points * size
    return moved(out, (0, 0, 0), turn("Z", yaw))


def build_ports():
    """The three windows: front on a hinge, the sides behind guards."""
    out = []
    ring = [brass, verdigris(0.18), smudges([np.array((0.058, -0.168, 0.350)), np.array((-0.030, -0.170, 0.372))], 0.009), lamplit(0.7)]
    flange = [old_brass, verdigris(0.42), lamplit(0.5)]
    # Front, along Z until it is put in place.
    front = [
        lathe([(0.079, 0.1150), (0.079, 0.1385), (0.0765, 0.1418), (0.0640, 0.1426), (0.0612, 0.1445), (0.0605, 0.1525)], flange, 64, density=1.25),
        lathe([(0.0595, 0.1502), (0.0665, 0.1506), (0.0682, 0.1530), (0.0682, 0.1648), (0.0655, 0.1685), (0.0585, 0.1700), (0.0550, 0.1685),
               (0.0525, 0.1640), (0.0506, 0.1625), (0.0506, 0.1240)], ring, 64, steps=2, density=1.25),
        *bolts(circle(0.0705, 10, 18), 0.1418),
        # Hinge.
        box((-0.0735, 0, 0.1560), (0.0150, 0.0200, 0.0150), [old_brass], 0.003),
        box((-0.0770, 0.0190, 0.1480), (0.0130, 0.0130, 0.0280), [old_brass], 0.003, along=2),
        box((-0.0770, -0.0190, 0.1480), (0.0130, 0.0130, 0.0280), [old_brass], 0.003, along=2),
        lathe([(0.0, -0.0300), (0.0036, -0.0300), (0.0050, -0.0285), (0.0050, -0.0265), (0.0042, -0.0262), (0.0042, 0.0262), (0.0050, 0.0265),
               (0.0050, 0.0285), (0.0036, 0.0300), (0.0, 0.0300)], [steel], 16, bevel=0.0006).moved((-0.0775, 0, 0.1570), turn("X", -90)),
        # Swing bolt with its wing nut.
        box((0.0735, 0, 0.1585), (0.0170, 0.0150, 0.0110), [old_brass], 0.0025, along=0),
        box((0.0775, 0.0, 0.1420), (0.0100, 0.0220, 0.0120), [old_brass], 0.0025),
        tube([(0.0770, 0, 0.1400), (0.0770, 0, 0.1660)], 0.0032, [steel], 12, smooth=0),
        *moved(wing_nut(1.15, 68), (0.0770, 0, 0.1640)),
    ]
    out += moved(front, HEART, frame((0, -1, 0)))
    for s in (1, -1):
        side = [
            lathe([(0.0715, 0.1200), (0.0715, 0.1390), (0.0690, 0.1420), (0.0580, 0.1430), (0.0560, 0.1448), (0.0560, 0.1575), (0.0535, 0.1605),
                   (0.0485, 0.1605), (0.0462, 0.1585), (0.0456, 0.1565), (0.0456, 0.1240)], flange[:1] + ring[1:], 56, density=1.1),
            *bolts(circle(0.0638, 8, 22.5), 0.1423),
        ]
        rod = [brass, verdigris(0.1), lamplit(1.0)]
        for along in (0, 1):
            for offset in (-0.0235, 0.0, 0.0235):
                span = math.sqrt(0.0508 ** 2 - offset ** 2)
                path = []
                for u in np.linspace(-1, 1, 9):
                    q = [offset, span * u] if along else [span * u, offset]
                    lift = 0.0165 * (1 - (offset ** 2 + (span * u) ** 2) / 0.0508 ** 2) + (0.0012 if along else -0.0012)
                    path.append((*q, 0.1592 + lift))
                side.append(tube(path, 0.0029, rod, 9, smooth=1, density=0.9))
        out += moved(side, HEART, frame((s, 0, 0)))
    return out


def build_lamp():
    """Inside: a floor, a porcelain foot and the glowing filament."""
    def floor(t):
        old_brass(t)
        radius, _, angle = t.coords
        groove = smoothstep(0.0012, 0.0004, np.abs(np.mod(radius, 0.014) - 0.007))
        t.height = t.height - 0.0004 * groove
        t.lay(0.7 * groove, colour=linear(SOOT), rough=0.8)

    def hot(t):
        t.colour[:] = linear((0.95, 0.75, 0.45))
        t.rough[:] = 0.6
        t.glow[:] = FILAMENT

    out = [
        lathe([(0.046, 0.213), (0.046, 0.219), (0.042, 0.2225), (0.032, 0.2235)], [brass, lamplit()], 40, density=0.7),
        lathe([(0.034, 0.2225), (0.036, 0.228), (0.0335, 0.2335), (0.0275, 0.2365), (0.0275, 0.2395), (0.0305, 0.2440), (0.0300, 0.2490),
               (0.0250, 0.2530), (0.0225, 0.2535)], [porcelain, lamplit()], 40, bevel=0.002, density=0.9),
        lathe([(0.0235, 0.2520), (0.0235, 0.2560), (0.0215, 0.2580), (0.0215, 0.2640), (0.0200, 0.2660), (0.0140, 0.2665), (0.0110, 0.2700), (0.0, 0.2705)],
              [brass, lamplit()], 32, density=0.8),
    ]
    # The filament: up and down around a squirrel cage, on two thick leads.
    path, turns = [], 7
    for k in range(turns):
        a, b = (2 * math.pi * (k + f) / turns for f in (0.0, 0.5))
        for angle, low in ((a, True), (b, False)):
            r = 0.0135 if low else 0.0175
            z = (0.292, 0.340) if low else (0.340, 0.292)
            c, s = math.cos(angle - 1.57), math.sin(angle - 1.57)
            path += [(r * c, r * s, z[0]), (0.019 * c, 0.019 * s, 0.316), (r * c, r * s, z[1])]
    out.append(tube(path[:-1], 0.00095, [hot], 5, smooth=2, density=0.45))
    for s in (1, -1):
        out.append(tube([(s * 0.006, 0, 0.268), (s * 0.007, 0, 0.280), (0.003 * s, -0.0135, 0.292)], 0.0010, [steel, lamplit()], 6, smooth=3, density=0.5))
    out.append(tube([(0, 0, 0.268), (0, 0, 0.349)], 0.0022, [porcelain, lamplit()], 8, smooth=0, density=0.6))
    for k in range(turns):
        a = 2 * math.pi * (k + 0.25) / turns - 1.57
        out.append(tube([(0, 0, 0.346), (0.010 * math.cos(a), 0.010 * math.sin(a), 0.3475), (0.0155 * math.cos(a), 0.0155 * math.sin(a), 0.341)], 0.0005,
                        [steel, lamplit()], 5, smooth=2, density=0.3))
    ground = lathe([(0.126, 0.214), (0.0, 0.2141)], [floor, lamplit()], 48, bevel=0, density=0.45)
    return [ground, *moved(out, LAMP)]


# --------------------------------------------------------------------------
# Helmet: breastplate and base
# --------------------------------------------------------------------------

def rim_point(angle, out=0.0, rise=0.0):
    """Point of the breastplate's rim at an angle from +X, moved outward and up."""
    c, s = np.cos(angle), np.sin(angle)
    r = (np.abs(c / RIM[0]) ** 2.4 + np.abs(s / RIM[1]) ** 2.4) ** (-1 / 2.4)
    # Outward normal of the superellipse.
    n = np.stack([np.sign(c) * np.abs(r * c) ** 1.4 / RIM[0] ** 2.4, np.sign(s) * np.abs(r * s) ** 1.4 / RIM[1] ** 2.4], -1)
    n = normalised(n) * np.asarray(out)[..., None] if np.ndim(out) else normalised(n) * out
    z = RIM_HEIGHT + RIM_RISE * np.abs(c) ** 2.5 + rise
    return np.stack([r * c + n[..., 0], r * s + n[..., 1], np.broadcast_to(z, c.shape)], -1)


def breast(angle, t, lift=0.0):
    """Point of the breastplate: t = 0 at the neck, 1 at the rim."""
    angle, t = np.broadcast_arrays(np.asarray(angle, float), np.asarray(t, float))

    def at(angle, t):
        far, down = spline(BREAST[:, 0], BREAST[:, 1], t), spline(BREAST[:, 0], BREAST[:, 2], t)
        rim = rim_point(angle)
        neck = np.stack([NECK_RADIUS * np.cos(angle), NECK_RADIUS * np.sin(angle)], -1)
        xy = neck + (rim[..., :2] - neck) * far[..., None]
        return np.concatenate([xy, (NECK_HEIGHT + (rim[..., 2] - NECK_HEIGHT) * down)[..., None]], -1)

    p = at(angle, t)
    if np.any(lift):
        e = 1e-3
        n = normalised(np.cross(at(angle + e, t) - at(angle - e, t), at(angle, np.maximum(t - e, 0)) - at(angle, np.minimum(t + e, 1))))
        p = p + n * np.asarray(lift)[..., None]
    return p


def build_breastplate():
    """The enamelled breastplate, its brass flange, the leather skirt and brails."""
    angle = np.linspace(0, 2 * math.pi, 113)
    angle = angle + math.pi / 2             # the seam is at the back
    t = np.linspace(0, 1, 26)
    grid = breast(angle[None, :], t[:, None])
    grid[:, -1] = grid[:, 0]
    coords = np.stack(np.broadcast_arrays(angle[None, :], t[:, None], 0.0), -1)

    def livery(p):
        a, s, _ = p.coords
        enamel(p)
        # A cream line along the rim, another along the neck.
        for lo, hi in ((0.905, 0.925), (0.200, 0.214)):
            p.lay(band(s, lo, hi, 0.002), colour=linear(CREAM) * 0.9, rough=0.22)
        # The number on the right shoulder, and an arrow for the air on the left.
        x, y = breast_xy(a, s, -math.pi / 2 - 0.80, 0.640)
        p.lay(lettering("07", x, y + 0.020, 0.040, 0.42), colour=linear(CREAM) * 0.95, rough=0.25)
        p.near_edge = np.maximum(smoothstep(0.955, 1.0, s), 0.45 * smoothstep(0.13, 0.09, s))
        chips(p, 0.5)

    plate = halves(Patch(grid, [livery, lamplit(0.3)], coords, density=1.12))

    # Flange of brass, then the leather that the brails clamp.
    flange = np.stack([rim_point(angle, d, h) for d, h in (
        (-0.004, 0.004), (-0.001, 0.0015), (0.003, 0.0006), (0.012, 0.0004), (0.0295, 0.0004), (0.031, -0.001), (0.031, -0.004))])
    flange[:, -1] = flange[:, 0]
    wave = 0.0050 * np.sin(5 * angle + 0.6) + 0.0035 * np.sin(8 * angle + 2.0) + 0.0018 * np.sin(13 * angle)
    rows = []
    # Outward, share of the rim's height (none: level with it), share of the waves.
    for d, f, w in ((0.018, None, 0), (0.030, None, 0.05), (0.036, None, 0.1), (0.0405, 0.92, 0.2), (0.0435, 0.74, 0.4),
                    (0.0460, 0.50, 0.7), (0.0500, 0.26, 1.0), (0.0545, 0.075, 1.25), (0.0565, 0.030, 1.3),
                    (0.0572, 0.010, 1.3), (0.0560, 0.000, 1.3), (0.052, 0.000, 1.25)):
        p = rim_point(angle, d + w * wave, -0.0025)
        if f is not None:
            p[:, 2] = p[:, 2] * f
        rows.append(p)
    skirt = np.array(rows)
    skirt[:, -1] = skirt[:, 0]
    drop = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(skirt, axis=0), axis=2).mean(1))])
    hem = drop[-3]

    def hide(p):
        _, s, along = p.coords
        leather(p)
        # Two rows of stitches along the hem.
        for at in (hem - 0.0075, hem - 0.0110):
            dash = np.mod(along * 150 / 2 / math.pi + (0.5 if at < hem - 0.01 else 0.0), 1.0)
            thread = smoothstep(0.0009, 0.0005, np.abs(s - at)) * band(dash, 0.16, 0.84, 0.06)
            hole = smoothstep(0.0012, 0.0006, np.hypot((np.minimum(dash, 1 - dash)) * 0.0098, s - at))
            sunk = smoothstep(0.0022, 0.0006, np.abs(s - at))
            p.height = p.height - 0.00045 * sunk + 0.0007 * thread - 0.0006 * hole
            p.lay(0.9 * thread, colour=linear((0.72, 0.62, 0.44)), rough=0.8)
            p.lay(0.9 * hole, colour=linear(SOOT) * 0.5, rough=0.9)

    coords = np.stack(np.broadcast_arrays(0.0, drop[:, None], angle[None, :]), -1)
    out = [*plate,
           *halves(Patch(flange, [brass, verdigris(0.5)], density=0.6)),
           *halves(Patch(skirt, [hide], coords, density=0.95))]

    # Four brails, bent like the rim, and twelve wing nuts.
    for k in range(4):
        mid = math.pi / 4 + k * math.pi / 2
        a = np.linspace(mid - 0.745, mid + 0.745, 19)
        path = rim_point(a, 0.0185, 0.0034)
        out.append(beam([(q, 0.0205, 0.0062) for q in path], [brass, verdigris(0.35)], corner=0.0024, bevel=0.002, density=1.05))
        for j, offset in enumerate((-0.56, 0.0, 0.56)):
            place = rim_point(np.array(mid + offset), 0.0185, 0.0062)
            yaw = math.degrees(2 * math.pi * noise.lattice[97 * k + 31 * j])
            slope = rim_point(np.array([mid + offset - 0.01, mid + offset + 0.01]), 0.0185)
            up = np.cross(normalised(slope[1] - slope[0]), normalised(np.array([-(slope[1] - slope[0])[1], (slope[1] - slope[0])[0], 0.0])))
            up = up * np.sign(up[2])
            out += moved(wing_nut(1.1, yaw), place, frame(up, (0.3, 1, 0)))
    return out


def breast_xy(angle, t, angle0, t0):
    """Metres right and up on the breastplate, seen from outside, around a point."""
    e = 1e-3
    across = np.linalg.norm(breast(angle0 + e, t0) - breast(angle0 - e, t0)) / (2 * e)
    down = np.linalg.norm(breast(angle0, t0 + e) - breast(angle0, t0 - e)) / (2 * e)
    a = np.mod(angle - angle0 + math.pi, 2 * math.pi) - math.pi
    return a * across, (t0 - t) * down


def build_plate():
    """The maker's plate in front, bent like the breastplate."""
    angle0, t0 = -math.pi / 2, 0.655
    wide, high = 0.108, 0.046
    e = 1e-3
    across = np.linalg.norm(breast(angle0 + e, t0) - breast(angle0 - e, t0)) / (2 * e)
    down = np.linalg.norm(breast(angle0, t0 + e) - breast(angle0, t0 - e)) / (2 * e)
    rim = np.array([-0.0012, 0.0006, 0.0012])
    inset = np.array([0.0, 0.0002, 0.0010])

    def axis(length, n):
        inner = np.linspace(-length / 2 + 0.0025, length / 2 - 0.0025, n)
        return np.concatenate([-length / 2 + inset, inner, (length / 2 - inset)[::-1]])

    x, y = axis(wide, 15), axis(high, 9)
    depth = lambda v, length: np.interp(length / 2 - np.abs(v), inset, rim)
    gx, gy = np.meshgrid(x, y)
    lift = np.minimum(depth(gx, wide), depth(gy, high))
    points = breast(angle0 + gx / across, t0 - gy / down, lift)
    coords = np.stack([gx, gy, 0 * gx], -1)

    def engraved(t):
        x, y, _ = t.coords
        brass(t)
        frame_ = smoothstep(0.0007, 0.0003, np.abs(np.maximum(np.abs(x) - wide / 2 + 0.0045, np.abs(y) - high / 2 + 0.0045)))
        ink = np.maximum.reduce([lettering("ASHWRIGHT", x, y + 0.0020, 0.0125, 0.42), lettering("SUBMARINE LIGHTS", x, y + 0.0090, 0.0046, 0.44),
                                 lettering("NO 07", x, y + 0.0172, 0.0052, 0.44), frame_])
        for s in (1, -1):
            d = np.abs(y + 0.0146) + 0.12 * np.abs(x - s * 0.026)
            ink = np.maximum(ink, smoothstep(0.0016, 0.0011, d))
        t.height = t.height - 0.00035 * blurred(ink, 1)
        t.lay(0.95 * ink, colour=linear((0.045, 0.040, 0.035)), rough=0.55, metal=0.0)
        rub = smoothstep(0.50, 0.7, t.fbm(0.03, 3, 44))
        t.rough = t.rough - 0.05 * rub * (1 - ink)

    # Rows run up and columns to the right: the outside is d(column) x d(row).
    out = [Patch(points[::-1], [engraved], coords[::-1], density=2.6)]
    for sx in (1, -1):
        for sy in (1, -1):
            a, t = angle0 + sx * (wide / 2 - 0.0085) / across, t0 - sy * (high / 2 - 0.0085) / down
            p, q = breast(a, t), breast(a, t, 0.001)
            out += moved(bolts([(0, 0)], 0.0012, 0.0030, 0.0018), p, frame(q - p))
    return out


def build_gauge():
    """A depth gauge on the left of the breastplate, its marks glowing."""
    def dial(t):
        x, y = t.coords[0] * np.cos(t.coords[2]), t.coords[0] * np.sin(t.coords[2])
        r, a = np.hypot(x, y), np.degrees(np.arctan2(y, x))
        t.colour = np.broadcast_to(linear((0.90, 0.87, 0.78)), t.p.shape) * (0.9 + 0.15 * t.fbm(0.01, 3, 2))[..., None]
        t.rough[:], t.metal[:] = 0.12, 0.0
        around = np.mod(225.0 - a, 360.0)                 # 0 at the lower left, clockwise
        on = around <= 271
        mark = np.zeros(r.shape)
        for count, inner, half in ((9, 0.0195, 0.00055), (45, 0.0222, 0.00026)):
            step = 270.0 / count
            off = np.abs(np.mod(around + step / 2, step) - step / 2)
            mark = np.maximum(mark, smoothstep(half + 0.0002, half, np.radians(off) * r) * band(r, inner, 0.0245, 0.0002) * on)
        for k in range(9):
            b = math.radians(225 - 270 * k / 9)
            mark = np.maximum(mark, lettering(str(k), x - 0.0158 * math.cos(b), y - 0.0158 * math.sin(b) + 0.0021, 0.0042, 0.40))
        red = band(around, 210, 270, 0.5) * band(r, 0.0250, 0.0262, 0.0002)
        t.lay(red, colour=linear((0.75, 0.10, 0.06)))
        ink = np.maximum(lettering("DEPTH", x, y + 0.0110, 0.0030, 0.40), lettering("AW", x, y - 0.0060, 0.0034, 0.42))
        t.lay(ink, colour=linear((0.06, 0.06, 0.06)))
        t.lay(mark, colour=linear((0.12, 0.42, 0.30)), rough=0.5, glow=np.array(RADIUM) * 0.75)
        stain = smoothstep(0.020, 0.028, r) * t.fbm(0.006, 3, 7)
        t.lay(0.5 * stain * (1 - mark), colour=linear((0.50, 0.40, 0.25)))
        near = blurred(mark, 6)
        t.glow = t.glow + (0.10 * near * (1 - mark))[..., None] * RADIUM

    def needle(t):
        t.colour[:] = linear((0.10, 0.10, 0.11))
        t.rough[:], t.metal[:] = 0.35, 0.3

    gauge = [
        lathe([(0.0090, -0.030), (0.0090, -0.004), (0.0140, 0.0)], [old_brass, verdigris(0.4)], 24, density=0.8),
        lathe([(0.008, -0.001), (0.0300, 0.0000), (0.0335, 0.0030), (0.0335, 0.0165), (0.0355, 0.0180), (0.0360, 0.0200), (0.0350, 0.0230), (0.0310, 0.0245),
               (0.0285, 0.0225), (0.0275, 0.0180)], [brass, knurled(0.0335, 0.0035, 0.0160, 0.0026), verdigris(0.2)], 56, density=1.15),
        lathe([(0.0278, 0.0182), (0.0140, 0.0182), (0.0, 0.0182)], [dial], 56, bevel=0, density=2.6),
        lathe([(0.0032, 0.0180), (0.0032, 0.0205), (0.0022, 0.0213), (0.0, 0.0213)], [brass], 14, bevel=0.0005),
    ]
    q = turn("Z", 225 - 270 * 0.38)
    gauge += moved([beam([((-0.006, 0, 0.0197), 0.0022, 0.0007), ((0.004, 0, 0.0197), 0.0022, 0.0007), ((0.0205, 0, 0.0197), 0.0005, 0.0006)], [needle],
                         corner=0.0002, bevel=0.0002, density=1.0)], (0, 0, 0), q)
    angle, t = -math.pi / 2 + 0.86, 0.56
    p, n = breast(angle, t), breast(angle, t, 0.001) - breast(angle, t)
    out = normalised(normalised(n) * 0.75 + np.array((0.10, -0.75, 0.05)))
    return moved(gauge, p + 0.014 * normalised(n) + 0.006 * out, frame(out))


def build_fittings():
    """Finial, valves, elbows and the hose."""
    out = []
    # Finial: a ribbed insulator of porcelain between brass.
    def bands(t):
        porcelain(t)
        _, height, _ = t.coords
        for lo, hi in ((0.4865, 0.4885), (0.5050, 0.5066)):
            t.lay(band(height, lo, hi, 0.0002) * (t.coords[0] > 0.022), colour=linear((0.05, 0.17, 0.35)))

    out += [
        lathe([(0.0430, 0.4520), (0.0430, 0.4660), (0.0410, 0.4695), (0.0310, 0.4710), (0.0285, 0.4735), (0.0285, 0.4795), (0.0260, 0.4820), (0.0190, 0.4825)],
              [brass, verdigris(0.40)], 56, density=1.1),
        *bolts(circle(0.0362, 8), 0.4702, 0.0031),
        lathe([(0.0185, 0.4815), (0.0250, 0.4830), (0.0275, 0.4875), (0.0250, 0.4930), (0.0205, 0.4965), (0.0200, 0.4995), (0.0240, 0.5020), (0.0258, 0.5062),
               (0.0228, 0.5118), (0.0180, 0.5150), (0.0175, 0.5178), (0.0205, 0.5200), (0.0212, 0.5240), (0.0175, 0.5290), (0.0130, 0.5312), (0.0120, 0.5330)],
              [bands], 44, bevel=0.0024, steps=2, density=1.3),
        lathe([(0.0115, 0.5315), (0.0160, 0.5325), (0.0172, 0.5350), (0.0172, 0.5400), (0.0150, 0.5432), (0.0080, 0.5445), (0.0062, 0.5470), (0.0062, 0.5530)],
              [brass, knurled(0.0172, 0.5350, 0.5402, 0.0022)], 40, density=1.2),
    ]
    ring = np.linspace(0, 2 * math.pi, 33)
    loop = np.stack([0.0135 * np.cos(ring), 0 * ring, 0.5650 + 0.0135 * np.sin(ring)], -1)
    loop[-1] = loop[0]
    out.append(tube(loop, 0.0032, [brass], 10, smooth=0, ends=False))

    # Exhaust valve: a knurled wheel, right of the front.
    p, d = dome_point(-47, -21)
    valve = [
        lathe([(0.0260, -0.016), (0.0260, 0.0030), (0.0245, 0.0050), (0.0190, 0.0055), (0.0180, 0.0070), (0.0180, 0.0150), (0.0200, 0.0165)],
              [old_brass, verdigris(0.35)], 40),
        lathe([(0.0170, 0.0160), (0.0270, 0.0162), (0.0285, 0.0180), (0.0285, 0.0300), (0.0270, 0.0322), (0.0190, 0.0328), (0.0175, 0.0312), (0.0120, 0.0315),
               (0.0100, 0.0350), (0.0075, 0.0385), (0.0, 0.0390)], [brass, knurled(0.0285, 0.0185, 0.0298, 0.0030)], 56, density=1.25),
        *bolts(circle(0.0222, 6, 10), 0.0050, 0.0021, 0.0015, segments=10),
    ]
    out += moved(valve, p, frame(d))
    # Tap with a porcelain lever, left of the front.
    p, d = dome_point(47, -21)
    tap = [
        lathe([(0.0190, -0.014), (0.0190, 0.0025), (0.0175, 0.0042), (0.0115, 0.0048), (0.0100, 0.0075), (0.0100, 0.0230), (0.0140, 0.0260), (0.0150, 0.0290),
               (0.0150, 0.0410), (0.0125, 0.0438), (0.0060, 0.0445), (0.0050, 0.0470), (0.0, 0.0475)], [brass, verdigris(0.3)], 36),
        *moved([lathe([(0.0060, 0.0100), (0.0060, 0.0200), (0.0075, 0.0210), (0.0075, 0.0235), (0.0050, 0.0240)], [brass], 24, density=0.9),
                lathe([(0.0048, 0.0232), (0.0072, 0.0260), (0.0108, 0.0420), (0.0115, 0.0540), (0.0095, 0.0610), (0.0055, 0.0640), (0.0038, 0.0645)],
                      [porcelain], 28, bevel=0.003, steps=2, density=1.3),
                lathe([(0.0045, 0.0635), (0.0045, 0.0662), (0.0030, 0.0680), (0.0, 0.0682)], [brass], 16, bevel=0.0008)],
               (0, 0, 0.0350), frame((0.62, 0.78, 0.12), (0, 0, 1))),
        *moved([lathe([(0.0065, 0.0080), (0.0065, 0.0260), (0.0085, 0.0265), (0.0085, 0.0300), (0.0060, 0.0302), (0.0050, 0.0250)],
                      [old_brass, verdigris(0.5)], 24)],
               (0, 0, 0.0350), frame((-0.35, -0.93, -0.05), (0, 0, 1))),
    ]
    out += moved(tap, p, frame(d))

    # Elbows at the back: the left one carries the hose, the right one a cap.
    hexagon = lambda r, lo, hi: lathe([(r * 0.72, lo), (r * 0.94, lo), (r, lo + 0.001), (r, hi - 0.001), (r * 0.94, hi), (r * 0.72, hi)],
                                      [brass, verdigris(0.25)], 6, bevel=0, density=0.9)
    for s in (1, -1):
        p, d = dome_point(s * 148, 4)
        side = d * (1, 1, 0)
        path = [p - 0.012 * d, p + 0.018 * d, p + 0.040 * side + (0, 0, -0.004), p + 0.0530 * side + (0, 0, -0.022), p + 0.0560 * side + (0, 0, -0.048)]
        out.append(tube(path, 0.0155, [old_brass, verdigris(0.45)], 20, smooth=4))
        out += moved([lathe([(0.0300, -0.012), (0.0300, 0.0030), (0.0280, 0.0050), (0.0200, 0.0056), (0.0180, 0.0090), (0.0150, 0.0100)],
                            [brass, verdigris(0.5)], 40), *bolts(circle(0.0245, 6), 0.0050, 0.0026, 0.0018, segments=10)], p, frame(d))
        end, down = path[-1], normalised(path[-1] - path[-2])
        out += moved([hexagon(0.0215, -0.013, 0.002)], end, frame(down, d))
        if s < 0:
            out += moved([lathe([(0.0, -0.022), (0.012, -0.0215), (0.0165, -0.019), (0.0165, -0.001), (0.012, 0.0)], [brass], 28)], end, frame(-down, d))
    p, d = dome_point(148, 4)
    end = p + 0.0560 * d * (1, 1, 0) + (0, 0, -0.048)
    path = [end - (0, 0, -0.004), end + (0.004, 0.010, -0.042), (0.138, 0.252, 0.148), (0.188, 0.278, 0.072), (0.250, 0.240, 0.026), (0.298, 0.160, 0.0157),
            (0.318, 0.050, 0.0153), (0.310, -0.065, 0.0153), (0.270, -0.160, 0.0153), (0.212, -0.226, 0.0153)]

    def braid(t):
        # Over and under, two strands each way; two tracers of ochre.
        along, _, angle = t.coords
        n = 9
        a, s = angle * n / (2 * math.pi), along / 0.0098
        u, v = a + s, a - s
        cu, cv = np.mod(u, 1.0), np.mod(v, 1.0)
        over = np.mod(np.floor(u) + np.floor(v), 2.0)
        hu, hv = np.sin(math.pi * cu), np.sin(math.pi * cv)
        top = np.where(over > 0.5, hu, hv)
        fibre = 0.5 + 0.5 * np.sin(2 * math.pi * 5 * np.where(over > 0.5, cu, cv))
        t.height = 0.00075 * np.sqrt(np.clip(top, 0, 1)) + 0.00006 * fibre
        tracer = (np.mod(np.floor(np.where(over > 0.5, u, v)), n) == 0) * (over > 0.5) + (np.mod(np.floor(v), n) == 4) * (over < 0.5)
        t.colour = np.broadcast_to(linear(RUBBER), t.p.shape) * (0.55 + 0.65 * top)[..., None] * (0.85 + 0.3 * t.fbm(0.03, 2, 1))[..., None]
        t.lay(0.9 * (tracer > 0), colour=linear(OCHRE) * (0.5 + 0.5 * top)[..., None])
        t.rough = 0.80 - 0.10 * top
        t.lay(0.5 * smoothstep(0.45, 0.75, t.fbm(0.04, 3, 5)), colour=linear((0.33, 0.30, 0.26)) * (0.3 + 0.7 * top)[..., None])
        t.lay(0.7 * t.hollow(), colour=linear(SOOT), rough=0.9)

    out.append(tube(path, 0.0145, [braid], 16, smooth=8, density=1.1))
    last, ahead = np.array(path[-1]), normalised(np.array(path[-1]) - np.array(path[-2]))
    out += moved([
        lathe([(0.0146, -0.030), (0.0158, -0.029), (0.0158, -0.002), (0.0150, 0.0)], [brass, verdigris(0.3)], 32),
        lathe([(0.012, -0.003), (0.0185, -0.002), (0.0192, 0.0), (0.0192, 0.017), (0.0180, 0.019), (0.0130, 0.0195), (0.0118, 0.017),
               (0.0112, -0.002), (0.0, -0.0025)],
              [brass, knurled(0.0192, 0.001, 0.016, 0.0026)], 44, density=1.1),
    ], last + (0, 0, 0.004), frame(ahead))
    for at in (-0.024, -0.013):
        out += moved([lathe([(0.0155, at), (0.0172, at + 0.001), (0.0172, at + 0.005), (0.0155, at + 0.006)], [brass], 32, bevel=0.001)],
                     last + (0, 0, 0.004), frame(ahead))
    return out


def build_glass():
    """The panes and the bulb, as grids of points: they carry no pictures."""
    def disc(radius, height, bulge, rings=6, segments=40):
        r = np.linspace(1.0, 0.0, rings + 1)
        return lathe(np.stack([radius * r, height + bulge * (1 - r * r)], 1), [], segments, bevel=0)

    out = [disc(0.0512, 0.1600, 0.0045).moved(HEART, frame((0, -1, 0)))]
    for s in (1, -1):
        out.append(disc(0.0462, 0.1530, 0.0040).moved(HEART, frame((s, 0, 0))))
    bulb = np.array([[0.0150, 0.266], [0.0165, 0.274], [0.0215, 0.287], [0.0295, 0.305], [0.0325, 0.322], [0.0295, 0.340],
                     [0.0205, 0.353], [0.0085, 0.360], [0.0, 0.3615]])
    at = np.arange(len(bulb))
    fine = np.linspace(0, len(bulb) - 1, 22)
    out.append(lathe(np.stack([np.maximum(spline(at, bulb[:, k], fine), 0) for k in (0, 1)], 1), [], 32, bevel=0).moved(LAMP))
    return out


# --------------------------------------------------------------------------
# Atlas
# --------------------------------------------------------------------------

def chart_sizes(patches, scale):
    """Texels (width, height) of every chart; tall ones lie down."""
    out = []
    for p in patches:
        h, w = (max(4, int(round(s * scale * p.density))) for s in p.size)
        out.append((w, h, False) if w >= h else (h, w, True))
    return out


def pack(sizes, size):
    """Skyline packing, wide charts first; None if the charts do not fit."""
    order = sorted(range(len(sizes)), key=lambda i: (-sizes[i][0], -sizes[i][1], i))
    places, skyline = [None] * len(sizes), [(0, 0, size)]            # x, height, width
    for i in order:
        w, h = sizes[i][0] + 2 * PAD, sizes[i][1] + 2 * PAD
        best = None
        for k, (x, _, _) in enumerate(skyline):
            if x + w > size:
                break
            top, right = 0, k
            while right < len(skyline) and skyline[right][0] < x + w:
                top = max(top, skyline[right][1])
                right += 1
            if top + h <= size and (best is None or top < best[0]):
                best = (top, x)
        if best is None:
            return None
        top, x = best
        places[i] = (x + PAD, top + PAD)
        after = []
        for a, y, width in skyline:
            if a < x:
                after.append((a, y, min(width, x - a)))
            if a + width > x + w:
                start = max(a, x + w)
                after.append((start, y, a + width - start))
        skyline = sorted(after + [(x, top + h, w)])
    return places


def lay_out(patches):
    """Finds the largest texel density at which all charts fit."""
    lo, hi = 10.0, 10000.0
    while hi - lo > 2.0:
        mid = 0.5 * (lo + hi)
        if pack(chart_sizes(patches, mid), ATLAS_SIZE) is None:
            hi = mid
        else:
            lo = mid
    sizes = chart_sizes(patches, lo)
    for p, (w, h, turned), (x, y) in zip(patches, sizes, pack(sizes, ATLAS_SIZE)):
        # box: position, then width along the columns and height along the rows
        p.box = (x, y, h, w, True) if turned else (x, y, w, h, False)
    return lo


# --------------------------------------------------------------------------
# Mesh: triangles and normals
# --------------------------------------------------------------------------

class Surface:
    """Patches as one mesh of triangles. Vertices are shared within a patch."""

    def __init__(self, patches):
        owners = {}
        flat = np.concatenate([p.points.reshape(-1, 3) for p in patches])
        owner = np.concatenate([np.full(p.points.shape[0] * p.points.shape[1], owners.setdefault(p.whole, len(owners))) for p in patches])
        keys = np.column_stack([owner, np.round(flat / 2e-6).astype(np.int64)])
        _, first, index = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        self.verts, self.faces, self.uvs = flat[first], [], []
        self.whole = {}                             # vertices of every whole surface
        start = 0
        for p in patches:
            count = p.points.shape[0] * p.points.shape[1]
            ids = index.ravel()[start:start + count].reshape(p.points.shape[:2])
            start += count
            before = self.whole.get(p.whole)
            self.whole[p.whole] = ids if before is None else np.concatenate([before, ids[:, 1:]], 1)
            quads = np.stack([ids[:-1, :-1], ids[1:, :-1], ids[1:, 1:], ids[:-1, 1:]], -1).reshape(-1, 4)
            uv = p.corner_uv()
            coords = np.stack([uv[:-1, :-1], uv[1:, :-1], uv[1:, 1:], uv[:-1, 1:]], 2).reshape(-1, 4, 2)
            if p.hole is not None:
                keep = ~p.hole(self.verts[quads].mean(1))
                quads, coords = quads[keep], coords[keep]
            corner = self.verts[quads]
            # Cut every quad along its shorter diagonal.
            other = np.linalg.norm(corner[:, 1] - corner[:, 3], axis=1) < np.linalg.norm(corner[:, 0] - corner[:, 2], axis=1) - 1e-7
            for cut in ((0, 1, 2), (0, 2, 3)), ((1, 2, 3), (1, 3, 0)):
                which = other if cut[0][0] else ~other
                for t in cut:
                    faces, uvs = quads[which][:, t], coords[which][:, t].copy()
                    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
                    self.faces.append(faces[whole])
                    self.uvs.append(uvs[whole])
        self.faces, self.uvs = np.concatenate(self.faces), np.concatenate(self.uvs)
        self._normals()

    def _normals(self):
        """Corner normals: area-weighted over the faces around a vertex that meet
        at less than the sharp angle. Large flat faces so stay flat beside small
        bevels."""
        a, b, c = (self.verts[self.faces[:, k]] for k in range(3))
        area = np.cross(b - a, c - a)
        unit = normalised(area)
        # All pairs of faces that meet in a vertex, by sorting the corners.
        corner = self.faces.ravel()
        face = np.repeat(np.arange(len(self.faces)), 3)
        order = np.argsort(corner, kind="stable")
        start = np.searchsorted(corner[order], np.arange(len(self.verts) + 1))
        count = np.diff(start)[corner]
        normals = np.zeros((len(corner), 3))
        for k in range(int(count.max())):
            has = count > k
            near = face[order[start[corner[has]] + k]]
            fits = (unit[near] * unit[face[has]]).sum(1) > SHARP
            normals[has] += area[near] * fits[:, None]
        self.normals = normalised(normals).reshape(-1, 3, 3)
        total = np.zeros((len(self.verts), 3))
        for k in range(3):
            np.add.at(total, self.faces[:, k], area)
        self.vertex_normals = normalised(total)

    def mesh(self, name, material):
        """A Blender mesh with these normals."""
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(self.verts.tolist(), [], self.faces.tolist())
        layer = mesh.uv_layers.new(name="UVMap")
        layer.data.foreach_set("uv", self.uvs.astype(np.float32).ravel())
        mesh.materials.append(material)
        mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
        mesh.use_auto_smooth = True
        mesh.auto_smooth_angle = math.pi
        mesh.normals_split_custom_set(self.normals.reshape(-1, 3).tolist())
        return mesh


# --------------------------------------------------------------------------
# Baking
# --------------------------------------------------------------------------

def bake(obj, kind, samples, **settings):
    """Bakes one pass into a picture of the atlas and returns it as numbers."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.samples = samples
    scene.cycles.seed = SEED % 1000
    scene.cycles.use_adaptive_sampling = False
    scene.cycles.use_denoising = False
    image = bpy.data.images.new("bake", BAKE_SIZE, BAKE_SIZE, alpha=False, float_buffer=True)
    image.colorspace_settings.name = "Non-Color"
    nodes = obj.data.materials[0].node_tree.nodes
    node = nodes.new("ShaderNodeTexImage")
    node.image = image
    nodes.active = node
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.bake(type=kind, margin=3, margin_type="EXTEND", use_clear=True, **settings)
    pixels = np.zeros(BAKE_SIZE * BAKE_SIZE * 4, np.float32)
    image.pixels.foreach_get(pixels)
    nodes.remove(node)
    bpy.data.images.remove(image)
    return pixels.reshape(BAKE_SIZE, BAKE_SIZE, 4)[..., 0].astype(float)


def enlarged(x):
    """Twice the size, smoothly."""
    for axis in (0, 1):
        lo, hi = np.roll(x, 1, axis), np.roll(x, -1, axis)
        pair = np.stack([0.75 * x + 0.25 * lo, 0.75 * x + 0.25 * hi], axis + 1)
        shape = list(x.shape)
        shape[axis] *= 2
        x = pair.reshape(shape)
    return x


def bake_light(surface):
    """Ambient occlusion, on a floor, and the light of the filament."""
    scene = bpy.context.scene
    material = bpy.data.materials.new("bake")
    material.use_nodes = True
    obj = bpy.data.objects.new("bake", surface.mesh("bake", material))
    scene.collection.objects.link(obj)
    floor = bpy.data.meshes.new("floor")
    floor.from_pydata([(-2, -2, -0.0005), (2, -2, -0.0005), (2, 2, -0.0005), (-2, 2, -0.0005)], [], [(0, 1, 2, 3)])
    ground = bpy.data.objects.new("floor", floor)
    scene.collection.objects.link(ground)
    scene.world = bpy.data.worlds.new("world")
    scene.world.light_settings.distance = AO_REACH
    ao = bake(obj, "AO", AO_SAMPLES)
    light = bpy.data.lights.new("filament", "POINT")
    light.energy, light.shadow_soft_size = 1.0, 0.016
    lamp = bpy.data.objects.new("filament", light)
    lamp.location = Vector(LAMP) + Vector((0, 0, 0.316))
    scene.collection.objects.link(lamp)
    scene.cycles.max_bounces = 0
    glow = bake(obj, "DIFFUSE", LIGHT_SAMPLES, pass_filter={"DIRECT"})
    for o in (obj, ground, lamp):
        bpy.data.objects.remove(o)
    return np.clip(enlarged(blurred(ao, 1)), 0, 1), enlarged(blurred(glow, 1))


# --------------------------------------------------------------------------
# Pictures and materials
# --------------------------------------------------------------------------

def paint(patches, surface, ao, light):
    """All pictures of the atlas, as numbers."""
    size = (ATLAS_SIZE, ATLAS_SIZE)
    colour, glow = np.full(size + (3,), 0.25), np.zeros(size + (3,))
    orm = np.zeros(size + (3,)) + (1.0, 0.5, 0.0)
    normal = np.zeros(size + (3,)) + (0.5, 0.5, 1.0)
    seeds = {whole: k for k, whole in enumerate(surface.whole)}
    for p in patches:
        t = Texels(p, surface.vertex_normals[surface.whole[p.whole]], ao, light, seeds[p.whole])
        for step in p.paint:
            step(t)
        # Slopes of the heights, along u and v of the picture.
        du, dv = np.gradient(t.height, axis=1) / t.step[1], np.gradient(t.height, axis=0) / t.step[0]
        maps = [display(t.colour), np.stack([t.ao, np.clip(t.rough, 0.04, 1), np.clip(t.metal, 0, 1)], -1), np.clip(t.glow, 0, 1)]
        if t.turned:
            maps = [m.swapaxes(0, 1) for m in maps]
            du, dv = dv.T, du.T
        n = normalised(np.stack([-du, -dv, np.ones(du.shape)], -1))
        area = chart_area(p)
        colour[area], orm[area], glow[area], normal[area] = *maps, 0.5 + 0.5 * n
    return colour, orm, normal, display(glow)


def save_image(name, rows, folder, quality):
    """Writes the picture as JPEG and returns it as a Blender image of that file."""
    height, width, _ = rows.shape
    scratch = bpy.data.images.new(name + "_scratch", width, height)
    pixels = np.ones((height, width, 4), np.float32)
    pixels[..., :3] = rows
    scratch.pixels.foreach_set(pixels.ravel())
    scene = bpy.context.scene
    scene.view_settings.view_transform = "Standard"
    settings = scene.render.image_settings
    settings.file_format, settings.color_mode, settings.quality = "JPEG", "RGB", quality
    path = os.path.join(folder, name + ".jpg")
    scratch.save_render(path, scene=scene)
    bpy.data.images.remove(scratch)
    image = bpy.data.images.load(path)
    image.name = name
    return image


def make_material(name, colour, orm, normal, glow):
    """Metallic-roughness with all five textures; occlusion shares a picture
    with roughness and metal, by way of the exporter's own node group."""
    mat = bpy.data.materials.new(name)
    mat.use_nodes = True
    mat.use_backface_culling = True
    tree = mat.node_tree
    shader = tree.nodes["Principled BSDF"]

    def picture(image, data):
        node = tree.nodes.new("ShaderNodeTexImage")
        node.image = image
        if data:
            image.colorspace_settings.name = "Non-Color"
        return node.outputs["Color"]

    tree.links.new(picture(colour, False), shader.inputs["Base Color"])
    split = tree.nodes.new("ShaderNodeSeparateColor")
    tree.links.new(picture(orm, True), split.inputs[0])
    tree.links.new(split.outputs[1], shader.inputs["Roughness"])
    tree.links.new(split.outputs[2], shader.inputs["Metallic"])
    bend = tree.nodes.new("ShaderNodeNormalMap")
    tree.links.new(picture(normal, True), bend.inputs["Color"])
    tree.links.new(bend.outputs["Normal"], shader.inputs["Normal"])
    tree.links.new(picture(glow, False), shader.inputs["Emission"])
    shader.inputs["Emission Strength"].default_value = GLOW_STRENGTH
    group = bpy.data.node_groups.new("glTF Settings", "ShaderNodeTree")
    group.inputs.new("NodeSocketFloat", "Occlusion")
    settings = tree.nodes.new("ShaderNodeGroup")
    settings.node_tree = group
    tree.links.new(split.outputs[0], settings.inputs["Occlusion"])
    return mat


def make_glass():
    """Thin clear glass, a little green."""
    mat = bpy.data.materials.new("helmet_glass")
    mat.use_nodes = True
    mat.use_backface_culling = True
    mat.blend_method = "BLEND"
    shader = mat.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (0.55, 0.75, 0.70, 1.0)
    shader.inputs["Metallic"].default_value = 0.0
    shader.inputs["Roughness"].default_value = 0.04
    shader.inputs["Alpha"].default_value = 0.13
    return mat


# --------------------------------------------------------------------------
# Assembly
# --------------------------------------------------------------------------

def build_helmet(folder):
    """Shape, atlas, baked light, pictures and objects."""
    patches = build_dome() + build_neck() + build_ports() + build_lamp() + build_breastplate() + build_plate() + build_gauge() + build_fittings()
    density = lay_out(patches)
    surface = Surface(patches)
    ao, light = bake_light(surface)
    # The wall around the lamp sets the scale.
    wall = next(p for p in patches if p.name == "wall")
    light = np.clip(light / np.median(light[chart_area(wall)]) * WALL_GLOW, 0, 0.8)
    colour, orm, normal, glow = paint(patches, surface, ao, light)
    glow = glow.reshape(ATLAS_SIZE // 2, 2, ATLAS_SIZE // 2, 2, 3).mean((1, 3))
    rows = {"colour": colour, "orm": orm, "normal": normal, "glow": glow}
    images = [save_image("helmet_" + name, rows[name], folder, JPEG_QUALITY[name]) for name in rows]
    body = bpy.data.objects.new("helmet", surface.mesh("helmet", make_material("helmet", *images)))
    bpy.context.scene.collection.objects.link(body)
    panes = Surface(build_glass())
    glass = bpy.data.objects.new("helmet_glass", panes.mesh("helmet_glass", make_glass()))
    bpy.context.scene.collection.objects.link(glass)
    glass.parent = body
    print(f"helmet: {len(patches)} charts, {density:.0f} texels per metre, {len(surface.verts)} vertices, {len(surface.faces)} triangles")


# --------------------------------------------------------------------------
# Spheres
# --------------------------------------------------------------------------

SPHERE_RADIUS, SPHERE_STEP = 0.05, 0.115
SPHERE_COLUMNS = 9            # roughness 0 to 1, from -X to +X
SPHERE_ROWS = (               # metallic, linear base colour; from below
    (0.0, (0.520, 0.012, 0.020), "paint"),
    (0.5, (0.760, 0.390, 0.180), "between"),
    (1.0, (1.000, 0.766, 0.336), "gold"),
)


def build_spheres(path, around=64, rings=32):
    """Writes the grid of spheres: one material and one mesh for every sphere, all
    of the same vertices. Blender's exporter would repeat those for every mesh, so
    this file is written by hand."""
    a = np.linspace(0, math.pi, rings + 1)[:, None]
    b = np.linspace(0, 2 * math.pi, around + 1)[None, :]
    normal = np.stack(np.broadcast_arrays(np.sin(a) * np.sin(b), np.cos(a), np.sin(a) * np.cos(b)), -1).reshape(-1, 3).astype("<f4")
    ids = np.arange(len(normal)).reshape(rings + 1, around + 1)
    upper = np.stack([ids[:-1, :-1], ids[1:, :-1], ids[1:, 1:]], -1)[1:]      # no slivers at the poles
    lower = np.stack([ids[:-1, :-1], ids[1:, 1:], ids[:-1, 1:]], -1)[:-1]
    first = np.stack([ids[:-1, :-1], ids[1:, :-1], ids[1:, 1:]], -1)[:1]
    last = np.stack([ids[:-1, :-1], ids[1:, :-1], ids[:-1, 1:]], -1)[-1:]
    faces = np.concatenate([x.reshape(-1, 3) for x in (first, upper[:-1], last, lower[1:])]).astype("<u2")
    position = (normal * np.float32(SPHERE_RADIUS)).astype("<f4")
    blob = position.tobytes() + normal.tobytes() + faces.tobytes()
    blob += b"\0" * (-len(blob) % 4)
    size = position.nbytes
    materials, meshes, nodes = [], [], []
    for row, (metallic, colour, name) in enumerate(SPHERE_ROWS):
        for column in range(SPHERE_COLUMNS):
            roughness = column / (SPHERE_COLUMNS - 1)
            label = f"{name}_{roughness:.3f}"
            materials.append({"name": label, "pbrMetallicRoughness": {
                "baseColorFactor": [*colour, 1.0], "metallicFactor": metallic, "roughnessFactor": roughness}})
            meshes.append({"name": label, "primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1}, "indices": 2, "material": len(meshes)}]})
            nodes.append({"name": label, "mesh": len(nodes), "translation": [
                round((column - (SPHERE_COLUMNS - 1) / 2) * SPHERE_STEP, 4), round(SPHERE_RADIUS + row * SPHERE_STEP, 4), 0.0]})
    count = len(nodes)
    nodes.append({"name": "spheres", "children": list(range(count))})
    gltf = {
        "asset": {"version": "2.0", "generator": "tools/blender/pbr.py"},
        "scene": 0, "scenes": [{"name": "spheres", "nodes": [count]}],
        "nodes": nodes, "meshes": meshes, "materials": materials,
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(normal), "type": "VEC3",
             "min": [float(x) for x in position.min(0)], "max": [float(x) for x in position.max(0)]},
            {"bufferView": 1, "componentType": 5126, "count": len(normal), "type": "VEC3"},
            {"bufferView": 2, "componentType": 5123, "count": faces.size, "type": "SCALAR"}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": size, "target": 34962},
            {"buffer": 0, "byteOffset": size, "byteLength": size, "target": 34962},
            {"buffer": 0, "byteOffset": 2 * size, "byteLength": faces.nbytes, "target": 34963}],
        "buffers": [{"byteLength": len(blob)}],
    }
    text = json.dumps(gltf, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    with open(path, "wb") as out:
        out.write(struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(text) + 8 + len(blob)))
        out.write(struct.pack("<I4s", len(text), b"JSON") + text)
        out.write(struct.pack("<I4s", len(blob), b"BIN\0") + blob)


def main():
    """Builds everything in an empty scene and exports it."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.name = "helmet"
    for module in ("cycles", "io_scene_gltf2"):
        bpy.ops.preferences.addon_enable(module=module)
    os.makedirs(os.path.dirname(OUTPUT), exist_ok=True)
    build_spheres(os.path.abspath(SPHERES))
    with tempfile.TemporaryDirectory() as folder:
        build_helmet(folder)
        bpy.ops.export_scene.gltf(
            filepath=os.path.abspath(OUTPUT), export_format="GLB", export_yup=True,
            export_texcoords=True, export_normals=True, export_tangents=True,
            export_colors=False, export_materials="EXPORT", export_image_format="AUTO",
            export_cameras=False, export_lights=False, export_extras=False,
            export_morph=False, export_skins=False, export_animations=False)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
