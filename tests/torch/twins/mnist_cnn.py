"""Chainer's example for static graphs: three convolutions without activation between, one pooling."""
import torch
import torch.nn.functional as F


def loss(p, s, x, train=True):
    h = x["image"][:, None].to(p["logits.w"].dtype) / 255
    for i in range(3):
        h = F.conv2d(h, p[f"conv2d.{i}.w"], p[f"conv2d.{i}.b"], padding=1)
    h = F.max_pool2d(F.relu(h), 2).flatten(1)
    return F.cross_entropy(F.linear(h, p["logits.w"].T, p["logits.b"]), x["label"].long())


def optimizer(p):
    return torch.optim.SGD(p.values(), lr=0.01)
