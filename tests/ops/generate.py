#!/usr/bin/env python3
"""generate.py API.def FOLDER FILES: writes ops_<i>.c and ops_<i>.safetensors for the cases of cases.py.

Fails when a function of graph/api.def has no case: the table and the tests cannot drift apart.
"""
import json
import re
import struct
import sys

import numpy as np

import cases
from cases import CASES, FLOATS, SIZES

RANGE = {"i8": (-128, 127), "u8": (0, 255), "i16": (-2**15, 2**15 - 1), "i32": (-2**31, 2**31 - 1),
         "i64": (-2**63, 2**63 - 1)}
WIDTH = {"i8": 8, "u8": 8, "i16": 16, "i32": 32, "i64": 64}
BIG = {"f32": 3e38, "f64": 1e308, "f16": 6e4, "bf16": 3e38}
TINY = {"f32": 1e-40, "f64": 1e-310, "f16": 1e-6, "bf16": 1e-39}


def to_dtype(a, dtype):
    """The values that a tensor of dtype holds, as float64, int64 or bool."""
    if dtype == "bool":
        return np.asarray(a) != 0
    if dtype in RANGE:
        wide = np.asarray(a).astype(np.int64)
        return wide.astype({"i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32, "i64": np.int64}[dtype]).astype(np.int64)
    with np.errstate(over="ignore"):
        if dtype == "bf16":
            bits = np.ascontiguousarray(a, np.float32).view(np.uint32).astype(np.uint64)
            rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
            return np.where(np.isnan(a), np.nan, rounded.astype(np.float64)).reshape(np.shape(a))
        return np.asarray(a).astype({"f32": np.float32, "f64": np.float64, "f16": np.float16}[dtype]).astype(np.float64)


def values(domain, dtype, shape, rng):
    """Operand values by domain; see the uses in cases.py."""
    if dtype == "bool":
        return rng.random(shape) < (0.05 if domain == "sparse" else 0.5)
    if dtype in FLOATS:
        quarter = lambda lo, hi: rng.integers(lo * 4, hi * 4 + 1, shape) / 4
        sign = rng.choice([-1.0, 1.0], shape)
        made = {
            "normal": lambda: rng.standard_normal(shape) * 2, "any": lambda: rng.standard_normal(shape) * 2,
            "small": lambda: quarter(-2, 2), "count": lambda: quarter(0, 3), "positive": lambda: rng.uniform(0.1, 4, shape),
            "nonzero": lambda: sign * rng.uniform(0.1, 4, shape), "unit": lambda: rng.uniform(-0.95, 0.95, shape),
            "above1": lambda: rng.uniform(1, 5, shape), "halves": lambda: rng.integers(-8, 9, shape) / 2,
            "quarters": lambda: quarter(-5, 5), "divisor": lambda: sign * rng.integers(1, 13, shape) / 4,
            "near1": lambda: rng.uniform(0.9, 1.1, shape), "sparse": lambda: (rng.random(shape) < 0.05) * 1.0,
            "probability": lambda: rng.random(shape)}[domain]()
        return to_dtype(made, dtype)
    low = 0 if dtype == "u8" else -1
    lo, hi = {"normal": (20 * low, 20), "any": RANGE[dtype], "small": (2 * low, 2), "count": (0, 3), "positive": (1, 9), "above1": (1, 9),
              "nonzero": (1, 9), "unit": (0, 0), "halves": (20 * low, 20), "quarters": (20 * low, 20),
              "divisor": (5 * low, 5), "shift": (2 * low, WIDTH[dtype] + 2), "sparse": (0, 1), "near1": (1, 1),
              "index": (0, SIZES["V"] - 1), "probability": (0, 1)}[domain]
    made = rng.integers(lo, hi, shape, dtype=np.int64, endpoint=True)
    if domain == "near1" and dtype != "u8":
        made = rng.choice([-1, 1], shape).astype(np.int64)
    return made * (rng.random(shape) < 0.05) if domain == "sparse" else made


def specials(dtype):
    return np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, BIG[dtype], -BIG[dtype], TINY[dtype], -TINY[dtype]])


def result_dtype(case, dtype):
    if case.result == "same":
        return dtype
    if case.result == "float":
        return dtype if dtype in FLOATS else "f32"
    if case.result == "sum":
        return dtype if dtype in FLOATS else "i64"
    return case.result


def resolve(shape, sizes):
    return tuple(sizes[d] if isinstance(d, str) else d for d in shape)


def expected(case, dtype, operands):
    out_dtype = result_dtype(case, dtype)
    with np.errstate(all="ignore"):
        y = np.asarray(case.ref(*operands))
        if out_dtype == "bool":
            return y.astype(bool)
        if out_dtype in RANGE:
            return to_dtype(y, out_dtype)
        y = y.astype(np.float64)
        over = np.isinf(to_dtype(y, out_dtype)) & ~np.isnan(y)  # what the dtype cannot hold is infinite
        return np.where(over, np.copysign(np.inf, y), y)


def operand_dtypes(case, dtype):
    return [case.fixed.get(i, dtype) for i in range(len(case.shapes))]


def data_sets(case, dtype, rng):
    """name -> operand arrays."""
    dtypes = operand_dtypes(case, dtype)
    domains = case.domains or (case.domain,) * len(dtypes)

    def make(sizes):
        return [values(d, t, resolve(s, sizes), rng) for d, t, s in zip(domains, dtypes, case.shapes)]

    sets = {"plain": make(SIZES)}
    if case.shapes and case.shapes[0]:
        repeated = [np.broadcast_to(x[:1], x.shape).copy() if x.ndim else x for x in sets["plain"]]
        sets["stride0"] = repeated
    names = [d for s in case.shapes for d in s if isinstance(d, str)]
    if case.empty and names:
        sets["empty"] = make({**SIZES, names[0]: 0})
    if case.special and dtype in FLOATS:
        s = to_dtype(specials(dtype), dtype)
        n = len(s)
        grids = [s.reshape(1, n)] if len(dtypes) == 1 else [np.repeat(s, n).reshape(n, n), np.tile(s, n).reshape(n, n)]
        if all(len(shape) == 2 for shape in case.shapes):
            sets["special"] = grids[:len(dtypes)]
    return sets


def write_safetensors(path, tensors):
    header, blobs, at = {}, [], 0
    for name, a in tensors.items():
        a = np.asarray(a, dtype=np.uint8 if a.dtype == bool else a.dtype)  # bools as u8
        blob = np.ascontiguousarray(a).tobytes()
        kind = {"float64": "F64", "int64": "I64", "uint8": "U8"}[a.dtype.name]
        header[name] = {"dtype": kind, "shape": list(a.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def c_function(number, case, dtype):
    parameters = ", ".join(
        f'const tc_tensor *{"abc"[i]} TC_SHAPE("{t}[{",".join(map(str, s))}]")'
        for i, (s, t) in enumerate(zip(case.shapes, operand_dtypes(case, dtype)))) or "void"
    call = case.call.replace("TC_SAME", f"TC_{dtype.upper()}")
    arguments = ", ".join(f"x[{i}]" for i in range(len(case.shapes)))
    return (f"TC_COMPILE static tc_tensor *f{number}({parameters}) {{ return {call}; }}\n"
            f"static tc_tensor *r{number}(tc_tensor *const *x) {{ (void)x; return f{number}({arguments}); }}\n")


def c_row(number, case, dtype, sets):
    dtypes = ", ".join(f"TC_{t.upper()}" for t in operand_dtypes(case, dtype)) or "0"
    flags = " | ".join(n for n, on in (("OP_SUM_LIKE", case.sum_like), ("OP_PURE_VIEW", case.pure_view)) if on) or "0"
    call = case.call.replace("\\", "\\\\").replace('"', '\\"')
    return (f'    {{"{number}", "f{number}", "{dtype}: {call}", r{number}, {len(case.shapes)}, {{{dtypes}}}, '
            f'TC_{result_dtype(case, dtype).upper()}, "{" ".join(sets)}", {flags}}},\n')


def main():
    api, folder, files = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(api, encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    functions = set(re.findall(r"\b(tc_\w+)", text))
    in_other_tests = {"tc_split", "tc_keep", "tc_size", "tc_rank", "tc_numel", "tc_copy_", "tc_add_", "tc_sub_",
                      "tc_mul_", "tc_div_", "tc_fill_"}  # not functions of values: tests/plugin, tests/programs
    missing = functions - {c.function for c in CASES} - in_other_tests
    if missing:
        sys.exit(f"no test case for {', '.join(sorted(missing))}: add them to tests/ops/cases.py")
    rng = np.random.default_rng(2026)
    jobs = [(n, c, d) for n, (c, d) in enumerate((c, d) for c in CASES for d in c.dtypes)]
    for i in range(files):
        source, rows, tensors = '#include "driver.h"\n\n', "", {}
        for number, case, dtype in jobs[i::files]:
            sets = data_sets(case, dtype, rng)
            for name, operands in sets.items():
                for j, x in enumerate(operands):
                    tensors[f"{number}.{name}.{j}"] = x
                tensors[f"{number}.{name}.out"] = expected(case, dtype, operands)
            source += c_function(number, case, dtype)
            rows += c_row(number, case, dtype, sets)
        source += f"\nstatic const op_case cases[] = {{\n{rows}}};\n\nint main(int argc, char **argv) {{\n"
        source += "  return run_op_cases(cases, sizeof cases / sizeof *cases, argc, argv);\n}\n"
        with open(f"{folder}/ops_{i}.c", "w", encoding="utf-8") as f:
            f.write(source)
        write_safetensors(f"{folder}/ops_{i}.safetensors", tensors)
    print(f"{len(jobs)} functions")


main()
