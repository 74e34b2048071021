"""Values far from 1: logits whose exponentials overflow, angles of many turns, rests of large quotients, squares beyond
the greatest float, infinities and NaNs. Each case has values of one size, since it is judged by its greatest."""
import math

import numpy as np
import torch
import torch.nn.functional as F

from make import I, N, Group

INF, NAN = math.inf, math.nan
g = Group("extremes")

# ---- the greatest is subtracted before anything is added -----------------------------------------

FAR = [[10000.0, 10001.0, 10002.0, 10003.0], [-1e6, -1e6 + 1, -1e6 + 0.5, -1e6 - 2]]
g.case("log_softmax(x)", lambda x: torch.log_softmax(x, -1), x=FAR)
g.case("log_softmax(x, axis = 0)", lambda x: torch.log_softmax(x, 0), x=[[1e6], [1e6 + 1]])
g.case("softmax(x)", lambda x: torch.softmax(x, -1), x=FAR)
g.case("cross_entropy(x, a)", F.cross_entropy, x=[[1e6, 1e6 + 1], [-1e6 - 1, -1e6]], a=[0, 1])
for keys, given in [("reduce = false", dict(reduction="none")), ("smoothing = 0.1", dict(label_smoothing=0.1)), ("ignore = 2", dict(ignore_index=2))]:
    g.case(f"cross_entropy(x, a, {keys})", lambda x, a, given=given: F.cross_entropy(x, a, **given), x=FAR, a=[3, 1])
g.case("cross_entropy(x, a, weights = [1.0, 2.0, 0.5, 1.0])", lambda x, a: F.cross_entropy(x, a, weight=torch.tensor([1.0, 2.0, 0.5, 1.0])), x=FAR, a=[2, 0])
g.case("nll(log_softmax(x), a)", lambda x, a: F.nll_loss(torch.log_softmax(x, -1), a), x=FAR, a=[0, 3])
g.case("kl_div(log_softmax(x), softmax(z))", lambda x, z: F.kl_div(torch.log_softmax(x, -1), torch.softmax(z, -1), reduction="batchmean"), x=FAR, z=FAR[::-1])
g.case("binary_cross_entropy(x, z)", F.binary_cross_entropy_with_logits, x=[1e4, -1e4, 1e4], z=[0.9999, 1e-4, 1.0])
g.case("binary_cross_entropy(x, z, reduce = false)", lambda x, z: F.binary_cross_entropy_with_logits(x, z, reduction="none"), x=[1e4, -1e4], z=[0.9999, 1e-4])
g.case("binary_cross_entropy(x, z, positive = 3.0)", lambda x, z: F.binary_cross_entropy_with_logits(x, z, pos_weight=torch.tensor(3.0)), x=[-1e4, 1e4], z=[1e-4, 0.9999])
g.case("logaddexp(x, z)", torch.logaddexp, x=[1e6, -1e6, 1e6], z=[1e6 + 1, -1e6, 0.0])
g.case("logaddexp(x, z) == x", lambda x, z: torch.logaddexp(x, z) == x, x=[INF, -INF, INF, NAN], z=[INF, -INF, 1.0, 1.0])
g.case("contrastive(x, z, temperature = 1e-4)", lambda x, z: F.cross_entropy(F.normalize(x) @ F.normalize(z).T / 1e-4, torch.arange(2)), x=[[1.0, 2.0], [2.0, 1.0]], z=[[2.0, 1.0], [1.0, 2.5]])

# ---- angles ---------------------------------------------------------------------------------------

TURNS = [float(np.float32(v)) for v in (1e7, -3e8, 1e9, 1.5e10, 1e16, -1e18, 1e21, 3e25, 1e30, -3.4e38, 2.0 ** 20, 2.0 ** 27 + 16, 2.0 ** 100)]
for name, f in [("sin", torch.sin), ("cos", torch.cos)]:
    g.case(f"{name}(x)", f, x=TURNS)
    g.case(f"{name}(x)", f, x=[1.0, -2.0] * 80 + TURNS)  # a block of near ones, a block with far ones
    g.case(f"sum({name}(x))", lambda x, f=f: f(x).sum(), x=[TURNS, TURNS[::-1]])
    g.case(f"is_nan({name}(x))", lambda x, f=f: torch.isnan(f(x)), x=[INF, -INF, NAN, 1.0])
g.case("tan(x)", torch.tan, x=TURNS)
g.case("sin(x @ z)", lambda x, z: torch.sin(x @ z), x=[[float(np.float32(1e16))], [2.0]], z=[[1.0, 2.0]])
g.case("sin(exp(x))", lambda x: torch.sin(torch.exp(x)), x=[0.0, 1.0, 2.0])

# ---- rests ----------------------------------------------------------------------------------------

def mod(x, z):
    return torch.remainder(x, z)


g.case("x % z", mod, x=[5.0, -5.0, 7.5, -7.5, 0.0], z=[3.0, 3.0, -2.0, -2.0, 5.0])
g.case("x % z", mod, x=[1e10, 1e30, -1e30, 1e20], z=[0.3, 0.3333, 0.3333, -0.7])
g.case("x % inf", lambda x: x * 1.0, x=[5.0, 0.0, 1e30])
g.case("-x % inf == inf", lambda x: x > 0, x=[5.0, 1e-30, 0.0])
g.case("is_nan(x % z)", lambda x, z: torch.isnan(torch.remainder(x, z)), x=[INF, 1.0, NAN, 0.0, INF], z=[1.0, 0.0, 1.0, 0.0, INF])
g.case("x // z", lambda x, z: torch.floor_divide(x.detach(), z.detach()) + 0 * x, x=[1.0, -1.0, 5.0, -1e-30, 1.0], z=[float(np.float32(0.1)), float(np.float32(0.1)), -2.0, 3e38, 1.0])
g.case("x // inf", lambda x: torch.where(x < 0, -1.0, 0.0), x=[5.0, -5.0])
g.case("a % 3 + 10 * (a // 3)", lambda a: torch.remainder(a, 3) + 10 * torch.div(a, 3, rounding_mode="floor"), a=[-2147483648, 2147483647, -1, 7, 0])
g.case("a // -1", lambda a: torch.tensor([-2147483648, -7, 1]), a=[-2147483648, 7, -1])
g.case("(a % 0) + (a // 0)", lambda a: 0 * a, a=[-2147483648, 7, 0])
g.case("1e10 % 0.3 * x", lambda x: 1e10 % 0.3 * x, x=[1.0, 2.0])  # compile-time numbers
g.case("(-5.0 % 3.0 + 1.0 // 0.1) * x", lambda x: 10 * x, x=[1.0, 2.0])

# ---- beyond the root of the greatest float, below that of the least -------------------------------

for size in (1e30, 1e-30):
    g.case("hypot(x, z)", torch.hypot, x=[3 * size, -size], z=[4 * size, size])
    g.case("hypot(x, 1)", lambda x: torch.hypot(x, torch.ones(2)), x=[size, 3 * size])
    g.case("atan2(x, z)", torch.atan2, x=[size, -size, 3 * size], z=[size, 2 * size, -size])
g.case("atan2(x, z)", lambda x, z: torch.atan2(x.detach(), z.detach()), x=[INF, -INF, INF, 1.0, -1.0], z=[INF, INF, -INF, INF, -INF])
g.case("asinh(x)", torch.asinh, x=[1e20, -3e38, 1e9, 2e8])
g.case("acosh(x)", torch.acosh, x=[1e20, 3e38, 1e9, 2e8])
for size in (1e20, 1e30, 1e10):
    for name, f in [("asinh", torch.asinh), ("acosh", torch.acosh)]:
        g.case(f"{name}(x)", f, x=[size, 2 * size])  # gradients of one size
g.case("sinh(x)", torch.sinh, x=[87.5, -88.0, 85.0])
g.case("cosh(x)", torch.cosh, x=[87.5, -88.0, 85.0])
g.case("sinh(x) / 1e30", lambda x: torch.sinh(x) / 1e30, x=[79.9, 80.0, 80.1, -81.0])
g.case("cosh(x)", torch.cosh, x=[1e-4, -1e-6])  # gradient of one size
g.case("rsqrt(x)", torch.rsqrt, x=[1e-20, 2e-20])
g.case("x ^ -2", lambda x: x ** -2, x=[1e-12, -2e-12])
g.case("pow(x, -2) * 1e30", lambda x: x ** -2 * 1e30, x=[1e19, 3e18])
g.case("hard_swish(x)", lambda x: x, x=[1e38, 3e38])
g.case("hard_swish(x)", lambda x: x * F.relu6(x + 3) / 6, x=[-3.5, -1.0, 0.5, 4.0])
g.case("gelu(x, approximate = true)", lambda x: F.gelu(x, approximate="tanh"), x=[1e4, -1e4, 3e3])
g.case("gelu(x, approximate = true)", lambda x: x * (x > 0), x=[1e20, -1e20, 1e30])
for name, f in [("softplus", F.softplus), ("log_sigmoid", F.logsigmoid)]:
    g.case(f"{name}(x)", f, x=[1e30, -1e30, 50.0])
    g.case(f"{name}(x)", f, x=[-40.0 if name == "softplus" else 40.0])

# ---- NaN stays ------------------------------------------------------------------------------------

HOLES = [1.0, NAN, 3.0]
ONE = ["norm(x)", "sum(x)", "mean(x)", "prod(x)", "max(x)", "min(x)", "var(x)", "std(x)", "logsumexp(x)", "distance(x, 2 * x)", "cosine_similarity(x, 2 * x)",
       "l1(x, 2 * x)", "mse(x, 2 * x)", "huber(x, 2 * x)", "smooth_l1(x, 2 * x)", "hinge(x, 2 * x)", "sum(softmax(x))", "sum(log_softmax(x))", "gaussian_nll(x, x, abs(x))",
       "kl_div(x, x)", "binary_cross_entropy(x, x)"]
for text in ONE:
    g.case(f"is_nan({text})", lambda x: torch.tensor(True), x=HOLES)
EACH = ["relu(x)", "relu6(x)", "leaky_relu(x)", "elu(x)", "selu(x)", "celu(x)", "gelu(x)", "gelu(x, approximate = true)", "silu(x)", "hard_swish(x)", "hard_sigmoid(x)",
        "hard_tanh(x)", "softplus(x)", "log_sigmoid(x)", "softsign(x)", "mish(x)", "tanh_shrink(x)", "shortfall(x)", "trunc(x)", "sign(x)", "abs(x)", "clip(x, 0, 2)", "clip(x, low = 0)",
        "maximum(x, 0)", "minimum(x, 0)", "x % 2", "2 % x", "x // 2", "sqrt(x)", "rsqrt(x)", "x ^ 2", "x ^ 0.5", "sinh(x)", "cosh(x)", "asinh(x)", "acosh(x)", "atanh(0.1 * x)",
        "atan(x)", "asin(0.1 * x)", "acos(0.1 * x)", "atan2(x, 0 * x)", "atan2(0 * x, x)", "hypot(x, 1 + 0 * x)", "hypot(1 + 0 * x, x)", "erf(x)", "erfinv(0.1 * x)", "logaddexp(x, 1 + 0 * x)",
        "exp2(x)", "log2(x)", "log10(x)", "round(x)", "floor(x)", "ceil(x)", "sigmoid(x)", "tanh(x)", "tan(x)", "expm1(x)", "log1p(x)", "glu(stack(x, x, axis = 1))[:, 0]"]
for text in EACH:
    g.case(f"is_nan({text})", lambda x: torch.isnan(x), x=HOLES)
g.case("is_nan(acosh(x))", lambda x: torch.isnan(torch.acosh(x)), x=[-1e9, -1.0, 0.5, 1.0, INF, -INF])
g.case("is_nan(atanh(x))", lambda x: torch.isnan(torch.atanh(x)), x=[-1e9, 1.5, 1.0, -1.0, INF])
g.case("is_nan(erfinv(x))", lambda x: torch.isnan(torch.erfinv(x)), x=[1.0, -1.0, 1.5, -2.0, 0.5])
g.case("erfinv(x) == x * inf", lambda x: x.abs() == 1, x=[1.0, -1.0, 0.5])
g.case("in_top_k(x, a, 2)", lambda x, a: torch.tensor([False, True, False]), x=[[1.0, NAN, 3.0], [1.0, NAN, 3.0], [NAN, NAN, 3.0]], a=[1, 2, 2])
g.case("sort(x)[:3]", lambda x: x.sort().values[:3], x=[3.0, NAN, -1.0, INF])
g.case("argsort(x)", lambda x: x.argsort(), x=[3.0, NAN, -1.0, INF])
g.case("top_k(x, 2)[1]", lambda x: x.topk(2).indices, x=[[3.0, NAN, -1.0, INF]])
g.case("any(x > 2)", lambda x: (x > 2).any(), x=[1.0, NAN, 3.0])
g.case("all(x > 0)", lambda x: (x > 0).all(), x=[1.0, NAN, 3.0])
g.case("is_nan(avg_pool(x, 2, stride = 1))", lambda x: torch.isnan(F.avg_pool1d(x, 2, 1)), x=[[[1.0, NAN, 2.0, 1.0, 5.0]]])
