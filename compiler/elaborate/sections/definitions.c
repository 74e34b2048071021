/* What a name that nothing answers to may have meant: a constant or an option, a key of the train block, an argument of
 * its optimizer, or a value that the program computes, which no definition replaces. */
#include "elaborate/sections/definitions.h"

#include <string.h>
#include "elaborate/core/function.h"
#include "elaborate/core/report.h"
#include "elaborate/sections/train.h"
#include "support/names.h"

typedef VEC(const char *) Names;

static const AstStmt *find_train(const Elaborator *e) {
  for (int i = 0; i < e->program->stmts.count; i++)
    if (e->program->stmts.items[i]->kind == AST_TRAIN) return e->program->stmts.items[i];
  return NULL;
}

static bool is_train_key(const char *name) {
  for (int i = 0; train_key_name(i); i++)
    if (strcmp(train_key_name(i), name) == 0) return true;
  return false;
}

/* Constants and options, which -D NAME replaces. */
static Names replaceable(Elaborator *e) {
  Names names = {0};
  for (int i = 0; i < e->program->stmts.count; i++) {
    const AstStmt *stmt = e->program->stmts.items[i];
    for (int k = 0; stmt->kind == AST_CONST && k < stmt->constants.count; k++)
      vec_push(e->arena, &names, stmt->constants.items[k].name.text);
    if (stmt->kind == AST_OPTION) vec_push(e->arena, &names, stmt->option.name.text);
  }
  return names;
}

/* What -D train.KEY replaces. */
static Names train_keys(Elaborator *e) {
  Names keys = {0};
  for (int i = 0; train_key_name(i) && find_train(e); i++)
    vec_push(e->arena, &keys, train_key_name(i));
  return keys;
}

/* ---- arguments of the optimizer -------------------------------------------------------------- */

/* The optimizer that the train block names, not in a group; NULL: none that is known. */
static const Function *find_optimizer(const Elaborator *e) {
  const AstStmt *train = find_train(e);
  for (int i = 0; train && i < train->section.entries.count; i++) {
    const AstEntry *entry = &train->section.entries.items[i];
    if (entry->kind != AST_ENTRY_SET || strcmp(entry->names.items[0].text, "optimizer")) continue;
    const AstExpr *callee =
        entry->value->kind == AST_CALL ? entry->value->call.callee : entry->value;
    Symbol *hidden = NULL;
    const Symbol *symbol =
        callee->kind == AST_NAME ? scope_find(e->trace->globals, callee->name, &hidden) : NULL;
    return symbol && symbol->value.kind == VALUE_DEF ? symbol->value.function : NULL;
  }
  return NULL;
}

/* "lr", "train.lr", "train.optimizer.lr", "adam.lr"; exactly, or nearly. */
static bool help_argument(Elaborator *e, Diagnostic *d, const Definition *definition,
                          bool is_exact) {
  const Function *optimizer = find_optimizer(e);
  const char *dot = strrchr(definition->name, '.'), *last = dot ? dot + 1 : definition->name;
  if (!optimizer) return false;
  const AstFormals *formals = &optimizer->stmt->function.formals;
  const char **names = ARENA_ARRAY(e->arena, const char *, formals->count + 1);
  for (int i = 0; i < formals->count; i++) names[i] = formals->items[i].name.text;
  const char *meant = report_meant(last, names, formals->count);
  if (!meant || (is_exact && strcmp(meant, last) != 0)) return false;
  diag_help(d, "'%s' is an argument of the optimizer: -D 'train.optimizer=%s(%s = %s)'", meant,
            optimizer->name, meant, definition->value);
  diag_help(d, "or name it in the program, 'const %s = ...' and '%s(%s = %s)', for -D %s=%s", meant,
            optimizer->name, meant, meant, meant, definition->value);
  return true;
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool help_name(Elaborator *e, Diagnostic *d, const char *name) {
  Names names = replaceable(e);
  const char *meant = report_meant(name, names.items, names.count);
  if (meant) diag_help(d, "did you mean '%s'?", meant);
  return meant != NULL;
}

static bool help_key(Elaborator *e, Diagnostic *d, const char *name) {
  Names keys = train_keys(e);
  const char *key = strncmp(name, "train.", 6) == 0 ? name + 6 : name;
  const char *meant = report_meant(key, keys.items, keys.count);
  if (meant) diag_help(d, "did you mean 'train.%s'?", meant);
  return meant != NULL;
}

static void help_all(Elaborator *e, Diagnostic *d, const char *name) {
  Names names = replaceable(e), keys = train_keys(e);
  const Symbol *symbol = scope_find_own(e->trace->globals, name_intern(name));
  if (symbol)
    diag_help(d, "'%s' is %s; as 'const %s = ...' it could be replaced", name,
              scope_kind_text(symbol->kind), name);
  diag_help(d, "-D NAME=VALUE replaces constants and options, of which there are %s",
            names.count ? report_list(e->arena, names.items, names.count) : "none");
  if (keys.count > 0)
    diag_help(d, "-D train.KEY=VALUE replaces keys of the train block: %s",
              report_list(e->arena, keys.items, keys.count));
}

/* Of several definitions of a name the last one is used, so that the first of them is not. */
static void report_definition(Elaborator *e, int index) {
  const Definition *definition = &e->options->definitions[index];
  const char *name = definition->name;
  bool is_again = false;
  for (int i = 0; i < e->options->definition_count; i++) {
    if (i == index || strcmp(e->options->definitions[i].name, name) != 0) continue;
    if (i < index) return; /* reported there */
    is_again = true;
  }
  if (is_again) {
    report_error(e, (Span){0}, "-D %s is given more than once", name);
    return;
  }
  if (strncmp(name, "train.", 6) == 0 && is_train_key(name + 6)) {
    report_error(e, (Span){0}, "-D %s: the program has no train block", name);
    return;
  }
  Diagnostic *d = report_error(
      e, (Span){0}, "-D %s: the program has no constant, option or train key of this name", name);
  if (!help_name(e, d, name) && !help_argument(e, d, definition, true) && !help_key(e, d, name) &&
      !help_argument(e, d, definition, false))
    help_all(e, d, name);
}

void definitions_check(Elaborator *e) {
  for (int i = 0; i < e->options->definition_count; i++)
    if (!e->definition_used[i]) report_definition(e, i);
}
