"""ViT-S/16: patches by unfold and a product, blocks with PyTorch's attention, the class from a word of its own."""
import torch
import torch.nn.functional as F

parameters = 22_050_664
overrides = {"batch": 2, "side": 32, "width": 48, "classes": 10}
clip = 1.0
vanishing = ["*.k.b"]  # softmax does not see what is the same for all keys
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
LAYERS, HEADS, PATCH = 12, 6, 16


def affine(p, x, path):
    return F.linear(x, p[path + ".w"].T, p[path + ".b"])


def norm(p, x, path):
    return F.layer_norm(x, x.shape[-1:], p[path + ".gamma"], p[path + ".beta"], 1e-6)


def attention(p, x, path):
    weights = torch.cat([p[f"{path}.{name}.w"].T for name in "qkv"])
    biases = torch.cat([p[f"{path}.{name}.b"] for name in "qkv"])
    turned = x.transpose(0, 1)
    seen, _ = F.multi_head_attention_forward(
        turned, turned, turned, x.shape[2], HEADS, weights, biases, None, None, False, 0.0,
        p[path + ".o.w"].T, p[path + ".o.b"], need_weights=False)
    return seen.transpose(0, 1)


def loss(p, s, x, train=True):
    kind = p["head.w"].dtype
    mean, deviation = (torch.tensor(v, dtype=kind).view(1, 3, 1, 1) for v in (MEAN, DEVIATION))
    pixels = (x["image"].to(kind) / 255 - mean) / deviation
    cut = F.unfold(pixels, PATCH, stride=PATCH).transpose(1, 2)
    words = F.linear(cut, p["patches.w"].flatten(1), p["patches.b"])
    h = torch.cat([p["class_word"].expand(len(words), 1, -1), words], 1) + p["positions"]
    for i in range(LAYERS):
        h = h + attention(p, norm(p, h, f"block.{i}.norm1"), f"block.{i}.attend")
        up = F.gelu(affine(p, norm(p, h, f"block.{i}.norm2"), f"block.{i}.feed_forward.0.up"))
        h = h + affine(p, up, f"block.{i}.feed_forward.0.down")
    logits = affine(p, norm(p, h, "norm")[:, 0], "head")
    return F.cross_entropy(logits, x["label"].long(), label_smoothing=0.1)


def optimizer(p):
    plain = {name for name in p if name.split(".")[-1] in ("b", "gamma", "beta", "class_word", "positions")}
    groups = [{"params": [p[name] for name in p if name not in plain], "weight_decay": 0.05},
              {"params": [p[name] for name in plain], "weight_decay": 0.0}]

    def factor(t, steps):  # the run is one epoch, five warm up
        return t / (5 * steps)
    return torch.optim.AdamW(groups, lr=1e-3), factor
