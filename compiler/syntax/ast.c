/* Printing of trees: one S-expression a statement, blocks indented below it. */
#include "syntax/ast.h"

const char *ast_operator_text(AstOperator op) {
  static const char *const texts[AST_OPERATORS] = {
      [AST_ADD] = "+", [AST_SUB] = "-",    [AST_MUL] = "*", [AST_DIV] = "/", [AST_FLOORDIV] = "//",
      [AST_MOD] = "%", [AST_MATMUL] = "@", [AST_POW] = "^", [AST_EQ] = "==", [AST_NE] = "!=",
      [AST_LT] = "<",  [AST_GT] = ">",     [AST_LE] = "<=", [AST_GE] = ">=", [AST_AND] = "&&",
      [AST_OR] = "||", [AST_NEG] = "-",    [AST_NOT] = "!",
  };
  return texts[op];
}

const char *ast_stmt_kind_text(AstStmtKind kind) {
  static const char *const texts[AST_STMT_KINDS] = {
      [AST_CONST] = "const",
      [AST_INPUT] = "input",
      [AST_PARAM] = "param",
      [AST_STATE] = "state",
      [AST_STREAM] = "stream",
      [AST_DATA] = "data",
      [AST_TRAIN] = "train",
      [AST_PREDICT] = "predict",
      [AST_GENERATE] = "generate",
      [AST_DEF] = "def",
      [AST_OPTIMIZER] = "optimizer",
      [AST_INIT] = "init",
      [AST_SCHEDULE] = "schedule",
      [AST_EXTERN] = "extern",
      [AST_ASSIGN] = "assignment",
      [AST_STORE] = "store",
      [AST_FOR] = "for",
      [AST_IF] = "if",
      [AST_RETURN] = "return",
      [AST_YIELD] = "yield",
      [AST_OPTION] = "option",
  };
  return texts[kind];
}

/* ---- expressions -------------------------------------------------------------------------- */

/* A scan prints its block, so every printer carries the indentation of its line. */
static void print_expr(Text *out, const AstExpr *expr, int indent);
static void print_block(Text *out, const AstBlock *block, int indent);

/* The text before the expression, and it; nothing where there is none. */
static void print_part(Text *out, const char *before, const AstExpr *expr, int indent) {
  if (!expr) return;
  text_add(out, before);
  print_expr(out, expr, indent);
}

/* The same of several, with blanks between. */
static void print_parts(Text *out, const char *before, const AstExprs *exprs, int indent) {
  for (int i = 0; i < exprs->count; i++) print_part(out, i ? " " : before, exprs->items[i], indent);
}

static void print_names(Text *out, const AstNames *names) {
  text_add_char(out, '(');
  for (int i = 0; i < names->count; i++)
    text_printf(out, "%s%s", i ? " " : "", names->items[i].text);
  text_add_char(out, ')');
}

static void print_bindings(Text *out, const AstBindings *bindings, int indent) {
  for (int i = 0; i < bindings->count; i++) {
    text_printf(out, "%s(%s", i ? " " : "", bindings->items[i].name.text);
    print_part(out, " ", bindings->items[i].value, indent);
    text_add_char(out, ')');
  }
}

static void print_index(Text *out, const AstIndex *index, int indent) {
  switch (index->kind) {
  case AST_AT: print_part(out, " ", index->at, indent); return;
  case AST_ELLIPSIS: text_add(out, " ..."); return;
  case AST_NEW_AXIS: text_add(out, " (none)"); return;
  case AST_SLICE: break;
  }
  text_add(out, " (slice");
  if (!index->from) text_add(out, " -");
  print_part(out, " ", index->from, indent);
  if (!index->to) text_add(out, " -");
  print_part(out, " ", index->to, indent);
  print_part(out, " ", index->step, indent);
  text_add_char(out, ')');
}

static void print_call(Text *out, const AstExpr *expr, int indent) {
  print_part(out, "(call ", expr->call.callee, indent);
  for (int i = 0; i < expr->call.arguments.count; i++) {
    const AstArgument *argument = &expr->call.arguments.items[i];
    text_add_char(out, ' ');
    if (argument->name.text) text_printf(out, "%s=", argument->name.text);
    print_expr(out, argument->value, indent);
  }
  text_add_char(out, ')');
}

static void print_scan(Text *out, const AstScan *scan, int indent) {
  text_add(out, "(scan ");
  print_names(out, &scan->pattern);
  print_parts(out, " (", &scan->sources, indent);
  text_add_char(out, ')');
  print_part(out, " along ", scan->along, indent);
  if (scan->recomputes) text_add(out, " recompute");
  if (scan->carries.count) {
    text_add(out, " with (");
    print_bindings(out, &scan->carries, indent);
    text_add_char(out, ')');
  }
  print_block(out, scan->body, indent);
  text_add_char(out, ')');
}

static void print_operator(Text *out, const char *op, int indent, const AstExpr *a,
                           const AstExpr *b, const AstExpr *c) {
  text_printf(out, "(%s", op);
  print_part(out, " ", a, indent);
  print_part(out, " ", b, indent);
  print_part(out, " ", c, indent);
  text_add_char(out, ')');
}

static void print_expr(Text *out, const AstExpr *expr, int indent) {
  switch (expr->kind) {
  case AST_NAME: text_add(out, expr->name); return;
  case AST_INTEGER:
  case AST_FLOAT: text_add(out, expr->number.literal); return;
  case AST_STRING: text_add_quoted(out, expr->string.bytes); return;
  case AST_BOOL: text_add(out, expr->boolean ? "true" : "false"); return;
  case AST_PLACEHOLDER: text_add_char(out, '_'); return;
  case AST_QUANTITY:
    text_printf(out, "(quantity %s %s)", expr->quantity.number->number.literal,
                expr->quantity.unit.text);
    return;
  case AST_TUPLE:
  case AST_LIST:
    text_add(out, expr->kind == AST_TUPLE ? "(tuple" : "(list");
    print_parts(out, " ", &expr->items, indent);
    text_add_char(out, ')');
    return;
  case AST_UNARY:
    print_operator(out, expr->unary.op == AST_NEG ? "neg" : "not", indent, expr->unary.operand,
                   NULL, NULL);
    return;
  case AST_BINARY:
    print_operator(out, ast_operator_text(expr->binary.op), indent, expr->binary.left,
                   expr->binary.right, NULL);
    return;
  case AST_TERNARY:
    print_operator(out, "?", indent, expr->ternary.condition, expr->ternary.then,
                   expr->ternary.otherwise);
    return;
  case AST_RANGE: print_operator(out, "..", indent, expr->range.from, expr->range.to, NULL); return;
  case AST_MEMBER:
    print_part(out, "(. ", expr->member.object, indent);
    text_printf(out, " %s)", expr->member.name.text);
    return;
  case AST_CALL: print_call(out, expr, indent); return;
  case AST_INDEX:
    print_part(out, "(at ", expr->index.object, indent);
    for (int i = 0; i < expr->index.indices.count; i++)
      print_index(out, &expr->index.indices.items[i], indent);
    text_add_char(out, ')');
    return;
  case AST_SCAN: print_scan(out, expr->scan, indent); return;
  case AST_EXPR_KINDS: break;
  }
}

/* ---- statements --------------------------------------------------------------------------- */

static void print_stmt(Text *out, const AstStmt *stmt, int indent);

static void new_line(Text *out, int indent) {
  text_add_char(out, '\n');
  text_pad(out, ' ', indent);
}

static void print_block(Text *out, const AstBlock *block, int indent) {
  new_line(out, indent + 2);
  text_add(out, "(block");
  for (int i = 0; i < block->stmts.count; i++) {
    new_line(out, indent + 4);
    print_stmt(out, block->stmts.items[i], indent + 4);
  }
  text_add_char(out, ')');
}

static void print_type(Text *out, const char *before, const AstType *type, int indent) {
  if (!type) return;
  text_printf(out, "%s(type %s", before, type->element.text ? type->element.text : "-");
  if (type->any_shape) text_add(out, " ...");
  print_parts(out, " ", &type->dims, indent);
  text_add_char(out, ')');
}

static void print_formals(Text *out, const AstFormals *formals, int indent) {
  text_add_char(out, '(');
  for (int i = 0; i < formals->count; i++) {
    const AstFormal *formal = &formals->items[i];
    text_printf(out, "%s(%s", i ? " " : "", formal->name.text);
    print_type(out, " : ", formal->type, indent);
    print_part(out, " = ", formal->default_value, indent);
    text_add_char(out, ')');
  }
  text_add_char(out, ')');
}

static void print_entries(Text *out, const AstEntries *entries, int indent) {
  for (int i = 0; i < entries->count; i++) {
    const AstEntry *entry = &entries->items[i];
    new_line(out, indent + 2);
    if (entry->kind == AST_ENTRY_PARAMS) {
      print_parts(out, "(params (", &entry->patterns, indent);
      text_add_char(out, ')');
      print_entries(out, &entry->entries, indent + 2);
    } else {
      text_add(out, "(set ");
      print_names(out, &entry->names);
      print_part(out, " ", entry->value, indent + 2);
      print_parts(out, " | ", &entry->stages, indent + 2);
    }
    text_add_char(out, ')');
  }
}

static void print_function(Text *out, const AstStmt *stmt, int indent) {
  text_printf(out, " %s ", stmt->function.name.text);
  print_formals(out, &stmt->function.formals, indent);
  print_type(out, " ", stmt->function.result, indent);
  print_entries(out, &stmt->function.entries, indent);
  if (stmt->function.body) print_block(out, stmt->function.body, indent);
  const AstGradient *gradient = stmt->function.gradient;
  if (!gradient) return;
  new_line(out, indent + 2);
  text_add(out, "(gradient ");
  print_formals(out, &gradient->formals, indent + 2);
  print_block(out, gradient->body, indent + 2);
  text_add_char(out, ')');
}

/* After the word of the statement. */
static void print_stmt_parts(Text *out, const AstStmt *stmt, int indent) {
  switch (stmt->kind) {
  case AST_CONST:
    text_add_char(out, ' ');
    print_bindings(out, &stmt->constants, indent);
    return;
  case AST_OPTION:
    text_printf(out, " %s", stmt->option.name.text);
    print_part(out, " = ", stmt->option.value, indent);
    print_part(out, " in ", stmt->option.limits, indent);
    return;
  case AST_INPUT:
  case AST_PARAM:
  case AST_STATE:
  case AST_STREAM:
    text_printf(out, " %s", stmt->variable.name.text);
    print_type(out, " ", stmt->variable.type, indent);
    print_part(out, " = ", stmt->variable.value, indent);
    return;
  case AST_DATA:
  case AST_TRAIN:
  case AST_PREDICT:
  case AST_GENERATE:
    if (stmt->section.name.text) text_printf(out, " %s", stmt->section.name.text);
    print_entries(out, &stmt->section.entries, indent);
    return;
  case AST_ASSIGN:
  case AST_STORE:
    text_add_char(out, ' ');
    print_names(out, &stmt->assignment.names);
    print_part(out, " ", stmt->assignment.value, indent);
    return;
  case AST_FOR:
    text_add_char(out, ' ');
    print_names(out, &stmt->loop.pattern);
    print_part(out, " ", stmt->loop.sequence, indent);
    print_block(out, stmt->loop.body, indent);
    return;
  case AST_IF:
    print_part(out, " ", stmt->branch.condition, indent);
    print_block(out, stmt->branch.then, indent);
    if (stmt->branch.otherwise) print_block(out, stmt->branch.otherwise, indent);
    return;
  case AST_RETURN:
  case AST_YIELD: print_parts(out, " ", &stmt->values, indent); return;
  default: print_function(out, stmt, indent);
  }
}

static void print_stmt(Text *out, const AstStmt *stmt, int indent) {
  const char *word = stmt->kind == AST_ASSIGN  ? "="
                     : stmt->kind == AST_STORE ? "<-"
                                               : ast_stmt_kind_text(stmt->kind);
  text_printf(out, "(%s", word);
  print_stmt_parts(out, stmt, indent);
  text_add_char(out, ')');
}

void ast_print(Text *out, const AstProgram *program) {
  for (int i = 0; i < program->stmts.count; i++) {
    print_stmt(out, program->stmts.items[i], 0);
    text_add_char(out, '\n');
  }
}
