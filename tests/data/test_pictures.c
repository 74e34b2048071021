/* Pictures: folders of JPEG and PNG files, decoding against what was encoded, cutting, what is
 * random, damaged files; the source `files`. */
#include <stdio.h>

#include <jpeglib.h>
#include <png.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "data/skipped.h"
#include "support.h"
#include "nnc_half.h"

enum { MOST = 64 * 64 * 3 };

/* --- files ------------------------------------------------------------------------------------ */

static char *path_to(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", directory(), name);
  return path;
}

static void make_folder(const char *name) { assert_int_equal(mkdir(path_to(name), 0777), 0); }

/* Smooth enough for a JPEG of high quality to stay near it. */
static void paint(unsigned char *bytes, int height, int width, int channels, int shade) {
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      for (int c = 0; c < channels; c++)
        bytes[(y * width + x) * channels + c] =
            (unsigned char)(shade + 2 * y + (c == 1 ? 3 : 1) * x + 20 * c);
}

static void write_png(const char *name, int height, int width, int channels, int shade) {
  unsigned char bytes[MOST];
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .width = (unsigned)width,
                     .height = (unsigned)height,
                     .format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB};
  paint(bytes, height, width, channels, shade);
  assert_true(png_image_write_to_file(&image, path_to(name), 0, bytes, 0, NULL));
}

static void write_jpeg(const char *name, int height, int width, int channels, int shade) {
  unsigned char bytes[MOST];
  struct jpeg_compress_struct encoder;
  struct jpeg_error_mgr errors;
  FILE *file = fopen(path_to(name), "wb");
  assert_non_null(file);
  paint(bytes, height, width, channels, shade);
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  jpeg_stdio_dest(&encoder, file);
  encoder.image_height = (unsigned)height;
  encoder.image_width = (unsigned)width;
  encoder.input_components = channels;
  encoder.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, 98, TRUE);
  for (int i = 0; i < channels; i++)
    encoder.comp_info[i].h_samp_factor = encoder.comp_info[i].v_samp_factor = 1;
  jpeg_start_compress(&encoder, TRUE);
  while (encoder.next_scanline < encoder.image_height) {
    JSAMPROW row = bytes + encoder.next_scanline * encoder.image_width * (unsigned)channels;
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  assert_int_equal(fclose(file), 0);
}

static int leave_folders(void **state) {
  static const char *const names[] = {"t/b/2.jpg",     "t/b/1.png", "t/b/x.txt", "t/a/big.PNG",
                                      "t/a/grey.jpeg", "t/b",       "t/a",       "t",
                                      "v/c/1.png",     "v/c",       "v"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) remove(path_to(names[i]));
  return leave(state);
}

/* a: a grey JPEG and a larger PNG; b: a PNG and a JPEG, and a file that is none. */
static int enter_folders(void **state) {
  if (enter(state) < 0) return -1;
  make_folder("t");
  make_folder("t/a");
  make_folder("t/b");
  write_png("t/a/big.PNG", 20, 30, 3, 10);
  write_jpeg("t/a/grey.jpeg", 8, 10, 1, 40);
  write_png("t/b/1.png", 8, 10, 3, 70);
  write_jpeg("t/b/2.jpg", 8, 10, 3, 100);
  write_text("t/b/x.txt", "no picture");
  return 0;
}

#define FOLDER(...) SOURCE(image_folder, ARG("folder", STR("t")), __VA_ARGS__)
#define THREADS(n) ARG("workers", NUM(n))
#define CROP(kind, h, w) STAGE(kind, ARG("height", NUM(h)), ARG("width", NUM(w)))
#define XY FIELDS("x", "y")
#define ENTRY_OF(type, batch, channels, h, w)                                                      \
  ENTRY(batch, INPUT("x", type, batch, channels, h, w), INPUT("y", NNC_I32, batch))

/* --- tests ------------------------------------------------------------------------------------ */

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
  nnc_data *data =
      nnc_data_open_predict(&model, &only, &(nnc_data_files){".", 2, files}, &fitted, message);
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
      &model, &only, &(nnc_data_files){".", 1, (const char *[]){pipe}}, &fitted, message);
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
  READ(nnc_data_open_predict(&drawn, &drawn.predict, &(nnc_data_files){".", 1, files}, &fitted,
                             message),
       found);
  assert_memory_equal(found, middle, sizeof middle);
  READ(nnc_data_open_predict(&said, &said.predict, &(nnc_data_files){".", 1, files}, &fitted,
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
  nnc_data *data =
      nnc_data_open_predict(&model, &entry, &(nnc_data_files){".", 3, files}, &fitted, message);
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
                               &(nnc_data_files){directory(), 2, (const char *[]){one, one}},
                               &fitted, message);
  if (!data) fail_msg("%s", message);
  assert_int_equal(nnc_data_read(data, 0, 2, (void *[]){x, y}, message), 0);
  assert_true(y[0] == 5 && y[1] == 7);
  nnc_data_close(data);
  assert_null(
      nnc_data_open_predict(&model, &entry, &(nnc_data_files){".", 0, files}, &fitted, message));
  assert_string_equal(message, "predict needs 1 file: x (files); 0 given");
  assert_null(nnc_data_open_predict(&model, &entry, &(nnc_data_files){".", 1, files + 3}, &fitted,
                                    message));
  assert_string_equal(message, "pictures are read from files, not from standard input");
  assert_null(nnc_data_open_predict(&model, &with_y, &(nnc_data_files){directory(), 1, files},
                                    &fitted, message));
  assert_string_equal(message, "x has 1 examples, but y has 2");
}

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
  expect_unreadable(&model, &entry, "t/b/2.jpg: neither a JPEG nor a PNG file");
  write_file("t/b/2.jpg", "\x89PNG\r\n\x1a\n\0\0", 10);
  expect_unreadable(&model, &entry, "t/b/2.jpg: cannot decode the PNG: read beyond end of data");
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
                 "test.net:3:9: the input x must be [batch, channels, height, width] with 1 or 3 "
                 "channels");
  nnc_model missing =
      MODEL(1, SET("train", PIPELINE(XY, SOURCE(image_folder, ARG("folder", STR("u"))))));
  expect_failure(&missing, "train", &entry,
                 "test.net:3:9: cannot read the folder $/u: No such file or directory; --data says "
                 "where the data is");
  nnc_model leaf =
      MODEL(1, SET("train", PIPELINE(XY, SOURCE(image_folder, ARG("folder", STR("t/a"))))));
  expect_failure(&leaf, "train", &entry,
                 "$/t/a has no folders; image_folder expects one for each class");
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
      cmocka_unit_test_setup_teardown(test_pictures_that_are_skipped, enter_folders, leave_folders),
      cmocka_unit_test_setup_teardown(test_damaged_pictures, enter_folders, leave_folders),
      cmocka_unit_test_setup_teardown(test_claims_of_too_many_pixels, enter_folders, leave_folders),
      cmocka_unit_test_setup_teardown(test_mistakes, enter_folders, leave_folders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
