/* Names of files with a range in braces: "train-{000..127}.tar". */
#ifndef NNC_DATA_PATTERNS_H
#define NNC_DATA_PATTERNS_H

#include "data/call.h"

typedef struct DataPattern {
  const char *text;
  int before, after; /* where the braces are */
  int64_t first;
  int digits;    /* at least */
  int64_t count; /* of names; 1 without braces */
} DataPattern;

int data_pattern_open(const DataContext *context, const char *text, DataPattern *pattern);
char *data_pattern_name(const DataPattern *pattern, int64_t index); /* NULL: no memory */

#endif
