"""Every function of graph/ops/api.def with what it has to compute, independently of this project: NumPy
in float64 and int64 over the values that the tensors hold.

A Case is one C expression over operands a, b, c with shapes of named sizes.  The generator makes an
annotated function of it for each dtype; the driver runs each over several memory layouts.
"""
import math
from dataclasses import dataclass, field
from itertools import product
from typing import Callable

import numpy as np

FLOATS = ("f32", "f64", "f16", "bf16")
INTS = ("i8", "u8", "i16", "i32", "i64")
ALL = FLOATS + INTS + ("bool",)
NUMBERS = FLOATS + INTS
SIZES = {"A": 5, "B": 37, "C": 3, "D": 17, "K": 21, "N": 19, "V": 11}


@dataclass
class Case:
    function: str            # the API function under test
    call: str                # C expression over a, b, c
    shapes: list             # per operand: list of size names and ints
    ref: Callable            # arrays -> array (float64 or int64 or bool)
    dtypes: tuple = FLOATS   # of the operands
    result: str = "same"     # same | float (integers become f32) | bool | i64 | sum | an explicit dtype
    domain: str = "normal"   # how operand values are made
    domains: tuple = ()      # per operand, overrides domain
    fixed: dict = field(default_factory=dict)  # operand index -> dtype, whatever the case's dtype
    special: bool = None     # also over NaN, inf, signed zeros, subnormals, the ends of the dtype, each beside each other
                             # (None: if elementwise), or else in the rows of ordinary values (unless False)
    subnormal: tuple = FLOATS  # dtypes whose special values have subnormals among them
    large: bool = True       # special values also means the largest ones of the dtype
    sum_like: bool = False   # long sums of products: error relative to the sum of magnitudes
    empty: bool = True       # also with the first size 0
    pure_view: bool = False  # returns a view of its operand: runs eagerly by design
    zeros: bool = False      # the sign of a zero counts


# The order decides which partial products leave the dtype.
ANY_PRODUCT = {"subnormal": (), "large": False}
# Where the CPU multiplies pairs of bf16, it takes subnormals as 0.
PAIRS = {"subnormal": ("f32", "f64", "f16")}

CASES = []


def case(*args, **kw):
    CASES.append(Case(*args, **kw))


M = ["A", "B"]  # the usual matrix
T3 = ["C", "A", "D"]

erf = np.vectorize(math.erf, otypes=[np.float64])
erfc = np.vectorize(math.erfc, otypes=[np.float64])


def sigmoid(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


# ---- elementwise, one operand -------------------------------------------------------------------
for name, ref, domain in (
        ("exp", np.exp, "normal"), ("exp2", np.exp2, "normal"), ("expm1", np.expm1, "normal"),
        ("log", np.log, "positive"), ("log2", np.log2, "positive"), ("log10", np.log10, "positive"),
        ("log1p", np.log1p, "positive"), ("sin", np.sin, "normal"), ("cos", np.cos, "normal"),
        ("tan", np.tan, "unit"), ("asin", np.arcsin, "unit"), ("acos", np.arccos, "unit"),
        ("atan", np.arctan, "normal"), ("sinh", np.sinh, "normal"), ("cosh", np.cosh, "normal"),
        ("tanh", np.tanh, "normal"), ("asinh", np.arcsinh, "normal"), ("acosh", lambda x: np.arccosh(x), "above1"),
        ("atanh", np.arctanh, "unit"), ("erf", erf, "normal"), ("erfc", erfc, "normal"),
        ("sinc", lambda x: np.where(np.isfinite(x) & (np.abs(x) >= 2.0 ** 52), 0, np.sinc(x)), "normal"), ("sigmoid", sigmoid, "normal"), ("sqrt", np.sqrt, "positive"),
        ("rsqrt", lambda x: 1 / np.sqrt(x), "positive"), ("reciprocal", lambda x: 1 / x, "nonzero")):
    case(f"tc_{name}", f"tc_{name}(a)", [M], ref, FLOATS + ("i32", "u8"), "float", domain,
         special=name not in ("sin", "cos", "tan"))

for name, ref in (("neg", lambda x: -x), ("square", lambda x: x * x)):
    case(f"tc_{name}", f"tc_{name}(a)", [M], ref, NUMBERS, special=True)
for name, ref in (("abs", np.abs), ("sign", np.sign)):
    case(f"tc_{name}", f"tc_{name}(a)", [M], ref, NUMBERS, special=True, zeros=True)
for name, ref in (("floor", np.floor), ("ceil", np.ceil), ("round", np.round), ("trunc", np.trunc)):
    case(f"tc_{name}", f"tc_{name}(a)", [M], ref, FLOATS + ("i32",), special=True, domain="halves", zeros=True)
for name, ref in (("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite)):
    case(f"tc_{name}", f"tc_{name}(a)", [M], ref, FLOATS, "bool", special=True)
case("tc_logical_not", "tc_logical_not(a)", [M], np.logical_not, ALL, "bool", "small")
case("tc_bit_not", "tc_bit_not(a)", [M], np.invert, INTS + ("bool",), domain="any")

for name, ref in (
        ("relu", lambda x: np.where(x <= 0, 0, x)), ("relu6", lambda x: np.where(x <= 0, 0, np.minimum(x, 6)))):
    case(f"tc_{name}", f"tc_{name}(a)", [M], ref, FLOATS + ("i32",), special=True, zeros=True)
for name, ref in (
        ("silu", lambda x: x * sigmoid(x)), ("gelu", lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2)))),
        ("gelu_tanh", gelu_tanh), ("softplus", softplus), ("mish", lambda x: x * np.tanh(softplus(x))),
        ("hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6), ("hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6)):
    case(f"tc_{name}", f"tc_{name}(a)", [M], ref)
case("tc_leaky_relu", "tc_leaky_relu(a, 0.125)", [M], lambda x: np.where(x > 0, x, 0.125 * x))
case("tc_elu", "tc_elu(a, 1.5)", [M], lambda x: np.where(x > 0, x, 1.5 * np.expm1(x)))
for target in ALL:
    case("tc_cast", f"tc_cast(a, TC_{target.upper()})", [M],
         (lambda x: x != 0) if target == "bool" else (lambda x: np.trunc(x) if x.dtype == np.float64 else x) if target in INTS else (lambda x: x),
         ALL, target, "count" if target == "u8" else "small")
    # Past the ends of the dtype: the generator saturates floating values, and wraps integers.
    case("tc_cast", f"tc_cast(a, TC_{target.upper()})", [["A", "B"]], (lambda x: x != 0) if target == "bool" else (lambda x: x),
         NUMBERS, target, "ends")

# ---- elementwise, two operands: equal shapes, a row, a column, outer ------------------------------
BROADCASTS = ([M, M], [M, ["B"]], [M, ["A", 1]], [["A", 1], ["B"]], [T3, ["A", "D"]], [[], M])


def wrap_shift(left):
    def ref(a, b, bits):
        ok = (b >= 0) & (b < bits)
        s = np.where(ok, b, 0)
        return np.where(ok, a << s, 0) if left else np.where(ok, a >> s, np.where(a < 0, -1, 0))
    return ref


def int_pow(a, b):
    out = np.ones(np.broadcast(a, b).shape, np.int64)
    for i, (x, y) in enumerate(zip(*(np.broadcast_to(v, out.shape).ravel() for v in (a, b)))):
        out.ravel()[i] = np.uint64(pow(int(x), int(y), 2 ** 64)).astype(np.int64) if y >= 0 else (x if x == 1 or (x == -1 and y % 2) else 1 if x == -1 else 0)
    return out


def both(real, integer):
    return lambda a, b: (real if a.dtype == np.float64 else integer)(a, b)


def int_floordiv(a, b):
    return np.where(b == 0, 0, a // np.where(b == 0, 1, b))


def int_rem(a, b):
    return np.where(b == 0, 0, np.mod(a, np.where(b == 0, 1, b)))


def int_fmod(a, b):
    return np.where(b == 0, 0, np.fmod(a, np.where(b == 0, 1, b)))


BINARY = (
    ("add", np.add, NUMBERS, "same", ()), ("sub", np.subtract, NUMBERS, "same", ()),
    ("mul", np.multiply, NUMBERS, "same", ()), ("div", np.divide, NUMBERS, "float", ("normal", "nonzero")),
    ("floor_div", both(np.floor_divide, int_floordiv), ("f32", "f64") + INTS, "same", ("quarters", "divisor")),
    ("remainder", both(np.mod, int_rem), ("f32", "f64") + INTS, "same", ("quarters", "divisor")),
    ("fmod", both(np.fmod, int_fmod), ("f32", "f64") + INTS, "same", ("quarters", "divisor")),
    ("pow", both(np.power, int_pow), NUMBERS, "same", ("positive", "small")),
    ("maximum", np.maximum, ALL, "same", ()), ("minimum", np.minimum, ALL, "same", ()),
    ("atan2", np.arctan2, FLOATS, "float", ()), ("hypot", np.hypot, FLOATS, "float", ()),
    ("logaddexp", np.logaddexp, FLOATS + ("i32",), "float", ()), ("copysign", np.copysign, FLOATS, "float", ()),
    ("eq", np.equal, ALL, "bool", ("small", "small")), ("ne", np.not_equal, ALL, "bool", ("small", "small")),
    ("lt", np.less, ALL, "bool", ("small", "small")), ("le", np.less_equal, ALL, "bool", ("small", "small")),
    ("gt", np.greater, ALL, "bool", ("small", "small")), ("ge", np.greater_equal, ALL, "bool", ("small", "small")),
    ("logical_and", np.logical_and, ALL, "bool", ("small", "small")),
    ("logical_or", np.logical_or, ALL, "bool", ("small", "small")),
    ("logical_xor", np.logical_xor, ALL, "bool", ("small", "small")),
    ("bit_and", np.bitwise_and, INTS + ("bool",), "same", ("any", "any")),
    ("bit_or", np.bitwise_or, INTS + ("bool",), "same", ("any", "any")),
    ("bit_xor", np.bitwise_xor, INTS + ("bool",), "same", ("any", "any")),
)
for name, ref, dtypes, result, domains in BINARY:
    for i, shapes in enumerate(BROADCASTS):
        case(f"tc_{name}", f"tc_{name}(a, b)", shapes, ref, dtypes if i == 0 else tuple(d for d in dtypes if d in ("f32", "bf16", "i32")),
             result, domains=domains, zeros=name == "floor_div",
             special=i == 0 and name in ("add", "sub", "mul", "div", "maximum", "minimum", "eq", "lt", "floor_div"))
for name, left in (("shl", True), ("shr", False)):
    for dtype in INTS:
        bits = {"i8": 8, "u8": 8, "i16": 16, "i32": 32, "i64": 64}[dtype]
        case(f"tc_{name}", f"tc_{name}(a, b)", [M, M],
             lambda a, b, bits=bits, left=left: wrap_shift(left)(a, b, bits), (dtype,), domains=("any", "shift"))
for a, b in (("i32", "f32"), ("f16", "bf16"), ("u8", "i8"), ("bool", "i16"), ("f32", "f64"), ("i64", "bf16")):
    both_types = {"i32f32": "f32", "f16bf16": "f32", "u8i8": "i16", "booli16": "i16", "f32f64": "f64", "i64bf16": "bf16"}
    case("tc_add", "tc_add(a, b)", [M, M], lambda x, y: x + y, (a,), both_types[a + b], "small", fixed={1: b})
    case("tc_mul", "tc_mul(a, b)", [M, ["B"]], lambda x, y: x * y, (a,), both_types[a + b], "small", fixed={1: b})

for name, s, ref, dtypes, result in (
        ("add", 1.5, lambda x, s: x + s, NUMBERS, "same"), ("sub", 2, lambda x, s: x - s, NUMBERS, "same"),
        ("rsub", 3, lambda x, s: s - x, NUMBERS, "same"), ("mul", 0.75, lambda x, s: x * s, FLOATS, "same"),
        ("mul", 3, lambda x, s: x * s, INTS, "same"), ("div", 4, lambda x, s: x / s, NUMBERS, "float"),
        ("rdiv", 2, lambda x, s: s / x, FLOATS, "float"), ("pow", 3, lambda x, s: x ** s, NUMBERS, "same"),
        ("remainder", 3, lambda x, s: np.mod(x, s), ("f32", "f64") + INTS, "same"),
        ("maximum", 1, lambda x, s: np.maximum(x, s), NUMBERS, "same"),
        ("minimum", 1, lambda x, s: np.minimum(x, s), NUMBERS, "same"),
        ("eq", 1, lambda x, s: x == s, NUMBERS, "bool"), ("ne", 1, lambda x, s: x != s, NUMBERS, "bool"),
        ("lt", 1, lambda x, s: x < s, NUMBERS, "bool"), ("le", 1, lambda x, s: x <= s, NUMBERS, "bool"),
        ("gt", 1, lambda x, s: x > s, NUMBERS, "bool"), ("ge", 1, lambda x, s: x >= s, NUMBERS, "bool")):
    def scalar_ref(x, s=s, ref=ref):  # an integer tensor truncates the scalar
        return ref(x, x.dtype.type(s))
    case(f"tc_{name}_s", f"tc_{name}_s(a, {s})", [M], scalar_ref, dtypes, result,
         "nonzero" if name == "rdiv" else "quarters" if name == "remainder" else "small")

# Numbers that an integer dtype does not hold: bounds are its nearest value, comparisons those with the number as it
# is, and what gives floating numbers takes it as one.
LIMITS = {"i8": (-2**7, 2**7 - 1), "u8": (0, 2**8 - 1), "i16": (-2**15, 2**15 - 1), "i32": (-2**31, 2**31 - 1),
          "i64": (-2**63, 2**63 - 1), "bool": (0, 1)}
OUTSIDE = (("300", 300.0), ("-1", -1.0), ("0.5", 0.5), ("-0.5", -0.5), ("-129.5", -129.5), ("3e9", 3e9), ("1e30", 1e30),
           ("-__builtin_inf()", -math.inf), ("__builtin_inf()", math.inf))
COMPARISONS = (("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal), ("gt", np.greater), ("ge", np.greater_equal))
for dtype in ("u8", "i32", "i64"):
    least, most = LIMITS[dtype]
    for text, s in OUTSIDE:
        near = min(max(int(s), least), most) if math.isfinite(s) else most if s > 0 else least
        for name, f in (("maximum_s", np.maximum), ("clamp_min", np.maximum), ("minimum_s", np.minimum), ("clamp_max", np.minimum)):
            case(f"tc_{name}", f"tc_{name}(a, {text})", [M], lambda x, f=f, near=near: f(x, np.int64(near)), (dtype,), domain="any")
    for lo, hi in (("0", "__builtin_inf()"), ("-__builtin_inf()", "7.5"), ("-1", "300")):
        bounds = [min(max(float(t.replace("__builtin_inf()", "inf")), float(least)), float(most)) for t in (lo, hi)]
        bounds = [most if b >= most else least if b <= least else int(b) for b in bounds]
        case("tc_clamp", f"tc_clamp(a, {lo}, {hi})", [M], lambda x, b=bounds: np.minimum(np.maximum(x, np.int64(b[0])), np.int64(b[1])),
             (dtype,), domain="any")
for text, s in OUTSIDE + (('__builtin_nan("")', math.nan),):
    for name, f in COMPARISONS:
        case(f"tc_{name}_s", f"tc_{name}_s(a, {text})", [M], lambda x, f=f, s=s: f(x.astype(np.float64), s), ("u8", "i32", "i64", "bool"), "bool", "any")
for name, s, ref in (("div", 300, lambda x, s: x / s), ("div", 2.5, lambda x, s: x / s), ("rdiv", 300.5, lambda x, s: s / x)):
    case(f"tc_{name}_s", f"tc_{name}_s(a, {s})", [M], lambda x, s=s, ref=ref: ref(x.astype(np.float64), s), INTS, "float", "nonzero")
case("tc_leaky_relu", "tc_leaky_relu(a, 0.125)", [M], lambda x: np.where(x > 0, x, 0.125 * x), INTS, "float")
case("tc_elu", "tc_elu(a, 0.5)", [M], lambda x: np.where(x > 0, x, 0.5 * np.expm1(x)), INTS, "float")
case("tc_lerp", "tc_lerp(a, b, 0.25)", [M, M], lambda a, b: a + 0.25 * (b - a), INTS, "float", domain="small", special=False)
for name, bound, f in (("clamp_min", 0.25, np.maximum), ("clamp_max", 0.25, np.minimum)):
    case(f"tc_{name}", f"tc_{name}(a, {bound})", [M], lambda x, f=f, b=bound: f(x, b), FLOATS, special=True)
    case(f"tc_{name}", f'tc_{name}(a, __builtin_nan(""))', [M], lambda x: x * np.nan, FLOATS, special=True)

# ---- elementwise, three operands -------------------------------------------------------------------
case("tc_where", "tc_where(a, b, c)", [M, M, M], np.where, ALL, fixed={0: "bool"}, domains=("small", "any", "any"))
case("tc_where", "tc_where(a, b, c)", [["A", 1], M, ["B"]], np.where, ("f32", "i64"), fixed={0: "bool"}, domains=("small", "any", "any"))
case("tc_fma", "tc_fma(a, b, c)", [M, M, M], lambda a, b, c: a * b + c, NUMBERS, domain="small",
     special=False)  # the reference rounds the product
case("tc_clamp", "tc_clamp(a, -1, 1.25)", [M], lambda x: np.clip(x, -1, 1.25), FLOATS, special=True)
case("tc_clamp", "tc_clamp(a, 2, 5)", [M], lambda x: np.clip(x, 2, 5), INTS)
case("tc_lerp", "tc_lerp(a, b, 0.25)", [M, M], lambda a, b: a + 0.25 * (b - a), FLOATS, domain="small",
     special=False)  # b - a may leave the range of f32
case("tc_masked_fill", "tc_masked_fill(a, b, 7)", [M, M], lambda x, m: np.where(m, 7, x), NUMBERS, fixed={1: "bool"}, domains=("normal", "small"))
case("tc_masked_fill", "tc_masked_fill(a, b, -2)", [M, ["B"]], lambda x, m: np.where(m, -2, x), ("f32", "bf16"), fixed={1: "bool"}, domains=("normal", "small"))

# ---- reductions --------------------------------------------------------------------------------------
AXES = (("TC_ALL", None), ("TC_AXES(-1)", (-1,)), ("TC_AXES(0)", (0,)), ("TC_AXES(0, 2)", (0, 2)), ("TC_AXES(1)", (1,)))


def reduce_cases(name, ref, dtypes, result, domain="normal", extra="", **kw):
    for (text, axes), keep in product(AXES, (False, True)):
        if keep and axes not in (None, (-1,)):
            continue
        case(f"tc_{name}", f"tc_{name}(a, {extra}{text}, {'true' if keep else 'false'})".replace(", ,", ","), [T3],
             lambda x, axes=axes, keep=keep: ref(x, axis=axes, keepdims=keep),
             dtypes if axes in (None, (-1,)) and not keep else tuple(d for d in dtypes if d in ("f32", "bf16", "i32", "bool")),
             result, domain, **kw)


def logsumexp(x, axis, keepdims):
    m = x.max(axis=axis, keepdims=True)
    m = np.where(np.isinf(m), 0, m)
    y = np.log(np.exp(x - m).sum(axis=axis, keepdims=True)) + m
    return y if keepdims else y.squeeze(axis=axis)


reduce_cases("sum", np.sum, ALL, "sum", sum_like=True)
reduce_cases("prod", np.prod, NUMBERS, "sum", "near1", sum_like=True, **ANY_PRODUCT)
reduce_cases("mean", np.mean, NUMBERS, "float", sum_like=True, empty=False)
reduce_cases("max", np.max, ALL, "same", empty=False)
reduce_cases("min", np.min, ALL, "same", empty=False)
reduce_cases("any", lambda x, axis, keepdims: np.any(x, axis=axis, keepdims=keepdims), ALL, "bool", "sparse")
reduce_cases("all", lambda x, axis, keepdims: np.all(x, axis=axis, keepdims=keepdims), ALL, "bool", "small")
reduce_cases("logsumexp", logsumexp, FLOATS, "float", empty=False)
for correction in (0, 1):
    for name, f in (("var", np.var), ("std", np.std)):
        for text, axes in AXES[:4]:
            case(f"tc_{name}", f"tc_{name}(a, {text}, {correction}, false)", [T3],
                 lambda x, f=f, axes=axes, c=correction: f(x, axis=axes, ddof=c), FLOATS, sum_like=True, empty=False)
for p, text in ((1, "1"), (2, "2"), (3, "3"), (math.inf, "__builtin_inf()"), (0, "0")):
    def norm(x, p=p):
        a = np.abs(x)
        if p == 0:
            return (a != 0).sum(-1).astype(float)
        return a.max(-1) if p == math.inf else (a ** p).sum(-1) ** (1 / p)
    case("tc_norm", f"tc_norm(a, {text}, TC_AXES(-1), false)", [T3], norm, FLOATS, sum_like=True, empty=False)
for name, f in (("argmax", np.argmax), ("argmin", np.argmin)):
    for text, axis in (("TC_ALL", None), ("TC_AXES(-1)", -1), ("TC_AXES(1)", 1)):
        case(f"tc_{name}", f"tc_{name}(a, {text}, false)", [T3], lambda x, f=f, axis=axis: f(x, axis=axis),
             NUMBERS, "i64", "small", empty=False)

# ---- several results: the first is returned, the second comes by its address --------------------------------
def both(function, arguments, shapes, refs, dtypes, results, **more):
    first = f"{function}(a, {arguments}NULL)"
    second = f"({{ tc_tensor *s; tc_free({function}(a, {arguments}&s)); s; }})"
    for call, ref, result in zip((first, second), refs, results):
        case(function, call, shapes, ref, dtypes, result, **more)


for text, axes in AXES[:4]:
    for correction in (0, 1):
        both("tc_var_mean", f"{text}, {correction}, true, ", [T3],
             (lambda x, axes=axes, c=correction: np.var(x, axis=axes, ddof=c, keepdims=True),
              lambda x, axes=axes: np.mean(x, axis=axes, keepdims=True)), FLOATS + ("i32",), ("float", "float"),
             sum_like=True, empty=False)
for name, of, at in (("max", np.max, np.argmax), ("min", np.min, np.argmin)):
    for text, axis in (("TC_ALL", None), ("TC_AXES(-1)", -1), ("TC_AXES(1)", 1)):
        both(f"tc_{name}_with_index", f"{text}, false, ", [T3],
             (lambda x, of=of, axis=axis: of(x, axis=axis), lambda x, at=at, axis=axis: at(x, axis=axis)),
             NUMBERS, ("same", "i64"), domain="small", empty=False)
both("tc_frexp", "", [M], (lambda x: np.frexp(x)[0], lambda x: np.where(np.isfinite(x), np.frexp(x)[1], 0)), FLOATS + ("i16",),
     ("float", "i32"), special=True)
for axis in (0, 1, -1):
    case("tc_cumsum", f"tc_cumsum(a, {axis})", [T3], lambda x, axis=axis: np.cumsum(x, axis=axis), ALL, "sum", sum_like=True)
    case("tc_cumprod", f"tc_cumprod(a, {axis})", [T3], lambda x, axis=axis: np.cumprod(x, axis=axis), FLOATS + ("i32",), "sum", "near1", sum_like=True, **ANY_PRODUCT)

def running_place(x, axis, best):
    """Where the last of equals among the elements so far is, NaN being better than any."""
    x = np.moveaxis(np.asarray(x), axis, -1)
    place = np.zeros(x.shape, np.int64)
    for at in np.ndindex(x.shape[:-1]):
        for k in range(1, x.shape[-1]):
            before = x[at][place[at][k - 1]]
            place[at][k] = k if x[at][k] != x[at][k] or best(x[at][k], before) else place[at][k - 1]
    return np.moveaxis(place, -1, axis)


for name, of, best in (("max", np.maximum, np.greater_equal), ("min", np.minimum, np.less_equal)):
    for shape, axes, dtypes, special in ((T3, (0, 1, -1), ALL, False), (M, (0, 1), FLOATS, True)):
        for axis in axes:
            both(f"tc_cum{name}", f"{axis}, ", [shape],
                 (lambda x, of=of, axis=axis: of.accumulate(x, axis=axis),
                  lambda x, best=best, axis=axis: running_place(x, axis, best)),
                 dtypes, ("same", "i64"), domain="small", special=special)

def in_order(x, axis, descending):
    """Positions as numpy.argsort gives them, stable; descending: equal ones keep their order, too."""
    x = np.asarray(x)
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)


def first(x, axis, descending, k):
    return np.take(in_order(x, axis, descending), np.arange(k), axis=axis)


for descending in (False, True):
    flag = "true" if descending else "false"
    for shape, axes, dtypes, special in ((T3, (0, 1, -1), ALL, False), (M, (0, 1), FLOATS, True)):
        for axis in axes:
            place = lambda x, axis=axis, d=descending: in_order(x, axis, d)
            both("tc_sort", f"{axis}, {flag}, ", [shape],
                 (lambda x, p=place, axis=axis: np.take_along_axis(np.asarray(x), p(x), axis), place),
                 dtypes, ("same", "i64"), domain="small", special=special)
            case("tc_argsort", f"tc_argsort(a, {axis}, {flag})", [shape], place, dtypes, "i64", domain="small")
            known = [3, 5, 4] if len(shape) == 3 else ["A", 5] if axis else [5, "B"]
            place = lambda x, axis=axis, d=descending: first(x, axis, d, 2)
            both("tc_topk", f"2, {axis}, {flag}, ", [known],
                 (lambda x, p=place, axis=axis: np.take_along_axis(np.asarray(x), p(x), axis), place),
                 dtypes, ("same", "i64"), domain="small", special=None if special else False, empty=False)

# ---- a scalar is as a row of one ------------------------------------------------------------------------
for axis in (0, -1):
    for name, ref in (("sum", lambda x: x), ("max", lambda x: x), ("mean", lambda x: x), ("any", lambda x: x != 0),
                      ("argmin", lambda x: x * 0), ("logsumexp", lambda x: x)):
        for keep in ("true", "false"):
            case(f"tc_{name}", f"tc_{name}(tc_neg(a), TC_AXES({axis}), {keep})", [[]], lambda x, ref=ref: ref(-x), ("f32",),
                 "bool" if name == "any" else "i64" if name == "argmin" else "same")
    case("tc_var", f"tc_var(tc_neg(a), TC_AXES({axis}), 0, true)", [[]], lambda x: x * 0, ("f32",))
    case("tc_softmax", f"tc_softmax(tc_neg(a), {axis})", [[]], lambda x: x * 0 + 1, ("f32",))
    case("tc_log_softmax", f"tc_log_softmax(tc_neg(a), {axis})", [[]], lambda x: x * 0, ("f32",))
    for name in ("tc_cumsum", "tc_cumprod"):
        case(name, f"{name}(tc_neg(a), {axis})", [[]], lambda x: -x, ("f32", "i32"), "sum")
    case("tc_flip", f"tc_flip(tc_neg(a), TC_AXES({axis}))", [[]], lambda x: -x, ("f32",))

# ---- views, each followed by arithmetic so that something is computed -----------------------------------
VIEW_TYPES = ("f32", "bf16", "u8", "i64")
for name, args, ref in (
        ("reshape", "TC_DIMS(-1)", lambda x: x.reshape(-1)),
        ("reshape", "TC_DIMS(tc_size(a, 0) * tc_size(a, 1), -1)", lambda x: x.reshape(x.shape[0] * x.shape[1], -1)),
        ("permute", "TC_AXES(2, 0, 1)", lambda x: x.transpose(2, 0, 1)),
        ("transpose", "0, -1", lambda x: x.swapaxes(0, -1)), ("transpose", "1, 2", lambda x: x.swapaxes(1, 2)),
        ("slice", "1, 1, 4, 1", lambda x: x[:, 1:4]), ("slice", "2, -9, -1, 2", lambda x: x[:, :, -9:-1:2]),
        ("slice", "2, 3, 1000000, 5", lambda x: x[:, :, 3::5]), ("slice", "2, 15, 2, -3", lambda x: x[:, :, 15:2:-3]),
        ("select", "1, 2", lambda x: x[:, 2]), ("select", "-1, -1", lambda x: x[:, :, -1]),
        ("flip", "TC_AXES(2)", lambda x: x[:, :, ::-1]), ("flip", "TC_ALL", np.flip), ("flip", "TC_AXES(0, 1)", lambda x: x[::-1, ::-1]),
        ("unsqueeze", "1", lambda x: x[:, None]), ("unsqueeze", "-1", lambda x: x[..., None]),
        ("flatten", "1, 2", lambda x: x.reshape(x.shape[0], x.shape[1] * x.shape[2]))):
    case(f"tc_{name}", f"tc_neg(tc_{name}(a, {args}))", [T3], lambda x, ref=ref: -ref(x), VIEW_TYPES,
         empty="-1)" not in args or name != "reshape")
    case(f"tc_{name}", f"tc_{name}(tc_neg(a), {args.replace('tc_size(a', 'tc_size(a')})", [T3],
         lambda x, ref=ref: ref(-x), ("f32", "i32"), empty="-1)" not in args or name != "reshape")
    case(f"tc_{name}", f"tc_{name}(a, {args})", [T3], ref, ("f32",), pure_view=True,
         empty="-1)" not in args or name != "reshape")
for size, step, dtypes in ((3, 1, VIEW_TYPES), (2, 3, VIEW_TYPES), (0, 2, ("f32",))):
    def windows(x, size=size, step=step):
        return np.lib.stride_tricks.sliding_window_view(x, size, 1)[:, ::step] if size else np.zeros((x.shape[0], x.shape[1] // step + 1, x.shape[2], 0), x.dtype)
    padded = "tc_pad(a, TC_DIMS(0, 1, 0), TC_DIMS(0, 2, 0), 0)"
    case("tc_unfold", f"tc_neg(tc_unfold({padded}, 1, {size}, {step}))", [T3],
         lambda x, windows=windows: -windows(np.pad(x, ((0, 0), (1, 2), (0, 0)))), dtypes)
case("tc_unfold", "tc_neg(tc_unfold(tc_neg(a), -1, 1, 2))", [T3], lambda x: x[:, :, ::2, None], ("f32", "i32"), empty=False)
case("tc_unfold", "tc_unfold(a, 2, 1, 1)", [T3], lambda x: x[..., None], ("f32",), pure_view=True, empty=False)
# Windows of two axes are convolution: one product.
case("tc_unfold", "tc_matmul(b, tc_reshape(tc_permute(tc_unfold(tc_unfold(tc_pad(a, TC_DIMS(0, 1, 1), TC_DIMS(0, 1, 1), 0), 1, 3, 1), 2, 3, 2), "
     "TC_AXES(0, 3, 4, 1, 2)), TC_DIMS(18, -1)))", [[2, "A", "D"], [5, 18]],
     lambda a, b: b @ np.lib.stride_tricks.sliding_window_view(np.pad(a, ((0, 0), (1, 1), (1, 1))), (3, 3), (1, 2))[:, :, ::2]
     .transpose(0, 3, 4, 1, 2).reshape(18, -1), ("f32", "bf16", "i32"), domain="small", sum_like=True, empty=False, **PAIRS)
case("tc_shape", "tc_neg(tc_reshape(b, tc_shape(a)))", [M, M[::-1]], lambda x, y: -y.reshape(x.shape), VIEW_TYPES)
case("tc_shape", "tc_add(a, tc_ones(tc_shape(a), TC_F32))", [["A", "C", "B"]], lambda x: x + 1, ("f32",))
case("tc_squeeze", "tc_neg(tc_squeeze(a, 1))", [["A", 1, "B"]], lambda x: -x[:, 0], VIEW_TYPES)
case("tc_expand", "tc_neg(tc_expand(a, TC_DIMS(3, -1, 37)))", [["A", 1]], lambda x: -np.broadcast_to(x, (3, x.shape[0], 37)), VIEW_TYPES)
case("tc_contiguous", "tc_neg(tc_contiguous(tc_transpose(a, 0, 1)))", [M], lambda x: -x.T, VIEW_TYPES)
case("tc_clone", "tc_clone(tc_neg(a))", [M], lambda x: -x, VIEW_TYPES)

# ---- joining and moving --------------------------------------------------------------------------------------
for axis in (0, 1, -1):
    case("tc_concat", f"tc_concat((const tc_tensor *[]){{a, b, a}}, 3, {axis})", [T3, T3],
         lambda a, b, axis=axis: np.concatenate([a, b, a], axis), ALL)
    case("tc_concat", f"tc_concat((const tc_tensor *[]){{tc_neg(a), tc_square(b)}}, 2, {axis})", [T3, T3],
         lambda a, b, axis=axis: np.concatenate([-a, b * b], axis), ("f32", "bf16", "i32"))
    case("tc_stack", f"tc_stack((const tc_tensor *[]){{a, b}}, 2, {axis})", [T3, T3],
         lambda a, b, axis=axis: np.stack([a, b], axis), ALL)
case("tc_pad", "tc_pad(a, TC_DIMS(1, 0, 2), TC_DIMS(0, 3, 1), 1.5)", [T3],
     lambda x: np.pad(x, ((1, 0), (0, 3), (2, 1)), constant_values=x.dtype.type(1.5)), NUMBERS)
case("tc_pad", "tc_pad(tc_neg(a), TC_DIMS(0, 2), TC_DIMS(1, 0), 0)", [M],
     lambda x: np.pad(-x, ((0, 1), (2, 0))), ("f32", "bf16", "i32"))
for k in (-2, 0, 3):
    case("tc_tril", f"tc_tril(a, {k})", [T3], lambda x, k=k: np.tril(x, k), ALL)
    case("tc_triu", f"tc_triu(a, {k})", [T3], lambda x, k=k: np.triu(x, k), ALL)
case("tc_repeat", "tc_repeat(a, TC_DIMS(2, 3))", [M], lambda x: np.tile(x, (2, 3)), ALL)
case("tc_repeat", "tc_repeat(tc_neg(a), TC_DIMS(2, 1, 3))", [M], lambda x: np.tile(-x, (2, 1, 3)), ("f32", "i32"))
for shift, axis in ((2, 1), (-3, -1), (0, 0)):
    case("tc_roll", f"tc_roll(a, {shift}, {axis})", [T3], lambda x, s=shift, axis=axis: np.roll(x, s, axis), ALL)

# ---- indexing by data --------------------------------------------------------------------------------------------
INDEXED = ("f32", "f64", "bf16", "u8", "i64", "bool")


def gather(x, i, axis):
    return np.take_along_axis(x, i, axis)


def scatter(x, i, s, axis, add):
    y = x.copy()
    for place in np.ndindex(i.shape):
        target = list(place)
        target[axis] = i[place]
        y[tuple(target)] = y[tuple(target)] + s[place] if add else s[place]
    return y


for index in ("i64", "i32"):
    case("tc_gather", "tc_gather(a, 0, b)", [["V", "B"], ["A", "B"]], lambda x, i: gather(x, i, 0), INDEXED, fixed={1: index}, domains=("any", "index"), empty=False)
    case("tc_gather", "tc_gather(a, 1, b)", [["A", "V"], ["A", "B"]], lambda x, i: gather(x, i, 1), INDEXED, fixed={1: index}, domains=("any", "index"), empty=False)
    case("tc_index_select", "tc_index_select(a, 1, b)", [["A", "V", "D"], ["B"]], lambda x, i: x[:, i], INDEXED, fixed={1: index}, domains=("any", "index"))
    case("tc_embedding", "tc_embedding(a, b)", [["V", "D"], ["C", "A"]], lambda w, i: w[i], INDEXED, fixed={1: index}, domains=("any", "index"), empty=False)
    case("tc_one_hot", "tc_one_hot(a, 11)", [["C", "A"]], lambda i: np.eye(11, dtype=np.int64)[i], (index,), "i64", "index")
    case("tc_scatter", "tc_scatter(a, 0, b, c)", [["V", "B"], ["A", "B"], ["A", "B"]],
         lambda x, i, s: scatter(x, i, s, 0, False), INDEXED, fixed={1: index}, domains=("any", "index", "any"), empty=False)
    case("tc_scatter_add", "tc_scatter_add(a, 1, b, c)", [["A", "V"], ["A", "B"], ["A", "B"]],
         lambda x, i, s: scatter(x, i, s, 1, True), ("f32", "f64", "i64", "i32"), fixed={1: index},
         domains=("small", "index", "small"), empty=False, sum_like=True)

# ---- linear algebra ------------------------------------------------------------------------------------------------
for shapes in ([["A", "K"], ["K", "N"]], [["K"], ["K"]], [["A", "K"], ["K"]], [["K"], ["K", "N"]],
               [["C", "A", "K"], ["C", "K", "N"]], [["C", "A", "K"], ["K", "N"]], [["A", "K"], ["C", "K", "N"]],
               [["C", 1, "A", "K"], ["V", "K", "N"]]):
    case("tc_matmul", "tc_matmul(a, b)", shapes, np.matmul, NUMBERS if shapes[0] == ["A", "K"] and shapes[1] == ["K", "N"] else ("f32", "f64", "bf16", "i32"),
         domain="small", sum_like=True, **PAIRS)
case("tc_matmul", "tc_matmul(tc_transpose(a, 0, 1), b)", [["K", "A"], ["K", "N"]], lambda a, b: a.T @ b, FLOATS + ("i32", "i8"), domain="small", sum_like=True, **PAIRS)
case("tc_matmul", "tc_gelu(tc_add(tc_matmul(a, b), c))", [["A", "K"], ["K", "N"], ["N"]],
     lambda a, b, c: (lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))))(a @ b + c), FLOATS, domain="small", sum_like=True, **PAIRS)
case("tc_linear", "tc_linear(a, b, c)", [["A", "K"], ["N", "K"], ["N"]], lambda x, w, b: x @ w.T + b, FLOATS + ("i32",), domain="small", sum_like=True, **PAIRS)
case("tc_linear", "tc_linear(a, b, NULL)", [["C", "A", "K"], ["N", "K"]], lambda x, w: x @ w.T, FLOATS, domain="small", sum_like=True, **PAIRS)
case("tc_outer", "tc_outer(a, b)", [["A"], ["B"]], np.outer, NUMBERS, domain="small", **PAIRS)
for spec, shapes in (("ik,kj->ij", [["A", "K"], ["K", "N"]]), ("bik,bkj->bij", [["C", "A", "K"], ["C", "K", "N"]]),
                     ("ij->ji", [M]), ("ij->j", [M]), ("ij->", [M]), ("i,j->ij", [["A"], ["B"]]), ("ij,ij->i", [M, M]),
                     ("bhqd,bhkd->bhqk", [["C", "V", "A", "D"], ["C", "V", "N", "D"]]), ("ik,jk", [["A", "K"], ["N", "K"]]),
                     ("ij,jk,k->i", [["A", "K"], ["K", "N"], ["N"]])):
    names = ", ".join("abc"[:len(shapes)])
    case("tc_einsum", f'tc_einsum("{spec}", (const tc_tensor *[]){{{names}}}, {len(shapes)})', shapes,
         lambda *x, spec=spec: np.einsum(spec, *x), ("f32", "f64", "bf16", "i64"), domain="small", sum_like=True, **PAIRS,
         special=None if len(shapes) < 3 else False)  # which product is first decides between inf and NaN

# ---- neural networks ---------------------------------------------------------------------------------------------------


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def log_softmax(x, axis):
    d = x - x.max(axis, keepdims=True)
    return d - np.log(np.exp(d).sum(axis, keepdims=True))


def layer_norm(x, w, b, n, eps=1e-5):
    axes = tuple(range(-n, 0))
    d = x - x.mean(axes, keepdims=True)
    return d / np.sqrt((d * d).mean(axes, keepdims=True) + eps) * w + b


def loss(values, how):
    return values if how == "TC_NONE" else values.mean() if how == "TC_MEAN" else values.sum()


def bce_with_logits(x, y):
    """0 where an infinite logit is right, infinite where it is not; a NaN stays."""
    off = np.where(x > 0, 1 - y, y)
    return np.where(np.isinf(x) & (off == 0), 0, np.abs(x) * off + np.log1p(np.exp(-np.abs(x))))


for axis in (-1, 0, 1):
    case("tc_softmax", f"tc_softmax(a, {axis})", [T3], lambda x, axis=axis: softmax(x, axis), empty=axis != 0)
    case("tc_log_softmax", f"tc_log_softmax(a, {axis})", [T3], lambda x, axis=axis: log_softmax(x, axis), empty=axis != 0)
case("tc_layer_norm", "tc_layer_norm(a, 1, b, c, 1e-5)", [T3, ["D"], ["D"]], lambda x, w, b: layer_norm(x, w, b, 1), large=False)  # beside large weights the sum is a difference
case("tc_layer_norm", "tc_layer_norm(a, 2, NULL, NULL, 1e-5)", [T3], lambda x: layer_norm(x, 1, 0, 2))
case("tc_rms_norm", "tc_rms_norm(a, 1, b, 1e-6)", [T3, ["D"]], lambda x, w: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w)
case("tc_rms_norm", "tc_rms_norm(a, 1, NULL, 1e-6)", [T3], lambda x: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6))
case("tc_batch_norm", "tc_batch_norm(a, b, c, NULL, NULL, 1e-5)", [["A", "C", "D"], ["C"], ["C"]],
     lambda x, m, v: (x - m[:, None]) / np.sqrt(v[:, None] + 1e-5), domains=("normal", "small", "positive"))
for how in ("TC_NONE", "TC_MEAN", "TC_SUM"):
    case("tc_cross_entropy", f"tc_cross_entropy(a, b, {how})", [["A", "V"], ["A"]],
         lambda x, t, how=how: loss(-log_softmax(x, -1)[np.arange(len(t)), t], how), FLOATS, fixed={1: "i64"},
         domains=("normal", "index"), empty=False, sum_like=True)
    case("tc_nll", f"tc_nll(a, b, {how})", [["A", "V"], ["A"]],
         lambda x, t, how=how: loss(-x[np.arange(len(t)), t], how), FLOATS, fixed={1: "i64"}, domains=("normal", "index"), empty=False, sum_like=True)
    case("tc_mse", f"tc_mse(a, b, {how})", [M, M], lambda a, b, how=how: loss((a - b) ** 2, how), FLOATS, empty=False, sum_like=True)
    case("tc_bce_with_logits", f"tc_bce_with_logits(a, b, {how})", [M, M],
         lambda x, y, how=how: loss(bce_with_logits(x, y), how), FLOATS,
         domains=("normal", "probability"), empty=False, sum_like=True, special=True if how == "TC_NONE" else None)

# ---- creation ------------------------------------------------------------------------------------------------------------
for target in ALL:
    t = f"TC_{target.upper()}"
    case("tc_full", f"tc_full(TC_DIMS(3, 37), 3, {t})", [], lambda: np.full((3, 37), 3.0), (target,), empty=False)
    case("tc_zeros", f"tc_zeros(TC_DIMS(5), {t})", [], lambda: np.zeros(5), (target,), empty=False)
    case("tc_ones", f"tc_ones(TC_DIMS(5), {t})", [], lambda: np.ones(5), (target,), empty=False)
    case("tc_eye", f"tc_eye(5, 7, {t})", [], lambda: np.eye(5, 7), (target,), empty=False)
    if target in INTS:  # past the end of the narrow ones: integers wrap
        for step in ("30", "30.5"):
            case("tc_arange", f"tc_arange(37, 2, {step}, {t})", [], lambda step=step: (np.arange(37) * float(step) + 2).astype(np.int64),
                 (target,), empty=False)
    if target != "bool":
        case("tc_arange", f"tc_arange(37, 2, 3, {t})", [], lambda: np.arange(37) * 3.0 + 2, (target,), empty=False)
case("tc_zeros_like", "tc_zeros_like(a)", [M], np.zeros_like, ALL)
case("tc_ones_like", "tc_ones_like(a)", [M], np.ones_like, NUMBERS)
case("tc_full_like", "tc_full_like(a, 5)", [M], lambda x: np.full_like(x, 5), NUMBERS)
case("tc_scalar", "tc_add(a, tc_scalar(2.0))", [M], lambda x: x + 2, FLOATS)
# By the type of the number: an integer beside integers leaves them what they are.
case("tc_scalar", "tc_add(a, tc_scalar(2))", [M], lambda x: x + 2, NUMBERS)
case("tc_scalar", "tc_mul(a, tc_scalar(0.5))", [M], lambda x: x * 0.5, INTS, "float")
case("tc_scalar", "tc_floor_div(a, tc_scalar(7))", [M], lambda x: x // 7, INTS, domain="any")
case("tc_scalar", "tc_bit_or(a, tc_scalar(1))", [M], lambda x: x | 1, INTS, domain="any")
case("tc_scalar_int", "tc_shl(tc_scalar_int(1), a)", [M], lambda x: np.where((x >= 0) & (x < 64), np.int64(1) << np.clip(x, 0, 63), 0), ("i64",), domain="shift")


def philox(seed, blocks, stream):
    """Four words for each of the counters 0 .. blocks-1 (Salmon et al. 2011)."""
    c = [np.arange(blocks, dtype=np.uint64), np.zeros(blocks, np.uint64),
         np.full(blocks, stream, np.uint64), np.zeros(blocks, np.uint64)]
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p0, p1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k0), p1 & low, (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k1), p0 & low]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(c, 1)


def bits53(words):
    """Words 2h+1 (high) and 2h (low) of each block: the top 53 of 64 bits, [blocks, 2]."""
    return ((words[:, 1::2] << np.uint64(32)) | words[:, 0::2]) >> np.uint64(11)


def uniform(seed, n, dtype):
    if dtype == "f64":
        return bits53(philox(seed, (n + 1) // 2, 0)).reshape(-1)[:n] * 2.0 ** -53
    bits = {"f32": 24, "f16": 11, "bf16": 8}[dtype]
    return (philox(seed, (n + 3) // 4, 0).reshape(-1)[:n] >> np.uint64(32 - bits)) * 2.0 ** -bits


def normal(seed, n, dtype):
    if dtype == "f64":
        u = bits53(philox(seed, (n + 1) // 2, 1))
        u1, u2 = (u[:, 0] + np.uint64(1)) * 2.0 ** -53, u[:, 1] * 2.0 ** -53
    else:
        u = philox(seed, (n + 3) // 4, 1).reshape(-1, 2)
        u1, u2 = (u[:, 0] + np.uint64(1)) * 2.0 ** -32, u[:, 1] * 2.0 ** -32
    r, angle = np.sqrt(-2 * np.log(u1)), 2 * math.pi * u2
    return np.stack([r * np.cos(angle), r * np.sin(angle)], 1).reshape(-1)[:n]


for t in FLOATS:
    case("tc_rand", f"tc_rand(TC_DIMS(3, 37), 12345678901234, TC_{t.upper()})", [],
         lambda t=t: uniform(12345678901234, 111, t).reshape(3, 37), (t,), empty=False)
    case("tc_randn", f"tc_randn(TC_DIMS(3, 37), 42, TC_{t.upper()})", [],
         lambda t=t: normal(42, 111, t).reshape(3, 37), (t,), empty=False)
    case("tc_rand_like", f"tc_rand_like(a, 12345678901234, TC_{t.upper()})", [M],
         lambda a, t=t: uniform(12345678901234, a.size, t).reshape(a.shape), (t,))
    case("tc_randn_like", f"tc_randn_like(a, 42, TC_{t.upper()})", [M],
         lambda a, t=t: normal(42, a.size, t).reshape(a.shape), (t,))
