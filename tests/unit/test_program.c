/* Programs: lowering, fusion and memory plans, judged by the interpreter; the verifier of plans, by
 * faults put into good ones. */
#include "backend/c/tiles.h"
#include "networks.h"
#include "random_graph.h"
#include "run_program.h"

/* ---- random graphs ------------------------------------------------------------------------ */

static void test_random_graphs(void **state) {
  (void)state;
  const char *only = getenv("NNC_TEST_SEED"), *count = getenv("NNC_TEST_COUNT");
  int begin = only ? atoi(only) : 0, end = only ? begin + 1 : count ? atoi(count) : 400;
  for (int seed = begin; seed < end; seed++) {
    Arena *arena = arena_create();
    check_program(arena, random_module(arena, (uint64_t)seed), ENTRY_TRAIN, 1e-9,
                  arena_printf(arena, "seed %d", seed));
    arena_destroy(arena);
  }
}

/* ---- networks ----------------------------------------------------------------------------- */

static void test_networks(void **state) {
  (void)state;
  for (int i = 0; i < NETWORKS; i++) {
    for (int level = 0; level <= 1; level++) {
      Arena *arena = arena_create();
      Module *module = network_module(arena, network_names[i], level);
      for (int e = 0; e < ENTRY_COUNT; e++)
        if (module->entries[e] && e != ENTRY_HOST && e != ENTRY_FINISH)
          check_program(arena, module, (EntryKind)e, 1e-9,
                        arena_printf(arena, "%s, passes at level %d, entry %s", network_names[i],
                                     level, entry_name((EntryKind)e)));
      arena_destroy(arena);
    }
  }
}

/* ---- stores into variables ---------------------------------------------------------------- */

static Module *two_variables(Arena *arena, Shape shape) {
  Module *module = module_create(arena, "stores", NULL);
  add_variable(module, VARIABLE_PARAM, "a", type_make(DTYPE_F32, shape));
  add_variable(module, VARIABLE_PARAM, "b", type_make(DTYPE_F32, shape));
  return module;
}

static Node *variable_leaf(const Maker *maker, const char *name, Shape shape) {
  return leaf(maker, OP_PARAM, type_make(DTYPE_F32, shape), name_intern(name));
}

static void store(Module *module, const char *name, Node *node) {
  output(module->entries[ENTRY_TRAIN], OUTPUT_STORE, name_intern(name), node);
}

static void test_variables_can_swap(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = two_variables(arena, SHAPE(5));
  Maker maker = entry_maker(module, ENTRY_TRAIN, "swap");
  Node *a = variable_leaf(&maker, "a", SHAPE(5)), *b = variable_leaf(&maker, "b", SHAPE(5));
  store(module, "a", b);
  store(module, "b", a);
  check_program(arena, module, ENTRY_TRAIN, 0, "swap");
  arena_destroy(arena);
}

static void test_a_new_value_may_read_the_old_one_elsewhere(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = two_variables(arena, SHAPE(4, 4));
  Maker maker = entry_maker(module, ENTRY_TRAIN, "turn");
  Node *a = variable_leaf(&maker, "a", SHAPE(4, 4)), *b = variable_leaf(&maker, "b", SHAPE(4, 4));
  int64_t turn[] = {1, 0}, axis = 0;
  Node *turned = make_transpose(&maker, a, turn);
  store(module, "a", turned);
  store(module, "b", make_binary(&maker, OP_ADD, turned, b));
  output(maker.graph, OUTPUT_RESULT, "r", make_reduce(&maker, OP_REDUCE_SUM, a, 1, &axis));
  check_program(arena, module, ENTRY_TRAIN, 1e-12, "turn");
  arena_destroy(arena);
}

static void test_readers_of_the_old_value_come_first(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = two_variables(arena, SHAPE(6, 6));
  Maker maker = entry_maker(module, ENTRY_TRAIN, "order");
  Node *a = variable_leaf(&maker, "a", SHAPE(6, 6)), *b = variable_leaf(&maker, "b", SHAPE(6, 6));
  ContractAxes axes = {.sum_count = 1, .sum_left = {1}, .sum_right = {0}};
  Node *next = make_binary_value(&maker, OP_MUL, a, 0.5);
  Node *product = make_contract(&maker, next, b, &axes); /* of the new value */
  Node *other = make_contract(&maker, b, a, &axes);      /* of the old one */
  store(module, "a", next);
  store(module, "b", make_binary(&maker, OP_SUB, b, product));
  output(maker.graph, OUTPUT_RESULT, "old", other);
  output(maker.graph, OUTPUT_RESULT, "new", product);
  check_program(arena, module, ENTRY_TRAIN, 1e-12, "order");
  arena_destroy(arena);
}

static void test_one_value_goes_to_several_places(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Module *module = two_variables(arena, SHAPE(3));
  Maker maker = entry_maker(module, ENTRY_TRAIN, "twice");
  Node *a = variable_leaf(&maker, "a", SHAPE(3));
  Node *zero = make_constant(&maker, a->type, 0), *sum = make_binary(&maker, OP_ADD, a, a);
  store(module, "a", sum);
  store(module, "b", zero);
  output(maker.graph, OUTPUT_RESULT, "r", sum);
  output(maker.graph, OUTPUT_RESULT, "old", a);
  output(maker.graph, OUTPUT_RESULT, "zero", zero);
  check_program(arena, module, ENTRY_TRAIN, 0, "twice");
  const Program *program = make_program(arena, module, 1);
  for (int i = 0; i < program->entries[ENTRY_TRAIN].steps.count; i++)
    assert_int_not_equal(program->entries[ENTRY_TRAIN].steps.items[i].kind, STEP_COPY);
  arena_destroy(arena);
}

/* ---- shape of programs -------------------------------------------------------------------- */

static void test_large_reductions_have_many_tasks(void **state) {
  (void)state;
  static const Op ops[] = {OP_REDUCE_SUM, OP_REDUCE_MAX, OP_REDUCE_MEAN};
  for (int i = 0; i < 3; i++) {
    Arena *arena = arena_create();
    Module *module = module_create(arena, "reduce", NULL);
    Maker maker = entry_maker(module, ENTRY_TRAIN, "reduce");
    Type x = TYPE(F32, 48, 30, 50), flat = TYPE(F32, 60000);
    add_input(module, "x", x, false);
    add_input(module, "flat", flat, false);
    int64_t all[] = {0, 1, 2};
    output(maker.graph, OUTPUT_RESULT, "a",
           make_reduce(&maker, ops[i], leaf(&maker, OP_INPUT, x, "x"), 3, all));
    output(maker.graph, OUTPUT_RESULT, "b",
           make_reduce(&maker, ops[i], leaf(&maker, OP_INPUT, flat, "flat"), 1, all));
    check_program(arena, module, ENTRY_TRAIN, 1e-9, "large reduction");
    const Program *program = make_program(arena, module, 1);
    int64_t most = 0;
    for (int s = 0; s < program->entries[ENTRY_TRAIN].steps.count; s++)
      if (program->entries[ENTRY_TRAIN].steps.items[s].task_count > most)
        most = program->entries[ENTRY_TRAIN].steps.items[s].task_count;
    assert_true(most >= 4);
    arena_destroy(arena);
  }
}

static int launches(const Program *program, EntryKind entry) {
  int count = 0;
  for (int i = 0; i < program->entries[entry].steps.count; i++)
    count += program->entries[entry].steps.items[i].kind == STEP_LAUNCH;
  return count;
}

/* x_k+1 = shuffled pad(x_k) + pad(input): were each computed where it is read, the guards of the
 * innermost would hold those of all around it. */
static void test_joined_parts_in_joined_parts_are_stored(void **state) {
  (void)state;
  enum { DEPTH = 6 };
  Arena *arena = arena_create();
  Module *module = module_create(arena, "nested", NULL);
  Maker maker = entry_maker(module, ENTRY_TRAIN, "nested");
  Type half = TYPE(F32, 3, 8, 5);
  int64_t none[3] = {0}, side[3] = {0, 8, 0}, one[3] = {1, 1, 1};
  int64_t whole[3] = {3, 8, 5}, turn[4] = {0, 2, 1, 3};
  Node *x = NULL;
  for (int i = 0; i < DEPTH; i++) {
    const char *name = arena_printf(arena, "x%d", i);
    add_input(module, name, half, false);
    Node *part = leaf(&maker, OP_INPUT, half, name);
    Node *kept = x ? make_slice(&maker, x, none, whole, one) : part;
    Node *both = make_binary(&maker, OP_ADD, make_pad(&maker, kept, none, side, one, 0),
                             make_pad(&maker, part, side, none, one, 0));
    Node *split = make_reshape(&maker, both, SHAPE(3, 2, 8, 5));
    x = make_reshape(&maker, make_transpose(&maker, split, turn), SHAPE(3, 16, 5));
  }
  output(maker.graph, OUTPUT_RESULT, "r", make_unary(&maker, OP_NEG, x));
  check_program(arena, module, ENTRY_TRAIN, 0, "nested");
  const Program *program = make_program(arena, module, 1);
  for (int i = 0; i < program->kernels.count; i++) {
    Text text = {0};
    kernel_print(&text, program->kernels.items[i]);
    assert_true(text.length < 2500);
    text_free(&text);
  }
  arena_destroy(arena);
}

/* Forward and backward contractions, the images' conversion, rows of the loss, the means, column
 * sums; the optimizer adds none. */
static void test_a_perceptron_needs_few_launches(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const Program *program = make_program(arena, network_module(arena, "mlp", 1), 1);
  assert_int_equal(launches(program, ENTRY_TRAIN), 3 + 5 + 1 + 2 + 3);
  for (int i = 0; i < program->entries[ENTRY_TRAIN].steps.count; i++)
    assert_int_not_equal(program->entries[ENTRY_TRAIN].steps.items[i].kind, STEP_COPY);
  arena_destroy(arena);
}

/* Of gelu, silu and gelu by tanh the gradients need two values a place, the result for the next layer and the slope; of
 * relu, relu6 and softmax the result alone, which they share with the next layer. What feeds the activation is not
 * kept, nor are masks or exponentials: 3 * 2 + 3 at the loss, and the gradient of the loss. */
static void test_gradients_need_little_of_activations(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const Program *program = make_program(arena, network_module(arena, "slopes", 1), 1);
  const ProgramEntry *entry = &program->entries[ENTRY_TRAIN];
  int loss_step = -1;
  for (int i = 0; i < entry->steps.count; i++) {
    const Step *step = &entry->steps.items[i];
    if (step->kind == STEP_LAUNCH && strcmp(step->path, "loss") == 0) loss_step = i;
  }
  assert_true(loss_step > 0);
  int64_t bytes = 0, place_bytes = 16 * 48 * (int64_t)sizeof(float);
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    if (buffer->kind != BUFFER_ACTIVATION || buffer->entry != ENTRY_TRAIN || buffer->view_of >= 0 ||
        buffer->alias_of >= 0)
      continue;
    if (buffer->first_step < loss_step && buffer->last_step > loss_step) bytes += buffer->bytes;
  }
  assert_true(bytes <= 10 * place_bytes + place_bytes / 2);
  arena_destroy(arena);
}

/* Examples go through in blocks as far as nothing couples them; what only a block sees is no part
 * of the arena. */
static void test_examples_go_through_in_blocks(void **state) {
  (void)state;
  static const struct {
    const char *network;
    int least_loops, least_workers;
  } cases[] = {{"blocks", 1, 8},
               {"blocks_norm", 3, 1}}; /* to the statistics, after them, and back from them */
  for (int c = 0; c < 2; c++) {
    Arena *arena = arena_create();
    const Program *program = make_program(arena, network_module(arena, cases[c].network, 1), 1);
    const ProgramEntry *entry = &program->entries[ENTRY_TRAIN];
    int inside = 0, workers = 0;
    assert_true(entry->loops.count >= cases[c].least_loops);
    for (int i = 0; i < entry->loops.count; i++) {
      assert_int_equal(entry->loops.items[i].blocks, 32);
      inside += entry->loops.items[i].last_step - entry->loops.items[i].first_step + 1;
    }
    for (int i = 0; i < program->buffers.count; i++)
      workers += program->buffers.items[i].kind == BUFFER_WORKER &&
                 program->buffers.items[i].entry == ENTRY_TRAIN;
    assert_true(workers >= cases[c].least_workers);
    assert_true(inside > launches(program, ENTRY_TRAIN) / 2);
    assert_true(3 * entry->barrier_count < launches(program, ENTRY_TRAIN));
    for (int i = 0; i < entry->steps.count; i++)
      if (entry->steps.items[i].kind == STEP_BARRIER) assert_non_null(entry->steps.items[i].reason);
    const Program *plain = make_program(arena, program->module, 0);
    assert_int_equal(plain->entries[ENTRY_TRAIN].loops.count, 0);
    arena_destroy(arena);
  }
}

/* What follows alias_of to the memory's owner must not lose the offset of a view. */
static void test_views_have_offsets_of_their_own(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const Program *program = make_program(arena, network_module(arena, "gpt", 1), 1);
  int views = 0;
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    if (buffer->view_of < 0) continue;
    views++;
    assert_int_equal(buffer->alias_of, -1);
    assert_int_equal(buffer->entry, -1);
    assert_int_equal(buffer->offset,
                     program->buffers.items[buffer->view_of].offset + buffer->view_offset);
  }
  assert_true(views > 0); /* keys and values after the queries */
  arena_destroy(arena);
}

static void test_programs_are_deterministic(void **state) {
  (void)state;
  for (int i = 0; i < NETWORKS; i++) {
    Arena *arena = arena_create();
    Text texts[2] = {{0}, {0}};
    for (int k = 0; k < 2; k++)
      program_print(&texts[k], make_program(arena, network_module(arena, network_names[i], 1), 1));
    assert_string_equal(texts[0].data, texts[1].data);
    text_free(&texts[0]);
    text_free(&texts[1]);
    arena_destroy(arena);
  }
}

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

static void check_faults(SpoilPlan spoil, const char *name) {
  int found = 0;
  for (int i = 0; i < 2 * NETWORKS; i++) {
    for (int number = 0; number < 12; number++) {
      Arena *arena = arena_create();
      Program *program = program_for_faults(arena, i);
      assert_null(program_verify(arena, program));
      bool is_spoiled = spoil(program, number);
      if (is_spoiled && program_verify(arena, program) == NULL)
        fail_msg("%s %d of %s was not found", name, number, network_names[i / 2]);
      found += is_spoiled;
      arena_destroy(arena);
      if (!is_spoiled) break;
    }
  }
  if (found < 5) fail_msg("%s: only %d seeded", name, found);
}

static void test_verifier_finds_seeded_faults(void **state) {
  (void)state;
  check_faults(drop_barrier, "missing barrier");
  check_faults(overlap_buffers, "overlap");
  check_faults(move_over_variable, "overlap with a variable");
  check_faults(move_out_of_arena, "buffer outside");
  check_faults(drop_launch, "missing launch");
  check_faults(bind_wrongly, "wrong operand");
  check_faults(stop_moving_on, "operand of a block that is always the first");
  check_faults(move_on_too_far, "operand of a block that is skipped");
  check_faults(move_where_kernels_work, "value where kernels work");
  check_faults(share_worker_memory, "values of a block in one memory");
  check_faults(cut_loop_short, "step outside of its loop");
  check_faults(change_blocks, "loop of other blocks than its steps");
  check_faults(move_rows_too_far, "rows beyond the last");
  check_faults(take_no_turns, "next value over the present one");
  check_faults(have_more_turns, "more turns than rows");
  check_faults(leave_loop_open, "loop without its barrier");
  check_faults(enter_loop_late, "step before its loop");
  check_faults(use_view_elsewhere, "view of another loop");
  check_faults(share_with_a_round, "value of a round over one of the loop");
  check_faults(halve_blocks, "loop of other blocks than its kernels");
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
      cmocka_unit_test(test_networks),
      cmocka_unit_test(test_random_graphs),
      cmocka_unit_test(test_variables_can_swap),
      cmocka_unit_test(test_a_new_value_may_read_the_old_one_elsewhere),
      cmocka_unit_test(test_readers_of_the_old_value_come_first),
      cmocka_unit_test(test_one_value_goes_to_several_places),
      cmocka_unit_test(test_large_reductions_have_many_tasks),
      cmocka_unit_test(test_gradients_need_little_of_activations),
      cmocka_unit_test(test_examples_go_through_in_blocks),
      cmocka_unit_test(test_joined_parts_in_joined_parts_are_stored),
      cmocka_unit_test(test_a_perceptron_needs_few_launches),
      cmocka_unit_test(test_views_have_offsets_of_their_own),
      cmocka_unit_test(test_programs_are_deterministic),
      cmocka_unit_test(test_verifier_finds_seeded_faults),
      cmocka_unit_test(test_single_examples_keep_weights),
      cmocka_unit_test(test_verifier_finds_faults_of_kept_weights),
  };
  return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
