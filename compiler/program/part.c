/* Phases that are parted to need less memory.
 *
 * All that a phase touches lives at once, since no worker waits for another in it. Where two steps need not wait,
 * a barrier between them costs a few microseconds, and what only the first one needs is dead in the second. So
 * the phase that needs the most memory is parted at the best place, again and again, until the worst one
 * cannot be. Task loops and scan loops stay whole. Where it cannot be parted, kernels in it get tight, if the target
 * has them so: they take smaller blocks of the workers and a little more time.
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
  int64_t *work; /* by step: bytes of each worker's block */
  bool *tight;   /* by kernel */
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

/* Whether all launches of the kernel may change. */
static bool may_tighten(const Program *program, int kernel) {
  for (int e = 0; e < ENTRY_COUNT; e++) {
    const ProgramEntry *entry = &program->entries[e];
    for (int s = 0; entry->present && s < entry->steps.count; s++) {
      const Step *step = &entry->steps.items[s];
      if (step->kind == STEP_LAUNCH && step->kernel == kernel &&
          (step->loop >= 0 || step->kept >= 0))
        return false;
    }
  }
  return true;
}

/* The kernels of a phase that take the most; false: nothing is gained. */
static bool tighten(Parter *parter, int number) {
  const Program *program = parter->program;
  Phase *phase = &parter->phases.items[number];
  int64_t most = 0, need = phase->need;
  for (int s = phase->begin; s < phase->end; s++) most = greatest(most, parter->work[s]);
  for (int s = phase->begin; s < phase->end; s++) {
    const Step *step = &parter->entry->steps.items[s];
    if (most == 0 || parter->work[s] < most || parter->tight[step->kernel]) continue;
    if (!may_tighten(program, step->kernel)) return false;
    Kernel tight = *program->kernels.items[step->kernel];
    tight.is_tight = true;
    int64_t bytes = target_worker_bytes(program->target, &tight);
    if (bytes >= most) return false;
    parter->tight[step->kernel] = true;
    for (int k = 0; k < parter->entry->steps.count; k++)
      if (parter->entry->steps.items[k].kind == STEP_LAUNCH &&
          parter->entry->steps.items[k].kernel == step->kernel)
        parter->work[k] = bytes;
  }
  for (int i = 0; i < parter->phases.count; i++) {
    Phase *other = &parter->phases.items[i];
    other->need = need_of(parter, other->begin, other->end);
  }
  return phase->need < need;
}

/* Launches of tight kernels have other tasks. */
static void make_tight(Program *program, int number) {
  Kernel *kernel = program->kernels.items[number];
  kernel->is_tight = true;
  program->kernel_keys.items[number] = kernel_key(program->arena, kernel);
  for (int e = 0; e < ENTRY_COUNT; e++) {
    ProgramEntry *entry = &program->entries[e];
    for (int s = 0; entry->present && s < entry->steps.count; s++) {
      Step *step = &entry->steps.items[s];
      if (step->kind == STEP_LAUNCH && step->kernel == number)
        step->task_count = target_task_count(program->target, kernel);
    }
  }
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
  Parter parter = {.arena = scratch,
                   .program = program,
                   .entry = entry,
                   .workers = workers,
                   .work = workspace_of_steps(scratch, program, entry),
                   .tight = ARENA_ARRAY(scratch, bool, program->kernels.count + 1)};
  if (parter.work) find_phases(&parter);
  if (parter.phases.count > 0) {
    int64_t before = parter.phases.items[worst_phase(&parter)].need;
    int most = most_cuts(&parter);
    for (int worst = worst_phase(&parter);
         (parter.cuts.count < most && part(&parter, worst)) || tighten(&parter, worst);)
      worst = worst_phase(&parter);
    int64_t after = parter.phases.items[worst_phase(&parter)].need;
    if (before - after >= before / LEAST_GAIN) {
      for (int i = 0; i < program->kernels.count; i++)
        if (parter.tight[i]) make_tight(program, i);
      barriers_insert(program, entry, parter.cuts.count, parter.cuts.items,
                      "what lives before and after it would need more memory at once");
    }
  }
  arena_destroy(scratch);
}
