/* Source `wav_list(file, columns = [...], header = true, separator = ",", missing = [...], folder = "", rate,
 * fit = "exact", workers = 0, on_error = "stop")`: a text table whose first field names WAV files. */
#include "data/call.h"
#include "data/class.h"
#include "data/name_list.h"
#include "data/wav.h"
#include "nnc_data.h"

static const char *const formals[] = {"file",    "columns",  "header", "separator",
                                      "missing", "folder",   "rate",   "fit",
                                      "workers", "on_error", NULL}; /* the first as csv's */

static int load(const DataContext *context, DataTable *table) {
  if (data_wav_open(context, table, formals) < 0) return -1;
  return data_name_list_load(context, table, formals);
}

const struct nnc_source_class nnc_source_wav_list = {.name = "wav_list",
                                                     .gives = DATA_GIVES_wav_list,
                                                     .formals = formals,
                                                     .load = load,
                                                     .choose = data_name_list_choose,
                                                     .make = data_wav_make,
                                                     .row_name = data_name_list_row_name,
                                                     .workers = data_files_workers,
                                                     .skips = data_files_skips,
                                                     .close = data_files_close};
