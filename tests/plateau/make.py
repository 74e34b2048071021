#!/usr/bin/python3
"""Makes tests/plateau/plateau.net and expected.txt: what PyTorch's ReduceLROnPlateau makes of a curve.

    python3 tests/plateau/make.py

Each case is a schedule that follows a metric whose values are a curve of one number an epoch. The program
keeps the schedule's values in a state, one an epoch; they are read from its checkpoint.
"""
import os
import warnings

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
EPOCHS = 60
rng = np.random.default_rng(11)
falls = np.round(2 * np.exp(-np.arange(EPOCHS) / 6) + 0.05 * rng.random(EPOCHS), 6)
curves = {
    "falling": falls,
    "rising": np.round(1 - falls / 3, 6),
    "flat": np.full(EPOCHS, 0.5),
    "noisy": np.round(1 + rng.standard_normal(EPOCHS) * 0.3, 6),
    "negative": np.round(-falls, 6),
}
cases = [
    ("falling", dict(patience=2)),
    ("falling", dict(patience=0, factor=0.5, threshold=0.01)),
    ("falling", dict(patience=3, factor=0.3, cooldown=4)),
    ("rising", dict(patience=1, mode="max", threshold=1e-3, cooldown=1)),
    ("rising", dict(patience=1, mode="max", threshold=0.02, threshold_mode="abs")),
    ("flat", dict(patience=4, factor=0.2, min_lr=1e-3)),
    ("flat", dict(patience=0, factor=0.9)),
    ("flat", dict(patience=0, factor=0.1)),  # until the falls are below 1e-8
    ("noisy", dict(patience=1, factor=0.7, cooldown=2)),
    ("noisy", dict(patience=5, factor=0.25, mode="max", min_lr=0.01)),
    ("negative", dict(patience=1, factor=0.8, threshold=0.1, threshold_mode="abs")),
    ("negative", dict(patience=1, factor=0.8)),
]


def torch_rates(curve, options):
    w = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.5)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
    rates = []
    for metric in curve:
        rates.append(optimizer.param_groups[0]["lr"])
        scheduler.step(float(metric))
    return rates


def arguments(options):
    names = {"min_lr": "floor"}
    parts = []
    for key, value in options.items():
        if key == "mode":
            parts.append(f'best = "{value}"')
        elif key == "threshold_mode":
            parts.append(f"relative = {'true' if value == 'rel' else 'false'}")
        else:
            parts.append(f"{names.get(key, key)} = {value}")
    return ", ".join(parts)


program = ["# Made by tests/plateau/make.py: do not edit. Schedules that follow curves, one number an epoch.",
           "const batch = 2",
           'data train { x = csv("x.csv", columns = [0], header = false) }',
           'data val { x = csv("x.csv", columns = [0], header = false) }',
           "input x : f32[batch]",
           "param w = 0.25",
           "state epochs_done : i32[1] = zeros",
           "if training { epochs_done <- epochs_done + 1 }",
           "at = epochs_done - 1"]
for name, curve in curves.items():
    values = ", ".join(f"{v:g}" if v == 0.5 else f"{v:.6f}" for v in curve)
    program.append(f"state {name}_values : [{EPOCHS}] = [{values}]")
    program.append(f"{name} = sum({name}_values[at]) + 0 * mean(x)")
expected = []
for k, (curve, options) in enumerate(cases):
    program.append(f"state rates{k} : [{EPOCHS}] = zeros")
    program.append(f'if training {{ rates{k} <- concat(rates{k}[1:], reshape(0 * w + plateau(0.5, metric = "{curve}", '
                   f"{arguments(options)}), [1])) }}")
    expected.append(f"rates{k} " + " ".join(f"{rate!r}" for rate in torch_rates(curves[curve], options)))
program.append("loss = mean(x) * 0 + w ^ 2")
program.append(f"train {{ minimize = loss, optimizer = sgd(lr = plateau(1e-3, patience = 3)), epochs = {EPOCHS}, "
               f"metrics = [{', '.join(curves)}] }}")
warnings.simplefilter("ignore")
with open(os.path.join(HERE, "plateau.net"), "w") as file:
    file.write("\n".join(program) + "\n")
with open(os.path.join(HERE, "expected.txt"), "w") as file:
    file.write("\n".join(expected) + "\n")
print(len(cases), "cases")
