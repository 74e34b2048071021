/* Barriers in block memory that count threads and bytes (mbarrier). */
#ifndef PHASES_H
#define PHASES_H

#include <stdint.h>

void phases_begin_block(void);
void phases_do(int what, void *barrier, int64_t value, const char *file, int line);
/* Bytes have arrived that a box brought. */
void phases_receive(const void *barrier, int bytes, const char *file, int line);
/* A fault if a box may not use it yet. */
void phases_check(const void *barrier, const char *file, int line);

#endif
