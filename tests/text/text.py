"""Vocabularies of other programs: the ids that the package tokenizers gives texts (make_vectors.py), files that are refused,
and a program whose data, predictions and texts go through one."""
import array
import copy
import json
import os
import pathlib
import shutil
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path[1:1] = [str(here), str(here.parent / "lib")]
from checks import check, run, summary  # noqa: E402
from variants import variants  # noqa: E402

build, work = sys.argv[1:3]
os.chdir(work)
nnc = build + "/bin/nnc"
content = json.loads((here / "tokenizer.json").read_text())
expected = json.loads((here / "ids.json").read_text())
root = here.parent.parent
compiled = run("cc", "-std=gnu11", "-D_GNU_SOURCE", f"-I{root}/runtime", f"-I{root}/runtime/abi", f"{here}/encode.c",
               f"{build}/lib/nnc/libnncrt.a", *os.environ.get("NNC_CFLAGS", "").split(), "-lpthread", "-lm", "-o", "encode")
check("encode.c compiles", compiled.returncode == 0, compiled.stderr)
for compiler in filter(shutil.which, ("gcc", "clang")):
    for file in sorted((root / "runtime/text").glob("*.c")):
        warned = run(compiler, "-std=gnu11", "-O3", "-Wall", "-Wextra", "-D_GNU_SOURCE", f"-I{root}/runtime", f"-I{root}/runtime/abi", "-c", str(file), "-o", "warned.o")
        check(f"{compiler} has no warning of {file.name}", warned.returncode == 0 and not warned.stderr, warned.stderr)


def encode(texts, *files):
    """The ids of texts, which are bytes; or what is said instead."""
    given = b"".join(b"%d\n%s" % (len(text), text) for text in texts)
    lines = subprocess.run(["./encode", *files], input=given, capture_output=True).stdout.decode().split("\n")
    return [[int(word) for word in line.split()] if ":" not in line else line for line in lines[:-1]]


# ---- ids ----

texts = [text.encode() for text in expected["texts"]]
for name, variant in variants(content).items():
    pathlib.Path(name + ".json").write_text(json.dumps(variant))
    wrong = [(text, got, wanted) for text, got, wanted in zip(texts, encode(texts, name + ".json"), expected[name], strict=True) if got != wanted]
    check(f"{name}: ids", not wrong, wrong[:1])

# GPT-2's two files have all tokens in one, and one special token.
tokens = {**content["model"]["vocab"], **{token["content"]: token["id"] for token in content["added_tokens"]}}
pathlib.Path("vocab.json").write_text(json.dumps(tokens))
pairs = [" ".join(merge) for merge in content["model"]["merges"]]
pathlib.Path("merges.txt").write_text("\n".join(["#version: 0.2", *pairs, ""]))
plain = [i for i, text in enumerate(expected["texts"]) if "<|end|>" not in text and "<|start|>" not in text]
got = encode([texts[i] for i in plain], "vocab.json", "merges.txt")
check("vocab.json and merges.txt: ids", got == [expected["gpt2"][i] for i in plain])

# Bytes that are no text are tokens like all others; what is encoded is what the tokens say.
letters = {letter: byte for letter, byte in zip("".join(map(chr, range(256, 324))), [*range(33), *range(127, 161), 173])}
letters.update((chr(byte), byte) for byte in range(256) if chr(byte) not in letters and byte not in letters.values())
text_of = {number: bytes(letters[letter] for letter in token) for token, number in tokens.items()}
odd = [b"\xff\xfe the \xc3", b"\xe4\xb8 quick\x80\x80", bytes(range(256)), b"\xed\xa0\x80 fox", b"a" * 100000, b" " * 70000 + b"x"]
for name in "gpt2", "llama":
    for text, ids in zip(odd, encode(odd, name + ".json"), strict=True):
        check(f"{name}: {text[:20]} comes back", b"".join(text_of[number] for number in ids) == text)

# ---- files that are refused ----


def refused(pattern, change, name="gpt2"):
    """tokenizer.json with a change is refused with such a message, which begins with its name."""
    variant = copy.deepcopy(variants(content)[name])
    change(variant)
    pathlib.Path("bad.json").write_text(json.dumps(variant))
    said = run("./encode", "bad.json")
    check(pattern, said.returncode == 1 and said.stdout.startswith("refused: bad.json: ") and pattern in said.stdout, said.stdout[:300])


def set_key(*path):
    *keys, last, value = path

    def change(variant):
        for key in keys:
            variant = variant[key]
        variant[last] = value
    return change


refused("the model is WordPiece", set_key("model", "type", "WordPiece"))
refused("the model is Unigram", set_key("model", "type", "Unigram"))
refused("the normalizer NFC is not supported", set_key("normalizer", {"type": "NFC"}))
refused("'byte_fallback' of 'model'", set_key("model", "byte_fallback", True))
refused("'dropout' of 'model'", set_key("model", "dropout", 0.1))
refused("'end_of_word_suffix' of 'model'", set_key("model", "end_of_word_suffix", "</w>"))
refused("the pre_tokenizer Whitespace", set_key("pre_tokenizer", {"type": "Whitespace"}))
refused("there is no pre_tokenizer", set_key("pre_tokenizer", None))
refused("the pattern of pre_tokenizer is none", set_key("pre_tokenizer", "pretokenizers", 0, "pattern", "Regex", r"\w+"), "llama")
refused("'lstrip' of an added token", set_key("added_tokens", 0, "lstrip", True))
refused("'<|start|>' has two ids", set_key("model", "vocab", "<|start|>", 500))
refused("is that of", set_key("model", "vocab", "zz", 300))
refused("no whole number below 4194304", set_key("model", "vocab", "zz", 1 << 40))
refused("no whole number below 4194304", set_key("model", "vocab", "zz", -1))
refused("a character that stands for no byte", set_key("model", "vocab", "北", 500))
refused("there are no tokens", set_key("model", "vocab", {}))
refused("merge 2 names 'qqq', which is no token", set_key("model", "merges", 1, ["qqq", "a"]))
refused("merge 1, 'a b c', is no two tokens", set_key("model", "merges", 0, "a b c"))
refused("makes 'zq', which is no token", set_key("model", "merges", 0, ["z", "q"]))
refused("is there twice", lambda variant: variant["model"]["merges"].append(variant["model"]["merges"][0]))
refused("it has no 'model'", lambda variant: variant.pop("model"))
for text, pattern in [('{"model": ', "JSON: unexpected end at byte 10"), ("[" * 100, "too deep a nesting"), ("", "JSON"), ("[]", "it has no 'model'")]:
    pathlib.Path("bad.json").write_text(text)
    check(pattern, pattern in run("./encode", "bad.json").stdout, text[:20])
pathlib.Path("bad.txt").write_text("#version: 0.2\n" + pairs[0] + "\nqqq a\n")
check("merges.txt with its line", run("./encode", "vocab.json", "bad.txt").stdout == "refused: bad.txt:3: merge 2 names 'qqq', which is no token\n")
# a zero after a token's letters: a comparison that stops at zeros takes it for that token and reads beyond its end
pathlib.Path("bad.txt").write_bytes(pairs[0].encode() + b"\n" + pairs[0].encode() + b"\0he\n")
check("merges.txt with a zero byte", run("./encode", "vocab.json", "bad.txt").stdout == "refused: bad.txt:2: a zero byte, which no token has\n")

# Holes are ids without tokens; a byte without one is told where a text has it.
few = variants(content)["gpt2"]
few["model"]["merges"], few["added_tokens"] = [], []
few["model"]["vocab"] = {"a": 3, "b": 9000}
pathlib.Path("few.json").write_text(json.dumps(few))
check("holes", encode([b"abba", b"cab"], "few.json") == [[3, 9000, 9000, 3], "error: no token of the vocabulary stands for byte 0x63"])

# ---- a program ----

PROGRAM = """const batch = 2, time = 8, vocab = 401
data train { tokens, next = text("input.txt", length = time, vocabulary = %s) }
input tokens : i32[batch, time]
input next   : i32[batch, time]
logits = linear(embedding(tokens, vocab, 8), vocab)
loss = cross_entropy(logits, next)
train    { minimize = loss, optimizer = adam(lr = 0.02), steps = 12 }
predict  { window = tokens + 0, guess = argmax(logits) }
generate { from = tokens, next = logits }
"""
written = " ".join("the quick brown fox don't jump over 1234 lazy dogs,\n naïve 東京\U0001f600".split(" ") * 6)
pathlib.Path("input.txt").write_text(written)
(all_ids,) = encode([written.encode()], "gpt2.json")
for name, files in ("one", '"gpt2.json"'), ("two", '["vocab.json", "merges.txt"]'):
    pathlib.Path(name + ".net").write_text(PROGRAM % files)
    done = run(nnc, name + ".net", "-o", name, "--cflags=-O0", "--units=1")
    check(f"{name}: compiles", done.returncode == 0, done.stderr)
    done = run("./" + name, "-q")
    check(f"{name}: trains", done.returncode == 0, done.stderr)
    done = run("./" + name, "predict", "input.txt")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    check(f"{name}: windows are the ids", [line["window"] for line in lines] == [all_ids[i:i + 8] for i in range(0, len(all_ids) - 7, 8)], done.stderr)

# The checkpoint has the vocabulary: its files are needed no more, by none of the commands.
for gone in "gpt2.json", "vocab.json", "merges.txt":
    os.rename(gone, gone + ".gone")
prompt = "the quick brown fox"
(ids,) = encode([prompt.encode()], "gpt2.json.gone")
pathlib.Path("prompt.txt").write_text(prompt)
guess = json.loads(run("./one", "predict", "input.txt").stdout.splitlines()[0])["guess"][:len(ids)]
done = subprocess.run(["./one", "generate", "--prompt", prompt, "--temperature", "0", "--length", "1"], capture_output=True)
check("generate: the likeliest token", all_ids[:len(ids)] == ids and done.stdout == text_of[guess[-1]] + b"\n", (done.stdout, guess))
done = subprocess.run(["./two", "generate", "--prompt", "naïve 東京<|endoftext|>", "--length", "12", "--seed", "3"], capture_output=True)
check("generate: odd tokens", done.returncode == 0 and done.stdout != b"\n", done.stderr)
done = run("./one", "-q", "--resume", "--steps", "20")
check("resume", done.returncode == 0, done.stderr)
# Published weights come without one: then the files are read.
done = run("./one", "export", "whole.safetensors")
check("export", done.returncode == 0, done.stderr)
whole = pathlib.Path("whole.safetensors").read_bytes()
size = int.from_bytes(whole[:8], "little")
header = json.loads(whole[8:8 + size])
header.pop("__metadata__", None)
header = json.dumps(header).encode()
pathlib.Path("plain.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + whole[8 + size:])
done = run("./one", "generate", "--init", "plain.safetensors", "--prompt", "the", "--length", "0", "--out", "none.run")
check("no file, no vocabulary", done.returncode == 1 and "gpt2.json" in done.stderr, done.stderr)
os.rename("gpt2.json.gone", "gpt2.json")
done = run("./one", "generate", "--init", "plain.safetensors", "--prompt", "the", "--length", "0", "--out", "none.run")
check("weights without a vocabulary", done.returncode == 0, done.stderr)
done = run("./one", "eval", "train")
check("eval", done.returncode == 0, done.stderr)

# What reads vocabularies is in no program that names none.
pathlib.Path("plain.net").write_text((PROGRAM % '""').replace(', vocabulary = ""', ', unit = "word"'))
done = run(nnc, "plain.net", "-o", "plain", "--cflags=-O0", "--units=1")
for name, has in ("plain", False), ("one", True):
    check(f"{name}: {'reads' if has else 'does not read'} vocabularies", (b"no token of the vocabulary" in pathlib.Path(name).read_bytes()) == has, done.stderr)
summary()
