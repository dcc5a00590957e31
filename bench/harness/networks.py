"""The families of `tools/bench cpu --only networks`: attention, convolutions, pooling, batch normalisation, an LSTM and
products with weights of 8 bits.

As in training.py; references are what PyTorch gives in float64 (networks_peers.py).  There is one set of operands, as a
network that is called again and again has one set of weights.
"""
import math

import numpy as np

import networks_peers
from families import EXP, SIGMOID, Family


class Network(Family):
    group = "networks"
    streams = None
    cancels = True
    one_set = True

    @property
    def peers(self):
        """Of those that take part in some rows alone."""
        own = ["torch-whole"] if self.name in networks_peers.GRADIENTS else []
        return own + ["torch-channels-last"] * self.image

    image = False

    def reference(self, *operands):
        return networks_peers.reference(self.name, operands)


# ---- attention ------------------------------------------------------------------------------------

class Attention(Network):
    """softmax(q k^T / sqrt(D)) v."""
    sizes = ((2, 8, 128, 64), (1, 8, 512, 64), (1, 4, 1024, 128), (1, 1, 4096, 64))  # B, H, T, D
    products, causal = 2, False

    def __init__(self, name, causal):
        self.name, self.causal = name, causal
        self.gradients = name in networks_peers.GRADIENTS
        self.products = 7 if self.gradients else 2

    def inputs(self, size, rng):
        return list(rng.standard_normal((3 + self.gradients, *size)))

    def bytes(self, size, item):
        return item * (8 if self.gradients else 4) * math.prod(size)

    def flops(self, size):
        b, h, t, d = size
        pairs = t * (t + 1) // 2 if self.causal else t * t
        return 2 * b * h * pairs * (self.products * d + EXP + 4)


class AttentionDecode(Network):
    """One query on T keys."""
    name = "attention_decode"
    streams = "read"
    sizes = ((1, 12, 1024, 64), (4, 8, 1024, 128), (1, 32, 4096, 128))

    def inputs(self, size, rng):
        b, h, t, d = size
        return [rng.standard_normal((b, h, 1, d)), *rng.standard_normal((2, *size))]

    def bytes(self, size, item):
        return item * 2 * math.prod(size)

    def flops(self, size):
        b, h, t, d = size
        return 2 * b * h * t * (2 * d + EXP + 4)


# ---- images ---------------------------------------------------------------------------------------

class Convolution(Network):
    """relu(conv + bias): images N, C channels to O, of E x E."""
    image = True

    def __init__(self, name, window, sizes, stride=1, groups=lambda c: 1):
        self.name, self.window, self.sizes, self.stride, self.groups = name, window, sizes, stride, groups
        self.gradients = name in networks_peers.GRADIENTS

    def weight(self, size):
        return size[2], size[1] // self.groups(size[1]), self.window, self.window

    def inputs(self, size, rng):
        n, c, o, e = size
        w = rng.standard_normal(self.weight(size)) / math.sqrt(math.prod(self.weight(size)[1:]))
        last = rng.standard_normal((n, o, e, e)) if self.gradients else 0.1 * rng.standard_normal(o)
        return [rng.standard_normal((n, c, e, e)), w, last]

    def bytes(self, size, item):
        n, c, o, e = size
        points = e * e // self.stride ** 2
        return item * (1 + self.gradients) * (n * (c * e * e + o * points) + math.prod(self.weight(size)))

    def flops(self, size):
        n, _, _, e = size
        return 2 * (3 if self.gradients else 1) * n * (e // self.stride) ** 2 * math.prod(self.weight(size))


class Pool(Network):
    """(N, C, E): windows of images E x E."""
    image, streams = True, "copy"
    sizes = ((8, 64, 112), (8, 256, 28))

    def __init__(self, name, window):
        self.name, self.window = name, window
        self.gradients = name in networks_peers.GRADIENTS

    def inputs(self, size, rng):
        n, c, e = size
        x = [rng.standard_normal((n, c, e, e))]
        return x + [rng.standard_normal((n, c, e // 2, e // 2))] * self.gradients

    def bytes(self, size, item):
        n, c, e = size
        return item * n * c * e * e * (10 if self.gradients else 5) // 4

    def flops(self, size):
        return size[0] * size[1] * size[2] ** 2 * self.window ** 2 // 2


class BatchNorm(Network):
    """relu of it in training, with gradients."""
    name = "batch_norm_grad"
    image, streams = True, "copy"
    sizes = ((16, 64, 56), (32, 256, 14), (8, 512, 7))

    def inputs(self, size, rng):
        n, c, e = size
        x, dy = rng.standard_normal((2, n, c, e, e))
        w, b, mean = rng.standard_normal((3, c))
        return [x, w, b, mean, rng.uniform(0.5, 2, c), dy]

    def bytes(self, size, item):
        return item * 4 * size[0] * size[1] * size[2] ** 2

    def flops(self, size):
        return 2 * 14 * size[0] * size[1] * size[2] ** 2


# ---- recurrences, weights of 8 bits ---------------------------------------------------------------

class LSTM(Network):
    """100 steps: N, I, H."""
    name = "lstm_100"
    sizes = ((1, 128, 128), (16, 128, 256), (64, 256, 512))
    steps = 100

    def inputs(self, size, rng):
        n, i, h = size
        bound = 1 / math.sqrt(h)

        def weight(*dims):
            return rng.uniform(-bound, bound, dims)

        return [rng.standard_normal((self.steps, n, i)), weight(4 * h, i), weight(4 * h, h), weight(4 * h), weight(4 * h),
                *rng.uniform(-1, 1, (2, n, h))]

    def bytes(self, size, item):
        n, i, h = size
        return item * (self.steps * n * (i + h) + 4 * h * (i + h + 2) + 2 * n * h)

    def flops(self, size):
        n, i, h = size
        return 2 * self.steps * n * h * (4 * (i + h) + 5 * SIGMOID + 4)


class LinearInt8(Network):
    """x w^T, where w is integers of 8 bits with a scale for each row: M, K, N."""
    name = "linear_int8"
    streams, product = "read", True
    sizes = ((1, 4096, 4096), (32, 768, 3072), (256, 1024, 1024))

    def inputs(self, size, rng):
        m, k, n = size
        return [rng.standard_normal((m, k)), rng.integers(-127, 128, (n, k)).astype(np.int8),
                rng.uniform(0.5, 1.5, n) / 127 / math.sqrt(k)]

    def bytes(self, size, item):
        m, k, n = size
        return n * k + item * (m * k + n + m * n)

    def flops(self, size):
        return 2 * math.prod(size)


def same(c):
    return c


NETWORKS = (
    Attention("attention", False), Attention("attention_causal", True), AttentionDecode(),
    Attention("attention_grad", False), Attention("attention_causal_grad", True),
    Convolution("conv3x3", 3, ((1, 64, 64, 56), (8, 128, 128, 28), (4, 256, 256, 14), (8, 512, 512, 7))),
    Convolution("conv1x1", 1, ((4, 64, 256, 56), (8, 512, 128, 28), (4, 1024, 256, 14), (8, 2048, 512, 7))),
    Convolution("conv7x7", 7, ((1, 3, 64, 224), (8, 3, 64, 112)), stride=2),
    Convolution("conv_depthwise", 3, ((4, 96, 96, 56), (8, 384, 384, 14)), groups=same),
    Convolution("conv_groups", 3, ((4, 128, 128, 56), (8, 512, 512, 14)), groups=lambda c: 32),
    Convolution("conv3x3_grad", 3, ((4, 64, 64, 56), (8, 256, 256, 14), (8, 512, 512, 7))),
    Pool("max_pool", 3), Pool("avg_pool", 2), Pool("max_pool_grad", 3), BatchNorm(), LSTM(), LinearInt8(),
)
