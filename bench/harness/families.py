"""The families measured by `tools/bench cpu`: sizes, inputs, float64 references, least work.

A row is (family, dtype, size).  `inputs` makes the operands of one set as float32 or int64 arrays;
every contender gets the same files.  `bytes` is the least traffic, `streams` the ceiling it is
measured against.  `flops` is the least arithmetic in the terms of the peak: 2 for everything that
takes a multiply-add's place, functions as the fewest such places that reach f32.
"""
import math

import numpy as np

ITEM = {"f32": 4, "bf16": 2}
# multiply-add places
EXP, LOG, ERF, SIGMOID, DIV = 13, 18, 19, 17, 3
# |error| <= ATOL + RTOL * |reference|
TOLERANCE = {"f32": (1.3e-6, 1e-5), "bf16": (1.6e-2, 1e-5)}

UNIT = {"f32": 2.0**-24, "bf16": 2.0**-9}  # half of the last place of 1


def erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x) if x.size < 1 << 16 else _erf_large(x)


def _erf_large(x):
    try:
        from scipy.special import erf as of_many  # comes with jax
    except ImportError:
        of_many = np.vectorize(math.erf, otypes=[np.float64])
    return of_many(x)


def gelu(x):
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


class Family:
    name = ""
    sizes = ()
    streams = "copy"  # "read" where results are small, None where arithmetic is all that counts
    product = None  # is its arithmetic that of a matrix product?  None: where it has no streams
    group = ""  # a name for several families
    dtypes = ("f32", "bf16")
    written = ()  # operands that are compared behind results
    one_set = False  # of operands, though there were room for several
    peers = ()  # that take part in rows of this family, and not in others
    cancels = False  # differences or sums of large terms: errors are relative to the largest result

    def inputs(self, size, rng):
        raise NotImplementedError

    def reference(self, operands):
        raise NotImplementedError


class Chain(Family):
    name = "chain"
    sizes = ((300, 1000), (1024, 2048), (2048, 4096))

    def inputs(self, size, rng):
        return [rng.standard_normal(size), rng.standard_normal(size[1]), rng.standard_normal(size[1])]

    def reference(self, x, s, b):
        return gelu(x * s + b) / (1 + np.exp(-x))

    def bytes(self, size, item):
        return item * (2 * size[0] * size[1] + 2 * size[1])

    def flops(self, size):
        return 2 * (ERF + SIGMOID + 6) * size[0] * size[1]


class Softmax(Family):
    name = "softmax"
    sizes = ((500, 1000), (2048, 2048), (4096, 4096))

    def inputs(self, size, rng):
        return [rng.standard_normal(size) * 3]

    def reference(self, x):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def bytes(self, size, item):
        return item * 2 * size[0] * size[1]

    def flops(self, size):
        return 2 * (EXP + 4) * size[0] * size[1]


class LayerNorm(Family):
    name = "layer_norm"
    sizes = ((500, 768), (2048, 2048), (4096, 4096))

    def inputs(self, size, rng):
        return [rng.standard_normal(size), rng.standard_normal(size[1]), rng.standard_normal(size[1])]

    def reference(self, x, w, b):
        d = x - x.mean(-1, keepdims=True)
        return d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5) * w + b

    def bytes(self, size, item):
        return item * (2 * size[0] * size[1] + 2 * size[1])

    def flops(self, size):
        return 2 * 5 * size[0] * size[1]  # sum, squares, less the mean, by the deviation, by w and b


class CrossEntropy(Family):
    name = "cross_entropy"
    streams = "read"
    sizes = ((512, 1000), (2048, 4096), (512, 50257))

    def inputs(self, size, rng):
        return [rng.standard_normal(size) * 2, rng.integers(0, size[1], size[0])]

    def reference(self, x, t):
        m = x.max(-1, keepdims=True)
        log_z = np.log(np.exp(x - m).sum(-1)) + m[:, 0]
        return np.asarray((log_z - x[np.arange(len(t)), t]).mean())

    def bytes(self, size, item):
        return item * size[0] * size[1] + 8 * size[0]

    def flops(self, size):
        return 2 * (EXP + 3) * size[0] * size[1]


class BlackScholes(Family):
    name = "black_scholes"
    sizes = ((100_000,), (1_000_000,), (8_000_000,))
    cancels = True

    def inputs(self, size, rng):
        n = size[0]
        return [rng.uniform(10, 200, n), rng.uniform(10, 200, n), rng.uniform(0.1, 3, n), rng.uniform(0.1, 0.6, n)]

    def reference(self, s, k, t, v):
        root = v * np.sqrt(t)
        d1 = (np.log(s / k) + (v * v * 0.5 + 0.02) * t) / root
        cdf = lambda d: (erf(d * math.sqrt(0.5)) + 1) * 0.5
        return s * cdf(d1) - k * np.exp(-0.02 * t) * cdf(d1 - root)

    def bytes(self, size, item):
        return item * 5 * size[0]

    def flops(self, size):
        return 2 * (LOG + 2 * ERF + EXP + 3 * DIV + 15) * size[0]


class LinearGelu(Family):
    name = "linear_gelu"
    sizes = ((64, 784, 512), (333, 1000, 777), (512, 768, 3072))
    streams = None
    cancels = True

    def inputs(self, size, rng):
        m, k, n = size
        return [rng.standard_normal((m, k)), rng.standard_normal((n, k)) / math.sqrt(k), rng.standard_normal(n)]

    def reference(self, x, w, b):
        return gelu(x @ w.T + b)

    def bytes(self, size, item):
        m, k, n = size
        return item * (m * k + n * k + n + m * n)

    def flops(self, size):
        return 2 * size[0] * size[1] * size[2]


class Matmul(Family):
    name = "matmul"
    sizes = ((100, 333, 77), (256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048))
    streams = None
    cancels = True

    def inputs(self, size, rng):
        m, k, n = size
        return [rng.standard_normal((m, k)), rng.standard_normal((k, n))]

    def reference(self, a, b):
        return a @ b

    def bytes(self, size, item):
        m, k, n = size
        return item * (m * k + k * n + m * n)

    def flops(self, size):
        return 2 * size[0] * size[1] * size[2]


GROUP = 4  # heads of queries that share one of keys and values


def attend(q, k, v):
    k, v = np.repeat(k, GROUP, 1), np.repeat(v, GROUP, 1)
    s = np.exp((q @ k.swapaxes(2, 3)) * 0.125)
    return s / s.sum(-1, keepdims=True) @ v


class RepeatKV(Family):
    name = "repeat_kv"
    sizes = ((1, 2, 33, 500, 80), (2, 4, 64, 1000, 64), (1, 8, 128, 2048, 128))  # B, H, M, T, D
    streams = None
    cancels = True

    def inputs(self, size, rng):
        b, h, m, t, d = size
        return [rng.standard_normal((b, GROUP * h, m, d)), *rng.standard_normal((2, b, h, t, d))]

    def reference(self, q, k, v):
        return attend(q, k, v)

    def bytes(self, size, item):
        b, h, m, t, d = size
        return item * 2 * b * h * d * (GROUP * m + t)

    def flops(self, size):
        b, h, m, t, d = size
        return 2 * b * GROUP * h * m * t * (2 * d + EXP + 4)


class Decode(Family):
    name = "decode"
    streams = "read"
    sizes = ((1, 600, 2, 500, 64), (4, 1000, 4, 1000, 64), (1, 4096, 8, 2048, 128))  # B, C, H, T, D
    cancels = True

    def inputs(self, size, rng):
        b, c, h, t, d = size
        wide = GROUP * h * d
        return [rng.standard_normal((b, c)), rng.standard_normal((c, wide)) / math.sqrt(c),
                *rng.standard_normal((2, b, h, t, d)), rng.standard_normal((wide, c)) / math.sqrt(wide)]

    def reference(self, x, wq, k, v, wo):
        b, h, _, d = k.shape
        y = attend((x @ wq).reshape(b, GROUP * h, 1, d), k, v)
        return y.reshape(b, -1) @ wo

    def bytes(self, size, item):
        b, c, h, t, d = size
        return item * 2 * (b * c + c * GROUP * h * d + b * h * t * d)

    def flops(self, size):
        b, c, h, t, d = size
        return 2 * b * GROUP * h * (2 * c * d + t * (2 * d + EXP + 4))


class LSTM(Family):
    name = "lstm"
    sizes = ((1, 50, 100), (16, 64, 128), (40, 200, 300))  # B, I, H
    steps = 50
    streams = None
    cancels = True

    def inputs(self, size, rng):
        b, i, h = size
        bound = 1 / math.sqrt(h)
        return [rng.standard_normal((b, self.steps, i)), rng.uniform(-bound, bound, (i, 4 * h)),
                rng.uniform(-bound, bound, (h, 4 * h)), rng.uniform(-bound, bound, 4 * h),
                rng.uniform(-1, 1, (b, h))]

    def reference(self, x, wx, wh, b, s):
        sigmoid = lambda z: 1 / (1 + np.exp(-z))
        h = c = s
        for t in range(self.steps):
            i, f, g, o = np.split(x[:, t] @ wx + h @ wh + b, 4, 1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
        return h

    def bytes(self, size, item):
        b, i, h = size
        return item * (b * self.steps * i + (i + h + 1) * 4 * h + 2 * b * h)

    def flops(self, size):
        b, i, h = size
        return 2 * self.steps * b * h * (4 * (i + h) + 5 * SIGMOID + 4)


class AdamW(Family):
    """The tenth step, in place."""
    name = "adamw"
    group = "training"
    peers = ("torch-whole",)
    cancels = True
    sizes = ((100003,), (3000000,), (16800000,))

    def inputs(self, size, rng):
        p, g, m, v = rng.standard_normal((4, *size))
        return [p, g, 0.1 * m, 0.01 * v * v]

    def reference(self, p, g, m, v):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        return p * (1 - 1e-5) - 1e-3 * m / (1 - 0.9**10) / (np.sqrt(v / (1 - 0.999**10)) + 1e-8)

    def bytes(self, size, item):
        return item * 7 * size[0]

    def flops(self, size):
        return 2 * (9 + 2 * DIV) * size[0]


FAMILIES = (Chain(), Softmax(), LayerNorm(), CrossEntropy(), BlackScholes(), LinearGelu(), Matmul(),
            RepeatKV(), Decode(), LSTM(), AdamW())


def check(family, dtype, result, reference, before=None):
    """Largest error in units of the tolerance (<= 1 passes).  Of an array that was `before` in place, the change."""
    rtol, atol = TOLERANCE[dtype]
    result, rounding = result.astype(np.float64), 0
    if before is not None:
        rounding = 2 * UNIT[dtype] * np.abs(reference)
        result, reference = result - before, reference - before
    scale = np.abs(reference)
    if family.cancels and scale.size:
        scale = np.maximum(scale, scale.max())
    error = np.abs(result - reference)
    return float((error / (atol + rtol * scale + rounding)).max()) if error.size else 0.0
