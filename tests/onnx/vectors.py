"""Files of cases: writes them, builds them with the plugin, runs them."""
import os
import re
import subprocess

import safetensors
from scope import tolerance_of

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
SOURCES = ("onnx/driver", "onnx/batched", "onnx/gradients", "ops/exceptions", "guarded/operand", "guarded/pages")
KINDS = {"f32": "F32", "f64": "F64", "f16": "F16", "bf16": "BF16", "i8": "I8", "u8": "U8", "i16": "I16", "i32": "I32", "i64": "I64",
         "bool": "BOOL"}


def text_of(f, o):
    return f.batched_text() if o.batched else f.gradient_text(o.symbols) if o.gradients else f.text(o.symbols)


def row(case, f, o):
    """Of the table of cases: a member of onnx_case each."""
    error, is_sum = tolerance_of(case.name)
    fields = [f'"{case.name}"', f'"{f.symbol}"', f"call_{f.name}", len(f.used), len(f.results), error, str(is_sum).lower()]
    axes = [0] if not o.batched else ["TC_UNMAPPED" if a is None else a for a in f.axes()]
    fields += [f"batched_{f.name}" if o.batched else "NULL", f"{{{', '.join(map(str, axes))}}}", len(f.leaves()) if o.gradients else 0]
    return f"    {{{', '.join(map(str, fields))}}},\n"


def write(path, functions, o):
    """PATH.c and PATH.safetensors of pairs of a case and its function."""
    tensors, text = {}, '#include "driver.h"\n#include "helpers.h"\n\n'
    for case, f in functions:
        operands, results = case.sets[0]
        tensors |= {f"{case.name}.x{i}": operands[name] for i, name in enumerate(f.used)}
        tensors |= {f"{case.name}.y{i}": results[v.name] for i, v in enumerate(case.graph.outputs)}
        text += f"{text_of(f, o)}\n"
    text += f"static const onnx_case cases[] = {{\n{''.join(row(case, f, o) for case, f in functions)}}};\n\n"
    text += "int main(int argc, char **argv) { return run_onnx_cases(cases, sizeof cases / sizeof *cases, argc, argv); }\n"
    with open(f"{path}.c", "w", encoding="utf-8") as f:
        f.write(text)
    safetensors.write(f"{path}.safetensors", {name: (KINDS[t.dtype], t.array) for name, t in tensors.items()})


def build_driver(o):
    o.driver = [f"{o.out}/{os.path.basename(name)}.o" for name in SOURCES]
    for name, path in zip(SOURCES, o.driver):
        command = [*o.compiler, "-O1", "-c", "-I", o.include, "-I", TESTS, f"{TESTS}/{name}.c", "-o", path, *o.flags]
        subprocess.run(command, check=True)


def build(o, path):
    """What the compiler says of a file that cannot be built, or of functions that it cannot compile; "" where all is well."""
    name = os.path.splitext(os.path.basename(o.plugin))[0]
    options = [f"-fplugin-arg-{'tc' if name == 'libtcplugin' else name}-{x}" for x in ("backend=openmp", "cache=off", *o.option)]
    command = [*o.compiler, "-O0", "-Wall", "-Wextra", "-Werror", f"-fplugin={o.plugin}", *options, "-I", o.include, "-I", TESTS, "-I", HERE,
               f"{path}.c", *o.driver, "-o", path, o.runtime, f"-Wl,-rpath,{os.path.dirname(o.runtime)}", "-fopenmp", "-lm", *o.flags]
    p = subprocess.run(command, capture_output=True, text=True, check=False)
    return p.stderr if p.returncode or p.stderr else ""


def run(o, path, names):
    """What the program prints, and of cases that it crashed in, a line as of one that failed."""
    text, left = "", list(names)
    env = {k: v for k, v in os.environ.items() if not k.startswith("TC_")} | {"OMP_WAIT_POLICY": "passive"}
    while left:
        p = subprocess.run([*o.run, path, f"{path}.safetensors", *left], capture_output=True, text=True, check=False, env=env)
        text += p.stdout
        if p.returncode in (0, 1):
            return text + (p.stderr if p.returncode else "")
        last = (re.findall(r"^run (\w+)$", p.stdout, re.M) or left)[-1]
        text += f"FAIL {last} crashed: status {p.returncode}: {p.stderr[-2000:]}\n"
        left = left[left.index(last) + 1:]
    return text
