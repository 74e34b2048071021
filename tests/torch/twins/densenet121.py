"""DenseNet-121 with bottlenecks and compression: sections 3 and 4 and table 1 of Huang et al. 2016."""
import torch
import torch.nn.functional as F

from pictures import far_from_kinks

parameters = 7_978_856
overrides = {"batch": 4, "size": 64, "classes": 10}
single_start = {"*.beta": far_from_kinks}
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def loss(p, s, x, train=True):
    def norm(h, path):
        return F.batch_norm(h, s[path + ".running_mean"], s[path + ".running_var"],
                            p[path + ".gamma"], p[path + ".beta"], train, 0.1, 1e-5)

    def norm_relu_conv(h, path, **how):
        return F.conv2d(F.relu(norm(h, path + ".batch_norm.0")), p[path + ".conv2d.0.w"], **how)

    dtype, layer = p["conv2d.0.w"].dtype, 0
    mean, std = (torch.tensor(v, dtype=dtype).view(1, 3, 1, 1) for v in (MEAN, STD))
    h = F.conv2d((x["image"].to(dtype) / 255 - mean) / std, p["conv2d.0.w"], stride=2, padding=3)
    h = F.max_pool2d(F.relu(norm(h, "batch_norm.0")), 3, stride=2, padding=1)
    for block, layers in enumerate((6, 12, 24, 16)):
        if block:
            h = F.avg_pool2d(norm_relu_conv(h, f"transition.{block - 1}.norm_conv.0"), 2)
        for _ in range(layers):
            path = f"dense_layer.{layer}.norm_conv"
            new = norm_relu_conv(norm_relu_conv(h, path + ".0"), path + ".1", padding=1)
            h, layer = torch.cat([h, new], 1), layer + 1
    h = F.relu(norm(h, "batch_norm.1")).mean((2, 3))
    return F.cross_entropy(F.linear(h, p["logits.w"].T, p["logits.b"]), x["label"])


def optimizer(p):
    return torch.optim.SGD(p.values(), lr=0.0125, momentum=0.9, nesterov=True, weight_decay=1e-4)
