"""The networks of Radford et al. 2015 at 32 x 32 pixels, trained as in PyTorch's example: D on real and generated
pictures, then G against the new D. The noise is an input here."""
import torch
import torch.nn.functional as F

overrides = {"batch": 4, "width": 16}
edits = [("input image : u8[batch, 28, 28]", "input image : u8[batch, 28, 28]\ninput given : f32[batch, noise]"),
         ("fake = G(randn([batch, noise]))", "fake = G(given)"),
         ('data train { image = idx("train-images-idx3-ubyte") }',
          'data train { image, given = npy("image.npy", "given.npy") }'),
         ('data test  { image = idx("t10k-images-idx3-ubyte") }', "")]


def norm(p, s, x, path):
    return F.batch_norm(x, s[path + ".running_mean"], s[path + ".running_var"], p[path + ".gamma"],
                        p[path + ".beta"], True, 0.1, 1e-5)


def generate(p, s, noise):
    h = noise[:, :, None, None]
    for i in range(3):
        path = f"G.up.{i}"
        h = F.conv_transpose2d(h, p[path + ".conv2d_transpose.0.w"], stride=2 if i else 1, padding=1 if i else 0)
        h = F.relu(norm(p, s, h, path + ".batch_norm.0"))
    return torch.tanh(F.conv_transpose2d(h, p["G.conv2d_transpose.0.w"], stride=2, padding=1))


def discriminate(p, s, x):
    for i in range(3):
        x = F.conv2d(x, p[f"D.down.{i}.conv2d.0.w"], stride=2, padding=1)
        x = F.leaky_relu(norm(p, s, x, f"D.batch_norm.{i - 1}") if i else x, 0.2)
    return F.conv2d(x, p["D.conv2d.0.w"]).flatten()


def bce(logits, target):
    return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, target))


def d_loss(p, s, x):
    real = F.pad(x["image"][:, None].to(x["given"].dtype) / 127.5 - 1, (2, 2, 2, 2), value=-1)
    fake = generate(p, s, x["given"]).detach()
    return bce(discriminate(p, s, real), 1.0) + bce(discriminate(p, s, fake), 0.0)


def g_loss(p, s, x):
    """G's running statistics have seen this batch already."""
    unseen = {name: value.clone() for name, value in s.items()}
    return bce(discriminate(p, s, generate(p, unseen, x["given"])), 1.0)


parts = [("d_loss", d_loss, "D.*"), ("loss", g_loss, "G.*")]


def optimizer(p):
    return torch.optim.Adam(p.values(), lr=2e-4, betas=(0.5, 0.999))
