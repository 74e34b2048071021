/* Tensors with their channels last: turned.h. A row is all that belongs to one n: it lies in one piece in
 * either order, so some rows at a time are copied and turned on the host. */
#include "cuda/turned.h"

#include <stdlib.h>
#include <string.h>

#include "core/layout.h"
#include "core/number.h"
#include "os/assert.h"
#include "os/message.h"

enum { LEAST_BYTES = 1 << 20 };

bool nnc_turned_open(nnc_turned *turned, const nnc_model *model) {
  *turned = (nnc_turned){.model = model};
  for (int i = 0; model->channels_last && i < model->variable_count; i++) {
    const nnc_tensor *tensor = &model->variables[i].tensor;
    int64_t bytes = nnc_layout_row(tensor) * nnc_dtype_size(tensor->dtype);
    if (!model->channels_last[i]) continue;
    if (bytes > turned->bytes) turned->bytes = bytes;
    if (LEAST_BYTES > turned->bytes) turned->bytes = LEAST_BYTES;
  }
  if (turned->bytes > 0) turned->rows = malloc((size_t)turned->bytes);
  if (turned->bytes == 0 || turned->rows) return true;
  nnc_error("cannot allocate %lld bytes for copies of weights", (long long)turned->bytes);
  return false;
}

void nnc_turned_close(nnc_turned *turned) {
  free(turned->rows);
  *turned = (nnc_turned){0};
}

/* Rows [first, end) hold what is left from element `at` on, as much of it as there is memory for. */
typedef struct Rows {
  int64_t first, end;
  int64_t stop; /* the element after those that are wanted of them */
} Rows;

static Rows rows_from(const nnc_turned *turned, const nnc_turned_part *part, int64_t at) {
  int64_t row = nnc_layout_row(part->tensor), size = nnc_dtype_size(part->tensor->dtype);
  Rows rows = {.first = at / row, .stop = part->from + part->count};
  rows.end = rows.first + turned->bytes / (row * size);
  if (rows.end * row < rows.stop) rows.stop = rows.end * row;
  else rows.end = (rows.stop + row - 1) / row;
  NNC_ASSERT(rows.end > rows.first && rows.stop > at);
  return rows;
}

static CuAddress rows_address(const nnc_turned_part *part, const Rows *rows, int64_t *bytes) {
  int64_t row = nnc_layout_row(part->tensor) * nnc_dtype_size(part->tensor->dtype);
  *bytes = (rows->end - rows->first) * row;
  return part->base + (CuAddress)(rows->first * row);
}

/* Where element `at` of the tensor is among these rows. */
static int64_t place_in_rows(const nnc_turned_part *part, const Rows *rows, int64_t at) {
  return nnc_layout_place(part->tensor, at) - rows->first * nnc_layout_row(part->tensor);
}

void nnc_turned_read(const nnc_turned *turned, nnc_transfer *transfer, const nnc_turned_part *part,
                     void *to) {
  int64_t size = nnc_dtype_size(part->tensor->dtype), bytes;
  for (int64_t at = part->from; at < part->from + part->count;) {
    Rows rows = rows_from(turned, part, at);
    CuAddress address = rows_address(part, &rows, &bytes);
    nnc_transfer_out(transfer, turned->rows, address, bytes);
    for (; at < rows.stop; at++)
      memcpy((char *)to + (at - part->from) * size,
             turned->rows + place_in_rows(part, &rows, at) * size, (size_t)size);
  }
}

/* Rows of which only a part is written are read before. */
void nnc_turned_write(const nnc_turned *turned, nnc_transfer *transfer, const nnc_turned_part *part,
                      const void *values) {
  int64_t size = nnc_dtype_size(part->tensor->dtype), row = nnc_layout_row(part->tensor), bytes;
  for (int64_t at = part->from; at < part->from + part->count;) {
    Rows rows = rows_from(turned, part, at);
    CuAddress address = rows_address(part, &rows, &bytes);
    if (at % row != 0 || rows.stop % row != 0)
      nnc_transfer_out(transfer, turned->rows, address, bytes);
    for (; at < rows.stop; at++)
      memcpy(turned->rows + place_in_rows(part, &rows, at) * size,
             (const char *)values + (at - part->from) * size, (size_t)size);
    nnc_transfer_in(transfer, address, turned->rows, bytes);
  }
}
