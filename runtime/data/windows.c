/* Windows over one long stream of class numbers, for the sources text and token_stream.
 *
 * Example i of the first field is the stream's values [i * stride, i * stride + length); a second
 * field is the same window one value later: what follows each value.  Rows may overlap and the
 * fields share the stream, so it lies in memory once. */
#include "data/windows.h"

#include <math.h>
#include <string.h>

#include "core/convert.h"
#include "core/number.h"
#include "data/call.h"
#include "data/disk.h"
#include "data/table.h"
#include "os/assert.h"

int data_window_arguments(const DataContext *context, const char *const *formals,
                          DataWindows *windows) {
  *windows = (DataWindows){.length = 0, .stride = 0, .from = 0, .to = 1};
  if (data_argument_number(context, formals, "length", 1, 0x1p31, &windows->length) < 0 ||
      data_argument_number(context, formals, "stride", 1, 0x1p31, &windows->stride) < 0 ||
      data_argument_number(context, formals, "from", 0, 1, &windows->from) < 0 ||
      data_argument_number(context, formals, "to", 0, 1, &windows->to) < 0)
    return -1;
  if (windows->length == 0)
    return data_fail_call(context, "%s needs the length of its windows", context->call->function);
  if (windows->stride == 0) windows->stride = windows->length;
  if (context->files) { /* given on the command line: they are read whole */
    windows->from = 0;
    windows->to = 1;
  }
  if (windows->from < windows->to) return 0;
  return data_fail_call(context, "%s: from %.15g to %.15g is nothing", context->call->function,
                        windows->from, windows->to);
}

static int view_stream(const DataContext *context, DataField *field, const DataStream *stream,
                       int64_t first, int64_t rows, const DataWindows *windows) {
  int64_t dim[2] = {rows, (int64_t)windows->length};
  if (!field->batched)
    return data_fail_call(context, "the input %s has no axis of examples", field->name);
  if (data_field_shape(context, field, stream->dtype, 2, dim, false) < 0) return -1;
  if (context->disk) {
    int64_t size = nnc_dtype_size(stream->dtype);
    DataRun run = {.start = stream->start + first * size,
                   .step = (int64_t)windows->stride * size,
                   .rows = rows};
    return context->disk->add(context, field, stream->file, &run);
  }
  int to = field->input->dtype;
  field->is_view = true;
  if (stream->dtype != to && !nnc_is_widening(stream->dtype, to))
    return data_fail(context, "%s: %s: values up to %.15g do not fit input type %s", field->file,
                     field->name, stream->most, nnc_dtype_name(to));
  NNC_ASSERT(first + (rows - 1) * (int64_t)windows->stride + (int64_t)windows->length <=
             stream->count);
  field->values = stream->values + first * nnc_dtype_size(stream->dtype);
  field->step = (int64_t)windows->stride;
  return 0;
}

int data_window_stream(const DataContext *context, DataTable *table, const char *file,
                       DataStream stream, const DataWindows *windows) {
  int64_t length = (int64_t)windows->length, stride = (int64_t)windows->stride;
  int64_t first = (int64_t)floor(windows->from * (double)stream.count);
  int64_t end = (int64_t)floor(windows->to * (double)stream.count);
  int64_t needed = length + (table->field_count > 1 && table->fields[1].input), part = end - first;
  table->stream = stream;
  table->keeps_rows = true;
  if (part < needed)
    return data_fail(context, "%s: %lld values, but one window needs %lld", file, (long long)part,
                     (long long)needed);
  for (int f = 0; f < table->field_count; f++) {
    DataField *field = &table->fields[f];
    if (!field->input) continue;
    field->file = strdup(file);
    if (!field->file) return data_fail_memory(context, file, 64);
    if (view_stream(context, field, &stream, first + f, (part - needed) / stride + 1, windows) < 0)
      return -1;
  }
  return 0;
}
