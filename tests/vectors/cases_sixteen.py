"""What the library computes in f32 where operands have 16 bits, in f32 and f64: there nothing of it may change a value
(in 16 bits: cases_half.py)."""
import torch
from make import N, Group

INF = float("inf")

g = Group("sixteen")
for shape in [(3,), (2, 4)]:
    g.case("narrowed(widened(x) * 2, x)", lambda x: x * 2, x=N(*shape))
    g.case("x + ones(shape(x), float_type(x))", lambda x: x + 1, x=N(*shape))
for x in ([1.0, -2.0, 3.0, 0.5], [[1.0, 2.0, -1.0], [-1.0, 0.25, -3.0]]):
    g.case("masked_softmax(where(x > 0, x, -inf))", lambda x: torch.softmax(torch.where(x > 0, x, -INF), -1), x=x)
