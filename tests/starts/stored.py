"""Safetensors files for tests/starts/run.sh, with Python's struct alone.

    stored.py convert IN OUT DTYPE       all floats of a file in another type (F64, F32, BF16, F16)
    stored.py edit IN OUT OLD=NEW...     tensors under another name, or left out (OLD=); the others as they are
    stored.py show FILE NAME...          values, one tensor a line, shortest form of f32
    stored.py near A B TOLERANCE         exit status 0 when all floats of the two are that near (a share of the value)
"""
import json
import struct
import sys

SIZES = {"F64": "d", "F32": "f", "F16": "e", "I64": "q", "I32": "i", "U8": "B", "BOOL": "?"}


def read(path):
    data = open(path, "rb").read()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:start])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        tensors[name] = (entry["dtype"], entry["shape"], unpack(entry["dtype"], data[start + begin:start + end]))
    return tensors


def unpack(dtype, data):
    if dtype == "BF16":
        return [struct.unpack("<f", b"\0\0" + data[i:i + 2])[0] for i in range(0, len(data), 2)]
    code = SIZES[dtype]
    return [value for value, in struct.iter_unpack("<" + code, data)]


def pack(dtype, values):
    if dtype == "BF16":  # rounded to nearest, ties to even
        bits = [struct.unpack("<I", struct.pack("<f", value))[0] for value in values]
        return b"".join(struct.pack("<H", (b + 0x7fff + (b >> 16 & 1)) >> 16) for b in bits)
    return struct.pack(f"<{len(values)}{SIZES[dtype]}", *values)


def write(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        packed = pack(dtype, values)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)


def main(command, path, *rest):
    tensors = read(path)
    if command == "convert":
        write(rest[0], {name: (rest[1] if dtype[0] in "FB" and dtype != "BOOL" else dtype, shape, values)
                        for name, (dtype, shape, values) in tensors.items()})
    elif command == "edit":
        names = dict(pair.split("=") for pair in rest[1:])
        write(rest[0], {names.get(name, name): tensor for name, tensor in tensors.items() if names.get(name, name)})
    elif command == "show":
        for name in rest:
            print(name, *tensors[name][2])
    elif command == "near":
        other = read(rest[0])
        far = [name for name, (_, _, values) in tensors.items() if ":" not in name
               for a, b in zip(values, other[name][2]) if abs(a - b) > float(rest[1]) * abs(a)]
        sys.exit(f"differ: {sorted(set(far))}" if far else 0)


main(*sys.argv[1:])
