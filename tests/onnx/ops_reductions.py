"""Reductions, products, orders and what is normalized along an axis."""
from node import Refused, operators, text

TABLE, op = operators()


REDUCTIONS = {"ReduceSum": "sum({x}{axes})", "ReduceMean": "mean({x}{axes})", "ReduceProd": "prod({x}{axes})",
              "ReduceMax": "max({x}{axes})", "ReduceMin": "min({x}{axes})", "ReduceL1": "sum(abs({x}){axes})",
              "ReduceL2": "norm({x}{axes})", "ReduceSumSquare": "sum({x} ^ 2{axes})",
              "ReduceLogSum": "log(sum({x}{axes}))", "ReduceLogSumExp": "logsumexp({x}{axes})"}
# What ONNX has where the language refuses a result over no elements.
OF_NOTHING = {"ReduceMax": "-inf", "ReduceMin": "inf", "ReduceLogSumExp": "-inf"}


@op(*REDUCTIONS)
def reduction(n):
    axes = n.known(1) or n.attr("axes")
    if not axes and n.attr("noop_with_empty_axes"):
        return n[0]
    form = REDUCTIONS[n.op]
    if n.type() == "bool":
        form = {"ReduceMax": "any({x}{axes})", "ReduceMin": "all({x}{axes})"}[n.op]
    x = n[0]
    if n.op in OF_NOTHING and 0 in n.shape() and n.type() != "bool":
        axis = n.shape().index(0)  # that of no elements gets one that changes nothing
        widths = ", ".join("(1, 0)" if i == axis else "(0, 0)" for i in range(n.rank()))
        x = f"pad({x}, [{widths}], value = {OF_NOTHING[n.op]})"
    said = (f", axis = {text(axes)}" if axes else "") + f", keep = {text(bool(n.attr('keepdims', 1)))}"
    return form.format(x=x, axes=said)


@op("ArgMax", "ArgMin")
def arg_max(n):
    axis, name = n.axis(0), n.op.lower()
    keep = text(bool(n.attr("keepdims", 1)))
    if n.attr("select_last_index"):
        return f"{n.shape()[axis] - 1} - {name}(flip({n[0]}, {axis}), axis = {axis}, keep = {keep})"
    return f"{name}({n[0]}, axis = {axis}, keep = {keep})"


@op("Softmax", "LogSoftmax")
def softmax(n):
    return f"{'softmax' if n.op == 'Softmax' else 'log_softmax'}({n[0]}, axis = {n.attr('axis', -1)})"


@op("Hardmax")
def hardmax(n):
    axis = n.axis(-1)
    hot = f"one_hot(argmax({n[0]}, axis = {axis}), {n.shape()[axis]})"
    return f"{n.type()}(move_axis({hot}, -1, {axis}))"


@op("CumSum", "CumProd")
def cumulative(n):
    axis = n.known(1) if not isinstance(n.known(1), list) else n.known(1)[0]
    axis %= n.rank()
    flags = ", ".join(text(bool(n.attr(name, 0))) for name in ("exclusive", "reverse"))
    return f"cumulative({n[0]}, {axis}, {flags}, {text(n.op == 'CumProd')})"


@op("TopK")
def top_k(n):
    axis, k = n.axis(-1), n.known(1)[0]
    n.let(f"x = move_axis({n[0]}, {axis}, -1)")
    n.let(f"order = argsort(x, descending = {text(bool(n.attr('largest', 1)))})[..., :{k}]")
    return [f"move_axis(take_along_axis(x, order), -1, {axis})", f"move_axis(order, -1, {axis})"]


@op("MatMul")
def matmul(n):
    return f"{n[0]} @ {n[1]}"


@op("Gemm")
def gemm(n):
    a, b = (n[i] + (".T" if n.attr(name) else "") for i, name in ((0, "transA"), (1, "transB")))
    product = f"{a} @ {b}" if n.attr("alpha", 1.0) == 1.0 else f"{text(n.attr('alpha'))} * ({a} @ {b})"
    if not n[2]:
        return product
    return f"{product} + {n[2]}" if n.attr("beta", 1.0) == 1.0 else f"{product} + {text(n.attr('beta'))} * {n[2]}"


@op("Einsum")
def einsum(n):
    formula = n.attr("equation").replace(" ", "")
    if "->" not in formula:
        letters = formula.replace(",", "")
        formula += "->" + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return f"einsum(\"{formula}\", {', '.join(n[i] for i in range(len(n)))})"


@op("Det")
def det(n):
    if n.shape()[-1] != 2:
        raise Refused("determinants")
    x = n[0]
    return f"{x}[..., 0, 0] * {x}[..., 1, 1] - {x}[..., 0, 1] * {x}[..., 1, 0]"


@op("LpNormalization")
def lp_normalization(n):
    axis, p = n.axis(-1), n.attr("p", 2)
    length = f"sum(abs({n[0]}), axis = {axis}, keep = true)" if p == 1 else f"norm({n[0]}, axis = {axis}, keep = true)"
    n.let(f"length = {length}")
    return f"where(length == 0, 0, {n[0]} / where(length == 0, 1, length))"


@op("MeanVarianceNormalization")
def mean_variance_normalization(n):
    axes = text(n.attr("axes", [0, 2, 3]))
    x = n[0]
    return f"({x} - mean({x}, axis = {axes}, keep = true)) / (std({x}, axis = {axes}, keep = true) + 1e-9)"


