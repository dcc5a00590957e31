"""gpu_sweep_make.py --build B --root R --out FOLDER [--seed S --count N ...]: FOLDER/libswept.so, the functions of rows drawn at random
(bench/harness/sweep_draw.py) with kernels for GPUs, and FOLDER/swept.json, the rows, for gpu_sweep.py.  Needs clang, and no GPU."""
import argparse
import dataclasses
import json
import os

from sweep_draw import add_row_options, chosen_rows, print_rows
from sweep_families import GPU
from sweep_source import compiled, objects

LIBRARY, ROWS = "libswept.so", "swept.json"


def options_of():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--build", required=True)
    p.add_argument("--root", required=True)
    p.add_argument("--out", required=True)
    add_row_options(p)
    p.add_argument("--plugin", default="", help="another libtcplugin.so than the build's")
    p.add_argument("--arch", default="90")
    p.add_argument("--clang", default="clang-19")
    p.add_argument("--jobs", type=int)
    p.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="of the plugin")
    return p.parse_args()


def main():
    options = options_of()
    rows = chosen_rows(options, (0,), GPU)
    if options.list:
        print_rows(rows)
        return
    made, said = objects(rows, [f"{options.root}/backends/cuda/bench/bench_gpu.c"], options.plugin or f"{options.build}/plugin/libtcplugin.so",
                         ("backend=cuda", f"cuda-arch={options.arch}", "isa=v3", *options.option), (f"{options.build}/include", options.root),
                         options.out, options.clang, options.jobs, ("-fPIC", "-fvisibility=hidden"))
    runtime = os.path.abspath(f"{options.build}/runtime/libtcrt")
    compiled([options.clang, "-shared", "-fopenmp", *made, "-o", f"{options.out}/{LIBRARY}", f"{runtime}/libtcrt.so",
              f"-Wl,-rpath,{runtime}", "-lm", "-ldl"])
    with open(f"{options.out}/{ROWS}", "w", encoding="utf-8") as f:
        json.dump({"seed": options.seed, "rows": [{"row": dataclasses.asdict(r)} for r in rows]}, f)
    print(f"seed {options.seed}, {len(rows)} rows" + ("; not as a whole:\n" + said if said else ""))


if __name__ == "__main__":
    main()
