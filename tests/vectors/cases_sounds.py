"""Sounds (sounds.net): transforms by torch.stft, bands of mels by formulas that are held to values of librosa 0.11."""
import numpy as np
import torch

from make import Group, N

hertz_of_htk = lambda m: 700 * (10 ** (m / 2595) - 1)


def hertz_of_slaney(m):
    """Slaney 1998: 3 mels are 200 Hz; from 15 on 27 mels are a factor of 6.4."""
    return np.where(m < 15, m / 3 * 200, 1000 * 6.4 ** ((np.maximum(m, 15) - 15) / 27))


def inverse(f, value):
    """By bisection, so that no second formula may hide a mistake of the first."""
    low, high = 0.0, 10000.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) < value else (low, middle)
    return low


def filters(rate, size, bands, low=0, high=None, slaney=False):
    """Each triangle by straight interpolation between its corners."""
    f = hertz_of_slaney if slaney else hertz_of_htk
    corners = f(np.linspace(inverse(f, low), inverse(f, high or rate / 2), bands + 2))
    at = np.arange(size // 2 + 1) * rate / size
    found = np.array([np.interp(at, corners[i:i + 3], [0, 2 / (corners[i + 2] - corners[i]) if slaney else 1, 0]) for i in range(bands)])
    return torch.tensor(found)


def held(found, wanted):
    assert np.allclose(found, wanted, rtol=1e-12, atol=1e-15), (found, wanted)


# librosa.filters.mel(sr=16000, n_fft=32, n_mels=3, dtype=numpy.float64)[:, 1:6], and with htk=True, norm=None.
held(filters(16000, 32, 3, slaney=True)[:, 1:6],
     [[7.851784985946064e-04, 8.726899696772418e-04, 2.393039561672805e-04, 0, 0],
      [0, 1.8007025842098307e-04, 5.462066361031321e-04, 5.773577611144673e-04, 4.0509110871576827e-04],
      [0, 0, 0, 4.9618842396376266e-05, 1.2936842803430132e-04]])
held(filters(16000, 32, 3)[:, 1:6],
     [[0.8138991334762269, 0.6656396206134372, 0.23216339524482518, 0, 0],
      [0, 0.33436037938656277, 0.7678366047551748, 0.8927823828149087, 0.6619163820645737],
      [0, 0, 0, 0.10721761718509136, 0.33808361793542635]])


def stft(x, size, hop, window=torch.hann_window, center=True, mode="reflect"):
    """torch.stft, of any number of axes in front."""
    flat = x.reshape(-1, x.shape[-1])
    z = torch.stft(flat, size, hop, window=window(size), center=center, pad_mode=mode, return_complex=True)
    return z.reshape(*x.shape[:-1], *z.shape[1:])


def both(z):
    return torch.cat([z.real, z.imag], -2)


def energy(z):
    return z.real ** 2 + z.imag ** 2


def log_mel(x, rate, size, hop, bands, floor=1e-10, **options):
    return torch.log(torch.clamp(filters(rate, size, bands, **options) @ energy(stft(x, size, hop)), floor))


g = Group("sounds", """def both(z) { a, b = z; return concat(a, b, axis = -2) }
def flat(n) { return ones([n]) }
def short(n) { return pad(hamming(n - 4), [(1, 3)]) }
""")
g.case("frames(x, 3, 2)", lambda x: x.unfold(-1, 3, 2), x=N(2, 8))
g.case("frames(x, 4, 1)", lambda x: x.unfold(-1, 4, 1), x=N(4))
g.case("frames(x, 2, 5)", lambda x: x.unfold(-1, 2, 5), x=N(2, 1, 13))
for n in (1, 5, 8):
    g.case(f"x * hann({n})", lambda x, n=n: x * torch.hann_window(n), x=N(2, n))
    g.case(f"x * hamming({n})", lambda x, n=n: x * torch.hamming_window(n), x=N(n))
g.case("both(stft(x, 8))", lambda x: both(stft(x, 8, 2)), x=N(2, 17))
g.case("both(stft(x, 12, 5, window = hamming))", lambda x: both(stft(x, 12, 5, torch.hamming_window)), x=N(2, 3, 20))
g.case("both(stft(x, 9, 4, window = flat, center = false))", lambda x: both(stft(x, 9, 4, torch.ones, False)), x=N(30))
g.case("both(stft(x, 8, 3, window = short))",
       lambda x: both(stft(x, 8, 3, lambda n: torch.cat([torch.zeros(1), torch.hamming_window(n - 4), torch.zeros(3)]))), x=N(16))
g.case("both(stft(x, 6, 3, mode = \"constant\"))", lambda x: both(stft(x, 6, 3, mode="constant")), x=N(1, 10))
g.case("both(stft(x, 1, 2))", lambda x: both(stft(x, 1, 2)), x=N(2, 5))
g.case("spectrogram(x, 8)", lambda x: energy(stft(x, 8, 2)), x=N(2, 19))
g.case("spectrogram(x, 8, power = 1)", lambda x: stft(x, 8, 2).abs(), x=N(12))
g.case("spectrogram(x, 10, hop = 10, power = 0.5, center = false)", lambda x: stft(x, 10, 10, center=False).abs() ** 0.5, x=N(3, 31))
g.case("spectrogram(x, 4, power = 1, window = flat)", lambda x: stft(x, 4, 1, torch.ones).abs(), x=[0.0] * 9)  # a gradient of 0
g.case("mel_filters(16000, 32, 3) @ x", lambda x: filters(16000, 32, 3) @ x, x=N(17, 2))
g.case("mel_filters(22050, 64, 5, slaney = true) @ x", lambda x: filters(22050, 64, 5, slaney=True) @ x, x=N(2, 33, 3))
g.case("mel_filters(8000, 25, 4, low = 300, high = 3400.5) @ x", lambda x: filters(8000, 25, 4, 300, 3400.5) @ x, x=N(13))
g.case("mel_filters(44100, 512, 8, low = 1500, slaney = true) @ x", lambda x: filters(44100, 512, 8, 1500, slaney=True) @ x, x=N(257, 1))
for name, f in (("false", hertz_of_htk), ("true", hertz_of_slaney)):
    for hertz, shape in ((60.0, (2,)), (4000.0, (1, 3))):
        g.case(f"x * hertz_mel({hertz}, {name})", lambda x, f=f, hertz=hertz: x * inverse(f, hertz), x=N(*shape))
g.case("mel_hertz(x, false)", lambda x: 700 * (torch.exp(x / 2595 * np.log(10)) - 1), x=[0.0, 100.0, 2840.0])
g.case("mel_hertz(x, true)", lambda x: torch.where(x < 15, x / 3 * 200, 1000 * torch.exp((x - 15) / 27 * np.log(6.4))),
       x=[[0.0, 14.0], [16.0, 50.0]])
g.case("log_mel(x, 16000, size = 16, hop = 8, bands = 4)", lambda x: log_mel(x, 16000, 16, 8, 4), x=N(2, 40))
g.case("log_mel(x, 8000, size = 20, hop = 5, bands = 3, low = 200, high = 3000, slaney = true)",
       lambda x: log_mel(x, 8000, 20, 5, 3, low=200, high=3000, slaney=True), x=N(33))
g.case("log_mel(x, 16000, size = 16, hop = 8, bands = 2, floor = 7.5)", lambda x: log_mel(x, 16000, 16, 8, 2, 7.5), x=N(1, 3, 24))
g.case("log_mel(x, 16000, floor = 9.0)", lambda x: log_mel(x, 16000, 400, 160, 80, 9.0), x=N(800))
