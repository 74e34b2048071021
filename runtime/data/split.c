/* Stage `split(from, to, seed = 0, by = field)`: the part [from, to) of a fixed random permutation of the
 * rows, in file order. */
#include "data/call.h"
#include "data/class.h"
#include "data/part.h"
#include "data/table.h"
#include "nnc_data.h"

static const char *const formals[] = {"from", "to", "seed", "by", "group", NULL};

static int rows(const DataContext *context, const DataLine *line) {
  double seed = 0;
  DataPart part = {.to = 1};
  data_part_fields(context, formals, &part);
  if (data_argument_number(context, formals, "from", 0, 1, &part.from) < 0 ||
      data_argument_number(context, formals, "to", 0, 1, &part.to) < 0 ||
      data_argument_number(context, formals, "seed", 0, 0x1p53, &seed) < 0)
    return -1;
  part.seed = (uint64_t)seed;
  part.first = part.from;
  part.second = part.to;
  return data_choose_part(context, line, &part);
}

const struct nnc_stage_class nnc_stage_split = {
    .name = "split", .acts_on = DATA_ACTS_ON_split, .formals = formals, .rows = rows};
