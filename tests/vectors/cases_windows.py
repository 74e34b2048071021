"""Convolution, pooling, sizes of images."""
import math

import torch
import torch.nn.functional as F

from make import D, Group, I, N, U

CONVS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}
MAX, AVG = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}, {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}


def told(**arguments):
    """Arguments as the language writes them."""
    def text(value):
        return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else \
            str(list(value)) if isinstance(value, (list, tuple)) else str(value)
    return "".join(f", {name} = {text(value)}" for name, value in arguments.items())


def same_padding(x, kernel, stride, dilation=1, value=0.0):
    """out = in / stride rounded up, the odd one at the end."""
    pads = []
    for i in reversed(range(x.dim() - 2)):
        out = -(-x.shape[i + 2] // stride)
        total = max((out - 1) * stride + dilation * (kernel - 1) + 1 - x.shape[i + 2], 0)
        pads += [total // 2, total - total // 2]
    return F.pad(x, pads, value=value)


g = Group("convolutions")
SIZES = {1: (9,), 2: (7, 6), 3: (4, 5, 4)}
for n in (1, 2, 3):
    f, size = CONVS[n], SIZES[n]
    for channels, kernel, more in [
            (3, 3, {}), (4, 2, dict(stride=2, padding=1)), (4, 3, dict(groups=2, padding=1)), (3, 1, dict(stride=2)),
            (2, 2, dict(dilation=2, padding=2)), (2, 2, dict(stride=3)), (2, 1, dict(stride=2, padding=1)),
            (2, 3, dict(padding=4, stride=2))]:
        if n == 3 and (more.get("dilation") or more.get("padding", 0) > 1 or kernel == 1):
            continue  # one axis more brings nothing new but a long compilation
        c = 4 if more.get("groups") else 2
        g.case(f"conv{n}d(x, {channels}, {kernel}{told(**more)})", lambda x, w, b, f=f, m=more: f(x, w, b, **m),
               x=N(2, c, *size), params={"w": N(channels, c // more.get("groups", 1), *[kernel] * n), "b": N(channels)})
    g.case(f"conv{n}d(x, 2, 3, bias = false, padding = \"valid\")", lambda x, w, f=f: f(x, w), x=N(1, 1, *size),
           params={"w": N(2, 1, *[3] * n)})
    for stride in (1, 2):
        g.case(f"conv{n}d(x, 2, 2, stride = {stride}, padding = \"same\")",
               lambda x, w, b, f=f, s=stride: f(same_padding(x, 2, s), w, b, stride=s), x=N(1, 2, *size),
               params={"w": N(2, 2, *[2] * n), "b": N(2)})
    t = TRANSPOSED[n]
    for channels, kernel, more in [(3, 3, {}), (4, 2, dict(stride=2)), (4, 3, dict(stride=2, padding=1, output_padding=1, groups=2)),
                                   (2, 2, dict(dilation=2)), (2, 1, dict(stride=2))]:
        small = [max(s // 2, 1) for s in size]
        c = 4 if more.get("groups") else 2
        g.case(f"conv{n}d_transpose(x, {channels}, {kernel}{told(**more)})", lambda x, w, b, t=t, m=more: t(x, w, b, **m),
               x=N(2, c, *small), params={"w": N(c, channels // more.get("groups", 1), *[kernel] * n), "b": N(channels)})
    g.case(f"conv{n}d_transpose(x, 1, 2, bias = false)", lambda x, w, t=t: t(x, w), x=N(1, 1, *[1] * n), params={"w": N(1, 1, *[2] * n)})


def same_transposed(t, x, w, b, stride, dilation=1):
    """Whole, then cut (or continued with zeros) to stride times the extent."""
    y = t(x, w, stride=stride, dilation=dilation)
    for axis in range(2, x.dim()):
        wanted = x.shape[axis] * stride
        more = y.shape[axis] - wanted
        if more < 0:
            y = torch.cat([y, y.new_zeros([-more if i == axis else n for i, n in enumerate(y.shape)])], axis)
        y = y.narrow(axis, max(more, 0) // 2, wanted)
    return y + b.view(-1, *[1] * (x.dim() - 2))


for n, kernel, more in [(1, 4, dict(stride=2)), (2, 3, dict(stride=1)), (2, 3, dict(stride=2)), (2, 4, dict(stride=2)), (2, 1, dict(stride=2)),
                        (2, 2, dict(stride=3)), (2, 3, dict(stride=2, dilation=2)), (3, 3, dict(stride=2))]:
    g.case(f"conv{n}d_transpose(x, 2, {kernel}{told(**more)}, padding = \"same\")",
           lambda x, w, b, t=TRANSPOSED[n], m=more: same_transposed(t, x, w, b, **m), x=N(2, 2, *[3, 4, 2][:n]),
           params={"w": N(2, 2, *[kernel] * n), "b": N(2)})
g.case("conv2d_transpose(x, 2, 2, stride = 2, padding = \"valid\")", lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2),
       x=N(1, 2, 3, 2), params={"w": N(2, 2, 2, 2), "b": N(2)})
g.case("conv2d(x, 3, [3, 1], stride = [1, 2], padding = [1, 0], dilation = [2, 1])",
       lambda x, w, b: F.conv2d(x, w, b, (1, 2), (1, 0), (2, 1)), x=N(2, 2, 6, 5), params={"w": N(3, 2, 3, 1), "b": N(3)})
g.case("conv2d(x, 3, 3, padding = [(2, 0), (0, 1)])", lambda x, w, b: F.conv2d(F.pad(x, (0, 1, 2, 0)), w, b),
       x=N(1, 2, 4, 5), params={"w": N(3, 2, 3, 3), "b": N(3)})
g.case("conv2d(x, 2, 3, dilation = 2, padding = \"same\")", lambda x, w, b: F.conv2d(same_padding(x, 3, 1, 2), w, b, dilation=2),
       x=N(1, 2, 5, 4), params={"w": N(2, 2, 3, 3), "b": N(2)})
g.case("conv2d(x, 2, 1)", lambda x, w, b: F.conv2d(x, w, b), x=N(1, 1, 1, 1), params={"w": N(2, 1, 1, 1), "b": N(2)})
g.case("depthwise_conv2d(x, 3, padding = 1)", lambda x, w, b: F.conv2d(x, w, b, padding=1, groups=3), x=N(2, 3, 5, 4),
       params={"w": N(3, 1, 3, 3), "b": N(3)})
g.case("depthwise_conv2d(x, 3, stride = 2, multiplier = 2, bias = false)", lambda x, w: F.conv2d(x, w, stride=2, groups=2),
       x=N(2, 2, 5, 6), params={"w": N(4, 1, 3, 3)})
g.case("conv(x, w, stride = 2, padding = 1)", lambda x, w: F.conv2d(x, w, stride=2, padding=1), x=N(2, 3, 5, 5), w=N(2, 3, 3, 3))
g.case("conv_transpose(x, w, stride = 2)", lambda x, w: F.conv_transpose1d(x, w, stride=2), x=N(2, 3, 4), w=N(3, 2, 3))

# ---- pooling ------------------------------------------------------------------------------------

g = Group("pools")
SIZES = {1: (10,), 2: (7, 8), 3: (5, 4, 5)}
for n in (1, 2, 3):
    size = SIZES[n]
    for kernel, more in [(2, {}), (3, dict(stride=2, padding=1)), (2, dict(stride=3)), (3, dict(stride=1)), (1, dict(stride=2)),
                         (3, dict(stride=2, ceil_mode=True)), (3, dict(stride=2, padding=1, ceil_mode=True)), (2, dict(stride=3, ceil_mode=True))]:
        if n == 3 and kernel != 3:
            continue
        g.case(f"max_pool{n}d(x, {kernel}{told(**more)})", lambda x, f=MAX[n], k=kernel, m=more: f(x, k, **m), x=D(1, 2, *size))
        for include in (True, False):
            if n != 2 and include == (kernel == 2):
                continue
            more = dict(more, count_include_pad=include)
            g.case(f"avg_pool{n}d(x, {kernel}{told(**more)})", lambda x, f=AVG[n], k=kernel, m=more: f(x, k, **m), x=N(1, 2, *size))
    g.case(f"max_pool{n}d(x, 2, stride = 1, dilation = 2)", lambda x, f=MAX[n]: f(x, 2, 1, dilation=2), x=D(1, 2, *size))
    g.case(f"max_pool{n}d(x, 2)", lambda x, f=MAX[n]: f(x, 2), x=torch.ones((1, 1) + size).numpy())  # ties
    g.case("global_avg_pool(x)", lambda x, n=n: x.mean(tuple(range(2, n + 2))), x=N(2, 3, *size))
    g.case("global_max_pool(x)", lambda x, n=n: x.amax(tuple(range(2, n + 2))), x=D(2, 3, *size))
    adaptive = {1: (F.adaptive_avg_pool1d, F.adaptive_max_pool1d), 2: (F.adaptive_avg_pool2d, F.adaptive_max_pool2d),
                3: (F.adaptive_avg_pool3d, F.adaptive_max_pool3d)}[n]
    for out in {1: (1, 2, 3), 2: (1, 3), 3: (2,)}[n]:
        g.case(f"adaptive_avg_pool(x, {out})", lambda x, f=adaptive[0], o=out: f(x, o), x=N(2, 2, *size))
        g.case(f"adaptive_max_pool(x, {out})", lambda x, f=adaptive[1], o=out: f(x, o), x=D(1, 2, *size))
g.case("adaptive_avg_pool(x, [9, 5])", lambda x: F.adaptive_avg_pool2d(x, (9, 5)), x=N(1, 2, 4, 7))
g.case("window_means(x, 2, 3)", lambda x: F.adaptive_avg_pool1d(x, 3), x=N(1, 2, 7))
for p in (1, 2, 3):
    g.case(f"lp_pool(x, {p}, 3, stride = 2)", lambda x, p=p: F.lp_pool2d(x.abs(), p, 3, 2), x=N(2, 2, 7, 6))
g.case("lp_pool(x, 2, 2, ceil_mode = true)", lambda x: F.lp_pool1d(x, 2, 2, ceil_mode=True), x=U(0.1, 1, 2, 2, 6))
g.case("max_pool(x, [2, 3], stride = [3, 1], padding = [1, 0])", lambda x: F.max_pool2d(x, (2, 3), (3, 1), (1, 0)), x=D(2, 1, 6, 5))
g.case("max_pool2d(x, 3, stride = 2, padding = \"same\")",
       lambda x: F.max_pool2d(same_padding(x, 3, 2, value=-math.inf), 3, 2), x=D(1, 2, 6, 7))
g.case("sum_pool(x, 2, stride = 1, padding = 1)", lambda x: F.avg_pool2d(x, 2, 1, 1) * 4, x=N(2, 1, 4, 3))
g.case("avg_pool(x, 3, stride = 2, padding = \"same\", count_include_pad = false)",
       lambda x: F.avg_pool2d(same_padding(x, 3, 2), 3, 2) / F.avg_pool2d(same_padding(torch.ones_like(x), 3, 2), 3, 2), x=N(1, 2, 6, 5))
# Rows of windows of two that lie side by side: whole spans, a last one that repeats windows, places that no window has.
for size in [(32,), (21,), (6, 28), (5, 8), (4, 11), (2, 3, 20)]:
    n = len(size)
    for kernel in [2] if n < 3 else [2, [1, 3, 2]]:
        g.case(f"max_pool{n}d(x, {kernel})", lambda x, f=MAX[n], k=kernel: f(x, k), x=D(2, 3, *size))
        g.case(f"max_pool{n}d(relu(x) * z, {kernel}) - z[..., :{size[-1] // 2}]" if n == 1 else f"max_pool{n}d(relu(x), {kernel})",
               (lambda x, z, k=kernel, m=size[-1] // 2: F.max_pool1d(F.relu(x) * z, k) - z[..., :m]) if n == 1 else
               (lambda x, f=MAX[n], k=kernel: f(F.relu(x), k)), x=D(2, 3, *size), **({"z": D(2, 3, *size)} if n == 1 else {}))
        g.case(f"avg_pool{n}d(x, {kernel})", lambda x, f=AVG[n], k=kernel: f(x, k), x=N(1, 2, *size))
odd = [1.0, math.inf, -0.0, 0.0, 0.0, -0.0, -math.inf, -math.inf, 3.0, 3.0, -1.0, -2.0, -math.inf, -5.0, math.inf, math.inf, 2.0, 1.0, 0.5, 4.0]
g.case("max_pool(x, 2)", lambda x: F.max_pool1d(x, 2), x=[[odd]])
g.case("max_pool2d(x, 2)", lambda x: F.max_pool2d(x, 2), x=[[[odd, odd[::-1]]]])
nans = [math.nan if i % 3 == 0 else v for i, v in enumerate(odd)]
g.case("where(is_nan(max_pool2d(x, 2)), 7, max_pool2d(x, 2))", lambda x: torch.nan_to_num(F.max_pool2d(x, 2), 7.0, math.inf, -math.inf),
       x=[[[nans, nans[::-1]]]])
g.case("max_pool(x, 2, stride = 2, padding = ceil_padding(x, 2, 2, 0, 1))", lambda x: F.max_pool1d(x, 2, ceil_mode=True), x=D(1, 1, 5))

# ---- sizes --------------------------------------------------------------------------------------

g = Group("images")
for n, size in [(1, (5,)), (2, (3, 4)), (3, (2, 3, 2))]:
    mode = {1: "linear", 2: "bilinear", 3: "trilinear"}[n]
    g.case("upsample_nearest(x, 2)", lambda x: F.interpolate(x, scale_factor=2), x=N(2, 2, *size))
    for align in (False, True):
        told_align = str(align).lower()
        g.case(f"upsample_linear(x, 2, align_corners = {told_align})",
               lambda x, m=mode, a=align: F.interpolate(x, scale_factor=2, mode=m, align_corners=a), x=N(2, 2, *size))
        for out in (1, 7):
            g.case(f"resize_linear(x, {out}, align_corners = {told_align})",
                   lambda x, m=mode, a=align, o=out: F.interpolate(x, size=[o] * (x.dim() - 2), mode=m, align_corners=a),
                   x=N(1, 2, *size))
    for out in (1, 7):
        g.case(f"resize_nearest(x, {out})", lambda x, o=out: F.interpolate(x, size=[o] * (x.dim() - 2)), x=N(1, 2, *size))
for align in (False, True):
    told_align = str(align).lower()
    for border in (False, True):
        for size, out in [((2, 2, 4, 5), (3, 6)), ((1, 3, 1, 7), (2, 2)), ((3, 1, 6, 2), (1, 9))]:
            g.case(f"grid_sample(x, g, border = {str(border).lower()}, align_corners = {told_align})",
                   lambda x, g, a=align, b=border: F.grid_sample(
                       x, g, padding_mode="border" if b else "zeros", align_corners=a),
                   x=N(*size), g=N(size[0], *out, 2, scale=0.8))
    for out in [(3, 4), (1, 5), (2, 1)]:
        g.case(f"affine_grid(x, [{out[0]}, {out[1]}], align_corners = {told_align})",
               lambda x, o=out, a=align: F.affine_grid(x, [x.shape[0], 1, *o], align_corners=a), x=N(2, 2, 3))
# Between pictures, far outside, and what a map does to them.
g.case("grid_sample(x, affine_grid(w, [4, 3]))",
       lambda x, w: F.grid_sample(x, F.affine_grid(w, [2, 2, 4, 3], align_corners=False), align_corners=False),
       x=N(2, 2, 5, 4), w=N(2, 2, 3))
g.case("grid_sample(x, 100 * g)", lambda x, g: F.grid_sample(x, 100 * g, align_corners=False), x=N(2, 1, 3, 3),
       g=N(2, 2, 4, 2))
g.case("upsample_nearest(x, [1, 3])", lambda x: x.repeat_interleave(3, 3), x=N(1, 2, 3, 2))
g.case("pixel_shuffle(x, 2)", lambda x: F.pixel_shuffle(x, 2), x=N(2, 8, 2, 3))
g.case("pixel_shuffle(x, 3)", lambda x: F.pixel_shuffle(x, 3), x=N(1, 9, 2, 1))
g.case("pixel_unshuffle(x, 2)", lambda x: F.pixel_unshuffle(x, 2), x=N(2, 2, 4, 6))
for size in (1, 2, 3, 5):
    g.case(f"local_response_norm(x, {size}, alpha = 0.1, k = 2.0)", lambda x, s=size: F.local_response_norm(x, s, 0.1, 0.75, 2.0), x=N(2, 4, 2, 3))
g.case("local_response_norm(x, 7, alpha = 0.5, beta = 0.5)", lambda x: F.local_response_norm(x, 7, 0.5, 0.5), x=N(2, 3, 4))
