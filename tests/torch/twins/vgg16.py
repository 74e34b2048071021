"""VGG-16 after table 1, column D, of Simonyan & Zisserman 2014; the number of parameters is torchvision's."""
import torch
import torch.nn.functional as F

from pictures import scaled

# At the rate for real pictures the weights grow without bounds on two random ones.
overrides = {"batch": 2, "size": 32, "drop": 0, "classes": 20,
             "train.optimizer": "sgd(lr = 1e-6, momentum = 0.9, weight_decay = 5e-4)"}
parameters = 138_357_544

LAYERS = [64, 64, "pool", 128, 128, "pool", 256, 256, 256, "pool", 512, 512, 512, "pool", 512, 512, 512, "pool"]


def loss(p, s, x, train=True):
    h, k = scaled(x["image"], p["logits.w"]), 0
    for layer in LAYERS:
        if layer == "pool":
            h = F.max_pool2d(h, 2)
        else:
            h = F.relu(F.conv2d(h, p[f"conv2d.{k}.w"], p[f"conv2d.{k}.b"], padding=1))
            k += 1
    h = h.flatten(1)
    for name in ("h1", "h2"):
        h = F.relu(F.linear(h, p[name + ".w"].T, p[name + ".b"]))
    return F.cross_entropy(F.linear(h, p["logits.w"].T, p["logits.b"]), x["label"])


def optimizer(p):
    """The rate that the comparison gives."""
    return torch.optim.SGD(p.values(), lr=1e-6, momentum=0.9, weight_decay=5e-4)
