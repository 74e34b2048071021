"""What is built, checked and timed: the rows of the tables, in the order of their importance, and the small
modules that hold one operator. bundle.py compiles them, gpu.py runs them; sizes are the real ones or tiny."""

# A model row: name, the file of models/, its constants, the bound of each target (eager, compiled).
# `tiny` are constants with which the emulator takes a step in seconds.
MODELS = [
    {"name": "gpt2_b4", "file": "gpt2", "defines": {"batch": 4, "time": 1024}, "targets": (2.0, 1.15),
     "tiny": {"batch": 1, "time": 8, "context": 8, "vocab": 40, "layers": 1, "heads": 2, "width": 16}},
    {"name": "gpt2_b32", "file": "gpt2", "defines": {"batch": 32, "time": 1024}, "targets": (1.3, 1.05),
     "tiny": {"batch": 2, "time": 8, "context": 8, "vocab": 40, "layers": 1, "heads": 2, "width": 16}},
    {"name": "perceptron", "file": "mnist", "defines": {}, "targets": (10.0, 3.0), "tiny": {"batch": 10}},
    {"name": "cnn", "file": "mnist_cnn", "defines": {}, "targets": (5.0, 1.5), "tiny": {"batch": 4}},
    {"name": "resnet50", "file": "resnet50", "defines": {"batch": 64}, "targets": (1.2, 1.05),
     "tiny": {"batch": 2, "size": 32, "classes": 10}},
    {"name": "mobilenet_v2", "file": "mobilenet_v2", "defines": {"batch": 128, "drop": 0}, "targets": (1.5, 1.15),
     "tiny": {"batch": 2, "size": 32, "classes": 10, "drop": 0}},
]
# Of a model the precision that its target is about comes first. PyTorch's f32 has tf32 switched off.
PRECISIONS = {"gpt2": ["bf16", "tf32"], "mnist": ["f32", "tf32"], "mnist_cnn": ["f32", "tf32"],
              "resnet50": ["bf16", "tf32"], "mobilenet_v2": ["bf16", "tf32"]}
MEMORY_TARGET, CONTRACTION_TARGET = 0.85, 0.9
COMPILE_TARGETS = {"cold": 60.0, "cached": 1.0}  # seconds of `nnc --target=cuda models/gpt2.net`

TYPES = ["bf16", "tf32", "f32"]
CUBES = [512, 1024, 2048, 4096, 8192]
SHAPES = [  # m, k, n and whose
    (4096, 768, 2304, "GPT-2 B=4 q, k, v"), (4096, 768, 3072, "GPT-2 B=4 up"), (4096, 3072, 768, "GPT-2 B=4 down"),
    (4096, 768, 50257, "GPT-2 B=4 logits"), (32768, 768, 3072, "GPT-2 B=32 up"), (768, 32768, 3072, "its weights"),
    (100, 784, 1000, "perceptron"), (200704, 64, 256, "ResNet-50 wide"), (12544, 1024, 256, "ResNet-50 narrow"),
]
TINY_SHAPES = [(16, 16, 16, "cube"), (24, 40, 10, "oblong")]

CONVOLUTIONS = [  # images, channels, size, out, kernel, stride, groups
    (4, 3, 224, 64, 7, 2, 1), (8, 64, 56, 64, 3, 1, 1), (8, 128, 28, 128, 3, 2, 1), (8, 512, 7, 512, 3, 1, 1),
    (8, 64, 56, 256, 1, 1, 1), (8, 256, 56, 512, 1, 2, 1), (8, 96, 112, 96, 3, 2, 96), (8, 144, 56, 144, 3, 1, 144),
    (8, 960, 7, 960, 3, 1, 960), (32, 1, 28, 8, 3, 1, 1), (32, 8, 28, 8, 3, 1, 1),
]
TINY_CONVOLUTIONS = [(2, 3, 9, 8, 3, 2, 1), (2, 4, 6, 4, 3, 1, 4)]

ATTENTION = [(2, 1024, 768, 12), (1, 300, 256, 4)]  # batch, time, width, heads; causal
TINY_ATTENTION = [(1, 9, 8, 2)]

# Greatest relative norm of an error, against float64 on the same (rounded) operands.
TOLERANCE = {"f32": 1e-5, "tf32": 1e-3, "bf16": 6e-3}
ATTENTION_FACTOR = 3  # of it, for attention: an error of a score is one of an exponent


def repeats_of(m, k, n):
    """Contractions a step: enough that the step takes some 50 us on a fast GPU, within memory."""
    return max(1, min(16, int(2e10 / (2.0 * m * k * n)) + 1))


def contraction_text(m, k, n, type_name, repeats):
    storage = "bf16" if type_name == "bf16" else "f32"
    lines = ["init drawn() { return randn(shape) }", "param p : [1] = zeros"]
    for i in range(repeats):
        lines += [f"state a{i} : {storage}[{m}, {k}] = drawn", f"state b{i} : {storage}[{k}, {n}] = drawn",
                  f"state c{i} : {storage}[{m}, {n}] = zeros", f"c{i} <- a{i} @ b{i}"]
    return "\n".join(lines + ["loss = sum(p)", train_block("sgd(lr = 0)", type_name if storage == "f32" else "f32")])


OBSERVE = """optimizer observe() {
  state d = zeros
  d <- g
  w <- w
}
init drawn() { return randn(shape) }
"""


def convolution_text(images, channels, size, out, kernel, stride, groups, type_name):
    after = (size + 2 * (kernel // 2) - kernel) // stride + 1
    shape = f"[{images}, {out}, {after}, {after}]"
    return OBSERVE + f"""param x : [{images}, {channels}, {size}, {size}] = drawn
y = conv2d(x, {out}, {kernel}, stride = {stride}, padding = {kernel // 2}, groups = {groups}, bias = false,
           init = drawn)
state seen : {shape} = drawn
state result : {shape} = zeros
result <- y
loss = sum(y * seen)
""" + train_block("observe", type_name)


def attention_text(batch, time, width, heads, type_name):
    lines = [f"param {name} : [{batch}, {time}, {width}] = drawn" for name in "qkv"]
    return OBSERVE + "\n".join(lines) + f"""
y = attention(q, k, v, heads = {heads}, causal = true)
state seen : [{batch}, {time}, {width}] = drawn
state result : [{batch}, {time}, {width}] = zeros
result <- y
loss = sum(y * seen)
""" + train_block("observe", type_name)


def train_block(optimizer, precision):
    chosen = "" if precision == "f32" else f", precision = {precision}"
    return f"train {{ minimize = loss, optimizer = {optimizer}, steps = 1{chosen} }}\n"


def checks(tiny):
    """Every small module: kind, name, type, numbers and text."""
    found = []
    shapes = TINY_SHAPES if tiny else [(n, n, n, "cube") for n in CUBES] + SHAPES
    for m, k, n, whose in shapes:
        for type_name in TYPES:
            repeats = 2 if tiny else repeats_of(m, k, n)
            found.append({"kind": "contraction", "name": f"{m}x{k}x{n}", "whose": whose, "type": type_name,
                          "sizes": [m, k, n], "repeats": repeats,
                          "text": contraction_text(m, k, n, type_name, repeats)})
    for sizes in TINY_CONVOLUTIONS if tiny else CONVOLUTIONS:
        for type_name in TYPES:
            name = "x".join(map(str, sizes))
            found.append({"kind": "convolution", "name": name, "type": type_name, "sizes": list(sizes),
                          "text": convolution_text(*sizes, type_name)})
    for sizes in TINY_ATTENTION if tiny else ATTENTION:
        for type_name in TYPES:
            name = "x".join(map(str, sizes))
            found.append({"kind": "attention", "name": name, "type": type_name, "sizes": list(sizes),
                          "text": attention_text(*sizes, type_name)})
    return found
