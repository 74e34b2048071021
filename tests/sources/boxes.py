"""Boxes that move with their pictures, against what is to be seen of these: pictures whose pixels tell where they were,
whatever was drawn; rectangles whose pixels are counted while a network is trained; formulas of stages that do not draw.

    boxes.py BUILD FOLDER     FOLDER is empty; prints what failed and "N passed, N failed" """
import io, json, os, pathlib, random, re, signal, struct, subprocess, sys, tarfile, zipfile

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import checks, files  # noqa: E402
from checks import answer as run, check, summary, write  # noqa: E402

build = pathlib.Path(sys.argv[1]).resolve()
os.chdir(sys.argv[2])
draw = random.Random(21)


def compile(name, text):
    return checks.compiled(build / "bin/nnc", name, text)


# ---- where the pixels of a picture went ----

SIZES = [(90, 110), (120, 70), (100, 100), (64, 96)]  # height, width
GROUP = 3  # boxes of a picture
pictures = []
table = ["file," + ",".join(f"{edge}{i}" for i in range(GROUP) for edge in ("l", "t", "r", "b")) + "," +
         ",".join(f"k{i}" for i in range(GROUP))]
for i in range(16):
    height, width = SIZES[i % 4]
    write(f"{i}.png", files.png(height, width, 3, bytes(v for y in range(height) for x in range(width) for v in (2 * x, 2 * y, 200))))
    boxes = []
    for _ in range(GROUP - (i % 4 == 3)):
        left, top = draw.uniform(0, width - 8), draw.uniform(0, height - 8)
        boxes.append([left, top, draw.uniform(left + 4, width), draw.uniform(top + 4, height)])
    while len(boxes) < GROUP:
        boxes.append([0, 0, 0, 0])
    kinds = [draw.randrange(5) if any(box) else -1 for box in boxes]
    pictures.append((height, width, boxes, kinds))
    table.append(f"{i}.png," + ",".join(repr(v) for box in boxes for v in box) + "," + ",".join(map(str, kinds)))
write("list.csv", "\n".join(table).encode())


def program(stages, height, width, least):
    columns = [[f"{edge}{i}" for i in range(GROUP) for edge in ("l", "t", "r", "b")], [f"k{i}" for i in range(GROUP)]]
    return f"""const batch = 2
data predict {{ image, boxes, kinds = image_list("list.csv", columns = ["file", {json.dumps(columns[0])}, {json.dumps(columns[1])}])
                                   | {stages} | boxes(boxes, classes = kinds, least = {least}) }}
input image : u8[batch, 3, {height}, {width}]
input boxes : f64[batch, {GROUP}, 4]
input kinds : i64[batch, {GROUP}]
predict {{ image = image, boxes = boxes, kinds = kinds }}
"""


def solve(rows, values):
    """The least squares' c of sum(row[k] * c[k]) = value, for three unknowns."""
    m = [[sum(r[a] * r[b] for r in rows) for b in range(3)] + [sum(r[a] * v for r, v in zip(rows, values))] for a in range(3)]
    for k in range(3):
        pivot = max(range(k, 3), key=lambda a: abs(m[a][k]))
        m[k], m[pivot] = m[pivot], m[k]
        for a in range(3):
            if a != k:
                factor = m[a][k] / m[k][k]
                m[a] = [x - factor * y for x, y in zip(m[a], m[k])]
    return [m[k][3] / m[k][k] for k in range(3)]


def forward(image, height, width, picture):
    """Where a point of the picture is seen: fitted to the pixels that are wholly of it, without those near edges, where
    scaling mixes fewer."""
    rows, across, down = [], [], []
    for y in range(4, height - 4):
        for x in range(4, width - 4):
            red, green, blue = (image[c][y][x] for c in range(3))
            if blue == 200 and 16 <= red <= 2 * picture[1] - 18 and 16 <= green <= 2 * picture[0] - 18:
                rows.append((x + 0.5, y + 0.5, 1))
                across.append(red / 2 + 0.5)
                down.append(green / 2 + 0.5)
    assert len(rows) > 60, "too little is seen"
    (a, b, e), (c, d, f) = solve(rows, across), solve(rows, down)
    det = a * d - b * c
    return lambda x, y: ((d * (x - e) - b * (y - f)) / det, (a * (y - f) - c * (x - e)) / det)


def moved(box, place, height, width):
    """The box as it is to be seen, and which share of it is."""
    corners = [place(x, y) for x in box[::2] for y in box[1::2]]
    whole = [min(x for x, _ in corners), min(y for _, y in corners), max(x for x, _ in corners), max(y for _, y in corners)]
    seen = [max(whole[0], 0), max(whole[1], 0), min(whole[2], width), min(whole[3], height)]
    if seen[2] <= seen[0] or seen[3] <= seen[1]:
        return [0] * 4, 0
    return seen, (seen[2] - seen[0]) * (seen[3] - seen[1]) / ((whole[2] - whole[0]) * (whole[3] - whole[1]))


CHAINS = [("resize(48, 64)", 48, 64, 0), ("resize(60) | center_crop(48, 56)", 48, 56, 0.5), ("random_crop(60, 56) | random_flip", 60, 56, 0.3),
          ("random_resized_crop(56, 48, scale = [0.3, 1])", 56, 48, 0), ("resize(64, 64) | random_flip(1) | pad(5, 9)", 74, 82, 0),
          ("random_flip | resize(64, 80) | random_affine(degrees = 40, translate = 0.2, scale = [0.7, 1.3], shear = 15)", 64, 80, 0.4),
          ("random_flip(1) | random_affine(degrees = 180) | random_flip(1) | pad(7) | random_crop(66, 60) | resize(50, 70)", 50, 70, 0.2),
          ("resize(80) | random_affine(translate = 0.3) | pad(4, 2) | random_flip | random_resized_crop(64, scale = [0.5, 1]) | "
           "random_erase(1, scale = [0.01, 0.02], value = 9) | color_jitter(hue = 0)", 64, 64, 0)]
for number, (stages, height, width, least) in enumerate(CHAINS):
    name = f"chain{number}"
    if not compile(name, program(stages, height, width, least)):
        continue
    status, text, message = run(f"./{name}", "predict")
    rows = [json.loads(line) for line in text.splitlines()]
    check(f"{stages}: predicts", status == 0 and len(rows) == len(pictures), message)
    counts = [0, 0]
    for i, (row, (rows_, columns, boxes, kinds)) in enumerate(zip(rows, pictures)):
        place = forward(row["image"], height, width, (rows_, columns))
        for box, kind, got, its in zip(boxes, kinds, row["boxes"], row["kinds"]):
            wanted, share = moved(box, place, height, width) if any(box) else ([0] * 4, 0)
            if abs(share - least) < 0.02 and any(box):
                continue  # what is fitted does not tell
            if share <= least:
                wanted, kind = [0] * 4, -1
            counts[kind >= 0] += 1
            off = max(abs(a - b) for a, b in zip(wanted, got))
            check(f"{stages}: picture {i}", its == kind and off < 0.3, f"{got} of {its} instead of {wanted} of {kind}")
    check(f"{stages}: boxes were seen and gone", counts[1] > 12 and counts[0] >= 4, str(counts))
    again = run(f"./{name}", "predict", "-j", "1")[1]
    check(f"{stages}: the same with one thread", text == again)

# Stages that do not draw, by their formulas.
row_of = {}
for number in (0, 1, 4):
    row_of[number] = [json.loads(line) for line in run(f"./chain{number}", "predict")[1].splitlines()]
for i, (height, width, boxes, kinds) in enumerate(pictures):
    short, long = min(height, width), max(height, width)
    other = (long * 60 + short // 2) // short
    tall, wide = (60, other) if height <= width else (other, 60)
    maps = {0: lambda x, y: (x * 64 / width, y * 48 / height),
            1: lambda x, y: (x * wide / width - (wide - 56) // 2, y * tall / height - (tall - 48) // 2),
            4: lambda x, y: (64 - x * 64 / width + 9, y * 64 / height + 5)}
    sizes = {0: (48, 64, 0), 1: (48, 56, 0.5), 4: (74, 82, 0)}
    for number, place in maps.items():
        for box, got in zip(boxes, row_of[number][i]["boxes"]):
            wanted, share = moved(box, place, *sizes[number][:2]) if any(box) else ([0] * 4, 0)
            if share <= sizes[number][2]:
                wanted = [0] * 4
            check(f"by formula {number}, picture {i}", all(abs(a - b) < 1e-9 for a, b in zip(wanted, got)), f"{got} instead of {wanted}")

# ---- while training: the white pixels are those of the box ----

HEIGHT, WIDTH = 30, 34
whites = []
for i in range(12):
    left, top = draw.randrange(WIDTH - 4), draw.randrange(HEIGHT - 4)
    right, bottom = draw.randrange(left + 2, WIDTH), draw.randrange(top + 2, HEIGHT)
    inside = lambda x, y: left <= x < right and top <= y < bottom  # noqa: E731
    whites.append(([left, top, right, bottom], i % 3, [255 if inside(x, y) else 0 for y in range(HEIGHT) for x in range(WIDTH)]))
    write(f"white{i}.png", files.png(HEIGHT, WIDTH, 3, bytes(v for v in whites[-1][2] for _ in range(3))))
write("white.csv", ("file,l,t,r,b,kind,word\n" + "".join(f"white{i}.png,{','.join(map(str, box))},{kind},k{kind}\n"
                                                    for i, (box, kind, _) in enumerate(whites))).encode())
stored = io.BytesIO()
with zipfile.ZipFile(stored, "w") as archive:
    archive.writestr("image.npy", files.npy("|u1", (12, HEIGHT, WIDTH), b"".join(bytes(w[2]) for w in whites)))
    archive.writestr("box.npy", files.npy("<f4", (12, 4), b"".join(struct.pack("<4f", *w[0]) for w in whites)))
    archive.writestr("kind.npy", files.npy("<i4", (12,), b"".join(struct.pack("<i", w[1]) for w in whites)))
write("white.npz", stored.getvalue())
with tarfile.open("white.tar", "w") as tar:
    for i, (box, kind, _) in enumerate(whites):
        for end, content in (("png", pathlib.Path(f"white{i}.png").read_bytes()), ("cls", b"%d" % kind),
                             ("box.npy", files.npy("<f4", (4,), struct.pack("<4f", *box)))):
            info = tarfile.TarInfo(f"{i:02}.{end}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
TRAIN = """const batch = 4
data train { image, box, kind = SOURCE | pad(3) | random_crop(21, 18) | random_flip | random_erase(1, value = 90) | boxes(box, classes = kind) }
data still { image, box, kind = SOURCE | center_crop(21, 18) | boxes(box, classes = kind) }
input image : u8[batch, PLANES21, 18]
input box   : f32[batch, 4]
input kind  : i32[batch]
first = f32(reshape(image, [batch, -1])[:, :378])
known = reshape(f32(first != 90), [batch, 21, 18])
white = reshape(f32(first > 127), [batch, 21, 18])
x     = f32(arange(18)) + 0.5
y     = f32(arange(21))[:, none] + 0.5
there = f32(x > box[:, 0:1, none]) * f32(x < box[:, 2:3, none]) * f32(y > box[:, 1:2, none]) * f32(y < box[:, 3:4, none])
misplaced = mean(sum(abs(white - there) * known, axis = [1, 2]))
seen = mean(f32(kind >= 0))
unseen = mean(f32(box[:, 2] == 0) * f32(kind >= 0) + f32(box[:, 2] > 0) * f32(kind < 0))
logits = linear(concat(reshape(white, [batch, -1]), box, axis = 1), 3)
loss = cross_entropy(logits, kind, ignore = -1)
train { minimize = loss, optimizer = sgd(lr = 0.01), epochs = 8, metrics = [misplaced, seen, unseen] }
predict { logits = logits }
"""
SOURCES = {"list": ('image_list("white.csv", columns = ["file", ["l", "t", "r", "b"], "kind"])', "3, "),
           "text": ('image_list("white.csv", columns = ["file", ["l", "t", "r", "b"], "word"]) | categories(kind)', "3, "),
           "arrays": ('npz("white.npz", arrays = ["image", "box", "kind"])', ""),
           "disk": ('npz("white.npz", arrays = ["image", "box", "kind"]) | on_disk', ""),
           "shard": ('shards("white.tar", members = ["png", "box.npy", "cls"])', "3, "),
           "both": ('concat(image_list("white.csv", columns = ["file", ["l", "t", "r", "b"], "kind"]), '
                    'shards("white.tar", members = ["png", "box.npy", "cls"]))', "3, ")}


def logged(out):
    lines = pathlib.Path(out, "log.jsonl").read_text()
    return re.sub(r'"(seconds|data_wait)":[0-9.]+,|,"command":\[[^]]*\]', "", lines)


def bits(out):
    return pathlib.Path(out, "checkpoint.safetensors").read_bytes()


for name, (source, planes) in SOURCES.items():
    compile(name, TRAIN.replace("SOURCE", source).replace("PLANES", planes))
    for threads in 1, 2, 3:
        status, _, message = run(f"./{name}", "-q", "-j", str(threads), "-o", f"{name}.{threads}")
        check(f"{name} trains with {threads}", status == 0, message)
    lines = [json.loads(line) for line in open(f"{name}.1/log.jsonl")]
    for part in "train", "still":
        check(f"{name}: boxes of {part} are the white pixels", all(line[f"{part}/misplaced"] == 0 and line[f"{part}/unseen"] == 0 for line in lines), str(lines))
        check(f"{name}: some of {part} are seen", all(0 < line[f"{part}/seen"] <= 1 for line in lines), str(lines))
    check(f"{name}: other parts in each epoch", len({line["train/loss"] for line in lines}) > 6)
    check(f"{name}: the bits of one thread", bits(f"{name}.1") == bits(f"{name}.2") == bits(f"{name}.3"))
    kills, delay = 0, 0.004
    while kills < 40:
        resume = ["--resume"] if os.path.exists(f"{name}.parts/checkpoint.safetensors") else []
        child = subprocess.Popen([f"./{name}", "-q", "-j", str(1 + kills % 2), "--save-every", "1", "-o", f"{name}.parts", *resume],
                                 stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            child.communicate(timeout=delay if kills < 4 else 60)
            break
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            child.communicate()
            kills, delay = kills + 1, delay * 1.5
    check(f"{name}: killed {kills} times, the same bits", kills > 0 and bits(f"{name}.parts") == bits(f"{name}.1"))
    check(f"{name}: and the same log", logged(f"{name}.parts") == logged(f"{name}.1"))
check("arrays in memory and on disk give the same", logged("arrays.1") == logged("disk.1"))
check("files in a list and in an archive, too", logged("list.1") == logged("shard.1"))
cached = run("./list", "-q", "--cache", "1M", "-o", "cached")
check("classes by their names, too", logged("text.1") == logged("list.1"))
check("with a cache, too", cached[0] == 0 and bits("cached") == bits("list.1"), cached[2])

# A picture that cannot be read is left out with its boxes.
write("white3.png", b"no picture")
compile("skips", TRAIN.replace("SOURCE", SOURCES["list"][0].replace('"kind"])', '"kind"], on_error = "skip")')).replace("PLANES", "3, "))
status, _, message = run("./skips", "-o", "skips.run")
lines = [json.loads(line) for line in open("skips.run/log.jsonl")]
check("another takes its place", status == 0 and "white3.png" in message and all(line["train/misplaced"] == 0 == line["still/misplaced"] for line in lines), message)
status, _, message = run("./list", "-q", "-o", "stops")
check("or the run stops", status == 1 and "white3.png: neither a JPEG nor a PNG file" in message, message)
summary()
