#!/usr/bin/env python3
"""Writes golden/: NumPy files of every type, order and version with their values, a table from Python's
csv writer with its values, and check sums of the real data sets as Python reads them.

    make_goldens.py DATA    (the directory of mnist, iris, tabular-regression)
"""
import csv, gzip, io, pathlib, random, struct, sys, zlib
import numpy as np

here = pathlib.Path(__file__).parent / "golden"
here.mkdir(exist_ok=True)
random.seed(1)

# NumPy: NAME.npy and, in npy.txt, "NAME rank extents... values..." in C order.
lines = []
def save(name, array, version=None):
    with open(here / f"{name}.npy", "wb") as f:
        np.lib.format.write_array(f, array, version=version)
    extents = " ".join(map(str, array.shape))
    values = " ".join(repr(float(v)) for v in np.ascontiguousarray(array).ravel())
    lines.append(f"{name} {array.ndim} {extents} {values}")

for code in "b1 u1 u2 u4 i1 i2 i4 i8 f2 f4 f8".split():
    kind = np.dtype(code)
    if code == "b1":
        source = np.array([[True, False, True], [False, False, True], [True, True, False], [False, True, True]])
    elif kind.kind == "f":
        info = np.finfo(kind)
        source = np.array([[0, -1.5, 3.14159], [float(info.max), float(info.tiny), -float(info.smallest_subnormal)],
                           [1e-3, 1000.25, -2], [7, 8, 9]])
    else:
        info = np.iinfo(kind)
        top, low = (2**53, -2**53) if code == "i8" else (info.max, info.min)
        source = np.array([[0, 1, 2], [top, low, 3], [4, 5, 6], [7, 8, 9]])
    little = source.astype("<" + code)
    save(code, little)
    save(code + "_big", source.astype(">" + code))
    save(code + "_fortran", np.asfortranarray(little))
cube = np.arange(60, dtype="<f4").reshape(5, 3, 2, 2)
save("cube_fortran", np.asfortranarray(cube))
save("cube_v2", cube, (2, 0))
save("cube_v3", cube, (3, 0))
save("vector", np.arange(7, dtype="<i4"))
wide = (np.arange(40 * 1000) % 9).astype("<i2").reshape(40, 1000)
save("wide_fortran", np.asfortranarray(wide))
(here / "npy.txt").write_text("\n".join(lines) + "\n")

# A table with everything csv.writer quotes; table.txt: the numbers, then the texts' class numbers.
rows = []
words = ["plain", "with,comma", 'with "quotes"', "two\nlines", "ümlaut", "x"]
for i in range(200):
    rows.append([repr(random.uniform(-1e3, 1e3)), random.choice(words), repr(random.gauss(0, 1) * 10 ** random.randint(-30, 30)),
                 str(random.randint(-10**6, 10**6))])
with open(here / "table.csv", "w", newline="") as f:
    writer = csv.writer(f)
    writer.writerow(["a", "the word", "b", "n"])
    writer.writerows(rows)
order = sorted({r[1] for r in rows}, key=lambda s: s.encode())
with open(here / "table.csv", newline="") as f, open(here / "table.txt", "w") as out:
    for r in list(csv.reader(f))[1:]:
        out.write(f"{float(r[0])!r} {float(r[2])!r} {float(r[3])!r} {order.index(r[1])}\n")

# Real data: CRC-32 of the values, little-endian, row by row; floats as f64.
data = pathlib.Path(sys.argv[1])
with open(here / "real.txt", "w") as out:
    for name in ["train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"]:
        raw = gzip.open(data / "mnist" / f"{name}-ubyte.gz").read()
        rank = raw[3]
        rows = struct.unpack(">I", raw[4:8])[0]
        out.write(f"{name} {rows} {zlib.crc32(raw[4 + 4 * rank:])}\n")
    def table(name, path, header, columns, text):
        lines = [r for r in csv.reader(open(path, newline="")) if r][header:]
        number = lambda s: float(s) if s else float("nan")
        values = b"".join(struct.pack("<d", number(r[c])) for r in lines for c in columns)
        if name == "housing":
            known = [float(r[4]) for r in lines if r[4]]
            import statistics
            median = statistics.median(known)
            values = b"".join(struct.pack("<d", float(r[c]) if r[c] else median) for r in lines for c in columns)
        classes = sorted({r[text] for r in lines})
        codes = b"".join(struct.pack("<i", classes.index(r[text])) for r in lines)
        out.write(f"{name} {len(lines)} {zlib.crc32(values)}\n{name}-classes {len(classes)} {zlib.crc32(codes)}\n")
    table("iris", data / "iris/iris.csv", 0, [0, 1, 2, 3], 4)
    table("abalone", data / "tabular-regression/abalone.csv", 0, range(1, 9), 0)
    table("housing", data / "tabular-regression/california-housing.csv", 1, range(9), 9)
