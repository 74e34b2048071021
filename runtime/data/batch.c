/* Stage `batch(size)`: states the batch size for readers; it must be that of the inputs. */
#include "data/call.h"
#include "data/class.h"
#include "nnc_data.h"

static const char *const formals[] = {"size", NULL};

static int option(const DataContext *context, nnc_data *data) {
  (void)data;
  double size = 0;
  if (data_argument_number(context, formals, "size", 1, 0x1p53, &size) < 0) return -1;
  if (size == 0) return data_fail_call(context, "batch needs its size");
  if (size == (double)context->model->batch) return 0;
  return data_fail_call(context, "batch(%.15g), but the inputs have batches of %lld", size,
                        (long long)context->model->batch);
}

const struct nnc_stage_class nnc_stage_batch = {
    .name = "batch", .acts_on = DATA_ACTS_ON_batch, .formals = formals, .option = option};
