"""Metrics over whole sets: calibration, iou, error rates of sequences, precision of boxes, against what scikit-learn, jiwer and pycocotools
say of the same numbers (expected_sets.json, made by make_sets.py).

    sets.py BUILD FOLDER

The sets have 103 and 23 examples, in batches of 10 and 4."""
import json, os, random, sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from checks import check, run, summary  # noqa: E402
from classes import write_npy  # noqa: E402

ROWS, IMAGES, FOUND, TRUE = 103, 23, 30, 6
RATES = """const batch = 10
data train { z, y, a, b, la, lb = npy("z.npy", "y.npy", "a.npy", "b.npy", "la.npy", "lb.npy") }
data test { z, y, a, b, la, lb = npy("z.npy", "y.npy", "a.npy", "b.npy", "la.npy", "lb.npy") }
input z : f32[batch, 5]
input y : i32[batch]
input a : i32[batch, 9]
input b : i32[batch, 7]
input la : i32[batch]
input lb : i32[batch]
param w = 1.0
s    = z * w
loss = cross_entropy(s, y)
gap           = calibration(s, y)
gap_of_one    = calibration(s[:, 0], y == 2, bins = 10)
gap_ignoring  = calibration(s, y, ignore = 1)
over          = iou(s, y)
over_of_3     = iou(s, y, of = 3)
over_ignoring = iou(argmax(s), y, classes = 5, ignore = 2)
words_lengths = error_rate(a, b, lengths = la, label_lengths = lb)
words_end     = error_rate(a, b, end = 0)
words         = error_rate(a, b)
words_counts  = error_rate(a, b, counts = a != 2)
train {
  minimize = loss, optimizer = sgd(lr = 0), epochs = 1
  metrics  = [gap, gap_of_one, gap_ignoring, over, over_of_3, over_ignoring, words_lengths, words_end, words, words_counts]
}
"""
BOXES = """const batch = 4
data train { boxes, scores, classes, tb, tc = npy("boxes.npy", "scores.npy", "classes.npy", "tb.npy", "tc.npy") }
data test { boxes, scores, classes, tb, tc = npy("boxes.npy", "scores.npy", "classes.npy", "tb.npy", "tc.npy") }
input boxes   : f32[batch, 30, 4]
input scores  : f32[batch, 30]
input classes : i32[batch, 30]
input tb      : f32[batch, 6, 4]
input tc      : i32[batch, 6]
param w = 1.0
loss = mean((scores * w - 1) ^ 2)
ap   = box_precision(boxes, scores * w, classes, tb, tc)
ap50 = box_precision(boxes, scores * w, classes, tb, tc, overlap = 0.5)
ap75 = box_precision(boxes, scores * w, classes, tb, tc, overlap = 0.75)
train { minimize = loss, optimizer = sgd(lr = 0), epochs = 1, metrics = [ap, ap50, ap75] }
"""


def draw_rates(seed):
    """Numbers that f32 holds, the same in make_sets.py."""
    r = random.Random(seed)
    rows = {"y": [r.randrange(5) for _ in range(ROWS)], "la": [r.randrange(10) for _ in range(ROWS)],
            "lb": [r.randrange(1, 8) for _ in range(ROWS)]}
    rows["z"] = [[round(r.gauss(0, 1) * 8) / 8 + (c == y) for c in range(5)] for y in rows["y"]]
    rows["a"] = [[r.randrange(4) for _ in range(9)] for _ in range(ROWS)]
    rows["b"] = [[max(r.randrange(4), int(i == 0)) for i in range(7)] for _ in range(ROWS)]
    return rows


def draw_boxes(seed):
    """Equal scores and places without a box included; where the seed is a multiple of three a class has no true ones."""
    r = random.Random(f"boxes {seed}")
    images = {name: [] for name in ("boxes", "scores", "classes", "tb", "tc")}
    for _ in range(IMAGES):
        true = []
        for _ in range(TRUE):
            x, y = r.uniform(0, 60), r.uniform(0, 60)
            true.append([round(4 * v) / 4 for v in (x, y, x + r.uniform(5, 40), y + r.uniform(5, 40))])
        kinds = [r.randrange(-1, 4) for _ in range(TRUE)]
        kinds = [-1 if seed % 3 == 0 and kind == 2 else kind for kind in kinds]
        found, found_kinds = [], []
        for _ in range(FOUND):
            k, far = r.randrange(TRUE), r.choice([0.5, 2, 5])
            box = [round(4 * (v + r.gauss(0, far))) / 4 for v in true[k]]
            found.append(box[:2] + [max(box[2], box[0] + 1), max(box[3], box[1] + 1)])
            found_kinds.append(kinds[k] if r.random() < 0.6 else r.randrange(-1, 5))
        values = (found, [round(r.random() * 50) / 64 for _ in range(FOUND)], found_kinds, true, kinds)
        for name, value in zip(images, values):
            images[name].append(value)
    return images


def flat(value):
    return [x for item in value for x in flat(item)] if isinstance(value, list) else [value]


def write_all(arrays):
    for name, rows in arrays.items():
        shape, at = [], rows
        while isinstance(at, list):
            shape.append(len(at))
            at = at[0]
        values = flat(rows)
        is_float = name in ("z", "boxes", "scores", "tb")
        write_npy(f"{name}.npy", "<f4" if is_float else "<i4", f"({', '.join(map(str, shape))},)", values)


def compile_all(nnc):
    for name, text in (("rates", RATES), ("boxes", BOXES)):
        with open(f"{name}.net", "w") as file:
            file.write(text)
        child = run(nnc, f"{name}.net", "--cflags=-O0", "--units=1", "-o", name)
        check(f"{name} compiles", child.returncode == 0, child.stderr)


def compare(name, arrays, wanted, trains):
    write_all(arrays)
    if trains:
        child = run(f"./{name}", "--quiet")
        check(f"{name} runs", child.returncode == 0, child.stderr)
    found = json.loads(run(f"./{name}", "eval", "--json").stdout)
    for key, value in wanted.items():
        check(f"{name}: {key}", abs(found[key] - value) < 1e-6, f"{found[key]} instead of {value}")


def main():
    build, folder = sys.argv[1:]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected_sets.json")) as file:
        wanted = json.load(file)
    os.chdir(folder)
    nnc = f"{build}/bin/nnc"
    compile_all(nnc)
    compare("rates", draw_rates(0), wanted["rates"], True)
    for i, seed in enumerate(("0", "1")):
        compare("boxes", draw_boxes(int(seed)), wanted["boxes"][seed], i == 0)

    # What the library refuses, and a metric of an order outside of metrics.
    def refused(text, old, new, message):
        assert old in text
        with open("bad.net", "w") as file:
            file.write(text.replace(old, new))
        child = run(nnc, "check", "bad.net")
        check(message, child.returncode == 1 and message in child.stderr, child.stderr)

    refused(BOXES, "overlap = 0.75", "overlap = 0.7001", "box_precision takes an overlap of 0.5, 0.55, ... 0.95")
    refused(BOXES, "scores * w, classes, tb, tc)", "scores, tc, tb, tc)", "box_precision needs boxes [batch, d, 4] and scores and classes")
    refused(BOXES, "loss = mean(", "loss = box_precision(boxes, scores * w, classes, tb, tc) + mean(", "is a metric: nothing else can be computed of it")
    refused(RATES, "iou(argmax(s), y, classes = 5, ignore = 2)", "iou(argmax(s), y)", "iou of guesses needs classes, how many there are")
    refused(RATES, "error_rate(a, b)", "error_rate(a[:, 0], b)", "edit_distance needs guesses [n, t] and labels [n, u]")
    refused(RATES, "calibration(s, y)", "calibration(s, b)", "calibration needs logits [..., classes] and labels [...]")
    summary()


if __name__ == "__main__":
    main()
