/* Sources without rows of their own: numbers and constants beside files, whatever chooses and orders the rows. */
#include "support.h"

static void write_numbers(int count) {
  char text[1024] = "";
  for (int i = 0; i < count; i++) sprintf(text + strlen(text), "%d\n", 10 * i);
  write_text("x.csv", text);
}

#define X FIELDS("x")
#define CSV SOURCE(csv, ARG("file", STR("x.csv")), ARG("header", TRUTH(0)))
#define SOURCE0(name)                                                                              \
  ((nnc_call){.function = #name, .source = &nnc_source_##name, .line = 3, .column = 9})
#define NUMBERS PIPELINE(FIELDS("n"), SOURCE0(counter))
#define CONSTANT(value) PIPELINE(FIELDS("w"), SOURCE(constant, ARG("value", value)))
#define PART(from, to) STAGE(split, ARG("from", NUM(from)), ARG("to", NUM(to)))

enum { MOST = 16 };

typedef struct Read {
  int count;
  float x[MOST];
  int64_t n[MOST];
} Read;

static Read read_all(const nnc_model *model, const char *set) {
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F32, 1), INPUT("n", NNC_I64, 1));
  nnc_fitted fitted = {0};
  Read read = {0};
  nnc_data *data = open_well(model, set, &entry, &fitted);
  read.count = (int)nnc_data_examples(data);
  read_well(data, 0, read.count, (void *[]){read.x, read.n});
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
  return read;
}

static void test_numbers_in_file_order(void **state) {
  (void)state;
  write_numbers(9);
  nnc_model model = MODEL(1, SET("train", PIPELINE(X, CSV), NUMBERS));
  Read read = read_all(&model, "train");
  assert_int_equal(read.count, 9);
  for (int i = 0; i < 9; i++) {
    assert_int_equal(read.n[i], i);
    assert_true(read.x[i] == 10.0f * (float)i);
  }
}

/* The numbers of a part have no gaps and follow the file; an order of the rows moves them along. */
static void test_numbers_of_chosen_rows(void **state) {
  (void)state;
  write_numbers(9);
  nnc_model model = MODEL(3, SET("train", PIPELINE(X, CSV, PART(0.3, 1)), NUMBERS),
                          SET("mixed", PIPELINE(X, CSV, PART(0.3, 1), STAGE0(shuffle)), NUMBERS));
  Read plain = read_all(&model, "train"), mixed = read_all(&model, "mixed");
  int moved = 0;
  assert_int_equal(plain.count, 6);
  assert_int_equal(mixed.count, 6);
  for (int i = 0; i < 6; i++) {
    assert_int_equal(plain.n[i], i);
    assert_true(i == 0 || plain.x[i] > plain.x[i - 1]);
    assert_in_range(mixed.n[i], 0, 5);
    assert_true(mixed.x[i] == plain.x[mixed.n[i]]);
    moved += mixed.n[i] != i;
  }
  assert_true(moved > 0);
}

/* Windows are not moved together when some are chosen: there are gaps between the rows that are. */
static void test_numbers_of_windows_and_streams(void **state) {
  (void)state;
  write_text("t.txt", "abcdefghijklmnop");
#define TEXT                                                                                       \
  SOURCE(text, ARG("file", STR("t.txt")), ARG("length", NUM(2)), ARG("unit", STR("byte")))
  nnc_data_set whole = SET("train", PIPELINE(X, TEXT), NUMBERS);
  whole.order = NNC_ORDER_STREAMS;
  nnc_model model = MODEL(2, whole, SET("part", PIPELINE(X, TEXT, PART(0.5, 1)), NUMBERS));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_I32, 1, 2), INPUT("n", NNC_I32, 1));
  nnc_fitted fitted = {0};
  int32_t x[8][2], n[8];
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  read_well(data, 0, 8, (void *[]){x, n});
  for (int i = 0; i < 8; i++) { /* two lanes: 0 4 1 5 2 6 3 7 */
    assert_int_equal(n[i], i / 2 + 4 * (i % 2));
    assert_int_equal(x[i][0], 'a' + 2 * n[i]);
  }
  nnc_data_close(data);
  data = open_well(&model, "part", &entry, &fitted);
  assert_int_equal(nnc_data_examples(data), 4);
  read_well(data, 0, 4, (void *[]){x, n});
  for (int i = 0; i < 4; i++) {
    assert_int_equal(n[i], i);
    assert_true(i == 0 || x[i][0] > x[i - 1][0]);
  }
  double least, most;
  nnc_data_range(data, 1, INT64_MIN, &least, &most);
  assert_true(least == 0 && most == 3);
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

/* Against broadcasting by hand, in shuffled batches too. */
static void test_constants(void **state) {
  (void)state;
  write_numbers(5);
  nnc_value column = LIST(LIST(NUM(1)), LIST(NUM(-2.5))), row = LIST(NUM(3), NUM(4), NUM(5));
  nnc_value whole = LIST(LIST(NUM(1), NUM(2), NUM(3)), LIST(NUM(4), NUM(5), NUM(6)));
  struct {
    nnc_value value;
    float wanted[6];
  } cases[] = {{NUM(0.5), {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f}},
               {column, {1, 1, 1, -2.5f, -2.5f, -2.5f}},
               {row, {3, 4, 5, 3, 4, 5}},
               {whole, {1, 2, 3, 4, 5, 6}}};
  for (int c = 0; c < 4; c++) {
    nnc_model model = MODEL(2, SET("train", PIPELINE(X, CSV), CONSTANT(cases[c].value)));
    nnc_entry entry = ENTRY(2, INPUT("x", NNC_F32, 2), INPUT("w", NNC_F32, 2, 2, 3));
    nnc_fitted fitted = {0};
    char message[NNC_MESSAGE];
    float x[5], w[5][6];
    nnc_data *data = open_well(&model, "train", &entry, &fitted);
    read_well(data, 0, 5, (void *[]){x, w});
    for (int i = 0; i < 5; i++) assert_memory_equal(w[i], cases[c].wanted, sizeof w[i]);
    nnc_loader_options options = {.batch = 2, .shuffle = 1, .prefetch = 1};
    nnc_loader *loader = nnc_loader_open(data, &options, message);
    assert_non_null(loader);
    memset(w, 0, sizeof w);
    assert_int_equal(nnc_loader_next(loader, (void *[]){x, w}).count, 2);
    for (int i = 0; i < 2; i++) assert_memory_equal(w[i], cases[c].wanted, sizeof w[i]);
    nnc_loader_close(loader);
    nnc_data_close(data);
    nnc_fitted_free(&fitted);
  }
}

/* An input without an axis of examples has a constant for its whole value; alone, one example. */
static void test_constant_without_rows(void **state) {
  (void)state;
  nnc_model model = MODEL(1, SET("predict", CONSTANT(NUM(7))));
  nnc_entry entry = ENTRY(1, INPUT("w", NNC_U8, 3));
  entry.input_is_batched = (const unsigned char[]){0};
  nnc_fitted fitted = {0};
  char message[NNC_MESSAGE] = "";
  unsigned char w[3];
  nnc_data *data = nnc_data_open_predict(
      &model, &entry, &(nnc_data_files){directory(), 0, NULL, NULL}, &fitted, message);
  if (!data) fail_msg("%s", message);
  assert_int_equal(nnc_data_examples(data), 1);
  read_well(data, 0, 1, (void *[]){w});
  assert_true(w[0] == 7 && w[1] == 7 && w[2] == 7);
  nnc_data_close(data);
}

/* Beside a source that reads files, neither takes one from the command line. */
static void test_prediction(void **state) {
  (void)state;
  write_numbers(3);
  nnc_model model = MODEL(1, SET("test", NUMBERS, CONSTANT(NUM(2)), PIPELINE(X, CSV)));
  nnc_entry entry =
      ENTRY(1, INPUT("n", NNC_I64, 1), INPUT("w", NNC_F32, 1), INPUT("x", NNC_F32, 1));
  nnc_fitted fitted = {0};
  char message[NNC_MESSAGE] = "", text[64], path[256];
  assert_int_equal(nnc_data_predict_files(&model, &entry, text, sizeof text, message), 1);
  assert_string_equal(text, "x (csv)");
  snprintf(path, sizeof path, "%s/x.csv", directory());
  const char *files[] = {path};
  nnc_data *data = nnc_data_open_predict(&model, &entry, &(nnc_data_files){".", 1, files, NULL},
                                         &fitted, message);
  if (!data) fail_msg("%s", message);
  int64_t n[3];
  float w[3], x[3];
  assert_int_equal(nnc_data_examples(data), 3);
  read_well(data, 0, 3, (void *[]){n, w, x});
  for (int i = 0; i < 3; i++) assert_true(n[i] == i && w[i] == 2 && x[i] == 10.0f * (float)i);
  nnc_data_close(data);
}

static void test_mistakes(void **state) {
  (void)state;
  write_numbers(4);
  nnc_model model = MODEL(1, SET("train", PIPELINE(X, CSV), NUMBERS, CONSTANT(NUM(2.5))));
  nnc_entry floats = ENTRY(1, INPUT("x", NNC_F32, 1), INPUT("n", NNC_F32, 1));
  expect_failure(&model, "train", &floats,
                 "test.net:3:9: counter gives a number a row; the input n "
                 "must be i32[batch] or i64[batch]");
  nnc_entry alone = ENTRY(1, INPUT("n", NNC_I64, 1));
  expect_failure(&model, "train", &alone,
                 "n has the rows of other fields, but no input needs another field");
  nnc_entry whole = ENTRY(1, INPUT("x", NNC_F32, 1), INPUT("w", NNC_I32, 1));
  expect_failure(&model, "train", &whole, "test.net:3:9: 2.5 does not fit the input w of type i32");
  model = MODEL(1, SET("train", PIPELINE(X, CSV), CONSTANT(LIST(NUM(1), NUM(2)))));
  nnc_entry vector = ENTRY(1, INPUT("x", NNC_F32, 1), INPUT("w", NNC_F32, 1, 3));
  expect_failure(&model, "train", &vector,
                 "test.net:3:9: the constant does not fit the rows of the input w");
  /* What training says about a field goes for every set; a constant is final. */
  model = MODEL(
      1, SET("train", PIPELINE(FIELDS("x", "w"), CSV, STAGE(standardize, ARG("", NAME("w"))))),
      SET("test", PIPELINE(X, CSV), CONSTANT(NUM(1))));
  nnc_entry both = ENTRY(1, INPUT("x", NNC_F32, 1), INPUT("w", NNC_F32, 1));
  expect_failure(&model, "test", &both,
                 "test.net:3:9: standardize(w) acts on tables of numbers, which constant of data "
                 "test does not give");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers_in_file_order),
      cmocka_unit_test(test_numbers_of_chosen_rows),
      cmocka_unit_test(test_numbers_of_windows_and_streams),
      cmocka_unit_test(test_constants),
      cmocka_unit_test(test_constant_without_rows),
      cmocka_unit_test(test_prediction),
      cmocka_unit_test(test_mistakes),
  };
  return cmocka_run_group_tests(tests, enter, leave);
}
