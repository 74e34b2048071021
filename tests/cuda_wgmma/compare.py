#!/usr/bin/env python3
"""compare.py TYPE GIVEN: y is a @ transpose(b), of factors rounded to the type and sums in f32, which are rounded to 16 bits
where the type has so many; of some elements."""
import os
import random
import struct
import sys
from array import array

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cuda_tensor"))
from compare import read, round_tf32  # noqa: E402


def round_bf16(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0]


def round_f16(x):
    return struct.unpack("<e", struct.pack("<e", x))[0]


rounds, unit = {"tf32": (round_tf32, 0), "bf16": (round_bf16, 2**-8), "f16": (round_f16, 2**-11)}[sys.argv[1]]
given = read(sys.argv[2])
(rows, depth), columns = given["a"][0], given["b"][0][0]
a, b, y = (array("f", given[name][1]) for name in "aby")
random.seed(1)
worst = 0
for _ in range(2000):
    row, column = random.randrange(rows), random.randrange(columns)
    terms = [rounds(a[row * depth + k]) * rounds(b[column * depth + k]) for k in range(depth)]
    error = abs(y[row * columns + column] - sum(terms)) - unit * abs(sum(terms))
    worst = max(worst, error / sum(map(abs, terms)))
print(f"the greatest error is {worst:.3g} of the sum of absolute terms")
sys.exit(worst >= 2e-6)
