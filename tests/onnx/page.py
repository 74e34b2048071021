"""The section of docs/agreement.md about ONNX: a row for each operator, and why cases are not right."""
import collections
import os

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "agreement.md")
HEADING = "\n## Operators of ONNX\n"
KINDS = ("right", "wrong", "refused", "outside")
TEXT = """
These are the cases of ONNX's own node suite (`onnx` {version}) whose model is one node: {cases} cases of {operators} operators. {right} of
them are right. The suite's other cases are the same operators once more, written as graphs.

Each case is written in the language, by a function of the library or a composition (`tests/onnx`). The interpreter and an
executable compute it, and both must give the values that ONNX expects:

- integers and truth values exactly
- f64 to 1e-7, f32 to 1e-5, f16 and bf16 to a unit of the last place, relative to the greatest element of a result
- each element of f32 and f64 within ONNX's own bounds (1e-3)

`judge.py` names four exceptions: three cases expect values of four digits, and one has a tie in f32 that is none in the
interpreter's doubles.

- **Operands** are values of the run. Shapes, axes, counts and other operands that decide a shape are known when the program is
  compiled.
- **Integers** of 2 to 16 bits and without sign are held in `i32` and `i64`, and wrap around as ONNX's do.
- **Floats** of 8 and 4 bits are held in `f32`; a conversion to them rounds.

`tests/onnx/run_all.sh build --markdown` makes the table; [testing.md](testing.md#operators-of-onnx) says how. *Refused* are cases
that the language cannot express. *Outside* are those that it leaves out by design:

{outside}
"""


def counted(cases, verdicts):
    """By operator: how many of each kind, and the reasons of those that are not right."""
    counts = collections.defaultdict(collections.Counter)
    reasons = collections.defaultdict(lambda: collections.defaultdict(list))
    for case in cases:
        kind, why = verdicts[case.name]
        counts[case.op][kind] += 1
        if kind != "right":
            reasons[case.op][f"{kind}: {why}"].append(case.name)
    return counts, reasons


def names_of(names):
    return ", ".join(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} more"


def cell(found):
    """Text for a cell of a table."""
    return found.replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")


def table(cases, verdicts):
    counts, reasons = counted(cases, verdicts)
    total = collections.Counter(kind for kind, _ in verdicts.values())
    lines = ["| operator | right | wrong | refused | outside | why |", "|---|---|---|---|---|---|"]
    for op in sorted(counts):
        why = "; ".join(f"{cell(reason)} ({cell(names_of(names))})" for reason, names in reasons[op].items())
        numbers = " | ".join(str(counts[op][kind] or "") for kind in KINDS)
        lines.append(f"| {op} | {numbers} | {why} |")
    lines.append("| all | " + " | ".join(str(total[kind]) for kind in KINDS) + " | |")
    return "\n".join(lines) + "\n"


def outside(cases, verdicts):
    """A line for each thing that is left out, and how many cases are about it."""
    found = collections.defaultdict(list)
    for case in cases:
        kind, why = verdicts[case.name]
        if kind == "outside":
            found[why].append(case.op)
    return "\n".join(f"- {cell(why)}: {len(ops)} cases of {', '.join(sorted(set(ops)))}"
                     for why, ops in sorted(found.items()))


def write_page(cases, verdicts, version):
    with open(PAGE) as file:
        page = file.read().partition(HEADING)[0]
    right = sum(kind == "right" for kind, _ in verdicts.values())
    text = TEXT.format(version=version, cases=len(cases), right=right, operators=len({case.op for case in cases}),
                       outside=outside(cases, verdicts))
    with open(PAGE, "w") as file:
        file.write(page + HEADING + text + "\n" + table(cases, verdicts))
