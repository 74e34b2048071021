"""Pictures from lists; shards as Python's tarfile writes them; runs that are killed; a file that is larger than what is used of memory.

    shards.py BUILD FOLDER [--large GB]     FOLDER is empty; prints what failed and "N passed, N failed"

The file has 1 GB, and the run may hold 200 MB. With --large 8 it has 8 GB, and the run may hold 500 MB, in a control
group of as much where one can be made; so may one that reads the same rows from tar archives. Files are mostly holes."""
import argparse, io, json, os, pathlib, random, re, resource, signal, struct, subprocess, sys, tarfile, time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import checks, files  # noqa: E402
from checks import check, summary, write  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("folder")
parser.add_argument("--large", type=int, default=1, metavar="GB")
options = parser.parse_args()
build, here = pathlib.Path(options.build).resolve(), pathlib.Path(__file__).resolve().parent
os.chdir(options.folder)
draw = random.Random(11)


def run(*words):
    done = checks.run(*words)
    return done.returncode, done.stdout, done.stderr.strip()


def compile(name):
    status, _, message = run(build / "bin/nnc", here / f"{name}.net", "--cflags=-O0", "--units=1", "-o", name)
    check(f"{name}.net compiles", status == 0, message)


# ---- shards ----

def shade(value):
    return files.png(4, 4, 3, bytes([value] * 48))


def vector(values, descr="<f4"):
    return files.npy(descr, (len(values),), struct.pack(f"<{len(values)}{'fd'[descr[2] == '8']}", *values))


def archive(members, format=tarfile.PAX_FORMAT):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=format) as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return file.getvalue()


examples, shards = [], []
for shard, (count, format) in enumerate([(9, tarfile.PAX_FORMAT), (7, tarfile.GNU_FORMAT), (8, tarfile.USTAR_FORMAT)]):
    members = []
    for i in range(count):
        # long names (kinds x and L; a prefix in ustar), and members that nobody asked for
        folder = "./" + "/".join(["folder" * 8] * (i % 4)) + ("/" if i % 4 else "")
        example = dict(label=draw.randint(-999, 2**40 if i == 2 else 999), shade=draw.randint(0, 255),
                       vector=[draw.randint(-99, 99) / 8 for _ in range(2)])
        examples.append(example)
        one = [("json", b"{}"), ("PNG", shade(example["shade"])), ("cls", b"%d\n" % example["label"]),
               ("vec.npy", vector(example["vector"], ["<f4", "<f8"][i % 2]))]
        draw.shuffle(one)
        members += [(f"{folder}{i:03}.{kind}", content) for kind, content in one]
    shards.append(members)
    write(f"train-{shard + 8:02}.tar", archive(members, format))

compile("shards")
check("initial weights", run("./shards", "-q", "--epochs", "0")[0] == 0)


def predict():
    return run("./shards", "predict")


status, text, message = predict()
got = [json.loads(line) for line in text.splitlines()]
check("predict", status == 0 and len(got) == len(examples), f"{len(got)} {message}")
for i, (row, example) in enumerate(zip(got, examples)):
    check(f"example {i}", row == example, f"{row} instead of {example}")
status, text, message = run("./shards", "predict", "train-09.tar", "train-08.tar")
got = [json.loads(line) for line in text.splitlines()]
check("files of the command line", got == examples[9:16] + examples[:9], message)
status, text, message = run("./shards", "eval", "--json")
mean = sum(e["vector"][0] for e in examples[:9] + examples[16:]) / 17
for cache in "1M", "1M,in=kept", "1M,in=kept":
    check(f"--cache {cache}", run("./shards", "eval", "--json", "--cache", cache) == (0, text, ""))
check("a list of names", status == 0 and abs(json.loads(text)["first"] - mean) < 1e-5, f"{text} {message}")

# ---- archives that are none ----

good = pathlib.Path("train-09.tar").read_bytes()
plain = [("a.png", shade(1)), ("a.cls", b"1"), ("a.vec.npy", vector([1, 2]))]


def damaged(content, pattern):
    write("train-09.tar", content)
    status, _, message = predict()
    write("train-09.tar", good)
    check(pattern, status == 1 and pattern in message and len(message) < 700, f"{status} {message}")


sane = archive(plain)
long = bytearray(sane)
long[124:136] = b"77777777777\0"
long[148:156] = b"%06o\0 " % (sum(long[:148]) + sum(long[156:512]) + 8 * 32)
binary = bytearray(sane)
binary[124:136] = b"\x80" + b"\x7f" * 11
binary[148:156] = b"%06o\0 " % (sum(binary[:148]) + sum(binary[156:512]) + 8 * 32)
damaged(b"", "damaged tar archive at byte 0: it lacks the two empty blocks of its end")
damaged(b"no tar" * 500, "damaged tar archive at byte 0: it does not begin with a member's header")
damaged(sane[:700], "a member that goes beyond the end of the file" if len(shade(1)) > 188 else "at byte 1024")
damaged(sane[:1024], "damaged tar archive at byte 1024: it lacks the two empty blocks of its end")
damaged(bytes(long), "a member that goes beyond the end of the file")
damaged(bytes(binary), "a member that goes beyond the end of the file")
damaged(sane[:1024] + b"x" * 512 + sane[1536:], "damaged tar archive at byte 1024: no header of a member")
damaged(archive([]), "train-09.tar holds no examples")
write("train-09.tar", archive(plain))
wanted = predict()
write("train-09.tar", archive([("._a.png", b"x"), plain[0], ("._a.cls", b"x"), plain[1], (".DS_Store", b"x"), plain[2], ("b/._a.png", b"x")]))
check("names that begin with a dot are of no example", predict() == wanted and wanted[0] == 0, f"{predict()} {wanted}")
write("train-09.tar", good)
damaged(archive(plain[:2]), "train-09.tar:a: the example has no member 'vec.npy'")
damaged(archive(plain + plain[:1]), "train-09.tar: a.png: the example has two members 'png'")
damaged(archive([plain[0], ("a.cls", b"cat"), plain[2]]), "train-09.tar: a.cls: 'cat' is no whole number")
damaged(archive([plain[0], ("a.cls", b"1.5"), plain[2]]), "a.cls: '1.5' is no whole number")
damaged(archive(plain[:2] + [("a.vec.npy", vector([1, 2, 3]))]), "train-09.tar:a: has f32[3], but a row of the input vector is f32[2]")
damaged(archive(plain[:2] + [("a.vec.npy", vector([1, 2])[:-1])]), "train-09.tar:a: f32[2] needs")
damaged(archive(plain[:2] + [("a.vec.npy", vector([1e300, 2], "<f8"))]), "does not fit input type f32")
damaged(archive([("a.png", b"no picture")] + plain[1:]), "train-09.tar:a: neither a JPEG nor a PNG file")
with tarfile.open("train-09.tar", "w:gz") as tar:
    tar.add("train-08.tar")
damaged(pathlib.Path("train-09.tar").read_bytes(), "train-09.tar: it is compressed; rows are read one by one from plain files alone")

# ---- programs that are refused ----

TOP = "const batch = 2\ninput x : f32[batch, 3, 4, 4]\ninput y : i64[batch]\nloss = mean(f32(y)) * mean(linear(flatten(x), 1))\n" \
      "train { minimize = loss, optimizer = sgd(lr = 0.1), epochs = 1 }\n"


def refused(line, pattern):
    checks.refused(build / "bin/nnc", TOP, line, pattern)


refused('x, y = shards("a.tar", members = ["png"])', "'members' of shards has a name for each of the 2 fields")
refused('x, y = shards("a.tar", members = ["png", "txt"])', "no member 'txt' is read for the field 'y'")
refused('x, y = shards("a.tar", members = ["npy", "png"])', "no member 'png' is read for the field 'y'")
refused('x, y = shards("a.tar", members = ["npy", "cls"]) | random_flip', "'random_flip' acts on pictures, but the first member of the shards is 'npy'")
refused('x, y = shards(["a.tar", 3])', "'files' of shards is a name in quotes or a list of names")
refused('x, y = shards("a.tar") | standardize(x)', "'standardize' acts on tables of numbers, which 'shards' does not give")
refused('x, y = shards("a.tar") | resize(8, 8)', "the stages make pictures of 8 x 8")
refused('x, y = shards("a.tar"); order = within(0)', "'within' takes how many examples are shuffled at a time")
refused('x, y = shards("a.tar"); order = within(4, 5)', "'within' takes how many examples are shuffled at a time")

# ---- killed and resumed ----

def killed(program, epochs, *flags):
    """Like the run that nothing befell: killed at any instant, resumed with another number of threads."""
    words = [f"./{program}", "-q", "--epochs", str(epochs), *flags]
    status, _, message = run(*words, "--out", "whole")
    check(f"{program}: a whole run", status == 0, message)
    kills, wait = 0, 0.01
    for start in range(40):
        resume = ["--resume"] if os.path.exists("parts/checkpoint.safetensors") else []
        child = subprocess.Popen([*words, "--out", "parts", "--save-every", "3", f"-j{1 + start % 3}", *resume],
                                 stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            message = child.communicate(timeout=wait if kills < 5 else 60)[1]
            break
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            kills, wait = kills + bool(resume), wait * 1.2
    check(f"{program}: killed at times", kills > 0 and child.returncode == 0, f"{kills} {message}")
    same = [pathlib.Path(out, "checkpoint.safetensors").read_bytes() for out in ("whole", "parts")]
    check(f"{program}: the same bits", same[0] == same[1])
    logs = [re.sub(r'"(seconds|data_wait)":[0-9.]+,|,"command":\[[^]]*\]', "", pathlib.Path(out, "log.jsonl").read_text()) for out in ("whole", "parts")]
    check(f"{program}: the same log", logs[0] == logs[1])


killed("shards", 60)

# ---- pictures that a table names ----

os.makedirs("pictures/deep")
table = ["kind;name;note;age;shade"]
for i in range(12):
    name = f"{'deep/' if i % 2 else ''}{i}, \"{i}\".png" if i % 3 else f"{i}.png"
    write(f"pictures/{name}", shade(20 * i))
    quoted = name.replace('"', '""')
    table.append(f'{"cat" if i % 2 else "dog"};"{quoted}";"two\nlines";{i * i};{20 * i}')
write("list.csv", "\n".join(table).encode())
LIST = 'image_list("list.csv", columns = ["name", "age", "kind", "shade"], separator = ";", folder = "pictures")'
write("list.net", f"""const batch = 2
data train {{ image, age, kind, shade = {LIST} | split(0, 0.5, seed = 3) | resize(4, 4) | standardize(age) | categories(kind) }}
data rest {{ image, age, kind, shade = {LIST} | split(0.5, 1, seed = 3) }}
input image : u8[batch, 3, 4, 4]
input age : f64[batch]
input kind : u8[batch]
input shade : f32[batch]
seen = mean(f32(image), axis = [1, 2, 3])
param w : [] = 1
loss = mean((w * seen - shade) ^ 2)
misplaced = mean(abs(seen - shade))
age_mean = mean(age)
age_square = mean(age ^ 2)
right = mean(f32(kind == u8(i32(shade) // 20 % 2 == 0)))
train {{ minimize = loss, optimizer = sgd(lr = 0), epochs = 2, metrics = [misplaced, age_mean, age_square, right] }}
predict {{ shade = seen, age = age }}
""".encode())
status, _, message = run(build / "bin/nnc", "list.net", "--cflags=-O0", "--units=1", "-o", "list")
check("list.net compiles", status == 0, message)
status, _, message = run("./list", "-q", "--out", "list.out")
check("list.net trains", status == 0, message)
record = json.loads(pathlib.Path("list.out/log.jsonl").read_text().splitlines()[-1])
for part in ("train", "rest"):
    check(f"rows of {part} stay together", record[f"{part}/misplaced"] == 0 and record[f"{part}/right"] == 1, record)
check("fitted on the training part alone", abs(record["train/age_mean"]) < 1e-12 and abs(record["train/age_square"] - 1) < 1e-12 and
      abs(record["rest/age_mean"]) > 0.01, record)
fitted = [float(x) for x in re.search(rb'age.standardize.*?numbers[^[]*\[([^]]*)', pathlib.Path("list.out/checkpoint.safetensors").read_bytes())
          .group(1).decode().replace("\\", "").replace('"', "").split(",")]
os.chdir("pictures")
write("few.csv", b'name;age\n0.png;0\n"deep/1, ""1"".png";7\n')
status, text, message = run("../list", "predict", "--out", "../list.out", "few.csv")
os.chdir("..")
check("a list of the command line is refused without its folder", status == 1 and "cannot read pictures/0.png" in message, message)
write("few.csv", b'name;age\n0.png;0\n"deep/1, ""1"".png";7\n')
status, text, message = run("./list", "predict", "--out", "list.out", "few.csv")
got = [json.loads(line) for line in text.splitlines()]
check("a list of the command line", status == 0 and [row["shade"] for row in got] == [0, 20] and
      all(abs(row["age"] * fitted[1] + fitted[0] - age) < 1e-9 for row, age in zip(got, (0, 7))), f"{text} {message}")


def wrong_list(change, pattern):
    before = pathlib.Path("list.csv").read_bytes()
    write("list.csv", change(before))
    status, _, message = run("./list", "-q", "--out", "wrong.out")
    write("list.csv", before)
    check(f"a list: {pattern}", status == 1 and pattern in message, message)


wrong_list(lambda text: text.replace(b"3.png", b"x.png"), "list.csv:8: cannot read pictures/x.png: No such file")
wrong_list(lambda text: text.replace(b"3.png", b"x.png").replace(b"6.png", b"y.png"), "No such file or directory; 1 others cannot either")
wrong_list(lambda text: text.replace(b'"3.png"', b""), "list.csv:8:5: the name of a picture is missing")
wrong_list(lambda text: text.replace(b"name", b"file"), 'list.csv has no column "name"')
wrong_list(lambda text: text.replace(b";9;", b";nine;"), "expected a number (column age), found 'nine'")
refused('x, y = image_list("a.csv") | standardize(x)', "'standardize' does not act on pictures, as 'x' is")
refused('x, y = image_list("a.csv") | standardize', "standardize without names means the fields that feed the network")
refused('x, y = image_list("a.csv", columns = ["a"])', "'columns' has 1 entries for 2 fields")
refused('x, y = image_list("a.csv", columns = [["a", "b"], "c"])', "'x' has 2 columns, but an example 1 value")

# ---- larger than memory ----

ROW, rows = 65536, options.large * 2**30 // 65536
MOST = 200 if options.large == 1 else 500  # MB
expected = sum(row % 256 for row in range(0, rows, 97)) / rows


def group_of():
    """A control group that holds its processes, the files' pages in memory included, to so much; None without the right to."""
    for folder, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        group = f"{folder}/nnc-large-{os.getpid()}"
        try:
            os.mkdir(group)
            write(f"{group}/{limit}", b"%d" % (MOST * 10**6))
            return group
        except OSError:
            if os.path.isdir(group):
                os.rmdir(group)
    return None


def train_large(program):
    group = group_of() if options.large > 1 else None
    start = time.monotonic()
    child = subprocess.Popen([f"./{program}", "-q", "-j2", "--out", f"{program}.out"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             preexec_fn=lambda: group and write(f"{group}/cgroup.procs", b"%d" % os.getpid()))
    message = child.stderr.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    held = usage.ru_maxrss / 1024
    record = json.loads(pathlib.Path(f"{program}.out/log.jsonl").read_text().splitlines()[-1]) if status == 0 else {}
    check(f"{program}: every row once", status == 0 and abs(record["train/total"] - expected) < 1e-4, f"{record} {expected} {message}")
    check(f"{program}: what a run holds of it", held < MOST, f"{held:.0f} MB")
    if options.large > 1:
        print(f"{program}, {options.large} GB in {time.monotonic() - start:.1f} s, {held:.0f} MB held, data_wait {record.get('data_wait')}, "
              f"{f'in a control group of {MOST} MB' if group else 'no control group could be made'}")
    if group:
        os.rmdir(group)


compile("large")
with open("large.bin", "wb") as file:  # holes, and a number here and there
    file.truncate(rows * ROW)
    for row in range(0, rows, 97):
        file.seek(row * ROW + row % ROW)
        file.write(bytes([row % 256]))
train_large("large")
os.remove("large.bin")
if options.large > 1:  # the same rows in archives
    text = (here / "large.net").read_text().replace('raw("large.bin") | on_disk', f'shards("large-{{0..{options.large - 1}}}.tar", members = ["npy"])')
    write("large_shards.net", text.encode())
    status, _, message = run(build / "bin/nnc", "large_shards.net", "--cflags=-O0", "--units=1", "-o", "large_shards")
    check("large_shards.net compiles", status == 0, message)
    head = files.npy("|u1", (ROW,), b"")
    for shard in range(options.large):
        with open(f"large-{shard}.tar", "wb") as file:
            for row in range(shard * rows // options.large, (shard + 1) * rows // options.large):
                info, start = tarfile.TarInfo(f"{row:06}.npy"), file.tell()
                info.size = len(head) + ROW
                file.write(info.tobuf(tarfile.USTAR_FORMAT) + head)
                if row % 97 == 0:
                    file.seek(row % ROW, os.SEEK_CUR)
                    file.write(bytes([row % 256]))
                file.seek(start + 512 + -(-info.size // 512) * 512)
            file.write(bytes(1024))
    train_large("large_shards")
summary()
