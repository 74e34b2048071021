/* What generated host code calls: nnc_cuda_program.h and nnc_parallel.h.
 *
 * The linker takes this object for nnc_cuda_launch, before it comes to libnncrt.a. It names the
 * functions that both libraries have, so that those of this one are taken. */
#include "core/device.h"
#include "core/speed.h"
#include "cuda/play.h"
#include "os/clock.h"
#include "nnc_cuda_program.h"

typedef void (*AnyFunction)(void);
extern const AnyFunction nnc_cuda_taken[];
const AnyFunction nnc_cuda_taken[] = {(AnyFunction)nnc_device_open, (AnyFunction)nnc_speed_measure};

void nnc_cuda_launch(nnc_worker *worker, int kernel, void **arguments) {
  nnc_play_launch(worker->pool, kernel, arguments);
}

void nnc_cuda_part(nnc_worker *worker, int merge, int place) {
  nnc_play_part(worker->pool, merge, place);
}

void nnc_cuda_copy(nnc_worker *worker, void *to, const void *from, int64_t bytes) {
  nnc_play_copy(worker->pool, (CuAddress)(uintptr_t)to, (CuAddress)(uintptr_t)from, bytes);
}

/* What is put into the stream runs in its order. */
void nnc_barrier(nnc_worker *worker) { (void)worker; }

/* The only worker has all tasks of a loop as its own range. */
nnc_task_range nnc_claim(nnc_worker *worker, int64_t tasks) {
  worker->is_shared = 0;
  return (nnc_task_range){0, tasks};
}

/* Without a device: on the host's clock, as `profile` does to learn what a mark costs it. */
void nnc_mark_now(nnc_worker *worker, int number) {
  if (worker->onlooker) worker->onlooker->look(worker->onlooker, number);
  else if (worker->pool) nnc_timeline_note(&worker->pool->timeline, NNC_MOMENT_MARK, number, 0);
  else worker->marks[number] = nnc_nanoseconds_now();
}

void nnc_laps_begin_now(nnc_worker *worker, int first, int count) {
  if (worker->onlooker) return;
  nnc_timeline_note(&worker->pool->timeline, NNC_MOMENT_LAPS_BEGIN, first, count);
}

void nnc_lap_now(nnc_worker *worker, int number) {
  if (worker->onlooker) worker->onlooker->look(worker->onlooker, number);
  else nnc_timeline_note(&worker->pool->timeline, NNC_MOMENT_LAP, number, 0);
}

void nnc_laps_end_now(nnc_worker *worker, int first, int count) {
  if (worker->onlooker) return;
  nnc_timeline_note(&worker->pool->timeline, NNC_MOMENT_LAPS_END, first, count);
}
