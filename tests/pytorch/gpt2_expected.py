#!/usr/bin/env python3
"""gpt2_expected.py: PyTorch's losses of 50 steps of AdamW of a small GPT-2, as gpt2_expected.h (2.15 made it).

Weights, tokens and steps are those of gpt2.c, in float64; in float32 PyTorch's are apart from them by what it prints
on stderr. The test needs neither."""
import torch
from torch.nn import functional as F

from stored_losses import of_steps, print_header

LAYERS, HEADS, D, V, P, B, T, STEPS = 4, 4, 32, 61, 24, 3, 17, 50


class Numbers:
    """Multiples of 1/1024 from the generator of MMIX; gpt2.c has the same."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return self.state >> 33

    def __call__(self, *shape, size, around=0):
        v = [size * (self.next() / 2**30 - 1) for _ in range(torch.Size(shape).numel())]
        return torch.floor(torch.tensor(v, dtype=torch.float64) * 1024).div(1024).reshape(shape) + around


def weights(numbers):
    p = [numbers(V, D, size=0.25), numbers(P, D, size=0.25), numbers(D, size=0.25, around=1), numbers(D, size=0.25)]
    for _ in range(LAYERS):
        for rows, columns in ((0, 1), (1, 3), (1, 1), (0, 1), (1, 4), (4, 1)):
            shape = (rows * D, columns * D) if rows else (D,)
            p += [numbers(*shape, size=0.25, around=not rows), numbers(columns * D, size=0.25)]
    return p


def loss_of(p, pieces):
    def norm(x, w, b):
        return F.layer_norm(x, (D,), w, b, 1e-5)

    wte, wpe, ln_w, ln_b = p[:4]
    x = wte[pieces[:, :-1]] + wpe[:T]
    for i in range(LAYERS):
        ln1_w, ln1_b, qkv_w, qkv_b, out_w, out_b, ln2_w, ln2_b, up_w, up_b, down_w, down_b = p[4 + 12 * i:16 + 12 * i]
        q, k, v = ((norm(x, ln1_w, ln1_b) @ qkv_w + qkv_b).reshape(B, T, 3, HEADS, D // HEADS).permute(2, 0, 3, 1, 4))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + y.transpose(1, 2).reshape(B, T, D) @ out_w + out_b
        x = x + F.gelu(norm(x, ln2_w, ln2_b) @ up_w + up_b, approximate="tanh") @ down_w + down_b
    return F.cross_entropy((norm(x, ln_w, ln_b) @ wte.T).flatten(0, 1), pieces[:, 1:].flatten())


def losses(dtype):
    numbers = Numbers(5)
    p = [torch.nn.Parameter(w.to(dtype)) for w in weights(numbers)]
    pieces = torch.tensor([[numbers.next() % V for _ in range(T + 1)] for _ in range(B)])
    optimiser = torch.optim.AdamW(p, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.1)
    return of_steps(optimiser, lambda: loss_of(p, pieces), STEPS, lambda: torch.nn.utils.clip_grad_norm_(p, 1))


print_header("gpt2_expected.py", losses)
