#!/usr/bin/env python3
"""Inputs of masked.net as safetensors, and the comparison of two results of `step`.
Usage: masked.py inputs FILE | masked.py compare FILE FILE"""
import json
import random
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    values = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            values[name] = struct.unpack(f"<{(end - begin) // 4}f", data[8 + size + begin : 8 + size + end])
    return values


def inputs(path):
    random.seed(1)
    count = 16 * 3 * 12 * 12
    x = struct.pack(f"<{count}f", *(random.gauss(0, 1) for _ in range(count)))
    y = struct.pack("<16i", *(i % 4 for i in range(16)))
    head = json.dumps({
        "x": {"dtype": "F32", "shape": [16, 3, 12, 12], "data_offsets": [0, len(x)]},
        "y": {"dtype": "I32", "shape": [16], "data_offsets": [len(x), len(x) + len(y)]},
    }).encode()
    head += b" " * (-len(head) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + x + y)


def compare(one, other):
    a, b = read(one), read(other)
    if not a or a.keys() != b.keys():
        sys.exit(f"different tensors: {sorted(a)} and {sorted(b)}")
    for name in a:
        for i, (left, right) in enumerate(zip(a[name], b[name], strict=True)):
            if not abs(left - right) <= 1e-5 * max(1, abs(right)):
                sys.exit(f"{name}[{i}]: {left} and {right}")


if sys.argv[1] == "inputs":
    inputs(sys.argv[2])
else:
    compare(sys.argv[2], sys.argv[3])
