/* Stage `with(field, value = 0)`: the line's first field is masks of the pictures of another line's first field. After
 * it the compiler has put the stages of that line (elaborate/sections/data_with.c), which draw alike; here it says that
 * values are not mixed, and that each mask has the size of its picture. */
#include "data/call.h"
#include "data/class.h"
#include "data/picture_array.h"
#include "data/picture_beside.h"
#include "data/picture_stages.h"
#include "data/words.h"
#include "nnc_data.h"

static const char *const formals[] = {"field", "value", NULL};

static int with(const DataContext *context, DataTable *table) {
  const nnc_value *field = data_argument(context->call, formals, "field");
  if (!field || field->kind != NNC_FIELD)
    return data_fail_call(context, "with needs the field of another line");
  if (data_picture_open(context, table) < 0) return -1;
  return data_picture_with(context, table, field->string);
}

const struct nnc_stage_class nnc_stage_with = {.name = "with",
                                               .acts_on = DATA_ACTS_ON_with,
                                               .formals = formals,
                                               .picture = with,
                                               .expect = data_picture_expect,
                                               .finish = data_picture_finish};
