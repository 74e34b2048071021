"""Files that a pattern names are read as one source: sorted, each once, with the rows of all of them; and files with odd
names, and files that are gone.

    patterns.py BUILD FOLDER    FOLDER is empty; prints what failed and "N passed, N failed"

The judge is Python's glob, and the rows that were written."""
import glob, io, json, os, pathlib, struct, sys, tarfile, zipfile

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import checks  # noqa: E402
from checks import check, expect, summary, write  # noqa: E402
from files import npy, png  # noqa: E402

build = pathlib.Path(sys.argv[1]).resolve()
os.chdir(sys.argv[2])
nnc = build / "bin/nnc"


def compiled(name, text):
    write(f"{name}.net", text.encode())
    expect(f"{name}.net compiles", 0, "", nnc, f"{name}.net", "--cflags=-O0", "--units=1", "-o", name)


def rows_of(program, *words):
    child = checks.run(f"./{program}", "predict", *words)
    check(f"{program} predicts", child.returncode == 0, child.stderr)
    return [json.loads(line) for line in child.stdout.splitlines()]


# ---- which files: the pattern is an option's text, so that one program tries all of them ----

ODD = ("new\nline.npy", "blank in it.npy", "größe.npy", "x" * 240 + ".npy", "[1].npy", "a\\b.npy", "-.npy", "q?.npy", "*.npy", "😀.npy")
TREE = ["n/1.npy", "n/10.npy", "n/2.npy", "n/é.npy", "n/.hidden.npy", "n/x.npz", "t/a/1.npy", "t/a/b/2.npy", "t/3.npy", "t/.no/4.npy", *(f"o/{name}" for name in ODD)]
for i, name in enumerate(TREE):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    write(name, npy("<i4", (2,), struct.pack("<2i", 2 * i, 2 * i + 1)))
os.makedirs("n/4.npy")
os.symlink("..", "t/a/loop")
os.symlink("1.npy", "n/5.npy")
PATTERNS = ("n/*.npy", "n/.h*.npy", "*/1*.npy", "t/**/**/?.npy", "o/*", "o/[1]*.npy", "o/?.npy", "./n//1?.npy")
template = """const batch = 1
data predict { x = npy("PATTERN") }
input x : i32[batch]
predict { x = x }
"""


def judged(pattern):
    # Python's glob takes [1] for a class of characters, follows links in **, and gives folders.
    names = glob.glob(pattern.replace("[", "[[]"), recursive=True)
    names = {name for name in names if os.path.isfile(name) and "loop" not in name}
    return [value for name in sorted(names, key=os.fsencode) for value in (2 * TREE.index(os.path.normpath(name.replace("5.npy", "1.npy"))), 2 * TREE.index(os.path.normpath(name.replace("5.npy", "1.npy"))) + 1)]


for pattern in PATTERNS:
    compiled("p", template.replace("PATTERN", pattern))
    got = [row["x"] for row in rows_of("p")]
    check(f"the files of {pattern}", got == judged(pattern) and len(got) >= 2, f"{got} {judged(pattern)}")
compiled("p", template.replace("PATTERN", os.path.abspath("n/*.npy")))
check("a path from the root", [row["x"] for row in rows_of("p")] == judged("n/*.npy"))
compiled("p", template.replace("PATTERN", "m/*.npy"))
expect("none matches", 1, 'p.net:2:20: no file matches "m/\\*.npy"; --data says where the data is', "./p", "predict")
expect("none matches elsewhere", 1, 'no file matches "m/\\*.npy" in n;', "./p", "predict", "--data", "n")
check("files of the command line go before", [row["x"] for row in rows_of("p", "n/10.npy")] == [2, 3])
for name in ODD:
    check(f"the file {name[:20]!r} by its name", [row["x"] for row in rows_of("p", f"o/{name}")] == [2 * TREE.index(f"o/{name}"), 2 * TREE.index(f"o/{name}") + 1])
os.makedirs("m")
for kind, content in (("of another type", npy("<f8", (1,), struct.pack("<d", 1))), ("of another shape", npy("<i4", (1, 2), bytes(8)))):
    write("m/1.npy", npy("<i4", (1,), bytes(4)))
    write("m/2.npy", content)
    expect(f"a file {kind}", 1, "m/2.npy(: has .*, but input x is|.* has .*, but m/1.npy has .*files of one pattern)", "./p", "predict")
os.remove("m/2.npy")
os.symlink("gone", "m/2.npy")
check("a link to nowhere is no file", [row["x"] for row in rows_of("p")] == [0])
os.remove("m/2.npy")
os.mkfifo("m/2.npy")
expect("a pipe", 1, "m/2.npy: it is a pipe", "./p", "predict")

# ---- all sources: what several files hold is what one holds ----

os.makedirs("all")
values = list(range(40))
cuts = [(0, 13), (13, 14), (14, 40)]
words = ["emu", "ant", "dog", "cat"]
records = [bytes([i]) + bytes((i + k) % 256 for k in range(3072)) for i in values]
for part, (first, end) in enumerate(cuts):
    mine = values[first:end]
    write(f"all/{part}.csv", ("id,word\n" if part % 2 else "word,id\n").encode() + b"".join(f"{i},{words[i % 4]}\n".encode() if part % 2 else f"{words[i % 4]},{i}\n".encode() for i in mine))
    write(f"all/{part}.npy", npy("<i4", (len(mine),), struct.pack(f"<{len(mine)}i", *mine)))
    write(f"all/{part}.raw", struct.pack(f"<{len(mine)}i", *mine))
    write(f"all/{part}.idx", struct.pack(">4Bi", 0, 0, 12, 1, len(mine)) + struct.pack(f">{len(mine)}i", *mine))
    write(f"all/{part}.bin", b"".join(records[first:end]))
    with zipfile.ZipFile(f"all/{part}.npz", "w", (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)[part % 2]) as archive:
        archive.writestr("z.npy", npy("<i4", (len(mine),), struct.pack(f"<{len(mine)}i", *mine)))
    with tarfile.open(f"all/{part}.tar", "w") as archive:
        for i in mine:
            info = tarfile.TarInfo(f"{i:03}.cls")
            info.size = len(str(i))
            archive.addfile(info, io.BytesIO(str(i).encode()))
compiled("every", """const batch = 4
data train {
  a, w = csv("all/*.csv", columns = ["id", "word"]) | split(0, 0.5, seed = 3) | categories(w)
  b = npy("all/*.npy") | split(0, 0.5, seed = 3)
  c = raw("all/?.raw") | split(0, 0.5, seed = 3)
  d = idx("all/*.idx") | split(0, 0.5, seed = 3)
  z = npz("all/*.npz") | split(0, 0.5, seed = 3)
  _p, f = cifar("all/*.bin") | split(0, 0.5, seed = 3)
  g = npy("all/*.npy") | on_disk | split(0, 0.5, seed = 3)
  h = shards("all/*.tar", members = ["cls"]) | split(0, 0.5, seed = 3)
  f2 = cifar("all/?.bin") | on_disk | split(0, 0.5, seed = 3)
}
data predict {
  a, w = csv("all/*.csv", columns = ["id", "word"])
  b = npy("all/*.npy"); c = raw("all/?.raw"); d = idx("all/*.idx"); z = npz("all/*.npz"); _p, f = cifar("all/*.bin")
  g = npy("all/*.npy") | on_disk; h = shards("all/*.tar", members = ["cls"]); f2 = cifar("all/?.bin") | on_disk
}
input a : i32[batch]
input w : i32[batch]
input b : i32[batch]
input c : i32[batch]
input d : i32[batch]
input z : i32[batch]
input f : i32[batch]
input g : i32[batch]
input h : i32[batch]
input f2 : i32[batch, 3, 32, 32]
param p : [] = 0
loss = p * mean(f32(a + w))
far = sum(abs(f32(b - a)) + abs(f32(c - a)) + abs(f32(d - a)) + abs(f32(z - a)) + abs(f32(f - a)) + abs(f32(g - a)) + abs(f32(h - a)) + abs(f32(f2[:, 0, 0, 0] - a)))
train { minimize = loss, optimizer = sgd(lr = 0), epochs = 2, metrics = [far] }
predict { a = a, w = w, b = b, c = c, d = d, z = z, f = f, g = g, h = h, k = f2[:, 0, 0, 0] }
""")
expect("all sources: training", 0, "", "./every", "-q", "--out", "every.out")
log = json.loads(pathlib.Path("every.out/log.jsonl").read_text().splitlines()[-1])
check("all sources alike", log["train/far"] == 0, log)
got = rows_of("every", "--out", "every.out")
check("the rows of all files", got == [dict(a=i, w=words[i % 4], **{key: i for key in "bcdzfghk"}) for i in values], got)
write("all/1.csv", b"id,word\n3,cat\n4,yak\n")
expect("the file and line of a word", 1, "all/1.csv:3: w: 'yak' does not occur in the training set", "./every", "predict", "--out", "every.out")
write("all/1.csv", b"id,word\n3,cat\nx,cat\n")
expect("the file and line of a cell", 1, "all/1.csv:3:1: expected a number", "./every", "-q", "--out", "wrong.out")
write("all/1.csv", b"id,sort\n3,cat\n")
expect("the file without a column", 1, "all/1.csv has no column .word.", "./every", "-q", "--out", "wrong.out")

# ---- texts are one text; pictures of several lists ----

os.makedirs("texts")
for name, text in (("a.txt", "the cat "), ("b.txt", "sat"), ("c.txt", " on it. Zäh")):
    write(f"texts/{name}", text.encode())
compiled("joint", """const batch = 1
data train { x = text("texts/*.txt", length = 5, stride = 5) }
data predict { x = text("texts/*.txt", length = 5, stride = 5) }
input x : i32[batch, 5]
param p : [] = 0
loss = p * mean(f32(x))
train { minimize = loss, optimizer = sgd(lr = 0), epochs = 1 }
predict { x = x }
""")
expect("texts: training", 0, "", "./joint", "-q", "--out", "joint.out")
got, whole = rows_of("joint", "--out", "joint.out"), "the cat sat on it. Zäh"
letters = sorted(set(whole))
check("texts are one", [row["x"] for row in got] in ([[letters.index(c) for c in whole[i:i + 5]] for i in (0, 5, 10, 15)], [list(whole[i:i + 5]) for i in (0, 5, 10, 15)], [whole[i:i + 5] for i in (0, 5, 10, 15)]), got)
os.makedirs("pictures")
for i in range(4):
    write(f"pictures/{i}.png", png(2, 2, 1, bytes([40 * i] * 4)))
write("list-1.csv", b"file,n\n0.png,0\n1.png,40\n")
write("list-2.csv", b"n,file\n80,2.png\n120,3.png\n")
compiled("lists", """const batch = 2
data train { x, n = image_list("list-*.csv", columns = ["file", "n"], folder = "pictures") }
input x : u8[batch, 1, 2, 2]
input n : i32[batch]
param p : [] = 0
loss = p * mean(f32(x))
far = mean(abs(f32(x[:, 0, 0, 0]) - f32(n)))
train { minimize = loss, optimizer = sgd(lr = 0), epochs = 2, metrics = [far] }
""")
expect("lists: training", 0, "", "./lists", "-q", "--out", "lists.out")
log = json.loads(pathlib.Path("lists.out/log.jsonl").read_text().splitlines()[-1])
check("each picture has its row", log["train/far"] == 0, log)
os.remove("pictures/3.png")
expect("a picture that is gone has its line", 1, "list-2.csv:3: cannot read pictures/3.png", "./lists", "-q", "--out", "wrong.out")

TOP = "const batch = 2\ninput x : i32[batch, 4]\nloss = mean(linear(f32(x), 1))\ntrain { minimize = loss, optimizer = sgd(lr = 0.1), epochs = 1 }\n"
for line, pattern in (('x = token_stream("*.bin", length = 4)', "'token_stream' takes no pattern"), ('_p, x = image_folder("real?")', "'image_folder' takes no pattern")):
    checks.refused(nnc, TOP, line, pattern)
summary()
