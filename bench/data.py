#!/usr/bin/env python3
"""Loading photographs here, by PyTorch's DataLoader and by tf.data, in turn, in one run: pictures a second and core.

    bench/data.py FOLDER [--threads 1,2] [--tasks crop,resized] [--rounds N] [--pictures N] [--libraries torch,tensorflow]
                         [--build DIR] [--peers DIR] [--json FILE]

FOLDER has a folder of JPEG files for each class, or holds such folders (as train and test); its files are
linked as often as it takes to make so many pictures (2000). Tasks:

  crop      shorter side to 256, random crop of 224, random flip; bytes
  resized   random resized crop of 224, random flip, normalized floats

Ours is `OUT bench --data-only`; what normalizing costs in the network's step is measured too and added to it.
PyTorch decodes with torchvision.io or Pillow, in as many processes as threads or in none: the fastest way
counts. `plain` is data/jpeg_loop.c, C over libjpeg-turbo that decodes every file whole and does the same work; before it is
timed, what it makes of parts of some pictures is compared with ours. `decode` is that loop without the work: it only
decodes, a bound for what decodes files whole, and no peer.

All are bound to as many processors as threads. Rounds alternate, the best of each counts; rates are divided by
the threads. A ratio is ours by one of the peers; the bar is 1.2 for each, and 1.9 from one thread to two.
--peers is an environment of Python with torch, torchvision and tensorflow; what it lacks is left out, and with
--libraries none both."""
import argparse
import array
import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BATCH, BAR, SCALING = 32, 1.2, 1.9
# ours rounds scaled pixels to bytes: of 255 at most so much lies between it and the floats of the loop
TOLERANCE, COMPARED, PARTS = 0.51, 8, (120, 224, 350)
DEVIATIONS = (0.229, 0.224, 0.225)

PROGRAM = """
const batch = 32
const workers = 1
data train { image = image_folder("train", workers = workers) | STAGES | random_flip | prefetch }
input image : TYPE[batch, 3, 224, 224]
param w : f32[3, 1, 1] = zeros
loss = mean(EXPRESSION * w)
train { minimize = loss, optimizer = sgd(lr = 1e-9), epochs = 1 }
"""
NORMALIZED = "normalize(image, mean = [0.485, 0.456, 0.406], std = [0.229, 0.224, 0.225])"
COMPARISON = """
const batch = 8
const side = 224
data predict { image = files() | center_crop(side) | resize(224, 224) }
input image : u8[batch, 3, 224, 224]
predict { values = EXPRESSION }
""".replace("EXPRESSION", NORMALIZED)
TASKS = {
    "crop": ("resize(256) | random_crop(224)", "u8", "f32(image)"),
    "resized": ("random_resized_crop(224)", "u8", NORMALIZED),
}


def link_pictures(folder, count, to):
    """As many pictures as wanted, spread over classes as they are."""
    files = sorted(f for f in glob.glob(os.path.join(folder, "**", "*"), recursive=True)
                   if f.lower().endswith((".jpg", ".jpeg")))
    if not files:
        sys.exit(f"{folder} holds no JPEG files")
    for i in range(count):
        source = os.path.abspath(files[i % len(files)])
        place = os.path.join(to, "train", os.path.basename(os.path.dirname(source)))
        os.makedirs(place, exist_ok=True)
        os.symlink(source, os.path.join(place, f"{i // len(files)}-{os.path.basename(source)}"))


def bound(threads):
    processors = sorted(os.sched_getaffinity(0))[:threads]
    if len(processors) < threads:
        sys.exit(f"--threads {threads}: this process may use {len(processors)} processors")
    return lambda: os.sched_setaffinity(0, processors)


class Ours:
    def __init__(self, options, task, threads, data):
        stages, kind, expression = TASKS[task]
        self.path = os.path.join(data, f"{task}{threads}")
        self.data, self.threads, self.name = data, threads, "nnc"
        self.is_normalized = "normalize" in expression
        self.steps = options.pictures // BATCH
        text = PROGRAM.replace("STAGES", stages).replace("TYPE", kind).replace("EXPRESSION", expression)
        with open(self.path + ".net", "w") as file:
            file.write(text)
        subprocess.run([os.path.join(options.build, "bin/nnc"), self.path + ".net", "-o", self.path, "-D",
                        f"workers={threads}"], check=True, stderr=subprocess.DEVNULL)

    def call(self, *words):
        done = subprocess.run([self.path, "bench", "--threads", str(self.threads), *words], stdout=subprocess.PIPE,
                              check=True, preexec_fn=bound(self.threads))
        return json.loads(done.stdout)

    def one(self):
        loaded = self.call("--data-only", "--data", self.data, "--steps", str(self.steps), "--warmup", "3")
        seconds = loaded["seconds"] / loaded["examples"]
        if self.is_normalized:
            seconds += self.call("--steps", "30")["step_ms"] * 1e-3 / BATCH
        return 1 / seconds


class Peer:
    def __init__(self, options, library, task, threads, data):
        self.pictures = options.pictures // BATCH * BATCH
        environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
        self.process = subprocess.Popen(
            [os.path.join(options.peers, "bin/python"), os.path.join(HERE, "data/peer.py"), library, task, str(threads),
             os.path.join(data, "train")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, preexec_fn=bound(threads), env=environment)
        self.name = self.process.stdout.readline().strip()
        if not self.name:
            print(f"{library} is left out: {(self.process.stderr.read().strip().splitlines() or ['it ended'])[-1]}")

    def one(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.pictures / float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def pictures_of(data):
    return sorted(glob.glob(os.path.join(data, "train", "*", "*")))


class Loop:
    """A process a thread, each with its share of the files."""

    def __init__(self, path, work, threads, data):
        files = pictures_of(data)
        self.name, self.threads, self.count = "jpeg_loop.c", threads, len(files)
        self.calls = [[path, work, *files[t::threads]] for t in range(threads)]

    def one(self):
        running = [subprocess.Popen(call, stdout=subprocess.PIPE, preexec_fn=bound(self.threads)) for call in self.calls]
        return self.count / max(float(process.communicate()[0]) for process in running)


def compare(options, loop, data):
    """Ends the program where the loop makes other pictures of some files than ours."""
    path, files = os.path.join(data, "compared"), pictures_of(data)[:COMPARED]
    with open(path + ".net", "w") as file:
        file.write(COMPARISON)
    furthest = 0
    for side in PARTS:
        subprocess.run([os.path.join(options.build, "bin/nnc"), path + ".net", "-o", path, "-D", f"side={side}"],
                       check=True, stderr=subprocess.DEVNULL)
        subprocess.run([path, "predict", "--npy", path + ".out", *files], check=True)
        ours, theirs = array.array("f"), array.array("f")
        theirs.frombytes(subprocess.run([loop, "middle", str(side), *files], stdout=subprocess.PIPE, check=True).stdout)
        with open(os.path.join(path + ".out", "values.npy"), "rb") as file:
            ours.frombytes(file.read()[-4 * len(theirs):])
        plane = 224 * 224
        for c in range(3 * len(files)):
            part = slice(c * plane, (c + 1) * plane)
            apart = max(map(lambda a, b: abs(a - b), ours[part], theirs[part]))
            furthest = max(furthest, apart * DEVIATIONS[c % 3] * 255)
    print(f"plain and nnc, {len(files)} pictures, parts of {', '.join(map(str, PARTS))}: at most {furthest:.2f} of 255 apart")
    if furthest > TOLERANCE:
        sys.exit(f"data/jpeg_loop.c makes other pictures than nnc: more than {TOLERANCE} of 255")


def sides_of(options, task, threads, data, loop):
    sides = {"nnc": Ours(options, task, threads, data), "decode": Loop(loop, "decode", threads, data),
             "plain": Loop(loop, task, threads, data)}
    for library in options.libraries.split(",") if options.libraries != "none" else []:
        peer = Peer(options, library, task, threads, data)
        if peer.name:
            sides[library] = peer
    return sides


def measure(options, task, data, loop):
    """For each number of threads pictures a second of each side, by name: the best round."""
    sides = {threads: sides_of(options, task, threads, data, loop) for threads in map(int, options.threads.split(","))}
    rates = {threads: {name: 0 for name in some} for threads, some in sides.items()}
    for _ in range(options.rounds):
        for threads, some in sides.items():
            for name, side in some.items():
                rates[threads][name] = max(rates[threads][name], side.one())
    for side in (side for some in sides.values() for side in some.values()):
        if isinstance(side, Peer):
            side.close()
    return [{"task": task, "threads": threads, "names": {name: side.name for name, side in some.items()},
             "rates": rates[threads]} for threads, some in sides.items()]


def judge(results):
    is_met = True
    print(f"{'task':<9} {'threads':>7}  {'nnc':>7} {'decode':>7}  {'peers':<38} {'':>7} {'ratio':>6}")
    for found in results:
        rates = {name: rate / found["threads"] for name, rate in found["rates"].items()}
        peers = [name for name in ("plain", "torch", "tensorflow") if name in rates]
        line = f"{found['task']:<9} {found['threads']:>7}  {rates['nnc']:7.0f} {rates['decode']:7.0f}"
        for name in sorted(peers, key=rates.get, reverse=True):
            ratio = rates["nnc"] / rates[name]
            print(f"{line}  {found['names'][name]:<38} {rates[name]:7.0f} {ratio:6.2f}")
            line = " " * len(line)
        is_met = is_met and all(rates["nnc"] >= BAR * rates[name] for name in peers)
    for task in {found["task"] for found in results}:
        rate = {found["threads"]: found["rates"]["nnc"] for found in results if found["task"] == task}
        if 1 in rate and 2 in rate:
            print(f"{task}: two threads load {rate[2] / rate[1]:.2f} times what one loads")
            is_met = is_met and rate[2] >= SCALING * rate[1]
    return is_met


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--tasks", default="crop,resized")
    parser.add_argument("--libraries", default="torch,tensorflow")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pictures", type=int, default=2000)
    parser.add_argument("--build", default=os.path.join(HERE, "../build"))
    parser.add_argument("--peers", default=os.path.join(HERE, "../build/peers"))
    parser.add_argument("--json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as data:
        link_pictures(options.folder, options.pictures, data)
        loop = os.path.join(data, "jpeg_loop")
        subprocess.run(["cc", "-O3", "-march=native", os.path.join(HERE, "data/jpeg_loop.c"), "-ljpeg", "-lm", "-o", loop],
                       check=True)
        compare(options, loop, data)
        results = [found for task in options.tasks.split(",") for found in measure(options, task, data, loop)]
    is_met = judge(results)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)
    sys.exit(0 if is_met else 1)


main()
