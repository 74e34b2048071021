"""Fourier transforms (fourier.net), and attention to a band (layers.net)."""
import torch

from make import Group, N

F = torch.fft


def parts(z, axis=-1):
    return torch.cat([z.real, z.imag], axis)


def irfft(x, z, n):
    """What is imaginary of the first and last counts as 0, also to the gradient."""
    return F.irfft(torch.complex(x, z), n)


g = Group("fourier", """def both(z) { a, b = z; return concat(a, b) }
def roots(k, n) { c, s = unit_roots(k, n, f32); return c + 2 * s }
""")
g.case("both(fft(x))", lambda x: parts(F.fft(x)), x=N(3, 1))
g.case("both(fft(x))", lambda x: parts(F.fft(x)), x=N(2, 12))
g.case("both(fft(x, z))", lambda x, z: parts(F.fft(torch.complex(x, z))), x=N(2, 2, 34), z=N(2, 2, 34))
g.case("both(fft(x, z))", lambda x, z: parts(F.fft(torch.complex(x, z))), x=N(67), z=N(67))
g.case("fft(x, axis = 0)[1]", lambda x: F.fft(x, dim=0).imag, x=N(6, 2))
g.case("both(ifft(x))", lambda x: parts(F.ifft(x)), x=N(17))
g.case("both(ifft(x, z))", lambda x, z: parts(F.ifft(torch.complex(x, z))), x=N(3, 134), z=N(3, 134))
g.case("ifft(x, z, axis = 1)[0]", lambda x, z: F.ifft(torch.complex(x, z), dim=1).real, x=N(2, 4, 3), z=N(2, 4, 3))
g.case("both(rfft(x))", lambda x: parts(F.rfft(x)), x=N(2, 9))
g.case("both(rfft(x))", lambda x: parts(F.rfft(x)), x=N(288))
g.case("rfft(x, axis = 0)[0]", lambda x: F.rfft(x, dim=0).real, x=N(1, 5))
g.case("irfft(x, z)", lambda x, z: irfft(x, z, 6), x=N(2, 4), z=N(2, 4))
g.case("irfft(x, z, 7)", lambda x, z: irfft(x, z, 7), x=N(4), z=N(4))
g.case("irfft(x, 0 * x, 1)", lambda x: irfft(x, 0 * x, 1), x=N(2, 1))
g.case("both(transformed(x, none, 0, 1, 2))", lambda x: parts(F.ifft(x, dim=0)) * 2, x=N(4, 2))
g.case("both(transformed(x, z, -1, -1, 3))", lambda x, z: parts(F.fft(torch.complex(x, z))) / 3, x=N(3), z=N(3))
for n in (128, 71, 1058):  # by factors: balanced, a large prime, 23 twice
    g.case("both(fft(x, z))", lambda x, z: parts(F.fft(torch.complex(x, z))), x=N(2, n), z=N(2, n))
g.case("both(rfft(x))", lambda x: parts(F.rfft(x)), x=N(4100))  # more than 4096
for n in (66, 130, 142, 169, 201):
    g.case("both(rfft(x))", lambda x: parts(F.rfft(x)), x=N(3, n))
    g.case(f"irfft(x, z, {n})", lambda x, z, n=n: irfft(x, z, n), x=N(3, n // 2 + 1), z=N(3, n // 2 + 1))
g.case("fft(rfft(x, axis = 0)[0], rfft(x, axis = 0)[1], axis = 1)[1]", lambda x: F.fft(F.rfft(x, dim=0)).imag, x=N(70, 3))


def planes(x, n, count, inverse=False):
    """fourier_planes of complex x [m, 2, a, own]."""
    z = torch.complex(x[:, 0], x[:, 1]) if x.shape[1] == 2 else x[:, 0] + 0j
    y = F.ifft(z, n) * n if inverse else F.fft(z, n)
    return torch.stack([y.real, y.imag], 1)[..., :count].transpose(2, 3)


g.case("fourier_planes(x, 6, -1, 4, 2)", lambda x: planes(x, 6, 4), x=N(2, 1, 3, 5))
g.case("fourier_planes(x, 72, 1, 50, 1)", lambda x: planes(x, 72, 50, True)[:, :1], x=N(2, 2, 2, 37))
g.case("fourier_planes(x, 134, -1, 68, 2)", lambda x: planes(x, 134, 68), x=N(1, 1, 2, 134))
for n in (3, 8):
    g.case(f"chirped_planes(x, {n}, -1, {n}, 2)", lambda x, n=n: planes(x, n, n), x=N(2, 2, 1, n))
    g.case(f"roots(a, {n})", lambda a, n=n: torch.cos(a * 2 * torch.pi / n) + 2 * torch.sin(a * 2 * torch.pi / n), a=list(range(n)))
g.case("chirped_planes(x, 67, 1, 40, 1)", lambda x: planes(x, 67, 40, True)[:, :1], x=N(2, 1, 3, 34))
g.case("sum(fourier_matrix(5, 3, 2, -1, f32) * x, axis = [2, 3])", lambda x: parts(F.fft(torch.complex(x[0], x[1])))[[0, 1, 2, 5, 6, 7]].reshape(2, 3), x=N(2, 5))
g.case("complex_product(x, z, v)", lambda x, z, v: torch.stack([x[:, 0] * z - x[:, 1] * v, x[:, 0] * v + x[:, 1] * z], 1), x=N(3, 2, 4), z=N(4), v=N(4))
g.case("checked_signal(x, 0, 2 * x)", lambda x: x, x=N(2, 3))
g.case("sum(fourier_matrix(3, 2, 1, 1, f32) * x, axis = 3)", lambda x: torch.stack([F.ifft(x).real, F.ifft(x).imag])[:, :2, None] * 3, x=N(3))
g.case("complex_product(x, z, 2 * z)", lambda x, z: torch.stack([x[:, 0] * z - 2 * x[:, 1] * z, 2 * x[:, 0] * z + x[:, 1] * z], 1), x=N(1, 2, 3, 2), z=N(3, 1))
g.case("checked_signal(x, -1)", lambda x: x, x=N(4))
g.case("x * fourier_factor(12) + fourier_factor(8192)", lambda x: 12 * x + 32, x=N(3, 1))
g.case("x * fourier_factor(1024) + fourier_factor(2 * 67) + fourier_factor(67)", lambda x: 32 * x + 2, x=N(2))
g.case("unit_roots(a, 5, f32)[1]", lambda a: torch.sin(a * 2 * torch.pi / 5), a=[0, 7])
g.case("unit_roots(a, 6, f32)[0]", lambda a: torch.cos(a * 2 * torch.pi / 6), a=[[3], [1]])


# ---- attention to a band: the same as where a mask leaves the band alone ----


def banded(q, k, v, heads, window, causal=False, keys=None, scale=None, added=None):
    shared = k.shape[2] // (q.shape[2] // heads)
    split = lambda x, h: x.reshape(*x.shape[:2], h, -1).transpose(1, 2)
    time = q.shape[1]
    gap = torch.arange(time)[:, None] - torch.arange(time)
    seen = (gap < window) & (gap >= 0 if causal else gap > -window)
    if keys is not None:
        seen = seen & keys
    a, b, c = split(q, heads), split(k, shared), split(v, shared)
    b, c = (x.repeat_interleave(heads // shared, 1) for x in (b, c))
    scores = a @ b.mT * (scale or a.shape[-1] ** -0.5)
    scores = scores if added is None else scores + added
    weights = torch.softmax(torch.where(seen, scores, -torch.inf), -1)
    weights = torch.where(seen.any(-1, keepdim=True), weights, 0)
    return (weights @ c).transpose(1, 2).reshape(*q.shape[:2], -1)


g = Group("band")
for time, window, causal in [(7, 3, True), (9, 4, False), (5, 1, True), (4, 10, False), (12, 2, True), (6, 5, True)]:
    g.case(f"attention(x, z, v, heads = 2, causal = {str(causal).lower()}, window = {window})",
           lambda x, z, v, w=window, c=causal: banded(x, z, v, 2, w, c), x=N(2, time, 4), z=N(2, time, 4), v=N(2, time, 6))
g.case("attention(x, z, v, heads = 4, window = 3, scale = 0.3)", lambda x, z, v: banded(x, z, v, 4, 3, scale=0.3), x=N(1, 8, 8), z=N(1, 8, 4), v=N(1, 8, 4))
g.case("attention(x, x, x, window = 3, mask = arange(8) < 2)", lambda x: banded(x, x, x, 1, 3, keys=torch.arange(8) < 2), x=N(2, 8, 4))
g.case("attention(x, x, x, heads = 2, window = 4, causal = true, mask = (a > 0)[:, none, none])",
       lambda x, a: banded(x, x, x, 2, 4, True, keys=(a > 0)[:, None, None]), x=N(2, 7, 4), a=[[0, 1, 1, 0, 0, 0, 1], [1, 0, 1, 1, 1, 0, 0]])
g.case("attention(x, x, x, window = 2, mask = z)", lambda x, z: banded(x, x, x, 1, 2, added=z), x=N(2, 5, 4), z=N(5))
g.case("banded_attention(x, x, x, 2, true, none, 0.5)[:, 0]", lambda x: banded(x[:, 0], x[:, 0], x[:, 0], 1, 2, True, scale=0.5), x=N(2, 1, 5, 3))
g.case("banded_attention(x, x, x, 3, false, none, 0.5)[:, 0]", lambda x: banded(x[:, 0], x[:, 0], x[:, 0], 1, 3, scale=0.5), x=N(1, 1, 7, 3))
g.case("band(x, 2, 1, 0)[0, 0]", lambda x: torch.stack([torch.cat([0 * x[0, 0, :2], x[0, 0, :2]]), x[0, 0]]), x=N(1, 1, 4, 2))
g.case("band(x, 2, 0, 1)[0, 0]", lambda x: torch.stack([torch.cat([x[0, 0], 0 * x[0, 0, :1]])[:4], torch.cat([x[0, 0, 2:], 0 * x[0, 0], 0 * x[0, 0]])[:4]]), x=N(1, 1, 3, 2))
