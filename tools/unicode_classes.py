#!/usr/bin/env python3
"""Writes runtime/text/unicode_classes.h: which characters of Unicode are letters (general categories L*), numbers (N*)
and white space (the property White_Space: Z* and six control characters). They are those of Unicode 16, which the packages
tokenizers 0.23 and tiktoken 0.14 know; older Pythons have older ones, so a package has them.

    pip install unicodedata2==16.0.0
    tools/unicode_classes.py > runtime/text/unicode_classes.h
"""
import unicodedata2 as unicodedata

OTHER, LETTER, NUMBER, SPACE = range(4)


def class_of(code):
    category = unicodedata.category(chr(code))
    if category[0] == "L":
        return LETTER
    if category[0] == "N":
        return NUMBER
    return SPACE if category[0] == "Z" or 9 <= code <= 13 or code == 0x85 else OTHER


starts, last = [], None
for code in range(0x110000):
    now = class_of(code)
    if now != last:
        starts.append(code << 2 | now)
    last = now

print(f"""/* Classes of characters, of Unicode {unicodedata.unidata_version}; tools/unicode_classes.py writes this file.
 *
 * Each number is where a run of characters of one class begins, times 4, and the class. */
#ifndef NNC_UNICODE_CLASSES_H
#define NNC_UNICODE_CLASSES_H

#include <stdint.h>

enum nnc_unicode_class {{
  NNC_UNICODE_OTHER,
  NNC_UNICODE_LETTER,
  NNC_UNICODE_NUMBER,
  NNC_UNICODE_SPACE
}};

/* clang-format off */
static const uint32_t nnc_unicode_runs[{len(starts)}] = {{""")
line = " "
for start in starts:
    word = f" 0x{start:x},"
    if len(line) + len(word) > 100:
        print(line)
        line = " "
    line += word
print(line)
print("""};
/* clang-format on */

#endif""")
