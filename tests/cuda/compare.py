"""Two safetensors files with the same tensors: compare.py A B LIMIT fails where a float tensor of one is further from
the other's than LIMIT, relative to its norm, or any other tensor differs."""
import json, math, struct, sys


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8:8 + length]), data[8 + length:]
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], body[slice(*entry["data_offsets"])]) for name, entry in header.items()}


def distance(dtype, a, b):
    letter, size = {"F32": ("f", 4), "F64": ("d", 8)}[dtype]
    a, b = (struct.unpack(f"<{len(x) // size}{letter}", x) for x in (a, b))
    norm = math.sqrt(sum(x * x for x in a))
    return math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b))) / max(norm, 1e-9)


def main():
    first, second, limit = read(sys.argv[1]), read(sys.argv[2]), float(sys.argv[3])
    if first.keys() != second.keys():
        sys.exit(f"other tensors: {first.keys() ^ second.keys()}")
    for name, (dtype, values) in first.items():
        if dtype != second[name][0] or len(values) != len(second[name][1]):
            sys.exit(f"{name}: another type or size")
        if values == second[name][1]:
            continue
        far = distance(dtype, values, second[name][1]) if dtype in ("F32", "F64") else math.inf
        if not far <= limit:
            sys.exit(f"{name} is {far:.3g} off, at most {limit}")


if __name__ == "__main__":
    main()
