/* Stage `prefetch(count = 2)`: how many batches loader.c prepares ahead; 0 turns its thread
 * off. */
#include "data/call.h"
#include "data/class.h"
#include "data/set.h"
#include "nnc_data.h"

static const char *const formals[] = {"count", NULL};

static int option(const DataContext *context, nnc_data *data) {
  double count = 2;
  if (data_argument_number(context, formals, "count", 0, 1024, &count) < 0) return -1;
  data->prefetch = (int)count;
  return 0;
}

const struct nnc_stage_class nnc_stage_prefetch = {
    .name = "prefetch", .acts_on = DATA_ACTS_ON_prefetch, .formals = formals, .option = option};
