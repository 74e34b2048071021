"""Edges: extents of 1 and 0, ties, the ends of ranges, tiny and huge numbers, infinities and NaNs; math.net."""
import math
import re

import torch
import torch.nn.functional as F

from make import D, Group, I, N, U

INF, NAN = math.inf, math.nan

# ---- where a function bends, and far away ------------------------------------------------------

g = Group("edges")
KINKS = [-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0]
for text, f in [("elu(x)", F.elu), ("elu(x, alpha = 0.5)", lambda x: F.elu(x, 0.5)), ("celu(x, alpha = 0.5)", lambda x: F.celu(x, 0.5)),
                ("selu(x)", F.selu), ("gelu(x)", F.gelu), ("silu(x)", F.silu), ("softplus(x)", F.softplus), ("log_sigmoid(x)", F.logsigmoid),
                ("softsign(x)", F.softsign), ("mish(x)", F.mish), ("hard_tanh(x)", F.hardtanh), ("tanh_shrink(x)", F.tanhshrink),
                ("hard_sigmoid(x)", lambda x: F.relu6(x + 3) / 6), ("clip(x, -1, 1)", lambda x: x.clamp(-1, 1)), ("clip(x, low = -0.5)", lambda x: x.clamp(min=-0.5)),
                ("relu(x)", F.relu), ("abs(x)", torch.abs)]:
    g.case(text, f, x=KINKS)
g.case("prelu(x)", F.prelu, x=[[-1.0, 0.0], [0.0, 2.0]], params={"slope": U(0, 1, 2)})
g.case("maximum(x, z)", torch.maximum, x=[INF, -INF, 1.0], z=[INF, 1.0, -INF])
for name, f in [("exp", torch.exp), ("expm1", torch.expm1), ("log1p", torch.log1p), ("tanh", torch.tanh), ("erf", torch.erf), ("sin", torch.sin),
                ("tan", torch.tan), ("softplus", F.softplus), ("silu", F.silu), ("gelu", F.gelu)]:
    g.case(f"{name}(x)", f, x=[-3e-7, -1e-9, 0.0, 2e-8, 1e-6])  # relative to these, not to 1
for name, f in [("sin", torch.sin), ("cos", torch.cos), ("tan", torch.tan)]:
    g.case(f"{name}(x)", f, x=[100.0, -1000.5, 12345.0, 99999.0, 1e6 + 0.25])
for name, f in [("floor", torch.floor), ("ceil", torch.ceil), ("round", torch.round)]:
    g.case(f"{name}(x)", f, x=[3e9, -3e9, 5e9, 1e15, -1e19, 8388607.5, -8388607.5, 4194303.5])
g.case("x // 1", torch.floor, x=[3e9, -5e9, 1e15])
g.case("exp(x)", torch.exp, x=[-85.0, 88.0, 50.0])
g.case("exp(x)", torch.exp, x=[-86.5, -86.0])
g.case("exp(x)", torch.exp, x=[-INF, INF, 0.0])
g.case("log(x)", torch.log, x=[0.0, INF, 1.0])
g.case("log(x)", torch.log, x=[1e-37, 1e-30, 1e30, 3e38])
g.case("sqrt(x)", torch.sqrt, x=[1e-30, 1e30, INF])
g.case("sqrt(x)", lambda x: 0 * x, x=[0.0])  # with the gradient 0, not infinity
g.case("rsqrt(x)", torch.rsqrt, x=[1e-20, 1e20, 4.0])
g.case("sigmoid(x)", torch.sigmoid, x=[-INF, INF, -80.0, 80.0])
g.case("tanh(x)", torch.tanh, x=[-INF, INF, -90.0, 90.0])
g.case("erf(x)", torch.erf, x=[-INF, INF, 3.9, -4.5])
g.case("erfinv(x)", torch.erfinv, x=[-0.998, -0.5, -1e-7, 0.0, 1e-3, 0.999])
g.case("pow(x, z)", torch.pow, x=[0.0, 0.0, 2.0, 3.0, 0.0], z=[2.0, 1.0, 0.0, -1.5, 0.5])
g.case("x ^ 3", lambda x: x ** 3, x=[-2.0, 0.0, 1.5])
g.case("x ^ 0", lambda x: x ** 0, x=[-2.0, 0.0, 1.5])
g.case("pow(x, -2)", lambda x: torch.pow(x, -2), x=[-2.0, -0.5, 1.5])
for name, f in [("maximum", torch.maximum), ("minimum", torch.minimum)]:
    g.case(f"is_nan({name}(x, z))", lambda x, z, f=f: torch.isnan(f(x, z)), x=[NAN, 1.0, NAN, 2.0], z=[1.0, NAN, NAN, 3.0])
g.case("is_nan(clip(x, 0, 1))", lambda x: torch.isnan(x.clamp(0, 1)), x=[NAN, 1.0, 2.0])
g.case("is_nan(relu(x))", lambda x: torch.isnan(F.relu(x)), x=[NAN, 1.0, -2.0])
g.case("is_nan(max(x, axis = 1))", lambda x: torch.isnan(x.amax(1)), x=[[1.0, NAN, 2.0], [NAN, 1.0, 1.0], [3.0, 1.0, 2.0]])
g.case("is_nan(min(x, axis = 0))", lambda x: torch.isnan(x.amin(0)), x=[[1.0, NAN, 2.0], [NAN, 1.0, 1.0], [3.0, 1.0, 2.0]])
g.case("is_nan(max_pool(x, 2, stride = 1))", lambda x: torch.isnan(F.max_pool1d(x, 2, 1)), x=[[[1.0, NAN, 2.0, 1.0, 5.0]]])
for name, f in [("argmax", torch.argmax), ("argmin", torch.argmin)]:
    g.case(f"{name}(x)", lambda x, f=f: f(x, -1), x=[[1.0, NAN, 3.0, NAN], [2.0, INF, INF, -INF], [-INF, -INF, -INF, -INF]])
# Rows of several blocks: ties, values that grow from block to block, NaN in a later one, two of them.
LONG = [[float(k % 7) for k in range(300)], [k / 4 for k in range(300)], [-k / 4 for k in range(300)],
        [NAN if k in (170, 290) else float(k % 5) for k in range(300)], [-INF] * 300, [INF if k > 200 else 1.0 for k in range(300)]]
for name, f in [("argmax", torch.argmax), ("argmin", torch.argmin)]:
    g.case(f"{name}(x, axis = 1)", lambda x, f=f: f(x, 1), x=LONG)
g.case("logsumexp(x, axis = 1)", lambda x: torch.logsumexp(x, 1), x=[[-INF, 0.0, 1.0], [-1000.0, -1000.0, -1001.0], [700.0, 800.0, 800.0]])
ENDS = [[-INF, -INF], [INF, -INF], [INF, INF], [NAN, -INF], [INF, NAN]]
g.case("is_nan(logsumexp(x, axis = 1))", lambda x: torch.isnan(torch.logsumexp(x, 1)), x=ENDS)
for end in [INF, -INF]:
    g.case(f"logsumexp(x, axis = 1) == {end}", lambda x, end=end: torch.logsumexp(x, 1) == end, x=ENDS)
g.case("softmax(x)", lambda x: torch.softmax(x, -1), x=[[-INF, 0.0, 1.0], [-INF, -INF, 5.0]])
g.case("cross_entropy(x, a)", F.cross_entropy, x=[[-INF, 0.0, 1.0], [3.0, -INF, 5.0]], a=[1, 2])
g.case("std(x)", lambda x: torch.std(x, unbiased=False), x=[2.0, 2.0, 2.0])  # PyTorch's gradient there is 0
g.case("std(x, axis = 0)", lambda x: torch.std(x, 0, unbiased=False), x=[[1.0, 2.0], [1.0, 4.0]])
g.case("norm(x, axis = 1)", lambda x: torch.linalg.vector_norm(x, 2, 1), x=[[0.0, 0.0], [3.0, 4.0]])
g.case("cosine_similarity(x, z)", lambda x, z: F.cosine_similarity(x, z, -1), x=[[1.0, 2.0], [2.0, 0.0]], z=[[-1.0, -2.0], [0.0, 3.0]])
g.case("cumsum(x)", lambda x: x.cumsum(-1), x=[1.0, INF, 2.0])
g.case("cumsum(a)", lambda a: a.cumsum(-1), a=I(99, 3, 5))
g.case("top_k(x, 3)[1]", lambda x: torch.tensor([[2, 0, 1], [1, 3, 0]]), x=[[-INF, -INF, 1.0, -INF], [1.0, 5.0, 1.0, 5.0]])
g.case("top_k(x, 2)[0]", lambda x: x.topk(2).values, x=[[3.0, 3.0, 1.0], [2.0, 2.0, 2.0]])
g.case("top_k(a, 2)[0]", lambda a: a.topk(2).values, a=I(50, 3, 6))
g.case("top_k(a, 2)[1]", lambda a: a.topk(2).indices, a=[[3, 9, 4, -7], [-5, -3, -9, -4]])
g.case("diag(a)", torch.diag, a=[3, 1, 2])
g.case("tril(a)", torch.tril, a=I(9, 3, 3))
g.case("flip(a, 0)", lambda a: a.flip(0), a=I(9, 4, 2))

# Losses where they bend.
g.case("l1(x, z)", F.l1_loss, x=[1.0, 2.0, 0.0], z=[1.0, 3.0, 0.0])
g.case("huber(x, z)", F.huber_loss, x=[1.0, 2.0, 0.0, -1.0], z=[0.0, 2.0, 3.0, 0.0])
g.case("smooth_l1(x, z, beta = 0.5)", lambda x, z: F.smooth_l1_loss(x, z, beta=0.5), x=[0.5, 2.0, 0.0, -0.5], z=[0.0, 2.0, 3.0, 0.0])
g.case("binary_cross_entropy(x, z)", F.binary_cross_entropy_with_logits, x=[0.0, 0.0, -1.0], z=[0.0, 1.0, 0.5])
g.case("binary_cross_entropy(x, z, positive = 3.0)", lambda x, z: F.binary_cross_entropy_with_logits(x, z, pos_weight=torch.tensor(3.0)), x=[0.0, 0.0, -100.0], z=[0.0, 1.0, 0.5])
g.case("margin_ranking(x, z, e)", lambda x, z, e: F.margin_ranking_loss(x, z, e), x=[1.0, 2.0, 0.0, 4.0], z=[1.0, 3.0, 0.0, 2.0], e=[1.0, -1.0, -1.0, 1.0])
g.case("shortfall(x)", lambda x: x.clamp(min=0), x=[-1.0, 0.0, 2.0])
g.case("triplet(x, z, u, margin = 0.0)", lambda x, z, u: F.triplet_margin_loss(x, z, u, 1e-300), x=[[0.0, 1.0], [2.0, 2.0]], z=[[3.0, 1.0], [1.0, 2.0]], u=[[3.0, 1.0], [5.0, 4.0]])
g.case("multi_margin(x, a)", lambda x, a: F.multi_margin_loss(x, a), x=[[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]], a=[1, 0])
g.case("kl_div(x, z)", lambda x, z: F.kl_div(x, z, reduction="batchmean"), x=N(3, 1), z=U(0.05, 1, 3, 1))
g.case("gaussian_nll(x, z, u)", lambda x, z, u: F.gaussian_nll_loss(x, z, u), x=[0.5, 1.0], z=[0.5, 1.0], u=[1e-9, 0.5])
g.case("nll(x, a, ignore = 1)", lambda x, a: F.nll_loss(x, a, ignore_index=1), x=N(3, 2), a=[1, 0, 1])
g.case("cross_entropy(x, a, smoothing = 1.0)", lambda x, a: F.cross_entropy(x, a, label_smoothing=1.0), x=N(3, 4), a=I(4, 3))
g.case("cosine_embedding(x, z, a)", F.cosine_embedding_loss, x=[[1.0, 0.0], [0.0, 1.0]], z=[[0.0, 2.0], [3.0, 0.0]], a=[1, 1])
g.case("in_top_k(x, a, 2)", lambda x, a: torch.tensor([True, True, False]), x=[[1.0, 1.0, 1.0], [3.0, 2.0, 2.0], [3.0, 2.5, 2.0]], a=[2, 2, 2])

# ---- math.net -----------------------------------------------------------------------------------

g = Group("math")
MORE = [("square", torch.square, N(3, 4), [-2.0, 0.0, 1e-3]), ("exp2", torch.exp2, N(3, 4, scale=3), [-100.0, -0.5, 0.0, 100.5]),
        ("log2", torch.log2, U(0.1, 9, 3, 4), [1e-3, 0.999, 1024.0]), ("log10", torch.log10, U(0.1, 9, 3, 4), [1e-3, 1.001, 1e6]),
        ("trunc", torch.trunc, N(3, 4, scale=3), [-2.0, -1.5, -0.5, 0.0, 0.5, 3e9]), ("sinh", torch.sinh, N(3, 4, scale=3), [-3e-7, -1e-9, 0.0, 2e-8]),
        ("sinh", torch.sinh, U(-1, 1, 5), [-60.0, 0.1, 80.0]), ("cosh", torch.cosh, N(3, 4, scale=3), [-60.0, 0.0, 1e-4, 80.0]),
        ("atan", torch.atan, N(3, 4, scale=3), [-1.0, 0.0, 1.0, 0.999, 1.001, 1e4, -1e8]), ("atan", torch.atan, N(2, 1, scale=0.1), [1e-9, -3e-7, 0.0]),
        ("atan", torch.atan, [-INF, 50.0, -0.75], [1e15, 2.0, -3.0]),
        ("asin", torch.asin, U(-0.99, 0.99, 3, 4), [0.9999, -0.999, 0.5]), ("asin", torch.asin, [1e-8, -2e-7, 0.0], [-1.0, 1.0, 0.5]),
        ("acos", torch.acos, U(-0.99, 0.99, 3, 4), [0.9999, -0.999, 0.0]), ("acos", torch.acos, [-1.0, 1.0, 0.5], [0.99999, 0.9999]),
        ("asinh", torch.asinh, N(3, 4, scale=3), [-1e-8, 2e-7, 0.0]), ("asinh", torch.asinh, [-100.0, 1e5, 3.0], [1e20, -1e30, INF]),
        ("acosh", torch.acosh, U(1.1, 9, 3, 4), [1.0001, 1.001]), ("acosh", torch.acosh, [100.0, 2.0], [1e5, 1.5]),
        ("atanh", torch.atanh, U(-0.95, 0.95, 3, 4), [-1e-8, 2e-7, 0.0]), ("atanh", torch.atanh, [-0.999, 0.0, 0.99], [0.5, -0.25])]
for name, f, first, second in MORE:
    for operand in (first, second):
        g.case(f"{name}(x)", f, x=operand)
g.case("hypot(x, z)", torch.hypot, x=N(3, 4), z=N(4))
g.case("hypot(x, z)", torch.hypot, x=[3.0, -5.0, 1e-3], z=[4.0, 0.0, 1e-3])
g.case("hypot(x, z)", lambda x, z: 0 * (x + z), x=[0.0], z=[0.0])
g.case("atan2(x, z)", torch.atan2, x=N(3, 4), z=N(4))
g.case("atan2(x, z)", torch.atan2, x=[1.0, 1.0, -1.0, -1.0, 0.0, 2.0, -2.0, 0.0], z=[1.0, -1.0, 1.0, -1.0, 3.0, 0.0, 0.0, -3.0])
g.case("atan2(x, z)", torch.atan2, x=[[1e-6], [1e6]], z=[[-1e6, 1e6]])
g.case("atan2(x, z)", lambda x, z: 0 * (x + z), x=[0.0], z=[0.0])
g.case("is_inf(x)", torch.isinf, x=[1.0, NAN, INF, -INF])
g.case("is_inf(1 / x)", lambda x: torch.isinf(1 / x), x=[[0.0, 2.0], [1e-30, -0.0]])

# ---- extents of 1 and 0 -------------------------------------------------------------------------

g = Group("extents", """# Variables have elements, tensors need not: [0, 3].
def nothing(x) { return zeros([0, 3], x.dtype) * x }
def beside(y, x) { return concat(reshape(y, [0]), x) }
""")
for f in ["tanh(e) * 2 + e", "where(e > 0, e, -e)", "transpose(e)", "reshape(e, [3, 0, 2])", "stack(e, e)", "e @ e.T", "repeat(e, 2)", "tile(e, [1, 2])", "pad(e, [0, 1])",
          "broadcast(e, [4, 0, 3])", "e + ones([1, 3])", "einsum(\"ij,kj->ik\", e, e)", "roll(e, 1)", "move_axis(e, 0, 1)", "linear(e, 2)", "conv1d(reshape(e, [0, 3, 4]), 2, 2)",
          "avg_pool(reshape(e, [0, 3, 4, 4]), 2)", "max_pool(reshape(e, [0, 3, 4, 4]), 2)", "x[i32(e)]", "one_hot(i32(e), 4) + ones([4])", "x * zeros([3, 0, 3])",
          "concat(e, e, axis = 0)", "outer(e, e)", "flatten(reshape(e, [0, 3, 2]))"]:
    text = re.sub(r"(?<![a-z_])e(?![a-z_])", "nothing(x)", f)
    g.case(f"beside({text}, x)", lambda x: x.clone(), x=N(3))
g.case("concat(nothing(x), ones([2, 3]) * x, axis = 0)", lambda x: x * torch.ones(2, 3), x=N(3))
g.case("pad(nothing(x), [(1, 2), 0], value = 2.5) * x", lambda x: 2.5 * x.expand(3, 3), x=N(3))
g.case("transpose(nothing(x)) @ nothing(x) + x", lambda x: x.expand(3, 3), x=N(3))  # sums of nothing
g.case("einsum(\"ij,ik->jk\", nothing(x), nothing(x)) + x", lambda x: x.expand(3, 3), x=N(3))
g.case("scatter_add(x, i32(reshape(nothing(z), [0])), nothing(z))", lambda x, z: x.clone(), x=N(4, 3), z=N(3))
ONES = dict(x=N(1, 1, 1))
for text, f in [("softmax(x, axis = 0)", lambda x: torch.softmax(x, 0)), ("log_softmax(x)", lambda x: torch.log_softmax(x, -1)),
                ("logsumexp(x)", lambda x: torch.logsumexp(x, (0, 1, 2))), ("var(x)", lambda x: x.var(unbiased=False)), ("prod(x, axis = [0, 1])", lambda x: x.prod(0).prod(0)),
                ("cumsum(x, axis = 1)", lambda x: x.cumsum(1)), ("sort(x, axis = 0)", lambda x: x.sort(0).values), ("argsort(x)", lambda x: x.argsort(-1)),
                ("top_k(x, 1)[0]", lambda x: x.topk(1).values), ("argmax(x, axis = 1)", lambda x: x.argmax(1)), ("flip(x, [0, 1, 2])", lambda x: x.flip(0, 1, 2)),
                ("roll(x, 5, axis = 1)", lambda x: x), ("repeat(x, 3, axis = 0)", lambda x: x.repeat_interleave(3, 0)), ("split(x, 1)[0]", lambda x: x),
                ("layer_norm(x, scale = false, shift = false)", lambda x: 0 * x), ("tril(x)", torch.tril), ("triu(x, k = 1)", lambda x: torch.triu(x, 1)),
                ("max_pool1d(x, 1)", lambda x: F.max_pool1d(x, 1)), ("avg_pool1d(x, 1, stride = 3)", lambda x: F.avg_pool1d(x, 1, 3)),
                ("avg_pool1d(x, 2, padding = 1)", lambda x: F.avg_pool1d(x, 2, padding=1)), ("adaptive_avg_pool(x, 3)", lambda x: F.adaptive_avg_pool1d(x, 3)),
                ("adaptive_max_pool(x, 1)", lambda x: F.adaptive_max_pool1d(x, 1)), ("upsample_linear(x, 3)", lambda x: F.interpolate(x, scale_factor=3, mode="linear")),
                ("resize_linear(x, 4, align_corners = true)", lambda x: F.interpolate(x, size=4, mode="linear", align_corners=True)),
                ("resize_nearest(x, 2)", lambda x: F.interpolate(x, size=2)), ("lp_pool(x, 2, 1)", lambda x: F.lp_pool1d(x, 2, 1)),
                ("local_response_norm(x, 3, alpha = 0.1)", lambda x: F.local_response_norm(x, 3, 0.1)), ("global_avg_pool(x)", lambda x: x.mean(2)),
                ("global_max_pool(x)", lambda x: x.amax(2))]:
    g.case(text, f, **ONES)
g.case("attention(x, z, u)", lambda x, z, u: u, x=N(1, 1, 1), z=N(1, 1, 1), u=N(1, 1, 1))
g.case("contrastive(x, z)", lambda x, z: 0 * (x + z).sum(), x=N(1, 3), z=N(1, 3))
g.case("instance_norm(x)", lambda x: F.instance_norm(x, use_input_stats=True), x=N(2, 1, 3))
g.case("group_norm(x, 1, scale = false, shift = false)", lambda x: F.group_norm(x, 1), x=N(2, 1, 1, 3))
g.case("bilinear(x, z, 1)", F.bilinear, x=N(1, 1), z=N(1, 1), params={"w": N(1, 1, 1), "b": N(1)})
g.case("glu(x)", F.glu, x=N(1, 2))
g.case("maxout(x, 1)", lambda x: x, x=N(2, 1))
g.case("pixel_shuffle(x, 1)", lambda x: x, x=N(1, 1, 2, 1))
g.case("pixel_unshuffle(x, 3)", lambda x: F.pixel_unshuffle(x, 3), x=N(1, 1, 3, 3))
g.case("outer(x, z)", torch.outer, x=N(1), z=N(3))
g.case("take_along_axis(x, a)", lambda x, a: x.gather(-1, a), x=N(2, 1), a=I(1, 2, 3))
# Padding as wide as the input and wider, strides beyond the kernel, windows of one element.
for n, f, t in [(1, F.conv1d, F.conv_transpose1d), (2, F.conv2d, F.conv_transpose2d), (3, F.conv3d, F.conv_transpose3d)]:
    one, two = [1] * n, [2] * n
    g.case(f"conv{n}d(x, 2, 2, padding = 3, stride = 2)", lambda x, w, b, f=f: f(x, w, b, 2, 3), x=N(1, 1, *one), params={"w": N(2, 1, *two), "b": N(2)})
    g.case(f"conv{n}d(x, 1, 1, stride = 5)", lambda x, w, b, f=f: f(x, w, b, 5), x=N(1, 2, *two), params={"w": N(1, 2, *one), "b": N(1)})
    g.case(f"conv{n}d_transpose(x, 2, 1, stride = 4)", lambda x, w, b, t=t: t(x, w, b, 4), x=N(1, 1, *two), params={"w": N(1, 2, *one), "b": N(2)})
    g.case(f"conv{n}d_transpose(x, 1, 3, padding = 1)", lambda x, w, b, t=t: t(x, w, b, padding=1), x=N(1, 1, *one), params={"w": N(1, 1, *[3] * n), "b": N(1)})
    g.case(f"max_pool{n}d(x, 1, stride = 3)", lambda x, n=n: [F.max_pool1d, F.max_pool2d, F.max_pool3d][n - 1](x, 1, 3), x=D(1, 1, *[4] * n))
g.case("conv2d(x, 3, [1, 4], stride = [3, 6], padding = [5, 0], dilation = [1, 3])",
       lambda x, w, b: F.conv2d(x, w, b, (3, 6), (5, 0), (1, 3)), x=N(1, 1, 2, 17), params={"w": N(3, 1, 1, 4), "b": N(3)})
g.case("conv1d(x, 4, 3, groups = 4, padding = 2)", lambda x, w, b: F.conv1d(x, w, b, padding=2, groups=4), x=N(2, 4, 5), params={"w": N(4, 1, 3), "b": N(4)})
g.case("conv3d(x, 2, 1, groups = 2)", lambda x, w, b: F.conv3d(x, w, b, groups=2), x=N(1, 2, 1, 2, 1), params={"w": N(2, 1, 1, 1, 1), "b": N(2)})
