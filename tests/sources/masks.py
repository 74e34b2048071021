"""Masks that go with the pictures of another line (`with`): pictures and masks whose pixels tell where they were, after
stages of all kinds; masks that are a function of their pictures while a network is trained, from sources of all kinds, on
any number of threads, after kills; masks of another size or number.

    masks.py BUILD FOLDER     FOLDER is empty; prints what failed and "N passed, N failed" """
import base64, io, json, math, os, pathlib, random, re, shutil, signal, struct, subprocess, sys, tarfile, zipfile, zlib

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import checks, files  # noqa: E402
from checks import answer as run, check, summary, write  # noqa: E402

build = pathlib.Path(sys.argv[1]).resolve()
os.chdir(sys.argv[2])
draw = random.Random(16)


def compile(name, text):
    return checks.compiled(build / "bin/nnc", name, text)


def folder(name):
    os.makedirs(f"{name}/all", exist_ok=True)
    return f"{name}/all/"


# ---- where the pixels of a picture and its mask were ----

SIZES = [(90, 110), (120, 70), (100, 100), (64, 96)]  # height, width
places = []
for i in range(8):
    height, width = SIZES[i % 4]
    pixels = bytes(v for y in range(height) for x in range(width) for v in (2 * x, 2 * y, 200))
    for kind in "pictures", "masks":
        write(f"{folder(kind)}{i}.png", files.png(height, width, 3, pixels))
    places.append((height, width))

# Stages of the picture, the size that they make, and how often they interpolate: where a mask takes the nearest pixel.
CHAINS = [("resize(48, 64)", 48, 64, 1), ("resize(60) | center_crop(48, 56)", 48, 56, 1),
          ("random_crop(60, 56) | random_flip", 60, 56, 0),
          ("pad(9, 4, value = 7) | random_crop(70, 66) | random_flip | color_jitter(hue = 0)", 70, 66, 0),
          ("random_crop(64, 60) | random_affine(translate = 0.3, value = 7) | random_flip | pad(3, value = 7)", 70, 66, 0),
          ("random_resized_crop(56, 48, scale = [0.3, 1])", 56, 48, 1),
          ("random_flip | resize(64, 80) | random_affine(degrees = 40, translate = 0.2, scale = [0.7, 1.3], shear = 15, value = 7)", 64, 80, 2),
          ("random_flip(1) | pad(5, value = 7) | random_crop(64) | random_affine(degrees = 180, value = 7) | random_flip(1)", 64, 64, 1),
          ("resize(80) | random_flip | random_resized_crop(64, scale = [0.5, 1]) | random_erase(1, scale = [0.01, 0.02], value = 7)", 64, 64, 2)]
for number, (stages, height, width, mixes) in enumerate(CHAINS):
    name = f"chain{number}"
    if not compile(name, f"""const batch = 2
data predict {{
  mask  = image_folder("masks") | with(image, value = 99)
  image = image_folder("pictures") | {stages}
}}
input image : u8[batch, 3, {height}, {width}]
input mask  : u8[batch, 3, {height}, {width}]
predict {{ image = image, mask = mask }}
"""):
        continue
    status, text, message = run(f"./{name}", "predict")
    rows = [json.loads(line) for line in text.splitlines()]
    check(f"{stages}: predicts", status == 0 and len(rows) == len(places), message)
    outside = close = 0
    for i, (row, (high, wide)) in enumerate(zip(rows, places)):
        image, mask = row["image"], row["mask"]
        pairs = [(tuple(image[c][y][x] for c in range(3)), tuple(mask[c][y][x] for c in range(3)))
                 for y in range(height) for x in range(width)]
        seen = [(p, m) for p, m in pairs if m[2] == 200]  # of the mask; the rest is the value
        check(f"{stages}: pixels of picture {i} are whole or the value",
              all(m in ((99, 99, 99), (m[0] // 2 * 2, m[1] // 2 * 2, 200)) for _, m in pairs), str(pairs[:3]))
        outside += len(pairs) - len(seen)
        if not mixes:  # but for what lies outside the same bytes
            check(f"{stages}: picture {i}", all(p == m or (m == (99, 99, 99) and p == (7, 7, 7)) for p, m in pairs))
            continue
        # Of the picture's pixels that are whole, the mean of those around a place is the place.
        inner = [(p, m) for p, m in seen if p[2] == 200 and 8 <= p[0] <= 2 * wide - 10 and 8 <= p[1] <= 2 * high - 10]
        off = max((max(abs(p[0] - m[0]), abs(p[1] - m[1])) for p, m in inner), default=99)
        check(f"{stages}: picture {i} lies where its mask does", off <= 2 * mixes and len(inner) > height * width / 8, f"{off} away, {len(inner)} pixels")
        means = [sum(p[c] - m[c] for p, m in inner) / max(1, len(inner)) for c in (0, 1)]
        check(f"{stages}: picture {i} in the mean", max(map(abs, means)) < 0.45, f"{means} away")
        gone = [p for p, m in pairs if m == (99, 99, 99)]
        check(f"{stages}: outside of picture {i}", all(p[2] < 200 for p in gone))
    check(f"{stages}: something lies outside", (outside > 0) == ("value = 7)" in stages.replace("random_erase(1, scale = [0.01, 0.02], value = 7)", "")), f"{outside} pixels")
    check(f"{stages}: the same with one thread", text == run(f"./{name}", "predict", "-j", "1")[1])
shutil.rmtree("pictures"), shutil.rmtree("masks")

# ---- names of pictures and masks ----

if compile("named", """const batch = 1
data predict { image = image_folder("photos"), mask = image_folder("signs") | with(image) }
input image : u8[batch, 1, 2, 2]
input mask  : u8[batch, 1, 2, 2]
predict { image = image, mask = mask }
"""):
    tiny = files.png(2, 2, 1, bytes(4))
    for text, pictures, masks, told in [
            ("the same names", ["a", "b", "c"], ["a", "b", "c"], ""),
            ("a suffix", ["img_1", "img_2"], ["1_mask", "2_mask"], ""),
            ("names that have nothing in common", ["x", "y"], ["1", "2"], ""),
            ("a mask that is missing, and a picture", ["a", "b", "c", "e"], ["a", "c", "d", "e"], "c.png .*/b.png.* 2 of 4 pairs"),
            ("no row agrees", ["1", "2", "3"], ["2_mask", "3_mask", "4_mask"], "2_mask.png .*/1.png.* 3 of 3 pairs")]:
        for where, names in ("photos", pictures), ("signs", masks):
            shutil.rmtree(where, ignore_errors=True)
            for name in names:
                write(f"{folder(where)}{name}.png", tiny)
        status, _, message = run("./named", "predict")
        found = re.findall("warning: .*", message)
        check(f"masks and pictures, {text}", status == 0 and len(found) == bool(told) and
              (not told or re.search("signs/all/.* is the mask of photos/all/.*", found[0]) and re.search(told, found[0])), message)

# ---- masks with a palette ----

for text, palette, value, told in [("colours", bytes([0, 0, 0, 128, 0, 0]), 38, 1), ("greys", bytes([0, 0, 0, 1, 1, 1]), 1, 0)]:
    for where in "photos", "signs":
        shutil.rmtree(where, ignore_errors=True)
        for name in "ab":
            write(f"{folder(where)}{name}.png", tiny if where == "photos" else files.palette_png([[0, 1], [1, 0]], 8, palette))
    status, out, message = run("./named", "predict")
    check(f"a palette of {text}: values", status == 0 and json.loads(out.splitlines()[0])["mask"] == [[[0, value], [value, 0]]], out)
    found = re.findall("warning: .*", message)
    check(f"a palette of {text}: warnings", len(found) == told and all("signs/all/" in line and 'image_folder(..., palette = "index")' in line for line in found), message)

# ---- indices of palettes ----

def colors(count):
    return bytes(draw.randrange(256) for _ in range(3 * count))


def other_png(bits, kind, values):
    """4 x 9 pixels of another kind."""
    head = struct.pack(">IIBBBBB", 9, 4, bits, kind, 0, 0, 0)
    step = len(values) // 4
    rows = b"".join(b"\0" + values[y * step:(y + 1) * step] for y in range(4))
    return b"\x89PNG\r\n\x1a\n" + b"".join(files.chunk(*part) for part in [
        (b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")])


if compile("indexed", """const batch = 2
data predict { mask = files(palette = "index") }
input mask : u8[batch, 1, 4, 9]
predict { mask = mask[:, 0] }
"""):
    cases, rows = [], {}
    for bits in 1, 2, 4, 8:
        values = [[draw.randrange(1 << bits) for _ in range(9)] for _ in range(4)]
        all_colors = colors(1 << bits)
        for kind, options in ("plain", {}), ("interlaced", {"interlaced": True}), ("clear", {"transparency": bytes([0, 90])}):
            name = f"{kind}-{bits}.png"
            write(name, files.palette_png(values, bits, all_colors, **options))
            cases.append((name, values))
    ground = [[0, 1, 2, 255, 255, 20, 0, 0, 20]] * 4
    write("short.png", files.palette_png(ground, 8, colors(21)))  # 255 has no colour
    write("grey.png", files.png(4, 9, 1, bytes(v for row in ground for v in row)))
    cases += [("short.png", ground), ("grey.png", ground)]
    status, out, message = run("./indexed", "predict", *[name for name, _ in cases])
    found = [json.loads(line) for line in out.splitlines()]
    check("indices: predicts", status == 0 and len(found) == len(cases), message)
    for (name, values), line in zip(cases, found):
        check(f"indices of {name}", line["mask"] == values, f"{line['mask']} instead of {values}")
    check("indices: no warning", "warning" not in message, message)
    jpeg = next(line.split()[1] for line in open(pathlib.Path(checks.__file__).parent.parent / "fuzz/pictures.txt") if line.startswith("jpeg"))
    write("photo.jpg", base64.b64decode(jpeg))
    write("colours.png", files.png(4, 9, 3, bytes(108)))
    write("deep.png", other_png(16, 0, bytes(72)))
    write("veiled.png", other_png(8, 4, bytes(72)))
    for name, what in ("photo.jpg", "a JPEG file"), ("colours.png", "a PNG file of colours"), ("deep.png", "a PNG file of 16 bits"), ("veiled.png", "a PNG file with transparency"):
        status, out, message = run("./indexed", "predict", name)
        check(f"indices of {what}", status == 1 and f'{name} is {what}: palette = \\"index\\" reads PNG files with a palette, or of greys' in out + message, out + message)

if compile("nearest", """const batch = 2
data predict { mask = files(palette = "index") | resize(11, 7) }
input mask : u8[batch, 1, 11, 7]
predict { mask = mask[:, 0] }
"""):
    write("three.png", files.palette_png([[[0, 9, 255][draw.randrange(3)] for _ in range(17)] for _ in range(15)], 8, colors(256)))
    status, out, message = run("./nearest", "predict", "three.png")
    values = {v for row in json.loads(out)["mask"] for v in row} if status == 0 else message
    check("indices are not mixed, without `with`", values == {0, 9, 255}, str(values))

# ---- while training: a mask is its picture divided by 32 ----

HEIGHT, WIDTH, COUNT = 30, 34, 14
planes = [bytes(draw.randrange(32, 256) for _ in range(HEIGHT * WIDTH)) for _ in range(COUNT)]
masks = [bytes(v // 32 for v in plane) for plane in planes]
pngs = [files.png(HEIGHT, WIDTH, 3, bytes(v for v in plane for _ in range(3))) for plane in planes]
mask_pngs = [files.png(HEIGHT, WIDTH, 1, mask) for mask in masks]
for i in range(COUNT):
    write(f"{folder('pictures')}{i:02}.png", pngs[i])
    write(f"{folder('masks')}{i:02}.png", mask_pngs[i])
write("list.csv", ("picture,mask\n" + "".join(f"pictures/all/{i:02}.png,masks/all/{i:02}.png\n" for i in range(COUNT))).encode())
for name, content in ("pictures", planes), ("masks", masks):
    write(f"{name}.npy", files.npy("|u1", (COUNT, HEIGHT, WIDTH), b"".join(content)))
stored = io.BytesIO()
with zipfile.ZipFile(stored, "w") as archive:
    archive.write("pictures.npy"), archive.write("masks.npy")
write("both.npz", stored.getvalue())
for name, content in ("pictures", pngs), ("masks", mask_pngs):
    with tarfile.open(f"{name}.tar", "w") as tar:
        for i, picture in enumerate(content):
            info = tarfile.TarInfo(f"{i:02}.png")
            info.size = len(picture)
            tar.addfile(info, io.BytesIO(picture))
TRAIN = """const batch = 4
data train {
  image = PICTURES | pad(3) | random_crop(21, 18) | random_flip | random_affine(translate = 0.2) | random_erase(1, value = 1)
  mask  = MASKS | with(image, value = 255)
}
data still {
  mask  = MASKS | with(image)
  image = PICTURES | center_crop(21, 18)
}
input image : u8[batch, PLANES21, 18]
input mask  : u8[batch, OTHERS21, 18]
first  = reshape(image, [batch, -1])[:, :378]
other  = reshape(mask, [batch, -1])
wanted = f32(first == 0) * 255 + f32(first > 0) * f32(i32(first) // 32)
misplaced = mean(sum(abs(wanted - f32(other)) * f32(first != 1), axis = -1))
outside = mean(f32(other == 255))
logits = linear(f32(first)[:, :, none] / 255, 8)
loss = cross_entropy(reshape(logits, [-1, 8]), reshape(other, [-1]), ignore = 255)
train { minimize = loss, optimizer = sgd(lr = 0.01), epochs = 8, metrics = [misplaced, outside] }
predict { logits = logits }
"""
LIST = 'image_list("list.csv", columns = ["{}"])'
SOURCES = {"folders": ('image_folder("pictures")', 'image_folder("masks")', "3, ", "1, "),
           "list": (LIST.format("picture"), LIST.format("mask"), "3, ", ""),
           "parts": (LIST.format("picture") + " | split(0.2, 1)", LIST.format("mask") + " | split(0.2, 1)", "3, ", "1, "),
           "arrays": ('npz("both.npz", arrays = ["pictures"])', 'npz("both.npz", arrays = ["masks"])', "", ""),
           "disk": ('npy("pictures.npy") | on_disk', 'npy("masks.npy") | on_disk', "", ""),
           "shard": ('shards("pictures.tar", members = ["png"])', 'shards("masks.tar", members = ["png"])', "3, ", "1, "),
           "other": ('image_list("list.csv", columns = ["picture"]) | split(0, 0.8) | shuffle(3)', 'npy("masks.npy") | split(0, 0.8) | shuffle(3)', "3, ", ""),
           "joint": ('concat(image_folder("pictures"), npy("colours.npy"))', 'concat(npy("masks.npy"), image_folder("masks"))', "3, ", "1, ")}
write("colours.npy", files.npy("|u1", (COUNT, 3, HEIGHT, WIDTH), b"".join(plane * 3 for plane in planes)))


def logged(out):
    lines = pathlib.Path(out, "log.jsonl").read_text()
    return re.sub(r'"(seconds|data_wait)":[0-9.]+,|,"command":\[[^]]*\]', "", lines)


def bits(out):
    return pathlib.Path(out, "checkpoint.safetensors").read_bytes()


def program(pictures, masks, planes, others):
    return TRAIN.replace("PICTURES", pictures).replace("MASKS", masks).replace("PLANES", planes).replace("OTHERS", others)


for name, source in SOURCES.items():
    if name == "joint":
        write("masks.npy", files.npy("|u1", (COUNT, 1, HEIGHT, WIDTH), b"".join(masks)))
    if not compile(name, program(*source)):
        continue
    for threads in 1, 2, 3:
        status, _, message = run(f"./{name}", "-q", "-j", str(threads), "-o", f"{name}.{threads}")
        check(f"{name} trains with {threads}", status == 0, message)
    lines = [json.loads(line) for line in open(f"{name}.1/log.jsonl")]
    check(f"{name}: masks are of their pictures", all(line["train/misplaced"] == 0 == line["still/misplaced"] for line in lines), str(lines))
    check(f"{name}: some lies outside", all(0 < line["train/outside"] < 0.5 and line["still/outside"] == 0 for line in lines), str(lines))
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
for other in "list", "shard":
    check(f"folders and {other} give the same", logged("folders.1") == logged(f"{other}.1"))
check("arrays in memory and on disk, too", logged("arrays.1") == logged("disk.1"))
cached = run("./folders", "-q", "--cache", "1M", "-o", "cached")
check("with a cache, too", cached[0] == 0 and bits("cached") == bits("folders.1"), cached[2])

# ---- the same masks as indices of a palette ----

all_colors = colors(8)
index_pngs = [files.palette_png([mask[y * WIDTH:(y + 1) * WIDTH] for y in range(HEIGHT)], 4, all_colors) for mask in masks]
for i, picture in enumerate(index_pngs):
    write(f"{folder('indices')}{i:02}.png", picture)
write("indices.csv", ("picture,mask\n" + "".join(f"pictures/all/{i:02}.png,indices/all/{i:02}.png\n" for i in range(COUNT))).encode())
with tarfile.open("indices.tar", "w") as tar:
    for i, picture in enumerate(index_pngs):
        info = tarfile.TarInfo(f"{i:02}.png")
        info.size = len(picture)
        tar.addfile(info, io.BytesIO(picture))
for name, source in {"folder": 'image_folder("indices", palette = "index")',
                     "list": 'image_list("indices.csv", columns = ["mask"], palette = "index")',
                     "shards": 'shards("indices.tar", members = ["png"], palette = "index")',
                     "joint": 'concat(image_folder("indices", palette = "index"), image_folder("masks"))'}.items():
    pictures = 'image_folder("pictures")'
    if name == "joint":
        pictures = f"concat({pictures}, {pictures})"
    others = "" if name == "list" else "1, "  # masks may lack an axis of channels
    if not compile(f"index_{name}", program(pictures, source, "3, ", others)):
        continue
    status, _, message = run(f"./index_{name}", "-q", "-o", f"index_{name}.1")
    check(f"indices in a {name} train", status == 0 and "warning" not in message, message)
    lines = [json.loads(line) for line in open(f"index_{name}.1/log.jsonl")]
    check(f"indices in a {name} are of their pictures", all(line["train/misplaced"] == 0 == line["still/misplaced"] for line in lines), str(lines))
    if name != "joint":
        check(f"indices in a {name}: the log of grey masks", logged(f"index_{name}.1") == logged("folders.1"))
compile("index_colors", program('image_folder("pictures")', 'image_folder("indices", palette = "color")', "3, ", "1, ")
        .replace("reshape(other, [-1])", "reshape(i32(other) // 32, [-1])"))
status, _, message = run("./index_colors", "-q", "--cache", "1M,in=indices.cache", "-o", "colors")
check("colours that are meant are not warned of", status == 0 and "warning" not in message, message)
for name in "folder", "list", "shards":
    for number, cache in enumerate(["1M", "1M,encoded", "1M,in=indices.cache", "1M,in=indices.cache"]):
        status, _, message = run(f"./index_{name}", "-q", "--cache", cache, "-o", f"index_{name}.cache{number}")
        check(f"indices in a {name} with --cache {cache}", status == 0 and bits(f"index_{name}.cache{number}") == bits(f"index_{name}.1"), message)

# ---- masks that do not fit ----

write("masks/all/03.png", files.png(HEIGHT, WIDTH - 1, 1, bytes((WIDTH - 1) * HEIGHT)))
told = r"masks/all/03[.]png is 30 x 33, but pictures/all/03[.]png is 30 x 34: a mask has the height and width of its picture"
for options in [], ["--cache", "1M"]:
    status, _, message = run("./folders", "-q", *options, "-o", "wrong.run")
    check("a mask of another size stops the run", status == 1 and re.search(told, message), message)
compile("skips", program('image_folder("pictures")', 'image_folder("masks", on_error = "skip")', "3, ", "1, "))
status, _, message = run("./skips", "-o", "skips.run")
lines = [json.loads(line) for line in open("skips.run/log.jsonl")]
check("or it is skipped, with its name", status == 0 and re.search("warning: .*" + told + "; it is skipped", message), message)
check("with its picture", all(line["train/misplaced"] == 0 == line["still/misplaced"] for line in lines), str(lines))
counts = lines[-1].get("skipped", {})
check("and counted", [counts.get(part, {}).get("count") for part in ("train", "still")] == [1, 1], str(lines))
check("the log has both names", "masks/all/03.png is 30 x 33, but pictures/all/03.png" in pathlib.Path("skips.run/log.jsonl").read_text())
write("masks/all/03.png", mask_pngs[3])
write("pictures/all/05.png", b"no picture")
compile("lacks", program('image_folder("pictures", on_error = "skip")', 'image_folder("masks")', "3, ", "1, "))
status, _, message = run("./lacks", "-o", "lacks.run")
lines = [json.loads(line) for line in open("lacks.run/log.jsonl")]
check("a picture that is skipped takes its mask along", status == 0 and "pictures/all/05.png: neither" in message and
      all(line["train/misplaced"] == 0 == line["still/misplaced"] for line in lines), message)
write("pictures/all/05.png", pngs[5])

write("small.npy", files.npy("|u1", (COUNT, HEIGHT, WIDTH + 2), bytes(COUNT * HEIGHT * (WIDTH + 2))))
compile("small", program('npy("pictures.npy")', 'npy("small.npy")', "", ""))
status, _, message = run("./small", "-q", "-o", "small.run")
check("an array of masks of another size", status == 1 and "small.npy is 30 x 36, but pictures.npy is 30 x 34: a mask has" in message, message)
compile("mixed", program('image_folder("pictures")', 'npy("small.npy")', "3, ", ""))
status, _, message = run("./mixed", "-q", "-o", "mixed.run")
check("an array beside files", status == 1 and re.search(r"small[.]npy is 30 x 36, but pictures/all/\d+[.]png is 30 x 34", message), message)
os.remove("masks/all/13.png")
status, _, message = run("./folders", "-q", "-o", "fewer.run")
check("fewer masks than pictures", status == 1 and "image has 14 examples, but mask has 13: pictures/all/13.png is the first without another" in message, message)
os.remove("masks/all/04.png")
status, _, message = run("./folders", "-q", "-o", "fewer.run")
check("which mask is missing", status == 1 and "image has 14 examples, but mask has 12: files are paired in the order of their names, and "
      "pictures/all/04.png and masks/all/05.png are the first that are not called alike" in message, message)
for name in os.listdir("masks/all"):
    os.rename(f"masks/all/{name}", f"masks/all/other{name[1]}.{name}")
status, _, message = run("./folders", "-q", "-o", "fewer.run")
check("names that have nothing in common tell nothing", status == 1 and message.strip().endswith("but mask has 12"), message)
summary()
