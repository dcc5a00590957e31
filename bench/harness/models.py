"""The families of `tools/bench cpu --only models`: ResNet-18 and 50, BERT-base and GPT-2 124M, whole.

Operands stand as in bench/cpu/resnet.c, bert.c and gpt2.c; references are what PyTorch gives in float64
(models_peers.py).  There is one set of operands.
"""
import math

import models_peers
from families import Family
from models_peers import BERT, GPT2, resnet_layers


class Model(Family):
    group = "models"
    streams = None
    cancels = True
    one_set = True
    peers = ("torch-channels-last",)

    def reference(self, *operands):
        return models_peers.reference(self.name, operands)

    def bytes(self, size, item):
        return item * self.numbers(size)


class ResNet(Model):
    """N images of E x E."""

    def __init__(self, depth, step, sizes):
        self.name = f"resnet{depth}" + "_step" * step
        self.depth, self.step, self.sizes = depth, step, sizes
        self.layers = resnet_layers(depth, 3 if step else 7)
        self.classes = 10 if step else 1000
        if step:
            self.dtypes, self.written = ("f32",), range(3 * len(self.layers) + 2)

    def inputs(self, size, rng):
        n, e = size
        parameters, stats = [], []
        for layer in self.layers:
            shape = layer.out, layer.into, layer.window, layer.window
            parameters += [rng.standard_normal(shape) * math.sqrt(2 / math.prod(shape[1:])),
                           rng.uniform(0.2 if layer.last else 0.8, 0.4 if layer.last else 1.2, layer.out), 0.1 * rng.standard_normal(layer.out)]
            stats += [0.1 * rng.standard_normal(layer.out), rng.uniform(0.8, 1.2, layer.out)]
        last = self.layers[-1].out
        parameters += [rng.standard_normal((self.classes, last)) / math.sqrt(last), 0.1 * rng.standard_normal(self.classes)]
        operands = parameters + stats + [rng.standard_normal((n, 3, e, e))]
        if self.step:
            operands += [rng.integers(0, self.classes, n), *(1e-2 * rng.standard_normal(p.shape) for p in parameters)]
        return operands

    def numbers(self, _size):
        return sum(layer.out * layer.into * layer.window ** 2 for layer in self.layers)

    def flops(self, size):
        n, e = size
        per_image = sum(layer.out * layer.into * (layer.window * e // layer.scale) ** 2 for layer in self.layers)
        return 2 * n * per_image * (3 if self.step else 1)


class Transformer(Model):
    def products(self, tokens, seen, c):
        """Of B T tokens, each of which sees `seen` others."""
        return 2 * tokens * (12 * c.layers * c.channels ** 2 + 2 * c.layers * seen * c.channels)


class BertBase(Transformer):
    """B sequences of T tokens, of which a half to all are there."""
    name = "bert_base"
    sizes = ((1, 128), (8, 128))

    def inputs(self, size, rng):
        b, t = size
        return [*models_peers.bert_parameters(rng), rng.integers(0, BERT.tokens, size), rng.integers(t // 2, t + 1, b)]

    def numbers(self, _size):
        return 12 * BERT.layers * BERT.channels ** 2

    def flops(self, size):
        return self.products(math.prod(size), size[1], BERT)


class Gpt2(Transformer):
    """B sequences of T tokens."""
    name = "gpt2"
    sizes = ((1, 64), (1, 256))
    times = 1

    def inputs(self, size, rng):
        return [*models_peers.gpt2_parameters(rng), rng.integers(0, GPT2.tokens, size)]

    def numbers(self, _size):
        return (12 * GPT2.layers * GPT2.channels + GPT2.tokens) * GPT2.channels

    def flops(self, size):
        tokens = math.prod(size)
        return self.times * (self.products(tokens, size[1] / 2, GPT2) + 2 * tokens * GPT2.tokens * GPT2.channels)


class Gpt2Decode(Gpt2):
    """The token behind T - 1 of one sequence."""
    name = "gpt2_decode"
    streams = "read"
    sizes = ((64,), (1024,))

    def inputs(self, size, rng):
        shape = 1, GPT2.heads, size[0], GPT2.channels // GPT2.heads
        kept = [rng.standard_normal(shape) for _ in range(2 * GPT2.layers)]
        return [*models_peers.gpt2_parameters(rng), rng.integers(0, GPT2.tokens, (1, 1)), *kept]

    def numbers(self, size):
        return super().numbers(size) + 2 * GPT2.layers * size[0] * GPT2.channels

    def flops(self, size):
        return self.products(1, size[0], GPT2) + 2 * GPT2.tokens * GPT2.channels


class Gpt2Step(Gpt2):
    """The tenth step by AdamW."""
    name = "gpt2_step"
    sizes = ((4, 64),)
    times = 3
    dtypes = ("f32",)
    written = range(4 + 12 * GPT2.layers)

    def inputs(self, size, rng):
        parameters = models_peers.gpt2_parameters(rng)
        return [*parameters, *rng.integers(0, GPT2.tokens, (2, *size)), *(1e-3 * rng.standard_normal(p.shape) for p in parameters),
                *(1e-6 * rng.uniform(0.5, 1.5, p.shape) for p in parameters)]


MODELS = (ResNet(18, False, ((1, 224), (8, 224))), ResNet(50, False, ((1, 224), (8, 224))), ResNet(18, True, ((32, 32),)),
          ResNet(50, True, ((16, 32),)), BertBase(), Gpt2(), Gpt2Decode(), Gpt2Step())
