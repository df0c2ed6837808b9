"""Builds assets/models/whale.glb: a young humpback-like whale over a bit of sea bed.

Run from the repository root:

    blender --background --factory-startup --python tools/blender/whale.py

(With --threads 1 in front of --python the file is the same byte for byte every
time; otherwise Blender's own normals may differ in the last bit.)

Everything is procedural and deterministic: a hand-made loft profile becomes a
coarse quad cage, two Catmull-Clark steps make it smooth, noise evaluated at the
surface point of every texel paints it, and closed-form waves animate it.

Inside this script the axes are Blender's (metres, Z up) and the whale faces -Y;
the exporter turns that into glTF's Y up, facing +Z. `s` is the distance behind
the snout, so y = s - CENTRE.
"""

import math
import os
import sys
import tempfile

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector
from mathutils.bvhtree import BVHTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from procedural import Noise, normalised, spline  # noqa: E402

# --------------------------------------------------------------------------
# Constants
# --------------------------------------------------------------------------

OUTPUT = os.path.join("assets", "models", "whale.glb")
TEXTURE_SIZE = int(os.environ.get("WHALE_TEXTURE_SIZE", "2048"))   # smaller for drafts
SEABED_TEXTURE_SIZE = 512
JPEG_QUALITY = 93
SEED = 20240607

CENTRE = 3.0          # s of the point that lies over the origin
SWIM_HEIGHT = 2.30    # height of the body axis above the sea bed
FPS = 20
SWIM_FRAMES = 96      # 4.8 s
GLIDE_FRAMES = 140    # 7.0 s

# Body profile: s, top, bottom, half width, exponent of the cross section
# (below 1 is boxier, above 1 is more pointed).
PROFILE = np.array([
    # s     top    bottom  half   exponent
    [0.00, -0.040, -0.150, 0.075, 0.88],
    [0.06,  0.020, -0.220, 0.150, 0.87],
    [0.18,  0.072, -0.300, 0.245, 0.86],
    [0.40,  0.130, -0.402, 0.355, 0.85],
    [0.70,  0.205, -0.515, 0.462, 0.87],
    [1.00,  0.300, -0.608, 0.545, 0.90],
    [1.40,  0.430, -0.690, 0.640, 0.93],
    [1.80,  0.530, -0.730, 0.705, 0.96],
    [2.20,  0.590, -0.725, 0.730, 0.98],
    [2.60,  0.610, -0.680, 0.715, 1.00],
    [3.00,  0.590, -0.605, 0.660, 1.00],
    [3.40,  0.545, -0.515, 0.575, 1.02],
    [3.80,  0.480, -0.420, 0.475, 1.04],
    [4.20,  0.390, -0.335, 0.365, 1.06],
    [4.60,  0.300, -0.260, 0.262, 1.06],
    [5.00,  0.222, -0.196, 0.178, 1.04],
    [5.30,  0.142, -0.130, 0.136, 1.06],
    [5.55,  0.080, -0.076, 0.122, 1.14],
    [5.80,  0.024, -0.024, 0.085, 1.20],
])

STATIONS = np.array([
    0.00, 0.05, 0.14, 0.28, 0.47, 0.70, 0.94, 1.18, 1.42,
    1.64, 1.79, 1.94, 2.09, 2.24,            # pectoral root
    2.52, 2.88, 3.24, 3.57,
    3.80, 3.97, 4.14, 4.31,                  # dorsal fin root
    4.54, 4.78, 5.00,
    5.18, 5.33, 5.48, 5.63, 5.78,            # fluke root
])
ROWS = 9                        # quads from the belly line to the back line
AROUND = 2 * ROWS               # quads in a full ring
PECTORAL_STATIONS = (9, 13)
DORSAL_STATIONS = (18, 21)
FLUKE_STATIONS = (25, 29)
PECTORAL_ROW = 3                # the fin grows from the band between rows 3 and 4
FLUKE_ROW = 4

# Mouth line: s, angle from the belly line in degrees.
MOUTH = np.array([
    [0.00, 103.0], [0.20, 105.0], [0.50, 104.0], [0.80, 100.0],
    [1.02, 90.0], [1.20, 76.0], [1.42, 72.0], [1.90, 90.0], [6.0, 100.0],
])
MOUTH_END = 1.26
EYE_S, EYE_ROW = 1.19, 6.15

# Pectoral fin, root to tip: x, s, z (from the body axis), chord, thickness.
PECTORAL = np.array([
    [0.80, 1.985, -0.345, 0.55, 0.170],
    [1.00, 2.070, -0.408, 0.50, 0.128],
    [1.25, 2.190, -0.480, 0.47, 0.105],
    [1.55, 2.370, -0.555, 0.43, 0.085],
    [1.83, 2.590, -0.610, 0.37, 0.066],
    [2.06, 2.830, -0.640, 0.27, 0.046],
    [2.22, 3.060, -0.648, 0.09, 0.020],
])
# Fluke half, root to tip: x, s of leading edge, s of trailing edge, z, thickness.
FLUKE = np.array([
    [0.200, 5.275, 5.885, 0.000, 0.084],
    [0.350, 5.390, 5.960, 0.004, 0.074],
    [0.560, 5.520, 5.985, 0.014, 0.060],
    [0.790, 5.660, 5.985, 0.034, 0.046],
    [1.020, 5.835, 6.015, 0.062, 0.030],
    [1.180, 6.025, 6.065, 0.090, 0.012],
])
# Dorsal fin, root to tip: height above the back, s front, s back, thickness.
DORSAL = np.array([
    [0.060, 3.830, 4.300, 0.130],
    [0.150, 3.970, 4.315, 0.085],
    [0.235, 4.130, 4.355, 0.050],
    [0.280, 4.270, 4.400, 0.026],
])
CHORD_AT = np.array([0.0, 0.16, 0.42, 0.74, 1.0])
CHORD_THICKNESS = np.array([0.34, 0.92, 1.0, 0.55, 0.10])

# Texture atlas: chart -> (u0, v0, u1, v1).
CHARTS = {
    "body": (0.012, 0.012, 0.988, 0.650),
    "pectoral_l": (0.012, 0.668, 0.182, 0.972),
    "pectoral_r": (0.196, 0.668, 0.366, 0.972),
    "fluke_l": (0.380, 0.668, 0.620, 0.972),
    "fluke_r": (0.634, 0.668, 0.874, 0.972),
    "dorsal": (0.888, 0.668, 0.988, 0.800),
    "snout": (0.888, 0.814, 0.930, 0.864),
    "tail": (0.944, 0.814, 0.988, 0.864),
    "eye_l": (0.888, 0.878, 0.933, 0.923),
    "eye_r": (0.943, 0.878, 0.988, 0.923),
    "pectoral_l_tip": (0.888, 0.937, 0.906, 0.949),
    "pectoral_r_tip": (0.918, 0.937, 0.936, 0.949),
    "fluke_l_tip": (0.948, 0.937, 0.966, 0.949),
    "fluke_r_tip": (0.888, 0.961, 0.906, 0.973),
    "dorsal_tip": (0.918, 0.961, 0.936, 0.973),
}
CHART_NAMES = list(CHARTS)
DILATE = 12           # texels painted beyond every chart border

# Spine bones, parents first; the root sits at ROOT_S, between chest and spine_1.
ROOT_S = 2.40
SPINE = [
    # bone, s of its joint, s of its end, parent
    ("chest", 2.40, 1.80, "whale_root"),
    ("neck", 1.80, 1.20, "chest"),
    ("head", 1.20, 0.10, "neck"),
    ("spine_1", 2.40, 2.90, "whale_root"),
    ("spine_2", 2.90, 3.40, "spine_1"),
    ("spine_3", 3.40, 3.90, "spine_2"),
    ("spine_4", 3.90, 4.40, "spine_3"),
    ("spine_5", 4.40, 4.85, "spine_4"),
    ("spine_6", 4.85, 5.30, "spine_5"),
    ("fluke", 5.30, 5.80, "spine_6"),
]

# Colours (sRGB).
BACK = (0.155, 0.245, 0.350)
BACK_LIGHT = (0.275, 0.405, 0.520)
FLANK = (0.370, 0.515, 0.620)
BELLY = (0.900, 0.905, 0.870)
BELLY_COOL = (0.700, 0.775, 0.800)
GROOVE = (0.395, 0.470, 0.530)
SCAR = (0.640, 0.720, 0.760)


# --------------------------------------------------------------------------
# Small numeric tools
# --------------------------------------------------------------------------

noise = Noise(SEED)
fbm = noise.fbm


def smoothstep(a, b, x):
    """Hermite step from 0 at a to 1 at b (a may exceed b), in the precision of x: there are millions of texels."""
    t = np.clip((np.asarray(x) - a) / (b - a), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def bump(x, width):
    """Gaussian bell of the given width."""
    return np.exp(-np.square(np.asarray(x) / width))


def mix(a, b, t):
    """Blends colours a to b by the per-texel weight t."""
    t = np.asarray(t, np.float32)[:, None]
    return np.asarray(a, np.float32) * (1 - t) + np.asarray(b, np.float32) * t


# A fixed rotation, so that the noise lattice never lines up with the body.


# --------------------------------------------------------------------------
# Whale: cage
# --------------------------------------------------------------------------

def profile(s):
    """Top, bottom, half width and exponent of the body at s."""
    return [spline(PROFILE[:, 0], PROFILE[:, c], s) for c in range(1, 5)]


def axis_height(s):
    """Height of the body axis (relative to SWIM_HEIGHT) at s."""
    top, bottom, _, _ = profile(s)
    return 0.5 * (top + bottom)


def row_angles(s):
    """Angles (degrees from the belly line) of the ring rows 0..ROWS at s.

    In the head rows 4, 5 and 6 close up around the mouth line, so that the lip
    becomes real geometry; further back the rows are spread evenly."""
    even = np.linspace(0.0, 180.0, ROWS + 1)
    mouth = spline(MOUTH[:, 0], MOUTH[:, 1], s)
    gap = 8.0
    head = np.concatenate([
        np.linspace(0.0, mouth - gap, 5), [mouth],
        np.linspace(mouth + gap, 180.0, 4)])
    blend = float(smoothstep(1.75, 0.85, s))
    # At the fluke the middle band widens, so that the fluke root is not pinched.
    tail = np.concatenate([np.linspace(0.0, 66.0, 5), np.linspace(114.0, 180.0, 5)])
    fluke = float(smoothstep(4.70, 5.20, s))
    return even + (head - even) * blend + (tail - even) * fluke


def ring(s):
    """Half ring (rows 0..ROWS, on +X) of the body cage at s."""
    top, bottom, half, exponent = profile(s)
    widest = bottom + (top - bottom) * 0.47
    phi = np.radians(row_angles(s))
    upper = np.where(phi > math.pi / 2, top - widest, widest - bottom)
    x = half * np.abs(np.sin(phi)) ** exponent
    z = widest - np.cos(phi) * upper
    y = np.full_like(x, s - CENTRE)
    # The lip: the rostrum sits a little inside the lower jaw.
    lip = float(smoothstep(1.42, 0.95, s)) * float(smoothstep(-0.1, 0.25, s))
    scale = np.ones(ROWS + 1)
    scale[[3, 4, 5, 6, 7]] += lip * np.array([0.01, 0.035, -0.075, -0.045, -0.030])
    x *= scale
    # The chin reaches further forward than the rostrum.
    front = float(bump(s, 0.30))
    y += front * np.interp(np.arange(ROWS + 1), [0, 2, 4, 5, 6, 9],
                           [0.06, 0.00, -0.05, -0.01, 0.00, 0.05])
    x[0] = x[-1] = 0.0
    return np.stack([x, y, z], 1)


class Cage:
    """A coarse quad mesh with a chart and atlas coordinates per face corner."""

    def __init__(self):
        self.verts, self.faces, self.uvs, self.charts = [], [], [], []

    def add_vert(self, p):
        self.verts.append(tuple(float(c) for c in p))
        return len(self.verts) - 1

    def add_face(self, chart, corners, uvs):
        """Adds a face; uvs are 0..1 inside the chart."""
        u0, v0, u1, v1 = CHARTS[chart]
        self.faces.append(tuple(corners))
        self.uvs.append([(u0 + (u1 - u0) * u, v0 + (v1 - v0) * v) for u, v in uvs])
        self.charts.append(CHART_NAMES.index(chart))


def body_u(s):
    """Atlas position along the body: the head gets more texels than the tail."""
    s = np.asarray(s, float)
    return (1.55 * s - 0.0875 * s * s) / (1.55 * 5.78 - 0.0875 * 5.78 ** 2)


def body_s(u):
    """Inverse of body_u."""
    table = np.linspace(0.0, 5.78, 600)
    return np.interp(u, body_u(table), table)


def build_body(cage):
    """Adds the loft; returns the vertex grid [station][around]. Column j runs
    from the belly up the left (+X) side to the back and down the right side."""
    grid = []
    for s in STATIONS:
        half = ring(s)
        ids = [cage.add_vert(p) for p in half]
        ids += [cage.add_vert(half[k] * (-1, 1, 1)) for k in range(ROWS - 1, 0, -1)]
        grid.append(ids)

    holes = set()
    for lo, hi, rows in (
            (*PECTORAL_STATIONS, (PECTORAL_ROW, AROUND - 1 - PECTORAL_ROW)),
            (*FLUKE_STATIONS, (FLUKE_ROW, AROUND - 1 - FLUKE_ROW)),
            (*DORSAL_STATIONS, (ROWS - 1, ROWS))):
        holes |= {(i, j) for i in range(lo, hi) for j in rows}

    us = body_u(STATIONS)
    for i in range(len(STATIONS) - 1):
        for j in range(AROUND):
            if (i, j) in holes:
                continue
            k = (j + 1) % AROUND
            v0, v1 = j / AROUND, (j + 1) / AROUND
            cage.add_face("body",
                          (grid[i][j], grid[i + 1][j], grid[i + 1][k], grid[i][k]),
                          ((us[i], v0), (us[i + 1], v0), (us[i + 1], v1), (us[i], v1)))
    close_ring(cage, "snout", grid[0], flip=False)
    close_ring(cage, "tail", grid[-1], flip=True)
    return grid


def close_ring(cage, chart, ids, flip):
    """Closes an end of the loft with strips between the left and right rows."""
    def uv(j):
        k = j if j <= ROWS else AROUND - j
        wide = 0.5 * math.sin(math.pi * k / ROWS) * (1 if j <= ROWS else -1)
        return (0.5 + wide, k / ROWS)

    for k in range(ROWS):
        corners = [k, k + 1, AROUND - k - 1, (AROUND - k) % AROUND]
        corners = list(dict.fromkeys(corners))
        if flip:
            corners.reverse()
        cage.add_face(chart, [ids[c] for c in corners], [uv(c) for c in corners])


def build_fin(cage, chart, root, rings, flip):
    """Grows a fin from the root loop through `rings` (each of the same count).

    A loop runs along one side of the fin from front to back and returns along
    the other side. The atlas chart is (around the loop, along the span)."""
    n = len(root)
    loops = [root] + [[cage.add_vert(p) for p in r] for r in rings]
    for a in range(len(loops) - 1):
        va, vb = a / (len(loops) - 1), (a + 1) / (len(loops) - 1)
        for j in range(n):
            k = (j + 1) % n
            u0, u1 = j / n, (j + 1) / n
            corners = [loops[a][j], loops[a][k], loops[a + 1][k], loops[a + 1][j]]
            uvs = [(u0, va), (u1, va), (u1, vb), (u0, vb)]
            if flip:
                corners.reverse()
                uvs.reverse()
            cage.add_face(chart, corners, uvs)
    return loops[-1]


def close_fin(cage, chart, loop, flip, shared_edges):
    """Closes the fin tip with quads between the two sides of the loop.

    shared_edges: the loop has one vertex on each edge (dorsal fin) instead of
    none (pectoral fins and fluke)."""
    n = len(loop)
    pairs = [(i, n - 1 - i) for i in range(n // 2)]
    if shared_edges:
        pairs = [(0, 0)] + [(i, n - i) for i in range(1, n // 2)] + [(n // 2, n // 2)]
    for q in range(len(pairs) - 1):
        (a, d), (b, c) = pairs[q], pairs[q + 1]
        u0, u1 = q / (len(pairs) - 1), (q + 1) / (len(pairs) - 1)
        corners, uvs = [a, b, c, d], [(u0, 0), (u1, 0), (u1, 1), (u0, 1)]
        keep = [i for i in range(4) if corners[i] not in corners[:i]]
        corners, uvs = [corners[i] for i in keep], [uvs[i] for i in keep]
        if flip:
            corners.reverse()
            uvs.reverse()
        cage.add_face(chart, [loop[c] for c in corners], uvs)


def fin_loop(upper, lower):
    """Front to back along the upper side, back to front along the lower one."""
    return list(upper) + list(lower[::-1])


def pectoral_rings(side):
    """Rings of a pectoral fin; side is +1 (left) or -1 (right)."""
    centre = np.stack([PECTORAL[:, 0], PECTORAL[:, 1] - CENTRE, PECTORAL[:, 2]], 1)
    tangent = normalised(np.gradient(centre, axis=0))
    back = np.array([0.0, 1.0, 0.0])
    rings = []
    for i, (c, t) in enumerate(zip(centre, tangent)):
        across = normalised(back - t * (t @ back) * min(1.0, 0.35 + 0.25 * i))
        # Nose-up at the root, washed out towards the tip.
        pitch = math.radians(10.0 - 2.0 * i)
        lift = normalised(np.cross(t, across))
        across, lift = (across * math.cos(pitch) - lift * math.sin(pitch),
                        lift * math.cos(pitch) + across * math.sin(pitch))
        chord, thick = PECTORAL[i, 3], PECTORAL[i, 4]
        along = (CHORD_AT - 0.45)[:, None] * chord * across
        off = (CHORD_THICKNESS * thick * 0.5)[:, None] * lift
        loop = np.array(fin_loop(c + along + off, c + along - off))
        rings.append(loop * (side, 1, 1))
    return rings


def fluke_rings(side):
    """Rings of one half of the fluke."""
    rings = []
    for x, front, back, z, thick in FLUKE:
        y = front + (back - front) * CHORD_AT - CENTRE
        h = CHORD_THICKNESS * thick * 0.5
        flat = np.full_like(y, x * side)
        rings.append(np.array(fin_loop(np.stack([flat, y, z + h], 1),
                                       np.stack([flat, y, z - h], 1))))
    return rings


def dorsal_rings():
    """Rings of the dorsal fin: front edge, left side, back edge, right side."""
    rings = []
    at = np.array([0.0, 0.12, 0.38, 0.70, 0.93, 1.0])
    half = np.array([0.0, 0.62, 1.0, 0.70, 0.22, 0.0])
    for height, front, back, thick in DORSAL:
        s = front + (back - front) * at
        z = profile(s)[0] + height - 0.02 * at
        x = half * thick * 0.5
        left = np.stack([x, s - CENTRE, z], 1)
        right = left * (-1, 1, 1)
        rings.append(np.concatenate([left, right[-2:0:-1]]))
    return rings


def build_cage():
    """The whole whale as a coarse closed quad mesh."""
    cage = Cage()
    grid = build_body(cage)

    def side_root(lo, hi, row, side):
        a, b = row + 1, row
        if side < 0:
            a, b = AROUND - a, AROUND - b
        return fin_loop([grid[i][a] for i in range(lo, hi + 1)],
                        [grid[i][b] for i in range(lo, hi + 1)])

    for side, tag in ((1, "l"), (-1, "r")):
        flip = side > 0
        root = side_root(*PECTORAL_STATIONS, PECTORAL_ROW, side)
        tip = build_fin(cage, f"pectoral_{tag}", root, pectoral_rings(side), flip)
        close_fin(cage, f"pectoral_{tag}_tip", tip, flip, False)
        root = side_root(*FLUKE_STATIONS, FLUKE_ROW, side)
        tip = build_fin(cage, f"fluke_{tag}", root, fluke_rings(side), flip)
        close_fin(cage, f"fluke_{tag}_tip", tip, flip, False)

    lo, hi = DORSAL_STATIONS
    left = [grid[i][ROWS - 1] for i in range(lo, hi + 1)]
    right = [grid[i][ROWS + 1] for i in range(lo, hi + 1)]
    root = [grid[lo][ROWS]] + left + [grid[hi][ROWS]] + right[::-1]
    tip = build_fin(cage, "dorsal", root, dorsal_rings(), False)
    close_fin(cage, "dorsal_tip", tip, False, True)
    return cage


# --------------------------------------------------------------------------
# Whale: smooth mesh
# --------------------------------------------------------------------------

class Skinned:
    """Arrays of the finished whale surface, before they become a Blender mesh."""

    def __init__(self, verts, faces, uvs, charts):
        self.verts, self.faces, self.uvs, self.charts = verts, faces, uvs, charts


def subdivide(cage):
    """Two Catmull-Clark steps by Blender's modifier; the chart of every face
    travels as a material index."""
    mesh = bpy.data.meshes.new("cage")
    used = sorted({v for f in cage.faces for v in f})
    index = {v: i for i, v in enumerate(used)}
    mesh.from_pydata([cage.verts[v] for v in used], [],
                     [[index[v] for v in f] for f in cage.faces])
    layer = mesh.uv_layers.new(name="UVMap")
    layer.data.foreach_set("uv", np.array([c for f in cage.uvs for c in f]).ravel())
    for _ in CHART_NAMES:
        mesh.materials.append(None)
    mesh.polygons.foreach_set("material_index", cage.charts)
    obj = bpy.data.objects.new("cage", mesh)
    bpy.context.scene.collection.objects.link(obj)
    mod = obj.modifiers.new("smooth", "SUBSURF")
    mod.levels = mod.render_levels = 2
    mod.uv_smooth = "NONE"
    smooth = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()

    verts = np.empty(len(smooth.vertices) * 3)
    smooth.vertices.foreach_get("co", verts)
    faces = np.empty(len(smooth.loops), int)
    smooth.loops.foreach_get("vertex_index", faces)
    uvs = np.empty(len(smooth.loops) * 2)
    smooth.uv_layers[0].data.foreach_get("uv", uvs)
    charts = np.empty(len(smooth.polygons), int)
    smooth.polygons.foreach_get("material_index", charts)
    bpy.data.objects.remove(obj)
    bpy.data.meshes.remove(mesh)
    return Skinned(verts.reshape(-1, 3), faces.reshape(-1, 4), uvs.reshape(-1, 4, 2), charts)


def vertex_normals(verts, faces):
    """Area-weighted smooth normals of a quad mesh."""
    d1 = verts[faces[:, 2]] - verts[faces[:, 0]]
    d2 = verts[faces[:, 3]] - verts[faces[:, 1]]
    face_normals = np.cross(d1, d2)
    normals = np.zeros_like(verts)
    for c in range(4):
        np.add.at(normals, faces[:, c], face_normals)
    return normalised(normals)


def chart_params(whale):
    """Per vertex: chart and its 0..1 coordinates (body wins over fins on the
    shared root loops, so fin roots have span 0)."""
    chart = np.zeros(len(whale.verts), int)
    uv = np.zeros((len(whale.verts), 2))
    boxes = np.array([CHARTS[c] for c in CHART_NAMES])[whale.charts][:, None]
    inside = (whale.uvs - boxes[..., :2]) / (boxes[..., 2:] - boxes[..., :2])
    # Highest chart first, so that the lowest one is written last.
    order = np.argsort(-whale.charts, kind="stable")
    for f in order:
        for corner in range(4):
            v = whale.faces[f, corner]
            chart[v], uv[v] = whale.charts[f], inside[f, corner]
    return chart, uv


def add_detail(whale):
    """Soft swelling around the eyes and scallops on the pectoral leading edge."""
    chart, uv = chart_params(whale)
    normals = vertex_normals(whale.verts, whale.faces)
    for side in (1, -1):
        eye = eye_frame(whale, side)[0]
        distance = np.linalg.norm(whale.verts - eye, axis=1)
        whale.verts += normals * (0.016 * bump(distance, 0.12))[:, None]
    for tag in ("l", "r"):
        sel = chart == CHART_NAMES.index(f"pectoral_{tag}")
        span, around = uv[sel, 1], uv[sel, 0] * 10
        edge = bump(np.minimum(np.abs(around + 0.5), np.abs(around - 9.5)), 1.0)
        wave = np.sin(span * 2 * math.pi * 6.0) * smoothstep(0.22, 0.36, span) \
            * smoothstep(1.0, 0.85, span)
        whale.verts[sel, 1] -= 0.014 * edge * wave


def eye_frame(whale, side):
    """Surface point, outward normal and forward direction at an eye."""
    chart, uv = chart_params(whale)
    row = EYE_ROW if side > 0 else AROUND - EYE_ROW
    goal = np.array([body_u(EYE_S), row / AROUND])
    gap = np.linalg.norm((uv - goal) * (6.0, 4.0), axis=1) + 99.0 * (chart != 0)
    near = np.argsort(gap)[:6]
    weight = 1.0 / (gap[near] + 1e-3)
    normals = vertex_normals(whale.verts, whale.faces)
    point = (whale.verts[near] * weight[:, None]).sum(0) / weight.sum()
    normal = normalised((normals[near] * weight[:, None]).sum(0))
    forward = np.array([0.0, -1.0, 0.0])
    forward = normalised(forward - normal * (forward @ normal))
    return point, normal, forward


def add_eyes(whale):
    """Adds the eyeballs: flattened half spheres set into the head."""
    rings, segments = 5, 18
    for side, tag in ((1, "l"), (-1, "r")):
        point, normal, forward = eye_frame(whale, side)
        up = np.cross(forward, normal) * side
        u0, v0, u1, v1 = CHARTS[f"eye_{tag}"]
        base = len(whale.verts)
        verts, disc = [], []
        for r in range(rings + 1):
            a = math.radians(8.0 + (92.0 - 8.0) * r / rings)
            for k in range(segments):
                b = 2 * math.pi * k / segments
                dx, dy = math.cos(b) * math.sin(a), math.sin(b) * math.sin(a)
                verts.append(point - normal * 0.012
                             + forward * dx * 0.062 + up * dy * 0.050
                             + normal * math.cos(a) * 0.036)
                disc.append((dx, dy))
        faces = [(r * segments + k, (r + 1) * segments + k,
                  (r + 1) * segments + (k + 1) % segments, r * segments + (k + 1) % segments)
                 for r in range(rings) for k in range(segments)]
        # The pole: quads across the innermost ring.
        for k in range(segments // 2 - 1):
            a, b = k, k + 1
            c, d = segments - 2 - k, (segments - 1 - k)
            faces.append((a, b, c, d))
        faces = np.array(faces)
        if side < 0:
            faces = faces[:, ::-1]
        disc = np.array(disc) * 0.5 + 0.5
        uvs = np.stack([u0 + (u1 - u0) * disc[:, 0], v0 + (v1 - v0) * disc[:, 1]], 1)
        whale.verts = np.concatenate([whale.verts, np.array(verts)])
        whale.uvs = np.concatenate([whale.uvs, uvs[faces]])
        whale.faces = np.concatenate([whale.faces, faces + base])
        whale.charts = np.concatenate(
            [whale.charts, np.full(len(faces), CHART_NAMES.index(f"eye_{tag}"))])


def occlusion(verts, normals, faces, reach, rays=40):
    """Share of the hemisphere that is open within `reach` metres, per vertex."""
    tree = BVHTree.FromPolygons(verts.tolist(), faces.tolist())
    rng = np.random.default_rng(SEED + 1)
    directions = normalised(rng.normal(size=(rays, 3)))
    result = np.ones(len(verts))
    for i, (p, n) in enumerate(zip(verts, normals)):
        hit = 0.0
        start = Vector(p + n * 0.012)
        d = normalised(directions + n * 1.02)      # cosine weighted
        for k in range(rays):
            found = tree.ray_cast(start, Vector(d[k]), reach)
            if found[3] is not None:
                hit += 1.0 - found[3] / reach
        result[i] = 1.0 - hit / rays
    return result


# --------------------------------------------------------------------------
# Texture: which surface point lies under which texel
# --------------------------------------------------------------------------

class Texels:
    """Surface attributes of every covered texel, plus the dilated border."""

    def __init__(self, size, verts, normals, faces, uvs, extra):
        """Rasterises the quads (as two triangles each) in atlas space."""
        self.size = size
        owner = np.full((size, size), -1, np.int32)
        bary = np.zeros((size, size, 2), np.float32)
        tris = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
        tri_uv = np.concatenate([uvs[:, [0, 1, 2]], uvs[:, [0, 2, 3]]]) * size - 0.5
        lo = np.maximum(np.ceil(tri_uv.min(1) - 0.01), 0).astype(int)
        hi = np.minimum(np.floor(tri_uv.max(1) + 0.01), size - 1).astype(int)
        e1, e2 = tri_uv[:, 1] - tri_uv[:, 0], tri_uv[:, 2] - tri_uv[:, 0]
        det = e1[:, 0] * e2[:, 1] - e1[:, 1] * e2[:, 0]
        for t in np.nonzero(np.abs(det) > 1e-9)[0]:
            x0, y0 = lo[t]
            x1, y1 = hi[t]
            if x1 < x0 or y1 < y0:
                continue
            dx = np.arange(x0, x1 + 1)[None, :] - tri_uv[t, 0, 0]
            dy = np.arange(y0, y1 + 1)[:, None] - tri_uv[t, 0, 1]
            b = (dx * e2[t, 1] - dy * e2[t, 0]) / det[t]
            c = (dy * e1[t, 0] - dx * e1[t, 1]) / det[t]
            inside = (b >= -1e-3) & (c >= -1e-3) & (b + c <= 1.001)
            window = owner[y0:y1 + 1, x0:x1 + 1]
            window[inside] = t
            bary[y0:y1 + 1, x0:x1 + 1][inside] = np.stack([b, c], -1)[inside]

        covered = owner >= 0
        self.index = np.full((size, size), -1, np.int32)
        self.index[covered] = np.arange(covered.sum())
        t = owner[covered]
        b, c = bary[covered].T
        weights = np.stack([1 - b - c, b, c], 1)
        corner = tris[t]

        def blend(values):
            return np.einsum("nk,nk...->n...", weights, values[corner].astype(np.float32))

        self.point = blend(verts)
        self.normal = normalised(blend(normals))
        self.extra = blend(extra)
        self.face = t % len(faces)
        y, x = np.nonzero(covered)
        self.uv = np.stack([(x + 0.5) / size, (y + 0.5) / size], 1).astype(np.float32)
        self._dilate()
        self._sort_cells()

    def _dilate(self):
        """Lets border texels outside the charts borrow their neighbour's colour."""
        for step in range(DILATE * max(1, self.size // 1024)):
            for axis, shift in ((0, 1), (0, -1), (1, 1), (1, -1)):
                rolled = np.roll(self.index, shift, axis)
                self.index = np.where(self.index < 0, rolled, self.index)

    def _sort_cells(self):
        """Sorts the texels into a 3D grid, for painting spots and strokes."""
        self.cell_size = 0.10
        cell = np.floor(self.point / self.cell_size).astype(np.int64) + 512
        key = (cell[:, 0] << 20) | (cell[:, 1] << 10) | cell[:, 2]
        self.order = np.argsort(key, kind="stable")
        self.keys = key[self.order]

    def near(self, p, radius):
        """Indices and distances of the texels within `radius` of p."""
        lo = np.floor((p - radius) / self.cell_size).astype(int) + 512
        hi = np.floor((p + radius) / self.cell_size).astype(int) + 512
        found = []
        for x in range(lo[0], hi[0] + 1):
            for y in range(lo[1], hi[1] + 1):
                base = (x << 20) | (y << 10)
                a = np.searchsorted(self.keys, base | lo[2], "left")
                b = np.searchsorted(self.keys, base | hi[2], "right")
                found.append(self.order[a:b])
        found = np.concatenate(found)
        d = np.linalg.norm(self.point[found] - p, axis=1)
        keep = d < radius
        return found[keep], d[keep]

    def at(self, chart, u, v):
        """Index of the texel at (u, v) of a chart."""
        u0, v0, u1, v1 = CHARTS[chart]
        x = int((u0 + (u1 - u0) * u) * self.size)
        y = int((v0 + (v1 - v0) * v) * self.size)
        return self.index[y, x]

    def image(self, colour, background):
        """The picture as float rows (bottom row first)."""
        out = np.empty((self.size, self.size, 3), np.float32)
        out[:] = background
        filled = self.index >= 0
        out[filled] = colour[self.index[filled]]
        return out


# --------------------------------------------------------------------------
# Whale: paint
# --------------------------------------------------------------------------

def paint_whale(tex, whale, eyes):
    """Base colour (sRGB) of every covered texel."""
    p, n = tex.point, tex.normal
    chart = whale.charts[tex.face]
    boxes = np.array([CHARTS[c] for c in CHART_NAMES], np.float32)[chart]
    inside = (tex.uv - boxes[:, :2]) / (boxes[:, 2:] - boxes[:, :2])
    is_body = chart == CHART_NAMES.index("body")

    dark = darkness(p, n, chart, inside)
    grain = fbm(p, 0.10, 3, 11)
    cloud = fbm(p * (1.0, 0.55, 1.0), 0.60, 4, 5)
    back = mix(BACK, BACK_LIGHT, np.clip(1.6 * (cloud - 0.5) + 0.35, 0, 1))
    pale = mix(BELLY_COOL, BELLY, np.clip(1.5 * (fbm(p, 0.45, 3, 3) - 0.5) + 0.72, 0, 1))
    colour = np.where((dark < 0.5)[:, None],
                      mix_rows(pale, np.array(FLANK, np.float32), smoothstep(0.0, 0.5, dark)),
                      mix_rows(np.array(FLANK, np.float32), back, smoothstep(0.5, 1.0, dark)))
    # A hint of rippling light from the surface on what faces upwards.
    colour *= (1.0 + (0.08 + 0.16 * dark) * caustics(p) * smoothstep(0.10, 0.80, n[:, 2]))[:, None]
    colour *= (1.0 + 0.10 * (grain - 0.5) + 0.05 * (noise(p, 0.02, 19) - 0.5))[:, None]

    paint_pleats(colour, p, inside, is_body, dark)
    paint_marks(colour, tex, dark, chart)
    paint_mouth(colour, p, inside, is_body)
    paint_tubercles(colour, tex)
    for tag, (point, normal, forward) in eyes.items():
        paint_eye(colour, tex, chart, tag, point, normal, forward)

    shade = tex.extra[:, 0]
    eye_texel = (chart == CHART_NAMES.index("eye_l")) | (chart == CHART_NAMES.index("eye_r"))
    shade = np.where(eye_texel, 1.0, np.maximum(shade, 0.3))
    tint = np.array([0.50, 0.58, 0.68], np.float32)
    colour *= tint + (1 - tint) * (shade ** 1.3)[:, None]
    return np.clip(colour, 0.0, 1.0)


def caustics(p, cell=0.34):
    """Bright web where two cells of a jittered, warped grid meet, seen from above."""
    warp = np.stack([noise(p, 0.32, 61), noise(p, 0.32, 62)], 1) - 0.5
    q = (p[:, :2] + 0.30 * warp) / (cell, 1.25 * cell)
    base = np.floor(q).astype(int)
    first = np.full(len(p), 9.0)
    second = first.copy()
    jitter = np.random.default_rng(SEED + 4).random((64, 64, 2))
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            at = base + (dx, dy)
            d = np.linalg.norm(at + 0.1 + 0.8 * jitter[at[:, 0] & 63, at[:, 1] & 63] - q, axis=1)
            second = np.minimum(second, np.maximum(first, d))
            first = np.minimum(first, d)
    web = smoothstep(0.17, 0.0, second - first) ** 1.5
    return web * (0.35 + 0.65 * smoothstep(0.35, 0.65, noise(p, 0.55, 67)))


def mix_rows(a, b, t):
    """Like mix, but a and b may have one colour per texel."""
    t = np.asarray(t, np.float32)[:, None]
    return a * (1 - t) + b * t


def darkness(p, n, chart, inside):
    """0 on the pale underside, 1 on the dark back: countershading whose border
    is broken up by noise, with its own pattern on each kind of fin."""
    s = p[:, 1] + CENTRE
    table = np.linspace(0.0, 6.2, 200)
    top, bottom, _, _ = profile(table)
    height = (p[:, 2] - np.interp(s, table, 0.5 * (top + bottom))) \
        / np.interp(s, table, 0.5 * (top - bottom))
    border = np.interp(s, [0.0, 0.5, 1.2, 1.8, 2.6, 3.2, 3.8, 4.4, 5.0, 5.6],
                       [-0.30, -0.22, -0.26, -0.20, -0.28, -0.36, -0.52, -0.74, -1.00, -1.10])
    warp = np.stack([fbm(p, 0.35, 2, 31), fbm(p, 0.35, 2, 37), fbm(p, 0.35, 2, 41)], 1) - 0.5
    q = (p + 0.22 * warp) * np.array([1.0, 0.62, 1.0], np.float32)
    big, mid, fine = fbm(q, 0.75, 2, 51), fbm(q, 0.22, 3, 53), fbm(q, 0.060, 3, 57)
    ragged = 0.75 * (big - 0.5) + 0.55 * (mid - 0.5) + 0.30 * (fine - 0.5)
    body = smoothstep(-0.22, 0.30, height - border + ragged)
    body = np.clip(body + 0.28 * smoothstep(0.2, 0.9, height) * (mid - 0.6), 0.0, 1.0)

    under = smoothstep(0.22, -0.30, n[:, 2] + 0.5 * (mid - 0.5))
    result = body
    for name in ("pectoral_l", "pectoral_r"):
        sel = (chart == CHART_NAMES.index(name)) | (chart == CHART_NAMES.index(name + "_tip"))
        tip = chart == CHART_NAMES.index(name + "_tip")
        span = np.where(tip, 1.0, inside[:, 1])
        around = np.where(tip, 0.0, inside[:, 0] * 10.0)
        edge = bump(np.minimum(around, np.abs(10.0 - around)), 1.1)
        above = 0.97 - 0.75 * smoothstep(0.45, 0.95, span + 1.1 * (mid - 0.5)) \
            - 0.55 * edge * smoothstep(0.10, 0.40, span + 1.5 * (mid - 0.5))
        below = 0.02 + 0.65 * smoothstep(0.58, 0.74, mid) * smoothstep(0.9, 0.3, span)
        fin = above + (below - above) * under
        result = np.where(sel, body + (fin - body) * smoothstep(0.02, 0.22, span), result)
    for name in ("fluke_l", "fluke_r"):
        sel = (chart == CHART_NAMES.index(name)) | (chart == CHART_NAMES.index(name + "_tip"))
        tip = chart == CHART_NAMES.index(name + "_tip")
        span = np.where(tip, 1.0, inside[:, 1])
        around = np.where(tip, 0.0, inside[:, 0] * 10.0)
        chord = np.where(around < 4.5, around / 4.0, (9.0 - around) / 4.0)
        rim = np.maximum(smoothstep(0.74, 0.98, chord), smoothstep(0.16, 0.0, chord))
        rim = np.maximum(rim, smoothstep(0.72, 1.0, span))
        above = 0.98 - 0.30 * smoothstep(0.55, 0.75, mid) * smoothstep(0.2, 0.9, span)
        below = 0.06 + 0.85 * np.clip(rim + 1.5 * (mid - 0.55), 0, 1) \
            + 0.5 * smoothstep(0.60, 0.72, fine)
        fin = above + (below - above) * under
        result = np.where(sel, body + (fin - body) * smoothstep(0.0, 0.20, span), result)
    return np.clip(result, 0.0, 1.0)


def paint_pleats(colour, p, inside, is_body, dark):
    """Ventral grooves: lines that follow the loft rows from the chin to the
    navel, with a lit upper and a shaded lower flank for each ridge."""
    s = body_s(inside[:, 0])
    row = inside[:, 1] * AROUND
    row = np.minimum(row, AROUND - row)
    wobble = 0.10 * (noise(p, 0.5, 71) - 0.5)
    phase = (row + wobble) / 0.36
    index = np.floor(phase + 0.5)
    offset = phase - index
    jitter = (np.sin(index * 12.9898) * 43758.5453) % 1.0
    reach = np.interp(s, [0.06, 0.5, 1.25, 1.9, 2.5, 3.0, 3.5], [3.7, 3.75, 3.55, 2.55, 2.3, 1.6, 0.2])
    mask = is_body * smoothstep(0.15, -0.15, index * 0.36 - reach + 0.5 * (jitter - 0.5)) \
        * smoothstep(0.05, 0.22, s - 0.12 * jitter) \
        * smoothstep(3.35, 3.0, s + 0.5 * jitter) \
        * (0.75 + 0.5 * (noise(p, 0.3, 73) - 0.5))
    line = bump(offset, 0.17) * mask
    ridge = np.sin(offset * 2 * math.pi) * mask * smoothstep(0.3, 1.6, row)
    colour *= (1.0 + 0.055 * -ridge)[:, None]
    colour[:] = mix_rows(colour, colour * np.array(GROOVE, np.float32) * 1.15, 0.85 * line)


def paint_mouth(colour, p, inside, is_body):
    """The mouth line in the lip crease, with a pale lip under it."""
    s = body_s(inside[:, 0])
    row = inside[:, 1] * AROUND
    row = np.minimum(row, AROUND - row)
    fade = is_body * smoothstep(MOUTH_END + 0.05, MOUTH_END - 0.10, s)
    width = 0.20 + 0.10 * smoothstep(0.2, 0.9, s)
    line = bump(row - 5.0, width) * fade
    shadow = bump(row - 4.75, 0.75) * fade
    lip = bump(row - 4.05, 0.42) * fade * (0.6 + 0.8 * (noise(p, 0.12, 83) - 0.5))
    colour[:] = mix_rows(colour, np.array(FLANK, np.float32) * 1.25, 0.28 * lip)
    colour *= (1.0 - 0.25 * shadow)[:, None]
    colour[:] = mix_rows(colour, np.array([0.060, 0.090, 0.130], np.float32), 0.92 * line)


def stroke(colour, tex, points, width, tint, alpha):
    """Paints a soft stroke along a 3D polyline that lies near the surface."""
    best = {}
    for i, q in enumerate(points):
        taper = math.sin(math.pi * (i + 0.7) / (len(points) + 0.4)) ** 0.6
        found, d = tex.near(q, width * 2.2)
        strength = bump(d, width * taper) * alpha
        for f, a in zip(found.tolist(), strength.tolist()):
            if a > best.get(f, 0.0):
                best[f] = a
    if best:
        f = np.fromiter(best.keys(), int)
        a = np.fromiter(best.values(), np.float32)
        colour[f] = mix_rows(colour[f], np.array(tint, np.float32), a)


def spot(colour, tex, q, radius, tint, alpha, ring=False):
    """Paints a soft disc, or a ring with a dark middle (a barnacle scar)."""
    found, d = tex.near(q, radius * 1.6)
    if not len(found):
        return
    a = smoothstep(radius * 1.25, radius * 0.75, d) * alpha
    colour[found] = mix_rows(colour[found], np.array(tint, np.float32), a)
    if ring:
        a = smoothstep(radius * 0.55, radius * 0.25, d) * 0.55 * alpha
        colour[found] = mix_rows(colour[found], np.array(BACK, np.float32), a)


def paint_marks(colour, tex, dark, chart):
    """Scars, pale speckles and barnacle patches: what makes it an individual."""
    rng = np.random.default_rng(SEED + 2)
    eye_charts = [CHART_NAMES.index(c) for c in ("eye_l", "eye_r")]
    skin = ~np.isin(chart, eye_charts)
    body_dark = np.nonzero((dark > 0.75) & (chart == 0))[0]
    any_dark = np.nonzero((dark > 0.55) & skin)[0]
    middle = np.nonzero((dark > 0.12) & (dark < 0.7) & skin)[0]

    for _ in range(34):
        i = rng.choice(body_dark)
        q, n = tex.point[i], tex.normal[i]
        d = np.array([rng.normal() * 0.5, 1.0, rng.normal() * 0.5])
        d = normalised(d - n * (d @ n))
        side = np.cross(n, d)
        length, bend = rng.uniform(0.12, 0.50), rng.normal() * 0.25
        t = np.linspace(-0.5, 0.5, int(length / 0.006)) * length
        line = q + t[:, None] * d + (bend * t * t / length)[:, None] * side
        stroke(colour, tex, line, rng.uniform(0.0035, 0.0065), SCAR, rng.uniform(0.18, 0.45))
    for _ in range(130):
        # Pale flecks come in loose groups of very different sizes.
        q = tex.point[rng.choice(any_dark)]
        near, _ = tex.near(q, rng.uniform(0.05, 0.18))
        for _ in range(rng.integers(1, 5)):
            spot(colour, tex, tex.point[rng.choice(near)],
                 0.0035 + 0.0085 * rng.random() ** 3, SCAR, rng.uniform(0.12, 0.42))
    for _ in range(420):
        q = tex.point[rng.choice(middle)]
        pale = rng.random() < 0.5
        spot(colour, tex, q, 0.004 + 0.012 * rng.random() ** 2, BELLY if pale else BACK_LIGHT,
             rng.uniform(0.20, 0.55))

    def cluster(centre, spread, count):
        """Barnacles around a point of the surface."""
        near, _ = tex.near(centre, spread)
        for _ in range(count if len(near) else 0):
            spot(colour, tex, tex.point[rng.choice(near)], rng.uniform(0.007, 0.014),
                 (0.80, 0.82, 0.78), rng.uniform(0.5, 0.85), ring=True)

    for tag in ("l", "r"):
        for v, u, spread, count in ((0.45, 0.97, 0.05, 5), (0.70, 0.97, 0.06, 8), (0.93, 0.98, 0.07, 9)):
            cluster(tex.point[tex.at(f"pectoral_{tag}", u, v)], spread, count)
        cluster(tex.point[tex.at(f"fluke_{tag}", 0.02, 0.93)], 0.07, 8)
    for side in (1, -1):
        for s, row, spread, count in ((0.10, 3.4, 0.09, 9), (0.30, 4.0, 0.07, 5), (0.16, 7.2, 0.06, 5)):
            v = row / AROUND if side > 0 else 1 - row / AROUND
            cluster(tex.point[tex.at("body", float(body_u(s)), v)], spread, count)


def paint_tubercles(colour, tex):
    """The knobs of a humpback's head, painted as small lit bumps."""
    rng = np.random.default_rng(SEED + 3)
    places = [(s, 9.0, 0.021) for s in np.arange(0.17, 1.0, 0.125)]
    for side in (1, -1):
        for s in np.arange(0.13, 0.95, 0.105):
            places.append((s, side * 7.75, 0.019))
        for s in np.arange(0.18, 0.95, 0.125):
            places.append((s, side * 6.75, 0.016))
        for s in np.arange(0.14, 0.80, 0.11):
            places.append((s, side * 3.95, 0.016))
    for s, row, radius in places:
        s += rng.normal() * 0.012
        row += rng.normal() * 0.05
        v = (row % AROUND) / AROUND
        i = tex.at("body", float(body_u(s)), v)
        q, n = tex.point[i], tex.normal[i]
        radius *= rng.uniform(0.85, 1.2)
        up = np.array([-0.17, -0.85, 0.51])
        up = normalised(up - n * (up @ n) * 0.6)
        found, d = tex.near(q, radius * 2.2)
        lit = ((tex.point[found] - q) @ up) / radius
        body = smoothstep(radius * 1.15, radius * 0.75, d)
        halo = smoothstep(radius * 2.1, radius, d) * smoothstep(0.0, -1.0, lit) * (1 - body)
        colour[found] *= (1 - 0.30 * halo + body * (0.10 + 0.30 * np.clip(lit, -0.8, 1)))[:, None]


def paint_eye(colour, tex, chart, tag, point, normal, forward):
    """Eyeball with iris, pupil and highlight; lids and a pale ring around it."""
    up = np.cross(forward, normal) * (1 if tag == "l" else -1)
    d = tex.point - point
    x, y = d @ forward, d @ up
    ball = chart == CHART_NAMES.index(f"eye_{tag}")
    bx, by = x[ball] / 0.062, y[ball] / 0.050
    r = np.hypot(bx - 0.04, by)
    c = np.tile(np.array([[0.035, 0.050, 0.070]], np.float32), (ball.sum(), 1))
    iris = smoothstep(0.80, 0.66, r) * smoothstep(0.40, 0.48, r)
    c = mix_rows(c, np.array([0.27, 0.20, 0.15], np.float32), iris * np.clip(0.65 - 0.5 * by, 0, 1))
    c = mix_rows(c, np.array([0.50, 0.56, 0.60], np.float32), smoothstep(0.86, 0.98, r) * 0.6)
    c = mix_rows(c, np.array([0.97, 0.98, 1.0], np.float32),
                 smoothstep(0.27, 0.19, np.hypot(bx - 0.22, by - 0.24)))
    c = mix_rows(c, np.array([0.55, 0.66, 0.75], np.float32),
                 0.7 * smoothstep(0.15, 0.08, np.hypot(bx + 0.24, by + 0.30)))
    # The upper lid lies over the top of the eyeball and calms the look.
    lid = smoothstep(0.52, 0.60, by + 0.16 * bx * bx - 0.10 * bx)
    c = mix_rows(c, np.array(BACK, np.float32) * 1.05, lid)
    c = mix_rows(c, np.array([0.03, 0.045, 0.065], np.float32),
                 0.8 * bump(by + 0.16 * bx * bx - 0.10 * bx - 0.52, 0.07))
    colour[ball] = c

    near = (np.linalg.norm(d, axis=1) < 0.32) & ~ball & (tex.normal @ normal > 0.2)
    x, y = x[near], y[near]
    c = colour[near]
    # Socket: a soft dark almond, drawn out to the front and back corners.
    almond = np.hypot(x / 0.150, (y - 0.10 * x) / 0.082)
    c = mix_rows(c, np.array(BACK, np.float32) * 0.62, 0.80 * smoothstep(1.55, 0.70, almond))
    # Lids: a lit upper fold with a crease over it and a thin pale lower rim.
    fold = np.hypot(x / 0.104, y / 0.074)
    upper = smoothstep(-0.006, 0.026, y)
    c = mix_rows(c, np.array(FLANK, np.float32) * 0.92, 0.42 * bump(fold - 0.98, 0.15) * upper)
    c = mix_rows(c, np.array(BELLY_COOL, np.float32), 0.36 * bump(fold - 0.90, 0.10) * smoothstep(0.004, -0.030, y))
    crease = np.hypot(x / 0.136, (y - 0.004) / 0.098)
    c = mix_rows(c, np.array([0.06, 0.09, 0.13], np.float32), 0.55 * bump(crease - 1.0, 0.065) * upper)
    e = np.hypot(x / 0.068, y / 0.056)
    c = mix_rows(c, np.array([0.05, 0.075, 0.11], np.float32), 0.95 * smoothstep(1.16, 1.02, e))
    colour[near] = c


# --------------------------------------------------------------------------
# Sea bed
# --------------------------------------------------------------------------

# Rocks: x, y, yaw, half extents. Kelp: x, y, height, fronds.
ROCKS = [
    (2.05, -0.55, 0.4, (0.54, 0.42, 0.34)),
    (2.62, -0.10, 1.9, (0.27, 0.31, 0.22)),
    (1.62, -1.12, 2.8, (0.20, 0.17, 0.13)),
    (-1.75, 1.10, 1.1, (0.60, 0.48, 0.40)),
    (-2.48, 0.62, 0.2, (0.30, 0.26, 0.24)),
    (-1.55, -1.75, 2.2, (0.36, 0.30, 0.22)),
    (0.55, 2.05, 0.9, (0.42, 0.36, 0.30)),
]
KELP = [
    (-2.35, 1.80, 1.60, 9),
    (2.65, 0.62, 1.20, 7),
    (-2.35, -1.45, 0.85, 7),
]
PEBBLES = 14
KELP_BONES = 4
ROCK_CELLS = 9
PEBBLE_CELLS = 3


def rock_sphere(n):
    """A unit sphere of six n by n quad patches: directions, faces, atlas coordinates.
    The atlas of the sea bed has the patches in its lower two thirds."""
    dirs, faces, uvs, found = [], [], [], {}
    frames = [((0, 0, 1), (1, 0, 0), (0, 1, 0)), ((0, 0, -1), (0, 1, 0), (1, 0, 0)),
              ((1, 0, 0), (0, 1, 0), (0, 0, 1)), ((-1, 0, 0), (0, 0, 1), (0, 1, 0)),
              ((0, 1, 0), (0, 0, 1), (1, 0, 0)), ((0, -1, 0), (1, 0, 0), (0, 0, 1))]
    for f, (w, u, v) in enumerate(frames):
        w, u, v = (np.array(c, float) for c in (w, u, v))
        ox, oy = (f % 3) / 3, (f // 3) / 3
        for j in range(n):
            for i in range(n):
                ids, uv = [], []
                for a, b in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)):
                    ta, tb = math.tan((a / n - 0.5) * math.pi / 2), math.tan((b / n - 0.5) * math.pi / 2)
                    d = normalised(w + u * ta + v * tb)
                    key = tuple(np.round(d, 5) + 0.0)
                    if key not in found:
                        found[key] = len(dirs)
                        dirs.append(d)
                    ids.append(found[key])
                    uv.append((ox + 0.018 + a / n * (1 / 3 - 0.036), oy + 0.018 + b / n * (1 / 3 - 0.036)))
                faces.append(ids)
                uvs.append(uv)
    return np.array(dirs), np.array(faces), np.array(uvs)


def rock_shape(dirs, extents, seed):
    """Rounded boulder: a smooth intersection of random half spaces."""
    rng = np.random.default_rng(SEED + 100 + seed)
    count = 26
    k = np.arange(count) + 0.5
    lift, around = 1 - 2 * k / count, k * math.pi * (3 - math.sqrt(5))
    flat = np.sqrt(1 - lift * lift)
    planes = np.stack([flat * np.cos(around), flat * np.sin(around), lift], 1)
    planes = normalised(planes + rng.normal(size=planes.shape) * 0.22)
    reach = rng.uniform(0.92, 1.22, count)
    facing = np.maximum(dirs @ planes.T / reach, 0.0)
    radius = (facing ** 6).sum(1) ** (-1 / 6)
    radius *= 1.0 + 0.10 * (fbm(dirs + 3.1 * seed, 0.7, 2, 91) - 0.5)
    p = dirs * radius[:, None] * np.array(extents)
    p[:, 2] += 0.45 * extents[2]
    return p


def seabed_colours(size, dirs, faces, uvs):
    """Shared texture of rocks (lower two thirds) and kelp (upper third)."""
    tex = Texels(size, dirs, dirs, faces, uvs, np.ones((len(dirs), 1)))
    d = tex.point
    rough, fine = fbm(d, 0.7, 4, 121), fbm(d, 0.13, 3, 127)
    c = mix((0.335, 0.370, 0.390), (0.520, 0.530, 0.510), np.clip(1.8 * (rough - 0.5) + 0.5, 0, 1))
    c = mix_rows(c, np.array([0.600, 0.590, 0.540], np.float32),
                 0.55 * smoothstep(0.2, 0.95, d[:, 2] + 0.7 * (rough - 0.5)))
    c = mix_rows(c, np.array([0.330, 0.430, 0.360], np.float32), 0.34 * smoothstep(0.50, 0.66, fbm(d, 0.6, 4, 131)))
    c = mix_rows(c, np.array([0.600, 0.420, 0.450], np.float32), 0.30 * smoothstep(0.60, 0.70, fbm(d, 0.42, 4, 137)))
    c *= (0.90 + 0.34 * (fine - 0.5) + 0.10)[:, None]
    c *= (0.58 + 0.42 * smoothstep(-0.65, 0.25, d[:, 2]))[:, None]
    picture = tex.image(np.clip(c, 0, 1), (0.42, 0.44, 0.44))

    v, u = np.mgrid[0:size, 0:size] / size
    t, across = np.clip((v - 0.70) / 0.28, 0, 1), np.abs(u - 0.5) * 2
    flat = np.stack([u * 3.0, t * 1.0, 0 * u], -1).reshape(-1, 3)
    streak = fbm(flat * (9.0, 1.5, 1.0), 1.0, 3, 141).reshape(size, size)
    leaf = mix((0.170, 0.245, 0.130), (0.430, 0.510, 0.240), (t * 0.85 + 0.6 * (streak - 0.5)).clip(0, 1).ravel())
    leaf = mix_rows(leaf, np.array([0.560, 0.590, 0.320], np.float32), (0.45 * bump(across, 0.10)).ravel())
    leaf *= (0.72 + 0.28 * smoothstep(0.0, 0.35, t)).ravel()[:, None]
    upper = v > 0.675
    picture[upper] = leaf.reshape(size, size, 3)[upper]
    return np.clip(picture, 0, 1)


def kelp_clump(index):
    """Fronds of one clump: verts, faces, atlas coordinates and bone weights."""
    x0, y0, height, count = KELP[index]
    rng = np.random.default_rng(SEED + 200 + index)
    verts, faces, uvs, weights = [], [], [], []
    steps, width_cells = 18, 4
    for f in range(count):
        a = 2 * math.pi * (f + rng.uniform(-0.3, 0.3)) / count
        tall = height * rng.uniform(0.50, 1.0)
        lean = rng.uniform(0.10, 0.28) * height
        root = np.array([x0 + 0.07 * math.cos(a), y0 + 0.07 * math.sin(a), -0.015])
        out = np.array([math.cos(a), math.sin(a), 0.0])
        side0 = np.array([-math.sin(a), math.cos(a), 0.0])
        wave, turn = rng.uniform(0, 6.28), rng.uniform(-0.9, 0.9)
        broad = rng.uniform(0.050, 0.075) * (0.6 + 0.4 * height)
        base = len(verts)
        for k in range(steps + 1):
            t = k / steps
            bend = turn * t
            side = side0 * math.cos(bend) + out * math.sin(bend)
            face = out * math.cos(bend) - side0 * math.sin(bend)
            c = root + np.array([0, 0, tall * t]) + out * lean * t ** 1.7 \
                + side0 * 0.05 * height * math.sin(3.2 * t + wave) * t
            half = broad * min(1.0, 0.16 + 2.6 * t) * math.sqrt(max(1e-4, 1.0 - t ** 3.2))
            for j in range(width_cells + 1):
                e = 2.0 * j / width_cells - 1.0
                ruffle = 0.34 * half * math.sin(17.0 * t * height + wave + 1.9 * np.sign(e)) * abs(e) ** 1.5
                verts.append(c + side * half * e + face * (ruffle - 0.25 * half * e * e))
                uvs.append((0.03 + 0.94 * j / width_cells, 0.70 + 0.28 * t))
                at = min(max((verts[-1][2] / height) * KELP_BONES - 0.5, 0.0), KELP_BONES - 1.0)
                b = min(int(at), KELP_BONES - 2)
                r = float(smoothstep(0.0, 1.0, at - b))
                weights.append({b: 1.0 - r, b + 1: r})
        for k in range(steps):
            for j in range(width_cells):
                i = base + k * (width_cells + 1) + j
                faces.append((i, i + 1, i + width_cells + 2, i + width_cells + 1))
    uvs = np.array(uvs)
    return np.array(verts), np.array(faces), uvs[np.array(faces)], weights


# --------------------------------------------------------------------------
# Blender objects
# --------------------------------------------------------------------------

def make_material(name, image, double_sided=False):
    """Metallic 0, roughness 0.6, base colour from the image."""
    mat = bpy.data.materials.new(name)
    mat.use_nodes = True
    mat.use_backface_culling = not double_sided
    shader = mat.node_tree.nodes["Principled BSDF"]
    shader.inputs["Metallic"].default_value = 0.0
    shader.inputs["Roughness"].default_value = 0.6
    node = mat.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = image
    mat.node_tree.links.new(node.outputs["Color"], shader.inputs["Base Color"])
    return mat


def save_jpeg(name, rows, folder):
    """Writes the picture as JPEG and returns it as a Blender image of that file."""
    height, width, _ = rows.shape
    scratch = bpy.data.images.new(name + "_scratch", width, height)
    pixels = np.ones((height, width, 4), np.float32)
    pixels[..., :3] = rows
    scratch.pixels.foreach_set(pixels.ravel())
    scene = bpy.context.scene
    scene.view_settings.view_transform = "Standard"
    scene.render.image_settings.file_format = "JPEG"
    scene.render.image_settings.color_mode = "RGB"
    scene.render.image_settings.quality = JPEG_QUALITY
    path = os.path.join(folder, name + ".jpg")
    scratch.save_render(path, scene=scene)
    bpy.data.images.remove(scratch)
    image = bpy.data.images.load(path)
    image.name = name
    return image


def make_object(name, verts, faces, uvs, material):
    """A smooth-shaded mesh object with one UV layer."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(verts.tolist(), [], [list(map(int, f)) for f in faces])
    layer = mesh.uv_layers.new(name="UVMap")
    layer.data.foreach_set("uv", np.asarray(uvs, np.float32).ravel())
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    mesh.materials.append(material)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def make_armature(name, bones):
    """bones: list of (name, head, tail, parent or None)."""
    data = bpy.data.armatures.new(name)
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    for bone, head, tail, parent in bones:
        b = data.edit_bones.new(bone)
        b.head, b.tail = head, tail
        b.parent = data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return obj


def bind(obj, armature, weights):
    """Writes vertex groups (at most four influences, sum one) and the modifier."""
    groups = {}
    for v, influences in enumerate(weights):
        top = sorted(influences.items(), key=lambda kv: -kv[1])[:4]
        top = [(b, w) for b, w in top if w > 0.004]
        total = sum(w for _, w in top)
        for bone, w in top:
            if bone not in groups:
                groups[bone] = obj.vertex_groups.new(name=bone)
            groups[bone].add([v], w / total, "REPLACE")
    obj.parent = armature
    obj.modifiers.new("armature", "ARMATURE").object = armature


# --------------------------------------------------------------------------
# Whale: skeleton and skin
# --------------------------------------------------------------------------

def body_point(s):
    """World position of the body axis at s (the height is smoothed a little)."""
    near = np.clip(s + np.linspace(-0.4, 0.4, 5), 0.0, 5.78)
    return Vector((0.0, s - CENTRE, SWIM_HEIGHT + float(np.mean(axis_height(near)))))


def whale_bones():
    """The bone table of the whale."""
    root = body_point(ROOT_S)
    bones = [("whale_root", root, root + Vector((0, 0, 0.35)), None)]
    for name, a, b, parent in SPINE:
        bones.append((name, body_point(a), body_point(b), parent))
    for side, tag in ((1, "l"), (-1, "r")):
        joints = [Vector((x * side, s - CENTRE, z + SWIM_HEIGHT))
                  for x, s, z in PECTORAL[[0, 2, 4, 6], :3]]
        joints[0] = joints[0] + (joints[0] - joints[1]) * 0.25
        parent = "chest"
        for i in range(3):
            name = f"pectoral_{i + 1}_{tag}"
            bones.append((name, joints[i], joints[i + 1], parent))
            parent = name
        z = SWIM_HEIGHT
        bones.append((f"fluke_tip_{tag}", Vector((0.34 * side, 5.62 - CENTRE, z)),
                      Vector((1.02 * side, 5.98 - CENTRE, z + 0.06)), "fluke"))
    return bones


def spine_weights(s):
    """Smooth partition of unity along the spine at s."""
    chain = sorted(SPINE, key=lambda e: 0.5 * (e[1] + e[2]))
    joints = [min(a, b) for _, a, b, _ in chain][1:]
    steps = [1.0] + [float(smoothstep(j - 0.34, j + 0.34, s)) for j in joints] + [0.0]
    return {bone: steps[i] - steps[i + 1] for i, (bone, _, _, _) in enumerate(chain)
            if steps[i] - steps[i + 1] > 1e-4}


def whale_weights(whale):
    """Bone weights of every vertex, from spine distance and fin span."""
    chart, uv = chart_params(whale)
    fins = {}
    for tag in ("l", "r"):
        name = f"pectoral_{tag}"
        mine = (whale.charts == CHART_NAMES.index(name))
        loop = np.intersect1d(whale.faces[mine], whale.faces[whale.charts == 0])
        fins[tag] = whale.verts[loop]
    weights = []
    for v, p in enumerate(whale.verts):
        name = CHART_NAMES[chart[v]]
        s = EYE_S if name.startswith("eye") else p[1] + CENTRE
        w = spine_weights(s)
        tag = name.split("_")[1] if "_" in name else ("l" if p[0] > 0 else "r")
        if name.startswith("pectoral"):
            t = 1.0 if name.endswith("tip") else uv[v, 1]
            own = 0.35 + 0.65 * float(smoothstep(0.0, 0.26, t))
            a, b = float(smoothstep(0.22, 0.52, t)), float(smoothstep(0.55, 0.85, t))
            w = {k: x * (1 - own) for k, x in w.items()}
            w[f"pectoral_1_{tag}"] = own * (1 - a)
            w[f"pectoral_2_{tag}"] = own * (a - b)
            w[f"pectoral_3_{tag}"] = own * b
        elif name.startswith("fluke"):
            t = 1.0 if name.endswith("tip") else uv[v, 1]
            own = float(smoothstep(0.12, 0.95, t))
            w = {k: x * (1 - own) for k, x in w.items()}
            w[f"fluke_tip_{tag}"] = own
        elif name == "body" and 1.2 < s < 2.7:
            d = np.linalg.norm(fins[tag] - p, axis=1).min()
            own = 0.35 * float(smoothstep(0.36, 0.0, d))
            w = {k: x * (1 - own) for k, x in w.items()}
            w[f"pectoral_1_{tag}"] = own
        weights.append(w)
    return weights


# --------------------------------------------------------------------------
# Animation
# --------------------------------------------------------------------------

def turn(axis, angle):
    """Rotation about an armature axis."""
    return Quaternion(Vector(axis), angle)


def key_action(armature, order, name, frames, pose):
    """Samples pose(phase) -> {bone: (rotation, offset)} (both in armature axes)
    into an action and pushes it on an NLA track of that name. The exporter
    sorts clips by action name, hence `order`."""
    action = bpy.data.actions.new(f"{armature.name}_{order}_{name}")
    times = np.arange(frames + 1)
    tracks = {}
    last = {}
    for f in times:
        # The last key repeats the first one exactly: a seamless loop.
        for bone, (rotation, offset) in pose(2 * math.pi * (f % frames) / frames).items():
            rest = armature.data.bones[bone].matrix_local.to_3x3()
            back = rest.transposed()
            q = (back @ rotation.to_matrix() @ rest).to_quaternion()
            if bone in last and q.dot(last[bone]) < 0:
                q.negate()
            last[bone] = q
            path = f'pose.bones["{bone}"].'
            for i in range(4):
                tracks.setdefault((bone, path + "rotation_quaternion", i), []).append(q[i])
            if offset is not None:
                local = back @ Vector(offset)
                for i in range(3):
                    tracks.setdefault((bone, path + "location", i), []).append(local[i])
    for (bone, path, i), values in tracks.items():
        curve = action.fcurves.new(path, index=i, action_group=bone)
        curve.keyframe_points.add(len(values))
        curve.keyframe_points.foreach_set("co", np.stack([times, values], 1).ravel())
        curve.keyframe_points.foreach_set("interpolation", [1] * len(values))
        curve.update()
    data = armature.animation_data_create()
    track = data.nla_tracks.new()
    track.name = name
    track.strips.new(name, 0, action).name = name


def chain_pose(height, lateral, extra):
    """Local bone rotations that lay the spine along height(s) and lateral(s).

    extra: additional local rotations by bone."""
    pose, world = {}, {}
    for bone, a, b, parent in [("whale_root", ROOT_S - 0.5, ROOT_S + 0.4, None)] + SPINE:
        a, b = min(a, b), max(a, b)
        pitch = math.atan2(height(b) - height(a), b - a)
        yaw = -math.atan2(lateral(b) - lateral(a), b - a)
        world[bone] = (pitch, yaw)
        up = world.get(parent, (0.0, 0.0))
        rotation = turn((1, 0, 0), pitch - up[0]) @ turn((0, 0, 1), yaw - up[1])
        pose[bone] = (rotation, None)
    for bone, rotation in extra.items():
        base = pose[bone][0] if bone in pose else Quaternion()
        pose[bone] = (rotation @ base, None)
    return pose


def fin_pose(side, flap, sweep, twist):
    """Rotation of a pectoral bone: flap up, sweep forward, nose up (radians)."""
    return turn((0, 1, 0), -side * flap) @ turn((0, 0, 1), -side * sweep) @ turn((1, 0, 0), -twist)


def swim_pose(phase):
    """Slow dorsoventral swimming: a wave that grows towards the fluke."""
    def amplitude(s):
        return 0.030 + 0.012 * max(0.0, 1.6 - s) + 0.43 * max(0.0, (s - 1.5) / 4.3) ** 1.9

    def height(s):
        return amplitude(s) * math.sin(phase - 2 * math.pi * (s - ROOT_S) / 6.6)

    extra = {}
    for side, tag in ((1, "l"), (-1, "r")):
        for i, (flap, sweep, twist, lag) in enumerate(
                ((0.13, 0.11, 0.10, 0.0), (0.12, 0.05, 0.07, 0.7), (0.14, 0.04, 0.05, 1.4))):
            a = phase - lag + 0.6
            extra[f"pectoral_{i + 1}_{tag}"] = fin_pose(
                side, flap * math.sin(a) - 0.02, sweep * math.cos(a), twist * math.cos(a + 0.3))
        # The fluke tips trail behind the stroke.
        lag = 2 * math.pi * (5.7 - ROOT_S) / 6.6
        extra[f"fluke_tip_{tag}"] = turn((0, 1, 0), side * 0.17 * math.cos(phase - lag)) \
            @ turn((1, 0, 0), 0.14 * math.cos(phase - lag - 0.5))
    lag = 2 * math.pi * (5.55 - ROOT_S) / 6.6
    extra["fluke"] = turn((1, 0, 0), 0.25 * math.cos(phase - lag - 0.6))
    pose = chain_pose(height, lambda s: 0.0, extra)
    surge = 0.035 * math.sin(2 * phase)
    pose["whale_root"] = (pose["whale_root"][0], (0.0, surge, 0.055 * math.sin(phase - 0.5)))
    return pose


def glide_pose(phase):
    """A slow banking glide: rolls to one side and the other, bending into it."""
    bank = math.sin(phase)
    bend = math.sin(phase - 0.45)

    def lateral(s):
        return -0.085 * bend * ((s - ROOT_S) / 3.0) ** 2

    def height(s):
        return 0.055 * math.sin(2 * phase - 1.2 * (s - ROOT_S)) * max(0.0, (s - 2.2) / 3.6) \
            + 0.030 * ((s - ROOT_S) / 3.0) ** 2

    extra = {}
    for side, tag in ((1, "l"), (-1, "r")):
        for i in range(3):
            low = side * math.sin(phase - 0.35 * i)      # positive: this side goes down
            flap = (0.12, 0.07, 0.06)[i] + (0.13, 0.06, 0.05)[i] * low
            extra[f"pectoral_{i + 1}_{tag}"] = fin_pose(
                side, flap, (-0.10, -0.04, -0.03)[i] * (1 + 0.6 * low), 0.06 * low)
        extra[f"fluke_tip_{tag}"] = turn((0, 1, 0), side * 0.06 * math.sin(2 * phase - 2.4))
    for i in range(2, 7):
        extra[f"spine_{i}"] = turn((0, 1, 0), -0.035 * math.sin(phase - 0.25 * i))
    extra["head"] = turn((0, 1, 0), 0.05 * math.sin(phase + 0.3))
    pose = chain_pose(height, lateral, extra)
    rotation = turn((0, 0, 1), 0.05 * math.cos(phase)) @ turn((0, 1, 0), 0.36 * bank) @ pose["whale_root"][0]
    pose["whale_root"] = (rotation, (0.16 * bank, 0.0, 0.10 - 0.06 * math.cos(2 * phase)))
    return pose


def kelp_pose(phase):
    """Sway of the kelp: each bone lags behind the one below it."""
    out = {}
    for c in range(len(KELP)):
        for b in range(KELP_BONES):
            a = phase - 0.75 * b - 1.9 * c
            rotation = turn((0, 1, 0), (0.045 + 0.035 * b) * math.sin(a) + 0.03) \
                @ turn((1, 0, 0), (0.025 + 0.02 * b) * math.sin(a + 1.1))
            out[f"kelp_{c + 1}_{b + 1}"] = (rotation, None)
    return out


# --------------------------------------------------------------------------
# Assembly
# --------------------------------------------------------------------------

def build_whale(folder):
    """Mesh, texture, skeleton and clips of the whale."""
    whale = subdivide(build_cage())
    add_detail(whale)
    eyes = {tag: eye_frame(whale, side) for side, tag in ((1, "l"), (-1, "r"))}
    add_eyes(whale)
    normals = vertex_normals(whale.verts, whale.faces)
    shade = occlusion(whale.verts, normals, whale.faces, 0.7)
    tex = Texels(TEXTURE_SIZE, whale.verts, normals, whale.faces, whale.uvs, shade[:, None])
    colour = paint_whale(tex, whale, eyes)
    image = save_jpeg("whale_colour", tex.image(colour, FLANK), folder)

    armature = make_armature("whale_armature", whale_bones())
    obj = make_object("whale", whale.verts + (0, 0, SWIM_HEIGHT), whale.faces, whale.uvs,
                      make_material("whale", image))
    bind(obj, armature, whale_weights(whale))
    key_action(armature, 1, "swim", SWIM_FRAMES, swim_pose)
    key_action(armature, 2, "glide", GLIDE_FRAMES, glide_pose)


def grounded_rock(dirs, faces, uvs, extents, yaw, seed):
    """A boulder turned by yaw and cut off just below the ground."""
    p = rock_shape(dirs, extents, seed) @ np.array(Matrix.Rotation(yaw, 3, "Z").transposed())
    p[:, 2] = np.maximum(p[:, 2], -0.02)
    keep = (p[faces][:, :, 2] > -0.0199).any(1)
    used = np.unique(faces[keep])
    remap = np.full(len(p), -1)
    remap[used] = np.arange(len(used))
    return p[used], remap[faces[keep]], uvs[keep]


def build_pebbles(material):
    """Small stones around the rocks, in one mesh."""
    rng = np.random.default_rng(SEED + 5)
    dirs, faces, uvs = rock_sphere(PEBBLE_CELLS)
    verts, quads, coords, count = [], [], [], 0
    for i in range(PEBBLES):
        x, y, _, extents = ROCKS[i % len(ROCKS)]
        away, at = rng.uniform(1.15, 1.9) * max(extents), rng.uniform(0, 2 * math.pi)
        size = rng.uniform(0.045, 0.10)
        shape = size * rng.uniform((0.8, 0.8, 0.5), (1.3, 1.2, 0.8))
        p, f, t = grounded_rock(dirs, faces, uvs, shape, at, 40 + i)
        verts.append(p + (x + away * math.cos(at), y + away * math.sin(at), 0.0))
        quads.append(f + count)
        coords.append(t)
        count += len(p)
    make_object("pebbles", np.concatenate(verts), np.concatenate(quads),
                np.concatenate(coords), material)


def build_seabed(folder):
    """Rocks (static) and kelp (skinned to its own armature)."""
    dirs, faces, uvs = rock_sphere(ROCK_CELLS)
    image = save_jpeg("seabed_colour", seabed_colours(SEABED_TEXTURE_SIZE, dirs, faces, uvs), folder)
    rock = make_material("rock", image)
    for i, (x, y, yaw, extents) in enumerate(ROCKS):
        p, f, t = grounded_rock(dirs, faces, uvs, extents, yaw, i)
        make_object(f"rock_{i + 1}", p, f, t, rock).location = (x, y, 0.0)
    build_pebbles(rock)

    bones = []
    for c, (x, y, height, _) in enumerate(KELP):
        for b in range(KELP_BONES):
            bones.append((f"kelp_{c + 1}_{b + 1}", (x, y, height * b / KELP_BONES),
                          (x, y, height * (b + 1) / KELP_BONES),
                          f"kelp_{c + 1}_{b}" if b else None))
    armature = make_armature("kelp_armature", bones)
    leaf = make_material("kelp", image, double_sided=True)
    for c in range(len(KELP)):
        verts, quads, quv, weights = kelp_clump(c)
        obj = make_object(f"kelp_{c + 1}", verts, quads, quv, leaf)
        bind(obj, armature, [{f"kelp_{c + 1}_{b + 1}": w for b, w in e.items()} for e in weights])
    key_action(armature, 1, "swim", SWIM_FRAMES, kelp_pose)
    key_action(armature, 2, "glide", GLIDE_FRAMES, kelp_pose)


def main():
    """Builds everything in an empty scene and exports it."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.name = "whale"
    scene.render.fps = FPS
    scene.frame_start, scene.frame_end = 0, max(SWIM_FRAMES, GLIDE_FRAMES)
    bpy.ops.preferences.addon_enable(module="io_scene_gltf2")
    with tempfile.TemporaryDirectory() as folder:
        build_whale(folder)
        build_seabed(folder)
        scene.frame_set(0)
        os.makedirs(os.path.dirname(OUTPUT), exist_ok=True)
        bpy.ops.export_scene.gltf(
            filepath=os.path.abspath(OUTPUT), export_format="GLB", export_yup=True,
            export_texcoords=True, export_normals=True, export_tangents=False,
            export_colors=False, export_materials="EXPORT", export_image_format="AUTO",
            export_cameras=False, export_lights=False, export_extras=False,
            export_morph=False, export_skins=True, export_all_influences=False,
            export_animations=True, export_nla_strips=True, export_force_sampling=True,
            export_frame_range=False, export_optimize_animation_size=True,
            export_def_bones=False)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
