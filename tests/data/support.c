/* Files and expectations of the data tests. */

#include <dirent.h>
#include <unistd.h>
#include <zlib.h>

#include "support.h"

static char where[64];

const char *directory(void) { return where; }

int enter(void **state) {
  (void)state;
  snprintf(where, sizeof where, "/tmp/nnc-data-XXXXXX");
  return mkdtemp(where) ? 0 : -1;
}

int leave(void **state) {
  (void)state;
  DIR *listing = opendir(where);
  if (!listing) return -1;
  for (struct dirent *entry; (entry = readdir(listing));) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", where, entry->d_name);
    if (entry->d_name[0] != '.') unlink(path);
  }
  closedir(listing);
  return rmdir(where);
}

static const char *path_of(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", where, name);
  return path;
}

void write_file(const char *name, const void *bytes, size_t size) {
  FILE *file = fopen(path_of(name), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

void write_text(const char *name, const char *text) { write_file(name, text, strlen(text)); }

void write_gzip(const char *name, const void *bytes, size_t size) {
  gzFile file = gzopen(path_of(name), "wb");
  assert_non_null(file);
  assert_int_equal(gzwrite(file, bytes, (unsigned)size), size);
  assert_int_equal(gzclose(file), Z_OK);
}

nnc_data *open_well(const nnc_model *model, const char *set, const nnc_entry *entry,
                    nnc_fitted *fitted) {
  char message[NNC_MESSAGE] = "";
  nnc_data *data = nnc_data_open(model, set, entry, where, fitted, message);
  if (!data) fail_msg("%s", message);
  return data;
}

void read_well(const nnc_data *data, int64_t first, int64_t count, void *const *inputs) {
  char message[NNC_MESSAGE] = "";
  if (nnc_data_read(data, first, count, inputs, message) < 0) fail_msg("%s", message);
}

void expect_failure(const nnc_model *model, const char *set, const nnc_entry *entry,
                    const char *expected) {
  char message[NNC_MESSAGE] = "", whole[2 * NNC_MESSAGE];
  size_t used = 0;
  for (const char *c = expected; *c; c++)
    used += (size_t)snprintf(whole + used, sizeof whole - used, *c == '$' ? "%s" : "%.1s",
                             *c == '$' ? where : c);
  whole[used] = 0;
  nnc_fitted fitted = {0};
  nnc_data *data = nnc_data_open(model, set, entry, where, &fitted, message);
  nnc_fitted_free(&fitted);
  if (data) fail_msg("opened, but expected: %s", expected);
  assert_string_equal(message, whole);
}
