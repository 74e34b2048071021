"""U-Net, figure 1 of Ronneberger et al. 2015, without padding: 188 x 188 pixels give 4 x 4."""
import math

import torch
import torch.nn.functional as F

overrides = {"batch": 1, "size": 188, "width": 8, "drop": 0}
inputs = {"mask": lambda rng, shape: rng.integers(0, 2, shape)}
clip = 1.0


def loss(p, s, x, train=True):
    def twice(h, path):
        for i in range(2):
            h = F.relu(F.conv2d(h, p[f"{path}.conv2d.{i}.w"], p[f"{path}.conv2d.{i}.b"]))
        return h

    def crop(h, size):
        at = (h.shape[-1] - size) // 2
        return h[..., at:at + size, at:at + size]

    h, skipped, paths = x["image"][:, None].to(p["conv2d.0.w"].dtype) / 255, [], []
    for depth in range(5):
        path = ".".join(["scale.0"] * (depth + 1))
        h = twice(F.max_pool2d(h, 2) if depth else h, path + ".twice.0")
        skipped.append(h)
        paths.append(path)
    for path, skip in reversed(list(zip(paths[:4], skipped[:4]))):
        up = path + ".conv2d_transpose.0"
        h = F.conv_transpose2d(h, p[up + ".w"], p[up + ".b"], stride=2)
        h = twice(torch.cat([crop(skip, h.shape[-1]), h], 1), path + ".twice.1")
    h = F.conv2d(h, p["conv2d.0.w"], p["conv2d.0.b"])
    return F.cross_entropy(h, crop(x["mask"].long(), h.shape[-1]))


def optimizer(p):
    made = torch.optim.SGD(p.values(), lr=0.01, momentum=0.99)
    return made, lambda t, steps: 0.5 * (1 + math.cos(math.pi * t / steps))
