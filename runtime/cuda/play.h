/* Entries as the device runs them: each is recorded once as a graph, which is launched from then on. */
#ifndef NNC_CUDA_PLAY_H
#define NNC_CUDA_PLAY_H

#include <stdbool.h>

#include "core/device.h"
#include "cuda/code.h"
#include "cuda/gpu.h"
#include "cuda/library.h"
#include "cuda/timeline.h"
#include "nnc_parallel.h"

/* What host code of an entry finds as nnc_worker.pool. */
struct nnc_pool {
  const nnc_gpu *gpu;
  const nnc_code *code;
  nnc_worker worker;
  CuGraphExec graphs[NNC_ENTRY_COUNT];
  nnc_timeline timeline;
  nnc_cuda_merge *merge; /* of which the next launch is part `place`; NULL: of none */
  int place;
  nnc_library *library; /* NULL: kernels compute all products */
};
typedef struct nnc_pool nnc_play;

/* `worker` has addresses of the device; its pool is set here. False after a message. */
bool nnc_play_open(nnc_play *play, const nnc_gpu *gpu, const nnc_code *code,
                   const nnc_worker *worker);
void nnc_play_close(nnc_play *play);

/* Puts a run of entry `number` of the model into the stream. */
void nnc_play_entry(nnc_play *play, const nnc_entry *entry, enum nnc_entry_number number);

/* For graphs of other runs: what `put` puts into the stream becomes a graph, which the caller destroys;
 * nnc_play_run is what entries put there. */
CuGraphExec nnc_play_record(nnc_play *play, void (*put)(void *context), void *context);
void nnc_play_run(nnc_play *play, const nnc_entry *entry);
void nnc_play_launch_graph(nnc_play *play, CuGraphExec graph);

/* The same kernel by kernel, with marks; returns when it has ended. */
void nnc_play_marked(nnc_play *play, const nnc_entry *entry, int64_t *marks);
/* The same with an onlooker, which may wait for each kernel. */
void nnc_play_watched(nnc_play *play, const nnc_entry *entry, nnc_onlooker *onlooker);

/* Launches the program's kernel `gather` with so many blocks. */
void nnc_play_gather(nnc_play *play, int64_t blocks, void **arguments);

/* In an entry's function. */
void nnc_play_launch(nnc_play *play, int kernel, void **arguments);
void nnc_play_part(nnc_play *play, int merge, int place);
void nnc_play_copy(nnc_play *play, CuAddress to, CuAddress from, int64_t bytes);

#endif
