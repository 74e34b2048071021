/* Proof of a plan, on every compile and from the Program alone: nothing is taken from the stages
 * that made it.
 *
 *   - every buffer lies inside the arena or a worker's block, aligned; aliases have their root's
 *     offset
 *   - variables overlap nothing; two other buffers of an entry overlap only when one is an alias of
 *     the other, or a barrier lies between the last use of one and the first use of the other
 *   - every launch reads only what was written before it (or comes from outside)
 *   - between two barriers no worker touches what another one writes: two steps use different
 *     memory, or both go through it in the same blocks, so that a worker touches only its own
 *   - a scan loop ends with a barrier, or a worker takes its blocks of it through all rounds; views that its rounds move stay inside of what they are a part
 *     of, and only its own steps use them; a value that a round finds when it begins is alive in all
 *     of the loop
 *   - a task loop is a run of launches in equally many blocks that writes nothing as a whole; each
 *     of its kernels, which kernel_verify() keeps inside its operands, has those of one block. What
 *     lies in a worker's block of memory belongs to one loop and is written there before it is read
 */
#include "program/verify.h"
#include "program/barriers.h"
#include "program/buffers.h"
#include "program/verifier.h"

#include "support/integers.h"
#include "support/panic.h"

/* Where the buffer begins in its root's memory, before any round. */
static int64_t view_start(const Program *program, int id) {
  int64_t start = 0;
  for (; id >= 0; id = verifier_buffer(program, id)->view_of)
    start += verifier_buffer(program, id)->view_offset;
  return start;
}

static const char *check_bounds(Arena *arena, const Program *program) {
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = verifier_buffer(program, i);
    if (buffer->id != i) return arena_printf(arena, "buffer %d has the number %d", i, buffer->id);
    int64_t end = buffer->kind == BUFFER_WORKER ? program->worker_bytes : program->arena_bytes;
    if (buffer->bytes < type_bytes(buffer->type))
      return arena_printf(arena, "buffer %s is too small for its type", buffer->name);
    int64_t alignment =
        buffer->view_of >= 0 ? dtype_size(buffer->type.dtype) : program->target->alignment;
    if (buffer->offset < 0 || buffer->offset % alignment != 0 ||
        buffer->offset + buffer->bytes > end)
      return arena_printf(arena, "buffer %s is at %lld, outside the memory of %lld or not aligned",
                          buffer->name, (long long)buffer->offset, (long long)end);
    const Buffer *whole = verifier_buffer(program, buffer_root(program, i));
    if ((whole->kind == BUFFER_WORKER) != (buffer->kind == BUFFER_WORKER))
      return arena_printf(arena, "buffer %s is not of the kind of %s", buffer->name, whole->name);
    int64_t start = view_start(program, i);
    if (buffer->offset != whole->offset + start || start + buffer->bytes > whole->bytes)
      return arena_printf(arena, "buffer %s is not where %s is", buffer->name, whole->name);
  }
  return NULL;
}

static const char *check_variables(Arena *arena, const Program *program) {
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *variable = verifier_buffer(program, i);
    if (variable->kind != BUFFER_VARIABLE) continue;
    for (int k = 0; k < program->buffers.count; k++)
      if (k != i && verifier_buffer(program, k)->kind != BUFFER_WORKER &&
          buffer_root(program, k) != buffer_root(program, i) &&
          buffers_overlap(variable, verifier_buffer(program, k)))
        return arena_printf(arena, "variable %s shares memory with %s", variable->name,
                            verifier_buffer(program, k)->name);
  }
  return NULL;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Elements of the buffer that all blocks of the launch touch by this operand; -1: these are not
 * what a launch may touch. */
static int64_t operand_elements(const Verifier *verifier, const Step *step, const Kernel *kernel,
                                int operand) {
  const Buffer *buffer = verifier_buffer(verifier->program, step->operands[operand]);
  const KernelOperand *own = &kernel->operands[operand];
  if (step->loop < 0) return buffer->kind == BUFFER_WORKER ? -1 : own->elements;
  int64_t bytes = step->block_bytes[operand];
  if (bytes == 0) {
    bool is_shared = buffer->kind != BUFFER_WORKER;
    return is_shared && own->is_output ? -1 : own->elements;
  }
  bool is_part = buffer->view_of >= 0 && buffer->scan < 0; /* a row of a scan loop is whole */
  bool fits =
      buffer->kind != BUFFER_WORKER && !is_part && bytes == own->elements * dtype_size(own->dtype);
  return fits ? own->elements * step->task_count : -1;
}

/* A step's task loop lies around it, in one piece. */
static const char *check_loop(const Verifier *verifier, int number) {
  const ProgramEntry *entry = verifier->entry;
  const Step *step = &entry->steps.items[number];
  const char *wrong = arena_printf(verifier->arena, "step %d is not in its task loop", number);
  if (step->loop < 0) {
    for (int i = 0; i < entry->loops.count; i++)
      if (entry->loops.items[i].first_step <= number && number <= entry->loops.items[i].last_step)
        return wrong;
    return NULL;
  }
  if (step->kind != STEP_LAUNCH || step->loop >= entry->loops.count) return wrong;
  const TaskLoop *loop = &entry->loops.items[step->loop];
  bool is_inside = loop->first_step <= number && number <= loop->last_step;
  return is_inside && step->task_count == loop->blocks ? NULL : wrong;
}

/* Is `scan` one of the loops around the step? */
static bool is_around(const ProgramEntry *entry, int scan, const Step *step) {
  int at = step->scan;
  while (at >= 0 && at != scan) at = entry->scans.items[at].outer;
  return at == scan;
}

/* A view stays inside of what it is a part of in all rounds. */
static const char *check_moves(const Verifier *verifier, const Step *step, int id) {
  const Program *program = verifier->program;
  for (; verifier_buffer(program, id)->view_of >= 0; id = verifier_buffer(program, id)->view_of) {
    const Buffer *view = verifier_buffer(program, id),
                 *whole = verifier_buffer(program, view->view_of);
    int64_t first = view->view_offset, last = first;
    if (view->scan >= 0) {
      if (!is_around(verifier->entry, view->scan, step))
        return arena_printf(verifier->arena, "%s uses %s outside of its loop", step->path,
                            view->name);
      int64_t rounds = verifier->entry->scans.items[view->scan].rounds;
      last += view->round_bytes * ((view->turns > 0 ? view->turns : rounds) - 1);
    }
    int64_t least = first < last ? first : last, greatest = first < last ? last : first;
    if (least < 0 || greatest + view->bytes > type_bytes(whole->type))
      return arena_printf(verifier->arena, "%s leaves %s on its way", view->name, whole->name);
  }
  return NULL;
}

/* The scan loops lie in each other or apart and end with a barrier; steps know where they are. */
static const char *check_scans(const Verifier *verifier) {
  const ProgramEntry *entry = verifier->entry;
  for (int i = 0; i < entry->scans.count; i++) {
    const ScanLoop *loop = &entry->scans.items[i];
    const ScanLoop *outer = loop->outer >= 0 ? &entry->scans.items[loop->outer] : NULL;
    bool fits =
        loop->rounds > 0 && loop->outer < i && loop->first_step <= loop->last_step &&
        loop->last_step < entry->steps.count &&
        (!outer || (outer->first_step <= loop->first_step && loop->last_step <= outer->last_step));
    if (!fits) return arena_printf(verifier->arena, "the loop of %s is not closed", loop->path);
  }
  for (int s = 0; s < entry->steps.count; s++) {
    int inner = -1;
    for (int i = 0; i < entry->scans.count; i++)
      if (entry->scans.items[i].first_step <= s && s <= entry->scans.items[i].last_step) inner = i;
    if (entry->steps.items[s].scan != inner)
      return arena_printf(verifier->arena, "step %d is not in its scan loop", s);
  }
  return NULL;
}

/* A buffer is a parameter of this type that the entry reads alone. */
static bool is_constant(Verifier *verifier, int buffer, DType dtype) {
  const Program *program = verifier->program;
  if (buffer >= program->module->variables.count ||
      program->module->variables.items[buffer].kind != VARIABLE_PARAM ||
      verifier_buffer(program, buffer)->type.dtype != dtype)
    return false;
  for (int s = 0; s < verifier->entry->steps.count; s++) {
    AccessList list = step_accesses(verifier->arena, program, &verifier->entry->steps.items[s]);
    for (int i = 0; i < list.count; i++)
      if (list.items[i].writes && buffer_root(program, list.items[i].buffer) == buffer)
        return false;
  }
  return true;
}

/* What a launch keeps is its own, large enough, and the packed form of parameters. */
static const char *check_kept(Verifier *verifier, const Step *step) {
  const Program *program = verifier->program;
  const Kernel *kernel = program->kernels.items[step->kernel];
  const char *wrong =
      arena_printf(verifier->arena, "%s cannot keep what it is to keep", step->path);
  if (kernel->keeps_weights != (step->kept >= 0)) return wrong;
  if (step->kept < 0) return NULL;
  const Buffer *kept = verifier_buffer(program, step->kept);
  int64_t bytes = target_kept_bytes(program->target, kernel);
  if (kept->kind != BUFFER_KEPT || kept->entry != (int)verifier->entry->entry || bytes == 0 ||
      kept->bytes < bytes || kept->alias_of >= 0 || kept->view_of >= 0 || step->scan >= 0 ||
      kernel_template_operands(kernel) < 2 || (step->loop >= 0 && step->block_bytes[1] > 0))
    return wrong;
  DType dtype = kept->type.dtype;
  if (!is_constant(verifier, step->operands[1], dtype) ||
      (kernel->feeder && !is_constant(verifier, step->operands[kernel->feed[1]], dtype)))
    return wrong;
  for (int s = 0; s < verifier->entry->steps.count; s++) {
    const Step *other = &verifier->entry->steps.items[s];
    if (other != step && other->kind == STEP_LAUNCH && other->kept == step->kept) return wrong;
  }
  return NULL;
}

static const char *check_binding(Verifier *verifier, const Step *step) {
  const char *wrong = NULL;
  if (step->kind == STEP_COPY) {
    wrong = check_moves(verifier, step, step->copy_from);
    return wrong ? wrong : check_moves(verifier, step, step->copy_to);
  }
  if (step->kind != STEP_LAUNCH) return NULL;
  const Program *program = verifier->program;
  const Kernel *kernel = program->kernels.items[step->kernel];
  int64_t tasks = step->loop >= 0 ? verifier->entry->loops.items[step->loop].blocks
                                  : target_task_count(program->target, kernel);
  if (step->operand_count != kernel->operand_count || step->scalar_count != kernel->scalar_count ||
      step->key_count != kernel->key_count || step->task_count != tasks)
    return arena_printf(verifier->arena, "%s does not fit its kernel %s", step->path, kernel->name);
  if (kernel->variant > 0 && kernel->variant >= target_variant_count(program->target, kernel))
    return arena_printf(verifier->arena, "the target has no variant %lld of kernel %s",
                        (long long)kernel->variant, kernel->name);
  wrong = check_kept(verifier, step);
  if (wrong) return wrong;
  for (int i = 0; i < step->operand_count; i++) {
    const Buffer *buffer = verifier_buffer(program, step->operands[i]);
    if (buffer->type.dtype != kernel->operands[i].dtype ||
        shape_elements(buffer->type.shape) != operand_elements(verifier, step, kernel, i))
      return arena_printf(verifier->arena, "operand %d of kernel %s does not fit buffer %s", i,
                          kernel->name, buffer->name);
    if (verifier_buffer(program, buffer_root(program, buffer->id))->kind == BUFFER_KEPT)
      return arena_printf(verifier->arena, "%s uses what another step keeps", step->path);
    if (buffer->entry >= 0 && buffer->entry != (int)verifier->entry->entry)
      return arena_printf(verifier->arena, "%s uses a buffer of another entry", step->path);
    wrong = check_moves(verifier, step, step->operands[i]);
    if (wrong) return wrong;
  }
  return NULL;
}

/* Two operands of one launch in one memory: only when neither is written. */
static const char *check_within(Verifier *verifier, const Step *step, const AccessList *list) {
  for (int i = 0; i < list->count; i++) {
    for (int k = 0; k < list->count; k++) {
      const Buffer *a = verifier_buffer(verifier->program, list->items[i].buffer);
      const Buffer *b = verifier_buffer(verifier->program, list->items[k].buffer);
      if (i != k && list->items[i].writes && buffers_overlap(a, b) &&
          !buffers_are_apart(verifier->program, list->items[i].at, list->items[k].at))
        return arena_printf(verifier->arena, "%s writes %s over its operand %s", step->path,
                            a->name, b->name);
    }
  }
  return NULL;
}

/* Reads find a value: from outside, or written by an earlier step. */
static const char *check_written(Verifier *verifier, const Step *step, const AccessList *list) {
  for (int i = 0; i < list->count; i++) {
    const Buffer *buffer = verifier_buffer(verifier->program, list->items[i].buffer);
    bool is_outside = buffer->kind == BUFFER_VARIABLE || buffer->kind == BUFFER_INPUT;
    int root = buffer_root(verifier->program, buffer->id);
    bool in_place = list->items[i].writes && verifier->written[root];
    if (list->items[i].reads && !is_outside && !verifier->written[buffer->id] && !in_place)
      return arena_printf(verifier->arena, "%s reads %s before it is written", step->path,
                          buffer->name);
  }
  for (int i = 0; i < list->count; i++)
    if (list->items[i].writes) {
      verifier->written[list->items[i].buffer] = true;
      verifier->written[buffer_root(verifier->program, list->items[i].buffer)] = true;
    }
  return NULL;
}

/* A step as it is run, in this round of the innermost loop around it. */
typedef struct RunStep {
  int step;
  int round;
} RunStep;

typedef VEC(RunStep) RunStepList;

/* Steps as they are run, with two rounds of each scan loop. */
static void list_steps(const Verifier *verifier, int first, int last, RunStep at,
                       RunStepList *list) {
  const ProgramEntry *entry = verifier->entry;
  for (int s = first; s <= last; s++) {
    int inner = scan_loop_at(entry, s, at.step);
    if (inner < 0) {
      vec_push(verifier->arena, list, ((RunStep){s, at.round}));
      continue;
    }
    for (int round = 0; round < 2; round++)
      list_steps(verifier, s, entry->scans.items[inner].last_step, (RunStep){inner, round}, list);
    s = entry->scans.items[inner].last_step;
  }
}

/* Who wrote to a root's memory last. */
typedef struct LastWriter {
  int whole, at; /* the buffer, and the operand, which may be a row of it; -1: nobody */
  int step, round;
} LastWriter;

/* What the writer took is a row that an earlier round of the loop needed: this one reads the next. */
static bool took_earlier_row(const Verifier *verifier, const LastWriter *writer, int at,
                             const RunStep *now) {
  const Step *steps = verifier->entry->steps.items;
  const Buffer *row = buffer_moving_row(verifier->program, at),
               *taken = buffer_moving_row(verifier->program, writer->at);
  int64_t stride = row->round_bytes < 0 ? -row->round_bytes : row->round_bytes;
  return row->scan >= 0 && row->scan == taken->scan && steps[now->step].scan == row->scan &&
         steps[writer->step].scan == row->scan && writer->round < now->round && row->turns == 0 &&
         taken->turns == 0 && row->round_bytes == taken->round_bytes && row->bytes == stride &&
         taken->bytes == stride && row->offset == taken->offset;
}

/* An overwritten root has lost its old value: nobody may read it by its old name later. */
static const char *check_overwritten(Verifier *verifier) {
  const ProgramEntry *entry = verifier->entry;
  LastWriter *writers = ARENA_ARRAY(verifier->arena, LastWriter, verifier->program->buffers.count);
  RunStepList order = {0};
  list_steps(verifier, 0, entry->steps.count - 1, (RunStep){-1, 0}, &order);
  for (int i = 0; i < verifier->program->buffers.count; i++) writers[i].whole = -1;
  for (int k = 0; k < order.count; k++) {
    const RunStep *now = &order.items[k];
    const Step *step = &entry->steps.items[now->step];
    AccessList list = step_accesses(verifier->arena, verifier->program, step);
    for (int i = 0; i < list.count; i++) {
      const StepAccess *access = &list.items[i];
      LastWriter *writer = &writers[buffer_root(verifier->program, access->buffer)];
      if (!access->writes && writer->whole >= 0 && writer->whole != access->buffer &&
          !took_earlier_row(verifier, writer, access->at, now))
        return arena_printf(verifier->arena, "%s reads %s after %s took its memory", step->path,
                            verifier_buffer(verifier->program, access->buffer)->name,
                            verifier_buffer(verifier->program, writer->whole)->name);
      if (access->writes) *writer = (LastWriter){access->buffer, access->at, now->step, now->round};
    }
  }
  return NULL;
}

/* ---- sharing of memory over time ----------------------------------------------------------- */

static void note_use(Verifier *verifier, int buffer, int step) {
  if (verifier->first[buffer] < 0) verifier->first[buffer] = step;
  verifier->last[buffer] = step;
}

/* What a round finds, or what is used outside of the loop too, is alive in all of the loop. */
static void extend_uses(Verifier *verifier, const ScanLoop *loop) {
  int count = verifier->program->buffers.count;
  bool *seen = ARENA_ARRAY(verifier->arena, bool, count);
  bool *seen_root = ARENA_ARRAY(verifier->arena, bool, count);
  bool *found = ARENA_ARRAY(verifier->arena, bool, count);
  for (int s = loop->first_step; s <= loop->last_step; s++) {
    AccessList list =
        step_accesses(verifier->arena, verifier->program, &verifier->entry->steps.items[s]);
    for (int i = 0; i < list.count; i++) {
      const StepAccess *access = &list.items[i];
      bool in_place = access->writes && seen_root[buffer_root(verifier->program, access->buffer)];
      if (access->reads && !seen[access->buffer] && !in_place) found[access->buffer] = true;
    }
    for (int i = 0; i < list.count; i++) {
      seen[list.items[i].buffer] = true;
      seen_root[buffer_root(verifier->program, list.items[i].buffer)] = true;
    }
  }
  for (int i = 0; i < count; i++) {
    bool is_outside = verifier->first[i] < loop->first_step || verifier->last[i] > loop->last_step;
    if (!seen[i] || !(found[i] || is_outside)) continue;
    if (verifier->first[i] > loop->first_step) verifier->first[i] = loop->first_step;
    if (verifier->last[i] < loop->last_step) verifier->last[i] = loop->last_step;
  }
}

/* First and last step of each buffer's value. An update in place reads the value that was in the
 * memory before, whatever it was called. */
static void find_uses(Verifier *verifier) {
  const Program *program = verifier->program;
  int *writer = ARENA_ARRAY(verifier->arena, int, program->buffers.count); /* by root */
  for (int i = 0; i < program->buffers.count; i++)
    verifier->first[i] = verifier->last[i] = writer[i] = -1;
  for (int s = 0; s < verifier->entry->steps.count; s++) {
    AccessList list = step_accesses(verifier->arena, program, &verifier->entry->steps.items[s]);
    for (int i = 0; i < list.count; i++) {
      int id = list.items[i].buffer, root = buffer_root(program, id);
      note_use(verifier, id, s);
      if (list.items[i].reads && writer[root] >= 0) note_use(verifier, writer[root], s);
      if (list.items[i].writes) writer[root] = id;
    }
  }
  for (int i = verifier->entry->scans.count - 1; i >= 0; i--) /* the inner ones first */
    extend_uses(verifier, &verifier->entry->scans.items[i]);
  for (int i = 0; i < program->buffers.count; i++) {
    BufferKind kind = verifier_buffer(program, i)->kind;
    if (kind == BUFFER_ACTIVATION || kind == BUFFER_WORKER ||
        verifier_buffer(program, i)->entry != (int)verifier->entry->entry)
      continue;
    verifier->first[i] = 0; /* the host has them before and after */
    verifier->last[i] = verifier->entry->steps.count;
  }
}

/* Values of a block: of one loop, apart from what its kernels use and from each other while both
 * live. */
static const char *check_block_values(Verifier *verifier) {
  const Program *program = verifier->program;
  const Step *steps = verifier->entry->steps.items;
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *a = verifier_buffer(program, i);
    int first = verifier->first[i], last = verifier->last[i];
    if (a->kind != BUFFER_WORKER || a->entry != (int)verifier->entry->entry || first < 0) continue;
    if (steps[first].loop < 0 || steps[first].loop != steps[last].loop)
      return arena_printf(verifier->arena, "%s leaves its task loop", a->name);
    const TaskLoop *loop = &verifier->entry->loops.items[steps[first].loop];
    for (int s = loop->first_step; s <= loop->last_step; s++)
      if (a->offset < target_worker_bytes(program->target, program->kernels.items[steps[s].kernel]))
        return arena_printf(verifier->arena, "%s lies where %s works", a->name, steps[s].path);
    for (int k = 0; k < i; k++) {
      const Buffer *b = verifier_buffer(program, k);
      bool is_other = b->kind == BUFFER_WORKER && b->entry == a->entry &&
                      buffer_root(program, i) != buffer_root(program, k) && verifier->first[k] >= 0;
      if (is_other && buffers_overlap(a, b) && first <= verifier->last[k] &&
          verifier->first[k] <= last)
        return arena_printf(verifier->arena, "%s and %s share memory but are alive together",
                            a->name, b->name);
    }
  }
  return NULL;
}

static const char *check_sharing(Verifier *verifier) {
  const Program *program = verifier->program;
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *a = verifier_buffer(program, i);
    if (a->entry != (int)verifier->entry->entry || verifier->first[i] < 0 ||
        a->kind == BUFFER_WORKER)
      continue;
    for (int k = 0; k < i; k++) {
      const Buffer *b = verifier_buffer(program, k);
      if (b->entry != a->entry || verifier->first[k] < 0 || !buffers_overlap(a, b)) continue;
      if (buffer_root(program, i) == buffer_root(program, k)) continue;
      int *barriers = verifier->barriers;
      if (barriers[verifier->last[i]] < barriers[verifier->first[k]] ||
          barriers[verifier->last[k]] < barriers[verifier->first[i]])
        continue;
      return arena_printf(verifier->arena, "%s and %s share memory but are alive together", a->name,
                          b->name);
    }
  }
  return NULL;
}

/* The workers' blocks hold what each step needs of them, lie above all that is alive, and stay where they are
 * while no barrier parts the steps. */
static const char *check_workspace(Verifier *verifier) {
  const Program *program = verifier->program;
  const ProgramEntry *entry = verifier->entry;
  const int *time = verifier->barriers;
  const Step *other = NULL; /* the last step that is no barrier */
  for (int s = 0; s < entry->steps.count; s++) {
    const Step *step = &entry->steps.items[s];
    if (step->kind == STEP_BARRIER) continue;
    if (step->work_at % program->target->alignment || step->work_bytes % program->target->alignment)
      return arena_printf(verifier->arena, "workers' blocks of %s are not aligned", step->path);
    if (other && time[other - entry->steps.items] == time[s] &&
        (other->work_at != step->work_at || other->work_bytes != step->work_bytes))
      return arena_printf(verifier->arena, "workers' blocks move between %s and %s", other->path,
                          step->path);
    other = step;
    if (step->kind == STEP_LAUNCH && program->target->blocks_move) {
      int64_t need = target_worker_bytes(program->target, program->kernels.items[step->kernel]);
      for (int i = 0; i < step->operand_count; i++) {
        const Buffer *buffer = verifier_buffer(program, step->operands[i]);
        if (buffer->kind == BUFFER_WORKER) need = greatest(need, buffer->offset + buffer->bytes);
      }
      if (step->work_bytes < need)
        return arena_printf(verifier->arena, "%s needs %lld bytes of a worker's block of %lld",
                            step->path, (long long)need, (long long)step->work_bytes);
    }
    for (int i = 0; step->work_bytes > 0 && i < program->buffers.count; i++) {
      const Buffer *buffer = verifier_buffer(program, i);
      bool is_variable = buffer->kind == BUFFER_VARIABLE;
      bool is_own = buffer->entry == (int)entry->entry && buffer->kind != BUFFER_WORKER &&
                    verifier->first[i] >= 0 && time[verifier->first[i]] <= time[s] &&
                    time[s] <= time[verifier->last[i]];
      if ((is_variable || is_own) && buffer->offset + buffer->bytes > step->work_at)
        return arena_printf(verifier->arena, "%s lies where workers of %s work", buffer->name,
                            step->path);
    }
  }
  return NULL;
}

static Verifier verifier_create(Arena *arena, const Program *program, EntryKind kind) {
  int buffers = program->buffers.count;
  const ProgramEntry *entry = &program->entries[kind];
  return (Verifier){.arena = arena,
                    .program = program,
                    .entry = entry,
                    .barriers = barriers_before(arena, entry),
                    .first = ARENA_ARRAY(arena, int, buffers),
                    .last = ARENA_ARRAY(arena, int, buffers),
                    .written = ARENA_ARRAY(arena, bool, buffers)};
}

/* The steps one by one, without regard to where buffers lie. */
static const char *check_steps(Verifier *verifier, bool is_whole) {
  const ProgramEntry *entry = verifier->entry;
  const char *wrong = is_whole ? check_scans(verifier) : NULL;
  for (int s = 0; s < entry->steps.count && !wrong; s++) {
    const Step *step = &entry->steps.items[s];
    wrong = check_loop(verifier, s);
    if (wrong == NULL) wrong = check_binding(verifier, step);
    if (wrong || !is_whole) continue;
    AccessList list = step_accesses(verifier->arena, verifier->program, step);
    wrong = check_written(verifier, step, &list);
  }
  return wrong;
}

const char *steps_verify(Arena *arena, const Program *program, EntryKind kind, bool is_whole) {
  Verifier verifier = verifier_create(arena, program, kind);
  return check_steps(&verifier, is_whole);
}

static const char *check_entry(Verifier *verifier) {
  const ProgramEntry *entry = verifier->entry;
  const char *wrong = check_steps(verifier, true);
  for (int s = 0; s < entry->steps.count && !wrong; s++) {
    AccessList list = step_accesses(verifier->arena, verifier->program, &entry->steps.items[s]);
    wrong = check_within(verifier, &entry->steps.items[s], &list);
  }
  for (int i = 0; i < entry->results.count && !wrong; i++)
    if (!verifier->written[entry->results.items[i]])
      wrong = arena_printf(verifier->arena, "result %s is never written",
                           verifier_buffer(verifier->program, entry->results.items[i])->name);
  for (int i = 0; i < verifier->program->buffers.count && !wrong; i++) {
    const Buffer *buffer = verifier_buffer(verifier->program, i);
    bool is_begun = entry->entry == ENTRY_INIT && buffer->kind == BUFFER_VARIABLE;
    if (is_begun && !verifier->written[i])
      wrong = arena_printf(verifier->arena, "variable %s is never written", buffer->name);
  }
  if (wrong) return wrong;
  find_uses(verifier);
  wrong = check_overwritten(verifier);
  if (wrong == NULL) wrong = verify_barriers(verifier);
  if (wrong == NULL) wrong = check_block_values(verifier);
  if (wrong == NULL) wrong = check_workspace(verifier);
  return wrong ? wrong : check_sharing(verifier);
}

/* What is said of memory is what buffers and kernels need. */
static const char *check_sizes(Arena *arena, const Program *program) {
  int64_t arena_bytes = 0, worker_bytes = 0, sums[VARIABLE_KIND_COUNT] = {0};
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = verifier_buffer(program, i);
    int64_t *end = buffer->kind == BUFFER_WORKER ? &worker_bytes : &arena_bytes;
    *end = greatest(*end, buffer->offset + buffer->bytes);
    if (buffer->kind == BUFFER_VARIABLE)
      sums[program->module->variables.items[i].kind] += type_bytes(buffer->type);
  }
  for (int i = 0; i < program->kernels.count; i++)
    worker_bytes =
        greatest(worker_bytes, target_worker_bytes(program->target, program->kernels.items[i]));
  if (program->arena_bytes == arena_bytes && program->worker_bytes == worker_bytes &&
      program->parameter_bytes == sums[VARIABLE_PARAM] &&
      program->optimizer_bytes == sums[VARIABLE_OPTIMIZER] &&
      program->state_bytes == sums[VARIABLE_STATE] + sums[VARIABLE_STREAM] + sums[VARIABLE_FITTED])
    return NULL;
  return arena_printf(arena, "the arena needs %lld bytes, a worker %lld, the parameters %lld",
                      (long long)arena_bytes, (long long)worker_bytes,
                      (long long)sums[VARIABLE_PARAM]);
}

const char *program_verify(Arena *arena, const Program *program) {
  const char *wrong = check_bounds(arena, program);
  if (wrong == NULL) wrong = check_variables(arena, program);
  if (wrong == NULL) wrong = check_sizes(arena, program);
  for (int e = 0; e < ENTRY_COUNT && wrong == NULL; e++) {
    if (!program->entries[e].present) continue;
    Verifier verifier = verifier_create(arena, program, (EntryKind)e);
    wrong = check_entry(&verifier);
    if (wrong) wrong = arena_printf(arena, "entry %s: %s", entry_name((EntryKind)e), wrong);
  }
  return wrong;
}
