"""What peers.py runs for the families of models.py, their operands, and their references: PyTorch in float64."""
from dataclasses import dataclass

import numpy as np

import training_peers

RATE, MOMENTUM, DECAY = 0.01, 0.9, 5e-4  # of SGD


# ---- shapes ---------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Layer:
    """A convolution of a residual network; its result is `scale` times smaller than the image."""
    into: int
    out: int
    window: int
    stride: int
    scale: int
    last: bool  # its result is added to what passed beside


@dataclass(frozen=True)
class Sizes:
    layers: int
    heads: int
    channels: int
    tokens: int
    positions: int


GPT2, BERT = Sizes(12, 12, 768, 50257, 1024), Sizes(12, 12, 768, 30522, 512)
BLOCKS = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3)}


def resnet_layers(depth, window):
    """In the order of the parameters."""
    scale = 2 if window == 7 else 1
    layers, into = [Layer(3, 64, window, scale, scale, False)], 64
    scale *= scale
    for stage, count in enumerate(BLOCKS[depth]):
        width = 64 << stage
        out = 4 * width if depth == 50 else width
        for i in range(count):
            stride = 2 if i == 0 and stage else 1
            scale *= stride
            if depth == 50:
                layers += [Layer(into, width, 1, 1, scale // stride, False), Layer(width, width, 3, stride, scale, False),
                           Layer(width, out, 1, 1, scale, True)]
            else:
                layers += [Layer(into, width, 3, stride, scale, False), Layer(width, width, 3, 1, scale, True)]
            if into != out or stride != 1:
                layers.append(Layer(into, out, 1, stride, scale, False))
            into = out
    return layers


def norm(rng, c):
    return [1 + 0.1 * rng.standard_normal(c), 0.1 * rng.standard_normal(c)]


def gpt2_parameters(rng):
    c = GPT2.channels
    p = [0.02 * rng.standard_normal((GPT2.tokens, c)), 0.01 * rng.standard_normal((GPT2.positions, c)), *norm(rng, c)]
    for _ in range(GPT2.layers):
        p += [*norm(rng, c)]
        for rows, columns in ((c, 3 * c), (c, c)):
            p += [0.02 * rng.standard_normal((rows, columns)), 0.02 * rng.standard_normal(columns)]
        p += [*norm(rng, c)]
        for rows, columns in ((c, 4 * c), (4 * c, c)):
            p += [0.02 * rng.standard_normal((rows, columns)), 0.02 * rng.standard_normal(columns)]
    return p


def bert_parameters(rng):
    c = BERT.channels

    def affine(out, into):
        return [0.02 * rng.standard_normal((out, into)), 0.02 * rng.standard_normal(out)]

    p = [0.02 * rng.standard_normal((n, c)) for n in (BERT.tokens, BERT.positions, 2)] + norm(rng, c)
    for _ in range(BERT.layers):
        for _ in range(4):
            p += affine(c, c)
        p += [*norm(rng, c), *affine(4 * c, c), *affine(c, 4 * c), *norm(rng, c)]
    return p


# ---- PyTorch --------------------------------------------------------------------------------------

def resnet_forward(torch, depth, window, training):
    f = torch.nn.functional
    layers = resnet_layers(depth, window)
    count = 3 * len(layers) + 2

    def scores(operands):
        parameters, stats, x = operands[:count], operands[count:count + 2 * len(layers)], operands[count + 2 * len(layers)]
        at = 0

        def normed(y):
            nonlocal at
            w, scale, shift = parameters[3 * at:3 * at + 3]
            layer = layers[at]
            y = f.conv2d(y, w, None, layer.stride, layer.window // 2)
            y = f.batch_norm(y, *stats[2 * at:2 * at + 2], scale, shift, training, 0.1, 1e-5)
            at += 1
            return y

        y = torch.relu(normed(x))
        if window == 7:
            y = f.max_pool2d(y, 3, 2, 1)
        while at < len(layers):
            into, beside = y, y
            while not layers[at].last:
                y = torch.relu(normed(y))
            y = normed(y)
            if at < len(layers) and layers[at].window == 1 and layers[at].into == into.shape[1] and not layers[at].last and \
                    layers[at].out == y.shape[1]:
                beside = normed(into)
            y = torch.relu(y + beside)
        return f.linear(y.mean((2, 3)), parameters[-2], parameters[-1])

    return scores, count, 2 * len(layers)


def sdpa(torch, x, q, k, v, heads, **options):
    b, t, c = x.shape
    split = [a.reshape(b, t, heads, c // heads).transpose(1, 2) for a in (q, k, v)]
    y = torch.nn.functional.scaled_dot_product_attention(*split, **options)
    return y.transpose(1, 2).reshape(b, t, c)


def bert_forward(torch):
    f = torch.nn.functional

    def states(*operands):
        p, tokens, lengths = operands[:-2], operands[-2], operands[-1]
        c, t = BERT.channels, tokens.shape[1]

        def normed(x, i):
            return f.layer_norm(x, (c,), p[i], p[i + 1], 1e-12)

        x = normed(p[0][tokens] + p[2][0] + p[1][:t], 3)
        seen = (torch.arange(t) < lengths[:, None])[:, None, None, :]
        for i in range(5, 5 + 16 * BERT.layers, 16):
            q, k, v = (f.linear(x, p[i + j], p[i + j + 1]) for j in (0, 2, 4))
            x = normed(x + f.linear(sdpa(torch, x, q, k, v, BERT.heads, attn_mask=seen), p[i + 6], p[i + 7]), i + 8)
            x = normed(x + f.linear(f.gelu(f.linear(x, p[i + 10], p[i + 11])), p[i + 12], p[i + 13]), i + 14)
        return x

    return states


def gpt2_forward(torch, decode=False):
    f = torch.nn.functional
    count = 4 + 12 * GPT2.layers

    def scores(*operands):
        p, tokens, kept = operands[:count], operands[count], operands[count + 1:]
        c, t = GPT2.channels, tokens.shape[1]
        at = kept[0].shape[2] - 1 if decode else 0

        def normed(x, i):
            return f.layer_norm(x, (c,), p[i], p[i + 1], 1e-5)

        x = p[0][tokens] + p[1][at:at + t]
        for layer in range(GPT2.layers):
            i = 4 + 12 * layer
            q, k, v = f.linear(normed(x, i), p[i + 2].t(), p[i + 3]).chunk(3, 2)
            if decode:
                q, k, v = (a.reshape(1, 1, GPT2.heads, -1).transpose(1, 2) for a in (q, k, v))
                keys, values = kept[2 * layer:2 * layer + 2]
                keys[:, :, at:] = k
                values[:, :, at:] = v
                y = f.scaled_dot_product_attention(q, keys, values).transpose(1, 2).reshape(1, 1, c)
            else:
                y = sdpa(torch, x, q, k, v, GPT2.heads, is_causal=True)
            x = x + f.linear(y, p[i + 4].t(), p[i + 5])
            h = f.gelu(f.linear(normed(x, i + 6), p[i + 8].t(), p[i + 9]), approximate="tanh")
            x = x + f.linear(h, p[i + 10].t(), p[i + 11])
        x = normed(x[:, -1:] if decode else x, 2)
        y = f.linear(x, p[0])
        return y[:, 0] if decode else y

    return scores, count


FAMILIES = ("resnet18", "resnet50", "resnet18_step", "resnet50_step", "bert_base", "gpt2", "gpt2_decode", "gpt2_step")


def training_step(torch, name, mode):
    """The step of a family, and how many of its operands it writes."""
    f = torch.nn.functional
    if name == "gpt2_step":
        forward, count = gpt2_forward(torch)
        steps = [torch.tensor(float(training_peers.STEP)) for _ in range(count)]

        def loss(*operands):
            return f.cross_entropy(forward(*operands[:count + 1]).flatten(0, 1), operands[count + 1].flatten())

        def update(p, g, states):
            torch._fused_adamw_(list(p), list(g), list(states[:count]), list(states[count:]), [], steps, lr=1e-3, beta1=0.9,
                                beta2=0.999, weight_decay=0.01, eps=1e-8, amsgrad=False, maximize=False)

        others = 2
    else:
        forward, count, stats = resnet_forward(torch, int(name[6:8]), 3, True)

        def loss(*operands):
            return f.cross_entropy(forward(operands), operands[count + stats + 1])

        def update(p, g, states):
            torch._fused_sgd_(list(p), list(g), list(states), weight_decay=DECAY, momentum=MOMENTUM, lr=RATE, dampening=0.0,
                              nesterov=False, maximize=False, is_first_step=False)

        others = stats + 2
    return training_peers.torch_step(torch, (count, others, "loss"), loss, update, *training_peers.torch_mode(mode))


def inference(torch, name):
    """The function of a family, and the operands of it that are weights."""
    if name.startswith("resnet"):
        forward, count, stats = resnet_forward(torch, int(name[6:]), 7, False)
        return lambda *operands: forward(operands), range(count + stats)
    if name == "bert_base":
        return bert_forward(torch), range(5 + 16 * BERT.layers)
    forward, count = gpt2_forward(torch, name == "gpt2_decode")
    return forward, range(count)


def torch_function(torch, name, mode, frozen):
    """A function of a set of operands, and how many of these are results.  frozen: networks_peers.Frozen."""
    mode = "eager" if mode == "channels-last" else mode
    torch.compiler.reset()
    if name.endswith("_step"):
        return training_step(torch, name, mode)
    forward, weights = inference(torch, name)
    if mode == "eager":
        def call(operands):
            with torch.inference_mode():
                return (forward(*operands),)

        return call, 0
    return frozen(torch, forward, weights, training_peers.torch_mode(mode)[1]), 0


def reference(name, operands):
    """What PyTorch gives in float64, as arrays; of a step also what it has written."""
    import torch

    tensors = [torch.from_numpy(np.array(a)) for a in operands]
    call, written = torch_function(torch, name, "eager", None)
    results = call(tensors)
    return [y.detach().numpy() for y in (*results, *tensors[:written])]
