/* Looking for numbers that are not finite: inspect.h. */
#include "core/inspect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/number.h"
#include "os/assert.h"
#include "os/buffer.h"
#include "os/message.h"

enum { PIECE = NNC_BUFFER(1 << 15, 16), MOST_MOVES = 16, MOST_ORIGINS = 1 << 14 };

/* ---- extremes ---- */

void nnc_extremes_add(nnc_extremes *extremes, int dtype, const void *values, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    double value = nnc_number_get(dtype, values, i);
    if (isnan(value)) extremes->nan++;
    else if (isinf(value)) extremes->infinite++;
    else {
      bool is_first = extremes->finite++ == 0;
      if (is_first || value < extremes->least) extremes->least = value;
      if (is_first || value > extremes->most) extremes->most = value;
    }
  }
  extremes->elements += count;
}

static nnc_extremes measure(const nnc_inspector *inspector, const nnc_operand *operand) {
  _Alignas(8) char piece[PIECE];
  nnc_extremes extremes = {0};
  int64_t size = nnc_dtype_size(operand->dtype);
  for (int64_t at = 0, bytes; at < operand->bytes; at += bytes) {
    bytes = operand->bytes - at < PIECE ? operand->bytes - at : PIECE;
    nnc_device_peek(inspector->device, operand->is_in_block, operand->offset + at, bytes, piece);
    nnc_extremes_add(&extremes, operand->dtype, piece, bytes / size);
  }
  return extremes;
}

static bool is_bad(const nnc_extremes *extremes) { return extremes->nan + extremes->infinite > 0; }

/* ---- operands ---- */

/* How far the rounds of scans have moved an operand; *text goes on to what follows its moves. */
static int64_t moved(const nnc_inspector *inspector, char **text) {
  int64_t bytes = 0;
  int64_t count = strtoll(*text, text, 10);
  for (int64_t i = 0; i < count; i++) {
    int64_t scan = strtoll(*text, text, 10), step = strtoll(*text, text, 10);
    int64_t turns = strtoll(*text, text, 10), turn = strtoll(*text, text, 10);
    int64_t row = inspector->turns[scan] + turn;
    bytes += step * (turns > 0 ? row % turns : row);
  }
  return bytes;
}

/* The block of the task loop that a step belongs to. */
static int64_t block_of(const nnc_inspector *inspector, int step) {
  const nnc_entry *entry = inspector->entry;
  for (int i = entry->scan_count; i < entry->scan_count + entry->loop_count; i++)
    if (entry->repeats[i].first <= step && step <= entry->repeats[i].last)
      return inspector->turns[i];
  return 0;
}

static void fail(nnc_inspector *inspector) {
  if (!inspector->has_failed) nnc_error("cannot allocate what the steps have read");
  inspector->has_failed = true;
}

/* Reads a line of nnc_step.operands, and goes on to the next. */
static nnc_operand read_operand(nnc_inspector *inspector, int step, const char **line) {
  char *at = (char *)*line + 1;
  nnc_operand operand = {.is_read = **line != 'w', .is_written = **line != 'r'};
  operand.dtype = (int)strtoll(at, &at, 10);
  operand.offset = strtoll(at, &at, 10);
  operand.bytes = strtoll(at, &at, 10) * nnc_dtype_size(operand.dtype);
  int64_t block = strtoll(at, &at, 10);
  operand.is_in_block = block < 0;
  if (block > 0) operand.offset += block * block_of(inspector, step);
  operand.offset += moved(inspector, &at);
  const char *end = strchr(at, '\n');
  operand.name = strndup(at + 1, (size_t)(end - at - 1));
  if (!operand.name) fail(inspector);
  *line = end + 1;
  return operand;
}

static int count_lines(const char *text) {
  int count = 0;
  for (; text && *text; text++) count += *text == '\n';
  return count;
}

static void free_operands(nnc_operand *operands, int count) {
  for (int i = 0; operands && i < count; i++) free(operands[i].name);
  free(operands);
}

/* Before a step: its operands, and the numbers that it reads. */
static void prepare(nnc_inspector *inspector, int step) {
  const char *line = inspector->entry->steps[step].operands;
  int count = count_lines(line);
  nnc_operand *operands = calloc((size_t)count + 1, sizeof *operands);
  if (!operands) fail(inspector);
  for (int i = 0; operands && i < count; i++) {
    operands[i] = read_operand(inspector, step, &line);
    if (operands[i].is_read) operands[i].before = measure(inspector, &operands[i]);
  }
  free_operands(inspector->prepared[step], inspector->prepared_counts[step]);
  inspector->prepared[step] = operands;
  inspector->prepared_counts[step] = operands ? count : 0;
}

/* ---- what is not finite, by ranges of memory ---- */

static void taint(nnc_inspector *inspector, nnc_tainted range) {
  if (inspector->tainted_count == inspector->tainted_room) {
    int room = 2 * inspector->tainted_room + 64;
    nnc_tainted *ranges = realloc(inspector->tainted, (size_t)room * sizeof *ranges);
    if (!ranges) {
      fail(inspector);
      return;
    }
    inspector->tainted = ranges;
    inspector->tainted_room = room;
  }
  inspector->tainted[inspector->tainted_count++] = range;
}

/* What is written over is as the new numbers are. */
static void clear(nnc_inspector *inspector, const nnc_operand *operand) {
  int64_t from = operand->offset, to = from + operand->bytes;
  for (int i = 0; i < inspector->tainted_count; i++) {
    nnc_tainted *range = &inspector->tainted[i], old = *range;
    if (old.is_in_block != operand->is_in_block || old.to <= from || to <= old.from) continue;
    bool has_front = old.from < from, has_back = to < old.to;
    if (has_front) range->to = from;
    else if (has_back) range->from = to;
    else inspector->tainted[i--] = inspector->tainted[--inspector->tainted_count];
    if (has_front && has_back)
      taint(inspector, (nnc_tainted){old.is_in_block, to, old.to, old.origin});
  }
}

/* The earliest origin of what lies there; -1: none is known. */
static int origin_at(const nnc_inspector *inspector, bool is_in_block, int64_t from, int64_t to) {
  int origin = -1;
  for (int i = 0; i < inspector->tainted_count; i++) {
    const nnc_tainted *range = &inspector->tainted[i];
    if (range->is_in_block != is_in_block || range->to <= from || to <= range->from) continue;
    if (origin < 0 || range->origin < origin) origin = range->origin;
  }
  return origin;
}

/* ---- origins ---- */

/* Takes the operands. Of the rounds of one step the first tells of all. */
static int add_origin(nnc_inspector *inspector, nnc_origin origin) {
  for (int i = 0; i < inspector->origin_count; i++) {
    const nnc_origin *known = &inspector->origins[i];
    if (origin.step < 0 || known->step != origin.step || known->entry != origin.entry ||
        known->is_nan != origin.is_nan)
      continue;
    free_operands(origin.operands, origin.count);
    return i;
  }
  int room = inspector->origin_count + 1;
  nnc_origin *origins = room <= MOST_ORIGINS && origin.operands
                            ? realloc(inspector->origins, (size_t)room * sizeof *origins)
                            : NULL;
  if (!origins) {
    fail(inspector);
    free_operands(origin.operands, origin.count);
    return -1;
  }
  inspector->origins = origins;
  origins[inspector->origin_count] = origin;
  return inspector->origin_count++;
}

static bool overlaps(const nnc_operand *operand, const nnc_tensor *tensor) {
  return !operand->is_in_block && operand->offset < tensor->offset + nnc_tensor_bytes(tensor) &&
         tensor->offset < operand->offset + operand->bytes;
}

/* Whether it is there when an entry begins: a variable, or an input. */
static bool is_given(const nnc_inspector *inspector, const nnc_operand *operand) {
  for (int i = 0; i < inspector->model->variable_count; i++)
    if (overlaps(operand, &inspector->model->variables[i].tensor)) return true;
  for (int i = 0; i < inspector->entry->input_count; i++)
    if (overlaps(operand, &inspector->entry->inputs[i])) return true;
  return false;
}

static nnc_operand *copy_operands(nnc_inspector *inspector, const nnc_operand *operands,
                                  int count) {
  nnc_operand *copy = calloc((size_t)count + 1, sizeof *copy);
  for (int i = 0; copy && i < count; i++) {
    copy[i] = operands[i];
    copy[i].name = operands[i].name ? strdup(operands[i].name) : NULL;
    if (!copy[i].name) fail(inspector);
  }
  return copy;
}

/* The origin of a value that was not finite when the entry began. */
static int origin_of_given(nnc_inspector *inspector, const nnc_operand *operand) {
  if (!is_given(inspector, operand)) return -1;
  int number =
      add_origin(inspector, (nnc_origin){.entry = inspector->entry,
                                         .step = -1,
                                         .parent = -1,
                                         .is_nan = operand->before.nan > 0,
                                         .count = 1,
                                         .operands = copy_operands(inspector, operand, 1)});
  if (number >= 0)
    taint(inspector, (nnc_tainted){operand->is_in_block, operand->offset,
                                   operand->offset + operand->bytes, number});
  return number;
}

/* The earliest origin among what a step has read: of its NaN, or of its infinities; -1: it read none. */
static int origin_of_reads(nnc_inspector *inspector, int step, bool is_nan) {
  int earliest = -1;
  for (int i = 0; i < inspector->prepared_counts[step]; i++) {
    const nnc_operand *operand = &inspector->prepared[step][i];
    if (!operand->is_read || (is_nan ? operand->before.nan : operand->before.infinite) == 0)
      continue;
    int origin = origin_at(inspector, operand->is_in_block, operand->offset,
                           operand->offset + operand->bytes);
    if (origin < 0) origin = origin_of_given(inspector, operand);
    if (origin >= 0 && (earliest < 0 || origin < earliest)) earliest = origin;
  }
  return earliest;
}

/* After a step: what it has written, and where what is not finite of that came from. */
static void finish(nnc_inspector *inspector, int step) {
  nnc_operand *operands = inspector->prepared[step];
  int count = inspector->prepared_counts[step], origin = -1;
  bool has_bad = false, has_nan = false;
  for (int i = 0; i < count; i++) {
    if (!operands[i].is_written) continue;
    operands[i].after = measure(inspector, &operands[i]);
    has_bad = has_bad || is_bad(&operands[i].after);
    has_nan = has_nan || operands[i].after.nan > 0;
  }
  if (has_bad) {
    int of_nan = origin_of_reads(inspector, step, true);
    int of_infinite = origin_of_reads(inspector, step, false);
    origin = of_nan >= 0 ? of_nan : of_infinite;
    if (origin < 0 || (has_nan && of_nan < 0))
      origin = add_origin(inspector,
                          (nnc_origin){.entry = inspector->entry,
                                       .step = step,
                                       .parent = of_infinite,
                                       .is_nan = has_nan,
                                       .count = count,
                                       .operands = copy_operands(inspector, operands, count)});
  }
  for (int i = 0; i < count; i++) {
    if (!operands[i].is_written) continue;
    clear(inspector, &operands[i]);
    if (is_bad(&operands[i].after) && origin >= 0)
      taint(inspector, (nnc_tainted){operands[i].is_in_block, operands[i].offset,
                                     operands[i].offset + operands[i].bytes, origin});
  }
}

/* ---- steps ---- */

/* What comes after a step; rounds and blocks advance. The innermost repeats end first. */
static int step_after(nnc_inspector *inspector, int step) {
  const nnc_entry *entry = inspector->entry;
  for (int i = entry->scan_count + entry->loop_count - 1; i >= 0; i--) {
    const nnc_repeat *repeat = &entry->repeats[i];
    if (repeat->last != step) continue;
    if (++inspector->turns[i] < repeat->times) return repeat->first;
    inspector->turns[i] = 0;
  }
  return step + 1;
}

/* Steps that a device launches together are looked at together. */
static void each_launched(nnc_inspector *inspector, int step,
                          void (*visit)(nnc_inspector *inspector, int step)) {
  for (int i = 0; i <= step; i++)
    if (i + inspector->entry->steps[i].later == step) visit(inspector, i);
}

/* The next run of an entry writes over them. */
static void note_accumulators(nnc_inspector *inspector) {
  const nnc_entry *entry = inspector->entry;
  for (int i = 0; i < entry->accumulator_count && inspector->accumulated < 0; i++) {
    const nnc_tensor *tensor = &entry->accumulators[i].tensor;
    inspector->accumulated =
        origin_at(inspector, false, tensor->offset, tensor->offset + nnc_tensor_bytes(tensor));
  }
}

static void look(nnc_onlooker *onlooker, int number) {
  nnc_inspector *inspector = (nnc_inspector *)onlooker;
  int steps = inspector->entry->step_count;
  NNC_ASSERT(number == 0 || number == inspector->next + 1 || steps == 0);
  if (inspector->has_failed || steps == 0) return; /* of other entries nothing is known */
  if (number > 0) {
    each_launched(inspector, inspector->next, finish);
    inspector->next = step_after(inspector, inspector->next);
  }
  if (inspector->next < steps) each_launched(inspector, inspector->next, prepare);
  else note_accumulators(inspector);
}

static void forget_steps(nnc_inspector *inspector) {
  for (int i = 0; inspector->entry && inspector->prepared && i < inspector->entry->step_count; i++)
    free_operands(inspector->prepared[i], inspector->prepared_counts[i]);
  free(inspector->prepared);
  free(inspector->prepared_counts);
  free(inspector->turns);
  inspector->prepared = NULL;
  inspector->prepared_counts = NULL;
  inspector->turns = NULL;
  inspector->entry = NULL;
}

static void begin(nnc_onlooker *onlooker, const nnc_entry *entry) {
  nnc_inspector *inspector = (nnc_inspector *)onlooker;
  size_t steps = (size_t)entry->step_count;
  forget_steps(inspector);
  inspector->entry = entry;
  inspector->next = 0;
  inspector->prepared = calloc(steps + 1, sizeof *inspector->prepared);
  inspector->prepared_counts = calloc(steps + 1, sizeof *inspector->prepared_counts);
  inspector->turns =
      calloc((size_t)(entry->scan_count + entry->loop_count) + 1, sizeof *inspector->turns);
  if (!inspector->prepared || !inspector->prepared_counts || !inspector->turns) fail(inspector);
}

void nnc_inspector_open(nnc_inspector *inspector, const nnc_device *device,
                        const nnc_model *model) {
  *inspector = (nnc_inspector){
      .onlooker = {begin, look}, .device = device, .model = model, .accumulated = -1};
}

void nnc_inspector_reset(nnc_inspector *inspector) {
  for (int i = 0; i < inspector->origin_count; i++)
    free_operands(inspector->origins[i].operands, inspector->origins[i].count);
  inspector->origin_count = inspector->tainted_count = 0;
  inspector->accumulated = -1;
}

void nnc_inspector_close(nnc_inspector *inspector) {
  forget_steps(inspector);
  nnc_inspector_reset(inspector);
  free(inspector->origins);
  free(inspector->tainted);
  *inspector = (nnc_inspector){0};
}

/* ---- answers ---- */

const nnc_origin *nnc_inspector_find(const nnc_inspector *inspector, const nnc_tensor *tensor) {
  int origin =
      origin_at(inspector, false, tensor->offset, tensor->offset + nnc_tensor_bytes(tensor));
  return origin >= 0 ? &inspector->origins[origin] : NULL;
}

const nnc_origin *nnc_inspector_accumulated(const nnc_inspector *inspector) {
  return inspector->accumulated >= 0 ? &inspector->origins[inspector->accumulated] : NULL;
}

const nnc_origin *nnc_inspector_parent(const nnc_inspector *inspector, const nnc_origin *origin) {
  return origin->parent >= 0 ? &inspector->origins[origin->parent] : NULL;
}
