/* What the writers of loop kernels share: loop.c, loop_rows.c, loop_windows.c, loop_stream.c. */
#ifndef NNC_BACKEND_C_LOOP_H
#define NNC_BACKEND_C_LOOP_H

#include "backend/c/kernels.h"
#include "backend/c/tiles.h"

typedef struct LoopWriter {
  Code *code;
  KernelFunction *function;
  const Kernel *kernel;
  ExprScope scope;
  bool columns, windows;
  int column_block;   /* points that run together */
  bool has_streamed;  /* some store that was written goes past the caches */
  size_t column_mark; /* where the axis of the columns is declared */
  int64_t points;     /* along the domain's last axis, of a task */
} LoopWriter;

/* The names and extents of a stage's own axes. */
void loop_stage_axes(LoopWriter *writer, const Stage *stage);
/* Loops over them from axis `from` to before `end`; so many closed. */
void loop_open_axes(LoopWriter *writer, const Stage *stage, int from, int end);
void loop_close(LoopWriter *writer, int count);
/* The type in which a stage's values are accumulated. */
DType loop_accumulator(const Stage *stage);
/* Before a loop over so many points of a stage: that it is worth interleaving, if it is; whether it is. */
bool loop_write_hint(LoopWriter *writer, int number, int64_t points);

/* A stage for one point of the domain. */
void loop_write_row_stage(LoopWriter *writer, int number);

/* Windows of two side by side along a row are taken a span at a time (nnc_pool.h): so many of a row of `count` >=
 * LEAST_SPAN. */
enum { LEAST_SPAN = 4 };
int loop_span(int64_t count);
/* Whether a kernel reduces such windows of floats, rows of at least a span; its stages for all points of a row. */
bool loop_has_windows(Arena *arena, const Kernel *kernel);
void loop_write_windows(LoopWriter *writer);

/* Whether some store of a stage goes past the caches (tiles.h). */
bool loop_streams(const LoopWriter *writer, int number);
/* The stage's stores for points `begin` to `end` of the scope's last axis, so many at a time; `points`: whether that
 * many at a time are all is asked of this number, which tasks and rows have in common. */
void loop_write_streamed(LoopWriter *writer, int number, const char *begin, const char *end,
                         int64_t points, int64_t block);

#endif
