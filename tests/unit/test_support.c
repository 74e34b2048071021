/* Arenas, vectors, texts, names, sources, diagnostics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "support/diagnostics.h"
#include "support/embedded.h"
#include "support/integers.h"
#include "support/names.h"
#include "support/sha256.h"
#include "support/table.h"
#include "support/text.h"
#include "support/vec.h"

/* ---- arenas and vectors ------------------------------------------------------------------- */

static void arena_memory_is_zeroed_aligned_and_apart(void **state) {
  (void)state;
  Arena *arena = arena_create();
  char *last = NULL;
  for (size_t size = 0; size < 3000; size += 7) {
    char *memory = arena_alloc(arena, size);
    assert_int_equal((uintptr_t)memory % _Alignof(max_align_t), 0);
    for (size_t i = 0; i < size; i++) assert_int_equal(memory[i], 0);
    memset(memory, 0xab, size);
    if (last) assert_true(last == memory || last[0] == (char)0xab);
    last = size ? memory : NULL;
  }
  arena_destroy(arena);
}

static void arena_gives_large_pieces_their_own_chunk(void **state) {
  (void)state;
  Arena *arena = arena_create();
  char *small = arena_strdup(arena, "kept");
  char *large = arena_alloc(arena, 10 << 20);
  large[(10 << 20) - 1] = 1;
  char *next = arena_strdup(arena, "also");
  assert_string_equal(small, "kept");
  assert_in_range((uintptr_t)(next - small), 1, 64); /* the first chunk is still in use */
  arena_destroy(arena);
  arena_destroy(NULL);
}

/* A limit of memory makes nnc try hundreds of plans, each in an arena of its own. */
static void arenas_take_what_others_freed(void **state) {
  (void)state;
  enum { ROUNDS = 100, PIECES = 8, BYTES = 900 << 10, PAGE = 4096 };
  struct rusage before, after;
  if (mallopt(M_TOP_PAD, 1 << 20) != 1) skip(); /* a sanitizer's malloc */
  getrusage(RUSAGE_SELF, &before);
  for (int round = 0; round < ROUNDS; round++) {
    Arena *arena = arena_create();
    for (int i = 0; i < PIECES; i++) memset(arena_alloc(arena, BYTES), 1, BYTES);
    arena_destroy(arena);
  }
  getrusage(RUSAGE_SELF, &after);
  long pages = PIECES * (BYTES / PAGE); /* of one round */
  assert_true(after.ru_minflt - before.ru_minflt < 10 * pages);
}

/* Sizes that end chunks in all sorts of places; the second arena gets what the first one wrote over. */
static void arenas_clear_what_others_used(void **state) {
  (void)state;
  enum { BYTES = 9 << 20, LARGEST = 100000 };
  static char zeros[LARGEST];
  for (int round = 0; round < 3; round++) {
    Arena *arena = arena_create();
    char *before = NULL;
    size_t size = 1, length = 0;
    for (size_t sum = 0; sum < BYTES; sum += size) {
      size = (size * 7 + 13) % LARGEST;
      char *memory = arena_alloc(arena, size);
      assert_int_equal((uintptr_t)memory % _Alignof(max_align_t), 0);
      assert_memory_equal(memory, zeros, size);
      memset(memory, 0xa5, size);
      if (length > 0) assert_int_equal(before[length - 1], (char)0xa5);
      before = memory, length = size;
    }
    arena_destroy(arena);
  }
}

static void arena_formats_and_copies(void **state) {
  (void)state;
  Arena *arena = arena_create();
  assert_string_equal(arena_printf(arena, "%s-%d", "a", 42), "a-42");
  assert_string_equal(arena_strndup(arena, "abcdef", 3), "abc");
  assert_string_equal(arena_strndup(arena, NULL, 0), "");
  assert_memory_equal(arena_copy(arena, "xyz", 3), "xyz", 3);
  arena_destroy(arena);
}

static void vectors_keep_their_items(void **state) {
  (void)state;
  Arena *arena = arena_create();
  VEC(int) numbers = {0};
  for (int i = 0; i < 1000; i++) vec_push(arena, &numbers, i * i);
  assert_int_equal(numbers.count, 1000);
  for (int i = 0; i < 1000; i++) assert_int_equal(numbers.items[i], i * i);
  arena_destroy(arena);
}

/* ---- names -------------------------------------------------------------------------------- */

static void equal_names_are_one_pointer(void **state) {
  (void)state;
  const char *first = name_intern("some_name");
  for (int i = 0; i < 5000; i++) name_printf("name_%d", i); /* the table grows */
  char copy[] = "some_name_and_more";
  assert_ptr_equal(name_intern_bytes(copy, 9), first);
  assert_ptr_equal(name_printf("name_%d", 17), name_intern("name_17"));
  static char lengthy[300];
  for (size_t length = 0; length < sizeof lengthy; length++) {
    assert_ptr_equal(name_join(lengthy, "w"), name_printf("%s.w", lengthy));
    lengthy[length] = length + 1 < sizeof lengthy ? (char)('a' + length % 26) : '\0';
  }
  assert_ptr_not_equal(name_intern("a"), name_intern("b"));
  assert_string_equal(name_intern(""), "");
}

static void distances_count_slips(void **state) {
  (void)state;
  static const struct {
    const char *a, *b;
    int distance;
  } cases[] = {
      {"", "", 0},        {"relu", "relu", 0},      {"relux", "relu", 1}, {"rleu", "relu", 1},
      {"softmax", "", 7}, {"kitten", "sitting", 3}, {"abc", "acb", 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(name_distance(cases[i].a, cases[i].b), cases[i].distance);
    assert_int_equal(name_distance(cases[i].b, cases[i].a), cases[i].distance);
  }
}

static void nearest_is_a_likely_slip_or_none(void **state) {
  (void)state;
  static const char *const known[] = {"relu", "relu6", "linear", "softmax", "x"};
  assert_string_equal(name_nearest("relux", known, 5), "relu");
  assert_string_equal(name_nearest("sofmtax", known, 5), "softmax");
  assert_string_equal(name_nearest("linaer", known, 5), "linear");
  assert_null(name_nearest("conv2d", known, 5));
  assert_null(name_nearest("y", known, 5));
  assert_null(name_nearest("relu", known, 0));
  /* What the name begins is nearer than two letters less, but not than one. */
  const char *begun[] = {"size", "resize_nearest", "resize_linear", "median", "median_filter"};
  assert_string_equal(name_nearest("resize", begun, 5), "resize_linear");
  assert_string_equal(name_nearest("media", begun, 5), "median");
  assert_string_equal(name_nearest("sizes", begun, 5), "size");
  assert_null(name_nearest("res", begun, 5));
}

/* ---- texts -------------------------------------------------------------------------------- */

static void assert_text(Text *text, const char *expected) {
  assert_string_equal(text->data, expected);
  assert_int_equal(text->length, strlen(expected));
  text_free(text);
}

static void doubles_are_short_and_exact(void **state) {
  (void)state;
  static const struct {
    double value;
    const char *text;
  } cases[] = {
      {0.1, "0.1"},      {1e-8, "1e-08"},
      {2, "2.0"},        {-0.0, "-0.0"},
      {1e300, "1e+300"}, {1.0 / 3, "0.3333333333333333"},
      {INFINITY, "inf"}, {-INFINITY, "-inf"},
      {NAN, "nan"},      {123456789, "123456789.0"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Text text = {0};
    text_add_double(&text, cases[i].value);
    assert_text(&text, cases[i].text);
  }
  uint64_t seed = 1;
  for (int i = 0; i < 1000; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    double value;
    memcpy(&value, &seed, sizeof value);
    if (!isfinite(value)) continue;
    Text text = {0};
    text_add_double(&text, value);
    assert_true(strtod(text.data, NULL) == value);
    text_free(&text);
  }
}

static void sizes_are_readable(void **state) {
  (void)state;
  Text text = {0};
  text_add_grouped(&text, 1234567);
  text_add(&text, " ");
  text_add_grouped(&text, -999);
  text_add(&text, " ");
  text_add_grouped(&text, INT64_MIN);
  assert_text(&text, "1,234,567 -999 -9,223,372,036,854,775,808");
  static const double sizes[] = {0, 1, 1023, 1024, 3145728, 1024.0 * 1024 - 1, 5e12};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    if (i) text_add(&text, ", ");
    text_add_bytes_size(&text, sizes[i]);
  }
  assert_text(&text, "0 bytes, 1 byte, 1023 bytes, 1.0 KiB, 3.0 MiB, 1.0 MiB, 4.5 TiB");
}

static void texts_grow_pad_and_quote(void **state) {
  (void)state;
  Text text = {0};
  for (int i = 0; i < 100; i++) text_printf(&text, "%d,", i);
  assert_int_equal(text.length, 290);
  text_free(&text);
  text_pad(&text, '-', 3);
  text_pad(&text, '-', -1);
  text_add_char(&text, '>');
  text_add_quoted(&text, "a\"b\\c\n\t\x01");
  assert_text(&text, "--->\"a\\\"b\\\\c\\n\\t\\u0001\"");
}

/* ---- sources ------------------------------------------------------------------------------ */

static void lines_are_found_without_their_ends(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const char *text = "one\r\ntwo\n\nfour";
  SourceFile *file = source_from_text(arena, "f", text, strlen(text));
  static const char *const lines[] = {"", "one", "two", "", "four", ""};
  for (int i = 0; i < 6; i++) {
    size_t length;
    const char *line = source_line(file, i, &length);
    assert_int_equal(length, strlen(lines[i]));
    assert_memory_equal(line, lines[i], length);
  }
  SourceFile unread = {.name = "dump"};
  size_t length;
  source_line(&unread, 1, &length);
  assert_int_equal(length, 0);
  arena_destroy(arena);
}

static void failures_to_read_are_told(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const char *reason = NULL;
  assert_null(source_read(arena, "/nonexistent/file.net", &reason));
  assert_string_equal(reason, "No such file or directory");
  assert_null(source_read(arena, "/", &reason));
  assert_string_equal(reason, "is a directory");
  SourceFile *file = source_read(arena, "/dev/null", &reason);
  assert_non_null(file);
  assert_int_equal(file->length, 0);
  assert_string_equal(file->text, "");
  arena_destroy(arena);
}

static void characters_are_utf8_or_bytes(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t length;
  } cases[] = {
      {"a", 1},    {"\xc3\xa4", 2}, {"\xe2\x82\xac", 3}, {"\xf0\x9f\x98\x80", 4}, {"\xc3", 1},
      {"\xa4", 1}, {"\xe2\x82", 1}, {"\xff", 1},         {"\xc0\x80", 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *text = cases[i].text;
    assert_int_equal(source_char_length(text, text + strlen(text)), cases[i].length);
  }
}

static void spans_join(void **state) {
  (void)state;
  SourceFile file = {.name = "f"};
  Span first = {&file, 1, 2, 1, 5}, last = {&file, 3, 1, 3, 4}, none = {0};
  Span both = span_join(first, last);
  assert_int_equal(both.line, 1);
  assert_int_equal(both.column, 2);
  assert_int_equal(both.end_line, 3);
  assert_int_equal(both.end_column, 4);
  assert_int_equal(span_join(none, last).line, 3);
  assert_int_equal(span_join(first, none).end_column, 5);
}

/* ---- diagnostics -------------------------------------------------------------------------- */

static void assert_printed(const Diagnostics *diagnostics, int colour, const char *expected) {
  char *printed = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&printed, &size);
  assert_non_null(stream);
  diagnostics_print(diagnostics, stream, colour);
  assert_int_equal(fclose(stream), 0);
  assert_string_equal(printed, expected);
  free(printed);
}

typedef struct Setting {
  Arena *arena;
  SourceFile *file;
  Diagnostics *diagnostics;
} Setting;

static Setting setting(const char *text) {
  Setting s = {.arena = arena_create()};
  s.file = source_from_text(s.arena, "m.net", text, strlen(text));
  s.diagnostics = diagnostics_create(s.arena);
  return s;
}

static void a_message_shows_line_caret_notes_and_helps(void **state) {
  (void)state;
  Setting s = setting("x = 1\nh1 = relux(x)\n");
  Diagnostic *d =
      diag_error(s.diagnostics, (Span){s.file, 2, 6, 2, 11}, "unknown name '%s'", "relux");
  diag_note(d, (Span){s.file, 1, 1, 1, 2}, "in the call of '%s'", "f");
  diag_note(d, (Span){0}, "without a place");
  diag_help(d, "did you mean '%s'?", "relu");
  assert_printed(s.diagnostics, 0,
                 "m.net:2:6: error: unknown name 'relux'\n"
                 "    2 | h1 = relux(x)\n"
                 "      |      ^~~~~\n"
                 "m.net:1:1: note: in the call of 'f'\n"
                 "    1 | x = 1\n"
                 "      | ^\n"
                 "  note: without a place\n"
                 "  help: did you mean 'relu'?\n");
  arena_destroy(s.arena);
}

static void carets_follow_tabs_and_utf8(void **state) {
  (void)state;
  Setting s = setting("\tx\t= \xc3\xa4\xe2\x82\xac!\n");
  diag_warning(s.diagnostics, (Span){s.file, 1, 8, 1, 9}, "here");
  assert_printed(s.diagnostics, 0,
                 "m.net:1:8: warning: here\n"
                 "    1 |         x       = \xc3\xa4\xe2\x82\xac!\n"
                 "      |                     ^\n");
  assert_int_equal(diagnostics_warning_count(s.diagnostics), 1);
  assert_int_equal(diagnostics_error_count(s.diagnostics), 0);
  arena_destroy(s.arena);
}

static void spans_over_lines_end_with_the_first(void **state) {
  (void)state;
  Setting s = setting("y = f(a,\n  b)\r\n");
  diag_error(s.diagnostics, (Span){s.file, 1, 5, 2, 5}, "a call");
  diag_error(s.diagnostics, (Span){s.file, 2, 5, 2, 5}, "at the end of the line");
  assert_printed(s.diagnostics, 0,
                 "m.net:1:5: error: a call\n"
                 "    1 | y = f(a,\n"
                 "      |     ^~~~\n"
                 "m.net:2:5: error: at the end of the line\n"
                 "    2 |   b)\n"
                 "      |     ^\n");
  arena_destroy(s.arena);
}

static void long_lines_are_cut_around_the_caret(void **state) {
  (void)state;
  char line[1001];
  memset(line, 'x', 1000);
  line[500] = 'Y';
  line[1000] = 0;
  Setting s = setting(line);
  diag_error(s.diagnostics, (Span){s.file, 1, 501, 1, 1001}, "here");
  char *printed = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&printed, &size);
  diagnostics_print(s.diagnostics, stream, 0);
  fclose(stream);
  char *source = strstr(printed, "\n    1 | ...") + 1, *marks = strchr(source, '\n') + 1;
  assert_int_equal(marks - source, 8 + 3 + 160 + 3 + 1);
  assert_int_equal(strchr(marks, '^') - marks, strchr(source, 'Y') - source);
  assert_int_equal(strlen(marks), 8 + 3 + 160 + 1);
  free(printed);
  arena_destroy(s.arena);
}

static void the_same_message_is_recorded_once(void **state) {
  (void)state;
  Setting s = setting("x\n");
  for (int i = 0; i < 200; i++) {
    Diagnostic *d = diag_error(s.diagnostics, (Span){s.file, 1, 1, 1, 2}, "again");
    assert_non_null(d);
    diag_help(d, "help");
  }
  assert_int_equal(diagnostics_error_count(s.diagnostics), 1);
  assert_printed(s.diagnostics, 0, "m.net:1:1: error: again\n    1 | x\n      | ^\n  help: help\n");
  arena_destroy(s.arena);
}

static void many_errors_are_counted(void **state) {
  (void)state;
  Setting s = setting("");
  for (int i = 0; i < DIAGNOSTICS_LIMIT + 2; i++) diag_error(s.diagnostics, (Span){0}, "%d", i);
  char *printed = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&printed, &size);
  diagnostics_print(s.diagnostics, stream, 0);
  fclose(stream);
  assert_int_equal(strncmp(printed, "nnc: error: 0\n", 14), 0);
  assert_non_null(strstr(printed, "nnc: error: 19\nand 2 more errors\n"));
  assert_null(strstr(printed, "error: 20"));
  free(printed);
  arena_destroy(s.arena);
}

static void colour_only_when_asked(void **state) {
  (void)state;
  Setting s = setting("x\n");
  diag_error(s.diagnostics, (Span){s.file, 1, 1, 1, 2}, "m");
  assert_printed(s.diagnostics, 1,
                 "\033[1mm.net:1:1:\033[0m \033[1;31merror:\033[0m m\n"
                 "    1 | x\n      | \033[1;31m^\033[0m\n");
  arena_destroy(s.arena);
}

static void what_cannot_be_printed_is_masked(void **state) {
  (void)state;
  Setting s = setting("a\x1b[31m\xff b\n");
  diag_error(s.diagnostics, (Span){s.file, 1, 9, 1, 10}, "m");
  assert_printed(s.diagnostics, 0, "m.net:1:9: error: m\n    1 | a?[31m? b\n      |         ^\n");
  arena_destroy(s.arena);
}

/* ---- embedded files ----------------------------------------------------------------------- */

static void embedded_files_are_found_by_name(void **state) {
  (void)state;
  assert_null(embedded_find("no such file"));
  for (int i = 0; i < embedded_file_count; i++) {
    assert_ptr_equal(embedded_find(embedded_files[i].name), &embedded_files[i]);
    assert_int_equal(embedded_files[i].text[embedded_files[i].length], 0);
  }
}

/* ---- SHA-256: the examples of FIPS 180-4 and of NIST's test vectors
 * --------------------------- */

static void check_digest(const char *text, int times, const char *expected) {
  Sha256 hash;
  unsigned char digest[SHA256_BYTES];
  char hex[SHA256_HEX + 1];
  sha256_begin(&hash);
  for (int i = 0; i < times; i++) sha256_add(&hash, text, strlen(text));
  sha256_end(&hash, digest);
  sha256_hex(digest, hex);
  assert_string_equal(hex, expected);
}

static void sha256_is_that_of_the_standard(void **state) {
  (void)state;
  check_digest("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  check_digest("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  check_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  check_digest("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
               "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
               1, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  check_digest("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void sha256_does_not_depend_on_the_pieces(void **state) {
  (void)state;
  char text[200];
  for (int i = 0; i < 200; i++) text[i] = (char)(i * 7);
  for (size_t length = 0; length <= 200; length++) {
    unsigned char whole[SHA256_BYTES], pieces[SHA256_BYTES];
    Sha256 hash;
    sha256_begin(&hash);
    sha256_add(&hash, text, length);
    sha256_end(&hash, whole);
    sha256_begin(&hash);
    for (size_t at = 0, size = 1; at < length; at += size, size = size * 3 % 71 + 1) {
      if (size > length - at) size = length - at;
      sha256_add(&hash, text + at, size);
    }
    sha256_end(&hash, pieces);
    assert_memory_equal(whole, pieces, SHA256_BYTES);
  }
}

/* ---- integers, tables ---- */

static void divisions_round_down_or_up(void **state) {
  (void)state;
  for (int64_t a = -20; a <= 20; a++)
    for (int64_t b = -7; b <= 7; b++) {
      if (b == 0) continue;
      assert_int_equal(floor_div(a, b), (int64_t)floor((double)a / (double)b));
      assert_int_equal(floor_mod(a, b), a - b * (int64_t)floor((double)a / (double)b));
      if (a < 0 || b < 0) continue;
      assert_int_equal(divide_up(a, b), (int64_t)ceil((double)a / (double)b));
      assert_true(align_up(a, b) >= a && align_up(a, b) < a + b && align_up(a, b) % b == 0);
    }
  assert_int_equal(align_up(65, 64), 128);
  assert_int_equal(extent_product((int64_t[]){2, 3, 5}, 3), 30);
  assert_int_equal(extent_product(NULL, 0), 1);
}

static void tables_keep_the_first_value(void **state) {
  (void)state;
  enum { MANY = 1000 };
  static const char keys[2 * MANY];
  Arena *arena = arena_create();
  PointerTable table = {0};
  assert_int_equal(table_find(&table, keys), -1);
  for (int i = 0; i < MANY; i++) assert_true(table_add(arena, &table, keys + 2 * i, i));
  for (int i = 0; i < MANY; i++) assert_false(table_add(arena, &table, keys + 2 * i, -7));
  for (int i = 0; i < MANY; i++) assert_int_equal(table_find(&table, keys + 2 * i), i);
  for (int i = 0; i < MANY; i++) assert_int_equal(table_find(&table, keys + 2 * i + 1), -1);
  arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      /* First: the C library keeps more by itself once it got a large piece back. */
      cmocka_unit_test(arenas_take_what_others_freed),
      cmocka_unit_test(divisions_round_down_or_up),
      cmocka_unit_test(tables_keep_the_first_value),
      cmocka_unit_test(arena_memory_is_zeroed_aligned_and_apart),
      cmocka_unit_test(arena_gives_large_pieces_their_own_chunk),
      cmocka_unit_test(arenas_clear_what_others_used),
      cmocka_unit_test(arena_formats_and_copies),
      cmocka_unit_test(vectors_keep_their_items),
      cmocka_unit_test(equal_names_are_one_pointer),
      cmocka_unit_test(distances_count_slips),
      cmocka_unit_test(nearest_is_a_likely_slip_or_none),
      cmocka_unit_test(doubles_are_short_and_exact),
      cmocka_unit_test(sizes_are_readable),
      cmocka_unit_test(texts_grow_pad_and_quote),
      cmocka_unit_test(lines_are_found_without_their_ends),
      cmocka_unit_test(failures_to_read_are_told),
      cmocka_unit_test(characters_are_utf8_or_bytes),
      cmocka_unit_test(spans_join),
      cmocka_unit_test(a_message_shows_line_caret_notes_and_helps),
      cmocka_unit_test(carets_follow_tabs_and_utf8),
      cmocka_unit_test(spans_over_lines_end_with_the_first),
      cmocka_unit_test(long_lines_are_cut_around_the_caret),
      cmocka_unit_test(the_same_message_is_recorded_once),
      cmocka_unit_test(many_errors_are_counted),
      cmocka_unit_test(colour_only_when_asked),
      cmocka_unit_test(what_cannot_be_printed_is_masked),
      cmocka_unit_test(sha256_is_that_of_the_standard),
      cmocka_unit_test(sha256_does_not_depend_on_the_pieces),
      cmocka_unit_test(embedded_files_are_found_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
