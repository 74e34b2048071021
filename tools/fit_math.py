#!/usr/bin/env python3
"""Fits the polynomials of nnc_math.h and cuts 2 / pi into pieces; its output is nnc_math_coefficients.h.

    tools/fit_math.py > runtime/abi/nnc_math_coefficients.h        (needs mpmath)
    tools/fit_math.py --prelude        the coefficients of near_atan in compiler/prelude/math.net

Chebyshev interpolation at 60 digits, within a small factor of the minimax error; the relative error of
each polynomial, evaluated exactly with its rounded coefficients, stands beside it."""
import functools
import struct
import sys

from mpmath import atan, mp, mpf, cos, pi, exp, expm1, floor, log, log1p, sqrt, erf, erfc, sin, tanh, matrix, lu_solve

mp.dps = 60


def fit(f, low, high, degree):
    """Coefficients, lowest first, of the polynomial through f at the Chebyshev nodes."""
    nodes = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * degree + 2)) for i in range(degree + 1)]
    rows = matrix(degree + 1, degree + 1)
    for i, x in enumerate(nodes):
        for k in range(degree + 1):
            rows[i, k] = x ** k
    return [float(c) for c in lu_solve(rows, matrix([f(x) for x in nodes]))]


def fit_weighted(f, weight, low, high, degree, nodes=120):
    """The same by least squares of weight times error, at more nodes: where little of f counts, fewer bits do."""
    rows, right = matrix(degree + 1, degree + 1), matrix(degree + 1, 1)
    for node in range(nodes):
        x = (low + high) / 2 + (high - low) / 2 * cos(pi * (2 * node + 1) / (2 * nodes))
        square, value, powers = weight(x) ** 2, f(x), [x ** k for k in range(degree + 1)]
        for i in range(degree + 1):
            right[i] += square * powers[i] * value
            for k in range(degree + 1):
                rows[i, k] += square * powers[i] * powers[k]
    return [float(c) for c in lu_solve(rows, right)]


def error_weighted(f, weight, low, high, coefficients):
    points = [low + (high - low) * i / 2000 for i in range(2001)]
    return max(abs(weight(x) * (sum(mpf(c) * x ** k for k, c in enumerate(coefficients)) - f(x))) for x in points)


def error(f, low, high, coefficients):
    worst = mpf(0)
    for i in range(2001):
        x = low + (high - low) * i / 2000
        if f(x) == 0:
            continue
        value = sum(mpf(c) * x ** k for k, c in enumerate(coefficients))
        worst = max(worst, abs(value / f(x) - 1))
    return worst


def fit_floats(f, weight, low, high, degree):
    """The same with coefficients that are floats: each is rounded in turn, and those after it fit what is left."""
    fixed = []
    while len(fixed) <= degree:
        def rest(x):
            return (f(x) - sum(c * x ** k for k, c in enumerate(fixed))) / x ** len(fixed)

        def rest_weight(x):
            return weight(x) * x ** len(fixed)
        first = fit_weighted(rest, rest_weight, low, high, degree - len(fixed))[0]
        fixed.append(mpf(struct.unpack("f", struct.pack("f", first))[0]))
    return [float(c) for c in fixed]


def print_table(name, what, size, texts, fma):
    print("/* %s; error %s */" % (what, mp.nstr(size, 2)))
    print("#define %s(x) \\" % name)
    text = texts[-1]
    for c in reversed(texts[:-1]):
        text = "%s(%s, x, %s)" % (fma, text, c) if len(text) < 60 else "%s( \\\n    %s, x, %s)" % (fma, text, c)
    print("  (%s)\n" % text)


def table_f32(name, what, f, low, high, degree, weight):
    low, high = mpf(low), mpf(high)
    coefficients = fit_floats(f, weight, low, high, degree)
    size = error_weighted(f, weight, low, high, coefficients)
    print_table(name, what, size, [c.hex() + "f" for c in coefficients], "NNC_FMAF")


def table_f32_chosen(name, what, near, far):
    """Of two tables of one degree, near and far, the coefficients that NNC_CHOSEN picks; each as table_f32 has it."""
    tables, errors = [], []
    for f, low, high, degree, weight in (near, far):
        tables.append(fit_floats(f, weight, mpf(low), mpf(high), degree))
        errors.append(mp.nstr(error_weighted(f, weight, mpf(low), mpf(high), tables[-1]), 2))
    texts = ["NNC_CHOSEN(%sf, %sf)" % (one.hex(), two.hex()) for one, two in zip(*tables)]
    print("/* %s; errors %s, %s */\n#define %s(x) \\" % (what, *errors, name))
    print("  (%s)\n" % functools.reduce(lambda text, c: "NNC_FMAF( \\\n    %s, x, %s)" % (text, c), reversed(texts)))


def table(name, what, f, low, high, degree, weight=None):
    low, high = mpf(low), mpf(high)
    if weight:
        coefficients = fit_weighted(f, weight, low, high, degree)
        size = error_weighted(f, weight, low, high, coefficients)
    else:
        coefficients = fit(f, low, high, degree)
        size = error(f, low, high, coefficients)
    print_table(name, what, size, ["%r" % c for c in coefficients], "NNC_FMA")


half = log(mpf(2)) / 2
bound = (sqrt(mpf(2)) - 1) ** 2 / (sqrt(mpf(2)) + 1) ** 2 * mpf("1.0001")


def expm1_part(r):  # (e^r - 1 - r) / r^2
    return (expm1(r) - r) / r ** 2 if abs(r) > mpf(10) ** -15 else mpf(1) / 2 + r / 6


def exp2m1_part(r):  # (2^r - 1) / r
    return expm1(r * log(mpf(2))) / r if abs(r) > mpf(10) ** -30 else log(mpf(2))


def log_part(z):  # (log((1 + s) / (1 - s)) / s - 2) / z, z = s^2
    s = sqrt(z)
    return (log((1 + s) / (1 - s)) / s - 2) / z if z > mpf(10) ** -15 else mpf(2) / 3


def erf_part(z):
    x = sqrt(z)
    return erf(x) / x if z > mpf(10) ** -30 else 2 / sqrt(pi)


def erf_rest(z):  # erf(x) / x - 1
    return erf_part(z) - 1


def erfc_long_part(t):  # erfc(x) e^(x^2), t = (x - 2) / (x + 2)
    x = 2 * (1 + t) / (1 - t)
    return erfc(x) * exp(x * x)


def erfc_long_weight(t):
    x = 2 * (1 + t) / (1 - t)
    return exp(-x * x)


def log1p_part(f):  # (log(1 + f) - f + f^2 / 2) / f^3
    return (log1p(f) - f + f * f / 2) / f ** 3 if abs(f) > mpf(10) ** -12 else mpf(1) / 3 - f / 4


def tanh_part(z):  # (tanh(x) / x - 1) / z, z = x^2
    x = sqrt(z)
    return (tanh(x) / x - 1) / z if z > mpf(10) ** -20 else -mpf(1) / 3


def log_tail(z):  # (log_part - 2/3) / z
    return (log_part(z) - mpf(2) / 3) / z if z > mpf(10) ** -15 else mpf(2) / 5


def sin_part(z):  # (sin(r) / r - 1) / z
    r = sqrt(z)
    return (sin(r) / r - 1) / z if z > mpf(10) ** -15 else -mpf(1) / 6


def cos_part(z):  # (cos(r) - 1 + z / 2) / z^2
    r = sqrt(z)
    return (cos(r) - 1 + z / 2) / z ** 2 if z > mpf(10) ** -12 else mpf(1) / 24


def atan_part(z):  # (atan(x) / x - 1) / z, z = x^2
    x = sqrt(z)
    return (atan(x) / x - 1) / z if z > mpf(10) ** -15 else -mpf(1) / 3


def print_atan():
    print("[%s]" % ", ".join("%r" % c for c in reversed(fit(atan_part, mpf(0), mpf(1), 19))))


def turns(first, width, count):
    """Of 2^k (2 / pi), k = first, first + width, ..., what is left of whole turns (multiples of 4): two parts
    of 29 bits, whose products with a float are exact in double, and the rest."""
    mp.prec = 400
    print("/* X(least |x|, 2^-k, 2^k (2 / pi) mod 4 in three parts), for each range of floats */")
    print("#define NNC_FAR_TURNS(X) \\")
    for i in range(count):
        k = first + width * i
        left = mpf(2) ** k * 2 / pi
        left -= 4 * floor(left / 4)
        high = floor(left * 2 ** 27) / 2 ** 27
        middle = floor((left - high) * 2 ** 56) / mpf(2) ** 56
        print("  X(0x1p%d, 0x1p%d, %s, %s, %s)%s" % (k + 23, -k, float(high).hex(), float(middle).hex(),
                                                    float(left - high - middle).hex(), " \\" if i + 1 < count else "\n"))


if "--prelude" in sys.argv:
    print_atan()
    sys.exit()
print("/* Polynomials and other constants of nnc_math.h; written by tools/fit_math.py, do not edit. */")
print("#ifndef NNC_MATH_COEFFICIENTS_H\n#define NNC_MATH_COEFFICIENTS_H\n")
table("NNC_EXP2_SHORT", "2^x, |x| <= 1 / 2", lambda x: mpf(2) ** x, mpf(-1) / 2, mpf(1) / 2, 6)
table("NNC_EXP2M1_SHORT", "(2^x - 1) / x, |x| <= 1 / 2", exp2m1_part, mpf(-1) / 2, mpf(1) / 2, 6)
table("NNC_EXPM1_LONG", "(e^x - 1 - x) / x^2, |x| <= log(2) / 2, for f64", expm1_part, -half, half, 10)
table("NNC_LOG_SHORT", "(2 atanh(s) / s - 2) / x, x = s^2", log_part, 0, bound, 3)
table("NNC_LOG_POWER", "the same for powers of floats", log_part, 0, bound, 4)
table("NNC_LOG_LONG", "the same for f64", log_part, 0, bound, 7)
of_expm1 = expm1_part, -half * mpf("1.001"), half * mpf("1.001"), 4, lambda r: r * r / exp(r)
table_f32("NNC_EXPM1_F32", "(e^x - 1 - x) / x^2, |x| <= log(2) / 2, in float; of e^x", *of_expm1)
table_f32("NNC_LOG1P_F32", "(log(1 + x) - x + x^2 / 2) / x^3, sqrt(1 / 2) <= 1 + x <= sqrt(2), in float; of log(1 + x)", log1p_part,
          sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1, 7, lambda f: f ** 3 / log1p(f) if abs(f) > mpf(10) ** -12 else f * f)
table_f32_chosen("NNC_TANH_OR_EXPM1_F32", "near: (tanh(s) / s - 1) / x, x = s^2, |s| <= 5 / 8, in float; of tanh(s) / s; far: NNC_EXPM1_F32",
                 (tanh_part, 0, mpf(25) / 64, 4, lambda z: z), of_expm1)
table_f32_chosen("NNC_ERF_OR_LOG2_ERFC_F32",
                 "near: erf(s) / s - 1, x = s^2, |s| <= 1, in float; of erf(s) / s; far: log2(erfc(x)), 1 <= x <= 4, in float; of 1",
                 (erf_rest, 0, 1, 6, lambda z: 1 / erf_part(z)), (lambda x: log(erfc(x), 2), 1, 4, 6, lambda x: erfc(x) * log(mpf(2))))
table_f32("NNC_EXP2M1_F32", "(2^x - 1) / x, |x| <= 1 / 2, in float; of 6 times 2^x", exp2m1_part, mpf(-1) / 2, mpf(1) / 2, 4, lambda r: abs(r) / 6)
table("NNC_LOG_TAIL", "((2 atanh(s) / s - 2) / x - 2 / 3) / x, x = s^2, for f64", log_tail, 0, bound, 7)
table("NNC_ERF_LONG", "erf(s) / s - 1 for f64, x = s^2, |s| <= 1; absolute", erf_rest, 0, 1, 11, lambda z: 1)
table("NNC_ERFC_LONG", "erfc(s) e^(s^2) for f64, x = (s - 2) / (s + 2), 1 <= s <= 6; times e^-(s^2), absolute", erfc_long_part,
      mpf(-1) / 3, mpf(1) / 2, 12, erfc_long_weight)
table("NNC_SIN_SHORT", "(sin(s) / s - 1) / x, x = s^2, |s| <= pi / 4", sin_part, 0, (pi / 4) ** 2 * mpf("1.001"), 3)
table("NNC_COS_SHORT", "(cos(s) - 1 + x / 2) / x^2, x = s^2, |s| <= pi / 4", cos_part, 0, (pi / 4) ** 2 * mpf("1.001"), 3)
table("NNC_SIN_HALF_TURN", "(sin(s) / s - 1) / x, x = s^2, |s| <= pi / 2", sin_part, 0, (pi / 2) ** 2 * mpf("1.001"), 4)
table("NNC_SIN_LONG", "(sin(s) / s - 1) / x for f64, x = s^2, |s| <= pi / 4", sin_part, 0, (pi / 4) ** 2 * mpf("1.001"), 5)
table("NNC_COS_LONG", "(cos(s) - 1 + x / 2) / x^2 for f64, x = s^2, |s| <= pi / 4", cos_part, 0, (pi / 4) ** 2 * mpf("1.001"), 5)
turns(-3, 22, 5)
print("#endif")
