"""The operators of ONNX that are in scope: a function for each, of the C function that is written and of the node."""
import numpy as np

OPERATORS = {}


def operator(*names):
    def add(function):
        OPERATORS.update({name: function for name in names})
        return function
    return add


def broadcast(*values):
    return np.broadcast_shapes(*(v.shape for v in values))


def axis_of(axis, rank):
    return axis + rank if axis < 0 else axis


def is_float(dtype):
    return dtype in ("f32", "f64", "f16", "bf16")


def c_dtype(dtype):
    return f"TC_{dtype.upper()}"


def c_bool(condition):
    return "true" if condition else "false"
