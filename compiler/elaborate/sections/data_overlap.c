/* Parts of one source in two data sets: rows that are in both.
 *
 * Two lines read the same source when they name the same files. Their parts are told apart by the
 * first choice of rows in which they differ: the part of a stream (from, to), then `split` after
 * `split`. Parts that overlap are a mistake where the training set has one of them. It may be meant
 * that one is all of the other (a set that measures what was learnt by heart), so that is a warning;
 * a source that both read whole says nothing of parts.
 *
 * Sources of which only some files are the same, as `csv("part-*.csv")` and `csv("part-9.csv")`, have no parts in
 * common: rows of these files are in both, by chance where parts are drawn. */
#include <math.h>
#include <string.h>
#include "elaborate/core/report.h"
#include "elaborate/sections/data.h"

static bool is_stream(const DataCall *source) {
  return !strcmp(source->function, "text") || !strcmp(source->function, "token_stream");
}

static bool names_file(const DataArgument *argument) {
  return (argument->value.kind == DATA_STRING || argument->value.kind == DATA_LIST) &&
         (!argument->name[0] || !strcmp(argument->name, "file") ||
          !strcmp(argument->name, "folder") || !strcmp(argument->name, "files"));
}

typedef VEC(const char *) FileNames;

/* Of a table with names of files: the table. */
static FileNames names_of(Arena *arena, const DataCall *source) {
  FileNames names = {0};
  bool is_table = data_find_argument(source, "file") != NULL;
  for (int i = 0; i < source->argument_count; i++) {
    const DataArgument *argument = &source->arguments[i];
    const DataValue *value = &argument->value;
    if (!names_file(argument) || (is_table && !strcmp(argument->name, "folder"))) continue;
    if (value->kind == DATA_STRING) vec_push(arena, &names, value->string);
    for (int k = 0; value->kind == DATA_LIST && k < value->count; k++)
      if (value->items[k].kind == DATA_STRING) vec_push(arena, &names, value->items[k].string);
  }
  return names;
}

/* Sources whose files follow each other; other sources have one file, or one for each field. */
static bool is_sequence(const DataCall *source) {
  return !strcmp(source->function, "cifar") || !strcmp(source->function, "shards");
}

/* Whether the rows of both sources are the same, whatever files there are. */
static bool reads_same(Arena *arena, const DataCall *a, const DataCall *b) {
  if (a->function != b->function) return false;
  FileNames names = names_of(arena, a), its = names_of(arena, b);
  if (!is_sequence(a)) {
    for (int i = 0; i < names.count; i++)
      for (int k = 0; k < its.count; k++)
        if (data_same_name(names.items[i], its.items[k])) return true;
    return false;
  }
  for (int i = 0; i < names.count && names.count == its.count; i++)
    if (!data_same_name(names.items[i], its.items[i])) return false;
  return names.count == its.count && names.count > 0;
}

/* A name of files that both sources read; NULL: the program does not tell of any. */
static const char *shared_files(Arena *arena, const DataCall *a, const DataCall *b) {
  if (a->function != b->function) return NULL;
  bool has_ranges = !strcmp(a->function, "shards");
  FileNames names = names_of(arena, a), its = names_of(arena, b);
  for (int i = 0; i < names.count; i++)
    for (int k = 0; k < its.count; k++) {
      const char *shared = data_shared_name(arena, names.items[i], its.items[k], has_ranges);
      if (shared) return shared;
    }
  return NULL;
}

/* A part of what is chosen from: by a split, by a stream's from and to, or all. */
typedef struct Part {
  const DataCall *call; /* NULL: there is no further choice */
  double from, to, seed;
  const char *by, *group; /* fields that say which rows belong to a part; NULL */
} Part;

static const char *field_of(const DataCall *call, const char *name) {
  const DataArgument *argument = data_find_argument(call, name);
  return argument ? argument->value.string : NULL;
}

static Part make_part(const DataCall *call) {
  if (!call) return (Part){.to = 1};
  return (Part){call,
                data_argument_number(call, "from", 0),
                data_argument_number(call, "to", 1),
                data_argument_number(call, "seed", 0),
                field_of(call, "by"),
                field_of(call, "group")};
}

static bool is_whole(const Part *part) { return part->from <= 0 && part->to >= 1; }

typedef struct Pair {
  const DataSet *a, *b; /* a stands before b in the file */
  Span a_at, b_at;      /* of the lines */
  bool trains;          /* one of them is the training set */
  bool reads_alike;     /* the two lines have the same sources, in the same order */
} Pair;

static Diagnostic *report(Elaborator *e, const Pair *pair, const Part *x, const Part *y,
                          bool is_error, const char *what) {
  Span at = y->call ? y->call->span : pair->b_at;
  const char *text =
      arena_printf(e->arena, "'data %s' and 'data %s' %s", pair->a->name, pair->b->name, what);
  Diagnostic *d = is_error ? report_error(e, at, "%s", text) : report_warning(e, at, "%s", text);
  diag_note(d, x->call ? x->call->span : pair->a_at, "'data %s'", pair->a->name);
  return d;
}

/* Groups are those of all sources of a line. */
static bool parts_alike(const Pair *pair, const char *group) { return !group || pair->reads_alike; }

/* The two parts differ, or are the last choices of both lines. True when they share rows and that is
 * told: other lines of the two sets would say the same again. */
static bool judge(Elaborator *e, const Pair *pair, Part x, Part y) {
  if (is_whole(&x) && is_whole(&y)) return false;
  bool is_one_whole = is_whole(&x) || is_whole(&y);
  bool is_alike =
      x.seed == y.seed && x.by == y.by && x.group == y.group && parts_alike(pair, x.group);
  if (!is_one_whole && !is_alike) {
    Diagnostic *d = report(e, pair, &x, &y, pair->trains,
                           "have parts of different permutations of one source: rows are in both");
    diag_help(d, "with the same seed, by and group, parts that do not overlap share no row");
    return true;
  }
  double from = fmax(x.from, y.from), to = fmin(x.to, y.to);
  bool is_same = x.from == y.from && x.to == y.to;
  if (from >= to) return false;
  if (!is_one_whole && !is_same) {
    report(e, pair, &x, &y, pair->trains,
           arena_printf(e->arena, "both have the part from %g to %g of one source", from, to));
    return true;
  }
  if (!pair->trains) return false;
  report(e, pair, &x, &y, false,
         is_same
             ? "have the same part of one source: what is measured is what was trained on"
             : "read one source, of which one has all of the other's part: its rows are in both");
  return true;
}

static bool is_split(const DataCall *call) { return call && !strcmp(call->function, "split"); }

static bool is_fold(const DataCall *call) { return call && !strcmp(call->function, "fold"); }

/* Training takes all folds but one; other sets that one. Only the same one is in no two of them. */
static bool judge_folds(Elaborator *e, const Pair *pair, const DataCall *x, const DataCall *y) {
  if (!pair->trains) return false;
  Part a = {.call = x, .to = 1}, b = {.call = y, .to = 1};
  Diagnostic *d =
      report(e, pair, &a, &b, true, "have folds that are not the same: rows are in both");
  diag_help(
      d, "fold(0, of = 5) leaves a fold out of 'data train' and is that fold in every other set");
  return true;
}

static bool splits_from(const DataPipeline *pipeline, int at) {
  for (; at < pipeline->call_count; at++)
    if (is_split(&pipeline->calls[at])) return true;
  return false;
}

static bool compare_choices(Elaborator *e, const Pair *pair, const DataPipeline *a,
                            const DataPipeline *b) {
  int i = 1, k = 1;
  Part last_x = make_part(NULL), last_y = last_x;
  for (;;) {
    int before_i = i, before_k = k;
    const DataCall *x = data_next_choice(a, &i), *y = data_next_choice(b, &k);
    if (x && data_same_choice(x, y) && parts_alike(pair, field_of(x, "group"))) {
      if (is_split(x)) last_x = make_part(x), last_y = make_part(y);
      continue;
    }
    if (is_fold(x) && is_fold(y)) return judge_folds(e, pair, x, y);
    bool x_splits = splits_from(a, before_i), y_splits = splits_from(b, before_k);
    if (!x_splits && !y_splits) return judge(e, pair, last_x, last_y); /* alike to the end */
    /* After rows in different orders, what a split chooses is not known here. */
    if (x_splits && y_splits && !(is_split(x) && is_split(y))) return false;
    while (x_splits && !is_split(x)) x = data_next_choice(a, &i);
    while (y_splits && !is_split(y)) y = data_next_choice(b, &k);
    return judge(e, pair, make_part(x_splits ? x : NULL), make_part(y_splits ? y : NULL));
  }
}

static const DataCall *find_window(const DataPipeline *pipeline) {
  for (int c = 1; c < pipeline->call_count; c++)
    if (!strcmp(pipeline->calls[c].function, "window")) return &pipeline->calls[c];
  return NULL;
}

/* The first call of the line that chooses a part of the rows; NULL. */
static const DataCall *find_choice(const DataPipeline *pipeline) {
  Part stream = make_part(&pipeline->calls[0]);
  if (is_stream(&pipeline->calls[0]) && !is_whole(&stream)) return &pipeline->calls[0];
  for (int c = 1; c < pipeline->call_count; c++) {
    const DataCall *call = &pipeline->calls[c];
    Part part = make_part(call);
    bool is_window = !strcmp(call->function, "window");
    if (is_fold(call) || ((is_split(call) || is_window) && !is_whole(&part))) return call;
  }
  return NULL;
}

/* The lines' sources have these files in common, but are not the same. */
static bool judge_shared(Elaborator *e, const Pair *pair, const DataPipeline *a,
                         const DataPipeline *b, const char *files) {
  const DataCall *x = find_choice(a), *y = find_choice(b);
  Part part = {.call = x, .to = 1}, its = {.call = y, .to = 1};
  const char *named = arena_printf(e->arena, "\"%s\"", files);
  bool draws = x && y && (is_split(x) || is_fold(x)) && (is_split(y) || is_fold(y));
  if (draws) {
    Diagnostic *d = report(e, pair, &part, &its, pair->trains,
                           arena_printf(e->arena,
                                        "draw parts of different files, of which both have %s: "
                                        "rows are in both",
                                        named));
    diag_help(d, "parts that do not overlap share no row where both sets name the same files");
    return true;
  }
  if (!pair->trains) return false;
  report(e, pair, &part, &its, false,
         arena_printf(
             e->arena,
             x && y ? "have parts of different files, of which both have %s: rows may be in both"
                    : "both read %s: its rows are in both",
             named));
  return true;
}

static bool compare_lines(Elaborator *e, Pair *pair, const DataPipeline *a, const DataPipeline *b) {
  if (a->is_wrong || b->is_wrong) return false; /* which rows they take is not known */
  if (a->call_count == 0 || b->call_count == 0) return false;
  pair->a_at = a->span;
  pair->b_at = b->span;
  if (!reads_same(e->arena, &a->calls[0], &b->calls[0])) {
    const char *shared = shared_files(e->arena, &a->calls[0], &b->calls[0]);
    return shared && judge_shared(e, pair, a, b, shared);
  }
  if (is_stream(&a->calls[0])) {
    Part x = make_part(&a->calls[0]), y = make_part(&b->calls[0]);
    bool is_same = x.from == y.from && x.to == y.to;
    if (!is_same || !is_whole(&x)) return judge(e, pair, x, y);
  }
  const DataCall *window = find_window(a), *its = find_window(b);
  if (window || its) {
    Part x = make_part(window), y = make_part(its);
    bool is_same = x.from == y.from && x.to == y.to;
    if (!is_same || !is_whole(&x)) return judge(e, pair, x, y);
    return false;
  }
  return compare_choices(e, pair, a, b);
}

/* Whether lines p and q, of which each may be one of several sources of a line, have the same sources. */
static bool reads_alike(Arena *arena, const DataSet *a, int p, const DataSet *b, int q) {
  while (data_follows_part(a, p) && data_follows_part(b, q)) p--, q--;
  for (;; p++, q++) {
    bool more = p + 1 < a->pipeline_count && data_follows_part(a, p + 1);
    bool has_more = q + 1 < b->pipeline_count && data_follows_part(b, q + 1);
    bool are_good = a->pipelines[p].call_count > 0 && b->pipelines[q].call_count > 0;
    if (are_good && !reads_same(arena, &a->pipelines[p].calls[0], &b->pipelines[q].calls[0]))
      return false;
    if (more != has_more) return false;
    if (!more) return true;
  }
}

static void compare_sets(Elaborator *e, Pair *pair) {
  for (int p = 0; p < pair->a->pipeline_count; p++)
    for (int q = 0; q < pair->b->pipeline_count; q++) {
      pair->reads_alike = reads_alike(e->arena, pair->a, p, pair->b, q);
      if (compare_lines(e, pair, &pair->a->pipelines[p], &pair->b->pipelines[q])) return;
    }
}

static bool is_set(const DataSet *set, const char *name) { return !strcmp(set->name, name); }

void data_check_overlap(Elaborator *e) {
  const Module *module = e->module;
  for (int j = 1; j < module->data_sets.count; j++)
    for (int i = 0; i < j; i++) {
      const DataSet *a = &module->data_sets.items[i], *b = &module->data_sets.items[j];
      if (is_set(a, "predict") || is_set(b, "predict")) continue;
      Pair pair = {.a = a, .b = b, .trains = is_set(a, "train") || is_set(b, "train")};
      compare_sets(e, &pair);
    }
}
