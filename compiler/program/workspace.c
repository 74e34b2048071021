/* Where the workers' blocks of memory lie: above all that is alive, phase by phase.
 *
 * A phase is what lies between two barriers. Few of them need large blocks, and few are those in which most
 * values live. So the blocks begin where the last living value of their phase ends, and memory needs to hold
 * the worst phase instead of the most values and the largest blocks. All steps of a phase have them in one
 * place, since no worker waits for another between them.
 *
 * How many workers there are is known when the program starts. It then needs the greatest of `at` + workers *
 * `bytes` over the phases. */
#include "program/workspace.h"

#include "program/barriers.h"
#include "support/integers.h"

static int64_t step_need(const Program *program, const Step *step) {
  if (step->kind != STEP_LAUNCH) return 0;
  int64_t bytes = target_worker_bytes(program->target, program->kernels.items[step->kernel]);
  for (int i = 0; i < step->operand_count; i++) {
    const Buffer *buffer = &program->buffers.items[step->operands[i]];
    if (buffer->kind == BUFFER_WORKER) bytes = greatest(bytes, buffer->offset + buffer->bytes);
  }
  return bytes;
}

int64_t *workspace_of_steps(Arena *arena, const Program *program, const ProgramEntry *entry) {
  if (!program->target->blocks_move) return NULL;
  int64_t *bytes = ARENA_ARRAY(arena, int64_t, entry->steps.count + 1);
  for (int s = 0; s < entry->steps.count; s++)
    bytes[s] = step_need(program, &entry->steps.items[s]);
  return bytes;
}

int64_t *workspace_needs(Arena *arena, const Program *program, const ProgramEntry *entry,
                         const int *time) {
  const int64_t *steps = workspace_of_steps(arena, program, entry);
  if (!steps) return NULL;
  int64_t *needs = ARENA_ARRAY(arena, int64_t, time[entry->steps.count] + 1);
  for (int s = 0; s < entry->steps.count; s++) needs[time[s]] = greatest(needs[time[s]], steps[s]);
  return needs;
}

/* By time: the end of what is alive. */
static int64_t *find_ends(Arena *arena, const Program *program, const ProgramEntry *entry,
                          const int *time) {
  int count = time[entry->steps.count] + 1;
  int64_t *ends = ARENA_ARRAY(arena, int64_t, count);
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    bool is_variable = buffer->kind == BUFFER_VARIABLE;
    if (buffer->kind == BUFFER_WORKER || buffer->alias_of >= 0) continue;
    if (!is_variable && buffer->entry != (int)entry->entry) continue;
    int first = is_variable ? 0 : time[buffer->first_step];
    int last = is_variable ? count - 1 : time[buffer->last_step];
    for (int t = first; t <= last; t++) ends[t] = greatest(ends[t], buffer->offset + buffer->bytes);
  }
  return ends;
}

void workspace_place(Program *program, ProgramEntry *entry) {
  Arena *scratch = arena_create();
  const int *time = barriers_before(scratch, entry);
  const int64_t *needs = workspace_needs(scratch, program, entry, time);
  const int64_t *ends = needs ? find_ends(scratch, program, entry, time) : NULL;
  for (int s = 0; needs && s < entry->steps.count; s++) {
    Step *step = &entry->steps.items[s];
    if (step->kind == STEP_BARRIER || needs[time[s]] == 0) continue;
    step->work_at = ends[time[s]];
    step->work_bytes = needs[time[s]];
  }
  arena_destroy(scratch);
}

Workspace workspace_of_filling(const ProgramEntry *entry) {
  Workspace space = {0, 0};
  for (int s = 0; s < entry->steps.count; s++) {
    const Step *step = &entry->steps.items[s];
    if (step->kind != STEP_LAUNCH || step->kept < 0) continue;
    space.at = greatest(space.at, step->work_at);
    space.bytes = greatest(space.bytes, step->work_bytes);
  }
  return space;
}

/* Where another one begins no earlier and has no smaller blocks, the first does not matter. */
static void note_workspace(Arena *arena, WorkspaceList *list, Workspace space) {
  if (space.bytes == 0) return;
  int kept = 0;
  for (int i = 0; i < list->count; i++) {
    Workspace *other = &list->items[i];
    if (other->at >= space.at && other->bytes >= space.bytes) return;
    if (other->at > space.at || other->bytes > space.bytes) list->items[kept++] = *other;
  }
  list->count = kept;
  vec_push(arena, list, space);
}

WorkspaceList program_workspaces(Arena *arena, const Program *program) {
  WorkspaceList list = {0};
  for (int e = 0; e < ENTRY_COUNT; e++) {
    const ProgramEntry *entry = &program->entries[e];
    if (!entry->present) continue;
    for (int s = 0; s < entry->steps.count; s++) {
      const Step *step = &entry->steps.items[s];
      note_workspace(arena, &list, (Workspace){step->work_at, step->work_bytes});
    }
    note_workspace(arena, &list, workspace_of_filling(entry));
  }
  return list;
}

int64_t program_bytes(const Program *program, int threads) {
  if (!program->target->blocks_move) return program->arena_bytes + threads * program->worker_bytes;
  Arena *scratch = arena_create();
  WorkspaceList list = program_workspaces(scratch, program);
  int64_t bytes = program->arena_bytes;
  for (int i = 0; i < list.count; i++)
    bytes = greatest(bytes, list.items[i].at + threads * list.items[i].bytes);
  arena_destroy(scratch);
  return bytes;
}
