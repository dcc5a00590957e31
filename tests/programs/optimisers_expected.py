"""optimisers_expected.py > optimisers_expected.h: what torch.optim makes of the problem of optimisers.c in 100 steps, float64;
LAMB, which is not there, is the paper's algorithm line by line; and learning rates of torch.optim.lr_scheduler.
Needs PyTorch (2.15 made the file); the test does not."""
import warnings

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


class Lamb(torch.optim.Optimizer):
    """You et al., 2020, algorithm 2, phi(z) = z; a ratio of norms of which one is 0 counts as 1."""

    def __init__(self, params, lr, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for x in group["params"]:
                s = self.state[x]
                if not s:
                    s["t"], s["m"], s["v"] = 0, torch.zeros_like(x), torch.zeros_like(x)
                s["t"] += 1
                s["m"] = beta1 * s["m"] + (1 - beta1) * x.grad
                s["v"] = beta2 * s["v"] + (1 - beta2) * x.grad ** 2
                m, v = s["m"] / (1 - beta1 ** s["t"]), s["v"] / (1 - beta2 ** s["t"])
                r = m / (v.sqrt() + group["eps"])
                update = r + group["weight_decay"] * x.data
                norm, of = x.data.norm(), update.norm()
                x.data -= group["lr"] * (norm / of if norm > 0 and of > 0 else 1) * update


def rates(make, rate=0.1, steps=STEPS):
    """Of each step; make: a scheduler, or several that multiply, of an optimiser."""
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=rate)
    scheduler, out = make(optimiser), []
    for _ in range(steps):
        out.append(optimiser.param_groups[0]["lr"])
        optimiser.step()
        scheduler.step()
    return out


def lamb_cosine(p):
    """A step of LAMB, the rate of which warms up for 10 steps and follows the cosine from the start."""
    s = torch.optim.lr_scheduler
    warm = rates(lambda o: s.LinearLR(o, 0.1, total_iters=10), 1.0)
    cosine = rates(lambda o: s.CosineAnnealingLR(o, STEPS), 0.1)
    optimiser, step = Lamb(p, 0.0), Lamb.step
    at = iter(range(STEPS))

    def scheduled():
        i = next(at)
        optimiser.param_groups[0]["lr"] = warm[i] * cosine[i]
        step(optimiser)
    optimiser.step = scheduled
    return optimiser


warnings.simplefilter("ignore")
o, u, lr = torch.optim, torch.nn.utils, torch.optim.lr_scheduler
CASES = {
    "sgd": run(lambda p: o.SGD(p, lr=0.1)),
    "sgd_momentum": run(lambda p: o.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.01)),
    "sgd_nesterov": run(lambda p: o.SGD(p, lr=0.05, momentum=0.9, nesterov=True)),
    "adam": run(lambda p: o.Adam(p, lr=0.02)),
    "adam_decayed": run(lambda p: o.Adam(p, lr=0.02, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.1)),
    "adamw": run(lambda p: o.AdamW(p, lr=0.02, weight_decay=0.1)),
    "lamb": run(lambda p: Lamb(p, 0.02)),
    "lamb_cosine": run(lamb_cosine),
    "rmsprop": run(lambda p: o.RMSprop(p, lr=0.01)),
    "rmsprop_centred": run(lambda p: o.RMSprop(p, lr=0.01, alpha=0.9, momentum=0.5, centered=True, weight_decay=0.01)),
    "adagrad": run(lambda p: o.Adagrad(p, lr=0.1, lr_decay=0.01, weight_decay=0.01)),
    "clip_value": run(lambda p: o.SGD(p, lr=0.1), lambda p: u.clip_grad_value_(p, 0.01)),
    "clip_norm": run(lambda p: o.SGD(p, lr=0.1), lambda p: u.clip_grad_norm_(p, 0.05)),
}
RATES = [
    rates(lambda q: lr.StepLR(q, 30, 0.5)),
    rates(lambda q: lr.ExponentialLR(q, 0.97)),
    rates(lambda q: lr.CosineAnnealingLR(q, 80, 0.01)),
    rates(lambda q: lr.LinearLR(q, 0.25, total_iters=20)),
    rates(lambda q: lr.OneCycleLR(q, 0.1, STEPS)),
    rates(lambda q: lr.OneCycleLR(q, 0.5, STEPS, pct_start=0.1, div_factor=10, final_div_factor=100)),
]

print(f"/* Made by optimisers_expected.py with PyTorch {torch.__version__}: p of optimisers.c after {STEPS} steps in double. */")
print("// clang-format off")
for name, p in CASES.items():
    print(f"static const double expected_{name}[18] = {{")
    for i in range(0, 18, 6):
        print("  " + ", ".join(f"{v:.15g}" for v in p[i:i + 6]) + ",")
    print("};")
print(f"/* Learning rates of steps 1 to {STEPS}: StepLR, ExponentialLR, CosineAnnealingLR, LinearLR, OneCycleLR twice. */")
print(f"static const double expected_rates[{len(RATES)}][{STEPS}] = {{")
for r in RATES:
    print("  {")
    for i in range(0, STEPS, 6):
        print("    " + ", ".join(f"{v:.15g}" for v in r[i:i + 6]) + ",")
    print("  },")
print("};")
