#!/usr/bin/env python3
"""Compares the standard library with PyTorch, in double precision, over several training steps.

    python3 tests/tools/compare_torch.py BUILD [CASE...]

Each case (tests/tools/torch_cases.py) is a program and the same computation in PyTorch. The program is
compiled with --float=f64 and run by `step` from given weights on given inputs; PyTorch starts from the
same numbers. Losses of every step and all parameters and states at the end must agree to 1e-9 of the
greatest element. Needs PyTorch and NumPy, so it is no part of the test suite: run it by hand after a
change of compiler/prelude.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from tensor_file import read_safetensors, write_safetensors
from torch_cases import CASES

TOLERANCE = 1e-9


def difference(found, expected):
    """The greatest difference relative to the greatest element; infinite where shapes differ."""
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    if found.shape != expected.shape:
        return float("inf")
    if found.size == 0:
        return 0.0
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-300))


def initial_weights(rng, exe):
    info = json.loads(subprocess.run([exe, "info", "--json"], check=True, capture_output=True).stdout)
    weights = {}
    for variable in info["variables"]:
        if variable["kind"] == "param":
            weights[variable["name"]] = rng.standard_normal(variable["shape"]) * 0.5
    return weights


def make_inputs(rng, case, batches):
    inputs = {}
    for k in range(batches):
        for name, (shape, limit) in case.inputs.items():
            value = (rng.integers(0, limit, shape).astype(np.int32) if limit
                     else rng.standard_normal(shape))
            inputs[f"{k}/{name}"] = value
    return inputs


def run_torch(case, weights, inputs):
    params = {name: torch.tensor(value, requires_grad=True) for name, value in weights.items()}
    state = {}
    stepper = case.stepper(params)
    losses = []
    for t in range(1, case.steps + 1):
        total = 0.0
        for name in params:
            params[name].grad = None
        for part in range(case.accumulate):
            at = (t - 1) * case.accumulate + part
            batch = {name: torch.tensor(inputs[f"{at}/{name}"]) for name in case.inputs}
            batch = {k: v.long() if v.dtype == torch.int32 else v for k, v in batch.items()}
            loss = case.loss(params, batch, state)
            (loss / case.accumulate).backward()
            total += loss.item() / case.accumulate
        losses.append(total)
        stepper(t)
    values = {name: value.detach().numpy() for name, value in params.items()}
    values.update({name: value.detach().numpy() for name, value in state.items()})
    return losses, values


def check_case(build, folder, case):
    """The messages of what differs; and how much was compared."""
    source, exe = os.path.join(folder, "case.net"), os.path.join(folder, "case")
    with open(source, "w") as file:
        file.write(case.program)
    done = subprocess.run([os.path.join(build, "bin", "nnc"), source, "--float=f64", "-o", exe],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return ["it does not compile:\n" + done.stderr], 0
    rng = np.random.default_rng(7)
    weights = initial_weights(rng, exe)
    inputs = make_inputs(rng, case, case.steps * case.accumulate)
    files = {name: os.path.join(folder, name) for name in ("init", "inputs", "result")}
    write_safetensors(files["init"], weights)
    write_safetensors(files["inputs"], inputs)
    done = subprocess.run([exe, "step", "--init", files["init"], "--inputs", files["inputs"],
                           "--steps", str(case.steps), files["result"]], capture_output=True, text=True)
    if done.returncode != 0:
        return ["it does not run:\n" + done.stderr], 0
    found_losses = [json.loads(line)["loss"] for line in done.stdout.splitlines()]
    found = read_safetensors(files["result"])
    losses, values = run_torch(case, weights, inputs)
    messages = []
    if difference(found_losses, losses) > TOLERANCE:
        messages.append(f"losses: {found_losses}\n    PyTorch's: {losses}")
    for name, value in values.items():
        if name not in found:
            messages.append(f"{name} is not in the result")
        elif not difference(found[name], value) <= TOLERANCE:
            messages.append(f"{name}: {difference(found[name], value):.3g}")
    return messages, len(values) + 1


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1].strip())
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    passed = failed = 0
    for case in CASES:
        if len(sys.argv) > 2 and case.name not in sys.argv[2:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            messages, count = check_case(sys.argv[1], folder, case)
        for message in messages:
            print(f"FAIL {case.name}: {message}")
        failed += len(messages)
        passed += count - len(messages) if count else 0
        print(f"{case.name}: {count} compared, {len(messages)} differ", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
