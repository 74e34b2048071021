/* Pictures that are given to a program which reads arrays: its own format's message ("not an IDX file") would not
 * say that a line of `data predict` is what is missing. */
#include "data/given.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the file is, "a PNG picture"; NULL: nothing of that, or it cannot be read, which its reader
 * says better. */
static const char *kind_of(const char *path) {
  static const struct {
    const char *start, *kind;
  } kinds[] = {{"\x89PNG\r\n\x1a\n", "a PNG picture"}, {"\xff\xd8\xff", "a JPEG picture"}};
  struct stat status;
  char start[9] = "";
  if (stat(path, &status) != 0) return NULL;
  if (S_ISDIR(status.st_mode)) return "a folder";
  if (!S_ISREG(status.st_mode)) return NULL; /* of a pipe the bytes would be lost */
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return NULL;
  ssize_t got = read(file, start, sizeof start - 1);
  close(file);
  for (size_t i = 0; got > 0 && i < sizeof kinds / sizeof *kinds; i++)
    if (strncmp(start, kinds[i].start, strlen(kinds[i].start)) == 0) return kinds[i].kind;
  return NULL;
}

static bool takes_pictures(const nnc_tensor *input) {
  return input->rank == 3 || (input->rank == 4 && (input->dim[1] == 1 || input->dim[1] == 3));
}

static int refuse(const DataContext *context, const DataField *field, const char *path,
                  const char *kind) {
  const nnc_call *call = context->call;
  const nnc_tensor *input = field->input;
  const int64_t *side = input->dim + input->rank - 2;
  char shape[160], needed[280] = "", stage[80] = "";
  data_shape_text(shape, sizeof shape, input->dtype, input->rank, input->dim);
  if (takes_pictures(input))
    snprintf(stage, sizeof stage, " | resize(%lld, %lld)", (long long)side[0], (long long)side[1]);
  else
    snprintf(needed, sizeof needed,
             "the input must be [batch, height, width], or [batch, channels, height, width] with 1 "
             "or 3 channels, instead of %s, and ",
             shape);
  return data_fail(context,
                   "%s is %s, but %s is read with %s (%s:%d:%d); for predictions of pictures %sthe "
                   "program needs: data predict { %s = files()%s }",
                   path, kind, field->name, call->function, context->model->file, call->line,
                   call->column, needed, field->name, stage);
}

int data_check_given(const DataContext *context, const DataTable *table, int count,
                     const char *const *files) {
  const DataField *field = NULL;
  for (int f = 0; f < table->field_count && !field; f++)
    if (table->fields[f].input) field = &table->fields[f];
  for (int i = 0; field && i < count; i++) {
    const char *kind = kind_of(files[i]);
    if (kind) return refuse(context, field, files[i], kind);
  }
  return 0;
}
