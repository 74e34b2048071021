"""Layers, attention, losses."""
import math

import numpy as np
import torch
import torch.nn.functional as F

from make import D, Group, I, N, U

g = Group("layers", """def zero_or(y, x) { return any(y == 0) && any(y != 0) && all(y == 0 || abs(y - x) < 1e-6) }
def whole_channels(y) {
  return any(y == 0) && any(y == 2) && all(min(y, axis = 2) == max(y, axis = 2))
}
""")
g.case("linear(x, 3)", lambda x, w, b: x @ w + b, x=N(4, 5), params={"w": N(5, 3), "b": N(3)})
g.case("linear(x, 3, bias = false)", lambda x, w: x @ w, x=N(2, 4, 5), params={"w": N(5, 3)})
g.case("linear(x, 1)", lambda x, w, b: x @ w + b, x=N(1, 1), params={"w": N(1, 1), "b": N(1)})
g.case("bilinear(x, z, 3)", lambda x, z, w, b: F.bilinear(x, z, w, b), x=N(4, 2), z=N(4, 5), params={"w": N(3, 2, 5), "b": N(3)})
g.case("bilinear(x, z, 1, bias = false)", lambda x, z, w: F.bilinear(x, z, w), x=N(2, 3), z=N(2, 1), params={"w": N(1, 3, 1)})
g.case("embedding(a, 7, 3)", lambda a, w: F.embedding(a, w), a=I(7, 2, 5), params={"w": N(7, 3)})
g.case("prelu(x)", F.prelu, x=N(2, 3, 4), params={"slope": U(0, 1, 3)})
g.case("prelu(x, shared = true)", F.prelu, x=N(2, 3), params={"slope": U(0, 1, 1)})
g.case("glu(x)", F.glu, x=N(3, 4))
g.case("glu(x, axis = 1)", lambda x: F.glu(x, 1), x=N(2, 6, 3))
g.case("swiglu(x)", lambda x: x[:, :2] * F.silu(x[:, 2:]), x=N(3, 4))
g.case("geglu(x)", lambda x: x[:, :2] * F.gelu(x[:, 2:]), x=N(3, 4))
g.case("gated(x, 0, tanh)", lambda x: x[:1] * torch.tanh(x[1:]), x=N(2, 4))
g.case("maxout(x, 3)", lambda x: x.reshape(2, 2, 3).amax(2), x=D(2, 6))
g.case("maxout(x, 2, axis = -1)", lambda x: x.reshape(2, 3, 2, 2).amax(3), x=D(2, 3, 4))
for text, f in [("celu(x)", F.celu), ("celu(x, alpha = 0.5)", lambda x: F.celu(x, 0.5)), ("hard_sigmoid(x)", lambda x: F.relu6(x + 3) / 6),
                ("hard_tanh(x)", F.hardtanh), ("tanh_shrink(x)", F.tanhshrink)]:
    g.case(text, f, x=N(3, 4, scale=3))
    g.case(text, f, x=[-25.0, -1.25, -0.125, 0.125, 1.25, 25.0])


def affine(y, params, scale, shift, axis):
    """Scaled by the first and shifted by the last, along an axis."""
    shape = [1] * y.dim()
    shape[axis] = -1
    y = y * params[0].reshape(shape) if scale else y
    return y + params[-1].reshape(shape) if shift else y


# Its part of channels, whose gradient counts what mean and variance give.
g.case("group_means(x, 2)", lambda x: x.view(2, 2, 3, 5).mean(2, keepdim=True).expand(2, 2, 3, 5).reshape(2, 6, 5), x=N(2, 6, 5))
g.case("normal_channels(x, mean(x, axis = [0, 2]), var(x, axis = [0, 2]), z, 1e-3)",
       lambda x, z: F.batch_norm(x, None, None, z, None, True, 0, 1e-3), x=N(3, 2, 4), z=U(0.5, 2, 2))
# Batch norm in training: what it computes and what it remembers.
for shape in [(4, 3), (2, 3, 4), (3, 2, 2, 3)]:
    for scale in (True, False):
        for shift in (True, False):
            channels = shape[1]
            params = ({"gamma": U(0.5, 2, channels)} if scale else {}) | ({"beta": N(channels)} if shift else {})

            def f(x, *rest, scale=scale, shift=shift):
                rest = list(rest)
                gamma = rest.pop(0) if scale else None
                beta = rest.pop(0) if shift else None
                mean, var = (t.clone() for t in rest)
                y = F.batch_norm(x, mean, var, gamma, beta, True, 0.2, 1e-3)
                return y, {"running_mean": mean, "running_var": var}

            def evaluated(x, *rest, scale=scale, shift=shift):
                rest = list(rest)
                gamma = rest.pop(0) if scale else None
                beta = rest.pop(0) if shift else None
                return F.batch_norm(x, rest[0], rest[1], gamma, beta, False, 0.2, 1e-3)
            more = ("" if scale else ", scale = false") + ("" if shift else ", shift = false")
            g.case(f"batch_norm(x, momentum = 0.2, eps = 1e-3{more})", f, x=N(*shape), params=params, predicts=evaluated,
                   states={"running_mean": N(channels), "running_var": U(0.5, 2, channels)})
            text = f"layer_norm(x{more})"
            g.case(text, lambda x, *p, s=scale, h=shift: affine(F.layer_norm(x, x.shape[-1:]), p, s, h, -1),
                   x=N(*shape), params={n: (U(0.5, 2, shape[-1]) if n == "gamma" else N(shape[-1])) for n in params})
            if shape[1] == 3 and len(shape) > 2:
                continue
            text = f"group_norm(x, {1 if channels == 3 else 2}{more})"
            g.case(text, lambda x, *p, s=scale, h=shift: affine(F.group_norm(x, 1 if x.shape[1] == 3 else 2), p, s, h, 1),
                   x=N(*shape), params=params)
g.case("group_norm(x, 2, eps = 0.1)", lambda x, s, b: F.group_norm(x, 2, s, b, 0.1), x=N(2, 4, 3), params={"gamma": N(4), "beta": N(4)})
g.case("layer_norm(x, eps = 0.1, scale = false, shift = false)", lambda x: F.layer_norm(x, (4,), eps=0.1), x=N(2, 3, 4))
g.case("instance_norm(x)", lambda x: F.instance_norm(x), x=N(2, 3, 4, 2))
g.case("instance_norm(x, scale = true, shift = true, eps = 1e-3)",
       lambda x, s, b: F.instance_norm(x, weight=s, bias=b, eps=1e-3), x=N(2, 3, 5), params={"gamma": N(3), "beta": N(3)})
g.case("rms_norm(x)", lambda x, s: x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * s, x=N(3, 4), params={"gamma": N(4)})
g.case("rms_norm(x, eps = 0.1, scale = false)", lambda x: x / torch.sqrt((x * x).mean(-1, keepdim=True) + 0.1), x=N(2, 3, 4))
# Dropout draws its own numbers: what it may give, not which.
g.case("dropout(x, 0.0)", lambda x: x, x=N(4), predicts=lambda x: x)
g.case("zero_or(dropout(x, 0.25), x / 0.75)", lambda x: torch.tensor(True), x=U(0.1, 0.7, 40))
g.case("abs(mean(dropout(x, 0.25)) - 1) < 0.05", lambda x: torch.tensor(True), x=[1.0] * 4000)
g.case("any(dropout(x, 0.25) == 0)", lambda x: torch.tensor(True), x=[1.0] * 400)
g.case("dropout(x, 0)", lambda x: x, x=N(4))
g.case("whole_channels(channel_dropout(x, 0.5))", lambda x: torch.tensor(True), x=torch.ones(20, 3, 4).numpy())
g.case("abs(mean(channel_dropout(x, 0.25)) - 1) < 0.1", lambda x: torch.tensor(True), x=torch.ones(40, 50, 2).numpy())

# ---- attention ----------------------------------------------------------------------------------

g = Group("attention")


def attend(q, k, v, heads, causal=False, mask=None, scale=None):
    """With loops over heads, from the definition."""
    depth = q.shape[2] // heads
    shared = k.shape[2] // depth
    out = v.shape[2] // shared
    parts = []
    for h in range(heads):
        s = h * shared // heads
        scores = q[:, :, h * depth:(h + 1) * depth] @ k[:, :, s * depth:(s + 1) * depth].transpose(1, 2)
        scores = scores * (scale or 1 / math.sqrt(depth))
        if causal:
            scores = scores + torch.full((q.shape[1], k.shape[1]), -math.inf).triu(1)
        if mask is not None:
            m = mask.expand(q.shape[0], heads, q.shape[1], k.shape[1])[:, h]
            scores = scores.masked_fill(~m, -math.inf) if m.dtype == torch.bool else scores + m
        parts.append(torch.softmax(scores, -1) @ v[:, :, s * out:(s + 1) * out])
    return torch.cat(parts, 2)


QKV = dict(q=N(2, 3, 4), k=N(2, 5, 4), v=N(2, 5, 6))
for heads in (1, 2):
    g.case(f"attention(q, k, v, heads = {heads})", lambda q, k, v, h=heads: attend(q, k, v, h), **QKV)
g.case("attention(q, k, v, heads = 2, causal = true)", lambda q, k, v: attend(q, k, v, 2, True), q=N(2, 4, 6), k=N(2, 4, 6), v=N(2, 4, 6))
g.case("attention(q, k, v, causal = true, scale = 0.5)", lambda q, k, v: attend(q, k, v, 1, True, scale=0.5), q=N(1, 1, 3), k=N(1, 1, 3), v=N(1, 1, 3))
g.case("attention(q, k, v, heads = 4, causal = true)", lambda q, k, v: attend(q, k, v, 4, True), q=N(2, 3, 8), k=N(2, 3, 4), v=N(2, 3, 4))
g.case("attention(q, k, v, heads = 2)", lambda q, k, v: attend(q, k, v, 2), q=N(2, 3, 4), k=N(2, 4, 2), v=N(2, 4, 3))
MASK = [[1, 0, 1, 1, 0], [1, 1, 1, 0, 0], [0, 0, 1, 1, 1]]
g.case("attention(q, k, v, heads = 2, mask = e > 0)", lambda q, k, v, e: attend(q, k, v, 2, mask=e > 0), **QKV, e=MASK)
g.case("attention(q, k, v, heads = 2, mask = e)", lambda q, k, v, e: attend(q, k, v, 2, mask=e), **QKV, e=N(2, 3, 5))


def turned(x, base=10000.0, offset=0, interleaved=False):
    """Complex numbers times e^(i angle)."""
    time, d = x.shape[-2], x.shape[-1]
    angle = (torch.arange(time) + offset)[:, None] * base ** (-2 * torch.arange(d // 2) / d)
    pairs = torch.complex(x[..., 0::2], x[..., 1::2]) if interleaved else torch.complex(x[..., :d // 2], x[..., d // 2:])
    y = pairs * torch.polar(torch.ones_like(angle), angle)
    return torch.stack([y.real, y.imag], -1).flatten(-2) if interleaved else torch.cat([y.real, y.imag], -1)


g.case("rotary(x)", turned, x=N(2, 3, 5, 4))
g.case("rotary(x, base = 100.0, offset = 3)", lambda x: turned(x, 100.0, 3), x=N(3, 6))
g.case("rotary(x, interleaved = true)", lambda x: turned(x, interleaved=True), x=N(2, 4, 6))
g.case("split_heads(x, 2)", lambda x: x.reshape(2, 3, 2, 2).transpose(1, 2), x=N(2, 3, 4))
g.case("join_heads(x)", lambda x: x.transpose(1, 2).flatten(2), x=N(2, 3, 4, 2))


def waves(time, width):
    angle = torch.arange(time)[:, None] * 10000.0 ** (-2 * torch.arange(width // 2) / width)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


g.case("x + wave_positions(5, 6)", lambda x: x + waves(5, 6), x=N(2, 5, 6))


def heads_params(width, from_width=None, kv=None, prefix="", scale=0.4):
    from_width, kv = from_width or width, kv or width
    shapes = {"q": (width, width), "k": (from_width, kv), "v": (from_width, kv), "o": (width, width)}
    params = {}
    for name, shape in shapes.items():
        params[f"{prefix}{name}.w"], params[f"{prefix}{name}.b"] = N(*shape, scale=scale), N(shape[1], scale=scale)
    return params


def multi_head(module, x, context, p, **more):
    """nn.MultiheadAttention with these weights; p: w and b of q, k, v, o."""
    qw, qb, kw, kb, vw, vb, ow, ob = p
    y, _ = F.multi_head_attention_forward(
        x.transpose(0, 1), context.transpose(0, 1), context.transpose(0, 1), x.shape[2], module,
        torch.cat([qw.T, kw.T, vw.T]), torch.cat([qb, kb, vb]), None, None, False, 0.0, ow.T, ob, **more)
    return y.transpose(0, 1)


g.case("multi_head_attention(x, 2)", lambda x, *p: multi_head(2, x, x, p), x=N(2, 3, 4), params=heads_params(4))
g.case("multi_head_attention(x, 1, context = z)", lambda x, z, *p: multi_head(1, x, z, p), x=N(2, 3, 4), z=N(2, 5, 4), params=heads_params(4))
FUTURE = torch.ones(4, 4, dtype=torch.bool).triu(1)
g.case("multi_head_attention(x, 2, causal = true)", lambda x, *p: multi_head(2, x, x, p, attn_mask=FUTURE), x=N(2, 4, 6), params=heads_params(6))


def grouped(x, *p):
    qw, qb, kw, kb, vw, vb, ow, ob = p
    def turn(t, heads):
        return turned(t.reshape(t.shape[0], t.shape[1], heads, -1).transpose(1, 2)).transpose(1, 2).flatten(2)
    return attend(turn(x @ qw + qb, 2), turn(x @ kw + kb, 1), x @ vw + vb, 2, True) @ ow + ob


g.case("multi_head_attention(x, 2, kv_heads = 1, turn = true, causal = true)", grouped, x=N(2, 3, 8), params=heads_params(8, kv=4))
FEED = lambda width, hidden, prefix="": {prefix + "up.w": N(width, hidden, scale=0.4), prefix + "up.b": N(hidden, scale=0.4),
                                         prefix + "down.w": N(hidden, width, scale=0.4), prefix + "down.b": N(width, scale=0.4)}
g.case("feed_forward(x, 5)", lambda x, a, b, c, d: F.relu(x @ a + b) @ c + d, x=N(2, 3), params=FEED(3, 5))


def encoder(norm_first, causal, activation):
    def f(x, *p):
        width = x.shape[2]
        s1, h1, qw, qb, kw, kb, vw, vb, ow, ob, s2, h2, uw, ub, dw, db = p
        layer = torch.nn.TransformerEncoderLayer(width, 2, uw.shape[1], 0.0, activation, norm_first=norm_first, batch_first=True)
        values = {"self_attn.in_proj_weight": torch.cat([qw.T, kw.T, vw.T]), "self_attn.in_proj_bias": torch.cat([qb, kb, vb]),
                  "self_attn.out_proj.weight": ow.T, "self_attn.out_proj.bias": ob, "linear1.weight": uw.T, "linear1.bias": ub,
                  "linear2.weight": dw.T, "linear2.bias": db, "norm1.weight": s1, "norm1.bias": h1, "norm2.weight": s2, "norm2.bias": h2}
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1) if causal else None
        return torch.nn.utils.stateless.functional_call(layer, values, (x, mask))
    return f


def block_params(width, hidden):
    return ({"norm1.gamma": U(0.5, 2, width), "norm1.beta": N(width)} | heads_params(width, prefix="attend.") |
            {"norm2.gamma": U(0.5, 2, width), "norm2.beta": N(width)} | FEED(width, hidden, "feed."))


g.case("transformer_block(x, 2, causal = true)", encoder(True, True, F.gelu), x=N(2, 3, 4), params=block_params(4, 16))
g.case("transformer_block(x, 2, hidden = 5, norm_first = false, activation = relu)", encoder(False, False, F.relu), x=N(2, 3, 4), params=block_params(4, 5))


def decoder(norm_first, activation):
    def f(x, z, *p):
        (s1, h1, qw, qb, kw, kb, vw, vb, ow, ob, s2, h2, cqw, cqb, ckw, ckb, cvw, cvb, cow, cob, s3, h3, uw, ub, dw, db) = p
        layer = torch.nn.TransformerDecoderLayer(x.shape[2], 2, uw.shape[1], 0.0, activation, norm_first=norm_first, batch_first=True)
        values = {"self_attn.in_proj_weight": torch.cat([qw.T, kw.T, vw.T]), "self_attn.in_proj_bias": torch.cat([qb, kb, vb]),
                  "self_attn.out_proj.weight": ow.T, "self_attn.out_proj.bias": ob,
                  "multihead_attn.in_proj_weight": torch.cat([cqw.T, ckw.T, cvw.T]), "multihead_attn.in_proj_bias": torch.cat([cqb, ckb, cvb]),
                  "multihead_attn.out_proj.weight": cow.T, "multihead_attn.out_proj.bias": cob,
                  "linear1.weight": uw.T, "linear1.bias": ub, "linear2.weight": dw.T, "linear2.bias": db, "norm1.weight": s1,
                  "norm1.bias": h1, "norm2.weight": s2, "norm2.bias": h2, "norm3.weight": s3, "norm3.bias": h3}
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return torch.nn.utils.stateless.functional_call(layer, values, (x, z, future))
    return f


def decoder_params(width, hidden):
    norm = lambda name: {name + ".gamma": U(0.5, 2, width), name + ".beta": N(width)}
    return (norm("norm1") | heads_params(width, prefix="attend.") | norm("norm2") | heads_params(width, prefix="cross.") |
            norm("norm3") | FEED(width, hidden, "feed."))


g.case("decoder_block(x, z, 2)", decoder(True, F.gelu), x=N(2, 3, 4), z=N(2, 5, 4), params=decoder_params(4, 16))
g.case("decoder_block(x, z, 2, hidden = 5, norm_first = false, activation = relu)", decoder(False, F.relu), x=N(2, 3, 4), z=N(2, 5, 4),
       params=decoder_params(4, 5))


def without_biases(f, params, operands):
    """f with zeros for the biases, and what is left of the parameters."""
    zeros = {name: torch.tensor(0.0 * spec(np.random.default_rng(0))) for name, spec in params.items() if name.endswith(".b")}

    def g(*values):
        given = iter(values[operands:])
        return f(*values[:operands], *(zeros[name] if name in zeros else next(given) for name in params))
    return g, {name: spec for name, spec in params.items() if name not in zeros}


f, params = without_biases(encoder(True, True, F.gelu), block_params(4, 16), 1)
g.case("transformer_block(x, 2, causal = true, bias = false)", f, x=N(2, 3, 4), params=params)
f, params = without_biases(decoder(True, F.gelu), decoder_params(4, 16), 2)
g.case("decoder_block(x, z, 2, bias = false)", f, x=N(2, 3, 4), z=N(2, 5, 4), params=params)

# ---- losses -------------------------------------------------------------------------------------

g = Group("losses")
W = [0.5, 1.0, 2.0, 4.0]
WT = torch.tensor(W)
for more, theirs in [("", {}), (", smoothing = 0.1", dict(label_smoothing=0.1)), (", reduce = false", dict(reduction="none")),
                     (f", weights = {W}", dict(weight=WT)), (", ignore = 2", dict(ignore_index=2)),
                     (f", weights = {W}, smoothing = 0.2, ignore = 1", dict(weight=WT, label_smoothing=0.2, ignore_index=1)),
                     (", smoothing = 0.2, ignore = 1, reduce = false", dict(label_smoothing=0.2, ignore_index=1, reduction="none")),
                     (f", weights = {W}, reduce = false", dict(weight=WT, reduction="none"))]:
    g.case(f"cross_entropy(x, a{more})", lambda x, a, m=theirs: F.cross_entropy(x, a, **m), x=N(7, 4, scale=2), a=I(4, 7))
    if "smoothing" not in more:
        g.case(f"nll(x, a{more})", lambda x, a, m=theirs: F.nll_loss(x, a, **m), x=N(7, 4, scale=2), a=I(4, 7))
g.case("cross_entropy(x, a)", lambda x, a: F.cross_entropy(x.transpose(1, 2), a), x=N(2, 3, 4), a=I(4, 2, 3))
g.case("cross_entropy(x, a, ignore = -100)", lambda x, a: F.cross_entropy(x, a), x=N(4, 3), a=[0, -100, 2, -100])
g.case("cross_entropy(x, a)", F.cross_entropy, x=[[1000.0, 0.0], [0.0, 1000.0]], a=[0, 0])
g.case("cross_entropy(x, a)", F.cross_entropy, x=N(3, 1), a=[0, 0, 0])
B = dict(x=N(5, 3, scale=3), z=U(0, 1, 5, 3))
g.case("binary_cross_entropy(x, z)", F.binary_cross_entropy_with_logits, **B)
g.case("binary_cross_entropy(x, z, reduce = false)", lambda x, z: F.binary_cross_entropy_with_logits(x, z, reduction="none"), **B)
g.case("binary_cross_entropy(x, z, positive = 2.5)", lambda x, z: F.binary_cross_entropy_with_logits(x, z, pos_weight=torch.tensor(2.5)), **B)
g.case("binary_cross_entropy(x, z, weights = u)", lambda x, z, u: (F.binary_cross_entropy_with_logits(x, z, reduction="none") * u).mean(), **B, u=U(0.5, 2, 3))
g.case("binary_cross_entropy(x, z)", F.binary_cross_entropy_with_logits, x=[-200.0, 200.0, 200.0], z=[1.0, 1.0, 0.0])
for name, f in [("mse", F.mse_loss), ("l1", F.l1_loss), ("huber", F.huber_loss), ("smooth_l1", F.smooth_l1_loss)]:
    g.case(f"{name}(x, z)", f, x=N(4, 3, scale=2), z=N(4, 3, scale=2))
    g.case(f"{name}(x, z, reduce = false)", lambda x, z, f=f: f(x, z, reduction="none"), x=N(4, scale=2), z=N(4, scale=2))
g.case("huber(x, z, delta = 0.5)", lambda x, z: F.huber_loss(x, z, delta=0.5), x=N(8), z=N(8))
g.case("smooth_l1(x, z, beta = 0.5)", lambda x, z: F.smooth_l1_loss(x, z, beta=0.5), x=N(8), z=N(8))
g.case("kl_div(x, z)", lambda x, z: F.kl_div(x, z, reduction="batchmean"), x=N(4, 3), z=U(0.05, 1, 4, 3))
g.case("kl_div(x, f32(e) / 2)", lambda x, e: F.kl_div(x, e / 2, reduction="batchmean"), x=N(2, 3),
           e=[[0, 1, 1], [2, 0, 0]])
g.case("hinge(x, z)", lambda x, z: F.relu(1 - x * z).mean(), x=N(8), z=[1.0, -1.0] * 4)
g.case("hinge(x, z, margin = 0.5, reduce = false)", lambda x, z: F.relu(0.5 - x * z), x=N(8), z=[1.0, -1.0] * 4)
for p in (1, 2):
    g.case(f"multi_margin(x, a, p = {p})", lambda x, a, p=p: F.multi_margin_loss(x, a, p=p), x=N(5, 4), a=I(4, 5))
g.case("multi_margin(x, a, margin = 0.3, reduce = false)", lambda x, a: F.multi_margin_loss(x, a, margin=0.3, reduction="none"), x=N(5, 4), a=I(4, 5))
g.case("margin_ranking(x, z, e, margin = 0.25)", lambda x, z, e: F.margin_ranking_loss(x, z, e, 0.25), x=N(6), z=N(6), e=[1.0, -1.0] * 3)
g.case("distance(x, z)", lambda x, z: F.pairwise_distance(x, z), x=N(4, 3), z=N(4, 3))
g.case("triplet(x, z, u)", F.triplet_margin_loss, x=N(6, 3), z=N(6, 3), u=N(6, 3))
g.case("triplet(x, z, u, margin = 3.0, reduce = false)", lambda x, z, u: F.triplet_margin_loss(x, z, u, 3.0, reduction="none"), x=N(4, 3), z=N(4, 3), u=N(4, 3))
g.case("cosine_embedding(x, z, a)", F.cosine_embedding_loss, x=N(6, 3), z=N(6, 3), a=[1, -1] * 3)
g.case("cosine_embedding(x, z, a, margin = 0.2)", lambda x, z, a: F.cosine_embedding_loss(x, z, a, 0.2), x=N(6, 3), z=N(6, 3), a=[1, -1] * 3)


def pairs(x, z, temperature):
    return F.normalize(x, dim=-1) @ F.normalize(z, dim=-1).T / temperature


g.case("contrastive(x, z)", lambda x, z: F.cross_entropy(pairs(x, z, 0.07), torch.arange(5)), x=N(5, 4), z=N(5, 4))
g.case("contrastive(x, z, temperature = 0.5, both = true)",
       lambda x, z: (F.cross_entropy(pairs(x, z, 0.5), torch.arange(5)) + F.cross_entropy(pairs(z, x, 0.5), torch.arange(5))) / 2, x=N(5, 4), z=N(5, 4))
g.case("poisson_nll(x, z)", lambda x, z: F.poisson_nll_loss(x, z), x=N(4, 3), z=U(0, 5, 4, 3))
g.case("gaussian_nll(x, z, u)", lambda x, z, u: F.gaussian_nll_loss(x, z, u), x=N(4, 3), z=N(4, 3), u=U(0.2, 2, 4, 3))
for k in (1, 2, 4):
    g.case(f"in_top_k(x, a, {k})", lambda x, a, k=k: (x.topk(k).indices == a[:, None]).any(1), x=D(6, 4), a=I(4, 6))


def ctc(x, target, times=None, lengths=None, blank=0, reduction="mean"):
    n, steps = x.shape[:2]
    times = torch.full((n,), steps) if times is None else times
    lengths = torch.full((n,), target.shape[1]) if lengths is None else lengths
    return F.ctc_loss(x.log_softmax(-1).transpose(0, 1), target, times, lengths, blank, reduction)


g.case("ctc(x, a)", ctc, x=N(3, 6, 4), a=[[1, 2], [3, 3], [2, 1]])
g.case("ctc(x, a, reduce = false)", lambda x, a: ctc(x, a, reduction="none"), x=N(2, 8, 3, scale=3), a=[[1, 1, 2], [2, 2, 2]])
g.case("ctc(x, a, times = d, lengths = e, blank = 2)", lambda x, a, d, e: ctc(x, a, d, e, 2), x=N(4, 7, 4), a=[[0, 1, 3], [3, 1, 0], [1, 1, 1], [0, 1, 0]],
       d=[7, 5, 6, 3], e=[3, 2, 1, 0])
# Nothing in no step: a loss of 0, without a gradient.
g.case("ctc(x, a, times = d, lengths = e, reduce = false)", lambda x, a, d, e: ctc(x, a, d, e, reduction="none"), x=N(3, 4, 4), a=[[1, 2], [3, 3], [2, 1]],
       d=[0, 4, 1], e=[0, 1, 1])
