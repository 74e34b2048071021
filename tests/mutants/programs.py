"""Mutated programs: whatever the text, nnc accepts it or explains the mistake.

Programs of the tree are cut into tokens and changed where the language has its joints: statements, arguments,
operators, types, shapes, names, numbers. The same seed gives the same programs. Of each mutant, `nnc check` must end with 0, or
with 1 and a message that names a place in the file; half of those that pass are also formatted twice and compiled to C, at both
levels, which gcc or clang must accept without a warning.
"""
import glob
import os
import re

from limits import complaint, generator, run, side_by_side

TOKEN = re.compile(r'#[^\n]*|"(?:[^"\\\n]|\\.)*"|[A-Za-z_]\w*|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|<-|->|\.\.|==|!=|<=|>=|//|\n|[ \t]+|.')
NUMBERS = ["0", "1", "2", "3", "-1", "7", "0.0", "0.5", "1.0", "-0.0", "1e30", "1e-30", "1e400", "inf", "nan", "2147483647",
           "2147483648", "4294967296", "9223372036854775807", "9223372036854775808", "1e18", "3037000500"]
VALUES = ["none", "true", "false", '"a"', '""', "[]", "[1]", "[1, 2]", "(1, 2)", "()", "[[1], [2, 3]]", "zeros", "relu", "_"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "^", "@", "==", "!=", "<", "<=", ">", ">="]
TYPES = ["f32", "f64", "f16", "bf16", "i32", "i64", "u8", "bool"]
WRAPS = ["-{}", "{}[0]", "{}[-1]", "{}[::-1]", "{}[99999]", "{}.shape", "({}, {})", "[{}, {}]", "sum({})", "f32({})", "i32({})",
         "grad(sum({}), w)", "reshape({}, [-1])", "{} @ {}", "({} ? 1 : 2)", "concat([{}, {}])", "transpose({})", "bool({})", "{} + {}",
         "mean({}, axis = 9)", "one_hot({}, 3)", "full([2], {})", "[{} for i in 0..3]", "{}(1)", "exp(exp({}))"]
STATEMENTS = ["param w : [3]", "state s : [] = zeros", "s <- s + 1", "const batch = 3", "for i in 0..3 { q = i }", "return 1", "yield 2",
              "input z : f32[batch, 2]", "train { minimize = loss }", "def f(x) { return f(x) }", "}", "{", "if true { k = 1 }",
              "data train { z = npy(\"z.npy\") }", "predict { p = 1 }", "z = scan t in 0..3 with a = 0.0 { a = a + 1; yield a }"]


def is_word(token):
    return re.match(r"[A-Za-z_]", token) is not None


def is_number(token):
    return token[0].isdigit()


def places(tokens, test):
    return [i for i, token in enumerate(tokens) if test(token)]


def closing(tokens, at):
    """The place of the bracket that closes the one at `at`, or the last."""
    pairs, depth = {"(": ")", "[": "]", "{": "}"}, 0
    opening, end = tokens[at], pairs[tokens[at]]
    for i in range(at, len(tokens)):
        depth += (tokens[i] == opening) - (tokens[i] == end)
        if depth == 0:
            return i
    return len(tokens) - 1


def arguments(tokens, at):
    """Of a bracket: where each argument begins and ends."""
    end, depth, found, start = closing(tokens, at), 0, [], at + 1
    for i in range(at + 1, end):
        depth += tokens[i] in "([{"
        depth -= tokens[i] in ")]}"
        if tokens[i] == "," and depth == 0:
            found.append((start, i))
            start = i + 1
    return found + [(start, end)]


def on_numbers(rng, tokens, names):
    at = places(tokens, is_number)
    if at:
        tokens[rng.choice(at)] = rng.choice(NUMBERS + VALUES)


def on_names(rng, tokens, names):
    at = places(tokens, is_word)
    if at:
        tokens[rng.choice(at)] = rng.choice(names if rng.random() < 0.4 else [tokens[i] for i in at])


def on_operators(rng, tokens, names):
    at = places(tokens, lambda token: token in OPERATORS)
    if at:
        tokens[rng.choice(at)] = rng.choice(OPERATORS)


def on_types(rng, tokens, names):
    at = places(tokens, lambda token: token in TYPES)
    if at:
        tokens[rng.choice(at)] = rng.choice(TYPES)


def on_values(rng, tokens, names):
    at = places(tokens, lambda token: is_word(token) or is_number(token))
    if at:
        i = rng.choice(at)
        tokens[i] = rng.choice(WRAPS).format(tokens[i], tokens[i])


def on_arguments(rng, tokens, names):
    at = places(tokens, lambda token: token in "([")
    if not at:
        return
    found = arguments(tokens, rng.choice(at))
    (start, end), kind = rng.choice(found), rng.randrange(5)
    piece = tokens[start:end]
    if kind == 0:
        tokens[start:end] = []
    elif kind == 1:
        tokens[start:end] = piece + [", "] + piece
    elif kind == 2:
        tokens[start:end] = [rng.choice(names), " = "] + piece
    elif kind == 3:
        tokens[start:end] = [rng.choice(VALUES + NUMBERS)]
    elif len(found) > 1:
        (a, b), (c, d) = sorted(rng.sample(found, 2))
        tokens[a:d] = tokens[c:d] + tokens[b:c] + tokens[a:b]


def on_brackets(rng, tokens, names):
    at = places(tokens, lambda token: token in "()[]{}")
    if at and rng.random() < 0.5:
        del tokens[rng.choice(at)]
    else:
        tokens.insert(rng.randrange(len(tokens) + 1), rng.choice("()[]{}") * rng.choice([1, 1, 1, 60]))


def lines_of(tokens):
    """Statements: ranges of tokens that end where a newline stands outside of all brackets."""
    found, start, depth = [], 0, 0
    for i, token in enumerate(tokens):
        depth = max(0, depth + (token in "([{") - (token in ")]}"))
        if token == "\n" and depth == 0:
            found.append((start, i + 1))
            start = i + 1
    return found + ([(start, len(tokens))] if start < len(tokens) else [])


def on_statements(rng, tokens, names):
    found = lines_of(tokens)
    if not found:
        return
    (start, end), kind = rng.choice(found), rng.randrange(4)
    piece = tokens[start:end]
    if kind == 0:
        tokens[start:end] = []
    elif kind == 1:
        tokens[start:end] = piece + piece
    elif kind == 2:
        tokens[start:end] = []
        at = rng.choice(lines_of(tokens) or [(0, 0)])[0]
        tokens[at:at] = piece
    else:
        tokens[start:start] = [rng.choice(STATEMENTS), "\n"]


def on_bytes(rng, tokens, names):
    i = rng.randrange(len(tokens))
    tokens[i] = tokens[i] + rng.choice(["\0", "\x7f", "\xff", "\u2028", "\r", "\t", "\\", '"', "'", "`", "$", ";", ";;", "?", ":", "|", "..", "<-",
                                        " " * 5000, "x" * 3000, "\n" * 300])


MUTATIONS = [on_numbers, on_names, on_operators, on_types, on_values, on_arguments, on_arguments, on_statements, on_statements, on_brackets, on_bytes]
WEIGHTS = [20, 20, 8, 8, 16, 12, 12, 12, 8, 4, 3]


def mutate(rng, text, names):
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice([1, 1, 1, 1, 1, 2, 2, 3])):
        if tokens:
            rng.choices(MUTATIONS, WEIGHTS)[0](rng, tokens, names)
            tokens = TOKEN.findall("".join(tokens))
    return "".join(tokens)


def corpus():
    """The tree's programs with their paths: sound ones, and the wrong ones of the golden messages."""
    paths = sorted(glob.glob("models/*.net") + glob.glob("examples/**/*.net", recursive=True) + glob.glob("tests/**/*.net", recursive=True))
    texts = [(path, open(path, encoding="utf-8", errors="replace").read()) for path in paths if not path.startswith("tests/vectors/")]
    texts = [(path, text) for path, text in texts if len(text) < 20000]
    wrong = [pair for pair in texts if "/errors/" in pair[0]]
    return [pair for pair in texts if pair not in wrong], wrong


class Programs:
    def __init__(self, build, work, tally, seed, compiled):
        self.nnc, self.work, self.tally, self.seed, self.compiled = build + "/bin/nnc", work, tally, seed, compiled
        self.include = build + "/include/nnc"
        listed = run([self.nnc, "doc"]).out.decode()
        self.names = [line.split()[0] for line in listed.splitlines() if line.startswith("  ")]
        self.sound, self.wrong = corpus()
        self.environment = dict(os.environ, XDG_CACHE_HOME=work + "/cache")

    def judge(self, number):
        rng = generator("program", self.seed, number)
        path, text = rng.choice(self.wrong if rng.random() < 0.15 else self.sound)
        mutant = mutate(rng, text, self.names).encode("utf-8", "surrogatepass")
        name = "%d" % number
        file = "%s/m%d.net" % (self.work, number)
        with open(file, "wb") as stream:
            stream.write(mutant)
        outcome = run([self.nnc, "check", file], environment=self.environment)
        problem = complaint(outcome)
        if not problem and outcome.status == 1 and not re.search(rb"m%d\.net:\d+:\d+: error|m%d\.net: error" % (number, number), outcome.err):
            problem = "names no place in the file"
        self.tally.note("accepted" if outcome.status == 0 else "refused")
        if not problem and outcome.status == 0 and rng.random() < self.compiled:
            problem, outcome = self.judge_further(file)
        self.tally.add(name, problem and "%s (of %s)" % (problem, path), outcome, [(file, mutant)])
        for made in glob.glob("%s/m%d.*" % (self.work, number)):
            os.remove(made)

    def judge_further(self, file):
        self.tally.note("compiled to C")
        first = run([self.nnc, "fmt", file])
        if complaint(first, (0,)):
            return "fmt " + complaint(first, (0,)), first
        again = run([self.nnc, "fmt", "-"], text=first.out)
        if again.status == 0 and again.out != first.out:
            return "fmt twice differs", again
        for level in ("-O0", "-O1"):
            out = file[:-4] + ".c"
            outcome = run([self.nnc, level, "--emit=c", "-o", out, file], seconds=100, memory=8 << 30, environment=self.environment)
            problem = complaint(outcome)
            if problem or outcome.status == 1:
                return problem and "--emit=c " + problem, outcome
            for compiler in ("gcc", "clang"):
                outcome = run([compiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", self.include, out], seconds=100)
                if outcome.status != 0:
                    return "%s does not like the C of %s" % (compiler, level), outcome
        return None, outcome

    def run(self, count, jobs):
        side_by_side(jobs, count, self.judge)
