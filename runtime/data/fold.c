/* Stage `fold(number, of = 5, seed = 0, by = field)`: the rows are cut into `of` parts at random; data train
 * takes all but part `number`, every other set that part. */
#include <string.h>

#include "data/call.h"
#include "data/class.h"
#include "data/part.h"
#include "data/table.h"
#include "nnc_data.h"

static const char *const formals[] = {"number", "of", "seed", "by", "group", NULL};

static int rows(const DataContext *context, const DataLine *line) {
  double number = 0, of = 5, seed = 0;
  if (data_argument_number(context, formals, "number", 0, 999, &number) < 0 ||
      data_argument_number(context, formals, "of", 2, 1000, &of) < 0 ||
      data_argument_number(context, formals, "seed", 0, 0x1p53, &seed) < 0)
    return -1;
  if (number >= of)
    return data_fail_call(context, "fold(%.0f, of = %.0f): folds are numbered from 0 to %.0f",
                          number, of, of - 1);
  DataPart part = {.from = number / of,
                   .to = (number + 1) / of,
                   .leaves_out = strcmp(context->set, "train") == 0,
                   .seed = (uint64_t)seed,
                   .first = number,
                   .second = of};
  data_part_fields(context, formals, &part);
  return data_choose_part(context, line, &part);
}

const struct nnc_stage_class nnc_stage_fold = {
    .name = "fold", .acts_on = DATA_ACTS_ON_fold, .formals = formals, .rows = rows};
