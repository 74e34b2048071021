"""Sounds from WAV files, against numbers that struct packed: formats, parts, lists, files that are damaged or of something else.

    sounds.py BUILD FOLDER     FOLDER is empty; prints what failed and "N passed, N failed" """
import io, json, os, pathlib, random, re, struct, sys, tarfile

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import checks  # noqa: E402
from checks import check, summary  # noqa: E402

build = pathlib.Path(sys.argv[1]).resolve()
os.chdir(sys.argv[2])
draw = random.Random(5)
RATE, LENGTH = 8000, 8


def run(*words):
    done = checks.run(*words)
    return done.returncode, done.stdout, done.stderr.strip()


def write(name, content):
    pathlib.Path(name).parent.mkdir(parents=True, exist_ok=True)
    checks.write(name, content)


# ---- files ----

FORMATS = {"u1": (1, 8), "i2": (1, 16), "i3": (1, 24), "i4": (1, 32), "f4": (3, 32), "f8": (3, 64)}


def pack(kind, values):
    """Samples as they are stored, from numbers from -1 to 1; and what they are then."""
    bits = FORMATS[kind][1]
    if kind[0] == "f":
        stored = b"".join(struct.pack("<" + {"f4": "f", "f8": "d"}[kind], v) for v in values)
        return stored, [struct.unpack("<f", struct.pack("<f", v))[0] if kind == "f4" else v for v in values]
    scale = 2 ** (bits - 1)
    whole = [max(-scale, min(scale - 1, round(v * scale))) for v in values]
    stored = b"".join((w + 128).to_bytes(1, "little") if bits == 8 else w.to_bytes(bits // 8, "little", signed=True)
                      for w in whole)
    return stored, [w / scale for w in whole]


def chunk(name, body):
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def wav(kind, data, rate=RATE, channels=1, before=b"", extensible=False, format=None):
    number, bits = FORMATS[kind]
    number = number if format is None else format
    size = channels * bits // 8
    head = struct.pack("<HHIIHH", 0xfffe if extensible else number, channels, rate, rate * size, size, bits)
    if extensible:
        head += struct.pack("<HHI", 22, bits, 4) + struct.pack("<H", number) + bytes.fromhex("000000001000800000aa00389b71")
    body = b"WAVE" + chunk(b"fmt ", head) + before + chunk(b"data", data)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def single(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


# ---- programs ----

TEXT = """const batch = 2
data train { sound, label = wav_folder("train", rate = 8000, fit = "random") }
data test  { sound, label = wav_folder("test", rate = 8000, fit = "middle") }
data predict { sound = wav_folder("test", rate = 8000, fit = "start", workers = 2) }
input sound : f32[batch, 8]
input label : i32[batch]
first = mean(sound[:, 0])
rough = mean(abs(sound[:, 1:] - sound[:, :-1]))
loss = cross_entropy(linear(sound, 2), label)
train { minimize = loss, optimizer = sgd(lr = 0.1), epochs = 6, metrics = [first, rough] }
predict { sound = sound }
"""
LIST = """const batch = 2
data train { sound, age, kind = wav_list("list.csv", columns = ["file", "age", "kind"], folder = "train", rate = 8000,
                                         fit = "start", on_error = "skip") | standardize(age) | categories(kind) }
data predict { sound = wav_folder("train", rate = 8000) }
input sound : f64[batch, 1, 8]
input age : f64[batch]
input kind : i64[batch]
total = mean(sum(sound, axis = [1, 2]))
class = mean(f64(kind))
loss = mean((linear(flatten(sound), 1)[:, 0] - age) ^ 2)
train { minimize = loss, optimizer = sgd(lr = 0.01), epochs = 1, metrics = [total, class] }
predict { sound = sound }
"""
for name, text in ("sounds", TEXT), ("list", LIST):
    write(f"{name}.net", text.encode())
    status, _, message = run(build / "bin/nnc", f"{name}.net", "--cflags=-O0", "--units=1", "-o", name)
    check(f"{name}.net compiles", status == 0, message)

# A ramp: whichever part is read, its samples rise by one step.
ramp = [i / 32768 for i in range(1, 41)]
for i in range(4):
    write(f"train/{'ab'[i % 2]}/{i}.wav", wav("i2", pack("i2", ramp)[0]))
write("test/a/long.WAV", wav("i2", pack("i2", ramp[:13])[0]))
write("test/b/short.wav", wav("i2", pack("i2", ramp[:5])[0]))
write("test/b/notes.txt", b"no sound")

# ---- formats ----

check("training", run("./sounds", "-q")[0] == 0)
files, wanted = [], []
for kind in FORMATS:
    for extensible in False, True:
        stored, values = pack(kind, [draw.uniform(-1, 1) for _ in range(LENGTH - 2)] + [-1.0, 0.0])
        before = chunk(b"LIST", b"odd" if extensible else b"") + chunk(b"fact", struct.pack("<I", LENGTH))
        write(f"{kind}{extensible}.wav", wav(kind, stored, before=before, extensible=extensible) + b"tail of something")
        files.append(f"{kind}{extensible}.wav")
        wanted.append(values)
status, text, message = run("./sounds", "predict", *files)
got = [[single(v) for v in json.loads(line)["sound"]] for line in text.splitlines()]
check("formats", status == 0 and got == [[single(v) for v in values] for values in wanted], message)
(pathlib.Path("list.csv")).write_text("file,age,kind\n" + "".join(f"{'ab'[i % 2]}/{i}.wav,{i},k{i % 3}\n" for i in range(4)))
check("a list trains", run("./list", "-q") == (0, "", ""))
status, text, message = run("./list", "predict", *files)
got = [json.loads(line)["sound"][0] for line in text.splitlines()]
check("formats in double", status == 0 and got == wanted, message)

# ---- parts ----

status, text, message = run("./sounds", "predict", "test/a/long.WAV", "test/b")
got = [[single(v) for v in json.loads(line)["sound"]] for line in text.splitlines()]
check("the start, and zeros", got == [ramp[:8], ramp[:5] + [0.0] * 3], f"{got} {message}")
status, text, message = run("./sounds", "eval", "test", "--json")
check("the middle", abs(json.loads(text)["first"] - (ramp[2] + ramp[0]) / 2) < 1e-12, text + message)
log = [json.loads(line) for line in open("sounds.run/log.jsonl")]
check("random parts are parts", all(abs(line["train/rough"] - 1 / 32768) < 1e-9 for line in log), str(log))
check("and others in each epoch", len({line["train/first"] for line in log}) >= 4, str(log))
check("within the sounds", all(ramp[0] <= line["train/first"] <= ramp[-8] for line in log), str(log))
check("with one thread", run("./sounds", "-q", "-j", "1", "-o", "alone.run")[0] == 0)
check("the same weights", pathlib.Path("sounds.run/checkpoint.safetensors").read_bytes() ==
      pathlib.Path("alone.run/checkpoint.safetensors").read_bytes())
log = json.loads(open("list.run/log.jsonl").readline())
check("a list's values", abs(log["train/total"] - sum(ramp[:8])) < 1e-11 and log["train/class"] == 0.75, str(log))

# ---- in shards ----

def shard(name, members):
    with tarfile.open(name, "w") as tar:
        for member, content in members:
            info = tarfile.TarInfo(member)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


IN_SHARDS = TEXT.replace('wav_folder("train", rate = 8000', 'shards("train-*.tar", members = ["wav", "cls"], rate = 8000') \
    .replace('wav_folder("test", rate = 8000, fit = "middle"', 'shards("test.tar", members = ["wav", "cls"], rate = 8000, fit = "middle"') \
    .replace('wav_folder("test", rate = 8000, fit = "start"', 'shards("test.tar", members = ["wav"], rate = 8000, fit = "start"')
write("packed.net", IN_SHARDS.encode())
status, _, message = run(build / "bin/nnc", "packed.net", "--cflags=-O0", "--units=1", "-o", "packed")
check("packed.net compiles", status == 0, message)
labelled = [[(f"{i}.{kind}", content) for kind, content in (("wav", pathlib.Path(f"train/{'ab'[i % 2]}/{i}.wav").read_bytes()),
                                                            ("cls", b"%d" % (i % 2)))] for i in (0, 2, 1, 3)]
shard("train-0.tar", labelled[0] + labelled[1] + labelled[2])
shard("train-1.tar", labelled[3])
shard("test.tar", [("x.wav", pathlib.Path("test/a/long.WAV").read_bytes()), ("x.cls", b"0"),
                   ("y.WAV", pathlib.Path("test/b/short.wav").read_bytes()), ("y.cls", b"1")])
for out, threads in ("packed.run", "2"), ("packed1.run", "1"):
    check(f"shards train with {threads}", run("./packed", "-q", "-j", threads, "-o", out)[0] == 0)


def tensors(out):
    content = pathlib.Path(out, "checkpoint.safetensors").read_bytes()
    return content[8 + struct.unpack("<Q", content[:8])[0]:]


def logged(out):
    return re.sub(r'"(seconds|data_wait)":[0-9.]+,|,"command":\[[^]]*\]', "", pathlib.Path(out, "log.jsonl").read_text())


check("the weights of the folder", tensors("packed.run") == tensors("sounds.run"))
check("with one thread, too", tensors("packed1.run") == tensors("packed.run"))
check("the same parts and losses", logged("packed.run") == logged("sounds.run"))
check("killed after an epoch and resumed", run("./packed", "-q", "--epochs", "2", "-o", "parts.run")[0] == 0 and
      run("./packed", "-q", "--resume", "-o", "parts.run")[0] == 0 and tensors("parts.run") == tensors("packed.run"))
check("the middle, in shards", run("./packed", "eval", "test", "--json", "-o", "packed.run")[1].split('"first"')[1] ==
      run("./sounds", "eval", "test", "--json")[1].split('"first"')[1])
shard("formats.tar", [(f"{i}.wav", pathlib.Path(name).read_bytes()) for i, name in enumerate(files)])
status, text, message = run("./packed", "predict", "formats.tar", "test.tar", "-o", "packed.run")
got = [[single(v) for v in json.loads(line)["sound"]] for line in text.splitlines()]
check("formats in shards", status == 0 and got == [[single(v) for v in v8] for v8 in wanted] + [ramp[:8], ramp[:5] + [0.0] * 3], message)

# ---- what is no such sound ----

good = wav("i2", pack("i2", ramp[:8])[0], before=chunk(b"LIST", b"abcd"))
cases = {
    "empty": (b"", "no WAV file"),
    "text": (b"this is no sound at all", "no WAV file: it does not begin with RIFF and WAVE"),
    "big": (b"RIFX" + good[4:], "no WAV file: it does not begin with RIFF and WAVE"),
    "rate": (wav("i2", b"\0" * 16, rate=44100), "has 44100 samples a second, but rate = 8000 is stated"),
    "two": (wav("i2", b"\0" * 32, channels=2), "has 2 channels; sounds of one are read"),
    "none": (wav("i2", b"\0" * 16, channels=0), "has 0 channels; sounds of one are read"),
    "odd": (good[:32] + b"\3\0" + good[34:], "the bytes of a sample are not those of its bits"),
    "law": (wav("u1", b"\0" * 8, format=7), "samples of format 7 with 8 bits; PCM (1) of 8, 16, 24 or 32 bits"),
    "half": (wav("i2", b"\0" * 16, format=3), "samples of format 3 with 16 bits"),
    "order": (good[:12] + good[36:48] + good[48:] + good[12:36], "its samples come before 'fmt '"),
    "part": (wav("i3", b"\0" * 25), "damaged WAV file: it ends within a sample"),
    "more": (good[:52] + struct.pack("<I", 0xffffffff) + good[56:], "a chunk goes beyond the end of the file"),
    "little": (good[:16] + struct.pack("<I", 4) + good[20:24] + good[36:], "its chunk 'fmt ' is too short"),
}
for name, (content, _) in cases.items():
    write(f"bad/{name}.wav", content)
status, text, message = run("./sounds", "predict", *[f"bad/{name}.wav" for name in cases], "gone.wav", "/dev/null", "u1True.wav")
lines = [json.loads(line) for line in text.splitlines()]
for (name, (_, pattern)), line in zip(cases.items(), lines):
    check(name, f"bad/{name}.wav" in line.get("error", "") and pattern in line["error"], f"{line} {message}")
check("a file that is not there", "cannot read gone.wav: No such file" in lines[-3].get("error", ""), str(lines[-3]))
check("a device", "cannot read /dev/null: it is a device" in lines[-2].get("error", ""), str(lines[-2]))
check("the others are predicted", status == 1 and "sound" in lines[-1], message)
shard("bad.tar", [(f"{name}.wav", content) for name, (content, _) in cases.items()] + [("good.wav", good)])
status, text, message = run("./packed", "predict", "bad.tar", "-o", "packed.run")
lines = [json.loads(line) for line in text.splitlines()]
for (name, (_, pattern)), line in zip(cases.items(), lines):
    check(f"{name} in shards", f"bad.tar:{name}: " in line.get("error", "").replace(" has ", ": has ", 1) and pattern in line["error"], f"{line} {message}")
check("the good one is predicted", status == 1 and "sound" in lines[-1], message)
for end in range(len(good)):
    write(f"cut/{end:03}.wav", good[:end])
status, text, message = run("./sounds", "predict", "cut")
lines = [json.loads(line) for line in text.splitlines()]
check("files that are cut off", status == 1 and len(lines) == len(good) and all("error" in line for line in lines), message)
for i in range(300):
    bytes_ = bytearray(good)
    for _ in range(draw.randint(1, 4)):
        bytes_[draw.randrange(56)] = draw.randrange(256)
    write(f"hurt/{i:03}.wav", bytes_)
status, text, message = run("./sounds", "predict", "hurt")
check("damaged heads", status in (0, 1) and len(text.splitlines()) == 300, message)
check("a length that is not stated", "has 40 samples, but a row of the input sound has 8" in run("./list", "predict", "train/a")[1])
write("train/a/0.wav", b"")
log = pathlib.Path("list.run/log.jsonl")
check("a list that skips", run("./list", "-q")[0] == 0 and "train/a/0.wav: no WAV file" in log.read_text(), log.read_text())
status, _, message = run("./sounds", "-q", "-o", "stops.run")
check("a folder that stops", status == 1 and "train/a/0.wav: no WAV file" in message, message)


def refused(old, new, pattern):
    write("refused.net", TEXT.replace(old, new).encode())
    status, _, message = run(build / "bin/nnc", "check", "refused.net")
    check(new, status == 1 and pattern in message, message)


refused(', rate = 8000, fit = "random"', "", "needs the argument 'rate'")
refused('fit = "random"', 'fit = "end"', '"exact", "start", "middle" or "random"')
refused("input sound : f32[batch, 8]", "input sound : i32[batch, 8]", "sounds are floats, [batch, samples] or [batch, 1, samples]")
refused("input sound : f32[batch, 8]", "input sound : f32[batch, 2, 4]", "sounds are floats, [batch, samples]")
refused("input label : i32[batch]", "input label : i32[batch, 1]", "the classes of sounds are [batch]")
refused('"random")', '"random") | resize(4)', "'resize' acts on pictures")
refused('wav_folder("train", rate = 8000, fit = "random")', 'wav_list("list.csv", rate = 8000) | standardize(sound)',
        "'standardize' does not act on sounds, as 'sound' is")
TEXT = IN_SHARDS
refused(', rate = 8000, fit = "random"', "", "sounds in shards need the argument 'rate'")
refused("input sound : f32[batch, 8]", "input sound : i32[batch, 8]", "sounds are floats, [batch, samples] or [batch, 1, samples]")
refused('"random")', '"random") | resize(4)', "'resize' acts on pictures, but the first member of the shards is 'wav'")
refused('["wav", "cls"], rate = 8000, fit = "random"', '["npy", "cls"], rate = 8000', "'rate' is said of sounds, but the first member of the shards is 'npy'")
refused('["wav", "cls"], rate = 8000, fit = "random"', '["cls", "wav"], rate = 8000', "no member 'wav' is read for the field 'label'")
summary()
