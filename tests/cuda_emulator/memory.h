/* Memory of the device and pinned memory of the host: mapped by itself between pages that nothing
 * may touch, its end at the second of them, filled with 0xff, which is NaN. What is freed is never
 * mapped again, so that its use is noticed. While nothing of the device runs, the host cannot
 * reach small device memory. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>

typedef enum MemoryKind { MEMORY_DEVICE, MEMORY_PINNED } MemoryKind;

/* NULL where there is no more. */
void *memory_allocate(size_t bytes, MemoryKind kind);
/* Whether it was the begin of memory of that kind. */
bool memory_free(void *at, MemoryKind kind);
size_t memory_total(void);
size_t memory_used(void);

/* Whether all these bytes are of one piece of the device's memory; of pinned memory. */
bool memory_has(const void *at, size_t bytes, MemoryKind kind);
bool memory_is_device(const void *at); /* freed or not, or beside it */
void memory_describe(char *to, size_t size, const void *at);

/* Around whatever the device does. */
void memory_open(void);
void memory_close(void);
/* A fault if bytes around a piece of memory, which belong to nobody, have changed; the kernel has
 * just run. */
void memory_check_edges(const char *kernel);

#endif
