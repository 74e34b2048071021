#!/usr/bin/env python3
"""Makes tests/watch/expected.json: norms of gradients of the program watch.py calls `torch`, by PyTorch in double.

    python3 tests/watch/make.py
"""
import json
import math
import os

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
torch.set_default_dtype(torch.float64)
CLIP, RATE, STEPS = 0.3, 0.05, 6


def filled(shift, *shape):
    count = math.prod(shape)
    return torch.sin(torch.arange(count, dtype=torch.float64) * 0.7 + shift).reshape(shape).requires_grad_()


kernel, bias, body, head, frozen = filled(0, 3, 1, 3, 3), filled(1, 3), filled(2, 27, 5), filled(3, 5, 4), filled(4, 5)
parameters = [kernel, bias, body, head]
optimizer = torch.optim.Adam(parameters, lr=RATE, eps=1e-8)
images = torch.cos(torch.arange(8 * 25, dtype=torch.float64) * 0.37).reshape(8, 1, 5, 5)
labels = torch.arange(8) * 3 % 4
norms = []
for step in range(STEPS):
    rows = slice(4 * (step % 2), 4 * (step % 2) + 4)
    hidden = torch.relu(torch.nn.functional.conv2d(images[rows], kernel, bias))
    hidden = torch.tanh(hidden.flatten(1) @ body + frozen)
    loss = torch.nn.functional.cross_entropy(hidden @ head, labels[rows]) + 0.01 * (body ** 2).sum()
    optimizer.zero_grad()
    loss.backward()
    norms.append(float(torch.nn.utils.clip_grad_norm_(parameters, CLIP)))
    optimizer.step()
with open(os.path.join(HERE, "expected.json"), "w") as file:
    json.dump({"norms": norms}, file)
    file.write("\n")
