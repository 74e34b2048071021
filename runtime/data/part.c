/* Parts of a table's rows: a stretch of a random permutation of them, or all others. */
#include "data/part.h"

#include <math.h>
#include <stdlib.h>

#include "data/call.h"
#include "data/groups.h"
#include "data/rows.h"

static const char *find_field(const DataContext *context, const char *const *formals,
                              const char *name) {
  const nnc_value *value = data_argument(context->call, formals, name);
  return value && (value->kind == NNC_FIELD || value->kind == NNC_STRING) ? value->string : NULL;
}

void data_part_fields(const DataContext *context, const char *const *formals, DataPart *part) {
  part->by = find_field(context, formals, "by");
  part->group = find_field(context, formals, "group");
}

/* groups[i] of each example by the field of that name, and how many there are; -1 with a message. */
static int64_t find_groups(const DataContext *context, const DataLine *line, const char *name,
                           uint32_t **groups) {
  int64_t count = data_line_examples(line);
  *groups = malloc((size_t)count * sizeof **groups + 1);
  if (!*groups) return data_fail_memory(context, name, count * 4);
  return data_group_rows(context, line, name, *groups);
}

static int spread(const DataContext *context, const DataLine *line, const char *by,
                  uint32_t *permutation) {
  uint32_t *groups = NULL;
  int64_t count = find_groups(context, line, by, &groups);
  int result =
      count < 0 ? -1
                : data_group_spread(context, groups, count, data_line_examples(line), permutation);
  free(groups);
  return result;
}

/* What is marked of the examples of a line. */
typedef struct Marks {
  int64_t first, past, count;
  unsigned char *chosen;
} Marks;

/* Marks the examples from `first` to before `past` of a permutation; how many they are. */
static int64_t mark_rows(const DataContext *context, const DataLine *line, const DataPart *part,
                         const Marks *marks) {
  int64_t count = marks->count;
  uint32_t *permutation = malloc((size_t)count * sizeof *permutation + 1);
  int result = permutation ? 0 : data_fail_memory(context, "the part", count * 4);
  if (result == 0) data_permutation(part->seed, DATA_STREAM_SPLIT, count, permutation);
  if (result == 0 && part->by) result = spread(context, line, part->by, permutation);
  for (int64_t i = marks->first; result == 0 && i < marks->past; i++)
    marks->chosen[permutation[i]] = 1;
  free(permutation);
  return result < 0 ? -1 : marks->past - marks->first;
}

/* The same of whole groups, in a random order of these: those whose middle lies there. */
static int64_t mark_groups(const DataContext *context, const DataLine *line, const DataPart *part,
                           const Marks *marks) {
  uint32_t *groups = NULL;
  int64_t found = find_groups(context, line, part->group, &groups), marked = -1;
  uint32_t *order = found < 0 ? NULL : malloc((size_t)found * sizeof *order + 1);
  int64_t *sizes = found < 0 ? NULL : calloc((size_t)found + 1, sizeof *sizes);
  if (order && sizes) {
    for (int64_t i = 0; i < marks->count; i++) sizes[groups[i]]++;
    data_permutation(part->seed, DATA_STREAM_SPLIT, found, order);
    int64_t seen = marked = 0;
    for (int64_t g = 0; g < found; g++) {
      int64_t size = sizes[order[g]], middle = 2 * seen + size;
      bool is_in = middle >= 2 * marks->first && middle < 2 * marks->past;
      seen += size;
      marked += is_in ? size : 0;
      sizes[order[g]] = is_in; /* from here on whether it is marked */
    }
    for (int64_t i = 0; i < marks->count; i++) marks->chosen[i] = (unsigned char)sizes[groups[i]];
  } else if (found >= 0) {
    data_fail_memory(context, "groups of rows", found * 12);
  }
  free(groups);
  free(order);
  free(sizes);
  return marked;
}

static int keep_marked(const DataContext *context, const DataLine *line, const DataPart *part,
                       const unsigned char *chosen) {
  for (int t = 0; t < line->count; t++) {
    DataTable *table = &line->tables[t];
    int64_t kept = 0;
    if (data_table_need_order(context, table) < 0) return -1;
    for (int64_t i = 0; i < table->count; i++)
      if (*chosen++ != part->leaves_out) table->order[kept++] = table->order[i];
    table->count = kept;
  }
  return 0;
}

static int choose(const DataContext *context, const DataLine *line, const DataPart *part) {
  int64_t count = data_line_examples(line);
  Marks marks = {llround(part->from * (double)count), llround(part->to * (double)count), count,
                 calloc(1, (size_t)count + 1)};
  int64_t marked = !marks.chosen ? data_fail_memory(context, "the part", count)
                   : part->group ? mark_groups(context, line, part, &marks)
                                 : mark_rows(context, line, part, &marks);
  int64_t size = part->leaves_out ? count - marked : marked;
  int result = marked < 0 ? -1 : 0;
  if (result == 0 && size <= 0)
    result = data_fail_call(context, "%s(%.15g, %.15g) of %lld rows has none",
                            context->call->function, part->first, part->second, (long long)count);
  if (result == 0) result = keep_marked(context, line, part, marks.chosen);
  free(marks.chosen);
  return result;
}

int data_choose_part(const DataContext *context, const DataLine *line, const DataPart *part) {
  if (part->group) return choose(context, line, part); /* one may have rows in several sources */
  for (int t = 0; t < line->count; t++) {
    DataLine one = {1, &line->tables[t]};
    if (choose(context, &one, part) < 0) return -1;
  }
  return 0;
}
