#!/usr/bin/env python3
"""compare.py TOLERANCE WANTED GIVEN: the floats of two checkpoints, relative to the greatest of each tensor.
compare.py nearer EXACT OTHER GIVEN: what is given is as near to EXACT as OTHER is, by the root of the mean square."""
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


def distance(a, b):
    return (sum((x - y) ** 2 for x, y in zip(a, b)) / len(a)) ** 0.5


def is_near(name, values, given):
    size = max(map(abs, values), default=0)
    worst = max((abs(a - b) for a, b in zip(values, given)), default=0)
    fits = len(values) == len(given) and all(x == x for x in given) and worst <= float(sys.argv[1]) * size
    if not fits:
        print(f"{name}: differs by {worst:.3g}, of at most {size:.3g}")
    return fits


def is_nearer(name, exact, other, given):
    allowed, found = distance(exact, other) * 1.05 + 1e-6, distance(exact, given)
    if not found <= allowed:
        print(f"{name}: {found:.3g} from what is exact, which is more than {allowed:.3g}")
    return found <= allowed


files = [read(path) for path in sys.argv[2:]]
judge = is_nearer if sys.argv[1] == "nearer" else is_near
results = [judge(name, *(values[name] for values in files)) for name in files[0]]
sys.exit(not results or not all(results))
