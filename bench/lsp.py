#!/usr/bin/env python3
"""How long the language server takes to answer, on each program of models/: least and median, in milliseconds.

  bench/lsp.py [--nnc build/bin/nnc] [--rounds 15] [FILE...]

  changed   from a change of the text to its diagnostics: the program is elaborated for training and for evaluation
  first     from a change to the answer to a hover that was asked with it
  hover, definition, complete, format, symbols   when the text has been analysed
"""
import argparse
import glob
import os
import statistics
import sys

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(root, "tests/lib"))
from lsp_client import Client, place_of, timed, uri_of  # noqa: E402

COLUMNS = ["changed", "first", "hover", "definition", "complete", "format", "symbols"]


def rounds(client, uri, text, count):
    """Seconds of each column, a list a round."""
    line, character = place_of(text, "=", text.count("=") // 2, -1)
    document = {"textDocument": {"uri": uri}}
    place = {**document, "position": {"line": line, "character": max(character - 1, 0)}}
    for i in range(count):
        client.change(uri, text + "\n" * (i % 2))
        changed = timed(lambda: client.diagnostics(uri))[1]
        client.change(uri, text + "\n" * ((i + 1) % 2))
        first = timed(lambda: client.ask("textDocument/hover", place))[1]
        client.diagnostics(uri)
        yield [changed, first] + [timed(lambda: client.ask("textDocument/" + method, place))[1]
                                  for method in ("hover", "definition", "completion")] + \
            [timed(lambda: client.ask("textDocument/formatting", {**document, "options": {}}))[1],
             timed(lambda: client.ask("textDocument/documentSymbol", document))[1]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nnc", default=os.path.join(root, "build/bin/nnc"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("files", nargs="*", default=sorted(glob.glob(os.path.join(root, "models/*.net"))))
    options = parser.parse_args()
    client = Client(options.nnc)
    print(f"{'':22}" + "".join(f"{column:>14}" for column in COLUMNS))
    worst = [0] * len(COLUMNS)
    for file in options.files:
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
        uri = uri_of(file)
        client.open(uri, text)
        client.diagnostics(uri)
        columns = list(zip(*rounds(client, uri, text, options.rounds)))
        client.close(uri)
        medians = [statistics.median(column) * 1e3 for column in columns]
        worst = [max(pair) for pair in zip(worst, medians)]
        print(f"{os.path.basename(file):22}" + "".join(f"{min(column) * 1e3:7.1f} {median:6.1f}"
                                                       for column, median in zip(columns, medians)), flush=True)
    print(f"{'greatest median':22}" + "".join(f"{value:14.1f}" for value in worst))
    client.end()


main()
