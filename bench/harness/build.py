"""tools/bench build: what the plugin adds to compile times, medians of interleaved whole compiles."""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

PLAIN = "#include <stdio.h>\nint main(void) { puts(\"plain\"); return 0; }\n"
MLP = """#include <tcompile.h>
TC_COMPILE tc_tensor *mlp(const tc_tensor *x TC_SHAPE("f32[B,784]"),
                          const tc_tensor *w1 TC_SHAPE("f32[784,512]"), const tc_tensor *b1 TC_SHAPE("f32[512]"),
                          const tc_tensor *w2 TC_SHAPE("f32[512,10]"), const tc_tensor *b2 TC_SHAPE("f32[10]"))
{
    tc_tensor *h = tc_relu(tc_add(tc_matmul(x, w1), b1));
    return tc_softmax(tc_add(tc_matmul(h, w2), b2), -1);
}
"""


WAYS = ("without", "cpu", "cuda")


def command_of(clang, include, source, plugin, way):
    command = [clang, "-O2", "-c", "-I", include, source, "-o", os.devnull]
    if way != "without":
        command += ["-fplugin=" + plugin, "-fplugin-arg-tc-backend=" + ("all" if way == "cuda" else "openmp")]
    return command


def compile_ms(command):
    start = time.perf_counter()
    subprocess.run(command, check=True)
    return (time.perf_counter() - start) * 1e3


def makes_cuda(command):
    """Whether the file gets kernels for GPUs: it has annotations, and NVRTC is found."""
    done = subprocess.run(command + ["-Rpass=tc"], check=True, stderr=subprocess.PIPE)
    return b"for CPU and CUDA" in done.stderr


def main():
    p = argparse.ArgumentParser(prog="tools/bench build")
    p.add_argument("--build", required=True, help=argparse.SUPPRESS)
    p.add_argument("--out", required=True, help=argparse.SUPPRESS)
    p.add_argument("--clang", default="clang-19")
    p.add_argument("--runs", type=int, default=15)
    options = p.parse_args()
    plugin = os.path.join(options.build, "plugin", "libtcplugin.so")
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, text, bound in (("file without annotations", PLAIN, 30), ("MLP sample", MLP, 1500)):
            source = os.path.join(folder, "source.c")
            with open(source, "w", encoding="utf-8") as f:
                f.write(text)
            commands = {w: command_of(options.clang, "runtime/libtcrt/include", source, plugin, w) for w in WAYS}
            if not makes_cuda(commands["cuda"]):
                del commands["cuda"]
            times = {w: [] for w in commands}
            for _ in range(options.runs):
                for way, command in commands.items():
                    times[way].append(compile_ms(command))
            ms = {way: statistics.median(t) for way, t in times.items()}
            result[name] = {way + "_ms": t for way, t in ms.items()} | {"bound_ms": bound}
            print(f"{name}: {ms['without']:.0f} ms without the plugin, {ms['cpu']:.0f} ms with it: "
                  f"adds {ms['cpu'] - ms['without']:.0f} ms (bound {bound} ms)")
            if "cuda" in ms:
                print(f"{name}: {ms['cuda']:.0f} ms with kernels for GPUs too: adds {ms['cuda'] - ms['cpu']:.0f} ms")
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "build.json"), "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)


main()
