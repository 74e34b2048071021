"""Damaged data files and checkpoints: an executable reads them or says what is wrong with which file.

Five small programs are compiled once and trained for some steps; then one of their files is damaged (cut, bits and bytes changed,
numbers of its header replaced, pieces doubled, empty, another format, not a file at all) and a command runs that reads it.
It must end with 0, or with 1 and a message; never by a signal, too late, or in more than two gigabytes.
"""
import os
import shutil
import stat
import struct
import zlib

from limits import GIGABYTE, complaint, generator, run, side_by_side

TAIL = """
logits = linear(h, 3)
loss = cross_entropy(logits, label)
accuracy = mean(argmax(logits) == label)
train { minimize = loss, optimizer = adam(lr = 1e-3), steps = 4, metrics = [accuracy] }
predict { guess = argmax(logits) }
"""
PROGRAMS = {
    "idx": """const batch = 4
data train { x, label = idx("x.idx", "y.idx") | split(0, 0.5) }
data test { x, label = idx("x.idx", "y.idx") | split(0.5, 1) }
input x : f32[batch, 6]
input label : i32[batch]
h = tanh(linear(x, 5))
""",
    "npy": """const batch = 4
data train { x = npy("x.npy") | standardize | split(0, 0.5); label = npy("y.npy") | split(0, 0.5) }
data test { x = npy("x.npy") | standardize | split(0.5, 1); label = npy("y.npy") | split(0.5, 1) }
input x : f32[batch, 6]
input label : i32[batch]
h = tanh(linear(x, 5))
""",
    "csv": """const batch = 4
data train { x, kind, label = csv("t.csv") | split(0, 0.5) | impute(x) | standardize(x) | categories(kind) | categories(label) }
data test { x, kind, label = csv("t.csv") | split(0.5, 1) | impute(x) | standardize(x) | categories(kind) | categories(label) }
input x : f32[batch, 2]
input kind : i32[batch]
input label : i32[batch]
h = tanh(linear(x, 5)) + one_hot(kind, 5)
""",
    "text": """const batch = 4
data train { x, label = text("t.txt", length = 1, stride = 1, unit = "byte", to = 0.9) }
data val { x, label = text("t.txt", length = 1, stride = 1, unit = "byte", from = 0.9) }
input x : i32[batch, 1]
input label : i32[batch, 1]
param table : [256, 4] = normal(0, 1)
logits = linear(table[x], 256)
loss = cross_entropy(logits, label)
train { minimize = loss, optimizer = sgd(lr = 0.1), steps = 4 }
predict { guess = argmax(logits) }
""",
    "pictures": """const batch = 4
data train { x, label = image_folder("train") | resize(20) | random_crop(16) | random_flip }
data val { x, label = image_folder("train") | resize(20) | center_crop(16) }
input x : u8[batch, 3, 16, 16]
input label : i32[batch]
h = flatten(f32(x) / 255)
""",
}


def idx(shape, data):
    return struct.pack(">HBB", 0, 8, len(shape)) + b"".join(struct.pack(">I", n) for n in shape) + bytes(data)


def npy(descr, shape, data):
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (descr, shape)).encode()
    head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data


def png(rng, width, height):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes(rng.randrange(256) for _ in range(3 * width)) for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def make_data(folder, make_jpeg):
    rng = generator("data")
    sets = {name: os.path.join(folder, name) for name in PROGRAMS}
    for path in sets.values():
        os.makedirs(path)
    numbers = [[rng.gauss(0, 1) for _ in range(6)] for _ in range(40)]
    labels = [i % 3 for i in range(40)]

    def write(kind, name, content):
        path = os.path.join(sets[kind], name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    write("idx", "x.idx", idx((40, 6), [rng.randrange(256) for _ in range(240)]))
    write("idx", "y.idx", idx((40,), labels))
    write("npy", "x.npy", npy("<f4", (40, 6), b"".join(struct.pack("<6f", *row) for row in numbers)))
    write("npy", "y.npy", npy("<i4", (40,), struct.pack("<40i", *labels)))
    lines = ["%.3f,%s,%s,%s" % (row[0], "NA" if i % 7 == 0 else "%.2f" % row[1], "abcd"[i % 4], ["x", '"y, z"', "w"][labels[i]])
             for i, row in enumerate(numbers)]
    write("csv", "t.csv", ("a,b,kind,label\n" + "\n".join(lines) + "\n").encode())
    write("text", "t.txt", bytes(rng.randrange(32, 127) for _ in range(500)))
    for i in range(6):
        write("pictures", "train/%s/%d.png" % ("uvw"[i % 3], i), png(rng, 24 + i, 22))
    for i, kind in enumerate(["baseline", "progressive", "baseline"]):
        run([make_jpeg, "%s/train/%s/%d.jpg" % (sets["pictures"], "uvw"[i], 10 + i), "30", "26", kind])
    return sets


def damage(rng, content):
    """Bytes of a damaged file, or a word for one that is none."""
    kind, size = rng.randrange(14), len(content)
    at = rng.randrange(size + 1)
    near = min(at, rng.randrange(1, 200))  # headers are at the beginning
    if kind == 0:
        return content[:at]
    if kind == 1:
        return content[:near]
    if kind in (2, 3) and size:
        i = near % size if kind == 2 else at % size
        return content[:i] + bytes([content[i] ^ (1 << rng.randrange(8))]) + content[i + 1:]
    if kind in (4, 5):
        number = rng.choice([0, 1, 255, 65535, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 62, (1 << 64) - 1])
        packed = struct.pack(rng.choice("<>") + "Q", number)[:rng.choice([1, 2, 4, 8])]
        return content[:near] + packed + content[near + len(packed):]
    if kind == 6:
        return content[:at] + content[near:near + rng.randrange(64)] + content[at:]
    if kind == 7:
        return content[:near] + content[at:]
    if kind == 8:
        text = rng.choice([b"-1", b"1e999", b"nan", b"9" * 400, b"\0", b"\xff\xfe", b'"', b"\n\n", b",,,,", b"{", b"]", b"()", b"[" * 3000, b"'"])
        return content[:at] + text + content[at + len(text):]
    if kind == 9:
        return rng.choice([b"", b"\0", b"PK\3\4", b"\x80\4", b"\x1f\x8b\x08", b"\x89HDF", bytes(4096), os.urandom(1) * 3000])
    if kind == 10:
        return zlib.compress(content)
    if kind == 11:
        deflate = zlib.compressobj(wbits=31)
        packed = deflate.compress(content) + deflate.flush()
        return packed[:rng.randrange(len(packed))] if rng.random() < 0.7 else packed
    if kind == 12:
        return content * rng.choice([2, 50])
    return rng.choice(["missing", "folder", "fifo", "unreadable", "dangling", "loop"])


def place(path, damaged):
    os.remove(path)
    if damaged == "folder":
        os.mkdir(path)
    elif damaged == "fifo":
        os.mkfifo(path)
    elif damaged == "dangling":
        os.symlink("/nowhere/at/all", path)
    elif damaged == "loop":
        os.symlink(os.path.basename(path), path)
    elif damaged != "missing":
        with open(path, "wb") as file:
            file.write(damaged if isinstance(damaged, bytes) else b"x")
        if damaged == "unreadable":
            os.chmod(path, 0)


def files_below(folder):
    return sorted(os.path.join(root, name) for root, _, names in os.walk(folder) for name in names)


class Files:
    def __init__(self, build, work, tally, seed):
        self.build, self.work, self.tally, self.seed = build, work, tally, seed
        self.programs = {}

    def prepare(self, make_jpeg):
        """Compiles the programs and trains them; False, with what was said, where that fails."""
        sets = make_data(self.work + "/data", make_jpeg)
        for kind, text in PROGRAMS.items():
            source, program = "%s/%s.net" % (self.work, kind), "%s/%s" % (self.work, kind)
            with open(source, "w") as file:
                file.write(text if kind == "text" else text + TAIL)
            built = run([self.build + "/bin/nnc", source, "--cflags=-O0", "--units=1", "-o", program], seconds=100)
            trained = built.status == 0 and run([program, "--data", sets[kind], "--out", program + ".run"], seconds=60)
            if not trained or trained.status != 0:
                self.tally.add("program " + kind, "cannot be prepared", trained or built)
                return
            self.programs[kind] = (program, sets[kind])

    def judge(self, number):
        rng = generator("file", self.seed, number)
        kind = rng.choice(sorted(self.programs))
        program, data = self.programs[kind]
        folder = "%s/f%d" % (self.work, number)
        shutil.copytree(data, folder + "/data")
        shutil.copytree(program + ".run", folder + "/run")
        is_checkpoint = rng.random() < 0.35
        target = folder + "/run/checkpoint.safetensors" if is_checkpoint else rng.choice(files_below(folder + "/data"))
        with open(target, "rb") as file:
            damaged = damage(rng, file.read())
        place(target, damaged)
        where = ["--data", folder + "/data", "--out", folder + "/run"]
        commands = [["train", "-q", "--resume", "--steps", "6"] + where, ["eval"] + where, ["predict"] + where]
        if is_checkpoint:
            commands += [["train", "-q", "--init", target, "--data", folder + "/data", "--out", folder + "/new"],
                         ["export", "--out", folder + "/run", folder + "/e.npz"], ["eval", "-i", target] + where]
        else:
            commands += [["train", "-q", "--data", folder + "/data", "--out", folder + "/new"], ["bench", "--steps", "2", "--data", folder + "/data"],
                         ["predict", "--out", folder + "/run", target]]
        command = rng.choice(commands)
        outcome = run([program] + command, seconds=20, memory=2 * GIGABYTE)
        self.tally.note("read" if outcome.status == 0 else "refused")
        problem = complaint(outcome, (0, 1))
        content = damaged if isinstance(damaged, bytes) else damaged.encode()
        self.tally.add("%d" % number, problem and "%s: %s of %s, %s" % (problem, command[0], kind, os.path.relpath(target, folder)), outcome,
                       [(target, content)])
        if os.path.isfile(target) and not os.path.islink(target):
            os.chmod(target, stat.S_IRUSR | stat.S_IWUSR)
        shutil.rmtree(folder)

    def run(self, count, jobs):
        if len(self.programs) == len(PROGRAMS):
            side_by_side(jobs, count, self.judge)
