"""Sizes, views, and what joins and moves elements whatever their values are."""
import numpy as np

from model import DTYPES
from values import Unsupported, ints, literal, name_of
from .table import axis_of, c_dtype, operator


@operator("Constant")
def constant(c, n):
    (kind, value), = n.attributes.items()
    if kind == "value":
        if value.dtype in ("string", "bf16", "u16", "u32", "u64"):
            raise Unsupported(f"a constant of {value.dtype}")
        c.known(n, value.array)
    else:
        c.known(n, np.array(value, np.float32 if kind.startswith("value_float") else np.int64))


@operator("ConstantOfShape")
def filled(c, n):
    dims, texts = c.sizes(n, 0)
    value = n.attributes["value"].array.reshape(()) if "value" in n.attributes else np.float32(0)
    if c.value(n, 0).is_constant:
        return c.known(n, np.full(dims, value, value.dtype))
    dtype = name_of(value.dtype)
    return c.result(n, dtype, dims, f"tc_full({ints(texts)}, {literal(value)}, {c_dtype(dtype)})")


@operator("Shape")
def shape(c, n):
    x = c.value(n, 0)
    some = slice(n.attributes.get("start", 0), n.attributes.get("end", None))
    t = c.tensor(x)
    texts = np.asarray([f"tc_size({t}, {i})" for i in range(x.rank)], object)
    c.known(n, np.asarray(x.shape, np.int64)[some], texts[some])


@operator("Size")
def size(c, n):
    x = c.value(n, 0)
    numel = np.asarray(int(np.prod(x.shape)), np.int64)
    c.known(n, numel, None if x.is_constant else np.asarray(f"tc_numel({c.tensor(x)})", object))


def moved(c, n, x, function, text):
    """The result: `function` of NumPy on numbers that are known; else `text` of a tensor, of the shape that it has then."""
    if x.is_constant:
        return c.known(n, function(x.numbers), None if x.texts is None else function(x.texts))
    value = c.result(n, x.dtype, function(np.empty(x.shape)).shape, text.format(x=c.tensor(x)))
    value.is_view = x.is_view
    return value


@operator("Reshape")
def reshape(c, n):
    x = c.value(n, 0)
    dims, texts = c.sizes(n, 1)
    if not n.attributes.get("allowzero"):
        texts = [str(x.shape[i]) if d == 0 else t for i, (d, t) in enumerate(zip(dims, texts))]
        dims = [x.shape[i] if d == 0 else d for i, d in enumerate(dims)]
    moved(c, n, x, lambda a: a.reshape(dims), f"tc_reshape({{x}}, {ints(texts)})")


@operator("Flatten")
def flatten(c, n):
    x = c.value(n, 0)
    axis = axis_of(n.attributes.get("axis", 1), x.rank)
    dims = [int(np.prod(x.shape[:axis])), int(np.prod(x.shape[axis:]))]
    text = f"tc_reshape({{x}}, {ints(dims)})"
    if axis == 1 and x.rank > 1:
        text = f"tc_flatten({{x}}, 1, {x.rank - 1})"
    moved(c, n, x, lambda a: a.reshape(dims), text)


def axes_of(c, n, i):
    """axes, an attribute or operand i; or None."""
    return n.attributes.get("axes") if c.value(n, i) is None else c.sizes(n, i)[0]


@operator("Squeeze")
def squeeze(c, n):
    x, axes = c.value(n, 0), axes_of(c, n, 1)
    axes = sorted((axis_of(a, x.rank) for a in axes), reverse=True) if axes else [i for i in range(x.rank - 1, -1, -1) if x.shape[i] == 1]
    text = "{x}"
    for a in axes:
        text = f"tc_squeeze({text}, {a})"
    moved(c, n, x, lambda a: a.reshape([d for i, d in enumerate(a.shape) if i not in axes]), text)


@operator("Unsqueeze")
def unsqueeze(c, n):
    x, axes = c.value(n, 0), axes_of(c, n, 1)
    rank = x.rank + len(axes)
    axes, text = sorted(axis_of(a, rank) for a in axes), "{x}"
    for a in axes:
        text = f"tc_unsqueeze({text}, {a})"
    moved(c, n, x, lambda a: np.expand_dims(a, tuple(axes)), text)


@operator("Transpose")
def transpose(c, n):
    x = c.value(n, 0)
    perm = n.attributes.get("perm", list(range(x.rank))[::-1])
    text = "tc_transpose({x}, 0, 1)" if perm == [1, 0] else f"tc_permute({{x}}, {ints(perm)})"
    moved(c, n, x, lambda a: a.transpose(perm), text)


@operator("Expand")
def expand(c, n):
    x = c.value(n, 0)
    dims = np.broadcast_shapes(x.shape, tuple(c.sizes(n, 1)[0]))
    moved(c, n, x, lambda a: np.broadcast_to(a, dims), f"tc_expand({{x}}, {ints(dims)})")


@operator("Tile")
def tile(c, n):
    times = c.sizes(n, 1)[0]
    moved(c, n, c.value(n, 0), lambda a: np.tile(a, times), f"tc_repeat({{x}}, {ints(times)})")


@operator("Concat")
def concat(c, n):
    operands, axis = [c.value(n, i) for i in range(len(n.inputs))], n.attributes["axis"]
    if all(v.is_constant for v in operands):
        texts = None
        if any(v.texts is not None for v in operands):
            texts = np.concatenate([v.numbers.astype(object) if v.texts is None else v.texts for v in operands], axis)
        return c.known(n, np.concatenate([v.numbers for v in operands], axis), texts)
    parts = c.identifier("parts")
    texts = [c.tensor(v) for v in operands]
    c.say(f"const tc_tensor *{parts}[] = {{{', '.join(texts)}}};")
    shape = np.concatenate([np.empty(v.shape) for v in operands], axis).shape
    return c.result(n, operands[0].dtype, shape, f"tc_concat({parts}, {len(operands)}, {axis})")


@operator("Split")
def split(c, n):
    x, axis, count = c.value(n, 0), n.attributes.get("axis", 0), len(n.outputs)
    t, whole = c.tensor(x), x.shape[axis]
    sizes = c.sizes(n, 1)[0] if c.value(n, 1) is not None else n.attributes.get("split", [whole // count] * count)
    if len(set(sizes)) == 1 and sizes[0]:
        parts, c.multiples[whole] = c.identifier("parts"), f"%{count}"
        c.say(f"tc_tensor *{parts}[{count}];")
        c.say(f"if (tc_split({t}, {count}, {axis}, {parts}) < 0) return NULL;")
        texts = [f"{parts}[{i}]" for i in range(count)]
    else:
        ends = np.cumsum([0, *sizes])
        texts = [f"tc_slice({t}, {axis}, {a}, {b}, 1)" for a, b in zip(ends, ends[1:])]
    for i, (text, length) in enumerate(zip(texts, sizes)):
        dims = list(x.shape)
        dims[axis] = length
        value = c.result(n, x.dtype, dims, text, i)
        value.is_view = x.is_view


@operator("Slice")
def slices(c, n):
    x = c.value(n, 0)
    if "starts" in n.attributes:
        starts, ends, axes, steps = n.attributes["starts"], n.attributes["ends"], n.attributes.get("axes"), None
    else:
        starts, ends = c.sizes(n, 1)[0], c.sizes(n, 2)[0]
        axes = c.sizes(n, 3)[0] if c.value(n, 3) is not None else None
        steps = c.sizes(n, 4)[0] if c.value(n, 4) is not None else None
    some, text = [slice(None)] * x.rank, "{x}"
    for i, (start, end) in enumerate(zip(starts, ends)):
        axis, step = axis_of(axes[i], x.rank) if axes else i, steps[i] if steps else 1
        some[axis] = slice(start, None if step < 0 and end < -x.shape[axis] else end, step)
        text = slice_text(text, axis, some[axis].indices(x.shape[axis]), start, end, step)
    moved(c, n, x, lambda a: a[tuple(some)], text)


def slice_text(text, axis, bounds, start, end, step):
    """tc_slice steps forward: elements that are taken backwards are taken forward and flipped."""
    if step > 0:
        return f"tc_slice({text}, {axis}, {start}, {'INT64_MAX' if end > 2**31 else end}, {step})"
    first, last, _ = bounds
    count = max(0, -(-(first - last) // -step))
    low = first + (count - 1) * step
    return f"tc_flip(tc_slice({text}, {axis}, {low}, {first + 1}, {-step}), TC_AXES({axis}))"


@operator("Pad")
def pad(c, n):
    x = c.value(n, 0)
    pads = c.sizes(n, 1)[0] if c.value(n, 1) is not None else n.attributes["pads"]
    before, after = pads[:x.rank], pads[x.rank:]
    dims = [b + d + a for b, d, a in zip(before, x.shape, after)]
    mode, t = n.attributes.get("mode", "constant"), c.tensor(x)
    if mode == "constant":
        fill = c.numbers(n, 2).item() if c.value(n, 2) is not None else n.attributes.get("value", 0)
        text = f"tc_pad({t}, {ints(before)}, {ints(after)}, {fill})"
    else:
        text = f"{'tc_pad_replicate' if mode == 'edge' else 'tc_pad_reflect'}({t}, {ints(before)}, {ints(after)})"
    c.result(n, x.dtype, dims, text)


@operator("Trilu")
def triangle(c, n):
    x = c.value(n, 0)
    k = c.numbers(n, 1).item() if c.value(n, 1) is not None else 0
    c.result(n, x.dtype, x.shape, f"{'tc_triu' if n.attributes.get('upper', 1) else 'tc_tril'}({c.tensor(x)}, {k})")


@operator("EyeLike")
def eye(c, n):
    x, k = c.value(n, 0), n.attributes.get("k", 0)
    dtype = DTYPES[n.attributes["dtype"]][0] if "dtype" in n.attributes else x.dtype
    rows, columns = (f"tc_size({c.tensor(x)}, {i})" for i in range(2))
    if k == 0:
        return c.result(n, dtype, x.shape, f"tc_eye({rows}, {columns}, {c_dtype(dtype)})")
    down = c.temporary("row", f"tc_reshape(tc_arange({rows}, {k}, 1, TC_I64), TC_DIMS({rows}, 1))")
    return c.result(n, dtype, x.shape, f"tc_cast(tc_eq({down}, tc_arange({columns}, 0, 1, TC_I64)), {c_dtype(dtype)})")


@operator("Range")
def arange(c, n):
    start, limit, delta = (c.numbers(n, i).item() for i in range(3))
    dtype = c.value(n, 0).dtype
    count = max(0, int(np.ceil((limit - start) / delta)))
    c.result(n, dtype, [count], f"tc_arange({count}, {start}, {delta}, {c_dtype(dtype)})")


@operator("DepthToSpace")
def depth_to_space(c, n):
    x, r = c.value(n, 0), n.attributes["blocksize"]
    batch, depth, h, w = x.shape
    shape = [batch, depth // (r * r), h * r, w * r]
    if n.attributes.get("mode", "DCR") == "CRD":
        return c.result(n, x.dtype, shape, f"tc_pixel_shuffle({c.tensor(x)}, {r})")
    blocks = c.temporary("blocks", f"tc_reshape({c.tensor(x)}, {ints([batch, r, r, depth // (r * r), h, w])})")
    return c.result(n, x.dtype, shape, f"tc_reshape(tc_permute({blocks}, TC_AXES(0, 3, 4, 1, 5, 2)), {ints(shape)})")


@operator("SpaceToDepth")
def space_to_depth(c, n):
    x, r = c.value(n, 0), n.attributes["blocksize"]
    batch, depth, h, w = x.shape
    shape = [batch, depth * r * r, h // r, w // r]
    blocks = c.temporary("blocks", f"tc_reshape({c.tensor(x)}, {ints([batch, depth, h // r, r, w // r, r])})")
    c.result(n, x.dtype, shape, f"tc_reshape(tc_permute({blocks}, TC_AXES(0, 3, 5, 1, 2, 4)), {ints(shape)})")
