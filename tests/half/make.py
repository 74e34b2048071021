#!/usr/bin/env python3
"""What bf16 and f16 must be, by NumPy and PyTorch.

    python3 tests/half/make.py        writes beside itself
      goldens.inc               checksums of the conversions of conversions.h
      bf16.safetensors, f16.safetensors
                                inputs ("0/NAME") and parameters of operators.net, what its states hold after a
                                step ("=PATH"), and in how many units of the last place ("~PATH": f32 [1])

An operator is PyTorch's on f32, its result rounded to the type; autograd rounds gradients where the casts are."""
import json
import os
import struct
import zlib

import numpy as np
import torch

here = os.path.dirname(os.path.abspath(__file__))


# ---- conversions ----

def f16_widen(bits): return bits.astype(np.uint16).view(np.float16).astype(np.float32)
def f16_narrow(x): return x.astype(np.float16).view(np.uint16)


def bf16_widen(bits):
    return torch.from_numpy(bits.astype(np.uint16).view(np.int16)).view(torch.bfloat16).float().numpy()


def bf16_narrow(x):
    return torch.from_numpy(x).to(torch.bfloat16).view(torch.int16).numpy().view(np.uint16)


def golden(name, fraction, exponent, widen, narrow):
    wide = widen(np.arange(65536))
    bits = np.where(np.isnan(wide), np.uint32(0x7FC00000), wide.view(np.uint32))
    infinity = ((1 << exponent) - 1) << fraction
    here = widen(np.arange(infinity)).astype(np.float64)
    last = here[-1] - here[-2]
    following = np.append(here[1:], here[-1] + last)
    points = np.stack([here, (here + following) / 2], axis=1).astype(np.float32)
    start = points.view(np.uint32)[:, :, None]
    moved = np.where(start > 0, start + np.array([-1, 0, 1]), start).astype(np.uint32)
    both = np.stack([moved, moved | np.uint32(1 << 31)], axis=3).reshape(-1)
    with np.errstate(over='ignore'):
        narrowed = narrow(both.view(np.float32))
    return '    {"%s", %d, %d, 0x%08X, 0x%08X},\n' % (
        name, fraction, exponent, zlib.crc32(bits.astype('<u4').tobytes()),
        zlib.crc32(narrowed.astype('<u2').tobytes()))


with open(os.path.join(here, 'goldens.inc'), 'w') as out:
    out.write(golden('bf16', 7, 8, bf16_widen, bf16_narrow))
    out.write(golden('f16', 10, 5, f16_widen, f16_narrow))


# ---- operators ----

STORED = {torch.bfloat16: 'BF16', torch.float16: 'F16', torch.float32: 'F32', torch.int32: 'I32'}


def save(path, tensors):
    header, data = {}, b''
    for name, tensor in tensors.items():
        tensor = tensor.detach().contiguous()
        raw = (tensor.view(torch.int16) if tensor.element_size() == 2 else tensor).numpy().tobytes()
        header[name] = {'dtype': STORED[tensor.dtype], 'shape': list(tensor.shape),
                        'data_offsets': [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    with open(path, 'wb') as out:
        out.write(struct.pack('<Q', len(text)) + text + data)


def operators(name, kind):
    torch.manual_seed(1)
    a, b = torch.randn(6, 40).to(kind), (torch.rand(6, 40) + 0.5).to(kind)
    picture = torch.randn(6, 4, 9, 9).to(kind)
    label, y = torch.randint(0, 10, (6,), dtype=torch.int32), torch.randn(6)
    params = {'w': (torch.randn(40, 20) / 6).to(kind), 'bias': torch.randn(20).to(kind),
              'kernel': (torch.randn(6, 4, 3, 3) / 6).to(kind), 'table': torch.randn(10, 40).to(kind),
              'scale': torch.randn(20)}
    for p in params.values(): p.requires_grad_()
    w, bias, kernel, table, scale = params.values()

    def op(function, *operands): return function(*[x.float() for x in operands]).to(kind)
    def written(x): return torch.tensor(x).to(kind)

    hidden = op(torch.matmul, a, w)
    biased = op(torch.add, hidden, bias)
    window = op(lambda x, k: torch.conv2d(x, k, stride=2, padding=1), picture, kernel)
    pooled = op(lambda x: torch.max_pool2d(x, 2), window)
    rows = table[label.long()]
    chain = op(torch.add, op(torch.mul, a, b), written(0.1))
    chain = op(torch.sub, op(torch.mul, chain, a), op(torch.div, b, written(3.0)))
    exact = {
        'sum_of': op(torch.add, a, b), 'difference': op(torch.sub, a, b), 'product': op(torch.mul, a, b),
        'quotient': op(torch.div, a, b), 'root': op(torch.sqrt, a.abs()), 'negative': -a,
        'greater': op(torch.maximum, a, b), 'chain': chain,
        'tiny': op(torch.mul, op(torch.mul, a, written(1e-5)), written(1e-3)),
        'huge': op(torch.mul, op(torch.mul, a, written(60000.0)), written(2.0)),
        'widened': a.float() * b.float(), 'narrowed': (a.float() * 1.001).to(kind),
        'from_int': (label * 1237).to(kind), 'greatest': a.amax(1) if name == 'bf16' else op(lambda x: x.amax(1), a),
        'moved': torch.cat([a.T[3:9], b.T.flip(0)[::4]]), 'rows': rows, 'pooled': pooled,
    }
    near = {
        'exponent': op(torch.exp, a), 'logarithm': op(torch.log, a.abs()), 'sigmoids': op(torch.sigmoid, a),
        'tangents': op(torch.tanh, a), 'errors': op(torch.erf, a), 'total': op(lambda x: x.sum(1), a),
        'column': op(lambda x: x.sum(0), a), 'average': op(lambda x: x.mean(1), a),
        'factors': op(lambda x: x.prod(1), b[:, :6]), 'long_sum': op(lambda x: x.flatten(1).sum(1), picture),
        'row': op(torch.matmul, a[0], w), 'column_of': op(torch.matmul, a, b[0]),
        'hidden': hidden, 'biased': biased, 'window': window, 'means': op(lambda x: torch.nn.functional.avg_pool2d(x, 2), window),
    }
    features = op(torch.relu, biased).float() * scale
    pooled_sum = op(lambda x: x.flatten(1).sum(1), pooled)
    rows_sum = op(lambda x: x.sum(1), op(torch.mul, rows, b))
    z = features.sum(1) + pooled_sum.float() + rows_sum.float()
    ((z - y) ** 2).mean().backward()

    tensors = {'0/a': a, '0/b': b, '0/picture': picture, '0/label': label, '0/y': y}
    tensors.update(params)
    for units, group in ((0, exact), (1, near)):
        for key, value in group.items():
            tensors['=%s.out' % key] = value
    for key, p in params.items(): tensors['=%s:kept' % key] = p.grad
    units = {key: 0 for key in exact}
    units.update({key: 1 for key in near})
    for path in [k for k in tensors if k[0] == '=']:
        own = units.get(path[1:].split('.')[0], 4 if ':' in path else None)
        tensors['~' + path[1:]] = torch.tensor([float(own)])
    save(os.path.join(here, name + '.safetensors'), tensors)


operators('bf16', torch.bfloat16)
operators('f16', torch.float16)
