/* How a memory limit is met: candidates are planned, the fastest that fits is taken.
 *
 * A candidate is a number of micro-batches and a recomputation (segments, equal or tapering, cheap
 * values or all). All recomputations of one number of micro-batches are made, lowered and planned;
 * of those that fit, the one is taken whose step should take the shortest, by flops, bytes moved
 * and barriers of its program. When none fits, the number of micro-batches grows to the next
 * divisor of the batch that is at least twice as large. Once there are several, it grows once
 * more, if that is no large work: the smaller parts may need no recomputation. What does not fit
 * with task loops is planned without them, too. A plan that can neither fit nor be the smallest so
 * far is made quickly. The peak of every other one is exact, so only the choice rests on an
 * estimate. Entries that are too large by themselves are changed, all of them only where that is
 * not enough. Graphs of more than MOST_NODES (candidate.c) are not tried.
 *
 * The limit is for the arena and the blocks of `threads` workers. */
#include "memory/fitter.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "passes/pass.h"
#include "support/clock.h"
#include "support/integers.h"

enum {
  MOST_CANDIDATES = 45,
  MOST_NODES_FURTHER = 4000 /* of an entry in pieces, to look further when some candidates fit */
};

static const int segment_counts[] = {2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32};

int memory_default_threads(void) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : (int)online;
}

static double entry_cost(const Program *program, EntryKind kind) {
  const ProgramEntry *entry = &program->entries[kind];
  const TargetCosts *costs = &program->target->costs;
  return entry->flops + costs->byte * entry->bytes + costs->barrier * entry->barrier_count;
}

static double step_cost(const Program *program) {
  double earlier = (double)program->module->run.accumulate - 1;
  return entry_cost(program, ENTRY_TRAIN) +
         (earlier > 0 ? earlier * entry_cost(program, ENTRY_ACCUMULATE) : 0);
}

/* Plans the candidate, for its peak and its cost. */
static void try_candidate(Fitter *fitter, Candidate *candidate) {
  Arena *scratch = arena_create();
  Module module = *fitter->module;
  RecomputeResult result;
  candidate->peak = -1;
  if (candidate_apply(fitter, &module, candidate, scratch, &result)) {
    candidate_verify(scratch, &module);
    int64_t most = greatest(fitter->request->limit, fitter->best_peak);
    const Program *program =
        memory_plan(scratch, &module, fitter->request, most, &candidate->lowering);
    candidate->peak = program_peak(program, fitter->request->threads);
    candidate->cost = step_cost(program);
    if (fitter->request->verbose)
      fprintf(stderr, "memory: %s: %lld bytes, cost %.0f Mflop\n",
              candidate_text(scratch, candidate, module.run.batch), (long long)candidate->peak,
              candidate->cost * 1e-6);
    if (candidate->peak < fitter->best_peak) {
      fitter->best_peak = candidate->peak;
      fitter->best = *candidate;
    }
  }
  arena_destroy(scratch);
}

static int by_flops(const void *a, const void *b) {
  const Candidate *x = a, *y = b;
  if (x->flops != y->flops) return x->flops < y->flops ? -1 : 1;
  if (x->recomputed != y->recomputed) return x->recomputed < y->recomputed ? -1 : 1;
  if (x->recompute.segments != y->recompute.segments)
    return x->recompute.segments - y->recompute.segments;
  return x->recompute.tapers - y->recompute.tapers;
}

/* All recomputations that differ, the cheapest first; the first is none at all. */
static int list_candidates(Fitter *fitter, int pieces, Candidate *list) {
  int count = 0;
  list[count++] = (Candidate){.pieces = pieces, .recompute = {.segments = 1}};
  for (size_t i = 0; i < 4 * sizeof segment_counts / sizeof *segment_counts; i++) {
    Candidate candidate = {.pieces = 1,
                           .recompute = {segment_counts[i / 4], i / 2 % 2 == 0, i % 2 == 1}};
    Arena *scratch = arena_create();
    Module module = *fitter->module;
    RecomputeResult result;
    candidate_apply(fitter, &module, &candidate, scratch, &result);
    candidate.pieces = pieces;
    candidate.recomputed = result.node_count;
    candidate.flops = result.flops;
    bool is_new = result.node_count > 0 && count < MOST_CANDIDATES;
    for (int k = 0; k < count && is_new; k++)
      is_new = list[k].recomputed != candidate.recomputed || list[k].flops != candidate.flops ||
               list[k].recompute.segments != candidate.recompute.segments ||
               list[k].recompute.tapers != candidate.recompute.tapers;
    if (is_new) list[count++] = candidate;
    arena_destroy(scratch);
  }
  qsort(list, (size_t)count, sizeof *list, by_flops);
  return count;
}

/* The next divisor of the batch that is at least twice as large; 0: there is none. */
static int next_pieces(const Module *module, int pieces) {
  for (int64_t next = 2 * (int64_t)pieces; next <= module->run.batch; next++)
    if (module->run.batch % next == 0) return (int)next;
  return 0;
}

/* ---- progress ---- */

static bool shows_progress(const Fitter *fitter) {
  return !fitter->request->verbose && isatty(STDERR_FILENO);
}

/* A line on a terminal, which the next one replaces. How many numbers of micro-batches are left depends on what fits, so
 * only the plans of one are counted. */
static void say_progress(const Fitter *fitter, int pieces, int done, int all, double began) {
  if (!shows_progress(fitter)) return;
  fprintf(stderr, "\r\033[Kmemory: %d micro-batch%s of %lld, plan %d of %d", pieces,
          pieces == 1 ? "" : "es", (long long)fitter->module->run.batch / pieces, done + 1, all);
  if (done > 0)
    fprintf(stderr, ", %.0f s left", (clock_seconds() - began) / done * (all - done) + .5);
}

static void end_progress(const Fitter *fitter) {
  if (shows_progress(fitter)) fputs("\r\033[K", stderr);
}

/* Plans all candidates of a number of micro-batches; *found becomes the cheapest that fits (peak 0:
 * none so far). False when so many pieces, and any more, are impossible. */
static bool search_pieces(Fitter *fitter, int pieces, Candidate *found) {
  Candidate list[MOST_CANDIDATES];
  int count = list_candidates(fitter, pieces, list);
  double began = clock_seconds();
  for (int i = 0; i < count; i++) {
    say_progress(fitter, pieces, i, count, began);
    try_candidate(fitter, &list[i]);
    if (list[i].peak < 0) return false;
    bool fits = list[i].peak <= fitter->request->limit;
    if (fits && (found->peak == 0 || list[i].cost < found->cost)) *found = list[i];
  }
  return true;
}

/* False when no candidate fits. */
static bool search(Fitter *fitter, Candidate *found) {
  int64_t nodes = fitter->module->entries[ENTRY_TRAIN]->nodes.count;
  *found = (Candidate){0};
  for (int pieces = 1; pieces > 0; pieces = next_pieces(fitter->module, pieces)) {
    bool is_further = found->peak > 0; /* whole batches, bit for bit the same, are best */
    if (is_further && (found->pieces == 1 || nodes * pieces > MOST_NODES_FURTHER)) break;
    if (!search_pieces(fitter, pieces, found) || is_further) break;
  }
  return found->peak > 0;
}

/* ---- fitting ---- */

static void find_large(Fitter *fitter, const Program *program) {
  for (int i = 0; i < FITTED_COUNT; i++) {
    EntryKind kind = fitted_entries[i];
    fitter->is_large[kind] =
        program->entries[kind].present &&
        entry_peak(program, kind, fitter->request->threads) > fitter->request->limit;
  }
}

static bool has_loops(const Module *module) {
  bool found = false;
  for (int i = 0; i < ENTRY_COUNT; i++)
    found = found || (module->entries[i] && graph_has_scans(module->entries[i]));
  return found;
}

/* Writes out the scans that are loops, if that is not too much: then their steps can be computed
 * again one by one, and cut into micro-batches. */
static bool write_scans_out(Arena *arena, Module *module, int level) {
  Module written = *module;
  Diagnostics *refusals = diagnostics_create(arena);
  PipelineOptions rest = {.level = level, .start_after = "expand"};
  bool stopped;
  if (module->run.scans != SCANS_AUTO || !has_loops(module)) return false;
  written.run.scans = SCANS_UNROLL;
  pass_find("unroll")->run(&written, refusals);
  if (diagnostics_error_count(refusals) > 0 || !passes_run(&written, refusals, &rest, &stopped))
    return false;
  *module = written;
  return true;
}

/* Changes the module to what was found. */
static void accept(Fitter *fitter, const Candidate *found, MemoryFit *fit) {
  RecomputeResult result;
  candidate_apply(fitter, fitter->module, found, fitter->arena, &result);
  candidate_verify(fitter->arena, fitter->module);
  fit->lowering = found->lowering;
  fit->peak = found->peak;
  fit->pieces = found->pieces;
  fit->segments = found->recompute.segments;
  fit->cheap_only = found->recompute.cheap_only;
  fit->recomputed = result.node_count;
  fit->flops = result.flops;
  fit->kept_count = result.kept.count;
  fit->kept = result.kept.items;
}

/* The bytes of a share: variables are whole in it. */
static int64_t share_bytes(const Program *program, const MemoryRequest *request) {
  int64_t variables = program->arena_bytes - program->activation_bytes;
  double others = (double)(program_peak(program, request->threads) - variables);
  return variables + (int64_t)llround(request->share * others);
}

/* Entries that are no larger than the limit by themselves may hold it up all the same, by the workspace that they
 * need: then all are changed. */
static bool search_all(Fitter *fitter, Candidate *found) {
  bool is_new = false;
  if (search(fitter, found)) return true;
  for (int i = 0; i < FITTED_COUNT; i++) {
    EntryKind kind = fitted_entries[i];
    is_new = is_new || (fitter->module->entries[kind] && !fitter->is_large[kind]);
    fitter->is_large[kind] = true;
  }
  return is_new && search(fitter, found);
}

bool memory_fit(Arena *arena, Module *module, Diagnostics *diagnostics, const MemoryRequest *wanted,
                MemoryFit *fit) {
  MemoryRequest request = *wanted;
  if (request.threads == 0) request.threads = memory_default_threads();
  *fit = (MemoryFit){.lowering = request.lowering,
                     .limit = request.limit,
                     .share = request.share,
                     .threads = request.threads,
                     .pieces = 1,
                     .segments = 1};
  if (request.limit == 0 && request.share == 0) return true;
  if (request.share > 0) request.limit = INT64_MAX; /* the first plan says of what it is a share */
  const Program *program = memory_plan(arena, module, &request, 0, &fit->lowering);
  fit->peak = fit->default_peak = program_peak(program, request.threads);
  if (request.share > 0) fit->limit = request.limit = share_bytes(program, &request);
  if (fit->peak > request.limit && write_scans_out(arena, module, request.lowering.level)) {
    program = memory_plan(arena, module, &request, 0, &fit->lowering);
    fit->writes_scans = true;
    fit->peak = program_peak(program, request.threads);
  }
  if (fit->peak <= request.limit) return true;
  Fitter fitter = {.arena = arena,
                   .module = module,
                   .request = &request,
                   .best_peak = fit->peak,
                   .default_peak = fit->default_peak,
                   .best = {.pieces = 1, .recompute = {.segments = 1}}};
  find_large(&fitter, program);
  Candidate found;
  bool fits = search_all(&fitter, &found);
  end_progress(&fitter);
  if (fits) accept(&fitter, &found, fit);
  else memory_refuse(&fitter, diagnostics);
  return fits;
}
