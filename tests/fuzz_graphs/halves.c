/* Cases in 16 bits: all floats of a generated one in bf16 or f16.
 *
 * What was steady in double need not be so any more: rounding moves comparisons and leaves the range
 * of f16.  Such a case proves nothing, and judges are told so.  The reference rounds where an
 * operator of 16 bits does (ops/number.h); executables and passes may differ from it by some of the
 * units that play.c imitates. */
#include "fuzz.h"
#include "ops/number.h"
#include "ops/retype.h"

static void retype_tensor(Tensor *tensor, DType dtype) {
  if (!dtype_is_float(tensor->type.dtype)) return;
  tensor->type.dtype = dtype;
  for (int64_t i = 0; i < shape_elements(tensor->type.shape); i++)
    tensor->data[i] = number_round(tensor->data[i], dtype);
}

/* Whose host scalars, of f64 too, meet tensors without a cast. */
static bool is_in_f64(const Module *module) {
  bool found = false;
  for (int i = 0; i < module->variables.count; i++)
    found = found || module->variables.items[i].type.dtype == DTYPE_F64;
  return found;
}

void case_retype(Case *test, DType dtype) {
  if (is_in_f64(test->module)) {
    test->steps = 0;
    return;
  }
  module_retype_floats(test->module, dtype);
  for (int i = 0; i < test->inputs.count; i++) retype_tensor(test->inputs.items[i], dtype);
  for (int i = 0; i < test->start.count; i++) retype_tensor(test->start.items[i], dtype);
  test->steps = case_find_steps(test);
}

void case_retype_far(Case *test) {
  module_retype_floats(test->module, DTYPE_F64);
  for (int i = 0; i < test->inputs.count; i++) retype_tensor(test->inputs.items[i], DTYPE_F64);
  for (int i = 0; i < test->start.count; i++) retype_tensor(test->start.items[i], DTYPE_F64);
  test->steps = case_find_steps(test);
}

bool case_has_halves(const Case *test) {
  const Graph *train = test->module->entries[ENTRY_TRAIN];
  for (int i = 0; i < train->nodes.count; i++)
    if (dtype_is_half(train->nodes.items[i]->type.dtype)) return true;
  return false;
}

bool case_is_in_own_types(const Case *test) {
  if (!test->standard.is_far) return case_has_halves(test);
  const Graph *train = test->module->entries[ENTRY_TRAIN];
  for (int i = 0; i < train->nodes.count; i++)
    if (train->nodes.items[i]->type.dtype == DTYPE_F32) return true;
  return false;
}

bool case_is_judged(const Case *test, const Reference *reference) {
  bool is_asked = case_has_halves(test) || test->standard.is_far;
  return test->steps > 0 && (!is_asked || reference->is_steady_in_own);
}
