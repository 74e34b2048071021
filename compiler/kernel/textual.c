/* Kernels as text: for dumps, which read back; and the key under which equal kernels are shared,
 * the same text without names. Expressions are numbered in the order of kernel_expressions, so
 * sharing shows. */
#include "kernel/textual.h"
#include "kernel/builder.h"
#include "kernel/class.h"

#include <string.h>

/* ---- what both directions share ------------------------------------------------------------ */

static const char *const kind_name[KERNEL_KIND_COUNT] = {
#define KERNEL(identifier, name) [KERNEL_##identifier] = #name,
#include "kernel/kernels.def"
};

enum { MOST_HOST_VALUES = 1 << 16, MOST_VARIANTS = 64 };

static const Field name_fields[] = {
    FIELD("kernel ", NAME, Kernel, name),
    FIELD(" ", MAYBE, Kernel, comment),
    FIELD_LITERAL(": "),
};
static const Field head_fields[] = {
    FIELD("", WORD, Kernel, kind, .most = KERNEL_KIND_COUNT, .choices = kind_name),
    FIELD(", in ", DTYPE, Kernel, accumulate),
    FIELD(" rounded", FLAG, Kernel, is_tf32),
    FIELD(" bf16x3", FLAG, Kernel, is_x3),
    FIELD(" keeping", FLAG, Kernel, keeps_weights),
    FIELD(" tight", FLAG, Kernel, is_tight),
    FIELD(" short of registers", FLAG, Kernel, has_few_registers),
    FIELD(" variant ", OPTION, Kernel, variant, 0, MOST_VARIANTS),
    FIELD(", ", INT, Kernel, scalar_count, 0, MOST_HOST_VALUES),
    FIELD(" scalars, ", INT, Kernel, key_count, 0, MOST_HOST_VALUES),
    FIELD_LITERAL(" keys"),
    FIELD(", serial", FLAG, Kernel, is_serial),
    FIELD_LITERAL("\n"),
};
static const Field operand_fields[] = {
    FIELD(": ", DTYPE, KernelOperand, dtype),
    FIELD("[", INT64, KernelOperand, elements, 0, MAX_ELEMENTS),
    FIELD_LITERAL("]"),
    FIELD(" out", FLAG, KernelOperand, is_output),
};
static const Field operand_name[] = {FIELD("  ", STRING, KernelOperand, name)};

/* ---- printing ------------------------------------------------------------------------------ */

static void print_index(Text *text, const Index *index) {
  switch (index->kind) {
  case INDEX_CONST: text_printf(text, "%lld", (long long)index->value); return;
  case INDEX_AXIS: text_printf(text, "i%lld", (long long)index->value); return;
  case INDEX_LOAD:
    text_printf(text, "@%d[", index->operand);
    print_index(text, index->left);
    text_printf(text, "]<%lld", (long long)index->value);
    return;
  default: break;
  }
  text_add_char(text, '(');
  print_index(text, index->left);
  if (index->kind == INDEX_DIV || index->kind == INDEX_MOD) {
    text_printf(text, " %c %lld)", index->kind == INDEX_DIV ? '/' : '%', (long long)index->value);
    return;
  }
  text_add(text, index->kind == INDEX_ADD ? " + " : " * ");
  print_index(text, index->right);
  text_add_char(text, ')');
}

static int expr_number(const ExprList *list, const Expr *expr) {
  int i = list->count - 1;
  while (i > 0 && list->items[i] != expr) i--;
  return i;
}

static void print_guards(Text *text, const Expr *expr) {
  for (int i = 0; i < expr->guard_count; i++) {
    text_add(text, i == 0 ? " if 0 <= " : " and 0 <= ");
    print_index(text, expr->guards[i].index);
    text_printf(text, " < %lld", (long long)expr->guards[i].bound);
  }
  if (expr->guard_count == 0) return;
  text_add(text, " else ");
  text_add_double(text, expr->value);
}

static void print_expr(Text *text, const ExprList *list, const Expr *expr) {
  switch (expr->kind) {
  case EXPR_CONST: text_add_double(text, expr->value); break;
  case EXPR_LOAD:
    text_printf(text, "@%d[", expr->operand);
    print_index(text, expr->index);
    text_add_char(text, ']');
    print_guards(text, expr);
    break;
  case EXPR_SCALAR: text_printf(text, "scalar %d", expr->operand); break;
  case EXPR_INDEX: print_index(text, expr->index); break;
  case EXPR_OP:
    text_add(text, op_name(expr->op));
    for (int i = 0; i < expr->arg_count; i++)
      text_printf(text, "%s t%d", i > 0 ? "," : "", expr_number(list, expr->args[i]));
    break;
  case EXPR_STAGE: text_printf(text, "stage %d", expr->operand); break;
  case EXPR_RESULT: text_add(text, "result"); break;
  case EXPR_RANDOM:
    text_printf(text, "%s key %d stream %lld per %.0f at ", op_name(expr->op), expr->operand,
                (long long)expr->stream, expr->value);
    print_index(text, expr->index);
    break;
  }
  text_printf(text, " : %s\n", dtype_name(expr->dtype));
}

static void print_extents(Text *text, int first, int count, const int64_t *extent) {
  for (int i = 0; i < count; i++)
    text_printf(text, "%s i%d < %lld", i > 0 ? "," : "", first + i, (long long)extent[i]);
}

static void print_stage(Text *text, const Kernel *kernel, int number) {
  Arena *arena = arena_create();
  Stage stage = kernel_stage(kernel, number);
  ExprList list = kernel_expressions(arena, kernel, number);
  if (stage.kind == STAGE_REDUCE)
    text_printf(text, "  stage %d: %s over", number, op_name(stage.reduce));
  else text_printf(text, "  stage %d: store", number);
  print_extents(text, kernel->axis_count, stage.axis_count, stage.extent);
  text_add_char(text, '\n');
  for (int i = 0; i < list.count; i++) {
    text_printf(text, "    t%d = ", i);
    print_expr(text, &list, list.items[i]);
  }
  if (stage.kind == STAGE_REDUCE)
    text_printf(text, "    value t%d\n", expr_number(&list, stage.value));
  for (int i = 0; i < stage.store_count; i++) {
    text_printf(text, "    @%d[", stage.stores[i].operand);
    print_index(text, stage.stores[i].index);
    text_printf(text, "] = t%d\n", expr_number(&list, stage.stores[i].value));
  }
  arena_destroy(arena);
}

typedef enum Names { NAMES_NONE, NAMES_PLAIN, NAMES_QUOTED } Names;

static void kernel_describe(Text *text, const Kernel *kernel, Names names) {
  const KernelClass *class = kernel_class(kernel);
  record_print(text, RECORD(head_fields), kernel, NULL);
  for (int i = 0; i < kernel->operand_count; i++) {
    const KernelOperand *operand = &kernel->operands[i];
    text_printf(text, "  @%d", i);
    record_print(text, RECORD(operand_fields), operand, NULL);
    if (names == NAMES_QUOTED) record_print(text, RECORD(operand_name), operand, NULL);
    else if (names == NAMES_PLAIN && operand->name) text_printf(text, "  %s", operand->name);
    text_add_char(text, '\n');
  }
  record_print(text, class->slots, class->slot_count, kernel, NULL);
  text_add(text, "  domain");
  print_extents(text, 0, kernel->axis_count, kernel->extent);
  text_add_char(text, '\n');
  for (int i = 0; i < kernel_stage_count(kernel); i++) print_stage(text, kernel, i);
  if (!kernel->feeder) return;
  text_add(text, "  fed [");
  for (int i = 0; i < kernel->feeder->operand_count; i++)
    text_printf(text, "%s%d", i > 0 ? ", " : "", kernel->feed[i]);
  text_add(text, "] by ");
  kernel_describe(text, kernel->feeder, names);
}

void kernel_print(Text *text, const Kernel *kernel) {
  text_printf(text, "kernel %s: ", kernel->name ? kernel->name : "?");
  kernel_describe(text, kernel, NAMES_PLAIN);
  if (kernel->comment) text_printf(text, "  # %s\n", kernel->comment);
}

void kernel_print_whole(Text *text, const Kernel *kernel) {
  record_print(text, RECORD(name_fields), kernel, NULL);
  kernel_describe(text, kernel, NAMES_QUOTED);
}

const char *kernel_key(Arena *arena, const Kernel *kernel) {
  Text text = {0};
  kernel_describe(&text, kernel, NAMES_NONE);
  return text_take(&text, arena);
}

/* ---- reading indices ----------------------------------------------------------------------- */

enum { DEEPEST_INDEX = 200, DEEPEST_EXPR = 2000 }; /* they bound recursion, here and elsewhere */

/* A letter and a number below `count`, such as i3 or t12: what it is the number of, `what` says. */
static bool sees_numbered(const Reader *reader, char letter) {
  const Token *token = &reader->token;
  return !reader->failed && token->kind == TOKEN_WORD && token->length > 1 && token->length < 9 &&
         *token->start == letter && strspn(token->start + 1, "0123456789") >= token->length - 1;
}

static bool read_numbered(Reader *reader, char letter, int count, int64_t *number) {
  if (!sees_numbered(reader, letter))
    return reader_fail(reader, "expected %c and a number, such as %c0", letter, letter);
  *number = 0;
  for (size_t i = 1; i < reader->token.length; i++)
    *number = *number * 10 + (reader->token.start[i] - '0');
  if (*number < count) return reader_advance(reader);
  return reader_fail(reader, "there is no %c%lld here: there are %d", letter, (long long)*number,
                     count);
}

/* "3]" */
static bool read_operand(Reader *reader, const Kernel *kernel, int *operand) {
  int64_t number = 0;
  if (kernel->operand_count == 0) return reader_fail(reader, "the kernel has no operands");
  if (!reader_integer(reader, 0, kernel->operand_count - 1, &number)) return false;
  *operand = (int)number;
  return true;
}

typedef struct StageReader {
  Reader *reader;
  Kernel *kernel;
  int axis_count; /* of the domain and the stage */
  VEC(Expr *) exprs;
  VEC(int) depths; /* parallel to them */
} StageReader;

static bool read_index(StageReader *stage, int depth, Index **result);

/* "@1[i0]<5", after the bracket. */
static bool read_index_load(StageReader *stage, int depth, Index *index) {
  index->kind = INDEX_LOAD;
  return read_operand(stage->reader, stage->kernel, &index->operand) &&
         reader_expect_mark(stage->reader, '[') && read_index(stage, depth + 1, &index->left) &&
         reader_expect_mark(stage->reader, ']') && reader_expect_mark(stage->reader, '<') &&
         reader_integer(stage->reader, 1, MAX_ELEMENTS, &index->value);
}

/* "(i0 + 3)", after the bracket. */
static bool read_operation(StageReader *stage, int depth, Index *index) {
  static const char marks[] = "+*/%";
  static const IndexKind kinds[] = {INDEX_ADD, INDEX_MUL, INDEX_DIV, INDEX_MOD};
  Reader *reader = stage->reader;
  int kind = 0;
  if (!read_index(stage, depth + 1, &index->left)) return false;
  while (kind < 4 && !reader_accept_mark(reader, marks[kind])) kind++;
  if (kind == 4) return reader_fail(reader, "expected +, *, / or %%");
  index->kind = kinds[kind];
  if (kind >= 2 && !reader_integer(reader, 1, MAX_ELEMENTS, &index->value)) return false;
  if (kind < 2 && !read_index(stage, depth + 1, &index->right)) return false;
  if (index->kind == INDEX_MUL && index->right->kind != INDEX_CONST)
    return reader_fail(reader, "an index is multiplied by constants alone");
  return reader_expect_mark(reader, ')');
}

static bool read_index(StageReader *stage, int depth, Index **result) {
  Reader *reader = stage->reader;
  Index *index = *result = ARENA_NEW(reader->arena, Index);
  if (depth == DEEPEST_INDEX) return reader_fail(reader, "this index is nested too deeply");
  if (reader_accept_mark(reader, '@')) return read_index_load(stage, depth, index);
  if (reader_accept_mark(reader, '(')) return read_operation(stage, depth, index);
  index->kind = sees_numbered(reader, 'i') ? INDEX_AXIS : INDEX_CONST;
  if (index->kind == INDEX_AXIS)
    return read_numbered(reader, 'i', stage->axis_count, &index->value);
  return reader_integer(reader, -MAX_ELEMENTS, MAX_ELEMENTS, &index->value);
}

/* ---- reading expressions ------------------------------------------------------------------- */

/* "t3", one of those before. */
static bool read_reference(StageReader *stage, Expr **expr, int *depth) {
  int64_t number = 0;
  if (!read_numbered(stage->reader, 't', stage->exprs.count, &number)) return false;
  *expr = stage->exprs.items[number];
  if (depth && *depth <= stage->depths.items[number]) *depth = stage->depths.items[number] + 1;
  return true;
}

static bool read_guards(StageReader *stage, Expr *expr) {
  Reader *reader = stage->reader;
  VEC(Guard) guards = {0};
  while (reader_accept_word(reader, guards.count == 0 ? "if" : "and")) {
    Guard guard;
    int64_t zero;
    if (!reader_integer(reader, 0, 0, &zero) || !reader_expect_mark(reader, '<') ||
        !reader_expect_mark(reader, '=') || !read_index(stage, 0, &guard.index) ||
        !reader_expect_mark(reader, '<') || !reader_integer(reader, 0, MAX_ELEMENTS, &guard.bound))
      return false;
    vec_push(reader->arena, &guards, guard);
  }
  expr->guard_count = guards.count;
  expr->guards = guards.items;
  if (guards.count == 0) return !reader->failed;
  return reader_expect_word(reader, "else") && reader_double(reader, &expr->value);
}

/* "@1[i0] if 0 <= i0 < 3 else 0.0" or an index "@1[i0]<5", after the first mark. */
static bool read_load(StageReader *stage, Expr *expr) {
  Reader *reader = stage->reader;
  expr->kind = EXPR_LOAD;
  if (!read_operand(reader, stage->kernel, &expr->operand) || !reader_expect_mark(reader, '[') ||
      !read_index(stage, 0, &expr->index) || !reader_expect_mark(reader, ']'))
    return false;
  if (!reader_accept_mark(reader, '<')) return read_guards(stage, expr);
  Index *index = index_load(reader->arena, expr->operand, expr->index, 0);
  *expr = (Expr){.kind = EXPR_INDEX, .index = index};
  return reader_integer(reader, 1, MAX_ELEMENTS, &index->value);
}

/* What stands after the name of an operator. */
static bool read_operation_of(StageReader *stage, Expr *expr, int *depth) {
  static const Field random_fields[] = {
      FIELD("", INT, Expr, operand, 0, MOST_HOST_VALUES),
      FIELD(" stream ", INT64, Expr, stream, INT64_MIN, INT64_MAX),
  };
  Reader *reader = stage->reader;
  int64_t example;
  expr->kind = EXPR_OP;
  if (reader_accept_word(reader, "key")) {
    expr->kind = EXPR_RANDOM;
    if (!record_read(reader, RECORD(random_fields), expr) || !reader_expect_word(reader, "per") ||
        !reader_integer(reader, 0, MAX_ELEMENTS, &example) || !reader_expect_word(reader, "at"))
      return false;
    expr->value = (double)example;
    return read_index(stage, 0, &expr->index);
  }
  do {
    if (expr->arg_count == EXPR_MOST_ARGS) return reader_fail(reader, "too many operands");
    if (!read_reference(stage, &expr->args[expr->arg_count++], depth)) return false;
  } while (reader_accept_mark(reader, ','));
  return !reader->failed;
}

/* A number with a point or an exponent is a constant, one without it an index. */
static bool read_number(StageReader *stage, Expr *expr) {
  Reader *reader = stage->reader;
  bool is_negative = reader_accept_mark(reader, '-');
  const Token *token = &reader->token;
  expr->kind = EXPR_CONST;
  if (token->kind == TOKEN_NUMBER && strspn(token->start, "0123456789") >= token->length) {
    expr->kind = EXPR_INDEX;
    if (!read_index(stage, 0, &expr->index)) return false;
    if (is_negative) expr->index->value = -expr->index->value;
    return true;
  }
  if (!reader_double(reader, &expr->value)) return false;
  if (is_negative) expr->value = -expr->value;
  return true;
}

static bool read_expr(StageReader *stage, Expr *expr, int *depth) {
  Reader *reader = stage->reader;
  Span start = reader->token.span;
  const char *word;
  if (reader_accept_mark(reader, '@')) return read_load(stage, expr);
  expr->kind = EXPR_INDEX;
  if (reader_sees_mark(reader, '(') || sees_numbered(reader, 'i'))
    return read_index(stage, 0, &expr->index);
  if (reader->token.kind != TOKEN_WORD || reader_sees_word(reader, "inf") ||
      reader_sees_word(reader, "nan"))
    return read_number(stage, expr);
  expr->kind = EXPR_RESULT;
  if (reader_accept_word(reader, "result")) return true;
  expr->kind = reader_sees_word(reader, "scalar") ? EXPR_SCALAR : EXPR_STAGE;
  if (reader_accept_word(reader, "scalar") || reader_accept_word(reader, "stage")) {
    int64_t number = 0;
    if (!reader_integer(reader, 0, MOST_HOST_VALUES, &number)) return false;
    expr->operand = (int)number;
    return true;
  }
  if (!reader_word(reader, &word)) return false;
  if (!op_parse(word, &expr->op))
    return reader_fail_at(reader, start, "there is no operator '%.40s'", word);
  return read_operation_of(stage, expr, depth);
}

/* "t3 = add t1, t2 : f32" */
static bool read_numbered_expr(StageReader *stage) {
  Reader *reader = stage->reader;
  Span start = reader->token.span;
  Expr *expr = ARENA_NEW(reader->arena, Expr);
  int64_t number = 0;
  int depth = 0, expected = stage->exprs.count;
  if (!read_numbered(reader, 't', expected + 1, &number)) return false;
  if (number < expected) return reader_fail_at(reader, start, "expected t%d", expected);
  if (!reader_expect_mark(reader, '=') || !read_expr(stage, expr, &depth) ||
      !reader_expect_mark(reader, ':') || !reader_dtype(reader, &expr->dtype))
    return false;
  if (depth > DEEPEST_EXPR) return reader_fail_at(reader, start, "this is nested too deeply");
  vec_push(reader->arena, &stage->exprs, expr);
  vec_push(reader->arena, &stage->depths, depth);
  return true;
}

/* ---- reading stages ------------------------------------------------------------------------ */

/* "i0 < 5, i1 < 3", perhaps nothing; of no more points than a tensor may have elements. */
static bool read_extents(Reader *reader, int first, int *count, int64_t *extent) {
  Shape bound = {0};
  while (*count > 0 ? reader_accept_mark(reader, ',') : sees_numbered(reader, 'i')) {
    Span start = reader->token.span;
    int64_t number = 0;
    if (*count == KERNEL_MAX_AXES) return reader_fail(reader, "there are too many axes");
    if (!read_numbered(reader, 'i', first + *count + 1, &number)) return false;
    if (number != first + *count)
      return reader_fail_at(reader, start, "expected i%d", first + *count);
    if (!reader_expect_mark(reader, '<') ||
        !reader_integer(reader, 0, MAX_ELEMENTS, &extent[*count]))
      return false;
    bound = (Shape){2, {*count > 0 ? bound.dim[0] * bound.dim[1] : 1, extent[*count]}};
    if (!shape_is_representable(bound))
      return reader_fail_at(reader, start, "this loop has too many turns");
    ++*count;
  }
  return !reader->failed;
}

static bool read_stores(StageReader *stage, Stage *into) {
  Reader *reader = stage->reader;
  VEC(Store) stores = {0};
  while (reader_accept_mark(reader, '@')) {
    Store store;
    if (!read_operand(reader, stage->kernel, &store.operand) || !reader_expect_mark(reader, '[') ||
        !read_index(stage, 0, &store.index) || !reader_expect_mark(reader, ']') ||
        !reader_expect_mark(reader, '=') || !read_reference(stage, &store.value, NULL))
      return false;
    vec_push(reader->arena, &stores, store);
  }
  into->store_count = stores.count;
  into->stores = stores.items;
  return !reader->failed;
}

/* "0: store", after the keyword. */
static bool read_stage(Reader *reader, Kernel *kernel, int number, Stage *into) {
  StageReader stage = {.reader = reader, .kernel = kernel};
  int64_t read;
  const char *word;
  if (!reader_integer(reader, number, number, &read) || !reader_expect_mark(reader, ':'))
    return false;
  Span start = reader->token.span;
  if (!reader_word(reader, &word)) return false;
  into->kind = strcmp(word, "store") == 0 ? STAGE_STORE : STAGE_REDUCE;
  if (into->kind == STAGE_REDUCE && !op_parse(word, &into->reduce))
    return reader_fail_at(reader, start, "expected store or a reduction");
  if (into->kind == STAGE_REDUCE && !reader_expect_word(reader, "over")) return false;
  if (!read_extents(reader, kernel->axis_count, &into->axis_count, into->extent)) return false;
  stage.axis_count = kernel->axis_count + into->axis_count;
  while (sees_numbered(reader, 't'))
    if (!read_numbered_expr(&stage)) return false;
  if (into->kind == STAGE_STORE) return read_stores(&stage, into);
  return reader_expect_word(reader, "value") && read_reference(&stage, &into->value, NULL);
}

static bool read_stages(Reader *reader, Kernel *kernel) {
  VEC(Stage) stages = {0};
  Span start = reader->token.span;
  while (reader_accept_word(reader, "stage")) {
    Stage stage = {0};
    if (!read_stage(reader, kernel, stages.count, &stage)) return false;
    vec_push(reader->arena, &stages, stage);
  }
  kernel->stage_count = stages.count;
  kernel->stages = stages.items;
  if (reader->failed || !kernel_is_template(kernel)) return !reader->failed;
  if (stages.count != 1 || stages.items->kind != STAGE_STORE || stages.items->axis_count > 0)
    return reader_fail_at(reader, start, "a template has one stage, which stores");
  kernel->epilogue_count = stages.items->store_count;
  kernel->epilogue = stages.items->stores;
  kernel->stage_count = 0;
  return true;
}

static bool read_operands(Reader *reader, Kernel *kernel) {
  VEC(KernelOperand) operands = {0};
  while (reader_accept_mark(reader, '@')) {
    KernelOperand operand = {0};
    int64_t number, expected = operands.count;
    if (!reader_integer(reader, expected, expected, &number) ||
        !record_read(reader, RECORD(operand_fields), &operand) ||
        !record_read(reader, RECORD(operand_name), &operand))
      return false;
    vec_push(reader->arena, &operands, operand);
  }
  kernel->operand_count = operands.count;
  kernel->operands = operands.items;
  return !reader->failed;
}

/* All but the name, the comment and the feeder. */
static bool read_body(Reader *reader, Kernel *kernel) {
  if (!record_read(reader, RECORD(head_fields), kernel) || !read_operands(reader, kernel))
    return false;
  const KernelClass *class = kernel_class(kernel);
  return record_read(reader, class->slots, class->slot_count, kernel) &&
         reader_expect_word(reader, "domain") &&
         read_extents(reader, 0, &kernel->axis_count, kernel->extent) &&
         read_stages(reader, kernel);
}

/* "[0, 4, -1] by CONV, in f32 ...", after the keyword. */
static bool read_feeder(Reader *reader, Kernel *kernel) {
  VEC(int) feed = {0};
  Span start = reader->token.span;
  if (!reader_expect_mark(reader, '[')) return false;
  do {
    int64_t operand;
    if (!reader_integer(reader, -1, kernel->operand_count - 1, &operand)) return false;
    vec_push(reader->arena, &feed, (int)operand);
  } while (reader_accept_mark(reader, ','));
  Kernel *feeder = ARENA_NEW(reader->arena, Kernel);
  if (!reader_expect_mark(reader, ']') || !reader_expect_word(reader, "by") ||
      !read_body(reader, feeder))
    return false;
  if (feed.count != feeder->operand_count)
    return reader_fail_at(reader, start, "%d places of the %d operands of the feeder", feed.count,
                          feeder->operand_count);
  kernel->feeder = feeder;
  kernel->feed = feed.items;
  return true;
}

bool kernel_read(Reader *reader, Kernel *kernel) {
  *kernel = (Kernel){0};
  if (!record_read(reader, RECORD(name_fields), kernel) || !read_body(reader, kernel)) return false;
  return !reader_accept_word(reader, "fed") || read_feeder(reader, kernel);
}
