"""MLP-Mixer: perceptrons over patches, as convolutions of one element, and over channels."""
import math
import torch
import torch.nn.functional as F

# Mixer-S/16 with 1,000 classes
parameters = 18_528_264
overrides = {"batch": 2, "side": 32, "width": 48, "over_patches": 20, "over_channels": 96, "classes": 10,
             "warmup": 5}
clip = 1.0
vanishing = ["*.patches.down.b"]  # the same for all channels: the normalizations take it away
LAYERS, PATCH = 8, 16


def affine(p, x, path):
    return F.linear(x, p[path + ".w"].T, p[path + ".b"])


def across(p, x, path):
    """Over the patches of [batch, patches, width]: a convolution in which they are channels."""
    return F.conv1d(x, p[path + ".w"].T[:, :, None], p[path + ".b"])


def norm(p, x, path):
    return F.layer_norm(x, x.shape[-1:], p[path + ".gamma"], p[path + ".beta"], 1e-6)


def loss(p, s, x, train=True):
    pixels = (x["image"].to(p["head.w"].dtype) / 255 - 0.5) / 0.5
    h = F.conv2d(pixels, p["patches.w"], p["patches.b"], stride=PATCH).flatten(2).transpose(1, 2)
    for i in range(LAYERS):
        path = f"block.{i}"
        up = F.gelu(across(p, norm(p, h, path + ".norm1"), path + ".patches.up"))
        h = h + across(p, up, path + ".patches.down")
        up = F.gelu(affine(p, norm(p, h, path + ".norm2"), path + ".channels.up"))
        h = h + affine(p, up, path + ".channels.down")
    logits = affine(p, norm(p, h, "norm").mean(1), "head")
    return F.cross_entropy(logits, x["label"].long())


def optimizer(p):
    def factor(t, steps):
        at = min(max((t - 5) / max(steps - 5, 1), 0), 1)
        return min(1, t / 5) * 0.5 * (1 + math.cos(math.pi * at))
    return torch.optim.Adam(p.values(), lr=1e-3), factor
