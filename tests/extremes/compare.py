#!/usr/bin/env python3
"""What an executable computed against tests/extremes/make.py, in units in the last place.

    compare.py TYPE REFERENCE.safetensors FOUND.safetensors [--table]

NaN and infinities must be where they are expected; a result one unit from the greatest number may be infinite.
Prints what is off by more than the function may be, or with --table the greatest error of each function."""
import json
import math
import struct
import sys

TYPES = {"f32": (24, -126, 127), "f64": (53, -1022, 1023), "bf16": (8, -126, 127), "f16": (11, -14, 15)}


def read(path):
    with open(path, "rb") as file:
        raw = file.read()
    size = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:8 + size])
    metadata, tensors = head.pop("__metadata__", {}), {}
    for name, entry in head.items():
        begin, end = entry["data_offsets"]
        data = raw[8 + size + begin:8 + size + end]
        if entry["dtype"] == "BF16":
            words = struct.unpack("<%dH" % (len(data) // 2), data)
            tensors[name] = [struct.unpack("<f", struct.pack("<I", word << 16))[0] for word in words]
        elif entry["dtype"] in ("F16", "F32", "F64"):
            letter, width = {"F16": ("e", 2), "F32": ("f", 4), "F64": ("d", 8)}[entry["dtype"]]
            tensors[name] = struct.unpack("<%d%s" % (len(data) // width, letter), data)
    return tensors, metadata


def units(found, wanted, kind):
    """How far `found` is off; infinity where one is NaN or infinite and the other is not."""
    precision, least, greatest = TYPES[kind]
    if found != found or wanted != wanted:
        return 0 if found != found and wanted != wanted else math.inf
    top = math.ldexp(2 - 2.0 ** (1 - precision), greatest)
    beyond = math.inf if kind == "f64" else math.ldexp(2 - 2.0 ** -precision, greatest)
    if abs(found) == math.inf or abs(wanted) >= beyond:
        near = min(abs(found), abs(wanted)) >= top * (1 - 2.0 ** (2 - precision))
        same = (found > 0) == (wanted > 0)
        return 0 if same and near else math.inf
    exponent = max(math.frexp(wanted)[1] - 1, least) if wanted else least
    return math.ldexp(abs(found - wanted), precision - 1 - exponent)


def main():
    kind, reference, metadata = sys.argv[1], *read(sys.argv[2])
    found, _ = read(sys.argv[3])
    passed = failed = 0
    for i, line in enumerate(metadata["functions"].split("\n")):
        text, *limits = line.split("|")
        for what, own, limit in (("", "o%d" % i, limits[0]), ("derivative of ", "x%d:d" % i, limits[1])):
            wanted = reference.get("=%s%d" % ("d" if what else "o", i))
            if wanted is None:
                continue
            errors = [units(f, w, kind) for f, w in zip(found[own], wanted)]
            worst = max(range(len(errors)), key=lambda k: errors[k])
            if "--table" in sys.argv:
                print("%-5s %s%s: %.2f" % (kind, what, text, errors[worst]))
            if errors[worst] <= float(limit):
                passed += 1
                continue
            failed += 1
            print("FAIL %s %s%s is off by %.3g units (at most %s): of %r it is %r, should be %r" % (
                kind, what, text, errors[worst], limit, reference["x%d" % i][worst], found[own][worst], wanted[worst]))
    print("%d passed, %d failed" % (passed, failed))


main()
