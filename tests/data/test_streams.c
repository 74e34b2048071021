/* Streams: windows over texts and token files, their vocabularies, and the order in which row b of
 * a minibatch continues row b of the one before. */
#include "support.h"

#define TEXT(...) SOURCE(text, ARG("file", STR("t.txt")), __VA_ARGS__)
#define TOKENS(...) SOURCE(token_stream, ARG("file", STR("t.bin")), __VA_ARGS__)
#define LENGTH(n) ARG("length", NUM(n))
#define XY FIELDS("x", "y")
#define XY_ENTRY(batch, length)                                                                    \
  ENTRY(batch, INPUT("x", NNC_I32, batch, length), INPUT("y", NNC_I32, batch, length))

enum { MOST = 64 };

static int32_t xs[MOST], ys[MOST];

static void read_windows(const nnc_data *data, int64_t first, int64_t count) {
  read_well(data, first, count, (void *[]){xs, ys});
}

static void test_a_field_is_followed_by_what_comes_next(void **state) {
  (void)state;
  write_text("t.txt", "badcab, cab!\n"); /* sorted: \n ' ' ! , a b c d */
  static const int32_t all[] = {5, 4, 7, 6, 4, 5, 3, 1, 6, 4, 5, 2, 0};
  nnc_model model = MODEL(2, SET("train", PIPELINE(XY, TEXT(LENGTH(4)))));
  nnc_entry entry = XY_ENTRY(2, 4);
  nnc_fitted fitted = {0};
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  assert_int_equal(nnc_data_examples(data), 3);
  assert_int_equal(nnc_data_bytes(data), 13); /* once, as bytes */
  read_windows(data, 0, 3);
  assert_memory_equal(xs, all, 12 * 4);
  assert_memory_equal(ys, all + 1, 12 * 4);
  const nnc_fitted_value *names = nnc_fitted_class_names(&fitted, "x");
  assert_int_equal(names->count, 8);
  assert_string_equal(names->strings[0], "\n");
  assert_string_equal(names->strings[7], "d");
  assert_ptr_not_equal(nnc_fitted_class_names(&fitted, "y"), NULL);
  double least, most;
  nnc_data_range(data, 1, INT64_MIN, &least, &most);
  assert_true(least == 0 && most == 7);
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

static void test_windows_may_overlap(void **state) {
  (void)state;
  write_text("t.txt", "abcdefgh");
  nnc_model model = MODEL(1, SET("train", PIPELINE(XY, TEXT(LENGTH(3), ARG("stride", NUM(2))))));
  nnc_entry entry = XY_ENTRY(1, 3);
  nnc_fitted fitted = {0};
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  assert_int_equal(nnc_data_examples(data), 3); /* abc cde efg; ghi would need two more */
  read_windows(data, 0, 3);
  assert_memory_equal(xs, ((int32_t[]){0, 1, 2, 2, 3, 4, 4, 5, 6}), 9 * 4);
  assert_memory_equal(ys, ((int32_t[]){1, 2, 3, 3, 4, 5, 5, 6, 7}), 9 * 4);
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

static void test_parts_share_the_vocabulary(void **state) {
  (void)state;
  write_text("t.txt", "aaaabbbbcz"); /* z stands in the last tenth alone */
  nnc_model model = MODEL(1, SET("train", PIPELINE(XY, TEXT(LENGTH(1), ARG("to", NUM(0.8))))),
                          SET("val", PIPELINE(XY, TEXT(LENGTH(1), ARG("from", NUM(0.8))))));
  nnc_entry entry = XY_ENTRY(1, 1);
  nnc_fitted fitted = {0};
  nnc_data *train = open_well(&model, "train", &entry, &fitted);
  nnc_data *val = open_well(&model, "val", &entry, &fitted);
  assert_int_equal(nnc_data_examples(train), 7);
  assert_int_equal(nnc_data_examples(val), 1);
  read_windows(val, 0, 1);
  assert_true(xs[0] == 2 && ys[0] == 3);
  nnc_data_close(train);
  nnc_data_close(val);
  nnc_fitted_free(&fitted);
}

static void test_split_of_windows(void **state) {
  (void)state;
  char text[101];
  for (int i = 0; i < 100; i++) text[i] = (char)(32 + i % 90);
  text[100] = 0;
  write_text("t.txt", text);
#define PART(from, to)                                                                             \
  PIPELINE(FIELDS("x"), TEXT(LENGTH(10), ARG("unit", STR("byte"))),                                \
           STAGE(split, ARG("from", NUM(from)), ARG("to", NUM(to))))
  nnc_model model = MODEL(1, SET("train", PART(0, 0.7)), SET("val", PART(0.7, 1)));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_I32, 1, 10));
  static const char *const sets[] = {"train", "val"};
  nnc_fitted fitted = {0};
  int seen[10] = {0};
  for (int s = 0; s < 2; s++) {
    nnc_data *data = open_well(&model, sets[s], &entry, &fitted);
    assert_int_equal(nnc_data_examples(data), s ? 3 : 7);
    for (int64_t i = 0; i < nnc_data_examples(data); i++) {
      read_well(data, i, 1, (void *[]){xs});
      seen[(xs[0] - 32) / 10]++;
      for (int k = 1; k < 10; k++) assert_int_equal(xs[k], 32 + (xs[0] - 32 + k) % 90);
    }
    nnc_data_close(data);
  }
  for (int i = 0; i < 9; i++) assert_int_equal(seen[i], i == 0 ? 2 : 1); /* the 91st is a blank */
  nnc_fitted_free(&fitted);
}

static void test_utf8_and_words(void **state) {
  (void)state;
  write_text("t.txt", "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"
                      "a");
  nnc_model characters = MODEL(1, SET("train", PIPELINE(FIELDS("x"), TEXT(LENGTH(5)))));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_I32, 1, 5));
  nnc_fitted fitted = {0};
  nnc_data *data = open_well(&characters, "train", &entry, &fitted);
  read_well(data, 0, 1, (void *[]){xs});
  assert_memory_equal(xs, ((int32_t[]){0, 1, 2, 3, 0}), 5 * 4);
  assert_string_equal(fitted.values[0].strings[2], "\xe2\x82\xac");
  nnc_data_close(data);
  nnc_fitted_free(&fitted);

  write_text("t.txt", " the cat\n <unk>  the\n");
  write_text("v.txt", "the dog\n");
  nnc_model words =
      MODEL(1, SET("train", PIPELINE(FIELDS("x"), TEXT(LENGTH(3), ARG("unit", STR("word"))))),
            SET("val", PIPELINE(FIELDS("x"), SOURCE(text, ARG("file", STR("v.txt")), LENGTH(3),
                                                    ARG("unit", STR("word"))))));
  nnc_entry three = ENTRY(1, INPUT("x", NNC_I32, 1, 3));
  data = open_well(&words, "train", &three, &fitted); /* <eos> <unk> cat the */
  read_well(data, 0, 2, (void *[]){xs});
  assert_memory_equal(xs, ((int32_t[]){3, 2, 0, 1, 3, 0}), 6 * 4);
  nnc_data_close(data);
  data = open_well(&words, "val", &three, &fitted);
  read_well(data, 0, 1, (void *[]){xs});
  assert_memory_equal(xs, ((int32_t[]){3, 1, 0}), 3 * 4); /* dog is unknown */
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

static void test_mistakes_in_texts(void **state) {
  (void)state;
  nnc_entry entry = XY_ENTRY(1, 4);
  nnc_model model = MODEL(1, SET("train", PIPELINE(XY, TEXT(LENGTH(4)))));
  write_text("t.txt", "abcd");
  expect_failure(&model, "train", &entry, "$/t.txt: 4 values, but one window needs 5");
  write_text("t.txt", "");
  expect_failure(&model, "train", &entry, "$/t.txt: 0 values, but one window needs 5");
  write_file("t.txt",
             "ab\ncd\xff"
             "gh",
             8);
  expect_failure(&model, "train", &entry,
                 "$/t.txt: byte 5 (0xff, line 2) is no UTF-8 text; unit = \"byte\" reads any file");
  write_file("t.txt",
             "abc\xed\xa0\x80"
             "gh",
             8); /* half of a surrogate pair */
  expect_failure(&model, "train", &entry,
                 "$/t.txt: byte 3 (0xed, line 1) is no UTF-8 text; unit = \"byte\" reads any file");
  write_text("t.txt", "abcdefgh");
  nnc_entry longer = XY_ENTRY(1, 5);
  expect_failure(
      &model, "train", &longer,
      "$/t.txt: has u8[1, 4], but input x is i32[1, 5]; all axes but the first must agree");
  nnc_model none = MODEL(1, SET("train", PIPELINE(XY, TEXT(ARG("stride", NUM(1))))));
  expect_failure(&none, "train", &entry, "test.net:3:9: text needs the length of its windows");
  nnc_model stage = MODEL(1, SET("train", PIPELINE(FIELDS("x"), TEXT(LENGTH(4)),
                                                   STAGE(standardize, ARG("", NAME("x"))))));
  nnc_entry one = ENTRY(1, INPUT("x", NNC_F32, 1, 4));
  expect_failure(&stage, "train", &one,
                 "test.net:3:9: standardize acts on tables of numbers, which text does not give");
  nnc_model other =
      MODEL(1, SET("train", PIPELINE(XY, TEXT(LENGTH(4)))),
            SET("val", PIPELINE(XY, SOURCE(text, ARG("file", STR("v.txt")), LENGTH(4)))));
  write_text("v.txt", "abc\nXY");
  nnc_fitted fitted = {0};
  nnc_data_close(open_well(&other, "train", &entry, &fitted));
  char message[NNC_MESSAGE], expected[NNC_MESSAGE];
  assert_null(nnc_data_open(&other, "val", &entry, directory(), &fitted, message));
  snprintf(expected, sizeof expected, "%s/v.txt:1: '?' does not occur in the training set",
           directory());
  assert_string_equal(message, expected); /* the end of line 1 */
  nnc_fitted_free(&fitted);
}

static void put_u32(unsigned char *at, uint32_t value) {
  for (int i = 0; i < 4; i++) at[i] = (unsigned char)(value >> 8 * i);
}

static void test_token_files(void **state) {
  (void)state;
  static unsigned char file[1024 + 12];
  static const uint16_t ids[] = {5, 40000, 7, 8, 9, 10};
  for (int i = 0; i < 6; i++) {
    file[1024 + 2 * i] = (unsigned char)(ids[i] & 255);
    file[1025 + 2 * i] = (unsigned char)(ids[i] >> 8);
  }
  nnc_model model = MODEL(1, SET("train", PIPELINE(XY, TOKENS(LENGTH(2)))));
  nnc_entry entry = XY_ENTRY(1, 2);
  for (int headed = 0; headed < 2; headed++) {
    if (headed) put_u32(file, 20240520), put_u32(file + 4, 1), put_u32(file + 8, 6);
    write_file("t.bin", headed ? file : file + 1024, headed ? sizeof file : 12);
    nnc_fitted fitted = {0};
    nnc_data *data = open_well(&model, "train", &entry, &fitted);
    assert_int_equal(nnc_data_examples(data), 2);
    read_windows(data, 0, 2);
    assert_memory_equal(xs, ((int32_t[]){5, 40000, 7, 8}), 16);
    assert_memory_equal(ys, ((int32_t[]){40000, 7, 8, 9}), 16);
    assert_int_equal(fitted.count, 0);
    nnc_data_close(data);
  }
  put_u32(file + 8, 7);
  write_file("t.bin", file, sizeof file);
  expect_failure(&model, "train", &entry, "$/t.bin: the header promises 7 ids, but 6 follow");
  put_u32(file + 4, 3);
  write_file("t.bin", file, sizeof file);
  expect_failure(&model, "train", &entry, "$/t.bin: a header of version 3; version 1 is supported");
  write_file("t.bin", file + 1024, 11);
  expect_failure(&model, "train", &entry,
                 "$/t.bin: 11 bytes are no whole number of ids of type u16");
  unsigned char wide[16];
  for (int i = 0; i < 4; i++) put_u32(wide + 4 * i, i == 2 ? 0x80000000u : 70000u + (uint32_t)i);
  write_file("t.bin", wide, 16);
  nnc_model u32 = MODEL(1, SET("train", PIPELINE(XY, TOKENS(LENGTH(2), ARG("type", STR("u32"))))));
  expect_failure(&u32, "train", &entry,
                 "$/t.bin: id 2147483648 of token 2 is more than 2147483647");
  put_u32(wide + 8, 1);
  write_file("t.bin", wide, 16);
  nnc_fitted fitted = {0};
  nnc_data *data = open_well(&u32, "train", &entry, &fitted);
  read_windows(data, 0, 1);
  assert_true(xs[0] == 70000 && xs[1] == 70001 && ys[1] == 1);
  nnc_data_close(data);
}

/* 3 lanes of 4 windows each, and one window over, which comes last. */
static void test_lanes(void **state) {
  (void)state;
  char text[28];
  for (int i = 0; i < 27; i++) text[i] = (char)('a' + i % 26);
  text[27] = 0;
  write_text("t.txt", text);
  nnc_data_set set = SET("train", PIPELINE(XY, TEXT(LENGTH(2), ARG("unit", STR("byte")))));
  set.order = NNC_ORDER_STREAMS;
  nnc_model model = MODEL(3, set);
  nnc_entry entry = XY_ENTRY(3, 2);
  nnc_fitted fitted = {0};
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  assert_int_equal(nnc_data_examples(data), 13);
  nnc_loader_options options = nnc_loader_training(&model, data);
  char message[NNC_MESSAGE];
  nnc_loader *loader = nnc_loader_open(data, &options, message);
  assert_non_null(loader);
  for (int epoch = 0; epoch < 2; epoch++)
    for (int batch = 0; batch < 4; batch++) {
      nnc_loader_next(loader, (void *[]){xs, ys});
      for (int lane = 0; lane < 3; lane++)
        assert_int_equal(xs[2 * lane], 'a' + 2 * (4 * lane + batch));
    }
  nnc_loader_close(loader);
  read_windows(data, 12, 1);
  assert_int_equal(xs[0], 'y');
  nnc_data_close(data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_a_field_is_followed_by_what_comes_next, enter, leave),
      cmocka_unit_test_setup_teardown(test_windows_may_overlap, enter, leave),
      cmocka_unit_test_setup_teardown(test_parts_share_the_vocabulary, enter, leave),
      cmocka_unit_test_setup_teardown(test_split_of_windows, enter, leave),
      cmocka_unit_test_setup_teardown(test_utf8_and_words, enter, leave),
      cmocka_unit_test_setup_teardown(test_mistakes_in_texts, enter, leave),
      cmocka_unit_test_setup_teardown(test_token_files, enter, leave),
      cmocka_unit_test_setup_teardown(test_lanes, enter, leave),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
