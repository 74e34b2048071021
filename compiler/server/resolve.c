/* Names of a program's text: see resolve.h.
 *
 * Two walks over the tree. The first makes the scopes and what is bound in each, so that a name may be read before the line
 * that binds it: in loops, and of functions everywhere. The second finds what each name that is read means. */
#include "server/resolve.h"

#include <stdlib.h>
#include <string.h>
#include "support/names.h"

const char *const thing_words[THING_KIND_COUNT] = {
    [THING_CONST] = "constant",    [THING_OPTION] = "option", [THING_INPUT] = "input",
    [THING_PARAM] = "parameter",   [THING_STATE] = "state",   [THING_STREAM] = "stream",
    [THING_FUNCTION] = "function", [THING_VALUE] = "value",   [THING_LOOP] = "loop variable",
    [THING_FORMAL] = "argument",
};

typedef struct Resolver {
  Names *names;
  NameScope *scope;
  bool is_binding; /* the first walk */
  int next_scope;  /* of the second walk: scopes come in the same order */
} Resolver;

bool resolve_is_before(Span a, Span b) {
  return a.line != b.line ? a.line < b.line : a.column < b.column;
}

/* ---- scopes ---- */

static NameScope *enter_scope(Resolver *r, const AstStmt *function, Span span) {
  NameScope *outer = r->scope;
  if (!r->is_binding) {
    r->scope = r->names->scopes.items[r->next_scope++];
    return outer;
  }
  NameScope *scope = ARENA_NEW(r->names->arena, NameScope);
  *scope = (NameScope){.parent = outer, .function = function, .span = span};
  vec_push(r->names->arena, &r->names->scopes, scope);
  r->scope = scope;
  return outer;
}

static Thing *find_own(const NameScope *scope, const char *name) {
  int i = table_find(&scope->table, name);
  return i < 0 ? NULL : scope->things.items[i];
}

Thing *resolve_find(const NameScope *scope, const char *name) {
  Thing *thing = NULL;
  for (; scope && !thing; scope = scope->parent) thing = find_own(scope, name);
  return thing;
}

NameScope *resolve_scope_at(const Names *names, int line, int column) {
  Span at = {.line = line, .column = column};
  NameScope *innermost = names->scopes.items[0];
  for (int i = 1; i < names->scopes.count; i++) {
    NameScope *scope = names->scopes.items[i];
    Span end = {.line = scope->span.end_line, .column = scope->span.end_column};
    if (resolve_is_before(scope->span, at) && resolve_is_before(at, end)) innermost = scope;
  }
  return innermost;
}

/* ---- mentions ---- */

/* The value that is read was bound last, or is the first one, further down: of functions, and in the next round of a loop. */
static void mention(Resolver *r, Mention mention) {
  Thing *thing = mention.thing;
  if (!mention.name || strcmp(mention.name, "_") == 0) return;
  if (thing) mention.binding = thing->bindings.items[thing->bound > 0 ? thing->bound - 1 : 0];
  vec_push(r->names->arena, &r->names->mentions, mention);
}

static Thing *bind(Resolver *r, const AstName *name, ThingKind kind, const AstStmt *stmt) {
  if (!name->text) return NULL;
  Thing *thing = find_own(r->scope, name->text);
  if (!r->is_binding) {
    thing->bound++;
    mention(r,
            (Mention){
                .name = name->text, .at = name->span, .thing = thing, .binds = true, .key = name});
    return thing;
  }
  Arena *arena = r->names->arena;
  if (!thing) {
    thing = ARENA_NEW(arena, Thing);
    *thing = (Thing){.name = name->text, .kind = kind, .stmt = stmt, .scope = r->scope};
    table_add(arena, &r->scope->table, name->text, r->scope->things.count);
    vec_push(arena, &r->scope->things, thing);
  }
  vec_push(arena, &thing->bindings, name->span);
  return thing;
}

static void bind_all(Resolver *r, const AstNames *names, ThingKind kind, const AstStmt *stmt) {
  for (int i = 0; i < names->count; i++) bind(r, &names->items[i], kind, stmt);
}

/* ---- expressions ---- */

static void walk_stmts(Resolver *r, const AstStmts *stmts);
static void walk_expr(Resolver *r, const AstExpr *expr);

static void walk_exprs(Resolver *r, const AstExprs *exprs) {
  for (int i = 0; i < exprs->count; i++) walk_expr(r, exprs->items[i]);
}

static void read_name(Resolver *r, const AstExpr *expr, const AstExpr *call) {
  if (r->is_binding) return;
  mention(r, (Mention){.name = expr->name,
                       .at = expr->span,
                       .thing = resolve_find(r->scope, expr->name),
                       .key = expr,
                       .call = call});
}

/* The formal of that name of a function of the program. */
static Thing *find_formal(const Resolver *r, const Thing *function, const char *name) {
  for (int i = 0; i < r->names->scopes.count; i++) {
    const NameScope *scope = r->names->scopes.items[i];
    Thing *formal = scope->function == function->stmt ? find_own(scope, name) : NULL;
    if (formal && formal->formal) return formal;
  }
  return NULL;
}

static void name_argument(Resolver *r, const AstExpr *call, const AstArgument *argument) {
  const AstExpr *callee = call->call.callee;
  if (r->is_binding || !argument->name.text || callee->kind != AST_NAME) return;
  const Thing *function = resolve_find(r->scope, callee->name);
  bool is_own = function && function->kind == THING_FUNCTION;
  mention(r, (Mention){.name = argument->name.text,
                       .at = argument->name.span,
                       .thing = is_own ? find_formal(r, function, argument->name.text) : NULL,
                       .key = &argument->name,
                       .callee = callee->name});
}

static void walk_call(Resolver *r, const AstExpr *expr) {
  if (expr->call.callee->kind == AST_NAME) read_name(r, expr->call.callee, expr);
  else walk_expr(r, expr->call.callee);
  for (int i = 0; i < expr->call.arguments.count; i++) {
    name_argument(r, expr, &expr->call.arguments.items[i]);
    walk_expr(r, expr->call.arguments.items[i].value);
  }
}

static void walk_scan(Resolver *r, const AstScan *scan) {
  walk_exprs(r, &scan->sources);
  if (scan->along) walk_expr(r, scan->along);
  for (int i = 0; i < scan->carries.count; i++) walk_expr(r, scan->carries.items[i].value);
  NameScope *outer = enter_scope(r, NULL, scan->body->span);
  bind_all(r, &scan->pattern, THING_VALUE, NULL);
  for (int i = 0; i < scan->carries.count; i++)
    bind(r, &scan->carries.items[i].name, THING_VALUE, NULL);
  walk_stmts(r, &scan->body->stmts);
  r->scope = outer;
}

static void walk_index(Resolver *r, const AstExpr *expr) {
  walk_expr(r, expr->index.object);
  for (int i = 0; i < expr->index.indices.count; i++) {
    const AstIndex *index = &expr->index.indices.items[i];
    const AstExpr *const parts[] = {index->at, index->from, index->to, index->step};
    for (int k = 0; k < 4; k++)
      if (parts[k]) walk_expr(r, parts[k]);
  }
}

static void walk_expr(Resolver *r, const AstExpr *expr) {
  switch (expr->kind) {
  case AST_NAME: read_name(r, expr, NULL); return;
  case AST_TUPLE:
  case AST_LIST: walk_exprs(r, &expr->items); return;
  case AST_UNARY: walk_expr(r, expr->unary.operand); return;
  case AST_BINARY:
    walk_expr(r, expr->binary.left);
    walk_expr(r, expr->binary.right);
    return;
  case AST_TERNARY:
    walk_expr(r, expr->ternary.condition);
    walk_expr(r, expr->ternary.then);
    walk_expr(r, expr->ternary.otherwise);
    return;
  case AST_RANGE:
    walk_expr(r, expr->range.from);
    walk_expr(r, expr->range.to);
    return;
  case AST_MEMBER: walk_expr(r, expr->member.object); return;
  case AST_CALL: walk_call(r, expr); return;
  case AST_INDEX: walk_index(r, expr); return;
  case AST_SCAN: walk_scan(r, expr->scan); return;
  default: return; /* leaves */
  }
}

/* ---- statements ---- */

static void walk_type(Resolver *r, const AstType *type) {
  if (type) walk_exprs(r, &type->dims);
}

static void walk_formals(Resolver *r, const AstFormals *formals, const AstStmt *stmt) {
  for (int i = 0; i < formals->count; i++) {
    const AstFormal *formal = &formals->items[i];
    Thing *thing = bind(r, &formal->name, THING_FORMAL, stmt);
    if (thing && !thing->formal) thing->formal = formal;
    walk_type(r, formal->type);
    if (formal->default_value) walk_expr(r, formal->default_value);
  }
}

/* The names of a data block are those of inputs; of other blocks they are keys, or names of results. */
static void walk_fields(Resolver *r, const AstEntry *entry) {
  for (int i = 0; i < entry->names.count && !r->is_binding; i++) {
    const AstName *name = &entry->names.items[i];
    Thing *input = resolve_find(r->scope, name->text);
    if (input && input->kind == THING_INPUT)
      mention(r, (Mention){.name = name->text, .at = name->span, .thing = input, .key = name});
  }
}

static void walk_entries(Resolver *r, const AstStmt *stmt, const AstEntries *entries) {
  for (int i = 0; i < entries->count; i++) {
    const AstEntry *entry = &entries->items[i];
    if (stmt->kind == AST_DATA) walk_fields(r, entry);
    if (entry->value) walk_expr(r, entry->value);
    walk_exprs(r, &entry->stages);
    walk_entries(r, stmt, &entry->entries);
  }
}

static void walk_function(Resolver *r, const AstStmt *stmt) {
  bind(r, &stmt->function.name, THING_FUNCTION, stmt);
  NameScope *outer = enter_scope(r, stmt, stmt->span);
  walk_formals(r, &stmt->function.formals, stmt);
  walk_type(r, stmt->function.result);
  if (stmt->function.body) walk_stmts(r, &stmt->function.body->stmts);
  walk_entries(r, stmt, &stmt->function.entries);
  const AstGradient *gradient = stmt->function.gradient;
  if (gradient) {
    NameScope *around = enter_scope(r, NULL, gradient->body->span);
    walk_formals(r, &gradient->formals, stmt);
    walk_stmts(r, &gradient->body->stmts);
    r->scope = around;
  }
  r->scope = outer;
}

static void walk_variable(Resolver *r, const AstStmt *stmt, ThingKind kind) {
  walk_type(r, stmt->variable.type);
  if (stmt->variable.value) walk_expr(r, stmt->variable.value);
  bind(r, &stmt->variable.name, kind, stmt);
}

static void walk_constants(Resolver *r, const AstStmt *stmt) {
  for (int i = 0; i < stmt->constants.count; i++) {
    walk_expr(r, stmt->constants.items[i].value);
    bind(r, &stmt->constants.items[i].name, THING_CONST, stmt);
  }
}

/* name <- value: the state is no new one. */
static void walk_store(Resolver *r, const AstStmt *stmt) {
  walk_expr(r, stmt->assignment.value);
  for (int i = 0; i < stmt->assignment.names.count && !r->is_binding; i++) {
    const AstName *name = &stmt->assignment.names.items[i];
    mention(r, (Mention){.name = name->text,
                         .at = name->span,
                         .thing = resolve_find(r->scope, name->text),
                         .key = name});
  }
}

static void walk_loop(Resolver *r, const AstStmt *stmt) {
  walk_expr(r, stmt->loop.sequence);
  bind_all(r, &stmt->loop.pattern, THING_LOOP, stmt);
  walk_stmts(r, &stmt->loop.body->stmts);
}

static void walk_branch(Resolver *r, const AstStmt *stmt) {
  walk_expr(r, stmt->branch.condition);
  walk_stmts(r, &stmt->branch.then->stmts);
  if (stmt->branch.otherwise) walk_stmts(r, &stmt->branch.otherwise->stmts);
}

static void walk_option(Resolver *r, const AstStmt *stmt) {
  walk_expr(r, stmt->option.value);
  if (stmt->option.limits) walk_expr(r, stmt->option.limits);
  bind(r, &stmt->option.name, THING_OPTION, stmt);
}

static void walk_stmt(Resolver *r, const AstStmt *stmt) {
  switch (stmt->kind) {
  case AST_CONST: walk_constants(r, stmt); return;
  case AST_OPTION: walk_option(r, stmt); return;
  case AST_INPUT: walk_variable(r, stmt, THING_INPUT); return;
  case AST_PARAM: walk_variable(r, stmt, THING_PARAM); return;
  case AST_STATE: walk_variable(r, stmt, THING_STATE); return;
  case AST_STREAM: walk_variable(r, stmt, THING_STREAM); return;
  case AST_DATA:
  case AST_TRAIN:
  case AST_PREDICT:
  case AST_GENERATE: walk_entries(r, stmt, &stmt->section.entries); return;
  case AST_ASSIGN:
    walk_expr(r, stmt->assignment.value);
    bind_all(r, &stmt->assignment.names, THING_VALUE, stmt);
    return;
  case AST_STORE: walk_store(r, stmt); return;
  case AST_FOR: walk_loop(r, stmt); return;
  case AST_IF: walk_branch(r, stmt); return;
  case AST_RETURN:
  case AST_YIELD: walk_exprs(r, &stmt->values); return;
  default: walk_function(r, stmt); return;
  }
}

static void walk_stmts(Resolver *r, const AstStmts *stmts) {
  for (int i = 0; i < stmts->count; i++) walk_stmt(r, stmts->items[i]);
}

static int compare_mentions(const void *a, const void *b) {
  const Mention *x = a, *y = b;
  return resolve_is_before(x->at, y->at) ? -1 : resolve_is_before(y->at, x->at);
}

Names *resolve_names(Arena *arena, const AstProgram *program) {
  Names *names = ARENA_NEW(arena, Names);
  names->arena = arena;
  for (int walk = 0; walk < 2; walk++) {
    Resolver resolver = {.names = names, .is_binding = walk == 0};
    enter_scope(&resolver, NULL, (Span){0});
    walk_stmts(&resolver, &program->stmts);
  }
  if (names->mentions.count > 0)
    qsort(names->mentions.items, (size_t)names->mentions.count, sizeof(Mention), compare_mentions);
  return names;
}
