"""SqueezeNet 1.0, table 1 of Iandola et al. 2016; pooling rounds up as Caffe does."""
import torch
import torch.nn.functional as F
from torch import nn

parameters = 1_248_424
# Without batch norm, two pictures a step are too few for the rate of 0.04.
overrides = {"batch": 2, "size": 64, "classes": 10, "drop": 0,
             "train.optimizer": "sgd(lr = polynomial(0.001), momentum = 0.9, weight_decay = 2e-4)"}
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def pictures(image, like):
    mean, std = (torch.tensor(v, dtype=like.dtype).view(1, 3, 1, 1) for v in (MEAN, STD))
    return (image.to(like.dtype) / 255 - mean) / std


def conv(p, x, path, **how):
    return F.relu(F.conv2d(x, p[path + ".w"], p[path + ".b"], **how))


def fire(p, x, k):
    x = conv(p, x, f"fire.{k}.conv.0.conv2d.0")
    return torch.cat([conv(p, x, f"fire.{k}.conv.1.conv2d.0"),
                      conv(p, x, f"fire.{k}.conv.2.conv2d.0", padding=1)], 1)


def loss(p, s, x, train=True):
    pool = nn.MaxPool2d(3, stride=2, ceil_mode=True)
    h = pictures(x["image"], p["conv.0.conv2d.0.w"])
    h = pool(conv(p, h, "conv.0.conv2d.0", stride=2))
    for k in range(8):  # fire2 to fire9
        h = fire(p, h, k)
        if k in (2, 6):
            h = pool(h)
    h = conv(p, h, "logits")
    return F.cross_entropy(h.mean((2, 3)), x["label"])


def optimizer(p):
    """The solver of the paper's repository: biases at twice the rate and without decay."""
    weights = [value for name, value in p.items() if name.endswith(".w")]
    biases = [value for name, value in p.items() if name.endswith(".b")]
    made = torch.optim.SGD([{"params": weights, "weight_decay": 2e-4},
                            {"params": biases, "lr": 0.002}], lr=0.001, momentum=0.9)
    return made, lambda t, steps: 1 - (t - 1) / steps
