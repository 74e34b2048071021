/* Emitted C made readable: long lines are broken, loops around one statement have no brackets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "backend/common/code.h"

/* What lies between round brackets becomes one line. */
static void check_joined(const char *lines, const char *expected) {
  Text text = {0};
  text_add(&text, lines);
  code_wrap(&text);
  assert_string_equal(text.data, expected);
  text_free(&text);
}

/* `begin` with so many characters of filler after it, then `end`. */
static void check_wrap(const char *begin, int filler, const char *end, const char *expected) {
  Text text = {0};
  text_add(&text, begin);
  text_pad(&text, 'x', filler);
  text_add(&text, end);
  code_wrap(&text);
  const char *broken = strchr(text.data, '\n');
  assert_non_null(broken);
  assert_string_equal(broken + 1, expected);
  text_free(&text);
}

static void test_long_lines_are_broken(void **state) {
  (void)state;
  check_joined("  f(a,\n      g(b),\n    c);\nh();\n", "  f(a, g(b), c);\nh();\n");
  check_joined("if (a &&\n    b)\n  f(\n    c);\n", "if (a && b)\n  f(c);\n");
  check_joined("  {1,\n   2},\n", "  {1,\n   2},\n"); /* tables keep their lines */
  check_joined("f(a,\n/* why */\n  b);\n", "f(a,\n/* why */\n  b);\n");
  check_joined("f(\"(\",\n  '(');\ng();\n", "f(\"(\", '(');\ng();\n");
  check_wrap("  f(", 80, ", first, second, third);\n", "      third);\n");
  check_wrap("  y = g(a, b) + ", 70, " * h(c, dddddd, eeeeeee);\n",
             "      * h(c, dddddd, eeeeeee);\n");
  check_wrap("f(", 120, ", a);\n", "    a);\n");
  check_wrap("  {\"", 70, ", first, second, third, fourth\", 1},\n", "      \"fourth\", 1},\n");
  check_wrap("f(\"", 100, "\"); /* why */ g(); /* a\n", "    /* why */ g(); /* a\n");
  check_wrap("f(", 90, ");\ng(a, b);\n", "g(a, b);\n");
  check_wrap("#define a(b, c) ", 120, ", c\n", "");
  check_wrap("/* a, ", 120, ", b */\n", "");
  check_wrap("/* a\n * b, ", 120, ", c */\n",
             " * b, " /* and so on */
             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
             ", c */\n");
  check_wrap("void ", 80, "(int aaaaaaaaaaaaaaaaaaaaaaaa, int b)\n",
             "    int aaaaaaaaaaaaaaaaaaaaaaaa, int b)\n");
  /* a bracket in a literal is none */
  check_wrap("    .file = \"/a(1)", 100, "/x.net\", .source = source,\n",
             "        .source = source,\n");
  /* what goes on within brackets is not indented once more; what follows a whole row is no rest of it */
  check_wrap("  {a,\n      ", 90, ", b, c};\n",
             "      xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, b,\n      c};\n");
  check_wrap("  {1},\n  {", 90, ", b, ccccccc},\n",
             "  {xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, b,\n      ccccccc},\n");
}

static void check_tidy(const char *before, const char *expected) {
  Text text = {0};
  text_add(&text, before);
  code_tidy(&text);
  assert_string_equal(text.data, expected);
  text_free(&text);
}

static void test_loops_around_one_statement(void **state) {
  (void)state;
  check_tidy("  for (;;) {\n    f(a);\n  }\n", "  for (;;) f(a);\n");
  check_tidy("for (i) {\n  NNC_ROLLED for (j) {\n    f(a);\n  }\n}\ng();\n",
             "for (i)\n  NNC_ROLLED for (j) f(a);\ng();\n");
  check_tidy("for (i) {\n  for (j) {\n    f(a);\n    g(a);\n  }\n}\n",
             "for (i)\n  for (j) {\n    f(a);\n    g(a);\n  }\n");
  /* a declaration, a choice, two statements and heads of several lines keep theirs */
  static const char *const kept[] = {
      "for (i) {\n  const int t = 1;\n}\n",
      "for (i) {\n  if (a) continue;\n}\n",
      "for (i) {\n  f(a);\n  g(a);\n}\n",
      "for (i) {\n  for (j; a;\n       b) {\n    f(a);\n    g(a);\n  }\n}\n",
      "for (i) {\n  f(a,\n    b);\n}\n",
      "if (a) {\n  f(a);\n}\n"};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) check_tidy(kept[i], kept[i]);
}

/* Comments of each length: no line is too long, and none has the end of the comment alone. */
static void test_comments_end_after_words(void **state) {
  (void)state;
  enum { WIDTH = 100, MOST = 250 };
  Arena *arena = arena_create();
  for (int length = 1; length < MOST; length++) {
    char words[MOST + 1];
    for (int i = 0; i < length; i++) words[i] = i % 7 == 6 && i + 1 < length ? ' ' : 'x';
    words[length] = 0;
    Text text = {0};
    Code code = {.arena = arena, .out = &text};
    code_comment(&code, "%s", words);
    assert_null(strstr(text.data, " *  */"));
    for (const char *line = text.data; *line; line += strcspn(line, "\n") + 1)
      assert_true(strcspn(line, "\n") <= WIDTH);
    text_free(&text);
  }
  arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_long_lines_are_broken),
      cmocka_unit_test(test_loops_around_one_statement),
      cmocka_unit_test(test_comments_end_after_words),
  };
  return cmocka_run_group_tests_name("code", tests, NULL, NULL);
}
