/* Initial values from files: `param w : [3, 4] = load("weights.npy")`.
 *
 * They are read when a run begins, after the init entry, from the data folder: an array of NumPy's
 * format, or a tensor of a safetensors file. A program without such values does not link this. */
#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "core/number.h"
#include "core/safetensors.h"
#include "core/session.h"
#include "data/call.h"
#include "data/file.h"
#include "data/npy.h"
#include "data/session_data.h"
#include "data/table.h"
#include "os/message.h"

/* One of them on its way from its file. */
typedef struct Value {
  const DataContext *context;
  const nnc_initial *initial;
  const nnc_tensor *tensor;
  nnc_device *device;
} Value;

/* `found`: named as in the file, "" in a file of one array. */
static int fail_shape(const Value *value, const char *path, const nnc_tensor *found) {
  char has[NNC_SHAPE_TEXT], wanted[NNC_SHAPE_TEXT];
  const nnc_tensor *tensor = value->tensor;
  data_shape_text(has, sizeof has, found->dtype, found->rank, found->dim);
  data_shape_text(wanted, sizeof wanted, tensor->dtype, tensor->rank, tensor->dim);
  return data_fail_call(value->context, "%s%s%s holds %s, but '%s' is %s", path,
                        *found->name ? ": " : "", found->name, has, tensor->name, wanted);
}

static bool same_shape(const nnc_tensor *a, const nnc_tensor *b) {
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; i++)
    if (a->dim[i] != b->dim[i]) return false;
  return true;
}

/* `values` are of any number type, allocated, as many as the tensor has. */
static int store(const Value *value, int dtype, char **values) {
  const nnc_tensor *tensor = value->tensor;
  nnc_conversion conversion;
  int64_t bytes = nnc_tensor_bytes(tensor), count = nnc_tensor_elements(tensor);
  if (nnc_convert(values, dtype, tensor->dtype, count, &conversion) < 0) {
    if (conversion.bad < 0) return data_fail_memory(value->context, tensor->name, bytes);
    return data_fail_call(
        value->context, "value %lld of the file, %g, is none of '%s', which is %s",
        (long long)conversion.bad, conversion.value, tensor->name, nnc_dtype_name(tensor->dtype));
  }
  nnc_device_write(value->device, tensor, 0, count, *values);
  return 0;
}

static int read_npy(const Value *value) {
  DataField field = {.name = value->tensor->name};
  DataFile *file = data_file_open(value->context, value->initial->file);
  if (!file) return -1;
  int result = data_npy_read(value->context, file, &field, value->tensor);
  if (result > 0) {
    nnc_tensor found = {.name = "", .dtype = field.dtype, .rank = field.rank};
    memcpy(found.dim, field.dim, sizeof found.dim);
    result = fail_shape(value, data_file_name(file), &found);
  }
  if (result == 0) result = store(value, field.dtype, &field.values);
  free(field.values);
  data_file_close(file);
  return result;
}

static int read_stored(const Value *value, const nnc_safetensors *file) {
  const DataContext *context = value->context;
  const nnc_stored *stored = nnc_safetensors_find(file, value->initial->entry);
  if (!stored) return data_fail_call(context, "%s has no '%s'", file->path, value->initial->entry);
  if (stored->dtype < 0)
    return data_fail_call(context, "%s: '%s' is of the type %s, which no tensor here has",
                          file->path, stored->name, stored->dtype_name);
  nnc_tensor found = {.name = stored->name, .dtype = stored->dtype, .rank = stored->rank};
  memcpy(found.dim, stored->dim, sizeof found.dim);
  if (!same_shape(value->tensor, &found)) return fail_shape(value, file->path, &found);
  size_t bytes = (size_t)(stored->end - stored->begin);
  char *values = malloc(bytes + 1);
  if (!values) return data_fail_memory(context, stored->name, (int64_t)bytes);
  context->message[0] = 0;
  int result = nnc_safetensors_read(file, stored, values) ? 0 : -1;
  if (result == 0) result = store(value, stored->dtype, &values);
  free(values);
  return result;
}

static int read_safetensors(const Value *value) {
  const DataContext *context = value->context;
  const char *name = value->initial->file;
  char *path = data_path(context->directory, name, "");
  if (!path) return data_fail_memory(context, name, (int64_t)strlen(name));
  nnc_safetensors *file = nnc_safetensors_open(path); /* tells what is wrong */
  free(path);
  if (!file)
    return data_fail_call(context, "'%s' has no initial value; --data says where %s is",
                          value->tensor->name, name);
  int result = read_stored(value, file);
  nnc_safetensors_close(file);
  return result;
}

bool nnc_initial_read(nnc_session *session) {
  const nnc_model *model = session->model;
  for (int i = 0; i < model->initial_count; i++) {
    const nnc_initial *initial = &model->initials[i];
    const nnc_tensor *tensor = &model->variables[initial->variable].tensor;
    char message[NNC_MESSAGE] = "";
    nnc_call call = {.function = "load", .line = initial->line, .column = initial->column};
    DataContext context = {.model = model,
                           .set = tensor->name,
                           .call = &call,
                           .message = message,
                           .directory = nnc_data_folder(session->options)};
    Value value = {&context, initial, tensor, session->device};
    if ((initial->entry ? read_safetensors : read_npy)(&value) == 0) continue;
    if (message[0]) nnc_error("%s", message);
    return false;
  }
  return true;
}
