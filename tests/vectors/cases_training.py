"""Optimizers, schedules, clipping and groups, initializers."""
import math

import numpy as np
import torch

from make import Group, N, Traces, Trajectory

O = torch.optim


def of(maker):
    """A PyTorch optimizer's step."""
    def make(w):
        optimizer = maker([w])
        return lambda t: optimizer.step()
    return make


def by_hand(formula):
    """formula(w, g, t, memory) gives the new w; memory is a dictionary of zeros."""
    def make(w):
        memory = {}

        def step(t):
            with torch.no_grad():
                w.copy_(formula(w, w.grad, t, memory))
        return step
    return make


def lion(lr, b1, b2, decay):
    def f(w, g, t, s):
        m = s.get("m", torch.zeros_like(w))
        s["m"] = b2 * m + (1 - b2) * g
        return w - lr * (torch.sign(b1 * m + (1 - b1) * g) + decay * w)
    return by_hand(f)


def graves(lr, decay, momentum, eps):
    """Graves 2013, equations 38 to 45."""
    def f(w, g, t, s):
        zero = torch.zeros_like(w)
        s["n"] = decay * s.get("n", zero) + (1 - decay) * g ** 2
        s["g"] = decay * s.get("g", zero) + (1 - decay) * g
        s["d"] = momentum * s.get("d", zero) - lr * g / torch.sqrt(s["n"] - s["g"] ** 2 + eps)
        return w + s["d"]
    return by_hand(f)


def chainer_adam(lr, b1, b2, eps):
    def f(w, g, t, s):
        zero = torch.zeros_like(w)
        s["m"] = b1 * s.get("m", zero) + (1 - b1) * g
        s["v"] = b2 * s.get("v", zero) + (1 - b2) * g ** 2
        return w - lr * math.sqrt(1 - b2 ** t) / (1 - b1 ** t) * s["m"] / (torch.sqrt(s["v"]) + eps)
    return by_hand(f)


def lamb(lr, b1, b2, eps, decay):
    """You et al. 2020, algorithm 2."""
    def f(w, g, t, s):
        zero = torch.zeros_like(w)
        s["m"] = b1 * s.get("m", zero) + (1 - b1) * g
        s["v"] = b2 * s.get("v", zero) + (1 - b2) * g ** 2
        r = s["m"] / (1 - b1 ** t) / (torch.sqrt(s["v"] / (1 - b2 ** t)) + eps) + decay * w
        return w - lr * w.norm() / r.norm() * r
    return by_hand(f)


def adafactor(lr, decay, clip):
    """Shazeer & Stern 2018, algorithm 4, with sums as there."""
    def f(w, g, t, s):
        beta = 1 - t ** -decay
        square = g ** 2 + 1e-30
        s["r"] = beta * s.get("r", 0) + (1 - beta) * square.sum(1)
        s["c"] = beta * s.get("c", 0) + (1 - beta) * square.sum(0)
        u = g / torch.sqrt(torch.outer(s["r"], s["c"]) / s["r"].sum())
        return w - lr * u / max(1.0, (u ** 2).mean().sqrt().item() / clip)
    return by_hand(f)


def muon(lr, momentum, nesterov=True, decay=0.0):
    """Jordan et al. 2024: Newton-Schulz on [out, in]."""
    def f(w, g, t, s):
        s["m"] = momentum * s.get("m", torch.zeros_like(g)) + g
        x = (g + momentum * s["m"] if nesterov else s["m"]).T
        rows, columns = x.shape
        x = x.T if rows > columns else x
        x = x / (x.norm() + 1e-7)
        for _ in range(5):
            a = x @ x.T
            x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
        x = x.T if rows > columns else x
        return w - lr * (x.T * max(1, rows / columns) ** 0.5 + decay * w)
    return by_hand(f)


# Float32 rounds a hundred steps away from each other where a small gradient is divided by its own size.
g = Trajectory("optimizers", 100, tolerance_f64="1e-9", tolerance_f32="2e-3")
for text, maker in [
        ("sgd(lr = 0.1)", lambda p: O.SGD(p, 0.1)), ("sgd(lr = 0.1, momentum = 0.9)", lambda p: O.SGD(p, 0.1, momentum=0.9)),
        ("sgd(lr = 0.1, momentum = 0.9, nesterov = true, weight_decay = 0.01)",
         lambda p: O.SGD(p, 0.1, momentum=0.9, nesterov=True, weight_decay=0.01)),
        ("momentum(lr = 0.02)", lambda p: O.SGD(p, 0.02, momentum=0.9)),
        ("momentum(lr = 0.02, momentum = 0.8, nesterov = true, weight_decay = 0.1)",
         lambda p: O.SGD(p, 0.02, momentum=0.8, nesterov=True, weight_decay=0.1)),
        ("rmsprop", lambda p: O.RMSprop(p)),
        ("rmsprop(lr = 1e-3, decay = 0.9, momentum = 0.9, weight_decay = 0.1)",
         lambda p: O.RMSprop(p, 1e-3, alpha=0.9, momentum=0.9, weight_decay=0.1)),
        ("rmsprop(centered = true)", lambda p: O.RMSprop(p, centered=True)),
        ("rmsprop(lr = 2e-3, centered = true, momentum = 0.5)", lambda p: O.RMSprop(p, 2e-3, centered=True, momentum=0.5)),
        ("adagrad", lambda p: O.Adagrad(p)), ("adagrad(lr = 0.1, weight_decay = 0.1)", lambda p: O.Adagrad(p, 0.1, weight_decay=0.1)),
        ("adadelta", lambda p: O.Adadelta(p)),
        ("adadelta(lr = 0.5, decay = 0.95, eps = 1e-4, weight_decay = 0.1)", lambda p: O.Adadelta(p, 0.5, 0.95, 1e-4, 0.1)),
        ("adam", lambda p: O.Adam(p)),
        ("adam(lr = 0.01, beta1 = 0.8, beta2 = 0.99, eps = 1e-6, weight_decay = 0.1)",
         lambda p: O.Adam(p, 0.01, (0.8, 0.99), 1e-6, weight_decay=0.1)),
        ("adam(lr = 0.01, amsgrad = true)", lambda p: O.Adam(p, 0.01, amsgrad=True)),
        ("adamw", lambda p: O.AdamW(p)), ("adamw(lr = 0.01, weight_decay = 0.3)", lambda p: O.AdamW(p, 0.01, weight_decay=0.3)),
        ("adamax", lambda p: O.Adamax(p)), ("adamax(lr = 0.01, beta2 = 0.9, weight_decay = 0.1)", lambda p: O.Adamax(p, 0.01, (0.9, 0.9), weight_decay=0.1)),
        # foreach: in PyTorch 1.13 the other way multiplies the product of momenta twice
        ("nadam", lambda p: O.NAdam(p, foreach=True)),
        ("nadam(lr = 0.01, momentum_decay = 0.01, weight_decay = 0.1)", lambda p: O.NAdam(p, 0.01, momentum_decay=0.01, weight_decay=0.1, foreach=True)),
        ("radam", lambda p: O.RAdam(p)), ("radam(lr = 0.01, beta2 = 0.95, weight_decay = 0.1)", lambda p: O.RAdam(p, 0.01, (0.9, 0.95), weight_decay=0.1))]:
    g.case(f"optimizer = {text}", of(maker))
for text, maker in [
        ("lion", lion(1e-4, 0.9, 0.99, 0)), ("lion(lr = 0.01, beta1 = 0.8, beta2 = 0.95, weight_decay = 0.1)", lion(0.01, 0.8, 0.95, 0.1)),
        ("rmsprop_graves(lr = 0.01)", graves(0.01, 0.95, 0.9, 1e-4)), ("adam(lr = 0.01, eps = 1e-2, raw_eps = true)", chainer_adam(0.01, 0.9, 0.999, 1e-2)),
        ("lamb(lr = 0.01)", lamb(0.01, 0.9, 0.999, 1e-6, 0)), ("lamb(lr = 0.02, beta2 = 0.99, weight_decay = 0.1)", lamb(0.02, 0.9, 0.99, 1e-6, 0.1)),
        ("adafactor", adafactor(1e-2, 0.8, 1.0)), ("adafactor(lr = 0.05, decay = 0.5, clip = 0.5)", adafactor(0.05, 0.5, 0.5)),
        ("muon", muon(0.02, 0.95)), ("muon(lr = 0.01, momentum = 0.9, nesterov = false, weight_decay = 0.1)", muon(0.01, 0.9, False, 0.1))]:
    g.case(f"optimizer = {text}", maker)

# ---- groups, clipping ---------------------------------------------------------------------------


def clipped(clip, maker):
    def make(w):
        optimizer = maker([w])

        def step(t):
            clip(w)
            optimizer.step()
        return step
    return make


def scheduled(rate, maker):
    def make(w):
        optimizer = maker([w])

        def step(t):
            optimizer.param_groups[0]["lr"] = rate(t)
            optimizer.step()
        return step
    return make


g = Trajectory("groups", 50, tolerance_f64="1e-9", tolerance_f32="1e-4")
norm, value = torch.nn.utils.clip_grad_norm_, torch.nn.utils.clip_grad_value_
g.case("optimizer = sgd(lr = 0.5), clip = 0.1", clipped(lambda w: norm([w], 0.1), lambda p: O.SGD(p, 0.5)))
g.case("optimizer = sgd(lr = 0.5), clip = clip_norm(0.2)", clipped(lambda w: norm([w], 0.2), lambda p: O.SGD(p, 0.5)))
g.case("optimizer = sgd(lr = 0.5), clip = clip_value(0.05)", clipped(lambda w: value([w], 0.05), lambda p: O.SGD(p, 0.5)))
g.case("lr_scale = 20", of(lambda p: O.SGD(p, 0.2)))
g.case("frozen = true", lambda w: lambda t: None)
g.case("optimizer = adamw(lr = 0.01, weight_decay = 0.5), weight_decay = 0", of(lambda p: O.AdamW(p, 0.01, weight_decay=0)))
g.case("optimizer = sgd(lr = cosine(0.3, warmup = 10)), lr_scale = 0.5",
       scheduled(lambda t: 0.15 * min(1, t / 10) * 0.5 * (1 + math.cos(math.pi * min(max((t - 10) / 40, 0), 1))), lambda p: O.SGD(p, 0.3)))



def averaged(update=None, start=0, every=1):
    """torch.optim.swa_utils.AveragedModel over a history."""
    def f(history):
        holder = torch.nn.Module()
        holder.w = torch.nn.Parameter(history[0].clone())
        model = torch.optim.swa_utils.AveragedModel(holder, avg_fn=update)
        for t, w in enumerate(history, 1):
            if t > start and (t - start) % every == 0:
                holder.w.data = w
                model.update_parameters(holder)
        return model.module.w.detach()
    return f


SGD = of(lambda p: O.SGD(p, 0.1))
g.case("optimizer = sgd(lr = 0.1), average = ema(0.9)", SGD, averaged(lambda a, w, n: 0.9 * a + 0.1 * w))
g.case("optimizer = sgd(lr = 0.1), average = swa", SGD, averaged())
g.case("optimizer = sgd(lr = 0.1), average = swa(start = 20, every = 7)", SGD, averaged(start=20, every=7))

# ---- schedules ----------------------------------------------------------------------------------

STEPS = 40


def theirs(maker, lr=0.1):
    """The rates of a PyTorch scheduler."""
    optimizer = O.SGD([torch.zeros(1, requires_grad=True)], lr)
    scheduler = maker(optimizer)
    rates = []
    for _ in range(STEPS):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return lambda t: rates[t - 1]


def fraction(t, warmup, steps):
    return min(max((t - warmup) / max(steps - warmup, 1), 0.0), 1.0)


L = O.lr_scheduler
g = Traces("schedules", STEPS, tolerance_f64="1e-9")
g.case("constant_rate(0.1)", lambda t: 0.1)
g.case("constant_rate(0.1, warmup = 4)", lambda t: 0.1 * min(1, t / 4))
g.case("warmed(0.1, 8, 6.0)", lambda t: 0.1 * 6 / 8)
g.case("cosine(0.1)", lambda t: 0.05 * (1 + math.cos(math.pi * t / STEPS)))
g.case("cosine(0.1, floor = 0.02, warmup = 3, steps = 10)", lambda t: min(1, t / 3) * (0.02 + 0.04 * (1 + math.cos(math.pi * fraction(t, 3, 10)))))
g.case("linear_decay(0.1, floor = 0.01, warmup = 2)", lambda t: min(1, t / 2) * (0.1 - 0.09 * fraction(t, 2, STEPS)))
g.case("step(0.1, every = 5, factor = 0.5)", theirs(lambda o: L.StepLR(o, 5, 0.5)))
g.case("multi_step(0.1, [3, 10, 11], factor = 0.5)", theirs(lambda o: L.MultiStepLR(o, [3, 10, 11], 0.5)))
g.case("multi_step(0.1, [1 epochs])", lambda t: 0.1)
g.case("exponential(0.1, decay = 0.9, every = 1)", theirs(lambda o: L.ExponentialLR(o, 0.9)))
g.case("exponential(0.1, decay = 0.9, every = 2, warmup = 5)", lambda t: min(1, t / 5) * 0.1 * 0.9 ** ((t - 1) / 2))
g.case("inverse(0.1, gamma = 0.1, power = 0.75)", lambda t: 0.1 * (1 + 0.1 * (t - 1)) ** -0.75)
g.case("polynomial(0.1, power = 2.0, steps = 30)", theirs(lambda o: L.PolynomialLR(o, 30, 2.0)) if hasattr(L, "PolynomialLR")
       else lambda t: 0.1 * (1 - min((t - 1) / 30, 1)) ** 2)
g.case("polynomial(0.1, floor = 0.02, warmup = 5)", lambda t: min(1, t / 5) * (0.02 + 0.08 * (1 - min(max((t - 6) / 35, 0), 1))))
for period, factor in [(7, 1), (5, 2), (3, 3)]:
    g.case(f"cosine_restarts(0.1, {period}, factor = {factor}, floor = 0.01)", theirs(lambda o, p=period, f=factor: L.CosineAnnealingWarmRestarts(o, p, f, 0.01)))
g.case("one_cycle(0.5)", theirs(lambda o: L.OneCycleLR(o, 0.5, STEPS, cycle_momentum=False)))
g.case("one_cycle(0.5, rise = 0.25, start = 10, end = 100)",
       theirs(lambda o: L.OneCycleLR(o, 0.5, STEPS, pct_start=0.25, div_factor=10, final_div_factor=100, cycle_momentum=False)))
g.case("inverse_sqrt(0.1, warmup = 10)", lambda t: 0.1 * min(t / 10, math.sqrt(10 / t)))
g.case("2 * cosine(0.1) + linear_decay(1.0)", lambda t: 0.1 * (1 + math.cos(math.pi * t / STEPS)) + 1 - t / STEPS)

# ---- initializers: what any draw must satisfy ---------------------------------------------------

DRAWS = """# 200 x 300 draws: a mean and a variance are known to a hundredth.
def drawn(w, mean_is, variance_is, most) {
  spread = mean((w - mean_is) ^ 2)
  return abs(mean(w) - mean_is) < 0.01 * sqrt(variance_is) && abs(spread / variance_is - 1) < 0.02
    && max(abs(w)) <= most
}
def matrix(init) { state w : [200, 300] = init ; return w }
def kernel(init) { state w : [20, 30, 5, 20] = init ; return w }
"""
g = Group("initializers", DRAWS)
yes = lambda x: torch.tensor(True)
H, W = 200, 300
for text, mean, variance, most in [
        ("normal", 0, 1, 6), ("normal(2, 0.5)", 2, 0.25, 5), ("uniform", 0.5, 1 / 12, 1), ("uniform(-2, 4)", 1, 3, 4),
        ("he_normal", 0, 2 / H, 1), ("he_normal(gain = 1)", 0, 1 / H, 1), ("he_uniform", 0, 2 / H, math.sqrt(6 / H)),
        ("glorot_normal", 0, 2 / (H + W), 1), ("glorot_uniform", 0, 2 / (H + W), math.sqrt(6 / (H + W))),
        ("lecun_normal", 0, 1 / H, 1), ("lecun_uniform", 0, 1 / H, math.sqrt(3 / H)),
        ("truncated_normal", 0, 0.7737413, 2), ("truncated_normal(1, 0.5, low = -1.0, high = 1.0)", 1, 0.2911251 / 4, 1.5)]:
    g.case(f"drawn(matrix({text}), {mean}, {variance!r}, {most * 1.0001!r}) && x > 0", yes, x=1.0)
g.case(f"drawn(kernel(he_normal), 0, {2 / 3000!r}, 1) && x > 0", yes, x=1.0)
g.case(f"drawn(kernel(glorot_uniform), 0, {2 / 5000!r}, 1) && x > 0", yes, x=1.0)
g.case("0 * x + constant_matrix(constant(0.75))", lambda x: torch.full((2, 3), 0.75), x=1.0)
g.case("0 * x + constant_matrix(identity(2.0))", lambda x: 2 * torch.eye(2, 3), x=1.0)
for shape, scale in [("[4, 6]", 1), ("[6, 4]", 1), ("[5, 5]", 1), ("[4, 3, 2]", 4), ("[1, 3]", 1)]:
    n, rest = {"[4, 6]": (4, 6), "[6, 4]": (6, 4), "[5, 5]": (5, 5), "[4, 3, 2]": (4, 6), "[1, 3]": (1, 3)}[shape]
    m = min(n, rest)
    g.case(f"0 * x + squared({shape}, orthogonal({math.sqrt(scale)}))", lambda x, m=m, s=scale: s * torch.eye(m), x=1.0)
g.definitions += """def constant_matrix(init) { state w : [2, 3] = init ; return w }
def squared(extents, init) {
  state w : [extents] = init
  y = reshape(w, [extents[0], -1])
  return y.shape[0] > y.shape[1] ? y.T @ y : y @ y.T
}
"""


def newton_schulz(x, rounds, polish):
    u, s, v = torch.linalg.svd(x, full_matrices=False)
    s = s / (torch.linalg.vector_norm(s) + 1e-7)
    for _ in range(rounds):
        s = 3.4445 * s - 4.7750 * s ** 3 + 2.0315 * s ** 5
    for _ in range(polish):
        s = 1.5 * s - 0.5 * s ** 3
    return u @ torch.diag(s) @ v


g.case("newton_schulz(x)", lambda x: newton_schulz(x, 5, 0), x=N(3, 4))
g.case("newton_schulz(x, 2, polish = 2)", lambda x: newton_schulz(x, 2, 2), x=N(4, 2))
g.case("f32(active(0.1) && active(cosine(0.1)) && !active(0)) * x".replace("f32(", "one_if("), lambda x: x, x=N(2))
g.definitions += "def one_if(b) { return b ? 1.0 : 0.0 }\n"
