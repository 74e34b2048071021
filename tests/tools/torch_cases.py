"""The cases of compare_torch.py: programs and the same in PyTorch.

One program holds many independent parts, each with parameters of its own, because a compilation takes
longer than a step; a message names the parameter that differs and with it the part.
"""
import fnmatch
import math
import re

import torch
import torch.nn.functional as F

CASES = []


class Case:
    """program: text; inputs: name -> (shape, classes or None for floats); loss(params, batch, state)
    -> scalar; stepper(params) -> what takes the step t, from 1, once gradients are there."""

    def __init__(self, name, program, inputs, loss, stepper=None, steps=5, accumulate=1):
        self.name, self.program, self.inputs, self.loss = name, program, inputs, loss
        self.stepper = stepper or plain_sgd
        self.steps, self.accumulate = steps, accumulate
        CASES.append(self)


def plain_sgd(params, lr=0.05):
    def step(t):
        with torch.no_grad():
            for p in params.values():
                if p.grad is not None:
                    p -= lr * p.grad
    return step


def matching(params, pattern):
    return [p for name, p in params.items() if fnmatch.fnmatch(name, pattern)]


def by_group(makers):
    """makers: pattern -> function of a list of parameters that gives a torch optimizer, or a pair of
    it and a function lr(t)."""
    def stepper(params):
        made = []
        for pattern, maker in makers.items():
            result = maker(matching(params, pattern))
            made.append(result if isinstance(result, tuple) else (result, None))

        def step(t):
            for optimizer, rate in made:
                if rate:
                    for group in optimizer.param_groups:
                        group["lr"] = rate(t)
                optimizer.step()
        return step
    return stepper


HEAD = """
const batch = 6
data train { x, y = npy("x.npy", "y.npy") }
input x : f32[batch, 5]
input y : i32[batch]
"""
INPUTS = {"x": ((6, 5), None), "y": ((6,), 3)}
TRAIN = "train { minimize = loss, optimizer = sgd(lr = 0.05), steps = 100 }\n"


def affine(p, name, x):
    y = x @ p[name + ".w"]
    return y + p[name + ".b"] if name + ".b" in p else y


# ---- optimizers: one linear layer each ----------------------------------------------------------

class Lion:
    """Chen et al. 2023, algorithm 2."""

    def __init__(self, params, lr, betas=(0.9, 0.99), weight_decay=0.0):
        self.params, self.betas, self.weight_decay = params, betas, weight_decay
        self.param_groups = [{"lr": lr}]
        self.m = [torch.zeros_like(p) for p in params]

    @torch.no_grad()
    def step(self):
        lr = self.param_groups[0]["lr"]
        for p, m in zip(self.params, self.m):
            update = torch.sign(self.betas[0] * m + (1 - self.betas[0]) * p.grad)
            p -= lr * (update + self.weight_decay * p)
            m.mul_(self.betas[1]).add_(p.grad, alpha=1 - self.betas[1])


O = torch.optim
OPTIMIZERS = [
    ("sgd(lr = 0.1)", lambda p: O.SGD(p, 0.1)),
    ("sgd(lr = 0.1, momentum = 0.9)", lambda p: O.SGD(p, 0.1, momentum=0.9)),
    ("sgd(lr = 0.1, momentum = 0.9, nesterov = true)", lambda p: O.SGD(p, 0.1, momentum=0.9, nesterov=True)),
    ("sgd(lr = 0.1, momentum = 0.9, weight_decay = 0.01)",
     lambda p: O.SGD(p, 0.1, momentum=0.9, weight_decay=0.01)),
    ("momentum(lr = 0.02)", lambda p: O.SGD(p, 0.02, momentum=0.9)),
    ("momentum(lr = 0.02, momentum = 0.8, nesterov = true, weight_decay = 0.1)",
     lambda p: O.SGD(p, 0.02, momentum=0.8, nesterov=True, weight_decay=0.1)),
    ("rmsprop", lambda p: O.RMSprop(p)),
    ("rmsprop(lr = 1e-3, decay = 0.9, momentum = 0.9, weight_decay = 0.1)",
     lambda p: O.RMSprop(p, 1e-3, alpha=0.9, momentum=0.9, weight_decay=0.1)),
    ("adagrad", lambda p: O.Adagrad(p)),
    ("adagrad(lr = 0.1, weight_decay = 0.1)", lambda p: O.Adagrad(p, 0.1, weight_decay=0.1)),
    ("adam", lambda p: O.Adam(p)),
    ("adam(lr = 0.01, beta1 = 0.8, beta2 = 0.99, eps = 1e-6, weight_decay = 0.1)",
     lambda p: O.Adam(p, 0.01, (0.8, 0.99), 1e-6, weight_decay=0.1)),
    ("adamw", lambda p: O.AdamW(p)),
    ("adamw(lr = 0.01, weight_decay = 0.3)", lambda p: O.AdamW(p, 0.01, weight_decay=0.3)),
    ("lion", lambda p: Lion(p, 1e-4)),
    ("lion(lr = 0.01, beta1 = 0.8, beta2 = 0.95, weight_decay = 0.1)",
     lambda p: Lion(p, 0.01, (0.8, 0.95), 0.1)),
]


def many_layers(count):
    lines = [f"l{i} = cross_entropy(linear(x, 3, name = \"m{i}\"), y)\n" for i in range(count)]
    return "".join(lines) + "loss = " + " + ".join(f"l{i}" for i in range(count)) + "\n"


def many_losses(count):
    return lambda p, b, state: sum(F.cross_entropy(affine(p, f"m{i}", b["x"]), b["y"]) for i in range(count))


def optimizers_case():
    groups = "".join(f"  params \"m{i}.*\" {{ optimizer = {text} }}\n" for i, (text, _) in enumerate(OPTIMIZERS))
    program = (HEAD + many_layers(len(OPTIMIZERS)) +
               "train {\n  minimize = loss, optimizer = sgd, steps = 12\n" + groups + "}\n")
    Case("optimizers", program, INPUTS, many_losses(len(OPTIMIZERS)),
         by_group({f"m{i}.*": maker for i, (_, maker) in enumerate(OPTIMIZERS)}), steps=12)


optimizers_case()


# ---- schedules ----------------------------------------------------------------------------------

def warmed(t, warmup):
    return min(1.0, t / warmup) if warmup else 1.0


def fraction(t, warmup, steps):
    return min(max((t - warmup) / max(steps - warmup, 1), 0.0), 1.0)


STEPS = 14
SCHEDULES = [
    ("constant_rate(0.1, warmup = 4)", lambda t: 0.1 * warmed(t, 4)),
    ("cosine(0.1)", lambda t: 0.05 * (1 + math.cos(math.pi * t / STEPS))),
    ("cosine(0.1, floor = 0.02, warmup = 3, steps = 10)",
     lambda t: warmed(t, 3) * (0.02 + 0.04 * (1 + math.cos(math.pi * fraction(t, 3, 10))))),
    ("linear_decay(0.1, floor = 0.01, warmup = 2)",
     lambda t: warmed(t, 2) * (0.1 - 0.09 * fraction(t, 2, STEPS))),
    ("step(0.1, every = 5, factor = 0.5)", lambda t: 0.1 * 0.5 ** ((t - 1) // 5)),
    ("inverse(0.1, gamma = 0.1, power = 0.75)", lambda t: 0.1 * (1 + 0.1 * (t - 1)) ** -0.75),
    ("exponential(0.1, decay = 0.9, every = 2, warmup = 5)",
     lambda t: warmed(t, 5) * 0.1 * 0.9 ** ((t - 1) / 2)),
    # `step` gives schedules one epoch of all its steps
    ("constant_rate(0.1, warmup = 0.5 epochs)", lambda t: 0.1 * warmed(t, STEPS / 2)),
    ("2 * cosine(0.05) + 0.01", lambda t: 0.05 * (1 + math.cos(math.pi * t / STEPS)) + 0.01),
    ("mine(0.1)", lambda t: 0.1 / math.sqrt(t)),
]


def schedules_case():
    groups = "".join(f"  params \"m{i}.*\" {{ optimizer = sgd(lr = {text}) }}\n"
                     for i, (text, _) in enumerate(SCHEDULES))
    program = (HEAD + "schedule mine(peak) { return peak / sqrt(t) }\n" + many_layers(len(SCHEDULES)) +
               f"train {{\n  minimize = loss, optimizer = sgd, steps = {STEPS}\n" + groups + "}\n")
    makers = {f"m{i}.*": (lambda p, rate=rate: (O.SGD(p, 1.0), rate)) for i, (_, rate) in enumerate(SCHEDULES)}
    Case("schedules", program, INPUTS, many_losses(len(SCHEDULES)), by_group(makers), steps=STEPS)


schedules_case()

# ---- clipping, accumulation, groups -------------------------------------------------------------

MLP = HEAD + "h = tanh(linear(x, 7))\nlogits = linear(h, 3)\nloss = cross_entropy(logits, y)\n"


def mlp_loss(p, b, state):
    return F.cross_entropy(affine(p, "logits", torch.tanh(affine(p, "h", b["x"]))), b["y"])


def clipped(clip, optimizer=lambda p: O.SGD(p, 0.5)):
    def stepper(params):
        made = optimizer(list(params.values()))

        def step(t):
            clip(params)
            made.step()
        return step
    return stepper


U = torch.nn.utils
Case("clip_global", MLP + "train { minimize = loss, optimizer = adam(lr = 0.1), clip = 0.3, steps = 9 }", INPUTS,
     mlp_loss, clipped(lambda p: U.clip_grad_norm_(list(p.values()), 0.3), lambda p: O.Adam(p, 0.1)))
Case("clip_value", MLP + "train { minimize = loss, optimizer = sgd(lr = 0.5), clip = clip_value(0.05), steps = 9 }",
     INPUTS, mlp_loss, clipped(lambda p: U.clip_grad_value_(list(p.values()), 0.05)))
Case("clip_norm", MLP + "train { minimize = loss, optimizer = sgd(lr = 0.5), clip = clip_norm(0.1), steps = 9 }",
     INPUTS, mlp_loss, clipped(lambda p: [U.clip_grad_norm_([q], 0.1) for q in p.values()]))
Case("accumulate", MLP + "train { minimize = loss, optimizer = adam(lr = 0.1), accumulate = 3, clip = 0.2, steps = 9 }",
     INPUTS, mlp_loss, clipped(lambda p: U.clip_grad_norm_(list(p.values()), 0.2), lambda p: O.Adam(p, 0.1)),
     accumulate=3)
Case("groups", MLP + """train {
  minimize = loss, optimizer = adamw(lr = cosine(0.1), weight_decay = 0.2), steps = 6
  params "*.b" { weight_decay = 0, lr_scale = 3 }
  params "h.w" { frozen = true }
}""", INPUTS, mlp_loss, by_group({
    "*.w": lambda p: (O.AdamW(p[1:], weight_decay=0.2), lambda t: 0.05 * (1 + math.cos(math.pi * t / 6))),
    "*.b": lambda p: (O.AdamW(p, weight_decay=0.0), lambda t: 0.15 * (1 + math.cos(math.pi * t / 6)))}), steps=6)


def gan_stepper(params):
    """The block's loss updates G; then the group's loss, with the new G, updates D."""
    g, d = O.SGD(matching(params, "G.*"), 0.2), O.SGD(matching(params, "D.*"), 0.1)

    def step(t):
        g.step()
        d.zero_grad()
        gan_d(params, gan_stepper.batch).backward()
        d.step()
    return step


def gan_d(p, b):
    real, fake = affine(p, "D", b["x"]), affine(p, "D", affine(p, "G", b["x"]).detach())
    return F.softplus(-real).mean() + F.softplus(fake).mean()


def gan_loss(p, b, state):
    gan_stepper.batch = b
    return F.softplus(-affine(p, "D", affine(p, "G", b["x"]))).mean()


Case("two_losses", HEAD + """
D = linear(_, 1)
G = linear(_, 5)
fake = G(x)
d_loss = mean(softplus(-D(x))) + mean(softplus(D(stop_gradient(fake))))
g_loss = mean(softplus(-D(fake))) + 0 * mean(f32(y))
train {
  minimize = g_loss, optimizer = sgd(lr = 0.2), steps = 9
  params "D.*" { minimize = d_loss, optimizer = sgd(lr = 0.1) }
}""", INPUTS, gan_loss, gan_stepper)

# ---- losses -------------------------------------------------------------------------------------

Case("losses", HEAD + """
z = linear(x, 3)
t = one_hot(y, 3)
loss = cross_entropy(z, y) + cross_entropy(3 * z, y, smoothing = 0.1) + 2 * binary_cross_entropy(z, t) +
       mse(z, t) + l1(z, t) + huber(z, t) + huber(2 * z, t, delta = 0.3) +
       mean(cross_entropy(z, y, reduce = false) ^ 2) + mean(mse(z, t, reduce = false) ^ 2)
""" + TRAIN, INPUTS, lambda p, b, state: losses(affine(p, "z", b["x"]), b["y"]))


def losses(z, y):
    t = F.one_hot(y, 3).double()
    return (F.cross_entropy(z, y) + F.cross_entropy(3 * z, y, label_smoothing=0.1) +
            2 * F.binary_cross_entropy_with_logits(z, t) + F.mse_loss(z, t) + F.l1_loss(z, t) +
            F.huber_loss(z, t) + F.huber_loss(2 * z, t, delta=0.3) +
            (F.cross_entropy(z, y, reduction="none") ** 2).mean() + (((z - t) ** 2) ** 2).mean())


# ---- activations --------------------------------------------------------------------------------

ACTIVATIONS = [
    ("relu({})", F.relu), ("relu6(5 * {})", lambda z: F.relu6(5 * z)), ("leaky_relu({})", F.leaky_relu),
    ("leaky_relu({}, 0.2)", lambda z: F.leaky_relu(z, 0.2)), ("elu({})", F.elu),
    ("elu({}, alpha = 0.5)", lambda z: F.elu(z, 0.5)), ("selu({})", F.selu), ("gelu({})", F.gelu),
    ("gelu({}, approximate = true)", lambda z: F.gelu(z, approximate="tanh")), ("silu({})", F.silu),
    ("hard_swish(3 * {})", lambda z: F.hardswish(3 * z)),
    ("softplus(4 * {})", lambda z: F.softplus(4 * z, threshold=1e9)),
    ("log_sigmoid(4 * {})", lambda z: F.logsigmoid(4 * z)), ("softsign({})", F.softsign), ("mish({})", F.mish),
    ("softmax(9 * {})", lambda z: F.softmax(9 * z, -1)), ("softmax({}, axis = 0)", lambda z: F.softmax(z, 0)),
    ("log_softmax(9 * {}, axis = 0)", lambda z: F.log_softmax(9 * z, 0)),
    ("logsumexp(9 * {}, axis = 1)", lambda z: torch.logsumexp(9 * z, 1)),
    ("logsumexp({}, axis = [0, 1])", lambda z: torch.logsumexp(z, (0, 1))),
    ("logsumexp({}, axis = 0, keep = true)", lambda z: torch.logsumexp(z, 0, keepdim=True)),
    ("tanh({})", torch.tanh), ("sigmoid({})", torch.sigmoid), ("erf({})", torch.erf), ("exp({})", torch.exp),
    ("expm1({})", torch.expm1), ("log1p(abs({}))", lambda z: torch.log1p(torch.abs(z))),
    ("log({} ^ 2 + 1)", lambda z: torch.log(z ** 2 + 1)), ("sqrt(1 + {} ^ 2)", lambda z: torch.sqrt(1 + z ** 2)),
    ("rsqrt(1 + {} ^ 2)", lambda z: torch.rsqrt(1 + z ** 2)), ("sin({})", torch.sin), ("cos({})", torch.cos),
    ("tan(0.3 * {})", lambda z: torch.tan(0.3 * z)), ("clip({}, -0.5, 0.5)", lambda z: torch.clamp(z, -0.5, 0.5)),
    ("minimum({}, 0.3)", lambda z: torch.clamp(z, max=0.3)), ("abs({}) ^ 1.5", lambda z: torch.abs(z) ** 1.5),
    ("{} ^ 3", lambda z: z ** 3), ("2 ^ {}", lambda z: 2 ** z), ("{} % 1", lambda z: z - torch.floor(z)),
]


def activations_case():
    lines = [f"z{i} = linear(x, 4)\nl{i} = mean(({text.format(f'z{i}')} + 1) ^ 2)\n"
             for i, (text, _) in enumerate(ACTIVATIONS)]
    program = (HEAD + "".join(lines) + "loss = 0 * mean(f32(y))\n" +
               "".join(f"loss = loss + l{i}\n" for i in range(len(ACTIVATIONS))) + TRAIN)
    Case("activations", program, INPUTS, lambda p, b, state: sum(
        ((f(affine(p, f"z{i}", b["x"])) + 1) ** 2).mean() for i, (_, f) in enumerate(ACTIVATIONS)), steps=3)


activations_case()

# ---- layers -------------------------------------------------------------------------------------

PICTURES = """
const batch = 3
data train { a, b, c, i = npy("a.npy", "b.npy", "c.npy", "i.npy") }
input a : f32[batch, 4, 11]
input b : f32[batch, 4, 7, 8]
input c : f32[batch, 2, 4, 5, 6]
input i : i32[batch, 5]
"""
PICTURE_INPUTS = {"a": ((3, 4, 11), None), "b": ((3, 4, 7, 8), None), "c": ((3, 2, 4, 5, 6), None),
                  "i": ((3, 5), 9)}


def same(x, kernel, stride=(1, 1), dilation=(1, 1), value=0.0):
    """Pads the last axes so that out = ceil(in / stride); the odd one goes to the end."""
    pads = []
    for axis in range(len(kernel)):
        extent = x.shape[2 + axis]
        out = -(-extent // stride[axis])
        total = max((out - 1) * stride[axis] + dilation[axis] * (kernel[axis] - 1) + 1 - extent, 0)
        pads = [total // 2, total - total // 2] + pads
    return F.pad(x, pads, value=value)


INF = float("inf")
# the layer's text, the same in PyTorch of (x, w, b)
CONVOLUTIONS = [
    ("conv1d(a, 5, 3)", lambda b, w, v: F.conv1d(b["a"], w, v)),
    ("conv1d(a, 6, 3, stride = 2, padding = 2, dilation = 2, groups = 2)",
     lambda b, w, v: F.conv1d(b["a"], w, v, 2, 2, 2, 2)),
    ("conv1d(a, 3, 4, padding = \"same\")", lambda b, w, v: F.conv1d(same(b["a"], (4,), (1,), (1,)), w, v)),
    ("conv2d(b, 5, 3)", lambda b, w, v: F.conv2d(b["b"], w, v)),
    ("conv2d(b, 5, 3, padding = 1, bias = false)", lambda b, w, v: F.conv2d(b["b"], w, v, 1, 1)),
    ("conv2d(b, 5, [2, 3], stride = [2, 1], padding = [1, 2])",
     lambda b, w, v: F.conv2d(b["b"], w, v, (2, 1), (1, 2))),
    ("conv2d(b, 3, 3, stride = 2, padding = \"same\")",
     lambda b, w, v: F.conv2d(same(b["b"], (3, 3), (2, 2)), w, v, 2)),
    ("conv2d(b, 3, [4, 2], padding = \"same\", dilation = [1, 2])",
     lambda b, w, v: F.conv2d(same(b["b"], (4, 2), (1, 1), (1, 2)), w, v, 1, 0, (1, 2))),
    ("conv2d(b, 3, 3, padding = \"valid\", stride = 3)", lambda b, w, v: F.conv2d(b["b"], w, v, 3)),
    ("conv2d(b, 3, 3, padding = [(0, 2), (1, 0)])", lambda b, w, v: F.conv2d(F.pad(b["b"], (1, 0, 0, 2)), w, v)),
    ("conv2d(b, 8, 3, dilation = 2, groups = 4, padding = 2)",
     lambda b, w, v: F.conv2d(b["b"], w, v, 1, 2, 2, 4)),
    ("conv2d(b, 4, 1, stride = 2)", lambda b, w, v: F.conv2d(b["b"], w, v, 2)),
    ("conv3d(c, 3, [2, 3, 3], padding = [0, 1, 1], stride = [1, 2, 1])",
     lambda b, w, v: F.conv3d(b["c"], w, v, (1, 2, 1), (0, 1, 1))),
    ("conv2d_transpose(b, 3, 3)", lambda b, w, v: F.conv_transpose2d(b["b"], w, v)),
    ("conv2d_transpose(b, 3, 4, stride = 2, padding = 1)",
     lambda b, w, v: F.conv_transpose2d(b["b"], w, v, 2, 1)),
    ("conv2d_transpose(b, 6, 3, stride = [2, 3], padding = 1, output_padding = [1, 2], groups = 2, bias = false)",
     lambda b, w, v: F.conv_transpose2d(b["b"], w, v, (2, 3), 1, (1, 2), 2)),
    ("conv2d_transpose(b, 2, 3, stride = 2, dilation = 2)",
     lambda b, w, v: F.conv_transpose2d(b["b"], w, v, 2, dilation=2)),
]


def layers_program(layers, head, extra=""):
    lines = [f"z{i} = {text}\nl{i} = mean(tanh(z{i}))\n" for i, text in enumerate(layers)]
    return (head + "".join(lines) + extra + "loss = 0 * (mean(a) + mean(b) + mean(c) + mean(f32(i)))\n" +
            "".join(f"loss = loss + l{i}\n" for i in range(len(layers))) + TRAIN.replace("0.05", "0.5"))


def half_sgd(params):
    return plain_sgd(params, 0.5)


Case("convolutions", layers_program([text for text, _ in CONVOLUTIONS], PICTURES), PICTURE_INPUTS,
     lambda p, b, state: sum(torch.tanh(f(b, p[f"z{i}.w"], p.get(f"z{i}.b"))).mean()
                             for i, (_, f) in enumerate(CONVOLUTIONS)), half_sgd, steps=3)

# Pooling of a 1x1 convolution, so that gradients flow back through it.
POOLS = [
    ("max_pool2d({}, 2)", lambda z: F.max_pool2d(z, 2)),
    ("max_pool2d({}, 3, stride = 2, padding = 1)", lambda z: F.max_pool2d(z, 3, 2, 1)),
    ("max_pool2d({}, [3, 2], stride = [1, 3])", lambda z: F.max_pool2d(z, (3, 2), (1, 3))),
    ("max_pool2d({}, 3, stride = 2, padding = \"same\")",
     lambda z: F.max_pool2d(same(z, (3, 3), (2, 2), value=-INF), 3, 2)),
    ("avg_pool2d({}, 2)", lambda z: F.avg_pool2d(z, 2)),
    ("avg_pool2d({}, 3, stride = 2, padding = 1)", lambda z: F.avg_pool2d(z, 3, 2, 1)),
    ("avg_pool2d({}, [1, 3], stride = 1)", lambda z: F.avg_pool2d(z, (1, 3), 1)),
    ("global_avg_pool({})", lambda z: z.mean((2, 3))),
    ("max_pool({}, 2, dilation = 2, stride = 1)", lambda z: F.max_pool2d(z, 2, 1, dilation=2)),
]
Case("pools", layers_program([text.format(f"conv2d(b, 3, 1, name = \"m{i}\")") for i, (text, _) in enumerate(POOLS)],
                             PICTURES), PICTURE_INPUTS,
     lambda p, b, state: sum(torch.tanh(f(F.conv2d(b["b"], p[f"m{i}.w"], p[f"m{i}.b"]))).mean()
                             for i, (_, f) in enumerate(POOLS)), half_sgd, steps=3)


def batch_norm(p, state, name, x, momentum=0.1, eps=1e-5):
    mean, var = (state.setdefault(f"{name}.running_{what}", make(x.shape[1]))
                 for what, make in (("mean", torch.zeros), ("var", torch.ones)))
    return F.batch_norm(x, mean, var, p.get(f"{name}.gamma"), p.get(f"{name}.beta"), True, momentum, eps)


def rms_norm(x, gamma):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * gamma


def attention(q, k, v, heads, causal):
    depth = q.shape[2] // heads
    parts = []
    for h in range(heads):
        at = slice(h * depth, (h + 1) * depth)
        scores = q[:, :, at] @ k[:, :, at].transpose(1, 2) / math.sqrt(depth)
        if causal:
            scores = scores + torch.triu(torch.full((q.shape[1], k.shape[1]), -INF), 1)
        parts.append(torch.softmax(scores, -1) @ v[:, :, at])
    return torch.cat(parts, 2)


def norms_loss(p, b, state):
    x = F.conv2d(b["b"], p["m.w"], p["m.b"])
    e = p["table.w"][b["i"]]
    parts = [batch_norm(p, state, "n0", x), batch_norm(p, state, "n1", x.mean((2, 3)), 0.3, 1e-3),
             batch_norm(p, state, "n2", x), F.layer_norm(x, x.shape[-1:], p["n3.gamma"], p["n3.beta"]),
             F.layer_norm(e, e.shape[-1:], eps=0.1), rms_norm(e, p["n5.gamma"]),
             attention(e, e * 2, e - 1, 2, False), attention(e, e, e, 3, True),
             F.layer_norm(e, e.shape[-1:], p["n8.gamma"])]
    return sum((torch.tanh(part) * torch.arange(part.shape[-1])).mean() for part in parts)


NORMS = ["batch_norm(x)", "batch_norm(global_avg_pool(x), momentum = 0.3, eps = 1e-3)",
         "batch_norm(x, scale = false, shift = false)", "layer_norm(x)",
         "layer_norm(e, eps = 0.1, scale = false, shift = false)", "rms_norm(e)",
         "attention(e, e * 2, e - 1, heads = 2)", "attention(e, e, e, heads = 3, causal = true)",
         "layer_norm(e, shift = false)"]
Case("norms", PICTURES + "x = conv2d(b, 6, 1, name = \"m\")\ne = embedding(i, 9, 6, name = \"table\")\n" + "".join(
    f"n{k} = {text}\nl{k} = mean(tanh(n{k}) * f32(arange(n{k}.shape[-1])))\n" for k, text in enumerate(NORMS)) +
     "loss = 0 * (mean(a) + mean(c))\n" + "".join(f"loss = loss + l{k}\n" for k in range(len(NORMS))) + TRAIN,
     PICTURE_INPUTS, norms_loss, steps=4)

# ---- functions of tensors -----------------------------------------------------------------------

# over w [4, 6] and v [6], both parameters; r [5] are rows of w
TENSORS = [
    ("var(w)", lambda w, v, r: w.var(unbiased=False)), ("var(w, axis = 0)", lambda w, v, r: w.var(0, unbiased=False)),
    ("std(w, axis = 1, keep = true)", lambda w, v, r: w.std(1, unbiased=False, keepdim=True)),
    ("norm(w)", lambda w, v, r: w.norm()), ("norm(w, axis = 1)", lambda w, v, r: w.norm(dim=1)),
    ("outer(v, w[0])", lambda w, v, r: torch.outer(v, w[0])),
    ("tril(w)", lambda w, v, r: w.tril()), ("tril(w, k = -1)", lambda w, v, r: w.tril(-1)),
    ("triu(w, k = 2)", lambda w, v, r: w.triu(2)), ("eye(4) @ w", lambda w, v, r: w),
    ("diag(v)", lambda w, v, r: torch.diag(v)), ("diag(w[:, 1:5])", lambda w, v, r: torch.diag(w[:, 1:5])),
    ("cumsum(w)", lambda w, v, r: w.cumsum(-1)), ("cumsum(w, axis = 0)", lambda w, v, r: w.cumsum(0)),
    ("w @ v", lambda w, v, r: w @ v), ("v @ w.T", lambda w, v, r: v @ w.T),
    ("stack(w, 2 * w) @ w.T", lambda w, v, r: torch.stack([w, 2 * w]) @ w.T),
    ("stack(w, 2 * w)[:, none] @ stack(w, -w, w, axis = -1)[..., 0].T",
     lambda w, v, r: torch.stack([w, 2 * w])[:, None] @ w.T),
    ("einsum(\"ij,j->i\", w, v)", lambda w, v, r: w @ v),
    ("einsum(\"ij,ik->jk\", w, w)", lambda w, v, r: w.T @ w),
    ("einsum(\"ij,j,ik->k\", w, v, w)", lambda w, v, r: torch.einsum("ij,j,ik->k", w, v, w)),
    ("einsum(\"ij->j\", w)", lambda w, v, r: w.sum(0)), ("einsum(\"i,j->ij\", v, v)", lambda w, v, r: torch.outer(v, v)),
    ("w[1]", lambda w, v, r: w[1]), ("w[-1, 2]", lambda w, v, r: w[-1, 2]), ("w[:, 1:-1:2]", lambda w, v, r: w[:, 1:-1:2]),
    ("w[::-1]", lambda w, v, r: w.flip(0)), ("w[..., 4:1:-2]", lambda w, v, r: w[..., 2:5].flip(-1)[..., ::2]),
    ("w[:, none, 0]", lambda w, v, r: w[:, None, 0]), ("w[i % 4, 1:3]", lambda w, v, r: w[r, 1:3]),
    ("w[:, [0, 5, 5]]", lambda w, v, r: w[:, [0, 5, 5]]),
    ("pick(w[i % 4], i)", lambda w, v, r: torch.gather(w[r], 1, (state_index()[:, None])).squeeze(1)),
    ("roll(w, 2)", lambda w, v, r: w.roll(2, 1)), ("roll(w, -1, axis = 0)", lambda w, v, r: w.roll(-1, 0)),
    ("flip(w, [0, 1])", lambda w, v, r: w.flip(0, 1)), ("tile(w, [2, 1])", lambda w, v, r: w.tile(2, 1)),
    ("repeat(w, 3, axis = 0)", lambda w, v, r: w.repeat_interleave(3, 0)),
    ("pad(w, [(1, 0), 2], value = 3)", lambda w, v, r: F.pad(w, (2, 2, 1, 0), value=3)),
    ("concat(w, w * 2)", lambda w, v, r: torch.cat([w, w * 2], -1)), ("concat([w, w], axis = 0)", lambda w, v, r: torch.cat([w, w])),
    ("split(w, [1, 2, 3])[2]", lambda w, v, r: w[:, 3:]), ("split(w, 2, axis = 0)[1]", lambda w, v, r: w[2:]),
    ("transpose(reshape(w, [2, 2, -1]), [2, 0, 1])", lambda w, v, r: w.reshape(2, 2, 6).permute(2, 0, 1)),
    ("along(v, 1, w)", lambda w, v, r: v.expand(4, 6)), ("broadcast(v, [2, 6])", lambda w, v, r: v.expand(2, 6)),
    ("max(w)", lambda w, v, r: w.max()), ("min(w, axis = 0)", lambda w, v, r: w.min(0).values),
    ("prod(w, axis = 1)", lambda w, v, r: w.prod(1)), ("mean(w, axis = -1)", lambda w, v, r: w.mean(-1)),
    ("w * where(w > 0, v, 1)", lambda w, v, r: w * torch.where(w > 0, v, torch.ones(()))),
    ("f64(argmax(w, axis = 0)) * v", lambda w, v, r: w.argmax(0) * v),
    ("f64(argmin(w)) * w[:, 0]", lambda w, v, r: w.argmin(1) * w[:, 0]),
    ("maximum(w, v)", lambda w, v, r: torch.maximum(w, v)), ("w // 0.5 * w", lambda w, v, r: (w / 0.5).floor() * w),
    ("round(3 * w) * w", lambda w, v, r: torch.round(3 * w) * w), ("-w ^ 2", lambda w, v, r: -(w ** 2)),
    ("2 ^ 3 ^ 0.5 * w", lambda w, v, r: 2 ** 3 ** 0.5 * w), ("w - 1 - v", lambda w, v, r: w - 1 - v),
]
INDEX = {}


def state_index():
    return INDEX["i"]


def tensors_loss(p, b, state):
    INDEX["i"] = b["i"]
    total = 0
    for k, (_, f) in enumerate(TENSORS):
        y = f(p[f"w{k}"], p[f"v{k}"], b["i"] % 4)
        total = total + (torch.sin(y) * (1 + torch.arange(y.numel())).reshape(y.shape)).mean()
    return total


def tensors_program():
    text = "const batch = 5\ndata train { i = npy(\"i.npy\") }\ninput i : i32[batch]\nloss = 0 * mean(f32(i))\n"
    for k, (expression, _) in enumerate(TENSORS):
        body = expression
        for name in "wv":
            body = "".join(part if at % 2 == 0 else f"{name}{k}" for at, part in enumerate(split_names(body, name)))
        text += (f"param w{k} : [4, 6] = randn([4, 6])\nparam v{k} : [6] = randn([6])\n"
                 f"y{k} = {body}\nn{k} = reshape(f64(arange(size(y{k}))) + 1, shape(y{k}))\n"
                 f"loss = loss + mean(sin(y{k}) * n{k}) + 0 * (sum(w{k}) + sum(v{k}))\n")
    return text.replace("f64(", "f32(") + TRAIN


def split_names(text, name):
    """Text, name, text, ...: `name` where it stands alone."""
    return re.split(rf"(?<![A-Za-z0-9_\"])({name})(?![A-Za-z0-9_])", text)


Case("tensors", tensors_program(), {"i": ((5,), 6)}, tensors_loss, steps=3)


# ---- schedules of other arguments than the rate -------------------------------------------------

def scheduled(params):
    made = O.AdamW(list(params.values()), 0.01)
    slow = {p: torch.zeros_like(p) for p in matching(params, "logits.*")}

    def step(t):
        with torch.no_grad():
            for p, v in slow.items():  # sgd with momentum 0.9 t / 6 and weight decay 0.1 (1 - t / 6)
                v.mul_(0.9 * t / 6).add_(p.grad + 0.1 * (1 - t / 6) * p)
                p -= 0.1 * v
                p.grad = None
        made.param_groups[0]["weight_decay"] = 0.5 * (1 - t / 6)
        made.step()
    return step


Case("scheduled_arguments", MLP + """
schedule rising(peak) { return peak * t / steps }
train {
  minimize = loss, optimizer = adamw(lr = 0.01, weight_decay = linear_decay(0.5)), steps = 6
  params "logits.*" { optimizer = sgd(lr = 0.1, momentum = rising(0.9), weight_decay = linear_decay(0.1)) }
}""", INPUTS, mlp_loss, scheduled, steps=6)


# ---- tables whose unnamed rows stay: `lazy` against gradients that are sparse ------------------------

def sparse_loss(p, batch, state):
    def row(name, i):
        return F.embedding(i, p[name], sparse=True)
    every = [row("plain", batch["i"]).sum(1), row("turning", batch["j"]), row("squares", batch["j"]), row("short", batch["i"][:, 0])]
    y = torch.tanh(torch.cat(every, 1)) @ p["y.w"] + p["y.b"]
    return (y[:, 0] ** 2 - y[:, 0]).mean()


Case("sparse", """
const batch = 6
data train { i, j = npy("i.npy", "j.npy") }
input i : i32[batch, 2]
input j : i32[batch]
param plain   : [40, 3] = randn([40, 3])
param turning : [30, 4] = randn([30, 4])
param squares : [50, 2] = randn([50, 2])
param short   : [40, 5] = randn([40, 5])
y = linear(tanh(concat(sum(plain[i], axis = 1), turning[j], squares[j], short[i[:, 0]])), 1)[:, 0]
loss = mean(y ^ 2 - y)
train {
  minimize = loss, optimizer = sgd(lr = 0.1), steps = 6
  params "turning" { optimizer = adam(lr = 0.01, raw_eps = true), lazy = true }
  params "squares" { optimizer = adagrad(lr = 0.1), lazy = true }
  params "short"   { optimizer = adam(lr = 0.02, beta1 = 0.5, beta2 = 0.9, raw_eps = true), lazy = true }
}""", {"i": ((6, 2), 40), "j": ((6,), 30)}, sparse_loss, by_group({
    "plain": lambda p: O.SGD(p, 0.1), "y.*": lambda p: O.SGD(p, 0.1),
    "turning": lambda p: O.SparseAdam(p, 0.01), "squares": lambda p: O.Adagrad(p, 0.1, eps=1e-10),
    "short": lambda p: O.SparseAdam(p, 0.02, (0.5, 0.9))}), steps=6)
