"""The perceptron of Chainer 1.5's MNIST example: 784-1000-1000-10."""
import torch
import torch.nn.functional as F

parameters = 784 * 1000 + 1000 + 1000 * 1000 + 1000 + 1000 * 10 + 10


def loss(p, s, x, train=True):
    h = x["image"].flatten(1).to(p["h1.w"].dtype) / 255
    for layer in ("h1", "h2"):
        h = F.relu(F.linear(h, p[layer + ".w"].T, p[layer + ".b"]))
    return F.cross_entropy(F.linear(h, p["logits.w"].T, p["logits.b"]), x["label"].long())


def optimizer(p):
    return torch.optim.Adam(p.values(), lr=1e-3)
