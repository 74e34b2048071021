/* The distinct texts of a column or list, numbered in the order of their first appearance. */
#ifndef NNC_DICTIONARY_H
#define NNC_DICTIONARY_H

#include <stdint.h>

typedef struct nnc_dictionary {
  int32_t count, capacity;
  char **words;       /* in the order of their first appearance */
  int64_t *lines;     /* of that appearance in the file */
  int32_t *slots;     /* open addressing: index + 1, 0 when free */
  int32_t slot_count; /* a power of two, over twice `count` */
} nnc_dictionary;

/* A word that is added holds no zero byte; one that is looked for may, and is not there. */
int32_t nnc_dictionary_add(nnc_dictionary *dictionary, const char *word, int64_t length,
                           int64_t line); /* -1: no memory */
int32_t nnc_dictionary_find(const nnc_dictionary *dictionary, const char *word,
                            int64_t length); /* -1: it is not there */
void nnc_dictionary_free(nnc_dictionary *dictionary);

#endif
