/* Why a memory limit cannot be met: the least that can, and what holds the memory. */
#include "memory/fitter.h"

#include <math.h>

#include "support/integers.h"

enum { SHOWN_HOLDERS = 3 };

static const char *bytes_text(Arena *arena, int64_t bytes) {
  Text text = {0};
  text_add_bytes_size(&text, (double)bytes);
  text_add(&text, " (");
  text_add_grouped(&text, bytes);
  text_add(&text, " bytes)");
  return text_take(&text, arena);
}

/* The step of the entry during which most bytes are alive. */
static int peak_step(const Program *program, const ProgramEntry *entry) {
  int best = 0;
  for (int step = 1; step < entry->steps.count; step++)
    if (live_bytes(program, entry, step) > live_bytes(program, entry, best)) best = step;
  return best;
}

static void note_holders(Arena *arena, Diagnostic *error, const Program *program,
                         const ProgramEntry *entry) {
  int step = peak_step(program, entry), shown[SHOWN_HOLDERS];
  for (int n = 0; n < SHOWN_HOLDERS; n++) {
    int largest = -1;
    for (int i = 0; i < program->buffers.count; i++) {
      const Buffer *buffer = &program->buffers.items[i];
      bool is_candidate = buffer_is_live(buffer, entry, step);
      for (int k = 0; k < n; k++) is_candidate = is_candidate && shown[k] != i;
      if (is_candidate && (largest < 0 || buffer->bytes > program->buffers.items[largest].bytes))
        largest = i;
    }
    if (largest < 0) return;
    shown[n] = largest;
    const Buffer *buffer = &program->buffers.items[largest];
    Text type = {0};
    text_add_type(&type, buffer->type);
    diag_note(error, entry->steps.items[step].span, "held while '%s' is computed: %s %s, %s",
              entry->steps.items[step].path, buffer->name, type.data,
              bytes_text(arena, buffer->bytes));
    text_free(&type);
  }
}

/* A scan that is a loop, on the way to the node; NULL: there is none. */
static const Node *find_loop(const Node *node, bool *seen) {
  if (seen[node->id] || node->body) return node->body ? node : NULL;
  seen[node->id] = true;
  for (int i = 0; i < node->operand_count; i++) {
    const Node *found = find_loop(node->operands[i], seen);
    if (found) return found;
  }
  return NULL;
}

static void note_coupled(Arena *arena, Diagnostic *error, const Node *coupled) {
  if (!coupled) return;
  const Node *loop = find_loop(coupled, ARENA_ARRAY(arena, bool, coupled->id + 1));
  if (loop)
    diag_note(error, loop->span,
              "no micro-batches: '%s' is a loop over steps, whose rounds take the whole batch",
              loop->path);
  else
    diag_note(error, coupled->span,
              "no micro-batches: each example needs '%s', which depends on all examples of the "
              "batch",
              coupled->path);
}

/* The least share that can be met, in whole percents. */
static double least_percent(const Fitter *fitter, const Program *program, int64_t least_peak) {
  double variables = (double)(program->arena_bytes - program->activation_bytes);
  double whole = (double)fitter->default_peak - variables;
  return ceil(100 * ((double)least_peak - variables) / whole);
}

static Diagnostic *add_error(Fitter *fitter, Diagnostics *diagnostics, const Program *program) {
  const char *limit = bytes_text(fitter->arena, fitter->request->limit);
  /* What was tried may all need more than no limit does: scans that are written out. */
  int64_t least_peak = least(fitter->best_peak, fitter->default_peak);
  const char *least_text = bytes_text(fitter->arena, least_peak);
  if (fitter->request->share == 0)
    return diag_error(diagnostics, (Span){0},
                      "the memory limit of %s cannot be met; the least is %s", limit, least_text);
  return diag_error(diagnostics, (Span){0},
                    "the memory limit of %g %%, with parameters and states %s, cannot be met; the "
                    "least is %g %%, %s",
                    100 * fitter->request->share, limit, least_percent(fitter, program, least_peak),
                    least_text);
}

void memory_refuse(Fitter *fitter, Diagnostics *diagnostics) {
  Arena *arena = fitter->arena;
  Module module = *fitter->module;
  RecomputeResult result;
  candidate_apply(fitter, &module, &fitter->best, arena, &result);
  const Node *coupled = fitter->coupled;
  ProgramOptions lowering;
  const Program *program = memory_plan(arena, &module, fitter->request, 0, &lowering);
  EntryKind largest = ENTRY_INIT;
  for (int i = 0; i < ENTRY_COUNT; i++)
    if (program->entries[i].present &&
        entry_bytes(program, (EntryKind)i) > entry_bytes(program, largest))
      largest = (EntryKind)i;
  Diagnostic *error = add_error(fitter, diagnostics, program);
  diag_note(error, (Span){0}, "parameters take %s, optimizer state %s, state %s",
            bytes_text(arena, program->parameter_bytes),
            bytes_text(arena, program->optimizer_bytes), bytes_text(arena, program->state_bytes));
  int64_t workspace = program_peak(program, fitter->request->threads) - program->arena_bytes;
  if (workspace > 0)
    diag_note(error, (Span){0}, "workspace of %d thread%s, beyond what values take: %s",
              fitter->request->threads, fitter->request->threads == 1 ? "" : "s",
              bytes_text(arena, workspace));
  diag_note(error, (Span){0}, "values of the entry %s take %s (%s)", entry_name(largest),
            bytes_text(arena, entry_bytes(program, largest)),
            candidate_text(arena, &fitter->best, module.run.batch));
  note_holders(arena, error, program, &program->entries[largest]);
  note_coupled(arena, error, coupled);
  if (fitter->request->threads > 1 && program->worker_bytes > 0)
    diag_help(error, "--threads=1 needs a single workspace");
}
