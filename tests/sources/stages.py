"""Stages of pictures on pictures from arrays: whatever file a picture comes from, it is cut, scaled, turned and coloured
alike, and its mask with it.

    stages.py BUILD FOLDER      FOLDER is empty; prints what failed and "N passed, N failed"

The judge is the source image_folder, whose pictures are tested against Pillow's and torchvision's rules in tests/data."""
import json, math, os, pathlib, random, struct, sys, zipfile

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import checks  # noqa: E402
from checks import check, expect, summary, write  # noqa: E402
from files import npy, png  # noqa: E402

build = pathlib.Path(sys.argv[1]).resolve()
os.chdir(sys.argv[2])
nnc = build / "bin/nnc"
draw = random.Random(17)


def compiled(name, text):
    write(f"{name}.net", text.encode())
    return expect(f"{name}.net compiles", 0, "", nnc, f"{name}.net", "--cflags=-O0", "--units=1", "-o", name)


def record(out):
    return json.loads(pathlib.Path(out, "log.jsonl").read_text().splitlines()[-1])


# ---- pictures of any source ----

COUNT, SIDE = 12, 32
colours = [draw.randbytes(3 * SIDE * SIDE) for _ in range(COUNT)]  # planes
greys = [draw.randbytes(SIDE * SIDE) for _ in range(COUNT)]
masks = [bytes(draw.choice((0, 1, 7)) for _ in range(SIDE * SIDE)) for _ in range(COUNT)]


def pixels(planes):
    return bytes(planes[c * SIDE * SIDE + i] for i in range(SIDE * SIDE) for c in range(3))


for folder in ("c/x", "g/x", "m/x"):
    os.makedirs(folder)
for i in range(COUNT):
    write(f"c/x/{i:02}.png", png(SIDE, SIDE, 3, pixels(colours[i])))
    write(f"g/x/{i:02}.png", png(SIDE, SIDE, 1, greys[i]))
    write(f"m/x/{i:02}.png", png(SIDE, SIDE, 1, masks[i]))
write("c.npy", npy("|u1", (COUNT, 3, SIDE, SIDE), b"".join(colours)))
write("m.npy", npy("|u1", (COUNT, SIDE, SIDE), b"".join(masks)))
with zipfile.ZipFile("c.npz", "w", zipfile.ZIP_DEFLATED) as file:
    file.writestr("c.npy", pathlib.Path("c.npy").read_bytes())
write("c.csv", "".join(["file\n", *(f"c/x/{i:02}.png\n" for i in range(COUNT))]).encode())
write("c.raw", b"head" + b"".join(colours))
write("c.bin", b"".join(bytes([i % 10]) + planes for i, planes in enumerate(colours)))
write("g.idx", struct.pack(">4B3I", 0, 0, 8, 3, COUNT, SIDE, SIDE) + b"".join(greys))
CHAIN = "split(0, 0.75, seed = 2) | pad(4, value = 9) | random_resized_crop(24, 20, scale = [0.3, 1]) | color_jitter(0.4, 0.3, 0.2, 0.1) | " \
        "random_affine(degrees = 20, translate = 0.1, scale = [0.8, 1.2]) | random_flip | random_erase"
MASKED = "split(0, 0.75, seed = 2) | random_crop(25) | random_affine(degrees = 20) | random_flip | resize(16, 16)"
LINES = {"a": 'npy("c.npy")', "b": 'npz("c.npz", arrays = ["c"])', "d": 'cifar("c.bin")', "e": 'raw("c.raw", type = "u8", offset = 4)',
         "f": 'npy("c.npy") | on_disk', "h": 'cifar("c.bin") | on_disk',
         "listed": 'image_list("c.csv")'}  # its rows are moved together when some are chosen
RAW = CHAIN.replace("random_resized_crop(24, 20, scale = [0.3, 1])", "random_crop(32)")
compiled("any", f"""const batch = 3
data train {{
  image = image_folder("c") | {CHAIN}
  kept = image_folder("c") | {RAW}
{chr(10).join(f"  {name} = {line} | {RAW if name == 'e' else CHAIN}" for name, line in LINES.items())}
  grey = image_folder("g") | {MASKED}
  g = idx("g.idx") | {MASKED}
  mask = image_folder("m") | {MASKED}
  m = npy("m.npy") | {MASKED}
}}

input image : u8[batch, 3, 24, 20]
input kept : u8[batch, 3, 32, 32]
{chr(10).join(f"input {name} : {'f16' if name == 'b' else 'f32' if name in 'dh' else 'u8'}[batch, 3, {'32, 32' if name == 'e' else '24, 20'}]" for name in LINES)}
input grey : u8[batch, 1, 16, 16]
input g : u8[batch, 16, 16]
input mask : u8[batch, 1, 16, 16]
input m : u8[batch, 16, 16]
param w : [] = 1
param table : [8] = 1
def far(x, y) {{ return mean(abs(f32(x) - f32(y))) }}
loss = w * mean(f32(image)) + mean(table[i32(m)]) + mean(table[i32(mask)])
{chr(10).join(f"far_{name} = far({name}, {'kept' if name == 'e' else 'image'})" for name in LINES)}
far_g = far(g, reshape(grey, [batch, 16, 16]))
far_m = far(m, reshape(mask, [batch, 16, 16]))
seen = mean(f32(image))
train {{ minimize = loss, optimizer = sgd(lr = 0), epochs = 3, metrics = [{', '.join(f'far_{name}' for name in [*LINES, 'g', 'm'])}, seen] }}
""")
expect("pictures of any source: training", 0, "", "./any", "-q", "--out", "any.out")
lines = [json.loads(line) for line in pathlib.Path("any.out/log.jsonl").read_text().splitlines()]
got = [line for line in lines if "train/seen" in line]
for name in [*LINES, "g", "m"]:
    check(f"the same pictures: {name}", len(got) == 3 and all(line[f"train/far_{name}"] == 0 for line in got), got)
check("other pictures in each epoch", len({line["train/seen"] for line in got}) == 3, got)
expect("a single thread", 0, "", "./any", "-q", "-j1", "--out", "alone.out")
check("the same with a single thread", all(record("alone.out")[key] == value for key, value in record("any.out").items() if "/" in key))

# ---- pictures of the command line, and files that are none ----

compiled("asked", """const batch = 2
data train { image, label = idx("g.idx", "l.idx") | random_crop(28) | random_flip }
input image : u8[batch, 28, 28]
input label : u8[batch]
loss = cross_entropy(linear(flatten(f32(image)), 10), label)
train { minimize = loss, optimizer = sgd(lr = 0.001), epochs = 1 }
predict { first = image[:, 0, 0] }
""")
write("l.idx", struct.pack(">4BI", 0, 0, 8, 1, COUNT) + bytes(i % 10 for i in range(COUNT)))
expect("asked: training", 0, "", "./asked", "-q", "--out", "asked.out")
child = checks.run("./asked", "predict", "--out", "asked.out", "g.idx")
firsts = [json.loads(line)["first"] for line in child.stdout.splitlines()]
check("prediction cuts the middle", firsts == [grey[2 * SIDE + 2] for grey in greys], child.stderr)
idx = pathlib.Path("g.idx").read_bytes()
for pattern, content in (("g.idx: random_crop changes pictures, u8.count, height, width.*; image is i8.12, 32, 32.", idx[:2] + b"\x09" + idx[3:]),
                         ("g.idx: has u8.12, 1024., but input image is u8.2, 28, 28.", struct.pack(">4B2I", 0, 0, 8, 2, COUNT, SIDE * SIDE) + b"".join(greys)),
                         ("image is u8.12, 0, 32.; a picture has 1 to 134217728 pixels", struct.pack(">4B3I", 0, 0, 8, 3, COUNT, 0, SIDE)),
                         ("l.idx has 12 examples, but|image has 11 examples, but|g.idx has 11 examples, but .*l.idx has 12", struct.pack(">4B3I", 0, 0, 8, 3, COUNT - 1, SIDE, SIDE) + b"".join(greys[1:]))):
    write("g.idx", content)
    expect(pattern, 1, pattern, "./asked", "-q", "--out", "wrong.out")
write("g.idx", idx)

# ---- labels as shares of classes ----

logits = [[draw.uniform(-3, 3) for _ in range(4)] for _ in range(3)]
parts = [[draw.uniform(0, 1) for _ in range(4)] for _ in range(3)]
parts = [[part / sum(row) for part in row] for row in parts]
weights = [1, 2, 0.5, 3]
write("logits.npy", npy("<f8", (3, 4), struct.pack("<12d", *sum(logits, []))))
write("parts.npy", npy("<f8", (3, 4), struct.pack("<12d", *sum(parts, []))))
compiled("parts", """const batch = 3
data predict { logits, parts = npy("logits.npy", "parts.npy") }
input logits : f64[batch, 4]
input parts : f64[batch, 4]
predict {
  plain = cross_entropy(logits, parts, reduce = false)
  heavy = cross_entropy(logits, parts, smoothing = 0.1, weights = [1.0, 2.0, 0.5, 3.0], reduce = false)
}
""")
child = checks.run("./parts", "predict")
for row, line in enumerate(child.stdout.splitlines()):
    got, total = json.loads(line), math.log(sum(math.exp(x) for x in logits[row]))
    plain = -sum(part * (x - total) for part, x in zip(parts[row], logits[row]))
    heavy = -sum(w * (0.9 * part + 0.025) * (x - total) for w, part, x in zip(weights, parts[row], logits[row]))
    check(f"cross entropy of shares, row {row}", abs(got["plain"] - plain) < 1e-12 and abs(got["heavy"] - heavy) < 1e-12, f"{got} {plain} {heavy}")
check("cross entropy of shares", len(child.stdout.splitlines()) == 3, child.stderr)

# ---- mixtures: killed, resumed and alone ----

compiled("mixed", """const batch = 4
data train { image, label = cifar("c.bin") | pad(4) | random_crop(32) | random_flip | one_hot(label) | mixup(probability = 0.5) | cutmix(alpha = 1) }
data test { image, label = cifar("c.bin") | one_hot(label) }
data predict { image = npy("c.npy") }
input image : u8[batch, 3, 32, 32]
input label : f32[batch, 10]
logits = linear(flatten(f32(image)) / 255, 10)
loss = cross_entropy(logits, label)
accuracy = mean(argmax(logits) == argmax(label))
train { minimize = loss, optimizer = sgd(lr = 0.01), epochs = 6, metrics = [accuracy] }
predict { class = argmax(logits) }
""")
expect("mixed: training", 0, "", "./mixed", "-q", "--out", "mixed.out")
expect("mixed: a part", 0, "", "./mixed", "-q", "--out", "part.out", "--epochs", "2", "-j1")
expect("mixed: resumed", 0, "", "./mixed", "-q", "--out", "part.out", "--resume")
check("the same bits", *[pathlib.Path("mixed.out/checkpoint.safetensors").read_bytes() == pathlib.Path("part.out/checkpoint.safetensors").read_bytes()])
check("evaluation has classes", record("mixed.out")["test/accuracy"] * COUNT % 1 < 1e-6, record("mixed.out"))
expect("prediction by a line without mixtures", 0, '"class":', "./mixed", "predict", "--out", "mixed.out")

# ---- several sources ----

write("x8.npy", npy("|u1", (8,), bytes(range(8))))
write("x5.npy", npy("<f8", (5,), struct.pack("<5d", *range(100, 105))))
write("x4.csv", b"200\n201\n202\n203\n")
write("n8.npy", npy("<i4", (8,), struct.pack("<8i", *range(8))))
write("n5.npy", npy("<i8", (5,), struct.pack("<5q", *range(100, 105))))
write("n4.npy", npy("<i2", (4,), struct.pack("<4h", *range(200, 204))))
ALL = 'npy("x8.npy"), npy("x5.npy") , csv("x4.csv", header = false)'
NUMBERS = 'npy("n8.npy"), npy("n5.npy") | on_disk, npy("n4.npy")'.replace(" | on_disk", "")
compiled("joined", f"""const batch = 1
data train {{ x = concat({ALL}); n = concat({NUMBERS}); order = file }}
data test {{ x = concat({ALL}) | split(0.5, 1); n = concat({NUMBERS}) | split(0.5, 1) }}
data predict {{ x = concat({ALL}) | split(0, 0.5); n = concat({NUMBERS}) | split(0, 0.5) }}
input x : f32[batch]
input n : i32[batch]
param w : [] = 0
far = mean(abs(x - f32(n)))
loss = mean(w * x)
seen = mean(x)
train {{ minimize = loss, optimizer = sgd(lr = 0), epochs = 1, metrics = [far, seen] }}
predict {{ x = x, n = n }}
""")
expect("joined: training", 0, "", "./joined", "-q", "--out", "joined.out")
everything = [*range(8), *range(100, 105), *range(200, 204)]
got = record("joined.out")
check("rows of all sources", got["train/far"] == 0 and abs(got["train/seen"] - sum(everything) / 17) < 1e-4, got)
child = checks.run("./joined", "predict", "--out", "joined.out")
half = [json.loads(line) for line in child.stdout.splitlines()]
check("a part of each source", [row["x"] for row in half] == [row["n"] for row in half] and
      [sum(low <= row["x"] < low + 100 for row in half) for low in (0, 100, 200)] in ([4, 3, 2], [4, 2, 2]), f"{half} {child.stderr}")
rest = sorted(set(everything) - {int(row["x"]) for row in half})
check("and the rest of it", abs(got["test/seen"] - sum(rest) / len(rest)) < 1e-4 and got["test/far"] == 0, got)
child = checks.run("./joined", "predict", "--out", "joined.out", "x5.npy", "n5.npy")
check("files go to the first source", len({json.loads(line)["x"] for line in child.stdout.splitlines()} & set(range(100, 105))) == 3, child.stdout + child.stderr)
write("n5.npy", npy("<i8", (4,), struct.pack("<4q", *range(4))))
expect("sources of other lengths", 1, "source 2 of x has 5 rows, but of n it has 4|has 17 examples", "./joined", "-q", "--out", "wrong.out")

compiled("weighed", """const batch = 8
data train { image, label = mix(image_folder("c"), npy("c.npy", "l.npy") | BOTH, weights = [3, 1]) }
input image : u8[batch, 3, 24, 24]
input label : i32[batch]
param w : [3] = 0
share = mean(f32(label == 2))
logits = reshape(mean(f32(image)), [1, 1]) * w
loss = mean(logits)
seen = mean(f32(image))
train { minimize = loss, optimizer = sgd(lr = 0.01), epochs = 20, metrics = [share, seen] }
""".replace(" | BOTH, weights = [3, 1])", ", weights = [3, 1]) | random_crop(24) | random_flip"))
write("l.npy", npy("|u1", (COUNT,), bytes([2] * COUNT)))
expect("weighed: training", 0, "", "./weighed", "-q", "--out", "weighed.out")
lines = [json.loads(line) for line in pathlib.Path("weighed.out/log.jsonl").read_text().splitlines()]
shares = [line["train/share"] for line in lines if "train/share" in line]
check("of each source so many", len(shares) == 20 and all(abs(share - 0.25) < 1e-6 for share in shares), shares)
expect("weighed: a part", 0, "", "./weighed", "-q", "--out", "half.out", "--epochs", "7", "-j1")
expect("weighed: resumed", 0, "", "./weighed", "-q", "--out", "half.out", "--resume")
check("the same bits of all sources", pathlib.Path("weighed.out/checkpoint.safetensors").read_bytes() == pathlib.Path("half.out/checkpoint.safetensors").read_bytes())

# ---- programs that are refused ----

TOP = "const batch = 2\ninput x : u8[batch, 8, 8]\ninput y : f32[batch]\nloss = mean(linear(flatten(f32(x)), 1)) + mean(y)\n" \
      "train { minimize = loss, optimizer = sgd(lr = 0.1), epochs = 1 }\n"
for line, pattern in (
        ('x, y = npy("x.npy", "y.npy") | random_crop(9)', "the stages make pictures of 9 x 9; the input 'x' is u8[2, 8, 8]"),
        ('x, y = npy("x.npy", "y.npy") | random_flip | standardize(x)', "'standardize' does not act on pictures, as 'x' is"),
        ('y, x = npy("y.npy", "x.npy") | random_flip', "pictures are [batch, height, width], or [batch, channels, height, width]"),
        ('x = raw("x.bin", type = "i16") | random_flip; y = npy("y.npy")', "pictures are bytes; 'raw' gives i16 here"),
        ('x = npy("x.npy") | random_flip | window(4); y = npy("y.npy")', "'window' does not act on pictures, as 'x' is"),
        ('x, y = cifar("x.bin") | random_flip', "the stages make pictures of 32 x 32; the input 'x' is u8[2, 8, 8]"),
        ('x, y = concat(npy("x.npy", "y.npy"))', "'concat' joins two sources or more"),
        ('x, y = concat(npy("x.npy", "y.npy"), npy("a.npy", "b.npy"), weights = [1, 2])', "'concat' takes sources"),
        ('x, y = mix(npy("x.npy", "y.npy"), npy("a.npy", "b.npy"))', "'mix' needs the argument 'weights'"),
        ('x, y = mix(npy("x.npy", "y.npy"), npy("a.npy", "b.npy"), weights = [1])', "'weights' is a list of numbers above 0, one for each of the 2 sources"),
        ('x, y = mix(npy("x.npy", "y.npy"), npy("a.npy", "b.npy"), weights = [1, 0])', "'weights' is a list of numbers above 0"),
        ('x = concat(npy("x.npy"), npy("z.npy")); y = npy("y.npy")', "'x' and 'y' are matched row by row, so they must be of as many sources, joined alike"),
        ('x, y = concat(npy("x.npy", "y.npy"), csv("a.csv")) | random_flip', "'random_flip' acts on pictures, which 'csv' does not give"),
        ('x, y = concat(npy("x.npy", "y.npy"), concat(npy("x.npy", "y.npy"), npy("a.npy", "b.npy")))', "unknown source 'concat'"),
        ('x, y = concat(npy("x.npy", "y.npy"), npy("a.npy", "b.npy")); order = streams', "order = streams goes through one source, 'concat' has several"),
        ('y, x = csv("x.csv") | random_flip', "'random_flip' acts on pictures, which 'csv' does not give")):
    checks.refused(nnc, TOP, line, pattern)
summary()
