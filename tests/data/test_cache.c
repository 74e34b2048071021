/* --cache: the values are those without it, whatever is kept and where, also when files change; files of caches that
 * are damaged, cut off, of something else, or in use.  There is one cache in a process, so each is opened in a copy of
 * this one. */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "data/advice.h"
#include "data/cache.h"
#include "folders.h"

enum { EPOCHS = 3, SIDE = 8, ROW = 3 * SIDE * SIDE, ROWS = 4, ALL = EPOCHS * ROWS * ROW };

typedef struct Reading {
  const nnc_model *model;
  int channels;
  bool draws;           /* by a loader, as training does; else as an evaluation */
  void (*change)(void); /* after each epoch; NULL: nothing */
  int64_t cached;       /* rows that the cache had */
} Reading;

static unsigned char wanted[ALL], found[ALL];

static void read_epochs(Reading *reading, unsigned char *x) {
  nnc_entry entry = ENTRY_OF(NNC_U8, ROWS, reading->channels, SIDE, SIDE);
  nnc_fitted fitted = {0};
  char message[NNC_MESSAGE] = "";
  int32_t y[ROWS];
  nnc_data *data = open_well(reading->model, "train", &entry, &fitted);
  nnc_loader_options options = {.batch = ROWS, .shuffle = 1, .seed = 5};
  nnc_loader *loader = nnc_loader_open(data, &options, message);
  assert_non_null(loader);
  memset(x, 0, ALL);
  for (int epoch = 0; epoch < EPOCHS; epoch++, x += ROWS * ROW) {
    void *inputs[] = {x, y};
    int64_t count = reading->draws ? nnc_loader_next(loader, inputs).count
                                   : ROWS + nnc_data_read(data, 0, ROWS, inputs, message);
    if (count != ROWS) fail_msg("%s%s", message, nnc_loader_failure(loader));
    if (reading->change) reading->change();
  }
  reading->cached = nnc_data_spend(data).cached;
  nnc_loader_close(loader);
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

/* What a copy of this process reads with that cache, into `found`; 0, or 1 where it does not open. */
static int read_cached(Reading *reading, const char *cache) {
  int ends[2];
  char message[NNC_MESSAGE] = "";
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (data_cache_open(cache, message) < 0) _exit(1);
    read_epochs(reading, found);
    bool is_told =
        write(ends[1], found, ALL) == ALL &&
        write(ends[1], &reading->cached, sizeof reading->cached) == sizeof reading->cached;
    _exit(is_told ? 0 : 2);
  }
  close(ends[1]);
  size_t got = 0;
  unsigned char told[ALL + sizeof reading->cached];
  for (ssize_t n; (n = read(ends[0], told + got, sizeof told - got)) > 0;) got += (size_t)n;
  close(ends[0]);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
  if (WEXITSTATUS(status) == 1) return 1;
  assert_int_equal(got, sizeof told);
  memcpy(found, told, ALL);
  memcpy(&reading->cached, told + ALL, sizeof reading->cached);
  return 0;
}

static void expect_same(Reading *reading, const char *cache, int64_t least_cached) {
  assert_int_equal(read_cached(reading, cache), 0);
  assert_memory_equal(found, wanted, sizeof found);
  if (reading->cached < least_cached)
    fail_msg("%s: %lld of %d rows are cached, not %lld", cache, (long long)reading->cached,
             EPOCHS * ROWS, (long long)least_cached);
}

static const char *in_file(const char *size) {
  static char text[300];
  snprintf(text, sizeof text, "%s,in=%s", size, path_to("kept"));
  return text;
}

/* ---- values ---- */

#define LINE(...) PIPELINE(XY, FOLDER(THREADS(3)), __VA_ARGS__)
#define CROPS CROP(random_crop, SIDE, SIDE), STAGE0(random_flip)
static const nnc_argument jitter[] = {{"brightness", {.kind = NNC_NUMBER, .number = 0.3}}};

static void test_the_values_are_those_without(void **state) {
  (void)state;
  write_jpeg("t/b/2.jpg", 64, 60, 3, 30); /* reduced when it is decoded for a small part */
  const nnc_call color = {.function = "color_jitter",
                          .stage = &nnc_stage_color_jitter,
                          .argument_count = 1,
                          .arguments = jitter};
  const nnc_pipeline lines[] = {
      LINE(CROPS),
      LINE(CROP(random_resized_crop, SIDE, SIDE), STAGE0(random_flip), color),
      LINE(STAGE(resize, ARG("height", NUM(12))), CROPS),
      LINE(STAGE(resize, ARG("height", NUM(12))),
           STAGE(pad, ARG("height", NUM(3)), ARG("value", NUM(9))), CROPS),
      LINE(CROP(center_crop, 40, 40), CROP(random_resized_crop, SIDE, SIDE)),
      LINE(CROP(center_crop, 7, 9), STAGE(pad, ARG("height", NUM(4))), color, CROPS),
      LINE(CROP(resize, 9, 9), CROP(resize, 12, 11), CROP(center_crop, 10, 10), CROPS),
      LINE(CROP(resize, SIDE, SIDE)),
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    for (int kind = 0; kind < 4; kind++) {
      nnc_model model = {.file = "test.net",
                         .batch = ROWS,
                         .seed = 1,
                         .data_set_count = 1,
                         .data_sets = &(nnc_data_set){
                             .name = "train", .pipeline_count = 1, .pipelines = &lines[i]}};
      Reading reading = {&model, kind & 1 ? 1 : 3, kind & 2, NULL, 0};
      read_epochs(&reading, wanted);
      assert_int_equal(reading.cached, 0);
      expect_same(&reading, "1M", (EPOCHS - 1) * ROWS);
      expect_same(&reading, "1M,encoded", (EPOCHS - 1) * ROWS);
      expect_same(&reading, "900", 0); /* has room for some */
      expect_same(&reading, in_file("1M"), (EPOCHS - 1) * ROWS);
      expect_same(&reading, in_file("1M"), EPOCHS * ROWS);
      expect_same(&reading, in_file("1"), EPOCHS * ROWS); /* there is no room for more */
      assert_int_equal(remove(path_to("kept")), 0);
    }
}

/* ---- files that change ---- */

static int changes;

/* Another picture of the same size and the same time of writing. */
static void repaint(void) {
  struct stat status;
  assert_int_equal(stat(path_to("t/b/1.png"), &status), 0);
  write_png("t/b/1.png", SIDE, 10, 3, 100 + 10 * ++changes);
  const struct timespec times[] = {status.st_atim, status.st_mtim};
  assert_int_equal(utimensat(AT_FDCWD, path_to("t/b/1.png"), times, 0), 0);
}

static void test_files_that_change(void **state) {
  (void)state;
  nnc_model model = MODEL(ROWS, SET("train", LINE(CROPS)));
  Reading reading = {&model, 3, true, repaint, 0};
  const char *const caches[] = {"1M", "1M,encoded", NULL};
  for (int i = 0; i < 3; i++) {
    changes = 0;
    write_png("t/b/1.png", SIDE, 10, 3, 100);
    read_epochs(&reading, wanted);
    changes = 0;
    write_png("t/b/1.png", SIDE, 10, 3, 100);
    expect_same(&reading, caches[i] ? caches[i] : in_file("1M"), (EPOCHS - 1) * (ROWS - 1));
  }
  /* between two runs, whose names are the same */
  reading.change = NULL;
  repaint();
  read_epochs(&reading, wanted);
  expect_same(&reading, in_file("1M"), EPOCHS * (ROWS - 1));
  assert_int_equal(remove(path_to("t/b/1.png")), 0);
  assert_int_equal(mkdir(path_to("t/b/1.png"), 0777), 0);
  assert_int_equal(rmdir(path_to("t/b/1.png")), 0);
  write_png("t/b/1.png", SIDE, 10, 3, 70);
}

/* ---- files of caches ---- */

static void test_damaged_caches(void **state) {
  (void)state;
  static unsigned char whole[1 << 14], bytes[1 << 14];
  nnc_model model = MODEL(ROWS, SET("train", LINE(CROPS)));
  Reading reading = {&model, 1, false, NULL, 0};
  read_epochs(&reading, wanted);
  expect_same(&reading, in_file("1M"), (EPOCHS - 1) * ROWS);
  int file = open(path_to("kept"), O_RDONLY);
  ssize_t size = read(file, whole, sizeof whole);
  close(file);
  assert_true(size > 500 && size < (ssize_t)sizeof whole);
  for (ssize_t at = 0; at < size; at += 37) { /* one bit is wrong */
    memcpy(bytes, whole, (size_t)size);
    bytes[at] ^= 16;
    write_file("kept", bytes, (size_t)size);
    if (at < 32) assert_int_equal(read_cached(&reading, in_file("1M")), 1);
    else expect_same(&reading, in_file("1M"), 0);
  }
  for (ssize_t end = 0; end < size; end += 41) { /* it ends there, and is whole again after a run */
    write_file("kept", whole, (size_t)end);
    expect_same(&reading, in_file("1M"), 0);
    expect_same(&reading, in_file("1M"), EPOCHS * ROWS);
  }
  write_text("kept", "notes of mine");
  assert_int_equal(read_cached(&reading, in_file("1M")), 1);
  file = open(path_to("kept"), O_RDONLY);
  assert_int_equal(read(file, bytes, sizeof bytes), 13); /* and stay what they are */
  close(file);
}

/* ---- files that somebody made, whose digests are right ---- */

enum { HEIGHT, WIDTH, TOP, LEFT, PART_HEIGHT, PART_WIDTH, DIVISOR, NOTES };
enum { TITLE = 32, RECORD = sizeof(DataCacheItem) + sizeof(uint64_t), MOST_FILE = 1 << 19 };
static unsigned char before[MOST_FILE], after[MOST_FILE];

static ssize_t read_kept(void) {
  int file = open(path_to("kept"), O_RDONLY);
  ssize_t size = read(file, before, sizeof before);
  close(file);
  assert_true(size > TITLE && size < MOST_FILE);
  return size;
}

/* Adds a record to the file in `after`, which has `end` bytes; its new end. The size is of the bytes, which are all
 * `shade`, or as before. */
static size_t put_record(size_t end, DataCacheItem item, const unsigned char *bytes, int shade) {
  size_t at = end + RECORD, size = item.size > 0 ? (size_t)item.size : 0;
  assert_true(at + size < MOST_FILE);
  if (shade < 0) memcpy(after + at, bytes, size);
  else memset(after + at, shade, size);
  item.at = (int64_t)at;
  item.stored = data_digest(after + at, size, 0);
  memcpy(after + end, &item, sizeof item);
  uint64_t self = data_digest(after + end, sizeof item, 0).parts[0];
  memcpy(after + end + sizeof item, &self, sizeof self);
  return at + size;
}

typedef struct Forgery {
  int64_t notes[NOTES]; /* KEEP: as it is */
  int64_t size;         /* KEEP, or FITTING: the part's */
} Forgery;
#define KEEP INT64_C(-77)
#define FITTING INT64_C(-78)

/* Changes all records of the cache's file that have this divisor, or any (-1). */
static void forge(ssize_t size, const Forgery *forgery, int divisor, int channels) {
  size_t end = TITLE;
  memcpy(after, before, TITLE);
  for (ssize_t at = TITLE; at < size;) {
    DataCacheItem item;
    memcpy(&item, before + at, sizeof item);
    const unsigned char *bytes = before + at + RECORD;
    at += RECORD + (ssize_t)item.size;
    bool is_meant = divisor < 0 || item.notes[DIVISOR] == divisor;
    for (int i = 0; is_meant && i < NOTES; i++)
      if (forgery->notes[i] != KEEP) item.notes[i] = forgery->notes[i];
    if (is_meant && forgery->size == FITTING)
      item.size = item.notes[PART_HEIGHT] * item.notes[PART_WIDTH] * channels;
    else if (is_meant && forgery->size != KEEP) item.size = forgery->size;
    end = put_record(end, item, bytes, is_meant ? 200 : -1);
  }
  write_file("kept", after, end);
}

#define AS KEEP, KEEP, KEEP
#define ALL_AS AS, AS, KEEP
static const Forgery forgeries[] = {
    {{0, AS, AS}, KEEP},
    {{-1, AS, AS}, KEEP},
    {{INT64_C(1) << 40, AS, AS}, KEEP},
    {{INT64_MIN, AS, AS}, KEEP},
    {{INT64_MAX, INT64_MAX, 0, 0, AS}, KEEP},
    {{KEEP, 0, KEEP, KEEP, AS}, KEEP},
    {{KEEP, INT64_MIN, KEEP, KEEP, AS}, KEEP},
    {{KEEP, KEEP, 1, KEEP, AS}, KEEP},
    {{KEEP, KEEP, -1, KEEP, AS}, KEEP},
    {{AS, 1, AS}, KEEP},
    {{AS, INT64_MIN, AS}, KEEP},
    {{AS, KEEP, 3, KEEP, KEEP}, KEEP},
    {{AS, KEEP, 3, 3, KEEP}, FITTING},
    {{AS, KEEP, 5, 5, 0}, FITTING},
    {{5, 5, 0, 0, 5, 5, 0}, KEEP},
    {{6, 5, 0, 0, 5, 5, 1}, FITTING},
    {{AS, KEEP, -1, -1, KEEP}, KEEP},
    {{AS, KEEP, INT64_C(1) << 33, INT64_C(1) << 31, KEEP}, 0}, /* their product is 0 */
    {{INT64_C(1) << 33, INT64_C(1) << 31, 0, 0, INT64_C(1) << 33, INT64_C(1) << 31, 1}, 0},
    {{AS, KEEP, KEEP, KEEP, -1}, KEEP},
    {{AS, KEEP, KEEP, KEEP, 2}, KEEP},
    {{AS, KEEP, KEEP, KEEP, 3}, KEEP},
    {{AS, KEEP, KEEP, KEEP, INT64_C(1) << 32}, KEEP},
    {{ALL_AS}, 0},
    {{ALL_AS}, 1},
    {{ALL_AS}, 30000},
};

/* Lines that keep parts of files, what is computed in sizes that are known, and in others. */
#define KEPT_LINES                                                                                 \
  {                                                                                                \
    LINE(CROPS), LINE(CROP(center_crop, 7, 9), CROP(random_crop, SIDE, SIDE)),                     \
        LINE(CROP(resize, SIDE, SIDE), STAGE0(random_flip)),                                       \
        LINE(STAGE(resize, ARG("height", NUM(12))), CROPS),                                        \
        LINE(STAGE0(random_flip), CROP(resize, SIDE, SIDE))                                        \
  }

static nnc_model model_of(const nnc_pipeline *line, nnc_data_set *set) {
  *set = (nnc_data_set){.name = "train", .pipeline_count = 1, .pipelines = line};
  return (nnc_model){
      .file = "test.net", .batch = ROWS, .seed = 1, .data_set_count = 1, .data_sets = set};
}

/* They count as missing: the first epoch makes all rows of the files, and keeps them again. */
static void test_forged_items(void **state) {
  (void)state;
  const nnc_pipeline lines[] = KEPT_LINES;
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    for (int channels = 1; channels < 4; channels += 2) {
      nnc_data_set set;
      nnc_model model = model_of(&lines[i], &set);
      Reading reading = {&model, channels, true, NULL, 0};
      read_epochs(&reading, wanted);
      remove(path_to("kept"));
      expect_same(&reading, in_file("1M"), (EPOCHS - 1) * ROWS);
      ssize_t size = read_kept();
      for (size_t k = 0; k < sizeof forgeries / sizeof *forgeries; k++) {
        forge(size, &forgeries[k], -1, channels);
        expect_same(&reading, in_file("1M"), 0);
        if (reading.cached != (EPOCHS - 1) * ROWS)
          fail_msg("line %zu, forgery %zu: %lld rows of the cache", i, k,
                   (long long)reading.cached);
        expect_same(&reading, in_file("1M"), EPOCHS * ROWS); /* by what was added */
      }
    }
}

/* Pixels of another size that are right in themselves: they are shown. Where the file is decoded after all, in part of its
 * size, it is found to be another. */
static void test_forged_pictures(void **state) {
  (void)state;
  const nnc_pipeline lines[] = KEPT_LINES;
  static const Forgery forgery = {{60, 64, 0, 0, 60, 64, KEEP}, FITTING};
  static const Forgery wide = {{4, 3200, 0, 0, 4, 3200, KEEP}, FITTING};
  write_jpeg("t/b/2.jpg", 64, 60, 3, 30);
  for (int line = 0; line < 5; line += 4) {
    nnc_data_set set;
    nnc_model model = model_of(&lines[line], &set);
    Reading reading = {&model, 3, true, NULL, 0};
    read_epochs(&reading, wanted);
    remove(path_to("kept"));
    expect_same(&reading, in_file("1M"), (EPOCHS - 1) * ROWS);
    ssize_t size = read_kept();
    forge(size, &forgery, line ? 8 : -1, 3);
    if (line) {
      expect_same(&reading, in_file("1M"), 0); /* both JPEG files: one is no longer what it was */
      continue;
    }
    assert_int_equal(read_cached(&reading, in_file("1M")), 0);
    for (int k = 0; k < ALL; k++) assert_int_equal(found[k], 200);
    assert_int_equal(reading.cached, EPOCHS * ROWS);
    forge(size, &wide, -1, 3);
    assert_int_equal(read_cached(&reading, in_file("1M")), 0);
    for (int k = 0; k < ALL; k++) assert_int_equal(found[k], 200);
  }
}

/* Of files: the bytes are those that the item says, or no picture at all. */
static void test_forged_files(void **state) {
  (void)state;
  const nnc_pipeline lines[] = KEPT_LINES;
  nnc_data_set set;
  nnc_model model = model_of(&lines[0], &set);
  Reading reading = {&model, 3, true, NULL, 0};
  read_epochs(&reading, wanted);
  expect_same(&reading, in_file("1M,encoded"), (EPOCHS - 1) * ROWS);
  ssize_t size = read_kept();
  for (int kind = 0; kind < 3; kind++) {
    size_t end = TITLE;
    memcpy(after, before, TITLE);
    for (ssize_t at = TITLE; at < size;) {
      static unsigned char bytes[1 << 15];
      DataCacheItem item;
      memcpy(&item, before + at, sizeof item);
      memcpy(bytes, before + at + RECORD, (size_t)item.size);
      at += RECORD + (ssize_t)item.size;
      bytes[kind] ^= 1;
      if (kind == 1) item.content = data_digest(bytes, (size_t)item.size, 0);
      if (kind == 2) item.size = sizeof bytes - 1;
      end = put_record(end, item, bytes, -1);
    }
    write_file("kept", after, end);
    expect_same(&reading, in_file("1M,encoded"), (EPOCHS - 1) * ROWS);
    assert_int_equal(reading.cached, (EPOCHS - 1) * ROWS);
  }
  /* one that says more bytes than there is memory, in a file that has them */
  DataCacheItem item;
  memcpy(&item, before + TITLE, sizeof item);
  item.size = INT64_C(1) << 42;
  memcpy(before + TITLE, &item, sizeof item);
  uint64_t self = data_digest(&item, sizeof item, 0).parts[0];
  memcpy(before + TITLE + sizeof item, &self, sizeof self);
  write_file("kept", before, TITLE + RECORD);
  assert_int_equal(truncate(path_to("kept"), TITLE + RECORD + item.size), 0);
  expect_same(&reading, in_file("1M,encoded"), 0);
  assert_int_equal(reading.cached, 0); /* what is there leaves no room */
}

/* ---- what is no file ---- */

static void test_what_is_no_file(void **state) {
  (void)state;
  nnc_model model = MODEL(ROWS, SET("train", LINE(CROPS)));
  Reading reading = {&model, 1, false, NULL, 0};
  read_epochs(&reading, wanted);
  assert_int_equal(mkfifo(path_to("kept"), 0666), 0);
  assert_int_equal(read_cached(&reading, in_file("1M")), 1);
  remove(path_to("kept"));
  make_folder("kept");
  assert_int_equal(read_cached(&reading, in_file("1M")), 1);
  remove(path_to("kept"));
  assert_int_equal(symlink("kept", path_to("kept")), 0); /* to itself */
  assert_int_equal(read_cached(&reading, in_file("1M")), 1);
  remove(path_to("kept"));
  assert_int_equal(symlink("/dev/zero", path_to("kept")), 0);
  assert_int_equal(read_cached(&reading, in_file("1M")), 1);
  remove(path_to("kept"));
  assert_int_equal(symlink("v/there", path_to("kept")), 0); /* a name of a file that can be made */
  make_folder("v");
  expect_same(&reading, in_file("1M"), (EPOCHS - 1) * ROWS);
  expect_same(&reading, in_file("1M"), EPOCHS * ROWS);
  remove(path_to("v/there"));
}

/* One process adds; others read what is there. */
static void test_a_cache_in_use(void **state) {
  (void)state;
  nnc_model model = MODEL(ROWS, SET("train", LINE(CROPS)));
  Reading reading = {&model, 1, true, NULL, 0};
  read_epochs(&reading, wanted);
  remove(path_to("kept"));
  int file = open(path_to("kept"), O_RDWR | O_CREAT, 0666);
  assert_int_equal(flock(file, LOCK_EX), 0);
  expect_same(&reading, in_file("1M"), 0);
  struct stat status;
  assert_int_equal(fstat(file, &status), 0);
  assert_int_equal(status.st_size, 0);
  close(file);
  expect_same(&reading, in_file("1M"), (EPOCHS - 1) * ROWS);
  file = open(path_to("kept"), O_RDWR);
  assert_int_equal(flock(file, LOCK_EX), 0);
  expect_same(&reading, in_file("1M"), EPOCHS * ROWS);
  close(file);
  remove(path_to("kept"));
}

/* What a run that waits is told. */
static void test_advice(void **state) {
  (void)state;
  static const struct {
    const char *cache, *text;
    nnc_data_spent spent;
  } cases[] = {
      {NULL, "", {.threads = 2}},
      {NULL,
       ": a row takes 5.00 ms of one of 2 threads, 60% of it for decoding; --cache SIZE keeps what "
       "is decoded, and 'bench --data-only' measures it",
       {2, 100, 0, {0.1, 0.3, 0.1, 0}}},
      {NULL,
       ": a row takes 2.00 ms of one of 8 threads, 75% of it for reading files; --cache "
       "SIZE,encoded keeps the files in memory, and 'bench --data-only' measures it",
       {8, 10, 0, {0.015, 0.005, 0, 0}}},
      {"1M",
       ": a row takes 1.00 ms of one of 1 threads, 70% of it for scaling and cutting; a larger "
       "--cache has room for more of it, and 'bench --data-only' measures it",
       {1, 10, 5, {0.001, 0.001, 0.007, 0.001}}},
      {"1M",
       ": a row takes 1.00 ms of one of 1 threads, 70% of it for scaling and cutting; smaller "
       "pictures take less, and 'bench --data-only' measures it",
       {1, 10, 10, {0.001, 0.001, 0.007, 0.001}}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[NNC_MESSAGE] = "", message[NNC_MESSAGE] = "";
    int status;
    pid_t child = fork();
    if (child == 0) {
      if (cases[i].cache) (void)data_cache_open(cases[i].cache, message);
      data_advice(&cases[i].spent, text, sizeof text);
      if (strcmp(text, cases[i].text) != 0) fprintf(stderr, "%s\n", text);
      _exit(strcmp(text, cases[i].text) != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0) fail_msg("%s", cases[i].text);
  }
}

/* Other sources have no cache that could help. */
static void test_advice_without_a_cache(void **state) {
  (void)state;
  const nnc_data_spent spent = {.threads = 2, .rows = 10, .seconds = {0.001, 0, 0, 0.003}};
  char text[NNC_MESSAGE] = "";
  data_advice_plain(&spent, text, sizeof text);
  assert_string_equal(text,
                      ": a row takes 0.40 ms of one of 2 threads, 75% of it for converting; 'bench "
                      "--data-only' measures it");
  text[0] = 0;
  data_advice_plain(&(nnc_data_spent){.threads = 2}, text, sizeof text);
  assert_string_equal(text, "");
}

static void test_messages(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "--cache wants a size first, such as 512M or 1.5G, not ''"},
      {"in=x", "--cache wants a size first, such as 512M or 1.5G, not 'in=x'"},
      {"-4G", "--cache wants a size first, such as 512M or 1.5G, not '-4G'"},
      {"nan", "--cache wants a size first, such as 512M or 1.5G, not 'nan'"},
      {"4G,fast,in=x", "--cache: 'fast' is neither 'encoded' nor 'in=FILE', which may follow the "
                       "size, as in 4G,encoded,in=cats.cache"},
      {"4G,in=", "--cache: 'in=' is neither 'encoded' nor 'in=FILE', which may follow the size, as "
                 "in 4G,encoded,in=cats.cache"},
      {"4G,in=/dev/null/such", "--cache: cannot open /dev/null/such: Not a directory"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char message[NNC_MESSAGE] = "";
    int status;
    pid_t child = fork();
    if (child == 0) {
      bool is_refused = data_cache_open(cases[i].text, message) < 0;
      if (strcmp(message, cases[i].message) != 0) fprintf(stderr, "%s\n", message);
      _exit(!is_refused || strcmp(message, cases[i].message) != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0) fail_msg("--cache=%s", cases[i].text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_the_values_are_those_without, enter_folders,
                                      leave_folders),
      cmocka_unit_test_setup_teardown(test_files_that_change, enter_folders, leave_folders),
      cmocka_unit_test_setup_teardown(test_damaged_caches, enter_folders, leave_folders),
      cmocka_unit_test_setup_teardown(test_forged_items, enter_folders, leave_folders),
      cmocka_unit_test_setup_teardown(test_forged_pictures, enter_folders, leave_folders),
      cmocka_unit_test_setup_teardown(test_forged_files, enter_folders, leave_folders),
      cmocka_unit_test_setup_teardown(test_what_is_no_file, enter_folders, leave_folders),
      cmocka_unit_test_setup_teardown(test_a_cache_in_use, enter_folders, leave_folders),
      cmocka_unit_test(test_advice),
      cmocka_unit_test(test_advice_without_a_cache),
      cmocka_unit_test(test_messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
