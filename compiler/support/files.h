/* Files as wholes. All functions are false with errno. */
#ifndef NNC_SUPPORT_FILES_H
#define NNC_SUPPORT_FILES_H

#include <stdbool.h>
#include "support/arena.h"
#include "support/text.h"

bool file_read(const char *path, Text *text);
/* Appends what is left of an open file; EFBIG where the text would have more than `most` bytes. */
bool file_read_rest(int file, Text *text, size_t most);
/* Into the file that is there; else makes one of that mode. Devices and pipes take the bytes, too. */
bool file_write(const char *path, unsigned mode, const char *bytes, size_t count);
/* Under another name first, then renamed: readers see the old file or the new one. */
bool file_replace(Arena *arena, const char *path, unsigned mode, const char *bytes, size_t count);

/* Whether a file that begins so is an executable, or a part of one. */
bool file_begins_executable(const char *bytes, size_t count);

/* Where the program that runs lies; NULL where that cannot be told. */
const char *path_of_program(Arena *arena);
/* The path as an argument of another program: one that begins with '-' is no option and one that
 * begins with '@' no list of arguments. */
const char *path_for_program(Arena *arena, const char *path);

#endif
