/* Evaluating a Program: every kernel by direct loops over its domain, on memory laid out by the
 * plan.
 *
 * Each byte of the arena has a double; an element lives at its first byte and poisons (NaN) the
 * others. So two buffers that overlap in the plan, or are read with another dtype, spoil each
 * other's values as they would in the executable. f32 is not rounded, bf16 and f16 are after each
 * operator, as in the reference interpreter. One worker does it all; its block of memory lies after the arena and is
 * poisoned before each block of a task loop. */
#include "program/evaluate.h"

#include <math.h>
#include "kernel/builder.h"
#include "kernel/class.h"
#include "kernel/layout.h"
#include "ops/number.h"
#include "ops/op.h"
#include "ops/philox.h"
#include "support/integers.h"
#include "support/panic.h"

struct Machine {
  Arena *arena;
  const Program *program;
  double *memory;  /* one a byte: the arena, then a worker's block */
  int64_t *rounds; /* of the entry's scan loops, by number */
};

/* One kernel at one point. */
typedef struct Run {
  Machine *machine;
  const Step *step;
  const Kernel *kernel;
  const double *scalars;
  const EvaluateContext *context;
  int64_t block;    /* of a task loop */
  uint64_t example; /* the first of the block, beyond the context's */
  int64_t axis[2 * KERNEL_MAX_AXES];
  double *stage; /* results of reduce stages */
  double result; /* of the template */
} Run;

Machine *machine_create(Arena *arena, const Program *program) {
  Machine *machine = ARENA_NEW(arena, Machine);
  machine->arena = arena;
  machine->program = program;
  int64_t bytes = program->arena_bytes + program->worker_bytes;
  machine->memory = ARENA_ARRAY(arena, double, bytes);
  for (int64_t i = 0; i < bytes; i++) machine->memory[i] = NAN;
  return machine;
}

static double *element_at(const Machine *machine, int buffer, int64_t index) {
  const Buffer *at = &machine->program->buffers.items[buffer];
  if (index < 0 || index >= shape_elements(at->type.shape))
    panic("element %lld of %s", (long long)index, at->name);
  int64_t base = at->kind == BUFFER_WORKER ? machine->program->arena_bytes : 0;
  base += at->offset + buffer_moved(machine->program, buffer, machine->rounds);
  return &machine->memory[base + index * dtype_size(at->type.dtype)];
}

static void slot_set(double *slot, DType dtype, double value) {
  slot[0] = value;
  for (int i = 1; i < dtype_size(dtype); i++) slot[i] = NAN;
}

static void element_set(Machine *machine, int buffer, int64_t index, double value) {
  slot_set(element_at(machine, buffer, index), machine->program->buffers.items[buffer].type.dtype,
           value);
}

/* Where element `index` of a buffer's value lies in it. */
static int64_t place_in(const Buffer *buffer, int64_t index) {
  if (!buffer->has_channels_last) return index;
  Shape shape = buffer->type.shape;
  Layout layout = layout_channels_last(shape.rank);
  int64_t stride[MAX_RANK], place = 0;
  layout_strides(&layout, shape, stride);
  for (int i = shape.rank - 1; i >= 0; i--) {
    place += index % shape.dim[i] * stride[i];
    index /= shape.dim[i];
  }
  return place;
}

void machine_write(Machine *machine, int number, const double *values) {
  const Buffer *buffer = &machine->program->buffers.items[number];
  int64_t count = shape_elements(buffer->type.shape);
  for (int64_t i = 0; i < count; i++) element_set(machine, number, place_in(buffer, i), values[i]);
}

void machine_read(const Machine *machine, int number, double *values) {
  const Buffer *buffer = &machine->program->buffers.items[number];
  int64_t count = shape_elements(buffer->type.shape);
  for (int64_t i = 0; i < count; i++) values[i] = *element_at(machine, number, place_in(buffer, i));
}

/* ---- indices and expressions --------------------------------------------------------------- */

/* Where an element of an operand lies; in a task loop, of the block's part of it. */
static double *operand_at(const Run *run, int operand, int64_t index) {
  const KernelOperand *own = &run->kernel->operands[operand];
  int64_t first = 0;
  if (index < 0 || index >= own->elements)
    panic("element %lld of operand %s", (long long)index, own->name);
  if (run->step->loop >= 0)
    first = run->block * run->step->block_bytes[operand] / dtype_size(own->dtype);
  return element_at(run->machine, run->step->operands[operand], first + index);
}

static double load(const Run *run, int operand, int64_t index) {
  return *operand_at(run, operand, index);
}

static int64_t index_value(const Run *run, const Index *index) {
  switch (index->kind) {
  case INDEX_CONST: return index->value;
  case INDEX_AXIS: return run->axis[index->value];
  case INDEX_ADD: return index_value(run, index->left) + index_value(run, index->right);
  case INDEX_MUL: return index_value(run, index->left) * index_value(run, index->right);
  case INDEX_DIV: return floor_div(index_value(run, index->left), index->value);
  case INDEX_MOD: {
    int64_t left = index_value(run, index->left);
    return floor_mod(left, index->value);
  }
  case INDEX_LOAD: break;
  }
  return number_clamp_index(load(run, index->operand, index_value(run, index->left)), index->value);
}

static bool guards_hold(const Run *run, const Expr *expr) {
  for (int i = 0; i < expr->guard_count; i++) {
    int64_t index = index_value(run, expr->guards[i].index);
    if (index < 0 || index >= expr->guards[i].bound) return false;
  }
  return true;
}

static double random_value(const Run *run, const Expr *expr) {
  uint64_t key = philox_key(run->context->seed, run->step->keys[expr->operand]);
  uint64_t example = run->context->example_offset + run->example;
  uint64_t element = example * (uint64_t)expr->value + (uint64_t)index_value(run, expr->index);
  PhiloxBlock block =
      philox_block(key, element, (uint32_t)run->context->step, (uint32_t)expr->stream);
  switch (expr->op) {
  case OP_RANDOM_UNIFORM: return philox_uniform(block.word[element % 4]);
  case OP_RANDOM_NORMAL: return philox_normal(block, element);
  case OP_RANDOM_BITS: return block.word[element % 4];
  default: panic("%s is not random", op_info(expr->op)->name);
  }
}

static double op_value(const Expr *expr, const double *args) {
  if (expr->op == OP_CAST) return number_convert(args[0], expr->args[0]->dtype, expr->dtype);
  return number_round(op_info(expr->op)->class->scalar(args, expr->dtype), expr->dtype);
}

/* Expressions of one stage with their values at the point. */
typedef struct Values {
  ExprList list;
  int (*args)[EXPR_MOST_ARGS]; /* positions in the list */
  double *value;
} Values;

static int list_find(const ExprList *list, const Expr *expr) {
  for (int i = list->count - 1; i >= 0; i--)
    if (list->items[i] == expr) return i;
  panic("an expression is not in its stage");
}

static Values values_create(Arena *arena, const Kernel *kernel, int stage) {
  Values values = {.list = kernel_expressions(arena, kernel, stage)};
  values.args = arena_alloc(arena, sizeof *values.args * (size_t)(values.list.count + 1));
  values.value = ARENA_ARRAY(arena, double, values.list.count + 1);
  for (int i = 0; i < values.list.count; i++)
    for (int k = 0; k < values.list.items[i]->arg_count; k++)
      values.args[i][k] = list_find(&values.list, values.list.items[i]->args[k]);
  return values;
}

static double expr_value(const Run *run, const Values *values, int number) {
  const Expr *expr = values->list.items[number];
  double args[EXPR_MOST_ARGS] = {0};
  switch (expr->kind) {
  case EXPR_CONST: return expr->value;
  case EXPR_LOAD:
    if (!guards_hold(run, expr)) return expr->value;
    return load(run, expr->operand, index_value(run, expr->index));
  case EXPR_SCALAR: return run->scalars[run->step->scalars[expr->operand]];
  case EXPR_INDEX: return number_round((double)index_value(run, expr->index), expr->dtype);
  case EXPR_STAGE: return number_round(run->stage[expr->operand], expr->dtype);
  case EXPR_RESULT: return number_round(run->result, expr->dtype);
  case EXPR_RANDOM: return number_round(random_value(run, expr), expr->dtype);
  case EXPR_OP: break;
  }
  for (int k = 0; k < expr->arg_count; k++) args[k] = values->value[values->args[number][k]];
  return op_value(expr, args);
}

static void values_compute(const Run *run, Values *values) {
  for (int i = 0; i < values->list.count; i++) values->value[i] = expr_value(run, values, i);
}

/* ---- loops --------------------------------------------------------------------------------- */

/* The next point of `count` axes from `first`; false after the last. */
static bool next_point(Run *run, int first, int count, const int64_t *extent) {
  for (int i = count - 1; i >= 0; i--) {
    if (++run->axis[first + i] < extent[i]) return true;
    run->axis[first + i] = 0;
  }
  return false;
}

static bool first_point(Run *run, int first, int count, const int64_t *extent) {
  for (int i = 0; i < count; i++) run->axis[first + i] = 0;
  for (int i = 0; i < count; i++)
    if (extent[i] == 0) return false;
  return true;
}

typedef struct Reduction {
  double value;
  int64_t at;
  int64_t count;
} Reduction;

static bool is_better(Op reduce, double a, double b) {
  if (isnan(b)) return false;
  if (isnan(a)) return true;
  return reduce == OP_REDUCE_MAX || reduce == OP_ARGMAX ? a > b : a < b;
}

static void reduction_add(Reduction *reduction, Op reduce, double value, DType dtype) {
  int64_t at = reduction->count++;
  if (reduce == OP_REDUCE_SUM || reduce == OP_REDUCE_PROD) {
    Op joined = reduce == OP_REDUCE_SUM ? OP_ADD : OP_MUL; /* integers wrap */
    double both[2] = {reduction->value, value};
    reduction->value = at == 0 ? value : op_info(joined)->class->scalar(both, dtype);
  } else if (at == 0 || is_better(reduce, value, reduction->value)) {
    reduction->value = value;
    reduction->at = at;
  }
}

static double reduction_result(const Reduction *reduction, Op reduce) {
  if (reduce == OP_ARGMAX || reduce == OP_ARGMIN) return (double)reduction->at;
  if (reduction->count > 0) return reduction->value;
  return reduce == OP_REDUCE_SUM    ? 0
         : reduce == OP_REDUCE_PROD ? 1
         : reduce == OP_REDUCE_MAX  ? -INFINITY
                                    : INFINITY;
}

static void run_stores(Run *run, const Stage *stage, Values *values) {
  values_compute(run, values);
  for (int i = 0; i < stage->store_count; i++) {
    const Store *store = &stage->stores[i];
    double value = values->value[list_find(&values->list, store->value)];
    slot_set(operand_at(run, store->operand, index_value(run, store->index)),
             run->kernel->operands[store->operand].dtype, value);
  }
}

static void run_stage(Run *run, int number, Values *values) {
  const Stage *stage = &run->kernel->stages[number];
  int first = run->kernel->axis_count;
  Reduction reduction = {0};
  bool more = first_point(run, first, stage->axis_count, stage->extent);
  for (; more; more = next_point(run, first, stage->axis_count, stage->extent)) {
    if (stage->kind == STAGE_STORE) {
      run_stores(run, stage, values);
      continue;
    }
    values_compute(run, values);
    double value = values->value[list_find(&values->list, stage->value)];
    reduction_add(&reduction, stage->reduce, value, stage->value->dtype);
  }
  if (stage->kind == STAGE_REDUCE) run->stage[number] = reduction_result(&reduction, stage->reduce);
}

static void run_loop(Run *run, Arena *scratch) {
  const Kernel *kernel = run->kernel;
  Values *values = ARENA_ARRAY(scratch, Values, kernel->stage_count);
  for (int s = 0; s < kernel->stage_count; s++) values[s] = values_create(scratch, kernel, s);
  run->stage = ARENA_ARRAY(scratch, double, kernel->stage_count);
  bool more = first_point(run, 0, kernel->axis_count, kernel->extent);
  for (; more; more = next_point(run, 0, kernel->axis_count, kernel->extent))
    for (int s = 0; s < kernel->stage_count; s++) run_stage(run, s, &values[s]);
}

/* ---- templates: the result as a dense array, then the epilogue over the domain ---- */

/* The operands of a template's launch. */
typedef struct Operands {
  const Run *run;
  const double *fed; /* operand 0, where the kernel has a feeder */
} Operands;

static double read_operand(const void *context, int operand, int64_t index) {
  const Operands *operands = context;
  if (operands->fed && operand == 0) return operands->fed[index];
  return load(operands->run, operand, index);
}

static double *template_results(Arena *scratch, const Run *run, const double *fed) {
  const Kernel *kernel = run->kernel;
  double *result = ARENA_ARRAY(scratch, double, extent_product(kernel->extent, kernel->axis_count));
  const Operands operands = {run, fed};
  kernel_class(kernel)->evaluate(kernel, &(KernelReader){read_operand, &operands}, result);
  return result;
}

/* What the feeder of the run's kernel stores, all of it; NULL: it has none. */
static double *run_feeder(Run run, Arena *scratch) {
  const Kernel *feeder = run.kernel->feeder;
  if (!feeder) return NULL;
  Step step = *run.step;
  step.operands = ARENA_ARRAY(scratch, int, feeder->operand_count);
  for (int i = 0; i < feeder->operand_count; i++)
    step.operands[i] = run.kernel->feed[i] < 0 ? -1 : run.step->operands[run.kernel->feed[i]];
  run.step = &step;
  run.kernel = feeder;
  const Store *store = &feeder->epilogue[0];
  Values values = values_create(scratch, feeder, 0);
  double *fed = ARENA_ARRAY(scratch, double, feeder->operands[store->operand].elements);
  const double *result = template_results(scratch, &run, NULL);
  bool more = first_point(&run, 0, feeder->axis_count, feeder->extent);
  for (; more; more = next_point(&run, 0, feeder->axis_count, feeder->extent)) {
    run.result = *result++;
    values_compute(&run, &values);
    fed[index_value(&run, store->index)] = values.value[list_find(&values.list, store->value)];
  }
  return fed;
}

static void run_template(Run *run, Arena *scratch) {
  const Kernel *kernel = run->kernel;
  Stage epilogue = kernel_stage(kernel, 0);
  Values values = values_create(scratch, kernel, 0);
  const double *result = template_results(scratch, run, run_feeder(*run, scratch));
  bool more = first_point(run, 0, kernel->axis_count, kernel->extent);
  for (; more; more = next_point(run, 0, kernel->axis_count, kernel->extent)) {
    run->result = *result++;
    run_stores(run, &epilogue, &values);
  }
}

/* ---- steps --------------------------------------------------------------------------------- */

static void run_copy(Machine *machine, const Step *step) {
  int64_t count = shape_elements(machine->program->buffers.items[step->copy_from].type.shape);
  for (int64_t i = 0; i < count; i++)
    element_set(machine, step->copy_to, i, *element_at(machine, step->copy_from, i));
}

/* Workers may write all that lies above where their blocks begin. */
static void poison_workspace(Machine *machine, const Step *step) {
  for (int64_t i = step->work_at; step->work_bytes > 0 && i < machine->program->arena_bytes; i++)
    machine->memory[i] = NAN;
}

static void run_launch(Machine *machine, Run run) {
  Arena *scratch = arena_create();
  run.machine = machine;
  poison_workspace(machine, run.step);
  run.kernel = machine->program->kernels.items[run.step->kernel];
  if (kernel_is_template(run.kernel)) run_template(&run, scratch);
  else run_loop(&run, scratch);
  arena_destroy(scratch);
}

static void run_block(Machine *machine, const ProgramEntry *entry, const TaskLoop *loop, Run run) {
  for (int64_t i = 0; i < machine->program->worker_bytes; i++)
    machine->memory[machine->program->arena_bytes + i] = NAN;
  run.example = (uint64_t)(run.block * loop->examples);
  for (int s = loop->first_step; s <= loop->last_step; s++) {
    run.step = &entry->steps.items[s];
    run_launch(machine, run);
  }
}

static void run_task_loop(Machine *machine, const ProgramEntry *entry, const TaskLoop *loop,
                          Run run) {
  for (run.block = 0; run.block < loop->blocks; run.block++) run_block(machine, entry, loop, run);
}

/* What only a round knows is worth nothing in the next. */
static void poison_round(Machine *machine, EntryKind kind, int scan) {
  const Program *program = machine->program;
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    bool is_own = buffer->kind == BUFFER_ACTIVATION && buffer->entry == (int)kind &&
                  buffer->owner == scan && buffer->alias_of < 0;
    for (int64_t k = 0; is_own && k < buffer->bytes; k++) machine->memory[buffer->offset + k] = NAN;
  }
}

static void run_steps(Machine *machine, const ProgramEntry *entry, int first, int last, int scan,
                      Run run);

static void run_rounds(Machine *machine, const ProgramEntry *entry, int scan, Run run) {
  const ScanLoop *loop = &entry->scans.items[scan];
  const TaskLoop *around = scan_task_loop(entry, loop);
  for (run.block = 0; around && run.block < around->blocks; run.block++) {
    for (int64_t round = 0; round < loop->rounds; round++) {
      machine->rounds[scan] = round;
      run_block(machine, entry, around, run);
    }
  }
  for (int64_t round = 0; !around && round < loop->rounds; round++) {
    machine->rounds[scan] = round;
    poison_round(machine, entry->entry, scan);
    run_steps(machine, entry, loop->first_step, loop->last_step, scan, run);
  }
}

static void run_steps(Machine *machine, const ProgramEntry *entry, int first, int last, int scan,
                      Run run) {
  for (int i = first; i <= last; i++) {
    const Step *step = &entry->steps.items[i];
    int inner = scan_loop_at(entry, i, scan);
    run.step = step;
    if (inner >= 0) {
      run_rounds(machine, entry, inner, run);
      i = entry->scans.items[inner].last_step;
    } else if (step->kind == STEP_COPY) {
      run_copy(machine, step);
    } else if (step->kind == STEP_LAUNCH && step->loop < 0) {
      run_launch(machine, run);
    } else if (step->kind == STEP_LAUNCH) {
      run_task_loop(machine, entry, &entry->loops.items[step->loop], run);
      i = entry->loops.items[step->loop].last_step;
    }
  }
}

void machine_run(Machine *machine, EntryKind kind, const double *scalars,
                 const EvaluateContext *context) {
  const ProgramEntry *entry = &machine->program->entries[kind];
  CHECK(entry->present);
  machine->rounds = ARENA_ARRAY(machine->arena, int64_t, entry->scans.count + 1);
  run_steps(machine, entry, 0, entry->steps.count - 1, -1,
            (Run){.scalars = scalars, .context = context});
}
