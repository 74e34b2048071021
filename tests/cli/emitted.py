#!/usr/bin/env python3
"""What a reader of emitted C relies on: no line of it is too long, and the contents name the right lines.

    emitted.py FILE.c...

A line may be longer where it cannot be broken: one item. Prints what is wrong; status 1."""
import re
import sys

WIDTH = 100
wrong = []
for path in sys.argv[1:]:
    lines = open(path).read().split("\n")
    for number, line in enumerate(lines, 1):
        if len(line) > WIDTH and (", " in line.rstrip(", ") or line.endswith("\\")):
            wrong.append(f"{path}:{number}: {len(line)} columns: {line.strip()[:60]}")
    rows = [re.match(r" \*  +(\d+)  ([^:]+)", line) for line in lines[:lines.index(" */", lines.index("/* What begins in which line:"))]]
    rows = [(int(row[1]), row[2]) for row in rows if row]
    parts = {"the memory plan": "/* The memory plan", "tables for the runtime": "static const nnc_variable",
             "source": "static const char source[]", "nnc_the_model": "nnc_model nnc_the_model =", "host": "/* Host scalars",
             "finish": "/* Metrics", "nnc_level_only": "/* What the runtime calls"}
    for line, name in rows:
        if name in parts:
            is_right = any(text.startswith(parts[name]) for text in lines[line - 1:line + 1])
        elif "_run" in name and not name.startswith("net_"):
            is_right = lines[line - 1].startswith("/* ") and re.fullmatch(rf"static (NNC_PIECE )?void {name}\(.*\)", lines[line])
        else:
            heads = (text for text in lines[line - 1:] if text.startswith("NNC_"))
            is_right = lines[line - 1].startswith("/* ") and re.search(rf"\b{name}(_feed)?(_epilogue)?\(", next(heads, ""))
        if not is_right:
            wrong.append(f"{path}: the contents say that {name} begins in line {line}")
    functions = set(re.findall(r"^NNC_KERNEL void (\w+)\(", "\n".join(lines), re.M))
    functions |= set(re.findall(r"^static (?:\w+ )*(\w+)\([^;]*\)$", "\n".join(lines), re.M)) | {"source", "nnc_the_model"}
    missing = functions - {name for _, name in rows}
    if missing or not functions:
        wrong.append(f"{path}: the contents lack {sorted(missing) or 'all'}")
    if "(void)worker," in "\n".join(lines):
        wrong.append(f"{path}: has lists of what is not used")
print("\n".join(wrong))
sys.exit(bool(wrong))
