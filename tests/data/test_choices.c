/* Which examples a set has and how often training reads them: folds, parts with the same share of every class,
 * balanced and weighed sampling, windows of rows; and classes of texts that training has not seen. */
#include <math.h>

#include "data/loader.h"
#include "support.h"

enum { ROWS = 103, CLASSES = 4 };

static const int class_sizes[CLASSES] = {61, 30, 11, 1};

/* Rows "number,class,weight", the classes mixed. */
static void write_rows(void) {
  static char text[ROWS * 32];
  char *at = text;
  int left[CLASSES];
  memcpy(left, class_sizes, sizeof left);
  for (int row = 0, class = 0; row < ROWS; row++) {
    do class = (class * 3 + row + 1) % CLASSES;
    while (left[class] == 0 && (class = (class + 1) % CLASSES, left[class] == 0));
    left[class]--;
    at += sprintf(at, "%d,%c,%g\n", row, 'a' + class, row % 5 * 0.5);
  }
  write_text("rows.csv", text);
}

#define CSV SOURCE(csv, ARG("file", STR("rows.csv")), ARG("header", TRUTH(0)))
#define LINE(...)                                                                                  \
  PIPELINE(FIELDS("x", "label", "w"), CSV,                                                         \
           STAGE(categories, ARG("", NAME("label")), ARG("unknown", TRUTH(1))), __VA_ARGS__)
#define BY ARG("by", NAME("label"))
#define ENTRY_OF(batch)                                                                            \
  ENTRY(batch, INPUT("x", NNC_I32, batch), INPUT("label", NNC_I32, batch),                         \
        INPUT("w", NNC_F64, batch))

/* Adds the rows of a set to `seen`, and counts their classes; how many there are. */
static int64_t count_rows(const nnc_model *model, const char *set, nnc_fitted *fitted,
                          int seen[ROWS], int classes[CLASSES]) {
  nnc_entry entry = ENTRY_OF(1);
  nnc_data *data = open_well(model, set, &entry, fitted);
  int64_t count = nnc_data_examples(data);
  int32_t x, label, last = -1;
  double w;
  memset(classes, 0, CLASSES * sizeof *classes);
  for (int64_t i = 0; i < count; i++) {
    read_well(data, i, 1, (void *[]){&x, &label, &w});
    assert_true(x > last); /* in file order */
    last = x;
    seen[x]++;
    classes[label]++;
  }
  nnc_data_close(data);
  return count;
}

static void test_folds(void **state) {
  (void)state;
  write_rows();
  for (int is_by = 0; is_by < 2; is_by++) {
    int tested[ROWS] = {0}, of_first[ROWS] = {0};
    for (double k = 0; k < 7; k++) {
      nnc_call plain = STAGE(fold, ARG("number", NUM(k)), ARG("of", NUM(7)), ARG("seed", NUM(3)));
      nnc_call by = STAGE(fold, ARG("number", NUM(k)), ARG("of", NUM(7)), ARG("seed", NUM(3)), BY);
      nnc_model model =
          MODEL(1, SET("train", LINE(is_by ? by : plain)), SET("test", LINE(is_by ? by : plain)));
      nnc_fitted fitted = {0};
      int trained[ROWS] = {0}, part[ROWS] = {0}, of_train[CLASSES], of_test[CLASSES];
      int64_t count = count_rows(&model, "train", &fitted, trained, of_train);
      assert_int_equal(count_rows(&model, "test", &fitted, part, of_test), ROWS - count);
      for (int i = 0; i < ROWS; i++) {
        assert_int_equal(trained[i] + part[i], 1); /* the one or the other */
        tested[i] += part[i];
        if (k == 0) of_first[i] = part[i];
      }
      for (int c = 0; c < CLASSES && is_by; c++)
        assert_true(fabs(of_test[c] - class_sizes[c] / 7.0) <= 1);
      nnc_fitted_free(&fitted);
    }
    for (int i = 0; i < ROWS; i++) assert_int_equal(tested[i], 1);
    int together = 0;
    for (int i = 1; i < ROWS; i++) together += of_first[i] && of_first[i - 1];
    assert_true(together < 8); /* at random: 2 of 15 */
  }
}

static void test_parts_by_class(void **state) {
  (void)state;
  write_rows();
  nnc_model model =
      MODEL(1, SET("train", LINE(STAGE(split, ARG("from", NUM(0)), ARG("to", NUM(0.6)), BY))),
            SET("val", LINE(STAGE(split, ARG("from", NUM(0.6)), ARG("to", NUM(0.8)), BY))),
            SET("test", LINE(STAGE(split, ARG("from", NUM(0.8)), ARG("to", NUM(1)), BY))));
  static const char *const sets[] = {"train", "val", "test"};
  static const double shares[] = {0.6, 0.2, 0.2};
  int seen[ROWS] = {0}, classes[CLASSES];
  nnc_fitted fitted = {0};
  for (int s = 0; s < 3; s++) {
    int64_t count = count_rows(&model, sets[s], &fitted, seen, classes);
    assert_true(fabs((double)count - shares[s] * ROWS) <= 1);
    for (int c = 0; c < CLASSES; c++)
      assert_true(fabs(classes[c] - shares[s] * class_sizes[c]) <= 1);
  }
  for (int i = 0; i < ROWS; i++) assert_int_equal(seen[i], 1);
  nnc_fitted_free(&fitted);
}

/* The rows of a group are in one part, and all parts together are all rows. */
static void test_groups_stay_together(void **state) {
  (void)state;
  enum { COUNT = 200, GROUPS = 41, PARTS = 4 };
  char text[COUNT * 12], *at = text;
  for (int row = 0; row < COUNT; row++) at += sprintf(at, "%d,g%d\n", row, row * row % GROUPS);
  write_text("groups.csv", text);
#define GROUPED(stage_name, ...)                                                                   \
  PIPELINE(FIELDS("x", "g"), SOURCE(csv, ARG("file", STR("groups.csv")), ARG("header", TRUTH(0))), \
           STAGE(hash, ARG("", NAME("g")), ARG("buckets", NUM(1 << 30))),                          \
           STAGE(stage_name, __VA_ARGS__, ARG("group", NAME("g"))))
#define PART(from_part, to_part)                                                                   \
  GROUPED(split, ARG("from", NUM(from_part)), ARG("to", NUM(to_part)), ARG("seed", NUM(4)))
#define FOLD(k) GROUPED(fold, ARG("number", NUM(k)), ARG("of", NUM(PARTS)))
  const nnc_model models[] = {MODEL(1, SET("train", PART(0, 0.5)), SET("a", PART(0.5, 0.7)),
                                    SET("b", PART(0.7, 0.9)), SET("c", PART(0.9, 1))),
                              MODEL(1, SET("train", FOLD(0)), SET("a", FOLD(0)), SET("b", FOLD(1)),
                                    SET("c", FOLD(2)), SET("d", FOLD(3)))};
  static const double shares[2][5] = {{0.5, 0.2, 0.2, 0.1}, {0, 0.25, 0.25, 0.25, 0.25}};
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_I32, 1), INPUT("g", NNC_I32, 1));
  for (int m = 0; m < 2; m++) {
    int part_of[GROUPS] = {0}, seen[COUNT] = {0};
    nnc_fitted fitted = {0};
    for (int s = 0; s < models[m].data_set_count; s++) {
      nnc_data *data = open_well(&models[m], models[m].data_sets[s].name, &entry, &fitted);
      int64_t count = nnc_data_examples(data);
      double share = shares[m][s] > 0 ? shares[m][s] : 1 - 1.0 / PARTS;
      assert_true(fabs((double)count / COUNT - share) < 0.08); /* a group has up to 12 rows */
      for (int64_t i = 0; i < count && shares[m][s] > 0; i++) {
        int32_t x, g;
        read_well(data, i, 1, (void *[]){&x, &g});
        int *its = &part_of[x * x % GROUPS];
        if (*its == 0) *its = s + 1;
        assert_int_equal(*its, s + 1);
        seen[x]++;
      }
      nnc_data_close(data);
    }
    for (int i = 0; i < COUNT; i++) assert_int_equal(seen[i], 1);
    nnc_fitted_free(&fitted);
  }
}

/* How often each row and class is read in the epoch. */
static void count_epoch(nnc_loader *loader, int seen[ROWS], int classes[CLASSES], int32_t *order) {
  int32_t x[10], label[10];
  double w[10];
  int64_t done = 0;
  memset(seen, 0, ROWS * sizeof *seen);
  memset(classes, 0, CLASSES * sizeof *classes);
  for (int64_t b = 0; b < nnc_loader_batches(loader); b++) {
    nnc_batch batch = nnc_loader_next(loader, (void *[]){x, label, w});
    for (int64_t i = 0; i < batch.count; i++) {
      order[done++] = x[i];
      seen[x[i]]++;
      classes[label[i]]++;
    }
  }
  assert_int_equal(done, ROWS);
}

static nnc_loader *open_drawn(const nnc_data *data, int prefetch) {
  char message[NNC_MESSAGE];
  nnc_loader_options options = {
      .batch = 10, .tail = NNC_TAIL_KEEP, .shuffle = 1, .seed = 4, .prefetch = prefetch};
  nnc_loader *loader = nnc_loader_open(data, &options, message);
  if (!loader) fail_msg("%s", message);
  return loader;
}

static void test_sampling(void **state) {
  (void)state;
  write_rows();
  nnc_entry entry = ENTRY_OF(10);
  for (int is_weighed = 0; is_weighed < 2; is_weighed++) {
    nnc_call call = is_weighed ? STAGE(weigh, ARG("field", NAME("w")))
                               : STAGE(balance, ARG("field", NAME("label")));
    nnc_model model = MODEL(10, SET("train", LINE(call)));
    nnc_fitted fitted = {0};
    nnc_data *data = open_well(&model, "train", &entry, &fitted);
    nnc_loader *loader = open_drawn(data, 2);
    int seen[ROWS], classes[CLASSES], all[ROWS] = {0};
    static int32_t order[2][ROWS];
    double total = 0;
    for (int i = 0; i < ROWS; i++) total += i % 5 * 0.5;
    for (int epoch = 0; epoch < 40; epoch++) {
      count_epoch(loader, seen, classes, order[epoch % 2]);
      for (int c = 0; c < CLASSES && !is_weighed; c++)
        assert_true(fabs(classes[c] - ROWS / (double)CLASSES) <= 1);
      for (int i = 0; i < ROWS && is_weighed; i++)
        assert_true(fabs(seen[i] - i % 5 * 0.5 / total * ROWS) < 1);
      for (int i = 0; i < ROWS; i++) all[i] += seen[i];
    }
    assert_true(memcmp(order[0], order[1], sizeof *order) != 0);
    for (int i = 0; i < ROWS; i++)
      assert_true(is_weighed ? (all[i] > 0) == (i % 5 > 0) : all[i] > 0);
    /* The same again from the middle, without a thread. */
    nnc_loader *other = open_drawn(data, 0);
    int32_t x[10], y[10], label[10];
    double w[10];
    nnc_loader_seek(loader, 5, 3);
    nnc_loader_seek(other, 5, 3);
    nnc_loader_next(loader, (void *[]){x, label, w});
    nnc_loader_next(other, (void *[]){y, label, w});
    assert_memory_equal(x, y, sizeof x);
    nnc_loader_close(other);
    nnc_loader_close(loader);
    nnc_data_close(data);
    nnc_fitted_free(&fitted);
  }
}

static void test_wrong_choices(void **state) {
  (void)state;
  nnc_entry entry = ENTRY_OF(1);
  nnc_entry bare = ENTRY(1, INPUT("x", NNC_I32, 1));
  write_text("rows.csv", "0,a,1\n1,b,-1\n");
  nnc_model weighed = MODEL(1, SET("train", LINE(STAGE(weigh, ARG("field", NAME("w"))))));
  expect_failure(&weighed, "train", &entry,
                 "test.net:3:9: weigh(w): a weight is 0 or more, and row 1 has -1");
  write_text("rows.csv", "0,a,0\n1,b,0\n");
  expect_failure(&weighed, "train", &entry, "test.net:3:9: weigh(w): the sum of the weights is 0");
  nnc_model by = MODEL(1, SET("train", LINE(STAGE(fold, ARG("number", NUM(0)), BY))));
  expect_failure(&by, "train", &bare,
                 "test.net:3:9: fold needs the values of label, which no input takes here");
  nnc_model none =
      MODEL(1, SET("train", LINE(STAGE(fold, ARG("number", NUM(0)), ARG("of", NUM(9))))),
            SET("test", LINE(STAGE(fold, ARG("number", NUM(0)), ARG("of", NUM(9))))));
  nnc_fitted fitted = {0};
  nnc_data_close(open_well(&none, "train", &entry, &fitted));
  char message[NNC_MESSAGE];
  assert_null(nnc_data_open(&none, "test", &entry, directory(), &fitted, message));
  assert_string_equal(message, "test.net:3:9: fold(0, 9) of 2 rows has none");
  nnc_fitted_free(&fitted);
}

/* Remainders of FNV-1a as Python computes them. */
static void test_hash(void **state) {
  (void)state;
  write_text("rows.csv", "a,NA\nfoobar,Z\xc3\xbcrich\nx y,a\n");
  nnc_model model = MODEL(
      1, SET("train", PIPELINE(FIELDS("x"),
                               SOURCE(csv, ARG("file", STR("rows.csv")), ARG("header", TRUTH(0)),
                                      ARG("columns", LIST(LIST(NUM(0), NUM(1))))),
                               STAGE(hash, ARG("", NAME("x")), ARG("buckets", NUM(1000))))));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_I32, 1, 2));
  nnc_fitted fitted = {0};
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  int32_t x[6];
  read_well(data, 0, 3, (void *[]){x});
  static const int32_t expected[] = {996, 37, 968, 720, 988, 996};
  assert_memory_equal(x, expected, sizeof x);
  nnc_data_close(data);
  fitted.values[0].numbers[0] = 999;
  char message[NNC_MESSAGE];
  assert_null(nnc_data_open(&model, "train", &entry, directory(), &fitted, message));
  assert_string_equal(message,
                      "test.net:3:9: hash(x): the checkpoint is of a network with 999 buckets");
  nnc_fitted_free(&fitted);
}

static void test_unknown_categories(void **state) {
  (void)state;
  write_text("rows.csv", "b,1\na,2\nb,3\n");
  write_text("more.csv", "c,1\na,2\nNA,3\n");
#define KINDS(file, ...)                                                                           \
  PIPELINE(FIELDS("kind", "x"), SOURCE(csv, ARG("file", STR(file)), ARG("header", TRUTH(0))),      \
           __VA_ARGS__)
  nnc_model model = MODEL(1,
                          SET("train", KINDS("rows.csv", STAGE(categories, ARG("", NAME("kind")),
                                                               ARG("unknown", TRUTH(1))))),
                          SET("test", KINDS("more.csv", STAGE0(prefetch))));
  nnc_entry entry = ENTRY(1, INPUT("kind", NNC_I32, 1));
  nnc_fitted fitted = {0};
  int32_t kind[3];
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  read_well(data, 0, 3, (void *[]){kind});
  assert_true(kind[0] == 1 && kind[1] == 0 && kind[2] == 1);
  nnc_data_close(data);
  assert_int_equal(fitted.values[0].count, 3);
  assert_string_equal(fitted.values[0].strings[2], "<unk>");
  data = open_well(&model, "test", &entry, &fitted);
  read_well(data, 0, 3, (void *[]){kind});
  assert_true(kind[0] == 2 && kind[1] == 0 && kind[2] == 2);
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

/* ---- windows ---- */

enum { SERIES = 50, PAST = 4, FUTURE = 3 };

static double value_at(int row, int column) { return column ? row * row * 0.25 : 3.5 * row - 7; }

static void write_series(void) {
  char text[SERIES * 48], *at = text;
  for (int row = 0; row < SERIES; row++)
    at += row % 7 == 3 ? sprintf(at, "NA,%.17g\n", value_at(row, 1))
                       : sprintf(at, "%.17g,%.17g\n", value_at(row, 0), value_at(row, 1));
  write_text("rows.csv", text);
}

#define SERIES_LINE(...)                                                                           \
  PIPELINE(FIELDS("x", "y"),                                                                       \
           SOURCE(csv, ARG("file", STR("rows.csv")), ARG("header", TRUTH(0)),                      \
                  ARG("columns", LIST(LIST(NUM(0), NUM(1)), NUM(1)))),                             \
           STAGE(impute, ARG("", NAME("x")), ARG("with", NUM(0))),                                 \
           STAGE(standardize, ARG("", NAME("x"))), __VA_ARGS__)
#define WINDOW(step, begin, end)                                                                   \
  STAGE(window, ARG("past", NUM(PAST)), ARG("future", NUM(FUTURE)), ARG("stride", NUM(step)),      \
        ARG("from", NUM(begin)), ARG("to", NUM(end)))

/* Windows are the rows of the file, imputed and standardized by those of the training part alone. */
static void test_windows(void **state) {
  (void)state;
  write_series();
  const int ends[] = {0, 30, SERIES};
  for (int stride = 1; stride < 4; stride++) {
    nnc_model model = MODEL(1, SET("train", SERIES_LINE(WINDOW(stride, 0, 0.6))),
                            SET("test", SERIES_LINE(WINDOW(stride, 0.6, 1))));
    nnc_entry entry = ENTRY(1, INPUT("x", NNC_F64, 1, PAST, 2), INPUT("y", NNC_F32, 1, FUTURE));
    nnc_fitted fitted = {0};
    double mean[2] = {0}, square[2] = {0};
    for (int row = 0; row < ends[1]; row++)
      for (int c = 0; c < 2; c++) {
        double value = c == 0 && row % 7 == 3 ? 0 : value_at(row, c);
        mean[c] += value / ends[1];
        square[c] += value * value / ends[1];
      }
    for (int s = 0; s < 2; s++) {
      nnc_data *data = open_well(&model, s ? "test" : "train", &entry, &fitted);
      int64_t count = (ends[s + 1] - ends[s] - PAST - FUTURE) / stride + 1;
      assert_int_equal(nnc_data_examples(data), count);
      double x[3 * PAST * 2];
      float y[3 * FUTURE];
      for (int64_t i = 0; i + 3 <= count; i++) {
        read_well(data, i, 3, (void *[]){x, y});
        for (int b = 0; b < 3; b++) {
          int first = ends[s] + (int)(i + b) * stride;
          for (int k = 0; k < PAST * 2; k++) {
            int row = first + k / 2, c = k % 2;
            double value = c == 0 && row % 7 == 3 ? 0 : value_at(row, c);
            double score = (value - mean[c]) / sqrt(square[c] - mean[c] * mean[c]);
            assert_true(fabs(x[b * PAST * 2 + k] - score) < 1e-9);
          }
          for (int k = 0; k < FUTURE; k++)
            assert_true(y[b * FUTURE + k] == (float)value_at(first + PAST + k, 1));
        }
      }
      nnc_rows rows[2];
      assert_true(nnc_data_rows(data, rows));
      assert_ptr_equal(rows[1].values, (const char *)rows[1].held + PAST * sizeof(float));
      assert_true((const char *)rows[1].values +
                      ((count - 1) * stride + FUTURE) * (int64_t)sizeof(float) <=
                  (const char *)rows[1].held + rows[1].held_bytes);
      nnc_data_close(data);
    }
    nnc_fitted_free(&fitted);
  }
}

/* Without the future there is a window more for each of its rows: the last is followed by what is not known. */
static void test_windows_of_predictions(void **state) {
  (void)state;
  write_series();
  nnc_model model = MODEL(1, SET("train", SERIES_LINE(WINDOW(1, 0, 0.6))));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F64, 1, PAST, 2), INPUT("y", NNC_F32, 1, FUTURE));
  nnc_entry predict = ENTRY(1, INPUT("x", NNC_F64, 1, PAST, 2));
  nnc_fitted fitted = {0};
  char message[NNC_MESSAGE], path[256];
  nnc_data_close(open_well(&model, "train", &entry, &fitted));
  snprintf(path, sizeof path, "%s/rows.csv", directory());
  nnc_data *data = nnc_data_open_predict(
      &model, &predict, &(nnc_data_files){directory(), 1, (const char *[]){path}, NULL}, &fitted,
      message);
  if (!data) fail_msg("%s", message);
  assert_int_equal(nnc_data_examples(data), SERIES - PAST + 1);
  nnc_data_close(data);
  write_text("rows.csv", "1,2\n3,4\n5,6\n");
  assert_null(nnc_data_open_predict(&model, &predict,
                                    &(nnc_data_files){directory(), 1, (const char *[]){path}, NULL},
                                    &fitted, message));
  assert_string_equal(message, "test.net:3:9: 3 rows are too few for a window of 4");
  nnc_fitted_free(&fitted);
}

static void test_windows_of_arrays(void **state) {
  (void)state;
  unsigned char idx[12 + 2 * 9] = {0, 0, 8, 2, 0, 0, 0, 9, 0, 0, 0, 2};
  for (int i = 0; i < 18; i++) idx[12 + i] = (unsigned char)(10 + i);
  write_file("x", idx, sizeof idx);
  write_file("raw", idx + 12, 18);
  for (int is_raw = 0; is_raw < 2; is_raw++) {
    nnc_model model = MODEL(
        1, SET("train", PIPELINE(FIELDS("x"),
                                 is_raw ? SOURCE(raw, ARG("", STR("raw")), ARG("type", STR("u8")))
                                        : SOURCE(idx, ARG("", STR("x"))),
                                 STAGE(window, ARG("past", NUM(3)), ARG("stride", NUM(2))))));
    nnc_entry entry = ENTRY(1, INPUT("x", NNC_I32, 1, 3, 2));
    nnc_fitted fitted = {0};
    nnc_data *data = open_well(&model, "train", &entry, &fitted);
    assert_int_equal(nnc_data_examples(data), 4);
    int32_t x[4 * 6];
    read_well(data, 0, 4, (void *[]){x});
    for (int i = 0; i < 24; i++) assert_int_equal(x[i], 10 + i / 6 * 4 + i % 6);
    nnc_data_close(data);
    nnc_entry wrong = ENTRY(1, INPUT("x", NNC_I32, 1, 2, 2));
    if (!is_raw)
      expect_failure(&model, "train", &wrong,
                     "$/x: has u8[9, 2], but input x is i32[1, 2, 2], whose second axis is that of "
                     "the window's rows");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_folds),
      cmocka_unit_test(test_parts_by_class),
      cmocka_unit_test(test_groups_stay_together),
      cmocka_unit_test(test_sampling),
      cmocka_unit_test(test_wrong_choices),
      cmocka_unit_test(test_windows),
      cmocka_unit_test(test_windows_of_predictions),
      cmocka_unit_test(test_windows_of_arrays),
      cmocka_unit_test(test_hash),
      cmocka_unit_test(test_unknown_categories),
  };
  return cmocka_run_group_tests_name("choices", tests, enter, leave);
}
