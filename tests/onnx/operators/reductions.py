"""Reductions along axes, running sums, the largest."""
import numpy as np

from values import ints
from .table import axis_of, c_bool, c_dtype, is_float, operator

REDUCTIONS = {
    "ReduceL1": "tc_norm({x}, 1, {axes}, {keep})", "ReduceL2": "tc_norm({x}, 2, {axes}, {keep})",
    "ReduceLogSum": "tc_log(tc_sum({x}, {axes}, {keep}))", "ReduceLogSumExp": "tc_logsumexp({x}, {axes}, {keep})",
    "ReduceMax": "tc_max({x}, {axes}, {keep})", "ReduceMean": "tc_mean({x}, {axes}, {keep})", "ReduceMin": "tc_min({x}, {axes}, {keep})",
    "ReduceProd": "tc_prod({x}, {axes}, {keep})", "ReduceSum": "tc_sum({x}, {axes}, {keep})",
    "ReduceSumSquare": "tc_sum(tc_square({x}), {axes}, {keep})"}


def reduced(shape, axes, keep):
    gone = {axis_of(a, len(shape)) for a in axes} if len(axes) else set(range(len(shape)))
    return [1 if i in gone else d for i, d in enumerate(shape) if keep or i not in gone]


@operator(*REDUCTIONS)
def reduce(c, n):
    x = c.value(n, 0)
    axes = n.attributes.get("axes", [])
    if c.value(n, 1) is not None:
        axes = c.sizes(n, 1)[0]
    if not len(axes) and n.attributes.get("noop_with_empty_axes"):
        return c.result(n, x.dtype, x.shape, f"tc_clone({c.tensor(x)})")
    keep = n.attributes.get("keepdims", 1)
    text = REDUCTIONS[n.op].format(x=c.tensor(x), axes=ints(axes) if len(axes) else "TC_ALL", keep=c_bool(keep))
    if not is_float(x.dtype) and n.op in ("ReduceSum", "ReduceProd", "ReduceSumSquare"):
        text = f"tc_cast({text}, {c_dtype(x.dtype)})"
    return c.result(n, x.dtype, reduced(x.shape, axes, keep), text)


@operator("ArgMax", "ArgMin")
def place(c, n):
    x, axis, keep = c.value(n, 0), n.attributes.get("axis", 0), n.attributes.get("keepdims", 1)
    function, last = f"tc_{n.op.lower()}", n.attributes.get("select_last_index", 0)
    text = f"{function}({c.tensor(x)}, TC_AXES({axis}), {c_bool(keep)})"
    if last:
        text = f"tc_rsub_s({function}(tc_flip({c.tensor(x)}, TC_AXES({axis})), TC_AXES({axis}), {c_bool(keep)}), {x.shape[axis] - 1})"
    c.result(n, "i64", reduced(x.shape, [axis], keep), text)


@operator("CumSum")
def running_sum(c, n):
    x, axis = c.value(n, 0), int(c.numbers(n, 1).item())
    t = c.tensor(x)
    text = f"tc_cumsum({t}, {axis})"
    if n.attributes.get("reverse"):
        text = f"tc_flip(tc_cumsum(tc_flip({t}, TC_AXES({axis})), {axis}), TC_AXES({axis}))"
    if n.attributes.get("exclusive"):
        text = f"tc_sub({text}, {t})"
    c.result(n, x.dtype, x.shape, text)


def places(axis, rank, size, dtype="TC_I64"):
    """0, 1, ... along an axis, as C."""
    return f"tc_reshape(tc_arange({size}, 0, 1, {dtype}), {ints(size if i == axis_of(axis, rank) else 1 for i in range(rank))})"


@operator("Hardmax")
def hardmax(c, n):
    x, axis = c.value(n, 0), n.attributes.get("axis", -1 if c.version >= 13 else 1)
    largest = f"tc_argmax({c.tensor(x)}, TC_AXES({axis}), true)"
    c.result(n, x.dtype, x.shape, f"tc_cast(tc_eq({places(axis, x.rank, x.shape[axis])}, {largest}), {c_dtype(x.dtype)})")


@operator("TopK")
def top_k(c, n):
    x, axis, k = c.value(n, 0), n.attributes.get("axis", -1), int(np.ravel(c.numbers(n, 1))[0])
    largest = "true" if n.attributes.get("largest", 1) else "false"
    values, indices = c.identifier("values"), c.identifier("places")
    c.say(f"tc_tensor *{indices}, *{values} = tc_topk({c.tensor(x)}, {k}, {axis}, {largest}, &{indices});")
    shape = list(x.shape)
    shape[axis] = k
    c.result(n, x.dtype, shape, values)
    c.result(n, "i64", shape, indices, 1)
