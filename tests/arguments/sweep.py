#!/usr/bin/env python3
"""Calls every function of `nnc doc` with arguments of every wrong kind.

The example of each function is a call that is right. One argument at a time is replaced by each of the
values below, is left out, or is one too many. `nnc check` must then accept the program or refuse it with
a place in the program: never with an internal error, a signal, a place in the library, or in the words of
a check inside the library.

Usage: sweep.py NNC HARNESS WORK [NAME ...]
"""
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

WRONG = {
    "tensor": "x",
    "integers": "label",
    "scalar": "sum(x)",
    "truth tensor": "x > 0",
    "rank 8": "zeros([1, 1, 1, 1, 1, 1, 1, 1])",
    "no elements": "zeros([0, 3])",
    "half": "bf16(x)",
    "schedule": "cosine(1.0)",
    "schedule's name": "cosine",
    "optimizer": "sgd(lr = 0.1)",
    "initializer": "he_normal",
    "quantity": "5 epochs",
    "none": "none",
    "string": '"a"',
    "empty string": '""',
    "list": "[1]",
    "empty list": "[]",
    "list of lists": "[[1, 2], [3]]",
    "mixed list": '[x, none, "a"]',
    "tuple": "(1, 2)",
    "range": "0..3",
    "empty range": "3..0",
    "bool": "true",
    "type": "f32",
    "zero": "0",
    "minus one": "-1",
    "fraction": "0.5",
    "huge": "9223372036854775807",
    "least": "-9223372036854775807",
    "large": "3000000000",
    "infinite": "inf",
    "not a number": "inf - inf",
    "minus infinite": "-inf",
    "huge float": "1e300",
    "function": "relu",
    "builtin": "exp",
    "def": "own",
    "layer": "shared",
}
LINES_A_PROGRAM = 12
PROGRAMS_A_RUN = 40
ERROR = re.compile(r"(?!  )\S.*\berror: ")
REFUSED_WORDS = re.compile(r"error: .*'assert'|internal error|does not hold")


def split_arguments(text):
    """The parts of "a, f(b, c), d" that commas outside brackets and strings separate."""
    parts, depth, quoted, start = [], 0, False, 0
    for i, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif not quoted and c in "([{":
            depth += 1
        elif not quoted and c in ")]}":
            depth -= 1
        elif not quoted and c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [p for p in parts if p]


def closing(text, at):
    """Where the bracket closes that opens at `at`."""
    depth = 0
    for i in range(at, len(text)):
        if text[i] in "([{":
            depth += 1
        if text[i] in ")]}":
            depth -= 1
            if depth == 0:
                return i
    raise SystemExit(f"unbalanced: {text}")


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **options)


def functions(nnc):
    """(name, formals, example) of each function; words of the language have neither brackets nor these."""
    names = []
    for line in run([nnc, "doc", "--internal"]).stdout.splitlines():
        match = re.match(r"  (\w+) ", line)
        if match and match[1] not in names:
            names.append(match[1])
    for name in names:
        text = run([nnc, "doc", name]).stdout
        head = re.match(r"(?:def |optimizer |schedule |init )?(\w+)\(", text)
        example = re.search(r"^ +Example: (.*)", text, re.M)
        if not head or head[1] != name or not example or example[1].startswith("data "):
            continue
        end = closing(text, head.end() - 1)
        formals = [re.match(r"\.*(\w+)", f)[0] for f in split_arguments(text[head.end():end])]
        yield name, formals, example[1]


def calls(name, formals, example):
    """The example with one argument wrong each: (what, line)."""
    found = re.search(rf"\b{name}\(", example)
    if not found:  # `adadelta`, `init = he_normal`: a call without arguments is put in its place
        bare = re.search(rf"\b{name}\b", example)
        if not bare:
            return
        before, after, given = example[:bare.start()], example[bare.end():], []
    else:
        end = closing(example, found.end() - 1)
        before, after = example[:found.start()], example[end + 1:]
        given = split_arguments(example[found.end():end])
    named = [re.match(r"(\w+) = ", g) for g in given]
    positions = {m[1]: i for i, m in enumerate(named) if m}

    def call(arguments):
        return f"{before}{name}({', '.join(arguments)}){after}"

    for k, formal in enumerate(formals):
        if formal.startswith("..."):
            places = [(i, "") for i in range(len(given)) if not named[i]]
        elif formal in positions:
            places = [(positions[formal], f"{formal} = ")]
        elif k < len(given) and not named[k]:
            places = [(k, "")]
        else:
            places = [(len(given), f"{formal} = ")]
        for at, prefix in places:
            for kind, value in WRONG.items():
                changed = given[:at] + [prefix + value] + given[at + 1:]
                yield f"{name}: {formal} is {kind}", call(changed)
    for i in range(len(given)):
        yield f"{name}: argument {i} missing", call(given[:i] + given[i + 1:])
    yield f"{name}: one too many", call(given + ["1"] * (len(formals) + 1 - len(given)))
    yield f"{name}: no such argument", call(given + ["nothing_such = 1"])
    yield f"{name}: twice", call(given + given)


def program(harness, lines):
    """The harness and one line each; optimizers stand in groups of one train block."""
    text, places = [harness.rstrip("\n")], {}
    count = harness.rstrip("\n").count("\n") + 1
    groups = []
    for what, line in lines:
        if line.startswith("optimizer = "):
            groups.append((what, line))
            continue
        text.append(line)
        count += 1
        places[count] = what
    if groups:
        layers = " + ".join(f'mse(linear(x, 16, name = "h{i}"), x)' for i in range(len(groups)))
        text += [f"the_loss = {layers}", "train {", "  minimize = the_loss, steps = 9, optimizer = sgd"]
        count += 3
        for i, (what, line) in enumerate(groups):
            text.append(f'  params "h{i}.*" {{ {line} }}')
            count += 1
            places[count] = what
        text.append("}")
    return "\n".join(text) + "\n", places


class Sweep:
    def __init__(self, nnc, harness, work):
        self.nnc, self.work = nnc, work
        self.harness = open(harness).read() + (
            "def own(v, k = 2) { return v * k }\nshared = linear(_, 3, name = \"shared\")\n")
        self.passed, self.failures = 0, []

    def write(self, number, lines):
        """Makes a program of these lines: (path, places)."""
        text, places = program(self.harness, lines)
        path = f"{self.work}/p{number}.net"
        with open(path, "w") as file:
            file.write(text)
        return path, places

    def ask(self, *paths):
        try:
            return run([self.nnc, "check", *paths], timeout=60)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess([], 124, "", "more than a minute")

    def check_together(self, first, programs):
        """Judges programs in one run of nnc, which parses its library once then; each by itself where one may be wrong."""
        files = dict(self.write(first + i, lines) for i, lines in enumerate(programs))
        if self.are_right(files):
            self.passed += sum(map(len, programs))
            return
        for i, lines in enumerate(programs):
            self.check(first + i, lines)

    def are_right(self, files):
        """Whether each of these, {path: places}, is surely accepted or refused at one of its places."""
        result = self.ask(*files)
        text = result.stdout + result.stderr
        if result.returncode not in (0, 1) or REFUSED_WORDS.search(text):
            return False
        silent = dict(files)
        for error in filter(ERROR.match, text.splitlines()):
            place = re.match(r"(.*?):(\d+):\d+: ", error)
            if not place or int(place[2]) not in files.get(place[1], ()):
                return False
            silent.pop(place[1], None)
        return not silent or self.ask(*silent).returncode == 0

    def check(self, number, lines):
        """Judges a program of these lines; one that fails is judged line by line."""
        path, places = self.write(number, lines)
        result = self.ask(path)
        message = self.judge(result, path, places, lines[0][1])
        if message is None:
            self.passed += len(lines)
        elif len(lines) > 1:
            for i, line in enumerate(lines):
                self.check(f"{number}_{i}", [line])
        else:
            self.failures.append(f"{lines[0][0]}\n    {lines[0][1]}\n{message}")

    def judge(self, result, path, places, written):
        """What is wrong, or None; written: the first line, which may call assert itself."""
        text = result.stdout + result.stderr
        if result.returncode not in (0, 1):
            return f"exit status {result.returncode}: {text[-1500:]}"
        if REFUSED_WORDS.search(text) and not (len(places) == 1 and "assert(" in written):
            return text[:1500]
        errors = [l for l in text.splitlines() if ERROR.match(l)]
        for error in errors:
            place = re.match(re.escape(path) + r":(\d+):\d+: ", error)
            if not place or int(place[1]) not in places:
                return f"not at the call: {text[:1500]}"
        if result.returncode == 1 and not errors:
            return f"refused without a word: {text[:1500]}"
        return None


def main():
    nnc, harness, work, *wanted = sys.argv[1:]
    sweep = Sweep(nnc, harness, work)
    lines, singles = [], []
    count = 0
    for name, formals, example in functions(nnc):
        if wanted and name not in wanted:
            continue
        count += 1
        for what, line in calls(name, formals, example):
            is_block = re.match(r"(train|predict|data|def|schedule|param|init|optimizer) ", line)
            alone = (is_block and not line.startswith("optimizer = ")) or ", params " in line or ", average" in line
            (singles if alone else lines).append((what, line))
    programs = [lines[i:i + LINES_A_PROGRAM] for i in range(0, len(lines), LINES_A_PROGRAM)]
    programs += [[line] for line in singles]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda first: sweep.check_together(first, programs[first:first + PROGRAMS_A_RUN]),
                      range(0, len(programs), PROGRAMS_A_RUN)))
    for failure in sweep.failures:
        print("FAIL", failure)
    print(f"{count} functions, {len(lines) + len(singles)} calls in {len(programs)} programs")
    print(f"{sweep.passed} passed, {len(sweep.failures)} failed")
    sys.exit(bool(sweep.failures))


main()
