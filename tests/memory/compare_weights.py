#!/usr/bin/env python3
"""compare_weights.py A B: prints by how much the tensors of two checkpoints differ at most, norm of the
difference over norm of the tensor."""
import json
import math
import struct
import sys


def load(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        body = file.read()
    tensors = {}
    for name, tensor in header.items():
        if name == "__metadata__":
            continue
        begin, end = tensor["data_offsets"]
        assert tensor["dtype"] == "F32", (name, tensor["dtype"])
        tensors[name] = struct.unpack("<%df" % ((end - begin) // 4), body[begin:end])
    return tensors


def norm(values):
    return math.sqrt(sum(x * x for x in values))


def main(one, other):
    a, b = load(one), load(other)
    assert a.keys() == b.keys() and a, "different tensors"
    worst = max(norm([x - y for x, y in zip(a[name], b[name])]) / (norm(a[name]) + 1e-30) for name in a)
    print("%.3g" % worst)


main(*sys.argv[1:])
