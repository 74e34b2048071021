"""predict --npy and --png: arrays against the lines that are printed, pictures against their numbers, by zlib alone and by libpng,
which reads them for another program.  Usage: files.py BUILD WORK"""
import ast
import json
import math
import os
import struct
import subprocess
import sys
import zlib

build, work = sys.argv[1:]
os.chdir(work)
DRAWS = """predict {
  picture = rand([3, 8, 12]), grey = f64(rand([1, 5, 7])), cut = 3 * rand([6, 5]) - 1, rgba = bf16(rand([4, 6, 5]))
  mask = randint(0, 256, [5, 9]), truth = rand([4, 4]) > 0.5, half = f16(randn([2, 3])), whole = randint(-5, 5, [3], i64)
  number = randn([]), wide = exp(20 * randn([3000])) * sign(randn([3000])), bad = sqrt(rand([2, 2]) - 0.5), large = randint(0, 400, [30, 30])
}
"""
READS = """data predict { image = image_folder("in/") | resize(8, 12) }
const batch = 4
input image : u8[batch, 3, 8, 12]
x = f32(image) / 255
predict { picture = x, level = mean(mean(mean(x, axis = 1), axis = 1), axis = 1) }
"""


def write(name, text):
    with open(name + ".net", "w") as file:
        file.write(text)
    subprocess.run([build + "/bin/nnc", name + ".net", "--cflags=-O0", "--units=1", "-o", name], check=True)


def run(*words, status=0):
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done


def refused(*words, status=1):
    return run(*words, status=status).stderr


def flat(value):
    return [x for item in value for x in flat(item)] if isinstance(value, list) else [value]


def shape_of(value):
    return [len(value)] + (shape_of(value[0]) if value else []) if isinstance(value, list) else []


def load(path):
    """Type, shape and numbers of a .npy file."""
    data = open(path, "rb").read()
    assert data[:8] == b"\x93NUMPY\x01\x00" and len(data[:10]) == 10
    length = struct.unpack("<H", data[8:10])[0]
    head = ast.literal_eval(data[10:10 + length].decode())
    assert (10 + length) % 64 == 0 and data[9 + length:10 + length] == b"\n" and head["fortran_order"] is False
    kind = {"<f4": "f", "<f8": "d", "<f2": "e", "<i4": "i", "<i8": "q", "|u1": "B", "|b1": "?"}[head["descr"]]
    count = math.prod(head["shape"])
    assert len(data) == 10 + length + count * struct.calcsize(kind), "no byte more"
    return head["descr"], list(head["shape"]), list(struct.unpack(f"<{count}{kind}", data[10 + length:]))


def pixels(path):
    """Channel by channel; rows without a filter alone."""
    data, at, packed = open(path, "rb").read(), 8, b""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0]
        if kind == b"IHDR":
            width, height, bits, color, *rest = struct.unpack(">IIBBBBB", body)
            assert bits == 8 and rest == [0, 0, 0]
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    channels = {0: 1, 2: 3, 6: 4}[color]
    raw, stride = zlib.decompress(packed), channels * width + 1
    rows = [raw[y * stride:(y + 1) * stride] for y in range(height)]
    assert all(row[0] == 0 for row in rows) and kind == b"IEND" and len(raw) == stride * height
    return [row[1 + x * channels + c] for c in range(channels) for row in rows for x in range(width)]


def shades(kind, values):
    if kind in ("|b1", "<i4"):
        return [255 * v if kind == "|b1" else v for v in values]
    return [0 if math.isnan(v) else math.floor(255 * min(max(v, 0), 1) + 0.5) for v in values]


def example(name, i):
    kind, shape, values = arrays[name]
    size = math.prod(shape[1:])
    return shades(kind, values[i * size:(i + 1) * size])


def is_shortest(text):
    """Whether no shorter decimal reads back as the same float; %g drops zeros, so six digits are as short."""
    as_float = lambda value: struct.pack("<f", float(value))
    digits = len(text.lstrip("-").split("e")[0].replace(".", "").strip("0"))
    return digits <= 6 or as_float(f"{float(text):.{digits - 1}g}") != as_float(text)


# ---- arrays ----
write("draws", DRAWS)
lines = [json.loads(line) for line in run("./draws", "predict", "--count", "7").stdout.splitlines()]
assert run("./draws", "predict", "--count", "7", "--npy", "a/arrays").stdout == ""
types = {"picture": "<f4", "grey": "<f8", "cut": "<f4", "rgba": "<f4", "mask": "<i4", "truth": "|b1", "half": "<f2",
         "whole": "<i8", "number": "<f4", "wide": "<f4", "bad": "<f4", "large": "<i4"}
arrays = {name: load(f"a/arrays/{name}.npy") for name in types}
assert sorted(os.listdir("a/arrays")) == sorted(name + ".npy" for name in types)
for name, (kind, shape, values) in arrays.items():
    printed = [line[name] for line in lines]
    assert kind == types[name] and shape == shape_of(printed), name
    code = {"<f4": "f", "<f2": "e", "<f8": "d", "<i8": "q", "<i4": "i", "|b1": "?"}[kind]
    exact = lambda v: v if v == "NaN" else "NaN" if v != v else struct.pack("<" + code, v)
    assert list(map(exact, values)) == list(map(exact, flat(printed))), name
assert any(math.isnan(v) for v in arrays["bad"][2])
printed = run("./draws", "predict", "--count", "7").stdout.split('"wide":[')[1:]
assert all(is_shortest(text) for line in printed for text in line.split("]")[0].split(","))
some = run("./draws", "predict", "--npy", "b", "--only", "wh*", "--format=csv").stdout
assert os.listdir("b") == ["whole.npy"] and "picture.0" in some and "whole" not in some
assert load("b/whole.npy") == ("<i8", [1, 3], lines[0]["whole"])
run("./draws", "predict", "--count", "0", "--npy", "b", "--only", "half")
assert load("b/half.npy") == ("<f2", [0, 2, 3], [])

# ---- pictures ----
done = run("./draws", "predict", "--count", "7", "--png", "p", "--only", "[!l]*", status=1)
assert "predict has no result called '[!l]*'" in done.stderr
error = refused("./draws", "predict", "--count", "7", "--png", "p")
assert "'large' holds" in error and "but a byte of a mask is 0 to 255" in error, error
told = ""
for name in ("picture", "grey", "cut", "rgba", "mask", "truth", "bad"):
    done = run("./draws", "predict", "--count", "7", "--png", "q/" + name, "--only", name)
    told += done.stderr
    assert sorted(os.listdir("q/" + name)) == ["%06d.png" % i for i in range(7)]
    assert name not in json.loads(done.stdout.splitlines()[0])
    for i in range(7):
        assert pixels(f"q/{name}/{i:06d}.png") == example(name, i), (name, i)
share = [v < -1e-3 or v > 1 + 1e-3 for v in arrays["cut"][2]]
share = 100 * sum(share) / len(share)
assert f"{share:.0f} % of the values of 'cut' lie outside of 0 to 1 and were cut" in told, told
assert "values of 'bad' are no numbers; they are black" in told and "'picture'" not in told, told
done = run("./draws", "predict", "--png", "both", "--npy", "n/all", "--only", "?r*")
assert "draws: wrote arrays to n/all\ndraws: wrote pictures to both\n" in done.stderr, done.stderr
run("./draws", "predict", "--png", "both", "--only", "?r*")  # two results: a folder each
assert sorted(os.listdir("both")) == ["grey", "truth"] and os.listdir("both/grey") == ["000000.png"]
error = refused("./draws", "predict", "--png", "p", "--only", "whole")
assert "'whole' is i64[3] for each example; a picture is [height, width], or [channels, height, width]" in error, error
assert "predict has no result called 'none'" in refused("./draws", "predict", "--npy", "p", "--only", "none")
assert "--only says which results go to the files of --npy or --png" in refused("./draws", "predict", "--only", "cut", status=2)
open("full", "w").write("something else")
os.makedirs("kept", exist_ok=True)
os.replace("full", "kept/cut.npy")
assert "is no NumPy array" in refused("./draws", "predict", "--npy", "kept", "--only", "cut")
# Neither over an array that a data set or a parameter is read from.
write("arrays", """const batch = 2
data predict { half = npy("a/arrays/half.npy") }
input half : f16[batch, 2, 3]
param cut : [7, 6, 5] = load("a/arrays/cut.npy")
predict { half = half + 1, cut = reshape(cut, [1, 7, 6, 5]) + reshape(f32(half[:, 0, 0]), [batch, 1, 1, 1]) }
""")
for name in ("half", "cut"):
    content = open(f"a/arrays/{name}.npy", "rb").read()
    assert f"over a/arrays/{name}.npy, which the program reads" in refused("./arrays", "predict", "--npy", "a/arrays", "--only", name)
    assert open(f"a/arrays/{name}.npy", "rb").read() == content
run("./arrays", "predict", "--npy", "a/others")

# ---- the names of the examples' files ----
os.makedirs("in/b")
os.replace("q/picture", "in/a")
os.link("in/a/000002.png", "in/b/000002.png")
write("reads", READS)
done = run("./reads", "predict", "--png", "out", "--npy", "out", "--names")
names = [json.loads(line) for line in done.stdout.splitlines()]
assert [line["file"] for line in names] == [f"in/a/{i:06d}.png" for i in range(7)] + ["in/b/000002.png"]
assert sorted(os.listdir("out")) == ["a", "b", "level.npy", "picture.npy"]
_, shape, back = load("out/picture.npy")
size = math.prod(shape[1:])
for i in range(8):
    path, wanted = ("a/%06d.png" % i, example("picture", i)) if i < 7 else ("b/000002.png", example("picture", 2))
    assert [round(255 * v) for v in back[i * size:(i + 1) * size]] == wanted, "as libpng reads it"
    assert pixels("out/" + path) == wanted, path
before = {path: open("in/" + path, "rb").read() for path in ("a/000000.png", "b/000002.png")}
assert "a result would be written over in/a/000000.png, which the program reads" in refused("./reads", "predict", "--png", "in", "--only", "picture")
assert before == {path: open("in/" + path, "rb").read() for path in before} and not os.path.exists("in/picture.npy")
os.link("in/b/000002.png", "in/b/000002.PNG")
assert "two examples would be written to b/000002.png" in refused("./reads", "predict", "--png", "out", "--only", "picture")
os.remove("in/b/000002.PNG")
open("in/a/000003.png", "w").write("no picture")
run("./reads", "predict", "--npy", "out2", status=1)
_, shape, back = load("out2/picture.npy")
assert shape[0] == 8 and [math.isnan(v) for v in back] == [3 * size <= k < 4 * size for k in range(8 * size)]
run("./reads", "predict", "--png", "out3", status=1)
assert sorted(os.listdir("out3/a")) == ["%06d.png" % i for i in range(7) if i != 3]
print("predictions as files: good")
