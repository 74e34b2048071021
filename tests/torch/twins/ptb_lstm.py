"""Chainer's Penn Treebank example with PyTorch's LSTM, whose memory goes on from minibatch to minibatch."""
import torch
import torch.nn.functional as F

# Zaremba et al.: "medium", 650 units
parameters = 10_000 * 650 + 2 * (650 * 2600 * 2 + 2600) + 650 * 10_000 + 10_000
overrides = {"batch": 3, "time": 35, "vocab": 97, "width": 24, "rate": 0.0}
clip = 5


def lstm(p, s, x, path):
    w, u, b = (p[f"{path}.lstm.0.{name}"] for name in "wub")
    state = (s[path + ".h"][None], s[path + ".c"][None])
    y, h, c = torch._VF.lstm(x, state, [w.T, u.T, b, torch.zeros_like(b)], True, 1, 0.0, False, False, True)
    s[path + ".h"], s[path + ".c"] = h[0].detach(), c[0].detach()
    return y


def loss(p, s, x, train=True):
    h = F.embedding(x["words"], p["embedding.0.w"])
    for i in range(2):
        h = lstm(p, s, h, f"remembering.{i}")
    logits = F.linear(h, p["logits.w"].T, p["logits.b"])
    return logits.shape[1] * F.cross_entropy(logits.flatten(0, 1), x["next"].flatten())


def optimizer(p):
    return torch.optim.SGD(p.values(), lr=1.0)
