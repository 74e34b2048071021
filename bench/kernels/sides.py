"""The sides of bench/kernels.py, each on as many processors as it has threads: Ours, Theirs, Machine.

All are processes: an executable of nnc's a row, a peer.py for each number of threads, bench/limits.c."""
import argparse
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, ".."))
from step_bound import compiler  # noqa: E402

MOST_STEPS = 2000
MOST_RESULT = 4 << 30  # bytes that must be free in /dev/shm for operands and results to go there
# Memory that was freed stays with the process, in huge pages, as ours does.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "8589934592", "MALLOC_TRIM_THRESHOLD_": "17179869184",
               "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
EMPTY = b"\x02\0\0\0\0\0\0\0{}"  # a safetensors file without tensors


class Failure(Exception):
    """This row cannot be measured."""


def stop(message):
    """Nothing can be measured."""
    print("%s: %s" % (os.path.basename(sys.argv[0]), message), file=sys.stderr)
    sys.exit(2)


def results_place():
    """Where operands and results are handed over: in memory where there is enough for them."""
    return "/dev/shm" if os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > MOST_RESULT else None


def pinned(cpus):
    return lambda: os.sched_setaffinity(0, cpus)


def output(words, cpus=None):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=pinned(cpus) if cpus else None)
    if done.returncode != 0:
        raise Failure("%s: status %d: %s" % (words[0], done.returncode, done.stderr.decode(errors="replace")[-800:]))
    return done.stdout.decode()


class Ours:
    """The executable of a row; `flags` are further ones of nnc's."""

    def __init__(self, nnc, folder, results, number, row, flags=()):
        self.flags = flags
        self.path, self.row, self.nnc = os.path.join(folder, "row%d" % number), row, nnc
        self.inputs, self.saved = (os.path.join(results, name) for name in ("inputs", "result"))
        self.estimate = {}  # threads: the least ms of a step
        self.failure = None

    def build(self):
        """Of a row that nnc refuses the failure is kept."""
        try:
            self.compile()
        except Failure as failure:
            self.failure = failure

    def compile(self):
        with open(self.path + ".net", "w") as file:
            file.write(self.row.text)
        output([self.nnc, "-j1", self.path + ".net", "--float=" + self.row.dtype, *self.flags,
                "-o", self.path])

    def result(self, cpus):
        """A file of the operands and the result of one step."""
        if self.failure:
            raise self.failure
        with open(self.inputs, "wb") as file:
            file.write(EMPTY)
        output([self.path, "step", self.saved, "--steps", 1, "--inputs", self.inputs, "--threads", len(cpus)], cpus)
        return self.saved

    def bench(self, cpus, steps, warmup):
        found = json.loads(output([self.path, "bench", "--all", "--steps", steps, "--warmup", warmup, "--threads",
                                   len(cpus)], cpus))
        counted = found["product_gflop"] * 1e9
        if abs(counted - self.row.flop) > 1e-6 * self.row.flop:
            raise Failure("the compiler counts %.9g flop, the bench %.9g" % (counted, self.row.flop))
        return found["all_ms"]

    def time(self, cpus, seconds):
        """Milliseconds of some `seconds` of steps, by the fastest that were seen; a tenth of that to get warm."""
        threads = len(cpus)
        if threads not in self.estimate:
            self.estimate[threads] = min(self.bench(cpus, 2, 1))
        steps = max(1, min(MOST_STEPS, round(1e3 * seconds / max(self.estimate[threads], 1e-6))))
        found = self.bench(cpus, steps, max(1, steps // 10))
        self.estimate[threads] = min(self.estimate[threads], *found)
        return found

    def remove(self):
        for path in (self.path, self.path + ".net", self.inputs, self.saved):
            if os.path.exists(path):
                os.remove(path)


def mkl_library(python):
    """The library that has MKL use its fast kernels on every processor, made of bench/peers/mkl_fast.c."""
    source = os.path.join(HERE, "../peers/mkl_fast.c")
    library = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(python))), "lib/mkl_fast.so")
    if not os.path.exists(library) or os.path.getmtime(library) < os.path.getmtime(source):
        output([compiler(None), "-O2", "-shared", "-fPIC", source, "-o", library])
    return library


def options_of(doc, bench, add, **defaults):
    """What programs beside predict.py in the folder `bench` are told: add(parser) adds their own; `defaults`: threads, rounds,
    seconds. Stops where there are no peers."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    add(parser)
    parser.add_argument("--threads", default=defaults["threads"], type=lambda text: [int(word) for word in text.split(",")])
    parser.add_argument("--rounds", type=int, default=defaults["rounds"])
    parser.add_argument("--seconds", type=float, default=defaults["seconds"])
    parser.add_argument("--build", default=os.path.join(bench, "../build"))
    parser.add_argument("--peers", default=os.path.join(bench, "../build/peers"))
    parser.add_argument("--json")
    options = parser.parse_args()
    options.python = os.path.join(options.peers, "bin/python")
    if not os.path.exists(options.python):
        stop("no %s; bench/peers/install.sh makes it" % options.python)
    return options


def write_json(options, found):
    """What was found, where --json tells."""
    if options.json:
        with open(options.json, "w") as file:
            json.dump(found, file, indent=1)


class Theirs:
    """A peer.py, or another script of that kind, that waits for requests."""

    def __init__(self, python, cpus, script=os.path.join(HERE, "peer.py")):
        threads = str(len(cpus))
        names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMEXPR_MAX_THREADS")
        environment = {**os.environ, **KEEP_MEMORY, **{name: threads for name in names},
                       "LD_PRELOAD": " ".join(filter(None, [mkl_library(python), os.environ.get("LD_PRELOAD")]))}
        self.process = subprocess.Popen([python, script, threads], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=environment, preexec_fn=pinned(cpus), text=True)

    def ask(self, **request):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            stop("the peers' process ended (bench/peers/install.sh installs what it needs)")
        answer = json.loads(answer)
        if "error" in answer:
            raise Failure("peer: " + answer["error"])
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Machine:
    """bench/limits.c: the best that each number of threads reached so far."""

    def __init__(self, folder, cc=None):
        self.path, self.best = os.path.join(folder, "limits"), {}
        output([compiler(cc), "-O2", "-march=native", "-pthread", os.path.join(HERE, "../limits.c"), "-o", self.path])

    def measure(self, cpus, what):
        """what: fma or memory."""
        best = self.best.setdefault(len(cpus), {})
        for key, value in json.loads(output([self.path, len(cpus), 1, what], cpus)).items():
            best[key] = max(value, best.get(key, 0))
