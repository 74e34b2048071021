"""MobileNetV2 after table 2 of Sandler et al. 2018; the number of parameters is torchvision's."""
import math

import torch
import torch.nn.functional as F

from pictures import conv_norm, far_from_kinks, scaled

# The warm-up of five epochs is longer than the comparison: three steps here. At the rate for real pictures the loss on
# four random ones grows, and a rounding error by a factor of forty a step, so that nothing could be compared.
overrides = {"batch": 4, "size": 64, "drop": 0, "classes": 20,
             "train.optimizer": "sgd(lr = cosine(2e-5, warmup = 3), momentum = 0.9, weight_decay = 4e-5)"}
single_start = {"*.beta": far_from_kinks}
parameters = 3_504_872

TABLE = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]


def block(p, s, path, x, train, out, stride, expand):
    width = expand * x.shape[1]
    y = x
    if expand > 1:
        y = F.relu6(conv_norm(p, s, path + ".expand", y, train))
    y = F.relu6(conv_norm(p, s, path + ".depthwise", y, train, stride, groups=width))
    y = conv_norm(p, s, path + ".project", y, train)
    return x + y if y.shape == x.shape and stride == 1 else y


def loss(p, s, x, train=True):
    h = F.relu6(conv_norm(p, s, "stem", scaled(x["image"], p["logits.w"]), train, stride=2))
    k = 0
    for expand, out, count, stride in TABLE:
        for i in range(count):
            h = block(p, s, f"inverted_residual.{k}", h, train, out, stride if i == 0 else 1, expand)
            k += 1
    h = F.relu6(conv_norm(p, s, "last", h, train)).mean((2, 3))
    return F.cross_entropy(F.linear(h, p["logits.w"].T, p["logits.b"]), x["label"])


def optimizer(p):
    def rate(t, steps, warmup=3):
        if t <= warmup:
            return t / warmup
        return 0.5 * (1 + math.cos(math.pi * (t - warmup) / (steps - warmup)))
    return torch.optim.SGD(p.values(), lr=2e-5, momentum=0.9, weight_decay=4e-5), rate
