"""The families of `tools/bench cpu --only training`: values with their gradients, and whole steps.

As in families.py, but that a reference gives several arrays: the value or loss, then gradients, or what a step has
written.  Of what is written, the difference to what was there before is compared; `written` gives its operands.
"""
import math

import numpy as np

from families import DIV, ERF, EXP, Family, erf, gelu


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def softmax_back(y, dy):
    return y * (dy - (dy * y).sum(-1, keepdims=True))


def layer_norm(x, w, b):
    d = x - x.mean(-1, keepdims=True)
    s = 1 / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5)
    return d * s * w + b, (d * s, s, w)


def layer_norm_back(saved, dy):
    """Gradients of x, w and b."""
    h, s, w = saved
    d = dy * w
    rows = tuple(range(dy.ndim - 1))
    dx = s * (d - d.mean(-1, keepdims=True) - h * (d * h).mean(-1, keepdims=True))
    return dx, (dy * h).sum(rows), dy.sum(rows)


def gelu_slope(x):
    return 0.5 * (1 + erf(x / math.sqrt(2))) + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def cross_entropy(x, t):
    """The mean loss, and the gradient of x."""
    p = softmax(x)
    rows = np.arange(len(t))
    loss = -np.log(p[rows, t]).mean()
    p[rows, t] -= 1
    return np.asarray(loss), p / len(t)


class Training(Family):
    group = "training"
    peers = ("torch-whole",)
    cancels = True


class Rows(Training):
    """x[R,C], ..., dy[R,C]; gelu's sizes."""
    sizes = ((500, 1000), (2048, 2048), (1999, 4099))
    vectors = 0  # operands [C] between
    passes = 4  # arrays [R,C] that are read or written at least

    def inputs(self, size, rng):
        return [rng.standard_normal(size), *rng.standard_normal((self.vectors, size[1])), rng.standard_normal(size)]

    def bytes(self, size, item):
        return item * self.passes * size[0] * size[1]

    def flops(self, size):
        return 2 * self.places * size[0] * size[1]


class SoftmaxGrad(Rows):
    name = "softmax_grad"
    places = EXP + 8

    def reference(self, x, dy):
        y = softmax(x)
        return [y, softmax_back(y, dy)]


class LayerNormGrad(Rows):
    name = "layer_norm_grad"
    vectors = 2
    places = 14

    def reference(self, x, w, b, dy):
        y, saved = layer_norm(x, w, b)
        return [y, *layer_norm_back(saved, dy)]


class RMSNormGrad(Rows):
    name = "rms_norm_grad"
    vectors = 1
    places = 9

    def reference(self, x, w, dy):
        s = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
        h, d = x * s, dy * w
        return [h * w, s * (d - h * (d * h).mean(-1, keepdims=True)), (dy * h).sum(0)]


class GeluGrad(Rows):
    name = "gelu_grad"
    places = ERF + EXP + 6

    def reference(self, x, dy):
        return [gelu(x), dy * gelu_slope(x)]


class CrossEntropyGrad(Training):
    name = "cross_entropy_grad"
    sizes = ((511, 1000), (2048, 4096), (512, 50257))

    def inputs(self, size, rng):
        return [rng.standard_normal(size) * 2, rng.integers(0, size[1], size[0])]

    def reference(self, x, t):
        return cross_entropy(x, t)

    def bytes(self, size, item):
        return item * 2 * size[0] * size[1] + 8 * size[0]

    def flops(self, size):
        return 2 * (EXP + 5) * size[0] * size[1]


class Block(Training):
    """A block of a transformer with norms in front, heads of 64."""
    name = "block_grad"
    sizes = ((3, 33, 128), (4, 64, 256), (2, 128, 768))  # B, T, C
    streams = None

    def inputs(self, size, rng):
        c = size[2]
        norm = [1 + 0.1 * rng.standard_normal(c), 0.1 * rng.standard_normal(c)]

        def affine(i, o):
            return [rng.standard_normal((i, o)) / math.sqrt(i), 0.1 * rng.standard_normal(o)]

        return [*norm, *affine(c, 3 * c), *affine(c, c), *norm[::-1], *affine(c, 4 * c), *affine(4 * c, c),
                rng.standard_normal(size), rng.standard_normal(size)]

    def reference(self, n1, b1, wq, bq, wp, bp, n2, b2, wu, bu, wd, bd, x, dy):
        b, t, c = x.shape
        rows = (0, 1)

        def heads(a):
            return a.reshape(b, t, c // 64, 64).swapaxes(1, 2)

        def joined(a):
            return a.swapaxes(1, 2).reshape(b, t, c)

        def weights(a, d):
            return a.reshape(-1, a.shape[-1]).T @ d.reshape(-1, d.shape[-1])

        normed, saved1 = layer_norm(x, n1, b1)
        q, k, v = (heads(a) for a in np.split(normed @ wq + bq, 3, 2))
        p = softmax(q @ k.swapaxes(2, 3) / 8)
        mixed = joined(p @ v)
        h = x + mixed @ wp + bp
        normed2, saved2 = layer_norm(h, n2, b2)
        wide = normed2 @ wu + bu
        y = h + gelu(wide) @ wd + bd

        dwide = dy @ wd.T * gelu_slope(wide)
        dh, dn2, db2 = layer_norm_back(saved2, dwide @ wu.T)
        dh = dh + dy
        dmixed = heads(dh @ wp.T)
        ds = softmax_back(p, dmixed @ v.swapaxes(2, 3)) / 8
        dqkv = np.concatenate([joined(ds @ k), joined(ds.swapaxes(2, 3) @ q), joined(p.swapaxes(2, 3) @ dmixed)], 2)
        dx, dn1, db1 = layer_norm_back(saved1, dqkv @ wq.T)
        return [y, dn1, db1, weights(normed, dqkv), dqkv.sum(rows), weights(mixed, dh), dh.sum(rows), dn2, db2,
                weights(normed2, dwide), dwide.sum(rows), weights(gelu(wide), dy), dy.sum(rows), dx + dh]

    def bytes(self, size, item):
        b, t, c = size
        return item * (4 * b * t * c + 24 * c * c)

    def flops(self, size):
        b, t, c = size
        return 3 * b * t * c * (24 * c + 4 * t)


class MLP(Training):
    """784-1024-10: a step on (batch, 784, 1024, 10)."""
    sizes = ((37, 784, 1024, 10), (64, 784, 1024, 10), (256, 784, 1024, 10))
    streams = None
    written = range(4)

    def inputs(self, size, rng):
        n, i, h, o = size
        return [rng.standard_normal((i, h)) * math.sqrt(2 / i), 0.1 * rng.standard_normal(h),
                rng.standard_normal((h, o)) * math.sqrt(2 / h), 0.1 * rng.standard_normal(o),
                rng.standard_normal((n, i)), rng.integers(0, o, n)]

    def gradients(self, w1, b1, w2, b2, x, t):
        h = np.maximum(x @ w1 + b1, 0)
        loss, d2 = cross_entropy(h @ w2 + b2, t)
        d1 = d2 @ w2.T * (h > 0)
        return loss, [x.T @ d1, d1.sum(0), h.T @ d2, d2.sum(0)]

    def bytes(self, size, item):
        n, i, h, o = size
        return item * (2 * (i * h + h * o) + n * (i + 2 * h))

    def flops(self, size):
        n, i, h, o = size
        return 2 * n * (2 * i * h + 3 * h * o)


class MLPSgd(MLP):
    name = "mlp_sgd"

    def reference(self, *operands):
        loss, gradients = self.gradients(*operands)
        return [loss, *(p - 0.05 * g for p, g in zip(operands, gradients))]


class MLPAdam(MLP):
    """The tenth step."""
    name = "mlp_adam"

    def inputs(self, size, rng):
        operands = super().inputs(size, rng)
        return [*operands, *(1e-3 * rng.standard_normal(p.shape) for p in operands[:4]),
                *(1e-6 * rng.uniform(0.5, 1.5, p.shape) for p in operands[:4])]

    def reference(self, *operands):
        loss, gradients = self.gradients(*operands[:6])
        return [loss, *(adam(p, g, m, v, 0)
                        for p, g, m, v in zip(operands, gradients, operands[6:10], operands[10:]))]

    def bytes(self, size, item):
        n, i, h, o = size
        return item * (6 * (i * h + h * o) + n * (i + 2 * h))


def adam(p, g, m, v, decay):
    """Parameters behind step 10."""
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    change = 1e-3 / (1 - 0.9**10) * m / (np.sqrt(v) / math.sqrt(1 - 0.999**10) + 1e-8)
    return p * (1 - 1e-3 * decay) - change


class AdamWMany(Training):
    """The tenth step over 200 parameters: 50 layers [C,4C], [4C], [4C,C], [C]."""
    name = "adamw_many"
    sizes = ((33,), (64,), (128,))
    written = range(200)

    def inputs(self, size, rng):
        c = size[0]
        shapes = [(c, 4 * c), (4 * c,), (4 * c, c), (c,)] * 50
        make = rng.standard_normal
        return [*map(make, shapes), *map(make, shapes), *(0.1 * make(s) for s in shapes),
                *(0.01 * make(s) ** 2 for s in shapes)]

    def reference(self, *operands):
        return [adam(*operands[i::200], 0.01) for i in range(200)]

    def numel(self, size):
        return 50 * (8 * size[0] * size[0] + 5 * size[0])

    def bytes(self, size, item):
        return item * 7 * self.numel(size)

    def flops(self, size):
        return 2 * (9 + 2 * DIV) * self.numel(size)


TRAINING = (SoftmaxGrad(), LayerNormGrad(), RMSNormGrad(), GeluGrad(), CrossEntropyGrad(), Block(), MLPSgd(), MLPAdam(),
            AdamWMany())
