#!/usr/bin/env python3
"""Elementwise functions over large arrays: time against the bandwidth of memory, NumPy and PyTorch.

    bench/elementwise.py [--size N] [--types f32,f64] [--rounds N] [--threads N] [--build DIR] [--json] [FUNCTION...]

FUNCTION: exp, log, erf, tanh, sigmoid, sin, logsumexp; default all but sin. Each is a .net program whose
training step is `y <- f(x)` over N elements (default 10^8) in a kernel as nnc emits it; its time is the row of
`OUT profile`, the least of the rounds, between which bench/limits.c measures the machine. The memory
bound is that of a copy with ordinary stores, for logsumexp that of reading once. NumPy and PyTorch take part where this
interpreter has them, with preallocated results (NumPy has no erf; its logsumexp is max, exp, sum, log)."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from step_bound import compiler, run  # noqa: E402

PROGRAM = """param s : f32[1] = zeros
state x : f32[%d] = uniform(%g, %g)
state y : f32[%s] = zeros
y <- %s(x)
loss = sum(s * s)
train {
  minimize  = loss
  optimizer = sgd(lr = 0.1)
  steps     = 10
}
"""
REDUCTIONS = {"logsumexp"}
DOMAINS = {"log": (0.01, 100)}
FUNCTIONS = ["exp", "log", "erf", "tanh", "sigmoid", "sin", "logsumexp"]
BYTES = {"f32": 4, "f64": 8}


def build(arguments, folder, name, dtype):
    path = "%s/%s_%s" % (folder, name, dtype)
    low, high = DOMAINS.get(name, (-4, 4))
    with open(path + ".net", "w") as file:
        file.write(PROGRAM % (arguments.size, low, high, "" if name in REDUCTIONS else arguments.size, name))
    run(os.path.join(arguments.build, "bin/nnc"), path + ".net", "--float=" + dtype, "-o", path)
    return path


def ours(path, threads):
    """Milliseconds of the step's kernels; all but those of y are of one element."""
    profile = json.loads(run(path, "profile", "--json", "--steps", 4, "--warmup", 2, "--threads", threads))
    return sum(row["ms"] for row in profile["instances"] if "step" in row and row["class"] != "barrier")


def least(function, repeats):
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def numpy_ms(arguments, name, dtype):
    try:
        import numpy as np
    except ImportError:
        return None
    low, high = DOMAINS.get(name, (-4, 4))
    kind = {"f32": np.float32, "f64": np.float64}[dtype]
    x = np.linspace(low, high, arguments.size, dtype=kind)
    y = np.zeros_like(x)

    def sigmoid():
        np.negative(x, out=y)
        np.exp(y, out=y)
        np.add(y, 1, out=y)
        np.reciprocal(y, out=y)

    def logsumexp():
        most = x.max()
        np.subtract(x, most, out=y)
        np.exp(y, out=y)
        return np.log(y.sum()) + most

    own = {"sigmoid": sigmoid, "logsumexp": logsumexp}
    if name in own:
        return least(own[name], 3)
    if not hasattr(np, name):
        return None
    return least(lambda: getattr(np, name)(x, out=y), 3)


def torch_ms(arguments, name, dtype):
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(arguments.threads)
    low, high = DOMAINS.get(name, (-4, 4))
    kind = {"f32": torch.float32, "f64": torch.float64}[dtype]
    x = torch.linspace(low, high, arguments.size, dtype=kind)
    if name in REDUCTIONS:
        return least(lambda: torch.logsumexp(x, 0), 3)
    y = torch.zeros_like(x)
    return least(lambda: getattr(torch, name)(x, out=y), 3)


def measure(arguments, folder, name, dtype):
    path, best, limits = build(arguments, folder, name, dtype), float("inf"), {}
    for _ in range(arguments.rounds):
        for key, value in json.loads(run(folder + "/limits", arguments.threads, 3)).items():
            limits[key] = max(value, limits.get(key, 0))
        best = min(best, ours(path, arguments.threads))
    os.unlink(path)
    moved = arguments.size * BYTES[dtype] * 1e-9 * (1 if name in REDUCTIONS else 2)
    bound = moved / limits["read_gbs" if name in REDUCTIONS else "copy_gbs"] * 1e3
    return {"function": name, "type": dtype, "size": arguments.size, "ms": best, "gbs": moved / best * 1e3,
            "bound_ms": bound, "of_bound": bound / best, "numpy_ms": numpy_ms(arguments, name, dtype),
            "torch_ms": torch_ms(arguments, name, dtype)}


def peer(row, key):
    return "       -       " if row[key] is None else "%8.1f %5.1fx" % (row[key], row[key] / row["ms"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("functions", nargs="*", metavar="FUNCTION")
    parser.add_argument("--size", type=int, default=10 ** 8)
    parser.add_argument("--types", default="f32,f64")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--build", default=os.path.join(HERE, "../build"))
    parser.add_argument("--cc", help="for bench/limits.c; default clang, else gcc")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    arguments = parser.parse_args()
    functions = arguments.functions or [name for name in FUNCTIONS if name != "sin"]
    types = arguments.types.split(",")
    if not set(functions) <= set(FUNCTIONS) or not set(types) <= set(BYTES) or arguments.size < 1:
        parser.error("functions are %s; types f32, f64" % ", ".join(FUNCTIONS))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        run(compiler(arguments.cc), "-O2", "-march=native", "-pthread", os.path.join(HERE, "limits.c"),
            "-o", folder + "/limits")
        if not arguments.json:
            print("function   type       ms   GB/s  memory bound         NumPy           PyTorch", flush=True)
        for dtype in types:
            for name in functions:
                row = measure(arguments, folder, name, dtype)
                rows.append(row)
                if not arguments.json:
                    print("%-10s %s %9.1f %6.1f %7.1f %3.0f %% %s %s" % (name, dtype, row["ms"], row["gbs"], row[
                        "bound_ms"], row["of_bound"] * 100, peer(row, "numpy_ms"), peer(row, "torch_ms")), flush=True)
    if arguments.json:
        print(json.dumps({"threads": arguments.threads, "rows": rows}))
    return 0


sys.exit(main())
