/* Messages of the data modules, and the arguments of source and stage calls. */
#include "data/call.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "data/class.h"
#include "os/message.h"

static void append(char *message, size_t used, const char *format, va_list arguments) {
  if (used >= NNC_MESSAGE) return;
  vsnprintf(message + used, NNC_MESSAGE - used, format, arguments);
  for (char *c = message; *c; c++) /* file contents may stand in a message: keep it one line */
    if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
}

int data_fail(const DataContext *context, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  append(context->message, 0, format, arguments);
  va_end(arguments);
  return -1;
}

int data_fail_call(const DataContext *context, const char *format, ...) {
  int used = snprintf(context->message, NNC_MESSAGE, "%s:%d:%d: ", context->model->file,
                      context->call->line, context->call->column);
  va_list arguments;
  va_start(arguments, format);
  append(context->message, (size_t)used, format, arguments);
  va_end(arguments);
  return -1;
}

int data_fail_memory(const DataContext *context, const char *what, int64_t bytes) {
  return data_fail(context, "%s: no memory for %lld bytes", what, (long long)bytes);
}

void data_shape_text(char *text, size_t size, int dtype, int rank, const int64_t *dim) {
  size_t used = (size_t)snprintf(text, size, "%s[", nnc_dtype_name(dtype));
  for (int i = 0; i < rank && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, i ? ", %lld" : "%lld", (long long)dim[i]);
  if (used < size) snprintf(text + used, size - used, "]");
}

const nnc_value *data_argument(const nnc_call *call, const char *const *formals, const char *name) {
  bool has_list = call->stage    ? call->stage->names_fields /* what has no name is of the list */
                  : call->source ? call->source->has_file_each || call->source->has_files
                                 : false;
  int position = 0;
  for (int i = 0; i < call->argument_count; i++) {
    const nnc_argument *argument = &call->arguments[i];
    const char *formal = argument->name;
    if (!*formal && !has_list && formals[position]) formal = formals[position++];
    if (strcmp(formal, name) == 0) return &argument->value;
  }
  return NULL;
}

int data_argument_number(const DataContext *context, const char *const *formals, const char *name,
                         double least, double most, double *number) {
  const nnc_value *value = data_argument(context->call, formals, name);
  if (!value) return 0;
  bool is_option = value->kind == NNC_OPTION;
  if (value->kind != NNC_NUMBER && !is_option)
    return data_fail_call(context, "%s of %s must be a number", name, context->call->function);
  double found = is_option ? context->model->option_values[(int)value->number] : value->number;
  if (!(found >= least && found <= most))
    return data_fail_call(context, "%s of %s must be from %.15g to %.15g, it is %.15g", name,
                          context->call->function, least, most, found);
  *number = found;
  return 0;
}

/* Fields may be given one by one or in a list. */
static bool value_names(const nnc_value *value, const char *field) {
  bool is_field = value->kind == NNC_FIELD || value->kind == NNC_STRING;
  if (value->kind != NNC_LIST) return is_field && strcmp(value->string, field) == 0;
  for (int i = 0; i < value->count; i++)
    if (value_names(&value->items[i], field)) return true;
  return false;
}

bool data_call_names(const nnc_call *call, const char *field) {
  for (int i = 0; i < call->argument_count; i++)
    if (!*call->arguments[i].name && value_names(&call->arguments[i].value, field)) return true;
  return false;
}
