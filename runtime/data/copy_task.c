/* Source `copy_task(words, bits, count = 10000, least = 1, seed = 0)`: sequences to be copied (A.
 * Graves, G. Wayne, I. Danihelka, "Neural Turing Machines", 2014, section 4.1).
 *
 * An example has n words of random bits, n uniform in [least, words].  Over 2 words + 2 times:
 *
 *     time           source [bits + 2]        target [bits]   mask [1]
 *     0              start: channel `bits`    0               0
 *     1 ... n        the words                0               0
 *     n + 1          end: channel bits + 1    0               0
 *     n + 2 ... 2n+1 0                        the words       1
 *     after          0                        0               0
 *
 * Each epoch of training has `count` examples of its own; evaluation always has the same. */
#include <stdlib.h>
#include <string.h>

#include "data/call.h"
#include "data/class.h"
#include "data/rows.h"
#include "data/table.h"
#include "data/visit.h"
#include "nnc_data.h"

static const char *const formals[] = {"words", "bits", "count", "least", "seed", NULL};

enum { SOURCE, TARGET, MASK, FIELDS };
enum { STREAM_LENGTH, STREAM_BITS };

typedef struct CopyTask {
  double words, bits, count, least, seed;
} CopyTask;

static int get_arguments(const DataContext *context, CopyTask *task) {
  *task = (CopyTask){.count = 10000, .least = 1};
  if (data_argument_number(context, formals, "words", 1, 1 << 20, &task->words) < 0 ||
      data_argument_number(context, formals, "bits", 1, 1 << 20, &task->bits) < 0 ||
      data_argument_number(context, formals, "count", 1, UINT32_MAX, &task->count) < 0 ||
      data_argument_number(context, formals, "least", 1, 1 << 20, &task->least) < 0 ||
      data_argument_number(context, formals, "seed", 0, 0x1p53, &task->seed) < 0)
    return -1;
  if (task->words == 0 || task->bits == 0)
    return data_fail_call(context, "copy_task needs words and bits");
  if (task->least <= task->words) return 0;
  return data_fail_call(context, "copy_task: at least %.15g words of at most %.15g", task->least,
                        task->words);
}

static int make(const DataContext *context, const DataTable *table, const DataField *field,
                const DataVisit *visit, unsigned char *bytes) {
  (void)context;
  const CopyTask *task = table->state;
  DataVisit drawn = *visit;
  drawn.seed ^= (uint64_t)task->seed << 1;
  int64_t bits = (int64_t)task->bits, least = (int64_t)task->least;
  int64_t words =
      least + data_random_below(&drawn, STREAM_LENGTH, 0, (int64_t)task->words - least + 1);
  int kind = (int)(field - table->fields);
  int64_t channels = kind == SOURCE ? bits + 2 : kind == TARGET ? bits : 1;
  memset(bytes, 0, (size_t)field->width);
  if (kind == SOURCE) bytes[bits] = bytes[(words + 1) * channels + bits + 1] = 1;
  for (int64_t w = 0; w < words; w++) {
    unsigned char *word = bytes + (kind == SOURCE ? 1 + w : words + 2 + w) * channels;
    for (int64_t b = 0; b < bits && kind != MASK; b++)
      word[b] = data_random_bits(&drawn, STREAM_BITS, (uint64_t)(w * bits + b)) >> 63;
    if (kind == MASK) word[0] = 1;
  }
  return 0;
}

static int shape_field(const DataContext *context, DataField *field, const CopyTask *task,
                       int kind) {
  int64_t bits = (int64_t)task->bits;
  int64_t dim[3] = {(int64_t)task->count, 2 * (int64_t)task->words + 2,
                    kind == SOURCE   ? bits + 2
                    : kind == TARGET ? bits
                                     : 1};
  if (!field->batched)
    return data_fail_call(context, "the input %s has no axis of examples", field->name);
  field->file = strdup("copy_task");
  if (!field->file) return data_fail_memory(context, "copy_task", 16);
  field->is_made = true;
  field->made_most = 1;
  return data_field_shape(context, field, NNC_U8, 3, dim, false);
}

static int load(const DataContext *context, DataTable *table) {
  CopyTask task;
  if (context->files) return data_fail(context, "copy_task draws its examples; it reads no files");
  if (table->field_count != FIELDS)
    return data_fail_call(context, "copy_task gives three fields: source, target and mask");
  if (get_arguments(context, &task) < 0) return -1;
  table->state = malloc(sizeof task);
  if (!table->state) return data_fail_memory(context, "copy_task", sizeof task);
  memcpy(table->state, &task, sizeof task);
  table->keeps_rows = true;
  for (int f = 0; f < FIELDS; f++)
    if (table->fields[f].input && shape_field(context, &table->fields[f], &task, f) < 0) return -1;
  return 0;
}

static int workers(const DataTable *table) {
  (void)table;
  return 1; /* a row is drawn faster than a thread wakes */
}

static void release(DataTable *table) { free(table->state); }

const struct nnc_source_class nnc_source_copy_task = {.name = "copy_task",
                                                      .gives = DATA_GIVES_copy_task,
                                                      .formals = formals,
                                                      .has_file_each = false,
                                                      .load = load,
                                                      .make = make,
                                                      .workers = workers,
                                                      .close = release};
