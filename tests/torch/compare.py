#!/usr/bin/env python3
"""Compares models of models/ with PyTorch: gradients of a step, then losses and weights of a run.

    python3 tests/torch/compare.py [MODEL...] [--float f32|f64] [--build build] [--steps N]
                                   [--pictures FOLDER] [--markdown] [--spoil]

Needs PyTorch and NumPy (Debian: apt-get install python3-torch). tests/torch/twins/NAME.py is the
model in PyTorch; docs/testing.md says what it has. For each model and float type

  1. the parameters of the file as it is are counted, against the published number;
  2. a variant that keeps its gradients (variant.py) and the model itself, both without evaluation
     and prediction, are compiled with the twin's overrides of constants;
  3. the executable makes the weights; those that are constant (biases, scales) get some noise;
  4. inputs are drawn, a minibatch for each step, and both sides start from the same numbers;
  5. loss and gradients of the first step, then losses, parameters and states after 20 steps of
     the model's own optimizer must agree.

Errors are relative norms for each tensor: of gradients to the gradient's norm, of weights and
states to how far they have moved. The reference is PyTorch in double, for f32 too: over a run, single
floats of ours may then be as far from it as the limit, or some times as far as PyTorch's own. Where the input of
a rectifier rounds to the other side of 0, on one of the two sides, a run takes another way; so up
to six draws of the inputs are tried in f32. A mistake shows in each of them. --spoil
changes one weight of PyTorch's by a thousandth before: every comparison must then fail.
--pictures takes images and labels from the files of MNIST's kind in a folder, and leaves weights as a model makes them:
so sums of zeros, of backgrounds and biases, must be zeros.
--markdown writes the results to docs/agreement.md.
"""
import argparse
import fnmatch
import glob
import gzip
import importlib.util
import inspect
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(1, os.path.join(ROOT, "tests", "lib"))
from agreement import update_page
from tensor_file import read_safetensors, write_safetensors
from variant import apply_edits, keep_gradients, only_training

STEPS = 20
GRADIENT_TOLERANCE = {"f64": 1e-9, "f32": 1e-4}
# Rounding grows over the steps of a run, and a unit that it switches changes the run.
RUN_TOLERANCE = {"f64": 1e-8, "f32": 1e-3}
TIMES_PYTORCH = 4
DRAWS = 6
NUMPY = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "i32": np.int32, "u8": np.uint8,
         "bool": np.bool_}


class Mismatch(Exception):
    """A comparison that cannot be made, or a count that is wrong."""


def run_all(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise Mismatch(f"{' '.join(command[:3])}... failed:\n{done.stderr.strip()}")
    return done


def run(command, **more):
    return run_all(command, **more).stdout


def load_twin(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, "twins", name + ".py"))
    twin = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(twin)
    return twin


# ---- our side ---------------------------------------------------------------------------------

class Side:
    """The model's source and the executables made of it, in a folder."""

    def __init__(self, options, name, twin, float_type, folder):
        self.nnc = os.path.join(options.build, "bin", "nnc")
        self.name, self.folder, self.float_type = name, folder, float_type
        with open(os.path.join(ROOT, "models", name + ".net")) as file:
            self.text = only_training(apply_edits(file.read(), getattr(twin, "edits", [])))
        self.overrides = getattr(twin, "overrides", {})

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, text, output, overrides):
        """In a folder of its own, by a name without a folder: what was compiled before is found again."""
        folder = self.path(output + ".source")
        os.makedirs(folder)
        with open(os.path.join(folder, self.name + ".net"), "w") as file:
            file.write(text)
        defines = [word for key, value in overrides.items() for word in ("-D", f"{key}={value}")]
        run([self.nnc, self.name + ".net", f"--float={self.float_type}", *defines,
             "-o", self.path(output)], cwd=folder)

    def compile_both(self):
        """The model, and its gradients: of the latter the text alone says how it is trained."""
        constants = {key: value for key, value in self.overrides.items() if not key.startswith("train.")}
        self.compile(keep_gradients(self.text), "gradients", constants)
        self.compile(self.text, "model", self.overrides)

    def count_parameters(self):
        """At the constants that the file has."""
        report = json.loads(run([self.nnc, os.path.join(ROOT, "models", self.name + ".net"),
                                 "--report=json"]))
        return sum(layer["parameters"] for layer in report["layers"])

    def info(self, output):
        return json.loads(run([self.path(output), "info", "--json"]))

    def step(self, output, steps, inputs, init=None):
        """The metrics of each step, and all variables at the end."""
        files = {"inputs": inputs, "init": init}
        command = [self.path(output), "step", self.path("result"), "--steps", str(steps)]
        for flag, tensors in files.items():
            if tensors is not None:
                write_safetensors(self.path(flag), tensors)
                command += [f"--{flag}", self.path(flag)]
        done = run_all(command)
        if "not loaded" in done.stderr:  # a layer is taken whole or not at all
            raise Mismatch(f"both sides do not start from the same numbers:\n{done.stderr.strip()}")
        return [json.loads(line) for line in done.stdout.splitlines()], read_safetensors(self.path("result"))


def draw_input(rng, twin, entry, float_type):
    name, shape, dtype = entry["name"], entry["shape"], entry["dtype"]
    drawn = getattr(twin, "inputs", {}).get(name)
    if drawn is not None:
        return np.asarray(drawn(rng, shape), NUMPY[dtype])
    if dtype in ("f32", "f64"):
        # Numbers of single precision, so that both float types compute the same.
        return np.asarray(rng.standard_normal(shape), np.float32).astype(NUMPY[dtype])
    if dtype == "u8" and "limit" not in entry:
        return rng.integers(0, 256, shape).astype(np.uint8)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if "limit" not in entry:
        raise Mismatch(f"the twin must say how to draw the integer input '{name}' (inputs = ...)")
    return rng.integers(0, entry["limit"], shape).astype(NUMPY[dtype])


def read_idx(folder, name):
    """The array of a file of MNIST's kind, compressed or not."""
    path = next(path for path in (os.path.join(folder, name), os.path.join(folder, name + ".gz"))
                if os.path.exists(path))
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        data = file.read()
    shape = [int.from_bytes(data[at:at + 4], "big") for at in range(4, 4 + 4 * data[3], 4)]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


def take_pictures(folder, steps, entries):
    """The images and labels of each step, as far as these are inputs."""
    files = {"image": "train-images-idx3-ubyte", "label": "train-labels-idx1-ubyte"}
    taken = [{} for _ in range(steps)]
    for entry in entries:
        if entry["name"] not in files:
            continue
        values, count = read_idx(folder, files[entry["name"]]), entry["shape"][0]
        if len(values) < steps * count:
            raise Mismatch(f"{folder} has {len(values)} pictures; {steps} steps need {steps * count}")
        for k, batch in enumerate(taken):
            own = values[k * count:(k + 1) * count].reshape(entry["shape"])
            batch[entry["name"]] = own.astype(NUMPY[entry["dtype"]])
    return taken


def disturb(rng, weights, drawn):
    """Parameters that begin constant get noise, so that no two of their elements are alike; some are drawn."""
    noisy = {}
    for name, value in weights.items():
        draw = next((draw for pattern, draw in drawn.items() if fnmatch.fnmatch(name, pattern)), None)
        if draw:
            value = np.asarray(draw(rng, value.shape), np.float32).astype(value.dtype)
        elif value.size == 1 or np.all(value == value.flat[0]):
            noise = np.asarray(0.1 * rng.standard_normal(value.shape), np.float32)
            value = (value + noise).astype(value.dtype)
        noisy[name] = value
    return noisy


# ---- PyTorch's side ---------------------------------------------------------------------------

def to_torch(value):
    """Floats of the default type; indices as PyTorch wants them."""
    tensor = torch.tensor(value)
    if tensor.is_floating_point():
        return tensor.to(torch.get_default_dtype())
    return tensor.long() if tensor.dtype == torch.int32 else tensor


class Peer:
    """The twin with weights of its own."""

    def __init__(self, twin, float_type, parameters, states, steps, spoil):
        torch.set_default_dtype(getattr(torch, {"f64": "float64", "f32": "float32"}[float_type]))
        self.twin, self.steps = twin, steps
        self.p = {name: to_torch(value) for name, value in parameters.items()}
        self.s = {name: to_torch(value) for name, value in states.items()}
        if spoil:
            last = max(self.p.values(), key=lambda value: value.numel())
            last *= 1 + 1e-3
        for value in self.p.values():
            value.requires_grad_(True)

    def parts(self):
        """What a step minimizes, in its order: the metric's name, the loss, the parameters."""
        made = self.twin.parts if hasattr(self.twin, "parts") else [("loss", self.twin.loss, "*")]
        return [(name, loss, {key: value for key, value in self.p.items() if fnmatch.fnmatch(key, pattern)})
                for name, loss, pattern in made]

    def first(self, inputs):
        """The losses and every gradient, with parameters and states as they were."""
        kept, self.s = self.s, {name: value.clone() for name, value in self.s.items()}
        batch = {key: to_torch(value) for key, value in inputs[0].items()}
        losses, gradients = {}, {}
        for name, loss_of, own in self.parts():
            loss = loss_of(self.p, self.s, batch)
            found = torch.autograd.grad(loss, list(own.values()), allow_unused=True)
            losses[name] = loss.item()
            gradients.update(zip(own, found))
        self.s = kept
        missing = [name for name in self.p if gradients.get(name) is None]
        if missing:
            raise Mismatch(f"the twin does not use {', '.join(missing)}")
        return losses, {name: value.numpy() for name, value in gradients.items()}

    def train(self, inputs):
        parts = [(name, loss_of, own, *self.optimizer(own)) for name, loss_of, own in self.parts()]
        losses = []
        for t, batch in enumerate(inputs, 1):
            batch = {key: to_torch(value) for key, value in batch.items()}
            states = self.s
            if len(parts) > 1:  # losses and states are those of the parameters at the step's start
                with torch.no_grad():
                    started = {name: loss_of(self.p, self.s, batch).item() for name, loss_of, *_ in parts}
                states = {name: value.clone() for name, value in self.s.items()}
            losses.append({})
            for name, loss_of, own, optimizer, factor in parts:
                for group in optimizer.param_groups:
                    group["lr"] = group["initial_lr"] * factor(t)
                optimizer.zero_grad()
                loss = loss_of(self.p, states, batch)
                loss.backward()
                if getattr(self.twin, "clip", None):
                    torch.nn.utils.clip_grad_norm_(own.values(), self.twin.clip)
                optimizer.step()
                losses[-1][name] = loss.item() if len(parts) == 1 else started[name]
        return losses, {name: value.detach().numpy() for name, value in {**self.p, **self.s}.items()}

    def optimizer(self, own):
        """And the factor of its rate in step t from 1."""
        made = self.twin.optimizer(own)
        optimizer, factor = made if isinstance(made, tuple) else (made, lambda t: 1.0)
        for group in optimizer.param_groups:
            group["initial_lr"] = group["lr"]
        if len(inspect.signature(factor).parameters) > 1:
            return optimizer, lambda t: factor(t, self.steps)
        return optimizer, factor


# ---- judging ----------------------------------------------------------------------------------

def norm(value):
    return float(np.linalg.norm(np.asarray(value, np.float64)))


def worst(errors):
    """The tensor whose error is the greatest; what is not a number is."""
    name = max(errors, key=lambda name: np.inf if np.isnan(errors[name]) else errors[name])
    return errors[name], name


def gradient_errors(found, expected, vanishing):
    """Relative to each gradient; to that of the whole network where it is 0 by its nature."""
    whole = norm([norm(value) for value in expected.values()])
    errors = {}
    for name, value in expected.items():
        if found[name].shape != value.shape:
            raise Mismatch(f"the gradient of {name} is {found[name].shape}, PyTorch's {value.shape}")
        scale = whole if name in vanishing else max(norm(value), 1e-4 * whole)
        errors[name] = norm(found[name] - value) / scale
    return errors


def run_errors(found, expected, start, vanishing):
    """Relative to how far each tensor moved, or to a thousandth of it when that is more."""
    errors = {}
    for name, value in expected.items():
        if name in vanishing:
            continue
        scale = max(norm(value - start[name]), 1e-3 * norm(value), 1e-30)
        errors[name] = norm(found[name] - value) / scale
    return errors


def loss_error(found, expected):
    """Of what is minimized, by step and name; `found` has other metrics too."""
    if any(line[name] is None for line, values in zip(found, expected) for name in values):
        return float("nan")  # not finite
    return max(abs(line[name] - value) / max(abs(value), 1e-300)
               for line, values in zip(found, expected) for name, value in values.items())


def judge(found, expected, start, vanishing):
    """Error and worst tensor of each kind."""
    return {"loss": (loss_error(found[0], expected[0]), ""),
            "gradient": worst(gradient_errors(found[1], expected[1], vanishing)),
            "losses": (loss_error(found[2], expected[2]), ""),
            "weight": worst(run_errors(found[3], expected[3], start, vanishing))}


def compare(options, name, float_type, folder, draw=0):
    twin = load_twin(name)
    side = Side(options, name, twin, float_type, folder)
    count = side.count_parameters()
    published = getattr(twin, "parameters", None)
    if published is not None and count != published:
        raise Mismatch(f"{count} parameters; published are {published}")

    side.compile_both()
    info = side.info("model")
    steps = options.steps or getattr(twin, "steps", STEPS)
    rng = np.random.default_rng(7 + draw)
    batches = [{entry["name"]: draw_input(rng, twin, entry, float_type)
                for entry in info["inputs"]} for _ in range(steps)]
    if options.pictures:
        for batch, taken in zip(batches, take_pictures(options.pictures, steps, info["inputs"])):
            batch.update(taken)
    inputs = {f"{k}/{key}": value for k, batch in enumerate(batches) for key, value in batch.items()}
    _, variables = side.step("model", 0, {})
    kinds = {variable["name"]: variable["kind"] for variable in info["variables"]}
    start = {key: value for key, value in variables.items() if kinds[key] == "param"}
    if not options.pictures:
        start = disturb(rng, start, getattr(twin, "single_start", {}) if float_type == "f32" else {})
    states = {key: value for key, value in variables.items() if kinds[key] in ("state", "stream")}
    vanishing = {key for key in start
                 if any(fnmatch.fnmatch(key, each) for each in getattr(twin, "vanishing", []))}

    def observe(spoil, peer_float):
        peer = Peer(twin, peer_float, start, states, steps, spoil)
        first, gradients = peer.first(batches)
        losses, values = peer.train(batches)
        return [first], gradients, losses, values

    begin = {**start, **states}
    first, observed = side.step("gradients", 1, inputs, begin)
    lines, values = side.step("model", steps, inputs, begin)
    ours = first[:1], {key: observed[f"{key}:d"] for key in start}, lines, values
    wanted = observe(options.spoil, "f64")
    errors = judge(ours, wanted, begin, vanishing)
    theirs = judge(observe(False, "f32"), wanted, begin, vanishing) if float_type == "f32" else {}
    limits = {key: limit[float_type] for key, limit in
              {"loss": GRADIENT_TOLERANCE, "gradient": GRADIENT_TOLERANCE,
               "losses": RUN_TOLERANCE, "weight": RUN_TOLERANCE}.items()}
    if not options.spoil:
        for key in ("losses", "weight"):
            limits[key] = max(limits[key], TIMES_PYTORCH * theirs.get(key, (0,))[0])
    return {"model": name, "float": float_type, "parameters": count,
            "published": published is not None, "steps": steps, "draws": draw + 1,
            "overrides": getattr(twin, "overrides", {}), "errors": errors, "theirs": theirs,
            "agrees": all(errors[key][0] <= limits[key] for key in limits)}


def show(row):
    def cell(kind):
        error, name = row["errors"][kind]
        their = f" ({row['theirs'][kind][0]:.0e})" if row["theirs"] else ""
        return f"{error:.1e}{their} {name}".rstrip()
    print(f"{row['model']:16} {row['float']} {row['parameters']:>12,}  {cell('loss'):18} "
          f"{cell('gradient'):42} {cell('losses'):18} {cell('weight'):42} {row['steps']:>3}  "
          f"{'agrees' if row['agrees'] else 'DIFFERS'}"
          f"{', draw ' + str(row['draws']) if row['draws'] > 1 else ''}", flush=True)


def compare_draws(options, name, float_type, folder):
    """The first draw of inputs that agrees, else the last."""
    draws = DRAWS if float_type == "f32" and not options.spoil and not options.pictures else 1
    for draw in range(draws):
        place = os.path.join(folder, str(draw))
        os.mkdir(place)
        row = compare(options, name, float_type, place, draw)
        if row["agrees"]:
            break
    return row


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--float", choices=["f32", "f64"], action="append")
    parser.add_argument("--build", default="build")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch")
    parser.add_argument("--pictures", metavar="FOLDER")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--spoil", action="store_true")
    options = parser.parse_args()
    known = sorted(os.path.basename(path)[:-3] for path in glob.glob(os.path.join(HERE, "twins", "*.py")))
    for name in options.models:
        if name not in known:
            parser.error(f"there is no tests/torch/twins/{name}.py")
    options.models = options.models or known
    options.build = os.path.abspath(options.build)
    return options


def main():
    options = parse_options()
    torch.set_num_threads(options.threads)
    print("errors; in brackets those of PyTorch's own single floats")
    print(f"{'model':16} {'':3} {'parameters':>12}  {'loss':18} {'worst gradient':42} {'losses':18} "
          f"{'worst weight or state':42} steps")
    rows, passed, failed = [], 0, 0
    for name in options.models:
        for float_type in options.float or ["f64", "f32"]:
            try:
                with tempfile.TemporaryDirectory() as folder:
                    row = compare_draws(options, name, float_type, folder)
            except Mismatch as mismatch:
                print(f"{name:16} {float_type} {mismatch}", flush=True)
                failed += 1
                continue
            show(row)
            rows.append(row)
            passed += row["agrees"] != options.spoil
            failed += row["agrees"] == options.spoil
    if options.markdown:
        update_page(os.path.join(ROOT, "docs", "agreement.md"), rows)
    print(f"{passed} passed, {failed} failed"
          + (" (spoiled: a comparison passes when it finds the difference)" if options.spoil else ""))
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
