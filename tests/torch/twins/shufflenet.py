"""ShuffleNet V2 1.0x, figure 3 (c, d) and table 5 of Ma et al. 2018."""
import torch
import torch.nn.functional as F

from pictures import far_from_kinks

parameters = 2_278_604
# Batch norm over so few pixels is chaotic at a rate of 0.0156: rounding grows tenfold and more a step.
overrides = {"batch": 4, "size": 64, "classes": 10,
             "train.optimizer": "sgd(lr = polynomial(0.0005), momentum = 0.9, weight_decay = 4e-5)"}
single_start = {"*.beta": far_from_kinks}
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def shuffle(x, groups=2):
    return x.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2)


class Net:
    def __init__(self, p, s, train):
        self.p, self.s, self.train = p, s, train

    def conv_bn(self, x, path, **how):
        w = self.p[path + ".conv2d.0.w"]
        x = F.conv2d(x, w, padding=w.shape[-1] // 2, **how)
        n = path + ".batch_norm.0"
        return F.batch_norm(x, self.s[n + ".running_mean"], self.s[n + ".running_var"],
                            self.p[n + ".gamma"], self.p[n + ".beta"], self.train, 0.1, 1e-5)

    def branch(self, x, path, stride):
        x = F.relu(self.conv_bn(x, path + ".conv_bn.0"))
        x = self.conv_bn(x, path + ".depthwise.0.conv_bn.0", stride=stride, groups=x.shape[1])
        return F.relu(self.conv_bn(x, path + ".conv_bn.1"))

    def unit(self, x, path):
        kept, worked = x.chunk(2, 1)
        return shuffle(torch.cat([kept, self.branch(worked, path + ".branch.0", 1)], 1))

    def down(self, x, path):
        short = self.conv_bn(x, path + ".depthwise.0.conv_bn.0", stride=2, groups=x.shape[1])
        short = F.relu(self.conv_bn(short, path + ".conv_bn.0"))
        return shuffle(torch.cat([short, self.branch(x, path + ".branch.0", 2)], 1))


def loss(p, s, x, train=True):
    net, dtype = Net(p, s, train), p["logits.w"].dtype
    mean, std = (torch.tensor(v, dtype=dtype).view(1, 3, 1, 1) for v in (MEAN, STD))
    h = (x["image"].to(dtype) / 255 - mean) / std
    h = F.max_pool2d(F.relu(net.conv_bn(h, "conv_bn.0", stride=2)), 3, stride=2, padding=1)
    unit = 0
    for stage, repeats in enumerate((3, 7, 3)):
        h = net.down(h, f"down.{stage}")
        for _ in range(repeats):
            h = net.unit(h, f"unit.{unit}")
            unit += 1
    h = F.relu(net.conv_bn(h, "conv_bn.1")).mean((2, 3))
    return F.cross_entropy(F.linear(h, p["logits.w"].T, p["logits.b"]), x["label"])


def optimizer(p):
    """Weights of convolutions and of the linear layer decay, others do not."""
    weights = [value for name, value in p.items() if name.endswith(".w")]
    others = [value for name, value in p.items() if not name.endswith(".w")]
    made = torch.optim.SGD([{"params": weights, "weight_decay": 4e-5}, {"params": others}],
                           lr=0.0005, momentum=0.9)
    return made, lambda t, steps: 1 - (t - 1) / steps
