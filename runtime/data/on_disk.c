/* Stage `on_disk`: rows stay in their files and are read one by one when they are wanted, so that a
 * data set may be larger than memory. What takes little memory is read once.
 *
 * A read takes a row at its place in the file, whatever was read before: any order is possible, and what
 * the system keeps of the file it may drop. A file that changes while it is read is an error, not a fault. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/convert.h"
#include "core/number.h"
#include "data/call.h"
#include "data/class.h"
#include "data/disk.h"
#include "data/file.h"
#include "data/scratch.h"
#include "data/set.h"
#include "data/table.h"
#include "data/visit.h"
#include "os/buffer.h"
#include "nnc_data.h"

static const char *const formals[] = {NULL};

enum { KEPT = NNC_BUFFER(1 << 26, 8) }; /* bytes of a field that are kept in memory, not more */

typedef struct Part {
  int descriptor;
  char *name;
  int64_t first; /* of its rows among the field's */
  DataRun run;
  char *kept; /* all rows, one after the other; NULL: they are read */
} Part;

typedef struct Disk {
  DataDisk disk; /* the first: what the field knows */
  int dtype;     /* of the files */
  int64_t kept;  /* bytes in memory */
  int count;
  Part *parts;
} Disk;

static void close_disk(DataDisk *closed) {
  Disk *disk = (Disk *)closed;
  for (int i = 0; i < disk->count; i++) {
    close(disk->parts[i].descriptor);
    free(disk->parts[i].name);
    free(disk->parts[i].kept);
  }
  free(disk->parts);
  free(disk);
}

/* From here on the field has the input's type, in which rows are made. */
static Disk *open_disk(const DataContext *context, DataField *field) {
  Disk *disk = (Disk *)field->disk;
  if (disk) return disk;
  if (!field->batched) {
    data_fail_call(context, "the input %s has no axis of examples, so it does not stay on disk",
                   field->name);
    return NULL;
  }
  disk = calloc(1, sizeof *disk);
  if (!disk) {
    data_fail_memory(context, "on_disk", sizeof *disk);
    return NULL;
  }
  disk->disk.close = close_disk;
  disk->dtype = field->dtype;
  field->disk = &disk->disk;
  field->is_made = true;
  field->made_most = field->dtype == NNC_U8 ? UCHAR_MAX : INT_MAX;
  if (!field->is_picture) field->dtype = field->input->dtype;
  return disk;
}

static int read_row(const DataContext *context, const Part *part, int64_t row, void *bytes,
                    int64_t size) {
  if (part->kept) {
    memcpy(bytes, part->kept + (row - part->first) * size, (size_t)size);
    return 0;
  }
  int64_t done = 0, at = part->run.start + (row - part->first) * part->run.step;
  while (done < size) {
    ssize_t got = pread(part->descriptor, (char *)bytes + done, (size_t)(size - done), at + done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return data_fail(context, "cannot read row %lld of %s: %s", (long long)(row - part->first),
                       part->name, got < 0 ? strerror(errno) : "the file has become shorter");
    done += got;
  }
  return 0;
}

/* Small rows cost more to read than to keep. */
static int keep_rows(const DataContext *context, Disk *disk, Part *part, int64_t size) {
  int64_t bytes;
  if (!nnc_multiply(size, part->run.rows, &bytes) || bytes > KEPT - disk->kept) return 0;
  char *kept = malloc((size_t)bytes + 1);
  if (!kept) return data_fail_memory(context, part->name, bytes);
  bool is_one_piece = part->run.step == size;
  int64_t at_once = is_one_piece ? bytes : size;
  for (int64_t i = 0; i < (is_one_piece ? 1 : part->run.rows); i++)
    if (read_row(context, part, part->first + i, kept + i * size, at_once) < 0) {
      free(kept);
      return -1;
    }
  part->kept = kept;
  disk->kept += bytes;
  return 0;
}

static int add(const DataContext *context, DataField *field, DataFile *file, const DataRun *run) {
  Disk *disk = open_disk(context, field);
  int64_t start;
  int descriptor = disk ? data_file_place(context, file, &start) : -1;
  if (descriptor < 0) return -1;
  if (!field->is_made && field->dtype != disk->dtype) /* another file's, which are not made yet */
    return data_fail(context, "%s has %s, but files of one pattern have rows of one type, here %s",
                     data_file_name(file), nnc_dtype_name(field->dtype),
                     nnc_dtype_name(disk->dtype));
  Part *grown = realloc(disk->parts, (size_t)(disk->count + 1) * sizeof *grown);
  if (grown) disk->parts = grown;
  Part part = {.name = strdup(data_file_name(file)), .run = *run};
  part.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (!grown || !part.name || part.descriptor < 0) {
    if (part.descriptor >= 0) close(part.descriptor);
    free(part.name);
    return data_fail(context, "cannot keep %s open: %s", data_file_name(file), strerror(errno));
  }
  part.run.start += start;
  for (int i = 0; i < disk->count; i++) part.first += disk->parts[i].run.rows;
  Part *added = &disk->parts[disk->count++];
  *added = part;
  return keep_rows(context, disk, added, field->width * nnc_dtype_size(disk->dtype));
}

static int make(const DataContext *context, const DataTable *table, const DataField *field,
                const DataVisit *visit, unsigned char *row) {
  (void)table;
  const Disk *disk = (const Disk *)field->disk;
  const Part *part = disk->parts;
  while (visit->row >= part->first + part->run.rows) part++;
  int64_t size = nnc_dtype_size(disk->dtype), bytes = field->width * size;
  unsigned char *values = row;
  bool is_same = disk->dtype == field->dtype;
  if (!is_same) values = data_scratch_take(visit->scratch, DATA_BUFFER_FILE, (size_t)bytes + 1);
  if (!values) return data_fail_memory(context, part->name, bytes);
  if (read_row(context, part, visit->row, values, bytes) < 0) return -1;
  if (part->run.swaps) nnc_swap_bytes(values, (int)size, field->width);
  for (int64_t i = 0; disk->dtype == NNC_BOOL && i < field->width; i++) values[i] = values[i] != 0;
  return is_same ? 0 : data_field_store_row(context, field, part->name, disk->dtype, values, row);
}

/* Small batches are many ahead: the thread that reads them is woken once for some. */
static int option(const DataContext *context, nnc_data *data) {
  enum { AHEAD = 1 << 20, MOST = 16, LEAST = 2 };
  int64_t bytes = 1;
  for (int t = 0; t < data->table_count; t++)
    for (int f = 0; f < data->tables[t].field_count; f++) {
      const DataField *field = &data->tables[t].fields[f];
      if (field->input) bytes += field->width * nnc_dtype_size(field->input->dtype);
    }
  int64_t batches = AHEAD / bytes / context->model->batch;
  if (data->prefetch < 0)
    data->prefetch = batches > MOST ? MOST : batches < LEAST ? LEAST : (int)batches;
  return 0;
}

static const DataDiskClass disk = {.add = add, .make = make};

const struct nnc_stage_class nnc_stage_on_disk = {.name = "on_disk",
                                                  .acts_on = DATA_ACTS_ON_on_disk,
                                                  .formals = formals,
                                                  .option = option,
                                                  .disk = &disk};
