"""What a run keeps, and when it stops, against the same rules written down in plain Python.

    steer.py BUILD FOLDER

A program's metrics are curves of one number a step, so all that follows is known beforehand: which checkpoints are
among the best, which are the last, after which report the run ends, what the log says. The checkpoint that is
kept of a step must be, byte for byte, the last one of a run that ends there."""
import json, os, random, re, shutil, struct, sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from checks import check, expect, run, summary  # noqa: E402

build, folder = sys.argv[1:]
nnc = build + "/bin/nnc"
os.chdir(folder)
STEPS_PER_EPOCH = 3
EPOCHS = 12
STEPS = STEPS_PER_EPOCH * EPOCHS
draw = random.Random(5)

# ---- programs ----

CURVES = {
    "falling": [round(2 / (1 + step / 4) + 0.2 * draw.random(), 6) for step in range(STEPS)],
    "rising": [round(0.9 - 0.8 / (1 + step / 3) - 0.1 * draw.random(), 6) for step in range(STEPS)],
    "noisy": [round(draw.random(), 6) for step in range(STEPS)],
    "steady": [0.5] * STEPS,
    "waving": [0.25 * (step // 2 % 4) for step in range(STEPS)],  # with equal values
}


def make_program(name, keys):
    lines = ["const batch = 2",
             'data train { x = csv("x.csv", header = false) }',
             'data val { x = csv("x.csv", header = false) }',
             "input x : f32[batch, 1]",
             "param w = 0.25",
             "state done : i32[1] = zeros",
             "if training { done <- done + 1 }"]
    for curve, values in CURVES.items():
        lines.append(f"state {curve}_values : [{STEPS}] = [{', '.join(map(str, values))}]")
        lines.append(f"{curve} = sum({curve}_values[maximum(done - 1, 0)]) + 0 * mean(x)")
    lines.append("loss = mean(x) * 0 + w ^ 2")
    lines.append(f"train {{ minimize = loss, optimizer = adam(lr = 1e-3), epochs = {EPOCHS}, "
                 f"metrics = [{', '.join(CURVES)}], {keys} }}")
    lines.append("predict { out = w }")
    with open(f"{name}.net", "w") as file:
        file.write("\n".join(lines) + "\n")
    child = run(nnc, f"{name}.net", "--float=f64", "--cflags=-O0", "--units=1", "-o", name)
    check(f"{name} compiles", child.returncode == 0, child.stderr)


with open("x.csv", "w") as file:
    file.write("".join(f"{row}\n" for row in range(2 * STEPS_PER_EPOCH)))


# ---- the rules ----

def reports(validate, last=STEPS):
    """(step, epoch, whether a longer run has it) of each report."""
    every = validate or STEPS_PER_EPOCH
    return [(step, (step - 1) // STEPS_PER_EPOCH + 1, step % every == 0)
            for step in range(1, last + 1) if step % every == 0 or step == last]


class Rules:
    """best, stop: (curve, is_max, count[, threshold])."""

    def __init__(self, best=None, stop=None, keep=0, validate=0, save_steps=0, save_epochs=0, last=STEPS):
        self.best, self.kept, self.lines, self.stopped = [], [], {}, False
        self.step = last
        good, bad, reported = None, 0, {step: (epoch, regular) for step, epoch, regular in reports(validate, last)}
        for step in range(1, last + 1):
            if step in reported:
                epoch, regular = reported[step]
                if best:
                    self.best.append((CURVES[best[0]][step - 1], step, epoch))
                    self.best.sort(key=lambda mark: (-mark[0] if best[1] else mark[0], mark[1]))
                    self.best = self.best[:best[2]]
                if stop and regular:
                    value, margin = CURVES[stop[0]][step - 1], stop[3] if len(stop) > 3 else 0
                    if good is None or (value > good + margin if stop[1] else value < good - margin):
                        good, bad = value, 0
                    else:
                        bad += 1
                    self.stopped = bad >= stop[2]
                line = {}
                if best:
                    line.update(best=self.best[0][0], best_step=self.best[0][1])
                if stop:
                    line.update(bad_reports=bad)
                if self.stopped:
                    line.update(stopped="patience")
                self.lines[step] = line
            at_save = (step % save_steps == 0 if save_steps else
                       step % (save_epochs * STEPS_PER_EPOCH) == 0 if save_epochs else step in reported)
            if keep and at_save:
                self.kept = [step, *self.kept][:keep]
            if self.stopped:
                self.step = step
                break


def steps_of(out, what):
    names = os.listdir(f"{out}/kept") if os.path.exists(f"{out}/kept") else []
    return sorted(int(name[5:-12]) for name in names if re.fullmatch(rf"{what}-\d+\.safetensors", name))


def metadata(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    return header["__metadata__"]


def log(out):
    with open(f"{out}/log.jsonl") as file:
        return [json.loads(line) for line in file]


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def compare(name, out, rules, best=None):
    check(f"{name}: ends at the step", int(metadata(f"{out}/checkpoint.safetensors")["step"]) == rules.step,
          metadata(f"{out}/checkpoint.safetensors")["step"])
    ours = {line["step"]: {key: line[key] for key in ("best", "best_step", "bad_reports", "stopped") if key in line}
            for line in log(out)}
    check(f"{name}: the log", ours == rules.lines, f"{ours} instead of {rules.lines}")
    check(f"{name}: the last are kept", steps_of(out, "step") == sorted(rules.kept),
          f"{steps_of(out, 'step')} instead of {rules.kept}")
    if not best:
        return check(f"{name}: no best", not os.path.exists(f"{out}/best.safetensors"))
    steps = [step for _, step, _ in rules.best]
    found = int(metadata(f"{out}/best.safetensors")["step"])
    check(f"{name}: the best", found == steps[0], f"{found} instead of {steps[0]}")
    if best[2] > 1:
        check(f"{name}: the best are kept", steps_of(out, "best") == sorted(steps),
              f"{steps_of(out, 'best')} instead of {steps}")


def tree(out):
    return {os.path.relpath(os.path.join(at, name), out): bytes_of(os.path.join(at, name))
            for at, _, names in os.walk(out) for name in names if name != "log.jsonl"}


def plain_log(out):
    return [{key: value for key, value in line.items() if key not in ("seconds", "command")} for line in log(out)]


def play(number, keys, **rules):
    """A run at a stretch, one in pieces, and what is kept against runs that end there."""
    name = f"p{number}"
    make_program(name, keys)
    expected = Rules(**rules)
    child = run(f"./{name}", "--out", "whole")
    check(f"{keys}: runs", child.returncode == 0, child.stderr)
    compare(keys, "whole", expected, rules.get("best"))
    text = child.stderr
    if expected.best:
        value, step, epoch = expected.best[0]
        said = f"best val.{rules['best'][0]} {value:.6g} in epoch {epoch}, step {step}: whole/best.safetensors"
        check(f"{keys}: says what was best", said in text, text)
    check(f"{keys}: says why it ends", ("stopped: val." in text) == expected.stopped, text)
    for piece in [2, 5, 6, 9, EPOCHS]:  # in epochs: their reports are those of a run at a stretch
        flags = ["--resume"] if os.path.exists("pieces") else []
        child = run(f"./{name}", "--out", "pieces", "-j1", *flags, "--epochs", str(piece))
        check(f"{keys}: a piece", child.returncode == 0, child.stderr)
        if piece * STEPS_PER_EPOCH % (rules.get("validate") or 1) != 0:
            break  # its last report is one too many
    else:
        check(f"{keys}: the same in pieces", tree("whole") == tree("pieces"),
              [name for name in {**tree("whole"), **tree("pieces")} if tree("whole").get(name) != tree("pieces").get(name)])
        check(f"{keys}: the same log in pieces", plain_log("whole") == plain_log("pieces"))
    kept = {f"kept/step-{step}.safetensors": step for step in expected.kept}
    kept.update({f"kept/best-{step}.safetensors": step for _, step, _ in expected.best} if rules.get("best", "   ")[2] != 1 else {})
    if expected.best:
        kept["best.safetensors"] = expected.best[0][1]
    for path, step in kept.items():
        if step % (rules.get("validate") or STEPS_PER_EPOCH) != 0:
            continue
        run(f"./{name}", "--out", "short", "--steps", str(step))
        check(f"{keys}: {path}", bytes_of(f"whole/{path}") == bytes_of("short/checkpoint.safetensors"))
        shutil.rmtree("short")
    for out in ("whole", "pieces"):
        shutil.rmtree(out)


play(0, "save = best(val.falling, \"min\")", best=("falling", False, 1))
play(1, "save = best(val.rising, \"max\", keep = 3), keep = 2", best=("rising", True, 3), keep=2)
play(2, "save = best(val.noisy, \"max\", keep = 4), stop = patience(4, val.falling, \"min\", threshold = 0.05)",
     best=("noisy", True, 4), stop=("falling", False, 4, 0.05))
play(3, "stop = patience(1, val.steady, \"max\"), save_every = 2 steps, keep = 2", stop=("steady", True, 1),
     save_steps=2, keep=2)
play(4, "save = best(val.waving, \"max\", keep = 3), keep = 3, save_every = 2 epochs", best=("waving", True, 3),
     save_epochs=2, keep=3)
play(5, "save = best(val.noisy, \"min\", keep = 2), keep = 4, validate = 4 steps, stop = patience(5, val.noisy, \"max\")",
     best=("noisy", False, 2), keep=4, validate=4, stop=("noisy", True, 5))
play(6, "save = best(val.waving, \"min\"), validate = 1 steps, stop = patience(9, val.waving, \"max\"), save_every = 5 steps, keep = 1",
     best=("waving", False, 1), keep=1, validate=1, stop=("waving", True, 9), save_steps=5)


# ---- commands and flags ----

def out_of(path, *words):
    child = run(*words)
    check(f"{' '.join(words)}", child.returncode == 0, child.stderr)
    return child.stdout if path is None else bytes_of(path)


make_program("p", 'save = best(val.rising, "max"), stop = patience(2, val.falling, "min")')
run("./p", "--out", "a", "--patience", "0")
compare("--patience 0", "a", Rules(best=("rising", True, 1), stop=("falling", False, 10**6)), ("rising", True, 1))
best = json.loads(out_of(None, "./p", "eval", "--best", "--json", "--out", "a"))
rules = Rules(best=("rising", True, 1))
check("eval --best", best["step"] == rules.best[0][1] and abs(best["rising"] - rules.best[0][0]) < 1e-9, best)
check("predict --best", out_of(None, "./p", "predict", "--best", "--out", "a") !=
      out_of(None, "./p", "predict", "--out", "a"))
check("predict --best is that of the file", out_of(None, "./p", "predict", "--best", "--out", "a") ==
      out_of(None, "./p", "predict", "--init", "a/best.safetensors"))
check("export --best", out_of("e.safetensors", "./p", "export", "--best", "--out", "a", "e.safetensors") ==
      out_of("f.safetensors", "./p", "export", "--init", "a/best.safetensors", "f.safetensors"))
expect("export to the best", 1, "it is the best checkpoint", "./p", "export", "--out", "a", "a/best.safetensors")
expect("--best and --init", 2, "give one", "./p", "eval", "--best", "--init", "e.safetensors")
for command in "eval", "predict":
    expect(f"{command}: no best", 1, r"no best checkpoint nothing/best.safetensors: .* train first: ./p --out nothing",
           "./p", command, "--best", "--out", "nothing")
run("./p", "--out", "unreported", "--steps", "0")
expect("no best yet", 1, r"no best checkpoint unreported/best.safetensors: .*nothing yet.*: ./p --out unreported --resume",
       "./p", "eval", "--best", "--out", "unreported")
expect("--keep", 0, "the last 2 kept: b/kept", "./p", "--out", "b", "--keep", "2", "--patience", "0")
compare("--keep 2", "b", Rules(best=("rising", True, 1), stop=("falling", False, 10**6), keep=2), ("rising", True, 1))
expect("fewer are kept", 0, "the last 1 kept", "./p", "--out", "b", "--keep", "1", "--resume", "--epochs", str(EPOCHS + 1),
       "--patience", "0")
check("... and the others removed", steps_of("b", "step") == [STEPS + STEPS_PER_EPOCH], steps_of("b", "step"))
for text, steps in ("5", 5), ("5steps", 5), ("2 epochs", 6), ("2epochs", 6):
    expect(f"--save-every {text}", 0, "kept", "./p", "--out", "c", "--keep", "3", "--save-every", text, "--patience", "0")
    check(f"--save-every {text} is that", steps_of("c", "step") == [step for step in range(steps, STEPS + 1, steps)][-3:],
          steps_of("c", "step"))
    shutil.rmtree("c")
for text in ("0", "5 hours", "minutes", "-1", "1.5epochs"):
    expect(f"--save-every {text}", 2, "wants steps, epochs or minutes", "./p", "--save-every", text)
expect("--keep 1001", 2, "from 0 to 1000", "./p", "--keep", "1001")
expect("minutes", 0, "saved", "./p", "--out", "m", "--save-every", "1minute", "--keep", "2")
check("nothing is kept of so short a run", steps_of("m", "step") == [], steps_of("m", "step"))

# A run that has stopped stays so, unless it is given more patience.
child = run("./p", "--out", "s")
stopped = int(metadata("s/checkpoint.safetensors")["step"])
check("stops", stopped == Rules(stop=("falling", False, 2)).step, child.stderr)
before = tree("s")
expect("resumed, it is over", 0, "stopped: val.falling has not improved in 2 reports", "./p", "--out", "s", "--resume")
check("... and nothing changes", tree("s") == before)
run("./p", "--out", "s", "--resume", "--patience", "3")
check("with more patience it goes on", int(metadata("s/checkpoint.safetensors")["step"]) ==
      Rules(stop=("falling", False, 3)).step)

# What flags say is known when the run goes on; a flag that is given again counts.
flags = ["--keep", "2", "--patience", "0", "--save-every", "2epochs", "--validate-every", "3"]
run("./p", "--out", "f1", *flags)
run("./p", "--out", "f2", *flags, "--epochs", "5")
expect("flags are recorded", 0, r"goes on with --keep 2 --patience 0 --validate-every 3 --save-every 2epochs, as f2/checkpoint\.safetensors",
       "./p", "--out", "f2", "--resume", "--epochs", str(EPOCHS))
check("... and the run is the same", tree("f1") == tree("f2"))
check("... and its log", plain_log("f1") == plain_log("f2"), plain_log("f2"))
check("... in the checkpoint", metadata("f1/checkpoint.safetensors")["flags"] == "2 0 3 0 2 0 0 -1", metadata("f1/checkpoint.safetensors"))
run("./p", "--out", "f3", "--epochs", "1")
check("without flags nothing is recorded", "flags" not in metadata("f3/checkpoint.safetensors"))
expect("another flag counts", 0, r"goes on with --patience 0 --validate-every 3, as", "./p", "--out", "f2", "--resume", "--keep", "1",
       "--save-every", "3", "--epochs", str(EPOCHS + 1))
check("... and is recorded", metadata("f2/checkpoint.safetensors")["flags"] == "1 0 3 3 0 0 0 -1")
check("... of the last one alone", steps_of("f2", "step") == [STEPS + 3], steps_of("f2", "step"))
child = run("./p", "--out", "f2", "--resume", *flags, "--epochs", str(EPOCHS + 2))
check("all flags anew", "goes on with" not in child.stderr, child.stderr)
check("the log has the command line", [line["command"] for line in log("f2") if "command" in line] ==
      [["./p", "--out", "f2", *flags, "--epochs", "5"], ["./p", "--out", "f2", "--resume", "--epochs", str(EPOCHS)],
       ["./p", "--out", "f2", "--resume", "--keep", "1", "--save-every", "3", "--epochs", str(EPOCHS + 1)],
       ["./p", "--out", "f2", "--resume", *flags, "--epochs", str(EPOCHS + 2)]], log("f2"))

# Other definitions are noticed.
for name, words in ("defined", ["-D", "train.seed=7", "-D", "batch=2"]), ("again", ["-D", "batch=2", "-D", "train.seed=7"]):
    check(f"{name} compiles", run(nnc, "p.net", "--float=f64", "--cflags=-O0", "--units=1", *words, "-o", name).returncode == 0)
expect("a program with other definitions", 0, "made by the program compiled with no -D; this one has -D batch=2 -D train.seed=7",
       "./defined", "--out", "f1", "--resume", "--epochs", str(EPOCHS + 1))
child = run("./again", "--out", "f1", "--resume", "--epochs", str(EPOCHS + 2))
check("their order does not matter", child.returncode == 0 and "-D" not in child.stderr, child.stderr)
expect("none any more", 0, "compiled with -D batch=2 -D train.seed=7; this one has none", "./p", "--out", "f1", "--resume",
       "--epochs", str(EPOCHS + 3))
expect("--version tells them", 0, "", "./again", "--version")
check("... all", "(p.net -D batch=2 -D train.seed=7)" in run("./again", "--version").stdout)

# What an earlier run has kept gets other names; a checkpoint of another folder begins anew.
run("./p", "--out", "d", "--keep", "2", "--patience", "0")
old = tree("d")
expect("a new run", 0, "best val.rising", "./p", "--out", "d", "--keep", "1", "--epochs", "2", "--patience", "0")
check("the old best", bytes_of("d/best.previous.safetensors") == old["best.safetensors"])
check("the old ones", {f"kept/{name}": bytes_of(f"d/kept.previous/{name}") for name in os.listdir("d/kept.previous")} ==
      {name: content for name, content in old.items() if name.startswith("kept/")})
check("the new ones", steps_of("d", "step") == [2 * STEPS_PER_EPOCH])
expect("a third run", 0, "best val.rising", "./p", "--out", "d", "--keep", "1", "--epochs", "3", "--patience", "0")
check("of the second", os.listdir("d/kept.previous") == [f"step-{2 * STEPS_PER_EPOCH}.safetensors"])
# A file of one's own in such a folder stays there, and is in nobody's way.
open("d/kept/notes.txt", "w").write("mine")
open("d/kept.previous/notes.txt", "w").write("older")
third = sorted(name for name in os.listdir("d/kept") if name != "notes.txt")
expect("a fourth run", 0, "best val.rising", "./p", "--out", "d", "--keep", "1", "--epochs", "3", "--patience", "0")
check("of the third", sorted(os.listdir("d/kept.previous")) == sorted(third + ["notes.txt"]), os.listdir("d/kept.previous"))
check("one's own stay", [bytes_of(f"d/{folder}/notes.txt") for folder in ("kept", "kept.previous")] == [b"mine", b"older"])
expect("goes on elsewhere", 0, "the best checkpoint is that of what follows", "./p", "--out", "elsewhere",
       "--resume", "d/checkpoint.safetensors", "--patience", "0")
later = max(CURVES["rising"][step - 1] for step in range(4 * STEPS_PER_EPOCH, STEPS + 1, STEPS_PER_EPOCH))
check("... and has its own best", abs(log("elsewhere")[-1]["best"] - later) < 1e-12, log("elsewhere")[-1])
os.remove("a/best.safetensors")
expect("a best that was removed", 0, "is not the best checkpoint, of step", "./p", "--out", "a", "--resume", "--patience", "0")
run("./p", "--out", "g", "--keep", "2", "--patience", "0", "--epochs", "3")
kept = tree("g")
os.remove("g/best.safetensors")
expect("a run that was killed before its last link", 0, "holds step 9", "./p", "--out", "g", "--resume", "--epochs", "3", "--patience", "0")
check("... has it when it is resumed", tree("g") == kept)

# Other programs' checkpoints.
make_program("q", 'save = best(val.noisy, "max"), stop = patience(2, val.noisy, "min"), validate = 3 steps')
expect("another metric", 0, "does not say which val.noisy was best.*\n.*does not say how val.noisy went", "./q", "--out", "other",
       "--resume", "a/checkpoint.safetensors", "--epochs", str(EPOCHS + 1))
make_program("plain", "seed = 0")
expect("--patience without stop", 1, "does not say what to wait for", "./plain", "--patience", "3")

# Where a file cannot be written a warning tells.
run("./p", "--out", "n", "--keep", "20", "--patience", "0", "--epochs", "1")
os.makedirs("n/kept/step-6.safetensors")
expect("a folder is in the way", 0, "the checkpoint of step 6 is not kept; training goes on", "./p", "--out", "n",
       "--keep", "20", "--patience", "0", "--resume")
check("... of that alone", steps_of("n", "step") == list(range(3, STEPS + 1, 3)) and
      not os.path.isfile("n/kept/step-6.safetensors"))

# Where the file system has no links, copies are made.
with open("nolink.c", "w") as file:
    file.write("#include <errno.h>\nint link(const char *a, const char *b) { (void)a, (void)b; errno = EPERM; return -1; }\n")
check("a file system without links", run("cc", "-shared", "-fPIC", "-o", "nolink.so", "nolink.c").returncode == 0)
for out, words in ("linked", []), ("copied", ["env", "LD_PRELOAD=./nolink.so"]):
    expect(f"{out}", 0, "saved", *words, "./p", "--out", out, "--keep", "3", "--patience", "0")
check("links and copies are the same", tree("linked") == tree("copied"))
check("... but for being links", os.stat("linked/kept/step-36.safetensors").st_nlink == 2 and
      os.stat("copied/kept/step-36.safetensors").st_nlink == 1)

# The dump reads back.
child = run("bash", "-c", f"{nnc} p1.net -D 'train.optimizer=adam(lr = 2e-3)' --dump-after=dce --stop-after=dce >dump.ir && grep '^watch best \"rising\" of \"val\" max 0.0 3' dump.ir && "
            f"{nnc} dump.ir --resume-after=dce --emit=c >dump.c && {nnc} p1.net -D 'train.optimizer=adam(lr = 2e-3)' --emit=c >plain.c && cmp dump.c plain.c")
check("the dump reads back", child.returncode == 0, child.stdout + child.stderr)

summary()
