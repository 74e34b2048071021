"""Makes tests/classes/expected_sets.json: what scikit-learn, jiwer and pycocotools say of the numbers that sets.py draws.

    python3 tests/classes/make_sets.py
    python3 tests/classes/make_sets.py BUILD FOLDER     compares programs with them on thirty other sets of numbers

Needs numpy, scikit-learn, jiwer and pycocotools; the tests do not."""
import contextlib, io, json, os, sys

import jiwer
import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from sklearn.metrics import jaccard_score

import sets


def gap(odds, right, bins):
    """Guo et al. 2017, equation 3."""
    place, total = np.maximum(np.ceil(odds * bins) - 1, 0), 0.0
    for k in range(bins):
        here = place == k
        if here.any():
            total += here.sum() * abs(right[here].mean() - odds[here].mean())
    return total / len(odds)


def word_errors(guesses, labels):
    texts = [[" ".join(f"w{word}" for word in row) for row in rows] for rows in (labels, guesses)]
    return jiwer.wer(*texts)


def until_end(row):
    return row[:row.index(0)] if 0 in row else row


def rates(seed):
    rows = sets.draw_rates(seed)
    z, y, a, b = np.array(rows["z"]), np.array(rows["y"]), rows["a"], rows["b"]
    odds = np.exp(z - z.max(1, keepdims=True))
    odds /= odds.sum(1, keepdims=True)
    top, guess, counts, others = odds.max(1), z.argmax(1), y != 1, y != 2
    return {"gap": gap(top, guess == y, 15), "gap_of_one": gap(1 / (1 + np.exp(-z[:, 0])), y == 2, 10),
            "gap_ignoring": gap(top[counts], (guess == y)[counts], 15),
            "over": jaccard_score(y, guess, average="macro"), "over_of_3": jaccard_score(y, guess, labels=[3], average="macro"),
            "over_ignoring": jaccard_score(y[others], guess[others], average="macro"),
            "words_lengths": word_errors([row[:n] for row, n in zip(a, rows["la"])], [row[:n] for row, n in zip(b, rows["lb"])]),
            "words_end": word_errors([until_end(row) for row in a], [until_end(row) for row in b]),
            "words": word_errors(a, b), "words_counts": word_errors([[w for w in row if w != 2] for row in a], b)}


def boxes(seed):
    images, true, found = sets.draw_boxes(seed), [], []
    for i in range(sets.IMAGES):
        for (x, y, right, low), kind in zip(images["tb"][i], images["tc"][i]):
            if kind >= 0:
                true.append({"id": len(true) + 1, "image_id": i + 1, "category_id": kind + 1, "iscrowd": 0,
                             "bbox": [x, y, right - x, low - y], "area": (right - x) * (low - y)})
        for (x, y, right, low), kind, score in zip(images["boxes"][i], images["classes"][i], images["scores"][i]):
            if kind >= 0:
                found.append({"image_id": i + 1, "category_id": kind + 1, "bbox": [x, y, right - x, low - y], "score": score})
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {"images": [{"id": i + 1} for i in range(sets.IMAGES)], "annotations": true,
                         "categories": [{"id": kind + 1} for kind in range(5)]}
        truth.createIndex()
        evaluation = COCOeval(truth, truth.loadRes(found), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return dict(zip(("ap", "ap50", "ap75"), map(float, evaluation.stats)))


if len(sys.argv) == 1:
    expected = {"rates": {key: float(value) for key, value in rates(0).items()}, "boxes": {str(seed): boxes(seed) for seed in (0, 1)}}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected_sets.json"), "w") as file:
        json.dump(expected, file, indent=1)
        file.write("\n")
else:
    build, folder = map(os.path.abspath, sys.argv[1:])
    os.chdir(folder)
    sets.compile_all(f"{build}/bin/nnc")
    for seed in range(100, 130):
        sets.compare("rates", sets.draw_rates(seed), rates(seed), seed == 100)
        sets.compare("boxes", sets.draw_boxes(seed), boxes(seed), seed == 100)
    sets.summary()
