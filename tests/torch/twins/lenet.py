"""LeNet as in Caffe's examples/mnist: train_test.prototxt, solver.prototxt."""
import torch
import torch.nn.functional as F

parameters = 431_080


def loss(p, s, x, train=True):
    h = x["image"][:, None].to(p["logits.w"].dtype) / 256
    h = F.max_pool2d(F.conv2d(h, p["c1.w"], p["c1.b"]), 2)
    h = F.max_pool2d(F.conv2d(h, p["c2.w"], p["c2.b"]), 2)
    h = F.relu(F.linear(h.flatten(1), p["hidden.w"].T, p["hidden.b"]))
    return F.cross_entropy(F.linear(h, p["logits.w"].T, p["logits.b"]), x["label"].long())


def optimizer(p):
    """lr_mult of biases is 2; the rate after t updates is base (1 + gamma t)^-power."""
    weights = [value for name, value in p.items() if name.endswith(".w")]
    biases = [value for name, value in p.items() if name.endswith(".b")]
    made = torch.optim.SGD([{"params": weights}, {"params": biases, "lr": 0.02}], lr=0.01,
                           momentum=0.9, weight_decay=5e-4)
    return made, lambda t: (1 + 1e-4 * (t - 1)) ** -0.75
