"""Results along an axis that grow with each element, but for sums (cases_tensors.py)."""
import numpy as np
import torch

from make import I, N, U, Group

INF = float("inf")

g = Group("running")
g.case("cumprod(x)", lambda x: x.cumprod(-1), x=N(2, 5))
g.case("cumprod(x, axis = 0)", lambda x: x.cumprod(0), x=N(4, 3))
g.case("cumprod(x, axis = -2)", lambda x: x.cumprod(-2), x=N(2, 3, 2))
g.case("cumprod(x)", lambda x: x.cumprod(-1), x=N(3, 1))
g.case("cumprod(x)", lambda x: x.cumprod(-1), x=U(0.9, 1.1, 40))
g.case("cumprod(a)", lambda a: a.cumprod(-1), a=I(5, 3, 5))
g.case("cumprod(x)", lambda x: x.cumprod(-1), x=[2.0, 0.0, 3.0, 0.0, 4.0])
g.case("cumprod(x)", lambda x: x.cumprod(-1), x=[[1.0, -2.0, 0.5], [0.0, 1.0, 3.0]])

# ---- places in sorted elements ----
ROW = [-2.0, -0.5, -0.5, 0.0, 1.5, 7.0, 7.0, 9.0]


def places(sorted_, x, right=False):
    return torch.searchsorted(sorted_, x, right=right)


for right in ["", ", right = true"]:
    g.case(f"searchsorted(x, z{right})", lambda x, z, r=bool(right): places(x, z, r), x=ROW, z=[[-9.0, -2.0, -0.5, 0.1], [7.0, 8.0, 9.0, 10.0]])
    g.case(f"searchsorted(sort(x), z{right})", lambda x, z, r=bool(right): places(x.sort(-1)[0], z, r), x=N(3, 2, 5), z=N(3, 2, 7))
    g.case(f"searchsorted(a, v{right})", lambda a, v, r=bool(right): places(a, v, r), a=[1, 4, 4, 6], v=I(9, 30))
    g.case(f"searchsorted(x, z{right})", lambda x, z, r=bool(right): places(x, z, r), x=[2.0], z=[1.0, 2.0, 3.0])
    g.case(f"searchsorted(sort(x), z{right})", lambda x, z, r=bool(right): places(x.sort(-1)[0], z, r), x=N(100), z=N(50))
    # NaN is the greatest, as NumPy has it.
    g.case(f"searchsorted(log(x), log(z){right})", lambda x, z, r=bool(right): torch.tensor(np.searchsorted(
        np.log(x.detach().numpy()), np.log(z.detach().numpy()), "right" if r else "left")), x=[1.0, 2.0, -1.0, -1.0], z=[0.5, 1.5, 2.0, 3.0, -1.0])
    g.case(f"searchsorted(x[:0], z{right})", lambda x, z, r=bool(right): places(x[:0], z, r), x=[1.0], z=N(4))
