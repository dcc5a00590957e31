"""Windows and Fourier transforms of signals; complex numbers are a last axis of two."""
import numpy as np

from values import Unsupported
from .table import axis_of, c_dtype, operator

COSINES = {"HannWindow": (0.5, 0.5, 0), "HammingWindow": (25 / 46, 21 / 46, 0), "BlackmanWindow": (0.42, 0.5, 0.08)}


@operator(*COSINES)
def window(c, n):
    """a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n); of symmetric ones n is one less than there are elements."""
    size, (a0, a1, a2) = int(c.numbers(n, 0).item()), COSINES[n.op]
    over = size if n.attributes.get("periodic", 1) else size - 1
    angle = c.temporary("angle", f"tc_mul_s(tc_arange({size}, 0, 1, TC_F32), {2 * np.pi / over!r})")
    text = f"tc_rsub_s(tc_mul_s(tc_cos({angle}), {a1!r}), {a0!r})"
    if a2:
        text = f"tc_add({text}, tc_mul_s(tc_cos(tc_mul_s({angle}, 2)), {a2!r}))"
    c.result(n, "f32", [size], text)


def waves(c, size, bins, inverse):
    """C of the matrices [size,bins] of cos and sin of 2 pi i k / size; products of whole numbers stay exact."""
    i, k = f"tc_reshape(tc_arange({size}, 0, 1, TC_I64), TC_DIMS({size}, 1))", f"tc_arange({bins}, 0, 1, TC_I64)"
    turns = f"tc_cast(tc_remainder_s(tc_mul({i}, {k}), {size}), TC_F32)"
    angle = c.temporary("angle", f"tc_mul_s({turns}, {(1 if inverse else -1) * 2 * np.pi / size!r})")
    return c.temporary("cosines", f"tc_cos({angle})"), c.temporary("sines", f"tc_sin({angle})")


def transform(c, real, imaginary, size, bins, inverse):
    """C of the real and the imaginary part of the transform of rows [...,size]; imaginary: None where it is 0."""
    cosines, sines = waves(c, size, bins, inverse)
    parts = [f"tc_matmul({real}, {cosines})", f"tc_matmul({real}, {sines})"]
    if imaginary is not None:
        parts = [f"tc_sub({parts[0]}, tc_matmul({imaginary}, {sines}))", f"tc_add({parts[1]}, tc_matmul({imaginary}, {cosines}))"]
    return [f"tc_div_s({p}, {size})" for p in parts] if inverse else parts


def as_complex(c, n, parts, shape, axis=None):
    """The result of two parts, of which the last axis was `axis`."""
    names = c.identifier("parts")
    turned = [p if axis is None else f"tc_transpose({p}, {axis}, -1)" for p in parts]
    c.say(f"const tc_tensor *{names}[] = {{{', '.join(turned)}}};")
    c.result(n, "f32", shape, f"tc_stack({names}, 2, -1)")


@operator("DFT")
def dft(c, n):
    x, axis, t = c.value(n, 0), n.attributes.get("axis", 1), c.tensor(c.value(n, 0))
    if c.value(n, 1) is not None or n.attributes.get("onesided"):
        raise Unsupported("transforms of another length, one-sided")
    size, rank = x.shape[axis], x.rank - 1
    inputs = [f"tc_transpose(tc_select({t}, -1, {i}), {axis}, -1)" for i in range(x.shape[-1])]
    parts = transform(c, inputs[0], inputs[1] if len(inputs) > 1 else None, size, size, bool(n.attributes.get("inverse")))
    as_complex(c, n, parts, [*x.shape[:rank], 2], axis_of(axis, x.rank))


@operator("STFT")
def stft(c, n):
    signal, step, weight = c.value(n, 0), int(c.numbers(n, 1).item()), c.value(n, 2)
    size = int(c.numbers(n, 3).item()) if c.value(n, 3) is not None else weight.shape[0]
    frames, bins = (signal.shape[1] - size) // step + 1, size // 2 + 1 if n.attributes.get("onesided", 1) else size
    rows = f"tc_unfold(tc_select({c.tensor(signal)}, -1, 0), 1, {size}, {step})"
    if weight is not None:
        rows = f"tc_mul({rows}, {c.tensor(weight)})"
    as_complex(c, n, transform(c, rows, None, size, bins, False), [signal.shape[0], frames, bins, 2])


@operator("MelWeightMatrix")
def mel_weights(c, n):
    """Triangles over the bins of a spectrum, between neighbouring edges that are equally far apart in mel."""
    filters, length, rate, low, high = (c.numbers(n, i).item() for i in range(5))
    bins, mel = length // 2 + 1, [2595 * np.log10(1 + f / 700) for f in (low, high)]
    step = (mel[1] - mel[0]) / (filters + 2)
    hertz = f"tc_mul_s(tc_sub_s(tc_pow(tc_full(TC_SCALAR_SHAPE, 10, TC_F64), tc_div_s(tc_arange({filters + 2}, {mel[0]!r}, {step!r}, TC_F64), 2595)), 1), 700)"
    edge = c.temporary("edge", f"tc_floor(tc_div_s(tc_mul_s({hertz}, {length + 1}), {rate}))")
    first, centre, last = (c.temporary(k, f"tc_slice({edge}, 0, {i}, {i + filters}, 1)") for i, k in enumerate(("first", "centre", "last")))
    k = c.temporary("k", f"tc_reshape(tc_arange({bins}, 0, 1, TC_F64), TC_DIMS({bins}, 1))")
    up = f"tc_div(tc_sub({k}, {first}), tc_sub({centre}, {first}))"
    down = f"tc_div(tc_sub({last}, {k}), tc_sub({last}, {centre}))"
    rises = f"tc_logical_and(tc_ge({k}, {first}), tc_le({k}, {centre}))"
    falls = f"tc_logical_and(tc_ge({k}, {centre}), tc_lt({k}, {last}))"
    same = f"tc_logical_and(tc_eq({first}, {centre}), tc_eq({k}, {centre}))"
    zeros = f"tc_zeros(TC_DIMS({bins}, {filters}), TC_F64)"
    text = f"tc_where({falls}, {down}, tc_where({rises}, {up}, {zeros}))"
    text = f"tc_where({same}, tc_ones(TC_DIMS({bins}, {filters}), TC_F64), {text})"
    c.result(n, "f32", [bins, filters], f"tc_cast({text}, {c_dtype('f32')})")
