"""Texts that executables write against texts that are drawn here: the logits are those of `predict`, for one window
after the other, and the rule is that of docs/executable.md, written once more. Characters with a causal network, bytes with
a recurrent one that has streams, words with one that says what follows the last of its words."""
import array
import json
import math
import os
import random
import subprocess
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from checks import check, summary  # noqa: E402

build, work = sys.argv[1:3]
os.chdir(work)
nnc = build + "/bin/nnc"
MASK = (1 << 64) - 1


def run(*command):
    done = subprocess.run(command, capture_output=True)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode()


def uniform(seed, number):
    z = (seed + (number + 1) * 0x9E3779B97F4A7C15) & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return ((z ^ z >> 31) >> 11) * 2.0 ** -53


def draw(logits, number, seed=0, temperature=1.0, top_k=None, top_p=1.0):
    order = sorted(range(len(logits)), key=lambda i: (-logits[i], i))
    if temperature == 0:
        return order[0]
    order = order[:top_k]
    weights = [math.exp((logits[i] - logits[order[0]]) / temperature) for i in order]
    kept, total, whole = len(order), 0.0, 0.0
    for weight in weights:
        whole += weight
    if top_p < 1:
        for kept, weight in enumerate(weights, 1):
            total += weight
            if total >= top_p * whole:
                break
        whole = total
    at = 0.0
    for i, weight in zip(order[:kept], weights):
        at += weight
        if at > uniform(seed, number) * whole:
            return i
    return order[kept - 1]


PROGRAM = """const batch = 4, time = 8, vocab = %d
data train { tokens, next = text("input.txt", length = time%s) }
input tokens : i32[batch, time]
input next   : i32[batch, time]
%s
train    { minimize = loss, optimizer = adam(lr = 0.02), steps = 60 }
predict  { scores = logits }
generate { from = tokens, next = logits }
"""
CAUSAL = """x = embedding(tokens, vocab, 16)
a = x + attention(x, x, x, heads = 2, causal = true)
logits = linear(tanh(linear(a, 32)), vocab)
loss = cross_entropy(logits, next)"""
RECURRENT = """def remembering(x) {
  stream h : [x.shape[0], 24] = zeros
  y, last = gru(x, 24, h = h, final = true)
  h <- last
  return y
}
logits = linear(remembering(embedding(tokens, vocab, 16)), vocab)
loss = cross_entropy(logits, next)"""
LAST = """logits = linear(tanh(linear(flatten(embedding(tokens, vocab, 8)), 32)), vocab)
loss = cross_entropy(logits, next[:, -1])"""

drawn = random.Random(5)
WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "über", "zwölf"]
text = "".join(" ".join(drawn.choices(WORDS, k=6)) + "\n" for _ in range(120))
open("input.txt", "w").write(text)
characters = sorted(set(text))
words = sorted(set(text.split()) | {"<eos>"})


class Model:
    def __init__(self, name, net, unit, vocabulary):
        self.name, self.unit, self.vocabulary = name, unit, vocabulary
        extra = f', unit = "{unit}"' + (", stride = 1" if net is not RECURRENT else "")
        program = PROGRAM % (len(vocabulary), extra, net)
        if unit == "number":
            program = program.replace('text("input.txt", length = time, unit = "number"', 'token_stream("input.bin", length = time')
        if net is RECURRENT:
            program = program.replace(") }\ninput tokens", "); order = streams }\ninput tokens", 1)
        open(name + ".net", "w").write(program)
        code, _, error = run(nnc, name + ".net", "-o", name, "--cflags=-O0", "--units=1")
        check(f"{name}: compiles", code == 0, error)
        code, _, error = run("./" + name, "-q")
        check(f"{name}: trains", code == 0, error)

    def text_of(self, tokens):
        if self.unit == "byte":
            return bytes(tokens).decode("utf-8", "replace")
        if self.unit == "word":
            return " ".join("\n" if self.vocabulary[t] == "<eos>" else self.vocabulary[t] for t in tokens).replace(" \n ", "\n").replace(" \n", "\n").replace("\n ", "\n")
        if self.unit == "number":
            return " ".join(str(t) for t in tokens)
        return "".join(self.vocabulary[t] for t in tokens)

    def tokens_of(self, text):
        if self.unit == "byte":
            return list(text.encode())
        if self.unit == "word":
            return [self.vocabulary.index(w) for w in text.replace("\n", " <eos> ").split()]
        if self.unit == "number":
            return [int(t) for t in text.split()]
        return [self.vocabulary.index(c) for c in text]

    def logits(self, tokens):
        """What follows the tokens, by `predict`: a window with anything after them."""
        window = tokens[-8:] + [tokens[0]] * (8 - len(tokens[-8:]))
        with open("window.txt", "wb") as file:
            file.write(bytes(window) if self.unit == "byte" else array.array("H", window).tobytes() if self.unit == "number"
                       else self.text_of(window).encode())
        code, out, error = run("./" + self.name, "predict", "window.txt", "--format=json")
        assert code == 0, error
        scores = json.loads(out.splitlines()[0])["scores"]
        return scores[min(len(tokens), 8) - 1] if isinstance(scores[0], list) else scores

    def write(self, prompt, length, **rule):
        tokens, written = self.tokens_of(prompt), []
        for number in range(length):
            written.append(draw(self.logits(tokens + written), number, **rule))
        return self.text_of(written) + "\n"

    def check(self, prompt, length, **rule):
        flags = [part for key, value in rule.items() for part in (f"--{key.replace('_', '-')}", str(value))]
        code, out, error = run("./" + self.name, "generate", "--prompt", prompt, "--length", str(length), *flags)
        wanted = self.write(prompt, length, **rule)
        check(f"{self.name}: {rule}", code == 0 and out == wanted, f"{out!r} {wanted!r} {error}")
        return out


causal = Model("causal", CAUSAL, "character", characters)
greedy = causal.check("the", 12, temperature=0)
causal.check("the quick brown", 12, temperature=0, seed=9)
one = causal.check("the", 14, seed=1)
other = causal.check("the", 14, seed=2)
causal.check("ü", 10, seed=3, temperature=0.5, top_k=3)
causal.check("a", 10, seed=4, top_p=0.6)
causal.check("the lazy d", 10, seed=18446744073709551615, temperature=1.7, top_k=5, top_p=0.8)
check("seeds differ", one != other, one)
recurrent = Model("recurrent", RECURRENT, "byte", list(range(256)))
recurrent.check("qu", 8, seed=5, top_k=4)
last = Model("last", LAST, "word", words)
last.check("the quick brown fox jumps over a dog\n", 8, seed=6)
array.array("H", [drawn.randrange(20) for _ in range(900)]).tofile(open("input.bin", "wb"))
numbers = Model("numbers", CAUSAL, "number", list(range(20)))
numbers.check("3 17", 8, seed=7, top_k=6)
code, _, error = run("./numbers", "generate", "--prompt", "3 x")
check("no number", code == 1 and "'x' is no token: they are numbers here" in error, error)
code, _, error = run("./numbers", "generate", "--prompt", "3 20")
check("a number too large", code == 1 and "token 20 is not below 20" in error, error)

# Ends, and what is refused.
code, _, error = run("./causal", "generate", "--prompt", "the", "--top-p", "1.5")
check("no part beyond the whole", code == 2 and "--top-p: at most 1" in error, error)
_, whole, _ = run("./causal", "generate", "--prompt", "the", "--length", "80", "--temperature", "0")
stop = whole[20:24]
code, out, _ = run("./causal", "generate", "--prompt", "the", "--length", "80", "--temperature", "0", "--stop", stop)
check("--stop", code == 0 and out == whole[:whole.index(stop)] + "\n", f"{out!r} {whole!r}")
_, out, _ = run("./causal", "generate", "--prompt", "the", "--length", "80", "--temperature", "0", "--stop", whole[70:80] + "#")
check("what only begins as --stop does is shown", out == whole, f"{out!r} {whole!r}")
_, out, _ = run("./causal", "generate", "--length", "3", "--temperature", "0")
_, wanted, _ = run("./causal", "generate", "--length", "3", "--temperature", "0", "--prompt", "\n")
check("without a prompt it goes on from a line's end", out == wanted and len(out) == 4, out)
check("equal seeds, equal texts", run("./causal", "generate", "--seed", "7")[1] == run("./causal", "generate", "--seed", "7", "--threads", "1")[1])
for flags, status, message in ((["--prompt", "Q"], 1, "'Q' does not occur in the training set"),
                               (["--prompt", ""], 1, "no token to go on from"),
                               (["--temperature", "-1"], 2, "--temperature wants a number of at least 0"),
                               (["--top-k", "0"], 2, "--top-k wants a whole number of at least 1")):
    code, _, error = run("./causal", "generate", *flags)
    check(f"{flags}", code == status and message in error, error)
code, _, error = run("./last", "generate", "--prompt", "the fox")
check("a network that needs a whole window", code == 1 and "has 2 tokens, but the network says what follows 8" in error, error)
open("ahead.net", "w").write(open("causal.net").read().replace("causal = true", "causal = false"))
run(nnc, "ahead.net", "-o", "ahead", "--cflags=-O0", "--units=1")
run("./ahead", "-q", "--steps", "1")
code, _, error = run("./ahead", "generate", "--prompt", "the")
check("a network that looks ahead", code == 1 and "the network looks ahead, and needs a prompt of 8" in error, error)
for change, message in ((("next = logits }", "next = loss }"), "'next' must be logits"),
                        (("from = tokens", "from = logits"), "'from' must be an input of class numbers"),
                        (("from = tokens, ", ""), "'generate' needs 'from'"),
                        (("from = tokens, next", "from = tokens, after = 1, next"), "'generate' has no key 'after'"),
                        (("from = tokens, next = logits", "from = tokens, next = logits[:, 1:]"), "of other places"),
                        (("from = tokens, next = logits", "from = tokens, next = logits + f32(next)[..., none]"),
                         "must depend on the input 'tokens' alone"),
                        (("from = tokens, next = logits", "from = tokens, next = logits }\ngenerate { from = tokens, next = logits"),
                         "a second generate block")):
    open("wrong.net", "w").write(open("causal.net").read().replace(*change))
    code, _, error = run(nnc, "check", "wrong.net")
    check(f"{change[1]}", code == 1 and message in error and "wrong.net:" in error, error)
open("none.net", "w").write("\n".join(line for line in open("causal.net").read().splitlines() if not line.startswith("generate")))
run(nnc, "none.net", "-o", "none", "--cflags=-O0", "--units=1")
code, _, error = run("./none", "generate", "--prompt", "a")
check("a program without the block", code == 1 and "has no 'generate' block" in error, error)
named = open("none.net").read().replace("scores = logits", "scores = logits * temperature")
open("named.net", "w").write(named.replace("predict  {", "option temperature = 0.5 in 0..inf\npredict  {"))
code, _, error = run(nnc, "named.net", "-o", "named", "--cflags=-O0", "--units=1")
check("without the block its flags are free", code == 0, error)
code, out, _ = run("./named", "predict", "--init", "causal.run/checkpoint.safetensors", "--temperature", "0")
check("and are the program's", code == 0 and set(json.loads(out.splitlines()[0])["scores"][0]) <= {0, -0.0}, out[:200])
open("wrong.net", "w").write(open("causal.net").read() + "option temperature = 0.5 in 0..inf\n")
code, _, error = run(nnc, "check", "wrong.net")
check("with it they are taken", code == 1 and "has a flag --temperature of its own" in error, error)
summary()
