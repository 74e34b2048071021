/* What --cache keeps of files, so that they are decoded once: `--cache SIZE[,encoded][,in=FILE]`.
 *
 * There is one cache in the process, for all sets that decode files. It fills as rows are read, until SIZE is reached,
 * and gives nothing up again: an epoch reads every row once, so whatever were given up would be missed as soon as
 * what came for it. It does not know what it keeps: items have names, notes and bytes. Those of a file are what somebody
 * wrote there: whoever takes an item holds its notes and its size against each other before it asks for the bytes. */
#ifndef NNC_DATA_CACHE_H
#define NNC_DATA_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "data/digest.h"
#include "data/scratch.h"
#include "os/message.h"

enum { DATA_CACHE_NOTES = 8 };

typedef struct DataCacheItem {
  DataDigest key;     /* of the file's name and of what was done with its content */
  DataDigest content; /* of the file's bytes */
  uint64_t identity;  /* of the file as it was when it was read; 0: it must be read to know */
  int64_t notes[DATA_CACHE_NOTES]; /* of whoever keeps it */
  int64_t size;                    /* of its bytes */
  DataDigest stored;               /* of its bytes, where a file has them */
  union {
    const unsigned char *bytes; /* in memory */
    int64_t at;                 /* in the cache's file */
  };
} DataCacheItem;

/* Reads what --cache says, before any row is read; -1 with a message. What is said again changes nothing. */
int data_cache_open(const char *text, char message[NNC_MESSAGE]);

bool data_cache_is_open(void);
/* Whether the bytes of files are kept as they are, not what they decode to. */
bool data_cache_keeps_files(void);

/* The item of that key; false: there is none. */
bool data_cache_find(const DataDigest *key, DataCacheItem *item);
/* Its bytes; NULL where the file that has them is damaged. Those of a file are the thread's, until the next call. */
const unsigned char *data_cache_bytes(const DataCacheItem *item, DataScratch *scratch);
/* The file is still as it was; its identity is now this. */
void data_cache_confirm(const DataDigest *key, uint64_t identity);

/* Room for so many bytes, to be filled and then added or given back; NULL: there is none. */
unsigned char *data_cache_claim(int64_t size, DataScratch *scratch);
/* Adds an item whose bytes were claimed, in place of one of its key; its bytes stay as they are. */
void data_cache_add(DataCacheItem *item, unsigned char *bytes);
void data_cache_give_back(int64_t size, unsigned char *bytes);

#endif
