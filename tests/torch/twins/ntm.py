"""The Neural Turing Machine, step by step after sections 3.1 to 3.3 of the paper. The memory is [batch, N, M]."""
import numpy as np
import torch
import torch.nn.functional as F

overrides = {"batch": 2, "words": 3, "slots": 16, "width": 6, "units": 12}
clip = 10
inputs = {"target": lambda rng, shape: rng.integers(0, 2, shape),
          "mask": lambda rng, shape: np.arange(shape[1])[None, :, None].repeat(shape[0], 0) >= shape[1] // 2}


def affine(p, x, path):
    return F.linear(x, p[path + ".w"].T, p[path + ".b"])


def address(p, h, memory, before, head):
    key = torch.tanh(affine(p, h, head + ".key"))
    strength = F.softplus(affine(p, h, head + ".beta"))
    gate = torch.sigmoid(affine(p, h, head + ".gate"))
    back, stay, on = affine(p, h, head + ".shift").softmax(-1).split(1, -1)
    sharpness = 1 + F.softplus(affine(p, h, head + ".gamma"))
    products = (memory @ key[:, :, None])[:, :, 0]
    similarity = products / (key.norm(dim=1, keepdim=True) * memory.norm(dim=2) + 1e-6)
    content = (strength * similarity).softmax(-1)
    w = gate * content + (1 - gate) * before
    n = w.shape[1]
    # Equation 8, a circular convolution: what was at i - 1 comes to i when the head goes one on.
    w = sum(share * w[:, (torch.arange(n) - step) % n] for share, step in ((back, -1), (stay, 0), (on, 1)))
    w = w ** sharpness
    return w / (w.sum(1, keepdim=True) + 1e-6)


def loss(p, s, x, train=True):
    source, target, mask = x["source"], x["target"], x["mask"]
    n = source.shape[0]
    memory = p["memory"].expand(n, -1, -1)
    r = torch.zeros(n, memory.shape[2])
    read = write = p["place"].softmax(0).expand(n, -1)
    total = 0
    for t in range(source.shape[1]):
        h = torch.tanh(affine(p, torch.cat([source[:, t], r], 1), "h"))
        write = address(p, h, memory, write, "write")
        read = address(p, h, memory, read, "read")
        erase = torch.sigmoid(affine(p, h, "erase"))
        add = torch.tanh(affine(p, h, "add"))
        memory = memory * (1 - write[:, :, None] * erase[:, None]) + write[:, :, None] * add[:, None]
        r = (read[:, None] @ memory)[:, 0]
        logits = affine(p, torch.cat([h, r], 1), "linear.0")
        bits = F.binary_cross_entropy_with_logits(logits, target[:, t], reduction="none")
        total = total + (mask[:, t] * bits).sum()
    return total / mask.sum() / target.shape[2]


def optimizer(p):
    return torch.optim.RMSprop(p.values(), lr=1e-4, alpha=0.95, momentum=0.9, eps=1e-8)
