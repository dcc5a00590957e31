"""What C becomes of the operators of ONNX: functions in OPERATORS (table.py), one file for each kind."""
from . import control, elementwise, images, indexing, layers, quantised, recurrent, reductions, regions, resize, shapes, signals, text, training  # noqa: F401
from .table import OPERATORS  # noqa: F401
