"""Layers and losses."""
import math

from ops_elementwise import few_bits
from node import Outside, operators, text

TABLE, op = operators()


def pairs(values):
    return "[" + ", ".join(f"({low}, {high})" for low, high in values) + "]"


def window(n, kernel):
    """kernel, stride, dilation and padding of each axis; what ceil_mode adds at the end apart."""
    extents = n.shape()[2:]
    count = len(extents)
    stride = n.attr("strides") or [1] * count
    dilation = n.attr("dilations") or [1] * count
    given = n.attr("pads") or [0] * 2 * count
    mode = n.attr("auto_pad", "NOTSET")
    pads, extra = [], []
    for i in range(count):
        reach = dilation[i] * (kernel[i] - 1) + 1
        if mode.startswith("SAME"):
            total = max(0, (-(-extents[i] // stride[i]) - 1) * stride[i] + reach - extents[i])
            low = total // 2 if mode == "SAME_UPPER" else total - total // 2
            pads.append((low, total - low))
        else:
            pads.append((given[i], given[count + i]))
        padded = extents[i] + sum(pads[i])
        windows = -(-(padded - reach) // stride[i]) + 1
        if (windows - 1) * stride[i] >= extents[i] + pads[i][0]:
            windows -= 1  # none begins in the padding at the end
        extra.append(max(0, (windows - 1) * stride[i] + reach - padded) if n.attr("ceil_mode") else 0)
    return stride, dilation, pads, extra


# ---- windows ------------------------------------------------------------------------------------

def convolution(n, x, w, kernel):
    stride, dilation, pads, _ = window(n, kernel)
    return (f"conv({x}, {w}, stride = {stride}, padding = {pairs(pads)}, dilation = {dilation}, "
            f"groups = {n.attr('group', 1)})")


@op("Conv")
def conv(n):
    y = convolution(n, n[0], n[1], n.shape(1)[2:])
    return f"{y} + channels({n[2]}, {n.rank()})" if n[2] else y


@op("CausalConvWithState")
def causal_conv(n):
    channels, k = n.shape(1)[0], n.shape(1)[2]
    past = n[3] or f"zeros([{n.shape()[0]}, {channels}, {k - 1}], {n.type()})"
    n.let(f"padded = concat({past}, {n[0]}, axis = 2)" if k > 1 else f"padded = {n[0]}")
    y = f"conv(padded, {n[1]}, groups = {channels})" + (f" + channels({n[2]}, 3)" if n[2] else "")
    if n.attr("activation", "none") != "none":
        y = f"{n.type()}(silu(f32({y})))"
    return [y, f"padded[:, :, {n.shape()[2]}:]"]


@op("ConvTranspose")
def conv_transpose(n):
    extents, kernel = n.shape()[2:], n.shape(1)[2:]
    count = len(kernel)
    stride, dilation = n.attr("strides") or [1] * count, n.attr("dilations") or [1] * count
    added = n.attr("output_padding") or [0] * count
    given, mode, wanted = n.attr("pads") or [0] * 2 * count, n.attr("auto_pad", "NOTSET"), n.attr("output_shape")
    if mode.startswith("SAME"):
        wanted = [extent * step for extent, step in zip(extents, stride)]
    pads = []
    for i in range(count):
        if wanted:
            full = stride[i] * (extents[i] - 1) + added[i] + dilation[i] * (kernel[i] - 1) + 1
            total = full - wanted[i]
            # What is missing is added at the end.
            added[i] += max(0, -total)
            total = max(0, total)
            low = total - total // 2 if mode == "SAME_LOWER" else total // 2
            pads.append((low, total - low))
        else:
            pads.append((given[i], given[count + i]))
    y = (f"conv_transpose({n[0]}, {n[1]}, stride = {stride}, padding = {pairs(pads)}, dilation = {dilation}, "
         f"groups = {n.attr('group', 1)}, output_padding = {added})")
    return f"{y} + channels({n[2]}, {n.rank()})" if n[2] else y


@op("AveragePool", "LpPool")
def average_pool(n):
    kernel = n.attr("kernel_shape")
    stride, dilation, pads, extra = window(n, kernel)
    p = n.attr("p", 2) if n.op == "LpPool" else 0
    include = text(bool(n.attr("count_include_pad", 0)))
    said = f"{kernel}, {stride}, {dilation}, {pairs(pads)}, {pairs((0, more) for more in extra)}"
    return f"lp_windows({n[0]}, {p}, {said})" if p else f"average_windows({n[0]}, {said}, {include})"


@op("MaxPool")
def max_pool(n):
    kernel = n.attr("kernel_shape")
    stride, dilation, pads, extra = window(n, kernel)
    padding = pairs((low, high + more) for (low, high), more in zip(pads, extra))
    x = n[0] if n.type()[0] != "i" else f"f32({n[0]})"
    said = f"{kernel}, stride = {stride}, padding = {padding}, dilation = {dilation}"
    y = f"max_pool({x}, {said})"
    if len(n.case.wants) == 1:
        return y
    column = text(bool(n.attr("storage_order", 0)))
    return [y, f"places_of_greatest({n[0]}, {kernel}, {stride}, {padding}, {dilation}, {column})"]


@op("MaxUnpool")
def max_unpool(n):
    count, c = n.shape()[:2]
    extents = [(extent - 1) * step + k for extent, step, k in
               zip(n.shape()[2:], n.attr("strides") or [1, 1], n.attr("kernel_shape"))]
    shape = [count, c] + extents
    n.let(f"y = zeros([{math.prod(shape)}], {n.type()})")
    n.let(f"y = scatter_rows(y, reshape({n[1]}, [-1]), reshape({n[0]}, [-1]), \"none\")")
    y = f"reshape(y, {shape})"
    if not n.has(2):
        return y
    return f"pad({y}, {pairs((0, wanted - extent) for wanted, extent in zip(n.known(2), shape))})"


@op("GlobalAveragePool", "GlobalMaxPool")
def global_pool(n):
    return f"{'mean' if n.op == 'GlobalAveragePool' else 'max'}({n[0]}, axis = 2..{n.rank()}, keep = true)"


@op("Col2Im")
def col2im(n):
    size, block = n.known(1), n.known(2)
    count = len(size)
    stride, dilation = n.attr("strides") or [1] * count, n.attr("dilations") or [1] * count
    given = n.attr("pads") or [0] * 2 * count
    pads = [(given[i], given[count + i]) for i in range(count)]
    out = [(size[i] + sum(pads[i]) - dilation[i] * (block[i] - 1) - 1) // stride[i] + 1 for i in range(count)]
    rest = [size[i] + sum(pads[i]) - dilation[i] * (block[i] - 1) - 1 - (out[i] - 1) * stride[i] for i in range(count)]
    return f"col2im({n[0]}, {block}, {out}, {stride}, {pairs(pads)}, {dilation}, {rest})"


# ---- normalization ------------------------------------------------------------------------------

def epsilon(n):
    return text(n.attr("epsilon", 1e-5))


@op("LayerNormalization")
def layer_normalization(n):
    axes = list(range(n.axis(-1), n.rank()))
    n.let(f"m = mean({n[0]}, axis = {axes}, keep = true)")
    n.let(f"scale = 1 / sqrt(mean(({n[0]} - m) ^ 2, axis = {axes}, keep = true) + {epsilon(n)})")
    y = f"({n[0]} - m) * scale * {n[1]}" + (f" + {n[2]}" if n[2] else "")
    return [y, "m", "scale"][:max(n.case.wants) + 1]


@op("RMSNormalization")
def rms_normalization(n):
    axes = list(range(n.axis(-1), n.rank()))
    return f"{n[0]} / sqrt(mean({n[0]} ^ 2, axis = {axes}, keep = true) + {epsilon(n)}) * {n[1]}"


@op("InstanceNormalization")
def instance_normalization(n):
    r = n.rank()
    return f"instance_norm({n[0]}, eps = {epsilon(n)}) * channels({n[1]}, {r}) + channels({n[2]}, {r})"


@op("GroupNormalization")
def group_normalization(n):
    r = n.rank()
    groups = f"reshape({n[0]}, [{n.shape()[0]}, {n.attr('num_groups')}, -1])"
    y = f"reshape(instance_norm({groups}, eps = {epsilon(n)}), {n.shape()})"
    return f"{y} * channels({n[1]}, {r}) + channels({n[2]}, {r})"


@op("BatchNormalization")
def batch_normalization(n):
    r, axes = n.rank(), [0] + list(range(2, n.rank()))
    training = n.attr("training_mode")
    n.let(f"m = mean({n[0]}, axis = {axes})" if training else f"m = {n[3]}")
    n.let(f"v = var({n[0]}, axis = {axes})" if training else f"v = {n[4]}")
    y = (f"({n[0]} - channels(m, {r})) / sqrt(channels(v, {r}) + {epsilon(n)}) * channels({n[1]}, {r})"
         f" + channels({n[2]}, {r})")
    if not training:
        return y
    keep = n.attr("momentum", 0.9)
    return [y] + [f"{text(keep)} * {n[i]} + {text(1 - keep)} * {name}" for i, name in ((3, "m"), (4, "v"))]


@op("LRN")
def lrn(n):
    size = n.attr("size")
    alpha, beta, bias = n.attr("alpha", 1e-4), n.attr("beta", 0.75), n.attr("bias", 1.0)
    low, high = (size - 1) // 2, size - 1 - (size - 1) // 2
    n.let(f"s = sum_pool(reshape({n[0]} ^ 2, [{n.shape()[0]}, 1, {n.shape()[1]}, -1]), [{size}, 1], stride = 1,"
          f" padding = [({low}, {high}), (0, 0)])")
    return f"{n[0]} / ({text(bias)} + {text(alpha / size)} * reshape(s, {n.shape()})) ^ {text(beta)}"


@op("Dropout")
def dropout(n):
    ratio = n.known(1, n.attr("ratio", 0.5))
    if n.known(2, False) and ratio:
        raise Outside("random numbers of another generator")
    return [n[0], f"{n[0]} == {n[0]}"][:max(n.case.wants) + 1]


# ---- losses -------------------------------------------------------------------------------------

@op("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss")
def loss(n):
    name = "cross_entropy" if n.op[0] == "S" else "nll"
    reduction, ignore = n.attr("reduction", "mean"), n.attr("ignore_index")
    said = (f", weights = {n[2]}" if n[2] else "") + (f", ignore = {ignore}" if ignore is not None else "")
    call = f"{name}(move_axis({n[0]}, 1, -1), {n[1]}, reduce = {text(reduction == 'mean')}{said})"
    return [f"sum({call})" if reduction == "sum" else call, f"log_softmax({n[0]}, axis = 1)"][:max(n.case.wants) + 1]


# ---- numbers of few bits ------------------------------------------------------------------------

LIMITS = {"uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767), "uint4": (0, 15),
          "int4": (-8, 7), "uint2": (0, 3), "int2": (-2, 1)}


def spread(n, i):
    """Scales or zero points of an axis or of blocks, laid over the first input."""
    shape, axis, block = n.shape(i), n.axis(1), n.attr("block_size", 0)
    if block:
        return f"repeat({n[i]}, {block}, axis = {axis})[{':, ' * axis}:{n.shape()[axis]}]"
    if n.case.inputs[i].size == 1:
        return f"reshape({n[i]}, [])"
    return f"reshape({n[i]}, {[1] * axis + shape + [1] * (n.rank() - axis - 1)})"


@op("QuantizeLinear")
def quantize_linear(n):
    zero = f" + {spread(n, 2)}" if n.has(2) else ""
    if n.out_onnx_type() not in LIMITS:
        return few_bits(n, f"({n[0]} / {spread(n, 1)}{zero})")
    low, high = LIMITS[n.out_onnx_type()]
    return f"clip(i32(round({n[0]} / {spread(n, 1)})){zero}, {low}, {high})"


@op("DequantizeLinear")
def dequantize_linear(n):
    kind = n.type(1)
    zero = f" - f32({spread(n, 2)})" if n.has(2) else ""
    y = f"(f32({n[0]}){zero}) * f32({spread(n, 1)})"
    return f"{kind}({y})"


@op("DynamicQuantizeLinear")
def dynamic_quantize_linear(n):
    n.let(f"high = maximum(max({n[0]}), 0)")
    n.let(f"low = minimum(min({n[0]}), 0)")
    n.let("scale = where(high == low, 1, high - low) / 255")
    n.let("zero = round(clip(0 - low / scale, 0, 255))")
    return ["clip(round({x} / scale) + zero, 0, 255)".format(x=n[0]), "scale", "zero"]


def centered(n, i, zero):
    """Integers without their zero point, as floats: sums of few products of 16 bits are exact."""
    if not n.has(zero):
        return f"f32({n[i]})"
    shape = n.shape(zero)
    many = n.case.inputs[zero].size > 1
    point = f"reshape({n[zero]}, {shape + [1] * (n.rank(i) - 1)})" if many else f"reshape({n[zero]}, [])"
    return f"f32({n[i]} - {point})"


@op("MatMulInteger")
def matmul_integer(n):
    return f"{centered(n, 0, 2)} @ {centered(n, 1, 3)}"


@op("ConvInteger")
def conv_integer(n):
    return convolution(n, centered(n, 0, 2), centered(n, 1, 3), n.shape(1)[2:])


def requantized(n, y):
    low, high = LIMITS[n.out_onnx_type()]
    factor = " ".join(f"f32(reshape({n[i]}, [])) {sign}".strip() for i, sign in ((1, "*"), (4, "/"), (6, "")))
    return f"clip(i32(round({y} * ({factor}) + f32(reshape({n[7]}, [])))), {low}, {high})"


@op("QLinearMatMul")
def qlinear_matmul(n):
    return requantized(n, f"({centered(n, 0, 2)} @ {centered(n, 3, 5)})")


@op("QLinearConv")
def qlinear_conv(n):
    return requantized(n, convolution(n, centered(n, 0, 2), centered(n, 3, 5), n.shape(3)[2:]))


# ---- optimizers ---------------------------------------------------------------------------------

@op("Adagrad", "Adam", "Momentum")
def optimizer(n):
    """Each tensor by itself: rate, step, then all tensors, all gradients, all first moments and so on."""
    moments = 2 if n.op == "Adam" else 1
    count = (len(n) - 2) // (2 + moments)
    decay = text(n.attr("norm_coefficient", 0.0))
    more = {"Adagrad": [n.attr("decay_factor"), n.attr("epsilon")],
            "Adam": [n.attr("alpha"), n.attr("beta"), n.attr("epsilon"), n.attr("norm_coefficient_post", 0.0)],
            "Momentum": [n.attr("alpha"), n.attr("beta"), n.attr("mode") == "nesterov"]}[n.op]
    for i in range(count):
        tensors = [n[2 + i + k * count] for k in range(2 + moments)]
        names = [f"{name}{i}" for name in ("w", "v", "h")[:1 + moments]]
        n.let(f"{', '.join(names)} = onnx_{n.op.lower()}({n[0]}, f32({n[1]}), {', '.join(tensors)}, {decay}, "
              + ", ".join(map(text, more)) + ")")
    return [f"{name}{i}" for name in ("w", "v", "h")[:1 + moments] for i in range(count)]
