"""What the executable of operator.net predicts, against powers.  Usage: operator.py EXECUTABLE"""

import math
import struct
import sys

from predictions import predictions

ROWS = [[27.0, -8.0, 0.0, 1e-30], [2.0, -3.5, 1e30, 0.125], [-1.0, 64.0, -1e-3, 5.0]]

with open("train.csv", "w") as file:
    file.writelines(f"{i},{-i / 2},{i % 3},0.25,{i / 4}\n" for i in range(6))
for row, found in zip(ROWS, predictions(sys.argv[1], ROWS)):
    for name, tolerance in ("root", 1e-6), ("wide", 1e-14):
        for written, y in zip(row, found[name]):
            (x,) = struct.unpack("f", struct.pack("f", written))  # as the input has it
            wanted = math.copysign(abs(x) ** (1 / 3), x)
            assert math.isclose(y, wanted, rel_tol=tolerance), (name, x, y, wanted)
