#!/usr/bin/env python3
"""Writes the seeds of the fuzzing targets: seeds.py DIRECTORY [NNC] -> idx/, npy/, npz/, csv/, list/, tar/, rows/, text/, picture/, wav/, cache/, vocabulary/, safetensors/;
with the path of nnc also source/, compile/, format/, dump/ and the dictionaries source.dict, dump.dict.

A seed of a data reader is a choice of the input (see fuzz_data.h; csv, rows, text, picture and wav have a second byte of choices) and a
file; one of dump/ is a choice of the pass (see fuzz_dump.c) and a dump."""
import base64, io, json, pathlib, re, struct, subprocess, sys, tarfile, zipfile

root = pathlib.Path(sys.argv[1])
tree = pathlib.Path(__file__).resolve().parents[2]
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
        array = b"\x93NUMPY" + version + header + values
        save("npy", f"{s}-{t}", [s * 8 + t + (128 if t > 4 else 0)], array)
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED][t % 2]) as members:
            for member in ("y.npy", "x.npy"):
                with members.open(member, "w", force_zip64=t % 3 == 0) as file:
                    file.write(array)
        save("npz", f"{s}-{t}", [s * 8 + t + (128 if t % 4 == 0 else 0)], archive.getvalue())
for s, shape in enumerate(shapes):
    row = 1
    for n in shape[1:]:
        row *= n
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape[1:]}, }}\n".encode()
    array = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + bytes(4 * row)
    for format in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT):
        for is_class in (0, 1):
            archive = io.BytesIO()
            with tarfile.open(fileobj=archive, mode="w", format=format) as members:
                for i in range(4):
                    info = tarfile.TarInfo("/".join(["folder" * 9] * i + [f"{i}.{'cls' if is_class else 'npy'}"]))
                    content = b"%d\n" % (i % 2) if is_class else array
                    info.size = len(content)
                    members.addfile(info, io.BytesIO(content))
            save("tar", f"{s}-{format}-{is_class}", [s * 8 + 128 * is_class], archive.getvalue())
sys.path.insert(1, str(tree / "tests/lib"))
import files
pictures = [files.png(4, 4, 3, bytes(range(48))), files.png(13, 9, 1, bytes(117)), files.png(2, 3, 3, bytes(range(18)))]
pictures += [base64.b64decode(text) for text in (tree / "tests/fuzz/pictures.txt").read_text().split()[1::2]]
for i, picture in enumerate(pictures):
    for choice in range(64):
        if (choice + i) % 5 == 0:
            save("picture", f"{i}-{choice}", [choice, i], picture)
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as members:
        for name in ("a.png", "b.x.png", "b.jpg"):
            info = tarfile.TarInfo(name)
            info.size = len(picture)
            members.addfile(info, io.BytesIO(picture))
    if i < 4:
        save("tar", f"picture-{i}", [64], archive.getvalue())
for choice in range(0, 256, 5):
    save("rows", f"raw-{choice}", [choice % 32, choice & 252 | 1], bytes(i % 2 for i in range(64 + (choice >> 3 & 1) * 3)))
for i, classes in enumerate((1, 2)):
    for choice in (0, 128):
        save("rows", f"cifar-{i}-{choice}", [i * 8, i * 4 + choice], bytes(2 * (classes + 3072)))
for i, (magic, version, size) in enumerate(((20240520, 1, 2), (20240801, 7, 4), (20240520, 2, 2))):
    for choice in (2, 6, 42, 130, 134):
        save("rows", f"tokens-{i}-{choice}", [8 + i, choice], struct.pack("<256I", magic, version, 12, *[0] * 253) + bytes(12 * size))
for choice in range(24):
    for i, text in enumerate((b"a b\nab a  b \n\n", "\u00e9\U0001f600 x\r\n\tz".encode() * 3, b"a\0b<unk> <eos> " * 4)):
        save("text", f"{i}-{choice}", [8 + choice % 8, choice], text)
for choice in range(64):
    separator = b";" if choice & 4 else b","
    folder = b"" if choice & 1 else b"/proc/self/fd/"
    rows = [b"file" + separator + b"n"] * (choice >> 3 & 1) + [folder + b"100" + separator + b"1", b'"' + folder + b'100"' + separator,
            folder + (b"101" if choice & 2 else b"100") + separator + b"x", folder + b"100" + separator + b'"a\nb"']
    save("list", f"{choice}", [choice], b"\n".join(rows) + b"\n")
    boxes = [folder + b"100" + separator + separator.join(b"%d" % v for v in box) for box in ((0, 0, 3, 4), (1, 2, 2, 3), (9, 9, -9, 1e9))]
    save("list", f"boxes-{choice}", [64 | choice & 55], b"\n".join(boxes) + b"\n")
for i, (kind, bits) in enumerate(((1, 8), (1, 16), (1, 24), (1, 32), (3, 32), (3, 64), (0xfffe, 16), (2, 16))):
    extra = struct.pack("<HHIH", 22, bits, 4, 1) + bytes(14) if kind == 0xfffe else b""
    shape = struct.pack("<HHIIHH", kind, 1, 8, bits, bits // 8, bits) + extra
    for choice in range(4):
        samples = bytes(range(1, 1 + bits // 8 * (4 + 2 * choice)))
        body = b"WAVEfmt " + struct.pack("<I", len(shape)) + shape + b"note\3\0\0\0abc\0" * (i % 2) + b"data" + struct.pack("<I", len(samples)) + samples
        sound = b"RIFF" + struct.pack("<I", len(body)) + body
        save("wav", f"{i}-{choice}", [(i + choice) % 8, choice], sound)
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as members:
            for name in ("a.wav", "b.WAV"):
                info = tarfile.TarInfo(name)
                info.size = len(sound)
                members.addfile(info, io.BytesIO(sound))
        save("tar", f"sound-{i}-{choice}", [192 + 16 + choice * 4 + i % 4], archive.getvalue())
for choice in range(256):
    # bits of what is right, what is added to the seven notes, to the size
    items = [(15, [0] * 7, 0), (7, [0] * 7, 1), (15, [0, 0, 0, 0, choice % 5 - 2, 0, 0], 0), (15, [0] * 6 + [choice % 4 - 1], 0),
             (15, [1 << 40, 1, 0, 0, 1 << 40, 1, 0], 0), (15, [4, 2, 0, 0, 4, 2, 0], 0), (39, [0] * 7, 0), (11, [0] * 7, 0)]
    for i in (choice % 8, (choice // 8 + choice) % 8):
        record = b"".join(struct.pack("<B7qi", *item[:1], *item[1], item[2]) for item in (items[i], items[(i + choice) % 8]))
        save("cache", f"{choice}-{i}", [choice], record)
tables = [b"a\n1\n0\n1\n", b"1,0\r\n0,1\r\n", b"a;b\n1;0\n;1\n", b'"a","b"\n"x ""y""",2\n"z\nw",3\n\n', b"1.5e3\n-.5\n12345678901234567890\n", b"NA\n?\n\n7\n"]
for i, table in enumerate(tables):
    for choice in range(256):
        if (choice + i) % 11 == 0:
            save("csv", f"{i}-{choice}", [(choice + i) % 8 + 8 * (i % 4), choice], table)

sys.path.insert(1, str(tree / "tests/text"))
import variants
letters = list("abhet 's1\u0120\u010a\u00c3\u00a9".replace(" ", "")) + ["he", "th", "\u0120t", "the", "\u0120the", "11"]
merges = [("h", "e"), ("t", "h"), ("\u0120", "t"), ("t", "he"), ("\u0120", "the"), ("1", "1")]
ids = {token: i for i, token in enumerate(letters)}
special = {"id": len(ids), "content": "<|end|>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
whole = {"version": "1.0", "added_tokens": [special], "normalizer": None, "model": {"type": "BPE", "dropout": None, "vocab": ids, "merges": [list(m) for m in merges]}}
text = "the the<|end|> hat's\n 111 b\u00e9".encode()
for name, content in variants.variants(whole).items():
    for older in (False, True):
        if older:
            content["model"]["merges"] = [" ".join(m) for m in content["model"]["merges"]]
        save("vocabulary", f"{name}-{older}", [0, len(text), 0, 0], text + json.dumps(content).encode())
for version in (b"", b"#version: 0.2\n", b"#version: 0.2\nt\0 he\n"):  # the last holds a zero byte after a token's letters
    lines = version + "".join(f"{a} {b}\n" for a, b in merges).encode()
    save("vocabulary", f"pair-{len(version)}", [1, len(text), len(lines), 0], text + lines + json.dumps({**ids, "<|endoftext|>": len(ids)}).encode())

fitted = [{"name": "x:mean", "numbers": [0.5, -1e300]}, {"name": "s", "strings": ["a", "\\u00e9\n"]}]
def safetensors(name, tensors, metadata):
    header, data = {"__metadata__": metadata} if metadata else {}, b""
    for path, dtype, shape, content in tensors:
        header[path] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    save("safetensors", name, b"", struct.pack("<Q", len(text)) + text + data)

safetensors("empty", [], {})
safetensors("plain", [("w", "F32", [2, 3], bytes(24)), ("b", "F64", [], bytes(8)), ("k", "BOOL", [0, 7], b"")], {})
safetensors("checkpoint", [("h1.w", "F32", [1], b"\0\0\x80?"), ("h1.w:m", "I64", [1], bytes(8))],
            {"format": "nnc checkpoint 1", "seed": "1", "step": "40", "position": "40 4 0 10 0",
             "metrics": "5 1.5", "fitted": json.dumps(fitted), "source": "const batch = 2\nh = linear(x, 3)\n"})

if len(sys.argv) > 2:
    nnc = sys.argv[2]
    def run(*arguments):
        return subprocess.run([nnc, *arguments], cwd=tree, check=True, stdout=subprocess.PIPE).stdout

    programs = {kind: [] for kind in ("source", "compile", "format", "dump")}
    for pattern in ("models/*.net", "examples/*.net", "tests/unit/networks/*.net", "tests/agree/programs/*.net",
                    "tests/extern/*.net", "tests/load/*.net", "tests/stream/*.net"):
        for kind in ("source", "compile", "format"):
            programs[kind] += sorted(tree.glob(pattern))
    for pattern in ("tests/syntax/ok/*.net", "tests/syntax/format/*.net", "tests/syntax/errors/*.net"):
        programs["source"] += sorted(tree.glob(pattern))
        programs["format"] += sorted(tree.glob(pattern))
    programs["format"] += sorted(tree.glob("compiler/prelude/*.net"))
    small = sorted(tree.glob("tests/fuzz/programs/*.net"))
    for kind in programs:
        programs[kind] += small
    programs["source"] += sorted(tree.glob("tests/elaborate/errors/*.net"))
    for kind in ("source", "compile", "format"):
        for path in programs[kind]:
            name = str(path.relative_to(tree)).replace("/", "-")
            save(kind, name, b"", path.read_bytes())
    passes = [line.split()[0] for line in run("--help-passes").decode().splitlines()]
    for path in programs["dump"]:
        file = str(path.relative_to(tree))  # a dump names its file: the same bytes wherever the tree lies
        whole = run("-O0", file, "--dump-after=" + passes[0], "--stop-after=" + passes[0])
        late = run(file, "--emit=ir")
        for name, choice, dump in (("0", 0, whole), ("1", 1, whole), ("late", 2 * len(passes) + 1, late)):
            save("dump", f"{path.stem}-{name}", [ord("@") + choice], dump)
        for level in (0, 1):
            save("dump", f"{path.stem}-plan-{level}", b"@", run(f"-O{level}", file, "--dump-after=plan"))

    def dictionary(name, words):
        lines = ['"' + re.sub(r'(["\\\\])', r"\\\1", word) + '"' for word in words]
        (root / name).write_text("\n".join(lines) + "\n")
    # the first column of `nnc doc`, and the words and marks of the grammar
    names = re.findall(r"^  (\w+)", run("doc").decode(), re.M)
    hard = "for in if else return yield with true false none training pi inf epochs epoch steps step order file streams " \
           "tail wrap precision seed f32 f64 f16 bf16 i32 i64 u8 bool T along recompute dy c g w t".split()
    marks = "<- -> => .. ... ** // == != <= >= ? : | @ ^ % _ [ ] { } ( ) ; , \\".split() + ["# ", "\\x0a"]
    dictionary("source.dict", hard + names + marks[:-1])
    operators = re.findall(r'"(\w+)"', (tree / "compiler/ops/ops.def").read_text())
    attributes = re.findall(r'"(\w+)"', (tree / "compiler/graph/attributes.def").read_text())
    items = "nnc_dump module run source file input param state stream optimizer metric data entry batched frozen " \
            "store accumulator result scalar mean sum max min last prelude file_order stream_order wrap_tail".split()
    items += " program kernel buffer variable activation worker loop scan launch barrier copy operands blocks scalars keys " \
             "tasks bytes at entry steps to alias view from round turns turn owner domain stage over value batch"
    entries = "init host train accumulate eval eval_one predict finish".split()
    dictionary("dump.dict", items + entries + operators + attributes + "f32 f64 i64 i32 u8 bool".split())
