/* What the actions of the grammar call: depths, the decisions and the rules that the grammar leaves
 * open. */
#include <string.h>

#include "support/names.h"
#include "syntax/build.h"
#include "syntax/visit.h"
#include "net.tab.h"

/* ---- nodes -------------------------------------------------------------------------------- */

/* Is a tree of that height too high to be part of a statement?  Reported once. */
static int is_too_high(Parser *parser, int depth, Span at) {
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

AstExpr *build_expr(Parser *parser, const AstExpr *written) {
  AstExpr *expr = arena_copy(parser->arena, written, sizeof *written);
  expr->depth = 1 + visit_parts_depth(expr);
  if (is_too_high(parser, expr->depth, expr->span))
    *expr = (AstExpr){.kind = AST_PLACEHOLDER, .depth = 1, .span = written->span};
  return expr;
}

AstBlock *build_block(Parser *parser, Span span, const AstStmts *stmts) {
  AstBlock *block = ARENA_NEW(parser->arena, AstBlock);
  block->stmts = *stmts;
  block->span = span;
  for (int i = 0; i < stmts->count; i++)
    if (stmts->items[i]->depth > block->depth) block->depth = stmts->items[i]->depth;
  if (is_too_high(parser, block->depth, span)) *block = (AstBlock){.span = span};
  return block;
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

AstStmt *build_stmt(Parser *parser, const AstStmt *written) {
  AstStmt *stmt = arena_copy(parser->arena, written, sizeof *written);
  stmt->depth = 1 + visit_stmt_depth(stmt);
  if (stmt->kind == AST_TRAIN) check_entries(parser, &stmt->section.entries, "'train'", 1, 0);
  if (stmt->kind == AST_PREDICT) check_entries(parser, &stmt->section.entries, "'predict'", 0, 1);
  if (stmt->kind == AST_GENERATE) check_entries(parser, &stmt->section.entries, "'generate'", 0, 0);
  if (stmt->kind == AST_EXTERN) check_entries(parser, &stmt->function.entries, "'extern'", 0, 0);
  return stmt;
}

AstBlock *build_else_if(Parser *parser, AstStmt *branch) {
  AstStmts one = {0};
  vec_push(parser->arena, &one, branch);
  return build_block(parser, branch->span, &one);
}

/* ---- leaves, types ------------------------------------------------------------------------ */

AstExpr *build_name(Parser *parser, const AstName *name) {
  if (!strcmp(name->text, "_"))
    return build_expr(parser, &(AstExpr){.kind = AST_PLACEHOLDER, .span = name->span});
  return build_expr(parser, &(AstExpr){.kind = AST_NAME, .span = name->span, .name = name->text});
}

AstExpr *build_literal(Parser *parser, const Token *token) {
  AstExpr expr = {.kind = AST_BOOL, .span = token->span};
  if (token->kind == T_NUMBER) {
    expr.kind = token->number.is_float ? AST_FLOAT : AST_INTEGER;
    expr.number.literal = token->number.literal;
    expr.number.integer = token->number.integer;
    expr.number.floating = token->number.floating;
  } else if (token->kind == T_STRING) {
    expr.kind = AST_STRING;
    expr.string.bytes = token->string.bytes;
    expr.string.length = token->string.length;
  } else {
    expr.boolean = *token->name == 't' || *token->name == 'T';
  }
  return build_expr(parser, &expr);
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

/* ---- lists -------------------------------------------------------------------------------- */

AstExprs *build_items(Parser *parser, AstExpr *first, const AstExprs *rest) {
  AstExprs *items = ARENA_NEW(parser->arena, AstExprs);
  vec_push(parser->arena, items, first);
  for (int i = 0; i < rest->count; i++) vec_push(parser->arena, items, rest->items[i]);
  return items;
}

static void report_repeated(Parser *parser, Span at, const char *message, Span first) {
  diag_note(diag_error(parser->diagnostics, at, "%s", message), first, "here for the first time");
}

AstFormals *build_formals(Parser *parser, AstFormals *formals, const AstFormal *formal) {
  if (!formals) formals = ARENA_NEW(parser->arena, AstFormals);
  for (int i = 0; i < formals->count && i < REPETITIONS_MAX; i++) {
    if (formals->items[i].name.text != formal->name.text) continue;
    report_repeated(
        parser, formal->name.span,
        arena_printf(parser->arena, "the formal '%s' is named twice", formal->name.text),
        formals->items[i].name.span);
    break;
  }
  vec_push(parser->arena, formals, *formal);
  return formals;
}

static void check_argument(Parser *parser, const AstArguments *arguments,
                           const AstArgument *argument) {
  if (parser->is_suspect) return; /* brackets were repaired: who knows what belongs to what */
  const AstArgument *last = arguments->count ? &arguments->items[arguments->count - 1] : NULL;
  if (last && last->name.text && !argument->name.text) {
    Diagnostic *found =
        diag_error(parser->diagnostics, argument->span, "a positional argument after a named one");
    diag_note(found, last->name.span, "'%s' is named", last->name.text);
  }
  for (int i = 0; i < arguments->count && argument->name.text && i < REPETITIONS_MAX; i++) {
    if (arguments->items[i].name.text != argument->name.text) continue;
    report_repeated(
        parser, argument->name.span,
        arena_printf(parser->arena, "the argument '%s' is given twice", argument->name.text),
        arguments->items[i].name.span);
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

AstIndex *build_at(Parser *parser, Span span, AstExpr *expr) {
  AstIndex index = {.kind = AST_AT, .at = expr, .span = span};
  if (expr->kind == AST_NAME && !strcmp(expr->name, "none"))
    index = (AstIndex){.kind = AST_NEW_AXIS, .span = span};
  return arena_copy(parser->arena, &index, sizeof index);
}

AstIndices *build_indices(Parser *parser, AstIndices *indices, const AstIndex *index) {
  if (!indices) indices = ARENA_NEW(parser->arena, AstIndices);
  for (int i = 0; i < indices->count && index->kind == AST_ELLIPSIS; i++) {
    if (indices->items[i].kind != AST_ELLIPSIS) continue;
    report_repeated(parser, index->span, "'...' can stand only once in an index",
                    indices->items[i].span);
    break;
  }
  vec_push(parser->arena, indices, *index);
  return indices;
}
