/* Which launches of an entry are merged, and the kernels that come of it.
 *
 * Steps between two barriers do not touch what another one writes, so they may run in any order and
 * side by side. Their loops become one launch, if they are no long work anyway. Its blocks fall into
 * ranges, one for each part; a part that is there several times, such as an optimizer's update of
 * equal parameters, is one piece of code over a table of operands. The tables are the one parameter of
 * the kernel besides the state. */
#include "backend/cuda/merge.h"

#include <stdlib.h>
#include "backend/common/c.h"
#include "backend/cuda/cuda.h"
#include "kernel/builder.h"
#include "support/integers.h"

enum {
  MOST_WORDS = 480,  /* 4 KB are what all devices take as parameters */
  MOST_PARTS = 16,   /* kernels in one: each has its own memory of the block ... */
  MOST_MEMORY = 4096 /* ... for as many threads as fit 48 KB together, each of 12 bytes at most */
};

/* Launches that will be one. */
typedef struct Group {
  int threads, words, parts;
  bool is_large; /* of one kernel, whose launches are long work */
  VEC(int) steps;
} Group;

typedef VEC(Group) GroupList;

typedef struct Planner {
  Arena *arena;
  const Program *program;
  const ProgramEntry *entry;
  MergePlan *plan;
  GroupList groups; /* of steps since the last barrier */
} Planner;

static const Kernel *kernel_of(const Planner *planner, int step) {
  return planner->program->kernels.items[planner->entry->steps.items[step].kernel];
}

static bool has_kernel(const Planner *planner, const Group *group, int kernel) {
  for (int i = 0; i < group->steps.count; i++)
    if (planner->entry->steps.items[group->steps.items[i]].kernel == kernel) return true;
  return false;
}

static bool fits(const Planner *planner, const Group *group, int step, CudaGrid grid) {
  int kernel = planner->entry->steps.items[step].kernel;
  bool is_new = !has_kernel(planner, group, kernel);
  bool is_large = grid.blocks > MERGED_BLOCKS;
  return group->threads == grid.threads && group->is_large == is_large && !(is_large && is_new) &&
         group->words + merge_words(kernel_of(planner, step)) <= MOST_WORDS &&
         group->parts + is_new <= MOST_PARTS &&
         (group->parts + is_new) * grid.threads <= MOST_MEMORY;
}

/* To the first group that takes it, else to one of its own. */
static void add_step(Planner *planner, int step) {
  CudaGrid grid = cuda_grid(kernel_of(planner, step));
  int words = merge_words(kernel_of(planner, step));
  if (grid.blocks == 0 || words > MOST_WORDS) return;
  Group *group = NULL;
  for (int i = 0; i < planner->groups.count && group == NULL; i++)
    if (fits(planner, &planner->groups.items[i], step, grid)) group = &planner->groups.items[i];
  if (group == NULL) {
    Group empty = {.threads = grid.threads, .is_large = grid.blocks > MERGED_BLOCKS};
    vec_push(planner->arena, &planner->groups, empty);
    group = &planner->groups.items[planner->groups.count - 1];
  }
  group->parts += !has_kernel(planner, group, planner->entry->steps.items[step].kernel);
  group->words += words;
  vec_push(planner->arena, &group->steps, step);
}

/* ---- merged kernels ---- */

static bool same_parts(const MergedKernel *a, const MergedKernel *b) {
  bool same = a->parts.count == b->parts.count;
  for (int i = 0; same && i < a->parts.count; i++)
    same = a->parts.items[i].kernel == b->parts.items[i].kernel &&
           a->parts.items[i].count == b->parts.items[i].count;
  return same;
}

static int merged_kernel(Planner *planner, const MergedKernel *merged) {
  MergePlan *plan = planner->plan;
  for (int i = 0; i < plan->kernels.count; i++)
    if (same_parts(&plan->kernels.items[i], merged)) return i;
  vec_push(planner->arena, &plan->kernels, *merged);
  return plan->kernels.count - 1;
}

/* The group's steps by kernel, those of one in their order. */
static void add_launch(Planner *planner, EntryKind entry, const Group *group) {
  MergedKernel merged = {0};
  LaunchMerge launch = {.entry = entry};
  for (int kernel = 0; kernel < planner->program->kernels.count; kernel++) {
    MergedPart part = {kernel, 0};
    for (int i = 0; i < group->steps.count; i++) {
      if (planner->entry->steps.items[group->steps.items[i]].kernel != kernel) continue;
      vec_push(planner->arena, &launch.steps, group->steps.items[i]);
      part.count++;
    }
    if (part.count > 0) vec_push(planner->arena, &merged.parts, part);
  }
  launch.merged = merged_kernel(planner, &merged);
  vec_push(planner->arena, &planner->plan->launches, launch);
}

static void finish_groups(Planner *planner, EntryKind entry) {
  for (int i = 0; i < planner->groups.count; i++)
    if (planner->groups.items[i].steps.count > 1)
      add_launch(planner, entry, &planner->groups.items[i]);
  planner->groups.count = 0;
}

static void plan_entry(Planner *planner, EntryKind entry) {
  int scan = -1;
  planner->entry = &planner->program->entries[entry];
  for (int i = 0; i < planner->entry->steps.count; i++) {
    const Step *step = &planner->entry->steps.items[i];
    if (step->kind == STEP_BARRIER || step->scan != scan) finish_groups(planner, entry);
    scan = step->scan;
    if (step->kind == STEP_LAUNCH && kernel_of(planner, i)->kind == KERNEL_LOOP)
      add_step(planner, i);
  }
  finish_groups(planner, entry);
}

static void find_inside(const Planner *planner) {
  const Program *program = planner->program;
  MergePlan *plan = planner->plan;
  int place;
  plan->is_inside = ARENA_ARRAY(planner->arena, bool, program->kernels.count + 1);
  for (int i = 0; i < program->kernels.count; i++) plan->is_inside[i] = true;
  for (int e = 0; e < ENTRY_COUNT; e++)
    for (int i = 0; i < program->entries[e].steps.count; i++) {
      const Step *step = &program->entries[e].steps.items[i];
      if (step->kind == STEP_LAUNCH && merge_of_step(plan, (EntryKind)e, i, &place) < 0)
        plan->is_inside[step->kernel] = false;
    }
}

MergePlan *cuda_plan_merges(Arena *arena, const Program *program) {
  Planner planner = {.arena = arena, .program = program, .plan = ARENA_NEW(arena, MergePlan)};
  for (int e = 0; e < ENTRY_COUNT; e++)
    if (program->entries[e].present && e != ENTRY_INIT) plan_entry(&planner, (EntryKind)e);
  find_inside(&planner);
  return planner.plan;
}

int64_t cuda_merged_blocks(const MergedKernel *merged, const KernelFunction *functions) {
  int64_t blocks = 0;
  for (int i = 0; i < merged->parts.count; i++)
    blocks += merged->parts.items[i].count *
              cuda_grid(functions[merged->parts.items[i].kernel].kernel).blocks;
  return blocks;
}

/* ---- what is written ---- */

static int words_of(const MergedKernel *merged, const KernelFunction *functions) {
  int words = 0;
  for (int i = 0; i < merged->parts.count; i++)
    words +=
        merged->parts.items[i].count * merge_words(functions[merged->parts.items[i].kernel].kernel);
  return words;
}

static const char *part_name(Arena *arena, const MergedKernel *merged, int part) {
  return arena_printf(arena, "nnc_%s_part_%d", merged->name, part);
}

static const char *operand_cast(Arena *arena, const KernelOperand *operand) {
  return arena_printf(arena, "(%s%s *)", operand->is_output ? "" : "const ",
                      c_storage_type(operand->dtype));
}

/* The call of a part by the blocks before `end`, of which there are `blocks` for each of its steps. */
static void write_part(Code *code, const MergedKernel *merged, int number, const Kernel *kernel,
                       int first_word) {
  Arena *arena = code->arena;
  MergedPart part = merged->parts.items[number];
  int64_t blocks = cuda_grid(kernel).blocks;
  VEC(const char *) items = {0};
  code_open(code, "if (block < %lld)", (long long)(part.count * blocks));
  const char *own = "block", *row = "";
  if (part.count > 1) {
    own = arena_printf(arena, "block %% %lld", (long long)blocks);
    row = arena_printf(arena, " + block / %lld * %d", (long long)blocks, merge_words(kernel));
  }
  code_line(code, "const uint64_t *const at = words.at + %d%s;", first_word, row);
  vec_push(arena, &items, own);
  int at = 0;
  for (int i = 0; i < kernel->operand_count; i++, at++)
    vec_push(arena, &items,
             arena_printf(arena, "%sat[%d]", operand_cast(arena, &kernel->operands[i]), at));
  for (int i = 0; i < kernel->scalar_count; i++, at++)
    vec_push(arena, &items, arena_printf(arena, "(const double *)at[%d]", at));
  for (int i = 0; i < kernel->key_count; i++, at++)
    vec_push(arena, &items, arena_printf(arena, "at[%d]", at));
  vec_push(arena, &items, "state");
  code_list(code, arena_printf(arena, "%s(", part_name(arena, merged, number)), items.count,
            items.items, ");");
  code_line(code, "return;");
  code_close(code);
  code_line(code, "block -= %lld;", (long long)(part.count * blocks));
}

void cuda_write_merged(Code *code, const MergedKernel *merged, const KernelFunction *functions) {
  Arena *arena = code->arena;
  int word = 0, threads = 0;
  code_blank(code);
  code_line(code, "#undef NNC_BLOCK");
  code_line(code, "#define NNC_BLOCK block /* of those of a part */");
  for (int i = 0; i < merged->parts.count; i++) {
    MergedPart part = merged->parts.items[i];
    KernelFunction own = functions[part.kernel];
    own.name = part_name(arena, merged, i);
    own.temporaries = 0;
    if (own.kernel->comment) code_comment(code, "%s", own.kernel->comment);
    cuda_write_part(code, &own);
    threads = cuda_grid(own.kernel).threads;
  }
  code_line(code, "#undef NNC_BLOCK");
  code_line(code, "#define NNC_BLOCK NNC_BLOCK_OF_GRID");
  code_line(code, "NNC_KERNEL(%d) %s(NNC_PARAMETER nnc_words<%d> words, nnc_state *state)", threads,
            merged->name, words_of(merged, functions));
  code_block(code);
  code_line(code, "int64_t block = NNC_BLOCK;");
  for (int i = 0; i < merged->parts.count; i++) {
    const Kernel *kernel = functions[merged->parts.items[i].kernel].kernel;
    write_part(code, merged, i, kernel, word);
    word += merged->parts.items[i].count * merge_words(kernel);
  }
  code_close(code);
}

/* ---- the host's tables ---- */

static void write_places(Code *code, const MergePlan *plan, const KernelFunction *functions,
                         int number) {
  const MergedKernel *merged = &plan->kernels.items[number];
  Text text = {0};
  int words = 0;
  for (int i = 0; i < merged->parts.count; i++)
    for (int k = 0; k < merged->parts.items[i].count; k++) {
      text_printf(&text, "%d, ", words);
      words += merge_words(functions[merged->parts.items[i].kernel].kernel);
    }
  text_printf(&text, "%d", words);
  const char *items[] = {text_take(&text, code->arena)};
  code_list(code, arena_printf(code->arena, "static const int nnc_places_%d[] = {", number), 1,
            items, "};");
}

/* Each launch has words of its own, which its steps fill in. */
void cuda_write_merges(Code *code, const MergePlan *plan, const KernelFunction *functions,
                       int kernel_count) {
  for (int i = 0; i < plan->kernels.count; i++) write_places(code, plan, functions, i);
  for (int i = 0; i < plan->launches.count; i++)
    code_line(code, "static uint64_t nnc_words_%d[%d];", i,
              words_of(&plan->kernels.items[plan->launches.items[i].merged], functions));
  code_open(code, "static nnc_cuda_merge nnc_merges[%d] =", plan->launches.count);
  for (int i = 0; i < plan->launches.count; i++) {
    const LaunchMerge *launch = &plan->launches.items[i];
    code_line(code, "{%d, %d, nnc_places_%d, nnc_words_%d, 0},", kernel_count + launch->merged,
              launch->steps.count, launch->merged, i);
  }
  code_close_list(code);
  code_blank(code);
}
