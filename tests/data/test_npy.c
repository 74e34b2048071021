/* NumPy files: messages for damaged ones, inputs without an axis of examples, missing values.  The
 * values of every type, order and version: test_golden.c. */
#include <math.h>

#include "support.h"

static nnc_fitted fitted;

#define X(...) MODEL(2, SET("train", PIPELINE(FIELDS("x"), __VA_ARGS__)))
#define NPY SOURCE(npy, ARG("", STR("x.npy")))

/* A file of version 1 with this header and these values. */
static void write_npy(const char *header, const void *values, size_t size) {
  unsigned char bytes[1024] = "\x93NUMPY\1";
  size_t length = strlen(header);
  bytes[8] = (unsigned char)length;
  bytes[9] = (unsigned char)(length >> 8);
  memcpy(bytes + 10, header, length);
  memcpy(bytes + 10 + length, values, size);
  write_file("x.npy", bytes, 10 + length + size);
}

static void test_damaged_files(void **state) {
  (void)state;
  nnc_model model = X(NPY);
  nnc_entry entry = ENTRY(2, INPUT("x", NNC_F32, 2, 2));
#define FAILS(header, values, message)                                                             \
  do {                                                                                             \
    write_npy(header, values, sizeof(values) - 1);                                                 \
    expect_failure(&model, "train", &entry, message);                                              \
  } while (0)
  FAILS("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", "123456789012345",
        "$/x.npy: f32[2, 2] needs 85 bytes; the file ends after 84");
  FAILS("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", "123456789012345",
        "$/x.npy: f32[2, 2] needs 84 bytes; the file ends after 83");
  FAILS("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", "12345678901234567",
        "$/x.npy: should end after 85 bytes, but more follow");
  FAILS("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", "",
        "$/x.npy: has f32[2, 3], but input x is f32[2, 2]; all axes but the first must agree");
  FAILS("{'descr': '<c8', 'fortran_order': False, 'shape': (2, 2), }", "",
        "$/x.npy: number type '<c8'; supported are b1 u1 u2 u4 i1 i2 i4 i8 f2 f4 f8");
  FAILS("{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }", "",
        "$/x.npy: number type '|O'; supported are b1 u1 u2 u4 i1 i2 i4 i8 f2 f4 f8");
  FAILS("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "",
        "$/x.npy: number type [('a', '<f4')]; supported are b1 u1 u2 u4 i1 i2 i4 i8 f2 f4 f8");
  FAILS("{'descr': [('first', '<f4'), ('second', '<f4'), ('third', '<f4')], 'shape': (2,), }", "",
        "$/x.npy: number type [('first', '<f4'), ('second', '<f4'), (' ...; supported are b1 u1 "
        "u2 u4 i1 i2 i4 i8 f2 f4 f8");
  FAILS("{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 2), }", "",
        "$/x.npy: cannot understand the NumPy header at '0, 'shape': (2, 2), }'");
  FAILS("{'descr': '<f4', 'shape': (2, 2), }", "",
        "$/x.npy: cannot understand the NumPy header: it lacks 'fortran_order'");
  FAILS("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "",
        "$/x.npy: cannot understand the NumPy header at ''shape': (99999999999999999999,), }'");
  FAILS(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 2), }", "",
      "$/x.npy: 4611686018427387904 examples are more than 4294967295, the most that can be read");
  write_text("x.npy", "not an array");
  expect_failure(&model, "train", &entry, "$/x.npy: not a NumPy file of version 1 to 3");
  write_file("x.npy", "\x93NUMPY\1\0\100\0{", 11);
  expect_failure(&model, "train", &entry, "$/x.npy: ends inside the header");
}

/* int64 beyond 2^53 are kept as they are, and refused where they would be rounded. */
static void test_large_integers(void **state) {
  (void)state;
  const int64_t values[] = {9007199254740993, -9223372036854775807 - 1};
  write_npy("{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }", values, sizeof values);
  nnc_model model = X(NPY);
  nnc_entry whole = ENTRY(1, INPUT("x", NNC_I64, 1)), real = ENTRY(1, INPUT("x", NNC_F64, 1));
  nnc_entry small = ENTRY(1, INPUT("x", NNC_I32, 1));
  nnc_data *data = open_well(&model, "train", &whole, &fitted);
  int64_t read[2];
  read_well(data, 0, 2, (void *[]){read});
  assert_memory_equal(read, values, sizeof values);
  nnc_data_close(data);
  expect_failure(&model, "train", &real,
                 "$/x.npy: x: value 9007199254740992 of example 0 (from 0) does not fit input type "
                 "f64");
  expect_failure(&model, "train", &small,
                 "$/x.npy: x: value 9007199254740992 of example 0 (from 0) does not fit input type "
                 "i32");
}

static void test_missing_values(void **state) {
  (void)state;
  const float values[] = {1, NAN, 3, 4, 8, NAN};
  write_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", values, sizeof values);
  nnc_model model =
      X(NPY, STAGE(impute, ARG("", NAME("x"))), STAGE(standardize, ARG("", NAME("x"))));
  nnc_entry entry = ENTRY(1, INPUT("x", NNC_F32, 1, 2));
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  float read[6];
  read_well(data, 0, 3, (void *[]){read});
  assert_true(read[1] == 0 && read[3] == 0 && read[5] == 0 && fabsf(read[2] + 0.3396831f) < 1e-6f);
  assert_int_equal(fitted.count, 2);
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
  nnc_entry whole = ENTRY(1, INPUT("x", NNC_I32, 1, 2));
  nnc_model plain = X(NPY);
  expect_failure(&plain, "train", &whole,
                 "$/x.npy: x: value nan of example 0 (from 0) does not fit input type i32");
}

/* An input whose first axis is no batch gets the whole array with every read. */
static void test_whole_inputs(void **state) {
  (void)state;
  write_npy("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", "\1\2\3", 3);
  write_file("y", "\0\0\x08\1\0\0\0\2\7\10", 10);
  nnc_model model = MODEL(1, SET("train", PIPELINE(FIELDS("x"), NPY),
                                 PIPELINE(FIELDS("y"), SOURCE(idx, ARG("", STR("y"))))));
  const nnc_tensor inputs[] = {{"x", NNC_F32, 1, {3}, 0}, {"y", NNC_U8, 1, {1}, 0}};
  nnc_entry entry = {.batch = 1,
                     .input_count = 2,
                     .inputs = inputs,
                     .input_is_batched = (const unsigned char[]){0, 1}};
  nnc_data *data = open_well(&model, "train", &entry, &fitted);
  assert_int_equal(nnc_data_examples(data), 2);
  float x[3];
  unsigned char y;
  read_well(data, 1, 1, (void *[]){x, &y});
  assert_true(x[0] == 1 && x[2] == 3 && y == 8);
  char message[NNC_MESSAGE];
  nnc_loader_options options = {.batch = 1, .shuffle = 1, .seed = 1, .prefetch = 2};
  nnc_loader *loader = nnc_loader_open(data, &options, message);
  assert_non_null(loader);
  for (int i = 0; i < 10; i++) {
    memset(x, 0, sizeof x);
    nnc_loader_next(loader, (void *[]){x, &y});
    assert_true(x[0] == 1 && x[1] == 2 && x[2] == 3 && (y == 7 || y == 8));
  }
  nnc_loader_close(loader);
  nnc_data_close(data);
}

/* bf16 and f16 inputs: rounded once, half to even, from f64. */
static void test_half_precision(void **state) {
  (void)state;
  const double values[] = {1,        -2.5,    1 + 0x1p-8, 1 + 0x3p-8, 1 + 0x1p-8 + 0x1p-40,
                           0x1p-133, 0x1p-149};
  const uint16_t bf16[] = {0x3f80, 0xc020, 0x3f80, 0x3f82, 0x3f81, 0x0001, 0x0000};
  const double halves[] = {1, -2.5, 1 + 0x1p-11, 1 + 0x3p-11, 65504, 0x1p-24, 0x1p-15 + 0x1p-24};
  const uint16_t f16[] = {0x3c00, 0xc100, 0x3c00, 0x3c02, 0x7bff, 0x0001, 0x0201};
  nnc_model model = X(NPY);
  nnc_entry entries[] = {ENTRY(1, INPUT("x", NNC_BF16, 1)), ENTRY(1, INPUT("x", NNC_F16, 1))};
  for (int k = 0; k < 2; k++) {
    write_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (7,), }", k ? halves : values, 56);
    nnc_data *data = open_well(&model, "train", &entries[k], &fitted);
    uint16_t read[7];
    read_well(data, 0, 7, (void *[]){read});
    for (int i = 0; i < 7; i++) assert_int_equal(read[i], k ? f16[i] : bf16[i]);
    nnc_data_close(data);
  }
  write_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", &(double){65520}, 8);
  expect_failure(&model, "train", &entries[1],
                 "$/x.npy: x: value 65520 of example 0 (from 0) does not fit input type f16");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_damaged_files),  cmocka_unit_test(test_large_integers),
      cmocka_unit_test(test_missing_values), cmocka_unit_test(test_whole_inputs),
      cmocka_unit_test(test_half_precision),
  };
  return cmocka_run_group_tests_name("npy", tests, enter, leave);
}
