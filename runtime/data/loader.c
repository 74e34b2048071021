/* Batches: the way through epochs, and the thread that prepares batches ahead.
 *
 * A batch is a function of (epoch, index) alone: its examples are a slice of the epoch's
 * permutation, which is drawn from (seed, epoch).  So a position is two numbers, and seeking needs
 * no replay.
 *
 * With prefetching, a thread fills a ring of slots and the consumer copies out of it.  Both sides
 * share three counters under one mutex: `filled` and `taken` count batches since the last seek,
 * and `generation` counts seeks, so that a batch under way during a seek is thrown away.  The
 * thread is woken when half of the ring is empty, not for every batch. */
#include "data/loader.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "core/number.h"
#include "data/call.h"
#include "data/examples.h"
#include "data/near.h"
#include "data/read.h"
#include "data/rows.h"
#include "data/sampling.h"
#include "data/set.h"
#include "data/table.h"
#include "data/visit.h"
#include "os/assert.h"
#include "os/buffer.h"
#include "os/clock.h"
#include "os/thread.h"

enum { DEFAULT_PREFETCH = NNC_BUFFER(2, 1), NAMES_PREFETCH = NNC_BUFFER(64, 1), ALIGNMENT = 64 };

/* Where one side is: its position, and the order of its epoch. */
typedef struct Place {
  int64_t epoch, index;
  int64_t ordered_epoch; /* whose permutation `order` holds; -1: none */
} Place;

struct nnc_loader {
  const nnc_data *data;
  nnc_loader_options options;
  int64_t batches;  /* in an epoch */
  uint32_t *order;  /* of the epoch being prepared; NULL: no shuffling */
  uint32_t *drawn;  /* for drawing examples; NULL: each comes once */
  DataNear near;    /* how far examples move; of `pieces` */
  uint32_t *pieces; /* of the set, in the epoch's order; NULL: all examples are shuffled at once */
  uint32_t *picked; /* the examples of a batch that wraps; NULL when none does */
  Place maker;      /* of what is prepared next */
  Place taker;      /* of what is delivered next */
  int64_t waited;   /* nanoseconds that the consumer was in nnc_loader_next */

  int slots;  /* 0: no thread */
  char *ring; /* slots * slot_bytes */
  int64_t slot_bytes;
  int inputs;           /* that are delivered */
  int64_t *input_bytes; /* of a whole batch, an input each, rounded up */
  void **slot_inputs;   /* [slots][inputs] */
  nnc_batch *made;      /* [slots] */

  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t has_room, has_batch;
  int64_t filled, taken, generation;
  bool ends;
  char failure[NNC_MESSAGE]; /* of the first batch that could not be made */
};

nnc_loader_options nnc_loader_training(const nnc_model *model, const nnc_data *data) {
  nnc_loader_options options = {.batch = model->batch,
                                .tail = NNC_TAIL_DROP,
                                .shuffle = 1,
                                .seed = model->seed,
                                .prefetch = NNC_PREFETCH_DEFAULT};
  for (int i = 0; i < model->data_set_count; i++)
    if (strcmp(model->data_sets[i].name, data->name) == 0) {
      int order = model->data_sets[i].order;
      options.shuffle = order == NNC_ORDER_SHUFFLED || order == NNC_ORDER_WITHIN;
      options.within = model->data_sets[i].within;
      if (model->data_sets[i].wrap_tail) options.tail = NNC_TAIL_WRAP;
    }
  return options;
}

/* --- making a batch -------------------------------------------------------------------------- */

static void advance(const nnc_loader *loader, Place *place) {
  if (++place->index < loader->batches) return;
  place->index = 0;
  place->epoch++;
}

static void name_examples(const DataExamples *examples, uint32_t *names) {
  if (examples->list) memcpy(names, examples->list, (size_t)examples->count * sizeof *names);
  for (int64_t i = 0; !examples->list && i < examples->count; i++)
    names[i] = (uint32_t)(examples->first + i);
}

static nnc_batch make_batch(nnc_loader *loader, void *const *inputs) {
  Place *place = &loader->maker;
  int64_t total = loader->data->count, size = loader->options.batch;
  if (loader->order && place->ordered_epoch != place->epoch) {
    uint64_t stream = DATA_STREAM_EPOCH + (uint64_t)place->epoch;
    if (loader->drawn)
      loader->data->sampling->order(loader->data->sampling, loader->options.seed, stream,
                                    loader->drawn, loader->order);
    else if (loader->pieces)
      data_near_permutation(loader->options.seed, stream, &loader->near, loader->pieces,
                            loader->order);
    else data_permutation(loader->options.seed, stream, total, loader->order);
    place->ordered_epoch = place->epoch;
  }
  int64_t first = place->index * size;
  NNC_ASSERT(place->index >= 0 && place->index < loader->batches && first < total);
  nnc_batch batch = {place->epoch, place->index, size};
  DataExamples examples = {loader->order ? loader->order + first : NULL, first, size};
  if (first + size > total && loader->options.tail == NNC_TAIL_KEEP) {
    batch.count = examples.count = total - first;
  } else if (first + size > total) {
    for (int64_t i = 0; i < size; i++) {
      int64_t example = (first + i) % total;
      loader->picked[i] = loader->order ? loader->order[example] : (uint32_t)example;
    }
    examples.list = loader->picked;
  }
  DataVisit visit = {.seed = loader->options.seed, .epoch = place->epoch, .draws = true};
  char message[NNC_MESSAGE];
  if (loader->options.names) {
    name_examples(&examples, inputs[0]);
  } else if (data_gather(loader->data, &examples, &visit, inputs, message) < 0) {
    if (!loader->failure[0]) memcpy(loader->failure, message, sizeof message);
    batch.count = -1;
  }
  advance(loader, place);
  return batch;
}

/* --- the thread ------------------------------------------------------------------------------ */

static void *prepare(void *argument) {
  nnc_loader *loader = argument;
  int64_t generation = 0;
  pthread_mutex_lock(&loader->mutex);
  while (!loader->ends) {
    if (generation != loader->generation) { /* a seek: start from where it points */
      generation = loader->generation;
      loader->maker.epoch = loader->taker.epoch;
      loader->maker.index = loader->taker.index;
    }
    if (loader->filled - loader->taken == loader->slots) {
      pthread_cond_wait(&loader->has_room, &loader->mutex);
      continue;
    }
    NNC_ASSERT(loader->filled >= loader->taken && loader->filled - loader->taken < loader->slots);
    int slot = (int)(loader->filled % loader->slots);
    void **inputs = loader->slot_inputs + slot * loader->inputs;
    pthread_mutex_unlock(&loader->mutex);
    nnc_batch batch = make_batch(loader, inputs);
    pthread_mutex_lock(&loader->mutex);
    if (generation != loader->generation) continue; /* made for the old place */
    loader->made[slot] = batch;
    loader->filled++;
    pthread_cond_signal(&loader->has_batch);
  }
  pthread_mutex_unlock(&loader->mutex);
  return NULL;
}

/* A batch's bytes of an input that is delivered; false: they are too many. */
static bool find_bytes(const nnc_loader *loader, int input, int64_t *bytes) {
  const DataField *field = loader->options.names ? NULL : loader->data->fields[input];
  *bytes = field ? field->width * nnc_dtype_size(field->input->dtype) : (int64_t)sizeof(uint32_t);
  return (field && !field->batched) || nnc_multiply(*bytes, loader->options.batch, bytes);
}

static bool allocate_ring(nnc_loader *loader, int slots) {
  int64_t inputs = loader->inputs;
  loader->input_bytes = calloc((size_t)inputs + 1, sizeof *loader->input_bytes);
  loader->slot_inputs = calloc((size_t)(inputs * slots) + 1, sizeof *loader->slot_inputs);
  loader->made = calloc((size_t)slots, sizeof *loader->made);
  if (!loader->input_bytes || !loader->slot_inputs || !loader->made) return false;
  for (int i = 0; i < inputs; i++) {
    int64_t *bytes = &loader->input_bytes[i];
    if (!find_bytes(loader, i, bytes)) return false;
    loader->slot_bytes += (*bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
  int64_t total;
  if (!nnc_multiply(loader->slot_bytes, slots, &total)) return false;
  loader->ring = aligned_alloc(ALIGNMENT, (size_t)total + ALIGNMENT);
  if (!loader->ring) return false;
  char *at = loader->ring;
  for (int s = 0; s < slots; s++)
    for (int i = 0; i < inputs; i++) {
      loader->slot_inputs[s * inputs + i] = at;
      at += (loader->input_bytes[i] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
  return true;
}

/* --- the loader ------------------------------------------------------------------------------ */

static bool allocate(nnc_loader *loader) {
  int64_t total = loader->data->count;
  if (loader->options.shuffle) {
    loader->order = malloc((size_t)total * sizeof *loader->order);
    if (!loader->order) return false;
  }
  if (loader->options.shuffle && loader->data->sampling) {
    loader->drawn = malloc((size_t)total * sizeof *loader->drawn);
    if (!loader->drawn) return false;
  }
  if (loader->options.shuffle && loader->options.within > 0) {
    loader->near = data_near(total, loader->options.within);
    loader->pieces = malloc((size_t)loader->near.pieces * sizeof *loader->pieces);
    if (!loader->pieces) return false;
  }
  if (loader->options.tail != NNC_TAIL_WRAP) return true;
  loader->picked = malloc((size_t)loader->options.batch * sizeof *loader->picked);
  return loader->picked != NULL;
}

static void release(nnc_loader *loader) {
  free(loader->order);
  free(loader->pieces);
  free(loader->drawn);
  free(loader->picked);
  free(loader->ring);
  free(loader->input_bytes);
  free(loader->slot_inputs);
  free(loader->made);
  pthread_cond_destroy(&loader->has_batch);
  pthread_cond_destroy(&loader->has_room);
  pthread_mutex_destroy(&loader->mutex);
  free(loader);
}

/* Copying a few rows that lie in memory takes microseconds, less than waking a thread does, which takes a core from the
 * workers. */
static int choose_slots(const nnc_loader *loader) {
  enum { FEW_BYTES = NNC_BUFFER(128 << 10, 64) };
  const nnc_data *data = loader->data;
  if (data->prefetch >= 0) return data->prefetch;
  if (loader->options.names) return NAMES_PREFETCH;
  bool is_few = data_only_copies(data);
  int64_t total = 0, bytes;
  for (int i = 0; is_few && i < loader->inputs; i++) {
    is_few = find_bytes(loader, i, &bytes) && bytes <= FEW_BYTES - total;
    if (is_few) total += bytes;
  }
  return is_few ? 0 : DEFAULT_PREFETCH;
}

static nnc_loader *fail(nnc_loader *loader, const DataContext *context, const char *what,
                        int error) {
  data_fail(context, "cannot prepare batches: %s: %s", what, strerror(error));
  if (loader) release(loader);
  return NULL;
}

nnc_loader *nnc_loader_open(const nnc_data *data, const nnc_loader_options *options,
                            char message[NNC_MESSAGE]) {
  DataContext context = {.message = message};
  int64_t size = options->batch, total = data->count;
  bool drops = options->tail == NNC_TAIL_DROP;
  if (drops && total < size) {
    data_fail(&context, "%lld examples are less than one batch of %lld", (long long)total,
              (long long)size);
    return NULL;
  }
  nnc_loader *loader = calloc(1, sizeof *loader);
  if (!loader) return fail(NULL, &context, "a loader", ENOMEM);
  loader->data = data;
  loader->options = *options;
  loader->inputs = options->names ? 1 : data->entry->input_count;
  loader->batches = total / size + (!drops && total % size != 0);
  loader->maker.ordered_epoch = -1;
  int error = pthread_mutex_init(&loader->mutex, NULL);
  if (!error) error = pthread_cond_init(&loader->has_room, NULL);
  if (!error) error = pthread_cond_init(&loader->has_batch, NULL);
  if (error) { /* what was not initialized must not be destroyed */
    free(loader);
    return fail(NULL, &context, "a mutex", error);
  }
  int slots = options->prefetch == NNC_PREFETCH_DEFAULT ? choose_slots(loader) : options->prefetch;
  if (!allocate(loader) || (slots > 0 && !allocate_ring(loader, slots)))
    return fail(loader, &context, "no memory", ENOMEM);
  loader->slots = slots;
  error = slots > 0 ? nnc_thread_start(&loader->thread, -1, prepare, loader) : 0;
  if (!error) return loader;
  return fail(loader, &context, "a thread", error);
}

int64_t nnc_loader_batches(const nnc_loader *loader) { return loader->batches; }

const char *nnc_loader_failure(const nnc_loader *loader) { return loader->failure; }

static void copy_out(const nnc_loader *loader, int slot, void *const *inputs) {
  int count = loader->inputs;
  bool is_named = loader->options.names;
  const nnc_batch *batch = &loader->made[slot];
  if (batch->count < 0) return;
  NNC_ASSERT(batch->epoch == loader->taker.epoch && batch->index == loader->taker.index);
  for (int i = 0; i < count; i++) {
    int64_t bytes = loader->input_bytes[i];
    if (is_named || loader->data->fields[i]->batched)
      bytes = bytes / loader->options.batch * batch->count;
    memcpy(inputs[i], loader->slot_inputs[slot * count + i], (size_t)bytes);
  }
}

double nnc_loader_waited(const nnc_loader *loader) { return (double)loader->waited * 1e-9; }

bool nnc_loader_makes_rows(const nnc_loader *loader) {
  return !loader->options.names && loader->data->workers != NULL;
}

/* The slot stays the consumer's until `taken` moves on, so it is copied outside the lock. */
static nnc_batch take_batch(nnc_loader *loader, void *const *inputs) {
  nnc_batch batch;
  if (loader->slots == 0) {
    batch = make_batch(loader, inputs);
    loader->taker = loader->maker;
    return batch;
  }
  pthread_mutex_lock(&loader->mutex);
  while (loader->filled == loader->taken) pthread_cond_wait(&loader->has_batch, &loader->mutex);
  pthread_mutex_unlock(&loader->mutex);
  int slot = (int)(loader->taken % loader->slots);
  copy_out(loader, slot, inputs);
  batch = loader->made[slot];
  pthread_mutex_lock(&loader->mutex);
  loader->taken++;
  NNC_ASSERT(loader->taken <= loader->filled);
  advance(loader, &loader->taker);
  if (loader->filled - loader->taken <= loader->slots / 2) pthread_cond_signal(&loader->has_room);
  pthread_mutex_unlock(&loader->mutex);
  return batch;
}

nnc_batch nnc_loader_next(nnc_loader *loader, void *const *inputs) {
  int64_t start = nnc_nanoseconds_now();
  nnc_batch batch = take_batch(loader, inputs);
  loader->waited += nnc_nanoseconds_now() - start;
  return batch;
}

void nnc_loader_position(const nnc_loader *loader, int64_t *epoch, int64_t *index) {
  *epoch = loader->taker.epoch;
  *index = loader->taker.index;
}

/* The maker's place is the thread's own: it adopts the new position when it sees the generation. */
void nnc_loader_seek(nnc_loader *loader, int64_t epoch, int64_t index) {
  if (epoch < 0) epoch = 0;
  if (index < 0) index = 0;
  epoch += index / loader->batches;
  index %= loader->batches;
  pthread_mutex_lock(&loader->mutex);
  loader->taker.epoch = epoch;
  loader->taker.index = index;
  if (loader->slots == 0) {
    loader->maker.epoch = epoch;
    loader->maker.index = index;
  } else {
    loader->generation++;
    loader->taken = loader->filled;
    pthread_cond_signal(&loader->has_room);
  }
  pthread_mutex_unlock(&loader->mutex);
}

void nnc_loader_close(nnc_loader *loader) {
  if (!loader) return;
  if (loader->slots > 0) {
    pthread_mutex_lock(&loader->mutex);
    loader->ends = true;
    pthread_cond_signal(&loader->has_room);
    pthread_mutex_unlock(&loader->mutex);
    pthread_join(loader->thread, NULL);
  }
  release(loader);
}
