/* Candidates: how one changes a module, and the plan of the result. */
#include "memory/fitter.h"

#include <string.h>

#include "ops/verify.h"
#include "passes/microbatch.h"
#include "program/workspace.h"
#include "support/integers.h"
#include "support/panic.h"

enum { MOST_NODES = 12000 }; /* of an entry in pieces: planning takes seconds beyond */

const EntryKind fitted_entries[FITTED_COUNT] = {ENTRY_TRAIN, ENTRY_ACCUMULATE, ENTRY_EVAL};

int64_t program_peak(const Program *program, int threads) {
  return program_bytes(program, threads);
}

static Program *make_plan(Arena *arena, const Module *module, const ProgramOptions *lowering,
                          int64_t most_bytes) {
  ProgramOptions options = *lowering;
  options.most_bytes = most_bytes;
  return program_create(arena, module, &options);
}

static bool has_loops(const Program *program) {
  for (int e = 0; e < ENTRY_COUNT; e++)
    if (program->entries[e].loops.count > 0) return true;
  return false;
}

/* Without task loops where the limit is not met with them and they need more. */
Program *memory_plan(Arena *arena, const Module *module, const MemoryRequest *request,
                     int64_t most_bytes, ProgramOptions *lowering) {
  *lowering = request->lowering;
  Program *program = make_plan(arena, module, lowering, most_bytes);
  int64_t peak = program_peak(program, request->threads);
  if (peak <= request->limit || !has_loops(program)) return program;
  ProgramOptions plain = request->lowering;
  plain.without_loops = true;
  Program *other = make_plan(arena, module, &plain, most_bytes);
  if (program_peak(other, request->threads) >= peak) return program;
  *lowering = plain;
  return other;
}

int64_t entry_bytes(const Program *program, EntryKind entry) {
  int64_t variables = program->arena_bytes - program->activation_bytes, end = variables;
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    if (buffer->entry == (int)entry && buffer->kind != BUFFER_WORKER &&
        buffer->offset + buffer->bytes > end)
      end = buffer->offset + buffer->bytes;
  }
  return end - variables;
}

int64_t entry_peak(const Program *program, EntryKind kind, int threads) {
  const ProgramEntry *entry = &program->entries[kind];
  int64_t end = program->arena_bytes - program->activation_bytes + entry_bytes(program, kind);
  if (!program->target->blocks_move) return end + threads * program->worker_bytes;
  for (int s = 0; s < entry->steps.count; s++) {
    const Step *step = &entry->steps.items[s];
    end = greatest(end, step->work_at + threads * step->work_bytes);
  }
  return end;
}

bool candidate_apply(Fitter *fitter, Module *module, const Candidate *candidate, Arena *arena,
                     RecomputeResult *total) {
  *total = (RecomputeResult){0};
  for (int i = 0; i < FITTED_COUNT; i++) {
    EntryKind kind = fitted_entries[i];
    Graph *graph = module->entries[kind];
    if (!graph || !fitter->is_large[kind]) continue;
    if (candidate->recompute.segments > 1) {
      RecomputeResult result;
      graph = graph_recompute(arena, graph, &candidate->recompute, &result);
      total->node_count += result.node_count;
      total->flops += result.flops;
      if (kind == ENTRY_TRAIN) memcpy(&total->kept, &result.kept, sizeof total->kept);
    }
    if (candidate->pieces > 1) {
      if ((int64_t)graph->nodes.count * candidate->pieces > MOST_NODES) return false;
      graph = graph_microbatch(arena, module, graph, candidate->pieces, &fitter->coupled);
      if (!graph) return false;
    }
    module->entries[kind] = graph;
  }
  return true;
}

void candidate_verify(Arena *arena, const Module *module) {
  const char *broken = module_verify(arena, module);
  if (broken) panic("less memory made a bad module: %s", broken);
}

Module *memory_divide(Arena *arena, const Module *module, int pieces) {
  Module *divided = ARENA_NEW(arena, Module);
  *divided = *module;
  Fitter fitter = {.is_large = {[ENTRY_TRAIN] = true, [ENTRY_ACCUMULATE] = true}};
  const Candidate candidate = {.pieces = pieces, .recompute = {.segments = 1}};
  RecomputeResult none;
  if (!candidate_apply(&fitter, divided, &candidate, arena, &none)) return NULL;
  candidate_verify(arena, divided);
  return divided;
}

const char *candidate_text(Arena *arena, const Candidate *candidate, int64_t batch) {
  const char *pieces = candidate->pieces > 1
                           ? arena_printf(arena, "%d micro-batches of %lld example%s",
                                          candidate->pieces, (long long)(batch / candidate->pieces),
                                          batch / candidate->pieces == 1 ? "" : "s")
                           : "no micro-batches";
  if (candidate->recompute.segments == 1)
    return arena_printf(arena, "%s, no recomputation", pieces);
  return arena_printf(arena, "%s, recomputation of %s values in %d%s segments", pieces,
                      candidate->recompute.cheap_only ? "cheap" : "all",
                      candidate->recompute.segments,
                      candidate->recompute.tapers ? " tapering" : "");
}
