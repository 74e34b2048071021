/* Kernels as a text that reads back: what kernel_print writes, with the names and the comment in
 * quotes. */
#ifndef NNC_KERNEL_TEXTUAL_H
#define NNC_KERNEL_TEXTUAL_H

#include "graph/dump_reader.h"
#include "kernel/kernel.h"

void kernel_print_whole(Text *text, const Kernel *kernel);
/* The form alone is checked here, and that numbers name what there is; the rest kernel_verify tells.
 * False after an error. */
bool kernel_read(Reader *reader, Kernel *kernel);

#endif
