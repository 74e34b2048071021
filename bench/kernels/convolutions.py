"""Rows that are convolutions: forward (conv), the gradient in the input (dx), the gradient in the weights (dw)."""
import math

import rows

FORWARD, INPUT, WEIGHT = "forward", "dx", "dw"
STATEMENTS = {FORWARD: "%s", INPUT: "grad(sum(%s * g), a)", WEIGHT: "grad(sum(%s * g), b)"}


def short(values):
    """One number where all are equal, else with x between."""
    return "x".join(map(str, values if len(set(values)) > 1 else values[:1]))


def sort_of(w, geometry):
    """What kind of window it is: "3x3", "3x3/2"."""
    text = "x".join(map(str, w[2:]))
    for mark, name, usual in (("/", "stride", 1), ("d", "dilation", 1)):
        if set(geometry[name]) != {usual}:
            text += mark + short(geometry[name])
    return text


def name_of(direction, x, w, geometry):
    """"3x3/2 64>128 @56x56 n8 p1 dx": window, channels, extents of the input, batch, padding, groups, direction."""
    low, high = geometry["low"], geometry["high"]
    text = "%s %d>%d @%s n%d" % (sort_of(w, geometry), x[1], w[0], "x".join(map(str, x[2:])), x[0])
    if any(low + high):
        text += " p" + (short(low) if low == high else "%s:%s" % (short(low), short(high)))
    if geometry["groups"] > 1:
        text += " g%d" % geometry["groups"]
    return text + " " + direction


def group_of(direction, x, w, groups, flop):
    if groups > 1 and w[1] == 1:
        return "depthwise " + direction
    return ("convolution " if flop >= rows.SMALL_FLOP else "small convolution ") + direction


def convolution(direction, x, w, out, geometry):
    """x [n, c, in...], w [k, c / groups, window...], out [n, k, out...]; geometry: low, high (zeros around x), stride,
    dilation, groups."""
    flop = 2.0 * math.prod(out) * math.prod(w[1:])
    shapes = {"a": x, "b": w, "g": out}
    result = {FORWARD: out, INPUT: x, WEIGHT: w}[direction]
    if direction == FORWARD:
        del shapes["g"]
    states = {name: ("f32", shape, "uniform(-1, 1)") for name, shape in shapes.items()}
    states["y"] = "f32", result, "zeros"
    padding = [list(pair) for pair in zip(geometry["low"], geometry["high"])]
    value = STATEMENTS[direction] % "conv(a, b, %s, %s, %s, %d)" % (
        geometry["stride"], padding, geometry["dilation"], geometry["groups"])
    moved = 4.0 * sum(math.prod(shape) for shape in (x, w, out))
    operation = {"kind": "convolution", "direction": direction, **geometry}
    return rows.Row(group_of(direction, x, w, geometry["groups"], flop), name_of(direction, x, w, geometry), operation,
                    flop, moved, rows.program(states, value), sort=sort_of(w, geometry))


# Of layers that no model here has: images, channels, results, extents, taps of an axis, and what differs from a stride, a
# dilation and groups of 1.
MADE = [
    (8, 64, 64, (28, 28), 3, {"dilation": 2}),                       # DeepLab
    (2, 256, 256, (32, 32), 3, {"dilation": 4}),
    (8, 128, 128, (28, 28), 3, {"groups": 32}),                      # ResNeXt
    (8, 64, 192, (27, 27), 5, {}),                                   # AlexNet
    (8, 96, 96, (56, 56), 7, {"groups": 96}),                        # ConvNeXt
    (8, 144, 144, (56, 56), 5, {"groups": 144, "stride": 2}),        # EfficientNet
    (8, 64, 128, (4000,), 9, {}),                                    # sounds
    (8, 64, 64, (1000,), 3, {"dilation": 8}),                        # WaveNet
    (128, 64, 64, (32, 32), 3, {}),                                  # CIFAR
    (8, 128, 256, (16, 16), 4, {"stride": 2}),                       # DCGAN
    (4, 30, 50, (33, 33), 3, {}),
]


def made(is_quick):
    """All three directions of each, with zeros around x that leave its extents to a stride of 1."""
    found = []
    for n, c, k, extents, taps, marks in MADE[:3] if is_quick else MADE:
        stride, dilation, groups = (marks.get(name, 1) for name in ("stride", "dilation", "groups"))
        pad = dilation * (taps - 1) // 2
        out = [(extent + 2 * pad - dilation * (taps - 1) - 1) // stride + 1 for extent in extents]
        each = lambda value: [value] * len(extents)
        geometry = {"low": each(pad), "high": each(pad), "stride": each(stride), "dilation": each(dilation), "groups": groups}
        found += [convolution(direction, [n, c, *extents], [k, c // groups, *each(taps)], [n, k, *out], geometry)
                  for direction in (FORWARD, INPUT, WEIGHT)]
    return found
