"""What peers.py runs for the families of training.py.

Operands: parameters, other operands, then the cotangent, or the states of the optimiser.  A function of one set of
them gives the value or loss with gradients, or what a step has written.
"""
import math

RATE, LR, BETA1, BETA2, STEP = 0.05, 1e-3, 0.9, 0.999, 10
# name: parameters, other operands, and what follows
SHAPES = {
    "softmax_grad": (1, 0, "cotangent"),
    "layer_norm_grad": (3, 0, "cotangent"),
    "rms_norm_grad": (2, 0, "cotangent"),
    "gelu_grad": (1, 0, "cotangent"),
    "cross_entropy_grad": (1, 1, "loss"),
    "block_grad": (13, 0, "cotangent"),
    "mlp_sgd": (4, 2, "sgd"),
    "mlp_adam": (4, 2, "adam"),
    "adamw_many": (200, 0, "adamw"),
}
WRITTEN = ("sgd", "adam", "adamw")


def block(softmax, norm, gelu, split):
    def forward(n1, b1, wq, bq, wp, bp, n2, b2, wu, bu, wd, bd, x):
        b, t, c = x.shape

        def heads(a):
            return a.reshape(b, t, c // 64, 64).swapaxes(1, 2)

        q, k, v = map(heads, split(norm(x, n1, b1) @ wq + bq))
        y = softmax(q @ k.swapaxes(2, 3) * 0.125) @ v
        h = x + y.swapaxes(1, 2).reshape(b, t, c) @ wp + bp
        return h + gelu(norm(h, n2, b2) @ wu + bu) @ wd + bd

    return forward


# ---- PyTorch --------------------------------------------------------------------------------------

def torch_forward(torch, name):
    f = torch.nn.functional

    def norm(x, w, b):
        return f.layer_norm(x, x.shape[-1:], w, b, 1e-5)

    def mlp(w1, b1, w2, b2, x, t):
        return f.cross_entropy(torch.relu(x @ w1 + b1) @ w2 + b2, t)

    return {
        "softmax_grad": lambda x: torch.softmax(x, -1),
        "layer_norm_grad": norm,
        "rms_norm_grad": lambda x, w: f.rms_norm(x, x.shape[-1:], w, 1e-5),
        "gelu_grad": f.gelu,
        "cross_entropy_grad": f.cross_entropy,
        "block_grad": block(lambda x: torch.softmax(x, -1), norm, f.gelu, lambda x: x.chunk(3, 2)),
        "mlp_sgd": mlp,
        "mlp_adam": mlp,
    }.get(name)


def torch_update(torch, name, fused):
    """Writes p.  fused: PyTorch's own kernels over lists; else formulas, for the compiler."""
    decay = 0.01 if name == "adamw_many" else 0

    def fused_sgd(p, g, _states):
        torch._fused_sgd_(list(p), list(g), [], weight_decay=0.0, momentum=0.0, lr=RATE, dampening=0.0, nesterov=False,
                          maximize=False, is_first_step=False)

    steps = {}  # by device

    def steps_on(device):
        if device not in steps:
            steps[device] = [torch.tensor(float(STEP), device=device) for _ in range(SHAPES[name][0])]
        return steps[device]

    def fused_adam(p, g, states):
        kernel = torch._fused_adamw_ if decay else torch._fused_adam_
        kernel(list(p), list(g), list(states[:len(p)]), list(states[len(p):]), [], steps_on(p[0].device), lr=LR, beta1=BETA1, beta2=BETA2,
               weight_decay=decay, eps=1e-8, amsgrad=False, maximize=False)

    def sgd(p, g, _states):
        for x, d in zip(p, g):
            x.sub_(d * RATE)

    def adam(p, g, states):
        for x, d, m, v in zip(p, g, states, states[len(p):]):
            m.lerp_(d, 1 - BETA1)
            v.lerp_(d * d, 1 - BETA2)
            root = v.sqrt() / math.sqrt(1 - BETA2**STEP) + 1e-8
            if decay:
                x.mul_(1 - LR * decay)
            x.sub_(m / root * (LR / (1 - BETA1**STEP)))

    return {"sgd": fused_sgd if fused else sgd}.get(SHAPES[name][2], fused_adam if fused else adam)


def torch_step(torch, shape, forward, update, mode, options):
    """eager; whole: value, gradients and update in one compiled function; else the forward part compiled with its
    backward, and `update` as it is.  shape: as in SHAPES."""
    count, others, kind = shape
    whole = mode == "whole"
    compiled = lambda f: f if mode == "eager" else torch.compile(f, fullgraph=True, dynamic=False, **options)

    def apart(*operands):
        for p in operands[:count]:
            p.requires_grad_()
        y = inner(*operands[:count + others])
        g = torch.autograd.grad(y, operands[:count], operands[count + others] if kind == "cotangent" else None)
        if not update:
            return (y.detach(), *g)
        with torch.no_grad():
            update(operands[:count], g, operands[count + others:])
        return (y.detach(),)

    def together(*operands):
        fixed = operands[count:count + others]
        y, pull = torch.func.vjp(lambda *p: forward(*p, *fixed), *operands[:count])
        g = pull(operands[count + others] if kind == "cotangent" else torch.ones_like(y))
        if update:
            update(operands[:count], g, operands[count + others:])
        return (y,) if update else (y, *g)

    def alone(*operands):
        update(operands[:count], operands[count:2 * count], operands[2 * count:])
        return ()

    if not forward:
        run = compiled(alone) if whole else alone
    elif whole:
        run = compiled(together)
    else:
        inner, run = compiled(forward), apart
    grad = torch.enable_grad if forward and not whole else torch.no_grad

    def call(operands):
        with grad():
            return run(*operands)

    return call, count if update else 0


def torch_function(torch, name, mode):
    """torch_step with PyTorch's fused optimiser, or, of "whole", with formulas."""
    update = torch_update(torch, name, not mode.startswith("whole")) if SHAPES[name][2] in WRITTEN else None
    return torch_step(torch, SHAPES[name], torch_forward(torch, name), update, *torch_mode(mode))


def torch_mode(mode):
    """What torch_step takes for one of PyTorch's modes, or for "whole", "whole-MODE"."""
    kind, _, compiler = mode.partition("-") if mode.startswith("whole") else (mode, "", mode)
    return kind, {} if compiler in ("", "eager", "default") else {"mode": compiler}


# ---- JAX ------------------------------------------------------------------------------------------

def jax_forward(jax, jnp, name):
    def softmax(x):
        return jax.nn.softmax(x, -1)

    def norm(x, w, b):
        wide = x.astype(jnp.float32)
        d = wide - wide.mean(-1, keepdims=True)
        return (d * jax.lax.rsqrt((d * d).mean(-1, keepdims=True) + 1e-5) * w + b).astype(x.dtype)

    def rms_norm(x, w):
        wide = x.astype(jnp.float32)
        return (wide * jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-5) * w).astype(x.dtype)

    def gelu(x):
        return jax.nn.gelu(x, approximate=False)

    def cross_entropy(x, t):
        log_p = jax.nn.log_softmax(x.astype(jnp.float32), -1)
        return -jnp.take_along_axis(log_p, t[:, None], 1).mean()

    def mlp(w1, b1, w2, b2, x, t):
        return cross_entropy(jax.nn.relu(x @ w1 + b1) @ w2 + b2, t)

    return {"softmax_grad": softmax, "layer_norm_grad": norm, "rms_norm_grad": rms_norm, "gelu_grad": gelu,
            "cross_entropy_grad": cross_entropy, "block_grad": block(softmax, norm, gelu, lambda x: jnp.split(x, 3, 2)),
            "mlp_sgd": mlp, "mlp_adam": mlp}.get(name)


def jax_step(jax, jnp, name):
    count, others, kind = SHAPES[name]
    forward = jax_forward(jax, jnp, name)

    def adam(p, g, m, v):
        m, v = m + (1 - BETA1) * (g - m), v + (1 - BETA2) * (g * g - v)
        change = LR / (1 - BETA1**STEP) * m / (jnp.sqrt(v) / math.sqrt(1 - BETA2**STEP) + 1e-8)
        return p * (1 - LR * (0.01 if kind == "adamw" else 0)) - change, m, v

    def updated(p, g, states):
        if kind == "sgd":
            return [x - RATE * d for x, d in zip(p, g)]
        new = [adam(*of) for of in zip(p, g, states[:count], states[count:])]
        return [x[i] for i in range(3) for x in new]

    def step(p, fixed, states):
        if not forward:
            return (), updated(p, fixed, states)
        y, pull = jax.vjp(lambda *p: forward(*p, *fixed), *p)
        g = pull(states[0] if kind == "cotangent" else jnp.ones_like(y))
        return ((y,), updated(p, g, states)) if kind in WRITTEN else ((y, *g), [])

    fixed_count = others if forward else count
    run = jax.jit(step, donate_argnums=(0, 2) if kind in WRITTEN else ())

    def call(operands):
        p, fixed, states = (operands[:count], operands[count:count + fixed_count], operands[count + fixed_count:])
        results, new = jax.block_until_ready(run(p, fixed, states))
        if new:  # p and states were given away
            operands[:count], operands[count + fixed_count:] = new[:count], new[count:]
        return results

    return call, count if kind in WRITTEN else 0
