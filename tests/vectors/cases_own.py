"""Gradients of one's own, `gradient (dy)` after a def, against torch.autograd.Function."""
import torch

from make import Group, I, N

g = Group("own_gradient", """# Straight through: the sign, and the gradient of the identity between -1 and 1.
def ste(v) { return sign(v) } gradient (dy) { return dy * (abs(v) <= 1) }
# Rounding to steps whose gradient goes on to the value and, summed, to the width of a step.
def quantize(v, width) { q = round(v / width); return q * width } gradient (dy) {
  return dy, sum(dy * (q - v / width), keep = true)
}
# The gradient is reversed, and none goes to the second argument.
def reverse(v, by, factor = 1.0) { return v * by } gradient (dy) { return -factor * dy, none }
# What it should be anyway: two results, a helper, a name of the body.
def back(dy, w) { return dy @ w.T }
def gated(v, w, shift) {
  z = v @ w
  s = sigmoid(z + shift)
  return z * s, s
} gradient (dz, ds) {
  inner = (dz * z + ds) * s * (1 - s)
  total = dz * s + inner
  return back(total, w), v.T @ total, sum(inner, axis = 0)
}
def gate(v, w, shift) { y, s = gated(v, w, shift); return concat(y, s, axis = 1) }
# Not linear in dy, and through another gradient of one's own.
def clipped(v, most = 0.5) { return v * 1.0 } gradient (dy) { return clip(dy, -most, most) }
def through(v) { return clipped(ste(v) * v, 0.25) ^ 2 }
# In the steps of a scan.
def walk(v) {
  ys = scan a in v along 1 with h = zeros([v.shape[0]]) { h = ste(h + a) * 0.5 + clipped(h) ; yield h }
  return ys
}
# Integers have no gradient.
def chosen(v, i) { return take_along_axis(v, i[:, none], axis = 1)[:, 0] } gradient (dy) {
  return one_hot(i, v.shape[1]) * dy[:, none]
}
""")


def function(forward, backward):
    """A torch.autograd.Function: backward(saved, *gradients) gives those of the arguments."""
    class Own(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *arguments):
            ctx.arguments = [a.detach() if torch.is_tensor(a) else a for a in arguments]
            return forward(*ctx.arguments)

        @staticmethod
        def backward(ctx, *dy):
            return backward(ctx.arguments, *dy)
    return Own.apply


ste = function(torch.sign, lambda saved, dy: dy * (saved[0].abs() <= 1))
quantize = function(lambda v, width: torch.round(v / width) * width,
                    lambda s, dy: (dy, (dy * (torch.round(s[0] / s[1]) - s[0] / s[1])).sum().reshape(s[1].shape)))
reverse = function(lambda v, by, factor: v * by, lambda s, dy: (-s[2] * dy, None, None))
clipped = function(lambda v, most: v * 1.0, lambda s, dy: (dy.clamp(-s[1], s[1]), None))


def gate(v, w, shift):
    z = v @ w
    s = torch.sigmoid(z + shift)
    return torch.cat([z * s, s], 1)


def walk(v):
    h, ys = torch.zeros(v.shape[0]), []
    for t in range(v.shape[1]):
        h = ste(h + v[:, t]) * 0.5 + clipped(h, 0.5)
        ys.append(h)
    return torch.stack(ys, 1)


g.case("ste(x)", ste, x=N(4, 5))
g.case("3 * ste(x * 2) + x", lambda x: 3 * ste(x * 2) + x, x=N(7))
g.case("quantize(x, w)", quantize, x=N(3, 5), w=lambda rng: rng.uniform(0.3, 0.4, (1, 1)))
g.case("reverse(x, w)", lambda x, w: reverse(x, w, 1.0), x=N(4), w=N(4))
g.case("reverse(tanh(x), exp(w), factor = 0.25) * w", lambda x, w: reverse(torch.tanh(x), torch.exp(w), 0.25) * w,
       x=N(4), w=N(4))
g.case("gate(x, w, b)", gate, x=N(3, 4), w=N(4, 2), b=N(2))
g.case("clipped(x) * w", lambda x, w: clipped(x, 0.5) * w, x=N(6), w=N(6))
g.case("through(x)", lambda x: clipped(ste(x) * x, 0.25) ** 2, x=N(9))
g.case("walk(x)", walk, x=N(2, 5))
g.case("chosen(x, i)", lambda x, i: x.gather(1, i[:, None])[:, 0], x=N(4, 3), i=I(3, 4))
