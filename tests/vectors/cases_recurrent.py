"""Recurrent layers."""
import torch

from make import Group, N

g = Group("recurrent", """def deep(x, units, layer = rnn) {
  for i in 0..2 { x = layer(x, units) }
  return x
}
""")
GATES = {"rnn": 1, "lstm": 4, "gru": 3}


def weights(kind, width, units, prefix="", bias=True):
    n = GATES[kind] * units
    params = {prefix + "w": N(width, n, scale=0.5), prefix + "u": N(units, n, scale=0.5)}
    if bias:
        params[prefix + "b"] = N(n, scale=0.5)
        if kind == "gru":
            params[prefix + "c"] = N(units, scale=0.5)
    return params


def theirs(kind, units, layer):
    """PyTorch's w_ih, w_hh, b_ih, b_hh; it has a second bias, here 0 but for the gru's new value."""
    w, u, *rest = layer
    if not rest:
        return [w.T, u.T]
    second = torch.zeros(w.shape[1])
    if kind == "gru":
        second = torch.cat([torch.zeros(2 * units), rest[1]])
    return [w.T, u.T, rest[0], second]


def run(kind, x, units, layers, h=None, c=None, bidirectional=False):
    """torch.nn.RNN, LSTM or GRU of these weights; ys and what remains."""
    directions = 2 if bidirectional else 1
    flat = [t for layer in layers for t in theirs(kind, units, layer)]
    bias = len(layers[0]) > 2
    count = len(layers) // directions
    zero = torch.zeros(count * directions, x.shape[0], units)
    h = zero if h is None else h[None]
    if kind == "lstm":
        return torch._VF.lstm(x, [h, zero if c is None else c[None]], flat, bias, count, 0.0, False, bidirectional, True)
    f = {"rnn": torch._VF.rnn_tanh, "gru": torch._VF.gru}[kind]
    return f(x, h, flat, bias, count, 0.0, False, bidirectional, True)


def counted(kind, x, units, layers, lengths, bidirectional=False):
    """Each example by itself, without the steps after its length; ys and what remains."""
    lengths = [min(n, x.shape[1]) for n in lengths]
    runs = [run(kind, x[i:i + 1, :n], units, layers, bidirectional=bidirectional) for i, n in enumerate(lengths)]
    ys = [torch.nn.functional.pad(r[0], (0, 0, 0, x.shape[1] - n)) for r, n in zip(runs, lengths)]
    return [torch.cat(ys)] + [torch.cat([r[k][-1] for r in runs]) for k in range(1, len(runs[0]))]


for kind in ("rnn", "lstm", "gru"):
    g.case(f"{kind}(x, 2, lengths = a)", lambda x, a, *p, k=kind: counted(k, x, 2, [p], a.tolist())[0], x=N(3, 4, 2), a=[2, 9, 1], params=weights(kind, 2, 2))
    g.case(f"{kind}(x, 3, lengths = a, final = true)[1]", lambda x, a, *p, k=kind: counted(k, x, 3, [p], a.tolist())[1], x=N(2, 3, 2), a=[3, 1], params=weights(kind, 2, 3))
    g.case(f"bidirectional(x, 2, layer = {kind}, lengths = a)",
           lambda x, a, *p, k=kind: counted(k, x, 2, [p[:len(p) // 2], p[len(p) // 2:]], a.tolist(), True)[0], x=N(3, 4, 2), a=[1, 3, 4],
           params=weights(kind, 2, 2, "forward.") | weights(kind, 2, 2, "backward."))
    g.case(f"{kind}(x, 3)", lambda x, *p, k=kind: run(k, x, 3, [p])[0], x=N(2, 4, 2), params=weights(kind, 2, 3))
    g.case(f"{kind}(x, 3, bias = false)", lambda x, *p, k=kind: run(k, x, 3, [p])[0], x=N(2, 3, 2), params=weights(kind, 2, 3, bias=False))
    g.case(f"{kind}(x, 2)", lambda x, *p, k=kind: run(k, x, 2, [p])[0], x=N(1, 1, 1), params=weights(kind, 1, 2))
    g.case(f"{kind}(x, 2, reverse = true)", lambda x, *p, k=kind: run(k, x.flip(1), 2, [p])[0].flip(1), x=N(2, 3, 2), params=weights(kind, 2, 2))
    g.case(f"{kind}(x, 2, h = z, final = true)[1]",
           lambda x, z, *p, k=kind: run(k, x, 2, [p], z)[1][0], x=N(2, 3, 2), z=N(2, 2), params=weights(kind, 2, 2))
    g.case(f"bidirectional(x, 2, layer = {kind})",
           lambda x, *p, k=kind: run(k, x, 2, [p[:len(p) // 2], p[len(p) // 2:]], bidirectional=True)[0], x=N(2, 3, 2),
           params=weights(kind, 2, 2, "forward.") | weights(kind, 2, 2, "backward."))
    g.case(f"deep(x, 2, {kind})", lambda x, *p, k=kind: run(k, x, 2, [p[:len(p) // 2], p[len(p) // 2:]])[0], x=N(2, 3, 2),
           params=weights(kind, 2, 2, kind + ".0.") | weights(kind, 2, 2, kind + ".1."))
g.case("lstm(x, 2, h = z, c = v, final = true)[2]", lambda x, z, v, *p: run("lstm", x, 2, [p], z, v)[2][0], x=N(2, 3, 2), z=N(2, 2), v=N(2, 2),
       params=weights("lstm", 2, 2))
g.case("lstm(x, 2, lengths = a, final = true)[2]", lambda x, a, *p: counted("lstm", x, 2, [p], a.tolist())[2], x=N(2, 3, 2), a=[1, 2], params=weights("lstm", 2, 2))
g.case("within_length(a, 1, x, z)", lambda x, z, a: torch.where(a[:, None] > 1, x, z), x=N(3, 2), z=N(3, 2), a=[0, 1, 2])
g.case("within_length(a, 0, x, 0)", lambda x, a: x * (a[:, None] > 0), x=N(2, 1), a=[0, 1])
g.case("rnn(x, 2, activation = relu)", lambda x, w, u, b: torch._VF.rnn_relu(x, torch.zeros(1, 2, 2), theirs("rnn", 2, (w, u, b)), True, 1, 0.0, False, False, True)[0],
       x=N(2, 3, 2), params=weights("rnn", 2, 2))


def paper_gru(x, w, u, b, c):
    """Cho et al. 2014: the reset before the product."""
    h, ys = torch.zeros(x.shape[0], 2), []
    for t in range(x.shape[1]):
        s = x[:, t] @ w + b
        r, z = torch.sigmoid(s[:, :2] + h @ u[:, :2]), torch.sigmoid(s[:, 2:4] + h @ u[:, 2:4])
        h = z * h + (1 - z) * torch.tanh(s[:, 4:] + (r * h) @ u[:, 4:] + c)
        ys.append(h)
    return torch.stack(ys, 1)


g.case("gru(x, 2, reset_after = false)", paper_gru, x=N(2, 3, 2), params=weights("gru", 2, 2))
def chainer_gru(x, w, u, b, c):
    """Chainer's StatefulGRU, h = (1 - z) h + z n, with the other sign in front of what makes z."""
    h, ys = torch.zeros(x.shape[0], 2), []
    for t in range(x.shape[1]):
        s = x[:, t] @ w + b
        r, z = torch.sigmoid(s[:, :2] + h @ u[:, :2]), torch.sigmoid(-(s[:, 2:4] + h @ u[:, 2:4]))
        h = (1 - z) * h + z * torch.tanh(s[:, 4:] + (r * h) @ u[:, 4:] + c)
        ys.append(h)
    return torch.stack(ys, 1)


g.case("rnn_cell(x, z)", lambda x, z, *p: run("rnn", x[:, None], 3, [p], z)[1][0], x=N(2, 2), z=N(2, 3), params=weights("rnn", 2, 3))
g.case("gru_cell(x, z)", lambda x, z, *p: run("gru", x[:, None], 3, [p], z)[1][0], x=N(2, 2), z=N(2, 3), params=weights("gru", 2, 3))
for i in (0, 1):
    g.case(f"lstm_cell(x, z, v)[{i}]", lambda x, z, v, *p, i=i: run("lstm", x[:, None], 3, [p], z, v)[i + 1][0], x=N(2, 2), z=N(2, 3), v=N(2, 3),
           params=weights("lstm", 2, 3))
g.case("gru(x, 2, reset_after = false)", chainer_gru, x=N(1, 2, 3), params=weights("gru", 3, 2))
