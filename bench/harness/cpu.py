"""tools/bench cpu: compiled functions against PyTorch and JAX, interleaved in one run.

Contenders are processes that take turns in short blocks, so that neighbours and clocks disturb all
alike; between blocks everybody's idle threads have gone to sleep.  Every result is compared with a
float64 reference first.  Prints one row per measurement and writes JSON and Markdown.
"""
import argparse
import contextlib
import fcntl
import json
import os
import sys
import tempfile
import time

import report
from contenders import (CEILINGS, Contender, ceiling, cpu_model, measure, peer_environment, prepare, spread, start_peer, versions,
                        write_inputs)
from families import FAMILIES, ITEM
from models import MODELS
from networks import NETWORKS
from training import TRAINING

PEERS = ("torch-eager", "torch-channels-last", "torch-default", "torch-max-autotune", "torch-whole", "jax")
QUICK_PEERS = ("torch-eager", "torch-default")
SOME_ROWS = ("torch-whole", "torch-channels-last")  # take part where a family names them


def start(options, threads):
    environment = {"TC_ISA": options.isa} if options.isa else {}

    def program(name, path):
        return Contender(name, [path], threads, options.first_cpu, environment)

    contenders = [program("tcompile", options.program)]
    if options.symbolic:
        contenders.append(program("constant", options.program + "_constant"))
    if options.before:
        contenders.append(program("before", options.before))
    theirs = peer_environment(threads, options.isa, options.compile_cpus)
    contenders += [start_peer(p, options.python, threads, options.first_cpu, theirs) for p in options.peers]
    for c in contenders:  # nobody is still importing while something is measured
        c.ask("ready")
    return contenders


def peaks(contenders, family, dtype, sets, folder, options, threads):
    """{name: bytes by which a process grows at most while it is called}: results, workspace and what else calls
    keep.  Ours is a process that has not been called before; those of peers give back what compiling left."""
    grown = {}
    fresh = Contender("tcompile", [options.program], threads, options.first_cpu, contenders[0].env)
    try:
        for c in [fresh, *contenders[1:]]:
            with contextlib.suppress(RuntimeError):  # another build has no such command
                if c is fresh:
                    c.ask(f"load {family.name} {dtype} {sets} {folder}")
                grown[c.name] = int(c.ask("memory 3")[0])
    finally:
        fresh.quit()
    return grown


@contextlib.contextmanager
def turn(options):
    """Runs side by side that share a lock file measure one at a time."""
    if not options.lock:
        yield
        return
    with open(options.lock, "w", encoding="utf-8") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def run_row(contenders, meter, family, dtype, size, threads, options):
    contenders = [c for c in contenders if c.name not in SOME_ROWS or c.name in family.peers]
    with tempfile.TemporaryDirectory() as folder:
        sets = write_inputs(family, size, ITEM[dtype], folder)
        for c in contenders:
            c.pin()
        errors, failed = prepare(contenders, family, dtype, sets, folder)
        able = [c for c in contenders if c.name in errors]
        memory = peaks(able, family, dtype, sets, folder, options, threads) if family.group == "training" else {}
        if "tcompile" not in errors:
            raise SystemExit(failed["tcompile"])
        contenders[0].ask("counters")
        with turn(options):
            times, ceilings = measure(able, meter, options.rounds, report.limits(family.streams, dtype))
        hits, fallbacks, mallocs, faults = map(int, contenders[0].ask("counters"))
    if not hits:
        raise SystemExit(f"{family.name}: no kernel ran; build the benchmark again")
    return {"family": family.name, "dtype": dtype, "size": size, "threads": threads, "times": times,
            "ceilings": ceilings, "errors": errors, "memory": memory, "group": family.group, "failed": failed, "fallbacks": fallbacks, "hits": hits,
            "mallocs": mallocs, "page_faults": faults,
            "bytes": family.bytes(size, ITEM[dtype]), "flops": family.flops(size), "streams": family.streams}


def write(options, result):
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "cpu.json"), "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
    with open(os.path.join(options.out, "cpu.md"), "w", encoding="utf-8") as f:
        f.write(report.markdown(result))


def warn_of_load():
    """Times are of the clock on the wall: processes that wait for a CPU look slow, by the factor that others take."""
    load, cpus = os.getloadavg()[0], os.cpu_count()
    if load > cpus:
        print(f"tools/bench: {load:.0f} other threads want these {cpus} CPUs: times contain waiting for them", file=sys.stderr)


def main():
    p = argparse.ArgumentParser(prog="tools/bench cpu")
    p.add_argument("--program", required=True, help=argparse.SUPPRESS)
    p.add_argument("--python", required=True, help=argparse.SUPPRESS)
    p.add_argument("--out", required=True, help=argparse.SUPPRESS)
    p.add_argument("--only", default="", help="families, comma separated; training: those with gradients, and optimisers; "
                   "networks: attention, convolutions and what goes with them; models: ResNet, BERT and GPT-2, whole, which are "
                   "not measured unless they are named")
    p.add_argument("--dtypes", default="f32,bf16")
    p.add_argument("--threads", default="1,2")
    p.add_argument("--sizes", default="", help="sizes such as 4096x4096, comma separated: the rows to run again")
    p.add_argument("--quick", action="store_true", help="2 rounds, PyTorch eager and default only")
    p.add_argument("--symbolic", action="store_true",
                   help="the only peer is the same program with code for each of the measured sizes")
    p.add_argument("--before", default="", metavar="PROGRAM", help="the only peer is tc_bench of another build")
    p.add_argument("--rounds", type=int)
    p.add_argument("--isa", default="", help="highest level of the CPU to use, such as bf16: without AMX")
    p.add_argument("--first-cpu", type=int, default=0, help="measure on this CPU and the next ones")
    p.add_argument("--compile-cpus", default="", help="CPUs on which the peers compile, such as 12-15")
    p.add_argument("--lock", default="", help="file by which runs side by side take turns to measure")
    p.add_argument("--peers", type=lambda s: [x for x in s.split(",") if x])
    options = p.parse_args()
    if options.rounds is None:
        options.rounds = 2 if options.quick else 5
    if options.peers is None:
        options.peers = [] if options.symbolic or options.before else list(QUICK_PEERS if options.quick else PEERS)
    warn_of_load()
    sizes = {tuple(map(int, s.split("x"))) for s in options.sizes.split(",") if s}
    names = options.only.split(",")
    wanted = [f for f in FAMILIES + TRAINING + NETWORKS + (MODELS if options.only else ()) if not options.only or f.name in names or f.group in names]
    result = {"cpu": cpu_model(), "date": time.strftime("%Y-%m-%d"), "versions": versions(options.python),
              "ceilings": {}, "rows": []}
    for threads in map(int, options.threads.split(",")):
        contenders = start(options, threads)
        meter = Contender("ceilings", [options.program], threads, options.first_cpu, contenders[0].env)
        try:
            with turn(options):
                result["ceilings"][threads] = spread({c: [ceiling(meter, c)] for c in CEILINGS})
            print(report.ceilings(threads, result["ceilings"][threads]), flush=True)
            for family in wanted:
                for dtype in (d for d in options.dtypes.split(",") if d in family.dtypes):
                    for size in (s for s in family.sizes if not sizes or s in sizes):
                        row = run_row(contenders, meter, family, dtype, size, threads, options)
                        result["rows"].append(row)
                        print(report.row(row), flush=True)
                        write(options, result)
        finally:
            for c in contenders + [meter]:
                c.quit()
    print(report.summary(result))
    write(options, result)


if __name__ == "__main__":
    main()
