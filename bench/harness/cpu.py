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
import platform
import statistics
import subprocess
import tempfile
import time

import numpy as np

import report
from families import FAMILIES, ITEM, check
from training import TRAINING

PEERS = ("torch-eager", "torch-default", "torch-max-autotune", "torch-whole", "jax")
QUICK_PEERS = PEERS[:2]
TRAINING_PEERS = ("torch-whole",)  # take part in rows of training alone
QUIET = 0.22  # seconds in which idle OpenMP threads of the one before stop spinning
WARM = 0.03  # seconds in which threads that slept find a CPU each: they may wake on one
CEILINGS = ("fma_f32", "dot_bf16", "amx_bf16", "read", "copy", "triad")
HERE = os.path.dirname(os.path.abspath(__file__))
JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
# What keeps a peer's library to the instructions that TC_ISA leaves to the compiled functions.
PEERS_AT = {"bf16": "AVX512_CORE_BF16", "v4": "AVX512_CORE", "v3": "AVX2", "v2": "SSE41"}


class Contender:
    """One process behind a pipe."""

    def __init__(self, name, command, options, threads, extra_env):
        env = dict(os.environ, OMP_NUM_THREADS=str(threads), **extra_env)
        self.env = extra_env
        self.cpus = list(range(options.first_cpu, options.first_cpu + threads))
        cpus = ",".join(map(str, self.cpus))
        self.name = name
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            ["taskset", "-c", cpus, *command], env=env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline().strip()
        except BrokenPipeError:
            answer = ""
        if not answer.startswith("ok"):
            raise RuntimeError(f"{self.name}: {answer or 'the process died'}")
        return answer[2:].split()

    def times(self, count):
        return [float(t) for t in self.ask(f"time {count}")]

    def run_ns(self):
        """{thread: ns that it has run}."""
        ran = {}
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{self.process.pid}/task/{thread}/schedstat") as f:
                ran[int(thread)] = int(f.read().split()[0])
        return ran

    def pin(self, work=None):
        """A CPU of its own for each thread that works in work(): the kernel may leave two on one, the other idle.
        Without it: any CPU for all threads, and for processes that they start."""
        before = self.run_ns()
        if work:
            work()
        ran = {t: ns - before.get(t, 0) for t, ns in self.run_ns().items()}
        busiest = sorted(ran, key=ran.get, reverse=True)[:len(self.cpus)] if work else []
        for thread in ran:
            cpus = [self.cpus[busiest.index(thread)]] if thread in busiest else self.cpus
            with contextlib.suppress(OSError):  # it has ended
                os.sched_setaffinity(thread, cpus)

    def quit(self):
        try:
            self.process.communicate("quit\n", timeout=20)
        except (subprocess.TimeoutExpired, BrokenPipeError, ValueError):
            self.process.kill()


def start(options, threads):
    ours = Contender("tcompile", [options.program], options, threads, {"TC_ISA": options.isa} if options.isa else {})
    contenders = [ours]
    if options.symbolic:
        contenders.append(Contender("constant", [options.program + "_constant"], options, threads, ours.env))
    if options.before:
        contenders.append(Contender("before", [options.before], options, threads, ours.env))
    peer_env = {
        "LD_PRELOAD": JEMALLOC if os.path.exists(JEMALLOC) else "",
        "MALLOC_CONF": "dirty_decay_ms:-1,muzzy_decay_ms:-1",
        "XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}",
        "JAX_PLATFORMS": "cpu",
        "TC_COMPILE_CPUS": options.compile_cpus,
    }
    if options.isa in PEERS_AT:
        peer_env["ONEDNN_MAX_CPU_ISA"] = PEERS_AT[options.isa]
    for peer in options.peers:
        command = [options.python, os.path.join(HERE, "peers.py"), peer, str(threads)]
        contenders.append(Contender(peer, command, options, threads, peer_env))
    for c in contenders:  # nobody is still importing while something is measured
        c.ask("ready")
    return contenders


def write_inputs(family, size, item, folder):
    rng = np.random.default_rng(1)
    first = family.inputs(size, rng)
    one = sum(a.size for a in first) * item
    sets = int(np.clip(np.ceil(64e6 / one), 1, 8 if len(first) < 100 else 2))
    for s in range(sets):
        for i, a in enumerate(first if s == 0 else family.inputs(size, rng)):
            a = np.ascontiguousarray(a, a.dtype if a.dtype == np.int64 else np.float32)
            np.save(f"{folder}/in{s}_{i}.npy", a)
    return sets


def rounded(a, dtype):
    """What a contender sees: the float32 values, through bfloat16 for bf16 rows."""
    if a.dtype == np.int64 or dtype == "f32":
        return a if a.dtype == np.int64 else a.astype(np.float64)
    bits = a.astype(np.float32).view(np.uint32)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.view(np.float32).astype(np.float64)


def prepare(contenders, family, dtype, sets, folder):
    """Loads and checks; gives {name: error in tolerances} and {name: reason} of those that cannot run."""
    operands = []
    while os.path.exists(f"{folder}/in0_{len(operands)}.npy"):
        operands.append(rounded(np.load(f"{folder}/in0_{len(operands)}.npy"), dtype))
    reference = family.reference(*operands)
    if not isinstance(reference, (list, tuple)):
        reference = [reference]
    errors, failed = {}, {}
    for c in contenders:
        try:
            c.ask(f"load {family.name} {dtype} {sets} {folder}")
            c.ask(f"save {folder}/out.npy")
            errors[c.name] = largest_error(family, dtype, folder, reference, operands)
        except RuntimeError as error:
            failed[c.name] = str(error)
    return errors, failed


def largest_error(family, dtype, folder, reference, operands):
    """Of what `save` wrote.  The last results are operands that were written in place."""
    errors = []
    before = [None] * (len(reference) - len(family.written)) + [operands[i] for i in family.written]
    for i, (expected, old) in enumerate(zip(reference, before)):
        path = f"{folder}/out.npy" + (f".{i}.npy" if i else "")
        result = np.load(path).reshape(expected.shape)
        errors.append(check(family, dtype, result, expected, old) if np.isfinite(result).all() else np.inf)
    return max(errors)


def peaks(contenders, family, dtype, sets, folder, options, threads):
    """{name: bytes by which a process grows at most while it is called}: results, workspace and what else calls
    keep.  Ours is a process that has not been called before; those of peers give back what compiling left."""
    grown = {}
    fresh = Contender("tcompile", [options.program], options, threads, contenders[0].env)
    try:
        for c in [fresh, *contenders[1:]]:
            with contextlib.suppress(RuntimeError):  # another build has no such command
                if c is fresh:
                    c.ask(f"load {family.name} {dtype} {sets} {folder}")
                grown[c.name] = int(c.ask("memory 3")[0])
    finally:
        fresh.quit()
    return grown


def ceiling(meter, name):
    """GFLOP/s or GB/s, several times, by a process of its own: its page faults are not those of what is compared with it."""
    return [float(v) for v in meter.ask(f"ceiling {name}")]


def spread(rounds):
    """{name: {best: the best of a round, the median of these; median: of all}}."""
    return {name: {"best": statistics.median(max(v) for v in lists),
                   "median": statistics.median(x for v in lists for x in v)} for name, lists in rounds.items()}


def measure(contenders, meter, rounds, limits):
    """Medians and p10/p90 in ns; blocks of about 80 ms, interleaved, and with them the ceilings that limit the row:
    clocks and bandwidths change within a run."""
    warm, blocks = {}, {}
    for c in contenders:
        c.times(3)
        one = statistics.median(c.times(3))
        warm[c.name] = int(np.clip(WARM * 1e9 / one, 2, 500))
        blocks[c.name] = int(np.clip(80e6 / one, 3, 50))
        c.pin(lambda: c.times(warm[c.name]))
    meter.pin(lambda: ceiling(meter, limits[0]))
    samples = {c.name: [] for c in contenders}
    ceilings = {name: [] for name in limits}
    for _ in range(rounds):
        time.sleep(QUIET)
        ceiling(meter, limits[0])  # warm, as contenders are
        for name in limits:
            ceilings[name].append(ceiling(meter, name))
        for c in contenders:
            time.sleep(QUIET)
            c.times(warm[c.name])
            samples[c.name] += c.times(blocks[c.name])
    times = {name: {"median": statistics.median(t), "p10": float(np.percentile(t, 10)),
                    "p90": float(np.percentile(t, 90)), "runs": len(t)} for name, t in samples.items()}
    return times, spread(ceilings)


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
    contenders = [c for c in contenders if c.name not in TRAINING_PEERS or family.group == "training"]
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


def versions(python):
    code = ("import json, importlib.metadata as m\n"
            "def v(p):\n try: return m.version(p)\n except m.PackageNotFoundError: return None\n"
            "print(json.dumps({p: v(p) for p in ('torch', 'jax', 'numpy')}))")
    return json.loads(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout)


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), platform.machine())


def write(options, result):
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "cpu.json"), "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
    with open(os.path.join(options.out, "cpu.md"), "w", encoding="utf-8") as f:
        f.write(report.markdown(result))


def main():
    p = argparse.ArgumentParser(prog="tools/bench cpu")
    p.add_argument("--program", required=True, help=argparse.SUPPRESS)
    p.add_argument("--python", required=True, help=argparse.SUPPRESS)
    p.add_argument("--out", required=True, help=argparse.SUPPRESS)
    p.add_argument("--only", default="", help="families, comma separated; training: those with gradients, and optimisers")
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
    sizes = {tuple(map(int, s.split("x"))) for s in options.sizes.split(",") if s}
    names = options.only.split(",")
    wanted = [f for f in FAMILIES + TRAINING if not options.only or f.name in names or f.group in names]
    result = {"cpu": cpu_model(), "date": time.strftime("%Y-%m-%d"), "versions": versions(options.python),
              "ceilings": {}, "rows": []}
    for threads in map(int, options.threads.split(",")):
        contenders = start(options, threads)
        meter = Contender("ceilings", [options.program], options, threads, contenders[0].env)
        try:
            with turn(options):
                result["ceilings"][threads] = spread({c: [ceiling(meter, c)] for c in CEILINGS})
            print(report.ceilings(threads, result["ceilings"][threads]), flush=True)
            for family in wanted:
                for dtype in options.dtypes.split(","):
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
