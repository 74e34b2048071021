#!/usr/bin/python3
"""Makes the reference vectors of tests/vectors: programs and what they must compute, by PyTorch.

    python3 tests/vectors/make.py [GROUP...]

A group (cases_*.py) is one program NAME.net with many independent cases and one file NAME.safetensors.
A case is an expression of the language, the same in PyTorch, and operands. Float operands are parameters,
so that their gradients are compared too: the loss is the sum of all results, each element times a number
that depends on its place, and the optimizer keeps every gradient as a state. Operands are float32 numbers;
what is expected is computed in double. Operands depend on the case's text alone, so that adding a case
changes no other. Needs PyTorch and NumPy; the suite (run.sh) needs neither.
"""
import os
import re
import sys
import zlib

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from tensor_file import write_safetensors  # noqa: E402 (beside this file, not installed)

GROUPS = {}


# ---- operands: functions of a random generator --------------------------------------------------

def N(*shape, scale=1.0, shift=0.0):
    """Normal numbers with three decimals."""
    return lambda rng: np.round(rng.standard_normal(shape) * scale + shift, 3)


def U(low, high, *shape):
    """Uniform numbers."""
    return lambda rng: rng.uniform(low, high, shape)


def I(limit, *shape):
    """Integers of [0, limit)."""
    return lambda rng: rng.integers(0, limit, shape).astype(np.int32)


def D(*shape):
    """Different numbers, in random order: no ties."""
    return lambda rng: (rng.permutation(int(np.prod(shape))).reshape(shape) - np.prod(shape) / 2) / 4.0


def make_operand(spec, rng):
    value = np.asarray(spec(rng) if callable(spec) else spec)
    if value.dtype.kind in "bi":
        return value.astype(np.int32)
    return value.astype(np.float32).astype(np.float64)


# ---- groups -------------------------------------------------------------------------------------

HEAD = """# Made by tests/vectors/make.py: do not edit. Every result is compared with PyTorch's.
const batch = 1
data train { unused = csv("unused.csv", columns = [0], header = false) }
input unused : f32[batch]
optimizer observe() {
  state d = zeros
  d <- g
  w <- w
}
# The sum of y, each element times a number that depends on its place.
def seen(y) { return sum(y * reshape((cast(arange(size(y)) * 7 % 11, y.dtype) - 4.5) / 4, y.shape)) }
loss = 0 * mean(unused)
"""
TAIL = "train { minimize = loss, optimizer = observe, steps = 1 }\n"


def weigh(y):
    """seen(y) in PyTorch."""
    factors = (torch.arange(y.numel()) * 7 % 11 - 4.5) / 4
    return (y * factors.reshape(y.shape)).sum()


def declared(shape):
    return "[" + ", ".join(map(str, shape)) + "]"


class Group:
    """definitions: statements of the language in front of the cases."""

    def __init__(self, name, definitions="", **metadata):
        self.name, self.definitions, self.metadata = name, definitions, metadata
        self.lines, self.tensors, self.seen = [], {"unused": np.zeros(1, np.float32)}, {}
        self.results = []
        self.count = 0
        GROUPS[name] = self

    def generator(self, text):
        key = f"{self.name}: {text}"
        self.seen[key] = self.seen.get(key, 0) + 1
        return np.random.default_rng(zlib.crc32(f"{key} {self.seen[key]}".encode()))

    def case(self, text, f, params=None, states=None, predicts=None, **operands):
        """text: an expression of the operands' names. params: what layers in it declare, by path after
        the result's; states likewise, from their first values. f(operands, params, states) gives
        the result, or a pair of it and the new values of states; predicts, of the same with the new states,
        what evaluation must give."""
        k, self.count = self.count, self.count + 1
        rng = self.generator(text)
        values = {name: make_operand(spec, rng) for name, spec in operands.items()}
        owned = {name: make_operand(spec, rng) for name, spec in (params or {}).items()}
        kept = {name: make_operand(spec, rng) for name, spec in (states or {}).items()}
        tensors = {}
        for name, value in {**values, **owned, **kept}.items():
            is_float = value.dtype == np.float64
            tensors[name] = torch.tensor(value if is_float else value.astype(np.int64))
            tensors[name].requires_grad_(is_float and name not in kept)
        result = f(*tensors.values())
        result, news = result if isinstance(result, tuple) else (result, {})
        self.declare(k, text, values, result)
        for name, value in {**owned, **kept}.items():
            self.start(f"y{k}.{name}", value)
        for name, value in news.items():
            self.tensors[f"=y{k}.{name}"] = value.detach().numpy().astype(np.float64)
        if predicts:
            last = [news.get(name, tensor) for name, tensor in tensors.items()]
            self.tensors[f">e{k}"] = predicts(*last).detach().numpy()
            self.results.append(f"e{k} = y{k} + 0 * sum(unused)")
        if result.is_floating_point():
            if result.requires_grad:
                weigh(result).backward()
            for name in values:
                if values[name].dtype == np.float64:
                    self.expect_gradient(f"{name}{k}", tensors[name])
            for name in owned:
                self.expect_gradient(f"y{k}.{name}", tensors[name])

    def declare(self, k, text, values, result):
        is_float = result.is_floating_point()
        for name, value in values.items():
            is_param = is_float and value.dtype == np.float64
            element = "" if value.dtype == np.float64 else "i32"
            self.lines.append(f"{'param' if is_param else 'state'} {name}{k} : "
                              f"{element}{declared(value.shape)} = zeros")
            self.start(f"{name}{k}", value)
            text = re.sub(rf"(?<![A-Za-z0-9_\".]){name}(?![A-Za-z0-9_]| = )", f"{name}{k}", text)
        shown = f"y{k}" if is_float else f"i32(y{k})"
        self.lines.append(f"y{k} = {text}")
        self.lines.append(f"state out{k} : {'' if is_float else 'i32'}{declared(result.shape)} = zeros")
        self.lines.append(f"out{k} <- {shown}")
        if is_float:
            self.lines.append(f"loss = loss + seen(y{k})")
        kind = np.float64 if is_float else np.int32
        self.tensors[f"=out{k}"] = result.detach().numpy().astype(kind)

    def start(self, name, value):
        self.tensors[name] = value.astype(np.float32) if value.dtype == np.float64 else value

    def expect_gradient(self, name, tensor):
        value = tensor.grad if tensor.grad is not None else torch.zeros_like(tensor)
        if value.numel() and value.abs().max() < 1e-13:  # zero but for rounding
            value = torch.zeros_like(value)
        self.tensors[f"={name}:d"] = value.numpy()

    def program(self):
        predict = "predict {\n  " + "\n  ".join(self.results) + "\n}\n" if self.results else ""
        return HEAD + self.definitions + "\n".join(self.lines) + "\n" + TAIL + predict


TRAJECTORY = """# Made by tests/vectors/make.py: do not edit. Steps are compared with PyTorch's.
const batch = 4
data train { x, y = npy("x.npy", "y.npy") }
input x : f32[batch, 3]
input y : f32[batch, 4]
loss = 0 * mean(x)
"""


class Trajectory:
    """Steps of optimizers, each on a matrix w [3, 4] of its own and the loss mean((tanh(x w) - y)^2)."""

    def __init__(self, name, steps, keys="", **metadata):
        self.name, self.steps, self.keys, self.metadata = name, steps, keys, metadata
        self.tensors, self.makers, self.averages, self.groups, self.count = {}, [], [], "", 0
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))
        GROUPS[name] = self

    def case(self, keys, maker, average=None):
        """keys: of the group of parameters; maker(w): what takes a step, with w.grad set, given t;
        average: of all values of w after a step, what w's average must be."""
        self.makers.append(maker)
        self.averages.append(average)
        self.groups += f"  params \"w{self.count}\" {{ {keys} }}\n"
        self.count += 1

    def run(self):
        data = np.random.default_rng(5)
        start = data.standard_normal((3, 4)).astype(np.float32)
        ws = [torch.tensor(start.astype(np.float64), requires_grad=True) for _ in self.makers]
        steppers = [maker(w) for maker, w in zip(self.makers, ws)]
        losses, history = [], [[] for _ in ws]
        for t in range(self.steps):
            x, y = (data.standard_normal(shape).astype(np.float32) for shape in [(4, 3), (4, 4)])
            self.tensors[f"{t}/x"], self.tensors[f"{t}/y"] = x, y
            x, y = torch.tensor(x.astype(np.float64)), torch.tensor(y.astype(np.float64))
            total = 0.0
            for w, step in zip(ws, steppers):
                w.grad = None
                loss = ((torch.tanh(x @ w) - y) ** 2).mean()
                loss.backward()
                total += loss.item()
                step(t + 1)
            for w, values in zip(ws, history):
                values.append(w.detach().clone())
            losses.append(total)
        self.tensors["=loss"] = np.array(losses)
        for k, w in enumerate(ws):
            self.tensors[f"w{k}"], self.tensors[f"=w{k}"] = start, w.detach().numpy()
            if self.averages[k]:
                self.tensors[f"=w{k}:average"] = self.averages[k](history[k]).numpy()

    def program(self):
        self.run()
        body = "".join(f"param w{k} : [3, 4] = zeros\nloss = loss + mse(tanh(x @ w{k}), y)\n" for k in range(self.count))
        return TRAJECTORY + body + f"train {{\n  minimize = loss, optimizer = sgd, steps = {self.steps}{self.keys}\n{self.groups}}}\n"


class Traces:
    """The values of schedules over the steps of a run, each kept in a state."""

    def __init__(self, name, steps, **metadata):
        self.name, self.steps, self.metadata = name, steps, metadata
        self.tensors, self.lines, self.count = {"unused": np.zeros(1, np.float32), "=loss": np.zeros(steps)}, [], 0
        GROUPS[name] = self

    def case(self, text, f):
        """f(t), t from 1."""
        k, self.count = self.count, self.count + 1
        self.lines += [f"state s{k} : [{self.steps}] = zeros", f"s{k} <- concat(s{k}[1:], reshape(0 * w + {text}, [1]))"]
        self.tensors[f"=s{k}"] = np.array([float(f(t)) for t in range(1, self.steps + 1)])

    def program(self):
        head = re.sub(r"# The sum of y.*\n.*\n", "", HEAD).replace("loss = 0 * mean(unused)\n", "param w = 0.0\nloss = 0 * mean(unused) + 0 * w\n")
        return head + "\n".join(self.lines) + "\n" + TAIL.replace("steps = 1", f"steps = {self.steps}")


def main():
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    sys.modules["make"] = sys.modules["__main__"]
    sys.path.insert(0, HERE)
    for file in sorted(os.listdir(HERE)):
        if re.fullmatch(r"cases_\w+\.py", file):
            __import__(file[:-3])
    for name, group in GROUPS.items():
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        with open(os.path.join(HERE, name + ".net"), "w") as file:
            file.write(group.program())
        path = os.path.join(HERE, name + ".safetensors")
        write_safetensors(path, group.tensors, group.metadata)
        print(f"{name}: {group.count} cases, {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    main()
