/* The train block: reading its keys and groups; the run's configuration.
 *
 * Expressions are evaluated where the block stands. The traces of evaluation need the loss and the
 * metrics only. `-D train.key=value` replaces a key of the block, not of its groups. */
#include <math.h>
#include <stddef.h>
#include <string.h>
#include "elaborate/core/elaborator.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "elaborate/eval/option.h"
#include "elaborate/sections/loss_scale.h"
#include "elaborate/sections/steer.h"
#include "elaborate/sections/train.h"
#include "elaborate/variables/frozen.h"
#include "support/names.h"

static const struct {
  const char *name;
  bool in_train, in_group, in_evaluation;
} key_info[KEY_COUNT] = {
    [KEY_MINIMIZE] = {"minimize", true, true, true},
    [KEY_OPTIMIZER] = {"optimizer", true, true, false},
    [KEY_CLIP] = {"clip", true, true, false},
    [KEY_LR_SCALE] = {"lr_scale", false, true, false},
    [KEY_FROZEN] = {"frozen", false, true, false},
    [KEY_LAZY] = {"lazy", true, true, false},
    [KEY_AVERAGE] = {"average", true, true, false},
    [KEY_EPOCHS] = {"epochs", true, false, false},
    [KEY_STEPS] = {"steps", true, false, false},
    [KEY_METRICS] = {"metrics", true, false, true},
    [KEY_PRECISION] = {"precision", true, false, false},
    [KEY_LOSS_SCALE] = {"loss_scale", true, false, false},
    [KEY_ACCUMULATE] = {"accumulate", true, false, false},
    [KEY_VALIDATE] = {"validate", true, false, false},
    [KEY_SEED] = {"seed", true, false, false},
    [KEY_SAVE] = {"save", true, false, false},
    [KEY_SAVE_EVERY] = {"save_every", true, false, false},
    [KEY_KEEP] = {"keep", true, false, false},
    [KEY_STOP] = {"stop", true, false, false},
};

const char *train_key_name(int i) {
  for (int key = 0; key < KEY_COUNT; key++)
    if (key_info[key].in_train && i-- == 0) return key_info[key].name;
  return NULL;
}

static int find_key(const char *name, bool group) {
  for (int i = 0; i < KEY_COUNT; i++)
    if (!strcmp(key_info[i].name, name) && (group ? key_info[i].in_group : key_info[i].in_train))
      return i;
  return -1;
}

static void report_unknown_key(Elaborator *e, AstName name, bool group) {
  VEC(const char *) known = {0};
  Text list = {0};
  for (int i = 0; i < KEY_COUNT; i++) {
    if (!(group ? key_info[i].in_group : key_info[i].in_train)) continue;
    text_printf(&list, "%s%s", known.count > 0 ? ", " : "", key_info[i].name);
    vec_push(e->arena, &known, key_info[i].name);
  }
  for (int i = 0; group && i < e->functions.count; i++) {
    const AstStmt *stmt = e->functions.items[i]->stmt;
    for (int k = 0; stmt->kind == AST_OPTIMIZER && k < stmt->function.formals.count; k++)
      vec_push(e->arena, &known, stmt->function.formals.items[k].name.text);
  }
  Diagnostic *d = report_error(e, name.span, "unknown key '%s' in %s", name.text,
                               group ? "a group of parameters" : "train");
  report_suggest(d, name.text, known.items, known.count);
  diag_help(d, "the keys are %s%s", list.data, group ? ", and the arguments of the optimizer" : "");
  text_free(&list);
}

/* A misspelt key is one mistake: the key that was probably meant is not reported as missing, too. */
static void report_unknown_train_key(Elaborator *e, TrainPlan *plan, AstName name) {
  const char *names[KEY_COUNT];
  for (int i = 0; i < KEY_COUNT; i++) names[i] = key_info[i].in_train ? key_info[i].name : "";
  const char *nearest = report_meant(name.text, names, KEY_COUNT);
  for (int i = 0; nearest && i < KEY_COUNT; i++)
    if (strcmp(names[i], nearest) == 0) plan->misspelt[i] = true;
  report_unknown_key(e, name, false);
}

/* ---- loss and metrics --------------------------------------------------------------------- */

static void report_no_metric(Elaborator *e, const char *what, const Node *node, Span at,
                             bool is_loss) {
  bool is_scalar = node->type.shape.rank == 0;
  const char *wanted = is_loss ? "float scalar" : is_scalar ? "number" : "scalar";
  Diagnostic *d = report_error(e, at, "%s must be a %s, found %s", what, wanted,
                               type_text(e->arena, node->type));
  report_note_tensor(e, d, "it", node);
  if (node->type.dtype == DTYPE_BOOL)
    diag_help(d,
              "of truth values, mean(f32(...)) is the share of the true ones, max(f32(...)) is 1 "
              "where any is true");
  else if (!is_scalar) diag_help(d, "mean(...) or sum(...) makes a scalar");
  else diag_help(d, "what is minimized has a gradient: it is computed of floats, f32(x)");
}

static void add_metric(Elaborator *e, Metrics *metrics, const char *name, Value value, Span at,
                       bool is_loss) {
  const char *what =
      is_loss ? "what is minimized" : arena_printf(e->arena, "the metric '%s'", name);
  value = convert_plain(e, value, at);
  if (value_is_error(value)) return;
  if (!value_is_tensor(value)) {
    report_kind(e, at, what, "a scalar of the step", value);
    return;
  }
  Node *node = value.tensor.node;
  bool fits = node->type.shape.rank == 0 && node->type.dtype != DTYPE_BOOL;
  if (is_loss) fits = fits && dtype_is_float(node->type.dtype);
  if (!fits) {
    report_no_metric(e, what, node, at, is_loss);
    return;
  }
  for (int i = 0; i < metrics->count; i++)
    if (metrics->items[i].name == name) return; /* the same loss again */
  vec_push(e->arena, metrics, ((Metric){name, node, at, is_loss}));
}

/* A list of numbers, as one for each class, is as many metrics: `name.0`, `name.1`, and of lists of lists `name.0.0`. */
static void add_metrics(Elaborator *e, Metrics *metrics, const char *name, Value value, Span at) {
  if (!value_is_sequence(value) || value.kind == VALUE_RANGE) {
    add_metric(e, metrics, name, value, at, false);
    return;
  }
  int64_t count = value_sequence_length(value);
  if (count == 0) report_error(e, at, "the metric '%s' is a list without elements", name);
  for (int64_t i = 0; i < count; i++)
    add_metrics(e, metrics, name_printf("%s.%lld", name, (long long)i),
                value_sequence_item(value, i), at);
}

static const char *expr_name(const AstExpr *expr) {
  return expr->kind == AST_NAME ? expr->name : NULL;
}

/* gradient_norm(loss) has its own name as a metric. */
static bool is_gradient_norm(const AstExpr *expr) {
  return expr->kind == AST_CALL && expr->call.callee->kind == AST_NAME &&
         strcmp(expr->call.callee->name, "gradient_norm") == 0;
}

static bool check_new_metric(Elaborator *e, const Metrics *metrics, const char *name, Span at) {
  for (int i = 0; i < metrics->count; i++) {
    if (strcmp(metrics->items[i].name, name) != 0) continue;
    Diagnostic *d = report_error(e, at, "there are two metrics '%s'", name);
    diag_note(d, metrics->items[i].span, "the first");
    return diag_help(d, "a name of its own labels it in the output: steep = %s(...)", name);
  }
  return true;
}

static void add_named_metric(Elaborator *e, Metrics *metrics, const AstExpr *expr) {
  const char *name = expr_name(expr);
  if (is_gradient_norm(expr)) {
    name = expr->call.callee->name;
    if (!check_new_metric(e, metrics, name, expr->span)) return;
  }
  if (!name) {
    Diagnostic *d = report_error(e, expr->span, "a metric must be a name");
    diag_help(d, "bind the value first, its name labels it in the output: accuracy = mean(...)");
    return;
  }
  add_metrics(e, metrics, name, evaluate_expr(e, expr), expr->span);
}

static Metrics collect_metrics(Elaborator *e, const TrainPlan *plan) {
  Metrics metrics = {0};
  const KeyValue *loss = &plan->keys[KEY_MINIMIZE];
  if (loss->expr) add_metric(e, &metrics, name_intern("loss"), loss->value, loss->expr->span, true);
  for (int i = 0; i < plan->groups.count; i++) {
    const KeyValue *own = &plan->groups.items[i]->keys[KEY_MINIMIZE];
    if (!own->expr) continue;
    const char *name = expr_name(own->expr);
    add_metric(e, &metrics, name ? name : name_printf("loss.%d", i + 1), own->value,
               own->expr->span, true);
  }
  const AstExpr *list = plan->keys[KEY_METRICS].expr;
  if (!list) return metrics;
  if (list->kind != AST_LIST && list->kind != AST_TUPLE) {
    add_named_metric(e, &metrics, list);
    return metrics;
  }
  for (int i = 0; i < list->items.count; i++) add_named_metric(e, &metrics, list->items.items[i]);
  return metrics;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* A word of its own, since tensors have no such type. */
static bool is_word(const AstExpr *expr, const char *word) {
  return expr->kind == AST_NAME && !strcmp(expr->name, word);
}

/* Of f32 that is multiplied in ways of its own. */
static bool is_f32_of_products(const AstExpr *expr) {
  return is_word(expr, "tf32") || is_word(expr, "bf16x3");
}

/* Forms of their own, read where they are used: `clip = clip_value(0.5)` by update.c, `save = best(val.loss)`
 * by steer.c. */
static bool is_form(int which) {
  return which == KEY_CLIP || which == KEY_METRICS || which == KEY_SAVE || which == KEY_STOP ||
         which == KEY_SAVE_EVERY || which == KEY_KEEP;
}

static void evaluate_key(Elaborator *e, KeyValue *key, int which) {
  bool wanted = e->trace->entry == ENTRY_TRAIN || key_info[which].in_evaluation;
  if (which == KEY_PRECISION && is_f32_of_products(key->expr)) key->value = value_dtype(DTYPE_F32);
  else if (wanted && !is_form(which)) key->value = evaluate_expr(e, key->expr);
}

static void read_key(Elaborator *e, KeyValue *key, int which, const AstEntry *entry) {
  if (key->expr) {
    Diagnostic *d = report_error(e, entry->span, "'%s' is given twice", key_info[which].name);
    diag_note(d, key->expr->span, "the first");
    return;
  }
  key->expr = entry->value;
  e->frame->label = key_info[which].name;
  evaluate_key(e, key, which);
}

static void read_group_key(Elaborator *e, TrainGroup *group, int which, const AstEntry *line) {
  KeyValue *key = &group->keys[which];
  read_key(e, key, which, line);
  if (which == KEY_FROZEN && key->value.kind == VALUE_BOOL)
    frozen_check(e, group->entry, line->value, key->value.boolean);
}

static bool is_optimizer_argument(Elaborator *e, const char *name) {
  /* Which optimizer a group uses is known only when all is read: any of the program's counts. */
  for (int i = 0; i < e->functions.count; i++)
    if (e->functions.items[i]->stmt->kind == AST_OPTIMIZER &&
        function_find_formal(e->functions.items[i], name) >= 0)
      return true;
  return false;
}

static void read_group(Elaborator *e, TrainPlan *plan, const AstEntry *entry) {
  TrainGroup *group = ARENA_NEW(e->arena, TrainGroup);
  group->entry = entry;
  vec_push(e->arena, &plan->groups, group);
  for (int i = 0; i < entry->entries.count; i++) {
    const AstEntry *line = &entry->entries.items[i];
    if (line->kind == AST_ENTRY_PARAMS) {
      report_error(e, line->span, "groups of parameters do not nest");
      continue;
    }
    AstName name = line->names.items[0];
    int which = find_key(name.text, true);
    if (which >= 0) {
      read_group_key(e, group, which, line);
    } else if (is_optimizer_argument(e, name.text)) {
      if (e->trace->entry != ENTRY_TRAIN) continue;
      Override override = {name, evaluate_expr(e, line->value), line->value->span};
      vec_push(e->arena, &group->overrides, override);
    } else {
      report_unknown_key(e, name, true);
    }
  }
}

static void apply_definitions(Elaborator *e, TrainPlan *plan) {
  for (int i = 0; i < KEY_COUNT; i++) {
    if (!key_info[i].in_train) continue;
    const AstExpr *expr =
        elaborator_definition(e, arena_printf(e->arena, "train.%s", key_info[i].name));
    if (!expr) continue;
    plan->keys[i].expr = expr;
    if (i == KEY_EPOCHS) plan->keys[KEY_STEPS].expr = NULL;
    if (i == KEY_STEPS) plan->keys[KEY_EPOCHS].expr = NULL;
    evaluate_key(e, &plan->keys[i], i);
  }
}

void train_evaluate(Elaborator *e, const AstStmt *stmt) {
  if (e->trace->train) {
    Diagnostic *d = report_error(e, stmt->keyword, "there is a second train block");
    diag_note(d, e->trace->train->stmt->keyword, "the first");
    return;
  }
  TrainPlan *plan = ARENA_NEW(e->arena, TrainPlan);
  plan->stmt = stmt;
  e->trace->train = plan;
  for (int i = 0; i < stmt->section.entries.count; i++) {
    const AstEntry *entry = &stmt->section.entries.items[i];
    if (entry->kind == AST_ENTRY_PARAMS) {
      read_group(e, plan, entry);
      continue;
    }
    AstName name = entry->names.items[0];
    int which = find_key(name.text, false);
    if (which < 0) report_unknown_train_key(e, plan, name);
    else read_key(e, &plan->keys[which], which, entry);
  }
  apply_definitions(e, plan);
  plan->metrics = collect_metrics(e, plan);
  if (e->trace->entry != ENTRY_TRAIN) return;
  if (!plan->keys[KEY_MINIMIZE].expr && !plan->misspelt[KEY_MINIMIZE])
    report_error(e, stmt->keyword, "train does not say what to minimize: minimize = loss");
  if (!plan->keys[KEY_OPTIMIZER].expr && !plan->misspelt[KEY_OPTIMIZER])
    report_error(e, stmt->keyword, "train needs an optimizer: optimizer = adam(lr = 1e-3)");
}

/* ---- the run's configuration -------------------------------------------------------------- */

static bool read_positive(Elaborator *e, const KeyValue *key, const char *what, int64_t least,
                          int64_t *result) {
  if (!convert_int(e, key->value, key->expr->span, what, result)) return false;
  if (*result >= least) return true;
  return report_failure(e, key->expr->span, "%s must be at least %lld, found %lld", what,
                        (long long)least, (long long)*result);
}

/* The same, or an option whose value the running program puts there: `sets` is the flag that says so. */
static bool read_setting(Elaborator *e, const KeyValue *key, const char *what, int64_t least,
                         int64_t *result, size_t sets) {
  RunOption *option = option_of(e, key->value);
  if (!option) return read_positive(e, key, what, least, result);
  if (!option->is_whole) {
    Diagnostic *d =
        report_error(e, key->expr->span, "%s must be an integer, but the option '%s' is not one",
                     what, option->name);
    diag_note(d, option->span, "a default without a fraction, such as 3, makes it one");
    return false;
  }
  option->least = fmax(option->least, (double)least);
  if (option->start < option->least) {
    Diagnostic *d = report_error(e, key->expr->span, "%s must be at least %lld, found %.17g", what,
                                 (long long)least, option->start);
    diag_note(d, option->span, "the default of the option");
    return false;
  }
  *result = (int64_t)option->start;
  *(bool *)((char *)option + sets) = true;
  return true;
}

/* `steps = 5 epochs` counts epochs. */
static void configure_length(Elaborator *e, const TrainPlan *plan) {
  const KeyValue *epochs = &plan->keys[KEY_EPOCHS], *steps = &plan->keys[KEY_STEPS];
  RunConfig *run = &e->module->run;
  if (epochs->expr && steps->expr) {
    Diagnostic *d = report_error(e, steps->expr->span, "train gives both epochs and steps");
    diag_note(d, epochs->expr->span, "the epochs");
    return;
  }
  const KeyValue *given = epochs->expr ? epochs : steps;
  if (!given->expr) {
    if (plan->misspelt[KEY_EPOCHS] || plan->misspelt[KEY_STEPS]) return;
    report_error(e, plan->stmt->keyword,
                 "train does not say how long: epochs = 20 or steps = 10000");
    return;
  }
  KeyValue plain = *given;
  bool counts_epochs = given == epochs;
  if (given->value.kind == VALUE_QUANTITY) {
    counts_epochs = given->value.quantity.is_epochs;
    double number = given->value.quantity.number;
    plain.value = number == floor(number) ? value_int((int64_t)number) : value_float(number);
  }
  if (counts_epochs)
    read_setting(e, &plain, "epochs", 1, &run->epochs, offsetof(RunOption, sets_epochs));
  else read_setting(e, &plain, "steps", 1, &run->steps, offsetof(RunOption, sets_steps));
}

static void configure_validate(Elaborator *e, const KeyValue *key) {
  if (!key->expr || value_is_error(key->value)) return;
  Value value = key->value;
  if (value.kind == VALUE_QUANTITY && value.quantity.is_epochs) {
    if (value.quantity.number != 1)
      report_error(e, key->expr->span,
                   "validate takes steps, or 1 epochs for the end of each epoch");
    return;
  }
  read_setting(e, key, "validate", 1, &e->module->run.validate_steps,
               offsetof(RunOption, sets_validate));
}

static void configure_precision(Elaborator *e, const KeyValue *key) {
  RunConfig *run = &e->module->run;
  run->precision = e->default_float;
  if (!key->expr || value_is_error(key->value)) return;
  DType dtype = key->value.dtype;
  if (key->value.kind != VALUE_DTYPE || !dtype_is_float(dtype)) {
    report_kind(e, key->expr->span, "precision", "a float type such as f32", key->value);
    return;
  }
  run->precision = dtype;
  run->allows_tf32 = is_word(key->expr, "tf32");
  run->splits_products = is_word(key->expr, "bf16x3");
}

void train_configure(Elaborator *e) {
  const TrainPlan *plan = e->trace->train;
  RunConfig *run = &e->module->run;
  configure_length(e, plan);
  configure_validate(e, &plan->keys[KEY_VALIDATE]);
  configure_precision(e, &plan->keys[KEY_PRECISION]);
  loss_scale_configure(e, &plan->keys[KEY_LOSS_SCALE]);
  if (plan->keys[KEY_ACCUMULATE].expr)
    read_positive(e, &plan->keys[KEY_ACCUMULATE], "accumulate", 1, &run->accumulate);
  if (plan->keys[KEY_SEED].expr)
    read_setting(e, &plan->keys[KEY_SEED], "seed", 0, &run->seed, offsetof(RunOption, sets_seed));
  steer_configure(e, plan);
}
