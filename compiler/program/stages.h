/* The stages of lowering: a table (stages.def), run in order by the runner of support/pipeline.h,
 * which verifies what each leaves. */
#ifndef NNC_PROGRAM_STAGES_H
#define NNC_PROGRAM_STAGES_H

#include "program/lowering.h"

typedef enum StageScope { STAGE_OF_GRAPH, STAGE_OF_ENTRY, STAGE_OF_PROGRAM } StageScope;

typedef struct LoweringStage {
  const char *name;
  int level; /* least -O level at which it runs */
  StageScope scope;
  void (*run)(Lowering *lowering);
  const char *(*verify)(Arena *arena, const Lowering *lowering); /* NULL, or what is wrong */
  void (*print)(Text *text, const Lowering *lowering);
  const char *summary;
} LoweringStage;

/* stage_prepare(), stage_place(), ...: one function a stage (docs/architecture.md names their files). */
#define STAGE(function, level, state, scope, summary) void stage_##function(Lowering *lowering);
#include "program/stages.def"
#undef STAGE

/* What holds of each state, for the next stage to rely on; and the state as text. */
#define STATE(state)                                                                               \
  const char *verify_##state(Arena *arena, const Lowering *lowering);                              \
  void print_##state(Text *text, const Lowering *lowering);
STATE(graph)
STATE(groups)
STATE(kernels)
STATE(launches)
STATE(steps)
STATE(entry)
STATE(program)
#undef STATE

extern const LoweringStage stage_table[];
extern const int stage_count;
const LoweringStage *stage_find(const char *name);

#endif
