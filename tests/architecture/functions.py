#!/usr/bin/env python3
"""Rules for the functions of compiler/ and runtime/, read off the formatted sources:

 - none has more than 60 lines or 6 parameters, but for those of exceptions.txt (a line each: file,
   function, rule), which shrinks alone: an entry that is no longer needed is a mistake, too;
 - in compiler/elaborate and compiler/backend/common each external function is declared in a header, and bears the name of that
   header as its prefix: core/emit.h has emit_leaf.

Usage: functions.py ROOT; prints a line for each mistake and ends with status 1 if there is one."""
import os
import re
import sys

MOST_LINES, MOST_PARAMETERS = 60, 6
NESTED = r'[^(){};]*(?:\([^(){};]*\)[^(){};]*)*'
HEAD = re.compile(r'^(?!typedef|#|return\b|else\b)([A-Za-z_][^;{}=#()]*?)\b(\w+)\((' + NESTED + r')\)\s*'
                  r'(?:__attribute__\(\(' + NESTED + r'\)\)\s*)?([{;])', re.M)


def parameters(text):
    depth, count = 0, 1
    for c in text:
        depth += c in '([{'
        depth -= c in ')]}'
        count += c == ',' and depth == 0
    return 0 if text.strip() in ('', 'void') else count


def without_comments(text):
    """The same lines, with comments and the insides of strings blank."""
    blank = lambda m: re.sub(r'[^\n]', ' ', m.group(0))
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', blank, text, flags=re.S)


def functions(text):
    """Name, whether it is static, the number of parameters, whether it is defined here, its lines."""
    for head in HEAD.finditer(text):
        if head.start() and text[head.start() - 1] != '\n':
            continue
        lines = 0
        if head.group(4) == '{':
            line_end = text.find('\n', head.end())
            one_line = text[head.end():line_end].rstrip().endswith('}')
            end = line_end if one_line else text.find('\n}', head.end())
            lines = text.count('\n', head.start(), end) + (1 if one_line else 2)
        yield head.group(2), 'static' in head.group(1), parameters(head.group(3)), lines


def sources(root, *folders):
    for folder in folders:
        for path, _, files in sorted(os.walk(os.path.join(root, folder))):
            for name in sorted(files):
                if name.endswith(('.c', '.h')):
                    file = os.path.join(path, name)
                    with open(file, encoding='utf-8') as f:
                        yield os.path.relpath(file, root), without_comments(f.read())


def sizes(root):
    with open(os.path.join(root, 'tests/architecture/exceptions.txt'), encoding='utf-8') as f:
        allowed = {line.strip() for line in f if line.strip() and not line.startswith('#')}
    found = set()
    for file, text in sources(root, 'compiler', 'runtime'):
        for name, _, count, lines in functions(text):
            if count > MOST_PARAMETERS:
                found.add(f'{os.path.basename(file)} {name} parameters')
            if lines > MOST_LINES:
                found.add(f'{os.path.basename(file)} {name} lines')
    for entry in sorted(found - allowed):
        yield f'{entry}: more than {MOST_LINES} lines or {MOST_PARAMETERS} parameters'
    for entry in sorted(allowed - found):
        yield f'{entry}: no longer an exception, take it out of exceptions.txt'


def prefixes(root):
    declared, defined = set(), []
    for file, text in sources(root, 'compiler/elaborate', 'compiler/backend/common'):
        stem = os.path.splitext(os.path.basename(file))[0]
        for name, is_static, _, lines in functions(text):
            if file.endswith('.h'):
                declared.add(name)
                if name != stem and not name.startswith(stem + '_'):
                    yield f'{file} declares {name}, which does not begin with {stem}_'
            elif lines and not is_static:
                defined.append((file, name))
    for file, name in defined:
        if name not in declared:
            yield f'{file} defines {name}, which no header beside it declares: make it static'


def main():
    mistakes = list(sizes(sys.argv[1])) + list(prefixes(sys.argv[1]))
    for mistake in mistakes:
        print(mistake)
    return 1 if mistakes else 0


if __name__ == '__main__':
    sys.exit(main())
