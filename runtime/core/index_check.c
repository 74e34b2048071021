/* Indices outside of their axis, found while an entry runs: index_check.h.
 *
 * Workers go on, since barriers wait for them, and the value is read from the nearest element. Which
 * index is told does not depend on the number of workers: the first place's first element. */
#include "core/index_check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "os/assert.h"
#include "os/message.h"
#include "nnc_check_index.h"
#include "nnc_model.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_found;
static struct { int64_t place, number, index; } first;

void nnc_index_outside(int64_t place, int64_t number, int64_t index) {
  pthread_mutex_lock(&lock);
  if (!is_found || place < first.place || (place == first.place && number < first.number)) {
    first.place = place;
    first.number = number;
    first.index = index;
  }
  is_found = true;
  pthread_mutex_unlock(&lock);
}

/* "[3, 2]" of element 17 of [8, 5]; "" of a tensor without axes. */
static const char *element_text(char text[256], const nnc_index_place *place, int64_t number) {
  int64_t at[NNC_MAX_RANK];
  size_t length = 0;
  for (int i = place->rank - 1; i >= 0; i--) {
    at[i] = number % place->dim[i];
    number /= place->dim[i];
  }
  text[0] = 0;
  for (int i = 0; i < place->rank; i++)
    length += (size_t)snprintf(text + length, 256 - length, "%s%lld", i ? ", " : " at [",
                               (long long)at[i]);
  if (place->rank > 0) snprintf(text + length, 256 - length, "]");
  return text;
}

bool nnc_index_check_failed(const nnc_model *model, int64_t step, int64_t example) {
  char element[256], when[64];
  if (!atomic_load(&is_found)) return false;
  NNC_ASSERT(first.place >= 0 && first.place < model->index_place_count);
  const nnc_index_place *place = &model->index_places[first.place];
  if (step > 0) snprintf(when, sizeof when, "step %lld", (long long)step);
  else snprintf(when, sizeof when, "the batch from example %lld on", (long long)example);
  nnc_error("%s:%d:%d: index %lld%s is outside of axis %d of extent %lld, in %s of '%s', in %s",
            model->file, place->line, place->column, (long long)first.index,
            element_text(element, place, first.number), place->axis, (long long)place->extent,
            place->taker, place->path, when);
  return true;
}
