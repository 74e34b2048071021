/* The device of device.h that is this machine's processors: one arena, in which a tensor lies at its
 * offset, row-major but for variables with their channels last (core/layout.h), and the pool. */
#include "core/device.h"

#include <stdlib.h>
#include <string.h>

#include "core/layout.h"
#include "core/number.h"
#include "core/planned.h"
#include "core/pool.h"
#include "os/assert.h"
#include "os/memory.h"
#include "os/message.h"

enum { ALIGNMENT = 64 }; /* of every offset */

struct nnc_device {
  const nnc_model *model;
  nnc_block arena;
  int64_t arena_bytes;
  nnc_pool *pool;
  int workers;
  const nnc_entry *kept; /* whose kernels find the weights that they keep; NULL: none */
};

bool nnc_device_has_number(void) { return false; }

bool nnc_device_describe(const nnc_model *model, int number, char *text) {
  (void)model;
  (void)number;
  (void)text;
  return false;
}

bool nnc_device_name(const nnc_model *model, int number, char *name) {
  (void)model;
  (void)number;
  (void)name;
  return false;
}

const char *nnc_device_architecture(int index) {
  (void)index;
  return NULL;
}

/* The workers' own blocks: at the end of all memory, where the fewest phases have values. */
static nnc_blocks place_blocks(const nnc_model *model, int workers) {
  const int64_t each = (model->worker_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (model->workspace_count == 0) return (nnc_blocks){model->arena_bytes, each};
  return (nnc_blocks){nnc_planned_bytes(model, workers) - workers * each, each};
}

nnc_device *nnc_device_open(const nnc_model *model, int workers, int number) {
  (void)number; /* there is one */
  nnc_device *device = calloc(1, sizeof *device);
  if (!device) {
    nnc_error("cannot allocate the device");
    return NULL;
  }
  device->model = model;
  device->workers = workers;
  device->arena_bytes = model->arena_bytes;
  const nnc_blocks blocks = place_blocks(model, workers);
  NNC_ASSERT(blocks.at >= 0 && blocks.at % ALIGNMENT == 0);
  if (nnc_block_take(&device->arena, blocks.at + workers * blocks.bytes, "the model's arena"))
    device->pool = nnc_pool_create(workers, device->arena.base, blocks);
  if (device->pool) return device;
  nnc_device_close(device);
  return NULL;
}

void nnc_device_close(nnc_device *device) {
  if (!device) return;
  nnc_pool_destroy(device->pool);
  nnc_block_free(&device->arena);
  free(device);
}

int nnc_device_workers(const nnc_device *device) { return device->workers; }

/* --- Running -------------------------------------------------------------------------------- */

/* For `profile`: workers with nothing to do wait for worker 0 from its first step on. */
static void mark_idle(nnc_device *device, const nnc_entry *entry) {
  const int64_t *first = nnc_pool_worker(device->pool, 0)->marks;
  for (int w = 1; first && w < device->workers; w++)
    for (int i = 0; i <= entry->step_count; i++)
      nnc_pool_worker(device->pool, w)->marks[i] = first[0];
}

/* To wake the other workers costs more than a small entry, as for the prediction of one example, and a
 * busy machine lets them come late each time. */
void nnc_device_run(nnc_device *device, const nnc_entry *entry, const nnc_run *run) {
  NNC_ASSERT(entry->run && run->step >= 0 && run->example >= 0);
  for (int w = 0; w < device->workers; w++) {
    nnc_worker *worker = nnc_pool_worker(device->pool, w);
    worker->scalars = run->scalars;
    worker->seed = run->seed;
    worker->step = (uint64_t)run->step;
    worker->example = (uint64_t)run->example;
    worker->fills = device->kept != entry;
  }
  device->kept = entry; /* in memory that other entries use, too */
  nnc_onlooker *onlooker = nnc_pool_worker(device->pool, 0)->onlooker;
  if (onlooker) {
    onlooker->begin(onlooker, entry);
    nnc_pool_run_alone(device->pool, entry->run);
    return;
  }
  if (entry->is_for_all) {
    nnc_pool_run(device->pool, entry->run);
    return;
  }
  nnc_pool_run_alone(device->pool, entry->run);
  mark_idle(device, entry);
}

/* Inputs are where the data are. */
bool nnc_device_keep(nnc_device *device, int count, const nnc_rows *rows, int64_t group) {
  (void)group;
  (void)device;
  (void)count;
  (void)rows;
  return false;
}

int64_t nnc_device_kept_bytes(const nnc_device *device) {
  (void)device;
  return 0;
}

/* A run has ended when nnc_device_run returns. */
void nnc_device_wait(const nnc_device *device) { (void)device; }

void nnc_device_mark(nnc_device *device, int64_t *marks, int64_t stride) {
  for (int w = 0; w < device->workers; w++)
    nnc_pool_worker(device->pool, w)->marks = marks ? marks + w * stride : NULL;
}

/* One worker does all: the bits are the same. */
void nnc_device_watch(nnc_device *device, nnc_onlooker *onlooker) {
  static int64_t no_marks; /* that nobody writes */
  nnc_worker *worker = nnc_pool_worker(device->pool, 0);
  worker->onlooker = onlooker;
  worker->marks = onlooker ? &no_marks : NULL;
}

void nnc_device_peek(const nnc_device *device, bool is_in_block, int64_t offset, int64_t bytes,
                     void *to) {
  const char *base = is_in_block ? nnc_pool_worker(device->pool, 0)->scratch : device->arena.base;
  NNC_ASSERT(offset >= 0 && (is_in_block || offset + bytes <= device->arena_bytes));
  memcpy(to, base + offset, (size_t)bytes);
}

/* --- Memory --------------------------------------------------------------------------------- */

static char *place_of(const nnc_device *device, const nnc_tensor *tensor) {
  NNC_ASSERT(tensor->offset >= 0 && tensor->offset % ALIGNMENT == 0);
  NNC_ASSERT(tensor->offset + nnc_tensor_bytes(tensor) <= device->arena_bytes);
  return device->arena.base + tensor->offset;
}

static bool is_among(const nnc_tensor *tensor, const nnc_tensor *list, int count) {
  for (int i = 0; i < count; i++)
    if (tensor->offset == list[i].offset) return true;
  return false;
}

/* What is written may be a parameter, or lie where weights are kept; the entry's own inputs and states of streams
 * are neither. */
static void forget_kept(nnc_device *device, const nnc_tensor *tensor) {
  if (!device->kept || is_among(tensor, device->kept->inputs, device->kept->input_count)) return;
  for (int i = 0; i < device->model->variable_count; i++)
    if (device->model->variables[i].kind == NNC_STREAM &&
        is_among(tensor, &device->model->variables[i].tensor, 1))
      return;
  device->kept = NULL;
}

static bool has_elements(const nnc_tensor *tensor, int64_t from, int64_t count) {
  return from >= 0 && count >= 0 && from + count <= nnc_tensor_elements(tensor);
}

void nnc_device_read(const nnc_device *device, const nnc_tensor *tensor, int64_t from,
                     int64_t count, void *to) {
  int64_t size = nnc_dtype_size(tensor->dtype);
  NNC_ASSERT(has_elements(tensor, from, count));
  if (nnc_layout_is_turned(device->model, tensor)) {
    const char *place = place_of(device, tensor);
    for (int64_t i = 0; i < count; i++)
      memcpy((char *)to + i * size, place + nnc_layout_place(tensor, from + i) * size,
             (size_t)size);
    return;
  }
  memcpy(to, place_of(device, tensor) + from * size, (size_t)(count * size));
}

void nnc_device_write(nnc_device *device, const nnc_tensor *tensor, int64_t from, int64_t count,
                      const void *values) {
  int64_t size = nnc_dtype_size(tensor->dtype);
  NNC_ASSERT(has_elements(tensor, from, count));
  forget_kept(device, tensor);
  if (nnc_layout_is_turned(device->model, tensor)) {
    char *place = place_of(device, tensor);
    for (int64_t i = 0; i < count; i++)
      memcpy(place + nnc_layout_place(tensor, from + i) * size, (const char *)values + i * size,
             (size_t)size);
    return;
  }
  memcpy(place_of(device, tensor) + from * size, values, (size_t)(count * size));
}

double nnc_device_number(const nnc_device *device, const nnc_tensor *tensor) {
  char value[8];
  nnc_device_read(device, tensor, 0, 1, value);
  return nnc_number_get(tensor->dtype, value, 0);
}

int64_t nnc_device_under_way(const nnc_device *device) {
  (void)device;
  return 0;
}

int64_t nnc_device_behind(const nnc_device *device) {
  (void)device;
  return 0;
}

double nnc_device_left(const nnc_device *device, int64_t run, const nnc_tensor *tensor) {
  (void)run; /* the last */
  return nnc_device_number(device, tensor);
}

/* In place: it is an input. */
void *nnc_device_begin_write(nnc_device *device, const nnc_tensor *tensor) {
  NNC_ASSERT(!nnc_layout_is_turned(device->model, tensor));
  forget_kept(device, tensor);
  return place_of(device, tensor);
}

void nnc_device_end_write(nnc_device *device, const nnc_tensor *tensor) {
  (void)device;
  (void)tensor;
}
