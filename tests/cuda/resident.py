"""Writes the files of resident.net and windows.net to a folder: resident.py FOLDER. Numbers are small and differ everywhere."""
import struct, sys

folder, ROWS = sys.argv[1], 100


def numbers(count, scale, most):
    return [((7 * i * i + 3 * i) % most) * scale for i in range(count)]


def idx(name, code, letter, dims, scale=1, most=251):
    count = ROWS
    for dim in dims:
        count *= dim
    head = struct.pack(">BBBB", 0, 0, code, 1 + len(dims)) + struct.pack(f">{1 + len(dims)}I", ROWS, *dims)
    values = [value if code > 11 else int(value) for value in numbers(count, scale, most)]
    open(f"{folder}/{name}", "wb").write(head + struct.pack(f">{count}{letter}", *values))


def npy(name, descr, letter, dims, most):
    shape = (ROWS, *dims)
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    count = ROWS
    for dim in dims:
        count *= dim
    body = struct.pack(f"<{count}{letter}", *numbers(count, 1, most))
    open(f"{folder}/{name}", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + body)


idx("a.u8", 8, "B", [16])
idx("b.i8", 9, "b", [3, 64], most=120)
idx("c.i16", 11, "h", [], most=3000)
idx("d.i32", 12, "i", [2], most=70000)
idx("e.f32", 13, "f", [5], 0.125)
idx("g.f64", 14, "d", [3], 0.3)
npy("h.npy", "<u2", "H", [7], 60000)
npy("k.npy", "<u4", "I", [2], 90000)
npy("l.npy", "|b1", "B", [3], 2)
open(f"{folder}/tokens.bin", "wb").write(struct.pack("<400H", *numbers(400, 1, 50)))
