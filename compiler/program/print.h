/* Parts of a Program as text. */
#ifndef NNC_PROGRAM_PRINT_H
#define NNC_PROGRAM_PRINT_H

#include "program/program.h"

void program_print_buffers(Text *text, const Program *program);
void program_print_entry(Text *text, const Program *program, EntryKind kind);

#endif
