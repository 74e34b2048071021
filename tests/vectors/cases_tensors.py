"""Movement, indexing, products and the compositions of tensors.net."""
import math

import numpy as np
import torch
import torch.nn.functional as F

from make import D, Group, I, N, U

NAN, INF = math.nan, math.inf


def taken_inside(x, index):
    near = index.clamp(0, x.shape[-1] - 1)
    return torch.where(near == index, x.gather(-1, near), x.detach().gather(-1, near))


g = Group("movement")
g.case("reshape(x, [2, 6])", lambda x: x.reshape(2, 6), x=N(3, 4))
g.case("reshape(x, [-1, 1, 3])", lambda x: x.reshape(-1, 1, 3), x=N(3, 4))
g.case("reshape(x, [])", lambda x: x.reshape(()), x=N(1, 1))
g.case("flatten(x)", lambda x: x.flatten(1), x=N(2, 3, 4))
g.case("flatten(x, start = -2)", lambda x: x.flatten(-2), x=N(2, 3, 4))
g.case("flatten(x, start = 0)", lambda x: x.flatten(), x=N(2, 1, 4))
g.case("transpose(x)", lambda x: x.permute(2, 1, 0), x=N(2, 3, 4))
g.case("transpose(x, [1, -1, 0])", lambda x: x.permute(1, 2, 0), x=N(2, 3, 4))
g.case("permute(x, [0, 2, 1])", lambda x: x.permute(0, 2, 1), x=N(2, 1, 4))
g.case("x.T @ x", lambda x: x.T @ x, x=N(3, 4))
g.case("move_axis(x, 0, -1)", lambda x: x.movedim(0, -1), x=N(2, 3, 4))
g.case("move_axis(x, -1, 1)", lambda x: x.movedim(-1, 1), x=N(2, 3, 4, 5))
g.case("broadcast(x, [2, 3, 4])", lambda x: x.expand(2, 3, 4), x=N(3, 1))
g.case("along(x, 1, z) * z", lambda x, z: x[:, None] * z, x=N(3), z=N(2, 3, 4))
g.case("along(x, -1, z) + z", lambda x, z: x + z, x=N(4), z=N(2, 4))
g.case("concat(x, z)", lambda x, z: torch.cat([x, z], -1), x=N(2, 3), z=N(2, 1))
g.case("concat([x, z, x], axis = -2)", lambda x, z: torch.cat([x, z, x], 0), x=N(2, 3), z=N(4, 3))
g.case("stack(x, z)", lambda x, z: torch.stack([x, z]), x=N(2, 3), z=N(2, 3))
g.case("stack([x, z, x], axis = -1)", lambda x, z: torch.stack([x, z, x], -1), x=N(2, 3), z=N(2, 3))
g.case("stack(x, axis = 1)", lambda x: x[:, None], x=N(3))
g.case("split(x, 3)[1]", lambda x: x[:, 2:4], x=N(2, 6))
g.case("split(x, [1, 4, 1], axis = 0)[1]", lambda x: x[1:5], x=N(6, 2))
g.case("split(x, 2, axis = -2)[0]", lambda x: x[:, :2], x=N(2, 4, 3))
g.case("pad(x, 1)", lambda x: F.pad(x, (1, 1, 1, 1)), x=N(2, 3))
g.case("pad(x, [0, (2, 0)], value = -1.5)", lambda x: F.pad(x, (2, 0), value=-1.5), x=N(2, 3))
for mode, theirs in [("reflect", "reflect"), ("edge", "replicate"), ("wrap", "circular")]:
    g.case(f"pad(x, [0, 0, (2, 1)], mode = \"{mode}\")", lambda x, m=theirs: F.pad(x, (2, 1), mode=m), x=N(2, 2, 4))
    g.case(f"pad(x, [0, 0, 2, (0, 3)], mode = \"{mode}\")",
           lambda x, m=theirs: F.pad(x, (0, 3, 2, 2), mode=m), x=N(1, 2, 3, 4))
g.case("pad(x, [0, 0, (3, 2)], mode = \"reflect\")", lambda x: F.pad(x, (3, 2), mode="reflect"), x=N(1, 1, 4))
g.case("pad(x, [0, 0, (4, 4)], mode = \"wrap\")", lambda x: F.pad(x, (4, 4), mode="circular"), x=N(1, 1, 4))
g.case("pad(x, [0, 0, (3, 4)], mode = \"edge\")", lambda x: F.pad(x, (3, 4), mode="replicate"), x=N(1, 2, 1))
g.case("flip(x, -1)", lambda x: x.flip(-1), x=N(2, 3))
g.case("flip(x, [0, 2])", lambda x: x.flip(0, 2), x=N(2, 3, 4))
for shift, axis in [(1, 0), (-2, -1), (7, 1), (0, 0)]:
    g.case(f"roll(x, {shift}, axis = {axis})", lambda x, s=shift, a=axis: x.roll(s, a), x=N(3, 4))
g.case("tile(x, [2, 3])", lambda x: x.tile(2, 3), x=N(2, 3))
g.case("tile(x, [1, 2, 1])", lambda x: x.tile(1, 2, 1), x=N(2, 1, 3))
g.case("repeat(x, 3)", lambda x: x.repeat_interleave(3, -1), x=N(2, 3))
g.case("repeat(x, 2, axis = 0)", lambda x: x.repeat_interleave(2, 0), x=N(2, 3))
for text in ["x[1]", "x[-1, 2]", "x[:, 1:3]", "x[:, ::2]", "x[:, 3:0:-2]", "x[::-1]", "x[..., -3:]", "x[1:2, none, ::3]",
             "x[:, [3, 0, 0]]", "x[[-1, 0]]"]:
    theirs = text.replace("none", "None")
    if ":-" in text.replace("..., -3:", "") or "::-1" in text:
        take = {"x[:, 3:0:-2]": lambda x: x[:, [3, 1]], "x[::-1]": lambda x: x.flip(0)}[text]
    else:
        take = lambda x, t=theirs: eval(t)
    g.case(text, take, x=N(3, 5))
g.case("x[a]", lambda x, a: x[a], x=N(4, 3), a=I(4, 2, 3))
g.case("x[:, a]", lambda x, a: x[:, a], x=N(2, 4, 3), a=I(4, 5))
g.case("x[a, a]", lambda x, a: x[a, a], x=N(4, 5, 3), a=I(4, 2, 3))
g.case("x[arange(3), a - 1]", lambda x, a: x[torch.arange(3), a - 1], x=N(3, 5, 2), a=[4, 1, 5])
g.case("x[arange(3)[:, none], a]", lambda x, a: x[torch.arange(3)[:, None], a], x=N(3, 5, 2), a=I(5, 3, 4))
g.case("x[:, [0, -1, 1], a, 1:]", lambda x, a: x[:, [0, -1, 1], a, 1:], x=N(2, 3, 4, 3), a=I(4, 3))
g.case("x[..., a, a, [[1], [0]]]", lambda x, a: x[..., a, a, [[1], [0]]], x=N(2, 3, 4, 2), a=I(3, 4))
g.case("x[a, 1, a]", lambda x, a: x[a, 1, a], x=N(3, 2, 3), a=I(3, 4))
g.case("pick(x, a)", lambda x, a: x.gather(-1, a[..., None])[..., 0], x=N(2, 3, 4), a=I(4, 2, 3))
g.case("pick(x, a, axis = 0)", lambda x, a: x.gather(0, a[None])[0], x=N(4, 3), a=I(4, 3))
g.case("take_along_axis(x, a)", lambda x, a: x.gather(-1, a), x=N(2, 3, 4), a=I(4, 2, 3, 5))
g.case("take_along_axis(x, a)", lambda x, a: x.gather(-1, a), x=N(2, 3, 12), a=I(12, 2, 3, 7))
g.case("take_along_axis(x, a)", lambda x, a: x.gather(-1, a), x=N(30), a=I(30, 50))
g.case("take_along_axis(x, a, axis = 1)", lambda x, a: x.gather(1, a), x=N(2, 10, 3), a=I(10, 2, 21, 3))
g.case("taken(x, a)", lambda x, a: x.gather(-1, a), x=N(3, 9), a=I(9, 3, 5))
g.case("taken(x, a)", lambda x, a: x.gather(-1, a), x=N(4), a=I(4, 6))
g.case("taken_from_many(x, a)", lambda x, a: x.gather(-1, a), x=N(3, 9), a=I(9, 3, 5))
g.case("taken_from_many(x, a)", lambda x, a: x.gather(-1, a), x=N(2, 2, 3), a=I(3, 2, 2, 4))
# A place outside: the nearest element is read, and gets nothing.
g.case("taken_from_many(x, a - 2)", lambda x, a: taken_inside(x, a - 2), x=N(3, 5), a=I(9, 3, 7))
g.case("taken(x, a - 2)", lambda x, a: taken_inside(x, a - 2), x=N(3, 5), a=I(9, 3, 7))
g.case("take_along_axis(x, a, axis = 0)", lambda x, a: x.gather(0, a), x=N(4, 3), a=I(4, 2, 3))
g.case("take_along_axis(x, a, axis = 1)", lambda x, a: x.gather(1, a), x=N(2, 4, 1), a=I(4, 2, 1, 1))
g.case("scatter_add(x, a, z)", lambda x, a, z: x.index_add(0, a, z), x=N(4, 3), a=I(4, 6), z=N(6, 3))
g.case("scatter_add(x, a, z)", lambda x, a, z: x.index_put((a,), z, accumulate=True), x=N(5), a=I(5, 2, 4), z=N(2, 4))
g.case("scatter_add(x, a, z)", lambda x, a, z: x.index_add(0, a, z), x=I(9, 4), a=I(4, 6), z=I(9, 6))
g.case("one_hot(a, 4) * x", lambda a, x: F.one_hot(a, 4) * x, a=I(4, 2, 3), x=N(4))
g.case("arange(2, 7) * a", lambda a: torch.arange(2, 7) * a, a=I(9, 5))
g.case("arange(3, type = f32) * x", lambda x: torch.arange(3) * x, x=N(3))
g.case("zeros([2, 3]) + ones([3]) + full([2, 1], 2.5) * x", lambda x: 1 + 2.5 * x.expand(2, 3), x=N(3))

# ---- products -----------------------------------------------------------------------------------

g = Group("products")
for a, b in [((3, 4), (4, 2)), ((4,), (4, 2)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4, 2)),
             ((2, 3, 4), (2, 4, 5)), ((5, 1, 3, 4), (2, 4, 3)), ((3, 1), (1, 4)), ((1, 4), (4, 1))]:
    g.case("x @ z", torch.matmul, x=N(*a), z=N(*b))
g.case("matmul(x, z)", torch.matmul, x=N(2, 3), z=N(3, 5))
for formula, shapes in [("ij,jk->ik", ((3, 4), (4, 2))), ("ij,kj->ki", ((3, 4), (2, 4))), ("bij,bjk->bik", ((2, 3, 4), (2, 4, 2))),
                        ("bqd,bkd->bqk", ((2, 3, 4), (2, 5, 4))), ("i,j->ij", ((3,), (4,))), ("ij,ij->", ((3, 4), (3, 4))),
                        ("ij->ji", ((3, 4),)), ("ijk->k", ((2, 3, 4),)), ("ij->", ((3, 4),)), ("abc,cd,de->abe", ((2, 3, 4), (4, 3), (3, 2))),
                        ("np,kpq,nq->nk", ((3, 4), (2, 4, 5), (3, 5))), ("abij,abjk->bik", ((2, 2, 3, 4), (2, 2, 4, 3))),
                        ("ab,c->cab", ((2, 3), (4,))), ("nhwc,kc->nkhw", ((2, 3, 2, 4), (3, 4)))]:
    names = ["x", "z", "u"][:len(shapes)]
    g.case(f"einsum(\"{formula}\", {', '.join(names)})", lambda *t, f=formula: torch.einsum(f, *t),
           **{name: N(*shape) for name, shape in zip(names, shapes)})
g.case("outer(x, z)", torch.outer, x=N(3), z=N(4))
g.case("outer(x, z)", lambda x, z: x[..., None] * z[..., None, :], x=N(2, 3), z=N(2, 4))
for formula, shapes in [("ii->i", ((3, 3),)), ("ii->", ((4, 4),)), ("iji->j", ((3, 2, 3),)), ("iii->i", ((2, 2, 2),)), ("aab,ba->b", ((2, 2, 3), (3, 2))),
                        ("...ij,...jk->...ik", ((2, 5, 3, 4), (5, 4, 2))), ("...ij,...jk->...ik", ((3, 1, 2, 4), (5, 4, 1))), ("...i,i->...", ((2, 3, 4), (4,))),
                        ("i...->...i", ((2, 3, 4),)), ("...ii->...i", ((2, 3, 3),)), ("...,...->...", ((3, 1), (1, 4))), ("a...b,b->a", ((2, 3, 4), (4,))),
                        ("...a,...b->ab", ((1, 3, 2), (2, 1, 4))), ("ij,jk,kl,lm->im", ((2, 3), (3, 1), (1, 4), (4, 2))),
                        ("a,ab,bc,cd,de,e->", ((2,), (2, 3), (3, 2), (2, 4), (4, 3), (3,)))]:
    names = ["x", "z", "u", "v", "w", "q"][:len(shapes)]
    g.case(f"einsum(\"{formula}\", {', '.join(names)})", lambda *t, f=formula: torch.einsum(f, *t),
           **{name: N(*shape) for name, shape in zip(names, shapes)})
g.case("matmul(x, z)", torch.matmul, x=N(2, 1, 3), z=N(3, 1))

# ---- tensors.net --------------------------------------------------------------------------------

g = Group("tensors")
for name, f in [("tril", torch.tril), ("triu", torch.triu)]:
    for k in (0, 1, -2):
        g.case(f"{name}(x, k = {k})", lambda x, f=f, k=k: f(x, k), x=N(2, 3, 4))
    g.case(f"{name}(x)", f, x=N(4, 4))
g.case("eye(3) @ x", lambda x: x, x=N(3, 2))
g.case("diag(x)", torch.diag, x=N(3))
g.case("diag(x)", torch.diag, x=N(3, 3))
g.case("diag(x)", torch.diag, x=N(1))
g.case("cumsum(x)", lambda x: x.cumsum(-1), x=N(2, 5))
g.case("cumsum(x, axis = 0)", lambda x: x.cumsum(0), x=N(4, 3))
g.case("cumsum(x, axis = -2)", lambda x: x.cumsum(-2), x=N(2, 3, 2))
g.case("cumsum(x)", lambda x: x.cumsum(-1), x=N(3, 1))
for k in (1, 2, 5):
    g.case(f"top_k(x, {k})[0]", lambda x, k=k: x.topk(k).values, x=D(3, 5))
    g.case(f"top_k(x, {k})[1]", lambda x, k=k: x.topk(k).indices, x=D(3, 5))
g.case("top_k(x, 3)[1]", lambda x: torch.tensor([1, 3, 0]), x=[2.0, 5.0, 1.0, 5.0, 2.0])  # the first of equals
for axis in (-1, 0, 1):
    for down in (False, True):
        more = f", axis = {axis}, descending = {str(down).lower()}"
        g.case(f"sort(x{more})", lambda x, a=axis, d=down: x.sort(a, d).values, x=D(2, 5, 3))
        g.case(f"argsort(x{more})", lambda x, a=axis, d=down: x.sort(a, d).indices, x=D(2, 5, 3))
TIED = [3.0, 1.0, NAN, 3.0, -INF, 1.0, INF, NAN]
for down in (False, True):
    g.case(f"argsort(x, descending = {str(down).lower()})",
           lambda x, d=down: x.sort(stable=True, descending=d).indices, x=TIED)
g.case("sort(a)", lambda a: a.sort().values, a=I(5, 2, 7))
for down in (False, True):  # rows too long to be sorted by insertion
    more = f"descending = {str(down).lower()}"
    g.case(f"sort(x, {more})", lambda x, d=down: x.sort(-1, d).values, x=D(2, 150))
    g.case(f"argsort(a, {more})", lambda a, d=down: a.sort(stable=True, descending=d).indices, a=I(9, 2, 130))
    g.case(f"argsort(x, {more})", lambda x, d=down: x.sort(stable=True, descending=d).indices, x=13 * TIED)
for shape in ((3, 6), (5,)):
    g.case("ordered(x, argsort(x))", lambda x: x.sort().values, x=D(*shape))
for part in (0, 1):  # sorted, for so many
    g.case(f"top_k(x, 7)[{part}]", lambda x, p=part: x.topk(7)[p], x=D(2, 60))
g.case("top_k(x, 6)[1]", lambda x: torch.tensor([2, 7, 6, 0, 3, 1]), x=TIED)
g.case("sort(x)", lambda x: x.sort().values, x=N(3, 1))
g.case("logaddexp(x, z)", torch.logaddexp, x=N(2, 3, scale=5), z=N(3, scale=5))
g.case("logaddexp(x, z)", torch.logaddexp, x=[1000.0, -1000.0], z=[1001.0, 0.0])
g.case("is_nan(x)", torch.isnan, x=[1.0, NAN, INF, -INF])
g.case("is_finite(x)", torch.isfinite, x=[1.0, NAN, INF, -INF])
g.case("erfinv(x)", torch.erfinv, x=U(-0.95, 0.95, 3, 4))
g.case("cosine_similarity(x, z)", lambda x, z: F.cosine_similarity(x, z, -1), x=N(3, 5), z=N(3, 5))
g.case("cosine_similarity(x, z, axis = 1)", lambda x, z: F.cosine_similarity(x, z, 1), x=N(2, 3, 4), z=N(2, 3, 4))
IMAGE_MEAN, IMAGE_STD = torch.tensor([0.5, 0.25]), torch.tensor([0.5, 2.0])
g.case("normalize(x, [0.5, 0.25], [0.5, 2.0])",
       lambda x: (x - IMAGE_MEAN[:, None, None]) / IMAGE_STD[:, None, None], x=U(0, 1, 2, 2, 3, 3))
