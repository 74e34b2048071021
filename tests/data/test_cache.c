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
      cmocka_unit_test_setup_teardown(test_a_cache_in_use, enter_folders, leave_folders),
      cmocka_unit_test(test_advice),
      cmocka_unit_test(test_messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
