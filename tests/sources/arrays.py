"""Arrays from every kind of file, in memory and on disk, and what is no such file.

    arrays.py BUILD FOLDER      FOLDER is empty; prints what failed and "N passed, N failed"

The files are written by Python's own modules (zipfile, gzip, struct); packed.npz and stored.npz of
tests/data/golden by NumPy. `predict` must print their values."""
import gzip, json, os, pathlib, random, shutil, struct, sys, zipfile

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import checks  # noqa: E402
from checks import check, summary, write  # noqa: E402
from files import npy  # noqa: E402

build, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
here = pathlib.Path(__file__).resolve().parent
golden = here.parent / "data" / "golden"
os.chdir(folder)
draw = random.Random(7)


def run(*words):
    done = checks.run(*words)
    return done.returncode, done.stdout, done.stderr.strip()


# ---- files ----

rows = 3
a = [[(2 * r + c) / 8 - 1 for c in range(2)] for r in range(rows)]
b = [3, -1, 2**40]
d = [[draw.randint(-32768, 32767) for _ in range(3)] for _ in range(rows)]
e = [[[draw.randint(0, 255) for _ in range(2)] for _ in range(2)] for _ in range(rows)]
records = [bytes([draw.randint(0, 19), draw.randint(0, 99)]) + draw.randbytes(3072) for _ in range(rows)]
tokens = [draw.randint(0, 65535) for _ in range(11)]  # windows begin at 0, 3, 6
for name in ("stored.npz", "packed.npz"):
    shutil.copy(golden / name, name)
write("d.bin", b"12345" + b"".join(struct.pack(">3h", *row) for row in d))
write("e.bin", bytes(v for row in e for line in row for v in line))
write("one.bin", records[0] + records[1])
write("two.bin", records[2])
write("two.bin.gz", gzip.compress(records[2]))
write("f.npy", npy(">f8", (rows, 2), b"".join(struct.pack(">2d", *row) for row in a)))
write("g.idx", struct.pack(">4B2I", 0, 0, 11, 2, rows, 2) + b"".join(struct.pack(">2h", *row[:2]) for row in d))
write("tokens.bin", struct.pack("<11H", *tokens))
windows = [tokens[3 * r:3 * r + 4] for r in range(rows - 1)] + [tokens[6:10]]
after = [tokens[3 * r + 1:3 * r + 5] for r in range(rows)]
weighed = [sum(i * v for i, v in enumerate(record[2:])) for record in records]
expected = [dict(a=a[r], b=b[r], a_disk=a[r], b_disk=b[r], c=[4 * r + c for c in range(4)], flag=r != 1, d=d[r],
                 d_disk=d[r], e=e[r], label=records[r][1], label_disk=records[r][1], group=records[r][0], f=a[r],
                 g=d[r][:2], h=windows[r], i=after[r], j=windows[r], k=after[r], picture=weighed[r],
                 picture_disk=weighed[r]) for r in range(rows)]

# ---- values ----

status, _, message = run(build / "bin/nnc", here / "arrays.net", "--cflags=-O0", "--units=1", "-o", "arrays")
check("arrays.net compiles", status == 0, message)


def predict():
    return run("./arrays", "predict")


status, text, message = predict()
check("predict", status == 0, message)
got = [json.loads(line) for line in text.splitlines()]
check("as many rows", len(got) == rows, len(got))
for r, row in enumerate(got):
    for name, value in expected[r].items():
        check(f"row {r} of {name}", row.get(name) == value, f"{row.get(name)} instead of {value}")

# ---- files that are none ----

arrays = {"a": npy("<f4", (rows, 2), b"".join(struct.pack("<2f", *row) for row in a)),
          "b": npy("<i8", (rows,), struct.pack("<3q", *b)), "extra": npy("<f4", (0,), b"")}


def archive(method, members=None, wide=False):
    with zipfile.ZipFile("new.npz", "w", method) as file:
        for name, content in (members or arrays).items():
            with file.open(name + ".npy", "w", force_zip64=wide) as member:
                member.write(content)
    return pathlib.Path("new.npz").read_bytes()


def with_file(name, content, pattern=None):
    """The message of predict, with another content of the file: it has the pattern; None: the values are the same."""
    before = pathlib.Path(name).read_bytes()
    write(name, content)
    status, out, message = predict()
    write(name, before)
    if pattern is None:
        check(f"{name}: the same values", status == 0 and out == text, message)
    else:
        check(f"{name}: {pattern}", status == 1 and pattern in message and len(message) < 500, f"{status} {message}")


stored, deflated = archive(zipfile.ZIP_STORED), archive(zipfile.ZIP_DEFLATED)
with_file("stored.npz", stored)
with_file("stored.npz", archive(zipfile.ZIP_STORED, wide=True))
with_file("stored.npz", stored + b"x" * 30)
with_file("stored.npz", deflated, "it is compressed; rows are read one by one from plain files alone")
with_file("stored.npz", archive(zipfile.ZIP_BZIP2), "packed by method 12; stored and deflated members are read")
with_file("stored.npz", b"", "no zip archive, or one that is cut off")
with_file("stored.npz", npy("<f4", (rows,), bytes(4 * rows)), "stored.npz: one array (.npy), but npz reads an archive of them")
with_file("stored.npz", stored[:-60], "no zip archive, or one that is cut off")
with_file("stored.npz", archive(zipfile.ZIP_STORED, {"a": arrays["a"]}), "holds no array 'b'; it holds a")
short = dict(arrays, a=arrays["a"][:-1])
with_file("stored.npz", archive(zipfile.ZIP_STORED, short), "stored.npz:a.npy: f32[3, 2] needs 152 bytes")
huge = dict(arrays, a=npy("<f4", (2**40, 2**20), b"1234"))
with_file("stored.npz", archive(zipfile.ZIP_STORED, huge), "all axes but the first must agree")
huge = dict(arrays, a=npy("<f4", (2**31, 2), b"1234"))
with_file("stored.npz", archive(zipfile.ZIP_STORED, huge), "f32[2147483648, 2] needs")
packed = dict(x=npy(">i2", (rows, 4), bytes(24)), y=npy("|b1", (rows,), b"\1\0\1"))
flipped = bytearray(archive(zipfile.ZIP_STORED, packed))
flipped[flipped.index(b"\x93NUMPY") + 140] ^= 1
with_file("packed.npz", bytes(flipped), "packed.npz:x.npy: its bytes do not have the sum that the archive states")
bomb = bytearray(archive(zipfile.ZIP_DEFLATED, packed))
at = bomb.index(b"PK\1\2")
bomb[at + 24:at + 28] = struct.pack("<I", 2**31 - 1)
with_file("packed.npz", bytes(bomb), "the file cannot hold its 2147483647 bytes")
locked = bytearray(archive(zipfile.ZIP_DEFLATED, packed))
locked[locked.index(b"PK\1\2") + 8] |= 1
with_file("packed.npz", bytes(locked), "it is encrypted")
with_file("d.bin", b"12345" + bytes(17), "d.bin: 17 bytes from byte 5 on are no whole number of rows of i16[3]")
with_file("d.bin", b"123", "d.bin: offset = 5, but it has 3 bytes")
with_file("one.bin", records[0][:-1], "one.bin: 3073 bytes are no whole number of records of 3074 bytes")
with_file("f.npy", stored, "f.npy: not a NumPy file of version 1 to 3, but an archive of arrays, which npz reads")
with_file("f.npy", npy("<f4", (rows, 2), bytes(23)), "f.npy: f32[3, 2] needs 152 bytes")
with_file("f.npy", npy("<f4", (rows, 2), bytes(25)), "f.npy: should end after 152 bytes, but more follow")
with_file("f.npy", npy("<f4", (rows, 2), bytes(24), True), "an array in Fortran order does not stay on disk")
with_file("f.npy", gzip.compress(npy("<f4", (rows, 2), bytes(24))), "f.npy: it is compressed")
with_file("f.npy", npy("<f8", (rows, 2), struct.pack("<6d", 1e300, *range(5))),
          "f.npy: f: value 1.0000000000000001e+300 does not fit input type f32")
with_file("tokens.bin", struct.pack("<5H", *tokens[:5])[:-1], "9 bytes are no whole number of ids")

# ---- programs that are refused ----

TOP = "const batch = 2\ninput x : f32[batch, 2]\nloss = mean(linear(x, 1))\n" \
      "train { minimize = loss, optimizer = sgd(lr = 0.1), epochs = 1 }\n"


def refused(line, pattern):
    checks.refused(build / "bin/nnc", TOP, line, pattern)


refused('x = npz("x.npz", arrays = ["a", "b"])', "'arrays' of npz is a list with a name in quotes for each of the 1 field")
refused('x = npz("x.npz", arrays = [3])', "'arrays' of npz is a list with a name in quotes")
refused('x = raw("x.bin", type = "f23")', 'raw takes type = the name of a number type, not "f23"')
refused('x = raw("x.bin", "y.bin")', "1 fields from 2 files: 'raw' gives one field a file")
refused('x = cifar("x.bin", classes = 50)', "cifar has 10 or 100 classes, found 50")
refused('x, y, z = cifar("x.bin")', "a third field needs classes = 100")
refused('x = npy("x.npy") | standardize(x) | on_disk', "standardize(x) changes all rows, which 'on_disk' leaves in their file")
refused('x = csv("x.csv") | on_disk', "'on_disk' acts on numbers in binary files, which 'csv' does not give")
summary()
