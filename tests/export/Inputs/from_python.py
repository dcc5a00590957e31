"""from_python.py LIBTCRT MODULE: calls mlp of a module by ctypes alone.  LIBTCRT: its path, or that of a module which has it inside."""
import ctypes
import sys

import numpy as np

tc = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
I64, F32 = ctypes.c_int64, 8


class Ints(ctypes.Structure):
    _fields_ = [("n", ctypes.c_int), ("v", I64 * 8)]


for function, result, arguments in [
        ("tc_module_open", ctypes.c_void_p, [ctypes.c_char_p]),
        ("tc_module_operand", ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]),
        ("tc_module_call", ctypes.c_bool, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int,
                                           ctypes.c_void_p]),
        ("tc_module_close", None, [ctypes.c_void_p]),
        ("tc_wrap_const", ctypes.c_void_p, [Ints, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]),
        ("tc_cdata", ctypes.c_void_p, [ctypes.c_void_p]),
        ("tc_size", I64, [ctypes.c_void_p, ctypes.c_int]),
        ("tc_free", None, [ctypes.c_void_p]),
        ("tc_error", ctypes.c_char_p, [])]:
    getattr(tc, function).restype, getattr(tc, function).argtypes = result, arguments


def wrap(a):
    return tc.tc_wrap_const(Ints(a.ndim, (I64 * 8)(*a.shape)), None, a.ctypes.data, F32)


module = tc.tc_module_open(sys.argv[2].encode())
if not module:
    sys.exit(tc.tc_error().decode())
names = []
while text := tc.tc_module_operand(module, b"mlp", len(names)):
    names.append(text.decode().split()[0])
arrays = [np.load(name + ".npy") for name in names]
operands = (ctypes.c_void_p * len(arrays))(*map(wrap, arrays))
result = (ctypes.c_void_p * 1)()
if not tc.tc_module_call(module, b"mlp", len(arrays), operands, 1, result):
    sys.exit(tc.tc_error().decode())
shape = [tc.tc_size(result[0], axis) for axis in (0, 1)]
y = np.ctypeslib.as_array(ctypes.cast(tc.tc_cdata(result[0]), ctypes.POINTER(ctypes.c_float)), shape)
np.testing.assert_allclose(y, np.load("expected.npy"), rtol=1.3e-6, atol=1e-5)
for t in [*operands, result[0]]:
    tc.tc_free(t)
tc.tc_module_close(module)
print("right, operands:", *names)
