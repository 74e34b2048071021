#!/usr/bin/env python3
"""What is known of a machine stands in its target's record and back end. The folders between the language
and the back ends have no such number: no constant in kibibytes or of an alignment of 64, none that is named
after a cache, a vector, a register or a rate.

Usage: machine_numbers.py ROOT; prints a line for each mistake and ends with status 1 if there is one."""
import re
import sys

from functions import sources

FOLDERS = ['graph', 'kernel', 'ops', 'passes', 'program', 'interpret', 'memory', 'target', 'elaborate', 'syntax']
PATTERN = re.compile(r'<<\s*10\b|\balign_64\b|\w*(?:CACHE|cache_?bytes|LANES|lanes|VECTOR|vector_bytes|REGISTER|GFLOP|'
                     r'gflop|flops_a_|PANEL|TILE_)\w*\s*=\s*-?[0-9.]|[A-Z_]*(?:ALIGNMENT|alignment)\s*=\s*[0-9]')

mistakes = [f'{file}:{text.count(chr(10), 0, found.start()) + 1}: "{found.group(0)}" belongs into a target (compiler/target/target.h)'
            for file, text in sources(sys.argv[1], *('compiler/' + folder for folder in FOLDERS))
            for found in PATTERN.finditer(text)]
print('\n'.join(mistakes), end='\n' if mistakes else '')
sys.exit(1 if mistakes else 0)
