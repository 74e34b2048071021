"""GoogLeNet after table 1 of Szegedy et al. 2014, auxiliary classifiers and normalization as in Caffe."""
import torch
import torch.nn.functional as F

from pictures import scaled

overrides = {"batch": 2, "size": 96, "drop": 0, "aux": 0, "classes": 20}
parameters = 13_378_280

MODULES = ["3a", "3b", "pool", "4a", "4b", "4c", "4d", "4e", "pool", "5a", "5b"]


def conv(p, path, x, stride=1):
    w = p[path + ".y.w"]
    return F.relu(F.conv2d(x, w, p[path + ".y.b"], stride=stride, padding=w.shape[-1] // 2))


def linear(p, path, x):
    return F.linear(x, p[path + ".w"].T, p[path + ".b"])


def shrink(x):
    return F.max_pool2d(x, 3, 2, ceil_mode=True)


def inception(p, path, x):
    branch1 = conv(p, path + ".a", x)
    branch3 = conv(p, path + ".c", conv(p, path + ".b", x))
    branch5 = conv(p, path + ".e", conv(p, path + ".d", x))
    pooled = conv(p, path + ".f", F.max_pool2d(x, 3, 1, padding=1))
    return torch.cat([branch1, branch3, branch5, pooled], 1)


def auxiliary(p, path, x):
    x = conv(p, path + ".y", F.avg_pool2d(x, 5, 3)).flatten(1)
    return linear(p, path + ".logits", F.relu(linear(p, path + ".h", x)))


def loss(p, s, x, train=True):
    h = F.local_response_norm(shrink(conv(p, "c1", scaled(x["image"], p["c1.y.w"]), stride=2)), 5, alpha=1e-4, beta=0.75, k=1.0)
    h = conv(p, "c3", conv(p, "c2", h))
    h = shrink(F.local_response_norm(h, 5, alpha=1e-4, beta=0.75, k=1.0))
    heads = []
    for module in MODULES:
        h = shrink(h) if module == "pool" else inception(p, "m" + module, h)
        if module in ("4a", "4d"):
            heads.append(auxiliary(p, f"aux{len(heads) + 1}", h))
    logits = linear(p, "logits", h.mean((2, 3)))
    losses = [F.cross_entropy(each, x["label"]) for each in [logits] + heads]
    return losses[0] + 0.3 * losses[1] + 0.3 * losses[2]


def optimizer(p):
    """Biases learn twice as fast and do not decay; the rate falls as the root of the steps that are left."""
    weights = {"params": [value for name, value in p.items() if name.endswith(".w")]}
    biases = {"params": [value for name, value in p.items() if name.endswith(".b")], "lr": 0.02,
              "weight_decay": 0}
    made = torch.optim.SGD([weights, biases], lr=0.01, momentum=0.9, weight_decay=2e-4)
    return made, lambda t, steps: (1 - (t - 1) / steps) ** 0.5
