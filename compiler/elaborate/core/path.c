/* Paths: the identity of parameters, and the names of nodes.
 *
 * A path is the chain of calls from the top level. The element of one call is
 *   1. the string of `name = "..."`, if given;
 *   2. the name that the statement binds, if the statement is the only one of its body that binds
 *      it, stands in no loop, and exactly one call of its right side that rule 1 does not name owns
 *      variables: this one;
 *   3. else `def.k`: the k-th call of that def from this frame that rule 1 or 2 did not name.
 * A call owns variables when the def, or one that it calls or has as an argument's default, declares
 * some. Calls that own none get
 * `binding.def` or `def.k`; only random keys and names in messages come of it. */
#include <stdio.h>
#include <string.h>
#include "core/pattern.h"
#include "elaborate/core/elaborator.h"
#include "elaborate/core/path.h"
#include "support/names.h"
#include "syntax/visit.h"

/* ---- who owns variables ------------------------------------------------------------------- */

static bool function_owns(Elaborator *e, Function *function);

typedef struct Census {
  Elaborator *e;
  const Scope *scope;
  bool counts_named; /* calls with `name = "..."`, too: they own, but need no name of a statement */
  int owners;
} Census;

static void count_expr(Census *census, const AstExpr *expr);

static bool block_owns(Census *census, const AstStmts *stmts);

static void count_exprs(Census *census, const AstExprs *exprs) {
  for (int i = 0; i < exprs->count; i++) count_expr(census, exprs->items[i]);
}

/* The statements of the body name their calls themselves: it is one owner at most. */
static void count_scan(Census *census, const AstScan *scan) {
  Census body = {.e = census->e, .scope = census->scope, .counts_named = census->counts_named};
  if (block_owns(&body, &scan->body->stmts)) census->owners++;
  count_exprs(census, &scan->sources);
  for (int i = 0; i < scan->carries.count; i++) count_expr(census, scan->carries.items[i].value);
}

static void count_call(Census *census, const AstExpr *expr) {
  const AstExpr *callee = expr->call.callee;
  bool is_named = false;
  for (int i = 0; i < expr->call.arguments.count; i++) {
    const AstArgument *argument = &expr->call.arguments.items[i];
    is_named = is_named || (argument->name.text && strcmp(argument->name.text, "name") == 0);
    count_expr(census, argument->value);
  }
  if (callee->kind != AST_NAME) {
    count_expr(census, callee);
    return;
  }
  Symbol *symbol = scope_find(census->scope, callee->name, NULL);
  if (!symbol || symbol->value.kind != VALUE_DEF) return;
  if (is_named && !census->counts_named) return;
  if (function_owns(census->e, symbol->value.function)) census->owners++;
}

static void count_part(const AstExpr *expr, void *census) { count_expr(census, expr); }

static void count_expr(Census *census, const AstExpr *expr) {
  if (expr->kind == AST_CALL) count_call(census, expr);
  else if (expr->kind == AST_SCAN) count_scan(census, expr->scan);
  else visit_parts(expr, count_part, census);
}

static bool block_owns(Census *census, const AstStmts *stmts) {
  for (int i = 0; i < stmts->count; i++) {
    const AstStmt *stmt = stmts->items[i];
    switch (stmt->kind) {
    case AST_PARAM:
    case AST_STATE:
    case AST_STREAM: return true;
    case AST_ASSIGN:
    case AST_STORE: count_expr(census, stmt->assignment.value); break;
    case AST_RETURN:
    case AST_YIELD: count_exprs(census, &stmt->values); break;
    case AST_FOR:
      if (block_owns(census, &stmt->loop.body->stmts)) return true;
      break;
    case AST_IF:
      if (block_owns(census, &stmt->branch.then->stmts)) return true;
      if (stmt->branch.otherwise && block_owns(census, &stmt->branch.otherwise->stmts)) return true;
      break;
    default: break;
    }
    if (census->owners > 0) return true;
  }
  return false;
}

/* A formal that is a layer unless another is given: the body calls it. */
static bool formals_own(const Census *census, const AstStmt *stmt) {
  for (int i = 0; i < stmt->function.formals.count; i++) {
    const AstExpr *fallback = stmt->function.formals.items[i].default_value;
    if (!fallback || fallback->kind != AST_NAME) continue;
    Symbol *symbol = scope_find(census->scope, fallback->name, NULL);
    if (symbol && symbol->value.kind == VALUE_DEF &&
        function_owns(census->e, symbol->value.function))
      return true;
  }
  return false;
}

static bool function_owns(Elaborator *e, Function *function) {
  if (function->owns == OWNS_UNKNOWN) {
    if (e->owner_depth >= MAX_OWNER_DEPTH) return false;
    e->owner_depth++;
    function->owns = OWNS_VISITING; /* a call of itself adds nothing */
    Census census = {
        .e = e, .scope = function->is_prelude ? e->root : e->trace->globals, .counts_named = true};
    bool owns = function->stmt->function.body &&
                (block_owns(&census, &function->stmt->function.body->stmts) ||
                 formals_own(&census, function->stmt));
    function->owns = owns ? OWNS_VARIABLES : OWNS_NOTHING;
    e->owner_depth--;
  }
  return function->owns == OWNS_VARIABLES;
}

/* ---- statements --------------------------------------------------------------------------- */

static int count_bindings(const AstStmts *stmts, const char *name);

static int count_scan_bindings(const AstExpr *expr, const char *name) {
  return expr->kind == AST_SCAN ? count_bindings(&expr->scan->body->stmts, name) : 0;
}

/* How often the body binds the name, in scans too: a loop counts twice, of two branches the
 * greater. */
static int count_bindings(const AstStmts *stmts, const char *name) {
  int count = 0;
  for (int i = 0; i < stmts->count && count < 2; i++) {
    const AstStmt *stmt = stmts->items[i];
    if (stmt->kind == AST_ASSIGN) {
      for (int k = 0; k < stmt->assignment.names.count; k++)
        count += stmt->assignment.names.items[k].text == name;
      count += count_scan_bindings(stmt->assignment.value, name);
    } else if (stmt->kind == AST_RETURN) {
      for (int k = 0; k < stmt->values.count; k++)
        count += count_scan_bindings(stmt->values.items[k], name);
    } else if (stmt->kind == AST_FOR) {
      count += 2 * count_bindings(&stmt->loop.body->stmts, name);
    } else if (stmt->kind == AST_IF) {
      int then = count_bindings(&stmt->branch.then->stmts, name);
      int otherwise =
          stmt->branch.otherwise ? count_bindings(&stmt->branch.otherwise->stmts, name) : 0;
      count += then > otherwise ? then : otherwise;
    }
  }
  return count;
}

static bool is_formal(const Frame *frame, const char *name) {
  Symbol *symbol = scope_find_own(frame->scope, name);
  return symbol && symbol->kind == SYMBOL_FORMAL;
}

/* The first name that is bound; `_` throws its value away. */
static const char *first_name(const AstNames *names) {
  for (int i = 0; names && i < names->count; i++)
    if (strcmp(names->items[i].text, "_") != 0) return names->items[i].text;
  return NULL;
}

void path_begin_statement(Elaborator *e, const AstNames *names, const AstExpr *value) {
  Frame *frame = e->frame;
  frame->binding = frame->rebound = NULL;
  frame->owners = 0;
  const char *first = first_name(names);
  frame->label = first ? path_join(frame->path, first) : frame->path;
  if (!first || names->count != 1 || frame->loops > 0 || value->kind == AST_NAME) return;
  Census census = {.e = e, .scope = frame->scope};
  count_expr(&census, value);
  frame->owners = census.owners;
  bool is_only = !is_formal(frame, first) && count_bindings(frame->stmts, first) == 1;
  *(is_only ? &frame->binding : &frame->rebound) = first;
  frame->rebound_at = value->span;
}

/* ---- paths -------------------------------------------------------------------------------- */

const char *path_join(const char *parent, const char *element) {
  return parent[0] ? name_join(parent, element) : name_intern(element);
}

static int *element_counter(Elaborator *e, const char *element) {
  Frame *frame = e->frame;
  for (int i = 0; i < frame->elements.count; i++)
    if (frame->elements.items[i].element == element) return &frame->elements.items[i].count;
  vec_push(e->arena, &frame->elements,
           ((__typeof__(frame->elements.items[0])){.element = element, .count = 0}));
  return &frame->elements.items[frame->elements.count - 1].count;
}

/* def.0, def.1, ... */
static const char *numbered(Elaborator *e, const char *function) {
  return name_printf("%s.%d", function, (*element_counter(e, name_intern(function)))++);
}

/* element, element.1, element.2, ... */
static const char *distinct(Elaborator *e, const char *element) {
  int count = (*element_counter(e, name_printf("=%s", element)))++;
  return count == 0 ? name_intern(element) : name_printf("%s.%d", element, count);
}

static const char *call_element(Elaborator *e, const char *function, bool owns, const char *name) {
  const Frame *frame = e->frame;
  if (name) return name_intern(name);
  if (owns && frame->binding && frame->owners == 1) return frame->binding;
  if (owns || !frame->binding) return numbered(e, function);
  return distinct(e, path_join(frame->binding, function));
}

/* The layer has not the name of what its statement binds, since others bind it, too. */
static void note_rebound(Elaborator *e, const char *layer) {
  const Frame *frame = e->frame;
  Rebindings *all = e->options->rebindings;
  const char *path = path_join(frame->path, frame->rebound);
  Rebinding *rebinding = NULL;
  for (int i = 0; i < all->count && !rebinding; i++)
    if (all->items[i].path == path) rebinding = &all->items[i];
  if (!rebinding) {
    vec_push(
        e->arena, all,
        ((Rebinding){
            .name = frame->rebound, .path = path, .body = frame->stmts, .at = frame->rebound_at}));
    rebinding = &all->items[all->count - 1];
  }
  for (int i = 0; i < rebinding->layers.count; i++) /* one trace after the other meets it */
    if (rebinding->layers.items[i] == layer) return;
  vec_push(e->arena, &rebinding->layers, layer);
}

const char *path_of_call(Elaborator *e, Function *function, const char *name) {
  bool owns = function_owns(e, function);
  const Frame *frame = e->frame;
  const char *path = path_join(frame->path, call_element(e, function->name, owns, name));
  bool is_rebound = owns && !name && frame->rebound && frame->owners == 1;
  if (is_rebound && e->options->rebindings && !frame->rebound_at.file->is_prelude)
    note_rebound(e, path);
  return path;
}

const char *path_of_layer(Elaborator *e, Value callee, const char *name) {
  if (callee.kind == VALUE_DEF) return path_of_call(e, callee.function, name);
  return path_join(e->frame->path, call_element(e, callee.builtin->name, false, name));
}

const char *path_of_copy(Elaborator *e, const char *function) {
  const Frame *frame = e->frame;
  bool is_named = frame->binding && frame->owners == 0;
  return path_join(frame->path, is_named ? distinct(e, frame->binding) : numbered(e, function));
}

const char *path_unique_key(Elaborator *e) {
  if (e->region->key) { /* an initializer: its parameter's path, then path.1, ... */
    const char *base = e->region->key;
    int count = (*element_counter(e, name_printf("#%s", base)))++;
    return count == 0 ? name_intern(base) : name_printf("%s.%d", base, count);
  }
  const char *base = e->frame->label[0] ? e->frame->label : "random";
  const char *key = name_intern(base);
  for (int k = 1; scope_find_own(e->trace->keys, key); k++) key = name_printf("%s.%d", base, k);
  scope_bind(e->arena, e->trace->keys, SYMBOL_LOCAL, key, value_none(), e->at);
  return key;
}

/* ---- patterns of paths -------------------------------------------------------------------- */

bool path_matches_group(const AstEntry *group, const char *path) {
  for (int i = 0; i < group->patterns.count; i++)
    if (nnc_pattern_matches(group->patterns.items[i]->string.bytes, path)) return true;
  return false;
}
