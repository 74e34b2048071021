/* Text tables: values, columns, categories, missing values, and messages with line and column. */
#include <time.h>

#include "support.h"

#define FILE_ARG ARG("file", STR("t.csv"))
#define TABLE(fields, ...) SET("train", PIPELINE(fields, SOURCE(csv, FILE_ARG, __VA_ARGS__)))
#define NO_HEADER ARG("header", TRUTH(0))

static nnc_fitted fitted;

static void expect_doubles(nnc_data *data, int64_t count, const double *expected) {
  double values[64];
  int64_t rows = nnc_data_examples(data);
  assert_true(rows > 0 && count % rows == 0 && count <= 64);
  read_well(data, 0, rows, (void *[]){values});
  for (int64_t i = 0; i < count; i++)
    if (values[i] != expected[i])
      fail_msg("value %lld is %.17g, expected %.17g", (long long)i, values[i], expected[i]);
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}
#define EXPECT(data, ...)                                                                          \
  expect_doubles(data, COUNT(double, __VA_ARGS__), (const double[]){__VA_ARGS__})

static void test_numbers(void **state) {
  (void)state;
  write_text("t.csv", "x\n1\n-2.5\n+.5\n5.\n1e3\n1.7976931348623157e308\n-1E-3\n"
                      "0.1\n123456789012345678901234567890\n4.9e-324\n0.30000000000000004\n"
                      "9007199254740993\n0.000000000000000000000000001\n");
  nnc_model model = MODEL(1, TABLE(FIELDS("x"), ARG("header", TRUTH(1))));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F64, 1));
  EXPECT(open_well(&model, "train", &entry, &fitted), 1, -2.5, .5, 5, 1000, 1.7976931348623157e308,
         -1e-3, 0.1, 123456789012345678901234567890.0, 4.9e-324, 0.30000000000000004,
         9007199254740992.0, 1e-27);
}

static void test_no_numbers(void **state) {
  (void)state;
  static const char categories[] = "text needs the stage categories(x)";
  static const char comma[] = "numbers have a decimal point, and no commas between thousands";
  static const char *const wrong[][2] = {
      {"1 2", categories},
      {"0x10", categories},
      {"1e", categories},
      {"e5", categories},
      {"--1", categories},
      {"1.2.3", categories},
      {"inf", categories},
      {"1,", categories},
      {"+", categories},
      {"1f", categories},
      {"1_0", categories},
      {"1,x5", categories},
      {"1,5", comma},
      {"-1,234,567.5", comma},
      {"nan", "if the value is missing, say missing = [\"nan\"] and impute(x)"},
      {"N/A", "if the value is missing, say missing = [\"N/A\"] and impute(x)"},
      {".", "if the value is missing, say missing = [\".\"] and impute(x)"}};
  nnc_model model = MODEL(1, TABLE(FIELDS("x"), NO_HEADER, ARG("separator", STR(";"))));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F64, 1));
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char text[64], message[256];
    snprintf(text, sizeof text, "1\n  %s\n", wrong[i][0]);
    write_text("t.csv", text);
    snprintf(message, sizeof message, "$/t.csv:2:3: expected a number, found '%s'; %s", wrong[i][0],
             wrong[i][1]);
    expect_failure(&model, "train", &entry, message);
  }
}

/* Finding names takes time by their number, not by its square, which would be minutes here. */
static void test_many_columns_by_name(void **state) {
  (void)state;
  enum { COLUMNS = 60000, LENGTH = 8 };
  char *text = malloc(2 * COLUMNS * LENGTH), *end = text;
  char(*names)[LENGTH] = malloc(COLUMNS * LENGTH);
  nnc_value *items = malloc(COLUMNS * sizeof *items);
  float *values = malloc(COLUMNS * sizeof *values);
  assert_true(text && names && items && values);
  for (int i = 0; i < COLUMNS; i++) end += sprintf(end, "c%05d%c", i, i + 1 < COLUMNS ? ',' : '\n');
  for (int i = 0; i < COLUMNS; i++) end += sprintf(end, "%d%c", i, i + 1 < COLUMNS ? ',' : '\n');
  write_text("t.csv", text);
  for (int i = 0; i < COLUMNS; i++) {
    snprintf(names[i], LENGTH, "c%05d", (int)(i * 7919L % COLUMNS));
    items[i] = STR(names[i]);
  }
  nnc_value list = {.kind = NNC_LIST, .count = COLUMNS, .items = items};
  nnc_model model = MODEL(1, TABLE(FIELDS("x"), ARG("columns", LIST(list))));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F32, 1, COLUMNS));
  clock_t start = clock();
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  assert_true(clock() - start < 10 * CLOCKS_PER_SEC);
  read_well(data, 0, 1, (void *[]){values});
  for (int i = 0; i < COLUMNS; i++) assert_true(values[i] == (float)(i * 7919L % COLUMNS));
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
  free(text);
  free(names);
  free(items);
  free(values);
}

static void test_columns_of_one_name(void **state) {
  (void)state;
  write_text("t.csv", "a,b,c,b,a,b\n1,2,3,4,5,6\n");
  nnc_model model = MODEL(1, TABLE(FIELDS("x"), ARG("columns", LIST(STR("b")))));
  nnc_model only = MODEL(1, TABLE(FIELDS("x"), ARG("columns", LIST(STR("c")))));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F64, 1));
  expect_failure(&model, "train", &entry,
                 "test.net:3:9: $/t.csv has two columns \"b\", number 1 and 3");
  EXPECT(open_well(&only, "train", &entry, &fitted), 3);
}

static void test_quotes_and_line_ends(void **state) {
  (void)state;
  write_text("t.csv", "\xef\xbb\xbf"
                      "a, \"b\"\"c\" ,\"d\ne\"\r\n\r\n 1 ,\"2\",3\r4,5\t,\"6\"");
  nnc_model model =
      MODEL(1, TABLE(FIELDS("x"), ARG("columns", LIST(LIST(STR("d\ne"), STR("b\"c"), STR("a"))))));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F64, 1, 3));
  EXPECT(open_well(&model, "train", &entry, &fitted), 3, 2, 1, 6, 5, 4);
}

static void test_columns(void **state) {
  (void)state;
  write_text("t.csv", "a;b;c;d\n1;2;3;4\n5;6;7;8\n");
  nnc_entry one = ENTRY(1, INPUT("x", NNC_F64, 1)), two = ENTRY(1, INPUT("x", NNC_F64, 1, 2));
  nnc_entry three = ENTRY(1, INPUT("x", NNC_F64, 1, 3)),
            square = ENTRY(1, INPUT("x", NNC_F64, 1, 2, 2));
#define COLUMNS(...)                                                                               \
  MODEL(1, TABLE(FIELDS("x"), ARG("separator", STR(";")), ARG("columns", LIST(__VA_ARGS__))))
  nnc_model by_name = COLUMNS(STR("c"));
  EXPECT(open_well(&by_name, "train", &one, &fitted), 3, 7);
  nnc_model negative = COLUMNS(NUM(-1));
  EXPECT(open_well(&negative, "train", &one, &fitted), 4, 8);
  nnc_model mixed = COLUMNS(LIST(NUM(1), STR("d")));
  EXPECT(open_well(&mixed, "train", &two, &fitted), 2, 4, 6, 8);
  nnc_model range = COLUMNS(LIST(LIST(NUM(0), NUM(1)), LIST(NUM(2), NUM(3))));
  EXPECT(open_well(&range, "train", &square, &fitted), 1, 2, 3, 4, 5, 6, 7, 8);
  nnc_model rest = MODEL(1, TABLE(FIELDS("x", "y"), ARG("separator", STR(";"))));
  EXPECT(open_well(&rest, "train", &three, &fitted), 1, 2, 3, 5, 6, 7);
  nnc_entry last = ENTRY(1, INPUT("y", NNC_F64, 1));
  EXPECT(open_well(&rest, "train", &last, &fitted), 4, 8);
  nnc_model unknown = COLUMNS(STR("e"));
  expect_failure(&unknown, "train", &one,
                 "test.net:3:9: $/t.csv has no column \"e\"; did you mean \"a\"?");
  nnc_model beyond = COLUMNS(NUM(4));
  expect_failure(&beyond, "train", &one,
                 "test.net:3:9: $/t.csv has 4 columns, so there is no column 4");
  expect_failure(&rest, "train", &two,
                 "$/t.csv has 4 columns, of which 3 go to x; but input x is "
                 "f64[1, 2], which takes 2");
}

/* Another table's columns go by the names of training's, whatever their order. */
static void test_columns_of_training(void **state) {
  (void)state;
  nnc_model model =
      MODEL(1, TABLE(FIELDS("x", "y"), ARG("header", TRUTH(1))),
            SET("test", PIPELINE(FIELDS("x", "y"), SOURCE(csv, ARG("file", STR("u.csv"))))));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F64, 1, 2), INPUT("y", NNC_F64, 1));
  nnc_entry features = ENTRY(1, INPUT("x", NNC_F64, 1, 2));
  nnc_fitted learnt = {0};
  write_text("t.csv", "a,b,c\n1,2,3\n");
  nnc_data_close(open_well(&model, "train", &features, &learnt));
  const nnc_fitted_value *names = nnc_fitted_find(&learnt, "x.columns");
  assert_true(names && names->count == 2 && nnc_fitted_is_columns(names));
  assert_string_equal(names->strings[1], "b");
  assert_non_null(nnc_fitted_find(&learnt, "y.columns")); /* though nothing reads it */
  write_text("u.csv", "c,b,a\n6,5,4\n");
  double x[2], y;
  nnc_data *data = open_well(&model, "test", &entry, &learnt);
  read_well(data, 0, 1, (void *[]){x, &y});
  assert_true(x[0] == 4 && x[1] == 5 && y == 6);
  nnc_data_close(data);
  data = open_well(&model, "test", &features, &learnt);
  read_well(data, 0, 1, (void *[]){x});
  assert_true(x[0] == 4 && x[1] == 5);
  nnc_data_close(data);
  static const char *const wrong[][2] = {
      {"a,b\n4,5\n", "/u.csv has no column \"c\", which training has for y"},
      {"a,bb,c\n4,5,6\n",
       "/u.csv has no column \"b\", which training has for x; did you mean \"bb\"?"},
      {"p,q,c\n4,5,6\n", "/u.csv has no columns \"a\", \"b\", which training has for x"},
      {"a,b,c,id\n4,5,6,1\n", "/u.csv has the column \"id\", which no field of training takes; "
                              "columns = [...] says which are meant"},
      {"a,b,c,b\n4,5,6,1\n", "/u.csv has two columns \"b\", number 1 and 3"},
      {"4,5,6\n7,8,9\n", "/u.csv:1:1: a header is expected, but this line has numbers; "
                         "say header = false, or header = true if it is a header"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char message[NNC_MESSAGE] = "";
    write_text("u.csv", wrong[i][0]);
    assert_null(nnc_data_open(&model, "test", &entry, directory(), &learnt, message));
    if (!strstr(message, wrong[i][1])) fail_msg("'%s' has no '%s'", message, wrong[i][1]);
  }
  nnc_fitted_free(&learnt);
  /* Names that stand twice, or are not known, as of an older checkpoint: by position. */
  write_text("u.csv", "c,b,a\n6,5,4\n");
  for (int old = 0; old < 2; old++) {
    write_text("t.csv", old ? "a,b,c\n1,2,3\n" : "a,a,c\n1,2,3\n");
    nnc_data_close(open_well(&model, "train", &entry, &learnt));
    if (old) nnc_fitted_free(&learnt);
    data = open_well(&model, "test", &entry, &learnt);
    read_well(data, 0, 1, (void *[]){x, &y});
    assert_true(x[0] == 6 && x[1] == 5 && y == 4);
    nnc_data_close(data);
    nnc_fitted_free(&learnt);
  }
}

static void test_types(void **state) {
  (void)state;
  write_text("t.csv", "0\n255\n1\n");
  nnc_model model = MODEL(1, TABLE(FIELDS("x"), NO_HEADER));
  nnc_entry u8 = ENTRY(1, INPUT("x", NNC_U8, 1)), i64 = ENTRY(1, INPUT("x", NNC_I64, 1));
  nnc_entry truth = ENTRY(1, INPUT("x", NNC_BOOL, 1)), f32 = ENTRY(1, INPUT("x", NNC_F32, 1));
  unsigned char bytes[3];
  nnc_data *data = open_well(&model, "train", &u8, &fitted);
  read_well(data, 0, 3, (void *[]){bytes});
  assert_memory_equal(bytes, "\0\377\1", 3);
  assert_int_equal(nnc_data_bytes(data), 3);
  nnc_data_close(data);
  expect_failure(&model, "train", &truth,
                 "$/t.csv:2:1: '255' does not fit the input x, which is bool");
  write_text("t.csv", "0\n2.5\n");
  expect_failure(&model, "train", &i64,
                 "$/t.csv:2:1: '2.5' does not fit the input x, which is i64");
  write_text("t.csv", "-1\n");
  expect_failure(&model, "train", &u8, "$/t.csv:1:1: '-1' does not fit the input x, which is u8");
  write_text("t.csv", "1e39\n");
  expect_failure(&model, "train", &f32,
                 "$/t.csv:1:1: '1e39' does not fit the input x, which is f32");
  write_text("t.csv", "1e309\n");
  expect_failure(&model, "train", &f32, "$/t.csv:1:1: '1e309' is too large for a number");
}

static void test_broken_records(void **state) {
  (void)state;
  nnc_model model = MODEL(1, TABLE(FIELDS("x", "y"), ARG("header", TRUTH(1))));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F32, 1, 2), INPUT("y", NNC_I32, 1));
#define BROKEN(text, message)                                                                      \
  do {                                                                                             \
    write_text("t.csv", text);                                                                     \
    expect_failure(&model, "train", &entry, message);                                              \
  } while (0)
  BROKEN("", "$/t.csv: is empty");
  BROKEN("\n \n\n", "$/t.csv: is empty");
  BROKEN("a,b,c\n", "$/t.csv: has no line after its header");
  BROKEN("a\n1\n", "$/t.csv: has 1 column, too few for 2 fields");
  BROKEN("a,b,c\n1,2,3\n\n4,5\n", "$/t.csv:4:1: 2 columns, where the first line has 3");
  BROKEN("a,b,c\n1,\"2,3\n4,5,6\n", "$/t.csv:2:3: this quote is never closed");
  BROKEN("a,b,c\n1,\"2\"x,3\n",
         "$/t.csv:2:6: expected ',' or the end of the line after the closing "
         "quote, found 'x'");
  BROKEN("a,\"b\n\n\",c\n1,2,x\n",
         "$/t.csv:4:5: expected a number (column c), found 'x'; text needs the "
         "stage categories(y)");
  BROKEN("a,b,c\n1,?,3\n",
         "$/t.csv:2:3: missing value '?' (column b); the stage impute(x) fills missing "
         "values");
  write_file("t.csv", "a\0b\0", 4);
  expect_failure(&model, "train", &entry,
                 "$/t.csv: has a zero byte; a csv file is text in UTF-8 or ASCII");
  nnc_model silent = MODEL(1, SET("train", PIPELINE(FIELDS("x", "y"), SOURCE(csv, FILE_ARG))));
  write_text("t.csv", "1,2,3\n4,5,6\n");
  expect_failure(&silent, "train", &entry,
                 "$/t.csv:1:1: a header is expected, but this line has numbers; "
                 "say header = false, or header = true if it is a header");
  nnc_model headless = MODEL(1, TABLE(FIELDS("x", "y"), NO_HEADER));
  write_text("t.csv", "a,b,c\n1,2,3\n");
  expect_failure(&headless, "train", &entry,
                 "$/t.csv:1:1: expected a number, found 'a'; is this line a "
                 "header? (header = true)");
  write_text("t.csv", "1,2,pear\n3,4,apple\n");
  expect_failure(&headless, "train", &entry,
                 "$/t.csv:1:5: expected a number, found 'pear'; text needs the "
                 "stage categories(y)");
}

static void test_other_separators(void **state) {
  (void)state;
  nnc_model model = MODEL(1, TABLE(FIELDS("x", "y"), ARG("header", TRUTH(1))));
  nnc_model named = MODEL(1, TABLE(FIELDS("x"), ARG("columns", LIST(STR("long")))));
  nnc_model counted = MODEL(1, TABLE(FIELDS("x"), ARG("columns", LIST(NUM(1)))));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F32, 1, 2), INPUT("y", NNC_I32, 1));
  nnc_entry one = ENTRY(1, INPUT("x", NNC_F32, 1));
#define SEPARATOR(character)                                                                       \
  "; is '" character "' the separator? (separator = \"" character "\" in csv)"
  BROKEN("\"a\";\"b\";\"c\"\n", "$/t.csv:1:4: expected ',' or the end of the line after the "
                                "closing quote, found ';'" SEPARATOR(";"));
  BROKEN("a\tb\tc\n1\t2\t3\n", "$/t.csv: has 1 column, too few for 2 fields" SEPARATOR("\\t"));
  write_text("t.csv", "long;b\n1;2\n");
  expect_failure(&named, "train", &one,
                 "test.net:3:9: $/t.csv has no column \"long\"" SEPARATOR(";"));
  expect_failure(&counted, "train", &one,
                 "test.net:3:9: $/t.csv has 1 column, so there is no column 1" SEPARATOR(";"));
}

/* A record far larger than the first buffer, and rows beyond every growth of the arrays. */
static void test_large_files(void **state) {
  (void)state;
  enum { SIZE = 1 << 20, ROWS = 50000 };
  char *text = malloc(SIZE);
  assert_non_null(text);
  size_t used = 0;
  text[used++] = '"';
  memset(text + used, 'n', 600000);
  used += 600000;
  used += (size_t)sprintf(text + used, "\",y\n");
  for (int i = 0; i < ROWS; i++) used += (size_t)sprintf(text + used, "%d,%d\n", i % 1000, i % 7);
  assert_true(used < SIZE);
  write_file("t.csv", text, used);
  free(text);
  nnc_model model = MODEL(1, TABLE(FIELDS("x", "y"), ARG("header", TRUTH(1))));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_I32, 1), INPUT("y", NNC_U8, 1));
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  assert_int_equal(nnc_data_examples(data), ROWS);
  for (int i = 0; i < ROWS; i++) {
    int32_t x;
    unsigned char y;
    read_well(data, i, 1, (void *[]){&x, &y});
    assert_true(x == i % 1000 && y == i % 7);
  }
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

static void test_categories(void **state) {
  (void)state;
  write_text("t.csv", "1,pear,10\n2,apple,9\n3,\"fig, dried\",10\n4,apple,2\n");
  write_text("u.csv", "5,fig,2\n");
#define FRUIT(name, file, ...)                                                                     \
  SET(name, PIPELINE(FIELDS("x", "fruit", "n"), SOURCE(csv, ARG("file", STR(file)), NO_HEADER),    \
                     __VA_ARGS__))
  nnc_model model = MODEL(
      1, FRUIT("train", "t.csv", STAGE(categories, ARG("", NAME("fruit")), ARG("", NAME("n")))),
      FRUIT("test", "u.csv", STAGE0(prefetch)));
  nnc_entry entry = ENTRY(1, INPUT("fruit", NNC_U8, 1), INPUT("n", NNC_I32, 1));
  nnc_fitted learnt = {0};
  nnc_data *data = open_well(&model, "train", &entry, &learnt);
  unsigned char fruit[4];
  int32_t n[4];
  read_well(data, 0, 4, (void *[]){fruit, n});
  assert_memory_equal(fruit, "\2\0\1\0", 4);
  assert_true(n[0] == 2 && n[1] == 1 && n[2] == 2 &&
              n[3] == 0); /* 2, 9, 10: numbers sort as such */
  nnc_data_close(data);
  const nnc_fitted_value *names = nnc_fitted_class_names(&learnt, "fruit");
  assert_non_null(names);
  assert_int_equal(names->count, 3);
  assert_string_equal(names->strings[1], "fig, dried");
  char message[NNC_MESSAGE], expected[NNC_MESSAGE];
  assert_null(nnc_data_open(&model, "test", &entry, directory(), &learnt, message));
  snprintf(expected, sizeof expected, "%s/u.csv:1: fruit: 'fig' does not occur in the training set",
           directory());
  assert_string_equal(message, expected);
  write_text("u.csv", "5,pear,9\n6,apple,10\n");
  data = open_well(&model, "test", &entry, &learnt);
  read_well(data, 0, 2, (void *[]){fruit, n});
  assert_true(fruit[0] == 2 && fruit[1] == 0 && n[0] == 1 && n[1] == 2);
  nnc_data_close(data);
  nnc_fitted_free(&learnt);
  expect_failure(&model, "test", &entry,
                 "test.net:3:9: categories of fruit was never fitted: it takes "
                 "its values from the training set or a checkpoint");
  nnc_model early = MODEL(1, FRUIT("train", "t.csv", STAGE(impute, ARG("", NAME("fruit"))),
                                   STAGE(categories, ARG("", NAME("fruit")))));
  nnc_entry only = ENTRY(1, INPUT("fruit", NNC_U8, 1));
  expect_failure(&early, "train", &only,
                 "test.net:3:9: impute(fruit): fruit is text; categories(fruit) "
                 "must come first");
  nnc_model scored = MODEL(1, FRUIT("train", "t.csv", STAGE(categories, ARG("", NAME("fruit"))),
                                    STAGE(standardize, ARG("", NAME("fruit")))));
  nnc_entry score = ENTRY(1, INPUT("fruit", NNC_F32, 1));
  nnc_data_close(open_well(&scored, "train", &score, &learnt));
  nnc_fitted_free(&learnt);
  write_text("t.csv", "1,NA,1\n");
  expect_failure(&model, "train", &entry,
                 "$/t.csv: fruit: a value is missing; to make the missing text "
                 "a class of its own, leave it out of csv's missing = [...]");
}

static void test_impute(void **state) {
  (void)state;
  write_text("t.csv", "1,,3\nNA,20,3\n3,40,-9\n8,30,?\n");
#define FILL(...)                                                                                  \
  MODEL(1, SET("train", PIPELINE(FIELDS("x"), SOURCE(csv, FILE_ARG, NO_HEADER),                    \
                                 STAGE(impute, ARG("", NAME("x")), __VA_ARGS__))))
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F64, 1, 3));
  nnc_model mean = FILL(ARG("with", STR("mean"))), median = FILL(ARG("with", STR("median")));
  nnc_model zero = FILL(ARG("with", NUM(0))), wrong = FILL(ARG("with", STR("mode")));
  nnc_fitted learnt = {0};
  EXPECT(open_well(&mean, "train", &entry, &learnt), 1, 30, 3, 4, 20, 3, 3, 40, -9, 8, 30, -1);
  assert_string_equal(learnt.values[0].name, "x.impute");
  nnc_fitted_free(&learnt);
  EXPECT(open_well(&median, "train", &entry, &learnt), 1, 30, 3, 3, 20, 3, 3, 40, -9, 8, 30, 3);
  nnc_fitted_free(&learnt);
  EXPECT(open_well(&zero, "train", &entry, &learnt), 1, 0, 3, 0, 20, 3, 3, 40, -9, 8, 30, 0);
  nnc_fitted_free(&learnt);
  expect_failure(&wrong, "train", &entry,
                 "test.net:3:9: with of impute must be \"mean\", \"median\" or "
                 "a number");
  nnc_entry whole = ENTRY(1, INPUT("x", NNC_I32, 1, 3));
  write_text("t.csv", "1,2,4\n1,2,\n1,2,5\n");
  expect_failure(&mean, "train", &whole, "$/t.csv: x: value 4.5 does not fit input type i32");
  nnc_model sentinel = MODEL(
      1, SET("train", PIPELINE(FIELDS("x"),
                               SOURCE(csv, FILE_ARG, NO_HEADER, ARG("missing", LIST(STR("-9")))),
                               STAGE(impute, ARG("", NAME("x"))))));
  write_text("t.csv", "1,2,-9\n1,2,5\n");
  EXPECT(open_well(&sentinel, "train", &entry, &learnt), 1, 2, 5, 1, 2, 5);
  nnc_fitted_free(&learnt);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_no_numbers),
      cmocka_unit_test(test_many_columns_by_name),
      cmocka_unit_test(test_columns_of_one_name),
      cmocka_unit_test(test_quotes_and_line_ends),
      cmocka_unit_test(test_columns),
      cmocka_unit_test(test_columns_of_training),
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_broken_records),
      cmocka_unit_test(test_other_separators),
      cmocka_unit_test(test_large_files),
      cmocka_unit_test(test_categories),
      cmocka_unit_test(test_impute),
  };
  return cmocka_run_group_tests_name("csv", tests, enter, leave);
}
