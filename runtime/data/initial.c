/* Initial values from files: `param w : [3, 4] = load("weights.npy")`.
 *
 * They are read when a run begins, behind the init entry, from the data folder: an array of NumPy's
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

static const nnc_tensor *tensor_of(const nnc_model *model, const nnc_initial *initial) {
  return &model->variables[initial->variable].tensor;
}

static int fail_shape(const DataContext *context, const char *path, const char *entry, int dtype,
                      int rank, const int64_t *dim, const nnc_tensor *tensor) {
  char found[NNC_SHAPE_TEXT], wanted[NNC_SHAPE_TEXT];
  data_shape_text(found, sizeof found, dtype, rank, dim);
  data_shape_text(wanted, sizeof wanted, tensor->dtype, tensor->rank, tensor->dim);
  return data_fail_call(context, "%s%s%s holds %s, but '%s' is %s", path, entry ? ": " : "",
                        entry ? entry : "", found, tensor->name, wanted);
}

static bool same_shape(const nnc_tensor *tensor, int rank, const int64_t *dim) {
  if (tensor->rank != rank) return false;
  for (int i = 0; i < rank; i++)
    if (tensor->dim[i] != dim[i]) return false;
  return true;
}

/* Values of any number type, allocated, into the tensor's. */
static int store(const DataContext *context, const nnc_tensor *tensor, int dtype, char **values,
                 void *into) {
  nnc_conversion conversion;
  int64_t bytes = nnc_tensor_bytes(tensor), count = bytes / nnc_any_dtype_size(tensor->dtype);
  if (nnc_convert(values, dtype, tensor->dtype, count, &conversion) < 0) {
    if (conversion.bad < 0) return data_fail_memory(context, tensor->name, bytes);
    return data_fail_call(context, "value %lld of the file, %g, is none of '%s', which is %s",
                          (long long)conversion.bad, conversion.value, tensor->name,
                          nnc_any_dtype_name(tensor->dtype));
  }
  if (bytes > 0) memcpy(into, *values, (size_t)bytes);
  return 0;
}

static int read_npy(const DataContext *context, const nnc_initial *initial,
                    const nnc_tensor *tensor, void *into) {
  DataField field = {.name = tensor->name};
  DataFile *file = data_file_open(context, initial->file);
  if (!file) return -1;
  int result = data_npy_read(context, file, &field, tensor);
  if (result > 0)
    result =
        fail_shape(context, data_file_name(file), NULL, field.dtype, field.rank, field.dim, tensor);
  if (result == 0) result = store(context, tensor, field.dtype, &field.values, into);
  free(field.values);
  data_file_close(file);
  return result;
}

static int read_stored(const DataContext *context, const nnc_safetensors *file,
                       const nnc_initial *initial, const nnc_tensor *tensor, void *into) {
  const nnc_stored *stored = nnc_safetensors_find(file, initial->entry);
  if (!stored) return data_fail_call(context, "%s has no '%s'", file->path, initial->entry);
  if (stored->dtype < 0)
    return data_fail_call(context, "%s: '%s' is of the type %s, which no tensor here has",
                          file->path, stored->name, stored->dtype_name);
  if (!same_shape(tensor, stored->rank, stored->dim))
    return fail_shape(context, file->path, stored->name, stored->dtype, stored->rank, stored->dim,
                      tensor);
  size_t bytes = (size_t)(stored->end - stored->begin);
  char *values = malloc(bytes + 1);
  if (!values) return data_fail_memory(context, stored->name, (int64_t)bytes);
  context->message[0] = 0;
  int result = nnc_safetensors_read(file, stored, values) ? 0 : -1;
  if (result == 0) result = store(context, tensor, stored->dtype, &values, into);
  free(values);
  return result;
}

static int read_safetensors(const DataContext *context, const nnc_initial *initial,
                            const nnc_tensor *tensor, void *into) {
  char *path = data_path(context->directory, initial->file, "");
  if (!path) return data_fail_memory(context, initial->file, (int64_t)strlen(initial->file));
  nnc_safetensors *file = nnc_safetensors_open(path); /* tells what is wrong */
  free(path);
  if (!file)
    return data_fail_call(context, "'%s' has no initial value; --data says where %s is",
                          tensor->name, initial->file);
  int result = read_stored(context, file, initial, tensor, into);
  nnc_safetensors_close(file);
  return result;
}

bool nnc_initial_read(nnc_session *session) {
  const nnc_model *model = session->model;
  for (int i = 0; i < model->initial_count; i++) {
    const nnc_initial *initial = &model->initials[i];
    const nnc_tensor *tensor = tensor_of(model, initial);
    char message[NNC_MESSAGE] = "";
    nnc_call call = {.function = "load", .line = initial->line, .column = initial->column};
    DataContext context = {.model = model,
                           .set = tensor->name,
                           .call = &call,
                           .message = message,
                           .directory = nnc_data_folder(session->options)};
    void *into = nnc_session_at(session, tensor);
    int result = initial->entry ? read_safetensors(&context, initial, tensor, into)
                                : read_npy(&context, initial, tensor, into);
    if (result == 0) continue;
    if (message[0]) nnc_error("%s", message);
    return false;
  }
  return true;
}
