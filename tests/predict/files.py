"""predict --npy and --png: arrays as NumPy reads them against the lines that are printed, pictures against their numbers, by zlib
alone and by libpng, which reads them for another program.  Usage: files.py BUILD WORK"""
import json
import os
import struct
import subprocess
import sys
import zlib

import numpy as np

build, work = sys.argv[1:]
os.chdir(work)
DRAWS = """predict {
  picture = rand([3, 8, 12]), grey = f64(rand([1, 5, 7])), cut = 3 * rand([6, 5]) - 1, rgba = bf16(rand([4, 6, 5]))
  mask = randint(0, 256, [5, 9]), truth = rand([4, 4]) > 0.5, half = f16(randn([2, 3])), whole = randint(-5, 5, [3], i64)
  number = randn([]), wide = exp(20 * randn([3000])) * sign(randn([3000])), bad = sqrt(rand([2, 2]) - 0.5), large = randint(0, 400, [30, 30])
}
"""
READS = """data predict { image = image_folder("in") | resize(8, 12) }
const batch = 4
input image : u8[batch, 3, 8, 12]
x = f32(image) / 255
predict { picture = x, level = mean(mean(mean(x, axis = 1), axis = 1), axis = 1) }
"""


def write(name, text):
    with open(name + ".net", "w") as file:
        file.write(text)
    subprocess.run([build + "/bin/nnc", name + ".net", "--cflags=-O1", "-o", name], check=True)


def run(*words, status=0):
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done


def refused(*words, status=1):
    return run(*words, status=status).stderr


def pixels(path):
    """Rows without a filter alone."""
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
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, -1)
    assert (rows[:, 0] == 0).all() and kind == b"IEND"
    return rows[:, 1:].reshape(height, width, {0: 1, 2: 3, 6: 4}[color]).transpose(2, 0, 1)


def shades(values):
    if values.dtype == bool:
        return values * np.uint8(255)
    if values.dtype.kind == "i":
        return values.astype(np.uint8)
    return np.floor(np.clip(np.nan_to_num(values.astype(np.float64)), 0, 1) * 255 + 0.5).astype(np.uint8)


# ---- arrays ----
write("draws", DRAWS)
lines = [json.loads(line) for line in run("./draws", "predict", "--count", "7").stdout.splitlines()]
assert run("./draws", "predict", "--count", "7", "--npy", "a/arrays").stdout == ""
types = {"picture": "<f4", "grey": "<f8", "cut": "<f4", "rgba": "<f4", "mask": "<i4", "truth": "|b1", "half": "<f2",
         "whole": "<i8", "number": "<f4", "wide": "<f4", "bad": "<f4", "large": "<i4"}
arrays = {name: np.load(f"a/arrays/{name}.npy") for name in types}
assert sorted(os.listdir("a/arrays")) == sorted(name + ".npy" for name in types)
for name, array in arrays.items():
    printed = np.array([line[name] for line in lines])
    printed = printed.astype(np.float64) if array.dtype.kind == "f" else printed
    assert array.dtype.str == types[name] and array.shape == printed.shape, name
    assert np.array_equal(array, printed.astype(array.dtype), equal_nan=array.dtype.kind == "f"), name
assert np.isnan(arrays["bad"]).any()
printed = run("./draws", "predict", "--count", "7").stdout.split('"wide":[')[1:]
for text in ",".join(line.split("]")[0] for line in printed).split(","):  # the shortest that reads back
    digits = len(text.lstrip("-").split("e")[0].replace(".", "").strip("0"))
    shortest = np.format_float_scientific(np.float32(text), unique=True, trim="-").split("e")[0]
    assert digits <= max(6, len(shortest.lstrip("-").replace(".", ""))), text
some = run("./draws", "predict", "--npy", "b", "--only", "wh*", "--format=csv").stdout
assert os.listdir("b") == ["whole.npy"] and "picture.0" in some and "whole" not in some
assert np.load("b/whole.npy").shape == (1, 3)
assert np.load("b/whole.npy")[0].tolist() == lines[0]["whole"]
run("./draws", "predict", "--count", "0", "--npy", "b", "--only", "half")
assert np.load("b/half.npy").shape == (0, 2, 3)

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
        wanted = shades(arrays[name][i])
        assert np.array_equal(pixels(f"q/{name}/{i:06d}.png"), wanted.reshape((-1,) + wanted.shape[-2:])), (name, i)
share = 100 * np.mean((arrays["cut"] < -1e-3) | (arrays["cut"] > 1 + 1e-3))
assert f"{share:.0f} % of the values of 'cut' lie outside of 0 to 1 and were cut" in told, told
assert "values of 'bad' are no numbers; they are black" in told and "'picture'" not in told, told
run("./draws", "predict", "--png", "both", "--only", "?r*")  # two results: a folder each
assert sorted(os.listdir("both")) == ["grey", "truth"] and os.listdir("both/grey") == ["000000.png"]
error = refused("./draws", "predict", "--png", "p", "--only", "whole")
assert "'whole' is i64[3] for each example; a picture is [height, width], or [channels, height, width]" in error, error
assert "predict has no result called 'none'" in refused("./draws", "predict", "--npy", "p", "--only", "none")
assert "--only says which results go to the files of --npy or --png" in refused("./draws", "predict", "--only", "cut")
open("full", "w").write("something else")
os.makedirs("kept", exist_ok=True)
os.replace("full", "kept/cut.npy")
assert "is no NumPy array" in refused("./draws", "predict", "--npy", "kept", "--only", "cut")

# ---- the names of the examples' files ----
os.makedirs("in/b")
os.replace("q/picture", "in/a")
os.link("in/a/000002.png", "in/b/000002.png")
write("reads", READS)
done = run("./reads", "predict", "--png", "out", "--npy", "out", "--names")
names = [json.loads(line) for line in done.stdout.splitlines()]
assert [line["file"] for line in names] == [f"in/a/{i:06d}.png" for i in range(7)] + ["in/b/000002.png"]
assert sorted(os.listdir("out")) == ["a", "b", "level.npy", "picture.npy"]
back = np.load("out/picture.npy")
for i in range(8):
    path, wanted = ("a/%06d.png" % i, arrays["picture"][i]) if i < 7 else ("b/000002.png", arrays["picture"][2])
    assert np.array_equal(np.rint(back[i] * 255).astype(np.uint8), shades(wanted)), "as libpng reads it"
    assert np.array_equal(pixels("out/" + path), shades(wanted)), path
os.link("in/b/000002.png", "in/b/000002.PNG")
assert "two examples would be written to b/000002.png" in refused("./reads", "predict", "--png", "out", "--only", "picture")
os.remove("in/b/000002.PNG")
open("in/a/000003.png", "w").write("no picture")
run("./reads", "predict", "--npy", "out2", status=1)
back = np.load("out2/picture.npy")
assert back.shape[0] == 8 and np.isnan(back[3]).all() and not np.isnan(np.delete(back, 3, 0)).any()
run("./reads", "predict", "--png", "out3", status=1)
assert sorted(os.listdir("out3/a")) == ["%06d.png" % i for i in range(7) if i != 3]
print("predictions as files: good")
