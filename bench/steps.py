#!/usr/bin/env python3
"""Training steps of models here and in today's libraries, in turn, in one run: times, ratios, bars.

    bench/steps.py [MODEL...] [--own] [--threads N] [--cpus 0,1] [--rounds N] [--seconds S]
                   [--precision f32|bf16|bf16x3] [--ways WAY,...] [--build DIR] [--peers DIR] [--folder DIR]
                   [--json FILE] [--plot FILE]

PyTorch's side is the twin of the model, tests/torch/twins/NAME.py: the same network, loss, optimizer and clipping on
the same shapes (bench/steps/sizes.py; with --own those of the model's file), eager and by torch.compile, networks of pictures also with their channels last,
all with fused updates and scaled_dot_product_attention (bench/steps/peer.py). The perceptron also stands beside JAX's
jitted step with donated buffers, and tinygrad's. With --precision bf16 ours has `precision = bf16`, PyTorch autocast;
with bf16x3 ours has that, PyTorch f32. Ours in f32 stands beside both. A step is forward, backward and update; its inputs lie in memory.

Rounds alternate: the machine's peak (bench/limits.c), `OUT bench`, each peer, on the same processors. The table has
the least and the median of all steps; the ratio is the best peer's least by our least, above 1 nnc is faster, and
that of the medians stands beside it. `bound` is what contractions and convolutions take at the machine's fastest
multiply-add, as a share of our time. A row below its bar is red on a terminal, else it ends with MISSED.

--folder keeps the executables and what torch.compile made, so that the next run with it only measures.
Status: 0 all bars met, 1 one is missed or could not be measured, 2 wrong usage or nothing to measure with."""
import argparse
import json
import math
import os
import signal
import statistics
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(HERE, folder) for folder in ("steps", "kernels", "../tests/torch")]
import bars                                     # noqa: E402
import sides                                    # noqa: E402
from sizes import SIZES, constants_of           # noqa: E402
from variant import apply_edits, only_training  # noqa: E402

BAR, MEAN_BAR = 1.1, 1.6
OWN_BARS = {"mnist": 1.3}  # beside JAX
# With bf16 on a machine with matrix tiles: beside autocast, and beside our f32; elsewhere beside our f32 alone.
TILED = {"gpt": (1.2, 2), "gpt2": (1.2, 2), "bert": (1.2, 2), "vit_s": (1.2, 2), "resnet18": (1.2, 2),
         "resnet50": (1.2, 2)}
SPLIT = {"gpt2": 1.4, "vit_s": 1.4}  # with bf16x3 on such a machine, beside our f32
OTHERS = ["jax_perceptron.py", "tinygrad_perceptron.py"]
BOUNDS = {"mnist": 1.22, "mnist_cnn": 1.4, "lenet": 1.7}  # a step's time by its bound, at most
WAYS = ["eager", "compiled", "eager, last", "compiled, last"]
MOST_STEPS = 500


def has_tiles():
    with open("/proc/cpuinfo") as file:
        return "amx_bf16" in file.read()


class Ours:
    """The executable, made of the text that the comparison of numbers uses too."""

    def __init__(self, options, cpus, name, edits, precision, limit=0):
        """limit: bytes for --memory-limit."""
        self.path, self.cpus = os.path.join(options.folder, name + "-" + precision), cpus
        self.path += "-%d" % limit if limit else ""
        self.path += "-own" if options.own else ""
        self.seconds_of_compile = None
        if not os.path.exists(self.path):
            with open(os.path.join(HERE, "../models", name + ".net")) as file:
                text = only_training(apply_edits(file.read(), edits))
            with open(self.path + ".net", "w") as file:
                file.write(text)
            words = [word for key, value in constants_of(name, options.own).items()
                     for word in ("-D", "%s=%s" % (key, value))]
            words += ["-D", "train.precision=" + precision] if precision != "f32" else []
            words += ["--memory-limit=%d" % limit, "--threads=%d" % len(cpus)] if limit else []
            start = time.time()
            sides.output([os.path.join(options.build, "bin/nnc"), self.path + ".net", *words, "-o", self.path])
            self.seconds_of_compile = time.time() - start
        self.info = json.loads(sides.output([self.path, "info", "--json"]))
        self.ms = math.inf

    def variables(self):
        """A file of them as they are before the first step."""
        inputs, result = self.path + ".inputs", self.path + ".variables"
        with open(inputs, "wb") as file:
            file.write(sides.EMPTY)
        sides.output([self.path, "step", result, "--steps", "0", "--inputs", inputs])
        os.remove(inputs)
        return result

    def kinds(self):
        return {entry["name"]: entry["kind"] for entry in self.info["variables"]}

    def run(self, steps, warmup):
        found = json.loads(sides.output([self.path, "bench", "--all", "--steps", steps, "--warmup", warmup,
                                         "--threads", len(self.cpus)], self.cpus))
        self.gflop = found["product_gflop"]
        self.ms = min(self.ms, *found["all_ms"])
        return found["all_ms"]

    def time(self, seconds):
        if self.ms == math.inf:
            self.run(2, 1)
        return self.run(max(2, min(MOST_STEPS, round(1e3 * seconds / self.ms))), 1)


def is_of_pictures(info):
    return any(len(entry["shape"]) > 2 and entry["dtype"] == "u8" for entry in info["inputs"])


class Bench:
    def __init__(self, options):
        self.options = options
        allowed = sorted(options.cpus or os.sched_getaffinity(0))
        if options.threads > len(allowed):
            sides.stop("%d threads, but %d processors" % (options.threads, len(allowed)))
        self.cpus = allowed[:options.threads]
        self.python = os.path.join(options.peers, "bin/python")
        if not os.path.exists(self.python):
            sides.stop("no %s; bench/peers/install.sh makes it, --peers tells where it is" % self.python)
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(options.folder, "inductor")
        self.machine = sides.Machine(options.folder)
        self.versions = {}

    def start(self, script):
        peer = sides.Theirs(self.python, self.cpus, os.path.join(HERE, "steps", script))
        self.versions.update(peer.ask(do="versions"))
        return peer

    def load(self, name):
        """Our executables by precision, and the peers."""
        torch, options = self.start("peer.py"), self.options
        edits = torch.ask(do="twin", model=name)["edits"]
        precisions = ["f32"] + [options.precision] * (options.precision != "f32")
        ours = {precision: Ours(options, self.cpus, name, edits, precision) for precision in precisions}
        first = ours["f32"]
        request = {"do": "load", "variables": first.variables(), "kinds": first.kinds(),
                   "inputs": first.info["inputs"],
                   "precision": "bf16" if options.precision == "bf16" else "f32",
                   "ways": [way for way in options.ways if "last" not in way or is_of_pictures(first.info)]}
        peers = [(torch, torch.ask(**request))]
        if name == "mnist" and options.precision == "f32" and options.others:
            for script in OTHERS:
                other = self.start(script)
                peers.append((other, other.ask(do="load")))
        os.remove(request["variables"])
        return ours, peers

    def measure(self, name):
        options = self.options
        ours, peers = self.load(name)
        our_ms, their_ms = {precision: [] for precision in ours}, {}
        for _ in range(options.rounds):
            self.machine.measure(self.cpus, "fma")
            for precision, side in ours.items():
                our_ms[precision] += side.time(options.seconds)
            for peer, _ in peers:
                for way, ms in peer.ask(do="time", seconds=options.seconds)["ms"].items():
                    their_ms.setdefault(way, []).extend(ms)
        for peer, _ in peers:
            peer.close()
        least = lambda ms: {"least": min(ms), "median": statistics.median(ms), "samples": len(ms)}
        own = ours[options.precision]
        return {"ours": least(our_ms[options.precision]), "ours_f32": least(our_ms["f32"]), "gflop": own.gflop,
                "peers": {way: least(ms) for way, ms in their_ms.items()}, "compile_s": own.seconds_of_compile,
                "failed": {way: why for _, loaded in peers for way, why in loaded["failed"].items()},
                "built_s": {way: seconds for _, loaded in peers for way, seconds in loaded["built"].items()}}

    def run(self):
        findings = []
        for count, name in enumerate(self.options.models):
            print("[%d/%d] %s" % (count + 1, len(self.options.models), name), end="\r" if sys.stderr.isatty() else "\n",
                  file=sys.stderr, flush=True)
            finding = {"model": name, "constants": constants_of(name, self.options.own), "precision": self.options.precision,
                       "threads": self.options.threads}
            try:
                finding.update(self.measure(name))
            except sides.Failure as failure:
                finding["failure"] = str(failure)
            findings.append(finding)
            print(line(finding, self.peak(), sys.stdout.isatty()), flush=True)
        return findings

    def peak(self):
        return self.machine.best.get(len(self.cpus), {}).get("fma_gflops")


# ---- the judgement -----------------------------------------------------------------------------

def best(finding, kind="least"):
    return min(finding["peers"], key=lambda way: finding["peers"][way][kind])


def ratio(finding, kind="least"):
    return finding["peers"][best(finding, kind)][kind] / finding["ours"][kind]


def gain(finding):
    """Of the precision over our own f32."""
    return finding["ours_f32"]["least"] / finding["ours"]["least"]


def bar_of(finding):
    """Beside the best peer."""
    if finding["precision"] == "f32":
        return OWN_BARS.get(finding["model"], BAR)
    return TILED.get(finding["model"], (0, 1))[0] if finding["precision"] == "bf16" and has_tiles() else 0


def gain_bar(finding):
    """Beside our own f32."""
    if finding["precision"] == "bf16x3":
        return SPLIT.get(finding["model"], 0) if has_tiles() else 0
    return TILED.get(finding["model"], (0, 1))[1] if has_tiles() else 1


def is_met(finding, peak):
    if "failure" in finding:
        return False
    good = ratio(finding) >= bar_of(finding)
    if finding["precision"] != "f32":
        return good and gain(finding) >= gain_bar(finding)
    most = BOUNDS.get(finding["model"])
    return good and not (most and peak and finding["ours"]["least"] > most * 1e3 * finding["gflop"] / peak)


HEAD = "%-14s %9s %9s %8s %6s %9s %9s %-15s %6s %7s %5s" % (
    "model", "nnc ms", "median", "GFLOP/s", "bound", "peer ms", "median", "best peer", "ratio", "median", "bar")


def line(finding, peak, is_coloured):
    if "failure" in finding:
        text = "%-14s not measured: %s" % (finding["model"], finding["failure"].replace("\n", " ")[:300])
    else:
        ours, way = finding["ours"], best(finding)
        speed = finding["gflop"] / ours["least"] * 1e3
        text = "%-14s %9.3f %9.3f %8.1f %6s %9.3f %9.3f %-15s %6.2f %7.2f %5.2f" % (
            finding["model"], ours["least"], ours["median"], speed, "%.0f %%" % (100 * speed / peak) if peak else "",
            finding["peers"][way]["least"], finding["peers"][way]["median"], way, ratio(finding),
            ratio(finding, "median"), bar_of(finding))
        if finding["precision"] != "f32":
            text += "  %.2f of f32" % gain(finding)
    if is_met(finding, peak):
        return text
    return "\033[31m%s\033[0m" % text if is_coloured else text + " MISSED"


def mean_ratio(findings, kind="least"):
    ratios = [ratio(each, kind) for each in findings if "failure" not in each]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 0


def plot(findings, path):
    rows = sorted(((each["model"], ratio(each), bar_of(each) or 1) for each in findings if "failure" not in each),
                  key=lambda row: row[1])
    stem = path[:-4] if path.endswith((".png", ".svg")) else path
    return bars.plot([("geometric mean", mean_ratio(findings), MEAN_BAR), *rows], "times as fast as the best peer",
                     stem)


def shared_options(description):
    """A parser of what memory.py takes as well."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--own", action="store_true", help="models at the sizes of their files")
    parser.add_argument("--ways", default="; ".join(WAYS), help="of PyTorch, with ; between; default %(default)s")
    parser.add_argument("--build", default=os.path.join(HERE, "../build"))
    parser.add_argument("--peers", default=os.path.join(HERE, "../build/peers"), help="the folder of install.sh")
    parser.add_argument("--folder", help="where executables are kept")
    parser.add_argument("--json", metavar="FILE")
    return parser


def parse_shared(parser):
    options = parser.parse_args()
    unknown = [name for name in options.models if name not in SIZES]
    if unknown:
        parser.error("no size for %s; there are %s" % (", ".join(unknown), ", ".join(SIZES)))
    options.ways = [way.strip() for way in options.ways.split(";")]
    if set(options.ways) - set(WAYS):
        parser.error("--ways: of %s" % "; ".join(WAYS))
    return options


def parse_options():
    parser = shared_options(__doc__)
    parser.add_argument("--cpus", help="processors to use, the first so many for so many threads; default all allowed")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each side in a round")
    parser.add_argument("--precision", choices=["f32", "bf16", "bf16x3"], default="f32")
    parser.add_argument("--no-others", dest="others", action="store_false", help="without JAX and tinygrad")
    parser.add_argument("--plot", metavar="FILE")
    options = parse_shared(parser)
    models = {"f32": SIZES, "bf16": TILED, "bf16x3": SPLIT}
    options.models = options.models or list(models[options.precision])
    options.cpus = [int(cpu) for cpu in options.cpus.split(",")] if options.cpus else []
    return options


def main():
    options = parse_options()
    if not os.path.exists(os.path.join(options.build, "bin/nnc")):
        sides.stop("no %s/bin/nnc; --build tells where it is" % options.build)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # folders go
    with tempfile.TemporaryDirectory() as folder:
        options.folder = os.path.abspath(options.folder or folder)
        os.makedirs(options.folder, exist_ok=True)
        bench = Bench(options)
        print("%d threads, %s, a step" % (options.threads, options.precision) + "\n" + HEAD, flush=True)
        findings = bench.run()
    mean, missed = mean_ratio(findings), sum(not is_met(each, bench.peak()) for each in findings)
    print("geometric mean %.2f (medians %.2f), bar %.2f; %d of %d rows missed; %s" % (
        mean, mean_ratio(findings, "median"), MEAN_BAR, missed, len(findings),
        ", ".join("%s %s" % pair for pair in bench.versions.items() if pair[0] != "threads")))
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"machine": bench.machine.best, "versions": bench.versions, "findings": findings}, file, indent=1)
    if options.plot and mean:
        print("plot: %s" % plot(findings, options.plot))
    return 0 if not missed and (mean >= MEAN_BAR or options.precision != "f32") else 1


if __name__ == "__main__":
    sys.exit(main())
