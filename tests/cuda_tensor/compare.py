#!/usr/bin/env python3
"""Compares checkpoints.

    compare.py same WANTED GIVEN     every tensor has the same bytes
    compare.py tf32 GIVEN            y is a @ b, of factors rounded to tf32 and sums in f32
"""
import json
import struct
import sys
from array import array


def read(path):
    data = open(path, "rb").read()
    end = 8 + struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, about in json.loads(data[8:end]).items():
        if name != "__metadata__":
            first, last = about["data_offsets"]
            tensors[name] = (about["shape"], data[end + first:end + last])
    return tensors


def same(wanted, given):
    bad = 0
    for name, (shape, data) in wanted.items():
        if given[name] == (shape, data):
            continue
        bad += 1
        pairs = list(zip(array("f", data), array("f", given[name][1])))
        places = [i for i, (a, b) in enumerate(pairs) if a != b]
        print(f"{name} {shape}: {len(places)} of {len(pairs)} differ, the first at {places[:1]}")
    return bad == 0


def round_tf32(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x1000) & 0xFFFFE000))[0]


def tf32(given):
    (rows, depth), a = given["a"][0], [round_tf32(x) for x in array("f", given["a"][1])]
    columns, b = given["b"][0][1], [round_tf32(x) for x in array("f", given["b"][1])]
    y, worst = array("f", given["y"][1]), 0
    for row in range(rows):
        for column in range(columns):
            terms = [a[row * depth + k] * b[k * columns + column] for k in range(depth)]
            error = abs(y[row * columns + column] - sum(terms))
            worst = max(worst, error / sum(map(abs, terms)))
    print(f"the greatest error is {worst:.3g} of the sum of absolute terms")
    return worst < 2e-6


if __name__ == "__main__":
    if sys.argv[1] == "same":
        sys.exit(not same(read(sys.argv[2]), read(sys.argv[3])))
    sys.exit(not tf32(read(sys.argv[2])))
