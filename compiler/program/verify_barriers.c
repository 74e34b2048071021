/* Proof of the barriers: between two of them no worker touches what another one writes. */
#include "program/buffers.h"
#include "program/verifier.h"

/* Whatever memory both accesses touch, the same worker does: it is its own block of memory, or both
 * go through it from the same place in the same blocks, and their loops are tied. */
static bool is_of_one_worker(const Verifier *verifier, const StepAccess *a, const StepAccess *b,
                             bool is_tied) {
  const Buffer *first = verifier_buffer(verifier->program, a->buffer);
  const Buffer *second = verifier_buffer(verifier->program, b->buffer);
  if (first->kind == BUFFER_WORKER) return true;
  return is_tied && a->blocks > 0 && a->blocks == b->blocks && a->block_bytes == b->block_bytes &&
         first->offset == second->offset;
}

/* Do workers have the same blocks in the task loops of both steps? */
static bool are_tied(const ProgramEntry *entry, const Step *earlier, const Step *later) {
  if (earlier->loop < 0 || later->loop < 0) return false;
  return earlier->loop == later->loop ||
         (entry->loops.items[earlier->loop].is_tied && entry->loops.items[later->loop].is_tied);
}

static const char *check_pair(Verifier *verifier, int s, const AccessList *earlier, int t,
                              const AccessList *later) {
  for (int i = 0; i < earlier->count; i++) {
    for (int k = 0; k < later->count; k++) {
      const StepAccess *a = &earlier->items[i], *b = &later->items[k];
      const Step *steps = verifier->entry->steps.items;
      if (!a->writes && !b->writes) continue;
      if (!buffers_overlap(verifier_buffer(verifier->program, a->buffer),
                           verifier_buffer(verifier->program, b->buffer)) ||
          is_of_one_worker(verifier, a, b, are_tied(verifier->entry, &steps[s], &steps[t])) ||
          buffers_are_apart(verifier->program, a->at, b->at))
        continue;
      return arena_printf(verifier->arena,
                          "no barrier between step %d (%s) and step %d (%s), which both use the "
                          "memory of %s",
                          s, steps[s].path, t, steps[t].path,
                          verifier_buffer(verifier->program, b->buffer)->name);
    }
  }
  return NULL;
}

/* Where that begins of which the buffer may be a row. */
static int64_t table_offset(const Program *program, const Buffer *row) {
  return row->view_of < 0 ? row->offset : verifier_buffer(program, row->view_of)->offset;
}

/* Rows that the rounds of a scan loop move alike, of which a block is the same part in all rounds. */
static bool are_rows_alike(const Verifier *verifier, const StepAccess *a, const StepAccess *b) {
  const Buffer *x = verifier_buffer(verifier->program, a->at),
               *y = verifier_buffer(verifier->program, b->at);
  return a->blocks > 0 && a->blocks == b->blocks && a->block_bytes == b->block_bytes &&
         x->bytes == y->bytes && x->bytes == a->blocks * a->block_bytes && x->scan == y->scan &&
         table_offset(verifier->program, x) == table_offset(verifier->program, y) &&
         x->round_bytes == y->round_bytes && x->turns == y->turns && x->round_bytes % x->bytes == 0;
}

/* Of two steps in different rounds. */
static const char *check_two_rounds(Verifier *verifier, const ScanLoop *loop, int s, int t) {
  const Step *steps = verifier->entry->steps.items;
  AccessList first = step_accesses(verifier->arena, verifier->program, &steps[s]);
  AccessList second = step_accesses(verifier->arena, verifier->program, &steps[t]);
  for (int i = 0; i < first.count; i++) {
    for (int k = 0; k < second.count; k++) {
      const StepAccess *a = &first.items[i], *b = &second.items[k];
      const Buffer *memory = verifier_buffer(verifier->program, a->buffer);
      if ((!a->writes && !b->writes) || memory->kind == BUFFER_WORKER ||
          !buffers_overlap(memory, verifier_buffer(verifier->program, b->buffer)) ||
          are_rows_alike(verifier, a, b))
        continue;
      return arena_printf(verifier->arena,
                          "no barrier between rounds of %s, which both use the memory of %s",
                          loop->path, memory->name);
    }
  }
  return NULL;
}

/* Rounds that do not end with a barrier: what one writes, others touch in the same block only. */
static const char *check_rounds(Verifier *verifier, const ScanLoop *loop) {
  const Step *steps = verifier->entry->steps.items;
  if (steps[loop->last_step].kind == STEP_BARRIER) return NULL;
  if (!scan_task_loop(verifier->entry, loop))
    return arena_printf(verifier->arena, "the loop of %s is not closed", loop->path);
  for (int s = loop->first_step; s <= loop->last_step; s++) {
    for (int t = loop->first_step; t <= loop->last_step; t++) {
      const char *wrong = check_two_rounds(verifier, loop, s, t);
      if (wrong) return wrong;
    }
  }
  return NULL;
}

const char *verify_barriers(Verifier *verifier) {
  const ProgramEntry *entry = verifier->entry;
  AccessList *lists = ARENA_ARRAY(verifier->arena, AccessList, entry->steps.count);
  int begin = 0;
  for (int s = 0; s < entry->steps.count; s++) {
    if (entry->steps.items[s].kind == STEP_BARRIER) {
      begin = s + 1;
      continue;
    }
    lists[s] = step_accesses(verifier->arena, verifier->program, &entry->steps.items[s]);
    for (int r = begin; r < s; r++) {
      const char *wrong = check_pair(verifier, r, &lists[r], s, &lists[s]);
      if (wrong) return wrong;
    }
  }
  for (int i = 0; i < entry->scans.count; i++) {
    const char *wrong = check_rounds(verifier, &entry->scans.items[i]);
    if (wrong) return wrong;
  }
  return NULL;
}
