"""Gradients as values, grad(y, x), and by what they depend on once more, against torch.autograd.grad."""
import torch
import torch.nn.functional as F

from make import Group, I, N

g = Group("grad", """# Of a value between, which x reaches by another way, too.
def between(x, w) { z = x * w; return grad(sum(sin(z) * x), z) }
def twice(x) { dx = grad(sum(sin(x) * x ^ 2), x); return grad(sum(dx ^ 2), x) }
# By a gradient itself.
def by_gradient(x) { dx = grad(sum(x ^ 3), x); return grad(sum(exp(dx / 4) * x), dx) }
def score(x, w, u) { return (tanh(x @ w) @ u)[:, 0] }
# Of several tensors, the scalar's own parts among them.
def all_of(x, w, u) {
  h = tanh(x @ w)
  dx, dw, dh = grad(logsumexp(h @ u), [x, w, h])
  return concat(reshape(dx, [-1]), reshape(dw, [-1]), reshape(dh, [-1]))
}
def penalty(x, w, u) {
  slope = norm(grad(sum(score(x, w, u)), x), axis = 1)
  return stack(mean((slope - 1) ^ 2), mean(slope))
}
def adapted(x, w, u) {  # a step of descent on one half, the loss of the other
  dw, du = grad(mean(score(x[:2], w, u) ^ 2), (w, u))
  return score(x[2:], w - 0.1 * dw, u - 0.1 * du)
}
def picture(x, w) {
  h = max_pool2d(instance_norm(conv(x, w, padding = 1)), 2)
  return grad(sum(softplus(h) * h), x)
}
def rows(w, i) { return grad(sum(softmax(w[i]) ^ 2), w) }
# Their own gradients are third derivatives, here at 0, too.
def bent(x) { dx = grad(sum(softplus(x) + log_sigmoid(2 * x) + mish(x) + sinh(x) + asinh(3 * x) + erfinv(x / 4)), x); return grad(sum(dx), x) }
def bent_between(x, z) { dx = grad(sum(logaddexp(x, z) * x), x); return grad(sum(dx), z) }
def bent_by_truth(x, z) { dx = grad(binary_cross_entropy(x, z, positive = 2.0), x); return grad(sum(dx * dx), x) }
def ranks(x) { return grad(sum(sort(x) * cumsum(x) ^ 2), x) }
def leaps(v) { return sign(v) } gradient (dy) { return dy * (abs(v) <= 1) * v }
def jump(x, w) { return grad(sum(leaps(x) * w), x) }
# Through the steps of a scan, and in each of them.
def recurrent(x, w) {
  h = scan v in x along 1 with h = zeros([x.shape[0], w.shape[0]]) { h = tanh(h @ w + v[:, none]) }
  return grad(sum(h ^ 2), x)
}
def descent(x, w) {
  return scan k in 0..4 with v = x { v = v - 0.2 * grad(sum(softplus(v @ w) + v[:, :1] ^ 2 / 2), v) }
}
""")


def d(y, *x):
    found = torch.autograd.grad(y, x, create_graph=True)
    return found[0] if len(x) == 1 else found


class Leaps(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return torch.sign(v)

    @staticmethod
    def backward(ctx, dy):
        v, = ctx.saved_tensors
        return dy * (v.abs() <= 1) * v


def score(x, w, u):
    return (torch.tanh(x @ w) @ u)[:, 0]


def between(x, w):
    z = x * w
    return d((torch.sin(z) * x).sum(), z)


def twice(x):
    return d((d((torch.sin(x) * x ** 2).sum(), x) ** 2).sum(), x)


def by_gradient(x):
    dx = d((x ** 3).sum(), x)
    return d((torch.exp(dx / 4) * x).sum(), dx)


def all_of(x, w, u):
    h = torch.tanh(x @ w)
    return torch.cat([part.reshape(-1) for part in d(torch.logsumexp((h @ u).reshape(-1), 0), x, w, h)])


def penalty(x, w, u):
    slope = d(score(x, w, u).sum(), x).norm(dim=1)
    return torch.stack([((slope - 1) ** 2).mean(), slope.mean()])


def adapted(x, w, u):
    dw, du = d((score(x[:2], w, u) ** 2).mean(), w, u)
    return score(x[2:], w - 0.1 * dw, u - 0.1 * du)


def picture(x, w):
    h = F.max_pool2d(F.instance_norm(F.conv2d(x, w, padding=1)), 2)
    return d((F.softplus(h) * h).sum(), x)


def bent(x):
    y = F.softplus(x) + F.logsigmoid(2 * x) + F.mish(x) + torch.sinh(x) + torch.asinh(3 * x) + torch.erfinv(x / 4)
    return d(d(y.sum(), x).sum(), x)


def bent_between(x, z):
    return d(d((torch.logaddexp(x, z) * x).sum(), x).sum(), z)


def bent_by_truth(x, z):
    dx = d(F.binary_cross_entropy_with_logits(x, z, pos_weight=torch.tensor(2.0)), x)
    return d((dx * dx).sum(), x)


def recurrent(x, w):
    h = torch.zeros(x.shape[0], w.shape[0])
    for t in range(x.shape[1]):
        h = torch.tanh(h @ w + x[:, t, None])
    return d((h ** 2).sum(), x)


def descent(x, w):
    for _ in range(4):
        v = x
        x = v - 0.2 * d((F.softplus(v @ w) + v[:, :1] ** 2 / 2).sum(), v)
    return x


g.case("grad(sum(tanh(x) ^ 3), x)", lambda x: d((torch.tanh(x) ** 3).sum(), x), x=N(7))
g.case("grad(prod(x), x) * w", lambda x, w: d(x.prod(), x) * w, x=N(2, 3), w=N(3))
g.case("between(x, w)", between, x=N(4, 3), w=N(3))
g.case("twice(x)", twice, x=N(6))
g.case("by_gradient(x)", by_gradient, x=N(5))
g.case("all_of(x, w, u)", all_of, x=N(3, 4), w=N(4, 5), u=N(5, 2))
g.case("penalty(x, w, u)", penalty, x=N(3, 4), w=N(4, 6), u=N(6, 1))
g.case("adapted(x, w, u)", adapted, x=N(5, 3), w=N(3, 4), u=N(4, 1))
g.case("picture(x, w)", picture, x=N(2, 2, 6, 4), w=N(3, 2, 3, 3))
g.case("rows(w, i)", lambda w, i: d((torch.softmax(w[i], -1) ** 2).sum(), w), w=N(5, 3), i=I(5, 6))
g.case("ranks(x)", lambda x: d((x.sort().values * x.cumsum(-1) ** 2).sum(), x), x=N(3, 5))
AT_0 = [0.0, -0.0, 1e-9, -1e-9, 0.5, -2.0]
g.case("bent(x)", bent, x=AT_0)
g.case("bent_between(x, z)", bent_between, x=AT_0, z=[0.0, 0.0, 0.0, 0.0, 0.5, 1.0])
g.case("bent_by_truth(x, z)", bent_by_truth, x=AT_0, z=[0.0, 1.0, 0.25, 0.5, 0.0, 1.0])
g.case("jump(x, w)", lambda x, w: d((Leaps.apply(x) * w).sum(), x), x=N(8), w=N(8))
g.case("recurrent(x, w)", recurrent, x=N(2, 5), w=N(3, 3))
g.case("descent(x, w)", descent, x=N(2, 3), w=N(3, 4))
