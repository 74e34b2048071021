"""See run.sh."""
import glob
import os
import random
import re
import signal
import sys
import time

sys.path.insert(0, "tests/lib")
from checks import check, run, summary  # noqa: E402
from lsp_client import Client, place_of, uri_of  # noqa: E402

NNC, WORK, LONG = sys.argv[1], sys.argv[2], sys.argv[3] == "--long"


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def hover(client, uri, text, needle, nth=0, offset=0):
    answer = client.at("hover", uri, *place_of(text, needle, nth, offset))
    return answer["contents"]["value"] if answer else ""


def word_at(text, place):
    line = text.split("\n")[place["line"]]
    match = re.compile(r"\w+").match(line, place["character"])
    return match.group() if match else None


# ---- models: no diagnostics; what hover says of parameters is what nnc check --parameters says ----

def check_model(client, path):
    name, text, uri = os.path.basename(path), read(path), uri_of(path)
    client.open(uri, text)
    checked = run(NNC, "check", "--parameters", path)
    table = dict(re.findall(r"^(\S+)  +(?:param|state|stream) +(\S+\[.*?\])(?:  frozen)?$", checked.stdout, re.M))
    symbols = client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    wrong, seen, misplaced = [], set(), []
    for symbol in symbols:
        at = symbol["selectionRange"]["start"]
        answer = client.at("hover", uri, at["line"], at["character"])
        value = answer["contents"]["value"] if answer else ""
        for parameter, type in re.findall(r"^- `(\S+) : (.*)`$", value, re.M):
            seen.add(parameter)
            wrong += [] if table.get(parameter) == type else [(parameter, type, table.get(parameter))]
        if symbol["detail"] in ("param", "state", "stream"):
            wrong.append((symbol["name"], "has no type"))
        target = client.at("definition", uri, at["line"], at["character"])
        if symbol["detail"] not in ("data", "train", "predict", "generate") and \
                (not target or word_at(text, target["range"]["start"]) != symbol["name"]):
            misplaced.append(symbol["name"])
    for found in re.finditer(r"^(?:param|state|stream) (\w+)", text, re.M):
        state = found.group(1)
        value = hover(client, uri, text, found.group(), offset=len(found.group()) - 1)
        seen.add(state)
        if table.get(state) and f"{state} : {table[state]}\n" not in value:
            wrong.append((state, value))
    check(f"{name}: types of parameters", not wrong, wrong)
    check(f"{name}: definitions", not misplaced, misplaced)
    check(f"{name}: symbols and parameters are there", len(symbols) > 5 and (seen or not table), (len(symbols), len(seen)))
    check(f"{name}: no diagnostics", client.diagnostics(uri) == [])
    formatted = client.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {"tabSize": 2}})
    check(f"{name}: it is formatted", formatted == [], formatted)
    client.close(uri)


def check_models(client):
    for path in sorted(glob.glob("models/*.net")):
        check_model(client, path)


# ---- golden mistakes: the same places and texts as nnc check ----

def expected_diagnostics(path):
    """[(line, column, severity, text)], which begin at the left margin of an .expected file."""
    name = os.path.basename(path)
    head = re.compile(rf"^{re.escape(name)}(?::(\d+):(\d+))?: (error|warning): (.*)$", re.M)
    return sorted((int(line or 1), int(column or 1), 1 if kind == "error" else 2, text)
                  for line, column, kind, text in head.findall(read(path[:-4] + ".expected")))


def check_mistakes(client):
    for path in sorted(glob.glob("tests/elaborate/errors/*.net") + glob.glob("tests/syntax/errors/*.net")):
        try:
            text = open(path, encoding="utf-8", newline="").read()
        except UnicodeDecodeError:
            continue  # an editor sends UTF-8 alone
        if re.search(r"\r(?!\n)", text):
            continue  # to the protocol that ends a line
        if "and " in read(path[:-4] + ".expected").rpartition("\n")[0].rpartition("\n")[2] and \
                " more error" in read(path[:-4] + ".expected"):
            continue  # nnc check prints the first twenty
        uri = uri_of(path)
        client.open(uri, text)
        found = sorted((d["range"]["start"]["line"] + 1, d["range"]["start"]["character"] + 1, d["severity"],
                        d["message"].partition("\nhelp: ")[0].partition("\nnote: ")[0]) for d in client.diagnostics(uri))
        wanted = expected_diagnostics(path)
        flat = [(line, column, severity, text.split("\n")[0].replace(os.path.dirname(os.path.abspath(path)) + "/", ""))
                for line, column, severity, text in found]
        check(f"{os.path.basename(path)}: diagnostics", flat == wanted, f"{flat} instead of {wanted}")
        client.close(uri)


# ---- names ----

PROGRAM = """# A network. 🙂 relu
const batch = 4, width = 8
option rate = 0.1 in 0..1
data train { image, label = idx("images", "labels") | shuffle(seed = 1) }
input image : u8[batch, 28, 28]
input label : u8[batch]

# Twice a layer.
def block(v, units = width) {
  first = relu(linear(v, units))
  return dropout(linear(first, units), rate)
}

x = flatten(f32(image) / 255)
for i in 0..2 { x = block(x) }
enc = linear(_, 10)
total, _ = scan v in x along 1 with s = zeros([batch]) { s = s + v; yield s }
logits = enc(x + total)
loss = cross_entropy(logits, label)
accuracy = mean(argmax(logits) == label)
train { minimize = loss, optimizer = adam(lr = 1e-3), epochs = 2, metrics = [accuracy] }
predict { digit = argmax(logits) }
"""
HOVERS = [
    ("width", 0, ["width = 8", "constant"]),
    ("rate", 0, ["option"]),
    ("image", 0, ["image : u8[4, 28, 28]", "3,136 numbers, 3,136 bytes"]),
    ("block(v", 0, ["def block(v, units = width)", "Twice a layer."]),
    ("v, units", 0, ["argument", "v : f32[4, 784]", "The first of 2 values; others: `f32[4, 8]`"]),
    ("x = block", 0, ["f32[4, 8]", "Parameters: 6,496 numbers, 25,984 bytes", "`block.0.first.w : f32[784, 8]`"]),
    ("block(x)", 0, ["def block", "Here: `f32[4, 8]`"]),
    ("flatten", 0, ["flatten(x: tensor, start: int = 1)", "Here: `f32[4, 784]`"]),
    ("units))", 0, ["units = 8", "argument"]),
    ("s + v", 0, ["s : f32[4]"]),
    ("logits)", 0, ["logits : f32[4, 10]", "40 numbers, 160 bytes"]),
    ("lr =", 0, ["argument `lr` of `adam`", "optimizer adam(lr = 1e-3"]),
    ("minimize", 0, ["minimize = LOSS"]),
    ("scan", 0, ["scan NAME, ... in SEQUENCE"]),
    ("idx", 0, ["idx(file, ...)"]),
    ("along", 0, ["along AXIS"]),
    ("u8", 0, ["u8"]),
]


def check_names(client):
    uri, text = "file:///names.net", PROGRAM
    client.open(uri, text)
    for needle, nth, wanted in HOVERS:
        value = hover(client, uri, text, needle, nth)
        check(f"hover on {needle}", all(part in value for part in wanted), f"{wanted} in {value!r}")
    check("no hover in a comment", not hover(client, uri, text, "relu"))
    check("no hover in a string", not hover(client, uri, text, '"images"', 0, 1))

    def target(needle, nth=0, offset=0):
        return client.at("definition", uri, *place_of(text, needle, nth, offset))

    for needle, nth, definition in [("width)", 0, "width ="), ("block(x)", 0, "block(v"), ("units))", 0, "units = width"),
                                    ("first, units", 0, "first = relu"), ("rate)", 0, "rate ="), ("image)", 0, "image :"),
                                    ("image,", 0, "image :"), ("s + v", 0, "s = zeros"), ("enc(x + ", 0, "enc ="),
                                    ("x + total", 0, "x = block"), ("label)", 0, "label :")]:
        found = target(needle, nth)
        start = found and (found["range"]["start"]["line"], found["range"]["start"]["character"])
        check(f"definition of {needle}", start == place_of(text, definition), start)
    library = target("relu(linear")
    if check("definition in the library", library and library["uri"].endswith("/activations.net"), library):
        path = library["uri"][len("file://"):]
        check("the library's file is there, read-only", not os.stat(path).st_mode & 0o222)
        line = read(path).split("\n")[library["range"]["start"]["line"]]
        check("its line defines it", line[library["range"]["start"]["character"]:].startswith("relu(") and
              line.startswith("def "), line)
        client.open(library["uri"], read(path))
        spoken = client.at("hover", library["uri"], *place_of(read(path), "def relu(", 0, 4))
        check("hover inside of the library", spoken, spoken)
        client.close(library["uri"])
    check("no definition of a word", target("minimize") is None)

    def ranges(method, needle, **more):
        found = client.at(method, uri, *place_of(text, needle), **more)
        return sorted((r["range"]["start"]["line"], r["range"]["start"]["character"]) for r in found)

    uses = [place_of(text, "image,"), place_of(text, "image :"), place_of(text, "image) /")]
    check("references", ranges("references", "image :", context={"includeDeclaration": True}) == sorted(uses))
    check("references without the declaration",
          ranges("references", "image :", context={"includeDeclaration": False}) == sorted([uses[0], uses[2]]))
    check("highlights", ranges("documentHighlight", "first =") == [place_of(text, "first ="), place_of(text, "first, units")])
    edits = client.at("rename", uri, *place_of(text, "units = width"), newName="size")["changes"][uri]
    check("rename", len(edits) == 3 and all(e["newText"] == "size" for e in edits), edits)
    check("no name of the library is renamed", client.at("prepareRename", uri, *place_of(text, "relu(")) is None)
    check("no name that is none", client.at("rename", uri, *place_of(text, "units"), newName="a b") is None)
    hints = client.ask("textDocument/inlayHint", {"textDocument": {"uri": uri}})
    labels = {(h["position"]["line"], h["label"]) for h in hints}
    check("hints", (place_of(text, "logits =")[0], ": f32[4, 10]") in labels, labels)
    found = client.diagnostics(uri)
    check("names without mistakes", found == [], found)
    client.close(uri)


# ---- completion ----

COMPLETIONS = [  # the text, | is the cursor; what is offered, and what is not
    ("const width = 8\nx = wi|\n", ["width"], ["const", "minimize", "csv"]),
    ("const width = 8\n|\n", ["const", "input", "train", "width"], ["along", "csv"]),
    ("x = linear(1, |)\n", ["units =", "bias =", "relu"], ["x ="]),
    ("x = linear(1, units = 2, b|\n", ["bias ="], ["units ="]),
    ("def f(a, b = 2) { return a + b }\ny = f(1, |\n", ["b =", "f"], ["a ="]),
    ("def f(a, b = 2) {\n  c = a\n  return |\n}\nz = 1\n", ["a", "b", "c"], ["z"]),
    ("train {\n  mi|\n}\n", ["minimize", "optimizer", "params"], ["relu", "csv"]),
    ("train { minimize = 1, |}\n", ["epochs"], ["relu"]),
    ("train { optimizer = | }\n", ["adam"], ["epochs"]),
    ("input x : f|\n", ["f32", "f64"], ["relu"]),
    ("input x : u8[2]\ndata train { x = | }\n", ["csv", "idx"], ["relu", "shuffle"]),
    ("input x : u8[2]\ndata train { x = idx(\"a\") | | }\n", ["shuffle", "standardize"], ["relu", "idx"]),
    ("input x : u8[2]\ndata train { | }\n", ["x", "order"], ["relu"]),
    ("y = unst|\n", ["unstandardize"], ["standardize"]),
    ("x = lower|\n", ["relu", "cholesky"], ["lower_solved", "lower_factor", "boxes_ranked"]),  # parts of the library
    ("x = zeros([2])\ny = x.|\n", ["shape", "T"], ["relu"]),
    ("# a comm|ent\n", [], ["relu"]),
    ("x = \"str|\n", [], ["relu"]),
    ("generate { | }\n", ["from", "next"], ["relu"]),
    ("extern f(v : f32[...]) : f32[v.shape] { | }\n", ["c", "cuda"], ["relu"]),
    ("schedule s(a) { return | }\n", ["a", "t", "steps"], ["w"][:0]),
]


def check_completion(client):
    uri = "file:///complete.net"
    for marked, wanted, unwanted in COMPLETIONS:
        at = marked.rindex("|") if "idx(\"a\")" in marked else marked.index("|")
        text = marked[:at] + marked[at + 1:]
        client.open(uri, text)
        before = text[:at]
        items = client.at("completion", uri, before.count("\n"), len(before.rpartition("\n")[2]))
        labels = [item["label"] for item in items]
        check(f"completion of {marked!r}", all(w in labels for w in wanted) and not any(u in labels for u in unwanted),
              [w for w in wanted if w not in labels] + ["not " + u for u in unwanted if u in labels])
        client.close(uri)
    uri, text = "file:///typed.net", "const batch = 2\ninput x : f32[batch, 3]\nh = linear(x, 4)\ny = h\n"
    client.open(uri, text)
    client.diagnostics(uri)
    client.change(uri, text + "z = h")
    items = {i["label"]: i for i in client.at("completion", uri, 4, 5)}
    check("completion says types", items["h"].get("detail") == "f32[2, 4]", items.get("h"))
    client.change(uri, text + "z = h.")
    labels = [i["label"] for i in client.at("completion", uri, 4, 6)]
    check("parameters of a layer are members", "w" in labels and "b" in labels and "shape" in labels, labels)
    client.change(uri, "z = linear(1, 2, init = zeros")
    found = client.at("signatureHelp", uri, 0, 29)
    signature = found["signatures"][0]
    check("signature", signature["label"].startswith("def linear(x, units") and
          signature["parameters"][found["activeParameter"]]["label"].startswith("init"), found)
    client.change(uri, "z = sum(1, ")
    check("signature of what is built in", client.at("signatureHelp", uri, 0, 11)["activeParameter"] == 1)
    check("no signature outside", client.at("signatureHelp", uri, 0, 2) is None)
    client.close(uri)


# ---- quick fixes, formatting ----

def check_edits(client):
    uri = "file:///fix.net"
    client.open(uri, "const batch = 2\ninput x : f32[batch]\ny = relux(x)\n")
    found = client.diagnostics(uri)
    actions = client.ask("textDocument/codeAction", {"textDocument": {"uri": uri}, "range": found[0]["range"],
                                                     "context": {"diagnostics": found}})
    edit = actions[0]["edit"]["changes"][uri][0] if actions else {}
    check("quick fix", edit.get("newText") == "relu" and edit["range"]["start"] == {"line": 2, "character": 4}, actions)
    client.change(uri, "const batch=2   # ü\r\n\n\nx=[1,2]\n")
    edits = client.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {}})
    path = os.path.join(WORK, "fix.net")
    with open(path, "w", newline="") as file:
        file.write("const batch=2   # ü\r\n\n\nx=[1,2]\n")
    check("formatting is nnc fmt", apply(edits, "const batch=2   # ü\r\n\n\nx=[1,2]\n") == run(NNC, "fmt", path).stdout, edits)
    client.change(uri, "x = (")
    check("what does not parse stays", client.ask("textDocument/formatting",
                                                  {"textDocument": {"uri": uri}, "options": {}}) is None)
    client.close(uri)


def offset_of(text, place, encoding):
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    line = lines[min(place["line"], len(lines) - 1)]
    body = line.rstrip("\r\n")
    units = body.encode({"utf-16": "utf-16-le", "utf-8": "utf-8", "utf-32": "utf-32-le"}[encoding])
    size = {"utf-16": 2, "utf-8": 1, "utf-32": 4}[encoding]
    head = units[:place["character"] * size].decode({"utf-16": "utf-16-le", "utf-8": "utf-8", "utf-32": "utf-32-le"}[encoding])
    return sum(map(len, lines[:place["line"]])) + len(head)


def apply(edits, text, encoding="utf-16"):
    for edit in sorted(edits, key=lambda e: -offset_of(text, e["range"]["start"], encoding)):
        start, end = (offset_of(text, edit["range"][side], encoding) for side in ("start", "end"))
        text = text[:start] + edit["newText"] + text[end:]
    return text


def check_changes(encoding):
    """Random edits in pieces: the server's text is the client's, told by the diagnostics of both."""
    client = Client(NNC, encodings=[encoding])
    check(f"{encoding} is taken", client.server["capabilities"]["positionEncoding"] == encoding)
    random.seed(3)
    uri, whole, text = "file:///edited.net", "file:///whole.net", "# ü 🙂\nx = 1\r\ny = x + 2 # 漢\n"
    client.open(uri, text)
    client.open(whole, text)
    pieces = ["x", "🙂", "\n", "y = x\n", "ü", "", "(", "# 漢字\n", "\r\n", "\r", "1 + ", "\"é\""]
    same = True
    for _ in range(40):
        changes = []
        for _ in range(random.randint(1, 3)):
            a, b = sorted(random.choices(range(len(text) + 1), k=2))
            b = min(b, a + random.randint(0, 4))
            while 0 < a < len(text) and text[a - 1] == "\r" and text[a] == "\n":
                a -= 1  # a place is never within the end of a line
            while 0 < b < len(text) and text[b - 1] == "\r" and text[b] == "\n":
                b += 1
            piece = random.choice(pieces)
            place = lambda at: {"line": len(re.split(r"\r\n|\n|\r", text[:at])) - 1, "character": units(text[:at], encoding)}
            changes.append({"range": {"start": place(a), "end": place(b)}, "text": piece})
            text = text[:a] + piece + text[b:]
        client.change(uri, *changes)
        client.change(whole, text)
        key = lambda d: (d["range"]["start"]["line"], d["range"]["start"]["character"], d["message"])
        one, other = sorted(client.diagnostics(uri), key=key), sorted(client.diagnostics(whole), key=key)
        same = same and [(d["range"], d["message"]) for d in one] == [(d["range"], d["message"]) for d in other]
    check(f"{encoding}: edits in pieces", same)
    client.open(uri, "a = 1  # 🙂🙂\nb = \"🙂ü\" + unknown_thing\n")
    at = [d for d in client.diagnostics(uri) if "unknown" in d["message"]][0]["range"]["start"]["character"]
    check(f"{encoding}: characters", at == units('b = "🙂ü" + ', encoding), at)
    check(f"{encoding}: the end", client.end() == 0)


def units(text, encoding):
    last = re.split(r"\r\n|\n|\r", text)[-1]
    return {"utf-16": len(last.encode("utf-16-le")) // 2, "utf-8": len(last.encode()), "utf-32": len(last)}[encoding]


# ---- what no client should send ----

def check_hostile():
    client = Client(NNC, initialize=False)
    refused = client.ask("textDocument/hover", {})
    check("before initialize", refused["error"]["code"] == -32002, refused)
    client.send_bytes(b"Content-Length: abc\r\n\r\n")
    check("a length that is none", client.receive()["error"]["code"] == -32700)
    client.send_bytes(b"Content-Type: x\r\n\r\n")
    check("no length", client.receive()["error"]["code"] == -32700)
    client.send_bytes(b"Content-Length: 5\r\n\r\n{\"a\":")
    check("half of an object", client.receive()["error"]["code"] == -32700)
    client.send_bytes(b"Content-Length: 4\r\n\r\n\xff\xfe\x00\x01")
    check("no UTF-8", client.receive()["error"]["code"] == -32700)
    deep = b"[" * 100000
    client.send_bytes(b"Content-Length: %d\r\n\r\n" % len(deep) + deep)
    check("deep nesting", client.receive()["error"]["code"] == -32700)
    client.send_bytes(b"x" * 5000 + b"\r\n\r\n")
    check("a header without an end", client.receive()["error"]["code"] == -32700)
    for body in (b"[]", b"3", b"null", b"{}", b"{\"id\":1}", b"{\"method\":3}"):
        client.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    large = 200 << 20
    client.send_bytes(b"Content-Length: %d\r\n\r\n" % large)
    codes = []
    while codes.count(-32700) < 1:
        codes.append(client.receive()["error"]["code"])
    for _ in range(large >> 20):
        client.send_bytes(b" " * (1 << 20))
    check("a message that is too large is thrown away", set(codes) == {-32600, -32700}, codes)
    with open(f"/proc/{client.process.pid}/status") as status:
        resident = int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))
    check("and takes no memory", resident < 60000, f"{resident} KiB")
    client.ask("initialize", {"capabilities": {}})
    check("initialize again", client.ask("initialize", {})["error"]["code"] == -32600)
    check("an unknown method", client.ask("textDocument/unknown", {})["error"]["code"] == -32601)
    client.tell("$/unknown", {})
    client.tell("$/cancelRequest", {"id": 99})
    client.tell("textDocument/didOpen", {"textDocument": {"uri": 3}})
    client.tell("textDocument/didChange", None)
    check("a document that is not open", client.at("hover", "file:///none.net", 0, 0)["error"]["code"] == -32602)
    uri = "file:///hostile.net"
    texts = ["x = \0 1\n", "\ufeffx = 1\n", "(" * 3000, "x = " + "1 + " * 3000 + "1", "\r\r\r", "x" * 100000, "", "🙂" * 5000,
             "def f(v) { return f(v) }\ny = f(1)\n", "for i in 0..1000000 { for k in 0..1000000 { x = i } }\n"]
    for text in texts[:-1]:
        client.open(uri, text)
        for method in ("hover", "definition", "completion", "signatureHelp", "prepareRename", "documentHighlight"):
            for place in ((0, 0), (0, 5), (2 ** 31, 2 ** 40), (-1, -1)):
                client.at(method, uri, *place)
        client.at("hover", uri, "a", None)
        found = client.diagnostics(uri)
        check(f"a text {text[:12]!r}", isinstance(found, list))
        client.close(uri)
    client.open(uri, texts[-1])
    number = client.post("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 4}})
    client.tell("$/cancelRequest", {"id": number})
    check("a request that waits is cancelled", client.wait(number)["error"]["code"] == -32800)
    number = client.post("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 4}})
    client.close(uri)
    check("a request about what is closed is answered", "result" in client.wait(number))
    check("an exit after shutdown", client.end() == 0)
    client = Client(NNC)
    client.process.stdin.close()
    check("an end without shutdown", client.process.wait(timeout=20) == 1)


def check_child(client):
    """A child that dies is told as a diagnostic, and the server goes on."""
    uri = "file:///slow.net"
    client.open(uri, "for i in 0..1000000 { for k in 0..1000000 { x = i } }\n")
    children = f"/proc/{client.process.pid}/task/{client.process.pid}/children"
    client.at("completion", uri, 0, 0)  # so that the analysis has begun
    deadline = time.monotonic() + 10
    while len(child := read(children).split()) != 1 and time.monotonic() < deadline:
        time.sleep(0.01)  # the child that answered is gone soon
    if check("an analysis is a child", len(child) == 1, child):
        os.kill(int(child[0]), signal.SIGSEGV)
        found = client.diagnostics(uri)
        check("its end is told", len(found) == 1 and "cannot check" in found[0]["message"], found)
    client.change(uri, "x = 1\n")
    check("and the next one works", [d["severity"] for d in client.diagnostics(uri)] == [2, 2])
    client.close(uri)


def check_memory(client, changes):
    """The server's memory after many changes is what it was after some."""
    uri, text = "file:///many.net", PROGRAM
    client.open(uri, text)
    resident = []
    for i in range(changes):
        client.change(uri, text + f"\nname_{i} = {i}  # {'x' * (i % 1000)}\n")
        if i % 10 == 0:
            client.diagnostics(uri)
            client.at("completion", uri, 3, 3)
            resident.append(int(re.search(r"VmRSS:\s+(\d+)", read(f"/proc/{client.process.pid}/status")).group(1)))
    half = len(resident) // 2
    check("memory does not grow", max(resident[half:]) < max(resident[:half]) + 2000, resident[::max(1, half // 5)])
    client.close(uri)


main = Client(NNC)
check_models(main)
check_mistakes(main)
check_names(main)
check_completion(main)
check_edits(main)
check_child(main)
check_memory(main, 5000 if LONG else 200)
check("the end", main.end() == 0)
for code in ("utf-16", "utf-8", "utf-32"):
    check_changes(code)
check_hostile()
summary()
