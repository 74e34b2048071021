/* Lists of rows that are left out: see skipped.h. */
#include "data/skipped.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "os/assert.h"
#include "os/message.h"

enum { TOLD_BY_NAME = 10 };

struct nnc_skipped {
  pthread_mutex_t mutex;
  int64_t examples;
  unsigned char *is_known; /* [examples] */
  int64_t count;
  char **reasons; /* [count] in the order in which they were met; NULL: no memory for it */
  int64_t told, put;
};

nnc_skipped *nnc_skipped_open(int64_t examples) {
  nnc_skipped *skipped = calloc(1, sizeof *skipped);
  unsigned char *is_known = calloc((size_t)examples + 1, 1);
  char **reasons = calloc((size_t)examples + 1, sizeof *reasons);
  if (skipped && is_known && reasons && pthread_mutex_init(&skipped->mutex, NULL) == 0) {
    skipped->examples = examples;
    skipped->is_known = is_known;
    skipped->reasons = reasons;
    return skipped;
  }
  free(skipped);
  free(is_known);
  free(reasons);
  return NULL;
}

void nnc_skipped_close(nnc_skipped *skipped) {
  if (!skipped) return;
  for (int64_t i = 0; i < skipped->count; i++) free(skipped->reasons[i]);
  pthread_mutex_destroy(&skipped->mutex);
  free(skipped->is_known);
  free(skipped->reasons);
  free(skipped);
}

void nnc_skipped_add(nnc_skipped *skipped, int64_t example, const char *reason) {
  pthread_mutex_lock(&skipped->mutex);
  NNC_ASSERT(example >= 0 && example < skipped->examples);
  if (!skipped->is_known[example]) skipped->reasons[skipped->count++] = strdup(reason);
  skipped->is_known[example] = 1;
  pthread_mutex_unlock(&skipped->mutex);
}

int64_t nnc_skipped_count(nnc_skipped *skipped) {
  if (!skipped) return 0;
  pthread_mutex_lock(&skipped->mutex);
  int64_t count = skipped->count;
  pthread_mutex_unlock(&skipped->mutex);
  return count;
}

/* Below the count nothing changes any more. */
static const char *reason_at(const nnc_skipped *skipped, int64_t i) {
  return skipped->reasons[i] ? skipped->reasons[i] : "a file that no memory was left to name";
}

void nnc_skipped_tell(nnc_skipped *skipped) {
  int64_t count = nnc_skipped_count(skipped);
  if (count == 0 || count == skipped->told) return;
  for (int64_t i = skipped->told; i < count && i < TOLD_BY_NAME; i++)
    nnc_warning("%s; it is skipped", reason_at(skipped, i));
  if (count > TOLD_BY_NAME && skipped->told <= TOLD_BY_NAME)
    nnc_warning("more than %d files are skipped; the log has the names of all", TOLD_BY_NAME);
  skipped->told = count;
}

void nnc_skipped_put(nnc_skipped *skipped, const char *set, FILE *file) {
  int64_t count = nnc_skipped_count(skipped);
  nnc_json_put_string(file, set);
  fprintf(file, ":{\"count\":%lld,\"files\":[", (long long)count);
  for (int64_t i = skipped ? skipped->put : 0; i < count; i++) {
    if (i > skipped->put) fputc(',', file);
    nnc_json_put_string(file, reason_at(skipped, i));
  }
  if (skipped) skipped->put = count;
  fputs("]}", file);
}
