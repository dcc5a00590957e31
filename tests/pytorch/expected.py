#!/usr/bin/env python3
"""expected.py [--check FILE]: PyTorch's losses and gradients of the models of models.h, in float64, as expected.h.

Without arguments: prints the file (2.15 made it). --check: compares FILE with what PyTorch gives here, to 1e-9.
The tests need neither."""
import sys

import torch
from torch import nn
from torch.nn import functional as F

F64 = torch.float64


class Numbers:
    """Multiples of 1/1024 from the generator of MMIX; gradients.c has the same."""

    def __init__(self, seed):
        self.state = seed

    def __call__(self, *shape, size=0.5):
        v = []
        for _ in range(torch.Size(shape).numel()):
            self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
            v.append(size * ((self.state >> 33) / 2**30 - 1))
        return torch.floor(torch.tensor(v, dtype=F64) * 1024).div(1024).reshape(shape)


def of(loss, parameters):
    return [loss.detach().reshape(1)] + [g.flatten() for g in torch.autograd.grad(loss, parameters)]


def fill(module, numbers, *names):
    """Gives parameters their numbers, in the order of the names; those of norms are around 1."""
    parameters = dict(module.named_parameters())
    assert sorted(parameters) == sorted(names)
    for name in names:
        p, norm = parameters[name], "norm" in name
        p.data = numbers(*p.shape, size=0.25 if norm else 0.5) + (norm and name.endswith("weight"))
    return [parameters[name] for name in names]


def pairs(*names):
    return [f"{name}.{part}" for name in names for part in ("weight", "bias")]


def mlp():
    numbers, model = Numbers(1), nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 4)).to(F64)
    p = fill(model, numbers, *pairs("0", "2"))
    return of(F.cross_entropy(model(numbers(7, 5, size=1)), torch.tensor([0, 3, 1, 2, 3, 0, 1])), p)


def transformer():
    numbers = Numbers(2)
    model = nn.TransformerEncoderLayer(8, 2, 12, dropout=0, activation="gelu", batch_first=True, norm_first=True).to(F64)
    p = fill(model, numbers, "self_attn.in_proj_weight", "self_attn.in_proj_bias",
             *pairs("self_attn.out_proj", "linear1", "linear2", "norm1", "norm2"))
    x, y = numbers(2, 5, 8, size=1), numbers(2, 5, 8, size=1)
    mask = nn.Transformer.generate_square_subsequent_mask(5, dtype=F64)
    return of(F.mse_loss(model(x, src_mask=mask, is_causal=True), y), p)


def lstm():
    numbers, model, last = Numbers(3), nn.LSTM(3, 5).to(F64), nn.Linear(5, 2).to(F64)
    p = fill(model, numbers, "weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    p += fill(last, numbers, "weight", "bias")
    x, y = numbers(50, 3, 3, size=1), numbers(3, 2, size=1)
    return of(F.mse_loss(last(model(x)[0][-1]), y), p)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.lowest = nn.Linear(3, 4), nn.Linear(4, 6), nn.Linear(6, 6)
        self.up2, self.up1, self.norm = nn.Linear(12, 4), nn.Linear(8, 2), nn.LayerNorm(6)

    def forward(self, x):
        def halve(x):
            return F.avg_pool1d(x.transpose(1, 2), 2).transpose(1, 2)

        def twice(x):
            return F.interpolate(x.transpose(1, 2), scale_factor=2, mode="nearest").transpose(1, 2)

        full = F.silu(self.down1(x))
        half = F.silu(self.down2(halve(full)))
        low = F.silu(self.lowest(self.norm(halve(half))))
        up = F.silu(self.up2(torch.cat([twice(low), half], -1)))
        return self.up1(torch.cat([twice(up), full], -1))


def unet():
    numbers, model = Numbers(4), UNet().to(F64)
    p = fill(model, numbers, *pairs("down1", "down2", "lowest", "up2", "up1", "norm"))
    x, y = numbers(2, 8, 3, size=1), numbers(2, 8, 2, size=1)
    return of(F.mse_loss(model(x), y), p)


def text_of(results):
    lines = [f"/* Made by expected.py with PyTorch {torch.__version__}: the loss, and the gradients one after the other. */",
             "// clang-format off"]
    for name, v in results.items():
        lines.append(f"static const double expected_{name}[{len(v)}] = {{")
        lines += ["  " + ", ".join(f"{x:.11g}" for x in v[i:i + 8]) + "," for i in range(0, len(v), 8)]
        lines.append("};")
    return "\n".join(lines) + "\n"


def numbers_of(text):
    """What a file has, by the names of its arrays."""
    found = {}
    for part in text.split("static const double expected_")[1:]:
        found[part[:part.index("[")]] = [float(v) for v in part[part.index("{") + 1:part.index("}")].split(",") if v.strip()]
    return found


def main():
    results = {f.__name__: torch.cat(f()).tolist() for f in (mlp, transformer, lstm, unet)}
    if sys.argv[1:2] != ["--check"]:
        print(text_of(results), end="")
        return
    with open(sys.argv[2], encoding="utf-8") as f:
        stored = numbers_of(f.read())
    assert stored.keys() == results.keys()
    for name, v in results.items():
        assert len(v) == len(stored[name])
        apart = max(abs(a - b) for a, b in zip(v, stored[name]))
        print(f"{name}: {len(v)} numbers, apart by {apart:.1e} at most")
        assert apart <= 1e-9, name


main()
