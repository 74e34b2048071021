"""Injections: text that means something to C, to a shell or to a terminal, wherever a user's text may stand.

Each payload goes to each place: the path of the program, comments, names of values, of layers and of classes, files of data and of
extern operators. No payload may become code of the emitted C, an option of a command, a file elsewhere, or an escape of the terminal.
"""
import os
import re

from limits import complaint, run, side_by_side

MARK = "injected_code"
PAYLOADS = [
    "*/ int %s; /*" % MARK,
    "// \\",
    '"; int %s; "' % MARK,
    "??/",
    "%s%n%1000000d",
    "$(touch MARKER)",
    "`touch MARKER`",
    "; touch MARKER ;",
    "' ; touch MARKER ; '",
    "-Wl,-e,0",
    "@options",
    "\x1b]0;owned\x07\x1b[2J",
    "\u202egnp.exe",
    "*/\n#error %s\n/*" % MARK,
    "a\tb\rc",
    "\\\n#define float double",
    "../../escape",
    "-o",
    "x" * 200,
]
MODEL = """# %(comment)s
const batch = 2
data train { x, label = csv("%(table)s") | categories(label) }
input x : f32[batch]
input label : i32[batch]
w = linear(reshape(x, [batch, 1]), 2, name = "%(layer)s")
loss = cross_entropy(w, label)
train { minimize = loss, optimizer = sgd(lr = 0.1), steps = 2 }
predict { label_guess = argmax(w) }
"""


def strip(text):
    """C without comments and without what stands in strings."""
    text = re.sub(r"\\\n", "", text)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', " ", text, flags=re.S)


def quoted(payload):
    """As a string of the language."""
    return payload.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class Injections:
    PLACES = ["path", "comment", "layer", "class", "extern"]

    def __init__(self, build, work, tally):
        self.nnc, self.work, self.tally = build + "/bin/nnc", work, tally
        self.environment = dict(os.environ, XDG_CACHE_HOME=work + "/cache")

    def cases(self):
        return [(payload, place) for payload in PAYLOADS for place in self.PLACES]

    def write(self, folder, payload, place):
        name = "model"
        if place == "path":
            name = payload.replace("/", "\u2215")[:100]
        parts = {"comment": "fine", "table": "t.csv", "layer": "fine"}
        if place == "comment":
            parts["comment"] = payload.replace("\n", " ").replace("\r", " ")
        if place == "layer":
            parts["layer"] = quoted(payload)
        text = MODEL % parts
        if place == "extern":
            text += 'extern f(v : f32[...]) : f32[v.shape] { c = "%s" }\ny = f(x)\npredict2 = y\n' % quoted(payload)
        classes = [payload if place == "class" else "a", "b"]
        with open(folder + "/t.csv", "w", newline="") as file:
            file.write("x,label\n" + "".join('%d,"%s"\n' % (i, classes[i % 2].replace('"', '""')) for i in range(8)))
        path = "%s/%s.net" % (folder, name)
        with open(path, "w", newline="") as file:
            file.write(text)
        return name + ".net"

    def judge(self, number):
        payload, place = self.cases()[number]
        folder = "%s/i%d" % (self.work, number)
        os.makedirs(folder)
        file = "./" + self.write(folder, payload, place)
        before = set(os.listdir(os.path.dirname(folder)))
        emitted = run([self.nnc, "--emit=c", "-o", "out.c", file], folder=folder, environment=self.environment, seconds=60)
        built = run([self.nnc, "-g", "--cflags=-O0", "--units=1", "-o", "out", file], folder=folder, environment=self.environment, seconds=100)
        outcomes, problem = [emitted, built], complaint(emitted) or complaint(built)
        if os.path.exists(folder + "/out.c"):
            with open(folder + "/out.c", encoding="utf-8", errors="replace") as stream:
                if re.search(r"\b%s\b" % MARK, strip(stream.read())):
                    problem = problem or "is code of the emitted C"
        if built.status == 0:
            for command in (["train", "-q"], ["predict", "t.csv"], ["info"], ["train", "-q", "--resume", "--steps", "3"]):
                outcomes.append(run(["./out"] + command, folder=folder))
                problem = problem or complaint(outcomes[-1])
        elif place in ("path", "comment", "class"):
            problem = problem or "does not compile"
        if any(b"\x1b" in outcome.err or b"\x1b" in outcome.out for outcome in outcomes):
            problem = problem or "reaches the terminal"
        made = set(os.listdir(os.path.dirname(folder))) - before - {"i%d" % k for k in range(len(self.cases()))} - {"cache"}
        if os.path.exists(folder + "/MARKER") or made:
            problem = problem or "is executed, or makes files elsewhere: %s" % sorted(made)
        self.tally.add("%r at %s" % (payload[:40], place), problem, next((o for o in outcomes if o.status not in (0,)), None))

    def run(self, jobs):
        side_by_side(jobs, len(self.cases()), self.judge)
