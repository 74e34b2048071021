"""Columns of text tables by the names of training's header: in files of one pattern, in other sets and in prediction, in any
order; what is said of columns that are missing or more; and tables and checkpoints without names.

    columns.py BUILD FOLDER    FOLDER is empty; prints what failed and "N passed, N failed"

The judge is the same data in training's order of columns."""
import json, os, pathlib, re, struct, sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import checks  # noqa: E402
from checks import check, expect, summary, write  # noqa: E402

build = pathlib.Path(sys.argv[1]).resolve()
os.chdir(sys.argv[2])
nnc = build / "bin/nnc"
NAMES = ["size", "age", "rooms", "kind"]
KINDS = ["flat", "house", "tent"]
rows = [{"size": i % 7 * 100, "age": i % 5, "rooms": i % 3 + 10, "kind": KINDS[(i % 7 + i % 5) % 3], "id": i} for i in range(60)]


def table(name, names, of=rows, header=True):
    lines = [names] * header + [[str(row[key]) for key in names] for row in of]
    write(name, "".join(",".join(line) + "\n" for line in lines).encode())


def compiled(name, train, test, results="kind = softmax(y), kind_guess = argmax(y)"):
    write(f"{name}.net", f"""const batch = 10
data train {{ x, kind = csv({train}) | standardize(x) | categories(kind) }}
data test {{ x, kind = csv({test}) }}
input x : f32[batch, 3]
input kind : i32[batch]
y = linear(x, 3)
loss = cross_entropy(y, kind)
train {{ minimize = loss, optimizer = sgd(lr = 0.1), epochs = 3 }}
predict {{ {results} }}
""".encode())
    expect(f"{name}.net compiles", 0, "", nnc, f"{name}.net", "--cflags=-O0", "--units=1", "-o", name)


def trained(program, *words, out=None):
    out = out or f"{program}.out"
    expect(f"{program} trains", 0, "", f"./{program}", "-q", "--out", out, *words)
    return {key: value for key, value in json.loads(pathlib.Path(out, "log.jsonl").read_text().splitlines()[-1]).items() if "/" in key}


def answers(program, out, *files, said=""):
    child = checks.run(f"./{program}", "predict", "--out", out, *files)
    check(f"{program} predicts {files}", child.returncode == 0 and (re.search(said, child.stderr) if said else not child.stderr), child.stderr)
    return child.stdout


# ---- files of a pattern, and another set ----

backwards = NAMES[::-1]
for folder, order in ("like", NAMES), ("turned", ["rooms", "kind", "age", "size"]):
    os.makedirs(folder)
    table(f"{folder}/part-1.csv", NAMES, rows[:25])
    table(f"{folder}/part-2.csv", order, rows[25:])
    table(f"{folder}/test.csv", NAMES if folder == "like" else backwards)
compiled("homes", '"part-*.csv"', '"test.csv"')
wanted = trained("homes", "--data", "like")
check("a pattern's other file and a test set in another order", trained("homes", "--data", "turned", out="turned.out") == wanted, wanted)
table("turned/part-2.csv", ["rooms", "kind", "size"], rows[25:])
expect("a pattern's other file without a column", 1, r'turned/part-2.csv has no column "age", which turned/part-1.csv has for x$', "./homes", "-q", "--data", "turned", "--out", "x")
table("turned/part-2.csv", [*NAMES, "id"], rows[25:])
expect("a pattern's other file with a column more", 1, r'turned/part-2.csv has the column "id", which no field of turned/part-1.csv takes; columns = ', "./homes", "-q", "--data", "turned", "--out", "x")
table("turned/part-2.csv", NAMES, rows[25:])
table("turned/test.csv", NAMES[:3])
expect("a test set without the label", 1, r'turned/test.csv has no column "kind", which training has for kind$', "./homes", "-q", "--data", "turned", "--out", "x")
table("turned/test.csv", ["id", *NAMES])
expect("a test set with a column more", 1, r'turned/test.csv has the column "id", which no field of training takes', "./homes", "-q", "--data", "turned", "--out", "x")
table("turned/part-1.csv", backwards, rows[:25])
table("turned/test.csv", NAMES)
expect("a run goes on by the names of its checkpoint", 0, "", "./homes", "-q", "--data", "turned", "--resume", "--epochs", "6", "--out", "turned.out")
check("and is the same", trained("homes", "--data", "like", "--epochs", "6", out="six.out") ==
      {key: value for key, value in json.loads(pathlib.Path("turned.out/log.jsonl").read_text().splitlines()[-1]).items() if "/" in key})

# ---- prediction ----

table("like.csv", NAMES, rows[:9])
wanted = answers("homes", "homes.out", "like.csv")
for name, names in ("backwards", backwards), ("unlabelled", NAMES[:3]), ("turned", ["age", "rooms", "size"]):
    table(f"{name}.csv", names, rows[:9])
    check(f"{name}: the same answers", answers("homes", "homes.out", f"{name}.csv") == wanted)
table("more.csv", ["id", *backwards], rows[:9])
check("more: the same answers", answers("homes", "homes.out", "more.csv", said=r'warning: more.csv: column "id" is left out: no field of training takes it$') == wanted)
stream = checks.run("bash", "-c", "cat more.csv | ./homes predict --out homes.out --batch 1 -")
check("rows as they come: one warning", stream.stdout == wanted and stream.stderr.count("warning") == 1, stream.stderr)
table("lacks.csv", NAMES[1:], rows[:9])
expect("a column is missing, with the label there", 1, r'lacks.csv has no column "size", which training has for x$', "./homes", "predict", "--out", "homes.out", "lacks.csv")
write("near.csv", b"size,agee,rooms\n1,2,3\n")
expect("a column of another name", 1, r'near.csv has no column "age", which training has for x; did you mean "agee"\?', "./homes", "predict", "--out", "homes.out", "near.csv")
write("bare.csv", b"1,2,3\n4,5,6\n")
expect("no header", 1, "bare.csv:1:1: a header is expected, but this line has numbers; put the line of names of training's file before it$", "./homes", "predict", "--out", "homes.out", "bare.csv")
compiled("truth", '"part-*.csv"', '"test.csv"', "guess = argmax(y), kind = kind")
expect("a label that a result needs", 1, r'unlabelled.csv has no column "kind", which training has for kind$', "./truth", "predict", "--init", "homes.out/checkpoint.safetensors", "unlabelled.csv")
expect("the checkpoint's names", 0, r"fitted x.columns: size age rooms\n.*fitted kind.columns: kind\n", "./homes", "info", "--out", "homes.out")
compiled("three", '"part-*.csv"', '"test.csv"', "kind = softmax(y)")
top = checks.run("./three", "predict", "--out", "homes.out", "--top", "1", "like.csv").stdout
check("names of columns are none of classes", re.match(r'\{"kind":\[?\{?.*(flat|house|tent)', top), top)
compiled("other", '"part-*.csv"', '"test.csv"', "scores = softmax(y)")
top = checks.run("./other", "predict", "--out", "homes.out", "--top", "1", "like.csv").stdout
check("though they are as many", re.search("flat|house|tent", top), top)

# ---- a label of numbers is no feature ----

write("sold.csv", b"size,age,price\n" + b"".join(b"%d,%d,%d\n" % (i % 9, i % 4, 3 * (i % 9) + i % 4) for i in range(40)))
write("old.csv", b"age,price\n1,5\n2,300\n")
write("sold.net", b"""const batch = 10
data train { x, price = csv("sold.csv") }
input x : f32[batch, 2]
input price : f32[batch]
y = linear(x, 1)[:, 0]
loss = mse(y, price)
train { minimize = loss, optimizer = sgd(lr = 0.01), epochs = 1 }
predict { price = y }
""")
expect("sold.net compiles", 0, "", nnc, "sold.net", "--cflags=-O0", "--units=1", "-o", "sold")
trained("sold")
expect("a label in the place of a feature", 1, r'old.csv has no column "size", which training has for x$', "./sold", "predict", "old.csv", "--out", "sold.out")

# ---- without names: by position ----

text = bytearray(pathlib.Path("homes.out/checkpoint.safetensors").read_bytes())
length, = struct.unpack("<Q", text[:8])
header = json.loads(text[8:8 + length])
header["__metadata__"]["fitted"] = json.dumps([value for value in json.loads(header["__metadata__"]["fitted"]) if not value["name"].endswith(".columns")])
new = json.dumps(header).encode()
write("older.safetensors", struct.pack("<Q", len(new)) + new + text[8 + length:])
for name in "like", "unlabelled":
    child = checks.run("./homes", "predict", "--init", "older.safetensors", f"{name}.csv")
    check(f"an older checkpoint: {name}", child.stdout == wanted, child.stderr)
expect("an older checkpoint: a number of columns that is none", 1, r"more.csv has 5 columns; predict takes 3 \(x\), or 4 \(x, kind\)$", "./homes", "predict", "--init", "older.safetensors", "more.csv")
expect("an older checkpoint: the label is needed", 1, r"unlabelled.csv has 3 columns; predict takes 4 \(x, kind\)$", "./truth", "predict", "--init", "older.safetensors", "unlabelled.csv")
for name in "like", "backwards":
    table(f"{name}.bare.csv", NAMES if name == "like" else backwards[1:] + backwards[:1], header=False)
compiled("bare", '"like.bare.csv", header = false', '"like.bare.csv", header = false')
trained("bare")
check("tables without header are read by position", answers("bare", "bare.out", "like.bare.csv") != answers("bare", "bare.out", "backwards.bare.csv"))
expect("a row of text that comes later is no header", 1, r"standard input:2:1: expected a number, found 'a'; text needs the stage categories\(x\)",
       "bash", "-c", "printf '1,2,3\na,b,c\n' | ./bare predict --out bare.out --batch 1 -")
expect("and have no names", 0, r"(?s)\A((?!columns:).)*\Z", "./bare", "info", "--out", "bare.out")

# ---- names that training's columns state are those of a table that states none ----

table("chosen.csv", ["id", *backwards])
table("plain.csv", NAMES)
compiled("chosen", '"chosen.csv", columns = [["size", "age", "rooms"], "kind"]', '"plain.csv"')
first = trained("chosen")
table("plain.csv", backwards)
check("stated names", trained("chosen") == first, first)

# ---- columns that the program counts, in a file that predict is given ----

table("two.csv", ["age", "kind"], rows[:9])
table("strange.csv", NAMES, rows[:9])
write("strange.csv", pathlib.Path("strange.csv").read_bytes().replace(b"size,age,rooms", b"a,b,c"))
compiled("counted", '"like/test.csv", columns = [[0..3], "kind"]', '"like/test.csv", columns = [[0..3], -1]')
trained("counted")
wanted = answers("counted", "counted.out", "like.csv")
for name in "backwards", "more":
    check(f"{name}: counted columns go by training's names", answers("counted", "counted.out", f"{name}.csv") == wanted)
expect("a counted column is missing", 1, r'lacks.csv has no column "size", which training has for x; if another column is meant, rename it in the header$', "./counted", "predict", "--out", "counted.out", "lacks.csv")
expect("two are", 1, r'two.csv has no columns "size", "rooms", which training has for x; if other columns are meant, rename them', "./counted", "predict", "--out", "counted.out", "two.csv")
expect("or has another name", 1, r'near.csv has no column "age", which training has for x; if "agee" is meant, rename it', "./counted", "predict", "--out", "counted.out", "near.csv")
check("no name is known: by position", answers("counted", "counted.out", "strange.csv") == wanted)
summary()
