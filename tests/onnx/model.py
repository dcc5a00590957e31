"""ONNX files: models, and tensors beside them, as far as the node cases need them.

Reads the wire format of Protocol Buffers itself (https://protobuf.dev/programming-guides/encoding); numbers of fields are
those of onnx.proto3.  A message is a dictionary from the number of a field to the list of its values, in order.
"""
import glob
import os
import struct

import numpy as np

# TensorProto.DataType: name here, NumPy's dtype of the raw bytes, field of values that are not raw.
DTYPES = {
    1: ("f32", np.float32, 4), 2: ("u8", np.uint8, 5), 3: ("i8", np.int8, 5), 4: ("u16", np.uint16, 5), 5: ("i16", np.int16, 5),
    6: ("i32", np.int32, 5), 7: ("i64", np.int64, 7), 8: ("string", None, 6), 9: ("bool", np.bool_, 5), 10: ("f16", np.float16, 5),
    11: ("f64", np.float64, 10), 12: ("u32", np.uint32, 11), 13: ("u64", np.uint64, 11), 16: ("bf16", np.uint16, 5)}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def message(data):
    """The fields of a message: lists of integers (varint), and of bytes (all others)."""
    fields, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = data[at:at + size], at + size
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {kind}")
        fields.setdefault(key >> 3, []).append(value)
    return fields


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def integers(values):
    """Repeated integers, packed or not."""
    out = []
    for v in values:
        if isinstance(v, int):
            out.append(signed(v))
            continue
        at = 0
        while at < len(v):
            value, at = varint(v, at)
            out.append(signed(value))
    return out


def numbers(values, format):
    """Repeated fixed-size numbers, packed or not."""
    data = b"".join(values)
    return list(struct.unpack(f"<{len(data) // struct.calcsize(format)}{format}", data))


def text(fields, number):
    return fields[number][0].decode() if number in fields else ""


class Tensor:
    """A TensorProto: name, dtype (a name of DTYPES), shape, and array: NumPy's, of bf16 the bits (u16), of strings a list of bytes."""

    def __init__(self, data):
        f = message(data)
        self.name, self.shape = text(f, 8), tuple(integers(f.get(1, [])))
        self.dtype, numpy, field = DTYPES[f[2][0]]
        if self.dtype == "string":
            self.array = f.get(6, [])
        elif 9 in f:
            self.array = np.frombuffer(f[9][0], numpy).reshape(self.shape)
        else:
            self.array = self.values(f.get(field, []), field, numpy).reshape(self.shape)

    @staticmethod
    def values(stored, field, numpy):
        if field in (4, 10):
            return np.array(numbers(stored, "f" if field == 4 else "d"), numpy)
        if numpy is np.float16:
            return np.array(integers(stored), np.uint16).view(numpy)
        return np.array([v % (1 << 64) for v in integers(stored)], np.uint64).astype(numpy)


def attribute(data):
    """Name and value of an AttributeProto; that of a graph is a Graph."""
    f = message(data)
    kind = f[20][0] if 20 in f else next(k for number, k in ((2, 1), (3, 2), (4, 3), (5, 4), (6, 5), (7, 6), (8, 7)) if number in f)
    if kind == 1:
        value = numbers(f.get(2, [b"\0\0\0\0"]), "f")[0]
    elif kind == 2:
        value = signed(f.get(3, [0])[0])
    elif kind == 3:
        value = f.get(4, [b""])[0].decode()
    elif kind == 4:
        value = Tensor(f[5][0])
    elif kind == 5:
        value = Graph(f[6][0])
    elif kind == 6:
        value = numbers(f.get(7, []), "f")
    elif kind == 7:
        value = integers(f.get(8, []))
    elif kind == 8:
        value = [s.decode() for s in f.get(9, [])]
    else:
        value = None  # sparse tensors, types, lists of tensors and graphs
    return text(f, 1), value


class Node:
    def __init__(self, data):
        f = message(data)
        self.inputs = [s.decode() for s in f.get(1, [])]
        self.outputs = [s.decode() for s in f.get(2, [])]
        self.op, self.domain = text(f, 4), text(f, 7)
        self.attributes = dict(attribute(a) for a in f.get(5, []))


class ValueInfo:
    """A ValueInfoProto: name, kind (tensor, sequence, optional, or another), and of tensors the dtype, a name of DTYPES."""

    def __init__(self, data):
        f = message(data)
        kind = message(f[2][0]) if 2 in f else {1: [b""]}
        self.name = text(f, 1)
        self.kind = "tensor" if 1 in kind else "sequence" if 4 in kind else "optional" if 9 in kind else "other"
        element = message(kind[1][0]).get(1) if 1 in kind else None
        self.dtype = DTYPES[element[0]][0] if element else None


class Graph:
    def __init__(self, data):
        f = message(data)
        self.nodes = [Node(n) for n in f.get(1, [])]
        self.initial = {t.name: t for t in map(Tensor, f.get(5, []))}
        self.inputs = [ValueInfo(v) for v in f.get(11, [])]
        self.outputs = [ValueInfo(v) for v in f.get(12, [])]


class Case:
    """A folder of a case: name, graph, versions of the operators by domain, and of each set of data the tensors that go in, weights
    of the model among them, and those that come out, by name; no sets where some are no tensors."""

    def __init__(self, folder):
        self.name = os.path.basename(folder)[len("test_"):]
        with open(f"{folder}/model.onnx", "rb") as file:
            f = message(file.read())
        self.graph = Graph(f[7][0])
        domains = [message(o) for o in f.get(8, [])]
        self.version = {text(o, 1): o.get(2, [0])[0] for o in domains}
        self.sets = []
        if all(v.kind == "tensor" for v in self.graph.inputs + self.graph.outputs):
            for data in sorted(glob.glob(f"{folder}/test_data_set_*")):
                inputs = self.tensors(data, "input", [v for v in self.graph.inputs if v.name not in self.graph.initial])
                self.sets.append((self.graph.initial | inputs, self.tensors(data, "output", self.graph.outputs)))

    @staticmethod
    def tensors(folder, kind, values):
        """By name.  Files say u16 where the model says bf16."""
        tensors = {}
        for i, value in enumerate(values):
            with open(f"{folder}/{kind}_{i}.pb", "rb") as file:
                tensors[value.name] = tensor = Tensor(file.read())
            tensor.dtype = value.dtype or tensor.dtype
        return tensors
