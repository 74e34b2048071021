"""What gpu.py found, as a table and a plot.

`targets(results)` judges every target: met, missed or not measured, with the numbers; `markdown(results)` is the page;
`plot(results, folder)` writes speed.png by matplotlib, or else speed.svg (bars.py)."""
import math
import os
import sys

import cases

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import bars  # noqa: E402

NAMES = {"gpt2_b4": "GPT-2 124M, B=4, T=1024", "gpt2_b32": "GPT-2 124M, B=32, T=1024",
         "perceptron": "perceptron, B=100", "cnn": "small CNN, B=32", "resnet50": "ResNet-50, B=64",
         "mobilenet_v2": "MobileNetV2, B=128"}
COMPILED = ("compiled", "captured")


def best(row, modes, kind="median"):
    """Milliseconds of the fastest of these modes, or None."""
    found = [row["peers"][mode][kind] for mode in modes if kind in row["peers"].get(mode, {})]
    return min(found) if found else None


def ratio(row, modes, kind="median"):
    """How many times as fast as they ours is."""
    theirs = best(row, modes, kind)
    return theirs / row["ours"][kind] if theirs and kind in row.get("ours", {}) else None


def memory_ratio(row):
    held = [peer["allocated"] for peer in row["peers"].values() if peer.get("allocated")]
    bytes_ = row.get("ours", {}).get("bytes")
    return bytes_ / min(held) if held and bytes_ else None


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def shares(results, type_name=None):
    """Our speed by cuBLAS's for each contraction."""
    return [row["theirs"] / row["ours"] for row in results.get("contractions", [])
            if row.get("ours") and row.get("theirs") and type_name in (None, row["type"])]


def judged(name, value, bound, at_most=False):
    if value is None:
        return {"target": name, "bound": bound, "value": None, "verdict": "not measured"}
    met = value <= bound if at_most else value >= bound
    return {"target": name, "bound": bound, "value": round(value, 3), "verdict": "met" if met else "missed"}


def targets(results):
    rows = {(row["name"], row["type"]): row for row in results.get("models", [])}
    found = []
    for model in cases.MODELS:
        types = [type_name for name, type_name in rows if name == model["name"]]
        for type_name in types or cases.PRECISIONS[model["file"]][:1]:
            row = rows.get((model["name"], type_name), {"peers": {}})
            label = f"{NAMES[model['name']]}, {type_name}"
            found.append(judged(f"{label}: times eager", ratio(row, ["eager"]), model["targets"][0]))
            found.append(judged(f"{label}: times compiled", ratio(row, COMPILED), model["targets"][1]))
            found.append(judged(f"{label}: of its peak memory", memory_ratio(row), cases.MEMORY_TARGET, True))
    for type_name in cases.TYPES:
        found.append(judged(f"contractions, {type_name}: of cuBLAS, geometric mean",
                            geometric_mean(shares(results, type_name)), cases.CONTRACTION_TARGET))
    for kind, bound in cases.COMPILE_TARGETS.items():
        seconds = results.get("compile_seconds", {}).get(kind)
        found.append(judged(f"nnc --target=cuda models/gpt2.net, {kind}: seconds", seconds, bound, True))
    return found


# ---- the page ----------------------------------------------------------------------------------

def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows] + [""]


def number(value, form="%.3g"):
    return "" if value is None else form % value


def part_lines(results):
    rows = [(name, part["state"], number(part.get("seconds"), "%.0f"), part.get("says", ""))
            for name, part in results.get("parts", {}).items()]
    lines = ["## Parts", ""] + table(("part", "", "s", ""), rows)
    for name, part in results.get("parts", {}).items():
        lines += [f"- {name}: {line}" for line in part.get("wrong", [])[:40]]
    return lines + [""]


def model_lines(results):
    rows, notes = [], []
    for row in results.get("models", []):
        ours = row.get("ours", {})
        cells = [NAMES.get(row["name"], row["name"]), row["type"], number(ours.get("least")),
                 number(ours.get("median"))]
        for mode in ("eager", *COMPILED):
            peer = row["peers"].get(mode, {})
            cells.append(f"{peer['least']:.3g} / {peer['median']:.3g}" if "median" in peer else "")
        cells += [number(ratio(row, ["eager"])), number(ratio(row, COMPILED)), number(memory_ratio(row))]
        rows.append(cells)
        notes += [f"- {row['name']} {row['type']}, {side}: {why}" for side, why in row.get("notes", {}).items()]
    head = ("model", "type", "ours least", "median", "eager", "compiled", "captured", "times eager", "times compiled",
            "memory")
    return ["## Training steps, ms", ""] + table(head, rows) + notes + [""]


def contraction_lines(results):
    rows = []
    for row in results.get("contractions", []):
        flop = 2e-9 * math.prod(row["sizes"])  # by ms: TFLOP/s
        speeds = [number(flop / row[side] if row.get(side) else None, "%.1f") for side in ("ours", "theirs")]
        share = row["theirs"] / row["ours"] if row.get("ours") and row.get("theirs") else None
        rows.append((row["name"], row["whose"], row["type"], *speeds, number(share), row.get("note", "")))
    return ["## Contractions, TFLOP/s", ""] + table(("m x k x n", "", "type", "ours", "cuBLAS", "share", ""), rows)


def markdown(results):
    lines = ["# On a GPU", ""]
    for key in ("device", "driver", "torch", "revision", "arch", "started", "seconds", "rehearsal"):
        if results.get(key):
            lines.append(f"- {key}: {results[key]}")
    if results.get("lacking"):
        lines.append(f"- nnc does not offer yet: precision = {', '.join(results['lacking'])}")
    verdicts = targets(results)
    met = sum(each["verdict"] == "met" for each in verdicts)
    lines += ["", f"## Targets: {met} of {len(verdicts)} met", ""]
    lines += table(("target", "bound", "found", ""),
                   [(each["target"], each["bound"], number(each["value"]), each["verdict"]) for each in verdicts])
    lines += part_lines(results) + model_lines(results) + contraction_lines(results)
    return "\n".join(lines).rstrip() + "\n"


# ---- the plot ----------------------------------------------------------------------------------

def ratios(results):
    """Label and ratio of each bar: above 1 ours is faster."""
    found = []
    for row in results.get("models", []):
        for label, modes in (("eager", ["eager"]), ("compiled", COMPILED)):
            value = ratio(row, modes)
            if value:
                found.append((f"{row['name']} {row['type']} / {label}", value))
    for type_name in cases.TYPES:
        value = geometric_mean(shares(results, type_name))
        if value:
            found.append((f"contractions {type_name} / cuBLAS", value))
    return found


def plot(results, folder, plain=False):
    """The file's name; None where nothing was timed beside PyTorch."""
    rows = ratios(results)
    if not rows:
        return None
    return os.path.basename(bars.plot(rows, "times as fast as PyTorch", os.path.join(folder, "speed"), plain))
