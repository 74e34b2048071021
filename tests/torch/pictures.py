"""What the twins of networks for photographs share."""
import numpy as np
import torch
import torch.nn.functional as F


def scaled(image, like):
    """Bytes to numbers around 0, with ImageNet's means and deviations."""
    mean = torch.tensor([0.485, 0.456, 0.406], dtype=like.dtype).view(3, 1, 1)
    std = torch.tensor([0.229, 0.224, 0.225], dtype=like.dtype).view(3, 1, 1)
    return (image.to(like.dtype) / 255 - mean) / std


def far_from_kinks(rng, shape):
    """Shifts after a batch norm of about 3: few of the normalized numbers then lie so near a rectifier's 0 (or 6) that single
    floats round them to its other side, which would be seen in every gradient before it."""
    return 3 + 0.1 * rng.standard_normal(shape)


def depthwise(x, w, stride):
    """A convolution of each channel by itself, as a sum over the window: of doubles PyTorch makes one call a
    channel of it, which takes seconds a step."""
    half = w.shape[-1] // 2
    rows, columns = ((n + 2 * half - w.shape[-1]) // stride + 1 for n in x.shape[2:])
    x, sum_ = F.pad(x, (half,) * 4), 0
    for i in range(w.shape[2]):
        for j in range(w.shape[3]):
            part = x[:, :, i:i + stride * rows:stride, j:j + stride * columns:stride]
            sum_ = sum_ + part[:, :, :rows, :columns] * w[:, 0, i, j].view(-1, 1, 1)
    return sum_


def conv_norm(p, s, path, x, train, stride=1, groups=1):
    """A convolution without bias, then batch normalization."""
    w = p[path + ".conv.w"]
    if groups == x.shape[1] and x.dtype == torch.float64:
        x = depthwise(x, w, stride)
    else:
        x = F.conv2d(x, w, stride=stride, padding=w.shape[-1] // 2, groups=groups)
    return F.batch_norm(x, s[path + ".norm.running_mean"], s[path + ".norm.running_var"],
                        p[path + ".norm.gamma"], p[path + ".norm.beta"], training=train)


class Residual:
    """Residual networks: `counts` blocks in each of four stages, whose convolutions have these names."""

    def __init__(self, counts, names, narrow):
        self.counts, self.names, self.narrow = counts, names, narrow
        self.kind = "bottleneck" if narrow > 1 else "basic"

    def block(self, p, s, path, x, train, stride):
        y = x
        strided = self.names[1 if self.narrow > 1 else 0]
        for name in self.names:
            y = conv_norm(p, s, f"{path}.{name}", y, train, stride if name == strided else 1)
            if name != self.names[-1]:
                y = F.relu(y)
        if y.shape != x.shape:
            x = conv_norm(p, s, path + ".past", x, train, stride)
        return F.relu(x + y)

    def loss(self, p, s, x, train=True):
        h = F.relu(conv_norm(p, s, "stem", scaled(x["image"], p["logits.w"]), train, stride=2))
        h = F.max_pool2d(h, 3, 2, padding=1)
        k = 0
        for stage, count in enumerate(self.counts):
            for i in range(count):
                h = self.block(p, s, f"{self.kind}.{k}", h, train, 2 if stage > 0 and i == 0 else 1)
                k += 1
        return F.cross_entropy(F.linear(h.mean((2, 3)), p["logits.w"].T, p["logits.b"]), x["label"])

    def optimizer(self, p):
        """The rate that the comparison gives."""
        return torch.optim.SGD(p.values(), lr=2e-5, momentum=0.9, weight_decay=1e-4)
