"""What the executable of operator.net predicts, against powers.  Usage: operator.py EXECUTABLE"""

import json
import math
import struct
import subprocess
import sys

ROWS = [[27.0, -8.0, 0.0, 1e-30], [2.0, -3.5, 1e30, 0.125], [-1.0, 64.0, -1e-3, 5.0]]

with open("train.csv", "w") as file:
    file.writelines(f"{i},{-i / 2},{i % 3},0.25,{i / 4}\n" for i in range(6))
with open("x.csv", "w") as file:
    file.writelines(",".join(map(str, row)) + "\n" for row in ROWS)
subprocess.run([sys.argv[1], "-q"], check=True)
lines = subprocess.run([sys.argv[1], "predict"], check=True, capture_output=True, text=True).stdout.splitlines()
assert len(lines) == len(ROWS), lines
for row, line in zip(ROWS, lines):
    found = json.loads(line)
    for name, tolerance in ("root", 1e-6), ("wide", 1e-14):
        for written, y in zip(row, found[name]):
            (x,) = struct.unpack("f", struct.pack("f", written))  # as the input has it
            wanted = math.copysign(abs(x) ** (1 / 3), x)
            assert math.isclose(y, wanted, rel_tol=tolerance), (name, x, y, wanted)
