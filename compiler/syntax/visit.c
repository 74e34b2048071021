/* Visiting the expressions of a tree: see visit.h. */
#include "syntax/visit.h"

typedef struct Visitor {
  AstVisit *visit;
  void *context;
} Visitor;

static void visit_expr(const Visitor *v, const AstExpr *expr) {
  if (expr) v->visit(expr, v->context);
}

static void visit_exprs(const Visitor *v, const AstExprs *exprs) {
  for (int i = 0; i < exprs->count; i++) visit_expr(v, exprs->items[i]);
}

static void visit_block(const Visitor *v, const AstBlock *block) {
  if (block) visit_stmts(&block->stmts, v->visit, v->context);
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

void visit_parts(const AstExpr *expr, AstVisit *visit, void *context) {
  const Visitor visitor = {visit, context}, *v = &visitor;
  switch (expr->kind) {
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
  case AST_INPUT:
  case AST_PARAM:
  case AST_STATE:
  case AST_STREAM:
    visit_type(v, stmt->variable.type);
    visit_expr(v, stmt->variable.value);
    return;
  case AST_DATA:
  case AST_TRAIN:
  case AST_PREDICT: visit_entries(v, &stmt->section.entries); return;
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
  for (int i = 0; i < stmts->count; i++) visit_stmt(&(Visitor){visit, context}, stmts->items[i]);
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
