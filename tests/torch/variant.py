"""Variants of a .net file, by its text: edits, training alone, and the train block that keeps gradients.

`only_training` leaves out what `step` does not run, evaluation and prediction, which saves half of the compilation.

`keep_gradients` replaces the optimizer by one that stores each parameter's gradient as a state,
PARAMETER:d, and moves nothing; clipping, averaging and accumulation go, in groups too."""

import re

OBSERVE = """
optimizer observe_gradient() {
  state d = zeros
  d <- g
  w <- w
}
"""
KEPT = ("minimize", "epochs", "steps", "seed", "validate", "metrics", "precision", "frozen")


def apply_edits(text, edits):
    for old, new in edits:
        if text.count(old) != 1:
            raise ValueError(f"the edit of {old!r} fits {text.count(old)} places instead of one")
        text = text.replace(old, new)
    return text


def find_block(text, word):
    """Where the text inside the braces of `word {` at the start of a line begins and ends."""
    at = 0 if text.startswith(word + " ") else text.index("\n" + word + " ") + 1
    start = text.index("{", at) + 1
    return start, find_end(text, start)


def only_training(text):
    """Without `predict` and all data sets but `train`."""
    for found in reversed(list(re.finditer(r"^(predict|data +(?!train\b)\w+) *{", text, re.M))):
        text = text[:found.start()] + text[find_end(text, found.end()) + 1:]
    return text


def find_end(text, at):
    depth = 1
    while True:
        if text[at] == "#":
            at = text.index("\n", at)
        elif text[at] == '"':
            at = text.index('"', at + 1)
        depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(text[at], 0)
        if depth == 0:
            return at
        at += 1


def entries(block):
    """The entries of a block, which newlines, `;` or `,` separate outside of brackets."""
    found, start, at, depth = [], 0, 0, 0
    while at < len(block):
        char = block[at]
        if char == "#":
            end = block.find("\n", at)
            block = block[:at] + (block[end:] if end >= 0 else "")
            continue
        if char == '"':
            at = block.index('"', at + 1)
        depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(char, 0)
        ends = char in "\n;," and depth == 0 and not block[start:at].rstrip().endswith(("=", ","))
        if ends and not is_list_of_patterns(block[start:at]):
            found.append(block[start:at].strip())
            start = at + 1
        at += 1
    return [entry for entry in found + [block[start:].strip()] if entry]


def is_list_of_patterns(text):
    """`params "a", "b" {`: the commas belong to it."""
    return text.lstrip().startswith("params ") and "{" not in text


def keep(block):
    """The entries of a train block or group that say what is minimized, not how."""
    kept = []
    for entry in entries(block):
        if entry.startswith("params "):
            start = entry.index("{") + 1
            inner = keep(entry[start:find_end(entry, start)])
            if inner:
                kept.append(entry[:start] + " " + "; ".join(inner) + " }")
        elif entry.split("=")[0].strip() in KEPT:
            kept.append(entry)
    return kept


def keep_gradients(text):
    start, end = find_block(text, "train")
    lines = keep(text[start:end]) + ["optimizer = observe_gradient"]
    return text[:start] + "\n  " + "\n  ".join(lines) + "\n" + text[end:] + OBSERVE
