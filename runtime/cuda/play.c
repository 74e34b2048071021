/* Recording and launching graphs: play.h. */
#include "cuda/play.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/failure.h"
#include "os/assert.h"
#include "os/exit.h"
#include "os/message.h"

bool nnc_play_open(nnc_play *play, const nnc_gpu *gpu, const nnc_code *code,
                   const nnc_worker *worker) {
  *play = (nnc_play){.gpu = gpu, .code = code, .worker = *worker};
  play->worker.pool = play;
  const nnc_cuda_library *library = code->program->library;
  return !library || library->open(&play->library, gpu, code->program);
}

void nnc_play_close(nnc_play *play) {
  for (int i = 0; i < NNC_ENTRY_COUNT; i++)
    if (play->graphs[i]) (void)nnc_cuda.exec_destroy(play->graphs[i]);
  nnc_timeline_close(&play->timeline);
  if (play->library) play->code->program->library->close(play->library);
  *play = (nnc_play){0};
}

/* --- In an entry's function ----------------------------------------------------------------- */

static void encode(CuTensorMap *to, const nnc_cuda_map *map, void **arguments, const char *kernel) {
  static const uint32_t steps[NNC_CUDA_MAP_AXES] = {1, 1, 1, 1, 1};
  char doing[160];
  CuResult result =
      nnc_cuda.map_encode(to, map->type, (uint32_t)map->rank, *(void **)arguments[map->argument],
                          map->extents, map->strides, map->box, steps, CU_MAP_NOT_INTERLEAVED,
                          CU_MAP_SWIZZLE_128, CU_MAP_PROMOTE_256, CU_MAP_ZEROS_OUTSIDE);
  if (result == 0) return;
  snprintf(doing, sizeof doing, "describe a tensor for the kernel '%s'", kernel);
  nnc_cuda_must(result, doing);
}

static void launch(const nnc_play *play, int kernel, const nnc_cuda_kernel *launched,
                   void **arguments) {
  char doing[160];
  CuResult result = nnc_cuda.launch(play->code->functions[kernel], (unsigned)launched->blocks, 1, 1,
                                    (unsigned)launched->threads, 1, 1, (unsigned)launched->shared,
                                    play->gpu->stream, arguments, NULL);
  if (result == 0) return;
  snprintf(doing, sizeof doing, "launch the kernel '%s'", launched->name);
  nnc_cuda_must(result, doing);
}

/* The driver copies the maps, as all arguments. */
static void launch_form(const nnc_play *play, int kernel, const nnc_cuda_form *form,
                        void **arguments) {
  nnc_cuda_kernel launched = play->code->program->kernels[kernel];
  CuTensorMap maps[2];
  int64_t most = play->gpu->multiprocessors;
  launched.blocks = form->tiles < most ? form->tiles : most;
  launched.threads = form->threads;
  launched.shared = form->shared;
  for (int i = 0; i < 2; i++) {
    encode(&maps[i], &form->maps[i], arguments, launched.name);
    arguments[form->first_map + i] = &maps[i];
  }
  launch(play, kernel, &launched, arguments);
}

void nnc_play_part(nnc_play *play, int merge, int place) {
  play->merge = &play->code->program->merges[merge];
  play->place = place;
}

/* Notes the arguments of a part; the last of the parts launches all. The state is after them. */
static void take_part(nnc_play *play, void **arguments) {
  nnc_cuda_merge *merge = play->merge;
  int first = merge->places[play->place], count = merge->places[play->place + 1] - first;
  play->merge = NULL;
  for (int i = 0; i < count; i++) memcpy(&merge->words[first + i], arguments[i], sizeof(uint64_t));
  if (++merge->arrived < merge->parts) return;
  merge->arrived = 0;
  nnc_play_launch(play, merge->kernel, (void *[]){merge->words, arguments[count]});
}

void nnc_play_launch(nnc_play *play, int kernel, void **arguments) {
  NNC_ASSERT(kernel >= 0 && kernel < play->code->program->kernel_count);
  const nnc_cuda_kernel *launched = &play->code->program->kernels[kernel];
  const nnc_cuda_form *form = nnc_code_form(play->code, kernel);
  NNC_ASSERT(launched->threads > 0 && launched->threads % 32 == 0);
  if (play->merge) {
    take_part(play, arguments);
    return;
  }
  if (launched->blocks <= 0) return;
  if (launched->product && play->library &&
      play->code->program->library->launch(play->library, kernel, arguments))
    return;
  if (launched->blocks > INT_MAX) {
    nnc_error("the kernel '%s' wants %lld blocks, but a device takes at most %d", launched->name,
              (long long)launched->blocks, INT_MAX);
    exit(NNC_EXIT_FAILURE);
  }
  if (form) launch_form(play, kernel, form, arguments);
  else launch(play, kernel, launched, arguments);
}

void nnc_play_gather(nnc_play *play, int64_t blocks, void **arguments) {
  const nnc_cuda_program *program = play->code->program;
  nnc_cuda_kernel launched = *program->gather;
  NNC_ASSERT(blocks > 0 && blocks <= INT_MAX);
  launched.blocks = blocks;
  launch(play, (int)(program->gather - program->kernels), &launched, arguments);
}

void nnc_play_copy(nnc_play *play, CuAddress to, CuAddress from, int64_t bytes) {
  if (bytes <= 0) return;
  nnc_cuda_must(nnc_cuda.copy_within(to, from, (size_t)bytes, play->gpu->stream),
                "copy within the device's memory");
}

/* --- Runs ----------------------------------------------------------------------------------- */

CuGraphExec nnc_play_record(nnc_play *play, void (*put)(void *context), void *context) {
  const char *doing = "record an entry's kernels";
  CuGraph graph;
  CuGraphExec exec;
  int mode = play->library ? CU_CAPTURE_RELAXED : CU_CAPTURE_THREAD_LOCAL; /* it may load kernels */
  nnc_cuda_must(nnc_cuda.capture_begin(play->gpu->stream, mode), doing);
  put(context);
  nnc_cuda_must(nnc_cuda.capture_end(play->gpu->stream, &graph), doing);
  nnc_cuda_must(nnc_cuda.graph_instantiate(&exec, graph, 0), "make a graph of an entry's kernels");
  nnc_cuda_must(nnc_cuda.graph_destroy(graph), doing);
  nnc_cuda_must(nnc_cuda.graph_upload(exec, play->gpu->stream), "bring a graph to the device");
  return exec;
}

void nnc_play_run(nnc_play *play, const nnc_entry *entry) {
  nnc_worker worker = play->worker;
  entry->run(&worker);
}

void nnc_play_launch_graph(nnc_play *play, CuGraphExec graph) {
  nnc_cuda_must(nnc_cuda.graph_launch(graph, play->gpu->stream), "launch a graph");
}

/* What an entry's graph is recorded of. */
typedef struct Recording {
  nnc_play *play;
  const nnc_entry *entry;
} Recording;

static void run_recorded(void *context) {
  const Recording *recording = context;
  nnc_play_run(recording->play, recording->entry);
}

void nnc_play_entry(nnc_play *play, const nnc_entry *entry, enum nnc_entry_number number) {
  NNC_ASSERT(number < NNC_ENTRY_COUNT);
  CuGraphExec *graph = &play->graphs[number];
  if (!*graph) *graph = nnc_play_record(play, run_recorded, &(Recording){play, entry});
  nnc_play_launch_graph(play, *graph);
}

void nnc_play_marked(nnc_play *play, const nnc_entry *entry, int64_t *marks) {
  nnc_worker worker = play->worker;
  worker.marks = marks;
  nnc_timeline_begin(&play->timeline, play->gpu);
  entry->run(&worker);
  nnc_timeline_finish(&play->timeline, marks);
}

void nnc_play_watched(nnc_play *play, const nnc_entry *entry, nnc_onlooker *onlooker) {
  int64_t no_marks = 0; /* that nobody writes */
  nnc_worker worker = play->worker;
  worker.onlooker = onlooker;
  worker.marks = &no_marks;
  onlooker->begin(onlooker, entry);
  entry->run(&worker);
}
