/* Writing the files that the user asks for without harm to those that are there.
 *
 * A file that was read, by whatever name, is never written. An existing file is replaced where nnc
 * can tell that it made it, or one like it: an executable by an executable, C by the C that nnc
 * emits. Other texts replace texts that are no source. A symbolic link leads to what is written; devices
 * and pipes take the bytes. */
#ifndef NNC_SUPPORT_OUTPUTS_H
#define NNC_SUPPORT_OUTPUTS_H

#include <stdbool.h>
#include <sys/types.h>
#include "support/arena.h"
#include "support/text.h"
#include "support/vec.h"

/* What emitted C says in its first lines. */
extern const char output_c_mark[];

typedef struct InputFile {
  dev_t device;
  ino_t number;
  const char *what; /* "the program that is compiled" */
} InputFile;

typedef struct InputFiles {
  VEC(InputFile) list;
} InputFiles;

/* Remembers a file, if it is one: no output may be it. */
void inputs_add(Arena *arena, InputFiles *inputs, const char *path, const char *what);

/* Of the texts, MADE_PROGRAM may replace a source, and two are written instead of an executable. */
typedef enum Made {
  MADE_EXECUTABLE,
  MADE_C,
  MADE_TEXT,
  MADE_PROGRAM,
  MADE_REPORT,
  MADE_GRADIENTS
} Made;

/* Whether the output may be written; false after a message on standard error. */
bool output_check(const InputFiles *inputs, const char *path, Made made);
/* Whether it is no folder and none of the inputs (NULL: none is known); false after a message. */
bool output_check_input(const InputFiles *inputs, const char *path);
/* Writes it, a regular file as a whole or not at all: false after a message. */
bool output_write(Arena *arena, const char *path, Made made, const Text *text);
/* The same for a file that was read and keeps its name, mode, owner and links. */
bool output_rewrite(Arena *arena, const char *path, const Text *text);

#endif
