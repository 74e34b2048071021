/* Tensors with their channels last: layout.h. */
#include "core/layout.h"

#include "core/number.h"

bool nnc_layout_is_turned(const nnc_model *model, const nnc_tensor *tensor) {
  for (int i = 0; model->channels_last && i < model->variable_count; i++)
    if (model->channels_last[i] && model->variables[i].tensor.offset == tensor->offset) return true;
  return false;
}

int64_t nnc_layout_row(const nnc_tensor *tensor) {
  return tensor->dim[0] > 0 ? nnc_tensor_elements(tensor) / tensor->dim[0] : 0;
}

int64_t nnc_layout_place(const nnc_tensor *tensor, int64_t element) {
  int64_t row = nnc_layout_row(tensor), channels = tensor->dim[1], places = row / channels;
  int64_t within = element % row;
  return element - within + within % places * channels + within / places;
}
