/* Source `npz(file, arrays = [...])`: arrays of NumPy in one archive, as savez and savez_compressed write
 * it: a zip archive with a member NAME.npy for each. A field is the array of its name, or the one that
 * `arrays` names for it. */
#include <stdlib.h>
#include <string.h>

#include "data/call.h"
#include "data/class.h"
#include "data/file.h"
#include "data/npy.h"
#include "data/table.h"
#include "data/zip.h"
#include "nnc_data.h"

static const char *const formals[] = {"file", "arrays", NULL};

/* The name of a field's array; NULL with a message. */
static const char *array_of(const DataContext *context, const DataTable *table, int field) {
  const nnc_value *arrays = data_argument(context->call, formals, "arrays");
  if (!arrays) return table->fields[field].name;
  if (arrays->kind == NNC_LIST && arrays->count == table->field_count &&
      arrays->items[field].kind == NNC_STRING)
    return arrays->items[field].string;
  data_fail_call(context, "arrays of npz must be a list with a name for each of the %d fields",
                 table->field_count);
  return NULL;
}

static int load_field(const DataContext *context, const DataZip *zip, const char *array,
                      DataField *field) {
  DataFile *member = data_zip_member(context, zip, array, ".npy");
  if (!member) return -1;
  int result = data_file_load_field(context, member, field, data_npy_load);
  data_file_close(member);
  return result;
}

static int load_archive(const DataContext *context, DataTable *table, const char *name) {
  DataFile *file = data_file_open(context, name);
  DataZip *zip = file ? data_zip_open(context, file) : NULL;
  int result = zip ? 0 : -1;
  for (int f = 0; f < table->field_count && result == 0; f++) {
    const char *array = table->fields[f].input ? array_of(context, table, f) : NULL;
    if (!table->fields[f].input) continue;
    result = array ? load_field(context, zip, array, &table->fields[f]) : -1;
  }
  data_zip_close(zip);
  data_file_close(file);
  return result;
}

static int load(const DataContext *context, DataTable *table) {
  DataNames names;
  int result = data_file_argument_names(context, formals, &names);
  for (int64_t i = 0; i < names.count && result == 0; i++)
    result = load_archive(context, table, names.items[i]);
  data_names_free(&names);
  return result;
}

const struct nnc_source_class nnc_source_npz = {
    .name = "npz", .gives = DATA_GIVES_npz, .formals = formals, .load = load};
