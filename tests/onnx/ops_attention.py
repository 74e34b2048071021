"""Attention, rotary positions, recurrent layers, and operators with graphs in attributes."""
from node import HELD, Refused, operators, text

TABLE, op = operators()
TYPES = {1: "f32", 10: "f16", 11: "f64", 16: "bf16"}


@op("Attention")
def attention(n):
    three = n.rank() == 3
    for name, i, count in (("q", 0, "q_num_heads"), ("k", 1, "kv_num_heads"), ("v", 2, "kv_num_heads")):
        n.let(f"{name} = " + (f"split_heads({n[i]}, {n.attr(count)})" if three else n[i]))
    past = n.shape(4)[2] if n.has(4) else 0
    if past:
        n.let(f"k = concat({n[4]}, k, axis = 2)")
        n.let(f"v = concat({n[5]}, v, axis = 2)")
    size = n.shape()[2] // n.attr("q_num_heads") if three else n.shape()[3]
    said = {"mask": n[3], "lengths": n[6], "past": past, "scale": text(n.attr("scale") or size ** -0.5),
            "softcap": text(n.attr("softcap", 0.0)), "causal": text(bool(n.attr("is_causal"))),
            "left": n.attr("left_window_size", -1), "right": n.attr("right_window_size", -1),
            "precision": TYPES[n.attr("softmax_precision")] if n.attr("softmax_precision") else None,
            "mode": n.attr("qk_matmul_output_mode", 0)}
    n.let("y, scores = onnx_attention(q, k, v, " + ", ".join(f"{name} = {value}" for name, value in said.items()
                                                            if value is not None) + ")")
    return ["join_heads(y)" if three else "y", "k", "v", "scores"][:max(n.case.wants) + 1]


@op("RotaryEmbedding")
def rotary_embedding(n):
    three = n.rank() == 3
    x = f"split_heads({n[0]}, {n.attr('num_heads')})" if three else n[0]
    c, s = (f"{n[i]}[{n[3]}]" if n.has(3) else n[i] for i in (1, 2))
    size = n.attr("rotary_embedding_dim", 0) or (n.shape()[2] // n.attr("num_heads") if three else n.shape()[3])
    y = f"onnx_rotary({x}, {c}, {s}, {size}, {text(bool(n.attr('interleaved')))})"
    return f"join_heads({y})" if three else y


@op("LinearAttention")
def linear_attention(n):
    heads, shared = n.attr("q_num_heads"), n.attr("kv_num_heads")
    rule, kind = n.attr("update_rule", "gated_delta"), n.type()
    for name, i, count in (("q", 0, heads), ("k", 1, shared), ("v", 2, shared)):
        n.let(f"{name} = split_heads(f32({n[i]}), {count})")
    size_k, size_v = n.shape()[2] // heads, n.shape(2)[2] // shared
    n.let("state = " + (f"f32({n[3]})" if n.has(3) else f"zeros([{n.shape()[0]}, {shared}, {size_k}, {size_v}])"))
    n.let("decay = " + (f"split_heads(f32({n[4]}), {shared})" if "gated" in rule else "none"))
    n.let("beta = " + (f"split_heads(f32({n[5]}), {n.shape(5)[2]})" if "delta" in rule else "none"))
    scale = text(n.attr("scale", 0.0) or size_k ** -0.5)
    n.let(f"y, state = linear_attention(q, k, v, state, decay, beta, {scale})")
    return [f"{kind}(join_heads(y))", f"{n.type(3) if n.has(3) else kind}(state)"][:max(n.case.wants) + 1]


def only_defaults(n, gates):
    if n.attr("activations") or n.attr("clip") or n.attr("input_forget"):
        raise Refused("other activations")
    return gates


@op("RNN", "GRU", "LSTM")
def recurrent(n):
    """Directions by themselves; x: [time, n, in], or with layout 1 the examples first."""
    name = n.op.lower()
    only_defaults(n, name)
    directions, last = n.shape(1)[0], n.attr("layout", 0)
    x = f"move_axis({n[0]}, 0, 1)" if last else n[0]
    n.let(f"x = {x}")
    for d in range(directions):
        backward = n.attr("direction", "forward") == "reverse" or d == 1
        states = [f"{n[i]}[{':, ' if last else ''}{d}]" if n.has(i) else "none"
                  for i in ((5, 6) if n.op == "LSTM" else (5,))]
        bias = f"{n[3]}[{d}]" if n[3] else "none"
        more = [f"{n[7]}[{d}]" if n[7] else "none"] if n.op == "LSTM" else \
            [text(bool(n.attr("linear_before_reset")))] if n.op == "GRU" else []
        steps = "flip(x, 0)" if backward else "x"
        results = [f"y{d}", f"h{d}"] + ([f"c{d}"] if n.op == "LSTM" else [])
        n.let(f"{', '.join(results)} = onnx_{name}({steps}, {n[1]}[{d}], {n[2]}[{d}], {bias}, "
              + ", ".join(states + more) + ")")
        if backward:
            n.let(f"y{d} = flip(y{d}, 0)")
    each = range(directions)
    y = f"stack({', '.join(f'y{d}' for d in each)}, axis = 1)"
    results = [f"transpose({y}, [2, 0, 1, 3])" if last else y]
    for name in ("h", "c")[:2 if n.op == "LSTM" else 1]:
        results.append(f"stack({', '.join(f'{name}{d}' for d in each)}, axis = {1 if last else 0})")
    return results[:max(n.case.wants) + 1]


# ---- graphs in attributes -----------------------------------------------------------------------

SIMPLE = {"Add": "{} + {}", "Sub": "{} - {}", "Mul": "{} * {}", "Div": "{} / {}", "Identity": "{}", "Tanh": "tanh({})",
          "Where": "where({}, {}, {})", "GreaterOrEqual": "{} >= {}", "Greater": "{} > {}", "LessOrEqual": "{} <= {}",
          "Less": "{} < {}", "Neg": "-{}", "Abs": "abs({})", "Sqrt": "sqrt({})", "Shape": "{}.shape",
          "Gather": "{}[{}]", "Range": "arange({}, {})", "Reshape": "reshape({}, {})"}


def graph_of(serialized, names, n):
    """Statements for the nodes of a graph whose inputs are called `names`, and the names of its results."""
    import onnx
    graph = onnx.GraphProto.FromString(serialized)
    known = dict(zip([info.name for info in graph.input], names))
    for tensor in graph.initializer:
        known[tensor.name] = constant(onnx.numpy_helper.to_array(tensor))
    for node in graph.node:
        if node.op_type == "Constant":
            attribute = node.attribute[0]
            value = onnx.helper.get_attribute_value(attribute)
            value = onnx.numpy_helper.to_array(value) if attribute.name == "value" else value
            known[node.output[0]] = constant(value)
            continue
        if node.op_type == "Cast":
            known[node.output[0]] = f"{TYPES[node.attribute[0].i]}({known[node.input[0]]})"
            continue
        if node.op_type not in SIMPLE:
            raise Refused(f"{node.op_type} in a graph")
        name = f"{node.op_type.lower()}_{len(n.lines)}"
        n.let(f"{name} = " + SIMPLE[node.op_type].format(*(known[i] for i in node.input)))
        known[node.output[0]] = name
    return [known[info.name] for info in graph.output]


def constant(value):
    """A number, a shape or a tensor."""
    if getattr(value, "size", 1) != 1:
        if value.dtype.kind == "i":
            return text(value)
        return f"{HELD[value.dtype.name]}({text(value)})"
    return text(value.item() if hasattr(value, "item") else value)


@op("FlexAttention")
def flex_attention(n):
    kind = n.type() if n.type() in ("f32", "f64") else "f32"
    scale = text(n.attr("scale") or n.shape()[3] ** -0.5)
    n.let(f"s = {kind}(scaled_products({n[0]}, {n[1]}, {scale}))")
    if n.attr("score_mod"):
        n.let(f"s = {graph_of(n.attr('score_mod'), ['s'], n)[0]}")
    n.let("p = softmax(s)")
    if n.attr("prob_mod"):
        n.let(f"p = {graph_of(n.attr('prob_mod'), ['p'], n)[0]}")
    return f"{n.out_type()}(p @ {kind}(repeated({n[2]}, {n.shape()[1]})))"


@op("Scan")
def scan(n):
    """One sequence, and states that are carried; before operator set 9 for each example by itself."""
    batched = n.case.version < 9
    operands = list(range(1, len(n)) if batched else range(len(n)))
    carried = [f"carry{i}" for i in range(len(operands) - 1)]
    outer, n.lines = n.lines, []
    results = graph_of(n.attr("body"), carried + ["element"], n)
    body = n.lines + [f"next{i} = {result}" for i, result in enumerate(results)]
    body += [f"{name} = next{i}" for i, name in enumerate(carried)]
    body.append("yield " + ", ".join(f"next{i}" for i in range(len(carried), len(results))))
    n.lines = outer
    examples = n.shape(operands[-1])[0] if batched else 1
    for b in range(examples):
        values = [f"{n[i]}[{b}]" if batched else n[i] for i in operands]
        first = ", ".join(f"{name} = {value}" for name, value in zip(carried, values))
        names = [f"yield{b}_{i}" for i in range(len(results) - len(carried))]
        names += [f"last{b}_{i}" for i in range(len(carried))]
        n.let(f"{', '.join(names)} = scan element in {values[-1]} with {first} {{ {'; '.join(body)} }}")
    wanted = [f"last{{b}}_{i}" for i in range(len(carried))]
    wanted += [f"yield{{b}}_{i}" for i in range(len(results) - len(carried))]
    if not batched:
        return [name.format(b=0) for name in wanted]
    return [f"stack({', '.join(name.format(b=b) for b in range(examples))})" for name in wanted]


@op("If")
def choice(n):
    """Both branches are computed, which have no effects."""
    then, other = (graph_of(n.attr(name), [], n)[0] for name in ("then_branch", "else_branch"))
    return f"where({n[0]}, {then}, {other})"
