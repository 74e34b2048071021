"""change.py BEFORE A B LOOSE: three safetensors files with the same tensors. Of the f32 tensor where it is largest,
prints the distance of B from A relative to A's from BEFORE, and the tensor's name; what numbers of their size round by
is taken off, and of tensors whose name ends with LOOSE a hundredth counts. Other tensors must be equal."""
import array, math, sys

from compare import read


def change(before, a, b):
    before, a, b = (array.array("f", values) for values in (before, a, b))
    far, size, moved = math.dist(a, b), math.hypot(*a), math.dist(before, a)
    if not math.isfinite(far):
        return 9.0  # and not inf or NaN, of which shells know little
    return max(0.0, far - 1.2e-7 * size) / max(moved, 1e-30)


before, a, b = (read(path) for path in sys.argv[1:4])
loose = sys.argv[4]
if not before.keys() == a.keys() == b.keys():
    sys.exit("other tensors")
worst = (0.0, "none")
for name, (dtype, values) in a.items():
    if dtype == "F32" and values:
        share = 0.01 if name.split(":")[0].endswith(loose) else 1
        worst = max(worst, (share * change(before[name][1], values, b[name][1]), name))
    elif values != b[name][1]:
        sys.exit(f"{name} differs")
print("%.1e %s" % worst)
