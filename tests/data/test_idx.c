/* IDX files: values of every type, compressed ones, and messages for damaged ones. */
#include "support.h"

static const unsigned char images[] = {0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 2,  0,  0,
                                       0, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255};
static const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9};

#define TWO_FILES                                                                                  \
  SET("train", PIPELINE(FIELDS("image", "label"),                                                  \
                        SOURCE(idx, ARG("", STR("images")), ARG("", STR("labels")))))
#define ONE_FILE SET("train", PIPELINE(FIELDS("x"), SOURCE(idx, ARG("", STR("x")))))

static void test_reads_values(void **state) {
  (void)state;
  write_file("images", images, sizeof images);
  write_gzip("labels.gz", labels, sizeof labels);
  nnc_model model = MODEL(2, TWO_FILES);
  nnc_entry entry = ENTRY(2, INPUT("image", NNC_F32, 2, 2, 2), INPUT("label", NNC_U8, 2));
  nnc_fitted fitted = {0};
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  assert_int_equal(nnc_data_examples(data), 3);
  assert_int_equal(nnc_data_bytes(data), 15);
  float image[12];
  unsigned char label[3];
  read_well(data, 0, 3, (void *[]){image, label});
  for (int i = 0; i < 12; i++) assert_true(image[i] == images[16 + i]);
  assert_memory_equal(label, "\7\10\11", 3);
  read_well(data, 2, 1, (void *[]){image, label});
  assert_true(image[3] == 255 && label[0] == 9);
  double least, most;
  nnc_data_range(data, 1, INT64_MIN, &least, &most);
  assert_true(least == 7 && most == 9);
  nnc_data_close(data);
}

/* One value of each type, big-endian, read as f64. */
static void test_reads_every_type(void **state) {
  (void)state;
  static const struct {
    const char *bytes;
    size_t size;
    double value;
  } cases[] = {{"\0\0\x08\1\0\0\0\1\xff", 9, 255},
               {"\0\0\x09\1\0\0\0\1\xff", 9, -1},
               {"\0\0\x0b\1\0\0\0\1\xfe\x0c", 10, -500},
               {"\0\0\x0c\1\0\0\0\1\xff\xfe\x79\x60", 12, -100000},
               {"\0\0\x0d\1\0\0\0\1\xc0\x49\x0f\xdb", 12, -3.1415927410125732},
               {"\0\0\x0e\1\0\0\0\1\x40\x09\x21\xfb\x54\x44\x2d\x18", 16, 3.141592653589793}};
  nnc_model model = MODEL(1, ONE_FILE);
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F64, 1));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_file("x", cases[i].bytes, cases[i].size);
    nnc_fitted fitted = {0};
    nnc_data *data = open_well(&model, "train", &entry, &fitted);
    double x;
    read_well(data, 0, 1, (void *[]){&x});
    assert_true(x == cases[i].value);
    nnc_data_close(data);
  }
}

static void test_reads_only_needed_fields(void **state) {
  (void)state;
  write_file("images", images, sizeof images);
  nnc_model model = MODEL(2, TWO_FILES);
  nnc_entry entry = ENTRY(2, INPUT("image", NNC_U8, 2, 2, 2));
  nnc_fitted fitted = {0};
  nnc_data_close(open_well(&model, "train", &entry, &fitted)); /* there is no file "labels" */
}

#define FAILS(bytes, message)                                                                      \
  do {                                                                                             \
    write_file("x", bytes, sizeof(bytes) - 1);                                                     \
    expect_failure(&model, "train", &entry, message);                                              \
  } while (0)

static void test_damaged_files(void **state) {
  (void)state;
  nnc_model model = MODEL(2, ONE_FILE);
  nnc_entry entry = ENTRY(2, INPUT("x", NNC_U8, 2, 2));
  FAILS("", "$/x: not an IDX file: it ends after 0 bytes");
  FAILS("\0\0\x08", "$/x: not an IDX file: it ends after 3 bytes");
  FAILS("GIF8", "$/x: not an IDX file: starts with 47 49 46 38, expected 00 00, a type "
                "(08 09 0b 0c 0d 0e) and a rank");
  FAILS("\0\0\x08\0", "$/x: has rank 0, supported are 1 to 8");
  FAILS("\0\0\x08\2\0\0\0\2\0\0", "$/x: ends inside the header, after 10 bytes");
  FAILS("\0\0\x08\2\0\0\0\3\0\0\0\2\1\2\3\4\5",
        "$/x: u8[3, 2] needs 18 bytes; the file ends after 17");
  FAILS("\0\0\x08\2\0\0\0\2\0\0\0\2\1\2\3\4\5", "$/x: should end after 16 bytes, but more follow");
  FAILS("\0\0\x08\2\0\0\0\2\0\0\0\3\1\2\3\4\5\6",
        "$/x: has u8[2, 3], but input x is u8[2, 2]; all axes but the first must agree");
  FAILS("\0\0\x08\1\0\0\0\2\1\2",
        "$/x: has u8[2], but input x is u8[2, 2]; all axes but the first must agree");
  FAILS("\0\0\x0e\2\xff\xff\xff\xff\0\0\0\2",
        "$/x: f64[4294967295, 2] needs 68719476732 bytes; the file ends after 12");
  FAILS("\0\0\x08\2\0\0\0\0\0\0\0\2", "there are no examples");
  FAILS("\0\0\x0c\2\0\0\0\1\0\0\0\2\0\0\0\1\0\0\1\0",
        "$/x: x: value 256 of example 0 (from 0) does not fit input type u8");
}

static void test_truncated_gzip(void **state) {
  (void)state;
  nnc_model model = MODEL(2, ONE_FILE);
  nnc_entry entry = ENTRY(2, INPUT("x", NNC_U8, 2, 784));
  static unsigned char whole[16 + 100 * 784] = {0, 0, 8, 2, 0, 0, 0, 100, 0, 0, 3, 16};
  for (size_t i = 12; i < sizeof whole; i++) whole[i] = (unsigned char)(i * i * 31 >> 3);
  write_gzip("y.gz", whole, sizeof whole - 4);
  char path[128];
  snprintf(path, sizeof path, "%s/y.gz", directory());
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  static unsigned char packed[1 << 20];
  size_t size = fread(packed, 1, sizeof packed, file);
  fclose(file);
  write_file("x.gz", packed, size);
  remove(strcat(strcpy(path, directory()), "/x"));
  nnc_fitted fitted = {0};
  nnc_data_close(open_well(&model, "train", &entry, &fitted));
  write_file("x.gz", packed, size - 4); /* without the length at the end */
  expect_failure(&model, "train", &entry,
                 "$/x.gz: cannot read after 78412 bytes: the compressed file ends too early");
  packed[size - 6] ^= 1; /* in the check sum */
  write_file("x.gz", packed, size);
  expect_failure(&model, "train", &entry, "$/x.gz: the compressed data is damaged");
}

static void test_mismatched_files(void **state) {
  (void)state;
  write_file("images", images, sizeof images);
  write_file("labels", "\0\0\x08\1\0\0\0\2\1\2", 10);
  nnc_model model = MODEL(2, TWO_FILES);
  nnc_entry entry = ENTRY(2, INPUT("image", NNC_U8, 2, 2, 2), INPUT("label", NNC_U8, 2));
  expect_failure(&model, "train", &entry, "$/images has 3 examples, but $/labels has 2");
  nnc_entry typo = ENTRY(2, INPUT("imgae", NNC_U8, 2, 2, 2));
  expect_failure(&model, "train", &typo,
                 "there is no field 'imgae' to feed the input of that name; "
                 "did you mean 'image'?");
  expect_failure(&model, "test", &entry, "test.net has no data set 'test'");
  nnc_model missing =
      MODEL(2, SET("train", PIPELINE(FIELDS("image"), SOURCE(idx, ARG("", STR("nowhere"))))));
  nnc_entry image = ENTRY(2, INPUT("image", NNC_U8, 2, 2, 2));
  expect_failure(
      &missing, "train", &image,
      "test.net:3:9: cannot open $/nowhere (nor $/nowhere.gz): No such file or directory; "
      "--data says where the data is");
  nnc_model few = MODEL(
      2, SET("train", PIPELINE(FIELDS("image", "label"), SOURCE(idx, ARG("", STR("images"))))));
  expect_failure(&few, "train", &entry,
                 "test.net:3:9: idx has 1 files for 2 fields; each field has a file of its own");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reads_values),
      cmocka_unit_test(test_reads_every_type),
      cmocka_unit_test(test_reads_only_needed_fields),
      cmocka_unit_test(test_damaged_files),
      cmocka_unit_test(test_truncated_gzip),
      cmocka_unit_test(test_mismatched_files),
  };
  return cmocka_run_group_tests_name("idx", tests, enter, leave);
}
