#!/usr/bin/env python3
"""Runs README.md, the tutorials and recipes of docs/ as a reader would: pages.py BUILD WORK [--long] [PAGE...]

A page has a folder of its own. Its fenced blocks are taken in their order, by the words after the fence:

    net NAME.net      a program: becomes that file, and `nnc check` takes it
    sh tutorial       commands, run one by one; each must end well
    text prints       what the commands of the block above print, in these lines: numbers may be others, `...` stands for
                      any lines. Standard output is a terminal, as the reader's is; standard error follows it
    net recipe-head   on docs/recipes.md: what stands before each recipe
    net recipe NAME.net   becomes that file after the head. A recipe that no command names is trained for some steps

Programs that must have learnt something are in LEARNS: a metric of the last report is at least so great, and the loss has fallen.

`nnc` is a script that compiles with little optimization, unless --long is given.
"""
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys

import named_weights

TUTORIALS = ["tutorial-photographs", "tutorial-tables", "tutorial-text", "recipes", "from-pytorch", "README"]
# Data that are not drawn: a page's folder of data, and its name where data are found.
GIVEN = {"tutorial-tables": ("data/wine", "tabular-regression"), "tutorial-text": ("data/tinyshakespeare", "tinyshakespeare")}
# By page and program: a metric of its last report, and the least that it must be.
LEARNS = {"recipes": {"sounds": ("val/accuracy", 0.9), "detect": ("test/ap50", 0.25)}}
SHARED = ["../shared/data", "../../shared/data"]
NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?"

passed, failed = 0, 0


def ok():
    global passed
    passed += 1


def fail(text):
    global failed
    failed += 1
    print("FAIL " + text)


def blocks(page):
    """(line, kind, text) of each fenced block."""
    kind, lines, start = None, [], 0
    with open(page) as file:
        for number, line in enumerate(file, 1):
            if line.startswith("```"):
                if kind is None:
                    kind, lines, start = line[3:].strip(), [], number
                else:
                    yield start, kind, "".join(lines)
                    kind = None
            elif kind is not None:
                lines.append(line)


def run(command, folder, path):
    """Status and text, of standard output as a terminal of 100 columns shows it, then of standard error."""
    master, slave = pty.openpty()
    environment = dict(os.environ, PATH=path, COLUMNS="100", TERM="dumb", XDG_CACHE_HOME=os.path.join(folder, ".cache"))
    with open(os.path.join(folder, ".stderr"), "w+") as errors:
        process = subprocess.Popen(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=slave, stderr=errors)
        os.close(slave)
        output = b""
        while select.select([master], [], [], 300)[0]:
            try:
                chunk = os.read(master, 65536)
            except OSError:  # nobody writes to it any more
                break
            if not chunk:
                break
            output += chunk
        status = process.wait()
        os.close(master)
        errors.seek(0)
        return status, output.decode(errors="replace").replace("\r\n", "\n") + errors.read()


def pattern(line):
    """The line, with any number for each of its numbers, any run of blanks for its blanks, any text for `...`."""
    text = ""
    for part in re.split(rf"(\.\.\.|{NUMBER}|\s+)", line.strip()):
        if part == "...":
            text += ".*"
        elif re.fullmatch(NUMBER, part):
            text += NUMBER
        elif part.isspace():
            text += r"\s+"
        else:
            text += re.escape(part)
    return re.compile(text)


def compare(name, wanted, printed):
    """Each line of `wanted` follows in `printed`, at once or, after `...`, somewhere."""
    lines = [line for line in printed.split("\n") if line.strip()]
    at, anywhere = 0, True  # what stands before the first line does not count
    for line in wanted.split("\n"):
        if not line.strip():
            continue
        if line.strip() == "...":
            anywhere = True
            continue
        found = [i for i in range(at, len(lines) if anywhere else min(at + 1, len(lines))) if pattern(line).search(lines[i])]
        if not found:
            return fail(f"{name}: '{line}' is not in what is printed:\n" + "\n".join(lines[:40]))
        at, anywhere = found[0] + 1, False
    ok()


def train(name, program, folder, path):
    """A recipe alone: some steps."""
    model = program[:-len(".net")]
    status, output = run(f"nnc {program} -o {model} && ./{model} --data data/digits --steps 4 --quiet", folder, path)
    if status:
        fail(f"{name}: {program} ends with {status}: {output[-1500:]}")
    else:
        ok()


def tutorial(page, folder, path):
    printed, head = "", ""
    everything = list(blocks(page))
    commands = " ".join(text for _, kind, text in everything if kind.startswith("sh"))
    for line, kind, text in everything:
        name = f"{page}:{line}"
        if kind == "net recipe-head":
            head = text
        elif kind.startswith("net ") and kind.endswith(".net"):
            program, is_recipe = kind.split()[-1], kind.startswith("net recipe ")
            with open(os.path.join(folder, program), "w") as file:
                file.write(head + "\n" + text if is_recipe else text)
            judge = {"gpt2.net": named_weights.gpt2, "torch.net": named_weights.perceptron}.get(program)
            if judge:
                problem = judge(text, folder, lambda command: run(command, folder, path))
                fail(f"{name}: {problem}") if problem else ok()
            if is_recipe and f"nnc {program}" not in commands:
                train(name, program, folder, path)
        elif kind == "sh tutorial":
            printed = ""
            for command in [c for c in text.split("\n") if c and not c.startswith("#")]:
                status, output = run(command, folder, path)
                printed += output
                if status:
                    fail(f"{name}: '{command}' ends with {status}: {output[-1500:]}")
                    return
                ok()
        elif kind == "text prints":
            compare(name, text, printed)


def judge_learning(name, model, folder, metric, least):
    with open(os.path.join(folder, model + ".run", "log.jsonl")) as file:
        lines = [json.loads(line) for line in file]
    if lines[-1][metric] >= least and lines[-1]["train/loss"] < 0.7 * lines[0]["train/loss"]:
        ok()
    else:
        fail(f"{name}: {model} has not learnt enough: {lines[0]}, then {lines[-1]}")


def compiler(build, work, long):
    """A folder whose `nnc` compiles without much optimization."""
    folder = os.path.join(work, "bin")
    os.mkdir(folder)
    with open(os.path.join(folder, "nnc"), "w") as file:
        file.write(f"""#!/usr/bin/env bash
case "$1" in check|doc|fmt) exec "{build}/bin/nnc" "$@" ;; esac
level=-O2
case "$PWD" in */recipes|*/from-pytorch) level=-O0 ;; */README) exec "{build}/bin/nnc" "$@" ;; esac
case "$*" in *--arch=*) level=-O0 ;; esac
exec "{build}/bin/nnc" --cflags=$level --units=1 "$@"
""")
    os.chmod(os.path.join(folder, "nnc"), 0o755)
    return ("" if long else folder + ":") + f"{build}/bin:" + os.environ["PATH"]


def main():
    build, work, *rest = sys.argv[1:]
    path = compiler(build, work, "--long" in rest)
    wanted = [name for name in rest if name != "--long"]
    for name in TUTORIALS:
        if wanted and name not in wanted:
            continue
        folder = os.path.join(work, name)
        os.mkdir(folder)
        if name in GIVEN:
            here, data = GIVEN[name]
            there = [f"{shared}/{data}" for shared in SHARED if os.path.isdir(f"{shared}/{data}")]
            if not there:
                print(f"skipped: docs/{name}.md, there is no {SHARED[0]}/{data}")
                continue
            os.makedirs(os.path.dirname(os.path.join(folder, here)), exist_ok=True)
            os.symlink(os.path.abspath(there[0]), os.path.join(folder, here))
        if name == "README":  # a clone that is built
            for there in ["models", "build"]:
                os.symlink(os.path.abspath(there) if there == "models" else build, os.path.join(folder, there))
        tutorial("README.md" if name == "README" else f"docs/{name}.md", folder, path)
        for model, (metric, least) in LEARNS.get(name, {}).items():
            judge_learning(name, model, folder, metric, least)
    print(f"{passed} passed, {failed} failed")
    return failed > 0 or passed == 0


sys.exit(main())
