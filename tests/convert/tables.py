"""Tables of Parquet for tests/convert/run.sh, and whether what nnc-data made of them has pyarrow's values.

    tables.py write FOLDER              numbers-0000?-of-00002.parquet, mixed.parquet, pictures.parquet, odd.parquet
    tables.py check FOLDER              the files that nnc-data wrote beside them, against the tables
"""
import ast, csv, math, pathlib, random, struct, sys
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import files

ROWS = 9001  # more than a batch of the reader, in two files
NUMBERS = {"bool": pa.bool_(), "i8": pa.int8(), "u8": pa.uint8(), "i16": pa.int16(), "u16": pa.uint16(), "i32": pa.int32(), "u32": pa.uint32(),
           "i64": pa.int64(), "f16": pa.float16(), "f32": pa.float32(), "f64": pa.float64()}


def draw(random, name):
    if name == "bool":
        return random.random() < 0.5
    if name[0] == "f":
        return struct.unpack("<e", struct.pack("<e", random.gauss(0, 3)))[0] if name == "f16" else random.gauss(0, 3)
    bits = int(name[1:])
    return random.randrange(1 << bits) if name[0] == "u" else random.randrange(-1 << (bits - 1), 1 << (bits - 1))


def tables():
    r = random.Random(5)
    columns = {name: pa.array([draw(r, name) for _ in range(ROWS)], type) for name, type in NUMBERS.items()}
    columns["the list"] = pa.array([[r.gauss(0, 1) for _ in range(3)] for _ in range(ROWS)], pa.list_(pa.float32()))
    numbers = pa.table(columns)
    words = ["red", 'the "blue"', "green, or\nso", " blank ", "NA", "", "é"]
    mixed = pa.table({
        "a number": pa.array([None if i % 7 == 3 else r.gauss(0, 1) for i in range(300)], pa.float32()),
        "whole": pa.array([None if i % 11 == 3 else i for i in range(300)], pa.int32()),
        "text": pa.array([None if i % 13 == 0 else words[i % 7] for i in range(300)]).dictionary_encode(),
        "y": pa.array([i % 3 for i in range(300)], pa.int64())})
    struct_of = [{"bytes": files.png(8, 8, 3, bytes((i * 31 + k) % 256 for k in range(192))), "path": None} for i in range(12)]
    pictures = pa.table({"label": pa.array([i % 2 for i in range(12)], pa.int64()),
                         "image": pa.array(struct_of, pa.struct([("bytes", pa.binary()), ("path", pa.string())]))})
    odd = pa.table({"when": pa.array([0, 1], pa.timestamp("s")), "far": pa.array([1.0, math.inf]), "great": pa.array([1, 1 << 63], pa.uint64()),
                    "uneven": pa.array([[1], [1, 2]]), "bytes": pa.array([b"GIF89a", None])})
    return numbers, mixed, pictures, odd


def write(folder):
    numbers, mixed, pictures, odd = tables()
    pq.write_table(numbers.slice(0, 5000), folder / "numbers-00000-of-00002.parquet", row_group_size=777)
    pq.write_table(numbers.slice(5000), folder / "numbers-00001-of-00002.parquet")
    for name, table in (("mixed", mixed), ("pictures", pictures), ("odd", odd)):
        pq.write_table(table, folder / f"{name}.parquet")


PACK = {"|b1": "?", "|u1": "B", "|i1": "b", "<u2": "H", "<i2": "h", "<u4": "I", "<i4": "i", "<i8": "q", "<f2": "e", "<f4": "f", "<f8": "d"}


def read_npy(path):
    content = path.read_bytes()
    end = 10 + struct.unpack("<H", content[8:10])[0]
    head = ast.literal_eval(content[10:end].decode())
    assert content[:8] == b"\x93NUMPY\x01\x00" and end % 64 == 0 and not head["fortran_order"], path
    count = math.prod(head["shape"])
    return head["descr"], head["shape"], list(struct.unpack(f"<{count}{PACK[head['descr']]}", content[end:]))


def check(folder):
    numbers, mixed, pictures, _ = tables()
    for name in NUMBERS:
        descr, shape, values = read_npy(folder / f"numbers.{name}.npy" if name not in ("bool", "i32", "i64", "f16", "f32", "f64", "u8") else
                                        folder / f"numbers.field_{name}.npy")
        assert shape == (ROWS,) and values == numbers.column(name).to_pylist(), name
        assert descr[1:] == {"bool": "b1", "u": "u", "i": "i", "f": "f"}.get(name) or descr[1] == name[0] and int(descr[2]) * 8 == int(name[1:]), name
    descr, shape, values = read_npy(folder / "numbers.the_list.npy")
    assert (descr, shape) == ("<f4", (ROWS, 3)) and values == [x for row in numbers.column("the list").to_pylist() for x in row]
    descr, shape, values = read_npy(folder / "gaps.whole.npy")
    assert descr == "<f8" and [None if math.isnan(v) else v for v in values] == mixed.column("whole").to_pylist()
    descr, shape, values = read_npy(folder / "gaps.a_number.npy")
    assert descr == "<f4" and [None if math.isnan(v) else v for v in values] == mixed.column("a number").to_pylist()
    with open(folder / "mixed.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == mixed.column_names
    for i, row in enumerate(mixed.to_pylist()):
        wanted = ["?" if v is None else v if isinstance(v, str) else v for v in row.values()]
        found = [v if v == "?" or k == "text" else float(v) for k, v in zip(row, rows[i + 1])]
        assert wanted == found, (wanted, found)
    with open(folder / "pictures.csv", newline="") as file:
        rows = list(csv.reader(file))[1:]
    for (name, label), row in zip(rows, pictures.to_pylist()):
        assert (folder / "pictures-pictures" / name).read_bytes() == row["image"]["bytes"] and int(label) == row["label"]
    assert len(rows) == 12 and not list(folder.glob("*.part"))


{"write": write, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2]))
