"""tools/bench sweep gpu: the rows that gpu_sweep_make.py drew and compiled, against PyTorch's modes on one GPU.

Measured and checked as gpu.py does; the best peer is the best mode that ran.  The report is that of the sweep on CPUs.
"""
import argparse
import dataclasses
import json
import os
import subprocess
import sys
import time

import torch

import sweep_report
from gpu import DTYPES, Family, Library, MODES, Ours, Peer, checked, copy_bandwidth, machine, make_sets, measure, median_ms, normal
from sweep_draw import list_of, rows_of_file
from gpu_sweep_make import LIBRARY, ROWS
from sweep_source import code_key, named

PRODUCT = {"f32": 4096, "bf16": 8192}  # of a square product that reaches the rate of its unit


class Drawn(Family):
    """A row as a family of one size."""

    def __init__(self, row, function):
        self.row, self.form = row, row.form()
        super().__init__(self.form.peer, (), self.operands, None, cancels=self.form.cancels, ours=(function,))

    def operands(self):
        size, index = self.row.size, self.form.index
        return [torch.randint(0, size[index[i]], shape, device="cuda") if i in index else normal(*shape) * self.form.scale(i, size)
                for i, shape in enumerate(self.form.shapes(size))]

    def placed(self, i, x):
        """As columns of a wider matrix or behind an offset, as bench/cpu/bench_main.c does."""
        kind, left, right = self.row.layout.get(i, ("dense", 0, 0))
        if kind == "dense":
            return x
        if kind == "columns":
            y = x.new_zeros((*x.shape[:-1], left + x.shape[-1] + right))[..., left:left + x.shape[-1]]
        else:
            y = x.new_zeros(left + x.numel())[left:].view(x.shape)
        return y.copy_(x)


def product_rate(dtype):
    """GFLOP/s of a large product of the library."""
    n = PRODUCT[dtype]
    a, b = (normal(n, n).to(DTYPES[dtype]) for _ in range(2))
    return 2 * n**3 / median_ms(12, lambda: a @ b) * 1e-6


def ceilings_here():
    """What bounds rows: the copy, for reading too, and the rates of products, that of f32 for all other arithmetic."""
    copy = copy_bandwidth()
    found = {"copy": copy, "read": copy, **{f"{d} product": product_rate(d) for d in PRODUCT}}
    return {name: {"best": value, "median": value} for name, value in found.items()}


def unit_of(row):
    form = row.form()
    product = form.streams is None if form.product is None else form.product
    return f"{row.dtype if product else 'f32'} product"


def run_row(libraries, peers, row, function, rounds, ceilings):
    torch.compiler.reset()
    family = Drawn(row, function)
    sets = make_sets(family, (), row.dtype)
    team, errors, failed = checked([Ours(library, function, name) for name, library in libraries.items()] + peers, family, row.dtype, sets)
    first = libraries["tcompile"]
    first.counters()
    times = measure(team, rounds) if "tcompile" in errors else {}
    hits, fallbacks = first.counters()
    for library in libraries.values():
        library.lib.bench_unload()
    form = row.form()
    return {"row": dataclasses.asdict(row), "label": row.label(), "family": row.family, "dtype": row.dtype, "threads": row.threads,
            "times": {name: {"median": t["ms"] * 1e6, "p10": t["low"] * 1e6, "p90": t["high"] * 1e6} for name, t in times.items()},
            "host_us": {name: t["host_us"] for name, t in times.items()}, "ceilings": ceilings, "unit": unit_of(row), "errors": errors,
            "failed": failed, "hits": hits, "fallbacks": fallbacks, "bytes": form.bytes(row.size, 4 if row.dtype == "f32" else 2),
            "flops": form.flops(row.size), "streams": form.streams, "product": form.product}


def compile_part(rows, names, peers, part):
    """Fills PyTorch's cache of compiled kernels with every N-th row."""
    index, parts = map(int, part.split("/"))
    for row in rows[index::parts]:
        family = Drawn(row, names[code_key(row)])
        with torch.inference_mode(not family.trains):
            torch.compiler.reset()
            sets = make_sets(family, (), row.dtype)[:1]
            for peer in peers:
                try:
                    peer.load(family, row.dtype, sets)
                except Exception:  # it is seen again when the row is measured
                    pass


def compile_side_by_side(jobs):
    """One process at a time is enough to measure, not to compile."""
    parts = [subprocess.Popen([sys.executable, *sys.argv, "--compile-only", f"{i}/{jobs}"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) for i in range(jobs)]
    for process in parts:
        process.wait()


def measure_all(options, rows, names, peers, result):
    libraries = {"tcompile": Library(f"{options.made}/{LIBRARY}")}
    if options.before:
        libraries["before"] = Library(f"{options.before}/{LIBRARY}")
    begun = time.monotonic() - result.get("seconds", 0)
    for row in rows:
        family = Drawn(row, names[code_key(row)])
        try:
            with torch.inference_mode(not family.trains):
                done = run_row(libraries, peers, row, names[code_key(row)], options.rounds, result["ceilings"])
        except RuntimeError as error:  # of the device: nothing works in this process any more
            print(f"{row.index:4} {row.label()}: {error}; going on behind it", flush=True)
            os.execv(sys.executable, [sys.executable, *sys.argv, "--behind", str(row.index)])
        torch.cuda.empty_cache()
        if done["times"]:
            result["rows"].append(done)
            print(sweep_report.line(done), flush=True)
        else:
            result["broken"] += 1
            print(f"{row.index:4} {row.label()}: FAILED: {done['failed']['tcompile']}", flush=True)
        result["seconds"] = time.monotonic() - begun
        sweep_report.write(options.out, result)


def options_of():
    p = argparse.ArgumentParser(prog="tools/bench sweep gpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--made", required=True, help="what gpu_sweep_make.py wrote")
    p.add_argument("--before", default="", help="the same rows, made by another plugin: one more peer")
    p.add_argument("--out", required=True)
    p.add_argument("--peers", type=list_of(str), default=["eager", "default"], help="of " + ", ".join(MODES))
    p.add_argument("--rows", type=list_of(int), default=[], help="numbers of the rows")
    p.add_argument("--rounds", type=int, default=6)
    p.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) - 2), help="processes of PyTorch that compile first")
    p.add_argument("--compile-only", metavar="I/N", help=argparse.SUPPRESS)
    p.add_argument("--behind", type=int, default=-1, help=argparse.SUPPRESS)  # this row; those in front are in the file
    return p.parse_args()


def main():
    options = options_of()
    torch.set_grad_enabled(False)
    torch._dynamo.config.recompile_limit = 64  # one function, several modes
    torch.backends.cudnn.allow_tf32 = False  # as products are: f32 means f32
    made = f"{options.made}/{ROWS}"
    rows = rows_of_file(made)
    names = named(rows)
    rows = [r for r in rows if r.index > options.behind and (not options.rows or r.index in options.rows)]
    peers = [Peer(mode) for mode in options.peers]
    if options.compile_only:
        compile_part(rows, names, peers, options.compile_only)
        return
    if options.jobs > 1 and options.behind < 0 and set(options.peers) - {"eager"}:
        compile_side_by_side(options.jobs)
    with open(made, encoding="utf-8") as f:
        seed = json.load(f)["seed"]
    m = machine()
    result = {"cpu": m["device"], "date": m["date"], "seed": seed, "rounds": options.rounds, "broken": 0,
              "versions": {"PyTorch": m["torch"], "CUDA": m["cuda"], "driver": m["driver"]}, "ceilings": ceilings_here(), "rows": []}
    if options.behind >= 0 and os.path.exists(f"{options.out}/sweep.json"):
        with open(f"{options.out}/sweep.json", encoding="utf-8") as f:
            result.update((key, value) for key, value in json.load(f).items() if key in ("rows", "seconds", "broken"))
    print(f"{m['device']}, seed {seed}, {len(rows)} rows; " + ", ".join(f"{n} {c['best']:.0f}" for n, c in result["ceilings"].items()), flush=True)
    measure_all(options, rows, names, peers, result)
    print(sweep_report.summary(result))
    if result["broken"] or any(sweep_report.is_wrong(r) for r in result["rows"]):
        raise SystemExit("some results are wrong")


if __name__ == "__main__":
    main()
