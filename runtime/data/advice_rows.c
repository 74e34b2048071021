/* What would help a run that waits for rows that are made: by the kind of work that takes most of their time. */
#include <stdbool.h>
#include <stdio.h>

#include "data/advice.h"
#include "data/read.h"
#include "os/message.h"

enum nnc_data_work data_most_work(const nnc_data_spent *spent) {
  enum nnc_data_work most = NNC_DATA_READING;
  for (int w = 0; w < NNC_DATA_WORKS; w++)
    if (spent->seconds[w] > spent->seconds[most]) most = (enum nnc_data_work)w;
  return most;
}

void data_advice_with(const nnc_data_spent *spent, const char *help, char *text, size_t size) {
  static const char *const works[NNC_DATA_WORKS] = {"reading files", "decoding",
                                                    "scaling and cutting", "converting"};
  double sum = 0;
  enum nnc_data_work most = data_most_work(spent);
  for (int w = 0; w < NNC_DATA_WORKS; w++) sum += spent->seconds[w];
  if (spent->rows == 0 || sum <= 0) return;
  snprintf(text, size,
           ": a row takes %.2f ms of one of %d threads, %.0f%% of it for %s; %s'bench "
           "--data-only' measures it",
           sum * 1e3 / (double)spent->rows, spent->threads, 100 * spent->seconds[most] / sum,
           works[most], help);
}

void data_advice_plain(const nnc_data_spent *spent, char *text, size_t size) {
  data_advice_with(spent, "", text, size);
}

void data_advise_by(const struct nnc_data *data, double wait, double seconds, DataAdvice *advice) {
  static const double least_wait = 0.1, least_seconds = 2;
  static bool is_told;
  char text[NNC_MESSAGE] = "";
  if (is_told || wait < least_wait || seconds < least_seconds) return;
  is_told = true;
  nnc_data_spent spent = nnc_data_spend(data);
  advice(&spent, text, sizeof text);
  nnc_note("training waits %.0f%% of the time for its data%s", 100 * wait, text);
}
