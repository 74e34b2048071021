"""Makes tests/classes/expected.json: what scikit-learn says of the scores that classes.py draws.

    python3 tests/classes/make.py

Needs scikit-learn; the tests do not."""
import json, os

import numpy as np
from sklearn.metrics import (average_precision_score, f1_score, log_loss, precision_recall_fscore_support, roc_auc_score,
                             top_k_accuracy_score)

from classes import CASES, draw, probabilities

expected = {}
for name in CASES:
    scores, labels = (np.array(part) for part in draw(name))
    if scores.ndim == 1:
        guesses, ranks = (scores > 0).astype(int), np.stack([-scores, scores], axis=1)
    else:
        guesses = scores.argmax(axis=1)
        ranks = np.array([probabilities(row) for row in scores.tolist()])
    count = ranks.shape[1]
    precision, recall, f1, support = precision_recall_fscore_support(labels, guesses, labels=range(count), zero_division=0)
    rows = []
    for c in range(count):
        truth = labels == c
        has_both = 0 < truth.sum() < len(truth)
        rows.append({"precision": float(precision[c]), "recall": float(recall[c]), "f1": float(f1[c]),
                     "support": int(support[c]),
                     "auc": float(roc_auc_score(truth, ranks[:, c])) if has_both else None,
                     "average_precision": float(average_precision_score(truth, ranks[:, c])) if has_both else None})
    expected[name] = rows
scores, labels = (np.array(part) for part in draw("binary"))
area = float(roc_auc_score(labels, scores))
expected["ranked"] = {"area": area, "precise": float(average_precision_score(labels, scores)), "gini": 2 * area - 1,
                      "hits": float(f1_score(labels, scores > 0)), "score": float(f1_score(labels, scores > 0)),
                      "sure": float(f1_score(labels, scores > 0.5))}
scores, labels = draw("three")
odds = np.array([probabilities(row) for row in scores])
expected["top"] = {"top2": float(top_k_accuracy_score(labels, np.array(scores), k=2, labels=range(3))),
                   "surprise": float(np.exp(log_loss(labels, odds, labels=range(3))))}
labels, guesses, odds = np.array(labels), np.array(scores).argmax(axis=1), np.array(odds)
for average in ("macro", "weighted", "micro"):
    expected["top"][average] = float(f1_score(labels, guesses, average=average))
counts = labels != 1
expected["top"] |= {"ignoring": float(f1_score(labels[counts], guesses[counts], average="macro")),
                    "top2_ignoring": float(top_k_accuracy_score(labels[counts], np.array(scores)[counts], k=2, labels=range(3))),
                    "surprise_ignoring": float(np.exp(log_loss(labels[counts], odds[counts], labels=range(3)))),
                    "guessed": float(f1_score(labels > 0, guesses > 0))}
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected.json"), "w") as file:
    json.dump(expected, file, indent=1)
    file.write("\n")
