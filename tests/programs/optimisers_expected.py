"""optimisers_expected.py > optimisers_expected.h: what torch.optim makes of the problem of optimisers.c in 100 steps, float64.
Needs PyTorch (2.15 made the file); the test does not."""
import torch

STEPS, F64 = 100, torch.float64


def numbers(n, shape, a, b, m):
    return torch.tensor([((i * a + b) % m - m // 2) / 8 for i in range(n)], dtype=F64).reshape(shape)


def run(make, clip=None):
    x, y = numbers(30, (6, 5), 7, 3, 17), numbers(18, (6, 3), 5, 1, 13)
    p = [numbers(15, (5, 3), 3, 2, 11).requires_grad_(), numbers(3, (3,), 1, 1, 5).requires_grad_()]
    optimiser = make(p)
    for _ in range(STEPS):
        optimiser.zero_grad()
        torch.nn.functional.mse_loss(torch.tanh(x @ p[0] + p[1]), y).backward()
        if clip:
            clip(p)
        optimiser.step()
    return torch.cat([t.detach().flatten() for t in p]).tolist()


o, u = torch.optim, torch.nn.utils
CASES = {
    "sgd": run(lambda p: o.SGD(p, lr=0.1)),
    "sgd_momentum": run(lambda p: o.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.01)),
    "sgd_nesterov": run(lambda p: o.SGD(p, lr=0.05, momentum=0.9, nesterov=True)),
    "adam": run(lambda p: o.Adam(p, lr=0.02)),
    "adam_decayed": run(lambda p: o.Adam(p, lr=0.02, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.1)),
    "adamw": run(lambda p: o.AdamW(p, lr=0.02, weight_decay=0.1)),
    "rmsprop": run(lambda p: o.RMSprop(p, lr=0.01)),
    "rmsprop_centred": run(lambda p: o.RMSprop(p, lr=0.01, alpha=0.9, momentum=0.5, centered=True, weight_decay=0.01)),
    "adagrad": run(lambda p: o.Adagrad(p, lr=0.1, lr_decay=0.01, weight_decay=0.01)),
    "clip_value": run(lambda p: o.SGD(p, lr=0.1), lambda p: u.clip_grad_value_(p, 0.01)),
    "clip_norm": run(lambda p: o.SGD(p, lr=0.1), lambda p: u.clip_grad_norm_(p, 0.05)),
}

print(f"/* Made by optimisers_expected.py with PyTorch {torch.__version__}: p of optimisers.c after {STEPS} steps in double. */")
print("// clang-format off")
for name, p in CASES.items():
    print(f"static const double expected_{name}[18] = {{")
    for i in range(0, 18, 6):
        print("  " + ", ".join(f"{v:.15g}" for v in p[i:i + 6]) + ",")
    print("};")
