#!/usr/bin/env python3
"""Writes tests/half/goldens.inc: what the conversions of conversions.h give, by NumPy (f16) and
PyTorch (bf16).

    python3 tests/half/make.py > tests/half/goldens.inc"""
import struct
import zlib

import numpy as np
import torch


def f16_widen(bits): return bits.astype(np.uint16).view(np.float16).astype(np.float32)
def f16_narrow(x): return x.astype(np.float16).view(np.uint16)


def bf16_widen(bits):
    return torch.from_numpy(bits.astype(np.uint16).view(np.int16)).view(torch.bfloat16).float().numpy()


def bf16_narrow(x):
    return torch.from_numpy(x).to(torch.bfloat16).view(torch.int16).numpy().view(np.uint16)


def row(name, fraction, exponent, widen, narrow):
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
    print('    {"%s", %d, %d, 0x%08X, 0x%08X},' % (
        name, fraction, exponent, zlib.crc32(bits.astype('<u4').tobytes()),
        zlib.crc32(narrowed.astype('<u2').tobytes())))


row('bf16', 7, 8, bf16_widen, bf16_narrow)
row('f16', 10, 5, f16_widen, f16_narrow)
