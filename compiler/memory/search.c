/* How a memory limit is met: candidates are planned, the fastest that fits is taken.
 *
 * A candidate is a number of micro-batches and a recomputation (segments, equal or tapering, cheap
 * values or all). All recomputations of one number of micro-batches are made, lowered and planned;
 * of those that fit, the one is taken whose step should take the shortest, by flops, bytes moved
 * and barriers of its program. When none fits, the number of micro-batches grows to the next
 * divisor of the batch that is at least twice as large. Once there are several, it grows once
 * more, if that is no large work: the smaller parts may need no recomputation. What does not fit
 * with task loops is planned without them, too. The plan's peak is exact, so only the choice rests
 * on an estimate. Only entries that are too large by themselves are changed. Graphs of more than
 * MOST_NODES are not tried.
 *
 * The limit is for the arena and the blocks of `threads` workers. */
#include "memory/memory.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ops/verify.h"
#include "passes/microbatch.h"
#include "passes/recompute.h"
#include "support/panic.h"

enum {
  MOST_CANDIDATES = 45,
  MOST_NODES = 12000,        /* of an entry in pieces: planning takes seconds beyond */
  MOST_NODES_FURTHER = 4000, /* the same, to look further when some candidates fit */
  SHOWN_HOLDERS = 3
};

/* What else a step's time depends on, in flops: 200 GFLOP/s, 25 GB/s, 2 us a barrier. */
static const double flops_a_byte = 8, flops_a_barrier = 400000;

static const int segment_counts[] = {2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32};
static const EntryKind fitted_entries[] = {ENTRY_TRAIN, ENTRY_ACCUMULATE, ENTRY_EVAL};
enum { FITTED_COUNT = sizeof fitted_entries / sizeof *fitted_entries };

typedef struct Candidate {
  int pieces;
  RecomputeOptions recompute; /* segments 1: none */
  int recomputed;
  double flops; /* of these */
  int64_t peak; /* bytes, once it is planned; -1: the candidate is impossible */
  double cost;  /* of a training step, in flops */
} Candidate;

typedef struct Fitter {
  Arena *arena;
  Module *module;
  const Options *options;
  int threads;
  int64_t limit;
  bool is_large[ENTRY_COUNT]; /* does not fit as it is */
  const Node *coupled;        /* why there are no micro-batches; NULL: there can be */
  Candidate best;             /* with the smallest peak so far */
  int64_t best_peak;
} Fitter;

static int default_threads(void) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : (int)online;
}

static int64_t program_peak(const Program *program, int threads) {
  return program->arena_bytes + threads * program->worker_bytes;
}

/* Without task loops where the limit is not met with them and they need more. */
static Program *plan(Arena *arena, const Module *module, const Options *options, int threads) {
  ProgramOptions lowering = {.level = options->passes.level, .vector_bytes = 64};
  Program *program = program_create(arena, module, &lowering);
  int64_t peak = program_peak(program, threads);
  if (options->memory_limit == 0 || peak <= options->memory_limit) return program;
  lowering.without_loops = true;
  Program *other = program_create(arena, module, &lowering);
  return program_peak(other, threads) < peak ? other : program;
}

/* Bytes of the region of activations that the entry takes up. */
static int64_t entry_bytes(const Program *program, EntryKind entry) {
  int64_t variables = program->arena_bytes - program->activation_bytes, end = variables;
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    if (buffer->entry == (int)entry && buffer->kind != BUFFER_WORKER &&
        buffer->offset + buffer->bytes > end)
      end = buffer->offset + buffer->bytes;
  }
  return end - variables;
}

/* ---- candidates ---- */

/* Rewrites the large entries of `module`; false when the candidate is impossible. */
static bool apply(Fitter *fitter, Module *module, const Candidate *candidate, Arena *arena,
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

static void verify(Arena *arena, const Module *module, const char *what) {
  const char *broken = module_verify(arena, module);
  if (broken) panic("%s made a bad module: %s", what, broken);
}

static const char *candidate_text(Arena *arena, const Candidate *candidate, int64_t batch) {
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

static double entry_cost(const ProgramEntry *entry) {
  return entry->flops + flops_a_byte * entry->bytes + flops_a_barrier * entry->barrier_count;
}

static double step_cost(const Program *program) {
  double earlier = (double)program->module->run.accumulate - 1;
  return entry_cost(&program->entries[ENTRY_TRAIN]) +
         (earlier > 0 ? earlier * entry_cost(&program->entries[ENTRY_ACCUMULATE]) : 0);
}

/* Plans the candidate, for its peak and its cost. */
static void try_candidate(Fitter *fitter, Candidate *candidate) {
  Arena *scratch = arena_create();
  Module module = *fitter->module;
  RecomputeResult result;
  candidate->peak = -1;
  if (apply(fitter, &module, candidate, scratch, &result)) {
    verify(scratch, &module, "the memory limit");
    const Program *program = plan(scratch, &module, fitter->options, fitter->threads);
    candidate->peak = program_peak(program, fitter->threads);
    candidate->cost = step_cost(program);
    if (fitter->options->verbose)
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
    apply(fitter, &module, &candidate, scratch, &result);
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

/* Plans all candidates of a number of micro-batches; *found becomes the cheapest that fits (peak 0:
 * none so far). False when so many pieces, and any more, are impossible. */
static bool search_pieces(Fitter *fitter, int pieces, Candidate *found) {
  Candidate list[MOST_CANDIDATES];
  int count = list_candidates(fitter, pieces, list);
  for (int i = 0; i < count; i++) {
    try_candidate(fitter, &list[i]);
    if (list[i].peak < 0) return false;
    bool fits = list[i].peak <= fitter->limit;
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

/* ---- refusal ---- */

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
  int64_t most = -1;
  for (int step = 0; step < entry->steps.count; step++) {
    int64_t alive = 0;
    for (int i = 0; i < program->buffers.count; i++) {
      const Buffer *buffer = &program->buffers.items[i];
      if (buffer->entry == (int)entry->entry && buffer->alias_of < 0 &&
          buffer->kind != BUFFER_WORKER && buffer->first_step <= step && step <= buffer->last_step)
        alive += buffer->bytes;
    }
    if (alive > most) {
      most = alive;
      best = step;
    }
  }
  return best;
}

static void note_holders(Arena *arena, Diagnostic *error, const Program *program,
                         const ProgramEntry *entry) {
  int step = peak_step(program, entry), shown[SHOWN_HOLDERS];
  for (int n = 0; n < SHOWN_HOLDERS; n++) {
    int largest = -1;
    for (int i = 0; i < program->buffers.count; i++) {
      const Buffer *buffer = &program->buffers.items[i];
      bool is_candidate = buffer->entry == (int)entry->entry && buffer->alias_of < 0 &&
                          buffer->kind != BUFFER_WORKER && buffer->first_step <= step &&
                          step <= buffer->last_step;
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

static void refuse(Fitter *fitter, Diagnostics *diagnostics) {
  Arena *arena = fitter->arena;
  Module module = *fitter->module;
  RecomputeResult result;
  apply(fitter, &module, &fitter->best, arena, &result);
  const Node *coupled = fitter->coupled;
  const Program *program = plan(arena, &module, fitter->options, fitter->threads);
  EntryKind largest = ENTRY_INIT;
  for (int i = 0; i < ENTRY_COUNT; i++)
    if (program->entries[i].present &&
        entry_bytes(program, (EntryKind)i) > entry_bytes(program, largest))
      largest = (EntryKind)i;
  Diagnostic *error =
      diag_error(diagnostics, (Span){0}, "the memory limit of %s cannot be met; the least is %s",
                 bytes_text(arena, fitter->limit), bytes_text(arena, fitter->best_peak));
  diag_note(error, (Span){0}, "parameters take %s, optimizer state %s, state %s",
            bytes_text(arena, program->parameter_bytes),
            bytes_text(arena, program->optimizer_bytes), bytes_text(arena, program->state_bytes));
  diag_note(error, (Span){0}, "workspace of %d thread%s: %s", fitter->threads,
            fitter->threads == 1 ? "" : "s",
            bytes_text(arena, fitter->threads * program->worker_bytes));
  diag_note(error, (Span){0}, "values of the entry %s take %s (%s)", entry_name(largest),
            bytes_text(arena, entry_bytes(program, largest)),
            candidate_text(arena, &fitter->best, module.run.batch));
  note_holders(arena, error, program, &program->entries[largest]);
  note_coupled(arena, error, coupled);
  if (fitter->threads > 1) diag_help(error, "--threads=1 needs a single workspace");
}

/* ---- fitting ---- */

static void find_large(Fitter *fitter, const Program *program) {
  int64_t fixed = program_peak(program, fitter->threads) - program->activation_bytes;
  for (int i = 0; i < FITTED_COUNT; i++) {
    EntryKind kind = fitted_entries[i];
    fitter->is_large[kind] =
        program->entries[kind].present && fixed + entry_bytes(program, kind) > fitter->limit;
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
static bool write_scans_out(Arena *arena, Module *module, const Options *options) {
  Module written = *module;
  Diagnostics *refusals = diagnostics_create(arena);
  PipelineOptions rest = {.level = options->passes.level, .start_after = "expand"};
  bool stopped;
  if (module->run.scans != SCANS_AUTO || !has_loops(module)) return false;
  written.run.scans = SCANS_UNROLL;
  pass_find("unroll")->run(&written, refusals);
  if (diagnostics_error_count(refusals) > 0 || !passes_run(&written, refusals, &rest, &stopped))
    return false;
  *module = written;
  return true;
}

static Program *accept(Fitter *fitter, const Candidate *found, MemoryFit *fit) {
  RecomputeResult result;
  apply(fitter, fitter->module, found, fitter->arena, &result);
  verify(fitter->arena, fitter->module, "the memory limit");
  Program *program = plan(fitter->arena, fitter->module, fitter->options, fitter->threads);
  fit->peak = program_peak(program, fitter->threads);
  fit->pieces = found->pieces;
  fit->segments = found->recompute.segments;
  fit->cheap_only = found->recompute.cheap_only;
  fit->recomputed = result.node_count;
  fit->flops = result.flops;
  fit->kept_count = result.kept.count;
  fit->kept = result.kept.items;
  return program;
}

Program *memory_fit(Arena *arena, Module *module, Diagnostics *diagnostics, const Options *options,
                    MemoryFit *fit) {
  int threads = options->threads > 0 ? options->threads : default_threads();
  Program *program = plan(arena, module, options, threads);
  int64_t peak = program_peak(program, threads);
  *fit = (MemoryFit){.limit = options->memory_limit,
                     .threads = threads,
                     .default_peak = peak,
                     .peak = peak,
                     .pieces = 1,
                     .segments = 1};
  if (options->memory_limit == 0 || peak <= options->memory_limit) return program;
  if (write_scans_out(arena, module, options)) {
    program = plan(arena, module, options, threads);
    fit->writes_scans = true;
    fit->peak = peak = program_peak(program, threads);
    if (peak <= options->memory_limit) return program;
  }
  Fitter fitter = {.arena = arena,
                   .module = module,
                   .options = options,
                   .threads = threads,
                   .limit = options->memory_limit,
                   .best_peak = peak,
                   .best = {.pieces = 1, .recompute = {.segments = 1}}};
  find_large(&fitter, program);
  Candidate found;
  if (search(&fitter, &found)) return accept(&fitter, &found, fit);
  refuse(&fitter, diagnostics);
  return NULL;
}

/* ---- the report ---- */

void memory_print(Text *text, const MemoryFit *fit) {
  if (fit->limit == 0) return;
  text_add(text, "\nmemory limit: ");
  text_add_grouped(text, fit->limit);
  text_printf(text, " bytes with %d thread%s; planned ", fit->threads,
              fit->threads == 1 ? "" : "s");
  text_add_grouped(text, fit->peak);
  text_add(text, ", without a limit ");
  text_add_grouped(text, fit->default_peak);
  text_add_char(text, '\n');
  if (fit->writes_scans) text_add(text, "  the steps of scans are written out\n");
  if (fit->pieces > 1)
    text_printf(text, "  a step takes its batch in %d micro-batches\n", fit->pieces);
  if (fit->segments == 1) return;
  text_printf(text, "  recomputed: %d %snodes of %d segments, ", fit->recomputed,
              fit->cheap_only ? "cheap " : "", fit->segments - 1);
  text_add_grouped(text, (int64_t)fit->flops);
  text_add(text, " flop a step, starting from\n");
  for (int i = 0, same; i < fit->kept_count; i += same) {
    for (same = 1; i + same < fit->kept_count && fit->kept[i + same] == fit->kept[i];) same++;
    text_printf(text, same > 1 ? "    %s, %d values\n" : "    %s\n", fit->kept[i], same);
  }
}

void memory_add_json(Text *text, const MemoryFit *fit) {
  while (text->length > 0 && strchr("\n}", text->data[text->length - 1])) text->length--;
  text_printf(text, ",\n  \"memory_limit\": {\"limit\": %lld, \"threads\": %d, ",
              (long long)fit->limit, fit->threads);
  text_printf(text, "\"peak\": %lld, \"default_peak\": %lld, \"scans_written_out\": %s, ",
              (long long)fit->peak, (long long)fit->default_peak,
              fit->writes_scans ? "true" : "false");
  text_printf(text, "\"micro_batches\": %d, \"segments\": %d, \"recomputed_nodes\": %d, ",
              fit->pieces, fit->segments, fit->recomputed);
  text_printf(text, "\"recomputed_flops\": %.0f, \"kept\": [", fit->flops);
  for (int i = 0; i < fit->kept_count; i++) {
    if (i > 0) text_add(text, ", ");
    text_add_quoted(text, fit->kept[i]);
  }
  text_add(text, "]}\n}\n");
}
