/* Batches: every example once an epoch, orders that differ by epoch and seed alone, tails, and
 * positions that continue exactly, with and without the preparing thread. */
#include "support.h"

enum { ROWS = 1003, BATCH = 10 };

static nnc_data *data;
static nnc_model model;
static nnc_fitted fitted;

static int open_rows(void **state) {
  if (enter(state) < 0) return -1;
  static unsigned char bytes[8 + 4 * ROWS] = {0, 0, 12, 1, 0, 0, ROWS >> 8, ROWS & 255};
  for (int i = 0; i < ROWS; i++) {
    bytes[8 + 4 * i + 2] = (unsigned char)(i >> 8);
    bytes[8 + 4 * i + 3] = (unsigned char)i;
  }
  write_file("x", bytes, sizeof bytes);
  static const nnc_argument arguments[] = {{"", {.kind = NNC_STRING, .string = "x"}}};
  static const nnc_call calls[] = {
      {.function = "idx", .source = &nnc_source_idx, .argument_count = 1, .arguments = arguments}};
  static const char *const fields[] = {"x"};
  static const nnc_pipeline pipelines[] = {{1, fields, 1, calls}};
  static const nnc_data_set sets[] = {
      {.name = "train", .pipeline_count = 1, .pipelines = pipelines}};
  static const nnc_tensor inputs[] = {{"x", NNC_I64, 1, {BATCH}, 0}};
  static const unsigned char batched[] = {1};
  static const nnc_entry entry = {
      .batch = BATCH, .input_count = 1, .inputs = inputs, .input_is_batched = batched};
  model = (nnc_model){
      .file = "test.net", .batch = BATCH, .seed = 5, .data_set_count = 1, .data_sets = sets};
  data = open_well(&model, "train", &entry, &fitted);
  return 0;
}

static int close_rows(void **state) {
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
  return leave(state);
}

static nnc_loader *open_loader(int tail, int shuffle, uint64_t seed, int prefetch) {
  nnc_loader_options options = {
      .batch = BATCH, .tail = tail, .shuffle = shuffle, .seed = seed, .prefetch = prefetch};
  char message[NNC_MESSAGE];
  nnc_loader *loader = nnc_loader_open(data, &options, message);
  if (!loader) fail_msg("%s", message);
  return loader;
}

static void test_epochs(void **state) {
  (void)state;
  for (int prefetch = 0; prefetch < 5; prefetch += 2) {
    nnc_loader *loader = open_loader(NNC_TAIL_DROP, 1, 5, prefetch);
    assert_int_equal(nnc_loader_batches(loader), 100);
    static int64_t orders[3][ROWS];
    for (int epoch = 0; epoch < 3; epoch++) {
      int seen[ROWS] = {0};
      for (int index = 0; index < 100; index++) {
        int64_t *x = orders[epoch] + index * BATCH, at_epoch, at_index;
        nnc_loader_position(loader, &at_epoch, &at_index);
        assert_true(at_epoch == epoch && at_index == index);
        nnc_batch batch = nnc_loader_next(loader, (void *[]){x});
        assert_true(batch.epoch == epoch && batch.index == index && batch.count == BATCH);
        for (int i = 0; i < BATCH; i++) {
          assert_true(x[i] >= 0 && x[i] < ROWS);
          assert_int_equal(seen[x[i]]++, 0);
        }
      }
    }
    assert_true(memcmp(orders[0], orders[1], sizeof *orders) != 0);
    assert_true(memcmp(orders[1], orders[2], sizeof *orders) != 0);
    nnc_loader_close(loader);
  }
}

static void test_tails(void **state) {
  (void)state;
  nnc_loader *loader = open_loader(NNC_TAIL_KEEP, 0, 0, 2);
  assert_int_equal(nnc_loader_batches(loader), 101);
  int64_t x[BATCH];
  for (int index = 0; index < 202; index++) {
    nnc_batch batch = nnc_loader_next(loader, (void *[]){x});
    assert_int_equal(batch.count, index % 101 == 100 ? 3 : BATCH);
    for (int i = 0; i < batch.count; i++) assert_int_equal(x[i], index % 101 * BATCH + i);
  }
  nnc_loader_close(loader);
  loader = open_loader(NNC_TAIL_WRAP, 1, 9, 2);
  int64_t first[BATCH];
  nnc_loader_next(loader, (void *[]){first});
  nnc_loader_seek(loader, 0, 100);
  nnc_batch batch = nnc_loader_next(loader, (void *[]){x});
  assert_int_equal(batch.count, BATCH);
  assert_memory_equal(x + 3, first, 7 * sizeof *x); /* filled from the epoch's start */
  nnc_loader_close(loader);
}

/* Every example once; those that are mixed come from 16 pieces at most; a function of seed, epoch and index. */
static void test_within(void **state) {
  (void)state;
  static const int64_t sizes[] = {1, 5, 16, 160, 1000, 4000};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    int64_t within = sizes[s], length = within < 16 ? 1 : within / 16;
    int64_t at_once = within / length * length, x[BATCH], again[BATCH];
    nnc_loader_options options = {.batch = BATCH,
                                  .tail = NNC_TAIL_KEEP,
                                  .shuffle = 1,
                                  .within = within,
                                  .seed = 5,
                                  .prefetch = 2};
    char message[NNC_MESSAGE];
    nnc_loader *loader = nnc_loader_open(data, &options, message);
    assert_non_null(loader);
    static int64_t orders[2][ROWS + BATCH];
    for (int epoch = 0; epoch < 2; epoch++) {
      int seen[ROWS] = {0};
      for (int64_t done = 0; done < ROWS; done += BATCH)
        nnc_loader_next(loader, (void *[]){orders[epoch] + done});
      for (int i = 0; i < ROWS; i++) assert_int_equal(seen[orders[epoch][i]]++, 0);
      /* A short piece makes one run of mixed examples shorter: until it comes, runs are where they are. */
      for (int64_t first = 0; first + at_once <= ROWS; first += at_once) {
        int pieces = 0, is_in[ROWS + 1] = {0};
        for (int64_t i = first; i < first + at_once; i++)
          pieces += is_in[orders[epoch][i] / length]++ == 0;
        if (is_in[(ROWS - 1) / length] && ROWS % length) break;
        assert_int_equal(pieces, at_once / length);
      }
    }
    assert_true(memcmp(orders[0], orders[1], sizeof *orders) != 0);
    nnc_loader_seek(loader, 1, 37);
    nnc_loader_next(loader, (void *[]){x});
    assert_memory_equal(x, orders[1] + 370, sizeof x);
    nnc_loader_close(loader);
    options.prefetch = 0;
    loader = nnc_loader_open(data, &options, message);
    nnc_loader_seek(loader, 1, 37);
    nnc_loader_next(loader, (void *[]){again});
    assert_memory_equal(x, again, sizeof x);
    nnc_loader_close(loader);
  }
}

/* The examples that are named are those whose values are delivered otherwise: here value i is example i. */
static void test_names(void **state) {
  (void)state;
  const int tails[] = {NNC_TAIL_DROP, NNC_TAIL_KEEP, NNC_TAIL_WRAP};
  for (int kind = 0; kind < 12; kind++) {
    int tail = tails[kind % 3], shuffle = kind / 3 % 2;
    nnc_loader_options options = {.batch = BATCH,
                                  .tail = tail,
                                  .shuffle = shuffle,
                                  .seed = 5,
                                  .names = true,
                                  .prefetch = kind < 6 ? 0 : NNC_PREFETCH_DEFAULT};
    char message[NNC_MESSAGE];
    nnc_loader *values = open_loader(tail, shuffle, 5, 2),
               *names = nnc_loader_open(data, &options, message);
    assert_non_null(names);
    for (int index = 0; index < 250; index++) {
      int64_t x[BATCH];
      uint32_t examples[BATCH];
      nnc_batch of_values = nnc_loader_next(values, (void *[]){x});
      nnc_batch of_names = nnc_loader_next(names, (void *[]){examples});
      assert_memory_equal(&of_names, &of_values, sizeof of_names);
      for (int i = 0; i < of_names.count; i++) assert_int_equal(examples[i], x[i]);
    }
    nnc_loader_close(values);
    nnc_loader_close(names);
  }
}

static uint32_t draw(uint32_t *random) { return *random = *random * 1664525 + 1013904223; }

/* Random seeks give what an uninterrupted run gave at that place. */
static void test_positions_continue_exactly(void **state) {
  (void)state;
  static int64_t expected[4 * 101][BATCH];
  nnc_loader *plain = open_loader(NNC_TAIL_WRAP, 1, 77, 0);
  for (int k = 0; k < 4 * 101; k++) nnc_loader_next(plain, (void *[]){expected[k]});
  uint32_t random = 1;
  for (int prefetch = 0; prefetch < 4; prefetch++) {
    nnc_loader *loader = open_loader(NNC_TAIL_WRAP, 1, 77, prefetch);
    for (int round = 0; round < 300; round++) {
      int at = (int)(draw(&random) >> 8) % (3 * 101), steps = (int)(draw(&random) >> 8) % 6;
      nnc_loader_seek(loader, at / 101, at % 101);
      for (int k = at; k < at + steps; k++) {
        int64_t x[BATCH];
        nnc_batch batch = nnc_loader_next(loader, (void *[]){x});
        assert_true(batch.epoch == k / 101 && batch.index == k % 101);
        assert_memory_equal(x, expected[k], sizeof x);
      }
    }
    nnc_loader_close(loader);
  }
  nnc_loader_close(plain);
}

static void test_seeds_and_options(void **state) {
  (void)state;
  int64_t a[BATCH], b[BATCH];
  nnc_loader *first = open_loader(NNC_TAIL_DROP, 1, 1, 0),
             *second = open_loader(NNC_TAIL_DROP, 1, 2, 0);
  nnc_loader_next(first, (void *[]){a});
  nnc_loader_next(second, (void *[]){b});
  assert_true(memcmp(a, b, sizeof a) != 0);
  nnc_loader_close(first);
  nnc_loader_close(second);
  nnc_loader_options options = nnc_loader_training(&model, data);
  assert_true(options.batch == BATCH && options.shuffle && options.tail == NNC_TAIL_DROP &&
              options.seed == 5 && options.prefetch == NNC_PREFETCH_DEFAULT);
  options.batch = ROWS + 1;
  char message[NNC_MESSAGE];
  assert_null(nnc_loader_open(data, &options, message));
  assert_string_equal(message, "1003 examples are less than one batch of 1004");
  options.tail = NNC_TAIL_WRAP;
  nnc_loader *large = nnc_loader_open(data, &options, message);
  assert_non_null(large);
  static int64_t x[ROWS + 1];
  nnc_loader_next(large, (void *[]){x});
  assert_int_equal(x[0], x[ROWS]);
  nnc_loader_close(large);
}

/* Each place of an order is drawn evenly: 1003 * 100 draws in ten tenths, chi-square below its 0.1
 * %. */
static void test_orders_are_even(void **state) {
  (void)state;
  nnc_loader *loader = open_loader(NNC_TAIL_DROP, 1, 11, 0);
  double count[10][10] = {{0}}, chi = 0;
  for (int k = 0; k < 100 * 100; k++) {
    int64_t x[BATCH];
    nnc_batch batch = nnc_loader_next(loader, (void *[]){x});
    for (int i = 0; i < BATCH; i++) count[batch.index / 10][x[i] * 10 / ROWS]++;
  }
  for (int i = 0; i < 10; i++)
    for (int j = 0; j < 10; j++) chi += (count[i][j] - 1000) * (count[i][j] - 1000) / 1000;
  assert_true(chi < 150); /* 90 degrees of freedom, expected about 81 to 90 */
  nnc_loader_close(loader);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_epochs),
      cmocka_unit_test(test_tails),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_within),
      cmocka_unit_test(test_positions_continue_exactly),
      cmocka_unit_test(test_seeds_and_options),
      cmocka_unit_test(test_orders_are_even),
  };
  return cmocka_run_group_tests_name("loader", tests, open_rows, close_rows);
}
