"""Two layers of PyTorch's bidirectional LSTM over characters in small letters."""
import math
import torch
import torch.nn.functional as F

overrides = {"batch": 3, "time": 24, "width": 16, "rate": 0.0}
clip = 1.0
inputs = {"tokens": lambda rng, shape: rng.integers(0, 65, shape)}


def bilstm(p, x, path):
    weights = []
    for side in ("forward", "backward"):
        w, u, b = (p[f"{path}.{side}.{name}"] for name in "wub")
        weights += [w.T, u.T, b, torch.zeros_like(b)]
    start = torch.zeros(2, x.shape[0], weights[1].shape[1])
    return torch._VF.lstm(x, (start, start), weights, True, 1, 0.0, False, True, True)[0]


def loss(p, s, x, train=True):
    alphabet = sorted("\n !$&',-.3:;?" + "".join(chr(c) for c in [*range(65, 91), *range(97, 123)]))
    small = torch.tensor([alphabet.index(c.lower()) for c in alphabet])
    tag = torch.tensor([c.isupper() for c in alphabet]).long()
    h = F.embedding(small[x["tokens"]], p["embedding.0.w"])
    for i in range(2):
        h = bilstm(p, h, f"bidirectional.{i}")
    logits = F.linear(h, p["logits.w"].T, p["logits.b"])
    return F.cross_entropy(logits.flatten(0, 1), tag[x["tokens"]].flatten())


def optimizer(p):
    def factor(t, steps):
        at = min(max((t - 50) / max(steps - 50, 1), 0), 1)
        return min(1, t / 50) * 0.5 * (1 + math.cos(math.pi * at))
    return torch.optim.Adam(p.values(), lr=2e-3), factor
