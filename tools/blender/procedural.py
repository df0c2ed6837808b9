"""Numbers for procedural models: smooth curves, steps and noise. What the scripts beside this one share."""

import math

import numpy as np
from mathutils import Quaternion, Vector


def spline(xs, ys, x):
    """Natural cubic spline through (xs, ys): smooth profiles without lumps."""
    xs, ys = np.asarray(xs, float), np.asarray(ys, float)
    n, h = len(xs), np.diff(xs)
    a, b = np.eye(n), np.zeros(n)
    for i in range(1, n - 1):
        a[i, i - 1:i + 2] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
        b[i] = 6 * ((ys[i + 1] - ys[i]) / h[i] - (ys[i] - ys[i - 1]) / h[i - 1])
    m = np.linalg.solve(a, b)
    x = np.clip(np.asarray(x, float), xs[0], xs[-1])
    i = np.clip(np.searchsorted(xs, x) - 1, 0, n - 2)
    t, u = x - xs[i], xs[i + 1] - x
    return (m[i] * u**3 + m[i + 1] * t**3) / (6 * h[i]) \
        + (ys[i] / h[i] - m[i] * h[i] / 6) * u \
        + (ys[i + 1] / h[i] - m[i + 1] * h[i] / 6) * t


def smoothstep(a, b, x):
    """Hermite step from 0 at a to 1 at b (a may exceed b)."""
    t = np.clip((np.asarray(x, float) - a) / (b - a), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def normalised(v):
    """Unit vectors along the last axis."""
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12)


def turn(axis, degrees):
    """Rotation about X, Y or Z."""
    return Quaternion(Vector([float(axis == a) for a in "XYZ"]), math.radians(degrees))


class Noise:
    """Smooth value noise in 3D, the same for the same seed."""

    # The lattice is turned, so that surfaces along the axes do not show it.
    TURN = np.array(Quaternion((0.83, 0.31, -0.42, 0.19)).normalized().to_matrix(), np.float32)

    def __init__(self, seed):
        self.lattice = np.random.default_rng(seed).random(64 ** 3).astype(np.float32)

    def __call__(self, p, scale, seed=0):
        """Values in 0..1 with features of about `scale` metres at points p (x, y, z along the last axis)."""
        q = (np.asarray(p, np.float32) @ self.TURN) / np.float32(scale) + np.float32(17.3 * seed + 100.0)
        cell = np.floor(q)
        f = q - cell
        f = f * f * f * (f * (f * 6 - 15) + 10)
        c = cell.astype(np.int32)
        x0, y0, z0 = ((c[..., i] & 63) for i in range(3))
        x1, y1, z1 = (((c[..., i] + 1) & 63) for i in range(3))
        fx, fy, fz = f[..., 0], f[..., 1], f[..., 2]

        def row(y, z):
            base = (y << 6) + (z << 12)
            a = self.lattice[x0 + base]
            return a + (self.lattice[x1 + base] - a) * fx

        lo = row(y0, z0)
        lo += (row(y1, z0) - lo) * fy
        hi = row(y0, z1)
        hi += (row(y1, z1) - hi) * fy
        return lo + (hi - lo) * fz

    def fbm(self, p, scale, octaves=3, seed=0):
        """Sum of octaves, rescaled to 0..1 with mean 0.5."""
        total, weight = 0.0, 0.0
        for o in range(octaves):
            total = total + 0.5 ** o * self(p, scale / 2.03 ** o, seed + 7 * o)
            weight += 0.5 ** o
        return total / weight
