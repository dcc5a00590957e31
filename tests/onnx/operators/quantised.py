"""8-bit integers with a scale and a zero point: real = scale (integer - zero)."""
import numpy as np

from values import ints
from .images import convolution
from .table import axis_of, c_dtype, operator

RANGE = {"u8": (0, 255), "i8": (-128, 127)}


def along(c, value, axis, rank):
    """C of one number, or of one for each place of an axis."""
    t = c.tensor(value)
    return t if value.rank == 0 or value.shape == (1,) else f"tc_reshape({t}, {ints(value.shape[0] if i == axis else 1 for i in range(rank))})"


def centred(c, value, zero, dtype, axis=0):
    """C of the integers without their zero point, in another dtype."""
    text = f"tc_cast({c.tensor(value)}, {dtype})"
    return text if zero is None else f"tc_sub({text}, tc_cast({along(c, zero, axis, value.rank)}, {dtype}))"


def quantised(text, zero, dtype):
    """C of the integers of numbers in f32 that are divided by the scale already."""
    low, high = RANGE[dtype]
    return f"tc_cast(tc_clamp(tc_add(tc_round({text}), tc_cast({zero}, TC_F32)), {low}, {high}), {c_dtype(dtype)})"


@operator("QuantizeLinear")
def quantize(c, n):
    x, scale, zero = (c.value(n, i) for i in range(3))
    axis, dtype = axis_of(n.attributes.get("axis", 1), max(x.rank, 2)), zero.dtype if zero else "u8"
    ratio = f"tc_div({c.tensor(x)}, {along(c, scale, axis, x.rank)})"
    c.result(n, dtype, x.shape, quantised(ratio, along(c, zero, axis, x.rank) if zero else "tc_scalar(0.0)", dtype))


@operator("DequantizeLinear")
def dequantize(c, n):
    x, scale, zero = (c.value(n, i) for i in range(3))
    axis = axis_of(n.attributes.get("axis", 1), max(x.rank, 2))
    c.result(n, "f32", x.shape, f"tc_mul({centred(c, x, zero, 'TC_F32', axis)}, {along(c, scale, axis, x.rank)})")


@operator("DynamicQuantizeLinear")
def dynamic(c, n):
    x = c.value(n, 0)
    t = c.tensor(x)
    low = c.temporary("low", f"tc_minimum_s(tc_min({t}, TC_ALL, false), 0)")
    high = c.temporary("high", f"tc_maximum_s(tc_max({t}, TC_ALL, false), 0)")
    scale = c.temporary("scale", f"tc_div_s(tc_sub({high}, {low}), 255)")
    zero = c.temporary("zero", f"tc_round(tc_clamp(tc_neg(tc_div({low}, {scale})), 0, 255))")
    c.result(n, "u8", x.shape, quantised(f"tc_div({t}, {scale})", zero, "u8"))
    c.result(n, "f32", [], f"tc_clone({scale})", 1)
    c.result(n, "u8", [], f"tc_cast({zero}, TC_U8)", 2)


@operator("MatMulInteger")
def matmul_integer(c, n):
    a, b, a_zero, b_zero = (c.value(n, i) for i in range(4))
    shape = np.matmul(np.zeros(a.shape), np.zeros(b.shape)).shape
    c.result(n, "i32", shape, f"tc_matmul({centred(c, a, a_zero, 'TC_I32')}, {centred(c, b, b_zero, 'TC_I32')})")


@operator("ConvInteger")
def conv_integer(c, n):
    x, w, x_zero, w_zero = (c.value(n, i) for i in range(4))
    text, shape = convolution(n, x, w, centred(c, x, x_zero, "TC_I32"), centred(c, w, w_zero, "TC_I32"), "NULL")
    c.result(n, "i32", shape, text)


def requantised(c, n, text, shape, scales, y):
    """The result, of integers whose scale is the product of `scales`."""
    a, b, out = (c.tensor(s) for s in scales)
    ratio = f"tc_mul(tc_cast({text}, TC_F32), tc_div(tc_mul({a}, {b}), {out}))"
    c.result(n, y.dtype, shape, quantised(ratio, c.tensor(y), y.dtype))


@operator("QLinearMatMul")
def qlinear_matmul(c, n):
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = (c.value(n, i) for i in range(8))
    shape = np.matmul(np.zeros(a.shape), np.zeros(b.shape)).shape
    text = f"tc_matmul({centred(c, a, a_zero, 'TC_I32')}, {centred(c, b, b_zero, 'TC_I32')})"
    requantised(c, n, text, shape, (a_scale, b_scale, y_scale), y_zero)


@operator("QLinearConv")
def qlinear_conv(c, n):
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = (c.value(n, i) for i in range(8))
    text, shape = convolution(n, x, w, centred(c, x, x_zero, "TC_I32"), centred(c, w, w_zero, "TC_I32"), "NULL")
    requantised(c, n, text, shape, (x_scale, w_scale, y_scale), y_zero)
