"""The rows of bench/kernels.py: a Row is one operation, as a program for nnc and as a description for peer.py.

A program is one statement `y <- ...` over states, so that a step of the executable is that operation on data that
`init` drew. Its loss and its parameter have one element; such a step without the statement takes 0.05 us.

A contraction is described by letters: "mk,kn->mn" with an extent for each. Where axes lie beside each other in the
same order wherever they occur, they are one (`contraction` merges them), axes of extent 1 are none, and the result
begins with axes of the left operand: so equal work has one name."""
import dataclasses
import math

PROGRAM = """param nothing : f32[1] = zeros
%s
y <- %s
loss = sum(nothing * nothing)
train { minimize = loss, optimizer = sgd(lr = 0.1), steps = 10 }
"""
BYTES = {"f32": 4, "f64": 8}
SMALL_FLOP = 1e6  # below, the time of a call counts for more than that of the work


@dataclasses.dataclass
class Row:
    group: str         # a key of judge.BARS
    name: str
    operation: dict    # what peer.py needs to know
    flop: float        # 2 m n k of products, else 0
    bytes: float       # of operands and result, once each
    text: str          # the program
    dtype: str = "f32"
    sort: str = ""      # rows of one sort are alike: --quick takes one of a model
    of_peak: float = 0  # the share of the multiply-adds' peak that it shall reach
    is_read_only: bool = False  # bound by reading rather than by a copy
    models: dict = dataclasses.field(default_factory=dict)  # name: how often in a step

    def key(self):
        return self.group, self.name, self.dtype


def program(states, statement):
    """states: name: (dtype, shape, initial value)."""
    lines = ["state %s : %s[%s] = %s" % (name, dtype, ", ".join(map(str, shape)), value)
             for name, (dtype, shape, value) in states.items()]
    return PROGRAM % ("\n".join(lines), statement)


# ---- contractions ------------------------------------------------------------------------------

def roles(terms):
    """Letter: b (in all three terms), m (left and result), n (right and result), k (summed)."""
    left, right, out = map(set, terms)
    return {letter: "b" if letter in left & right & out else "k" if letter not in out else
            "m" if letter in left else "n" for letter in left | right}


def merge(terms, sizes):
    """Joins neighbours of one role that follow each other in each term that has them."""
    terms, sizes = ["".join(letter for letter in term if sizes[letter] > 1) for term in terms], dict(sizes)
    pairs = [(one, two) for term in terms for one, two in zip(term, term[1:])]
    for one, two in pairs:
        if all(one + two in term or (one not in term and two not in term) for term in terms):
            sizes[one] *= sizes[two]
            return merge([term.replace(one + two, one) for term in terms], sizes)
    return terms, sizes


def rename(terms, sizes):
    """Letters by their roles, in the order of the terms: b c d, m p q, n r s, k l j."""
    of, names, free = roles(terms), {}, {"b": "bcdefgh", "m": "mpqtu", "n": "nrsvw", "k": "kljio"}
    for letter in dict.fromkeys("".join(terms[2:] + terms[:2])):
        names[letter], free[of[letter]] = free[of[letter]][0], free[of[letter]][1:]
    return (["".join(names[letter] for letter in term) for term in terms],
            {names[letter]: sizes[letter] for letter in names})


def canonical(terms, sizes):
    """The same work in its one form: terms and sizes."""
    terms, sizes = merge(terms, sizes)
    of = roles(terms)
    first = next((of[letter] for letter in terms[2] if of[letter] in "mn"), "m")
    if first == "n" or (set(of.values()).isdisjoint("m") and "n" in of.values()):
        terms = [terms[1], terms[0], terms[2]]
    return rename(terms, sizes)


def contraction_name(terms, sizes):
    """"64x500x800 nt", m x n x k and which operand lies transposed; "12 of ..." in batches; else the letters."""
    batch = "b" if "b" in sizes else ""
    layouts = {batch + "mk": "n", batch + "km": "t"}, {batch + "kn": "n", batch + "nk": "t"}
    if terms[2] == batch + "mn" and terms[0] in layouts[0] and terms[1] in layouts[1]:
        count = "%d of " % sizes["b"] if batch else ""
        return count + "%dx%dx%d " % tuple(sizes[letter] for letter in "mnk") + layouts[0][terms[0]] + \
            layouts[1][terms[1]]
    return "%s,%s->%s " % tuple(terms) + " ".join("%s%d" % pair for pair in sorted(sizes.items()))


def contraction(terms, sizes):
    terms, sizes = canonical(terms, sizes)
    a, b, y = shapes = [[sizes[letter] for letter in term] for term in terms]
    flop = 2.0 * math.prod(sizes.values())
    group = "contraction" if flop >= SMALL_FLOP else "small contraction"
    formula = "%s,%s->%s" % tuple(terms)
    states = {"a": ("f32", a, "uniform(-1, 1)"), "b": ("f32", b, "uniform(-1, 1)"), "y": ("f32", y, "zeros")}
    return Row(group, contraction_name(terms, sizes), {"kind": "contraction", "terms": terms}, flop,
               4.0 * sum(math.prod(shape) for shape in shapes), program(states, 'einsum("%s", a, b)' % formula),
               sort=formula)


def product(m, n, k, layout="nn", batch=1):
    left, right = {"n": "bmk", "t": "bkm"}[layout[0]], {"n": "bkn", "t": "bnk"}[layout[1]]
    return contraction([left, right, "bmn"], {"b": batch, "m": m, "n": n, "k": k})


SKINNY = [(16384, 96, 64, "nn"), (64, 96, 16384, "tn"), (16384, 64, 96, "nt"), (20, 2600, 650, "nn"),
          (20, 650, 2600, "nt"), (650, 2600, 20, "tn"), (1, 1000, 1000, "nn"), (1, 4096, 4096, "nt"),
          (4096, 16, 4096, "nn"), (16, 4096, 4096, "nt"), (100, 10, 1000, "nn"), (1, 4096, 4096, "nn"),
          (4, 4096, 4096, "nn"), (16, 4096, 4096, "nn")]
BATCHED = [(48, 64, 64, 32, "nt"), (48, 64, 32, 64, "nn"), (48, 64, 64, 64, "tn"), (96, 197, 197, 64, "nt"),
           (96, 197, 64, 197, "nn"), (256, 32, 32, 32, "nn"), (1024, 8, 8, 8, "nn"), (8, 512, 512, 64, "nt")]
LAYOUTS = ("nn", "nt", "tn", "tt")


def made_contractions(is_quick):
    """Cubes, narrow and batched products."""
    if is_quick:
        cubes = [(256, "nn"), (1024, "nn"), (1024, "nt"), (1024, "tn"), (2048, "nn")]
        skinny, batched = [SKINNY[i] for i in (1, 3, 7)], [BATCHED[i] for i in (0, 5)]
    else:
        cubes = [(size, layout) for size in (256, 512, 1024, 2048, 4096) for layout in LAYOUTS]
        skinny, batched = SKINNY, BATCHED
    return [dataclasses.replace(product(size, size, size, layout), of_peak=0.9) for size, layout in cubes] + \
        [product(*each) for each in skinny] + \
        [product(m, n, k, layout, batch) for batch, m, n, k, layout in batched]
