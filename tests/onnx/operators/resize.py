"""Images of another size: tc_interpolate where it does the same, else the product with a matrix of shares for each axis."""
import numpy as np

from values import Value, ints
from .table import operator


def places(mode, size, wanted, scale, roi):
    """The places in an axis of `size` elements that the elements of the result are read from."""
    i = np.arange(wanted, dtype=np.float64)
    if mode == "align_corners":
        return i * (size - 1) / (size * scale - 1) if size * scale != 1 else np.zeros(wanted)
    if mode == "asymmetric":
        return i / scale
    if mode == "tf_crop_and_resize":
        first, last = roi
        return first * (size - 1) + i * (last - first) * (size - 1) / (wanted - 1) if wanted > 1 else np.full(1, 0.5 * (first + last) * (size - 1))
    if mode == "tf_half_pixel_for_nn":
        return (i + 0.5) / scale
    if mode == "pytorch_half_pixel" and wanted == 1:
        return np.zeros(1)
    return (i + 0.5) / scale - 0.5


def nearest(at, rounding):
    if rounding == "round_prefer_floor":
        return np.ceil(at - 0.5)
    return {"round_prefer_ceil": np.floor(at + 0.5), "floor": np.floor(at), "ceil": np.ceil(at)}[rounding]


def cubic(t, a):
    """Shares of the elements at -1, 0, 1 and 2 of a place t behind the second one (Keys, 1981)."""
    return [((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a, ((a + 2) * t - (a + 3)) * t * t + 1,
            ((a + 2) * (1 - t) - (a + 3)) * (1 - t) ** 2 + 1, ((a * (2 - t) - 5 * a) * (2 - t) + 8 * a) * (2 - t) - 4 * a]


def shares(at, size, a):
    """The matrix [wanted, size] whose product with an axis is the axis of the result."""
    mode, matrix = a.get("mode", "nearest"), np.zeros((len(at), size))
    for row, x in zip(matrix, at):
        if mode == "nearest":
            row[int(np.clip(nearest(x, a.get("nearest_mode", "round_prefer_floor")), 0, size - 1))] = 1
            continue
        first, t = int(np.floor(x)), x - np.floor(x)
        parts = {first: 1 - t, first + 1: t}
        if mode == "cubic":
            parts = dict(zip(range(first - 1, first + 3), cubic(t, a.get("cubic_coeff_a", -0.75))))
        if a.get("exclude_outside"):
            parts = {i: p for i, p in parts.items() if 0 <= i < size}
        for i, p in parts.items():
            row[int(np.clip(i, 0, size - 1))] += p / (sum(parts.values()) if a.get("exclude_outside") else 1)
    return matrix


def interpolation(a, image, sizes, scales):
    """(mode, align_corners) of tc_interpolate, which does the same; or None."""
    mode, way = a.get("mode", "nearest"), a.get("coordinate_transformation_mode", "half_pixel")
    exact = all(d * s == w for d, s, w in zip(image, scales, sizes))
    if a.get("exclude_outside") or a.get("cubic_coeff_a", -0.75) != -0.75:
        return None
    if mode != "nearest" and way == "align_corners" and exact:
        return {"linear": "TC_LINEAR", "cubic": "TC_CUBIC"}[mode], "true"
    if mode != "nearest" and way == "half_pixel" and exact:
        return {"linear": "TC_LINEAR", "cubic": "TC_CUBIC"}[mode], "false"
    if mode == "nearest" and way == "asymmetric" and exact and a.get("nearest_mode") == "floor":
        return "TC_NEAREST", "false"
    return None


@operator("Resize", "Upsample")
def resize(c, n):
    x, a = c.value(n, 0), dict(n.attributes)
    if n.op == "Upsample":
        a |= {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    numbers = c.numbers(n, 1 if n.op == "Upsample" else 2)
    if numbers is None or not numbers.size:
        sizes = c.sizes(n, 3)[0]
        scales = [w / d for w, d in zip(sizes, x.shape)]
    else:
        scales = [float(s) for s in numbers]
        sizes = [int(np.floor(d * np.float32(s))) for d, s in zip(x.shape, scales)]
    known = interpolation(a, x.shape[2:], sizes[2:], scales[2:])
    if known and sizes[:2] == list(x.shape[:2]):
        return c.result(n, x.dtype, sizes, f"tc_interpolate({c.tensor(x)}, {ints(sizes[2:])}, {known[0]}, {known[1]})")
    return c.result(n, x.dtype, sizes, by_matrices(c, n, x, a, sizes, scales))


def by_matrices(c, n, x, a, sizes, scales):
    way, text, outside = a.get("coordinate_transformation_mode", "half_pixel"), c.tensor(x), np.zeros(sizes[2:], bool)
    roi = c.numbers(n, 1) if way == "tf_crop_and_resize" else None
    for axis in range(2, x.rank):
        at = places(way, x.shape[axis], sizes[axis], scales[axis], None if roi is None else (roi[axis], roi[axis + x.rank]))
        matrix = Value("f32", (sizes[axis], x.shape[axis]), numbers=shares(at, x.shape[axis], a).astype(np.float32))
        if axis == x.rank - 1:
            text = f"tc_matmul({text}, tc_transpose({c.tensor(matrix)}, 0, 1))"
        else:
            text = f"tc_transpose(tc_matmul(tc_transpose({text}, {axis}, -1), tc_transpose({c.tensor(matrix)}, 0, 1)), {axis}, -1)"
        beside = (at < 0) | (at > x.shape[axis] - 1)
        outside |= beside.reshape([-1 if i == axis - 2 else 1 for i in range(x.rank - 2)])
    if roi is not None and outside.any():
        mask = Value("bool", outside.shape, numbers=outside)
        text = f"tc_masked_fill({text}, {c.tensor(mask)}, {a.get('extrapolation_value', 0)})"
    return text
