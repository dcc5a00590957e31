#!/usr/bin/env python3
"""resnet_expected.py: PyTorch's losses of 50 steps of SGD of a ResNet-18, as resnet_expected.h (2.15 made it).

Weights, images and steps are those of resnet.c, in float64; in float32 PyTorch's are apart from them by what it prints on
stderr. The test needs neither."""
import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from stored_losses import of_steps, print_header

E, B, STEPS, CLASSES = 8, 8, 50, 10


def numbers(seed, *shape):
    """From -1 to 1, by number; resnet.c has the same."""
    h = np.arange(math.prod(shape), dtype=np.uint32) * np.uint32(2654435761) + np.uint32(seed * 40503)
    h ^= h >> np.uint32(15)
    h *= np.uint32(2246822519)
    h ^= h >> np.uint32(13)
    return torch.from_numpy((h >> np.uint32(8)).astype(np.float64) / 2**23 - 1).reshape(shape)


def rounded(x):
    return x.float().double()


class Block(nn.Module):
    def __init__(self, into, out, stride):
        super().__init__()
        self.first, self.second = layer(into, out, 3, stride), layer(out, out, 3, 1)
        self.beside = layer(into, out, 1, stride) if into != out or stride != 1 else nn.Identity()

    def forward(self, x):
        return torch.relu(self.second(torch.relu(self.first(x))) + self.beside(x))


def layer(into, out, window, stride):
    return nn.Sequential(nn.Conv2d(into, out, window, stride, window // 2, bias=False), nn.BatchNorm2d(out))


def network():
    blocks, into = [], 64
    for stage in range(4):
        for i in range(2):
            blocks.append(Block(into, 64 << stage, 2 if stage and i == 0 else 1))
            into = 64 << stage
    net = nn.Sequential(layer(3, 64, 3, 1), nn.ReLU(), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, CLASSES))
    with torch.no_grad():
        for i, p in enumerate(p for p in net.parameters() if p.dim() > 1):
            p.copy_(rounded(numbers(i + 1, *p.shape) * math.sqrt(3 / math.prod(p.shape[1:]))))
        net[-1].bias.zero_()
    return net


def losses(dtype):
    net = network().to(dtype)
    x, classes = rounded(numbers(100, B, 3, E, E)).to(dtype), torch.arange(B) % CLASSES
    optimiser = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
    return of_steps(optimiser, lambda: F.cross_entropy(net(x), classes), STEPS)


print_header("resnet_expected.py", losses)
