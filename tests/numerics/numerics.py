"""Where a loss that is not finite came from, as a run tells it, against what is computed here.

A program takes the logarithm of what training drives below zero. Which step fails, the line, the extremes of what the
kernel read and how many logarithms are NaN are computed here from the checkpoint of the step before. The same is told from a
checkpoint, from the beginning, after --resume, by --check-numerics, in f64, with dropout, with several minibatches a step,
with the loop of a scan, and on the emulator of CUDA. Runs that are checked, and do not fail, give the same bits.
"""
import math
import os
import random
import re
import struct
import subprocess
import sys
import zipfile

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from checks import check, summary  # noqa: E402

build, work = sys.argv[1:3]
os.chdir(work)
nnc = [build + "/bin/nnc", "--cflags=-O0", "--units=1"]


def run(*command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    return done.returncode, done.stderr


BATCH, STEPS = 8, 40
drawn = random.Random(7)
table = [[round(drawn.gauss(0, 1), 6) for _ in range(4)] + [2.0] for _ in range(160)]
open("d.csv", "w").write("".join(",".join(f"{x:.6f}" for x in row) + "\n" for row in table))

LOGARITHM = """const batch = 8, rate = 0.0, parts = 1
data train {{ x, y = csv("d.csv", header = false, columns = [0..4, 4]); order = file }}
data test  {{ x, y = csv("d.csv", header = false, columns = [0..4, 4]) }}
input x : f32[batch, 4]
input y : f32[batch]
h = dropout(tanh(linear(x, 8)), rate)
z = linear(h, 1)[:, 0]
q = 2.5 - z - {more}
p = log(q)
hidden = where(p > 3, stop_gradient(sqrt(p - 3)), 0.0)
loss = mean((z - y) ^ 2) - 0.0001 * mean(p) + 0 * mean(hidden)
train {{ minimize = loss, optimizer = sgd(lr = 0.12), steps = 40, accumulate = parts }}
"""
SCAN = """const batch = 8
data train { x, y = csv("d.csv", header = false, columns = [0..4, 4]); order = file }
input x : f32[batch, 4]
input y : f32[batch]
param w : [4] = zeros
z = x @ w
s = scan i in 0..30 with v = 1 + abs(z) {
  v = v * v
}
loss = mean((z - y) ^ 2) + 1e-30 * mean(s)
train { minimize = loss, optimizer = sgd(lr = 0.2), steps = 40 }
"""


def extremes(text, name):
    """What was read, or made, under this name: least, most."""
    found = re.search(rf"(?:reads|makes) {name}, \w+: from (\S+) to ([^\s,]+)", text)
    return (float(found[1]), float(found[2])) if found else (math.nan, math.nan)


def first_step(text):
    found = re.search(r"error: step (\d+): loss is -?(nan|inf); training stops", text)
    return int(found[1]) if found else 0


def told(text):
    """All that was said of the origin."""
    return [line.split(": ", 1)[1] for line in text.splitlines() if ": error: step" in line or ":   " in line][1:]


def forward(npz, step):
    """h, z.w and p of the step that follows the checkpoint."""
    v = {name[:-4]: npy(zipfile.ZipFile(npz).read(name)) for name in zipfile.ZipFile(npz).namelist()}
    units, bias, weights = v["h.b"], v["z.b"][0], v["z.w"]
    x = [row[:4] for row in table[(step - 1) % 20 * BATCH:][:BATCH]]
    h = [[math.tanh(sum(row[k] * v["h.w"][k * len(units) + j] for k in range(4)) + units[j])
          for j in range(len(units))] for row in x]
    left = [2.5 - sum(a * b for a, b in zip(row, weights)) - bias for row in h]
    return [y for row in h for y in row], weights, [math.log(y) if y > 0 else math.nan for y in left]


def npy(contents):
    """The numbers of an array of f32 or f64."""
    length = struct.unpack("<H", contents[8:10])[0]
    kind = "d" if b"<f8" in contents[:10 + length] else "f"
    return [x for x, in struct.iter_unpack("<" + kind, contents[10 + length:])]


def known(values):
    return [x for x in values if not math.isnan(x)]


def near(found, wanted, tolerance):
    return all(abs(a - b) <= tolerance * (1 + abs(b)) for a, b in zip(found, wanted))


def check_logarithm(name, tolerance, *options):
    program = name + ".net"
    open(program, "w").write(LOGARITHM.format(more="0.0"))
    code, text = run(*nnc, program, "-o", name, *options)
    check(f"{name}: compiles", code == 0, text)
    code, text = run("./" + name, "--out", name + ".run")
    step = first_step(text)
    check(f"{name}: fails late, with status 1", code == 1 and 3 < step < STEPS, text)
    check(f"{name}: the line", re.search(rf"error: step {step}: the first value that is not finite is in '\w+', {program}:9(, 10: one kernel.*)?\n",
                                         text), text)
    check(f"{name}: its text", f"{program}:9: p = log(q)   (log" in text, text)
    run("./" + name, "--steps", str(step - 1), "--out", "before.run")
    run("./" + name, "export", "before.npz", "--out", "before.run")
    h, w, p = forward("before.npz", step)
    for tensor, value in ({"p": p} if "-O0" in options else {"h": h, "z.w": w, "p": p}).items():
        check(f"{name}: the extremes of {tensor}",
              near(extremes(text, tensor), (min(known(value)), max(known(value))), tolerance),
              f"{min(known(value))} {max(known(value))}\n{text}")
    check(f"{name}: how many are NaN", f"{len(p) - len(known(p))} of 8 NaN" in text, text)
    return step, text


# A kernel that computes values and gradients of the same lines names each line once.
open("twice.net", "w").write("""const batch = 8
data train { x, y = csv("d.csv", header = false, columns = [0..4, 4]); order = file }
input x : f32[batch, 4]
input y : f32[batch]
h = linear(x, 3)
p = softmax(h)
loss = mean(sqrt(sum(p * h, axis = -1))) + 0 * mean(y)
train { minimize = loss, optimizer = sgd(lr = 1), epochs = 1 }
""")
run(*nnc, "twice.net", "-o", "twice")
code, text = run("./twice")
found = re.search(r"is in '[^']+', twice.net:([\d, ]+): one kernel computes", text)
lines = found[1].split(", ") if found else []
check("each line once", code == 1 and len(lines) > 1 and len(set(lines)) == len(lines), text)

step, whole = check_logarithm("plain", 1e-5)
code, text = run("./plain", "--check-numerics", "--out", "checked.run")
check("--check-numerics tells the same", code == 1 and told(text) == told(whole), f"{told(text)}\n{told(whole)}")
check("and goes no step back", "once more" not in text, text)
for arguments in (["--save-every", "2"], ["--threads", "3"]):
    code, text = run("./plain", "--out", "saved.run", *arguments)
    check(f"{arguments}: the same", code == 1 and told(text) == told(whole), text)
check("from the last save", f"1 step once more, from step {step} on" in text or f"{step} steps" in text, text)
run("./plain", "--steps", str(step - 2), "--out", "parts.run")
code, text = run("./plain", "--resume", "--steps", "40", "--out", "parts.run")
check("after --resume the same", code == 1 and told(text) == told(whole) and "2 steps once more" in text, text)
run("./plain", "--steps", str(step - 1), "--out", "off.run", "--check-numerics")
check("checks change no bit",
      open("off.run/checkpoint.safetensors", "rb").read() == open("before.run/checkpoint.safetensors", "rb").read())
code, text = run("./plain", "--keep-going", "--out", "going.run")
check("--keep-going warns, and does not look", code == 0 and "once more" not in text and "warning: step" in text, text)
code, text = run("./plain", "--keep-going", "--check-numerics")
check("not both", code == 2 and "give one" in text, text)
code, text = run("./plain", "eval", "--check-numerics")
check("a flag of train", code == 2 and "no flag of eval" in text, text)

check_logarithm("wide", 1e-6, "--float=f64")
check_logarithm("single", 1e-5, "-O0")

open("parts.net", "w").write(LOGARITHM.format(more="0.0"))
run(*nnc, "parts.net", "-o", "parts", "-D", "parts=3", "-D", "rate=0.3", "-D", "train.precision=bf16")
code, text = run("./parts", "--out", "p.run")
code, checked = run("./parts", "--check-numerics", "--out", "p.run", "--threads", "1")
check("dropout, three minibatches, bf16: the line", first_step(text) > 0 and "parts.net:9: p = log(q)" in text, text)
check("dropout: the same random numbers", told(text) == told(checked), f"{text}\n{checked}")

# An infinite schedule is told, though all that the kernels read is finite.
open("rate.net", "w").write(LOGARITHM.format(more="-99.0").replace("sgd(lr = 0.12)", "sgd(lr = steep(1.0))") +
                            "schedule steep(peak) { return peak / (t < 3 ? 1.0 : 0.0) }\n"
                            .replace("t < 3 ? 1.0 : 0.0", "max(3 - t, 0.0)"))
code, text = run(*nnc, "rate.net", "-o", "rate")
code, text = run("./rate", "--out", "rate.run", "--check-numerics") if code == 0 else (0, text)
check("a schedule that is infinite", code == 1 and re.search(r"the schedules give \S+ = inf", text) and
      "is no longer finite, the loss still is" in text and "step 3: " in text, text)

# The loop of a scan: what a round makes of finite numbers.
open("scan.net", "w").write(SCAN)
code, text = run(*nnc, "scan.net", "-o", "scan", "--scans=loop")
code, text = run("./scan", "--out", "scan.run")
check("a scan: the line", code == 1 and "is in 's', scan.net:8" in text and "scan.net:8:   v = v * v" in text, text)
check("a scan: what was read is finite", re.search(r"reads s, f32: from \S+ to [\d.e+]+\n", text), text)

# A task loop: launches that take turns block by block, some of whose values lie in a worker's block.
LOOP = """const batch = 32
input t : f32[batch, 1, 12, 12]
data train { t = npy("t.npy"); order = file }
a = relu(conv2d(t, 4, 3))
b = max_pool(relu(conv2d(a, 4, 3)), 2)
r = sqrt(2.0 - mean(b, axis = [1, 2, 3]))
loss = mean(r)
train { minimize = loss, optimizer = sgd(lr = 0.1), steps = 60 }
"""
HEAD = "{'descr': '<f4', 'fortran_order': False, 'shape': (64, 1, 12, 12), }"
HEAD += " " * (-(len(HEAD) + 11) % 64) + "\n"
open("t.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(HEAD)) + HEAD.encode() +
                          struct.pack("<9216f", *(drawn.gauss(0, 1) for _ in range(9216))))
open("loop.net", "w").write(LOOP)
done = subprocess.run([*nnc, "loop.net", "--report"], capture_output=True, text=True)
check("there is a task loop", "a task loop of 32 blocks" in done.stdout, done.stdout)
code, text = run(*nnc, "loop.net", "-o", "loop")
code, text = run("./loop", "--out", "loop.run")
code, checked = run("./loop", "--out", "loop.run", "--check-numerics")
check("a task loop", code == 1 and re.search(r"first value that is not finite is in '[\w.]+', loop.net:6\n", text) and
      told(text) == told(checked), text + checked)

# A value of the file: which one, where no rows were chosen.
values = [drawn.gauss(0, 1) for _ in range(9216)]
values[5 * 144 + 7] = values[40 * 144] = math.nan
open("t.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(HEAD)) + HEAD.encode() + struct.pack("<9216f", *values))
code, text = run("./loop", "--out", "loop.run")
check("a NaN of the data", code == 1 and "t.npy: t of example 5 (from 0) and of 1 other is not finite" in text, text)
open("part.net", "w").write(LOOP.replace('npy("t.npy")', 'npy("t.npy") | split(0, 0.9)').replace("; order = file", ""))
run(*nnc, "part.net", "-o", "part")
code, text = run("./part", "--out", "part.run")
check("a NaN of a part of them", code == 1 and re.search(r"t.npy: t of [12] of the set's examples is not finite", text), text)

emulator = build + "/tests/cuda_emulator/"
if os.path.exists(emulator + "libcuda.so.1"):
    environment = {"NNC_NVRTC": emulator + "libnvrtc.so.13", "NNC_LIBCUDA": emulator + "libcuda.so.1",
                   "NNC_EMULATOR_FLAGS": "-O0 -g0"}
    code, text = run(*nnc, "plain.net", "--target=cuda", "--arch=sm_80", "-o", "cuda", **environment)
    check("for CUDA: compiles", code == 0, text)
    code, text = run("./cuda", "--out", "cuda.run", **environment)
    check("for CUDA: the step, the line", code == 1 and first_step(text) == step and "plain.net:9: p = log(q)" in text, text)
    check("for CUDA: the numbers", near(extremes(text, "p"), extremes(whole, "p"), 1e-3), text)
    code, checked = run("./cuda", "--check-numerics", "--out", "cuda.run", **environment)
    check("for CUDA: --check-numerics tells the same", told(text) == told(checked), f"{text}\n{checked}")

summary()
