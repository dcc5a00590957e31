"""Convolutions, pooling, padding of images: operands N, C and one to three dimensions."""
from values import Unsupported, ints
from .table import c_bool, c_dtype, is_float, operator


class Windows:
    """What a node says about windows over the dimensions of x: lists of numbers, one for each dimension."""

    def __init__(self, n, x, size):
        axes, a = len(size), n.attributes
        self.size, self.image, self.ceil = size, x.shape[2:], bool(a.get("ceil_mode"))
        self.stride, self.dilation = a.get("strides", [1] * axes), a.get("dilations", [1] * axes)
        pads = a.get("pads", [0] * 2 * axes)
        self.before, self.after = pads[:axes], pads[axes:]
        if a.get("auto_pad", "NOTSET").startswith("SAME"):
            self.same(a["auto_pad"] == "SAME_UPPER")

    @property
    def extent(self):
        return [(s - 1) * d + 1 for s, d in zip(self.size, self.dilation)]

    def same(self, upper):
        """As many windows as strides fit into the image, rounded up."""
        whole = [max(0, (-(-d // s) - 1) * s + e - d) for d, s, e in zip(self.image, self.stride, self.extent)]
        less, more = [w // 2 for w in whole], [w - w // 2 for w in whole]
        self.before, self.after = (less, more) if upper else (more, less)

    def counts(self):
        spans = [d + b + a - e for d, b, a, e in zip(self.image, self.before, self.after, self.extent)]
        return [(-(-n // s) if self.ceil else n // s) + 1 for n, s in zip(spans, self.stride)]

    def is_even(self):
        return self.before == self.after

    def padded(self, text, value):
        """C of x with all of the padding, which is none from then on."""
        if any(self.before) or any(self.after):
            text = f"tc_pad({text}, {ints([0, 0, *self.before])}, {ints([0, 0, *self.after])}, {value})"
        self.image = [d + b + a for d, b, a in zip(self.image, self.before, self.after)]
        self.before = self.after = [0] * len(self.size)
        return text


def convolution(n, x, w, text, weight, bias):
    """C of a convolution, and its shape."""
    windows = Windows(n, x, w.shape[2:])
    shape = [x.shape[0], w.shape[0], *windows.counts()]
    if not windows.is_even():
        text = windows.padded(text, 0)
    lists = f"{ints(windows.stride)}, {ints(windows.before)}, {ints(windows.dilation)}"
    return f"tc_conv({text}, {weight}, {bias}, {lists}, {n.attributes.get('group', 1)})", shape


@operator("Conv")
def conv(c, n):
    x, w = c.value(n, 0), c.value(n, 1)
    text, shape = convolution(n, x, w, c.tensor(x), c.tensor(w), c.tensor(c.value(n, 2)))
    c.result(n, x.dtype, shape, text)


@operator("ConvTranspose")
def conv_transpose(c, n):
    x, w, a = c.value(n, 0), c.value(n, 1), n.attributes
    windows, group = Windows(n, x, w.shape[2:]), a.get("group", 1)
    more = a.get("output_padding", [0] * len(windows.size))
    full = [(d - 1) * s + e + m for d, s, e, m in zip(windows.image, windows.stride, windows.extent, more)]
    if "output_shape" in a or a.get("auto_pad", "NOTSET").startswith("SAME"):
        wanted = a.get("output_shape") or [d * s for d, s in zip(windows.image, windows.stride)]
        whole = [f - d for f, d in zip(full, wanted)]
        more = [m + max(0, -t) for m, t in zip(more, whole)]
        less = [max(0, t) // 2 for t in whole]
        rest = [max(0, t) - p for t, p in zip(whole, less)]
        windows.before, windows.after = (less, rest) if a.get("auto_pad") == "SAME_UPPER" else (rest, less)
        full = wanted
    else:
        full = [f - b - e for f, b, e in zip(full, windows.before, windows.after)]
    crop = [0] * len(full) if windows.is_even() else windows.after
    padding = windows.before if windows.is_even() else [0] * len(full)
    text = (f"tc_conv_transpose({c.tensor(x)}, {c.tensor(w)}, {c.tensor(c.value(n, 2))}, {ints(windows.stride)}, {ints(padding)}, "
            f"{ints(more)}, {ints(windows.dilation)}, {group})")
    for i in range(len(full)):
        if any(crop) or padding != windows.before:
            text = f"tc_slice({text}, {i + 2}, {windows.before[i]}, {windows.before[i] + full[i]}, 1)"
    c.result(n, x.dtype, [x.shape[0], w.shape[1] * group, *full], text)


@operator("MaxPool")
def max_pool(c, n):
    x = c.value(n, 0)
    windows = Windows(n, x, n.attributes["kernel_shape"])
    shape, text = [*x.shape[:2], *windows.counts()], c.tensor(x)
    if not is_float(x.dtype):
        text = f"tc_cast({text}, TC_F32)"
    if not windows.is_even() or any(2 * p > e for p, e in zip(windows.before, windows.extent)):
        text = windows.padded(text, "-INFINITY")
    lists = f"{ints(windows.size)}, {ints(windows.stride)}, {ints(windows.before)}, {ints(windows.dilation)}, {c_bool(windows.ceil)}"
    if not c.is_wanted(n, 1):
        text = f"tc_max_pool({text}, {lists})"
        return c.result(n, x.dtype, shape, text if is_float(x.dtype) else f"tc_cast({text}, {c_dtype(x.dtype)})")
    if x.shape[:2] != (1, 1):
        raise Unsupported("places in several images")
    at = c.declare("place")
    c.result(n, x.dtype, shape, f"tc_max_pool_with_index({text}, {lists}, &{at})")
    if n.attributes.get("storage_order"):
        h, w = x.shape[2:]
        row, column = f"tc_floor_div({at}, tc_scalar_int({w}))", f"tc_remainder_s({at}, {w})"
        return c.result(n, "i64", shape, f"tc_add(tc_mul_s({column}, {h}), {row})", 1)
    return c.result(n, "i64", shape, at, 1)


@operator("AveragePool")
def average_pool(c, n):
    x = c.value(n, 0)
    windows, whole = Windows(n, x, n.attributes["kernel_shape"]), bool(n.attributes.get("count_include_pad"))
    shape, text = [*x.shape[:2], *windows.counts()], c.tensor(x)
    if windows.is_even() and all(2 * p <= e for p, e in zip(windows.before, windows.extent)):
        lists = f"{ints(windows.size)}, {ints(windows.stride)}, {ints(windows.before)}, {c_bool(windows.ceil)}, {c_bool(whole)}"
        return c.result(n, x.dtype, shape, f"tc_avg_pool({text}, {lists})")
    pads = (list(windows.before), list(windows.after), windows.image)
    sums = f"tc_avg_pool({windows.padded(text, 0)}, {ints(windows.size)}, {ints(windows.stride)}, TC_INTS(0), false, true)"
    if whole:
        return c.result(n, x.dtype, shape, sums)
    windows.before, windows.after, windows.image = pads  # the part of a window that lies in x
    ones = windows.padded(f"tc_ones({ints(x.shape)}, {c_dtype(x.dtype)})", 0)
    parts = f"tc_avg_pool({ones}, {ints(windows.size)}, {ints(windows.stride)}, TC_INTS(0), false, true)"
    return c.result(n, x.dtype, shape, f"tc_div({sums}, {parts})")


@operator("GlobalAveragePool", "GlobalMaxPool")
def global_pool(c, n):
    x = c.value(n, 0)
    function = "tc_adaptive_avg_pool" if n.op == "GlobalAveragePool" else "tc_adaptive_max_pool"
    c.result(n, x.dtype, [*x.shape[:2]] + [1] * (x.rank - 2), f"{function}({c.tensor(x)}, TC_INTS(1))")


@operator("MaxUnpool")
def max_unpool(c, n):
    """Places are those in the image that was pooled, of the size that strides tell; a larger one has zeros behind."""
    x, index, a = c.value(n, 0), c.value(n, 1), n.attributes
    if x.shape[:2] != (1, 1):
        raise Unsupported("places in several images")
    image = [(d - 1) * s + k for d, s, k in zip(x.shape[2:], a["strides"], a["kernel_shape"])]
    text = f"tc_max_unpool({c.tensor(x)}, {c.tensor(index)}, {ints(image)})"
    shape = [*x.shape[:2], *image]
    if c.value(n, 2) is not None:
        wanted = c.sizes(n, 2)[0]
        text = f"tc_pad({text}, TC_INTS({', '.join('0' * len(wanted))}), {ints(w - d for w, d in zip(wanted, shape))}, 0)"
        shape = wanted
    c.result(n, x.dtype, shape, text)


@operator("GridSample")
def grid_sample(c, n):
    x, grid = c.value(n, 0), c.value(n, 1)
    mode = {"bilinear": "TC_LINEAR", "nearest": "TC_NEAREST", "bicubic": "TC_CUBIC"}[n.attributes.get("mode", "bilinear")]
    outside = {"zeros": "ZERO", "border": "BORDER", "reflection": "REFLECT"}[n.attributes.get("padding_mode", "zeros")]
    text = f"tc_grid_sample({c.tensor(x)}, {c.tensor(grid)}, {mode}, TC_OUTSIDE_{outside}, {c_bool(n.attributes.get('align_corners'))})"
    c.result(n, x.dtype, [*x.shape[:2], *grid.shape[1:-1]], text)
