#!/usr/bin/env python3
"""Every function and layer of `nnc doc` with operands of bf16, f16, f32 and f64: examples.py NNC FOLDER [--long]

Of each entry the example is taken, its operands declared in the type and its results kept in states, with the
gradients of the operands; a type that is refused is a failure. All are compiled in f32 and, in turn, in one of the others
(--long: in each), and one step is taken. Results
and gradients must be those of f32 within the type's precision, relative to the greatest element; in f64 those
of layers differ, whose first weights are other numbers. Entries without operands are in `without`, with the reason.
Prints FAIL and the name of each that fails, then counts."""
import json
import math
import os
import re
import struct
import subprocess
import sys

nnc, folder = sys.argv[1:3]
is_long = sys.argv[3:] == ["--long"]
TYPES = ["f32", "bf16", "f16", "f64"]
TOLERANCE = {"bf16": 0.06, "f16": 0.01, "f64": 1e-4}
OPERANDS = {"x": [4, 16], "image": [4, 3, 16, 16], "sequence": [4, 10, 16], "video": [4, 3, 4, 8, 8]}
CHUNK = 50

# Why an example is not called here: its words, at the beginning.
without = {
    r".*\btrain \{": "train blocks",
    r"(optimizer|schedule|data|train|def|extern|const|input|option|params|predict|generate|init|state|stream|param|for|if)\b": "statements",
    r"_ = classified|.*\b(auc|average_precision|box_precision|boxes_ranked)\(": "of evaluations: tests/classes",
    r".*\bunstandardize\(": "of fields of data: tests/unstandardize",
    r"_ = (assert|need_)|pads = |names = ": "known at compile time",
}
# Results that are drawn, and those that jump (feed_forward's rectifier at 0): only taken.
drawn = r"\b(rand|randn|random_bits|gamma|beta|drawn_log_gamma|permutation|dropout|channel_dropout)\("
jumps = r"\b(floor|ceil|round|trunc|sign|feed_forward)\(|//|%"


def typed(line):
    """The example with its numbers made in the type of the operands."""
    line = re.sub(r"\bf32\(", "TYPE(", line)
    line = re.sub(r"\b(zeros|ones|randn|rand)\((\[[^\]]*\]|\w+\.shape)\)", r"\1(\2, TYPE)", line)
    line = re.sub(r"\beye\((\d+)\)", r"eye(\1, TYPE)", line)
    return re.sub(r"(wave_positions\([^()]*)\)", r"\1, type = TYPE)", line)


def examples():
    """(name, line) of each entry; a name may have several."""
    seen = {}
    listing = subprocess.run([nnc, "doc", "--internal"], capture_output=True, text=True, check=True).stdout
    for name in re.findall(r"^  (\S+)", listing, re.M):
        seen[name] = seen.get(name, 0) + 1
        text = subprocess.run([nnc, "doc", name], capture_output=True, text=True, check=True).stdout
        lines = re.findall(r"^ +Example: (.*)$", text, re.M)
        if len(lines) < seen[name]:
            print(f"FAIL {name} has no example")
            continue
        yield name, lines[seen[name] - 1].strip()


def statements(line):
    """Divided at semicolons outside of brackets."""
    depth, parts = 0, [""]
    for c in line:
        depth += (c in "([{") - (c in ")]}")
        if c == ";" and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


def wrapped(k, name, line):
    """A def that owns its operands, and states for what it gives."""
    results = [r.strip() for r in re.match(r"[^=]*", statements(line)[-1]).group().split(",")]
    used = [o for o in OPERANDS if re.search(rf"\b{o}\b", line) or (o == "x" and "logits" in line)]
    out = [f"def example{k}(label) {{  # {name}"]
    for o in used:
        out += [f"param d{o} : TYPE{OPERANDS[o]} = zeros", f"{o} = TYPE(given_{o}) + d{o}"]
    if "logits" in line:
        out.append("logits = x[:, :10]")
    out += statements(typed(line))
    names = [r for r in results if r != "_"]
    out += [f"return {', '.join(names)}", "}"]
    values = [f"r{k}_{i}" for i in range(len(names))]
    out += ["if training {  # single examples have other shapes", f"{', '.join(values)} = example{k}(label)"]
    for v in values:
        out += [f"state {v}_out : f32[{v}.shape] = zeros", f"{v}_out <- f32({v})", f"loss = loss + seen({v})"]
    return out + ["}"]


def program(cases, kind):
    given = "".join(f"input given_{o} : f32{['batch'] + s[1:]}\n".replace("'", "") for o, s in OPERANDS.items())
    fields = ", ".join(f"given_{o}" for o in OPERANDS)
    files = ", ".join(f'"{o}.npy"' for o in OPERANDS)
    lines, owner = [], {}
    head = (f"const batch = 4\ndata train {{ {fields}, label = npy({files}, \"label.npy\") }}\n{given}input label : i32[batch]\n"
            "def seen(y) { return sum(f32(y) * reshape((f32(arange(size(y)) * 7 % 11) - 4.5) / 4, y.shape)) }\n"
            "optimizer observe() { state d = zeros; d <- g; w <- w }\nparam anchor : [] = zeros\nloss = anchor\n")
    lines = head.rstrip("\n").split("\n")
    for k, name, line in cases:
        for text in wrapped(k, name, line):
            lines.append(text)
            owner[len(lines)] = name
    lines.append("train { minimize = loss, optimizer = observe, steps = 1 }")
    text = "\n".join(lines) + "\n"
    return re.sub(r"\bTYPE\b", kind, text), owner


def write_inputs(path):
    """Numbers of eight significant bits, no two alike."""
    header, data = {}, b""
    for o, shape in OPERANDS.items():
        count = math.prod(shape)
        values = [(1 if i % 3 else -1) * ((i * 37 + 11) % 251 + 3) / 128 for i in range(count)]
        raw = struct.pack(f"<{count}f", *values)
        header[f"0/given_{o}"] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    raw = struct.pack("<4i", 3, 1, 7, 2)
    header["0/label"] = {"dtype": "I32", "shape": [4], "data_offsets": [len(data), len(data) + len(raw)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data + raw)


def read(path):
    data = open(path, "rb").read()
    length = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8:8 + length]).items():
        code = {"F32": "f", "F64": "d"}.get(entry.get("dtype"))
        if code:
            begin, end = entry["data_offsets"]
            tensors[name] = struct.unpack(f"<{(end - begin) // struct.calcsize(code)}{code}", data[8 + length + begin:8 + length + end])
    return tensors


passed, failed = 0, 0


def fail(text):
    global failed
    failed += 1
    print("FAIL " + text)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def take_step(cases, kind, is_run):
    """What the states hold after a step, if one is to be taken; None where the program is refused."""
    text, owner = program(cases, kind)
    path = os.path.join(folder, kind + ".net")
    with open(path, "w") as file:
        file.write(text)
    status, output = run([nnc, "check", path])
    if status:
        for at, message in re.findall(r"\.net:(\d+):\d+: error: (.*)", output):
            fail(f"{owner.get(int(at), 'line ' + at)} of {kind}: {message}")
        if ": error: " not in output:
            fail(f"{kind}: {output[:2000]}")
    if status or not is_run:
        return None
    binary = os.path.join(folder, kind)
    for command in [[nnc, path, "-O0", "--cflags=-O0", "--units=1", "-o", binary],
                    [binary, "step", "--inputs", os.path.join(folder, "inputs"), "--steps", "1", "--quiet", binary + ".out"]]:
        status, output = run(command)
        if status:
            fail(f"{kind}: {' '.join(command)}: {output[:2000]}")
            return None
    return read(binary + ".out")


def off(wanted, found):
    """The greatest difference, relative to the greatest element; gradients that are 0 have rounding alone."""
    if len(wanted) != len(found):
        return math.inf
    greatest = max([abs(w) for w in wanted if math.isfinite(w)] + [0.01])
    worst = 0
    for w, v in zip(wanted, found):
        if math.isnan(w) or math.isnan(v):
            worst = worst if math.isnan(w) and math.isnan(v) else math.inf
        elif w != v:
            worst = max(worst, abs(w - v) / greatest)
    return worst


def main():
    global passed
    write_inputs(os.path.join(folder, "inputs"))
    cases, skipped = [], 0
    for name, line in examples():
        if any(re.match(pattern, line) for pattern in without):
            skipped += 1
            continue
        entry = sum(other == name for _, other, _ in cases) + 1
        cases.append((f"_{name}_{entry}", name, line))  # of which first weights depend: not on other entries
    for first in range(0, len(cases), CHUNK):
        chunk = cases[first:first + CHUNK]
        turn = TYPES[1 + first // CHUNK % 3]
        results = {kind: take_step(chunk, kind, is_long or kind in ("f32", turn)) for kind in TYPES}
        for k, name, line in chunk:
            for kind in TYPES[1:]:
                if not results[kind] or not results["f32"]:
                    continue
                keys = [p for p in results["f32"] if re.match(rf"r{k}_\d+(_out$|\.)|example{k}\b", p)]
                keys = [p for p in keys if p.endswith("_out") or re.search(r"\.d[a-z]+:d$", p)]
                owned = any(re.match(rf"r{k}_\d+\.(?!d(x|image|sequence|video)\b)", p) for p in results["f32"])
                if not keys:
                    fail(f"{name} of {kind}: nothing to compare")
                    continue
                if re.search(drawn, line) or re.search(jumps, line) or (kind == "f64" and owned):
                    passed += 1
                    continue
                worst, where = max((off(results["f32"][p], results[kind].get(p, ())), p) for p in keys)
                if worst <= TOLERANCE[kind]:
                    passed += 1
                else:
                    fail(f"{name} of {kind}: {where} is off by {worst:.3g}: {line}")
    print(f"{len(cases)} examples, {skipped} without operands")
    print(f"{passed} passed, {failed} failed")
    return failed > 0 or passed < (800 if is_long else 200)


sys.exit(main())
