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
  field->file = strdup(data_file_name(member));
  int result =
      field->file ? data_npy_load(context, member, field) : data_fail_memory(context, array, 64);
  data_file_close(member);
  return result;
}

static int load(const DataContext *context, DataTable *table) {
  DataFile *file = data_file_open_argument(context, formals);
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

const struct nnc_source_class nnc_source_npz = {
    .name = "npz", .gives = DATA_GIVES_npz, .formals = formals, .load = load};
