"""Searches for texts whose ids are not those of the packages tokenizers and tiktoken: every character of Unicode 16 before a
letter, and drawn texts; then compares the time on a text.

    pip install tokenizers==0.23.3 tiktoken==0.14.0 unicodedata2==16.0.0
    python3 tests/text/long.py BUILD [--texts 100000] [--speed FILE]
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
import tiktoken  # noqa: E402
import unicodedata2  # noqa: E402
from tokenizers import Tokenizer, models, pre_tokenizers, trainers  # noqa: E402

here = pathlib.Path(__file__).resolve().parent
sys.path[1:1] = [str(here), str(here.parent / "lib")]
from checks import check, summary  # noqa: E402
from make_vectors import PARTS  # noqa: E402
from variants import LLAMA, QWEN, variants  # noqa: E402

words = argparse.ArgumentParser()
words.add_argument("build", type=pathlib.Path)
words.add_argument("--texts", type=int, default=100000)
words.add_argument("--seed", type=int, default=1)
words.add_argument("--speed", type=pathlib.Path)
options = words.parse_args()
root, work = here.parent.parent, tempfile.TemporaryDirectory()
program = work.name + "/encode"
subprocess.run(["cc", "-std=gnu11", "-O2", "-D_GNU_SOURCE", f"-I{root}/runtime", f"-I{root}/runtime/abi", f"{here}/encode.c",
                f"{options.build}/lib/nnc/libnncrt.a", "-lpthread", "-lm", "-o", program], check=True)
drawn = random.Random(options.seed)


def encode(texts, file, **more):
    given = b"".join(b"%d\n%s" % (len(text.encode()), text.encode()) for text in texts)
    return subprocess.run([program, file], input=given, stdout=subprocess.PIPE, check=True, env={**os.environ, **more}).stdout.decode().split("\n")[:-1]


def character():
    kind = drawn.random()
    if kind < 0.75:
        return drawn.choice(PARTS)
    while True:
        code = drawn.randrange(32, 0x250) if kind < 0.9 else drawn.randrange(0x110000 if kind < 0.93 else 0x3000)
        if not 0xD800 <= code < 0xE000:
            return chr(code)


def unlike(texts, lines, ids_of):
    found = [(text, line, ids_of(text)) for text, line in zip(texts, lines, strict=True) if [int(word) for word in line.split()] != ids_of(text)]
    return f"{len(found)} of {len(texts)}: {found[:3]}" if found else ""


content = json.loads((here / "tokenizer.json").read_text())
texts = ["".join(character() for _ in range(drawn.randrange(40))) for _ in range(options.texts)]
texts += [chr(code) + "a" for code in range(0x110000) if unicodedata2.category(chr(code)) not in ("Cn", "Cs", "Co")]
for name, variant in variants(content).items():
    pathlib.Path(work.name, "one.json").write_text(json.dumps(variant))
    encoder = Tokenizer.from_str(json.dumps(variant))
    lines = encode(texts, work.name + "/one.json")
    bad = unlike(texts, lines, lambda text: encoder.encode(text, add_special_tokens=False).ids)
    check(f"{name}: as tokenizers", not bad, bad)

# tiktoken merges by the ids of what two tokens make: those are in the order of the merges here, as trainers number them.
bytes_of = {letter: byte for byte, letter in zip([byte for byte in range(256) if not (33 <= byte <= 126 or 161 <= byte <= 172 or byte >= 174)], map(chr, range(256, 324)))}
bytes_of.update((chr(byte), byte) for byte in range(256) if byte not in bytes_of.values())
special = {token["content"]: token["id"] for token in content["added_tokens"]}
ranks = {bytes(bytes_of[letter] for letter in token): number for token, number in content["model"]["vocab"].items() if token not in special}
for name, pattern in ("merging", LLAMA), ("qwen", QWEN):
    peer = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    pathlib.Path(work.name, "one.json").write_text(json.dumps(variants(content)[name]))
    bad = unlike(texts, encode(texts, work.name + "/one.json"), lambda text: peer.encode(text, allowed_special="all"))
    check(f"{name}: as tiktoken", not bad, bad)

if options.speed:
    text = options.speed.read_text()
    encoder = Tokenizer(models.BPE())
    encoder.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    encoder.train_from_iterator([text], trainers.BpeTrainer(vocab_size=16000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    encoder.save(work.name + "/large.json")
    peer = tiktoken.Encoding("large", pat_str=r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", special_tokens={},
                             mergeable_ranks={bytes(bytes_of[letter] for letter in token): number for token, number in encoder.get_vocab().items()})
    times = {"tokenizers": [], "tiktoken": [], "nnc": []}
    for _ in range(5):
        encoder = Tokenizer.from_file(work.name + "/large.json")  # its cache is empty again
        for name, call in ("tokenizers", lambda: encoder.encode(text).ids), ("tiktoken", lambda: peer.encode_ordinary(text)):
            start = time.process_time()
            ids = call()
            times[name].append(time.process_time() - start)
        times["nnc"].append(float(encode([text], work.name + "/large.json", NNC_QUIET="1")[0].split()[1]))
    check("the ids of the text", encode([text], work.name + "/large.json")[0] == " ".join(map(str, encoder.encode(text).ids)))
    print(f"{len(text.encode())} bytes, {len(ids)} tokens, seconds of one thread:", {name: round(min(some), 4) for name, some in times.items()})
summary()
