"""Places that are data.  Indices of ONNX may be negative: from the end (onnx_index in helpers.h)."""
import numpy as np

from values import Unsupported, ints
from .reductions import places
from .table import axis_of, is_float, operator


def index_text(c, value, size):
    return f"onnx_index({c.tensor(value)}, {size})"


@operator("Gather")
def gather(c, n):
    x, index = c.value(n, 0), c.value(n, 1)
    axis = axis_of(n.attributes.get("axis", 0), x.rank)
    if x.is_constant and index.is_constant:
        take = lambda a: np.asarray(np.take(a, index.numbers, axis), a.dtype)  # noqa: E731
        return c.known(n, take(x.numbers), None if x.texts is None else take(x.texts))
    at = index_text(c, index, x.shape[axis])
    if index.rank != 1:
        at = f"tc_reshape({at}, TC_DIMS(-1))"
    text, shape = f"tc_index_select({c.tensor(x)}, {axis}, {at})", x.shape[:axis] + index.shape + x.shape[axis + 1:]
    return c.result(n, x.dtype, shape, text if index.rank == 1 else f"tc_reshape({text}, {ints(shape)})")


@operator("GatherElements")
def gather_elements(c, n):
    x, index, axis = c.value(n, 0), c.value(n, 1), n.attributes.get("axis", 0)
    c.result(n, x.dtype, index.shape, f"tc_gather({c.tensor(x)}, {axis}, {index_text(c, index, x.shape[axis])})")


def rows(c, shape, index, batch):
    """C of the numbers of rows, of the first axes of `shape`, that the last axis of `index` tells."""
    k = index.shape[-1]
    first, t = shape[:batch + k], c.tensor(index)
    at = None
    for j in range(batch + k):
        if j < batch:
            one = places(j, index.rank - 1, shape[j])
        else:
            one = f"onnx_index(tc_select({t}, -1, {j - batch}), {first[j]})"
        at = one if at is None else f"tc_add(tc_mul_s({at}, {first[j]}), {one})"
    return at, [int(np.prod(first)), *shape[batch + k:]]


@operator("GatherND")
def gather_nd(c, n):
    x, index, batch = c.value(n, 0), c.value(n, 1), n.attributes.get("batch_dims", 0)
    at, dims = rows(c, x.shape, index, batch)
    shape = [*index.shape[:-1], *dims[1:]]
    text = f"tc_index_select(tc_reshape({c.tensor(x)}, {ints(dims)}), 0, tc_reshape({at}, TC_DIMS(-1)))"
    c.result(n, x.dtype, shape, f"tc_reshape({text}, {ints(shape)})")


@operator("Scatter", "ScatterElements")
def scatter(c, n):
    x, index, axis = c.value(n, 0), c.value(n, 1), n.attributes.get("axis", 0)
    function = {"none": "tc_scatter", "add": "tc_scatter_add"}[n.attributes.get("reduction", "none")]
    at = index_text(c, index, x.shape[axis])
    c.result(n, x.dtype, x.shape, f"{function}({c.tensor(x)}, {axis}, {at}, {c.tensor(c.value(n, 2))})")


@operator("ScatterND")
def scatter_nd(c, n):
    x, index, updates = (c.value(n, i) for i in range(3))
    at, dims = rows(c, x.shape, index, 0)
    count, reduction = int(np.prod(index.shape[:-1])), n.attributes.get("reduction", "none")
    lines = c.temporary("lines", f"tc_reshape({c.tensor(updates)}, {ints([count, *dims[1:]])})")
    whole = f"tc_reshape({c.tensor(x)}, {ints(dims)})"
    column = c.temporary("at", f"tc_reshape({at}, {ints([count] + [1] * (len(dims) - 1))})")
    if reduction in ("none", "add"):
        function = "tc_scatter" if reduction == "none" else "tc_scatter_add"
        text = f"{function}({whole}, 0, tc_expand({column}, {ints([count, *dims[1:]])}), {lines})"
    else:
        factor, here = c.temporary("product", whole), places(0, len(dims), dims[0])
        c.say(f"for (int i = 0; i < {count}; i++) {{")
        c.say(f"  const tc_tensor *line = tc_eq({here}, tc_slice({column}, 0, i, i + 1, 1));")
        c.say(f"  {factor} = tc_where(line, tc_mul({factor}, tc_slice({lines}, 0, i, i + 1, 1)), {factor});")
        c.say("}")
        text = factor
    c.result(n, x.dtype, x.shape, f"tc_reshape({text}, {ints(x.shape)})")


@operator("OneHot")
def one_hot(c, n):
    index, depth, values = c.value(n, 0), int(c.numbers(n, 1).item()), c.value(n, 2)
    axis = axis_of(n.attributes.get("axis", -1), index.rank + 1)
    t = c.tensor(index)
    if is_float(index.dtype):
        t = f"tc_cast({t}, TC_I64)"
    hot = f"tc_eq(tc_unsqueeze(onnx_index({t}, {depth}), {axis}), {places(axis, index.rank + 1, depth)})"
    v = c.tensor(values)
    shape = [*index.shape[:axis], depth, *index.shape[axis:]]
    c.result(n, values.dtype, shape, f"tc_where({hot}, tc_select({v}, 0, 1), tc_select({v}, 0, 0))")


@operator("ReverseSequence")
def reverse_sequence(c, n):
    """Element t of a sequence of length l is element l - 1 - t, if t < l."""
    x, lengths, time, batch = c.value(n, 0), c.value(n, 1), n.attributes.get("time_axis", 0), n.attributes.get("batch_axis", 1)
    t = c.temporary("t", places(time, x.rank, x.shape[time]))
    shape = ints(x.shape[i] if i == batch else 1 for i in range(x.rank))
    length = c.temporary("length", f"tc_reshape({c.tensor(lengths)}, {shape})")
    at = f"tc_where(tc_lt({t}, {length}), tc_sub_s(tc_sub({length}, {t}), 1), {t})"
    c.result(n, x.dtype, x.shape, f"tc_gather({c.tensor(x)}, {time}, tc_expand({at}, {ints(x.shape)}))")


@operator("Det")
def determinant(c, n):
    x = c.value(n, 0)
    if x.shape[-2:] != (2, 2):
        raise Unsupported("determinants of more than two rows")
    e = [[f"tc_select(tc_select({c.tensor(x)}, -2, {i}), -1, {j})" for j in range(2)] for i in range(2)]
    c.result(n, x.dtype, x.shape[:-2], f"tc_sub(tc_mul({e[0][0]}, {e[1][1]}), tc_mul({e[0][1]}, {e[1][0]}))")
