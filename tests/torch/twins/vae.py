"""The variational autoencoder with torch.distributions; the noise is an input here, so that both sides have the same."""
import torch
from torch.distributions import Bernoulli, Normal, kl_divergence
import torch.nn.functional as F

parameters = sum(a * b + b for a, b in [(784, 400), (400, 40), (20, 400), (400, 784)])
edits = [("input image : u8[batch, 28, 28]", "input image : u8[batch, 28, 28]\ninput given : f32[batch, latent]"),
         ("noise  = randn([batch, latent])", "noise = given"),
         ('data train { image = idx("train-images-idx3-ubyte") }',
          'data train { image, given = npy("image.npy", "given.npy") }'),
         ('data test  { image = idx("t10k-images-idx3-ubyte") }', "")]


def linear(p, x, path):
    return F.linear(x, p[path + ".w"].T, p[path + ".b"])


def loss(p, s, x, train=True):
    pixels = x["image"].flatten(1).to(p["decode.linear.0.w"].dtype) / 255
    h = linear(p, F.relu(linear(p, pixels, "encoder.0.h")), "encoder.0.linear.0")
    code = Normal(h[:, :20], (h[:, 20:] / 2).exp())
    z = code.loc + code.scale * x["given"]
    logits = linear(p, F.relu(linear(p, z, "decode.linear.0")), "decode.linear.1")
    likelihood = Bernoulli(logits=logits, validate_args=False).log_prob(pixels).sum(1)
    divergence = kl_divergence(code, Normal(0.0, 1.0)).sum(1)
    return (divergence - likelihood).mean()


def optimizer(p):
    return torch.optim.Adam(p.values(), lr=1e-3)
