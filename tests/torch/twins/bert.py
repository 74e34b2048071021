"""BERT with PyTorch's own attention. The numbers that decide which words are hidden are inputs here."""
import torch
import torch.nn.functional as F

# BertForMaskedLM of Hugging Face's bert-base-uncased: BERT-base without its pooler, with the head
parameters = 109_514_298
overrides = {"batch": 2, "time": 20, "vocab": 120, "width": 48, "heads": 4, "rate": 0.0, "warmup": 5}
clip = 1.0
edits = [("input tokens : i32[batch, time]",
          "input tokens : i32[batch, time]\ninput chance : f32[batch, time]\ninput drawn : f32[batch, time]"),
         ("u = rand(tokens.shape)", "u = chance"),
         ("other = i32(rand(tokens.shape) * vocab)", "other = i32(drawn * vocab)"),
         ('data train { tokens = token_stream("train.bin", length = time) }',
          'data train { tokens, chance, drawn = npy("tokens.npy", "chance.npy", "drawn.npy") }'),
         ('data val   { tokens = token_stream("val.bin", length = time) }', "")]
inputs = {"chance": lambda rng, shape: rng.random(shape), "drawn": lambda rng, shape: rng.random(shape)}
vanishing = ["*.k.b"]  # softmax does not see what is the same for all keys
LAYERS = 12


def affine(p, x, path):
    return F.linear(x, p[path + ".w"].T, p[path + ".b"])


def norm(p, x, path):
    return F.layer_norm(x, x.shape[-1:], p[path + ".gamma"], p[path + ".beta"], 1e-12)


def encoder(p, h, path):
    weights = torch.cat([p[f"{path}.{name}.w"].T for name in "qkv"])
    biases = torch.cat([p[f"{path}.{name}.b"] for name in "qkv"])
    turned = h.transpose(0, 1)
    seen, _ = F.multi_head_attention_forward(
        turned, turned, turned, h.shape[2], 4, weights, biases, None, None, False, 0.0, p[path + ".o.w"].T,
        p[path + ".o.b"], need_weights=False)
    h = norm(p, h + seen.transpose(0, 1), path + ".norm1")
    up = F.gelu(affine(p, h, path + ".up"))
    return norm(p, h + affine(p, up, path + ".down"), path + ".norm2")


def hide(tokens, chance, drawn):
    shown = tokens.clone()
    shown[chance < 0.15 * 0.9] = (drawn * 120).long()[chance < 0.15 * 0.9]
    shown[chance < 0.15 * 0.8] = 103
    return shown, chance < 0.15


def loss(p, s, x, train=True):
    tokens = x["tokens"]
    shown, hidden = hide(tokens, x["chance"], x["drawn"])
    second = torch.tensor([[int(102 in row[:t]) for t in range(len(row))] for row in tokens.tolist()])
    h = p["words"][shown] + p["positions"][:tokens.shape[1]] + p["sentences"][second]
    h = norm(p, h, "norm")
    for i in range(LAYERS):
        h = encoder(p, h, f"block.{i}")
    head = norm(p, F.gelu(affine(p, h, "transform")), "head_norm")
    return F.cross_entropy(F.linear(head[hidden], p["words"], p["bias"]), tokens[hidden])


def optimizer(p):
    plain = [value for value in p.values() if value.dim() == 1]
    matrices = [value for value in p.values() if value.dim() > 1]
    adam = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.01},
                              {"params": plain, "weight_decay": 0.0}], lr=1e-4)
    return adam, lambda t, steps: min(1, t / 5) * (1 - max(t - 5, 0) / (steps - 5))
