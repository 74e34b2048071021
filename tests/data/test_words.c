/* Every source with every stage after it: whether the runtime takes the pair, and whether it then
 * delivers examples. With a folder in PROGRAMS each pair is also written there as a program, in a
 * file that says the verdict in its first line: run.sh asks `nnc check` for its own. */
#include <stdio.h>
#include <sys/stat.h>

#include <png.h>
#include <zlib.h>

#include "data/class.h"
#include "data/words.h"
#include "support.h"

enum { ROWS = 8, BATCH = 2, SIDE = 32 };

/* ---- data ---------------------------------------------------------------------------------- */

static char *path_to(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", directory(), name);
  return path;
}

static void write_picture(const char *name, int shade) {
  unsigned char bytes[SIDE * SIDE * 3];
  memset(bytes, shade, sizeof bytes);
  png_image image = {
      .version = PNG_IMAGE_VERSION, .width = SIDE, .height = SIDE, .format = PNG_FORMAT_RGB};
  assert_true(png_image_write_to_file(&image, path_to(name), 0, bytes, 0, NULL));
}

static void put(unsigned char **at, uint32_t number, int bytes) {
  for (int i = 0; i < bytes; i++) *(*at)++ = (unsigned char)(number >> 8 * i);
}

/* A zip archive of one stored member a.npy. */
static void write_archive(const void *bytes, uint32_t size) {
  static unsigned char archive[512 + 10 + 118 + ROWS * SIDE * SIDE], *at;
  at = archive;
  uint32_t sum = (uint32_t)crc32(0, bytes, size);
  for (int is_entry = 0; is_entry < 2; is_entry++) {
    put(&at, is_entry ? 0x02014b50 : 0x04034b50, 4);
    put(&at, 20, is_entry ? 4 : 2);
    put(&at, 0, 4); /* flags, method */
    put(&at, 0, 4);
    put(&at, sum, 4);
    put(&at, size, 4);
    put(&at, size, 4);
    put(&at, 5, 2);
    put(&at, 0, 2);
    for (int i = 0; is_entry && i < 14; i++) put(&at, 0, 1);
    memcpy(at, "a.npy", 5);
    at += 5;
    if (!is_entry) memcpy(at, bytes, size);
    if (!is_entry) at += size;
  }
  uint32_t directory = 30 + 5 + size;
  put(&at, 0x06054b50, 4);
  put(&at, 0, 4);
  put(&at, 1, 2);
  put(&at, 1, 2);
  put(&at, 46 + 5, 4);
  put(&at, directory, 4);
  put(&at, 0, 2);
  write_file("a.npz", archive, (size_t)(at - archive));
}

/* A tar archive of the pictures. */
static void write_tar(void) {
  static unsigned char archive[64 * 512];
  size_t used = 0;
  for (int i = 0; i < ROWS; i++) {
    char *header = (char *)archive + used;
    sprintf(header, "t/c/%d.png", i);
    FILE *file = fopen(path_to(header), "rb");
    assert_non_null(file);
    size_t size = fread(header + 512, 1, 1024, file);
    fclose(file);
    sprintf(header + 124, "%011o", (unsigned)size);
    header[156] = '0';
    memset(header + 148, ' ', 8);
    unsigned sum = 0;
    for (int k = 0; k < 512; k++) sum += (unsigned char)header[k];
    sprintf(header + 148, "%06o", sum);
    used += 512 + (size + 511) / 512 * 512;
  }
  write_file("a.tar", archive, used + 1024);
}

/* Four samples of 16 bits. */
static void write_sound(const char *name, int value) {
  unsigned char bytes[44 + 8], *at = bytes + 4;
  memcpy(bytes, "RIFF", 4);
  put(&at, 44, 4);
  memcpy(at, "WAVEfmt ", 8);
  at += 8;
  put(&at, 16, 4);
  put(&at, 1, 2);
  put(&at, 1, 2);
  put(&at, 8000, 4);
  put(&at, 16000, 4);
  put(&at, 2, 2);
  put(&at, 16, 2);
  memcpy(at, "data", 4);
  at += 4;
  put(&at, 8, 4);
  for (int i = 0; i < 4; i++) put(&at, (uint32_t)value, 2);
  write_file(name, bytes, sizeof bytes);
}

static int enter_data(void **state) {
  if (enter(state) < 0) return -1;
  static unsigned char idx[16 + ROWS * SIDE * SIDE] = {0, 0, 8, 3,    0, 0, 0, ROWS,
                                                       0, 0, 0, SIDE, 0, 0, 0, SIDE};
  for (int i = 0; i < ROWS * SIDE * SIDE; i++) idx[16 + i] = (unsigned char)i;
  write_file("a.idx", idx, sizeof idx);
  static char npy[10 + 118 + ROWS * SIDE * SIDE] = "\x93NUMPY\1";
  memset(npy + 10, ' ', 118);
  npy[7] = 0, npy[8] = 118, npy[9] = 0;
  memcpy(npy + 10, "{'descr': '|u1', 'fortran_order': False, 'shape': (8,32,32), }", 63);
  npy[127] = '\n';
  memcpy(npy + 128, idx + 16, ROWS * SIDE * SIDE);
  write_file("a.npy", npy, sizeof npy);
  write_archive(npy, sizeof npy);
  static unsigned char records[ROWS * 3073];
  write_file("a.bin", records, sizeof records);
  write_text("a.csv", "0\n1\n2\n3\n4\n5\n6\n7\n");
  write_text("b.csv", "0.png,0\n1.png,1\n2.png,2\n3.png,3\n4.png,4\n5.png,5\n6.png,6\n7.png,7\n");
  write_text("a.txt", "abcdefghabcdefghabcdefghabcdefgh");
  mkdir(path_to("t"), 0777);
  mkdir(path_to("t/c"), 0777);
  for (int i = 0; i < ROWS; i++) {
    char name[] = "t/c/0.png";
    name[4] = (char)('0' + i);
    write_picture(name, 20 * i);
  }
  write_tar();
  mkdir(path_to("w"), 0777);
  mkdir(path_to("w/c"), 0777);
  for (int i = 0; i < ROWS; i++) {
    char name[] = "w/c/0.wav";
    name[4] = (char)('0' + i);
    write_sound(name, 100 * i);
  }
  write_text("w.csv", "0.wav,0\n1.wav,1\n2.wav,2\n3.wav,3\n4.wav,4\n5.wav,5\n6.wav,6\n7.wav,7\n");
  return 0;
}

static int leave_data(void **state) {
  for (int i = 0; i < ROWS; i++) {
    char name[] = "t/c/0.png";
    name[4] = (char)('0' + i);
    remove(path_to(name));
    memcpy(name, "w", 1);
    memcpy(name + 6, "wav", 3);
    remove(path_to(name));
  }
  remove(path_to("t/c"));
  remove(path_to("t"));
  remove(path_to("w/c"));
  remove(path_to("w"));
  return leave(state);
}

/* ---- pairs --------------------------------------------------------------------------------- */

typedef struct Source {
  const char *name;
  nnc_call call;
  Names fields;
  nnc_tensor input;        /* of the first field */
  const char *line, *type; /* as the program has them */
} Source;

#define GREY INPUT("x", NNC_F32, BATCH, SIDE, SIDE)
#define FILE_EACH(word, file) SOURCE(word, ARG("", STR(file)))
#define STREAM(word) SOURCE(word, ARG("file", STR("a.txt")), ARG("length", NUM(4)))
#define BARE(word)                                                                                 \
  ((nnc_call){.function = #word, .source = &nnc_source_##word, .line = 3, .column = 9})

static nnc_pipeline beside(void) {
  static const char *const names[] = {"z"};
  static nnc_argument arguments[2];
  static nnc_call call;
  arguments[0] = ARG("file", STR("a.csv"));
  arguments[1] = ARG("header", TRUTH(0));
  call = (nnc_call){
      .function = "csv", .source = &nnc_source_csv, .argument_count = 2, .arguments = arguments};
  return (nnc_pipeline){1, names, 1, &call};
}

/* Opens the set and reads a batch of it. */
static bool runs(const Source *source, nnc_call stage, const char *expected) {
  bool follows = source->call.source->follow, is_predict = !strcmp(source->name, "files");
  nnc_call calls[] = {source->call, stage};
  nnc_pipeline pipelines[] = {{source->fields.count, source->fields.names, 2, calls}, beside()};
  nnc_data_set sets[] = {{is_predict ? "predict" : "train", follows ? 2 : 1, pipelines, 0, 0, 0}};
  nnc_model model = {
      .file = "test.net", .batch = BATCH, .seed = 1, .data_set_count = 1, .data_sets = sets};
  nnc_tensor inputs[] = {source->input, INPUT("z", NNC_F32, BATCH)};
  nnc_entry entry = {.batch = BATCH,
                     .input_count = follows ? 2 : 1,
                     .inputs = inputs,
                     .input_is_batched = (const unsigned char[]){1, 1}};
  nnc_fitted fitted = {0};
  char message[NNC_MESSAGE] = "";
  const char *files[] = {path_to("t/c")};
  nnc_data *data =
      is_predict ? nnc_data_open_predict(&model, &entry, &(nnc_data_files){".", 1, files, NULL},
                                         &fitted, message)
                 : nnc_data_open(&model, "train", &entry, directory(), &fitted, message);
  static double x[BATCH * 3 * 32 * 32], z[BATCH];
  bool good = data && nnc_data_read(data, 0, BATCH, (void *[]){x, z}, message) == 0;
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
  if (!good && !strstr(message, expected))
    fail_msg("%s | %s: %s", source->name, stage.function, message);
  return good;
}

static void write_program(const Source *source, const char *stage, const char *text, bool good) {
  const char *folder = getenv("PROGRAMS");
  if (!folder) return;
  char path[512];
  snprintf(path, sizeof path, "%s/%s_%s.net", folder, source->name, stage);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  bool is_predict = !strcmp(source->name, "files");
  fprintf(file, "# %s\nconst batch = %d\n", good ? "taken" : "refused", BATCH);
  if (is_predict)
    fprintf(file, "data train { x = npy(\"x.npy\"); z = npy(\"z.npy\") }\ndata predict {");
  else
    fprintf(file, "data train { z = csv(\"a.csv\", header = false)%s;",
            !strcmp(stage, "split") && good     ? " | split(0, 0.5)"
            : !strcmp(stage, "shuffle") && good ? " | shuffle"
            : !strcmp(stage, "fold") && good    ? " | fold(0, of = 2)"
                                                : "");
  fprintf(file, " %s | %s }\n", source->line, text);
  fprintf(file, "input x : %s\ninput z : f32[batch]\n", source->type);
  if (source->fields.count == 3)
    fprintf(file, "input y : u8[batch, 6, 2]\ninput m : u8[batch, 6, 1]\n");
  fprintf(file, "loss = mean(linear(z[:, none], 1)) + mean(f32(x))%s\n",
          source->fields.count == 3 ? " + mean(f32(y)) + mean(f32(m))" : "");
  fprintf(file, "train { minimize = loss, optimizer = sgd(lr = 0.1), epochs = 1 }\n");
  if (is_predict) fprintf(file, "predict { y = mean(f32(x)) }\n");
  assert_int_equal(fclose(file), 0);
}

static void test_every_source_with_every_stage(void **state) {
  (void)state;
  const Source sources[] = {
      {"idx", FILE_EACH(idx, "a.idx"), FIELDS("x"), GREY, "x = idx(\"a.idx\")",
       "f32[batch, 32, 32]"},
      {"npy", FILE_EACH(npy, "a.npy"), FIELDS("x"), GREY, "x = npy(\"a.npy\")",
       "f32[batch, 32, 32]"},
      {"npz", SOURCE(npz, ARG("file", STR("a.npz")), ARG("arrays", LIST(STR("a")))), FIELDS("x"),
       GREY, "x = npz(\"a.npz\", arrays = [\"a\"])", "f32[batch, 32, 32]"},
      {"raw", SOURCE(raw, ARG("", STR("a.idx")), ARG("type", STR("u8")), ARG("offset", NUM(16))),
       FIELDS("x"), GREY, "x = raw(\"a.idx\", type = \"u8\", offset = 16)", "f32[batch, 32, 32]"},
      {"cifar", FILE_EACH(cifar, "a.bin"), FIELDS("x"), INPUT("x", NNC_F32, BATCH, 3, 32, 32),
       "x = cifar(\"a.bin\")", "f32[batch, 3, 32, 32]"},
      {"csv", SOURCE(csv, ARG("file", STR("a.csv")), ARG("header", TRUTH(0))), FIELDS("x"),
       INPUT("x", NNC_F32, BATCH), "x = csv(\"a.csv\", header = false)", "f32[batch]"},
      {"text", STREAM(text), FIELDS("x"), INPUT("x", NNC_I32, BATCH, 4),
       "x = text(\"a.txt\", length = 4)", "i32[batch, 4]"},
      {"token_stream", STREAM(token_stream), FIELDS("x"), INPUT("x", NNC_I32, BATCH, 4),
       "x = token_stream(\"a.txt\", length = 4)", "i32[batch, 4]"},
      {"copy_task",
       SOURCE(copy_task, ARG("words", NUM(2)), ARG("bits", NUM(2)), ARG("count", NUM(ROWS))),
       FIELDS("x", "y", "m"), INPUT("x", NNC_U8, BATCH, 6, 4),
       "x, y, m = copy_task(2, 2, count = 8)", "u8[batch, 6, 4]"},
      {"image_folder", SOURCE(image_folder, ARG("folder", STR("t"))), FIELDS("x"),
       INPUT("x", NNC_U8, BATCH, 3, SIDE, SIDE), "x = image_folder(\"t\")", "u8[batch, 3, 32, 32]"},
      {"image_list",
       SOURCE(image_list, ARG("file", STR("b.csv")), ARG("header", TRUTH(0)),
              ARG("folder", STR("t/c"))),
       FIELDS("p", "x"), INPUT("x", NNC_F32, BATCH),
       "p, x = image_list(\"b.csv\", header = false, folder = \"t/c\")", "f32[batch]"},
      {"wav_folder", SOURCE(wav_folder, ARG("folder", STR("w")), ARG("rate", NUM(8000))),
       FIELDS("x"), INPUT("x", NNC_F32, BATCH, 4), "x = wav_folder(\"w\", 8000)", "f32[batch, 4]"},
      {"wav_list",
       SOURCE(wav_list, ARG("file", STR("w.csv")), ARG("header", TRUTH(0)),
              ARG("folder", STR("w/c")), ARG("rate", NUM(8000))),
       FIELDS("p", "x"), INPUT("x", NNC_F32, BATCH),
       "p, x = wav_list(\"w.csv\", header = false, folder = \"w/c\", rate = 8000)", "f32[batch]"},
      {"shards", SOURCE(shards, ARG("files", STR("a.tar"))), FIELDS("x"),
       INPUT("x", NNC_U8, BATCH, 3, SIDE, SIDE), "x = shards(\"a.tar\")", "u8[batch, 3, 32, 32]"},
      {"files", BARE(files), FIELDS("x"), INPUT("x", NNC_U8, BATCH, 3, SIDE, SIDE), "x = files()",
       "u8[batch, 3, 32, 32]"},
      {"counter", BARE(counter), FIELDS("x"), INPUT("x", NNC_I64, BATCH), "x = counter()",
       "i64[batch]"},
      {"constant", SOURCE(constant, ARG("value", NUM(3))), FIELDS("x"), INPUT("x", NNC_F32, BATCH),
       "x = constant(3)", "f32[batch]"}};
#define SIZED(word) STAGE(word, ARG("height", NUM(SIDE)), ARG("width", NUM(SIDE)))
#define LEARNT(word) STAGE(word, ARG("", NAME("x")))
  const struct {
    nnc_call call;
    const char *text;
  } stages[] = {{STAGE(split, ARG("from", NUM(0)), ARG("to", NUM(0.5))), "split(0, 0.5)"},
                {STAGE(fold, ARG("number", NUM(0)), ARG("of", NUM(2))), "fold(0, of = 2)"},
                {STAGE0(shuffle), "shuffle"},
                {STAGE(batch, ARG("size", NUM(BATCH))), "batch(2)"},
                {STAGE(prefetch, ARG("count", NUM(1))), "prefetch(1)"},
                {STAGE0(on_disk), "on_disk"},
                {LEARNT(standardize), "standardize(x)"},
                {LEARNT(impute), "impute(x)"},
                {LEARNT(categories), "categories(x)"},
                {STAGE(hash, ARG("", NAME("x")), ARG("buckets", NUM(5))), "hash(x, buckets = 5)"},
                {SIZED(resize), "resize(32, 32)"},
                {SIZED(center_crop), "center_crop(32)"},
                {SIZED(random_crop), "random_crop(32)"},
                {SIZED(random_resized_crop), "random_resized_crop(32)"},
                {STAGE(color_jitter, ARG("hue", NUM(0.1))), "color_jitter(hue = 0.1)"},
                {STAGE(pad, ARG("height", NUM(0))), "pad(0)"},
                {STAGE(random_affine, ARG("degrees", NUM(5))), "random_affine(degrees = 5)"},
                {STAGE0(random_erase), "random_erase"},
                {STAGE0(random_flip), "random_flip"}};
  size_t source_count = sizeof sources / sizeof *sources;
  size_t stage_count = sizeof stages / sizeof *stages;
  int listed = 0, taken = 0;
#define COUNT_WORD(...) listed++;
  DATA_SOURCES(COUNT_WORD)
  assert_int_equal(listed, source_count);
  listed = 0;
  DATA_STAGES(COUNT_WORD)
  /* without those that want other inputs: balance, weigh and window (test_choices.c); one_hot, mixup and
   * cutmix (test_mixing.c); boxes and with (tests/sources/boxes.py, masks.py) */
  assert_int_equal(listed - 8, stage_count);
  for (size_t s = 0; s < source_count; s++)
    for (size_t k = 0; k < stage_count; k++) {
      const struct nnc_stage_class *stage = stages[k].call.stage;
      /* A word that the list takes must work, and what it does not take is refused by it. */
      char expected[128];
      snprintf(expected, sizeof expected, "%s acts on ", stage->name);
      bool good = runs(&sources[s], stages[k].call, expected);
      assert_int_equal(good, (sources[s].call.source->gives & stage->acts_on) != 0);
      taken += good;
      write_program(&sources[s], stage->name, stages[k].text, good);
    }
  assert_int_equal(taken, 15 * 5 + 8 * 2 + 3 * 2 + 9 * 9 + 6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_every_source_with_every_stage, enter_data, leave_data)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
