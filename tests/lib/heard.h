/* What is printed to standard error, for tests: it is kept in a file of a folder. */
#ifndef NNC_TESTS_HEARD_H
#define NNC_TESTS_HEARD_H

#include "support/arena.h"

void heard_begin(const char *folder);
/* What was printed since; heard_text gives it again. */
const char *heard_end(Arena *arena);
const char *heard_text(void);
/* Fails the test, with the text, where that is not in it. */
void heard_assert(const char *part);
/* Removes a folder with all that is in it. */
void heard_remove(const char *folder);

#endif
