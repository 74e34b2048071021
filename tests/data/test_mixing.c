/* one_hot, mixup and cutmix: a picture of one shade a row and its class tell what an example was mixed of; shares are
 * distributed as Beta(alpha, alpha) is; nothing outside of training; the same for the same epoch and row. */
#include <math.h>

#include "data/set.h"
#include "support.h"

enum { ROWS = 96, BATCH = 16, SIDE = 10, BATCHES = ROWS / BATCH };

typedef struct Batch {
  float x[BATCH][SIDE][SIDE];
  float y[BATCH][ROWS];
} Batch;

/* Row r is of the shade r + 1 and of the class r. */
static void write_rows(void) {
  static unsigned char x[16 + ROWS * SIDE * SIDE] = {0, 0, 8, 3,    0, 0, 0, ROWS,
                                                     0, 0, 0, SIDE, 0, 0, 0, SIDE};
  unsigned char y[8 + ROWS] = {0, 0, 8, 1, 0, 0, 0, ROWS};
  for (int r = 0; r < ROWS; r++) {
    memset(x + 16 + r * SIDE * SIDE, r + 1, SIDE * SIDE);
    y[8 + r] = (unsigned char)r;
  }
  write_file("x", x, sizeof x);
  write_file("y", y, sizeof y);
}

#define FILES SOURCE(idx, ARG("", STR("x")), ARG("", STR("y")))
#define CLASSES STAGE(one_hot, ARG("", NAME("y")))
#define XY FIELDS("x", "y")
static const unsigned char both[] = {1, 1};
static const nnc_tensor mixed_inputs[] = {{"x", NNC_F32, DIMS(BATCH, SIDE, SIDE), 0},
                                          {"y", NNC_F32, DIMS(BATCH, ROWS), 0}};
static const nnc_entry mixed_entry = {
    .batch = BATCH, .input_count = 2, .inputs = mixed_inputs, .input_is_batched = both};

static void test_classes_become_rows(void **state) {
  (void)state;
  write_rows();
  nnc_model model = MODEL(BATCH, SET("train", PIPELINE(XY, FILES, CLASSES)),
                          SET("disk", PIPELINE(XY, FILES, STAGE0(on_disk), CLASSES)));
  nnc_fitted fitted = {0};
  for (int s = 0; s < 2; s++) {
    static Batch batch;
    nnc_data *data = open_well(&model, s ? "disk" : "train", &mixed_entry, &fitted);
    read_well(data, 32, BATCH, (void *[]){batch.x, batch.y});
    for (int i = 0; i < BATCH; i++)
      for (int k = 0; k < ROWS; k++) assert_true(batch.y[i][k] == (k == 32 + i));
    nnc_data_close(data);
  }
  nnc_tensor fewer[] = {mixed_inputs[0], INPUT("y", NNC_U8, BATCH, ROWS - 1)};
  nnc_entry few = mixed_entry;
  few.inputs = fewer;
  expect_failure(&model, "train", &few,
                 "$/y: 'y' holds 95, but one_hot gives its input classes from 0 to 94");
  nnc_data *data = open_well(&model, "disk", &few, &fitted);
  char message[NNC_MESSAGE] = "";
  static unsigned char y[BATCH * ROWS];
  static float x[BATCH * SIDE * SIDE];
  assert_int_equal(nnc_data_read(data, 80, BATCH, (void *[]){x, y}, message), -1);
  assert_non_null(strstr(message, "y: 'y' holds 95, but one_hot gives its input classes"));
  nnc_data_close(data);
}

/* The batches of an epoch, and which rows they are of. */
static void read_epoch(const nnc_data *data, int64_t epoch, int prefetch, Batch *batches,
                       uint32_t rows[BATCHES][BATCH]) {
  char message[NNC_MESSAGE];
  nnc_loader_options options = {.batch = BATCH, .shuffle = 1, .seed = 5, .prefetch = prefetch};
  nnc_loader *loader = nnc_loader_open(data, &options, message);
  options.names = true;
  nnc_loader *names = nnc_loader_open(data, &options, message);
  assert_non_null(loader);
  assert_non_null(names);
  nnc_loader_seek(loader, epoch, 0);
  nnc_loader_seek(names, epoch, 0);
  for (int b = 0; b < BATCHES; b++) {
    assert_int_equal(nnc_loader_next(loader, (void *[]){batches[b].x, batches[b].y}).count, BATCH);
    nnc_loader_next(names, (void *[]){rows[b]});
  }
  nnc_loader_close(loader);
  nnc_loader_close(names);
}

/* How much of the example is its own; both parts must be of the rows `own` and `next`. */
static double share_of(const float *y, uint32_t own, uint32_t next) {
  for (uint32_t k = 0; k < ROWS; k++) assert_true(k == own || k == next || y[k] == 0);
  assert_true(fabs((double)y[own] + (double)y[next] - 1) < 1e-6);
  return (double)y[own];
}

/* A rectangle is of the next row's shade, as large as the label says. */
static void check_cut(float x[SIDE][SIDE], double share, uint32_t own, uint32_t next) {
  int top = SIDE, bottom = -1, left = SIDE, right = -1, count = 0;
  for (int i = 0; i < SIDE; i++)
    for (int k = 0; k < SIDE; k++) {
      bool is_next = x[i][k] == (float)(next + 1);
      assert_true(is_next || x[i][k] == (float)(own + 1));
      if (!is_next) continue;
      count++;
      top = i < top ? i : top, bottom = i;
      left = k < left ? k : left, right = k > right ? k : right;
    }
  assert_true(count == 0 || count == (bottom - top + 1) * (right - left + 1));
  assert_true(fabs(1 - share - (double)count / (SIDE * SIDE)) < 1e-6);
}

static void check_shade(float x[SIDE][SIDE], double share, uint32_t own, uint32_t next) {
  double shade = share * (own + 1) + (1 - share) * (next + 1);
  for (int i = 0; i < SIDE; i++)
    for (int k = 0; k < SIDE; k++) assert_true(fabs((double)x[i][k] - shade) < 1e-4);
}

typedef struct Shares {
  int count, whole, cut;
  double sum, squares;
} Shares;

static Shares see_epochs(const nnc_model *model, int epochs) {
  static Batch batches[BATCHES], again[BATCHES];
  uint32_t rows[BATCHES][BATCH];
  Shares shares = {0};
  nnc_fitted fitted = {0};
  nnc_data *data = open_well(model, "train", &mixed_entry, &fitted);
  for (int e = 0; e < epochs; e++) {
    read_epoch(data, e, e % 3, batches, rows);
    if (e < 2) {
      read_epoch(data, e, 1, again, rows);
      assert_memory_equal(batches, again, sizeof again);
    }
    for (int b = 0; b < BATCHES; b++)
      for (int i = 0; i < BATCH; i++) {
        uint32_t own = rows[b][i], next = rows[b][(i + 1) % BATCH];
        float(*x)[SIDE] = batches[b].x[i];
        double share = share_of(batches[b].y[i], own, next);
        float shade = (float)(share * (own + 1) + (1 - share) * (next + 1));
        bool is_even = fabsf(x[0][0] - shade) < 1e-4f && fabsf(x[5][5] - shade) < 1e-4f;
        if (is_even) check_shade(x, share, own, next);
        else check_cut(x, share, own, next);
        shares.cut += !is_even;
        shares.whole += share == 1;
        shares.count++;
        shares.sum += share;
        shares.squares += (share - 0.5) * (share - 0.5);
      }
  }
  /* nothing is mixed where nothing is drawn */
  static Batch plain;
  read_well(data, 0, BATCH, (void *[]){plain.x, plain.y});
  for (int i = 0; i < BATCH; i++) {
    assert_true(share_of(plain.y[i], (uint32_t)i, (uint32_t)i + 1) == 1);
    check_shade(plain.x[i], 1, (uint32_t)i, 0);
  }
  nnc_rows resident[2];
  assert_false(nnc_data_rows(data, resident)); /* a device that keeps rows does not mix them */
  nnc_data_close(data);
  return shares;
}

/* The variance of Beta(a, a) is 1 / (4 (2 a + 1)). */
static void test_mixup(void **state) {
  (void)state;
  enum { EPOCHS = 100 };
  static const double alphas[] = {0.05, 0.2, 1, 8};
  write_rows();
  for (int a = 0; a < 4; a++) {
    nnc_model model =
        MODEL(BATCH, SET("train",
                         PIPELINE(XY, FILES, CLASSES, STAGE(mixup, ARG("alpha", NUM(alphas[a]))))));
    Shares shares = see_epochs(&model, EPOCHS);
    double variance = 1 / (4 * (2 * alphas[a] + 1));
    assert_true(fabs(shares.sum / shares.count - 0.5) < 4 * sqrt(variance / shares.count));
    assert_true(fabs(shares.squares / shares.count / variance - 1) < 0.05);
    assert_int_equal(shares.cut, 0);
  }
}

/* Cut where the first does not mix: a half of the examples each, and of the others none. */
static void test_cutmix(void **state) {
  (void)state;
  write_rows();
  nnc_model model =
      MODEL(BATCH, SET("train", PIPELINE(XY, FILES, CLASSES, STAGE(cutmix, ARG("alpha", NUM(1))))));
  Shares shares = see_epochs(&model, 30);
  /* Of a side of 10 half a part's length is rounded down, and less is cut at the border. */
  double area = 0;
  enum { STEPS = 1000 };
  for (int i = 0; i < STEPS; i++) {
    int half = (int)(SIDE / 2 * sqrt((i + 0.5) / STEPS)), seen = 0;
    for (int at = 0; at < SIDE; at++)
      seen += (at + half < SIDE ? at + half : SIDE) - (at > half ? at - half : 0);
    area += pow(seen / (double)(SIDE * SIDE), 2) / STEPS;
  }
  assert_true(fabs(1 - shares.sum / shares.count - area) < 0.015);
  assert_true(fabs((double)shares.whole / shares.count - 0.04) < 0.015);
  model = MODEL(
      BATCH, SET("train", PIPELINE(XY, FILES, CLASSES,
                                   STAGE(mixup, ARG("alpha", NUM(1)), ARG("probability", NUM(0.5))),
                                   STAGE(cutmix, ARG("probability", NUM(0.5))))));
  shares = see_epochs(&model, 30);
  assert_true(fabs((double)shares.cut / shares.count - 0.24) < 0.03);
  assert_true(fabs((double)shares.whole / shares.count - 0.26) < 0.03);
}

/* Bytes of pictures are rounded; lines of one set mix alike; masks are cut, not mixed. */
static void test_other_types_and_lines(void **state) {
  (void)state;
  write_rows();
  nnc_model model = MODEL(BATCH, SET("train", PIPELINE(XY, FILES, CLASSES, STAGE0(mixup)),
                                     PIPELINE(FIELDS("z"), SOURCE(idx, ARG("", STR("x"))),
                                              STAGE0(random_flip), STAGE0(mixup))));
  nnc_tensor inputs[] = {INPUT("x", NNC_U8, BATCH, SIDE, SIDE), INPUT("y", NNC_F64, BATCH, ROWS),
                         INPUT("z", NNC_F16, BATCH, SIDE, SIDE)};
  nnc_entry entry = {.batch = BATCH,
                     .input_count = 3,
                     .inputs = inputs,
                     .input_is_batched = (const unsigned char[]){1, 1, 1}};
  static unsigned char x[BATCH][SIDE * SIDE];
  static double y[BATCH][ROWS];
  static uint16_t z[BATCH][SIDE * SIDE];
  nnc_fitted fitted = {0};
  char message[NNC_MESSAGE] = "";
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  nnc_loader_options options = {.batch = BATCH, .shuffle = 1, .seed = 5};
  nnc_loader *loader = nnc_loader_open(data, &options, message);
  nnc_loader_next(loader, (void *[]){x, y, z});
  for (int i = 0; i < BATCH; i++) {
    double shade = 0;
    for (int k = 0; k < ROWS; k++) shade += y[i][k] * (k + 1);
    assert_true(fabs(x[i][7] - shade) <= 0.5 + 1e-5);
    int exponent = z[i][7] >> 10; /* f16 */
    double half = ldexp(1024 + (z[i][7] & 1023), exponent - 25);
    assert_true(fabs(half - shade) <= 0.04);
  }
  nnc_loader_close(loader);
  nnc_data_close(data);
  entry.input_limits = (const int64_t[]){10, 0, 0};
  entry.input_exceptions = (const int64_t[]){INT64_MIN, INT64_MIN, INT64_MIN};
  expect_failure(&model, "train", &entry,
                 "test.net:3:9: mixup makes numbers between those of two examples, but the model "
                 "takes 'x' as class numbers");
  nnc_model cut = MODEL(BATCH, SET("train", PIPELINE(XY, FILES, CLASSES, STAGE0(cutmix)),
                                   PIPELINE(FIELDS("z"), SOURCE(idx, ARG("", STR("x"))))));
  nnc_data_close(open_well(&cut, "train", &entry, &fitted));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_classes_become_rows),
                                     cmocka_unit_test(test_mixup), cmocka_unit_test(test_cutmix),
                                     cmocka_unit_test(test_other_types_and_lines)};
  return cmocka_run_group_tests_name("mixing", tests, enter, leave);
}
