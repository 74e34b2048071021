"""Programs of the pages with files that have the names of others, beside the same networks in plain Python: GPT-2 of
docs/recipes.md with the published names, the perceptron of docs/from-pytorch.md with those of torch.nn."""
import array
import json
import math
import os
import random
import struct

LAYERS, HEADS, WIDTH, VOCAB, CONTEXT, TIME = 2, 2, 8, 11, 6, 4


def draw():
    """Tensors by the names of the published file, its masks included: (shape, numbers)."""
    rng = random.Random(1)

    def tensor(*shape):
        return shape, [rng.uniform(-0.5, 0.5) for _ in range(math.prod(shape))]

    found = {"wte.weight": tensor(VOCAB, WIDTH), "wpe.weight": tensor(CONTEXT, WIDTH)}
    for i in range(LAYERS):
        for name, units in [("attn.c_attn", (WIDTH, 3 * WIDTH)), ("attn.c_proj", (WIDTH, WIDTH)),
                            ("mlp.c_fc", (WIDTH, 4 * WIDTH)), ("mlp.c_proj", (4 * WIDTH, WIDTH))]:
            found[f"h.{i}.{name}.weight"] = tensor(*units)
            found[f"h.{i}.{name}.bias"] = tensor(units[1])
        found[f"h.{i}.attn.bias"] = tensor(1, 1, CONTEXT, CONTEXT)  # a mask, which no program needs
        for name in ["ln_1", "ln_2"]:
            found[f"h.{i}.{name}.weight"], found[f"h.{i}.{name}.bias"] = tensor(WIDTH), tensor(WIDTH)
    found["ln_f.weight"], found["ln_f.bias"] = tensor(WIDTH), tensor(WIDTH)
    return found


def write(path, tensors):
    header, data = {}, b""
    for name, (shape, numbers) in tensors.items():
        raw = struct.pack(f"<{len(numbers)}f", *numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def last_logits(tensors, tokens):
    def value(name):
        shape, numbers = tensors[name]
        return numbers if len(shape) == 1 else [numbers[r * shape[1]:(r + 1) * shape[1]] for r in range(shape[0])]

    def norm(x, name):
        mean = sum(x) / len(x)
        deviation = math.sqrt(sum((v - mean) ** 2 for v in x) / len(x) + 1e-5)
        return [(v - mean) / deviation * w + b for v, w, b in zip(x, value(name + ".weight"), value(name + ".bias"))]

    def affine(x, name):
        w = value(name + ".weight")
        return [b + sum(v * row[k] for v, row in zip(x, w)) for k, b in enumerate(value(name + ".bias"))]

    def attended(rows, i):
        parts, depth = [affine(norm(r, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn") for r in rows], WIDTH // HEADS
        seen = []
        for t in range(len(rows)):
            row = []
            for head in range(HEADS):
                at = slice(head * depth, (head + 1) * depth)
                q = parts[t][:WIDTH][at]
                weights = [math.exp(sum(a * b for a, b in zip(q, parts[s][WIDTH:2 * WIDTH][at])) / math.sqrt(depth)) for s in range(t + 1)]
                for k in range(depth):
                    row.append(sum(w * parts[s][2 * WIDTH:][at][k] for s, w in enumerate(weights)) / sum(weights))
            seen.append(affine(row, f"h.{i}.attn.c_proj"))
        return seen

    def gelu(v):
        return 0.5 * v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v ** 3)))

    wte, wpe = value("wte.weight"), value("wpe.weight")
    rows = [[a + b for a, b in zip(wte[token], wpe[t])] for t, token in enumerate(tokens)]
    for i in range(LAYERS):
        rows = [[a + b for a, b in zip(r, s)] for r, s in zip(rows, attended(rows, i))]
        rows = [[a + b for a, b in zip(r, affine([gelu(v) for v in affine(norm(r, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc")], f"h.{i}.mlp.c_proj"))] for r in rows]
    last = norm(rows[-1], "ln_f")
    return [sum(a * b for a, b in zip(last, row)) for row in wte]


def gpt2(program, folder, run):
    """None, or what is wrong: the page's program, with its logits for results, predicts what plain Python does."""
    text = program.replace("next_guess = argmax(logits[:, -1])", "last = logits[:, -1]")
    if text == program:
        return "the program has another predict block"
    with open(os.path.join(folder, "small.net"), "w") as file:
        file.write(text)
    tensors, tokens = draw(), [3, 0, 10, 7]
    write(os.path.join(folder, "model.safetensors"), tensors)
    with open(os.path.join(folder, "prompt.bin"), "wb") as file:
        array.array("H", tokens).tofile(file)
    sizes = {"layers": LAYERS, "heads": HEADS, "width": WIDTH, "vocab": VOCAB, "context": CONTEXT, "time": TIME}
    status, output = run("nnc small.net " + " ".join(f"-D {name}={size}" for name, size in sizes.items()) + " -o small && "
                         "./small predict --init model.safetensors prompt.bin")
    if status:
        return output[-1500:]
    found = json.loads(output[output.index("{"):output.index("}") + 1])["last"]
    off = max(abs(a - b) for a, b in zip(found, last_logits(tensors, tokens)))
    return None if len(found) == VOCAB and off < 1e-5 else f"logits are off by {off}: {output}"


def perceptron(program, folder, run):
    """The same of the page's perceptron, whose matrices are [out, in]."""
    text = program.replace("digit = argmax(logits)", "scores = logits")
    if text == program:
        return "the program has another predict block"
    with open(os.path.join(folder, "small.net"), "w") as file:
        file.write(text)
    rng = random.Random(2)
    shapes = {"fc1.weight": (128, 784), "fc1.bias": (128,), "fc2.weight": (10, 128), "fc2.bias": (10,)}
    tensors = {name: (shape, [rng.uniform(-0.1, 0.1) for _ in range(math.prod(shape))]) for name, shape in shapes.items()}
    write(os.path.join(folder, "net.safetensors"), tensors)
    pixels = [rng.randrange(256) for _ in range(784)]
    with open(os.path.join(folder, "images.idx"), "wb") as file:
        file.write(struct.pack(">4B3I", 0, 0, 8, 3, 1, 28, 28) + bytes(pixels))

    def layer(x, name):
        w, b = tensors[name + ".weight"][1], tensors[name + ".bias"][1]
        return [b[k] + sum(v * w[k * len(x) + i] for i, v in enumerate(x)) for k in range(len(b))]

    wanted = layer([max(v, 0) for v in layer([p / 255 for p in pixels], "fc1")], "fc2")
    status, output = run("nnc small.net -o small && ./small predict --init net.safetensors images.idx")
    if status:
        return output[-1500:]
    found = json.loads(output[output.index("{"):output.index("}") + 1])["scores"]
    off = max(abs(a - b) for a, b in zip(found, wanted))
    return None if len(found) == 10 and off < 1e-5 else f"scores are off by {off}: {output}"
