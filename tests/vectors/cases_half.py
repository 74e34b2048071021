"""Types of 16 bits: large values and long axes, whose positions, counts, sums and statistics 16 bits do not hold.

The program is written in TYPE, which run.sh replaces by bf16, f16 and f64. Operands have eight significant bits, so
that both types hold them exactly, and what is expected is computed from them in double. The tolerance is
"units" of the last place of the greatest element, in f64 that of other groups."""
import math
import re

import numpy as np
import torch
import torch.nn.functional as F

import cases_layers as layers
from make import HEAD, TAIL, Group, I, N, U, make_operand

SEEN = """# The sum of y, each element times a number that depends on its place.
def seen(y) { return sum(f32(y) * reshape((f32(arange(size(y)) * 7 % 11) - 4.5) / 4, y.shape)) }
"""


def eight_bits(value):
    """The nearest numbers of eight significant bits."""
    fraction, exponent = np.frexp(value)
    return np.ldexp(np.round(fraction * 256) / 256, exponent)


def held(spec):
    def make(rng):
        value = make_operand(spec, rng)
        return eight_bits(value) if value.dtype == np.float64 else value
    return make


class TypedGroup(Group):
    def case(self, text, f, params=None, states=None, predicts=None, **operands):
        super().case(text, f, {n: held(s) for n, s in (params or {}).items()},
                     {n: held(s) for n, s in (states or {}).items()}, predicts,
                     **{n: held(s) for n, s in operands.items()})

    def declare(self, k, text, values, result):
        first = len(self.lines)
        super().declare(k, text, values, result)
        lines = [re.sub(rf"^((param|state) (?!out{k} )\w+ : )\[", r"\1TYPE[", line) for line in self.lines[first:]]
        if result.is_floating_point():  # the type of the result is the library's choice
            lines = [re.sub(rf"^state out{k} : ", f"kind{k} = dtype(y{k})\nstate out{k} : kind{k}", line) for line in lines]
        self.lines[first:] = lines

    def program(self):
        head = re.sub(r"# The sum of y.*\n.*\n", lambda _: SEEN, HEAD)
        results = [re.sub(r" = (y\d+) \+ 0 \* sum\(unused\)", r" = \1 + cast(0 * sum(unused), \1.dtype)", line) for line in self.results]
        predict = "predict {\n  " + "\n  ".join(results) + "\n}\n" if results else ""
        return head + self.definitions + "\n".join(self.lines) + "\n" + TAIL + predict


def wide(*shape):
    return N(*shape, scale=300, shift=100)


g = TypedGroup("half", units="3")

# ---- statistics: squares of 300 and more are beyond f16 ----
SCALE, SHIFT = {"gamma": U(0.5, 2, 16)}, {"beta": N(16)}
g.case("layer_norm(x)", lambda x, a, b: F.layer_norm(x, (16,), a, b), x=wide(4, 16), params=SCALE | SHIFT)
g.case("layer_norm(x, scale = false, shift = false)", lambda x: F.layer_norm(x, (600,)), x=wide(2, 600))
g.case("rms_norm(x)", lambda x, a: x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * a, x=wide(3, 16), params=SCALE)
C = {"gamma": U(0.5, 2, 4), "beta": N(4)}
g.case("group_norm(x, 2)", lambda x, a, b: F.group_norm(x, 2, a, b), x=wide(2, 4, 7), params=C)
g.case("instance_norm(x, scale = true, shift = true)", lambda x, a, b: F.instance_norm(x, weight=a, bias=b),
       x=wide(2, 4, 30), params=C)


def batch_norm(x, a, b, mean, var):
    mean, var = mean.clone(), var.clone()
    return F.batch_norm(x, mean, var, a, b, True), {"running_mean": mean, "running_var": var}


g.case("batch_norm(x)", batch_norm, x=wide(20, 4, 7), params=C, states={"running_mean": N(4, scale=300), "running_var": U(40000, 60000, 4)},
       predicts=lambda x, a, b, mean, var: F.batch_norm(x, mean, var, a, b, False))
g.case("local_response_norm(x, 3)", lambda x: F.local_response_norm(x, 3), x=wide(2, 5, 3, 3))
g.case("local_response_norm(x, 4)", lambda x: F.local_response_norm(x, 4), x=wide(1, 6, 2, 2))
g.case("var(x)", lambda x: x.var(correction=0), x=N(500, scale=200, shift=1000))
g.case("var(x, axis = 0)", lambda x: x.var(0, correction=0), x=N(40, 3, scale=150))
g.case("std(x, axis = 1)", lambda x: x.std(1, correction=0), x=wide(3, 50))
g.case("norm(x)", lambda x: x.norm(), x=wide(80))
g.case("norm(x, axis = 1, keep = true)", lambda x: x.norm(dim=1, keepdim=True), x=wide(3, 80))
g.case("normalize(x, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])",
       lambda x: (x - torch.tensor([0.485, 0.456, 0.406]).reshape(3, 1, 1)) / torch.tensor([0.229, 0.224, 0.225]).reshape(3, 1, 1),
       x=U(0, 1, 2, 3, 4, 5))
g.case("cosine_similarity(x, z)", lambda x, z: F.cosine_similarity(x, z, -1), x=wide(3, 40), z=wide(3, 40))
g.case("cosine_similarity(x, z)", lambda x, z: F.cosine_similarity(x, z, -1), x=N(3, 4, scale=0.01), z=N(3, 4, scale=0.01))
g.case("mean(repeat(x, 10000))", lambda x: x.mean(), x=N(7, scale=100, shift=200))
g.case("mean(repeat(x, 10000, axis = 1), axis = 1)", lambda x: x.mean(1), x=N(2, 7, shift=3))
g.case("sum(repeat(x, 10000))", lambda x: x.sum() * 10000, x=N(4))
g.case("cumsum(x)", lambda x: x.cumsum(-1), x=N(2, 400, shift=1))
g.case("logsumexp(x, axis = -1)", lambda x: x.logsumexp(-1), x=N(2, 3000))
g.case("softmax(x)", lambda x: x.softmax(-1), x=N(2, 3000, scale=4))


def newton_schulz(x):
    y = x / (x.norm() + 1e-7)
    for _ in range(5):
        a = y @ y.T
        y = 3.4445 * y + (-4.7750 * a + 2.0315 * (a @ a)) @ y
    return y


g.case("newton_schulz(x)", newton_schulz, x=wide(4, 6))

# ---- positions and coordinates ----
g.case("rotary(x)", layers.turned, x=N(1, 400, 4))
g.case("rotary(x, offset = 2000)", lambda x: layers.turned(x, offset=2000), x=N(2, 48, 8))
g.case("rotary(x, offset = 1000, interleaved = true)", lambda x: layers.turned(x, offset=1000, interleaved=True), x=N(2, 48, 4))


def wave_positions(time, width):
    angle = torch.arange(time)[:, None] * 10000.0 ** (-2.0 * torch.arange(width // 2) / width)
    return torch.stack([angle.sin(), angle.cos()], -1).reshape(time, width)


g.case("x * wave_positions(700, 4, type = TYPE)", lambda x: x * wave_positions(700, 4), x=N(4))
for text, corners in [("", False), (", align_corners = true", True)]:
    g.case(f"resize_linear(x, [6, 90]{text})", lambda x, c=corners: F.interpolate(x, (6, 90), mode="bilinear", align_corners=c),
           x=N(1, 1, 4, 61))
    g.case(f"resize_linear(x, 333{text})", lambda x, c=corners: F.interpolate(x, 333, mode="linear", align_corners=c), x=N(1, 2, 300))
    g.case(f"upsample_linear(x, 3{text})", lambda x, c=corners: F.interpolate(x, scale_factor=3, mode="linear", align_corners=c),
           x=N(1, 1, 150))
    g.case(f"grid_sample(x, g{text})", lambda x, g, c=corners: F.grid_sample(x, g, align_corners=c),
           x=N(1, 1, 20, 90), g=U(-1, 1, 1, 8, 8, 2))
    g.case(f"affine_grid(w, [3, 90]{text})", lambda w, c=corners: F.affine_grid(w, [1, 1, 3, 90], align_corners=c), w=N(1, 2, 3))
g.case("resize_nearest(x, 777)", lambda x: F.interpolate(x, 777), x=N(1, 1, 300))
g.case("adaptive_avg_pool(x, 7)", lambda x: F.adaptive_avg_pool1d(x, 7), x=N(1, 2, 300, shift=20))
g.case("adaptive_avg_pool(x, [5, 3])", lambda x: F.adaptive_avg_pool2d(x, (5, 3)), x=N(1, 2, 33, 20, shift=3))
g.case("avg_pool(x, 3)", lambda x: F.avg_pool1d(x, 3), x=N(1, 2, 30, scale=5000, shift=30000))
g.case("avg_pool(x, 3, stride = 2, padding = 1, count_include_pad = false)",
       lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), x=N(1, 2, 9, 9, scale=5000, shift=30000))
g.case("avg_pool(x, 3, stride = 2, padding = 1, ceil_mode = true)",
       lambda x: F.avg_pool2d(x, 3, 2, 1, True), x=N(1, 2, 8, 8, scale=5000, shift=30000))
g.case("global_avg_pool(x)", lambda x: x.mean((2, 3)), x=N(2, 3, 30, 30, shift=50))
g.case("lp_pool(x, 2, 3, stride = 2)", lambda x: F.lp_pool1d(x, 2, 3, 2), x=wide(1, 2, 21))
g.case("lp_pool(x, 3, 3)", lambda x: F.lp_pool1d(x.abs(), 3, 3), x=wide(1, 2, 21))
g.case("window_means(x, 1, 3)", lambda x: F.adaptive_avg_pool1d(x, 3), x=N(2, 100, shift=5))

# ---- attention ----
QKV = dict(q=N(2, 6, 8, scale=20), k=N(2, 6, 8, scale=20), v=N(2, 6, 8))
g.case("attention(q, k, v, heads = 2)", lambda q, k, v: layers.attend(q, k, v, 2), **QKV)
g.case("attention(q, k, v, heads = 2, causal = true)", lambda q, k, v: layers.attend(q, k, v, 2, True), **QKV)
SMALL = dict(q=N(2, 6, 8), k=N(2, 6, 8), v=N(2, 6, 8))
MASK = np.arange(36).reshape(6, 6) % 5 - 1
g.case("attention(q, k, v, heads = 2, mask = e > 0)", lambda q, k, v, e: layers.attend(q, k, v, 2, mask=e > 0), **SMALL,
       e=MASK.astype(np.int32))


def attend_to_some(q, k, v, seen, bias):
    """What sees nothing gets zeros."""
    scores = (q @ k.transpose(1, 2) / math.sqrt(q.shape[2]) + bias).masked_fill(~seen, -math.inf)
    none = ~seen.any(-1, keepdim=True)
    return torch.softmax(scores.masked_fill(none, 0.0), -1).masked_fill(none, 0.0) @ v


NOTHING = MASK.copy()
NOTHING[2] = -1
NOTHING[3, 0] = 1
g.case("attention(q, k, v, mask = e > 0)", lambda q, k, v, e: attend_to_some(q, k, v, e > 0, 0), **SMALL, e=NOTHING.astype(np.int32))
g.case("attention(q, k, v, mask = where(e > 0, 0.5, -inf))", lambda q, k, v, e: attend_to_some(q, k, v, e > 0, 0.5), **SMALL,
       e=NOTHING.astype(np.int32))
g.case("attention(q, k, v, causal = true, mask = e > 0)",
       lambda q, k, v, e: attend_to_some(q, k, v, (e > 0) & torch.ones(6, 6).tril().bool(), 0), **SMALL, e=NOTHING.astype(np.int32))
g.case("masked_softmax(where(e > 0, x, -inf))",
       lambda x, e: torch.softmax(x.masked_fill(e <= 0, -math.inf), -1), x=N(6, 6), e=MASK.astype(np.int32))
g.case("multi_head_attention(x, 2, causal = true)", lambda x, *p: layers.multi_head(2, x, x, p, attn_mask=layers.FUTURE),
       x=N(2, 4, 6), params=layers.heads_params(6))

# ---- layers: parameters of the input's type ----
g.case("linear(x, 3)", lambda x, w, b: x @ w + b, x=N(3, 700), params={"w": N(700, 3), "b": N(3)})
g.case("bilinear(x, z, 3)", lambda x, z, w, b: F.bilinear(x, z, w, b), x=N(4, 2), z=N(4, 5), params={"w": N(3, 2, 5), "b": N(3)})
g.case("conv2d(x, 2, 3)", F.conv2d, x=N(1, 3, 5, 5), params={"w": N(2, 3, 3, 3), "b": N(2)})
g.case("conv1d_transpose(x, 2, 3, stride = 2)", lambda x, w, b: F.conv_transpose1d(x, w, b, 2), x=N(1, 3, 5), params={"w": N(3, 2, 3), "b": N(2)})
g.case("prelu(x)", F.prelu, x=N(2, 3, 4), params={"slope": U(0, 1, 3)})
g.case("f32(embedding(a, 7, 3))", lambda a, w: F.embedding(a, w), a=I(7, 2, 5), params={"w": N(7, 3)})

# ---- making and taking apart ----
g.case("x @ eye(5, TYPE)", lambda x: x @ torch.eye(5), x=N(3, 5))
g.case("diag(x)", lambda x: torch.diag(x), x=N(4, 4))
g.case("diag(x[0])", lambda x: torch.diag(x[0]), x=N(4, 4))
