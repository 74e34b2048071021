#!/usr/bin/env python3
"""A training step of models of models/ here and in PyTorch, in turn, in one run: times and ratios.

    bench/compare_twins.py [MODEL...] [--threads N] [--cpus 0,1] [--rounds N] [--seconds S]
                           [--build DIR] [--folder DIR] [--json] [--markdown]

PyTorch's side is the twin of the model, tests/torch/twins/NAME.py: the same network, loss, optimizer
and clipping on the same shapes. A step is forward, backward and update; its inputs lie in memory. The
sizes are those of the file or smaller (SIZES below), and there is no dropout on either side.

Rounds alternate: `OUT bench` for so many seconds, then the same with PyTorch. Networks of pictures
run in PyTorch with contiguous and with channels-last weights, the faster of which counts. The table
has the minimum and the median of all steps; a ratio is PyTorch's time by ours, so above 1 nnc is faster.

--folder keeps the executables, so that the next run with it only measures. --cpus binds both sides.
Needs PyTorch and NumPy (Debian: apt-get install python3-torch) and a build."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(HERE, "../tests/torch"), os.path.join(HERE, "../tests/lib")]

# Constants (-D) of each model: small pictures and batches, whole widths, no dropout.
SMALL = {"batch": 8, "size": 96}
SIZES = {
    "lenet": {}, "mnist": {}, "mnist_cnn": {}, "autoencoder": {}, "vae": {}, "dcgan": {}, "ntm": {},
    "mobilenet_v2": {**SMALL, "drop": 0}, "resnet18": SMALL, "googlenet": {**SMALL, "drop": 0, "aux": 0},
    "vgg16": {"batch": 8, "size": 64, "drop": 0}, "unet": {"batch": 2, "size": 188, "width": 32, "drop": 0},
    "densenet121": {"batch": 8, "size": 64}, "squeezenet": {**SMALL, "drop": 0}, "shufflenet": SMALL,
    "gpt": {}, "bert": {"batch": 4, "vocab": 8000, "width": 256, "heads": 4, "rate": 0.0},
    "vit_s": {"batch": 2}, "mlp_mixer": {"batch": 2},
    "char_gru": {"rate": 0.0}, "ptb_lstm": {"rate": 0.0}, "bilstm_tagger": {"rate": 0.0},
}


class Ours:
    """The executable, made of the text that the comparison of numbers uses too."""

    def __init__(self, options, name, twin, folder):
        from compare import Side
        self.path = os.path.join(folder, name)
        self.options = options
        if not os.path.exists(self.path):
            side = Side(options, name, twin, "f32", folder)
            side.compile(side.text, name, SIZES[name])
        self.inputs = self.call("info", "--json")["inputs"]

    def call(self, *words):
        done = subprocess.run([self.path, *words], stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)

    def variables(self):
        """As they are before the first step."""
        from tensor_file import read_safetensors, write_safetensors
        inputs, result = self.path + ".inputs", self.path + ".variables"
        write_safetensors(inputs, {})
        subprocess.run([self.path, "step", result, "--steps", "0", "--inputs", inputs], check=True,
                       stdout=subprocess.DEVNULL)
        found = read_safetensors(result)
        os.remove(inputs), os.remove(result)
        return found

    def times(self, steps, warmup):
        """In ms."""
        found = self.call("bench", "--all", "--steps", str(steps), "--warmup", str(warmup),
                          "--threads", str(self.options.threads))
        self.gflop = found["product_gflop"]
        return found["all_ms"]


class Theirs:
    """The twin's training step."""

    def __init__(self, name, twin, ours, layout):
        import numpy as np
        import torch
        from compare import Peer, draw_input, to_torch
        self.torch = torch
        variables = ours.variables()
        kinds = {entry["name"]: entry["kind"] for entry in ours.call("info", "--json")["variables"]}
        of_kind = lambda *wanted: {key: value for key, value in variables.items() if kinds[key] in wanted}
        self.peer = Peer(twin, "f32", of_kind("param"), of_kind("state", "stream"), 1000, False)
        if layout == "channels_last":
            for value in self.peer.p.values():
                if value.dim() == 4:
                    value.data = value.data.contiguous(memory_format=torch.channels_last)
        rng = np.random.default_rng(7)
        self.batch = {entry["name"]: to_torch(draw_input(rng, twin, entry, "f32")) for entry in ours.inputs}
        self.parts = [(loss, own, self.peer.optimizer(own)[0]) for _, loss, own in self.peer.parts()]

    def step(self):
        for loss_of, own, optimizer in self.parts:
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(self.peer.p, self.peer.s, self.batch)
            loss.backward(inputs=list(own.values()))
            if getattr(self.peer.twin, "clip", None):
                self.torch.nn.utils.clip_grad_norm_(own.values(), self.peer.twin.clip)
            optimizer.step()
        return loss.item()

    def times(self, steps, warmup):
        found = []
        for k in range(warmup + steps):
            start = time.perf_counter()
            self.step()
            if k >= warmup:
                found.append(1e3 * (time.perf_counter() - start))
        return found


def steps_within(seconds, ms):
    return max(2, min(500, round(1e3 * seconds / ms)))


def measure(options, name, folder):
    from compare import load_twin
    twin = load_twin(name)
    ours = Ours(options, name, twin, folder)
    layouts = ["contiguous", "channels_last"] if any(len(entry["shape"]) > 2 and entry["dtype"] == "u8"
                                                     for entry in ours.inputs) else ["contiguous"]
    sides = {"nnc": ours, **{layout: Theirs(name, twin, ours, layout) for layout in layouts}}
    count = {key: steps_within(options.seconds, min(side.times(2, 1))) for key, side in sides.items()}
    times = {key: [] for key in sides}
    for _ in range(options.rounds):
        for key, side in sides.items():
            times[key] += side.times(count[key], 1)
    layout = min(layouts, key=lambda each: min(times[each]))
    found = {"model": name, "overrides": SIZES[name], "threads": options.threads, "layout": layout,
             "product_gflop": ours.gflop}
    for side, key in (("nnc", "nnc"), ("torch", layout)):
        found[side] = {"min_ms": min(times[key]), "median_ms": statistics.median(times[key]),
                       "steps": len(times[key])}
    for kind in ("min", "median"):
        found[kind + "_ratio"] = found["torch"][kind + "_ms"] / found["nnc"][kind + "_ms"]
    return found


HEAD = ("model", "nnc min", "median", "GFLOP/s", "PyTorch min", "median", "ratio min", "median", "constants")
LINE = "%-14s %9s %9s %8s %12s %9s %10s %7s  %s"


def cells(row):
    constants = " ".join(f"{key}={value}" for key, value in row["overrides"].items())
    gflops = row["product_gflop"] / row["nnc"]["min_ms"] * 1e3
    return (row["model"], "%.2f" % row["nnc"]["min_ms"], "%.2f" % row["nnc"]["median_ms"], "%.0f" % gflops,
            "%.2f" % row["torch"]["min_ms"], "%.2f" % row["torch"]["median_ms"],
            "%.2f" % row["min_ratio"], "%.2f" % row["median_ratio"], constants)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cpus", help="numbers of the processors that both sides may use, with commas between")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each side in a round")
    parser.add_argument("--build", default=os.path.join(HERE, "../build"))
    parser.add_argument("--folder", help="where executables are kept")
    parser.add_argument("--json", action="store_true", help="a JSON object a model")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    unknown = [name for name in options.models if name not in SIZES]
    if unknown:
        parser.error(f"no size for {', '.join(unknown)}; there are {', '.join(SIZES)}")
    options.models = options.models or list(SIZES)
    return options


def main():
    options = parse_options()
    if options.cpus:
        os.sched_setaffinity(0, {int(cpu) for cpu in options.cpus.split(",")})
    import torch
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    if options.markdown:
        print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
    elif not options.json:
        print(f"{options.threads} threads, ms a step; PyTorch {torch.__version__}\n" + LINE % HEAD)
    with tempfile.TemporaryDirectory() as folder:
        if options.folder:
            os.makedirs(options.folder, exist_ok=True)
        for name in options.models:
            row = measure(options, name, options.folder or folder)
            line = (json.dumps(row) if options.json else "| " + " | ".join(cells(row)) + " |"
                    if options.markdown else LINE % cells(row))
            print(line, flush=True)


if __name__ == "__main__":
    main()
