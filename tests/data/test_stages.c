/* Stages: split and shuffle choose rows, standardize changes values, fitted values are kept and
 * reused; prediction files. */
#include <math.h>
#include <time.h>

#include "support.h"

enum { ROWS = 103 };

/* Row i is i, 1000 - i, 5. */
static void write_rows(const char *name, int rows) {
  char text[8192];
  size_t used = 0;
  for (int i = 0; i < rows; i++) used += (size_t)sprintf(text + used, "%d,%d,5\n", i, 1000 - i);
  write_file(name, text, used);
}

#define CSV(name) SOURCE(csv, ARG("file", STR(name)), ARG("header", TRUTH(0)))
#define SPLIT(from, to, seed)                                                                      \
  STAGE(split, ARG("from", NUM(from)), ARG("to", NUM(to)), ARG("seed", NUM(seed)))
#define ONE(set, ...) SET(set, PIPELINE(FIELDS("x"), CSV("t.csv"), __VA_ARGS__))

static void test_parts_are_disjoint_and_complete(void **state) {
  (void)state;
  write_rows("t.csv", ROWS);
  nnc_model model = MODEL(1, ONE("train", SPLIT(0, 0.67, 0)), ONE("val", SPLIT(0.67, 0.8, 0)),
                          ONE("test", SPLIT(0.8, 1, 0)), ONE("other", SPLIT(0, 0.67, 1)));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_I32, 1, 3));
  static const char *const sets[] = {"train", "val", "test"};
  nnc_fitted fitted = {0};
  int seen[ROWS] = {0}, total = 0;
  for (int s = 0; s < 3; s++) {
    nnc_data *data = open_well(&model, sets[s], &entry, &fitted);
    int32_t x[3], last = -1;
    for (int64_t i = 0; i < nnc_data_examples(data); i++, total++) {
      read_well(data, i, 1, (void *[]){x});
      assert_true(x[1] == 1000 - x[0] && x[0] > last); /* in file order */
      seen[last = x[0]]++;
    }
    nnc_data_close(data);
  }
  assert_int_equal(total, ROWS);
  for (int i = 0; i < ROWS; i++) assert_int_equal(seen[i], 1);
  nnc_data *first = open_well(&model, "train", &entry, &fitted);
  nnc_data *other = open_well(&model, "other", &entry, &fitted);
  static int32_t a[ROWS * 3], b[ROWS * 3];
  int64_t count = nnc_data_examples(first);
  assert_int_equal(count, 69); /* 0.67 * 103 = 69.01 */
  assert_int_equal(nnc_data_examples(other), count);
  read_well(first, 0, count, (void *[]){a});
  read_well(other, 0, count, (void *[]){b});
  assert_true(memcmp(a, b, (size_t)count * 12) != 0);
  nnc_data_close(first);
  nnc_data_close(other);
}

static void test_wrong_parts(void **state) {
  (void)state;
  write_rows("t.csv", 10);
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_I32, 1, 3));
  nnc_model empty = MODEL(1, ONE("train", SPLIT(0.5, 0.5, 0)));
  expect_failure(&empty, "train", &entry, "test.net:3:9: split(0.5, 0.5) of 10 rows has none");
  nnc_model percent = MODEL(1, ONE("train", SPLIT(0, 80, 0)));
  expect_failure(&percent, "train", &entry,
                 "test.net:3:9: to of split must be from 0 to 1, it is 80");
  nnc_model batch = MODEL(32, ONE("train", STAGE(batch, ARG("size", NUM(64)))));
  expect_failure(&batch, "train", &entry,
                 "test.net:3:9: batch(64), but the inputs have batches of 32");
}

static void test_shuffle_after_split(void **state) {
  (void)state;
  write_rows("t.csv", ROWS);
  nnc_model model =
      MODEL(1, ONE("train", SPLIT(0, 0.5, 0), STAGE(shuffle, ARG("seed", NUM(3)))),
            ONE("test", STAGE0(shuffle), SPLIT(0, 0.5, 0)), ONE("plain", SPLIT(0, 0.5, 0)));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_I32, 1, 3));
  nnc_fitted fitted = {0};
  static const char *const sets[] = {"train", "test", "plain"};
  int64_t sums[3] = {0};
  for (int s = 0; s < 3; s++) {
    nnc_data *data = open_well(&model, sets[s], &entry, &fitted);
    int32_t x[3], last = -1;
    int falls = 0;
    assert_int_equal(nnc_data_examples(data), 52);
    for (int64_t i = 0; i < 52; i++, last = x[0]) {
      read_well(data, i, 1, (void *[]){x});
      falls += x[0] < last;
      sums[s] += (int64_t)x[0] * x[0];
    }
    assert_true(s == 2 ? falls == 0 : falls > 10);
    nnc_data_close(data);
  }
  assert_true(sums[0] == sums[2]); /* the same rows */
  assert_true(sums[1] != sums[2]);
}

static void test_tables_must_have_the_same_rows(void **state) {
  (void)state;
  write_rows("t.csv", ROWS);
  write_rows("u.csv", ROWS);
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_I32, 1, 3), INPUT("y", NNC_I32, 1, 3));
  nnc_fitted fitted = {0};
  nnc_model same =
      MODEL(1, SET("train", PIPELINE(FIELDS("x"), CSV("t.csv"), STAGE0(shuffle), SPLIT(0, 0.5, 0)),
                   PIPELINE(FIELDS("y"), CSV("u.csv"), STAGE0(shuffle), SPLIT(0, 0.5, 0))));
  nnc_data *data = open_well(&same, "train", &entry, &fitted);
  int32_t x[3], y[3];
  for (int64_t i = 0; i < nnc_data_examples(data); i++) {
    read_well(data, i, 1, (void *[]){x, y});
    assert_memory_equal(x, y, sizeof x);
  }
  nnc_data_close(data);
  nnc_model one = MODEL(1, SET("train", PIPELINE(FIELDS("x"), CSV("t.csv"), STAGE0(shuffle)),
                               PIPELINE(FIELDS("y"), CSV("u.csv"), STAGE0(prefetch))));
  expect_failure(&one, "train", &entry, "x and y must go through the same stages that choose rows");
  nnc_model part = MODEL(1, SET("train", PIPELINE(FIELDS("x"), CSV("t.csv"), SPLIT(0, 0.5, 0)),
                                PIPELINE(FIELDS("y"), CSV("u.csv"), STAGE0(prefetch))));
  expect_failure(&part, "train", &entry,
                 "x and y must go through the same stages that choose rows");
}

static void test_standardize(void **state) {
  (void)state;
  write_rows("t.csv", 4);
  write_text("u.csv", "10,1000,7\n");
  nnc_model model = MODEL(
      1, ONE("train", STAGE(standardize, ARG("", NAME("x")))),
      SET("test", PIPELINE(FIELDS("x"), CSV("u.csv"), STAGE(standardize, ARG("", NAME("x"))))),
      SET("bare", PIPELINE(FIELDS("x"), CSV("u.csv"), STAGE0(prefetch))));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F32, 1, 3));
  nnc_fitted fitted = {0};
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  float x[12];
  read_well(data, 0, 4, (void *[]){x});
  double deviation = sqrt(1.25); /* of 0, 1, 2, 3 */
  for (int i = 0; i < 4; i++) {
    assert_true(x[3 * i] == (float)((i - 1.5) / deviation));
    assert_true(x[3 * i + 1] == (float)((1.5 - i) / deviation));
    assert_true(x[3 * i + 2] == 0);
  }
  nnc_data_close(data);
  assert_int_equal(fitted.count, 1);
  assert_string_equal(fitted.values[0].name, "x.standardize");
  assert_int_equal(fitted.values[0].count, 6);
  /* What was fitted applies to every set, written there again or not. */
  static const char *const sets[] = {"test", "bare"};
  for (int s = 0; s < 2; s++) {
    data = open_well(&model, sets[s], &entry, &fitted);
    read_well(data, 0, 1, (void *[]){x});
    assert_true(x[0] == (float)((10 - 1.5) / deviation));
    assert_true(x[1] == (float)((1000 - 998.5) / deviation));
    assert_true(x[2] == 0);
    nnc_data_close(data);
  }
  nnc_fitted_free(&fitted);
  nnc_entry whole = ENTRY(1, INPUT("x", NNC_I32, 1, 3));
  nnc_model named = MODEL(1, ONE("train", STAGE(standardize, ARG("", NAME("x")))));
  expect_failure(&named, "train", &whole,
                 "test.net:3:9: standardize(x): the input x is i32; standard "
                 "scores need a float type");
}

/* Fitting sees only the rows of the training part, wherever split stands. */
static void test_fits_on_the_training_part(void **state) {
  (void)state;
  write_rows("t.csv", ROWS);
  nnc_model model = MODEL(1, ONE("train", STAGE(standardize, ARG("", NAME("x"))), SPLIT(0, 0.5, 7)),
                          ONE("test", SPLIT(0.5, 1, 7)));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F64, 1, 3));
  nnc_fitted fitted = {0};
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  double sum = 0, squares = 0, x[3];
  int64_t count = nnc_data_examples(data);
  for (int64_t i = 0; i < count; i++) {
    read_well(data, i, 1, (void *[]){x});
    sum += x[0];
    squares += x[0] * x[0];
  }
  assert_true(fabs(sum) < 1e-12 && fabs(squares / (double)count - 1) < 1e-12);
  nnc_data_close(data);
  data = open_well(&model, "test", &entry, &fitted);
  read_well(data, 0, 1, (void *[]){x});
  double first = x[0] * fitted.values[0].numbers[3] + fitted.values[0].numbers[0];
  assert_true(fabs(first - nearbyint(first)) < 1e-9);
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

static void test_images_are_standardized_in_place(void **state) {
  (void)state;
  write_file("x", "\0\0\x08\2\0\0\0\2\0\0\0\2\1\12\3\12", 16);
  nnc_model model = MODEL(1, SET("train", PIPELINE(FIELDS("x"), SOURCE(idx, ARG("", STR("x"))),
                                                   STAGE(standardize, ARG("", NAME("x"))))));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F32, 1, 2));
  nnc_fitted fitted = {0};
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  float x[4];
  read_well(data, 0, 2, (void *[]){x});
  assert_true(x[0] == -1 && x[1] == 0 && x[2] == 1 && x[3] == 0);
  assert_int_equal(nnc_data_bytes(data), 16);
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

/* Sources that are one table: what each holds counts. */
static void test_bytes_of_joined_sources(void **state) {
  (void)state;
  write_file("x", "\0\0\x08\2\0\0\0\2\0\0\0\2\1\12\3\12", 16);
  write_file("z", "\0\0\x08\2\0\0\0\3\0\0\0\2\1\2\3\4\5\6", 18);
  nnc_model model =
      MODEL(1, SET("train", PIPELINE(FIELDS("x"), SOURCE(idx, ARG("", STR("x"))), STAGE0(concat)),
                   PIPELINE(FIELDS("x"), SOURCE(idx, ARG("", STR("z"))), STAGE0(concat))));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_U8, 1, 2));
  nnc_fitted fitted = {0};
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  unsigned char x[10];
  assert_int_equal(nnc_data_examples(data), 5);
  read_well(data, 0, 5, (void *[]){x});
  assert_memory_equal(x, "\1\12\3\12\1\2\3\4\5\6", 10);
  assert_int_equal(nnc_data_bytes(data), 10);
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

static nnc_data *predict(const nnc_model *model, const nnc_entry *entry, const nnc_fitted *fitted,
                         int count, const char *a, const char *b, char *message) {
  char paths[2][256];
  const char *files[2] = {paths[0], paths[1]};
  snprintf(paths[0], 256, "%s/%s", directory(), a ? a : "");
  snprintf(paths[1], 256, "%s/%s", directory(), b ? b : "");
  return nnc_data_open_predict(model, entry, &(nnc_data_files){directory(), count, files, NULL},
                               fitted, message);
}

static void test_predict(void **state) {
  (void)state;
  write_text("t.csv", "1,2,a\n3,4,b\n");
  write_text("whole.csv", "5,6,a\n");
  write_text("part.csv", "5,6\n7,8\n");
  write_text("wrong.csv", "5,6,7,8\n");
#define FLOWERS(set, ...) SET(set, PIPELINE(FIELDS("x", "kind"), CSV("t.csv"), __VA_ARGS__))
  nnc_model model = MODEL(1,
                          FLOWERS("train", SPLIT(0, 1, 0), STAGE(standardize, ARG("", NAME("x"))),
                                  STAGE(categories, ARG("", NAME("kind")))),
                          FLOWERS("test", SPLIT(0, 0.5, 0)));
  nnc_entry train = ENTRY(1, INPUT("x", NNC_F32, 1, 2), INPUT("kind", NNC_U8, 1));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F32, 1, 2));
  nnc_fitted fitted = {0};
  nnc_data_close(open_well(&model, "train", &train, &fitted));
  char message[NNC_MESSAGE], text[64];
  assert_int_equal(nnc_data_predict_files(&model, &entry, text, sizeof text, message), 1);
  assert_string_equal(text, "x (csv)");
  assert_int_equal(nnc_data_predict_files(&model, &train, text, sizeof text, message), 1);
  assert_string_equal(text, "x (csv) and kind (csv)");
  float x[4];
  nnc_data *data = predict(&model, &entry, &fitted, 1, "whole.csv", NULL, message);
  assert_non_null(data);
  read_well(data, 0, 1, (void *[]){x});
  assert_true(x[0] == 3 && x[1] == 3);
  nnc_data_close(data);
  data = predict(&model, &entry, &fitted, 1, "part.csv", NULL, message);
  assert_non_null(data);
  assert_int_equal(nnc_data_examples(data), 2); /* the test set's split is left out */
  nnc_data_close(data);
  assert_null(predict(&model, &entry, &fitted, 1, "wrong.csv", NULL, message));
  assert_non_null(strstr(message, "wrong.csv has 4 columns; predict takes 2 (x), or 3 (x, kind)"));
  assert_null(predict(&model, &entry, &fitted, 0, NULL, NULL, message));
  assert_string_equal(message, "predict needs 1 file: x (csv); 0 given");
  assert_null(predict(&model, &entry, &fitted, 1, "none.csv", NULL, message));
  assert_non_null(strstr(message, "none.csv: No such file or directory"));
  nnc_fitted_free(&fitted);
}

static void test_predict_of_standard_input(void **state) {
  (void)state;
  nnc_model model = MODEL(1, ONE("train", STAGE0(prefetch)));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_I32, 1, 3));
  nnc_fitted none = {0};
  char message[NNC_MESSAGE], path[256];
  write_text("u.csv", "7,8,9\n");
  snprintf(path, sizeof path, "%s/u.csv", directory());
  FILE *input = freopen(path, "r", stdin);
  assert_non_null(input);
  nnc_data *data = nnc_data_open_predict(
      &model, &entry, &(nnc_data_files){directory(), 1, (const char *[]){"-"}, NULL}, &none,
      message);
  assert_non_null(data);
  int32_t x[3];
  read_well(data, 0, 1, (void *[]){x});
  assert_true(x[0] == 7 && x[2] == 9);
  nnc_data_close(data);
  assert_null(nnc_data_open_predict(&model, &entry,
                                    &(nnc_data_files){directory(), 1, (const char *[]){"-"}, NULL},
                                    &none, message));
  assert_string_equal(message, "standard input: is empty");
}

static void test_predict_of_two_files(void **state) {
  (void)state;
  write_file("a", "\0\0\x08\1\0\0\0\2\1\2", 10);
  write_file("b", "\0\0\x08\1\0\0\0\2\3\4", 10);
  nnc_model model =
      MODEL(1, SET("train",
                   PIPELINE(FIELDS("x", "y", "z"),
                            SOURCE(idx, ARG("", STR("t")), ARG("", STR("t")), ARG("", STR("t"))))));
  nnc_entry entry = ENTRY(1, INPUT("z", NNC_I32, 1), INPUT("x", NNC_U8, 1));
  nnc_fitted none = {0};
  char message[NNC_MESSAGE], text[64];
  assert_int_equal(nnc_data_predict_files(&model, &entry, text, sizeof text, message), 2);
  assert_string_equal(text, "x (idx), z (idx)");
  nnc_data *data = predict(&model, &entry, &none, 2, "a", "b", message);
  assert_non_null(data);
  int32_t z[2];
  unsigned char x[2];
  read_well(data, 0, 2, (void *[]){z, x});
  assert_true(z[0] == 3 && z[1] == 4 && x[0] == 1 && x[1] == 2);
  nnc_data_close(data);
}

/* A field of many text columns has as many values: finding one takes no look at all of them. */
static void test_many_fitted_values(void **state) {
  (void)state;
  enum { VALUES = 60000 };
  nnc_fitted fitted = {0};
  char name[32];
  clock_t start = clock();
  for (int round = 0; round < 2; round++) /* the second replaces those of the first */
    for (double i = 0; i < VALUES; i++) {
      snprintf(name, sizeof name, "x.categories.%d", (int)i);
      double number = i + round;
      assert_int_equal(nnc_fitted_add_numbers(&fitted, name, 1, &number), 0);
    }
  assert_int_equal(fitted.count, VALUES);
  for (int i = 0; i < VALUES; i++) {
    snprintf(name, sizeof name, "x.categories.%d", i);
    assert_string_equal(fitted.values[i].name, name);
    assert_true(nnc_fitted_find(&fitted, name)->numbers[0] == i + 1);
  }
  assert_null(nnc_fitted_find(&fitted, "x.categories"));
  assert_true(clock() - start < 15 * CLOCKS_PER_SEC);
  nnc_fitted_free(&fitted);
  assert_null(nnc_fitted_find(&fitted, "x.categories.0"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_many_fitted_values),
      cmocka_unit_test(test_parts_are_disjoint_and_complete),
      cmocka_unit_test(test_wrong_parts),
      cmocka_unit_test(test_shuffle_after_split),
      cmocka_unit_test(test_tables_must_have_the_same_rows),
      cmocka_unit_test(test_standardize),
      cmocka_unit_test(test_fits_on_the_training_part),
      cmocka_unit_test(test_bytes_of_joined_sources),
      cmocka_unit_test(test_images_are_standardized_in_place),
      cmocka_unit_test(test_predict),
      cmocka_unit_test(test_predict_of_standard_input),
      cmocka_unit_test(test_predict_of_two_files),
  };
  return cmocka_run_group_tests_name("stages", tests, enter, leave);
}
