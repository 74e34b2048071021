"""What arguments of optimizers and schedules may be."""
from make import Group, N

g = Group("ranges", definitions="def one_if(b) { return b ? 1.0 : 0.0 }\n")
g.case("one_if(in_range(0, 0, 1) && in_range(0.5, 0, inf) && in_range(cosine(3.0), 0, 1)) * x", lambda x: x, x=N(2))
g.case("one_if(in_range(1, 0, 1) || in_range(-1e-9, 0, 1) || in_range(inf, 0, inf) || in_range(inf - inf, 0, 1)) * x",
       lambda x: 0 * x, x=N(3))
