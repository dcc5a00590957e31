"""Operators of each element for itself."""
import numpy as np

from model import DTYPES
from values import NUMPY, Unsupported, Value, ints
from .table import OPERATORS, broadcast, c_dtype, is_float, operator

# Of one tensor and its attributes, which have these defaults; the result has the dtype of the operand.
UNARY = {
    "Abs": "tc_abs({x})", "Acos": "tc_acos({x})", "Acosh": "tc_acosh({x})", "Asin": "tc_asin({x})", "Asinh": "tc_asinh({x})",
    "Atan": "tc_atan({x})", "Atanh": "tc_atanh({x})", "Ceil": "tc_ceil({x})", "Cos": "tc_cos({x})", "Cosh": "tc_cosh({x})",
    "Erf": "tc_erf({x})", "Exp": "tc_exp({x})", "Floor": "tc_floor({x})", "HardSwish": "tc_hardswish({x})", "Log": "tc_log({x})",
    "Reciprocal": "tc_reciprocal({x})", "Relu": "tc_relu({x})", "Round": "tc_round({x})", "Sigmoid": "tc_sigmoid({x})",
    "Sign": "tc_sign({x})", "Sin": "tc_sin({x})", "Sinh": "tc_sinh({x})", "Softplus": "tc_softplus({x})",
    "Softsign": "tc_softsign({x})", "Sqrt": "tc_sqrt({x})", "Tan": "tc_tan({x})", "Tanh": "tc_tanh({x})",
    "Celu": "tc_celu({x}, {alpha})", "Elu": "tc_elu({x}, {alpha})", "LeakyRelu": "tc_leaky_relu({x}, {alpha})",
    "HardSigmoid": "tc_clamp(tc_add_s(tc_mul_s({x}, {alpha}), {beta}), 0, 1)",
    "ThresholdedRelu": "tc_threshold({x}, {alpha}, 0)"}
DEFAULTS = {"Celu": {"alpha": 1}, "Elu": {"alpha": 1}, "LeakyRelu": {"alpha": 0.01}, "HardSigmoid": {"alpha": 0.2, "beta": 0.5},
            "ThresholdedRelu": {"alpha": 1}}
FOLDED = {"Ceil": np.ceil, "Relu": lambda x: np.maximum(x, 0)}  # by which counts of loops are computed
TESTS = {"IsNaN": "tc_isnan({x})", "Not": "tc_logical_not({x})"}
# Of two tensors, and of a tensor and a number on its right or its left; and with numbers that are known.
BINARY = {"Add": ("tc_add", "tc_add_s", "tc_add_s", np.add, "+"), "Sub": ("tc_sub", "tc_sub_s", "tc_rsub_s", np.subtract, "-"),
          "Mul": ("tc_mul", "tc_mul_s", "tc_mul_s", np.multiply, "*"), "Div": ("tc_div", "tc_div_s", "tc_rdiv_s", np.divide, "/")}
COMPARISONS = {"Equal": "tc_eq", "Greater": "tc_gt", "GreaterOrEqual": "tc_ge", "Less": "tc_lt", "LessOrEqual": "tc_le",
               "And": "tc_logical_and", "Or": "tc_logical_or", "Xor": "tc_logical_xor"}
VARIADIC = {"Max": "tc_maximum", "Min": "tc_minimum", "Sum": "tc_add", "Mean": "tc_add"}


def unary(c, n):
    x, text = c.value(n, 0), UNARY.get(n.op) or TESTS[n.op]
    values = {**DEFAULTS.get(n.op, {}), **n.attributes}
    numbers = FOLDED[n.op](x.numbers) if n.op in FOLDED and x.numbers is not None else None
    c.result(n, "bool" if n.op in TESTS else x.dtype, x.shape, text.format(x=c.tensor(x), **values), numbers=numbers)


OPERATORS.update({name: unary for name in (*UNARY, *TESTS)})


def scalar(value):
    """The number of a constant of one element and rank 0 or 1, as C; or None."""
    if not value.is_constant or value.numbers.size != 1 or value.texts is not None:
        return None
    return repr(value.numbers.reshape(()).item())


def aligned(c, n):
    """The two operands; before version 7 the axes of the second one begin at the attribute `axis` of the first one's."""
    a, b = c.value(n, 0), c.value(n, 1)
    behind = a.rank - b.rank - n.attributes["axis"] if n.attributes.get("broadcast") and "axis" in n.attributes else 0
    if behind > 0:
        b = Value(b.dtype, b.shape + (1,) * behind, f"tc_reshape({c.tensor(b)}, {ints(b.shape + (1,) * behind)})")
    return a, b


@operator("Add", "Sub", "Mul", "Div")
def binary(c, n):
    a, b = aligned(c, n)
    function, right, left, fold, sign = BINARY[n.op]
    shape = broadcast(a, b)
    if n.op == "Div" and not is_float(a.dtype):
        function, right, left, fold = "tc_floor_div", None, None, np.floor_divide
    numbers = None
    if a.numbers is not None and b.numbers is not None:
        with np.errstate(all="ignore"):
            numbers = fold(a.numbers, b.numbers).astype(a.numbers.dtype)
    if a.is_constant and b.is_constant:
        texts = None
        if a.texts is not None or b.texts is not None:
            join = np.frompyfunc(lambda p, q: f"({p} {sign} {q})", 2, 1)
            texts = np.asarray(join(*(v.numbers.astype(object) if v.texts is None else v.texts for v in (a, b))), object)
        c.known(n, numbers, texts)
    elif right and scalar(b) and shape == a.shape:
        c.result(n, a.dtype, shape, f"{right}({c.tensor(a)}, {scalar(b)})", numbers=numbers)
    elif left and scalar(a) and shape == b.shape:
        c.result(n, a.dtype, shape, f"{left}({c.tensor(b)}, {scalar(a)})", numbers=numbers)
    else:
        c.result(n, a.dtype, shape, f"{function}({c.tensor(a)}, {c.tensor(b)})", numbers=numbers)


@operator(*COMPARISONS)
def compare(c, n):
    a, b = c.value(n, 0), c.value(n, 1)
    c.result(n, "bool", broadcast(a, b), f"{COMPARISONS[n.op]}({c.tensor(a)}, {c.tensor(b)})")


@operator(*VARIADIC)
def variadic(c, n):
    operands = [c.value(n, i) for i in range(len(n.inputs))]
    text = c.tensor(operands[0])
    for x in operands[1:]:
        text = f"{VARIADIC[n.op]}({text}, {c.tensor(x)})"
    if n.op == "Mean" and len(operands) > 1:
        text = f"tc_div_s({text}, {len(operands)})"
    c.result(n, operands[0].dtype, broadcast(*operands), text if len(operands) > 1 else f"tc_clone({text})")


@operator("Neg")
def negative(c, n):
    x = c.value(n, 0)
    if x.is_constant:
        c.known(n, -x.numbers, None if x.texts is None else np.asarray([f"-{t}" for t in np.ravel(x.texts)], object).reshape(x.shape))
    else:
        c.result(n, x.dtype, x.shape, f"tc_neg({c.tensor(x)})")


@operator("Mod")
def modulo(c, n):
    a, b = c.value(n, 0), c.value(n, 1)
    function = "tc_fmod" if n.attributes.get("fmod") else "tc_remainder"
    c.result(n, a.dtype, broadcast(a, b), f"{function}({c.tensor(a)}, {c.tensor(b)})")


@operator("Pow")
def power(c, n):
    a, b = c.value(n, 0), c.value(n, 1)
    x, shape = c.tensor(a), broadcast(a, b)
    if scalar(b) and shape == a.shape:
        return c.result(n, a.dtype, shape, f"tc_pow_s({x}, {scalar(b)})")
    if not is_float(a.dtype) and is_float(b.dtype):  # rounded towards zero, from f64 as NumPy's
        return c.result(n, a.dtype, shape, f"tc_cast(tc_pow(tc_cast({x}, TC_F64), {c.tensor(b)}), {c_dtype(a.dtype)})")
    return c.result(n, a.dtype, shape, f"tc_pow({x}, {c.tensor(b)})")


@operator("BitShift")
def shift(c, n):
    a, b = c.value(n, 0), c.value(n, 1)
    function = "tc_shl" if n.attributes["direction"] == "LEFT" else "tc_shr"
    c.result(n, a.dtype, broadcast(a, b), f"{function}({c.tensor(a)}, {c.tensor(b)})")


@operator("Cast", "CastLike")
def cast(c, n):
    x = c.value(n, 0)
    dtype = DTYPES[n.attributes["to"]][0] if n.op == "Cast" else c.value(n, 1).dtype
    numbers = None
    if x.numbers is not None and x.dtype != "bf16" and dtype != "bf16":
        with np.errstate(all="ignore"):
            numbers = x.numbers.astype(NUMPY[dtype])
    if x.is_constant and numbers is not None:
        c.known(n, numbers, x.texts)
    else:
        c.result(n, dtype, x.shape, f"tc_cast({c.tensor(x)}, {c_dtype(dtype)})", numbers=numbers)


@operator("Clip")
def clip(c, n):
    """Bounds are operands of rank 0, or before version 11 numbers."""
    x, a = c.value(n, 0), n.attributes
    low, high = a.get("min", "-INFINITY"), a.get("max", "INFINITY")
    if a:
        return c.result(n, x.dtype, x.shape, f"tc_clamp({c.tensor(x)}, {low}, {high})")
    text = c.tensor(x)
    for function, bound in (("tc_maximum", c.value(n, 1)), ("tc_minimum", c.value(n, 2))):
        text = f"{function}({text}, {c.tensor(bound)})" if bound else text
    return c.result(n, x.dtype, x.shape, text if text != c.tensor(x) else f"tc_clone({text})")


@operator("IsInf")
def is_infinite(c, n):
    x = c.value(n, 0)
    up, down = n.attributes.get("detect_positive", 1), n.attributes.get("detect_negative", 1)
    text = f"tc_isinf({c.tensor(x)})" if up and down else f"tc_eq_s({c.tensor(x)}, {'' if up else '-'}INFINITY)"
    c.result(n, "bool", x.shape, text)


@operator("PRelu")
def prelu(c, n):
    a, b = c.value(n, 0), c.value(n, 1)
    x = c.tensor(a)
    if c.version < 7:  # a slope for each channel
        return c.result(n, a.dtype, a.shape, f"tc_prelu({x}, {c.tensor(b)})")
    return c.result(n, a.dtype, broadcast(a, b), f"tc_where(tc_gt_s({x}, 0), {x}, tc_mul({x}, {c.tensor(b)}))")


@operator("Selu")
def selu(c, n):
    x = c.value(n, 0)
    alpha, gamma = n.attributes.get("alpha"), n.attributes.get("gamma")
    text = f"tc_selu({c.tensor(x)})" if alpha is None and gamma is None else f"tc_mul_s(tc_elu({c.tensor(x)}, {alpha}), {gamma})"
    c.result(n, x.dtype, x.shape, text)


@operator("Shrink")
def shrink(c, n):
    x = c.value(n, 0)
    limit, bias = n.attributes.get("lambd", 0.5), n.attributes.get("bias", 0)
    t = c.tensor(x)
    if bias == 0:
        text = f"tc_hardshrink({t}, {limit})"
    elif bias == limit:
        text = f"tc_softshrink({t}, {limit})"
    else:
        text = f"tc_mul(tc_sub({t}, tc_mul_s(tc_sign({t}), {bias})), tc_gt_s(tc_abs({t}), {limit}))"
    c.result(n, x.dtype, x.shape, text)


@operator("Where")
def where(c, n):
    condition, a, b = (c.value(n, i) for i in range(3))
    c.result(n, a.dtype, broadcast(condition, a, b), f"tc_where({c.tensor(condition)}, {c.tensor(a)}, {c.tensor(b)})")


@operator("Identity")
def identity(c, n):
    x = c.value(n, 0)
    if x.is_constant:
        c.known(n, x.numbers, x.texts)
    else:
        c.result(n, x.dtype, x.shape, f"tc_clone({c.tensor(x)})", numbers=x.numbers)


@operator("Dropout")
def dropout(c, n):
    """At inference, or of nothing: the operand, and a mask of all."""
    x, training = c.value(n, 0), c.value(n, 2)
    if training is not None and c.numbers(n, 2).item() and (c.value(n, 1) is None or c.numbers(n, 1).item()):
        raise Unsupported("random numbers")
    c.result(n, x.dtype, x.shape, f"tc_clone({c.tensor(x)})")
    c.result(n, "bool", x.shape, f"tc_ones({ints(x.shape)}, TC_BOOL)", 1)
