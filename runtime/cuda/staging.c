/* Two halves of pinned memory that take turns: staging.h. */
#include "cuda/staging.h"

#include <stdlib.h>

#include "cuda/failure.h"
#include "os/assert.h"
#include "os/exit.h"
#include "os/message.h"

struct nnc_staged {
  CuAddress address; /* of the tensor */
  int64_t at, bytes; /* in the half, and in the device's buffer */
  bool is_open;
};

bool nnc_staging_open(nnc_staging *staging, const nnc_gpu *gpu, int most, int64_t bytes) {
  *staging = (nnc_staging){.gpu = gpu, .most = most, .bytes = bytes};
  staging->staged = calloc((size_t)most + 1, sizeof *staging->staged);
  staging->placed = nnc_gpu_event(CU_EVENT_NOT_TIMED);
  if (!staging->staged) nnc_error("cannot allocate the places of %d inputs", most);
  if (!staging->staged || !staging->placed) return false;
  for (int i = 0; i < 2; i++) {
    staging->halves[i] = nnc_gpu_take_pinned(bytes, "inputs");
    staging->arrived[i] = nnc_gpu_event(CU_EVENT_NOT_TIMED);
    if (!staging->halves[i] || !staging->arrived[i]) return false;
  }
  return bytes == 0 || nnc_gpu_take(gpu, &staging->buffer, bytes, "inputs");
}

void nnc_staging_close(nnc_staging *staging) {
  for (int i = 0; i < 2; i++) {
    if (staging->arrived[i]) (void)nnc_cuda.event_destroy(staging->arrived[i]);
    if (staging->halves[i]) (void)nnc_cuda.host_free(staging->halves[i]);
  }
  if (staging->placed) (void)nnc_cuda.event_destroy(staging->placed);
  if (staging->buffer) (void)nnc_cuda.memory_free(staging->buffer);
  free(staging->staged);
  *staging = (nnc_staging){0};
}

/* --- Filling -------------------------------------------------------------------------------- */

/* The other half, once the device has read what was in it. */
static void take_turn(nnc_staging *staging) {
  NNC_ASSERT(staging->open_count == 0 && staging->sent == staging->used);
  staging->turn = !staging->turn;
  staging->turns = false;
  staging->used = staging->sent = 0;
  staging->count = staging->sent_count = 0;
  nnc_cuda_must(nnc_cuda.event_wait(staging->arrived[staging->turn]),
                "wait for inputs on their way to the device");
}

static nnc_staged *find_open(const nnc_staging *staging, CuAddress address) {
  for (int i = staging->sent_count; i < staging->count; i++)
    if (staging->staged[i].address == address && staging->staged[i].is_open)
      return &staging->staged[i];
  return NULL;
}

static bool has_room(const nnc_staging *staging, int64_t bytes) {
  return staging->count < staging->most && staging->used + nnc_gpu_rounded(bytes) <= staging->bytes;
}

void *nnc_staging_begin(nnc_staging *staging, CuAddress address, int64_t bytes) {
  nnc_staged *open = find_open(staging, address);
  if (open) return staging->halves[staging->turn] + open->at;
  bool may_turn = staging->open_count == 0;
  if (may_turn && (staging->turns || !has_room(staging, bytes))) take_turn(staging);
  if (!has_room(staging, bytes)) {
    nnc_error("the compiled program is inconsistent: more is written between two runs than all "
              "inputs hold");
    exit(NNC_EXIT_FAILURE);
  }
  staging->staged[staging->count++] =
      (nnc_staged){.address = address, .at = staging->used, .bytes = bytes, .is_open = true};
  staging->open_count++;
  char *place = staging->halves[staging->turn] + staging->used;
  staging->used += nnc_gpu_rounded(bytes);
  return place;
}

/* --- Copying -------------------------------------------------------------------------------- */

/* What has been filled since the last time, in one copy, and then to each tensor. An event that was
 * never recorded is not waited for. */
static void send(nnc_staging *staging) {
  const char *doing = "copy inputs to the device";
  const nnc_gpu *gpu = staging->gpu;
  CuEvent arrived = staging->arrived[staging->turn];
  size_t bytes = (size_t)(staging->used - staging->sent);
  nnc_cuda_must(nnc_cuda.stream_after(gpu->copy_stream, staging->placed, 0), doing);
  if (bytes > 0)
    nnc_cuda_must(nnc_cuda.copy_in(staging->buffer + (CuAddress)staging->sent,
                                   staging->halves[staging->turn] + staging->sent, bytes,
                                   gpu->copy_stream),
                  doing);
  nnc_cuda_must(nnc_cuda.event_record(arrived, gpu->copy_stream), doing);
  nnc_cuda_must(nnc_cuda.stream_after(gpu->stream, arrived, 0), doing);
  for (; staging->sent_count < staging->count; staging->sent_count++) {
    const nnc_staged *staged = &staging->staged[staging->sent_count];
    if (staged->bytes > 0)
      nnc_cuda_must(nnc_cuda.copy_within(staged->address, staging->buffer + (CuAddress)staged->at,
                                         (size_t)staged->bytes, gpu->stream),
                    doing);
  }
  nnc_cuda_must(nnc_cuda.event_record(staging->placed, gpu->stream), doing);
  staging->sent = staging->used;
}

void nnc_staging_end(nnc_staging *staging, CuAddress address) {
  nnc_staged *staged = find_open(staging, address);
  NNC_ASSERT(staged);
  staged->is_open = false;
  if (--staging->open_count == 0) send(staging);
}

void nnc_staging_turn(nnc_staging *staging) {
  NNC_ASSERT(staging->open_count == 0);
  staging->turns = true;
}
