/* Source `image_list(file, columns = [...], header = true, separator = ",", missing = [...], folder = "",
 * workers = 0, on_error = "stop", palette = "color")`: a text table whose first field names pictures. */
#include "data/advice.h"
#include "data/call.h"
#include "data/class.h"
#include "data/name_list.h"
#include "data/picture_files.h"
#include "nnc_data.h"

static const char *const formals[] = {"file",    "columns", "header",  "separator",
                                      "missing", "folder",  "workers", "on_error",
                                      "palette", NULL}; /* the first as csv's */

static int load(const DataContext *context, DataTable *table) {
  if (!data_files_open(context, table, &data_picture_kind, formals)) return -1;
  return data_name_list_load(context, table, formals);
}

const struct nnc_source_class nnc_source_image_list = {.name = "image_list",
                                                       .gives = DATA_GIVES_image_list,
                                                       .formals = formals,
                                                       .load = load,
                                                       .choose = data_name_list_choose,
                                                       .make = data_picture_make,
                                                       .row_name = data_name_list_row_name,
                                                       .ready = data_picture_ready,
                                                       .look = data_picture_look_at,
                                                       .workers = data_files_workers,
                                                       .skips = data_files_skips,
                                                       .open_cache = data_cache_open,
                                                       .advise = data_advise,
                                                       .close = data_files_close};
