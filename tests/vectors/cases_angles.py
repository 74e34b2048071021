"""Parts of the inverse trigonometric functions that stand in the library by themselves."""
import torch
from make import U, Group

g = Group("angles")
for shape in [(5,), (2, 4)]:
    g.case("near_atan(x)", torch.atan, x=U(-1, 1, *shape))
    g.case("angle_of(v, u)", lambda v, u: torch.atan2(v, u), v=U(0.1, 2, *shape), u=U(-2, -0.1, *shape))
    g.case("angle_of(v, u)", lambda v, u: torch.atan2(v, u), v=U(-2, -0.1, *shape), u=U(0.1, 2, *shape))
