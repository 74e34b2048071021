/* Pictures that cannot be read: damaged ones, which end a run or are skipped, what claims too many pixels, and
 * lines that do not fit their folder. */
#include <stdio.h>

#include <zlib.h>

#include "data/skipped.h"
#include "folders.h"

static void expect_unreadable(const nnc_model *model, const nnc_entry *entry,
                              const char *expected) {
  char message[NNC_MESSAGE] = "", whole[2 * NNC_MESSAGE];
  static unsigned char x[MOST];
  int32_t y;
  nnc_fitted fitted = {0};
  nnc_data *data = open_well(model, "train", entry, &fitted);
  assert_int_equal(nnc_data_read(data, 3, 1, (void *[]){x, &y}, message), -1);
  snprintf(whole, sizeof whole, "%s/%s", directory(), expected);
  assert_string_equal(message, whole);
  bool others_fail = nnc_data_read(data, 2, 1, (void *[]){x, &y}, message) < 0;
  nnc_loader_options options = {.batch = 4, .shuffle = 1, .prefetch = 1};
  nnc_loader *loader = nnc_loader_open(data, &options, message);
  assert_non_null(loader);
  int32_t labels[4];
  assert_int_equal(nnc_loader_next(loader, (void *[]){x, labels}).count, -1);
  if (!others_fail) assert_string_equal(nnc_loader_failure(loader), whole);
  nnc_loader_close(loader);
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

static void test_damaged_pictures(void **state) {
  (void)state;
  nnc_model model = MODEL(1, SET("train", PIPELINE(XY, FOLDER(THREADS(2)), CROP(resize, 8, 10))));
  nnc_entry entry = ENTRY_OF(NNC_U8, 1, 3, 8, 10);
  static unsigned char bytes[4096];
  FILE *file = fopen(path_to("t/b/2.jpg"), "rb");
  assert_non_null(file);
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  write_file("t/b/2.jpg", bytes, size / 2);
  expect_unreadable(&model, &entry,
                    "t/b/2.jpg: cannot decode the JPEG: Premature end of JPEG file");
  write_file("t/b/2.jpg", bytes, 20);
  expect_unreadable(&model, &entry,
                    "t/b/2.jpg: cannot decode the JPEG: Premature end of JPEG file");
  write_text("t/b/2.jpg", "GIF89a");
  expect_unreadable(&model, &entry, "t/b/2.jpg: neither a JPEG nor a PNG file, but a GIF file");
  write_file("t/b/2.jpg", "\0\0\10\3\0\0\0\2", 8);
  expect_unreadable(
      &model, &entry,
      "t/b/2.jpg: neither a JPEG nor a PNG file, but an IDX file of arrays; pictures are "
      "expected here");
  write_file("t/b/2.jpg", "\x89PNG\r\n\x1a\n\0\0", 10);
  expect_unreadable(&model, &entry, "t/b/2.jpg: cannot decode the PNG: read beyond end of data");
}

/* A PNG file that is cut off anywhere is an error, also after its pixels, where a note on how the camera was held may
 * stand: the whole file is read, every beginning of it is not. */
static void test_png_files_that_are_cut_off(void **state) {
  (void)state;
  static unsigned char bytes[4096], x[MOST];
  char message[NNC_MESSAGE] = "";
  int32_t y;
  nnc_model model = MODEL(1, SET("train", PIPELINE(XY, FOLDER(THREADS(1)), CROP(resize, 8, 10))));
  nnc_entry entry = ENTRY_OF(NNC_U8, 1, 3, 8, 10);
  nnc_fitted fitted = {0};
  write_png("t/b/2.jpg", 8, 10, 3, 0);
  FILE *file = fopen(path_to("t/b/2.jpg"), "rb");
  assert_non_null(file);
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  assert_in_range(size, 60, sizeof bytes - 1);
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  read_well(data, 3, 1, (void *[]){x, &y});
  for (size_t end = 0; end < size; end++) {
    write_file("t/b/2.jpg", bytes, end);
    assert_int_equal(nnc_data_read(data, 3, 1, (void *[]){x, &y}, message), -1);
    assert_non_null(strstr(message, "t/b/2.jpg: "));
    if (end >= size - 12)
      assert_non_null(strstr(message, "cannot decode the PNG: its end is missing"));
  }
  write_file("t/b/2.jpg", bytes, size);
  read_well(data, 3, 1, (void *[]){x, &y});
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

/* In place of a picture that cannot be read stands the next that can, with its class; whatever the
 * threads and whichever epoch.  Where none can be read, that is an error. */
static void test_pictures_that_are_skipped(void **state) {
  (void)state;
#define SKIPS(n)                                                                                   \
  PIPELINE(XY, FOLDER(THREADS(n), ARG("on_error", STR("skip"))), CROP(center_crop, 8, 10))
  nnc_model model = MODEL(1, SET("train", SKIPS(3)), SET("one", SKIPS(1)));
  nnc_entry entry = ENTRY_OF(NNC_F32, 1, 3, 8, 10);
  nnc_fitted fitted = {0};
  static float whole[4][240], x[4][240];
  int32_t y[4];
  char message[NNC_MESSAGE] = "";
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  read_well(data, 0, 4, (void *[]){whole, y});
  assert_int_equal(nnc_skipped_count(nnc_data_skipped(data)), 0);
  nnc_data_close(data);
  write_text("t/a/grey.jpeg", "no picture"); /* example 1 of 4: the first of class b is next */
  write_text("t/b/2.jpg", "nor this");       /* example 3: the first of all is next */
  static const int taken[] = {0, 2, 2, 0}, classes[] = {0, 1, 1, 0};
  for (int s = 0; s < 2; s++) {
    data = open_well(&model, s ? "one" : "train", &entry, &fitted);
    for (int again = 0; again < 2; again++) {
      read_well(data, 0, 4, (void *[]){x, y});
      for (int i = 0; i < 4; i++) {
        assert_memory_equal(x[i], whole[taken[i]], sizeof x[i]);
        assert_int_equal(y[i], classes[i]);
      }
    }
    read_well(data, 3, 1, (void *[]){x, y});
    assert_int_equal(y[0], 0);
    assert_int_equal(nnc_skipped_count(nnc_data_skipped(data)), 2);
    nnc_data_close(data);
  }
  write_text("t/a/big.PNG", "");
  write_text("t/b/1.png", "x");
  data = open_well(&model, "train", &entry, &fitted);
  assert_int_equal(nnc_data_read(data, 1, 2, (void *[]){x, y}, message), -1);
  assert_non_null(strstr(message, "none of 4 examples can be read: "));
  assert_non_null(strstr(message, "t/a/grey.jpeg: neither a JPEG nor a PNG file"));
  nnc_data_close(data);
  nnc_model wrong = MODEL(
      1, SET("train", PIPELINE(XY, FOLDER(ARG("on_error", STR("ignore"))), CROP(resize, 8, 10))));
  expect_failure(&wrong, "train", &entry,
                 "test.net:3:9: image_folder takes on_error = \"stop\" or \"skip\"");
  nnc_fitted_free(&fitted);
}

static unsigned char *byte_of(uint32_t number, unsigned char bytes[4]) {
  for (int i = 0; i < 4; i++) bytes[i] = (unsigned char)(number >> (24 - 8 * i));
  return bytes;
}

/* All that stands before the pixels. */
static void write_png_header(const char *name, uint32_t height, uint32_t width) {
  unsigned char bytes[41] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", number[4];
  memcpy(bytes + 16, byte_of(width, number), 4);
  memcpy(bytes + 20, byte_of(height, number), 4);
  memcpy(bytes + 24, "\x08\x02\0\0", 5); /* 8 bits, red, green, blue */
  memcpy(bytes + 29, byte_of((uint32_t)crc32(0, bytes + 12, 17), number), 4);
  memcpy(bytes + 33, "\0\0\0\x01IDAT", 8);
  write_file(name, bytes, sizeof bytes);
}

/* What a header claims is refused before it is decoded. */
static void test_claims_of_too_many_pixels(void **state) {
  (void)state;
  static unsigned char bytes[4096];
  nnc_entry entry = ENTRY_OF(NNC_U8, 1, 3, 8, 10);
  nnc_model model = MODEL(1, SET("train", PIPELINE(XY, FOLDER(THREADS(1)), CROP(resize, 8, 10))));
  FILE *file = fopen(path_to("t/b/2.jpg"), "rb");
  assert_non_null(file);
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  for (size_t i = 0; i + 9 < size; i++)
    if (bytes[i] == 0xff && bytes[i + 1] == 0xc0) memcpy(bytes + i + 5, "\x7f\xff\x7f\xff", 4);
  write_file("t/b/2.jpg", bytes, size);
  expect_unreadable(&model, &entry,
                    "t/b/2.jpg: 32767 x 32767 pixels are more than 134217728, the "
                    "most that are decoded");
  write_png_header("t/b/2.jpg", 60000, 50000);
  expect_unreadable(&model, &entry,
                    "t/b/2.jpg: 60000 x 50000 pixels are more than 134217728, the "
                    "most that are decoded");
}

static void test_mistakes(void **state) {
  (void)state;
  nnc_entry entry = ENTRY_OF(NNC_U8, 1, 3, 8, 10);
  nnc_model size = MODEL(1, SET("train", PIPELINE(XY, FOLDER(THREADS(1)), CROP(center_crop, 9, 9),
                                                  STAGE0(random_flip))));
  expect_failure(&size, "train", &entry,
                 "test.net:3:9: the stages make pictures of 9 x 9, but the input x is 8 x 10");
  nnc_model none = MODEL(1, SET("train", PIPELINE(XY, FOLDER(THREADS(1)))));
  nnc_entry taller = ENTRY_OF(NNC_U8, 1, 3, 9, 10);
  expect_unreadable(&none, &taller,
                    "t/b/2.jpg is 8 x 10 after its stages, but the input x is 9 x 10; resize, pad, "
                    "center_crop, random_crop and random_resized_crop change sizes");
  nnc_entry flat = ENTRY(1, INPUT("x", NNC_U8, 1, 240), INPUT("y", NNC_I32, 1));
  expect_failure(&none, "train", &flat,
                 "test.net:3:9: the input x must be [batch, height, width], or [batch, channels, "
                 "height, width] with 1 or 3 channels");
  nnc_model missing =
      MODEL(1, SET("train", PIPELINE(XY, SOURCE(image_folder, ARG("folder", STR("u"))))));
  expect_failure(&missing, "train", &entry,
                 "test.net:3:9: cannot read the folder $/u: No such file or directory; --data says "
                 "where the data is");
  nnc_model leaf =
      MODEL(1, SET("train", PIPELINE(XY, SOURCE(image_folder, ARG("folder", STR("t/a"))))));
  expect_failure(&leaf, "train", &entry,
                 "$/t/a has no folders, but pictures, and the second field of image_folder is the "
                 "class, a folder each: move them "
                 "to $/t/a/CLASS, or leave that field out where there are no classes");
  write_text("t.csv", "1,2\n");
  nnc_model text = MODEL(
      1, SET("train",
             PIPELINE(FIELDS("x"), SOURCE(csv, ARG("file", STR("t.csv")), ARG("header", TRUTH(0))),
                      CROP(resize, 8, 10))));
  nnc_entry row = ENTRY(1, INPUT("x", NNC_F32, 1, 2));
  expect_failure(&text, "train", &row,
                 "test.net:3:9: resize acts on pictures, which csv does not give");
  make_folder("v");
  make_folder("v/c");
  write_png("v/c/1.png", 8, 10, 3, 0);
  nnc_model other = MODEL(1, SET("train", PIPELINE(XY, FOLDER(THREADS(1)))),
                          SET("val", PIPELINE(XY, SOURCE(image_folder, ARG("folder", STR("v"))))));
  nnc_fitted fitted = {0};
  nnc_data_close(open_well(&other, "train", &entry, &fitted));
  char message[NNC_MESSAGE], expected[2 * NNC_MESSAGE];
  assert_null(nnc_data_open(&other, "val", &entry, directory(), &fitted, message));
  snprintf(expected, sizeof expected, "%s/v/c: the class 'c' does not occur in the training set",
           directory());
  assert_string_equal(message, expected);
  nnc_fitted_free(&fitted);
}
int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_damaged_pictures, enter_folders, leave_folders),
      cmocka_unit_test_setup_teardown(test_png_files_that_are_cut_off, enter_folders,
                                      leave_folders),
      cmocka_unit_test_setup_teardown(test_pictures_that_are_skipped, enter_folders, leave_folders),
      cmocka_unit_test_setup_teardown(test_claims_of_too_many_pixels, enter_folders, leave_folders),
      cmocka_unit_test_setup_teardown(test_mistakes, enter_folders, leave_folders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
