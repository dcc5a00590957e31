"""data.py [FOLDER]: operands of mlp.c and what it gives for them, as .npy; its parameters as weights.safetensors.
data.py --same A.npy B.npy: are they equal, within f32's tolerance?"""
import json
import os
import sys

import numpy as np


def save_safetensors(path, tensors):
    header, at = {}, 0
    for name, t in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(t.shape), "data_offsets": [at, at + t.nbytes]}
        at += t.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text)
        for t in tensors.values():
            f.write(t.tobytes())


def main(folder):
    r = np.random.default_rng(7)
    sizes = {"x": (5, 784), "w1": (784, 64), "b1": (64,), "w2": (64, 10), "b2": (10,)}
    v = {name: (r.standard_normal(dims) / np.sqrt(dims[0])).astype(np.float32) for name, dims in sizes.items()}
    h = np.maximum(v["x"].astype(np.float64) @ v["w1"] + v["b1"], 0)
    e = h @ v["w2"] + v["b2"]
    e = np.exp(e - e.max(-1, keepdims=True))
    v["expected"] = (e / e.sum(-1, keepdims=True)).astype(np.float32)
    for name, t in v.items():
        np.save(os.path.join(folder, name + ".npy"), t)
    weights = {"layer.1.weight": v["w1"], "layer.1.bias": v["b1"], "layer.2.weight": v["w2"], "layer.2.bias": v["b2"],
               "other": np.zeros((3, 4), np.float32)}
    save_safetensors(os.path.join(folder, "weights.safetensors"), weights)


if len(sys.argv) == 4 and sys.argv[1] == "--same":
    a, b = np.load(sys.argv[2]), np.load(sys.argv[3])
    assert a.dtype == b.dtype and a.shape == b.shape, (a.dtype, a.shape, b.dtype, b.shape)
    np.testing.assert_allclose(a, b, rtol=1.3e-6, atol=1e-5)
else:
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
