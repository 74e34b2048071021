"""Pictures: sizes, grids, regions; and signals."""
from node import operators, text

TABLE, op = operators()


# ---- sizes --------------------------------------------------------------------------------------

def sizes_and_scales(n, axes):
    """The extent of each axis of the result and its scale."""
    extents = [n.shape()[axis] for axis in axes]
    scales, sizes = (n.known(2) or None, n.known(3)) if n.op == "Resize" else (n.known(1), None)
    if scales:
        return [int(extent * scale) for extent, scale in zip(extents, scales)], scales
    policy = n.attr("keep_aspect_ratio_policy", "stretch")
    scales = [size / extent for size, extent in zip(sizes, extents)]
    if policy != "stretch":
        scale = min(scales) if policy == "not_larger" else max(scales)
        return [int(extent * scale + 0.5) for extent in extents], [scale] * len(axes)
    return sizes, scales


@op("Resize", "Upsample")
def resize(n):
    axes = [axis % n.rank() for axis in n.attr("axes") or range(n.rank())]
    sizes, scales = sizes_and_scales(n, axes)
    mode = n.attr("mode", "nearest")
    where = n.attr("coordinate_transformation_mode", "half_pixel" if n.op == "Resize" else "asymmetric")
    roi = n.known(1) if where == "tf_crop_and_resize" else None
    n.let(f"y = {n[0]}")
    for i, (axis, size, scale) in enumerate(zip(axes, sizes, scales)):
        extent = n.shape()[axis]
        if size == extent and scale == 1 and not roi:
            continue
        low, high = (roi[i], roi[len(axes) + i]) if roi else (0.0, 1.0)
        n.let(f"p = resize_places({extent}, {size}, {text(float(scale))}, \"{where}\", {text(low)}, {text(high)})")
        if mode == "nearest":
            rounding = n.attr("nearest_mode", "round_prefer_floor" if n.op == "Resize" else "floor")
            n.let(f"y = resize_nearest_along(y, {axis}, p, \"{rounding}\")")
        else:
            a = text(n.attr("cubic_coeff_a", -0.75)) if mode == "cubic" else "none"
            spread = text(min(1.0, scale) if n.attr("antialias") else 1.0)
            inside = text(bool(n.attr("exclude_outside")))
            n.let(f"y = resize_along(y, {axis}, p, {a}, {spread}, {inside})")
        if roi:
            beyond = text(n.attr("extrapolation_value", 0.0))
            n.let(f"y = only_within(y, {axis}, p, {extent}, {beyond})")
    return "y"


@op("AffineGrid")
def affine_grid(n):
    size = n.known(1)[2:]
    if len(size) == 2:
        return f"affine_grid({n[0]}, {size}, align_corners = {text(bool(n.attr('align_corners')))})"
    return f"onnx_affine_grid({n[0]}, {size}, {text(bool(n.attr('align_corners')))})"


@op("GridSample")
def grid_sample(n):
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(n.attr("mode", "linear"), n.attr("mode", "linear"))
    align, padding = text(bool(n.attr("align_corners"))), n.attr("padding_mode", "zeros")
    if mode == "linear" and n.rank() == 4 and padding != "reflection":
        return f"grid_sample({n[0]}, {n[1]}, border = {text(padding == 'border')}, align_corners = {align})"
    return f"onnx_grid_sample({n[0]}, {n[1]}, \"{mode}\", \"{padding}\", {align})"


@op("RoiAlign")
def roi_align(n):
    half = n.attr("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    size = [n.attr("output_height", 1), n.attr("output_width", 1)]
    return (f"roi_align({n[0]}, {n[1]}, {n[2]}, {size}, {n.attr('sampling_ratio')}, "
            f"{text(n.attr('spatial_scale', 1.0))}, {text(half)}, {text(n.attr('mode', 'avg') == 'max')})")


@op("DeformConv")
def deform_conv(n):
    pads, stride = n.attr("pads") or [0] * 4, n.attr("strides") or [1, 1]
    offset, mask = n[2], n[4] or "none"
    y = (f"deform_conv({n[0]}, {n[1]}, {offset}, {mask}, {n.attr('offset_group', 1)}, {pads[:2]}, {stride}, "
         f"{n.attr('dilations') or [1, 1]}, {n.attr('group', 1)})")
    return f"{y} + channels({n[3]}, 4)" if n[3] else y


# ---- signals ------------------------------------------------------------------------------------

@op("HannWindow", "HammingWindow", "BlackmanWindow")
def signal_window(n):
    size = n.known(0)
    weights = {"Hann": [0.5, 0.5, 0.0], "Hamming": [25 / 46, 21 / 46, 0.0], "Blackman": [0.42, 0.5, 0.08]}[n.op[:-6]]
    period = size if n.attr("periodic", 1) else size - 1
    return f"{n.out_type()}(cosine_window({size}, {period}, {', '.join(map(text, weights))}))"


@op("DFT")
def dft(n):
    axis = n.known(2, n.attr("axis", 1 if n.case.version < 20 else -2)) % n.rank()
    inverse, half = bool(n.attr("inverse")), bool(n.attr("onesided"))
    extent = n.shape()[axis]
    length = n.known(1) or (2 * (extent - 1) if inverse and half else extent)
    if inverse and half:
        return f"inverse_real_dft({n[0]}, {axis}, {length})"
    count = length // 2 + 1 if half else length
    return f"dft({n[0]}, {axis}, {length}, {count}, {text(inverse)})"


@op("STFT")
def stft(n):
    step = n.known(1)
    length = n.known(3) or n.shape(2)[0]
    count = 1 + (n.shape()[1] - length) // step
    bins = length // 2 + 1 if n.attr("onesided", 1) else length
    n.let(f"at = arange({count})[:, none] * {step} + arange({length})")
    n.let(f"frames = {n[0]}[:, at]" + (f" * {n[2]}[:, none]" if n.has(2) else ""))
    return f"dft(frames, 2, {length}, {bins}, false)"


@op("MelWeightMatrix")
def mel_weight_matrix(n):
    bins, length, rate, low, high = (n.known(i) for i in range(5))
    return f"mel_weights({bins}, {length}, {rate}, {text(low)}, {text(high)})"
