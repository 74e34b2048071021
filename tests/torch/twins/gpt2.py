"""GPT-2 as OpenAI's model.py has it: gelu by tanh, positions of which a part is used. Narrower here, all 12 blocks."""
import math
import torch
import torch.nn.functional as F

parameters = 124_439_808
overrides = {"batch": 2, "time": 16, "context": 32, "vocab": 211, "width": 48}
clip = 1.0
HEADS, LAYERS = 12, 12


def conv1d(p, x, path):
    """OpenAI's Conv1D: a matrix [in, out]."""
    return torch.addmm(p[path + ".b"], x.flatten(0, 1), p[path + ".w"]).view(*x.shape[:2], -1)


def norm(p, x, path):
    return F.layer_norm(x, x.shape[-1:], p[path + ".gamma"], p[path + ".beta"])


def attend(p, x, path):
    n, time, width = x.shape
    q, k, v = (part.unflatten(-1, (HEADS, -1)) for part in conv1d(p, x, path + ".linear.0").split(width, -1))
    scores = torch.einsum("nqhd,nkhd->nhqk", q, k) / math.sqrt(width // HEADS)
    seen = torch.ones(time, time).tril()
    weights = F.softmax(scores * seen - 1e10 * (1 - seen), dim=-1)
    return conv1d(p, torch.einsum("nhqk,nkhd->nqhd", weights, v).flatten(2), path + ".linear.1")


def perceptron(p, x, path):
    h = conv1d(p, x, path + ".linear.2")
    h = 0.5 * h * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h ** 3)))
    return conv1d(p, h, path + ".linear.3")


def loss(p, s, x, train=True):
    h = p["wte"][x["tokens"]] + p["wpe"][torch.arange(x["tokens"].shape[1])]
    for i in range(LAYERS):
        path = f"block.{i}"
        h = h + attend(p, norm(p, h, path + ".layer_norm.0"), path)
        h = h + perceptron(p, norm(p, h, path + ".layer_norm.1"), path)
    logits = F.linear(norm(p, h, "final"), p["wte"])
    return F.cross_entropy(logits.transpose(1, 2), x["next"])


def optimizer(p):
    plain = [value for name, value in p.items() if value.dim() == 1]
    matrices = [value for value in p.values() if value.dim() > 1]
    adam = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1},
                              {"params": plain, "weight_decay": 0.0}], lr=6e-4, betas=(0.9, 0.95))

    def factor(t, steps):
        at = min(max((t - 700) / max(steps - 700, 1), 0), 1)
        return min(1, t / 700) * 0.5 * (1 + math.cos(math.pi * at))
    return adam, factor
