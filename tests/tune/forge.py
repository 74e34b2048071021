"""Times in the cache of nnc --tune: forge.py FOLDER list | forge NUMBER | plan NUMBER | impossible NUMBER | forget.

list: each line of times that the folder holds, sorted. forge: of kernels the variant NUMBER takes .5 ms and all others 1 ms,
plans are equal, and a tuned step is the faster one. plan: the plan NUMBER takes .5 ms, all else 1 ms but a tuned step.
impossible: the plan NUMBER takes .5 ms, of programs too that cannot have it.
forget: takes them out."""
import glob, hashlib, struct, sys, os

HEAD = 8 + 8 + 32
KINDS = ("kernel", "plans", "step")

def entries(folder):
    for path in sorted(glob.glob(folder + "/*.nnc")):
        with open(path, "rb") as file: data = file.read()
        words = data[HEAD:].split(b" ", 1)
        if len(words) == 2 and words[0].decode("latin1") in KINDS: yield path, data, data[HEAD:].decode().split()

def forged(words, what, number):
    kinds = {"forge": "kernel", "plan": "plans"}
    if what == "impossible":
        return words[1:] if words[0] != "plans" else ["0.5" if i == number else "1" for i in range(len(words) - 1)]
    if words[0] == "step": return ["1", "0.5"]
    fast = number if words[0] == kinds[what] else 0
    return ["0" if float(word) == 0 else "0.5" if i == fast and fast > 0 else "1" for i, word in enumerate(words[1:])]

def write(path, data, words):
    value = (" ".join(words) + "\n").encode()
    key = os.path.basename(path)[:-4].encode()
    digest = hashlib.sha256(key + b"\0" + value).digest()
    with open(path, "wb") as file: file.write(data[:8] + struct.pack("<Q", len(value)) + digest + value)

def main(folder, what, number="0"):
    found = list(entries(folder))
    if what == "list": print("\n".join(sorted(" ".join(words) for _, _, words in found)))
    for path, data, words in found:
        if what in ("forge", "plan", "impossible"): write(path, data, [words[0]] + forged(words, what, int(number)))
        if what == "forget": os.unlink(path)

main(*sys.argv[1:])
