/* What would help a run that waits for rows that are made: by the kind of work that takes most of their time. */
#include "data/advice.h"

#include <stdbool.h>
#include <stdio.h>

#include "data/cache.h"
#include "data/read.h"
#include "os/message.h"

/* What --cache could do; it keeps what is decoded, or the files. */
static const char *cache_help(enum nnc_data_work most, double cached) {
  if (!data_cache_is_open())
    return most == NNC_DATA_READING ? "--cache SIZE,encoded keeps the files in memory"
                                    : "--cache SIZE keeps what is decoded";
  if (cached < 0.9) return "a larger --cache has room for more of it";
  return most == NNC_DATA_DECODING ? "a resize before the stages that draw is kept in the cache"
                                   : "smaller pictures take less";
}

void data_advice(const nnc_data_spent *spent, char *text, size_t size) {
  static const char *const works[NNC_DATA_WORKS] = {"reading files", "decoding",
                                                    "scaling and cutting", "converting"};
  double sum = 0;
  enum nnc_data_work most = NNC_DATA_READING;
  for (int w = 0; w < NNC_DATA_WORKS; w++) {
    sum += spent->seconds[w];
    if (spent->seconds[w] > spent->seconds[most]) most = (enum nnc_data_work)w;
  }
  if (spent->rows == 0 || sum <= 0) return;
  double cached = (double)spent->cached / (double)spent->rows;
  snprintf(text, size,
           ": a row takes %.2f ms of one of %d threads, %.0f%% of it for %s; %s, and 'bench "
           "--data-only' measures it",
           sum * 1e3 / (double)spent->rows, spent->threads, 100 * spent->seconds[most] / sum,
           works[most], cache_help(most, cached));
}

void data_advise(const struct nnc_data *data, double wait, double seconds) {
  static const double least_wait = 0.1, least_seconds = 2;
  static bool is_told;
  char text[NNC_MESSAGE] = "";
  if (is_told || wait < least_wait || seconds < least_seconds) return;
  is_told = true;
  nnc_data_spent spent = nnc_data_spend(data);
  data_advice(&spent, text, sizeof text);
  nnc_note("training waits %.0f%% of the time for its data%s", 100 * wait, text);
}
