/* Copies to block memory that go on while their thread computes (cp.async). */
#ifndef COPIES_H
#define COPIES_H

#include <stdbool.h>

/* NNC_EMULATOR_COPIES: whether all that may go on by itself is done when it begins. */
bool copies_at_once(void);
void copies_begin_block(void);
void copies_begin(void *to, const void *from, int bytes, const char *file, int line);
void copies_group(void);
void copies_wait(int left);

#endif
