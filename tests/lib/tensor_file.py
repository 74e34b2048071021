"""Reads and writes safetensors files with NumPy: eight bytes of length, a JSON header, the tensors."""
import json
import struct

import numpy as np

TYPES = {"F64": np.float64, "F32": np.float32, "I64": np.int64, "I32": np.int32, "U8": np.uint8,
         "BOOL": np.bool_}


def write_safetensors(path, tensors, metadata=None):
    header, at, bodies = ({"__metadata__": metadata} if metadata else {}), 0, []
    names = {np.dtype(t): name for name, t in TYPES.items()}
    for name, value in tensors.items():
        value = np.asarray(value, order="C")
        body = value.tobytes()
        header[name] = {"dtype": names[value.dtype], "shape": list(value.shape),
                        "data_offsets": [at, at + len(body)]}
        at += len(body)
        bodies.append(body)
    text = json.dumps(header, separators=(",", ":")).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(bodies))


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        start, end = entry["data_offsets"]
        flat = np.frombuffer(data[8 + length + start:8 + length + end], TYPES[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return tensors
