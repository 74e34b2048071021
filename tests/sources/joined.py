"""Stages that learn, choose by groups, balance and weigh on several sources joined: what they learn is of the rows of
all of them.

    joined.py BUILD FOLDER      FOLDER is empty; prints what failed and "N passed, N failed"

The judge computes means, deviations, medians, classes and hashes of the rows that the program says it has chosen."""
import json, os, pathlib, random, statistics, struct, sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import checks  # noqa: E402
from checks import check, expect, summary, write  # noqa: E402
from files import npy  # noqa: E402

build = pathlib.Path(sys.argv[1]).resolve()
os.chdir(sys.argv[2])
nnc = build / "bin/nnc"
draw = random.Random(29)


def compiled(name, text):
    write(f"{name}.net", text.encode())
    expect(f"{name}.net compiles", 0, "", nnc, f"{name}.net", "--float=f64", "--cflags=-O0", "--units=1", "-o", name)


def records(out):
    return [json.loads(line) for line in pathlib.Path(out, "log.jsonl").read_text().splitlines()]


def saved(out):
    return pathlib.Path(out, "checkpoint.safetensors").read_bytes()


def predicted(program, out, *files):
    child = checks.run(f"./{program}", "predict", "--out", out, *files)
    check(f"{program} predicts", child.returncode == 0, child.stderr)
    return [json.loads(line) for line in child.stdout.splitlines()]


# ---- learnt over all rows of all sources: tables of 30 and 17 rows, whose patients, kinds and gaps differ ----

rows = [[i, draw.choice((None, draw.uniform(-5, 5), draw.uniform(1e3, 2e3))), draw.gauss(7, 3), draw.choice(("cat", "dog", "emu") if i < 30 else ("ant", "dog", "yak")),
         f"patient {draw.randrange(9)}", draw.choice(("u", "v", "", "wörd"))] for i in range(47)]
fields = ("id", "gap", "far", "kind", "who", "text")
for name, part in (("a.csv", rows[:30]), ("b.csv", rows[30:])):
    write(name, "".join(",".join("" if value is None else str(value) for value in row) + "\n" for row in part).encode())
BOTH = 'concat(csv("a.csv", header = false, missing = [""]), csv("b.csv", header = false, missing = [""]))'
LINE = "id, gap, far, kind, who, text = "
LEARNT = '| impute(gap, with = "median") | standardize(gap, far) | categories(kind, unknown = true) | hash(who, text, buckets = 11)'
BODY = """input id : i32[batch]
input gap : f32[batch]
input far : f32[batch]
input kind : i32[batch]
input who : i32[batch]
input text : i32[batch]
param w : [] = 0
loss = mean(w * (gap + far)) + mean(f32(id)) * w + 0 * mean(f32(kind + who + text)) * w
ids = mean(f32(id))
train { minimize = loss, optimizer = sgd(lr = 0), epochs = 1, metrics = [ids] }
predict { id = id, gap = gap, far = far, kind = kind, who = who, text = text }
"""
PART = "| split(0.1, 0.6, seed = 4, group = who)"
for name, asked in (("learnt", ""), ("chosen", PART)):
    compiled(name, f"""const batch = 1
data train {{ {LINE}{BOTH} {PART} {LEARNT}; order = file }}
data rest {{ {LINE}{BOTH} | split(0.6, 1, seed = 4, group = who) }}
data predict {{ {LINE}{BOTH} {asked} }}
{BODY}""")
expect("learnt: training", 0, "", "./learnt", "-q", "--out", "learnt.out")
chosen = [row["id"] for row in predicted("chosen", "learnt.out")]
everything = predicted("learnt", "learnt.out")
check("rows of both sources are chosen, in their order", chosen == sorted(chosen) and chosen[0] < 30 <= chosen[-1] and 0 < len(chosen) < 47, chosen)
whose = {rows[i][4] for i in chosen}
check("a group is in one part, of whatever source its rows are", chosen == [row[0] for row in rows if row[4] in whose], chosen)
middle = statistics.median(rows[i][1] for i in chosen if rows[i][1] is not None)
kinds = {rows[i][3] for i in chosen}


def score(i, column, value=lambda row, column: middle if row[column] is None else row[column]):
    values = [value(rows[k], column) for k in chosen]
    return (value(rows[i], column) - statistics.fmean(values)) / statistics.pstdev(values)


def hashed(text):
    state = 0xcbf29ce484222325
    for byte in text.encode():
        state = (state ^ byte) * 0x100000001b3 % 2**64
    return state % 11


for row in everything:
    i = row["id"]
    whole = (row["kind"], row["who"], row["text"]) == (rows[i][3] if rows[i][3] in kinds else "<unk>", hashed(rows[i][4]), hashed(rows[i][5]))
    check(f"row {i}", whole and abs(row["gap"] - score(i, 1)) < 1e-10 and abs(row["far"] - score(i, 2)) < 1e-10, f"{row} {score(i, 1)} {score(i, 2)}")
check("all rows", [row["id"] for row in everything] == list(range(47)), everything)
expect("resumed with what was learnt", 0, "", "./learnt", "-q", "--out", "learnt.out", "--resume", "--epochs", "2")
child = checks.run("./learnt", "eval", "--out", "learnt.out", "rest")
check("another set takes what was learnt", child.returncode == 0, child.stderr)

# ---- sources of several types; a single file in prediction has the scores of all ----

write("bytes.npy", npy("|u1", (9, 2), bytes(draw.randrange(256) for _ in range(18))))
wide = [draw.uniform(-300, 900) for _ in range(14)]
write("doubles.npy", npy("<f8", (7, 2), struct.pack("<14d", *wide)))
flat = list(pathlib.Path("bytes.npy").read_bytes()[-18:]) + wide
compiled("types", """const batch = 4
data train { x = concat(npy("bytes.npy"), npy("doubles.npy")) | standardize(x) }
input x : f32[batch, 2]
loss = mean(linear(x, 1))
train { minimize = loss, optimizer = sgd(lr = 0), epochs = 1 }
predict { x = x }
""")
expect("types: training", 0, "", "./types", "-q", "--out", "types.out")
for name, first, count in (("bytes.npy", 0, 9), ("doubles.npy", 9, 7)):
    got = [row["x"] for row in predicted("types", "types.out", name)]
    want = [[(flat[2 * r + c] - statistics.fmean(flat[c::2])) / statistics.pstdev(flat[c::2]) for c in range(2)] for r in range(first, first + count)]
    check(f"{name} in scores of both", len(got) == count and all(abs(x - y) < 1e-10 for a, b in zip(got, want) for x, y in zip(a, b)), f"{got} {want}")

# ---- a part of the rows is what a stage learns from, also where rows keep their places for mixtures ----

for name, mixed in (("plain", ""), ("mixed", "| mixup")):
    compiled(name, f"""const batch = 2
data train {{ x, kind = csv("pair.csv", header = false) | split(0, 0.5) | impute(x) | standardize(x) | categories(kind) | one_hot(kind) {mixed} }}
data predict {{ x, kind = csv("pair.csv", header = false) | split(0, 0.5) | one_hot(kind) }}
input x : f32[batch]
input kind : f32[batch, 4]
loss = mean(linear(kind, 1)) + mean(x)
train {{ minimize = loss, optimizer = sgd(lr = 0), epochs = 1 }}
predict {{ x = x, kind = kind }}
""")
write("pair.csv", "".join(f"{draw.uniform(0, 9) if i % 3 else '?'},{'abcd'[i % 4]}\n" for i in range(12)).encode())
for name in ("plain", "mixed"):
    expect(f"{name}: training", 0, "", f"./{name}", "-q", "--out", f"{name}.out")
check("what is learnt beside mixtures", predicted("plain", "plain.out") == predicted("plain", "mixed.out"))

# ---- balanced and weighed over all sources; killed, resumed and alone ----

labels = [0] * 20 + [1] * 5 + [0] * 10 + [2] * 5
write("l1.npy", npy("|u1", (25,), bytes(labels[:25])))
write("l2.npy", npy("<i4", (15,), struct.pack("<15i", *labels[25:])))
write("w1.npy", npy("<f4", (25,), struct.pack("<25f", *[1] * 20 + [3] * 5)))
write("w2.npy", npy("<f8", (15,), struct.pack("<15d", *[0] * 10 + [1] * 5)))
for name, stage in (("even", "balance(label)"), ("heavy", "weigh(weight)")):
    compiled(name, f"""const batch = 2
data train {{ label, weight = concat(npy("l1.npy", "w1.npy"), npy("l2.npy", "w2.npy")) | {stage} }}
input label : i32[batch]
input weight : f32[batch]
param w : [3] = 0
loss = mean(w[label] * weight)
ones = mean(f32(label == 1))
twos = mean(f32(label == 2))
none = mean(f32(weight == 0))
train {{ minimize = loss, optimizer = sgd(lr = 0.01), epochs = 8, metrics = [ones, twos, none] }}
""")
    expect(f"{name}: training", 0, "", f"./{name}", "-q", "--out", f"{name}.out")
    got = [{key: line[f"train/{key}"] * 40 for key in ("ones", "twos", "none")} for line in records(f"{name}.out") if "train/ones" in line]
    want = {"ones": 40 / 3, "twos": 40 / 3} if name == "even" else {"ones": 40 * 15 / 40, "twos": 40 * 5 / 40, "none": 0}
    check(f"{name}: shares", len(got) == 8 and all(abs(line[key] - share) < 1.001 for line in got for key, share in want.items()), got)
    expect(f"{name}: a part", 0, "", f"./{name}", "-q", "--out", "part.out", "--epochs", "3", "-j1")
    expect(f"{name}: resumed", 0, "", f"./{name}", "-q", "--out", "part.out", "--resume")
    check(f"{name}: the same bits", saved("part.out") == saved(f"{name}.out"))
    os.system("rm -rf part.out")

# ---- what is refused ----

write("w2.npy", npy("<f8", (15,), struct.pack("<15d", *[-1] * 15)))
expect("a weight of the second source", 1, "weigh.weight.: a weight is 0 or more, and row 25 has -1", "./heavy", "-q", "--out", "wrong.out")
write("b.csv", b"1,2,3,cat,,u\n")
expect("an empty text is a group", 0, "", "./learnt", "-q", "--out", "empty.out")
write("b.csv", b"1,2,x,cat,a,u\n")
expect("a text in a column of numbers", 1, "b.csv:1: .*'x' is no number|b.csv:1:.*x", "./learnt", "-q", "--out", "wrong.out")
TOP = "const batch = 2\ninput x : f32[batch]\ninput y : i32[batch]\nloss = mean(linear(reshape(x, [batch, 1]), 1)) + mean(f32(y))\n" \
      "train { minimize = loss, optimizer = sgd(lr = 0.1), epochs = 1 }\n"
PAIR = 'npy("x.npy", "y.npy"), npy("a.npy", "b.npy")'
for line, pattern in (
        (f"x, y = mix({PAIR}, weights = [1, 2]) | balance(y)", "'balance' and 'mix' both say how often training reads an example"),
        (f'x, y = concat({PAIR}) | categories(y)', "'categories' acts on columns of text, which 'npy' does not give"),
        (f'x, y = concat(csv("x.csv"), npy("a.npy", "b.npy")) | categories(y)', "'categories' acts on columns of text, which 'npy' does not give"),
        (f"x, y = concat({PAIR}) | on_disk | balance(y)", "'on_disk' leaves it in its file"),
        (f"x, y = concat({PAIR}) | on_disk | standardize(x)", "'on_disk' leaves in their file"),
        (f"x, y = concat({PAIR}) | standardize(y)", "standard scores need a float type"),
        (f'x, y = concat({PAIR}) | split(0, 0.5, group = y) }}\ndata test {{ x, y = npy("x.npy", "y.npy") | split(0.5, 1, group = y)',
         "have parts of different permutations of one source")):
    checks.refused(nnc, TOP, line, pattern)
summary()
