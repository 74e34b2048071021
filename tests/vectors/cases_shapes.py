"""Functions that the other groups call with operands of one shape alone, with another."""
import torch
import torch.nn.functional as F

import cases_layers as layers
import cases_recurrent as recurrent
from make import D, Group, I, N, U

g = Group("shapes")
g.case("swiglu(x, axis = 1)", lambda x: x[:, :1] * F.silu(x[:, 1:]), x=N(3, 2, 4))
g.case("geglu(x, axis = -2)", lambda x: x[:, :2] * F.gelu(x[:, 2:]), x=N(1, 4, 3))
g.case("gated(x, -1, relu)", lambda x: x[..., :1] * F.relu(x[..., 1:]), x=N(2, 3, 2))
g.case("max_pool(x, [3, 2], stride = 2, padding = ceil_padding(x, [3, 2], 2, [1, 0], 1))",
       lambda x: F.max_pool2d(x, (3, 2), 2, (1, 0), ceil_mode=True), x=D(2, 1, 6, 5))
g.case("avg_pool(x, [2, 1, 3], stride = [1, 2, 1])", lambda x: F.avg_pool3d(x, (2, 1, 3), (1, 2, 1)), x=N(1, 2, 3, 4, 3))
g.case("avg_pool2d(x, [1, 3], stride = [2, 1], padding = [0, 1])", lambda x: F.avg_pool2d(x, (1, 3), (2, 1), (0, 1)), x=N(2, 1, 3, 5))
g.case("avg_pool3d(x, 2, stride = 1, count_include_pad = false, padding = 1)",
       lambda x: F.avg_pool3d(x, 2, 1, 1, count_include_pad=False), x=N(2, 1, 2, 2, 3))
g.case("window_means(x, 1, 4)", lambda x: F.adaptive_avg_pool1d(x.transpose(1, 2), 4).transpose(1, 2), x=N(2, 6, 3))
g.case("sum_pool(x, 3)", lambda x: F.avg_pool1d(x, 3) * 3, x=N(1, 2, 8))
g.case("conv(x, w, groups = 2, dilation = 2, padding = \"same\")", lambda x, w: F.conv1d(x, w, padding=2, dilation=2, groups=2),
       x=N(1, 4, 6), w=N(6, 2, 3))
g.case("conv_transpose(x, w, padding = 1, output_padding = 1, stride = 3)",
       lambda x, w: F.conv_transpose2d(x, w, stride=3, padding=1, output_padding=1), x=N(2, 2, 2, 3), w=N(2, 1, 3, 2))
g.case("depthwise_conv2d(x, [1, 3], dilation = [1, 2], padding = \"same\")", lambda x, w, b: F.conv2d(x, w, b, padding=(0, 2), dilation=(1, 2), groups=2),
       x=N(1, 2, 2, 6), params={"w": N(2, 1, 1, 3), "b": N(2)})
g.case("embedding(a, 3, 1)", lambda a, w: F.embedding(a, w), a=I(3, 6), params={"w": N(3, 1)})
g.case("embedding(a, 4, 5)", lambda a, w: F.embedding(a, w), a=[[[0], [3]]], params={"w": N(4, 5)})
g.case("group_means(x, 3)", lambda x: x.view(3, 3, 2).mean(2, keepdim=True).expand(3, 3, 2).reshape(3, 6), x=N(3, 6))
g.case("normal_channels(x, mean(x, axis = 0), var(x, axis = 0), z, 0.1)",
       lambda x, z: F.batch_norm(x, None, None, z, None, True, 0, 0.1), x=N(4, 3), z=U(0.5, 2, 3))
g.case("split_heads(x, 3)", lambda x: x.reshape(1, 2, 3, 1).transpose(1, 2), x=N(1, 2, 3))
g.case("join_heads(x)", lambda x: x.transpose(1, 2).flatten(2), x=N(1, 3, 2, 1))
g.case("x + wave_positions(1, 2)", lambda x: x + layers.waves(1, 2), x=N(3, 1, 2))
g.case("feed_forward(x, 2, activation = tanh)", lambda x, a, b, c, d: torch.tanh(x @ a + b) @ c + d, x=N(2, 1, 4), params=layers.FEED(4, 2))
g.case("multi_head_attention(x, 3)", lambda x, *p: layers.multi_head(3, x, x, p), x=N(1, 2, 6), params=layers.heads_params(6))
g.case("transformer_block(x, 2, hidden = 3)", layers.encoder(True, False, F.gelu), x=N(1, 1, 6), params=layers.block_params(6, 3))
g.case("decoder_block(x, z, 2, hidden = 3)", layers.decoder(True, F.gelu), x=N(1, 2, 2), z=N(1, 1, 2), params=layers.decoder_params(2, 3))
g.case("hinge(x, z)", lambda x, z: F.relu(1 - x * z).mean(), x=N(3, 2), z=[[1.0, -1.0]] * 3)
g.case("distance(x, z)", lambda x, z: (x - z + 1e-6).norm(dim=-1), x=N(2, 3, 4), z=N(2, 3, 4))
g.case("multi_margin(x, a, p = 2)", lambda x, a: F.multi_margin_loss(x, a, p=2), x=N(1, 3), a=[2])
g.case("poisson_nll(x, z, reduce = false)", lambda x, z: F.poisson_nll_loss(x, z, reduction="none"), x=N(5), z=U(0, 5, 5))
g.case("gaussian_nll(x, z, u, reduce = false)", lambda x, z, u: F.gaussian_nll_loss(x, z, u, reduction="none"), x=N(5), z=N(5), u=U(0.2, 2, 5))
g.case("nll(x, a)", lambda x, a: F.nll_loss(x.transpose(1, 2), a), x=N(2, 3, 4), a=I(4, 2, 3))
g.case("contrastive(x, z, reduce = false)", lambda x, z: F.cross_entropy(layers.pairs(x, z, 0.07), torch.arange(3), reduction="none"), x=N(3, 6), z=N(3, 6))
g.case("in_top_k(x, a, 1)", lambda x, a: x.argmax(-1) == a, x=D(2, 3, 5), a=I(5, 2, 3))
for kind in ("rnn", "lstm", "gru"):
    g.case(f"bidirectional(x, 1, layer = {kind})",
           lambda x, *p, k=kind: recurrent.run(k, x, 1, [p[:len(p) // 2], p[len(p) // 2:]], bidirectional=True)[0], x=N(1, 2, 3),
           params=recurrent.weights(kind, 3, 1, "forward.") | recurrent.weights(kind, 3, 1, "backward."))
g.case("rnn_cell(x, z, activation = relu)", lambda x, z, w, u, b: F.relu(x @ w + z @ u + b), x=N(1, 3), z=N(1, 2), params=recurrent.weights("rnn", 3, 2))
g.case("gru_cell(x, z)", lambda x, z, *p: recurrent.run("gru", x[:, None], 1, [p], z)[1][0], x=N(3, 4), z=N(3, 1), params=recurrent.weights("gru", 4, 1))
g.case("lstm_cell(x, z, v)[0]", lambda x, z, v, *p: recurrent.run("lstm", x[:, None], 2, [p], z, v)[1][0], x=N(1, 1), z=N(1, 2), v=N(1, 2),
       params=recurrent.weights("lstm", 1, 2))
g.case("unbias(x, [0, 2]) * x", lambda x: x * 6 / 5, x=N(2, 4, 3))
g.case("unbias(x, [0]) * x", lambda x: x, x=N(1, 4))
g.case("x @ eye(2)", lambda x: x, x=N(1, 2))
g.case("normalize(x, [0.5], [0.25])", lambda x: (x - 0.5) / 0.25, x=U(0, 1, 1, 1, 2, 1))
g.case("is_finite(x)", torch.isfinite, x=[[1.0], [float("nan")], [float("inf")]])
g.case("is_inf(x)", torch.isinf, x=[[1.0], [float("nan")], [float("inf")]])
g.case("shortfall(x)", lambda x: x.clamp(min=0), x=N(2, 3))
g.case("sign(x)", torch.sign, x=N(2, 3))
g.case("stop_gradient(x * x) + x", lambda x: (x * x).detach() + x, x=N(2, 3))
g.case("transpose(x)", lambda x: x.T, x=N(3, 1))
g.case("permute(x, [3, 1, 0, 2])", lambda x: x.permute(3, 1, 0, 2), x=N(2, 3, 4, 2))
g.case("broadcast(x, [3, 2, 4])", lambda x: x.expand(3, 2, 4), x=N(1, 2, 1))
g.case("repeat(x, 2, axis = 1)", lambda x: x.repeat_interleave(2, 1), x=N(2, 1, 3))
g.case("roll(x, -1, axis = -2)", lambda x: x.roll(-1, -2), x=N(2, 3, 2))
g.case("all(x > -1, axis = [0, -1])", lambda x: (x > -1).all(2).all(0), x=N(2, 3, 4))
g.case("any(x > 1, axis = -2, keep = true)", lambda x: (x > 1).any(-2, keepdim=True), x=N(2, 3, 4))
g.case("one_hot(a, 1) + one_hot(a, 2)", lambda a: F.one_hot(a + 0, 1) + F.one_hot(a, 2).double(), a=[0, 0])
g.case("one_hot(a, 3) * x", lambda a, x: F.one_hot(a, 3) * x, a=I(3, 1, 4), x=N(3))
g.case("pick(x, a, axis = 1)", lambda x, a: x.gather(1, a[:, None])[:, 0], x=N(2, 3, 4), a=I(3, 2, 4))
g.case("scatter_add(x, a, z)", lambda x, a, z: x.index_add(0, a, z), x=N(1), a=I(1, 3), z=N(3))
g.case("zeros(x.shape) + ones([2, 1]) * x + full([], 1.5)", lambda x: x + 1.5, x=N(2, 3))
g.case("zeros([3]) + ones([3]) * x + full([3], -2)", lambda x: x - 2, x=N(3))
g.case("arange(-2, 1, type = f32) * x", lambda x: torch.arange(-2, 1) * x, x=N(2, 3))
g.case("minimum(x, z)", torch.minimum, x=N(2, 1, 3), z=N(2, 1))
g.case("where(x > z, z, x)", torch.minimum, x=N(3), z=N(2, 3))
g.case("pow(x, z)", torch.pow, x=U(0.5, 2, 4), z=N(2, 4))
for kind in ("i64", "f64", "bool", "u8", "i32"):
    theirs = {"i64": torch.int64, "f64": torch.float64, "bool": torch.bool, "u8": torch.uint8, "i32": torch.int32}[kind]
    g.case(f"cast(x, {kind})" if kind != "f64" else "cast(f64(x), i32)", lambda x, t=theirs: x.to(t).to(torch.int32), x=[0.0, 1.75, 3.5, 100.25])
g.case("cast(a, bool)", lambda a: a != 0, a=[[0, 3, -1]])
g.case("f32(cast(a, i64) * 3) * x", lambda a, x: a * 3 * x, a=I(9, 2, 3), x=N(3))
