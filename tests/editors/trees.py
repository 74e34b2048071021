"""trees.py PARSE NNC WORK: the corpus of the grammar; statements begin where the server says they do; colours of some words."""
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, "tests/lib")
from checks import check, run, summary  # noqa: E402
from lsp_client import Client, uri_of  # noqa: E402

PARSE, NNC, WORK = sys.argv[1:]
GRAMMAR = "editors/tree-sitter-nnc"


def write(name, text):
    path = os.path.join(WORK, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


for path in sorted(glob.glob(f"{GRAMMAR}/test/corpus/*.txt")):
    for name, program, tree in re.findall(r"^=+\n(.*)\n=+\n\n(.*?)\n---\n\n(.*?)\n(?=\n=|\n*\Z)", read(path), re.M | re.S):
        found = run(PARSE, "--tree", write("case.net", program)).stdout
        check(f"corpus: {name}", " ".join(found.split()) == re.sub(r"\s+", " ", tree).strip(), found)

# Statements of the top level, of tree-sitter and of the compiler's own parser.
query = write("statements.scm", "(source_file (_) @statement)")
client = Client(NNC)
for path in sorted(glob.glob("models/*.net") + glob.glob("tests/syntax/ok/*.net")):
    found = {tuple(map(int, place)) for place in
             re.findall(r"^(\d+):(\d+) statement (?!for|if|return|yield|#)(?![\w, ]*<-)", run(PARSE, "--query", query, path).stdout, re.M)}
    if read(path).startswith("\ufeff"):
        continue  # tree-sitter counts the bytes of the mark
    uri = uri_of(path)
    client.open(uri, read(path))
    symbols = client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    wanted = {(s["range"]["start"]["line"] + 1, s["range"]["start"]["character"] + 1) for s in symbols}
    check(f"{path}: statements", found == wanted, (found - wanted, wanted - found))
    client.close(uri)
client.end()

program = 'const w = 2  # c\ninput x : u8[w]\ndef f(v) { return relu(v, a = 1) }\ntrain { minimize = f("s\\n") }\n'
found = run(PARSE, "--query", f"{GRAMMAR}/queries/highlights.scm", write("colours.net", program)).stdout.split("\n")
for line in ["1:1 keyword const", "1:7 constant w", "1:11 number 2", "1:14 comment # c", "2:1 keyword input", "2:11 type u8",
             "3:1 keyword.function def", "3:5 function f", "3:7 variable.parameter v", "3:12 keyword.return return",
             "3:19 function.call relu", "3:27 variable.parameter a", "4:1 keyword train", "4:9 property minimize",
             '4:22 string "s\\n"', "4:24 string.escape \\n"]:
    check(f"colour {line}", line in found, found)
summary()
