"""Gradients of samplers in what tells the distribution: samplers.net. By mpmath, in 50 digits: PyTorch's
_standard_gamma_grad is an approximation to three or four."""
import mpmath
import torch

from make import Group

mpmath.mp.dps = 50


def slope(a, log_z):
    """-(dF / da) / (z dF / dz), by central differences of F or of 1 - F."""
    a, z = mpmath.mpf(a), mpmath.exp(mpmath.mpf(log_z))
    if z > a:
        below = lambda b: -mpmath.gammainc(b, z, mpmath.inf, regularized=True)
    else:
        below = lambda b: mpmath.gammainc(b, 0, z, regularized=True)
    h = a * mpmath.mpf(10) ** -15
    d = (below(a + h) - below(a - h)) / (2 * h)
    return float(-d / mpmath.exp(a * mpmath.log(z) - z - mpmath.loggamma(a)))


def slopes(a, log_z):
    pairs = zip(a.flatten().tolist(), log_z.flatten().tolist())
    return torch.tensor([slope(*pair) for pair in pairs]).reshape(a.shape)


g = Group("samplers")
text = "log_gamma_slope(stop_gradient(x), stop_gradient(z)) + 0 * sum(x + z)"
# Of f32 exactly, so that f32 and f64 have the same operands: far below, in the middle and far above, of all shapes.
g.case(text, slopes, x=[[0.0078125, 0.0078125, 0.125, 0.125], [0.5, 0.5, 0.90625, 0.90625], [1.0, 1.0, 1.0, 1.5]],
       z=[[-80.0, -0.5, -12.0, -0.25], [-3.0, 1.25, -0.625, 0.5], [-7.0, -0.375, 2.0, 0.375]])
g.case(text, slopes, x=[3.0, 3.0, 10.0, 10.0, 100.0, 100.0, 1000.0, 4096.0], z=[-1.0, 2.5, 2.25, 2.5, 4.375, 4.75, 6.90625, 8.3125])
g.case(text, slopes, x=[[2.5]], z=[[0.75]])
g.case("cast(digamma(stop_gradient(f64(x))), f32) + 0 * sum(x)", lambda x: torch.special.digamma(x.detach()), x=[[0.0078125, 0.5, 1.0], [1.4375, 30.0, 5000.0]])
g.case("cast(digamma(stop_gradient(f64(x))), f32) + 0 * sum(x)", lambda x: torch.special.digamma(x.detach()), x=[2.0])
