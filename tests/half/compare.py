#!/usr/bin/env python3
"""compare.py EXPECTED FOUND: tensors of safetensors files, "=PATH" of the first against PATH of the second.

Each element may be off by as many units in the last place of its type as "~PATH" says; gradients (":"), which
an optimizer keeps as f32, in units of the greatest element. Prints FAIL and the worst element of a tensor that is not; then counts."""
import json
import math
import struct
import sys


def bf16(bits): return struct.unpack('<f', struct.pack('<I', bits << 16))[0]
def f16(bits): return struct.unpack('<e', struct.pack('<H', bits))[0]


DIGITS = {'BF16': (8, -133), 'F16': (11, -24), 'F32': (24, -149)}


def load(path):
    data = open(path, 'rb').read()
    length = struct.unpack('<Q', data[:8])[0]
    header, tensors = json.loads(data[8:8 + length]), {}
    for name, info in header.items():
        if name == '__metadata__' or info['dtype'] not in DIGITS: continue
        begin, end = info['data_offsets']
        raw = data[8 + length + begin:8 + length + end]
        if info['dtype'] == 'F32': values = struct.unpack('<%df' % (len(raw) // 4), raw)
        else:
            convert = bf16 if info['dtype'] == 'BF16' else f16
            values = [convert(bits) for bits in struct.unpack('<%dH' % (len(raw) // 2), raw)]
        tensors[name] = (info['dtype'], values)
    return tensors


def unit(kind, value):
    digits, least = DIGITS[kind]
    exponent = math.frexp(value)[1] if value != 0 and math.isfinite(value) else -1000
    return 2.0 ** max(exponent - digits, least)


def distance(kind, wanted, found, scale):
    if math.isnan(wanted) or math.isnan(found): return 0 if math.isnan(wanted) and math.isnan(found) else math.inf
    if wanted == found: return 0
    return abs(wanted - found) / unit(kind, scale) if math.isfinite(wanted - found) else math.inf


expected, found = load(sys.argv[1]), load(sys.argv[2])
passed = failed = 0
for name, (kind, wanted) in expected.items():
    if name[0] != '=': continue
    limit = expected['~' + name[1:]][1][0]
    of, values = found.get(name[1:], (None, []))
    largest = max(abs(v) for v in wanted)
    worst = [distance(kind, w, v, largest if ':' in name else w) for w, v in zip(wanted, values)]
    if of == ('F32' if ':' in name else kind) and len(wanted) == len(values) and max(worst) <= limit:
        passed += 1
        continue
    failed += 1
    at = worst.index(max(worst)) if worst else 0
    print('FAIL %s of %s, wanted %s, %d and %d elements; element %d is off by %s units' %
          (name[1:], of, kind, len(values), len(wanted), at, worst[at] if worst else '-'),
          values[at] if worst else '', wanted[at])
print('%d passed, %d failed' % (passed, failed))
sys.exit(failed > 0 or passed == 0)
