"""California's housing: eight numbers and one of five categories to a price in units of 100,000."""
import torch
import torch.nn.functional as F

# A schedule in epochs needs data; here the rate stays.
overrides = {"train.optimizer": "adam(lr = 2e-3)"}
inputs = {"proximity": lambda rng, shape: rng.integers(0, 5, shape),
          "price": lambda rng, shape: 1e5 * (2 + rng.standard_normal(shape))}


def loss(p, s, x, train=True):
    category = F.one_hot(x["proximity"].long(), 5).to(x["facts"].dtype)
    hidden = torch.cat([x["facts"], category], dim=1)
    for name in ("h1", "h2"):
        hidden = F.relu(F.linear(hidden, p[f"{name}.w"].T, p[f"{name}.b"]))
    estimate = F.linear(hidden, p["estimate.w"].T, p["estimate.b"]).squeeze(1)
    return F.mse_loss(estimate, x["price"] / 100000)


def optimizer(p):
    return torch.optim.Adam(p.values(), lr=2e-3)
