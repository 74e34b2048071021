/* Builders of expressions. */
#include "syntax/build.h"

#include <string.h>

#include "support/names.h"
#include "syntax/build_depth.h"
#include "net.tab.h"

int depth_is_too_high(Parser *parser, int depth, Span at) {
  if (depth < AST_MAX_DEPTH) return 0;
  if (parser->is_too_high) return 1;
  parser->is_too_high = 1;
  Diagnostic *found = diag_error(parser->diagnostics, at, "the program nests too deeply here");
  diag_help(found,
            "at most %d operators and blocks may depend on each other; bind a part of this "
            "to a name",
            AST_MAX_DEPTH);
  return 1;
}

static AstExpr *new_expr(Parser *parser, AstExprKind kind, Span span) {
  AstExpr *expr = ARENA_NEW(parser->arena, AstExpr);
  expr->kind = kind;
  expr->depth = 1;
  expr->span = span;
  return expr;
}

/* The expression is higher than a part of it; one that is too high loses its parts. */
static void above(Parser *parser, AstExpr *expr, int depth) {
  if (depth >= expr->depth) expr->depth = depth + 1;
  if (depth_is_too_high(parser, expr->depth, expr->span))
    *expr = *new_expr(parser, AST_PLACEHOLDER, expr->span);
}

/* ---- leaves ------------------------------------------------------------------------------- */

AstExpr *build_name(Parser *parser, const AstName *name) {
  int is_placeholder = !strcmp(name->text, "_");
  AstExpr *expr = new_expr(parser, is_placeholder ? AST_PLACEHOLDER : AST_NAME, name->span);
  if (!is_placeholder) expr->name = name->text;
  return expr;
}

AstExpr *build_literal(Parser *parser, const Token *token) {
  AstExpr *expr = new_expr(parser, AST_BOOL, token->span);
  if (token->kind == T_NUMBER) {
    expr->kind = token->number.is_float ? AST_FLOAT : AST_INTEGER;
    expr->number.literal = token->number.literal;
    expr->number.integer = token->number.integer;
    expr->number.floating = token->number.floating;
  } else if (token->kind == T_STRING) {
    expr->kind = AST_STRING;
    expr->string.bytes = token->string.bytes;
    expr->string.length = token->string.length;
  } else {
    expr->boolean = *token->name == 't' || *token->name == 'T';
  }
  return expr;
}

AstExpr *build_quantity(Parser *parser, Span span, const Token *number, const Token *unit) {
  AstExpr *expr = new_expr(parser, AST_QUANTITY, span);
  expr->quantity.number = build_literal(parser, number);
  expr->quantity.unit = (AstName){unit->name, unit->span};
  above(parser, expr, 1);
  return expr;
}

/* ---- operators ---------------------------------------------------------------------------- */

AstExpr *build_unary(Parser *parser, AstOperator op, Span span, Span op_span, AstExpr *operand) {
  AstExpr *expr = new_expr(parser, AST_UNARY, span);
  expr->unary.op = op;
  expr->unary.op_span = op_span;
  expr->unary.operand = operand;
  above(parser, expr, operand->depth);
  return expr;
}

AstExpr *build_binary(Parser *parser, AstOperator op, Span span, Span op_span, AstExpr *left,
                      AstExpr *right) {
  AstExpr *expr = new_expr(parser, AST_BINARY, span);
  expr->binary.op = op;
  expr->binary.op_span = op_span;
  expr->binary.left = left;
  expr->binary.right = right;
  above(parser, expr, depth_max(left->depth, right->depth));
  return expr;
}

AstExpr *build_ternary(Parser *parser, Span span, Span op_span, AstExpr *condition, AstExpr *then,
                       AstExpr *otherwise) {
  AstExpr *expr = new_expr(parser, AST_TERNARY, span);
  expr->ternary.op_span = op_span;
  expr->ternary.condition = condition;
  expr->ternary.then = then;
  expr->ternary.otherwise = otherwise;
  above(parser, expr, depth_max(condition->depth, depth_max(then->depth, otherwise->depth)));
  return expr;
}

AstExpr *build_range(Parser *parser, Span span, Span op_span, AstExpr *from, AstExpr *to) {
  AstExpr *expr = new_expr(parser, AST_RANGE, span);
  expr->range.op_span = op_span;
  expr->range.from = from;
  expr->range.to = to;
  above(parser, expr, depth_max(from->depth, to->depth));
  return expr;
}

/* ---- postfix ------------------------------------------------------------------------------ */

AstExpr *build_member(Parser *parser, Span span, AstExpr *object, const AstName *name) {
  AstExpr *expr = new_expr(parser, AST_MEMBER, span);
  expr->member.object = object;
  expr->member.name = *name;
  above(parser, expr, object->depth);
  return expr;
}

AstExpr *build_call(Parser *parser, Span span, Span open, Span close, AstExpr *callee,
                    AstArguments *arguments) {
  AstExpr *expr = new_expr(parser, AST_CALL, span);
  expr->call.callee = callee;
  expr->call.arguments = *arguments;
  expr->call.parentheses = span_join(open, close);
  int depth = callee->depth;
  for (int i = 0; i < arguments->count; i++)
    depth = depth_max(depth, arguments->items[i].value->depth);
  above(parser, expr, depth);
  return expr;
}

AstArgument *build_argument(Parser *parser, Span span, const AstName *name, AstExpr *value) {
  AstArgument *argument = ARENA_NEW(parser->arena, AstArgument);
  if (name) argument->name = *name;
  argument->value = value;
  argument->span = span;
  return argument;
}

static void check_argument(Parser *parser, const AstArguments *arguments,
                           const AstArgument *argument) {
  if (parser->is_suspect) return; /* brackets were repaired: who knows what belongs to what */
  const AstArgument *last = arguments->count ? &arguments->items[arguments->count - 1] : NULL;
  if (last && last->name.text && !argument->name.text) {
    Diagnostic *found =
        diag_error(parser->diagnostics, argument->span, "a positional argument behind a named one");
    diag_note(found, last->name.span, "'%s' is named", last->name.text);
  }
  for (int i = 0; i < arguments->count && argument->name.text && i < REPETITIONS_MAX; i++) {
    if (arguments->items[i].name.text != argument->name.text) continue;
    Diagnostic *found = diag_error(parser->diagnostics, argument->name.span,
                                   "the argument '%s' is given twice", argument->name.text);
    diag_note(found, arguments->items[i].name.span, "here for the first time");
    break;
  }
}

AstArguments *build_arguments(Parser *parser, AstArguments *arguments,
                              const AstArgument *argument) {
  if (!arguments) arguments = ARENA_NEW(parser->arena, AstArguments);
  check_argument(parser, arguments, argument);
  vec_push(parser->arena, arguments, *argument);
  return arguments;
}

/* ---- indices ------------------------------------------------------------------------------ */

static AstIndex *new_index(Parser *parser, AstIndexKind kind, Span span) {
  AstIndex *index = ARENA_NEW(parser->arena, AstIndex);
  index->kind = kind;
  index->span = span;
  return index;
}

AstIndex *build_at(Parser *parser, Span span, AstExpr *expr) {
  int is_new_axis = expr->kind == AST_NAME && !strcmp(expr->name, "none");
  AstIndex *index = new_index(parser, is_new_axis ? AST_NEW_AXIS : AST_AT, span);
  if (!is_new_axis) index->at = expr;
  return index;
}

AstIndex *build_ellipsis(Parser *parser, Span span) {
  return new_index(parser, AST_ELLIPSIS, span);
}

AstIndex *build_slice(Parser *parser, Span span, AstExpr *from, AstExpr *to, AstExpr *step) {
  AstIndex *index = new_index(parser, AST_SLICE, span);
  index->from = from;
  index->to = to;
  index->step = step;
  return index;
}

AstIndices *build_indices(Parser *parser, AstIndices *indices, const AstIndex *index) {
  if (!indices) indices = ARENA_NEW(parser->arena, AstIndices);
  for (int i = 0; i < indices->count && index->kind == AST_ELLIPSIS; i++) {
    if (indices->items[i].kind != AST_ELLIPSIS) continue;
    Diagnostic *found =
        diag_error(parser->diagnostics, index->span, "'...' can stand only once in an index");
    diag_note(found, indices->items[i].span, "here for the first time");
    break;
  }
  vec_push(parser->arena, indices, *index);
  return indices;
}

static int index_depth(const AstIndex *index) {
  const AstExpr *const parts[] = {index->at, index->from, index->to, index->step};
  int depth = 0;
  for (int i = 0; i < 4; i++)
    if (parts[i]) depth = depth_max(depth, parts[i]->depth);
  return depth;
}

AstExpr *build_index_expr(Parser *parser, Span span, Span open, Span close, AstExpr *object,
                          AstIndices *indices) {
  AstExpr *expr = new_expr(parser, AST_INDEX, span);
  expr->index.object = object;
  expr->index.indices = *indices;
  expr->index.brackets = span_join(open, close);
  int depth = object->depth;
  for (int i = 0; i < indices->count; i++)
    depth = depth_max(depth, index_depth(&indices->items[i]));
  above(parser, expr, depth);
  return expr;
}

/* ---- composites --------------------------------------------------------------------------- */

AstExpr *build_list(Parser *parser, Span span, const AstExprs *items) {
  AstExpr *expr = new_expr(parser, AST_LIST, span);
  expr->items = *items;
  above(parser, expr, exprs_depth(items));
  return expr;
}

AstExpr *build_tuple(Parser *parser, Span span, AstExpr *first, const AstExprs *rest) {
  AstExprs items = {0};
  vec_push(parser->arena, &items, first);
  for (int i = 0; i < rest->count; i++) vec_push(parser->arena, &items, rest->items[i]);
  AstExpr *expr = build_list(parser, span, &items);
  if (expr->kind == AST_LIST) expr->kind = AST_TUPLE;
  return expr;
}

AstExpr *build_scan(Parser *parser, Span span, const AstScan *scan) {
  AstExpr *expr = new_expr(parser, AST_SCAN, span);
  expr->scan = arena_copy(parser->arena, scan, sizeof *scan);
  int depth = depth_max(exprs_depth(&scan->sources), scan->body->depth);
  if (scan->along) depth = depth_max(depth, scan->along->depth);
  for (int i = 0; i < scan->carries.count; i++)
    depth = depth_max(depth, scan->carries.items[i].value->depth);
  above(parser, expr, depth);
  return expr;
}
