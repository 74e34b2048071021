"""Integers in products and powers, padding of pools in every form, tensors of 8 axes, tensors without elements."""
import numpy as np
import torch

from make import Group, I, N, U

# ---- integers ----------------------------------------------------------------------------------

g = Group("integers")
S = lambda limit, *shape: lambda rng: rng.integers(-limit, limit + 1, shape).astype(np.int32)
wrap = lambda x: x.to(torch.int32)
high = lambda x: x // 2 ** 32
g.case("a @ b", torch.matmul, a=S(1000, 4, 5), b=S(1000, 5, 3))
g.case("a @ b", lambda a, b: wrap(a @ b), a=S(2 ** 31 - 1, 4, 5), b=S(2 ** 31 - 1, 5, 3))
g.case("matmul(a, b)", torch.matmul, a=S(9, 2, 1, 4, 5), b=S(9, 3, 5, 2))
g.case("a @ b", torch.matmul, a=S(9, 700), b=S(9, 700))
g.case("a @ b", torch.matmul, a=S(9, 40, 300), b=S(9, 300, 33))
g.case("i64(a) @ b // 4294967296", lambda a, b: high(a @ b), a=S(2 ** 31 - 1, 4, 5), b=S(2 ** 20, 5, 3))
g.case("a @ [[1, 2], [3, 4]]", lambda a: a @ torch.tensor([[1, 2], [3, 4]]), a=S(99, 3, 2))
g.case("einsum(\"ij,jk->ik\", a, b)", torch.matmul, a=S(99, 4, 5), b=S(99, 5, 3))
g.case("einsum(\"ij,ik,il->jkl\", a, b, c)", lambda a, b, c: torch.einsum("ij,ik,il->jkl", a, b, c), a=S(99, 4, 2), b=S(99, 4, 3), c=S(9, 4, 2))
g.case("einsum(\"bij,bjk->bik\", i64(a), i64(b)) // 4294967296", lambda a, b: high(a @ b), a=S(2 ** 20, 2, 3, 4), b=S(2 ** 31 - 1, 2, 4, 3))
g.case("einsum(\"ij,ik->jk\", a, i64(b)) % 1000", lambda a, b: (a.T @ b) % 1000, a=S(999, 4, 2), b=S(999, 4, 3))
g.case("einsum(\"ii->i\", a)", lambda a: a.diagonal(), a=S(9, 4, 4))
power = lambda a, b: torch.tensor([[int(p) ** int(q) % 2 ** 32 for p, q in zip(r, s)] for r, s in zip(a, b)]).to(torch.int32)
g.case("a ^ b", power, a=S(9, 5, 4), b=I(30, 5, 4))
g.case("pow(a, b)", power, a=S(3, 5, 40), b=I(9, 5, 40))
g.case("a ^ b", torch.pow, a=[[-2, -1, 0, 1, 2]] * 5, b=[[3], [2], [1], [0], [5]])
g.case("a ^ b", lambda a, b: torch.pow(a, b), a=[-3, -2, -1, -1, 1, 1, 2, 3], b=[-1, -2, -1, -2, -1, -2, -1, -3])
g.case("i64(a) ^ b // 4294967296", lambda a, b: high(a ** b), a=S(9, 5, 4), b=lambda rng: 10 + 2 * rng.integers(0, 4, (5, 4)).astype(np.int32))
g.case("x * cast(a @ b, x.dtype)", lambda x, a, b: x * (a @ b), x=N(4, 3), a=S(99, 4, 5), b=S(99, 5, 3))
for k in range(6):
    g.case(f"a ^ {k}", lambda a, k=k: a ** k, a=S(20, 7))
for text, f in [("a == 1.0", lambda a: a == 1), ("a != 2.0", lambda a: a != 2), ("a < 3.0", lambda a: a < 3), ("0.0 <= a", lambda a: a >= 0),
                ("a == [1.0, 2.0, 3.0]", lambda a: a == torch.tensor([1, 2, 3]))]:
    g.case(text, f, a=S(3, 5, 3))

# ---- padding of pools --------------------------------------------------------------------------

g = Group("padding")


def windows(x, kernel, stride, pads, ceil, dilation):
    """For each place of the result: the elements of its window, and how many places of input and padding it has."""
    spatial = x.shape[2:]
    counts = []
    for n, k, s, (low, high), d in zip(spatial, kernel, stride, pads, dilation):
        room, reach = n + low + high, d * (k - 1) + 1
        count = (room - reach + (s - 1 if ceil else 0)) // s + 1
        if ceil and (count - 1) * s >= n + low:
            count -= 1
        counts.append(count)
    for place in np.ndindex(*counts):
        inside, padded = [], 1
        for at, n, k, s, (low, high), d in zip(place, spatial, kernel, stride, pads, dilation):
            taps = [at * s + t * d - low for t in range(k)]
            inside.append([t for t in taps if 0 <= t < n])
            padded *= sum(-low <= t < n + high for t in taps)
        yield x[np.ix_(range(x.shape[0]), range(x.shape[1]), *inside)].flatten(2), padded
    yield counts, None


def pool(x, kind, kernel, stride, pads, ceil, include=True, dilation=None):
    *parts, (counts, _) = windows(x, kernel, stride, pads, ceil, dilation or [1] * len(kernel))
    if kind == "max":
        values = [v.amax(-1) for v, _ in parts]
    elif kind == "avg":
        values = [v.sum(-1) / (padded if include else v.shape[-1]) for v, padded in parts]
    else:
        values = [(v ** 3).sum(-1) ** (1 / 3) for v, _ in parts]
    return torch.stack(values, -1).reshape(*x.shape[:2], *counts)


def same(sizes, kernel, stride, dilation):
    totals = [max(0, (-(-n // s) - 1) * s + d * (k - 1) + 1 - n) for n, k, s, d in zip(sizes, kernel, stride, dilation)]
    return [(t // 2, t - t // 2) for t in totals]


FORMS = {  # the text of a padding, and what it is for spatial axes of these sizes
    "1": lambda n, k, s, d: [(1, 1)] * len(n),
    "list": lambda n, k, s, d: [(i % 2, i % 2) for i in range(len(n))],
    "pairs": lambda n, k, s, d: [(i % 2, 1) for i in range(len(n))],
    '"same"': same,
    '"valid"': lambda n, k, s, d: [(0, 0)] * len(n),
}
for rank, sizes in [(1, [7]), (2, [7, 6]), (3, [4, 5, 3])]:
    for form, make in FORMS.items():
        for kernel, stride in [(3, 2), (2, 3)] if rank == 2 else [(3, 2)]:
            for ceil in (False, True) if rank == 2 and stride == 2 else (True,):
                k, s, d = [kernel] * rank, [stride] * rank, [1] * rank
                pads = make(sizes, k, s, d)
                text = {"list": str([p[0] for p in pads]), "pairs": str(pads)}.get(form, form)
                tail = f"{kernel}, stride = {stride}, padding = {text}, ceil_mode = {str(ceil).lower()}"
                g.case(f"max_pool{rank}d(x, {tail})", lambda x, a=(k, s, pads, ceil): pool(x, "max", *a), x=N(1, 2, *sizes))
                for include in (True, False):
                    g.case(f"avg_pool{rank}d(x, {tail}, count_include_pad = {str(include).lower()})",
                           lambda x, a=(k, s, pads, ceil, include): pool(x, "avg", *a), x=N(1, 2, *sizes))
                if rank == 2:
                    g.case(f"lp_pool(x, 3, {tail})", lambda x, a=(k, s, pads, ceil): pool(x, "lp", *a), x=U(0.1, 1, 1, 2, *sizes))
for pads in ("[(0, 1), (2, 0)]", '"same"', "[1, 0]", "2"):
    given = {"[(0, 1), (2, 0)]": [(0, 1), (2, 0)], '"same"': same([9, 8], [3, 3], [2, 2], [2, 2]), "[1, 0]": [(1, 1), (0, 0)], "2": [(2, 2)] * 2}[pads]
    g.case(f"max_pool2d(x, 3, stride = 2, padding = {pads}, dilation = 2, ceil_mode = true)",
           lambda x, p=given: pool(x, "max", [3, 3], [2, 2], p, True, dilation=[2, 2]), x=N(1, 2, 9, 8))
g.case("sum_pool(x, 3, 2, window_padding(x, 3, 2, \"same\", 1))", lambda x: 9 * pool(x, "avg", [3, 3], [2, 2], same([7, 6], [3, 3], [2, 2], [1, 1]), False),
       x=N(1, 2, 7, 6))
g.case("sum_pool(x, 3, 2, window_padding(x, 3, 2, [(0, 1)], 1))", lambda x: 3 * pool(x, "avg", [3], [2], [(0, 1)], False), x=N(1, 2, 7))

# ---- 8 axes ------------------------------------------------------------------------------------

g = Group("axes")
WIDE = (2, 1, 2, 2, 1, 1, 2, 3)
g.case("tile(x, [1, 2, 1, 1, 3, 1, 1, 2])", lambda x: x.repeat(1, 2, 1, 1, 3, 1, 1, 2), x=N(*WIDE))
g.case("tile(x, [2, 1, 3, 1, 2])", lambda x: x.repeat(2, 1, 3, 1, 2), x=N(2, 3, 1, 2, 2))
g.case("tile(x, [3, 2])", lambda x: x.repeat(3, 2), x=N(2, 5))
g.case("repeat(x, 3)", lambda x: x.repeat_interleave(3, -1), x=N(*WIDE))
g.case("repeat(x, 2, axis = 3)", lambda x: x.repeat_interleave(2, 3), x=N(*WIDE))
g.case("repeat(x, 2, axis = 0)", lambda x: x.repeat_interleave(2, 0), x=N(3, 4))
for axis in (-1, 2, 0):
    g.case(f"sort(x, axis = {axis})", lambda x, axis=axis: x.sort(axis)[0], x=N(*WIDE))
    g.case(f"argsort(x, axis = {axis})", lambda x, axis=axis: x.argsort(axis), x=N(*WIDE))
g.case("take_along_axis(x, i)", lambda x, i: x.gather(-1, i), x=N(*WIDE), i=I(3, *WIDE[:-1], 4))
g.case("sum(x, axis = [0, 7])", lambda x: x.sum((0, 7)), x=N(*WIDE))
g.case("x.T", lambda x: x.permute(*reversed(range(8))), x=N(*WIDE))
g.case("softmax(x, axis = 3)", lambda x: x.softmax(3), x=N(*WIDE))
g.case("einsum(\"abcdefgh,hj->abcdefgj\", x, z)", lambda x, z: x @ z, x=N(*WIDE), z=N(3, 2))
g.case("x @ z", lambda x, z: x @ z, x=N(*WIDE), z=N(2, 1, 2, 2, 1, 1, 3, 2))

# ---- no elements -------------------------------------------------------------------------------

NONE = "# x[2:] of x [2, 3] has no elements; so that its gradient is looked at, x joins each result.\n"
g = Group("empty", NONE)
none = lambda x: x[2:]


def both(text, f, **operands):
    """The shape of the result and its elements, joined with x, so that neither may be wrong."""
    def expected(x, *others):
        y = f(none(x), *others)
        return torch.cat([y.reshape(-1).to(x.dtype), x.reshape(-1), torch.tensor([float(n) for n in y.shape])])
    g.case(f"joined({text}, x)".replace("none_of(x)", "x[2:]"), expected, x=N(2, 3), **operands)


g.definitions += """def joined(y, x) {
  size = []
  for n in y.shape { size = size + [float(n)] }
  whole = concat(reshape(cast(y, x.dtype), [y.size]), reshape(x, [x.size]))
  return len(size) > 0 ? concat(whole, cast(stack(size), x.dtype)) : whole
}
"""
E = "none_of(x)"
for axis in ("", ", axis = 0", ", axis = 1", ", axis = 1, keep = true", ", axis = 0, keep = true"):
    a = {} if not axis else {"dim": int(axis.split("axis = ")[1][0]), "keepdim": "keep" in axis}
    both(f"sum({E}{axis})", lambda v, a=a: v.sum(**a))
    if a:
        both(f"prod({E}{axis})", lambda v, a=a: v.prod(**a))
    both(f"any({E} > 0{axis})", lambda v, a=a: (v > 0).any(**a))
    both(f"all({E} > 0{axis})", lambda v, a=a: (v > 0).all(**a))
both(f"prod({E})", lambda v: v.prod())
for name, f in [("max", lambda v: v.amax(1)), ("min", lambda v: v.amin(1)), ("argmax", lambda v: v.argmax(1)), ("argmin", lambda v: v.argmin(1)),
                ("mean", lambda v: v.mean(1)), ("std", lambda v: v.std(1)), ("norm", lambda v: v.norm(dim=1)), ("logsumexp", lambda v: v.logsumexp(1))]:
    both(f"{name}({E}, axis = 1)", f)
both(f"norm({E}, axis = 0)", lambda v: v.norm(dim=0))
for text, f in [("exp(E) * 2 + E", lambda v: v), ("where(E > 0, E, 1)", lambda v: v), ("E < 3 || E > 1", lambda v: v > 0), ("clip(E, 0, 1)", lambda v: v),
                ("i32(E)", lambda v: v), ("reshape(E, [3, 0, 2])", lambda v: v.reshape(3, 0, 2)), ("reshape(E, [-1, 3])", lambda v: v), ("flatten(E)", lambda v: v),
                ("E.T", lambda v: v.T), ("broadcast(E, [2, 0, 3])", lambda v: v.expand(2, 0, 3)), ("along([1.0, 2.0, 3.0], 1, E)", lambda v: v),
                ("E + [1.0, 2.0, 3.0]", lambda v: v), ("E + ones([1, 3])", lambda v: v),
                ("concat(E, x, axis = 0)", lambda v, x=None: None), ("concat(E, E)", lambda v: torch.cat([v, v], 1)), ("stack(E, E)", lambda v: torch.stack([v, v])),
                ("split(E, 3)[1]", lambda v: v[:, 1:2]), ("split(E, 2, axis = 0)[1]", lambda v: v), ("E[:, 1]", lambda v: v[:, 1]), ("E[:, ::-1]", lambda v: v),
                ("E[0:5]", lambda v: v), ("E[..., none]", lambda v: v[..., None]), ("E[:, 2:1]", lambda v: v[:, 2:1]), ("E[:, [0, 0, 2, 1]]", lambda v: v[:, [0, 0, 2, 1]]),
                ("pad(E, 1)", lambda v: torch.zeros(2, 5)), ("pad(E, [(0, 2), 0], value = 3)", lambda v: torch.full((2, 3), 3.0)), ("pad(E, [(0, 0), (1, 0)])", lambda v: v.new_zeros(0, 4)),
                ("flip(E, 0)", lambda v: v), ("roll(E, 1)", lambda v: v), ("roll(E, 1, axis = 0)", lambda v: v), ("tile(E, [2, 2])", lambda v: v.repeat(2, 2)),
                ("repeat(E, 2)", lambda v: v.repeat_interleave(2, 1)), ("repeat(E, 2, axis = 0)", lambda v: v), ("sort(E, axis = 0)", lambda v: v), ("sort(E)", lambda v: v),
                ("argsort(E)", lambda v: v), ("cumsum(E, axis = 0)", lambda v: v), ("cumsum(E)", lambda v: v), ("softmax(E)", lambda v: v), ("tril(E)", lambda v: v),
                ("E @ ones([3, 4])", lambda v: v.new_zeros(0, 4)), ("E.T @ E", lambda v: v.T @ v), ("ones([4, 0]) @ E", lambda v: torch.zeros(4, 3)),
                ("ones([2, 4, 0]) @ broadcast(E, [2, 0, 3])", lambda v: torch.zeros(2, 4, 3)),
                ("einsum(\"ij,ik->jk\", E, E)", lambda v: v.T @ v), ("einsum(\"ij->\", E)", lambda v: v.sum()), ("einsum(\"ij->j\", E)", lambda v: v.sum(0)),
                ("outer(E[:, 0], x[0])", lambda v: v), ("one_hot(arange(0), 4)", lambda v: v.new_zeros(0, 4)), ("arange(3, 1)", lambda v: v.new_zeros(0)),
                ("pick(E, i32(E[:, 0]))", lambda v: v[:, 0]), ("x[i32(E[:, 0])]", lambda v: v), ("x[:, i32(E[:, 0])]", lambda v: v.new_zeros(2, 0)),
                ("scatter_add(E, i32(E[:, 0]), E)", lambda v: v), ("take_along_axis(E, i32(E))", lambda v: v), ("take_along_axis(x, i32(E).T[:2])", lambda v: v.new_zeros(2, 0)),
                ("top_k(E, 2)[0]", lambda v: v[:, :2]), ("eye(0)", lambda v: v.new_zeros(0, 0)), ("zeros([0, 3])", lambda v: v), ("rand([0, 3])", lambda v: v),
                ("randn([2, 0])", lambda v: v.new_zeros(2, 0)), ("layer_norm(E, scale = false, shift = false)", lambda v: v), ("grad(sum(E * E), x)", lambda v: torch.zeros(2, 3)),
                ("scan s in E with h = 1.0 { h = h + sum(s) ; yield s }", lambda v: v), ("window_means(reshape(E, [0, 3, 1, 1]), 2, 1)", lambda v: v.reshape(0, 3, 1, 1)),
                ("max_pool(broadcast(E[..., none], [2, 0, 3, 4]), [2, 2])", lambda v: v.new_zeros(2, 0, 1, 2)),
                ("E[i32(E[:, 0])]", lambda v: v), ("E[i32(E[:, :2]), 1]", lambda v: v[:, :2]), ("sum(E[i32(E[:, 0])])", lambda v: v.sum()),
                ("sum(sort(E, axis = 0), axis = 0)", lambda v: v.sum(0)), ("sum(pick(E, i32(E[:, 0])))", lambda v: v.sum()),
                ("mse(E, E, reduce = false)", lambda v: v), ("is_nan(E)", lambda v: v), ("logaddexp(E, E)", lambda v: v)]:
    if text.startswith("concat(E, x"):
        g.case("concat(x[2:], x, axis = 0)", lambda x: x * 1, x=N(2, 3))
        continue
    both(text.replace("E", E), f)
for text, f in [("split(x, [0, 2], axis = 0)[1]", lambda x: x * 1), ("split(x, [2, 0], axis = 0)[0]", lambda x: x * 1), ("scatter_add(x, i32(x[2:, 0]), x[2:])", lambda x: x * 1),
                ("x + sum(x[2:])", lambda x: x * 1), ("x * prod(x[:, 3:], axis = 1, keep = true)", lambda x: x * 1), ("repeat(concat(x, repeat(x, 0)), 2)", lambda x: x.repeat_interleave(2, 1)),
                ("concat(tile(x, [0, 1]), x, axis = 0)", lambda x: x * 1), ("pad(x[:0], [(1, 1), 0], value = 2) * x", lambda x: 2 * x)]:
    g.case(text, f, x=N(2, 3))

# ---- a rate that is a schedule -----------------------------------------------------------------

g = Group("rates", "def zero_or(y, x) { return all(y == 0 || abs(y - x) < 1e-5 * abs(x)) }\n")
for name in ("dropout", "channel_dropout"):
    shape = (2, 40, 3)
    g.case(f"zero_or({name}(x, constant_rate(0.25)), x / 0.75)", lambda x: torch.tensor(True), x=U(0.1, 0.7, *shape))
    g.case(f"zero_or({name}(x, sum(0 * x) + 0.25), x / 0.75)", lambda x: torch.tensor(True), x=U(0.1, 0.7, *shape))
    g.case(f"any({name}(x, constant_rate(0.25)) == 0)", lambda x: torch.tensor(True), x=torch.ones(20, 40, 2).numpy())
    g.case(f"abs(mean({name}(x, linear_decay(0.25, floor = 0.25))) - 1) < 0.1", lambda x: torch.tensor(True), x=torch.ones(40, 50, 2).numpy())
    g.case(f"{name}(x, constant_rate(0))", lambda x: x * 1, x=N(2, 4, 3))
    g.case(f"{name}(x, constant_rate(-1))", lambda x: x * 1, x=N(2, 4, 3))
    g.case(f"max({name}(x, constant_rate(1)), axis = 2) < 0.001", lambda x: torch.ones(2, 4) > 0, x=-torch.ones(2, 4, 3).numpy())
