#!/usr/bin/env python3
"""Writes the seeds of the data readers' fuzzing targets: seeds.py DIRECTORY -> idx/, npy/, csv/.

A seed is a choice of the input (see fuzz_data.h; csv has a second byte of choices) and a file."""
import pathlib, struct, sys

root = pathlib.Path(sys.argv[1])
shapes = [(4,), (4, 2), (4, 2, 2), (4, 1)]

def save(kind, name, choice, content):
    folder = root / kind
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(bytes(choice) + content)

idx = {8: "B", 9: "b", 11: ">h", 12: ">i", 13: ">f", 14: ">d"}
npy = {"|b1": "B", "|u1": "B", "<i2": "<h", ">i4": ">i", "<i8": "<q", "<f2": "<e", "<f4": "<f", ">f8": ">d"}
for s, shape in enumerate(shapes):
    count = 1
    for n in shape:
        count *= n
    for t, (code, pack) in enumerate(idx.items()):
        values = b"".join(struct.pack(pack, i % 2) for i in range(count))
        save("idx", f"{s}-{code}", [s * 8 + (t + s) % 8], struct.pack(">I", code << 8 | len(shape))
             + b"".join(struct.pack(">I", n) for n in shape) + values)
    for t, (descr, pack) in enumerate(npy.items()):
        header = f"{{'descr': '{descr}', 'fortran_order': {(s + t) % 2 == 0}, 'shape': {shape}, }}\n".encode()
        values = b"".join(struct.pack(pack, i % 2) for i in range(count))
        version = b"\x01\x00" + struct.pack("<H", len(header)) if t % 2 else b"\x02\x00" + struct.pack("<I", len(header))
        save("npy", f"{s}-{t}", [s * 8 + t + (128 if t > 4 else 0)], b"\x93NUMPY" + version + header + values)
tables = [b"a\n1\n0\n1\n", b"1,0\r\n0,1\r\n", b"a;b\n1;0\n;1\n", b'"a","b"\n"x ""y""",2\n"z\nw",3\n\n', b"1.5e3\n-.5\n12345678901234567890\n", b"NA\n?\n\n7\n"]
for i, table in enumerate(tables):
    for choice in range(256):
        if (choice + i) % 11 == 0:
            save("csv", f"{i}-{choice}", [(choice + i) % 8 + 8 * (i % 4), choice], table)
