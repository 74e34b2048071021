/* The ranges of the numbers that sources and stages take: those that the runtime takes, so that a
 * program with another number is refused before it is compiled. Fractions of a data set have a rule
 * of their own, and so does what replaces a missing value. */
#include <math.h>
#include <string.h>
#include "elaborate/core/report.h"
#include "elaborate/sections/data.h"

typedef struct Range {
  const char *word, *argument; /* word: NULL where the argument means the same in all */
  double least, most;
  bool is_whole;
} Range;

static const Range ranges[] = {
    {"copy_task", "words", 1, 1 << 20, true},
    {"copy_task", "bits", 1, 1 << 20, true},
    {"copy_task", "count", 1, UINT32_MAX, true},
    {"copy_task", "least", 1, 1 << 20, true},
    {"prefetch", "count", 0, 1024, true},
    {"random_flip", "probability", 0, 1, false},
    {NULL, "seed", 0, 0x1p53, true},
    {NULL, "size", 1, 0x1p53, true},
    {NULL, "length", 1, 0x1p31, true},
    {NULL, "stride", 1, 0x1p31, true},
    {NULL, "workers", 0, 256, true},
    {NULL, "height", 1, 1 << 15, true},
    {NULL, "width", 1, 1 << 15, true},
};

static const Range *find_range(const DataCall *call, const char *argument) {
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
    if (!strcmp(ranges[i].argument, argument) &&
        (!ranges[i].word || !strcmp(ranges[i].word, call->function)))
      return &ranges[i];
  return NULL;
}

/* 0 / 0 is -nan for printf. */
static double for_print(double number) { return isnan(number) ? fabs(number) : number; }

/* NaN fits no range. */
static bool check_range(Elaborator *e, const DataCall *call, const DataArgument *argument) {
  const Range *range = find_range(call, argument->name);
  double number = argument->value.number;
  if (!range || argument->value.kind != DATA_NUMBER) return true;
  bool fits = number >= range->least && number <= range->most;
  if (fits && (!range->is_whole || number == floor(number))) return true;
  return report_failure(e, call->span, "'%s' must be a %s from %.0f to %.0f, found %g",
                        argument->name, range->is_whole ? "whole number" : "number", range->least,
                        range->most, for_print(number));
}

static bool check_fractions(Elaborator *e, const DataCall *call) {
  double from = data_argument_number(call, "from", 0), to = data_argument_number(call, "to", 1);
  if (from >= 0 && from < to && to <= 1) return true;
  return report_failure(e, call->span,
                        "%s takes fractions with 0 <= from < to <= 1, found %g and %g",
                        call->function, from, to);
}

/* What replaces a missing value is a value itself. */
static bool check_replacement(Elaborator *e, const DataCall *call) {
  double with = data_argument_number(call, "with", 0);
  if (strcmp(call->function, "impute") != 0 || isfinite(with)) return true;
  return report_failure(e, call->span,
                        "impute replaces missing values by a finite number, not by %g",
                        for_print(with));
}

bool data_check_ranges(Elaborator *e, const DataCall *call) {
  for (int i = 0; i < call->argument_count; i++)
    if (!check_range(e, call, &call->arguments[i])) return false;
  return check_fractions(e, call) && check_replacement(e, call);
}
