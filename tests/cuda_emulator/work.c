#include "work.h"

#include "cuda_types.h"
#include "execute.h"
#include "fault.h"
#include "memory.h"
#include "failures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

WorkCounts work_counts;

enum { ALIGNMENT = 64 }; /* of parameters; that of tensor maps is the greatest */

static size_t rounded(size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

void **work_copy_arguments(const Function *function, void **arguments) {
  const nnc_emulated_kernel *kernel = function->kernel;
  size_t bytes = 0;
  for (int i = 0; i < kernel->parameter_count; i++)
    bytes += rounded((size_t)kernel->parameter_sizes[i]);
  size_t head = rounded((size_t)kernel->parameter_count * sizeof(void *));
  void **copy = aligned_alloc(ALIGNMENT, head + bytes + ALIGNMENT);
  if (!copy) abort();
  char *values = (char *)copy + head;
  for (int i = 0; i < kernel->parameter_count; i++) {
    memcpy(values, arguments[i], (size_t)kernel->parameter_sizes[i]);
    copy[i] = values;
    values += rounded((size_t)kernel->parameter_sizes[i]);
  }
  return copy;
}

Work work_copy(const Work *work) {
  Work copy = *work;
  if (work->kind == WORK_LAUNCH)
    copy.arguments = work_copy_arguments(work->function, work->arguments);
  if (work->kept) {
    copy.kept = malloc(work->bytes + 1);
    if (!copy.kept) abort();
    copy.from = memcpy(copy.kept, work->kept, work->bytes);
  }
  return copy;
}

void work_free(Work *work) {
  free(work->arguments), free(work->kept);
  work->arguments = NULL, work->kept = NULL;
}

/* Device memory may have been freed since the call. */
static void check_range(const void *at, size_t bytes, const char *what) {
  char text[300];
  if (!memory_is_device(at) || memory_has(at, bytes, MEMORY_DEVICE)) return;
  memory_describe(text, sizeof text, at);
  fault("%s of %zu bytes at %p, which is %s", what, bytes, at, text);
}

static void fill(const Work *work) {
  for (size_t i = 0; i < work->bytes; i += (size_t)work->width) {
    memcpy(work->to + i, &work->value, (size_t)work->width);
  }
}

int work_run(const Work *work) {
  int error = 0;
  if (work->kind == WORK_NOTHING) return 0;
  memory_open();
  if (work->kind == WORK_LAUNCH) {
    Launch launch = {work->function, work->blocks, work->threads, work->shared, work->arguments};
    work_counts.launches++;
    error = failure_of("kernel");
    if (!error) execute_launch(&launch), memory_check_edges(work->function->kernel->name);
  } else if (work->kind == WORK_COPY) {
    work_counts.copies++;
    check_range(work->to, work->bytes, "a copy to memory"),
        check_range(work->from, work->bytes, "a copy from memory");
    memmove(work->to, work->from, work->bytes);
  } else if (work->kind == WORK_FILL) {
    work_counts.fills++;
    check_range(work->to, work->bytes, "a fill");
    fill(work);
  } else if (work->kind == WORK_CALL) {
    work->call(work->data);
  }
  memory_close();
  return error;
}
