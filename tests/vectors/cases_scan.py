"""Recurrent layers written by hand with scan: the loop of the language against PyTorch's own."""
import torch

from make import Group, N

g = Group("scan", """# x: [batch, steps, n]; weights as PyTorch has them, gates in the order i, f, g, o.
def cell(z, c) {
  n = c.shape[1]
  c = sigmoid(z[:, n:2 * n]) * c + sigmoid(z[:, :n]) * tanh(z[:, 2 * n:3 * n])
  return sigmoid(z[:, 3 * n:]) * tanh(c), c
}
def lstm(x, h, c, w, u, a, b) {
  hs, h, c = scan v in x along 1 with h = h, c = c {
    h, c = cell(v @ w.T + a + h @ u.T + b, c)
    yield h
  }
  return concat(reshape(hs, [-1]), reshape(h, [-1]), reshape(c, [-1]))
}
# What does not depend on the carries stands before the loop.
def lstm_hoisted(x, h, c, w, u, a, b) {
  hs, h, c = scan z in x @ w.T + (a + b) along 1 with h = h, c = c { h, c = cell(z + h @ u.T, c) ; yield h }
  return concat(reshape(hs, [-1]), reshape(h, [-1]), reshape(c, [-1]))
}
def gru(x, h, w, u, a, b) {
  n = h.shape[1]
  return scan v in x along 1 with h = h {
    p = v @ w.T + a
    q = h @ u.T + b
    r = sigmoid(p[:, :n] + q[:, :n])
    z = sigmoid(p[:, n:2 * n] + q[:, n:2 * n])
    h = (1 - z) * tanh(p[:, 2 * n:] + r * q[:, 2 * n:]) + z * h
    yield h
  }
}
def rnn(x, h, w, u, a, b) {
  return scan v in x along 1 with h = h { h = tanh(v @ w.T + a + h @ u.T + b) ; yield h }
}
# A scan in a scan, the inner one from the end; x: [batch, rows, columns].
def nested(x, h) {
  rows, last = scan row in x along 1 with s = h {
    s = scan v in row[:, ::-1] along 1 with t = 0.5 * s { t = tanh(t + v) * (1 + 0.1 * s) }
    yield s
  }
  return concat(rows, last[:, none], axis = 1)
}
# Two sequences along axis 0, the step's number, two yields and a carry that counts.
def mixed(x, z) {
  a, b, n = scan v, u, k in x, z, 0..x.shape[0] with n = zeros([]) {
    n = n + 1
    yield v * u + f32(k), sum(v) * n
  }
  return concat(reshape(a, [-1]), b, reshape(n, [1]))
}
# Steps computed again for the backward pass.
def again(x, h, w) {
  ys, last = scan v in x along 1 recompute with h = h { h = tanh(v + h @ w) * sigmoid(h) ; yield h * h }
  return concat(ys, last[:, none], axis = 1)
}
# A window that a new column enters at the end: a part of what is carried is carried on.
def window(x) {
  news, last = scan k in 0..3 with w = x {
    new = tanh(w[:, :1] + 2 * w[:, -1:])
    w = concat(w[:, 1:], new)
    yield new
  }
  return concat(last, transpose(news[..., 0]))
}
def both_ways(x, h, w, u, a, b, k, w2, u2, a2, b2) {
  return concat(rnn(x, h, w, u, a, b), rnn(x[:, ::-1], k, w2, u2, a2, b2)[:, ::-1], axis = 2)
}
""")


def weights(gates, n, units, tail=""):
    rows = gates * units
    return {"w" + tail: N(rows, n, scale=0.5), "u" + tail: N(rows, units, scale=0.5), "a" + tail: N(rows, scale=0.5),
            "b" + tail: N(rows, scale=0.5)}


def flat_lstm(x, h, c, w, u, a, b):
    results = torch.lstm(x, (h[None], c[None]), [w, u, a, b], True, 1, 0.0, False, False, True)
    return torch.cat([r.reshape(-1) for r in results])


def torch_gru(x, h, w, u, a, b):
    return torch.gru(x, h[None], [w, u, a, b], True, 1, 0.0, False, False, True)[0]


def torch_both(x, h, w, u, a, b, k, w2, u2, a2, b2):
    return torch.rnn_tanh(x, torch.stack([h, k]), [w, u, a, b, w2, u2, a2, b2], True, 1, 0.0, False, True, True)[0]


for steps in (1, 5):
    g.case("lstm(x, h, c, w, u, a, b)", flat_lstm, x=N(3, steps, 2), h=N(3, 4), c=N(3, 4), **weights(4, 2, 4))
g.case("lstm_hoisted(x, h, c, w, u, a, b)", flat_lstm, x=N(2, 4, 3), h=N(2, 5), c=N(2, 5), **weights(4, 3, 5))
g.case("gru(x, h, w, u, a, b)", torch_gru, x=N(2, 6, 3), h=N(2, 4), **weights(3, 3, 4))
g.case("both_ways(x, h, w, u, a, b, k, w2, u2, a2, b2)", torch_both, x=N(2, 4, 3), h=N(2, 3), **weights(1, 3, 3), k=N(2, 3),
       **weights(1, 3, 3, "2"))


def nested(x, h):
    rows = []
    for r in range(x.shape[1]):
        t = 0.5 * h
        for v in x[:, r].flip(1).unbind(1):
            t = torch.tanh(t + v) * (1 + 0.1 * h)
        h = t
        rows.append(h)
    return torch.stack(rows + [h], 1)


def mixed(x, z):
    a = [v * u + k for k, (v, u) in enumerate(zip(x, z))]
    b = [v.sum() * (k + 1) for k, v in enumerate(x)]
    return torch.cat([torch.stack(a).reshape(-1), torch.stack(b), torch.full((1,), float(len(a)))])


def again(x, h, w):
    ys = []
    for v in x.unbind(1):
        h = torch.tanh(v + h @ w) * torch.sigmoid(h)
        ys.append(h * h)
    return torch.stack(ys + [h], 1)


for shape in ((2, 3, 4), (1, 1, 1), (3, 1, 2)):
    g.case("nested(x, h)", nested, x=N(*shape), h=N(shape[0]))
for shape in ((4, 3), (1, 2), (7, 1, 2)):
    g.case("mixed(x, z)", mixed, x=N(*shape), z=N(*shape))
for steps, units in ((5, 3), (1, 2)):
    g.case("again(x, h, w)", again, x=N(2, steps, units), h=N(2, units), w=N(units, units))


def window(x):
    columns = list(x.unbind(1))
    for k in range(3):
        columns.append(torch.tanh(columns[k] + 2 * columns[-1]))
    return torch.stack(columns[3:] + columns[-3:], 1)


g.case("window(x)", window, x=N(2, 5))
