/* The commands of nnc, one file each; the result is the exit status. */
#ifndef NNC_DRIVER_COMMANDS_H
#define NNC_DRIVER_COMMANDS_H

#include "driver/options.h"
#include "elaborate/elaborate.h"
#include "support/diagnostics.h"
#include "support/outputs.h"
#include "support/text.h"

int command_compile(Arena *arena, const Options *options);
int command_check(Arena *arena, const Options *options);
int command_format(Arena *arena, const Options *options);
int command_doc(Arena *arena, const Options *options);
int command_lsp(Arena *arena, const Options *options);
int command_diff_parameters(Arena *arena, const Options *options);

/* Reads a source file; explains on standard error why it cannot and returns NULL. */
SourceFile *driver_read(Arena *arena, const char *path);
/* Prints and returns whether there were errors. */
bool driver_report(const Diagnostics *diagnostics, const Options *options);
/* Writes text to a file (NULL or "-": standard output), which is none of the inputs; false with a
 * message on failure. */
bool driver_write(Arena *arena, const InputFiles *inputs, const char *path, Made made,
                  const Text *text);
/* The -D options, split at '='. */
Definition *driver_definitions(Arena *arena, const Options *options);
/* "-D width=32 -D 'train.optimizer=adam(lr = 1e-3)'", by name. */
const char *driver_definitions_text(Arena *arena, const Options *options);

#endif
