/* Builders of statements, entries and types, and the rules about them that the grammar leaves open.
 * Those of expressions are in build_expr.c. */
#include "syntax/build.h"

#include "syntax/build_depth.h"

/* ---- types, formals, blocks --------------------------------------------------------------- */

AstName *build_ast_name(Parser *parser, const Token *token) {
  AstName *name = ARENA_NEW(parser->arena, AstName);
  *name = (AstName){token->name, token->span};
  return name;
}

AstType *build_type(Parser *parser, Span span, const Token *element, const AstExprs *dims) {
  AstType *type = ARENA_NEW(parser->arena, AstType);
  type->span = span;
  if (element) type->element = (AstName){element->name, element->span};
  if (dims) type->dims = *dims;
  /* Without dims the span tells `f32` from `f32[...]`. */
  type->any_shape = !dims && !(element && span.end_line == element->span.end_line &&
                               span.end_column == element->span.end_column);
  return type;
}

AstFormal *build_formal(Parser *parser, Span span, const AstName *name, AstType *type,
                        AstExpr *default_value) {
  AstFormal *formal = ARENA_NEW(parser->arena, AstFormal);
  *formal = (AstFormal){*name, type, default_value, span};
  return formal;
}

AstFormals *build_formal_list(Parser *parser, AstFormals *formals, const AstFormal *formal) {
  if (!formals) formals = ARENA_NEW(parser->arena, AstFormals);
  for (int i = 0; i < formals->count && i < REPETITIONS_MAX; i++) {
    if (formals->items[i].name.text != formal->name.text) continue;
    Diagnostic *found = diag_error(parser->diagnostics, formal->name.span,
                                   "the formal '%s' is named twice", formal->name.text);
    diag_note(found, formals->items[i].name.span, "here for the first time");
    break;
  }
  vec_push(parser->arena, formals, *formal);
  return formals;
}

AstBinding *build_binding(Parser *parser, const AstName *name, AstExpr *value) {
  AstBinding *binding = ARENA_NEW(parser->arena, AstBinding);
  *binding = (AstBinding){*name, value};
  return binding;
}

AstBlock *build_block(Parser *parser, Span span, const AstStmts *stmts) {
  AstBlock *block = ARENA_NEW(parser->arena, AstBlock);
  block->stmts = *stmts;
  block->span = span;
  for (int i = 0; i < stmts->count; i++)
    block->depth = depth_max(block->depth, stmts->items[i]->depth);
  if (depth_is_too_high(parser, block->depth, span)) *block = (AstBlock){.span = span};
  return block;
}

AstGradient *build_gradient(Parser *parser, Span keyword, AstFormals *formals, AstBlock *body) {
  AstGradient *gradient = ARENA_NEW(parser->arena, AstGradient);
  *gradient = (AstGradient){*formals, body, keyword};
  return gradient;
}

/* ---- entries ------------------------------------------------------------------------------ */

AstEntry *build_entry(Parser *parser, Span span, AstNames *names, AstExpr *value,
                      AstExprs *stages) {
  AstEntry *entry = ARENA_NEW(parser->arena, AstEntry);
  entry->kind = AST_ENTRY_SET;
  entry->span = span;
  entry->names = *names;
  entry->value = value;
  if (stages) entry->stages = *stages;
  return entry;
}

AstEntry *build_group(Parser *parser, Span span, AstExprs *patterns, AstEntries *entries) {
  AstEntry *entry = ARENA_NEW(parser->arena, AstEntry);
  entry->kind = AST_ENTRY_PARAMS;
  entry->span = span;
  entry->patterns = *patterns;
  entry->entries = *entries;
  return entry;
}

/* The rules that differ between blocks of one form; the grammar tells data blocks apart. */
static void check_entries(Parser *parser, const AstEntries *entries, const char *where,
                          int may_group, int may_unpack) {
  for (int i = 0; i < entries->count; i++) {
    const AstEntry *entry = &entries->items[i];
    if (entry->kind == AST_ENTRY_PARAMS) {
      if (!may_group)
        diag_help(diag_error(parser->diagnostics, entry->span,
                             "a group of parameters has no place in %s", where),
                  "groups stand in the 'train' block itself");
      check_entries(parser, &entry->entries, "a group", 0, 0);
    } else if (entry->names.count > 1 && !may_unpack) {
      diag_help(diag_error(parser->diagnostics,
                           span_join(entry->names.items[0].span,
                                     entry->names.items[entry->names.count - 1].span),
                           "%s sets one key at a time", where),
                "write 'key = value', and ',' or a new line before the next key");
    }
  }
}

static int entries_depth(const AstEntries *entries) {
  int depth = 0;
  for (int i = 0; i < entries->count; i++) {
    const AstEntry *entry = &entries->items[i];
    depth = depth_max(depth, entry->value ? entry->value->depth : 0);
    depth = depth_max(depth, exprs_depth(&entry->stages));
    depth = depth_max(depth, entries_depth(&entry->entries)); /* groups do not nest */
  }
  return depth;
}

/* ---- statements --------------------------------------------------------------------------- */

AstStmt *build_stmt(Parser *parser, AstStmtKind kind, Span span, Span keyword) {
  AstStmt *stmt = ARENA_NEW(parser->arena, AstStmt);
  stmt->kind = kind;
  stmt->depth = 1;
  stmt->span = span;
  stmt->keyword = keyword;
  return stmt;
}

/* The statement is higher than a part of it. */
static void above(AstStmt *stmt, int depth) {
  if (depth >= stmt->depth) stmt->depth = depth + 1;
}

static void above_type(AstStmt *stmt, const AstType *type) {
  if (type) above(stmt, exprs_depth(&type->dims));
}

static void above_expr(AstStmt *stmt, const AstExpr *expr) {
  if (expr) above(stmt, expr->depth);
}

static void above_formals(AstStmt *stmt, const AstFormals *formals) {
  for (int i = 0; i < formals->count; i++) {
    above_type(stmt, formals->items[i].type);
    above_expr(stmt, formals->items[i].default_value);
  }
}

AstStmt *build_const(Parser *parser, Span span, Span keyword, AstBindings *bindings) {
  AstStmt *stmt = build_stmt(parser, AST_CONST, span, keyword);
  stmt->constants = *bindings;
  for (int i = 0; i < bindings->count; i++) above_expr(stmt, bindings->items[i].value);
  return stmt;
}

AstStmt *build_variable(AstStmt *stmt, const AstName *name, AstType *type, AstExpr *value) {
  stmt->variable.name = *name;
  stmt->variable.type = type;
  stmt->variable.value = value;
  above_type(stmt, type);
  above_expr(stmt, value);
  return stmt;
}

AstStmt *build_section(Parser *parser, AstStmtKind kind, Span span, Span keyword,
                       const AstName *name, AstEntries *entries) {
  AstStmt *stmt = build_stmt(parser, kind, span, keyword);
  if (name) stmt->section.name = *name;
  stmt->section.entries = *entries;
  above(stmt, entries_depth(entries));
  if (kind == AST_TRAIN) check_entries(parser, entries, "'train'", 1, 0);
  if (kind == AST_PREDICT) check_entries(parser, entries, "'predict'", 0, 1);
  return stmt;
}

AstStmt *build_function(AstStmt *stmt, const AstName *name, AstFormals *formals, AstBlock *body,
                        AstGradient *gradient) {
  stmt->function.name = *name;
  stmt->function.formals = *formals;
  stmt->function.body = body;
  stmt->function.gradient = gradient;
  above_formals(stmt, formals);
  if (body) above(stmt, body->depth);
  if (gradient) {
    above_formals(stmt, &gradient->formals);
    above(stmt, gradient->body->depth);
  }
  return stmt;
}

AstStmt *build_extern(Parser *parser, AstStmt *stmt, AstType *result, AstEntries *entries) {
  stmt->function.result = result;
  stmt->function.entries = *entries;
  above_type(stmt, result);
  above(stmt, entries_depth(entries));
  check_entries(parser, entries, "'extern'", 0, 0);
  return stmt;
}

AstStmt *build_assignment(Parser *parser, AstStmtKind kind, Span span, Span op, AstNames *names,
                          AstExpr *value) {
  AstStmt *stmt = build_stmt(parser, kind, span, op);
  stmt->assignment.names = *names;
  stmt->assignment.value = value;
  above_expr(stmt, value);
  return stmt;
}

AstStmt *build_for(Parser *parser, Span span, Span keyword, AstNames *pattern, AstExpr *sequence,
                   AstBlock *body) {
  AstStmt *stmt = build_stmt(parser, AST_FOR, span, keyword);
  stmt->loop.pattern = *pattern;
  stmt->loop.sequence = sequence;
  stmt->loop.body = body;
  above_expr(stmt, sequence);
  above(stmt, body->depth);
  return stmt;
}

AstStmt *build_if(Parser *parser, Span span, Span keyword, AstExpr *condition, AstBlock *then,
                  AstBlock *otherwise) {
  AstStmt *stmt = build_stmt(parser, AST_IF, span, keyword);
  stmt->branch.condition = condition;
  stmt->branch.then = then;
  stmt->branch.otherwise = otherwise;
  above_expr(stmt, condition);
  above(stmt, then->depth);
  if (otherwise) above(stmt, otherwise->depth);
  return stmt;
}

AstStmt *build_else_if(Parser *parser, Span span, Span keyword, AstExpr *condition, AstBlock *then,
                       AstStmt *branch) {
  AstStmts one = {0};
  vec_push(parser->arena, &one, branch);
  AstBlock *otherwise = build_block(parser, branch->span, &one);
  AstStmt *stmt = build_if(parser, span, keyword, condition, then, otherwise);
  stmt->branch.is_else_if = 1;
  return stmt;
}

AstStmt *build_values(Parser *parser, AstStmtKind kind, Span span, Span keyword, AstExprs *values) {
  AstStmt *stmt = build_stmt(parser, kind, span, keyword);
  stmt->values = *values;
  above(stmt, exprs_depth(values));
  return stmt;
}
