/* Files written and read by other programs: NumPy arrays, a table of Python's csv writer, and the
 * real data sets, compared value by value or by check sums of all values (golden/, see
 * make_goldens.py).
 *
 * Environment: GOLDEN the directory of the goldens; DATA that of the real data sets, "" to skip
 * them. */

#include <zlib.h>

#include "support.h"

static nnc_fitted fitted;

static FILE *open_golden(const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", getenv("GOLDEN"), name);
  FILE *file = fopen(path, "r");
  if (!file) fail_msg("cannot open %s", path);
  return file;
}

static nnc_data *open_in(const char *where, const nnc_model *model, const nnc_entry *entry) {
  char message[NNC_MESSAGE] = "";
  nnc_data *data = nnc_data_open(model, "train", entry, where, &fitted, message);
  if (!data) fail_msg("%s", message);
  return data;
}

#define NPY(file) MODEL(1, SET("train", PIPELINE(FIELDS("x"), SOURCE(npy, ARG("", STR(file))))))

static void test_numpy_files(void **state) {
  (void)state;
  FILE *list = open_golden("npy.txt");
  char name[64], file[80];
  int rank, files = 0;
  for (; fscanf(list, "%63s %d", name, &rank) == 2; files++) {
    nnc_tensor tensor = {"x", NNC_F64, rank, {1}, 0};
    int64_t rows = 0, width = 1;
    for (int i = 0; i < rank; i++) {
      assert_int_equal(fscanf(list, "%ld", i ? &tensor.dim[i] : &rows), 1);
      if (i) width *= tensor.dim[i];
    }
    snprintf(file, sizeof file, "%s.npy", name);
    nnc_model model = NPY(file);
    nnc_entry entry = {.batch = 1,
                       .input_count = 1,
                       .inputs = &tensor,
                       .input_is_batched = (const unsigned char[]){1}};
    nnc_data *data = open_in(getenv("GOLDEN"), &model, &entry);
    assert_int_equal(nnc_data_examples(data), rows);
    double *values = calloc((size_t)(rows * width), sizeof *values);
    read_well(data, 0, rows, (void *[]){values});
    for (int64_t i = 0; i < rows * width; i++) {
      double expected;
      assert_int_equal(fscanf(list, "%lf", &expected), 1);
      if (values[i] != expected)
        fail_msg("%s: value %ld is %.17g, expected %.17g", name, (long)i, values[i], expected);
    }
    free(values);
    nnc_data_close(data);
  }
  assert_int_equal(files, 38);
  fclose(list);
}

static void test_table_of_python(void **state) {
  (void)state;
  nnc_model model =
      MODEL(1, SET("train", PIPELINE(FIELDS("x", "word"),
                                     SOURCE(csv, ARG("file", STR("table.csv")),
                                            ARG("columns", LIST(LIST(STR("a"), STR("b"), STR("n")),
                                                                STR("the word")))),
                                     STAGE(categories, ARG("", NAME("word"))))));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F64, 1, 3), INPUT("word", NNC_U8, 1));
  nnc_data *data = open_in(getenv("GOLDEN"), &model, &entry);
  FILE *list = open_golden("table.txt");
  assert_int_equal(nnc_data_examples(data), 200);
  for (int i = 0; i < 200; i++) {
    double x[3], expected[3];
    unsigned char word;
    int class;
    read_well(data, i, 1, (void *[]){x, &word});
    assert_int_equal(fscanf(list, "%lf %lf %lf %d", expected, expected + 1, expected + 2, &class),
                     4);
    assert_memory_equal(x, expected, sizeof x);
    assert_int_equal(word, class);
  }
  fclose(list);
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

/* The line of real.txt that starts with `name`. */
static void expect_sum(const char *name, int64_t count, const void *bytes, size_t size) {
  FILE *list = open_golden("real.txt");
  char found[64];
  long expected_count;
  unsigned long expected = 0, sum = crc32(0, bytes, (unsigned)size);
  while (fscanf(list, "%63s %ld %lu", found, &expected_count, &expected) == 3)
    if (strcmp(found, name) == 0) {
      fclose(list);
      assert_int_equal(count, expected_count);
      assert_int_equal(sum, expected);
      return;
    }
  fail_msg("%s is not in real.txt", name);
}

static void read_mnist(const char *part) {
  char images[64], labels[64], path[512];
  snprintf(images, sizeof images, "%s-images-idx3-ubyte", part);
  snprintf(labels, sizeof labels, "%s-labels-idx1-ubyte", part);
  snprintf(path, sizeof path, "%s/mnist", getenv("DATA"));
  nnc_model model =
      MODEL(1, SET("train", PIPELINE(FIELDS("image", "label"),
                                     SOURCE(idx, ARG("", STR(images)), ARG("", STR(labels))))));
  nnc_entry entry = ENTRY(1, INPUT("label", NNC_U8, 1), INPUT("image", NNC_U8, 1, 28, 28));
  nnc_data *data = open_in(path, &model, &entry);
  int64_t rows = nnc_data_examples(data);
  unsigned char *label = malloc((size_t)rows), *image = malloc((size_t)rows * 784);
  read_well(data, 0, rows, (void *[]){label, image});
  snprintf(images, sizeof images, "%s-images-idx3", part);
  snprintf(labels, sizeof labels, "%s-labels-idx1", part);
  expect_sum(images, rows, image, (size_t)rows * 784);
  expect_sum(labels, rows, label, (size_t)rows);
  double least, most;
  nnc_data_range(data, 0, INT64_MIN, &least, &most);
  assert_true(least == 0 && most == 9);
  free(label);
  free(image);
  nnc_data_close(data);
}

static void test_mnist(void **state) {
  (void)state;
  if (!*getenv("DATA")) skip();
  read_mnist("train");
  read_mnist("t10k");
}

static void read_table(const char *name, const nnc_model *model, int64_t width) {
  char path[512], classes[64];
  snprintf(path, sizeof path, "%s/%s", getenv("DATA"),
           strcmp(name, "iris") ? "tabular-regression" : "iris");
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F64, 1, width), INPUT("class", NNC_I32, 1));
  nnc_data *data = open_in(path, model, &entry);
  int64_t rows = nnc_data_examples(data);
  double *x = malloc((size_t)(rows * width) * sizeof *x);
  int32_t *class = malloc((size_t)rows * sizeof *class);
  read_well(data, 0, rows, (void *[]){x, class});
  expect_sum(name, rows, x, (size_t)(rows * width) * sizeof *x);
  snprintf(classes, sizeof classes, "%s-classes", name);
  expect_sum(classes, nnc_fitted_class_names(&fitted, "class")->count, class,
             (size_t)rows * sizeof *class);
  free(x);
  free(class);
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

#define CLASSES STAGE(categories, ARG("", NAME("class")))

static void test_tables(void **state) {
  (void)state;
  if (!*getenv("DATA")) skip();
  nnc_model iris = MODEL(
      1, SET("train", PIPELINE(FIELDS("x", "class"),
                               SOURCE(csv, ARG("file", STR("iris.csv")), ARG("header", TRUTH(0))),
                               CLASSES)));
  read_table("iris", &iris, 4);
  nnc_model abalone = MODEL(
      1, SET("train",
             PIPELINE(FIELDS("class", "x"),
                      SOURCE(csv, ARG("file", STR("abalone.csv")), ARG("header", TRUTH(0)),
                             ARG("columns", LIST(NUM(0), LIST(NUM(1), NUM(2), NUM(3), NUM(4),
                                                              NUM(5), NUM(6), NUM(7), NUM(-1))))),
                      CLASSES)));
  read_table("abalone", &abalone, 8);
  nnc_model housing = MODEL(
      1, SET("train",
             PIPELINE(FIELDS("x", "class"), SOURCE(csv, ARG("file", STR("california-housing.csv"))),
                      STAGE(impute, ARG("", NAME("x")), ARG("with", STR("median"))), CLASSES)));
  read_table("housing", &housing, 9);
}

int main(void) {
  if (!getenv("GOLDEN") || !getenv("DATA")) return 2;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numpy_files),
      cmocka_unit_test(test_table_of_python),
      cmocka_unit_test(test_mnist),
      cmocka_unit_test(test_tables),
  };
  return cmocka_run_group_tests_name("golden", tests, NULL, NULL);
}
