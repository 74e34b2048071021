"""What a run tells of its steps by itself: learning rates that are no constants, and norms of gradients.

    watch.py BUILD FOLDER

Rates are computed once more from the formulas of the schedules. Norms are those of PyTorch (make.py); and where
the optimizer is plain gradient descent with a rate of 1, a step takes the gradients from the parameters, so that
the norm is the distance between the checkpoints of two steps, whatever made the gradients."""
import fcntl, json, math, os, pty, random, re, shutil, signal, struct, subprocess, sys, termios, time

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(here, "../lib"))
from checks import check, expect, run, summary, write  # noqa: E402

build, folder = sys.argv[1:]
nnc = build + "/bin/nnc"
os.chdir(folder)
EMULATOR = build + "/tests/cuda_emulator"
CUDA = {**os.environ, "NNC_NVRTC": EMULATOR + "/libnvrtc.so.13", "NNC_LIBCUDA": EMULATOR + "/libcuda.so.1",
        "NNC_EMULATOR_FLAGS": "-O0 -g0"}
draw = random.Random(7)
write("d.csv", b"a,b,k\n" + b"".join(b"%.3f,%.3f,%d\n" % (draw.gauss(0, 1), draw.gauss(0, 1), draw.randrange(3))
                                     for row in range(24)))


# ---- runs ----

write("rows.csv", b"".join(b"%d\n" % row for row in range(64)))
write("eight.csv", b"".join(b"%d\n" % row for row in range(8)))


def compiled(name, text, *flags, cuda=False):
    write(f"{name}.net", text.encode())
    words = [nnc, f"{name}.net", "--cflags=-O0", "--units=1", *flags, "-o", name] + (["--target=cuda"] if cuda else [])
    done = subprocess.run(words, capture_output=True, text=True, env=CUDA if cuda else None)
    return check(f"{name} compiles", done.returncode == 0, done.stderr)


def train(name, *flags, out=None, cuda=False):
    words = [f"./{name}", "--quiet", "--out", out or f"{name}.run", *flags]
    done = subprocess.run(words, capture_output=True, text=True, env=CUDA if cuda else None)
    check(" ".join(words), done.returncode == 0, done.stderr)
    return lines_of(out or f"{name}.run")


def lines_of(run_folder):
    if not os.path.exists(f"{run_folder}/log.jsonl"):
        return []
    with open(f"{run_folder}/log.jsonl") as file:
        return [json.loads(line) for line in file]


def plain(lines):
    """But for what the clock and the command line say."""
    return [{key: value for key, value in line.items() if key not in ("seconds", "command")} for line in lines]


def near(a, b, tolerance):
    return isinstance(a, (int, float)) and abs(a - b) <= tolerance * max(1e-3, abs(b))


# ---- rates ----

def warmed(value, warmup, t):
    return value * min(1, t / warmup) if warmup else value


def cosine(peak, t, steps, warmup=0):
    return warmed(peak * 0.5 * (1 + math.cos(math.pi * min(max((t - warmup) / max(steps - warmup, 1), 0), 1))), warmup, t)


class Plateau:
    """PyTorch's ReduceLROnPlateau: mode min, a threshold of 1e-4 of the best, no falls below 1e-8."""
    def __init__(self, value, patience, factor):
        self.value, self.patience, self.factor, self.best, self.bad = value, patience, factor, math.inf, 0

    def advance(self, metric):
        if metric < self.best * (1 - 1e-4):
            self.best, self.bad = metric, 0
        else:
            self.bad += 1
        if self.bad > self.patience:
            fallen = self.value * self.factor
            self.value, self.bad = fallen if self.value - fallen > 1e-8 else self.value, 0


RATES = """const batch = 4, minibatches = 1
option peak = 0.25
option gain = 2 in 0..9
data train { x, y, k = csv("d.csv") }
data val   { x, y, k = csv("d.csv") }
input x : f32[batch]
input y : f32[batch]
input k : i32[batch]
schedule late(top) { return f32(t > 3) * top + f32(1) }
schedule own(top) { return top * gain / (t + steps_per_epoch) + epoch }
param main = 1.0
param a : [2] = ones
param b : [2] = ones
param c = 1.0
param d = 1.0
param e = 1.0
param f = 1.0
param g = 1.0
param h = 1.0
param i = 1.0
param j = 1.0
param l = 1.0
param m = 1.0
param n = 1.0
param o = 1.0
shared = cosine(0.125, warmup = 4 steps)
loss = mean(abs(x)) + 1e-3 * (main ^ 2 + sum(a ^ 2) + sum(b ^ 2) + c ^ 2 + d ^ 2 + e ^ 2 + f ^ 2 + g ^ 2 + h ^ 2 + i ^ 2 + j ^ 2 + l ^ 2 + m ^ 2 + n ^ 2 + o ^ 2)
noise = mean(abs(y)) + 0 * main
rate = 7 * noise  # a metric of this name is another number
train {
  minimize = loss, optimizer = adam(lr = shared), epochs = 5, accumulate = minibatches, metrics = [noise, rate]
  params "a", "b" { lr = peak }
  params "c" { lr = shared * 0.1 + peak / 2 }
  params "d" { lr_scale = 0.5 }
  params "e" { lr = 1e-3 }
  params "f" { optimizer = sgd(lr = step(0.5, every = 2 epochs), momentum = 0.5) }
  params "g" { optimizer = adagrad(lr = plateau(0.75, metric = "noise", set = "train", patience = 0, factor = 0.5)) }
  params "h" { frozen = true, lr = linear_decay(0.5) }
  params "i" { optimizer = sgd(lr = shared) }
  params "j" { lr = own(peak) }
  params "l" { lr = own(1.0) }
  params "l" { lr_scale = gain }
  params "m" { lr = where(peak < 0.5, 0.5, f32(gain)) * 0.25 }
  params "n" { lr = late(peak) }
  params "o" { lr = f32(i32(peak)) }  # the host knows no i32, so it is not told
}
"""


def expected_rates(lines, steps, per_epoch, peak=0.25, gain=2):
    falling = Plateau(0.75, 0, 0.5)
    for line in lines:
        t, epoch = line["step"], (line["step"] - 1) // per_epoch
        own = lambda top: top * gain / (t + per_epoch) + epoch
        yield {"rate": cosine(0.125, t, steps, 4),
               "rate/a,b": peak,
               "rate/c": cosine(0.125, t, steps, 4) * 0.1 + peak / 2,
               "rate/d": cosine(0.125, t, steps, 4) * 0.5,
               "rate/e": 1e-3,
               "rate/f": 0.5 * 0.1 ** ((t - 1) // (2 * per_epoch)),
               "rate/g": falling.value,
               "rate/j": own(peak),
               "rate/l": own(1.0) * gain,
               "rate/m": (0.5 if peak < 0.5 else gain) * 0.25,
               "rate/n": (t > 3) * peak + 1}
        falling.advance(line["train/noise"])


def check_rates(name, lines, *rest, **options):
    good = bool(lines)
    for line, wanted in zip(lines, expected_rates(lines, *rest, **options)):
        found = {key: value for key, value in line.items() if key.startswith("rate")}
        same = found.keys() == wanted.keys() and all(near(found[key], wanted[key], 1e-7) for key in wanted)
        good = good and same and near(line["train/rate"], 7 * line["train/noise"], 1e-5)
        if not same:
            check(f"{name}, step {line['step']}", False, f"{found} instead of {wanted}")
            return
    check(name, good, lines)


for target in ("c", "cuda"):
    cuda = target == "cuda"
    if not compiled(f"rates_{target}", RATES, cuda=cuda):
        continue
    lines = train(f"rates_{target}", cuda=cuda)
    check_rates(f"{target}: rates", lines, 30, 6)
    check(f"{target}: the plateau fell", lines[-1]["rate/g"] < 0.75 and len(lines) == 5)
    flagged = train(f"rates_{target}", "--peak", "0.75", "--gain", "3", "--steps", "11", "--validate-every", "2",
                    out=f"{target}.flags", cuda=cuda)
    check_rates(f"{target}: rates with flags", flagged, 11, 6, peak=0.75, gain=3)
    check(f"{target}: reports", [line["step"] for line in flagged] == [2, 4, 6, 8, 10, 11])
    train(f"rates_{target}", "--epochs", "2", "--schedule", "5", out=f"{target}.pieces", cuda=cuda)
    pieces = train(f"rates_{target}", "--epochs", "5", "--resume", out=f"{target}.pieces", cuda=cuda)
    check(f"{target}: a run in pieces", plain(pieces) == plain(lines))

# Several minibatches a step: schedules count steps. Passes and dumps keep the rates.
if compiled("several", RATES, "-D", "minibatches=3", "--float=f64"):
    check_rates("several minibatches a step", train("several"), 10, 2)
if run(nnc, "several.net", "--dump-after=dce", "--stop-after=dce").returncode == 0:
    write("dump.ir", run(nnc, "several.net", "--dump-after=dce", "--stop-after=dce").stdout.encode())
    again, once = run(nnc, "dump.ir", "--resume-after=dce", "--emit=c"), run(nnc, "several.net", "--emit=c")
    check("a dump has the rates", again.returncode == 0 and again.stdout == once.stdout and "rate/c" in once.stdout, again.stderr)

# Killed at any time, and resumed, the log is that of a run at a stretch.
flags = ["--epochs", "4000", "--validate-every", "500", "--save-every", "500steps", "--threads", "1"]
whole = train("rates_c", *flags, out="whole")
check_rates("4,000 epochs", whole, 24000, 6)
for kill in range(3):
    shutil.rmtree("killed", ignore_errors=True)
    child = subprocess.Popen(["./rates_c", "--quiet", "--out", "killed", *flags], stderr=subprocess.DEVNULL)
    while child.poll() is None and not (os.path.exists("killed/log.jsonl") and
                                        len(open("killed/log.jsonl").readlines()) > 3 + 12 * kill and os.path.exists("killed/checkpoint.safetensors")):
        time.sleep(0.002)
    child.send_signal(signal.SIGKILL)
    child.wait()
    check(f"killed {kill}: the same log", plain(train("rates_c", *flags, "--resume", out="killed")) == plain(whole))

# A program that has one number for all parameters tells no rate; one that has no lr neither. Where a group has another
# number, all rates are told; so they are where one of them is no constant. A group with the block's rate
# has none.
BLOCK = RATES.split("  params")[0]


def told(name, optimizer, groups):
    """The rates in the last line of the log."""
    if compiled(name, BLOCK.replace("adam(lr = shared)", optimizer) + groups + "}\n"):
        return {key: value for key, value in train(name, "--epochs", "2")[-1].items() if key.startswith("rate")}


def check_told(name, optimizer, groups, wanted):
    found = told(name, optimizer, groups)
    check(name, found is not None and found.keys() == wanted.keys() and
          all(near(found[key], wanted[key], 1e-12) for key in wanted), f"{found} instead of {wanted}")


check_told("a_constant_is_not_told", "adam(lr = 1e-2)", "", {})
check_told("nor_one_of_groups", "adam(lr = 1e-2)", '  params "a" { lr = 0.01 }; params "b" { weight_decay = 0.5 }\n', {})
check_told("constants_that_differ", "adam(lr = 1e-2)", '  params "a", "?" { lr_scale = 0.25 }\n',
           {"rate": 0.01, "rate/a,?": 0.0025})
check_told("a_default_beside_one", "adam", '  params "m*" { optimizer = sgd(lr = 0.5) }\n', {"rate": 1e-3, "rate/m*": 0.5})
check_told("a_schedule_beside_constants", "sgd(lr = constant_rate(0.5))",
           '  params "?" { lr = 0.125 }; params "a" { lr_scale = 2 }; params "h" { frozen = true }\n',
           {"rate": 0.5, "rate/?": 0.125, "rate/a": 0.25})
check_told("a_constant_beside_a_schedule", "sgd(lr = 0.5)", '  params "m*" { lr = constant_rate(0.25) }\n',
           {"rate": 0.5, "rate/m*": 0.25})
check_told("groups_that_cross", "sgd(lr = 0.5)", '  params "?" { lr = 0.25 }; params "a", "main" { lr_scale = 3 }\n',
           {"rate/?": 0.25, "rate/a,main": 1.5, "rate/?+a,main": 0.75})
write("step.net", b"optimizer still() { w <- w - 0.1 * g }\n" +
      RATES.replace("adam(lr = shared)", "still").split("  params")[0].encode() + b"}\n")
expect("an optimizer without lr", 0, "", nnc, "check", "step.net")

# ---- norms: PyTorch's ----

TORCH = """const batch = 4
data train { row = csv("eight.csv", header = false); order = file }
input row : i32[batch]
def filled(n, shift) { return sin(f32(arange(n)) * 0.7 + shift) }
param kernel : [3, 1, 3, 3] = reshape(filled(27, 0), [3, 1, 3, 3])
param bias : [3] = filled(3, 1)
param body : [27, 5] = reshape(filled(135, 2), [27, 5])
param head : [5, 4] = reshape(filled(20, 3), [5, 4])
param frozen : [5] = filled(5, 4)
at     = f32(row)[:, none] * 25 + f32(arange(25))
image  = reshape(cos(at * 0.37), [batch, 1, 5, 5])
label  = row * 3 % 4
hidden = relu(conv(image, kernel) + reshape(bias, [3, 1, 1]))
hidden = tanh(flatten(hidden) @ body + frozen)
loss   = cross_entropy(hidden @ head, label) + 0.01 * sum(body ^ 2)
half   = 0.5 * gradient_norm(loss) + 0 * loss
train {
  minimize = loss, optimizer = adam(lr = 0.05), steps = 6, validate = 1 steps, clip = 0.3
  metrics = [half, gradient_norm(loss)]
  params "frozen" { frozen = true }
}
"""
with open(f"{here}/expected.json") as file:
    norms = json.load(file)["norms"]
for kind, flags, tolerance in (("f64", ["--float=f64"], 1e-8), ("f32", [], 1e-3), ("plain", ["--float=f64", "-O0"], 1e-8),
                               ("cuda", ["--float=f64"], 1e-8)):
    name = f"torch_{kind}"
    if compiled(name, TORCH, *flags, cuda=kind == "cuda"):
        lines = train(name, cuda=kind == "cuda")
        found = [line["train/gradient_norm"] for line in lines]
        check(f"{name}: PyTorch's norms", len(found) == 6 and all(map(lambda a, b: near(a, b, tolerance), found, norms)), (found, norms))
        check(f"{name}: in an expression", all(near(line["train/half"], line["train/gradient_norm"] / 2, 1e-6) for line in lines))
        mean = train(name, "--validate-every", "6", out="mean", cuda=kind == "cuda")[-1]["train/gradient_norm"]
        check(f"{name}: a report has the mean over steps", near(mean, sum(norms) / 6, tolerance), mean)

# The norm that clip computes is the same node: without the metric there is as much to do.
ir = run(nnc, "torch_f64.net", "--emit=ir").stdout
step = ir[ir.index("entry train {"):ir.index("entry eval {")]
check("clip shares the norm", sum("sqrt(" in line and '"clip"' in line or "sqrt(" in line and '"gradient_norm"' in line
                                  for line in step.splitlines()) == 1, step)

# What is forward stays so: values that are computed again, or fused, are the same with the norm.
whole = json.loads(run(nnc, "torch_f64.net", "--report=json").stdout)
write("bare.net", TORCH.replace("  metrics = [half, gradient_norm(loss)]\n", "").encode())
bare = json.loads(run(nnc, "bare.net", "--report=json").stdout)
steps = [next(entry["steps"] for entry in report["entries"] if entry["entry"] == "train") for report in (whole, bare)]
check("with clip the steps are those of a program without the metric", len(steps[0]) - len(steps[1]) <= 2
      and sum(s["bytes"] for s in steps[0]) - sum(s["bytes"] for s in steps[1]) <= 64, [len(s) for s in steps])

# ---- norms: distances between checkpoints ----

HEAD = """const batch = 4, minibatches = 1
data train { x, y, k = csv("d.csv") }
data val   { x, y, k = csv("d.csv") }
input x : f32[batch]
input y : f32[batch]
input k : i32[batch]
both = stack([x, y], axis = 1)
"""
TAIL = "optimizer = sgd(lr = 1.0), steps = 8, validate = 1 steps, accumulate = minibatches, metrics = [gradient_norm(loss)]"
NETWORK = HEAD + """h = tanh(linear(both, 5))
loss = 0.25 * cross_entropy(linear(h, 3), k)
train { minimize = loss, """ + TAIL + " }\n"
PROGRAMS = {
    "network": (NETWORK, []),
    "accumulated": (NETWORK, ["-D", "minibatches=3"]),
    "unoptimized": (NETWORK, ["-O0"]),
    "scan": (HEAD + """w = linear(both, 3)
out = scan n in 0..6 with s = w { s = tanh(linear(s, 3) + w) }
loss = 0.25 * cross_entropy(out, k)
train { minimize = loss, """ + TAIL + " }\n", ["--scans=loop"]),
    "penalty": (HEAD + """h = tanh(linear(both, 5))
z = linear(h, 1)
loss = 0.05 * mean((z[:, 0] - x) ^ 2) + 0.1 * mean(sum(grad(sum(z), both) ^ 2, axis = 1))
train { minimize = loss, """ + TAIL + " }\n", []),
    "frozen": (HEAD + """h = tanh(linear(both, 5))
loss = 0.25 * cross_entropy(linear(batch_norm(h), 3), k)
train { minimize = loss, """ + TAIL + """
  params "h.w" { frozen = true } }
""", []),
    "groups": (HEAD + """h = tanh(linear(both, 5))
loss = 0.25 * cross_entropy(linear(h, 3), k)
train { minimize = loss, """ + TAIL + """
  params "h.*" { optimizer = sgd(lr = constant_rate(1.0)) } }
""", []),
}


def parameters(path, paths=None):
    """The numbers of the parameters, which no optimizer state or statistics are among."""
    data = open(path, "rb").read()
    length = struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8:8 + length])
    numbers = []
    for name in sorted(header):
        if name == "__metadata__" or ":" in name or "running" in name or (paths and not name.startswith(paths)):
            continue
        first, end = header[name]["data_offsets"]
        kind = {"F64": "d", "F32": "f"}[header[name]["dtype"]]
        numbers += struct.unpack_from(f"<{(end - first) // struct.calcsize(kind)}{kind}", data, 8 + length + first)
    return numbers


def distances(folder, begin, steps, paths=None):
    files = [f"{begin}/checkpoint.safetensors"] + [f"{folder}/kept/step-{step}.safetensors" for step in range(1, steps + 1)]
    values = [parameters(file, paths) for file in files]
    return [math.dist(a, b) for a, b in zip(values, values[1:])]


def check_distances(name, cuda=False, **metrics):
    """By metric the beginning of the parameters' paths."""
    train(name, "--steps", "0", out=f"{name}.begin", cuda=cuda)
    lines = train(name, "--keep", "99", "--save-every", "1steps", cuda=cuda)
    for metric, paths in metrics.items():
        found = [line[f"train/{metric}"] for line in lines]
        wanted = distances(f"{name}.run", f"{name}.begin", len(lines), paths)
        check(f"{name}: {metric}", len(lines) == 8 and all(near(a, b, 1e-7) and b > 0 for a, b in zip(found, wanted)), (found, wanted))
    check(f"{name}: evaluation has none", not any("norm" in key and not key.startswith("train/") for line in lines for key in line))
    return lines


for name, (text, flags) in PROGRAMS.items():
    if compiled(name, text, "--float=f64", *flags):
        check_distances(name, gradient_norm=None)
for name in "network", "accumulated":
    if compiled(f"cuda_{name}", PROGRAMS[name][0], "--float=f64", *PROGRAMS[name][1], cuda=True):
        lines = check_distances(f"cuda_{name}", cuda=True, gradient_norm=None)
        others = lines_of(f"{name}.run")
        check(f"{name}: both targets", all(near(a["train/gradient_norm"], b["train/gradient_norm"], 1e-8) for a, b in zip(lines, others)))

# Two losses, each with its own parameters, the second of which sees what the first has changed.
GAME = HEAD + """g = tanh(linear(both, 2))
param d_w : [2, 1] = [[0.5], [-0.25]]
d_loss = 0.1 * mean((both @ d_w - 1) ^ 2) + 0.1 * mean((stop_gradient(g) @ d_w) ^ 2)
g_loss = 0.1 * mean((g @ d_w - 1) ^ 2)
d_norm = gradient_norm(d_loss)
g_norm = gradient_norm(g_loss)
train {
  minimize = d_loss, optimizer = sgd(lr = 1.0), steps = 8, validate = 1 steps, metrics = [d_norm, g_norm]
  params "g.*" { minimize = g_loss }
}
"""
if compiled("game", GAME, "--float=f64"):
    check_distances("game", d_norm="d_w", g_norm="g.")

# Before clipping, of whatever kind; the first step is that of a program that does not clip.
first = lines_of("network.run")[0]["train/gradient_norm"]
for number, clip in enumerate(("0.01", "clip_value(0.01)", "clip_norm(0.01)")):
    if compiled(f"clipped{number}", NETWORK.replace("steps = 8", f"steps = 8, clip = {clip}"), "--float=f64"):
        found = train(f"clipped{number}")[0]["train/gradient_norm"]
        check(f"clip = {clip}", near(found, first, 1e-12) and first > 0.02, (found, first))

# In pieces of a batch that memory forces; the same examples in 16 bits, with a scale of the loss that is known or found.
WIDE = """const batch = 64
data train { row = csv("rows.csv", header = false); order = file }
input row : i32[batch]
x = sin(f32(row)[:, none] * (1 + f32(arange(16))))
h1 = tanh(linear(x, 64))
h2 = tanh(linear(h1, 64))
h3 = tanh(linear(h2, 64))
loss = cross_entropy(linear(h3, 3), row % 3)
train { minimize = loss, optimizer = sgd(lr = 0.1), steps = 4, validate = 1 steps, metrics = [gradient_norm(loss)] }
"""
if compiled("wide", WIDE):
    norms = [line["train/gradient_norm"] for line in train("wide")]
    least = re.search(r"the least is .*\(([0-9,]+) bytes\)", run(nnc, "wide.net", "--memory-limit=1K", "--threads=1").stderr)
    limit = [f"--memory-limit={int(int(least[1].replace(',', '')) * 1.2)}", "--threads=1"]
    for name, text, flags, tolerance in (
            ("limited", WIDE, limit, 1e-5),
            ("bf16", WIDE.replace("steps = 4", "precision = bf16, steps = 4"), [], 3e-2),
            ("f16", WIDE.replace("steps = 4", "precision = f16, steps = 4"), [], 1e-2),
            ("dynamic", WIDE.replace("steps = 4", 'precision = f16, loss_scale = "dynamic", steps = 4'), [], 1e-2)):
        if compiled(name, text, *flags):
            found = [line["train/gradient_norm"] for line in train(name)]
            check(f"{name}: the norms", len(found) == 4 and all(near(a, b, tolerance) for a, b in zip(found, norms)), (found, norms))
    text = run(nnc, "wide.net", *limit, "--report").stdout
    check("limited: in pieces", "micro-batches" in text, text)

# A step whose gradients are not finite is left out, and counts as 0.
LEFT_OUT = WIDE.replace("loss = ", "loss = 1e4 * ").replace("steps = 4", 'precision = f16, loss_scale = "dynamic", steps = 4')
if compiled("left_out", LEFT_OUT):
    found = [line["train/gradient_norm"] for line in train("left_out")]
    check("a step that is left out", found[0] == 0 and all(isinstance(n, (int, float)) for n in found), found)

# Threads change no bit; a run in pieces within a period is one at a stretch.
if compiled("bits", WIDE.replace("validate = 1", "validate = 3").replace("steps = 4", "steps = 7")):
    one, two = train("bits", "--threads", "1", out="one"), train("bits", "--threads", "2", out="two")
    check("threads", plain(one) == plain(two))
    train("bits", "--steps", "2", out="parts")
    train("bits", "--steps", "5", "--resume", out="parts")
    parts = train("bits", "--resume", out="parts")
    check("in pieces", parts[-1]["train/gradient_norm"] == one[-1]["train/gradient_norm"], (parts, one))

# ---- what else reads it ----


def on_terminal(columns, *words):
    """What the program writes on a terminal of that width."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave)
    os.close(slave)
    text = b""
    try:
        while part := os.read(master, 65536):
            text += part
    except OSError:  # the end of a terminal
        pass
    os.close(master)
    check(f"{words[0]} on {columns} columns", child.wait() == 0, text)
    return text.decode(errors="replace")


for columns in 300, 60:
    text = on_terminal(columns, "./rates_c", "--epochs", "60000", "--validate-every", "200000", "--out", "shown", "--threads", "1")
    told = [float(number) for number in re.findall(r"rate ([0-9.e-]+)  [0-9]+ examples/s", text)]
    check(f"progress on {columns} columns tells the rate", columns == 60 or told and all(0 <= rate <= 0.125 for rate in told), text[-2000:])

train("rates_c", "--tensorboard", "tb", out="events")
done = run(sys.executable, f"{here}/../lib/event_file.py", "tb/events.out.tfevents.nnc", "events/log.jsonl")
check("TensorBoard's events", done.returncode == 0, done.stderr)
evaluated = run("./network", "eval", "--json", "--out", "network.run")
check("eval has no norm", evaluated.returncode == 0 and set(json.loads(evaluated.stdout)) == {"data", "examples", "step", "loss"}, evaluated.stdout)
PAGE = NETWORK.replace("sgd(lr = 1.0)", "sgd(lr = cosine(1.0))").replace("gradient_norm(loss)]", "gradient_norm(loss)]\n  params \"h.w\" { lr_scale = 0.1 }")
if compiled("paged", PAGE, "--report-page"):
    train("paged")
    check("a page", run("./paged", "report", "--steps", "0", "--quiet", "--out", "paged.run").returncode == 0)
    done = run(sys.executable, f"{here}/../report/page.py", "paged.run/report.html", "paged.run/log.jsonl")
    check("the page tells the log", done.returncode == 0, done.stderr)
    text = open("paged.run/report.html").read()
    check("its curves", "<h3>learning rate</h3>" in text and "<h3>gradient_norm</h3>" in text and "rate/h.w" in text)
SWEPT = NETWORK.replace("const", "option seed_of = 1\nconst", 1).replace("steps = 8", "steps = 8, seed = seed_of")
if compiled("swept", SWEPT):
    done = run("./swept", "sweep", "--seed-of", "1,2", "--quiet", "--out", "sweep")
    check("a sweep's table has the norm of training", done.returncode == 0 and "train/gradient_norm" in done.stdout
          and "val/loss" in done.stdout and "nan" not in done.stdout, done.stdout + done.stderr)

# ---- mistakes ----

for name, text, pattern in (
        ("another loss", NETWORK.replace("gradient_norm(loss)", "gradient_norm(loss + 1)"), "'gradient_norm' needs a loss that train minimizes"),
        ("no metric", NETWORK.replace("minimize = loss", "minimize = loss, stop = patience(3, val.gradient_norm, \"max\")"), "evaluation has no 'gradient_norm'"),
        ("two of the name", NETWORK.replace("gradient_norm(loss)]", "gradient_norm(loss), gradient_norm(loss)]"), "there are two metrics 'gradient_norm'"),
        ("in the loss", NETWORK.replace("loss = 0.25", "other = mean(x)\nloss = gradient_norm(other) + 0.25").replace("metrics = [gradient_norm(loss)]", "metrics = []"), "gradient_norm"),
        ("as a rate", NETWORK.replace("sgd(lr = 1.0)", "sgd(lr = 0.1 * gradient_norm(loss))"), "gradient_norm is a metric"),
        ("in predict", NETWORK + "predict { n = gradient_norm(loss) }\n", "gradient_norm is a metric")):
    write("wrong.net", text.encode())
    expect(name, 1, f"wrong.net:[0-9]+:[0-9]+: error: .*{pattern}", nnc, "check", "wrong.net")
write("watched.net", NETWORK.replace("minimize = loss", 'minimize = loss, save = best(train.gradient_norm, "min")').encode())
expect("the best by the norm of training", 0, "", nnc, "check", "watched.net")
summary()
