/* Source `image_folder(folder, workers = 0, on_error = "stop", palette = "color")`: JPEG and
 * PNG files, in a folder for each class. Pictures are decoded when they are read, by worker threads. */
#include "data/advice.h"
#include "data/call.h"
#include "data/class.h"
#include "data/class_folder.h"
#include "data/picture_files.h"
#include "nnc_data.h"

static const char *const formals[] = {"folder", "workers", "on_error", "palette", NULL};

static int load(const DataContext *context, DataTable *table) {
  if (!data_files_open(context, table, &data_picture_kind, formals)) return -1;
  return data_class_folder_load(context, table, formals);
}

const struct nnc_source_class nnc_source_image_folder = {.name = "image_folder",
                                                         .gives = DATA_GIVES_image_folder,
                                                         .formals = formals,
                                                         .has_file_each = false,
                                                         .load = load,
                                                         .make = data_picture_make,
                                                         .look = data_picture_look_at,
                                                         .row_name = data_files_row_name,
                                                         .ready = data_picture_ready,
                                                         .workers = data_files_workers,
                                                         .skips = data_files_skips,
                                                         .open_cache = data_cache_open,
                                                         .advise = data_advise,
                                                         .close = data_files_close,
                                                         .learns = true,
                                                         .takes_many_files = true};
