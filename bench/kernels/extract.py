"""The distinct contractions and convolutions of models, read from nnc's own graphs.

`nnc --emit=ir` prints what is compiled: in its entries train and accumulate each product is a node with the shapes
of its operands in the order in which they lie in memory. A result that only a transposition reads is written in
that one's order. Scans' bodies are read too, once. What is not f32 is left out."""
import json
import os
import re
import subprocess
import sys

import convolutions
import rows

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, "../steps"))
from sizes import constants_of  # noqa: E402

MODELS = os.path.join(HERE, "../../models")

NODE = re.compile(r"( *)%(\d+) : (\w+)\[([\d, ]*)\] = (\w+)\(([^)]*)\)(?: \{(.*?)\})?(?: \"| @|$)")
ATTRIBUTE = re.compile(r"(\w+) = (\[[^\]]*\]|[^,]+)")
LEFT, RIGHT, OUT = "abcdefghij", "klmnopqrst", "uvwxyz"


class Node:
    def __init__(self, match):
        self.indent, self.number = len(match[1]), match[2]
        self.dtype, self.operator = match[3], match[5]
        self.shape = json.loads("[%s]" % match[4])
        self.operands = re.findall(r"%(\d+)", match[6])
        self.attributes = {}
        for name, value in ATTRIBUTE.findall(match[7] or ""):
            self.attributes[name] = json.loads(value) if re.match(r"[\[\d]", value) else value
        self.readers = []


def graphs(text):
    """Each graph of the entries, scans' bodies apart: a list of lines, without those of the bodies in it."""
    entry, open_graphs = None, {}
    for line in text.splitlines():
        header = re.match(r"entry (\w+) \{", line)
        if header:
            entry, open_graphs = header[1], {}
        if entry not in ("train", "accumulate"):
            continue
        indent = len(line) - len(line.lstrip())
        if line.rstrip() == "}":
            entry = None
        for deeper in [each for each in open_graphs if each > indent or entry is None]:
            yield open_graphs.pop(deeper)
        open_graphs.setdefault(indent, []).append(line)


def nodes_of(lines):
    found = {}
    for line in lines:
        match = NODE.match(line)
        if match:
            node = Node(match)
            found[node.number] = node
            for operand in node.operands:
                if operand in found:
                    found[operand].readers.append(node)
        else:  # a store, a scan: it reads, too
            for operand in re.findall(r"%(\d+)", line.split(" = ", 1)[-1]):
                if operand in found:
                    found[operand].readers.append(None)
    return found


def contraction(node, nodes):
    left, right = (nodes[number] for number in node.operands)
    at = node.attributes
    letters = list(LEFT[:len(left.shape)]), list(RIGHT[:len(right.shape)])
    for kind in ("batch", "sum"):
        for one, two in zip(at[kind + "_left"], at[kind + "_right"]):
            letters[1][two] = letters[0][one]
    kept = [[letter for i, letter in enumerate(letters[side]) if i not in at["batch_" + way] + at["sum_" + way]]
            for side, way in enumerate(("left", "right"))]
    out = [letters[0][i] for i in at["batch_left"]] + kept[0] + kept[1]
    if len(node.readers) == 1 and node.readers[0] and node.readers[0].operator == "transpose":
        out = [out[i] for i in node.readers[0].attributes["permutation"]]
    sizes = {letter: size for term, operand in zip(letters, (left, right)) for letter, size in zip(term, operand.shape)}
    return rows.contraction(["".join(letters[0]), "".join(letters[1]), "".join(out)], sizes)


def geometry_of(node):
    return {name: node.attributes[name] for name in ("low", "high", "stride", "dilation", "groups")}


def forward(node, nodes):
    x, w = (nodes[number].shape for number in node.operands)
    return convolutions.convolution(convolutions.FORWARD, x, w, node.shape, geometry_of(node))


def input_gradient(node, nodes):
    out, w = (nodes[number].shape for number in node.operands)
    return convolutions.convolution(convolutions.INPUT, node.shape, w, out, geometry_of(node))


def weight_gradient(node, nodes):
    x, out = (nodes[number].shape for number in node.operands)
    return convolutions.convolution(convolutions.WEIGHT, x, node.shape, out, geometry_of(node))


READERS = {"contract": contraction, "conv": forward, "conv_input": input_gradient, "conv_weight": weight_gradient}


def rows_of(text):
    """The rows of a printed module and how often each occurs: {key: (row, count)}."""
    found = {}
    for lines in graphs(text):
        nodes = nodes_of(lines)
        for node in nodes.values():
            if node.operator not in READERS or any(each.dtype != "f32" for each in
                                                   [node, *(nodes[number] for number in node.operands)]):
                continue
            row = READERS[node.operator](node, nodes)
            count = found[row.key()][1] if row.key() in found else 0
            found[row.key()] = row, count + 1
    return found


def model_names():
    return sorted(name[:-4] for name in os.listdir(MODELS) if name.endswith(".net"))


def graph_text(nnc, model, own=False):
    constants = constants_of(model, own)
    words = [word for name, value in constants.items() for word in ("-D", "%s=%s" % (name, value))]
    done = subprocess.run([nnc, os.path.join(MODELS, model + ".net"), *words, "--emit=ir"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def rows_of_models(nnc, models, own=False):
    """Distinct rows, each with the models it occurs in."""
    found = {}
    for model in models:
        for key, (row, count) in rows_of(graph_text(nnc, model, own)).items():
            found.setdefault(key, row).models[model] = count
    return list(found.values())
