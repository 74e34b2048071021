/* Phases that are parted to need less memory.
 *
 * All that a phase touches lives at once, since no worker waits for another in it. Where two steps need not wait,
 * a barrier between them costs a few microseconds, and what only the first one needs is dead in the second. So
 * the phase that needs the most memory is parted at the best place, again and again, until the worst one
 * cannot be. Task loops and scan loops stay whole.
 *
 * Nothing is parted unless the entry then needs less by a part that counts, and barriers stay a small part of
 * its time. */
#include "program/part.h"

#include "program/barriers.h"
#include "program/workspace.h"
#include "support/integers.h"

enum {
  LEAST_GAIN = 128,    /* the gain is at least this part of what the entry needs ... */
  MOST_OF_TIME = 1000, /* ... and the barriers at most this part of its time */
};

typedef struct Phase {
  int begin, end; /* steps [begin, end), none of them a barrier */
  int64_t need;   /* bytes */
  bool is_whole;  /* it cannot be parted */
} Phase;

typedef struct Parter {
  Arena *arena;
  Program *program;
  ProgramEntry *entry;
  int workers;
  const int64_t *work; /* by step: bytes of each worker's block */
  VEC(Phase) phases;
  VEC(int) cuts; /* steps that a barrier goes before */
} Parter;

static int64_t need_of(const Parter *parter, int begin, int end) {
  const Program *program = parter->program;
  int64_t bytes = 0, work = 0;
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    bool is_own = buffer->entry == (int)parter->entry->entry && buffer->alias_of < 0 &&
                  buffer->kind != BUFFER_WORKER && buffer->first_step >= 0;
    if (is_own && buffer->first_step < end && buffer->last_step >= begin) bytes += buffer->bytes;
  }
  for (int s = begin; s < end; s++) work = greatest(work, parter->work[s]);
  return bytes + parter->workers * work;
}

static void find_phases(Parter *parter) {
  const ProgramEntry *entry = parter->entry;
  for (int begin = 0, end; begin < entry->steps.count; begin = end + 1) {
    bool has_scans = false;
    for (end = begin; end < entry->steps.count; end++) {
      if (entry->steps.items[end].kind == STEP_BARRIER) break;
      has_scans = has_scans || entry->steps.items[end].scan >= 0;
    }
    Phase phase = {begin, end, need_of(parter, begin, end), has_scans};
    if (end > begin) vec_push(parter->arena, &parter->phases, phase);
  }
}

static int worst_phase(const Parter *parter) {
  int worst = 0;
  for (int i = 1; i < parter->phases.count; i++)
    if (parter->phases.items[i].need > parter->phases.items[worst].need) worst = i;
  return worst;
}

static bool is_in_loop(const ProgramEntry *entry, int cut) {
  int loop = entry->steps.items[cut].loop;
  return loop >= 0 && entry->steps.items[cut - 1].loop == loop;
}

/* Parts a phase where the larger part needs the least; false: nothing is gained. */
static bool part(Parter *parter, int number) {
  Phase whole = parter->phases.items[number], first = whole, second = whole;
  int64_t least = whole.need;
  if (whole.is_whole) return false;
  for (int cut = whole.begin + 1; cut < whole.end; cut++) {
    if (is_in_loop(parter->entry, cut)) continue;
    Phase before = {whole.begin, cut, need_of(parter, whole.begin, cut), false};
    Phase after = {cut, whole.end, need_of(parter, cut, whole.end), false};
    if (greatest(before.need, after.need) >= least) continue;
    least = greatest(before.need, after.need);
    first = before;
    second = after;
  }
  if (least == whole.need) return false;
  parter->phases.items[number] = first;
  vec_push(parter->arena, &parter->phases, second);
  vec_push(parter->arena, &parter->cuts, second.begin);
  return true;
}

static int most_cuts(const Parter *parter) {
  const TargetCosts *costs = &parter->program->target->costs;
  double time = 0;
  for (int s = 0; s < parter->entry->steps.count; s++)
    time += parter->entry->steps.items[s].flops + costs->byte * parter->entry->steps.items[s].bytes;
  double most = costs->barrier > 0 ? time / MOST_OF_TIME / costs->barrier : 0;
  return most < parter->entry->steps.count ? (int)most : parter->entry->steps.count;
}

void phases_part(Program *program, ProgramEntry *entry, int workers) {
  Arena *scratch = arena_create();
  int64_t *work = workspace_of_steps(scratch, program, entry);
  Parter parter = {scratch, program, entry, workers, work, {0}, {0}};
  if (work) find_phases(&parter);
  if (parter.phases.count > 0) {
    int64_t before = parter.phases.items[worst_phase(&parter)].need;
    for (int most = most_cuts(&parter); parter.cuts.count < most;)
      if (!part(&parter, worst_phase(&parter))) break;
    int64_t after = parter.phases.items[worst_phase(&parter)].need;
    if (before - after < before / LEAST_GAIN) parter.cuts.count = 0;
  }
  barriers_insert(program, entry, parter.cuts.count, parter.cuts.items,
                  "what lives before and after it would need more memory at once");
  arena_destroy(scratch);
}
