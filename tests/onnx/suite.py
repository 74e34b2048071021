"""ONNX's node suite through nnc: see docs/testing.md. Usage: suite.py BUILD [--only OPERATOR,...] [--case NAME]
[--jobs N] [--show] [--markdown] [--accept] [--sample]

--show prints the programs, --markdown writes the table of docs/agreement.md, --accept the list of right cases,
--sample what tests/onnx/run.sh runs without this."""
import argparse
import collections
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import numpy as np  # noqa: E402
import onnx  # noqa: E402

import cases as suite_cases  # noqa: E402
import operators  # noqa: E402
from judge import FEW_DIGITS, TIES, Judge, tensor_file  # noqa: E402
from page import KINDS, counted, names_of, write_page  # noqa: E402
from node import Outside, Refused, Translated, held, program  # noqa: E402

RIGHT = os.path.join(HERE, "right.txt")
SAMPLED = ("float32", "int32", "int64", "uint8", "int8", "bool")


def translate_all(cases):
    """Cases that became programs, and verdicts of the others."""
    translated, verdicts = [], {}
    for case in cases:
        try:
            if case.op in operators.OUTSIDE:
                raise Outside(operators.OUTSIDE[case.op])
            if case.op not in operators.TABLE:
                raise Refused("not translated")
            translated.append(Translated(case, operators.TABLE[case.op]))
        except Outside as reason:
            verdicts[case.name] = ("outside", str(reason))
        except Refused as reason:
            verdicts[case.name] = ("refused", str(reason))
    return translated, verdicts


def right_before():
    try:
        with open(RIGHT) as file:
            return {line for line in file.read().split("\n") if line and line[0] != "#"}
    except FileNotFoundError:
        return set()


def accept(right):
    with open(RIGHT, "w") as file:
        file.write("# Cases of ONNX's node suite that are right, and stay it: written by tests/onnx/run_all.sh --accept.\n")
        file.write("\n".join(sorted(right)) + "\n")


def write_sample(translated, verdicts):
    """The smallest right case of each operator for tests/vectors/vectors.c, which knows no 16 bits and one float."""
    chosen = {}
    for case in translated:
        values = list(case.start.values()) + list(case.expected.values())
        size = sum(value.size for value in values)
        plain = all(value.dtype.name in SAMPLED for value in values) and 0 < size <= 400
        if plain and verdicts[case.case.name][0] == "right" and case.case.name not in FEW_DIGITS | TIES:
            best = chosen.get(case.case.op)
            chosen[case.case.op] = min(best or (size, case), (size, case), key=lambda pair: pair[0])
    sample = [case for _, (_, case) in sorted(chosen.items())]
    tensors = {"unused": np.zeros(1, np.float32)}
    for case in sample:
        tensors.update(case.start)
        tensors.update((f"={name}", held(value)) for name, value in case.expected.items())
    with open(os.path.join(HERE, "sample.net"), "w") as file:
        file.write("# Made by tests/onnx/run_all.sh BUILD --sample: do not edit. A case of each operator of ONNX.\n")
        file.write(program(library(), sample))
    tensor_file.write_safetensors(os.path.join(HERE, "sample.safetensors"), tensors,
                                  {"tolerance_f64": "1e-5", "tolerance_f32": "1e-5"})


def library():
    """The compositions, without comments: they stand in front of every program."""
    text = ""
    for name in sorted(os.listdir(os.path.join(HERE, "library"))):
        with open(os.path.join(HERE, "library", name)) as file:
            text += re.sub(r"(?m)^\s*(#.*)?\n", "", file.read())
    return text


def report(cases, verdicts):
    counts, reasons = counted(cases, verdicts)
    for op in sorted(reasons):
        for reason, names in reasons[op].items():
            if not reason.startswith("outside"):
                print(f"{op}: {reason} ({names_of(names)})")
    total = collections.Counter(kind for kind, _ in verdicts.values())
    print(f"{len(cases)} cases of {len(counts)} operators: "
          + ", ".join(f"{total[kind]} {kind}" for kind in KINDS))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--only", default="")
    parser.add_argument("--case", default="")
    parser.add_argument("--jobs", type=int, default=2)
    for flag in ("show", "markdown", "accept", "sample"):
        parser.add_argument(f"--{flag}", action="store_true")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    folder = f"{build}/onnx"
    os.makedirs(folder, exist_ok=True)
    os.environ.setdefault("XDG_CACHE_HOME", f"{folder}/cache")
    every = suite_cases.load(folder)
    names = set(options.only.split(",")) if options.only else None
    cases = [case for case in every if (not names or case.op in names) and options.case in case.name]
    translated, verdicts = translate_all(cases)
    if options.show:
        print(program("", translated))
        return 0
    judge = Judge(build, folder, library(), options.jobs)
    verdicts.update(judge.verdicts(translated))
    report(cases, verdicts)
    right = {case.name for case in cases if verdicts[case.name][0] == "right"}
    lost = sorted((right_before() & {case.name for case in cases}) - right)
    for name in lost:
        print(f"FAIL {name} was right: {': '.join(verdicts[name])}")
    if len(cases) == len(every):
        missing = right_before() - {case.name for case in cases}
        if missing:
            print(f"FAIL the suite lacks {len(missing)} cases that were right: {', '.join(sorted(missing)[:9])}")
        if options.markdown:
            write_page(cases, verdicts, onnx.__version__)
        if options.accept:
            accept(right | right_before())
        if options.sample:
            write_sample(translated, verdicts)
        return 1 if lost or missing else 0
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
