"""tools/bench build: what compiles cost, by what is compiled and what was compiled before.

Rows are files of bench/build; columns

    without    clang without the plugin (the bodies alone)
    cpu        kernels for CPUs, nothing kept
    gcc        the same by GCC with its plugin, where there is one
    cold       kernels for CPUs and GPUs, nothing kept
    warm       the same again, nothing changed
    changed    the same with one kernel changed

Each is the median of interleaved runs: seconds, and seconds of all processors together, which say more on
a machine that others use too.  In front of them stands what the object with kernels for CPUs takes, in KB, what it
takes with those for GPUs, and what the largest process took while it compiled, in MB.  --against PLUGIN adds a row of
each for another plugin (one without a cache has no use for it)."""
import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import tempfile
import time

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build")
INCLUDE = "build/release/include"
WAYS = ("without", "cpu", "gcc", "cold", "warm", "changed")
KEEP_NOTHING = ("without", "cpu", "gcc")

# Name, files, flags, what changes one kernel: file, text, another text.
SETS = (
    ("no annotations", ("plain.c",), (), ("plain.c", "plain", "other")),
    ("MLP", ("mlp.c",), (), ("mlp.c", "tc_relu", "tc_silu")),
    ("15 functions in 3 files", ("rows.c", "products.c", "pointwise.c"), (), ("rows.c", "tc_div_s(x", "tc_mul_s(x")),
    ("attention", ("attention.c",), (), ("attention.c", "tc_masked_fill(scores", "tc_masked_fill(tc_neg(scores)")),
    ("GPT-2 f32", ("gpt2.c",), (), ("gpt2.c", "tc_gelu_tanh", "tc_gelu")),
    ("GPT-2 bf16", ("gpt2.c",), ("-DBF16",), ("gpt2.c", "tc_gelu_tanh", "tc_gelu")),
    ("GPT-2 training step", ("gpt2.c",), ("-DSTEP",), ("gpt2.c", "tc_gelu_tanh", "tc_gelu")),
)
# Seconds: for plain files the plugin adds nothing that can be felt; goals for GPT-2 on 2 cores.
BOUNDS = {("no annotations", "cold"): 0.2, ("MLP", "cpu"): 1.5, ("GPT-2 f32", "cold"): 20, ("GPT-2 f32", "warm"): 1,
          ("GPT-2 training step", "cpu"): 15, ("GPT-2 training step", "cold"): 40}
GCC_BOUND = 1.15  # of the processor time by Clang
KILOBYTES = {"GPT-2 training step": 1024}  # of an object


class Bench:
    def __init__(self, options, folder):
        self.o, self.folder = options, folder

    def command(self, name, way, plugin, flags):
        source = os.path.join(self.folder, "changed" if way == "changed" else "as_is", name)
        compiler = [self.o.gcc, "-std=gnu17"] if way == "gcc" else [self.o.clang]
        command = [*compiler, "-O2", "-c", "-I", INCLUDE, "-I", HERE, *flags, source, "-o", self.object(name)]
        if way == "without":
            return command
        option = "-fplugin-arg-" + ("libtcgcc-" if way == "gcc" else "tc-")
        return command + ["-fplugin=" + (plugin_of_gcc(plugin) if way == "gcc" else plugin),
                          option + "backend=" + ("openmp" if way in KEEP_NOTHING else "all"),
                          *(option + each for each in self.o.option)]

    def ways(self, plugin):
        """Those that there are: GCC may be missing, or a plugin for it."""
        by_gcc = shutil.which(self.o.gcc) and os.path.exists(plugin_of_gcc(plugin))
        return [way for way in WAYS if way != "gcc" or by_gcc]

    def object(self, name):
        return os.path.join(self.folder, name + ".o")

    def kilobytes(self, files, way, plugin, flags):
        """Of the objects, which are stripped of what a linker does not need."""
        self.run(files, way, plugin, flags)
        for name in files:
            subprocess.run(["strip", "--strip-unneeded", self.object(name)], check=True)
        return sum(os.path.getsize(self.object(name)) for name in files) / 1024

    def environment(self, way):
        kept = os.path.join(self.folder, "kept")
        if way == "cold":
            shutil.rmtree(kept, ignore_errors=True)
        return dict(os.environ, TC_BUILD_CACHE="off" if way in KEEP_NOTHING else kept)

    def run(self, files, way, plugin, flags):
        """Seconds, seconds of all processors, and MB of the process that takes most.  One file after the other, as make without -j."""
        environment = self.environment(way)
        start, used, peak = time.perf_counter(), 0, 0
        for name in files:
            command = self.command(name, way, plugin, flags)
            process = subprocess.Popen(command, env=environment)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                raise subprocess.CalledProcessError(process.returncode, command)
            used += usage.ru_utime + usage.ru_stime
            peak = max(peak, usage.ru_maxrss / 1024)
        return time.perf_counter() - start, used, peak

    def measure(self, files, flags, change, plugins):
        """For each plugin and way the medians of seconds and of processor seconds; and the objects' size."""
        write_sources(self.folder, files, change)
        changed = [change[0]]  # make would compile that file alone
        times = {p: {w: [] for w in self.ways(path)} for p, path in plugins.items()}
        for _ in range(self.o.runs):
            for plugin, path in plugins.items():
                for way in times[plugin]:
                    these = changed if way == "changed" else files
                    times[plugin][way].append(self.run(these, way, path, flags))
        return {p: {**{w: [statistics.median(x) for x in zip(*t)] for w, t in ways.items()},
                    "KB": self.kilobytes(files, "cpu", plugins[p], flags),
                    "KB both": self.kilobytes(files, "warm", plugins[p], flags)} for p, ways in times.items()}


def plugin_of_gcc(plugin):
    return os.path.join(os.path.dirname(plugin), "gcc", "libtcgcc.so")


def write_sources(folder, files, change):
    for kind in ("as_is", "changed"):
        os.makedirs(os.path.join(folder, kind), exist_ok=True)
        for name in files:
            with open(os.path.join(HERE, name), encoding="utf-8") as f:
                text = f.read()
            if kind == "changed" and name == change[0]:
                assert change[1] in text, f"{name} has no {change[1]}"
                text = text.replace(change[1], change[2], 1)
            with open(os.path.join(folder, kind, name), "w", encoding="utf-8") as f:
                f.write(text)


def makes_for_gpus(options, plugin):
    """Whether the MLP gets kernels for GPUs: their compiler is found."""
    command = [options.clang, "-O2", "-c", "-I", INCLUDE, os.path.join(HERE, "mlp.c"), "-o", os.devnull,
               "-fplugin=" + plugin, "-Rpass=tc"]
    return b"for CPU and " in subprocess.run(command, check=True, stderr=subprocess.PIPE).stderr


def show(name, plugin, ways):
    def cell(way):
        if way not in ways:
            return f"{'':17} "
        bound = BOUNDS.get((name, way))
        late = bound is not None and plugin == "" and ways[way][0] > bound
        late = late or way == "gcc" and ways[way][1] > GCC_BOUND * ways["cpu"][1]
        return f"{ways[way][0]:7.2f} ({ways[way][1]:6.2f})" + ("!" if late else " ")
    large = "!" if plugin == "" and ways["KB"] > KILOBYTES.get(name, math.inf) else " "
    both = ways["KB both"]
    print(f"{name + plugin:32}{ways['KB']:6.0f}{large}{both:6.0f} {max(ways[w][2] for w in WAYS if w in ways):6.0f} "
          + "".join(cell(w) for w in WAYS), flush=True)


def main():
    p = argparse.ArgumentParser(prog="tools/bench build", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--build", required=True, help=argparse.SUPPRESS)
    p.add_argument("--out", required=True, help=argparse.SUPPRESS)
    p.add_argument("--clang", default="clang-19")
    p.add_argument("--gcc", default="gcc-12")
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="of the plugin, such as the architectures that kernels are made for")
    p.add_argument("--only", default="", help="rows whose name contains this")
    p.add_argument("--against", help="another libtcplugin.so")
    options = p.parse_args()
    plugins = {"": os.path.join(options.build, "plugin", "libtcplugin.so")}
    if options.against:
        plugins = {" (other)": options.against, **plugins}
    print("seconds (of all processors together); !: above the bound" if makes_for_gpus(options, plugins[""]) else
          "no compiler for GPUs was found: no kernels for them")
    print(f"{'':32}{'KB':>6} {'both':>6} {'MB':>6} " + "".join(f"{w:>17} " for w in WAYS))
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, files, flags, change in SETS:
            if options.only not in name:
                continue
            result[name] = Bench(options, folder).measure(files, flags, change, plugins)
            for plugin, ways in result[name].items():
                show(name, plugin, ways)
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "build.json"), "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)


main()
