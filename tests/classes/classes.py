"""What eval tells of classes, against plain Python, and against what scikit-learn says of the same scores.

    classes.py BUILD FOLDER EXPECTED.json       EXPECTED: made by make.py, of the scores of `draw` below

The programs have the scores as inputs, so all that eval computes of them is known beforehand. The sets have 103
examples, in batches of 10."""
import json, math, os, pty, random, re, struct, subprocess, sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from checks import check, run, summary  # noqa: E402

EXAMPLES = 103


def draw(name):
    """Scores and labels of each case, the same in make.py: numbers that f32 holds."""
    random_ = random.Random(name)
    classes = {"three": 3, "ties": 4, "missing": 5}.get(name, 2)
    labels = [random_.randrange(classes if name != "missing" else classes - 1) for _ in range(EXAMPLES)]
    step = 4 if name == "ties" else 256

    def score(is_true):
        return round((random_.gauss(0, 1.5) + 1.5 * is_true) * step) / step

    if name in ("binary", "column"):
        return [score(label) - 0.75 for label in labels], labels
    return [[score(label == c) for c in range(classes)] for label in labels], labels


CASES = ("three", "ties", "missing", "binary", "column")


def on_terminal(*words):
    """What a command prints on a terminal."""
    parent, child = pty.openpty()
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=child, stderr=subprocess.PIPE)
    os.close(child)
    text = b""
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(parent)
    return process.wait(), text.decode().replace("\r\n", "\n") + process.stderr.read().decode()


def write_npy(path, kind, shape, values):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}{'f' if kind == '<f4' else 'i'}", *values))


def make_program(name, loss, scores_type, label_type, extra="", keys="seed = 0", sets=("train", "test")):
    with open(f"{name}.net", "w") as file:
        file.write("const batch = 10\n" + "".join(f'data {one} {{ s, y = npy("{name}.s.npy", "{name}.y.npy") }}\n'
                                                  for one in sets) + f"""input s : f32{scores_type}
input y : {label_type}
param w = 1.0
z = s * w
{extra}
loss = {loss}
train {{ minimize = loss, optimizer = sgd(lr = 0), epochs = 1, {keys} }}
""")
    child = run(nnc, f"{name}.net", "--cflags=-O0", "--units=1", "-o", name)
    check(f"{name} compiles", child.returncode == 0, child.stderr)
    child = run(f"./{name}", "--quiet")
    check(f"{name} runs", child.returncode == 0, child.stderr)


def write_data(name, scores, labels, float_labels=False):
    flat = [number for row in scores for number in (row if isinstance(row, list) else [row])]
    row = (len(scores), len(scores[0])) if isinstance(scores[0], list) else f"({len(scores)},)"
    if name == "column":
        row = (len(scores), 1)
    shape = (len(scores), 1) if name == "column" else f"({len(scores)},)"
    write_npy(f"{name}.s.npy", "<f4", row, flat)
    write_npy(f"{name}.y.npy", "<f4" if float_labels else "<i4", shape, labels)


# ---- plain Python ----

def probabilities(scores):
    if not isinstance(scores, list):
        return [1 / (1 + math.exp(scores)), 1 / (1 + math.exp(-scores))]
    top = max(scores)
    parts = [math.exp(score - top) for score in scores]
    return [part / math.fsum(parts) for part in parts]  # whose order does not matter: ties stay ties


def guess_of(scores):
    return scores.index(max(scores)) if isinstance(scores, list) else int(scores > 0)


def auc(scores, truth):
    pairs = [(a > b) + (a == b) / 2 for a, is_true in zip(scores, truth) if is_true
             for b, other in zip(scores, truth) if not other]
    return sum(pairs) / len(pairs) if pairs else math.nan


def average_precision(scores, truth):
    total, recall = 0.0, 0.0
    if not any(truth):
        return math.nan
    for limit in sorted(set(scores), reverse=True):
        taken = [is_true for score, is_true in zip(scores, truth) if score >= limit]
        now = sum(taken) / sum(truth)
        total += (now - recall) * sum(taken) / len(taken)
        recall = now
    return total


def expected_of(scores, labels):
    rows = [probabilities(row) for row in scores]
    guesses = [guess_of(row) for row in scores]
    count = len(rows[0])
    share = lambda part, whole: part / whole if whole else 0.0
    result = {"confusion": [[sum(l == a and g == b for l, g in zip(labels, guesses)) for b in range(count)]
                            for a in range(count)], "per_class": []}
    for c in range(count):
        hits = sum(l == g == c for l, g in zip(labels, guesses))
        precision, recall = share(hits, guesses.count(c)), share(hits, labels.count(c))
        rank = [row[c] for row in rows] if isinstance(scores[0], list) else [s if c else -s for s in scores]
        truth = [label == c for label in labels]
        result["per_class"].append({"precision": precision, "recall": recall,
                                    "f1": share(2 * precision * recall, precision + recall),
                                    "auc": auc(rank, truth), "average_precision": average_precision(rank, truth),
                                    "support": labels.count(c)})
    wrong = [(-row[g], i) for i, (row, g, label) in enumerate(zip(rows, guesses, labels)) if g != label]
    result["wrong"] = [(i, labels[i], guesses[i], -p) for p, i in sorted(wrong)]
    return result


def close(a, b):
    if isinstance(a, str):
        a = math.nan if a == "NaN" else float(a)
    return (math.isnan(a) and math.isnan(b)) or abs(a - b) <= 1e-9


def compare(name, found, wanted, names=None):
    names = names or list(range(len(wanted["confusion"])))
    check(f"{name}: the classes", found["classes"] == names, found["classes"])
    check(f"{name}: the confusion", found["confusion"] == wanted["confusion"], found["confusion"])
    for c, (ours, theirs) in enumerate(zip(found["per_class"], wanted["per_class"])):
        check(f"{name}: class {c}", ours["class"] == names[c] and all(close(ours[key], theirs[key]) for key in theirs),
              f"{ours} instead of {theirs}")
    keys = ("precision", "recall", "f1", "auc", "average_precision")
    matrix = wanted["confusion"]
    occurs = [sum(matrix[c]) + sum(row[c] for row in matrix) > 0 for c in range(len(names))]
    for key in keys:
        rows = [one for c, one in enumerate(wanted["per_class"]) if occurs[c] and not math.isnan(one[key])]
        known = sum(one["support"] for one in rows)
        mean = sum(one[key] for one in rows) / len(rows) if rows else math.nan
        weighted = sum(one[key] * one["support"] for one in rows) / known if known else math.nan
        check(f"{name}: the mean {key}", close(found["mean"][key], mean), f"{found['mean'][key]} {mean}")
        check(f"{name}: the {key} by support", close(found["by_support"][key], weighted),
              f"{found['by_support'][key]} {weighted}")
    listed = [(one["number"], one["class"], one["taken_for"]) for one in found["wrong"]]
    check(f"{name}: the wrong ones", listed == [(i, names[a], names[b]) for i, a, b, _ in wanted["wrong"][:7]], listed)
    check(f"{name}: their confidence", all(close(one["confidence"], p) for one, (_, _, _, p) in
                                           zip(found["wrong"], wanted["wrong"])), found["wrong"])


def compare_calibration(name, found, scores, labels):
    """Bins of the guesses' probabilities; with one score an example of those of class 1."""
    bins = {}
    for row, label in zip(scores, labels):
        rated = guess_of(row) if isinstance(row, list) else 1
        p = probabilities(row)[rated]
        bins.setdefault(max(math.ceil(p * 15) - 1, 0), []).append((p, label == rated))
    wanted = [{"from": i / 15, "to": (i + 1) / 15, "examples": len(rows), "probability": sum(p for p, _ in rows) / len(rows),
               "right": sum(hit for _, hit in rows) / len(rows)} for i, rows in sorted(bins.items())]
    ours = found["calibration"]["bins"]
    check(f"{name}: the bins", len(ours) == len(wanted) and all(close(one[key], other[key]) for one, other in zip(ours, wanted)
                                                               for key in other), f"{ours} {wanted}")
    distance = sum(abs(one["probability"] - one["right"]) * one["examples"] for one in wanted) / len(labels)
    check(f"{name}: their distance", close(found["calibration"]["distance"], distance), f"{found['calibration']} {distance}")


def log_of(folder):
    with open(f"{folder}/log.jsonl") as file:
        return [json.loads(line) for line in file]


def check_training(flags):
    """The same tables of every report of a run, in its log; those of the last one on the screen."""
    scores, labels = draw("three")
    wanted = expected_of(scores, labels)
    child = run("./three", "-o", "logged", "-e", "3", *flags)
    lines = log_of("logged")
    check("training: status and reports", child.returncode == 0 and len(lines) == 3, child.stderr)
    for number, line in enumerate(lines):
        check(f"training: the sets of report {number}", list(line["tables"]) == ["test"], line)
        table = line["tables"]["test"]
        compare(f"training: report {number}", table, wanted)
        compare_calibration(f"training: report {number}", table, scores, labels)
        check(f"training: the counts of report {number}", table["examples"] == table["counted"] == EXAMPLES, table)
    first = wanted["per_class"][1]
    check("training: the screen", child.stderr.count("true class, and what it was taken for") == 1 and
          "classes of test at step 30:" in child.stderr and
          re.search(rf"^1 +{first['precision']:.4f} +{first['recall']:.4f} +{first['f1']:.4f} ", child.stderr, re.M),
          child.stderr)
    check("training: standard output", child.stdout == "", child.stdout)
    child = run("./three", "-o", "quiet", "-e", "1", "--quiet", "--per-class")
    check("training: quiet", child.returncode == 0 and child.stderr == "", child.stderr)
    table = log_of("quiet")[0]["tables"]["test"]
    check("training: what is not asked for", "confusion" not in table and "calibration" not in table and
          "wrong" not in table and len(table["per_class"]) == 3, table)
    check("training: no tables", "tables" not in log_of("three.run")[-1])

    # A resumed run goes on with them; flags that are given are added.
    child = run("./three", "-o", "quiet", "-e", "2", "--resume")
    table = log_of("quiet")[1]["tables"]["test"]
    check("training: resumed", child.returncode == 0 and "goes on with --per-class, as" in child.stderr and
          "confusion" not in table, child.stderr)
    compare_scores = [one["f1"] for one in wanted["per_class"]]
    check("training: the resumed table", all(close(one["f1"], f1) for one, f1 in zip(table["per_class"], compare_scores)), table)
    child = run("./three", "-o", "quiet", "-e", "3", "--resume", "--confusion", "--wrong", "2")
    table = log_of("quiet")[2]["tables"]["test"]
    check("training: added", "goes on with --per-class, as" in child.stderr and table["confusion"] == wanted["confusion"] and
          "per_class" in table and len(table["wrong"]) == 2, child.stderr)
    child = run("./three", "-o", "quiet", "-e", "4", "--resume", "--wrong", "3")
    table = log_of("quiet")[3]["tables"]["test"]
    check("training: replaced", "goes on with --confusion --per-class, as" in child.stderr and len(table["wrong"]) == 3,
          child.stderr)
    child = run("./three", "-o", "quiet", "-e", "5", "--resume", "--calibration")
    check("training: all of them", "goes on with --confusion --per-class --wrong 3, as" in child.stderr and
          "calibration" in log_of("quiet")[4]["tables"]["test"], child.stderr)
    child = run("./three", "sweep", "--seed", "0,1", "-o", "swept", "-e", "1", "--confusion")
    found = [log_of(f"swept/seed={seed}")[0]["tables"]["test"]["confusion"] for seed in (0, 1)]
    check("training: a sweep", child.returncode == 0 and found == [wanted["confusion"]] * 2, child.stderr)

    child = run("./none", "-o", "refused", "--confusion")
    check("training: no classes", child.returncode == 1 and "does not say which scores rate the classes" in child.stderr and
          not os.path.exists("refused"), child.stderr)
    write_data("alone", scores, labels)
    make_program("alone", "cross_entropy(z, y)", "[batch, 3]", "i32[batch]", sets=["train"])
    child = run("./alone", "-o", "refused", "--confusion")
    check("training: no set", child.returncode == 1 and "alone.net has none: no data but train" in child.stderr, child.stderr)


def main():
    with open(expected_path) as file:
        from_sklearn = json.load(file)
    flags = ["--confusion", "--per-class", "--calibration", "--wrong", "7"]
    for name in CASES:
        scores, labels = draw(name)
        is_float = name == "column"
        write_data(name, scores, labels, is_float)
        if name in ("binary", "column"):
            make_program(name, "binary_cross_entropy(z, f32(y))", "[batch, 1]" if is_float else "[batch]",
                         "f32[batch, 1]" if is_float else "i32[batch]")
        else:
            make_program(name, "cross_entropy(z, y)", f"[batch, {len(scores[0])}]", "i32[batch]")
        wanted = expected_of(scores, labels)
        child = run(f"./{name}", "eval", "--json", *flags)
        if child.returncode != 0:
            check(f"{name}: eval", False, child.stderr)
            continue
        found = json.loads(child.stdout)
        compare(name, found, wanted)
        compare_calibration(name, found, scores, labels)
        ours = [one for one in found["per_class"]]
        for c, theirs in enumerate(from_sklearn[name]):
            check(f"{name}: class {c} of scikit-learn", all(abs(ours[c][key] - theirs[key]) < 1e-6 for key in theirs
                                                            if theirs[key] is not None), f"{ours[c]} {theirs}")

    # Metrics over the whole set, in reports of training too; what mixes batches is exact.
    scores, labels = draw("binary")
    write_data("ranked", scores, labels)
    make_program("ranked", "binary_cross_entropy(z, f32(y))", "[batch]", "i32[batch]",
                 "area = auc(z, y)\nprecise = average_precision(z, y == 1)\ngini = 2 * area - 1\n"
                 "both = sum(f32(z > 0 && y == 1))\nhits = 2 * both / (sum(f32(z > 0)) + sum(f32(y == 1)))\n"
                 "score = f1(z, y)\ngap = calibration(z, y)\nsure = f1(z, f32(y), threshold = 0.5)",
                 "metrics = [area, precise, gini, hits, score, sure, gap], save = best(test.area, \"max\")")
    wanted = from_sklearn["ranked"]
    found = json.loads(run("./ranked", "eval", "--json").stdout)
    with open("ranked.run/log.jsonl") as file:
        logged = json.loads(file.read())
    for key, value in wanted.items():
        check(f"ranked: {key}", abs(found[key] - value) < 1e-6, f"{found[key]} {value}")
        check(f"ranked: {key} in the log", abs(logged[f"test/{key}"] - value) < 1e-6, logged)
        check(f"ranked: {key} of training", (f"train/{key}" in logged) == (key in ("hits", "score", "sure")), logged)
    found = json.loads(run("./ranked", "eval", "--json", "--calibration").stdout)
    check("ranked: the distance is the metric", abs(found["calibration"]["distance"] - found["gap"]) < 1e-6, found)
    check("ranked: the best", logged["best"] == logged["test/area"], logged)
    check("ranked: classes beside it", json.loads(run("./ranked", "eval", "--json", "--confusion").stdout)["confusion"] ==
          expected_of(scores, labels)["confusion"])
    scores, labels = draw("three")
    write_data("top", scores, labels)
    make_program("top", "cross_entropy(z, y)", "[batch, 3]", "i32[batch]",
                 "top2 = top_k_accuracy(z, y, k = 2)\nsurprise = perplexity(z, y)\nmacro = f1(z, y)\n"
                 "weighted = f1(z, y, average = \"weighted\")\nmicro = f1(z, y, average = \"micro\")\nignoring = f1(z, y, ignore = 1)\n"
                 "top2_ignoring = top_k_accuracy(z, y, k = 2, ignore = 1)\nsurprise_ignoring = perplexity(z, y, ignore = 1)\n"
                 "guessed = f1(argmax(z), y)\ngap = calibration(z, y)",
                 "metrics = [gap, top2, surprise, macro, weighted, micro, ignoring, top2_ignoring, surprise_ignoring, guessed]")
    found = json.loads(run("./top", "eval", "--json", "--calibration").stdout)
    check("top: the distance is the metric", abs(found["calibration"]["distance"] - found["gap"]) < 1e-6, found)
    for key, value in from_sklearn["top"].items():
        check(f"top: {key}", abs(found[key] - value) < 1e-6 * max(1, value), f"{found[key]} {value}")

    # A label that does not count; the program's own word; several losses; none.
    scores, labels = draw("three")
    for name in ("ignoring", "own", "several", "none"):
        write_data(name, scores, labels)
    make_program("ignoring", "cross_entropy(z, y, ignore = 1)", "[batch, 3]", "i32[batch]")
    found = json.loads(run("./ignoring", "eval", "--json", "--confusion").stdout)
    wanted = expected_of(scores, labels)["confusion"]
    check("a label that does not count", found["confusion"] == [wanted[0], [0, 0, 0], wanted[2]] and
          found["ignored"] == labels.count(1), found)
    make_program("own", "cross_entropy(z, y) + cross_entropy(-z, y)", "[batch, 3]", "i32[batch]",
                 "_ = classified(z, y)")
    found = json.loads(run("./own", "eval", "--json", "--confusion").stdout)
    check("the program's own word", found["confusion"] == wanted, found)
    make_program("several", "cross_entropy(z, y) + cross_entropy(-z, y)", "[batch, 3]", "i32[batch]")
    child = run("./several", "eval", "--confusion")
    check("several losses", child.returncode == 1 and "has 2 losses with scores of classes" in child.stderr, child.stderr)
    make_program("none", "mean(z ^ 2) + mean(f32(y))", "[batch, 3]", "i32[batch]")
    child = run("./none", "eval", "--per-class")
    check("no classes", child.returncode == 1 and "does not say which scores rate the classes" in child.stderr, child.stderr)
    child = run("./own", "predict", "--confusion")
    check("no flag of predict", child.returncode == 2 and "is no flag of predict" in child.stderr, child.stderr)
    check_training(flags)

    # A class that no example has, and that none is taken for, is in no mean.
    with_absent = [row + [-50.0] for row in scores]
    write_data("absent", with_absent, labels)
    make_program("absent", "cross_entropy(z, y)", "[batch, 4]", "i32[batch]")
    found = json.loads(run("./absent", "eval", "test", "--json", *flags).stdout)
    compare("absent", found, expected_of(with_absent, labels))
    check("absent: means", all(isinstance(value, (int, float)) for value in found["mean"].values()), found["mean"])

    # A class for each word: a row of labels each. Lists of metrics are a line of the table each, and no part of the progress.
    write_data("words", scores[:99], labels[:99])
    for letter, kind, values in (("s", "<f4", [n for row in scores[:99] for n in row]), ("y", "<i4", labels[:99])):
        write_npy(f"words.{letter}.npy", kind, (33, 3, 3) if letter == "s" else (33, 3), values)
    make_program("words", "cross_entropy(z, y, ignore = 1)", "[batch, 3, 3]", "i32[batch, 3]",
                 "_ = classified(z, y, ignore = 1)\nright = []\npairs = []\n"
                 "for i in 0..3 {\n  right = right + [mean(argmax(z[:, i]) == y[:, i])]\n"
                 "  pairs = pairs + [[sum(f32(y == i)), max(z[:, i, 0])]]\n}\nall_right = mean(argmax(z) == y)",
                 "metrics = [right, all_right, pairs]")
    counted = [(row, label, i // 3) for i, (row, label) in enumerate(zip(scores[:99], labels[:99])) if label != 1]
    wanted = expected_of([row for row, _, _ in counted], [label for _, label, _ in counted])
    wanted["wrong"] = [(counted[i][2], a, b, p) for i, a, b, p in wanted["wrong"]]
    found = json.loads(run("./words", "eval", "--json", *flags).stdout)
    compare("words", found, wanted)
    hits = [guess_of(row) == label for row, label in zip(scores[:99], labels[:99])]
    for i in range(3):
        check(f"words: element {i} of a list", abs(found[f"right.{i}"] - sum(hits[i:99:3]) / 33) < 1e-6, found)
        check(f"words: element {i}.0", found[f"pairs.{i}.0"] == labels[:99].count(i), found)
        check(f"words: element {i}.1", found[f"pairs.{i}.1"] == max(row[0] for row in scores[i:99:3]), found)
    with open("words.run/log.jsonl") as file:
        check("words: the log", f"test/pairs.2.1" in json.loads(file.read()))
    check("words: the progress", "right" not in re.sub("all_right", "", run("./words", "-o", "again.run").stderr))
    status, text = on_terminal("./words", "eval")
    check("words: the lists", status == 0 and re.search(r"^data +examples +loss +all_right$", text, re.M) and
          re.search(rf"^right +{found['right.0']:.6g} +{found['right.1']:.6g} +{found['right.2']:.6g}$", text, re.M) and
          re.search(rf"^pairs\.2 +{found['pairs.2.0']:g} +{found['pairs.2.1']:g}$", text, re.M), text)

    # Names of classes, and tables.
    with open("kinds.csv", "w") as file:
        names = ["oak", "ash", "old elm"]
        file.writelines(f"{','.join(map(str, row))},{names[label]}\n" for row, label in zip(scores, labels))
    with open("named.net", "w") as file:
        file.write('const batch = 10\n' + "".join(
            f'data {name} {{ s, y = csv("kinds.csv", columns = [0..3, 3], header = false) | categories(y) }}\n'
            for name in ("train", "test")) + "input s : f32[batch, 3]\ninput y : i32[batch]\nparam w = 1.0\n"
            "loss = cross_entropy(s * w, y)\ntrain { minimize = loss, optimizer = sgd(lr = 0), epochs = 1 }\n")
    child = run(nnc, "named.net", "--cflags=-O0", "--units=1", "-o", "named")
    check("named compiles", child.returncode == 0, child.stderr)
    run("./named", "--quiet")
    order = sorted(names)
    found = json.loads(run("./named", "eval", "--json", *flags).stdout)
    compare("named", found, expected_of(scores, [order.index(names[label]) for label in labels]), order)
    status, text = on_terminal("./named", "eval", *flags)
    row = found["confusion"][2]
    check("the table", status == 0 and re.search(rf"^old elm +{row[0]} +{row[1]} +{row[2]}$", text, re.M), text)
    check("the table of classes", re.search(rf"^ash +{found['per_class'][0]['precision']:.4f} ", text, re.M) and
          re.search(rf"^by support +{found['by_support']['precision']:.4f} ", text, re.M), text)
    first = found["wrong"][0]
    check("the list", re.search(rf"^ +{first['number']} +{first['confidence']:.6f}  {first['class']} -> {first['taken_for']}$",
                                text, re.M), text)

    # Files of pictures have their names.
    for kind in ("dark", "light"):
        os.makedirs(f"pictures/{kind}")
        for i in range(6):
            value = 40 * i if kind == "dark" else 255 - 30 * i
            with open(f"picture.ppm", "wb") as file:
                file.write(b"P6 8 8 255\n" + bytes([value] * 192))
            write_png(f"pictures/{kind}/{i}.png", value)
    with open("shown.net", "w") as file:
        file.write('const batch = 4\n' + "".join(
            f'data {name} {{ image, label = image_folder("pictures") | resize(8, 8) }}\n' for name in ("train", "test")) +
            "input image : u8[batch, 3, 8, 8]\ninput label : i32[batch]\nparam w = 1.0\n"
            "bright = mean(f32(image) / 255, axis = [1, 2, 3]) - 0.5\n"
            "loss = binary_cross_entropy(bright * w, f32(label))\n"
            "train { minimize = loss, optimizer = sgd(lr = 0), epochs = 1 }\n")
    child = run(nnc, "shown.net", "--cflags=-O0", "--units=1", "-o", "shown")
    check("shown compiles", child.returncode == 0, child.stderr)
    run("./shown", "--quiet")
    found = json.loads(run("./shown", "eval", "--json", "--wrong", "2").stdout)
    check("names of files", [os.path.basename(os.path.dirname(one["file"])) for one in found["wrong"]] == ["dark", "dark"] and
          found["wrong"][0]["file"].endswith("5.png"), found)


def write_png(path, value):
    import zlib
    rows = b"".join(b"\0" + bytes([value] * 24) for _ in range(8))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


if __name__ == "__main__":
    build, folder, expected_path = sys.argv[1:]
    nnc = f"{build}/bin/nnc"
    expected_path = os.path.abspath(expected_path)
    os.chdir(folder)
    main()
    summary()
