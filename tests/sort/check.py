"""Runs an executable of order.net on rows of numbers and compares with Python's stable sort: check.py PROGRAM TYPE COUNT
FOLDER."""
import json, math, random, struct, subprocess, sys

program, kind, count, folder = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
codes = {"f32": ("<f4", "f"), "f64": ("<f8", "d"), "i32": ("<i4", "i"), "i64": ("<i8", "q"), "u8": ("|u1", "B")}
draw = random.Random(count)
special = [math.nan, -math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-40, -1e-40, 3e38, -3e38]


def element(row):
    if kind == "u8": return draw.randrange(256)
    if kind == "i32": return draw.randrange(-2**31, 2**31) if row else draw.randrange(-9, 9)
    if kind == "i64": return draw.randrange(-2**53, 2**53) if row else draw.randrange(-9, 9)
    return draw.choice(special) if draw.random() < 0.1 else draw.gauss(0, 1e3) if row else float(draw.randrange(-9, 9))


rows = [[element(row) for _ in range(count)] for row in range(3)]
descr, code = codes[kind]
body = struct.pack(f"<{3 * count}{code}", *sum(rows, []))
rows = [list(struct.unpack(f"<{count}{code}", body[i * len(body) // 3:(i + 1) * len(body) // 3])) for i in range(3)]
header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': (3, {count}), }}"
header += " " * (63 - (10 + len(header)) % 64) + "\n"
with open(f"{folder}/x.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + body)


def order(row, descending):
    def key(v): return (math.isnan(v) != descending, 0 if math.isnan(v) else -v if descending else v)
    return sorted(range(len(row)), key=lambda i: key(row[i]))


def same(a, b): return a == b or (math.isnan(a) and math.isnan(b))


common = ["--out", f"{folder}/run"]
subprocess.run([program, "--quiet", "--data", folder] + common, check=True)
for threads in (1, 3):
    lines = subprocess.run([program, "predict", f"{folder}/x.npy", "--threads", str(threads)] + common, check=True,
                           capture_output=True, text=True).stdout.splitlines()
    assert len(lines) == 3, lines
    for row, line in zip(rows, lines):
        found = json.loads(line)
        up, down = order(row, False), order(row, True)
        assert found["up"] == up, "ascending"
        assert found["down"] == down, "descending"
        assert found["best"] == down[:len(found["best"])], "top_k"
        assert all(places == (0, 1, 2) for places in zip(*found["first"])), "equal rows"
        values = [struct.unpack(f"<{code}", struct.pack(f"<{code}", float(v) if isinstance(v, str) else v))[0] for v in found["values"]]
        assert len(values) == count and all(same(v, row[i]) for v, i in zip(values, up)), "values"
