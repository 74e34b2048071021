/* Pictures: folders of JPEG and PNG files, decoding against what was encoded, cutting, what is
 * random; the source `files`. */
#include <stdio.h>

#include <sys/stat.h>
#include <unistd.h>

#include "folders.h"
#include "nnc_half.h"

static void test_classes_and_values(void **state) {
  (void)state;
  nnc_model model =
      MODEL(1, SET("train", PIPELINE(XY, FOLDER(THREADS(2)), CROP(center_crop, 8, 10))));
  nnc_entry entry = ENTRY_OF(NNC_U8, 1, 3, 8, 10);
  nnc_fitted fitted = {0};
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  assert_int_equal(nnc_data_examples(data), 4);
  assert_string_equal(nnc_fitted_class_names(&fitted, "y")->strings[1], "b");
  static unsigned char x[4][3][8][10], painted[MOST];
  int32_t y[4];
  char message[NNC_MESSAGE] = "";
  assert_int_equal(nnc_data_read(data, 0, 4, (void *[]){x, y}, message), 0);
  assert_memory_equal(y, ((int32_t[]){0, 0, 1, 1}), sizeof y);
  static const struct {
    int height, width, channels, shade, top, left, error;
  } files[] = {{20, 30, 3, 10, 6, 10, 0},
               {8, 10, 1, 40, 0, 0, 2},
               {8, 10, 3, 70, 0, 0, 0},
               {8, 10, 3, 100, 0, 0, 3}};
  for (int i = 0; i < 4; i++) {
    paint(painted, files[i].height, files[i].width, files[i].channels, files[i].shade);
    for (int c = 0; c < 3; c++)
      for (int r = 0; r < 8; r++)
        for (int k = 0; k < 10; k++) {
          int channel = files[i].channels == 1 ? 0 : c;
          int place = (r + files[i].top) * files[i].width + k + files[i].left;
          int wanted = painted[place * files[i].channels + channel];
          assert_true(abs(x[i][c][r][k] - wanted) <= files[i].error);
        }
  }
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

static void test_float_inputs_get_the_same_numbers(void **state) {
  (void)state;
  nnc_model model = MODEL(1, SET("train", PIPELINE(XY, FOLDER(THREADS(1)), CROP(resize, 5, 7))));
  nnc_entry bytes = ENTRY_OF(NNC_U8, 1, 1, 5, 7), floats = ENTRY_OF(NNC_F32, 1, 1, 5, 7);
  nnc_fitted fitted = {0};
  unsigned char x[4][35];
  float f[4][35];
  int32_t y[4];
  char message[NNC_MESSAGE] = "";
  nnc_data *data = open_well(&model, "train", &bytes, &fitted);
  assert_int_equal(nnc_data_read(data, 0, 4, (void *[]){x, y}, message), 0);
  nnc_data_close(data);
  data = open_well(&model, "train", &floats, &fitted);
  assert_int_equal(nnc_data_read(data, 0, 4, (void *[]){f, y}, message), 0);
  for (int i = 0; i < 4 * 35; i++) assert_true((&f[0][0])[i] == (&x[0][0])[i]);
  nnc_data_close(data);
  static const int halves[] = {NNC_BF16, NNC_F16};
  for (int k = 0; k < 2; k++) {
    nnc_entry half = ENTRY_OF(halves[k], 1, 1, 5, 7);
    uint16_t h[4][35];
    data = open_well(&model, "train", &half, &fitted);
    assert_int_equal(nnc_data_read(data, 0, 4, (void *[]){h, y}, message), 0);
    for (int i = 0; i < 4 * 35; i++) {
      uint16_t bits = (&h[0][0])[i];
      float value = k ? nnc_from_f16(bits) : nnc_from_bf16(bits);
      assert_true(value == (&x[0][0])[i]);
    }
    nnc_data_close(data);
  }
  nnc_fitted_free(&fitted);
}

/* Crops and flips are parts of the picture, differ between epochs, and come again. */
static void test_random_stages(void **state) {
  (void)state;
  nnc_model model = MODEL(2, SET("train", PIPELINE(XY, FOLDER(THREADS(3)), CROP(random_crop, 5, 6),
                                                   STAGE0(random_flip))));
  nnc_entry entry = ENTRY_OF(NNC_U8, 2, 3, 5, 6);
  nnc_fitted fitted = {0};
  char message[NNC_MESSAGE] = "";
  static unsigned char first[10][2][3][5][6], again[10][2][3][5][6];
  int32_t y[2];
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  nnc_loader_options options = nnc_loader_training(&model, data);
  int mirrored = 0, distinct = 0;
  for (int round = 0; round < 2; round++) {
    options.prefetch = round ? 0 : 3;
    nnc_loader *loader = nnc_loader_open(data, &options, message);
    assert_non_null(loader);
    for (int b = 0; b < 10; b++) {
      assert_int_equal(nnc_loader_next(loader, (void *[]){round ? again[b] : first[b], y}).count,
                       2);
      for (int i = 0; i < 2 && !round; i++)
        mirrored += first[b][i][0][0][0] > first[b][i][0][0][1]; /* painted brighter rightwards */
    }
    nnc_loader_close(loader);
  }
  assert_memory_equal(first, again, sizeof first);
  assert_true(mirrored > 2 && mirrored < 18);
  for (int b = 1; b < 10; b++) distinct += memcmp(first[b], first[0], sizeof first[0]) != 0;
  assert_true(distinct > 6);
  assert_int_equal(nnc_data_read(data, 1, 2, (void *[]){first, y}, message), 0);
  assert_int_equal(nnc_data_read(data, 1, 2, (void *[]){again, y}, message), 0);
  assert_memory_equal(first, again, 2 * 3 * 5 * 6);
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

static void test_split_and_prediction_files(void **state) {
  (void)state;
#define PART(from, to)                                                                             \
  PIPELINE(XY, FOLDER(THREADS(1)), STAGE(resize, ARG("height", NUM(8)), ARG("width", NUM(8))),     \
           STAGE(split, ARG("from", NUM(from)), ARG("to", NUM(to))))
  nnc_model model = MODEL(1, SET("train", PART(0, 0.5)), SET("val", PART(0.5, 1)));
  nnc_entry entry = ENTRY_OF(NNC_U8, 1, 3, 8, 8);
  nnc_fitted fitted = {0};
  char message[NNC_MESSAGE] = "", names[64];
  unsigned char x[2][3][8][8], again[3][8][8];
  int32_t y[2], sum = 0;
  for (int s = 0; s < 2; s++) {
    nnc_data *data = open_well(&model, s ? "val" : "train", &entry, &fitted);
    assert_int_equal(nnc_data_examples(data), 2);
    assert_int_equal(nnc_data_read(data, 0, 2, (void *[]){x, y}, message), 0);
    sum += y[0] + y[1];
    nnc_data_close(data);
  }
  assert_int_equal(sum, 2); /* two of each class in all */
  nnc_entry only = ENTRY(1, INPUT("x", NNC_U8, 1, 3, 8, 8));
  assert_int_equal(nnc_data_predict_files(&model, &only, names, sizeof names, message), 1);
  char one[256], folder[256];
  snprintf(one, sizeof one, "%s", path_to("t/b/2.jpg"));
  snprintf(folder, sizeof folder, "%s", path_to("t/b"));
  const char *files[] = {one, folder};
  nnc_data *data = nnc_data_open_predict(&model, &only, &(nnc_data_files){".", 2, files, NULL},
                                         &fitted, message);
  if (!data) fail_msg("%s", message);
  assert_int_equal(nnc_data_examples(data), 3); /* 2.jpg; 1.png, 2.jpg */
  assert_int_equal(nnc_data_read(data, 0, 1, (void *[]){x}, message), 0);
  assert_int_equal(nnc_data_read(data, 2, 1, (void *[]){again}, message), 0);
  assert_memory_equal(x, again, sizeof again);
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

/* What is called like a picture and is none is told: it would be missed, or waited for. */
static void test_entries_that_are_no_files(void **state) {
  (void)state;
  nnc_model model =
      MODEL(1, SET("train", PIPELINE(XY, FOLDER(THREADS(1)), CROP(center_crop, 8, 10))));
  nnc_entry entry = ENTRY_OF(NNC_U8, 1, 3, 8, 10);
  assert_int_equal(symlink("/nowhere/1.jpg", path_to("t/a/link.jpg")), 0);
  expect_failure(&model, "train", &entry, "$/t/a/link.jpg: the link leads nowhere");
  remove(path_to("t/a/link.jpg"));
  assert_int_equal(mkfifo(path_to("t/a/pipe.png"), 0600), 0);
  expect_failure(&model, "train", &entry, "$/t/a/pipe.png is called like a picture, but is a pipe");
  char pipe[256], message[NNC_MESSAGE] = "", expected[NNC_MESSAGE];
  snprintf(pipe, sizeof pipe, "%s", path_to("t/a/pipe.png"));
  nnc_entry only = ENTRY(1, INPUT("x", NNC_U8, 1, 3, 8, 10));
  nnc_fitted fitted = {0};
  nnc_data *data = nnc_data_open_predict(
      &model, &only, &(nnc_data_files){".", 1, (const char *[]){pipe}, NULL}, &fitted, message);
  static unsigned char x[MOST];
  assert_non_null(data);
  assert_int_equal(nnc_data_read(data, 0, 1, (void *[]){x}, message), -1);
  snprintf(expected, sizeof expected, "cannot read %s: it is a pipe", pipe);
  assert_string_equal(message, expected);
  nnc_data_close(data);
  remove(pipe);
  make_folder("t/a/folder.jpg");
  expect_failure(&model, "train", &entry,
                 "$/t/a/folder.jpg is called like a picture, but is a directory");
  remove(path_to("t/a/folder.jpg"));
  assert_int_equal(symlink("/dev/zero", path_to("t/a/zero.jpeg")), 0);
  expect_failure(&model, "train", &entry,
                 "$/t/a/zero.jpeg is called like a picture, but is a device");
  remove(path_to("t/a/zero.jpeg"));
  assert_int_equal(symlink("gone", path_to("t/c")), 0);
  expect_failure(&model, "train", &entry, "$/t/c: the link leads nowhere");
  remove(path_to("t/c"));
  write_text("t/a/note.txt", "");
  assert_int_equal(symlink("gone", path_to("t/a/other.txt")), 0); /* nobody asks for it */
  assert_int_equal(symlink("grey.jpeg", path_to("t/a/same.jpeg")), 0);
  data = open_well(&model, "train", &entry, &fitted);
  assert_int_equal(nnc_data_examples(data), 5);
  nnc_data_close(data);
  remove(path_to("t/a/same.jpeg"));
  remove(path_to("t/a/note.txt"));
  remove(path_to("t/a/other.txt"));
  nnc_fitted_free(&fitted);
}

/* No source waits for a pipe or reads a device, which has no end. */
static void test_data_files_that_are_no_files(void **state) {
  (void)state;
  assert_int_equal(mkfifo(path_to("pipe"), 0600), 0);
  const nnc_call sources[] = {
      SOURCE(idx, ARG("", STR("pipe"))), SOURCE(npy, ARG("", STR("pipe"))),
      SOURCE(csv, ARG("file", STR("pipe"))),
      SOURCE(text, ARG("file", STR("pipe")), ARG("length", NUM(4))),
      SOURCE(token_stream, ARG("file", STR("pipe")), ARG("length", NUM(4)))};
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_I32, 1, 4));
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    nnc_model model = MODEL(1, SET("train", PIPELINE(FIELDS("x"), sources[i])));
    expect_failure(&model, "train", &entry, "cannot open $/pipe: it is a pipe");
  }
  nnc_model zero =
      MODEL(1, SET("train", PIPELINE(FIELDS("x"), SOURCE(idx, ARG("", STR("/dev/zero"))))));
  expect_failure(&zero, "train", &entry, "cannot open /dev/zero: it is a device");
  nnc_model folder = MODEL(1, SET("train", PIPELINE(FIELDS("x"), SOURCE(idx, ARG("", STR("t"))))));
  expect_failure(&folder, "train", &entry, "cannot open $/t: it is a directory");
}

/* What draws in training does not elsewhere, unless the set that is read has the stage itself. */
static void test_stages_draw_where_the_program_says_so(void **state) {
  (void)state;
#define DRAWN PIPELINE(XY, FOLDER(THREADS(1)), CROP(random_crop, 5, 6), STAGE0(random_flip))
#define CUT PIPELINE(XY, FOLDER(THREADS(1)), CROP(center_crop, 5, 6))
  nnc_call given = {.function = "files", .source = &nnc_source_files, .line = 3, .column = 9};
  nnc_entry x = ENTRY(1, INPUT("x", NNC_U8, 1, 3, 5, 6));
  nnc_model drawn = MODEL(1, SET("train", DRAWN), SET("test", DRAWN));
  nnc_model cut = MODEL(1, SET("train", CUT), SET("test", CUT));
  nnc_model said = MODEL(1, SET("train", DRAWN),
                         SET("predict", PIPELINE(FIELDS("x"), given, CROP(random_crop, 5, 6))));
  drawn.predict = cut.predict = said.predict = x;
  nnc_fitted fitted = {0};
  char message[NNC_MESSAGE] = "", folder[256];
  snprintf(folder, sizeof folder, "%s", path_to("t/a"));
  static unsigned char middle[2][3 * 5 * 6], found[2][3 * 5 * 6];
  const char *files[] = {folder};
#define READ(opened, into)                                                                         \
  do {                                                                                             \
    nnc_data *data = opened;                                                                       \
    if (!data) fail_msg("%s", message);                                                            \
    read_well(data, 0, 2, (void *[]){into});                                                       \
    nnc_data_close(data);                                                                          \
  } while (0)
  READ(open_well(&cut, "train", &x, &fitted), middle);
  READ(open_well(&drawn, "train", &x, &fitted), found); /* evaluated */
  assert_memory_equal(found, middle, sizeof middle);
  READ(open_well(&drawn, "test", &x, &fitted), found); /* it says so itself */
  assert_memory_not_equal(found, middle, sizeof middle);
  READ(open_well(&drawn, "test", &drawn.predict, &fitted), found); /* predicted, not evaluated */
  assert_memory_equal(found, middle, sizeof middle);
  READ(nnc_data_open_predict(&drawn, &drawn.predict, &(nnc_data_files){".", 1, files, NULL},
                             &fitted, message),
       found);
  assert_memory_equal(found, middle, sizeof middle);
  READ(nnc_data_open_predict(&said, &said.predict, &(nnc_data_files){".", 1, files, NULL}, &fitted,
                             message),
       found);
  assert_memory_not_equal(found, middle, sizeof middle);
  nnc_fitted_free(&fitted);
}

/* Pictures stay where they are and rows of a table move together: the same part of both is matched. */
static void test_a_part_of_pictures_beside_one_of_a_table(void **state) {
  (void)state;
#define HALF STAGE(split, ARG("from", NUM(0.25)), ARG("to", NUM(0.75)))
#define PICTURE FOLDER(THREADS(1)), STAGE(resize, ARG("height", NUM(8)), ARG("width", NUM(8)))
#define NUMBERS SOURCE(csv, ARG("file", STR("n.csv")), ARG("header", TRUTH(0)))
  write_text("n.csv", "0\n1\n2\n3\n");
  nnc_model model = MODEL(
      1, SET("train", PIPELINE(FIELDS("x"), PICTURE, HALF), PIPELINE(FIELDS("y"), NUMBERS, HALF)),
      SET("turned", PIPELINE(FIELDS("y"), NUMBERS, HALF), PIPELINE(FIELDS("x"), PICTURE, HALF)),
      SET("all", PIPELINE(FIELDS("x"), PICTURE)),
      SET("shifted", PIPELINE(FIELDS("x"), PICTURE), PIPELINE(FIELDS("y"), NUMBERS, HALF)));
  nnc_entry entry = ENTRY_OF(NNC_U8, 1, 3, 8, 8), only = ENTRY(1, INPUT("x", NNC_U8, 1, 3, 8, 8));
  nnc_fitted fitted = {0};
  static unsigned char all[4][3 * 8 * 8], x[2][3 * 8 * 8];
  int32_t y[2];
  nnc_data *data = open_well(&model, "all", &only, &fitted);
  read_well(data, 0, 4, (void *[]){all});
  nnc_data_close(data);
  for (int s = 0; s < 2; s++) {
    data = open_well(&model, s ? "turned" : "train", &entry, &fitted);
    assert_int_equal(nnc_data_examples(data), 2);
    read_well(data, 0, 2, (void *[]){x, y});
    assert_true(y[0] < y[1]);
    for (int i = 0; i < 2; i++) assert_memory_equal(x[i], all[y[i]], sizeof x[i]);
    nnc_data_close(data);
  }
  expect_failure(&model, "shifted", &entry,
                 "x and y must go through the same stages that choose rows");
  nnc_fitted_free(&fitted);
}

/* `files`: every file of the command line is a row; lines beside it read what they name. */
static void test_files(void **state) {
  (void)state;
#define LINE(name, ...) PIPELINE(FIELDS(name), __VA_ARGS__)
  nnc_call files_source = {
      .function = "files", .source = &nnc_source_files, .line = 3, .column = 9};
  nnc_model model =
      MODEL(1, SET("train", PIPELINE(XY, FOLDER(THREADS(1)), CROP(resize, 8, 8))),
            SET("predict", LINE("x", files_source, CROP(resize, 8, 8)),
                LINE("n", (nnc_call){.function = "counter", .source = &nnc_source_counter}),
                LINE("y", SOURCE(csv, ARG("file", STR("y.csv")), ARG("header", TRUTH(0))))));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F32, 1, 3, 8, 8), INPUT("n", NNC_I64, 1));
  nnc_entry with_y = ENTRY(1, INPUT("x", NNC_F32, 1, 3, 8, 8), INPUT("y", NNC_U8, 1));
  nnc_fitted fitted = {0};
  char message[NNC_MESSAGE] = "", text[64], one[256], folder[256];
  assert_int_equal(nnc_data_predict_files(&model, &with_y, text, sizeof text, message), 1);
  assert_string_equal(text, "x (files)");
  snprintf(one, sizeof one, "%s", path_to("t/b/2.jpg"));
  snprintf(folder, sizeof folder, "%s", path_to("t/b"));
  const char *files[] = {one, "gone.png", folder, "-"};
  static float x[4][3 * 8 * 8];
  static unsigned char y[4];
  int64_t n[4];
  nnc_data *data = nnc_data_open_predict(&model, &entry, &(nnc_data_files){".", 3, files, NULL},
                                         &fitted, message);
  if (!data) fail_msg("%s", message);
  assert_int_equal(nnc_data_examples(data), 4); /* 2.jpg; gone.png; 1.png, 2.jpg */
  assert_int_equal(nnc_data_read(data, 0, 1, (void *[]){x[0], n}, message), 0);
  assert_int_equal(nnc_data_read(data, 1, 1, (void *[]){x[1], n + 1}, message), -1);
  assert_string_equal(message, "cannot read gone.png: No such file or directory");
  assert_int_equal(nnc_data_read(data, 2, 2, (void *[]){x[2], n + 2}, message), 0);
  assert_memory_equal(x[0], x[3], sizeof x[0]);
  assert_true(n[0] == 0 && n[2] == 2 && n[3] == 3);
  nnc_data_close(data);
  write_text("y.csv", "5\n7\n");
  data = nnc_data_open_predict(&model, &with_y,
                               &(nnc_data_files){directory(), 2, (const char *[]){one, one}, NULL},
                               &fitted, message);
  if (!data) fail_msg("%s", message);
  assert_int_equal(nnc_data_read(data, 0, 2, (void *[]){x, y}, message), 0);
  assert_true(y[0] == 5 && y[1] == 7);
  nnc_data_close(data);
  assert_null(nnc_data_open_predict(&model, &entry, &(nnc_data_files){".", 0, files, NULL}, &fitted,
                                    message));
  assert_string_equal(message, "predict needs 1 file: x (files); 0 given");
  assert_null(nnc_data_open_predict(&model, &entry, &(nnc_data_files){".", 1, files + 3, NULL},
                                    &fitted, message));
  assert_string_equal(message, "pictures are read from files, not from standard input");
  assert_null(nnc_data_open_predict(&model, &with_y, &(nnc_data_files){directory(), 1, files, NULL},
                                    &fitted, message));
  assert_string_equal(message, "x has 1 examples, but y has 2");
}
int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_classes_and_values, enter_folders, leave_folders),
      cmocka_unit_test_setup_teardown(test_float_inputs_get_the_same_numbers, enter_folders,
                                      leave_folders),
      cmocka_unit_test_setup_teardown(test_random_stages, enter_folders, leave_folders),
      cmocka_unit_test_setup_teardown(test_split_and_prediction_files, enter_folders,
                                      leave_folders),
      cmocka_unit_test_setup_teardown(test_entries_that_are_no_files, enter_folders, leave_folders),
      cmocka_unit_test_setup_teardown(test_data_files_that_are_no_files, enter_folders,
                                      leave_folders),
      cmocka_unit_test_setup_teardown(test_stages_draw_where_the_program_says_so, enter_folders,
                                      leave_folders),
      cmocka_unit_test_setup_teardown(test_a_part_of_pictures_beside_one_of_a_table, enter_folders,
                                      leave_folders),
      cmocka_unit_test_setup_teardown(test_files, enter_folders, leave_folders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
