#!/usr/bin/env python3
"""generate.py API.def FOLDER FILES: writes ops_<i>.c and ops_<i>.safetensors for the cases of cases.py.

Fails when a function of graph/ops/api.def has no case: the table and the tests cannot drift apart.
"""
import dataclasses
import os
import re
import sys

import numpy as np

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import api_table  # noqa: E402
import cases  # noqa: E402
import safetensors  # noqa: E402
from cases import CASES, FLOATS, SIZES  # noqa: E402

ELEMENTWISE = set()  # functions
RANGE = {"i8": (-128, 127), "u8": (0, 255), "i16": (-2**15, 2**15 - 1), "i32": (-2**31, 2**31 - 1),
         "i64": (-2**63, 2**63 - 1)}
WIDTH = {"i8": 8, "u8": 8, "i16": 16, "i32": 32, "i64": 64}
BIG = {"f32": 3e38, "f64": 1e308, "f16": 6e4, "bf16": 3e38}
TOLERANCE = {"f32": 1.3e-6, "f64": 1e-7, "f16": 1e-3, "bf16": 1.6e-2}  # as in driver.c
TINY = {"f32": 1e-40, "f64": 1e-310, "f16": 1e-6, "bf16": 1e-39}


def saturated(a, dtype):
    """What a cast makes of floating values: towards zero; NaN is 0, what lies outside is the nearest end."""
    least, most = RANGE[dtype]
    whole = np.trunc(np.nan_to_num(a, nan=0.0, posinf=np.inf, neginf=-np.inf))
    inside = (whole > least) & (whole < most)  # ends of i64 become floats that are no i64
    return np.where(inside, np.where(inside, whole, 0).astype(np.int64), np.where(whole >= most, most, least))


def ends(dtype):
    """Values of dtype at and around the ends of all integer dtypes."""
    around = [s * (2.0 ** bits + d) for bits in (0, 7, 8, 15, 16, 31, 32, 63, 64) for s in (1, -1) for d in (-1, -0.5, 0, 0.5, 1)]
    if dtype in FLOATS:
        with np.errstate(over="ignore"):
            bounds = [np.nextafter(np.float32(2.0 ** b), np.float32(0)) for b in (7, 8, 15, 16, 31, 63)]
        return to_dtype(np.concatenate([specials(dtype), around, bounds, [3e9, -3e9, 300.7, -300.7, 1e18, -1e18]]), dtype)
    least, most = RANGE[dtype]
    return np.array(sorted({min(max(int(v), least), most) for v in around}), np.int64)


def to_dtype(a, dtype):
    """The values that a tensor of dtype holds, as float64, int64 or bool."""
    if dtype == "bool":
        return np.asarray(a) != 0
    if dtype in RANGE:
        wide = np.asarray(a)
        wide = saturated(wide, dtype) if wide.dtype.kind == "f" else wide.astype(np.int64)
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
    if domain == "ends":
        return np.resize(ends(dtype), shape)
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
    if dtype in RANGE:
        least, most = RANGE[dtype]
        return np.array(sorted({least, least + 1, max(least, -1), 0, 1, 2, 7, most - 1, most}), np.int64)
    return to_dtype(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, BIG[dtype], -BIG[dtype], TINY[dtype], -TINY[dtype]]), dtype)


def is_grid(case):
    """Elementwise functions of operands of one shape see every special value beside every other one, unless their case
    says why not."""
    elementwise = case.function in ELEMENTWISE and all(shape == case.shapes[0] and len(shape) == 2 for shape in case.shapes)
    return elementwise if case.special is None else case.special


def rows_of(special, large):
    """What the rows of an operand hold beside ordinary values: lists of (values, share of the row)."""
    nan, inf, one = [np.nan], [np.inf], 0.0  # a share of 0: one element
    return [[], [(nan, one)], [(inf, one)], [([-np.inf], one)], [(inf, one), ([-np.inf], one)], [([0.0, -0.0], 0.5)],
            [(special, 0.5)], [(inf, 1)], [([-np.inf], 1)], [([-0.0], 1)], [(nan, one), (inf, 0.3)]] if not large else \
           [[], [(large, one)], [(large[:1], one)], [(large, 0.3)], [(large[:1], 1)], [(special, 1)], [(large, one), (special, 0.5)]]


def overlaid(x, dtype, large, subnormal, rng):
    """x with special values in most of its rows; floating: NaN, infinities, signed zeros and, where asked for, subnormals,
    or (`large`) the largest of the dtype in their place; integers: the ends of the dtype."""
    if dtype in RANGE:
        choices = [[], [(specials(dtype), 0.0)], [(specials(dtype), 0.5)], [(specials(dtype), 1)]]
    else:
        choices = rows_of([TINY[dtype], -TINY[dtype]] if subnormal else [0.0], [BIG[dtype], -BIG[dtype]] if large else None)
    y = np.array(x, x.dtype)
    rows = y.reshape(-1, y.shape[-1])
    for k, row in enumerate(rows):
        for values, share in choices[(k + rng.integers(2)) % len(choices)]:
            chosen = rng.random(len(row)) < share
            chosen[rng.integers(len(row))] = True
            row[chosen] = rng.choice(values, chosen.sum())
    return to_dtype(y, dtype)


def sizes(case, dtype, operands, want):
    """Of each element of a result over large values: the sum of the magnitudes that were added up (what errors are relative
    to), or infinite: partial results leave the numbers that kernels compute with, and order and rounding decide what comes
    out.  That is so where the reference in f32 (f64 for f64, f16 for f16) is not finite, or, in f32, is not that in f64."""
    wide = {"f64": np.float64, "f16": np.float16}.get(dtype, np.float32)
    with np.errstate(all="ignore"):
        narrow = [[f(x).astype(wide) if x.dtype == np.float64 else x for x in operands] for f in (np.asarray, np.abs)]
        first, second = (np.asarray(case.ref(*x)).astype(np.float64) for x in narrow)
        size = np.abs(np.asarray(case.ref(*narrow[1])).astype(np.float64)) if case.sum_like else np.abs(want)
        far = (wide == np.float32) & (np.abs(first - want) > TOLERANCE[dtype] / 2 * np.maximum(size, np.abs(want)))
    return np.broadcast_to(np.where(np.isfinite(first) & np.isfinite(second) & ~far, size, np.inf), np.shape(want))


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
    if dtype == "bool":
        return sets
    if is_grid(case):
        lists = [np.array([False, True]) if t == "bool" else specials(t) for t in dtypes]
        sets["special"] = [grid.reshape(len(lists[0]), -1).copy() for grid in np.meshgrid(*lists, indexing="ij")]
    elif case.special is None and case.function not in ELEMENTWISE:
        for name in ("special", "large")[:2 if case.large and dtype in FLOATS else 1]:
            sets[name] = [overlaid(x, t, name == "large", t in case.subnormal, rng) if t == dtype and d != "index" and x.ndim else x
                          for x, d, t in zip(sets["plain"], domains, dtypes)]
    return sets


def in_place_cases(functions):
    """Of the cases of f, those that f_ can do: a copy of the first operand becomes what f gives."""
    for case in [c for c in CASES if c.function + "_" in functions]:
        call = f"{case.function}(a"
        broadcast = any(s != case.shapes[0][len(case.shapes[0]) - len(s):] for s in case.shapes)
        dtypes = tuple(d for d in ("f32", "bf16", "i32", "bool") if d in case.dtypes and result_dtype(case, d) == d)
        if not case.call.startswith(call) or broadcast or not dtypes:
            continue
        yield dataclasses.replace(case, function=case.function + "_", dtypes=dtypes,
                                  call=f"{case.function}_(tc_clone(a)" + case.call[len(call):])


def stored(a):
    """(dtype, array) of safetensors.write; bools are u8."""
    a = np.asarray(a, dtype=np.uint8 if a.dtype == bool else a.dtype)
    return {"float64": "F64", "int64": "I64", "uint8": "U8"}[a.dtype.name], a


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
    flags = " | ".join(n for n, on in (("OP_SUM_LIKE", case.sum_like), ("OP_PURE_VIEW", case.pure_view),
                                 ("OP_ZEROS", case.zeros)) if on) or "0"
    call = case.call.replace("\\", "\\\\").replace('"', '\\"')
    return (f'    {{"{number}", "f{number}", "{dtype}: {call}", r{number}, {len(case.shapes)}, {{{dtypes}}}, '
            f'TC_{result_dtype(case, dtype).upper()}, "{" ".join(sets)}", {flags}}},\n')


def elementwise(api, ops):
    """Functions of api.def whose op is of class EW in ops.def."""
    classes = dict(re.findall(r"TC_OP\((\w+),\s*\"\w+\",\s*\d+,\s*\d+,\s*(\w+)", ops))
    return {f for f, op in api_table.rows(api) if classes.get(op) == "EW"} - {"tc_tril", "tc_triu"}


def main():
    api, folder, files = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(api.replace("api.def", "ops.def"), encoding="utf-8") as f:
        ELEMENTWISE.update(elementwise(api, f.read()))
    functions = api_table.functions(api)
    CASES.extend(in_place_cases(functions))
    in_other_tests = {"tc_split", "tc_keep", "tc_size", "tc_rank", "tc_numel", "tc_copy_", "tc_fill_", "tc_zero_",
                      "tc_empty", "tc_from", "tc_at"}  # not functions of values: tests/plugin, tests/programs
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
                if name == "large":
                    tensors[f"{number}.{name}.size"] = sizes(case, dtype, operands, tensors[f"{number}.{name}.out"])
            source += c_function(number, case, dtype)
            rows += c_row(number, case, dtype, sets)
        source += f"\nstatic const op_case cases[] = {{\n{rows}}};\n\nint main(int argc, char **argv) {{\n"
        source += "  return run_op_cases(cases, sizeof cases / sizeof *cases, argc, argv);\n}\n"
        with open(f"{folder}/ops_{i}.c", "w", encoding="utf-8") as f:
            f.write(source)
        safetensors.write(f"{folder}/ops_{i}.safetensors", {name: stored(a) for name, a in tensors.items()})
    print(f"{len(jobs)} functions")


main()
