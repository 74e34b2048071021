"""nanoGPT's small setting: pre-normalized blocks, the embedding tied to the last layer."""
import math
import torch
import torch.nn.functional as F

overrides = {"batch": 2, "time": 16}
clip = 1.0
HEADS, LAYERS, GELU = 4, 4, "none"


def affine(p, x, path):
    return F.linear(x, p[path + ".w"].T, p[path + ".b"])


def norm(p, x, path):
    return F.layer_norm(x, x.shape[-1:], p[path + ".gamma"], p[path + ".beta"])


def causal_attention(q, k, v, heads):
    n, time, width = q.shape
    q, k, v = (each.view(n, time, heads, width // heads).transpose(1, 2) for each in (q, k, v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(width // heads)
    future = torch.triu(torch.ones(time, time, dtype=torch.bool), diagonal=1)
    return (scores.masked_fill(future, -math.inf).softmax(-1) @ v).transpose(1, 2).reshape(n, time, width)


def block(p, h, path, first, second, heads, gelu):
    """first, second: the names of the norms in front of attention and perceptron."""
    q, k, v = affine(p, norm(p, h, f"{path}.{first}"), f"{path}.linear.0").chunk(3, -1)
    h = h + affine(p, causal_attention(q, k, v, heads), f"{path}.linear.1")
    up = affine(p, norm(p, h, f"{path}.{second}"), f"{path}.linear.2")
    return h + affine(p, F.gelu(up, approximate=gelu), f"{path}.linear.3")


def loss(p, s, x, train=True):
    h = F.embedding(x["tokens"], p["wte"]) + p["wpe"]
    for i in range(LAYERS):
        h = block(p, h, f"block.{i}", "a", "layer_norm.0", HEADS, GELU)
    logits = norm(p, h, "final") @ p["wte"].T
    return F.cross_entropy(logits.flatten(0, 1), x["next"].flatten())


def decayed(p, rate, decay, **more):
    plain = {name for name in p if name.split(".")[-1] in ("b", "gamma", "beta")}
    groups = [{"params": [p[name] for name in p if name not in plain], "weight_decay": decay},
              {"params": [p[name] for name in plain], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=rate, **more)


def optimizer(p):
    # Half a cosine ends at step 2000; the first 100 steps rise to it.
    half = lambda t: 0.5 * (1 + math.cos(math.pi * max(t - 100, 0) / 1900))
    return decayed(p, 1e-3, 0.1, betas=(0.9, 0.99)), lambda t: min(1, t / 100) * half(t)
