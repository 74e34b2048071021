/* Source `wav_folder(folder, rate, fit = "exact", workers = 0, on_error = "stop")`: WAV files, in a folder for each
 * class. */
#include "data/call.h"
#include "data/class.h"
#include "data/class_folder.h"
#include "data/wav.h"
#include "nnc_data.h"

static const char *const formals[] = {"folder", "rate", "fit", "workers", "on_error", NULL};

static int load(const DataContext *context, DataTable *table) {
  if (data_wav_open(context, table, formals) < 0) return -1;
  return data_class_folder_load(context, table, formals);
}

const struct nnc_source_class nnc_source_wav_folder = {.name = "wav_folder",
                                                       .gives = DATA_GIVES_wav_folder,
                                                       .formals = formals,
                                                       .load = load,
                                                       .make = data_wav_make,
                                                       .row_name = data_files_row_name,
                                                       .workers = data_files_workers,
                                                       .skips = data_files_skips,
                                                       .close = data_files_close,
                                                       .learns = true,
                                                       .takes_many_files = true};
