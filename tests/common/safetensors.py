"""Files of safetensors, for the programs of tests to read."""
import json
import struct

import numpy as np


def write(path, tensors):
    """tensors: {name: (dtype as the format spells it, array of those elements)}"""
    header, blobs, at = {}, [], 0
    for name, (kind, array) in tensors.items():
        blob = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))
