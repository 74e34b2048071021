/* The device of core/device.h that is an NVIDIA GPU: one arena in its memory, and entries that are
 * graphs of kernels.
 *
 * All that concerns the arena goes through one stream, in the order in which the host asked for it; the
 * host waits only where it reads. Nothing is allocated after the device was opened, but for the graph of
 * an entry when it first runs. */
#include "core/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/layout.h"
#include "core/number.h"
#include "cuda/code.h"
#include "cuda/failure.h"
#include "cuda/gpu.h"
#include "cuda/group.h"
#include "cuda/kept.h"
#include "cuda/library.h"
#include "cuda/measure.h"
#include "cuda/numbers.h"
#include "cuda/play.h"
#include "cuda/slots.h"
#include "cuda/staging.h"
#include "cuda/transfer.h"
#include "cuda/turned.h"
#include "nnc_check_index.h"
#include "nnc_cuda_program.h"
#include "os/assert.h"
#include "os/exit.h"
#include "os/memory.h"
#include "os/message.h"

enum { ALIGNMENT = 64 }; /* of every offset */

struct nnc_device {
  const nnc_model *model;
  nnc_gpu gpu;
  nnc_code code;
  CuAddress arena, scratch;
  nnc_slots slots;
  nnc_kept kept;
  nnc_staging staging;
  nnc_transfer transfer;
  nnc_turned turned;
  nnc_play play;
  nnc_numbers numbers[NNC_ENTRY_COUNT];
  nnc_group group;
  /* its runs are not in the stream yet: others will go with them; NULL: there are none */
  nnc_slot *waiting;
  int64_t *marks;
  nnc_onlooker *onlooker;
};

static const nnc_entry *entry_of(const nnc_model *model, int number) {
  const nnc_entry *const entries[NNC_ENTRY_COUNT] = {
      &model->init,     &model->train,   &model->accumulate,    &model->eval,
      &model->eval_one, &model->predict, &model->predict_batch, &model->generate};
  return entries[number];
}

/* --- Opening -------------------------------------------------------------------------------- */

bool nnc_device_has_number(void) { return true; }

bool nnc_device_describe(const nnc_model *model, int number, char *text) {
  nnc_gpu gpu;
  char reason[NNC_MESSAGE], name[NNC_GPU_TEXT], memory[NNC_FORMAT_BYTES];
  const char *code;
  const nnc_cuda_library *library = nnc_the_cuda_program.library;
  if (!nnc_gpu_find(&gpu, number, reason) ||
      !(code = nnc_code_choose(&nnc_the_cuda_program, &gpu, model->file, reason))) {
    snprintf(text, NNC_MESSAGE, "computes on no device: %.960s", reason);
    return true;
  }
  snprintf(text, NNC_MESSAGE,
           "computes on %s: compute capability %d.%d, %d multiprocessors, %s of memory; runs its "
           "code for %s%s%s%s",
           nnc_gpu_text(name, &gpu), gpu.major, gpu.minor, gpu.multiprocessors,
           nnc_format_bytes(memory, (double)gpu.memory), code, library ? ", products by " : "",
           library ? library->name : "", library ? " where it is found" : "");
  return true;
}

bool nnc_device_name(const nnc_model *model, int number, char *name) {
  nnc_gpu gpu;
  char reason[NNC_MESSAGE];
  if (!nnc_gpu_find(&gpu, number, reason) ||
      !nnc_code_choose(&nnc_the_cuda_program, &gpu, model->file, reason))
    return false;
  snprintf(name, NNC_MESSAGE, "%s", gpu.name);
  return true;
}

/* The images of unit 0 have the names of all. */
const char *nnc_device_architecture(int index) {
  const nnc_cuda_program *program = &nnc_the_cuda_program;
  for (int i = 0; i < program->image_count; i++)
    if (program->images[i].unit == 0 && index-- == 0) return program->images[i].name;
  return NULL;
}

/* The bytes of the largest input of this name, if input `index` of entry `number` is the first of it. */
static int64_t largest_input(const nnc_model *model, int number, int index) {
  const char *name = entry_of(model, number)->inputs[index].name;
  int64_t largest = 0;
  for (int e = 0; e < NNC_ENTRY_COUNT; e++) {
    const nnc_entry *entry = entry_of(model, e);
    for (int i = 0; entry->run && i < entry->input_count; i++) {
      if (strcmp(entry->inputs[i].name, name) != 0) continue;
      if (e < number || (e == number && i < index)) return -1;
      int64_t bytes = nnc_tensor_bytes(&entry->inputs[i]);
      largest = bytes > largest ? bytes : largest;
    }
  }
  return largest;
}

/* What all inputs of different names hold: no run reads more. */
static int count_inputs(const nnc_model *model, int64_t *bytes) {
  int count = 0;
  *bytes = 0;
  for (int e = 0; e < NNC_ENTRY_COUNT; e++) {
    const nnc_entry *entry = entry_of(model, e);
    for (int i = 0; entry->run && i < entry->input_count; i++) {
      int64_t largest = largest_input(model, e, i);
      if (largest < 0) continue;
      *bytes += nnc_gpu_rounded(largest);
      count++;
    }
  }
  return count;
}

static bool open_numbers(nnc_device *device, int64_t *bytes) {
  *bytes = 0;
  for (int e = 0; e < NNC_ENTRY_COUNT; e++) {
    if (!nnc_numbers_open(&device->numbers[e], entry_of(device->model, e))) return false;
    if (device->numbers[e].bytes > *bytes) *bytes = device->numbers[e].bytes;
  }
  return true;
}

static bool open_code(nnc_device *device, int number) {
  char message[NNC_MESSAGE];
  const char *name = NULL;
  if (nnc_gpu_find(&device->gpu, number, message))
    name = nnc_code_choose(&nnc_the_cuda_program, &device->gpu, device->model->file, message);
  if (!name) {
    nnc_error("%s", message);
    return false;
  }
  return nnc_gpu_open(&device->gpu) && nnc_code_load(&device->code, &nnc_the_cuda_program, name);
}

static bool take_zeroed(nnc_device *device, CuAddress *address, int64_t bytes,
                        const char *purpose) {
  if (!nnc_gpu_take(&device->gpu, address, bytes, purpose)) return false;
  return bytes == 0 ||
         nnc_cuda_worked(nnc_cuda.fill(*address, 0, (size_t)bytes, device->gpu.stream),
                         "clear the device's memory");
}

static bool open_memory(nnc_device *device) {
  const nnc_model *model = device->model;
  int64_t number_bytes, input_bytes;
  int inputs = count_inputs(model, &input_bytes);
  const nnc_cuda_library *library = nnc_the_cuda_program.library;
  device->gpu.planned =
      model->arena_bytes + model->worker_bytes + input_bytes + (library ? library->workspace : 0);
  return open_numbers(device, &number_bytes) &&
         take_zeroed(device, &device->arena, model->arena_bytes, "the model's arena") &&
         (model->worker_bytes == 0 ||
          take_zeroed(device, &device->scratch, model->worker_bytes, "the kernels' buffers")) &&
         nnc_slots_open(&device->slots, &device->gpu, model->scalar_count,
                        &(nnc_slot_room){.most = 1, .number_bytes = number_bytes}) &&
         nnc_staging_open(&device->staging, &device->gpu, inputs, input_bytes) &&
         nnc_transfer_open(&device->transfer, &device->gpu) &&
         nnc_turned_open(&device->turned, model);
}

nnc_device *nnc_device_open(const nnc_model *model, int workers, int number) {
  nnc_device *device = calloc(1, sizeof *device);
  (void)workers; /* they load the data */
  if (!device) {
    nnc_error("cannot allocate the device");
    return NULL;
  }
  device->model = model;
  nnc_cuda_note_run(NULL, 0, 0, 0);
  if (!open_code(device, number) || !open_memory(device)) {
    nnc_device_close(device);
    return NULL;
  }
  device->group = (nnc_group){.model = model,
                              .play = &device->play,
                              .kept = &device->kept,
                              .slots = &device->slots,
                              .numbers = device->numbers,
                              .arena = device->arena};
  CuAddress scalars = device->slots.state + sizeof(nnc_cuda_state);
  nnc_worker worker = {.count = 1,
                       .arena = (char *)(uintptr_t)device->arena,
                       .scratch = (char *)(uintptr_t)device->scratch,
                       .scalars = (const double *)(uintptr_t)scalars};
  if (nnc_play_open(&device->play, &device->gpu, &device->code, &worker)) return device;
  nnc_device_close(device);
  return NULL;
}

/* What is still under way ends first. */
void nnc_device_close(nnc_device *device) {
  if (!device) return;
  if (device->gpu.stream) (void)nnc_cuda.stream_wait(device->gpu.stream);
  nnc_group_close(&device->group);
  nnc_play_close(&device->play);
  nnc_kept_close(&device->kept);
  nnc_turned_close(&device->turned);
  nnc_transfer_close(&device->transfer);
  nnc_staging_close(&device->staging);
  nnc_slots_close(&device->slots);
  for (int e = 0; e < NNC_ENTRY_COUNT; e++) nnc_numbers_close(&device->numbers[e]);
  if (device->scratch) (void)nnc_cuda.memory_free(device->scratch);
  if (device->arena) (void)nnc_cuda.memory_free(device->arena);
  nnc_code_unload(&device->code);
  nnc_gpu_close(&device->gpu);
  free(device);
}

/* --- Running -------------------------------------------------------------------------------- */

int nnc_device_workers(const nnc_device *device) {
  (void)device;
  return 1;
}

static enum nnc_entry_number number_of(const nnc_device *device, const nnc_entry *entry) {
  int number = 0;
  while (number < NNC_ENTRY_COUNT && entry_of(device->model, number) != entry) number++;
  NNC_ASSERT(number < NNC_ENTRY_COUNT);
  return (enum nnc_entry_number)number;
}

/* Whether an index lay outside of its axis: core/index_check.h asks when the run has returned. */
static void check_indices(const nnc_device *device, const nnc_slot *slot) {
  const char *doing = "ask for indices outside of their axes";
  nnc_cuda_must(
      nnc_cuda.copy_out(slot->left, device->slots.state, sizeof *slot->left, device->gpu.stream),
      doing);
  nnc_cuda_must(nnc_cuda.stream_wait(device->gpu.stream), doing);
  uint64_t outside = slot->left->outside, element_mask = ((uint64_t)1 << 40) - 1;
  if (outside != UINT64_MAX)
    nnc_index_outside((int64_t)(outside >> 40), (int64_t)(outside & element_mask),
                      slot->left->outside_index);
}

static void end_runs(nnc_device *device, const nnc_slot *slot) {
  nnc_cuda_must(nnc_cuda.event_record(slot->ended, device->gpu.stream), "end a run");
  nnc_staging_turn(&device->staging);
  if (device->model->index_place_count > 0) check_indices(device, slot);
}

/* Nothing waits any more. To the caller the runs have begun when they were asked for, so that what only
 * reads does so, too. */
static void put_waiting(const nnc_device *reader) {
  nnc_device *device = (nnc_device *)reader;
  const nnc_slot *slot = device->waiting;
  if (!slot) return;
  device->waiting = NULL;
  nnc_group_put(&device->group, slot, 0, slot->count);
  end_runs(device, slot);
}

/* Of training on data that the device keeps, or on no inputs; the others are told their state alone. */
static bool is_kept(const nnc_device *device, enum nnc_entry_number number, const nnc_run *run) {
  bool trains = number == NNC_RUN_TRAIN || number == NNC_RUN_ACCUMULATE;
  return device->kept.is_open && trains && !device->marks && !device->onlooker &&
         (run->examples || entry_of(device->model, number)->input_count == 0);
}

/* Runs go together in the order that steps have. */
static void run_kept(nnc_device *device, enum nnc_entry_number number, const nnc_run *run) {
  int before = device->waiting ? device->waiting->count : 0;
  if (nnc_group_entry(device->model, before) != number) put_waiting(device);
  if (!device->waiting) device->waiting = nnc_slots_begin(&device->slots);
  nnc_slots_add(&device->slots, device->waiting, number, run);
  bool is_full = device->waiting->count == device->slots.room.most;
  if (is_full || nnc_group_entry(device->model, device->waiting->count - 1) != number)
    put_waiting(device);
}

void nnc_device_run(nnc_device *device, const nnc_entry *entry, const nnc_run *run) {
  NNC_ASSERT(entry->run && run->step >= 0 && run->example >= 0);
  enum nnc_entry_number number = number_of(device, entry);
  if (is_kept(device, number, run)) {
    run_kept(device, number, run);
    return;
  }
  NNC_ASSERT(!run->examples);
  put_waiting(device);
  nnc_slot *slot = nnc_slots_begin(&device->slots);
  nnc_slots_add(&device->slots, slot, number, run);
  nnc_slots_note(slot, 0, 1);
  nnc_slots_tell_state(&device->slots, slot);
  if (device->onlooker) nnc_play_watched(&device->play, entry, device->onlooker);
  else if (device->marks) nnc_play_marked(&device->play, entry, device->marks);
  else nnc_play_entry(&device->play, entry, number);
  nnc_group_fetch(&device->group, number, slot->numbers);
  end_runs(device, slot);
}

void nnc_device_wait(const nnc_device *device) {
  put_waiting(device);
  nnc_cuda_must(nnc_cuda.stream_wait(device->gpu.stream), "wait for the device");
}

void nnc_device_mark(nnc_device *device, int64_t *marks, int64_t stride) {
  (void)stride; /* one worker */
  put_waiting(device);
  device->marks = marks;
}

void nnc_device_watch(nnc_device *device, nnc_onlooker *onlooker) {
  put_waiting(device);
  device->onlooker = onlooker;
}

void nnc_device_peek(const nnc_device *device, bool is_in_block, int64_t offset, int64_t bytes,
                     void *to) {
  CuAddress base = is_in_block ? device->scratch : device->arena;
  nnc_transfer_out((nnc_transfer *)&device->transfer, to, base + (CuAddress)offset, bytes);
}

/* --- Data ----------------------------------------------------------------------------------- */

bool nnc_device_keep(nnc_device *device, int count, const nnc_rows *rows, int64_t group) {
  nnc_kept_place place = {&device->gpu, device->model, device->arena, &device->transfer};
  nnc_slot_room room = device->slots.room;
  room.examples = device->model->train.batch;
  room.most = nnc_group_choose(device->model, group);
  if (!nnc_kept_open(&device->kept, &place, count, rows)) return false;
  device->gpu.planned += device->kept.bytes;
  if (!nnc_slots_widen(&device->slots, &room)) exit(NNC_EXIT_FAILURE); /* after its message */
  return true;
}

int64_t nnc_device_kept_bytes(const nnc_device *device) { return device->kept.bytes; }

/* --- Memory --------------------------------------------------------------------------------- */

static CuAddress place_of(const nnc_device *device, const nnc_tensor *tensor) {
  NNC_ASSERT(tensor->offset >= 0 && tensor->offset % ALIGNMENT == 0);
  NNC_ASSERT(tensor->offset + nnc_tensor_bytes(tensor) <= device->model->arena_bytes);
  return device->arena + (CuAddress)tensor->offset;
}

static bool has_elements(const nnc_tensor *tensor, int64_t from, int64_t count) {
  return from >= 0 && count >= 0 && from + count <= nnc_tensor_elements(tensor);
}

/* To read is to use the buffers of the transfer. */
void nnc_device_read(const nnc_device *device, const nnc_tensor *tensor, int64_t from,
                     int64_t count, void *to) {
  int64_t size = nnc_dtype_size(tensor->dtype);
  NNC_ASSERT(has_elements(tensor, from, count));
  put_waiting(device);
  if (nnc_layout_is_turned(device->turned.model, tensor)) {
    nnc_turned_part part = {tensor, place_of(device, tensor), from, count};
    nnc_turned_read(&device->turned, (nnc_transfer *)&device->transfer, &part, to);
    return;
  }
  nnc_transfer_out((nnc_transfer *)&device->transfer, to,
                   place_of(device, tensor) + (CuAddress)(from * size), count * size);
}

void nnc_device_write(nnc_device *device, const nnc_tensor *tensor, int64_t from, int64_t count,
                      const void *values) {
  int64_t size = nnc_dtype_size(tensor->dtype);
  NNC_ASSERT(has_elements(tensor, from, count));
  put_waiting(device);
  if (nnc_layout_is_turned(device->turned.model, tensor)) {
    nnc_turned_part part = {tensor, place_of(device, tensor), from, count};
    nnc_turned_write(&device->turned, &device->transfer, &part, values);
    return;
  }
  nnc_transfer_in(&device->transfer, place_of(device, tensor) + (CuAddress)(from * size), values,
                  count * size);
}

double nnc_device_number(const nnc_device *device, const nnc_tensor *tensor) {
  char value[8];
  nnc_device_read(device, tensor, 0, 1, value);
  return nnc_number_get(tensor->dtype, value, 0);
}

int64_t nnc_device_under_way(const nnc_device *device) { return device->slots.runs; }

/* The host looks at a group when the next one is in the stream, while one more is prepared. */
int64_t nnc_device_behind(const nnc_device *device) { return 2 * device->slots.room.most - 1; }

/* The accumulators are copied out together when a run has ended. To wait for it is to take answers. */
double nnc_device_left(const nnc_device *device, int64_t run, const nnc_tensor *tensor) {
  enum nnc_entry_number entry;
  if (device->waiting && run > device->slots.runs - device->waiting->count) put_waiting(device);
  const char *numbers = nnc_slots_answer((nnc_slots *)&device->slots, run, &entry);
  int64_t at = nnc_numbers_find(&device->numbers[entry], tensor);
  NNC_ASSERT(at >= 0);
  return nnc_number_get(tensor->dtype, numbers + at, 0);
}

void *nnc_device_begin_write(nnc_device *device, const nnc_tensor *tensor) {
  NNC_ASSERT(!nnc_layout_is_turned(device->turned.model, tensor)); /* it is an input */
  put_waiting(device);
  return nnc_staging_begin(&device->staging, place_of(device, tensor), nnc_tensor_bytes(tensor));
}

void nnc_device_end_write(nnc_device *device, const nnc_tensor *tensor) {
  nnc_staging_end(&device->staging, place_of(device, tensor));
}

/* --- Speed ---------------------------------------------------------------------------------- */

const nnc_gpu *nnc_cuda_gpu_of(const nnc_device *device) { return &device->gpu; }
