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


def compile_ms(clang, include, source, plugin):
    command = [clang, "-O2", "-c", "-I", include, source, "-o", os.devnull]
    if plugin:
        command.append("-fplugin=" + plugin)
    start = time.perf_counter()
    subprocess.run(command, check=True)
    return (time.perf_counter() - start) * 1e3


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
            times = {None: [], plugin: []}
            for _ in range(options.runs):
                for which in times:
                    times[which].append(compile_ms(options.clang, "runtime/libtcrt/include", source, which))
            without, with_plugin = (statistics.median(times[w]) for w in (None, plugin))
            result[name] = {"without_ms": without, "with_ms": with_plugin, "bound_ms": bound}
            print(f"{name}: {without:.0f} ms without the plugin, {with_plugin:.0f} ms with it: "
                  f"adds {with_plugin - without:.0f} ms (bound {bound} ms)")
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "build.json"), "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)


main()
