/* Source `files(workers = 0, palette = "color")`: the pictures that the command line of `predict` names, a row each. A
 * folder stands for the pictures in it. */
#include <stdlib.h>
#include <string.h>

#include "data/call.h"
#include "data/class.h"
#include "data/picture_files.h"
#include "data/table.h"
#include "nnc_data.h"

static const char *const formals[] = {"workers", "palette", NULL};

static int load(const DataContext *context, DataTable *table) {
  DataField *field = &table->fields[0];
  RowFiles *files = data_files_open(context, table, &data_picture_kind, formals);
  if (!files) return -1;
  if (!context->files)
    return data_fail_call(context, "the pictures of %s are named on the command line of predict",
                          field->name);
  if (!field->batched)
    return data_fail_call(context, "the input %s has no axis of examples", field->name);
  field->file = strdup("files");
  if (!field->file) return data_fail_memory(context, "files", 8);
  if (data_files_add_given(context, files, false) < 0) return -1;
  return data_picture_shape(context, field, files->names.count);
}

const struct nnc_source_class nnc_source_files = {.name = "files",
                                                  .gives = DATA_GIVES_files,
                                                  .formals = formals,
                                                  .load = load,
                                                  .make = data_picture_make,
                                                  .look = data_picture_look_at,
                                                  .row_name = data_files_row_name,
                                                  .ready = data_picture_ready,
                                                  .workers = data_files_workers,
                                                  .close = data_files_close,
                                                  .takes_many_files = true,
                                                  .takes_all_files = true};
