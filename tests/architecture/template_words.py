#!/usr/bin/env python3
"""What templates of code declare is among the words that names of a model's do not take (BackEnd.words), or has the
form of generated names (i0, t12): else a variable of a template hides an operand with its name.

    template_words.py ROOT
"""
import glob
import os
import re
import sys

TYPES = r"(?:u?int(?:8|16|32|64)_t|int|unsigned|float|double|char|void|bool|size_t|auto|nnc_\w+|@\w+@)"
DECLARED = re.compile(rf"\b{TYPES}\s+(?:const\s+)?(?:\*\s*(?:const\s+|restrict\s+|NNC_RESTRICT\s+)?)*"
                      r"([A-Za-z_]\w*)\s*(?=[=,;\[):{])")
GENERATED = re.compile(r"[abcijklmnrstvx]\d*")
BACK_ENDS = [("codegen_templates/*.c", "compiler/backend/c/kernels.c"),
             ("codegen_templates/cuda/*.cu", "compiler/backend/cuda/function.c")]


def further(text):
    """Names after the first of a declaration, such as b of "int a = f(1, 2), b = 3;"."""
    depth, part, parts = 0, "", []
    for letter in text.split(";")[0]:
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            break
        if letter == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += letter
    for part in (parts + [part])[1:]:
        match = re.match(r"\s*\*?\s*(?:const\s+)?([A-Za-z_]\w*)\s*(=|\[|$)", part)
        if match:
            yield match.group(1)


def declared(path):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    for match in DECLARED.finditer(text):
        yield match.group(1)
        yield from further(text[match.end():])


def main(root):
    good = True
    for templates, source in BACK_ENDS:
        with open(os.path.join(root, source), encoding="utf-8") as file:
            text = file.read()
        begin = text.index("words[] = {")
        words = set(re.findall(r'"(\w+)"', text[begin:text.index("}", begin)]))
        for path in sorted(glob.glob(os.path.join(root, templates))):
            for name in sorted(set(declared(path))):
                is_free = name in words or GENERATED.fullmatch(name) or name.startswith("nnc_")
                if is_free or name == "worker" or not re.search("[a-z]", name):
                    continue
                print(f"{os.path.relpath(path, root)} declares {name}, which {source} does not list in words")
                good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
