/* The verifier of plans finds faults that are put into good ones: in barriers, memory, task loops, scan loops, and in
 * weights that kernels keep. */
#include <sys/wait.h>
#include <unistd.h>

#include "networks.h"
#include "run_program.h"

/* ---- the verifier of plans ---------------------------------------------------------------- */

typedef bool (*SpoilPlan)(Program *program, int number); /* false: there is no such place */

static ProgramEntry *train(Program *program) { return &program->entries[ENTRY_TRAIN]; }

static bool drop_barrier(Program *program, int number) {
  ProgramEntry *entry = train(program);
  for (int i = 0; i < entry->steps.count; i++) {
    if (entry->steps.items[i].kind != STEP_BARRIER || number-- > 0) continue;
    for (int k = i; k + 1 < entry->steps.count; k++)
      entry->steps.items[k] = entry->steps.items[k + 1];
    entry->steps.count--;
    return true;
  }
  return false;
}

/* Moves an activation onto another that is alive at the same time. */
static bool overlap_buffers(Program *program, int number) {
  for (int i = 0; i < program->buffers.count; i++) {
    Buffer *a = &program->buffers.items[i];
    if (a->kind != BUFFER_ACTIVATION || a->entry != ENTRY_TRAIN || a->alias_of >= 0) continue;
    for (int k = 0; k < i; k++) {
      const Buffer *b = &program->buffers.items[k];
      if (b->kind != BUFFER_ACTIVATION || b->entry != ENTRY_TRAIN || b->alias_of >= 0 ||
          a->offset == b->offset || a->last_step < b->first_step || b->last_step < a->first_step)
        continue;
      if (number-- > 0) continue;
      a->offset = b->offset;
      for (int v = 0; v < program->buffers.count; v++) /* its aliases move along */
        if (program->buffers.items[v].alias_of == i || program->buffers.items[v].view_of == i)
          program->buffers.items[v].offset = a->offset + program->buffers.items[v].view_offset;
      return true;
    }
  }
  return false;
}

static bool move_over_variable(Program *program, int number) {
  int variable = number % program->module->variables.count;
  for (int i = 0; i < program->buffers.count; i++) {
    Buffer *buffer = &program->buffers.items[i];
    if (buffer->kind != BUFFER_ACTIVATION || buffer->view_of >= 0) continue;
    if (number-- > 0) continue;
    buffer->offset = program->buffers.items[variable].offset;
    return true;
  }
  return false;
}

static bool move_out_of_arena(Program *program, int number) {
  if (number >= program->buffers.count) return false;
  program->buffers.items[number].offset = program->arena_bytes - 32;
  return true;
}

/* Of a kernel that the training step launches. */
static bool take_unknown_variant(Program *program, int number) {
  const ProgramEntry *entry = train(program);
  for (int i = 0; i < entry->steps.count; i++) {
    if (entry->steps.items[i].kind != STEP_LAUNCH || number-- > 0) continue;
    program->kernels.items[entry->steps.items[i].kernel]->variant = 63;
    return true;
  }
  return false;
}

/* Drops a launch whose result somebody needs. */
static bool drop_launch(Program *program, int number) {
  ProgramEntry *entry = train(program);
  for (int i = 0; i < entry->steps.count; i++) {
    Step *step = &entry->steps.items[i];
    if (step->kind != STEP_LAUNCH) continue;
    const Kernel *kernel = program->kernels.items[step->kernel];
    bool is_needed = false;
    for (int k = 0; k < step->operand_count; k++) {
      const Buffer *buffer = &program->buffers.items[step->operands[k]];
      is_needed =
          is_needed || (kernel->operands[k].is_output && buffer->kind == BUFFER_ACTIVATION &&
                        buffer->alias_of < 0 && buffer->last_step > i);
    }
    if (!is_needed || number-- > 0) continue;
    step->kind = STEP_BARRIER;
    return true;
  }
  return false;
}

/* Binds an operand to a buffer of another type. */
static bool bind_wrongly(Program *program, int number) {
  ProgramEntry *entry = train(program);
  for (int i = 0; i < entry->steps.count; i++) {
    Step *step = &entry->steps.items[i];
    if (step->kind != STEP_LAUNCH || number-- > 0) continue;
    for (int b = 0; b < program->buffers.count; b++) {
      const Buffer *own = &program->buffers.items[step->operands[0]];
      if (shape_elements(program->buffers.items[b].type.shape) == shape_elements(own->type.shape))
        continue;
      step->operands[0] = b;
      return true;
    }
  }
  return false;
}

/* ---- faults in task loops ---- */

/* The step and operand of access `number` in task loops, of those that move on from block to block
 * or, `is_worker`, of those in the worker's block. */
static Step *loop_operand(Program *program, bool is_worker, int number, int *operand) {
  for (int i = 0; i < train(program)->steps.count; i++) {
    Step *step = &train(program)->steps.items[i];
    for (int k = 0; step->loop >= 0 && k < step->operand_count; k++) {
      bool fits = is_worker ? program->buffers.items[step->operands[k]].kind == BUFFER_WORKER
                            : step->block_bytes[k] > 0;
      if (!fits || number-- > 0) continue;
      *operand = k;
      return step;
    }
  }
  return NULL;
}

static bool stop_moving_on(Program *program, int number) {
  int operand;
  Step *step = loop_operand(program, false, number, &operand);
  if (step) step->block_bytes[operand] = 0;
  return step != NULL;
}

static bool move_on_too_far(Program *program, int number) {
  int operand;
  Step *step = loop_operand(program, false, number, &operand);
  if (step) step->block_bytes[operand] *= 2;
  return step != NULL;
}

static bool move_where_kernels_work(Program *program, int number) {
  int operand;
  Step *step = loop_operand(program, true, number, &operand);
  if (!step) return false;
  const TaskLoop *loop = &train(program)->loops.items[step->loop];
  bool works = false;
  for (int s = loop->first_step; s <= loop->last_step; s++)
    works = works ||
            target_worker_bytes(&target_c,
                                program->kernels.items[train(program)->steps.items[s].kernel]) > 0;
  program->buffers.items[step->operands[operand]].offset = works ? 0 : -64;
  return true;
}

static bool share_worker_memory(Program *program, int number) {
  for (int i = 0; i < program->buffers.count; i++)
    for (int k = 0; k < i; k++) {
      Buffer *a = &program->buffers.items[i], *b = &program->buffers.items[k];
      bool are_workers = a->kind == BUFFER_WORKER && b->kind == BUFFER_WORKER &&
                         a->entry == ENTRY_TRAIN && b->entry == ENTRY_TRAIN && a->alias_of < 0 &&
                         b->alias_of < 0;
      if (!are_workers || a->last_step < b->first_step || b->last_step < a->first_step ||
          number-- > 0)
        continue;
      a->offset = b->offset;
      return true;
    }
  return false;
}

static bool cut_loop_short(Program *program, int number) {
  if (number >= train(program)->loops.count) return false;
  train(program)->loops.items[number].last_step--;
  return true;
}

static bool change_blocks(Program *program, int number) {
  if (number >= train(program)->loops.count) return false;
  train(program)->loops.items[number].blocks *= 2;
  return true;
}

/* Makes all of a loop go in as many blocks as its kernels do not fit. */
static bool halve_blocks(Program *program, int number) {
  if (!change_blocks(program, number)) return false;
  TaskLoop *loop = &train(program)->loops.items[number];
  for (int s = loop->first_step; s <= loop->last_step; s++)
    train(program)->steps.items[s].task_count = loop->blocks;
  return true;
}

/* ---- faults in the places of workers' blocks ---- */

/* The first step of phase `number` among those whose kernels need the workers' blocks; -1: there are not so many. */
static int working_phase(const Program *program, int number) {
  const ProgramEntry *entry = &program->entries[ENTRY_TRAIN];
  for (int i = 0; i < entry->steps.count; i++) {
    bool begins = i == 0 || entry->steps.items[i - 1].kind == STEP_BARRIER;
    if (begins && entry->steps.items[i].work_bytes > 0 && number-- == 0) return i;
  }
  return -1;
}

static bool change_phase(Program *program, int number, int64_t lower, int64_t smaller) {
  int first = working_phase(program, number);
  ProgramEntry *entry = train(program);
  for (int i = first; i >= 0 && i < entry->steps.count; i++) {
    Step *step = &entry->steps.items[i];
    if (step->kind == STEP_BARRIER) break;
    step->work_at -= lower;
    step->work_bytes -= smaller < step->work_bytes ? smaller : step->work_bytes;
  }
  return first >= 0;
}

static bool lower_blocks(Program *program, int number) {
  return change_phase(program, number, 64, 0);
}

static bool shrink_blocks(Program *program, int number) {
  return change_phase(program, number, 0, 64);
}

static bool part_blocks(Program *program, int number) {
  ProgramEntry *entry = train(program);
  for (int i = 1; i < entry->steps.count; i++) {
    Step *step = &entry->steps.items[i];
    bool goes_on = step->work_bytes > 0 && step->kind != STEP_BARRIER &&
                   entry->steps.items[i - 1].kind != STEP_BARRIER;
    if (!goes_on || number-- > 0) continue;
    step->work_at += 64;
    return true;
  }
  return false;
}

/* ---- faults in scan loops ---- */

/* View `number` that moves from round to round, by turns or not. */
static Buffer *moving_view(Program *program, bool by_turns, int number) {
  for (int i = 0; i < train(program)->steps.count; i++) {
    Step *step = &train(program)->steps.items[i];
    for (int k = 0; step->kind == STEP_LAUNCH && k < step->operand_count; k++) {
      Buffer *view = &program->buffers.items[step->operands[k]];
      if (view->scan >= 0 && (view->turns > 0) == by_turns && number-- == 0) return view;
    }
  }
  return NULL;
}

static bool move_rows_too_far(Program *program, int number) {
  Buffer *view = moving_view(program, false, number);
  int64_t rounds = view ? train(program)->scans.items[view->scan].rounds : 0;
  if (rounds > 1) view->round_bytes *= 2;
  return rounds > 1;
}

/* The next value over the present one, in a kernel that reads it elsewhere than it writes. */
static bool take_no_turns(Program *program, int number) {
  for (int i = 0; i < train(program)->steps.count; i++) {
    Step *step = &train(program)->steps.items[i];
    if (step->kind != STEP_LAUNCH) continue;
    for (int a = 0; a < step->operand_count; a++)
      for (int b = 0; b < step->operand_count; b++) {
        Buffer *read = &program->buffers.items[step->operands[a]];
        Buffer *written = &program->buffers.items[step->operands[b]];
        if (a == b || read->turns == 0 || read->view_of != written->view_of ||
            !program->kernels.items[step->kernel]->operands[b].is_output || number-- > 0)
          continue;
        written->turn = read->turn;
        return true;
      }
  }
  return false;
}

static bool have_more_turns(Program *program, int number) {
  Buffer *view = moving_view(program, true, number);
  if (view) view->turns++;
  return view != NULL;
}

static bool leave_loop_open(Program *program, int number) {
  if (number >= train(program)->scans.count) return false;
  train(program)->scans.items[number].last_step--;
  return true;
}

static bool enter_loop_late(Program *program, int number) {
  if (number >= train(program)->scans.count) return false;
  train(program)->scans.items[number].first_step++;
  return true;
}

static bool use_view_elsewhere(Program *program, int number) {
  Buffer *view = moving_view(program, false, number);
  if (view) view->scan = (view->scan + 1) % train(program)->scans.count;
  return view && train(program)->scans.count > 2;
}

/* What is read after the loop, or in every round, in memory of a value of one round. */
static bool share_with_a_round(Program *program, int number) {
  for (int i = 0; i < program->buffers.count; i++)
    for (int k = 0; k < program->buffers.count; k++) {
      Buffer *a = &program->buffers.items[i], *b = &program->buffers.items[k];
      bool are_own = a->kind == BUFFER_ACTIVATION && b->kind == BUFFER_ACTIVATION &&
                     a->entry == ENTRY_TRAIN && b->entry == ENTRY_TRAIN && a->alias_of < 0 &&
                     b->alias_of < 0;
      if (!are_own || a->owner >= 0 || b->owner < 0 || a->bytes < b->bytes) continue;
      const ScanLoop *loop = &train(program)->scans.items[b->owner];
      bool spans = a->first_step <= loop->first_step && a->last_step >= loop->last_step;
      if (!spans || number-- > 0) continue;
      for (int v = 0; v < program->buffers.count; v++) /* its aliases move along */
        if (program->buffers.items[v].alias_of == k) program->buffers.items[v].offset = a->offset;
      b->offset = a->offset;
      return true;
    }
  return false;
}

static Program *program_for_faults(Arena *arena, int number) {
  Module *module = network_module(arena, network_names[number / 2], 1);
  return number % 2 ? make_program_in_blocks(arena, module, 2) : make_program(arena, module, 1);
}

typedef enum Fault { FAULT_FOUND, FAULT_NOT_FOUND, FAULT_NO_PLACE } Fault;

/* Spoils the program in a process of its own, so that it stays good here: making it takes far longer. */
static Fault try_fault(Arena *arena, Program *program, SpoilPlan spoil, int number) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (!spoil(program, number)) _exit(FAULT_NO_PLACE);
    _exit(program_verify(arena, program) == NULL ? FAULT_NOT_FOUND : FAULT_FOUND);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  return (Fault)WEXITSTATUS(status);
}

static void check_faults(Arena *arena, Program **programs, SpoilPlan spoil, const char *name) {
  int found = 0;
  for (int i = 0; i < 2 * NETWORKS; i++)
    for (int number = 0; number < 12; number++) {
      Fault fault = try_fault(arena, programs[i], spoil, number);
      if (fault == FAULT_NOT_FOUND)
        fail_msg("%s %d of %s was not found", name, number, network_names[i / 2]);
      if (fault == FAULT_NO_PLACE) break;
      found++;
    }
  if (found < 5) fail_msg("%s: only %d seeded", name, found);
}

static void test_verifier_finds_seeded_faults(void **state) {
  (void)state;
  static const struct {
    SpoilPlan spoil;
    const char *name;
  } faults[] = {
      {drop_barrier, "missing barrier"},
      {overlap_buffers, "overlap"},
      {move_over_variable, "overlap with a variable"},
      {move_out_of_arena, "buffer outside"},
      {drop_launch, "missing launch"},
      {bind_wrongly, "wrong operand"},
      {stop_moving_on, "operand of a block that is always the first"},
      {move_on_too_far, "operand of a block that is skipped"},
      {move_where_kernels_work, "value where kernels work"},
      {share_worker_memory, "values of a block in one memory"},
      {cut_loop_short, "step outside of its loop"},
      {change_blocks, "loop of other blocks than its steps"},
      {lower_blocks, "workers' blocks over a value"},
      {shrink_blocks, "workers' blocks that are too small"},
      {part_blocks, "workers' blocks that move within a phase"},
      {move_rows_too_far, "rows beyond the last"},
      {take_no_turns, "next value over the present one"},
      {have_more_turns, "more turns than rows"},
      {leave_loop_open, "loop without its barrier"},
      {enter_loop_late, "step before its loop"},
      {use_view_elsewhere, "view of another loop"},
      {share_with_a_round, "value of a round over one of the loop"},
      {take_unknown_variant, "variant that the target has not"},
      {halve_blocks, "loop of other blocks than its kernels"},
  };
  Arena *arena = arena_create();
  Program *programs[2 * NETWORKS];
  for (int i = 0; i < 2 * NETWORKS; i++) {
    programs[i] = program_for_faults(arena, i);
    assert_null(program_verify(arena, programs[i]));
  }
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    check_faults(arena, programs, faults[i].spoil, faults[i].name);
  arena_destroy(arena);
}

/* ---- weights that kernels keep ------------------------------------------------------------ */

/* A prediction of two products that keep their weights. */
static Program *keeping_program(Arena *arena, Step **first, Step **second) {
  ProgramOptions options = {.level = 1, .target = &target_c, .keeps_weights = true};
  Program *program = program_create(arena, network_module(arena, "kept", 1), &options);
  ProgramEntry *entry = &program->entries[ENTRY_PREDICT];
  Step **const to[] = {first, second};
  int count = 0;
  for (int i = 0; i < entry->steps.count; i++)
    if (entry->steps.items[i].kept >= 0) {
      assert_true(count < 2);
      *to[count++] = &entry->steps.items[i];
    }
  assert_int_equal(count, 2);
  return program;
}

static void test_single_examples_keep_weights(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Step *first, *second;
  Program *program = keeping_program(arena, &first, &second);
  for (int e = 0; e < ENTRY_COUNT; e++)
    for (int i = 0; i < program->entries[e].steps.count; i++)
      assert_true(program->entries[e].steps.items[i].kept < 0 || e == ENTRY_PREDICT ||
                  e == ENTRY_EVAL_ONE);
  assert_null(compare_outputs(arena, program, ENTRY_PREDICT, 1e-9));
  const Buffer *kept = &program->buffers.items[first->kept];
  assert_int_equal(kept->first_step, 0);
  assert_int_equal(kept->last_step, program->entries[ENTRY_PREDICT].steps.count - 1);
  arena_destroy(arena);
}

/* Few examples at a time go through convolutions whose weights are packed once for all of them. */
static void test_blocks_of_predictions_keep_weights(void **state) {
  (void)state;
  for (int keeps = 0; keeps < 2; keeps++) {
    Arena *arena = arena_create();
    ProgramOptions options = {.level = 1, .target = &target_c, .keeps_batch_weights = keeps};
    Program *program = program_create(arena, network_module(arena, "kept_blocks", 1), &options);
    Step *found = NULL;
    for (int e = 0; e < ENTRY_COUNT; e++)
      for (int i = 0; i < program->entries[e].steps.count; i++) {
        Step *step = &program->entries[e].steps.items[i];
        if (step->kind != STEP_LAUNCH || step->kept < 0) continue;
        assert_int_equal(e, ENTRY_PREDICT_BATCH);
        if (step->loop >= 0) found = step;
      }
    assert_int_equal(found != NULL, keeps);
    assert_null(program_verify(arena, program));
    assert_null(compare_outputs(arena, program, ENTRY_PREDICT_BATCH, 1e-9));
    if (found) {
      assert_int_equal(found->block_bytes[1], 0);
      found->block_bytes[1] = 64; /* each block would have weights of its own */
      assert_non_null(program_verify(arena, program));
    }
    arena_destroy(arena);
  }
}

typedef void (*SpoilKept)(Program *program, Step *first, Step *second);

static void keep_nothing(Program *program, Step *first, Step *second) {
  (void)program;
  (void)second;
  first->kept = -1;
}

static void keep_where_another_does(Program *program, Step *first, Step *second) {
  (void)program;
  first->kept = second->kept;
}

static void keep_in_little_memory(Program *program, Step *first, Step *second) {
  (void)second;
  program->buffers.items[first->kept].bytes -= program->target->alignment;
}

static void keep_in_an_activation(Program *program, Step *first, Step *second) {
  (void)second;
  program->buffers.items[first->kept].kind = BUFFER_ACTIVATION;
}

static void keep_over_the_result(Program *program, Step *first, Step *second) {
  const Kernel *kernel = program->kernels.items[second->kernel];
  for (int i = 0; i < second->operand_count; i++)
    if (kernel->operands[i].is_output)
      program->buffers.items[second->operands[i]].offset =
          program->buffers.items[first->kept].offset;
}

static void read_what_is_kept(Program *program, Step *first, Step *second) {
  (void)program;
  first->operands[1] = second->kept;
}

static void keep_what_is_no_parameter(Program *program, Step *first, Step *second) {
  (void)second;
  Module *module = (Module *)program->module;
  module->variables.items[first->operands[1]].kind = VARIABLE_STATE;
  program->state_bytes = type_bytes(program->buffers.items[first->operands[1]].type);
  program->parameter_bytes -= program->state_bytes;
}

static void test_verifier_finds_faults_of_kept_weights(void **state) {
  (void)state;
  static const SpoilKept spoils[] = {keep_nothing,
                                     keep_where_another_does,
                                     keep_in_little_memory,
                                     keep_in_an_activation,
                                     keep_over_the_result,
                                     read_what_is_kept,
                                     keep_what_is_no_parameter};
  for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++) {
    Arena *arena = arena_create();
    Step *first, *second;
    Program *program = keeping_program(arena, &first, &second);
    assert_null(program_verify(arena, program));
    spoils[i](program, first, second);
    if (program_verify(arena, program) == NULL) fail_msg("fault %zu was not found", i);
    arena_destroy(arena);
  }
}
int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_verifier_finds_seeded_faults),
      cmocka_unit_test(test_single_examples_keep_weights),
      cmocka_unit_test(test_blocks_of_predictions_keep_weights),
      cmocka_unit_test(test_verifier_finds_faults_of_kept_weights),
  };
  return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
