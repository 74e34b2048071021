"""784-1000-500-250-30 and back, relu between, the code linear; binary cross entropy of pixels."""
import math

import torch
import torch.nn.functional as F

parameters = sum(a * b + b for a, b in [(784, 1000), (1000, 500), (500, 250), (250, 30),
                                        (30, 250), (250, 500), (500, 1000), (1000, 784)])


def half(p, x, path):
    for i in range(4):
        x = F.linear(x, p[f"{path}.linear.{i}.w"].T, p[f"{path}.linear.{i}.b"])
        x = F.relu(x) if i < 3 else x
    return x


def loss(p, s, x, train=True):
    pixels = x["image"].flatten(1).to(p["z.linear.0.w"].dtype) / 255
    return F.binary_cross_entropy_with_logits(half(p, half(p, pixels, "z"), "logits"), pixels)


def optimizer(p):
    made = torch.optim.Adam(p.values(), lr=1e-3)
    return made, lambda t, steps: 0.5 * (1 + math.cos(math.pi * t / steps))
