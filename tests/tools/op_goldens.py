#!/usr/bin/env python3
"""Writes tests/unit/op_goldens.h: what each operator must compute, by NumPy.

    python3 tests/tools/op_goldens.py > tests/unit/op_goldens.h

The formulas are written from the operators' definitions in ops.def, with loops or NumPy's own functions,
independently of the compiler. test_ops.c evaluates every entry and demands one for every operator that
evaluates."""
import math
import textwrap
import numpy as np

rng = np.random.default_rng(20)
DTYPES = {'f64': np.float64, 'i64': np.int64, 'i32': np.int32, 'u8': np.uint8, 'bool': np.bool_}
entries = []


def number(v):
    v = float(v)
    if math.isnan(v): return 'NAN'
    if math.isinf(v): return 'INFINITY' if v > 0 else '-INFINITY'
    return repr(v)


def dtype_of(a):
    return {'float64': 'F64', 'int64': 'I64', 'int32': 'I32', 'uint8': 'U8', 'bool': 'BOOL'}[a.dtype.name]


def tensor(a):
    a = np.asarray(a)
    dims = ', '.join(str(d) for d in a.shape) or '0'
    values = ', '.join(number(v) for v in a.reshape(-1)) or '0'
    return '{{DTYPE_%s, {%d, {%s}}}, (const double[]){%s}}' % (dtype_of(a), a.ndim, dims, values)


def attribute(key, v):
    if isinstance(v, (list, tuple)):
        return 'INTS(%s, %s)' % (key, ', '.join(map(str, v))) if len(v) else 'NO_INTS(%s)' % key
    if isinstance(v, float): return 'REAL(%s, %s)' % (key, number(v))
    return 'INT(%s, %s)' % (key, v)


def golden(op, operands, expected, remark='', **attributes):
    attrs = [attribute(k.upper(), v) for k, v in attributes.items()]
    entries.append('  {OP_%s, "%s", %d, {%s},\n   %d, {%s},\n   %s},' % (
        op.upper(), remark, len(operands), ',\n    '.join(tensor(o) for o in operands) or '{{DTYPE_F64, {0, {0}}}, NULL}',
        len(attrs), ', '.join(attrs) or '{0}', tensor(expected)))


def normal(*shape): return np.round(rng.standard_normal(shape) * 2, 3)
def ints(dtype, low, high, *shape): return rng.integers(low, high, shape).astype(DTYPES[dtype])


nan, inf = math.nan, math.inf
x = np.array([-3.5, -1.5, -0.5, -0.0, 0.5, 1.5, 2.5, 700.0])
each = lambda f: np.vectorize(f, otypes=[np.float64])

# ---- leaves with values ----
golden('constant', [], np.full((2, 2), 2.5), value=2.5)
golden('iota', [], np.broadcast_to(np.arange(3, dtype=np.int32)[:, None], (2, 3, 2)).copy(), axis=1)

# ---- unary ----
golden('neg', [x], -x)
golden('neg', [np.array([-2**31, 5], np.int32)], np.array([-2**31, -5], np.int32), 'least i32')
golden('abs', [x], np.abs(x))
golden('abs', [np.array([-2**31, -5], np.int32)], np.array([-2**31, 5], np.int32), 'least i32')
golden('sign', [np.append(x, nan)], np.sign(np.append(x, nan)))
small = np.array([-700.0, -2.0, -1e-10, 0.0, 1e-10, 3.0])
golden('exp', [small], np.exp(small))
golden('expm1', [small], np.expm1(small))
positive = np.array([0.0, 1e-300, 0.25, 1.0, 7.5, inf])
with np.errstate(all='ignore'):
    golden('log', [np.append(positive, -1.0)], np.log(np.append(positive, -1.0)))
    golden('log1p', [np.array([-1.0, -0.5, 1e-12, 4.0])], np.log1p(np.array([-1.0, -0.5, 1e-12, 4.0])))
    golden('sqrt', [np.append(positive, -1.0)], np.sqrt(np.append(positive, -1.0)))
    golden('rsqrt', [positive], 1 / np.sqrt(positive))
golden('sin', [x], np.sin(x))
golden('cos', [x], np.cos(x))
golden('tan', [x], np.tan(x))
golden('tanh', [x], np.tanh(x))
golden('sigmoid', [np.append(x, -800.0)], each(lambda v: 1 / (1 + math.exp(-v)) if v > -700 else 0.0)(np.append(x, -800.0)))
golden('erf', [x], each(math.erf)(x))
golden('floor', [x], np.floor(x))
golden('ceil', [x], np.ceil(x))
golden('round', [x], np.round(x), 'half to even')
b = np.array([True, False])
golden('not', [b], ~b)

# ---- cast ----
wild = np.array([nan, inf, -inf, -1.9, 1.9, 300.0, 3e9, -3e9, 1e30])
def to_int(v, low, high):
    return 0 if math.isnan(v) else low if v < low else high if v > high else int(v)
for name, low, high in [('i32', -2**31, 2**31 - 1), ('u8', 0, 255)]:
    golden('cast', [wild], np.array([to_int(v, low, high) for v in wild], DTYPES[name]), 'f64 to ' + name,
           dtype='DTYPE_' + name.upper())
big = np.array([-1, 256, 300, 2**31, -2**31 - 1, 2**40 + 7], np.int64)
for name in ['i32', 'u8']:
    golden('cast', [big], big.astype(DTYPES[name]), 'i64 to ' + name, dtype='DTYPE_' + name.upper())
golden('cast', [np.array([0.0, -0.0, 0.3, nan, -2.0])], np.array([False, False, True, True, True]), 'to bool', dtype='DTYPE_BOOL')
golden('cast', [b], np.array([1.0, 0.0]), 'bool to f64', dtype='DTYPE_F64')
golden('cast', [np.array([0, 255], np.uint8)], np.array([0.0, 255.0]), 'u8 to f64', dtype='DTYPE_F64')

# ---- binary ----
p, q = normal(4), normal(4)
i, j = np.array([2**31 - 1, -2**31, 7, -7], np.int32), np.array([1, -1, 2, 2], np.int32)
with np.errstate(all='ignore'):
    for op, f in [('add', np.add), ('sub', np.subtract), ('mul', np.multiply)]:
        golden(op, [p, q], f(p, q))
        golden(op, [i, j], f(i, j), 'i32 wraps')
    golden('mul', [np.array([2**40, 3], np.int64), np.array([2**30, -5], np.int64)],
           np.array([2**40, 3], np.int64) * np.array([2**30, -5], np.int64), 'i64 wraps')
    golden('div', [np.array([1.0, -1.0, 0.0, 5.0]), np.array([0.0, 0.0, 0.0, 2.0])],
           np.array([inf, -inf, nan, 2.5]))
golden('floordiv', [np.array([7.0, -7.0, 7.0, -7.0]), np.array([2.0, 2.0, -2.0, -2.0])],
       np.array([3.0, -4.0, -4.0, 3.0]))
n, d = np.array([7, -7, 7, -7, 5, -2**31, 6], np.int32), np.array([2, 2, -2, -2, 0, -1, 3], np.int32)
golden('floordiv', [n, d], np.array([3, -4, -4, 3, 0, -2**31, 2], np.int32), 'i32; by 0; overflow')
golden('mod', [np.array([7.0, -7.0, 7.0, -7.0, 5.5]), np.array([2.0, 2.0, -2.0, -2.0, 1.5])],
       np.array([1.0, 1.0, -1.0, -1.0, 1.0]))
golden('mod', [n, d], np.array([1, 1, -1, -1, 0, 0, 0], np.int32), 'i32; by 0; overflow')
golden('pow', [np.array([2.0, 0.0, -2.0, -2.0, 4.0, 0.0]), np.array([10.0, 0.0, 3.0, 0.5, -0.5, 2.0])],
       np.array([1024.0, 1.0, -8.0, nan, 0.5, 0.0]))
m, k = np.array([1.0, 2.0, nan, 1.0, -inf]), np.array([2.0, 1.0, 1.0, nan, 0.0])
golden('min', [m, k], np.minimum(m, k), 'NaN wins')
golden('max', [m, k], np.maximum(m, k), 'NaN wins')
golden('max', [i, j], np.maximum(i, j), 'i32')
c1, c2 = np.array([1.0, 2.0, 2.0, nan]), np.array([2.0, 2.0, 1.0, nan])
u1, u2 = np.array([200, 5, 9], np.uint8), np.array([100, 5, 255], np.uint8)
for op, f in [('eq', np.equal), ('ne', np.not_equal), ('lt', np.less), ('le', np.less_equal),
              ('gt', np.greater), ('ge', np.greater_equal)]:
    golden(op, [c1, c2], f(c1, c2))
    golden(op, [u1, u2], f(u1, u2), 'u8')
b1, b2 = np.array([True, True, False, False]), np.array([True, False, True, False])
golden('and', [b1, b2], b1 & b2)
golden('or', [b1, b2], b1 | b2)
golden('where', [b1, np.array([1.0, 2.0, nan, 4.0]), np.array([5.0, inf, 7.0, 8.0])], np.array([1.0, 2.0, 7.0, 8.0]))
golden('stop_gradient', [p], p)

# ---- reductions ----
r = normal(2, 3, 4)
for op, f in [('sum', np.sum), ('mean', np.mean), ('max', np.max), ('min', np.min), ('prod', np.prod)]:
    for axes in [(1,), (0, 2), (0, 1, 2), ()]:
        golden('reduce_' + op, [r], f(r, axis=axes), str(axes), axes=axes)
golden('reduce_sum', [np.zeros((2, 0))], np.zeros(2), 'of nothing', axes=[1])
golden('reduce_prod', [np.zeros((2, 0))], np.ones(2), 'of nothing', axes=[1])
golden('reduce_sum', [np.array([2**31 - 1, 1], np.int32)], np.array(-2**31, np.int32), 'i32 wraps', axes=[0])
ties = np.array([[1.0, 3.0, 3.0], [nan, 5.0, nan], [2.0, nan, 1.0], [-1.0, -1.0, -2.0]])
golden('reduce_max', [ties], np.max(ties, axis=1), 'NaN', axes=[1])
golden('reduce_min', [ties], np.min(ties, axis=1), 'NaN', axes=[1])
golden('argmax', [ties], np.argmax(ties, axis=1).astype(np.int32), 'ties and NaN', axis=1)
golden('argmin', [ties], np.argmin(ties, axis=1).astype(np.int32), 'ties and NaN', axis=1)
golden('argmax', [r], np.argmax(r, axis=0).astype(np.int32), 'first axis', axis=0)

def places(x, descending):
    def key(v): return (math.isnan(v) != bool(descending), 0.0 if math.isnan(v) else -v if descending else v)
    return np.array([sorted(range(len(row)), key=lambda i: key(row[i])) for row in x], np.int32)
many = np.round(np.sin(np.arange(60.0)).reshape(1, 60) * 6) + 0.0
for descending in (0, 1):
    golden('argsort', [ties], places(ties, descending), 'ties and NaN', descending=descending)
    golden('argsort', [many], places(many, descending), 'a long row', descending=descending)
golden('argsort', [np.array([3, 1, 2, 1], np.uint8)], np.array([1, 3, 2, 0], np.int32), 'u8', descending=0)
golden('argsort', [np.array([0.0, -0.0, -1.0, 0.0])], np.array([2, 0, 1, 3], np.int32), 'zeros are equal', descending=0)
golden('argsort', [np.zeros((2, 0))], np.zeros((2, 0), np.int32), 'of nothing', descending=0)

# ---- movement ----
golden('reshape', [r], r.reshape(4, 6), shape=[4, 6])
golden('transpose', [r], r.transpose(2, 0, 1), permutation=[2, 0, 1])
golden('broadcast', [normal(0)], np.zeros((2, 0)), 'nothing', shape=[2, 0], axes=[1])
v = normal(3)
golden('broadcast', [v], np.broadcast_to(v[None, :, None], (2, 3, 2)).copy(), shape=[2, 3, 2], axes=[1])
golden('broadcast', [np.array(4.5)], np.full((2, 2), 4.5), 'scalar', shape=[2, 2], axes=[])
golden('slice', [r], r[0:2, 1:3, 0:4:3], start=[0, 1, 0], stop=[2, 3, 4], step=[1, 1, 3])
golden('slice', [r], r[::-1, 2:0:-2, 3:1:-1], 'down', start=[1, 2, 3], stop=[-1, 0, 1], step=[-1, -2, -1])
golden('slice', [r], r[1:1], 'empty', start=[1, 0, 0], stop=[1, 3, 4], step=[1, 1, 1])
padded = np.full((1 + 4 + 2, 0 + 3 + 1), 9.0); small2 = normal(2, 3)
padded[1:5:3, 0:3] = small2
golden('pad', [small2], padded, 'interior', low=[1, 0], high=[2, 1], step=[3, 1], value=9.0)
golden('pad', [np.zeros(0)], np.full(3, 1.5), 'of nothing', low=[1], high=[2], step=[2], value=1.5)
s1, s2 = normal(2, 1, 4), normal(2, 2, 4)
golden('concat', [r, s1, s2], np.concatenate([r, s1, s2], 1), axis=1)

# ---- contraction ----
A, B = normal(3, 4), normal(4, 2)
golden('contract', [A, B], A @ B, 'matrix', batch_left=[], batch_right=[], sum_left=[1], sum_right=[0])
L, R = normal(2, 3, 2, 5), normal(5, 2, 4, 3)
golden('contract', [L, R], np.einsum('abcd,daxb->bcx', L, R), 'batch, two sums', batch_left=[1], batch_right=[3],
       sum_left=[3, 0], sum_right=[0, 1])
w2 = normal(2)
golden('contract', [v, w2], np.outer(v, w2), 'outer', batch_left=[], batch_right=[], sum_left=[], sum_right=[])
golden('contract', [np.zeros((2, 0)), np.zeros((0, 3))], np.zeros((2, 3)), 'empty sum', batch_left=[],
       batch_right=[], sum_left=[1], sum_right=[0])
D7, E7 = normal(2, 7), normal(7, 3)
golden('contract', [D7, E7], D7 @ E7, 'depth 7', batch_left=[], batch_right=[], sum_left=[1], sum_right=[0])


# ---- convolution, pooling: from the definition, element by element ----
def places(out, kernel, extent, stride, low, dilation):
    """(output index, tap, input index) inside the input."""
    for o in np.ndindex(*out):
        for t in np.ndindex(*kernel):
            at = tuple(o[a] * stride[a] - low[a] + t[a] * dilation[a] for a in range(len(out)))
            if all(0 <= at[a] < extent[a] for a in range(len(out))): yield o, t, at


def out_extent(extent, kernel, stride, low, high, dilation):
    return tuple((extent[a] + low[a] + high[a] - dilation[a] * (kernel[a] - 1) - 1) // stride[a] + 1
                 for a in range(len(extent)))


def conv_all(x, w, dy, groups, stride, low, high, dilation):
    """y, and the adjoints of dy."""
    out = out_extent(x.shape[2:], w.shape[2:], stride, low, high, dilation)
    y = np.zeros((x.shape[0], w.shape[0]) + out)
    if dy is None: dy = np.round(rng.standard_normal(y.shape), 2)
    dx, dw = np.zeros(x.shape), np.zeros(w.shape)
    per_in, per_out = x.shape[1] // groups, w.shape[0] // groups
    for n in range(x.shape[0]):
        for k in range(w.shape[0]):
            for c in range(per_in):
                ch = k // per_out * per_in + c
                for o, t, at in places(out, w.shape[2:], x.shape[2:], stride, low, dilation):
                    y[(n, k) + o] += w[(k, c) + t] * x[(n, ch) + at]
                    dx[(n, ch) + at] += w[(k, c) + t] * dy[(n, k) + o]
                    dw[(k, c) + t] += x[(n, ch) + at] * dy[(n, k) + o]
    return y, dy, dx, dw


for remark, xs, ws, groups, stride, low, high, dilation in [
        ('padded', (2, 2, 4, 5), (3, 2, 3, 3), 1, (1, 1), (1, 1), (1, 1), (1, 1)),
        ('stride, uneven', (1, 2, 7, 6), (2, 2, 3, 2), 1, (2, 3), (1, 0), (2, 1), (1, 1)),
        ('groups, dilation', (1, 4, 7), (6, 2, 3), 2, (1,), (2,), (1,), (2,)),
        ('depthwise', (1, 3, 4, 4), (3, 1, 2, 2), 3, (2, 2), (0, 0), (0, 0), (1, 1)),
        ('1x1', (2, 3, 3, 2), (2, 3, 1, 1), 1, (1, 1), (0, 0), (0, 0), (1, 1)),
        ('cropped', (1, 1, 8), (1, 1, 2), 1, (2,), (-1,), (-2,), (1,)),
        ('3-d', (1, 2, 3, 2, 3), (2, 2, 2, 1, 2), 1, (1, 1, 1), (0, 0, 1), (1, 0, 0), (1, 1, 1))]:
    cx, cw = normal(*xs), normal(*ws)
    y, dy, dx, dw = conv_all(cx, cw, None, groups, stride, low, high, dilation)
    common = dict(stride=stride, low=low, high=high, dilation=dilation, groups=groups)
    golden('conv', [cx, cw], y, remark, **common)
    golden('conv_input', [dy, cw], dx, remark, shape=xs, **common)
    golden('conv_weight', [cx, dy], dw, remark, shape=ws, **common)


def pool_all(x, kernel, stride, low, high, dilation):
    out = out_extent(x.shape[2:], kernel, stride, low, high, dilation)
    shape = x.shape[:2] + out
    best, where, total, taps = np.full(shape, -inf), {}, np.zeros(shape), np.zeros(shape, np.uint8)
    for n, c in np.ndindex(*x.shape[:2]):
        for o, t, at in places(out, kernel, x.shape[2:], stride, low, dilation):
            value = x[(n, c) + at]
            total[(n, c) + o] += value
            key = (n, c) + o
            if key not in where or value > best[key] or (math.isnan(value) and not math.isnan(best[key])):
                best[key], where[key] = value, (n, c) + at
                taps[key] = np.ravel_multi_index(t, kernel)
    return best, where, total, taps


pool_input = normal(1, 2, 5, 4)
pool_input[0, 0, 1, 1] = pool_input[0, 0, 2, 1] = 6.0   # a tie: the first counts
for remark, px, kernel, stride, low, high, dilation in [
        ('overlapping, padded', pool_input, (3, 2), (2, 1), (1, 0), (1, 1), (1, 1)),
        ('2x2', normal(2, 1, 4, 6), (2, 2), (2, 2), (0, 0), (0, 0), (1, 1)),
        ('1-d, dilated, NaN', np.array([[[1.0, nan, 2.0, -inf, -inf, -inf, 0.0]]]), (3,), (1,), (1,), (1,), (2,))]:
    best, where, total, taps = pool_all(px, kernel, stride, low, high, dilation)
    common = dict(kernel=kernel, stride=stride, low=low, high=high, dilation=dilation)
    golden('max_pool', [px], best, remark, **common)
    g, u = normal(*best.shape), normal(*px.shape)
    scattered, picked = np.zeros(px.shape), np.zeros(best.shape)
    for key, at in where.items():
        scattered[at] += g[key]
        picked[key] = u[at]
    golden('max_pool_grad', [px, g], scattered, remark, **common)
    golden('max_pool_pick', [px, u], picked, remark, **common)
    golden('max_place', [px], taps, remark, **common)
    golden('max_unpool', [taps, g], scattered, remark, shape=px.shape, **common)
    if 'NaN' in remark: continue
    golden('sum_pool', [px], total, remark, **common)
    spread = np.zeros(px.shape)
    for n, c in np.ndindex(*px.shape[:2]):
        for o, t, at in places(best.shape[2:], kernel, px.shape[2:], stride, low, dilation):
            spread[(n, c) + at] += g[(n, c) + o]
    golden('sum_pool_grad', [g], spread, remark, shape=px.shape, **common)

# ---- indexing ----
table, index = normal(5, 3), ints('i32', 0, 5, 2, 3)
golden('gather', [table, index], table[index])
golden('gather', [table, np.array([-1, 5, 200], np.int64)], table[[0, 4, 4]], 'clamped')
golden('gather', [normal(4) * 0 + np.arange(4), np.array([3, 0], np.uint8)], np.array([3.0, 0.0]), 'vector, u8')
values = normal(2, 3, 3)
added = np.zeros((5, 3)); np.add.at(added, index, values)
golden('scatter_add', [values, index], added, shape=[5, 3])
golden('scatter_add', [np.array([1.0, 2.0, 4.0]), np.array([0, -1, 2], np.int32)], np.array([1.0, 0.0]), 'outside', shape=[2])
px, pi = normal(2, 3, 2), ints('u8', 0, 3, 2, 2)
picked = np.take_along_axis(px, pi[:, None, :].astype(np.int64), 1)[:, 0, :]
golden('pick', [px, pi], picked, 'middle', axis=1)
golden('pick', [np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([-3, 9], np.int32)], np.array([1.0, 4.0]), 'clamped', axis=1)
unpicked = np.zeros((2, 3, 2)); np.put_along_axis(unpicked, pi[:, None, :].astype(np.int64), picked[:, None, :], 1)
golden('unpick', [picked, pi], unpicked, 'middle', shape=[2, 3, 2], axis=1)
golden('unpick', [np.array([5.0, 6.0]), np.array([-3, 1], np.int32)], np.array([[0.0, 0.0], [0.0, 6.0]]), 'outside', shape=[2, 2], axis=1)

# ---- attention: a row of scores at a time ----
def attend(q, k, v, mask, scale, causal):
    """y, of each row the greatest score and the log of the sum above it, and the weights."""
    scores = np.einsum('bhqd,bhkd->bhqk', q, k) * scale
    if causal: scores[..., ~np.tri(q.shape[2], k.shape[2], dtype=bool)] = -inf
    if mask is not None: scores = np.where(mask, scores, -inf) if mask.dtype == bool else scores + mask
    top = np.max(scores, axis=-1, initial=-inf)
    top = np.where(top == -inf, 0, top)
    total = np.exp(scores - top[..., None]).sum(-1)
    total = np.where(total == 0, 1, total)
    weights = np.exp(scores - top[..., None]) / total[..., None]
    return np.einsum('bhqk,bhkv->bhqv', weights, v), np.stack([top, np.log(total)], -1), weights


blind = rng.random((1, 2, 3, 4)) < 0.6
blind[0, 1, 1] = False   # a query that sees nothing
for remark, (b, h, nq, nk, d, e), mask, scale, causal in [
        ('', (2, 1, 3, 4, 2, 3), None, 0.5, 0), ('causal', (1, 2, 4, 3, 3, 2), None, 0.7, 1),
        ('more keys than queries, causal', (1, 1, 2, 5, 1, 1), None, -1.5, 1),
        ('mask', (1, 2, 3, 4, 2, 2), blind, 1.25, 0), ('shifted', (1, 1, 3, 3, 2, 1), normal(1, 1, 3, 3), 0.5, 1),
        ('one of each', (1, 1, 1, 1, 1, 1), None, 2.0, 1), ('no keys', (1, 1, 2, 0, 2, 2), None, 1.0, 0)]:
    q, k, v, dy = normal(b, h, nq, d), normal(b, h, nk, d), normal(b, h, nk, e), normal(b, h, nq, e)
    common = dict(scale=scale, causal=causal)
    masks = [] if mask is None else [mask]
    y, lse, weights = attend(q, k, v, mask, scale, causal)
    golden('attention', [q, k, v] + masks, y, remark, **common)
    golden('attention_lse', [q, k] + masks, lse, remark, dtype='DTYPE_F64', **common)
    rows = np.concatenate([y, lse], -1)
    golden('attention_rows', [q, k, v] + masks, rows, remark, dtype='DTYPE_F64', **common)
    delta = (y * dy).sum(-1)
    scores = weights * (np.einsum('bhqv,bhkv->bhqk', dy, v) - delta[..., None])
    operands = [q, k, v, dy, lse, delta] + masks
    of_q = scale * np.einsum('bhqk,bhkd->bhqd', scores, k)
    golden('attention_grad_q', operands, of_q, remark, **common)
    both = [scale * np.einsum('bhqk,bhqd->bhkd', scores, q), np.einsum('bhqk,bhqv->bhkv', weights, dy)]
    of_kv = np.concatenate(both, -1)
    golden('attention_grad_kv', operands, of_kv, remark, **common)
    grads = np.concatenate([of_q.reshape(b, h, -1), of_kv.reshape(b, h, -1)], -1)
    golden('attention_grads', [q, k, v, dy, rows] + masks, grads, remark, **common)

print('/* Made by tests/tools/op_goldens.py with NumPy; do not edit.  What each operator must compute:')
print(' * operator, remark, operands, attributes, result. */')
print('static const Golden goldens[] = {')
for line in '\n'.join(entries).splitlines():
    print(textwrap.fill(line, 99, subsequent_indent='    ', break_long_words=False, break_on_hyphens=False))
print('};')
