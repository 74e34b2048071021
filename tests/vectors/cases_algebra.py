"""Decompositions of matrices and systems of equations: algebra.net."""
import math

import mpmath
import torch

from make import Group, N, U

L = torch.linalg


def positive(x):
    return x @ x.mT + torch.eye(x.shape[-2])


def upright(v):
    """Each column with its greatest element positive."""
    most = v.gather(-2, v.abs().argmax(-2, keepdim=True))
    return torch.where(most < 0, -v, v)


def eigh(x):
    values, vectors = L.eigh((x + x.mT) / 2)
    return torch.cat([values[..., None, :], upright(vectors)], -2)


def slogdet(x):
    return torch.stack(tuple(L.slogdet(x)), -1)


def graded(x):
    """Logarithms of singular values over many powers of ten, in 60 digits."""
    mpmath.mp.dps = 60
    sizes = mpmath.svd_r(mpmath.matrix(x.detach().tolist()), compute_uv=False)
    return torch.tensor([float(mpmath.log(s)) for s in sizes])


g = Group("algebra", """def spd(x) { return x @ transposed(x) + eye(x.shape[-2], x.dtype) }
def spectrum(x) { values, vectors = eigh(x); return concat([values[..., none, :], vectors], axis = -2) }
def signed(x) { side, size = slogdet(x); return stack([side, size], axis = -1) }
def remade(x) {
  packed, order = factored(x)
  n = x.shape[-1]
  unit = tril(packed, k = -1) + (arange(x.shape[-2])[:, none] == arange(n))
  return take_along_axis(unit @ triu(packed[..., :n, :]), broadcast(argsort(order)[..., none], x.shape), axis = -2)
}
def remade_of_rows(x) {
  sizes, left, right = turned_rows(stop_gradient(x))
  return transposed(left) @ (sizes[..., none] * right)
}
""")
for shape in [(1, 1), (2, 3, 4), (66, 66)]:
    n = shape[-2]
    scale = 1 / n ** 0.5
    g.case("cholesky(spd(x))", lambda x: L.cholesky(positive(x)), x=N(*shape, scale=scale))
for shape in [(1, 1), (2, 1, 3, 3)]:
    n = shape[-1]
    near = dict(scale=0.5 / n ** 0.5)
    g.case("transposed(x)", lambda x: x.mT, x=N(*shape[:-1], n + 1))
    g.case("symmetric(x)", lambda x: (x + x.mT) / 2, x=N(*shape))
    g.case("diagonal(x)", lambda x: x.diagonal(0, -2, -1), x=N(*shape))
    one = f"eye({n}, x.dtype)"
    low = lambda x: x.tril() + torch.eye(x.shape[-1])
    up = lambda x: x.triu() + torch.eye(x.shape[-1])
    g.case(f"solve_triangular(x + {one}, z)", lambda x, z: L.solve_triangular(low(x), z, upper=False), x=N(*shape, **near), z=N(*shape[:-1], 3))
    g.case(f"solve_triangular(x + {one}, z, upper = true)", lambda x, z: L.solve_triangular(up(x), z, upper=True), x=N(*shape, **near), z=N(*shape[:-1], 2))
    g.case(f"solve(x + 2 * {one}, z)", lambda x, z: L.solve(x + 2 * torch.eye(x.shape[-1]), z), x=N(*shape, **near), z=N(*shape[:-1], 3))
    g.case(f"inv(x + 2 * {one})", lambda x: L.inv(x + 2 * torch.eye(x.shape[-1])), x=N(*shape, **near))
    g.case("signed(x)", slogdet, x=N(*shape))
    g.case("log_size(x, 0 * x[..., 0, 0])", lambda x: slogdet(x)[..., 1] - slogdet(x)[..., 1].detach(), x=N(*shape))
    g.case("spectrum(x)", eigh, x=N(*shape))
g.case("spectrum(x)", eigh, x=N(8, 8))
# What these are made of, without gradients of its own.
g.case("lower_factor(spd(x))", lambda x: L.cholesky(positive(x)), x=N(2, 2))
for shape in [(2, 2), (2, 3, 3)]:
    near, one = dict(scale=0.3), f"eye({shape[-1]}, x.dtype)"
    g.case(f"lower_solved(x + {one}, z)", lambda x, z: L.solve_triangular(low(x), z, upper=False), x=N(*shape, **near), z=N(*shape[:-1], 2))
    g.case(f"lower_divided(x + {one}, z)", lambda x, z: L.solve_triangular(low(x), z, upper=False), x=N(*shape, **near), z=N(*shape[:-1], 2))
    g.case(f"upper_solved(x + {one}, z)", lambda x, z: L.solve_triangular(up(x), z, upper=True), x=N(*shape, **near), z=N(*shape[:-1], 2))
    g.case(f"upper_divided(x + {one}, z)", lambda x, z: L.solve_triangular(up(x), z, upper=True), x=N(*shape, **near), z=N(*shape[:-1], 2))
    g.case(f"solved(x + 2 * {one}, z)", lambda x, z: L.solve(x + 2 * torch.eye(x.shape[-1]), z), x=N(*shape, **near), z=N(*shape[:-1], 2))
    g.case(f"eliminated(x + 2 * {one}, z)", lambda x, z: L.solve(x + 2 * torch.eye(x.shape[-1]), z), x=N(*shape, **near), z=N(*shape[:-1], 2))
    g.case("rotated(symmetric(x))[0]", lambda x: L.eigvalsh((x + x.mT) / 2), x=N(*shape))
# The other shapes of the right side; pivots are needed; what lies beyond the triangle is not read.
g.case("solve(x, z)", L.solve, x=[[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [4.0, -3.0, 8.0]], z=N(3))
g.case("solve(x, z)", L.solve, x=N(3, 3), z=N(2, 3, 1))
g.case("solve(x, z)", L.solve, x=N(66, 66), z=N(66, 1))
g.case("solve(x, z)", lambda x, z: L.solve(x, z[:, None])[..., 0], x=N(2, 2, 2), z=N(2))
g.case("solve_triangular(x, z)", lambda x, z: L.solve_triangular(x.tril(), z[:, None], upper=False)[:, 0], x=[[2.0, float("nan")], [1.0, 4.0]], z=N(2))
both = lambda x, z: torch.cat([x.expand(3, 2, 2), z.expand(3, 2, 1)], -1)
g.case("concat(alike(x, z)[0], alike(x, z)[1])", both, x=N(3, 2, 2), z=N(2, 1))
g.case("concat(alike(x, z)[0], alike(x, z)[1])", both, x=N(2, 2), z=N(3, 2, 1))
for shape in [(4, 2), (2, 3, 3)]:
    g.case("remade(x)", lambda x: x.clone(), x=N(*shape))
# Rows 0 and 1, 2 and 3 of four; rows 1 and 2 of three.
g.case("turned_pairs(x, z, u, 0)", lambda x, z, u: torch.stack([u[0] * x[0] + z[0] * x[1], z[0] * x[0] - u[0] * x[1], u[1] * x[2] + z[1] * x[3],
                                                                z[1] * x[2] - u[1] * x[3]]), x=N(4, 3), z=N(2), u=N(2))
g.case("turned_pairs(x, z, u, 1)", lambda x, z, u: torch.stack([x[0], u[0] * x[1] + z[0] * x[2], z[0] * x[1] - u[0] * x[2]]), x=N(3, 2), z=N(1), u=N(1))
g.case("x[:halved(70)] + x[:halved(128)] + x[:halved(129) // 2]", lambda x: 3 * x, x=N(64))
g.case("x[:halved(65)]", lambda x: 1 * x, x=N(64, 2))
# Equal eigenvalues: those that differ have their gradients.
g.case("eigh(x * eye(3) + 2 * eye(3))[0]", lambda x: (x.diagonal() + 2).sort()[0], x=[[1.0, 3.0, 2.0], [0.0, 5.0, 1.0], [0.0, 0.0, -3.0]])
g.case("cholesky(x)", lambda x: L.cholesky((x + x.mT) / 2), x=[[4.0, 0.5], [1.5, 9.0]])
# Each by itself, of two shapes.
g.case("lower_factor(spd(x))", lambda x: L.cholesky(positive(x)), x=N(2, 2, 3))
for shape in [(2, 2), (2, 3, 3)]:
    g.case("slogdet(x)[1]", lambda x: L.slogdet(x)[1], x=N(*shape))
    g.case("eigh(x)[0]", lambda x: L.eigvalsh((x + x.mT) / 2), x=N(*shape))
    g.case("factored(x)[0]", lambda x: L.lu_factor(x)[0], x=N(*shape))
# Singular: a pivot of 0 before the last, and the last.
g.case("signed(stop_gradient(x)) + 0 * sum(x)", lambda x: torch.tensor([[0.0, -math.inf]] * 5),
       x=[[[0.0] * 3] * 3, [[1.0] * 3] * 3, [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 2.0]], [[0.0, 1.0, 2.0], [0.0, 3.0, 4.0], [0.0, 5.0, 7.0]],
          [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]]])
# Singular values: wide, tall, of one row or column, batches, more than one power of two of rows.
for shape in [(1, 1), (1, 4), (3, 1), (2, 2), (2, 5), (4, 3), (2, 1, 3, 3), (9, 8), (20, 24)]:
    g.case("singular_values(x)", L.svdvals, x=N(*shape))
for shape in [(2, 3, 4), (3, 3)]:
    g.case("remade_of_rows(x) + 0 * sum(x)", lambda x: x.detach().clone(), x=N(*shape))
# Small ones to all digits: rows that differ by powers of ten, of which the eigenvalues of x @ x.T know nothing.
g.case("log(singular_values(stop_gradient(x))) + 0 * sum(x)", graded, x=[[1.0, 2.0, -1.0], [2.0 ** -24, -(2.0 ** -23), 2.0 ** -25], [2.0 ** -41, 2.0 ** -40, 2.0 ** -42]])
g.case("log(singular_values(stop_gradient(x))) + 0 * sum(x)", graded, x=[[1.0, 2.0 ** -20, 0.0], [1.0, 2.0 ** -21, 2.0 ** -40], [1.0, -(2.0 ** -20), 2.0 ** -39], [0.5, 2.0 ** -22, 2.0 ** -38]])
g.case("singular_values(stop_gradient(x)) + 0 * sum(x)", lambda x: torch.tensor([5.0, 0.0]), x=[[0.0, 0.0], [3.0, 4.0]])
g.case("singular_values(stop_gradient(x)) + 0 * sum(x)", lambda x: torch.zeros(2, 2), x=[[[0.0, 0.0], [0.0, 0.0]]] * 2)
for shape in [(2, 3), (2, 3, 3)]:
    g.case("turned_rows(stop_gradient(x))[0] + 0 * sum(x)", lambda x: L.svdvals(x).detach(), x=N(*shape))
