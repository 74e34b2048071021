/* The parser and the formatter: trees and layouts against golden files (tests/syntax), spans,
 * limits, and damaged programs.  Messages have golden files of their own (tests/syntax/errors). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"
#include "support/text.h"
#include "syntax/format.h"
#include "syntax/parse.h"

typedef VEC(const char *) Paths;

/* ---- files -------------------------------------------------------------------------------- */

static int compare_paths(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The .net files of a folder of the source tree, sorted; a folder that is missing has none. */
static void add_folder(Arena *arena, Paths *paths, const char *folder) {
  const char *path = arena_printf(arena, "%s/%s", SOURCE_DIR, folder);
  DIR *directory = opendir(path);
  if (!directory) return;
  int first = paths->count;
  for (struct dirent *entry; (entry = readdir(directory));) {
    size_t length = strlen(entry->d_name);
    if (length > 4 && !strcmp(entry->d_name + length - 4, ".net"))
      vec_push(arena, paths, arena_printf(arena, "%s/%s", path, entry->d_name));
  }
  closedir(directory);
  qsort(paths->items + first, (size_t)(paths->count - first), sizeof *paths->items, compare_paths);
}

/* All programs that should parse. */
static Paths good_programs(Arena *arena) {
  Paths paths = {0};
  add_folder(arena, &paths, "tests/syntax/ok");
  add_folder(arena, &paths, "tests/syntax/format");
  add_folder(arena, &paths, "models");
  add_folder(arena, &paths, "examples");
  add_folder(arena, &paths, "compiler/prelude");
  assert_true(paths.count >= 10);
  return paths;
}

static SourceFile *read_source(Arena *arena, const char *path) {
  const char *reason = NULL;
  SourceFile *file = source_read(arena, path, &reason);
  if (!file) fail_msg("%s: %s", path, reason);
  return file;
}

static const char *with_suffix(Arena *arena, const char *path, const char *suffix) {
  return arena_printf(arena, "%.*s%s", (int)strlen(path) - 4, path, suffix);
}

static const char *printed_tree(Arena *arena, const AstProgram *program) {
  Text text = {0};
  text_add(&text, "");
  ast_print(&text, program);
  const char *result = arena_strdup(arena, text.data);
  text_free(&text);
  return result;
}

/* ---- a text at hand ----------------------------------------------------------------------- */

typedef struct Parsed {
  Arena *arena;
  Diagnostics *diagnostics;
  AstProgram *program;
} Parsed;

static Parsed parse_bytes(const char *text, size_t length) {
  Parsed parsed = {.arena = arena_create()};
  parsed.diagnostics = diagnostics_create(parsed.arena);
  parsed.program = parse_program(parsed.arena, parsed.diagnostics,
                                 source_from_text(parsed.arena, "t.net", text, length));
  assert_non_null(parsed.program);
  return parsed;
}

static Parsed parse_text(const char *text) { return parse_bytes(text, strlen(text)); }

static void assert_span(Span span, int line, int column, int end_line, int end_column) {
  assert_int_equal(span.line, line);
  assert_int_equal(span.column, column);
  assert_int_equal(span.end_line, end_line);
  assert_int_equal(span.end_column, end_column);
}

/* ---- golden files ------------------------------------------------------------------------- */

static void programs_give_their_trees(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Paths paths = {0};
  add_folder(arena, &paths, "tests/syntax/ok");
  assert_true(paths.count >= 5);
  for (int i = 0; i < paths.count; i++) {
    Diagnostics *diagnostics = diagnostics_create(arena);
    AstProgram *program = parse_program(arena, diagnostics, read_source(arena, paths.items[i]));
    diagnostics_print(diagnostics, stderr, 0);
    assert_int_equal(diagnostics_error_count(diagnostics), 0);
    SourceFile *golden = read_source(arena, with_suffix(arena, paths.items[i], ".ast"));
    assert_string_equal(printed_tree(arena, program), golden->text);
  }
  arena_destroy(arena);
}

static void programs_get_their_layout(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Paths paths = {0};
  add_folder(arena, &paths, "tests/syntax/format");
  assert_true(paths.count >= 5);
  for (int i = 0; i < paths.count; i++) {
    Diagnostics *diagnostics = diagnostics_create(arena);
    char *text = format_program(arena, diagnostics, read_source(arena, paths.items[i]));
    assert_non_null(text);
    assert_string_equal(text,
                        read_source(arena, with_suffix(arena, paths.items[i], ".expected"))->text);
  }
  arena_destroy(arena);
}

/* Formats a text twice; NULL when it has errors. */
static const char *format_twice(Arena *arena, const SourceFile *file) {
  Diagnostics *diagnostics = diagnostics_create(arena);
  char *once = format_program(arena, diagnostics, file);
  if (!once) {
    assert_true(diagnostics_error_count(diagnostics) > 0);
    return NULL;
  }
  char *twice =
      format_program(arena, diagnostics, source_from_text(arena, file->name, once, strlen(once)));
  assert_non_null(twice);
  assert_string_equal(once, twice);
  return once;
}

static void formatting_keeps_the_tree_and_settles_at_once(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Paths paths = good_programs(arena);
  for (int i = 0; i < paths.count; i++) {
    SourceFile *file = read_source(arena, paths.items[i]);
    const char *formatted = format_twice(arena, file);
    assert_non_null(formatted);
    Diagnostics *diagnostics = diagnostics_create(arena);
    SourceFile *again = source_from_text(arena, file->name, formatted, strlen(formatted));
    assert_string_equal(printed_tree(arena, parse_program(arena, diagnostics, file)),
                        printed_tree(arena, parse_program(arena, diagnostics, again)));
  }
  arena_destroy(arena);
}

static void formatting_refuses_what_does_not_parse(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Diagnostics *diagnostics = diagnostics_create(arena);
  assert_null(format_program(arena, diagnostics, source_from_text(arena, "t.net", "x = ", 4)));
  assert_int_equal(diagnostics_error_count(diagnostics), 1);
  assert_string_equal(format_program(arena, diagnostics, source_from_text(arena, "t.net", "", 0)),
                      "");
  arena_destroy(arena);
}

/* ---- spans -------------------------------------------------------------------------------- */

static void spans_cover_what_they_name(void **state) {
  (void)state;
  Parsed p = parse_text("y = (a + b) * f(x,\n  k = 3)\nparam w : f32[2] = zeros\ns <- x[1:2].n\n");
  const AstStmt *assign = p.program->stmts.items[0];
  assert_span(assign->span, 1, 1, 2, 9);
  assert_span(assign->keyword, 1, 3, 1, 4);
  assert_span(assign->assignment.names.items[0].span, 1, 1, 1, 2);
  const AstExpr *product = assign->assignment.value;
  assert_span(product->span, 1, 5, 2, 9);
  assert_span(product->binary.op_span, 1, 13, 1, 14);
  assert_span(product->binary.left->span, 1, 6, 1, 11);
  const AstExpr *call = product->binary.right;
  assert_span(call->call.parentheses, 1, 16, 2, 9);
  assert_span(call->call.arguments.items[1].span, 2, 3, 2, 8);
  assert_span(call->call.arguments.items[1].name.span, 2, 3, 2, 4);
  const AstStmt *param = p.program->stmts.items[1];
  assert_span(param->keyword, 3, 1, 3, 6);
  assert_span(param->variable.type->span, 3, 11, 3, 17);
  assert_span(param->variable.type->element.span, 3, 11, 3, 14);
  const AstExpr *member = p.program->stmts.items[2]->assignment.value;
  assert_span(member->member.name.span, 4, 13, 4, 14);
  assert_span(member->member.object->index.brackets, 4, 7, 4, 12);
  assert_span(member->member.object->index.indices.items[0].span, 4, 8, 4, 11);
  arena_destroy(p.arena);
}

static void numbers_keep_their_text(void **state) {
  (void)state;
  Parsed p = parse_text("a = 1e-3\nb = 9223372036854775807\nc = 2.50 epochs\n");
  const AstExpr *a = p.program->stmts.items[0]->assignment.value;
  assert_int_equal(a->kind, AST_FLOAT);
  assert_string_equal(a->number.literal, "1e-3");
  assert_true(a->number.floating == 1e-3);
  const AstExpr *b = p.program->stmts.items[1]->assignment.value;
  assert_int_equal(b->kind, AST_INTEGER);
  assert_true(b->number.integer == INT64_MAX);
  const AstExpr *c = p.program->stmts.items[2]->assignment.value;
  assert_int_equal(c->kind, AST_QUANTITY);
  assert_string_equal(c->quantity.number->number.literal, "2.50");
  assert_string_equal(c->quantity.unit.text, "epochs");
  arena_destroy(p.arena);
}

static void an_expression_alone_parses(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Diagnostics *diagnostics = diagnostics_create(arena);
  const AstExpr *expr =
      parse_expression(arena, diagnostics, source_from_text(arena, "-D", "adam(lr = 1e-4)", 15));
  assert_non_null(expr);
  assert_int_equal(expr->kind, AST_CALL);
  assert_int_equal(diagnostics_error_count(diagnostics), 0);
  static const char *const wrong[] = {"", "1 +", "1 2", "x = 3", "a\nb = 1", "(", "@"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    SourceFile *file = source_from_text(arena, "-D", wrong[i], strlen(wrong[i]));
    assert_null(parse_expression(arena, diagnostics, file));
    assert_int_equal(diagnostics_error_count(diagnostics), i + 1);
  }
  arena_destroy(arena);
}

/* ---- errors ------------------------------------------------------------------------------- */

static void statements_after_an_error_are_read(void **state) {
  (void)state;
  Parsed p = parse_text("a = * 1\nb = 2\ndef f(x) {\n  c = * 3\n  d = 4\n  return d e\n}\ng = 7\n");
  assert_int_equal(diagnostics_error_count(p.diagnostics), 3);
  assert_string_equal(printed_tree(p.arena, p.program),
                      "(= (b) 2)\n(def f ((x))\n  (block\n    (= (d) 4)))\n(= (g) 7)\n");
  arena_destroy(p.arena);
}

/* `count` copies of `piece` between `before` and `after`. */
static Parsed parse_repeated(const char *before, const char *piece, int count, const char *after) {
  Text text = {0};
  text_add(&text, before);
  for (int i = 0; i < count; i++) text_add(&text, piece);
  text_add(&text, after);
  Parsed parsed = parse_bytes(text.data, text.length);
  text_free(&text);
  return parsed;
}

static void depth_is_bounded(void **state) {
  (void)state;
  static const struct {
    const char *before, *piece;
    int count;
    const char *after;
    int errors;
  } cases[] = {
      {"x = ", "(", 256, "", 1}, /* too few closers, not too deep */
      {"x = ", "(", 100000, "1", 1},
      {"", "if a {", 100000, "", 1},
      {"x = ", "-", 900, "1", 0},
      {"x = ", "-", 100000, "1", 1},
      {"x = 1", " + 1", 900, "", 0},
      {"x = 1", " + 1", 100000, "", 1},
      {"x = 1", " ^ 1", 100000, "", 1},
      {"x = a", ".b", 100000, "", 1},
      {"x = ", "a ? 1 : ", 100000, "2", 1},
      {"if a { }", " else if b { }", 900, "", 0},
      {"if a { }", " else if b { }", 100000, "", 1},
      {"", "]", 100000, "", 100},
      {"", "$", 100000, "", 100},
      {"x = ", "(1] ", 100000, "", 1001},
      {"x = a[", "..., ", 1000, "]", 999},
      {"", "x = * 1\n", 100000, "", 1001},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Parsed p = parse_repeated(cases[i].before, cases[i].piece, cases[i].count, cases[i].after);
    int errors = diagnostics_error_count(p.diagnostics);
    if (cases[i].count == 256) assert_in_range(errors, 1, 256);
    else if (cases[i].errors < 100) assert_int_equal(errors, cases[i].errors);
    else assert_in_range(errors, cases[i].errors, 1100);
    for (int j = 0; j < p.program->stmts.count; j++)
      assert_in_range(p.program->stmts.items[j]->depth, 1, AST_MAX_DEPTH);
    printed_tree(p.arena, p.program);
    arena_destroy(p.arena);
  }
}

static void size_is_bounded(void **state) {
  (void)state;
  size_t length = (16 << 20) + 1;
  char *text = malloc(length);
  assert_non_null(text);
  memset(text, ' ', length);
  Parsed p = parse_bytes(text, length);
  assert_int_equal(diagnostics_error_count(p.diagnostics), 1);
  arena_destroy(p.arena);
  p = parse_bytes(text, length - 1);
  assert_int_equal(diagnostics_error_count(p.diagnostics), 0);
  arena_destroy(p.arena);
  memset(text, '#', length - 1);
  p = parse_bytes(text, length - 1);
  assert_int_equal(diagnostics_error_count(p.diagnostics), 0);
  arena_destroy(p.arena);
  free(text);
}

/* ---- damaged programs --------------------------------------------------------------------- */

static size_t insert_word(char *text, size_t length, size_t capacity, uint64_t *seed) {
  static const char *const words[] = {
      "(",
      ")",
      "{",
      "}",
      "[",
      "]",
      "\"",
      "'",
      "<-",
      "//",
      "/*",
      "\n",
      ";",
      ",",
      "..",
      "...",
      "=",
      "**",
      "and ",
      "scan x in y {",
      " with a = 1",
      "\xff",
      "\xe2\x80\x9c",
      "0x",
      "5.",
      ".5",
      "#",
      "if ",
      "else ",
      "def f(x)",
      "params \"a\" {",
      "yield ",
      "?",
      ":",
      "|",
      "not ",
      "lambda ",
      "\r",
      "data ",
      "train {",
      "elif ",
      " # c\n",
      "  ",
  };
  const char *word = words[noise(seed) % (sizeof words / sizeof *words)];
  size_t size = strlen(word), at = noise(seed) % (length + 1);
  if (length + size > capacity) return length;
  memmove(text + at + size, text + at, length - at);
  memcpy(text + at, word, size);
  return length + size;
}

/* Nothing crashes; what still parses formats to something stable. */
static void damaged_programs_do_no_harm(void **state) {
  (void)state;
  enum { ROUNDS = 3000 };
  Arena *arena = arena_create();
  Paths paths = good_programs(arena);
  add_folder(arena, &paths, "tests/syntax/errors");
  uint64_t seed = 42;
  for (int round = 0; round < ROUNDS; round++) {
    Arena *scratch = arena_create();
    SourceFile *file = read_source(scratch, paths.items[noise(&seed) % (uint32_t)paths.count]);
    size_t capacity = file->length + 1000, length = file->length;
    char *text = arena_alloc(scratch, capacity);
    memcpy(text, file->text, length);
    if (noise(&seed) % 2) length = mutate(text, length, capacity, &seed);
    for (uint32_t i = noise(&seed) % 4; i > 0; i--)
      length = insert_word(text, length, capacity, &seed);
    Diagnostics *diagnostics = diagnostics_create(scratch);
    SourceFile *damaged = source_from_text(scratch, "damaged.net", text, length);
    printed_tree(scratch, parse_program(scratch, diagnostics, damaged));
    const char *formatted = format_twice(scratch, damaged);
    assert_int_equal(formatted == NULL, diagnostics_error_count(diagnostics) > 0);
    arena_destroy(scratch);
  }
  arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(programs_give_their_trees),
      cmocka_unit_test(programs_get_their_layout),
      cmocka_unit_test(formatting_keeps_the_tree_and_settles_at_once),
      cmocka_unit_test(formatting_refuses_what_does_not_parse),
      cmocka_unit_test(spans_cover_what_they_name),
      cmocka_unit_test(numbers_keep_their_text),
      cmocka_unit_test(an_expression_alone_parses),
      cmocka_unit_test(statements_after_an_error_are_read),
      cmocka_unit_test(depth_is_bounded),
      cmocka_unit_test(size_is_bounded),
      cmocka_unit_test(damaged_programs_do_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
