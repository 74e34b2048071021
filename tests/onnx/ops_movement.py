"""Movement, indexing and making."""
from node import operators, text

TABLE, op = operators()


@op("Reshape")
def reshape(n):
    shape = n.known(1)
    shape = [n.shape()[i] if extent == 0 and not n.attr("allowzero") else extent for i, extent in enumerate(shape)]
    return f"reshape({n[0]}, {text(shape)})"


@op("Squeeze", "Unsqueeze")
def squeeze(n):
    return f"reshape({n[0]}, {text(n.out_shape())})"


@op("Flatten")
def flatten(n):
    axis = n.axis(1)
    return f"reshape({n[0]}, [{text(n.shape()[:axis])[1:-1].replace(', ', ' * ') or 1}, -1])"


@op("Transpose")
def transpose(n):
    return f"transpose({n[0]}, {text(n.attr('perm'))})" if n.attr("perm") else f"transpose({n[0]})"


@op("Concat")
def concat(n):
    return f"concat({', '.join(n[i] for i in range(len(n)))}, axis = {n.attr('axis')})"


@op("Expand")
def expand(n):
    return f"broadcast({n[0]}, {text(n.out_shape())})"


@op("Tile")
def tile(n):
    return f"tile({n[0]}, {text(n.known(1))})"


@op("Split")
def split(n):
    axis, parts = n.axis(0), n.known(1)
    if parts is None:
        extent, count = n.shape()[axis], n.attr("num_outputs") or len(n.case.wants)
        each = -(-extent // count)
        parts = [min(each, extent - i * each) for i in range(count)]
    return f"split({n[0]}, {text(parts)}, axis = {axis})"


@op("Slice")
def slices(n):
    starts, ends = n.known(1), n.known(2)
    axes = n.known(3) or list(range(len(starts)))
    steps = n.known(4) or [1] * len(starts)
    places = [":"] * n.rank()
    for axis, start, end, step in zip(axes, starts, ends, steps):
        axis += n.rank() if axis < 0 else 0
        extent = n.shape()[axis]
        stop = "" if step < 0 and end < -extent else str(end)
        places[axis] = f"{start}:{stop}" + (f":{step}" if step != 1 else "")
    return f"{n[0]}[{', '.join(places)}]"


@op("Pad")
def pad(n):
    pads, axes = n.known(1), n.known(3) or list(range(n.rank()))
    widths = [(0, 0)] * n.rank()
    for i, axis in enumerate(axes):
        widths[axis] = (pads[i], pads[i + len(axes)])
    widths = "[" + ", ".join(f"({low}, {high})" for low, high in widths) + "]"
    mode = n.attr("mode", "constant")
    value = f", value = {text(n.known(2))}" if n.has(2) and mode == "constant" else ""
    return f"pad({n[0]}, {widths}{value}, mode = \"{mode}\")"


@op("Gather")
def gather(n):
    axis = n.axis(0)
    index = f"non_negative({n[1]}, {n.shape()[axis]})"
    return f"{n[0]}[{':, ' * axis}{index}]"


@op("Compress")
def compress(n):
    """The condition decides a shape, so it is known."""
    places = [i for i, chosen in enumerate(n.known(1)) if chosen]
    if n.attr("axis") is None:
        return f"reshape({n[0]}, [-1])[{places}]"
    return f"{n[0]}[{':, ' * n.axis()}{places}]"


@op("GatherElements")
def gather_elements(n):
    axis = n.axis(0)
    return f"gather_elements({n[0]}, {n[1]}, {axis})"


@op("GatherND")
def gather_nd(n):
    batch, depth = n.attr("batch_dims", 0), n.shape(1)[-1]
    return f"gather_nd({n[0]}, {n[1]}, {batch}, {depth})"


@op("ArrayFeatureExtractor")
def array_feature_extractor(n):
    return f"{n[0]}[..., {n[1]}]"


@op("ScatterElements", "Scatter")
def scatter_elements(n):
    return f"scatter_elements({n[0]}, {n[1]}, {n[2]}, {n.axis(0)}, \"{n.attr('reduction', 'none')}\")"


@op("ScatterND")
def scatter_nd(n):
    return f"scatter_nd({n[0]}, {n[1]}, {n[2]}, \"{n.attr('reduction', 'none')}\")"


@op("OneHot")
def one_hot(n):
    depth = int(n.known(1) if not isinstance(n.known(1), list) else n.known(1)[0])
    axis = n.axis(-1, rank=n.rank() + 1)
    hot = f"move_axis(one_hot(non_negative(i64({n[0]}), {depth}), {depth}), -1, {axis})"
    return f"where({hot} != 0, {n[2]}[1], {n[2]}[0])"


@op("Shape")
def shape(n):
    end = n.attr("end")
    places = f"{n.attr('start', 0)}:{'' if end is None else end}"
    if n.out_shape() == [0]:
        return f"zeros([0], i64) + len({n[0]}.shape[{places}])"
    return f"i64({n[0]}.shape[{places}])"


@op("Size")
def size(n):
    return f"full([], {n[0]}.size, i64)"


@op("ConstantOfShape")
def constant_of_shape(n):
    value = n.attr("value")
    value, kind = (value.tolist()[0], n.out_type()) if value is not None else (0.0, "f32")
    return f"full({text(n.known(0))}, {text(value)}, {kind})"


@op("Constant")
def constant(n):
    return f"{n.out_type()}({text(n.attr('value'))})"


@op("EyeLike")
def eye_like(n):
    rows, columns = n.shape()
    return f"{n.out_type()}(arange({rows})[:, none] + {n.attr('k', 0)} == arange({columns}))"


@op("Range")
def ranges(n):
    count = n.out_shape()[0]
    return f"{n[0]} + {n.type()}(arange({count})) * {n[2]}"


@op("Trilu")
def trilu(n):
    k = n.known(1, 0)
    k = k[0] if isinstance(k, list) else k
    return f"{'triu' if n.attr('upper', 1) else 'tril'}({n[0]}, k = {k})"


@op("DepthToSpace")
def depth_to_space(n):
    b, (count, c, h, w) = n.attr("blocksize"), n.shape()
    if n.attr("mode", "DCR") == "CRD":
        return f"pixel_shuffle({n[0]}, {b})"
    parts = f"reshape({n[0]}, [{count}, {b}, {b}, {c // b ** 2}, {h}, {w}])"
    return f"reshape(transpose({parts}, [0, 3, 4, 1, 5, 2]), {text(n.out_shape())})"


@op("SpaceToDepth")
def space_to_depth(n):
    b, (count, c, h, w) = n.attr("blocksize"), n.shape()
    if n.attr("mode", "DCR") == "CRD":
        return f"pixel_unshuffle({n[0]}, {b})"
    parts = f"reshape({n[0]}, [{count}, {c}, {h // b}, {b}, {w // b}, {b}])"
    return f"reshape(transpose({parts}, [0, 3, 5, 1, 2, 4]), {text(n.out_shape())})"


@op("CenterCropPad")
def center_crop_pad(n):
    """Axis by axis: the middle, or zeros around."""
    axes = n.attr("axes") or list(range(n.rank()))
    places, widths = [":"] * n.rank(), [(0, 0)] * n.rank()
    for axis, wanted in zip(axes, n.known(1)):
        extent, axis = n.shape()[axis], axis % n.rank()
        if wanted < extent:
            places[axis] = f"{(extent - wanted) // 2}:{(extent - wanted) // 2 + wanted}"
        else:
            widths[axis] = ((wanted - extent) // 2, wanted - extent - (wanted - extent) // 2)
    widths = "[" + ", ".join(f"({low}, {high})" for low, high in widths) + "]"
    return f"pad({n[0]}[{', '.join(places)}], {widths})"


@op("ReverseSequence")
def reverse_sequence(n):
    return f"reverse_sequence({n[0]}, {n[1]}, {n.attr('time_axis', 0)})"


@op("TensorScatter")
def tensor_scatter(n):
    start = n[2] or "none"
    return f"tensor_scatter({n[0]}, {n[1]}, {start}, {n.axis(-2)}, {text(n.attr('mode', 'linear') == 'circular')})"


