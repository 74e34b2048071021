"""Two convolutions of 3 x 3 with pooling, then 128 and 10 units; Adam, whose rate falls by half a cosine."""
import math

import torch
import torch.nn.functional as F

edits = [("128)), 0.4)", "128)), 0.0)")]  # dropout


def loss(p, s, x, train=True):
    h = x["image"][:, None].to(p["logits.w"].dtype) / 255
    for name in ("c1", "c2"):
        h = F.max_pool2d(F.relu(F.conv2d(h, p[name + ".w"], p[name + ".b"], padding=1)), 2)
    h = F.relu(F.linear(h.flatten(1), p["hidden.w"].T, p["hidden.b"]))
    return F.cross_entropy(F.linear(h, p["logits.w"].T, p["logits.b"]), x["label"].long())


def optimizer(p):
    made = torch.optim.Adam(p.values(), lr=1e-3)
    return made, lambda t, steps: 0.5 * (1 + math.cos(math.pi * t / steps))
