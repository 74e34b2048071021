/* Files of arrays and archives that are cut off: the beginning of one is an error with a message of one line, never rows
 * that are not all there.  All beginnings are tried that end near either end of the file, and some between. */
#include "support.h"

enum { MOST = 1 << 14, RECORD = 3073, BLOCK = 512, NEAR = 200, STEP = 31 };

static unsigned char bytes[MOST];
static size_t size;

static void add(const void *more, size_t count) {
  assert_true(size + count <= sizeof bytes);
  memcpy(bytes + size, more, count);
  size += count;
}

static void read_from(const char *folder, const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
}

/* Opens the set on beginnings of the file; `whole`: one of so many bytes, or of several times as many, has nothing
 * missing; 0: none but the file. */
static void cut(const char *name, const nnc_model *model, const nnc_entry *entry, size_t whole) {
  for (size_t end = 0; end <= size; end += end < NEAR || end + NEAR > size ? 1 : STEP) {
    char message[NNC_MESSAGE] = "";
    nnc_fitted fitted = {0};
    write_file(name, bytes, end);
    nnc_data *data = nnc_data_open(model, "train", entry, directory(), &fitted, message);
    bool is_whole = end == size || (whole && end > 0 && end % whole == 0);
    if (is_whole != (data != NULL)) fail_msg("%s, %zu of %zu bytes: %s", name, end, size, message);
    if (!data && (!*message || strchr(message, '\n'))) fail_msg("%s: '%s'", name, message);
    nnc_data_close(data);
    nnc_fitted_free(&fitted);
  }
}

#define OF(...) MODEL(1, SET("train", PIPELINE(FIELDS("x"), __VA_ARGS__)))

/* In memory, and with rows that stay on disk. */
#define CUT(name, entry, whole, ...)                                                               \
  do {                                                                                             \
    nnc_model held = OF(__VA_ARGS__), kept = OF(__VA_ARGS__, STAGE0(on_disk));                     \
    cut(name, &held, entry, whole);                                                                \
    cut(name, &kept, entry, whole);                                                                \
  } while (0)

static void test_arrays(void **state) {
  (void)state;
  nnc_entry pairs = ENTRY(1, INPUT("x", NNC_U8, 1, 2));
  nnc_entry triples = ENTRY(1, INPUT("x", NNC_U8, 1, 3));
  nnc_model packed = OF(SOURCE(idx, ARG("", STR("x.gz"))));
  size = 0;
  add("\0\0\x08\x02\0\0\0\x04\0\0\0\x02nnc data", 20);
  CUT("x.idx", &pairs, 0, SOURCE(idx, ARG("", STR("x.idx"))));
  write_gzip("x.gz", bytes, size);
  read_from(directory(), "x.gz");
  cut("x.gz", &packed, &pairs, 0);
  read_from(getenv("GOLDEN"), "u1.npy");
  CUT("x.npy", &triples, 0, SOURCE(npy, ARG("", STR("x.npy"))));
}

static void test_archives_of_arrays(void **state) {
  (void)state;
  nnc_value a = STR("a"), x = STR("x");
  nnc_entry pairs = ENTRY(1, INPUT("x", NNC_F32, 1, 2));
  nnc_entry fours = ENTRY(1, INPUT("x", NNC_I32, 1, 4));
  read_from(getenv("GOLDEN"), "stored.npz");
  CUT("x.npz", &pairs, 0, SOURCE(npz, ARG("", STR("x.npz")), ARG("arrays", LIST(a))));
  read_from(getenv("GOLDEN"), "packed.npz");
  nnc_model packed = OF(SOURCE(npz, ARG("", STR("x.npz")), ARG("arrays", LIST(x))));
  cut("x.npz", &packed, &fours, 0);
}

static void test_records(void **state) {
  (void)state;
  static const unsigned char record[RECORD] = {3};
  const uint32_t header[256] = {20240520, 1, 5};
  nnc_entry pictures = ENTRY(1, INPUT("x", NNC_U8, 1, 3, 32, 32));
  nnc_entry windows = ENTRY(1, INPUT("x", NNC_I32, 1, 2));
  size = 0;
  add(record, RECORD);
  add(record, RECORD);
  CUT("x.bin", &pictures, RECORD, SOURCE(cifar, ARG("", STR("x.bin"))));
  size = 0;
  add(header, sizeof header);
  add("0123456789", 10);
  CUT("x.tokens", &windows, 0,
      SOURCE(token_stream, ARG("file", STR("x.tokens")), ARG("length", NUM(2))));
}

/* A member of a tar archive: a header of one block, and the content. */
static void add_member(const char *name, const char *content) {
  char head[BLOCK] = "", body[BLOCK] = "";
  unsigned sum = 8 * ' ';
  snprintf(head, 100, "%s", name);
  snprintf(head + 124, 12, "%011zo", strlen(content));
  memcpy(head + 257, "ustar\00000", 9);
  for (int i = 0; i < BLOCK; i++) sum += (unsigned char)head[i];
  snprintf(head + 148, 8, "%06o", sum);
  head[155] = ' ';
  memcpy(body, content, strlen(content));
  add(head, BLOCK);
  add(body, BLOCK);
}

static void test_shards(void **state) {
  (void)state;
  static const unsigned char end[2 * BLOCK];
  nnc_value member = STR("cls");
  nnc_entry classes = ENTRY(1, INPUT("x", NNC_I32, 1));
  nnc_model model = OF(SOURCE(shards, ARG("files", STR("x.tar")), ARG("members", LIST(member))));
  size = 0;
  add_member("a.cls", "1\n");
  add_member("b.cls", "20");
  add(end, sizeof end);
  cut("x.tar", &model, &classes, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_arrays, enter, leave),
      cmocka_unit_test_setup_teardown(test_archives_of_arrays, enter, leave),
      cmocka_unit_test_setup_teardown(test_records, enter, leave),
      cmocka_unit_test_setup_teardown(test_shards, enter, leave),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
