"""A peer as a process that obeys the same lines as tc_bench (bench/cpu/bench_main.c).

usage: peers.py torch-eager|torch-channels-last|torch-default|torch-max-autotune|torch-whole|jax THREADS
"""
import ctypes
import functools
import gc
import os
import sys
import time

import numpy as np

import networks_peers
import sweep_peers
import training_peers
from sweep_families import form_of


def attention(softmax, repeat):
    """repeat_kv and decode, of a framework's softmax(x, axis) and repeat(x, count, axis)."""
    def repeat_kv(q, k, v):
        k, v = repeat(k, 4, 1), repeat(v, 4, 1)
        return softmax(q @ k.swapaxes(2, 3) * 0.125, -1) @ v

    def decode(x, wq, k, v, wo):
        b, h, _, d = k.shape
        return repeat_kv((x @ wq).reshape(b, 4 * h, 1, d), k, v).reshape(b, -1) @ wo

    return repeat_kv, decode


class Torch:
    """PyTorch under inference_mode; compiled modes with fullgraph and static shapes.  threads 0: on a GPU."""

    def __init__(self, mode, threads):
        import torch
        import torch._inductor.config

        self.torch = torch
        self.mode = mode
        self.alone = threads > 0
        if threads:
            torch.set_num_threads(threads)
            torch._inductor.config.freezing = True
        self.dtypes = {"f32": torch.float32, "bf16": torch.bfloat16}

    def training(self, family, _layouts):
        """A function of a set of operands, and how many of these are results."""
        self.torch.compiler.reset()
        return training_peers.torch_function(self.torch, family, self.mode)

    def network(self, family):
        return networks_peers.torch_function(self.torch, family, self.mode)

    def function(self, family, _layouts=()):
        torch, f = self.torch, self.torch.nn.functional

        def chain(x, s, b):
            return f.gelu(x * s + b) * torch.sigmoid(x)

        def softmax(x):
            return torch.softmax(x, -1)

        def layer_norm(x, w, b):
            return f.layer_norm(x, x.shape[-1:], w, b, 1e-5)

        def cross_entropy(x, t):
            return f.cross_entropy(x, t)

        def black_scholes(s, k, t, v):
            root = v * torch.sqrt(t)
            d1 = (torch.log(s / k) + (v * v * 0.5 + 0.02) * t) / root
            n1 = (torch.erf(d1 * 0.70710678118654752) + 1) * 0.5
            n2 = (torch.erf((d1 - root) * 0.70710678118654752) + 1) * 0.5
            return s * n1 - k * torch.exp(t * -0.02) * n2

        def linear_gelu(x, w, b):
            return f.gelu(f.linear(x, w, b))

        def matmul(a, b):
            return a @ b

        repeat_kv, decode = attention(torch.softmax, torch.repeat_interleave)

        def lstm(x, wx, wh, b, s):
            h = c = s
            for t in range(x.shape[1]):
                i, f_, g, o = (x[:, t] @ wx + h @ wh + b).chunk(4, 1)
                c = torch.sigmoid(f_) * c + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
            return h

        steps = {}

        def step_on(device):
            if device not in steps:
                steps[device] = torch.tensor(10.0, device=device)
            return steps[device]

        def adamw(p, g, m, v):
            if self.mode == "eager":
                torch._fused_adamw_([p], [g], [m], [v], [], [step_on(p.device)], lr=1e-3, beta1=0.9, beta2=0.999,
                                    weight_decay=0.01, eps=1e-8, amsgrad=False, maximize=False)
                return p
            m.lerp_(g, 0.1)
            v.mul_(0.999).addcmul_(g, g, value=0.001)
            root = (v / (1 - 0.999**10)).sqrt() + 1e-8
            return p.mul_(1 - 1e-5).addcdiv_(m, root, value=-1e-3 / (1 - 0.9**10))

        def rms_norm(x, w):
            return f.rms_norm(x, x.shape[-1:], w, 1e-5)

        def sum_inner(x):
            return x.sum(1)

        def sum_outer(x):
            return x.sum(0)

        def sum_all(x):
            return x.sum()

        def transpose(x):
            return x.t().contiguous()

        def mlp(x, w1, b1, w2, b2):
            return torch.softmax(torch.relu(x @ w1 + b1) @ w2 + b2, -1)

        run = self.formula(family) if ":" in family else locals()[family]
        if self.mode == "eager":
            return run
        if self.alone:
            torch.compiler.reset()
        options = {} if self.mode in ("default", "whole") else {"mode": self.mode}
        return torch.compile(run, fullgraph=True, dynamic=False, **options)

    def formula(self, form):
        """Of a family of sweep_families.py."""
        functions = sweep_peers.Torch(self.torch)
        return functools.partial(form_of(form).formula, functions)

    def operand(self, array, dtype, layout):
        x = self.torch.from_numpy(array)
        x = x if array.dtype.kind == "i" else x.to(self.dtypes[dtype])
        if not layout:
            return networks_peers.torch_layout(self.torch, self.mode, x)
        kind, left, right = layout
        if kind == "columns":
            y = x.new_zeros((*x.shape[:-1], left + x.shape[-1] + right))[..., left:left + x.shape[-1]]
        else:
            y = x.new_zeros(left + x.numel())[left:].view(x.shape)
        return y.copy_(x)

    def call(self, run, operands):
        with self.torch.inference_mode():
            return run(*operands)

    def numpy(self, result):
        return result.detach().float().numpy()


class Jax:
    """XLA through jax.jit; every result is waited for."""

    def __init__(self, _mode, _threads):
        import jax
        import jax.numpy as jnp

        self.jax, self.jnp = jax, jnp
        jax.config.update("jax_enable_x64", True)
        self.dtypes = {"f32": jnp.float32, "bf16": jnp.bfloat16}

    def training(self, family, layouts):
        if any(kind == "columns" for kind, _, _ in layouts.values()):
            raise ValueError("arrays are dense, and gradients are of slices here")
        return training_peers.jax_step(self.jax, self.jnp, family)

    def function(self, family, layouts):
        """Columns of wider matrices are taken in the compiled function."""
        run = self.formula(family)
        columns = {i: slice(left, -right or None) for i, (kind, left, right) in layouts.items() if kind == "columns"}

        def sliced(*operands):
            return run(*(x[..., columns[i]] if i in columns else x for i, x in enumerate(operands)))

        return self.jax.jit(sliced if columns else run, donate_argnums=(0, 1, 2, 3) if family == "adamw" else ())

    def network(self, family):
        raise ValueError(f"{family} is not written for JAX")

    def formula(self, family):
        jax, jnp = self.jax, self.jnp
        if ":" in family:
            return functools.partial(form_of(family).formula, sweep_peers.Jax(jax, jnp))

        def chain(x, s, b):
            return jax.nn.gelu(x * s + b, approximate=False) * jax.nn.sigmoid(x)

        def softmax(x):
            return jax.nn.softmax(x, -1)

        def layer_norm(x, w, b):
            wide = x.astype(jnp.float32)
            d = wide - wide.mean(-1, keepdims=True)
            y = d * jax.lax.rsqrt((d * d).mean(-1, keepdims=True) + 1e-5)
            return (y * w + b).astype(x.dtype)

        def cross_entropy(x, t):
            wide = x.astype(jnp.float32)
            picked = jnp.take_along_axis(jax.nn.log_softmax(wide, -1), t[:, None], 1)
            return -picked.mean()

        def black_scholes(s, k, t, v):
            root = v * jnp.sqrt(t)
            d1 = (jnp.log(s / k) + (v * v * 0.5 + 0.02) * t) / root
            n1 = (jax.lax.erf(d1 * 0.70710678118654752) + 1) * 0.5
            n2 = (jax.lax.erf((d1 - root) * 0.70710678118654752) + 1) * 0.5
            return s * n1 - k * jnp.exp(t * -0.02) * n2

        def linear_gelu(x, w, b):
            return jax.nn.gelu(x @ w.T + b, approximate=False)

        def matmul(a, b):
            return a @ b

        repeat_kv, decode = attention(jax.nn.softmax, jnp.repeat)

        def lstm(x, wx, wh, b, s):
            h = c = s
            for t in range(x.shape[1]):
                i, f, g, o = jnp.split(x[:, t] @ wx + h @ wh + b, 4, 1)
                c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
                h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return h

        def adamw(p, g, m, v):
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
            p = p * (1 - 1e-5) - 1e-3 / (1 - 0.9**10) * m / (jnp.sqrt(v / (1 - 0.999**10)) + 1e-8)
            return p, g, m, v

        return locals()[family]

    def operand(self, array, dtype, layout):
        if layout and layout[0] == "columns":  # of a wider matrix, which `function` takes
            array = np.pad(array, [(0, 0)] * (array.ndim - 1) + [layout[1:]])
        return self.jnp.asarray(array, None if array.dtype.kind == "i" else self.dtypes[dtype])

    def call(self, run, operands):
        result = self.jax.block_until_ready(run(*operands))
        if isinstance(result, tuple):  # operands were given away
            operands[:] = result
            return result[0]
        return result

    def numpy(self, result):
        return np.asarray(result, np.float32)


def layouts_in(folder):
    """{operand: (kind, left, right)}, as bench/cpu/bench_main.c reads them."""
    layouts = {}
    if os.path.exists(f"{folder}/layout"):
        with open(f"{folder}/layout", encoding="utf-8") as f:
            for operand, kind, left, right in map(str.split, f):
                layouts[int(operand)] = kind, int(left), int(right)
    return layouts


def cpu_list(text):
    """"12-15,3" as a set."""
    ranges = [part.split("-") for part in text.split(",") if part]
    return {cpu for r in ranges for cpu in range(int(r[0]), int(r[-1]) + 1)}


def move(cpus):
    """Every thread of this process; what it starts from now on inherits the CPUs."""
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), cpus)


def resident(key):
    """A line of /proc/self/status, in bytes."""
    with open("/proc/self/status", encoding="utf-8") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith(key))


def free_unused():
    """What Python and jemalloc keep of freed memory goes to the system."""
    every_arena = b"arena.4096.purge"
    gc.collect()
    try:
        ctypes.CDLL(None).mallctl(every_arena, None, None, None, ctypes.c_size_t(0))
    except AttributeError:
        pass  # another malloc


class Server:
    def __init__(self, peer):
        self.peer, self.call, self.written, self.sets, self.next = peer, None, 0, [], 0
        self.measured_on = os.sched_getaffinity(0)
        self.compiled_on = cpu_list(os.environ.get("TC_COMPILE_CPUS", "")) or self.measured_on

    def ready(self):
        return "ok"

    def operands(self, dtype, folder, s):
        operands, layouts = [], layouts_in(folder)
        while os.path.exists(f"{folder}/in{s}_{len(operands)}.npy"):
            i = len(operands)
            operands.append(self.peer.operand(np.load(f"{folder}/in{s}_{i}.npy"), dtype, layouts.get(i)))
        return operands

    def function(self, family, layouts):
        if family in training_peers.SHAPES:
            return self.peer.training(family, layouts)
        if family in networks_peers.FAMILIES:
            return self.peer.network(family)
        run = self.peer.function(family, layouts)
        return lambda operands: (self.peer.call(run, operands),), 0

    def load(self, family, dtype, sets, folder):
        self.sets, self.next = [self.operands(dtype, folder, s) for s in range(int(sets))], 0
        self.call, self.written = self.function(family, layouts_in(folder))
        move(self.compiled_on)
        try:
            self.call(self.operands(dtype, folder, 0))  # some are written: not those of `save`
        finally:
            move(self.measured_on)
        return "ok"

    def save(self, path):
        results = [*self.call(self.sets[0]), *self.sets[0][:self.written]]
        for i, result in enumerate(results):
            np.save(f"{path}.{i}.npy" if i else path, self.peer.numpy(result))
        return "ok"

    def memory(self, count):
        free_unused()
        with open("/proc/self/clear_refs", "w", encoding="utf-8") as f:
            f.write("5")  # VmHWM starts anew
        before = resident("VmRSS:")
        self.time(count)
        return f"ok {resident('VmHWM:') - before}"

    def time(self, count):
        times = []
        for _ in range(int(count)):
            operands = self.sets[self.next % len(self.sets)]
            self.next += 1
            start = time.perf_counter_ns()
            result = self.call(operands)
            times.append(time.perf_counter_ns() - start)
            del result
        return "ok " + " ".join(map(str, times))


def main():
    kind, _, mode = sys.argv[1].partition("-")
    server = Server({"torch": Torch, "jax": Jax}[kind](mode, int(sys.argv[2])))
    answers = os.fdopen(os.dup(1), "w")  # compilers print to stdout: keep the answers apart
    os.dup2(2, 1)
    for line in sys.stdin:
        command, *arguments = line.split()
        if command == "quit":
            break
        try:
            answer = getattr(server, command)(*arguments)
        except Exception as error:  # a peer that cannot run a row is reported, not hidden
            answer = "error " + repr(error).replace("\n", " ")[:500]
        print(answer, file=answers, flush=True)


if __name__ == "__main__":
    main()
