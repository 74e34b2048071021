/* What would help a run that waits for its data, where --cache could keep what is decoded. */
#include "data/advice.h"

#include <stdbool.h>
#include <stdio.h>

#include "data/cache.h"
#include "os/message.h"

/* What --cache could do; it keeps what is decoded, or the files. */
static const char *cache_help(enum nnc_data_work most, double cached) {
  if (!data_cache_is_open())
    return most == NNC_DATA_READING ? "--cache SIZE,encoded keeps the files in memory, and "
                                    : "--cache SIZE keeps what is decoded, and ";
  if (cached < 0.9) return "a larger --cache has room for more of it, and ";
  return most == NNC_DATA_DECODING
             ? "a resize before the stages that draw is kept in the cache, and "
             : "smaller pictures take less, and ";
}

void data_advice(const nnc_data_spent *spent, char *text, size_t size) {
  double cached = spent->rows ? (double)spent->cached / (double)spent->rows : 0;
  data_advice_with(spent, cache_help(data_most_work(spent), cached), text, size);
}

void data_advise(const struct nnc_data *data, double wait, double seconds) {
  data_advise_by(data, wait, seconds, data_advice);
}
