"""Values of the C functions that are written, and how numbers stand in C."""
import numpy as np

NUMPY = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32,
         "i64": np.int64, "bool": np.bool_}
DTYPES = set(NUMPY) | {"bf16"}  # of tcompile.h
ARRAYS = {"f32": "float", "f64": "double", "i8": "int8_t", "u8": "uint8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "bool": "bool"}


class Unsupported(Exception):
    """An operator, or a form of one, that no table has."""


def name_of(dtype):
    return next(name for name, d in NUMPY.items() if np.dtype(d) == dtype)


def literal(number):
    """A number as C has it, to the last bit."""
    if isinstance(number, (bool, np.bool_)):
        return "true" if number else "false"
    if isinstance(number, (int, np.integer)):
        return str(int(number))
    value = float(number)
    if np.isnan(value) or np.isinf(value):
        return "NAN" if np.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
    return repr(int(value)) if value == int(value) and abs(value) < 2**31 and not (value == 0 and np.signbit(value)) else repr(value)


def ints(numbers):
    """TC_INTS(...) of C expressions or numbers."""
    numbers = list(numbers)
    if len(numbers) > 8:
        raise Unsupported("a list of more than 8 numbers")
    return f"TC_INTS({', '.join(map(str, numbers))})" if numbers else "TC_EMPTY_LIST"


class Value:
    """dtype, shape, and what it is: the C expression `text` of a tensor, or a constant: `numbers`, an array, with `texts`, one of
    C expressions that give them, where they are sizes.  A tensor may have numbers, too, where they can be told: operands, and
    what is computed of them; `parameter`: the name of an operand; is_view: it shares memory with one."""

    def __init__(self, dtype, shape, text=None, numbers=None, texts=None, parameter=None):
        self.dtype, self.shape, self.text = dtype, tuple(int(d) for d in shape), text
        self.numbers, self.texts, self.parameter = numbers, texts, parameter
        self.is_constant, self.is_view = text is None, parameter is not None

    @property
    def rank(self):
        return len(self.shape)
