#!/usr/bin/env python3
"""compare.py TOLERANCE WANTED GIVEN: the floats of two checkpoints, relative to the greatest of each tensor."""
import json
import struct
import sys
from array import array

TYPES = {"F32": "f", "F64": "d"}


def read(path):
    data = open(path, "rb").read()
    end = 8 + struct.unpack("<Q", data[:8])[0]
    return {name: array(TYPES[about["dtype"]], data[end + about["data_offsets"][0]:end + about["data_offsets"][1]])
            for name, about in json.loads(data[8:end]).items() if name != "__metadata__" and about["dtype"] in TYPES}


tolerance, wanted, given = float(sys.argv[1]), read(sys.argv[2]), read(sys.argv[3])
bad = 0
for name, values in wanted.items():
    size = max(map(abs, values), default=0)
    worst = max((abs(a - b) for a, b in zip(values, given[name])), default=0)
    if len(values) != len(given[name]) or not worst <= tolerance * size:
        bad += 1
        print(f"{name}: differs by {worst:.3g}, of at most {size:.3g}")
sys.exit(bad > 0 or not wanted)
