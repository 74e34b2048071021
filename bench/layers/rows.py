"""Layers and small networks as programs, each with the same in PyTorch. What layers read are parameters, so that all gradients
are made."""
import dataclasses
import glob
import os

TRAIN = "train { minimize = loss\n optimizer = sgd(lr = 0.001)\n steps = 4 }\n"
BATCH = 'const batch = %d\ndata train { x = npy("x.npy")\n label = npy("label.npy") }\ninput x : %s\ninput label : i32[batch%s]\n'


@dataclasses.dataclass
class Layer:
    name: str
    program: str  # for nnc
    setups: list  # for PyTorch, in each way: `parameters`, and what `loss` needs
    loss: str


def of(name, shape, result, ours, theirs, **parameters):
    """y = the layer of x, a parameter, whose result is multiplied by another value and summed."""
    sizes = lambda shape: ", ".join(map(str, shape))
    program = "const batch = 1\ndata train { z = npy(\"z.npy\") }\ninput z : f32[batch]\nparam x : f32[%s] = uniform(-1, 1)\n" \
        "state g : f32[%s] = uniform(-1, 1)\ny = %s\nloss = sum(y * g) + sum(z)\n" % (sizes(shape), sizes(result), ours)
    setup = "x = torch.rand(%s).mul(2).sub(1).requires_grad_()\ng = torch.rand(%s).mul(2).sub(1)\n" % (sizes(shape), sizes(result))
    for key, extents in parameters.items():
        setup += "%s = torch.rand(%s).requires_grad_()\n" % (key, sizes(extents))
    setup += "parameters = [%s]\n" % ", ".join(["x", *parameters])
    return Layer(name, program + TRAIN, [setup], "((%s) * g).sum()" % theirs)


def model(name, batch, x, ours, modules, theirs, labels=""):
    """A small network: a loss of x, an input, and of labels. `modules` are PyTorch's, by name."""
    integer = x.startswith("i32")
    sizes = x[x.index("[") + 1:-1].replace("batch", str(batch))
    setup = "x = torch.%s\nlabel = torch.randint(1, 10, (%d%s,))\n" % (
        "randint(0, 10, (%s,))" % sizes if integer else "rand(%s)" % sizes, batch, labels)
    setup += "".join("%s = torch.nn.%s\n" % pair for pair in modules.items())
    setup += "parameters = [p for module in (%s,) for p in module.parameters()]\n" % ", ".join(modules)
    return Layer(name, BATCH % (batch, x, labels) + ours + TRAIN, [setup], theirs)


def networks():
    """The programs in networks/, whose twins compute `loss()`; those that mention LAST lie in both layouts."""
    found = []
    for path in sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "networks", "*.net"))):
        with open(path) as program, open(path[:-4] + ".py") as twin:
            text, setup = program.read(), twin.read()
        layouts = ["contiguous_format"] + ["channels_last"] * ("LAST" in setup)
        ways = ["import torch\nLAST = torch.%s\n%s" % (layout, setup) for layout in layouts]
        found.append(Layer(os.path.basename(path)[:-4], text, ways, "loss()"))
    return found


PICTURES, POOLED, CHANNELS, ROWS = (8, 64, 56, 56), (8, 64, 28, 28), (64,), (2048, 1024)
UNIT = "def unit(x, c, k = 1, g = 1) { y = batch_norm(conv2d(x, c, k, padding = k // 2, groups = g, bias = false))\n return y }\n"
CONV = "Conv2d(%d, %d, %d, padding=%d, groups=%d, bias=False)"

TWO_LAYERS = "h = relu(conv2d(x, 64, 3, padding = 1))\nh = relu(conv2d(h, 64, 3, padding = 1))\n"
TWO_MODULES = {"a": "Conv2d(3, 64, 3, padding=1)", "b": "Conv2d(64, 64, 3, padding=1)"}
LAYERS = [
    of("avg_pool 3/2", PICTURES, POOLED, "avg_pool2d(x, 3, stride = 2, padding = 1)", "F.avg_pool2d(x, 3, 2, 1)"),
    of("max_pool 2", PICTURES, POOLED, "max_pool2d(x, 2)", "F.max_pool2d(x, 2)"),
    of("max_pool 5/1", POOLED, POOLED, "max_pool2d(x, 5, stride = 1, padding = 2)", "F.max_pool2d(x, 5, 1, 2)"),
    of("max_pool3d 2", (2, 16, 16, 32, 32), (2, 16, 8, 16, 16), "max_pool3d(x, 2)", "F.max_pool3d(x, 2)"),
    of("adaptive_avg_pool 7", POOLED, (8, 64, 7, 7), "adaptive_avg_pool(x, [7, 7])", "F.adaptive_avg_pool2d(x, 7)"),
    of("upsample_nearest 2", POOLED, PICTURES, "upsample_nearest(x, 2)", "F.interpolate(x, scale_factor=2, mode='nearest')"),
    of("upsample_linear 2", POOLED, PICTURES, "upsample_linear(x, 2)",
       "F.interpolate(x, scale_factor=2, mode='bilinear', align_corners=False)"),
    of("resize_linear", (4, 32, 56, 56), (4, 32, 90, 90), "resize_linear(x, [90, 90])",
       "F.interpolate(x, size=(90, 90), mode='bilinear', align_corners=False)"),
    of("pixel_shuffle 2", POOLED, (8, 16, 56, 56), "pixel_shuffle(x, 2)", "F.pixel_shuffle(x, 2)"),
    of("local_response_norm 5", PICTURES, PICTURES, "local_response_norm(x, 5)", "F.local_response_norm(x, 5)"),
    of("batch_norm", PICTURES, PICTURES, "batch_norm(x)", "F.batch_norm(x, None, None, gamma, beta, True)", gamma=CHANNELS, beta=CHANNELS),
    of("group_norm 8", PICTURES, PICTURES, "group_norm(x, 8)", "F.group_norm(x, 8, gamma, beta)", gamma=CHANNELS, beta=CHANNELS),
    of("instance_norm", PICTURES, PICTURES, "instance_norm(x)", "F.instance_norm(x)"),
    of("layer_norm 768", (16, 128, 768), (16, 128, 768), "layer_norm(x)", "F.layer_norm(x, (768,), gamma, beta)", gamma=(768,), beta=(768,)),
    of("layer_norm 64", (16384, 64), (16384, 64), "layer_norm(x)", "F.layer_norm(x, (64,), gamma, beta)", gamma=CHANNELS, beta=CHANNELS),
    of("rms_norm 768", (2048, 768), (2048, 768), "rms_norm(x)", "F.rms_norm(x, (768,), gamma)", gamma=(768,)),
    of("softmax 1000", (2048, 1000), (2048, 1000), "softmax(x)", "F.softmax(x, -1)"),
    of("softmax 50257", (64, 50257), (64, 50257), "softmax(x)", "F.softmax(x, -1)"),
    of("log_softmax 32", (65536, 32), (65536, 32), "log_softmax(x)", "F.log_softmax(x, -1)"),
    of("logsumexp 1000", (2048, 1000), (2048,), "logsumexp(x)", "torch.logsumexp(x, -1)"),
    of("gelu", ROWS, ROWS, "gelu(x)", "F.gelu(x)"),
    of("silu", ROWS, ROWS, "silu(x)", "F.silu(x)"),
    of("mish", ROWS, ROWS, "mish(x)", "F.mish(x)"),
    of("softplus", ROWS, ROWS, "softplus(x)", "F.softplus(x)"),
    of("elu", ROWS, ROWS, "elu(x)", "F.elu(x)"),
    of("glu", ROWS, (2048, 512), "glu(x)", "F.glu(x)"),
    of("prelu", PICTURES, PICTURES, "prelu(x)", "F.prelu(x, alpha)", alpha=CHANNELS),
    of("cumsum", ROWS, ROWS, "cumsum(x, axis = 1)", "torch.cumsum(x, 1)"),
    of("max 1024", ROWS, (2048,), "max(x, axis = 1)", "x.max(1)[0]"),
    of("mean of pictures", (8, 256, 28, 28), (8, 256), "mean(x, axis = [2, 3])", "x.mean((2, 3))"),
    of("sort 256", (2048, 256), (2048, 256), "sort(x)", "torch.sort(x, -1)[0]"),
    of("top_k 5 of 256", (4096, 256), (4096, 5), "top_k(x, 5)[0]", "x.topk(5)[0]"),
    of("take_along_axis", (1024, 512), (1024, 512), "take_along_axis(x, argsort(x, axis = 1), axis = 1)", "x.gather(1, x.argsort(1))"),
    of("concat", PICTURES, (8, 192, 56, 56), "concat([x, tanh(x), x], axis = 1)", "torch.cat([x, torch.tanh(x), x], 1)"),
    of("transpose", (64, 196, 512), (64, 512, 196), "tanh(transpose(x, [0, 2, 1]))", "torch.tanh(x.permute(0, 2, 1).contiguous())"),
    of("einsum bij,bkj", (64, 64, 64), (64, 64, 64), 'einsum("bij,bkj->bik", x, x)', "torch.einsum('bij,bkj->bik', x, x)"),
    of("rfft 1024", (256, 1024), (256, 513), "square(rfft(x)[0])", "torch.fft.rfft(x).real ** 2"),
    of("conv_transpose 4/2", (8, 128, 16, 16), (8, 64, 32, 32), "conv2d_transpose(x, 64, 4, stride = 2, padding = 1)",
       "F.conv_transpose2d(x, w, b, 2, 1)", w=(128, 64, 4, 4), b=CHANNELS),
    of("conv_transpose 2/2", (8, 128, 28, 28), PICTURES, "conv2d_transpose(x, 64, 2, stride = 2)",
       "F.conv_transpose2d(x, w, b, 2)", w=(128, 64, 2, 2), b=CHANNELS),
    of("attention 256, causal", (8, 256, 128), (8, 256, 128), "attention(x, x, x, heads = 4, causal = true)",
       "F.scaled_dot_product_attention(*[x.view(8, 256, 4, 32).transpose(1, 2)] * 3, is_causal=True).transpose(1, 2).reshape(8, 256, 128)"),
    of("attention 1024", (2, 1024, 512), (2, 1024, 512), "attention(x, x, x, heads = 8)",
       "F.scaled_dot_product_attention(*[x.view(2, 1024, 8, 64).transpose(1, 2)] * 3).transpose(1, 2).reshape(2, 1024, 512)"),
    model("lstm 256", 32, "f32[batch, 64, 128]", "loss = cross_entropy(linear(mean(lstm(x, 256), axis = 1), 10), label)\n",
          {"cell": "LSTM(128, 256, batch_first=True)", "last": "Linear(256, 10)"}, "F.cross_entropy(last(cell(x)[0].mean(1)), label)"),
    model("lstm 1024 of 8", 8, "f32[batch, 32, 512]", "loss = cross_entropy(linear(mean(lstm(x, 1024), axis = 1), 10), label)\n",
          {"cell": "LSTM(512, 1024, batch_first=True)", "last": "Linear(1024, 10)"}, "F.cross_entropy(last(cell(x)[0].mean(1)), label)"),
    model("gru 256", 32, "f32[batch, 64, 128]", "loss = cross_entropy(linear(mean(gru(x, 256), axis = 1), 10), label)\n",
          {"cell": "GRU(128, 256, batch_first=True)", "last": "Linear(256, 10)"}, "F.cross_entropy(last(cell(x)[0].mean(1)), label)"),
    model("embedding 50257", 16, "i32[batch, 128]",
          "loss = cross_entropy(linear(mean(embedding(x, 50257, 256), axis = 1), 10), label)\n",
          {"table": "Embedding(50257, 256)", "last": "Linear(256, 10)"}, "F.cross_entropy(last(table(x).mean(1)), label)"),
    model("classes 50257", 128, "f32[batch, 256]", "loss = cross_entropy(linear(x, 50257), label)\n",
          {"last": "Linear(256, 50257)"}, "F.cross_entropy(last(x), label)"),
    model("perceptron of 4", 4, "f32[batch, 1024]",
          "h = relu(linear(relu(linear(x, 2048)), 2048))\nloss = cross_entropy(linear(h, 10), label)\n",
          {"a": "Linear(1024, 2048)", "b": "Linear(2048, 2048)", "last": "Linear(2048, 10)"},
          "F.cross_entropy(last(F.relu(b(F.relu(a(x))))), label)"),
    model("dropout", 128, "f32[batch, 1024]",
          "h = dropout(relu(linear(dropout(relu(linear(x, 2048)), 0.5), 2048)), 0.5)\nloss = cross_entropy(linear(h, 10), label)\n",
          {"a": "Linear(1024, 2048)", "b": "Linear(2048, 2048)", "last": "Linear(2048, 10)"},
          "F.cross_entropy(last(F.dropout(F.relu(b(F.dropout(F.relu(a(x)), .5))), .5)), label)"),
    model("conv3d", 2, "f32[batch, 16, 16, 32, 32]",
          "h = conv3d(relu(conv3d(x, 32, 3, padding = 1)), 32, 3, padding = 1)\n"
          "loss = cross_entropy(linear(mean(h, axis = [2, 3, 4]), 10), label)\n",
          {"a": "Conv3d(16, 32, 3, padding=1)", "b": "Conv3d(32, 32, 3, padding=1)", "last": "Linear(32, 10)"},
          "F.cross_entropy(last(b(F.relu(a(x))).mean((2, 3, 4))), label)"),
    model("convolutions to 3 colours", 8, "f32[batch, 3, 64, 64]",
          TWO_LAYERS + "loss = mean(square(conv2d(h, 3, 3, padding = 1) - x)) + 0 * mean(f32(label))\n",
          {**TWO_MODULES, "last": "Conv2d(64, 3, 3, padding=1)"},
          "F.mse_loss(last(F.relu(b(F.relu(a(x))))), x)"),
    model("conv_transpose to 3 colours", 8, "f32[batch, 3, 64, 64]",
          "h = relu(conv2d(x, 64, 4, stride = 2, padding = 1))\n"
          "loss = mean(square(conv2d_transpose(h, 3, 4, stride = 2, padding = 1) - x)) + 0 * mean(f32(label))\n",
          {"a": "Conv2d(3, 64, 4, 2, 1)", "last": "ConvTranspose2d(64, 3, 4, 2, 1)"}, "F.mse_loss(last(F.relu(a(x))), x)"),
    model("convolutions to 21 classes", 8, "f32[batch, 3, 64, 64]",
          TWO_LAYERS + "loss = cross_entropy(transpose(conv2d(h, 21, 1), [0, 2, 3, 1]), label)\n",
          {**TWO_MODULES, "last": "Conv2d(64, 21, 1)"},
          "F.cross_entropy(last(F.relu(b(F.relu(a(x))))), label)", ", 64, 64"),
    model("convolutions, 4 x 4 places", 8, "f32[batch, 256, 4, 4]",
          "h = x\nfor i in 0..2 { h = relu(conv2d(h, 512, 3, padding = 1)) }\n"
          "loss = cross_entropy(linear(global_avg_pool(h), 10), label)\n",
          {"a": "Conv2d(256, 512, 3, padding=1)", "b": "Conv2d(512, 512, 3, padding=1)", "last": "Linear(512, 10)"},
          "F.cross_entropy(last(F.relu(b(F.relu(a(x)))).mean((2, 3))), label)"),
    model("convolutions, group_norm", 8, "f32[batch, 64, 56, 56]",
          "h = x\nfor i in 0..2 { h = h + silu(group_norm(conv2d(h, 64, 3, padding = 1), 8)) }\n"
          "loss = cross_entropy(linear(global_avg_pool(h), 10), label)\n",
          {"a": "Conv2d(64, 64, 3, padding=1)", "n": "GroupNorm(8, 64)", "b": "Conv2d(64, 64, 3, padding=1)", "m": "GroupNorm(8, 64)",
           "last": "Linear(64, 10)"},
          "(lambda h: F.cross_entropy(last((h + F.silu(m(b(h)))).mean((2, 3))), label))(x + F.silu(n(a(x))))"),
    model("convolutions, dilated", 8, "f32[batch, 64, 28, 28]",
          "h = x\nfor d in [2, 4] { h = h + relu(batch_norm(conv2d(h, 64, 3, padding = d, dilation = d))) }\n"
          "loss = cross_entropy(linear(global_avg_pool(h), 10), label)\n",
          {"a": "Conv2d(64, 64, 3, padding=2, dilation=2)", "n": "BatchNorm2d(64)", "b": "Conv2d(64, 64, 3, padding=4, dilation=4)",
           "m": "BatchNorm2d(64)", "last": "Linear(64, 10)"},
          "(lambda h: F.cross_entropy(last((h + F.relu(m(b(h)))).mean((2, 3))), label))(x + F.relu(n(a(x))))"),
    model("convolutions, avg_pool 3/2", 8, "f32[batch, 64, 56, 56]",
          "h = avg_pool2d(relu(batch_norm(conv2d(x, 64, 1))), 3, stride = 2, padding = 1)\n"
          "loss = cross_entropy(linear(global_avg_pool(relu(conv2d(h, 64, 1))), 10), label)\n",
          {"a": "Conv2d(64, 64, 1)", "n": "BatchNorm2d(64)", "b": "Conv2d(64, 64, 1)", "last": "Linear(64, 10)"},
          "F.cross_entropy(last(F.relu(b(F.avg_pool2d(F.relu(n(a(x))), 3, 2, 1))).mean((2, 3))), label)"),
    model("ResNeXt's block", 8, "f32[batch, 128, 28, 28]",
          UNIT + "h = relu(x + unit(relu(unit(relu(unit(x, 128, name = \"a\")), 128, 3, g = 32, name = \"b\")), 128, name = \"c\"))\n"
          "loss = cross_entropy(linear(global_avg_pool(h), 10), label)\n",
          {"a": CONV % (128, 128, 1, 0, 1), "p": "BatchNorm2d(128)", "b": CONV % (128, 128, 3, 1, 32), "q": "BatchNorm2d(128)",
           "c": CONV % (128, 128, 1, 0, 1), "r": "BatchNorm2d(128)", "last": "Linear(128, 10)"},
          "F.cross_entropy(last(F.relu(x + r(c(F.relu(q(b(F.relu(p(a(x))))))))).mean((2, 3))), label)"),
    model("EfficientNet's block", 8, "f32[batch, 40, 28, 28]",
          UNIT + "h = silu(unit(silu(unit(x, 240, name = \"a\")), 240, 5, g = 240, name = \"b\"))\n"
          "s = sigmoid(linear(silu(linear(global_avg_pool(h), 10)), 240))\nh = x + unit(h * s[:, :, none, none], 40, name = \"c\")\n"
          "loss = cross_entropy(linear(global_avg_pool(h), 10), label)\n",
          {"a": CONV % (40, 240, 1, 0, 1), "p": "BatchNorm2d(240)", "b": CONV % (240, 240, 5, 2, 240), "q": "BatchNorm2d(240)",
           "d": "Linear(240, 10)", "e": "Linear(10, 240)", "c": CONV % (240, 40, 1, 0, 1), "r": "BatchNorm2d(40)", "last": "Linear(40, 10)"},
          "(lambda h: F.cross_entropy(last((x + r(c(h * torch.sigmoid(e(F.silu(d(h.mean((2, 3))))))[:, :, None, None]))).mean((2, 3))), label))"
          "(F.silu(q(b(F.silu(p(a(x)))))))"),
    model("ctc", 16, "f32[batch, 100, 40]", "loss = ctc(linear(x, 30), label)\n", {"a": "Linear(40, 30)"},
          "F.ctc_loss(F.log_softmax(a(x), -1).transpose(0, 1), label, torch.full((16,), 100), torch.full((16,), 20))", ", 20"),
    model("grid_sample", 8, "f32[batch, 16, 64, 64]",
          "h = grid_sample(x, affine_grid(reshape(linear(mean(x, axis = [2, 3]), 6), [batch, 2, 3]), [64, 64]))\n"
          "loss = cross_entropy(linear(mean(h, axis = [2, 3]), 10), label)\n",
          {"a": "Linear(16, 6)", "last": "Linear(16, 10)"},
          "F.cross_entropy(last(F.grid_sample(x, F.affine_grid(a(x.mean((2, 3))).view(8, 2, 3), (8, 16, 64, 64), align_corners=False), "
          "align_corners=False).mean((2, 3))), label)"),
]
