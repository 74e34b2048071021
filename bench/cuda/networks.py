"""The networks of the tables in PyTorch, as its users write them: the same shapes, loss, optimizer and clipping as in
models/.  Each has `loss(batch)`, `inputs(device)`, `optimizer(capturable)` and `clip`."""
import torch
import torch.nn.functional as F
from torch import nn


def fused(kind, parameters, capturable, **words):
    """Captured in a graph, Adam keeps its count of steps on the device."""
    if kind is not torch.optim.SGD and capturable:
        words["capturable"] = True
    return kind(parameters, fused=True, **words)


class Net(nn.Module):
    clip = None
    is_pictures = False


class Perceptron(Net):
    def __init__(self, batch=100, hidden=1000):
        super().__init__()
        self.batch = batch
        self.net = nn.Sequential(nn.Linear(784, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                                 nn.Linear(hidden, 10))

    def loss(self, batch):
        return F.cross_entropy(self.net(batch["image"].flatten(1).float() / 255), batch["label"])

    def inputs(self, device):
        return {"image": torch.randint(0, 256, (self.batch, 28, 28), dtype=torch.uint8, device=device),
                "label": torch.randint(0, 10, (self.batch,), device=device)}

    def optimizer(self, capturable):
        return fused(torch.optim.Adam, self.parameters(), capturable, lr=1e-3)


class SmallCnn(Net):
    is_pictures = True

    def __init__(self, batch=32, hidden=8):
        super().__init__()
        self.batch = batch
        layers = [nn.Conv2d(1 if i == 0 else hidden, hidden, 3, padding=1) for i in range(3)]
        self.net = nn.Sequential(*layers, nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(hidden * 196, 10))

    def loss(self, batch):
        return F.cross_entropy(self.net(batch["image"].unsqueeze(1).float() / 255), batch["label"])

    inputs = Perceptron.inputs

    def optimizer(self, capturable):
        return fused(torch.optim.SGD, self.parameters(), capturable, lr=0.01)


class Pictures(Net):
    """What the networks for photographs share."""
    is_pictures = True

    def __init__(self, batch, size, classes):
        super().__init__()
        self.batch, self.size, self.classes = batch, size, classes
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1))
        self.register_buffer("std", torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1))

    def loss(self, batch):
        x = (batch["image"].float() / 255 - self.mean) / self.std
        return F.cross_entropy(self.logits(self.features(x).mean((2, 3))), batch["label"])

    def inputs(self, device):
        shape = (self.batch, 3, self.size, self.size)
        image = torch.randint(0, 256, shape, dtype=torch.uint8, device=device)
        return {"image": image, "label": torch.randint(0, self.classes, (self.batch,), device=device)}

    def optimizer(self, capturable):
        return fused(torch.optim.SGD, self.parameters(), capturable, lr=1e-4, momentum=0.9, weight_decay=1e-4)


def conv_norm(before, after, kernel, stride=1, groups=1, act=None):
    layers = [nn.Conv2d(before, after, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(after)]
    return nn.Sequential(*layers, *([act(inplace=True)] if act else []))


class Bottleneck(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.net = nn.Sequential(conv_norm(before, after // 4, 1, act=nn.ReLU),
                                 conv_norm(after // 4, after // 4, 3, stride, act=nn.ReLU),
                                 conv_norm(after // 4, after, 1))
        same = stride == 1 and before == after
        self.past = nn.Identity() if same else conv_norm(before, after, 1, stride)

    def forward(self, x):
        return F.relu(self.net(x) + self.past(x))


class ResNet50(Pictures):
    def __init__(self, batch=32, size=224, classes=1000):
        super().__init__(batch, size, classes)
        layers, before = [conv_norm(3, 64, 7, 2, act=nn.ReLU), nn.MaxPool2d(3, 2, 1)], 64
        for channels, count, stride in [(256, 3, 1), (512, 4, 2), (1024, 6, 2), (2048, 3, 2)]:
            for i in range(count):
                layers.append(Bottleneck(before, channels, stride if i == 0 else 1))
                before = channels
        self.features, self.logits = nn.Sequential(*layers), nn.Linear(before, classes)


class InvertedResidual(nn.Module):
    def __init__(self, before, after, stride, expand):
        super().__init__()
        wide = expand * before
        first = [conv_norm(before, wide, 1, act=nn.ReLU6)] if expand != 1 else []
        self.net = nn.Sequential(*first, conv_norm(wide, wide, 3, stride, wide, nn.ReLU6), conv_norm(wide, after, 1))
        self.adds = stride == 1 and before == after

    def forward(self, x):
        return x + self.net(x) if self.adds else self.net(x)


class MobileNetV2(Pictures):
    def __init__(self, batch=32, size=224, classes=1000, drop=0):
        super().__init__(batch, size, classes)
        layers, before = [conv_norm(3, 32, 3, 2, act=nn.ReLU6)], 32
        for expand, channels, count, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                                (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
            for i in range(count):
                layers.append(InvertedResidual(before, channels, stride if i == 0 else 1, expand))
                before = channels
        layers.append(conv_norm(before, 1280, 1, act=nn.ReLU6))
        self.features, self.logits = nn.Sequential(*layers), nn.Linear(1280, classes)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, time, width = x.shape
        q, k, v = (part.view(batch, time, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).split(width, -1))
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(seen.transpose(1, 2).reshape(batch, time, width))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt2(Net):
    clip = 1.0

    def __init__(self, batch=4, time=64, context=1024, vocab=50257, layers=12, heads=12, width=768):
        super().__init__()
        self.batch, self.time, self.vocab = batch, time, vocab
        self.wte, self.wpe = nn.Embedding(vocab, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.final = nn.LayerNorm(width)
        for value in self.parameters():
            if value.dim() > 1:
                nn.init.normal_(value, std=0.02)

    def loss(self, batch):
        x = self.wte(batch["tokens"]) + self.wpe.weight[:self.time]
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.final(x), self.wte.weight)
        return F.cross_entropy(logits.flatten(0, 1), batch["next"].flatten())

    def inputs(self, device):
        draw = lambda: torch.randint(0, self.vocab, (self.batch, self.time), device=device)
        return {"tokens": draw(), "next": draw()}

    def optimizer(self, capturable):
        groups = [{"params": [p for p in self.parameters() if (p.dim() > 1) == decays],
                   "weight_decay": 0.1 * decays} for decays in (True, False)]
        return fused(torch.optim.AdamW, groups, capturable, lr=6e-4, betas=(0.9, 0.95))


NETWORKS = {"mnist": Perceptron, "mnist_cnn": SmallCnn, "resnet50": ResNet50, "mobilenet_v2": MobileNetV2, "gpt2": Gpt2}
