"""Elementwise operators."""
import re

from node import RANGES, Refused, operators, text

TABLE, op = operators()


# ---- one to one ---------------------------------------------------------------------------------

UNARY = {name: name.lower() for name in
         "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Mish Relu Round Sigmoid Sign Sin Sinh "
         "Softplus Softsign Sqrt Tan Tanh".split()}
UNARY.update(HardSwish="hard_swish", IsNaN="is_nan")
for name, function in UNARY.items():
    TABLE[name] = lambda n, function=function: f"{function}({n[0]})"

INFIX = {"Equal": "==", "Greater": ">", "GreaterOrEqual": ">=", "Less": "<", "LessOrEqual": "<=",
         "And": "&&", "Or": "||", "Xor": "!="}
for name, sign in INFIX.items():
    TABLE[name] = lambda n, sign=sign: f"{n[0]} {sign} {n[1]}"

for name, sign in {"Add": "+", "Sub": "-", "Mul": "*"}.items():
    TABLE[name] = lambda n, sign=sign: n.wrapped(f"{n[0]} {sign} {n[1]}")


@op("Neg")
def neg(n):
    return n.wrapped(f"-{n[0]}")


@op("Not")
def negation(n):
    return f"!{n[0]}"


@op("Identity")
def identity(n):
    return n[0]


@op("Reciprocal")
def reciprocal(n):
    return f"1 / {n[0]}"


@op("Div")
def div(n):
    return f"{n[0]} / {n[1]}" if n.type()[0] != "i" else f"truncated_div({n[0]}, {n[1]})"


@op("Mod")
def mod(n):
    return f"fmod({n[0]}, {n[1]})" if n.attr("fmod") else f"{n[0]} % {n[1]}"


@op("Pow")
def power(n):
    base, exponent = n.type(0), n.type(1)
    if base == exponent and base[0] != "i":
        return f"{n[0]} ^ {n[1]}"
    if base[0] != "i":
        return f"{n[0]} ^ {base}({n[1]})"
    return f"{base}(f64({n[0]}) ^ f64({n[1]}))"


@op("Max", "Min", "Sum", "Mean")
def variadic(n):
    signs = {"Max": "maximum({}, {})", "Min": "minimum({}, {})", "Sum": "{} + {}", "Mean": "{} + {}"}
    result = n[0]
    for i in range(1, len(n)):
        result = signs[n.op].format(result, n[i])
    return f"({result}) / {len(n)}" if n.op == "Mean" else result


@op("Where")
def where(n):
    return f"where({n[0]}, {n[1]}, {n[2]})"


@op("Clip")
def clip(n):
    low, high = (n[i] or "none" for i in (1, 2))
    return n[0] if low == high == "none" else f"clip({n[0]}, {low}, {high})"


# ---- activations --------------------------------------------------------------------------------

@op("Elu", "Celu")
def elu(n):
    return f"{n.op.lower()}({n[0]}, alpha = {text(n.attr('alpha', 1.0))})"


@op("Selu")
def selu(n):
    gamma, alpha = n.attr("gamma", 1.05070102214813232421875), n.attr("alpha", 1.67326319217681884765625)
    return f"{text(gamma)} * elu({n[0]}, alpha = {text(alpha)})"


@op("LeakyRelu")
def leaky_relu(n):
    return f"leaky_relu({n[0]}, {text(n.attr('alpha', 0.01))})"


@op("PRelu")
def prelu(n):
    return f"where({n[0]} < 0, {n[1]} * {n[0]}, {n[0]})"


@op("ThresholdedRelu")
def thresholded_relu(n):
    return f"where({n[0]} > {text(n.attr('alpha', 1.0))}, {n[0]}, 0)"


@op("HardSigmoid")
def hard_sigmoid(n):
    return f"clip({text(n.attr('alpha', 0.2))} * {n[0]} + {text(n.attr('beta', 0.5))}, 0, 1)"


@op("Gelu")
def gelu(n):
    return f"gelu({n[0]}, approximate = {text(n.attr('approximate', 'none') == 'tanh')})"


@op("Swish")
def swish(n):
    return f"{n[0]} * sigmoid({text(n.attr('alpha', 1.0))} * {n[0]})"


@op("SwiGLU")
def swiglu(n):
    return f"{n[0]} * sigmoid({text(n.attr('alpha', 1.0))} * {n[0]}) * {n[1]}"


@op("Shrink")
def shrink(n):
    x, limit, bias = n[0], n.attr("lambd", 0.5), text(n.attr("bias", 0.0))
    return f"where({x} < {text(-limit)}, {x} + {bias}, where({x} > {text(limit)}, {x} - {bias}, 0))"


@op("Binarizer")
def binarizer(n):
    return f"{n.type()}({n[0]} > {text(n.attr('threshold', 0.0))})"


@op("IsInf")
def is_inf(n):
    positive, negative = n.attr("detect_positive", 1), n.attr("detect_negative", 1)
    if positive and negative:
        return f"is_inf({n[0]})"
    return f"is_inf({n[0]}) && {n[0]} {'>' if positive else '<'} 0"


# ---- types --------------------------------------------------------------------------------------

# Digits after the point, least and greatest exponent, greatest number, and what lies beyond it.
FEW_BITS = {"float8_e4m3fn": (3, -6, 8, 448.0, "nan"), "float8_e4m3fnuz": (3, -7, 7, 240.0, "nan"),
            "float8_e5m2": (2, -14, 15, 57344.0, "inf"), "float8_e5m2fnuz": (2, -15, 15, 57344.0, "nan"),
            "float4_e2m1fn": (1, 0, 2, 6.0, "zero")}


def few_bits(n, x):
    """x as the nearest number of a float of 8 or 4 bits, in f32."""
    if n.out_onnx_type() == "float8_e8m0fnu":
        return f"power_of_two_above({x})"
    *shape, beyond = FEW_BITS[n.out_onnx_type()]
    beyond = "greatest" if n.attr("saturate", 1) and beyond != "zero" else beyond
    return f"few_bits({x}, {', '.join(map(text, shape))}, \"{beyond}\")"


@op("Cast", "CastLike")
def cast(n):
    if n.out_onnx_type().startswith(("float8", "float4")):
        return few_bits(n, f"f32({n[0]})")
    if n.out_onnx_type() in RANGES:
        return n.wrapped(f"{n.out_type()}({n[0]})")
    return f"{n.out_type()}({n[0]})"


@op("BitCast")
def bit_cast(n):
    bits = re.search(r"\d+$", n.out_onnx_type())
    if n.type()[0] == "f" or n.out_type()[0] == "f":
        raise Refused("bits of a float as an integer")
    return n.wrapped(n[0]) if bits else n[0]


# ---- bits, by arithmetic ------------------------------------------------------------------------

def width(n, i=0):
    return int(re.search(r"\d+$", n.onnx_type(i)).group())


@op("BitwiseAnd", "BitwiseOr", "BitwiseXor")
def bitwise(n):
    return n.wrapped(f"bitwise_{n.op[7:].lower()}(i64({n[0]}), i64({n[1]}), {width(n)})")


@op("BitwiseNot")
def bitwise_not(n):
    return n.wrapped(f"-1 - {n[0]}")


@op("BitShift")
def bit_shift(n):
    x, s = (f"i64({n[i]})" for i in (0, 1))
    return n.wrapped(f"shift_{n.attr('direction').lower()}({x}, {s}, {width(n)})")


