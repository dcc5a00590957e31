"""Processes that run the same rows, measured in turns, and the ceilings of the machine beside them.

Contenders take turns in short blocks, so that neighbours and clocks disturb all alike; between blocks everybody's idle
threads have gone to sleep.  Every result is compared with a float64 reference first.
"""
import contextlib
import json
import os
import platform
import statistics
import subprocess
import tempfile
import time

import numpy as np

from families import check

QUIET = 0.22  # seconds in which idle OpenMP threads of the one before stop spinning; one thread has none
WARM = 0.03  # seconds in which threads that slept find a CPU each: they may wake on one
CEILINGS = ("fma_f32", "dot_bf16", "amx_bf16", "read", "copy", "triad")
HERE = os.path.dirname(os.path.abspath(__file__))
JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
# What keeps a peer's library to the instructions that TC_ISA leaves to the compiled functions.
PEERS_AT = {"bf16": "AVX512_CORE_BF16", "v4": "AVX512_CORE", "v3": "AVX2", "v2": "SSE41"}


class Contender:
    """One process behind a pipe."""

    def __init__(self, name, command, threads, first_cpu, extra_env):
        env = dict(os.environ, OMP_NUM_THREADS=str(threads), **extra_env)
        self.env = extra_env
        self.cpus = list(range(first_cpu, first_cpu + threads))
        cpus = ",".join(map(str, self.cpus))
        self.name = name
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            ["taskset", "-c", cpus, *command], env=env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)

    def ask(self, line):
        self.tell(line)
        return self.answer()

    def tell(self, line):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()

    def answer(self):
        answer = self.process.stdout.readline().strip()
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


def peer_environment(threads, isa="", compile_cpus=""):
    environment = {
        "LD_PRELOAD": JEMALLOC if os.path.exists(JEMALLOC) else "",
        "MALLOC_CONF": "dirty_decay_ms:-1,muzzy_decay_ms:-1",
        "XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}",
        "JAX_PLATFORMS": "cpu",
        "TC_COMPILE_CPUS": compile_cpus,
    }
    if isa in PEERS_AT:
        environment["ONEDNN_MAX_CPU_ISA"] = PEERS_AT[isa]
    return environment


def start_peer(name, python, threads, first_cpu, environment):
    return Contender(name, [python, os.path.join(HERE, "peers.py"), name, str(threads)], threads, first_cpu, environment)


def write_inputs(family, size, item, folder):
    rng = np.random.default_rng(1)
    first = family.inputs(size, rng)
    one = sum(a.size for a in first) * item
    sets = 1 if family.one_set else int(np.clip(np.ceil(64e6 / one), 1, 8 if len(first) < 100 else 2))
    for s in range(sets):
        for i, a in enumerate(first if s == 0 else family.inputs(size, rng)):
            a = np.ascontiguousarray(a, a.dtype if a.dtype.kind == "i" else np.float32)
            np.save(f"{folder}/in{s}_{i}.npy", a)
    return sets


def rounded(a, dtype):
    """What a contender sees: the float32 values, through bfloat16 for bf16 rows."""
    if a.dtype.kind == "i" or dtype == "f32":
        return a if a.dtype.kind == "i" else a.astype(np.float64)
    bits = a.astype(np.float32).view(np.uint32)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.view(np.float32).astype(np.float64)


def reference_of(family, dtype, folder):
    """What set 0 gives in float64, as a list, and its operands as contenders see them."""
    operands = []
    while os.path.exists(f"{folder}/in0_{len(operands)}.npy"):
        operands.append(rounded(np.load(f"{folder}/in0_{len(operands)}.npy"), dtype))
    reference = family.reference(*operands)
    return list(reference) if isinstance(reference, (list, tuple)) else [reference], operands


def prepare(contenders, family, dtype, sets, folder):
    """Loads and checks; gives {name: error in tolerances} and {name: reason} of those that cannot run."""
    reference, operands = reference_of(family, dtype, folder)
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
    quiet = QUIET if len(meter.cpus) > 1 else 0
    for _ in range(rounds):
        time.sleep(quiet)
        ceiling(meter, limits[0])  # warm, as contenders are
        for name in limits:
            ceilings[name].append(ceiling(meter, name))
        for c in contenders:
            time.sleep(quiet)
            c.times(warm[c.name])
            samples[c.name] += c.times(blocks[c.name])
    times = {name: {"median": statistics.median(t), "p10": float(np.percentile(t, 10)),
                    "p90": float(np.percentile(t, 90)), "runs": len(t)} for name, t in samples.items()}
    return times, spread(ceilings)


def versions(python):
    code = ("import json, importlib.metadata as m\n"
            "def v(p):\n try: return m.version(p)\n except m.PackageNotFoundError: return None\n"
            "print(json.dumps({p: v(p) for p in ('torch', 'jax', 'numpy')}))")
    return json.loads(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout)


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), platform.machine())
