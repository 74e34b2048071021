/* The examples of the copy task: how many words, what is drawn, where it is recalled. */
#include "support.h"

enum { WORDS = 5, BITS = 3, TIMES = 2 * WORDS + 2 };

static void test_copy_task(void **state) {
  (void)state;
  nnc_model model = MODEL(
      4, SET("train", PIPELINE(FIELDS("source", "target", "mask"),
                               SOURCE(copy_task, ARG("words", NUM(WORDS)), ARG("bits", NUM(BITS)),
                                      ARG("count", NUM(40)), ARG("least", NUM(2))))));
  nnc_entry entry =
      ENTRY(4, INPUT("source", NNC_F32, 4, TIMES, BITS + 2),
            INPUT("target", NNC_U8, 4, TIMES, BITS), INPUT("mask", NNC_F64, 4, TIMES, 1));
  nnc_fitted fitted = {0};
  char message[NNC_MESSAGE];
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  nnc_loader_options options = nnc_loader_training(&model, data);
  nnc_loader *loader = nnc_loader_open(data, &options, message);
  assert_non_null(loader);
  int lengths[WORDS + 1] = {0}, ones = 0, bits = 0;
  for (int b = 0; b < 40; b++) { /* four epochs */
    static float source[4][TIMES][BITS + 2];
    static unsigned char target[4][TIMES][BITS];
    static double mask[4][TIMES][1];
    nnc_loader_next(loader, (void *[]){source, target, mask});
    for (int i = 0; i < 4; i++) {
      int words = 0;
      while (words + 2 < TIMES && source[i][words + 1][BITS + 1] == 0) words++;
      assert_true(words >= 2 && words <= WORDS && source[i][0][BITS] == 1);
      lengths[words]++;
      for (int t = 0; t < TIMES; t++) {
        int recalled = t - words - 2;
        bool is_recall = recalled >= 0 && recalled < words;
        assert_true(mask[i][t][0] == is_recall);
        assert_true((source[i][t][BITS] == 1) == (t == 0));
        assert_true((source[i][t][BITS + 1] == 1) == (t == words + 1));
        for (int k = 0; k < BITS; k++) {
          assert_true(target[i][t][k] == (is_recall ? source[i][1 + recalled][k] : 0));
          if (is_recall) ones += target[i][t][k], bits++;
        }
      }
    }
  }
  for (int n = 2; n <= WORDS; n++) assert_true(lengths[n] > 20 && lengths[n] < 60);
  assert_true(abs(2 * ones - bits) < bits / 5);
  nnc_loader_close(loader);
  nnc_data_close(data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_copy_task, enter, leave),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
