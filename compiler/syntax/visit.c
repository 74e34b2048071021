/* Visiting the expressions of a tree: see visit.h. */
#include "syntax/visit.h"

/* What happens to each part: it is visited, or its depth is held against the greatest so far. */
typedef struct Visitor {
  AstVisit *visit; /* NULL: `depth` */
  void *context;
  int *depth;
} Visitor;

static void note_depth(const Visitor *v, int depth) {
  if (depth > *v->depth) *v->depth = depth;
}

static void visit_expr(const Visitor *v, const AstExpr *expr) {
  if (expr && v->visit) v->visit(expr, v->context);
  else if (expr) note_depth(v, expr->depth);
}

static void visit_exprs(const Visitor *v, const AstExprs *exprs) {
  for (int i = 0; i < exprs->count; i++) visit_expr(v, exprs->items[i]);
}

static void visit_block(const Visitor *v, const AstBlock *block) {
  if (block && v->visit) visit_stmts(&block->stmts, v->visit, v->context);
  else if (block) note_depth(v, block->depth);
}

static void visit_type(const Visitor *v, const AstType *type) {
  if (type) visit_exprs(v, &type->dims);
}

static void visit_bindings(const Visitor *v, const AstBindings *bindings) {
  for (int i = 0; i < bindings->count; i++) visit_expr(v, bindings->items[i].value);
}

static void visit_scan(const Visitor *v, const AstScan *scan) {
  visit_exprs(v, &scan->sources);
  visit_expr(v, scan->along);
  visit_bindings(v, &scan->carries);
  visit_block(v, scan->body);
}

static void visit_index(const Visitor *v, const AstExpr *expr) {
  visit_expr(v, expr->index.object);
  for (int i = 0; i < expr->index.indices.count; i++) {
    const AstIndex *index = &expr->index.indices.items[i];
    const AstExpr *const parts[] = {index->at, index->from, index->to, index->step};
    for (int k = 0; k < 4; k++) visit_expr(v, parts[k]);
  }
}

static void visit_call(const Visitor *v, const AstExpr *expr) {
  visit_expr(v, expr->call.callee);
  for (int i = 0; i < expr->call.arguments.count; i++)
    visit_expr(v, expr->call.arguments.items[i].value);
}

static void visit_parts_of(const Visitor *v, const AstExpr *expr) {
  switch (expr->kind) {
  case AST_QUANTITY: visit_expr(v, expr->quantity.number); return;
  case AST_TUPLE:
  case AST_LIST: visit_exprs(v, &expr->items); return;
  case AST_UNARY: visit_expr(v, expr->unary.operand); return;
  case AST_BINARY:
    visit_expr(v, expr->binary.left);
    visit_expr(v, expr->binary.right);
    return;
  case AST_TERNARY:
    visit_expr(v, expr->ternary.condition);
    visit_expr(v, expr->ternary.then);
    visit_expr(v, expr->ternary.otherwise);
    return;
  case AST_RANGE:
    visit_expr(v, expr->range.from);
    visit_expr(v, expr->range.to);
    return;
  case AST_MEMBER: visit_expr(v, expr->member.object); return;
  case AST_CALL: visit_call(v, expr); return;
  case AST_INDEX: visit_index(v, expr); return;
  case AST_SCAN: visit_scan(v, expr->scan); return;
  default: return; /* leaves */
  }
}

void visit_parts(const AstExpr *expr, AstVisit *visit, void *context) {
  visit_parts_of(&(Visitor){.visit = visit, .context = context}, expr);
}

int visit_parts_depth(const AstExpr *expr) {
  int depth = 0;
  visit_parts_of(&(Visitor){.depth = &depth}, expr);
  return depth;
}

static void visit_entries(const Visitor *v, const AstEntries *entries) {
  for (int i = 0; i < entries->count; i++) {
    visit_expr(v, entries->items[i].value);
    visit_exprs(v, &entries->items[i].stages);
    visit_entries(v, &entries->items[i].entries);
  }
}

static void visit_formals(const Visitor *v, const AstFormals *formals) {
  for (int i = 0; i < formals->count; i++) {
    visit_type(v, formals->items[i].type);
    visit_expr(v, formals->items[i].default_value);
  }
}

static void visit_function(const Visitor *v, const AstStmt *stmt) {
  const AstGradient *gradient = stmt->function.gradient;
  visit_formals(v, &stmt->function.formals);
  visit_type(v, stmt->function.result);
  visit_entries(v, &stmt->function.entries);
  visit_block(v, stmt->function.body);
  if (!gradient) return;
  visit_formals(v, &gradient->formals);
  visit_block(v, gradient->body);
}

static void visit_stmt(const Visitor *v, const AstStmt *stmt) {
  switch (stmt->kind) {
  case AST_CONST: visit_bindings(v, &stmt->constants); return;
  case AST_OPTION:
    visit_expr(v, stmt->option.value);
    visit_expr(v, stmt->option.limits);
    return;
  case AST_INPUT:
  case AST_PARAM:
  case AST_STATE:
  case AST_STREAM:
    visit_type(v, stmt->variable.type);
    visit_expr(v, stmt->variable.value);
    return;
  case AST_DATA:
  case AST_TRAIN:
  case AST_PREDICT:
  case AST_GENERATE: visit_entries(v, &stmt->section.entries); return;
  case AST_ASSIGN:
  case AST_STORE: visit_expr(v, stmt->assignment.value); return;
  case AST_FOR:
    visit_expr(v, stmt->loop.sequence);
    visit_block(v, stmt->loop.body);
    return;
  case AST_IF:
    visit_expr(v, stmt->branch.condition);
    visit_block(v, stmt->branch.then);
    visit_block(v, stmt->branch.otherwise);
    return;
  case AST_RETURN:
  case AST_YIELD: visit_exprs(v, &stmt->values); return;
  default: visit_function(v, stmt); return;
  }
}

void visit_stmts(const AstStmts *stmts, AstVisit *visit, void *context) {
  const Visitor visitor = {.visit = visit, .context = context};
  for (int i = 0; i < stmts->count; i++) visit_stmt(&visitor, stmts->items[i]);
}

int visit_stmt_depth(const AstStmt *stmt) {
  int depth = 0;
  visit_stmt(&(Visitor){.depth = &depth}, stmt);
  return depth;
}

/* ---- names -------------------------------------------------------------------------------- */

typedef struct NameSearch {
  const char *name;
  bool found;
} NameSearch;

static void look_for_name(const AstExpr *expr, void *context) {
  NameSearch *search = context;
  if (expr->kind == AST_NAME && expr->name == search->name) search->found = true;
  if (!search->found) visit_parts(expr, look_for_name, search);
}

bool visit_finds_name(const AstExpr *expr, const char *name) {
  NameSearch search = {.name = name};
  look_for_name(expr, &search);
  return search.found;
}

bool visit_finds_name_in(const AstStmts *stmts, const char *name) {
  NameSearch search = {.name = name};
  visit_stmts(stmts, look_for_name, &search);
  return search.found;
}
