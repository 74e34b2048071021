"""Results along an axis that grow with each element, but for sums (cases_tensors.py)."""
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
