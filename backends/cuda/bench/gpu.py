"""tools/bench gpu: compiled functions against PyTorch on one GPU, interleaved in one process.

bench_gpu.c is loaded into this process: both sides work on the same tensors, on the same
stream, between CUDA events.  A measurement is a block of calls between two events, divided by their
number; contenders take turns.  Inputs rotate through sets that together are larger than the cache.
Every result is first compared with the same function in float64.  Writes Markdown and JSON.
"""
import argparse
import ctypes
import json
import os
import platform
import statistics
import subprocess
import time

import torch

import training_peers
from families import TOLERANCE
from peers import Torch

MODES = ("eager", "default", "max-autotune", "reduce-overhead")
# Steps of training also as one function, gradients and update in it.
STEP_MODES = MODES + ("whole", "whole-max-autotune", "whole-reduce-overhead")
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
CACHE_BYTES = 256 << 20  # inputs of all sets together: several times the L2 cache
MOST_BYTES = 8 << 30
BLOCK_MS = 4.0


def normal(*size):
    return torch.randn(*size, device="cuda", dtype=torch.float32)


def uniform(low, high, n):
    return torch.rand(n, device="cuda", dtype=torch.float32) * (high - low) + low


class Family:
    """How a family is fed, and its least traffic in elements; indices: in bytes beside it."""

    def __init__(self, name, sizes, inputs, elements, indices=lambda *size: 0, dtypes=("f32", "bf16"), bandwidth=True,
                 cancels=False, moving=None, ours=(), modes=MODES):
        self.name, self.sizes, self.inputs, self.elements, self.indices = name, sizes, inputs, elements, indices
        self.dtypes, self.bandwidth, self.cancels = dtypes, bandwidth, cancels
        self.moving = moving  # operands that are others in each set; None: all; the rest are weights and states
        self.ours, self.modes = ours or (name,), modes
        self.trains = name in training_peers.SHAPES

    def moves(self, i):
        return self.moving is None or i in self.moving

    def placed(self, _i, x):
        """Operand i, as it lies in memory."""
        return x


def layer(i, o):
    return [normal(i, o) * (2 / i) ** 0.5, 0.1 * normal(o)]


def mlp_step(states):
    """Operands of a step of 784-1024-10: parameters, images, classes, and the optimiser's states."""
    def inputs(b):
        parameters = [*layer(784, 1024), *layer(1024, 10)]
        made = [*parameters, normal(b, 784), torch.randint(0, 10, (b,), device="cuda")]
        if states:
            made += [1e-3 * torch.randn_like(p) for p in parameters] + [1e-6 * (0.5 + torch.rand_like(p)) for p in parameters]
        return made

    return inputs


def many(c):
    """Operands of AdamW over 50 layers of four parameters, gradients, means and squares."""
    shapes = [(c, 4 * c), (4 * c,), (4 * c, c), (c,)] * 50
    return [scale * (x * x if scale == 0.01 else x) for scale in (1, 1, 0.1, 0.01) for x in map(lambda s: normal(*s), shapes)]


ROWS = ((2048, 1000), (16384, 4096), (4096, 32000))
GRADS = ((4096, 768), (1999, 4099), (16384, 4096))
SUMS = ((1024, 1024), (16384, 4096), (1 << 20, 64))
FAMILIES = (
    Family("chain", ((1024, 1024), (4096, 8192), (16384, 4096)),
           lambda r, c: [normal(r, c), normal(c), normal(c)], lambda r, c: 2 * r * c + 2 * c),
    Family("softmax", ROWS, lambda r, c: [normal(r, c) * 3], lambda r, c: 2 * r * c),
    Family("layer_norm", ((4096, 768), (16384, 4096), (8192, 8192)),
           lambda r, c: [normal(r, c), normal(c), normal(c)], lambda r, c: 2 * r * c + 2 * c),
    Family("rms_norm", ((4096, 768), (16384, 4096), (8192, 8192)),
           lambda r, c: [normal(r, c), normal(c)], lambda r, c: 2 * r * c + c),
    Family("cross_entropy", ((2048, 1000), (8192, 8192), (4096, 50257)),
           lambda r, c: [normal(r, c) * 2, torch.randint(0, c, (r,), device="cuda")], lambda r, c: r * c,
           lambda r, c: 8 * r),
    Family("sum_inner", SUMS, lambda r, c: [normal(r, c)], lambda r, c: r * c + r, cancels=True),
    Family("sum_outer", SUMS, lambda r, c: [normal(r, c)], lambda r, c: r * c + c, cancels=True),
    Family("sum_all", SUMS, lambda r, c: [normal(r, c) + 0.5], lambda r, c: r * c, cancels=True),
    Family("transpose", ((1000, 1001), (4097, 8191), (16384, 8192)), lambda r, c: [normal(r, c)], lambda r, c: 2 * r * c),
    Family("black_scholes", ((1000_000,), (1 << 24,), (1 << 26,)),
           lambda n: [uniform(10, 200, n), uniform(10, 200, n), uniform(0.1, 3, n), uniform(0.1, 0.6, n)],
           lambda n: 5 * n, cancels=True),
    Family("linear_gelu", ((512, 768, 3072), (4096, 768, 3072), (8192, 1024, 4096)),
           lambda m, k, n: [normal(m, k), normal(n, k) / k**0.5, normal(n)], lambda m, k, n: m * k + n * k + n + m * n,
           dtypes=("bf16",), bandwidth=False, cancels=True, moving=(0,)),
    Family("mlp", ((64,), (512,), (4096,)),
           lambda b: [normal(b, 784), normal(784, 512) / 28, normal(512), normal(512, 10) / 22, normal(10)],
           lambda b: b * 794 + 784 * 512 + 512 * 11 + 10, dtypes=("f32",), bandwidth=False, moving=(0,),
           ours=("mlp", "mlp_recorded")),
    Family("softmax_grad", GRADS, lambda r, c: [normal(r, c), normal(r, c)], lambda r, c: 4 * r * c, cancels=True),
    Family("layer_norm_grad", GRADS, lambda r, c: [normal(r, c), normal(c), normal(c), normal(r, c)],
           lambda r, c: 4 * r * c + 4 * c, cancels=True),
    Family("rms_norm_grad", GRADS, lambda r, c: [normal(r, c), normal(c), normal(r, c)], lambda r, c: 4 * r * c + 2 * c,
           cancels=True),
    Family("gelu_grad", GRADS, lambda r, c: [normal(r, c), normal(r, c)], lambda r, c: 4 * r * c, cancels=True),
    Family("cross_entropy_grad", ((2048, 1000), (8192, 8192), (4096, 50257)),
           lambda r, c: [normal(r, c) * 2, torch.randint(0, c, (r,), device="cuda")], lambda r, c: 2 * r * c,
           lambda r, c: 8 * r, cancels=True),
    Family("mlp_sgd", ((64,), (37,), (512,)), mlp_step(False), lambda b: 0, dtypes=("f32",), bandwidth=False, cancels=True,
           moving=(4, 5), ours=("mlp_sgd", "mlp_sgd_recorded"), modes=STEP_MODES),
    Family("mlp_adam", ((64,), (37,), (512,)), mlp_step(True), lambda b: 0, dtypes=("f32",), bandwidth=False, cancels=True,
           moving=(4, 5), ours=("mlp_adam", "mlp_adam_recorded"), modes=STEP_MODES),
    Family("adamw", ((1000_003,), (16_800_000,), (130_000_000,)),
           lambda n: [normal(n), normal(n), 0.1 * normal(n), 0.01 * normal(n) ** 2], lambda n: 7 * n, dtypes=("f32",),
           cancels=True),
    Family("adamw_many", ((33,), (128,), (256,)), many, lambda c: 7 * 50 * (8 * c * c + 5 * c), cancels=True,
           modes=("eager",)),
)


class Library:
    """The compiled functions."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        for name in ("bench_load", "bench_save", "bench_time"):
            getattr(self.lib, name).restype = ctypes.c_char_p

    @staticmethod
    def managed(tensor):
        """The tensor's DLManagedTensor, which the callee takes over."""
        capsule = torch.utils.dlpack.to_dlpack(tensor.detach())
        name = b"dltensor"
        ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
        pointer = ctypes.pythonapi.PyCapsule_GetPointer(ctypes.py_object(capsule), name)
        ctypes.pythonapi.PyCapsule_SetName(ctypes.py_object(capsule), b"used_dltensor")
        return ctypes.c_void_p(pointer)

    @staticmethod
    def check(error):
        if error:
            raise RuntimeError(error.decode())

    def load(self, family, dtype, sets):
        flat = [self.managed(x) for operands in sets for x in operands]
        self.check(self.lib.bench_load(family.encode(), dtype.encode(), len(sets), (ctypes.c_void_p * len(flat))(*flat)))

    def save(self, likes):
        out = [torch.full_like(like, float("nan")) for like in likes]
        torch.cuda.synchronize()
        self.check(self.lib.bench_save(len(out), (ctypes.c_void_p * len(out))(*map(self.managed, out))))
        return out

    def time(self, n):
        """(ms, host µs) per call."""
        ms, host = ctypes.c_float(), ctypes.c_double()
        self.check(self.lib.bench_time(n, ctypes.byref(ms), ctypes.byref(host)))
        return ms.value, host.value

    def counters(self):
        hits, fallbacks = ctypes.c_uint64(), ctypes.c_uint64()
        self.lib.bench_counters(ctypes.byref(hits), ctypes.byref(fallbacks))
        return hits.value, fallbacks.value


class Ours:
    def __init__(self, library, family, name=""):
        self.library, self.family = library, family
        self.name = name or ("tcompile recorded" if family.endswith("_recorded") else "tcompile")

    def load(self, _family, dtype, sets):
        self.dtype, self.sets = dtype, sets
        self.library.load(self.family, dtype, sets)

    def results(self, likes):
        return self.library.save(likes)

    def block(self, n):
        self.library.load(self.family, self.dtype, self.sets)
        self.library.time(2)
        return self.library.time(n)


def runner(mode, family):
    """What PyTorch makes of the family: a function of operands that gives a list of results, and how many operands it
    writes."""
    if family.trains:
        return training_peers.torch_function(torch, family.name, mode)
    run, written = Torch(mode, 0).function(family.name), family.name == "adamw"

    def call(operands):
        result = run(*operands)
        return [] if written else [result]

    return call, int(written)


class Peer:
    def __init__(self, mode):
        self.mode, self.name = mode, "torch " + mode
        self.start, self.stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def load(self, family, _dtype, sets):
        self.sets, self.next = sets, 0
        self.run, self.written = runner(self.mode, family)
        for i, operand in enumerate(sets[0]):
            if not family.moves(i):
                torch._dynamo.mark_static_address(operand)  # weights: CUDA graphs need not copy them
        for _ in range(4):
            self.call()

    def call(self):
        operands = self.sets[self.next % len(self.sets)]
        self.next += 1
        return self.run(operands)

    def results(self, _likes):
        self.next = 0
        got = [x.detach().clone() for x in self.call()]
        return got + [x.detach().clone() for x in self.sets[0][:self.written]]

    def block(self, n):
        for _ in range(2):
            self.call()
        begin = time.perf_counter()
        self.start.record()
        for _ in range(n):
            self.call()
        host = (time.perf_counter() - begin) / n
        self.stop.record()
        self.stop.synchronize()
        return self.start.elapsed_time(self.stop) / n, host * 1e6


def make_sets(family, size, dtype):
    first = [family.placed(i, x if x.dtype == torch.int64 else x.to(DTYPES[dtype])) for i, x in enumerate(family.inputs(*size))]
    one = sum(x.numel() * x.element_size() for i, x in enumerate(first) if family.moves(i))
    count = max(2, min(32, -(-CACHE_BYTES // one)))
    if count * one > MOST_BYTES:
        count = 1  # alone it is many times the cache
    return [first] + [[family.placed(i, x.clone()) if family.moves(i) else x for i, x in enumerate(first)] for _ in range(count - 1)]


def error_of(family, dtype, result, reference):
    """The largest error in units of the tolerance."""
    rtol, atol = TOLERANCE[dtype]
    scale = reference.abs()
    if family.cancels:
        scale = scale.clamp(min=scale.max().item())
    wrong = ((result.double() - reference).abs() / (atol + rtol * scale)).max().item()
    return wrong if wrong == wrong else float("inf")


def double(x):
    return x.clone() if x.dtype == torch.int64 else x.double()


class Reference:
    """Results in float64; of what is written, the change."""

    def __init__(self, family, operands):
        self.family, self.before = family, [double(x) for x in operands]
        run, self.written = runner("eager", family)
        after = [x.clone() for x in self.before]
        self.results = [x.detach() for x in run(after)]
        self.results += [x.detach() - y for x, y in zip(after[:self.written], self.before)]

    def likes(self, dtype):
        return [x.to(DTYPES[dtype]) for x in self.results]

    def restore(self, operands):
        """States are written, too."""
        for x, value in zip(operands, self.before) if self.written else ():
            x.detach().copy_(value)

    def error(self, dtype, results):
        if len(results) != len(self.results):
            return float("inf")
        values = len(results) - self.written
        changes = [x.double() - y for x, y in zip(results[values:], self.before)]
        return max(error_of(self.family, dtype, *pair) for pair in zip(results[:values] + changes, self.results))


def measure(contenders, rounds):
    samples = {c.name: [] for c in contenders}
    count = {}
    for c in contenders:
        ms, host = c.block(5)
        count[c.name] = int(max(4, min(200, BLOCK_MS / max(ms, host * 1e-3))))
    for _ in range(rounds):
        for c in contenders:
            samples[c.name].append(c.block(count[c.name]))
    return {name: {"ms": statistics.median(ms for ms, _ in s), "host_us": statistics.median(h for _, h in s),
                   "low": min(ms for ms, _ in s), "high": max(ms for ms, _ in s)} for name, s in samples.items()}


def checked(contenders, family, dtype, sets):
    """Those that ran, with the errors of their results by name, and why others did not."""
    reference = Reference(family, sets[0])
    likes = reference.likes(dtype)
    ran, errors, failed = [], {}, {}
    for c in contenders:
        try:
            c.load(family, dtype, sets)
            reference.restore(sets[0])
            errors[c.name] = reference.error(dtype, c.results(likes))
            ran.append(c)
        except Exception as error:  # a contender that cannot run a row is printed, not hidden
            failed[c.name] = repr(error)[:300]
    reference.restore(sets[0])
    return ran, errors, failed


def run_row(library, peers, family, size, dtype, rounds):
    torch.compiler.reset()
    sets = make_sets(family, size, dtype)
    contenders, errors, failed = checked([Ours(library, name) for name in family.ours] + [peer for peer in peers if peer.mode in family.modes],
                                         family, dtype, sets)
    library.counters()
    times = measure(contenders, rounds)
    hits, fallbacks = library.counters()
    library.lib.bench_unload()
    item = 4 if dtype == "f32" else 2
    return {"family": family.name, "dtype": dtype, "size": size, "times": times, "errors": errors, "failed": failed,
            "hits": hits, "fallbacks": fallbacks, "bandwidth": family.bandwidth,
            "bytes": item * family.elements(*size) + family.indices(*size)}


def median_ms(count, run):
    """Of one call of run."""
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for _ in range(count):
        start.record()
        run()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
    return statistics.median(times)


def copy_bandwidth():
    """GB/s read and written by a device-to-device copy of 1 GiB."""
    x = torch.randn(1 << 28, device="cuda")
    y = torch.empty_like(x)
    return 2 * x.numel() * 4 / median_ms(20, lambda: y.copy_(x)) * 1e-6


def machine():
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                            capture_output=True, text=True, check=False).stdout.strip().split("\n")[0]
    return {"date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "device": torch.cuda.get_device_name(),
            "driver": driver, "cuda": torch.version.cuda, "torch": torch.__version__, "python": platform.python_version()}


# ---- the report ----------------------------------------------------------------------------------


def ours_of(row):
    return min((t["ms"] for name, t in row["times"].items() if name.startswith("tcompile")), default=float("nan"))


def best_peer(row):
    return min(((t["ms"], n) for n, t in row["times"].items() if n.startswith("torch")), default=(float("nan"), "none"))


def share(row, copy):
    return row["bytes"] * 1e-6 / ours_of(row) / copy


def worst(row):
    return max((e for name, e in row["errors"].items() if name.startswith("tcompile")), default=float("inf"))


def is_right(row):
    """Within the tolerance, or at most twice PyTorch's own error where sums are long."""
    return worst(row) <= max(1, 2 * row["errors"].get("torch eager", 0))


def line(row, copy):
    cells = [f"{row['family']} {row['dtype']} {'×'.join(map(str, row['size']))}"]
    for name in ("tcompile", "tcompile recorded") + tuple("torch " + m for m in STEP_MODES):
        t = row["times"].get(name)
        if t or name != "tcompile recorded":
            cells.append(f"{t['ms']:.4f}" if t else "failed" if name in row["failed"] else "")
    if "tcompile recorded" in row["times"]:
        cells[1] += " / " + cells.pop(2)
    cells.append(f"{best_peer(row)[0] / ours_of(row):.2f}")
    cells.append(f"{share(row, copy):.0%}" if row["bandwidth"] else "")
    cells.append(f"{worst(row):.2f}" + ("" if is_right(row) else " WRONG"))
    cells.append(" / ".join(f"{t['host_us']:.1f}" for n, t in row["times"].items() if n.startswith("tcompile"))
                 + ("" if row["fallbacks"] == 0 else f" ({row['fallbacks']} fallbacks)"))
    return "| " + " | ".join(cells) + " |"


def verdicts(result):
    rows, copy = result["rows"], result["copy"]

    def verdict(text, missing):
        return [f"- {'holds' if not missing else 'MISSED'}: {text}"] + [f"  - {m}" for m in missing]

    def named(r, detail):
        return f"{r['family']} {r['dtype']} {'×'.join(map(str, r['size']))}: {detail}"

    large = [r for r in rows if r["bandwidth"] and r["bytes"] >= 100e6]
    out = verdict("large rows reach 85 % of the copy bandwidth",
                  [named(r, f"{share(r, copy):.0%}") for r in large if share(r, copy) < 0.85])
    out += verdict("every row is at or ahead of PyTorch's best mode",
                   [named(r, f"{best_peer(r)[0] / ours_of(r):.2f}× ({best_peer(r)[1]})")
                    for r in rows if ours_of(r) > best_peer(r)[0] * 1.02])
    out += verdict("results are right, and no body ran",
                   [named(r, f"error {worst(r):.2f}, {r['fallbacks']} fallbacks, {r['failed']}")
                    for r in rows if not is_right(r) or r["fallbacks"] or
                    any(n.startswith("tcompile") for n in r["failed"])])
    for r in rows:
        t = r["times"].get("tcompile recorded")
        most = {"mlp": (0.015, 10), "mlp_sgd": (0.030, 30)}.get(r["family"])
        if t and most and r["size"] == (64,):
            out += verdict(f"{r['family']} at batch 64, recorded: {t['ms']:.4f} ms (at most {most[0]:.3f}), host "
                           f"{t['host_us']:.1f} µs (at most {most[1]})",
                           [] if t["ms"] <= most[0] and t["host_us"] <= most[1] else ["it takes longer"])
        if r["family"] == "adamw_many" and r["size"] == (256,):
            out += verdict(f"AdamW of 200 parameters, {r['dtype']}: {share(r, copy):.0%} of the copy (at least 85 %)",
                           [] if share(r, copy) >= 0.85 else ["it takes longer"])
        if r["family"] == "adamw" and r["size"] == (130_000_000,):
            out += verdict(f"AdamW of 130 M parameters: {ours_of(r):.3f} ms (at most 0.90)",
                           [] if ours_of(r) <= 0.90 else ["it takes longer"])
    return out


def markdown(result):
    m = result["machine"]
    out = [f"## Benchmark, {m['date']}", "",
           f"{m['device']}, driver {m['driver']}, CUDA {m['cuda']}, PyTorch {m['torch']}, Python {m['python']}; a copy moved "
           f"{result['copy']:.0f} GB/s in this run. ms per call, medians by CUDA events of {result['rounds']} blocks of calls, "
           "interleaved, inputs rotated; ratio: PyTorch's best mode / ours; share: of the copy's bandwidth for the least bytes; "
           "error: in tolerances, against float64; host: µs per call of the CPU. Two numbers of ours: plain and "
           "`mode=reduce-overhead`; the ratio takes the better one. whole: PyTorch compiles a step with gradients and update as one "
           "function; else its parts, and eager or fused updates.", "",
           "| row | tcompile | " + " | ".join(STEP_MODES) + " | ratio | share | error | host |",
           "|---|---|" + "---|" * (len(STEP_MODES) + 4)]
    out += [line(r, result["copy"]) for r in result["rows"]]
    failed = [f"- {r['family']} {r['dtype']}: {name}: {why}" for r in result["rows"] for name, why in r["failed"].items()]
    return "\n".join(out + [""] + verdicts(result) + (["", "Could not run:"] + failed if failed else [])) + "\n"


def main():
    p = argparse.ArgumentParser(prog="tools/bench gpu")
    p.add_argument("--library", required=True, help=argparse.SUPPRESS)
    p.add_argument("--out", required=True, help=argparse.SUPPRESS)
    p.add_argument("--only", default="", help="families, comma separated")
    p.add_argument("--peers", default=",".join(STEP_MODES), help="PyTorch's modes, comma separated")
    p.add_argument("--rounds", type=int, default=12)
    p.add_argument("--compile-only", metavar="I/N", help="fills PyTorch's cache of compiled kernels with every N-th row")
    options = p.parse_args()
    torch.set_grad_enabled(False)
    torch._dynamo.config.recompile_limit = 64  # one function, several modes
    wanted = [(f, s, d) for f in FAMILIES if not options.only or f.name in options.only.split(",")
              for d in f.dtypes for s in f.sizes]
    peers = [Peer(mode) for mode in options.peers.split(",") if mode]
    if options.compile_only:
        part, parts = map(int, options.compile_only.split("/"))
        for family, size, dtype in wanted[part::parts]:
            for peer in peers if family.bandwidth else []:  # which product is best is seen when nothing else runs
                if peer.mode not in family.modes:
                    continue
                with torch.inference_mode(not family.trains):
                    peer.load(family, dtype, make_sets(family, size, dtype)[:2])
        return
    library = Library(options.library)
    result = {"machine": machine(), "copy": copy_bandwidth(), "rounds": options.rounds, "rows": []}
    os.makedirs(options.out, exist_ok=True)
    print(f"copy {result['copy']:.0f} GB/s", flush=True)
    for family, size, dtype in wanted:
        with torch.inference_mode(not family.trains):
            row = run_row(library, peers, family, size, dtype, options.rounds)
        result["rows"].append(row)
        print(line(row, result["copy"]), flush=True)
        with open(os.path.join(options.out, "bench.json"), "w", encoding="utf-8") as f:
            json.dump(result, f, indent=1)
        with open(os.path.join(options.out, "bench.md"), "w", encoding="utf-8") as f:
            f.write(markdown(result))
    print("\n".join(verdicts(result)))


if __name__ == "__main__":
    main()
