/* Large blocks straight from the kernel: zeroed, aligned to 2 MB when large, huge pages
 * advised. */
#ifndef NNC_MEMORY_H
#define NNC_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct nnc_block {
  char *base; /* aligned to 64 bytes at least */
  void *map;  /* what munmap takes */
  size_t map_bytes;
} nnc_block;

/* False with a message that tells the size and what it was for ("the arena"). */
bool nnc_block_take(nnc_block *block, int64_t bytes, const char *purpose);
void nnc_block_free(nnc_block *block);

/* "1.50 MB" in a buffer of at least 24 bytes, which is returned. */
const char *nnc_format_bytes(char *buffer, double bytes);
enum { NNC_FORMAT_BYTES = 24 };

/* Bytes of this process that are in memory now; -1: the system does not tell. */
int64_t nnc_memory_resident(void);

/* A file in memory, without a name, to be written and read; -1, with errno. */
int nnc_memory_file(void);

#endif
