"""Builds assets/models/drone.glb: an explorer drone moved by its nodes alone.

Run from the repository root:

    blender --background --factory-startup --python tools/blender/drone.py

(With --threads 1 in front of --python the file is the same byte for byte every
time; otherwise Blender's own normals may differ in the last bit.)

Everything is procedural and deterministic. Every surface is a grid of points
(a "patch"): a loft, a lathe, a tube or a window of the hull. A patch is a
rectangle of the texture atlas, so painting it means evaluating colours at the
surface point of every texel. Clips are closed-form poses, sampled densely and
thinned to the keys that linear interpolation needs.

Inside this script the axes are Blender's (metres, Z up) and the drone faces -Y,
so +X is its left; the exporter turns that into glTF's Y up, facing +Z. The part
of a node is modelled around the node's own origin, its joint.
"""

import math
import os
import sys
import tempfile

import bpy
import numpy as np
from mathutils import Quaternion, Vector
from mathutils.bvhtree import BVHTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from procedural import Noise, normalised, smoothstep, spline, turn  # noqa: E402

# --------------------------------------------------------------------------
# Constants
# --------------------------------------------------------------------------

OUTPUT = os.path.join("assets", "models", "drone.glb")
ATLAS_SIZE = int(os.environ.get("DRONE_TEXTURE_SIZE", "2048"))     # smaller for drafts
SHEET_SIZE = 512              # height of the MASK and BLEND sheets; they are twice as wide
JPEG_QUALITY = 88
SEED = 20250214
FPS = 60                      # of the key times; keys are much sparser
CLIPS = (("hover", 6), ("survey", 10), ("landing", 14))            # name, seconds

SHARP = math.cos(math.radians(42.0))    # edges sharper than this keep two normals
KEY_TURN = 61.0                         # degrees between two keys of a rotation, at most
PAD = 3                                 # texels painted beyond every chart border

# The hull along q = 0 (nose) .. 1 (tail); y follows a cosine, so that the ends
# are round. Columns: q, half width, height above the waist, depth below it.
NOSE, TAIL = -0.285, 0.255
HULL = np.array([
    [0.00, 0.000, 0.000, 0.000],
    [0.12, 0.068, 0.045, 0.038],
    [0.25, 0.122, 0.083, 0.060],
    [0.40, 0.152, 0.103, 0.071],
    [0.55, 0.150, 0.101, 0.069],
    [0.70, 0.124, 0.086, 0.060],
    [0.85, 0.088, 0.068, 0.051],
    [1.00, 0.056, 0.053, 0.043],
])
CANOPY_Q = (0.025, 0.385)     # window of the canopy along the hull
BAY_Q = (0.50, 0.735)         # window of the dorsal bay
# Edge of the canopy and bay: q, degrees from the waist.
EDGE = np.array([
    [0.00, 38.0], [0.025, 34.0], [0.10, 26.5], [0.20, 24.0], [0.30, 34.0],
    [0.385, 54.0], [0.44, 60.0], [0.50, 61.0], [0.735, 57.0], [0.85, 60.0], [1.00, 60.0],
])
SHELL_LIFT, KEEL_DROP = 0.0045, 0.0055  # the two shells leave a gap at the waist

SHOULDER = (0.134, 0.108, -0.002)       # hinge of an arm (|x|, |y|, z)
ARM_LENGTH, ARM_RISE = 0.272, 0.034     # hinge to pod centre
DUCT_OUTER, DUCT_INNER = 0.143, 0.123
HIP = (0.098, 0.0, -0.060)
THIGH, SHIN = 0.125, 0.120
MANIPULATOR = (0.066, -0.118, -0.070)
UPPER_ARM, FOREARM, WRIST = 0.098, 0.094, 0.026

# Colours (sRGB).
COLOURS = {
    "white": (0.880, 0.850, 0.790),
    "cream": (0.760, 0.725, 0.655),
    "graphite": (0.185, 0.197, 0.218),
    "dark": (0.085, 0.092, 0.105),
    "steel": (0.520, 0.535, 0.550),
    "brass": (0.720, 0.560, 0.330),
    "rubber": (0.115, 0.112, 0.115),
    "orange": (0.905, 0.395, 0.085),
    "teal": (0.100, 0.330, 0.335),
    "glow_teal": (0.550, 0.960, 0.920),
    "glow_orange": (1.000, 0.650, 0.250),
    "glow_red": (1.000, 0.280, 0.200),
    "glow_green": (0.300, 1.000, 0.420),
    "glow_white": (1.000, 0.970, 0.900),
}
LIGHT = {                     # emitted colours (sRGB) of the glow zones
    "glow_teal": (0.080, 0.900, 0.820),
    "glow_orange": (1.000, 0.430, 0.060),
    "glow_red": (1.000, 0.070, 0.050),
    "glow_green": (0.080, 0.950, 0.200),
    "glow_white": (0.950, 0.900, 0.780),
}


# --------------------------------------------------------------------------
# Small numeric tools
# --------------------------------------------------------------------------

noise = Noise(SEED)
fbm = noise.fbm


def mix(a, b, t):
    """Blends colours a to b by the per-texel weight t."""
    t = np.asarray(t)[..., None]
    return np.asarray(a) * (1 - t) + np.asarray(b) * t


def band(x, a, b, soft=0.0004):
    """1 where a < x < b, with soft borders."""
    return smoothstep(a - soft, a + soft, x) * smoothstep(b + soft, b - soft, x)


def line(d, width=0.0011, soft=0.0006):
    """1 on the zero set of the distance d: a drawn line."""
    return smoothstep(width * 0.5 + soft, width * 0.5, np.abs(d))


# --------------------------------------------------------------------------
# Lettering: a small stencil alphabet of strokes on a 2 x 4 grid
# --------------------------------------------------------------------------

GLYPHS = {
    "A": "00-03 03-14 14-23 23-20 02-22", "S": "24-04 04-02 02-22 22-20 20-00",
    "H": "00-04 20-24 02-22", "W": "04-00 00-12 12-20 20-24",
    "R": "00-04 04-24 24-22 22-02 12-20", "I": "10-14",
    "G": "24-04 04-00 00-20 20-22 22-12", "T": "04-24 14-10",
    "X": "00-24 04-20", "E": "24-04 04-00 00-20 02-12", "-": "02-22",
    "0": "00-04 04-24 24-20 20-00", "7": "04-24 24-10", "3": "04-24 24-20 20-00 02-22",
    "1": "10-14 14-03", "4": "04-02 02-22 24-20",
}


def lettering(text, a, b, height):
    """Coverage of `text` written from the origin along a, standing up along b."""
    unit, out = height / 4, np.zeros(np.shape(a))
    for i, glyph in enumerate(text):
        x0 = i * 3.1 * unit
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
            ink = np.maximum(ink, smoothstep(0.36 * unit + 0.0005, 0.36 * unit, d))
        out[near] = np.maximum(out[near], ink)
    return out


# --------------------------------------------------------------------------
# Patches and parts
# --------------------------------------------------------------------------

class Patch:
    """A grid of surface points with its paint.

    The surface faces d(row) x d(column). `zone` is its colour, `over` a list of
    (coverage of a point, zone) painted on top, `lines` distances to panel
    lines, `tint` a panel number, `decal` a free function. Patches of the MASK
    and BLEND materials carry the coordinates `uv` on their sheet instead."""

    def __init__(self, points, zone="graphite", over=(), lines=(), tint=None, decal=None,
                 material="opaque", uv=None, density=1.0, wear=1.0, joins=False):
        self.points = np.asarray(points, float)
        self.zone, self.over, self.lines = zone, over, lines
        self.tint, self.decal, self.wear = tint, decal, wear
        self.material, self.uv, self.density = material, uv, density
        self.joins = joins                          # shares normals with its neighbours
        self.at = [self._arc(0), self._arc(1)]      # metres along rows and columns
        self.size = self.at[0][-1], self.at[1][-1]
        self.box = None                             # chart: x, y, width, height in texels
        self.other = None                           # the same shape in the paint of the right side,
        self.right = False                          # and whether to show that one

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
        """Texture coordinates of every grid point."""
        if self.uv is not None:
            return self.uv
        x, y, w, h, turned = self.box
        r, c = (a / a[-1] for a in self.at)
        if turned:
            u = np.broadcast_to((x + r * h)[:, None], self.points.shape[:2])
            v = np.broadcast_to((y + c * w)[None, :], self.points.shape[:2])
        else:
            u = np.broadcast_to((x + c * w)[None, :], self.points.shape[:2])
            v = np.broadcast_to((y + r * h)[:, None], self.points.shape[:2])
        return np.stack([u, v], -1) / ATLAS_SIZE


class Part:
    """The mesh of one or more nodes: patches around the joint."""

    def __init__(self, name, patches):
        self.name, self.patches = name, list(patches)


def facing_out(points):
    """The closed grid turned so that it faces outward."""
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    middle = points.reshape(-1, 3).mean(0)
    volume = np.einsum("ijk,ijk->", (a + b + c + d) / 4 - middle, np.cross(c - a, d - b))
    return points if volume > 0 else points[::-1]


def rounded(profile, radius, steps=2, closed=False):
    """Replaces the corners of a polyline by arcs of about `radius`."""
    p = np.asarray(profile, float)
    n, out = len(p), []
    for i in range(n):
        if not closed and i in (0, n - 1):
            out.append(p[i])
            continue
        before, here, after = p[i - 1], p[i], p[(i + 1) % n]
        r = min(radius, 0.42 * np.linalg.norm(here - before), 0.42 * np.linalg.norm(after - here))
        a = here + normalised(before - here) * r
        b = here + normalised(after - here) * r
        for t in np.linspace(0, 1, steps + 1):
            out.append((1 - t) ** 2 * a + 2 * t * (1 - t) * here + t * t * b)
    if closed:
        out.append(out[0])
    return np.array(out)


def lathe(profile, segments=32, bevel=0.0015, steps=2, closed=False, axis="Z", **paint):
    """Turns a profile of (radius, height) about an axis."""
    p = rounded(profile, bevel, steps, closed) if bevel else np.asarray(profile, float)
    a = np.linspace(0, 2 * math.pi, segments + 1)
    grid = np.stack([p[:, :1] * np.cos(a), p[:, :1] * np.sin(a),
                     np.broadcast_to(p[:, 1:], (len(p), len(a)))], -1)
    order = {"Z": (0, 1, 2), "X": (2, 0, 1), "Y": (1, 2, 0)}[axis]
    return Patch(facing_out(grid[..., order]), **paint)


def section(width, depth, radius, steps=3):
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


def beam(stations, up=(0, 0, 1), corner=0.004, bevel=0.0025, steps=3, **paint):
    """Lofts rounded rectangles through stations (centre, width, depth), with
    bevelled flat ends. Depth is measured along `up`."""
    centres = np.array([s[0] for s in stations], float)
    tangents = normalised(np.gradient(centres, axis=0))
    rows = []
    last = len(stations) - 1
    for i, (centre, width, depth) in enumerate(stations):
        ahead = tangents[i]
        across = normalised(np.cross(ahead, up))
        above = np.cross(across, ahead)

        def ring(shrink, shift):
            s = section(max(width - 2 * shrink, 1e-5), max(depth - 2 * shrink, 1e-5),
                        max(corner - shrink, 0.0004), steps)
            return centres[i] + ahead * shift + s[:, :1] * across + s[:, 1:] * above

        middle = np.broadcast_to(centre, (4 * (steps + 1) + 2, 3))
        b = min(bevel, 0.45 * min(width, depth))
        if i == 0:
            rows += [middle, ring(b, 0.0), ring(b * 0.3, b * 0.3), ring(0.0, b)]
        elif i == last:
            rows += [ring(0.0, -b), ring(b * 0.3, -b * 0.3), ring(b, 0.0), middle]
        else:
            rows.append(ring(0.0, 0.0))
    return Patch(facing_out(np.array(rows)), **paint)


def box(centre, size, bevel=0.003, along=1, **paint):
    """A bevelled box, lofted along one axis."""
    centre, size = np.array(centre, float), np.array(size, float)
    step = np.zeros(3)
    step[along] = size[along] / 2
    up = (0, 0, 1) if along != 2 else (0, 1, 0)
    wide, deep = (size[0], size[2]) if along == 1 else (size[1], size[2]) if along == 0 else size[:2]
    return beam([(centre - step, wide, deep), (centre + step, wide, deep)],
                up=up, corner=bevel, bevel=bevel, **paint)


def tube(path, radius, segments=8, smooth=6, **paint):
    """A round tube through the path points (splined), with closed ends."""
    path = np.array(path, float)
    if smooth and len(path) > 2:
        at = np.arange(len(path))
        fine = np.linspace(0, len(path) - 1, (len(path) - 1) * smooth + 1)
        path = np.stack([spline(at, path[:, k], fine) for k in range(3)], 1)
    radii = np.broadcast_to(np.asarray(radius, float), (2,))
    tangents = normalised(np.gradient(path, axis=0))
    side = normalised(np.cross(tangents[0], (0.31, 0.17, 0.93)))
    rows, a = [], np.linspace(0, 2 * math.pi, segments + 1)
    for i, (p, t) in enumerate(zip(path, tangents)):
        side = normalised(side - t * (side @ t))
        other = np.cross(t, side)
        r = radii[0] + (radii[1] - radii[0]) * i / (len(path) - 1)
        rows.append(p + r * (np.cos(a)[:, None] * side + np.sin(a)[:, None] * other))
    ends = [np.broadcast_to(path[i], rows[0].shape) for i in (0, -1)]
    return Patch(facing_out(np.array([ends[0], *rows, ends[1]])), **paint)


def ball(radius, centre=(0, 0, 0), segments=24, rings=12, squash=1.0, axis="Z", **paint):
    """A sphere, or an ellipsoid squashed along its axis."""
    a = np.linspace(0, math.pi, rings + 1)
    profile = np.stack([radius * np.sin(a), radius * squash * np.cos(a)], 1)
    return lathe(profile, segments, bevel=0, axis=axis, **paint).moved(centre)


def bolts(places, radius=0.0028, height=0.0016, axis="Z", sign=1, zone="steel"):
    """Small round bolt heads, sharing no paint worth many texels."""
    out = []
    for p in places:
        profile = [(radius, 0), (radius, sign * height * 0.5), (radius * 0.6, sign * height), (0, sign * height)]
        out.append(lathe(profile, 8, bevel=0, axis=axis, zone=zone, density=0.6).moved(p))
    return out


# --------------------------------------------------------------------------
# Hull
# --------------------------------------------------------------------------

def hull_y(q):
    """Position along the drone."""
    return NOSE + (TAIL - NOSE) * 0.5 * (1 - np.cos(math.pi * np.asarray(q, float)))


def hull(q, degrees, inset=0.0):
    """Point of the hull at q and an angle from the waist (0 left, 90 top, 180
    right, 270 keel), moved inward by about `inset`."""
    q, a = np.broadcast_arrays(np.asarray(q, float), np.radians(degrees))
    w, top, bottom = (spline(HULL[:, 0], HULL[:, k], q) for k in (1, 2, 3))
    up = np.sin(a) >= 0
    c, s = np.cos(a), np.sin(a)
    x = np.maximum(w - inset, 0) * np.sign(c) * np.abs(c) ** 0.80
    z = np.maximum(np.where(up, top, bottom) - inset, 0) * np.sign(s) * np.abs(s) ** np.where(up, 0.92, 0.80)
    y = hull_y(q) + inset * smoothstep(0.25, 0.0, q)
    return np.stack([x, y, z + np.where(up, SHELL_LIFT, -KEEL_DROP)], -1)


def edge_angle(q):
    """Angle of the line that borders canopy and bay."""
    return spline(EDGE[:, 0], EDGE[:, 1], q)


def rows_between(a, b, n):
    """n steps of q."""
    return np.linspace(a, b, n + 1)


HULL_ROWS = np.concatenate([
    [0.0, 0.010], rows_between(*CANOPY_Q, 15), rows_between(CANOPY_Q[1], BAY_Q[0], 5)[1:],
    rows_between(*BAY_Q, 9)[1:], rows_between(BAY_Q[1], 1.0, 9)[1:]])


def window(q0, q1, f0, f1, columns=10, inset=0.0, bulge=0.0):
    """Grid over the window between the edge lines: f runs 0 at the left edge to
    1 at the right one. `bulge` lifts its middle outward."""
    q = HULL_ROWS[(HULL_ROWS >= q0 - 1e-9) & (HULL_ROWS <= q1 + 1e-9)]
    f = np.linspace(f0, f1, columns + 1)
    e = edge_angle(q)[:, None]
    p = hull(q[:, None], e + (180 - 2 * e) * f, inset)
    if bulge:
        t = (q - q0) / (q1 - q0)
        lift = bulge * (np.sin(math.pi * t)[:, None] * np.sin(math.pi * (f - f0) / (f1 - f0))) ** 0.6
        p = p + grid_normals(p) * lift[..., None]
    return p


def grid_normals(p):
    """Normals of an open grid."""
    return normalised(np.cross(np.gradient(p, axis=0), np.gradient(p, axis=1)))


def border(p):
    """The border of a grid as a closed loop, counter-clockwise seen from above."""
    return np.concatenate([p[:, 0], p[-1, 1:], p[-2::-1, -1], p[0, -2::-1]])


def shell_lines():
    """Panel lines of the upper shell, as distances."""
    return [
        lambda p: p[..., 1] + 0.052,
        lambda p: np.where(p[..., 1] > -0.05, p[..., 1] - 0.168, 1),
        lambda p: np.where((p[..., 2] < 0.075) & (p[..., 1] > -0.052), p[..., 1] - 0.048, 1),
        lambda p: np.where(p[..., 1] > -0.052, np.abs(p[..., 2] - 0.052 + 0.04 * np.maximum(p[..., 1], 0)), 1),
        lambda p: np.where(p[..., 1] < -0.052, p[..., 2] - 0.020 - 0.08 * (p[..., 1] + 0.15), 1),
    ]


def shell_panel(p):
    """Number of the panel, for its tint."""
    return (p[..., 1] > -0.052) * 1.0 + (p[..., 1] > 0.048) * 2.0 + (p[..., 1] > 0.168) * 4.0 \
        + (p[..., 2] > 0.052 - 0.04 * np.maximum(p[..., 1], 0)) * 8.0 + (p[..., 0] > 0) * 16.0


def shell_decal(p, n, colour, glow):
    """Accents and lettering of the upper shell."""
    x, y, z = (p[..., k] for k in range(3))
    # An orange flash from the shoulder to the tail, with a thin companion.
    slope = z - 0.030 - 0.10 * (y - 0.02)
    colour = mix(colour, COLOURS["orange"], band(slope, -0.0065, 0.0065) * band(y, -0.045, 0.162))
    colour = mix(colour, COLOURS["graphite"], band(slope, 0.0095, 0.0120) * band(y, -0.045, 0.162))
    # Tail collar.
    colour = mix(colour, COLOURS["graphite"], band(y, 0.205, 0.300))
    colour = mix(colour, COLOURS["orange"], band(y, 0.196, 0.2025))
    # Lettering on both flanks: each reads from its own side.
    for side in (1, -1):
        a, here = side * y, side * x > 0.05
        start = -0.042 if side > 0 else -0.016
        ink = lettering("AX-07", a - start, z - 0.0085, 0.0135) * here
        colour = mix(colour, COLOURS["graphite"], ink * 0.92)
        start = 0.056 if side > 0 else -0.158
        ink = lettering("ASHWRIGHT", a - start, z - 0.0565 + 0.04 * y, 0.0125) * here
        colour = mix(colour, COLOURS["graphite"], ink * 0.85)
    # Three service marks behind the canopy.
    for k in (-1, 0, 1):
        d = np.hypot(x - 0.020 * k, y + 0.035)
        colour = mix(colour, COLOURS["orange"], band(d, 0.0036, 0.0052) * (z > 0.05))
    return colour, glow


def hull_patches():
    """Upper shell, keel, waist and the insides of canopy and bay."""
    q = HULL_ROWS[:, None]
    e = edge_angle(HULL_ROWS)[:, None]
    low = 3.0
    side = hull(q, low + (e - low) * np.linspace(0, 1, 10) ** 0.85)
    lip = np.stack([hull(HULL_ROWS, 1.0, 0.014), hull(HULL_ROWS, 1.0, 0.0022)], 1)
    left = np.concatenate([lip, side], 1)
    right = (left * (-1, 1, 1))[:, ::-1]
    paint = dict(zone="white", lines=shell_lines(), tint=shell_panel, decal=shell_decal, density=1.25, joins=True)
    out = [Patch(left, **paint), Patch(right, **paint)]
    for q0, q1 in ((0.0, CANOPY_Q[0]), (CANOPY_Q[1], BAY_Q[0]), (BAY_Q[1], 1.0)):
        out.append(Patch(window(q0, q1, 0, 1), **paint))

    # Keel: a slightly narrower shell of graphite with an orange chin.
    angles = np.concatenate([[358.0, 356.0], np.linspace(350, 190, 21), [184.0, 182.0]])
    keel = hull(q, angles[None, :], 0.0035)
    keel[:, 0] = hull(HULL_ROWS, 359.0, 0.016)
    keel[:, -1] = hull(HULL_ROWS, 181.0, 0.016)

    def keel_decal(p, n, colour, glow):
        x, y, z = (p[..., k] for k in range(3))
        colour = mix(colour, COLOURS["orange"], band(y + 0.35 * np.abs(x), -0.150, -0.141) * (z < -0.012))
        stripes = (np.mod(x - y, 0.014) < 0.007) * band(y, 0.150, 0.172) * (z < -0.02)
        colour = mix(colour, COLOURS["orange"], stripes * 0.9)
        ink = lettering("AX-07", x + 0.048, 0.130 - y, 0.0240) * (z < -0.03)
        colour = mix(colour, COLOURS["cream"], ink * 0.85)
        return colour, glow

    keel_lines = [lambda p: p[..., 1] + 0.10, lambda p: p[..., 1] - 0.075, lambda p: p[..., 1] - 0.145,
                  lambda p: np.where(p[..., 1] > -0.1, np.abs(p[..., 0]) - 0.062, 1)]
    out.append(Patch(keel[::-1, ::-1], zone="graphite", lines=keel_lines, decal=keel_decal))

    # Waist: a recessed band with two light strips per side.
    w = np.stack([hull(HULL_ROWS, 1.0, 0.010) + (0, 0, -0.001), hull(HULL_ROWS, 359.0, 0.010) + (0, 0, 0.001)], 1)
    strip = lambda p: band(np.abs(p[..., 2] + 0.0006), -1, 0.0028) \
        * np.maximum(band(p[..., 1], -0.255, -0.150), band(p[..., 1], -0.045, 0.050))
    for grid in (w[:, ::-1], w * (-1, 1, 1)):
        out.append(Patch(grid, zone="dark", over=[(strip, "glow_teal")], wear=0))

    # Rims and inner walls of the two windows.
    for (q0, q1), deep, zone in ((CANOPY_Q, 0.030, "dark"), (BAY_Q, 0.052, "dark")):
        outer, inner = window(q0, q1, 0, 1), window(q0, q1, 0, 1, inset=deep)
        if q0 == BAY_Q[0]:
            inner = outer - (0, 0, deep)
        else:
            # A tub with a flat floor under the eye.
            inner = outer * (0.84, 0.86, 0) + (0, -0.024, 0)
            inner[..., 2] = np.minimum(outer[..., 2] - 0.012, 0.006)
        a, b = border(outer), border(inner)
        mid = a + (b - a) * 0.12
        out.append(Patch(np.stack([a, mid, b])[::-1], zone="cream" if q0 != BAY_Q[0] else "graphite",
                         density=0.8))
        bottom = dict(zone=zone, density=0.7)
        if q0 == BAY_Q[0]:
            bottom["over"] = [(lambda p: band(np.abs(p[..., 0]), 0.034, 0.038) * band(p[..., 1], 0.0, 0.095), "glow_orange")]
            bottom["lines"] = [lambda p: np.mod(p[..., 1], 0.02) - 0.01]
        else:
            bottom["over"] = [(lambda p: band(np.hypot(p[..., 0], p[..., 1] + 0.168), 0.044, 0.0465), "glow_teal")]
            bottom["lines"] = [lambda p: np.mod(p[..., 1], 0.020) - 0.010, lambda p: np.mod(p[..., 0] + 0.01, 0.02) - 0.01]
        out.append(Patch(inner, **bottom))
    return out


def even_loop(points, count, smooth):
    """A closed polyline resampled to equal steps, its corners rounded off."""
    step = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    at = np.linspace(0, step[-1], count, endpoint=False)
    out = np.stack([np.interp(at, step, points[:, k]) for k in range(3)], 1)
    for _ in range(smooth):
        out = 0.5 * out + 0.25 * (np.roll(out, 1, 0) + np.roll(out, -1, 0))
    return out


def window_frame(p, radius, count=24, smooth=1):
    """A rounded rail along the border of a window grid."""
    loop = even_loop(border(p), count, smooth)
    up = normalised(even_loop(border(grid_normals(p)), count, smooth))
    ahead = normalised(np.roll(loop, -1, 0) - np.roll(loop, 1, 0))
    across = normalised(np.cross(ahead, up))
    ring = section(2.2 * radius, 1.5 * radius, 0.6 * radius, 2)
    rows = loop[:, None] + ring[None, :, :1] * across[:, None] + (ring[None, :, 1:] + 0.25 * radius) * up[:, None]
    return facing_out(np.concatenate([rows, rows[:1]]))


def build_body():
    """Everything that is fixed to the hull."""
    out = hull_patches()

    # Shoulders: a yoke for every arm, turned towards its pod.
    for sx in (1, -1):
        for sy in (1, -1):
            azimuth = arm_azimuth(sx, sy)
            q = turn("Z", azimuth)
            place = (sx * SHOULDER[0], sy * SHOULDER[1], SHOULDER[2])
            yoke = [
                beam([((-0.052, 0, 0.004), 0.060, 0.034), ((-0.030, 0, 0.002), 0.056, 0.030),
                      ((-0.014, 0, 0), 0.048, 0.026)], corner=0.006,
                     zone="graphite", density=0.7),
                box((0, 0.0255, 0), (0.036, 0.007, 0.030), 0.0035, along=0, zone="graphite", density=0.7),
                box((0, -0.0255, 0), (0.036, 0.007, 0.030), 0.0035, along=0, zone="graphite", density=0.7),
                lathe([(0, -0.033), (0.010, -0.033), (0.010, 0.033), (0, 0.033)], 20, axis="Y",
                      zone="orange", density=0.6),
            ]
            out += [p.moved(place, q) for p in yoke]

    # Tail engine: collar, glowing ring and a dark throat behind the grille.
    y = float(hull_y(1.0))
    ring = lambda p: band(np.hypot(p[..., 0], p[..., 2] - 0.004), 0.0315, 0.0365) * (p[..., 1] > y + 0.004)
    out.append(lathe([(0.058, y - 0.006), (0.052, y + 0.016), (0.040, y + 0.020), (0.037, y + 0.012),
                      (0.031, y + 0.010), (0.029, y - 0.020), (0.0, y - 0.020)], 40, axis="Y",
                     zone="graphite", over=[(ring, "glow_teal")]).moved((0, 0, 0.004)))
    out.append(lathe([(0.012, y - 0.021), (0.012, y - 0.004), (0.0, y + 0.006)], 20, axis="Y", bevel=0.003,
                     zone="steel", density=0.8).moved((0, 0, 0.004)))
    disc = polar_disc(0.0, 0.0300, 24, 2, axis="Y")
    out.append(Patch(disc + (0, y + 0.004, 0.004), material="mask", uv=sheet_disc(disc[..., (0, 2)], 0.0300, HEX_BOX)))

    # Perforated cooling panels on the flanks, over dark recesses.
    for side in (1, -1):
        q = rows_between(0.435, 0.555, 6)[:, None]
        a = np.linspace(335, 303, 5)[None, :]
        skin, hole = hull(q, a, -0.0012), hull(q, a, 0.0022)
        frame = window_frame(skin[:, ::-1], 0.0032)
        if side < 0:
            skin, hole, frame = (g * (-1, 1, 1) for g in (skin, hole, frame))
        else:
            skin, hole = skin[::-1], hole[::-1]
        out.append(Patch(facing_out(frame), zone="cream", density=0.6))
        out.append(Patch(hole, zone="dark", over=[(lambda p: band(np.mod(p[..., 1], 0.016), 0.004, 0.012, 0.002), "glow_orange")],
                         density=0.5, wear=0))
        r, c = skin.shape[:2]
        u = np.broadcast_to(np.linspace(0, 0.42, r)[:, None], (r, c))
        v = np.broadcast_to(np.linspace(0, 0.24, c)[None, :], (r, c))
        x0, y0, x1, y1 = HEX_BOX
        out.append(Patch(skin, material="mask",
                         uv=np.stack([x0 + (x1 - x0) * (0.05 + u), y0 + (y1 - y0) * (0.05 + v * 2)], -1)))

    # Cockpit: pedestal of the eye and two consoles.
    out.append(lathe([(0.034, 0.004), (0.028, 0.014), (0.014, 0.020), (0.0, 0.021)], 28, bevel=0.002, zone="graphite",
                     over=[(lambda p: band(p[..., 2], 0.0135, 0.0165), "orange")], density=0.8).moved((0, -0.168, 0)))
    for side in (1, -1):
        screen = lambda p: band(np.mod(p[..., 1] + 0.2, 0.012), 0.002, 0.010) * (p[..., 2] > 0.0355) \
            * band(np.abs(p[..., 0]), 0.066, 0.082)
        out.append(beam([((side * 0.066, -0.200, 0.018), 0.020, 0.026), ((side * 0.076, -0.160, 0.021), 0.024, 0.031),
                         ((side * 0.078, -0.118, 0.021), 0.024, 0.031)], corner=0.004, zone="cream",
                        over=[(screen, "glow_teal")]))
        out.append(beam([((side * 0.0425, -0.168, 0.014), 0.012, 0.020), ((side * 0.0455, -0.168, 0.064), 0.012, 0.010)],
                        up=(0, 1, 0), corner=0.003, zone="steel", density=0.7))
    out.append(beam([((-0.070, -0.094, 0.030), 0.018, 0.034), ((0.070, -0.094, 0.030), 0.018, 0.034)], corner=0.005, zone="cream",
                    over=[(lambda p: band(np.abs(p[..., 0]), 0.010, 0.050) * band(p[..., 2], 0.030, 0.038)
                           * (np.mod(p[..., 0] + 0.2, 0.008) < 0.006), "glow_orange")]))
    # Louvres between canopy and bay.
    for side in (1, -1):
        q = rows_between(0.415, 0.470, 3)[:, None]
        a = np.linspace(64, 80, 5)[None, :]
        skin, hole = hull(q, a, -0.0012), hull(q, a, -0.0003)
        if side < 0:
            skin, hole = (np.ascontiguousarray(g[:, ::-1] * (-1, 1, 1)) for g in (skin, hole))
        out.append(Patch(window_frame(skin, 0.0026), zone="graphite", density=0.5))
        out.append(Patch(hole, zone="dark", density=0.5, wear=0))
        r, c = skin.shape[:2]
        u = np.broadcast_to(np.linspace(0, 0.30, c)[None, :], (r, c))
        v = np.broadcast_to(np.linspace(0, 0.36, r)[:, None], (r, c))
        x0, y0, x1, y1 = HEX_BOX
        out.append(Patch(skin, material="mask", uv=np.stack([x0 + (x1 - x0) * (0.05 + u), y0 + (y1 - y0) * (0.55 + v)], -1)))
    # Rails, pitot tubes, sensor blisters and bolts.
    for side in (1, -1):
        out.append(tube([(side * 0.060, 0.150, 0.075), (side * 0.063, 0.158, 0.091), (side * 0.056, 0.205, 0.081),
                         (side * 0.050, 0.214, 0.062)], 0.0032, zone="orange", density=0.6))
        out.append(tube([(side * 0.045, -0.262, -0.010), (side * 0.050, -0.300, -0.012), (side * 0.050, -0.335, -0.012)],
                        (0.0030, 0.0016), zone="steel", density=0.5, wear=0))
        out.append(ball(0.0085, (side * 0.094, -0.066, 0.078), 16, 8, 0.6, zone="dark", density=0.5))
        out += bolts([(side * 0.048, -0.046, 0.0985), (side * 0.048, -0.012, 0.0975)])
        out.append(ball(0.0065, (side * 0.040, 0.050, -0.0735), 16, 8, 0.7, zone="glow_white", wear=0))
    out.append(box((0, 0.197, 0.068), (0.030, 0.034, 0.010), 0.004, zone="graphite", density=0.7))   # beacon foot
    # Chin plate that carries the gimbal.
    out.append(lathe([(0.050, -0.034), (0.050, -0.060), (0.041, -0.066), (0.0, -0.066)], 32, bevel=0.004,
                     zone="graphite").moved((0, -0.178, 0)))
    # Hips and manipulator sockets.
    for side in (1, -1):
        out.append(box((side * HIP[0], 0, HIP[2] + 0.006), (0.034, 0.064, 0.026), 0.006, zone="graphite", density=0.7))
        x, y, z = MANIPULATOR
        out.append(lathe([(0.019, z + 0.030), (0.019, z + 0.008), (0.012, z + 0.004), (0, z + 0.004)], 20,
                         zone="steel", density=0.6).moved((side * x, y, 0)))
    return Part("body", out)


def arm_azimuth(sx, sy):
    """Direction of an arm in degrees: sx +1 left, sy +1 rear."""
    along = math.degrees(math.atan2(0.160, 0.212))
    return (along if sy > 0 else -along) if sx > 0 else (180 - along if sy > 0 else 180 + along)


# --------------------------------------------------------------------------
# Sheets of the MASK and BLEND materials: where things lie on them
# --------------------------------------------------------------------------

GUARD_BOX = (0.005, 0.01, 0.495, 0.99)      # mask: rotor guard
HEX_BOX = (0.505, 0.01, 0.995, 0.99)        # mask: perforated plate
BLUR_BOX = (0.005, 0.01, 0.495, 0.99)       # blend: rotor blur disc
GLASS_BOX = (0.505, 0.26, 0.995, 0.99)      # blend: canopy
LENS_BOX = (0.505, 0.01, 0.620, 0.24)       # blend: camera lens


def polar_disc(r0, r1, segments, rings, axis="Z", rise=0.0):
    """A ring-shaped grid facing +axis; the inner border lies `rise` higher."""
    a = np.linspace(0, 2 * math.pi, segments + 1)
    r = np.linspace(r1, r0, rings + 1)[:, None]
    z = np.broadcast_to(rise * ((r1 - r) / max(r1 - r0, 1e-9)), (rings + 1, segments + 1))
    p = np.stack([r * np.cos(a), r * np.sin(a), z], -1)
    return p[::-1] if axis == "Z" else np.stack([p[..., 0], p[..., 2], p[..., 1]], -1)


def sheet_disc(xy, radius, box_):
    """Sheet coordinates of a disc of the given radius."""
    x0, y0, x1, y1 = box_
    return np.stack([x0 + (x1 - x0) * (0.5 + 0.5 * xy[..., 0] / radius),
                     y0 + (y1 - y0) * (0.5 + 0.5 * xy[..., 1] / radius)], -1)


# --------------------------------------------------------------------------
# The other parts
# --------------------------------------------------------------------------

def build_canopy():
    """Glass and frame; the origin is the hinge behind the glass."""
    hinge = hull(CANOPY_Q[1], 90.0)
    glass = window(*CANOPY_Q, 0, 1, columns=14, bulge=0.014)
    r, c = glass.shape[:2]
    q = HULL_ROWS[(HULL_ROWS >= CANOPY_Q[0] - 1e-9) & (HULL_ROWS <= CANOPY_Q[1] + 1e-9)]
    x0, y0, x1, y1 = GLASS_BOX
    u = np.broadcast_to(np.linspace(0, 1, c)[None, :], (r, c))
    v = np.broadcast_to(((q - q[0]) / (q[-1] - q[0]))[:, None], (r, c))
    uv = np.stack([x0 + (x1 - x0) * (0.01 + 0.98 * u), y0 + (y1 - y0) * (0.01 + 0.98 * v)], -1)
    frame = window_frame(window(*CANOPY_Q, 0, 1, columns=14), 0.0058, 96, 5)
    spine = window(*CANOPY_Q, 0, 1, columns=14, bulge=0.0145)
    stripe = lambda p: band(np.abs(p[..., 0]), -1, 0.030) * (p[..., 1] > -0.02)
    out = [Patch(glass, material="blend", uv=uv).moved(-hinge),
           Patch(frame, zone="graphite", over=[(stripe, "orange")], density=0.8).moved(-hinge),
           box((0, -0.004, 0.004), (0.044, 0.018, 0.008), 0.003, zone="orange", density=0.7)]
    # Two braces across the glass.
    for row in (5, 10):
        ring = spine[row]
        out.append(tube(ring, 0.0022, 6, smooth=0, zone="graphite", density=0.5).moved(-hinge))
    return Part("canopy", out), hinge


def build_scanner():
    """The eye behind the glass: a dark ball with a glowing iris, facing -Y."""
    r = 0.037
    iris = lambda p: band(np.hypot(p[..., 0], p[..., 2]), 0.0150, 0.0205) * (p[..., 1] < 0)
    pupil = lambda p: band(np.hypot(p[..., 0], p[..., 2]), -1, 0.0065) * (p[..., 1] < 0)
    ticks = lambda p: band(np.hypot(p[..., 0], p[..., 2]), 0.0235, 0.0265) * (p[..., 1] < 0) \
        * (np.mod(np.arctan2(p[..., 2], p[..., 0]), math.pi / 8) < math.pi / 14)
    eye = ball(r, segments=36, rings=20, axis="Y", zone="dark", density=1.4, wear=0,
               over=[(iris, "glow_teal"), (pupil, "glow_white"), (ticks, "glow_teal")])
    band_ = lathe([(r + 0.001, -0.004), (r + 0.005, -0.003), (r + 0.005, 0.003), (r + 0.001, 0.004)], 36, axis="Y",
                  closed=True, zone="steel", density=0.8)
    pins = lathe([(0, -0.047), (0.006, -0.047), (0.006, 0.047), (0, 0.047)], 14, axis="X", zone="brass", density=0.6)
    return Part("scanner_eye", [eye, band_, pins])


def build_arm(side):
    """An arm along +X from its hinge, with a navigation light on the end."""
    white = [((0.020, 0, 0.004), 0.040, 0.026), ((0.045, 0, 0.009), 0.047, 0.032), ((0.085, 0, 0.016), 0.044, 0.031),
             ((0.118, 0, 0.023), 0.034, 0.026), ((0.128, 0, 0.026), 0.028, 0.022)]
    collar = lambda p: band(p[..., 0], 0.046, 0.058)
    thin = lambda p: band(p[..., 0], 0.0605, 0.0628)
    belly = lambda p: smoothstep(-0.008, -0.0085, p[..., 2] - 0.18 * p[..., 0])
    out = [
        beam(white, corner=0.011, bevel=0.004, steps=4, zone="white",
             over=[(collar, "orange"), (thin, "graphite"), (belly, "graphite")],
             lines=[lambda p: p[..., 0] - 0.034, lambda p: p[..., 0] - 0.100,
                    lambda p: np.where((p[..., 0] > 0.034) & (p[..., 0] < 0.1) & (p[..., 2] > 0.012),
                                       np.abs(p[..., 1]) - 0.013, 1)],
             decal=lambda p, n, c, g: (mix(c, COLOURS["graphite"],
                                           0.9 * lettering("3741", p[..., 0] - 0.068, p[..., 1] + 0.005, 0.010)
                                           * (n[..., 2] > 0.6)), g)),
        lathe([(0, -0.0215), (0.0155, -0.0215), (0.0155, 0.0215), (0, 0.0215)], 24, axis="Y", bevel=0.003,
              zone="steel", over=[(lambda p: band(np.abs(p[..., 1]), 0.008, 0.013), "graphite")]),
        beam([((0.0, 0, 0), 0.034, 0.020), ((0.030, 0, 0.004), 0.034, 0.020)], corner=0.005, zone="graphite", density=0.7),
        # Trunnion that carries the pod.
        lathe([(0, 0.122), (0.013, 0.122), (0.013, 0.138), (0.0095, 0.141), (0, 0.141)], 20, axis="X", zone="graphite")
        .moved((0, 0, ARM_RISE - 0.008)),
    ]
    # Power line and damper along the arm.
    for y in (0.025, -0.025):
        out.append(tube([(0.014, y * 0.6, -0.006), (0.045, y, 0.000), (0.090, y * 0.95, 0.010), (0.122, y * 0.55, 0.020)],
                        0.0032, 8, zone="rubber" if y > 0 else "brass", density=0.5))
    out.append(box((0.088, 0, 0.0315), (0.026, 0.016, 0.005), 0.002, along=0, zone="graphite", density=0.7))
    lamp = ball(0.0062, (0.114, 0, 0.0375), 16, 8, 0.8, zone="glow_red", wear=0)
    lamp.other = ball(0.0062, (0.114, 0, 0.0375), 16, 8, 0.8, zone="glow_green", wear=0)
    lamp.right = side < 0
    out += [lamp, lathe([(0.0085, 0.032), (0.0085, 0.0375), (0.0064, 0.0385), (0.0064, 0.033)], 16, zone="graphite",
                        density=0.5).moved((0.114, 0, 0))]
    return out


def build_pod():
    """Duct, motor and guard around the rotor's centre; the arm comes from -X."""
    ro, ri = DUCT_OUTER, DUCT_INNER
    profile = [(ri, 0.022), (ri + 0.006, 0.0275), (ro - 0.007, 0.0265), (ro, 0.016), (ro - 0.002, -0.012),
               (ro - 0.010, -0.027), (ri + 0.003, -0.029), (ri, -0.022)]
    radius = lambda p: np.hypot(p[..., 0], p[..., 1])
    azimuth = lambda p: np.arctan2(p[..., 1], p[..., 0])
    outside = lambda p: radius(p) > ro - 0.0115
    over = [
        (lambda p: smoothstep(ri + 0.0022, ri + 0.0012, radius(p)), "graphite"),
        (lambda p: smoothstep(-0.0135, -0.0145, p[..., 2]), "graphite"),
        (lambda p: band(np.abs(azimuth(p)), -1, 0.60) * smoothstep(ri + 0.0035, ri + 0.0045, radius(p))
         * smoothstep(-0.0125, -0.0115, p[..., 2]), "orange"),
        (lambda p: band(np.abs(azimuth(p)), 0.63, 0.66) * smoothstep(ri + 0.0035, ri + 0.0045, radius(p))
         * smoothstep(-0.0125, -0.0115, p[..., 2]), "graphite"),
        (lambda p: band(p[..., 2], 0.0085, 0.0130) * smoothstep(ri + 0.002, ri + 0.001, radius(p)), "glow_teal"),
    ]

    def decal(p, n, colour, glow):
        # Lettering and ticks on the upper lip.
        top = n[..., 2] > 0.5
        a = azimuth(p)
        ticks = (np.mod(a, math.pi / 36) < math.pi / 220) & top & (radius(p) > ri + 0.0105)
        colour = mix(colour, COLOURS["graphite"], ticks * 0.8 * (np.abs(a) > 0.7))
        for centre in (math.pi * 0.5, -math.pi * 0.5):
            arc = (a - centre) * (ro - 0.010) + 0.014
            ink = lettering("AX-07", arc, ri + 0.0160 - radius(p), 0.0090) * top
            colour = mix(colour, COLOURS["white"], top * band(arc, -0.004, 0.040) * (radius(p) > ri + 0.006))
            colour = mix(colour, COLOURS["graphite"], ink * 0.9)
        return colour, glow

    spokes = [lambda p, k=k: np.where(outside(p) | (p[..., 2] > 0.02),
                                      radius(p) * np.sin(azimuth(p) - math.radians(k)) + 0 * p[..., 2], 1)
              for k in (60, 120, 180, -60, -120)]
    spokes = [lambda p, f=f: np.where(np.abs(f(p)) < 0.01, f(p), 1) for f in spokes]
    out = [lathe(profile, 72, bevel=0.005, steps=2, closed=True, zone="white", over=over, lines=spokes, decal=decal,
                 tint=lambda p: np.floor((azimuth(p) + math.pi) / (math.pi / 3)))]
    # Motor: a finned can under the rotor and a tail cone.
    motor = [(0.0, 0.004), (0.020, 0.004), (0.0245, -0.001), (0.0245, -0.006), (0.0225, -0.008), (0.0225, -0.011),
             (0.0245, -0.013), (0.0245, -0.018), (0.0225, -0.020), (0.0225, -0.023), (0.0245, -0.025),
             (0.0235, -0.033), (0.014, -0.050), (0.0, -0.055)]
    out.append(lathe(motor, 28, bevel=0.001, zone="graphite",
                     over=[(lambda p: band(p[..., 2], -0.046, -0.040), "orange"),
                           (lambda p: band(p[..., 2], -0.0225, -0.0085), "brass")]))
    # Stator vanes carry the motor.
    for k in range(3):
        q = turn("Z", 180 + 120 * k)
        out.append(beam([((0.018, 0, -0.018), 0.005, 0.022), ((0.070, 0, -0.0165), 0.0045, 0.015),
                         ((ri + 0.004, 0, -0.015), 0.0055, 0.020)], corner=0.002, zone="graphite",
                        density=0.7, wear=0.15).moved((0, 0, 0), q))
    # Trunnion on the arm's side.
    out.append(lathe([(0, -ro - 0.004), (0.012, -ro - 0.004), (0.015, -ro + 0.004), (0.015, -ro + 0.012), (0, -ro + 0.012)],
                     20, axis="X", zone="graphite").moved((0, 0, -0.008)))
    guard = polar_disc(0.046, ri + 0.002, 48, 3, rise=0.007)
    out.append(Patch(guard + (0, 0, 0.0235), material="mask", uv=sheet_disc(guard[..., :2], ri + 0.002, GUARD_BOX)))
    return Part("pod", out)


def build_rotor(hand):
    """Hub and five twisted blades; hand +1 turns counter-clockwise from above."""
    hub = [(0.0, 0.0225), (0.006, 0.0215), (0.0125, 0.0165), (0.0165, 0.009), (0.0175, 0.0045), (0.0175, -0.0015),
           (0.015, -0.003), (0.0, -0.003)]
    out = [lathe(hub, 28, bevel=0.0015, zone="white",
                 over=[(lambda p: band(p[..., 2], 0.0095, 0.0125), "orange"),
                       (lambda p: smoothstep(0.0045, 0.0040, p[..., 2]), "graphite"),
                       (lambda p: band(p[..., 2], 0.0165, 0.020) * (p[..., 0] > 0), "graphite")])]
    count = 5
    span = np.linspace(0.0, 1.0, 10)
    chord_at = np.array([0.0, 0.05, 0.2, 0.45, 0.75, 1.0])
    thick_at = np.array([0.0, 0.55, 0.95, 1.0, 0.55, 0.0])
    for k in range(count):
        rows = []
        for t in span:
            r = 0.013 + t * (DUCT_INNER - 0.004 - 0.013)
            chord = 0.0215 + 0.0095 * math.sin(math.pi * min(1.0, t * 1.05)) - 0.006 * t
            thick = 0.0044 - 0.0026 * t
            pitch = math.radians(34 - 20 * t)
            x = (0.38 - chord_at) * chord - 0.006 * t * t
            up = np.concatenate([x, x[-2:0:-1]])
            h = np.concatenate([thick_at, -thick_at[-2:0:-1]]) * thick * 0.5
            fwd = up * math.cos(pitch) - h * math.sin(pitch)
            lift = up * math.sin(pitch) + h * math.cos(pitch) + 0.0025
            ring = np.stack([np.full_like(up, r), hand * fwd, lift], 1)
            rows.append(np.concatenate([ring, ring[:1]]))
        tip = rows[-1].mean(0)
        rows.append(np.broadcast_to(tip, rows[0].shape))
        grid = facing_out(np.array(rows))
        tips = lambda p: band(np.hypot(p[..., 0], p[..., 1]), 0.096, 0.107)
        out.append(Patch(grid, zone="dark", over=[(tips, "orange")], density=0.8)
                   .moved((0, 0, 0), turn("Z", 360 / count * k)))
    return Part("rotor_left" if hand > 0 else "rotor_right", out)


def build_blur():
    """The disc of a spinning rotor: transparent, seen from both sides."""
    disc = polar_disc(0.018, DUCT_INNER - 0.002, 40, 2)
    return Part("rotor_blur", [Patch(disc, material="blend", uv=sheet_disc(disc[..., :2], DUCT_INNER - 0.002, BLUR_BOX))])


def build_gimbal():
    """Yaw fork, pitch ball, camera barrel and iris, as four parts."""
    yaw = [lathe([(0, 0.0), (0.036, 0.0), (0.036, -0.008), (0.030, -0.012), (0.0, -0.012)], 32, bevel=0.002, zone="white",
                 over=[(lambda p: band(p[..., 2], -0.0075, -0.0045), "orange")])]
    for side in (1, -1):
        yaw.append(beam([((side * 0.026, 0, -0.009), 0.026, 0.012), ((side * 0.042, 0, -0.016), 0.026, 0.012),
                         ((side * 0.0475, 0, -0.034), 0.026, 0.010), ((side * 0.0465, 0, -0.058), 0.022, 0.009)],
                        up=(side, 0, 0.6), corner=0.004, zone="white",
                        lines=[lambda p: p[..., 2] + 0.030]))
        yaw.append(lathe([(0, side * 0.041), (0.012, side * 0.041), (0.012, side * 0.054), (0.008, side * 0.056),
                          (0, side * 0.056)], 20, axis="X", zone="orange").moved((0, 0, -0.052)))
    pitch = [ball(0.0375, segments=36, rings=18, axis="X", zone="graphite",
                  over=[(lambda p: band(np.abs(p[..., 0]), 0.020, 0.0225), "orange"),
                        (lambda p: smoothstep(0.024, 0.0245, np.abs(p[..., 0])), "white")],
                  lines=[lambda p: np.where(p[..., 1] > 0, p[..., 2], 1)]),
             lathe([(0.0265, -0.024), (0.0265, -0.036), (0.023, -0.038), (0.020, -0.036), (0.020, -0.022)], 32, axis="Y",
                   zone="white", over=[(lambda p: band(p[..., 1], -0.031, -0.029), "graphite")]),
             box((0, 0.008, 0.0375), (0.020, 0.030, 0.010), 0.003, zone="graphite", density=0.7)]
    lamp = lathe([(0, -0.009), (0.0045, -0.009), (0.0045, -0.006), (0.0065, -0.005), (0.0065, 0.006), (0, 0.006)], 14,
                 axis="Y", zone="graphite", over=[(lambda p: smoothstep(-0.0082, -0.0087, p[..., 1]), "glow_white")],
                 density=1.2).moved((0, 0, 0.0385))
    pitch.append(lamp)
    camera = [lathe([(0.0, 0.010), (0.0195, 0.010), (0.0195, -0.012), (0.0205, -0.014), (0.0205, -0.019), (0.018, -0.0205),
                     (0.0155, -0.0195), (0.0145, -0.006), (0.0, -0.005)], 36, axis="Y", bevel=0.001, zone="dark",
                    over=[(lambda p: band(p[..., 1], -0.0105, -0.008) * (np.hypot(p[..., 0], p[..., 2]) > 0.018), "orange"),
                          (lambda p: band(np.mod(np.arctan2(p[..., 2], p[..., 0]), math.pi / 20), 0.04, 0.09)
                           * band(p[..., 1], -0.019, -0.014), "steel")])]
    bowl = polar_disc(0.0, 0.0150, 24, 4, axis="Y")
    rr = np.hypot(bowl[..., 0], bowl[..., 2])
    bowl = bowl * (1, 0, -1) + np.stack([0 * rr, -0.0165 - 0.0045 * (1 - (rr / 0.015) ** 2), 0 * rr], -1)
    camera.append(Patch(bowl, material="blend", uv=sheet_disc(bowl[..., (0, 2)], 0.0150, LENS_BOX)))
    iris = [lathe([(0.0070, -0.0015), (0.0125, -0.0010), (0.0125, 0.0015), (0.0070, 0.0010)], 28, axis="Y", closed=True,
                  bevel=0.0004, zone="teal", wear=0,
                  over=[(lambda p: band(np.hypot(p[..., 0], p[..., 2]), 0.0078, 0.0100) * (p[..., 1] < 0), "glow_orange")])]
    return Part("gimbal_yaw", yaw), Part("gimbal_pitch", pitch), Part("camera", camera), Part("lens_iris", iris)


def build_leg():
    """Thigh, shin and skid, hanging down from their joints."""
    joint = lambda half, r=0.0125, zone="steel": lathe(
        [(0, -half), (r, -half), (r, half), (0, half)], 20, axis="Y", bevel=0.002, zone=zone,
        over=[(lambda p: band(np.hypot(p[..., 0], p[..., 2]), -1, 0.0045) * (np.abs(p[..., 1]) > half - 0.001), "orange")])
    thigh = [joint(0.027),
             beam([((0, 0, -0.006), 0.034, 0.016), ((0, 0, -0.040), 0.040, 0.019), ((0, 0, -0.085), 0.032, 0.016),
                   ((0, 0, -THIGH + 0.006), 0.026, 0.014)], up=(1, 0, 0), corner=0.006, bevel=0.003, zone="white",
                  over=[(lambda p: band(p[..., 2], -0.098, -0.088), "orange")],
                  lines=[lambda p: p[..., 2] + 0.036, lambda p: p[..., 2] + 0.074])]
    thigh += [box((0, s * 0.0165, -THIGH + 0.002), (0.020, 0.006, 0.028), 0.003, along=2, zone="graphite", density=0.7)
              for s in (1, -1)]
    thigh += bolts([(0.0092, y, z) for y in (-0.009, 0.009) for z in (-0.044, -0.066)], axis="X", radius=0.0022)
    thigh += bolts([(-0.0092, y, z) for y in (-0.009, 0.009) for z in (-0.044, -0.066)], axis="X", radius=0.0022, sign=-1)
    shin = [joint(0.0215, 0.0115, "brass"),
            beam([((0, 0, -0.004), 0.020, 0.013), ((0, 0, -0.050), 0.022, 0.014), ((0, 0, -0.072), 0.020, 0.013)],
                 up=(1, 0, 0), corner=0.005, zone="graphite", lines=[lambda p: p[..., 2] + 0.058]),
            lathe([(0, -0.066), (0.0062, -0.066), (0.0062, -SHIN + 0.004), (0, -SHIN + 0.004)], 16, zone="steel", wear=0)]
    coil = np.linspace(0, 2 * math.pi * 4.5, 55)
    shin.append(tube(np.stack([0.0088 * np.cos(coil), 0.0088 * np.sin(coil), np.linspace(-0.075, -SHIN + 0.010, 55)], 1),
                     0.0016, 5, smooth=0, zone="orange", density=0.4))
    shin.append(box((0, 0, -SHIN + 0.003), (0.018, 0.024, 0.012), 0.004, zone="graphite", density=0.7))
    half = 0.150
    arc = lambda y: -0.013 + 0.035 * max(0.0, (abs(y) - 0.085) / 0.065) ** 2
    ys = np.linspace(-half, half, 13)
    skid = [joint(0.016, 0.009),
            beam([((0, y, arc(y)), 0.018 - 0.006 * (abs(y) > 0.13), 0.012 - 0.004 * (abs(y) > 0.13)) for y in ys],
                 corner=0.005, zone="graphite",
                 over=[(lambda p: smoothstep(-0.0145, -0.0150, p[..., 2] - 0.035 * np.maximum(
                     0.0, (np.abs(p[..., 1]) - 0.085) / 0.065) ** 2), "rubber"),
                       (lambda p: band(np.abs(p[..., 1]), 0.100, 0.116), "orange"),
                       (lambda p: band(np.abs(p[..., 1]), 0.120, 0.124), "white")]),
            box((0, 0, -0.006), (0.015, 0.034, 0.012), 0.004, zone="graphite", density=0.7)]
    return Part("leg", thigh), Part("shin", shin), Part("skid", skid)


def build_manipulator():
    """Upper arm, forearm, gripper and one finger, reaching along -Y."""
    def joint(half, r, zone="steel"):
        return lathe([(0, -half), (r, -half), (r, half), (0, half)], 20, axis="X", bevel=0.002, zone=zone,
                     over=[(lambda p: band(np.hypot(p[..., 1], p[..., 2]), -1, 0.45 * r) * (np.abs(p[..., 0]) > half - 0.001),
                            "orange")])
    upper = [joint(0.0135, 0.0135),
             beam([((0, -0.008, 0), 0.017, 0.019), ((0, -0.040, 0), 0.019, 0.022), ((0, -UPPER_ARM + 0.010, 0), 0.014, 0.016)],
                  corner=0.005, zone="white", over=[(lambda p: band(p[..., 1], -0.066, -0.057), "orange")],
                  lines=[lambda p: p[..., 1] + 0.030])]
    upper += [box((s * 0.0095, -UPPER_ARM + 0.002, 0), (0.005, 0.026, 0.016), 0.0022, zone="graphite", density=0.6) for s in (1, -1)]
    upper.append(tube([(0, -0.012, 0.012), (0, -0.040, 0.017), (0, -0.080, 0.012)], 0.0026, 6, zone="rubber", density=0.4))
    fore = [joint(0.0125, 0.0105, "brass"),
            beam([((0, -0.006, 0), 0.011, 0.014), ((0, -0.045, 0), 0.015, 0.017), ((0, -FOREARM + 0.012, 0), 0.012, 0.012)],
                 corner=0.004, zone="graphite", over=[(lambda p: band(p[..., 1], -0.062, -0.030) * (p[..., 2] > 0.004), "white")]),
            lathe([(0, -FOREARM + 0.016), (0.0075, -FOREARM + 0.016), (0.0075, -FOREARM), (0, -FOREARM)], 18, axis="Y", zone="steel")]
    grip = [lathe([(0, 0.0), (0.0095, 0.0), (0.0105, -0.004), (0.0105, -0.013), (0.0125, -0.016), (0.0125, -WRIST + 0.004),
                   (0.0085, -WRIST), (0, -WRIST)], 20, axis="Y", bevel=0.0012, zone="orange",
                  over=[(lambda p: band(p[..., 1], -0.0125, -0.0045), "graphite"),
                        (lambda p: smoothstep(-WRIST + 0.0012, -WRIST + 0.0006, p[..., 1])
                         * band(np.hypot(p[..., 0], p[..., 2]), -1, 0.0045), "glow_teal")])]
    finger = [beam([((0, 0.002, 0), 0.010, 0.006), ((0, -0.012, 0.0065), 0.0095, 0.0065), ((0, -0.026, 0.0075), 0.008, 0.0055),
                    ((0, -0.038, 0.001), 0.006, 0.004)], corner=0.0015, bevel=0.001, steps=2, zone="graphite",
                   over=[(lambda p: smoothstep(-0.027, -0.0275, p[..., 1]), "orange")]),
              lathe([(0, -0.006), (0.0042, -0.006), (0.0042, 0.006), (0, 0.006)], 12, axis="X", zone="steel", density=0.6)]
    return Part("manipulator", upper), Part("forearm", fore), Part("gripper", grip), Part("finger", finger)


def build_antenna():
    """Base and whip, standing up."""
    base = [lathe([(0, -0.003), (0.0090, -0.003), (0.0090, 0.004), (0.0062, 0.008), (0.0042, 0.012), (0.0036, 0.050), (0, 0.052)],
                  16, bevel=0.001, zone="graphite", over=[(lambda p: band(p[..., 2], 0.0135, 0.0185), "orange")])]
    coil = np.linspace(0, 2 * math.pi * 6, 61)
    base.append(tube(np.stack([0.0046 * np.cos(coil), 0.0046 * np.sin(coil), np.linspace(0.022, 0.046, 61)], 1),
                     0.0011, 5, smooth=0, zone="brass", density=0.4))
    tip = [lathe([(0, -0.002), (0.0030, -0.002), (0.0018, 0.070), (0, 0.070)], 10, bevel=0.0004, zone="rubber", density=0.7),
           ball(0.0048, (0, 0, 0.072), 14, 8, 1.15, zone="glow_orange", wear=0)]
    return Part("antenna", base), Part("antenna_tip", tip)


def build_door(side):
    """Half of the dorsal hatch; the origin is its hinge on the outer edge."""
    f0, f1 = (0.012, 0.496) if side > 0 else (0.504, 0.988)
    q0, q1 = BAY_Q
    top = window(q0, q1, f0, f1, columns=7)
    hinge = hull(0.5 * (q0 + q1), edge_angle(0.5 * (q0 + q1)) if side > 0 else 180 - edge_angle(0.5 * (q0 + q1)))
    n = grid_normals(top)
    shrink = top.copy()
    shrink[0, :, 1] += 0.0012
    shrink[-1, :, 1] -= 0.0012
    top, low = shrink + n * 0.0008, shrink - n * 0.0045
    a, b = border(top), border(low)

    def decal(p, nn, colour, glow):
        x, y = np.abs(p[..., 0] + hinge[0]), p[..., 1] + hinge[1]
        chevron = (np.mod(y - 0.5 * x, 0.016) < 0.008) * band(x, 0.004, 0.0125) * (nn[..., 2] > 0.2)
        colour = mix(colour, COLOURS["orange"], chevron)
        colour = mix(colour, COLOURS["graphite"], band(x, 0.0135, 0.0148) * (nn[..., 2] > 0.2))
        return colour, glow

    out = [Patch(top, zone="white", decal=decal, density=1.2,
                 lines=[lambda p: p[..., 1] + hinge[1] - 0.052]),
           Patch(low[:, ::-1], zone="graphite", lines=[lambda p: np.mod(p[..., 1], 0.02) - 0.01], density=0.7),
           Patch(np.stack([a, (a * 0.5 + b * 0.5), b])[::-1], zone="cream", density=0.6)]
    for y in (-0.038, 0.034):
        out.append(lathe([(0, -0.007), (0.0034, -0.007), (0.0034, 0.007), (0, 0.007)], 12, axis="Y", zone="steel", density=0.5)
                   .moved(hinge + (0.0, y, 0.0015)))
    return Part("hatch_left" if side > 0 else "hatch_right", [p.moved(-hinge) for p in out]), hinge


def build_mast():
    """The telescope in the bay and the spinning head on it."""
    mast = [lathe([(0, 0.0), (0.0100, 0.0), (0.0100, -0.020), (0.0075, -0.021), (0.0075, -0.060), (0, -0.060)], 18, bevel=0.001,
                  zone="steel", over=[(lambda p: band(p[..., 2], -0.019, -0.012), "orange")]),
            box((0, 0, -0.002), (0.030, 0.030, 0.006), 0.002, zone="graphite", density=0.7)]
    head = [lathe([(0, 0.034), (0.014, 0.033), (0.0215, 0.027), (0.0225, 0.022), (0.0205, 0.020), (0.0205, 0.012),
                   (0.0225, 0.010), (0.0225, 0.004), (0.018, 0.0), (0, 0.0)], 32, bevel=0.0015, zone="white",
                  over=[(lambda p: band(p[..., 2], 0.0125, 0.0195), "dark"),
                        (lambda p: band(p[..., 2], 0.0125, 0.0195)
                         * (np.mod(np.arctan2(p[..., 1], p[..., 0]), math.pi / 2) < 0.9), "glow_teal"),
                        (lambda p: band(p[..., 2], 0.0040, 0.0085), "orange")]),
            beam([((0, -0.016, 0.0265), 0.016, 0.008), ((0, -0.030, 0.0265), 0.012, 0.007)], corner=0.002, zone="graphite",
                 over=[(lambda p: smoothstep(-0.0288, -0.0294, p[..., 1]), "glow_red")])]
    return Part("mast", mast), Part("lidar_head", head)


def build_fin():
    """A tail fin standing up from its hinge; the leading edge is at -Y."""
    rows = []
    for z, front, back, thick in ((-0.004, -0.036, 0.030, 0.011), (0.000, -0.038, 0.032, 0.011), (0.040, -0.012, 0.046, 0.009),
                                  (0.080, 0.016, 0.060, 0.007), (0.098, 0.032, 0.067, 0.005), (0.104, 0.042, 0.066, 0.002)):
        at = np.array([0.0, 0.04, 0.16, 0.42, 0.75, 0.97, 1.0])
        half = np.array([0.0, 0.42, 0.82, 1.0, 0.62, 0.16, 0.0]) * thick / 2
        y = front + (back - front) * at
        ring = np.concatenate([np.stack([half, y], 1), np.stack([-half[-2:0:-1], y[-2:0:-1]], 1)])
        ring = np.concatenate([ring, ring[:1]])
        rows.append(np.stack([ring[:, 0], ring[:, 1], np.full(len(ring), z)], 1))
    caps = [np.broadcast_to(r.mean(0), r.shape) for r in (rows[0], rows[-1])]
    grid = facing_out(np.array([caps[0], *rows, caps[1]]))
    sweep = lambda p: p[..., 2] - 0.25 * (p[..., 1] - 0.03)
    out = [Patch(grid, zone="white",
                 over=[(lambda p: smoothstep(0.0705, 0.0715, sweep(p)), "orange"),
                       (lambda p: band(sweep(p), 0.064, 0.067), "graphite"),
                       (lambda p: smoothstep(0.010, 0.009, sweep(p)), "graphite")],
                 lines=[lambda p: np.where(p[..., 2] < 0.07, p[..., 1] - 0.020 - 0.32 * p[..., 2], 1),
                        lambda p: sweep(p) - 0.034]),
           lathe([(0, -0.030), (0.0062, -0.030), (0.0062, 0.026), (0, 0.026)], 14, axis="Y", bevel=0.002, zone="steel", density=0.6),
           ball(0.0034, (0, 0.0545, 0.105), 10, 6, zone="glow_white", wear=0)]
    return Part("fin", out)


def build_beacon():
    """The flashing light on the back."""
    return Part("beacon", [
        lathe([(0, 0.013), (0.005, 0.0125), (0.0085, 0.008), (0.0095, 0.0), (0, 0.0)], 20, bevel=0.0025, zone="glow_red", wear=0)])


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
    """Shelves of falling height; None if the charts do not fit."""
    order = sorted(range(len(sizes)), key=lambda i: (-sizes[i][1], -sizes[i][0], i))
    places, shelves, top = [None] * len(sizes), [], 0
    for i in order:
        w, h = sizes[i][0] + 2 * PAD, sizes[i][1] + 2 * PAD
        if w > size:
            return None
        for shelf in shelves:
            if shelf[0] + w <= size and h <= shelf[2]:
                places[i] = (shelf[0] + PAD, shelf[1] + PAD)
                shelf[0] += w
                break
        else:
            if top + h > size:
                return None
            shelves.append([w, top, h])
            places[i] = (PAD, top + PAD)
            top += h
    return places


def lay_out(patches):
    """Finds the largest texel density at which all charts fit."""
    lo, hi = 10.0, 10000.0
    while hi - lo > 1.0:
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
# Mesh: welding, normals, occlusion
# --------------------------------------------------------------------------

class Welded:
    """The patches of a part as one mesh with shared vertices."""

    def __init__(self, part):
        points = np.concatenate([p.points.reshape(-1, 3) for p in part.patches])
        keys = np.round(points / 2e-5).astype(np.int64)
        # The parts of the shell are one surface; other patches that only touch
        # stay apart: bolts on a plate, say.
        owner = np.concatenate([np.full(p.points.shape[0] * p.points.shape[1], 0 if p.joins else i + 1)
                                for i, p in enumerate(part.patches)])
        _, first, index = np.unique(np.column_stack([owner, keys]), axis=0, return_index=True, return_inverse=True)
        self.verts = points[first]
        self.faces, self.uvs, self.material, self.ids = [], [], [], []
        start = 0
        for p in part.patches:
            r, c = p.points.shape[:2]
            ids = index.ravel()[start:start + r * c].reshape(r, c)
            start += r * c
            self.ids.append(ids)
            uv = (p.other if p.right else p).corner_uv()
            for i in range(r - 1):
                for j in range(c - 1):
                    corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
                    face = [ids[k] for k in corners]
                    keep = [k for k in range(4) if face[k] != face[k - 1]]
                    if len(set(face[k] for k in keep)) < 3 or len(keep) < 3:
                        continue
                    self.faces.append([int(face[k]) for k in keep])
                    # The tip of a fan takes the middle of its cell.
                    coords = [uv[corners[k]] for k in keep]
                    if len(keep) == 3:
                        for m, k in enumerate(keep):
                            if face[k] in (face[k - 3], face[(k + 1) % 4], face[k - 1]) and list(face).count(face[k]) == 2:
                                twins = [uv[corners[x]] for x in range(4) if face[x] == face[k]]
                                coords[m] = (twins[0] + twins[1]) / 2
                    self.uvs.append(coords)
                    self.material.append(p.material)
        self._normals()

    def _normals(self):
        """Corner normals: area-weighted over the faces around a vertex that meet
        at less than the sharp angle. Large flat faces so stay flat beside small
        bevels."""
        count = len(self.faces)
        face_normal = np.zeros((count, 3))
        for i, f in enumerate(self.faces):
            p = self.verts[f]
            face_normal[i] = np.cross(p[2] - p[0], (p[3] if len(f) == 4 else p[0]) - p[1]) if len(f) == 4 \
                else np.cross(p[1] - p[0], p[2] - p[0])
        unit = normalised(face_normal)
        around = [[] for _ in self.verts]
        for i, f in enumerate(self.faces):
            for v in f:
                around[v].append(i)
        around = [np.array(a, int) for a in around]
        self.normals = []
        for i, f in enumerate(self.faces):
            out = []
            for v in f:
                near = around[v]
                near = near[unit[near] @ unit[i] > SHARP]
                out.append(face_normal[near].sum(0))
            self.normals.append(normalised(np.array(out)))
        self.vertex_normals = normalised(np.array([face_normal[a].sum(0) if len(a) else (0, 0, 1) for a in around]))
        self.around = around

    def curvature(self):
        """Positive on convex edges, negative in hollows; about 1 on a bevel."""
        total, count = np.zeros(len(self.verts)), np.zeros(len(self.verts))
        for f in self.faces:
            for k in range(len(f)):
                a, b = f[k], f[(k + 1) % len(f)]
                d = self.verts[b] - self.verts[a]
                length = max(np.linalg.norm(d), 1e-4)
                value = (self.vertex_normals[b] - self.vertex_normals[a]) @ d / (length * length)
                total[[a, b]] += value
                count[[a, b]] += 1
        return total / np.maximum(count, 1)

    def occlusion(self, reach=0.05, rays=32):
        """Share of the hemisphere that is open within `reach` metres, per vertex."""
        solid = [f for f, m in zip(self.faces, self.material) if m == "opaque"]
        tree = BVHTree.FromPolygons(self.verts.tolist(), solid)
        rng = np.random.default_rng(SEED + 1)
        directions = normalised(rng.normal(size=(rays, 3)))
        result = np.ones(len(self.verts))
        for i, (p, n) in enumerate(zip(self.verts, self.vertex_normals)):
            start = Vector(p + n * 0.0012)
            hit = 0.0
            for d in normalised(directions + n * 1.02):      # cosine weighted
                found = tree.ray_cast(start, Vector(d), reach)
                if found[3] is not None:
                    hit += 1.0 - found[3] / reach
            result[i] = 1.0 - hit / rays
        return result


# --------------------------------------------------------------------------
# Paint
# --------------------------------------------------------------------------

def paint_patch(patch, welded, ids, shade, curve, seed, colour_map, glow_map):
    """Paints one chart with its border into the atlas pictures."""
    x, y, w, h, turned = patch.box
    rows = np.clip((np.arange(h + 2 * PAD) - PAD + 0.5) / h, 0, 1) * patch.at[0][-1]
    cols = np.clip((np.arange(w + 2 * PAD) - PAD + 0.5) / w, 0, 1) * patch.at[1][-1]
    fr = np.interp(rows, patch.at[0], np.arange(len(patch.at[0])))
    fc = np.interp(cols, patch.at[1], np.arange(len(patch.at[1])))
    i0 = np.minimum(fr.astype(int), len(patch.at[0]) - 2)
    j0 = np.minimum(fc.astype(int), len(patch.at[1]) - 2)
    tr, tc = (fr - i0)[:, None], (fc - j0)[None, :]

    def sample(grid):
        a, b = grid[i0][:, j0], grid[i0][:, j0 + 1]
        c, d = grid[i0 + 1][:, j0], grid[i0 + 1][:, j0 + 1]
        r, k = (tr, tc) if grid.ndim == 2 else (tr[..., None], tc[..., None])
        return (a * (1 - k) + b * k) * (1 - r) + (c * (1 - k) + d * k) * r

    p = sample(patch.points)
    n = normalised(sample(welded.vertex_normals[ids]))
    ao = sample(shade[ids])
    edge = sample(curve[ids])
    local = p + seed * 0.37

    zone_glow = np.zeros(p.shape[:2])
    colour = np.broadcast_to(np.array(COLOURS[patch.zone]), p.shape).copy()
    glow = np.zeros(p.shape)
    painted = np.isin(patch.zone, ("white", "orange", "cream", "graphite")) * np.ones(p.shape[:2])
    if patch.zone in LIGHT:
        glow += LIGHT[patch.zone]
        zone_glow += 1
    layers = list(patch.over)

    # Panels: slightly different paint, dark joints with a light lower lip.
    if patch.tint is not None:
        cell = np.round(patch.tint(p)).astype(np.int64)
        colour *= (1.0 + 0.05 * (noise.lattice[(cell * 7919 + 13) % len(noise.lattice)] - 0.5))[..., None]
    for cover, zone in layers:
        t = np.clip(np.asarray(cover(p), float), 0, 1)
        colour = mix(colour, COLOURS[zone], t)
        light = LIGHT.get(zone)
        glow = mix(glow, light if light else (0, 0, 0), t)
        zone_glow = zone_glow * (1 - t) + (t if light else 0)
    if patch.decal is not None:
        colour, glow = patch.decal(p, n, colour, glow)
    for distance in patch.lines:
        d = distance(p)
        colour = mix(colour, np.minimum(colour * 1.12 + 0.02, 1), 0.5 * line(d - 0.0011, 0.0008) * (1 - zone_glow))
        colour = mix(colour, colour * 0.34, line(d, 0.0012) * (1 - zone_glow))

    # Weather: broad mottling, dirt in hollows, streaks, chipped edges.
    broad = fbm(local, 0.05, 3, 1)
    fine = fbm(local, 0.006, 2, 5)
    solid = (1 - zone_glow)
    colour = colour * (1 + (0.10 * (broad - 0.5) + 0.05 * (fine - 0.5)) * solid)[..., None]
    dirt = smoothstep(0.95, 0.35, ao + 0.35 * (broad - 0.5)) * 0.55
    colour = mix(colour, colour * np.array((0.50, 0.46, 0.42)), dirt * solid * 0.8)
    colour = colour * (1 - (1 - (0.40 + 0.60 * ao)) * solid)[..., None]
    if patch.wear:
        chip = smoothstep(60, 260, edge) * smoothstep(0.50, 0.64, fbm(local, 0.011, 3, 9)) * painted * solid
        bare = np.minimum(colour.mean(-1, keepdims=True) * 1.7 + 0.05, (0.60, 0.60, 0.59))
        colour = mix(colour, bare, 0.75 * chip * patch.wear)
        speck = smoothstep(0.80, 0.86, noise(local, 0.0035, 21)) * smoothstep(0.55, 0.75, fbm(local, 0.04, 2, 23))
        colour = mix(colour, colour * 0.62, 0.35 * speck * painted * solid * patch.wear)
    colour = np.clip(colour, 0, 1)
    glow = np.clip(glow, 0, 1)
    if turned:
        colour, glow = colour.swapaxes(0, 1), glow.swapaxes(0, 1)
    area = np.s_[y - PAD:y - PAD + colour.shape[0], x - PAD:x - PAD + colour.shape[1]]
    colour_map[area], glow_map[area] = colour, glow


def paint_mask_sheet():
    """Rotor guard and perforated plate, with their holes in alpha."""
    h, w = SHEET_SIZE, 2 * SHEET_SIZE
    v, u = np.mgrid[0:h, 0:w]
    u, v = (u + 0.5) / w, (v + 0.5) / h
    out = np.zeros((h, w, 4))
    # Guard: rims, one ring and swept vanes.
    x0, y0, x1, y1 = GUARD_BOX
    x, y = (u - x0) / (x1 - x0) * 2 - 1, (v - y0) / (y1 - y0) * 2 - 1
    r, a = np.hypot(x, y), np.arctan2(y, x)
    soft = 3.0 / h
    vanes = 18
    swirl = np.mod(a + 0.95 * (r - 0.37) + 0.35 * (r - 0.37) ** 2, 2 * math.pi / vanes) - math.pi / vanes
    vane = smoothstep(0.0135 + soft, 0.0135, np.abs(swirl) * r)
    ring = lambda c, half: smoothstep(half + soft, half, np.abs(r - c))
    cover = np.maximum.reduce([vane * (r > 0.37) * (r < 1.0), ring(0.385, 0.026), ring(0.69, 0.014), ring(0.985, 0.03)])
    colour = np.broadcast_to((0.215, 0.225, 0.245), out[..., :3].shape)
    colour = mix(colour, COLOURS["orange"], ring(0.69, 0.016))
    colour = mix(colour, (0.42, 0.43, 0.44), ring(0.385, 0.012))
    left = u < 0.5
    out[left] = np.concatenate([colour, cover[..., None]], -1)[left]
    # Plate: a honeycomb.
    x0, y0, x1, y1 = HEX_BOX
    x, y = (u - x0) / (x1 - x0) * 22, (v - y0) / (y1 - y0) * 22
    best = np.full(x.shape, 9.0)
    for ox, oy in ((0.0, 0.0), (0.5, math.sqrt(3) / 2)):
        fx = np.abs(np.mod(x - ox + 0.5, 1.0) - 0.5)
        fy = np.abs(np.mod(y - oy + math.sqrt(3) / 2, math.sqrt(3)) - math.sqrt(3) / 2)
        best = np.minimum(best, np.maximum(fx, fx * 0.5 + fy * math.sqrt(3) / 2))
    cover = smoothstep(0.33, 0.41, best)
    colour = np.where(best[..., None] > 0.46, (0.33, 0.34, 0.36), (0.23, 0.24, 0.26))
    out[~left] = np.concatenate([colour, cover[..., None]], -1)[~left]
    return np.clip(out, 0, 1)


def paint_blend_sheet():
    """Blur disc, canopy glass and camera lens."""
    h, w = SHEET_SIZE, 2 * SHEET_SIZE
    v, u = np.mgrid[0:h, 0:w]
    u, v = (u + 0.5) / w, (v + 0.5) / h
    out = np.zeros((h, w, 4))
    # Blur: soft ghosts of the five blades, an orange trace of their tips.
    x0, y0, x1, y1 = BLUR_BOX
    x, y = (u - x0) / (x1 - x0) * 2 - 1, (v - y0) / (y1 - y0) * 2 - 1
    r, a = np.hypot(x, y), np.arctan2(y, x)
    ghost = 0.5 + 0.5 * np.cos(5 * a + 1.4 * r)
    streak = 0.5 + 0.5 * np.sin(r * 46) * np.sin(r * 17 + 1)
    tip = smoothstep(0.055, 0.02, np.abs(r - 0.845))
    alpha = (0.10 + 0.17 * ghost ** 2 + 0.05 * streak) * smoothstep(0.12, 0.30, r) * smoothstep(1.0, 0.97, r)
    colour = mix(np.broadcast_to((0.33, 0.36, 0.39), out[..., :3].shape), (0.95, 0.50, 0.16), tip)
    alpha = np.maximum(alpha, tip * (0.22 + 0.16 * ghost))
    left = u < 0.5
    out[left] = np.concatenate([colour, alpha[..., None]], -1)[left]
    # Canopy: smoked teal glass, darker towards the frame, with painted reflections.
    x0, y0, x1, y1 = GLASS_BOX
    x, y = (u - x0) / (x1 - x0), (v - y0) / (y1 - y0)
    rim = np.minimum(np.minimum(x, 1 - x), np.minimum(y, 1 - y) * 1.2)
    alpha = 0.20 + 0.26 * smoothstep(0.16, 0.0, rim) + 0.22 * smoothstep(0.55, 1.0, y)
    colour = mix(np.broadcast_to((0.060, 0.190, 0.210), out[..., :3].shape), (0.10, 0.36, 0.40), smoothstep(0.2, 0.9, y))
    d = x - 0.22 - 0.16 * y
    shine = band(d, -0.035, 0.045, 0.012) * band(y, 0.18, 0.80, 0.10) + 0.7 * band(d, 0.070, 0.090, 0.008) * band(y, 0.18, 0.80, 0.10)
    sky = smoothstep(0.62, 0.95, y) * band(x, 0.12, 0.88, 0.12)
    colour = mix(colour, (0.78, 0.92, 0.94), np.clip(0.65 * shine + 0.22 * sky, 0, 1))
    alpha = np.clip(alpha + 0.20 * shine + 0.04 * sky, 0, 0.9)
    glass = (u >= 0.5) & (v >= 0.25)
    out[glass] = np.concatenate([colour, alpha[..., None]], -1)[glass]
    # Lens: a coated glass with two highlights.
    x0, y0, x1, y1 = LENS_BOX
    x, y = (u - x0) / (x1 - x0) * 2 - 1, (v - y0) / (y1 - y0) * 2 - 1
    r = np.hypot(x, y)
    colour = mix(np.broadcast_to((0.10, 0.10, 0.26), out[..., :3].shape), (0.42, 0.16, 0.42), smoothstep(0.3, 1.0, r))
    spot = smoothstep(0.30, 0.14, np.hypot(x + 0.34, y - 0.40)) + 0.6 * smoothstep(0.16, 0.07, np.hypot(x - 0.36, y + 0.42))
    colour = mix(colour, (0.95, 0.98, 1.0), np.clip(spot, 0, 1))
    alpha = np.clip(0.26 + 0.30 * smoothstep(0.6, 1.0, r) + 0.6 * spot, 0, 0.95)
    lens = (u >= 0.5) & (v < 0.25)
    out[lens] = np.concatenate([colour, alpha[..., None]], -1)[lens]
    return np.clip(out, 0, 1)


# --------------------------------------------------------------------------
# Blender objects
# --------------------------------------------------------------------------

def save_image(name, rows, folder, quality=None):
    """Writes the picture and returns it as a Blender image of that file: a JPEG
    of the given quality, or else a PNG with alpha."""
    height, width, channels = rows.shape
    scratch = bpy.data.images.new(name + "_scratch", width, height, alpha=quality is None)
    pixels = np.ones((height, width, 4), np.float32)
    pixels[..., :channels] = rows
    scratch.pixels.foreach_set(pixels.ravel())
    scene = bpy.context.scene
    scene.view_settings.view_transform = "Standard"
    settings = scene.render.image_settings
    settings.file_format = "JPEG" if quality else "PNG"
    settings.color_mode = "RGB" if quality else "RGBA"
    settings.quality, settings.compression = quality or 100, 100
    path = os.path.join(folder, name + (".jpg" if quality else ".png"))
    scratch.save_render(path, scene=scene)
    bpy.data.images.remove(scratch)
    image = bpy.data.images.load(path)
    image.name = name
    return image


def make_material(name, image, roughness, mode="OPAQUE", emission=None, metallic=0.0):
    """Base colour (and alpha) from the image, emission from a second one."""
    mat = bpy.data.materials.new(name)
    mat.use_nodes = True
    mat.use_backface_culling = mode == "OPAQUE"
    shader = mat.node_tree.nodes["Principled BSDF"]
    shader.inputs["Metallic"].default_value = metallic
    shader.inputs["Roughness"].default_value = roughness
    links = mat.node_tree.links
    node = mat.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = image
    links.new(node.outputs["Color"], shader.inputs["Base Color"])
    if mode != "OPAQUE":
        links.new(node.outputs["Alpha"], shader.inputs["Alpha"])
        mat.blend_method = mode
        mat.alpha_threshold = 0.5
    if emission is not None:
        node = mat.node_tree.nodes.new("ShaderNodeTexImage")
        node.image = emission
        links.new(node.outputs["Color"], shader.inputs["Emission"])
        shader.inputs["Emission Strength"].default_value = 1.0
    return mat


def make_mesh(name, welded, materials):
    """A Blender mesh with our own normals; one material slot per material used."""
    mesh = bpy.data.meshes.new(name)
    used = [m for m in ("opaque", "mask", "blend") if m in welded.material]
    mesh.from_pydata(welded.verts.tolist(), [], welded.faces)
    layer = mesh.uv_layers.new(name="UVMap")
    layer.data.foreach_set("uv", np.array([c for f in welded.uvs for c in f], np.float32).ravel())
    for m in used:
        mesh.materials.append(materials[m])
    mesh.polygons.foreach_set("material_index", [used.index(m) for m in welded.material])
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    mesh.use_auto_smooth = True
    mesh.auto_smooth_angle = math.pi
    mesh.normals_split_custom_set([tuple(n) for f in welded.normals for n in f])
    return mesh


# --------------------------------------------------------------------------
# The nodes
# --------------------------------------------------------------------------

CORNERS = (("front_left", 1, -1), ("front_right", -1, -1), ("rear_left", 1, 1), ("rear_right", -1, 1))
SIDES = (("left", 1), ("right", -1))


class Node:
    """A node: parent, joint in the parent's space, rest rotation, part."""

    def __init__(self, name, parent, at, part=None, rest=None, moves=""):
        self.name, self.parent, self.at = name, parent, Vector(at)
        self.part, self.rest, self.moves = part, rest or Quaternion(), moves


def build_nodes():
    """All parts and nodes. `moves` names the animated properties: T, R and S."""
    body = build_body()
    canopy, canopy_hinge = build_canopy()
    nodes = [Node("drone", None, (0, 0, 0), moves="TR"), Node("body", "drone", (0, 0, 0), body, moves="R"),
             Node("canopy", "body", canopy_hinge, canopy, moves="R"),
             Node("scanner_eye", "body", (0, -0.168, 0.054), build_scanner(), moves="R")]
    arms = {s: Part(f"arm_{name}", build_arm(s)) for name, s in SIDES}
    pod, blur = build_pod(), build_blur()
    rotors = {1: build_rotor(1), -1: build_rotor(-1)}
    for name, sx, sy in CORNERS:
        nodes += [
            Node(f"arm_{name}", "body", (sx * SHOULDER[0], sy * SHOULDER[1], SHOULDER[2]), arms[sx],
                 turn("Z", arm_azimuth(sx, sy)), "R"),
            Node(f"pod_{name}", f"arm_{name}", (ARM_LENGTH, 0, ARM_RISE), pod, moves="R"),
            Node(f"rotor_{name}", f"pod_{name}", (0, 0, 0.002), rotors[sx * sy], moves="R"),
            Node(f"rotor_blur_{name}", f"rotor_{name}", (0, 0, 0.004), blur, moves="S"),
        ]
    yaw, pitch, camera, iris = build_gimbal()
    nodes += [Node("gimbal_yaw", "body", (0, -0.178, -0.064), yaw, moves="R"),
              Node("gimbal_pitch", "gimbal_yaw", (0, 0, -0.052), pitch, moves="R"),
              Node("camera", "gimbal_pitch", (0, -0.030, 0), camera, moves="T"),
              Node("lens_iris", "camera", (0, -0.0085, 0), iris, moves="RS")]
    leg, shin, skid = build_leg()
    for name, s in SIDES:
        nodes += [Node(f"leg_{name}", "body", (s * HIP[0], HIP[1], HIP[2] - 0.008), leg, moves="R"),
                  Node(f"shin_{name}", f"leg_{name}", (0, 0, -THIGH), shin, moves="R"),
                  Node(f"skid_{name}", f"shin_{name}", (0, 0, -SHIN), skid, moves="R")]
    upper, fore, grip, finger = build_manipulator()
    for name, s in SIDES:
        nodes += [Node(f"manipulator_{name}", "body", (s * MANIPULATOR[0], MANIPULATOR[1], MANIPULATOR[2]), upper, moves="R"),
                  Node(f"forearm_{name}", f"manipulator_{name}", (0, -UPPER_ARM, 0), fore, moves="R"),
                  Node(f"gripper_{name}", f"forearm_{name}", (0, -FOREARM, 0), grip, moves="R"),
                  Node(f"finger_upper_{name}", f"gripper_{name}", (0, -WRIST + 0.003, 0.0085), finger, moves="R"),
                  Node(f"finger_lower_{name}", f"gripper_{name}", (0, -WRIST + 0.003, -0.0085), finger,
                       turn("Y", 180), "R")]
    base, tip = build_antenna()
    for name, s in SIDES:
        nodes += [Node(f"antenna_{name}", "body", (s * 0.066, -0.030, 0.0915), base, turn("Y", s * 22) @ turn("X", -38), "R"),
                  Node(f"antenna_tip_{name}", f"antenna_{name}", (0, 0, 0.049), tip, moves="R")]
    for name, s in SIDES:
        door, hinge = build_door(s)
        nodes.append(Node(f"hatch_{name}", "body", hinge, door, moves="R"))
    mast, head = build_mast()
    nodes += [Node("mast", "body", (0, 0.045, 0.058), mast, moves="T"),
              Node("lidar_head", "mast", (0, 0, 0.001), head, moves="R")]
    fin = build_fin()
    for name, s in SIDES:
        nodes.append(Node(f"fin_{name}", "body", (s * 0.046, 0.205, 0.052), fin, turn("Y", s * 36), "R"))
    nodes.append(Node("beacon", "body", (0, 0.197, 0.072), build_beacon(), moves="S"))
    return nodes


# --------------------------------------------------------------------------
# Clips
# --------------------------------------------------------------------------

TAU = 2 * math.pi
ROTOR_SPEED = 4.5             # turns per second


def wave(t, period, phase=0.0):
    """Sine of the given period in seconds; phase in turns."""
    return math.sin(TAU * (t / period + phase))


def ease(t, *keys):
    """Value at t of a curve through (time, value) keys that rests at each key."""
    times, values = keys[0::2], keys[1::2]
    if t <= times[0]:
        return values[0]
    for a, b, x, y in zip(times, times[1:], values, values[1:]):
        if t <= b:
            return x + (y - x) * float(smoothstep(a, b, t))
    return values[-1]


class Pose:
    """Offsets, rotations and scales of the moving nodes, relative to rest."""

    def __init__(self):
        self.offset, self.rotation, self.scale = {}, {}, {}


def limbs(pose, deploy, fold, reach, grip, swing):
    """deploy: legs 0..1; fold: front and rear arms in degrees; reach and grip:
    left and right manipulator 0..1; swing: their sway in degrees."""
    for name, s in SIDES:
        # The thigh swings back under the keel, the shin forward; the skid stays level.
        thigh = turn("Y", -s * 37 * deploy) @ turn("X", 71 * (1 - deploy))
        shin = turn("Y", s * 30 * deploy) @ turn("X", -152 * (1 - deploy))
        pose.rotation[f"leg_{name}"], pose.rotation[f"shin_{name}"] = thigh, shin
        pose.rotation[f"skid_{name}"] = (thigh @ shin).inverted()
        # Folded under the keel, or stretched forward.
        upper = 160 + (28 - 160) * reach[s] + swing[s]
        fore = -158 + (-8 + 158) * reach[s] - 1.4 * swing[s]
        pose.rotation[f"manipulator_{name}"] = turn("Z", 9 * s * reach[s]) @ turn("X", upper)
        pose.rotation[f"forearm_{name}"] = turn("X", fore)
        pose.rotation[f"gripper_{name}"] = turn("X", -(upper + fore) * 0.8) @ turn("Y", s * 70 * reach[s] * grip["roll"])
        for finger in ("upper", "lower"):
            pose.rotation[f"finger_{finger}_{name}"] = turn("X", -38 * grip[s])
    for name, sx, sy in CORNERS:
        pose.rotation[f"arm_{name}"] = turn("Y", -fold[sy])


def spin_rotors(pose, turns, size):
    """turns: revolutions since the start; size: of the blur discs, 0..1."""
    for k, (name, sx, sy) in enumerate(CORNERS):
        pose.rotation[f"rotor_{name}"] = turn("Z", sx * sy * (360 * turns + 17 * k))
        f = max(0.02, size)
        pose.scale[f"rotor_blur_{name}"] = (f, f, f)


def hover_pose(t):
    """Station keeping: bob, sway, and a curious look around."""
    p = Pose()
    roll, pitch = 3.2 * wave(t, 6, 0.1) + 1.0 * wave(t, 2, 0.4), 2.6 * wave(t, 3, 0.15) + 1.2
    p.offset["drone"] = (0.014 * wave(t, 6), 0.010 * wave(t, 6, 0.3), 0.020 * wave(t, 3))
    p.rotation["drone"] = turn("Z", 4.0 * wave(t, 6, 0.6))
    p.rotation["body"] = turn("X", pitch) @ turn("Y", roll)
    spin_rotors(p, ROTOR_SPEED * t, 1.0)
    for name, sx, sy in CORNERS:
        p.rotation[f"pod_{name}"] = turn("X", 4 * wave(t, 3, 0.15 + 0.1 * sx) + 2) @ turn("Y", 3 * wave(t, 2, 0.2 * sy))
    look = ease(t, 0, 0, 0.5, 0, 1.2, 34, 2.2, 34, 3.0, -28, 4.1, -28, 4.9, 0, 6, 0)
    nod = ease(t, 0, 0, 0.6, 0, 1.3, 12, 2.1, -6, 3.1, 18, 4.0, 4, 5.0, 0, 6, 0)
    gaze = ease(t, 0, 0, 0.3, 0, 0.7, 30, 1.9, 30, 2.4, -32, 3.8, -32, 4.4, 0, 6, 0)
    p.rotation["gimbal_yaw"] = turn("Z", look - 4.0 * wave(t, 6, 0.6))
    p.rotation["gimbal_pitch"] = turn("X", nod + 4 - pitch)
    zoom = ease(t, 0, 0, 1.3, 0, 1.6, 1, 2.2, 1, 2.6, 0, 3.2, 0, 3.5, 1, 4.1, 1, 4.5, 0, 6, 0)
    camera_pose(p, zoom, 40 * zoom)
    p.rotation["scanner_eye"] = turn("Z", gaze * 0.8) @ turn("X", 6 * wave(t, 3, 0.3))
    limbs(p, 0.0, {-1: 2.0 * wave(t, 3, 0.4), 1: 2.0 * wave(t, 3, 0.55)}, {1: 0.0, -1: 0.0},
          {1: 0.35 + 0.25 * wave(t, 3), -1: 0.35 + 0.25 * wave(t, 3, 0.5), "roll": 0},
          {1: 2.5 * wave(t, 3, 0.2), -1: 2.5 * wave(t, 3, 0.35)})
    extras(p, t, 0.0, 0.0, 0.0, 0.0, sway=1.0, period=2, rudder=5 * wave(t, 6, 0.1), flash=1.0)
    return p


def survey_pose(t):
    """Leans forward and sweeps: mast up, arms out, everything looks."""
    p = Pose()
    lean = ease(t, 0, 0, 1.5, 11, 8.2, 11, 9.7, 0, 10, 0)
    heading = ease(t, 0, 0, 1.0, 0, 3.4, 32, 4.2, 32, 7.0, -32, 7.8, -32, 9.8, 0, 10, 0)
    bank = 9 * (ease(t, 0, 0, 1.0, 0, 2.2, 1, 3.5, 0, 4.3, 0, 5.6, -1, 7.0, 0, 7.9, 0, 8.8, 1, 9.8, 0, 10, 0))
    p.offset["drone"] = (0.0, -0.02 * lean / 11, 0.012 * wave(t, 2.5) + 0.015 * lean / 11)
    p.rotation["drone"] = turn("Z", heading)
    p.rotation["body"] = turn("X", lean + 1.2 * wave(t, 2.5, 0.2)) @ turn("Y", bank)
    spin_rotors(p, 5.0 * t, 1.0)
    for name, sx, sy in CORNERS:
        p.rotation[f"pod_{name}"] = turn("X", -sx * 0.9 * lean * 0.8) @ turn("Y", 0.35 * lean * -sy + 5 * wave(t, 2.5, 0.25 * sx))
    p.rotation["gimbal_yaw"] = turn("Z", 62 * wave(t, 5, 0.0) * min(1.0, lean / 8))
    p.rotation["gimbal_pitch"] = turn("X", -lean + (16 + 14 * wave(t, 2.5, 0.1)) * min(1.0, lean / 8))
    zoom = 0.5 - 0.5 * math.cos(TAU * t / 2.5)
    camera_pose(p, zoom, 120 * zoom)
    p.rotation["scanner_eye"] = turn("Z", 36 * wave(t, 2.5)) @ turn("X", 8 * wave(t, 1.25))
    reach = {1: ease(t, 0, 0, 1.2, 0, 2.8, 1, 7.6, 1, 9.2, 0, 10, 0), -1: ease(t, 0, 0, 1.6, 0, 3.2, 1, 7.9, 1, 9.5, 0, 10, 0)}
    grip = {s: 0.35 + 0.65 * reach[s] * (0.5 + 0.5 * wave(t, 1.25, 0.25 * s)) for s in (1, -1)}
    grip["roll"] = wave(t, 5, 0.1)
    swing = {s: reach[s] * 16 * wave(t, 2.5, 0.25 * s) for s in (1, -1)}
    limbs(p, 0.0, {-1: 0.6 * lean * 0.5, 1: -0.2 * lean}, reach, grip, swing)
    door = ease(t, 0, 0, 0.3, 0, 1.5, 1, 8.4, 1, 9.7, 0, 10, 0)
    rise = ease(t, 0, 0, 1.1, 0, 2.6, 1, 7.6, 1, 9.0, 0, 10, 0)
    extras(p, t, 0.0, door, rise, 2.4 * t, sway=1.8, period=2.5, rudder=-14 * bank / 9, flash=2.0)
    return p


def landing_pose(t):
    """Legs out, down, rotors to rest, arms folded; then all of it backwards."""
    p = Pose()
    down = ease(t, 0, 0, 1.6, 0, 4.2, 1, 10.6, 1, 12.9, 0, 14, 0)
    deploy = ease(t, 0, 0, 0.4, 0, 2.2, 1, 12.0, 1, 13.6, 0, 14, 0)
    settle = ease(t, 0, 0, 3.6, 0, 4.4, 1, 4.9, 0, 14, 0)
    power = ease(t, 0, 1, 4.4, 1, 5.9, 0, 8.9, 0, 10.4, 1, 14, 1)
    fold = {-1: ease(t, 0, 0, 5.7, 0, 7.3, 1, 7.9, 1, 9.3, 0, 14, 0), 1: ease(t, 0, 0, 5.4, 0, 7.0, 1, 8.1, 1, 9.5, 0, 14, 0)}
    flying = 1 - down
    p.offset["drone"] = (0.012 * wave(t, 7) * flying, 0.0, 0.015 * wave(t, 3.5) * flying + 0.07 * flying - 0.07 - 0.075 * down - 0.012 * settle)
    p.rotation["drone"] = turn("Z", 10 * wave(t, 14) * flying)
    p.rotation["body"] = turn("X", 2.4 * wave(t, 3.5, 0.15) * flying + 1.6 * settle - 3.0 * ease(t, 0, 0, 1.6, 0, 2.6, 1, 4.0, 0, 14, 0)) \
        @ turn("Y", 2.5 * wave(t, 7, 0.1) * flying)
    spin_rotors(p, landing_turns(t), smoothstep(0.25, 0.9, power))
    for name, sx, sy in CORNERS:
        p.rotation[f"pod_{name}"] = turn("X", 3 * wave(t, 3.5, 0.1 * sx) * flying) @ turn("Y", -14 * fold[sy])
    stowed = ease(t, 0, 0, 5.0, 0, 6.4, 1, 8.6, 1, 10.0, 0, 14, 0)
    p.rotation["gimbal_yaw"] = turn("Z", 22 * wave(t, 7, 0.0) * (1 - stowed))
    p.rotation["gimbal_pitch"] = turn("X", 52 * ease(t, 0, 0, 0.8, 0, 1.8, 1, 4.6, 1, 5.6, -0.5, 8.6, -0.5, 10, 0.6, 12.6, 0, 14, 0))
    camera_pose(p, ease(t, 0, 0, 2.0, 0, 2.8, 1, 4.2, 1, 5.0, -0.4, 9.0, -0.4, 10.2, 0, 14, 0), 0.0)
    p.rotation["scanner_eye"] = turn("Z", 14 * wave(t, 3.5) * (1 - stowed)) @ turn("X", 24 * ease(t, 0, 0, 1, 0, 2, 1, 4.4, 1, 5.4, -0.7, 8.7, -0.7, 9.8, 0, 14, 0))
    hand = ease(t, 0, 0, 6.6, 0, 7.4, 0.42, 8.0, 0.42, 8.9, 0, 14, 0)
    limbs(p, deploy, {s: 68 * fold[s] for s in (1, -1)}, {1: hand, -1: 0.0},
          {1: 0.35 + 0.6 * hand * (0.5 + 0.5 * wave(t, 0.7)), -1: 0.35, "roll": 0.4},
          {1: 18 * hand * wave(t, 0.7), -1: 0.0})
    lid = ease(t, 0, 0, 5.6, 0, 7.0, 1, 8.0, 1, 9.4, 0, 14, 0)
    door = ease(t, 0, 0, 6.0, 0, 6.9, 0.55, 8.2, 0.55, 9.2, 0, 14, 0)
    extras(p, t, lid, door, 0.25 * door, 0.0, sway=0.3 + 0.7 * power, period=3.5, rudder=20 * stowed, flash=1.0)
    return p


def landing_turns(t):
    """Revolutions of the rotors: the integral of their speed, so scaled that the
    whole clip makes a whole number of them."""
    times = np.linspace(0, 14, 1401)
    speed = np.array([ease(x, 0, 1, 4.4, 1, 6.3, 0, 8.7, 0, 10.6, 1, 14, 1) for x in times])
    total = np.concatenate([[0], np.cumsum(0.5 * (speed[1:] + speed[:-1]) * np.diff(times))])
    whole = round(total[-1] * ROTOR_SPEED)
    return float(np.interp(t, times, total)) * whole / total[-1]


def camera_pose(pose, zoom, roll):
    """Zoom moves the barrel and narrows the iris."""
    pose.offset["camera"] = (0, -0.009 * zoom, 0)
    f = 1.12 - 0.36 * zoom
    pose.scale["lens_iris"] = (f, 1.0, f)
    pose.rotation["lens_iris"] = turn("Y", roll)


def extras(pose, t, lid, door, rise, spin, sway, period, rudder, flash):
    """Canopy, hatch, mast, antennae (swaying with the period), fins and beacon."""
    pose.rotation["canopy"] = turn("X", -52 * lid)
    for name, s in SIDES:
        pose.rotation[f"hatch_{name}"] = turn("Y", s * 112 * door)
        a = 3.0 * sway
        pose.rotation[f"antenna_{name}"] = turn("X", a * wave(t, period, 0.1)) \
            @ turn("Y", 0.7 * a * wave(t, period, 0.3 + 0.1 * s))
        pose.rotation[f"antenna_tip_{name}"] = turn("X", 2.2 * a * wave(t, period, -0.03)) \
            @ turn("Y", 1.5 * a * wave(t, period, 0.2 + 0.1 * s))
        pose.rotation[f"fin_{name}"] = turn("Z", rudder)
    pose.offset["mast"] = (0, 0, 0.060 * rise - 0.022)
    pose.rotation["lidar_head"] = turn("Z", 360 * spin)
    beat = max(0.0, math.sin(TAU * flash * t)) ** 3
    f = 0.70 + 0.55 * beat
    pose.scale["beacon"] = (f, f, f)


POSES = {"hover": hover_pose, "survey": survey_pose, "landing": landing_pose}


def thin(times, values, tolerance, limit=None):
    """Indices of the keys that reproduce `values` within the tolerance by linear
    interpolation (Douglas and Peucker). The ends always stay, and no two keys
    are further apart than `limit` degrees along the way the rotation takes."""
    keep, todo = {0, len(times) - 1}, [(0, len(times) - 1)]
    while todo:
        a, b = todo.pop()
        if b - a < 2:
            continue
        f = ((times[a + 1:b] - times[a]) / (times[b] - times[a]))[:, None]
        guess = values[a] * (1 - f) + values[b] * f
        if values.shape[1] == 4:
            guess = normalised(guess)
        error = np.abs(values[a + 1:b] - guess).max(1)
        k = int(error.argmax())
        if error[k] > tolerance:
            keep.add(a + 1 + k)
            todo += [(a, a + 1 + k), (a + 1 + k, b)]
    if limit:
        cosines = np.abs((values[1:] * values[:-1]).sum(1)).clip(0, 1)
        way = np.concatenate([[0.0], np.cumsum(2 * np.degrees(np.arccos(cosines)))])
        last = 0
        for k in range(len(values) - 1):
            if k in keep or way[k + 1] - way[last] > limit:
                keep.add(k)
                last = k
    return np.array(sorted(keep))


def key_clip(objects, nodes, order, name, seconds):
    """Samples a clip and gives every moving node its action, on an NLA track of
    the clip's name: tracks of one name become one clip. (The exporter sorts by
    action name, hence `order`.)"""
    pose_at, step = POSES[name], 2
    frames = np.arange(0, seconds * FPS + 1, step)
    # The last key repeats the first one exactly: a seamless loop.
    poses = [pose_at(0.0 if f == frames[-1] else f / FPS) for f in frames]
    for node in nodes:
        if not node.moves:
            continue
        obj = objects[node.name]
        action = bpy.data.actions.new(f"{order}_{name}_{node.name}")
        for kind, path, tolerance in (("T", "location", 0.0003), ("R", "rotation_quaternion", 0.0006), ("S", "scale", 0.004)):
            if kind not in node.moves:
                continue
            if kind == "T":
                values = [node.at + Vector(p.offset[node.name]) for p in poses]
            elif kind == "S":
                values = [Vector(p.scale[node.name]) for p in poses]
            else:
                values = [node.rest @ p.rotation[node.name] for p in poses]
                for a, b in zip(values, values[1:]):
                    if a.dot(b) < 0:
                        b.negate()
            values = np.array([tuple(v) for v in values])
            keys = thin(frames.astype(float), values, tolerance, KEY_TURN if kind == "R" else None)
            for i in range(values.shape[1]):
                curve = action.fcurves.new(path, index=i, action_group=node.name)
                curve.keyframe_points.add(len(keys))
                curve.keyframe_points.foreach_set("co", np.stack([frames[keys], values[keys, i]], 1).ravel())
                curve.keyframe_points.foreach_set("interpolation", [1] * len(keys))
                curve.update()
        track = obj.animation_data_create().nla_tracks.new()
        track.name = name
        track.strips.new(name, 0, action).name = name
        track.mute = True


# --------------------------------------------------------------------------
# Assembly
# --------------------------------------------------------------------------

def build_drone(folder):
    """Parts, pictures, nodes and clips."""
    nodes = build_nodes()
    parts = list(dict.fromkeys(n.part for n in nodes if n.part))
    # Charts: one per opaque patch; the right arm and rotor reuse the left one's.
    charts, twin = [], {"arm_right": "arm_left", "rotor_right": "rotor_left"}
    by_name = {p.name: p for p in parts}
    for part in parts:
        if part.name not in twin:
            for p in part.patches:
                if p.material == "opaque":
                    charts += [p] + ([p.other] if p.other else [])
    density = lay_out(charts)
    for name, source in twin.items():
        for p, q in zip(by_name[name].patches, by_name[source].patches):
            p.box = q.box
            if p.other:
                p.other.box = q.other.box

    colour = np.zeros((ATLAS_SIZE, ATLAS_SIZE, 3), np.float32) + np.array(COLOURS["graphite"], np.float32)
    glow = np.zeros((ATLAS_SIZE, ATLAS_SIZE, 3), np.float32)
    welded = {}
    for k, part in enumerate(parts):
        mesh = welded[part] = Welded(part)
        if part.name in twin:
            continue
        shade, curve = mesh.occlusion(), mesh.curvature()
        for p, ids in zip(part.patches, mesh.ids):
            if p.material != "opaque":
                continue
            for q in [p] + ([p.other] if p.other else []):
                paint_patch(q, mesh, ids, shade, curve, k, colour, glow)
    small = ATLAS_SIZE // 2
    glow = glow.reshape(small, 2, small, 2, 3).mean((1, 3))
    materials = {
        "opaque": make_material("drone_shell", save_image("drone_colour", colour, folder, JPEG_QUALITY), 0.5,
                                emission=save_image("drone_glow", glow, folder, JPEG_QUALITY)),
        "mask": make_material("drone_grille", save_image("drone_grille", paint_mask_sheet(), folder), 0.55, "CLIP"),
        "blend": make_material("drone_glass", save_image("drone_glass", paint_blend_sheet(), folder), 0.12, "BLEND"),
    }
    meshes = {part: make_mesh(part.name, mesh, materials) for part, mesh in welded.items()}
    objects = {}
    start = hover_pose(0.0)
    for node in nodes:
        obj = objects[node.name] = bpy.data.objects.new(node.name, meshes.get(node.part))
        bpy.context.scene.collection.objects.link(obj)
        obj.parent = objects.get(node.parent)
        obj.rotation_mode = "QUATERNION"
        # At rest the file shows the first pose of the first clip.
        obj.location = node.at + Vector(start.offset.get(node.name, (0, 0, 0)))
        obj.rotation_quaternion = node.rest @ start.rotation.get(node.name, Quaternion())
        obj.scale = start.scale.get(node.name, (1, 1, 1))
    for order, (name, seconds) in enumerate(CLIPS):
        key_clip(objects, nodes, order + 1, name, seconds)
    print(f"drone: {len(nodes)} nodes, {len(meshes)} meshes, {len(charts)} charts, {density:.0f} texels per metre")


def main():
    """Builds everything in an empty scene and exports it."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.name = "drone"
    scene.render.fps = FPS
    scene.frame_start, scene.frame_end = 0, FPS * max(seconds for _, seconds in CLIPS)
    bpy.ops.preferences.addon_enable(module="io_scene_gltf2")
    with tempfile.TemporaryDirectory() as folder:
        build_drone(folder)
        scene.frame_set(0)
        os.makedirs(os.path.dirname(OUTPUT), exist_ok=True)
        bpy.ops.export_scene.gltf(
            filepath=os.path.abspath(OUTPUT), export_format="GLB", export_yup=True,
            export_texcoords=True, export_normals=True, export_tangents=False,
            export_colors=False, export_materials="EXPORT", export_image_format="AUTO",
            export_cameras=False, export_lights=False, export_extras=False,
            export_morph=False, export_skins=False,
            export_animations=True, export_nla_strips=True, export_force_sampling=False,
            export_frame_range=False)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
