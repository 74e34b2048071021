#!/usr/bin/env python3
"""Compiles all that gpu.py runs into DIR/bundle.tar.xz, on a machine without a GPU: see bundle.sh.

What does not compile is left out with its message, which gpu.py repeats in its tables."""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[1:1] = [os.path.join(ROOT, "tests/torch")]
import cases
from variant import only_training

SCANS = re.compile(r"\b(scan|rnn|lstm|gru|ctc)\b")
MOST_BYTES = 60 << 20
# Processor seconds of one program, roughly: for the time that is left.
SECONDS = {"gpt2": 15, "resnet50": 60, "mobilenet_v2": 60, "contraction": 1, "convolution": 2, "attention": 3}
LEFT_OUT = "the bundle was made in too short a time"
# What the assembler says of each kernel.
KERNEL = re.compile(r"bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


class Bundle:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.nnc = os.path.join(options.build, "bin/nnc")
        self.environment = dict(os.environ)
        self.begin, self.is_cut, self.children = time.monotonic(), False, set()
        self.offered = {}  # precision: whether nnc has it
        if options.emulator:
            self.environment["NNC_NVRTC"] = os.path.join(options.build, "tests/cuda_emulator/libnvrtc.so.13")
        for name in ("source", "programs", "vectors"):
            os.makedirs(os.path.join(folder, name))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def compile(self, entry, text, words=(), target="cuda"):
        """The program of an entry: entry["program"], or why there is none as entry["failed"]."""
        identity = re.sub(r"\W+", "_", "_".join([entry["kind"], entry["name"], entry.get("type", target)] +
                                                ["loop"] * entry.get("loops", False)))
        folder = self.path("source", identity)
        os.makedirs(folder)
        file = os.path.join(folder, entry.get("file", "net") + ".net")
        with open(file, "w") as stream:
            stream.write(text)
        arch = ["--arch=" + (self.options.arch if target == "cuda" else self.options.cpu)]
        program = os.path.join("programs", identity)
        command = [self.nnc, f"--target={target}", *arch, "-j1", "-v", *words, file, "-o", self.path(program)]
        if self.has_no_time():
            return dict(entry, failed=LEFT_OUT, left_out=True, seconds=0)
        status, output, seconds = self.call(command)
        spills = [int(stores) + int(loads) > 0 for stores, loads in KERNEL.findall(output)]
        entry.update(seconds=round(seconds, 2), kernels=len(spills), spills=sum(spills))
        if status == 0:
            entry["program"] = program
        elif self.is_cut:
            entry.update(failed=LEFT_OUT, left_out=True)
        elif status is None:
            entry["failed"] = f"nnc took more than {self.options.timeout} s"
        else:
            lines = [line for line in output.splitlines() if "error" in line] or output.splitlines()
            entry["failed"] = (lines or ["no message"])[0].replace(file, os.path.basename(file))[:300]
        return entry

    def call(self, command):
        """Status (None: it took too long), output and processor seconds of a command with all that it started."""
        with tempfile.TemporaryFile("w+") as output:
            child = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=output,
                                     stderr=subprocess.STDOUT)
            self.children.add(child)
            is_late = threading.Event()
            timer = threading.Timer(self.options.timeout, lambda: (is_late.set(), child.terminate()))
            timer.start()
            _, status, used = os.wait4(child.pid, 0)
            timer.cancel()
            self.children.discard(child)
            child.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            return None if is_late.is_set() else child.returncode, output.read(), used.ru_utime + used.ru_stime

    def has_no_time(self):
        late = self.options.seconds and time.monotonic() - self.begin > self.options.seconds
        return self.is_cut or late

    def cut(self, *_):
        """Nothing more is compiled; what there is becomes the bundle."""
        self.is_cut = True
        for child in list(self.children):
            child.terminate()

    # ---- the groups of tests/vectors -----------------------------------------------------------

    def vector_jobs(self):
        for path in sorted(glob.glob(os.path.join(ROOT, "tests/vectors/*.net"))):
            group = os.path.basename(path)[:-4]
            with open(path) as stream:
                text = stream.read()
            if re.search(r"\bTYPE\b", text):
                for type_name in ("bf16", "f16", "f64"):
                    yield group, re.sub(r"\bTYPE\b", type_name, text), type_name, True, False
                continue
            for type_name in ["f32"] + ["f64"] * self.options.f64:
                yield group, text, type_name, False, False
                if SCANS.search(text):
                    yield group, text, type_name, False, True

    def build_vectors(self, group, text, type_name, is_own, loops):
        """The program, the variables it starts from and its inputs, as tests/vectors/vectors.c writes them."""
        entry = {"kind": "vectors", "name": group, "type": type_name, "own_type": is_own, "loops": loops}
        words = ([] if is_own else [f"--float={type_name}"]) + ["--scans=loop"] * loops
        entry = self.compile(entry, text, words)
        if "failed" in entry:
            return entry
        place = os.path.join("vectors", f"{group}_{type_name}" + "_loop" * loops)
        work = self.path(place)
        os.makedirs(work)
        vectors = os.path.join(ROOT, "tests/vectors", group + ".safetensors")
        source = os.path.join(work, "program.net")
        with open(source, "w") as stream:
            stream.write(text)
        # With /bin/true as the compiler it stops at the missing executable, when the files are written.
        command = [os.path.join(self.options.build, "tests/vectors"), "/bin/true", source, vectors, work]
        subprocess.run(command + [type_name] * is_own + ["loop"] * loops, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=self.options.timeout)
        kept = {f"start.{type_name}", f"inputs.{type_name}"}
        missing = kept - set(os.listdir(work))
        for name in set(os.listdir(work)) - kept:
            os.remove(os.path.join(work, name))
        if missing:
            entry["failed"] = "tests/vectors/vectors.c did not write " + ", ".join(sorted(missing))
            return entry
        expected = os.path.join("vectors", group + ".safetensors")
        shutil.copy(vectors, self.path(expected))
        entry.update(place=place, expected=expected)
        return entry

    # ---- models and small modules --------------------------------------------------------------

    def offers(self, precision):
        """Whether `precision` knows it."""
        if precision not in self.offered:
            with open(self.path("offer.net"), "w") as file:
                file.write("param p : [1] = zeros\nloss = sum(p)\n" + cases.train_block("sgd(lr = 0)", precision))
            done = subprocess.run([self.nnc, "check", self.path("offer.net")], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
            self.offered[precision] = done.returncode == 0
        return self.offered[precision]

    def model_precisions(self, model):
        """What is compiled, and instead of what: f32 where nnc does not offer a precision."""
        wanted = cases.PRECISIONS[model["file"]]
        lacking = [precision for precision in wanted if not self.offers(precision)]
        replaced = [(precision, None) if precision not in lacking else ("f32", precision) for precision in wanted]
        return [pair for pair in replaced if pair[1] is None or "f32" not in wanted]

    def build_model(self, model, precision, instead_of):
        entry = {"kind": "model", "name": model["name"], "file": model["file"], "type": precision}
        if instead_of:
            entry["instead_of"] = instead_of
        defines = model["tiny"] if self.options.tiny else model["defines"]
        words = [word for key, value in defines.items() for word in ("-D", f"{key}={value}")]
        if precision != "f32":
            words += ["-D", f"train.precision={precision}"]
        entry["defines"] = defines if not self.options.tiny or model["file"] != "mnist" else dict(defines, hidden=24)
        with open(os.path.join(ROOT, "models", model["file"] + ".net")) as stream:
            return self.compile(entry, only_training(self.smaller(stream.read())), words)

    def smaller(self, text):
        """Of the perceptron's 1000 units, in a rehearsal."""
        return text.replace(", 1000,", ", 24,") if self.options.tiny else text

    def build_mnist(self, target):
        """The perceptron as it stands, for both targets: it trains, and checkpoints go both ways."""
        words = ["-D", "batch=10"] if self.options.tiny else []
        with open(os.path.join(ROOT, "models/mnist.net")) as stream:
            return self.compile({"kind": "mnist", "name": "mnist", "file": "mnist", "target": target},
                                self.smaller(stream.read()), words, target)

    def build_check(self, check):
        return self.compile({key: value for key, value in check.items() if key != "text"}, check["text"])

    def jobs(self):
        """In the order in which they matter, should the time end."""
        options = self.options
        yield from ((self.build_mnist, (target,)) for target in ("cuda", "c"))
        models = [[(self.build_model, (model, *pair)) for model in cases.MODELS
                   for pair in self.model_precisions(model)[rank:rank + 1]] for rank in (0, 1)]
        yield from models[0]
        yield from ((self.build_check, (check,)) for check in cases.checks(options.tiny) if self.offers(check["type"]))
        yield from ((self.build_vectors, job) for job in self.vector_jobs())
        yield from models[1]

    def wanted_jobs(self):
        for function, arguments in self.jobs():
            first, words = arguments[0], [function.__name__.replace("build_", "")]
            named = first if isinstance(first, dict) else {"name": first}
            words += [named[key] for key in ("kind", "name", "type") if key in named]
            words += [each for each in arguments[1:] if isinstance(each, str) and "\n" not in each]
            if not self.options.only or re.search(self.options.only, " ".join(words)):
                yield function, arguments

    def build_all(self):
        entries, jobs = [], list(self.wanted_jobs())
        weights = [self.weight(*job) for job in jobs]
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for entry in pool.map(lambda job: job[0](*job[1]), jobs):
                entries.append(entry)
                taken = time.monotonic() - self.begin
                left = taken * sum(weights[len(entries):]) / sum(weights[:len(entries)])
                said = "not built: " + entry["failed"] if "failed" in entry else f"{entry['seconds']} s"
                variant = entry.get("type", entry.get("target")) + " loops" * entry.get("loops", False)
                print(f"{len(entries)}/{len(jobs)} {entry['kind']} {entry['name']} {variant}: {said}; "
                      f"{taken / 60:.1f} min, {left / 60:.0f} min left", flush=True)
        return entries

    def weight(self, _, arguments):
        """Roughly the processor seconds of a job."""
        named = arguments[0] if isinstance(arguments[0], dict) else {}
        return SECONDS.get(named.get("file", named.get("kind")), 5)

    def time_compiler(self):
        """Seconds of `nnc --target=cuda models/gpt2.net`, with an empty cache and again."""
        found = {"cores": len(os.sched_getaffinity(0))}
        with tempfile.TemporaryDirectory() as cache:
            for kind in ("cold", "cached"):
                start = time.monotonic()
                model = os.path.join(ROOT, "models/gpt2.net")
                result = os.path.join(cache, "gpt2")
                subprocess.run([self.nnc, "--target=cuda", f"--cache-dir={cache}", model, "-o", result],
                               env=self.environment, check=True, stdout=subprocess.DEVNULL)
                found[kind] = round(time.monotonic() - start, 2)
        return found


def revision():
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL)
    return done.stdout.strip() or "unknown"


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("--emulator", action="store_true", help="compile for the emulator of the tests")
    parser.add_argument("--tiny", action="store_true", help="the sizes of a rehearsal")
    parser.add_argument("--arch", default="sm_90a", help="of the GPU (default: sm_90a)")
    parser.add_argument("--cpu", default="x86-64-v3", help="of the programs for processors (default: x86-64-v3)")
    parser.add_argument("--f64", action="store_true", help="the vectors in f64, too")
    parser.add_argument("--only", metavar="PATTERN", help="what matches: 'model gpt2', 'vectors scan', 'check'")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=900, help="of one program, in seconds")
    parser.add_argument("--seconds", type=float, help="begin no program later than this")
    parser.add_argument("--no-compile-time", action="store_true", help="do not time nnc on gpt2.net")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    if options.emulator and options.arch == "sm_90a":
        options.arch = "sm_80"
    return options


def write_archive(folder, path):
    with tarfile.open(path, "w:xz") as archive:
        for name in ("manifest.json", "programs", "vectors", "tools"):
            archive.add(os.path.join(folder, name), name)


def total(key, entries):
    return sum(entry.get(key, 0) for entry in entries)


def main():
    options = parse_options()
    os.makedirs(options.folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        bundle = Bundle(options, folder)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, bundle.cut)
        manifest = {"revision": revision(), "tiny": options.tiny, "emulator": options.emulator, "arch": options.arch,
                    "entries": bundle.build_all()}
        manifest["lacking"] = [precision for precision, is_there in bundle.offered.items() if not is_there]
        if not options.no_compile_time and not bundle.is_cut:
            manifest["compile_seconds"] = bundle.time_compiler()
        os.makedirs(bundle.path("tools"))
        shutil.copy(os.path.join(options.build, "bin/nnc-digits"), bundle.path("tools/nnc-digits"))
        with open(bundle.path("manifest.json"), "w") as stream:
            json.dump(manifest, stream, indent=1)
        archive = os.path.join(options.folder, "bundle.tar.xz")
        write_archive(folder, archive)
    entries = manifest["entries"]
    size, failed = os.path.getsize(archive), sum("failed" in entry for entry in entries)
    print(f"{archive}: {size / 1e6:.1f} MB, {len(entries) - failed} programs, {failed} not built; "
          f"{(time.monotonic() - bundle.begin) / 60:.1f} min, {sum(entry['seconds'] for entry in entries):.0f} s of "
          f"processors; of {total('kernels', entries)} kernels compiled {total('spills', entries)} spill")
    if size > MOST_BYTES:
        sys.exit(f"bundle.py: more than {MOST_BYTES >> 20} MiB")


if __name__ == "__main__":
    main()
